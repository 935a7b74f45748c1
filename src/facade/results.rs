//! The results of a collection, read from its result files one by one.

use std::path::Path;
use std::str::FromStr;

use serde::Deserialize;

use crate::Result;
use crate::base::measure::Measure;
use crate::base::progress::Context;
use crate::engine::collection::{self, Catalogue, RepresentativeReader};
use crate::engine::join::PairsEntry;
use crate::engine::pipeline;
use crate::tasks::evaluate::lines::Table;
use crate::text::read::lines::Lines;

/// Two documents that reach the threshold. `D` names a document: by its docno, or by its index for
/// [`find_pairs`](crate::find_pairs).
#[derive(Clone, Debug, PartialEq)]
pub struct Pair<D = String> {
    /// The document that comes first.
    pub a: D,
    /// The other document.
    pub b: D,
    /// Shared shingles divided by all distinct shingles of the two documents, to six decimals. If
    /// the collection was made with another measure, the value of that measure.
    pub resemblance: f64,
    /// Number of shared shingles.
    pub shared: u32,
}

/// A cluster: documents that pairs connect.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Cluster {
    /// Its number, from 0.
    pub id: u32,
    /// The docno of the document that comes first.
    pub representative: String,
    /// All documents of the cluster, in the order of the inputs.
    pub members: Vec<Member>,
}

/// A document of a cluster.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Member {
    /// Its docno.
    pub docno: String,
    /// What it is in the cluster.
    pub kind: MemberKind,
    /// Its resemblance to the representative; `None` if that is below the threshold.
    #[serde(alias = "score")]
    pub resemblance: Option<f64>,
}

/// What a document is in its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemberKind {
    /// The document that comes first.
    Representative,
    /// A document with the same tokens as an earlier one.
    Exact,
    /// Any other document.
    Near,
}

/// The pairs of a collection; see [`Collection::pairs`](crate::Collection::pairs).
pub struct Pairs {
    near: Table,
    exact: Exact,
    /// The values of a row.
    row: Vec<Vec<u8>>,
    /// The list that comes next; `None` after the last pair, or after an error.
    next: Option<List>,
}

/// Where pairs are read.
enum List {
    Near,
    Exact,
}

/// The exact duplicates. Docnos may repeat, so the catalogue says which documents they are.
struct Exact {
    documents: Table,
    duplicates: Table,
    firsts: RepresentativeReader,
    /// The number of the next document.
    next: u32,
}

impl Pairs {
    pub(super) fn open(directory: &Path, context: &Context<'_>) -> Result<Pairs> {
        const FILES: [&str; 3] = ["pairs.tsv", "documents.tsv", "exact-duplicates.tsv"];
        let manifest = pipeline::check_results(directory, &FILES)?;
        let [near, documents, duplicates] = FILES.map(|name| Table::open(&directory.join(name)));
        let (mut near, mut documents, mut duplicates) = (near?, documents?, duplicates?);
        let pairs = manifest.get::<PairsEntry>();
        let measure = pairs.map_or_else(Measure::default, |pairs| pairs.config.measure);
        near.want_names(&["docno_a", "docno_b", measure.column(), "shared"])?;
        duplicates.want_names(&["representative", "docno"])?;
        // The column of shingles, which has another name if there are features of a method.
        let columns = documents.first()?;
        documents.want_names(&[columns.get(3).map_or("shingles", String::as_str)])?;
        let workspace = pipeline::open_shared(directory, context)?;
        let mut firsts = Catalogue::representatives_in_order(&workspace)?;
        let next = collection::against(&manifest).documents;
        firsts.skip_to(next)?;
        let exact = Exact {
            documents,
            duplicates,
            firsts,
            next,
        };
        Ok(Pairs {
            near,
            exact,
            row: Vec::new(),
            next: Some(List::Near),
        })
    }

    fn read(&mut self) -> Result<Option<Pair>> {
        if let Some(List::Near) = self.next {
            if self.near.next(&mut self.row)? {
                return Ok(Some(Pair {
                    a: text(&self.row, 0),
                    b: text(&self.row, 1),
                    resemblance: number(&self.near, &self.row, 2)?,
                    shared: number(&self.near, &self.row, 3)?,
                }));
            }
            self.next = Some(List::Exact);
        }
        self.exact.read(&mut self.row)
    }
}

impl Exact {
    fn read(&mut self, row: &mut Vec<Vec<u8>>) -> Result<Option<Pair>> {
        while self.documents.next(row)? {
            let first = self.firsts.next()?;
            let document = self.next;
            self.next += 1;
            if first == Some(document) {
                continue;
            }
            let shared = number(&self.documents, row, 0)?;
            if first.is_none() || !self.duplicates.next(row)? {
                return Err(self.duplicates.bad("an exact duplicate", "the end"));
            }
            return Ok(Some(Pair {
                a: text(row, 0),
                b: text(row, 1),
                resemblance: 1.0,
                shared,
            }));
        }
        Ok(None)
    }
}

/// A value of a row.
fn text(row: &[Vec<u8>], at: usize) -> String {
    row.get(at)
        .map_or_else(String::new, |value| String::from_utf8_lossy(value).into())
}

/// A number of a row of this table.
fn number<N: FromStr>(table: &Table, row: &[Vec<u8>], at: usize) -> Result<N> {
    let value = text(row, at);
    value.parse().map_err(|_| table.bad("a number", &value))
}

impl Iterator for Pairs {
    type Item = Result<Pair>;

    fn next(&mut self) -> Option<Result<Pair>> {
        self.next.as_ref()?;
        let read = self.read();
        if !matches!(read, Ok(Some(_))) {
            self.next = None;
        }
        read.transpose()
    }
}

/// The clusters of a collection; see [`Collection::clusters`](crate::Collection::clusters).
pub struct Clusters {
    /// `None` after the last cluster, or after an error.
    lines: Option<Lines>,
}

impl Clusters {
    pub(super) fn open(directory: &Path) -> Result<Clusters> {
        const FILE: &str = "clusters.jsonl";
        pipeline::check_results(directory, &[FILE])?;
        let lines = Some(Lines::open(&directory.join(FILE), usize::MAX)?);
        Ok(Clusters { lines })
    }
}

impl Iterator for Clusters {
    type Item = Result<Cluster>;

    fn next(&mut self) -> Option<Result<Cluster>> {
        let lines = self.lines.as_mut()?;
        let read = lines.advance().and_then(|more| match more {
            false => Ok(None),
            true => (serde_json::from_slice(lines.line()).map(Some))
                .map_err(|error| lines.bad("a cluster", error)),
        });
        if !matches!(read, Ok(Some(_))) {
            self.lines = None;
        }
        read.transpose()
    }
}
