//! Finds every repeated k-gram, and where it occurs first.
//!
//! # Algorithm
//! 1. All documents are cut into stretches ([`super::grams`]), which are sorted by anchor and
//!    content. Stretches with an anchor of their own have no repeated k-gram. Equal stretches
//!    (*classes*) are repeated from end to end, and the first one is where their k-grams occur
//!    first if no other class has their anchor.
//! 2. If an anchor has several classes, they may share some of their k-grams. The k-grams of the
//!    first stretch of each class are hashed, from the text, and sorted by hash.
//! 3. For each stretch of a class the first occurrence of each k-gram follows from the two sorts.
//!    They are sorted by place and written to a file.
//!
//! # Exactness
//! K-grams are compared by XXH3 hashes of 128 bits of their canonical text, equal stretches by 120
//! bits, including 60 bits of their anchor. The chance that any two of a billion different k-grams
//! have equal hashes is below 10^-20; for two stretches with the same anchor it is 2^-60.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::chain::ReuseConfig;
use super::gaps::Gaps;
use super::grams::{Grams, Hashed, Stretch, Stretches};
use super::places::{PIECE_BYTES, Place, Repeat, Repeats};
use super::{STAGE, Stats};
use lookalike_base::{Context, Error, Result, Tasks, Unit, budget::ByteSize, work_and_commit};
use lookalike_engine::collection::{Conditions, Representatives, Reread};
use lookalike_store::{Checkpoints, Item, Sort, Sorted, UnitSort, disk, item};
use lookalike_text::parse::{ParseConfig, Parser};

/// The data that the search works with.
pub(super) struct Search<'a, 'w> {
    pub reread: &'a Reread<'a>,
    pub parse: &'a ParseConfig,
    pub length: u32,
    /// The definition of a reuse, and the least number of its matched tokens.
    pub reuse: Option<(ReuseConfig, u32)>,
    /// Where documents have excluded words.
    pub gaps: Option<&'a Repeats>,
    /// The condition of the pairs whose matches are listed.
    pub conditions: Option<&'a Conditions>,
    /// The dates of the documents, or [`UNDATED`]; empty if they are not known.
    pub dates: &'a [AtomicU64],
    /// The documents that take part; all if none are given.
    pub only: Option<&'a Representatives>,
    pub documents: u32,
    pub scratch: &'a Path,
    /// Memory for the sorts.
    pub memory: u64,
    /// Memory for reading, or for the steps that do not read.
    pub reading: u64,
    pub checkpoints: &'a Checkpoints<'w>,
    pub context: &'a Context<'a>,
}

/// The sorts that are saved, if the first one does not fit in memory.
pub(super) const SORTS: &[&str] = &[STRETCHES, MEMBERS, EXAMINED, GRAMS, REPEATS, UNITS, GAPS];
const STRETCHES: &str = "stretches";
const MEMBERS: &str = "members";
const EXAMINED: &str = "examined";
const GRAMS: &str = "grams";
pub(super) const REPEATS: &str = "repeats";
pub(super) const UNITS: &str = "units";
pub(super) const GAPS: &str = "gaps";

/// The date of a document that states none.
pub(super) const UNDATED: u64 = u64::MAX;

impl Search<'_, '_> {
    /// The date of a document, or [`UNDATED`].
    pub fn date(&self, document: u32) -> u64 {
        let date = self.dates.get(document as usize);
        date.map_or(UNDATED, |date| date.load(Ordering::Relaxed))
    }

    /// Two documents, of which the first one was read first, in the order of their dates.
    pub fn in_order(&self, one: u32, other: u32) -> (u32, u32) {
        let (of_one, of_other) = (self.date(one), self.date(other));
        if of_one != UNDATED && of_other < of_one {
            return (other, one);
        }
        (one, other)
    }

    /// Refuses a table that takes more than an eighth of the memory for the sorts.
    ///
    /// # Errors
    /// `BudgetTooSmall` with a budget that is enough for it.
    pub(crate) fn require_in_eighth(
        &self,
        bytes: u64,
        what: impl FnOnce() -> String,
    ) -> Result<()> {
        let least = bytes.saturating_mul(8);
        self.context.budget.require_share(self.memory, least, what)
    }

    pub fn sorter<T: Item>(&self, name: &str, share: u64) -> Result<Sort<T>> {
        Sort::scratch(&self.scratch.join(name), ByteSize(self.memory / share))
    }

    /// A sort that is saved when it is complete, if it lasts.
    pub(crate) fn sorter_if<T: Item>(
        &self,
        lasting: bool,
        name: &str,
        share: u64,
    ) -> Result<Sort<T>> {
        match lasting {
            true => Ok(self.checkpoints.sorter(name, ByteSize(self.memory / share))),
            false => self.sorter(name, share),
        }
    }

