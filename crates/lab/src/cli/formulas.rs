//! `formulas`: the formulas of the papers with chosen values.

use std::str::FromStr;

use crate::formulas::{FormulaPaper, FormulaValues};
use crate::report;
use clap::Args;
use lookalike_base::progress::Context;
use lookalike_base::{Error, Result};

use lookalike::cli::{Command, Out, Setup};

/// Options of `formulas`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// kolcz-2008, bernstein-2006 or fetterly-2003
    #[arg(value_name = "PAPER")]
    paper: FormulaPaper,
    /// kolcz-2008: changed words of the lexicon [default: 2,5,10,20,50]
    #[arg(long, value_name = "N,...")]
    changes: Option<List<u32>>,
    /// kolcz-2008: numbers of randomised lexicons [default: 1,2,5,10]
    #[arg(long, value_name = "N,...")]
    lexicons: Option<List<u32>>,
    /// kolcz-2008: numbers of terms of the lexicon [default: 1000,10000,100000]
    #[arg(long, value_name = "N,...")]
    terms: Option<List<u64>>,
    /// kolcz-2008: share of terms left out of a lexicon [default: 0.33]
    #[arg(long, value_name = "SHARE")]
    left_out: Option<f64>,
    /// bernstein-2006: chunks that two documents share [default: 1024]
    #[arg(long, value_name = "N,...")]
    chunks: Option<List<u64>>,
    /// bernstein-2006: one chunk is selected in N [default: 256]
    #[arg(long, value_name = "N,...")]
    every: Option<List<u64>>,
    /// What a pair must share at least [default: 1; fetterly-2003: 2]
    #[arg(long, value_name = "N")]
    shared: Option<u32>,
    /// fetterly-2003: resemblances [default: 0.5,0.6,0.7,0.8,...,0.99]
    #[arg(long, value_name = "SHARE,...")]
    resemblance: Option<List<f64>>,
    /// fetterly-2003: samples in a super-shingle [default: 14]
    #[arg(long, value_name = "N")]
    samples: Option<u32>,
    /// fetterly-2003: super-shingles of a document [default: 6]
    #[arg(long, value_name = "N")]
    super_shingles: Option<u32>,
    /// Print JSON: a list with the place, variables and result of each formula
    #[arg(long)]
    json: bool,
}

/// Values separated by commas.
#[derive(Clone, Debug)]
struct List<T>(Vec<T>);

impl<T: FromStr> FromStr for List<T> {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<List<T>, String> {
        let one = |part: &str| {
            let value = part.parse();
            value.map_err(|_| format!("`{part}` is not a number of the list"))
        };
        text.split(',')
            .map(one)
            .collect::<std::result::Result<_, _>>()
            .map(List)
    }
}

/// Puts values that were given in the place of others.
fn set<T: Clone>(to: &mut Vec<T>, given: &Option<List<T>>) {
    if let Some(List(all)) = given {
        to.clone_from(all);
    }
}

impl Command for Options {
    fn setup(&self) -> Setup {
        Setup::printing(self.json)
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        self.check()?;
        let mut values = FormulaValues::of(self.paper);
        set(&mut values.changes, &self.changes);
        set(&mut values.lexicons, &self.lexicons);
        set(&mut values.terms, &self.terms);
        set(&mut values.chunks, &self.chunks);
        set(&mut values.every, &self.every);
        set(&mut values.resemblance, &self.resemblance);
        values.left_out = self.left_out.unwrap_or(values.left_out);
        values.shared = self.shared.unwrap_or(values.shared);
        values.samples = self.samples.unwrap_or(values.samples);
        values.super_shingles = self.super_shingles.unwrap_or(values.super_shingles);
        let rows = values.rows(self.paper, context.stop)?;
        out.result(&rows, || Ok(report::formulas(&rows, out.columns())))
    }
}

impl Options {
    /// Refuses options of another paper.
    fn check(&self) -> Result<()> {
        use FormulaPaper::*;
        let given: [(&str, bool, &[FormulaPaper]); 10] = [
            ("changes", self.changes.is_some(), &[Kolcz2008]),
            ("lexicons", self.lexicons.is_some(), &[Kolcz2008]),
            ("terms", self.terms.is_some(), &[Kolcz2008]),
            ("left-out", self.left_out.is_some(), &[Kolcz2008]),
            ("chunks", self.chunks.is_some(), &[Bernstein2006]),
            ("every", self.every.is_some(), &[Bernstein2006]),
            (
                "shared",
                self.shared.is_some(),
                &[Bernstein2006, Fetterly2003],
            ),
            ("resemblance", self.resemblance.is_some(), &[Fetterly2003]),
            ("samples", self.samples.is_some(), &[Fetterly2003]),
            (
                "super-shingles",
                self.super_shingles.is_some(),
                &[Fetterly2003],
            ),
        ];
        for (name, given, papers) in given {
            if given && !papers.contains(&self.paper) {
                let names: Vec<String> = papers.iter().map(ToString::to_string).collect();
                let limit = format!(
                    "none of its formulas has --{name}; use {}",
                    names.join(" or ")
                );
                return Err(Error::parameter("PAPER", self.paper).because(limit));
            }
        }
        Ok(())
    }
}
