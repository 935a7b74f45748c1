//! Finds the words of a readable text.
//!
//! The canonical text of words has neither capitals nor punctuation. A display of a text needs
//! both, and positions in documents refer to the readable text. This module therefore implements
//! the definition of a token ([`super`]) a second time. A test compares it with [`super::Parser`].

use std::cell::{Cell, RefCell};
use std::ops::Range;

use super::class::{Class, SLOW, table};
use super::code::{Before, Cutter, NAME, NUMBER};
use super::config::{ParseConfig, TokenKind};
use super::cut::{Cut, Open, cut};
use super::fold::{Rules, each_folded};
use super::known::{ClassCache, Known};
use super::masks::{BLOCK, LANES, Masks};
use super::tokens::{Canonical, TokenConsumer, Tokens};
use lookalike_base::boundary_before;

/// The range of each token in `text`, from its first character to its last. Ignorable characters
/// may be inside, not at the ends. For `bytes:N`, which has no tokens, the runs between white
/// space.
pub fn token_spans(text: &str, config: &ParseConfig) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut finder = SpanFinder::new(config);
    finder.push(text, &mut |span, _| spans.push(span));
    finder.finish(&mut |span, _| spans.push(span));
    spans
}

/// Calls `each` with the range of each token in `text`, as [`token_spans`] returns them, until it
/// returns `false`.
pub fn each_token(text: &str, config: &ParseConfig, mut each: impl FnMut(Range<usize>) -> bool) {
    each_token_or_name(text, config, |span, _| each(span));
}

/// As [`each_token`], also with whether the token is a name of a program.
pub fn each_token_or_name(
    text: &str,
    config: &ParseConfig,
    mut each: impl FnMut(Range<usize>, bool) -> bool,
) {
    let mut finder = SpanFinder::new(config);
    let more = Cell::new(true);
    let mut act = |span, name| more.set(more.get() && each(span, name));
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(boundary_before(rest, PIECE_BYTES));
        finder.push(piece, &mut act);
        if !more.get() {
            return;
        }
        rest = after;
    }
    finder.finish(&mut act);
}

/// Bytes of text between two looks whether more tokens are wanted.
const PIECE_BYTES: usize = 16 << 10;

thread_local! {
    /// Known classes, which a thread keeps from text to text.
    static CLASSES: RefCell<ClassCache> = RefCell::new(ClassCache::new(Rules::default()));
    /// Makes the canonical text of single tokens, for the parameters it was made for.
    static CANONICAL: RefCell<Option<(ParseConfig, Canonical)>> = const { RefCell::new(None) };
}

/// Takes the range of a token, and whether it is a name of a program ([`TokenKind::Code`]).
pub type Act<'a> = dyn FnMut(Range<usize>, bool) + 'a;

/// Finds the range of each token in a text that comes in pieces. Takes a few bytes of memory,
/// however long the text is.
pub struct SpanFinder {
    words: bool,
    /// Whether all characters count (`bytes:N`).
    raw: bool,
    /// Cuts programs (`code`).
    code: Option<Cutter>,
    rules: Rules,
    open: Open,
    span: Range<usize>,
    /// Where the span would end without its last character, and where that begins. Only of
    /// programs.
    last: Range<usize>,
    /// Bytes of the text so far.
    at: usize,
}

impl SpanFinder {
    pub fn new(config: &ParseConfig) -> SpanFinder {
        SpanFinder {
            words: config.tokens == TokenKind::Words,
            raw: matches!(config.tokens, TokenKind::Bytes(_)),
            code: Cutter::of(config),
            rules: Rules::of(config),
            open: Open::None,
            span: 0..0,
            last: 0..0,
            at: 0,
        }
    }

    /// Calls `act` with the tokens that end in the next piece.
    pub fn push(&mut self, text: &str, act: &mut Act<'_>) {
        if self.code.is_some() {
            return self.push_code(text, act);
        }
        let mut masks = Masks::default();
        let mut at = 0;
        while at < text.len() {
            let end = text.len().min(at + BLOCK);
            let block = text.as_bytes().get(at..end).unwrap_or_default();
            masks.set(block, self.words, self.rules.fold.hyphens);
            at = self.block(text, at..end, &masks, act);
        }
    }

