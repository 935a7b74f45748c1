//! The specification of a method: its name and parameters as text, such as `super-shingles:k=4`.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use super::{Entry, Method, find};
use lookalike_base::{Error, Result, Threshold};
use lookalike_store::{self as store, disk};
use xxhash_rust::xxh3::Xxh3;

/// A parameter of a method, written as `NAME=DEFAULT: HELP`.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name.
    pub name: &'static str,
    /// The value in the paper, or our own if the paper gives none.
    pub default: &'static str,
    /// The meaning, and the values it accepts.
    pub help: &'static str,
}

impl Entry {
    /// The parameters, in the order of the help.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter> + use<> {
        self.parameters.iter().filter_map(|text| {
            let (name, rest) = text.split_once('=')?;
            let (default, help) = rest.split_once(": ")?;
            Some(Parameter {
                name,
                default,
                help,
            })
        })
    }
}

/// The values of all parameters of a method: the given ones, and defaults for the others.
#[derive(Clone, Debug)]
pub struct Values(BTreeMap<&'static str, String>);

/// The value of a parameter that a preset decides.
pub(super) const BY_PRESET: &str = "preset";

impl Values {
    /// Fills in the parameters that a preset decides.
    pub(super) fn filled<'v>(
        &self,
        preset: impl IntoIterator<Item = (&'static str, &'v str)>,
    ) -> Values {
        let mut values = self.clone();
        for (name, value) in preset {
            if values.text(name) == BY_PRESET {
                values.0.insert(name, value.into());
            }
        }
        values
    }

    /// The text of a value.
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// A whole number in a range.
    ///
    /// # Errors
    /// Says what is wrong with the value.
    pub fn number(&self, name: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
        let text = self.text(name);
        let number = text.parse().ok().filter(|n| range.contains(n));
        number.ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            format!("{name} is a number from {least} to {most}, and not `{text}`")
        })
    }

    /// A threshold.
    ///
    /// # Errors
    /// Says what is wrong with the value.
    pub fn threshold(&self, name: &str) -> Result<Threshold, String> {
        self.text(name).parse().map_err(|e| format!("{name}: {e}"))
    }

    /// One of several words.
    ///
    /// # Errors
    /// Lists the words.
    pub fn one_of<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<T, String> {
        let text = self.text(name);
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            format!("{name} is {}, and not `{text}`", words.join(" or "))
        })
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// Lists the two words.
    pub fn flag(&self, name: &str) -> Result<bool, String> {
        self.one_of(name, &[("true", true), ("false", false)])
    }
}

/// A method with checked values for its parameters. Prints as `NAME:PARAMETER=VALUE,...`, in the
/// order of the method's parameters and without values that equal the default.
#[derive(Clone)]
pub struct Spec {
    /// The entry of the method in the table of methods.
    pub entry: &'static Entry,
    values: Values,
    /// The method.
    pub method: Arc<Method>,
}

impl Spec {
    /// The specification with the values of all parameters, which determine the method's results.
    pub fn whole(&self) -> String {
        let all = self.entry.parameters();
        let all = all.map(|p| format!("{}={}", p.name, self.values.text(p.name)));
        format!("{}:{}", self.entry.name, all.collect::<Vec<_>>().join(","))
    }

    /// Returns everything but the collection that decides the results: all values, and the content
    /// of a file.
    pub(super) fn identity(&self) -> Result<String> {
        let digest = self.method.file.as_deref().map(digest);
        Ok(self.whole() + &digest.transpose()?.unwrap_or_default())
    }

    /// The name of the method's directory.
    pub fn file_name(&self) -> String {
        file_name(&self.to_string())
    }

