//! `reproduce`: the tables and figures of the papers on a collection; and `formulas`: their formulas
//! with chosen values.

use std::path::PathBuf;
use std::str::FromStr;

use crate::formulas::{FormulaPaper, FormulaValues};
use crate::report;
use crate::reproduce::Paper;
use lookalike::cli::command::{Args, Command, Context, Out, Result};
use lookalike_base::refuse;

/// Options of `reproduce`.
#[derive(Debug, Args)]
pub(crate) struct ReproduceOptions {
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

impl Command for ReproduceOptions {
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

/// Options of `formulas`.
#[derive(Debug, Args)]
pub(crate) struct FormulasOptions {
    /// kolcz-2008, bernstein-2006 or fetterly-2003
    #[arg(value_name = "PAPER")]
    paper: FormulaPaper,
    /// Values in place of the paper's, as NAME=NUMBER,NUMBER,...
    ///
    /// kolcz-2008: changes (changed words of the lexicon; 2,5,10,20,50), lexicons (numbers of
    /// randomised lexicons; 1,2,5,10), terms (numbers of terms of the lexicon; 1000,10000,100000),
    /// left-out (share of terms left out of a lexicon; 0.33).
    ///
    /// bernstein-2006: chunks (that two documents share; 1024), every (one chunk is selected in this
    /// number; 256), shared (what a pair must share at least; 1).
    ///
    /// fetterly-2003: resemblance (0.5,0.6,0.7,0.8,...,0.99), samples (in a super-shingle; 14),
    /// super-shingles (of a document; 6), shared (2).
    #[arg(value_name = "VALUES")]
    values: Vec<String>,
    /// Print JSON: a list with the place, variables and result of each formula
    #[arg(long)]
    json: bool,
}

fn list<T: FromStr>(text: &str, to: &mut Vec<T>) -> Option<()> {
    *to = text
        .split(',')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    Some(())
}

fn one<T: FromStr>(text: &str, to: &mut T) -> Option<()> {
    *to = text.parse().ok()?;
    Some(())
}

impl Command for FormulasOptions {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let rows = self.values()?.rows(self.paper, context.stop)?;
        out.result(&rows, || Ok(report::formulas(&rows, out.columns())))
    }
}

impl FormulasOptions {
    fn values(&self) -> Result<FormulaValues> {
        let names = match self.paper {
            FormulaPaper::Kolcz2008 => "changes lexicons terms left-out",
            FormulaPaper::Bernstein2006 => "chunks every shared",
            FormulaPaper::Fetterly2003 => "resemblance samples super-shingles shared",
        };
        let mut values = FormulaValues::of(self.paper);
        for given in &self.values {
            let (name, text) = given.split_once('=').unwrap_or((given, ""));
            let known = names.split(' ').any(|known| known == name);
            let set = match name {
                _ if !known => None,
                "changes" => list(text, &mut values.changes),
                "lexicons" => list(text, &mut values.lexicons),
                "terms" => list(text, &mut values.terms),
                "left-out" => one(text, &mut values.left_out),
                "chunks" => list(text, &mut values.chunks),
                "every" => list(text, &mut values.every),
                "shared" => one(text, &mut values.shared),
                "resemblance" => list(text, &mut values.resemblance),
                "samples" => one(text, &mut values.samples),
                _ => one(text, &mut values.super_shingles),
            };
            if set.is_none() {
                let limit = match known {
                    true => "give numbers, with commas between them".into(),
                    false => format!("its formulas have {}", names.replace(' ', ", ")),
                };
                return refuse("VALUES", given, limit);
            }
        }
        Ok(values)
    }
}
