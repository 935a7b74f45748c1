//! The parameters of a collection.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::condition::Condition;
use crate::shingle::{ShingleConfig, flags};
use lookalike_base::{Error, Result, budget::ByteSize, stored_as_text};
use lookalike_store as store;
use lookalike_text::parse::other_rule;
use lookalike_text::read::{READ_RULE, ReadConfig};

/// Parameters of a collection. Changing any of them makes a different collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectionConfig {
    /// How inputs are read.
    pub read: ReadConfig,
    /// How documents become fingerprint sets.
    pub shingle: ShingleConfig,
    /// Bounds of the size groups.
    pub size_groups: SizeGroups,
    /// Approximate raw bytes of a segment.
    pub segment_size: ByteSize,
    /// Keep the text of the documents whose sets are stored, for methods that need more than
    /// shingles.
    // Serialized under the name of the flag. Omitted if not set, so that a manifest without text is
    // the same with or without this field.
    #[serde(
        rename = "keep_text",
        default,
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub text: bool,
    /// The condition that pairs must meet.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
}

impl Default for CollectionConfig {
    fn default() -> Self {
        CollectionConfig {
            read: ReadConfig::default(),
            shingle: ShingleConfig::default(),
            size_groups: SizeGroups::default(),
            segment_size: ByteSize::mib(64),
            text: false,
            condition: None,
        }
    }
}

/// Smaller segments would need a file for every one or two documents.
const LEAST_SEGMENT: ByteSize = ByteSize(1 << 10);

impl CollectionConfig {
    /// Refuses parameters that cannot make a collection.
    ///
    /// # Errors
    /// [`Error::BadParameter`] names the first parameter out of range.
    pub fn check(&self) -> Result<()> {
        self.read.check()?;
        self.shingle.check()?;
        if self.segment_size < LEAST_SEGMENT {
            return Err(Error::parameter("segment-size", self.segment_size)
                .because(format!("at least {LEAST_SEGMENT}")));
        }
        Ok(())
    }

    /// The same parameters with a condition, unless it limits nothing, and the fields that it names.
    #[must_use]
    pub fn with_condition(mut self, condition: Option<Condition>) -> CollectionConfig {
        let condition = condition.filter(|condition| !condition.is_true());
        self.read.fields = condition.iter().flat_map(|c| c.fields().to_vec()).collect();
        CollectionConfig { condition, ..self }
    }

    /// Digest of the parameters, as stored in parts: all parameters that affect the documents as
    /// read. `path` is the file that will hold them.
    ///
    /// # Errors
    /// `Io` if they cannot be encoded.
    pub fn digest(&self, path: &Path) -> Result<u128> {
        let read = CollectionConfig {
            condition: None,
            ..self.clone()
        };
        Ok(store::digest_bits(&store::to_json(&read, path)?))
    }

