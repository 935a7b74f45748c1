//! Finds a document by its docno, its place, or the address that its record states.

use crate::collection::{
    self, Catalogue, DocumentReader, DocumentRecord, InputRecord, InputRecords,
};
use lookalike_base::{Context, Error, Result};
use lookalike_store::{InputList, Workspace, table::cell};
use lookalike_text::read::{Reason, page_address};

use super::{Listed, STAGE};

/// A document of a collection.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its number.
    pub number: u32,
    /// The record that the collection stores about it.
    pub record: DocumentRecord,
    /// The name of its file, as in `documents.tsv`.
    pub file: String,
    /// The number of its record in the file; `None` in the directory of a method.
    pub record_number: Option<u64>,
    /// The number of texts that its segment keeps before it.
    pub texts_before: u64,
}

impl Found {
    /// Its name as FILE:RECORD, or its docno if the record is not known.
    pub fn place(&self) -> String {
        match self.record_number {
            Some(record) => format!("{}:{record}", self.file),
            None => self.record.docno.clone(),
        }
    }
}

/// Places of documents with the same docno that an error lists.
const PLACES: usize = 5;
/// Docnos that an error suggests.
const NEAR: usize = 3;
/// How much a suggested docno must resemble the name (Jaro & Winkler 1990).
const NEAR_ENOUGH: f64 = 0.85;
/// Docnos that are compared with an unknown name.
const COMPARED: u32 = 1_000_000;

/// The name by which [`find`] finds a document: its docno, or its place if others have it too.
///
/// # Errors
/// Those of reading.
pub fn name_of(workspace: &Workspace, number: u32, context: &Context<'_>) -> Result<String> {
    let found = located(workspace, number, context)?;
    let docno = &found.record.docno;
    Ok(match find(workspace, docno, context) {
        Ok(other) if other.number == number => docno.clone(),
        Ok(_) | Err(Error::SeveralDocuments { .. }) => found.place(),
        Err(error) => return Err(error),
    })
}

/// Finds a document.
///
/// # Errors
/// `NoDocument`, `SeveralDocuments`; those of reading.
pub fn find(workspace: &Workspace, name: &str, context: &Context<'_>) -> Result<Found> {
    let named = match with_docno(workspace, name, context)? {
        none if none.total == 0 && name.contains("://") => {
            let dated = name.rsplit_once('@').unwrap_or_default();
            match with_address(workspace, (name, ""), context)? {
                none if none.total == 0 && digits(dated.1).is_some_and(|it| !it.is_empty()) => {
                    with_address(workspace, dated, context)?
                }
                named => named,
            }
        }
        named => named,
    };
    match (named.listed.as_slice(), named.total) {
        (&[number], 1) => located(workspace, number, context),
        ([], _) => at_place(workspace, name, context),
        (numbers, all) => {
            let mut places = Vec::new();
            for &number in numbers {
                let found = located(workspace, number, context)?;
                let date = found.record.date.0.as_ref();
                let date = date.map_or(String::new(), |date| format!(" of {}", cell(date)));
                places.push(format!("{}{date}", cell(&found.place())));
            }
            Err(Error::SeveralDocuments {
                path: workspace.directory().into(),
                given: cell(name).into_owned(),
                documents: all,
                places,
            })
        }
    }
}

fn with_docno(workspace: &Workspace, name: &str, context: &Context<'_>) -> Result<Listed<u32>> {
    let mut found = Listed::default();
    // The result files escape some characters of docnos, and people copy docnos from there.
    let escaped = name.contains('\\');
    Catalogue::each_name(workspace, |document, docno| {
        check_now_and_then(document, context)?;
        let same = || escaped && cell(&String::from_utf8_lossy(docno)) == *name;
        if docno == name.as_bytes() || same() {
            found.add(PLACES, document);
        }
        Ok(())
    })?;
    Ok(found)
}

fn check_now_and_then(document: u32, context: &Context<'_>) -> Result<()> {
    match document.is_multiple_of(65536) {
        true => context.stop.check(STAGE),
        false => Ok(()),
    }
}

/// The digits of a date; `None` for another text.
fn digits(date: &str) -> Option<String> {
    let date = date.replace(['-', ':', '.', 'T', 'Z'], "");
    date.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some(date)
}

