//! Kołcz & Chowdhury 2008: I-Match with randomised lexicons.
//!
//! # Source
//! Kołcz & Chowdhury, *Lexicon randomization for near-duplicate detection with I-Match*, 2008.
//! Tables 1 to 4, Figures 1 to 6, sections 3, 6.4 and 7.
//!
//! # Algorithm
//! I-Match is run with more and more randomised lexicons, and compared with the cosine by query
//! ([`crate::lab::compare`]). Table 4 and Figure 2 are formulas ([`crate::lab::formulas`]).
//!
//! # Where we depart from the source
//! - Every document without an earlier exact duplicate is a query, where the paper samples 7 % of
//!   its web pages and 10 % of its spam.
//! - Tables 2 and 3 need labels. The documents with the label `spam` stand for the Honeypot-spam
//!   collection, those with `cluster-spam` for the Cluster-spam collection, and documents with any
//!   other label for legitimate mail.
//! - The lexicon comes from the collection itself. The paper's better one comes from another.

use super::Form::{Count, Number, Share, Text};
use super::{Bench, Claim, Exhibit};
use crate::Result;
use crate::base::bits::{Bits, Ranks};
use crate::base::numbers::{count, counted, percent};
use crate::engine::collection::Catalogue;
use crate::engine::pipeline::Summary;
use crate::lab::compare::{COST, Labels, QueryRow, Sample, increases, of_method};
use crate::lab::formulas::{expected_trials, lexicon_unchanged, signature_stability};
use crate::store::workspace::Workspace;

/// Numbers of randomised lexicons of Figures 3, 4 and 6.
const LEXICONS: [u32; 7] = [0, 1, 2, 3, 5, 7, 10];
/// The ground truth of the web pages, and of mail (section 6.3).
const COSINE: [&str; 2] = ["cosine", "cosine:least-terms=5"];
/// The label of spam in Tables 2 and 3.
const SPAM: [&str; 2] = ["spam", "cluster-spam"];
/// Table 1: name and messages without trivial duplicates, and with them if the text says so.
const TABLE_1: [(&str, u64, Option<u64>); 3] = [
    ("Legitimate", 18_555, None),
    ("Honeypot-spam", 5_328, Some(10_039)),
    ("Cluster-spam", 6_389, Some(8_703)),
];
/// Tables 2 and 3: randomised lexicons, recall, relative increase of recall, utility.
const TABLES_2_3: [[(u32, f64, f64, f64); 4]; 2] = [
    [
        (0, 0.66, 0.0, 30.17),
        (2, 0.72, 0.09, 36.32),
        (5, 0.76, 0.15, 43.34),
        (10, 0.80, 0.21, 56.93),
    ],
    [
        (0, 0.40, 0.0, 46.34),
        (2, 0.49, 0.23, 81.25),
        (5, 0.55, 0.38, 96.24),
        (10, 0.61, 0.52, 113.38),
    ],
];
/// Table 4: the size of the lexicon, and the expected lexicons for each number of changes.
const CHANGES: [u64; 5] = [2, 5, 10, 20, 50];
const TABLE_4: [(u64, [f64; 5]); 3] = [
    (1_000, [2.23, 7.44, 56.10, 3_309.92, 932_403_182.29]),
    (10_000, [2.23, 7.41, 54.98, 3_037.91, 527_924_300.92]),
    (100_000, [2.23, 7.41, 54.87, 3_012.39, 499_897_879.50]),
];
/// Recall and precision of megashingles (section 7.1, footnote), which the paper compares with
/// this number of randomised lexicons.
const MEGASHINGLES: (f64, f64, u32) = (0.668, 0.758, 5);
/// The remedies for small signatures of section 3, with ten randomised lexicons. The paper does not
/// give its thresholds.
const REMEDIES: [(&str, &str); 4] = [
    ("none", ""),
    ("at least 5 terms", ",reject-size=5"),
    ("at least 20 % of the terms", ",reject-ratio=0.2"),
    (
        "secondary lexicon up to 20 %, else rejected",
        ",secondary=0.2,reject-ratio=0.2",
    ),
];

