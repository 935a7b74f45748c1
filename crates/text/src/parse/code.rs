//! Cuts programs, formulas and queries into tokens (token kind `code`).
//!
//! One state machine over characters is right for many languages, because it knows only what they
//! share: names, numbers, operators, brackets, literals and comments. It needs no character in
//! advance, so the text may come in pieces. A [`Before`] says how a character affects the
//! characters before it.
//!
//! # Tokens
//! - A *name*: a run of letters, digits, marks and `_`, which does not begin with a digit; in Java
//!   and JavaScript also `$`.
//! - A *number*: a run of letters, digits and `_` that begins with a digit; a point, the sign of an
//!   exponent or a separating apostrophe belongs to it if a digit follows.
//! - An *operator*: the longest one in [`OPERATORS`], or a single character. A bracket is also an operator.
//! - A *command*: a backslash with the letters after it, or with one other character. A backslash
//!   before white space, as at the end of a line, is not a token.
//! - Each quote of a *literal*, and in it each word, each escape and each other character.
//! - What begins a *comment*, and its words. With [`Comments::Drop`], a comment has no token.
//!
//! # Invariants
//! - White space only matters as white space with or without the end of a line, so a text has the
//!   same tokens after its white space is folded.
//! - Canonically equivalent texts have the same tokens: a mark takes the last character out of an
//!   operator of several, because it may compose with it (`=` with U+0338 is `≠`).
//! - A literal in quotes ends with its line, unless the language marks it otherwise (three quotes,
//!   backquotes, or the delimiter of a raw string) or, as Rust, lets it go on. So a quote that begins no literal spoils one line at most.

mod fence;
mod keywords;

use self::fence::{Fence, Memory};
use self::keywords::is_keyword;
use super::class::Class;
use super::config::{Comments, Language, ParseConfig, TokenKind};
use super::cut::{Cut, Open, cut};

/// The token that replaces each name with `--fold identifiers`. No text has it as a token of code:
/// in a language where `$` is not a letter it is a token of its own, and in the others this is a
/// name.
pub(super) const NAME: &str = "$_";

/// The token that replaces each number with `--fold literals`.
pub(super) const NUMBER: &str = "0";

/// The treatment of the open token before a character takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// It is kept.
    Nothing,
    /// It was not a token.
    Retract,
    /// Its last character, which is ASCII, is a token of its own.
    Split,
}

/// The effect of a character on the text before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub before: Before,
    /// The next action. Never [`Cut::Hold`].
    pub cut: Cut,
    /// If this ends the open token: whether that is a name.
    pub name: bool,
}

/// A state of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// After white space, or at the beginning.
    Space,
    /// After a token that only marks extend.
    Done,
    Name,
    Number(Number),
    /// A number and a character that belongs to it if a digit follows.
    NumberAnd(Number, u8),
    /// An operator, its bytes in order.
    Operator(u32),
    Backslash,
    Command,
    /// A literal without content, which may be the beginning of three quotes.
    Empty(u8),
    /// The apostrophe of Rust, which begins a character or a lifetime.
    Tick,
    /// That and a letter, which may be the beginning of a name.
    TickWord,
    /// That and another character, or white space.
    TickOther,
    Literal(Literal),
    Comment(Comment),
    /// The signs `#` after the prefix of a raw string of Rust.
    Hashes(u8),
    /// A slash that begins a comment or a regular expression.
    Slash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    /// It is `0` so far.
    zero: bool,
    hexadecimal: bool,
    /// It ends in the letter of an exponent.
    exponent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Literal {
    quote: u8,
    ends: Ends,
    escapes: bool,
    escape: Escape,
    /// Whether it has no content so far.
    empty: bool,
    /// The quotes in a row just now.
    quotes: u8,
    word: Open,
}

/// The end of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// A quote, or the end of the line.
    Line,
    Quote,
    ThreeQuotes,
    /// The end that [`Memory`] knows.
    Fence(Fence),
    /// A slash, unless it is in a class (in brackets), or the end of the line.
    Pattern {
        class: bool,
    },
}

