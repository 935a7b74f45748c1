//! Answers queries from the index of a collection.

use lookalike_base::{Criterion, Key, Measure, Result, limits};
use lookalike_engine::collection::{self, SetBlock, SetFile, TextDigest};
use lookalike_engine::index::{Facts, Index, IndexSearcher, IndexedDocuments, Lists, key_of};
use lookalike_store::Workspace;
use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;

use super::{Compared, QueryConfig};

/// Descriptors that are left to others when the files of sets are kept open.
const OTHER_FILES: u64 = 64;

/// A query without its keys.
pub(super) struct Asked {
    pub docno: String,
    pub words: u64,
    pub md5: [u8; 16],
    pub text: TextDigest,
    pub keys: u64,
}

/// The index of a collection, and its sets.
pub(super) struct Indexed<'a> {
    workspace: &'a Workspace,
    pub index: Index,
    pub documents: IndexedDocuments,
    count: u64,
    /// The files of sets that were needed so far, if all of them may be open.
    files: Vec<OnceLock<SetFile>>,
}

impl<'a> Indexed<'a> {
    /// Opens the index of a collection; `None` if it has none.
    pub(super) fn open<K: Key>(
        workspace: &'a Workspace,
        config: &QueryConfig,
    ) -> Result<Option<Indexed<'a>>> {
        // A document that contains the query may have its fingerprints anywhere.
        let pairs = config.inside().is_none().then_some(config.criterion);
        let (Some(index), Some(documents)) = (
            Index::open::<K>(workspace, pairs)?,
            IndexedDocuments::open(workspace)?,
        ) else {
            return Ok(None);
        };
        let segments = collection::segments(&workspace.manifest).len();
        let room = (segments as u64) < limits::files_left(OTHER_FILES);
        let mut files = Vec::new();
        files.resize_with(if room { segments } else { 0 }, OnceLock::new);
        Ok(Some(Indexed {
            workspace,
            index,
            count: documents.len(),
            documents,
            files,
        }))
    }

    /// Reads a document's set.
    fn set<K: Key>(&self, document: u32, facts: &Facts, state: &mut SetBuffers) -> Result<()> {
        let (at, segment) = collection::segment_of(self.workspace, document)?;
        let open = || SetFile::open::<K>(self.workspace, segment);
        let bytes = u64::from(facts.keys) * K::BYTES as u64;
        let range = facts.set..facts.set.saturating_add(bytes);
        if state.block.0 != at {
            state.block = (at, SetBlock::default());
        }
        let (block, set) = (&mut state.block.1, &mut state.set);
        match self.files.get(at) {
            Some(file) => {
                let file = match file.get() {
                    Some(file) => file,
                    None => {
                        let opened = open()?;
                        file.get_or_init(|| opened)
                    }
                };
                file.read(range, block, set)
            }
            None => open()?.read(range, block, set),
        }
    }
}

/// The least number n of a query's keys such that every document to be listed has one of any n
/// keys.
pub(super) fn prefix(config: &QueryConfig, keys: u64, words: u64) -> u64 {
    let Criterion { measure, .. } = config.criterion;
    let most = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let size = if measure.of_words() { words } else { keys };
    let alike = config.criterion.prefix(most(keys), most(size));
    let shared = (config.inside()).map(|whole| whole.least_shared(keys, keys).min(keys));
    let inside = shared.map_or(0, |shared| keys + 1 - shared);
    // A document that is identical has all keys.
    u64::from(alike).max(inside).max(1).min(keys)
}

/// The least number of shared keys with which a document of `size` keys may be listed; `None` if it
/// cannot be.
fn least(config: &QueryConfig, keys: u64, size: u64) -> Option<u64> {
    let criterion = config.criterion;
    let common = keys.min(size);
    if criterion.measure.of_words() || matches!(criterion.measure, Measure::Smallest(_)) {
        return Some(1);
    }
    let alike = criterion
        .reached(common, keys, size)
        .then(|| criterion.least_shared(keys, size));
    let whole = config.inside();
    let inside = whole.map(|whole| whole.least_shared(keys, keys));
    // Identical documents have the same keys.
    let exact = (keys == size).then_some(keys);
    let least = [alike, inside.filter(|&least| least <= common), exact];
    least.into_iter().flatten().min().map(|least| least.max(1))
}

/// Buffers of a set.
#[derive(Default)]
struct SetBuffers {
    /// Of a segment.
    block: (usize, SetBlock),
    set: Vec<u8>,
}

/// A thread that answers queries from the index.
pub(super) struct Looker<'a> {
    indexed: &'a Indexed<'a>,
    search: IndexSearcher,
    state: SetBuffers,
}

impl<'a> Looker<'a> {
    /// Bytes of memory of a thread: blocks of the index and of sets, and a bit for each document.
    pub(super) fn bytes(documents: u64) -> u64 {
        IndexSearcher::bytes(documents) + (1 << 20)
    }

    pub(super) fn new(indexed: &'a Indexed<'a>) -> Looker<'a> {
        Looker {
            indexed,
            search: IndexSearcher::default(),
            state: SetBuffers::default(),
        }
    }

    /// The lists of keys of several queries.
    pub(super) fn read<K: Key>(&mut self, keys: &[K]) -> Result<Lists> {
        self.search.read_lists(&self.indexed.index, keys)
    }

    /// Calls `each` with the documents that may be listed, in order, and their facts. `set` has the
    /// query's keys; `lists` those that are already read of the first of them.
    pub(super) fn query<K: Key>(
        &mut self,
        config: &QueryConfig,
        asked: &Asked,
        set: &[u8],
        lists: (&Lists, Range<usize>),
        mut each: impl FnMut(Compared<'_>, &Facts) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let indexed = self.indexed;
        let search = &mut self.search;
        match (asked.keys, asked.words) {
            (0, 0) => return Ok(()),
            (0, _) => {
                let key = key_of::<K>(asked.md5);
                search.all_of(&indexed.index, indexed.count, key)?;
            }
            (keys, words) => {
                let prefix = prefix(config, keys, words);
                search.find_in::<K>(&indexed.index, lists, indexed.count, set, prefix)?;
            }
        }
        let state = &mut self.state;
        search.each(|document| {
            let facts = indexed.documents.get(document)?;
            let size = facts.keys.into();
            let shared = match (asked.keys, least(config, asked.keys, size)) {
                (0, _) if size == 0 => 0,
                (0, _) | (_, None) => return Ok(ControlFlow::Continue(())),
                (_, Some(least)) => {
                    indexed.set::<K>(document, &facts, state)?;
                    match K::shared_le(set, &state.set, least) {
                        Some(shared) => shared,
                        None => return Ok(ControlFlow::Continue(())),
                    }
                }
            };
            let compared = Compared {
                number: document,
                md5: facts.md5,
                text: facts.text,
                words: facts.words,
                keys: size,
                set: &state.set,
                shared,
            };
            each(compared, &facts)
        })
    }
}
