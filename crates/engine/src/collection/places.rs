//! The records of the inputs, documents and rejected ones, in input order.

use super::Extent;
use super::documents::{DocumentReader, DocumentRecord, DocumentView, RejectReader};
use super::records::{self, Cursor, SegmentEntry};
use lookalike_base::{Bits, Result};
use lookalike_store::Workspace;
use lookalike_text::read::{Reason, Reject};

/// A record of an input: a document, or a rejected one.
pub enum InputRecord {
    /// A document and its number.
    Document(u32, Box<DocumentRecord>),
    /// A record that is not used.
    Rejected(Reject),
}

impl InputRecord {
    /// The number of its file.
    pub fn file(&self) -> u32 {
        match self {
            InputRecord::Document(_, document) => document.file,
            InputRecord::Rejected(reject) => reject.source.file,
        }
    }
}

/// Reads the documents and the rejected records of a collection in the order of the input.
pub struct InputRecords<'w> {
    workspace: &'w Workspace,
    segments: std::slice::Iter<'w, SegmentEntry>,
    open: Option<(DocumentReader, RejectReader)>,
    document: Option<DocumentRecord>,
    reject: Option<Reject>,
    /// The number of the next document.
    number: u32,
    /// An entry of a later file than [`InputRecords::next_of`] was asked for.
    held: Option<InputRecord>,
}

