//! Kołcz & Chowdhury 2008: I-Match with randomised lexicons.
//!
//! # Source
//! Kołcz & Chowdhury, *Lexicon randomization for near-duplicate detection with I-Match*, 2008.
//! Tables 1 to 4, Figures 1 to 6, sections 3, 6.4 and 7.
//!
//! # Algorithm
//! I-Match is run with more and more randomised lexicons, and compared with the cosine by query
//! ([`crate::compare`]). Table 4 and Figure 2 are formulas ([`crate::formulas`]).
//!
//! # Where we depart from the source
//! - Every document without an earlier exact duplicate is a query, where the paper samples 7 % of
//!   its web pages and 10 % of its spam.
//! - Tables 2 and 3 need labels. The documents with the label `spam` stand for the Honeypot-spam
//!   collection, those with `cluster-spam` for the Cluster-spam collection, and documents with any
//!   other label for legitimate mail.
//! - The lexicon comes from the collection itself. The paper's better one comes from another.

use super::Form::{Number, Share};
use super::model::{claim, exhibit, listed};
use super::{Bench, Claim, Exhibit, Reproduction};
use crate::compare::{COST, Labels, QueryRow, Sample, increases, of_method};
use crate::formulas::{expected_trials, lexicon_unchanged, signature_stability};
use lookalike_base::Result;
use lookalike_base::bits::{Bits, Ranks};
use lookalike_base::numbers::{count, counted, percent};
use lookalike_engine::collection::Catalogue;
use lookalike_engine::pipeline::Summary;
use lookalike_store::workspace::Workspace;

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
    fn ask_each(&self, bench: &Bench<'_>, of: &str) -> Result<Vec<Found>> {
        let ask = |n| self.ask(bench, &with_lexicons(of, n), n);
        let mut found: Vec<Found> = LEXICONS.into_iter().map(ask).collect::<Result<_>>()?;
        let mut rows: Vec<QueryRow> = found.iter().map(|of| of.row.clone()).collect();
        increases(&mut rows, &with_lexicons(of, LEXICONS[0]));
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
pub(super) fn reproduce(bench: &mut Bench<'_>, made: &mut Reproduction) -> Result<()> {
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
    let found = web.ask_each(bench, "")?;
    let mega = web.ask(bench, "megashingles", 0)?;
    let remedies = REMEDIES.map(|(_, more)| web.ask(bench, &with_lexicons(more, 10), 10));
    let remedies = remedies.into_iter().collect::<Result<Vec<_>>>()?;
    drop(web);
    let mut mail: [Vec<Found>; 2] = Default::default();
    if let Some(labels) = &labels {
        let representatives = Catalogue::representatives(&bench.base)?;
        for (found, label) in mail.iter_mut().zip(SPAM) {
            if labels.names.iter().any(|name| name == label) {
                let queries = labels.with(label, &representatives);
                let of = ",variant=nidf-0.2-0.3,least-terms=5";
                *found = asked(queries, COSINE[1])?.ask_each(bench, of)?;
            }
        }
    }
    made.exhibits.extend([
        Exhibit::new(
            ("figure-1", "Figure 1"),
            "Two different messages with the same signature",
            "An example without numbers. Section 3 here shows what a secondary lexicon and rejection change.",
        ),
        section_3(&remedies),
        figure_2(),
        table_1(bench, labels.as_ref())?,
    ]);
    made.exhibits
        .extend(figures_3_4(&found, &mega, labels.is_some()));
    made.exhibits.push(Exhibit::new(
        ("figure-5", "Figure 5"),
        "Two help pages of one template",
        "An example without numbers.",
    ));
    made.exhibits
        .extend([0, 1].map(|table| tables_2_3(table, &mail[table])));
    made.exhibits.extend([figure_6(&mail), table_4()]);
    let remedy = |n: usize| remedies[n].row.clone();
    made.claims.push(rejection([0, 2, 3].map(remedy)));
    made.claims.extend(web_claims(&found));
    made.claims.push(megashingles(&found, &mega.row));
    made.claims.push(claim!("Section 7.1, Figure 3", "figure-3",
        "A lexicon of edited news finds more near-duplicates than the lexicon of the web pages themselves.";
        whether None,
        "the lexicon of another collection is not known here; `lookalike lab method i-match:lexicon=FILE` takes it"));
    made.claims.extend(
        (0..)
            .zip(&mail)
            .flat_map(|(table, found)| mail_claims(table, found)),
    );
    made.claims.extend(formula_claims(&computed_table_4()));
    Ok(())
}

fn section_3(remedies: &[Found]) -> Exhibit {
    exhibit!("section-3", "Section 3", "Signatures of few terms: rejection and a secondary lexicon",
        "I-Match with ten randomised lexicons. A signature of few terms is rejected, or a secondary lexicon of rarer terms \
         adds terms to it. The paper gives neither its thresholds nor numbers. A pure cluster is one in which all pairs \
         found have a cosine of 0.9 or more.";
        ((name, _), of) in REMEDIES.into_iter().zip(remedies) =>
        remedy: Text = name, method: Text = of.row.method.as_str(), ignored: Count = of.ignored, pairs: Count = of.pairs,
        recall: Share = of.row.recall, precision: Share = of.row.precision, clusters: Count = of.row.clusters,
        pure: Share = share(of.row.pure, of.row.clusters))
}

/// A part of a whole.
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn figure_2() -> Exhibit {
    let changes = [1, 2, 3, 5];
    exhibit!("figure-2", "Figure 2", "Probability that one of K randomised lexicons keeps its signature",
        "Equation 1 with p = 0.33, for n changes of words of the lexicon. It depends on no collection. The values of the \
         paper are only drawn.";
        lexicons in 1..=10u32 => lexicons: Count = lexicons)
    .columns(changes.map(|n| format!("n_{n}")), Share, |row, n| {
        signature_stability(0.33, changes[n], row as u32 + 1)
    })
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
    let paper =
        TABLE_1.map(|(name, distinct, all)| (name.to_string(), None, Some((all, distinct))));
    Ok(exhibit!("table-1", "Table 1", "The collections of mail",
        "Messages are counted without exact duplicates. Here each label is a collection; without labels the whole \
         collection is one.";
        (name, here, paper) in here.chain(paper) =>
        collection: Text = name, documents: Count = here.map(|of: (u64, u64)| of.0),
        without_duplicates: Count = here.map(|of| of.1), documents_paper: Count = paper.map(|of: (Option<u64>, u64)| of.0),
        without_duplicates_paper: Count = paper.map(|of| of.1)))
}

fn figures_3_4(found: &[Found], mega: &Found, labelled: bool) -> [Exhibit; 2] {
    let (recall, precision, _) = MEGASHINGLES;
    let rows = || {
        let rows = found.iter().map(|of| (Some(of.lexicons), of));
        rows.chain([(None, mega)])
    };
    let of_paper = |lexicons: Option<u32>, value: f64| lexicons.is_none().then_some(value);
    let by_label = |of: &Found| labelled.then(|| share(of.row.pure_by_label, of.row.labelled));
    let about = format!(
        "Mean over the {} documents with another document at a cosine of 0.9 or more. The lexicon is made from the \
         collection, with nidf from 0.2 to 0.8. The values of the paper are only drawn, but for the recall of \
         megashingles, which the paper compares with five lexicons.",
        count(mega.row.with_neighbours),
    );
    [
        exhibit!("figure-3", "Figure 3", "Recall by the number of randomised lexicons", about;
            (lexicons, of) in rows() =>
            lexicons: Count = lexicons, method: Text = of.row.method.as_str(), recall: Share = of.row.recall,
            increase: Share = of.row.increase, pairs: Count = of.pairs, recall_paper: Share = of_paper(lexicons, recall))
            .lines("lexicons", &["recall"], None),
        exhibit!("figure-4", "Figure 4", "Precision and pure clusters by the number of randomised lexicons",
            "A cluster is pure if all pairs found in it have a cosine of 0.9 or more. With labels, a cluster is pure by \
             label if its documents with a label have the same. The values of the paper are only drawn, but for the \
             precision of megashingles.";
            (lexicons, of) in rows() =>
            lexicons: Count = lexicons, method: Text = of.row.method.as_str(), precision: Share = of.row.precision,
            clusters: Count = of.row.clusters, pure: Share = share(of.row.pure, of.row.clusters),
            pure_by_label: Share = by_label(of), precision_paper: Share = of_paper(lexicons, precision))
            .lines("lexicons", &["precision", "pure"], None),
    ]
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
        "Queries are the documents with the label `{label}`. Recall is that of the documents at a cosine of 0.9 or more. \
         Utility counts the documents found with the same label, and a cost of {COST} for each with another one. The \
         lexicon is made from the collection, with nidf from 0.2 to 0.3, and documents have five terms or more. Legitimate \
         pairs are a query and a message with another label that it found."
    );
    let rows = TABLES_2_3[table].into_iter();
    exhibit!(at.0, at.1, title, about;
        (row, paper) in rows.filter_map(|paper| Some((with(found, paper.0)?, paper))) =>
        lexicons: Count = paper.0, recall: Share = row.recall, increase: Share = row.increase,
        utility: Number(2) = row.utility, legitimate_pairs: Count = row.wrong, recall_paper: Share = paper.1,
        increase_paper: Share = paper.2, utility_paper: Number(2) = paper.3, legitimate_pairs_paper: Count = 0u64)
}

