//! Warnings about input files from which no document was read.

use std::collections::BTreeMap;
use std::path::Path;

use super::fields::{advised, suggested};
use lookalike_base::count;
use lookalike_source::Reason;

/// Files that a warning names.
const NAMED: usize = 3;

/// The files of some inputs from which no document was read, by the reason for which their first
/// record was rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    by_reason: BTreeMap<&'static str, Files>,
    /// The first detail that suggests a field.
    suggests: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Files {
    all: u64,
    names: Vec<String>,
    /// The detail of the first one.
    detail: String,
}

impl Unread {
    /// Adds a file, with the reason and the detail of its first reject. A file that is empty loses
    /// nothing.
    pub fn add(&mut self, name: &str, reason: Reason, detail: &str) {
        if reason == Reason::EmptyFile {
            return;
        }
        let files = self.by_reason.entry(reason.text()).or_default();
        files.all += 1;
        if files.names.len() < NAMED {
            files.names.push(name.into());
        }
        if files.detail.is_empty() {
            files.detail = detail.into();
        }
        if self.suggests.is_none() && suggested(detail).is_some() {
            self.suggests = Some(detail.into());
        }
    }

    /// Returns a warning for each reason, with advice; nothing if there are no such files. `list`
    /// is the file that lists all rejected records, and `used` are the fields of the text of other
    /// files.
    pub fn warnings(&self, list: Option<&Path>, used: &str) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for (reason, Files { all, names, detail }) in &self.by_reason {
            let mut line = format!("warning: no document was read from {}", names.join(", "));
            let more = *all - names.len() as u64;
            if more > 0 {
                line += &format!(" and {} more", count(more));
            }
            line += &format!(": {reason}");
            if !detail.is_empty() {
                let of = if *all > 1 { "; the first: " } else { ": " };
                line += &format!("{of}{detail}");
            }
            lines.push(line);
        }
        let flag = self
            .suggests
            .as_deref()
            .and_then(|detail| advised(detail, used));
        let field = flag.map(|flag| format!("read such files with {flag}"));
        let binary = self.by_reason.get(Reason::BinaryFile.text());
        let is_of = |kind: &&str| {
            let mut names = binary.iter().flat_map(|files| &files.names);
            names.any(|name| name.ends_with(&format!(".{kind}")))
        };
        let convert = ["docx", "odt"].into_iter().find(is_of).map(|kind| {
            format!(
                "name a program that prints their text, such as --convert '{kind}=pandoc -f{kind} \
                 -tplain --wrap=none'"
            )
        });
        let list = list.map(|list| format!("{} lists each record", list.display()));
        let help: Vec<String> = field.into_iter().chain(convert).chain(list).collect();
        if !lines.is_empty() && !help.is_empty() {
            lines.push(format!("  help: {}", help.join("; ")));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_reason() {
        let mut unread = Unread::default();
        unread.add("x", Reason::EmptyFile, "");
        assert_eq!(
            unread.warnings(Some("r".as_ref()), ""),
            Vec::<String>::new()
        );
        for name in ["a", "b", "c", "d", "e"] {
            unread.add(name, Reason::BinaryFile, "");
        }
        let detail = "none of text; it has a b (string); the longest text is in a b";
        unread.add("f", Reason::MissingText, detail);
        assert_eq!(
            unread.warnings(Some("out/rejects.jsonl".as_ref()), "text"),
            [
                "warning: no document was read from a, b, c and 2 more: binary file".into(),
                format!("warning: no document was read from f: no text field: {detail}"),
                "  help: read such files with --text-field 'text|a b'; out/rejects.jsonl lists each \
                 record"
                    .into(),
            ]
        );
    }
}
