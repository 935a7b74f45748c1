//! Lists of words, written as a text.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_spaces() {
        assert_eq!(words("one"), ["one"]);
        assert_eq!(words("a bc d-e"), ["a", "bc", "d-e"]);
    }
}
