//! `perturb`: make a corpus with known near-duplicates.

use std::path::PathBuf;

use crate::perturb::{self, Cherkasova, Chowdhury, PerturbConfig, PerturbReport, Recipe};
use lookalike::report::rows::Rows;
use lookalike_base::refuse;

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
    #[arg(long, overrides_with = "no_background", hide_short_help = true)]
    background: bool,
    /// Do not write background.jsonl
    #[arg(long, overrides_with = "background")]
    no_background: bool,
    #[command(flatten)]
    of_chowdhury: Option<Chowdhury>,
    #[command(flatten)]
    of_cherkasova: Option<Cherkasova>,
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
    let (chowdhury, cherkasova) = (&options.of_chowdhury, &options.of_cherkasova);
    let recipe = match options.recipe {
        RecipeChoice::Chowdhury if cherkasova.is_some() => {
            let limit = "use --edit, --edits, --spread and --word with --recipe cherkasova";
            return refuse("recipe", "chowdhury", limit);
        }
        RecipeChoice::Chowdhury => Recipe::Chowdhury(chowdhury.clone().unwrap_or_default()),
        RecipeChoice::Cherkasova if chowdhury.is_some() => {
            let limit = "use --copies, --every and --alpha with --recipe chowdhury";
            return refuse("recipe", "cherkasova", limit);
        }
        RecipeChoice::Cherkasova => Recipe::Cherkasova(cherkasova.clone().unwrap_or_default()),
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
