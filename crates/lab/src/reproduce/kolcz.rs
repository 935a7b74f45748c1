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

use super::published::{Measured, Published, Rows};
use super::{Bench, Cell, Paper, cells, rows, table};
use crate::compare::{COST, Labels, QueryRow, Sample, increases, of_method};
use crate::formulas::{expected_trials, lexicon_unchanged, signature_stability};
use lookalike_base::{Bits, Ranks, Result, counted, listed, percent, precision::share};
use lookalike_engine::collection::Catalogue;
use lookalike_engine::pipeline::Summary;
use lookalike_store::Workspace;

/// Numbers of randomised lexicons of Figures 3, 4 and 6.
const LEXICONS: [u32; 7] = [0, 1, 2, 3, 5, 7, 10];
/// The ground truth of the web pages, and of mail (section 6.3).
const COSINE: [&str; 2] = ["cosine", "cosine:least-terms=5"];
/// The label of spam in Tables 2 and 3, and their numbers of randomised lexicons.
const SPAM: [&str; 2] = ["spam", "cluster-spam"];
const MAIL_LEXICONS: [u32; 4] = [0, 2, 5, 10];
/// Changes and terms of a lexicon, of Figure 2 and Table 4.
const DRAWN_CHANGES: [u32; 4] = [1, 2, 3, 5];
const CHANGES: [u64; 5] = [2, 5, 10, 20, 50];
const TERMS: [u64; 3] = [1_000, 10_000, 100_000];
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

/// Counts the results of a method for the queries.
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
        let mut rows: Vec<&mut QueryRow> = found.iter_mut().map(|of| &mut of.row).collect();
        increases(&mut rows, &with_lexicons(of, LEXICONS[0]));
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

/// Measures the rows of the tables and the values of the claims.
pub(super) fn reproduce(bench: &mut Bench<'_>, made: &mut Measured) -> Result<()> {
    let context = bench.context();
    let labels = bench
        .labels
        .map(|path| Labels::read(&bench.base, path, &context));
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
    let each = REMEDIES.into_iter().zip(&remedies);
    table!(made, "section-3", ((name, _), Found { ignored, pairs, row, .. }) in each =>
        name, row.method.as_str(), *ignored, *pairs, row.recall, row.precision, row.clusters,
        share(row.pure, row.clusters));
    let remedy = |n: usize| &remedies[n].row;
    made.claim("rejection", rejection([0, 2, 3].map(remedy)));
    figures_3_4(&found, &mega, labels.is_some(), made);
    web_claims(&found, made);
    made.claim("megashingles", megashingles(&found, &mega.row));
    made.table("table-1", table_1(bench, labels.as_ref())?);
    if let Some(labels) = &labels {
        let representatives = Catalogue::representatives(&bench.base)?;
        let mut mail: [Vec<Found>; 2] = Default::default();
        for (found, label) in mail.iter_mut().zip(SPAM) {
            if labels.names.iter().any(|name| name == label) {
                let queries = labels.with(label, &representatives);
                let of = ",variant=nidf-0.2-0.3,least-terms=5";
                *found = asked(queries, COSINE[1])?.ask_each(bench, of)?;
            }
        }
        tables_of_mail(&mail, made);
    }
    tables_of_formulas(made)
}

/// Figure 2 and Table 4, which depend on no collection.
fn tables_of_formulas(made: &mut Measured) -> Result<()> {
    table!(made, "figure-2", lexicons in 1..=10u32 =>
        lexicons; DRAWN_CHANGES.map(|n| signature_stability(0.33, n, lexicons)));
    let computed = computed_table_4();
    table!(made, "table-4", (terms, row) in TERMS.into_iter().zip(computed) => terms; row);
    let published = Published::of(Paper::Kolcz2008)?;
    formula_claims(&computed, published.rows("table-4"), made);
    Ok(())
}

/// Limit on the labels of Table 1.
const MOST_LABELS: usize = 100;

fn table_1(bench: &Bench<'_>, labels: Option<&Labels>) -> Result<Rows> {
    let here = match labels {
        Some(labels) => labels.sizes(&Catalogue::representatives(&bench.base)?),
        None => {
            let stats = Catalogue::stats(&bench.base)?;
            vec![("all".into(), stats.documents, stats.representatives)]
        }
    };
    let here = here.into_iter().take(MOST_LABELS);
    Ok(rows!((name, documents, distinct) in here => name, documents, distinct))
}

fn figures_3_4(found: &[Found], mega: &Found, labelled: bool, made: &mut Measured) {
    let found = found.iter().map(|of| (Some(of.lexicons), of));
    let all: Vec<(Option<u32>, &Found)> = found.chain([(None, mega)]).collect();
    let by_label = |of: &QueryRow| labelled.then(|| share(of.pure_by_label, of.labelled));
    table!(made, "figure-3", [mega.row.with_neighbours]
        (lexicons, Found { pairs, row, .. }) in &all =>
        *lexicons, row.method.as_str(), row.recall, row.increase, *pairs);
    table!(made, "figure-4", (lexicons, Found { row, .. }) in &all =>
        *lexicons, row.method.as_str(), row.precision, row.clusters,
        share(row.pure, row.clusters), by_label(row));
}

