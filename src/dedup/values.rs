//! Reads the fields that policies need from the records.

use std::path::Path;

use super::STAGE;
use super::order::Values;
use super::policy::{Policy, preference};
use super::write::is_parquet;
use crate::collection::{InputRecord, InputRecords};
use crate::progress::Context;
use crate::read::{Batch, InputFile, ReadConfig, RecordKind, RecordReader, field_of};
use crate::workspace::Workspace;
use crate::{Error, Result};

/// For each policy that reads a field, the preference of every document by it. The inputs are read
/// once for all of them, or not at all.
pub(super) fn read(
    workspace: &Workspace,
    policies: &[Policy],
    inputs: &[InputFile],
    config: &ReadConfig,
    scratch: &Path,
    context: &Context<'_>,
) -> Result<Vec<Option<Values>>> {
    let writers = policies.iter().enumerate().map(|(at, policy)| {
        let path = scratch.join(format!("values-{at}"));
        policy.field().map(|_| Values::create(path)).transpose()
    });
    let mut writers = writers.collect::<Result<Vec<_>>>()?;
    if writers.iter().all(Option::is_none) {
        return Ok(policies.iter().map(|_| None).collect());
    }
    let mut wanted = Documents::new(workspace)?;
    let mut found = vec![false; policies.len()];
    for (file, input) in inputs.iter().enumerate() {
        let file = file as u32;
        if wanted.file() != Some(file) {
            continue;
        }
        input.check_path()?;
        let mut readers = Readers::open(input, file, (policies, config), context)?;
        while wanted.file() == Some(file) {
            context.stop.check(STAGE)?;
            if !readers.advance(input)? {
                return Err(changed(input));
            }
            if readers.offset() != wanted.place().map(|(_, offset)| offset) {
                continue;
            }
            let with_fields = policies
                .iter()
                .zip(&mut writers)
                .zip(&mut found)
                .enumerate();
            for (at, ((policy, writer), found)) in with_fields {
                if let (Some(field), Some(writer)) = (policy.field(), writer) {
                    let value = readers.value(at, field);
                    *found |= value.is_some();
                    writer.put(preference(policy, value.as_deref()))?;
                }
            }
            wanted.advance()?;
        }
    }
    for (policy, found) in policies.iter().zip(&found) {
        if let (Some(field), false) = (policy.field(), found) {
            return Err(Error::BadParameter {
                name: "keep",
                given: policy.to_string(),
                limit: format!("no record has a field {field} with a string or a number"),
            });
        }
    }
    match wanted.file() {
        Some(file) => Err(inputs
            .get(file as usize)
            .map_or_else(|| Error::NoInput { paths: Vec::new() }, changed)),
        None => writers
            .into_iter()
            .map(|writer| writer.map(|writer| writer.finish()).transpose())
            .collect(),
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

/// The places of the documents, in order.
struct Documents<'w> {
    entries: InputRecords<'w>,
    next: Option<(u32, u64)>,
}

impl<'w> Documents<'w> {
    fn new(workspace: &'w Workspace) -> Result<Self> {
        let mut documents = Documents {
            entries: InputRecords::all(workspace),
            next: None,
        };
        documents.advance()?;
        Ok(documents)
    }

    fn advance(&mut self) -> Result<()> {
        self.next = None;
        while let Some(entry) = self.entries.next()? {
            if let InputRecord::Document(_, document) = entry {
                self.next = Some((document.file, document.offset));
                break;
            }
        }
        Ok(())
    }

    fn place(&self) -> Option<(u32, u64)> {
        self.next
    }

    fn file(&self) -> Option<u32> {
        self.next.map(|(file, _)| file)
    }
}
