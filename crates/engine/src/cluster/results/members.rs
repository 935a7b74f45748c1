//! `clusters.jsonl` as it is read again: member by member, because a cluster can be larger than
//! memory.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use lookalike_base::{Error, Result, keywords};
use lookalike_source::Decompressed;
use lookalike_store::READ_BUFFER;
use lookalike_text::read::lines::shorten;

/// A longer record of a member is an error. Docnos are far shorter.
const MOST_RECORD_BYTES: u64 = 16 << 20;

keywords! {
    /// The role of a document in its cluster.
    pub enum MemberKind: "is not a kind of member; use" {
        /// The document that comes first.
        Representative = "representative",
        /// A document with the same tokens as an earlier one.
        Exact = "exact",
        /// Any other document.
        Near = "near",
    }
}

/// A document of a cluster.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Member {
    /// Its docno.
    pub docno: String,
    /// The role of the document in the cluster.
    pub kind: MemberKind,
    /// Its resemblance to the representative; `None` if that is below the threshold.
    #[serde(alias = "score")]
    pub resemblance: Option<f64>,
    /// The address of a capture.
    #[serde(default)]
    pub url: Option<String>,
    /// The date of a capture.
    #[serde(default)]
    pub date: Option<String>,
}

/// A cluster up to its first member, if it has one.
#[derive(Deserialize)]
struct Head {
    id: u32,
    representative: String,
    members: Vec<Member>,
}

/// Reads the members of all clusters.
pub struct Members {
    path: PathBuf,
    input: BufReader<Decompressed>,
    /// The number of the cluster of the last member.
    pub cluster: u32,
    /// Its representative.
    pub representative: String,
    /// The position of the last member in its cluster, from 0.
    pub place: u64,
    /// The number of the line, from 1, on which the record begins.
    line: u64,
    /// Open braces before the record.
    depth: u32,
    /// The text from the end of a member or cluster to the end of the next one.
    record: Vec<u8>,
}

impl Members {
    /// Opens a file, compressed or not.
    pub fn open(path: &Path) -> Result<Members> {
        Ok(Members {
            path: path.into(),
            input: BufReader::with_capacity(READ_BUFFER, Decompressed::open(path)?),
            cluster: 0,
            representative: String::new(),
            place: 0,
            line: 1,
            depth: 0,
            record: Vec::new(),
        })
    }

    /// Reads the next member; `None` at the end of the file.
    pub fn next_member(&mut self) -> Result<Option<Member>> {
        while self.read()? {
            let record = self.record.trim_ascii_start();
            if self.depth == 0 && record.starts_with(b"]") {
                continue;
            }
            if let Some(member) = record.strip_prefix(b",") {
                let member = serde_json::from_slice(member);
                self.place += 1;
                return member.map(Some).map_err(|error| self.bad(error));
            }
            if self.depth > 0 {
                self.record.extend_from_slice(b"]}");
            }
            let head = serde_json::from_slice(&self.record);
            let mut head: Head = head.map_err(|error| self.bad(error))?;
            (self.cluster, self.representative, self.place) = (head.id, head.representative, 0);
            if let Some(member) = head.members.pop() {
                return Ok(Some(member));
            }
        }
        Ok(None)
    }

    /// Reads up to the brace that ends a member or a cluster; `false` at the end of the file.
    fn read(&mut self) -> Result<bool> {
        self.line += line_feeds(&self.record);
        self.record.clear();
        let (mut quoted, mut escaped) = (false, false);
        loop {
            let begin = self.record.len();
            let mut some = (&mut self.input).take(MOST_RECORD_BYTES);
            some.read_until(b'}', &mut self.record)
                .map_err(Error::io("read", &self.path))?;
            for &byte in &self.record[begin..] {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = quoted,
                    b'"' => quoted = !quoted,
                    b'{' if !quoted => self.depth += 1,
                    b'}' if !quoted => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
            }
            let ends = self.record.len() > begin && self.record.ends_with(b"}");
            if ends && !quoted && self.depth <= 1 {
                return Ok(true);
            }
            if !ends || self.record.len() as u64 > MOST_RECORD_BYTES {
                let clean = self.depth == 0 && self.record.trim_ascii().is_empty();
                return match clean {
                    true => Ok(false),
                    false => Err(self.bad(shorten(&self.record))),
                };
            }
        }
    }

    /// An error in the record.
    pub fn bad(&self, found: impl ToString) -> Error {
        let expected = "a cluster as an object with id, representative and members";
        // At the end of the file, the record may be white space alone.
        let text = self
            .record
            .iter()
            .position(|byte| !byte.is_ascii_whitespace());
        let space = text.unwrap_or(0);
        let line = self.line + line_feeds(&self.record[..space]);
        Error::bad_line(&self.path, line, expected, found)
    }
}

fn line_feeds(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(u32, String, u64, String)>> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("clusters.jsonl");
        std::fs::write(&path, text).unwrap();
        let (mut members, mut found) = (Members::open(&path)?, Vec::new());
        while let Some(member) = members.next_member()? {
            let representative = members.representative.clone();
            found.push((members.cluster, representative, members.place, member.docno));
        }
        Ok(found)
    }

    #[test]
    fn members_are_read_one_by_one() {
        assert_eq!(read("").unwrap(), []);
        let text = concat!(
            r#"{"id":0,"representative":"}\"]}{","members":[{"docno":"}\"]}{","#,
            r#""kind":"representative","resemblance":1.0},{"docno":"b","kind":"near","#,
            r#""resemblance":null}]}"#,
            "\n",
            r#"{"id":1,"representative":"none","members":[]}"#,
            "\n",
            r#" { "id": 4, "representative": "c", "members": [ {"docno": "c", "more": {},"#,
            r#" "kind": "exact", "score": 7} ], "more": 1 } "#,
        );
        let odd = "}\"]}{".to_string();
        let rows = [
            (0, odd.clone(), 0, odd.clone()),
            (0, odd, 1, "b".into()),
            (4, "c".into(), 0, "c".into()),
        ];
        assert_eq!(read(text).unwrap(), rows);
    }

    #[test]
    fn what_is_not_a_cluster_is_named_with_its_line() {
        let whole = concat!(
            r#"{"id":0,"representative":"a","members":[{"docno":"a","kind":"exact"}]}"#,
            "\n"
        );
        for wrong in [
            r#"{"id":1,"representative":"a","members":0}"#,
            r#"{"id":1,"members":[{"docno":"a","kind":"exact"}]}"#,
            r#"{"id":1,"representative":"a","members":[{"docno":"a","kind":"other"}]}"#,
            r#"{"id":1,"representative":"a","members":[{"docno":"a","kind":"exact"}"#,
            r#"{"id":1,"representative":"a"#,
            "x",
        ] {
            let error = read(&format!("{whole}{wrong}\n")).unwrap_err().to_string();
            assert!(
                error.contains("line 2: expected a cluster"),
                "{wrong}: {error}"
            );
        }
    }
}
