//! Goes through all repeated k-grams by first occurrence, and finds which documents share them.
//!
//! # In and out
//! In: the repeats, and the group of each document; without groups, each document is one. Out: the
//! pairs of groups that share a k-gram in few groups, and the runs of k-grams that each occur in
//! many ([`Runs`]).
//!
//! # Algorithm
//! 1. A repeat is an interval of k-grams by first occurrence. The intervals are sorted by group,
//!    and intervals of a group that overlap or touch are united. The unions are sorted by their
//!    beginning.
//! 2. The unions that cover a k-gram are the groups in which it occurs. A heap has the active ones,
//!    by their ends. Where a new one makes them more than `most`, a run begins.
//! 3. In a run the heap keeps the `most` + 1 unions that end last. The run ends where the first of
//!    them does: then at most `most` are left. A union that the heap gave up ends no later, because
//!    each kept union ends no earlier. So where no run is open, the heap has all active unions.
//! 4. The unions in a run are counted in a sort of their beginnings and ends, which gives the
//!    number of groups of the k-gram that occurs in the most.
//!
//! # Cost
//! Memory: three sorts, and [`ACTIVE_BYTES`] for each of `most` + 1 groups. Temporary files: at
//! most 26 bytes for each repeat, 52 for each union, and 68 for each union in a run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::STAGE;
use super::groups::Groups;
use super::places::Repeats;
use super::repeats::Search;
use lookalike_base::{Context, Result};
use lookalike_store::{List, Sort, Sorted, item};

/// Bytes of memory for each union that may be active where k-grams occur in few groups: in the
/// heap, and among the new ones.
pub(super) const ACTIVE_BYTES: u64 = 2 * size_of::<(u64, u32)>() as u64;

item! {
    /// A maximal run of k-grams that each occur in many groups.
    pub(super) struct Run {
        /// The first k-gram, where it occurs first, and the end of the run.
        begin: u64,
        end: u64,
        /// The groups of the k-gram that occurs in the most.
        groups: u32,
    }
}

impl Run {
    /// The number of its tokens, if k-grams have `length`.
    pub fn tokens(&self, length: u32) -> u32 {
        (self.end - self.begin) as u32 - 1 + length
    }
}

/// The runs that a sweep found, in order.
pub(super) struct Runs {
    /// The runs, whose groups are not yet counted.
    runs: List<Run>,
    /// The beginnings and ends of the unions in each run.
    events: Sorted<Event>,
}

impl Runs {
    /// The number of runs.
    pub fn count(&self) -> u64 {
        self.runs.count()
    }

    /// Passes on all runs.
    pub fn each(mut self, mut act: impl FnMut(Run) -> Result<()>) -> Result<()> {
        let mut event = self.events.next()?;
        let mut number = 0;
        self.runs.each(|run| {
            let (mut active, mut groups) = (0u32, 0);
            while let Some(Event { begins, .. }) = event.filter(|event| event.run == number) {
                match begins {
                    false => active -= 1,
                    true => active += 1,
                }
                groups = groups.max(active);
                event = self.events.next()?;
            }
            number += 1;
            act(Run { groups, ..run })
        })
    }
}

item! {
    /// A union begins or ends in a run. At the same k-gram, ends come before beginnings.
    struct Event {
        run: u64,
        at: u64,
        begins: bool,
    }
}

item! {
    /// A repeat by first occurrence.
    struct Interval {
        group: u32,
        begin: u64,
        count: u32,
    }
}

item! {
    /// The union of intervals of a group.
    struct United {
        begin: u64,
        end: u64,
        group: u32,
    }
}

/// A union: its end, and its group.
type Union = (u64, u32);

/// The output of a sweep: the beginnings and ends of unions in runs, and the runs.
struct Output {
    events: Sort<Event>,
    runs: List<Run>,
}

impl Output {
    /// A union is in the open run from `begin` on.
    fn count(&mut self, begin: u64, (end, _): Union) -> Result<()> {
        let run = self.runs.count();
        for (at, begins) in [(begin, true), (end, false)] {
            self.events.push(Event { run, at, begins })?;
        }
        Ok(())
    }
}

struct Sweep<'s, P> {
    /// Gets the pairs.
    pair: P,
    most: usize,
    /// The active unions, ordered by their ends; in a run, `most` + 1 of them.
    active: BinaryHeap<Reverse<Union>>,
    /// The unions that began at the current k-gram, unless it lies in a run.
    new: Vec<Union>,
    at: u64,
    /// Where the open run began.
    run: Option<u64>,
    output: Output,
    context: &'s Context<'s>,
}

