//! Documents counted by where they come from.

use std::cmp::Reverse;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::source::{Source, host};
use super::{NAME_CHARS, Reading, STAGE};
use crate::dedup::Removal;
use crate::dedup::values::{self, FieldSink, Part};
use lookalike_base::Result;
use lookalike_base::error::refuse;
use lookalike_base::least::Least;
use lookalike_engine::collection::{self, each_document_of};
use lookalike_store::item::item;
use lookalike_store::{Aside, Group, Rows};
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
    /// What the sources are; `None` for input files.
    pub source: Option<Source>,
    /// The sources with the most documents, those first that have the most, and of these the one
    /// that comes first in the input.
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
pub(super) fn tables(reading: &Reading<'_>, by: &[Source]) -> Result<Vec<SourceTable>> {
    let mut different: Vec<Source> = Vec::new();
    for source in by {
        if !different.contains(source) {
            different.push(source.clone());
        }
    }
    let by = &different[..];
    let scratch = reading.decided.scratch.path();
    let columns = (0..by.len()).map(|at| Column::create(scratch, at));
    let columns = Columns {
        sources: by,
        columns: columns.collect::<Result<_>>()?,
        found: by.iter().map(|_| AtomicBool::new(false)).collect(),
        first: reading.decided.choice.first(),
    };
    let mut tables = vec![by_input(reading, &columns)?];
    let parts: Vec<_> = by.iter().map(Source::part).collect();
    let config = &collection::config(&reading.workspace.manifest).read;
    let places = &reading.decided.places;
    values::fields(reading.choosing(), places, &parts, &columns)?;
    for ((source, column), found) in by.iter().zip(columns.columns).zip(&columns.found) {
        if let (Some(part), false) = (source.part(), found.load(Ordering::Relaxed)) {
            let limit = match part {
                Part::Field(field) => RecordReader::no_such_field(field, reading.inputs, config),
                Part::Date => "no record states a date; name the field that has one with \
                                   year:FIELD"
                    .into(),
            };
            return refuse("by", source, limit);
        }
        tables.push(column.table(reading, source)?);
    }
    Ok(tables)
}

/// The reason for which a document was removed, as its place in [`Removal::ALL`].
fn reason(reading: &Reading<'_>, document: u32) -> Option<usize> {
    let removed = reading.decided.choice.fate(document);
    removed.map(|fate| fate.reason as usize)
}

/// Goes through the documents, whose files follow each other, and notes their hosts on the way.
fn by_input(reading: &Reading<'_>, columns: &Columns<'_>) -> Result<SourceTable> {
    let mut ranked = Ranked::new();
    let mut current = (u32::MAX, 0, Tally::default());
    let hosts = columns.sources.iter().position(|of| *of == Source::Host);
    let hosts = hosts.and_then(|at| columns.columns.get(at));
    let mut held = Vec::new();
    let mut next = columns.first;
    let own = collection::own_segments(&reading.workspace.manifest);
    each_document_of(reading.workspace, own, |number, document| {
        reading.context.tick(STAGE, number)?;
        if current.0 != document.file {
            let next = (document.file, number, Tally::default());
            let (file, first, tally) = std::mem::replace(&mut current, next);
            ranked.offer(first, tally, file);
        }
        current.2.count(reason(reading, number));
        if let Some(hosts) = hosts {
            let value = document.url.and_then(host);
            held.push(hosts.note(value.as_deref())?);
            if held.len() == 4096 {
                hosts.put(next - columns.first, &held)?;
                next += held.len() as u32;
                held.clear();
            }
        }
        Ok(())
    })?;
    if let Some(hosts) = hosts {
        hosts.put(next - columns.first, &held)?;
    }
    let (file, first, tally) = current;
    ranked.offer(first, tally, file);
    ranked.table(None, Tally::default(), |file| {
        let input = reading.inputs.get(file as usize);
        Ok(input.map_or_else(String::new, |input| shorten(&input.docno).into()))
    })
}

