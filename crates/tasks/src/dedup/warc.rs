//! The records of a WARC file that belong to a removed one: its request and its metadata.
//!
//! # Source
//! ISO 28500, section 5: `WARC-Record-ID`, `WARC-Concurrent-To` and `WARC-Refers-To` link the
//! records of one capture.

use std::collections::HashSet;

use lookalike_base::Result;
use lookalike_base::progress::Context;
use lookalike_rewrite::again::Again;
use lookalike_text::read::{InputFile, ReadConfig, RecordKind, warc_links};

/// A request or metadata record, and the records that it is linked to.
struct Companion {
    offset: u64,
    length: u64,
    links: Vec<u64>,
}

/// Places of the requests and metadata of the removed records of a file, in order. `is_removed`
/// says whether the document at an offset is removed; it is called with rising offsets.
///
/// Reads the file once. Memory: about 50 bytes for each request or metadata record, and eight for
/// each link of a removed one.
pub(super) fn companions(
    input: &InputFile,
    config: &ReadConfig,
    mut is_removed: impl FnMut(u64) -> Result<bool>,
    context: &Context<'_>,
) -> Result<Vec<(u64, u64)>> {
    let mut records = Again::open(input, 0, config, context.stop);
    let mut removed: HashSet<u64> = HashSet::new();
    let mut companions = Vec::new();
    while records.advance()? {
        let Some((record, bytes)) = records.record() else {
            continue;
        };
        if record.kind != RecordKind::Warc {
            continue;
        }
        let (kind, links) = warc_links(bytes);
        if kind.eq_ignore_ascii_case(b"request") || kind.eq_ignore_ascii_case(b"metadata") {
            companions.push(Companion {
                offset: record.source.offset,
                length: record.source.length,
                links,
            });
        } else if is_removed(record.source.offset)? {
            removed.extend(links);
        }
    }
    companions.retain(|companion| companion.links.iter().any(|link| removed.contains(link)));
    Ok(companions
        .into_iter()
        .map(|companion| (companion.offset, companion.length))
        .collect())
}
