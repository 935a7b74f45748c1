//! The beginning of a text as read, with its white space folded.

/// Keeps the beginning of a text that comes in pieces.
#[derive(Debug)]
pub struct Folded {
    /// The most bytes that are kept.
    most: usize,
    /// Whether lines are kept. Several empty lines become one, and other white space becomes one space.
    lines: bool,
    /// The text.
    pub text: String,
    /// Whether the text continues.
    pub cut: bool,
    /// The number of line feeds in white space that no character has followed yet.
    space: Option<usize>,
}

impl Folded {
    /// Keeps at most this number of bytes, with the lines or without.
    pub fn new(most: usize, lines: bool) -> Folded {
        Folded {
            most,
            lines,
            text: String::new(),
            cut: false,
            space: None,
        }
    }

    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) {
        for c in piece.chars() {
            if self.cut {
                return;
            }
            if c.is_whitespace() {
                let lines = self.space.unwrap_or(0) + usize::from(c == '\n');
                self.space = Some(lines);
                continue;
            }
            let gap = match self.space.take() {
                // None at the beginning.
                None => "",
                _ if self.text.is_empty() => "",
                Some(1) if self.lines => "\n",
                Some(2..) if self.lines => "\n\n",
                Some(_) => " ",
            };
            let room = self.most - self.text.len();
            self.cut = c.len_utf8() + if self.lines { 2 } else { gap.len() } > room;
            match self.cut {
                false => self.text.extend(gap.chars().chain([c])),
                // A space that fits belongs to it.
                true if !self.lines && room > 0 => self.text += gap,
                true => {}
            }
        }
    }
}
