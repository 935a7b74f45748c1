//! The documents and the rejects of a segment on disk: bincode in blocks ([`super::blocks`]).

use std::marker::PhantomData;
use std::path::Path;

use bincode::{BorrowDecode, Encode};
use serde::{Serialize, Serializer};

use super::SegmentEntry;
use super::blocks::{Packer, take};
use super::since::Since;
use super::text_digest::TextDigest;
use lookalike_base::{Error, Result};
use lookalike_store::{
    Header, Kind, PartInfo, PartReader, PartWriter, Places, WITH_DATE, WITH_FIELDS, meta,
};
use lookalike_text::read::{Reason, Reject, SaidOnce};

/// The stored facts about a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, BorrowDecode, Serialize)]
#[bincode(decode_context = "u16")]
pub struct DocumentRecord<S = String>
where
    S: AsRef<str> + Default + PartialEq,
{
    /// Its docno.
    pub docno: S,
    /// Its address.
    pub url: Option<S>,
    /// Its title.
    pub title: Option<S>,
    /// The charset that it was decoded from.
    pub charset: S,
    /// Number of words (tokens).
    pub words: u64,
    /// Number of distinct fingerprints.
    pub shingles: u32,
    /// Whether its set is stored. It is not stored if an equal MD5 was seen recently in its unit.
    pub stored: bool,
    /// Whether it has fewer words than a shingle.
    pub short: bool,
    /// Size group.
    pub group: u8,
    /// MD5 of the canonical document.
    #[serde(serialize_with = "hexadecimal")]
    pub md5: [u8; 16],
    /// Input file, by number.
    pub file: u32,
    /// Offset of its first byte in the decompressed file.
    pub offset: u64,
    /// Its length there, in bytes.
    pub length: u64,
    /// The digest of its text as read.
    #[serde(
        skip_serializing_if = "TextDigest::is_unknown",
        serialize_with = "TextDigest::hexadecimal"
    )]
    pub text: TextDigest,
    /// The values of the fields that the collection keeps.
    #[serde(skip_serializing_if = "Since::is_default")]
    pub fields: KeptFields<S>,
    /// If it is a capture of a web archive: its date ([`RecordKind::date`]).
    ///
    /// [`RecordKind::date`]: lookalike_text::read::RecordKind::date
    #[serde(skip_serializing_if = "Since::is_default")]
    pub date: Since<WITH_DATE, Option<S>>,
}

/// A [`DocumentRecord`] that borrows its texts from the block that it was read from. A pass over
/// all documents that needs one or two facts of each would otherwise spend most of its time on
/// copies of texts.
pub type DocumentView<'b> = DocumentRecord<&'b str>;

/// The values of [`ReadConfig::fields`](lookalike_text::read::ReadConfig::fields) of a document, as an
/// array of JSON, with null for a field that it lacks. Empty in a collection that keeps no fields.
pub type KeptFields<S> = Since<WITH_FIELDS, S>;

fn hexadecimal<S: Serializer>(md5: &[u8; 16], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{:032x}", u128::from_be_bytes(*md5)))
}

/// Approximate raw bytes of a block.
const BLOCK_BYTES: usize = 64 << 10;
/// The largest size that a block may state. `--max-document` bounds the strings of a document.
const MOST_BLOCK_BYTES: usize = meta::MOST_BYTES;
const ZSTD_LEVEL: i32 = 3;

/// The type of the items in the blocks of a part.
pub trait Stored: Encode + for<'b> BorrowDecode<'b, u16> {
    /// The kind of the part.
    const KIND: Kind;

    /// The part of a segment.
    fn part(segment: &SegmentEntry) -> &PartInfo;
}

impl Stored for DocumentRecord {
    const KIND: Kind = Kind::Documents;

    fn part(segment: &SegmentEntry) -> &PartInfo {
        &segment.documents
    }
}

impl Stored for RejectRecord {
    const KIND: Kind = Kind::Rejects;

    fn part(segment: &SegmentEntry) -> &PartInfo {
        &segment.rejects
    }
}

/// Writes zstd blocks of encoded values into a part.
pub struct BlockWriter<T> {
    out: PartWriter,
    raw: Vec<u8>,
    in_block: u32,
    records: u64,
    packer: Packer,
    of: PhantomData<fn(&T)>,
}

/// Writes the documents of a segment.
pub type DocumentWriter = BlockWriter<DocumentRecord>;

impl<T: Stored> BlockWriter<T> {
    /// Starts the part of segment `number`.
    pub fn create(directory: &Path, parameters: u128, number: u64) -> Result<Self> {
        let header = Header::new(T::KIND, parameters, number, 0);
        let out = PartWriter::create(directory, &header)?;
        Ok(BlockWriter {
            raw: Vec::new(),
            in_block: 0,
            records: 0,
            packer: Packer::new(ZSTD_LEVEL, out.path())?,
            out,
            of: PhantomData,
        })
    }

    /// Appends a value.
    pub fn push(&mut self, value: &T) -> Result<()> {
        let encoded = meta::encode(value, &mut self.raw).map_err(std::io::Error::other);
        encoded.map_err(Error::io("encode a record of", self.out.path()))?;
        self.in_block += 1;
        self.records += 1;
        if self.raw.len() >= BLOCK_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.in_block == 0 {
            return Ok(());
        }
        self.packer.put(&mut self.out, self.in_block, &self.raw)?;
        self.raw.clear();
        self.in_block = 0;
        Ok(())
    }

    /// Makes the part durable.
    pub fn finish(mut self) -> Result<PartInfo> {
        self.flush()?;
        self.out.finish(self.records, 0, 0)
    }
}

