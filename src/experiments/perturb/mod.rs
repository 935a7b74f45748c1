//! Controlled corpora: copies of documents with edits that are known, one by one.
//!
//! # Source
//! Chowdhury, Frieder, Grossman & McCabe, *Collection statistics for fast duplicate document detection*, 2002,
//! section 4.3. Cherkasova, Eshghi, Morrey, Tucek & Veitch, *Applying syntactic similarity algorithms for
//! enterprise information management*, 2009, section 3.
//!
//! # In and out
//! In: the inputs of `ingest`. A document's text is what stage 2 makes of it with `--tokens whitespace`: decoded,
//! markup reduced, case kept, words joined by one space. Out, in a directory of its own: [`ORIGINALS`] and
//! [`COPIES`] (JSON lines of `id` and `text`), [`BACKGROUND`] (every other document, the same), [`EDITS`] (for each
//! copy `copy`, `original`, `seed` and the list of its `edits`), [`TRUTH`] (every two of an original and its
//! copies) and [`REPORT`] (all parameters, all counts, size and xxh3 of each file).
//!
//! # Algorithm
//! 1. The inputs are read once: words, a hash of the text and one of the docno for each document; for
//!    `chowdhury` the term list too.
//! 2. The originals are chosen.
//! 3. The inputs are read again. Each original's edits are drawn, applied and written; the other documents go
//!    to the background.
//!
//! # The recipes
//! `chowdhury`: the `--originals` documents nearest to the average length in words, and `--copies` of each. Of
//! every `--every`-th word a number from 1 to 10 is drawn; if it is above `--alpha`, one from 1 to 3: 1 removes
//! the word, 2 swaps it with the next, 3 adds a word of the term list. Where the paper is silent:
//! - It names neither i nor alpha; the defaults, 10 and 5, edit one word of twenty.
//! - The average is over all documents read, empty ones too. Of documents as near, the first in the input is taken.
//! - Words are counted from 1, so with i = 10 the first looked at is the tenth, in the *original*: an edit does
//!   not move the words that are looked at after it.
//! - The word added stands behind the word looked at.
//! - The last word has no next: a swap drawn for it is no edit, and is counted as `no_next`.
//! - With i = 1 a word that was swapped to the front of the one looked at has had its turn and is stepped over.
//! - The term list is what the documents are made of, each distinct term equally probable, whatever its
//!   frequency. A term is a token of `--tokens words` (so that one word is added, without punctuation) of at most
//!   [`TERM_BYTES`] bytes. Of a collection of more than [`TERMS`] terms as many are kept, drawn
//!   by hash, each with the same probability.
//!
//! `cherkasova`: for each document and each number of `--edits` one copy, with exactly so many insertions of
//! `--word`, or removals of a word; anywhere (`random`) or evenly spaced (`uniform`). Where the paper is silent:
//! - Insertions: each goes to one of the n + 1 places before, between and behind the n words of the original,
//!   drawn with replacement. Removals: of n words so many are drawn without. The edit distance in words is thus
//!   their number.
//! - Evenly spaced: edit j of i, from 0, is at place (or word) floor((2j + 1) N / 2i) of N: in the middle of the
//!   i-th parts of the text.
//! - Each copy is drawn by itself: the edits of the copy with 5 are not among those of the copy with 6.
//!
//! Both: no two originals have the same text, or the same docno; the first in the input counts. A document without a
//! word is no original. A copy that would have no word left is not written, and counted (`left_out`), so a
//! document of n words has copies with less than n removals alone.
//!
//! # Invariants
//! - Applied to the original's text ([`apply`]), the edit list gives the copy's.
//! - The same seed, parameters and inputs give the same bytes. A copy depends on the seed, its original's docno and
//!   text, its own number and, for `chowdhury`, the term list.
//! - Records read = documents + rejected + skipped.
//!
//! # Cost
//! The inputs are read twice, on one thread. Memory: up to 160 bytes a document; some 8 MiB of terms; of each
//! original its text twice and its edits. Documents of the background are never held.
//!
//! # Where we depart from the source
//! Chowdhury et al. inserted into the LA Times and judged by what was found of each set of eleven; that is what
//! [`TRUTH`] and the background are for. The background may have near-duplicates of its own, and of the
//! originals, which [`TRUTH`] does not know: those with the text of an original are counted (`same_text`).
//!
//! # Errors
//! `BadParameter` for what does not go together, for standard input (it cannot be read twice), a directory with
//! files of others, a docno that a copy would get; `Locked`; `BudgetTooSmall`; `InputChanged`; `Io`.

mod config;
mod documents;
mod edits;
mod words;
mod write;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::budget::ByteSize;
use crate::numbers::counted;
use crate::progress::{Context, Unit};
use crate::random::mix;
use crate::read::{Inputs, Skipped};
use crate::{Error, Result, pipeline};

pub use config::{Cherkasova, Chowdhury, EditCounts, Operation, PerturbConfig, Recipe, Spread};
pub use documents::ReadCounts;
pub use edits::{Edit, Misfit, apply};

