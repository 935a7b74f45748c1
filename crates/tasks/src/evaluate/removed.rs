//! Compares the documents that a deduplication removed or kept with the pairs of a directory.
//!
//! # What is counted
//! A removed document has a *survivor* if a kept document is identical to it or reaches the
//! threshold with it. A kept document is *redundant* if another kept document does. From the
//! threshold of the directory on, its pairs say it of all documents. Below it, and if pairs are not
//! listed, documents are drawn at random, and the set of each is compared with those of all kept
//! documents, so each answer is exact; the share has Wilson's interval.
//!
//! # Cost
//! Of documents that are drawn: the sets of the directory are read twice, and 24 bytes for each
//! fingerprint of these documents (48 with MD5).

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Serialize;

use super::classes::pairs_of;
use super::documents::{DOCUMENTS, Documents, each_row, stop};
use super::list::PairList;
use super::rank::QUANTILE;
use super::{Evaluating, Opened, RunList, STAGE};
use lookalike_base::{
    Key, Measure, Result, Threshold, precision::share, refuse, wilson, with_keys,
};
use lookalike_engine::collection::{self, Catalogue};
use lookalike_engine::join::{Pairs, PairsEntry};
use lookalike_engine::pipeline;
use lookalike_engine::table::Table;
use lookalike_store::{AtomicFile, Workspace, table::cell};

/// Documents that are drawn of the removed ones, and of the kept ones.
const DRAWN: usize = 1000;

/// Evaluates the removals of a deduplication at one threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RemovalsAt {
    /// The threshold; `None` for everything in the list.
    pub threshold: Option<Threshold>,
    /// Of the removed documents, those without a survivor.
    pub without_survivor: RemovalShare,
    /// Of the kept documents, the redundant ones.
    pub redundant: RemovalShare,
    /// Pairs of kept documents; `None` if documents were drawn.
    pub pairs: Option<u64>,
}

/// A part of the removed or of the kept documents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RemovalShare {
    /// Documents that were looked at.
    pub of: u64,
    /// The part of them.
    pub documents: u64,
    /// The share.
    pub share: Option<f64>,
    /// Its interval of 95 %, if the documents were drawn.
    pub interval: Option<[f64; 2]>,
}

/// Which documents of the ground truth are removed, and which are kept.
struct Parts<'d> {
    documents: &'d Documents,
    /// Removed documents, and kept ones, ascending. The numbers of documents are ranks of the hashes
    /// of their docnos, so the first ones are a random choice.
    parts: [Vec<u32>; 2],
    /// By class of identical documents: the kept ones.
    kept: Vec<u32>,
    /// By class: the number of thresholds that its best pair with a class of kept ones reaches.
    best: Vec<u8>,
    /// By class, if documents are listed: the score of this pair, and the other docno of the pair.
    closest: HashMap<usize, (f64, Vec<u8>)>,
}

/// Memory of a closest pair, without the docno.
const CLOSEST_BYTES: usize = 128;
/// How a list of disagreements begins.
pub(super) const HEAD: &str = "docno_a\tdocno_b\tthreshold\tscore\tdisagreement\n";

