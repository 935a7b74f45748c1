//! The memory of the machine beyond its state: enough to recognise raw strings, here-documents and
//! regular expressions. Only the languages that have them pay for it.
//!
//! The memory has a bounded size. A name or tag that has more than 16 bytes or is not ASCII is
//! equal to none that matters, so a longer delimiter delimits nothing.

use super::{Cutter, Ends, Escape, Literal, State, packed};
use lookalike_base::words;

/// The delimiters of a literal without escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fence {
    /// Rust: a quote and signs `#`.
    Hashes,
    /// C++: a parenthesis, a tag and a quote.
    Paren,
    /// Shells: a line with nothing but the tag and white space.
    Lines,
}

/// The memory of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    /// The last name ([`add`]); 0 if the last token is none.
    word: u128,
    /// Whether the last token ends an operand, so that a slash after it divides.
    operand: bool,
    /// The character before.
    last: char,
    /// Two open parentheses were in a row on this line of a shell: `<<` may be a shift.
    arithmetic: bool,
    opening: Opening,
    /// The tag of the fence that opens or is open.
    tag: u128,
    /// The possible closing tag so far; `None` if there is none.
    closing: Option<u128>,
    /// White space follows the possible closing tag.
    gap: bool,
}

/// The position in the opening of a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    None,
    /// The tag may follow.
    Begin,
    Tag,
    /// The tag in quotes.
    Quoted(char),
    /// The tag is known, and the text begins on the next line. Other here-documents that begin on
    /// this line are not known.
    Line,
    /// That, in white space after a backslash.
    Continued,
}

/// The value of a name or a tag that is not remembered.
const OTHER: u128 = u128::MAX;

const POINT: u32 = b'.' as u32;
const QUESTION: u32 = packed(*b"?.");

/// The name or tag with one more character.
fn add(name: u128, c: char) -> u128 {
    match c.is_ascii() && name >> 120 == 0 {
        true => name << 8 | u128::from(c as u32),
        false => OTHER,
    }
}

