//! Documents counted by where they come from.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::source::Source;
use super::{NAME_CHARS, STAGE};
use crate::dedup::values::{self, Part};
use crate::dedup::{Decided, Removal};
use lookalike_base::{Least, Result, refuse};
use lookalike_engine::collection::{self, each_document_of};
use lookalike_store::{Group, Rows, SetAside, Sort, item};
use lookalike_text::read::RecordReader;

/// Sources that a table shows; the others are one row.
pub const ROWS_SHOWN: usize = 20;

/// Documents, and how many of them were removed for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tally {
    /// Documents read.
    pub documents: u64,
    /// Documents removed, in the order of [`Removal::ALL`].
    pub removed: [u64; Removal::ALL.len()],
}

impl Tally {
    fn count(&mut self, reason: Option<usize>) {
        self.documents += 1;
        if let Some(removed) = reason.and_then(|reason| self.removed.get_mut(reason)) {
            *removed += 1;
        }
    }

    fn add(&mut self, other: &Tally) {
        self.documents += other.documents;
        for (sum, more) in self.removed.iter_mut().zip(other.removed) {
            *sum += more;
        }
    }

    /// Documents removed for a reason.
    pub fn of(&self, reason: Removal) -> u64 {
        self.removed[reason as usize]
    }

    /// Documents kept.
    pub fn kept(&self) -> u64 {
        self.documents - self.removed.iter().sum::<u64>()
    }
}

/// The documents of one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTally {
    /// The name of the input file, the host, the year, or the value of the field.
    pub value: String,
    /// Its documents.
    pub tally: Tally,
}

/// Documents by source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTable {
    /// The kind of the sources; `None` for input files.
    pub source: Option<Source>,
    /// The sources with the most documents, in descending order; ties are in the order of the
    /// input.
    pub rows: Vec<SourceTally>,
    /// The number of other sources, and their documents.
    pub rest: (u64, Tally),
    /// Documents without a source.
    pub without: Tally,
}

/// All documents of the tables; each table has the same ones.
pub(super) fn sum(tables: &mut [SourceTable]) -> Tally {
    let mut sum = Tally::default();
    if let Some(table) = tables.first() {
        for row in &table.rows {
            sum.add(&row.tally);
        }
        sum.add(&table.rest.1);
        sum.add(&table.without);
    }
    sum
}

/// The sources that have most documents, and how many others there are.
struct Ranked<T> {
    largest: Least<(Reverse<u64>, u32, Tally, T)>,
    all: u64,
    sum: Tally,
}

impl<T: Ord> Ranked<T> {
    fn new() -> Ranked<T> {
        Ranked {
            largest: Least::new(ROWS_SHOWN),
            all: 0,
            sum: Tally::default(),
        }
    }

    /// Takes a source with its first document.
    fn offer(&mut self, first: u32, tally: Tally, value: T) {
        if tally.documents == 0 {
            return;
        }
        self.all += 1;
        self.sum.add(&tally);
        let rank = Reverse(tally.documents);
        self.largest.offer((rank, first, tally, value));
    }

    fn table(
        self,
        source: Option<&Source>,
        without: Tally,
        mut name: impl FnMut(T) -> Result<String>,
    ) -> Result<SourceTable> {
        let mut rows = Vec::new();
        let mut rest = self.sum;
        for (_, _, tally, value) in self.largest.sorted() {
            rest.documents -= tally.documents;
            for (left, shown) in rest.removed.iter_mut().zip(tally.removed) {
                *left -= shown;
            }
            rows.push(SourceTally {
                value: name(value)?,
                tally,
            });
        }
        Ok(SourceTable {
            source: source.cloned(),
            rest: (self.all - rows.len() as u64, rest),
            rows,
            without,
        })
    }
}

