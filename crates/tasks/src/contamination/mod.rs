//! Contamination: find the items of test sets in a corpus.
//!
//! # Source
//! Brown et al. 2020 ("Language Models are Few-Shot Learners", appendix C) look for 13-grams of
//! test sets in training data. Singh et al. 2024 ("Evaluation data contamination in LLMs: how do we
//! measure it and (when) does it matter?") measure the share of an item's tokens that is covered.
//!
//! # In and out
//! In: a corpus in any format that `ingest` reads, or standard input, and test sets, which are
//! small enough for memory: JSON, Parquet, CSV, or any other format of the reader. Out:
//! [`ContaminationReport`], and in a directory
//!
//! - [`ITEMS_FILE`]: each item, and how much of it is covered;
//! - [`FOUND_FILE`]: each item that was found, with documents and runs;
//! - [`DROP_FILE`]: the documents that cover much of some item, for `dedup --drop`;
//! - [`REJECTS_FILE`]: the records of the corpus that are not documents;
//! - [`REPORT_FILE`]: the report.
//!
//! For a page, [`ContaminationReport::shown`] has the texts around the runs of some items.
//!
//! # Definition
//! [`lookalike_text::parse`] defines tokens. An *item* is a record of a test set, and each of its
//! fields is a text of its own. A *shared run* of a field and a document is a maximal pair of equal
//! sequences of at least n tokens. A field with fewer than n tokens is matched in full: its run is
//! the whole field. A field with fewer than [`ContaminationConfig::least`] tokens is not looked for,
//! whatever n is. A document *covers* the tokens of an item that are in some run. The *share* of an item is the number of its covered
//! tokens, each counted once, divided by the tokens of its fields that are looked for.
//!
//! # Algorithm
//! 1. The test sets are read into memory, once for each field, with the place of each token.
//! 2. Equal n-grams get one number (`grams`), and are listed with the items that have them.
//! 3. The threads take some files of the corpus, or a piece of one. The tokens of a document stream
//!    past a filter that has stretches of the n-grams. Stretches that pass are compared byte by
//!    byte.
//! 4. For a document that has n-grams, the items that have them are found, and their covered tokens
//!    counted. If the document is among those that are listed for an item, its runs are found from
//!    the places of the n-grams, and its text is parsed once more for their bytes.
//! 5. Results are collected in a file without a name, and written in the order of the input at the
//!    end.
//!
//! # Invariants
//! - The results follow the definition: filters only leave out stretches that cannot match.
//! - The files are the same bytes for every budget and number of threads.
//! - Items = searched + not searched; fields = long + short + left out + empty + missing.
//!
//! # Cost
//! Time: tokens are made once, and of seven tokens (of 13) one stretch is hashed; if a test set has
//! short fields, one stretch at each token as well. Memory: about 110 bytes for each token of the
//! test sets and 24 for each thread, 300 for each item and 120 for each document that is listed with
//! it; and for the threads what their readers take.
//!
//! # Where we depart from the source
//! Brown et al. normalise by removing everything except letters, and look for 8 to 13 words,
//! depending on the test set. Here n is fixed, and short fields are matched in full.
//!
//! # What is not guaranteed
//! At most [`MOST_RUNS`] runs are listed for an item and a document, and only those among the first
//! million places of n-grams in it; `all_runs` says whether these are all. Coverage counts all
//! runs. A text that was changed within every n tokens is not found.
//!
//! # Errors
//! `BadParameter`, including a test set without items and a corpus without documents; `BadLine` for
//! CSV that cannot be read; `BudgetTooSmall`; the errors of reading.

mod config;
mod grams;
mod items;
mod listed;
mod output;
mod runs;
mod search;
mod shown;
mod stats;

use std::path::PathBuf;

use lookalike_base::{Context, Error, Result, Threshold, count, counted, refuse};
use lookalike_store::{OutputKind, workspace};
use lookalike_text::read::{InputFile, list_inputs};

use grams::Grams;
use items::TestSets;
use listed::Listed;
use output::Output;
use search::{OfItem, Search};
use stats::LEVELS;

pub use config::{ContaminationConfig, MOST_FIELDS};
pub use listed::DROP_FILE;
pub use output::{FOUND_FILE, ITEMS_FILE, REJECTS_FILE, REPORT_FILE};
pub use runs::MOST_RUNS;
pub use stats::{
    ContaminationReport, CorpusReport, CoverLevel, FieldCounts, ListedDocument, SetReport,
    ShownItem, ShownTexts, ShownWindow,
};

const STAGE: &str = "contamination";

/// Refuses output directories as a corpus: they have fingerprints, and texts only if asked.
///
/// # Errors
/// `BadParameter`; `Io`.
pub fn check_corpus(corpus: &[PathBuf]) -> Result<()> {
    for path in corpus {
        if workspace::output_kind(path)? == Some(OutputKind::Run) {
            let limit = "it is the output directory of a run, which has fingerprints of shingles \
                        and not the runs of tokens that are looked for; give the inputs of the run";
            return refuse("CORPUS", path.display(), limit);
        }
    }
    Ok(())
}

