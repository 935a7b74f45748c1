//! Which documents are kept, which are removed, and the survivor of each removed one.

use super::captures::Captures;
use super::order::Ranks;
use super::policy::Rule;
use super::star::{self, OpenDocuments};
use super::{Choosing, DedupConfig, Identical, STAGE, Unusable};
use lookalike_base::{
    Bits, Context, Criterion, Error, Key, Measure, Result, UnionFind, keywords, path_word,
};
use lookalike_engine::collection::{
    self, Catalogue, MappedSets, Sameness, SharedTexts, TextDigest, each_document,
};
use lookalike_engine::join::{
    JoinConfig, List, Pair, Pairs, PairsEntry, each_measured_pair, each_pair, sizes_of_pairs,
};
use lookalike_engine::sample::{SampleEntry, Sampled, Sampling};
use lookalike_store::{Workspace, item};

item! {
    /// A pair of classes, the less preferred class first.
    struct RankedPair {
        later_rank: u32,
        earlier_rank: u32,
        shared: u32,
        later: u32,
        earlier: u32,
    }
}

item! {
    /// A document, identified by its class and by the property that its copies share.
    struct Twin {
        class: u32,
        key: u128,
        document: u32,
    }
}

/// Marks a document without a survivor or a cluster.
const NONE: u32 = u32::MAX;
/// Marks a class of exact duplicates that is removed without a survivor.
const GONE: u32 = u32::MAX - 1;

keywords! {
    /// Why a document is removed.
    #[derive(PartialOrd, Ord)]
    pub enum Removal {
        /// Its text equals the survivor's, byte for byte.
        Identical = "identical",
        /// Its words equal the survivor's, its text does not.
        SameWords = "same words",
        /// Its words equal the survivor's. Whether its text does is unknown
        /// ([`Sameness::Unknown`]).
        Exact = "exact",
        /// It reaches the threshold with the survivor.
        Near = "near",
        /// Its cluster contains the survivor, but the two are not a pair.
        Chain = "chain",
        /// The survivor contains it.
        Contained = "contained",
        /// It belongs to a cluster, and `--rule drop-clusters` keeps no document of a cluster.
        Clustered = "cluster",
        /// It has no words.
        Empty = "empty",
        /// A list names it (`--drop`).
        Listed = "listed",
    }
}

impl Removal {
    /// Whether the document has the words of its survivor.
    pub(crate) fn is_of_equals(self) -> bool {
        matches!(
            self,
            Removal::Identical | Removal::SameWords | Removal::Exact
        )
    }
}

impl From<Sameness> for Removal {
    fn from(same: Sameness) -> Removal {
        match same {
            Sameness::Identical => Removal::Identical,
            Sameness::SameWords => Removal::SameWords,
            Sameness::Unknown => Removal::Exact,
        }
    }
}

/// Why a document is removed, and for which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    pub reason: Removal,
    pub survivor: Option<u32>,
    /// Fingerprints that it shares with the survivor.
    pub shared: u32,
}

/// The fate of every document, in columns over all documents.
pub struct Choice {
    rule: Rule,
    criterion: Criterion,
    drop_empty: bool,
    /// The documents before this one belong to another collection and are kept.
    pub(crate) first: u32,
    /// The first document with the same words.
    representatives: Vec<u32>,
    /// By representative: the preferred document with these words, unless that is the
    /// representative.
    preferred: Option<Vec<u32>>,
    /// With [`DedupConfig::identical`], by document: the preferred one of its copies.
    copies: Option<Vec<u32>>,
    /// By representative: the representative of the survivor; [`NONE`] if the class is kept.
    survivors: Vec<u32>,
    /// By representative: the number of shingles that the class shares with its survivor.
    shared: Vec<u32>,
    /// The first document of the cluster of each document.
    clusters: Vec<u32>,
    /// By first document of a cluster: the documents in it.
    members: Vec<u32>,
    /// By first document of a cluster: its number.
    numbers: Vec<u32>,
    /// The digests of texts, for the documents that share their words.
    texts: SharedTexts,
    /// With a condition, which may part equal documents, the words and the text of each.
    each: Option<Vec<([u8; 16], TextDigest)>>,
    /// The documents without words.
    empty: Bits,
    /// The documents that are removed before the choice.
    listed: Option<Bits>,
    /// The documents that are kept whatever the rule says, because a `revisit` record refers to them.
    pub(super) referred: Option<Bits>,
    /// The documents whose records are damaged.
    pub(super) damaged: Option<Bits>,
    /// The first document of the cluster of each document if the listed ones are left out, and by
    /// this document the others in it. Without listed documents, these are [`Self::clusters`].
    left: Option<(Vec<u32>, Vec<u32>)>,
}

