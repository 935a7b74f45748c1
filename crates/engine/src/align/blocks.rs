//! A comparison of two texts, cut into parts for display.

use std::ops::Range;

use super::differences::{Out, Stretch, differences, equal_ends};
use super::words::{Pieces, Words, numbers};

/// A stretch that would hide fewer words is not folded.
pub const LEAST_FOLDED: usize = 10;

/// A part of a comparison, in order. The ranges are of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Equal words that are not shown.
    Folded(Stretch),
    /// Stretches that are shown.
    Shown(Vec<Stretch>),
}

/// A row side by side is cut at the end of a sentence if it has this number of words on a side.
const SENTENCES: usize = 40;
/// A row is cut between equal words if it has this number of words on a side.
const ROW: usize = 100;

/// The most equal words that are shown as part of the difference around them.
const ISLAND: usize = 5;
/// For each of these words, the least words of the differences before and after them.
const SEA: usize = 4;

/// Two texts and where their words differ.
#[derive(Debug)]
pub struct TextComparison<'t> {
    pub a: Pieces<'t>,
    pub b: Pieces<'t>,
    /// All stretches, in tokens. A stretch that differs may contain a few equal words.
    pub stretches: Vec<Stretch>,
}

impl<'t> TextComparison<'t> {
    pub fn new(a: &'t Words, b: &'t Words) -> Self {
        let (of_a, of_b) = numbers(a, b);
        TextComparison {
            stretches: without_islands(differences(&of_a, &of_b), &of_a, &of_b),
            a: Pieces::new(a),
            b: Pieces::new(b),
        }
    }

    /// The same, in which differences have whole words, as readers see them: up to white space.
    pub fn of_whole_words(mut self) -> Self {
        let joined = |a, b| self.a.words.joined(a) || self.b.words.joined(b);
        let (mut whole, mut taken) = (Out::default(), 0);
        for Stretch {
            equal,
            mut a,
            mut b,
        } in std::mem::take(&mut self.stretches)
        {
            if equal {
                // Counts the tokens that its neighbours take from it; the texts themselves end with
                // a word.
                let after = (0..a.len())
                    .take_while(|n| joined(a.start + n, b.start + n))
                    .count();
                taken = (0..a.len() - after)
                    .take_while(|n| joined(a.end - n, b.end - n))
                    .count();
                if let Some(before) = whole.0.last_mut() {
                    (before.a.end, before.b.end) = (a.start + after, b.start + after);
                }
                a = a.start + after..a.end - taken;
                b = b.start + after..b.end - taken;
            } else {
                (a.start, b.start) = (a.start - taken, b.start - taken);
            }
            whole.push(equal, a, b);
        }
        self.stretches = whole.0;
        self
    }

