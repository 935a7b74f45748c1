//! The pairs of documents that share the most words, with their passages, from the result files.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use super::{
    MATCHES_FILE, OVERLAPS_FILE, REUSE_CLUSTERS_FILE, REUSE_FILE, REUSE_PLACES_FILE, STAGE,
};
use lookalike_base::{Context, Least, Result, counted};
use lookalike_engine::join::PairsEntry;
use lookalike_engine::table::Table;
use lookalike_store::{Workspace, disk};
use lookalike_text::read::lines::{parsed, shorten};

/// Limit on the passages of a pair.
const MOST_PASSAGES: usize = 200;

/// The least number of pairs that are read to find pairs that share the same words.
const CANDIDATES: usize = 500;
/// The most names in a sentence.
const NAMES: usize = 8;
/// Limit on the places of a cluster.
const MOST_PLACES: usize = 50;

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
    /// The pairs with the most shared words, in falling order. Pairs that share only words of a
    /// pair before them come after the others.
    pub pairs: Vec<SharedPair>,
    /// Sentences about pairs whose words are also in other documents.
    pub repeated: Vec<String>,
}

/// The places of a text that reuses link.
#[derive(Debug)]
pub struct SharedCluster {
    pub number: u64,
    pub documents: u64,
    /// All places, including those that are not in the list.
    pub all: u64,
    /// The first places in the order of their dates or else of the input, at least one.
    pub places: Vec<SharedPlace>,
}

/// A place of a cluster.
#[derive(Debug)]
pub struct SharedPlace {
    pub document: u32,
    /// Its words in the document.
    pub begin: usize,
    pub end: usize,
    /// The date that the record states, as far as it states one.
    pub date: Option<String>,
    /// The matched words of the strongest reuse by which it belongs to the cluster, and their share.
    pub words: u64,
    pub density: f64,
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

/// Bytes of memory for a list of at most `most` pairs, and for one of clusters.
///
/// # Errors
/// `Io`.
pub fn list_bytes(directory: &Path, most: usize, clusters: usize) -> Result<u64> {
    let size = |name| {
        let path = directory.join(name);
        match disk::exists(&path)? {
            true => disk::size(&path),
            false => Ok(0),
        }
    };
    let pairs = (size(OVERLAPS_FILE)? / LEAST_ROW_BYTES).min(most.max(CANDIDATES) as u64);
    // A row of a file has at least half of the bytes that its passage takes here.
    let rows = size(MATCHES_FILE)? + size(REUSE_FILE)?;
    // Their places twice, by document.
    let passages = (pairs * MOST_PASSAGES as u64 * 3 * PASSAGE_BYTES).min(6 * rows);
    let clusters = (size(REUSE_CLUSTERS_FILE)? / LEAST_ROW_BYTES).min(clusters as u64);
    Ok(pairs * PAIR_BYTES + passages + clusters * MOST_PLACES as u64 * 2 * PASSAGE_BYTES)
}

/// Reads the clusters with the most documents, at most `most`, with their places, and how many
/// clusters there are.
///
/// # Errors
/// `BadLine`, `Io`.
pub fn largest(
    directory: &Path,
    most: usize,
    context: &Context<'_>,
) -> Result<(u64, Vec<SharedCluster>)> {
    let (mut all, mut found) = (0, Least::new(most));
    let table = directory.join(REUSE_CLUSTERS_FILE);
    each_row(&table, "documents places cluster", context, |cells, _| {
        let [documents, places, number] = cells;
        all += 1;
        found.offer((Reverse(documents), Reverse(places), number));
    })?;
    let cluster = |(Reverse(documents), Reverse(all), number)| SharedCluster {
        number,
        documents,
        all,
        places: Vec::new(),
    };
    let mut found: Vec<SharedCluster> = found.sorted().into_iter().map(cluster).collect();
    let at: HashMap<u64, usize> = found.iter().map(|of| of.number).zip(0..).collect();
    let names = "cluster document begin_token end_token tokens density date";
    let table = directory.join(REUSE_PLACES_FILE);
    each_row(&table, names, context, |cells, row| {
        let [cluster, document, begin, end, words] = cells;
        let places = at.get(&cluster).map(|&at| &mut found[at].places);
        let fits = |places: &&mut Vec<SharedPlace>| places.len() < MOST_PLACES && begin < end;
        if let Some(places) = places.filter(fits) {
            let date = String::from_utf8_lossy(&row[6]).into_owned();
            places.push(SharedPlace {
                document: document as u32,
                begin: begin as usize,
                end: end as usize,
                date: Some(date).filter(|date| date != "-"),
                words,
                density: parsed(&row[5]).unwrap_or_default(),
            });
        }
    })?;
    found.retain(|cluster| !cluster.places.is_empty());
    Ok((all, found))
}

/// Reads the pairs that share the most words, at most `most`, with their passages. Without gaps,
/// pairs that share only words of a pair before them come after the others.
///
/// # Errors
/// `BadLine`, `Io`.
pub fn most_shared(directory: &Path, most: usize, context: &Context<'_>) -> Result<Shared> {
    let mut shared = ranked(directory, None, most.max(CANDIDATES), context)?;
    let pairs = shared.pairs.iter();
    let mut longest: HashMap<_, _> = pairs
        .map(|pair| (pair.documents, Least::new(MOST_PASSAGES)))
        .collect();
    let (file, more) = match shared.gaps {
        Some(_) => (REUSE_FILE, " end_a end_b"),
        None => (MATCHES_FILE, " begin_a begin_b"),
    };
    let names = "document_a document_b begin_a begin_b tokens".to_string() + more;
    each_row(&directory.join(file), &names, context, |cells, _| {
        let [a, b, begin_a, begin_b, words, end_a, end_b] = cells;
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
    })?;
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
    if shared.gaps.is_none() {
        shared.repeated_last(most);
    }
    shared.pairs.truncate(most);
    Ok(shared)
}

/// The places of one text: its words in each document that has some of them.
#[derive(Default)]
struct OneText {
    places: HashMap<u32, Vec<Range<usize>>>,
    /// The names of the documents, in the order in which they are found.
    names: Vec<String>,
}

impl OneText {
    /// Whether all passages of a pair lie in it, in one of the documents and so in the other.
    fn has(&self, pair: &SharedPair) -> bool {
        let lie_in = |(n, document): (usize, &u32)| {
            self.places.get(document).is_some_and(|own| {
                let holds = |own: &Range<usize>, of: &SharedPassage| {
                    own.start <= of.begins[n] && of.ends[n] <= own.end
                };
                let lies_in = |of| own.iter().any(|own| holds(own, of));
                pair.passages.iter().all(lies_in)
            })
        };
        let listed = pair.all == Some(pair.passages.len() as u64);
        listed && pair.documents.iter().enumerate().any(lie_in)
    }

