//! The n-grams of the test sets, and the search for them in a stream of tokens.
//!
//! # What is searched for
//! A *class* is a sequence of tokens: an n-gram of a field with at least n tokens, or all tokens of
//! a shorter field. Equal sequences are one class.
//!
//! # How
//! An n-gram contains n - q + 1 q-grams. One of them begins at a multiple of n - q + 1, so of a
//! document only those are looked up: the one stretch of q tokens among every n - q + 1 is hashed,
//! and looked up in a filter that has all q-grams of all long fields. The n-grams around a q-gram
//! that passes are looked up in a table, and compared with the text of the test set byte by byte.
//! The first m tokens of short fields are in a second filter, where m is the length of the shortest
//! of them, and each position of a document is looked up there.

use xxhash_rust::xxh3::xxh3_64;

use super::items::{NONE, TestSets};
use lookalike_base::Bits;
use lookalike_text::parse::{TokenConsumer, Tokens};

/// Bits of a filter for each sequence in it, before the number is rounded up to a power of two. Two
/// of them are set, so about one in 100 sequences that are not in it passes.
const FILTER_BITS: usize = 16;

/// At most this number of places of classes in a document are kept.
pub(super) const MOST_PLACES: usize = 1 << 20;

/// Bytes of memory of the places of a document: 8 each, and 4 when they are sorted.
pub(super) const PLACES_BYTES: u64 = MOST_PLACES as u64 * 12;

/// A set of hashes that may also contain others.
struct Filter(Vec<u64>);

impl Filter {
    fn new(hashes: usize) -> Filter {
        let words = (hashes * FILTER_BITS).div_ceil(64).next_power_of_two();
        Filter(vec![0; words])
    }

    /// The word of a hash, and its two bits there.
    #[inline]
    fn place(&self, hash: u64) -> (usize, u64) {
        let word = (hash >> 12) as usize & (self.0.len() - 1);
        (word, 1 << (hash & 63) | 1 << (hash >> 6 & 63))
    }

    fn insert(&mut self, hash: u64) {
        let (word, bits) = self.place(hash);
        self.0[word] |= bits;
    }

    #[inline]
    fn may_have(&self, hash: u64) -> bool {
        let (word, bits) = self.place(hash);
        self.0[word] & bits == bits
    }
}