fn is_one_of(name: u128, names: &[&str]) -> bool {
    names.iter().any(|n| n.chars().fold(0, add) == name)
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

impl Memory {
    pub(super) const NEW: Memory = Memory {
        word: 0,
        operand: false,
        last: '\n',
        arithmetic: false,
        opening: Opening::None,
        tag: 0,
        closing: None,
        gap: false,
    };
}

impl Cutter {
    /// Whether this language needs the memory.
    #[inline]
    pub(super) fn remembers(&self) -> bool {
        self.rules.fence.is_some() || self.rules.regex
    }

    /// Remembers bytes of a word, or of the content of a literal.
    pub(super) fn remember_run(&mut self, text: &[u8]) {
        if self.memory.opening == Opening::None {
            match self.state {
                State::Name => {
                    let word = text.iter().try_fold(self.memory.word, |word, &b| {
                        (word != OTHER).then(|| add(word, char::from(b)))
                    });
                    self.memory.word = word.unwrap_or(OTHER);
                    self.memory.last = 'x';
                    return;
                }
                // The memory of it was only needed at its beginning.
                State::Literal(literal) if !matches!(literal.ends, Ends::Fence(_)) => {
                    self.memory.last = 'x';
                    return;
                }
                _ => {}
            }
        }
        for &b in text {
            self.remember(self.state, char::from(b));
        }
    }

    /// Remembers a character that took effect in the state `before`.
    pub(super) fn remember(&mut self, before: State, c: char) {
        let last = std::mem::replace(&mut self.memory.last, c);
        let in_literal = matches!(before, State::Literal(_));
        if let State::Literal(Literal {
            ends: Ends::Fence(fence),
            ..
        }) = self.state
            && self.memory.opening == Opening::None
        {
            // The quote that opens it is not its text.
            if in_literal {
                self.follow(fence, c);
            }
            return;
        }
        let memory = &mut self.memory;
        match self.state {
            State::Name => {
                let word = match before {
                    State::Name => memory.word,
                    // A member or a lifetime, which is not a keyword.
                    State::Operator(operator) if [POINT, QUESTION].contains(&operator) => OTHER,
                    State::TickWord => OTHER,
                    _ => 0,
                };
                (memory.word, memory.operand) = (add(word, c), true);
            }
            State::Space | State::Comment(_) | State::Slash => {}
            state => {
                memory.word = 0;
                memory.operand = match state {
                    State::Done if c.is_ascii() => {
                        matches!(c, ')' | ']' | '}' | '"' | '\'' | '`' | '/')
                    }
                    // It may become a comment.
                    State::Operator(operator) if operator == u32::from(b'/') => memory.operand,
                    State::Operator(operator) => {
                        [packed(*b"++"), packed(*b"--")].contains(&operator)
                    }
                    // Also another sign, and a mark, which may compose with the character before.
                    _ => true,
                };
            }
        }
        // A slash that was no comment.
        if before == State::Operator(u32::from(b'/'))
            && matches!(self.state, State::Space | State::Slash)
        {
            memory.operand = false;
        }
        match self.rules.fence {
            Some(Fence::Paren) => self.open_paren(c),
            Some(Fence::Lines) => self.open_lines(before, last, c),
            Some(Fence::Hashes) | None => {}
        }
    }

    /// Begins the text of a fence, whose tag is known.
    fn enter(&mut self, fence: Fence) {
        self.memory.opening = Opening::None;
        // Any line may be the last one of a here-document, also the first.
        self.memory.closing = (fence == Fence::Lines).then_some(0);
        self.memory.gap = false;
        self.state = State::Literal(Literal::new(0, Ends::Fence(fence), false));
    }

    /// Begins a raw string at its quote, after its prefix and signs `#`.
    pub(super) fn enter_raw(&mut self) {
        let hashes = match self.state {
            State::Hashes(count) => (0..count).fold(0, |tag, _| add(tag, '#')),
            _ => 0,
        };
        match self.rules.fence {
            Some(Fence::Hashes) => {
                self.enter(Fence::Hashes);
                self.memory.tag = hashes;
            }
            // The tag follows.
            _ => {
                self.enter(Fence::Paren);
                self.memory.opening = Opening::Begin;
            }
        }
    }

    /// `R"tag(`, from its quote.
    fn open_paren(&mut self, c: char) {
        let State::Literal(literal) = self.state else {
            return;
        };
        match self.memory.opening {
            // The quote itself.
            Opening::Begin => (self.memory.opening, self.memory.tag) = (Opening::Tag, 0),
            Opening::Tag if c == '(' && self.memory.tag != OTHER => self.enter(Fence::Paren),
            Opening::Tag if c.is_whitespace() || matches!(c, '(' | ')' | '\\' | '"') => {
                // No raw string: an ordinary one.
                self.memory.opening = Opening::None;
                self.state = match c {
                    '"' => State::Done,
                    _ if is_line_end(c) => State::Space,
                    _ => State::Literal(Literal {
                        word: literal.word,
                        escape: match c {
                            '\\' => Escape::Next,
                            _ => Escape::None,
                        },
                        empty: false,
                        ..Literal::new(b'"', Ends::Line, true)
                    }),
                };
            }
            Opening::Tag => self.memory.tag = add(self.memory.tag, c),
            _ => {}
        }
    }

    /// `<<tag`, `<<-tag`, `<<'tag'`, and the end of that line.
    fn open_lines(&mut self, before: State, last: char, c: char) {
        let line = is_line_end(c);
        let shift = self.state == State::Operator(packed(*b"<<"));
        let memory = &mut self.memory;
        memory.arithmetic = !line && (memory.arithmetic || c == '(' && last == '(');
        let whole = memory.tag != 0 && memory.tag != OTHER;
        memory.opening = match memory.opening {
            Opening::None if shift && !memory.arithmetic => {
                memory.tag = 0;
                Opening::Begin
            }
            Opening::Begin if line => Opening::None,
            Opening::Begin => match c {
                '"' | '\'' => Opening::Quoted(c),
                '-' if last == '<' => Opening::Begin,
                '\\' => Opening::Begin,
                _ if c.is_whitespace() => Opening::Begin,
                _ if c.is_ascii_alphabetic() || c == '_' => {
                    memory.tag = add(0, c);
                    Opening::Tag
                }
                _ => Opening::None,
            },
            Opening::Quoted(quote) if c == quote && whole => Opening::Line,
            Opening::Quoted(quote) if c == quote || c.is_whitespace() => Opening::None,
            Opening::Quoted(quote) => {
                memory.tag = add(memory.tag, c);
                Opening::Quoted(quote)
            }
            Opening::Tag if line && whole => return self.enter(Fence::Lines),
            // Also where a mark composes with `<` or `>`: both forms are one text.
            Opening::Tag
                if whole
                    && (c.is_whitespace()
                        || matches!(
                            c,
                            ';' | '|' | '&' | '<' | '>' | ')' | '\u{226e}' | '\u{226f}'
                        )) =>
            {
                Opening::Line
            }
            Opening::Tag if c.is_ascii_alphanumeric() || c == '_' => {
                memory.tag = add(memory.tag, c);
                Opening::Tag
            }
            Opening::Tag => Opening::None,
            // After a backslash, the line goes on.
            Opening::Line if c.is_whitespace() && before == State::Backslash => Opening::Continued,
            Opening::Line if line => return self.enter(Fence::Lines),
            Opening::Continued if !c.is_whitespace() => Opening::Line,
            opening => opening,
        };
    }

    /// Follows the text of a fence, and ends it.
    fn follow(&mut self, fence: Fence, c: char) {
        let memory = &mut self.memory;
        let (tag, before) = (Some(memory.tag), memory.closing);
        let more = before.map(|closing| add(closing, c));
        let ends;
        (memory.closing, ends) = match (fence, c) {
            (Fence::Hashes, '"') => (Some(0), memory.tag == 0),
            (Fence::Hashes, '#') => (more, more == tag),
            (Fence::Hashes, _) => (None, false),
            (Fence::Paren, '"') if before == tag => (None, true),
            (Fence::Paren, ')') => (Some(0), false),
            (Fence::Lines, _) if is_line_end(c) => {
                memory.gap = false;
                (Some(0), before == tag)
            }
            (Fence::Lines, _) if c.is_whitespace() => {
                memory.gap = before != Some(0);
                (before, false)
            }
            _ if c.is_whitespace() || memory.gap => (None, false),
            _ => (more, false),
        };
        if ends {
            memory.closing = None;
            memory.operand = true;
            self.state = match fence {
                Fence::Lines => State::Space,
                _ => State::Done,
            };
        }
    }

    /// Whether a quote or `#` here belongs to a raw string.
    pub(super) fn is_raw(&self) -> bool {
        let prefixes: &[&str] = match self.rules.fence {
            Some(Fence::Hashes) => &["r", "br", "cr"],
            Some(Fence::Paren) => &["R", "LR", "uR", "UR", "u8R"],
            _ => return false,
        };
        matches!(self.state, State::Hashes(_)) || is_one_of(self.memory.word, prefixes)
    }

    /// Whether a slash begins a regular expression, unless it begins a comment. After `<` it does
    /// not: that is the end tag of an element.
    pub(super) fn before_regex(&self) -> bool {
        const WORDS: [&str; 15] = words(
            "return typeof case in of do else void delete throw new instanceof await yield default",
        );
        self.rules.regex
            && self.state != State::Operator(u32::from(b'<'))
            && (!self.memory.operand || is_one_of(self.memory.word, &WORDS))
    }
}
