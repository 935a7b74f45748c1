//! Counts the pairs of a collection by ratio, by size groups, and by document.

use std::collections::BTreeMap;

use super::Estimate;
use super::estimate::{Sums, estimate};

/// The pairs of one document, at one ratio and with one combination of two size groups.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    /// The number of the ratio, the size groups of the smaller and of the larger document, and the
    /// document.
    key: (u8, u8, u8, u32),
    /// The number of pairs found, of true pairs, and of true pairs found.
    found: u32,
    truth: u32,
    correct: u32,
}

/// All cells. Each pair counts once for each of its two documents. Memory: 20 bytes for each ratio,
/// document and combination of size groups, and twice that in addition while pairs are counted.
#[derive(Debug, Default)]
pub struct Cells {
    cells: Vec<Cell>,
    /// The number of cells at the front that have distinct keys.
    summed: usize,
    /// The range of cells of a ratio and two size groups; filled by [`Cells::settle`].
    starts: BTreeMap<(u8, u8, u8), (usize, usize)>,
}

/// The cells are not sorted for fewer new ones than this.
const LEAST_NEW: usize = 1 << 16;

impl Cells {
    /// Counts a pair for one of its documents.
    pub fn count(&mut self, key: (u8, u8, u8, u32), found: bool, truth: bool) {
        self.cells.push(Cell {
            key,
            found: found.into(),
            truth: truth.into(),
            correct: (found && truth).into(),
        });
        if self.cells.len() > LEAST_NEW.max(self.summed * 2) {
            self.sum();
        }
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        (self.cells.capacity() * size_of::<Cell>()) as u64
    }

    /// Adds up the cells of equal keys.
    fn sum(&mut self) {
        self.cells.sort_unstable_by_key(|cell| cell.key);
        self.cells.dedup_by(|cell, into| {
            let same = cell.key == into.key;
            if same {
                lookalike_base::add!(into, cell => found, truth, correct);
            }
            same
        });
        self.summed = self.cells.len();
    }

    /// Prepares the cells for queries, after all pairs are counted.
    pub fn settle(&mut self) {
        self.sum();
        for (at, cell) in self.cells.iter().enumerate() {
            let (ratio, smaller, larger, _) = cell.key;
            let place = self.starts.entry((ratio, smaller, larger));
            place.or_insert((at, at)).1 = at + 1;
        }
    }

    /// The numbers of wrong and of missed pairs of two size groups over all documents. Each pair
    /// counts twice, once for each document.
    pub fn errors(&self, ratio: u8, smaller: u8, larger: u8) -> (u64, u64) {
        let cells = self.of(ratio, smaller, larger).iter();
        cells.fold((0, 0), |(wrong, missed), cell| {
            let (found, truth) = (cell.found - cell.correct, cell.truth - cell.correct);
            (wrong + u64::from(found), missed + u64::from(truth))
        })
    }

    fn of(&self, ratio: u8, smaller: u8, larger: u8) -> &[Cell] {
        let place = self.starts.get(&(ratio, smaller, larger));
        let (start, end) = place.copied().unwrap_or_default();
        &self.cells[start..end]
    }

    /// Precision and recall over the pairs of the given ratios and size groups (ratio, smaller,
    /// larger).
    pub fn estimates(&self, of: &[(u8, u8, u8)]) -> (Option<Estimate>, Option<Estimate>) {
        let mut documents: BTreeMap<u32, (Sums, Sums)> = BTreeMap::new();
        for &(ratio, smaller, larger) in of {
            for cell in self.of(ratio, smaller, larger) {
                let (found, truth) = documents.entry(cell.key.3).or_default();
                let correct = u64::from(cell.correct);
                found.whole += u64::from(cell.found);
                found.part += correct;
                truth.whole += u64::from(cell.truth);
                truth.part += correct;
            }
        }
        (
            estimate(documents.values().map(|sums| sums.0)),
            estimate(documents.values().map(|sums| sums.1)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_sums_whenever_they_are_summed() {
        // More new cells than the limit for a sort, with few distinct keys.
        let mut cells = Cells::default();
        for i in 0..3 * LEAST_NEW as u32 {
            let (found, truth) = (!i.is_multiple_of(3), i.is_multiple_of(2));
            cells.count((1, 0, (i % 2) as u8, i % 10), found, truth);
        }
        assert!(cells.cells.len() <= LEAST_NEW + 1);
        cells.settle();
        assert_eq!(cells.cells.len(), 10);
        let n = LEAST_NEW as u64;
        // Even numbers: all pairs are true, two in three found. Odd: no pair is true, two in three
        // found.
        let (precision, recall) = cells.estimates(&[(1, 0, 0), (1, 0, 1)]);
        let (precision, recall) = (precision.unwrap(), recall.unwrap());
        assert_eq!(precision.pairs, n);
        assert!((precision.value - 0.5).abs() < 1e-12, "{precision:?}");
        assert_eq!(recall.pairs, 3 * n / 4);
        assert!((recall.value - 2.0 / 3.0).abs() < 1e-12, "{recall:?}");
        assert_eq!(cells.errors(1, 0, 0), (0, n / 2));
        assert_eq!(cells.errors(1, 0, 1), (n, 0));
        assert_eq!(cells.errors(2, 0, 0), (0, 0));
    }
}
