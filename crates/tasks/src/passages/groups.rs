//! Groups of documents: by host, by source file, or by the value of a field.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;

use super::repeats::Search;
use lookalike_base::{Result, counted, lock, refuse, stored_as_text, unlocked};
use lookalike_engine::collection::each_document;
use lookalike_store::{InputList, Workspace};
use lookalike_text::read::host;

/// The number of no group.
const NONE: u32 = u32::MAX;

/// The property that documents of one group have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// The host of their URL.
    Host,
    /// Their input file.
    Source,
    /// The value of a field of JSON records, or of a header of WARC records.
    Field(String),
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Host => f.write_str("host"),
            By::Source => f.write_str("source"),
            By::Field(name) => write!(f, "field:{name}"),
        }
    }
}

impl FromStr for By {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("field:")) {
            ("host", _) => Ok(By::Host),
            ("source", _) => Ok(By::Source),
            (_, Some(name)) if !name.is_empty() => Ok(By::Field(name.into())),
            _ => Err(format!("`{text}` is not host, source or field:NAME")),
        }
    }
}

stored_as_text!(By);

/// The host of a URL, in lower case, without a port.
fn host_of(url: &str) -> Option<String> {
    let host = host(url.split_once("://").map_or(url, |(_, rest)| rest))?;
    // The brackets of an IPv6 address do not belong to it.
    let host = host.trim_matches(['[', ']']);
    (!host.is_empty()).then(|| host.into())
}

/// The group of each document.
pub(super) struct Groups {
    of: Vec<u32>,
    names: Vec<String>,
}

#[derive(Default)]
struct Names {
    numbers: HashMap<String, u32>,
    /// The bytes of all names. The name of a group that was left out counts once for each of its
    /// documents.
    bytes: u64,
    /// Documents whose groups were left out.
    more: u64,
}

impl Names {
    /// The number of a group; the number of no group if there are too many, which is an error at
    /// the end.
    fn number(&mut self, name: String, most: u64) -> u32 {
        if let Some(&number) = self.numbers.get(&name) {
            return number;
        }
        // The name twice, an entry in the table, and one in the list.
        self.bytes += 2 * name.len() as u64 + 120;
        if self.bytes > most {
            self.more += 1;
            return NONE;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(name, number);
        number
    }
}

impl Groups {
    /// Bytes of memory for this number of documents, without the names.
    pub fn memory(documents: u64) -> u64 {
        documents * 4
    }

    /// Finds the group of each document. The names take at most an eighth of the memory for sorts.
    pub fn read(workspace: &Workspace, search: &Search<'_, '_>, by: &By) -> Result<Groups> {
        let most = search.memory / 8;
        let of = vec![NONE; search.documents as usize];
        let found = Mutex::new((of, Names::default()));
        let put = |number: u32, name: Option<String>| {
            let (of, names) = &mut *lock(&found);
            if let (Some(place), Some(name)) = (of.get_mut(number as usize), name) {
                *place = names.number(name, most);
            }
            Ok(())
        };
        match by {
            By::Host => each_document(workspace, |number, document| {
                put(number, document.url.and_then(host_of))
            })?,
            By::Source => {
                let mut inputs = InputList::open(workspace.directory())?;
                each_document(workspace, |number, document| {
                    let input = inputs.entry_of(document.file)?;
                    put(number, input.map(|input| input.name.clone()))
                })?;
            }
            By::Field(field) => search.each_unit(|unit, _| {
                search.reread.each_record(unit, |number, record, bytes| {
                    put(number, record.kind.field(bytes, field))
                })
            })?,
        }
        let (of, names) = unlocked(found);
        let count = names.numbers.len();
        if names.more > 0 {
            let groups = counted(count as u64 + names.more, "group");
            let what = || format!("the names of up to {groups} by {by}");
            search.require_in_eighth(names.bytes, what)?;
        }
        if count == 0 {
            let limit = match by {
                By::Field(field) => {
                    format!("no JSON or WARC record has a field {field} with text or a number")
                }
                _ => "no document has a URL; use source or field:NAME".into(),
            };
            return refuse("by", by, limit);
        }
        let mut list = vec![String::new(); count];
        for (name, number) in names.numbers {
            if let Some(place) = list.get_mut(number as usize) {
                *place = name;
            }
        }
        Ok(Groups { of, names: list })
    }

    /// The number of a document's group.
    pub fn of(&self, document: u32) -> Option<u32> {
        let group = self.of.get(document as usize).copied();
        group.filter(|&group| group != NONE)
    }

    /// The name of a document's group.
    pub fn name(&self, document: u32) -> &str {
        let group = self.of(document);
        let name = group.and_then(|group| self.names.get(group as usize));
        name.map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for (url, host) in [
            ("http://www.Example.org/a?b", Some("www.example.org")),
            ("https://user:pw@example.org:8080", Some("example.org")),
            ("example.org/x", Some("example.org")),
            ("http://[2001:DB8::1]:80/", Some("2001:db8::1")),
            ("http://example.org.", Some("example.org")),
            ("http:///x", None),
            ("", None),
        ] {
            assert_eq!(host_of(url).as_deref(), host, "{url}");
        }
    }
}
