//! Which files are compared, and which judgements are kept.

use std::path::PathBuf;

use lookalike_base::keywords::keywords;

keywords! {
    /// Which judged document of a topic and cluster is kept.
    #[derive(Default)]
    pub enum Keep: "is not" {
        /// The document of highest relevance, and the first in the collection of several.
        #[default]
        Best = "best",
        /// The first document in the collection.
        First = "first",
        /// The representative of the cluster, with the highest relevance of the judged documents.
        Map = "map",
    }
}

keywords! {
    /// What the lines of judgements look like.
    #[derive(Default)]
    pub enum QrelsFormat: "is not" {
        /// The number of fields of the first line, and whether a docno has several lines, decide.
        #[default]
        Auto = "auto",
        /// Topic, iteration, docno, relevance.
        Trec = "trec",
        /// Topic, subtopic, docno, relevance: a docno may have a line for each subtopic.
        Ndeval = "ndeval",
        /// Topic, docno, relevance, method, probability.
        Prels = "prels",
    }
}

/// The fields of a line in [`QrelsFormat::Trec`].
const TREC: &[&str] = &["topic", "iteration", "docno", "relevance"];
/// The fields of a line in [`QrelsFormat::Ndeval`].
const NDEVAL: &[&str] = &["topic", "subtopic", "docno", "relevance"];
/// The fields of a line in [`QrelsFormat::Prels`].
const PRELS: &[&str] = &["topic", "docno", "relevance", "method", "probability"];

impl QrelsFormat {
    /// The fields that a line may have.
    pub(super) fn fields(self) -> Vec<&'static [&'static str]> {
        match self {
            QrelsFormat::Auto => vec![TREC, PRELS],
            QrelsFormat::Trec => vec![TREC],
            QrelsFormat::Ndeval => vec![NDEVAL],
            QrelsFormat::Prels => vec![PRELS],
        }
    }
}

/// The input files and the output directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QrelsConfig {
    /// The qrels.
    pub qrels: PathBuf,
    /// The format of their lines.
    pub format: QrelsFormat,
    /// An output directory, or a `clusters.jsonl`.
    pub clusters: PathBuf,
    /// Rankings to deduplicate.
    pub runs: Vec<PathBuf>,
    /// The directory for the deduplicated files. `None` writes nothing.
    pub output: Option<PathBuf>,
    /// Which judgement of a group is kept.
    pub keep: Keep,
}
