//! Looks up documents of one collection in another one, by the sets that are stored.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;

use crate::budget::{ByteSize, PROCESS_BYTES};
use crate::collection::{self, Catalogue, SetFile};
use crate::ids::{FingerprintKind, Key, Threshold};
use crate::measure::Criterion;
use crate::parse::TokenKind;
use crate::progress::{Context, Unit};
use crate::workspace::Workspace;
use crate::{Error, Result};

use super::batch::{Asked, QueryBatch};
use super::indexed::Looker;
use super::{Answer, BATCH_BYTES, FIXED_BYTES, QueryConfig};

/// The least memory for a batch and its matches.
const LEAST_ROOM: u64 = 4 << 20;

/// A document of a collection whose set is looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    /// Its number, which must be that of a representative.
    pub document: u32,
    /// Its words.
    pub words: u64,
    /// Its MD5.
    pub md5: [u8; 16],
}

/// The least memory for look-ups in the collection `to`, besides what the caller holds.
pub(crate) fn stored_bytes(to: &Workspace, context: &Context<'_>) -> Result<u64> {
    let documents = Catalogue::stats(to)?.documents;
    let threads = context.budget.threads as u64;
    let each = (4 << 20) + Looker::bytes(documents);
    Ok(PROCESS_BYTES + FIXED_BYTES + documents * 4 + threads * each + LEAST_ROOM)
}

/// Looks up `wanted` documents of the collection `from`, in the order of their numbers, in the
/// collection `to`, and calls `each` with the position of each among `wanted` and with all documents
/// that reach the threshold with it. The answers are those of [`super::run`] over the same texts.
///
/// `name` gives the docno of a document from its position, for errors. `held` are the bytes that the
/// caller holds. They may grow as answers come: the bytes of a match
/// that is handed on are free.
///
/// # Errors
/// `BadParameter` if the fingerprints of the collections are made in different ways;
/// `BudgetTooSmall`; those of reading.
pub(crate) fn stored(
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
    let windows = matches!(a.parse.tokens, TokenKind::Bytes(_));
    let seeded = a.fingerprint == FingerprintKind::Xxh3;
    let text = |value: &dyn std::fmt::Display| value.to_string();
    let flags = [
        ("tokens", text(&a.parse.tokens), text(&b.parse.tokens), true),
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
        ("seed", text(&a.seed), text(&b.seed), seeded),
    ];
    let differs = flags
        .into_iter()
        .find(|(_, a, b, counts)| *counts && a != b);
    match differs {
        None => Ok(()),
        Some((flag, a, b, _)) => Err(Error::BadParameter {
            name: "to",
            given: to.directory().display().to_string(),
            limit: format!(
                "it was made with --{flag} {b}, and {} with --{flag} {a}; make both with the same \
                 --{flag}",
                from.directory().display()
            ),
        }),
    }
}

/// A look-up of stored documents lists all matches, so there is no limit to lower.
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
        budget.require(ByteSize(self.held.get() + least), what)?;
        let fixed = || least - LEAST_ROOM + self.held.get();
        let room = || budget.memory.0.saturating_sub(fixed());
        let total = self.wanted.len() as u64;
        let unit = Unit::Count("documents");
        context.progress.start(self.stage, unit, Some(total));
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
        let mut sets = Sets::<K>::new(self.from);
        let (mut bytes, mut set) = (Vec::new(), Vec::new());
        Catalogue::stored_in_order(self.from)?.each(|document, stored| {
            if document.is_multiple_of(4096) {
                context.stop.check(self.stage)?;
            }
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
                budget.require(ByteSize(fixed() + needed), what)?;
            }
            bytes.clear();
            sets.read(place, &mut bytes)?;
            set.clear();
            set.extend(bytes.chunks_exact(K::BYTES).map(K::get_le));
            let asked = Asked {
                docno,
                words: wanted.words,
                md5: wanted.md5,
                keys: stored.into(),
            };
            batch.push(asked, &set);
            Ok(())
        })?;
        ask(&mut batch)
    }
}

/// The sets of a collection, read where they are wanted, in the order of the documents.
struct Sets<'a, K> {
    workspace: &'a Workspace,
    /// The number of segments that begin at or before the current document.
    segments: usize,
    /// Where the next set begins in its segment.
    next: u64,
    file: Option<SetFile>,
    block: Vec<u8>,
    key: PhantomData<K>,
}

impl<'a, K: Key> Sets<'a, K> {
    fn new(workspace: &'a Workspace) -> Self {
        Sets {
            workspace,
            segments: 0,
            next: 0,
            file: None,
            block: Vec::new(),
            key: PhantomData,
        }
    }

    /// Goes past a document with this number of keys; returns the place of its set.
    fn pass(&mut self, document: u32, keys: u32) -> Range<u64> {
        let segments = collection::segments(&self.workspace.manifest);
        while segments
            .get(self.segments)
            .is_some_and(|segment| segment.first_document <= document)
        {
            self.segments += 1;
            self.next = 0;
            self.file = None;
        }
        let start = self.next;
        self.next = start.saturating_add(u64::from(keys) * K::BYTES as u64);
        start..self.next
    }

    /// Reads the set at a place of the current segment.
    fn read(&mut self, place: Range<u64>, out: &mut Vec<u8>) -> Result<()> {
        let segments = collection::segments(&self.workspace.manifest);
        let segment = self.segments.checked_sub(1).and_then(|at| segments.get(at));
        let file = match (&mut self.file, segment) {
            (Some(file), _) => file,
            (file, Some(segment)) => file.insert(SetFile::open::<K>(self.workspace, segment)?),
            (None, None) => {
                return Err(Error::Corrupt {
                    path: self.workspace.directory().into(),
                    offset_bytes: None,
                    what: "documents of the catalogue".into(),
                    expected: "a segment with them".into(),
                    found: "none".into(),
                });
            }
        };
        file.read(place, &mut self.block, out)
    }
}
