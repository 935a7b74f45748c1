//! Flags and their help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use lookalike::budget::ByteSize;
use lookalike::collection::SizeGroups;
use lookalike::evaluate::Columns;
use lookalike::evaluate::qrels::Keep;
use lookalike::experiments::perturb::{EditCounts, Operation, Spread};
use lookalike::experiments::plan::Ratio;
use lookalike::ids::{FingerprintKind, Threshold};
use lookalike::join::{Join, Pairs};
use lookalike::measure::Measure;
use lookalike::methods::Spec;
use lookalike::parse::TokenKind;
use lookalike::pipeline::Spill;
use lookalike::read::Format;
use lookalike::report::GraphFormat;
use lookalike::sample::Sampling;
use lookalike::shingle::Short;

/// Finds near-duplicate documents in collections that do not fit in memory.
#[derive(Debug, Parser)]
#[command(version, about, long_about = None, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The whole job: read INPUT, find near-duplicate pairs and clusters, write them to DIR
    ///
    /// The same command again goes on where it was stopped. Another --threshold, --sampling or
    /// --max-postings on the same DIR reuses what was read.
    Run(Box<RunOptions>),
    /// Only read INPUT into the collection in DIR
    Ingest(IngestOptions),
    /// Only find the pairs of a collection in DIR (from whatever of it is there)
    Join(JoinOptions),
    /// Find the smallest sampling ratio of each size group that keeps a wanted precision
    ///
    /// For a collection in DIR (after `ingest` or `run`), as Ye, Wen & Ma 2008, section 6. Prints the plan and
    /// writes it to DIR/plan.toml, for --sampling.
    Plan(PlanOptions),
    /// Find out what sampling costs in precision and recall, by document size
    ///
    /// Every class of every ratio is tried on the collection in DIR (after `ingest` or `run`) and held against
    /// the exact answer, as Ye, Wen & Ma 2008, sections 4 and 5. Tables and figures go to DIR/study. The
    /// same command again goes on where it was stopped.
    Study(StudyOptions),
    /// Only make clusters and result files of the pairs in DIR
    Cluster(ClusterOptions),
    /// Find pairs and clusters by a method of the papers; without DIR, describe it; without SPEC, list all
    ///
    /// SPEC is a method's name, with parameters where they are not to be the paper's: super-shingles:k=4. DIR
    /// is a collection that keeps its texts (`ingest --keep-text`). Results go to DIR/methods/SPEC. The
    /// same command again goes on where it was stopped.
    Method(MethodOptions),
    /// Write a page (HTML) that shows what was found in DIR: clusters, pairs with their texts, figures
    Report(ReportOptions),
    /// Run methods of the papers on a collection and show them side by side
    ///
    /// For a collection in DIR that keeps its texts (`ingest --keep-text`). Each method is run as `lookalike
    /// method` runs it, in a process of its own; those that were run before are not run again. Prints a
    /// table; tables as CSV go to DIR/compare, with compare.json.
    Compare(CompareOptions),
    /// Look new documents up in a collection: which of it do they resemble, or are they contained in
    ///
    /// The collection in DIR (after `ingest` or `run`) is asked by its shingles, or by the keys of a method; it
    /// is not changed and pairs are not needed. One line for each document found, the most alike first; with
    /// --json one line for each query. Exact duplicates stand for their representatives.
    Query(QueryOptions),
    /// Print the pairs found in DIR as a graph, for Graphviz and other programs
    ///
    /// A vertex for each document that has a pair, an edge for each pair, with its score as weight. DIR is an
    /// output directory, or that of a method (DIR/methods/SPEC).
    Graph(GraphOptions),
    /// What DIR holds and what is still to be done
    Status(StatusOptions),
    /// Print any file of an output directory as text
    Inspect(InspectOptions),
    /// Read every committed file of DIR again and check it
    Verify(VerifyOptions),
    /// Precision and recall of a run, sampled or of another program, against pairs that are true
    ///
    /// Both are output directories or lists of pairs. A directory stands for its pairs with exact
    /// duplicates in place of the representatives listed, and for the pairs of exact duplicates. A list stands
    /// for the pairs in it. A truth that is a list without any pair of the exact duplicates that the run's
    /// directory has is taken for a list of representatives, with a warning: its pairs then stand for exact
    /// duplicates, too. A pair
    /// belongs to the size group of its document of fewer words. A share of nothing (precision where
    /// nothing was found, recall where nothing is true, F1 where both) is undefined: `-`, null in JSON.
    /// Pairs with docnos that the truth's directory does not have are left out and counted as unknown.
    Evaluate(EvaluateOptions),
    /// Make a corpus whose near-duplicates are known: copies of documents of INPUT, with edits that are listed
    ///
    /// By the recipe of Chowdhury et al. 2002 (ten documents of average length, ten copies each, put back among
    /// the others) or of Cherkasova et al. 2009 (each document with 1 to 50 words inserted or removed). The same
    /// seed and inputs give the same bytes. DIR gets originals.jsonl, copies.jsonl and background.jsonl, the
    /// corpus; truth.tsv, for `lookalike evaluate`; edits.jsonl, each edit of each copy; perturb.json, parameters,
    /// counts and checksums.
    Perturb(PerturbOptions),
    /// Relevance judgements and rankings of TREC held against duplicate clusters
    ///
    /// How many documents judged for a topic are duplicates of each other, how many of these groups were judged
    /// inconsistently (some relevant, that is above 0, and some not), and between exact duplicates or only near
    /// ones. With -o the judgements and the ranking are written without duplicates, and the groups of unlike
    /// judgements are listed in inconsistent.jsonl.
    Qrels(QrelsOptions),
}

