//! Parameters that decide how tokens become fingerprints.

use serde::{Deserialize, Serialize};

use lookalike_base::{Error, FingerprintKind, Result, keywords};
use lookalike_text::parse::{ParseConfig, TokenKind};

use super::Excluded;

keywords! {
    /// How to treat a document with fewer tokens than a shingle.
    #[derive(Default)]
    pub enum Short: "is not a mode for short documents; use" {
        /// It has one shingle, which consists of all its tokens.
        #[default]
        Whole = "whole",
        /// It has no shingle, as in Broder, Glassman, Manasse & Zweig 1997.
        Skip = "skip",
    }
}

/// Maximum number of tokens of a shingle.
pub const MAX_SHINGLE_SIZE: u32 = 1000;

/// Maximum number of bytes of a `bytes:N` window: each byte of text is hashed N times. Cherkasova
/// et al. 2009 use windows of tens of bytes.
pub(crate) const MAX_WINDOW_BYTES: u32 = 1 << 16;

/// The parameters of stages 2 and 3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShingleConfig {
    /// The rules that define a token.
    pub parse: ParseConfig,
    /// Tokens in a shingle, 1 to [`MAX_SHINGLE_SIZE`]. Does not apply to `bytes:N`.
    pub shingle_size: u32,
    /// How to treat a document with fewer tokens.
    pub short: Short,
    /// The hash.
    pub fingerprint: FingerprintKind,
    /// Seed of the hash; MD5 ignores it.
    pub seed: u64,
    /// Shingles that count for no document. A document of which nothing remains has no shingle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<Excluded>,
}

impl Default for ShingleConfig {
    /// Ye, Wen & Ma 2008 use shingles of ten words.
    fn default() -> Self {
        ShingleConfig {
            parse: ParseConfig::default(),
            shingle_size: 10,
            short: Short::default(),
            fingerprint: FingerprintKind::default(),
            seed: 0,
            excluded: None,
        }
    }
}

/// The fields of parameters, as the names of their flags and their values. They are taken apart, so
/// that the compiler reports a new field that is missing.
macro_rules! flags {
    ($of:expr, $config:ident without ($($left:ident),*) {
        $($field:ident: $flag:literal = $text:expr,)+
    }) => {{
        let $config { $($field,)+ $($left: _,)* } = $of;
        vec![$(($flag, $text)),+]
    }};
}
pub(crate) use flags;

impl ShingleConfig {
    /// Every parameter, as the name of its flag and its value, in a fixed order.
    pub fn flags(&self) -> Vec<(&'static str, String)> {
        let mut flags = flags!(&self.parse, ParseConfig without (token_rule) {
            detector: "detect-charset" = detector.to_string(),
            tokens: "tokens" = tokens.to_string(),
            fold: "fold" = fold.to_string(),
        });
        flags.extend(flags!(self, ShingleConfig without (parse) {
            shingle_size: "shingle-size" = shingle_size.to_string(),
            short: "short" = short.to_string(),
            fingerprint: "fingerprint" = fingerprint.to_string(),
            seed: "seed" = seed.to_string(),
            excluded: "exclude-text" = Excluded::text_of(excluded.as_ref()),
        }));
        flags
    }

    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// [`Error::BadParameter`] names the first parameter out of range.
    pub fn check(&self) -> Result<()> {
        if !(1..=MAX_SHINGLE_SIZE).contains(&self.shingle_size) {
            return Err(Error::parameter("shingle-size", self.shingle_size)
                .because(format!("it is a number from 1 to {MAX_SHINGLE_SIZE}")));
        }
        self.parse.check()?;
        if let Some(excluded) = self
            .excluded
            .as_ref()
            .filter(|excluded| !excluded.is_whole())
        {
            return Err(Error::parameter("exclude-text", &excluded.digest)
                .because("the parameters are of a summary, which leaves out the shingles"));
        }
        match self.parse.tokens {
            TokenKind::Bytes(n) if n.get() > MAX_WINDOW_BYTES => {
                Err(Error::parameter("tokens", &self.parse.tokens)
                    .because(format!("a window has at most {MAX_WINDOW_BYTES} bytes")))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_reads_and_prints() {
        for text in ["whole", "skip"] {
            let short: Short = text.parse().unwrap();
            assert_eq!(short.to_string(), text);
            assert_eq!(
                serde_json::to_string(&short).unwrap(),
                format!("\"{text}\"")
            );
        }
        assert!("Whole".parse::<Short>().is_err());
    }

    #[test]
    fn sizes_have_limits() {
        for (shingle_size, good) in [
            (0, false),
            (1, true),
            (10, true),
            (1000, true),
            (1001, false),
        ] {
            let config = ShingleConfig {
                shingle_size,
                ..ShingleConfig::default()
            };
            assert_eq!(config.check().is_ok(), good, "{shingle_size}");
        }
        for (tokens, good) in [
            ("bytes:1", true),
            ("bytes:65536", true),
            ("bytes:65537", false),
        ] {
            let parse = ParseConfig {
                tokens: tokens.parse().unwrap(),
                ..ParseConfig::default()
            };
            let config = ShingleConfig {
                parse,
                ..ShingleConfig::default()
            };
            assert_eq!(config.check().is_ok(), good, "{tokens}");
        }
    }
}
