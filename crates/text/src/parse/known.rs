//! The properties of a character that tokens depend on: its class, and whether composing or folding
//! concerns it.

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc_quick};

use super::class::{Class, lower};
use super::fold::{Form, Rules, form};

/// The class of a character, and whether composing or folding concerns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known(u8);

const CLASS: u8 = 0x0f;
/// Composition may change the character, or the character may change what stands before it.
const COMPOSES: u8 = 0x10;
/// With [`COMPOSES`]: a mark that can only be moved.
const MOVES: u8 = 0x80;

/// The character is folded ([`Form::Compatible`]).
const COMPATIBLE: u8 = 0x20;
/// The character is folded ([`Form::Canonical`]).
const CANONICAL: u8 = 0x40;

impl Known {
    #[inline]
    pub(super) fn class(self) -> Class {
        match self.0 & CLASS {
            2 => Class::Letter,
            3 => Class::Upper,
            4 => Class::Mark,
            5 => Class::LetterMark,
            6 => Class::Alone,
            7 => Class::Apostrophe,
            8 => Class::Stacked,
            9 => Class::Stacker,
            10 => Class::Spacing,
            11 => Class::Ignorable,
            12 => Class::SoftHyphen,
            13 => Class::Hyphen,
            _ => Class::Separator,
        }
    }

    #[inline]
    pub(super) fn composes(self) -> bool {
        self.0 & COMPOSES != 0
    }

    /// Whether the character is a mark that ordering can move, and that composes with nothing.
    #[inline]
    pub(super) fn only_moves(self) -> bool {
        self.0 & MOVES != 0
    }

    /// How the character is folded, if it is.
    #[inline]
    pub(super) fn form(self) -> Option<Form> {
        match self.0 & (COMPATIBLE | CANONICAL) {
            0 => None,
            COMPATIBLE => Some(Form::Compatible),
            _ => Some(Form::Canonical),
        }
    }

    /// From the Unicode tables.
    pub(super) fn of(c: char, rules: Rules) -> Known {
        let class = rules.classify(c);
        let mut known = class as u8;
        if c.is_ascii() || matches!(class, Class::Ignorable | Class::SoftHyphen) {
            return Known(known);
        }
        let moves = |c| canonical_combining_class(c) > 0;
        let stable =
            |chars: &mut dyn Iterator<Item = char>| is_nfc_quick(chars) == IsNormalized::Yes;
        if !stable(&mut [c].into_iter()) || !stable(&mut lower(c)) || lower(c).any(moves) {
            known |= COMPOSES;
        }
        if moves(c) && is_nfc_quick([c].into_iter()) == IsNormalized::Yes {
            known |= MOVES;
        }
        known |= match form(c, rules) {
            Form::Same => 0,
            Form::Canonical => CANONICAL,
            Form::Compatible => COMPATIBLE,
        };
        Known(known)
    }
}

/// A cache of the properties of the characters of the first four planes, which have all scripts.
/// The Unicode tables cost about 100 ns per character, the cache one or two. Only the pages of the
/// table that a text needs take memory.
#[derive(Debug)]
pub(super) struct ClassCache {
    /// Indexed by code point; 0 for characters not looked up yet.
    known: Vec<u8>,
    pub(super) rules: Rules,
}

impl ClassCache {
    pub(super) fn new(rules: Rules) -> Self {
        ClassCache {
            known: vec![0; 0x4_0000],
            rules,
        }
    }

    #[inline]
    pub(super) fn get(&mut self, c: char) -> Known {
        let Some(known) = self.known.get_mut(c as usize) else {
            return Known::of(c, self.rules);
        };
        if *known == 0 {
            *known = Known::of(c, self.rules).0;
        }
        Known(*known)
    }

    /// The class of a character that has been looked up, is not ignorable, and that neither
    /// composing nor folding concerns.
    #[inline]
    pub(super) fn plain(&self, c: char) -> Option<Class> {
        match *self.known.get(c as usize)? {
            known @ 1..=10 => Some(Known(known).class()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::class::classify;

    #[test]
    fn the_cache_knows_what_the_tables_say() {
        let rules = Rules {
            fold: "compat,diacritics,digits".parse().unwrap(),
            third: true,
        };
        let mut cache = ClassCache::new(rules);
        for c in '\0'..=char::MAX {
            for _ in 0..2 {
                assert_eq!(cache.get(c).class(), classify(c));
                assert_eq!(cache.get(c), Known::of(c, rules));
            }
        }
    }
}
