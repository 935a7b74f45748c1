//! Where each document is in the inputs.

use std::path::Path;

use super::STAGE;
use crate::collection::{self, DocumentReader, DocumentRecord, RejectReader, SegmentEntry};
use crate::progress::Context;
use crate::read::Reject;
use crate::workspace::Workspace;
use crate::{Error, Result};

/// A record of an input: a document, or a rejected one.
pub(super) enum Entry {
    Document(u32, Box<DocumentRecord>),
    Rejected(Reject),
}

/// Reads the documents and the rejected records of a collection in the order of the input.
pub(super) struct Entries<'w> {
    workspace: &'w Workspace,
    segments: std::slice::Iter<'w, SegmentEntry>,
    documents: Option<DocumentReader>,
    rejects: Option<RejectReader>,
    next_document: Option<DocumentRecord>,
    next_reject: Option<Reject>,
    number: u32,
}

impl<'w> Entries<'w> {
    /// All entries.
    pub fn all(workspace: &'w Workspace) -> Entries<'w> {
        Entries::from(workspace, 0)
    }

    /// The entries from the beginning of the segment that contains a document.
    pub fn from(workspace: &'w Workspace, document: u32) -> Entries<'w> {
        let segments = collection::segments(&workspace.manifest);
        let after = segments.partition_point(|segment| segment.first_document <= document);
        // A segment without documents has the number of the next one's first document. Its rejects
        // may belong to the same file.
        let mut first = after.saturating_sub(1);
        while first > 0 && segments[first - 1].next.file >= segments[first].next.file {
            first -= 1;
        }
        Entries {
            workspace,
            segments: segments[first..].iter(),
            documents: None,
            rejects: None,
            next_document: None,
            next_reject: None,
            number: segments
                .get(first)
                .map_or(0, |segment| segment.first_document),
        }
    }

    fn advance_document(&mut self) -> Result<()> {
        self.next_document = match &mut self.documents {
            Some(documents) => documents.next()?,
            None => None,
        };
        Ok(())
    }

    fn advance_reject(&mut self) -> Result<()> {
        self.next_reject = None;
        if let Some(rejects) = &mut self.rejects {
            while let Some((reject, used)) = rejects.next()? {
                if !used {
                    self.next_reject = Some(reject);
                    break;
                }
            }
        }
        Ok(())
    }

    /// The next entry; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Entry>> {
        loop {
            let reject_first = match (&self.next_document, &self.next_reject) {
                (None, None) => {
                    if !self.open_segment()? {
                        return Ok(None);
                    }
                    continue;
                }
                (Some(_), None) => false,
                (None, Some(_)) => true,
                (Some(document), Some(reject)) => {
                    (reject.source.file, reject.source.offset) < (document.file, document.offset)
                }
            };
            if reject_first {
                let reject = self.next_reject.take();
                self.advance_reject()?;
                return Ok(reject.map(Entry::Rejected));
            }
            let document = self.next_document.take();
            self.advance_document()?;
            let number = self.number;
            self.number += 1;
            return Ok(document.map(|document| Entry::Document(number, Box::new(document))));
        }
    }

    /// Opens the next segment, if there is one.
    fn open_segment(&mut self) -> Result<bool> {
        if let Some(documents) = self.documents.take() {
            documents.finish()?;
        }
        if let Some(rejects) = self.rejects.take() {
            rejects.finish()?;
        }
        let Some(segment) = self.segments.next() else {
            return Ok(false);
        };
        let directory = self.workspace.path("collection");
        let parameters = Some(self.workspace.collection_parameters());
        let open = |name: &str| directory.join(name);
        let (documents, rejects) = (&segment.documents, &segment.rejects);
        self.documents = Some(DocumentReader::open(
            &open(&documents.name),
            parameters,
            Some(documents),
        )?);
        self.rejects = Some(RejectReader::open(
            &open(&rejects.name),
            parameters,
            Some(rejects),
        )?);
        self.advance_document()?;
        self.advance_reject()?;
        Ok(true)
    }
}

/// The file and the number of each document's record.
pub(super) struct Places {
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
        let mut entries = Entries::all(workspace);
        let (mut file, mut record) = (0, 0);
        while let Some(entry) = entries.next()? {
            let its = match &entry {
                Entry::Document(_, document) => document.file,
                Entry::Rejected(reject) => reject.source.file,
            };
            if its != file {
                (file, record) = (its, 0);
            }
            record += 1;
            if let Entry::Document(number, document) = entry {
                if number.is_multiple_of(4096) {
                    context.stop.check(STAGE)?;
                }
                if document.file >= files {
                    let list = workspace.directory().join(crate::workspace::INPUTS_FILE);
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

    /// The documents of a file.
    pub fn documents(&self, file: u32) -> std::ops::Range<u32> {
        self.starts[file as usize]..self.starts[file as usize + 1]
    }
}

fn missing(list: &Path, file: u32, files: u32) -> Error {
    Error::Corrupt {
        path: list.into(),
        offset_bytes: None,
        what: "number of an input".into(),
        expected: format!("at most {files} inputs"),
        found: format!("a document of input {file}"),
    }
}
