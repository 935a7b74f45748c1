//! Compares the pairs of a run with the ground truth.

use super::classes::{Classes, Pair, pairs_of};
use super::documents::{Documents, Side, stop};
use super::list::PairList;
use super::{Evaluating, ListCounts};
use lookalike_base::{Counts, PairTable, Result};
use lookalike_store::{Sort, item};

/// Pairs by size group of the smaller document, and by whether both documents are in that group.
pub(super) struct Tally {
    groups: Vec<[PairTable; 2]>,
    /// Rows are the levels in the ground truth and columns the levels in the run, instead of the
    /// reverse.
    swapped: bool,
}

impl Tally {
    fn new(groups: usize, levels: usize, swapped: bool) -> Tally {
        let tables = || [PairTable::new(levels), PairTable::new(levels)];
        Tally {
            groups: (0..groups).map(|_| tables()).collect(),
            swapped,
        }
    }

    /// The cell for pairs of two size groups that reach this number of thresholds in the other list
    /// and in the base.
    fn cell(&mut self, groups: (u8, u8), other: usize, base: usize) -> &mut u64 {
        let (row, column) = if self.swapped {
            (base, other)
        } else {
            (other, base)
        };
        let group = usize::from(groups.0.min(groups.1));
        let table = &mut self.groups[group][usize::from(groups.0 != groups.1)];
        &mut table.cells[row * (table.thresholds + 1) + column]
    }

    /// For each group, same-group and cross-group pairs at a threshold.
    pub fn at(&self, threshold: usize) -> impl Iterator<Item = [Counts; 2]> {
        let counts =
            move |tables: &[PairTable; 2]| [tables[0].at(threshold), tables[1].at(threshold)];
        self.groups.iter().map(counts)
    }
}

/// The result of the comparison.
pub(super) struct Compared {
    /// Counts with each class of identical documents as one document.
    pub representatives: Tally,
    /// Counts with each document on its own.
    pub all: Tally,
    /// The counts of the lists: ground truth, run.
    pub counts: [ListCounts; 2],
    /// Pairs of identical documents in one directory, if the other list is a file that names none
    /// of them.
    pub unnamed: u64,
}

/// The lists.
const TRUTH: usize = 0;
const RUN: usize = 1;

/// The list whose classes group the pairs.
struct Base<'a> {
    documents: &'a Documents,
    /// [`TRUTH`] or [`RUN`].
    list: usize,
    side: &'a Side,
    /// By the document that represents a class, the known documents of the class.
    sizes: Vec<u32>,
    /// The size group of each class. Identical documents have the same number of words. If the two
    /// collections disagree, the lowest group counts.
    groups: Vec<u8>,
    /// The classes of the other list, if it has classes: how many documents of each class of the
    /// base each of them has.
    mixed: Option<Classes>,
    /// The number of thresholds.
    top: usize,
}

impl<'a> Base<'a> {
    fn new(documents: &'a Documents, top: usize) -> Base<'a> {
        let run_only = !documents.truth.has_classes() && documents.run.has_classes();
        let list = if run_only { RUN } else { TRUTH };
        let sides = [&documents.truth, &documents.run];
        let (side, other) = (sides[list], sides[1 - list]);
        let mut sizes = vec![0u32; documents.count() as usize];
        let mut groups = vec![u8::MAX; documents.count() as usize];
        let known = || (0..documents.count()).filter(|&document| documents.known(document));
        for document in known() {
            let root = side.root(document) as usize;
            sizes[root] += 1;
            groups[root] = groups[root].min(documents.group(document));
        }
        let mixed = other.has_classes().then(|| {
            let labelled = known().map(|document| (other.root(document), side.root(document)));
            Classes::new(documents.count(), labelled)
        });
        Base {
            documents,
            list,
            side,
            sizes,
            groups,
            mixed,
            top,
        }
    }

    fn size(&self, class: u32) -> u64 {
        u64::from(self.sizes[class as usize])
    }

    fn groups(&self, classes: Pair) -> (u8, u8) {
        let group = |class: u32| self.groups[class as usize];
        (group(classes.a), group(classes.b))
    }

    fn tally(&self) -> Tally {
        let groups = &self.documents.size_groups;
        let groups = groups.as_ref().map_or(1, |groups| groups.count());
        Tally::new(groups, self.top, self.list == RUN)
    }
}

item! {
    /// A pair of two classes of the base, as one of the lists has it.
    struct ComparedLine {
        classes: Pair,
        is_other: bool,
        level: u32,
        /// The number of pairs of documents of the other list for which it stands.
        weight: u64,
    }
}

/// The pairs of both lists, by classes of the base.
struct Lines<'a> {
    base: &'a Base<'a>,
    sort: Sort<ComparedLine>,
    /// Pairs of the other list that are identical in the base, by their level in the other list.
    identical: Tally,
    /// All these pairs.
    taken: Tally,
}