/// What a method finds for the queries.
#[derive(Clone, Debug, Default)]
struct Found {
    /// Randomised lexicons.
    lexicons: u32,
    /// Documents without a signature.
    ignored: u64,
    pairs: u64,
    row: QueryRow,
}

/// Queries, and the ground truth for them.
struct Asked<'a> {
    truth: Workspace,
    queries: Ranks,
    labels: Option<&'a Labels>,
}

impl Asked<'_> {
    fn ask(&self, bench: &Bench<'_>, spec: &str, lexicons: u32) -> Result<Found> {
        let (made, summary) = bench.method(&bench.base, spec)?;
        let both = (&made, &self.truth);
        let row = of_method(both, &self.queries, self.labels, COST, &bench.context())?;
        Ok(Found {
            lexicons,
            ignored: ignored(&summary),
            pairs: summary.join.map_or(0, |join| join.pairs),
            row: QueryRow {
                method: spec.into(),
                ..row
            },
        })
    }

    /// Asks with more and more lexicons.
    fn ask_each(&self, bench: &Bench<'_>, of: &str, numbers: &[u32]) -> Result<Vec<Found>> {
        let specs = numbers
            .iter()
            .map(|&lexicons| (lexicons, with_lexicons(of, lexicons)));
        let found: Result<Vec<Found>> = specs
            .map(|(lexicons, spec)| self.ask(bench, &spec, lexicons))
            .collect();
        let mut found = found?;
        let mut rows: Vec<QueryRow> = found.iter().map(|of| of.row.clone()).collect();
        if let Some(first) = rows.first().map(|row| row.method.clone()) {
            increases(&mut rows, &first);
        }
        for (found, row) in found.iter_mut().zip(rows) {
            found.row = row;
        }
        Ok(found)
    }
}

/// Documents without features; all empty documents but the first are its exact duplicates.
fn ignored(summary: &Summary) -> u64 {
    summary.ingest.short + summary.ingest.empty.min(1)
}

/// A specification with a number of randomised lexicons; ten are the default.
fn with_lexicons(of: &str, lexicons: u32) -> String {
    match lexicons {
        10 => format!("i-match:preset=kolcz{of}"),
        n => format!("i-match:preset=kolcz{of},lexicons={n}"),
    }
}

