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

use serde::Serialize;

use super::classes::pairs_of;
use super::documents::{DOCUMENTS, Documents, each_row, stop};
use super::list::PairList;
use super::rank::QUANTILE;
use super::{Evaluating, Opened, RunList, STAGE};
use lookalike_base::error::refuse;
use lookalike_base::ids::{Key, Threshold, with_keys};
use lookalike_base::measure::Measure;
use lookalike_base::precision::{share, wilson};
use lookalike_base::{Error, Result};
use lookalike_engine::collection::{self, Catalogue, SetsByPlace};
use lookalike_engine::join::{Pairs, PairsEntry};
use lookalike_engine::pipeline;
use lookalike_engine::table::Table;
use lookalike_store::workspace::Workspace;

/// Documents that are drawn of the removed ones, and of the kept ones.
const DRAWN: usize = 1000;

/// What a deduplication removed, at one threshold.
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
    let root = |document| documents.truth.root(document) as usize;
    let count = documents.count() as usize;
    // Removed documents, and kept ones. The numbers of documents are ranks of the hashes of their
    // docnos, so the first ones are a random choice.
    let mut parts = [Vec::new(), Vec::new()];
    // By class of identical documents: the kept ones, and the number of thresholds that its best
    // pair with a class of kept ones reaches.
    let (mut kept, mut best) = (vec![0u32; count], vec![0u8; count]);
    for document in 0..documents.count() {
        // With --against, the pairs also name documents of the other collection. They are all kept.
        let known = documents.known(document);
        let is_kept = !known || documents.listed(document) == (of.sources.run.of == RunList::Kept);
        if known {
            parts[usize::from(is_kept)].push(document);
        }
        kept[root(document)] += u32::from(is_kept);
    }
    // Below the threshold of the directory, its pairs are not all that there are.
    let thresholds = of.thresholds;
    let own = truth.comments.get("threshold");
    let own = own.and_then(|text| text.parse::<Threshold>().ok());
    let below = match own {
        _ if !truth.listed => of.top(),
        Some(own) => thresholds.partition_point(|threshold| *threshold < own),
        None => 0,
    };
    let at = |level: usize, best: &[u8], pairs: Option<u64>| {
        let of_part = |part: usize| {
            let all = &parts[part];
            let most = pairs.map_or(DRAWN, |_| all.len());
            let looked_at = all.iter().take(most);
            let of = looked_at.len() as u64;
            let wrong = looked_at.filter(|&&document| {
                let root = root(document);
                // A kept document is not its own partner.
                let partner = kept[root] > part as u32 || usize::from(best[root]) > level;
                partner == (part == 1)
            });
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
            threshold: thresholds.get(level).copied(),
            without_survivor: of_part(0),
            redundant: of_part(1),
            pairs,
        }
    };
    let mut found = Vec::new();
    if below > 0 {
        let own: Vec<Threshold> = own.into_iter().collect();
        let thresholds = thresholds.get(..below).unwrap_or(&own);
        let drawn = parts.iter().flat_map(|part| part.iter().take(DRAWN));
        let drawn = drawn.map(|&document| root(document)).collect();
        search(truth, thresholds, of, documents, (&drawn, &kept), &mut best)?;
        found.extend((0..below).map(|level| at(level, &best, None)));
        best.fill(0);
    }
    if below == of.top() {
        return Ok(found);
    }
    let mut pairs_at = vec![0; of.top() + 1];
    let mut pairs = PairList::open(&truth.pairs, None)?;
    while let Some(listed) = pairs.next(thresholds)? {
        stop(pairs.table(), of.context)?;
        let number = |hash| documents.find(hash, pairs.table()).map(root);
        let (a, b) = (number(listed.documents[0])?, number(listed.documents[1])?);
        pairs_at[listed.level] += u64::from(kept[a]) * u64::from(kept[b]);
        for (one, _) in [(a, b), (b, a)]
            .iter()
            .filter(|(_, other)| kept[*other] > 0)
        {
            best[*one] = best[*one].max(listed.level as u8);
        }
    }
    let identical: u64 = kept.iter().map(|&kept| pairs_of(kept.into())).sum();
    found.extend((below..of.top()).map(|level| {
        let pairs: u64 = pairs_at[level + 1..].iter().sum();
        at(level, &best, Some(identical + pairs))
    }));
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
    let mut sets = SetsByPlace::<K>::new(workspace);
    let representatives = Catalogue::representatives(workspace)?;
    let mut firsts = representatives.iter();
    let (mut bytes, mut keys) = (Vec::new(), Vec::new());
    Catalogue::stored_in_order(workspace)?.each(|number, stored| {
        of.context.tick(STAGE, number)?;
        let place = sets.pass(number, stored);
        let is_first = firsts.next() == Some(number) && stored > 0;
        if is_first && roots.get(number as usize).is_some_and(|&root| wanted(root)) {
            sets.read(place, &mut bytes)?;
            keys.clear();
            keys.extend(bytes.chunks_exact(K::BYTES).map(K::get_le));
            take(number, &keys)?;
        }
        Ok::<_, Error>(())
    })
}