impl Lines<'_> {
    /// A pair of the other list stands for `weight` pairs of documents of these two classes.
    /// Returns whether they are one class.
    fn put(&mut self, (a, b): (u32, u32), level: usize, weight: u64) -> Result<bool> {
        let classes = Pair::new(a, b);
        if a == b {
            let (groups, top) = (self.base.groups(classes), self.base.top);
            *self.identical.cell(groups, level, top) += weight;
            *self.taken.cell(groups, 0, top) += weight;
            return Ok(true);
        }
        let level = level as u32;
        self.sort
            .push(ComparedLine::new(classes, true, level, weight))?;
        Ok(false)
    }

    /// Puts the pairs of identical documents of the other list.
    fn put_identical(&mut self, mixed: &Classes) -> Result<()> {
        let top = self.base.top;
        for class in 0..self.base.documents.count() {
            let labels = mixed.of(class);
            for (i, &(a, n)) in labels.iter().enumerate() {
                self.put((a, a), top, pairs_of(n.into()))?;
                for &(b, m) in &labels[i + 1..] {
                    self.put((a, b), top, u64::from(n) * u64::from(m))?;
                }
            }
        }
        Ok(())
    }

    /// Puts a pair of a list.
    fn take(
        &mut self,
        list: usize,
        pair: Pair,
        level: usize,
        counts: &mut ListCounts,
    ) -> Result<()> {
        let (base, Pair { a, b }) = (self.base, pair);
        if list == base.list {
            if base.size(a) * base.size(b) == 0 {
                counts.unknown += 1;
                return Ok(());
            }
            return self
                .sort
                .push(ComparedLine::new(pair, false, level as u32, 0));
        }
        let Some(mixed) = &base.mixed else {
            if !base.documents.known(a) || !base.documents.known(b) {
                counts.unknown += 1;
            } else if self.put((base.side.root(a), base.side.root(b)), level, 1)? {
                counts.identical += 1;
            }
            return Ok(());
        };
        let mut same = false;
        for &(a, n) in mixed.of(a) {
            for &(b, m) in mixed.of(b) {
                same |= self.put((a, b), level, u64::from(n) * u64::from(m))?;
            }
        }
        counts.unknown += u64::from(mixed.of(a).is_empty() || mixed.of(b).is_empty());
        counts.identical += u64::from(same);
        Ok(())
    }
}

/// Pairs by the levels that they reach in both lists.
struct Tallies {
    representatives: Tally,
    all: Tally,
    /// All pairs, for the case that the other list is a file of representatives.
    expanded: Tally,
    /// Pairs of identical documents of the base.
    duplicates: u64,
}

impl Tallies {
    /// The pairs of identical documents of the base.
    fn new(base: &Base<'_>) -> Tallies {
        let mut tallies = Tallies {
            representatives: base.tally(),
            all: base.tally(),
            expanded: base.tally(),
            duplicates: 0,
        };
        for root in (0..base.documents.count()).filter(|&root| base.size(root) >= 2) {
            let groups = base.groups(Pair::new(root, root));
            let pairs = pairs_of(base.size(root));
            *tallies.all.cell(groups, 0, base.top) += pairs;
            *tallies.expanded.cell(groups, base.top, base.top) += pairs;
            tallies.duplicates += pairs;
        }
        tallies
    }

    /// Adds the pairs of two classes. `level` is the number of thresholds that they reach in the
    /// base, 0 if it does not list them; `others` has the pairs of documents in the other list, by
    /// the number of thresholds that they reach.
    fn add(&mut self, base: &Base<'_>, classes: Pair, level: usize, others: &[u64]) {
        let groups = base.groups(classes);
        let most = others.iter().rposition(|&weight| weight > 0).unwrap_or(0);
        *self.representatives.cell(groups, most, level) += 1;
        let mut rest = base.size(classes.a) * base.size(classes.b);
        *self.expanded.cell(groups, most, level) += rest;
        for (other, weight) in others.iter().enumerate() {
            *self.all.cell(groups, other, level) += weight;
            rest = rest.saturating_sub(*weight);
        }
        *self.all.cell(groups, 0, level) += rest;
    }

