//! The records of the inputs, documents and rejected ones, in input order.

use super::Extent;
use super::documents::{DocumentReader, DocumentRecord, DocumentView, RejectReader};
use super::records::{self, Cursor, SegmentEntry};
use lookalike_base::Result;
use lookalike_base::bits::Bits;
use lookalike_store::workspace::Workspace;
use lookalike_text::read::{Reason, Reject};

/// A record of an input: a document, or a rejected one.
pub enum InputRecord {
    /// A document and its number.
    Document(u32, Box<DocumentRecord>),
    /// A record that is not used.
    Rejected(Reject),
}

/// Reads the documents and the rejected records of a collection in the order of the input.
pub struct InputRecords<'w> {
    workspace: &'w Workspace,
    segments: std::slice::Iter<'w, SegmentEntry>,
    documents: Option<DocumentReader>,
    rejects: Option<RejectReader>,
    next_document: Option<DocumentRecord>,
    next_reject: Option<Reject>,
    number: u32,
}

impl<'w> InputRecords<'w> {
    /// All records of the collection's own documents.
    pub fn all(workspace: &'w Workspace) -> InputRecords<'w> {
        // The segments of a method's directory do not say where reading continues.
        let first = records::against(&workspace.manifest).segments;
        InputRecords::from_segment(workspace, first as usize)
    }

    /// All records, including the records of another collection with which the own documents are
    /// compared.
    pub fn with_others(workspace: &'w Workspace) -> InputRecords<'w> {
        InputRecords::from_segment(workspace, 0)
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
            self.next_reject = next_unused(rejects)?;
        }
        Ok(())
    }

    /// The file of the next entry, and whether it is a reject; `None` at the end.
    fn peek(&mut self) -> Result<Option<(u32, bool)>> {
        loop {
            let document = self.next_document.as_ref();
            let document = document.map(|document| (document.file, document.offset));
            let reject = self.next_reject.as_ref();
            let reject = reject.map(|reject| (reject.source.file, reject.source.offset));
            match (document, reject) {
                (Some(document), Some(reject)) if reject < document => {
                    return Ok(Some((reject.0, true)));
                }
                (Some((file, _)), _) => return Ok(Some((file, false))),
                (None, Some((file, _))) => return Ok(Some((file, true))),
                (None, None) => {
                    if !self.open_segment()? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// The next entry; `None` at the end.
    pub fn next_record(&mut self) -> Result<Option<InputRecord>> {
        match self.peek()? {
            None => Ok(None),
            Some((_, true)) => {
                let reject = self.next_reject.take();
                self.advance_reject()?;
                Ok(reject.map(InputRecord::Rejected))
            }
            Some((_, false)) => {
                let document = self.next_document.take();
                self.advance_document()?;
                let number = self.number;
                self.number += 1;
                Ok(document.map(|document| InputRecord::Document(number, Box::new(document))))
            }
        }
    }

    /// The next entry of a file; `None` after its last one. It skips the entries of earlier files,
    /// so a caller can read several files in their order.
    pub fn next_of(&mut self, file: u32) -> Result<Option<InputRecord>> {
        while let Some((its, _)) = self.peek()? {
            if its > file {
                return Ok(None);
            }
            let entry = self.next_record()?;
            if its == file {
                return Ok(entry);
            }
        }
        Ok(None)
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
        let (documents, rejects) = open_segment(self.workspace, segment)?;
        (self.documents, self.rejects) = (Some(documents), Some(rejects));
        self.advance_document()?;
        self.advance_reject()?;
        Ok(true)
    }
}

/// Calls `each` with every own document of the collection, in order: its number, the number of its
/// record in its file, and the document. The records of a file are numbered from 1. Documents and
/// rejected records count, and records that are skipped (a request in a web archive) do not.
pub fn each_place(
    workspace: &Workspace,
    each: impl FnMut(u32, u64, DocumentView<'_>) -> Result<()>,
) -> Result<()> {
    // The segments of a method's directory do not say where reading continues.
    let first = records::against(&workspace.manifest).segments;
    each_place_from(workspace, first as usize, each)
}

/// The same ([`each_place`]), with the documents of another collection with which the own documents
/// are compared.
pub fn each_place_with_others(
    workspace: &Workspace,
    each: impl FnMut(u32, u64, DocumentView<'_>) -> Result<()>,
) -> Result<()> {
    each_place_from(workspace, 0, each)
}

fn each_place_from(
    workspace: &Workspace,
    first: usize,
    mut each: impl FnMut(u32, u64, DocumentView<'_>) -> Result<()>,
) -> Result<()> {
    let segments = records::segments(&workspace.manifest);
    let (mut file, mut record) = (0, 0);
    let mut count = |of: u32| {
        if of != file {
            (file, record) = (of, 0);
        }
        record += 1;
        record
    };
    for segment in segments.get(first..).unwrap_or_default() {
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
                    return Ok(Some((reject.source.file, reject.source.offset)));
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
    let place = |reject: Reject| (reject.source.file, reject.source.offset);
    Ok(next_unused(rejects)?.map(place))
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
    let documents = DocumentReader::of(workspace, segment)?;
    Ok((documents, RejectReader::of(workspace, segment)?))
}