impl Choice {
    /// Bytes of memory for this number of documents, without the order of preference and a list.
    pub fn bytes(workspace: &Workspace, documents: u64, listed: bool) -> Result<u64> {
        let columns = documents * 4 * (7 + if listed { 2 } else { 0 }) + documents / 8;
        let each = match has_condition(workspace) {
            true => documents * size_of::<([u8; 16], TextDigest)>() as u64,
            false => 0,
        };
        Ok(columns + each + SharedTexts::bytes(workspace)?)
    }

    /// Decides over all documents of a collection. Without `pairs` ([`super::needs_pairs`]) no
    /// document is in a cluster, and the collection needs no list of its pairs.
    pub(super) fn make(
        choosing: Choosing<'_>,
        config: &DedupConfig,
        criterion: Criterion,
        pairs: bool,
        listed: Option<Bits>,
        ranks: &Ranks,
    ) -> Result<Choice> {
        let (workspace, context) = (choosing.workspace, choosing.context);
        let representatives: Vec<u32> = Catalogue::representatives(workspace)?.iter().collect();
        let documents = representatives.len();
        let mut texts = SharedTexts::new(workspace)?;
        let mut without_words = Bits::new(documents);
        let mut each = has_condition(workspace).then(|| Vec::with_capacity(documents));
        each_document(workspace, |number, document| {
            context.tick(STAGE, number)?;
            texts.put(number, document.text);
            if let Some(each) = &mut each {
                each.push((document.md5, document.text));
            }
            if document.words == 0 {
                without_words.insert(number);
            }
            Ok(())
        })?;
        let mut choice = Choice {
            rule: match config.identical {
                Some(_) => Rule::All,
                None => config.rule,
            },
            copies: None,
            criterion,
            drop_empty: config.empty == Unusable::Drop,
            first: collection::against(&workspace.manifest).documents,
            preferred: None,
            survivors: vec![NONE; documents],
            shared: vec![0; documents],
            clusters: Vec::new(),
            members: vec![0; documents],
            numbers: vec![NONE; documents],
            texts,
            each,
            empty: without_words,
            listed,
            referred: None,
            damaged: None,
            left: None,
            representatives,
        };
        // Directories made by version 0.1 take documents without words for duplicates of each
        // other.
        for document in 0..documents {
            if choice.empty.contains(document as u32) {
                choice.representatives[document] = document as u32;
            }
        }
        if matches!(ranks, Ranks::Given(_)) || choice.listed.is_some() {
            choice.preferred = Some(choice.find_preferred(ranks));
        }
        match pairs {
            true => choice.find_clusters(workspace, context)?,
            false => choice.clusters = (0..choice.documents()).collect(),
        }
        match choice.rule {
            // Pairs that are not listed are found again, from the sets ([`Choice::compare_sets`]).
            Rule::Star if !lists_pairs(workspace) => {}
            Rule::Star => choice.star(choosing, ranks)?,
            Rule::Cluster => choice.one_of_each(workspace, ranks, context)?,
            Rule::None => choice.none(),
            Rule::All => {}
        }
        Ok(choice)
    }