    /// Moves the pairs that are identical in the base to their levels in the other list.
    fn move_identical(&mut self, identical: &Tally, taken: &Tally) {
        let tables = identical.groups.iter().zip(&taken.groups);
        for (all, (identical, taken)) in self.all.groups.iter_mut().zip(tables) {
            for kind in 0..2 {
                all[kind].add(&identical[kind]);
                for (sum, n) in all[kind].cells.iter_mut().zip(&taken[kind].cells) {
                    *sum -= n;
                }
            }
        }
    }
}

/// Compares the two lists, if there is a ground truth.
pub(super) fn compare(of: Evaluating<'_>, documents: &Documents) -> Result<Compared> {
    let base = &Base::new(documents, of.top());
    let mut lines = Lines {
        base,
        sort: of.sort_beside(1, "pairs")?,
        identical: base.tally(),
        taken: base.tally(),
    };
    if let Some(mixed) = &base.mixed {
        lines.put_identical(mixed)?;
    }
    let counts = distinct(of, documents, |list, pair, level, counts| {
        lines.take(list, pair, level, counts)
    })?;
    let mut tallies = Tallies::new(base);
    let mut others = vec![0; base.top + 1];
    let classes = |line: &ComparedLine| line.classes;
    lines.sort.finish()?.groups(classes, |first, all| {
        let mut level = 0;
        others.fill(0);
        while let Some(line) = all.next()? {
            match line.is_other {
                false => level = line.level as usize,
                true => others[line.level as usize] += line.weight,
            }
        }
        tallies.add(base, first.classes, level, &others);
        Ok(())
    })?;
    tallies.move_identical(&lines.identical, &lines.taken);
    let file = base.mixed.is_none() && base.side.has_classes();
    let unnamed = match file && counts[1 - base.list].identical == 0 {
        true => tallies.duplicates,
        false => 0,
    };
    // A run has missed the pairs that it does not list. A ground truth that names none of the pairs
    // of identical documents does not say that they are false.
    let is_expanded = unnamed > 0 && base.list == RUN;
    Ok(Compared {
        representatives: tallies.representatives,
        all: match is_expanded {
            true => tallies.expanded,
            false => tallies.all,
        },
        counts,
        unnamed,
    })
}

item! {
    /// A pair in a list.
    struct ListedPair {
        pair: Pair,
        list: u32,
        level: u32,
    }
}

/// Passes on the distinct pairs of both lists, each with the highest level at which it is listed:
/// pairs of classes if the list has classes, otherwise pairs of documents.
fn distinct(
    of: Evaluating<'_>,
    documents: &Documents,
    mut take: impl FnMut(usize, Pair, usize, &mut ListCounts) -> Result<()>,
) -> Result<[ListCounts; 2]> {
    let mut counts = [ListCounts::default(); 2];
    let mut sort = of.sort_beside(1, "listed")?;
    let lists = [
        (of.sources.truth.as_ref(), &documents.truth),
        (Some(&of.sources.run), &documents.run),
    ];
    for (list, (source, side)) in lists.into_iter().enumerate() {
        let Some(source) = source else { continue };
        let mut pairs = PairList::open(&source.pairs, source.columns.as_ref())?;
        while let Some(listed) = pairs.next(of.thresholds)? {
            stop(&pairs.table, of.context)?;
            counts[list].lines += 1;
            let [x, y] = listed.documents;
            let x = documents.find(x, &pairs.table)?;
            let y = documents.find(y, &pairs.table)?;
            if x == y {
                counts[list].to_themselves += 1;
                continue;
            }
            let (a, b) = (side.root(x), side.root(y));
            if a == b {
                counts[list].identical += 1;
                continue;
            }
            sort.push(ListedPair {
                pair: Pair::new(a, b),
                list: list as u32,
                level: listed.level as u32,
            })?;
        }
    }
    let key = |listed: &ListedPair| (listed.pair, listed.list);
    sort.finish()?.groups(key, |first, all| {
        let list = first.list as usize;
        let counts = &mut counts[list];
        let mut level = first.level;
        all.next()?;
        while let Some(again) = all.next()? {
            counts.repeated += 1;
            // The highest level comes last.
            level = again.level;
        }
        counts.pairs += 1;
        take(list, first.pair, level as usize, counts)
    })?;
    Ok(counts)
}