    /// Goes through a block of a text. The last character may end behind it; returns where it ends.
    fn block(
        &mut self,
        text: &str,
        block: Range<usize>,
        masks: &Masks,
        act: &mut Act<'_>,
    ) -> usize {
        let mut at = block.start;
        while at < block.end {
            let (i, bit) = ((at - block.start) / LANES, (at - block.start) % LANES);
            let (space, slow) = masks.bits(i);
            // The rest of a word, or of what separates it from the next one.
            let ends = match self.open {
                Open::Word => space | slow,
                Open::None => !space | slow,
                _ => u64::MAX,
            };
            let length = ((ends >> bit).trailing_zeros() as usize).min(LANES - bit);
            at += length;
            self.at += length;
            if length > 0 && self.open == Open::Word {
                self.span.end = self.span.end.max(self.at);
            }
            if bit + length == LANES {
                continue;
            }
            match (slow >> (bit + length) & 1, self.open) {
                (0, Open::Word) => {
                    act(self.span.clone(), false);
                    self.open = Open::None;
                }
                (0, Open::None) => {
                    self.span.start = self.at;
                    self.open = Open::Word;
                }
                _ => {
                    let c = text.get(at..).and_then(|rest| rest.chars().next());
                    let Some(c) = c else { return text.len() };
                    self.step(c, act);
                    at += c.len_utf8();
                }
            }
        }
        at
    }

    /// Calls `act` with the last token, if the text ends with one.
    pub fn finish(mut self, act: &mut Act<'_>) {
        if self.code.is_some() {
            self.step_code('\n', Class::Separator, self.at..self.at, act);
        } else if self.open != Open::None {
            act(self.span, false);
        }
    }

    /// Goes through a piece of a program.
    fn push_code(&mut self, text: &str, act: &mut Act<'_>) {
        let mut rest = text;
        while let (Some(c), Some(code)) = (rest.chars().next(), &mut self.code) {
            let (run, extends) = code.run(rest.as_bytes());
            let length = if run > 0 { run } else { c.len_utf8() };
            let place = self.at..self.at + length;
            self.at = place.end;
            rest = rest.get(length..).unwrap_or_default();
            if run > 0 {
                if extends {
                    self.span.end = place.end;
                }
            } else if c.is_ascii() {
                self.step_code(c, Class::Separator, place, act);
            } else {
                let known = self.known(c);
                let Some(form) = known.form() else {
                    self.step_code(c, known.class(), place, act);
                    continue;
                };
                let mut dropped = true;
                each_folded(c, form, self.rules, |d| {
                    dropped = false;
                    self.step_code(d, self.known(d).class(), place.clone(), act);
                });
                if dropped && self.span.end == place.start {
                    self.span.end = place.end;
                }
            }
        }
    }

    fn step_code(&mut self, c: char, class: Class, place: Range<usize>, act: &mut Act<'_>) {
        let dropped = matches!(class, Class::Ignorable | Class::SoftHyphen);
        let Some(code) = self.code.as_mut().filter(|_| !dropped) else {
            return;
        };
        let step = code.step(c, class);
        match step.before {
            Before::Nothing => {}
            Before::Retract => self.open = Open::None,
            Before::Split => {
                act(self.span.start..self.last.start, false);
                self.span.start = self.last.end;
            }
        }
        if matches!(step.cut, Cut::Separate | Cut::Begin) && self.open != Open::None {
            act(self.span.clone(), step.name);
            self.open = Open::None;
        }
        if step.cut == Cut::Begin {
            self.span.start = place.start;
            self.open = Open::Word;
        }
        if matches!(step.cut, Cut::Extend | Cut::Begin) {
            self.last = self.span.end..place.start;
            self.span.end = place.end;
        }
    }

    #[inline]
    fn step(&mut self, c: char, act: &mut Act<'_>) {
        let place = self.at..self.at + c.len_utf8();
        self.at = place.end;
        match table(self.words, self.rules.fold.hyphens).get(c as usize) {
            Some(b' ') => self.step_as(c, Class::Separator, place, act),
            Some(&SLOW) | None if !self.raw => {
                let known = self.known(c);
                if let Some(form) = known.form() {
                    let mut dropped = true;
                    each_folded(c, form, self.rules, |d| {
                        dropped = false;
                        let class = self.class(d, self.known(d));
                        self.step_as(d, class, place.clone(), act);
                    });
                    // A dropped mark is drawn at the character before it.
                    if dropped && self.span.end == place.start {
                        self.span.end = place.end;
                    }
                } else {
                    self.step_as(c, self.class(c, known), place, act);
                }
            }
            Some(&SLOW) | None if c.is_whitespace() => {
                self.step_as(c, Class::Separator, place, act);
            }
            _ if c.is_ascii_uppercase() => self.step_as(c, Class::Upper, place, act),
            _ => self.step_as(c, Class::Letter, place, act),
        }
    }

