//! The help of the methods of the literature.

use std::ffi::OsString;
use std::fmt::Write;

use lookalike_methods::{self as methods, Entry};

/// The description of the method that the arguments name together with `--help`, if they do.
pub(super) fn asked_for_help(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let words = arguments.map(|word| word.to_string_lossy().replace("--method=", "--method\n"));
    let words = words.collect::<Vec<_>>().join("\n");
    let asked = words.lines().any(|word| word == "--help" || word == "-h");
    let mut spec = words
        .lines()
        .skip_while(|word| !["--method", "method"].contains(word));
    let name = spec.nth(1).filter(|_| asked)?.split(':').next()?;
    methods::find(name).ok().map(about_method)
}

/// The description of a method and its parameters.
pub fn about_method(entry: &Entry) -> String {
    let (name, about, paper) = (entry.name, entry.about, entry.paper);
    let mut text = format!("{name}: {about}\n\nPaper: {paper}\n\n");
    text.push_str("Parameters, with the defaults of the paper:\n");
    for parameter in entry.parameters {
        let named = format!("{}={}", parameter.name, parameter.default);
        let _ = writeln!(text, "  {named:<26} {}", parameter.help);
    }
    let _ = writeln!(
        text,
        "\nUsage: lookalike lab method {name}[:PARAMETER=VALUE,...] DIR\n   or: lookalike run INPUT... -o DIR \
         --method {name}[:PARAMETER=VALUE,...]"
    );
    text
}