/// Options of `run`.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// What is read.
    #[command(flatten)]
    pub input: InputOptions,
    /// What is asked.
    #[command(flatten)]
    pub question: QuestionOptions,
    /// Find pairs by a method of the papers instead (see `lookalike method`)
    ///
    /// Texts are kept (--keep-text), and results go to DIR/methods/SPEC. --method NAME --help describes the
    /// method. Example: --method super-shingles:k=4
    #[arg(
        long,
        value_name = "SPEC",
        conflicts_with_all = ["threshold", "score", "sampling", "precision", "verified", "candidates", "join",
            "pairs", "max_postings"],
        help_heading = "Pairs"
    )]
    pub method: Option<Spec>,
    /// What may be used.
    #[command(flatten)]
    pub means: MeansOptions,
}

/// Options of `method`.
#[derive(Debug, Args)]
pub struct MethodOptions {
    /// Method and parameters: NAME or NAME:PARAMETER=VALUE,...
    pub spec: Option<String>,
    /// Output directory of an `ingest --keep-text`
    pub directory: Option<PathBuf>,
    /// Write the pairs as a graph too: graph.dot, graph.graphml and graph.tsv (see `lookalike graph`)
    #[arg(long, requires = "directory")]
    pub graph: bool,
    /// End when standard input does: who started this has ended
    #[arg(long, hide = true)]
    pub with_parent: bool,
    /// What may be used.
    #[command(flatten)]
    pub means: MeansOptions,
}

/// Options of `query`.
#[derive(Debug, Args)]
pub struct QueryOptions {
    /// Output directory of an earlier `ingest` or `run`
    pub directory: PathBuf,
    /// Documents to look up: files, directories, or `-` for standard input, of any format that `run` reads
    #[arg(required = true, value_name = "DOCUMENT")]
    pub documents: Vec<PathBuf>,
    /// Ask by the keys of a method of the papers, which says what is alike (see `lookalike method`)
    ///
    /// The collection must keep its texts. Example: --method i-match
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["threshold", "score"])]
    pub method: Option<Spec>,
    /// List documents of this resemblance or more
    #[arg(short, long, value_name = "T", default_value = "0.85")]
    pub threshold: Threshold,
    /// What is compared with the threshold, as of `run`
    #[arg(long, value_name = "SCORE", default_value = "resemblance")]
    pub score: Measure,
    /// List also documents that hold this share of the query's shingles, or more
    ///
    /// For queries that are a part of a document. Example: --containing 0.9
    #[arg(long, value_name = "SHARE")]
    pub containing: Option<Threshold>,
    /// List so many documents of each query at most; 0 for all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Read every query as this [default: told apart by content]
    #[arg(long, value_name = "FORMAT", help_heading = "Reading")]
    pub format: Option<Format>,
    /// JSON field with the text [default: as of the collection]
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub text_field: Option<String>,
    /// JSON field with the docno [default: as of the collection]
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub id_field: Option<String>,
    /// What may be used.
    #[command(flatten)]
    pub means: MeansOptions,
}

/// Options of `compare`.
#[derive(Debug, Args)]
pub struct CompareOptions {
    /// Output directory of an `ingest --keep-text`
    pub directory: PathBuf,
    /// Methods to run, each as NAME or NAME:PARAMETER=VALUE,... [default: all, as in their papers]
    ///
    /// Example: --methods super-shingles super-shingles:k=4 minhash
    #[arg(long, value_name = "SPEC", num_args = 1..)]
    pub methods: Vec<Spec>,
    /// Methods whose pairs are held to be true; they are run too [default: shingles and cosine]
    #[arg(long, value_name = "SPEC", num_args = 1..)]
    pub truth: Vec<Spec>,
    /// Edit list (edits.jsonl) of the `perturb` that made copies in the collection
    #[arg(long, value_name = "FILE")]
    pub edits: Option<PathBuf>,
    /// What a wrong pair costs in the utility, in true ones
    #[arg(long, value_name = "N", default_value_t = 100, hide_short_help = true)]
    pub cost: u64,
    /// What may be used.
    #[command(flatten)]
    pub means: MeansOptions,
}