/// Reads what [`BlockWriter`] wrote, in order.
pub struct BlockReader<T> {
    part: PartReader,
    raw: Vec<u8>,
    at: usize,
    in_block: u32,
    left: u64,
    of: PhantomData<fn() -> T>,
}

impl<T: Stored> BlockReader<T> {
    /// Opens a part.
    pub fn open(path: &Path, parameters: Option<u128>, info: Option<&PartInfo>) -> Result<Self> {
        let part = PartReader::open(path, T::KIND, parameters, info)?;
        let left = part.footer.records;
        Ok(BlockReader {
            part,
            raw: Vec::new(),
            at: 0,
            in_block: 0,
            left,
            of: PhantomData,
        })
    }

    /// Opens the part of a segment.
    pub fn of(places: &Places, segment: &SegmentEntry) -> Result<Self> {
        let info = T::part(segment);
        let path = places.part("collection", &info.name);
        BlockReader::open(&path, Some(places.parameters), Some(info))
    }

    /// Reads the next value.
    pub fn next(&mut self) -> Result<Option<T>> {
        self.next_by(meta::decode)
    }

    /// Reads the next value by `decode`, which may borrow from it.
    fn next_by<'s, V>(
        &'s mut self,
        decode: impl FnOnce(&'s [u8], u16) -> std::result::Result<(V, usize), String>,
    ) -> Result<Option<V>> {
        if self.left == 0 {
            return Ok(None);
        }
        if self.in_block == 0 {
            let records = take(&mut self.part, MOST_BLOCK_BYTES, &mut self.raw)?;
            if records == 0 {
                let found = format!("{records} records in {} bytes", self.raw.len());
                return Err(self.part.corrupt("block", "records", found));
            }
            self.in_block = records;
            self.at = 0;
        }
        let version = self.part.header.version;
        let (value, used) = decode(self.raw.get(self.at..).unwrap_or_default(), version)
            .map_err(|e| self.part.corrupt("record", "bincode", e))?;
        self.at += used;
        self.in_block -= 1;
        self.left -= 1;
        if self.in_block == 0 && self.at != self.raw.len() {
            let (all, used) = (self.raw.len(), self.at);
            return Err(self.part.corrupt("bytes of a block", all, used));
        }
        Ok(Some(value))
    }

    /// Checks the whole part after all of it has been read.
    pub fn finish(self) -> Result<()> {
        if self.left > 0 || self.in_block > 0 || self.part.remaining() > 0 {
            let stated = self.part.footer.records;
            return Err(self.part.corrupt("records", stated, "another number"));
        }
        self.part.finish()
    }
}

/// Reads the documents of a segment in order.
pub type DocumentReader = BlockReader<DocumentRecord>;

impl DocumentReader {
    /// Reads the next document, and leaves its texts where they are.
    pub fn view(&mut self) -> Result<Option<DocumentView<'_>>> {
        self.next_by(meta::decode)
    }

    /// The error for a column of the catalogue that ends before this document, the last one read.
    pub fn not_catalogued(&self, document: u32) -> Error {
        let expected = format!("at most {document}, as in the catalogue");
        let found = format!("{} and more", u64::from(document) + 1);
        self.part.corrupt("documents", expected, found)
    }
}

/// The stored form of a reject.
#[derive(Clone, Debug, PartialEq, Eq, Encode, BorrowDecode, Serialize)]
pub struct RejectRecord {
    file: u32,
    offset: u64,
    length: u64,
    docno: Option<String>,
    /// Name of the variant of [`Reason`], so that variants can be added and removed.
    reason: String,
    kept: bool,
    detail: String,
}

/// Writes the rejects and notices of a segment.
pub struct RejectWriter(BlockWriter<RejectRecord>, SaidOnce);

impl RejectWriter {
    /// Starts the rejects of segment `number`.
    pub fn create(directory: &Path, parameters: u128, number: u64) -> Result<Self> {
        let out = BlockWriter::create(directory, parameters, number)?;
        Ok(RejectWriter(out, SaidOnce::default()))
    }

    /// Appends a reject, or (if `kept`) a notice about a document that is kept. Returns `false` if an
    /// earlier one says the same about the file.
    pub fn push(&mut self, reject: &Reject, kept: bool) -> Result<bool> {
        let Some(detail) = self.1.detail(reject) else {
            return Ok(false);
        };
        self.0.push(&RejectRecord {
            file: reject.source.file,
            offset: reject.source.offset,
            length: reject.source.length,
            docno: reject.docno.clone(),
            // The name of the value, which serde reads.
            reason: format!("{:?}", reject.reason),
            kept,
            detail: detail.into(),
        })?;
        Ok(true)
    }

    /// Makes the part durable.
    pub fn finish(self) -> Result<PartInfo> {
        self.0.finish()
    }
}

/// Reads rejects and notices in order.
pub type RejectReader = BlockReader<RejectRecord>;

impl RejectReader {
    /// Reads the next reject, and whether its document is kept nevertheless.
    pub fn next_reject(&mut self) -> Result<Option<(Reject, bool)>> {
        let record = self.next()?;
        record.map(|record| self.reject(record)).transpose()
    }

    /// A reject from its stored form, and whether its document is kept nevertheless.
    pub fn reject(&self, record: RejectRecord) -> Result<(Reject, bool)> {
        let reason = serde_json::Value::String(record.reason);
        let reason: Reason = serde_json::from_value(reason)
            .map_err(|e| self.part.corrupt("reason", "one this build knows", e))?;
        let source = lookalike_text::read::SourceSpan {
            file: record.file,
            offset: record.offset,
            length: record.length,
        };
        let reject = Reject {
            source,
            docno: record.docno,
            reason,
            detail: record.detail,
        };
        Ok((reject, record.kept))
    }
}
