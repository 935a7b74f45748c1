//! `evaluate`: precision and recall of a run.

use std::fmt::Write;
use std::path::PathBuf;

use crate::report::terminal::{Table, named};
use clap::Args;
use lookalike_base::Result;
use lookalike_base::error::refuse;
use lookalike_base::ids::Threshold;
use lookalike_base::numbers::{self, counted};
use lookalike_base::progress::Context;
use lookalike_methods::LEXICON_FILE;
use lookalike_store::disk;
use lookalike_tasks::evaluate::{
    Columns, EvaluateConfig, Evaluation, Graded, ListFile, ListReport, Measured, Ranking, Sample,
    Scores, evaluate,
};

use super::command::{Command, Out, Setup};
use super::flags::{Memory, Output};

/// Options of `evaluate`.
#[derive(Debug, Args)]
pub struct Options {
    /// Ground truth: an output directory, or a list of pairs
    ///
    /// A list is a pairs.tsv, or a file with one pair per line: two docnos and, optionally, a
    /// resemblance, separated by tabs, commas or spaces, or as a JSON object. It may be compressed.
    /// Without --columns, the columns are docno_a and docno_b if the first line names them, and
    /// otherwise the first two, with the resemblance in the third.
    #[arg(long, value_name = "PATH")]
    truth: Option<PathBuf>,
    /// Pairs to evaluate: an output directory, or a list of pairs
    ///
    /// Several are compared in one table, with a line for each. Lists of terms, which stand beside the
    /// directories of methods, are left out.
    ///
    /// Example: --judged judged.txt --run out out/pairs.tsv
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    run: Vec<PathBuf>,
    /// Evaluate at each of these thresholds [default: all listed pairs]
    ///
    /// At each threshold, the pairs that reach it count. Resemblances are compared exactly: from
    /// integers in lists of lookalike, or from decimals exactly as written. All pairs of a list
    /// without resemblances count at each threshold; so do those of a method that counts common
    /// features, such as minhash.
    ///
    /// Example: --thresholds 0.9,19/20
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    thresholds: Vec<Threshold>,
    /// File documents.tsv with size groups, if the ground truth is a list
    #[arg(long, value_name = "FILE", help_heading = "Lists")]
    documents: Option<PathBuf>,
    /// Columns of both lists: DOCNO,DOCNO or DOCNO,DOCNO,RESEMBLANCE
    ///
    /// Names from the first line of the list, names of members of JSON objects (with dots), or
    /// numbers from 1 if the first line has no names.
    #[arg(long, value_name = "COLUMNS", help_heading = "Lists")]
    columns: Option<Columns>,
    /// Columns of the ground truth, if they differ from --columns
    #[arg(long, value_name = "COLUMNS", help_heading = "Lists")]
    truth_columns: Option<Columns>,
    /// Columns of the run, if they differ from --columns
    #[arg(long, value_name = "COLUMNS", help_heading = "Lists")]
    run_columns: Option<Columns>,
    /// Pairs that people judged: lines of DOCNO, DOCNO, GRADE and COLLECTION
    ///
    /// TSV, CSV, words with spaces between them, or JSON objects. The grade is a whole number, 0 for
    /// documents that are not alike. With a first line, the columns are docno_a, docno_b, one of
    /// judgement, grade and label, and collection; otherwise they are in this order. Lines without a
    /// collection are allowed.
    ///
    /// Bernstein & Zobel 2006, section 7. coverage is the share of the pairs judged true that the
    /// run found. density is the share of true pairs among the judged pairs that the run found.
    /// average precision is the density for each document that a line names first, averaged over
    /// the documents with any pair found. If the run has scores, a second table says how well they
    /// rank the judged pairs.
    #[arg(long, value_name = "FILE", help_heading = "Judged samples")]
    judged: Option<PathBuf>,
    /// Least grade of a pair that counts as true
    ///
    /// Example: --judged judged.txt --true-grade 2
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        help_heading = "Judged samples"
    )]
    true_grade: u32,
    /// Write the judged pairs about which run and people disagree, as TSV
    ///
    /// Those judged true and missed, and those judged false and listed. `lookalike diff DIR --pair
    /// FILE:LINE` shows the texts of a pair.
    ///
    /// Example: --judged judged.txt --disagreements wrong.tsv
    #[arg(long, value_name = "FILE", help_heading = "Judged samples")]
    disagreements: Option<PathBuf>,
    /// Families of documents: lines of DOCNO FAMILY
    ///
    /// Two documents of one family are a true pair, two documents of different families a false
    /// one. Pairs with a document of no family are not judged.
    #[arg(long, value_name = "FILE", help_heading = "Judged samples")]
    families: Option<PathBuf>,
    /// Directory for temporary files [default: the system's]
    ///
    /// Needs 48 bytes for each line of the lists.
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    scratch: Option<PathBuf>,
    #[command(flatten)]
    memory: Memory,
    #[command(flatten)]
    output: Output,
}

