//! The results of a collection, read from its result files one by one.

use std::path::Path;

use serde::Deserialize;

use crate::Result;
use crate::base::measure::Measure;
use crate::base::progress::Context;
use crate::engine::collection::{self, Catalogue};
use crate::engine::join::PairsEntry;
use crate::engine::pipeline;
use crate::text::read::lines::Lines;
use crate::text::table::Table;

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
    /// Its role in the cluster.
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

/// The pairs of different tokens, and then the pairs of exact duplicates.
pub(super) fn pairs(
    directory: &Path,
    context: &Context<'_>,
) -> Result<impl Iterator<Item = Result<Pair>> + use<>> {
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
    // Docnos may repeat, so the catalogue says which documents are exact duplicates.
    let workspace = pipeline::open_shared(directory, context)?;
    let mut firsts = Catalogue::representatives_in_order(&workspace)?;
    let first_number = collection::against(&manifest).documents;
    firsts.skip_to(first_number)?;
    let (mut numbers, mut row, mut near_ended) = (first_number.., Vec::new(), false);
    Ok(until_error(move || {
        if !near_ended && near.next(&mut row)? {
            let [resemblance, shared] = [text(&row, 2), text(&row, 3)];
            return pair(&near, &row, (&resemblance, &shared)).map(Some);
        }
        near_ended = true;
        while documents.next(&mut row)? {
            let first = firsts.next()?;
            if first == numbers.next() {
                continue;
            }
            let shared = text(&row, 0);
            if first.is_none() || !duplicates.next(&mut row)? {
                return Err(duplicates.bad("an exact duplicate", "the end"));
            }
            return pair(&documents, &row, ("1", &shared)).map(Some);
        }
        Ok(None)
    }))
}

/// The clusters, one line of their file after the other.
pub(super) fn clusters(directory: &Path) -> Result<impl Iterator<Item = Result<Cluster>> + use<>> {
    const FILE: &str = "clusters.jsonl";
    pipeline::check_results(directory, &[FILE])?;
    let mut lines = Lines::open(&directory.join(FILE), usize::MAX)?;
    Ok(until_error(move || {
        let more = lines.advance()?;
        let read = more.then(|| serde_json::from_slice(lines.line()));
        read.transpose()
            .map_err(|error| lines.bad("a cluster", error))
    }))
}

/// The values that `next` reads. It is not called again after the end, or after an error.
fn until_error<T>(mut next: impl FnMut() -> Result<Option<T>>) -> impl Iterator<Item = Result<T>> {
    let mut ended = false;
    std::iter::from_fn(move || {
        let read = if ended { Ok(None) } else { next() };
        ended = !matches!(read, Ok(Some(_)));
        read.transpose()
    })
}

/// A value of a row.
fn text(row: &[Vec<u8>], at: usize) -> String {
    let value = row.get(at).map_or(&[][..], Vec::as_slice);
    String::from_utf8_lossy(value).into()
}

/// The pair that a row begins with; its numbers are in the current row of `table`.
fn pair(table: &Table, row: &[Vec<u8>], (resemblance, shared): (&str, &str)) -> Result<Pair> {
    Ok(Pair {
        a: text(row, 0),
        b: text(row, 1),
        resemblance: (resemblance.parse()).map_err(|_| table.bad("a number", resemblance))?,
        shared: (shared.parse()).map_err(|_| table.bad("a number", shared))?,
    })
}
