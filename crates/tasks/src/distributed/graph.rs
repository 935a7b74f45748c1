//! Clusters, and the documents that are kept, from all pairs in one task.

use std::collections::HashMap;

use lookalike_base::{Error, Result, UnionFind};

/// The pairs of documents, which are called by bytes.
///
/// Memory: about 100 bytes for each document that is in a pair, and 8 for each pair of documents
/// with different words.
#[derive(Debug, Default)]
pub struct Graph {
    numbers: HashMap<Box<[u8]>, u32>,
    ranks: Vec<Box<[u8]>>,
    equal: Vec<[u32; 2]>,
    /// The lesser number comes first, unless the two have the same words, which a condition parts.
    near: Vec<[u32; 2]>,
}

impl Graph {
    fn number(&mut self, id: &[u8], rank: &[u8]) -> Result<u32> {
        if let Some(&number) = self.numbers.get(id) {
            return Ok(number);
        }
        let number = u32::try_from(self.numbers.len()).ok();
        let number = number.filter(|&number| number < u32::MAX).ok_or_else(|| {
            Error::parameter("pairs", "more than 2^32 documents")
                .because("fewer; one task holds all documents that are in pairs")
        })?;
        self.numbers.insert(id.into(), number);
        self.ranks.push(rank.into());
        Ok(number)
    }

    /// Adds a pair. `ranks` are the places in the order of preference, as [`super::Found::ranks`];
    /// without any, the least identifier is preferred.
    pub fn add(
        &mut self,
        ids: [&[u8]; 2],
        ranks: [&[u8]; 2],
        (exact, same_words): (bool, bool),
    ) -> Result<()> {
        let one = self.number(ids[0], ranks[0])?;
        let mut pair = [one, self.number(ids[1], ranks[1])?];
        match exact {
            true => self.equal.push(pair),
            false => {
                pair.sort_unstable();
                pair.rotate_left(same_words.into());
                self.near.push(pair);
            }
        }
        Ok(())
    }

    /// Identifiers by number, and the place of each document in the order of preference.
    fn order(&self) -> (Vec<&[u8]>, Vec<u32>) {
        let mut ids: Vec<&[u8]> = vec![&[]; self.numbers.len()];
        for (id, &number) in &self.numbers {
            ids[number as usize] = id;
        }
        let mut order: Vec<u32> = (0..ids.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            let (rank_a, rank_b) = (&self.ranks[a], &self.ranks[b]);
            let ids = match rank_a.last() {
                Some(1) => ids[b].cmp(ids[a]),
                _ => ids[a].cmp(ids[b]),
            };
            rank_a.cmp(rank_b).then(ids)
        });
        let mut places = vec![0; ids.len()];
        for (place, &number) in order.iter().enumerate() {
            places[number as usize] = place as u32;
        }
        (ids, places)
    }

    /// The preferred document of each group, for each document. Its members are joined by `pairs`.
    fn preferred(pairs: &[&[[u32; 2]]], places: &[u32]) -> Vec<u32> {
        let groups = UnionFind::new(places.len() as u32);
        for &[a, b] in pairs.iter().copied().flatten() {
            groups.union(a, b);
        }
        let roots = groups.roots();
        let mut best: Vec<u32> = (0..places.len() as u32).collect();
        for (number, &root) in roots.iter().enumerate() {
            let best = &mut best[root as usize];
            if places[number] < places[*best as usize] {
                *best = number as u32;
            }
        }
        roots.iter().map(|&root| best[root as usize]).collect()
    }

    /// Calls `take` with each document and the preferred one of its cluster.
    pub fn clusters(&self, mut take: impl FnMut(&[u8], &[u8])) {
        let (ids, places) = self.order();
        let preferred = Self::preferred(&[&self.equal, &self.near], &places);
        for (id, &best) in ids.iter().zip(&preferred) {
            take(id, ids[best as usize]);
        }
    }

    /// Calls `take` with each identifier of several documents, which have the same words.
    pub fn copies(&self, mut take: impl FnMut(&[u8])) {
        // The document with the least identifier is listed with each of the others.
        let mut equal = self.equal.clone();
        equal.sort_unstable();
        let copies = equal.chunk_by(|a, b| a == b);
        let mut copies: Vec<u32> = copies
            .filter(|same| same.len() > 1 || same[0][0] == same[0][1])
            .map(|same| same[0][1])
            .collect();
        copies.sort_unstable();
        copies.dedup();
        let (ids, _) = self.order();
        for number in copies {
            take(ids[number as usize]);
        }
    }

    /// Calls `take` with each document that is removed, and with its survivor: the first kept
    /// document, in the order of preference, that reaches the threshold with it, and before all others
    /// one with the same words. The preferred one of several documents with the same words stands for all
    /// ([`crate::dedup::Rule::Star`]).
    pub fn removed(&self, mut take: impl FnMut(&[u8], &[u8])) {
        let (ids, places) = self.order();
        let preferred = Self::preferred(&[&self.equal], &places);
        let mut order = vec![0u32; ids.len()];
        for (number, &place) in places.iter().enumerate() {
            order[place as usize] = number as u32;
        }
        // Each pair by the later class, then those with the same words, then the earlier one.
        let mut pairs: Vec<[u32; 3]> = self
            .near
            .iter()
            .map(|pair| {
                let [a, b] = pair.map(|number| places[preferred[number as usize] as usize]);
                [a.max(b), u32::from(pair[0] < pair[1]), a.min(b)]
            })
            .collect();
        pairs.sort_unstable();
        let mut survivors: Vec<u32> = (0..ids.len() as u32).collect();
        for of_later in pairs.chunk_by(|a, b| a[0] == b[0]) {
            let later = order[of_later[0][0] as usize];
            let mut earlier = of_later.iter().map(|pair| order[pair[2] as usize]);
            let stays = |&number: &u32| survivors[number as usize] == number;
            if let Some(survivor) = earlier.find(stays) {
                survivors[later as usize] = survivor;
            }
        }
        for (number, &best) in preferred.iter().enumerate() {
            let survivor = survivors[best as usize];
            if survivor as usize != number {
                take(ids[number], ids[survivor as usize]);
            }
        }
    }
}