impl Command for Options {
    fn setup(&self) -> Setup {
        self.memory.alone(self.output.printed().always())
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let list = |path: &PathBuf, own: &Option<_>| ListFile {
            // A directory has fixed columns, so --columns applies only to lists.
            columns: own.clone().or_else(|| {
                let both = self.columns.clone();
                both.filter(|_| !matches!(disk::is_directory(path), Ok(true)))
            }),
            path: path.clone(),
        };
        if let (Some(file), true) = (&self.disagreements, self.run.len() > 1) {
            return refuse("disagreements", file.display(), "with one --run only");
        }
        let config = |run: &PathBuf| EvaluateConfig {
            truth: (self.truth.as_ref()).map(|path| list(path, &self.truth_columns)),
            run: list(run, &self.run_columns),
            documents: self.documents.clone(),
            thresholds: self.thresholds.clone(),
            judged: self.judged.clone(),
            true_grade: self.true_grade,
            disagreements: self.disagreements.clone(),
            families: self.families.clone(),
            scratch: self.scratch.clone().unwrap_or_else(std::env::temp_dir),
        };
        let mut evaluations = Vec::with_capacity(self.run.len());
        for run in &self.run {
            // Beside the directories of methods, for which they were made.
            let terms = disk::exists(&run.join(LEXICON_FILE));
            if self.run.len() > 1 && matches!(terms, Ok(true)) {
                let text = format!("{}: a list of terms, left out", run.display());
                context.progress.note(&text);
                continue;
            }
            let evaluation = evaluate(&config(run), context)?;
            for note in &evaluation.notes {
                let of = match self.run.len() {
                    1 => String::new(),
                    _ => format!("{}: ", run.display()),
                };
                context.progress.note(&format!("warning: {of}{note}"));
            }
            evaluations.push(evaluation);
        }
        match &evaluations[..] {
            [evaluation] => out.result(evaluation, || Ok(table(evaluation))),
            all => out.result(&all, || Ok(side_by_side(all, out.columns()))),
        }
    }
}