/// The documents whose records state an address, or else another spelling of it, and a date that
/// begins with the given digits.
fn with_address(
    workspace: &Workspace,
    of: (&str, &str),
    context: &Context<'_>,
) -> Result<Listed<u32>> {
    let (name, date) = of;
    let [mut found, mut same] = [(); 2].map(|()| Listed::default());
    let (address, date) = (page_address(name), digits(date).unwrap_or_default());
    let has_date = |of: Option<&str>| {
        date.is_empty() || digits(of.unwrap_or_default()).is_some_and(|it| it.starts_with(&date))
    };
    collection::each_document(workspace, |number, document| {
        check_now_and_then(number, context)?;
        match document.url {
            Some(url) if url == name && has_date(document.date.0) => found.add(PLACES, number),
            Some(url) if page_address(url) == address && has_date(document.date.0) => {
                same.add(PLACES, number);
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(if found.total > 0 { found } else { same })
}

/// Returns the record of the document with a number, and the number of texts that its segment keeps
/// before it. Reads the segment up to the document.
pub fn stored(workspace: &Workspace, number: u32) -> Result<(DocumentRecord, u64)> {
    let (_, segment) = collection::segment_of(workspace, number)?;
    let mut documents = DocumentReader::of(workspace.places(), segment)?;
    let (mut texts_before, mut at) = (0, segment.first_document);
    while let Some(record) = documents.next()? {
        if at == number {
            return Ok((record, texts_before));
        }
        texts_before += u64::from(record.stored);
        at += 1;
    }
    Err(collection::not_stored(workspace, number))
}

/// The document with a number.
pub(super) fn located(workspace: &Workspace, number: u32, context: &Context<'_>) -> Result<Found> {
    let (record, texts_before) = stored(workspace, number)?;
    let mut inputs = InputList::open(workspace.directory())?;
    let file = inputs.name_of(record.file)?.to_string();
    let mut record_number = None;
    // The directory of a method has no rejected records, so it cannot number the records.
    if workspace.manifest.method.is_none() {
        let is = |_, entry: &_| matches!(entry, InputRecord::Document(its, _) if *its == number);
        let (at, found) = first_record(workspace, record.file, is, context)?;
        record_number = found.map(|_| at);
    }
    Ok(Found {
        number,
        record,
        file,
        record_number,
        texts_before,
    })
}

/// The first record of a file of which this holds, and its number; without one, the number of records.
fn first_record(
    workspace: &Workspace,
    file: u32,
    is: impl Fn(u64, &InputRecord) -> bool,
    context: &Context<'_>,
) -> Result<(u64, Option<InputRecord>)> {
    let mut entries = InputRecords::of_file(workspace, file);
    let mut at = 0;
    while let Some(entry) = entries.next_of(file)? {
        at += 1;
        context.tick(STAGE, at)?;
        if is(at, &entry) {
            return Ok((at, Some(entry)));
        }
    }
    Ok((at, None))
}

/// The document at a place, FILE:RECORD.
fn at_place(workspace: &Workspace, name: &str, context: &Context<'_>) -> Result<Found> {
    let unknown = |reason: Option<String>, near: Vec<String>| Error::NoDocument {
        path: workspace.directory().into(),
        given: cell(name).into_owned(),
        reason,
        near,
    };
    let place = name
        .rsplit_once(':')
        .and_then(|(file, record)| Some((file, record.parse::<u64>().ok()?)));
    let Some((file, wanted)) = place.filter(|_| workspace.manifest.method.is_none()) else {
        return Err(unknown(None, near(workspace, name, context)?));
    };
    let mut inputs = InputList::open(workspace.directory())?;
    let (mut by_name, mut by_path, mut number) = (None, None, 0u32);
    while let Some(entry) = inputs.next()? {
        if by_name.is_none() && (entry.name == file || cell(&entry.name) == file) {
            by_name = Some(number);
        }
        if by_path.is_none() && entry.path == file {
            by_path = Some(number);
        }
        number = number.saturating_add(1);
    }
    let Some(number) = by_name.or(by_path) else {
        let near = near(workspace, name, context)?;
        let reason = format!("no input has the name {}", cell(file));
        return Err(unknown(Some(reason), near));
    };
    let (at, found) = first_record(workspace, number, |at, _| at == wanted, context)?;
    let reason = match found {
        Some(InputRecord::Document(document, _)) => return located(workspace, document, context),
        Some(InputRecord::Rejected(reject)) => {
            let why: Reason = reject.reason;
            format!("record {wanted} was rejected: {}", why.text())
        }
        None => {
            let records = lookalike_base::numbers::counted(at, "record");
            format!("{} has {records}, which count from 1", cell(file))
        }
    };
    Err(unknown(Some(reason), Vec::new()))
}

/// The docnos that resemble a name most.
fn near(workspace: &Workspace, name: &str, context: &Context<'_>) -> Result<Vec<String>> {
    let mut near: Vec<(f64, String)> = Vec::new();
    Catalogue::each_name(workspace, |document, docno| {
        check_now_and_then(document, context)?;
        // The path of an input, whose docno is what follows the given directory.
        let rest = name.as_bytes().strip_suffix(docno);
        let is_path = rest.is_some_and(|rest| rest.ends_with(b"/"));
        // Only names of about the same length: others would take time and hardly be meant.
        let is_far =
            document >= COMPARED || docno.len().abs_diff(name.len()) > 4 || name.len() > 200;
        let docno = String::from_utf8_lossy(docno);
        let alike = match is_path {
            true => f64::INFINITY,
            false if is_far => return Ok(()),
            false => strsim::jaro_winkler(name, &docno),
        };
        let place = near.partition_point(|(other, _)| *other >= alike);
        if alike >= NEAR_ENOUGH && place < NEAR {
            near.insert(place, (alike, cell(&docno).into_owned()));
            near.truncate(NEAR);
        }
        Ok(())
    })?;
    Ok(near.into_iter().map(|(_, docno)| docno).collect())
}
