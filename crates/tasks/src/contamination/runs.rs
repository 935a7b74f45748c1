//! The runs that an item and a document share.

use super::grams::{Finder, Grams, Place};
use super::items::{Field, Item, TestSets};

/// At most this number of runs is listed for an item and a document.
pub const MOST_RUNS: usize = 100;

/// A maximal pair of equal runs.
pub(super) struct Run<'s> {
    pub field: &'s Field,
    /// The first token of the run, among the tokens of all test sets.
    pub item: usize,
    /// Its first token in the document.
    pub document: usize,
    /// Its tokens.
    pub tokens: usize,
}

/// The places of a document's classes, by class.
pub(super) struct ByClass<'f> {
    /// Has the long ones, in the order of the document.
    found: &'f Finder<'f>,
    /// The numbers of the long ones, by class and then in the order of the document.
    order: Vec<u32>,
    /// By class, then in the order of the document.
    short: Vec<Place>,
}

impl<'f> ByClass<'f> {
    pub(super) fn new(found: &'f Finder<'f>) -> ByClass<'f> {
        let long = &found.long;
        let mut order: Vec<u32> = (0..long.len() as u32).collect();
        order.sort_unstable_by_key(|&at| (long[at as usize].class, at));
        let mut short = found.short.clone();
        short.sort_unstable_by_key(|place| (place.class, place.token));
        ByClass {
            found,
            order,
            short,
        }
    }

    /// The runs that the document shares with an item, by their place in the item and then in the
    /// document, and whether these are all.
    ///
    /// A pair of equal n-grams that begins no run continues a run that was found before, so at most
    /// [`MOST_RUNS`] times the item's tokens are looked at, even if both texts are periodic.
    pub(super) fn runs<'s>(
        &self,
        sets: &'s TestSets,
        grams: &Grams,
        item: &Item,
    ) -> (Vec<Run<'s>>, bool) {
        let mut runs = Vec::new();
        for field in item.fields(sets) {
            if field.short {
                self.of_short(grams, field, &mut runs);
            } else {
                self.of_long(grams, field, &mut runs);
            }
            if runs.len() > MOST_RUNS {
                runs.truncate(MOST_RUNS);
                return (runs, false);
            }
        }
        (runs, !self.found.more)
    }

    fn of_short<'s>(&self, grams: &Grams, field: &'s Field, runs: &mut Vec<Run<'s>>) {
        let Some(class) = grams.class_at(field.tokens.start) else {
            return;
        };
        let first = self.short.partition_point(|place| place.class < class);
        for place in &self.short[first..] {
            if place.class != class || runs.len() > MOST_RUNS {
                return;
            }
            runs.push(Run {
                field,
                item: field.tokens.start,
                document: place.token as usize,
                tokens: field.tokens.len(),
            });
        }
    }

    fn of_long<'s>(&self, grams: &Grams, field: &'s Field, runs: &mut Vec<Run<'s>>) {
        // The class at a token of the field, if it is at this place of the document.
        let same = |token: usize, place: Option<&Place>, document: u32| {
            let class = field.tokens.contains(&token).then(|| grams.class_at(token));
            let class = class.flatten();
            place.is_some_and(|place| place.token == document && Some(place.class) == class)
        };
        let long = &self.found.long;
        for token in field.tokens.clone() {
            let Some(class) = grams.class_at(token) else {
                return;
            };
            let lower = |at: &u32| long[*at as usize].class < class;
            for &at in &self.order[self.order.partition_point(lower)..] {
                let at = at as usize;
                let place = &long[at];
                if place.class != class {
                    break;
                }
                let before = at.checked_sub(1).and_then(|at| long.get(at));
                if let (Some(left), Some(document)) =
                    (token.checked_sub(1), place.token.checked_sub(1))
                    && same(left, before, document)
                {
                    continue;
                }
                let mut more = 1;
                while same(token + more, long.get(at + more), place.token + more as u32) {
                    more += 1;
                }
                runs.push(Run {
                    field,
                    item: token,
                    document: place.token as usize,
                    tokens: more - 1 + grams.length(class),
                });
                if runs.len() > MOST_RUNS {
                    return;
                }
            }
        }
    }
}
