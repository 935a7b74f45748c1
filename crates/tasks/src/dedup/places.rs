//! Where each document is in the inputs.

use std::path::Path;

use super::STAGE;
use lookalike_base::progress::Context;
use lookalike_base::{Error, Result};
use lookalike_engine::collection::{InputRecord, InputRecords};
use lookalike_store::workspace::Workspace;

/// The file and the number of each document's record.
pub struct Places {
    /// The first document at or after the beginning of each file.
    pub starts: Vec<u32>,
    /// By document, the number of its record in its file, from 1. Documents and rejected records
    /// count.
    records: Vec<u32>,
}

impl Places {
    /// Bytes of memory.
    pub fn bytes(documents: u64, files: u64) -> u64 {
        documents * 4 + files * 4
    }

    /// Reads them.
    pub fn read(workspace: &Workspace, files: u32, context: &Context<'_>) -> Result<Places> {
        let mut places = Places {
            starts: Vec::with_capacity(files as usize + 1),
            records: Vec::new(),
        };
        let mut entries = InputRecords::with_others(workspace);
        let (mut file, mut record) = (0, 0);
        while let Some(entry) = entries.next_record()? {
            let its = entry.file();
            if its != file {
                (file, record) = (its, 0);
            }
            record += 1;
            if let InputRecord::Document(number, document) = entry {
                context.tick(STAGE, number)?;
                if document.file >= files {
                    let list = workspace
                        .directory()
                        .join(lookalike_store::workspace::INPUTS_FILE);
                    return Err(missing(&list, document.file, files));
                }
                while places.starts.len() <= document.file as usize {
                    places.starts.push(number);
                }
                places.records.push(record);
            }
        }
        let end = places.records.len() as u32;
        places.starts.resize(files as usize + 1, end);
        Ok(places)
    }

    /// The number of the file of a document.
    pub fn file(&self, document: u32) -> u32 {
        self.starts
            .partition_point(|&start| start <= document)
            .saturating_sub(1) as u32
    }

    /// The number of the record of a document in its file, from 1.
    pub fn record(&self, document: u32) -> u32 {
        self.records[document as usize]
    }

    /// The document of a record of a file.
    pub fn find(&self, file: u32, record: u32) -> Option<u32> {
        let documents = self.documents(file);
        let records = self
            .records
            .get(documents.start as usize..documents.end as usize)?;
        let at = records.binary_search(&record).ok()?;
        Some(documents.start + at as u32)
    }

    /// The documents of a file.
    pub fn documents(&self, file: u32) -> std::ops::Range<u32> {
        self.starts[file as usize]..self.starts[file as usize + 1]
    }
}

fn missing(list: &Path, file: u32, files: u32) -> Error {
    Error::corrupt(list, "number of an input").expected(
        format!("at most {files} inputs"),
        format!("a document of input {file}"),
    )
}