fn figure_6(mail: &[Vec<Found>; 2]) -> Exhibit {
    let title = "Recall of spam by the number of randomised lexicons";
    if mail.iter().all(Vec::is_empty) {
        let about = "This figure needs labels, as Tables 2 and 3 do.";
        return Exhibit::new(("figure-6", "Figure 6"), title, about);
    }
    let here = |table: usize, lexicons| with(&mail[table], lexicons).and_then(|row| row.recall);
    let paper = |table: usize, lexicons: u32| {
        let of = TABLES_2_3[table].iter().find(|of| of.0 == lexicons);
        of.map(|(_, recall, ..)| *recall)
    };
    exhibit!("figure-6", "Figure 6", title,
        "The recall of Tables 2 and 3 with every number of lexicons. The paper's values come from its tables.";
        n in LEXICONS =>
        lexicons: Count = n, honeypot_spam: Share = here(0, n), cluster_spam: Share = here(1, n),
        honeypot_spam_paper: Share = paper(0, n), cluster_spam_paper: Share = paper(1, n))
    .lines("lexicons", &["honeypot_spam", "cluster_spam"], None)
}

/// The expected number of lexicons of each cell of Table 4, with M = 0.33 L.
fn computed_table_4() -> [[Option<f64>; 5]; 3] {
    TABLE_4.map(|(terms, _)| {
        CHANGES.map(|n| expected_trials(lexicon_unchanged(terms, terms * 33 / 100, n)?))
    })
}

