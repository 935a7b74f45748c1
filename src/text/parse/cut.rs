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
pub(super) fn cut(open: Open, class: Class) -> (Cut, Open) {
    match class {
        Class::Ignorable => (Cut::Nothing, open),
        Class::Separator => (Cut::Separate, Open::None),
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