    /// Returns the text of a stretch in the first text, or in the second, with the punctuation and
    /// white space around its words.
    pub fn text(&self, stretch: &Stretch, first: bool) -> &'t str {
        let (pieces, range) = match first {
            true => (&self.a, &stretch.a),
            false => (&self.b, &stretch.b),
        };
        pieces.text(range)
    }

    /// The whole comparison. With a context, long equal stretches are folded, except this number of
    /// words before and after a difference.
    pub fn blocks(&self, context: Option<usize>) -> Vec<Block> {
        let Some(context) = context else {
            return match self.stretches.is_empty() {
                true => Vec::new(),
                false => vec![Block::Shown(self.stretches.clone())],
            };
        };
        let mut blocks = Vec::new();
        let mut shown: Vec<Stretch> = Vec::new();
        let last = self.stretches.len().saturating_sub(1);
        for (n, stretch) in self.stretches.iter().enumerate() {
            // At each end of the texts there is a difference on one side only.
            let before = if n == 0 { 0 } else { context };
            let after = if n == last { 0 } else { context };
            let folded = stretch.a.len().saturating_sub(before.saturating_add(after));
            if !stretch.equal || folded < LEAST_FOLDED {
                shown.push(stretch.clone());
                continue;
            }
            let [front, middle, back] = cut(stretch, before, stretch.a.len() - after);
            shown.extend(front);
            if !shown.is_empty() {
                blocks.push(Block::Shown(std::mem::take(&mut shown)));
            }
            blocks.extend(middle.map(Block::Folded));
            shown.extend(back);
        }
        if !shown.is_empty() {
            blocks.push(Block::Shown(shown));
        }
        blocks
    }

    /// Cuts stretches into rows, which are shown side by side: where both texts have this number of
    /// line feeds or more, and within long lines between equal words. In each row the two texts are
    /// at nearly the same place, whatever lengths they have.
    pub fn rows(&self, shown: &[Stretch], lines: usize) -> Vec<Vec<Stretch>> {
        let (mut rows, mut row) = (Vec::new(), Out::default());
        let (mut words_a, mut words_b) = (0usize, 0usize);
        let mut push = |equal: bool, a: Range<usize>, b: Range<usize>| {
            words_a += a.len();
            words_b += b.len();
            let (at_a, at_b) = (a.end, b.end);
            row.push(equal, a, b);
            let (gap_a, gap_b) = (self.a.words.gap(at_a), self.b.words.gap(at_b));
            let both = |is: &dyn Fn(&str) -> bool| is(gap_a) && is(gap_b);
            let feeds = |gap: &str| gap.matches('\n').count() >= lines;
            // A point within an address or a number ends no sentence.
            let sentence = |gap: &str| {
                gap.contains('。')
                    || gap.contains(['.', '!', '?']) && gap.contains(char::is_whitespace)
            };
            let words = words_a.max(words_b);
            let cut = both(&feeds)
                || equal && words >= SENTENCES && both(&sentence)
                || equal && words >= ROW && both(&|gap| gap.contains(char::is_whitespace));
            if cut {
                rows.push(std::mem::take(&mut row.0));
                (words_a, words_b) = (0, 0);
            }
        };
        for Stretch { equal, a, b } in shown.iter().cloned() {
            match equal {
                true => a.zip(b).for_each(|(a, b)| push(true, a..a + 1, b..b + 1)),
                false => push(false, a, b),
            }
        }
        rows.push(row.0);
        rows.retain(|row| !row.is_empty());
        rows
    }
}

/// Joins differences that only a few equal words separate. Two passages that have nothing to do
/// with each other share some words in the same order, and a reader does not care which.
fn without_islands(stretches: Vec<Stretch>, of_a: &[u32], of_b: &[u32]) -> Vec<Stretch> {
    let size = |stretch: &Stretch| stretch.a.len().max(stretch.b.len());
    let mut joined: Vec<Stretch> = Vec::with_capacity(stretches.len());
    let mut rest = stretches.into_iter().peekable();
    while let Some(stretch) = rest.next() {
        let words = stretch.a.len();
        let is_island = stretch.equal && words <= ISLAND;
        match (joined.last_mut(), rest.peek()) {
            (Some(before), Some(after))
                if is_island && words * SEA <= size(before).min(size(after)) =>
            {
                before.a.end = after.a.end;
                before.b.end = after.b.end;
                rest.next();
            }
            _ => joined.push(stretch),
        }
    }
    // A joined difference may begin or end with words that are equal after all.
    let mut out = Out::default();
    for Stretch { equal, a, b } in joined {
        let (Some(left), Some(right)) = (of_a.get(a.clone()), of_b.get(b.clone())) else {
            continue;
        };
        let (front, back) = equal_ends(left, right);
        if equal || front + back == 0 {
            out.push(equal, a, b);
            continue;
        }
        let (from_a, from_b) = (a.start + front, b.start + front);
        let (to_a, to_b) = (a.end - back, b.end - back);
        out.push(true, a.start..from_a, b.start..from_b);
        out.push(false, from_a..to_a, from_b..to_b);
        out.push(true, to_a..a.end, to_b..b.end);
    }
    out.0
}

