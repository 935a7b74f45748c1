//! Chooses the clusters and pairs to show: the largest, the nearest to the threshold, some at
//! random.

use lookalike_base::{Context, Least, Measure, Memory, Result, UnionFind, budget::ByteSize};
use lookalike_engine::align::Words;
use lookalike_engine::cluster::ClusterStats;
use lookalike_engine::collection::{self, Catalogue};
use lookalike_engine::document::{ShownDocument, look_up};
use lookalike_engine::join::closest::{self, Search};
use lookalike_engine::join::{List, Pair, Pairs, PairsEntry, each_measured_pair, sizes_of_pairs};
use lookalike_engine::sample::{SampleEntry, Sampled, Sampling};
use lookalike_store::Workspace;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::texts::Known;
use super::{MEMBERS_LISTED, PAGE_DOCUMENTS, PageConfig, STAGE, WORDS_COMPARED};

/// Limit on the words of the documents whose texts a page compares in clusters, so that a page has
/// about 2 MB more.
const CLUSTER_WORDS: u64 = 100_000;

/// The words that take as much of a page as the heads of two texts.
const WORDS_OF_HEAD: u64 = 100;

/// Bins of the histogram: hundredths of the measure, and a separate one for 1.
pub(super) const HUNDREDTHS: usize = 101;

/// The bin of a value of the measure: its hundredth, rounded down. The tolerance exceeds the rounding
/// error of a fraction in hundredths.
fn bin(value: f64) -> usize {
    ((value * 100.0 + 1e-9) as usize).min(HUNDREDTHS - 1)
}

/// A pair to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShownPair {
    pub pair: Pair,
    /// Shingles of each that were compared, or words where the measure is of these.
    pub sizes: (u32, u32),
}

impl ShownPair {
    /// The measure of both documents.
    pub(super) fn score(&self, measure: Measure) -> String {
        let (a, b) = self.sizes;
        measure.text(self.pair.amount(measure), a.into(), b.into())
    }

    pub(super) fn documents(&self) -> [u32; 2] {
        [self.pair.a, self.pair.b]
    }
}

/// Clusters with at most this number of different documents show all links between them; larger
/// ones show those that hold them together.
const ALL_LINKS: u64 = 12;

/// Limit on the links for each member.
const LINKS_PER_MEMBER: u64 = ALL_LINKS / 2;
/// Memory of the sort that finds equal texts which a condition parts.
const PARTED_BYTES: ByteSize = ByteSize(4 << 20);

/// A cluster to be shown.
#[derive(Debug)]
pub(super) struct ShownCluster {
    pub root: u32,
    /// Its number in `clusters.jsonl`.
    pub number: u32,
    pub members: u64,
    /// Members that equal an earlier member.
    pub exact: u64,
    /// The first members.
    pub shown: Vec<Member>,
    /// Pairs of different members that make it a cluster.
    pub links: Vec<ShownPair>,
}

/// A member of a cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub document: u32,
    /// The first document that equals it, or itself if it is the first.
    pub first: u32,
    /// This member and the representative; `None` if that pair is not listed.
    pub link: Option<ShownPair>,
}

/// The chosen clusters and pairs.
pub(super) struct Chosen {
    /// The largest first.
    pub clusters: Vec<ShownCluster>,
    pub of_pairs: ChosenPairs,
    /// Listed pairs by value of the measure.
    pub histogram: [u64; HUNDREDTHS],
    pub documents: HashMap<u32, ShownDocument>,
}

/// The chosen pairs.
#[derive(Clone, Default)]
pub(super) struct ChosenPairs {
    /// The least similar pairs, in ascending order.
    pub nearest: Vec<ShownPair>,
    /// Other pairs, at random, in list order.
    pub random: Vec<ShownPair>,
    /// The most similar pairs below the threshold, in descending order: those to review, or the
    /// closest one if no pair is listed.
    pub below: Vec<ShownPair>,
    /// The search for the closest one.
    pub searched: Option<Search>,
}