/// Options of `ingest`.
#[derive(Debug, Args)]
pub struct IngestOptions {
    /// What is read.
    #[command(flatten)]
    pub input: InputOptions,
    /// What may be used.
    #[command(flatten)]
    pub means: MeansOptions,
}

/// Options of `join`.
#[derive(Debug, Args)]
pub struct JoinOptions {
    /// Output directory of an earlier `ingest` or `run`
    pub directory: PathBuf,
    /// What is asked.
    #[command(flatten)]
    pub question: QuestionOptions,
    /// What may be used.
    #[command(flatten)]
    pub means: MeansOptions,
}

/// Options of `plan`.
#[derive(Debug, Args)]
pub struct PlanOptions {
    /// Output directory of an earlier `ingest` or `run`
    pub directory: PathBuf,
    /// Share of the pairs found that is to be true, in every size group
    #[arg(short, long, value_name = "P", default_value = "0.8")]
    pub precision: Threshold,
    /// Share of the true pairs that is to be found, in every size group [default: any]
    #[arg(long, value_name = "R")]
    pub recall: Option<Threshold>,
    /// For pairs of this resemblance or more
    #[arg(short, long, value_name = "T", default_value = "0.85")]
    pub threshold: Threshold,
    /// Ratios to choose from, each dividing the next
    #[arg(long, value_name = "LIST", default_value = "1/2,1/4,1/8,1/16,1/32")]
    pub ratios: Ratios,
    /// Measure on a random part of the documents [default: on all of them]
    ///
    /// Each document is drawn by itself, so that of a tenth of the documents a hundredth of the pairs is left: a
    /// subset of a small collection has too few to plan by. Example: --subset 10%
    #[arg(long, value_name = "SHARE")]
    pub subset: Option<Share>,
    /// With --subset: which random part
    #[arg(long, value_name = "N", default_value_t = 0, requires = "subset")]
    pub plan_seed: u64,
    /// Write the plan there [default: DIR/plan.toml]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What may be used.
    #[command(flatten)]
    pub means: MeansOptions,
}

/// Options of `study`.
#[derive(Debug, Args)]
pub struct StudyOptions {
    /// Output directory of an earlier `ingest` or `run`
    pub directory: PathBuf,
    /// Ratios to try, each with all its classes: 1/16 alone are 16 trials
    #[arg(long, value_name = "LIST", default_value = "1/2,1/4,1/8,1/16")]
    pub ratios: Ratios,
    /// Thresholds to try, the lowest first
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95"
    )]
    pub thresholds: Vec<Threshold>,
    /// What may be used.
    #[command(flatten)]
    pub means: MeansOptions,
}

/// A sampling, or the plan that has it.
#[derive(Clone, Debug)]
pub enum SamplingChoice {
    /// As given.
    As(Sampling),
    /// As a file has it.
    Plan(PathBuf),
}

impl std::str::FromStr for SamplingChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text.ends_with(".toml") {
            return Ok(SamplingChoice::Plan(text.into()));
        }
        text.parse().map(SamplingChoice::As)
    }
}

/// A share: `10%`, `0.1` or `1/10`.
#[derive(Clone, Copy, Debug)]
pub struct Share(pub Threshold);

impl std::str::FromStr for Share {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            |_| format!("`{text}` is not a share; write 10%, 0.1 or 1/10, above 0, at most all");
        let Some(number) = text.strip_suffix('%') else {
            return text.parse().map(Share).map_err(wrong);
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let scale = 10u64
            .checked_pow(part.len() as u32)
            .filter(|&scale| scale <= 1_000_000);
        let digits = format!("{whole}{part}");
        let share = scale
            .zip(digits.parse().ok())
            .and_then(|(scale, digits)| Threshold::new(digits, scale * 100));
        share.map(Share).ok_or_else(|| wrong(String::new()))
    }
}

/// Ratios 1/n, by their n.
#[derive(Clone, Debug)]
pub struct Ratios(pub Vec<u32>);

impl std::str::FromStr for Ratios {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let ratios = text
            .split(',')
            .map(|ratio| ratio.parse::<Ratio>().map(|ratio| ratio.0));
        let mut ratios: Vec<u32> = ratios.collect::<Result<_, String>>()?;
        ratios.sort_unstable();
        ratios.dedup();
        Ok(Ratios(ratios))
    }
}

/// Options of `cluster`.
#[derive(Debug, Args)]
pub struct ClusterOptions {
    /// Output directory of an earlier `join` or `run`
    pub directory: PathBuf,
    /// What may be used.
    #[command(flatten)]
    pub means: MeansOptions,
}

