//! The records that ingest and the catalogue leave in the manifest.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CatalogueStats, CollectionConfig, SegmentStats};
use lookalike_base::{Error, Result, is_zero, refuse, words};
use lookalike_store::{
    self as store, Kind, MANIFEST_FILE, Manifest, PartInfo, StageRecord, StageRecordKind, Workspace,
};

/// A position in the input: the records before number `event` of file `file` are finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cursor {
    /// Index in the list of inputs.
    pub file: u32,
    /// Where the piece of that file begins that is being read, if it is read in pieces.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub piece: u64,
    /// Number of records and rejects of that file, or piece, that the reader has delivered.
    pub event: u64,
}

impl Cursor {
    /// The beginning of a file.
    pub fn of_file(file: u32) -> Cursor {
        Cursor {
            file,
            piece: 0,
            event: 0,
        }
    }
}

/// A committed segment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SegmentEntry {
    /// Number of its first document.
    pub first_document: u32,
    /// Its documents.
    pub documents: PartInfo,
    /// Their fingerprint sets.
    pub fingerprints: PartInfo,
    /// Its rejects and notices.
    pub rejects: PartInfo,
    /// The texts of the documents whose sets are stored, if texts are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<PartInfo>,
    /// Where the next segment begins.
    pub next: Cursor,
    /// The counters of the segment.
    pub stats: SegmentStats,
}

impl SegmentEntry {
    /// The number of the unit of the input that it belongs to.
    pub fn unit(&self) -> u32 {
        store::part_unit(&self.documents.name)
    }

    /// Its parts.
    pub fn parts(&self) -> impl Iterator<Item = (Kind, &PartInfo)> {
        let parts = [
            (Kind::Documents, &self.documents),
            (Kind::Fingerprints, &self.fingerprints),
            (Kind::Rejects, &self.rejects),
        ];
        let text = self.text.iter().map(|part| (Kind::Text, part));
        parts.into_iter().chain(text)
    }

    /// The bytes of its parts.
    pub fn bytes(&self) -> u64 {
        self.parts().map(|(_, part)| part.bytes).sum()
    }
}

/// The segments committed so far, in order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Segments(pub Vec<SegmentEntry>);

/// Inputs that were added to a collection whose inputs before them were all read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addition {
    /// The first of these files.
    pub file: u32,
    /// The number of the first unit of them.
    pub unit: u32,
    /// The number of segments before them.
    pub segments: u32,
}

/// All additions, in order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Additions(pub Vec<Addition>);

impl StageRecord for Additions {
    const NAME: &'static str = "additions";
    const OMITTED: bool = true;
}

/// The documents that a collection has from another one, with which its own documents are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Against {
    /// Number of the other collection's documents. The own ones follow.
    pub documents: u32,
    /// Number of its input files.
    pub files: u32,
    /// Number of its segments.
    pub segments: u32,
}

impl StageRecord for Against {
    const NAME: &'static str = "against";
    const OMITTED: bool = true;
}

/// Returns the documents that a collection has from another one; none by default.
pub fn against(manifest: &Manifest) -> Against {
    manifest.get::<Against>().copied().unwrap_or_default()
}

/// The segments of the collection's own documents.
pub fn own_segments(manifest: &Manifest) -> &[SegmentEntry] {
    let first = against(manifest).segments as usize;
    segments(manifest).get(first..).unwrap_or_default()
}

/// Whether all segments are committed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ingested(pub bool);

/// Columns over consecutive documents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CatalogueLevel {
    /// All docnos, concatenated, each after its capture if there are any.
    pub names: PartInfo,
    /// Where each of them ends.
    pub name_ends: PartInfo,
    /// Representative of each document.
    pub representatives: PartInfo,
    /// Number of stored fingerprints of each document.
    pub stored: PartInfo,
    /// Notices about repeated docnos.
    pub rejects: PartInfo,
}

/// The columns over all documents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CatalogueEntry {
    /// The columns over the first documents.
    #[serde(flatten)]
    pub first: CatalogueLevel,
    /// The columns over the documents after them, which were added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<CatalogueLevel>,
    /// The counters of the catalogue.
    pub stats: CatalogueStats,
}

impl CatalogueEntry {
    /// The columns, in the order of their documents.
    pub fn levels(&self) -> impl Iterator<Item = &CatalogueLevel> {
        std::iter::once(&self.first).chain(&self.added)
    }

