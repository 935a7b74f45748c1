//! Calls of the program, and texts with their tokens as a few lines of code find them.

use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::corpus::Random;

/// A call of the program that has ended.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Calls `passages` in a directory. The arguments are separated by white space.
pub fn call(place: &Path, arguments: &str, faults: Option<&str>) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    if let Some(faults) = faults {
        command.env("LOOKALIKE_FAULTS", faults);
    }
    let output = command
        .current_dir(place)
        .arg("passages")
        .args(arguments.split_whitespace())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Whether a call of the program succeeds.
pub fn program(place: &Path, line: &str) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lookalike"));
    command.current_dir(place).args(line.split_whitespace());
    command.status().unwrap().success()
}

/// Calls `passages`, which must succeed; returns what `--json` prints.
pub fn passages(place: &Path, arguments: &str) -> serde_json::Value {
    let ran = call(place, &format!("{arguments} --json --quiet"), None);
    assert_eq!(ran.code, Some(0), "{arguments}: {ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Calls `passages`, which must refuse; returns what it says.
pub fn refused(place: &Path, arguments: &str) -> String {
    let ran = call(place, arguments, None);
    assert_eq!(ran.code, Some(2), "{arguments}: {ran:?}");
    ran.stderr
}

/// The tokens of a text without apostrophes and marks: where they are, and what they say.
pub fn tokens(text: &str) -> Vec<(Range<usize>, String)> {
    let mut tokens: Vec<(Range<usize>, String, bool)> = Vec::new();
    for (at, c) in text.char_indices() {
        if !c.is_alphanumeric() {
            continue;
        }
        let (end, lower) = (at + c.len_utf8(), c.to_lowercase().to_string());
        let han = ('\u{4e00}'..'\u{a000}').contains(&c);
        match tokens.last_mut() {
            Some((range, token, false)) if range.end == at && !han => {
                range.end = end;
                token.push_str(&lower);
            }
            _ => tokens.push((at..end, lower, han)),
        }
    }
    let tokens = tokens.into_iter();
    tokens.map(|(range, token, _)| (range, token)).collect()
}

/// Texts that share runs of words, lines and paragraphs, with characters that JSON escapes.
pub fn texts(seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let vocabulary = [2, 4, 12, 60, 1000][random.below(5)];
    let separators: &[&str] = match seed % 6 {
        // Words of scripts without spaces stand side by side.
        5 => &["", "", " ", "\n"],
        _ => &[
            " ", " ", " ", "\n", ", ", ".\n\n", "  ", "😀", "", "\\ ", "\"", "\t", "\r\n",
            "\n \r\n", "\u{1}", " é ", "\n--\n",
        ],
    };
    let odd = ["漢", "字", "É", "naïve", "𝒳", "日本"];
    let mut texts: Vec<Vec<String>> = Vec::new();
    for _ in 0..random.below(12) + 2 {
        let mut pieces: Vec<String> = Vec::new();
        for _ in 0..random.below(6) {
            let length = random.below(30);
            if !texts.is_empty() && !random.once_in(3) {
                let from = texts[random.below(texts.len())].clone();
                let from = if random.once_in(5) {
                    pieces.clone()
                } else {
                    from
                };
                let at = random.below(from.len().max(1));
                pieces.extend(from.into_iter().skip(at).take(length));
                continue;
            }
            for _ in 0..length {
                let word = match random.once_in(6) {
                    true => (*random.pick(&odd[..])).to_string(),
                    false => format!("w{}", random.below(vocabulary)),
                };
                let word = if random.once_in(5) {
                    word.to_uppercase()
                } else {
                    word
                };
                pieces.push(word + *random.pick(separators));
            }
        }
        texts.push(pieces);
    }
    let start = |random: &mut Random| *random.pick(&["", "", "\n- ", "\u{feff}", "\u{feff}. "][..]);
    texts
        .iter()
        .map(|pieces| start(&mut random).to_string() + &pieces.concat())
        .collect()
}
