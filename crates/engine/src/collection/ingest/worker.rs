//! Workers: parse and shingle batches.

use crate::collection::{CollectionConfig, Cursor, DocumentRecord, KeptFields, Since, TextDigest};
use crate::shingle::Shingler;
use lookalike_base::{Credit, Key, budget::ByteSize};
use lookalike_text::read::{
    Batch, Interpreted, MOST_VALUE_BYTES, RawDocument, ReadConfig, Reason, Record, RecordKind,
    Reject, interpret, warnings,
};
use std::collections::BTreeMap;

use super::feeder::Work;
use super::shares::Shape;
use super::stats::add_field;

/// Bytes of canonical text that a worker collects in order to compute several MD5s at once. This
/// covers a whole batch unless decoding made the text longer. Each thread uses this memory on top
/// of what the budget counts.
const UNDIGESTED_BYTES: usize = 2 << 20;

/// A batch on its way to the writer.
pub(super) struct Done {
    pub(super) sequence: u64,
    pub(super) contents: Vec<Content>,
    pub(super) ends_segment: Option<Cursor>,
    pub(super) cost: u64,
}

pub(super) enum Content {
    Shingled(Shingled),
    Oversized(Batch),
}

/// The result of a worker for a batch.
#[derive(Default)]
pub(super) struct Shingled {
    pub(super) bytes: u64,
    pub(super) records: u64,
    pub(super) documents: Vec<DocumentRecord>,
    /// The sets, one after the other, as bytes, because the width of the keys is not part of this
    /// type.
    pub(super) sets: Vec<u8>,
    /// The texts, if they are kept, and the length of each in bytes.
    pub(super) texts: Vec<u8>,
    pub(super) text_bytes: Vec<usize>,
    /// Rejects, and notices (marked `true`).
    pub(super) rejects: Vec<(Reject, bool)>,
    pub(super) skipped: BTreeMap<&'static str, u64>,
    /// Documents whose records have no docno.
    pub(super) unnamed: u64,
    /// As in [`super::SegmentStats`].
    pub(super) fields: BTreeMap<String, u64>,
}

impl Shingled {
    /// Bytes of memory for sets and texts.
    fn memory(&self) -> u64 {
        (self.sets.len() + self.texts.len()) as u64
    }
}

/// Parses and shingles batches.
pub(super) struct Worker<K: Key> {
    config: CollectionConfig,
    /// Like `config`, with a lower limit on bodies: what the batch may still use.
    read: ReadConfig,
    shape: Shape,
    shingler: Shingler<K>,
    set: Vec<K>,
}

impl<K: Key> Worker<K> {
    pub(super) fn new(config: &CollectionConfig, shape: Shape) -> Worker<K> {
        Worker {
            config: config.clone(),
            read: config.read.clone(),
            shape,
            shingler: Shingler::new(&config.shingle),
            set: Vec::new(),
        }
    }

    pub(super) fn process(&mut self, work: Work, credit: &Credit) -> Done {
        let mut cost = work.cost;
        let contents = if work.oversized {
            vec![Content::Oversized(work.batch)]
        } else {
            self.shingle(&work.batch, &mut cost, credit)
        };
        Done {
            sequence: work.sequence,
            contents,
            ends_segment: work.ends_segment,
            cost,
        }
    }

    /// Shingles a batch. The writer gets a body that outgrows both the batch's memory and the memory
    /// that `credit` grants, and keeps its place in the order.
    fn shingle(&mut self, batch: &Batch, cost: &mut u64, credit: &Credit) -> Vec<Content> {
        let mut contents = Vec::new();
        let mut out = Shingled::default();
        let (mut digested, mut granted, mut finished) = (0, 0, 0);
        for record in &batch.records {
            loop {
                let left = (*cost).saturating_sub(finished + out.memory());
                let most = self.config.read.max_document.0;
                self.read.max_document = ByteSize(most.min(left / self.shape.worst));
                let (shingler, set) = (&mut self.shingler, &mut self.set);
                let (config, read) = (&self.config, &self.read);
                let mut texts = std::mem::take(&mut out.texts);
                let before = texts.len();
                let document = read_document(record, batch, config, read, &mut out, |document| {
                    set.clear();
                    let all = (K::default(), K::MAX);
                    if config.text {
                        shingler.shingle_keeping(document, all, set, &mut texts)
                    } else {
                        shingler.shingle_undigested(document, all, set)
                    }
                });
                out.texts = texts;
                match document {
                    Ok(Some(mut document)) => {
                        document.shingles = self.set.len() as u32;
                        for key in &self.set {
                            key.put_le(&mut out.sets);
                        }
                        out.documents.push(document);
                        out.text_bytes.push(out.texts.len() - before);
                        if self.shingler.undigested_bytes() >= UNDIGESTED_BYTES {
                            self.digest(&mut out.documents, &mut digested);
                        }
                    }
                    Ok(None) => {}
                    Err(Grown) => {
                        if let Some(more) = self.shape.grant(credit, granted) {
                            granted += more;
                            *cost += more;
                            continue;
                        }
                        self.digest(&mut out.documents, &mut digested);
                        digested = 0;
                        finished += out.memory();
                        contents.push(Content::Shingled(std::mem::take(&mut out)));
                        contents.push(Content::Oversized(Batch {
                            bytes: batch.bytes[record.bytes.clone()].to_vec(),
                            records: vec![Record {
                                bytes: 0..record.bytes.len(),
                                ..record.clone()
                            }],
                        }));
                        break;
                    }
                }
                out.bytes += record.bytes.len() as u64;
                out.records += 1;
                break;
            }
        }
        self.digest(&mut out.documents, &mut digested);
        contents.push(Content::Shingled(out));
        contents
    }

