//! `perturb`: make a corpus with known near-duplicates.

use std::path::PathBuf;

use crate::perturb::{
    self, Cherkasova, Chowdhury, EditCounts, EditPlaces, Operation, PerturbConfig, PerturbReport,
    Recipe,
};
use lookalike::report::rows::Rows;
use lookalike_base::error::refuse;

use lookalike::cli::command::{Args, Command, Context, Out, Result};
use lookalike::cli::flags::InputFlags;

/// The paper whose recipe makes the copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RecipeChoice {
    /// Chowdhury et al. 2002
    Chowdhury,
    /// Cherkasova et al. 2009
    Cherkasova,
}

/// Options of `perturb`.
#[derive(Debug, Args)]
#[command(mut_arg("inputs", |arg| arg.long_help(
    "Files or directories, in any format that `lookalike run` reads\n\n\
     They are read twice, so standard input is not possible. Hidden files of a directory are \
     skipped."
)))]
pub(crate) struct Options {
    /// Directory for the corpus, which is created if it is missing
    ///
    /// Files of an earlier perturb in it are replaced.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// How copies are made: chowdhury or cherkasova
    #[arg(long, value_name = "RECIPE", hide_possible_values = true)]
    recipe: RecipeChoice,
    /// Number of documents to copy [default: chowdhury 10, cherkasova all]
    ///
    /// chowdhury copies the documents nearest to the average length, cherkasova the first of the
    /// input. No two originals have the same text or docno, and none is empty.
    ///
    /// Example: --originals 5
    #[arg(long, value_name = "N")]
    originals: Option<u64>,
    /// Seed of all random choices
    ///
    /// Example: --seed 1
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Also write the documents that are not copied, to background.jsonl
    ///
    /// chowdhury does so by default, cherkasova does not.
    #[arg(long, overrides_with = "no_background")]
    background: bool,
    /// Do not write background.jsonl
    #[arg(long, overrides_with = "background")]
    no_background: bool,
    /// Copies of each document, at most 1000 [default: 10]
    ///
    /// Example: --recipe chowdhury --copies 3
    #[arg(long, value_name = "N", help_heading = "Chowdhury")]
    copies: Option<u32>,
    /// Consider every I-th word for an edit [default: 10]
    ///
    /// Example: --recipe chowdhury --every 5
    #[arg(long, value_name = "I", help_heading = "Chowdhury")]
    every: Option<u32>,
    /// Edit a word if a random number from 1 to 10 is above A [default: 5]
    ///
    /// An edit removes the word, swaps it with the next one, or adds a word of the collection after
    /// it, with equal probability.
    ///
    /// Example: --recipe chowdhury --alpha 8
    #[arg(long, value_name = "A", help_heading = "Chowdhury")]
    alpha: Option<u32>,
    /// Kind of edit: insert or remove [default: insert]
    ///
    /// Example: --edit remove
    #[arg(long, value_name = "EDIT", help_heading = "Cherkasova")]
    edit: Option<Operation>,
    /// Numbers of edits, one copy for each [default: 1..50]
    ///
    /// A document with N words or fewer gets no copy with N words removed.
    ///
    /// Example: --edits 1,2,5,10..20
    #[arg(long, value_name = "LIST", help_heading = "Cherkasova")]
    edits: Option<EditCounts>,
    /// Places of the edits: random or uniform [default: random]
    ///
    /// uniform spaces the edits evenly.
    ///
    /// Example: --spread uniform
    #[arg(long, value_name = "SPREAD", help_heading = "Cherkasova")]
    spread: Option<EditPlaces>,
    /// Word to insert [default: a]
    ///
    /// Example: --word zzz
    #[arg(long, value_name = "WORD", help_heading = "Cherkasova")]
    word: Option<String>,
    #[command(flatten)]
    input: InputFlags,
}

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let config = config(self)?;
        config.check()?;
        let report = perturb::run(&self.input.inputs, &self.output, &config, context)?;
        out.result(&report, || {
            let place = self.output.display();
            Ok(format!("{}\ncorpus in {place}\n", table(&report)))
        })
    }
}

fn config(options: &Options) -> Result<PerturbConfig> {
    let chowdhury = options.recipe == RecipeChoice::Chowdhury;
    let given = [
        ("copies", options.copies.is_some(), true),
        ("every", options.every.is_some(), true),
        ("alpha", options.alpha.is_some(), true),
        ("edit", options.edit.is_some(), false),
        ("edits", options.edits.is_some(), false),
        ("spread", options.spread.is_some(), false),
        ("word", options.word.is_some(), false),
    ];
    for (name, given, of_chowdhury) in given {
        if given && of_chowdhury != chowdhury {
            let [this, other] = [chowdhury, of_chowdhury].map(|chowdhury| {
                let name = if chowdhury { "chowdhury" } else { "cherkasova" };
                format!("with --recipe {name}")
            });
            return refuse(name, this, format!("use it {other}"));
        }
    }
    let recipe = if chowdhury {
        let usual = Chowdhury::default();
        Recipe::Chowdhury(Chowdhury {
            copies: options.copies.unwrap_or(usual.copies),
            every: options.every.unwrap_or(usual.every),
            alpha: options.alpha.unwrap_or(usual.alpha),
        })
    } else {
        let usual = Cherkasova::default();
        Recipe::Cherkasova(Cherkasova {
            edit: options.edit.unwrap_or(usual.edit),
            edits: options.edits.clone().unwrap_or(usual.edits),
            spread: options.spread.unwrap_or(usual.spread),
            word: options.word.clone().unwrap_or(usual.word),
        })
    };
    Ok(PerturbConfig {
        selection: options.input.walk.selection(),
        read: options.input.read()?,
        detector: options.input.limits.detect_charset,
        recipe,
        originals: options.originals,
        background: (options.background || options.no_background).then_some(options.background),
        seed: options.seed,
    })
}

fn table(report: &PerturbReport) -> String {
    let mut rows = Rows::default();
    rows.count("records read", report.read.records);
    rows.each("  skipped: ", &report.read.skipped);
    rows.each("  rejected: ", &report.read.rejected);
    rows.count("  documents", report.read.documents);
    if let Some(average) = report.average_words {
        rows.row("average words", format!("{average:.1}"));
    }
    if let Some(terms) = report.terms {
        rows.count("distinct terms", terms);
    }
    rows.count("originals", report.originals);
    if let Some(background) = report.background {
        rows.count("background", background);
    }
    rows.any("  with an original's text", report.same_text);
    rows.count("copies", report.copies);
    rows.any("  left out: no words left", report.left_out);
    rows.each("edits: ", &report.edits);
    rows.any("  swaps of the last word", report.no_next);
    rows.count("true pairs", report.pairs);
    rows.text(rows.longest().max(25) + 2)
}
