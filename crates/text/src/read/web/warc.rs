//! Interprets the records of web archives.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use super::archive::{ArcLine, Fields, WarcHead, field_after_line};
use super::http::{self, Body, Head};
use crate::read::ground::bytes::{first_line, is_one_of, text_of, unbracket};
use crate::read::ground::config::ReadConfig;
use crate::read::ground::outcome::{Interpreter, Outcome, head_of, refused};
use crate::read::ground::record::{Notice, RawDocument};
use lookalike_base::words;
use lookalike_source::Reason;

impl<'a> WarcHead<'a> {
    fn docno(&self) -> Option<Cow<'a, str>> {
        let own = |id: &'a [u8]| id.strip_prefix(b"urn:uuid:").unwrap_or(id);
        let id = self.id().map(own).filter(|id| !id.is_empty());
        self.trec_id.or(id).or(self.target).map(text_of)
    }

    /// The value of a field of the HTTP header in the record.
    pub fn http(&self, bytes: &[u8], name: &str) -> Option<String> {
        let block = bytes.get(self.block..)?;
        field_after_line(&block[http::final_head(block)..], name)
    }

    /// The status of the HTTP response in the record and its reason, such as `404 Not Found`. Returns
    /// `None` if the status is 2xx, or the record contains no response.
    pub fn no_success(&self, bytes: &[u8]) -> Option<String> {
        let block = bytes.get(self.block..)?;
        http::no_success(&block[http::final_head(block)..]).ok()?
    }
}

/// The type of a WARC record, and hashes of what links it to the other records of its capture: the
/// values of `WARC-Record-ID`, `WARC-Concurrent-To` and `WARC-Refers-To` (ISO 28500, section 5),
/// and its URL with its date, because some crawlers write no links.
pub fn warc_links(bytes: &[u8]) -> (&[u8], Vec<u64>) {
    const LINKS: [&str; 3] = ["warc-record-id", "warc-concurrent-to", "warc-refers-to"];
    let head = WarcHead::parse(bytes);
    let fields = Fields::after_line(bytes).filter(|(name, _)| is_one_of(name, &LINKS));
    let values = fields.map(|(_, value)| unbracket(value));
    let mut links: Vec<u64> = values
        .filter(|value| !value.is_empty())
        .map(xxh3_64)
        .collect();
    if let (Some(url), Some(date)) = (head.target, head.date) {
        links.push(xxh3_64(&[url, b" ", date].concat()));
    }
    (head.kind.unwrap_or_default(), links)
}

/// A URL with its scheme and host in lower case, and without the default port.
pub fn normal_url(url: &[u8]) -> Vec<u8> {
    let mut url = url.to_vec();
    let Some(scheme) = memchr::memmem::find(&url, b"://") else {
        return url;
    };
    let authority = scheme + 3;
    let end = memchr::memchr3(b'/', b'?', b'#', &url[authority..]);
    let end = end.map_or(url.len(), |length| authority + length);
    let user = memchr::memrchr(b'@', &url[authority..end]);
    let host = user.map_or(authority, |at| authority + at + 1);
    url[..scheme].make_ascii_lowercase();
    url[host..end].make_ascii_lowercase();
    let port: &[u8] = match &url[..scheme] {
        b"http" => b":80",
        b"https" => b":443",
        _ => return url,
    };
    if url[host..end].ends_with(port) {
        url.drain(end - port.len()..end);
    }
    url
}

/// The form in which addresses are compared: scheme and host in lower case, without a default port
/// and without a fragment, and the root with its slash. Everything else makes another address.
pub fn page_address(address: &str) -> Vec<u8> {
    let address = address.split('#').next().unwrap_or_default();
    let mut url = normal_url(address.as_bytes());
    let host = memchr::memmem::find(&url, b"://").map(|at| at + 3);
    if host.is_some_and(|host| memchr::memchr2(b'/', b'?', &url[host..]).is_none()) {
        url.push(b'/');
    }
    url
}

