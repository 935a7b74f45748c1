//! Parameters that define tokens and the fallback for the charset.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The unit into which a document's text is cut.
///
/// The choice affects every result, so it is stored in the manifest and in the header of every
/// output, in the form that [`fmt::Display`] prints and [`FromStr`] reads.
///
/// ```
/// use lookalike::parse::TokenKind;
/// assert_eq!("bytes:20".parse::<TokenKind>().unwrap().to_string(), "bytes:20");
/// assert!("bytes:0".parse::<TokenKind>().is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum TokenKind {
    /// Maximal runs of alphanumeric characters and their combining marks, lower-cased. An
    /// apostrophe inside a run is kept. Each Han, Hiragana or Katakana character is a token of its
    /// own.
    #[default]
    Words,
    /// Maximal runs of characters other than white space, case-sensitive (Ye, Wen & Ma 2008).
    Whitespace,
    /// No tokens: each window of this many bytes of the text, with its white space folded, is a
    /// shingle (Cherkasova et al. 2009). The shingle size does not apply.
    Bytes(NonZeroU32),
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenKind::Words => f.write_str("words"),
            TokenKind::Whitespace => f.write_str("whitespace"),
            TokenKind::Bytes(n) => write!(f, "bytes:{n}"),
        }
    }
}

impl FromStr for TokenKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a kind of token; use words, whitespace or bytes:N");
        match text {
            "words" => Ok(TokenKind::Words),
            "whitespace" => Ok(TokenKind::Whitespace),
            _ => {
                let digits = text.strip_prefix("bytes:").ok_or_else(wrong)?;
                if !digits.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(wrong());
                }
                digits.parse().map(TokenKind::Bytes).map_err(|_| wrong())
            }
        }
    }
}

impl From<TokenKind> for String {
    fn from(kind: TokenKind) -> String {
        kind.to_string()
    }
}

impl TryFrom<String> for TokenKind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// The parameters of stage 2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseConfig {
    /// The unit into which the text is cut.
    pub tokens: TokenKind,
    /// Whether to guess the charset of a document that declares none and is not UTF-8. With
    /// `false`, such a document is decoded as windows-1252.
    pub detector: bool,
}

impl Default for ParseConfig {
    fn default() -> Self {
        ParseConfig {
            tokens: TokenKind::default(),
            detector: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_read_and_print() {
        for text in ["words", "whitespace", "bytes:1", "bytes:4294967295"] {
            let kind: TokenKind = text.parse().unwrap();
            assert_eq!(kind.to_string(), text);
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("\"{text}\""));
            assert_eq!(serde_json::from_str::<TokenKind>(&json).unwrap(), kind);
        }
        for text in [
            "", "Words", "bytes", "bytes:", "bytes:0", "bytes:-1", "bytes:+1", "bytes:x",
        ] {
            assert!(text.parse::<TokenKind>().is_err(), "{text}");
        }
        assert!(serde_json::from_str::<TokenKind>("\"bytes:0\"").is_err());
    }
}
