//! `export`: `graph` prints the pairs of an output directory as a graph, and `versions` says what changed
//! between crawls.

use std::path::PathBuf;

use crate::report::page::{PageConfig, Replay};
use crate::report::{GraphFormat, changes, graph, write_graph, write_versions};
use lookalike_engine::pipeline::{open_catalogued, open_for, open_shared};
use lookalike_tasks::versions::{By, VersionsConfig};

use super::command::{Args, Command, Context, Out, Result};

/// Options of `versions`.
#[derive(Debug, Args)]
pub struct VersionsOptions {
    /// Output directory of an earlier `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// File to write: .html, .tsv or .parquet (repeatable)
    ///
    /// The page shows what changed, with a filter and with both texts side by side; the table has
    /// all rows. Without a file, only the counts of each crawl are printed.
    ///
    /// Example: --output versions.tsv --output versions.html
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// What names a page: address or id [default: address, if there is one]
    ///
    /// The scheme and the host of an address do not depend on case, and its fragment does not count.
    /// The name of a file that is one document is its path in the folder of its crawl.
    ///
    /// Example: --by id
    #[arg(long, value_name = "NAME")]
    by: Option<By>,
    /// Only say how each page was at this date
    ///
    /// Later captures are left out, and each page has one row: its last version.
    ///
    /// Example: --at 2024-01-31
    #[arg(long, value_name = "DATE")]
    at: Option<String>,
    /// A crawl to compare (repeatable) [default: all, by their dates]
    ///
    /// The crawls are named by their folders or files, and are compared in the given order. Without
    /// dates, the default is the order of the inputs, which is that of their names in one command.
    ///
    /// Example: --crawl jan --crawl feb
    #[arg(long, value_name = "CRAWL")]
    crawl: Vec<String>,
    /// Pairs of texts on the page
    ///
    /// Example: --samples 200
    #[arg(long, value_name = "N", default_value_t = 50)]
    samples: usize,
    /// Link captures to a web archive: an address with {timestamp} and {url}
    ///
    /// Example: --replay https://web.archive.org/web/{timestamp}/{url}
    #[arg(long, value_name = "ADDRESS")]
    #[allow(
        rustdoc::bare_urls,
        reason = "a terminal shows the example as it is typed"
    )]
    replay: Option<Replay>,
}

impl Command for VersionsOptions {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let config = VersionsConfig {
            by: self.by,
            at: self.at.clone(),
            crawls: self.crawl.clone(),
        };
        let look = PageConfig {
            pairs: self.samples,
            replay: self.replay.clone(),
            ..PageConfig::default()
        };
        let workspace = open_catalogued(&self.directory, context)?;
        let summary = write_versions(&workspace, &config, &self.output, &look, context)?;
        let place = self.output.first().map(PathBuf::as_path);
        out.found(place, &summary, || Ok(changes(&summary, out.columns())))
    }
}

/// Options of `graph`.
#[derive(Debug, Args)]
pub struct GraphOptions {
    /// Output directory of an earlier `run`, or of a method
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Format: dot (Graphviz), graphml or tsv
    ///
    /// Example: --format tsv
    #[arg(long, value_name = "FORMAT", default_value_t = GraphFormat::Dot)]
    format: GraphFormat,
    /// File to write [default: standard output]
    ///
    /// If the file is in DIR, the command needs DIR for itself, because the manifest there names
    /// the file. Otherwise it only reads DIR.
    ///
    /// Example: --output pairs.dot
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Command for GraphOptions {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        if let Some(output) = &self.output {
            let mut workspace = open_for(&self.directory, output, context)?;
            return write_graph(&mut workspace, self.format, output, context);
        }
        let workspace = open_shared(&self.directory, context)?;
        // Whole lines, many at a time.
        let mut text = Vec::new();
        graph(&workspace, self.format, context, |bytes| {
            text.extend_from_slice(bytes);
            match text.len() >= AT_ONCE && bytes.ends_with(b"\n") {
                true => out.say(&String::from_utf8_lossy(&std::mem::take(&mut text))),
                false => Ok(()),
            }
        })?;
        out.say(&String::from_utf8_lossy(&text))
    }
}

/// Bytes that are collected before they are printed.
const AT_ONCE: usize = 64 << 10;
