//! An open object, read by ranges.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, ObjectStore};

use super::address::Address;
use super::failure::Failure;
use super::stores::{self, Coming};
use super::{LEAST_RESERVED, State};
use crate::metadata::Metadata;
use lookalike_base::state;

/// The first range of a reader. A reader that goes on asks for twice as much each time, up to
/// [`MOST`], because a reader of one document should not load megabytes, and a reader of the whole
/// object should not wait for each range.
const FIRST: u64 = 256 << 10;
const MOST: u64 = 4 << 20;

/// A range that is cut, as often as that, goes on where it was cut.
const MOST_CUTS: usize = 10;

/// Ranges on their way ahead of a reader.
const AHEAD: usize = 3;

/// Bytes that a reader of a command holds or waits for.
struct Held(u64, Arc<State>);

impl Held {
    /// Returns `None` if the bytes exceed the memory reserved for objects.
    fn within_reserve(bytes: u64) -> Option<Held> {
        let held = Held::anyway(bytes);
        let reserved = held.1.reserved.load(Ordering::Relaxed).max(LEAST_RESERVED);
        (held.1.held.load(Ordering::Relaxed) <= reserved).then_some(held)
    }

    fn anyway(bytes: u64) -> Held {
        let state = state::<State>();
        state.held.fetch_add(bytes, Ordering::Relaxed);
        Held(bytes, state)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.1.held.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// An object that is read.
pub struct Object {
    store: Arc<dyn ObjectStore>,
    key: Key,
    text: Arc<str>,
    metadata: Metadata,
    /// The place of the next byte for whoever reads without a place.
    pub at: AtomicU64,
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Object").field(&self.text).finish()
    }
}

/// The bytes of an object that one reader holds or has requested.
#[derive(Default)]
pub struct Window {
    begin: u64,
    bytes: Bytes,
    held: Option<Held>,
    ahead: VecDeque<Range>,
    /// The next length.
    step: u64,
    /// The end of the bytes that the reader wants, if it is known. Ranges ahead end there.
    until: Option<u64>,
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.begin + self.bytes.len() as u64;
        f.debug_tuple("Window").field(&(self.begin..end)).finish()
    }
}

/// A range on its way.
struct Range {
    begin: u64,
    end: u64,
    coming: Coming<io::Result<Bytes>>,
    held: Held,
}

impl Object {
    /// Opens an object.
    pub fn open(path: &Path) -> io::Result<Object> {
        let address = Address::of(path)?;
        Ok(Object {
            metadata: stores::last_metadata(path)?,
            store: stores::store(&address)?,
            key: address.path()?,
            text: address.text().into(),
            at: AtomicU64::new(0),
        })
    }

    /// Returns the metadata of the version that was opened. Every read is of this version.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Asks for the bytes from `begin` to `end`.
    fn ask(&self, begin: u64, end: u64, held: Held) -> io::Result<Range> {
        let (store, key) = (self.store.clone(), self.key.clone());
        let opened = self.metadata.clone();
        let coming = stores::start(async move {
            let etag = opened.etag().filter(|etag| !etag.starts_with("W/"));
            let (mut parts, mut at) = (Vec::new(), begin);
            for _ in 0..MOST_CUTS {
                let options = GetOptions {
                    range: Some(GetRange::Bounded(at..end)),
                    if_match: etag.map(String::from),
                    ..GetOptions::default()
                };
                let found = store.get_opts(&key, options).await;
                let found = found.map_err(|error| match stores::refused(&error) {
                    // It was there a moment ago.
                    error if error.kind() == io::ErrorKind::NotFound => {
                        Failure(stores::NO_OBJECT.into()).into()
                    }
                    error => error,
                })?;
                if found.meta.size != opened.size() || found.meta.e_tag.as_deref() != opened.etag()
                {
                    return Err(stores::changed().into());
                }
                let bytes = found.bytes().await;
                let bytes = bytes.map_err(|error| stores::refused(&error))?;
                at += bytes.len() as u64;
                if at == end && parts.is_empty() {
                    return Ok(bytes);
                }
                parts.extend_from_slice(&bytes);
                if at == end {
                    return Ok(parts.into());
                }
            }
            let (wanted, sent) = (end - begin, at - begin);
            let what = format!("{sent} bytes came for a range of {wanted}");
            Err(Failure(what).into())
        })?;
        Ok(Range {
            begin,
            end,
            coming,
            held,
        })
    }

    /// Reads at an offset: one byte or more, unless the object ends there.
    pub fn read_at(&self, window: &mut Window, out: &mut [u8], offset: u64) -> io::Result<usize> {
        let size = self.metadata.size();
        if out.is_empty() || offset >= size {
            return Ok(0);
        }
        if !window.has(offset) {
            self.fill(window, offset, out.len() as u64)?;
        }
        let from = (offset - window.begin) as usize;
        let n = out.len().min(window.bytes.len() - from);
        out[..n].copy_from_slice(&window.bytes[from..from + n]);
        Ok(n)
    }

    /// Moves the window to a place.
    fn fill(&self, window: &mut Window, offset: u64, wanted: u64) -> io::Result<()> {
        let goes_on = window.end() == offset && !window.bytes.is_empty();
        // The reader does not want ranges that it passed over.
        while let Some(range) = window.ahead.front()
            && !(range.begin..range.end).contains(&offset)
        {
            window.ahead.pop_front();
        }
        (window.bytes, window.held) = (Bytes::new(), None);
        let range = match window.ahead.pop_front() {
            Some(range) => range,
            None => {
                window.step = match goes_on {
                    true => (window.step * 2).min(MOST),
                    false => FIRST,
                };
                let length = match window.until.is_some_and(|until| offset >= until) {
                    true => FIRST,
                    false => window.step.max(wanted.min(MOST)),
                };
                let (length, held) = match Held::within_reserve(length) {
                    Some(held) => (length, held),
                    None => (FIRST, Held::anyway(FIRST)),
                };
                let end = (offset + length).min(self.metadata.size());
                self.ask(offset, end, held)?
            }
        };
        if goes_on {
            self.look_ahead(window, range.end)?;
        }
        window.begin = range.begin;
        window.bytes = range.coming.wait()??;
        window.held = Some(range.held);
        Ok(())
    }

    /// Asks for what comes after a place, as far as there is memory for it.
    fn look_ahead(&self, window: &mut Window, from: u64) -> io::Result<()> {
        let size = self.metadata.size();
        let until = window.until.map_or(size, |until| until.min(size));
        while window.ahead.len() < AHEAD {
            let begin = window.ahead.back().map_or(from, |range| range.end);
            let step = (window.step * 2).clamp(FIRST, MOST);
            let end = begin.saturating_add(step).min(until);
            if begin >= end {
                break;
            }
            let Some(held) = Held::within_reserve(end - begin) else {
                break;
            };
            window.step = step;
            let range = self.ask(begin, end, held)?;
            window.ahead.push_back(range);
        }
        Ok(())
    }
}

impl Window {
    /// One of a reader that wants nothing from this place on.
    pub fn until(end: u64) -> Window {
        Window {
            until: Some(end),
            ..Window::default()
        }
    }

    fn end(&self) -> u64 {
        self.begin + self.bytes.len() as u64
    }

    fn has(&self, offset: u64) -> bool {
        (self.begin..self.end()).contains(&offset)
    }
}
