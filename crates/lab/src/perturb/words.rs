//! The words of a document, and the list of all terms.

use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use lookalike_base::{Random, mix};
use lookalike_text::parse::{
    ParseConfig, Parser, TokenConsumer, Tokens, canonical_token, token_spans,
};
use lookalike_text::read::RawDocument;

/// Limit on the terms kept: to draw a few terms, 65,536 of them chosen by hash serve as well as
/// all.
pub(crate) const TERMS: usize = 1 << 16;
/// Limit on the bytes of a term: anything longer is an address or a number, not a word.
pub(crate) const TERM_BYTES: usize = 64;

/// The words of a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}

/// The text of a document.
pub(super) fn text_of(document: &RawDocument<'_>, parser: &mut Parser) -> String {
    let mut all = Vec::new();
    each_piece(document, parser, |piece| {
        all.extend_from_slice(piece.gap);
        all.extend_from_slice(piece.bytes);
    });
    String::from_utf8(all).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// A piece of a text, made of whole tokens.
pub(super) struct Piece<'a> {
    /// The space between the previous piece and this one, if there was a previous piece.
    pub gap: &'static [u8],
    pub bytes: &'a [u8],
    pub tokens: Tokens<'a>,
}

/// Passes the text of a document on piece by piece and returns its number of words. The place of
/// the cuts has no effect: no text ends in a space.
pub(super) fn each_piece(
    document: &RawDocument<'_>,
    parser: &mut Parser,
    act: impl FnMut(Piece<'_>),
) -> u64 {
    struct Pieces<A> {
        act: A,
        gap: &'static [u8],
    }
    impl<A: FnMut(Piece<'_>)> TokenConsumer for Pieces<A> {
        fn take(&mut self, tokens: Tokens<'_>, _: bool) -> usize {
            let whole = tokens.whole(false);
            let bytes = whole.strip_suffix(b" ").unwrap_or(whole);
            if !bytes.is_empty() {
                let gap = std::mem::replace(&mut self.gap, b" ");
                (self.act)(Piece { gap, bytes, tokens });
            }
            whole.len()
        }
    }
    let facts = parser.parse(document, &mut Pieces { act, gap: b"" });
    parser.shrink();
    facts.words
}

/// Words, bytes and hash of a document's text. Adds its terms to the list, if there is one.
pub(super) fn facts(
    document: &RawDocument<'_>,
    parser: &mut Parser,
    mut terms: Option<&mut TermList>,
) -> (u64, u64, u64) {
    let (mut hash, mut bytes) = (Xxh3::new(), 0);
    let words = each_piece(document, parser, |piece| {
        for part in [piece.gap, piece.bytes] {
            hash.update(part);
            bytes += part.len() as u64;
        }
        if let Some(terms) = &mut terms {
            let words = piece
                .tokens
                .windows(1)
                .filter(|word| word.len() <= TERM_BYTES);
            words.for_each(|word| terms.offer_word(&String::from_utf8_lossy(word)));
        }
    });
    (words, bytes, hash.digest())
}

/// Distinct terms: all, or the terms with the smallest hashes, which is a fair draw.
#[derive(Debug, Default)]
pub(super) struct TermList {
    seed: u64,
    /// Terms by hash. Terms with the same hash count as one.
    kept: BTreeMap<u64, Box<str>>,
    /// The sorted terms to draw from, once all are known.
    sorted: Vec<Box<str>>,
}

impl TermList {
    pub(super) fn new(seed: u64) -> TermList {
        TermList {
            seed: mix(seed, lookalike_base::random::STEP),
            ..TermList::default()
        }
    }

    #[cfg(test)]
    pub(super) fn of<const N: usize>(terms: [&str; N]) -> TermList {
        let mut list = TermList::new(0);
        terms.iter().for_each(|term| list.offer(term));
        list.close();
        list
    }

    /// Offers the terms of a word.
    fn offer_word(&mut self, word: &str) {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        if word.bytes().all(plain) {
            return self.offer(word);
        }
        let words = ParseConfig::default();
        for span in token_spans(word, &words) {
            let token = word.get(span).unwrap_or_default();
            let term = canonical_token(token, false, &words);
            if !term.is_empty() && term.len() <= TERM_BYTES {
                self.offer(&term);
            }
        }
    }

    fn offer(&mut self, term: &str) {
        let hash = mix(xxh3_64(term.as_bytes()), self.seed);
        let full = self.kept.len() >= TERMS;
        let largest = self
            .kept
            .last_key_value()
            .map_or(u64::MAX, |(&hash, _)| hash);
        if full && hash >= largest || self.kept.contains_key(&hash) {
            return;
        }
        self.kept.insert(hash, term.into());
        if full {
            self.kept.pop_last();
        }
    }

    /// Sorts the terms, so that they can be drawn by number.
    pub(super) fn close(&mut self) {
        let terms: BTreeSet<Box<str>> = std::mem::take(&mut self.kept).into_values().collect();
        self.sorted = terms.into_iter().collect();
    }

    pub(super) fn len(&self) -> u64 {
        self.sorted.len() as u64
    }

    /// Any term, each with the same probability; `a` if there is none.
    pub(super) fn draw(&self, random: &mut Random) -> &str {
        let number = random.below(self.sorted.len() as u64) as usize;
        self.sorted.get(number).map_or("a", |term| term)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_text::parse::TokenKind;

    #[test]
    fn terms_are_tokens_of_words() {
        let mut list = TermList::new(0);
        for word in ["Don't", "(a-b)", "--", "plain", "plain", "漢字"] {
            list.offer_word(word);
        }
        list.close();
        let terms: Vec<&str> = list.sorted.iter().map(|term| &**term).collect();
        assert_eq!(terms, ["a", "b", "don't", "plain", "字", "漢"]);
        assert_eq!(TermList::new(1).draw(&mut Random::new(0)), "a");
    }

    /// A text that the parser's portion size cuts in the middle of a word and right after one.
    #[test]
    fn a_text_is_the_same_however_it_is_cut() {
        let mut parser = Parser::new(&TokenKind::RAW.into());
        for count in [0, 1, 2, 60_000] {
            for behind in ["", " ", "\n \n"] {
                let words = vec!["words"; count].join(" ");
                let body = format!("{behind}{}{behind}", words.replace(' ', "  "));
                let document = RawDocument::of_text(&body, lookalike_text::read::ContentKind::Text);
                assert!(
                    text_of(&document, &mut parser) == words,
                    "{count} {behind:?}"
                );
                let mut pieces = 0;
                each_piece(&document, &mut parser, |_| pieces += 1);
                assert_eq!(pieces > 1, count > 50_000);
                let hash = xxh3_64(words.as_bytes());
                assert_eq!(
                    facts(&document, &mut parser, None),
                    (count as u64, words.len() as u64, hash)
                );
            }
        }
    }

    /// For any order and frequency, the same terms are kept, from the whole range.
    #[test]
    fn of_many_terms_a_fair_part_is_kept() {
        let term = |n: usize| format!("t{n:06}");
        let (mut up, mut down) = (TermList::new(5), TermList::new(5));
        let all = 2 * TERMS;
        for n in 0..all {
            up.offer(&term(n));
            down.offer(&term(all - 1 - n));
            down.offer(&term(all - 1 - n / 2));
        }
        up.close();
        down.close();
        assert_eq!(up.sorted, down.sorted);
        assert_eq!(up.len(), TERMS as u64);
        let half = term(TERMS).into_boxed_str();
        let below = up.sorted.partition_point(|term| *term < half) as f64;
        // Five standard deviations of a draw of half without replacement.
        let deviation = (TERMS as f64 / 8.0).sqrt();
        assert!(
            (below - TERMS as f64 / 2.0).abs() < 5.0 * deviation,
            "{below}"
        );
    }
}