    #[inline]
    fn known(&self, c: char) -> Known {
        CLASSES.with_borrow_mut(|classes| {
            if classes.rules != self.rules {
                *classes = ClassCache::new(self.rules);
            }
            classes.get(c)
        })
    }

    #[inline]
    fn class(&self, c: char, known: Known) -> Class {
        match known.class() {
            class if self.words => class,
            class => class.in_white_space(c),
        }
    }

    #[inline]
    fn step_as(&mut self, c: char, class: Class, place: Range<usize>, act: &mut Act<'_>) {
        let (effect, open) = cut(self.open, class, c);
        if matches!(effect, Cut::Separate | Cut::Begin) {
            if self.open != Open::None {
                act(self.span.clone(), false);
            }
            self.span.start = place.start;
        }
        if matches!(effect, Cut::Extend | Cut::Begin) {
            self.span.end = place.end;
        }
        self.open = open;
    }
}

/// The canonical text of a token: two tokens are equal if their canonical texts are equal. `name`
/// says whether it is a name of a program.
pub fn canonical_token(token: &str, name: bool, config: &ParseConfig) -> String {
    let mut canonical = String::new();
    push_canonical(token, name, config, &mut canonical);
    canonical
}

/// Appends the canonical text of a token.
pub fn push_canonical(token: &str, name: bool, config: &ParseConfig, out: &mut String) {
    if matches!(config.tokens, TokenKind::Code(_)) {
        // The text around a token decides where it ends, so the token is not cut again.
        let whole = ParseConfig {
            tokens: TokenKind::Whitespace,
            ..config.clone()
        };
        let begin = out.len();
        push_canonical(token, false, &whole, out);
        let own = |text: &str| Cutter::of(config).is_some_and(|of| of.is_own(text.as_bytes()));
        if name && config.fold.identifiers && out.get(begin..).is_some_and(own) {
            out.truncate(begin);
            out.push_str(NAME);
        }
        let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        if config.fold.literals && out.get(begin..).is_some_and(number) {
            out.truncate(begin);
            out.push_str(NUMBER);
        }
        return;
    }
    match config.tokens {
        TokenKind::Words if token.is_ascii() && !config.fold.hyphens => {
            out.extend(token.chars().map(|c| c.to_ascii_lowercase()));
        }
        TokenKind::Whitespace if token.is_ascii() => out.push_str(token),
        TokenKind::Bytes(_) => out.push_str(token),
        _ => CANONICAL.with_borrow_mut(|canonical| {
            if canonical.as_ref().is_none_or(|(of, _)| of != config) {
                *canonical = Some((config.clone(), Canonical::new(config)));
            }
            if let Some((_, canonical)) = canonical {
                let mut take = Take(out);
                canonical.push(token.as_bytes(), &mut take);
                canonical.finish(&mut take);
            }
        }),
    }
}

/// Appends canonical text.
struct Take<'a>(&'a mut String);