    /// All documents, including the documents of another collection.
    pub fn documents(&self) -> u32 {
        self.representatives.len() as u32
    }

    fn is_listed(&self, document: u32) -> bool {
        let listed = self.listed.as_ref();
        listed.is_some_and(|listed| listed.contains(document))
    }

    /// The preferred document with the words of a representative; [`NONE`] if all are listed.
    fn preferred(&self, representative: u32) -> u32 {
        match &self.preferred {
            None => representative,
            Some(preferred) => preferred[representative as usize],
        }
    }

    /// The first document with the same words, which has the stored set.
    pub fn representative(&self, document: u32) -> u32 {
        self.representatives[document as usize]
    }

    /// Whether the record of a document is damaged.
    pub(super) fn is_damaged(&self, document: u32) -> bool {
        let damaged = self.damaged.as_ref();
        damaged.is_some_and(|damaged| damaged.contains(document))
    }

    /// Whether a document is kept only because a `revisit` record refers to it.
    pub(super) fn is_referred(&self, document: u32) -> bool {
        let referred = self.referred.as_ref();
        referred.is_some_and(|referred| referred.contains(document))
    }

    /// Why a document is removed; `None` if it is kept.
    pub fn fate(&self, document: u32) -> Option<Fate> {
        match self.is_referred(document) {
            true => None,
            false => self.by_rule(document),
        }
    }

    /// How the rule would treat a document to which nothing refers.
    pub(super) fn by_rule(&self, document: u32) -> Option<Fate> {
        let removed = |reason, survivor, shared| {
            Some(Fate {
                reason,
                survivor,
                shared,
            })
        };
        if document < self.first {
            return None;
        }
        if self.is_listed(document) {
            return removed(Removal::Listed, None, 0);
        }
        if self.empty.contains(document) {
            return match self.drop_empty {
                true => removed(Removal::Empty, None, 0),
                false => None,
            };
        }
        if let Some(copies) = &self.copies
            && copies[document as usize] != document
        {
            let survivor = copies[document as usize];
            let same = self.texts.compare(document, survivor);
            return removed(same.into(), Some(survivor), NONE);
        }
        if self.rule == Rule::All {
            return None;
        }
        let class = self.representatives[document as usize];
        let preferred = self.preferred(class);
        match self.survivors[class as usize] {
            NONE if document == preferred => None,
            // The amount that equal sets share follows from their size.
            NONE => {
                let same = self.texts.compare(document, preferred);
                removed(same.into(), Some(preferred), NONE)
            }
            GONE => removed(Removal::Clustered, None, 0),
            survivor => {
                let shared = self.shared[class as usize];
                let survivor = self.preferred(survivor);
                let reason = match self.criterion.measure {
                    _ if shared & CHAIN != 0 => Removal::Chain,
                    measure => match self.parted(document, survivor) {
                        Some(same) => same.into(),
                        None if measure == Measure::Containment => Removal::Contained,
                        None => Removal::Near,
                    },
                };
                removed(reason, Some(survivor), shared & !CHAIN)
            }
        }
    }

    /// Returns the sameness of documents in two classes that a condition separates, if they have
    /// the same words.
    fn parted(&self, document: u32, survivor: u32) -> Option<Sameness> {
        let each = self.each.as_ref()?;
        let (a, b) = (each[document as usize], each[survivor as usize]);
        (a.0 == b.0).then(|| Sameness::of(a.1, b.1))
    }

    /// Number and size of the cluster of a document, if it is in one.
    pub fn cluster(&self, document: u32) -> Option<(u32, u32)> {
        let root = self.clusters[document as usize] as usize;
        (self.members[root] >= 2).then(|| (self.numbers[root], self.members[root]))
    }

    /// The first document of the cluster of a document, whether or not others are in it.
    pub(crate) fn cluster_root(&self, document: u32) -> u32 {
        self.clusters[document as usize]
    }