fn table_4() -> Exhibit {
    let here = computed_table_4();
    let names = ["", "_paper"].map(|end| CHANGES.map(|n| format!("n_{n}{end}")));
    exhibit!("table-4", "Table 4", "Expected number of lexicons until one is unaffected by n changes",
        "1/q with q by equation 6 and M = 0.33 L. It depends on no collection. `lookalike lab formulas kolcz-2008` computes it \
         for other values.";
        (terms, _) in TABLE_4 => terms: Count = terms)
    .columns(names.concat(), Number(2), |row, n| match n {
        0..5 => here[row][n],
        _ => Some(TABLE_4[row].1[n - 5]),
    })
}

/// Section 3: precision without and with a secondary lexicon and rejection.
fn rejection([without, rejected, with]: [QueryRow; 3]) -> Claim {
    let both = without.precision.zip(with.precision);
    let alone = rejected.precision.map_or("–".into(), |of| percent(of, 1));
    let shown = both.map(|(without, with)| {
        let [without, with] = [without, with].map(|of| percent(of, 1));
        format!(
            "precision is {without} without them, {alone} with rejection at 20 % alone, and {with} with a secondary lexicon, \
             too"
        )
    });
    // Without spurious matches there is nothing to prevent.
    let known = both.filter(|(without, _)| *without < 1.0);
    claim!("Section 3", "section-3",
        "A secondary lexicon and rejection prevent spurious matches of documents that share few terms with the lexicon.";
        whether known.map(|(without, with)| with > without),
        "{}", shown.unwrap_or("no document has another one at a cosine of 0.9".into()))
}

/// The row with a number of lexicons.
fn with(found: &[Found], lexicons: u32) -> Option<&QueryRow> {
    let found = found.iter().find(|of| of.lexicons == lexicons);
    found.map(|of| &of.row)
}