/// The position after a backslash in a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    None,
    /// The next character belongs to it.
    Next,
    /// White space follows it, so a line that ends here does not end the literal.
    Space,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Comment {
    /// The number of open comments with an end mark; 0 if the comment ends with its line.
    depth: u32,
    /// The character before, which may begin a mark.
    last: u8,
    word: Open,
}

/// A quote of a language.
#[derive(Clone, Copy, Debug)]
enum Quote {
    /// An operator.
    No,
    Line {
        escapes: bool,
        three: bool,
    },
    Many {
        escapes: bool,
    },
    Tick,
}

/// The rules of a language for the machine.
#[derive(Debug)]
struct Rules {
    /// The character that begins a comment to the end of the line, and whether only after white
    /// space.
    comment: Option<(char, bool)>,
    /// The two characters that do; 0 if there are none.
    line: u32,
    /// The two characters that begin a comment up to the same in reverse order; 0 if none do.
    block: u32,
    nested: bool,
    double: Quote,
    single: Quote,
    back: Quote,
    dollar: bool,
    underscore: bool,
    /// An apostrophe may separate digits.
    digits: bool,
    /// Keywords are the same in upper and lower case.
    caseless: bool,
    /// The marks of literals without escapes.
    fence: Option<Fence>,
    /// A slash may begin a regular expression.
    regex: bool,
}

const fn packed(bytes: [u8; 2]) -> u32 {
    (bytes[0] as u32) << 8 | bytes[1] as u32
}

const ESCAPED: Quote = Quote::Line {
    escapes: true,
    three: false,
};
const THREE: Quote = Quote::Line {
    escapes: true,
    three: true,
};
const PLAIN: Quote = Quote::Line {
    escapes: false,
    three: false,
};

const COMMON: Rules = Rules {
    comment: None,
    line: packed(*b"//"),
    block: packed(*b"/*"),
    nested: false,
    double: ESCAPED,
    single: ESCAPED,
    back: Quote::No,
    dollar: false,
    underscore: true,
    digits: true,
    caseless: false,
    fence: None,
    regex: false,
};

/// In the order of [`Language`].
static RULES: [Rules; Language::ALL.len()] = [
    COMMON,
    // C
    Rules {
        fence: Some(Fence::Paren),
        ..COMMON
    },
    // Java
    Rules {
        double: THREE,
        dollar: true,
        ..COMMON
    },
    // Python
    Rules {
        comment: Some(('#', false)),
        line: 0,
        block: 0,
        double: THREE,
        single: THREE,
        ..COMMON
    },
    // JavaScript
    Rules {
        back: Quote::Many { escapes: true },
        regex: true,
        dollar: true,
        ..COMMON
    },
    // Rust
    Rules {
        nested: true,
        double: Quote::Many { escapes: true },
        fence: Some(Fence::Hashes),
        single: Quote::Tick,
        ..COMMON
    },
    // Go
    Rules {
        back: Quote::Many { escapes: false },
        ..COMMON
    },
    // SQL
    Rules {
        line: packed(*b"--"),
        double: PLAIN,
        single: PLAIN,
        caseless: true,
        ..COMMON
    },
    // Shells
    Rules {
        comment: Some(('#', true)),
        fence: Some(Fence::Lines),
        line: 0,
        block: 0,
        single: PLAIN,
        ..COMMON
    },
    // LaTeX
    Rules {
        comment: Some(('%', false)),
        line: 0,
        block: 0,
        double: Quote::No,
        single: Quote::No,
        underscore: false,
        digits: false,
        ..COMMON
    },
    // By name, of which nothing is known
    COMMON,
];

