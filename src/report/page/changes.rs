//! Two texts, and where their words differ.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::texts::Words;
use crate::parse::{TokenKind, canonical_token};

/// Words shown before and behind a difference.
const CONTEXT: usize = 15;

/// A shorter stretch is not worth a fold.
const LEAST_FOLDED: usize = 10;

/// What is shown of two texts, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// So many words that are alike, not shown.
    Folded(usize),
    /// What stands beside each other.
    Shown(Vec<Stretch>),
}

/// Bytes of the two texts; the same words, or such as only one has in this place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub alike: bool,
    pub a: Range<usize>,
    pub b: Range<usize>,
}

/// A text's words as what belongs to each: the punctuation around it, up to the next white space.
struct Pieces<'t> {
    words: &'t Words,
    /// Where each piece begins; at last, where the text ends.
    starts: Vec<usize>,
}

impl<'t> Pieces<'t> {
    fn new(words: &'t Words) -> Self {
        let mut starts = Vec::with_capacity(words.spans.len() + 1);
        let mut end = 0;
        for span in &words.spans {
            let between = words.text.get(end..span.start).unwrap_or_default();
            // An opening bracket goes with the word behind it, what stands before white space does not.
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

    /// A number for each word, the same for the same canonical text.
    fn keys(&self, numbers: &mut HashMap<String, u32>, tokens: &TokenKind) -> Vec<u32> {
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
/// Myers 1986 with the limits that git sets to its search: a hostile pair of texts gets a longer list of
/// differences than it needs, not a longer time.
pub(super) fn changes(a: &Words, b: &Words, tokens: &TokenKind) -> Vec<Block> {
    let mut numbers = HashMap::new();
    let (a, b) = (Pieces::new(a), Pieces::new(b));
    let keys = (a.keys(&mut numbers, tokens), b.keys(&mut numbers, tokens));
    drop(numbers);
    let mut stretches: Vec<(bool, Range<usize>, Range<usize>)> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &keys.0, &keys.1) {
        let alike = matches!(op, DiffOp::Equal { .. });
        let (of_a, of_b) = (op.old_range(), op.new_range());
        match stretches.last_mut() {
            Some((before, end_a, end_b)) if *before == alike => {
                end_a.end = of_a.end;
                end_b.end = of_b.end;
            }
            _ => stretches.push((alike, of_a, of_b)),
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
    for (n, (alike, of_a, of_b)) in stretches.iter().enumerate() {
        let mut push = |of_a: Range<usize>, of_b: Range<usize>| {
            if !of_a.is_empty() || !of_b.is_empty() {
                shown.push(Stretch {
                    alike: *alike,
                    a: a.bytes(of_a),
                    b: b.bytes(of_b),
                });
            }
        };
        // At the ends of the texts there is a difference on one side only.
        let before = if n == 0 { 0 } else { CONTEXT };
        let behind = if n == last { 0 } else { CONTEXT };
        let folded = of_a.len().saturating_sub(before + behind);
        if !alike || folded < LEAST_FOLDED {
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
                    alike: true,
                    a: a.bytes(of_a),
                    b: b.bytes(of_b),
                });
            }
        };
        push(of_a.end - behind..of_a.end, of_b.end - behind..of_b.end);
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
    fn told(a: &str, b: &str) -> (String, String) {
        let (mut left, mut right) = (String::new(), String::new());
        for block in changes(&words(a), &words(b), &TokenKind::Words) {
            match block {
                Block::Folded(n) => {
                    left.push_str(&format!("<{n}>"));
                    right.push_str(&format!("<{n}>"));
                }
                Block::Shown(stretches) => {
                    for Stretch {
                        alike,
                        a: of_a,
                        b: of_b,
                    } in stretches
                    {
                        let (a, b) = (&a[of_a], &b[of_b]);
                        if alike {
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
        let (a, b) = told(
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
            let (left, right) = told(a, b);
            assert_eq!(left.replace("[-", "").replace("-]", ""), a);
            assert_eq!(right.replace("{+", "").replace("+}", ""), b);
        }
    }

    #[test]
    fn long_stretches_are_folded_between_differences() {
        let same: String = (0..100).map(|n| format!("w{n} ")).collect();
        let (a, _) = told(&format!("{same}x {same}"), &format!("{same}y {same}"));
        let context: String = (85..100).map(|n| format!("w{n} ")).collect();
        let behind: String = (0..15).map(|n| format!("w{n} ")).collect();
        assert_eq!(a, format!("<85>{context}[-x -]{behind}<85>"));
        let (a, _) = told(&format!("x {same}y"), &format!("y {same}x"));
        assert_eq!(a, format!("[-x -]{behind}<70>{context}[-y-]"));
        assert_eq!(told(&same, &same).0, "<100>");
        assert_eq!(told("a b c", "A, b c.").0, "a b c");
    }

    /// A permutation shares all words and hardly a stretch: the worst for the search.
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
