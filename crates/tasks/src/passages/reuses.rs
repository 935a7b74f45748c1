//! The reuses of all pairs, and the clusters of their places.
//!
//! # Definitions
//! Two spans of reuses in one document are the same *place* if their overlap is at least half of
//! the shorter one, or if a chain of such spans leads from one to the other; the place reaches from
//! the first beginning to the last end. A *cluster* is a component over places and reuses. Its
//! *earliest* place has the least date that a record states. If several places have this date, or
//! the records state no dates, the first place in the order of the input is the earliest.
//!
//! # Algorithm
//! The spans of a document come by falling length. Each joins the places that have the middle of
//! it, which are united. This is exact: a place consists of spans that are not shorter, and if a
//! place has the middle of a span, one of its spans has it too. No two of the places lie in each
//! other, so that those with the middle of a span are the last ones that begin before it.
//!
//! # Cost
//! O(n log n). Memory: [`REUSE_BYTES`] for each reuse.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::chain::Reuse;
use super::join::PairMatches;
use super::located::{ListedMatch, Places, next_bytes};
use super::places::{Place, Repeats};
use super::repeats::{Search, UNDATED};
use super::tables::{How, create, pair_row, place_row, share};
use super::{REUSE_CLUSTERS_FILE, REUSE_FILE, REUSE_MATCHES_FILE, REUSE_PLACES_FILE, STAGE, Stats};
use lookalike_base::{Result, UnionFind, counted, lock, unlocked};
use lookalike_engine::collection::{Catalogue, each_document, has_captures};
use lookalike_engine::document::stored;
use lookalike_store::{Cell, List, ResultFile, Sort, Sorted, Workspace, cells, item, table::cell};
use lookalike_text::read::lines::shorten;
use lookalike_text::read::{RecordKind, day, stated_date};

/// Bytes of memory for each reuse: itself in a list that may be half full, once more with its
/// cluster, its root, the counts of a cluster, and two places in a list that may be half full.
const REUSE_BYTES: u64 = 4 * (size_of::<(Reuse, u32)>() + size_of::<ReusedPlace>()) as u64;

item! {
    /// A reuse in one of its documents. The longest ones come first.
    struct ReusedSpan {
        document: u32,
        /// The longest possible length minus its length.
        shorter: u32,
        begin: u32,
        reuse: u32,
    }
}

/// A place, and the strongest of the reuses whose place it is.
struct ReusedPlace {
    place: Place,
    end: u32,
    reuse: u32,
}

item! {
    /// A place of a cluster. The earliest one comes first.
    struct ClusterPlace {
        cluster: u32,
        date: u64,
        /// Its number among the places of all documents, in their order.
        number: u32,
    }
}

/// Each reuse with its cluster; all places; the places of each cluster; and the counts of each cluster.
type Clustered = (
    Vec<(Reuse, u32)>,
    Vec<ReusedPlace>,
    List<ClusterPlace>,
    Vec<[u32; 3]>,
);

/// Reuses, as they come.
pub(super) struct Reuses {
    all: Vec<Reuse>,
    spans: Sort<ReusedSpan>,
}

impl Reuses {
    pub fn new(search: &Search<'_, '_>) -> Result<Reuses> {
        Ok(Reuses {
            all: Vec::new(),
            spans: search.sorter("spans", 4)?,
        })
    }

    /// Takes in the reuses of a pair.
    pub fn take(&mut self, pair: &PairMatches, search: &Search<'_, '_>) -> Result<()> {
        let mut matches = &pair.matches[..];
        for reuse in &pair.reuses {
            let (own, rest) = matches.split_at(matches.len().min(reuse.matches as usize));
            matches = rest;
            if let [first, ..] = own
                && let [.., last] = own
            {
                let ends = [last.end_a(), last.b + last.tokens];
                let begins = [(pair.a, first.a), (pair.b, first.b)];
                for ((document, begin), end) in begins.into_iter().zip(ends) {
                    self.spans.push(ReusedSpan {
                        document,
                        shorter: u32::MAX - (end - begin),
                        begin,
                        reuse: self.all.len() as u32,
                    })?;
                }
            }
            self.all.push(*reuse);
        }
        let count = self.all.len() as u64;
        search.require_in_eighth(count * REUSE_BYTES, || counted(count, "reuse"))
    }

