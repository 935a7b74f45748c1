//! Texts without markup, and their edits.
//!
//! # In and out
//! In: a stream of random numbers and a number of words. Out: [`Text`], the words in blocks, just
//! so many as asked for.
//!
//! # Invariants
//! - A text's words become the words of the page one to one: markup adds none.
//! - An edited text holds the number of its own document, so no two are equal by chance.

use super::random::{Purpose, Random};
use super::vocabulary::Vocabulary;

/// Sentences that occur all over the crawl.
const STOCK_SENTENCES: u64 = 20_000;
/// The share of sentences in paragraphs that are such.
const STOCK: f64 = 0.03;
/// The share of words that are numbers, in sentences and in cells of tables.
const NUMBERS: f64 = 0.02;
const NUMBERS_IN_TABLES: f64 = 0.3;
/// Accents are for words beyond the commonest, and for one of so many.
const ACCENTS_FROM: u32 = 20;
const ACCENTS_EVERY: u32 = 7;

/// A word: the rank of its form, or a number, and what is to be said of it.
#[derive(Clone, Copy)]
pub struct Word(u32);

const NUMBER: u32 = 1 << 31;
const ENDS: u32 = 1 << 30;
const ACCENT: u32 = 1 << 29;
const VALUE: u32 = ACCENT - 1;

impl Word {
    fn number(value: u32) -> Self {
        Word(NUMBER | (value & VALUE))
    }

    /// It ends a sentence, an item of a list, a cell of a table.
    pub fn ends(self) -> bool {
        self.0 & ENDS != 0
    }

    /// Its first vowel bears an accent.
    pub fn has_accent(self) -> bool {
        self.0 & ACCENT != 0
    }

    pub fn is_number(self) -> bool {
        self.0 & NUMBER != 0
    }

    /// The rank of its form, or the number.
    pub fn value(self) -> u32 {
        self.0 & VALUE
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    Title,
    Heading,
    Paragraph,
    List,
    /// Of so many columns.
    Table(u32),
}

#[derive(Clone, Copy)]
struct Block {
    kind: BlockKind,
    /// Where its words end; they begin where the block before ends.
    end: usize,
}

/// A text.
#[derive(Default)]
pub struct Text {
    words: Vec<Word>,
    blocks: Vec<Block>,
}

/// What makes texts.
pub struct Writer<'a> {
    pub seed: u64,
    pub vocabulary: &'a Vocabulary,
    /// Words may have accents.
    pub accents: bool,
}

/// How a text is edited.
#[derive(Clone, Copy)]
pub struct Edit {
    /// The share of words that are each replaced, removed, or stand behind a new one.
    pub rate: f64,
    /// Blocks moved elsewhere.
    pub moves: u32,
}

impl Text {
    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn blocks(&self) -> impl Iterator<Item = (BlockKind, &[Word])> {
        let starts = std::iter::once(0).chain(self.blocks.iter().map(|block| block.end));
        let bounds = starts.zip(&self.blocks);
        bounds.map(|(start, block)| (block.kind, &self.words[start..block.end]))
    }

    fn clear(&mut self) {
        self.words.clear();
        self.blocks.clear();
    }

    /// Ends a block, if it has words.
    fn end_block(&mut self, kind: BlockKind) {
        let end = self.words.len();
        if self.blocks.last().map_or(0, |block| block.end) < end {
            if let Some(word) = self.words.last_mut() {
                word.0 |= ENDS;
            }
            self.blocks.push(Block { kind, end });
        }
    }

    /// Numbers instead of words at so many places: those, in rising order. The first is `serial`.
    pub fn fill_in(&mut self, places: &[usize], serial: u32, random: &mut Random) {
        for (i, &place) in places.iter().enumerate() {
            let number = if i == 0 { serial } else { random.below(3_000) };
            let word = &mut self.words[place];
            *word = Word(Word::number(number).0 | (word.0 & ENDS));
        }
    }

    /// Becomes the edited version of another text, which holds the number `serial`.
    pub fn edit(
        &mut self,
        original: &Text,
        edit: Edit,
        serial: u32,
        random: &mut Random,
        writer: &Writer<'_>,
    ) {
        self.clear();
        let mut order: Vec<(BlockKind, &[Word])> = original.blocks().collect();
        // The title stays where it is.
        for _ in 0..edit.moves {
            if order.len() > 2 {
                let count = order.len() as u32 - 1;
                let block = order.remove(1 + random.below(count) as usize);
                order.insert(1 + random.below(count) as usize, block);
            }
        }
        let mut until_serial = random.below(original.len() as u32);
        for (kind, words) in order {
            for &word in words {
                if until_serial == 0 {
                    self.words.push(Word::number(serial));
                }
                until_serial = until_serial.wrapping_sub(1);
                if !random.chance(edit.rate) {
                    self.words.push(word);
                    continue;
                }
                let new = writer.word(random);
                match random.below(3) {
                    0 => self.words.push(Word(new.0 | (word.0 & ENDS))),
                    1 => self.words.extend([new, word]),
                    _ => {}
                }
            }
            self.end_block(kind);
        }
    }
}

