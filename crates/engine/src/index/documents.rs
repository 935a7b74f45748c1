//! The data about a document that an answer needs, at a fixed place.

use std::path::Path;

use super::lists::sum;
use super::{DIRECTORY, IndexEntry, Level, STAGE};
use crate::collection::{
    self, Captured, Catalogue, DocumentView, SegmentEntry, Since, TextDigest, each_document_of,
};
use lookalike_base::{Context, Error, Result, ids::Key as _, with_keys};
use lookalike_store::{
    FACTS_WITH_CAPTURES, HEADER_BYTES, Header, Kind, PartFile, PartInfo, PartWriter,
    WITH_TEXT_DIGEST, Workspace, check_sum,
};

/// Bytes of a document's facts.
const FACTS_BYTES: usize = 72;
/// The digest of the text, which facts of earlier versions do not have, is after these.
const FACTS_BEFORE_TEXT: usize = 64;
/// Documents that are read at once in order.
const AT_ONCE: usize = 1024;
/// Numbers of the parts.
const FACTS: u64 = 0;
const NAMES: u64 = 1;
/// The number of a checksum of names is this plus the number of its document; the number of a
/// checksum of facts is the number of its document.
const OF_NAME: u64 = 1 << 32;

/// The facts about a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// MD5 of the canonical document.
    pub md5: [u8; 16],
    /// The digest of its text.
    pub text: TextDigest,
    /// Number of words.
    pub words: u64,
    /// Number of keys.
    pub keys: u32,
    /// Where its set begins in the sets of its segment, in bytes.
    pub set: u64,
    /// Where its name is, and its length.
    name: (u64, u32),
    /// Checksum of the name.
    name_sum: u64,
}

impl Facts {
    fn encode(&self, document: u32) -> [u8; FACTS_BYTES] {
        let mut out = [0; FACTS_BYTES];
        out[8..24].copy_from_slice(&self.md5);
        out[24..32].copy_from_slice(&self.words.to_le_bytes());
        out[32..40].copy_from_slice(&self.set.to_le_bytes());
        out[40..44].copy_from_slice(&self.keys.to_le_bytes());
        out[44..48].copy_from_slice(&self.name.1.to_le_bytes());
        out[48..56].copy_from_slice(&self.name.0.to_le_bytes());
        out[56..64].copy_from_slice(&self.name_sum.to_le_bytes());
        out[64..].copy_from_slice(&self.text.0);
        let check = sum(document.into(), &out[8..]);
        out[..8].copy_from_slice(&check.to_le_bytes());
        out
    }

    /// `nth` of its part is the document.
    fn decode(part: &PartFile, bytes: &[u8], (nth, document): (u32, u32)) -> Result<Facts> {
        let word = |at: usize| u64::get_le(&bytes[at..at + 8]);
        let (stated, found) = (word(0), sum(document.into(), &bytes[8..]));
        check_sum(stated, found, |stated, found| {
            let what = format!("checksum of the facts about document {document}");
            part.corrupt(place(part, nth), &what, stated, found)
        })?;
        let mut md5 = [0; 16];
        md5.copy_from_slice(&bytes[8..24]);
        let text = bytes.get(FACTS_BEFORE_TEXT..).unwrap_or_default();
        let text = text
            .try_into()
            .map_or_else(|_| TextDigest::default(), Since);
        Ok(Facts {
            md5,
            text,
            words: word(24),
            set: word(32),
            keys: word(40) as u32,
            name: (word(48), (word(40) >> 32) as u32),
            name_sum: word(56),
        })
    }
}

/// Bytes of a document's facts in a part.
fn facts_bytes(part: &PartFile) -> usize {
    match part.header.version >= WITH_TEXT_DIGEST {
        true => FACTS_BYTES,
        false => FACTS_BEFORE_TEXT,
    }
}

/// Where the facts of the `nth` document of a part are.
fn place(part: &PartFile, nth: u32) -> u64 {
    HEADER_BYTES as u64 + u64::from(nth) * facts_bytes(part) as u64
}

/// Writes the facts and the names of the documents of a level, which are in these segments.
pub(super) fn write(
    workspace: &Workspace,
    (level, segments): (&Level, &[SegmentEntry]),
    context: &Context<'_>,
) -> Result<(PartInfo, PartInfo)> {
    let directory = workspace.path(DIRECTORY);
    let create = |number| {
        let parameters = workspace.collection_parameters();
        let header = Header::new(Kind::Facts, parameters, level.part(number), 0);
        PartWriter::create(&directory, &header)
    };
    let (mut facts, mut names) = (create(FACTS)?, create(NAMES)?);
    let mut documents = 0;
    each_of(
        workspace,
        (level.first, segments, Kind::Facts.version()),
        &mut |document, own, name| {
            context.tick(STAGE, document)?;
            facts.put(&own.encode(document))?;
            names.put(name.as_bytes())?;
            documents += 1;
            Ok(())
        },
    )?;
    Ok((
        facts.finish(documents, 0, level.first.into())?,
        names.finish(documents, 0, level.first.into())?,
    ))
}

