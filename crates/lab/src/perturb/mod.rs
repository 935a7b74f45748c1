//! Controlled corpora: copies of documents with edits that are known one by one.
//!
//! # Source
//! Chowdhury, Frieder, Grossman & McCabe, *Collection statistics for fast duplicate document
//! detection*, 2002, section 4.3. Cherkasova, Eshghi, Morrey, Tucek & Veitch, *Applying syntactic
//! similarity algorithms for enterprise information management*, 2009, section 3.
//!
//! # In and out
//! In: the inputs of `ingest`. A document's text is the output of stage 2 with `--tokens
//! whitespace`: decoded, markup reduced, case kept, words joined by one space. Out, in a directory
//! of its own:
//! - [`ORIGINALS`] and [`COPIES`]: JSON lines of `id` and `text`.
//! - [`BACKGROUND`]: every other document, in the same form.
//! - [`EDITS`]: for each copy its `copy`, `original`, `seed` and the list of its `edits`.
//! - `truth.tsv`: every two documents of a set of an original and its copies.
//! - `perturb.json`: all parameters, all counts, size and xxh3 of each file.
//!
//! # Algorithm
//! 1. Read the inputs: the words, a hash of the text and a hash of the docno of each document, and
//!    for `chowdhury` the term list.
//! 2. Choose the originals.
//! 3. Read the inputs again. Draw, apply and write the edits of each original; write the other
//!    documents to the background.
//!
//! # The recipes
//! `chowdhury`: take the `--originals` documents nearest to the average length in words, and make
//! `--copies` copies of each. For every `--every`-th word draw a number from 1 to 10. If it is
//! above `--alpha`, draw one from 1 to 3: 1 removes the word, 2 swaps it with the next, 3 adds a
//! word of the term list. Where the paper is silent:
//! - It gives neither i nor alpha. The defaults, 10 and 5, edit one word in twenty.
//! - The average is over all documents read, including empty ones. Ties are broken by the order of
//!   the input.
//! - Words are counted from 1 in the *original*: with i = 10 the tenth word is considered first,
//!   and an edit does not change which later words are considered.
//! - An added word comes after the word considered.
//! - The last word has no next: a swap drawn for it is not an edit, and is counted as `no_next`.
//! - With i = 1, a word that a swap moved in front of the word considered has already had its turn
//!   and is skipped.
//! - The term list consists of the terms of the documents. Each distinct term is equally probable,
//!   whatever its frequency. A term is a token of `--tokens words` (so that one word is added,
//!   without punctuation) of at most `words::TERM_BYTES` bytes. If a collection has more than
//!   `words::TERMS` terms, that number is drawn by hash, each term with the same probability.
//!
//! `cherkasova`: for each document and each number of `--edits`, make one copy with exactly that
//! number of insertions of `--word`, or of removals of a word, at random places (`random`) or
//! evenly spaced (`uniform`). Where the paper is silent:
//! - Each insertion takes one of the n + 1 places before, between and after the n words of the
//!   original, drawn with replacement. Removals are drawn from the n words without replacement. The
//!   edit distance in words thus equals the number of edits.
//! - Evenly spaced: edit j of i, from 0, is at place (or word) floor((2j + 1) N / 2i) of N: in the
//!   middle of each of the i equal parts of the text.
//! - Each copy is drawn independently: the edits of the copy with 5 are not a subset of the edits
//!   of the copy with 6.
//!
//! Both: no two originals have the same text or the same docno; the first in the input counts. A
//! document without words cannot be an original. A copy that would have no words left is counted
//! (`left_out`) but not written, so a document of n words only has copies with fewer than n
//! removals.
//!
//! # Invariants
//! - Applying the edit list to the original's text ([`apply`]) gives the copy's text.
//! - The same seed, parameters and inputs give the same bytes. A copy depends on the seed, the
//!   docno and text of its original, its own number and, for `chowdhury`, the term list.
//! - Records read = documents + rejected + skipped.
//!
//! # Cost
//! The inputs are read twice, on one thread. Memory: up to 160 bytes per document, about 8 MiB of
//! terms, and for one original at a time twice its text and its edits. Background documents are
//! never kept in memory.
//!
//! # Where we depart from the source
//! Chowdhury et al. inserted the copies into the LA Times and measured the share of each set of
//! eleven that was found. `truth.tsv` and the background allow the same. The background may contain
//! near-duplicates of its own, and of the originals, which `truth.tsv` does not list. Documents with
//! exactly the text of an original are counted (`same_text`).
//!
//! # Errors
//! `BadParameter` for parameters that exclude each other, for standard input (it cannot be read
//! twice), for a directory with unrelated files, and for an existing docno that a copy would get;
//! `Locked`; `BudgetTooSmall`; `InputChanged`; `Io`.

