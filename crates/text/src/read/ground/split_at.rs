//! The expression of `--split-at`: which lines of a text begin a record.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use regex::bytes::{Regex, RegexBuilder};

use lookalike_base::stored_as_text;

/// The most bytes of an expression when it is compiled, and of each of the two caches with which a
/// thread looks for it. A search takes time in proportion to the text and, at worst, to the
/// expression. Of twelve expressions, `(a|\pL).{80}\pN(?<docno>.{30})` took most: 0.2 MB, and 1.9 MB
/// for a thread. The kinds of records in [`crate::read::plain::several`] take 0.2 MB each at most, and 0.13 MB.
const MOST_COMPILED: usize = 1 << 20;

/// Memory of an expression that all threads share, and of one thread that looks for it.
pub const SPLIT_BYTES: [u64; 2] = [MOST_COMPILED as u64, 2 * MOST_COMPILED as u64];

/// The longest part of a line that is compared with the expression.
pub(crate) const LONGEST_LINE: usize = 64 << 10;

/// The name of the group that is the name of the record.
const DOCNO: &str = "docno";

/// The name of the group that matches the line after the last record.
const END: &str = "end";

/// A regular expression. A line in which it is found begins a record, or ends the one before it.
#[derive(Clone, Debug)]
pub struct SplitAt(Arc<Regex>);

stored_as_text!(SplitAt);

impl FromStr for SplitAt {
    type Err = String;

    fn from_str(text: &str) -> Result<SplitAt, String> {
        let mut builder = RegexBuilder::new(text);
        builder.size_limit(MOST_COMPILED);
        builder.dfa_size_limit(MOST_COMPILED);
        let expression = builder.build().map_err(|error| match error {
            regex::Error::CompiledTooBig(limit) => {
                format!("it needs more than {limit} bytes; write it with fewer repetitions")
            }
            error => error.to_string(),
        })?;
        Ok(SplitAt(expression.into()))
    }
}

impl fmt::Display for SplitAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

impl PartialEq for SplitAt {
    fn eq(&self, other: &SplitAt) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for SplitAt {}

impl SplitAt {
    /// Whether a line, without its end, begins a record.
    pub(crate) fn begins(&self, line: &[u8]) -> bool {
        self.0.is_match(shown(line))
    }

    /// Whether a line ends a record and begins none.
    pub(crate) fn ends(&self, line: &[u8]) -> bool {
        self.group(line, END).is_some()
    }

    /// Returns the text that a named group of the expression matches in a line.
    pub(crate) fn group(&self, line: &[u8], name: &str) -> Option<String> {
        let found = self.0.captures(shown(line))?;
        let text = String::from_utf8_lossy(found.name(name)?.as_bytes())
            .trim()
            .to_string();
        (!text.is_empty()).then_some(text)
    }

    /// The name of the record that begins with a line.
    pub(crate) fn docno(&self, line: &[u8]) -> Option<String> {
        self.group(line, DOCNO)
    }
}

/// The part of a line that counts.
fn shown(line: &[u8]) -> &[u8] {
    let line = &line[..line.len().min(LONGEST_LINE)];
    line.strip_suffix(b"\r").unwrap_or(line)
}
