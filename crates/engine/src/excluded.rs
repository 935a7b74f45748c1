//! Reads texts that count for no document: a template, a licence, an assignment.
//!
//! # In and out
//! In: files and directories. They are read as the inputs of the collection are, so a file may have
//! several documents. Out: the [`Excluded`] shingles of all of them, or each document.
//!
//! # Cost
//! Memory: the record that is read, of at most [`MOST_TEXT_BYTES`], and what its shingles take.
//!
//! # Errors
//! `BadParameter` for a file without a document, for a record that is rejected, for standard input,
//! and for texts with too many shingles; those of reading.

use std::path::{Path, PathBuf};

use crate::collection::CollectionConfig;
use crate::shingle::{Excluded, MOST_EXCLUDED, Shingler};
use lookalike_base::{Context, Error, Key, Result, budget::ByteSize, count, with_keys};
use lookalike_text::parse::TokenKind;
use lookalike_text::read::{
    FileRecords, InputFile, Interpreted, Notice, RawDocument, ReadConfig, interpret, list_inputs,
    warnings,
};

const STAGE: &str = "exclude";

/// The largest document.
pub const MOST_TEXT_BYTES: u64 = 8 << 20;
/// The most warnings of a file that are printed.
const MOST_WARNINGS: u64 = 10;
/// Bytes of memory for shingles of a document at once.
const SET_BYTES: u64 = 8 << 20;

/// The shingles of the texts in some files, if files are given.
///
/// # Errors
/// As the module says.
pub fn excluded(
    files: &[PathBuf],
    config: &CollectionConfig,
    context: &Context<'_>,
) -> Result<Option<Excluded>> {
    if files.is_empty() {
        return Ok(None);
    }
    config.check()?;
    with_keys!(config.shingle.fingerprint, K => shingles::<K>(files, config, context)).map(Some)
}

fn shingles<K: Key>(
    files: &[PathBuf],
    config: &CollectionConfig,
    context: &Context<'_>,
) -> Result<Excluded> {
    let mut shingler = Shingler::<K>::new(&config.shingle);
    let (mut keys, mut set) = (Vec::new(), Vec::new());
    let mut is_full = false;
    let mut told = PathBuf::new();
    let tokens = &config.shingle.parse.tokens;
    let texts = each_text(files, &config.read, context, |document, file| {
        if tokens.is_by_name() && tokens.of(&document.docno) == TokenKind::Words && told != file {
            let name = file.display();
            context.progress.note(&format!(
                "{name} is excluded as words, because its name does not end as a program's name \
                 does; to exclude it from programs, rename it (template.py)"
            ));
            told = file.to_path_buf();
        }
        let facts = shingler.in_passes(document, SET_BYTES, &mut set, |_, set| {
            if !is_full {
                keys.extend(set.iter().map(|key| key.to_u128()));
                keys.sort_unstable();
                keys.dedup();
                is_full = keys.len() > MOST_EXCLUDED;
            }
        });
        shingler.shrink();
        match is_full {
            true => Err(too_many(file, "shingles", MOST_EXCLUDED)),
            false => Ok((facts.words, facts.notices)),
        }
    })?;
    Ok(Excluded::new(&keys, texts))
}

/// The error for texts that are too long.
pub fn too_many(file: &Path, what: &str, most: usize) -> Error {
    let most = count(most as u64);
    let limit = format!(
        "up to here, the texts have more than {most} different {what}; exclude only what many \
         documents are made from, such as a template"
    );
    wrong(file, limit)
}

fn wrong(file: &Path, why: impl std::fmt::Display) -> Error {
    Error::parameter("exclude-text", file.display()).because(why.to_string())
}

/// Passes each document of some files to `each`, in their order, which returns the number of its
/// words and the warnings of its parser. Returns the number of documents.
pub fn each_text(
    files: &[PathBuf],
    read: &ReadConfig,
    context: &Context<'_>,
    mut each: impl FnMut(&RawDocument<'_>, &Path) -> Result<(u64, Vec<Notice>)>,
) -> Result<u64> {
    if let Some(file) = files.iter().find(|file| *file == Path::new("-")) {
        return Err(wrong(
            file,
            "it is read again when documents are added; give a file",
        ));
    }
    let read = ReadConfig {
        max_document: ByteSize(read.max_document.0.min(MOST_TEXT_BYTES)),
        ..read.clone()
    };
    let inputs = list_inputs(files)?;
    inputs.check_readable()?;
    let mut documents = 0;
    for (number, input) in (0..).zip(inputs.iter()) {
        let found = each_of(input, number, &read, context, &mut each)?;
        if found == 0 {
            return Err(wrong(&input.path, "it has no document"));
        }
        documents += found;
    }
    Ok(documents)
}

fn each_of(
    input: &InputFile,
    number: u32,
    read: &ReadConfig,
    context: &Context<'_>,
    each: &mut impl FnMut(&RawDocument<'_>, &Path) -> Result<(u64, Vec<Notice>)>,
) -> Result<u64> {
    let name = input.path.display().to_string();
    read.check_programs(context)?;
    let mut records = FileRecords::open(input, number, read, STAGE, context.stop);
    let (mut documents, mut warned) = (0, 0);
    while let Some((record, bytes)) = records.next_record()? {
        match interpret(record, bytes, read) {
            Interpreted::Document(document) => {
                let (words, parsed) = each(&document, &input.path)?;
                documents += 1;
                for warning in warnings(&document, words, parsed) {
                    warned += 1;
                    if warned <= MOST_WARNINGS {
                        let line = warning.line(&name);
                        context.progress.note(&format!("warning: {line}"));
                    }
                }
            }
            Interpreted::Rejected(reject) => {
                context.stop.check(STAGE)?;
                return Err(wrong(&input.path, reject.line(&name)));
            }
            Interpreted::Skipped(_) => {}
        }
    }
    if warned > MOST_WARNINGS {
        let more = count(warned - MOST_WARNINGS);
        let line = format!("warning: {name}: {more} more warnings");
        context.progress.note(&line);
    }
    Ok(documents)
}
