//! Matches of pairs of documents, and passages that many documents share.
//!
//! # Definitions
//! A *match* is a maximal pair of equal runs of at least k tokens of two documents. The matches of
//! two documents are listed if they share a k-gram that occurs in at most
//! [`MatchesConfig::max_documents`] documents: all of them, with a mark for those that consist of
//! k-grams in more documents only. A *common passage* is a maximal run of k-grams that each occur
//! in more documents, where they occur first.
//!
//! # Algorithm
//! 1. A sweep over the repeats by first occurrence ([`super::sweep`]) finds the pairs of documents,
//!    which are sorted, and the common passages, whose occurrences are the repeats that overlap
//!    them.
//! 2. The matches of a pair follow from its repeats ([`super::join`]).
//! 3. The bytes of matches and of occurrences are found in one pass over the texts: the places are
//!    sorted by document, found, and sorted back.
//!
//! # What is not guaranteed
//! A pair of two documents that repeat a few words endlessly has quadratically many matches. The
//! matches of a pair with more than [`super::join::MOST_PIECES`] are not listed; [`OVERLAPS_FILE`]
//! says so, and has the covered tokens all the same.

use std::cmp::Reverse;

use super::chain;
use super::gaps::Gaps;
use super::groups::Groups;
use super::join::{Joiner, PairMatches};
use super::located::{ListedMatch, Places, TEXT_BYTES, next_bytes};
use super::places::{Place, Repeats};
use super::repeats::Search;
use super::reuses::{Reuses, dates};
use super::sweep::{Run, sweep};
use super::tables::{How, create, numbers_of, pair_row, place_row, share};
use super::{
    BOILERPLATE_FILE, BOILERPLATE_PLACES_FILE, BoilerplateConfig, COMMON_FILE, COMMON_PLACES_FILE,
    MATCHES_FILE, MatchesConfig, OVERLAPS_FILE, STAGE, Stats,
};
use lookalike_base::{Credit, Error, Least, Result, Unit, counted, in_order, refuse};
use lookalike_engine::collection::{Catalogue, Tried};
use lookalike_store::{Cell, List, ResultFile, Sorted, Workspace, cells, disk, item};

/// Bytes of memory for each common passage: the passage, its rank, and the number of its places.
const COMMON_BYTES: u64 = (size_of::<Run>() + size_of::<(&Run, u32)>() + size_of::<u64>()) as u64;
/// The part of a disk that pairs leave free: one twentieth.
const LEAST_SPACE: u64 = 20;
/// Pairs that a thread takes at once.
const PAIRS: usize = 1024;
/// A thread keeps the repeats of a document for its next pair if they take less.
const LARGE_BYTES: u64 = 4 << 20;
/// Matches that a thread collects before it passes them on.
const PLACES: usize = 1 << 18;

item! {
    /// Two documents that share a k-gram.
    struct Pair {
        one: u32,
        other: u32,
    }
}

item! {
    /// An occurrence of a common passage.
    struct Occurrence {
        /// The number of the passage.
        rank: u32,
        place: Place,
        tokens: u32,
    }
}

/// Refuses more pairs if the disk of their sort is nearly full.
fn require_space(search: &Search<'_, '_>, pairs: u64, config: &MatchesConfig) -> Result<()> {
    match disk::space(search.scratch) {
        Some(space) if space.left.0 < space.size.0 / LEAST_SPACE => {
            let limit = format!(
                "{} of documents take so much space that {} has only {} left; give a smaller \
                 number, or --no-matches, or another disk with --scratch",
                counted(pairs, "pair"),
                search.scratch.display(),
                space.left
            );
            refuse("max-documents", config.max_documents, limit)
        }
        _ => Ok(()),
    }
}

