//! Bit-packing of columns in frames of 128 numbers. The largest number of a frame decides the width
//! of all its numbers.
//!
//! zstd does not make the packed differences of sorted random keys any smaller
//! (`docs/experiments.md`).
//!
//! A frame is one byte with the width (0 to 64), then `ceil(count * width / 8)` bytes with the
//! numbers from the lowest bit up. The last frame holds the remaining numbers.

use lookalike_base::Key;

/// Numbers in a frame.
const FRAME: usize = 128;

/// The bytes in which a number of any width fits, whichever bit of the first byte it begins at.
const WORD: usize = 9;

/// Appends a packed column.
pub fn pack_u64(values: &[u64], out: &mut Vec<u8>) {
    pack(values, out);
}

/// [`pack_u64`] for a column of 32-bit numbers.
pub fn pack_u32(values: &[u32], out: &mut Vec<u8>) {
    pack(values, out);
}

fn pack<T: Copy + Into<u64>>(values: &[T], out: &mut Vec<u8>) {
    for frame in values.chunks(FRAME) {
        let all = frame.iter().fold(0, |bits, &v| bits | v.into());
        let width = u64::BITS - all.leading_zeros();
        out.push(width as u8);
        let end = out.len() + (frame.len() * width as usize).div_ceil(8);
        out.reserve(end + WORD - out.len());
        let (mut pending, mut bits) = (0u64, 0);
        for &value in frame {
            let value = value.into();
            pending |= value << bits;
            bits += width;
            if bits >= u64::BITS {
                out.extend_from_slice(&pending.to_le_bytes());
                bits -= u64::BITS;
                pending = value.unbounded_shr(width - bits);
            }
        }
        out.extend_from_slice(&pending.to_le_bytes());
        out.truncate(end);
    }
}

/// Reads `count` numbers of a packed column from the front of `bytes`. Returns the rest of `bytes`,
/// or `None` if it is too short or a width is impossible.
pub fn unpack_u64<'a>(bytes: &'a [u8], count: usize, out: &mut Vec<u64>) -> Option<&'a [u8]> {
    unpack(bytes, count, out, |value| value)
}

/// Like [`unpack_u64`], for a column of 32-bit numbers. Also returns `None` if a number does not
/// fit.
pub fn unpack_u32<'a>(bytes: &'a [u8], count: usize, out: &mut Vec<u32>) -> Option<&'a [u8]> {
    let mut all = 0;
    let rest = unpack(bytes, count, out, |value| {
        all |= value;
        value as u32
    });
    rest.filter(|_| all <= u64::from(u32::MAX))
}

fn unpack<'a, T>(
    mut bytes: &'a [u8],
    count: usize,
    out: &mut Vec<T>,
    mut number: impl FnMut(u64) -> T,
) -> Option<&'a [u8]> {
    let mut left = count;
    while left > 0 {
        let n = left.min(FRAME);
        let (&width, rest) = bytes.split_first()?;
        let width = usize::from(width);
        if width > 64 {
            return None;
        }
        let length = (n * width).div_ceil(8);
        let (packed, after) = rest.split_at_checked(length)?;
        if let Some(words) = rest.get(..length + WORD) {
            unpack_words(words, width, n, out, &mut number);
        } else {
            // At the end of the input, a word would go beyond the last byte. Use a padded copy.
            let mut words = [0; FRAME * 8 + WORD];
            words[..length].copy_from_slice(packed);
            unpack_words(&words, width, n, out, &mut number);
        }
        bytes = after;
        left -= n;
    }
    Some(bytes)
}

/// Unpacks the numbers of a frame that is followed by at least [`WORD`] more bytes.
fn unpack_words<T>(
    words: &[u8],
    width: usize,
    n: usize,
    out: &mut Vec<T>,
    number: &mut impl FnMut(u64) -> T,
) {
    let mask = u64::MAX.unbounded_shr(64 - width as u32);
    out.extend((0..n).map(|i| {
        let bit = i * width;
        let bytes = &words[bit / 8..bit / 8 + WORD];
        let mut word = u64::get_le(&bytes[..8]) >> (bit % 8);
        // Numbers of up to 57 bits end before the ninth byte.
        if width > 57 {
            word |= u64::from(bytes[8]).unbounded_shl(64 - bit as u32 % 8);
        }
        number(word & mask)
    }));
}

/// Skips `count` numbers of a packed column.
pub fn skip_packed(mut bytes: &[u8], count: usize) -> Option<&[u8]> {
    let mut left = count;
    while left > 0 {
        let n = left.min(FRAME);
        let (&width, rest) = bytes.split_first()?;
        let length = (n * usize::from(width)).div_ceil(8);
        bytes = rest.split_at_checked(length)?.1;
        left -= n;
    }
    Some(bytes)
}

/// Packs rising keys as differences, and unpacks them. Keeps its scratch space.
#[derive(Debug, Default)]
pub struct KeyColumn {
    low: Vec<u64>,
    high: Vec<u64>,
}