    /// The number of documents in the cluster with this first document.
    pub fn cluster_size(&self, root: u32) -> u32 {
        self.members[root as usize]
    }

    /// The document of a class of exact duplicates that is kept, if one is.
    pub(crate) fn kept_of(&self, representative: u32) -> Option<u32> {
        let preferred = self.preferred(representative);
        (preferred != NONE && self.fate(preferred).is_none()).then_some(preferred)
    }

    /// Removes each document of which a copy comes before it in the order of preference.
    pub(super) fn remove_copies(
        &mut self,
        choosing: Choosing<'_>,
        which: Identical,
        ranks: &Ranks,
    ) -> Result<()> {
        let counts = |document: &u32| !self.empty.contains(*document) && !self.is_listed(*document);
        let mut equal = Bits::new(self.representatives.len());
        for (document, &first) in (0..).zip(&self.representatives) {
            if document != first {
                equal.insert(document);
                equal.insert(first);
            }
        }
        let captures = match which {
            Identical::Payload => Some(Captures::read(choosing, &equal)?),
            _ => None,
        };
        let mut sort = choosing.sort("copies")?;
        for document in equal.iter().filter(counts) {
            choosing.context.tick(STAGE, document)?;
            let payload = |captures: &Captures| {
                let payload = captures.get(document)?.and_then(|it| it.payload);
                Ok(payload.map(|payload| payload.xxh3))
            };
            let key = match (&captures, which) {
                (Some(captures), _) => payload(captures)?,
                (_, Identical::Text) => self.texts.digest(document).map(u128::from),
                _ => Some(0),
            };
            let class = self.representative(document);
            if let Some(key) = key {
                sort.push(Twin::new(class, key, document))?;
            }
        }
        let mut copies: Vec<u32> = (0..self.documents()).collect();
        let mut group = Vec::new();
        sort.finish()?.groups(
            |copy| (copy.class, copy.key),
            |_, all| {
                group.clear();
                while let Some(copy) = all.next()? {
                    group.push(copy.document);
                }
                let preferred = group.iter().copied().min_by_key(|&copy| ranks.of(copy));
                for &document in &group {
                    copies[document as usize] = preferred.unwrap_or(document);
                }
                Ok(())
            },
        )?;
        self.copies = Some(copies);
        Ok(())
    }

    /// The first document of the cluster of each document, and by this document the members, of
    /// the documents that `counts` says.
    fn connected(
        &self,
        workspace: &Workspace,
        counts: impl Fn(u32) -> bool,
        context: &Context<'_>,
    ) -> Result<(Vec<u32>, Vec<u32>)> {
        let sets = UnionFind::new(self.documents());
        let mut pairs = 0u64;
        // A class without a document that counts connects nothing.
        let is_there = |class| self.preferred(class) != NONE || counts(class);
        each_pair(workspace, List::Pairs, |pair| {
            context.tick(STAGE, pairs)?;
            pairs += 1;
            if is_there(pair.a) && is_there(pair.b) {
                sets.union(pair.a, pair.b);
            }
            Ok(())
        })?;
        for (document, &first) in self.representatives.iter().enumerate() {
            sets.union(first, document as u32);
        }
        let roots = sets.roots();
        let mut members = vec![0; roots.len()];
        for (document, &root) in (0..).zip(&roots) {
            members[root as usize] += u32::from(counts(document));
        }
        Ok((roots, members))
    }

    /// Finds the clusters of two documents or more, and numbers them as the result files do.
    fn find_clusters(&mut self, workspace: &Workspace, context: &Context<'_>) -> Result<()> {
        (self.clusters, self.members) = self.connected(workspace, |_| true, context)?;
        if self.listed.is_some() && matches!(self.rule, Rule::Cluster | Rule::None) {
            let counts = |document| !self.is_listed(document);
            self.left = Some(self.connected(workspace, counts, context)?);
        }
        let clusters = self.members.iter().enumerate();
        let clusters = clusters.filter(|(_, size)| **size >= 2);
        for (number, (root, _)) in clusters.enumerate() {
            self.numbers[root] = number as u32;
        }
        Ok(())
    }

