//! Reads the fields that policies need from the records.

use std::path::Path;

use super::STAGE;
use super::order::Values;
use super::places::{Entries, Entry};
use super::policy::{Policy, preference};
use crate::progress::Context;
use crate::read::{Batch, InputFile, ReadConfig, RecordReader, field_of};
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
    let mut batch = Batch::default();
    for (file, input) in inputs.iter().enumerate() {
        let file = file as u32;
        if wanted.file() != Some(file) {
            continue;
        }
        input.check_path()?;
        let mut reader = RecordReader::open(input, file, config, context.stop);
        while wanted.file() == Some(file) {
            context.stop.check(STAGE)?;
            batch.clear();
            let more = reader.next_into(&mut batch);
            if let Some(error) = reader.failure() {
                return Err(error).map_err(Error::io("read", &input.path));
            }
            if !more {
                return Err(changed(input));
            }
            for record in &batch.records {
                if wanted.place() != Some((file, record.source.offset)) {
                    continue;
                }
                let bytes = batch.bytes.get(record.bytes.clone()).unwrap_or_default();
                for (policy, writer) in policies.iter().zip(&mut writers) {
                    if let (Some(field), Some(writer)) = (policy.field(), writer) {
                        let value = field_of(&record.kind, bytes, field);
                        writer.put(preference(policy, value.as_deref()))?;
                    }
                }
                wanted.advance()?;
            }
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

fn changed(input: &InputFile) -> Error {
    Error::InputChanged {
        path: input.path.clone(),
        expected: "the documents that were read from it".into(),
        found: "other records".into(),
    }
}

/// The places of the documents, in order.
struct Documents<'w> {
    entries: Entries<'w>,
    next: Option<(u32, u64)>,
}

impl<'w> Documents<'w> {
    fn new(workspace: &'w Workspace) -> Result<Self> {
        let mut documents = Documents {
            entries: Entries::all(workspace),
            next: None,
        };
        documents.advance()?;
        Ok(documents)
    }

    fn advance(&mut self) -> Result<()> {
        self.next = None;
        while let Some(entry) = self.entries.next()? {
            if let Entry::Document(_, document) = entry {
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
