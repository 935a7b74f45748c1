//! Porter's stemmer: removes the endings of English words.
//!
//! # Source
//! Porter 1980, *An algorithm for suffix stripping*, Program 14(3), pages 130 to 137. The rules are
//! in his order, and the names of the conditions (`*o`, `*d`, m) are his.
//!
//! # Algorithm
//! Five steps, each with a list of endings. In each list, only the first ending that matches the
//! word applies, and it changes the word if its condition is true. The lists are ordered so that of
//! two endings that match, the longer one comes first.
//!
//! # Where we depart from the source
//! - Words of one or two letters are left alone; otherwise nothing would remain of `s`. Porter's
//!   own program does this too, though his paper does not say so.
//! - Porter's other later changes to his program (`bli`, `logi`) are not made, because the paper
//!   that uses stemming cites Porter's paper.
//! - The paper covers words of the letters A to Z. Any other byte counts as a consonant, and two
//!   equal bytes of this kind do not count as a double consonant, so that the result is valid
//!   UTF-8.
//!
//! No package fits: those considered implement Porter's later algorithm (`rust-stemmers`: English)
//! or his changed program, or are unmaintained.

use lookalike_base::words;

/// Stems a word of lower-case letters in place.
pub(super) fn stem(word: &mut Vec<u8>) {
    if word.len() <= 2 {
        return;
    }
    // Step 1a: plurals.
    first(
        word,
        &[["sses", "ss"], ["ies", "i"], ["ss", "ss"], ["s", "-"]],
        |_| true,
    );
    // Step 1b: -ed and -ing.
    if let Some(before) = word.strip_suffix(b"eed") {
        if measure(before) > 0 {
            word.truncate(word.len() - 1);
        }
    } else if let Some(length) = ["ed", "ing"].iter().find_map(|ending| {
        let before = word.strip_suffix(ending.as_bytes())?;
        // At most one of the two matches.
        has_vowel(before).then_some(before.len())
    }) {
        word.truncate(length);
        if ["at", "bl", "iz"]
            .iter()
            .any(|e| word.ends_with(e.as_bytes()))
        {
            word.push(b'e');
        } else if let Some(last) = double_consonant(word) {
            if !matches!(last, b'l' | b's' | b'z') {
                word.truncate(word.len() - 1);
            }
        } else if measure(word) == 1 && consonant_vowel_consonant(word) {
            word.push(b'e');
        }
    }
    // Step 1c.
    first(word, &[["y", "i"]], has_vowel);
    first(word, STEP_2.as_chunks().0, |before| measure(before) > 0);
    first(word, STEP_3.as_chunks().0, |before| measure(before) > 0);
    step_4(word);
    // Step 5a.
    if let Some(before) = word.strip_suffix(b"e") {
        let m = measure(before);
        if m > 1 || m == 1 && !consonant_vowel_consonant(before) {
            word.truncate(word.len() - 1);
        }
    }
    // Step 5b.
    if word.ends_with(b"ll") && measure(word) > 1 {
        word.truncate(word.len() - 1);
    }
}

/// Endings, each before its replacement; `-` stands for none.
const STEP_2: [&str; 40] = words(
    "ational ate tional tion enci ence anci ance izer ize abli able alli al entli ent eli e \
     ousli ous ization ize ation ate ator ate alism al iveness ive fulness ful ousness ous \
     aliti al iviti ive biliti ble",
);

const STEP_3: [&str; 14] = words("icate ic ative - alize al iciti ic ical ic ful - ness -");

/// The endings of step 4. Each is removed if at least two vowel-consonant sequences precede it.
const STEP_4: &[&str] = &[
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
];

fn step_4(word: &mut Vec<u8>) {
    let before = STEP_4
        .iter()
        .find_map(|ending| Some((*ending, word.strip_suffix(ending.as_bytes())?)));
    if let Some((ending, before)) = before {
        let allowed = ending != "ion" || before.ends_with(b"s") || before.ends_with(b"t");
        if allowed && measure(before) > 1 {
            word.truncate(word.len() - ending.len());
        }
    }
}

