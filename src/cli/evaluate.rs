//! `evaluate`: precision and recall of a run.

use std::fmt::Write;
use std::path::PathBuf;

use crate::Result;
use crate::base::ids::Threshold;
use crate::base::numbers::{self, counted};
use crate::base::progress::Context;
use crate::report::terminal::named;
use crate::store::disk;
use crate::tasks::evaluate::{
    Columns, EvaluateConfig, Evaluation, ListFile, ListReport, Measured, Ranking, Sample, Scores,
    evaluate,
};
use clap::Args;

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
    #[arg(long, value_name = "PATH")]
    run: PathBuf,
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
    /// Pairs that people judged: lines of DOCNO DOCNO and 0 or 1
    ///
    /// Bernstein & Zobel 2006, section 7. coverage is the share of the pairs judged true that the
    /// run found. density is the share of true pairs among the judged pairs that the run found.
    /// average precision is the density for each document that a line names first, averaged over
    /// the documents with any pair found. If the run has scores, a second table says how well they
    /// rank the judged pairs.
    #[arg(long, value_name = "FILE", help_heading = "Judged samples")]
    judged: Option<PathBuf>,
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
        let config = EvaluateConfig {
            truth: (self.truth.as_ref()).map(|path| list(path, &self.truth_columns)),
            run: list(&self.run, &self.run_columns),
            documents: self.documents.clone(),
            thresholds: self.thresholds.clone(),
            judged: self.judged.clone(),
            families: self.families.clone(),
            scratch: self.scratch.clone().unwrap_or_else(std::env::temp_dir),
        };
        let evaluation = evaluate(&config, context)?;
        for note in &evaluation.notes {
            context.progress.note(&format!("warning: {note}"));
        }
        out.result(&evaluation, || Ok(table(&evaluation)))
    }
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
    let names = "ranked by score, average precision, AUC, 95 % interval, best F1, at";
    named(names, rows, 1, &mut out);
    out
}

/// A line for how the judged pairs of a sample are ranked.
fn ranking((what, ranking): (&str, &Ranking)) -> Vec<String> {
    let interval = |[low, high]: [f64; 2]| format!("{low:.4}-{high:.4}");
    let at = match (ranking.best_f1, ranking.best_score) {
        (None, _) => "-".into(),
        (_, None) => "identical".into(),
        (_, Some(score)) if score.fract() == 0.0 => score.to_string(),
        // Rounded down, so that it is a threshold.
        (_, Some(score)) => format!("{:.6}", (score * 1e6).floor() / 1e6),
    };
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