/// Operators of several characters. Of each, everything but the last character is an operator, so
/// the longest one is found without looking ahead.
static OPERATORS: [&str; 51] = [
    "!=", "!==", "##", "%=", "&&", "&&=", "&=", "**", "**=", "*=", "++", "+=", "--", "-=", "->",
    "..", "...", "..=", "//", "//=", "/=", "::", ":=", ";;", "<-", "<<", "<<<", "<<=", "<=", "<=>",
    "<>", "==", "===", "=>", ">=", ">>", ">>=", ">>>", ">>>=", "?.", "?:", "??", "??=", "@=", "^=",
    "|=", "|>", "||", "||=", "~=", "~>",
];

fn is_operator(bytes: u32) -> bool {
    /// The operators, and a bit for the last character of each, which is ASCII.
    const fn list() -> ([u32; OPERATORS.len()], u128) {
        let (mut list, mut last) = ([0; OPERATORS.len()], 0);
        let mut i = 0;
        while i < list.len() {
            let bytes = OPERATORS[i].as_bytes();
            let mut j = 0;
            while j < bytes.len() {
                list[i] = list[i] << 8 | bytes[j] as u32;
                j += 1;
            }
            last |= 1 << bytes[j - 1];
            i += 1;
        }
        (list, last)
    }
    static PACKED: ([u32; OPERATORS.len()], u128) = list();
    PACKED.1 >> (bytes & 0x7f) & 1 == 1 && PACKED.0.contains(&bytes)
}

/// Frequent ASCII characters that every language takes for the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frequent {
    Not,
    Letter,
    /// White space.
    Space,
    /// Begins no operator of several characters.
    Bracket,
    /// May begin an operator or a comment of several characters.
    Operator,
}

static FREQUENT: [Frequent; 128] = {
    let mut table = [Frequent::Not; 128];
    let mut b = 0u8;
    while b < 128 {
        table[b as usize] = match b {
            b'a'..=b'z' | b'A'..=b'Z' => Frequent::Letter,
            b' ' | b'\t' | b'\n' | b'\r' => Frequent::Space,
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' => Frequent::Bracket,
            b'=' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'.' | b':' | b';' | b'&' | b'|'
            | b'!' | b'?' => Frequent::Operator,
            _ => Frequent::Not,
        };
        b += 1;
    }
    table
};

/// The machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cutter {
    rules: &'static Rules,
    language: Language,
    keep: bool,
    /// The content of literals has no tokens (`--fold literals`).
    hollow: bool,
    state: State,
    memory: Memory,
    /// Whether a token is open.
    open: bool,
}

impl Cutter {
    /// A cutter, if programs are compared.
    pub(super) fn of(config: &ParseConfig) -> Option<Cutter> {
        let TokenKind::Code(code) = config.tokens else {
            return None;
        };
        Some(Cutter {
            hollow: config.fold.literals,
            rules: &RULES[code.language as usize],
            language: code.language,
            keep: code.comments == Comments::Keep,
            state: State::Space,
            memory: Memory::NEW,
            open: false,
        })
    }

    /// Begins another text.
    pub(super) fn reset(&mut self) {
        (self.state, self.open) = (State::Space, false);
        self.memory = Memory::NEW;
    }

    /// Whether the open token is a name, if it ends here.
    pub(super) fn in_name(&self) -> bool {
        matches!(self.state, State::Name | State::TickWord)
    }

    /// Whether a name is not a keyword.
    pub(super) fn is_own(&self, name: &[u8]) -> bool {
        match self.rules.caseless {
            true => !is_keyword(&name.to_ascii_uppercase(), self.language),
            false => !is_keyword(name, self.language),
        }
    }

    /// The number of bytes of a text that have the same effect: they extend the open token, or have
    /// no effect at all. 0 if the next character needs [`Cutter::step`].
    #[inline]
    pub(super) fn run(&mut self, text: &[u8]) -> (usize, bool) {
        let (length, extends) = self.run_length(text);
        // White space and comments have an effect on nothing else.
        if length > 0 && self.remembers() && matches!(self.state, State::Name | State::Literal(_)) {
            self.remember_run(&text[..length]);
        }
        (length, extends)
    }

