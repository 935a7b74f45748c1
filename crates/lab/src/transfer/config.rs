//! The parameters and counts of a transfer of labels between two collections.

use std::path::PathBuf;

use serde::Serialize;

use lookalike_base::{Threshold, keywords};

keywords! {
    /// The format of a file of labels.
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

/// The labels, the collections and the output directory: the options of the command.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct TransferConfig {
    /// Labels of documents of OLD: judgements, or a list of docno and label
    ///
    /// --labels-format lists the forms. The file may be compressed.
    #[arg(long, value_name = "FILE")]
    pub labels: PathBuf,
    /// Output directory of a run with the labelled documents
    #[arg(long, value_name = "OLD")]
    pub from: PathBuf,
    /// Output directory with the documents that get the labels
    ///
    /// It must have the --tokens, --shingle-size, --short, --fingerprint and --seed of OLD. With an
    /// index (`lookalike stage index`), few labels take little time.
    #[arg(long, value_name = "NEW")]
    pub to: PathBuf,
    /// Directory for the labels and contradictions.jsonl [default: none]
    ///
    /// The labels are in qrels, or in labels.tsv, labels.txt, labels.csv or labels.jsonl, by their
    /// form. Without this flag, the command only counts.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Form of the labels: auto, trec, ndeval, prels, tsv, text, csv, jsonl
    ///
    /// trec, ndeval and prels are judgements, as for `lookalike lab qrels --qrels-format`. tsv has
    /// lines of a docno, a tab and a label; text has any white space between them. csv has a header
    /// with the columns docno and label. jsonl has objects with the members docno and label. A list
    /// has one line for each docno. auto decides by the first line: a brace begins jsonl, four
    /// fields with an integer at the end are trec or ndeval, five fields with numbers are prels,
    /// one tab makes tsv, a header makes csv, and other lines of two fields are text.
    ///
    /// Example: --labels-format tsv
    #[arg(id = "labels_format", long = "labels-format", value_name = "FORM", default_value_t = LabelsFormat::default())]
    pub format: LabelsFormat,
    /// Lowest resemblance of the pairs to find
    ///
    /// A decimal or a fraction, above 0 and at most 1. It is compared in integers, so 0.85 is
    /// exactly 17/20.
    ///
    /// Example: --threshold 2/3
    #[arg(
        short,
        long,
        value_name = "T",
        default_value = "0.85",
        help_heading = "Pairs"
    )]
    pub threshold: Threshold,
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