impl<'d> Parts<'d> {
    fn new(documents: &'d Documents, of: RunList) -> Parts<'d> {
        let count = documents.count() as usize;
        let mut all = Parts {
            documents,
            parts: [Vec::new(), Vec::new()],
            kept: vec![0; count],
            best: vec![0; count],
            closest: HashMap::new(),
        };
        for document in 0..documents.count() {
            // With --against, the pairs also name documents of the other collection. They are all kept.
            let known = documents.known(document);
            let is_kept = !known || documents.listed(document) == (of == RunList::Kept);
            if known {
                all.parts[usize::from(is_kept)].push(document);
            }
            let root = all.root(document);
            all.kept[root] += u32::from(is_kept);
        }
        all
    }

    fn root(&self, document: u32) -> usize {
        self.documents.truth.root(document) as usize
    }

    /// Whether a removed document has no survivor, or a kept one is redundant, at a threshold.
    fn is_counted(&self, part: usize, document: u32, level: usize) -> bool {
        let root = self.root(document);
        // A kept document is not its own partner.
        let partner = self.kept[root] > part as u32 || usize::from(self.best[root]) > level;
        partner == (part == 1)
    }

    /// The counts at a threshold; without `pairs`, of documents that are drawn.
    fn at(&self, level: usize, of: Evaluating<'_>, pairs: Option<u64>) -> RemovalsAt {
        let of_part = |part: usize| {
            let all = &self.parts[part];
            let most = pairs.map_or(DRAWN, |_| all.len());
            let looked_at = all.iter().take(most);
            let of = looked_at.len() as u64;
            let wrong = looked_at.filter(|&&document| self.is_counted(part, document, level));
            let documents = wrong.count() as u64;
            let share = share(documents, of);
            let drawn = share.filter(|_| most < all.len());
            RemovalShare {
                of,
                documents,
                share,
                interval: drawn.map(|share| wilson(share, of as f64, QUANTILE).into()),
            }
        };
        RemovalsAt {
            threshold: of.thresholds.get(level).copied(),
            without_survivor: of_part(0),
            redundant: of_part(1),
            pairs,
        }
    }

    /// Reads the pairs of the directory. Returns the pairs of kept documents by the number of
    /// thresholds that they reach, without identical ones. Keeps the closest pairs if they are `listed`.
    fn read_pairs(&mut self, truth: &Opened, of: Evaluating<'_>, listed: bool) -> Result<Vec<u64>> {
        let mut pairs_at = vec![0; of.top() + 1];
        let (mut pairs, mut bytes) = (PairList::open(&truth.pairs, None)?, 0);
        while let Some(pair) = pairs.next(of.thresholds)? {
            stop(&pairs.table, of.context)?;
            let number = |hash| self.documents.find(hash, &pairs.table);
            let [a, b] = pair.documents;
            let (a, b) = (self.root(number(a)?), self.root(number(b)?));
            pairs_at[pair.level] += u64::from(self.kept[a]) * u64::from(self.kept[b]);
            for (one, other, which) in [(a, b, 1), (b, a, 0)] {
                if self.kept[other] == 0 {
                    continue;
                }
                self.best[one] = self.best[one].max(pair.level as u8);
                let before = self.closest.get(&one).map_or(0.0, |closest| closest.0);
                if listed && self.kept[one] > 0 && pair.score > before {
                    let docno = pairs.docno(which).to_vec();
                    bytes += (CLOSEST_BYTES + docno.len()) as u64;
                    of.without(bytes, || "listing redundant documents".into())?;
                    self.closest.insert(one, (pair.score, docno));
                }
            }
        }
        Ok(pairs_at)
    }

    /// Lists the documents that are counted at a threshold, of those that are `drawn` or of all.
    fn list(
        &self,
        path: &Path,
        level: usize,
        drawn: bool,
        of: Evaluating<'_>,
        out: &mut AtomicFile,
    ) -> Result<()> {
        let at = of
            .thresholds
            .get(level)
            .map_or(String::new(), ToString::to_string);
        each_row(Table::open(path)?, &["docno"], of.context, |table, row| {
            let document = self.documents.of(table, &row[0])?;
            let kept = self.parts[1].binary_search(&document);
            let (part, place) = match kept {
                Ok(place) => (1, place),
                Err(_) => (0, self.parts[0].binary_search(&document).unwrap_or(0)),
            };
            if !self.is_counted(part, document, level) || drawn && place >= DRAWN {
                return Ok(());
            }
            let (class, none) = (self.root(document), Vec::new());
            let (partner, score, what) = match self.closest.get(&class) {
                _ if part == 0 => (&none, String::new(), "without survivor"),
                _ if self.kept[class] > 1 => (&none, "1".into(), "redundant"),
                Some((score, docno)) => (docno, score.to_string(), "redundant"),
                None => (&none, String::new(), "redundant"),
            };
            let [a, b] = [&row[0], partner].map(|docno| String::from_utf8_lossy(docno));
            let (a, b) = (cell(&a), cell(&b));
            out.put(format!("{a}\t{b}\t{at}\t{score}\t{what}\n").as_bytes())
        })
    }
}

/// Compares a list of removed or kept documents with the ground truth, a directory.
pub(super) fn compare(
    truth: &Opened,
    of: Evaluating<'_>,
    documents: &Documents,
) -> Result<Vec<RemovalsAt>> {
    let directory = truth.directory.as_deref().unwrap_or(&truth.pairs);
    let manifest = pipeline::check_results(directory, &[])?;
    if (manifest.get::<PairsEntry>()).is_some_and(|join| join.config.pairs == Pairs::Across) {
        let limit = "it lists no pairs of two new documents (--pairs across), of which one may be the survivor";
        return refuse("truth", directory.display(), limit);
    }
    let mut parts = Parts::new(documents, of.sources.run.of);
    let output = of.sources.config.disagreements.as_deref();
    let mut output = output.map(AtomicFile::create).transpose()?;
    if let Some(out) = &mut output {
        out.put(HEAD.as_bytes())?;
    }
    let table = directory.join(DOCUMENTS);
    let mut found = Vec::new();
    let mut count = |parts: &Parts<'_>, level, pairs: Option<u64>| {
        found.push(parts.at(level, of, pairs));
        match &mut output {
            Some(out) => parts.list(&table, level, pairs.is_none(), of, out),
            None => Ok(()),
        }
    };
    // Below the threshold of the directory, its pairs are not all that there are.
    let thresholds = of.thresholds;
    let own = truth.threshold();
    let below = match own {
        _ if !truth.listed => of.top(),
        Some(own) => thresholds.partition_point(|threshold| *threshold < own),
        None => 0,
    };
    if below > 0 {
        let own: Vec<Threshold> = own.into_iter().collect();
        let thresholds = thresholds.get(..below).unwrap_or(&own);
        let drawn = parts.parts.iter().flat_map(|part| part.iter().take(DRAWN));
        let drawn = drawn.map(|&document| parts.root(document)).collect();
        let classes = (&drawn, &parts.kept[..]);
        search(truth, thresholds, of, documents, classes, &mut parts.best)?;
        (0..below).try_for_each(|level| count(&parts, level, None))?;
        parts.best.fill(0);
    }
    if below < of.top() {
        let listed = of.sources.config.disagreements.is_some();
        let pairs = parts.read_pairs(truth, of, listed)?;
        let identical: u64 = parts.kept.iter().map(|&kept| pairs_of(kept.into())).sum();
        for level in below..of.top() {
            let pairs: u64 = pairs[level + 1..].iter().sum();
            count(&parts, level, Some(identical + pairs))?;
        }
    }
    output.map(AtomicFile::finish).transpose()?;
    Ok(found)
}