    /// The reuses with their clusters, the places of these in the order of time, which `wanted`
    /// gets too, and for each cluster the number of its places and of their documents, and the
    /// tokens of the longest one. Clusters are numbered by their first reuses.
    fn clusters(
        self,
        search: &Search<'_, '_>,
        wanted: &mut Places,
        stats: &mut Stats,
    ) -> Result<Clustered> {
        let sets = UnionFind::new(self.all.len() as u32);
        let places = places(self.spans.finish()?, &self.all, &sets, search)?;
        let (mut roots, mut clusters) = (sets.roots(), 0);
        for n in 0..roots.len() {
            // A root is the first reuse of its cluster.
            let root = roots[n] as usize;
            let is_new = root == n;
            roots[n] = if is_new { clusters } else { roots[root] };
            clusters += u32::from(is_new);
        }
        let mut sorter = search.sorter("clusters", 4)?;
        for (found, number) in places.iter().zip(0..) {
            sorter.push(ClusterPlace {
                cluster: roots[found.reuse as usize],
                date: search.date(found.place.document),
                number,
            })?;
        }
        (stats.reuses, stats.reuse_clusters) = (self.all.len() as u64, clusters.into());
        let (mut of_clusters, mut counts) = (List::new(search.scratch), Vec::new());
        sorter.finish()?.groups(
            |found| found.cluster,
            |_, all| {
                let (mut count, mut longest, mut documents) = (0, 0, 0);
                let mut last = None;
                while let Some(found) = all.next()? {
                    let ReusedPlace { place, end, .. } = places[found.number as usize];
                    let tokens = end - place.token;
                    wanted.push(place, tokens)?;
                    of_clusters.push(&found)?;
                    (count, longest) = (count + 1, tokens.max(longest));
                    // The places of a document are next to each other.
                    documents += u32::from(last.replace(place.document) != Some(place.document));
                }
                counts.push([count, documents, longest]);
                Ok(())
            },
        )?;
        let reuses = self.all.into_iter().zip(roots).collect();
        Ok((reuses, places, of_clusters, counts))
    }

    /// Writes the tables of the reuses, of their matches, and of their clusters. `listed` has the
    /// matches, and `places` where they are.
    pub fn write(
        self,
        workspace: &Workspace,
        search: &Search<'_, '_>,
        listed: &List<ListedMatch>,
        mut places: Places,
        how: &How,
        stats: &mut Stats,
    ) -> Result<Vec<ResultFile>> {
        let names = &Catalogue::names(workspace, &search.context.budget)?;
        let (reuses, all_places, of_clusters, counts) =
            self.clusters(search, &mut places, stats)?;
        let begin = |name| create(workspace, name, how);
        let [mut table, mut matches] = [begin(REUSE_FILE)?, begin(REUSE_MATCHES_FILE)?];
        let (mut located, _) = places.located(search, 0)?;
        let mut all = reuses.iter().enumerate();
        let (mut next, mut open) = (all.next(), None);
        listed.each(|found| {
            let bytes = [next_bytes(&mut located)?, next_bytes(&mut located)?];
            let Some((number, (reuse, cluster))) = next else {
                return Ok(());
            };
            let (of, number) = ([found.a, found.b], Cell::from(number));
            pair_row(&mut matches, names, of, &[number], &found.cells(&bytes))?;
            let (first, [of_a, of_b], seen) = open.get_or_insert((found, bytes.clone(), 0));
            *seen += 1;
            if *seen < reuse.matches {
                return Ok(());
            }
            let rest = cells! {
                first.begin_a, found.begin_a + found.tokens, first.begin_b,
                found.begin_b + found.tokens, reuse.tokens,
                share(reuse.tokens.into(), reuse.span.into()), reuse.matches, of_a.start,
                bytes[0].end, of_b.start, bytes[1].end,
            };
            pair_row(&mut table, names, of, &cells! { number, *cluster }, &rest)?;
            (next, open) = (all.next(), None);
            Ok(())
        })?;
        let mut clusters = begin(REUSE_CLUSTERS_FILE)?;
        let mut listed = begin(REUSE_PLACES_FILE)?;
        let (mut counts, mut open) = (counts.into_iter(), None);
        of_clusters.each(|found: ClusterPlace| {
            let (bytes, date) = (next_bytes(&mut located)?, found.date);
            let dated = Some(date)
                .filter(|&date| date != UNDATED)
                .and_then(as_stated);
            let ReusedPlace { place, end, reuse } = all_places[found.number as usize];
            let (strongest, _) = &reuses[reuse as usize];
            let strength = share(strongest.tokens.into(), strongest.span.into());
            let strongest = cells! { reuse, strongest.tokens, strength };
            let (cluster, place) = (found.cluster, (place, end, &bytes));
            let dated = dated.as_deref();
            if open.replace(cluster) != Some(cluster)
                && let Some([places, documents, longest]) = counts.next()
            {
                let by = if date == UNDATED { "order" } else { "date" };
                let counts = cells! { cluster, places, documents, longest, by, dated };
                place_row(&mut clusters, names, place, &counts, &strongest)?;
            }
            place_row(
                &mut listed,
                names,
                place,
                &cells! { cluster, dated },
                &strongest,
            )
        })?;
        // The files of the sort are removed at its end.
        located.next()?;
        let tables = [table, matches, clusters, listed].into_iter();
        tables.map(|table| table.done()).collect()
    }
}

