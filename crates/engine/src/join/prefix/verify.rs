//! From candidates to pairs: intersect the two sets of each candidate.

use std::sync::atomic::{AtomicU64, Ordering};

use super::distinct::Distinct;
use super::{Joining, PrefixPlace};
use crate::collection::{LoadedSets, MappedSets, Tried, Wanted, within_le};
use crate::join::{COMPRESSION, DIRECTORY, JoinProgress, Pair, Pairs, STAGE, commit, list};
use crate::sample::{SampleEntry, Sampled};
use crate::sort::{Record, RunEntry, RunWriter};
use lookalike_base::{
    Context, Error, Key, Measure, Result, UnionFind, Unit, budget::ByteSize, in_order,
};
use lookalike_store::{HEADER_BYTES, Kind, Sort, Workspace, disk, item};

/// Number of candidates that a thread takes at a time.
const PIECE: usize = 4 << 10;
/// The least memory that the step needs in addition to its columns: a run being written, two runs
/// being merged, and room for mapped pages. Pieces and their results are in the threads' share.
pub(super) const LEAST_BYTES: u64 = 4 << 20;
/// Memory for sorting the links of clusters.
pub(super) const LINKS_BYTES: u64 = 4 << 20;

/// Intersects the sets of two documents as they are compared.
pub(super) struct Verifier<'a> {
    sets: MappedSets,
    join: &'a Joining<'a>,
    most: Option<u32>,
}

impl<'a> Verifier<'a> {
    pub(super) fn new(sets: MappedSets, join: &'a Joining<'a>, most: Option<u32>) -> Self {
        Verifier { sets, join, most }
    }

    /// The shared count of two documents, if they reach the threshold. Sets that are not loaded are
    /// looked up in the mapped files.
    pub(super) fn verify<K: Key>(
        &self,
        loaded: Option<&LoadedSets>,
        a: u32,
        b: u32,
    ) -> Result<Option<u32>> {
        let (size_a, size_b) = self.join.sampled.measured(a, b);
        let (size_a, size_b) = (size_a.into(), size_b.into());
        let criterion = self.join.config.of_samples();
        let least = criterion.least_shared(size_a, size_b);
        let sets = loaded.and_then(|loaded| Some([loaded.get(a)?, loaded.get(b)?]));
        let shared = match sets {
            Some(sets) => self.shared_of::<K>(sets, a, b, least)?,
            None => self.shared::<K>(a, b, least)?,
        };
        Ok(shared.filter(|&shared| criterion.reached(shared.into(), size_a, size_b)))
    }

    /// The shared count of two documents, if it is `least` or more.
    fn shared<K: Key>(&self, a: u32, b: u32, least: u64) -> Result<Option<u32>> {
        let sets = self.sets.look();
        self.shared_of::<K>([sets.get(a)?, sets.get(b)?], a, b, least)
    }

    /// The shared count of these two sets, if it is `least` or more.
    fn shared_of<K: Key>(
        &self,
        [set_a, set_b]: [&[u8]; 2],
        a: u32,
        b: u32,
        least: u64,
    ) -> Result<Option<u32>> {
        let sampled = self.join.sampled;
        let level = sampled.level(a).max(sampled.level(b));
        let a = self.sample::<K>(set_a, level, a, sampled)?;
        let b = self.sample::<K>(set_b, level, b, sampled)?;
        if let Measure::Smallest(n) = self.join.config.measure {
            return Ok(Some(K::shared_smallest_le(a, b, n.into()) as u32));
        }
        Ok(K::shared_le(a, b, least).map(|shared| shared as u32))
    }

    /// The part of a document's set that is sampled at a level.
    fn sample<'s, K: Key>(
        &self,
        set: &'s [u8],
        level: usize,
        document: u32,
        sampled: &Sampled,
    ) -> Result<&'s [u8]> {
        let rate = sampled.rates()[level];
        let mut slice = set;
        if rate.n() > 1 {
            slice = within_le(set, rate.bounds::<K>());
        }
        if let Some(most) = self.most {
            slice = &slice[..slice.len().min(most as usize * K::BYTES)];
        }
        let expected = sampled.at(level, document);
        let found = slice.len() / K::BYTES;
        if found != expected as usize {
            let what = format!("size of the sample of document {document}");
            return Err(Error::corrupt(sampled.file(level), what)
                .at(HEADER_BYTES as u64 + u64::from(document) * 4)
                .expected(found, expected));
        }
        Ok(slice)
    }
}

