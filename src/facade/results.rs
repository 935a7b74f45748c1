//! The results of a collection, read from its result files one by one.

use std::path::Path;

use lookalike_base::{Context, Error, Result, keywords};
use lookalike_engine::cluster::{Member, Members, RESULT_FILES, columns};
use lookalike_engine::collection::{self, Catalogue};
use lookalike_engine::pipeline;
use lookalike_engine::table::TypedTable;
use lookalike_store::{Cell, Column, cells};

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
    /// Number of distinct shingles of each of the two documents. If the measure compares lengths in
    /// words, the number of words.
    pub sizes: [u32; 2],
}

/// A cluster: documents that pairs connect.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Its number, from 0.
    pub id: u32,
    /// The docno of the document that comes first.
    pub representative: String,
    /// All documents of the cluster, in the order of the inputs.
    pub members: Vec<Member>,
}

keywords! {
    /// A result file that can be read as a table.
    pub enum Results: "is not a table; use" {
        /// The pairs of documents of different tokens: `pairs.tsv`.
        Pairs = "pairs",
        /// The members of clusters: `clusters.jsonl`.
        Clusters = "clusters",
        /// The exact duplicates: `exact-duplicates.tsv`.
        ExactDuplicates = "exact_duplicates",
        /// All documents: `documents.tsv`.
        Documents = "documents",
        /// The records that could not be read, and warnings: `rejects.jsonl`.
        Rejects = "rejects",
        /// The pairs to review, below the threshold: `review.tsv`.
        Review = "review",
    }
}

impl Results {
    fn file(self) -> &'static str {
        RESULT_FILES[self as usize]
    }
}

/// A result file as rows of cells, one of which at a time is in memory.
pub struct ResultTable(Rows);

enum Rows {
    Lines(Box<TypedTable>),
    Members(Vec<Column>, Box<Members>),
}

impl ResultTable {
    pub(super) fn open(directory: &Path, of: Results) -> Result<ResultTable> {
        let manifest = pipeline::check_results(directory, &[of.file()])?;
        let (path, columns) = (directory.join(of.file()), columns(&manifest, of.file()));
        Ok(ResultTable(match of {
            Results::Clusters => Rows::Members(columns, Box::new(Members::open(&path)?)),
            _ => Rows::Lines(Box::new(TypedTable::open(&path, &columns)?)),
        }))
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        match &self.0 {
            Rows::Lines(lines) => &lines.columns,
            Rows::Members(columns, _) => columns,
        }
    }

    /// Passes on the next row, with a cell for each column; `None` at the end.
    ///
    /// # Errors
    /// `BadLine` if the file has changed; `Io`.
    pub fn row<R>(&mut self, take: impl FnOnce(&[Cell<'_>]) -> R) -> Result<Option<R>> {
        let (columns, members) = match &mut self.0 {
            Rows::Lines(lines) => return lines.row(take),
            Rows::Members(columns, members) => (columns.len(), members),
        };
        let Some(of) = members.next_member()? else {
            return Ok(None);
        };
        let (cluster, representative) = (members.cluster, &members.representative);
        let cells = cells! {
            cluster, representative, &of.docno, of.kind.text(), of.resemblance, of.url.as_ref(),
            of.date.as_ref(),
        };
        Ok(Some(take(cells.get(..columns).unwrap_or(&cells))))
    }
}

/// The pairs of different tokens, and then the pairs of exact duplicates.
pub(super) fn pairs(
    directory: &Path,
    context: &Context<'_>,
) -> Result<impl Iterator<Item = Result<Pair>> + use<>> {
    let open = |of| ResultTable::open(directory, of);
    let mut near = open(Results::Pairs)?;
    let mut documents = open(Results::Documents)?;
    let mut duplicates = open(Results::ExactDuplicates)?;
    // Docnos may repeat, so the catalogue says which documents are exact duplicates.
    let workspace = pipeline::open_shared(directory, context)?;
    let mut firsts = Catalogue::representatives_in_order(&workspace)?;
    let first_number = collection::against(&workspace.manifest).documents;
    firsts.skip_to(first_number)?;
    let of_words = near.columns().iter().any(|column| column.name == "words_a");
    let (mut numbers, mut near_ended) = (first_number.., false);
    let directory = directory.to_path_buf();
    let changed = move || Error::corrupt(&directory, "a list").expected("its columns", "others");
    Ok(until_error(move || {
        if !near_ended && let Some(pair) = near.row(pair)? {
            return pair.map(Some).ok_or_else(&changed);
        }
        near_ended = true;
        let Some(names) = duplicates.row(names)? else {
            return Ok(None);
        };
        loop {
            let sizes = documents.row(sizes)?.flatten();
            let first = firsts.next()?;
            if first.is_some() && first == numbers.next() {
                continue;
            }
            let ((a, b), (words, shingles)) = names.zip(sizes).ok_or_else(&changed)?;
            return Ok(Some(Pair {
                a,
                b,
                resemblance: 1.0,
                shared: shingles,
                sizes: [if of_words { words } else { shingles }; 2],
            }));
        }
    }))
}

/// The pair of a row of [`Results::Pairs`].
fn pair(row: &[Cell<'_>]) -> Option<Pair> {
    let &[
        Cell::Text(a),
        Cell::Text(b),
        Cell::Real(resemblance),
        ref numbers @ ..,
    ] = row
    else {
        return None;
    };
    let number = |at: usize| number(numbers.get(at)?);
    Some(Pair {
        a: a.into(),
        b: b.into(),
        resemblance,
        shared: number(0)?,
        sizes: [number(1)?, number(2)?],
    })
}

/// The numbers of words and shingles in a row of [`Results::Documents`].
fn sizes(row: &[Cell<'_>]) -> Option<(u32, u32)> {
    Some((number(row.get(2)?)?, number(row.get(3)?)?))
}

/// The representative and the docno in a row of [`Results::ExactDuplicates`].
fn names(row: &[Cell<'_>]) -> Option<(String, String)> {
    match row {
        [Cell::Text(docno), Cell::Text(first), ..] => Some((first.to_string(), docno.to_string())),
        _ => None,
    }
}

fn number(cell: &Cell<'_>) -> Option<u32> {
    match *cell {
        Cell::Number(number) => u32::try_from(number).ok(),
        _ => None,
    }
}

/// The clusters, one line of their file after the other.
pub(super) fn clusters(directory: &Path) -> Result<impl Iterator<Item = Result<Cluster>> + use<>> {
    let file = Results::Clusters.file();
    pipeline::check_results(directory, &[file])?;
    let mut members = Members::open(&directory.join(file))?;
    // The first member of a cluster ends the cluster before it.
    let mut next = members.next_member()?;
    Ok(until_error(move || {
        let Some(first) = next.take() else {
            return Ok(None);
        };
        let mut cluster = Cluster {
            id: members.cluster,
            representative: members.representative.clone(),
            members: vec![first],
        };
        while let Some(member) = members.next_member()? {
            if members.place == 0 {
                next = Some(member);
                break;
            }
            cluster.members.push(member);
        }
        Ok(Some(cluster))
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