use documents::{Survey, Surveyed, each_document, survey};
use words::TermList;
use write::Output;

pub use words::{TERM_BYTES, TERMS};
pub use write::{BACKGROUND, COPIES, EDITS, FileSum, ORIGINALS, REPORT, TRUTH};

const STAGE: &str = "perturb";
/// Buffers of six files, of the decompressors, and the terms.
const FIXED_BYTES: u64 = 56 << 20;

/// What was made; [`REPORT`] as it is written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerturbReport {
    /// Version of these files.
    pub format: u32,
    /// The parameters; `originals` is null for all.
    pub parameters: PerturbConfig,
    /// Input files.
    pub input_files: u64,
    /// What the walk through named directories left out.
    #[serde(skip_serializing_if = "Skipped::is_nothing")]
    pub skipped: Skipped,
    /// xxh3 of their sizes and digests, in order.
    pub inputs_xxh3: String,
    /// What was read.
    pub read: ReadCounts,
    /// Words of all documents.
    pub words: u64,
    /// Words of a document on average, if there is one.
    pub average_words: Option<f64>,
    /// Documents without a word.
    pub empty: u64,
    /// Distinct terms to draw from, for `chowdhury`.
    pub terms: Option<u64>,
    /// Documents that were copied.
    pub originals: u64,
    /// Documents of the background, if it was written.
    pub background: Option<u64>,
    /// Documents that are no originals and have the text of one.
    pub same_text: u64,
    /// Copies written.
    pub copies: u64,
    /// Copies that would have had no word.
    pub left_out: u64,
    /// Edits made, by kind.
    pub edits: BTreeMap<&'static str, u64>,
    /// Swaps drawn for a last word, which has no next.
    pub no_next: u64,
    /// Pairs of the truth.
    pub pairs: u64,
    /// Size and checksum of each file, by name.
    pub files: BTreeMap<&'static str, FileSum>,
}

/// Makes a controlled corpus of the documents of `arguments` in the directory `out`.
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
        return Err(Error::BadParameter {
            name: "INPUT",
            given: "-".into(),
            limit: "the inputs are read twice, standard input can be read once".into(),
        });
    }
    Output::look_whether_free(out)?;
    let named: Vec<&Path> = arguments.iter().map(PathBuf::as_path).collect();
    Output::check(out, &named)?;
    let inputs = pipeline::selected_inputs(arguments, &config.selection, out)?;
    // What lies in the directory is no input, but may have been meant as one.
    let meant = inputs.iter().map(|input| &input.path).chain(arguments);
    Output::check(out, &meant.map(PathBuf::as_path).collect::<Vec<_>>())?;
    let sizes = inputs.iter().filter_map(|i| i.identity.as_ref());
    let total: u64 = sizes.map(|identity| identity.size).sum();
    let fixed = FIXED_BYTES + config.read.max_document.0 * 5 / 2;
    let first = documents::LOOK_AFTER * documents::DOCUMENT_BYTES as u64;
    let what = || format!("reading documents of up to {}", config.read.max_document);
    context.budget.require(ByteSize(fixed + first), what)?;
    context.progress.start(STAGE, Unit::Bytes, Some(total * 2));
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

