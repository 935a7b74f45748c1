//! The shingles that two documents share.

use std::ops::Range;

use crate::align::{self, Words};
use crate::collection::{self, Catalogue, Sameness, each_set};
use lookalike_base::{Context, Error, Key, Measure, Memory, Result, counted, with_keys};

use lookalike_store::Workspace;
use lookalike_text::parse::{ParseConfig, each_token};

use super::find::{Found, find};
use super::texts::{Source, Text, no_text, texts};
use super::{FIXED_BYTES, STAGE};

/// The parameters of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompareConfig {
    /// The least tokens of a passage.
    pub length: usize,
    /// The most passages that are listed.
    pub most: usize,
    /// Bytes for each token, besides the comparison itself, that the caller needs to show it.
    pub shown_bytes: u64,
}

/// One of two documents.
#[derive(Debug)]
pub struct Side {
    pub found: Found,
    /// Its text and where its tokens lie, or the reason why there is none.
    pub text: std::result::Result<(Words, Source), String>,
}

impl Side {
    /// Its text.
    ///
    /// # Errors
    /// `Other` if it is missing.
    pub fn words(&self, workspace: &Workspace) -> Result<&Words> {
        match &self.text {
            Ok((words, _)) => Ok(words),
            Err(reason) => Err(no_text(workspace, &self.found, reason)),
        }
    }
}

/// Two documents.
#[derive(Debug)]
pub struct Both {
    pub a: Side,
    pub b: Side,
    /// Shingles that both have.
    pub shared: u64,
}

impl Both {
    /// Shared shingles of all shingles; `None` if neither document has a shingle.
    pub fn resemblance(&self) -> Option<f64> {
        let [a, b] = self.sizes();
        (a + b > 0).then(|| Measure::Resemblance.value(self.shared, a, b))
    }

    /// The resemblance as the result files print it.
    pub fn resemblance_text(&self) -> String {
        let [a, b] = self.sizes();
        Measure::Resemblance.text(self.shared, a, b)
    }

    /// The shared shingles as a part of the first document's shingles, and of the second's; `None`
    /// for a document without shingles.
    pub fn containments(&self) -> [Option<f64>; 2] {
        let of = |all: u64| (all > 0).then(|| self.shared as f64 / all as f64);
        self.sizes().map(of)
    }

    /// Shingles of both.
    pub fn sizes(&self) -> [u64; 2] {
        [&self.a, &self.b].map(|side| side.found.record.shingles.into())
    }

    /// Returns how far the texts agree if both have the same words.
    pub fn equal(&self) -> Option<Sameness> {
        let [a, b] = [&self.a, &self.b].map(|side| &side.found.record);
        (a.md5 == b.md5 && a.words == b.words).then(|| Sameness::of(a.text, b.text))
    }

    /// A sentence for two documents that have the same words; empty for others.
    pub fn equal_says(&self) -> String {
        let what = match &self.a.text {
            Ok((words, _)) => words.parse.overlooked(),
            Err(_) => "what tokens leave out".into(),
        };
        match self.equal() {
            None => String::new(),
            Some(Sameness::Identical) => {
                "The documents are identical: their texts are equal.".into()
            }
            Some(Sameness::SameWords) => {
                format!("The documents have the same words. Their texts differ in {what}.")
            }
            Some(Sameness::Unknown) => "The documents have the same words.".into(),
        }
    }
}

/// Finds two documents, reads their sets and their texts, and finds the tokens of the texts.
pub fn compare(
    workspace: &Workspace,
    names: [&str; 2],
    config: &CompareConfig,
    context: &Context<'_>,
) -> Result<Both> {
    let [a, b] = names.map(|name| find(workspace, name, context));
    let found = [a?, b?];
    let what = || {
        let [a, b] = [&found[0], &found[1]].map(|found| counted(found.record.words, "word"));
        format!("comparing documents of {a} and {b}")
    };
    let kind = collection::config(&workspace.manifest).shingle.fingerprint;
    let shared = with_keys!(kind, K => shared::<K>(workspace, &found, context, &what))?;
    let mut held = Memory::new(&context.budget, FIXED_BYTES);
    let texts = texts(workspace, &[&found[0], &found[1]], &mut held, context)?;
    let parse = &collection::config(&workspace.manifest).shingle.parse;
    for (text, found) in texts.iter().zip(&found) {
        // A text that does not fit cannot be counted. No token of the text has fewer than the words
        // that were counted when it was read.
        let tokens = match text {
            Text::Found { text, .. } if !text.is_empty() => {
                count(text, &parse.of(&found.record.docno))
            }
            _ => found.record.words,
        };
        let more = [align::differences::BYTES, align::matches::BYTES].into_iter();
        let more = more.fold(align::NUMBER_BYTES, u64::max);
        // Where it lies, whether it is a name, its number, its piece, and the key that is compared.
        let name = u64::from(parse.fold.identifiers);
        let each = size_of::<Range<usize>>() as u64 + name + 4 + 8 + more + config.shown_bytes;
        let _ = held.take(tokens.saturating_mul(each));
        if tokens > u64::from(u32::MAX) {
            return Err(Error::too_many("tokens of a text", tokens, u32::MAX.into()));
        }
    }
    held.check(what)?;
    let mut texts = texts.into_iter();
    let mut side = |found: Found| Side {
        text: match texts.next() {
            Some(Text::Found { text, source }) => {
                let words = Words::new(text, false, parse.of(&found.record.docno));
                Ok((words, source))
            }
            Some(Text::Missing { reason }) => Err(reason),
            None => Err("it was not read".into()),
        },
        found,
    };
    let [a, b] = found.map(&mut side);
    Ok(Both { a, b, shared })
}

fn count(text: &str, parse: &ParseConfig) -> u64 {
    let mut tokens = 0;
    each_token(text, parse, |_| {
        tokens += 1;
        true
    });
    tokens
}

/// The number of fingerprints that two documents share.
fn shared<K: Key>(
    workspace: &Workspace,
    found: &[Found; 2],
    context: &Context<'_>,
    what: &dyn Fn() -> String,
) -> Result<u64> {
    let keys = found.iter().map(|found| u64::from(found.record.shingles));
    let bytes = FIXED_BYTES + keys.sum::<u64>() * K::BYTES as u64;
    context.budget.require(bytes, what)?;
    // The set of an exact duplicate may be missing; its representative's set is stored.
    let [a, b] = found;
    let firsts = Catalogue::representatives_of(workspace, [a.number, b.number])?;
    if firsts[0] == firsts[1] {
        return Ok(found[0].record.shingles.into());
    }
    let mut read = [Vec::new(), Vec::new()];
    each_set::<K>(workspace, |document, _, set| {
        context.tick(STAGE, document)?;
        let mut wanted = firsts.iter().zip(&mut read);
        wanted
            .find(|(first, _)| **first == document)
            .map_or(Ok(()), |(_, out)| set(out))
    })?;
    let [a, b] = &read;
    Ok(K::shared_le(a, b, 0).unwrap_or(0))
}