/// The name of a document in a part of this version: its docno, after its capture if it has it.
fn name(document: &DocumentView<'_>, version: u16) -> String {
    match version >= FACTS_WITH_CAPTURES {
        true => Captured::of(document).stored() + document.docno,
        false => document.docno.into(),
    }
}

/// Calls `each` with the facts about every document of these segments, which begin with `first`,
/// and its name in parts of this version.
fn each_of(
    workspace: &Workspace,
    (first, segments, version): (u32, &[SegmentEntry], u16),
    each: &mut dyn FnMut(u32, Facts, &str) -> Result<()>,
) -> Result<()> {
    let kind = collection::config(&workspace.manifest).shingle.fingerprint;
    let key_bytes = with_keys!(kind, K => K::BYTES);
    let mut stored = Catalogue::stored_in_order(workspace)?;
    for _ in 0..first {
        stored.next()?;
    }
    let mut firsts = segments
        .iter()
        .map(|segment| segment.first_document)
        .peekable();
    let (mut set, mut at) = (0, HEADER_BYTES as u64);
    each_document_of(workspace, segments, |document, record| {
        while firsts.next_if(|&first| first <= document).is_some() {
            set = 0;
        }
        let keys = stored.next()?.ok_or_else(|| {
            Error::corrupt(workspace.path("catalogue"), "documents in the catalogue")
                .expected(format!("more than {document}"), "fewer")
        })?;
        let name = name(&record, version);
        let own = Facts {
            md5: record.md5,
            text: record.text,
            words: record.words,
            keys,
            set,
            name: (at, name.len() as u32),
            name_sum: sum(OF_NAME + u64::from(document), name.as_bytes()),
        };
        set += u64::from(keys) * key_bytes as u64;
        at += name.len() as u64;
        each(document, own, &name)
    })
}