/// The exhibits and claims, in the order of the paper.
pub(super) fn reproduce(bench: &mut Bench<'_>) -> Result<(Vec<Exhibit>, Vec<Claim>)> {
    let context = bench.context();
    let labels = bench.known.labels.as_deref();
    let labels = labels.map(|path| Labels::read(&bench.base, path, &context));
    let labels = labels.transpose()?;
    let asked = |queries: Bits, truth: &str| -> Result<Asked<'_>> {
        Ok(Asked {
            truth: bench.method(&bench.base, truth)?.0,
            queries: Ranks::of(queries),
            labels: labels.as_ref(),
        })
    };
    let all = Sample::All.choose(&bench.base, 0, &context)?;
    let web = asked(all, COSINE[0])?;
    let found = web.ask_each(bench, "", &LEXICONS)?;
    let mega = web.ask(bench, "megashingles", 0)?;
    let mut remedies = Vec::new();
    for (_, parameters) in REMEDIES {
        remedies.push(web.ask(bench, &with_lexicons(parameters, 10), 10)?);
    }
    drop(web);
    let mut mail: [Vec<Found>; 2] = Default::default();
    if let Some(labels) = &labels {
        let representatives = Catalogue::representatives(&bench.base)?;
        for (found, label) in mail.iter_mut().zip(SPAM) {
            let queries = labels.with(label, &representatives);
            if labels.names.iter().any(|name| name == label) {
                let of = ",variant=nidf-0.2-0.3,least-terms=5";
                *found = asked(queries, COSINE[1])?.ask_each(bench, of, &LEXICONS)?;
            }
        }
    }
    let mut exhibits = vec![Exhibit::new(
        ("figure-1", "Figure 1"),
        "Two different messages with the same signature",
        "An example without numbers. Section 3 here shows what a secondary lexicon and rejection \
         change.",
    )];
    exhibits.push(section_3(&remedies));
    exhibits.push(figure_2());
    exhibits.push(table_1(bench, labels.as_ref())?);
    exhibits.extend(figures_3_4(&found, &mega, labels.is_some()));
    exhibits.push(Exhibit::new(
        ("figure-5", "Figure 5"),
        "Two help pages of one template",
        "An example without numbers.",
    ));
    exhibits.extend([0, 1].map(|table| tables_2_3(table, &mail[table])));
    exhibits.push(figure_6(&mail));
    exhibits.push(table_4());
    let row = |of: &Found| of.row.clone();
    let rows: Vec<(u32, QueryRow)> = found.iter().map(|of| (of.lexicons, row(of))).collect();
    let mut claims = vec![rejection(
        remedies.first().map(row).unwrap_or_default(),
        remedies.get(2).map(row).unwrap_or_default(),
        remedies.last().map(row).unwrap_or_default(),
    )];
    claims.extend(web_claims(&rows));
    claims.push(megashingles(&rows, &mega.row));
    claims.push(Claim::new(
        ("Section 7.1, Figure 3", "figure-3"),
        "A lexicon of edited news finds more near-duplicates than the lexicon of the web pages \
         themselves.",
        None,
        "the lexicon of another collection is not known here; `lookalike method \
         i-match:lexicon=FILE` takes it",
    ));
    for (table, found) in mail.iter().enumerate() {
        let rows: Vec<(u32, QueryRow)> = found.iter().map(|of| (of.lexicons, row(of))).collect();
        claims.extend(mail_claims(table, &rows));
    }
    claims.extend(formula_claims(&computed_table_4()));
    Ok((exhibits, claims))
}

fn section_3(remedies: &[Found]) -> Exhibit {
    Exhibit::new(
        ("section-3", "Section 3"),
        "Signatures of few terms: rejection and a secondary lexicon",
        "I-Match with ten randomised lexicons. A signature of few terms is rejected, or a secondary \
         lexicon of rarer terms adds terms to it. The paper gives neither its thresholds nor numbers. \
         A pure cluster is one in which all pairs found have a cosine of 0.9 or more.",
    )
    .rows(REMEDIES.into_iter().zip(remedies))
    .column("remedy", Text, |((name, _), _)| *name)
    .column("method", Text, |(_, of)| of.row.method.as_str())
    .column("ignored", Count, |(_, of)| of.ignored)
    .column("pairs", Count, |(_, of)| of.pairs)
    .column("recall", Share, |(_, of)| of.row.recall)
    .column("precision", Share, |(_, of)| of.row.precision)
    .column("clusters", Count, |(_, of)| of.row.clusters)
    .column("pure", Share, |(_, of)| share(of.row.pure, of.row.clusters))
    .end()
}

/// A part of a whole.
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn figure_2() -> Exhibit {
    let mut figure = Exhibit::new(
        ("figure-2", "Figure 2"),
        "Probability that one of K randomised lexicons keeps its signature",
        "Equation 1 with p = 0.33, for n changes of words of the lexicon. It depends on no collection. \
         The values of the paper are only drawn.",
    )
    .rows(1..=10u32)
    .column("lexicons", Count, |lexicons| u64::from(*lexicons));
    for n in [1, 2, 3, 5] {
        let stability = |lexicons: &u32| signature_stability(0.33, n, *lexicons);
        figure = figure.column(&format!("n_{n}"), Share, stability);
    }
    figure
        .end()
        .lines("lexicons", &["n_1", "n_2", "n_3", "n_5"], None)
}

/// Limit on the labels of Table 1.
const MOST_LABELS: usize = 100;

