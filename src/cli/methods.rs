//! The help of the methods of the literature.

use std::ffi::OsString;
use std::fmt::Write;

use lookalike_methods::{self as methods, Entry};

/// The description of the method that the arguments name together with `--help`, if they do.
pub(super) fn asked_for_help(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let arguments: Vec<String> = arguments
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let help = |argument: &String| argument == "--help" || argument == "-h";
    if !arguments.iter().any(help) {
        return None;
    }
    let mut named = arguments.iter().zip(arguments.iter().skip(1));
    let spec = named
        .find(|(flag, _)| *flag == "--method" || *flag == "method")
        .map(|(_, spec)| spec.as_str())
        .or_else(|| arguments.iter().find_map(|a| a.strip_prefix("--method=")))?;
    let name = spec.split(':').next()?;
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
