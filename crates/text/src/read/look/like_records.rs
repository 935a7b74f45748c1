//! Recognises a file that is read as one document but looks like many records.
//!
//! A file of records has one element (`<mediawiki>`, `<rss><channel>`) with many children of one
//! name. Documents have the same form, with paragraphs for records, so the names of whole documents
//! and of their parts are exceptions.

use memchr::{memchr, memmem};

use super::sniff::looks_like_markup;
use super::tags::{Kind, Tags, local};
use crate::read::ground::bytes::{is_one_of, trim_front};
use lookalike_base::words;

/// How many first bytes of a file are searched for records.
const LOOK: usize = 64 << 10;

/// The mean bytes of records that have neither elements nor an empty tag. Shorter ones are fields
/// of one record: the names of a thing in many languages have about 60.
const LEAST_SIMPLE: usize = 80;

/// Elements that begin a whole document, whose elements of one name are not records.
const DOCUMENTS: [&str; 14] =
    words("html svg math book article nitf tei tei.2 document wml smil stylesheet schema rfc");

/// Parts of a document.
const PARTS: [&str; 54] = words(
    "p div span table tr td ul ol li dl dt dd h1 h2 h3 h4 h5 h6 a b i br hr img pre font center \
     blockquote form script style meta link body section sect sect1 sect2 sec chapter part \
     appendix para refentry refsect1 simplesect front back path g rect line lg l",
);

/// The name and the number of the elements that look like the records of a file: the outermost ones
/// that occur several times, side by side, if they take up a fifth of the content at their depth in
/// the first bytes. `None` if the file does not begin like markup, or looks like one document.
pub(crate) fn like_records(bytes: &[u8]) -> Option<(String, usize)> {
    let bytes = trim_front(bytes);
    let bytes = match bytes.starts_with(b"-----BEGIN PRIVACY-ENHANCED MESSAGE") {
        // EDGAR put its filings into a form of mail.
        true => &bytes[memchr(b'<', &bytes[..bytes.len().min(4096)])?..],
        false => bytes,
    };
    if !looks_like_markup(bytes) {
        return None;
    }
    let head = &bytes[..bytes.len().min(LOOK)];
    for level in levels(head)? {
        // A header beside few and short records may be longer than they are.
        let total: usize = level.iter().map(|named| named.bytes).sum();
        let several = level.iter().filter(|named| named.count > 1);
        let several = several.max_by_key(|named| named.bytes);
        let most = several
            .filter(|named| named.bytes * 5 > total)
            .or_else(|| level.iter().max_by_key(|named| named.bytes))?;
        // A long record may be the only one in the first bytes.
        let all = |bracket: &[u8]| {
            let tag = [bracket, most.name].concat();
            let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
            let tags = memmem::find_iter(bytes, &tag);
            tags.filter(|at| bytes.get(at + tag.len()).is_some_and(ends))
                .count()
        };
        let count = match most.count {
            1 if all(b"</") < 2 => 1,
            count => count.max(all(b"<")),
        };
        if count < 2 {
            continue;
        }
        let field = most.simple && most.bytes < LEAST_SIMPLE * most.count;
        let whole = !field && !is_one_of(local(most.name), &PARTS);
        return whole.then(|| (String::from_utf8_lossy(most.name).into_owned(), count));
    }
    None
}

/// The elements of one name at one depth.
struct Named<'a> {
    name: &'a [u8],
    count: usize,
    bytes: usize,
    /// Whether all have content, and no elements in it.
    simple: bool,
}

/// The elements at the three outermost depths; `None` if they form one document.
fn levels(head: &[u8]) -> Option<[Vec<Named<'_>>; 3]> {
    let mut levels: [Vec<Named<'_>>; 3] = Default::default();
    let mut count = |depth: usize, name, bytes, simple| {
        let Some(level) = levels.get_mut(depth) else {
            return;
        };
        if let Some(named) = level.iter_mut().find(|named| named.name == name) {
            named.count += 1;
            named.bytes += bytes;
            named.simple &= simple;
        } else if level.len() < 100 {
            level.push(Named {
                name,
                count: 1,
                bytes,
                simple,
            });
        }
    };
    // The name and the start of each open element, and whether there are elements in it.
    let mut open: Vec<(&[u8], usize, bool)> = Vec::new();
    for tag in Tags::of(head) {
        if tag.kind != Kind::Close
            && let Some((.., simple)) = open.last_mut()
        {
            *simple = false;
        }
        match tag.kind {
            Kind::Open if open.is_empty() && is_one_of(local(tag.name), &DOCUMENTS) => return None,
            Kind::Open => open.push((tag.name, tag.start, true)),
            Kind::Empty => count(open.len(), tag.name, tag.end - tag.start, false),
            // A closing tag also closes the elements that are open inside, as in SGML.
            Kind::Close => {
                let last = open.len().saturating_sub(100);
                let place = open[last..].iter().rposition(|open| open.0 == tag.name);
                if let Some(place) = place.map(|place| place + last) {
                    let (_, start, simple) = open[place];
                    open.truncate(place);
                    count(place, tag.name, tag.end - start, simple);
                }
            }
        }
    }
    for (depth, (name, start, simple)) in open.into_iter().enumerate() {
        count(depth, name, head.len() - start, simple);
    }
    Some(levels)
}