/// Verifies the committed candidates and commits the pair list.
pub(super) fn run<K: Key>(
    workspace: &mut Workspace,
    join: &Joining<'_>,
    memory: u64,
) -> Result<()> {
    let documents = join.sampled.documents() as u32;
    let clusters = match join.config.pairs {
        Pairs::All | Pairs::Across => None,
        Pairs::None => Some(UnionFind::new(documents)),
    };
    let candidates = place(workspace).candidates;
    let candidates = list::fewer(workspace, join, candidates, memory / 2, |joining, runs| {
        joining.prefix.get_or_insert_default().candidates = runs;
    })?;
    let total: u64 = candidates.iter().map(|run| run.part.records).sum();
    join.context
        .start(STAGE, Unit::Count("candidates"), Some(total));
    let most = workspace.manifest.get::<SampleEntry>();
    let most = most.and_then(|sample| sample.sampling.most_per_document());
    // Most sets are loaded. A set that takes much of that memory is mapped.
    let sets = MappedSets::open::<K>(workspace, memory / 8)?;
    let verifier = Verifier::new(sets, join, most);
    let merging = Distinct::bytes(candidates.len(), join.context.budget.threads).min(memory / 2);
    let mut verifying = Verifying {
        workspace,
        join,
        verifier: &verifier,
        clusters: clusters.as_ref(),
        merging,
        // The memory that is left beside the mapped sets.
        loaded: memory / 8 * 7 - merging,
        number: 0,
        run: None,
    };
    verifying.resume()?;
    verifying.all::<K>(&candidates)?;
    match &clusters {
        None => list::finish::<K>(workspace, join, memory / 2),
        Some(clusters) => links::<K>(workspace, join, &verifier, clusters),
    }
}

/// The candidates, and how far they are verified.
fn place(workspace: &Workspace) -> PrefixPlace {
    let joining = workspace.manifest.get::<JoinProgress>();
    joining.and_then(|j| j.prefix.clone()).unwrap_or_default()
}

struct Verifying<'a, 'v> {
    workspace: &'a mut Workspace,
    join: &'a Joining<'a>,
    verifier: &'a Verifier<'v>,
    clusters: Option<&'a UnionFind>,
    /// Memory for merging the runs of candidates.
    merging: u64,
    /// Memory for the sets of some candidates, and for these.
    loaded: u64,
    number: u64,
    run: Option<RunWriter<u64>>,
}

impl Verifying<'_, '_> {
    /// Resumes from the last commit.
    fn resume(&mut self) -> Result<()> {
        let Some(joining) = self.workspace.manifest.get::<JoinProgress>() else {
            return Ok(());
        };
        self.number = joining.next_number;
        let Some(clusters) = self.clusters else {
            return Ok(());
        };
        let mut files = list::open(self.workspace, &joining.runs)?;
        if let Some(before) = list::before(self.workspace) {
            for part in before.lists() {
                files.push(list::open_part(self.workspace, Kind::Pairs, part)?);
            }
        }
        for file in files {
            let mut cursor = file.range(0, u64::MAX)?;
            while let Some(record) = cursor.head() {
                let (a, b) = Pair::of_key(record.key);
                clusters.union(a, b);
                cursor.advance()?;
            }
        }
        Ok(())
    }

    /// Verifies all distinct candidates and writes the pairs in order.
    fn all<K: Key>(&mut self, candidates: &[RunEntry]) -> Result<()> {
        let from = match place(self.workspace).done {
            None => 0,
            Some(u64::MAX) => return Ok(()),
            Some(done) => done + 1,
        };
        let files = list::open(self.workspace, candidates)?;
        let Context { budget, stop, .. } = self.join.context;
        let mut distinct = Distinct::new(&files, from, budget.threads, self.merging, stop);
        let documents = self.join.sampled.documents();
        let mut wanted = Wanted::new(documents, self.loaded / 8 * 7);
        loop {
            let last;
            (wanted, last) = self.step::<K>(&mut distinct, wanted)?;
            let next = distinct.next()?;
            self.commit(next.map_or(u64::MAX, |_| last))?;
            if next.is_none() {
                return Ok(());
            }
        }
    }