fn table_1(bench: &Bench<'_>, labels: Option<&Labels>) -> Result<Exhibit> {
    let here = match labels {
        Some(labels) => labels.sizes(&Catalogue::representatives(&bench.base)?),
        None => {
            let stats = Catalogue::stats(&bench.base)?;
            vec![("all".into(), stats.documents, stats.representatives)]
        }
    };
    let here = here.into_iter().take(MOST_LABELS);
    let here = here.map(|(name, documents, distinct)| (name, Some((documents, distinct)), None));
    let paper = TABLE_1.map(|(name, distinct, all)| (name.into(), None, Some((all, distinct))));
    Ok(Exhibit::new(
        ("table-1", "Table 1"),
        "The collections of mail",
        "Messages are counted without exact duplicates. Here each label is a collection; without \
         labels the whole collection is one.",
    )
    .rows(here.chain(paper))
    .column("collection", Text, |row| -> String { row.0.clone() })
    .column("documents", Count, |row| row.1.map(|of| of.0))
    .column("without_duplicates", Count, |row| row.1.map(|of| of.1))
    .column("documents_paper", Count, |row| row.2.map(|of| of.0))
    .column("without_duplicates_paper", Count, |row| {
        row.2.map(|of| of.1)
    })
    .end())
}

fn figures_3_4(found: &[Found], mega: &Found, labelled: bool) -> Vec<Exhibit> {
    let (recall, precision, _) = MEGASHINGLES;
    let rows = || {
        let rows = found.iter().map(|of| (Some(u64::from(of.lexicons)), of));
        rows.chain([(None, mega)])
    };
    let of_paper = |lexicons: &Option<u64>, value: f64| lexicons.is_none().then_some(value);
    let by_label = |of: &Found| labelled.then(|| share(of.row.pure_by_label, of.row.labelled));
    let three = Exhibit::new(
        ("figure-3", "Figure 3"),
        "Recall by the number of randomised lexicons",
        &format!(
            "Mean over the {} documents with another document at a cosine of 0.9 or more. The lexicon is \
             that of the collection, with nidf from 0.2 to 0.8. The values of the paper are only drawn, \
             but for the recall of megashingles, which the paper compares with five lexicons.",
            count(mega.row.with_neighbours),
        ),
    )
    .rows(rows())
    .column("lexicons", Count, |(lexicons, _)| *lexicons)
    .column("method", Text, |(_, of)| of.row.method.as_str())
    .column("recall", Share, |(_, of)| of.row.recall)
    .column("increase", Share, |(_, of)| of.row.increase)
    .column("pairs", Count, |(_, of)| of.pairs)
    .column("recall_paper", Share, |(lexicons, _)| of_paper(lexicons, recall))
    .end()
    .lines("lexicons", &["recall"], None);
    let four = Exhibit::new(
        ("figure-4", "Figure 4"),
        "Precision and pure clusters by the number of randomised lexicons",
        "A cluster is pure if all pairs found in it have a cosine of 0.9 or more. With labels, a \
         cluster is pure by label if its documents with a label have the same. The values of the \
         paper are only drawn, but for the precision of megashingles.",
    )
    .rows(rows())
    .column("lexicons", Count, |(lexicons, _)| *lexicons)
    .column("method", Text, |(_, of)| of.row.method.as_str())
    .column("precision", Share, |(_, of)| of.row.precision)
    .column("clusters", Count, |(_, of)| of.row.clusters)
    .column("pure", Share, |(_, of)| share(of.row.pure, of.row.clusters))
    .column("pure_by_label", Share, |(_, of)| by_label(of))
    .column("precision_paper", Share, |(lexicons, _)| {
        of_paper(lexicons, precision)
    })
    .end()
    .lines("lexicons", &["precision", "pure"], None);
    vec![three, four]
}

/// The place of Table 2 or 3, and the collection of the paper.
fn place(table: usize) -> ((&'static str, &'static str), &'static str) {
    match table {
        0 => (("table-2", "Table 2"), "Honeypot-spam"),
        _ => (("table-3", "Table 3"), "Cluster-spam"),
    }
}

