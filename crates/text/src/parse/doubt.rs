//! Whether a text looks as if it had been decoded from another charset than its own.
//!
//! A text is doubtful if most of its runs of non-ASCII characters are what UTF-8 becomes in
//! windows-1252 (`Ã©`) or windows-1251 (`Р¶`); if most of its non-ASCII characters are what another
//! alphabet becomes in windows-1252 (`Ïðèâåò`); if many of them are controls or U+FFFD; or if the
//! text has the zeros of UTF-16, anywhere. Only the first runs are looked at otherwise.

use encoding_rs::{Encoding, WINDOWS_1251};

use lookalike_base::{Wide, wide};

/// Bytes looked at, from the first byte that is not ASCII.
pub(super) const LOOK: usize = 4 << 10;

/// Non-ASCII bytes looked at.
const LOOK_OTHER: usize = 1 << 10;

/// Runs with fewer characters of windows-1252 occur in Western texts.
const LONG_RUN: usize = 4;

/// Fewer characters in such runs are names, or drawings.
const LEAST_FOREIGN: usize = 12;

/// Characters of a run in the notice.
const SHOWN: usize = 12;

/// The characters of windows-1252 in place of the controls from U+0080 on.
const SPECIAL: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// A kind of doubt: how many runs or characters give cause for it, and the first of them.
#[derive(Default)]
struct Cause<'t> {
    count: usize,
    first: &'t str,
}

impl<'t> Cause<'t> {
    fn add(&mut self, count: usize, run: &'t str) {
        if self.count == 0 && count > 0 {
            self.first = run;
        }
        self.count += count;
    }

    fn detail(&self, what: &str, all: usize, of: &str) -> String {
        let shown: String = self.first.chars().take(SHOWN).collect();
        let (count, first) = (self.count, shown.escape_debug());
        format!("{what}: {count} of the first {all} {of}, the first is {first}")
    }
}

/// Why a text in UTF-8 is doubtful. Its first `ascii` bytes are ASCII. With `told`, another notice
/// reports U+FFFD in it.
pub(super) fn of(text: &[u8], ascii: usize, told: bool) -> Option<String> {
    let wide = Wide::of_evidence(text).map(Wide::text);
    if let Some(name) = wide.or_else(|| wide::utf32(text)) {
        return Some(format!("it has the zeros of {name}"));
    }
    if let Some(at) = wide::wide_within(text) {
        let what = "a text in UTF-16 begins at about byte";
        return Some(format!("{what} {at}; convert the parts to one encoding"));
    }
    let mut rest = &text[ascii..text.len().min(ascii + LOOK)];
    let (mut runs, mut characters, mut bytes) = (0, 0, 0);
    let [mut western, mut cyrillic, mut other] = [(); 3].map(|()| Cause::default());
    let [mut controls, mut replaced] = [(); 2].map(|()| Cause::default());
    while !rest.is_empty() && bytes < LOOK_OTHER {
        let length = rest.iter().position(u8::is_ascii).unwrap_or(rest.len());
        let (run, after) = rest.split_at(length);
        // The text may be cut inside of its last character.
        let run = run.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        if !run.is_empty() {
            let count = run.chars().count();
            (runs, characters, bytes) = (runs + 1, characters + count, bytes + length);
            let is = |cause: bool| usize::from(cause);
            let bytes_of_1252 = bytes_of_1252(run);
            if let Some(encoded) = &bytes_of_1252 {
                western.add(is(std::str::from_utf8(encoded).is_ok()), run);
                other.add(count * is(is_foreign(run, count)), run);
                let is_control = |c: &char| ('\u{80}'..='\u{9f}').contains(c);
                controls.add(run.chars().filter(is_control).count(), run);
            } else if run.starts_with(['Р', 'С']) {
                let (encoded, _, unmappable) = WINDOWS_1251.encode(run);
                let is_utf8 = !unmappable && std::str::from_utf8(&encoded).is_ok();
                cyrillic.add(is(is_utf8), run);
            }
            replaced.add(run.matches('\u{fffd}').count(), run);
        }
        rest = &after[Encoding::ascii_valid_up_to(after)..];
    }
    const RUNS: &str = "runs of non-ASCII characters";
    const CHARACTERS: &str = "non-ASCII characters";
    let detail = if 2 * western.count > runs {
        western.detail("UTF-8 read as windows-1252", runs, RUNS)
    } else if 2 * cyrillic.count > runs {
        cyrillic.detail("UTF-8 read as windows-1251", runs, RUNS)
    } else if 2 * other.count > characters && other.count >= LEAST_FOREIGN {
        other.detail(
            "another alphabet read as windows-1252",
            characters,
            CHARACTERS,
        )
    } else if 4 * controls.count > characters && controls.count > 1 {
        controls.detail("control characters", characters, CHARACTERS)
    } else if !told && 4 * replaced.count > characters && replaced.count > 1 {
        replaced.detail("U+FFFD", characters, CHARACTERS)
    } else {
        return None;
    };
    Some(detail)
}

