//! The rows that a task leaves for others: one file for each task.
//!
//! # Format
//! A first line; the rows by place, each with its length as a number of 7 bits a byte; the facts
//! about the task, as JSON; for each place the offset, the length and the xxh3 of its rows; and
//! [`FOOTER`]. So a task that needs one place of a file reads its end and one range.

use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::distributed::{self, Row};
use lookalike_base::{Context, Error, Result, Stop, byte_size::ByteSize};
use lookalike_engine::collection::SegmentEntry;
use lookalike_source::{FromPlace, Stoppable};
use lookalike_store::{Aside, File, check_sum, disk, received, received::is_part};

use super::exchange::Leaving;
use super::{LEAST_BYTES, STAGE};

/// The first line.
const HEAD: &[u8] = b"lookalike-rows 1\n";
/// Bytes of the entry of a place.
const ENTRY: usize = 24;
/// Bytes at the end: where the facts begin, their length, the digest of the plan, the numbers of
/// the task and of places, and the xxh3 of the facts and everything after them.
const FOOTER: usize = 8 + 8 + 16 + 8 + 4 + 4 + 8;
/// Bytes that are read at once.
const READ: usize = 256 << 10;
/// Bytes of facts that are read at once with the data after them.
const FACTS: u64 = 16 << 10;
/// The most bytes of the facts, for memory: some hundred for each segment of a task.
const MOST_FACTS: u64 = 16 << 20;
/// The most bytes of a row. Memory may have room for less.
const MOST_ROW: u64 = 1 << 30;

/// The plan and task to which rows belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The digest of the plan.
    pub plan: u128,
    pub task: u64,
    pub places: u32,
}

/// The facts that a task of the first step leaves.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Facts {
    /// Documents of the share.
    pub documents: u64,
    /// Fingerprints of the largest of them.
    #[serde(default)]
    pub largest: u64,
    /// Its segments. Their parts are in the exchange; if only pairs are wanted, only the rejects.
    pub segments: Vec<SegmentEntry>,
}

impl Facts {
    /// Whether the parts are called like their kinds, and the counts add up.
    pub fn fits(&self) -> bool {
        let mut parts = self.segments.iter().flat_map(SegmentEntry::parts);
        let documents = self.segments.iter().map(|segment| segment.stats.documents);
        parts.all(|(kind, part)| is_part(&part.name, Some(kind)))
            && (self.segments.is_empty() || documents.sum::<u64>() == self.documents)
    }
}

/// Collects the rows of a task.
pub(super) struct Writer {
    aside: Aside,
    /// Place, offset and length of each row.
    rows: Vec<(u32, u64, u32)>,
    places: u32,
}

impl Writer {
    /// Rows beyond `memory` go to a file in `scratch`.
    pub fn new(places: u32, scratch: &Path, memory: u64) -> Writer {
        Writer {
            aside: Aside::within(scratch, memory),
            rows: Vec::new(),
            places,
        }
    }

    /// Takes rows away.
    pub fn take(&mut self, rows: &mut Vec<Row>) -> Result<()> {
        for Row { place, blob } in rows.drain(..) {
            if place >= self.places || blob.len() as u64 > MOST_ROW {
                let found = format!("place {place}, {} bytes", blob.len());
                let expected = format!("a place below {}, at most {MOST_ROW} bytes", self.places);
                return Err(Error::corrupt("(a row)", "row").expected(expected, found));
            }
            let at = self.aside.put(&blob)?;
            self.rows.push((place, at, blob.len() as u32));
        }
        Ok(())
    }

    /// Bytes of the rows.
    pub fn bytes(&self) -> u64 {
        self.aside.length()
    }