/// Finds the first ending that matches the word, and replaces it if the part before it satisfies
/// the condition.
fn first(word: &mut Vec<u8>, endings: &[[&str; 2]], condition: impl Fn(&[u8]) -> bool) {
    let found = endings
        .iter()
        .find_map(|[ending, new]| Some((word.strip_suffix(ending.as_bytes())?, *new)));
    if let Some((before, new)) = found
        && condition(before)
    {
        let length = before.len();
        word.truncate(length);
        word.extend_from_slice(new.trim_matches('-').as_bytes());
    }
}

/// Whether each byte is a vowel: A, E, I, O, U, and Y after a consonant.
fn vowels(word: &[u8]) -> impl Iterator<Item = bool> {
    word.iter().scan(true, |after_vowel, &letter| {
        // At the beginning of a word Y is a consonant.
        let vowel = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => true,
            b'y' => !*after_vowel,
            _ => false,
        };
        *after_vowel = vowel;
        Some(vowel)
    })
}

/// m: the number of vowel-consonant sequences in the word.
fn measure(word: &[u8]) -> usize {
    let mut before = false;
    let mut count = 0;
    for vowel in vowels(word) {
        count += usize::from(before && !vowel);
        before = vowel;
    }
    count
}

/// `*v*`: whether the word contains a vowel.
fn has_vowel(word: &[u8]) -> bool {
    vowels(word).any(|vowel| vowel)
}

/// `*d`: the letter of the double consonant at the end, if there is one.
fn double_consonant(word: &[u8]) -> Option<u8> {
    let [.., a, b] = *word else { return None };
    (a == b && a.is_ascii_lowercase() && vowels(word).last() == Some(false)).then_some(a)
}

/// `*o`: whether the word ends consonant, vowel, consonant, and the last is not W, X or Y.
fn consonant_vowel_consonant(word: &[u8]) -> bool {
    let [.., last] = *word else { return false };
    // The last three bytes as bits, the last byte lowest. Bytes before the word count as vowels.
    let shape = vowels(word).fold(0b111u8, |shape, vowel| {
        (shape << 1 | u8::from(vowel)) & 0b111
    });
    word.len() >= 3 && shape == 0b010 && !matches!(last, b'w' | b'x' | b'y')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stemmed(word: &str) -> String {
        let mut word = word.as_bytes().to_vec();
        stem(&mut word);
        String::from_utf8(word).unwrap()
    }

    #[test]
    fn the_examples_of_the_paper() {
        // Values of m from page 131 of the paper.
        for (m, words) in [
            (0, "tr ee tree y by"),
            (1, "trouble oats trees ivy"),
            (2, "troubles private oaten orrery"),
        ] {
            for word in words.split(' ') {
                assert_eq!(measure(word.as_bytes()), m, "{word}");
            }
        }
        // Whole words from its examples, whose stems no later step changes.
        for (word, stem) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("ties", "ti"),
            ("cats", "cat"),
            ("feed", "feed"),
            ("plastered", "plaster"),
            ("bled", "bled"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("hopping", "hop"),
            ("tanned", "tan"),
            ("falling", "fall"),
            ("hissing", "hiss"),
            ("fizzed", "fizz"),
            ("failing", "fail"),
            ("filing", "file"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("generalizations", "gener"),
            ("oscillators", "oscil"),
            ("controll", "control"),
            ("roll", "roll"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("cease", "ceas"),
            ("adoption", "adopt"),
            ("replacement", "replac"),
            ("connections", "connect"),
        ] {
            assert_eq!(stemmed(word), stem, "{word}");
        }
    }

    /// Stems of real words by another implementation of the paper, which `stems.txt` names.
    #[test]
    fn the_stems_of_many_words() {
        let mut words = 0;
        for line in include_str!("stems.txt").lines() {
            let Some((word, stem)) = line.split_once(' ').filter(|_| !line.starts_with('#')) else {
                continue;
            };
            assert_eq!(stemmed(word), stem, "{word}");
            words += 1;
        }
        assert!(words > 800, "{words}");
    }

    #[test]
    fn what_is_no_word_of_letters_stays_text() {
        for word in [
            "",
            "s",
            "is",
            "日本語",
            "ééed",
            "--ing",
            "naïves",
            "3ing",
            "x\u{a8a8}ed",
        ] {
            assert!(stemmed(word).len() <= word.len() + 1);
        }
    }
}
