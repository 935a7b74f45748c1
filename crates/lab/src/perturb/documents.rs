//! Reads the documents of the inputs one by one, and collects the data of the first reading.

use std::collections::BTreeMap;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::STAGE;
use super::config::PerturbConfig;
use super::words::{self, TermList};
use lookalike_base::{Context, Error, Result, counted};
use lookalike_text::parse::{ParseConfig, Parser, TokenKind};
use lookalike_text::read::{InputFile, Interpreted, RawDocument, each_interpreted};

/// Peak bytes of the tables per document: its data, twice while the table grows, its place in an
/// order, and, if all documents are copied, three growing hash tables.
pub(super) const DOCUMENT_BYTES: usize = 160;
/// The number of documents that a 32-bit number can name, with one number reserved.
const MOST_DOCUMENTS: u64 = u32::MAX as u64 - 1;
/// Records between two checks of the budget and of the stop request.
pub(super) const LOOK_AFTER: u64 = 1024;

/// Counts of records. In: `records`. Out: `documents`, `rejected`, `skipped`; they add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadCounts {
    /// Records and rejects that the reader delivered.
    pub records: u64,
    /// Records that are documents.
    pub documents: u64,
    /// Records rejected, by reason.
    pub rejected: BTreeMap<String, u64>,
    /// Records that are not documents, by kind.
    pub skipped: BTreeMap<String, u64>,
}

/// Reads the documents of the inputs in order, with one in memory at a time.
pub(super) fn each_document(
    inputs: &[InputFile],
    config: &PerturbConfig,
    read_before: u64,
    context: &Context<'_>,
    mut act: impl FnMut(u32, &RawDocument<'_>, &mut Parser) -> Result<()>,
) -> Result<ReadCounts> {
    let mut parser = Parser::new(&ParseConfig {
        tokens: TokenKind::RAW,
        detector: config.detector,
        ..ParseConfig::default()
    });
    let mut counts = ReadCounts::default();
    each_interpreted(inputs, &config.read, STAGE, read_before, context, |found| {
        counts.records += 1;
        match found {
            Interpreted::Document(document) => {
                if counts.documents == MOST_DOCUMENTS {
                    return Err(Error::too_many(
                        "documents",
                        counts.documents + 1,
                        MOST_DOCUMENTS,
                    ));
                }
                act(counts.documents as u32, &document, &mut parser)?;
                counts.documents += 1;
            }
            Interpreted::Skipped(kind) => {
                *counts.skipped.entry(kind.to_string()).or_default() += 1;
            }
            Interpreted::Rejected(reject) => {
                let reason = reject.reason.text().to_string();
                *counts.rejected.entry(reason).or_default() += 1;
            }
        }
        Ok(())
    })?;
    Ok(counts)
}

/// The data kept of a document. Words and bytes saturate at 2^32 - 1, which no document that fits
/// in memory reaches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Surveyed {
    pub words: u32,
    /// Bytes of its text.
    pub bytes: u32,
    /// xxh3 of its text.
    pub text: u64,
    /// xxh3 of its docno.
    pub docno: u64,
}

/// The result of the first reading.
pub(super) struct Survey {
    pub documents: Vec<Surveyed>,
    /// Words of all.
    pub words: u64,
    pub terms: TermList,
    /// Docnos that copies could get, with the hashes of the docnos of their originals.
    pub like_copies: Vec<(String, u64)>,
}

pub(super) fn survey(
    inputs: &[InputFile],
    config: &PerturbConfig,
    fixed: u64,
    context: &Context<'_>,
) -> Result<Survey> {
    let mut found = Survey {
        documents: Vec::new(),
        words: 0,
        terms: TermList::new(config.seed),
        like_copies: Vec::new(),
    };
    let mut names = 0u64;
    each_document(inputs, config, 0, context, |number, document, parser| {
        if u64::from(number).is_multiple_of(LOOK_AFTER) {
            let tables = (u64::from(number) + LOOK_AFTER) * DOCUMENT_BYTES as u64;
            let what = || format!("{} and more", counted(number.into(), "document"));
            context.budget.require(fixed + tables + names, what)?;
        }
        let terms = config.needs_terms().then_some(&mut found.terms);
        let (words, bytes, text) = words::facts(document, parser, terms);
        if let Some(original) = config.recipe.original_of(&document.docno) {
            let hash = xxh3_64(original.as_bytes());
            names += 64 + document.docno.len() as u64;
            found.like_copies.push((document.docno.to_string(), hash));
        }
        found.words += words;
        found.documents.push(Surveyed {
            words: u32::try_from(words).unwrap_or(u32::MAX),
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            text,
            docno: xxh3_64(document.docno.as_bytes()),
        });
        Ok(())
    })?;
    found.terms.close();
    Ok(found)
}
