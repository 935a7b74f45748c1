//! The class of a character: its effect on the word around it.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};

/// The effect of a character on the word around it (token kind `words`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// Ends a word.
    Separator = 1,
    /// Alphanumeric; equals its own lower case.
    Letter = 2,
    /// Alphanumeric; differs from its lower case.
    Upper = 3,
    /// A combining mark that is not alphanumeric; it belongs to the character before it.
    Mark = 4,
    /// A combining mark that is also alphanumeric (most vowel signs of Indic scripts). It belongs
    /// to the character before it, and begins a word if there is none.
    LetterMark = 5,
    /// Han, Hiragana or Katakana: a token of its own.
    Ideograph = 6,
    /// `'` or U+2019.
    Apostrophe = 7,
}

/// The class of a character, from the Unicode tables.
pub(super) fn classify(c: char) -> Class {
    if c == '\'' || c == '\u{2019}' {
        return Class::Apostrophe;
    }
    let mark = !c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Mark;
    match (c.is_alphanumeric(), mark) {
        (true, true) => Class::LetterMark,
        (false, true) => Class::Mark,
        // The script decides, not the category: a radical or a circled Katakana is not a letter.
        _ if matches!(
            c.script(),
            Script::Han | Script::Hiragana | Script::Katakana
        ) =>
        {
            Class::Ideograph
        }
        (true, false) => {
            if c.to_lowercase().eq([c]) {
                Class::Letter
            } else {
                Class::Upper
            }
        }
        (false, false) => Class::Separator,
    }
}

/// A cache of the classes of the basic multilingual plane. The Unicode tables cost about 50 ns per
/// character, the cache one or two.
#[derive(Debug)]
pub(super) struct ClassCache {
    /// Indexed by code point; 0 for characters not looked up yet.
    known: Vec<u8>,
}

impl ClassCache {
    pub(super) fn new() -> Self {
        ClassCache {
            known: vec![0; 0x1_0000],
        }
    }

    #[inline]
    pub(super) fn get(&mut self, c: char) -> Class {
        let Some(known) = self.known.get_mut(c as usize) else {
            return classify(c);
        };
        match *known {
            1 => Class::Separator,
            2 => Class::Letter,
            3 => Class::Upper,
            4 => Class::Mark,
            5 => Class::LetterMark,
            6 => Class::Ideograph,
            7 => Class::Apostrophe,
            _ => {
                let class = classify(c);
                *known = class as u8;
                class
            }
        }
    }
}

/// In [`WORDS`] and [`WHITESPACE`]: the table does not settle this byte; take the slow path.
pub(super) const SLOW: u8 = 0;

/// What a byte becomes in the canonical text of words: its lower case, a space for a separator, or
/// [`SLOW`] for an apostrophe and for bytes of non-ASCII characters.
pub(super) static WORDS: [u8; 256] = {
    let mut table = [SLOW; 256];
    let mut b = 0u8;
    while b < 0x80 {
        table[b as usize] = if b.is_ascii_alphanumeric() {
            b.to_ascii_lowercase()
        } else {
            b' '
        };
        b += 1;
    }
    table[b'\'' as usize] = SLOW;
    table
};

/// What a byte becomes in the canonical text of `whitespace` and `bytes:N`: itself, a space for
/// white space, or [`SLOW`] for NUL (which the table cannot represent) and bytes of non-ASCII
/// characters.
pub(super) static WHITESPACE: [u8; 256] = {
    let mut table = [SLOW; 256];
    let mut b = 1u8;
    while b < 0x80 {
        table[b as usize] = if matches!(b, b'\t'..=b'\r') { b' ' } else { b };
        b += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_agree_with_the_standard_library() {
        for b in 0..128u8 {
            let c = char::from(b);
            let words = match WORDS[usize::from(b)] {
                SLOW => Class::Apostrophe,
                b' ' => Class::Separator,
                l if l == b => Class::Letter,
                l => {
                    assert!(c.to_lowercase().eq([char::from(l)]));
                    Class::Upper
                }
            };
            assert_eq!(words, classify(c), "{c:?}");
            if b > 0 {
                assert_eq!(
                    WHITESPACE[usize::from(b)] == b' ',
                    c.is_whitespace(),
                    "{c:?}"
                );
            }
        }
    }

    #[test]
    fn only_upper_case_changes_in_lower_case() {
        let mut cache = ClassCache::new();
        for c in '\0'..=char::MAX {
            let class = classify(c);
            if matches!(class, Class::Mark | Class::LetterMark | Class::Ideograph) {
                assert!(c.to_lowercase().eq([c]), "{c:?}");
            }
            // Room is reserved for twice the input bytes.
            let lower: usize = c.to_lowercase().map(char::len_utf8).sum();
            assert!(2 * lower <= 3 * c.len_utf8(), "{c:?}");
            assert_eq!(cache.get(c), class);
            assert_eq!(cache.get(c), class);
        }
    }

    #[test]
    fn some_classes() {
        for (c, class) in [
            ('漢', Class::Ideograph),
            ('ア', Class::Ideograph),
            ('ｱ', Class::Ideograph),
            ('あ', Class::Ideograph),
            ('々', Class::Ideograph),
            ('⺀', Class::Ideograph),
            ('ー', Class::Letter), // script Common
            ('・', Class::Separator),
            ('한', Class::Letter),
            ('ß', Class::Letter),
            ('É', Class::Upper),
            ('\u{301}', Class::Mark),
            ('\u{93e}', Class::LetterMark),
            ('²', Class::Letter),
            ('_', Class::Separator),
            ('\u{a0}', Class::Separator),
            ('\u{ad}', Class::Separator),
            ('\u{2019}', Class::Apostrophe),
            ('\u{2018}', Class::Separator),
            ('\u{fffd}', Class::Separator),
        ] {
            assert_eq!(classify(c), class, "{c:?}");
        }
    }
}
