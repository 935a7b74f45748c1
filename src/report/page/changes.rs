//! Finds where the words of two texts differ.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::texts::Words;
use crate::parse::{TokenKind, canonical_token};

/// Words shown before and after a difference.
const CONTEXT: usize = 15;

/// A shorter passage is not folded.
const LEAST_FOLDED: usize = 10;

/// A part of the comparison of two texts, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// A number of equal words that are not shown.
    Folded(usize),
    /// Passages that are shown side by side.
    Shown(Vec<Stretch>),
}

/// Byte ranges of the two texts: equal words, or words that only one text has in this place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub equal: bool,
    pub a: Range<usize>,
    pub b: Range<usize>,
}

/// A text cut into pieces: each word with the punctuation around it, up to the next white space.
struct Pieces<'t> {
    words: &'t Words,
    /// Where each piece begins, and finally where the text ends.
    starts: Vec<usize>,
}

impl<'t> Pieces<'t> {
    fn new(words: &'t Words) -> Self {
        let mut starts = Vec::with_capacity(words.spans.len() + 1);
        let mut end = 0;
        for span in &words.spans {
            let between = words.text.get(end..span.start).unwrap_or_default();
            // An opening bracket belongs to the word after it. Characters before white space belong
            // to the word before.
            let at = match between.char_indices().rfind(|(_, c)| c.is_whitespace()) {
                _ if starts.is_empty() => 0,
                Some((at, c)) => end + at + c.len_utf8(),
                None => span.start,
            };
            starts.push(at);
            end = span.end;
        }
        if starts.is_empty() {
            starts.push(0);
        }
        starts.push(words.text.len());
        Pieces { words, starts }
    }

    /// Bytes of some pieces.
    fn bytes(&self, pieces: Range<usize>) -> Range<usize> {
        let at = |piece: usize| self.starts.get(piece).copied();
        let all = self.words.text.len();
        at(pieces.start).unwrap_or(all)..at(pieces.end).unwrap_or(all)
    }

    /// A number for each word; words with the same canonical text have the same number.
    fn numbers(&self, numbers: &mut HashMap<String, u32>, tokens: &TokenKind) -> Vec<u32> {
        let text = &self.words.text;
        let spans = self.words.spans.iter();
        spans
            .map(|span| {
                let next = numbers.len() as u32;
                let word = text.get(span.clone()).unwrap_or_default();
                *numbers.entry(canonical_token(word, tokens)).or_insert(next)
            })
            .collect()
    }
}

/// Where two texts differ, word by word, with some words around each difference.
///
/// Myers 1986, with the limits that git sets on the search: for a hostile pair of texts the list of
/// differences gets longer than needed, but the search takes no longer.
pub(super) fn changes(a: &Words, b: &Words, tokens: &TokenKind) -> Vec<Block> {
    let mut numbers = HashMap::new();
    let (a, b) = (Pieces::new(a), Pieces::new(b));
    let (of_a, of_b) = (
        a.numbers(&mut numbers, tokens),
        b.numbers(&mut numbers, tokens),
    );
    drop(numbers);
    let mut stretches: Vec<(bool, Range<usize>, Range<usize>)> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &of_a, &of_b) {
        let equal = matches!(op, DiffOp::Equal { .. });
        let (of_a, of_b) = (op.old_range(), op.new_range());
        match stretches.last_mut() {
            Some((before, end_a, end_b)) if *before == equal => {
                end_a.end = of_a.end;
                end_b.end = of_b.end;
            }
            _ => stretches.push((equal, of_a, of_b)),
        }
    }
    fold(&stretches, &a, &b)
}

