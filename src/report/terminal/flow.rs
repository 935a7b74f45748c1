//! Breaks styled text into lines of a given width.

use unicode_width::UnicodeWidthChar;

use super::{ENDS, Screen, Style, push_visible};

/// Columns of a tab.
const TAB: usize = 4;

/// A character of a line.
#[derive(Clone, Copy, Debug)]
struct Cell {
    c: char,
    width: usize,
    style: Style,
}

/// A line of the output, and its columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub text: String,
    pub width: usize,
}

/// Text that flows into lines. A line breaks at the last space that fits, or within a word that
/// does not fit. Several empty lines in a row become one.
#[derive(Debug)]
pub(crate) struct Flow {
    screen: Screen,
    /// The lines that are complete.
    lines: Vec<Line>,
    current: Vec<Cell>,
    used: usize,
    /// Whether the line before is empty.
    blank: bool,
}

impl Flow {
    /// Begins with an empty line. A line has at least four columns.
    pub(crate) fn new(screen: Screen) -> Self {
        Flow {
            screen: Screen {
                width: screen.width.max(4),
                ..screen
            },
            lines: Vec::new(),
            current: Vec::new(),
            used: 0,
            blank: false,
        }
    }

    /// Appends text of a document. Line feeds break lines.
    pub(crate) fn text(&mut self, text: &str, style: Style) {
        let mut escaped = String::new();
        let mut characters = text.chars().peekable();
        while let Some(c) = characters.next() {
            match c {
                '\n' => self.end_line(),
                '\t' => (0..TAB).for_each(|_| self.push(' ', style)),
                '\r' if characters.peek() == Some(&'\n') => {}
                c => {
                    escaped.clear();
                    push_visible(c, &mut escaped);
                    escaped.chars().for_each(|c| self.push(c, style));
                }
            }
        }
    }

    fn push(&mut self, c: char, style: Style) {
        let mut width = c.width().unwrap_or(0);
        if self.used + width > self.screen.width {
            match c {
                // The line breaks here, and a space at its end takes no column.
                ' ' => width = 0,
                _ => self.wrap(),
            }
        }
        self.current.push(Cell { c, width, style });
        self.used += width;
    }

    /// Ends the line at its last space, or here if it has none.
    fn wrap(&mut self) {
        let space = self.current.iter().rposition(|cell| cell.c == ' ');
        // Spaces that only indent the line do not end it.
        let indent = self.current.iter().take_while(|cell| cell.c == ' ').count();
        let rest = match space.filter(|&space| space >= indent) {
            Some(space) => self.current.split_off(space + 1),
            None => Vec::new(),
        };
        self.end_line();
        self.used = rest.iter().map(|cell| cell.width).sum();
        self.current = rest;
    }

    fn end_line(&mut self) {
        while self.current.last().is_some_and(|cell| cell.c == ' ') {
            self.current.pop();
        }
        // The text of a page without its tags has many empty lines in a row. One is enough.
        let blank = self.current.is_empty();
        if std::mem::replace(&mut self.blank, blank) && blank {
            return;
        }
        let mut line = Line::default();
        let mut style = Style::Plain;
        for cell in self.current.drain(..) {
            if cell.style != style && self.screen.colour {
                if style != Style::Plain {
                    line.text.push_str(ENDS);
                }
                line.text.push_str(cell.style.begins());
                style = cell.style;
            }
            line.text.push(cell.c);
            line.width += cell.width;
        }
        if style != Style::Plain {
            line.text.push_str(ENDS);
        }
        self.used = 0;
        self.lines.push(line);
    }

    /// Returns the complete lines so far and forgets them.
    pub(crate) fn take(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }

    /// Ends the last line, if anything is on it, and returns the lines.
    pub(crate) fn finish(mut self) -> Vec<Line> {
        if !self.current.is_empty() {
            self.end_line();
        }
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flowed(text: &str, width: usize) -> Vec<String> {
        let mut flow = Flow::new(Screen {
            colour: false,
            width,
        });
        flow.text(text, Style::First);
        let lines = flow.finish();
        for line in &lines {
            let columns: usize = line.text.chars().filter_map(|c| c.width()).sum();
            assert_eq!(line.width, columns);
            assert!(columns <= width.max(4), "{line:?}");
        }
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(flowed("one two three", 8), ["one two", "three"]);
        assert_eq!(flowed("one two three", 7), ["one two", "three"]);
        assert_eq!(flowed("one two three", 6), ["one", "two", "three"]);
        assert_eq!(flowed("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(flowed("a\n\nb  c\n", 10), ["a", "", "b  c"]);
        assert_eq!(flowed("    abcdef", 6), ["    ab", "cdef"]);
        assert_eq!(flowed("a\n \n\n\t\nb\n\n", 10), ["a", "", "b", ""]);
        assert!(flowed("", 10).is_empty());
    }

    #[test]
    fn widths_are_columns() {
        assert_eq!(flowed("漢字かな", 5), ["漢字", "かな"]);
        assert_eq!(
            flowed("e\u{301}e\u{301}e\u{301}e\u{301}x", 4),
            ["e\u{301}e\u{301}e\u{301}e\u{301}", "x"]
        );
        assert_eq!(flowed("\x1b[2Jab", 8), ["\\x1b[2Ja", "b"]);
    }

    #[test]
    fn colours_end_with_the_line() {
        let mut flow = Flow::new(Screen {
            colour: true,
            width: 5,
        });
        flow.text("ab ", Style::Plain);
        flow.text("cd ef", Style::Second);
        let lines = flow.finish();
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["ab \x1b[32mcd\x1b[0m", "\x1b[32mef\x1b[0m"]);
    }
}