    #[inline]
    fn run_length(&mut self, text: &[u8]) -> (usize, bool) {
        #[inline(always)]
        fn length(text: &[u8], has: impl Fn(u8) -> bool) -> usize {
            text.iter().position(|&b| !has(b)).unwrap_or(text.len())
        }
        match &mut self.state {
            State::Name if self.rules.underscore => (length(text, is_word), true),
            // The end of a line may begin a here-document.
            State::Space if self.rules.fence == Some(Fence::Lines) => {
                (length(text, |b| matches!(b, b' ' | b'\t')), false)
            }
            State::Space => (length(text, |b| b.is_ascii_whitespace()), false),
            State::Comment(comment) if !self.keep => {
                let skipped = length(text, |b| {
                    !matches!(b, b'*' | b'/' | b'\n' | b'\r') && b < 0x80
                });
                if skipped > 0 {
                    comment.last = 0;
                }
                (skipped, false)
            }
            State::Comment(comment) if self.open && comment.word == Open::Word => {
                let taken = length(text, is_word);
                if taken > 0 {
                    comment.last = 0;
                }
                (taken, true)
            }
            State::Literal(literal) if literal.word == Open::Word => {
                (length(text, is_word), !self.hollow)
            }
            _ => (0, false),
        }
    }

    /// The effect of a character. Its class only matters if it is not ASCII.
    #[inline]
    pub(super) fn step(&mut self, c: char, class: Class) -> Step {
        let before = self.state;
        let step = match self.step_fast(c) {
            Some(step) => step,
            None => self.step_slowly(c, class),
        };
        if self.remembers() {
            self.remember(before, c);
        }
        step
    }

    /// Returns the same step as [`Cutter::step_slowly`] for the most frequent characters in the
    /// most frequent states, and `None` for others.
    #[inline(always)]
    fn step_fast(&mut self, c: char) -> Option<Step> {
        let frequent = *FREQUENT.get(c as usize)?;
        let name = self.state == State::Name;
        let (cut, state) = match (&mut self.state, frequent) {
            (State::Comment(comment), Frequent::Space)
                if self.keep && (c == ' ' || comment.depth > 0) =>
            {
                (comment.word, comment.last) = (Open::None, 0);
                (Cut::Separate, self.state)
            }
            (State::Comment(comment), Frequent::Letter)
                if self.keep && comment.word == Open::None =>
            {
                (comment.word, comment.last) = (Open::Word, 0);
                (Cut::Begin, self.state)
            }
            (State::Space | State::Done | State::Name | State::Operator(_), _) => match frequent {
                Frequent::Space => (Cut::Separate, State::Space),
                Frequent::Bracket => (Cut::Begin, State::Done),
                Frequent::Letter if !name => (Cut::Begin, State::Name),
                Frequent::Operator if c == '/' && self.rules.regex => return None,
                Frequent::Operator if !matches!(self.state, State::Operator(_)) => {
                    (Cut::Begin, State::Operator(c as u32))
                }
                _ => return None,
            },
            _ => return None,
        };
        self.state = state;
        self.open = cut == Cut::Begin;
        Some(Step {
            before: Before::Nothing,
            cut,
            name,
        })
    }

    #[inline(never)]
    fn step_slowly(&mut self, c: char, class: Class) -> Step {
        let name = self.in_name() && !(c == '\'' && self.state == State::TickWord);
        let mut before = Before::Nothing;
        if let State::NumberAnd(number, held) = self.state {
            // A letter would not do: with a mark after it, it may become another one.
            if self.kind(c, class).1 {
                self.state = State::Number(number.and('.').and(c));
                return Step {
                    before,
                    cut: Cut::Extend,
                    name,
                };
            }
            before = Before::Split;
            self.begin(char::from(held), false, false);
        }
        if self.state == State::Slash {
            // It begins a comment as any other one does.
            self.state = match c {
                '/' | '*' => State::Operator(u32::from(b'/')),
                _ if is_mark(class) => State::Done,
                _ => State::Literal(Literal::new(b'/', Ends::Pattern { class: false }, true)),
            };
        }
        let cut = if c.is_whitespace() {
            self.white(c, &mut before)
        } else if let State::Literal(literal) = self.state {
            self.literal(literal, c, class)
        } else if let State::Comment(comment) = self.state {
            self.comment(comment, c, class)
        } else {
            self.code(c, class, &mut before)
        };
        if before == Before::Retract {
            self.open = false;
        }
        match cut {
            Cut::Begin | Cut::Extend => self.open = true,
            Cut::Separate => self.open = false,
            Cut::Nothing | Cut::Hold => {}
        }
        Step { before, cut, name }
    }

