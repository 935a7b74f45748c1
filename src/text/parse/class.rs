//! The class of a character: its effect on the word around it, and what else tokens depend on.

use unicode_normalization::char::{
    canonical_combining_class, decompose_canonical, decompose_compatible,
};
use unicode_normalization::{IsNormalized, is_nfc_quick};
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
    /// A combining mark that is not alphanumeric, or that canonical ordering can move; it belongs
    /// to the character before it.
    Mark = 4,
    /// Another combining mark that is also alphanumeric (most vowel signs of Indic scripts). It
    /// belongs to the character before it, and begins a word if there is none.
    LetterMark = 5,
    /// Han, Hiragana or Katakana: a token of its own.
    Ideograph = 6,
    /// `'` or U+2019.
    Apostrophe = 7,
    /// It is invisible, and no token contains it ([`is_ignorable`]).
    Ignorable = 8,
}

/// Whether a character has the property `Default_Ignorable_Code_Point` (Unicode 17,
/// DerivedCoreProperties.txt): it has no glyph of its own and only directs how the text around it
/// is broken, joined, ordered or drawn. The property includes the Hangul fillers, which are letters
/// without a shape.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The class of a character, from the Unicode tables.
pub(super) fn classify(c: char) -> Class {
    if c == '\'' || c == '\u{2019}' {
        return Class::Apostrophe;
    }
    if is_ignorable(c) {
        return Class::Ignorable;
    }
    let mark = !c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Mark;
    match (c.is_alphanumeric(), mark) {
        // If a mark that can be moved began a word, canonically equivalent texts would differ.
        (true, true) if !begins_with_mover(c) => Class::LetterMark,
        (_, true) => Class::Mark,
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

/// Whether the canonical decomposition begins with a mark that canonical ordering can move.
fn begins_with_mover(c: char) -> bool {
    let mut first = None;
    decompose_canonical(c, |d| {
        first.get_or_insert(canonical_combining_class(d));
    });
    first.is_some_and(|class| class > 0)
}

/// The class of a character, and whether composing or folding concerns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known(u8);

const CLASS: u8 = 0x0f;
/// Composition may change the character, or the character may change what stands before it.
const COMPOSES: u8 = 0x10;
/// With [`COMPOSES`]: a mark that can only be moved.
const MOVES: u8 = 0x80;

/// The bit of [`Known`] for characters that `--fold compat` replaces.
pub(super) const COMPAT: u8 = 0x20;

impl Known {
    #[inline]
    pub(super) fn class(self) -> Class {
        match self.0 & CLASS {
            2 => Class::Letter,
            3 => Class::Upper,
            4 => Class::Mark,
            5 => Class::LetterMark,
            6 => Class::Ideograph,
            7 => Class::Apostrophe,
            8 => Class::Ignorable,
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

    /// Whether the character has one of these bits.
    #[inline]
    pub(super) fn has(self, bits: u8) -> bool {
        self.0 & bits != 0
    }

    /// From the Unicode tables.
    pub(super) fn of(c: char) -> Known {
        let class = classify(c);
        let mut known = class as u8;
        if c.is_ascii() || class == Class::Ignorable {
            return Known(known);
        }
        let moves = |c| canonical_combining_class(c) > 0;
        let stable =
            |chars: &mut dyn Iterator<Item = char>| is_nfc_quick(chars) == IsNormalized::Yes;
        if !stable(&mut [c].into_iter())
            || !stable(&mut c.to_lowercase())
            || c.to_lowercase().any(moves)
        {
            known |= COMPOSES;
        }
        if moves(c) && is_nfc_quick([c].into_iter()) == IsNormalized::Yes {
            known |= MOVES;
        }
        let (mut canonical, mut compatible) = (Vec::new(), Vec::new());
        decompose_canonical(c, |d| canonical.push(d));
        decompose_compatible(c, |d| compatible.push(d));
        // The form of one character is at most one token, so that each token has characters of its
        // own in the text.
        if canonical != compatible && count_words(&compatible) <= 1 && count_runs(&compatible) <= 1
        {
            known |= COMPAT;
        }
        Known(known)
    }
}

/// The runs between white space in the decomposition of one character.
fn count_runs(chars: &[char]) -> usize {
    let runs = chars.split(|c| c.is_whitespace());
    runs.filter(|run| !run.is_empty()).count()
}

/// The words in the decomposition of one character.
fn count_words(chars: &[char]) -> usize {
    let (mut words, mut open) = (0, None);
    for &c in chars {
        let class = classify(c);
        match (class, open) {
            (Class::Ignorable, _)
            | (Class::Mark | Class::LetterMark, Some(_))
            | (Class::Letter | Class::Upper, Some(Class::Letter)) => {}
            (Class::Letter | Class::Upper | Class::LetterMark, _) => {
                (words, open) = (words + 1, Some(Class::Letter));
            }
            (Class::Ideograph, _) => (words, open) = (words + 1, Some(class)),
            (Class::Separator | Class::Apostrophe | Class::Mark, _) => open = None,
        }
    }
    words
}

/// A cache of what is known of the characters of the first four planes, which have all scripts. The
/// Unicode tables cost about 100 ns per character, the cache one or two. Only the pages of the
/// table that a text needs take memory.
#[derive(Debug)]
pub(super) struct ClassCache {
    /// Indexed by code point; 0 for characters not looked up yet.
    known: Vec<u8>,
    /// The bits of [`Known`] that are kept.
    bits: u8,
}

impl ClassCache {
    /// A cache that knows which characters are folded if `folded` is [`COMPAT`], and not if it is
    /// 0.
    pub(super) fn new(folded: u8) -> Self {
        ClassCache {
            known: vec![0; 0x4_0000],
            bits: CLASS | COMPOSES | MOVES | folded,
        }
    }

    #[inline]
    pub(super) fn get(&mut self, c: char) -> Known {
        let Some(known) = self.known.get_mut(c as usize) else {
            return Known(Known::of(c).0 & self.bits);
        };
        if *known == 0 {
            *known = Known::of(c).0 & self.bits;
        }
        Known(*known)
    }

    /// The class of a character that has been looked up, is not ignorable, and that neither
    /// composing nor folding concerns.
    #[inline]
    pub(super) fn plain(&self, c: char) -> Option<Class> {
        match *self.known.get(c as usize)? {
            1 => Some(Class::Separator),
            2 => Some(Class::Letter),
            3 => Some(Class::Upper),
            4 => Some(Class::Mark),
            5 => Some(Class::LetterMark),
            6 => Some(Class::Ideograph),
            7 => Some(Class::Apostrophe),
            _ => None,
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
    use unicode_normalization::UnicodeNormalization;

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
        let mut cache = ClassCache::new(u8::MAX);
        for c in '\0'..=char::MAX {
            let class = classify(c);
            if matches!(class, Class::Mark | Class::LetterMark | Class::Ideograph) {
                assert!(c.to_lowercase().eq([c]), "{c:?}");
            }
            // Room is reserved for twice the input bytes.
            if !matches!(class, Class::Separator | Class::Ignorable) {
                let lower: usize = c.to_lowercase().nfc().map(char::len_utf8).sum();
                let space = usize::from(class == Class::Ideograph);
                assert!(lower + space <= 2 * c.len_utf8(), "{c:?}");
            }
            for _ in 0..2 {
                assert_eq!(cache.get(c).class(), class);
                assert_eq!(cache.get(c), Known::of(c));
            }
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
            ('\u{ad}', Class::Ignorable),
            ('\u{200c}', Class::Ignorable),
            ('\u{3164}', Class::Ignorable),
            ('\u{fff9}', Class::Separator),
            ('\u{345}', Class::Mark), // alphabetic, but ordering can move it
            ('\u{2019}', Class::Apostrophe),
            ('\u{2018}', Class::Separator),
            ('\u{fffd}', Class::Separator),
        ] {
            assert_eq!(classify(c), class, "{c:?}");
        }
    }
}
