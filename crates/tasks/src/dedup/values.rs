//! Reads fields of the records, such as those that policies need.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::places::Places;
use super::policy::{Policy, preference};
use super::{Choosing, STAGE};
use lookalike_base::{
    Context, Credit, Error, Result, Silent, count, counted, listed, lock, refuse,
};
use lookalike_engine::collection::InputRecord;
use lookalike_store::Rows;
use lookalike_text::read::{FileRecords, ReadConfig, RecordReader};

/// Buffers of a reader.
const READER_BYTES: u64 = 4 << 20;
/// Values that are written at once.
const VALUES_AT_ONCE: usize = 32 << 10;

/// Memory of a thread that reads records one at a time. A buffer that grows has up to half more
/// than it holds.
pub(crate) fn memory_of_reader(config: &ReadConfig) -> u64 {
    let record = config.max_document.0;
    record.saturating_add(record / 2 + READER_BYTES)
}

/// For each policy that reads a field, the preference of every document by it. The inputs are read
/// once for all of them, or not at all, with `memory` for all threads together.
pub(super) fn preferences(
    choosing: Choosing<'_>,
    places: &Places,
    policies: &[Policy],
) -> Result<Vec<Option<Rows<2>>>> {
    let all: Vec<FoundValue> = policies.iter().map(|_| FoundValue::default()).collect();
    let columns = policies
        .iter()
        .map(|policy| policy.field().map(Part::Field));
    let columns: Vec<Option<Part<'_>>> = columns.collect();
    let values = fields(choosing, places, &columns, |column, text| {
        let (policy, found) = (&policies[column], &all[column]);
        let read = preference(policy, text);
        let value = read.unwrap_or(u128::MAX);
        if let Some(text) = text {
            match read {
                Some(_) => {
                    found.read.fetch_add(1, Ordering::Relaxed);
                    let kind = 1 << u8::from(text.trim().parse::<f64>().is_ok());
                    let kind = if value < u128::MAX { kind } else { 0 };
                    found.kinds.fetch_or(kind, Ordering::Relaxed);
                }
                None => found.unread(text),
            }
            if let Policy::Prefer { .. } = policy {
                lock(&found.seen).count(text, value);
            }
        }
        Ok([(value >> 64) as u64, value as u64])
    })?;
    for (policy, found) in policies.iter().zip(&all) {
        let Some(field) = policy.field() else {
            continue;
        };
        let [read, unread] = [&found.read, &found.unread].map(|n| n.load(Ordering::Relaxed));
        let least = lock(&found.least);
        let what = match policy {
            Policy::Newest(_) | Policy::Oldest(_) => "date",
            _ => "number or date",
        };
        match (read, unread) {
            (0, 0) => {
                let limit = RecordReader::no_such_field(field, choosing.inputs, choosing.read());
                return refuse("keep", policy, limit);
            }
            (_, 0) => {}
            (0, _) => {
                let why = format!(
                    "no value of {field} is a {what} that can be read, such as 2024-01-31; it has \
                     {:?}",
                    &*least
                );
                return refuse("keep", policy, why);
            }
            (_, unread) => choosing.context.progress.lost(&format!(
                "warning: --keep {policy}: {unread} of {} cannot be read as a {what}, such as \
                 {:?}; their documents come last",
                counted(read + unread, "value"),
                &*least
            )),
        }
        let numbers = matches!(policy, Policy::Max(_) | Policy::Min(_));
        if numbers && found.kinds.load(Ordering::Relaxed) == 3 {
            choosing.context.progress.lost(&format!(
                "warning: --keep {policy}: {field} has numbers and dates, which count as seconds; \
                 give newest:{field} or oldest:{field} to read both as dates"
            ));
        }
    }
    for (policy, found) in policies.iter().zip(&all) {
        if let Some(line) = lock(&found.seen).warning(policy) {
            choosing.context.progress.note(&line);
        }
    }
    Ok(values)
}

/// The values of a field that have been seen.
#[derive(Default)]
struct Seen {
    /// The number of records by value, for at most [`MOST_VALUES`].
    counts: BTreeMap<String, u64>,
    /// Whether the field has more values.
    more: bool,
    /// Wanted values that have been seen, by their places in the policy.
    wanted: BTreeSet<u128>,
}

/// The most values of a field that are counted, the most bytes of one, and the most that a warning
/// names.
const MOST_VALUES: usize = 1000;
const MOST_VALUE_BYTES: usize = 100;
const VALUES_NAMED: usize = 5;

impl Seen {
    /// Counts a value, and its place in the policy.
    fn count(&mut self, text: &str, place: u128) {
        if place < u128::MAX {
            self.wanted.insert(place);
        }
        if let Some(count) = self.counts.get_mut(text) {
            *count += 1;
        } else if self.counts.len() < MOST_VALUES && text.len() <= MOST_VALUE_BYTES {
            self.counts.insert(text.into(), 1);
        } else {
            self.more = true;
        }
    }