/// Options of `report`.
#[derive(Debug, Args)]
pub struct ReportOptions {
    /// Output directory of an earlier `run` or `cluster`
    pub directory: PathBuf,
    /// Write the page here [default: DIR/report.html]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Show so many clusters, the largest
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub clusters: usize,
    /// Show so many pairs nearest the threshold, and as many at random
    ///
    /// With their texts side by side, which are read from the inputs again. Example: --pairs 50
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub pairs: usize,
    /// Draw the random pairs with this seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Memory for buffers [default: a quarter of what is available, 256MiB to 4GiB]
    ///
    /// One that is too small is refused with the least that will do. Example: --memory 512MiB
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<ByteSize>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Options of `graph`.
#[derive(Debug, Args)]
pub struct GraphOptions {
    /// Output directory of an earlier `run`, `join` or `method`
    pub directory: PathBuf,
    /// How it is written: dot, graphml or tsv
    #[arg(long, value_name = "FORMAT", default_value = "dot")]
    pub format: GraphFormat,
    /// Write it to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Memory for buffers [default: a quarter of what is available, 256MiB to 4GiB]
    ///
    /// One that is too small is refused with the least that will do. Example: --memory 512MiB
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<ByteSize>,
}

/// Options of `status`.
#[derive(Debug, Args)]
pub struct StatusOptions {
    /// Output directory
    pub directory: PathBuf,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `inspect`.
#[derive(Debug, Args)]
pub struct InspectOptions {
    /// A .docs, .fps, .rejects, .col, .names, .run, .post or .pairs file
    pub file: PathBuf,
    /// Print at most so many records
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub records: u64,
}

/// Options of `verify`.
#[derive(Debug, Args)]
pub struct VerifyOptions {
    /// Output directory
    pub directory: PathBuf,
}

/// Options of `evaluate`.
#[derive(Debug, Args)]
pub struct EvaluateOptions {
    /// The pairs that are true: an output directory, or a list
    ///
    /// A list is a pairs.tsv, or lines of two docnos and, where there is one, a resemblance, in columns
    /// told apart by tabs, commas or spaces, or a JSON object each; compressed or not. Without --columns
    /// they are docno_a and docno_b where the first line names them, or else the first two columns, and
    /// the third where there are three. Example: --truth out/full
    #[arg(long, value_name = "PATH")]
    pub truth: Option<PathBuf>,
    /// The pairs that were found: an output directory, or a list
    #[arg(long, value_name = "PATH")]
    pub run: PathBuf,
    /// Evaluate at each of these thresholds [default: all that is listed]
    ///
    /// At each, pairs count that reach it; resemblances are compared exactly, from the integers of our
    /// lists or from decimals as they are written. A list without resemblances has all its pairs at each.
    /// Example: --thresholds 0.5,0.6,17/20
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub thresholds: Vec<Threshold>,
    /// A documents.tsv with size groups of all documents, where the truth is a list
    #[arg(long, value_name = "FILE", help_heading = "Lists")]
    pub documents: Option<PathBuf>,
    /// Columns of both lists: DOCNO,DOCNO or DOCNO,DOCNO,RESEMBLANCE
    ///
    /// Names from the first line, or of members of JSON objects, with dots; or numbers from 1 where there is
    /// no first line of names. Example: --columns id1,id2,jaccard
    #[arg(long, value_name = "COLUMNS", help_heading = "Lists")]
    pub columns: Option<Columns>,
    /// Columns of the truth, if they differ
    #[arg(long, value_name = "COLUMNS", help_heading = "Lists")]
    pub truth_columns: Option<Columns>,
    /// Columns of the run, if they differ
    #[arg(long, value_name = "COLUMNS", help_heading = "Lists")]
    pub run_columns: Option<Columns>,
    /// Pairs that people have judged: lines of DOCNO DOCNO 0 or 1
    ///
    /// coverage: of those judged true, how many were found. density: of those found, how many are judged
    /// true. average precision: the same for each document that a line names first, and the mean over those
    /// with any found. Bernstein & Zobel 2006, section 7.
    #[arg(long, value_name = "FILE", help_heading = "Judged samples")]
    pub judged: Option<PathBuf>,
    /// Families of documents: lines of DOCNO FAMILY
    ///
    /// Every two documents of one are true, every two of two families false; pairs with a document of none
    /// are not judged.
    #[arg(long, value_name = "FILE", help_heading = "Judged samples")]
    pub families: Option<PathBuf>,
    /// Where temporary files go: 24 bytes for each line of the lists, twice [default: that of the system]
    #[arg(long, value_name = "DIR", help_heading = "Means")]
    pub scratch: Option<PathBuf>,
    /// Memory for tables and sorts [default: a quarter of what is available, 256MiB to 4GiB]
    ///
    /// 50 bytes for each document that is named anywhere, 130 with --families, and buffers. Results are the
    /// same for every value; one that is too small is refused with the least that will do.
    #[arg(long, value_name = "SIZE", help_heading = "Means")]
    pub memory: Option<ByteSize>,
    /// Say nothing but results and errors: no warnings
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `qrels`.
#[derive(Debug, Args)]
pub struct QrelsOptions {
    /// Judgements: lines of TOPIC ITERATION DOCNO RELEVANCE, compressed or not
    ///
    /// Relevance is an integer, and may be negative. A docno may stand once in a topic.
    #[arg(value_name = "QRELS")]
    pub qrels: PathBuf,
    /// The clusters: an output directory, or its clusters.jsonl
    ///
    /// A directory also tells which documents the collection has, and which of the members after a near one are
    /// exact duplicates of each other: with the file alone, only those before it are taken for such.
    #[arg(long, value_name = "PATH")]
    pub clusters: PathBuf,
    /// A ranking to thin out: lines of TOPIC Q0 DOCNO RANK SCORE TAG, compressed or not
    ///
    /// Of each topic and cluster the first line is kept, in the order of the file; ranks are given anew, scores
    /// stay.
    #[arg(long, value_name = "FILE")]
    pub run: Option<PathBuf>,
    /// Write qrels, run and inconsistent.jsonl to this directory; without, things are only counted
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// What is kept of the documents judged for a topic that are in one cluster: first, best or map
    ///
    /// first: the first in the collection, with its own relevance. best: the most relevant; of several, the first
    /// in the collection. map: docnos of a cluster become that of its representative, in the ranking
    /// too, with the highest relevance. A ranking keeps the docno that it has first, which with first
    /// and best may be one that the qrels lose: score it with the qrels as they were, or use map.
    #[arg(long, value_name = "WHICH", default_value = "first")]
    pub keep: Keep,
    /// Memory for tables [default: a quarter of what is available, 256MiB to 4GiB]
    ///
    /// Three times the qrels' bytes, 200 bytes for each of their lines, 128 for each line of the ranking, and 8 MiB.
    #[arg(long, value_name = "SIZE", help_heading = "Means")]
    pub memory: Option<ByteSize>,
    /// Say nothing but results and errors: no warnings
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

/// What is read, and how documents become fingerprint sets.
#[derive(Debug, Args)]
pub struct InputOptions {
    /// Files, directories, or `-` for standard input
    ///
    /// TREC web and SGML bundles, WARC, ARC and WET, JSON and JSONL, mailboxes (mbox) and mail messages
    /// (.eml), plain text and HTML files; plain or compressed by gzip, zstd, bzip2, xz or compress. Told apart by content.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Output directory: made if missing; what it holds of the same run is reused
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Read every input as this: trec-web, trec-sgml, warc, arc, jsonl, mbox, eml, text or html
    ///
    /// Without it each file is told apart by its first bytes, compressed or not. What is not in the
    /// format given is rejected. Example: --format html for pages that begin like JSON.
    #[arg(long, value_name = "FORMAT", help_heading = "Reading")]
    pub format: Option<Format>,
    /// JSON field with the text [default: the first there is of text, contents, content, body, html,
    /// raw_content, article]
    ///
    /// A path with dots looks into objects. It is markup if the field is called html, if a field
    /// content_type, mime or type says html or xml, or if it begins as a page does. Example:
    /// --text-field page.body
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub text_field: Option<String>,
    /// JSON field with the docno [default: the first there is of id, _id, docno, doc_id, docid, uuid,
    /// or the URL's]
    ///
    /// A number will do. Example: --id-field meta.id
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub id_field: Option<String>,
    /// JSON field with the address [default: the first there is of url, uri, link ...]
    ///
    /// Only shown in documents.tsv. Example: --url-field source
    #[arg(
        long,
        value_name = "FIELD",
        hide_short_help = true,
        help_heading = "Reading"
    )]
    pub url_field: Option<String>,
    /// Reject documents of more bytes, before decoding
    ///
    /// They are skipped as they stream by, never held. The least --memory that will do grows with
    /// it: two and a half times this and 56 MiB. Example: --max-document 8MiB
    #[arg(long, value_name = "SIZE", default_value_t = ByteSize::mib(64), help_heading = "Reading")]
    pub max_document: ByteSize,
    /// Give up a file, or a compressed body in it, that decompresses to more than N times its size
    ///
    /// Counted once more than 16 MiB have come out. What was read before stays. Example:
    /// --max-ratio 5000 for logs that are all alike.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        hide_short_help = true,
        help_heading = "Reading"
    )]
    pub max_ratio: u64,
    /// Guess the charset of a document that declares none and is not UTF-8
    ///
    /// The guess is made from its first bytes that are not ASCII, and takes time only for such
    /// documents. With false they are read as windows-1252. Example: --detect-charset false
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = true,
        action = clap::ArgAction::Set,
        hide_short_help = true,
        help_heading = "Reading"
    )]
    pub detect_charset: bool,
    /// What a token is: words, whitespace or bytes:N
    ///
    /// words: maximal runs of letters and digits with their marks, lower-cased; an apostrophe between
    /// two of them stays; each Han, Hiragana or Katakana character is one. whitespace: whatever
    /// stands between white space, case kept. bytes:N: every window of N bytes of the text is a
    /// shingle, and --shingle-size does not apply. It changes results more than any other flag.
    #[arg(
        long,
        value_name = "KIND",
        default_value = "words",
        help_heading = "Shingles"
    )]
    pub tokens: TokenKind,
    /// Tokens in a shingle
    ///
    /// Smaller finds looser resemblance and more of it by chance; 10 is Broder's and Ye's, 5 is common
    /// for text to train models on. Example: --shingle-size 5
    #[arg(
        long,
        value_name = "W",
        default_value_t = 10,
        help_heading = "Shingles"
    )]
    pub shingle_size: u32,
    /// Documents of fewer tokens than a shingle: one shingle of all (whole), or none (skip)
    ///
    /// The papers skip them. Either way exact duplicates are found, and the ledger says how many
    /// there are.
    #[arg(
        long,
        value_name = "MODE",
        default_value = "whole",
        help_heading = "Shingles"
    )]
    pub short: Short,
    /// Hash of a shingle: 64 (bits of xxh3) or md5 (128 bits)
    ///
    /// In 678 million distinct shingles, 0.01 pairs of 64-bit fingerprints are expected to be equal by
    /// chance. md5 costs about a quarter more time, and twice the disk.
    #[arg(
        long,
        value_name = "HASH",
        default_value = "64",
        help_heading = "Shingles"
    )]
    pub fingerprint: FingerprintKind,
    /// Seed of the 64-bit hash
    ///
    /// Another seed gives other samples with --sampling, and the same pairs without.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        hide_short_help = true,
        help_heading = "Shingles"
    )]
    pub seed: u64,
    /// Rising bounds, in words, of the size groups that documents are counted in
    ///
    /// The default are the 11 groups of Ye, Wen & Ma 2008. Example: --size-groups 100,1000,10000
    #[arg(
        long,
        value_name = "LIST",
        default_value_t = SizeGroups::default(),
        hide_short_help = true,
        help_heading = "Shingles"
    )]
    pub size_groups: SizeGroups,
    /// Commit after about so many bytes of documents
    ///
    /// What is lost at most by a crash while reading. Larger makes fewer files. Example:
    /// --segment-size 512MiB for crawls of hundreds of gigabytes.
    #[arg(
        long,
        value_name = "SIZE",
        default_value_t = ByteSize::mib(64),
        hide_short_help = true,
        help_heading = "Means"
    )]
    pub segment_size: ByteSize,
    /// Keep the text of the documents, so that other methods need not read the inputs again
    ///
    /// Of every document that is no exact duplicate: decoded, without markup, white space folded, behind
    /// zstd in the output directory. With or without it is another collection.
    #[arg(long, help_heading = "Reading")]
    pub keep_text: bool,
    /// Fail if any record is rejected; without, rejects are only reported
    ///
    /// The run ends after reading, with rejects.jsonl written. Notices about documents that are used do
    /// not count.
    #[arg(long)]
    pub strict: bool,
}

