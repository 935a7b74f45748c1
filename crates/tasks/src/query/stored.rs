//! Looks up documents of one collection in another one, by the sets that are stored.

use std::cell::Cell;

use lookalike_base::budget::PROCESS_BYTES;
use lookalike_base::ids::{FingerprintKind, Key, Threshold};
use lookalike_base::measure::Criterion;
use lookalike_base::progress::{Context, Unit};
use lookalike_base::{Error, Result};
use lookalike_engine::collection::{self, Catalogue, SetsByPlace, TextDigest};
use lookalike_engine::shingle::Excluded;
use lookalike_store::workspace::Workspace;
use lookalike_text::parse::TokenKind;

use super::batch::QueryBatch;
use super::indexed::Asked;
use super::indexed::Looker;
use super::{Answer, BATCH_BYTES, FIXED_BYTES, QueryConfig};

/// The least memory for a batch and its matches.
const LEAST_ROOM: u64 = 4 << 20;

/// A document of a collection whose set is looked up.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// Its number, which must belong to a representative.
    pub document: u32,
    /// Its words.
    pub words: u64,
    /// Its MD5.
    pub md5: [u8; 16],
}

/// The least memory for look-ups in the collection `to`, besides what the caller holds.
pub fn stored_bytes(to: &Workspace, context: &Context<'_>) -> Result<u64> {
    let documents = Catalogue::stats(to)?.documents;
    let threads = context.budget.threads as u64;
    let each = (4 << 20) + Looker::bytes(documents);
    Ok(PROCESS_BYTES + FIXED_BYTES + documents * 4 + threads * each + LEAST_ROOM)
}

/// Looks up `wanted` documents of the collection `from`, in the order of their numbers, in the
/// collection `to`, and calls `each` with the position of each among `wanted` and with all
/// documents that reach the threshold with it. The answers equal the answers of [`super::run`] for
/// the same texts.
///
/// `name` gives the docno of a document from its position, for errors. `held` are the bytes that
/// the caller holds. They may grow as answers come: the bytes of a match that is handed on are
/// free.
///
/// # Errors
/// `BadParameter` if the fingerprints of the collections are made in different ways;
/// `BudgetTooSmall`; those of reading.
pub fn stored(
    (stage, context): (&'static str, &Context<'_>),
    (from, wanted): (&Workspace, &[Stored]),
    to: &Workspace,
    threshold: Threshold,
    held: &Cell<u64>,
    name: &dyn Fn(usize) -> String,
    mut each: impl FnMut(usize, Answer) -> Result<()>,
) -> Result<()> {
    check_alike(from, to)?;
    let config = QueryConfig {
        criterion: Criterion {
            threshold,
            ..Criterion::default()
        },
        containing: None,
        top: None,
        ..QueryConfig::default()
    };
    let asking = Asking {
        stage,
        context,
        from,
        wanted,
        to,
        config: &config,
        held,
        name,
    };
    match collection::config(&to.manifest).shingle.fingerprint {
        FingerprintKind::Xxh3 => asking.run::<u64>(&mut each),
        FingerprintKind::Md5 => asking.run::<u128>(&mut each),
    }
}

