//! Writes the generated crawl: a collection in TREC web form, of any size, that resembles TREC's
//! .GOV in what costs time and memory. docs/scale.md says what it models, and what it does not.
//!
//!     cargo run --release --example generate-crawl -- --bytes 13GB --seed 1 --out crawl --gzip
//!
//! The directory holds `bundles/GX000/00`, `bundles/GX000/01` ... of 1,600 documents each,
//! `stats.json`, and `truth.tsv.gz`, which says of every document what it is:
//!
//! - `original`: a text of its own.
//! - `edited`: the text of the original in column `of`, changed. Column `edit`: single words
//!   (`words`), paragraphs put elsewhere (`moves`), or `both`; `rate`: the share of words that are
//!   replaced, removed or followed by a new one; `place`: on the same host, so within the same
//!   navigation and closing paragraph, or on another.
//! - `form`: one of a family of pages that are equal but for a few numbers.
//! - `exact`: the page in column `of` again, under another address.
//!
//! With `--short` it makes `texts/00000.jsonl` ... of 100,000 texts of 10 to 40 words each, in
//! place of pages: originals, edited versions and exact duplicates.
//!
//! The bytes depend on seed, shares and number of documents alone. A smaller crawl is the beginning
//! of a larger one, but that its last bundle may be cut short.
//!
//! Outputs stay where they are: the directory must be empty or not there.

#[path = "generate-crawl/mod.rs"]
mod crawl;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crawl::{Crawl, MEAN_DOCUMENT, Parameters, short};

/// Write a crawl that is made up, of any size, in TREC web form
#[derive(Parser)]
#[command(name = "generate-crawl")]
struct Arguments {
    /// Make about so many bytes, before compression: 13GB is 13,000,000,000, 13GiB is 13 * 2^30
    ///
    /// The size only decides how many documents there are, by their mean size: expect a deviation
    /// of a few percent, less of large crawls.
    #[arg(long, value_parser = bytes, required_unless_present = "documents")]
    bytes: Option<u64>,
    /// Make texts of 10 to 40 words as JSON lines, in place of pages
    #[arg(long, conflicts_with = "forms")]
    short: bool,
    /// Make so many documents
    #[arg(long, conflicts_with = "bytes", value_parser = clap::value_parser!(u64).range(1..1 << 28))]
    documents: Option<u64>,
    /// Another seed is another crawl
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The directory to make, empty or not there
    #[arg(long)]
    out: PathBuf,
    /// Compress every bundle, gzip level 1
    #[arg(long)]
    gzip: bool,
    /// Bundles made at a time; it changes no byte
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=256))]
    threads: u64,
    /// The share of documents that are edited versions of another
    #[arg(long, default_value_t = 0.15, value_parser = share)]
    edited: f64,
    /// The share of documents that are exact duplicates of another; .GOV has 0.09
    #[arg(long, default_value_t = 0.09, value_parser = share)]
    exact: f64,
    /// The share of documents that differ from others in a few numbers only
    #[arg(long, default_value_t = 0.02, value_parser = share)]
    forms: f64,
}

/// A size with decimal units, as collections are told in, or binary ones.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let unit: u64 = match &text[digits..] {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        other => {
            return Err(format!(
                "unknown unit `{other}`; use B, KB, MB, GB, TB, KiB ... TiB"
            ));
        }
    };
    let number: u64 = text[..digits]
        .parse()
        .map_err(|_| format!("`{text}` is not a size; write 100MB or 13GB"))?;
    let bytes = number.checked_mul(unit).filter(|&bytes| bytes <= 3 << 40);
    bytes
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| format!("`{text}` is not between 1 byte and 3 TiB"))
}

fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share| (0.0..=0.3).contains(share));
    share.ok_or_else(|| format!("`{text}` is not a share of 0 to 0.3"))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let documents = match (arguments.documents, arguments.bytes) {
        (Some(documents), _) => documents,
        (None, bytes) => bytes.unwrap_or(0).div_ceil(if arguments.short {
            short::MEAN_DOCUMENT
        } else {
            MEAN_DOCUMENT
        }),
    };
    let parameters = Parameters {
        seed: arguments.seed,
        edited: arguments.edited,
        exact: arguments.exact,
        forms: arguments.forms,
        short: arguments.short,
    };
    let crawl = Crawl::new(parameters, documents);
    match crawl.write(&arguments.out, arguments.gzip, arguments.threads as usize) {
        Ok(counts) => {
            eprintln!(
                "{} documents, {} bytes, {} words in {}",
                counts.documents,
                counts.bytes,
                counts.words,
                arguments.out.display()
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {}: {}", error.path.display(), error.source);
            ExitCode::FAILURE
        }
    }
}
