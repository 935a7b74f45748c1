//! Lists of words, written as a text, and words of a shell.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

use super::utf8::is_hidden;

/// The words of a text, which single spaces separate, as a list that the compiler makes. `N` is
/// their number.
pub const fn words<const N: usize>(text: &'static str) -> [&'static str; N] {
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

/// Joins the texts that `each` makes of the values, with `between` between them.
pub fn listed<T>(
    between: &str,
    values: impl IntoIterator<Item = T>,
    each: impl FnMut(T) -> String,
) -> String {
    let each: Vec<String> = values.into_iter().map(each).collect();
    each.join(between)
}

/// A value as a shell takes it.
pub fn shell_word(value: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "_-.,/:@+".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.into();
    }
    match value.contains(|c: char| c.is_control() || is_hidden(c)) {
        true => ansi_word(value.as_bytes()).into(),
        false => format!("'{}'", value.replace('\'', r"'\''")).into(),
    }
}

/// A path as a word of a shell command, which no program takes for a flag.
pub fn path_word(path: &Path) -> String {
    let path = match path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        true => Cow::from(Path::new(".").join(path)),
        false => Cow::from(path),
    };
    match path.to_str() {
        Some(path) => shell_word(path).into_owned(),
        None => ansi_word(path.as_os_str().as_encoded_bytes()),
    }
}

/// A flag with its value, which is not taken for another flag.
pub fn flag_word(flag: &str, value: &str) -> String {
    let between = if value.starts_with('-') { '=' } else { ' ' };
    format!("{flag}{between}{}", shell_word(value))
}

/// Bytes as bash, zsh and ksh take them, without any that cannot be seen: `$'a\033b'`.
fn ansi_word(value: &[u8]) -> String {
    let mut word = String::from("$'");
    for &byte in value {
        match byte {
            b'\'' | b'\\' => word.extend(['\\', byte.into()]),
            b' '..=b'~' => word.push(byte.into()),
            // Three octal digits: a hexadecimal escape would take a digit that follows.
            _ => {
                let _ = write!(word, "\\{byte:03o}");
            }
        }
    }
    word + "'"
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
            ("a\x1b[31m'\u{202e}1\\", r"$'a\033[31m\'\342\200\2561\\'"),
        ] {
            assert_eq!(shell_word(value), word);
        }
    }
}
