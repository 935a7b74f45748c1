//! Words that count for no passage, because an excluded text has them.
//!
//! # Definition
//! A word is *excluded* if it lies in a window of w consecutive words that an excluded text also
//! has, where w is the shingle size of the collection. Passages are what they would be if no
//! document had its excluded words: these count for no passage, and break none.
//!
//! # Algorithm
//! One pass over the documents finds their [`Gaps`]. All later passes read a document with excluded
//! words without them, and number the words that remain. Results have the numbers in the whole
//! text: there a range is divided where words are left out.

use std::ops::Range;

use super::STAGE;
use super::places::{PIECE_BYTES, Place, Repeat, Repeats, RepeatsReader};
use super::repeats::{GAPS, Search};
use lookalike_base::Result;
use lookalike_base::ids::{FingerprintKind, Key};
use lookalike_engine::shingle::{
    Excluded, Fingerprinter, Md5Fingerprinter, ShingleConfig, Xxh3Fingerprinter,
};
use lookalike_store::Sort;
use lookalike_text::parse::{ParseConfig, Parser, TokenConsumer, Tokens, each_token};
use lookalike_text::read::RawDocument;

/// Finds where words of the documents are left out: for each gap the number of the words before it
/// that remain, and the number of those in it.
pub(super) fn find(
    search: &Search<'_, '_>,
    (excluded, config): (&Excluded, &ShingleConfig),
) -> Result<Repeats> {
    let gaps: Sort<Repeat> = search.of_units(
        GAPS,
        |sort| {
            search.each_unit(|unit, parser| {
                if sort.has(unit) {
                    return Ok(());
                }
                let mut found = Finder {
                    excluded,
                    config,
                    document: 0,
                    at: 0,
                    end: 0,
                    left_out: 0,
                    gaps: Vec::new(),
                };
                let wanted = |number| search.only.is_none_or(|only| only.has(number));
                search.reread.each(unit, wanted, |document, _, raw| {
                    (found.document, found.at) = (document, 0);
                    (found.end, found.left_out) = (0, 0);
                    parser.parse(raw, &mut found);
                    sort.push(&mut found.gaps)
                })?;
                sort.done(unit);
                Ok(())
            })
        },
        false,
    )?;
    search.context.stop.check(STAGE)?;
    Ok(search.write(gaps.finish()?.unique(), false)?.0)
}

/// Finds the gaps of a document.
struct Finder<'e> {
    excluded: &'e Excluded,
    config: &'e ShingleConfig,
    document: u32,
    /// The number of the next word.
    at: u32,
    /// The end of the last gap, and the words in all gaps so far.
    end: u32,
    left_out: u32,
    gaps: Vec<Repeat>,
}

impl Finder<'_> {
    /// A range of words is left out, which begins behind the beginning of the one before.
    fn leave_out(&mut self, range: Range<u32>) {
        let begin = range.start.max(self.end);
        let count = range.end - begin;
        match self.gaps.last_mut() {
            Some(last) if begin == self.end && self.left_out > 0 => last.count += count,
            _ => {
                let place = Place {
                    document: self.document,
                    token: begin - self.left_out,
                };
                self.gaps.push(Repeat {
                    place,
                    first: place,
                    count,
                });
            }
        }
        self.left_out += count;
        self.end = range.end;
    }
}

impl TokenConsumer for Finder<'_> {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        let window = self.config.shingle_size;
        let seed = self.config.seed;
        for (begin, shingle) in (self.at..).zip(tokens.windows(window as usize)) {
            let key = match self.config.fingerprint {
                FingerprintKind::Xxh3 => Xxh3Fingerprinter { seed }.fingerprint(shingle).to_u128(),
                FingerprintKind::Md5 => Md5Fingerprinter::default().fingerprint(shingle),
            };
            if self.excluded.has(key) {
                self.leave_out(begin..begin + window);
            }
        }
        let done = (tokens.len() as u32 + 1).saturating_sub(window);
        self.at += done;
        let consumed = tokens.starts.get(done as usize).filter(|_| !last);
        consumed.map_or(tokens.bytes.len(), |&start| start.min(tokens.bytes.len()))
    }
}

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

    /// Whether the document has all its words.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The number in the whole text of a word that remains.
    pub fn at(&self, token: u32) -> u32 {
        let after = self.all.partition_point(|gap| gap.place.token <= token);
        let last = after.checked_sub(1).and_then(|last| self.all.get(last));
        token + last.map_or(0, |gap| gap.first.token)
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
            // Lines remain what they are.
            let word = text.get(span).unwrap_or_default().bytes();
            blanked.extend(word.map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            rest > 0 || gap.is_some()
        });
        blanked.push_str(text.get(blanked.len()..).unwrap_or_default());
        blanked
    }
}