/// Finds the pairs of documents that share passages, and the common passages.
pub(super) fn write(
    workspace: &Workspace,
    search: &Search<'_, '_>,
    repeats: &Repeats,
    how: &How,
    config: &MatchesConfig,
    stats: &mut Stats,
) -> Result<Vec<ResultFile>> {
    let dates = dates(workspace, search, repeats)?;
    let search = &Search {
        dates: &dates,
        ..*search
    };
    let mut pairs = search.sorter("pairs", 4)?;
    let (mut count, mut tried) = (0u64, Tried::default());
    let push = |one: u32, other: u32| {
        if search
            .conditions
            .is_some_and(|of| !of.hold_for((one, other), &mut tried))
        {
            return Ok(());
        }
        let (one, other) = search.in_order(one, other);
        count += 1;
        let parts = pairs.untyped.parts().1;
        pairs.push(Pair { one, other })?;
        match pairs.untyped.parts().1 == parts {
            true => Ok(()),
            false => require_space(search, count, config),
        }
    };
    let runs = sweep(search, repeats, None, config.max_documents, push)?;
    if let Some(conditions) = search.conditions {
        conditions.undecided(workspace, &tried, search.context)?;
    }
    let count = runs.count();
    search.require_in_eighth(count * COMMON_BYTES, || counted(count, "common passage"))?;
    let mut commons = Vec::with_capacity(count as usize);
    runs.each(|run| {
        commons.push(run);
        Ok(())
    })?;
    stats.common = commons.len() as u64;
    let one = ("max-documents", config.max_documents.to_string());
    let how = &[how, &[one]].concat();
    let mut files = write_common(workspace, search, &commons, repeats, None, how)?;
    let pairs = pairs.finish()?.unique();
    files.extend(write_matches(
        workspace, search, repeats, &commons, pairs, how, stats,
    )?);
    Ok(files)
}

/// Finds the passages that several groups of documents share.
pub(super) fn write_boilerplate(
    workspace: &Workspace,
    search: &Search<'_, '_>,
    repeats: &Repeats,
    how: &How,
    boilerplate: &BoilerplateConfig,
    stats: &mut Stats,
) -> Result<Vec<ResultFile>> {
    let groups = Groups::read(workspace, search, &boilerplate.by)?;
    let grouping = Some(&groups);
    let runs = sweep(search, repeats, grouping, 1, |_, _| Ok(()))?;
    stats.boilerplate = runs.count();
    let top = runs.count().min(boilerplate.top.into());
    search.require_in_eighth(top * (COMMON_BYTES + TEXT_BYTES as u64), || {
        format!("{} of boilerplate (--top)", counted(top, "passage"))
    })?;
    // Those in the most groups, the last one of them first.
    let mut best = Least::new(top as usize);
    runs.each(|run| {
        best.offer((Reverse(run.groups), Reverse(run.end - run.begin), run.begin));
        Ok(())
    })?;
    let commons: Vec<Run> = best
        .sorted()
        .into_iter()
        .map(|(Reverse(groups), Reverse(length), begin)| Run {
            begin,
            end: begin + length,
            groups,
        })
        .collect();
    let how = &[how, &[("by", boilerplate.by.to_string())]].concat();
    write_common(workspace, search, &commons, repeats, grouping, how)
}

/// The occurrences of each run, in the order in which the runs are given, and the number of them.
fn occurrences(
    search: &Search<'_, '_>,
    runs: &[Run],
    repeats: &Repeats,
    grouping: Option<&Groups>,
) -> Result<(Sorted<Occurrence>, Vec<u64>)> {
    let mut sorter = search.sorter("occurrences", 4)?;
    let mut gaps = Gaps::new(search.gaps);
    let mut counts = vec![0; runs.len()];
    let mut by_begin: Vec<(&Run, u32)> = runs.iter().zip(0..).collect();
    by_begin.sort_unstable_by_key(|(run, _)| run.begin);
    repeats.each(search.context, |repeat| {
        if grouping.is_some_and(|groups| groups.of(repeat.place.document).is_none()) {
            return Ok(());
        }
        let (begin, end) = repeat.line();
        let from = by_begin.partition_point(|(run, _)| run.end <= begin);
        gaps.begin(repeat.place.document)?;
        for (run, rank) in by_begin.get(from..).unwrap_or_default() {
            if run.begin >= end {
                break;
            }
            let (from, to) = (begin.max(run.begin), end.min(run.end));
            let place = repeat.place.plus((from - begin) as u32);
            let (place, tokens) = gaps.place(place, (to - from) as u32 - 1 + search.length);
            sorter.push(Occurrence::new(*rank, place, tokens))?;
            if let Some(count) = counts.get_mut(*rank as usize) {
                *count += 1;
            }
        }
        Ok(())
    })?;
    Ok((sorter.finish()?, counts))
}

