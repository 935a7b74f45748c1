//! What every step of the choice works with.

use std::path::Path;

use lookalike_base::Result;
use lookalike_base::budget::ByteSize;
use lookalike_base::memory::MOST_SORT_BYTES;
use lookalike_base::progress::Context;
use lookalike_engine::collection::{self, InputRecords};
use lookalike_rewrite::files;
use lookalike_store::workspace::Workspace;
use lookalike_store::{Item, Sort};
use lookalike_text::read::{InputFile, ReadConfig};

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