mod config;
mod documents;
mod edits;
mod words;
mod write;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use lookalike_base::{Context, Error, Result, Unit, counted, mix, refuse};
use lookalike_engine::pipeline;
use lookalike_text::read::{Inputs, Skipped};

pub use config::{Cherkasova, Chowdhury, EditCounts, EditPlaces, Operation, PerturbConfig, Recipe};
pub use documents::ReadCounts;
pub use edits::{Edit, apply};

use documents::{Survey, Surveyed, each_document, survey};
use words::TermList;
use write::Output;

pub(crate) use write::{BACKGROUND, COPIES, EDITS, FileSum, ORIGINALS};

const STAGE: &str = "perturb";
/// Buffers of six files and of the decompressors, and the terms.
const FIXED_BYTES: u64 = 56 << 20;

/// The counts and parameters of a corpus, as written to `perturb.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerturbReport {
    /// Version of the file format.
    pub format: u32,
    /// The parameters; `originals` is null if all documents are originals.
    pub parameters: PerturbConfig,
    /// Input files.
    pub input_files: u64,
    /// Files of named directories that were not read.
    #[serde(skip_serializing_if = "Skipped::is_nothing")]
    pub skipped: Skipped,
    /// xxh3 of the sizes and digests of the input files, in order.
    pub inputs_xxh3: String,
    /// Records read.
    pub read: ReadCounts,
    /// Words of all documents.
    pub words: u64,
    /// Average number of words of a document, if there are documents.
    pub average_words: Option<f64>,
    /// Documents that have no words.
    pub empty: u64,
    /// Distinct terms to draw from, for `chowdhury`.
    pub terms: Option<u64>,
    /// Documents that were copied.
    pub originals: u64,
    /// Documents in the background, if it was written.
    pub background: Option<u64>,
    /// Documents that are not originals but have the text of one.
    pub same_text: u64,
    /// Copies written.
    pub copies: u64,
    /// Copies not written because they would have no words.
    pub left_out: u64,
    /// Edits made, by kind.
    pub edits: BTreeMap<&'static str, u64>,
    /// Swaps drawn for a last word, which has no next word.
    pub no_next: u64,
    /// True pairs.
    pub pairs: u64,
    /// Size and checksum of each file, by name.
    pub files: BTreeMap<&'static str, FileSum>,
}

