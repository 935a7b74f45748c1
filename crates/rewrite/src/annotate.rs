//! Puts a member into a JSON object, or gives a member that it has another value.

use serde::Serialize;

/// The name of the member, and of the column of a Parquet file.
pub(super) const MEMBER: &str = "lookalike";

/// The facts that an annotation states about a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotation {
    /// The cluster.
    pub cluster: Option<u32>,
    /// Documents in the cluster.
    pub cluster_size: u32,
    /// The document of the cluster that is kept, if another one is removed for it.
    pub survivor: Option<Survivor>,
    /// The name of the score.
    pub measure: &'static str,
    /// The score of the document and its survivor in JSON; `null` without a survivor.
    pub score: String,
    /// Whether deduplication keeps the document.
    pub kept: bool,
}

/// A survivor by its place.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Survivor {
    pub file: String,
    pub record: u32,
    pub docno: String,
}

impl Annotation {
    /// The value of the JSON member.
    pub fn json(&self) -> String {
        let null = || "null".to_string();
        let cluster = self.cluster.map_or_else(null, |number| number.to_string());
        let survivor = serde_json::to_string(&self.survivor).unwrap_or_else(|_| null());
        format!(
            "{{\"cluster\":{cluster},\"cluster_size\":{},\"survivor\":{survivor},\"{}\":{},\
             \"kept\":{}}}",
            self.cluster_size, self.measure, self.score, self.kept
        )
    }
}

/// Gives the top-level member `lookalike` of an object a value. All other bytes are kept.
///
/// The object comes in pieces of any length. If it has such a member, the value is replaced, and
/// further members of that name are left out; otherwise the member is added before the closing
/// brace. Memory: one separator and name.
#[derive(Default)]
pub(crate) struct Annotator<'v> {
    value: &'v str,
    place: Place,
    /// Objects and lists around this place.
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// The separator and the name of a member, until the member is known.
    pending: Vec<u8>,
    /// Where the name begins in `pending`.
    name: usize,
    /// White space that may follow the value that is left out.
    space: Vec<u8>,
    /// Whether the object has a member yet.
    any: bool,
    /// Whether the value is written.
    written: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// Before the object.
    #[default]
    Before,
    /// Before the name of a member.
    Separator,
    Name,
    /// Behind the name of our member, before its value.
    Colon,
    /// In the value of a member, which is kept.
    Value,
    /// In a value that is left out.
    Left,
    /// Behind the object.
    After,
}

impl<'v> Annotator<'v> {
    pub fn new(value: &'v str) -> Self {
        Annotator {
            value,
            ..Annotator::default()
        }
    }

    /// Whether the object has ended.
    pub fn is_complete(&self) -> bool {
        self.place == Place::After
    }

