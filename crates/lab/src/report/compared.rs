//! A comparison of methods for readers: its result in sentences, tables for a terminal, and one
//! table with every number.

use crate::compare::{CLOSE, Comparison, QueryResults, Standing, Verdict, f1, verdicts};
use crate::report::grid::{Grid, three};
use lookalike::report::terminal::{tabled, wrapped};
use lookalike_base::{budget::ByteSize, count, counted, listed, numbers};

/// Limit on the ground truths side by side in a table of the terminal.
const TRUTHS_IN_A_TABLE: usize = 2;

/// Columns for the name of a ground truth above its numbers.
const TRUTH_COLUMNS: usize = 10;

/// A specification as its name and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named<'s> {
    pub name: &'s str,
    pub parameters: Vec<(&'s str, &'s str)>,
}

impl<'s> Named<'s> {
    /// Reads `NAME:PARAMETER=VALUE,...`.
    pub(crate) fn of(spec: &'s str) -> Named<'s> {
        let (name, parameters) = spec.split_once(':').unwrap_or((spec, ""));
        let parameters = parameters.split(',').filter(|part| !part.is_empty());
        let parameters = parameters.map(|part| part.split_once('=').unwrap_or((part, "")));
        Named {
            name,
            parameters: parameters.collect(),
        }
    }

    /// The parameters as `n = 100, k = 4`; empty if there are none.
    pub(crate) fn values(&self) -> String {
        listed(", ", &self.parameters, |(name, value)| {
            format!("{name} = {value}")
        })
    }

    /// The name, and the parameters after a space.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.name, self.values()).trim_end().into()
    }
}

/// A relative increase in per cent: `+9.1 %`.
pub(crate) fn increase(of: f64) -> String {
    format!("{:+.1} %", 100.0 * of)
}

/// CPU seconds with two decimals: `0.31`.
pub(crate) fn seconds(seconds: f64) -> String {
    format!("{seconds:.2}")
}

/// The verdict against a ground truth in two sentences.
pub(crate) fn sentences(verdict: &Verdict, comparison: &Comparison) -> [String; 2] {
    let label = |standing: &Standing| {
        let row = comparison.methods.get(standing.method);
        row.map_or_else(String::new, |row| Named::of(&row.method).label())
    };
    let truth = Named::of(&verdict.truth).label();
    let pairs = counted(verdict.true_pairs, "pair");
    let (Some(best), Some(cheapest)) = (verdict.best, verdict.cheapest) else {
        let why = match verdict.true_pairs {
            0 => "has no pairs, so precision and recall against it are undefined",
            _ => "is compared with no other method that found a pair",
        };
        return [format!("{truth} {why}."), String::new()];
    };
    let figures = |standing: &Standing| {
        format!(
            "precision {} and recall {}",
            three(standing.precision),
            three(standing.recall)
        )
    };
    let first = format!(
        "{} agrees best with {truth} ({pairs}): {}, F1 {}.",
        label(&best),
        figures(&best),
        three(best.f1)
    );
    let itself = format!("{truth} itself took {}", seconds(verdict.truth_seconds));
    let second = if verdict.close < 2 {
        format!(
            "No other method comes within {CLOSE} of its F1; it took {} CPU seconds, and {itself}.",
            seconds(best.cpu_seconds)
        )
    } else if best.method == cheapest.method {
        format!(
            "It is also the cheapest of the {} methods within {CLOSE} of its F1: it took {} CPU seconds, \
             and {itself}.",
            verdict.close,
            seconds(best.cpu_seconds)
        )
    } else {
        format!(
            "The cheapest of the {} methods within {CLOSE} of its F1 is {} with {}: it took {} CPU \
             seconds instead of {}, and {itself}.",
            verdict.close,
            label(&cheapest),
            figures(&cheapest),
            seconds(cheapest.cpu_seconds),
            seconds(best.cpu_seconds)
        )
    };
    [first, second]
}

