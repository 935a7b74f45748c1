//! Two documents compared, on a terminal.

use super::flow::Line;
use super::{Flow, Put, Screen, Style, visible};
use lookalike_base::{Result, count, counted, listed, percent};
use lookalike_engine::align::{Block, LEAST_FOLDED, Stretch, TextComparison, Words};
use lookalike_engine::document::{Both, Lines, Passages, Place, Side};
use lookalike_store::table;

/// Columns between two texts.
const BETWEEN: usize = 3;

/// The letters of both documents, and how they look.
const SIDES: [(&str, Style); 2] = [("A", Style::First), ("B", Style::Second)];

/// Rows are separated by this sign; rows with a difference by the second one.
const SIGNS: [&str; 2] = ["│", "┃"];

/// Prints the measures and both texts, side by side or as one text with the words of both where they
/// differ.
pub(crate) fn compared(
    both: &Both,
    [a, b]: [&Words; 2],
    (side_by_side, context): (bool, Option<usize>),
    screen: Screen,
    put: Put<'_>,
) -> Result<()> {
    head(both, screen, put)?;
    let comparison = TextComparison::new(a, b);
    let lines = [Lines::new(&a.text), Lines::new(&b.text)];
    let texts = Texts {
        comparison: &comparison,
        lines: &lines,
        numbered: lines.iter().any(Lines::several),
        screen,
    };
    put("\n")?;
    if side_by_side {
        texts.titles(both, put)?;
    }
    for block in comparison.blocks(context) {
        match &block {
            Block::Folded(stretch) => texts.folded(stretch, side_by_side, put)?,
            Block::Shown(shown) if side_by_side => texts.side_by_side(shown, put)?,
            Block::Shown(shown) => texts.unified(shown, put)?,
        }
    }
    if let [only] = comparison.stretches.as_slice()
        && only.equal
    {
        let says = screen.styled(Style::Soft, "no word differs");
        put(&format!("\n{says}\n"))?;
    }
    Ok(())
}

/// Prints the facts about both documents.
pub(crate) fn head(both: &Both, screen: Screen, put: Put<'_>) -> Result<()> {
    let names = [&both.a, &both.b].map(|side| visible(&table::cell(&side.found.record.docno)));
    let width = names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0).min(40);
    let sides = SIDES.into_iter().zip([&both.a, &both.b]);
    for (((letter, style), side), name) in sides.zip(&names) {
        let words = counted(side.found.record.words, "word");
        let gap = " ".repeat(width.saturating_sub(name.chars().count()));
        let about = about(side);
        put(&format!(
            "{} {}{gap}  {words}  {}\n",
            screen.styled(style, letter),
            screen.styled(Style::Strong, name),
            screen.styled(Style::Soft, &about)
        ))?;
    }
    let [a, b] = both.sizes();
    let shared = counted(both.shared, "shingle");
    if both.equal().is_some() {
        put(&format!("{}\n", both.equal_says()))?;
    }
    let Some(_) = both.resemblance() else {
        return put("Neither document has a shingle, so their resemblance is undefined.\n");
    };
    put(&format!(
        "resemblance {}: {shared} in both, of {} and {}\n",
        screen.styled(Style::Strong, &both.resemblance_text()),
        count(a),
        count(b)
    ))?;
    let [a_in_b, b_in_a] = both
        .containments()
        .map(|share| share.map_or("-".into(), |share| percent(share, 1)));
    put(&format!(
        "{a_in_b} of A\u{2019}s shingles are in B, {b_in_a} of B\u{2019}s in A\n"
    ))
}

/// Where a document is, its address, date and title, and where its text comes from.
fn about(side: &Side) -> String {
    let mut about = visible(&table::cell(&side.found.place()));
    let record = &side.found.record;
    let known = [&record.url, &record.date.0, &record.title].into_iter();
    for name in known.flatten() {
        about += &format!("  {}", visible(name));
    }
    let remark = match &side.text {
        Ok((_, source)) => source.remark(),
        Err(_) => Some("no text"),
    };
    about + &listed("", remark, |remark| format!("  ({remark})"))
}

