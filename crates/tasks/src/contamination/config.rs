//! The parameters of a search for test items: the items to find, and the corpus.

use std::path::PathBuf;

use lookalike_base::{Result, Threshold, refuse};
use lookalike_text::parse::ParseConfig;
use lookalike_text::read::ReadConfig;

/// The longest run that can be required.
const MOST_NGRAM: u32 = 1000;
/// The largest number of fields of an item.
pub const MOST_FIELDS: usize = 64;
/// The largest number of documents that are listed for an item.
const MOST_LISTED: usize = 1_000_000;

/// Parameters of a search for contamination.
#[derive(Clone, Debug, PartialEq)]
pub struct ContaminationConfig {
    /// The test sets: files and directories.
    pub against: Vec<PathBuf>,
    /// The fields of an item that are looked for, each a text of its own. If there are none, the
    /// field that the reader takes as the text.
    pub fields: Vec<String>,
    /// The field with the name of an item; with `None`, one of [`lookalike_text::read::ID_FIELDS`].
    pub item_id: Option<String>,
    /// How the corpus is read. The test sets are read in the same way, but for the names of fields
    /// and the format.
    pub read: ReadConfig,
    /// How texts are cut into tokens.
    pub parse: ParseConfig,
    /// The least number of tokens of a shared run.
    pub ngram: u32,
    /// The least number of tokens of a field that is looked for.
    pub least: u32,
    /// A document is listed in [`super::DROP_FILE`] if it covers this share of an item.
    pub drop_at: Threshold,
    /// The number of documents that are listed for each item.
    pub most: usize,
    /// The directory for the files; with `None`, nothing is written.
    pub output: Option<PathBuf>,
    /// The page that the caller writes; with it, the report includes the content of the page.
    pub page: Option<PathBuf>,
}

impl Default for ContaminationConfig {
    fn default() -> Self {
        ContaminationConfig {
            against: Vec::new(),
            fields: Vec::new(),
            item_id: None,
            read: ReadConfig::default(),
            parse: ParseConfig::default(),
            // The length of GPT-3's n-grams (Brown et al. 2020, appendix C).
            ngram: 13,
            least: 5,
            drop_at: Threshold::new(4, 5).unwrap_or_default(),
            most: 10,
            output: None,
            page: None,
        }
    }
}

impl ContaminationConfig {
    /// Refuses values outside their range.
    pub fn check(&self) -> Result<()> {
        self.read.check()?;
        if self.parse.tokens.is_by_name() {
            // The answer to a question has the same tokens as a program that contains it.
            let limit = "the texts of test sets have no file names; use words or code";
            return refuse("tokens", &self.parse.tokens, limit);
        }
        for (name, value) in [("ngram", self.ngram), ("least", self.least)] {
            if !(1..=MOST_NGRAM).contains(&value) {
                return refuse(name, value, format!("1 to {MOST_NGRAM}"));
            }
        }
        if !(1..=MOST_LISTED).contains(&self.most) {
            return refuse("most", self.most, format!("1 to {MOST_LISTED}"));
        }
        if self.fields.len() > MOST_FIELDS {
            let given = format!("{} fields", self.fields.len());
            return refuse("fields", given, format!("at most {MOST_FIELDS}"));
        }
        for (n, field) in self.fields.iter().enumerate() {
            if field.split('.').any(str::is_empty) || field.contains(',') {
                let limit = "each field is a name, or names joined by dots";
                return refuse("fields", format!("`{field}`"), limit);
            }
            if self.fields[..n].contains(field) {
                return refuse("fields", field, "name each field once");
            }
        }
        if self.against.iter().any(|path| path.as_os_str() == "-") {
            let limit = "test sets are read several times; store them in a file first";
            return refuse("test-set", "-", limit);
        }
        Ok(())
    }
}