/// Writes [`COMMON_FILE`] and [`COMMON_PLACES_FILE`]; of groups, [`BOILERPLATE_FILE`] and
/// [`BOILERPLATE_PLACES_FILE`].
fn write_common(
    workspace: &Workspace,
    search: &Search<'_, '_>,
    commons: &[Run],
    repeats: &Repeats,
    grouping: Option<&Groups>,
    how: &How,
) -> Result<Vec<ResultFile>> {
    let names = Catalogue::names(workspace, &search.context.budget)?;
    let files = match grouping {
        Some(_) => [BOILERPLATE_FILE, BOILERPLATE_PLACES_FILE],
        None => [COMMON_FILE, COMMON_PLACES_FILE],
    };
    let begin = |name| create(workspace, name, how);
    let [mut common, mut all] = [begin(files[0])?, begin(files[1])?];
    let mut places = Places::new(search)?;
    let mut gaps = Gaps::new(search.gaps);
    let mut firsts = Vec::with_capacity(commons.len());
    for run in commons {
        let place = Place::of(run.begin);
        gaps.begin(place.document)?;
        let (place, tokens) = gaps.place(place, run.tokens(search.length));
        places.push(place, tokens)?;
        firsts.push((place, place.token + tokens));
    }
    let (mut occurrences, counts) = occurrences(search, commons, repeats, grouping)?;
    let mut listed = List::new(search.scratch);
    while let Some(occurrence) = occurrences.next()? {
        places.push(occurrence.place, occurrence.tokens)?;
        listed.push(&occurrence)?;
    }
    drop(occurrences);
    let shown = grouping.map_or(0, |_| commons.len());
    let (mut located, texts) = places.located(search, shown)?;
    let runs = commons.iter().zip(firsts).zip(counts);
    for (rank, ((run, (place, end)), places)) in runs.enumerate() {
        let bytes = next_bytes(&mut located)?;
        let tokens = run.tokens(search.length);
        let first = cells! { rank, tokens, run.groups, places };
        let text: Vec<Cell<'_>> = texts.get(rank).map(Cell::from).into_iter().collect();
        place_row(&mut common, &names, (place, end, &bytes), &first, &text)?;
    }
    listed.each(|found: Occurrence| {
        let (place, bytes) = (found.place, next_bytes(&mut located)?);
        let group = grouping.map(|groups| groups.name(place.document));
        let first = [Some(found.rank.into()), group.map(Cell::Text)];
        let first: Vec<Cell<'_>> = first.into_iter().flatten().collect();
        let end = place.token + found.tokens;
        place_row(&mut all, &names, (place, end, &bytes), &first, &[])
    })?;
    // The files of the sort are removed at its end.
    located.next()?;
    Ok(vec![common.done()?, all.done()?])
}