    /// Appends the next bytes of the object, unchanged.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            // Most bytes are in strings, which only these two change.
            if self.in_string && !self.escaped && matches!(self.place, Place::Value | Place::Left) {
                let rest = &bytes[at..];
                let length = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                if self.place == Place::Value {
                    out.extend_from_slice(&rest[..length]);
                }
                if length > 0 {
                    at += length;
                    continue;
                }
            }
            self.step(byte, out);
            at += 1;
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.place {
            Place::Before => {
                out.push(byte);
                if byte == b'{' {
                    (self.depth, self.place) = (1, Place::Separator);
                }
            }
            Place::Separator if byte == b'}' => {
                out.append(&mut self.pending);
                self.end(out);
            }
            Place::Separator => {
                self.pending.push(byte);
                if byte == b'"' {
                    self.name = self.pending.len() - 1;
                    self.place = Place::Name;
                }
            }
            Place::Name => {
                self.pending.push(byte);
                if byte == b'"' && !self.escaped {
                    self.after_name(out);
                } else {
                    self.escaped = byte == b'\\' && !self.escaped;
                }
            }
            Place::Colon if byte == b':' || byte.is_ascii_whitespace() => out.push(byte),
            Place::Colon => {
                out.extend_from_slice(self.value.as_bytes());
                self.written = true;
                self.place = Place::Left;
                self.value_byte(byte, out);
            }
            Place::Value | Place::Left => self.value_byte(byte, out),
            Place::After => out.push(byte),
        }
    }

    fn after_name(&mut self, out: &mut Vec<u8>) {
        let name = &self.pending[self.name..];
        let ours = match name.contains(&b'\\') {
            false => name[1..name.len() - 1] == *MEMBER.as_bytes(),
            // Each character may be an escape of six bytes.
            true if name.len() > 6 * MEMBER.len() + 2 => false,
            true => serde_json::from_slice::<String>(name).is_ok_and(|name| name == MEMBER),
        };
        if ours && self.written {
            self.pending.clear();
            self.place = Place::Left;
            return;
        }
        out.append(&mut self.pending);
        self.any = true;
        self.place = if ours { Place::Colon } else { Place::Value };
    }

    fn value_byte(&mut self, byte: u8, out: &mut Vec<u8>) {
        if self.in_string {
            self.in_string = byte != b'"' || self.escaped;
            self.escaped = byte == b'\\' && !self.escaped;
        } else {
            match byte {
                b',' | b'}' if self.depth == 1 => {
                    out.append(&mut self.space);
                    if byte == b'}' {
                        return self.end(out);
                    }
                    self.pending.push(byte);
                    self.place = Place::Separator;
                    return;
                }
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        if self.place == Place::Value {
            out.push(byte);
        } else if byte.is_ascii_whitespace() && !self.in_string {
            self.space.push(byte);
        } else {
            self.space.clear();
        }
    }

    /// Ends the object.
    fn end(&mut self, out: &mut Vec<u8>) {
        if !self.written {
            let comma = if self.any { "," } else { "" };
            out.extend_from_slice(format!("{comma}\"{MEMBER}\":{}", self.value).as_bytes());
        }
        out.push(b'}');
        self.place = Place::After;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The object with the value `N`, whatever pieces it comes in.
    fn annotated(object: &str) -> String {
        let mut all = Vec::new();
        for most in [1, 2, 7, object.len()] {
            let mut annotator = Annotator::new("N");
            let mut out = Vec::new();
            for piece in object.as_bytes().chunks(most) {
                annotator.push(piece, &mut out);
            }
            assert!(annotator.is_complete(), "{object}");
            all.push(String::from_utf8(out).unwrap());
        }
        assert!(all.iter().all(|out| *out == all[0]), "{all:?}");
        all.remove(0)
    }

    #[test]
    fn other_members_keep_their_bytes() {
        for (object, expected) in [
            (r#"{"a":1}"#, r#"{"a":1,"lookalike":N}"#),
            (
                r#"{ "a" : [1,{"lookalike":2}] }"#,
                r#"{ "a" : [1,{"lookalike":2}] ,"lookalike":N}"#,
            ),
            ("{}", r#"{"lookalike":N}"#),
            ("{ }", r#"{ "lookalike":N}"#),
            (r#"{"lookalike":7}"#, r#"{"lookalike":N}"#),
            (
                r#"{"lookalike" : null , "a":1}"#,
                r#"{"lookalike" : N , "a":1}"#,
            ),
            (
                "{\n  \"a\": 1,\n  \"lookalike\": {\"b\": [\"}\\\"\", 2]}\n}",
                "{\n  \"a\": 1,\n  \"lookalike\": N\n}",
            ),
            (
                r#"{"lookalike":"x, \"y\\","lookalikes":{"z":1},"a":"lookalike"}"#,
                r#"{"lookalike":N,"lookalikes":{"z":1},"a":"lookalike"}"#,
            ),
            // An escape is the character that it stands for.
            (
                r#"{"\u006cookalike":[1, 2],"a":2}"#,
                r#"{"\u006cookalike":N,"a":2}"#,
            ),
            (r#"{"look\"alike":1}"#, r#"{"look\"alike":1,"lookalike":N}"#),
            // The first one is kept.
            (
                r#"{"a":1,"lookalike":{"x":1},"lookalike":{"x":2},"b":3}"#,
                r#"{"a":1,"lookalike":N,"b":3}"#,
            ),
            (
                r#"{"lookalike":{"x":1}, "a":"\\", "lookalike":"\\" }"#,
                r#"{"lookalike":N, "a":"\\" }"#,
            ),
            (r#"{"é":"ü\u00e9"}"#, r#"{"é":"ü\u00e9","lookalike":N}"#),
        ] {
            assert_eq!(annotated(object), expected, "{object}");
            // Once more changes nothing.
            assert_eq!(annotated(expected), expected, "{object}");
        }
    }

    #[test]
    fn what_does_not_end_is_not_complete() {
        for object in [r#"{"a":1"#, r#"{"a":"}"#, "[1]", "", r#"{"lookalike"#] {
            let (mut annotator, mut out) = (Annotator::new("N"), Vec::new());
            annotator.push(object.as_bytes(), &mut out);
            assert!(!annotator.is_complete(), "{object}");
        }
    }
}