    /// Whether a part of all levels together has a record for each document.
    pub(super) fn is_whole(&self, part: fn(&CatalogueLevel) -> &PartInfo) -> bool {
        let records = self.levels().map(|level| part(level).records);
        records.fold(0, u64::saturating_add) == self.stats.documents
    }
}

/// The catalogue of a collection whose addition of documents is not complete. The new catalogue
/// continues it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CatalogueBefore(pub CatalogueEntry);

impl StageRecord for CatalogueBefore {
    const NAME: &'static str = "catalogue_before";
    const OMITTED: bool = true;
    const DIRECTORY: Option<&'static str> = Some("catalogue");

    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        self.0.parts()
    }
}

impl StageRecord for CollectionConfig {
    const NAME: &'static str = "collection";
    const REQUIRED: bool = true;
}

impl StageRecord for Segments {
    const NAME: &'static str = "segments";
    const DIRECTORY: Option<&'static str> = Some("collection");
    const FROM_INPUTS: bool = true;
    const TAKES_ALONG: &'static [&'static str] = &words::<13>(
        "catalogue_before ingested catalogue checkpoint index before sample runs postings joining \
         pairs results tables",
    );

    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        self.0.iter().flat_map(SegmentEntry::parts).collect()
    }

    /// Keeps the segments before the one with the lost part. Reading resumes after them.
    fn without(&self, part: &str) -> Option<Self> {
        let names = |segment: &SegmentEntry| segment.parts().any(|(_, own)| own.name == part);
        let kept = self.0.iter().position(names).unwrap_or(self.0.len());
        Some(Segments(self.0[..kept].to_vec()))
    }
}

impl StageRecord for Ingested {
    const NAME: &'static str = "ingested";
}

impl StageRecord for CatalogueEntry {
    const NAME: &'static str = "catalogue";
    const DIRECTORY: Option<&'static str> = Some("catalogue");

    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        let parts = self.levels().flat_map(|level| {
            [
                (Kind::Names, &level.names),
                (Kind::Column, &level.name_ends),
                (Kind::Column, &level.representatives),
                (Kind::Column, &level.stored),
                (Kind::Rejects, &level.rejects),
            ]
        });
        parts.collect()
    }
}

/// Opens a completely ingested collection for more inputs. Records that later stages made of all
/// documents must be removed. The catalogue is kept, because the new one continues it.
pub fn begin_addition(manifest: &mut Manifest) {
    let file = manifest.inputs.files as u32;
    let before = segments(manifest).len() as u32;
    let units = segments(manifest).iter().map(SegmentEntry::unit);
    let unit = units.max().map_or(0, |unit| unit + 1);
    let additions = manifest.get_or_insert_with(Additions::default);
    additions.0.push(Addition {
        file,
        unit,
        segments: before,
    });
    manifest.set(Ingested(false));
    if let Some(catalogue) = manifest.take::<CatalogueEntry>() {
        manifest.set(CatalogueBefore(catalogue));
    }
}

/// Creates the manifest of a collection with these parameters.
pub fn begin(
    kinds: &'static [StageRecordKind],
    config: &CollectionConfig,
    parameters: u128,
) -> Manifest {
    let mut manifest = Manifest::new(kinds, parameters);
    manifest.set(config.clone());
    manifest.set(Segments::default());
    manifest.set(Ingested(false));
    manifest
}

/// The parameters of a collection.
pub fn config(manifest: &Manifest) -> &CollectionConfig {
    // Every function that creates a manifest makes sure that it has them, and none is read without.
    manifest
        .get()
        .unwrap_or_else(|| unreachable!("a manifest without its collection's parameters"))
}

/// Refuses a collection that excludes texts.
pub fn has_all_shingles(workspace: &Workspace, because: &str) -> Result<()> {
    match &config(&workspace.manifest).shingle.excluded {
        None => Ok(()),
        Some(_) => {
            let limit = format!("it was made with --exclude-text, and {because}");
            refuse("DIR", workspace.directory().display(), limit)
        }
    }
}

/// The segments committed so far.
pub fn segments(manifest: &Manifest) -> &[SegmentEntry] {
    let segments = manifest.get::<Segments>();
    segments.map_or(&[], |segments| &segments.0)
}