fn tables_2_3(table: usize, found: &[Found]) -> Exhibit {
    let (at, collection) = place(table);
    let title = format!("{collection} against legitimate mail");
    let label = SPAM[table];
    if found.is_empty() {
        let about = format!(
            "This table needs labels: --labels with the label `{label}` for spam, and another one for \
             legitimate mail. None is known of this collection."
        );
        return Exhibit::new(at, &title, &about);
    }
    let about = format!(
        "Queries are the documents with the label `{label}`. Recall is that of the documents at a cosine \
         of 0.9 or more. Utility counts the documents found with the same label, and a cost of {COST} for \
         each with another one. The lexicon is that of the collection, with nidf from 0.2 to 0.3, and \
         documents have five terms or more. Legitimate pairs are a query and a message with another \
         label that it found."
    );
    let rows = TABLES_2_3[table].into_iter();
    let rows = rows.filter_map(|paper| {
        let of = found.iter().find(|of| of.lexicons == paper.0)?;
        Some((&of.row, paper))
    });
    Exhibit::new(at, &title, &about)
        .rows(rows)
        .column("lexicons", Count, |(_, paper)| u64::from(paper.0))
        .column("recall", Share, |(row, _)| row.recall)
        .column("increase", Share, |(row, _)| row.increase)
        .column("utility", Number(2), |(row, _)| row.utility)
        .column("legitimate_pairs", Count, |(row, _)| row.wrong)
        .column("recall_paper", Share, |(_, paper)| paper.1)
        .column("increase_paper", Share, |(_, paper)| paper.2)
        .column("utility_paper", Number(2), |(_, paper)| paper.3)
        .column("legitimate_pairs_paper", Count, |_| 0u64)
        .end()
}

fn figure_6(mail: &[Vec<Found>; 2]) -> Exhibit {
    let title = "Recall of spam by the number of randomised lexicons";
    let exhibit = |about| Exhibit::new(("figure-6", "Figure 6"), title, about);
    if mail.iter().all(Vec::is_empty) {
        return exhibit("This figure needs labels, as Tables 2 and 3 do.");
    }
    let here = |table: usize, lexicons: u32| {
        let of = mail[table].iter().find(|of| of.lexicons == lexicons);
        of.and_then(|of| of.row.recall)
    };
    let paper = |table: usize, lexicons: u32| {
        let of = TABLES_2_3[table].iter().find(|of| of.0 == lexicons);
        of.map(|(_, recall, ..)| *recall)
    };
    let about = "The recall of Tables 2 and 3 with every number of lexicons. The paper's values come from \
                 its tables.";
    exhibit(about)
        .rows(LEXICONS)
        .column("lexicons", Count, |lexicons| u64::from(*lexicons))
        .column("honeypot_spam", Share, |lexicons| here(0, *lexicons))
        .column("cluster_spam", Share, |lexicons| here(1, *lexicons))
        .column("honeypot_spam_paper", Share, |lexicons| paper(0, *lexicons))
        .column("cluster_spam_paper", Share, |lexicons| paper(1, *lexicons))
        .end()
        .lines("lexicons", &["honeypot_spam", "cluster_spam"], None)
}

/// The expected number of lexicons of each cell of Table 4, with M = 0.33 L.
fn computed_table_4() -> [[Option<f64>; 5]; 3] {
    TABLE_4.map(|(terms, _)| {
        CHANGES.map(|n| expected_trials(lexicon_unchanged(terms, terms * 33 / 100, n)?))
    })
}

fn table_4() -> Exhibit {
    let mut table = Exhibit::new(
        ("table-4", "Table 4"),
        "Expected number of lexicons until one is unaffected by n changes",
        "1/q with q by equation 6 and M = 0.33 L. It depends on no collection. `lookalike formulas \
         kolcz-2008` computes it for other values.",
    )
    .rows(TABLE_4.into_iter().zip(computed_table_4()))
    .column("terms", Count, |((terms, _), _)| *terms);
    for (at, n) in CHANGES.into_iter().enumerate() {
        table = table.column(&format!("n_{n}"), Number(2), |(_, here)| here[at]);
    }
    for (at, n) in CHANGES.into_iter().enumerate() {
        table = table.column(&format!("n_{n}_paper"), Number(2), |((_, paper), _)| {
            paper[at]
        });
    }
    table.end()
}