/// Writes [`MATCHES_FILE`] and [`OVERLAPS_FILE`].
fn write_matches(
    workspace: &Workspace,
    search: &Search<'_, '_>,
    repeats: &Repeats,
    commons: &[Run],
    mut pairs: Sorted<Pair>,
    how: &How,
    stats: &mut Stats,
) -> Result<Vec<ResultFile>> {
    let names = Catalogue::names(workspace, &search.context.budget)?;
    let words = numbers_of(workspace, |_, document| document.words)?;
    let mut overlaps = create(workspace, OVERLAPS_FILE, how)?;
    let mut reuses = search.reuse.map(|_| Reuses::new(search)).transpose()?;
    let mut places = Places::new(search)?;
    let mut listed = List::new(search.scratch);
    let context = search.context;
    context.start(STAGE, Unit::Count("pairs of documents"), None);
    let hand_out = |hand: &mut dyn FnMut(Vec<(u32, u32)>) -> Result<()>| {
        let mut some: Vec<(u32, u32)> = Vec::new();
        while let Some(Pair { one, other }) = pairs.next()? {
            some.push((one, other));
            if some.len() == PAIRS {
                context.stop.check(STAGE)?;
                hand(std::mem::take(&mut some))?;
            }
        }
        hand(some)
    };
    let memory = Credit::new(search.reading);
    let work = |pairs: Vec<(u32, u32)>, pass: &mut dyn FnMut(Vec<PairMatches>) -> Result<()>| {
        disk::point("passages: matches");
        let mut joiner = Joiner::new(search, repeats, commons);
        let mut gaps = [Gaps::new(search.gaps), Gaps::new(search.gaps)];
        let (mut done, mut held) = (Vec::new(), 0);
        for (one, other) in pairs {
            let hold = |need| {
                if need > search.reading {
                    let share = search.memory + search.reading;
                    let what = || format!("finding the matches of the documents {one} and {other}");
                    context.budget.require_share(share, 2 * need, what)?;
                }
                Ok::<_, Error>(memory.hold(need))
            };
            let need = Joiner::bytes(repeats, one, other);
            let taken = hold(need)?;
            let mut found = joiner.join(one, other)?;
            // Two threads that hold memory and wait for more would wait for each other.
            drop(taken);
            if let (Some((reuse, length)), true) = (&search.reuse, found.listed) {
                let _taken = hold(found.matches.len() as u64 * chain::MATCH_BYTES)?;
                found.reuses = chain::reuses(&mut found.matches, reuse, *length, || {
                    context.stop.check(STAGE)
                })?;
                found.count();
            }
            if search.gaps.is_some() {
                found.divide(&mut gaps)?;
            }
            if need > LARGE_BYTES {
                joiner = Joiner::new(search, repeats, commons);
            }
            held += found.matches.len();
            if search.reuse.is_none() || !found.listed || !found.reuses.is_empty() {
                done.push(found);
            }
            if held > PLACES {
                context.stop.check(STAGE)?;
                pass(std::mem::take(&mut done))?;
                held = 0;
            }
        }
        pass(done)
    };
    let take = |found: Vec<PairMatches>| {
        for pair in found {
            let of = |document: u32| u64::from(words.get(document).unwrap_or_default());
            let longest = pair.listed.then_some(pair.longest);
            let number = search
                .reuse
                .map_or(pair.matches.len(), |_| pair.reuses.len());
            let number = pair.listed.then_some(number);
            let share_a = share(pair.tokens_a, of(pair.a));
            let share_b = share(pair.tokens_b, of(pair.b));
            let row = cells! {
                number, longest, pair.tokens_a, share_a, pair.tokens_b, share_b,
            };
            pair_row(&mut overlaps, &names, [pair.a, pair.b], &[], &row)?;
            stats.pairs += 1;
            stats.unlisted_pairs += u64::from(!pair.listed);
            stats.matches += pair.matches.len() as u64;
            if let Some(reuses) = &mut reuses {
                reuses.take(&pair, search)?;
            }
            for m in pair.matches {
                let place = |document, token| Place { document, token };
                places.push(place(pair.a, m.a), m.tokens)?;
                places.push(place(pair.b, m.b), m.tokens)?;
                listed.push(&ListedMatch {
                    a: pair.a,
                    b: pair.b,
                    begin_a: m.a,
                    begin_b: m.b,
                    tokens: m.tokens,
                    common: m.common.into(),
                })?;
            }
        }
        context.progress.at(stats.pairs);
        Ok(())
    };
    in_order(STAGE, context.budget.threads, hand_out, work, take)?;
    let mut files = vec![overlaps.done()?];
    match reuses {
        Some(reuses) => files.extend(reuses.write(workspace, search, &listed, places, how, stats)?),
        None => files.insert(0, list(workspace, search, &listed, places, how)?),
    }
    Ok(files)
}

/// Writes [`MATCHES_FILE`].
fn list(
    workspace: &Workspace,
    search: &Search<'_, '_>,
    listed: &List<ListedMatch>,
    places: Places,
    how: &How,
) -> Result<ResultFile> {
    let names = Catalogue::names(workspace, &search.context.budget)?;
    let mut matches = create(workspace, MATCHES_FILE, how)?;
    let (mut located, _) = places.located(search, 0)?;
    listed.each(|found| {
        let bytes = [next_bytes(&mut located)?, next_bytes(&mut located)?];
        let of = [found.a, found.b];
        pair_row(&mut matches, &names, of, &[], &found.cells(&bytes))
    })?;
    located.next()?;
    matches.done()
}