    /// Takes candidates until there is no room for more sets, and verifies them. Returns the last
    /// one.
    fn step<K: Key>(
        &mut self,
        distinct: &mut Distinct<'_>,
        mut wanted: Wanted,
    ) -> Result<(Wanted, u64)> {
        let directory = &self.workspace.path(DIRECTORY);
        let parameters = self.workspace.collection_parameters();
        let context = self.join.context;
        let (verifier, clusters) = (self.verifier, self.clusters);
        let before = distinct.read;
        let most = (self.loaded / 8 / size_of::<u64>() as u64).max(1) as usize;
        let mut candidates = Vec::new();
        let (mut last, mut taken) = (0, 0);
        let joining = self.workspace.manifest.get::<JoinProgress>();
        let mut tried = joining
            .and_then(|joining| joining.tried)
            .unwrap_or_default();
        while let Some(key) = distinct.next()? {
            let (a, b) = Pair::of_key(key);
            let mut after = tried;
            if self.join.listed.has((a, b), &mut after)
                && clusters.is_none_or(|clusters| clusters.find(a) != clusters.find(b))
            {
                if candidates.len() >= most || !wanted.add(&verifier.sets, a, b) {
                    break;
                }
                candidates.push(key);
            }
            last = key;
            taken += 1;
            tried = after;
            distinct.advance();
        }
        let threads = context.budget.threads;
        let loaded = wanted.load(&verifier.sets, threads, context.stop)?;
        let verified = AtomicU64::new(0);
        let (mut run, number) = (None, self.number);
        let mut done = 0;
        in_order(
            STAGE,
            threads,
            |hand_out| {
                candidates.chunks(PIECE).try_for_each(|piece| {
                    context.stop.check(STAGE)?;
                    done += piece.len() as u64;
                    context.progress.at(before + done);
                    hand_out(piece)
                })
            },
            |piece: &[u64], pass| {
                disk::point("verify: worker");
                let mut found = Vec::new();
                let mut looked_at = 0;
                for &key in piece {
                    let (a, b) = Pair::of_key(key);
                    if clusters.is_some_and(|c| c.find(a) == c.find(b)) {
                        continue;
                    }
                    looked_at += 1;
                    if let Some(value) = verifier.verify::<K>(Some(&loaded), a, b)? {
                        found.push(Record { key, value });
                        if let Some(clusters) = clusters {
                            clusters.union(a, b);
                        }
                    }
                }
                verified.fetch_add(looked_at, Ordering::Relaxed);
                pass(found)
            },
            |found: Vec<Record<u64>>| {
                for record in found {
                    let run = match &mut run {
                        Some(run) => run,
                        none => none.insert(RunWriter::create(
                            directory,
                            number,
                            parameters,
                            COMPRESSION,
                        )?),
                    };
                    run.push(record)?;
                }
                Ok(())
            },
        )?;
        self.number += u64::from(run.is_some());
        self.run = run;
        if let Some(joining) = self.workspace.manifest.get_mut::<JoinProgress>() {
            let stats = joining.stats.prefix.get_or_insert_default();
            stats.candidates += taken;
            stats.verified += verified.into_inner();
            joining.tried = Some(tried).filter(|tried| *tried != Tried::default());
        }
        Ok((loaded.into_wanted(), last))
    }

    /// Commits the pairs found so far. All candidates up to `done` are verified.
    fn commit(&mut self, done: u64) -> Result<()> {
        let mut progress = self.workspace.manifest.get_or_default::<JoinProgress>();
        if let Some(run) = self.run.take() {
            let part = run.finish()?;
            progress.stats.runs += 1;
            progress.stats.spilled_bytes += part.bytes;
            progress.runs.push(part.into());
        }
        progress.next_number = self.number;
        progress.prefix.get_or_insert_default().done = Some(done);
        if done == u64::MAX {
            let join = self.join;
            let tried = progress.tried.unwrap_or_default();
            progress.stats.undecided = join.undecided(self.workspace, &tried)?;
        }
        commit(self.workspace, &progress)
    }
}

item! {
    /// A member of a cluster, behind the cluster's first document.
    struct Linked {
        root: u32,
        document: u32,
    }
}

/// A link from each member of a cluster to its first document, with their shared count. The links
/// do not depend on which pairs were verified to find the clusters.
fn links<K: Key>(
    workspace: &mut Workspace,
    join: &Joining<'_>,
    verifier: &Verifier<'_>,
    clusters: &UnionFind,
) -> Result<()> {
    let documents = join.sampled.documents() as u32;
    let scratch = workspace.scratch(join.context)?;
    let mut out = list::writer(workspace, 0)?;
    let mut members = Sort::scratch(&scratch.path().join("links"), ByteSize(LINKS_BYTES))?;
    for document in 0..documents {
        let root = clusters.find(document);
        if root != document {
            members.push(Linked { root, document })?;
        }
    }
    let mut n = 0u64;
    let links = members.finish()?.for_each(|Linked { root, document }| {
        join.context.advance(STAGE, n)?;
        n += 1;
        let key = Pair::key(root, document);
        let value = verifier.shared::<K>(root, document, 0)?.unwrap_or(0);
        out.push(Record { key, value })
    })?;
    drop(scratch);
    let part = out.finish()?;
    list::committed(workspace, join.config, vec![part], [None, None], links)
}