    /// The items that `push` puts into a sort from each unit, unless they were saved. The sort is
    /// saved if it does not fit in memory, or if `lasting` says so.
    pub fn of_units<T: Item>(
        &self,
        name: &'static str,
        lasting: bool,
        push: impl Fn(usize, &mut Parser, &UnitSort<'_, T>) -> Result<()> + Sync,
    ) -> Result<Sort<T>> {
        let memory = ByteSize(self.memory / 2);
        if self.checkpoints.is_complete(name) {
            return Ok(self.checkpoints.sorter(name, memory));
        }
        let sort = self.checkpoints.sort(name, memory);
        let bytes = (0..self.reread.units()).map(|unit| self.reread.bytes(unit));
        let progress = self.context.progress;
        progress.start("passages", Unit::Bytes, Some(bytes.sum()));
        let position = AtomicU64::new(0);
        self.each_unit(|unit, parser| {
            if !sort.has(unit) {
                push(unit, parser, &sort)?;
                sort.done(unit);
            }
            let bytes = self.reread.bytes(unit);
            progress.at(position.fetch_add(bytes, Ordering::Relaxed) + bytes);
            Ok(())
        })?;
        let mut sorter = sort.into_sorter();
        if lasting || !sorter.untyped.parts().0.is_empty() {
            let sorts = &mut [(name, &mut sorter.untyped, true)];
            self.checkpoints.save_all(sorts, &[], &[])?;
        }
        Ok(sorter)
    }

    /// The repeats of all documents, which `find` finds unless they were saved.
    pub fn run(
        &self,
        stats: &mut Stats,
        find: impl FnOnce(&mut Stats) -> Result<Sort<Repeat>>,
    ) -> Result<Repeats> {
        let repeats = if self.checkpoints.is_complete(REPEATS) {
            let counts = [STRETCHES, GRAMS, UNITS].map(|name| self.checkpoints.count(name));
            [stats.stretches, stats.grams, stats.units] = counts;
            self.checkpoints.sorter(REPEATS, ByteSize(0))
        } else {
            find(stats)?
        };
        let (repeats, count) = self.write(repeats.finish()?, true)?;
        stats.repeats = count;
        Ok(repeats)
    }

    /// The classes of equal stretches, the number of stretches, and whether the sorts last.
    fn classes(&self) -> Result<(Classes, u64, bool)> {
        let checkpoints = self.checkpoints;
        let sorts = |lasting| {
            Ok::<_, Error>(Classes {
                members: self.sorter_if(lasting, MEMBERS, 8)?,
                examined: self.sorter_if(lasting, EXAMINED, 8)?,
                repeats: self.sorter_if(lasting, REPEATS, 4)?,
                held: Vec::new(),
                passing: false,
            })
        };
        if checkpoints.is_complete(EXAMINED) {
            return Ok((sorts(true)?, checkpoints.count(STRETCHES), true));
        }
        let stretches = self.of_units(STRETCHES, false, |unit, parser, sort| {
            disk::point("passages: worker");
            let mut stretches = Stretches::new(self.length, sort);
            let mut gaps = Gaps::new(self.gaps);
            let wanted = |number| self.only.is_none_or(|only| only.has(number));
            self.reread.each(unit, wanted, |number, _, document| {
                stretches.begin(number);
                gaps.begin(number)?;
                gaps.parse(parser, (document, self.parse), &mut stretches);
                stretches.found.check()
            })?;
            stretches.found.finish()
        })?;
        let lasting = !stretches.untyped.parts().0.is_empty();
        let mut classes = sorts(lasting)?;
        let count = group(stretches.finish()?.unique(), &mut classes, self.context)?;
        if lasting {
            let complete = &mut [
                (MEMBERS, &mut classes.members.untyped, true),
                (EXAMINED, &mut classes.examined.untyped, true),
                (REPEATS, &mut classes.repeats.untyped, false),
            ];
            checkpoints.save_all(complete, &[(STRETCHES, count)], &[STRETCHES])?;
        }
        Ok((classes, count, lasting))
    }

    /// Finds the repeats of all documents.
    pub fn find(&self, stats: &mut Stats) -> Result<Sort<Repeat>> {
        let (classes, stretches, lasting) = self.classes()?;
        let mut repeats = classes.repeats;
        let (examined, _) = self.write(classes.examined.finish()?, true)?;
        let grams = self.of_units(GRAMS, lasting, |unit, parser, sort| {
            let reader = examined.reader(PIECE_BYTES);
            let mut grams = Grams::new(self.length, reader, sort);
            let mut gaps = Gaps::new(self.gaps);
            let wanted = |number| examined.has(number);
            self.reread.each(unit, wanted, |number, _, document| {
                grams.begin(number);
                gaps.begin(number)?;
                gaps.parse(parser, (document, self.parse), &mut grams);
                grams.found.check()
            })?;
            grams.found.finish()
        })?;
        drop(examined);
        let mut firsts = self.sorter("firsts", 8)?;
        let grams = shared_grams(grams.finish()?.unique(), &mut firsts, self.context)?;
        (stats.stretches, stats.grams) = (stretches, grams);
        disk::point("passages: repeats");
        let (members, firsts) = (classes.members.finish()?, firsts.finish()?);
        resolve(members, firsts, self.context, |repeat| repeats.push(repeat))?;
        if lasting {
            let sorts = &mut [(REPEATS, &mut repeats.untyped, true)];
            let (grams, done) = (&[(GRAMS, grams)], &[MEMBERS, EXAMINED, GRAMS]);
            self.checkpoints.save_all(sorts, grams, done)?;
        }
        Ok(repeats)
    }

    /// Calls `work` for each unit, on all threads for which there is memory.
    pub(crate) fn each_unit(
        &self,
        work: impl Fn(usize, &mut Parser) -> Result<()> + Sync,
    ) -> Result<()> {
        let reread = self.reread;
        let worker = |tasks: &Tasks<'_, usize, ()>| {
            let mut parser = Parser::new(self.parse);
            while let Some(unit) = tasks.next() {
                if let Err(error) = work(unit, &mut parser) {
                    reread.close();
                    tasks.cancel();
                    return Err(error);
                }
            }
            Ok(())
        };
        let units = 0..reread.units();
        work_and_commit(STAGE, reread.threads, units, worker, |()| Ok(()))
    }