/// The first characters of a value.
fn shorten(text: &str) -> &str {
    let end = text.char_indices().nth(NAME_CHARS);
    &text[..end.map_or(text.len(), |(end, _)| end)]
}

/// Takes the fields of records.
struct Columns<'s> {
    sources: &'s [Source],
    columns: Vec<Column>,
    /// Whether a record has the field.
    found: Vec<AtomicBool>,
    /// The first document of the collection itself.
    first: u32,
}

impl FieldSink for Columns<'_> {
    type Value = Noted;

    fn value(&self, column: usize, text: Option<&str>) -> Result<Noted> {
        if text.is_some() {
            self.found[column].store(true, Ordering::Relaxed);
        }
        let value = text.and_then(|text| self.sources[column].value(text));
        self.columns[column].note(value.as_deref())
    }

    fn put(&self, column: usize, first: u32, values: &[Noted]) -> Result<()> {
        self.columns[column].put(first - self.first, values)
    }
}

/// A value of a document: its hash, and its place among the values.
type Noted = [u64; 2];

/// No value.
const NOTHING: Noted = [u64::MAX; 2];

item! {
    /// A document in a sort by value. The first document with a value comes first.
    struct Valued {
        hash: u64,
        document: u32,
        /// Why the document is removed: 0 if it is kept, or 1 and the number of the reason.
        reason: u32,
        /// Where the value stands in the file of values.
        offset: u64,
    }
}

/// The values of all documents for one source.
struct Column {
    name: String,
    /// By document.
    index: Rows<2>,
    /// The values, each behind its length in two bytes.
    texts: Aside,
}

impl Column {
    fn create(scratch: &Path, at: usize) -> Result<Column> {
        Ok(Column {
            name: format!("source-{at}-sort"),
            index: Rows::create(scratch)?,
            texts: Aside::new(scratch),
        })
    }

    /// Stores a value.
    fn note(&self, value: Option<&str>) -> Result<Noted> {
        let Some(value) = value else {
            return Ok(NOTHING);
        };
        let kept = shorten(value).as_bytes();
        let length = (kept.len() as u16).to_le_bytes();
        let offset = self.texts.put(&[&length[..], kept].concat())?;
        Ok([xxh3_64(value.as_bytes()).min(u64::MAX - 1), offset])
    }

    /// Notes the values of documents, counted from the first one of the collection itself.
    fn put(&self, first: u32, values: &[Noted]) -> Result<()> {
        self.index.put(first, values.iter().copied())
    }

    /// Sorts the documents by their values, and counts them by value.
    fn table(self, reading: &Reading<'_>, source: &Source) -> Result<SourceTable> {
        let mut sort = reading.choosing().sort(&self.name)?;
        let choice = &reading.decided.choice;
        let first = choice.first();
        let count = choice.documents() - first;
        self.index.each(count, |document, [hash, offset]| {
            let document = first + document;
            reading.context.tick(STAGE, document)?;
            sort.push(Valued {
                hash,
                document,
                reason: reason(reading, document).map_or(0, |r| r as u32 + 1),
                offset,
            })
        })?;
        let mut ranked = Ranked::new();
        let mut without = Tally::default();
        let sorted = sort.finish()?;
        let count = |first: Valued, all: &mut Group<'_, Valued>| {
            let mut tally = Tally::default();
            while let Some(valued) = all.next()? {
                tally.count((valued.reason as usize).checked_sub(1));
            }
            match first.hash == NOTHING[0] {
                true => without = tally,
                false => ranked.offer(first.document, tally, first.offset),
            }
            Ok(())
        };
        sorted.groups(|valued| valued.hash, count)?;
        ranked.table(Some(source), without, |offset| {
            let mut length = [0; 2];
            self.texts.get(offset, &mut length)?;
            let mut bytes = vec![0; u16::from_le_bytes(length).into()];
            self.texts.get(offset + 2, &mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        })
    }
}