    fn white(&mut self, c: char, before: &mut Before) -> Cut {
        let line = matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
        match &mut self.state {
            State::Literal(literal)
                if !line
                    || !matches!(literal.ends, Ends::Line | Ends::Pattern { .. })
                    || literal.escape != Escape::None =>
            {
                literal.word = Open::None;
                literal.quotes = 0;
                literal.empty = false;
                if literal.escape == Escape::Next {
                    literal.escape = Escape::Space;
                }
                return Cut::Separate;
            }
            State::Comment(comment) if !line || comment.depth > 0 => {
                comment.word = Open::None;
                comment.last = 0;
                return Cut::Separate;
            }
            State::Tick | State::TickOther => {
                self.state = State::TickOther;
                return Cut::Separate;
            }
            State::Backslash => *before = Before::Retract,
            _ => {}
        }
        self.state = State::Space;
        Cut::Separate
    }

    fn literal(&mut self, mut literal: Literal, c: char, class: Class) -> Cut {
        let escape = std::mem::replace(&mut literal.escape, Escape::None);
        let quotes = std::mem::take(&mut literal.quotes);
        let empty = std::mem::take(&mut literal.empty);
        let word = std::mem::replace(&mut literal.word, Open::None);
        let mut next = None;
        let mut content = true;
        let effect = if is_mark(class) && self.open {
            content = false;
            if word != Open::None {
                literal.word = cut(word, class, c).1;
            }
            Cut::Extend
        } else if escape == Escape::Next {
            Cut::Extend
        } else if let Ends::Pattern { class } = literal.ends
            && (c == ']' || c == '[' || class && c == '/')
        {
            literal.ends = Ends::Pattern {
                class: c == '[' || class && c == '/',
            };
            Cut::Begin
        } else if c == char::from(literal.quote) && !matches!(literal.ends, Ends::Fence(_)) {
            content = false;
            literal.quotes = quotes + 1;
            if literal.ends != Ends::ThreeQuotes {
                let quote = match c {
                    '"' => self.rules.double,
                    _ => self.rules.single,
                };
                let three = matches!(quote, Quote::Line { three: true, .. });
                next = Some(match empty && three {
                    true => State::Empty(literal.quote),
                    false => State::Done,
                });
            } else if literal.quotes == 3 {
                next = Some(State::Done);
            }
            Cut::Begin
        } else if c == '\\' && literal.escapes {
            literal.escape = Escape::Next;
            Cut::Begin
        } else {
            match word_class(c, class) {
                Class::Separator => Cut::Begin,
                class => {
                    let (effect, open) = cut(word, class, c);
                    literal.word = open;
                    // A mark that nothing precedes.
                    if effect == Cut::Separate {
                        Cut::Begin
                    } else {
                        effect
                    }
                }
            }
        };
        self.state = next.unwrap_or(State::Literal(literal));
        if content && self.hollow {
            return Cut::Separate;
        }
        effect
    }

