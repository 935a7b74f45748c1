//! The pairs of documents that share the most words, with their passages, from the result files.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;

use super::{MATCHES_FILE, OVERLAPS_FILE, REUSE_FILE, STAGE};
use lookalike_base::least::Least;
use lookalike_base::progress::Context;
use lookalike_base::words::words;
use lookalike_base::{Error, Result};
use lookalike_engine::join::PairsEntry;
use lookalike_engine::table::Table;
use lookalike_store::disk;
use lookalike_store::workspace::Workspace;
use lookalike_text::read::lines::{parsed, shorten};

/// Limit on the passages of a pair.
const MOST_PASSAGES: usize = 200;

/// The least bytes of a row of either file.
const LEAST_ROW_BYTES: u64 = 30;
/// Bytes of memory for a pair without its passages, and for a passage.
const PAIR_BYTES: u64 = 512;
const PASSAGE_BYTES: u64 = 40;

/// The pairs that share the most words.
#[derive(Debug, Default)]
pub struct Shared {
    /// The least length of a passage, as the files state it.
    pub length: String,
    /// The most words in a gap of a passage, the least length of the runs between gaps, and their
    /// share, as the files state them; none without gaps.
    pub gaps: Option<[String; 3]>,
    /// Whether words of excluded texts are in no passage.
    pub excluding: bool,
    /// The condition that all pairs of the list meet.
    pub condition: Option<String>,
    /// All pairs, including those that are not in the list.
    pub all: u64,
    /// The pairs with the most shared words, in falling order.
    pub pairs: Vec<SharedPair>,
}

/// Two documents that share passages.
#[derive(Debug)]
pub struct SharedPair {
    /// The documents, in the order of their dates or else of the input.
    pub documents: [u32; 2],
    /// Their names.
    pub names: [String; 2],
    /// By document: its words that the other one also has.
    pub words: [u64; 2],
    /// By document: the share of its words.
    pub shares: [f64; 2],
    /// Passages in all; `None` if there are too many for a list.
    pub all: Option<u64>,
    /// The longest passages, in the order of the first document.
    pub passages: Vec<SharedPassage>,
}

/// A passage of two documents, in words. With gaps, it has fewer words than its documents there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedPassage {
    /// By document: where it begins.
    pub begins: [usize; 2],
    /// By document: where it ends.
    pub ends: [usize; 2],
    pub words: usize,
}

/// Whether the page of a directory shows passages: it has no pairs of near-duplicates, and the pairs
/// of a search for passages.
pub fn shows_passages(workspace: &Workspace) -> Result<bool> {
    let is_there = |name| disk::exists(&workspace.directory().join(name));
    let other = workspace.manifest.has::<PairsEntry>();
    let listed = is_there(MATCHES_FILE)? || is_there(REUSE_FILE)?;
    Ok(!other && is_there(OVERLAPS_FILE)? && listed)
}

/// Bytes of memory for a list of at most `most` pairs.
///
/// # Errors
/// `Io`.
pub fn list_bytes(directory: &Path, most: usize) -> Result<u64> {
    let size = |name| {
        let path = directory.join(name);
        match disk::exists(&path)? {
            true => Ok(disk::metadata(&path)
                .map_err(Error::io("inspect", &path))?
                .size()),
            false => Ok(0),
        }
    };
    let pairs = (size(OVERLAPS_FILE)? / LEAST_ROW_BYTES).min(most as u64);
    // A row of a file has at least half of the bytes that its passage takes here.
    let rows = size(MATCHES_FILE)? + size(REUSE_FILE)?;
    let passages = (pairs * MOST_PASSAGES as u64 * PASSAGE_BYTES).min(2 * rows);
    Ok(pairs * PAIR_BYTES + passages)
}

