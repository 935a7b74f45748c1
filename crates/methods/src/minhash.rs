//! `minhash`: bands of min-hashes; documents with one common band match. The most widely used
//! method.
//!
//! # Source
//! Min-wise independent permutations: Broder 1997. Bands of rows: locality sensitive hashing (Indyk
//! & Motwani 1998; Gionis, Indyk & Motwani 1999, in Kolcz & Chowdhury 2008, section 4). The method
//! finds two documents of resemblance r with probability 1 - (1 - r^rows)^bands
//! (`lookalike_lab::formulas`). One permutation: Li, Owen & Zhang 2012.
//!
//! # Algorithm
//! Each of bands x rows hash functions takes the minimum over the document's shingles; the `rows`
//! minima of a band form one feature. With `one-permutation=true`, a single hash function assigns
//! every shingle to one of bands x rows bins, and the minimum of each bin replaces a hash function.
//! An empty bin copies the value of the next bin that is not empty, marked with the distance
//! (densification by rotation, Shrivastava & Li 2014).
//!
//! # What one permutation does to short documents
//! A document with fewer shingles than bins leaves bins empty, and neighbouring empty bins copy the
//! same value. The rows of a band are neighbours, so a single shared shingle can fill a whole band
//! in both documents, where otherwise eight minima would have to agree. This finds pairs that have
//! little in common: with 128 bins and sets of resemblance 0.3, it finds 77 of 100 pairs of sets of
//! 20 shingles, where 128 functions find none; 20 of 100 for 50 shingles; 3 of 100 for 100
//! shingles; and none for 200 or more (300 pairs each). This is the algorithm of the paper, whose
//! documents have thousands of shingles. A run with this option prints a warning.
//!
//! # Where we depart from the usual
//! Pairs are all documents with a common band. Like the programs in use, the method does not verify
//! them, so their resemblance can be anything. With 16 bands of 8 rows, it finds half of all pairs
//! of resemblance 0.71 and 99.4 % of all pairs of resemblance 0.85.

use super::sketch::{SEED, family, minima, seed};
use super::super_shingles::together;
use super::{Entry, Method, join_by_shared, mix};
use lookalike_base::refuse;

pub(super) const METHOD: Entry = Entry {
    name: "minhash",
    about: "Min-hashes in bands (LSH); one band in common makes a pair",
    paper: "Broder 1997; Gionis, Indyk & Motwani 1999, in Kolcz & Chowdhury 2008, section 4",
    parameters: &[
        "size=5: words in a shingle",
        "bands=16: number of bands, one of which must be equal; bands x rows is at most 4096",
        "rows=8: min-hashes per band",
        "one-permutation=false: true: one hash function and bins instead of bands x rows functions; among \
             documents with fewer shingles than bins it finds many pairs that have little \
             in common",
        SEED,
    ],
    build: |values| {
        let bands = values.number("bands", 1..=1000)?;
        let rows = values.number("rows", 1..=1000)?;
        let size = values.number("size", 1..=1000)? as usize;
        let one = values.flag("one-permutation")?;
        let family = family(bands * rows, seed(values))?;
        let warning = one.then(|| {
            format!(
                "documents with fewer shingles than bins ({}) are paired with documents that \
                 have little in common with them; check the pairs, or leave out \
                 one-permutation=true",
                family.len()
            )
        });
        let plain = Method::plain(join_by_shared(1), move |document, keys| {
            let fingerprints = document.shingles(size);
            let least = match one {
                true => bins(&family, fingerprints),
                false => least(&family, fingerprints),
            };
            self::bands(&least, rows as usize, keys);
        });
        Ok(Method { warning, ..plain })
    },
};

/// Bands of min-hashes over fingerprints, as the method's; candidates for pairs are documents with
/// a common band.
#[derive(Clone, Debug)]
pub struct MinHashes {
    pub(super) family: Vec<u64>,
    pub(super) rows: usize,
}

impl MinHashes {
    /// Refuses more hash functions than the methods may have.
    pub fn new(bands: u32, rows: u32, seed: u64) -> lookalike_base::Result<Self> {
        let family = match u64::from(bands) * u64::from(rows) {
            0 => Err("at least one band of one row".into()),
            number => family(number, Ok(seed)),
        };
        let rows = rows as usize;
        match family {
            Ok(family) => Ok(MinHashes { family, rows }),
            Err(limit) => refuse("bands", format!("{bands} bands of {rows} rows"), limit),
        }
    }

    /// Appends the bands of a set, and leaves the set sorted.
    pub fn keys(&self, fingerprints: &mut Vec<u64>, keys: &mut Vec<u64>) {
        bands(&least(&self.family, fingerprints), self.rows, keys);
    }
}

/// The minimum of each function over the fingerprints.
fn least(family: &[u64], fingerprints: &mut Vec<u64>) -> Vec<u64> {
    let mut least = Vec::with_capacity(family.len());
    minima(family, fingerprints, |_, minimum| least.push(minimum));
    least
}

/// Appends a hash of each band of minima, and of its position.
fn bands(least: &[u64], rows: usize, keys: &mut Vec<u64>) {
    let bands = least.chunks_exact(rows).enumerate();
    keys.extend(bands.map(|(i, rows)| mix(together(rows).wrapping_add(mix(i as u64)))));
}

/// The minimum of each bin; empty bins are filled from the bins after them.
fn bins(family: &[u64], fingerprints: &[u64]) -> Vec<u64> {
    let Some(function) = family.first().filter(|_| !fingerprints.is_empty()) else {
        return Vec::new();
    };
    let count = family.len() as u128;
    let mut bins = vec![None; family.len()];
    for fingerprint in fingerprints {
        let hash = mix(fingerprint ^ function);
        let bin = ((u128::from(hash) * count) >> 64) as usize;
        let slot = bins[bin].get_or_insert(hash);
        *slot = hash.min(*slot);
    }
    // At least one bin is not empty.
    let filled = (0..bins.len()).filter_map(|bin| {
        (0..bins.len()).find_map(|distance| {
            let hash = bins[(bin + distance) % bins.len()]?;
            Some(hash.wrapping_add(mix(distance as u64)))
        })
    });
    filled.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 300 pairs of sets of this many shingles with `shared` in common, the number with a common
    /// band.
    fn found(shingles: u64, shared: u64, one: bool) -> usize {
        let family = family(128, Ok(0)).unwrap();
        let bands = |set: &mut Vec<u64>| {
            let least = match one {
                true => bins(&family, set),
                false => least(&family, set),
            };
            let bands: Vec<Vec<u64>> = least.chunks_exact(8).map(<[u64]>::to_vec).collect();
            bands
        };
        let alike = |pair: u64| {
            let set = |own: u64| -> Vec<u64> {
                let both = (0..shared).map(|n| mix(mix(pair) ^ n));
                both.chain((shared..shingles).map(|n| mix(mix(pair) ^ own ^ n)))
                    .collect()
            };
            let (a, b) = (bands(&mut set(1 << 32)), bands(&mut set(1 << 33)));
            a.iter().zip(&b).any(|(a, b)| a == b)
        };
        (0..300).filter(|&pair| alike(pair)).count()
    }

    #[test]
    fn one_permutation_finds_short_documents_with_little_in_common() {
        // 9 of 20 and 92 of 200 give a resemblance of 0.3: 128 functions find one such pair in a
        // thousand.
        assert!(found(20, 9, false) <= 3);
        assert!(found(20, 9, true) > 150);
        assert!(found(200, 92, false) <= 3);
        assert!(found(200, 92, true) <= 3);
    }
}