/// What is asked of the collection.
#[derive(Debug, Args)]
pub struct QuestionOptions {
    /// List pairs of this resemblance or more
    ///
    /// A decimal or a fraction, above 0, at most 1; compared in integers, so 0.85 is 17/20 and nothing
    /// is rounded. Example: --threshold 2/3
    #[arg(
        short,
        long,
        value_name = "T",
        default_value = "0.85",
        help_heading = "Pairs"
    )]
    pub threshold: Threshold,
    /// What is compared with the threshold: resemblance, containment, cosine, s1:N, s2, s3
    /// or s4
    ///
    /// Of two documents' shingle sets A and B: resemblance is shared / union, containment shared / the
    /// smaller, cosine shared / sqrt(|A| |B|). Of Bernstein & Zobel 2006: s1:N lists pairs that share at
    /// least N shingles (the threshold does not apply), s2 is shared / the lesser length in words, s3
    /// shared / the mean length in words, and s4 as s3, but each shared shingle counts 1 / the number of documents
    /// that have it (at most 0.5). All are exact.
    /// Example: --shingle-size 8 --score s3 --threshold 0.25
    #[arg(
        long,
        value_name = "SCORE",
        default_value = "resemblance",
        hide_short_help = true,
        help_heading = "Pairs"
    )]
    pub score: Measure,
    /// Which fingerprints take part: full, 1/N, 1/N:CLASS, a list of them, broder97, or a plan's file
    ///
    /// full is exact. 1/N takes one of N classes of fingerprints (class 0, or CLASS); resemblance is then
    /// an estimate: pairs are missed and false ones listed, most of all of short documents. A list has one
    /// ratio for each size group, and two documents are compared on the coarser of theirs. broder97: 1/25,
    /// at most 400 fingerprints a document, and --max-postings 1000. A name that ends in .toml is a plan
    /// that `lookalike plan` made for this collection. Example: --sampling 1/16:3
    #[arg(
        long,
        value_name = "SAMPLING",
        default_value = "full",
        help_heading = "Pairs"
    )]
    pub sampling: SamplingChoice,
    /// Sample as little as keeps this precision in every size group
    ///
    /// A plan is made on a subset of the documents once they are read (see `lookalike plan`), then applied.
    /// It is kept in plan.toml and summary.json. A small collection has too few pairs to plan by: all of its
    /// shingles are taken then, with a warning. Example: --precision 0.85
    #[arg(
        long,
        value_name = "P",
        conflicts_with = "sampling",
        help_heading = "Pairs"
    )]
    pub precision: Option<Threshold>,
    /// With --precision: keep this recall too
    #[arg(
        long,
        value_name = "R",
        requires = "precision",
        hide_short_help = true,
        help_heading = "Pairs"
    )]
    pub recall: Option<Threshold>,
    /// With --precision: share of the documents to plan on
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "10%",
        requires = "precision",
        hide_short_help = true,
        help_heading = "Pairs"
    )]
    pub subset: Share,
    /// With --precision: which random subset
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "precision",
        hide_short_help = true,
        help_heading = "Pairs"
    )]
    pub plan_seed: u64,
    /// With --precision: ratios to choose from
    #[arg(
        long,
        value_name = "LIST",
        default_value = "1/2,1/4,1/8,1/16,1/32",
        requires = "precision",
        hide_short_help = true,
        help_heading = "Pairs"
    )]
    pub ratios: Ratios,
    /// Check what sampling finds against the full fingerprint sets
    ///
    /// No pair listed is false then, and resemblances are exact; recall is still the sample's. What was found
    /// wrongly costs a look-up. Example: --sampling 1/16 --verified --candidates 0.7
    #[arg(long, help_heading = "Pairs")]
    pub verified: bool,
    /// With --verified: check pairs whose estimate is this or more [default: the threshold]
    ///
    /// Estimates err to both sides: with less than the threshold more look-ups are made, and more of the
    /// true pairs found. `lookalike study` says how many.
    #[arg(long, value_name = "C", hide_short_help = true, help_heading = "Pairs")]
    pub candidates: Option<Threshold>,
    /// How pairs are found: auto, prefix, count or probabilistic
    ///
    /// All find the same pairs. prefix: only the rarest fingerprints of each document are looked at, and
    /// what they find is verified. count: the shared fingerprints of every two documents are counted;
    /// its time grows with the square of the number of documents that share a fingerprint. auto: whichever
    /// is expected to take less; prefix nearly always, count where thousands of documents are alike.
    /// probabilistic: as count, after a pass that counts by a hash of each pair, which keeps most pairs
    /// below the threshold off the disk where memory does not hold all postings.
    #[arg(
        long,
        value_name = "JOIN",
        default_value = "auto",
        hide_short_help = true,
        help_heading = "Pairs"
    )]
    pub join: Join,
    /// Which pairs are listed: all, or none for clusters alone
    ///
    /// none: pairs that cannot change a cluster are not looked at, and pairs.tsv has no lines. For
    /// collections with thousands of pages of one template, whose pairs are millions. Clusters are the same.
    #[arg(
        long,
        value_name = "PAIRS",
        default_value = "all",
        help_heading = "Pairs"
    )]
    pub pairs: Pairs,
    /// Drop fingerprints of more than N documents
    ///
    /// As Broder et al. 1997, by counting, and lossy: resemblance is underestimated and pairs are
    /// missed. The ledger says how many pair tokens were lost. Example: --max-postings 1000
    #[arg(long, value_name = "N", help_heading = "Pairs")]
    pub max_postings: Option<u32>,
    /// When records go through sorted runs on disk: auto or always
    ///
    /// auto: when --memory does not take them in a few passes over the sets. Results are the same.
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true,
        help_heading = "Means"
    )]
    pub spill: Spill,
    /// Merge at most so many runs at once, below what memory allows
    ///
    /// For measurements; results are the same. Example: --fan-in 2
    #[arg(
        long,
        value_name = "RUNS",
        hide_short_help = true,
        help_heading = "Means"
    )]
    pub fan_in: Option<usize>,
}

