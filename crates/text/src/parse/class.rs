//! The class of a character: its effect on the word around it.
//!
//! # Source
//! Extended grapheme clusters: UAX #29 (Unicode 17), section 3.1, tables 1c and 2. Scripts without
//! spaces between words: those whose letters have the line-break class SA (UAX #14, table 1). The
//! few characters of these scripts that a general rule does not settle are listed here. Tests
//! compare every character with the packages `unicode-segmentation` and `icu_properties`.

use super::masks::{whitespace_byte, word_byte};
use unicode_normalization::char::{canonical_combining_class, decompose_canonical};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
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
    /// Han, Hiragana or Katakana, or what begins a grapheme cluster in a script without spaces: a
    /// token of its own, with the marks after it.
    Alone = 6,
    /// `'` or U+2019.
    Apostrophe = 7,
    /// As [`Class::Alone`]: a consonant that belongs to the token before it if a
    /// [`Class::Stacker`] puts it below a consonant (UAX #29, rule GB9c).
    Stacked = 8,
    /// As [`Class::Mark`]: puts the next consonant below the consonant before it.
    Stacker = 9,
    /// As [`Class::LetterMark`], in a script without spaces, with a place of its own: no consonant
    /// is stacked over it.
    Spacing = 10,
    /// It is invisible, and no token contains it ([`is_ignorable`]).
    Ignorable = 11,
    /// The soft hyphen: as [`Class::Ignorable`], and at the end of a line it joins the word with the
    /// next line.
    SoftHyphen = 12,
    /// A separator that joins the word before it with the next line, at the end of a line
    /// ([`Fold::hyphens`](super::Fold::hyphens)).
    Hyphen = 13,
}

impl Class {
    /// The effect of a character on a token of `whitespace`. Upper case makes no difference there.
    #[inline]
    pub(super) fn in_white_space(self, c: char) -> Class {
        match self {
            Class::Ignorable | Class::SoftHyphen => self,
            Class::Separator if c.is_whitespace() => self,
            _ => Class::Letter,
        }
    }
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

/// The lower case of a character of a word. The final sigma is a sigma: which one ends a word in
/// lower case depends on the word's place, and capitals have one for both.
pub(super) fn lower(c: char) -> impl Iterator<Item = char> {
    let c = if c == FINAL_SIGMA { 'σ' } else { c };
    c.to_lowercase()
}

pub(super) const FINAL_SIGMA: char = 'ς';

/// The hyphens that [`Fold::hyphens`](super::Fold::hyphens) joins at the end of a line: of
/// typewriters and of Unicode, the sign for them in transcriptions (`¬`), of Fraktur, and of
/// Armenian.
pub(super) fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}' | '\u{ac}' | '\u{2e17}' | '\u{58a}')
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
    if let Some(class) = without_spaces(c) {
        return class;
    }
    let is_alone = |script| matches!(script, Script::Han | Script::Hiragana | Script::Katakana);
    match (c.is_alphanumeric(), mark) {
        // If a mark that can be moved began a word, canonically equivalent texts would differ.
        (true, true) if !begins_with_mover(c) => Class::LetterMark,
        (_, true) => Class::Mark,
        // The script decides, not the category: a radical or a circled Katakana is not a letter.
        _ if is_alone(c.script()) => Class::Alone,
        (true, false) if c.to_lowercase().eq([c]) => Class::Letter,
        (true, false) => Class::Upper,
        (false, false) => Class::Separator,
    }
}