/// The texts of a comparison.
struct Texts<'c> {
    comparison: &'c TextComparison<'c>,
    lines: &'c [Lines<'c>; 2],
    /// Whether a line of a text says where it is.
    numbered: bool,
    screen: Screen,
}

impl Texts<'_> {
    /// The part of the screen for each text side by side.
    fn column(&self) -> Screen {
        Screen {
            width: self.screen.width.saturating_sub(BETWEEN) / 2,
            ..self.screen
        }
    }

    /// The names of both documents above their texts.
    fn titles(&self, both: &Both, put: Put<'_>) -> Result<()> {
        let sides = [(SIDES[0], &both.a), (SIDES[1], &both.b)];
        let [a, b] = sides.map(|((letter, style), side)| {
            let mut flow = Flow::new(self.column());
            flow.text(&format!("{letter} "), style);
            flow.text(&table::cell(&side.found.record.docno), Style::Strong);
            flow.finish()
        });
        self.beside(a, b, false, put)?;
        let rule = "─".repeat(self.column().width + 1);
        let rule = format!("{rule}┼{rule}");
        put(&(self.screen.styled(Style::Soft, &rule) + "\n"))
    }

    /// Says how many words are left out, and where both texts go on.
    fn folded(&self, stretch: &Stretch, centred: bool, put: Put<'_>) -> Result<()> {
        let words = counted(stretch.a.len() as u64, "word");
        let mut text = format!("… {words} in common …");
        let ends = [
            (&self.comparison.a, stretch.a.end, &self.lines[0]),
            (&self.comparison.b, stretch.b.end, &self.lines[1]),
        ];
        let at = ends.map(|(pieces, end, lines)| {
            let span = pieces.words.spans.get(end);
            span.map(|span| lines.of(span.start))
        });
        if let ([Some(a), Some(b)], true) = (at, self.numbered) {
            text.push_str(&match a == b {
                true => format!("  line {}", count(a)),
                false => format!("  line {} of A, {} of B", count(a), count(b)),
            });
        }
        let free = self.screen.width.saturating_sub(text.chars().count());
        let indent = if centred { free / 2 } else { 0 };
        let text = self.screen.styled(Style::Soft, &text);
        put(&format!("{}{text}\n", " ".repeat(indent)))
    }

    /// Appends words that only one text has. Without colours they are marked by brackets. The white
    /// space after the last word is not marked.
    fn marked(&self, flow: &mut Flow, text: &str, first: bool) {
        if text.is_empty() {
            return;
        }
        let (style, opens, closes) = match first {
            true => (Style::First, "[-", "-]"),
            false => (Style::Second, "{+", "+}"),
        };
        let inner = text.trim_end();
        if !self.screen.colour {
            flow.text(opens, style);
        }
        flow.text(inner, style);
        if !self.screen.colour {
            flow.text(closes, style);
        }
        flow.text(text.get(inner.len()..).unwrap_or_default(), Style::Plain);
    }

    fn unified(&self, shown: &[Stretch], put: Put<'_>) -> Result<()> {
        let mut flow = Flow::new(self.screen);
        for stretch in shown {
            if stretch.equal {
                flow.text(self.comparison.text(stretch, true), Style::Plain);
            } else {
                let [a, b] = [true, false].map(|first| self.comparison.text(stretch, first));
                // The white space at the end of both texts is shown after the second one.
                let words = if b.is_empty() { a } else { a.trim_end() };
                self.marked(&mut flow, words, true);
                if !a.is_empty() && !b.is_empty() {
                    flow.text(" ", Style::Plain);
                }
                self.marked(&mut flow, b, false);
            }
            put_lines(flow.take(), put)?;
        }
        put_lines(flow.finish(), put)
    }

    fn side_by_side(&self, shown: &[Stretch], put: Put<'_>) -> Result<()> {
        for row in self.comparison.rows(shown, 1) {
            let [a, b] = [true, false].map(|first| {
                let mut flow = Flow::new(self.column());
                for stretch in &row {
                    let text = self.comparison.text(stretch, first);
                    match stretch.equal {
                        true => flow.text(text, Style::Plain),
                        false => self.marked(&mut flow, text, first),
                    }
                }
                flow.finish()
            });
            let differs = row.iter().any(|stretch| !stretch.equal);
            self.beside(a, b, differs, put)?;
        }
        Ok(())
    }

    /// Prints lines of both texts beside each other.
    fn beside(&self, a: Vec<Line>, b: Vec<Line>, differs: bool, put: Put<'_>) -> Result<()> {
        let style = if differs { Style::Plain } else { Style::Soft };
        let sign = self.screen.styled(style, SIGNS[usize::from(differs)]);
        let rows = a.len().max(b.len());
        let (mut a, mut b) = (a.into_iter(), b.into_iter());
        for _ in 0..rows {
            let (a, b) = (a.next().unwrap_or_default(), b.next().unwrap_or_default());
            let gap = " ".repeat(self.column().width.saturating_sub(a.width));
            let line = format!("{}{gap} {sign} {}", a.text, b.text);
            put(&(line.trim_end().to_string() + "\n"))?;
        }
        Ok(())
    }
}

