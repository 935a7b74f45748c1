//! Compressed blocks of a part. Each block has its number of records, its compressed size, its
//! uncompressed size, a checksum, and one zstd frame.

use std::cell::RefCell;
use std::io;
use std::path::Path;

use lookalike_base::{Error, Result, room_for_block};
use lookalike_store::{PartReader, PartWriter, checksum};
use zstd::bulk::Decompressor;

/// Compresses blocks and appends them to a part.
pub(super) struct Packer {
    compressor: zstd::bulk::Compressor<'static>,
}

impl Packer {
    /// Creates a packer for the part `path`.
    pub(super) fn new(level: i32, path: &Path) -> Result<Packer> {
        let compressor = zstd::bulk::Compressor::new(level);
        Ok(Packer {
            compressor: compressor.map_err(Error::io("set up compression of", path))?,
        })
    }

    /// Appends a block with this number of records.
    pub(super) fn put(&mut self, out: &mut PartWriter, records: u32, raw: &[u8]) -> Result<()> {
        let packed = self.compressor.compress(raw);
        let packed = packed.map_err(Error::io("compress a block of", out.path()))?;
        let mut head = Vec::with_capacity(24);
        head.extend_from_slice(&records.to_le_bytes());
        head.extend_from_slice(&(packed.len() as u32).to_le_bytes());
        head.extend_from_slice(&(raw.len() as u64).to_le_bytes());
        head.extend_from_slice(&checksum(&packed).to_le_bytes());
        out.put(&head)?;
        out.put(&packed)
    }
}

/// Reads the next block, of at most `most` bytes, into `raw`. Returns its number of records.
pub(super) fn take(part: &mut PartReader, most: usize, raw: &mut Vec<u8>) -> Result<u32> {
    let records = part.take_u32()?;
    let length = part.take_u32()? as usize;
    let bytes = part.take_u64()?;
    let stated = part.take_u64()?;
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    if bytes > most {
        let found = format!("{records} records in {bytes} bytes");
        return Err(part.corrupt("block", format!("at most {most} bytes"), found));
    }
    room_for_block(bytes.max(length) as u64, || {
        format!("a block of {bytes} bytes in {}", part.path().display())
    })?;
    let packed = part.take(length)?;
    let found = checksum(packed);
    if found != stated {
        let (e, f) = (format!("{stated:016x}"), format!("{found:016x}"));
        return Err(part.corrupt("checksum of a block", e, f));
    }
    match decompress(packed, bytes, raw) {
        Ok(_) if raw.len() == bytes => Ok(records),
        Ok(unpacked) => Err(part.corrupt("bytes of a block", bytes, unpacked)),
        Err(e) => Err(part.corrupt("block", "zstd", e)),
    }
}

/// Decompresses a zstd frame of at most `most` bytes into `raw`. Returns its bytes. A thread keeps a
/// decompressor: its tables take as long to set up as a small block to decompress.
pub(crate) fn decompress(packed: &[u8], most: usize, raw: &mut Vec<u8>) -> io::Result<usize> {
    thread_local! {
        static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    }
    // No more than the frame says: the number of bytes that a file states may be damaged.
    let bound = Decompressor::upper_bound(packed);
    raw.clear();
    raw.reserve_exact(bound.map_or(most, |bound| bound.min(most)));
    DECOMPRESSOR.with_borrow_mut(|held| {
        let decompressor = match held {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new()?),
        };
        decompressor.decompress_to_buffer(packed, raw)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_base::byte_size::ByteSize;
    use lookalike_base::command::Command;
    use lookalike_base::memory;
    use lookalike_store::{Header, Kind};

    /// A title of 250 MB took four times as much, whatever `--memory` was.
    #[test]
    fn a_block_needs_room_in_the_budget() {
        let place = tempfile::tempdir().unwrap();
        let header = Header::new(Kind::Documents, 0, 0, 0);
        let mut out = PartWriter::create(place.path(), &header).unwrap();
        let path = out.path().to_path_buf();
        let mut packer = Packer::new(3, &path).unwrap();
        packer.put(&mut out, 1, &vec![b'A'; 3 << 20]).unwrap();
        let info = out.finish(1, 0, 0).unwrap();
        let path = place.path().join(&info.name);
        let read = |mib| {
            let read = || {
                memory::begin(ByteSize::mib(mib));
                let mut part = PartReader::open(&path, Kind::Documents, None, None).unwrap();
                take(&mut part, 4 << 20, &mut Vec::new())
            };
            Command::default().run(read)
        };
        assert_eq!(read(24).unwrap(), 1);
        let error = read(23).unwrap_err().to_string();
        assert!(
            error.contains("needs at least 24MiB") && error.contains(".docs"),
            "{error}"
        );
    }
}