    /// Fills in the MD5s of the documents from `digested` on.
    fn digest(&mut self, documents: &mut [DocumentRecord], digested: &mut usize) {
        let documents = documents.get_mut(*digested..).unwrap_or_default();
        *digested += documents.len();
        for (document, md5) in documents.iter_mut().zip(self.shingler.digests()) {
            document.md5 = *md5;
        }
    }
}

/// A body that exceeds the limit here but not the limit of the collection.
pub(super) struct Grown;

/// Returns the notice of the framer about a record that is not a document, because the record may
/// contain bytes that are not its own.
fn notice_of(record: &Record, bytes: &[u8]) -> Option<(Reject, bool)> {
    let (reason, detail) = record.notice.clone()?;
    let reject = Reject {
        source: record.source,
        docno: record.kind.docno(bytes),
        reason,
        detail,
    };
    Some((reject, true))
}

/// The values of the fields that the collection keeps.
fn kept_fields(
    document: &RawDocument<'_>,
    (record, bytes): (&Record, &[u8]),
    words: u64,
    config: &CollectionConfig,
    out: &mut Shingled,
) -> KeptFields<String> {
    let fields = &config.read.fields;
    if fields.is_empty() {
        return KeptFields::default();
    }
    let values = fields.iter().map(|field| match &**field {
        "words" => Some(words.to_string()),
        field => {
            let value = document.fact(field, record, bytes)?;
            if value.len() <= MOST_VALUE_BYTES {
                return Some(value);
            }
            let length = value.len();
            let detail = format!("the {length} bytes of {field} are too many for --where");
            let reject = Reject {
                source: record.source,
                docno: Some(document.docno.to_string()),
                reason: Reason::PartsLeft,
                detail,
            };
            out.rejects.push((reject, true));
            None
        }
    });
    let values: Vec<Option<String>> = values.collect();
    Since(serde_json::Value::from(values).to_string())
}

/// Interprets a record and shingles its document. Rejects and notices go to `out`. `read` is the
/// collection's configuration, or one with a stricter limit on bodies.
pub(super) fn read_document(
    record: &Record,
    batch: &Batch,
    config: &CollectionConfig,
    read: &ReadConfig,
    out: &mut Shingled,
    shingle: impl FnOnce(&lookalike_text::read::RawDocument<'_>) -> crate::shingle::DocumentFacts,
) -> std::result::Result<Option<DocumentRecord>, Grown> {
    if let RecordKind::Rejected(reject) = &record.kind {
        out.rejects.push((reject.clone(), false));
        return Ok(None);
    }
    let bytes = &batch.bytes[record.bytes.clone()];
    let document = match interpret(record, bytes, read) {
        Interpreted::Document(document) => document,
        Interpreted::Skipped(kind) => {
            *out.skipped.entry(kind).or_default() += 1;
            out.rejects.extend(notice_of(record, bytes));
            return Ok(None);
        }
        Interpreted::Rejected(reject)
            if reject.reason == Reason::TooLarge
                && read.max_document < config.read.max_document =>
        {
            return Err(Grown);
        }
        Interpreted::Rejected(reject) => {
            out.rejects.push((reject, false));
            out.rejects.extend(notice_of(record, bytes));
            return Ok(None);
        }
    };
    let facts = shingle(&document);
    let fields = kept_fields(&document, (record, bytes), facts.words, config, out);
    let date = record.kind.capture_date(bytes);
    let warnings = warnings(&document, facts.words, facts.notices);
    out.rejects.extend(warnings.map(|warning| (warning, true)));
    out.unnamed += u64::from(document.unnamed);
    for field in document.fields {
        add_field(&mut out.fields, &field, 1);
    }
    Ok(Some(DocumentRecord {
        docno: document.docno.into_owned(),
        url: document.url.map(Into::into),
        title: facts.title,
        charset: facts.charset.to_string(),
        words: facts.words,
        shingles: 0,
        stored: true,
        short: facts.short,
        group: config.size_groups.group(facts.words),
        md5: facts.md5,
        file: record.source.file,
        offset: record.source.offset,
        length: record.source.length,
        text: TextDigest::new(facts.text),
        fields,
        date: Since(date),
    }))
}