/// Section 3: precision without and with a secondary lexicon and rejection.
fn rejection(without: QueryRow, rejected: QueryRow, with: QueryRow) -> Claim {
    let both = without.precision.zip(with.precision);
    let alone = rejected.precision.map_or("–".into(), |of| percent(of, 1));
    let shown = both.map_or_else(
        || "no document has another one at a cosine of 0.9".into(),
        |(without, with)| {
            format!(
                "precision is {} without them, {alone} with rejection at 20 % alone, and {} with a secondary \
                 lexicon, too",
                percent(without, 1),
                percent(with, 1)
            )
        },
    );
    Claim::new(
        ("Section 3", "section-3"),
        "A secondary lexicon and rejection prevent spurious matches of documents that share few terms \
         with the lexicon.",
        // Without spurious matches there is nothing to prevent.
        both.filter(|(without, _)| *without < 1.0)
            .map(|(without, with)| with > without),
        shown,
    )
}

/// The row with a number of lexicons.
fn at(rows: &[(u32, QueryRow)], lexicons: u32) -> Option<&QueryRow> {
    let found = rows.iter().find(|(number, _)| *number == lexicons);
    found.map(|(_, row)| row)
}

/// A value with some numbers of lexicons, as text and as numbers; `None` if one is undefined.
fn values(
    rows: &[(u32, QueryRow)],
    numbers: &[u32],
    of: fn(&QueryRow) -> Option<f64>,
) -> Option<Vec<f64>> {
    numbers.iter().map(|&n| of(at(rows, n)?)).collect()
}

/// Values with their numbers of lexicons: `53.9 % with 0`.
fn listed(numbers: &[u32], values: Option<&[f64]>) -> String {
    let Some(values) = values else {
        return "not defined on this collection".into();
    };
    let each = numbers.iter().zip(values);
    let each = each.map(|(n, value)| format!("{} with {n}", percent(*value, 1)));
    each.collect::<Vec<_>>().join(", ")
}

/// Share of pure clusters.
fn pure(row: &QueryRow) -> Option<f64> {
    (row.clusters > 0).then(|| row.pure as f64 / row.clusters as f64)
}

/// The claims of section 7.1.
fn web_claims(rows: &[(u32, QueryRow)]) -> Vec<Claim> {
    let recall = values(rows, &[0, 5, 10], |row| row.recall);
    let increase = at(rows, 10).and_then(|row| row.increase);
    let precision = values(rows, &[0, 5, 10], |row| row.precision);
    let clean = values(rows, &[0, 5, 10], pure);
    let numbers = [0, 5, 10];
    let show = |values: &Option<Vec<f64>>| listed(&numbers, values.as_deref());
    let three = ("Section 7.1, Figure 3", "figure-3");
    let four = ("Section 7.1, Figure 4", "figure-4");
    vec![
        Claim::new(
            three,
            "Randomised lexicons increase recall by as much as 40 to 60 % of the recall without them (here by \
             40 % or more).",
            increase.map(|increase| increase >= 0.4),
            format!(
                "recall is {}; ten lexicons change it by {}",
                show(&recall),
                increase.map_or("–".into(), |of| format!("{:+.1} %", 100.0 * of))
            ),
        ),
        Claim::new(
            three,
            "There is a saturation: the next five lexicons add less than the first five.",
            recall.as_deref().map(|of| of[2] - of[1] < of[1] - of[0]),
            format!("recall is {}", show(&recall)),
        ),
        Claim::new(
            four,
            "Precision decreases with the number of lexicons.",
            precision
                .as_deref()
                .map(|of| of[0] > of[1] && of[1] > of[2]),
            format!("precision is {}", show(&precision)),
        ),
        Claim::new(
            four,
            "The share of pure clusters is stable or increases (falls by at most 0.05).",
            clean.as_deref().map(|of| of[2] >= of[0] - STABLE),
            format!("pure clusters are {}", show(&clean)),
        ),
    ]
}

