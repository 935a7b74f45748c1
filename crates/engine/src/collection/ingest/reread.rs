//! Reads the documents of a collection again from its inputs, with their numbers.
//!
//! # In and out
//! In: a collection, and the inputs that it was read from. Out: each document, unit by unit, so
//! that several threads can read.
//!
//! # Invariants
//! - A document has the number that it has in the collection: the record of each document is at the
//!   place that the collection says.
//! - Every file is checked as ingest checks it: it must be the listed one.
//!
//! # Cost
//! Memory as ingest; each unit that is read takes a share of it. A compressed file is one unit,
//! which one thread reads.

use std::ops::Range;

use super::feeder::{Decoding, Feeder, Known};
use super::shares::{Shape, Shares};
use super::units::{self, Unit};
use super::{STAGE, least_memory};
use crate::collection::{
    Addition, Additions, CollectionConfig, DocumentReader, DocumentRecord, Extent, SegmentEntry,
    TextDigest, segments,
};
use crate::shingle::{ShingleConfig, Shingler};
use lookalike_base::{Context, Credit, Error, FingerprintKind, Result, Stop, budget::ByteSize};
use lookalike_store::{Places, Workspace};
use lookalike_text::read::{
    Converter, InputFile, Interpreted, RawDocument, Record, RecordKind, Reject, Stretch, interpret,
};

/// Reads documents of a collection again.
pub struct Reread<'a> {
    places: Places,
    segments: Vec<SegmentEntry>,
    inputs: &'a [InputFile],
    units: Vec<Unit>,
    config: &'a CollectionConfig,
    shape: Shape,
    /// The number of threads for which there is memory.
    pub threads: usize,
    credit: Credit,
    decoders: Credit,
    context: &'a Context<'a>,
}

impl<'a> Reread<'a> {
    /// The least memory of [`Reread::new`].
    pub fn least_memory(config: &CollectionConfig, inputs: usize) -> ByteSize {
        least_memory(config, inputs)
    }