impl<P: FnMut(u32, u32) -> Result<()>> Sweep<'_, P> {
    /// A union begins at the current k-gram.
    fn begin(&mut self, union: Union) -> Result<()> {
        let is_many = self.active.len() > self.most;
        self.active.push(Reverse(union));
        if is_many {
            self.active.pop();
            return self.output.count(self.at, union);
        }
        self.new.push(union);
        if self.active.len() > self.most {
            // A run that reached this point continues; only the new unions were not yet counted.
            if self.run.is_none() {
                self.run = Some(self.at);
                self.new.clear();
                self.new.extend(self.active.iter().map(|Reverse(u)| *u));
            }
            for &union in &self.new {
                self.output.count(self.at, union)?;
            }
            self.new.clear();
        }
        Ok(())
    }

    /// The open run ends at `end`, and what is active there is all that is.
    fn close(&mut self, begin: u64, end: u64) -> Result<()> {
        let groups = 0;
        self.output.runs.push(&Run { begin, end, groups })?;
        self.run = None;
        // Which of them were there together is not known.
        self.new.clear();
        self.new.extend(self.active.iter().map(|Reverse(u)| *u));
        self.pairs()
    }

    /// Passes on the pairs of the new unions with all active ones.
    fn pairs(&mut self) -> Result<()> {
        for (n, &(_, one)) in self.new.iter().enumerate() {
            if n % 256 == 255 {
                self.context.stop.check(STAGE)?;
            }
            for &(_, other) in self.new.iter().skip(n + 1) {
                (self.pair)(one.min(other), one.max(other))?;
            }
        }
        if self.active.len() > self.new.len() {
            self.new.sort_unstable();
            let old = self.active.iter().map(|Reverse(union)| union);
            for &(_, one) in old.filter(|union| self.new.binary_search(union).is_err()) {
                for &(_, other) in &self.new {
                    (self.pair)(one.min(other), one.max(other))?;
                }
            }
        }
        self.new.clear();
        Ok(())
    }

    /// Goes on to a later k-gram, at which unions begin.
    fn advance(&mut self, to: u64) -> Result<()> {
        if self.active.len() <= self.most {
            match self.run {
                Some(begin) => self.close(begin, self.at)?,
                None => self.pairs()?,
            }
        }
        while let Some(&Reverse((end, _))) = self.active.peek()
            && end <= to
        {
            self.active.pop();
            let is_last = |Reverse((next, _)): &Reverse<Union>| *next > end;
            // Unions that begin at the new point are counted before a run ends there.
            if let Some(begin) = self.run
                && end < to
                && self.active.len() <= self.most
                && self.active.peek().is_none_or(is_last)
            {
                self.close(begin, end)?;
            }
        }
        self.at = to;
        Ok(())
    }
}

/// The unions of the repeats of each group, sorted by where they begin.
fn unions(
    search: &Search<'_, '_>,
    repeats: &Repeats,
    grouping: Option<&Groups>,
) -> Result<Sorted<United>> {
    let mut by_group = search.sorter("by-group", 4)?;
    repeats.each(search.context, |repeat| {
        let document = repeat.place.document;
        // Documents without a group do not count.
        let Some(group) = grouping.map_or(Some(document), |groups| groups.of(document)) else {
            return Ok(());
        };
        let (begin, _) = repeat.line();
        by_group.push(Interval::new(group, begin, repeat.count))
    })?;
    let mut unions = search.sorter("unions", 4)?;
    let mut taken = 0u64;
    by_group.finish()?.groups(
        |interval| interval.group,
        |first, all| {
            let Interval { group, begin, .. } = first;
            let mut open = United {
                begin,
                end: begin,
                group,
            };
            while let Some(Interval { begin, count, .. }) = all.next()? {
                let end = begin + u64::from(count);
                if begin <= open.end {
                    open.end = open.end.max(end);
                } else {
                    unions.push(std::mem::replace(&mut open, United { begin, end, group }))?;
                }
                taken += 1;
                search.context.tick(STAGE, taken)?;
            }
            unions.push(open)
        },
    )?;
    unions.finish()
}

/// Passes each pair of groups that share a k-gram in at most `most` groups to `pair`, once or
/// several times, the lower number first. Returns the runs of the other k-grams.
pub(super) fn sweep(
    search: &Search<'_, '_>,
    repeats: &Repeats,
    grouping: Option<&Groups>,
    most: u32,
    pair: impl FnMut(u32, u32) -> Result<()>,
) -> Result<Runs> {
    let mut unions = unions(search, repeats, grouping)?;
    let context = search.context;
    let room = (most as usize).min(search.documents as usize) + 2;
    let mut sweep = Sweep {
        pair,
        most: most as usize,
        active: BinaryHeap::with_capacity(room),
        new: Vec::with_capacity(room),
        at: 0,
        run: None,
        output: Output {
            events: search.sorter("events", 4)?,
            runs: List::new(search.scratch),
        },
        context,
    };
    let mut taken = 0u64;
    while let Some(United { begin, end, group }) = unions.next()? {
        if begin != sweep.at {
            sweep.advance(begin)?;
        }
        sweep.begin((end, group))?;
        taken += 1;
        context.tick(STAGE, taken)?;
    }
    sweep.advance(u64::MAX)?;
    let Output { events, runs } = sweep.output;
    let events = events.finish()?;
    Ok(Runs { runs, events })
}