impl TokenConsumer for Take<'_> {
    fn take(&mut self, tokens: Tokens<'_>, _: bool) -> usize {
        // Canonical text is passed on between characters.
        self.0
            .push_str(std::str::from_utf8(tokens.bytes).unwrap_or_default());
        tokens.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Code, Comments, Language, ParseConfig, Parser, TokenConsumer, Tokens};
    use crate::read::{ContentKind, RawDocument};
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    struct Collected(Vec<u8>);

    impl TokenConsumer for Collected {
        fn take(&mut self, tokens: Tokens<'_>, _: bool) -> usize {
            let whole = tokens.whole(false);
            self.0.extend_from_slice(whole);
            whole.len()
        }
    }

    fn canonical(text: &str, config: &ParseConfig) -> String {
        let document = RawDocument::of_text(text, ContentKind::Text);
        let mut out = Collected(Vec::new());
        Parser::new(config).parse(&document, &mut out);
        String::from_utf8(out.0).unwrap()
    }

    fn configs() -> Vec<ParseConfig> {
        let kinds = [TokenKind::Words, TokenKind::Whitespace];
        let folds = ["none", "compat", "diacritics", "compat,diacritics,digits"];
        let each = kinds.into_iter().flat_map(|kind| {
            folds.map(|fold| ParseConfig {
                fold: fold.parse().unwrap(),
                ..kind.clone().into()
            })
        });
        let words = ["hyphens", "compat,diacritics,arabic,hyphens"].map(|fold| ParseConfig {
            fold: fold.parse().unwrap(),
            ..ParseConfig::default()
        });
        let third = ParseConfig {
            token_rule: 3,
            ..ParseConfig::default()
        };
        each.chain(words).chain([third]).collect()
    }

    /// Words that a hyphen divides at the end of a line, whatever is between its parts.
    #[test]
    fn broken_words_are_joined() {
        let tokens = |text: &str, fold: &str, token_rule: u32| {
            let config = ParseConfig {
                fold: fold.parse().unwrap(),
                token_rule,
                ..ParseConfig::default()
            };
            canonical(text, &config)
        };
        for (text, plain, hyphens) in [
            ("spi\u{ad}\nnach", "spinach", "spinach"),
            (
                "spi\u{ad} \r\n\t Nach. 1\u{ad}\n2",
                "spinach 12",
                "spinach 12",
            ),
            ("spi\u{ad} nach", "spi nach", "spi nach"),
            ("spi\u{ad}\n, nach \u{ad}\nx", "spi nach x", "spi nach x"),
            (
                "漢\u{ad}\n字 don\u{ad}'\u{ad}t",
                "漢 字 don't",
                "漢 字 don't",
            ),
            ("spi-\nnach", "spi nach", "spinach"),
            ("spi\u{2010} \n\n nach", "spi nach", "spinach"),
            ("spi\u{ac}\u{2028}nach", "spi nach", "spinach"),
            (
                "Fa\u{2e17}\nden spi\u{ad}-\nnach",
                "fa den spi nach",
                "faden spinach",
            ),
            ("über-\nå\u{323}r", "über ạ\u{30a}r", "überạ\u{30a}r"),
            ("a-b - c--\nd", "a b c d", "a b c d"),
            (
                "Anglo-\nSaxon COVID-\n19 x-",
                "anglo saxon covid 19 x",
                "anglo saxon covid 19 x",
            ),
            ("x - \ny. -\nz", "x y z", "x y z"),
        ] {
            assert_eq!(tokens(text, "none", 4), plain, "{text:?}");
            assert_eq!(tokens(text, "hyphens", 4), hyphens, "{text:?}");
            for size in [0, 40, 60, 61, 62, 63, 64, 4090] {
                same(&format!("{}{text} x", "a ".repeat(size)));
            }
        }
        assert_eq!(
            tokens("spi\u{ad}\nnach ΣΑΣ σας", "none", 3),
            "spi nach σασ σας"
        );
        assert_eq!(
            tokens("Ο ΣΙΣΥΦΟΣ, ο σισυφος", "none", 4),
            "ο σισυφοσ ο σισυφοσ"
        );
        assert_eq!(tokens("كــتاب", "diacritics", 3), "كــتاب");
        let text = "x spi\u{ad}\nnach-\r\nleaf. y";
        let config = ParseConfig {
            fold: "hyphens".parse().unwrap(),
            ..ParseConfig::default()
        };
        let found: Vec<&str> = token_spans(text, &config)
            .into_iter()
            .map(|span| &text[span])
            .collect();
        assert_eq!(found, ["x", "spi\u{ad}\nnach-\r\nleaf", "y"]);
    }

    /// Every language, with comments and without, and with folds.
    fn programs() -> impl Iterator<Item = ParseConfig> {
        let kinds = Language::ALL.into_iter().flat_map(|language| {
            Comments::ALL.map(|comments| TokenKind::Code(Code { language, comments }))
        });
        let folds = [
            "none",
            "identifiers,literals",
            "diacritics,digits,identifiers",
        ];
        kinds.flat_map(move |kind| {
            folds.map(|fold| ParseConfig {
                fold: fold.parse().unwrap(),
                ..kind.clone().into()
            })
        })
    }

    fn same(text: &str) {
        same_with(text, configs());
    }

    fn same_with(text: &str, configs: impl IntoIterator<Item = ParseConfig>) {
        // A byte order mark at the start is not text.
        let text = text.trim_start_matches('\u{feff}');
        for config in configs {
            let (mut spans, mut names) = (Vec::new(), Vec::new());
            each_token_or_name(text, &config, |span, name| {
                spans.push(span);
                names.push(name);
                true
            });
            let ends = spans.iter().map(|span| (span.start, span.end));
            assert!(
                ends.clone().all(|(start, end)| start < end),
                "{text:?} {spans:?}"
            );
            assert!(
                ends.clone().zip(ends.skip(1)).all(|(a, b)| a.1 <= b.0),
                "{text:?}"
            );
            let tokens: Vec<String> = spans
                .into_iter()
                .zip(names)
                .map(|(span, name)| canonical_token(&text[span], name, &config))
                .collect();
            // The parts of a token that should have been two would read the same.
            let whole = |token: &String| !token.contains(' ');
            assert!(config.tokens != TokenKind::Words || tokens.iter().all(whole));
            assert_eq!(
                tokens.join(" "),
                canonical(text, &config),
                "{text:?} {config:?}"
            );
        }
    }

    /// Spans refer to the text as read, whatever tokens leave out.
    #[test]
    fn spans_are_those_of_the_text() {
        for (text, tokens) in [
            (
                "\u{feff}co\u{ad}op\u{ad}, x\u{200b}",
                &["co\u{ad}op", "x"][..],
            ),
            (
                "cafe\u{301} \u{301}e\u{301}\u{323}x",
                &["cafe\u{301}", "e\u{301}\u{323}x"],
            ),
            (
                "\u{1112}\u{1161}\u{11ab} don\u{2060}'\u{200d}t",
                &["\u{1112}\u{1161}\u{11ab}", "don\u{2060}'\u{200d}t"],
            ),
            (
                "می\u{200c}خواهم \u{ad} 漢\u{fe00}字",
                &["می\u{200c}خواهم", "漢", "字"],
            ),
        ] {
            let spans = token_spans(text, &ParseConfig::default());
            let found: Vec<&str> = spans.into_iter().map(|span| &text[span]).collect();
            assert_eq!(found, tokens);
        }
        let folded = |fold: &str| ParseConfig {
            fold: fold.parse().unwrap(),
            ..ParseConfig::default()
        };
        let config = folded("diacritics");
        let text = "Café e\u{301}\u{323}x \u{301}naï'\u{301}f cafe\u{301}.";
        let spans = token_spans(text, &config);
        let found: Vec<&str> = spans.into_iter().map(|span| &text[span]).collect();
        assert_eq!(
            found,
            ["Café", "e\u{301}\u{323}x", "naï'\u{301}f", "cafe\u{301}"]
        );
        let folded = folded("compat");
        let text = "ｆｕｌｌ ﬁx (㈱a ½ №5";
        let spans = token_spans(text, &folded);
        let found: Vec<&str> = spans.into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, ["ｆｕｌｌ", "ﬁx", "㈱", "a", "½", "№5"]);
        let tokens = found
            .iter()
            .map(|token| canonical_token(token, false, &folded));
        assert_eq!(
            tokens.collect::<Vec<_>>(),
            ["full", "fix", "株", "a", "½", "no5"]
        );
    }

    #[test]
    fn corners() {
        for text in [
            "",
            " ",
            "Don't 'quote' dogs' o'clock' ''a'",
            "near-duplicate (Word), e.g. 3.14",
            "漢字かな kana カナ゙x 漢'字",
            "e\u{301}te\u{301} \u{301}x a'\u{301}b a\u{2019}b a'\u{93f}",
            "İstanbul ẞ ΑΣ ς ας Σς",
        ] {
            same(text);
        }
    }

    /// Texts that cross a boundary of 64 bytes, or of 4,096.
    #[test]
    fn long_texts() {
        let parts = [
            "x'y 漢字'é'd ",
            "a\u{301}b'\u{301}c. ",
            "'",
            "𝒳'z''",
            "\0 \u{b} - ",
        ];
        for part in parts {
            for pad in (0..70).chain(BLOCK - 70..BLOCK + 3) {
                for fill in ["a", " "] {
                    same(&(fill.repeat(pad) + part + &fill.repeat(70) + part));
                }
            }
        }
    }

    /// Letters, capitals, marks that are reordered or composed, Hangul letters, ignorable
    /// characters and compatibility forms.
    const ANY: &str = "[a-cA-C'\u{2019}\u{301}\u{323}\u{345}\u{93f}\u{915}\u{93c}\u{1100}\u{1161}\u{11a8}\
                       \u{ad}\u{200d}\u{34f}\u{212b}\u{130}éΣςＡﬁ½㈱ｶﾞ漢カ\u{3099}𝒳 ,\u{a0}.\n-\
                       กำ\u{e49}\u{e31}๑ກຳໜកខ\u{17d2}\u{17b6}\u{17b7}က\u{102c}\u{1039}\u{1031}٣٤]{0,30}";

    /// Generates parts of programs, cut anywhere.
    fn program() -> impl Strategy<Value = String> {
        let marks = [
            "//", "/*", "*/", "--", "\"\"\"", "\'\'\'", "\"\"", "0x", "1e", "if", "\\\n", "\\",
            "\n", "\r", " ", "\t", "\u{b}", "\u{2028}", "<<", "==", "r#\"", "\"#", "R\"x(", ")x\"",
            "<<x\n", "<<-'x' ", "\nx\n", "x \n", "((", "return", "/[", "]/",
        ];
        let part = prop_oneof![
            "[a-cxep0-9_$.'\"`/*#%(){}=<>+&|:;?!~@^-]",
            prop::sample::select(marks.to_vec()).prop_map(str::to_string),
            "[é漢カ\u{3099}กำ\u{17d2}\u{301}\u{323}\u{338}\u{93f}\u{2019}≠≤٣²\u{ad}\0😀\u{212b}]",
        ];
        prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
    }

    #[test]
    fn a_mark_composes_with_what_ends_the_tag_of_a_here_document() {
        for config in programs() {
            for sign in ["<", ">"] {
                let text = format!("<<e{sign}\u{338}\n\u{17d2}\ne\n");
                let composed: String = text.nfc().collect();
                assert_ne!(composed, text);
                assert_eq!(canonical(&composed, &config), canonical(&text, &config));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn tokens_of_programs_are_those_of_the_parser(text in program()) {
            same_with(&text, programs());
        }

        #[test]
        fn pieces_do_not_change_programs(text in program(), size in 1usize..5) {
            for config in programs() {
                let (mut spans, mut canonical) = (Vec::new(), Canonical::new(&config));
                let mut finder = SpanFinder::new(&config);
                for piece in text.chars().collect::<Vec<_>>().chunks(size) {
                    let piece: String = piece.iter().collect();
                    finder.push(&piece, &mut |span, _| spans.push(span));
                }
                finder.finish(&mut |span, _| spans.push(span));
                prop_assert_eq!(spans, token_spans(&text, &config));
                let [mut whole, mut cut] = [String::new(), String::new()];
                for (size, out) in [(text.len().max(1), &mut whole), (size, &mut cut)] {
                    let mut take = Take(out);
                    for piece in text.as_bytes().chunks(size) {
                        canonical.push(piece, &mut take);
                    }
                    canonical.finish(&mut take);
                }
                prop_assert_eq!(whole, cut);
            }
        }

        /// Folded white space, and canonically equivalent characters.
        #[test]
        fn equivalent_programs_have_the_same_tokens(text in program()) {
            for config in programs() {
                let document = RawDocument::of_text(&text, ContentKind::Text);
                let mut kept = Vec::new();
                Parser::new(&config).text(&document, &mut kept);
                let kept = String::from_utf8(kept).unwrap();
                let tokens = canonical(&text, &config);
                prop_assert_eq!(&canonical(&kept, &config), &tokens, "{:?}", kept);
                for other in [text.nfc().collect::<String>(), text.nfd().collect()] {
                    let found = canonical(&other, &config);
                    prop_assert_eq!(&found, &tokens, "{:?} {:?}", other, config);
                }
                let apart = |token: &str| !token.is_empty() && !token.contains(char::is_whitespace);
                prop_assert!(tokens.is_empty() || tokens.split(' ').all(apart), "{:?}", tokens);
                prop_assert!(unicode_normalization::is_nfc(&tokens), "{:?}", tokens);
            }
        }
    }

    proptest! {
        #[test]
        fn tokens_are_those_of_the_parser(text in ANY) {
            same(&text);
        }

        #[test]
        fn pieces_do_not_change_the_spans(text in ANY, size in 1usize..7) {
            for config in configs() {
                let mut spans = Vec::new();
                let mut finder = SpanFinder::new(&config);
                let mut rest = &text[..];
                while !rest.is_empty() {
                    let (piece, after) = rest.split_at(boundary_before(rest, size + 3));
                    finder.push(piece, &mut |span, _| spans.push(span));
                    rest = after;
                }
                finder.finish(&mut |span, _| spans.push(span));
                assert_eq!(spans, token_spans(&text, &config));
            }
        }

        #[test]
        fn tokens_of_any_text_are_those_of_the_parser(text in any::<String>()) {
            same(&text);
        }
    }
}