impl<'w> InputRecords<'w> {
    /// All records of the collection's own documents.
    pub fn all(workspace: &'w Workspace) -> InputRecords<'w> {
        // The segments of a method's directory do not say where reading continues.
        let first = records::against(&workspace.manifest).segments;
        InputRecords::from_segment(workspace, first as usize)
    }

    /// The records from the beginning of the first segment that has records of a file.
    pub fn of_file(workspace: &'w Workspace, file: u32) -> InputRecords<'w> {
        let segments = records::segments(&workspace.manifest);
        let begin = Cursor::of_file(file);
        let first = segments.partition_point(|segment| segment.next <= begin);
        InputRecords::from_segment(workspace, first)
    }

    fn from_segment(workspace: &'w Workspace, first: usize) -> InputRecords<'w> {
        let segments = records::segments(&workspace.manifest);
        InputRecords {
            workspace,
            segments: segments.get(first..).unwrap_or_default().iter(),
            open: None,
            document: None,
            reject: None,
            number: segments
                .get(first)
                .map_or(0, |segment| segment.first_document),
            held: None,
        }
    }

    /// The next entry; `None` at the end.
    pub fn next_record(&mut self) -> Result<Option<InputRecord>> {
        if let Some(held) = self.held.take() {
            return Ok(Some(held));
        }
        loop {
            if let Some((documents, rejects)) = &mut self.open {
                if self.document.is_none() {
                    self.document = documents.next()?;
                }
                if self.reject.is_none() {
                    self.reject = next_unused(rejects)?;
                }
            }
            let of_document = self.document.as_ref().map(|of| (of.file, of.offset));
            let is_before = |reject: &Reject| of_document.is_none_or(|at| place_of(reject) < at);
            if self.reject.as_ref().is_some_and(is_before) {
                return Ok(self.reject.take().map(InputRecord::Rejected));
            }
            if let Some(document) = self.document.take() {
                self.number += 1;
                let number = self.number - 1;
                return Ok(Some(InputRecord::Document(number, Box::new(document))));
            }
            if let Some((documents, rejects)) = self.open.take() {
                documents.finish()?;
                rejects.finish()?;
            }
            let Some(segment) = self.segments.next() else {
                return Ok(None);
            };
            self.open = Some(open_segment(self.workspace, segment)?);
        }
    }

    /// The next entry of a file; `None` after its last one. It skips the entries of earlier files,
    /// so a caller can read several files in their order.
    pub fn next_of(&mut self, file: u32) -> Result<Option<InputRecord>> {
        while let Some(entry) = self.next_record()? {
            if entry.file() == file {
                return Ok(Some(entry));
            }
            if entry.file() > file {
                self.held = Some(entry);
                break;
            }
        }
        Ok(None)
    }
}

/// Calls `each` with every own document of the collection, in order: its number, the number of its
/// record in its file, and the document. The records of a file are numbered from 1. Documents and
/// rejected records count, and records that are skipped (a request in a web archive) do not.
pub fn each_place(
    workspace: &Workspace,
    each: impl FnMut(u32, u64, DocumentView<'_>) -> Result<()>,
) -> Result<()> {
    each_place_of(workspace, records::own_segments(&workspace.manifest), each)
}

/// The same ([`each_place`]), with the documents of another collection with which the own documents
/// are compared.
pub fn each_place_with_others(
    workspace: &Workspace,
    each: impl FnMut(u32, u64, DocumentView<'_>) -> Result<()>,
) -> Result<()> {
    each_place_of(workspace, records::segments(&workspace.manifest), each)
}

fn each_place_of(
    workspace: &Workspace,
    segments: &[SegmentEntry],
    mut each: impl FnMut(u32, u64, DocumentView<'_>) -> Result<()>,
) -> Result<()> {
    let (mut file, mut record) = (0, 0);
    let mut count = |of: u32| {
        if of != file {
            (file, record) = (of, 0);
        }
        record += 1;
        record
    };
    for segment in segments {
        let (mut documents, mut rejects) = open_segment(workspace, segment)?;
        let mut reject = next_place(&mut rejects)?;
        let mut number = segment.first_document;
        while let Some(document) = documents.view()? {
            while let Some(of) = reject.filter(|at| *at < (document.file, document.offset)) {
                count(of.0);
                reject = next_place(&mut rejects)?;
            }
            each(number, count(document.file), document)?;
            number += 1;
        }
        while let Some((of, _)) = reject {
            count(of);
            reject = next_place(&mut rejects)?;
        }
        documents.finish()?;
        rejects.finish()?;
    }
    Ok(())
}

/// The documents whose records are damaged ([`Reject::is_damage`]), including documents of another
/// collection; `None` if there are none.
pub fn damaged(workspace: &Workspace) -> Result<Option<Bits>> {
    let reasons = [
        Reason::WrongLength,
        Reason::BadChunks,
        Reason::BadContentEncoding,
    ];
    let segments = records::segments(&workspace.manifest).iter();
    let has = |segment: &&SegmentEntry| {
        let noticed = &segment.stats.noticed;
        reasons
            .iter()
            .any(|reason| noticed.contains_key(reason.text()))
    };
    let documents = Extent::of(segments.clone()).documents;
    let mut found: Option<Bits> = None;
    for segment in segments.filter(has) {
        let (mut documents_of, mut rejects) = open_segment(workspace, segment)?;
        let mut next = move || -> Result<Option<(u32, u64)>> {
            while let Some((reject, used)) = rejects.next_reject()? {
                if used && reject.is_damage() {
                    return Ok(Some(place_of(&reject)));
                }
            }
            Ok(None)
        };
        let (mut number, mut warned) = (segment.first_document, next()?);
        while let Some(document) = documents_of.view()? {
            let place = (document.file, document.offset);
            // A record that is not a document may also have a warning.
            while warned.is_some_and(|warned| warned < place) {
                warned = next()?;
            }
            if warned == Some(place) {
                let found = found.get_or_insert_with(|| Bits::new(documents as usize));
                found.insert(number);
            }
            number += 1;
        }
    }
    Ok(found)
}

/// File and offset of the next record that is not used.
fn next_place(rejects: &mut RejectReader) -> Result<Option<(u32, u64)>> {
    Ok(next_unused(rejects)?.as_ref().map(place_of))
}

fn place_of(reject: &Reject) -> (u32, u64) {
    (reject.source.file, reject.source.offset)
}

/// The next record that is not used.
fn next_unused(rejects: &mut RejectReader) -> Result<Option<Reject>> {
    while let Some((reject, used)) = rejects.next_reject()? {
        if !used {
            return Ok(Some(reject));
        }
    }
    Ok(None)
}

/// Calls `each` with the first reject of every own file that has rejected records and no document,
/// in the order of the files.
pub fn each_unread(
    workspace: &Workspace,
    mut each: impl FnMut(Reject) -> Result<()>,
) -> Result<()> {
    // The last file, if its records so far are all rejected; or the last one that has a document.
    let (mut unread, mut read): (Option<Reject>, Option<u32>) = (None, None);
    for segment in records::own_segments(&workspace.manifest) {
        let cut = Cursor::of_file(segment.next.file) < segment.next;
        if unread.is_some() || !segment.stats.rejected.is_empty() {
            let (mut documents, mut rejects) = open_segment(workspace, segment)?;
            let mut file = documents.view()?.map(|document| document.file);
            if file.is_some() && file == unread.as_ref().map(|reject| reject.source.file) {
                (unread, read) = (None, file);
            }
            while let Some(reject) = next_unused(&mut rejects)? {
                let its = Some(reject.source.file);
                if read == its || unread.as_ref().map(|reject| reject.source.file) == its {
                    continue;
                }
                unread.take().map_or(Ok(()), &mut each)?;
                while file.is_some() && file < its {
                    file = documents.view()?.map(|document| document.file);
                }
                match file == its {
                    true => read = its,
                    false => unread = Some(reject),
                }
            }
        }
        let next = segment.next.file;
        let is_unread = unread
            .as_ref()
            .is_some_and(|reject| reject.source.file == next);
        if cut && segment.stats.documents > 0 && !is_unread {
            // A document of the segment is probably in the file that it ends in.
            read = Some(next);
        }
    }
    unread.map_or(Ok(()), each)
}

/// Opens the documents and the rejects of a segment.
fn open_segment(
    workspace: &Workspace,
    segment: &SegmentEntry,
) -> Result<(DocumentReader, RejectReader)> {
    let documents = DocumentReader::of(workspace.places(), segment)?;
    Ok((documents, RejectReader::of(workspace.places(), segment)?))
}
