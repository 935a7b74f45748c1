//! Applies `--fold` to characters.
//!
//! A fold replaces characters before text is cut, so that nothing else depends on it.

use unicode_normalization::char::{
    canonical_combining_class, decompose_canonical, decompose_compatible,
};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};

use super::class::{Class, FINAL_SIGMA, classify, is_hyphen};
use super::config::{Fold, ParseConfig, TokenKind};
use super::cut::{Cut, Open, cut};

/// The parameters that the class of a character depends on: the folds, and the version of the rule
/// of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rules {
    pub fold: Fold,
    /// Rule 3, which has two small sigmas, and soft hyphens that join no lines.
    pub third: bool,
}

impl Rules {
    pub(super) fn of(config: &ParseConfig) -> Rules {
        let mut fold = config.fold;
        // Among programs and texts (`auto`), programs keep their hyphens.
        fold.hyphens &= config.tokens == TokenKind::Words;
        Rules {
            fold,
            third: config.token_rule <= 3,
        }
    }

    /// The class of a character.
    pub(super) fn classify(self, c: char) -> Class {
        match c {
            FINAL_SIGMA if !self.third => Class::Upper,
            '\u{ad}' if !self.third => Class::SoftHyphen,
            c if self.fold.hyphens && is_hyphen(c) => Class::Hyphen,
            c => classify(c),
        }
    }
}

/// How a character is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Not at all.
    Same,
    /// Its canonical decomposition has characters that are folded.
    Canonical,
    /// It has a compatibility form, whose characters may be folded as well.
    Compatible,
}

/// How the folds of `rules` change a character, from the Unicode tables.
pub(super) fn form(c: char, rules: Rules) -> Form {
    let fold = rules.fold;
    if c.is_ascii() || fold == Default::default() {
        return Form::Same;
    }
    let (mut canonical, mut compatible) = (Vec::new(), Vec::new());
    decompose_canonical(c, |d| canonical.push(d));
    decompose_compatible(c, |d| compatible.push(d));
    // The form of one character is at most one token, so that each token has characters of its own
    // in the text.
    if fold.compat
        && canonical != compatible
        && count_words(&compatible) <= 1
        && count_runs(&compatible) <= 1
    {
        return Form::Compatible;
    }
    match canonical.iter().any(|&d| folded(d, rules) != Some(d)) {
        true => Form::Canonical,
        false => Form::Same,
    }
}

/// Calls `each` with the characters that a character with a form becomes. There may be none.
pub(super) fn each_folded(c: char, form: Form, rules: Rules, mut each: impl FnMut(char)) {
    let each = |d| {
        if let Some(d) = folded(d, rules) {
            each(d);
        }
    };
    match form {
        Form::Compatible => decompose_compatible(c, each),
        Form::Canonical | Form::Same => decompose_canonical(c, each),
    }
}

/// Folds a character of a decomposition.
fn folded(c: char, rules: Rules) -> Option<char> {
    let fold = rules.fold;
    let dropped = fold.diacritics && (is_diacritic(c) || c == TATWEEL && !rules.third);
    // Vowel marks, hamza above and below a letter, madda, and tatweel. Source: ArabicNormalizer and
    // PersianNormalizer of Lucene, which keep hamza above waw and yeh in composed characters.
    if dropped || fold.arabic && matches!(c, TATWEEL | '\u{64b}'..='\u{655}' | '\u{670}') {
        return None;
    }
    let c = if fold.arabic { arabic(c) } else { c };
    Some(if fold.digits { digit(c) } else { c })
}

/// Stretches a line of Arabic or Syriac, and has no meaning.
const TATWEEL: char = '\u{640}';

/// The letter that `--fold arabic` makes of a letter, as these normalizers do: alef wasla is alef,
/// teh marbuta and the other forms of heh are heh, alef maksura and the yehs of Persian and Urdu are
/// yeh, and keheh is kaf.
fn arabic(c: char) -> char {
    match c {
        '\u{671}' => '\u{627}',
        '\u{629}' | '\u{6c1}' | '\u{6c3}' | '\u{6d5}' => '\u{647}',
        '\u{649}' | '\u{6cc}' | '\u{6d2}' => '\u{64a}',
        '\u{6a9}' => '\u{643}',
        c => c,
    }
}

/// Whether `--fold diacritics` drops a character of a decomposition: marks without a place of their
/// own that scripts with an alphabet share (script Inherited: accents, Arabic vowels), or that
/// alphabets of the Mediterranean have for themselves. The marks of other scripts are vowels or
/// tones, which tell words apart; so is the voicing of kana, of combining class 8.
fn is_diacritic(c: char) -> bool {
    c.general_category() == GeneralCategory::NonspacingMark
        && canonical_combining_class(c) != 8
        && matches!(
            c.script(),
            Script::Inherited
                | Script::Greek
                | Script::Cyrillic
                | Script::Hebrew
                | Script::Arabic
                | Script::Syriac
        )
}

/// The ASCII digit for a decimal digit of any script, or the character itself. Decimal digits are
/// encoded in runs of ten that begin with zero (Unicode, section 4.6), and such runs may adjoin.
fn digit(c: char) -> char {
    let decimal = |c: char| c.general_category() == GeneralCategory::DecimalNumber;
    if c.is_ascii() || !decimal(c) {
        return c;
    }
    let before = ('\0'..c).rev().take_while(|&d| decimal(d)).count();
    char::from(b'0' + (before % 10) as u8)
}