/// The classes of all test sets.
pub(super) struct Grams {
    /// Tokens of a long class.
    n: usize,
    /// Tokens of a stretch that is looked up, and the distance of their beginnings.
    q: usize,
    step: usize,
    long: Option<Filter>,
    /// The filter of short fields and the lengths of these, in order.
    short: Option<(Filter, Vec<usize>)>,
    /// Open addressing: the upper half of the hash, and the class + 1.
    table: Vec<u64>,
    /// By class, the token of the test sets at which it first occurs, and its number of tokens.
    firsts: Vec<u32>,
    lengths: Vec<u16>,
    /// By token of the test sets, the class that begins there.
    class_of: Vec<u32>,
    /// By class, where its items end in `items`.
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Grams {
    /// Bytes of memory for each token of the test sets, without its text and place: two numbers by
    /// token, four and the number of its tokens by class, the table, and the filters.
    pub(super) const TOKEN_BYTES: u64 = 6 * 4 + 2 + 24 + 8;

    pub(super) fn new(sets: &TestSets, n: usize) -> Grams {
        let q = n / 2 + 1;
        let step = n - q + 1;
        let (mut long, mut short, mut grams) = (0, Vec::new(), 0);
        for field in &sets.fields {
            let length = field.tokens.len();
            if field.short {
                short.push(length);
                grams += 1;
            } else {
                long += length + 1 - q;
                grams += length + 1 - n;
            }
        }
        let shorts = short.len();
        short.sort_unstable();
        short.dedup();
        let mut made = Grams {
            n,
            q,
            step,
            long: (long > 0).then(|| Filter::new(long)),
            short: (shorts > 0).then(|| (Filter::new(shorts), short)),
            table: vec![0; (grams + grams / 2 + 1).next_power_of_two()],
            firsts: Vec::with_capacity(grams),
            lengths: Vec::with_capacity(grams),
            class_of: vec![NONE; sets.tokens()],
            ends: Vec::new(),
            items: Vec::new(),
        };
        for field in &sets.fields {
            let tokens = field.tokens.clone();
            if field.short {
                made.insert(sets, tokens.start, tokens.len());
                if let Some((filter, lengths)) = &mut made.short {
                    filter.insert(xxh3_64(sets.stretch(tokens.start, lengths[0])));
                }
                continue;
            }
            for at in tokens.start..tokens.end + 1 - n {
                made.insert(sets, at, n);
            }
            if let Some(filter) = &mut made.long {
                for at in tokens.start..tokens.end + 1 - q {
                    filter.insert(xxh3_64(sets.stretch(at, q)));
                }
            }
        }
        made.find_items(sets);
        made
    }

    /// Gives the sequence of tokens at this place its class.
    fn insert(&mut self, sets: &TestSets, at: usize, tokens: usize) {
        let bytes = sets.stretch(at, tokens);
        let hash = xxh3_64(bytes);
        let class = match self.find(sets, hash, bytes) {
            Ok(class) => class,
            Err(slot) => {
                let class = self.firsts.len() as u32;
                self.firsts.push(at as u32);
                self.lengths.push(tokens as u16);
                self.table[slot] = hash >> 32 << 32 | u64::from(class + 1);
                class
            }
        };
        self.class_of[at] = class;
    }

    /// The class with these bytes, or the slot of the table where it belongs.
    fn find(&self, sets: &TestSets, hash: u64, bytes: &[u8]) -> Result<u32, usize> {
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            // The table always has free slots.
            let entry = self.table[slot];
            let Some(class) = (entry as u32).checked_sub(1) else {
                return Err(slot);
            };
            if entry >> 32 == hash >> 32 && self.bytes(sets, class) == bytes {
                return Ok(class);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn bytes<'s>(&self, sets: &'s TestSets, class: u32) -> &'s [u8] {
        let class = class as usize;
        sets.stretch(self.firsts[class] as usize, self.lengths[class].into())
    }

    /// Lists the items of each class, in order.
    fn find_items(&mut self, sets: &TestSets) {
        let classes = self.firsts.len();
        let mut last = vec![NONE; classes];
        let mut counts = vec![0u32; classes + 1];
        // Calls `act` with each class of each item, once.
        let each = |last: &mut Vec<u32>, act: &mut dyn FnMut(u32, u32)| {
            for (number, item) in (0..).zip(&sets.items) {
                let fields = item.fields(sets);
                for class in fields.flat_map(|field| self.classes(field.tokens.clone())) {
                    if std::mem::replace(&mut last[class as usize], number) != number {
                        act(class, number);
                    }
                }
            }
        };
        each(&mut last, &mut |class, _| counts[class as usize + 1] += 1);
        for class in 0..classes {
            counts[class + 1] += counts[class];
        }
        let mut items = vec![0; counts[classes] as usize];
        last.fill(NONE);
        each(&mut last, &mut |class, number| {
            let next = &mut counts[class as usize];
            items[*next as usize] = number;
            *next += 1;
        });
        counts.truncate(classes);
        (self.ends, self.items) = (counts, items);
    }

    /// The classes that begin at these tokens of the test sets, in order.
    fn classes(&self, tokens: std::ops::Range<usize>) -> impl Iterator<Item = u32> + '_ {
        let classes = self.class_of[tokens].iter().copied();
        classes.filter(|&class| class != NONE)
    }

    /// Number of classes.
    pub(super) fn len(&self) -> usize {
        self.firsts.len()
    }

    /// The class that begins at a token of the test sets.
    pub(super) fn class_at(&self, token: usize) -> Option<u32> {
        Some(self.class_of[token]).filter(|&class| class != NONE)
    }

    /// The number of tokens of a class.
    pub(super) fn length(&self, class: u32) -> usize {
        self.lengths[class as usize].into()
    }