/// The documents to copy, by their numbers, rising.
fn choose(survey: &Survey, config: &PerturbConfig) -> Result<Vec<u32>> {
    let documents = &survey.documents;
    let mut order: Vec<u32> = (0..documents.len() as u32).collect();
    let surveyed = |number: u32| documents.get(number as usize);
    if let Recipe::Chowdhury(_) = config.recipe {
        // |words - total / documents|, in integers.
        let count = documents.len() as u128;
        let distance = |number: u32| {
            let words = surveyed(number).map_or(0, |document| document.words);
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
        let Some(document) = surveyed(number) else {
            continue;
        };
        let (text, docno) = (document.text, document.docno);
        if document.words > 0 && !texts.contains(&text) && !docnos.contains(&docno) {
            texts.insert(text);
            docnos.insert(docno);
            chosen.push(number);
        }
    }
    if chosen.is_empty() || wanted.is_some_and(|wanted| (chosen.len() as u64) < wanted) {
        return Err(Error::BadParameter {
            name: "originals",
            given: wanted.unwrap_or(1).to_string(),
            limit: format!(
                "the inputs have {} of different texts and docnos",
                counted(chosen.len() as u64, "document")
            ),
        });
    }
    if let Some((docno, _)) = survey
        .like_copies
        .iter()
        .find(|(_, original)| docnos.contains(original))
    {
        return Err(Error::BadParameter {
            name: "INPUT",
            given: docno.clone(),
            limit: "a copy of another document would have the same docno".into(),
        });
    }
    chosen.sort_unstable();
    Ok(chosen)
}

/// The second reading: edits, copies, truth, background.
fn make(
    inputs: &Inputs,
    out: &Path,
    config: &PerturbConfig,
    survey: &Survey,
    chosen: &[u32],
    (fixed, total): (u64, u64),
    context: &Context<'_>,
) -> Result<PerturbReport> {
    let texts: HashSet<u64> = chosen
        .iter()
        .filter_map(|&number| survey.documents.get(number as usize))
        .map(|document| document.text)
        .collect();
    let tables = (survey.documents.len() * documents::DOCUMENT_BYTES) as u64;
    let mut output = Output::create(out, config.background())?;
    let mut made = Made::default();
    let mut originals = chosen.iter().copied().peekable();
    let again = each_document(
        inputs,
        config,
        total,
        context,
        |number, document, parser| {
            let surveyed = survey.documents.get(number as usize).copied();
            if originals.next_if_eq(&number).is_none() {
                let same = surveyed.is_some_and(|document| texts.contains(&document.text));
                made.same_text += u64::from(same);
                return output.background(document, parser);
            }
            let Surveyed { words, bytes, .. } = surveyed.unwrap_or_default();
            // Its text, a copy's, the copies' buffer as it grows; an edit with its words and its place in a list.
            let edits = u64::from(words).min(config.most_edits(u64::from(words)));
            let least = fixed + tables + 4 * u64::from(bytes) + edits * edits::EDIT_BYTES;
            context.budget.require(ByteSize(least), || {
                format!("copying a document of {bytes} bytes of text")
            })?;
            let text = words::text_of(document, parser);
            let original = Original {
                docno: &document.docno,
                text: &text,
                words: u64::from(words),
            };
            original.copies(config, &survey.terms, &mut output, &mut made, context)
        },
    )?;
    let hash = inputs.iter().fold(Vec::new(), |mut bytes, input| {
        if let Some(identity) = &input.identity {
            bytes.extend_from_slice(&identity.size.to_le_bytes());
            bytes.extend_from_slice(identity.digest.as_bytes());
        }
        bytes
    });
    let documents = survey.documents.len() as u64;
    let mut report = PerturbReport {
        format: 1,
        // As they were used, defaults too.
        parameters: PerturbConfig {
            originals: config.originals(),
            background: Some(config.background()),
            ..config.clone()
        },
        input_files: inputs.len() as u64,
        skipped: inputs.skipped,
        inputs_xxh3: format!("{:016x}", xxh3_64(&hash)),
        read: again,
        words: survey.words,
        average_words: (documents > 0).then(|| survey.words as f64 / documents as f64),
        empty: survey.documents.iter().filter(|d| d.words == 0).count() as u64,
        terms: config.needs_terms().then(|| survey.terms.len()),
        originals: chosen.len() as u64,
        background: config.background().then(|| documents - chosen.len() as u64),
        same_text: made.same_text,
        copies: made.copies,
        left_out: made.left_out,
        edits: made.edits,
        no_next: made.no_next,
        pairs: made.pairs,
        files: BTreeMap::new(),
    };
    output.finish(&mut report)?;
    Ok(report)
}

/// What was made so far.
#[derive(Default)]
struct Made {
    same_text: u64,
    copies: u64,
    left_out: u64,
    edits: BTreeMap<&'static str, u64>,
    no_next: u64,
    pairs: u64,
}

struct Original<'a> {
    docno: &'a str,
    text: &'a str,
    words: u64,
}

impl Original<'_> {
    /// Writes a document and its copies.
    fn copies(
        &self,
        config: &PerturbConfig,
        terms: &TermList,
        output: &mut Output,
        made: &mut Made,
        context: &Context<'_>,
    ) -> Result<()> {
        output.original(self.docno, self.text)?;
        // A seed for each document and each of its copies: other documents change nothing.
        let of_document = mix(xxh3_64(self.docno.as_bytes()), config.seed);
        let mut family = vec![self.docno.to_string()];
        for (number, name) in config.recipe.copies() {
            context.stop.check(STAGE)?;
            let seed = mix(u64::from(number), of_document);
            let drawn = match &config.recipe {
                Recipe::Chowdhury(recipe) => Some(edits::chowdhury(recipe, self.text, terms, seed)),
                Recipe::Cherkasova(recipe) => {
                    edits::cherkasova(recipe, self.text, self.words, number, seed)
                }
            };
            let Some(drawn) = drawn else {
                made.left_out += 1;
                continue;
            };
            let copy = apply(self.text, &drawn.edits).map_err(|misfit| Error::BadEdit {
                document: self.docno.into(),
                edit: misfit.edit as u64,
                found: misfit.found,
            })?;
            if copy.is_empty() {
                made.left_out += 1;
                continue;
            }
            made.no_next += drawn.no_next;
            for edit in &drawn.edits {
                *made.edits.entry(edit.kind()).or_default() += 1;
            }
            let id = format!("{}~{name}", self.docno);
            output.copy(&id, self.docno, seed, &drawn.edits, &copy)?;
            made.copies += 1;
            family.push(id);
        }
        made.pairs += output.pairs(&family, context)?;
        Ok(())
    }
}