impl Writer<'_> {
    fn word(&self, random: &mut Random) -> Word {
        let rank = self.vocabulary.draw(random);
        let accent = self.accents && rank >= ACCENTS_FROM && rank.is_multiple_of(ACCENTS_EVERY);
        Word(rank | if accent { ACCENT } else { 0 })
    }

    fn word_or_number(&self, random: &mut Random, numbers: f64) -> Word {
        if random.chance(numbers) {
            // Most numbers of a page are small, or years.
            let below = [32, 100, 1_000, 1_000_000][random.below(4) as usize];
            let number = match random.below(4) {
                0 => 1_950 + random.below(53),
                _ => random.below(below),
            };
            return Word::number(number);
        }
        self.word(random)
    }

    /// So many words in items of at most so many each: cells, links.
    fn items(&self, text: &mut Text, words: u32, most: u32, numbers: f64, random: &mut Random) {
        let mut left = words;
        while left > 0 {
            let length = random.between(1, most).min(left);
            for _ in 0..length {
                let word = self.word_or_number(random, numbers);
                text.words.push(word);
            }
            if let Some(word) = text.words.last_mut() {
                word.0 |= ENDS;
            }
            left -= length;
        }
    }

    /// So many words in sentences.
    fn sentences(&self, text: &mut Text, words: u32, random: &mut Random) {
        let mut left = words;
        while left > 0 {
            if random.chance(STOCK) {
                left -= self.stock_sentence(text, left, random);
                continue;
            }
            let length = random.between(5, 28).min(left);
            self.items_of_one(text, length, random);
            left -= length;
        }
    }

    fn items_of_one(&self, text: &mut Text, length: u32, random: &mut Random) {
        for _ in 0..length {
            let word = self.word_or_number(random, NUMBERS);
            text.words.push(word);
        }
        if let Some(word) = text.words.last_mut() {
            word.0 |= ENDS;
        }
    }

    /// A sentence that other pages have too, or as much of it as there is room for.
    fn stock_sentence(&self, text: &mut Text, room: u32, random: &mut Random) -> u32 {
        let number = random.skewed(STOCK_SENTENCES);
        let mut stock = Random::new(self.seed, Purpose::Stock, number);
        let length = stock.between(8, 28).min(room);
        let plain = Writer {
            accents: false,
            ..*self
        };
        plain.items_of_one(text, length, &mut stock);
        length
    }

    /// A page's own text.
    pub fn body(&self, text: &mut Text, words: u32, random: &mut Random) {
        text.clear();
        let title = random.between(2, 8).min(words / 2);
        self.items_of_one(text, title, random);
        text.end_block(BlockKind::Title);
        let mut left = words - title;
        let mut may_head = true;
        while left > 0 {
            let choice = random.below(100);
            let (kind, length) = match choice {
                0..22 if may_head && left > 30 => (BlockKind::Heading, random.between(2, 8)),
                0..74 => (BlockKind::Paragraph, random.between(15, 120)),
                74..86 => (BlockKind::List, random.between(10, 80)),
                _ => {
                    let columns = random.between(2, 6);
                    (BlockKind::Table(columns), columns * random.between(4, 24))
                }
            };
            let length = length.min(left);
            match kind {
                BlockKind::Paragraph => self.sentences(text, length, random),
                BlockKind::List => self.items(text, length, 12, NUMBERS, random),
                BlockKind::Table(_) => self.items(text, length, 3, NUMBERS_IN_TABLES, random),
                BlockKind::Title | BlockKind::Heading => self.items_of_one(text, length, random),
            }
            text.end_block(kind);
            may_head = kind != BlockKind::Heading;
            left -= length;
        }
    }

    /// The links that all pages of a host have.
    pub fn links(&self, text: &mut Text, words: u32, random: &mut Random) {
        text.clear();
        self.items(text, words, 3, 0.0, random);
        text.end_block(BlockKind::List);
    }

    /// The closing paragraph that all pages of a section have.
    pub fn closing(&self, text: &mut Text, words: u32, random: &mut Random) {
        text.clear();
        let mut left = words;
        while left > 0 {
            let length = random.between(5, 28).min(left);
            self.items_of_one(text, length, random);
            left -= length;
        }
        text.end_block(BlockKind::Paragraph);
    }
}
