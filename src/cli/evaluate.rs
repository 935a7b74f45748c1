//! `evaluate`: precision and recall of a run.

use std::fmt::Write;
use std::path::PathBuf;

use crate::line;
use crate::report::terminal::{Line, Shown, named, tabled};
use lookalike_base::{Threshold, counted, refuse};
use lookalike_methods::LEXICON_FILE;
use lookalike_store::disk;
use lookalike_tasks::evaluate::{
    Columns, EvaluateConfig, Evaluation, Graded, ListFile, ListReport, Measured, Measures,
    PairCounts, PairsAt, Ranking, RemovalShare, RunList, Sample, Scores, evaluate,
};

use super::command::{Args, Command, Context, Out, Result};

/// Options of `evaluate`.
#[derive(Debug, Args)]
pub struct Options {
    /// Pairs to evaluate: output directories, or lists of pairs
    ///
    /// Several are compared in one table, with a line for each. Lists of terms, which stand beside
    /// the directories of methods, are left out.
    #[arg(value_name = "RUN", required = true)]
    run: Vec<PathBuf>,
    /// Ground truth: an output directory, or a list of pairs
    ///
    /// A list is a pairs.tsv, or a file with one pair per line: two docnos and, optionally, a
    /// resemblance, separated by tabs, commas or spaces, or as a JSON object. It may be compressed.
    /// Without --pair-columns, the columns are docno_a and docno_b if the first line names them, and
    /// otherwise the first two, with the resemblance in the third.
    #[arg(long, value_name = "PATH")]
    truth: Option<PathBuf>,
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
    /// numbers from 1 if the first line has no names. A list of removed or kept documents has one
    /// column, DOCNO, and a list of clusters DOCNO,CLUSTER.
    #[arg(long, value_name = "COLUMNS", help_heading = "Lists")]
    pair_columns: Option<Columns>,
    /// Columns of the ground truth, if they differ from --pair-columns
    #[arg(long, value_name = "COLUMNS", help_heading = "Lists")]
    truth_columns: Option<Columns>,
    /// Columns of the run, if they differ from --pair-columns
    #[arg(long, value_name = "COLUMNS", help_heading = "Lists")]
    run_columns: Option<Columns>,
    /// What a file RUN lists: pairs, clusters, cluster-lines, removed or kept
    ///
    /// clusters: lines of DOCNO and CLUSTER. cluster-lines: on each line, the docnos of a cluster.
    /// removed, kept: the docnos that a deduplication removed or kept. --truth DIR tells how many
    /// removed documents have no survivor, and how many kept ones are redundant; below the threshold
    /// of DIR, from 1,000 documents of each that are drawn at random and verified.
    #[arg(long, value_name = "WHAT", default_value_t = RunList::Pairs, help_heading = "Lists")]
    run_lists: RunList,
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
    /// Write what is judged or decided otherwise than by the run, as TSV
    ///
    /// Pairs judged true and missed, and those judged false and listed. With --run-lists removed or
    /// kept, the documents that are counted: those removed without survivor, and the redundant ones,
    /// each with the most similar kept document if their resemblance reaches the threshold of the
    /// directory. `lookalike diff DIR --pair FILE:LINE` shows the texts of a pair.
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
}

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let list = |path: &PathBuf, own: &Option<_>| ListFile {
            // A directory has fixed columns, so --pair-columns applies only to lists.
            columns: own.clone().or_else(|| {
                let both = self.pair_columns.clone();
                both.filter(|_| !matches!(disk::is_directory(path), Ok(true)))
            }),
            path: path.clone(),
        };
        if let (Some(file), true) = (&self.disagreements, self.run.len() > 1) {
            return refuse("disagreements", file.display(), "with one RUN only");
        }
        let config = |run: &PathBuf| EvaluateConfig {
            truth: (self.truth.as_ref()).map(|path| list(path, &self.truth_columns)),
            run: list(run, &self.run_columns),
            run_lists: self.run_lists,
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
            [evaluation] => out.answer(evaluation, || Ok(table(evaluation))),
            all => out.answer(&all, || Ok(side_by_side(all, out.columns()))),
        }
    }
}