/// Refuses a test set that is a file of the corpus, in which all of its items would be found.
fn check_apart(corpus: &[InputFile], sets: &[InputFile]) -> Result<()> {
    for set in sets {
        let same = |input: &&InputFile| input.real.is_some() && input.real == set.real;
        if let Some(input) = corpus.iter().find(same) {
            let limit = format!(
                "it is also a file of the corpus, as {}, and would be found in itself; leave \
                     it out of the corpus with --exclude",
                input.path.display()
            );
            return refuse("test-set", set.path.display(), limit);
        }
        if let Some((reason, detail)) = &set.problem {
            let what = format!("{}: {detail}", reason.text());
            return Err(Error::unreadable(&set.path, what, 0));
        }
    }
    Ok(())
}

/// Looks for the items of the test sets in a corpus.
pub fn run(
    corpus: &[InputFile],
    config: &ContaminationConfig,
    context: &Context<'_>,
) -> Result<ContaminationReport> {
    config.check()?;
    let inputs = list_inputs(&config.against)?;
    if inputs.is_empty() {
        return Err(Error::NoInput {
            paths: config.against.clone(),
        });
    }
    check_apart(corpus, &inputs)?;
    if let Some(output) = &config.output {
        Output::check(output, config.page.as_deref(), [corpus, &inputs])?;
    }
    let (fixed, per_token) = search::least(config, corpus.len());
    let listed = (config.output.as_ref()).map_or(0, |_| Listed::of_item(config.most));
    let per_item = size_of::<OfItem>() as u64 + listed;
    let per_token = per_token + Grams::TOKEN_BYTES;
    let sets = TestSets::read(&inputs, config, fixed, per_item, per_token, context)?;
    for line in items::warnings(&sets.sets, config) {
        context.progress.note(&line);
    }
    let grams = Grams::new(&sets, config.ngram as usize);
    let output = config.output.as_deref();
    let output = output.map(|place| Output::create(place, config.page.as_deref(), context));
    let output = output.transpose()?;
    let spill = output.as_ref().map(|output| &output.spill);
    let search = Search::new(corpus, &sets, &grams, config, spill, context)?;
    let corpus = search.run()?;
    search.check_listed()?;
    let mut report = report(&search, corpus);
    let counts = &report.corpus;
    if counts.documents == 0 {
        return Err(no_documents(counts, &search));
    }
    if let Some(output) = &output {
        output.write(&search, &report)?;
        if config.page.is_some() {
            report.shown = output.shown(&search)?;
        }
    }
    let found: u64 = report.test_sets.iter().map(|set| set.found).sum();
    context.progress.end(&format!(
        "contamination: {} searched, {} with {} of the test sets",
        counted(counts.documents, "document"),
        count(counts.found),
        counted(found, "item"),
    ));
    Ok(report)
}

fn no_documents(corpus: &CorpusReport, search: &Search<'_>) -> Error {
    let first = search.first_reject().unwrap_or_default();
    let other = "name the field of the text with --text-field, or the format with --format";
    let advice = items::advice("--text-field", &first, other);
    Error::parameter("CORPUS", counted(corpus.files, "file"))
        .because(format!("it contains no document; {advice}"))
}

fn report(search: &Search<'_>, corpus: CorpusReport) -> ContaminationReport {
    use std::sync::atomic::Ordering::Relaxed;
    let (sets, config) = (search.sets, search.config);
    let mut reports = sets.sets.clone();
    let found = corpus.documents > 0;
    for set in &mut reports {
        let level = |(numerator, denominator)| CoverLevel {
            share: Threshold::new(numerator, denominator).unwrap_or_default(),
            by_one_document: 0,
            by_all_documents: 0,
        };
        set.levels = LEVELS.map(level).to_vec();
    }
    for (item, of) in sets.items.iter().zip(&search.items) {
        let Some(set) = reports.get_mut(item.set) else {
            continue;
        };
        set.searched += u64::from(item.tokens > 0);
        set.found += u64::from(of.documents.load(Relaxed) > 0);
        let tokens = item.tokens.into();
        let (one, all) = (of.best.load(Relaxed).into(), search.covered(item).into());
        for level in &mut set.levels {
            level.by_one_document += u64::from(level.share.reached(one, tokens, one));
            level.by_all_documents += u64::from(level.share.reached(all, tokens, all));
        }
    }
    ContaminationReport {
        ngram: config.ngram,
        least: config.least,
        fields: config.fields.clone(),
        drop_at: config.drop_at,
        corpus,
        test_sets: reports,
        shown: Vec::new(),
        first_reject: search.first_reject(),
        unread: {
            let list = config
                .output
                .as_ref()
                .map(|output| output.join(REJECTS_FILE));
            let used = config.read.used_fields(found);
            let unread = search.scan.unread().warnings(list.as_deref(), used);
            unread.into_iter().chain(search.unlisted()).collect()
        },
    }
}
