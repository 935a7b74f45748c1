//! Pairs of a collection by ratio, size groups, and unit.

use std::collections::BTreeMap;

use super::estimate::{Estimate, Sums, estimate};

/// The pairs of one unit at one ratio, of two size groups.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    /// Number of the ratio; size group of the smaller document; of the larger; unit.
    key: (u8, u8, u8, u32),
    /// Weights of pairs that were found; that are true; that are both.
    found: f64,
    truth: f64,
    correct: f64,
    /// How many pairs were found, and are true.
    pairs_found: u32,
    pairs_true: u32,
}

/// All of them. Memory: 48 bytes for each unit and two size groups at each ratio, and as much again
/// while they are gathered.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    cells: Vec<Cell>,
    /// Cells that are sums already.
    summed: usize,
    /// Where the cells of a ratio and two groups begin; after [`Cells::settle`].
    starts: BTreeMap<(u8, u8, u8), (usize, usize)>,
}

/// Fewer new cells are not worth a sort.
const LEAST_NEW: usize = 1 << 16;

impl Cells {
    /// Counts a pair that stands for `weight` pairs.
    pub(crate) fn count(&mut self, key: (u8, u8, u8, u32), found: bool, truth: bool, weight: f64) {
        let of = |is: bool| if is { weight } else { 0.0 };
        self.cells.push(Cell {
            key,
            found: of(found),
            truth: of(truth),
            correct: of(found && truth),
            pairs_found: found.into(),
            pairs_true: truth.into(),
        });
        if self.cells.len() > LEAST_NEW.max(self.summed * 2) {
            self.sum();
        }
    }

    /// Adds cells of equal keys. The sort is stable, so that sums of fractions do not depend on when.
    fn sum(&mut self) {
        self.cells.sort_by_key(|cell| cell.key);
        self.cells.dedup_by(|cell, into| {
            let same = cell.key == into.key;
            if same {
                into.found += cell.found;
                into.truth += cell.truth;
                into.correct += cell.correct;
                into.pairs_found += cell.pairs_found;
                into.pairs_true += cell.pairs_true;
            }
            same
        });
        self.summed = self.cells.len();
    }

    /// All pairs are counted.
    pub(crate) fn settle(&mut self) {
        self.sum();
        for (at, cell) in self.cells.iter().enumerate() {
            let (ratio, smaller, larger, _) = cell.key;
            let place = self
                .starts
                .entry((ratio, smaller, larger))
                .or_insert((at, at));
            place.1 = at + 1;
        }
    }

    /// Weight of what was found wrongly in a cell of all units.
    pub(crate) fn wrong(&self, ratio: u8, smaller: u8, larger: u8) -> f64 {
        let cells = self.of(ratio, smaller, larger).iter();
        cells.map(|cell| cell.found - cell.correct).sum()
    }

    fn of(&self, ratio: u8, smaller: u8, larger: u8) -> &[Cell] {
        let (start, end) = self
            .starts
            .get(&(ratio, smaller, larger))
            .copied()
            .unwrap_or_default();
        &self.cells[start..end]
    }

    /// Precision and recall over the pairs of some (ratio, smaller group, larger group).
    pub(crate) fn estimates(&self, of: &[(u8, u8, u8)]) -> (Option<Estimate>, Option<Estimate>) {
        let mut units: BTreeMap<u32, (Sums, Sums)> = BTreeMap::new();
        for &(ratio, smaller, larger) in of {
            for cell in self.of(ratio, smaller, larger) {
                let (found, truth) = units.entry(cell.key.3).or_default();
                found.whole += cell.found;
                found.part += cell.correct;
                found.pairs += u64::from(cell.pairs_found);
                truth.whole += cell.truth;
                truth.part += cell.correct;
                truth.pairs += u64::from(cell.pairs_true);
            }
        }
        (
            estimate(units.values().map(|unit| unit.0)),
            estimate(units.values().map(|unit| unit.1)),
        )
    }
}
