//! Documents and comparisons as text for a terminal.
//!
//! # In and out
//! In: the facts about a document, a comparison of two documents, and how the terminal looks
//! ([`Screen`]). Out: lines, piece by piece, which may contain escape sequences for colours.
//!
//! # Invariants
//! - The content of a document reaches the output only through [`Flow`] and [`visible`]: control
//!   characters and invisible characters that change how a text looks are written as escapes. So
//!   this module writes the only escape sequences, and none without colours.
//! - Lines of a text side by side are never wider than the screen.

mod compared;
mod flow;
mod shown;
mod table;

use lookalike_base::{Result, push_visible, utf8};

pub(crate) use compared::{compared, head, passages};
use flow::Flow;
pub(crate) use shown::shown;
pub(crate) use table::Growing;
pub use table::{Line, Shown, named, tabled, wrapped};

/// How the terminal looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Whether to use colours.
    pub colour: bool,
    /// Columns.
    pub width: usize,
}

/// Takes a piece of the output.
pub(crate) type Put<'p> = &'p mut dyn FnMut(&str) -> Result<()>;

/// How some text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    #[default]
    Plain,
    /// Words of the program about the text.
    Soft,
    Strong,
    /// Only in the first text.
    First,
    /// Only in the second text.
    Second,
}

impl Style {
    /// The escape sequence that begins it.
    fn begins(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Soft => "\x1b[2m",
            Style::Strong => "\x1b[1m",
            Style::First => "\x1b[31m",
            Style::Second => "\x1b[32m",
        }
    }
}

/// Ends every style.
const ENDS: &str = "\x1b[0m";

impl Screen {
    /// Text of this program or text that was made visible, in a style.
    pub(crate) fn styled(self, style: Style, text: &str) -> String {
        match style {
            Style::Plain => text.into(),
            _ if !self.colour || text.is_empty() => text.into(),
            _ => format!("{}{text}{ENDS}", style.begins()),
        }
    }
}

/// Text of a document on one line.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push_visible(c, &mut out));
    out
}

/// Text of a document, with its lines and tabs.
pub(crate) fn visible_lines(text: &str) -> String {
    utf8::visible_lines(&text.replace("\r\n", "\n"), true).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_base::utf8::is_deceptive;

    #[test]
    fn nothing_of_a_document_controls_the_terminal() {
        assert_eq!(
            visible("a\x1b[31mb\x07\u{9b}\x7f\n\t\u{202e}c\u{200f}"),
            "a\\x1b[31mb\\x07\\xc2\\x9b\\x7f\\x0a\\x09\\u{202e}c\\u{200f}"
        );
        assert_eq!(
            visible_lines("a\r\nb\rc\td\u{85}"),
            "a\nb\\x0dc\td\\xc2\\x85"
        );
        for c in '\0'..=char::MAX {
            let shown = visible(c.encode_utf8(&mut [0; 4]));
            assert!(!shown.chars().any(|c| c.is_control() || is_deceptive(c)));
        }
    }
}