    fn comment(&mut self, mut comment: Comment, c: char, class: Class) -> Cut {
        let last = std::mem::replace(&mut comment.last, if c.is_ascii() { c as u8 } else { 0 });
        if comment.depth > 0 {
            // The marks have their characters in reverse order.
            let two = u32::from(last) << 8 | c as u32;
            let change = match two {
                _ if two == self.rules.block.swap_bytes() >> 16 => -1,
                _ if two == self.rules.block => i32::from(self.rules.nested),
                _ => 0,
            };
            comment.depth = comment.depth.saturating_add_signed(change);
            if change != 0 {
                comment.last = 0;
            }
            if comment.depth == 0 {
                self.state = State::Space;
                return Cut::Separate;
            }
        }
        let effect = if self.keep {
            let (effect, open) = cut(comment.word, word_class(c, class), c);
            comment.word = open;
            effect
        } else {
            Cut::Nothing
        };
        self.state = State::Comment(comment);
        effect
    }

    /// The effect outside of literals and comments.
    #[inline]
    fn code(&mut self, c: char, class: Class, before: &mut Before) -> Cut {
        if is_mark(class) {
            return self.mark(class, before);
        }
        let (letter, digit) = self.kind(c, class);
        match self.state {
            State::Name if letter || digit => return Cut::Extend,
            State::TickWord if letter || digit => {
                self.state = State::Name;
                return Cut::Extend;
            }
            State::TickWord | State::TickOther if c == '\'' => {
                self.state = State::Done;
                return Cut::Begin;
            }
            State::Tick => {
                self.state = match c {
                    '\\' => State::Literal(Literal {
                        escape: Escape::Next,
                        ..Literal::new(b'\'', Ends::Line, true)
                    }),
                    '\'' => State::Done,
                    _ if letter || digit => State::TickWord,
                    _ => State::TickOther,
                };
                return Cut::Begin;
            }
            State::Number(number) => {
                let held = match c {
                    '.' => true,
                    '+' | '-' => number.exponent,
                    '\'' => self.rules.digits,
                    _ => false,
                };
                if held {
                    self.state = State::NumberAnd(number, c as u8);
                    return Cut::Extend;
                }
                if letter || digit {
                    self.state = State::Number(number.and(c));
                    return Cut::Extend;
                }
            }
            State::Operator(operator) if c.is_ascii() => {
                let operator = operator << 8 | c as u32;
                let depth = u32::from(operator == self.rules.block);
                if depth == 1 || operator == self.rules.line {
                    self.state = State::Comment(Comment::new(depth));
                    // The first character may just have been split off a number.
                    if self.keep || *before == Before::Split {
                        return Cut::Extend;
                    }
                    *before = Before::Retract;
                    return Cut::Nothing;
                }
                if is_operator(operator) {
                    self.state = State::Operator(operator);
                    return Cut::Extend;
                }
            }
            State::Name if c == '#' && self.is_raw() => {
                self.state = State::Hashes(1);
                return Cut::Begin;
            }
            // A longer delimiter is not one.
            State::Hashes(count) if c == '#' && count < 16 => {
                self.state = State::Hashes(count + 1);
                return Cut::Begin;
            }
            State::Name | State::Hashes(_) if c == '"' && self.is_raw() => {
                self.enter_raw();
                return Cut::Begin;
            }
            State::Backslash => {
                self.state = match c != '_' && letter {
                    true => State::Command,
                    false => State::Done,
                };
                return Cut::Extend;
            }
            State::Command if c != '_' && letter => return Cut::Extend,
            State::Empty(quote) if c == char::from(quote) => {
                self.state = State::Literal(Literal::new(quote, Ends::ThreeQuotes, true));
                return Cut::Begin;
            }
            _ => {}
        }
        self.begin(c, letter, digit)
    }

    /// The effect of a mark outside of literals and comments.
    fn mark(&mut self, class: Class, before: &mut Before) -> Cut {
        let vowel = matches!(class, Class::LetterMark | Class::Spacing);
        match self.state {
            State::Name | State::Command | State::TickWord => return Cut::Extend,
            State::Number(number) => {
                self.state = State::Number(Number {
                    exponent: false,
                    ..number
                });
                return Cut::Extend;
            }
            State::Backslash => {
                self.state = State::Done;
                return Cut::Extend;
            }
            State::Operator(operator) if !vowel && operator > 0xff => *before = Before::Split,
            State::TickOther if !vowel && self.open => return Cut::Extend,
            _ => {}
        }
        if vowel {
            self.state = State::Name;
            return Cut::Begin;
        }
        self.state = State::Done;
        if self.open { Cut::Extend } else { Cut::Begin }
    }