    /// Writes the file of the task.
    pub fn finish(
        mut self,
        path: &Path,
        origin: Origin,
        facts: &impl Serialize,
        stop: &Stop,
    ) -> Result<()> {
        // The rows of a place stay in their order.
        self.rows.sort_by_key(|(place, ..)| *place);
        let mut out = Leaving::create(path)?;
        out.put(HEAD)?;
        let mut at = HEAD.len() as u64;
        let mut index = Vec::with_capacity(self.places as usize * ENTRY);
        let (mut rows, mut blob, mut head) = (self.rows.iter().peekable(), Vec::new(), Vec::new());
        for place in 0..self.places {
            let (begin, mut hash) = (at, Xxh3::new());
            while let Some(&(_, offset, length)) = rows.next_if(|(of, ..)| *of == place) {
                stop.check(STAGE)?;
                blob.resize(length as usize, 0);
                self.aside.get(offset, &mut blob)?;
                head.clear();
                distributed::put(&mut head, length.into());
                for bytes in [&head, &blob] {
                    hash.update(bytes);
                    out.put(bytes)?;
                    at += bytes.len() as u64;
                }
            }
            for number in [begin, at - begin, hash.digest()] {
                index.extend_from_slice(&number.to_le_bytes());
            }
        }
        let mut end = lookalike_store::to_json(facts, path)?;
        let facts = end.len() as u64;
        end.extend_from_slice(&index);
        let Origin { plan, task, places } = origin;
        let plan = [plan as u64, (plan >> 64) as u64];
        for number in [at, facts, plan[0], plan[1], task, places.into()] {
            end.extend_from_slice(&number.to_le_bytes());
        }
        let sum = xxh3_64(&end);
        end.extend_from_slice(&sum.to_le_bytes());
        out.put(&end)?;
        out.finish()
    }
}

/// The file of a task that is done.
pub(super) struct Rows {
    pub path: PathBuf,
    file: File,
    /// Facts, and the data after them.
    end: Vec<u8>,
    facts: usize,
    places: u32,
}

