//! Where documents have excluded words ([`super::excluded`]): which words remain, and their numbers.

use std::ops::Range;

use super::places::{PIECE_BYTES, Place, Repeat, Repeats, RepeatsReader};
use lookalike_base::Result;
use lookalike_text::parse::{ParseConfig, Parser, TokenConsumer, each_token};
use lookalike_text::read::RawDocument;

/// The gaps of one document after the other.
pub(super) struct Gaps<'g> {
    reader: Option<RepeatsReader<'g>>,
    /// Of the document. In place of a first occurrence, they have the words left out up to their end.
    all: Vec<Repeat>,
    text: String,
}

impl<'g> Gaps<'g> {
    pub fn new(gaps: Option<&'g Repeats>) -> Gaps<'g> {
        Gaps {
            reader: gaps.map(|gaps| gaps.reader(PIECE_BYTES)),
            all: Vec::new(),
            text: String::new(),
        }
    }

    /// Begins a document.
    pub fn begin(&mut self, document: u32) -> Result<()> {
        let Some(reader) = &mut self.reader else {
            return Ok(());
        };
        reader.of(document, &mut self.all)?;
        let mut left_out = 0;
        for gap in &mut self.all {
            left_out += gap.count;
            gap.first.token = left_out;
        }
        Ok(())
    }

    /// The number of words of the document that are left out.
    pub fn left_out(&self) -> u32 {
        self.all.last().map_or(0, |gap| gap.first.token)
    }

    /// Whether the document has all its words.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The number in the whole text of a word that remains.
    pub fn at(&self, token: u32) -> u32 {
        let before = &self.all[..self.all.partition_point(|gap| gap.place.token <= token)];
        token + before.last().map_or(0, |gap| gap.first.token)
    }

    /// Where some words that remain begin in the whole text, and the words from the first of them
    /// to the last one.
    pub fn place(&self, place: Place, tokens: u32) -> (Place, u32) {
        let token = self.at(place.token);
        let end = self.at(place.token + tokens - 1) + 1;
        (Place { token, ..place }, end - token)
    }

    /// Where words are left out between the words of a range.
    pub fn within(&self, range: Range<u32>) -> impl Iterator<Item = u32> {
        let from = (self.all).partition_point(|gap| gap.place.token <= range.start);
        let gaps = self.all.get(from..).unwrap_or_default().iter();
        gaps.map(|gap| gap.place.token)
            .take_while(move |at| *at < range.end)
    }

    /// The parts in the whole text of a range of words that remain.
    pub fn parts(&self, range: &Range<u32>) -> impl Iterator<Item = Range<u32>> {
        let ends = self.within(range.clone()).chain([range.end]);
        let mut begin = range.start;
        ends.map(move |end| self.at(std::mem::replace(&mut begin, end))..self.at(end - 1) + 1)
    }

    /// Passes the words of the document that remain to `consumer`.
    pub fn parse(
        &mut self,
        parser: &mut Parser,
        (raw, config): (&RawDocument<'_>, &ParseConfig),
        consumer: &mut dyn TokenConsumer,
    ) {
        if self.is_empty() {
            parser.parse(raw, consumer);
            return;
        }
        self.text.clear();
        parser.text_as_read(raw, &mut self.text);
        let text = self.blank(&self.text, &config.of(&raw.docno));
        parser.plain(&raw.docno, text.as_bytes(), consumer);
    }

    /// The text of the document with white space in place of the words that are left out.
    pub fn blank(&self, text: &str, config: &ParseConfig) -> String {
        let mut blanked = String::with_capacity(text.len());
        let mut gaps = self.all.iter();
        let (mut gap, mut token, mut rest) = (gaps.next(), 0, 0);
        each_token(text, config, |span| {
            if let Some(begun) = gap.take_if(|gap| rest == 0 && gap.place.token == token) {
                (gap, rest) = (gaps.next(), begun.count);
            }
            if rest == 0 {
                token += 1;
                return gap.is_some();
            }
            rest -= 1;
            let kept = text.get(blanked.len()..span.start).unwrap_or_default();
            blanked.push_str(kept);
            // Lines are kept.
            let word = text.get(span).unwrap_or_default().bytes();
            blanked.extend(word.map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            rest > 0 || gap.is_some()
        });
        blanked.push_str(text.get(blanked.len()..).unwrap_or_default());
        blanked
    }
}