impl KeyColumn {
    /// Appends rising keys: the first key in full, then a packed column of differences (the first
    /// one is 0). Keys of 128 bits have one column for the low halves and one for the high halves.
    pub fn pack<K: Key>(&mut self, keys: impl Iterator<Item = K>, out: &mut Vec<u8>) {
        self.low.clear();
        self.high.clear();
        let mut before: Option<u128> = None;
        for key in keys {
            let key_bits = key.to_u128();
            let delta = key_bits
                - before.unwrap_or_else(|| {
                    key.put_le(out);
                    key_bits
                });
            before = Some(key_bits);
            self.low.push(delta as u64);
            if K::BITS > 64 {
                self.high.push((delta >> 64) as u64);
            }
        }
        pack_u64(&self.low, out);
        if K::BITS > 64 {
            pack_u64(&self.high, out);
        }
    }

    /// Reads `count` keys (at least 1) from the front of `bytes`. Returns the rest of `bytes`, or
    /// `None` if it is too short.
    pub fn unpack<'a, K: Key>(
        &mut self,
        bytes: &'a [u8],
        count: usize,
        out: &mut Vec<K>,
    ) -> Option<&'a [u8]> {
        let (first, rest) = bytes.split_at_checked(K::BYTES)?;
        self.low.clear();
        self.high.clear();
        let mut rest = unpack_u64(rest, count, &mut self.low)?;
        if K::BITS > 64 {
            rest = unpack_u64(rest, count, &mut self.high)?;
        } else {
            let mut key = K::get_le(first).to_u128() as u64;
            out.extend(self.low.iter().map(|&low| {
                key = key.wrapping_add(low);
                K::from_u128(key.into())
            }));
            return Some(rest);
        }
        let mut key = K::get_le(first).to_u128();
        out.extend(self.low.iter().zip(&self.high).map(|(&low, &high)| {
            key = key.wrapping_add(u128::from(high) << 64 | u128::from(low));
            K::from_u128(key)
        }));
        Some(rest)
    }

    /// Skips `count` keys.
    pub fn skip<K: Key>(bytes: &[u8], count: usize) -> Option<&[u8]> {
        let rest = skip_packed(bytes.get(K::BYTES..)?, count)?;
        if K::BITS > 64 {
            skip_packed(rest, count)
        } else {
            Some(rest)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn corners_round_trip() {
        for n in [0, 1, 127, 128, 129, 256, 300] {
            for value in [
                0,
                1,
                255,
                u64::from(u32::MAX),
                (1 << 57) - 1,
                1 << 57,
                u64::MAX,
            ] {
                let values = vec![value; n];
                let mut bytes = Vec::new();
                pack_u64(&values, &mut bytes);
                let mut back = Vec::new();
                assert_eq!(unpack_u64(&bytes, n, &mut back), Some(&[][..]));
                assert_eq!(back, values);
            }
        }
    }

    proptest! {
        #[test]
        fn columns_round_trip(values in prop::collection::vec(any::<u64>(), 0..600), shift in 0u32..64) {
            let values: Vec<u64> = values.into_iter().map(|v| v >> shift).collect();
            let mut bytes = Vec::new();
            pack_u64(&values, &mut bytes);
            bytes.push(7);
            let mut back = Vec::new();
            prop_assert_eq!(unpack_u64(&bytes, values.len(), &mut back), Some(&[7u8][..]));
            prop_assert_eq!(&back, &values);
            prop_assert_eq!(skip_packed(&bytes, values.len()), Some(&[7u8][..]));

            let narrow: Vec<u32> = values.iter().map(|&v| v as u32).collect();
            let mut bytes = Vec::new();
            pack_u32(&narrow, &mut bytes);
            bytes.push(7);
            let mut back = Vec::new();
            prop_assert_eq!(unpack_u32(&bytes, narrow.len(), &mut back), Some(&[7u8][..]));
            prop_assert_eq!(back, narrow);

            let mut keys: Vec<u128> = values.iter().map(|&v| u128::from(v) << 40).collect();
            keys.sort_unstable();
            if let Some(&first) = keys.first() {
                let (mut bytes, mut column) = (Vec::new(), KeyColumn::default());
                column.pack(keys.iter().copied(), &mut bytes);
                let mut back: Vec<u128> = Vec::new();
                prop_assert_eq!(column.unpack(&bytes, keys.len(), &mut back), Some(&[][..]));
                prop_assert_eq!((back[0], &back), (first, &keys));
                prop_assert_eq!(KeyColumn::skip::<u128>(&bytes, keys.len()), Some(&[][..]));
                let low: Vec<u64> = keys.iter().map(|&key| (key >> 40) as u64).collect();
                bytes.clear();
                column.pack(low.iter().copied(), &mut bytes);
                let mut back: Vec<u64> = Vec::new();
                prop_assert_eq!(column.unpack(&bytes, low.len(), &mut back), Some(&[][..]));
                prop_assert_eq!(&back, &low);
                prop_assert_eq!(KeyColumn::skip::<u64>(&bytes, low.len()), Some(&[][..]));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), n in 0usize..500) {
            let mut back = Vec::new();
            if unpack_u64(&bytes, n, &mut back).is_some() {
                prop_assert_eq!(back.len(), n);
                prop_assert!(skip_packed(&bytes, n).is_some());
            }
        }
    }
}
