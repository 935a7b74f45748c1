//! The report of a search.

use std::collections::{BTreeMap, BTreeSet};

use bincode::{Decode, Encode};
use serde::Serialize;

use lookalike_base::{Error, Memory, Result, Threshold};
use lookalike_engine::cluster::reject_line;
use lookalike_text::read::Reject;

/// Bytes of memory for each line that is kept, besides its text.
const LINE_BYTES: u64 = 64;

/// The shares of an item whose items are counted.
pub(super) const LEVELS: [(u64, u64); 4] = [(3, 10), (1, 2), (4, 5), (1, 1)];

/// The treatment of the fields of a test set's items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FieldCounts {
    /// Fields whose n-grams are all looked for.
    pub long: u64,
    /// Fields with fewer tokens than an n-gram, which are matched in full.
    pub short: u64,
    /// Fields with fewer tokens than `--least`, which are not looked for.
    pub left_out: u64,
    /// Fields without tokens.
    pub empty: u64,
    /// Fields that the record does not have, or that are not text.
    pub missing: u64,
}

impl FieldCounts {
    /// Fields that were read.
    pub(super) fn found(&self) -> u64 {
        self.long + self.short + self.left_out + self.empty
    }
}

/// Items with at least a certain share of covered tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CoverLevel {
    /// The share of the item's tokens.
    pub share: Threshold,
    /// Items with this share in one document.
    pub by_one_document: u64,
    /// Items with this share in all documents together.
    pub by_all_documents: u64,
}

/// The report of a test set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SetReport {
    /// Its name: the path of its file, as short as tells it apart.
    pub name: String,
    /// Records with at least one of the fields.
    pub items: u64,
    /// Items with a field that is looked for.
    pub searched: u64,
    /// Items that share a run with a document.
    pub found: u64,
    /// Counts of covered items, by share.
    pub levels: Vec<CoverLevel>,
    /// The treatment of the fields of the items.
    pub fields: FieldCounts,
    /// Records that are not items, by reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// The first of these, in a line.
    #[serde(skip)]
    pub first: Option<String>,
    /// Warnings about items, and the first one, in a line.
    #[serde(skip)]
    pub(super) warned: (u64, Option<String>),
    /// The listed rejected records and warnings: the place of each, and its line. A file is read
    /// once for each field, and says the same each time.
    #[serde(skip)]
    pub(super) lines: BTreeSet<(u64, String)>,
    #[serde(skip)]
    path: String,
}

impl SetReport {
    pub(super) fn new(name: &str, path: &str) -> SetReport {
        SetReport {
            name: name.into(),
            path: path.into(),
            ..SetReport::default()
        }
    }

    /// Keeps a line of `rejects.jsonl`, if there is memory for it. Returns whether it is new.
    fn keep(&mut self, reject: &Reject, kept: bool, memory: &mut Memory) -> bool {
        let line = reject_line(&self.path, reject, kept);
        let bytes = line.len() as u64 + LINE_BYTES;
        let line = (reject.source.offset, line);
        !self.lines.contains(&line) && (!memory.take(bytes) || self.lines.insert(line))
    }

    /// Adds a warning about an item.
    pub(super) fn warn(&mut self, warning: &Reject, memory: &mut Memory) {
        let name = &self.name;
        self.warned.1.get_or_insert_with(|| warning.line(name));
        self.warned.0 += u64::from(self.keep(warning, true, memory));
    }

    /// Adds a rejected record, and with `memory` also keeps its line.
    pub(super) fn reject(&mut self, file: &str, reject: &Reject, memory: Option<&mut Memory>) {
        *self.rejected.entry(reject.reason.text()).or_default() += 1;
        self.first.get_or_insert_with(|| reject.line(file));
        if let Some(memory) = memory {
            self.keep(reject, false, memory);
        }
    }
}

/// Counts of the corpus. `records` = `documents` + rejected + skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CorpusReport {
    /// Input files.
    pub files: u64,
    /// Records read.
    pub records: u64,
    /// Documents searched.
    pub documents: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Records that are not documents, by reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// Records that are not meant to be documents, by kind.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Documents with a run of some item.
    pub found: u64,
    /// Documents that cover at least `drop_at` of some item.
    pub to_drop: u64,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContaminationReport {
    /// The least number of tokens of a run.
    pub ngram: u32,
    /// The least number of tokens of a field that is looked for.
    pub least: u32,
    /// The names of the fields; none if the reader chose them.
    pub fields: Vec<String>,
    /// The share of an item from which on a document is to be dropped.
    pub drop_at: Threshold,
    /// Counts of the corpus.
    pub corpus: CorpusReport,
    /// Counts of each test set.
    pub test_sets: Vec<SetReport>,
    /// Warnings about files of the corpus from which no document was read.
    #[serde(skip)]
    pub unread: Vec<String>,
    /// The items of which one document has the most, if a page shows them.
    #[serde(skip)]
    pub shown: Vec<ShownItem>,
    /// The first rejected record of the corpus, in a line.
    #[serde(skip)]
    pub(super) first_reject: Option<String>,
}

impl ContaminationReport {
    /// Refuses rejected records of the corpus and of the test sets.
    ///
    /// # Errors
    /// `Rejected`.
    pub fn check_strict(&self) -> Result<()> {
        let sets = self.test_sets.iter().map(|set| &set.rejected);
        let all = sets.chain([&self.corpus.rejected]);
        let count = all.flat_map(|reasons| reasons.values()).sum();
        let of_sets = || self.test_sets.iter().find_map(|set| set.first.clone());
        let first = || self.first_reject.clone().or_else(of_sets);
        match count {
            0 => Ok(()),
            _ => Err(Error::Rejected {
                count,
                first: first().unwrap_or_default(),
            }),
        }
    }
}

/// An item that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownItem {
    /// The name of its test set, and its own.
    pub set: String,
    pub id: String,
    /// Its tokens that are looked for, and those that all documents together cover.
    pub tokens: u32,
    pub covered: u32,
    /// The number of its documents.
    pub documents: u64,
    /// The first of them.
    pub listed: Vec<ListedDocument>,
}

/// A document in which an item was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedDocument {
    /// The name of its file, and the number of its record there.
    pub file: String,
    pub record: u64,
    /// The tokens of the item that it covers.
    pub covered: u32,
    /// The texts around the runs.
    pub texts: ShownTexts,
}

/// A document, and its texts around the runs of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct ShownTexts {
    /// Its own name.
    pub docno: String,
    /// Its address.
    pub url: Option<String>,
    /// The date of a capture.
    pub date: Option<String>,
    /// The texts, in the order of the item.
    pub windows: Vec<ShownWindow>,
    /// Windows that are left out.
    pub more: usize,
}

/// The texts of an item and of a document around runs.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ShownWindow {
    /// The name of the field.
    pub field: String,
    /// Of the item, and of the document.
    pub texts: [String; 2],
}

impl ShownTexts {
    /// Removes the windows that do not fit into the rest of the page.
    pub(super) fn limit(&mut self, room: &mut usize) {
        let all = self.windows.len();
        self.windows.retain(|window| {
            let bytes: usize = window.texts.iter().map(String::len).sum();
            let left = room.checked_sub(bytes);
            *room = left.unwrap_or(*room);
            left.is_some()
        });
        self.more += all - self.windows.len();
    }
}
