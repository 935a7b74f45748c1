//! Reads the fields that policies need from the records.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::STAGE;
use super::files::{self, Shared};
use super::order::{Values, ValuesWriter};
use super::places::Places;
use super::policy::{Policy, preference};
use super::write::is_parquet;
use crate::collection::{InputRecord, InputRecords};
use crate::progress::Context;
use crate::read::{Batch, InputFile, ReadConfig, RecordKind, RecordReader, field_of};
use crate::workspace::Workspace;
use crate::{Error, Result};

/// Buffers of a reader.
const READER_BYTES: u64 = 4 << 20;
/// Values that are written at once.
const VALUES_AT_ONCE: usize = 32 << 10;

/// Memory of a thread that reads records one at a time. A buffer that grows has up to half more
/// than it holds.
pub(super) fn memory_of_reader(config: &ReadConfig) -> u64 {
    let record = config.max_document.0;
    record.saturating_add(record / 2 + READER_BYTES)
}

/// For each policy that reads a field, the preference of every document by it. The inputs are read
/// once for all of them, or not at all, with `memory` for all threads together.
pub(super) fn read(
    (workspace, inputs, places): (&Workspace, &[InputFile], &Places),
    policies: &[Policy],
    config: &ReadConfig,
    (scratch, memory): (&Path, u64),
    context: &Context<'_>,
) -> Result<Vec<Option<Values>>> {
    let writers = policies.iter().enumerate().map(|(at, policy)| {
        let path = scratch.join(format!("values-{at}"));
        policy.field().map(|_| Values::create(path)).transpose()
    });
    let writers = writers.collect::<Result<Vec<_>>>()?;
    if writers.iter().all(Option::is_none) {
        return Ok(policies.iter().map(|_| None).collect());
    }
    let fields = Fields {
        policies,
        config,
        columns: policies
            .iter()
            .zip(&writers)
            .map(|(policy, writer)| policy.field().zip(writer.as_ref()))
            .collect(),
        found: policies.iter().map(|_| AtomicBool::new(false)).collect(),
    };
    let memory = Shared::new(memory);
    files::each(
        "fields",
        (workspace, inputs),
        context,
        |file, input, entries| {
            let documents = places.documents(file);
            if documents.is_empty() {
                return Ok(());
            }
            let _memory = memory.take(memory_of_reader(config));
            fields.read(file, input, (entries, documents.start), context)
        },
    )?;
    for (policy, found) in policies.iter().zip(&fields.found) {
        if let (Some(field), false) = (policy.field(), found.load(Ordering::Relaxed)) {
            return Err(Error::BadParameter {
                name: "keep",
                given: policy.to_string(),
                limit: format!("no record has a field {field} with a string or a number"),
            });
        }
    }
    let finished = writers.into_iter();
    Ok(finished
        .map(|writer| writer.map(ValuesWriter::finish))
        .collect())
}

/// What is read of the records.
struct Fields<'f> {
    policies: &'f [Policy],
    config: &'f ReadConfig,
    /// By policy, if it reads a field: that field, and where its values go.
    columns: Vec<Option<(&'f str, &'f ValuesWriter)>>,
    /// By policy: whether a record has its field.
    found: Vec<AtomicBool>,
}

impl Fields<'_> {
    /// Reads one file, whose first document has the number `first`.
    fn read(
        &self,
        file: u32,
        input: &InputFile,
        (entries, mut first): (&mut InputRecords<'_>, u32),
        context: &Context<'_>,
    ) -> Result<()> {
        input.check_path()?;
        let mut readers = Readers::open(input, file, (self.policies, self.config), context)?;
        let mut values = vec![Vec::new(); self.columns.len()];
        let mut held = 0;
        while let Some(entry) = entries.next_of(file)? {
            let InputRecord::Document(_, document) = entry else {
                continue;
            };
            loop {
                context.stop.check(STAGE)?;
                if !readers.advance(input)? {
                    return Err(changed(input));
                }
                if readers.offset() == Some(document.offset) {
                    break;
                }
            }
            for (at, (policy, values)) in self.policies.iter().zip(&mut values).enumerate() {
                if let (Some((field, _)), Some(found)) = (self.columns[at], self.found.get(at)) {
                    let value = readers.value(at, field);
                    found.fetch_or(value.is_some(), Ordering::Relaxed);
                    values.push(preference(policy, value.as_deref()));
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

    /// Writes the values of the documents from number `first` on.
    fn put(&self, first: u32, values: &mut [Vec<u64>]) -> Result<()> {
        for (column, values) in self.columns.iter().zip(values) {
            if let Some((_, writer)) = column {
                writer.put(first, values)?;
            }
            values.clear();
        }
        Ok(())
    }
}

/// Reads the records of a file, one at a time.
struct Readers {
    /// One reader; of a Parquet file one for each policy, with the policy's column in place of the
    /// URL. All give the same rows.
    readers: Vec<(RecordReader, Batch)>,
    is_parquet: bool,
}

impl Readers {
    fn open(
        input: &InputFile,
        file: u32,
        (policies, config): (&[Policy], &ReadConfig),
        context: &Context<'_>,
    ) -> Result<Readers> {
        let open = |config: &ReadConfig| {
            let reader = RecordReader::open(input, file, config, context.stop);
            (reader, Batch::default())
        };
        let is_parquet = is_parquet(&input.path)?;
        let readers = match is_parquet {
            false => vec![open(config)],
            true => policies
                .iter()
                .map(|policy| {
                    open(&ReadConfig {
                        url_field: policy.field().map(Into::into),
                        ..config.clone()
                    })
                })
                .collect(),
        };
        Ok(Readers {
            readers,
            is_parquet,
        })
    }

    /// Reads the next record; `false` at the end.
    fn advance(&mut self, input: &InputFile) -> Result<bool> {
        let mut more = true;
        for (reader, batch) in &mut self.readers {
            batch.clear();
            more &= reader.next_into(batch);
            if let Some(error) = reader.failure() {
                return Err(error).map_err(Error::io("read", &input.path));
            }
        }
        Ok(more)
    }

    fn offset(&self) -> Option<u64> {
        let (_, batch) = self.readers.first()?;
        batch.records.first().map(|record| record.source.offset)
    }

    /// The value of the field of policy number `policy`.
    fn value(&self, policy: usize, field: &str) -> Option<String> {
        let (_, batch) = self.readers.get(if self.is_parquet { policy } else { 0 })?;
        let record = batch.records.first()?;
        match &record.kind {
            RecordKind::Row(row) => row.url.clone(),
            kind => field_of(kind, batch.bytes.get(record.bytes.clone())?, field),
        }
    }
}

fn changed(input: &InputFile) -> Error {
    Error::InputChanged {
        path: input.path.clone(),
        expected: "the documents that were read from it".into(),
        found: "other records".into(),
    }
}
