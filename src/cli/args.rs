//! Flags and their help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use lookalike::budget::ByteSize;
use lookalike::collection::SizeGroups;
use lookalike::ids::{FingerprintKind, Threshold};
use lookalike::join::Join;
use lookalike::parse::TokenKind;
use lookalike::read::Format;
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
    Run(RunOptions),
    /// Only read INPUT into the collection in DIR
    Ingest(IngestOptions),
    /// Only find the pairs of a collection in DIR (from whatever of it is there)
    Join(JoinOptions),
    /// Only make clusters and result files of the pairs in DIR
    Cluster(ClusterOptions),
    /// What DIR holds and what is still to be done
    Status(StatusOptions),
    /// Print any file of an output directory as text
    Inspect(InspectOptions),
    /// Read every committed file of DIR again and check it
    Verify(VerifyOptions),
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

/// Options of `cluster`.
#[derive(Debug, Args)]
pub struct ClusterOptions {
    /// Output directory of an earlier `join` or `run`
    pub directory: PathBuf,
    /// What may be used.
    #[command(flatten)]
    pub means: MeansOptions,
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

/// What is read, and how documents become fingerprint sets.
#[derive(Debug, Args)]
pub struct InputOptions {
    /// Files, directories, or `-` for standard input
    ///
    /// TREC web and SGML bundles, WARC, ARC and WET, JSON and JSONL, plain text and HTML files;
    /// plain or compressed by gzip, zstd, bzip2, xz or compress. Told apart by content.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Output directory: made if missing; what it holds of the same run is reused
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Read every input as this: trec-web, trec-sgml, warc, arc, jsonl, text or html
    #[arg(long, value_name = "FORMAT", help_heading = "Reading")]
    pub format: Option<Format>,
    /// JSON field with the text, such as `text` or `page.body` [default: text, contents, content,
    /// body, html ...]
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub text_field: Option<String>,
    /// JSON field with the docno [default: id, _id, docno ...]
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub id_field: Option<String>,
    /// JSON field with the address [default: url, uri ...]
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub url_field: Option<String>,
    /// Reject documents of more bytes, before decoding
    #[arg(long, value_name = "SIZE", default_value_t = ByteSize::mib(64), help_heading = "Reading")]
    pub max_document: ByteSize,
    /// Give up a file that decompresses to more than N times its size (after the first 16 MiB)
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        help_heading = "Reading"
    )]
    pub max_ratio: u64,
    /// Guess the charset of a document that declares none and is not UTF-8 from its bytes; without,
    /// it is read as windows-1252
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set, help_heading = "Reading")]
    pub detect_charset: bool,
    /// What a token is: words (of letters and digits, lower-cased), whitespace (what stands between
    /// white space), or bytes:N (windows of N bytes are the shingles)
    #[arg(
        long,
        value_name = "KIND",
        default_value = "words",
        help_heading = "Shingles"
    )]
    pub tokens: TokenKind,
    /// Tokens in a shingle
    #[arg(
        long,
        value_name = "W",
        default_value_t = 10,
        help_heading = "Shingles"
    )]
    pub shingle_size: u32,
    /// Documents of fewer tokens than a shingle: one shingle of all (whole), or none (skip)
    #[arg(
        long,
        value_name = "MODE",
        default_value = "whole",
        help_heading = "Shingles"
    )]
    pub short: Short,
    /// Hash of a shingle: 64 (bits of xxh3) or md5 (128 bits)
    #[arg(
        long,
        value_name = "HASH",
        default_value = "64",
        help_heading = "Shingles"
    )]
    pub fingerprint: FingerprintKind,
    /// Seed of the 64-bit hash
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Shingles")]
    pub seed: u64,
    /// Rising bounds, in words, of the size groups that documents are counted in
    #[arg(long, value_name = "LIST", default_value_t = SizeGroups::default(), help_heading = "Shingles")]
    pub size_groups: SizeGroups,
    /// Commit after about so many bytes of documents
    #[arg(long, value_name = "SIZE", default_value_t = ByteSize::mib(64), help_heading = "Means")]
    pub segment_size: ByteSize,
    /// Fail if any record is rejected; without, rejects are only reported
    #[arg(long)]
    pub strict: bool,
}

/// What is asked of the collection.
#[derive(Debug, Args)]
pub struct QuestionOptions {
    /// List pairs of this resemblance or more: a decimal or a fraction, compared exactly
    #[arg(
        short,
        long,
        value_name = "T",
        default_value = "0.85",
        help_heading = "Pairs"
    )]
    pub threshold: Threshold,
    /// full, 1/N (class 0), 1/N:CLASS, or broder97 (1/25, at most 400 a document, --max-postings
    /// 1000). Anything but full gives estimates
    #[arg(
        long,
        value_name = "SAMPLING",
        default_value = "full",
        help_heading = "Pairs"
    )]
    pub sampling: Sampling,
    /// How pairs are found: count
    #[arg(
        long,
        value_name = "JOIN",
        default_value = "count",
        help_heading = "Pairs"
    )]
    pub join: Join,
    /// Drop fingerprints of more than N documents (lossy; what is lost is counted)
    #[arg(long, value_name = "N", help_heading = "Pairs")]
    pub max_postings: Option<u32>,
    /// Merge at most so many runs at once, below what memory allows
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
    /// pages when it needs them.
    #[arg(long, value_name = "SIZE", help_heading = "Means")]
    pub memory: Option<ByteSize>,
    /// Worker threads [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Means")]
    pub threads: Option<usize>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the summary as JSON instead of the ledger
    #[arg(long)]
    pub json: bool,
}