    /// Prepares to read a whole collection with `memory`, which must be at least
    /// [`Reread::least_memory`].
    pub fn new(
        workspace: &Workspace,
        config: &'a CollectionConfig,
        inputs: &'a [InputFile],
        memory: ByteSize,
        context: &'a Context<'a>,
    ) -> Reread<'a> {
        let units = all_units(workspace, inputs, config, context.stop);
        let readers = units.len().min(context.budget.threads);
        let shares = Shares::new(memory, config, readers, false);
        Reread {
            places: workspace.places().clone(),
            segments: segments(&workspace.manifest).to_vec(),
            inputs,
            units,
            config,
            shape: Shape::new::<u64>(config, shares),
            threads: shares.units,
            credit: Credit::new(shares.in_flight),
            decoders: Credit::new(shares.decoders),
            context,
        }
    }

    /// The number of units.
    pub fn units(&self) -> usize {
        self.units.len()
    }

    fn segments(&self, unit: usize) -> &[SegmentEntry] {
        let unit = self.units.get(unit);
        unit.map_or(&[], |unit| unit.committed(&self.segments))
    }

    /// The numbers of a unit's documents.
    pub fn documents(&self, unit: usize) -> Range<u32> {
        let segments = self.segments(unit);
        let first = segments.first().map_or(0, |segment| segment.first_document);
        let count = Extent::of(segments).documents;
        first..first + count as u32
    }

    /// The bytes of a unit on disk.
    pub fn bytes(&self, unit: usize) -> u64 {
        self.units.get(unit).map_or(0, |unit| unit.bytes)
    }

    /// After a failure of a thread, ends the waiting of others for memory.
    pub fn close(&self) {
        self.credit.close();
        self.decoders.close();
    }

    /// Passes the documents of a unit to `visit` that `wanted` chooses by number.
    ///
    /// # Errors
    /// `InputChanged`; those of reading, of the collection's parts and of `visit`.
    pub fn each(
        &self,
        unit: usize,
        mut wanted: impl FnMut(u32) -> bool,
        mut visit: impl FnMut(u32, &DocumentRecord, &RawDocument<'_>) -> Result<()>,
    ) -> Result<()> {
        // Programs that convert documents may print something else than before.
        let converts = !self.config.read.convert.is_empty();
        let mut check = converts.then(|| {
            Shingler::<u64>::new(&ShingleConfig {
                fingerprint: FingerprintKind::Xxh3,
                ..self.config.shingle.clone()
            })
        });
        let mut is_same = |document: &DocumentRecord, raw: &RawDocument<'_>| {
            let digest = |check: &mut Shingler<u64>| {
                check.shrink();
                TextDigest::new(check.shingle(raw, (1, 0), &mut Vec::new()).text)
            };
            let found = check.as_mut().map(digest);
            found.is_none_or(|found| document.text.is_unknown() || document.text == found)
        };
        self.visit(unit, |number, document, record, bytes| {
            if !wanted(number) {
                return Ok(());
            }
            match interpret(record, bytes, &self.config.read) {
                Interpreted::Document(raw) if is_same(document, &raw) => {
                    visit(number, document, &raw)
                }
                found => Err(self.not_the_same(document, &found)),
            }
        })
    }

    /// As [`Reread::each`], but passes on the record of every document and its bytes, which are not
    /// interpreted.
    ///
    /// # Errors
    /// As [`Reread::each`].
    pub fn each_record(
        &self,
        unit: usize,
        mut visit: impl FnMut(u32, &Record, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.visit(unit, |number, _, record, bytes| {
            visit(number, record, bytes)
        })
    }

    fn visit(
        &self,
        unit: usize,
        mut visit: impl FnMut(u32, &DocumentRecord, &Record, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let Some(of) = self.units.get(unit) else {
            return Ok(());
        };
        let mut segments = self.segments(unit).iter();
        let mut reader: Option<DocumentReader> = None;
        let mut next_document = || loop {
            if let Some(open) = &mut reader {
                if let Some(document) = open.next()? {
                    return Ok(Some(document));
                }
                reader.take().map_or(Ok(()), DocumentReader::finish)?;
            }
            let Some(segment) = segments.next() else {
                return Ok(None);
            };
            reader = Some(DocumentReader::of(&self.places, segment)?);
        };
        let mut number = self.documents(unit).start;
        let mut next = next_document()?;
        let (inputs, config, context) = (self.inputs, self.config, self.context);
        let decoding = Decoding {
            memory: &self.decoders,
            helpers: None,
        };
        let from = of.begin();
        // None of its documents is from a damaged stretch.
        let known = Known {
            inputs,
            damaged: &[],
        };
        let mut feeder = Feeder::new(known, of, config, self.shape, decoding, from, context)?;
        while let Some(work) = feeder.next()? {
            let grows = work
                .batch
                .records
                .iter()
                .any(|record| record.kind.grows(&config.read));
            let body = if grows {
                self.shape.max_document * 9 / 4
            } else {
                0
            };
            // If the memory is refused, another thread has failed, and this one is about to stop.
            let _taken = self.credit.hold(work.cost.max(body));
            for (record, bytes) in work.batch.each() {
                let Some(document) = &next else { break };
                let place = (record.source.file, record.source.offset);
                if place != (document.file, document.offset)
                    || matches!(record.kind, RecordKind::Rejected(_))
                {
                    continue;
                }
                visit(number, document, record, bytes)?;
                number += 1;
                next = next_document()?;
            }
        }
        match next {
            Some(document) => Err(self.changed(&document)),
            None => Ok(()),
        }
    }

    /// Why a record is not the document that it was.
    fn not_the_same(&self, document: &DocumentRecord, found: &Interpreted<'_>) -> Error {
        match found {
            // A stop ends the conversion of a document.
            _ if self.context.stop.requested() => Error::Interrupted { stage: STAGE },
            Interpreted::Document(_) => self.converts_otherwise(document, "gave another text"),
            found => match found.not_converted() {
                Some(Reject { detail, .. }) => {
                    self.converts_otherwise(document, &format!("failed: {detail}"))
                }
                None => self.changed(document),
            },
        }
    }

    /// A program of `--convert` does not do what it did when the document was read.
    fn converts_otherwise(&self, document: &DocumentRecord, found: &str) -> Error {
        let programs = self.config.read.convert.iter().map(Converter::given);
        let programs = programs.collect::<Vec<_>>().join(", ");
        let limit = format!(
            "a program that gives the text of {} which it gave before: it {found}; mend the program, \
             or read the documents again into a new directory",
            document.docno
        );
        Error::parameter("convert", programs).because(limit)
    }

    /// A document is not in its place.
    pub fn changed(&self, document: &DocumentRecord) -> Error {
        let input = self.inputs.get(document.file as usize);
        let path = input.map(|input| input.path.clone()).unwrap_or_default();
        let DocumentRecord { docno, offset, .. } = document;
        let found = format!("something else at offset {offset}");
        Error::input_changed(path, format!("the document {docno} there"), found)
    }
}

/// The units of all inputs, in their original order and extent.
fn all_units(
    workspace: &Workspace,
    inputs: &[InputFile],
    config: &CollectionConfig,
    stop: &Stop,
) -> Vec<Unit> {
    let mut additions = vec![Addition::default()];
    if let Some(Additions(more)) = workspace.manifest.get::<Additions>() {
        additions.extend(more);
    }
    let mut all = Vec::new();
    for (n, &addition) in additions.iter().enumerate() {
        let end = additions
            .get(n + 1)
            .map_or(inputs.len(), |next| next.file as usize);
        let inputs = inputs.get(..end).unwrap_or(inputs);
        all.extend(units::units(inputs, addition, config, stop));
    }
    if units::fit(segments(&workspace.manifest), &all) {
        return all;
    }
    // Version 0.1.0 read all inputs in one piece.
    vec![Unit {
        number: 0,
        stretch: Stretch {
            files: 0..inputs.len() as u32,
            piece: None,
            bytes: 0,
        },
    }]
}
