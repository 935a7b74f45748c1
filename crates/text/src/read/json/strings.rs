//! The strings that are the text of a JSON object, by their places in its bytes.
//!
//! # Invariants
//! - The strings, joined by line feeds, are the text that the module above finds, unless it leaves it
//!   in another charset: one field, several fields, or the strings of a list.
//! - A cut changes the bytes of these strings alone. All other bytes are kept: other members, white
//!   space, escapes, and bytes that are not UTF-8.

use std::borrow::Cow;
use std::ops::Range;

use super::text_strings;
use super::values::{Malformed, decode, pieces};
use crate::read::ground::config::ReadConfig;

/// A part of a text that is taken out, and whether a space takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub range: Range<usize>,
    pub space: bool,
}

/// The strings of an object's text.
pub struct JsonStrings<'b> {
    bytes: &'b [u8],
    /// The object, with U+FFFD in place of bytes that are not UTF-8.
    text: Cow<'b, str>,
    /// The place of each string in `text`, without its quotes.
    places: Vec<Range<usize>>,
}

impl<'b> JsonStrings<'b> {
    /// Finds the strings of an object that is a document.
    pub fn find(bytes: &'b [u8], config: &ReadConfig) -> Result<Self, Malformed> {
        let text = String::from_utf8_lossy(bytes);
        let places = text_strings(&text, config)?;
        let mut starts: Vec<usize> = places.iter().map(|place| place.start).collect();
        starts.sort_unstable();
        if let Some(twice) = starts.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Malformed {
                at: twice[0],
                what: "a string that is in the text twice",
            });
        }
        Ok(JsonStrings {
            bytes,
            text,
            places,
        })
    }

    fn literals(&self) -> impl Iterator<Item = &str> {
        let of = |place: &Range<usize>| self.text.get(place.clone()).unwrap_or_default();
        self.places.iter().map(of)
    }

    /// The strings, without their escapes.
    pub fn decoded(&self) -> Vec<String> {
        let decoded = |literal| {
            let mut out = String::new();
            decode(literal, &mut out);
            out
        };
        self.literals().map(decoded).collect()
    }

    /// The object without the cuts of each string, which are in order and do not overlap.
    pub fn without(&self, cuts: &[Vec<Cut>]) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes.len());
        // Where stretches of UTF-8 begin, in the text and in the bytes, for places that rise.
        let mut begins = (self.bytes.utf8_chunks())
            .scan((0, 0), |next, chunk| {
                let (valid, invalid) = (chunk.valid().len(), chunk.invalid().len());
                let begin = *next;
                next.0 += valid + char::REPLACEMENT_CHARACTER.len_utf8() * usize::from(invalid > 0);
                next.1 += valid + invalid;
                Some(begin)
            })
            .peekable();
        let mut begin = (0, 0);
        let mut original = |place: usize| {
            while let Some(next) = begins.next_if(|next| next.0 <= place) {
                begin = next;
            }
            begin.1 + (place - begin.0)
        };
        let mut at = 0;
        // The text may name its fields in another order than the object has them.
        let strings = self.places.iter().zip(self.literals()).zip(cuts);
        let mut strings: Vec<_> = strings.collect();
        strings.sort_unstable_by_key(|((place, _), _)| place.start);
        for ((place, literal), cuts) in strings {
            let lengths = |(piece, character): (&str, Option<Option<char>>)| {
                let decoded = character.flatten().map_or(piece.len(), char::len_utf8);
                (piece.len(), decoded)
            };
            let mut pieces = pieces(literal).map(lengths).peekable();
            // The pieces so far, in the JSON and decoded.
            let (mut json, mut decoded) = (place.start, 0);
            let mut offset = |to: usize| {
                while let Some(piece) = pieces.next_if(|piece| to - decoded >= piece.1) {
                    json += piece.0;
                    decoded += piece.1;
                }
                // Only a stretch without escapes has a place within.
                original(json + to - decoded)
            };
            for Cut { range, space } in cuts {
                let (begin, end) = (offset(range.start), offset(range.end));
                out.extend_from_slice(self.bytes.get(at..begin).unwrap_or_default());
                if *space {
                    out.push(b' ');
                }
                at = end;
            }
        }
        out.extend_from_slice(self.bytes.get(at..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::ground::outcome::{Interpreter, Outcome};
    use crate::read::json::JsonObject;

    fn config(field: Option<&str>) -> ReadConfig {
        ReadConfig {
            text_field: field.map(Into::into),
            ..ReadConfig::default()
        }
    }

    /// The strings are the text that the reader finds.
    #[test]
    fn the_strings_are_those_of_the_reader() {
        let objects: [&[u8]; 9] = [
            br#"{"id":1,"text":"a \"b\" \\ \/ \u00e9 \ud83d\ude00 \n","text":"no"}"#,
            br#"{"text":7,"content":["x\ty","z"],"body":"b"}"#,
            br#" { "text" : "half \ud83d and \ude00\ud83d\ude00 \ud83dA" , "a.b" : "literal" } "#,
            b"{\"a\":{\"b\":\"\xff in \xe2\x82 it\"},\"text\":\"t\xff\\u0041\"}",
            br#"{"a":{"b":[["p","q"],["r"]]},"m":[{"t":"1"},{"t":["2","3"]},{"u":"4"}],"text":""}"#,
            br#"{"te\u0078t":"escaped name","m":["x",1,"y"]}"#,
            br#"{"text":"a","\ud800":1,"a":{"b":"c"}}"#,
            br#"{"m":[{"t":"\ud800"},{"t":"\u20ac"}],"text":[]}"#,
            br#"{"text":"last"}"#,
        ];
        let fields = ["a.b", "m[].t", "text,a.b", "m.1.t", "m", "m[1].t,text", "a"];
        let mut documents = 0;
        for object in objects {
            for field in fields.iter().copied().map(Some).chain([None]) {
                let config = config(field);
                let Outcome::Document(parts) = JsonObject.document(object, &config) else {
                    continue;
                };
                // A number in the text cannot be cut.
                let Ok(strings) = JsonStrings::find(object, &config) else {
                    continue;
                };
                let joined = strings.decoded().join("\n");
                if parts.charset.is_some() {
                    assert_eq!(joined.as_bytes(), &*parts.body, "{field:?}");
                }
                let none = vec![Vec::new(); strings.places.len()];
                assert_eq!(strings.without(&none), object);
                documents += 1;
            }
        }
        assert!(documents > 25, "{documents}");
    }

    /// Every cut gives the string without it, and leaves the other bytes.
    #[test]
    fn cuts_are_cut() {
        let object = b"{\"n\":1.50, \"x\":\"\xff\",\"text\":\"ab\\n\xff\\u00e9\xe2\x82c\\ud83d\\ude00\\ud83dz\\\"\" ,\"y\":[ ]}";
        let config = config(None);
        let strings = JsonStrings::find(object, &config).unwrap();
        let decoded = strings.decoded().remove(0);
        assert_eq!(decoded, "ab\n\u{fffd}é\u{fffd}c😀\u{fffd}z\"");
        let edges: Vec<usize> = (0..=decoded.len())
            .filter(|at| decoded.is_char_boundary(*at))
            .collect();
        for (n, &a) in edges.iter().enumerate() {
            for &b in &edges[n..] {
                for &c in edges[n..].iter().filter(|c| **c >= b) {
                    let cut = |range: Range<usize>, space| Cut { range, space };
                    let cuts = vec![vec![cut(a..b, true), cut(c..decoded.len(), false)]];
                    let out = strings.without(&cuts);
                    let expected = format!("{} {}", &decoded[..a], &decoded[b..c]);
                    let again = JsonStrings::find(&out, &config).unwrap();
                    assert_eq!(again.decoded(), [expected]);
                    assert!(out.starts_with(b"{\"n\":1.50, \"x\":\"\xff\",\"text\":\""));
                    assert!(out.ends_with(b"\" ,\"y\":[ ]}"));
                }
            }
        }
    }
}