/// Several runs as lines of one table for each ground truth.
fn side_by_side(all: &[Evaluation], width: usize) -> String {
    let name = |evaluation: &Evaluation| {
        let path = &evaluation.run.path;
        // The results of a method lie in a directory with its name.
        let of_method = path.parent().filter(|parent| parent.ends_with("methods"));
        let name = of_method.and_then(|_| path.file_name());
        name.unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned()
    };
    let mut out = String::new();
    let mut put = |names: &str, lines: Vec<Line>| {
        if lines.is_empty() {
            return;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        tabled(names.split(", "), lines, width, &mut out).print(width, &mut out);
    };
    let lines = all.iter().filter_map(|evaluation| {
        let pairs = evaluation.pairs.first().map(|pairs| &compared(pairs).1.all);
        let measured = pairs.or(evaluation.clusters.as_ref())?;
        Some([line![name(evaluation)], measures(measured)].concat())
    });
    put(&format!("run, {MEASURES}"), lines.collect());
    let lines = all.iter().flat_map(|evaluation| {
        let lines = removals(evaluation).into_iter();
        lines.map(|line| [line![name(evaluation)], line].concat())
    });
    put(&format!("run, {REMOVALS}"), lines.collect());
    for (at, what) in SAMPLES.into_iter().enumerate() {
        let lines = all.iter().filter_map(|evaluation| {
            let sample = samples(evaluation)[at]?;
            let first = sample.at.first()?;
            let found = first.true_found + first.false_found;
            let line = line![name(evaluation), found, first.coverage, first.density];
            let ranked = sample.ranking.as_ref().map(ranking);
            Some([line, ranked.unwrap_or_else(|| vec!["-".into(); 5])].concat())
        });
        let names = format!("{what}, found, coverage, density, {RANKED}");
        put(&names, lines.collect());
    }
    out
}

/// The names of the columns of [`removals`].
const REMOVALS: &str = "documents, at, of, number, share, 95 % interval, pairs";

/// Returns the lines about the documents that a run removed and kept.
fn removals(evaluation: &Evaluation) -> Vec<Line> {
    let lines = evaluation.removals.iter().flat_map(|found| {
        let of = |what: &str, part: &RemovalShare, pairs: Option<u64>| {
            let counts = line![what, at(found.threshold), part.of, part.documents];
            [counts, line![part.share, part.interval, pairs]].concat()
        };
        [
            of("removed without survivor", &found.without_survivor, None),
            of("kept but redundant", &found.redundant, found.pairs),
        ]
    });
    lines.collect()
}

/// The pairs by which a run is measured, and their name.
fn compared(pairs: &PairsAt) -> (&'static str, &PairCounts) {
    match &pairs.representatives {
        Some(representatives) => ("representatives", representatives),
        None => ("documents", &pairs.documents),
    }
}

/// The names of the [`samples`].
const SAMPLES: [&str; 2] = ["judged", "families"];

fn samples(evaluation: &Evaluation) -> [Option<&Sample>; 2] {
    [evaluation.judged.as_ref(), evaluation.families.as_ref()]
}

/// The report as a table for people.
fn table(evaluation: &Evaluation) -> String {
    let mut out = String::new();
    if let Some(truth) = &evaluation.truth {
        list(&mut out, "truth", truth);
    }
    list(&mut out, "run", &evaluation.run);
    let mut lines = Vec::new();
    for pairs in &evaluation.pairs {
        let of = |what: &str, all| [line![what, at(pairs.threshold)], measures(all)].concat();
        let representatives = pairs.representatives.iter();
        lines.extend(representatives.map(|found| of("representatives", &found.all)));
        lines.push(of("documents", &pairs.documents.all));
    }
    if let Some(clusters) = &evaluation.clusters {
        lines.push([line!["in one cluster", "-"], measures(clusters)].concat());
    }
    named(&format!("pairs of, at, {MEASURES}"), lines, 2, &mut out);
    named(REMOVALS, removals(evaluation), 1, &mut out);
    for pairs in &evaluation.pairs {
        let (what, shown) = compared(pairs);
        let groups = shown.groups.iter().flat_map(|group| {
            let both = [("same", &group.same), ("more", &group.cross)].into_iter();
            let any = both.filter(|(_, measured)| measured.true_pairs + measured.found > 0);
            any.map(|(which, measured)| [line![group.words, which], measures(measured)].concat())
        });
        let lines: Vec<Line> = groups.collect();
        if !lines.is_empty() {
            let at = pairs.threshold.map(|t| format!(" at {t}"));
            let at = at.unwrap_or_default();
            let _ = write!(out, "\npairs of {what}{at}, by size group");
            let names = format!("words of the smaller, of the larger, {MEASURES}");
            named(&names, lines, 2, &mut out);
        }
    }
    let samples = SAMPLES.into_iter().zip(samples(evaluation));
    let samples = samples.filter_map(|(what, sample)| Some((what, sample?)));
    let lines = samples.clone().flat_map(|(what, sample)| {
        sample.at.iter().map(move |at| {
            let found = at.true_found + at.false_found;
            let shares = line![at.coverage, at.density, at.average_precision];
            let counts = line![
                what,
                self::at(at.threshold),
                sample.true_pairs,
                found,
                at.true_found
            ];
            [counts, shares].concat()
        })
    });
    let names = "sample, at, true, found, correct, coverage, density, average precision";
    named(names, lines.collect(), 2, &mut out);
    let ranked = samples.filter_map(|(what, sample)| Some((what, sample.ranking.as_ref()?)));
    let lines = ranked
        .clone()
        .map(|(what, of)| [line![what], ranking(of)].concat());
    let names = format!("ranked by score, {RANKED}");
    named(&names, lines.collect(), 1, &mut out);
    let reaching = ranked.flat_map(|(what, of)| {
        of.reaching.iter().map(move |reaching| {
            let from = reaching.from.as_ref();
            let score = from.map_or("-".into(), |point| score(point.score));
            let recall = from.and_then(|point| point.recall);
            line![what, reaching.precision.to_string(), score, recall]
        })
    });
    let names = "to reach, a precision of, score from, recall";
    named(names, reaching.collect(), 2, &mut out);
    if let Some(sample) = &evaluation.judged
        && let Some(graded) = &sample.graded
    {
        by_grade(graded, sample, &mut out);
    }
    out
}

/// Judged pairs by grade and by collection, and the intervals of their measures.
fn by_grade(graded: &Graded, sample: &Sample, out: &mut String) {
    if graded.grades.len() > 2 || graded.true_grade > 1 {
        let lines = graded.grades.iter().map(|of| {
            let judged = of.grade >= graded.true_grade;
            let line = line![u64::from(of.grade), judged.to_string(), of.pairs];
            [line, of.found.iter().map(u64::shown).collect()].concat()
        });
        let thresholds = sample.at.iter().map(|at| match at.threshold {
            None => ", found".into(),
            Some(threshold) => format!(", found at {threshold}"),
        });
        let names = format!("grade, judged, pairs{}", thresholds.collect::<String>());
        named(&names, lines.collect(), 2, out);
    }
    let names = "coverage, density, average precision, AUC, best F1";
    let lines = graded.collections.iter().map(|of| {
        let counts = line![of.collection, of.true_pairs, of.false_pairs];
        [counts, judged(&of.measures)].concat()
    });
    let head = format!("collection, true, false, {names}");
    named(&head, lines.collect(), 1, out);
    let lines = graded.intervals.iter().map(|of| {
        let documents = counted(of.documents, "document");
        [line![documents], judged(&of.measures)].concat()
    });
    let head = format!("95 % intervals over, {names}");
    named(&head, lines.collect(), 1, out);
}

fn at(threshold: Option<Threshold>) -> String {
    threshold.map_or("all".into(), |threshold| threshold.to_string())
}

/// Measures of judged pairs, at the first threshold.
fn judged<T: Shown + Copy>(of: &Measures<T>) -> Line {
    let first = |values: &[Option<T>]| values.first().copied().flatten();
    let (coverage, density) = (first(&of.coverage), first(&of.density));
    line![coverage, density, of.average_precision, of.auc, of.best_f1]
}

/// A least score.
fn score(score: Option<f64>) -> String {
    match score {
        None => "identical".into(),
        Some(score) if score.fract() == 0.0 => score.to_string(),
        // Rounded down, so that it is a threshold.
        Some(score) => format!("{:.6}", (score * 1e6).floor() / 1e6),
    }
}

/// The names of the columns that [`ranking`] fills.
const RANKED: &str = "average precision, AUC, 95 % interval, best F1, at";

/// How the judged pairs of a sample are ranked.
fn ranking(of: &Ranking) -> Line {
    let at = of.best_f1.map_or("-".into(), |_| score(of.best_score));
    line![
        of.average_precision,
        of.auc,
        of.auc_interval,
        of.best_f1,
        at
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

/// The names of the columns that [`measures`] fills.
const MEASURES: &str = "true, found, correct, wrong, missed, precision, recall, F1";

fn measures(of: &Measured) -> Line {
    let (correct, wrong, missed) = (of.counts.correct, of.counts.wrong, of.counts.missed);
    let counts = line![of.true_pairs, of.found, correct, wrong, missed];
    [counts, line![of.precision, of.recall, of.f1]].concat()
}
