//! Counts the documents, words and shingles of inputs, by file.
//!
//! # Algorithm
//! All shingles are put into an external sort, with the number of their file. A group of equal
//! shingles counts once for each of its files, and once for all of them.
//!
//! # Cost
//! One hash for each shingle, as for `ingest`, and the sort, with about 12 bytes on disk for each.
//!
//! # Errors
//! `BudgetTooSmall`, and the errors of reading; `Io` for the sort.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use serde::Serialize;

use lookalike_base::{Context, MOST_SORT_BYTES, Result, budget::ByteSize, count, lock};
use lookalike_engine::scan::{Shingled, each_shingled, least_shingled};
use lookalike_engine::shingle::ShingleConfig;
use lookalike_store::{Scratch, Sort, item, row};
use lookalike_text::read::{InputFile, ReadConfig};

const STAGE: &str = "count";
/// The least memory of the sort, half of which is for merging its parts.
const SORT_BYTES: u64 = 32 << 20;
/// Leading bits of a number of words that the distribution keeps.
const BITS: u32 = 7;

row! {
    /// The counts of a file, or of all inputs.
    pub struct InputCounts {
        /// The path of the file, or `all`.
        input: String as Text,
        /// Documents.
        documents: u64 as I64,
        /// Records that should be documents but are not.
        rejected: u64 as I64,
        /// Bytes of the documents, decompressed.
        bytes: u64 as I64,
        /// Words, or other tokens.
        words: u64 as I64,
        /// Shingles, each counted once for each document that has it.
        shingles: u64 as I64,
        /// Shingles, each counted once.
        distinct_shingles: u64 as I64,
    }
}

/// The result. The numbers of words are rounded down by less than 2 %.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counts {
    /// Each file, in the order of the inputs, and `all`.
    pub inputs: Vec<InputCounts>,
    /// The most words of the shortest tenth of the documents.
    pub words_p10: u64,
    /// The most words of the shorter half of the documents.
    pub words_median: u64,
    /// The most words of the documents without the longest tenth.
    pub words_p90: u64,
    /// Warnings about files from which no document was read.
    #[serde(skip)]
    pub unread: Vec<String>,
}

item! {
    struct Shingle {
        key: u128,
        file: u32,
    }
}

impl Counts {
    /// The lengths of documents in a sentence.
    #[must_use]
    pub fn lengths(&self) -> String {
        let [tenth, half, most] = [self.words_p10, self.words_median, self.words_p90].map(count);
        format!(
            "Words of a document: a tenth has at most {tenth}, half at most {half}, nine tenths at \
             most {most}."
        )
    }
}

/// Counts inputs. Temporary files are written to a new directory in `scratch`.
pub fn run(
    inputs: &[InputFile],
    read: &ReadConfig,
    shingle: &ShingleConfig,
    scratch: &Path,
    context: &Context<'_>,
) -> Result<Counts> {
    let least = least_shingled(read, inputs.len()) + SORT_BYTES;
    let spare = context.budget.memory.0.saturating_sub(least) / 2;
    let memory = SORT_BYTES + spare.min(MOST_SORT_BYTES);
    let scratch = Scratch::within(scratch)?;
    let mut sort = Sort::scratch(&scratch.path().join("shingles"), ByteSize(memory / 2))?;
    let names = inputs.iter().map(|input| input.docno.as_str());
    let named = |input: &str| InputCounts {
        input: input.into(),
        ..InputCounts::default()
    };
    let (mut rows, all): (Vec<_>, _) = (names.chain(["all"]).map(named).collect(), inputs.len());
    let mut lengths = BTreeMap::new();
    let counting = Mutex::new((&mut rows, &mut sort, &mut lengths));
    let take = |file: u32, found: Shingled<'_>| {
        let (rows, sort, lengths) = &mut *lock(&counting);
        let mut add =
            |act: &dyn Fn(&mut InputCounts)| [file as usize, all].map(|n| act(&mut rows[n]));
        match found {
            Shingled::Rejected => add(&|row| row.rejected += 1),
            Shingled::Shingles(keys) => {
                let mut n = 0;
                for key in keys {
                    sort.push(Shingle { key, file })?;
                    n += 1;
                }
                add(&|row| row.shingles += n)
            }
            Shingled::Document(facts, bytes) => {
                let low = (facts.words.max(1).ilog2() + 1).saturating_sub(BITS);
                *lengths.entry(facts.words >> low << low).or_default() += 1;
                add(&|row| {
                    row.documents += 1;
                    row.bytes += bytes;
                    row.words += facts.words;
                })
            }
        };
        Ok(())
    };
    let unread = each_shingled(STAGE, inputs, read, shingle, memory, context, take)?;
    sort.finish()?.unique().groups(
        |shingle| shingle.key,
        |_, group| {
            while let Some(shingle) = group.next()? {
                rows[shingle.file as usize].distinct_shingles += 1;
            }
            rows[all].distinct_shingles += 1;
            context.tick(STAGE, rows[all].distinct_shingles)
        },
    )?;
    let words = |tenths: u64| {
        let mut documents: u64 = 0;
        let reaches = |(_, n): &(&u64, &u64)| {
            documents += **n;
            documents * 10 >= rows[all].documents * tenths
        };
        lengths.iter().find(reaches).map_or(0, |(words, _)| *words)
    };
    let [words_p10, words_median, words_p90] = [1, 5, 9].map(words);
    let used = read.used_fields(rows[all].documents > 0);
    Ok(Counts {
        inputs: rows,
        words_p10,
        words_median,
        words_p90,
        unread: unread.warnings(None, used),
    })
}
