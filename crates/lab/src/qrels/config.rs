//! Which files are compared, and which judgements are kept.

use std::path::PathBuf;

use lookalike_base::keywords;

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
    /// The format of the lines of judgements.
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

/// The input files, the output directory, and which judgements are kept: the options of the command.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct QrelsConfig {
    /// Judgements, such as lines of TOPIC ITERATION DOCNO RELEVANCE
    ///
    /// --qrels-format lists the forms. The relevance is an integer and may be negative. The file
    /// may be compressed.
    #[arg(value_name = "QRELS")]
    pub qrels: PathBuf,
    /// Clusters: an output directory, or its clusters.jsonl
    ///
    /// Give the directory if you have it. It also says which documents the collection has, and
    /// which near members of a cluster are exact duplicates of each other. A clusters.jsonl only
    /// says which members are exact duplicates of the representative.
    #[arg(long, value_name = "PATH")]
    pub clusters: PathBuf,
    /// Ranking to deduplicate: TOPIC Q0 DOCNO RANK SCORE TAG (repeatable)
    ///
    /// The first line of each topic and cluster is kept, in the order of trec_eval: by score, and of
    /// equal ones the greater docno first. It gets the docno that the judgements keep. Ranks are
    /// assigned again, and where new docnos would change the order of equal scores, some are raised as
    /// little as possible. The file may be compressed.
    #[arg(long = "run", value_name = "FILE")]
    pub runs: Vec<PathBuf>,
    /// Directory for qrels, contradictions.jsonl and rankings [default: none]
    ///
    /// A ranking has the name of its file there, without .gz or the like. Without -o, the command
    /// only counts; with it, --quiet prints no tables.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Document to keep of a topic and cluster: best, first or map
    ///
    /// best keeps the most relevant document, and the first of several. first keeps the first
    /// document of the collection, with its own relevance. map takes the representative of the
    /// cluster, judged or not, with the highest relevance. The ranking gets the same docno, so that the
    /// new judgements fit it.
    #[arg(long, value_name = "WHICH", default_value_t = Keep::default())]
    pub keep: Keep,
    /// Form of the judgements: auto, trec, ndeval or prels
    ///
    /// trec has lines of TOPIC ITERATION DOCNO RELEVANCE. ndeval (diversity) has lines of TOPIC
    /// SUBTOPIC DOCNO RELEVANCE; each subtopic is checked and deduplicated by itself. prels (Million
    /// Query track) has lines of TOPIC DOCNO RELEVANCE METHOD PROBABILITY. auto takes five fields for
    /// prels, and four for ndeval if a docno has lines in a topic that differ in the second field.
    ///
    /// Example: --qrels-format ndeval
    #[arg(long, value_name = "FORM", default_value_t = QrelsFormat::default())]
    pub qrels_format: QrelsFormat,
}
