//! Compresses as compress(1) does, for copies of `.Z` files.
//!
//! # Source
//! Welch 1984, as compress 4.0 writes it ([`lookalike_text::read`] reads it). The table is never
//! emptied, as with `compress -C`.

use std::collections::HashMap;
use std::io::{self, Write};

const FIRST_BITS: u32 = 9;
const MOST_BITS: u32 = 16;
/// Magic number, and: block mode, codes of at most 16 bits.
const HEADER: [u8; 3] = [0x1f, 0x9d, 0x80 | MOST_BITS as u8];
/// The first code after the bytes and the code that empties the table.
const FIRST_FREE: u32 = 257;

pub(super) struct Encoder<W> {
    out: W,
    /// By code of a string and the byte after it.
    table: HashMap<(u32, u8), u32>,
    free: u32,
    /// The code of the string that was read so far.
    string: Option<u32>,
    width: u32,
    bits: u64,
    bit_count: u32,
    /// Bits written since the width last changed.
    group_bits: u32,
}

impl<W: Write> Encoder<W> {
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&HEADER)?;
        Ok(Encoder {
            out,
            table: HashMap::new(),
            free: FIRST_FREE,
            string: None,
            width: FIRST_BITS,
            bits: 0,
            bit_count: 0,
            group_bits: 0,
        })
    }

    fn put(&mut self, value: u32, width: u32) -> io::Result<()> {
        self.bits |= u64::from(value) << self.bit_count;
        self.bit_count += width;
        while self.bit_count >= 8 {
            self.out.write_all(&[self.bits as u8])?;
            self.bits >>= 8;
            self.bit_count -= 8;
        }
        Ok(())
    }

    fn code(&mut self, code: u32) -> io::Result<()> {
        self.put(code, self.width)?;
        self.group_bits += self.width;
        if self.width < MOST_BITS && self.free >= 1 << self.width {
            // A group has eight codes.
            let group = self.width * 8;
            let mut padding = (group - self.group_bits % group) % group;
            while padding > 0 {
                let width = padding.min(16);
                self.put(0, width)?;
                padding -= width;
            }
            self.width += 1;
            self.group_bits = 0;
        }
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<W> {
        if let Some(string) = self.string.take() {
            self.code(string)?;
        }
        if self.bit_count > 0 {
            self.put(0, 8 - self.bit_count)?;
        }
        Ok(self.out)
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            let Some(string) = self.string else {
                self.string = Some(byte.into());
                continue;
            };
            if let Some(&longer) = self.table.get(&(string, byte)) {
                self.string = Some(longer);
                continue;
            }
            self.code(string)?;
            if self.free < 1 << MOST_BITS {
                self.table.insert((string, byte), self.free);
                self.free += 1;
            }
            self.string = Some(byte.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use lookalike_source::Decompressed;

    #[test]
    fn what_is_written_can_be_read() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.Z");
        let mut random = 1u64;
        let mut texts: Vec<Vec<u8>> = vec![b"".to_vec(), b"a".to_vec(), b"aaaaaaaaaa".to_vec()];
        for (length, alphabet) in [(600, 2), (5_000, 200), (70_000, 256), (900_000, 20)] {
            texts.push(
                (0..length)
                    .map(|_| {
                        random = random
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1);
                        ((random >> 33) % alphabet) as u8
                    })
                    .collect(),
            );
        }
        for text in texts {
            let mut encoder = Encoder::new(Vec::new()).unwrap();
            encoder.write_all(&text).unwrap();
            std::fs::write(&path, encoder.finish().unwrap()).unwrap();
            let mut back = Vec::new();
            let mut decoder = Decompressed::open(&path).unwrap();
            decoder.read_to_end(&mut back).unwrap();
            assert!(back == text, "{} bytes", text.len());
        }
    }
}