impl Chosen {
    /// The pairs nearest the threshold, then random pairs, then those below it.
    pub(super) fn pairs(&self) -> impl Iterator<Item = &ShownPair> {
        let pairs = &self.of_pairs;
        let listed = pairs.nearest.iter().chain(&pairs.random);
        listed.chain(&pairs.below)
    }

    /// The representatives.
    pub(super) fn roots(&self) -> HashSet<u32> {
        self.clusters.iter().map(|cluster| cluster.root).collect()
    }

    /// The documents of clusters with different texts, without documents that an equal one precedes.
    pub(super) fn different(&self) -> HashSet<u32> {
        let clusters = self.clusters.iter();
        let differ = clusters.filter(|cluster| cluster.different().next().is_some());
        let documents = differ.flat_map(|cluster| {
            let members = cluster.different().map(|member| member.document);
            members.chain([cluster.root])
        });
        documents.collect()
    }

    /// The documents of the first clusters whose texts a page compares: members that no equal member
    /// precedes, and their representatives, as long as there is room for their words. Pairs that
    /// the page shows anyway are left out.
    pub(super) fn texts(&self, clusters: usize) -> HashSet<u32> {
        let pairs: HashSet<[u32; 2]> = self.pairs().map(ShownPair::documents).collect();
        let words = |document: u32| {
            let document = self.documents.get(&document);
            document.map_or(0, |document| document.words.min(WORDS_COMPARED as u64))
        };
        let mut room = CLUSTER_WORDS;
        let mut texts = HashSet::new();
        for cluster in self.clusters.iter().take(clusters) {
            for member in cluster.different() {
                let first = match texts.contains(&cluster.root) {
                    true => 0,
                    false => words(cluster.root),
                };
                let needed = first + words(member.document) + WORDS_OF_HEAD;
                if needed <= room && !pairs.contains(&[cluster.root, member.document]) {
                    room -= needed;
                    texts.extend([cluster.root, member.document]);
                }
            }
        }
        texts
    }

    /// The documents of these pairs.
    pub(super) fn compared(&self) -> HashSet<u32> {
        self.pairs().flat_map(ShownPair::documents).collect()
    }
}

/// Upper limits on the content of a page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Most {
    pub clusters: u64,
    /// Members of these.
    pub members: u64,
    /// Pairs nearest the threshold, on both sides, and the number of random pairs.
    pub pairs: u64,
}

impl Most {
    pub(super) fn of(there: ClusterStats, pairs: &PairsEntry, config: &PageConfig) -> Self {
        // Each cluster has two members or more.
        let clusters = (config.clusters as u64).max(PAGE_DOCUMENTS / 2);
        let clusters = there.clusters.min(clusters);
        let listed = match pairs.config.pairs {
            Pairs::None => 0,
            _ => pairs.stats.pairs,
        };
        let shown = (config.clusters as u64).saturating_mul(MEMBERS_LISTED as u64);
        Most {
            clusters,
            members: shown.saturating_add(PAGE_DOCUMENTS).min(there.documents),
            pairs: (listed.max(pairs.stats.review.unwrap_or(0))).min(config.pairs as u64),
        }
    }

    /// The clusters of all pages. Their members are counted while they are gathered.
    pub(super) fn split(there: ClusterStats, pairs: &PairsEntry, config: &PageConfig) -> Self {
        Most {
            clusters: there.clusters,
            members: 0,
            ..Most::of(there, pairs, config)
        }
    }
}