    /// The items that have a class.
    pub(super) fn items(&self, class: u32) -> &[u32] {
        let class = class as usize;
        let start = class.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start as usize..self.ends[class] as usize]
    }
}

/// A class at a token of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub token: u32,
    pub class: u32,
}

/// Finds the classes of a document. Takes its tokens.
pub(super) struct Finder<'g> {
    grams: &'g Grams,
    sets: &'g TestSets,
    /// The classes that the document has, as a set and as a list.
    pub has: Bits,
    pub classes: Vec<u32>,
    /// The places of long classes, and the places of short ones, in order; at most [`MOST_PLACES`]
    /// of both, if places are kept.
    pub long: Vec<Place>,
    pub short: Vec<Place>,
    keep: bool,
    /// Whether there are more places.
    pub more: bool,
    /// The number of the document's tokens before the portion.
    before: usize,
}

impl<'g> Finder<'g> {
    /// `keep` says whether places are kept.
    pub(super) fn new(grams: &'g Grams, sets: &'g TestSets, keep: bool) -> Finder<'g> {
        Finder {
            grams,
            sets,
            has: Bits::new(grams.len()),
            classes: Vec::new(),
            long: Vec::new(),
            short: Vec::new(),
            keep,
            more: false,
            before: 0,
        }
    }

    /// Forgets the document.
    pub(super) fn clear(&mut self) {
        for class in self.classes.drain(..) {
            self.has.remove(class);
        }
        self.long.clear();
        self.short.clear();
        (self.more, self.before) = (false, 0);
    }

    /// Looks a stretch of the document up that begins at this token of the portion.
    fn look(&mut self, bytes: &[u8], hash: u64, token: usize, short: bool) {
        let Ok(class) = self.grams.find(self.sets, hash, bytes) else {
            return;
        };
        if self.has.insert(class) {
            self.classes.push(class);
        }
        if !self.keep {
            return;
        }
        if self.long.len() + self.short.len() >= MOST_PLACES {
            self.more = true;
            return;
        }
        let token = (self.before + token) as u32;
        let places = if short {
            &mut self.short
        } else {
            &mut self.long
        };
        places.push(Place { token, class });
    }

    /// Looks up the n-grams that begin at the first `grams` tokens of the portion.
    fn look_long(&mut self, tokens: Tokens<'_>, grams: usize) {
        let set = self.grams;
        let Some(filter) = &set.long else { return };
        // The place of the first stretch that is looked up, from the beginning of the portion.
        let mut probe = (set.step - self.before % set.step) % set.step;
        while probe + 1 < grams + set.step {
            if let Some(bytes) = tokens.run(probe, set.q)
                && filter.may_have(xxh3_64(bytes))
            {
                for token in (probe + 1).saturating_sub(set.step)..grams.min(probe + 1) {
                    if let Some(bytes) = tokens.run(token, set.n) {
                        self.look(bytes, xxh3_64(bytes), token, false);
                    }
                }
            }
            probe += set.step;
        }
    }

    /// Looks up the short fields that begin at the first `starts` tokens of the portion.
    fn look_short(&mut self, tokens: Tokens<'_>, starts: usize) {
        let set = self.grams;
        let Some((filter, lengths)) = &set.short else {
            return;
        };
        for token in 0..starts {
            let Some(bytes) = tokens.run(token, lengths[0]) else {
                return;
            };
            let hash = xxh3_64(bytes);
            if !filter.may_have(hash) {
                continue;
            }
            for &length in lengths {
                let Some(bytes) = tokens.run(token, length) else {
                    break;
                };
                self.look(bytes, xxh3_64(bytes), token, true);
            }
        }
    }
}

impl TokenConsumer for Finder<'_> {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        // Every class that begins at one of these tokens is whole in this portion.
        let grams = (tokens.len() + 1).saturating_sub(self.grams.n);
        self.look_long(tokens, grams);
        let starts = if last { tokens.len() } else { grams };
        self.look_short(tokens, starts);
        if last {
            return tokens.bytes.len();
        }
        self.before += grams;
        tokens.offset(grams)
    }
}