/// What may be used.
#[derive(Debug, Args)]
pub struct MeansOptions {
    /// Memory for buffers [default: a quarter of what is available, 256MiB to 4GiB]
    ///
    /// The process stays under this and 64 MiB. Mapped files are not counted: the kernel drops their
    /// pages when it needs them. Results are the same for every value; one that is too small is
    /// refused with the least that will do. A SIZE is a number of bytes, or has a unit: KiB, MiB, GiB or TiB
    /// (powers of 1,024; K, M, G, T for short), or kB, MB, GB or TB (powers of 1,000). Example: --memory 2GiB
    #[arg(long, value_name = "SIZE", help_heading = "Means")]
    pub memory: Option<ByteSize>,
    /// Worker threads [default: all cores]
    ///
    /// With 1, everything runs on one. Results are the same for every value. Example: --threads 8
    #[arg(long, value_name = "N", help_heading = "Means")]
    pub threads: Option<usize>,
    /// Begin even where the disk seems too small for what a run will write
    ///
    /// Before reading and before sorting, what the rest of the run needs is compared with what the
    /// disk of DIR has left. The first time it is estimated from samples of the inputs; exact duplicates
    /// make it too high. A run that finds the disk full stops, and goes on when there is space.
    #[arg(long, hide_short_help = true, help_heading = "Means")]
    pub ignore_disk_space: bool,
    /// Sort in a directory below DIR, on a faster disk for example [default: in the output directory]
    ///
    /// Takes 24 bytes for each document, and results are the same. The directory is called lookalike- and six
    /// characters, and is removed when it is done with; what a killed process leaves may be removed at any time.
    /// Sorted runs stay in the output directory: a command that was stopped goes on from them.
    /// Example: --scratch /mnt/nvme
    #[arg(
        long,
        value_name = "DIR",
        hide_short_help = true,
        help_heading = "Means"
    )]
    pub scratch: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the summary as JSON instead of the ledger
    #[arg(long)]
    pub json: bool,
}

