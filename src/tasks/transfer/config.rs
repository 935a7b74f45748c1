//! Which labels are transferred, and between which collections.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::Serialize;

use crate::base::ids::Threshold;

/// What a file of labels looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelsFormat {
    /// The first line decides.
    #[default]
    Auto,
    /// Judgements: topic, iteration, docno, relevance.
    Trec,
    /// Judgements: topic, subtopic, docno, relevance.
    Ndeval,
    /// Judgements: topic, docno, relevance, method, probability.
    Prels,
    /// Docno and label, separated by a tab.
    Tsv,
    /// Docno and label, separated by white space.
    Text,
    /// Comma-separated values with the columns `docno` and `label`.
    Csv,
    /// A JSON object on each line, with the members `docno` and `label`.
    Jsonl,
}

const FORMATS: [(LabelsFormat, &str); 8] = [
    (LabelsFormat::Auto, "auto"),
    (LabelsFormat::Trec, "trec"),
    (LabelsFormat::Ndeval, "ndeval"),
    (LabelsFormat::Prels, "prels"),
    (LabelsFormat::Tsv, "tsv"),
    (LabelsFormat::Text, "text"),
    (LabelsFormat::Csv, "csv"),
    (LabelsFormat::Jsonl, "jsonl"),
];

impl fmt::Display for LabelsFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = FORMATS.iter().find(|(format, _)| format == self);
        f.pad(name.map_or("", |(_, name)| name))
    }
}

impl FromStr for LabelsFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = FORMATS.iter().find(|(_, name)| *name == text);
        found.map(|(format, _)| *format).ok_or_else(|| {
            format!("`{text}` is not one of auto, trec, ndeval, prels, tsv, text, csv, jsonl")
        })
    }
}

/// The labels, the collections and the output directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferConfig {
    /// The labels of documents of `from`.
    pub labels: PathBuf,
    /// What they look like.
    pub format: LabelsFormat,
    /// The output directory with the labelled documents.
    pub from: PathBuf,
    /// The output directory with the documents that get labels.
    pub to: PathBuf,
    /// The least resemblance of two documents for a transfer.
    pub threshold: Threshold,
    /// The directory for the files. `None` writes nothing.
    pub output: Option<PathBuf>,
}
