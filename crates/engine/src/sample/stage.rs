//! Computes and loads the sizes of the samples.

use crate::collection::{self, Catalogue, Column, ColumnBuilder, Extent, SetReader, each_document};
use crate::sample::plan::Plan;
use lookalike_base::{Context, Error, Key, Measure, Result, Unit, counted, within};
use lookalike_store::{
    self as store, HEADER_BYTES, Header, Kind, Manifest, PartInfo, PartWriter, StageRecord,
    Workspace,
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

use super::{Levels, Rate, Sampling};

const STAGE: &str = "sample";
const DIRECTORY: &str = "sample";
/// Memory for the buffers of readers and writers.
const FIXED_BYTES: u64 = 8 << 20;

/// Counts from sampling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleStats {
    /// Distinct shingles of the representatives.
    pub shingles: u64,
    /// The sampled shingles, which are the records to be sorted.
    pub sampled: u64,
    /// Representatives that have shingles, but none in the sample. They can be in no pair.
    pub nothing_sampled: u64,
}

/// The sizes of the samples in memory, by level and document.
#[derive(Clone, Debug)]
pub struct Sampled {
    levels: Levels,
    /// Level of each document; empty if there is only one level.
    level: Vec<u8>,
    /// Sizes at each level. At a level finer than the document's own, the size is 0.
    sizes: Vec<Column>,
    /// The file of each column of sizes.
    files: Vec<PathBuf>,
    /// Length of each document in words, if the measure uses it ([`Measure::of_words`]).
    words: Option<Column>,
}

impl Sampled {
    /// Bytes of memory for a collection of this extent.
    pub fn bytes(levels: usize, extent: Extent) -> u64 {
        let level = if levels > 1 { extent.documents } else { 0 };
        extent.column_bytes() * levels as u64 + level
    }

    /// Reads the sizes of a committed sample.
    pub fn load(workspace: &Workspace) -> Result<Sampled> {
        let entry = workspace.record::<SampleEntry>(STAGE)?;
        let groups = collection::config(&workspace.manifest).size_groups.count();
        let levels = entry.sampling.levels(groups);
        let level = levels_of_documents(workspace, &levels)?;
        let (directory, parameters) =
            (workspace.path(DIRECTORY), workspace.collection_parameters());
        let load = |info: &PartInfo| {
            let path = directory.join(&info.name);
            let sizes = Column::load(&path, parameters, info)?;
            let mut stored = Catalogue::stored_in_order(workspace)?;
            for (document, size) in sizes.iter().enumerate() {
                let most = stored.next()?.unwrap_or_default();
                if size > most {
                    let what = format!("size of the sample of document {document}");
                    return Err(Error::corrupt(&path, what)
                        .at(HEADER_BYTES as u64 + document as u64 * 4)
                        .expected(format!("at most its {most} fingerprints"), size));
                }
            }
            Ok(sizes)
        };
        let sizes = entry.sizes.iter().map(load).collect::<Result<_>>()?;
        let files = entry.sizes.iter().map(|info| directory.join(&info.name));
        Ok(Sampled {
            levels,
            level,
            sizes,
            files: files.collect(),
            words: None,
        })
    }

    /// Like [`Sampled::load`], with the lengths in words if `measure` uses them.
    pub(crate) fn load_for(workspace: &Workspace, measure: Measure) -> Result<Sampled> {
        let mut sampled = Sampled::load(workspace)?;
        if measure.of_words() {
            let mut words = ColumnBuilder::default();
            each_document(workspace, |_, document| {
                words.push(u32::try_from(document.words).unwrap_or(u32::MAX));
                Ok(())
            })?;
            sampled.words = Some(words.finish());
        }
        Ok(sampled)
    }

    /// Like [`Sampled::bytes`], with the lengths in words if `measure` uses them.
    pub fn bytes_for(measure: Measure, levels: usize, extent: Extent) -> u64 {
        let words = if measure.of_words() {
            Column::most_bytes(extent.documents, u64::MAX)
        } else {
            0
        };
        Sampled::bytes(levels, extent) + words
    }

    /// As [`Sampled::bytes_for`], of the committed sample.
    pub fn bytes_in(workspace: &Workspace, measure: Measure) -> Result<u64> {
        let sample = workspace.manifest.get::<SampleEntry>();
        let levels = sample.map_or(1, |sample| sample.sizes.len());
        Ok(Sampled::bytes_for(
            measure,
            levels,
            Catalogue::extent(workspace)?,
        ))
    }