/// A digest with its label in lower case.
pub fn normal_digest(digest: &[u8]) -> Vec<u8> {
    let label = memchr::memchr(b':', digest).unwrap_or(0);
    [&digest[..label].to_ascii_lowercase(), &digest[label..]].concat()
}

pub(crate) struct WarcRecord;

impl Interpreter for WarcRecord {
    fn document<'a>(&self, bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
        let head = WarcHead::parse(bytes);
        let docno = head.docno();
        let Some(kind) = head.kind else {
            return refused(docno, Reason::BadHeader, "no WARC-Type");
        };
        let kind = kind.to_ascii_lowercase();
        if kind == b"continuation" {
            // Those that follow their first segment were joined with it.
            let detail = "a segment of a record whose first segment is not before it";
            return refused(docno, Reason::Truncated, detail);
        }
        if !config.reads_warc_type(&kind) {
            // The standard requires that readers ignore types of later versions.
            const KINDS: [&str; 7] =
                words("response resource conversion warcinfo request metadata revisit");
            let known = KINDS.into_iter().find(|known| known.as_bytes() == kind);
            return Outcome::Skipped(known.unwrap_or("unknown WARC-Type"));
        }
        let url = head.target.map(text_of);
        if let Some(kind) = left_out(url.as_deref(), config) {
            return Outcome::Skipped(kind);
        }
        let Some(docno) = docno else {
            return refused(
                None,
                Reason::MissingDocno,
                "no WARC-TREC-ID, record id or target URI",
            );
        };
        let block = &bytes[head.block..];
        let content_type = head.content_type.map(text_of);
        // Some writers omit the HTTP header.
        let is_http = kind == b"response" && (http::begins(block) || block.trim_ascii().is_empty());
        let body = if is_http {
            http::response(block, config)
        } else {
            let mut head = Head::default();
            if let Some(kind) = content_type.filter(|kind| !kind.starts_with("application/http")) {
                head.set_content_type(kind);
            }
            http::deliver(block.into(), head, config)
        };
        let shown =
            |line: &[u8]| String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        let odd = head.odd.map(|odd| (Reason::OddHeader, shown(odd)));
        let cut = head.truncated.filter(|why| {
            // Crawlers said so of whole pages that came compressed. One line is enough.
            let is_cut = |(document, _): &Body<'_>| {
                let whole = why.eq_ignore_ascii_case(b"length") && ends_page(&document.body);
                !whole
                    && document
                        .notices
                        .iter()
                        .all(|notice| notice.0 != Reason::Truncated)
            };
            body.as_ref().is_ok_and(is_cut)
        });
        let cut = cut.map(|why| (Reason::Truncated, format!("WARC-Truncated: {}", shown(why))));
        let notices = odd.into_iter().chain(cut).collect();
        finish(docno, url, body, notices)
    }

    fn docno(&self, head: &[u8]) -> Option<String> {
        WarcHead::parse(head).docno().map(Cow::into_owned)
    }

    fn field(&self, bytes: &[u8], name: &str) -> Option<String> {
        let head = head_of(bytes);
        let http = || WarcHead::parse(bytes).http(head, name);
        field_after_line(head, name).or_else(http)
    }

    fn date(&self, bytes: &[u8]) -> Option<String> {
        self.field(bytes, "WARC-Date")
    }
}

/// Whether a page ends as one does that was not cut off.
fn ends_page(body: &[u8]) -> bool {
    let body = body.trim_ascii_end();
    body[body.len().saturating_sub(7)..].eq_ignore_ascii_case(b"</html>")
}

/// Why the URL of a record of an archive excludes it, if it does: the kind under which the
/// ledger counts it.
fn left_out(url: Option<&str>, config: &ReadConfig) -> Option<&'static str> {
    let url = url.unwrap_or_default();
    if config.exclude_url.matches(url) {
        return Some("URL excluded by --exclude-url");
    }
    if config.include_url.matches(url) {
        return None;
    }
    let by_crawler = written_by_crawler(url);
    if by_crawler.is_none() && !config.include_url.is_empty() {
        return Some("URL not in --include-url");
    }
    by_crawler
}