    /// Goes through the classes of equal documents in the order of preference, and removes each
    /// class that reaches the threshold with a kept class. The survivor is the first such class,
    /// and before all others one with the same words that a condition parts from it.
    ///
    /// Only the pairs are needed, sorted by the later class of each.
    fn star(&mut self, choosing: Choosing<'_>, ranks: &Ranks) -> Result<()> {
        let (survivors, shared) = (&mut self.survivors, &mut self.shared);
        let (preferred, each) = (&self.preferred, &self.each);
        let is_same = |a: u32, b: u32| {
            let words = |each: &[([u8; 16], _)]| each[a as usize].0 == each[b as usize].0;
            each.as_deref().is_some_and(words)
        };
        // A class all of whose documents are listed has no rank.
        let rank = |class: u32| match preferred {
            None => Some(class),
            Some(preferred) => match preferred[class as usize] {
                NONE => None,
                document => Some(ranks.of(document)),
            },
        };
        let mut sort = choosing.sort("star")?;
        each_pair(choosing.workspace, List::Pairs, |pair| {
            let (Some(a), Some(b)) = (rank(pair.a), rank(pair.b)) else {
                return Ok(());
            };
            let (later, earlier) = if a < b {
                (pair.b, pair.a)
            } else {
                (pair.a, pair.b)
            };
            sort.push(RankedPair {
                later_rank: a.max(b),
                earlier_rank: a.min(b),
                shared: pair.shared,
                later,
                earlier,
            })
        })?;
        sort.finish()?.for_each(|pair| {
            let later = pair.later as usize;
            let known = survivors[later];
            let closer = || is_same(pair.later, pair.earlier) && !is_same(pair.later, known);
            if survivors[pair.earlier as usize] == NONE && (known == NONE || closer()) {
                survivors[later] = pair.earlier;
                shared[later] = pair.shared;
            }
            Ok(())
        })?;
        choosing.context.stop.check(STAGE)
    }

    /// By root of a cluster: the class of its preferred document.
    fn first_of_each(&self, ranks: &Ranks) -> Vec<u32> {
        let mut first = vec![NONE; self.representatives.len()];
        for class in 0..self.documents() {
            if !self.is_ranked(class) {
                continue;
            }
            let root = self.root(class);
            let rank = |class: u32| ranks.of(self.preferred(class));
            if first[root] == NONE || rank(class) < rank(first[root]) {
                first[root] = class;
            }
        }
        first
    }

    /// Whether a document stands for a class with words that has a document to keep.
    fn is_ranked(&self, class: u32) -> bool {
        let is_class = self.representatives[class as usize] == class;
        is_class && !self.empty.contains(class) && self.preferred(class) != NONE
    }

    /// Keeps the preferred document of each cluster.
    fn one_of_each(
        &mut self,
        workspace: &Workspace,
        ranks: &Ranks,
        context: &Context<'_>,
    ) -> Result<()> {
        let first = self.first_of_each(ranks);
        for class in 0..self.documents() {
            let kept = first[self.root(class)];
            if self.representatives[class as usize] == class && kept != class && kept != NONE {
                self.survivors[class as usize] = kept;
                self.shared[class as usize] = CHAIN;
            }
        }
        // If a member is not linked to its survivor, their shared shingles are counted later.
        let sizes = sizes_of_pairs(workspace)?;
        each_measured_pair(workspace, List::Pairs, &sizes, |pair, sizes| {
            for (one, other) in [(pair.a, pair.b), (pair.b, pair.a)] {
                if self.survivors[one as usize] == other && self.reached(sizes, &pair) {
                    self.shared[one as usize] = pair.shared;
                }
            }
            Ok(())
        })?;
        context.stop.check(STAGE)
    }