/// The documents by input file, and then by each source, once if it is given twice.
pub(super) fn tables(decided: &Decided<'_>, by: &[Source]) -> Result<Vec<SourceTable>> {
    let mut different: Vec<Source> = Vec::new();
    for source in by {
        if !different.contains(source) {
            different.push(source.clone());
        }
    }
    let by = &different[..];
    let texts = SetAside::new(decided.scratch.path());
    let found: Vec<AtomicBool> = by.iter().map(|_| AtomicBool::default()).collect();
    let mut tables = vec![by_input(decided)?];
    let parts: Vec<_> = by.iter().map(|source| Some(source.part())).collect();
    let config = &collection::config(&decided.workspace.manifest).read;
    let places = &decided.places;
    let note = |column: usize, text: Option<&str>| {
        found[column].fetch_or(text.is_some(), Ordering::Relaxed);
        let Some(value) = text.and_then(|text| by[column].value(text)) else {
            return Ok(NOTHING);
        };
        let place = texts.put(&shorten(&value).to_string())?;
        Ok([xxh3_64(value.as_bytes()).min(u64::MAX - 1), place])
    };
    let columns = values::fields(decided.choosing(), places, &parts, note)?;
    let columns = columns.into_iter().flatten();
    for ((n, source), (column, found)) in by.iter().enumerate().zip(columns.zip(found)) {
        let limit = match source.part() {
            _ if found.into_inner() => None,
            Part::Field(field) => Some(RecordReader::no_such_field(field, decided.inputs, config)),
            Part::Date => {
                Some("no record states a date; name the field that has one with year:FIELD".into())
            }
            Part::Address => None,
        };
        if let Some(limit) = limit {
            return refuse("by", source, limit);
        }
        let sort = decided.choosing().sort(&format!("source-{n}-sort"))?;
        tables.push(by_value(decided, source, column, sort, &texts)?);
    }
    Ok(tables)
}

/// The reason for which a document was removed, as its place in [`Removal::ALL`].
fn reason(decided: &Decided<'_>, document: u32) -> Option<usize> {
    let removed = decided.choice.fate(document);
    removed.map(|fate| fate.reason as usize)
}

/// Goes through the documents, whose files follow each other.
fn by_input(decided: &Decided<'_>) -> Result<SourceTable> {
    let mut ranked = Ranked::new();
    let mut current = (u32::MAX, 0, Tally::default());
    let own = collection::own_segments(&decided.workspace.manifest);
    each_document_of(decided.workspace, own, |number, document| {
        decided.context.tick(STAGE, number)?;
        if current.0 != document.file {
            let next = (document.file, number, Tally::default());
            let (file, first, tally) = std::mem::replace(&mut current, next);
            ranked.offer(first, tally, file);
        }
        current.2.count(reason(decided, number));
        Ok(())
    })?;
    let (file, first, tally) = current;
    ranked.offer(first, tally, file);
    ranked.table(None, Tally::default(), |file| {
        let input = decided.inputs.get(file as usize);
        Ok(input.map_or_else(String::new, |input| shorten(&input.docno).into()))
    })
}

/// The first characters of a value.
fn shorten(text: &str) -> &str {
    let end = text.char_indices().nth(NAME_CHARS);
    &text[..end.map_or(text.len(), |(end, _)| end)]
}

/// The hash of no value, and its place among the values.
const NOTHING: [u64; 2] = [u64::MAX; 2];

item! {
    /// A document in a sort by value. The first document with a value comes first.
    struct Valued {
        hash: u64,
        document: u32,
        /// Why the document is removed: 0 if it is kept, or 1 and the number of the reason.
        reason: u32,
        /// The place of the value.
        place: u64,
    }
}

/// Sorts the documents by their values, and counts them by value.
fn by_value(
    decided: &Decided<'_>,
    source: &Source,
    values: Rows<2>,
    mut sort: Sort<Valued>,
    texts: &SetAside<String>,
) -> Result<SourceTable> {
    let choice = &decided.choice;
    let first = choice.first;
    // The file ends with the last document of the collection itself, if it has one.
    let all = Some(choice.documents()).filter(|&all| all > first);
    values.each(all.unwrap_or(0), |document, [hash, place]| {
        decided.context.tick(STAGE, document)?;
        if document < first {
            return Ok(());
        }
        let reason = reason(decided, document).map_or(0, |r| r as u32 + 1);
        sort.push(Valued::new(hash, document, reason, place))
    })?;
    let mut ranked = Ranked::new();
    let mut without = Tally::default();
    let count = |first: Valued, all: &mut Group<'_, Valued>| {
        let mut tally = Tally::default();
        while let Some(valued) = all.next()? {
            tally.count((valued.reason as usize).checked_sub(1));
        }
        match first.hash == NOTHING[0] {
            true => without = tally,
            false => ranked.offer(first.document, tally, first.place),
        }
        Ok(())
    };
    sort.finish()?.groups(|valued| valued.hash, count)?;
    ranked.table(Some(source), without, |place| texts.get(place))
}