fn fold(
    stretches: &[(bool, Range<usize>, Range<usize>)],
    a: &Pieces<'_>,
    b: &Pieces<'_>,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut shown: Vec<Stretch> = Vec::new();
    let last = stretches.len().saturating_sub(1);
    for (n, (equal, of_a, of_b)) in stretches.iter().enumerate() {
        let mut push = |of_a: Range<usize>, of_b: Range<usize>| {
            if !of_a.is_empty() || !of_b.is_empty() {
                shown.push(Stretch {
                    equal: *equal,
                    a: a.bytes(of_a),
                    b: b.bytes(of_b),
                });
            }
        };
        // At each end of the texts there is a difference on one side only.
        let before = if n == 0 { 0 } else { CONTEXT };
        let after = if n == last { 0 } else { CONTEXT };
        let folded = of_a.len().saturating_sub(before + after);
        if !equal || folded < LEAST_FOLDED {
            push(of_a.clone(), of_b.clone());
            continue;
        }
        push(
            of_a.start..of_a.start + before,
            of_b.start..of_b.start + before,
        );
        if !shown.is_empty() {
            blocks.push(Block::Shown(std::mem::take(&mut shown)));
        }
        blocks.push(Block::Folded(folded));
        let mut push = |of_a: Range<usize>, of_b: Range<usize>| {
            if !of_a.is_empty() {
                shown.push(Stretch {
                    equal: true,
                    a: a.bytes(of_a),
                    b: b.bytes(of_b),
                });
            }
        };
        push(of_a.end - after..of_a.end, of_b.end - after..of_b.end);
    }
    if !shown.is_empty() {
        blocks.push(Block::Shown(shown));
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::token_spans;

    fn words(text: &str) -> Words {
        Words {
            text: text.into(),
            spans: token_spans(text, &TokenKind::Words),
            cut: false,
        }
    }

    /// Both sides as text: `[-only in a-]`, `{+only in b+}`, `<n>` for a fold.
    fn marked(a: &str, b: &str) -> (String, String) {
        let (mut left, mut right) = (String::new(), String::new());
        for block in changes(&words(a), &words(b), &TokenKind::Words) {
            match block {
                Block::Folded(n) => {
                    left.push_str(&format!("<{n}>"));
                    right.push_str(&format!("<{n}>"));
                }
                Block::Shown(stretches) => {
                    for Stretch {
                        equal,
                        a: of_a,
                        b: of_b,
                    } in stretches
                    {
                        let (a, b) = (&a[of_a], &b[of_b]);
                        if equal {
                            left.push_str(a);
                            right.push_str(b);
                        } else {
                            left.push_str(&format!("[-{a}-]"));
                            right.push_str(&format!("{{+{b}+}}"));
                        }
                    }
                }
            }
        }
        (left, right)
    }

    #[test]
    fn words_are_compared_as_they_are_shingled() {
        let (a, b) = marked(
            "The Cat (black) sat; on the mat.",
            "the cat [black], stood on THE mat",
        );
        assert_eq!(a, "The Cat (black) [-sat; -]on the mat.");
        assert_eq!(b, "the cat [black], {+stood +}on THE mat");
    }

    #[test]
    fn corners() {
        for (a, b) in [
            ("", ""),
            ("a", ""),
            ("", "b"),
            ("(a", "a)"),
            ("«a» b", "- a -"),
        ] {
            let (left, right) = marked(a, b);
            assert_eq!(left.replace("[-", "").replace("-]", ""), a);
            assert_eq!(right.replace("{+", "").replace("+}", ""), b);
        }
    }

    #[test]
    fn long_stretches_are_folded_between_differences() {
        let same: String = (0..100).map(|n| format!("w{n} ")).collect();
        let (a, _) = marked(&format!("{same}x {same}"), &format!("{same}y {same}"));
        let context: String = (85..100).map(|n| format!("w{n} ")).collect();
        let behind: String = (0..15).map(|n| format!("w{n} ")).collect();
        assert_eq!(a, format!("<85>{context}[-x -]{behind}<85>"));
        let (a, _) = marked(&format!("x {same}y"), &format!("y {same}x"));
        assert_eq!(a, format!("[-x -]{behind}<70>{context}[-y-]"));
        assert_eq!(marked(&same, &same).0, "<100>");
        assert_eq!(marked("a b c", "A, b c.").0, "a b c");
    }

    /// A permutation shares all words but no long passage: the worst case for the search.
    #[test]
    fn a_hostile_pair_takes_bounded_time() {
        let n = super::super::WORDS_COMPARED;
        let text =
            |step: usize| -> String { (0..n).map(|i| format!("w{} ", i * step % n)).collect() };
        let begun = std::time::Instant::now();
        for step in [7_919, 19_999, 3] {
            assert!(!changes(&words(&text(1)), &words(&text(step)), &TokenKind::Words).is_empty());
        }
        let seconds = begun.elapsed().as_secs_f64();
        eprintln!("{seconds:.2} s");
        assert!(seconds < 60.0, "{seconds:.1} s");
    }
}
