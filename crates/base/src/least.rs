//! The smallest of many values.

use std::collections::BinaryHeap;

/// Keeps the smallest of the values offered, up to a fixed number.
pub struct Least<T> {
    most: usize,
    kept: BinaryHeap<T>,
}

impl<T: Ord> Least<T> {
    pub fn new(most: usize) -> Self {
        Least {
            most,
            kept: BinaryHeap::new(),
        }
    }

    /// Takes a value, if it is among the smallest so far.
    pub fn offer(&mut self, value: T) {
        if self.kept.len() < self.most {
            self.kept.push(value);
        } else if let Some(mut greatest) = self.kept.peek_mut()
            && value < *greatest
        {
            *greatest = value;
        }
    }

    /// The smallest values, in ascending order.
    pub fn sorted(self) -> Vec<T> {
        self.kept.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_are_kept_in_any_order() {
        for order in [[5, 1, 4, 2, 3], [1, 2, 3, 4, 5], [5, 4, 3, 2, 1]] {
            let mut least = Least::new(3);
            order.into_iter().for_each(|n| least.offer(n));
            assert_eq!(least.sorted(), [1, 2, 3]);
        }
        let mut none = Least::new(0);
        none.offer(1);
        assert!(none.sorted().is_empty());
    }
}