/// Bytes of memory for the choice, without the names of the documents shown.
pub(super) fn bytes(workspace: &Workspace, measure: Measure, most: &Most) -> Result<u64> {
    let documents = Catalogue::extent(workspace)?.documents;
    let sum = |sizes: &[usize]| sizes.iter().sum::<usize>() as u64;
    // Lists and tables may have twice the size of their contents, and so may the nodes of a tree.
    let cluster = 2 * sum(&[
        size_of::<ShownCluster>(),
        size_of::<Rank>(),
        size_of::<(u32, usize)>(),
    ]);
    let links = LINKS_PER_MEMBER as usize * size_of::<ShownPair>();
    let member = 2 * sum(&[size_of::<Member>(), size_of::<(u64, usize)>(), links]);
    // The nearest pairs, twice their number at random, as many below, and the data shown of all.
    let pair = 8 * sum(&[size_of::<(u64, Pair)>(), size_of::<ShownPair>()]);
    let document = 2 * sum(&[
        size_of::<(u32, ShownDocument)>(),
        size_of::<(u32, Result<Words, String>)>(),
        size_of::<(u32, Known)>(),
    ]);
    let shown = most
        .members
        .saturating_add(most.pairs.saturating_mul(6))
        .min(documents);
    // Two times union-find, representatives or sizes of clusters.
    let columns = documents * 12 + Sampled::bytes_in(workspace, measure)?;
    let parts = [
        (most.clusters, cluster),
        (most.members, member),
        (most.pairs, pair),
        (shown, document),
    ];
    let sum = parts.into_iter().fold(columns, |sum, (n, each)| {
        sum.saturating_add(n.saturating_mul(each))
    });
    // More than any collection needs, but small enough to be rounded up.
    Ok(sum.min(1 << 60))
}

/// Pairs that were chosen, and the sets of documents that they link.
pub(super) struct Survey<'w> {
    workspace: &'w Workspace,
    context: &'w Context<'w>,
    sets: UnionFind,
    sampled: Sampled,
    pairs: ChosenPairs,
    histogram: [u64; HUNDREDTHS],
}

/// A cluster in the order of the page: the largest first, clusters of one size in input order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    size: Reverse<u32>,
    root: u32,
    /// Its number in `clusters.jsonl`.
    number: u32,
}

impl Rank {
    /// Its members.
    pub(super) fn members(&self) -> u64 {
        self.size.0.into()
    }

    /// Its members that a page lists.
    pub(super) fn listed(&self) -> u64 {
        self.members().min(MEMBERS_LISTED as u64)
    }
}

/// Chooses the clusters of one page, and pairs.
pub(super) fn choose(
    workspace: &Workspace,
    config: &PageConfig,
    memory: &mut Memory,
    context: &Context<'_>,
) -> Result<Chosen> {
    let least = Some(config.clusters);
    let (mut survey, all) = Survey::new(workspace, config, least, memory, context)?;
    survey.gather(&all, true, memory)
}

impl<'w> Survey<'w> {
    /// Reads the pairs once, and finds the clusters, the largest first.
    pub(super) fn new(
        workspace: &'w Workspace,
        config: &PageConfig,
        least: Option<usize>,
        memory: &mut Memory,
        context: &'w Context<'w>,
    ) -> Result<(Survey<'w>, Vec<Rank>)> {
        let documents = Catalogue::stats(workspace)?.documents as u32;
        let first = collection::against(&workspace.manifest).documents;
        let listed = pairs_listed(workspace);
        let sampled = sizes_of_pairs(workspace)?;
        let sets = UnionFind::new(documents);
        let mut nearest = Least::new(config.pairs);
        let mut random = Least::new(config.pairs.saturating_mul(2));
        let mut below = Least::new(config.pairs);
        let mut histogram = [0; HUNDREDTHS];
        let measure = workspace.record::<PairsEntry>("join")?.config.measure;
        let mut n = 0u64;
        let value = |pair: Pair, (a, b): (u32, u32)| {
            measure.value(pair.amount(measure), a.into(), b.into())
        };
        each_measured_pair(workspace, List::Review, &sampled, |pair, sizes| {
            // The bits of positive values sort like the values.
            below.offer((!value(pair, sizes).to_bits(), pair));
            context.stop.check(STAGE)
        })?;
        each_measured_pair(workspace, List::Pairs, &sampled, |pair, sizes| {
            n += 1;
            context.tick(STAGE, n)?;
            sets.union(pair.a, pair.b);
            if listed {
                let value = value(pair, sizes);
                histogram[bin(value)] += 1;
                nearest.offer((value.to_bits(), pair));
                // The pairs with the smallest hashes: as random as the hash is, in one pass.
                let key = Pair::key(pair.a, pair.b).to_le_bytes();
                let hash = xxhash_rust::xxh3::xxh3_64_with_seed(&key, config.seed);
                random.offer((hash, pair));
            }
            Ok(())
        })?;
        let shown = |(_, pair): (u64, Pair)| {
            let sizes = sampled.measured(pair.a, pair.b);
            ShownPair { pair, sizes }
        };
        let sorted = |least: Least<_>| least.sorted().into_iter().map(shown).collect();
        let mut pairs = ChosenPairs {
            nearest: sorted(nearest),
            random: sorted(random),
            below: sorted(below),
            searched: None,
        };
        pairs.random.retain(|pair| !pairs.nearest.contains(pair));
        pairs.random.truncate(config.pairs);
        pairs.random.sort_unstable_by_key(ShownPair::documents);
        if n == 0 && pairs.below.is_empty() && config.pairs > 0 && may_search(workspace) {
            let (search, found) = closest::closest(workspace, memory, context)?;
            pairs.searched = Some(search);
            pairs.below.extend(found.map(|pair| shown((0, pair))));
        }
        let representatives = Catalogue::representatives(workspace)?;
        for (document, equal) in (0..).zip(representatives.iter()) {
            sets.union(equal, document);
        }
        let ranked = largest(&sets, first..documents, least);
        let survey = Survey {
            workspace,
            context,
            sets,
            sampled,
            pairs,
            histogram,
        };
        Ok((survey, ranked))
    }