/// The comparison as tables for a terminal of this number of columns.
pub fn compared(comparison: &Comparison, width: usize) -> String {
    let mut out = String::new();
    let representatives = count(comparison.representatives);
    let documents = counted(comparison.documents, "document");
    let line = format!("{documents}, {representatives} of them representatives");
    wrapped(&line, width, &mut out);
    out.push('\n');
    let columns = "method,pairs,clusters,in them,only here,CPU s,peak,disk";
    let methods = || comparison.methods.iter().enumerate();
    let rows = methods().map(|(n, method)| {
        let alone = comparison.agreement.alone.get(n).copied();
        vec![
            method.method.clone(),
            method.pairs.to_string(),
            method.clusters.to_string(),
            method.documents.to_string(),
            alone.unwrap_or(0).to_string(),
            seconds(method.cpu_seconds),
            ByteSize(method.peak_bytes).to_string(),
            ByteSize(method.disk_bytes).to_string(),
        ]
    });
    let long = tabled(columns.split(','), rows, width, &mut out);
    let truths = comparison.methods.first();
    let truths = truths.map_or(0, |row| row.against.len());
    for first in (0..truths).step_by(TRUTHS_IN_A_TABLE) {
        out.push('\n');
        accuracy(comparison, first, width, &mut out);
    }
    if let Some(results) = &comparison.queries {
        out.push('\n');
        queries(results, width, &mut out);
    }
    if let Some(families) = &comparison.families {
        out.push('\n');
        let line = format!(
            "{} of {} ({} of the edit list not in the collection)",
            counted(families.copies, "copy"),
            counted(families.originals, "original"),
            counted(families.unknown, "docno")
        );
        wrapped(&line, width, &mut out);
        out.push('\n');
        let columns = "method,found,clusters per original,false positives";
        let rows = methods().map(|(n, method)| {
            let [members, found, clusters, wrong] = families.sums(n);
            vec![
                method.method.clone(),
                numbers::share(found, members).unwrap_or_else(|| "-".into()),
                format!("{:.1}", clusters as f64 / families.originals.max(1) as f64),
                wrong.to_string(),
            ]
        });
        tabled(columns.split(','), rows, width, &mut out);
    }
    long.print(width, &mut out);
    out.push('\n');
    let all = comparison.agreement.by_methods.last();
    let line = format!(
        "{} found by any method, {} by all.",
        counted(comparison.agreement.any, "pair"),
        count(all.copied().unwrap_or(0))
    );
    wrapped(&line, width, &mut out);
    for verdict in verdicts(comparison) {
        let said = sentences(&verdict, comparison).join(" ");
        wrapped(said.trim_end(), width, &mut out);
    }
    out
}

/// The averages over queries, a table for each ground truth.
fn queries(results: &QueryResults, width: usize, out: &mut String) {
    let mut truths: Vec<&str> = results.rows.iter().map(|row| row.truth.as_str()).collect();
    truths.sort_unstable();
    truths.dedup();
    let labelled = results.labelled.is_some();
    for truth in truths {
        let rows = || results.rows.iter().filter(|row| row.truth == truth);
        let with = rows().next().map_or(0, |row| row.with_neighbours);
        let line = format!(
            "{}, {} of them with another document by {truth}",
            counted(results.queries, "query"),
            count(with)
        );
        wrapped(&line, width, out);
        out.push('\n');
        let columns = "method,recall,increase,precision,utility,wrong,pure,by label";
        let columns = columns.split(',').take(7 + usize::from(labelled));
        let share = |value: Option<f64>| value.map_or("-".into(), three);
        let part = |part, whole| numbers::share(part, whole).unwrap_or_else(|| "-".into());
        let rows = rows().map(|row| {
            let mut cells = vec![
                row.method.clone(),
                share(row.recall),
                row.increase.map_or("-".into(), increase),
                share(row.precision),
                row.utility.map_or("-".into(), |of| format!("{of:.2}")),
                row.wrong.to_string(),
                part(row.pure, row.clusters),
            ];
            if labelled {
                cells.push(part(row.pure_by_label, row.labelled));
            }
            cells
        });
        tabled(columns, rows, width, out);
    }
}

/// Precision, recall and F1 against some ground truths.
fn accuracy(comparison: &Comparison, first: usize, width: usize, out: &mut String) {
    let truths = || {
        let row = comparison.methods.iter().take(1);
        let all = row.flat_map(|row| &row.against);
        all.skip(first).take(TRUTHS_IN_A_TABLE)
    };
    let head = truths().flat_map(|against| {
        let mut name: String = against.truth.chars().take(TRUTH_COLUMNS).collect();
        if name.len() < against.truth.len() {
            name.pop();
            name.push('…');
        }
        [format!("P {name}"), format!("R {name}"), "F1".into()]
    });
    let head = Grid::row("method", head);
    let number = |value: Option<f64>| value.map_or("-".into(), three);
    let rows = comparison.methods.iter().map(|row| {
        let mut cells = vec![row.method.clone()];
        for against in row.against.iter().skip(first).take(TRUTHS_IN_A_TABLE) {
            let both = against.precision.zip(against.recall);
            cells.push(number(against.precision));
            cells.push(number(against.recall));
            cells.push(number(both.map(|(p, r)| f1(p, r))));
        }
        cells
    });
    tabled(head.iter().map(String::as_str), rows, width, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_are_read_as_words() {
        assert_eq!(Named::of("shingles").label(), "shingles");
        let named = Named::of("sketch:n=100,size=8");
        assert_eq!(
            (named.name, named.values().as_str()),
            ("sketch", "n = 100, size = 8")
        );
        assert_eq!(Named::of("a:b,c=d=e").label(), "a b = , c = d=e");
    }
}