    /// Whether a pair reaches the threshold. A link of a cluster may be below it.
    fn reached(&self, (a, b): (u32, u32), pair: &Pair) -> bool {
        (self.criterion).reached(pair.shared.into(), a.into(), b.into())
    }

    /// Decides the rest that does not follow from the pairs: the shingles that members of chains
    /// share with their survivors, and the star rule without a list of pairs. It takes at most
    /// `memory`.
    pub(super) fn compare_sets<K: Key>(
        &mut self,
        choosing: Choosing<'_>,
        ranks: &Ranks,
    ) -> Result<()> {
        match self.rule {
            Rule::Cluster => self.count_chains::<K>(choosing),
            Rule::Star if !lists_pairs(choosing.workspace) => {
                self.star_of_clusters::<K>(choosing, ranks)
            }
            _ => Ok(()),
        }
    }

    /// The star rule within each cluster. The links decide over most documents; the other ones are
    /// compared ([`super::star`]).
    fn star_of_clusters<K: Key>(&mut self, choosing: Choosing<'_>, ranks: &Ranks) -> Result<()> {
        let first = self.first_of_each(ranks);
        let sizes = sizes_of_pairs(choosing.workspace)?;
        each_measured_pair(choosing.workspace, List::Pairs, &sizes, |link, sizes| {
            let first = first[self.root(link.a)];
            for (one, other) in [(link.a, link.b), (link.b, link.a)] {
                if first == other && self.is_ranked(one) && self.reached(sizes, &link) {
                    self.survivors[one as usize] = other;
                    self.shared[one as usize] = link.shared;
                }
            }
            Ok(())
        })?;
        drop(sizes);
        // Every link has the root. If the root is preferred to all others, it was compared.
        let waits = |class: u32| {
            let root = self.root(class);
            self.is_ranked(class)
                && self.survivors[class as usize] == NONE
                && (first[root] != class || root != class as usize)
        };
        let mut waiting = vec![0u8; first.len()];
        for class in (0..self.documents()).filter(|&class| waits(class)) {
            let number = &mut waiting[self.root(class)];
            *number = number.saturating_add(1);
        }
        let mut open = OpenDocuments::new(first.len(), choosing)?;
        for class in (0..self.documents()).filter(|&class| waits(class)) {
            let root = self.root(class);
            if waiting[root] >= 2 {
                let rank = ranks.of(self.preferred(class));
                open.push(class, root as u32, rank)?;
            }
        }
        drop((first, waiting));
        let (survivors, shared) = (&mut self.survivors, &mut self.shared);
        star::run::<K>(choosing, open, self.criterion, |class, found| {
            (survivors[class as usize], shared[class as usize]) = found;
        })
        .map(drop)
    }

    /// Removes every document that is in a cluster.
    fn none(&mut self) {
        for class in 0..self.documents() {
            let root = self.root(class);
            let members = self
                .left
                .as_ref()
                .map_or(&self.members, |(_, members)| members);
            if members[root] >= 2 {
                self.survivors[class as usize] = GONE;
            }
        }
    }

    /// The first document of the cluster in which the choice finds a document.
    fn root(&self, document: u32) -> usize {
        let left = self.left.as_ref();
        let roots = left.map_or(&self.clusters, |(roots, _)| roots);
        roots[document as usize] as usize
    }

    /// By representative, the document of its class that comes first in the order of preference.
    fn find_preferred(&self, ranks: &Ranks) -> Vec<u32> {
        let mut preferred = vec![NONE; self.representatives.len()];
        for (document, &class) in (0..).zip(&self.representatives) {
            let best = &mut preferred[class as usize];
            if !self.is_listed(document) && (*best == NONE || ranks.of(document) < ranks.of(*best))
            {
                *best = document;
            }
        }
        preferred
    }

