//! Words that count for no passage, because an excluded text has them.
//!
//! # Definition
//! A word is *excluded* if it lies in a window of w consecutive words that an excluded text also
//! has, where w is the shingle size of the collection. Passages are found as if no document had its
//! excluded words: these words count for no passage, and break none.
//!
//! # Algorithm
//! One pass over the documents finds their [`Gaps`](super::gaps::Gaps). All later passes read a document with excluded
//! words without them, and number the words that remain. Results have the numbers in the whole
//! text: there a range is divided where words are left out.

use std::ops::Range;

use super::STAGE;
use super::places::{Place, Repeat, Repeats};
use super::repeats::{GAPS, Search};
use lookalike_base::{FingerprintKind, Key, Result};
use lookalike_engine::shingle::{
    Excluded, Fingerprinter, Md5Fingerprinter, ShingleConfig, Xxh3Fingerprinter,
};
use lookalike_text::parse::{TokenConsumer, Tokens};

/// Finds where words of the documents are left out: for each gap the number of the words before it
/// that remain, and the number of those in it.
pub(super) fn find(
    search: &Search<'_, '_>,
    (excluded, config): (&Excluded, &ShingleConfig),
) -> Result<Repeats> {
    let gaps = search.of_units(GAPS, false, |unit, parser, sort| {
        let wanted = |number| search.only.is_none_or(|only| only.has(number));
        search.reread.each(unit, wanted, |document, _, raw| {
            let mut found = Finder {
                excluded,
                config,
                document,
                at: 0,
                end: 0,
                left_out: 0,
                gaps: Vec::new(),
            };
            parser.parse(raw, &mut found);
            sort.push(&mut found.gaps)
        })
    })?;
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
                self.gaps.push(Repeat::new(place, place, count));
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