/// Whether so many bytes are not ASCII that those that are valid UTF-8 are hardly in another charset,
/// and that a guess from others is more than a chance.
pub(super) fn says_enough(text: &[u8]) -> bool {
    const LEAST_BYTES: usize = 6;
    let other = text.iter().filter(|byte| !byte.is_ascii());
    other.take(LEAST_BYTES).count() == LEAST_BYTES
}

/// The bytes that windows-1252 or Latin-1 decodes to these characters.
fn bytes_of_1252(run: &str) -> Option<Vec<u8>> {
    let byte = |c: char| match u8::try_from(c) {
        Ok(byte) => Some(byte),
        Err(_) => SPECIAL
            .chars()
            .position(|special| special == c)
            .map(|at| 0x80 + at as u8),
    };
    run.chars().map(byte).collect()
}

/// Whether a run of characters of windows-1252 is long, and most are letters, of several kinds.
fn is_foreign(run: &str, count: usize) -> bool {
    let letters = run.chars().filter(|c| c.is_alphabetic()).count();
    let first = run.chars().next();
    let kinds = run.chars().filter(|c| Some(*c) != first).count();
    count >= LONG_RUN && 2 * letters > count && 2 * kinds > count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubt(text: &str) -> Option<String> {
        let text = text.as_bytes();
        of(text, Encoding::ascii_valid_up_to(text), false)
    }

    /// The text that a program shows that takes it for another charset.
    fn misread(text: &str, written: &'static Encoding, read: &'static Encoding) -> String {
        let (bytes, _, _) = written.encode(text);
        read.decode_without_bom_handling(&bytes).0.into_owned()
    }

    const SENTENCES: [&str; 10] = [
        "Le cœur de l'œuvre coûte 10 € à Paris et l'été arrive très vite sur la côte.",
        "Falsches Üben von Xylophonmusik quält jeden größeren Zwerg.",
        "Árvíztűrő tükörfúrógép a hűvös őszi esőben.",
        "Kæmi ný öxi hér, ykist þjófum nú bæði víl og ádrepa.",
        "Съешь же ещё этих мягких французских булок, да выпей чаю.",
        "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία και την ψυχή σου.",
        "これは日本語の文章です。文字コードを判定します。",
        "敏捷的棕色狐狸跳过了懒狗。这是一个句子。",
        "다람쥐 헌 쳇바퀴에 타고파. 이것은 문장입니다.",
        "“It’s a quoted — dashed sentence…” said nobody. Copyright © 2004 ®",
    ];

    #[test]
    fn texts_are_not_doubted() {
        for text in SENTENCES {
            assert_eq!(doubt(text), None, "{text}");
        }
        for text in [
            "",
            "plain",
            "ÄÄÄÄÄÄÄ ÄÄÄÄÄÄÄ ÍÍÍÍÍÍÍÍ",
            "½¼¾² «««» °°°°° ¯¯¯¯ ····",
            "Ç",
        ] {
            assert_eq!(doubt(text), None, "{text}");
        }
    }

    #[test]
    fn texts_in_other_charsets_are_doubted() {
        use encoding_rs::{
            BIG5, EUC_JP, EUC_KR, GBK, ISO_8859_2, ISO_8859_7, KOI8_R, UTF_8, WINDOWS_1252,
        };
        for text in SENTENCES {
            let found = doubt(&misread(text, UTF_8, WINDOWS_1252)).unwrap();
            assert!(
                found.starts_with("UTF-8 read as windows-1252"),
                "{text} {found}"
            );
        }
        let found = doubt(&misread(SENTENCES[4], UTF_8, WINDOWS_1251)).unwrap();
        assert!(found.starts_with("UTF-8 read as windows-1251"), "{found}");
        for (text, written) in [
            (4, WINDOWS_1251),
            (4, KOI8_R),
            (5, ISO_8859_7),
            (6, EUC_JP),
            (7, GBK),
            (7, BIG5),
            (8, EUC_KR),
        ] {
            let found = doubt(&misread(
                SENTENCES[text].replace('、', " ").as_str(),
                written,
                WINDOWS_1252,
            ));
            // A single run of Chinese characters is not enough.
            let enough = [6, 7].contains(&text);
            let found = found.unwrap_or_default();
            assert!(
                enough || found.starts_with("another alphabet"),
                "{text} {} {found}",
                written.name()
            );
        }
        let latin1: String = "“quoted”, ’tis – so".bytes().map(char::from).collect();
        assert!(doubt(&latin1).unwrap().starts_with("UTF-8 read as"));
        assert!(
            doubt(&misread("a \u{96} b \u{92} c", ISO_8859_2, ISO_8859_2))
                .unwrap()
                .starts_with("control")
        );
        assert!(
            doubt("caf\u{fffd} na\u{fffd}ve")
                .unwrap()
                .starts_with("U+FFFD")
        );
        assert!(
            doubt("t\0h\0e\0 \0w\0o\0r\0d\0")
                .unwrap()
                .contains("UTF-16LE")
        );
    }
}