    /// Gathers the members of some clusters and the data of their documents, and also of the chosen
    /// pairs if `pairs` is set.
    pub(super) fn gather(
        &mut self,
        ranks: &[Rank],
        pairs: bool,
        memory: &mut Memory,
    ) -> Result<Chosen> {
        let (workspace, context) = (self.workspace, self.context);
        let mut clusters: Vec<ShownCluster> = ranks.iter().map(ShownCluster::of).collect();
        let sets = &self.sets;
        let mut firsts: Vec<u32> = Catalogue::representatives(workspace)?.iter().collect();
        let root = |document| Some(sets.find(document));
        if !clusters.is_empty() {
            Catalogue::each_parted(workspace, PARTED_BYTES, context, root, |document, first| {
                firsts[document as usize] = first;
            })?;
        }
        members(&mut clusters, sets, &firsts);
        drop(firsts);
        self.link(&mut clusters)?;
        let mut chosen = Chosen {
            clusters,
            of_pairs: match pairs {
                true => self.pairs.clone(),
                false => ChosenPairs::default(),
            },
            histogram: self.histogram,
            documents: HashMap::new(),
        };
        let mut wanted: Vec<u32> = chosen.compared().into_iter().collect();
        for cluster in &chosen.clusters {
            wanted.extend(cluster.shown.iter().map(|member| member.document));
        }
        chosen.documents = look_up(workspace, wanted, memory, STAGE, context)?;
        Ok(chosen)
    }

    /// Fills in the links of each cluster, and those of members and representative that are listed.
    fn link(&mut self, clusters: &mut [ShownCluster]) -> Result<()> {
        let criterion = self
            .workspace
            .record::<PairsEntry>("join")?
            .config
            .criterion();
        let listed = pairs_listed(self.workspace);
        let by_root = by_root(clusters);
        let trees = UnionFind::new(Catalogue::stats(self.workspace)?.documents as u32);
        let mut n = 0u64;
        each_measured_pair(self.workspace, List::Pairs, &self.sampled, |pair, sizes| {
            n += 1;
            self.context.tick(STAGE, n)?;
            let Some(&at) = by_root.get(&self.sets.find(pair.a)) else {
                return Ok(());
            };
            let cluster = &mut clusters[at];
            // If pairs are not listed, links may be below the threshold.
            if !listed && !criterion.reached(pair.shared.into(), sizes.0.into(), sizes.1.into()) {
                return Ok(());
            }
            let different = cluster.members.saturating_sub(cluster.exact);
            let joins = trees.union(pair.a, pair.b);
            // Pairs name the first of the documents that are equal.
            let (at_a, at_b) = (cluster.place(pair.a), cluster.place(pair.b));
            let link = ShownPair { pair, sizes };
            if at_a.is_some() && at_b.is_some() && (joins || different <= ALL_LINKS) {
                cluster.links.push(link);
            }
            if let Some(at) = at_b.filter(|_| pair.a == cluster.root) {
                cluster.shown[at].link = Some(link);
            }
            Ok(())
        })?;
        // An exact duplicate has the similarity of the first document with its words.
        for cluster in clusters {
            for at in 0..cluster.shown.len() {
                let first = cluster.place(cluster.shown[at].first);
                cluster.shown[at].link = first.and_then(|first| cluster.shown[first].link);
            }
        }
        Ok(())
    }
}

