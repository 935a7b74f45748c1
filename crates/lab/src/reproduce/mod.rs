//! The tables and figures of the papers on a collection of the reader, beside the published values.
//!
//! # Source
//! Each paper's module names the tables, figures and sections that it reproduces:
//! Ye, Wen & Ma 2008; Chowdhury, Frieder, Grossman & McCabe 2002; Kołcz & Chowdhury 2008; Bernstein
//! & Zobel 2006; Cherkasova, Eshghi, Morrey, Tucek & Veitch 2009.
//!
//! # In and out
//! In: a collection that keeps its texts, and perhaps a label of each document.
//! Out: a [`Reproduction`]: an [`Exhibit`] for each table and figure of the paper, and
//! its [`Claim`]s.
//!
//! # Algorithm
//! A paper's module repeats the experiments of the paper: methods, edited copies, trials
//! ([`Bench`]), and measures the rows of its tables and the values of its claims. The paper's file
//! has the titles, the columns, the published values, and the claims with their conditions, and
//! `published` adds the measured values to them. The values of a claim are computed from counts
//! alone, so a test can show one collection on which the claim holds and another on which it fails.
//!
//! # Invariants
//! - Everything but seconds depends only on the collection and on the facts known about it.
//! - A value of a paper is in a column of its own, and never takes part in a measured one.
//! - Methods and copies that exist are reused; a stopped reproduction continues.
//!
//! # Cost
//! That of the methods and trials. The exhibits take little memory.
//!
//! # Errors
//! Those of [`lookalike_methods::run`], [`crate::compare::run`] and
//! [`crate::perturb::run`].

mod bench;
mod bernstein;
mod cherkasova;
mod chowdhury;
mod kolcz;
mod model;
mod published;
mod ye;

use std::path::Path;

use crate::study;
use lookalike_base::{Context, Result, keywords};
use lookalike_engine::collection::Catalogue;
use lookalike_engine::pipeline;

pub use bench::{Bench, Copies, MADE};
pub use model::{Cell, Claim, Column, Exhibit, Finding, Form, Plotted, Reproduction};
pub(crate) use model::{cells, rows, table};
use published::{Measured, Published};

/// The name of the stage in progress and messages.
pub const STAGE: &str = "reproduce";

keywords! {
    /// A paper.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Paper: "is not a paper; use" {
        /// Chowdhury et al. 2002.
        Chowdhury2002 = "chowdhury-2002",
        /// Bernstein & Zobel 2006.
        Bernstein2006 = "bernstein-2006",
        /// Ye, Wen & Ma 2008.
        Ye2008 = "ye-2008",
        /// Kołcz & Chowdhury 2008.
        Kolcz2008 = "kolcz-2008",
        /// Cherkasova et al. 2009.
        Cherkasova2009 = "cherkasova-2009",
    }
}

impl Paper {
    /// Authors and year.
    pub fn authors(self) -> &'static str {
        match self {
            Paper::Chowdhury2002 => "Chowdhury, Frieder, Grossman & McCabe 2002",
            Paper::Bernstein2006 => "Bernstein & Zobel 2006",
            Paper::Ye2008 => "Ye, Wen & Ma 2008",
            Paper::Kolcz2008 => "Kołcz & Chowdhury 2008",
            Paper::Cherkasova2009 => "Cherkasova, Eshghi, Morrey, Tucek & Veitch 2009",
        }
    }

    /// The title.
    pub fn title(self) -> &'static str {
        match self {
            Paper::Chowdhury2002 => "Collection statistics for fast duplicate document detection",
            Paper::Bernstein2006 => {
                "Accurate discovery of co-derivative documents via duplicate text detection"
            }
            Paper::Ye2008 => {
                "A systematic study on parameter correlations in large-scale duplicate document detection"
            }
            Paper::Kolcz2008 => "Lexicon randomization for near-duplicate detection with I-Match",
            Paper::Cherkasova2009 => {
                "Applying syntactic similarity algorithms for enterprise information management"
            }
        }
    }
}

/// A digest of the collection of a directory, and the program that made it.
///
/// # Errors
/// Those of opening the directory.
pub fn collection_of(directory: &Path) -> Result<(String, String)> {
    let manifest = pipeline::look(directory)?;
    let digest = study::collection_digest(&manifest, directory)?;
    Ok((digest, manifest.program.clone()))
}

/// Reproduces a paper on the collection of `directory`. Corpora and other data for it, apart from
/// the results of methods, are kept in the directory `out`.
///
/// # Errors
/// See the module.
pub fn run(
    paper: Paper,
    directory: &Path,
    out: &Path,
    labels: Option<&Path>,
    context: &Context<'_>,
) -> Result<Reproduction> {
    let mut bench = Bench::open(directory, out, labels, context)?;
    let stats = Catalogue::stats(&bench.base)?;
    let (documents, representatives) = (stats.documents, stats.representatives);
    let mut measured = Measured::default();
    let reproduce = match paper {
        Paper::Chowdhury2002 => chowdhury::reproduce,
        Paper::Bernstein2006 => bernstein::reproduce,
        Paper::Ye2008 => ye::reproduce,
        Paper::Kolcz2008 => kolcz::reproduce,
        Paper::Cherkasova2009 => cherkasova::reproduce,
    };
    reproduce(&mut bench, &mut measured)?;
    let (exhibits, claims) = Published::of(paper)?.with(measured)?;
    Ok(Reproduction {
        paper,
        documents,
        representatives,
        claims,
        exhibits,
    })
}
