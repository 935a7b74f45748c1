//! Reproductions of papers for readers: tables, and the record of them in a directory.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::reproduce::{Cell, Claim, Exhibit, Finding, Form, Paper};
use lookalike::report::terminal::wrapped;
use lookalike_base::{counted, listed};
use lookalike_store::table;

/// The content of `reproduce.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reproduced {
    /// Version of the files.
    pub format: u32,
    /// The program that wrote them.
    pub program: String,
    /// A digest of the collection.
    pub collection: String,
    /// The papers.
    pub papers: Vec<ReproducedPaper>,
}

/// A paper of [`Reproduced`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReproducedPaper {
    /// The paper.
    pub paper: Paper,
    /// Its claims.
    pub claims: Vec<Claim>,
    /// File, place in the paper and title of each of its tables and figures; no file if it cannot be
    /// made on this collection.
    pub exhibits: Vec<(Option<String>, String, String)>,
}

impl ReproducedPaper {
    /// The number of claims with each finding.
    pub(super) fn findings(&self) -> [(u64, &'static str); 3] {
        Finding::ALL.map(|finding| {
            let claims = self.claims.iter();
            let of = claims.filter(|claim| claim.finding == finding).count() as u64;
            let words = match (finding, of) {
                (Finding::Holds, 2..) | (Finding::Holds, 0) => "hold",
                (Finding::Differs, 2..) | (Finding::Differs, 0) => "differ",
                (finding, _) => finding.text(),
            };
            (of, words)
        })
    }
}

/// A cell of a TSV file: numbers with a fixed number of decimals, nothing as an empty cell.
fn plain(cell: &Cell, form: Form) -> String {
    match (cell, form) {
        (Cell::Text(text), _) => table::cell(text).into(),
        (Cell::Number(n), Form::Number(digits)) => format!("{n:.*}", usize::from(digits)),
        (Cell::Number(n), Form::Seconds) => format!("{n:.3}"),
        (Cell::Number(n), Form::Count | Form::Bytes) => format!("{n:.0}"),
        (cell, _) => cell.field(),
    }
}

/// An exhibit as a table with tabs.
pub(crate) fn exhibit_tsv(exhibit: &Exhibit) -> String {
    let mut out = listed("\t", &exhibit.columns, |column| column.name.clone()) + "\n";
    for row in &exhibit.rows {
        let cells = row.iter().zip(&exhibit.columns);
        out += &listed("\t", cells, |(cell, column)| plain(cell, column.form));
        out.push('\n');
    }
    out
}

/// The file of an exhibit.
pub(super) fn exhibit_file(paper: Paper, exhibit: &Exhibit) -> Option<String> {
    (!exhibit.rows.is_empty()).then(|| format!("{paper}.{}.tsv", exhibit.name))
}

/// The claims of papers as a table with tabs.
pub(super) fn claims_tsv(papers: &[ReproducedPaper]) -> String {
    let mut out = String::from("paper\tplace\tfinding\tclaim\there\n");
    for of in papers {
        for claim in &of.claims {
            let [place, says, here] =
                [&claim.place, &claim.says, &claim.here].map(|t| table::cell(t));
            let _ = writeln!(
                out,
                "{}\t{place}\t{}\t{says}\t{here}",
                of.paper, claim.finding
            );
        }
    }
    out
}

/// The claims of these papers for a terminal of this number of columns.
pub fn reproduced(reproduced: &Reproduced, papers: &[Paper], width: usize) -> String {
    let mut out = String::new();
    for of in reproduced
        .papers
        .iter()
        .filter(|of| papers.contains(&of.paper))
    {
        let findings = of.findings().map(|(n, words)| format!("{n} {words}"));
        let (paper, findings) = (of.paper.authors(), findings.join(", "));
        let claims = counted(of.claims.len() as u64, "claim");
        wrapped(&format!("{paper}: {claims} ({findings})"), width, &mut out);
        for claim in &of.claims {
            let _ = writeln!(out);
            let finding = format!("{}: {}", claim.place, claim.finding);
            wrapped(&finding, width, &mut out);
            wrapped(&claim.says, width, &mut out);
            wrapped(&format!("Here: {}", claim.here), width, &mut out);
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::{Column, cells};

    #[test]
    fn numbers_have_the_decimals_of_their_column() {
        let columns = [
            ("method", Form::Text),
            ("pairs", Form::Count),
            ("recall", Form::Share),
            ("recall_paper", Form::Share),
            ("mean", Form::Number(1)),
        ];
        let columns = columns.map(|(name, form)| Column {
            name: name.into(),
            form,
        });
        let exhibit = Exhibit {
            name: "table-1".into(),
            place: "Table 1".into(),
            title: "A table".into(),
            about: String::new(),
            columns: columns.into(),
            rows: vec![cells!["a\tb", 7u64, 0.1 + 0.2, None::<f64>, 2.25]],
            plot: None,
        };
        let text = exhibit_tsv(&exhibit);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "method\tpairs\trecall\trecall_paper\tmean");
        assert_eq!(lines[1], "a\\tb\t7\t0.300000\t\t2.2");
        assert_eq!(Cell::from(f64::NAN), Cell::Nothing);
        let json = serde_json::to_string(&exhibit).unwrap();
        assert!(json.contains(r#"{"method":"a\tb","pairs":7,"recall":0.30000000000000004,"recall_paper":null,"mean":2.25}"#));
    }
}