/// Recognises records that a crawler stores besides the pages: its log and its settings, and
/// conversions of a page, whose URL contains the URL of the page, for example
/// `urn:text:https://e.org/`.
fn written_by_crawler(url: &str) -> Option<&'static str> {
    if url.starts_with("http") {
        return None;
    }
    let (scheme, rest) = url.split_once(':')?;
    Some(match scheme.to_ascii_lowercase().as_str() {
        "filedesc" => "filedesc",
        "dns" => "dns",
        "whois" => "whois",
        // wget and Heritrix.
        "metadata" => "metadata:",
        // brozzler.
        "screenshot" | "thumbnail" => "screenshot",
        "youtube-dl" => "youtube-dl:",
        "urn" => {
            let (name, of) = rest.split_once(':').unwrap_or((rest, ""));
            match name.to_ascii_lowercase().as_str() {
                "pageinfo" => "urn:pageinfo",
                "text" | "textfinal" => "urn:text",
                "view" | "fullpage" | "fullpagefinal" | "thumbnail" | "screenshot" => "screenshot",
                "log" | "logs" | "crawl-log" | "crawl-logs" => "crawl log",
                // wpull and other private names.
                name if name.starts_with("x-") => "urn: of a crawler",
                _ if of.contains("://") => "urn: of a crawler",
                _ => return None,
            }
        }
        _ => return None,
    })
}

fn finish<'a>(
    docno: Cow<'a, str>,
    url: Option<Cow<'a, str>>,
    body: Result<Body<'a>, Notice>,
    mut notices: Vec<(Reason, String)>,
) -> Outcome<'a> {
    match body {
        Err(refusal) => Outcome::Refused(Some(docno), refusal),
        Ok((document, with)) => {
            notices.extend(document.notices);
            let document = RawDocument {
                docno,
                url,
                notices,
                ..document
            };
            match with {
                Some(with) => Outcome::Foreign(document, with),
                None => Outcome::Document(document),
            }
        }
    }
}

/// ARC has no ids. The docno of a page is `URL@date`, which distinguishes two captures.
fn arc_docno(line: &ArcLine<'_>) -> String {
    format!("{}@{}", text_of(line.url), text_of(line.date))
}

pub(crate) struct ArcRecord;

impl Interpreter for ArcRecord {
    fn document<'a>(&self, bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
        let Some(line) = ArcLine::parse(first_line(bytes)) else {
            return refused(None, Reason::BadHeader, "not the line of an ARC record");
        };
        let url = text_of(line.url);
        if let Some(kind) = left_out(Some(&url), config) {
            return Outcome::Skipped(kind);
        }
        let docno = arc_docno(&line).into();
        let block = &bytes[memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)..];
        let body =
            if http::begins(block) || url.starts_with("http") && block.trim_ascii().is_empty() {
                http::response(block, config)
            } else {
                // Some writers omit the HTTP header.
                let mut head = Head::default();
                head.set_content_type(text_of(line.mime));
                http::deliver(block.into(), head, config)
            };
        finish(docno, Some(url), body, Vec::new())
    }

    fn docno(&self, head: &[u8]) -> Option<String> {
        ArcLine::parse(first_line(head)).map(|line| arc_docno(&line))
    }

    fn date(&self, bytes: &[u8]) -> Option<String> {
        let line = ArcLine::parse(first_line(head_of(bytes)))?;
        Some(text_of(line.date).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::page_address;

    #[test]
    fn addresses_have_one_form() {
        for (address, expected) in [
            ("HTTP://E.org:80/A/?b#c", "http://e.org/A/?b"),
            ("https://e.org", "https://e.org/"),
            ("http://e.org?q", "http://e.org?q"),
            ("urn:x:A", "urn:x:A"),
            ("", ""),
        ] {
            assert_eq!(page_address(address), expected.as_bytes());
        }
        assert_ne!(
            page_address("http://e.org/a"),
            page_address("http://e.org/a/")
        );
        assert_ne!(
            page_address("http://e.org/a"),
            page_address("https://e.org/a")
        );
    }
}