/// Whose recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RecipeChoice {
    /// Chowdhury et al. 2002
    Chowdhury,
    /// Cherkasova et al. 2009
    Cherkasova,
}

/// Options of `perturb`.
#[derive(Debug, Args)]
pub struct PerturbOptions {
    /// Files or directories, of any format that `run` reads; they are read twice
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Directory of the corpus: made if missing; what an earlier perturb wrote there is replaced
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// How copies are made: chowdhury or cherkasova
    #[arg(long, value_name = "RECIPE", hide_possible_values = true)]
    pub recipe: RecipeChoice,
    /// Documents to copy [default: chowdhury: 10, those nearest to the average length; cherkasova: all]
    ///
    /// For cherkasova the first of the input. No two have the same text or docno, and none is empty.
    #[arg(long, value_name = "N")]
    pub originals: Option<u64>,
    /// Seed of all that is drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Write the documents that are not copied too, to background.jsonl
    ///
    /// The default of chowdhury; with cherkasova and --originals only if asked for.
    #[arg(long, overrides_with = "no_background")]
    pub background: bool,
    /// Do not
    #[arg(long, overrides_with = "background")]
    pub no_background: bool,
    /// Copies of each document, at most 1000 [default: 10]
    #[arg(long, value_name = "N", help_heading = "Chowdhury")]
    pub copies: Option<u32>,
    /// Look at every I-th word [default: 10]
    #[arg(long, value_name = "I", help_heading = "Chowdhury")]
    pub every: Option<u32>,
    /// Edit a word looked at if a number drawn from 1 to 10 is above this [default: 5]
    ///
    /// It is removed, swapped with the next, or a word of the collection is added behind it, each as often.
    #[arg(long, value_name = "A", help_heading = "Chowdhury")]
    pub alpha: Option<u32>,
    /// What an edit is: insert or remove [default: insert]
    #[arg(long, value_name = "EDIT", help_heading = "Cherkasova")]
    pub edit: Option<Operation>,
    /// Edits of the copies, one copy for each number [default: 1..50]
    ///
    /// A document of so many words or fewer has no copy with so many removed. Example: --edits 1,2,5,10..20
    #[arg(long, value_name = "LIST", help_heading = "Cherkasova")]
    pub edits: Option<EditCounts>,
    /// Where edits are: random, or uniform for evenly spaced [default: random]
    #[arg(long, value_name = "SPREAD", help_heading = "Cherkasova")]
    pub spread: Option<Spread>,
    /// The word that is inserted [default: a]
    #[arg(long, value_name = "WORD", help_heading = "Cherkasova")]
    pub word: Option<String>,
    /// Read every input as this: trec-web, trec-sgml, warc, arc, jsonl, text or html
    #[arg(long, value_name = "FORMAT", help_heading = "Reading")]
    pub format: Option<Format>,
    /// JSON field with the text, as of `run`
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub text_field: Option<String>,
    /// JSON field with the docno, as of `run`
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub id_field: Option<String>,
    /// Reject documents of more bytes, before decoding
    #[arg(long, value_name = "SIZE", default_value_t = ByteSize::mib(64), help_heading = "Reading")]
    pub max_document: ByteSize,
    /// Give up a file that decompresses to more than N times its size
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        hide_short_help = true,
        help_heading = "Reading"
    )]
    pub max_ratio: u64,
    /// Guess the charset of a document that declares none and is not UTF-8
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = true,
        action = clap::ArgAction::Set,
        hide_short_help = true,
        help_heading = "Reading"
    )]
    pub detect_charset: bool,
    /// Memory for buffers and tables [default: a quarter of what is available, 256MiB to 4GiB]
    ///
    /// The corpus is the same for every value; one that is too small is refused with the least that will do.
    #[arg(long, value_name = "SIZE", help_heading = "Means")]
    pub memory: Option<ByteSize>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print perturb.json
    #[arg(long)]
    pub json: bool,
}