    /// Begins a token, or a comment.
    fn begin(&mut self, c: char, letter: bool, digit: bool) -> Cut {
        let quoted = |quote| match quote {
            Quote::No => State::Operator(c as u32),
            Quote::Tick => State::Tick,
            Quote::Line { escapes, .. } => {
                State::Literal(Literal::new(c as u8, Ends::Line, escapes))
            }
            Quote::Many { escapes } => State::Literal(Literal::new(c as u8, Ends::Quote, escapes)),
        };
        let apart = self.state == State::Space;
        let rules = self.rules;
        self.state = match c {
            _ if letter => State::Name,
            _ if digit => State::Number(Number {
                zero: c == '0',
                hexadecimal: false,
                exponent: false,
            }),
            '"' => quoted(rules.double),
            '\'' => quoted(rules.single),
            '`' => quoted(rules.back),
            '\\' => State::Backslash,
            '/' if self.before_regex() => State::Slash,
            _ if rules
                .comment
                .is_some_and(|(begin, after)| begin == c && (apart || !after)) =>
            {
                self.state = State::Comment(Comment::new(0));
                return if self.keep { Cut::Begin } else { Cut::Separate };
            }
            _ if c.is_ascii_punctuation() => State::Operator(c as u32),
            _ => State::Done,
        };
        Cut::Begin
    }

    /// Whether a character is a letter of names, or a digit.
    #[inline]
    fn kind(&self, c: char, class: Class) -> (bool, bool) {
        if c.is_ascii() {
            let letter = c.is_ascii_alphabetic()
                || c == '_' && self.rules.underscore
                || c == '$' && self.rules.dollar;
            return (letter, c.is_ascii_digit());
        }
        let digit = c.is_numeric();
        let letter = matches!(
            class,
            Class::Letter | Class::Upper | Class::Alone | Class::Stacked
        );
        (letter && !digit, letter && digit)
    }
}

impl Number {
    /// The number with one more character.
    fn and(self, c: char) -> Number {
        let hexadecimal = self.hexadecimal || self.zero && matches!(c, 'x' | 'X');
        Number {
            zero: false,
            hexadecimal,
            exponent: match hexadecimal {
                true => matches!(c, 'p' | 'P'),
                false => matches!(c, 'e' | 'E'),
            },
        }
    }
}

impl Literal {
    /// After its opening quotes.
    fn new(quote: u8, ends: Ends, escapes: bool) -> Literal {
        Literal {
            quote,
            ends,
            escapes,
            escape: Escape::None,
            empty: true,
            quotes: 0,
            word: Open::None,
        }
    }
}

impl Comment {
    fn new(depth: u32) -> Comment {
        Comment {
            depth,
            last: 0,
            word: Open::None,
        }
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

fn is_mark(class: Class) -> bool {
    matches!(
        class,
        Class::Mark | Class::Stacker | Class::LetterMark | Class::Spacing
    )
}

/// The class of a character in literals and comments. Their words are cut as `words` cuts them, but
/// `_` is a letter and an apostrophe is not part of a word.
fn word_class(c: char, class: Class) -> Class {
    match class {
        _ if c.is_ascii_alphanumeric() || c == '_' => Class::Letter,
        Class::Apostrophe => Class::Separator,
        class => class,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_what_the_search_needs() {
        for operator in OPERATORS {
            let packed = |text: &str| text.bytes().fold(0, |all, b| all << 8 | u32::from(b));
            assert!(is_operator(packed(operator)), "{operator}");
            let before = &operator[..operator.len() - 1];
            assert!(
                before.len() == 1 || is_operator(packed(before)),
                "{operator}"
            );
        }
    }
}
