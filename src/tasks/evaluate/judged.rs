//! Compares the run with pairs that people have judged.

use std::path::Path;

use super::Evaluating;
use super::classes::Pair;
use super::documents::{Documents, JUDGED, each_row};
use super::rank::{Ranked, SAME, ranking};
use super::samples::{Found, Levels, Sample, each_pair, means, sample};
use crate::store::item::item;
use crate::text::read::lines::shorten;
use crate::{Error, Result};

/// The place of a pair judged false, behind the places of all pairs of the run. That of a pair
/// judged true is the next one.
const FALSE: u64 = SAME - 1;

item! {
    /// A pair of classes of the run, or a judged pair of documents of these classes.
    struct Line {
        classes: Pair,
        /// The place of a pair of the run in the order of scores, or [`FALSE`] plus the judgement.
        place: u64,
        /// The judged documents; of a pair of the run, the number of thresholds that it reaches, and
        /// 0.
        documents: Pair,
    }
}

/// Compares the run with judged pairs.
pub(super) fn judged(path: &Path, of: Evaluating<'_>, documents: &mut Documents) -> Result<Sample> {
    let mut selected = 0u64;
    each_row(path, &JUDGED, of.context, |table, row| {
        let (a, b) = (documents.of(table, &row[0])?, documents.of(table, &row[1])?);
        if a != b && documents.known(a) && documents.known(b) {
            selected += u64::from(documents.select(a));
        }
        Ok(())
    })?;
    let documents = &*documents;
    let mut lines = of.sort_beside(3, "judged")?;
    each_pair(of, documents, |classes, level, place| {
        lines.push(Line {
            classes,
            place,
            documents: Pair { a: level, b: 0 },
        })
    })?;
    let (mut all, mut unknown, mut not_in_run) = ([0; 2], 0, 0);
    distinct_judged(path, of, documents, |pair, judgement| {
        let Pair { a, b } = pair;
        if !documents.known(a) || !documents.known(b) {
            unknown += 1;
            return Ok(());
        }
        all[judgement as usize] += 1;
        not_in_run += u64::from(!documents.in_run(a) || !documents.in_run(b));
        lines.push(Line {
            classes: Pair::new(documents.run.root(a), documents.run.root(b)),
            place: FALSE + u64::from(judgement),
            documents: pair,
        })
    })?;
    let mut levels = Levels::new(of.top());
    let mut found = of.sort_beside(3, "documents")?;
    let mut ranked = of.sort_beside(3, "ranking")?;
    let classes = |line: &Line| line.classes;
    lines.finish()?.groups(classes, |first, all| {
        let is_one_class = first.classes.a == first.classes.b;
        let (mut level, mut place) = match is_one_class {
            true => (of.top() as u32, SAME),
            false => (0, 0),
        };
        while let Some(line) = all.next()? {
            let Some(judgement) = line.place.checked_sub(FALSE) else {
                // The highest score comes last.
                (level, place) = (line.documents.a, line.place);
                continue;
            };
            if place > 0 {
                ranked.push(Ranked::new(place, [1 - judgement, judgement]))?;
            }
            levels.0[level as usize][judgement as usize] += 1;
            for class in [line.documents.a, line.documents.b] {
                if level > 0 && documents.selected(class) {
                    found.push(Found {
                        class,
                        label: 0,
                        level,
                        judged: 1,
                        hits: judgement as u32,
                    })?;
                }
            }
        }
        Ok(())
    })?;
    let means = means(found, of.top(), |_| 1)?;
    Ok(Sample {
        true_pairs: all[1],
        false_pairs: all[0],
        unknown,
        not_in_run,
        at: sample(of.thresholds, all, selected, &levels, &means),
        ranking: ranking(ranked, all, of)?,
    })
}

item! {
    /// A judged pair in the file.
    struct Judgement {
        pair: Pair,
        line: u64,
        /// 1 for true and 0 for false.
        judgement: u32,
    }
}

/// Passes on the distinct judged pairs, each with its judgement: 1 for true and 0 for false. A pair
/// judged both true and false is an error.
fn distinct_judged(
    path: &Path,
    of: Evaluating<'_>,
    documents: &Documents,
    mut take: impl FnMut(Pair, u32) -> Result<()>,
) -> Result<()> {
    let mut sort = of.sort_beside(2, "judgements")?;
    each_row(path, &JUDGED, of.context, |table, row| {
        let (a, b) = (documents.of(table, &row[0])?, documents.of(table, &row[1])?);
        let judgement = match row[2].as_slice() {
            b"0" => 0,
            b"1" => 1,
            other => return Err(table.bad("a judgement, 0 or 1", shorten(other))),
        };
        if a == b {
            return Ok(());
        }
        sort.push(Judgement {
            pair: Pair::new(a, b),
            line: table.number(),
            judgement,
        })
    })?;
    let pair = |judged: &Judgement| judged.pair;
    sort.finish()?.groups(pair, |first, all| {
        take(first.pair, first.judgement)?;
        while let Some(other) = all.next()? {
            if other.judgement != first.judgement {
                let (judgement, line) = (first.judgement, first.line);
                let expected = format!("the judgement {judgement} that line {line} has");
                return Err(Error::bad_line(path, other.line, expected, other.judgement));
            }
        }
        Ok(())
    })?;
    Ok(())
}
