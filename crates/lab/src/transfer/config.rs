//! Which labels are transferred, and between which collections.

use std::path::PathBuf;

use lookalike_base::ids::Threshold;
use lookalike_base::keywords::keywords;

keywords! {
    /// What a file of labels looks like.
    #[derive(Default)]
    pub enum LabelsFormat: "is not" {
        /// The first line decides.
        #[default]
        Auto = "auto",
        /// Judgements: topic, iteration, docno, relevance.
        Trec = "trec",
        /// Judgements: topic, subtopic, docno, relevance.
        Ndeval = "ndeval",
        /// Judgements: topic, docno, relevance, method, probability.
        Prels = "prels",
        /// Docno and label, separated by a tab.
        Tsv = "tsv",
        /// Docno and label, separated by white space.
        Text = "text",
        /// Comma-separated values with the columns `docno` and `label`.
        Csv = "csv",
        /// A JSON object on each line, with the members `docno` and `label`.
        Jsonl = "jsonl",
    }
}

/// The labels, the collections and the output directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferConfig {
    /// The labels of documents of `from`.
    pub labels: PathBuf,
    /// Their format.
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