/// Makes a controlled corpus in the directory `out` from the documents of `arguments`.
///
/// # Errors
/// See the module.
pub fn run(
    arguments: &[PathBuf],
    out: &Path,
    config: &PerturbConfig,
    context: &Context<'_>,
) -> Result<PerturbReport> {
    config.check()?;
    if arguments.iter().any(|path| path.as_os_str() == "-") {
        return Err(Error::parameter("INPUT", "-")
            .because("the inputs are read twice, and standard input can be read only once"));
    }
    Output::look_whether_free(out)?;
    let named: Vec<&Path> = arguments.iter().map(PathBuf::as_path).collect();
    Output::check(out, &named)?;
    let inputs = pipeline::selected_inputs(arguments, &config.selection, out)?;
    // Files in the output directory are not read as inputs, but the user may have meant one of
    // them.
    let meant = inputs.iter().map(|input| &input.path).chain(arguments);
    Output::check(out, &meant.map(PathBuf::as_path).collect::<Vec<_>>())?;
    let sizes = inputs.iter().filter_map(|i| i.identity.as_ref());
    let total: u64 = sizes.map(|identity| identity.size).sum();
    let fixed = FIXED_BYTES + config.read.max_document.0 * 5 / 2;
    let first = documents::LOOK_AFTER * documents::DOCUMENT_BYTES as u64;
    let what = || format!("reading documents of up to {}", config.read.max_document);
    context.budget.require(fixed + first, what)?;
    context.start(STAGE, Unit::Bytes, Some(total * 2));
    let surveyed = survey(&inputs, config, fixed, context)?;
    let chosen = choose(&surveyed, config)?;
    let report = make(
        &inputs,
        out,
        config,
        &surveyed,
        &chosen,
        (fixed, total),
        context,
    )?;
    context.progress.end(&format!(
        "perturb: {} of {}",
        counted(report.copies, "copy"),
        counted(report.originals, "document")
    ));
    Ok(report)
}

/// The numbers of the documents to copy, ascending.
fn choose(survey: &Survey, config: &PerturbConfig) -> Result<Vec<u32>> {
    let documents = &survey.documents;
    let mut order: Vec<u32> = (0..documents.len() as u32).collect();
    if let Recipe::Chowdhury(_) = config.recipe {
        // |words - total / documents|, in integers.
        let count = documents.len() as u128;
        let distance = |number: u32| {
            let words = documents[number as usize].words;
            (u128::from(words) * count).abs_diff(u128::from(survey.words))
        };
        order.sort_unstable_by_key(|&number| (distance(number), number));
    }
    let wanted = config.originals();
    let (mut texts, mut docnos) = (HashSet::new(), HashSet::new());
    let mut chosen = Vec::new();
    for number in order {
        if wanted.is_some_and(|wanted| chosen.len() as u64 >= wanted) {
            break;
        }
        let document = documents[number as usize];
        let (words, text, docno) = (document.words, document.text, document.docno);
        if words > 0 && !texts.contains(&text) && !docnos.contains(&docno) {
            texts.insert(text);
            docnos.insert(docno);
            chosen.push(number);
        }
    }
    if chosen.is_empty() || wanted.is_some_and(|wanted| (chosen.len() as u64) < wanted) {
        let limit = format!(
            "the inputs have {} of different texts and docnos",
            counted(chosen.len() as u64, "document")
        );
        return refuse("originals", wanted.unwrap_or(1), limit);
    }
    if let Some((docno, _)) = survey
        .like_copies
        .iter()
        .find(|(_, original)| docnos.contains(original))
    {
        return Err(Error::parameter("INPUT", docno)
            .because("a copy of another document would have the same docno"));
    }
    chosen.sort_unstable();
    Ok(chosen)
}