/// The runs between white space in the decomposition of one character.
fn count_runs(chars: &[char]) -> usize {
    let runs = chars.split(|c| c.is_whitespace());
    runs.filter(|run| !run.is_empty()).count()
}

/// The words in the decomposition of one character.
fn count_words(chars: &[char]) -> usize {
    let mut open = Open::None;
    let words = chars.iter().filter(|&&c| {
        let (effect, next) = cut(open, classify(c), c);
        open = next;
        effect == Cut::Begin
    });
    words.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str, fold: &str) -> String {
        let rules = Rules {
            fold: fold.parse().unwrap(),
            ..Rules::default()
        };
        let mut out = String::new();
        for c in text.chars() {
            match form(c, rules) {
                Form::Same => out.push(c),
                form => each_folded(c, form, rules, |d| out.push(d)),
            }
        }
        out
    }

    #[test]
    fn diacritics_of_alphabets_are_dropped() {
        for (written, folded) in [
            ("Ångström naïve Čeština Việt", "Angstrom naive Cestina Viet"),
            ("e\u{301}\u{323} ø ł ß æ", "e ø ł ß æ"),
            ("Ελλάδα ᾧ ΐ", "Ελλαδα ω ι"),
            ("Йод ёлка й", "Иод елка и"),
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّد أإآؤ", "محمد اااو"),
            // Vowels, tones, voicing and nuktas tell words apart.
            ("हिन्दी ภาษาไทย น้ำ ខ្មែរ မြန်မာ", "हिन्दी ภาษาไทย น้ำ ខ្មែរ မြန်မာ"),
            ("が か\u{3099} パ 한국", "が か\u{3099} パ 한국"),
            ("12 ① ﬁ", "12 ① ﬁ"),
            ("كــتـاب", "كتاب"),
        ] {
            assert_eq!(text(written, "diacritics"), folded);
        }
    }

    #[test]
    fn letters_of_arabic_are_folded() {
        for (written, folded) in [
            ("أحمد إلى آخر ٱلرَّحْمَٰن", "احمد الي اخر الرحمن"),
            ("المدرسة هدى رأى", "المدرسه هدي راي"),
            ("مؤمن قارئ شيء هـٰذا", "مومن قاري شيء هذا"),
            ("کتاب ایران خانۀ", "كتاب ايران خانه"),
            ("é ٣ ﬁ", "é ٣ ﬁ"),
        ] {
            assert_eq!(text(written, "arabic"), folded);
        }
    }

    #[test]
    fn decimal_digits_of_every_script_are_folded() {
        for (written, folded) in [
            ("٠١٢٣٤٥٦٧٨٩ ۱۲۳", "0123456789 123"),
            ("๐๑๒๓๔๕๖๗๘๙ ໑໒ ១២ ၁၂ ᧑᧒ ᪑᪒", "0123456789 12 12 12 12 12"),
            ("१२३ ১২৩ １２３ 𝟘𝟙𝟚 𝟶𝟿", "123 123 123 012 09"),
            // Numbers that are not decimal digits.
            ("² ① Ⅷ ½ 三 ᧚ ៱", "² ① Ⅷ ½ 三 ᧚ ៱"),
            ("é ﬁ 7", "é ﬁ 7"),
        ] {
            assert_eq!(text(written, "digits"), folded);
        }
        // Every run has all ten digits of some scripts, and begins with a zero.
        let mut run = 0;
        for c in '\u{80}'..=char::MAX {
            if c.general_category() == GeneralCategory::DecimalNumber {
                assert_eq!(u32::from(digit(c)) - u32::from('0'), run % 10, "{c:?}");
                run += 1;
            } else {
                assert_eq!(run % 10, 0, "before {c:?}");
                run = 0;
            }
        }
    }

    /// The values that compatibility forms state are the same.
    #[test]
    fn digits_with_a_form_agree_with_it() {
        let digits = Rules {
            fold: "digits".parse().unwrap(),
            ..Rules::default()
        };
        for c in '\u{80}'..=char::MAX {
            let mut form = Vec::new();
            decompose_compatible(c, |d| form.push(d));
            if c.general_category() == GeneralCategory::DecimalNumber && form != [c] {
                assert_eq!(form, [digit(c)]);
                assert_eq!(folded(c, digits), Some(digit(c)));
            }
        }
    }

    #[test]
    fn folds_combine() {
        let written = "ﬁé ① ٣ Ａ\u{301} ắ ḗ½";
        for (fold, expected) in [
            ("none", written),
            ("compat", "fie\u{301} 1 ٣ A\u{301} ắ ḗ½"),
            ("compat,diacritics", "fie 1 ٣ A a e½"),
            ("digits,diacritics", "ﬁe ① 3 Ａ a e½"),
            ("compat,diacritics,digits", "fie 1 3 A a e½"),
        ] {
            let found = text(written, fold);
            // Characters without a form are kept as they are, composed or not.
            let same = |text: &str| {
                unicode_normalization::UnicodeNormalization::nfc(text).collect::<String>()
            };
            assert_eq!(same(&found), same(expected), "{fold}");
        }
        // The vowel of Thai and Lao has a form of two tokens, so it is not folded.
        assert_eq!(text("น้ำ ຄຳ ໜ", "compat"), "น้ำ ຄຳ ໜ");
    }
}