/// Whether all pairs were listed, or only those that form the clusters.
pub(super) fn pairs_listed(workspace: &Workspace) -> bool {
    workspace.matches::<PairsEntry>(|pairs| pairs.config.pairs != Pairs::None)
}

/// Whether the closest pair below the threshold means something: if whole sets of shingles were
/// compared, by their resemblance.
fn may_search(workspace: &Workspace) -> bool {
    let whole = workspace.matches::<SampleEntry>(|sample| sample.sampling == Sampling::default());
    let resemblance = workspace.matches::<PairsEntry>(|pairs| {
        let config = &pairs.config;
        config.measure == Measure::Resemblance && config.max_postings.is_none()
    });
    whole && resemblance && pairs_listed(workspace) && workspace.manifest.method.is_none()
}

/// The largest clusters with one of these documents, those of `clusters.jsonl`: at least this number,
/// and more up to [`PAGE_DOCUMENTS`]; without a number, all.
fn largest(sets: &UnionFind, own: Range<u32>, least: Option<usize>) -> Vec<Rank> {
    // One more than the size of a cluster that counts.
    let mut sizes = vec![0u32; own.end as usize];
    for document in own.clone() {
        let root = sets.find(document);
        sizes[root as usize] |= u32::from(root != document);
    }
    for document in 0..own.end {
        let size = &mut sizes[sets.find(document) as usize];
        *size += u32::from(*size > 0);
    }
    let most = |least: usize| least.max(PAGE_DOCUMENTS as usize / 2);
    let mut largest = Least::new(least.map_or(usize::MAX, most));
    let mut number = 0;
    for (root, &size) in sizes.iter().enumerate() {
        if size > 0 {
            let size = Reverse(size - 1);
            let root = root as u32;
            largest.offer(Rank { size, root, number });
            number += 1;
        }
    }
    let mut sorted = largest.sorted();
    if let Some(least) = least {
        let mut listed = 0;
        let fits = sorted.iter().take_while(|rank| {
            listed += rank.listed();
            listed <= PAGE_DOCUMENTS
        });
        sorted.truncate(fits.count().max(least));
    }
    sorted
}

impl ShownCluster {
    /// The members after the representative that no equal member precedes.
    pub(super) fn different(&self) -> impl Iterator<Item = &Member> {
        let members = self.shown.iter();
        members.filter(|member| member.first == member.document && member.document != self.root)
    }

    fn of(rank: &Rank) -> ShownCluster {
        ShownCluster {
            root: rank.root,
            number: rank.number,
            members: rank.members(),
            exact: 0,
            shown: Vec::new(),
            links: Vec::new(),
        }
    }

    /// The place of a document among the members that are shown.
    pub(super) fn place(&self, document: u32) -> Option<usize> {
        let shown = &self.shown;
        shown
            .binary_search_by_key(&document, |member| member.document)
            .ok()
    }
}

fn by_root(clusters: &[ShownCluster]) -> HashMap<u32, usize> {
    let each = clusters.iter().enumerate();
    each.map(|(at, cluster)| (cluster.root, at)).collect()
}

/// Fills in the first members, and the number of those that equal an earlier member.
fn members(clusters: &mut [ShownCluster], sets: &UnionFind, firsts: &[u32]) {
    let by_root = by_root(clusters);
    for (document, &first) in (0..).zip(firsts) {
        if let Some(&at) = by_root.get(&sets.find(document)) {
            let cluster = &mut clusters[at];
            cluster.exact += u64::from(first != document);
            if cluster.shown.len() < MEMBERS_LISTED {
                cluster.shown.push(Member {
                    document,
                    first,
                    link: None,
                });
            }
        }
    }
}