fn put_lines(lines: Vec<Line>, put: Put<'_>) -> Result<()> {
    let mut lines = lines.into_iter();
    lines.try_for_each(|line| put(&(line.text + "\n")))
}

/// Prints the measures and the passages that both texts have.
pub(crate) fn passages(
    both: &Both,
    texts: [&Words; 2],
    passages: &Passages,
    context: Option<usize>,
    screen: Screen,
    put: Put<'_>,
) -> Result<()> {
    head(both, screen, put)?;
    let total = counted(passages.total, "shared passage");
    let least = counted(passages.length as u64, "token");
    put(&format!("\n{total} of at least {least}\n"))?;
    let covered = [passages.covered_a, passages.covered_b];
    for ((letter, style), of) in SIDES.into_iter().zip(covered) {
        put(&format!(
            "{} {} of {} ({}) in a passage\n",
            screen.styled(style, letter),
            count(of.covered),
            counted(of.tokens, "token"),
            percent(of.share, 1)
        ))?;
    }
    let [a, _] = texts;
    for (n, passage) in (1u64..).zip(&passages.listed) {
        let tokens = counted(passage.tokens as u64, "token");
        let title = format!("{}. {tokens}", count(n));
        put(&format!("\n{}\n", screen.styled(Style::Strong, &title)))?;
        for ((letter, style), place) in SIDES.into_iter().zip([&passage.a, &passage.b]) {
            let letter = screen.styled(style, letter);
            put(&format!(
                "{letter} {}\n",
                screen.styled(Style::Soft, &at(place))
            ))?;
        }
        let mut flow = Flow::new(screen);
        let [from, to] = passage.a.tokens;
        // At each end, unless the passage is shown whole.
        let ends = context.map_or(usize::MAX, |words| words.saturating_mul(2).max(1));
        let text = |range| a.text.get(a.bytes_of(&range)).unwrap_or_default();
        let hidden = (to - from).saturating_sub(ends.saturating_mul(2));
        if hidden < LEAST_FOLDED {
            flow.text(text(from..to), Style::Plain);
        } else {
            flow.text(text(from..from + ends), Style::Plain);
            flow.text("\n", Style::Plain);
            let words = counted(hidden as u64, "token");
            flow.text(&format!("… {words} more …\n"), Style::Soft);
            flow.text(text(to - ends..to), Style::Plain);
        }
        put_lines(flow.finish(), put)?;
    }
    let listed = passages.listed.len() as u64;
    if listed < passages.total {
        put(&format!(
            "\n{} of {} are listed; --most lists more\n",
            count(listed),
            counted(passages.total, "passage")
        ))?;
    }
    Ok(())
}

fn at(place: &Place) -> String {
    let numbers = |n: usize| count(n as u64);
    let [first, last] = place.lines;
    let lines = match first == last {
        true => format!("line {}", count(first)),
        false => format!("lines {} to {}", count(first), count(last)),
    };
    format!(
        "tokens {}..{}, bytes {}..{}, {lines}",
        numbers(place.tokens[0]),
        numbers(place.tokens[1]),
        numbers(place.bytes[0]),
        numbers(place.bytes[1])
    )
}
