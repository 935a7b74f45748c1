//! Lists of words, written as a text, and words of a shell.

use std::borrow::Cow;

/// The words of a text, which single spaces separate, as a list that the compiler makes. `N` is
/// their number.
pub(crate) const fn words<const N: usize>(text: &'static str) -> [&'static str; N] {
    let mut words = [""; N];
    let (mut rest, mut at, mut found) = (text, 0, 0);
    while at < rest.len() {
        if rest.as_bytes()[at] == b' ' {
            words[found] = rest.split_at(at).0;
            (rest, found, at) = (rest.split_at(at + 1).1, found + 1, 0);
        } else {
            at += 1;
        }
    }
    words[found] = rest;
    assert!(found + 1 == N, "another number of words");
    words
}

/// A value as a shell takes it.
pub(crate) fn shell_word(value: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "_-.,/:@+".contains(c);
    match !value.is_empty() && value.chars().all(plain) {
        true => value.into(),
        false => format!("'{}'", value.replace('\'', r"'\''")).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_spaces() {
        assert_eq!(words("one"), ["one"]);
        assert_eq!(words("a bc d-e"), ["a", "bc", "d-e"]);
    }

    #[test]
    fn a_shell_takes_the_value() {
        for (value, word) in [
            ("a.b_c", "a.b_c"),
            ("messages[].content", "'messages[].content'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(value), word);
        }
    }
}
