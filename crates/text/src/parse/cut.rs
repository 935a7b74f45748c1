//! The definition of a token of `words`: how the class of each character cuts a text.
//!
//! Everything that cuts text goes through [`cut`]: the tokens (`tokens.rs`), their places in a text
//! (`spans.rs`), and the forms of a character (`fold.rs`).

use super::class::Class;

/// The token state at the end of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    /// Nothing: the next character begins a token.
    None,
    /// A token that more characters can extend.
    Word,
    /// A word and an apostrophe, which belongs to the word only if a letter follows.
    Apostrophe,
    /// A character that is a token of its own; only marks can extend it.
    Alone,
    /// As [`Open::Alone`]: a consonant, with marks that do not take a place of their own.
    Stack,
    /// As [`Open::Stack`], and the next consonant goes below it.
    Stacking,
    /// A word and a hyphen, with the white space after them: the word continues if the line ends
    /// there.
    Broken {
        /// Whether the hyphen is a soft one, which is invisible before anything but white space.
        soft: bool,
        gap: Gap,
    },
}

/// The white space after a hyphen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    None,
    Space,
    /// A line ends in it.
    Line,
}

impl Open {
    /// The state after white space that ends a line, which keeps a broken word open.
    pub(super) fn after_line(self) -> Open {
        match self {
            Open::Broken { soft, .. } => Open::Broken {
                soft,
                gap: Gap::Line,
            },
            _ => Open::None,
        }
    }
}

/// The effect of a character on the text before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// None. No token contains it.
    Nothing,
    /// It ends the open token, and belongs to none.
    Separate,
    /// It is an apostrophe; the next character shows whether it belongs to the open token.
    Hold,
    /// It belongs to the open token.
    Extend,
    /// It ends the open token, and begins the next one.
    Begin,
}

/// The effect of a character of this class, and the state after it.
#[inline(always)]
pub(super) fn cut(open: Open, class: Class, c: char) -> (Cut, Open) {
    match open {
        Open::Broken { soft, gap } => cut_broken(soft, gap, class, c),
        _ => cut_whole(open, class),
    }
}

/// The same after a hyphen that may be at the end of a line.
#[inline(never)]
fn cut_broken(soft: bool, gap: Gap, class: Class, c: char) -> (Cut, Open) {
    let open = Open::Broken { soft, gap };
    match class {
        Class::Ignorable | Class::SoftHyphen => (Cut::Nothing, open),
        Class::Separator if matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}') => {
            (Cut::Nothing, open.after_line())
        }
        Class::Separator if c.is_whitespace() => {
            let gap = if gap == Gap::None { Gap::Space } else { gap };
            (Cut::Nothing, Open::Broken { soft, gap })
        }
        _ if soft && gap == Gap::None => cut_whole(Open::Word, class),
        Class::Letter | Class::Upper if soft && gap == Gap::Line => (Cut::Extend, Open::Word),
        // A capital or a number begins the second part of a compound (`Anglo-Saxon`, `COVID-19`).
        Class::Letter if gap == Gap::Line && c.is_alphabetic() => (Cut::Extend, Open::Word),
        _ => cut_whole(Open::None, class),
    }
}

#[inline(always)]
fn cut_whole(open: Open, class: Class) -> (Cut, Open) {
    match class {
        Class::SoftHyphen | Class::Hyphen if open == Open::Word => {
            let soft = class == Class::SoftHyphen;
            let gap = Gap::None;
            (Cut::Nothing, Open::Broken { soft, gap })
        }
        Class::Ignorable | Class::SoftHyphen => (Cut::Nothing, open),
        Class::Separator | Class::Hyphen => (Cut::Separate, Open::None),
        Class::Letter | Class::Upper => match open {
            Open::Word | Open::Apostrophe => (Cut::Extend, Open::Word),
            _ => (Cut::Begin, Open::Word),
        },
        Class::Alone => (Cut::Begin, Open::Alone),
        Class::Stacked => match open {
            Open::Stacking => (Cut::Extend, Open::Stack),
            _ => (Cut::Begin, Open::Stack),
        },
        Class::Apostrophe => match open {
            Open::Word => (Cut::Hold, Open::Apostrophe),
            _ => (Cut::Separate, Open::None),
        },
        Class::Mark | Class::LetterMark | Class::Stacker | Class::Spacing => match (open, class) {
            (Open::Word, _) => (Cut::Extend, Open::Word),
            (Open::None | Open::Apostrophe, Class::Mark | Class::Stacker) => {
                (Cut::Separate, Open::None)
            }
            (Open::None, _) => (Cut::Begin, Open::Word),
            (Open::Apostrophe, _) => (Cut::Extend, Open::Word),
            (Open::Alone, _) | (_, Class::Mark | Class::LetterMark) => (Cut::Extend, open),
            (_, Class::Stacker) => (Cut::Extend, Open::Stacking),
            _ => (Cut::Extend, Open::Alone),
        },
    }
}