/// The segment with a document, and its place among the segments.
pub fn segment_of(workspace: &Workspace, document: u32) -> Result<(usize, &SegmentEntry)> {
    let segments = segments(&workspace.manifest);
    let after = segments.partition_point(|segment| segment.first_document <= document);
    let at = after
        .checked_sub(1)
        .ok_or_else(|| not_stored(workspace, document))?;
    Ok((at, &segments[at]))
}

/// No segment has a document.
pub(crate) fn not_stored(workspace: &Workspace, document: u32) -> Error {
    let what = format!("document {document}");
    Error::corrupt(workspace.directory(), what).expected("a segment with it", "none")
}

/// The segments committed so far, for adding to them.
pub fn segments_mut(manifest: &mut Manifest) -> &mut Vec<SegmentEntry> {
    &mut manifest.get_or_insert_with(Segments::default).0
}

/// Inserts a segment at its place in the input, and numbers the documents of those after it.
pub fn insert_segment(manifest: &mut Manifest, segment: SegmentEntry) {
    let segments = segments_mut(manifest);
    let at = segments.partition_point(|before| before.next <= segment.next);
    segments.insert(at, segment);
    let mut first = 0;
    for segment in segments {
        segment.first_document = first;
        // There are fewer documents than 32-bit numbers.
        first = first.saturating_add(segment.stats.documents as u32);
    }
}

/// The number of documents of the segments, and a place that states another: each document has a
/// number, which is an index into the columns. `more` are the lengths of columns of later stages.
pub fn other_number(manifest: &Manifest, more: impl Iterator<Item = u64>) -> Option<(u64, String)> {
    let mut documents = 0u64;
    for segment in segments(manifest) {
        let (first, stated) = (u64::from(segment.first_document), segment.documents.records);
        if documents != first || segment.stats.documents != stated {
            let name = &segment.documents.name;
            let counted = segment.stats.documents;
            let found = format!("{counted} from number {first} in a segment, {stated} in {name}");
            return Some((documents, found));
        }
        documents = documents.saturating_add(stated);
    }
    if documents > u64::from(u32::MAX) {
        return Some((u64::from(u32::MAX), format!("{documents} in its segments")));
    }
    let stats = manifest.get().map(|of: &CatalogueEntry| &of.stats);
    let other = stats.and_then(|stats| stats.other_number(documents));
    let mut sampled = more.filter(|stated| *stated != documents);
    let other = other.or_else(|| Some(format!("{} in its sample", sampled.next()?)));
    other.map(|found| (documents, found))
}

/// Whether the collection has captures of web archives, with dates.
pub fn has_captures(manifest: &Manifest) -> bool {
    let mut segments = segments(manifest).iter();
    segments.any(|segment| segment.stats.captures > 0)
}

/// Whether all segments are committed.
pub fn ingested(manifest: &Manifest) -> bool {
    manifest.get::<Ingested>().is_some_and(|of| of.0)
}

/// Opens or creates a directory that depends on the inputs of `base`, on its parts, and on its
/// `postings` if it uses them. Existing content is kept if it was made from the same ones. `which`
/// distinguishes directories that are otherwise made from the same data. The caller must call
/// `Workspace::recover` next.
pub fn standing_on<P: Serialize>(
    base: &Workspace,
    directory: &Path,
    which: &str,
    postings: Option<&P>,
) -> Result<Workspace> {
    let manifest = &base.manifest;
    let origin = origin(base, directory, which, postings)?;
    let begin = begin(manifest.kinds(), config(manifest), manifest.parameters());
    Workspace::standing_on(base, directory, &origin, begin)
}

/// A digest of what a directory stands on, with the parameters of [`standing_on`].
pub fn origin<P: Serialize>(
    base: &Workspace,
    directory: &Path,
    which: &str,
    postings: Option<&P>,
) -> Result<String> {
    let manifest = &base.manifest;
    let (parameters, segments) = (&manifest.collection_digest, segments(manifest));
    let stands_on = (&manifest.inputs, parameters, segments, which, postings);
    store::digest_of(&stands_on, &directory.join(MANIFEST_FILE))
}

/// Opens or creates a directory for a collection of some documents of `base`, with the same
/// parameters. Existing content is kept if it was made from the same collection and the same
/// documents, which `which` identifies.
pub fn beside(base: &Workspace, directory: &Path, which: &str) -> Result<Workspace> {
    let mut workspace = standing_on::<()>(base, directory, which, None)?;
    workspace.recover(true)?;
    Ok(workspace)
}
