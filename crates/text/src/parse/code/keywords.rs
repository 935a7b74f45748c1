//! The words that `--fold identifiers` keeps.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::parse::config::Language;

/// Keywords and literals of each language, in order. LaTeX has none, and `common` has all.
static KEYWORDS: [(Language, &str); 8] = [
    // C and C++.
    (
        Language::C,
        "NULL _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert \
         _Thread_local alignas alignof and asm auto bool break case catch char char16_t char32_t \
         char8_t class co_await co_return co_yield concept const const_cast consteval constexpr \
         constinit continue decltype default define defined delete do double dynamic_cast elif else \
         endif enum error explicit export extern false float for friend goto if ifdef ifndef include \
         inline int line long mutable namespace new noexcept not nullptr operator or pragma private \
         protected public register reinterpret_cast requires restrict return short signed sizeof \
         static static_assert static_cast struct switch template this thread_local throw true try \
         typedef typeid typename undef union unsigned using virtual void volatile wchar_t while xor",
    ),
    // Java.
    (
        Language::Java,
        "abstract assert boolean break byte case catch char class const continue default do double \
         else enum extends false final finally float for goto if implements import instanceof int \
         interface long native new null package permits private protected public record return sealed \
         short static strictfp super switch synchronized this throw throws transient true try var \
         void volatile while yield",
    ),
    // Python.
    (
        Language::Python,
        "False None True and as assert async await break case class continue def del elif else except \
         finally for from global if import in is lambda match nonlocal not or pass raise return try \
         while with yield",
    ),
    // JavaScript and TypeScript.
    (
        Language::Javascript,
        "abstract any arguments as async await boolean break case catch class const continue debugger \
         declare default delete do else enum export extends false finally for from function get if \
         implements import in infer instanceof interface is keyof let module namespace never new null \
         number object of package private protected public readonly return satisfies set static \
         string super switch symbol this throw true try type typeof undefined unknown var void while \
         with yield",
    ),
    // Rust.
    (
        Language::Rust,
        "Self as async await become bool box break char const continue crate do dyn else enum extern \
         f32 f64 false final fn for i128 i16 i32 i64 i8 if impl in isize let loop macro macro_rules \
         match mod move mut override priv pub ref return self static str struct super trait true try \
         type typeof u128 u16 u32 u64 u8 union unsafe unsized use usize virtual where while yield",
    ),
    // Go.
    (
        Language::Go,
        "any bool break byte case chan complex128 complex64 const continue default defer else error \
         fallthrough false float32 float64 for func go goto if import int int16 int32 int64 int8 \
         interface iota map nil package range return rune select string struct switch true type uint \
         uint16 uint32 uint64 uint8 uintptr var",
    ),
    // SQL, in upper case.
    (
        Language::Sql,
        "ADD ALL ALTER AND ANY AS ASC BEGIN BETWEEN BY CASE CAST CHECK COLUMN COMMIT CONSTRAINT \
         CREATE CROSS CURRENT DATABASE DEFAULT DELETE DESC DISTINCT DROP ELSE END EXCEPT EXISTS FETCH \
         FOREIGN FROM FULL GRANT GROUP HAVING IF IN INDEX INNER INSERT INTERSECT INTO IS JOIN KEY \
         LEFT LIKE LIMIT NATURAL NOT NULL OFFSET ON OR ORDER OUTER OVER PARTITION PRIMARY REFERENCES \
         RETURNING REVOKE RIGHT ROLLBACK ROW ROWS SELECT SET TABLE THEN TO TRANSACTION TRIGGER \
         TRUNCATE UNION UNIQUE UPDATE USING VALUES VIEW WHEN WHERE WITH",
    ),
    // shells.
    (
        Language::Shell,
        "break case continue coproc do done echo elif else esac eval exec exit export false fi for \
         function if in local readonly return select set shift source test then time trap true unset \
         until while",
    ),
];

/// All keywords.
struct Table {
    /// Each with the languages that have it, as bits.
    words: Vec<(&'static [u8], u16)>,
    /// For each first byte, the lengths of its keywords as bits.
    lengths: [u32; 128],
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut all: BTreeMap<&[u8], u16> = BTreeMap::new();
    let mut lengths = [0; 128];
    for (language, words) in &KEYWORDS {
        for word in words.split(' ').map(str::as_bytes) {
            *all.entry(word).or_default() |= bit(*language) | ALL;
            lengths[usize::from(word[0])] |= 1 << word.len();
        }
    }
    Table {
        words: all.into_iter().collect(),
        lengths,
    }
});

/// The bits of `common` and `auto`, which have the keywords of all languages.
const ALL: u16 = bit(Language::Common) | bit(Language::Auto);

const fn bit(language: Language) -> u16 {
    1 << language as u16
}

/// Whether a name is a keyword of a language.
pub(super) fn is_keyword(name: &[u8], language: Language) -> bool {
    let table = &*TABLE;
    let Some(&lengths) = name
        .first()
        .and_then(|&b| table.lengths.get(usize::from(b)))
    else {
        return false;
    };
    let languages = bit(language);
    lengths.checked_shr(name.len() as u32).unwrap_or(0) & 1 == 1
        && table
            .words
            .binary_search_by_key(&name, |&(word, _)| word)
            .is_ok_and(|at| table.words[at].1 & languages != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_those_of_their_language() {
        for (language, words) in KEYWORDS {
            let words: Vec<&str> = words.split(' ').collect();
            assert!(words.is_sorted_by(|a, b| a < b));
            for word in words {
                for language in [language, Language::Common] {
                    assert!(is_keyword(word.as_bytes(), language), "{word}");
                    let longer = format!("{word}_");
                    assert!(!is_keyword(longer.as_bytes(), language));
                }
                assert!(!is_keyword(word.as_bytes(), Language::Latex));
            }
        }
        for other in ["", "x", "clas", "Class", "é", &"i".repeat(40)] {
            assert!(!is_keyword(other.as_bytes(), Language::Common), "{other}");
        }
        assert!(!is_keyword(b"range", Language::Python));
        assert!(is_keyword(b"range", Language::Go));
    }
}