    /// The parameters that make tokens comparable, as name and value: the lines that all files of
    /// results have.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut parameters = self.shingle.parse.parameters();
        parameters.push(("markup", self.read.markup().to_string()));
        let condition = self.condition.iter();
        parameters.extend(condition.map(|condition| ("where", condition.to_string())));
        parameters
    }

    /// Refuses a collection that was made under other rules of tokens or of fields than this
    /// version follows.
    ///
    /// # Errors
    /// `Other` if it follows another one.
    pub fn check_rule(&self, directory: &Path) -> Result<()> {
        self.shingle.parse.check_rule(directory)?;
        let found = self.read.rule;
        if found == READ_RULE {
            return Ok(());
        }
        Err(other_rule(directory, "fields", READ_RULE, found))
    }

    /// Refuses `wanted` parameters that differ from these, the parameters of the collection in
    /// `directory`. The segment size does not matter once everything is `ingested`.
    ///
    /// # Errors
    /// `Other` under another rule of tokens; `Incompatible` with the flag of the first difference.
    pub fn check_same(
        &self,
        wanted: &CollectionConfig,
        ingested: bool,
        directory: &Path,
    ) -> Result<()> {
        // The collection keeps its rule of tokens.
        self.check_rule(directory)?;
        for ((name, found), (_, expected)) in self.flags().into_iter().zip(wanted.flags()) {
            if found != expected && !(name == "segment-size" && ingested) {
                return Err(Error::Incompatible {
                    path: directory.into(),
                    name: format!("--{name}"),
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }

    /// Every parameter, as the name of its flag and its value, in a fixed order.
    pub fn flags(&self) -> Vec<(&'static str, String)> {
        fn given<T: fmt::Display>(value: &Option<T>) -> String {
            value.as_ref().map_or("(default)".into(), T::to_string)
        }
        let none_if_empty = |text: String| match text.is_empty() {
            true => "(none)".into(),
            false => text,
        };
        let programs: Vec<String> = self.read.convert.iter().map(ToString::to_string).collect();
        // The fields of the collection follow from its condition, and [`Self::check_same`] compares
        // its rules first.
        let mut flags = flags!(&self.read, ReadConfig without (rule, fields, markup, convert) {
            format: "format" = given(format),
            record: "record" = given(record),
            records: "records" = given(records),
            split_at: "split-at" = given(split_at),
            text_field: "text-field" = given(text_field),
            id_field: "id-field" = given(id_field),
            url_field: "url-field" = given(url_field),
            delimiter: "delimiter" = given(delimiter),
            quote: "quote" = given(quote),
            columns: "columns" = given(columns),
            null: "null" = none_if_empty(null.join(", ")),
            warc_type: "warc-type" = given(warc_type),
            include_url: "include-url" = include_url.to_string(),
            exclude_url: "exclude-url" = exclude_url.to_string(),
            convert_timeout: "convert-timeout" = given(convert_timeout),
            convert_memory: "convert-memory" = given(convert_memory),
            max_document: "max-document" = max_document.exact(),
            max_ratio: "max-ratio" = max_ratio.to_string(),
        });
        flags.push(("markup", self.read.markup().to_string()));
        flags.push(("convert", none_if_empty(programs.join(", "))));
        flags.extend(self.shingle.flags());
        flags.extend(flags!(self, CollectionConfig without (read, shingle) {
            text: "keep-text" = text.to_string(),
            size_groups: "size-groups" = size_groups.to_string(),
            segment_size: "segment-size" = segment_size.exact(),
            condition: "where" = given(condition),
        }));
        flags.push(("fields", none_if_empty(self.read.fields.join(", "))));
        flags
    }
}

/// Lower bounds, in words, of the size groups after the first.
///
/// The default is the 11 groups of Ye, Wen & Ma 2008, Table 3: [0,500) [500,1000) [1000,2000) ...
/// [8000,9000) [9000,∞).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeGroups(Vec<u64>);

impl Default for SizeGroups {
    fn default() -> Self {
        SizeGroups([500].into_iter().chain((1..=9).map(|k| k * 1000)).collect())
    }
}

impl SizeGroups {
    /// The number of groups.
    pub fn count(&self) -> usize {
        self.0.len() + 1
    }

    /// The group of a document with this number of words.
    pub fn group(&self, words: u64) -> u8 {
        self.0.partition_point(|&bound| bound <= words) as u8
    }

    /// The range of words in a group, `500-999` or `9000-`.
    pub fn describe(&self, group: usize) -> String {
        let low = if group == 0 { 0 } else { self.0[group - 1] };
        match self.0.get(group) {
            Some(high) => format!("{low}-{}", high - 1),
            None => format!("{low}-"),
        }
    }
}

impl fmt::Display for SizeGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bounds: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&bounds.join(","))
    }
}

impl FromStr for SizeGroups {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` are not size groups; write rising bounds in words, such as \
                 500,1000,2000 (at most 254)"
            )
        };
        if text.is_empty() {
            return Ok(SizeGroups(Vec::new()));
        }
        let bounds: Vec<u64> = text
            .split(',')
            .map(|n| n.trim().parse().map_err(|_| wrong()))
            .collect::<Result<_, _>>()?;
        let rising = bounds.windows(2).all(|pair| pair[0] < pair[1]);
        if !rising || bounds[0] == 0 || bounds.len() > 254 {
            return Err(wrong());
        }
        Ok(SizeGroups(bounds))
    }
}

stored_as_text!(SizeGroups);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_of_the_study() {
        let groups = SizeGroups::default();
        assert_eq!(groups.count(), 11);
        assert_eq!(
            groups.to_string(),
            "500,1000,2000,3000,4000,5000,6000,7000,8000,9000"
        );
        for (words, group) in [
            (0, 0),
            (499, 0),
            (500, 1),
            (999, 1),
            (1000, 2),
            (8999, 9),
            (9000, 10),
        ] {
            assert_eq!(groups.group(words), group, "{words}");
        }
        assert_eq!(groups.describe(0), "0-499");
        assert_eq!(groups.describe(10), "9000-");
        assert_eq!("".parse::<SizeGroups>().unwrap().count(), 1);
        for text in ["0", "5,5", "9,8", "x", "1,,2"] {
            assert!(text.parse::<SizeGroups>().is_err(), "{text}");
        }
    }
}