/// The second reading: edits, copies, ground truth, background.
fn make(
    inputs: &Inputs,
    out: &Path,
    config: &PerturbConfig,
    survey: &Survey,
    chosen: &[u32],
    (fixed, total): (u64, u64),
    context: &Context<'_>,
) -> Result<PerturbReport> {
    let texts = chosen.iter();
    let texts = texts.map(|&number| survey.documents[number as usize].text);
    let texts: HashSet<u64> = texts.collect();
    let tables = (survey.documents.len() * documents::DOCUMENT_BYTES) as u64;
    let mut output = Output::create(out, config.background())?;
    let documents = survey.documents.len() as u64;
    let hash = inputs.iter().fold(Vec::new(), |mut bytes, input| {
        if let Some(identity) = &input.identity {
            bytes.extend_from_slice(&identity.size.to_le_bytes());
            bytes.extend_from_slice(identity.digest.as_bytes());
        }
        bytes
    });
    let mut report = PerturbReport {
        format: 1,
        // The values used, including defaults.
        parameters: PerturbConfig {
            originals: config.originals(),
            background: Some(config.background()),
            ..config.clone()
        },
        input_files: inputs.len() as u64,
        skipped: inputs.skipped,
        inputs_xxh3: format!("{:016x}", xxh3_64(&hash)),
        read: ReadCounts::default(),
        words: survey.words,
        average_words: (documents > 0).then(|| survey.words as f64 / documents as f64),
        empty: survey.documents.iter().filter(|d| d.words == 0).count() as u64,
        terms: config.needs_terms().then(|| survey.terms.len()),
        originals: chosen.len() as u64,
        background: config.background().then(|| documents - chosen.len() as u64),
        same_text: 0,
        copies: 0,
        left_out: 0,
        edits: BTreeMap::new(),
        no_next: 0,
        pairs: 0,
        files: BTreeMap::new(),
    };
    let mut originals = chosen.iter().copied().peekable();
    report.read = each_document(
        inputs,
        config,
        total,
        context,
        |number, document, parser| {
            let surveyed = survey.documents.get(number as usize).copied();
            if originals.next_if_eq(&number).is_none() {
                let same = surveyed.is_some_and(|document| texts.contains(&document.text));
                report.same_text += u64::from(same);
                return output.background(document, parser);
            }
            let Surveyed { words, bytes, .. } = surveyed.unwrap_or_default();
            // The text, a copy's text, the growing buffer of copies; an edit with its words and
            // list entry.
            let edits = u64::from(words).min(config.most_edits(u64::from(words)));
            let least = fixed + tables + 4 * u64::from(bytes) + edits * edits::EDIT_BYTES;
            let what = || format!("copying a document of {bytes} bytes of text");
            context.budget.require(least, what)?;
            let text = words::text_of(document, parser);
            let original = (&*document.docno, &*text, u64::from(words));
            let (terms, made) = (&survey.terms, (&mut output, &mut report));
            copies(original, config, terms, made, context)
        },
    )?;
    output.finish(&mut report)?;
    Ok(report)
}

/// Writes a document and its copies.
fn copies(
    (docno, text, words): (&str, &str, u64),
    config: &PerturbConfig,
    terms: &TermList,
    (output, made): (&mut Output, &mut PerturbReport),
    context: &Context<'_>,
) -> Result<()> {
    output.original(docno, text)?;
    // One seed for each document and each of its copies, so that other documents have no
    // effect.
    let of_document = mix(xxh3_64(docno.as_bytes()), config.seed);
    let mut family = vec![docno.to_string()];
    for (number, name) in config.recipe.copies() {
        context.stop.check(STAGE)?;
        let seed = mix(u64::from(number), of_document);
        let drawn = match &config.recipe {
            Recipe::Chowdhury(recipe) => Some(edits::chowdhury(recipe, text, terms, seed)),
            Recipe::Cherkasova(recipe) => edits::cherkasova(recipe, text, words, number, seed),
        };
        let Some(drawn) = drawn else {
            made.left_out += 1;
            continue;
        };
        let copy = apply(text, &drawn.edits).map_err(|(edit, found)| {
            let message = format!("edit {edit} of {docno} does not fit: found {found}");
            let help =
                "this is a defect of lookalike; please report it with the document and --seed";
            Error::other(message, help)
        })?;
        if copy.is_empty() {
            made.left_out += 1;
            continue;
        }
        made.no_next += drawn.no_next;
        for edit in &drawn.edits {
            *made.edits.entry(edit.kind()).or_default() += 1;
        }
        let id = format!("{}~{name}", docno);
        output.copy(&id, docno, seed, &drawn.edits, &copy)?;
        made.copies += 1;
        family.push(id);
    }
    made.pairs += output.pairs(&family, context)?;
    Ok(())
}