    /// Reads a specification.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for an unknown method, an unknown parameter or an invalid value.
    pub fn read(text: &str) -> Result<Spec> {
        let (name, given) = text.split_once(':').unwrap_or((text, ""));
        let entry = find(name)?;
        let refuse = |limit: String| Error::parameter("method", text).because(limit);
        let defaults = entry.parameters();
        let mut values: BTreeMap<&'static str, String> =
            defaults.map(|p| (p.name, p.default.to_string())).collect();
        let mut set: Vec<&str> = Vec::new();
        for part in given.split(',').filter(|part| !part.is_empty()) {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| refuse(format!("`{part}` has no value; write PARAMETER=VALUE")))?;
            let slot = values.get_mut(key).ok_or_else(|| {
                let names: Vec<&str> = entry.parameters().map(|p| p.name).collect();
                refuse(format!("the parameters of {name} are {}", names.join(", ")))
            })?;
            if set.contains(&key) {
                return Err(refuse(format!("{key} is given twice")));
            }
            set.push(key);
            *slot = value.to_string();
        }
        let values = Values(values);
        let method = Arc::new((entry.build)(&values).map_err(refuse)?);
        Ok(Spec {
            entry,
            values,
            method,
        })
    }
}

/// A digest of a file.
fn digest(path: &Path) -> Result<String> {
    let mut hash = Xxh3::new();
    disk::each_piece(&mut disk::open(path)?, path, |piece| {
        hash.update(piece);
        Ok(())
    })?;
    Ok(format!("{:032x}", hash.digest128()))
}

/// The name of a directory is cut at this length, and a digest follows to keep it unique.
const LONGEST_NAME: usize = 160;

/// A specification as a file name: `_` replaces characters other than letters, digits, dot, hyphen
/// and equals sign.
pub(super) fn file_name(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '=');
    let name = text.replace(|c: char| !plain(c), "_");
    match name.get(..LONGEST_NAME) {
        Some(start) if name.len() > LONGEST_NAME => {
            format!("{start}_{}", store::digest(text.as_bytes()))
        }
        _ => name,
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)?;
        let mut separator = ':';
        for parameter in self.entry.parameters() {
            let value = self.values.text(parameter.name);
            if value != parameter.default {
                write!(f, "{separator}{}={value}", parameter.name)?;
                separator = ',';
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Spec({self})")
    }
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Spec, String> {
        Spec::read(text).map_err(|error| match error {
            Error::BadParameter { limit, .. } => limit,
            other => other.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::METHODS;
    use super::*;

    #[test]
    fn every_method_can_be_built_of_its_defaults() {
        for entry in METHODS {
            let spec = Spec::read(entry.name).unwrap();
            assert_eq!(spec.to_string(), entry.name);
            assert_eq!(Spec::read(&spec.whole()).unwrap().to_string(), entry.name);
            assert!(!entry.paper.is_empty() && !entry.about.is_empty());
            // Every parameter refuses an invalid value.
            assert_eq!(entry.parameters().count(), entry.parameters.len());
            for parameter in entry.parameters() {
                let text = format!("{}:{}=\u{1}", entry.name, parameter.name);
                assert!(Spec::read(&text).is_err(), "{text}");
            }
        }
    }

    #[test]
    fn specifications_read_and_print() {
        let spec = Spec::read("super-shingles:k=2,size=8").unwrap();
        assert_eq!(spec.to_string(), "super-shingles:size=8");
        let spec = Spec::read("super-shingles:k=100").unwrap();
        assert_eq!(spec.to_string(), "super-shingles:k=100");
        assert_eq!(spec.file_name(), "super-shingles_k=100");
        assert_eq!(spec.clone().whole(), spec.whole());
        let long = format!("i-match:lexicon={}", "x/".repeat(200));
        let name = Spec::read(&long).unwrap().file_name();
        assert!(name.starts_with("i-match_lexicon=x_x_") && name.len() < 255);
        for text in [
            "",
            "simhash",
            "super-shingles:k",
            "super-shingles:k=0",
            "super-shingles:n=1",
            "super-shingles:k=2,k=2",
        ] {
            let error = Spec::read(text).unwrap_err();
            assert!(matches!(error, Error::BadParameter { .. }), "{text}");
        }
    }
}