    /// Counts the shingles that the classes of chains share with their survivors.
    fn count_chains<K: Key>(&mut self, choosing: Choosing<'_>) -> Result<()> {
        if !self.shared.contains(&CHAIN) {
            return Ok(());
        }
        let sets = MappedSets::open::<K>(choosing.workspace, choosing.memory / 4)?;
        for class in 0..self.documents() {
            if self.shared[class as usize] != CHAIN {
                continue;
            }
            choosing.context.stop.check(STAGE)?;
            let [shared, a, b] = sets.shared(class, self.survivors[class as usize])?;
            // Without a list of pairs, the two may reach the threshold. With a condition, there is
            // a list, which shows that they are not a pair.
            let chain = match self.each.is_none() && self.criterion.reached(shared, a, b) {
                true => 0,
                false => CHAIN,
            };
            self.shared[class as usize] = chain | shared as u32;
        }
        Ok(())
    }
}

/// Set in the number of shingles that a class shares with its survivor if the two do not reach the
/// threshold. A set has fewer than 2^31 fingerprints, because a document has at most 4 GiB.
const CHAIN: u32 = 1 << 31;

/// Sizes of sets, for the resemblance of a document and its survivor. Without `pairs`, no document
/// has a survivor.
pub(super) fn sizes(workspace: &Workspace, pairs: bool) -> Result<Sampled> {
    match pairs {
        true => sizes_of_pairs(workspace),
        false => Sampled::of_full_sets(workspace),
    }
}

/// Whether the pairs of a directory have a condition.
pub(super) fn has_condition(workspace: &Workspace) -> bool {
    collection::config(&workspace.manifest).condition.is_some()
}

/// Whether all pairs are listed, and not only links of clusters.
pub(super) fn lists_pairs(workspace: &Workspace) -> bool {
    !workspace.matches::<PairsEntry>(|pairs| pairs.config.pairs == Pairs::None)
}

/// The criterion of a deduplication. Refuses pairs that do not decide which documents may be
/// removed, if the pairs are `needed` ([`super::needs_pairs`]).
pub(super) fn criterion(workspace: &Workspace, needed: bool) -> Result<Criterion> {
    match check_pairs("from", workspace) {
        // It only names the column of the resemblance, which is empty.
        Err(Error::StageMissing { .. }) if !needed && workspace.manifest.method.is_none() => {
            Ok(JoinConfig::default().criterion())
        }
        checked => checked,
    }
}

/// Refuses pairs that do not decide which documents may be removed. The parameter `given` names the
/// directory.
pub fn check_pairs(given: &'static str, workspace: &Workspace) -> Result<Criterion> {
    let config = &workspace.record::<PairsEntry>("join")?.config;
    // With estimated or missing pairs, it is unknown which documents may be removed and which
    // similar documents remain.
    let full = workspace.matches::<SampleEntry>(|sample| sample.sampling == Sampling::Full);
    let limit = if config.pairs == Pairs::Across {
        "it has no pairs of new documents; list them: `lookalike run --from DIR --pairs all`"
    } else if config.pairs == Pairs::None && has_condition(workspace) {
        "its --where decides on each pair; list them: `lookalike run --from DIR --pairs all`"
    } else if !full || config.max_postings.is_some() {
        "its pairs are not all exact pairs; find them: `lookalike run --from DIR --sampling full`"
    } else if workspace.manifest.method.is_some() {
        "its pairs come from a method; give the directory of `lookalike run`"
    } else if !matches!(config.measure, Measure::Resemblance | Measure::Containment) {
        "its score is neither resemblance nor containment; find other pairs: `lookalike run --from DIR \
         --score resemblance`"
    } else {
        return Ok(config.criterion());
    };
    let directory = workspace.directory();
    let limit = limit.replace("DIR", &path_word(directory));
    Err(Error::parameter(given, directory.display()).because(limit))
}