    /// Writes the repeats, which come in order. With `join`, those that continue each other are
    /// one.
    pub fn write(&self, mut sorted: Sorted<Repeat>, join: bool) -> Result<(Repeats, u64)> {
        use std::io::Write;
        let file = disk::unnamed(self.scratch)?;
        let failed = || Error::io("write a temporary file in", self.scratch);
        let mut out = std::io::BufWriter::with_capacity(PIECE_BYTES, file);
        let mut ends = Vec::with_capacity(self.documents as usize);
        let mut written = 0u64;
        let mut open: Option<Repeat> = None;
        loop {
            let next = sorted.next()?;
            if let (true, Some(open), Some(next)) = (join, &mut open, &next)
                && open.extend(next)
            {
                continue;
            }
            if let Some(repeat) = std::mem::replace(&mut open, next) {
                ends.resize(repeat.place.document as usize, written);
                out.write_all(&repeat.encode()).map_err(failed())?;
                written += 1;
            }
            if open.is_none() {
                break;
            }
            self.context.tick(STAGE, written)?;
        }
        ends.resize(self.documents as usize, written);
        let file = out.into_inner().map_err(|e| e.into_error());
        let repeats = Repeats {
            file: file.map_err(failed())?,
            directory: self.scratch.into(),
            ends,
        };
        Ok((repeats, written))
    }
}

/// A class of equal stretches, while its members come.
struct Class {
    content: u128,
    first: Place,
    count: u32,
    members: u64,
}

item! {
    /// A member of a class that may share k-grams with other classes.
    struct Member {
        /// The first member of the class.
        first: Place,
        place: Place,
        /// The number of k-grams.
        count: u32,
        /// Whether the class has no other member.
        alone: bool,
    }
}

item! {
    /// A k-gram of several classes, and where it occurs first.
    struct First {
        place: Place,
        first: Place,
    }
}

/// The sorts into which the classes of equal stretches go.
struct Classes {
    /// The members of classes that may share k-grams with others, with the class's first one.
    members: Sort<Member>,
    /// The first members of these classes, whose k-grams are to be compared.
    examined: Sort<Repeat>,
    /// The repeats of the members of other classes.
    repeats: Sort<Repeat>,
    /// The members of the only class of the current anchor so far.
    held: Vec<Place>,
    /// Whether members of the current anchor are not held any more.
    passing: bool,
}

/// The most members of a class that are held: 512 KiB.
const MOST_HELD: usize = 64 << 10;

impl Classes {
    /// Adds a member of a class. `alone` says that the class has no other one.
    fn member(&mut self, class: &Class, place: Place, alone: bool) -> Result<()> {
        if !self.passing {
            self.held.push(place);
            return match self.held.len() {
                MOST_HELD => self.pass(class),
                _ => Ok(()),
            };
        }
        self.members
            .push(Member::new(class.first, place, class.count, alone))
    }