    /// The sizes of the full sets instead of the sizes of samples.
    pub fn of_full_sets(workspace: &Workspace) -> Result<Sampled> {
        let groups = collection::config(&workspace.manifest).size_groups.count();
        Ok(Sampled {
            levels: Sampling::Full.levels(groups),
            level: Vec::new(),
            sizes: vec![Catalogue::sizes(workspace)?],
            files: vec![Catalogue::stored_file(workspace)?],
            words: None,
        })
    }

    /// The number of documents.
    pub fn documents(&self) -> usize {
        self.sizes.first().map_or(0, Column::len)
    }

    /// The ratios, finest first.
    pub fn rates(&self) -> &[Rate] {
        &self.levels.rates
    }

    /// The file with the sizes at a level.
    pub fn file(&self, level: usize) -> &Path {
        &self.files[level]
    }

    /// Size of a document's sample at a level; 0 if the level is finer than the document's own.
    #[inline]
    pub fn at(&self, level: usize, document: u32) -> u32 {
        self.sizes[level].at(document)
    }

    /// The level of a document.
    #[inline]
    pub fn level(&self, document: u32) -> usize {
        self.level
            .get(document as usize)
            .map_or(0, |&l| usize::from(l))
    }

    /// The ratio of a document.
    pub fn rate(&self, document: u32) -> Rate {
        self.levels.rates[self.level(document)]
    }

    /// Size of a document's sample at its own level, which is the number of its records.
    #[inline]
    pub fn own(&self, document: u32) -> u32 {
        self.sizes[self.level(document)].at(document)
    }

    /// The value that the measure uses for a document at a level: the size of its sample, or its
    /// length in words.
    #[inline]
    pub(crate) fn measured_at(&self, level: usize, document: u32) -> u32 {
        match &self.words {
            Some(words) => words.at(document),
            None => self.at(level, document),
        }
    }

    /// The values that the measure uses for two documents: [`Sampled::sizes`], or their lengths in
    /// words.
    #[inline]
    pub fn measured(&self, a: u32, b: u32) -> (u32, u32) {
        match &self.words {
            Some(words) => (words.at(a), words.at(b)),
            None => self.sizes(a, b),
        }
    }

    /// Sizes of the samples of two documents on the coarser of their ratios, the one for comparing
    /// them.
    #[inline]
    pub fn sizes(&self, a: u32, b: u32) -> (u32, u32) {
        let level = self.level(a).max(self.level(b));
        let sizes = &self.sizes[level];
        (sizes.at(a), sizes.at(b))
    }
}

fn levels_of_documents(workspace: &Workspace, levels: &Levels) -> Result<Vec<u8>> {
    let mut level = Vec::new();
    if levels.rates.len() > 1 {
        let config = collection::config(&workspace.manifest);
        each_document(workspace, |number, document| {
            let of = levels.level_of_group.get(usize::from(document.group));
            let of = of.ok_or_else(|| {
                let what = format!("size group of document {number}");
                let expected = format!("less than {}", config.size_groups.count());
                Error::corrupt(workspace.path("collection"), what)
                    .expected(expected, document.group)
            })?;
            level.push(*of);
            Ok(())
        })?;
    }
    Ok(level)
}

