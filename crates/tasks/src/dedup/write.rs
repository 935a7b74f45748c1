//! How deduplication writes the inputs again: an [`Edit`].

use std::io::Read;
use std::iter::Peekable;
use std::sync::atomic::{AtomicU64, Ordering};

use super::revisit::Revisits;
use super::{Decided, DedupConfig, Form, Unusable, captures, values};
use lookalike_base::{Credit, Result};
use lookalike_engine::collection::{InputRecord, InputRecords};
use lookalike_rewrite::source::Source;
use lookalike_rewrite::{Action, Edit, FileEdit, Span, Target};
use lookalike_text::read::InputFile;

/// The data that the writing pass needs.
pub(super) struct Writing<'p> {
    pub decided: &'p Decided<'p>,
    pub config: &'p DedupConfig,
    /// The `revisit` records in place of removed ones.
    pub revisits: Option<&'p Revisits>,
    /// Requests and metadata that are removed with a WARC record.
    pub companions: AtomicU64,
}

impl<'p> Edit for Writing<'p> {
    type Records = InputRecords<'p>;
    type File<'f>
        = Records<'f, 'p>
    where
        Self: 'f;

    fn open(&self, file: u32) -> InputRecords<'p> {
        InputRecords::of_file(self.decided.workspace, file)
    }

    fn changes(&self, file: u32, _: &mut InputRecords<'p>) -> Result<bool> {
        let mut documents = self.decided.places.documents(file);
        Ok(match self.is_annotated() {
            true => !documents.is_empty(),
            false => self.drops_rejects() || documents.any(|document| !self.keeps(document)),
        })
    }

    fn file<'f>(
        &'f self,
        target: Target<'f>,
        entries: &'f mut InputRecords<'p>,
        memory: &Credit,
    ) -> Result<Records<'f, 'p>> {
        let Target { number, input, .. } = target;
        let companions = match target.is_parquet || self.is_annotated() {
            true => Vec::new(),
            false => self.companions(number, input, memory)?,
        };
        // They count in every call, even if an earlier one wrote the file.
        let count = companions.len() as u64;
        self.companions.fetch_add(count, Ordering::Relaxed);
        Ok(Records {
            plan: self,
            file: number,
            entries,
            companions: companions.into_iter().peekable(),
            next: None,
        })
    }
}

impl Writing<'_> {
    /// Whether each record is annotated, in place of removing records.
    fn is_annotated(&self) -> bool {
        self.config.form == Form::Annotated
    }

    fn drops_rejects(&self) -> bool {
        self.config.rejects == Unusable::Drop
    }

    fn keeps(&self, document: u32) -> bool {
        self.decided.choice.fate(document).is_none()
    }

    /// The requests and metadata of the removed records of a WARC file.
    fn companions(&self, file: u32, input: &InputFile, memory: &Credit) -> Result<Vec<(u64, u64)>> {
        let (read, mut head) = (self.decided.choosing().read(), [0; 5]);
        let found = Source::open(&input.path)?.read_exact(&mut head);
        if found.is_err() || &head != b"WARC/" {
            return Ok(Vec::new());
        }
        let _memory = memory.hold(values::memory_of_reader(read));
        let mut entries = self.open(file);
        let mut current: Option<(u64, bool)> = None;
        let is_removed = |offset| {
            while current.is_none_or(|(at, _)| at < offset) {
                match entries.next_of(file)? {
                    None => return Ok(false),
                    Some(InputRecord::Document(number, document)) => {
                        // A capture that a revisit record stands for keeps its request.
                        let stands = self.revisits.is_some_and(|all| all.stands(number));
                        current = Some((document.offset, !self.keeps(number) && !stands));
                    }
                    Some(InputRecord::Rejected(_)) => {}
                }
            }
            Ok(current.is_some_and(|(at, removed)| at == offset && removed))
        };
        captures::companions(input, read, is_removed, self.decided.context)
    }

    fn action(&self, document: u32) -> Result<Action> {
        if self.is_annotated() {
            return Ok(Action::Annotate(self.decided.annotation(document)?));
        }
        if self.keeps(document) {
            return Ok(Action::Keep);
        }
        let score = |document| self.decided.score_text(document);
        let revisits = self.revisits;
        let reference = revisits.map(|revisits| revisits.reference(document, &score));
        let reference = reference.transpose()?.flatten();
        Ok(reference.map_or(Action::Remove, Action::Revisit))
    }
}

/// The documents of a file, and its other records that are removed.
pub(super) struct Records<'e, 'p> {
    plan: &'e Writing<'p>,
    file: u32,
    entries: &'e mut InputRecords<'p>,
    /// Places of requests and metadata.
    companions: Peekable<std::vec::IntoIter<(u64, u64)>>,
    /// An entry that comes after a companion.
    next: Option<Span>,
}

fn removed((offset, length): (u64, u64)) -> Span {
    Span {
        offset,
        length,
        action: Action::Remove,
    }
}

impl Records<'_, '_> {
    /// The next document or removed reject of the file.
    fn entry(&mut self) -> Result<Option<Span>> {
        while let Some(entry) = self.entries.next_of(self.file)? {
            match entry {
                InputRecord::Document(number, document) => {
                    return Ok(Some(Span {
                        offset: document.offset,
                        length: document.length,
                        action: self.plan.action(number)?,
                    }));
                }
                InputRecord::Rejected(reject)
                    if reject.source.length > 0 && self.plan.drops_rejects() =>
                {
                    return Ok(Some(removed((reject.source.offset, reject.source.length))));
                }
                InputRecord::Rejected(_) => {}
            }
        }
        Ok(None)
    }
}

impl FileEdit for Records<'_, '_> {
    fn next(&mut self) -> Result<Option<Span>> {
        let entry = match self.next.take() {
            Some(entry) => Some(entry),
            None => self.entry()?,
        };
        let is_before = |companion: &(u64, u64)| {
            let entry = entry.as_ref();
            entry.is_none_or(|entry| companion.0 < entry.offset)
        };
        match self.companions.next_if(is_before) {
            Some(companion) => {
                self.next = entry;
                Ok(Some(removed(companion)))
            }
            None => Ok(entry),
        }
    }
}