    /// Passes on the members that are held, and all that follow.
    fn pass(&mut self, class: &Class) -> Result<()> {
        self.passing = true;
        let mut held = std::mem::take(&mut self.held);
        for place in held.drain(..) {
            self.member(class, place, false)?;
        }
        self.held = held;
        Ok(())
    }

    /// The k-grams of a class are to be compared with other classes.
    fn examine(&mut self, class: &Class) -> Result<()> {
        if !self.passing {
            self.pass(class)?;
        }
        let stretch = Repeat::new(class.first, class.first, class.count);
        self.examined.push(stretch)?;
        match class.members {
            1 => self.member(class, class.first, true),
            _ => Ok(()),
        }
    }

    /// The last class of an anchor has ended. If it is the only one, its stretches are repeats.
    fn end(&mut self, class: &Class) -> Result<()> {
        for place in self.held.drain(..) {
            let repeat = Repeat::new(place, class.first, class.count);
            self.repeats.push(repeat)?;
        }
        self.passing = false;
        Ok(())
    }
}

/// Goes through the stretches of each anchor.
fn group(
    mut stretches: Sorted<Stretch>,
    sorts: &mut Classes,
    context: &Context<'_>,
) -> Result<u64> {
    let (mut anchor, mut classes, mut taken) = (None, 0u64, 0u64);
    let mut open: Option<Class> = None;
    loop {
        let next = stretches.next()?;
        if let (Some(class), Some(next)) = (&mut open, &next)
            && class.content == next.content
        {
            if class.members == 1 {
                sorts.member(class, class.first, false)?;
            }
            class.members += 1;
            sorts.member(class, next.place, false)?;
            continue;
        }
        let same = next.is_some_and(|next| anchor == Some(next.anchor()));
        if let Some(class) = open.take() {
            classes += 1;
            if classes > 1 || same {
                sorts.examine(&class)?;
            }
            if !same {
                sorts.end(&class)?;
            }
        }
        let Some(next) = next else {
            return Ok(stretches.passed);
        };
        if !same {
            (anchor, classes) = (Some(next.anchor()), 0);
        }
        open = Some(Class {
            content: next.content,
            first: next.place,
            count: next.count(),
            members: 1,
        });
        taken += 1;
        context.tick(STAGE, taken)?;
    }
}

/// Passes on each k-gram of several classes, by place, with its first occurrence. Returns the
/// number of k-grams.
fn shared_grams(
    grams: Sorted<Hashed>,
    firsts: &mut Sort<First>,
    context: &Context<'_>,
) -> Result<u64> {
    let mut taken = 0u64;
    grams.groups(
        |gram| gram.hash,
        |Hashed { place: first, .. }, all| {
            let is_shared = !all.is_one();
            while let Some(Hashed { place, .. }) = all.next()? {
                taken += 1;
                context.tick(STAGE, taken)?;
                if is_shared {
                    firsts.push(First { place, first })?;
                }
            }
            Ok(())
        },
    )
}

/// Passes on the repeats of each member of a class.
fn resolve(
    mut members: Sorted<Member>,
    mut firsts: Sorted<First>,
    context: &Context<'_>,
    mut pass: impl FnMut(Repeat) -> Result<()>,
) -> Result<()> {
    // The first occurrences of the k-grams of a class, where they are known to be in several
    // classes.
    let mut known: Vec<Option<Place>> = Vec::new();
    let mut class = None;
    let mut next = firsts.next()?;
    let mut taken = 0u64;
    while let Some(member) = members.next()? {
        let Member { first, place, .. } = member;
        if class != Some(first) {
            class = Some(first);
            known.clear();
            known.resize(member.count as usize, None);
            while let Some(gram) = next
                && gram.place.number() < first.number() + u64::from(member.count)
            {
                let at = gram.place.number().checked_sub(first.number());
                if let Some(known) = at.and_then(|at| known.get_mut(at as usize)) {
                    *known = Some(gram.first);
                }
                next = firsts.next()?;
            }
        }
        let mut open: Option<Repeat> = None;
        for (offset, known) in (0..).zip(&known) {
            let first = match known {
                Some(first) => *first,
                None if member.alone => continue,
                None => first.plus(offset),
            };
            let repeat = Repeat::new(place.plus(offset), first, 1);
            if !open.as_mut().is_some_and(|open| open.extend(&repeat))
                && let Some(done) = open.replace(repeat)
            {
                pass(done)?;
            }
        }
        if let Some(done) = open {
            pass(done)?;
        }
        taken += 1;
        context.tick(STAGE, taken)?;
    }
    // The grams that are left belong to no class.
    while next.is_some() {
        next = firsts.next()?;
    }
    Ok(())
}
