//! Names of the version before this one, which still work and tell the names of today.

use std::collections::HashSet;
use std::ffi::OsString;

/// Flags with values that may stand before a command.
const BEFORE: [&str; 4] = ["--progress", "--endpoint", "--region", "--allow-store"];

/// Puts the names of today in the place of those before, and returns a line for each. The first
/// argument is the program.
///
/// `table` has a line for each name: `COMMAND: COMMAND`, or `COMMAND --FLAG: --FLAG`. Without a name
/// of today, the value of the flag is an argument without a flag; with `=` after it, they are one
/// argument. After `...`, the flag took several values, each of which now has a flag of its own. With
/// `COMMAND --FLAG=VALUE: VALUE`, the value has another name.
pub(super) fn today(arguments: &mut Vec<OsString>, program: &str, table: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut at = 1;
    while let Some(word) = arguments.get(at).and_then(|word| word.to_str())
        && word.starts_with('-')
    {
        at += if BEFORE.contains(&word) { 2 } else { 1 };
    }
    let table = || table.lines().filter_map(|line| line.trim().split_once(':'));
    let text = |word: Option<&OsString>| word.map(|word| word.to_string_lossy().into_owned());
    let Some(word) = text(arguments.get(at)) else {
        return lines;
    };
    if let Some((_, new)) = table().find(|(old, _)| *old == word) {
        lines.push(format!("`{program} {word}` is now `{program}{new}`"));
        drop(arguments.splice(at..=at, new.trim().split(' ').map(OsString::from)));
    }
    let first = text(arguments.get(at)).unwrap_or_default();
    let second = text(arguments.get(at + 1)).unwrap_or_default();
    let inner = format!("{first} {second}");
    let flags = table().filter_map(|(old, new)| Some((old.split_once(" --")?, new.trim())));
    let flags: Vec<_> = flags
        .filter(|((of, _), _)| *of == first || *of == inner)
        .collect();
    let mut given = arguments.split_off(at).into_iter().peekable();
    while let Some(word) = given.next_if(|word| word != "--") {
        let text = word.to_string_lossy().into_owned();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(OsString::from(value))),
            None => (&*text, None),
        };
        let before = arguments.last().unwrap_or(&word).to_string_lossy();
        let valued = (value.as_ref()).map_or(format!("{before}={text}"), |_| text.clone());
        let valued = valued.strip_prefix("--");
        let mut values = flags.iter();
        if let Some(((of, old), new)) = values.find(|((_, old), _)| valued == Some(old))
            && let Some((flag, was)) = old.split_once('=')
        {
            let of = format!("{program} {of} --{flag}");
            lines.push(format!("`{of} {was}` is now `{of} {new}`"));
            arguments.push(format!("{}{new}", text.trim_end_matches(was)).into());
            continue;
        }
        let is = |old: &str| name.strip_prefix("--") == Some(old.trim_end_matches("..."));
        let Some(&((of, old), new)) = flags.iter().find(|((_, old), _)| is(old)) else {
            arguments.push(word);
            continue;
        };
        let gap = if new.starts_with('-') { " " } else { "" };
        let of = format!("{program} {of}");
        lines.push(format!("`{of} {name} VALUE` is now `{of} {new}{gap}VALUE`"));
        let flag = Some(OsString::from(new)).filter(|new| !new.is_empty());
        let is_value = |word: &OsString| !word.as_encoded_bytes().starts_with(b"-");
        let mut put = |value: Option<OsString>| match (flag.clone(), value) {
            (Some(mut flag), Some(value)) if new.ends_with('=') => {
                flag.push(value);
                arguments.push(flag);
            }
            (flag, value) => arguments.extend(flag.into_iter().chain(value)),
        };
        put(value.or_else(|| given.next_if(is_value)));
        while let Some(more) = given.next_if(|word| old.ends_with("...") && is_value(word)) {
            put(Some(more));
        }
    }
    arguments.extend(given);
    let mut said = HashSet::new();
    lines.retain(|line| said.insert(line.clone()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_before_become_those_of_today() {
        let table = "verify: check verify\n find --against...: --test-set\n check verify --run:\n find --n: n=\n \
                     find --by=a: b";
        let said = |line: &str| {
            let mut words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let lines = today(&mut words, "p", table).len();
            (words.join(" ".as_ref()).into_string().unwrap(), lines)
        };
        for (line, expected, lines) in [
            (
                "p --region x verify --run=a b",
                "p --region x check verify a b",
                2,
            ),
            (
                "p find c --against a b --x",
                "p find c --test-set a --test-set b --x",
                1,
            ),
            ("p find -- --against a", "p find -- --against a", 0),
            ("p found --against a", "p found --against a", 0),
            ("p find verify", "p find verify", 0),
            ("p find --n 1,2 --n=3", "p find n=1,2 n=3", 1),
            ("p find --by a a", "p find --by b a", 1),
            (
                "p find --by=a --by a --by x",
                "p find --by=b --by b --by x",
                1,
            ),
            ("p find --by=b a --x a", "p find --by=b a --x a", 0),
            ("p find -- --by a", "p find -- --by a", 0),
            ("p -h", "p -h", 0),
        ] {
            assert_eq!(said(line), (expected.to_string(), lines), "{line}");
        }
    }
}
