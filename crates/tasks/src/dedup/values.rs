//! Reads fields of the records, such as those that policies need.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Choosing;
use super::places::Places;
use super::policy::{Policy, preference};
use lookalike_base::Result;
use lookalike_base::error::refuse;
use lookalike_base::memory::Credit;
use lookalike_base::numbers::{count, counted};
use lookalike_base::threads::{lock, unlocked};
use lookalike_engine::collection::{InputRecord, InputRecords};
use lookalike_rewrite::again::Again;
use lookalike_store::Rows;
use lookalike_text::read::{InputFile, ReadConfig, RecordReader};

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
    let values = policies.iter().map(|policy| {
        let field = policy.field();
        field.map(|_| Rows::create(choosing.scratch)).transpose()
    });
    let preferences = Preferences {
        policies,
        values: values.collect::<Result<_>>()?,
        found: policies.iter().map(|_| FoundValue::default()).collect(),
        seen: policies.iter().map(|_| Mutex::default()).collect(),
    };
    let columns = policies
        .iter()
        .map(|policy| policy.field().map(Part::Field));
    let columns: Vec<Option<Part<'_>>> = columns.collect();
    fields(choosing, places, &columns, &preferences)?;
    for (policy, found) in policies.iter().zip(&preferences.found) {
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
    }
    for (policy, seen) in policies.iter().zip(preferences.seen) {
        let seen = unlocked(seen);
        if let Some(line) = seen.warning(policy) {
            choosing.context.progress.note(&line);
        }
    }
    Ok(preferences.values)
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
        let named = named.map(|(value, n)| format!("{value} ({})", count(**n)));
        let named = named.collect::<Vec<_>>().join(", ");
        Some(format!("{none}; its most frequent values: {named}"))
    }
}

/// What was found in the field of a policy.
#[derive(Default)]
struct FoundValue {
    /// Values that can be read, and others.
    read: AtomicU64,
    unread: AtomicU64,
    /// The least of the others, which depends on no thread.
    least: Mutex<String>,
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

/// Turns the fields of records into preferences.
struct Preferences<'p> {
    policies: &'p [Policy],
    /// By policy, if it reads a field: where the preferences go.
    values: Vec<Option<Rows<2>>>,
    /// By policy: what its field has.
    found: Vec<FoundValue>,
    /// By policy, if it prefers values: what its field has.
    seen: Vec<Mutex<Seen>>,
}

impl FieldSink for Preferences<'_> {
    type Value = u128;

    fn value(&self, column: usize, text: Option<&str>) -> Result<u128> {
        let (policy, found) = (&self.policies[column], &self.found[column]);
        let read = preference(policy, text);
        let value = read.unwrap_or(u128::MAX);
        if let Some(text) = text {
            match read {
                Some(_) => _ = found.read.fetch_add(1, Ordering::Relaxed),
                None => found.unread(text),
            }
            if let Policy::Prefer { .. } = policy {
                lock(&self.seen[column]).count(text, value);
            }
        }
        Ok(value)
    }

    fn put(&self, column: usize, first: u32, values: &[u128]) -> Result<()> {
        let halves = values.iter();
        let halves = halves.map(|&value| [(value >> 64) as u64, value as u64]);
        match &self.values[column] {
            Some(rows) => rows.put(first, halves),
            None => Ok(()),
        }
    }
}

/// What is read of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'p> {
    /// The field with this name.
    Field(&'p str),
    /// The date.
    Date,
}

/// Takes the fields of records. Several threads call it at the same time.
pub trait FieldSink: Sync {
    /// What is kept of a field, until [`FieldSink::put`] takes it.
    type Value;
    /// The value of the field of a column, if the record has it.
    fn value(&self, column: usize, text: Option<&str>) -> Result<Self::Value>;
    /// Takes the values of consecutive documents from number `first` on.
    fn put(&self, column: usize, first: u32, values: &[Self::Value]) -> Result<()>;
}

/// Reads a field of every document for each column that names one. The inputs are read once for all
/// columns, or not at all, with `memory` for all threads together.
pub(crate) fn fields<S: FieldSink>(
    choosing: Choosing<'_>,
    places: &Places,
    columns: &[Option<Part<'_>>],
    sink: &S,
) -> Result<()> {
    if columns.iter().all(Option::is_none) {
        return Ok(());
    }
    let fields = Fields {
        columns,
        choosing,
        sink,
    };
    let memory = Credit::new(choosing.memory);
    choosing.each_file("fields", |file, input, entries| {
        let documents = places.documents(file);
        if documents.is_empty() {
            return Ok(());
        }
        let _memory = memory.hold(memory_of_reader(choosing.read()));
        fields.read(file, input, entries, documents.start)
    })
}

/// What is read of the records.
struct Fields<'f, S> {
    columns: &'f [Option<Part<'f>>],
    choosing: Choosing<'f>,
    sink: &'f S,
}

impl<S: FieldSink> Fields<'_, S> {
    /// Reads one file, whose first document has the number `first`.
    fn read(
        &self,
        file: u32,
        input: &InputFile,
        entries: &mut InputRecords<'_>,
        mut first: u32,
    ) -> Result<()> {
        input.check_path()?;
        let named = self.columns.iter().filter_map(|part| match part {
            Some(Part::Field(field)) => Some((*field).to_string()),
            _ => None,
        });
        // A row of Parquet has only the fields that are asked for.
        let config = ReadConfig {
            fields: named.collect(),
            ..self.choosing.read().clone()
        };
        let mut reader = Again::open(input, file, &config, self.choosing.context.stop);
        let mut values: Vec<Vec<S::Value>> = self.columns.iter().map(|_| Vec::new()).collect();
        let mut held = 0;
        while let Some(entry) = entries.next_of(file)? {
            let InputRecord::Document(_, document) = entry else {
                continue;
            };
            reader.seek(document.offset)?;
            for (at, (part, values)) in self.columns.iter().zip(&mut values).enumerate() {
                if let Some(part) = part {
                    let value = reader.record().and_then(|(record, bytes)| match part {
                        Part::Field(field) => record.kind.field(bytes, field),
                        Part::Date => record.kind.date(bytes),
                    });
                    values.push(self.sink.value(at, value.as_deref())?);
                }
            }
            held += 1;
            if held as usize == VALUES_AT_ONCE {
                self.put(first, &mut values)?;
                first += held;
                held = 0;
            }
        }
        self.put(first, &mut values)
    }

    /// Hands over the values of the documents from number `first` on.
    fn put(&self, first: u32, values: &mut [Vec<S::Value>]) -> Result<()> {
        for (column, values) in values.iter_mut().enumerate() {
            if !values.is_empty() {
                self.sink.put(column, first, values)?;
            }
            values.clear();
        }
        Ok(())
    }
}
