//! Which labels are transferred, between which collections, and what is counted.

use std::path::PathBuf;

use serde::Serialize;

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

/// The counts of the labels, by result.
///
/// `labels` = `unknown_labels` + `alone` + `overruled` + `transferred`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TransferReport {
    /// The file of labels.
    pub path: PathBuf,
    /// Its format.
    pub format: LabelsFormat,
    /// Labels read.
    pub labels: u64,
    /// Labels of documents that the old collection does not have.
    pub unknown_labels: u64,
    /// Labels whose document has no near-duplicate in the new collection.
    pub alone: u64,
    /// Labels that no document gets, because a label of a more similar document decides for each.
    pub overruled: u64,
    /// Labels that documents of the new collection get.
    pub transferred: u64,
    /// Distinct docnos of the labels.
    pub docnos: u64,
    /// Docnos that the old collection does not have.
    pub unknown_docnos: u64,
    /// Documents of the new collection that get labels, with exact duplicates.
    pub documents: u64,
    /// Labels that these documents get: lines of `transferred.tsv`.
    pub written: u64,
    /// The part of them that is left out of the file of labels, because it cannot hold the docno.
    pub unwritable: u64,
    /// The part of them that is left out of the file of labels, because an earlier document of the
    /// new collection with the same docno has one.
    pub repeated: u64,
    /// Representatives of the new collection, for each topic, whose candidates have different
    /// labels.
    pub contradictions: u64,
}