/// A share is stable if it falls by at most this.
const STABLE: f64 = 0.05;
/// Two shares are about equal if they differ by at most this.
const ALIKE: f64 = 0.1;

/// Section 7.1, footnote: megashingles and I-Match.
fn megashingles(rows: &[(u32, QueryRow)], mega: &QueryRow) -> Claim {
    let (.., lexicons) = MEGASHINGLES;
    let of = |row: &QueryRow| row.recall.zip(row.precision);
    let both = at(rows, lexicons).and_then(of).zip(of(mega));
    let near = |a: f64, b: f64| (a - b).abs() <= ALIKE;
    Claim::new(
        ("Section 7.1, footnote", "figure-3"),
        "Megashingles are about as good as I-Match with five lexicons (up to 0.1), in a comparison that was \
         not rigorous.",
        both.map(|(a, b)| near(a.0, b.0) && near(a.1, b.1)),
        both.map_or_else(
            || "not defined on this collection".into(),
            |(a, b)| {
                format!(
                    "I-Match has a recall of {} and a precision of {}, megashingles {} and {}",
                    percent(a.0, 1),
                    percent(a.1, 1),
                    percent(b.0, 1),
                    percent(b.1, 1)
                )
            },
        ),
    )
}

/// The claims of sections 7.2 and 7.3.
fn mail_claims(table: usize, rows: &[(u32, QueryRow)]) -> Vec<Claim> {
    let ((exhibit, name), collection) = place(table);
    let section = format!("Section 7.{}, {name}", table + 2);
    let place = (section.as_str(), exhibit);
    let without = format!(
        "documents with the label `{}` are not known here",
        SPAM[table]
    );
    let most = rows.iter().map(|(_, row)| row.wrong).max();
    let numbers = [0, 2, 5, 10];
    let recall = values(rows, &numbers, |row| row.recall);
    let utility = values(rows, &numbers, |row| row.utility);
    let rising = |of: &Vec<f64>| of.windows(2).all(|two| two[0] < two[1]);
    let here = |text: String| match rows.is_empty() {
        true => without.clone(),
        false => text,
    };
    let both = recall.as_ref().zip(utility.as_ref());
    let utilities = utility.iter().flatten().map(|of| format!("{of:.2}"));
    vec![
        Claim::new(
            place,
            &format!("No legitimate message is found for a query of {collection}."),
            most.map(|most| most == 0),
            here(format!(
                "at most {} of a query and a legitimate document are found, with any number of lexicons",
                counted(most.unwrap_or(0), "pair")
            )),
        ),
        Claim::new(
            place,
            &format!("Recall and utility of {collection} rise with each further set of lexicons."),
            both.map(|(recall, utility)| rising(recall) && rising(utility)),
            here(format!(
                "recall is {}; utility is {}",
                listed(&numbers, recall.as_deref()),
                utilities.collect::<Vec<_>>().join(", ")
            )),
        ),
    ]
}