/// Cuts an equal stretch in three; parts without words are `None`.
fn cut(stretch: &Stretch, first: usize, second: usize) -> [Option<Stretch>; 3] {
    let part = |from: usize, to: usize| {
        (from < to).then(|| Stretch {
            equal: true,
            a: stretch.a.start + from..stretch.a.start + to,
            b: stretch.b.start + from..stretch.b.start + to,
        })
    };
    [
        part(0, first),
        part(first, second),
        part(second, stretch.a.len()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_text::parse::{ParseConfig, TokenKind};

    /// The bytes of a stretch.
    fn bytes(comparison: &TextComparison<'_>, stretch: &Stretch) -> Stretch {
        Stretch {
            equal: stretch.equal,
            a: comparison.a.bytes(&stretch.a),
            b: comparison.b.bytes(&stretch.b),
        }
    }

    const FOLD: Option<usize> = Some(15);

    fn words(text: &str) -> Words {
        Words::new(text.into(), false, ParseConfig::default())
    }

    /// Both sides as text: `[-only in a-]`, `{+only in b+}`, `<n>` for a fold.
    fn marked(a: &str, b: &str, context: Option<usize>) -> (String, String) {
        let (mut left, mut right) = (String::new(), String::new());
        let (of_a, of_b) = (words(a), words(b));
        let comparison = TextComparison::new(&of_a, &of_b);
        for block in comparison.blocks(context) {
            match block {
                Block::Folded(stretch) => {
                    left.push_str(&format!("<{}>", stretch.a.len()));
                    right.push_str(&format!("<{}>", stretch.b.len()));
                }
                Block::Shown(stretches) => {
                    let rows = comparison.rows(&stretches, 1);
                    let tokens = |all: &[Stretch]| all.iter().map(|s| s.a.len() + s.b.len()).sum();
                    let in_rows: usize = rows.iter().map(|row| tokens(row)).sum::<usize>();
                    let all: usize = tokens(&stretches);
                    assert_eq!(in_rows, all);
                    for stretch in stretches {
                        let Stretch { equal, a: x, b: y } = bytes(&comparison, &stretch);
                        let (a, b) = (&a[x], &b[y]);
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
        (left.replace("[--]", ""), right.replace("{++}", ""))
    }

    #[test]
    fn words_are_compared_as_they_are_shingled() {
        let (a, b) = marked(
            "The Cat (black) sat; on the mat.",
            "the cat [black], stood on THE mat",
            FOLD,
        );
        assert_eq!(a, "The Cat (black) [-sat; -]on the mat.");
        assert_eq!(b, "the cat [black], {+stood +}on THE mat");
    }

    #[test]
    fn differences_have_whole_words() {
        let shown = |a: &str, b: &str| {
            let (of_a, of_b) = (words(a), words(b));
            let comparison = TextComparison::new(&of_a, &of_b).of_whole_words();
            let each = comparison.stretches.iter();
            let each = each.map(|s| (s.equal, comparison.text(s, true), comparison.text(s, false)));
            each.map(|(equal, a, b)| match equal {
                true => a.to_string(),
                false => format!("[{a}|{b}]"),
            })
            .collect::<String>()
        };
        assert_eq!(
            shown("in Section 36.16. Next", "in Section 37.16. Next"),
            "in Section [36.16. |37.16. ]Next"
        );
        assert_eq!(
            shown("see a-b-c-d now", "see a-b-x-d now"),
            "see [a-b-c-d |a-b-x-d ]now"
        );
        assert_eq!(shown("x-a b c-y", "z-a b c-w"), "[x-a |z-a ]b [c-y|c-w]");
        assert_eq!(shown("a b-c", "a b-c"), "a b-c");
        assert_eq!(shown("one e-mail", "one mail"), "one [e-mail|mail]");
        // Tokens without anything between them are words of their own.
        assert_eq!(shown("漢字仮", "漢宇仮"), "漢[字|宇]仮");
    }

    #[test]
    fn corners() {
        for (a, b) in [
            ("a", ""),
            ("", "b"),
            ("(a", "a)"),
            ("«a» b", "- a -"),
            ("a\u{2019}b \u{130}", "A'B i\u{307}"),
        ] {
            let (left, right) = marked(a, b, FOLD);
            assert_eq!(left.replace("[-", "").replace("-]", ""), a);
            assert_eq!(right.replace("{+", "").replace("+}", ""), b);
        }
        assert_eq!(marked("", "", None), (String::new(), String::new()));
    }

    #[test]
    fn long_stretches_are_folded_between_differences() {
        let same: String = (0..100).map(|n| format!("w{n} ")).collect();
        let of = |a: &str, b: &str, fold| marked(a, b, fold).0;
        let (x, y) = (format!("{same}x {same}"), format!("{same}y {same}"));
        let a = of(&x, &y, FOLD);
        let context: String = (85..100).map(|n| format!("w{n} ")).collect();
        let behind: String = (0..15).map(|n| format!("w{n} ")).collect();
        assert_eq!(a, format!("<85>{context}[-x -]{behind}<85>"));
        assert_eq!(of(&x, &y, None), format!("{same}[-x -]{same}"));
        let a = of(&format!("x {same}y"), &format!("y {same}x"), FOLD);
        assert_eq!(a, format!("[-x -]{behind}<70>{context}[-y-]"));
        assert_eq!(of(&same, &same, FOLD), "<100>");
        assert_eq!(of("a b c", "A, b c.", FOLD), "a b c");
        assert_eq!(of(&x, &y, Some(0)), "<100>[-x -]<100>");
    }

    #[test]
    fn a_few_equal_words_do_not_break_a_difference() {
        let (a, b) = marked("1 2 3 4 x 5 6 7 8 y", "9 10 11 12 x 13 14 15 16 y", None);
        assert_eq!(a, "[-1 2 3 4 x 5 6 7 8 -]y");
        assert_eq!(b, "{+9 10 11 12 x 13 14 15 16 +}y");
        // The differences are too small for it.
        let (a, _) = marked("1 2 3 x 5 6 7 8 y", "9 10 11 x 13 14 15 16 y", None);
        assert_eq!(a, "[-1 2 3 -]x [-5 6 7 8 -]y");
        // The words at its ends are not part of a joined difference.
        let (a, b) = marked("0 a b c d x e f g h 1 x 2", "0 x i j k l m n 1 x 2", None);
        assert_eq!(a, "0 [-a b c d x e f g h -]1 x 2");
        assert_eq!(b, "0 {+x i j k l m n +}1 x 2");
    }

    #[test]
    fn rows_begin_where_both_texts_begin_a_line() {
        let rows_of = |a: &str, b: &str, lines| -> Vec<(String, String)> {
            let (of_a, of_b) = (words(a), words(b));
            let comparison = TextComparison::new(&of_a, &of_b);
            let rows = comparison.rows(&comparison.stretches, lines);
            let text = |row: &[Stretch]| {
                let bytes: Vec<Stretch> = row.iter().map(|s| bytes(&comparison, s)).collect();
                let left: String = bytes.iter().map(|s| &a[s.a.clone()]).collect();
                let right: String = bytes.iter().map(|s| &b[s.b.clone()]).collect();
                (left, right)
            };
            rows.iter().map(|row| text(row)).collect()
        };
        let rows = |a: &str, b: &str| rows_of(a, b, 1);
        let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert_eq!(
            rows("a b\nc d\ne f", "a x\nc d e\ny\nf"),
            [pair("a b\n", "a x\n"), pair("c d\ne f", "c d e\ny\nf")]
        );
        // Lines that only one text has are a row of their own.
        assert_eq!(
            rows("a\nb\n", "a\nx y\nb\n"),
            [pair("a\n", "a\n"), pair("", "x y\n"), pair("b\n", "b\n")]
        );
        assert_eq!(
            rows_of("a\nb\n\nc", "a\nb\n \nc", 2),
            [pair("a\nb\n\n", "a\nb\n \n"), pair("c", "c")]
        );
        // No word is cut at a point, however long the row is.
        let address = format!("{} www.example.com. Then", "w ".repeat(38));
        let cut: Vec<String> = rows(&address, &address)
            .into_iter()
            .map(|row| row.0)
            .collect();
        assert!(
            cut[0].ends_with("www.example.com. ") && cut[1..] == ["Then"],
            "{cut:?}"
        );
        let long: String = (0..250).map(|n| format!("w{n} ")).collect();
        let lengths: Vec<usize> = rows(&long, &long)
            .iter()
            .map(|(left, _)| left.split_whitespace().count())
            .collect();
        assert_eq!(lengths, [100, 100, 50]);
    }

    #[test]
    fn numbers_are_those_of_canonical_texts() {
        let text = "The the THE don\u{2019}t DON'T x \u{130} i\u{307} x";
        let (a, b) = numbers(&words(text), &words("x the y"));
        assert_eq!(a, [0, 0, 0, 1, 1, 2, 3, 3, 2]);
        assert_eq!(b, [2, 0, 4]);
        let spaced = |text: &str| Words::new(text.into(), false, TokenKind::Whitespace.into());
        let (a, b) = numbers(&spaced(text), &Words::default());
        assert_eq!((a, b), (vec![0, 1, 2, 3, 4, 5, 6, 7, 5], vec![]));
        // Each text follows its own rule, so only words that are canonical in both are the same.
        let (a, b) = numbers(&spaced("The the x=1"), &words("THE X x=1"));
        assert_eq!((a, b), (vec![0, 1, 2], vec![1, 3, 3, 4]));
    }
}