/// A value with some numbers of lexicons; `None` if one is undefined.
fn values<const N: usize>(
    found: &[Found],
    numbers: [u32; N],
    of: fn(&QueryRow) -> Option<f64>,
) -> Option<Vec<f64>> {
    numbers.iter().map(|&n| of(with(found, n)?)).collect()
}

/// Values with their numbers of lexicons: `53.9 % with 0`.
fn shown<const N: usize>(numbers: [u32; N], values: Option<&Vec<f64>>) -> String {
    let each = |(n, value): (u32, &f64)| format!("{} with {n}", percent(*value, 1));
    let shown = values.map(|values| listed(", ", numbers.into_iter().zip(values), each));
    shown.unwrap_or(UNDEFINED.into())
}

/// What is said of a value without numbers.
const UNDEFINED: &str = "not defined on this collection";

/// The claims of section 7.1.
fn web_claims(found: &[Found]) -> [Claim; 4] {
    let numbers = [0, 5, 10];
    let increase = with(found, 10).and_then(|row| row.increase);
    let recall = values(found, numbers, |row| row.recall);
    let precision = values(found, numbers, |row| row.precision);
    let pure = |row: &QueryRow| (row.clusters > 0).then(|| share(row.pure, row.clusters));
    let pure = values(found, numbers, pure);
    let [recalls, precisions, clusters] =
        [&recall, &precision, &pure].map(|of| shown(numbers, of.as_ref()));
    let change = increase.map_or("–".into(), |of| format!("{:+.1} %", 100.0 * of));
    [
        claim!("Section 7.1, Figure 3", "figure-3",
            "Randomised lexicons increase recall by as much as 40 to 60 % of the recall without them (here by 40 % or more).";
            whether increase.map(|increase| increase >= 0.4), "recall is {recalls}; ten lexicons change it by {change}"),
        claim!("Section 7.1, Figure 3", "figure-3",
            "There is a saturation: the next five lexicons add less than the first five.";
            whether recall.map(|of| of[2] - of[1] < of[1] - of[0]), "recall is {recalls}"),
        claim!("Section 7.1, Figure 4", "figure-4", "Precision decreases with the number of lexicons.";
            whether precision.map(|of| of[0] > of[1] && of[1] > of[2]), "precision is {precisions}"),
        claim!("Section 7.1, Figure 4", "figure-4",
            "The share of pure clusters is stable or increases (falls by at most 0.05).";
            whether pure.map(|of| of[2] >= of[0] - STABLE), "pure clusters are {clusters}"),
    ]
}

/// A share is stable if it falls by at most this.
const STABLE: f64 = 0.05;
/// Two shares are about equal if they differ by at most this.
const ALIKE: f64 = 0.1;

/// Section 7.1, footnote: megashingles and I-Match.
fn megashingles(found: &[Found], mega: &QueryRow) -> Claim {
    let of = |row: &QueryRow| row.recall.zip(row.precision);
    let near = |a: f64, b: f64| (a - b).abs() <= ALIKE;
    claim!("Section 7.1, footnote", "figure-3",
        "Megashingles are about as good as I-Match with five lexicons (up to 0.1), in a comparison that was not rigorous.";
        (a, b) in with(found, MEGASHINGLES.2).and_then(of).zip(of(mega)) => near(a.0, b.0) && near(a.1, b.1),
        "I-Match has a recall of {} and a precision of {}, megashingles {} and {}",
        percent(a.0, 1), percent(a.1, 1), percent(b.0, 1), percent(b.1, 1);
        else UNDEFINED)
}

