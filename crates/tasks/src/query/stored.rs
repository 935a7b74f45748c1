//! Looks up documents of one collection in another one, by the sets that are stored.

use std::cell::Cell;

use lookalike_base::{
    Context, Criterion, Error, FingerprintKind, Key, PROCESS_BYTES, Result, Threshold, Unit,
    refuse, with_keys,
};
use lookalike_engine::collection::{self, Catalogue, TextDigest};
use lookalike_store::Workspace;
use lookalike_text::parse::TokenKind;

use super::batch::QueryBatch;
use super::indexed::{Asked, Looker};
use super::{Answer, BATCH_BYTES, FIXED_BYTES, LEAST_ROOM, QueryConfig, THREAD_BYTES};

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

/// The least memory for look-ups in the collection `to`, besides the memory of the caller.
pub fn stored_bytes(to: &Workspace, context: &Context<'_>) -> Result<u64> {
    let documents = Catalogue::stats(to)?.documents;
    let threads = context.budget.threads as u64;
    let each = THREAD_BYTES + Looker::bytes(documents);
    Ok(PROCESS_BYTES + FIXED_BYTES + documents * 4 + threads * each + LEAST_ROOM)
}

/// Refuses collections whose fingerprints cannot be compared, and names the flag.
fn check_alike(from: &Workspace, to: &Workspace) -> Result<()> {
    let [a, b] = [from, to].map(|workspace| &collection::config(&workspace.manifest).shingle);
    if a.parse.token_rule != b.parse.token_rule {
        for (workspace, shingle) in [(from, a), (to, b)] {
            shingle.parse.check_rule(workspace.directory())?;
        }
    }
    let flags = [a, b].map(|of| {
        let windows = matches!(of.parse.tokens, TokenKind::Bytes(_));
        let seeded = of.fingerprint == FingerprintKind::Xxh3;
        let mut flags = of.flags();
        flags.retain(|(flag, _)| match *flag {
            "detect-charset" => false,
            // Windows of bytes have their size in the tokens.
            "shingle-size" => !windows,
            "seed" => seeded,
            _ => true,
        });
        flags
    });
    let differs = flags[0].iter().zip(&flags[1]).find(|(a, b)| a != b);
    let Some(((flag, a), (_, b))) = differs else {
        return Ok(());
    };
    let [from, to] = [from, to].map(|workspace| workspace.directory().display());
    let limit = format!(
        "it was made with --{flag} {b}, and {from} with --{flag} {a}; make both with the same \
         --{flag}"
    );
    refuse("to", to, limit)
}

/// A look-up of stored documents lists all matches, so no limit can be lowered.
fn without_top(mut error: Error) -> Error {
    if let Error::BudgetTooSmall { what, .. } = &mut error {
        *what = what.replace(" (a smaller --top needs less)", "");
    }
    error
}

/// Looks up documents of a collection, in the order of their numbers, in another one.
pub struct StoredQueries<'a> {
    /// The name of the stage.
    pub stage: &'static str,
    /// Memory, threads and progress.
    pub context: &'a Context<'a>,
    /// The collection of the documents.
    pub from: &'a Workspace,
    /// The documents.
    pub wanted: &'a [Stored],
    /// The other collection.
    pub to: &'a Workspace,
    /// The least resemblance.
    pub threshold: Threshold,
    /// The bytes that the caller holds. They may grow as answers come: the bytes of a match that is
    /// handed on are free.
    pub held: &'a Cell<u64>,
    /// The docno of a document from its position, for errors.
    pub name: &'a dyn Fn(usize) -> String,
}

impl StoredQueries<'_> {
    /// Calls `each` with the position of each document and with all documents that reach the
    /// threshold with it. The answers equal the answers of [`super::run`] for the same texts.
    ///
    /// # Errors
    /// `BadParameter` if the fingerprints of the collections are made in different ways;
    /// `BudgetTooSmall`; those of reading.
    pub fn ask(&self, mut each: impl FnMut(usize, Answer) -> Result<()>) -> Result<()> {
        check_alike(self.from, self.to)?;
        let kind = collection::config(&self.to.manifest).shingle.fingerprint;
        with_keys!(kind, K => self.run::<K>(&mut each))
    }

    fn run<K: Key>(&self, each: &mut dyn FnMut(usize, Answer) -> Result<()>) -> Result<()> {
        let config = QueryConfig {
            criterion: Criterion {
                threshold: self.threshold,
                ..Criterion::default()
            },
            containing: None,
            top: None,
        };
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
        let mut batch = QueryBatch::<K>::new(self.to, &config)?;
        let mut answered = 0;
        let mut ask = |batch: &mut QueryBatch<K>| -> Result<()> {
            let asked = batch.ask(fixed(), room(), context, |answer| {
                each(answered, answer)?;
                answered += 1;
                Ok(())
            });
            asked.map_err(without_top)?;
            context.progress.at(answered as u64);
            Ok(())
        };
        let mut wanted = self.wanted.iter().enumerate().peekable();
        let (mut bytes, mut set) = (Vec::new(), Vec::new());
        collection::each_set::<K>(self.from, |document, stored, read| {
            context.tick(self.stage, document)?;
            let next = wanted.next_if(|(_, wanted)| wanted.document == document);
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
            read(&mut bytes)?;
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
