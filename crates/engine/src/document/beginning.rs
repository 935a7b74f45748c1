//! The beginning of a text.

use lookalike_text::parse::{TokenConsumer, Tokens};

/// Keeps the beginning of a text, with its white space folded.
#[derive(Debug)]
pub struct Beginning {
    /// The most bytes that are kept.
    most: usize,
    /// The text.
    pub bytes: Vec<u8>,
    /// Whether the text continues.
    pub cut: bool,
}

impl Beginning {
    pub fn of_at_most(most: usize) -> Beginning {
        Beginning {
            most,
            bytes: Vec::new(),
            cut: false,
        }
    }
}

impl TokenConsumer for Beginning {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        let bytes = tokens.bytes;
        // All characters but the last are final. Do not wait for the end of a token: it may never
        // come.
        let done = if last {
            bytes.len()
        } else {
            let last = bytes.iter().rposition(|b| b & 0xc0 != 0x80);
            last.unwrap_or(bytes.len())
        };
        let room = self.most - self.bytes.len();
        let mut taken = done.min(room);
        // Do not cut a character in two.
        while taken < done && taken > 0 && bytes.get(taken).is_some_and(|b| b & 0xc0 == 0x80) {
            taken -= 1;
        }
        if !self.cut {
            self.bytes
                .extend_from_slice(bytes.get(..taken).unwrap_or_default());
            self.cut = taken < done;
        }
        done
    }
}