/// The class of a character of a script without spaces between words, if it is not the class that it
/// would have in another script. Digits, signs and most marks have that.
fn without_spaces(c: char) -> Option<Class> {
    let script = c.script();
    if !matches!(
        script,
        Script::Thai
            | Script::Lao
            | Script::Khmer
            | Script::Myanmar
            | Script::Tai_Le
            | Script::New_Tai_Lue
            | Script::Tai_Tham
            | Script::Tai_Viet
            | Script::Ahom
    ) {
        return None;
    }
    let category = c.general_category();
    match c {
        '\u{1039}' | '\u{17d2}' | '\u{1a60}' => Some(Class::Stacker),
        // The vowel AM belongs to the cluster before it, although it is a letter.
        '\u{e33}' | '\u{eb3}' => Some(Class::Spacing),
        // Spacing marks that nevertheless begin a cluster.
        '\u{102b}'..='\u{102c}'
        | '\u{1038}'
        | '\u{1062}'..='\u{1064}'
        | '\u{1067}'..='\u{106d}'
        | '\u{1083}'
        | '\u{1087}'..='\u{108c}'
        | '\u{108f}'
        | '\u{109a}'..='\u{109c}'
        | '\u{1a61}'
        | '\u{1a63}'..='\u{1a64}'
        | '\u{aa7b}'
        | '\u{aa7d}'
        | '\u{11720}'..='\u{11721}' => Some(Class::Alone),
        _ if category == GeneralCategory::SpacingMark => Some(Class::Spacing),
        _ if !c.is_alphabetic() || category == GeneralCategory::NonspacingMark => None,
        // Letters that are not consonants.
        '\u{17dc}' | '\u{aa74}'..='\u{aa76}' => Some(Class::Alone),
        _ if category == GeneralCategory::OtherLetter
            && matches!(script, Script::Khmer | Script::Myanmar | Script::Tai_Tham) =>
        {
            Some(Class::Stacked)
        }
        _ => Some(Class::Alone),
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

/// In [`WORDS`] and [`WHITESPACE`]: the table does not settle this byte; take the slow path.
pub(super) const SLOW: u8 = 0;

/// The result for each byte in the canonical text of words: its lower case, a space for a
/// separator, or [`SLOW`] for an apostrophe and for bytes of non-ASCII characters.
pub(super) static WORDS: [u8; 256] = table_of(true, false);

/// As [`WORDS`], if a hyphen can join lines.
pub(super) static WORDS_AND_HYPHENS: [u8; 256] = table_of(true, true);

const fn table_of(words: bool, hyphens: bool) -> [u8; 256] {
    let mut table = [SLOW; 256];
    let mut b = 0;
    while b < 0x80 {
        let (becomes, _, slow) = match words {
            true => word_byte(b, hyphens),
            false => whitespace_byte(b),
        };
        if !slow {
            table[b as usize] = becomes;
        }
        b += 1;
    }
    table
}

/// The table of `words` or of other tokens.
#[inline]
pub(super) fn table(words: bool, hyphens: bool) -> &'static [u8; 256] {
    match words {
        true if hyphens => &WORDS_AND_HYPHENS,
        true => &WORDS,
        false => &WHITESPACE,
    }
}

/// The result for each byte in the canonical text of `whitespace` and `bytes:N`: itself, a space
/// for white space, or [`SLOW`] for NUL (which the table cannot represent) and bytes of non-ASCII
/// characters.
pub(super) static WHITESPACE: [u8; 256] = table_of(false, false);

#[cfg(test)]
mod tests {
    use super::*;
    use icu_properties::CodePointMapData;
    use icu_properties::props::LineBreak;
    use unicode_normalization::UnicodeNormalization;
    use unicode_segmentation::UnicodeSegmentation;

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
        for c in '\0'..=char::MAX {
            let class = classify(c);
            if !matches!(class, Class::Letter | Class::Upper) {
                assert!(c.to_lowercase().eq([c]), "{c:?}");
            }
            // Room is reserved for twice the input bytes.
            if !matches!(class, Class::Separator | Class::Ignorable) {
                let lower: usize = c.to_lowercase().nfc().map(char::len_utf8).sum();
                let space = usize::from(matches!(class, Class::Alone | Class::Stacked));
                assert!(lower + space <= 2 * c.len_utf8(), "{c:?}");
            }
        }
    }

    /// Letters are tokens of their own exactly if their line-break class is SA.
    #[test]
    fn scripts_without_spaces_are_those_of_the_line_breaks() {
        let breaks = CodePointMapData::<LineBreak>::new();
        let mut letters = 0;
        for c in '\0'..=char::MAX {
            let complex = breaks.get(c) == LineBreak::ComplexContext;
            // Khmer vowels that nobody sees.
            if is_ignorable(c) {
                continue;
            }
            let found = without_spaces(c);
            assert!(found.is_none() || complex, "{c:?} {found:?}");
            if c.is_alphabetic() && complex {
                let mark = c.general_category() == GeneralCategory::NonspacingMark;
                assert!(found.is_some() || mark, "{c:?}");
                letters += 1;
            }
        }
        assert!(letters > 600, "{letters}");
    }

    /// Clusters begin and end where UAX #29 says, for every character of these scripts.
    #[test]
    fn classes_of_scripts_without_spaces_are_those_of_the_clusters() {
        let breaks = CodePointMapData::<LineBreak>::new();
        let one = |parts: &[&str]| parts.concat().graphemes(true).count() == 1;
        for c in ('\0'..=char::MAX).filter(|&c| breaks.get(c) == LineBreak::ComplexContext) {
            let class = classify(c);
            let text = &c.to_string();
            let mark = match class {
                Class::Alone | Class::Stacked => false,
                Class::Mark | Class::LetterMark | Class::Stacker | Class::Spacing => true,
                _ => {
                    assert!(!c.is_alphabetic(), "{c:?} {class:?}");
                    continue;
                }
            };
            for before in ["ក", "က", "ᨠ", "ก"] {
                assert_eq!(one(&[before, text]), mark, "{c:?} {class:?}");
            }
            for (first, stacker, second) in [
                ("ក", "\u{17d2}", "ខ"),
                ("က", "\u{1039}", "ခ"),
                ("ᨠ", "\u{1a60}", "ᨡ"),
            ] {
                let stacked = one(&[first, stacker, text]);
                assert_eq!(stacked, mark || class == Class::Stacked, "{c:?} {class:?}");
                let stacks = one(&[text, stacker, second]);
                assert_eq!(stacks, class == Class::Stacked, "{c:?} {class:?}");
                let stacker_too = one(&[first, text, second]);
                assert_eq!(stacker_too, class == Class::Stacker, "{c:?} {class:?}");
                for stacked in [
                    one(&[first, text, stacker, second]),
                    one(&[first, stacker, text, second]),
                ] {
                    let place = matches!(class, Class::Spacing | Class::Alone);
                    let place = place || class == Class::Stacked;
                    assert_eq!(stacked, mark && !place, "{c:?} {class:?}");
                }
            }
        }
    }

    #[test]
    fn some_classes() {
        for (c, class) in [
            ('漢', Class::Alone),
            ('ア', Class::Alone),
            ('ｱ', Class::Alone),
            ('あ', Class::Alone),
            ('々', Class::Alone),
            ('⺀', Class::Alone),
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
            ('ก', Class::Alone),
            ('ๆ', Class::Alone),
            ('\u{e33}', Class::Spacing),
            ('\u{e49}', Class::Mark),
            ('\u{e31}', Class::LetterMark),
            ('\u{e38}', Class::Mark), // alphabetic, but ordering can move it
            ('๑', Class::Letter),
            ('฿', Class::Separator),
            ('ក', Class::Stacked),
            ('\u{17d2}', Class::Stacker),
            ('\u{17b6}', Class::Spacing),
            ('\u{17b7}', Class::LetterMark),
            ('\u{102c}', Class::Alone),
            ('ཀ', Class::Letter), // Tibetan has separators of syllables
            ('་', Class::Separator),
        ] {
            assert_eq!(classify(c), class, "{c:?}");
        }
    }
}