    /// A warning about values of a policy that no record has, with those that are most frequent.
    fn warning(&self, policy: &Policy) -> Option<String> {
        let Policy::Prefer { field, values } = policy else {
            return None;
        };
        let missing = values.iter().zip(0..);
        let missing = missing.filter(|(_, place)| !self.wanted.contains(place));
        let missing: Vec<&str> = missing.map(|(value, _)| value.as_str()).collect();
        if missing.is_empty() {
            return None;
        }
        let none = format!(
            "warning: --keep {policy}: no record has {} in {field}",
            missing.join(" or ")
        );
        if self.more {
            // Which values were counted depends on the order of the threads.
            return Some(format!("{none}, which has many other values"));
        }
        let mut counts: Vec<_> = self.counts.iter().collect();
        counts.sort_by_key(|(value, count)| (Reverse(**count), *value));
        let named = counts.iter().take(VALUES_NAMED);
        let named = listed(", ", named, |(value, n)| {
            format!("{value} ({})", count(**n))
        });
        Some(format!("{none}; its most frequent values: {named}"))
    }
}

/// The values that were found in the field of a policy.
#[derive(Default)]
struct FoundValue {
    /// Values that can be read, and others.
    read: AtomicU64,
    unread: AtomicU64,
    /// Bit 0: some are dates. Bit 1: some are numbers.
    kinds: AtomicU8,
    /// The least of the others, which depends on no thread.
    least: Mutex<String>,
    /// The values of the field, if the policy prefers values.
    seen: Mutex<Seen>,
}

impl FoundValue {
    fn unread(&self, text: &str) {
        /// Characters of a value in a message.
        const SHOWN: usize = 64;
        let mut least = lock(&self.least);
        if self.unread.fetch_add(1, Ordering::Relaxed) == 0 || text < least.as_str() {
            *least = text.chars().take(SHOWN).collect();
        }
    }
}

/// The part of a record that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'p> {
    /// The field with this name.
    Field(&'p str),
    /// The date.
    Date,
    /// The address of the document, for which no record is read again.
    Address,
}

/// Two numbers of each document that stand for a field; of no field none.
type FieldValues = Option<Rows<2>>;

/// Reads a field of every document for each column that names one. The inputs are read once for all
/// columns, or not at all, with `memory` for all threads together. Several threads ask for the
/// `value` of a column, by the content of the field, if the record has it.
pub(crate) fn fields(
    choosing: Choosing<'_>,
    places: &Places,
    columns: &[Option<Part<'_>>],
    value: impl Fn(usize, Option<&str>) -> Result<[u64; 2]> + Sync,
) -> Result<Vec<FieldValues>> {
    let rows = columns.iter().map(|part| {
        let rows = part.map(|_| Rows::create(choosing.scratch));
        rows.transpose()
    });
    let rows = rows.collect::<Result<Vec<FieldValues>>>()?;
    if columns.iter().all(Option::is_none) {
        return Ok(rows);
    }
    let put = |first: u32, values: &mut [Vec<[u64; 2]>]| {
        for (rows, values) in rows.iter().zip(values) {
            if let Some(rows) = rows {
                rows.put(first, values.drain(..))?;
            }
        }
        Ok::<_, Error>(())
    };
    let named = columns.iter().filter_map(|part| match part {
        Some(Part::Field(field)) => Some((*field).to_string()),
        _ => None,
    });
    // A row of Parquet has only the fields that are asked for.
    let config = ReadConfig {
        fields: named.collect(),
        ..choosing.read().clone()
    };
    let is_read = |part: &Part<'_>| *part != Part::Address;
    let is_read = columns.iter().flatten().any(is_read);
    let memory = Credit::new(choosing.memory);
    // The collection has the addresses, and reading them there is too short for a step of its own.
    let silent = Context {
        progress: &Silent,
        ..*choosing.context
    };
    let mut choosing = choosing;
    if !is_read {
        choosing.context = &silent;
    }
    choosing.each_file("fields", |file, input, entries| {
        let documents = places.documents(file);
        if documents.is_empty() {
            return Ok(());
        }
        let _memory = is_read.then(|| memory.hold(memory_of_reader(choosing.read())));
        let mut reader = None;
        if is_read {
            input.check_path()?;
            let stop = choosing.context.stop;
            reader = Some(FileRecords::open(input, file, &config, STAGE, stop));
        }
        let mut values = vec![Vec::new(); columns.len()];
        let (mut first, mut next) = (documents.start, documents.start);
        while let Some(entry) = entries.next_of(file)? {
            let InputRecord::Document(_, document) = entry else {
                continue;
            };
            let sought = reader.as_mut().map(|reader| reader.seek(document.offset));
            let record = sought.transpose()?;
            for (at, (part, values)) in columns.iter().zip(&mut values).enumerate() {
                let text = match part {
                    None => continue,
                    Some(Part::Field(field)) => {
                        record.and_then(|(record, bytes)| record.kind.field(bytes, field))
                    }
                    Some(Part::Date) => record.and_then(|(it, bytes)| it.kind.date(bytes)),
                    Some(Part::Address) => document.url.clone(),
                };
                values.push(value(at, text.as_deref())?);
            }
            next += 1;
            if (next - first) as usize == VALUES_AT_ONCE {
                put(first, &mut values)?;
                first = next;
            }
        }
        put(first, &mut values)
    })?;
    Ok(rows)
}