/// Several runs as lines of one table for each ground truth.
fn side_by_side(all: &[Evaluation], width: usize) -> String {
    let name = |evaluation: &Evaluation| {
        let path = &evaluation.run.path;
        // The results of a method lie in a directory with its name.
        let of_method = path
            .parent()
            .is_some_and(|parent| parent.ends_with("methods"));
        let name = path.file_name().filter(|_| of_method);
        name.map_or(path.display().to_string(), |name| {
            name.to_string_lossy().into_owned()
        })
    };
    let mut out = String::new();
    let mut put = |what: &str, head: &str, rows: Vec<Vec<String>>| {
        if rows.is_empty() {
            return;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        let head = head.split(", ");
        let mut table = Table::new(std::iter::once(what).chain(head));
        rows.into_iter().for_each(|row| table.row(row));
        let long = table.print(width, &mut out);
        long.print(width, &mut out);
    };
    let rows = all.iter().filter_map(|evaluation| {
        let pairs = evaluation.pairs.first()?;
        let shown = pairs.representatives.as_ref().unwrap_or(&pairs.documents);
        let mut cells = row([&name(evaluation), ""], &shown.all);
        cells.remove(1);
        Some(cells)
    });
    put("run", MEASURES, rows.collect());
    for (what, of) in [
        (
            "judged",
            (|e| &e.judged) as fn(&Evaluation) -> &Option<Sample>,
        ),
        ("families", |e| &e.families),
    ] {
        let rows = all.iter().filter_map(|evaluation| {
            let sample = of(evaluation).as_ref()?;
            let at = sample.at.first()?;
            let mut cells = vec![
                name(evaluation),
                (at.true_found + at.false_found).to_string(),
                fraction(at.coverage),
                fraction(at.density),
            ];
            let ranked = sample.ranking.as_ref().map(|of| ranking(("", of)));
            let ranked = ranked.unwrap_or_else(|| vec!["-".into(); 6]);
            cells.extend(ranked.into_iter().skip(1));
            Some(cells)
        });
        put(
            what,
            &format!("found, coverage, density, {RANKED}"),
            rows.collect(),
        );
    }
    out
}

/// The report as a table for people.
fn table(evaluation: &Evaluation) -> String {
    let mut out = String::new();
    if let Some(truth) = &evaluation.truth {
        list(&mut out, "truth", truth);
    }
    list(&mut out, "run", &evaluation.run);
    let at = |threshold: Option<Threshold>| threshold.map_or("all".into(), |t| t.to_string());

    let mut rows = Vec::new();
    let many = evaluation
        .pairs
        .iter()
        .any(|pairs| pairs.representatives.is_some());
    for pairs in &evaluation.pairs {
        let at = at(pairs.threshold);
        if let Some(representatives) = &pairs.representatives {
            rows.push(row(["representatives", &at], &representatives.all));
        }
        rows.push(row(["documents", &at], &pairs.documents.all));
    }
    if let Some(clusters) = &evaluation.clusters {
        rows.push(row(["in one cluster", "-"], clusters));
    }
    named(&format!("pairs of, at, {MEASURES}"), rows, 2, &mut out);
    for pairs in &evaluation.pairs {
        let shown = pairs.representatives.as_ref().unwrap_or(&pairs.documents);
        let mut rows = Vec::new();
        for group in &shown.groups {
            for (which, measured) in [("same", &group.same), ("more", &group.cross)] {
                if measured.true_pairs + measured.found > 0 {
                    rows.push(row([&group.words, which], measured));
                }
            }
        }
        if !rows.is_empty() {
            let what = if many { "representatives" } else { "documents" };
            let at = pairs
                .threshold
                .map_or(String::new(), |t| format!(" at {t}"));
            let _ = write!(out, "\npairs of {what}{at}, by size group");
            let names = format!("words of the smaller, of the larger, {MEASURES}");
            named(&names, rows, 2, &mut out);
        }
    }
    let samples = [
        ("judged", &evaluation.judged),
        ("families", &evaluation.families),
    ];
    let mut rows = Vec::new();
    for (what, sample) in samples {
        if let Some(Sample {
            true_pairs,
            at: by_threshold,
            ..
        }) = sample
        {
            for sample in by_threshold {
                rows.push(vec![
                    what.to_string(),
                    at(sample.threshold),
                    true_pairs.to_string(),
                    (sample.true_found + sample.false_found).to_string(),
                    sample.true_found.to_string(),
                    fraction(sample.coverage),
                    fraction(sample.density),
                    fraction(sample.average_precision),
                ]);
            }
        }
    }
    let names = "sample, at, true, found, correct, coverage, density, average precision";
    named(names, rows, 2, &mut out);
    let rankings = samples.map(|(what, sample)| Some((what, sample.as_ref()?.ranking.as_ref()?)));
    let rows = rankings.into_iter().flatten().map(ranking).collect();
    named(&format!("ranked by score, {RANKED}"), rows, 1, &mut out);
    let reaching = samples.into_iter().filter_map(|(what, sample)| {
        let reaching = &sample.as_ref()?.ranking.as_ref()?.reaching;
        Some(reaching.iter().map(move |reaching| {
            let from = reaching.from.as_ref();
            vec![
                what.to_string(),
                reaching.precision.to_string(),
                from.map_or("-".into(), |point| score(point.score)),
                fraction(from.and_then(|point| point.recall)),
            ]
        }))
    });
    let rows = reaching.flatten().collect();
    named(
        "to reach, a precision of, score from, recall",
        rows,
        2,
        &mut out,
    );
    if let Some(graded) = evaluation
        .judged
        .as_ref()
        .and_then(|sample| sample.graded.as_ref())
    {
        by_grade(graded, &evaluation.judged, &mut out);
    }
    out
}

/// Judged pairs by grade and by collection, and the intervals of their measures.
fn by_grade(graded: &Graded, sample: &Option<Sample>, out: &mut String) {
    let thresholds = sample
        .iter()
        .flat_map(|sample| &sample.at)
        .map(|at| at.threshold);
    let names: Vec<String> = thresholds
        .map(|threshold| threshold.map_or("found".into(), |t| format!("found at {t}")))
        .collect();
    if graded.grades.len() > 2 || graded.true_grade > 1 {
        let rows = graded.grades.iter().map(|of| {
            let judged = of.grade >= graded.true_grade;
            let mut cells = vec![
                of.grade.to_string(),
                if judged { "true" } else { "false" }.into(),
            ];
            cells.extend([of.pairs].iter().chain(&of.found).map(u64::to_string));
            cells
        });
        let head = format!("grade, judged, pairs, {}", names.join(", "));
        named(&head, rows.collect(), 2, out);
    }
    let first = |values: &[Option<f64>]| fraction(values.first().copied().flatten());
    let rows = graded.collections.iter().map(|of| {
        let measures = &of.measures;
        let mut cells = vec![of.collection.clone()];
        cells.extend([of.true_pairs, of.false_pairs].map(|n| n.to_string()));
        cells.extend([first(&measures.coverage), first(&measures.density)]);
        cells.extend([measures.average_precision, measures.auc, measures.best_f1].map(fraction));
        cells
    });
    let head = "collection, true, false, coverage, density, average precision, AUC, best F1";
    named(head, rows.collect(), 1, out);
    if let Some(of) = &graded.intervals {
        let interval = |interval: Option<[f64; 2]>| {
            interval.map_or("-".into(), |[low, high]| format!("{low:.4}-{high:.4}"))
        };
        let first = |values: &[Option<[f64; 2]>]| interval(values.first().copied().flatten());
        let mut cells = vec![counted(of.documents, "document")];
        cells.extend([first(&of.coverage), first(&of.density)]);
        cells.extend([of.average_precision, of.auc, of.best_f1].map(interval));
        let head = "95 % intervals over, coverage, density, average precision, AUC, best F1";
        named(head, vec![cells], 1, out);
    }
}

/// The names of the columns that [`ranking`] fills.
const RANKED: &str = "average precision, AUC, 95 % interval, best F1, at";

/// A least score.
fn score(score: Option<f64>) -> String {
    match score {
        None => "identical".into(),
        Some(score) if score.fract() == 0.0 => score.to_string(),
        // Rounded down, so that it is a threshold.
        Some(score) => format!("{:.6}", (score * 1e6).floor() / 1e6),
    }
}

/// A line for how the judged pairs of a sample are ranked.
fn ranking((what, ranking): (&str, &Ranking)) -> Vec<String> {
    let interval = |[low, high]: [f64; 2]| format!("{low:.4}-{high:.4}");
    let at = ranking
        .best_f1
        .map_or("-".into(), |_| score(ranking.best_score));
    vec![
        what.into(),
        fraction(ranking.average_precision),
        fraction(ranking.auc),
        ranking.auc_interval.map_or("-".into(), interval),
        fraction(ranking.best_f1),
        at,
    ]
}

/// Appends a list and its counts.
fn list(out: &mut String, what: &str, list: &ListReport) {
    let scores = match list.scores {
        Scores::None => "no resemblances",
        Scores::Integers => "resemblances in integers",
        Scores::Decimals => "resemblances in decimals",
        Scores::Counts => "numbers of common features",
    };
    let _ = write!(out, "{what:<7}{}", list.path.display());
    if let Some(counts) = &list.counts {
        let _ = write!(out, ": {}, {scores}", counted(counts.pairs, "pair"));
        for (n, what) in [
            (counts.repeated, "repeated"),
            (counts.to_themselves, "of a document with itself"),
            (counts.unknown, "unknown"),
            (counts.identical, "of identical documents"),
        ] {
            if n > 0 {
                let _ = write!(out, ", {n} {what}");
            }
        }
    }
    out.push('\n');
}

/// The names of the columns that [`row`] fills.
const MEASURES: &str = "true, found, correct, wrong, missed, precision, recall, F1";

fn row(first: [&str; 2], measured: &Measured) -> Vec<String> {
    let counts = measured.counts;
    let mut cells: Vec<String> = first.into_iter().map(String::from).collect();
    let numbers = [
        measured.true_pairs,
        measured.found,
        counts.correct,
        counts.wrong,
        counts.missed,
    ];
    cells.extend(numbers.map(|n| n.to_string()));
    cells.extend([measured.precision, measured.recall, measured.f1].map(fraction));
    cells
}

/// A share with four decimals, or `-` if it is undefined.
fn fraction(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| numbers::fraction(share, 4))
}