/// Computes the columns of sizes for a sampling, unless they exist.
pub fn run<K: Key>(
    workspace: &mut Workspace,
    sampling: &Sampling,
    context: &Context<'_>,
) -> Result<()> {
    sampling.check(collection::config(&workspace.manifest).size_groups.count())?;
    let digest = self::digest(&workspace.manifest, sampling);
    let there = workspace.manifest.get::<SampleEntry>();
    if there.is_some_and(|sample| sample.digest == digest) {
        return Ok(());
    }
    workspace.manifest.remove::<SampleEntry>();
    workspace.manifest.remove_after::<SampleEntry>();
    workspace.settle(&[])?;
    let documents = Catalogue::stats(workspace)?.documents;
    context.start(STAGE, Unit::Count("documents"), Some(documents));
    let levels = sampling.levels(collection::config(&workspace.manifest).size_groups.count());
    let count = levels.rates.len();
    let of_levels = if count > 1 { documents } else { 0 };
    let what = || format!("sampling {}", counted(documents, "document"));
    context.budget.require(FIXED_BYTES + of_levels, what)?;
    let level = levels_of_documents(workspace, &levels)?;
    // Everything is read and written in the order of the documents, so no column is in memory.
    let mut representatives = Catalogue::representatives_in_order(workspace)?;
    let mut all_stored = Catalogue::stored_in_order(workspace)?;
    let mut stats = SampleStats::default();
    let (directory, parameters) = (workspace.path(DIRECTORY), workspace.collection_parameters());
    let writers = (0..count as u64).map(|number| {
        let header = Header::new(Kind::Column, parameters, number, 4);
        PartWriter::create(&directory, &header)
    });
    let mut writers = writers.collect::<Result<Vec<_>>>()?;
    let all = levels.rates == [Rate::FULL] && sampling.most_per_document().is_none();
    let bounds: Vec<(K, K)> = levels.rates.iter().map(|rate| rate.bounds()).collect();
    let mut document = 0u32;
    let mut inside = vec![0u32; count];
    for segment in collection::segments(&workspace.manifest) {
        let mut sets = (!all)
            .then(|| SetReader::<K>::open(workspace.places(), segment))
            .transpose()?;
        for _ in 0..segment.stats.documents {
            context.advance(STAGE, document)?;
            let (Some(first), Some(stored)) = (representatives.next()?, all_stored.next()?) else {
                let column = Catalogue::stored_file(workspace)?;
                return Err(Error::corrupt(column, "numbers in the column")
                    .expected(format!("{documents}, one for each document"), document));
            };
            let takes_part = first == document;
            let own = level.get(document as usize).map_or(0, |&l| usize::from(l));
            inside.fill(0);
            if let Some(sets) = &mut sets {
                sets.next(stored, |keys| {
                    for (n, &bounds) in inside.iter_mut().zip(&bounds).skip(own) {
                        *n += within(keys, bounds).len() as u32;
                    }
                    Ok(())
                })?;
            } else {
                inside[0] = stored;
            }
            for (writer, n) in writers.iter_mut().zip(&mut inside) {
                *n = sampling
                    .most_per_document()
                    .map_or(*n, |most| (*n).min(most));
                let size = if takes_part { *n } else { 0 };
                writer.put(&size.to_le_bytes())?;
            }
            if takes_part {
                stats.shingles += u64::from(stored);
                stats.sampled += u64::from(inside[own]);
                stats.nothing_sampled += u64::from(stored > 0 && inside[own] == 0);
            }
            document += 1;
        }
        if let Some(sets) = sets {
            sets.finish()?;
        }
    }
    representatives.finish()?;
    all_stored.finish()?;
    let parts = writers
        .into_iter()
        .map(|writer| writer.finish(documents, 0, 0))
        .collect::<Result<_>>()?;
    workspace.manifest.set(SampleEntry {
        digest,
        sampling: sampling.clone(),
        sizes: parts,
        stats,
    });
    workspace.commit(&[DIRECTORY])
}

/// The sizes of the samples.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SampleEntry {
    /// Digest of the collection and the sampling.
    pub digest: String,
    /// The sampling.
    pub sampling: Sampling,
    /// One column of sizes per level.
    pub sizes: Vec<PartInfo>,
    /// The counts.
    pub stats: SampleStats,
}

impl StageRecord for SampleEntry {
    const NAME: &'static str = "sample";
    const DIRECTORY: Option<&'static str> = Some(DIRECTORY);
    const TAKES_ALONG: &'static [&'static str] = &["runs", "postings", "joining"];

    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        self.sizes.iter().map(|part| (Kind::Column, part)).collect()
    }
}

impl StageRecord for Plan {
    const NAME: &'static str = "plan";
    const OMITTED: bool = true;
}

/// Whether the user supplied the plan. Such a plan may have been edited, so it can differ from the
/// plan that this program would make.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanGiven(pub bool);

impl StageRecord for PlanGiven {
    const NAME: &'static str = "plan_given";
    const OMITTED: bool = true;
}

/// Digest of this stage for a collection and a sampling.
pub fn digest(manifest: &Manifest, sampling: &Sampling) -> String {
    let collection = &manifest.collection_digest;
    store::digest(format!("{collection}\n{sampling}").as_bytes())
}