/// The places of all documents. Unites the reuses that have a place in common.
fn places(
    spans: Sorted<ReusedSpan>,
    all: &[Reuse],
    sets: &UnionFind,
    search: &Search<'_, '_>,
) -> Result<Vec<ReusedPlace>> {
    let mut places = Vec::new();
    // The one with the most tokens, then the densest and the first one.
    let stronger = |one: u32, other: u32| {
        let rank = |n: u32| all.get(n as usize).map(|of| (Reverse(of.tokens), of.span));
        if (rank(other), other) < (rank(one), one) {
            other
        } else {
            one
        }
    };
    spans.groups(
        |span| span.document,
        |first, spans| {
            search.context.stop.check(STAGE)?;
            // The end of each place, and the strongest reuse that has it, by its beginning.
            let mut open: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
            while let Some(span) = spans.next()? {
                let length = u32::MAX - span.shorter;
                let (mut begin, mut end) = (span.begin, span.begin + length);
                let mut strongest = span.reuse;
                let half = length.div_ceil(2);
                let (latest, least) = (end - half, begin + half);
                while let Some((&other, &(to, reuse))) = open.range(..=latest).next_back()
                    && to >= least
                {
                    sets.union(span.reuse, reuse);
                    (begin, end) = (begin.min(other), end.max(to));
                    strongest = stronger(strongest, reuse);
                    open.remove(&other);
                }
                open.insert(begin, (end, strongest));
            }
            for (token, (end, reuse)) in open {
                let document = first.document;
                let place = Place { document, token };
                places.push(ReusedPlace { place, end, reuse });
            }
            Ok(())
        },
    )?;
    Ok(places)
}

/// The dates that the records of all documents state, if reuses are looked for, and else those of
/// captures, which the collection keeps. Warns about those that cannot be read.
pub(super) fn dates(
    workspace: &Workspace,
    search: &Search<'_, '_>,
    repeats: &Repeats,
) -> Result<Vec<AtomicU64>> {
    let of_records = search.reuse.is_some();
    if repeats.ends.last() <= Some(&0) || !of_records && !has_captures(&workspace.manifest) {
        return Ok(Vec::new());
    }
    let all = (0..search.documents).map(|_| AtomicU64::new(UNDATED));
    let all: Vec<AtomicU64> = all.collect();
    // How many cannot be read, and the first of them.
    let unread = Mutex::new((0, (u32::MAX, String::new())));
    let take = |number: u32, stated: Option<&str>| {
        let Some(text) = stated.map(str::trim) else {
            return Ok(());
        };
        if let (Some(date), Some(of)) = (stated_date(text), all.get(number as usize)) {
            of.store(date + parts_left_out(text), Ordering::Relaxed);
            return Ok(());
        }
        let (count, first) = &mut *lock(&unread);
        *count += 1;
        if number < first.0 {
            *first = (number, shorten(text.as_bytes()));
        }
        Ok(())
    };
    if of_records {
        search.each_unit(|unit, _| {
            search.reread.each_record(unit, |number, record, bytes| {
                let is_capture = matches!(record.kind, RecordKind::Warc | RecordKind::Arc);
                let field = (!is_capture).then(|| record.kind.field(bytes, "date"));
                let stated = field.flatten().or_else(|| record.kind.date(bytes));
                take(number, stated.as_deref())
            })
        })?;
    } else {
        each_document(workspace, |number, document| take(number, document.date.0))?;
    }
    let (unread, (first, text)) = unlocked(unread);
    if unread > 0 {
        let (document, _) = stored(workspace, first)?;
        search.context.progress.lost(&format!(
            "warning: {} cannot be read, such as {text} of {}; their documents count as undated",
            counted(unread, "date"),
            cell(&document.docno)
        ));
    }
    Ok(all)
}

/// How many parts of a day a stated date leaves out: of a year two, of a month one. A date itself has
/// whole seconds, so the sum has room for them, and comes after the first day of the time.
fn parts_left_out(stated: &str) -> u64 {
    match stated.len() {
        ..=4 => 2,
        5..=7 if stated.as_bytes()[4] == b'-' => 1,
        _ => 0,
    }
}

/// The day of a date, or as much of it as was stated.
fn as_stated(date: u64) -> Option<String> {
    let mut day = day(date)?;
    day.truncate(day.len() - 3 * (date % 10_000_000) as usize);
    Some(day)
}