/// Refuses collections whose fingerprints cannot be compared, and names the flag.
fn check_alike(from: &Workspace, to: &Workspace) -> Result<()> {
    let [a, b] = [from, to].map(|workspace| &collection::config(&workspace.manifest).shingle);
    if a.parse.token_rule != b.parse.token_rule {
        for (workspace, shingle) in [(from, a), (to, b)] {
            shingle.parse.check_rule(workspace.directory())?;
        }
    }
    let windows = matches!(a.parse.tokens, TokenKind::Bytes(_));
    let seeded = a.fingerprint == FingerprintKind::Xxh3;
    let text = |value: &dyn std::fmt::Display| value.to_string();
    let flags = [
        ("tokens", text(&a.parse.tokens), text(&b.parse.tokens), true),
        ("fold", text(&a.parse.fold), text(&b.parse.fold), true),
        (
            "shingle-size",
            text(&a.shingle_size),
            text(&b.shingle_size),
            !windows,
        ),
        ("short", text(&a.short), text(&b.short), true),
        (
            "fingerprint",
            text(&a.fingerprint),
            text(&b.fingerprint),
            true,
        ),
        (
            "exclude-text",
            Excluded::text_of(a.excluded.as_ref()),
            Excluded::text_of(b.excluded.as_ref()),
            true,
        ),
        ("seed", text(&a.seed), text(&b.seed), seeded),
    ];
    let differs = flags
        .into_iter()
        .find(|(_, a, b, counts)| *counts && a != b);
    match differs {
        None => Ok(()),
        Some((flag, a, b, _)) => Err(Error::parameter("to", to.directory().display()).because(
            format!(
                "it was made with --{flag} {b}, and {} with --{flag} {a}; make both with the same \
                 --{flag}",
                from.directory().display()
            ),
        )),
    }
}

/// A look-up of stored documents lists all matches, so no limit can be lowered.
fn without_top(mut error: Error) -> Error {
    if let Error::BudgetTooSmall { what, .. } = &mut error {
        *what = what.replace(" (a smaller --top needs less)", "");
    }
    error
}

struct Asking<'a> {
    stage: &'static str,
    context: &'a Context<'a>,
    from: &'a Workspace,
    wanted: &'a [Stored],
    to: &'a Workspace,
    config: &'a QueryConfig,
    held: &'a Cell<u64>,
    name: &'a dyn Fn(usize) -> String,
}

impl Asking<'_> {
    fn run<K: Key>(&self, each: &mut dyn FnMut(usize, Answer) -> Result<()>) -> Result<()> {
        let context = self.context;
        let budget = context.budget;
        let least = stored_bytes(self.to, context)?;
        let what = || "looking up documents of another collection".into();
        budget.require(self.held.get() + least, what)?;
        let fixed = || least - LEAST_ROOM + self.held.get();
        let room = || budget.memory.0.saturating_sub(fixed());
        let total = self.wanted.len() as u64;
        let unit = Unit::Count("documents");
        context.start(self.stage, unit, Some(total));
        let mut batch = QueryBatch::<K>::new(self.to, self.config)?;
        let mut answered = 0;
        let mut ask = |batch: &mut QueryBatch<K>| -> Result<()> {
            let asked = batch.ask((fixed(), room()), context, |answer| {
                each(answered, answer)?;
                answered += 1;
                Ok(())
            });
            asked.map_err(without_top)?;
            context.progress.at(answered as u64);
            Ok(())
        };
        let mut wanted = self.wanted.iter().enumerate().peekable();
        let mut sets = SetsByPlace::<K>::new(self.from);
        let (mut bytes, mut set) = (Vec::new(), Vec::new());
        Catalogue::stored_in_order(self.from)?.each(|document, stored| {
            context.tick(self.stage, document)?;
            let next = wanted.next_if(|(_, wanted)| wanted.document == document);
            let place = sets.pass(document, stored);
            let Some((at, wanted)) = next else {
                return Ok(());
            };
            let docno = (self.name)(at);
            let needed = QueryBatch::<K>::bytes_of_one(stored as usize);
            let most = (room() / 2).min(BATCH_BYTES);
            if batch.bytes() + QueryBatch::<K>::bytes_of(stored as usize) > most {
                ask(&mut batch)?;
            }
            if needed > room() {
                let what = || format!("looking {docno} up");
                budget.require(fixed() + needed, what)?;
            }
            sets.read(place, &mut bytes)?;
            set.clear();
            set.extend(bytes.chunks_exact(K::BYTES).map(K::get_le));
            let asked = Asked {
                docno,
                words: wanted.words,
                md5: wanted.md5,
                // Transfers do not compare texts.
                text: TextDigest::default(),
                keys: stored.into(),
            };
            batch.push(asked, &set);
            Ok(())
        })?;
        ask(&mut batch)
    }
}