/// Compares classes that were drawn with all classes of kept documents.
fn search(
    truth: &Opened,
    thresholds: &[Threshold],
    of: Evaluating<'_>,
    documents: &Documents,
    classes: (&HashSet<usize>, &[u32]),
    best: &mut [u8],
) -> Result<()> {
    let directory = truth.directory.as_deref().unwrap_or(&truth.pairs);
    let workspace = pipeline::open_shared(directory, of.context)?;
    let config = collection::config(&workspace.manifest);
    let is_across = collection::against(&workspace.manifest).files > 0;
    let measure = workspace.record::<PairsEntry>("join")?.config.measure;
    if measure != Measure::Resemblance || is_across || config.condition.is_some() {
        let limit = "its pairs at this threshold are not listed, and --score, --where or --against say which \
                     count; find them first: `lookalike run --from DIR --threshold T`";
        return refuse("truth", directory.display(), limit);
    }
    let mut roots = Vec::new();
    let names = Table::open(&directory.join(DOCUMENTS))?;
    each_row(names, &["docno"], of.context, |table, row| {
        roots.push(documents.truth.root(documents.of(table, &row[0])?) as usize);
        Ok(())
    })?;
    let search = with_keys!(config.shingle.fingerprint, K => of_keys::<K>);
    search(&workspace, thresholds, of, &roots, classes, best)
}

fn of_keys<K: Key>(
    workspace: &Workspace,
    thresholds: &[Threshold],
    of: Evaluating<'_>,
    roots: &[usize],
    (drawn, kept): (&HashSet<usize>, &[u32]),
    best: &mut [u8],
) -> Result<()> {
    let mut keys: Vec<(K, u32)> = Vec::new();
    let mut sizes: HashMap<u32, u64> = HashMap::new();
    let is_drawn = |root| drawn.contains(&root);
    each_set::<K>(workspace, roots, of, is_drawn, |number, set| {
        sizes.insert(number, set.len() as u64);
        keys.extend(set.iter().map(|&key| (key, number)));
        let bytes = (keys.capacity() * size_of::<(K, u32)>()) as u64;
        of.without(bytes, || "comparing documents that are drawn".into())?;
        Ok(())
    })?;
    keys.sort_unstable();
    let mut shared: HashMap<u32, u64> = HashMap::new();
    each_set::<K>(
        workspace,
        roots,
        of,
        |root| kept[root] > 0,
        |number, set| {
            for key in set {
                let first = keys.partition_point(|(other, _)| other < key);
                let same = keys[first..].iter().take_while(|(other, _)| other == key);
                same.for_each(|(_, drawn)| *shared.entry(*drawn).or_default() += 1);
            }
            shared.remove(&number);
            for (drawn, shared) in shared.drain() {
                let reaches = |t: &Threshold| t.reached(shared, sizes[&drawn], set.len() as u64);
                let best = &mut best[roots[drawn as usize]];
                *best = (*best).max(thresholds.partition_point(reaches) as u8);
            }
            Ok(())
        },
    )
}

/// Passes on the sets of the representatives whose classes are wanted.
fn each_set<K: Key>(
    workspace: &Workspace,
    roots: &[usize],
    of: Evaluating<'_>,
    wanted: impl Fn(usize) -> bool,
    mut take: impl FnMut(u32, &[K]) -> Result<()>,
) -> Result<()> {
    let representatives = Catalogue::representatives(workspace)?;
    let mut firsts = representatives.iter();
    let (mut bytes, mut keys) = (Vec::new(), Vec::new());
    collection::each_set::<K>(workspace, |number, stored, read| {
        of.context.tick(STAGE, number)?;
        let is_first = firsts.next() == Some(number) && stored > 0;
        if is_first && roots.get(number as usize).is_some_and(|&root| wanted(root)) {
            read(&mut bytes)?;
            keys.clear();
            keys.extend(bytes.chunks_exact(K::BYTES).map(K::get_le));
            take(number, &keys)?;
        }
        Ok(())
    })
}