/// Checks that a complete index says of each document what its record says.
pub fn check_facts(workspace: &Workspace) -> Result<()> {
    let Some(index) = IndexedDocuments::open(workspace)? else {
        return Ok(());
    };
    let mut segments = collection::segments(&workspace.manifest);
    for level in &index.levels {
        let end = u64::from(level.first) + level.facts.footer.records;
        let inside = segments.partition_point(|it| u64::from(it.first_document) < end);
        let (own, rest) = segments.split_at(inside);
        segments = rest;
        let mut read = level.in_order();
        let of = (level.first, own, level.names.header.version);
        each_of(workspace, of, &mut |document, mut own, name| {
            let found = read.get(document)?;
            if facts_bytes(&level.facts) < FACTS_BYTES {
                own.text = found.text;
            }
            if found != own || index.name(document, &found)? != name {
                let at = place(&level.facts, document.wrapping_sub(level.first));
                let what = format!("facts about document {document}");
                let (expected, found) = (format!("{own:?}"), format!("{found:?}"));
                return Err(level.facts.corrupt(at, &what, expected, found));
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The facts about the documents of an index, opened for look-ups.
#[derive(Debug)]
pub struct IndexedDocuments {
    levels: Vec<OfLevel>,
}

/// The facts about the documents of a level.
#[derive(Debug)]
pub(super) struct OfLevel {
    first: u32,
    facts: PartFile,
    names: PartFile,
}

impl OfLevel {
    pub(super) fn open(workspace: &Workspace, level: &Level) -> Result<OfLevel> {
        let (facts, names) = level
            .facts
            .as_ref()
            .ok_or_else(|| workspace.missing(STAGE))?;
        let open = |info: &PartInfo, number: u64| -> Result<PartFile> {
            let path = workspace.part(DIRECTORY, &info.name);
            let parameters = Some(workspace.collection_parameters());
            let part = PartFile::open(&path, Kind::Facts, parameters, Some(info))?;
            let (expected, found) = (level.part(number), part.header.number);
            if found != expected {
                return Err(part.corrupt(32, "number of the part", expected, found));
            }
            Ok(part)
        };
        Ok(OfLevel {
            first: level.first,
            facts: open(facts, FACTS)?,
            names: open(names, NAMES)?,
        })
    }

    /// Reads the facts of rising documents.
    pub(super) fn in_order(&self) -> InOrder<'_> {
        InOrder::new(&self.facts, self.first, AT_ONCE)
    }
}

impl IndexedDocuments {
    /// Opens the facts; `None` if the collection has no complete index.
    pub fn open(workspace: &Workspace) -> Result<Option<IndexedDocuments>> {
        let Some(entry) = super::complete(workspace) else {
            return Ok(None);
        };
        let levels = entry.levels.iter();
        let levels = levels.map(|level| OfLevel::open(workspace, level));
        let levels = levels.collect::<Result<_>>()?;
        Ok(Some(IndexedDocuments { levels }))
    }

    /// The number of documents.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> u64 {
        self.levels
            .iter()
            .map(|level| level.facts.footer.records)
            .sum()
    }

    /// The level of a document: the last one that does not begin after it.
    fn level(&self, document: u32) -> Result<&OfLevel> {
        let after = self.levels.partition_point(|level| level.first <= document);
        let level = after.checked_sub(1).and_then(|at| self.levels.get(at));
        level.ok_or_else(|| {
            Error::corrupt(DIRECTORY, format!("facts about document {document}"))
                .expected("a level with it", "none")
        })
    }

    /// The facts about a document.
    pub fn get(&self, document: u32) -> Result<Facts> {
        let level = self.level(document)?;
        InOrder::new(&level.facts, level.first, 1).get(document)
    }

    /// The docno of a document, and the capture that it is.
    pub fn named(&self, document: u32, facts: &Facts) -> Result<(String, Captured)> {
        let name = self.name(document, facts)?;
        if self.level(document)?.names.header.version < FACTS_WITH_CAPTURES {
            return Ok((name, Captured::default()));
        }
        let (captured, docno) = Captured::split(&name);
        Ok((docno.into(), captured))
    }

    /// The name of a document.
    fn name(&self, document: u32, facts: &Facts) -> Result<String> {
        let names = &self.level(document)?.names;
        let (at, length) = facts.name;
        let end = names.payload_end();
        let corrupt = |what: &str, expected: String, found: String| {
            let what = format!("{what} of document {document}");
            names.corrupt(at, &what, expected, found)
        };
        if at > end || u64::from(length) > end - at {
            let found = format!("{length} bytes");
            return Err(corrupt("name", format!("an end up to {end}"), found));
        }
        let mut bytes = vec![0; length as usize];
        names.read_at(&mut bytes, at)?;
        let found = sum(OF_NAME + u64::from(document), &bytes);
        check_sum(facts.name_sum, found, |stated, found| {
            corrupt("checksum of the name", stated, found)
        })?;
        String::from_utf8(bytes).map_err(|error| corrupt("name", "UTF-8".into(), error.to_string()))
    }
}

/// Reads facts of rising documents, up to `most` at once.
pub(super) struct InOrder<'a> {
    part: &'a PartFile,
    /// The first document of the part.
    first: u32,
    most: usize,
    /// Which of its documents is the first that `bytes` has.
    from: u32,
    bytes: Vec<u8>,
}

impl<'a> InOrder<'a> {
    fn new(part: &'a PartFile, first: u32, most: usize) -> InOrder<'a> {
        InOrder {
            part,
            first,
            most,
            from: 0,
            bytes: Vec::new(),
        }
    }

    pub(super) fn get(&mut self, document: u32) -> Result<Facts> {
        let nth = document.wrapping_sub(self.first);
        let each = facts_bytes(self.part);
        let mut at = nth.wrapping_sub(self.from) as usize * each;
        if nth < self.from || at >= self.bytes.len() {
            let place = place(self.part, nth);
            let left = self.part.payload_end().saturating_sub(place) as usize;
            self.bytes.resize(left.clamp(each, self.most * each), 0);
            self.part.read_at(&mut self.bytes, place)?;
            (self.from, at) = (nth, 0);
        }
        let bytes = &self.bytes[at..at + each];
        Facts::decode(self.part, bytes, (nth, document))
    }
}

/// Calls `each` with the MD5 of each document before `end` that has words, in order; `false` if the
/// complete levels of the index do not end there.
pub fn each_md5(
    workspace: &Workspace,
    end: u32,
    each: &mut dyn FnMut(u32, u128) -> Result<()>,
) -> Result<bool> {
    let entry = workspace.manifest.get::<IndexEntry>();
    let Some(entry) = entry.filter(|entry| entry.documents() == u64::from(end)) else {
        return Ok(false);
    };
    for level in &entry.levels {
        let documents = OfLevel::open(workspace, level)?;
        let mut facts = documents.in_order();
        for document in level.first..level.end() as u32 {
            let own = facts.get(document)?;
            if own.words > 0 {
                each(document, u128::from_be_bytes(own.md5))?;
            }
        }
    }
    Ok(true)
}

/// Calls `each` with the facts of every document, and checks them.
pub fn check_documents(
    path: &Path,
    parameters: Option<u128>,
    info: Option<&PartInfo>,
    mut each: impl FnMut(u32, &Facts) -> Result<bool>,
) -> Result<()> {
    let facts = PartFile::open(path, Kind::Facts, parameters, info)?;
    if u64::from(facts.header.number as u32) != FACTS {
        // The checksums of names are with the facts; the checksum of the part covers all of them.
        return Ok(());
    }
    let expected = facts
        .footer
        .records
        .saturating_mul(facts_bytes(&facts) as u64);
    if expected != facts.footer.payload_bytes {
        let found = facts.footer.payload_bytes;
        return Err(facts.corrupt(facts.payload_end(), "bytes of facts", expected, found));
    }
    let documents = u32::try_from(facts.footer.records).unwrap_or(u32::MAX);
    let first = u32::try_from(facts.footer.extra).unwrap_or(u32::MAX);
    let mut reader = InOrder::new(&facts, first, AT_ONCE);
    for nth in 0..documents {
        let document = first.saturating_add(nth);
        if !each(document, &reader.get(document)?)? {
            break;
        }
    }
    Ok(())
}