    fn add(&mut self, pair: &SharedPair) {
        for (n, document) in pair.documents.iter().enumerate() {
            if !self.places.contains_key(document) {
                self.names.push(pair.names[n].clone());
            }
            let own = self.places.entry(*document).or_default();
            for place in pair.passages.iter().map(|of| of.begins[n]..of.ends[n]) {
                if !own.contains(&place) {
                    own.push(place);
                }
            }
        }
    }
}

impl Shared {
    /// Moves pairs that share only words of a pair before them behind the others, and says of the
    /// first `most` pairs in which other documents their words are.
    fn repeated_last(&mut self, most: usize) {
        let mut texts: Vec<OneText> = Vec::new();
        // The texts of each document.
        let mut of: HashMap<u32, Vec<usize>> = HashMap::new();
        let mut sorted = Vec::new();
        for pair in self.pairs.drain(..) {
            let own = pair.documents.iter().filter_map(|number| of.get(number));
            let mut own = own.flatten().copied();
            let there = own.find(|&at| texts[at].has(&pair));
            let at = there.unwrap_or(texts.len());
            if there.is_none() {
                texts.push(OneText::default());
            }
            texts[at].add(&pair);
            for number in pair.documents {
                let own = of.entry(number).or_default();
                if !own.contains(&at) {
                    own.push(at);
                }
            }
            sorted.push((there.is_some(), pair));
        }
        sorted.sort_by_key(|(is_repeated, _)| *is_repeated);
        self.pairs = sorted.into_iter().map(|(_, pair)| pair).collect();
        for (text, row) in texts.iter().take(most).zip(1..) {
            let others = text.names.get(2..).unwrap_or_default();
            if others.is_empty() {
                continue;
            }
            let more = if others.len() > NAMES { ", ..." } else { "" };
            let listed = others[..others.len().min(NAMES)].join(", ");
            let others = counted(others.len() as u64, "other document");
            let line = format!("words of row {row} are also in at least {others}: {listed}{more}");
            self.repeated.push(line);
        }
    }
}

/// Reads the pairs of all documents or of one document that share the most words, at most `most`,
/// without their passages, which may be many more lines.
///
/// # Errors
/// `BadLine`, `Io`.
pub fn ranked(
    directory: &Path,
    of: Option<u32>,
    most: usize,
    context: &Context<'_>,
) -> Result<Shared> {
    let (mut all, mut largest) = (0, Least::new(most));
    let names = "tokens_a tokens_b document_a document_b share_a share_b matches docno_a docno_b";
    let table = each_row(
        &directory.join(OVERLAPS_FILE),
        names,
        context,
        |cells, row| {
            let [words_a, words_b, a, b] = cells;
            if of.is_none_or(|of| [a, b].contains(&of.into())) {
                all += 1;
                let words = [words_a, words_b];
                largest.offer((
                    Reverse(words_a.max(words_b)),
                    a,
                    b,
                    words,
                    row[4..].to_vec(),
                ));
            }
        },
    )?;
    let length = table.comment("length").unwrap_or_default().to_string();
    let stated = |name| table.comment(name).map(String::from);
    let gaps = match ["gap", "match-length", "density"].map(stated) {
        [Some(gap), Some(length), Some(density)] => Some([gap, length, density]),
        _ => None,
    };
    let mut shared = Shared {
        length,
        gaps,
        excluding: table.comment("exclude-text").is_some(),
        condition: table.comment("where").map(String::from),
        all,
        ..Shared::default()
    };
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

/// Visits the rows of a table: the numbers in the first of the cells with these names, and all of
/// these.
fn each_row<const N: usize>(
    path: &Path,
    names: &str,
    context: &Context<'_>,
    mut visit: impl FnMut([u64; N], &[Vec<u8>]),
) -> Result<Table> {
    let mut table = Table::open(path)?;
    table.want_names(&names.split(' ').collect::<Vec<_>>())?;
    let mut row = Vec::new();
    while table.next(&mut row)? {
        context.tick(STAGE, table.number())?;
        visit(numbers(&table, &row)?, &row);
    }
    Ok(table)
}

/// The numbers in the first cells of a row.
pub(super) fn numbers<const N: usize>(table: &Table, row: &[Vec<u8>]) -> Result<[u64; N]> {
    let mut numbers = [0; N];
    for (number, cell) in numbers.iter_mut().zip(row) {
        *number = parsed(cell).ok_or_else(|| table.bad("a number", shorten(cell)))?;
    }
    Ok(numbers)
}
