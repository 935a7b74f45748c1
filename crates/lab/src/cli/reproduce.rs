//! `reproduce`: the tables and figures of the papers on a collection.

use std::path::PathBuf;

use crate::report;
use crate::reproduce::Paper;

use lookalike::cli::command::{Args, Command, Context, Out, Result};

/// Options of `reproduce`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// chowdhury-2002, bernstein-2006, ye-2008, kolcz-2008, cherkasova-2009, or all
    // A path, because one argument gives all of them.
    #[arg(value_name = "PAPER", value_parser = papers)]
    papers: std::vec::Vec<Paper>,
    /// Output directory of `stage ingest --keep-text`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Directory for the tables and pages, which is created if it is missing
    ///
    /// Papers that an earlier reproduce of the same collection wrote there stay.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// A label for each document, such as a topic, a sender or "spam"
    ///
    /// As for `lookalike evaluate --families`: lines of DOCNO LABEL. A cluster is pure if all of its
    /// documents have the same label. In Tables 2 and 3 of kolcz-2008, documents with the label spam
    /// or cluster-spam are looked for among all others.
    ///
    /// Example: --labels topics.tsv
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
}

/// One paper or all of them.
fn papers(text: &str) -> std::result::Result<Vec<Paper>, String> {
    match text {
        "all" => Ok(Paper::ALL.to_vec()),
        text => text.parse().map(|paper| vec![paper]),
    }
}

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let (papers, labels) = (&self.papers, self.labels.as_deref());
        let made =
            report::write_reproduction(papers, &self.directory, &self.output, labels, context)?;
        out.result(&made, || {
            let claims = report::reproduced(&made, papers, out.columns());
            let page = match papers[..] {
                [paper] => format!("{paper}.html"),
                _ => report::REPRODUCE_PAGE.into(),
            };
            Ok(format!(
                "{claims}page in {}\n",
                self.output.join(page).display()
            ))
        })
    }
}