/// The claims about Table 4, given its cells.
fn formula_claims(cells: &[[Option<f64>; 5]; 3]) -> Vec<Claim> {
    let mut most: f64 = 0.0;
    for ((_, paper), here) in TABLE_4.iter().zip(cells) {
        for (paper, here) in paper.iter().zip(here) {
            most = most.max(here.map_or(f64::INFINITY, |here| (here - paper).abs()));
        }
    }
    let ratio = |row: usize, column: usize| cells[row][column].unwrap_or(f64::NAN);
    let (by_terms, by_changes) = (ratio(0, 3) / ratio(2, 3), ratio(2, 3) / ratio(2, 2));
    vec![
        Claim::new(
            ("Section 7.4, Table 4", "table-4"),
            "Table 4 follows from equation 6 (up to 0.02).",
            // The paper rounds to hundredths, two of its values by one too many.
            Some(most < 0.02),
            format!(
                "without rounding the values differ by at most {most:.4}; equation 6 is the probability that no \
                 changed term is left out, which is another one than that of equation 1"
            ),
        ),
        Claim::new(
            ("Section 7.4, Table 4", "table-4"),
            "The expected number depends on the size of the change far more than on the size of the \
             lexicon.",
            Some(by_changes > 10.0 * by_terms),
            format!(
                "a hundredth of the terms multiplies it by {by_terms:.2} with 20 changes; twice the changes \
                 multiply it by {by_changes:.0}"
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::Finding::{self, Differs, Holds, Untested};
    use super::*;

    fn findings(claims: &[Claim]) -> Vec<Finding> {
        claims.iter().map(|claim| claim.finding).collect()
    }

    /// Rows with 0, 5 and 10 lexicons: recall, precision, pure clusters of 100.
    fn rows(values: [(f64, f64, u64); 3]) -> Vec<(u32, QueryRow)> {
        let first = values[0].0;
        let row = |(lexicons, (recall, precision, pure))| {
            let row = QueryRow {
                recall: Some(recall),
                increase: Some(recall / first - 1.0),
                precision: Some(precision),
                clusters: 100,
                pure,
                ..QueryRow::default()
            };
            (lexicons, row)
        };
        [0, 5, 10].into_iter().zip(values).map(row).collect()
    }

    #[test]
    fn claims_about_web_pages() {
        let good = rows([(0.5, 0.9, 70), (0.7, 0.8, 69), (0.75, 0.75, 68)]);
        assert_eq!(findings(&web_claims(&good)), [Holds; 4]);
        let bad = rows([(0.7, 0.8, 70), (0.71, 0.9, 60), (0.75, 0.95, 60)]);
        assert_eq!(findings(&web_claims(&bad)), [Differs; 4]);
        assert_eq!(findings(&web_claims(&[])), [Untested; 4]);
        let mega = |recall, precision| QueryRow {
            recall: Some(recall),
            precision: Some(precision),
            ..QueryRow::default()
        };
        assert_eq!(megashingles(&good, &mega(0.668, 0.758)).finding, Holds);
        assert_eq!(megashingles(&good, &mega(0.2, 0.8)).finding, Differs);
        assert_eq!(megashingles(&[], &mega(0.2, 0.8)).finding, Untested);
        assert_eq!(
            rejection(mega(0.9, 0.1), mega(0.6, 0.2), mega(0.6, 0.9)).finding,
            Holds
        );
        assert_eq!(
            rejection(mega(0.9, 0.3), mega(0.6, 0.9), mega(0.6, 0.2)).finding,
            Differs
        );
        assert_eq!(
            rejection(QueryRow::default(), mega(0.6, 0.2), mega(0.6, 0.2)).finding,
            Untested
        );
    }

    #[test]
    fn claims_about_mail() {
        for (table, published) in TABLES_2_3.iter().enumerate() {
            let mut rows: Vec<(u32, QueryRow)> = published
                .iter()
                .map(|&(lexicons, recall, _, utility)| {
                    let row = QueryRow {
                        recall: Some(recall),
                        utility: Some(utility),
                        ..QueryRow::default()
                    };
                    (lexicons, row)
                })
                .collect();
            assert_eq!(findings(&mail_claims(table, &rows)), [Holds; 2]);
            rows[3].1.wrong = 1;
            rows[3].1.utility = Some(-70.0);
            assert_eq!(findings(&mail_claims(table, &rows)), [Differs; 2]);
            let none = mail_claims(table, &[]);
            assert_eq!(findings(&none), [Untested; 2]);
            assert!(none[0].here.contains(SPAM[table]));
            // The printed increases follow from the printed recalls.
            let first = published[0].1;
            for (_, recall, increase, _) in published {
                assert!((recall / first - 1.0 - increase).abs() < 0.01, "{recall}");
            }
        }
    }

    #[test]
    fn claims_about_table_4() {
        let mut cells = computed_table_4();
        assert_eq!(findings(&formula_claims(&cells)), [Holds; 2]);
        cells[2][3] = Some(60.0);
        assert_eq!(findings(&formula_claims(&cells)), [Differs; 2]);
    }
}