/// The claims of sections 7.2 and 7.3.
fn mail_claims(table: usize, found: &[Found]) -> [Claim; 2] {
    let ((exhibit, name), collection) = place(table);
    let section = format!("Section 7.{}, {name}", table + 2);
    let most = found.iter().map(|of| of.row.wrong).max();
    let numbers = [0, 2, 5, 10];
    let recall = values(found, numbers, |row| row.recall);
    let utility = values(found, numbers, |row| row.utility);
    let rising = |of: &Vec<f64>| of.windows(2).all(|two| two[0] < two[1]);
    let here = |text: String| match found.is_empty() {
        true => format!(
            "documents with the label `{}` are not known here",
            SPAM[table]
        ),
        false => text,
    };
    let pairs = counted(most.unwrap_or(0), "pair");
    let recalls = shown(numbers, recall.as_ref());
    let utilities = listed(", ", utility.iter().flatten(), |of| format!("{of:.2}"));
    [
        claim!(&section, exhibit, &format!("No legitimate message is found for a query of {collection}.");
            whether most.map(|most| most == 0),
            "{}", here(format!(
                "at most {pairs} of a query and a legitimate document are found, with any number of lexicons"))),
        claim!(&section, exhibit,
            &format!("Recall and utility of {collection} rise with each further set of lexicons.");
            whether recall.zip(utility).map(|(recall, utility)| rising(&recall) && rising(&utility)),
            "{}", here(format!("recall is {recalls}; utility is {utilities}"))),
    ]
}

/// The claims about Table 4, given its cells.
fn formula_claims(cells: &[[Option<f64>; 5]; 3]) -> [Claim; 2] {
    let published = TABLE_4.iter().flat_map(|(_, row)| row);
    let apart = published
        .zip(cells.as_flattened())
        .map(|(paper, here)| (here.unwrap_or(f64::INFINITY) - paper).abs());
    let most = apart.fold(0.0, f64::max);
    let ratio = |row: usize, column: usize| cells[row][column].unwrap_or(f64::NAN);
    let (by_terms, by_changes) = (ratio(0, 3) / ratio(2, 3), ratio(2, 3) / ratio(2, 2));
    [
        // The paper rounds to hundredths, two of its values by one too many.
        claim!("Section 7.4, Table 4", "table-4", "Table 4 follows from equation 6 (up to 0.02).";
            whether Some(most < 0.02),
            "without rounding the values differ by at most {most:.4}; equation 6 is the probability that no changed \
             term is left out; equation 1 has another probability"),
        claim!("Section 7.4, Table 4", "table-4",
            "The expected number depends on the size of the change far more than on the size of the lexicon.";
            whether Some(by_changes > 10.0 * by_terms),
            "a hundredth of the terms multiplies it by {by_terms:.2} with 20 changes; twice the changes multiply it by \
             {by_changes:.0}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::Finding::{Differs, Holds, Untested};
    use super::super::model::findings;
    use super::*;

    fn row(lexicons: u32, recall: f64, precision: f64) -> Found {
        let row = QueryRow {
            recall: Some(recall),
            precision: Some(precision),
            clusters: 100,
            ..QueryRow::default()
        };
        Found {
            lexicons,
            row,
            ..Found::default()
        }
    }

    /// Rows with 0, 5 and 10 lexicons: recall, precision, pure clusters of 100.
    fn rows(values: [(f64, f64, u64); 3]) -> Vec<Found> {
        let first = values[0].0;
        let row = |(lexicons, (recall, precision, pure))| {
            let mut found = row(lexicons, recall, precision);
            found.row.increase = Some(recall / first - 1.0);
            found.row.pure = pure;
            found
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
        let mega = |recall, precision| row(0, recall, precision).row;
        let claims = [
            megashingles(&good, &mega(0.668, 0.758)),
            megashingles(&good, &mega(0.2, 0.8)),
            megashingles(&[], &mega(0.2, 0.8)),
        ];
        assert_eq!(findings(&claims), [Holds, Differs, Untested]);
        let claims = [
            rejection([0.1, 0.2, 0.9].map(|precision| mega(0.9, precision))),
            rejection([0.3, 0.9, 0.2].map(|precision| mega(0.9, precision))),
            rejection([QueryRow::default(), mega(0.6, 0.2), mega(0.6, 0.2)]),
        ];
        assert_eq!(findings(&claims), [Holds, Differs, Untested]);
    }

    #[test]
    fn claims_about_mail() {
        for (table, published) in TABLES_2_3.iter().enumerate() {
            let rows = published.iter().map(|&(lexicons, recall, _, utility)| {
                let mut found = row(lexicons, recall, 0.0);
                found.row.utility = Some(utility);
                found
            });
            let mut rows: Vec<Found> = rows.collect();
            assert_eq!(findings(&mail_claims(table, &rows)), [Holds; 2]);
            rows[3].row.wrong = 1;
            rows[3].row.utility = Some(-70.0);
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
