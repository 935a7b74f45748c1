//! The data that every step of the choice works with.

use std::path::Path;

use lookalike_base::{Context, MOST_SORT_BYTES, Result, budget::ByteSize};
use lookalike_engine::collection::{self, InputRecord, InputRecords};
use lookalike_rewrite::files;
use lookalike_store::{Item, Sort, Workspace};
use lookalike_text::read::{FileRecords, InputFile, ReadConfig, Record, RecordKind};

/// The collection and its inputs, and where and in how much memory a step works.
#[derive(Clone, Copy)]
pub(crate) struct Choosing<'c> {
    pub(super) workspace: &'c Workspace,
    pub(super) inputs: &'c [InputFile],
    pub(super) scratch: &'c Path,
    /// Bytes of memory for all threads together.
    pub(super) memory: u64,
    pub(super) context: &'c Context<'c>,
}

impl<'c> Choosing<'c> {
    /// How the inputs are read.
    pub(super) fn read(self) -> &'c ReadConfig {
        &collection::config(&self.workspace.manifest).read
    }

    /// Begins a sort of this name.
    pub(crate) fn sort<T: Item>(self, name: &str) -> Result<Sort<T>> {
        let memory = ByteSize((self.memory / 2).min(MOST_SORT_BYTES));
        Sort::scratch(&self.scratch.join(name), memory)
    }

    /// Calls `act` for every input, with the records that the collection has of it
    /// ([`InputRecords::next_of`]). Several threads call it.
    pub(super) fn each_file(
        self,
        name: &'static str,
        act: impl Fn(u32, &InputFile, &mut InputRecords<'c>) -> Result<()> + Sync,
    ) -> Result<()> {
        // The files before belong to another collection, which is not written.
        let first = collection::against(&self.workspace.manifest).files;
        let open = |file| InputRecords::of_file(self.workspace, file);
        files::each(name, (self.inputs, first), open, act, self.context)
    }
}

/// Passes the records of a file on, each with its entry in the collection if it has one. `take`
/// returns whether a document still is one.
///
/// # Errors
/// `InputChanged` if a document has no record.
pub(crate) fn each_record(
    file: u32,
    records: &mut FileRecords<'_>,
    entries: &mut InputRecords<'_>,
    mut take: impl FnMut(&Record, &[u8], &mut Option<InputRecord>) -> Result<bool>,
) -> Result<()> {
    let mut next = entries.next_of(file)?;
    while let Some((record, bytes)) = records.next_record()? {
        let at = record.source.offset;
        // Only of a rejected file or row there may be no record.
        while let Some(InputRecord::Rejected(reject)) = &next
            && reject.source.offset < at
        {
            next = entries.next_of(file)?;
        }
        let mut entry = next.take_if(|entry| offset(entry) == at);
        if entry.is_some() {
            next = entries.next_of(file)?;
        }
        let mut is_taken = !is_another(record, bytes, &entry) && take(record, bytes, &mut entry)?;
        while !is_taken {
            // A record that turns out to be damaged has the offset of the one after it.
            let (record, bytes) = records.seek(at)?;
            is_taken = !is_another(record, bytes, &entry) && take(record, bytes, &mut entry)?;
        }
    }
    while let Some(InputRecord::Rejected(_)) = next {
        next = entries.next_of(file)?;
    }
    // A document without a record stays the next one. That there is none, `seek` says.
    next.map_or(Ok(()), |entry| records.seek(offset(&entry)).map(drop))
}

/// Whether a record of an archive has another id than the document.
fn is_another(record: &Record, bytes: &[u8], entry: &Option<InputRecord>) -> bool {
    let Some(InputRecord::Document(_, document)) = entry else {
        return false;
    };
    let docno = (record.kind == RecordKind::Warc).then(|| record.kind.docno(bytes));
    docno.flatten().is_some_and(|docno| docno != document.docno)
}

fn offset(entry: &InputRecord) -> u64 {
    match entry {
        InputRecord::Document(_, document) => document.offset,
        InputRecord::Rejected(reject) => reject.source.offset,
    }
}
