//! Where each document is in the inputs.

use super::STAGE;
use lookalike_base::{Context, Error, Result};
use lookalike_engine::collection::each_place_with_others;
use lookalike_store::{INPUTS_FILE, Workspace};

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
        each_place_with_others(workspace, |number, record, document| {
            context.tick(STAGE, number)?;
            if document.file >= files {
                let list = workspace.directory().join(INPUTS_FILE);
                let expected = format!("at most {files} inputs");
                let found = format!("a document of input {}", document.file);
                return Err(Error::corrupt(list, "number of an input").expected(expected, found));
            }
            while places.starts.len() <= document.file as usize {
                places.starts.push(number);
            }
            places.records.push(record as u32);
            Ok(())
        })?;
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