impl Rows {
    /// Opens it, and checks that it is the one of this task of this plan.
    pub fn open(path: &Path, origin: Origin) -> Result<Rows> {
        let corrupt = |expected: String, found: String| {
            Error::corrupt(path, "rows of a task").expected(expected, found)
        };
        let opened = disk::open(path)?;
        let size = opened.metadata().map_err(Error::io("inspect", path))?;
        let size = size.size();
        let least = (HEAD.len() + FOOTER) as u64;
        if size < least {
            return Err(corrupt(format!("at least {least} bytes"), size.to_string()));
        }
        let index = u64::from(origin.places) * ENTRY as u64 + FOOTER as u64;
        // One request of a store, unless the facts are long.
        let mut end = vec![0; size.min(index + FACTS) as usize];
        let end_at = size - end.len() as u64;
        let read = |out: &mut [u8], at: u64| {
            opened
                .read_exact_at(out, at)
                .map_err(|error| match error.kind() {
                    ErrorKind::UnexpectedEof => corrupt(format!("{size} bytes"), "fewer".into()),
                    _ => Error::io("read", path)(error),
                })
        };
        read(&mut end, end_at)?;
        let footer = &end[end.len() - FOOTER..];
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|n| footer[at + n]));
        let (begin, facts) = (number(0), number(8));
        let found = Origin {
            plan: u128::from_le_bytes(std::array::from_fn(|n| footer[16 + n])),
            task: number(32),
            places: number(40) as u32,
        };
        if facts > MOST_FACTS {
            let most = format!("facts of at most {MOST_FACTS} bytes");
            return Err(corrupt(most, format!("{facts} bytes")));
        }
        if found != origin {
            let what = "rows of the same plan, of the task by which the file is named";
            let found = format!("{} of plan {:032x}", found.task, found.plan);
            return Err(corrupt(format!("{what}: {}", origin.task), found));
        }
        let length = facts.saturating_add(index);
        if begin.saturating_add(length) != size {
            return Err(corrupt("places up to the end".into(), begin.to_string()));
        }
        match begin.checked_sub(end_at) {
            Some(before) => drop(end.drain(..before as usize)),
            None => {
                end = vec![0; length as usize];
                read(&mut end, begin)?;
            }
        }
        let (before, sum) = end.split_at(end.len() - 8);
        let stated = u64::from_le_bytes(std::array::from_fn(|n| sum[n]));
        check_sum(stated, xxh3_64(before), |stated, found| {
            corrupt(format!("xxh3 {stated}"), found)
        })?;
        let rows = Rows {
            path: path.into(),
            file: opened,
            end,
            facts: facts as usize,
            places: origin.places,
        };
        let outside = |&place: &u32| {
            let (from, length, _) = rows.entry(place);
            from < HEAD.len() as u64 || from.saturating_add(length) > begin
        };
        match (0..origin.places).find(outside) {
            None => Ok(rows),
            Some(place) => {
                let found = format!("{:?}", rows.entry(place));
                Err(corrupt(format!("place {place} before byte {begin}"), found))
            }
        }
    }

    /// The facts about the task.
    pub fn facts<F: DeserializeOwned>(&self) -> Result<F> {
        let corrupt = |found: String| {
            Error::corrupt(&self.path, "facts of a task").expected("JSON of its format", found)
        };
        let facts = &self.end[..self.facts];
        let checked = serde_json::from_slice::<received::Counts>(facts);
        let read = checked.and_then(|_| serde_json::from_slice(facts));
        read.map_err(|error| corrupt(error.to_string()))
    }

    /// Bytes of the facts.
    pub fn facts_bytes(&self) -> u64 {
        self.facts as u64
    }

    /// Offset, length and checksum of the rows of a place.
    fn entry(&self, place: u32) -> (u64, u64, u64) {
        let at = self.facts + place as usize * ENTRY;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|n| self.end[at + n]));
        (number(at), number(at + 8), number(at + 16))
    }

    /// Bytes of the rows of a place.
    pub fn bytes(&self, place: u32) -> u64 {
        self.entry(place).1
    }

    /// Passes the rows of a place to `take`. They are checked only at the end: results made from
    /// them must not be used if this check fails. A row that the budget has no room for is not
    /// read.
    pub fn each(
        &self,
        place: u32,
        context: &Context<'_>,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        if place >= self.places {
            return Ok(());
        }
        let (begin, length, sum) = self.entry(place);
        let file = Arc::new(self.file.until(Some(begin.saturating_add(length))));
        let inner = FromPlace { file, at: begin }.take(length);
        let stop = context.stop.clone();
        let mut rows =
            BufReader::with_capacity(READ.min(length as usize), Stoppable { inner, stop });
        let cut = || {
            Error::corrupt(&self.path, "rows of a task").expected("a whole row", "one that is cut")
        };
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::UnexpectedEof => cut(),
            _ => match context.stop.check(STAGE) {
                Ok(()) => Error::io("read", &self.path)(error),
                Err(stopped) => stopped,
            },
        };
        let (mut left, mut hash, mut blob) = (length, Xxh3::new(), Vec::new());
        while left > 0 {
            context.stop.check(STAGE)?;
            let (mut row, mut shift, mut byte) = (0u64, 0, [128]);
            while byte[0] >= 128 {
                if shift > 35 {
                    return Err(cut());
                }
                rows.read_exact(&mut byte).map_err(failed)?;
                hash.update(&byte);
                left -= 1;
                row |= u64::from(byte[0] & 127) << shift;
                shift += 7;
            }
            let rest = left.checked_sub(row).filter(|_| row <= MOST_ROW);
            left = rest.ok_or_else(cut)?;
            context.budget.require(LEAST_BYTES + 2 * row, || {
                format!("a row of {} in {}", ByteSize(row), self.path.display())
            })?;
            blob.clear();
            blob.reserve_exact(row as usize);
            blob.resize(row as usize, 0);
            rows.read_exact(&mut blob).map_err(failed)?;
            hash.update(&blob);
            take(&blob)?;
        }
        let found = hash.digest();
        check_sum(sum, found, |expected, found| {
            let what = "checksum of the rows of a place";
            Error::corrupt(&self.path, what).expected(expected, found)
        })
    }
}