/// Tables 2 and 3 and Figure 6.
fn tables_of_mail(mail: &[Vec<Found>; 2], made: &mut Measured) {
    for ((found, label), table) in mail.iter().zip(SPAM).zip(["table-2", "table-3"]) {
        if !found.is_empty() {
            let with = |n| Some((n, with(found, n)?));
            table!(made, table, [COST.to_string()]
                (n, row) in MAIL_LEXICONS.into_iter().filter_map(with) =>
                n, row.recall, row.increase, row.utility, row.wrong);
            mail_claims(label, found, made);
        }
    }
    if mail.iter().any(|found| !found.is_empty()) {
        let recall = |n, found: &Vec<Found>| with(found, n).and_then(|row| row.recall);
        table!(made, "figure-6", n in LEXICONS => n; mail.iter().map(|found| recall(n, found)));
    }
}

/// The expected number of lexicons of each cell of Table 4, with M = 0.33 L.
fn computed_table_4() -> [[Option<f64>; 5]; 3] {
    TERMS.map(|terms| {
        CHANGES.map(|n| expected_trials(lexicon_unchanged(terms, terms * 33 / 100, n)?))
    })
}

/// Precision without remedies, with rejection, and with a secondary lexicon too; and whether the last
/// one is higher. Without spurious matches there is nothing to prevent.
fn rejection([without, rejected, with]: [&QueryRow; 3]) -> Option<Vec<Cell>> {
    let (none, both) = without.precision.zip(with.precision)?;
    let rises = (none < 1.0).then_some(both > none);
    Some(cells![none, rejected.precision, both, rises])
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

/// The words for a value without numbers.
const UNDEFINED: &str = "not defined on this collection";

/// The claims of section 7.1.
fn web_claims(found: &[Found], made: &mut Measured) {
    let numbers = [0, 5, 10];
    let increase = with(found, 10).and_then(|row| row.increase);
    let recall = values(found, numbers, |row| row.recall);
    let precision = values(found, numbers, |row| row.precision);
    let pure = |row: &QueryRow| share(row.pure, row.clusters);
    let pure = values(found, numbers, pure);
    let [recalls, precisions, clusters] =
        [&recall, &precision, &pure].map(|of| shown(numbers, of.as_ref()));
    let change = increase.map(|of| format!("{:+.1} %", 100.0 * of));
    let saturated = recall.map(|of| of[2] - of[1] < of[1] - of[0]);
    let falls = precision.map(|of| of[0] > of[1] && of[1] > of[2]);
    let stable = pure.map(|of| of[2] >= of[0] - STABLE);
    made.claim("increase of recall", cells![&*recalls, change, increase]);
    made.claim("saturation", cells![recalls, saturated]);
    made.claim("precision by lexicons", cells![precisions, falls]);
    made.claim("pure clusters", cells![clusters, stable]);
}

/// A share is stable if it falls by at most this.
const STABLE: f64 = 0.05;
/// Two shares are about equal if they differ by at most this.
const ALIKE: f64 = 0.1;

/// Section 7.1, footnote: recall and precision of I-Match with five lexicons and of megashingles, and
/// whether they are about equal.
fn megashingles(found: &[Found], mega: &QueryRow) -> Vec<Cell> {
    let of = |row: &QueryRow| row.recall.zip(row.precision);
    let near = |a: f64, b: f64| (a - b).abs() <= ALIKE;
    let (a, b) = (with(found, 5).and_then(of), of(mega));
    let alike = a.zip(b).map(|(a, b)| near(a.0, b.0) && near(a.1, b.1));
    let [a, b] = [a, b].map(Option::unzip);
    cells![a.0, a.1, b.0, b.1, alike]
}

/// The claims of sections 7.2 and 7.3.
fn mail_claims(label: &str, found: &[Found], made: &mut Measured) {
    let most = found.iter().map(|of| of.row.wrong).max();
    let recall = values(found, MAIL_LEXICONS, |row| row.recall);
    let utility = values(found, MAIL_LEXICONS, |row| row.utility);
    let rising = |of: &Vec<f64>| of.windows(2).all(|two| two[0] < two[1]);
    let pairs = counted(most.unwrap_or(0), "pair");
    let recalls = shown(MAIL_LEXICONS, recall.as_ref());
    let utilities = listed(", ", utility.iter().flatten(), |of| format!("{of:.2}"));
    let both = recall.zip(utility);
    let rise = both.map(|(recall, utility)| rising(&recall) && rising(&utility));
    made.claim(
        &format!("legitimate mail found for {label}"),
        cells![pairs, most],
    );
    made.claim(
        &format!("recall of {label}"),
        cells![recalls, utilities, rise],
    );
}

/// The claims about Table 4, given its cells and the published ones. The paper rounds to hundredths,
/// two of its values by one too many.
fn formula_claims(cells: &[[Option<f64>; 5]; 3], published: &[Vec<Cell>], made: &mut Measured) {
    let published = published.iter().flat_map(|row| row.iter().skip(1));
    let apart = published.filter_map(Cell::number).zip(cells.as_flattened());
    let apart = apart.map(|(paper, here)| (here.unwrap_or(f64::INFINITY) - paper).abs());
    let most = apart.fold(0.0, f64::max);
    let ratio = |row: usize, column: usize| cells[row][column].unwrap_or(f64::NAN);
    let (by_terms, by_changes) = (ratio(0, 3) / ratio(2, 3), ratio(2, 3) / ratio(2, 2));
    made.claim("table 4", cells![most]);
    let ten_times = 10.0 * by_terms;
    made.claim("changes and terms", cells![by_terms, by_changes, ten_times]);
}

#[cfg(test)]
mod tests {
    use super::super::Finding::{self, Differs, Holds, Untested};
    use super::super::Paper::Kolcz2008;
    use super::super::published::{self, assert_findings};
    use super::*;

    fn findings(measure: impl FnOnce(&mut Measured)) -> Vec<Finding> {
        published::findings(Kolcz2008, measure)
    }

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
        assert_eq!(findings(|made| web_claims(&good, made)), [Holds; 4]);
        let bad = rows([(0.7, 0.8, 70), (0.71, 0.9, 60), (0.75, 0.95, 60)]);
        assert_eq!(findings(|made| web_claims(&bad, made)), [Differs; 4]);
        assert_eq!(findings(|made| web_claims(&[], made)), [Untested; 4]);
        let mega = |recall, precision| row(0, recall, precision).row;
        let claims = [
            megashingles(&good, &mega(0.668, 0.758)),
            megashingles(&good, &mega(0.2, 0.8)),
            megashingles(&[], &mega(0.2, 0.8)),
        ];
        assert_findings(Kolcz2008, "megashingles", claims);
        let remedies = |of: [f64; 3]| {
            let rows = of.map(|precision| mega(0.9, precision));
            rejection(rows.each_ref())
        };
        let claims = [[0.1, 0.2, 0.9], [0.3, 0.9, 0.2], [1.0, 0.2, 0.2]];
        assert_findings(Kolcz2008, "rejection", claims.map(remedies));
        let (none, some) = (QueryRow::default(), mega(0.6, 0.2));
        assert!(rejection([&none, &some, &some]).is_none());
    }

    #[test]
    fn claims_about_mail() {
        let file = Published::of(Kolcz2008).unwrap();
        for (label, table) in SPAM.into_iter().zip(["table-2", "table-3"]) {
            let published = file.rows(table).iter();
            let published = published.map(|row| row.iter().filter_map(Cell::number).collect());
            let published: Vec<Vec<f64>> = published.collect();
            let rows = published.iter().map(|of| {
                let mut found = row(of[0] as u32, of[1], 0.0);
                found.row.utility = Some(of[3]);
                found
            });
            let mut rows: Vec<Found> = rows.collect();
            assert_eq!(findings(|made| mail_claims(label, &rows, made)), [Holds; 2]);
            rows[3].row.wrong = 1;
            rows[3].row.utility = Some(-70.0);
            assert_eq!(
                findings(|made| mail_claims(label, &rows, made)),
                [Differs; 2]
            );
            rows[2].row.utility = None;
            assert_eq!(
                findings(|made| mail_claims(label, &rows, made)),
                [Differs, Untested]
            );
            // The printed increases follow from the printed recalls.
            let first = published[0][1];
            for of in &published {
                assert!((of[1] / first - 1.0 - of[2]).abs() < 0.01, "{of:?}");
            }
            // Figure 6 has the same recalls.
            let column = SPAM.iter().position(|of| *of == label).unwrap() + 1;
            for (row, of) in file.rows("figure-6").iter().zip(published) {
                assert_eq!(
                    (row[0].number(), row[column].number()),
                    (Some(of[0]), Some(of[1]))
                );
            }
        }
    }

    #[test]
    fn claims_about_table_4() {
        let mut cells = computed_table_4();
        let file = Published::of(Kolcz2008).unwrap();
        let published = file.rows("table-4");
        assert_eq!(
            findings(|made| formula_claims(&cells, published, made)),
            [Holds; 2]
        );
        cells[2][3] = Some(60.0);
        assert_eq!(
            findings(|made| formula_claims(&cells, published, made)),
            [Differs; 2]
        );
    }
}