/// Reads the pairs that share the most words, at most `most`, with their passages.
///
/// # Errors
/// `BadLine`, `Io`.
pub fn most_shared(directory: &Path, most: usize, context: &Context<'_>) -> Result<Shared> {
    let mut shared = ranked(directory, most, context)?;
    let pairs = shared.pairs.iter();
    let mut longest: HashMap<_, _> = pairs
        .map(|pair| (pair.documents, Least::new(MOST_PASSAGES)))
        .collect();
    let mut row = Vec::new();
    let (file, more) = match shared.gaps {
        Some(_) => (REUSE_FILE, " end_a end_b"),
        None => (MATCHES_FILE, " begin_a begin_b"),
    };
    let mut table = Table::open(&directory.join(file))?;
    let names = "document_a document_b begin_a begin_b tokens".to_string() + more;
    table.want_names(&names.split(' ').collect::<Vec<_>>())?;
    while table.next(&mut row)? {
        context.tick(STAGE, table.number())?;
        let [a, b, begin_a, begin_b, words, end_a, end_b] = cells(&table, &row)?;
        let more = if file == REUSE_FILE { 0 } else { words };
        if let Some(longest) = longest.get_mut(&[a as u32, b as u32]) {
            longest.offer((
                Reverse(words),
                begin_a,
                begin_b,
                end_a.saturating_add(more),
                end_b.saturating_add(more),
            ));
        }
    }
    for pair in &mut shared.pairs {
        let found = longest.remove(&pair.documents).map(Least::sorted);
        let passages = found
            .into_iter()
            .flatten()
            .map(|(Reverse(words), a, b, end_a, end_b)| SharedPassage {
                begins: [a as usize, b as usize],
                ends: [end_a as usize, end_b as usize],
                words: words as usize,
            });
        pair.passages = passages.collect();
        pair.passages.sort_unstable();
    }
    Ok(shared)
}

/// As [`most_shared`], without their passages, which may be many more lines.
///
/// # Errors
/// As there.
pub fn ranked(directory: &Path, most: usize, context: &Context<'_>) -> Result<Shared> {
    let mut table = Table::open(&directory.join(OVERLAPS_FILE))?;
    table.want_names(&words::<9>(
        "tokens_a tokens_b document_a document_b share_a share_b matches docno_a docno_b",
    ))?;
    let length = table.comment("length").unwrap_or_default().to_string();
    let stated = |name| table.comment(name).map(String::from);
    let gaps = match ["gap", "match-length", "density"].map(stated) {
        [Some(gap), Some(length), Some(density)] => Some([gap, length, density]),
        _ => None,
    };
    let (mut shared, mut largest) = (
        Shared {
            length,
            gaps,
            excluding: table.comment("exclude-text").is_some(),
            condition: table.comment("where").map(String::from),
            ..Shared::default()
        },
        Least::new(most),
    );
    let mut row = Vec::new();
    while table.next(&mut row)? {
        context.tick(STAGE, table.number())?;
        shared.all += 1;
        let [words_a, words_b, a, b] = cells(&table, &row)?;
        largest.offer((
            Reverse(words_a.max(words_b)),
            a,
            b,
            [words_a, words_b],
            row[4..].to_vec(),
        ));
    }
    for (_, a, b, words, rest) in largest.sorted() {
        shared.pairs.push(SharedPair {
            documents: [a as u32, b as u32],
            names: [&rest[3], &rest[4]].map(|name| String::from_utf8_lossy(name).into_owned()),
            words,
            shares: [&rest[0], &rest[1]].map(|share| parsed(share).unwrap_or_default()),
            all: parsed(&rest[2]),
            passages: Vec::new(),
        });
    }
    Ok(shared)
}

/// The numbers in the first cells of a row.
fn cells<const N: usize>(table: &Table, row: &[Vec<u8>]) -> Result<[u64; N]> {
    let mut numbers = [0; N];
    for (number, cell) in numbers.iter_mut().zip(row) {
        *number = parsed(cell).ok_or_else(|| table.bad("a number", shorten(cell)))?;
    }
    Ok(numbers)
}
