//! Reads HTTP responses from web archives: header, transfer coding, content coding, charset.

use std::borrow::Cow;

use memchr::memmem;

use super::archive::{Fields, field_after_line, number};
use crate::read::ground::bytes::{begins_any_case, first_line, text_of, trim_front};
use crate::read::ground::config::ReadConfig;
use crate::read::ground::convert::Converter;
use crate::read::ground::record::{ContentKind, Notice, RawDocument};
use crate::read::look::sniff::{binary_kind, kind_of_markup, looks_like_markup, surely_text};
use lookalike_base::{Wide, wide};
use lookalike_source::{BodyEnd, BodyStream, Reason, inflate_body};

/// The relevant fields of an HTTP header. Names match in any case. The last one of a repeated
/// `Content-Type` counts, as in browsers.
#[derive(Default)]
pub(crate) struct Head<'a> {
    pub mime: Option<String>,
    pub charset: Option<Cow<'a, str>>,
    length: Option<u64>,
    transfer: Option<Cow<'a, str>>,
    /// The first codings, in the order of application, and the number of codings in all: a header
    /// may repeat the field a million times.
    codings: Vec<String>,
    coding_count: usize,
    pub notices: Vec<(Reason, String)>,
    body: usize,
}

impl<'a> Head<'a> {
    /// Parses the header of a response, whose first line is the status line.
    fn of_response(bytes: &'a [u8]) -> Self {
        Self::of(Fields::after_line(bytes))
    }

    /// Parses a header that begins either with a status line or directly with its fields.
    pub(crate) fn of_fields(bytes: &'a [u8]) -> Self {
        let fields = if bytes.starts_with(b"HTTP/") {
            Fields::after_line(bytes)
        } else {
            Fields::new(bytes)
        };
        Self::of(fields)
    }

    fn of(mut fields: Fields<'a>) -> Self {
        let mut head = Head::default();
        for (name, value) in &mut fields {
            let value = &value[..value.len().min(MOST_VALUE)];
            if name.eq_ignore_ascii_case(b"content-type") && !value.is_empty() {
                head.set_content_type(text_of(value));
            } else if name.eq_ignore_ascii_case(b"content-length") {
                head.length = number(value);
            } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
                head.transfer = Some(text_of(value));
            } else if name.eq_ignore_ascii_case(b"content-encoding") {
                for coding in text_of(value).split(',') {
                    head.coding_count += 1;
                    if head.codings.len() < MOST_CODINGS {
                        head.codings.push(coding.trim().to_string());
                    }
                }
            }
        }
        if let Some(odd) = fields.odd {
            let line = &odd[..odd.len().min(200)];
            head.notices.push((
                Reason::OddHeader,
                String::from_utf8_lossy(line).into_owned(),
            ));
        }
        head.body = fields.body();
        head
    }

    /// The chunks of a body, if its transfer coding is chunked.
    fn chunks(&self, body: &[u8]) -> Option<Option<Chunks>> {
        let transfer = self.transfer.as_ref()?.to_ascii_lowercase();
        transfer.contains("chunked").then(|| dechunk(body))
    }

    /// Parses a value like `text/html; charset="utf-8"`, or a list of them, of which the last counts
    /// (Fetch standard, "extract a MIME type").
    pub(crate) fn set_content_type(&mut self, value: Cow<'a, str>) {
        let mut quoted = false;
        let is_comma = |c: char| {
            quoted ^= c == '"';
            c == ',' && !quoted
        };
        for (number, value) in value.split(is_comma).enumerate() {
            let mut parameters = value.split(';');
            let mime = parameters.next().unwrap_or_default();
            let mime = mime.trim().to_ascii_lowercase();
            if number > 0 && (!mime.contains('/') || mime == "*/*") {
                continue;
            }
            let charset = parameters.find_map(|parameter| {
                let (name, value) = parameter.split_once('=')?;
                let value = value.trim().trim_matches(['"', '\'']).trim();
                (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty())
                    .then(|| Cow::Owned(value.to_string()))
            });
            let mime = (!mime.is_empty()).then_some(mime);
            if charset.is_some() || mime != self.mime {
                self.charset = charset;
            }
            self.mime = mime;
        }
    }
}

/// Maximum number of bytes examined of a field's value: folding would allow any length.
const MOST_VALUE: usize = 64 << 10;

/// Maximum number of stacked content codings that are undone; in practice there are up to two.
const MOST_CODINGS: usize = 4;

/// Bytes of line ends that a body may lack at its end.
const LINE_ENDS: u64 = 4;

/// A body that is text or becomes text.
pub(crate) type Body<'a> = (RawDocument<'a>, Option<Converter>);

/// Returns why a body is not text, or `None` if it is. The bytes decide, not the content type:
/// collections store the text of PDF files as `application/pdf`, and error pages as `image/gif`.
pub(crate) fn not_text(body: &[u8], head: &Head<'_>) -> Option<String> {
    if let Some(charset) = &head.charset
        && wide::utf32(body).is_none()
    {
        if charset.to_ascii_lowercase().starts_with("utf-16") {
            return None;
        }
        if Wide::of_mark(body).is_none()
            && let Some(wide) = Wide::of_evidence(body)
        {
            return Some(format!("{} that is declared as {charset}", wide.text()));
        }
    }
    let kind = binary_kind(body)?;
    Some(match head.mime.as_deref() {
        Some(mime) => format!("{mime}: {kind}"),
        None => kind,
    })
}

/// The status of a response and its reason, such as `404 Not Found`; `None` for 2xx.
pub(crate) fn no_success(block: &[u8]) -> Result<Option<String>, Notice> {
    let line = first_line(block);
    let line = &line[..line.len().min(200)];
    let status = status_of(line).ok_or_else(|| {
        let line = String::from_utf8_lossy(line);
        (Reason::BadHttp, format!("the status line is `{line}`"))
    })?;
    let text = line[line.iter().position(|&byte| byte == b' ').unwrap_or(0)..].trim_ascii();
    let text = || String::from_utf8_lossy(text).into_owned();
    Ok((!(200..300).contains(&status)).then(text))
}

/// The body of a response, if the status is 2xx and the body is text, with its codings undone.
pub(crate) fn response<'a>(block: &'a [u8], config: &ReadConfig) -> Result<Body<'a>, Notice> {
    let block = &block[final_head(block)..];
    if let Some(text) = no_success(block)? {
        return Err((Reason::HttpStatus, text));
    }
    let mut head = Head::of_response(block);
    let mut body = Cow::Borrowed(&block[head.body..]);
    let bad = match head.chunks(&body) {
        Some(Some((bytes, broken))) => {
            body = bytes.into();
            broken.map(|at| format!("broken at byte {at} of the body"))
        }
        Some(None) => Some("the body is not chunked".into()),
        None => None,
    };
    head.notices.extend(bad.map(|bad| (Reason::BadChunks, bad)));
    let cut = cut_off(block, &head).map(|cut| (Reason::Truncated, cut));
    head.notices.extend(cut);
    if head.coding_count > MOST_CODINGS {
        let detail = format!(
            "{} content encodings, at most {MOST_CODINGS} are undone",
            head.coding_count
        );
        return Err((Reason::NotText, detail));
    }
    for coding in std::mem::take(&mut head.codings).iter().rev() {
        body = undo(body, coding, config, &mut head.notices)?;
    }
    if body.len() as u64 > config.max_document.0 {
        let detail = format!("a body of {} bytes", body.len());
        return Err((Reason::TooLarge, detail));
    }
    deliver(body, head, config)
}

/// Why a body is a part of what the server has, if it is. Archives keep the length of an encoded
/// body although they decode it, and lose line ends.
fn cut_off(block: &[u8], head: &Head<'_>) -> Option<String> {
    if status_of(first_line(block)) == Some(206) {
        let range = field_after_line(block, "Content-Range").unwrap_or_default();
        if !is_whole(&range) {
            let range: String = range.chars().take(80).collect();
            return Some(format!("HTTP status 206: {range}"));
        }
    }
    let encoded = head.transfer.is_some() || head.coding_count > 0;
    let (found, stated) = (block.len() - head.body, head.length.filter(|_| !encoded)?);
    (stated > found as u64 + LINE_ENDS)
        .then(|| format!("{found} of {stated} bytes by Content-Length"))
}

/// Whether a `Content-Range` is all that the server has: `bytes 0-3/4`.
fn is_whole(range: &str) -> bool {
    let bytes = range
        .split_once("0-")
        .filter(|(unit, _)| unit.trim().eq_ignore_ascii_case("bytes"));
    let parts = bytes.and_then(|(_, range)| range.split_once('/'));
    parts.is_some_and(|(last, total)| {
        let last = number(last.trim().as_bytes()).and_then(|last| last.checked_add(1));
        last.is_some() && last == number(total.trim().as_bytes())
    })
}

/// The body of a response without its transfer coding; `None` if the coding is broken. A body that
/// is not chunked although its header says so was stored without the coding.
pub(crate) fn without_transfer_coding<'a>(header: &[u8], body: &'a [u8]) -> Option<Cow<'a, [u8]>> {
    match Head::of_response(header).chunks(body) {
        Some(Some((bytes, broken))) => broken.is_none().then(|| bytes.into()),
        Some(None) | None => Some(body.into()),
    }
}

/// The document in a body whose codings are undone.
pub(crate) fn deliver<'a>(
    body: Cow<'a, [u8]>,
    head: Head<'a>,
    config: &ReadConfig,
) -> Result<Body<'a>, Notice> {
    if let Some(with) = config.converter_of_type(head.mime.as_deref()) {
        let mut document = RawDocument::of(Cow::default(), ContentKind::Text, body);
        document.notices = head.notices;
        return Ok((document, Some(with.clone())));
    }
    if let Some(kind) = not_text(&body, &head) {
        return Err((Reason::NotText, kind));
    }
    let content = match head.mime.as_deref() {
        Some("text/html") => ContentKind::Markup,
        Some(mime) if mime.ends_with("/xml") || mime.ends_with("+xml") => ContentKind::Xml,
        Some("text/plain" | "text/css" | "text/javascript") => ContentKind::Text,
        _ if looks_like_markup(&body) => kind_of_markup(&body),
        _ => {
            let front = trim_front(&body);
            let front = &front[..front.len().min(1024)];
            ContentKind::of(memmem::find(front, b"<html").is_some())
        }
    };
    let mut document = RawDocument::of(Cow::default(), content, body);
    (document.charset, document.notices) = (head.charset, head.notices);
    Ok((document, None))
}

/// Whether a block begins with the head of a response, perhaps after empty lines.
pub(crate) fn begins(block: &[u8]) -> bool {
    let line = block.trim_ascii_start();
    begins_any_case(line, b"http") && matches!(line.get(4), Some(b'/' | b' ' | b'\t'))
        || begins_any_case(line, b"icy ")
}

/// Where the last head of a block begins: after empty lines, and after the heads of interim
/// responses (RFC 9110 section 15.2) and of a proxy that has connected to the server.
pub(crate) fn final_head(block: &[u8]) -> usize {
    let mut at = 0;
    while begins(&block[at..]) {
        let head = block[at..].trim_ascii_start();
        at = block.len() - head.len();
        let line = first_line(head);
        let line = &line[..line.len().min(200)];
        let interim = match status_of(line) {
            Some(100..200) => true,
            Some(200) => {
                memmem::find(&line.to_ascii_lowercase(), b"connection established").is_some()
            }
            _ => false,
        };
        if !interim {
            break;
        }
        let next = at + Fields::after_line(head).body();
        if !begins(&block[next..]) {
            break;
        }
        at = next;
    }
    at
}

/// Parses `HTTP/1.1 200 OK`, `HTTP/2 200`, `http/1.1 200OK`, and the `ICY 200 OK` of old radio
/// servers. Zeros before the status and a fraction after it count for nothing.
fn status_of(line: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(line.get(..line.len().min(40))?)
        .or_else(|error| std::str::from_utf8(&line[..error.valid_up_to()]))
        .ok()?;
    let mut words = text.split_ascii_whitespace();
    let version = words.next()?.to_ascii_lowercase();
    if !version.starts_with("http") && version != "icy" {
        return None;
    }
    let status = words.next()?;
    let end = status.find(|character: char| !character.is_ascii_digit());
    let status = status[..end.unwrap_or(status.len())].trim_start_matches('0');
    (status.len() == 3).then(|| status.parse().ok())?
}

/// The chunks of a body: all, or those up to this byte of it, and then the rest unchanged.
type Chunks = (Vec<u8>, Option<usize>);

/// Undoes the chunked transfer coding (RFC 9112 section 7.1). `None` if the body does not begin with
/// a chunk.
fn dechunk(body: &[u8]) -> Option<Chunks> {
    let mut out = Vec::new();
    let mut at = 0;
    loop {
        let chunk = chunk_at(body, at);
        if let Some((start, 0)) = chunk
            && is_trailer(&body[start..], at > 0)
        {
            return Some((out, None));
        }
        let Some((start, length)) = chunk.filter(|chunk| chunk.1 > 0) else {
            if at == 0 {
                return None;
            }
            out.extend_from_slice(&body[at..]);
            return Some((out, Some(at)));
        };
        match start.checked_add(length).filter(|&end| end <= body.len()) {
            Some(end) => {
                if at == 0 {
                    out.reserve(body.len());
                }
                out.extend_from_slice(&body[start..end]);
                let rest = &body[end..];
                let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
                let rest = rest.strip_prefix(b"\n").unwrap_or(rest);
                at = body.len() - rest.len();
            }
            None if at == 0 && looks_like_markup(&body[start..]) || at > 0 => {
                // The last chunk was cut off.
                out.extend_from_slice(&body[start..]);
                return Some((out, Some(at)));
            }
            None => return None,
        }
    }
}

/// Whether nothing but a trailer follows the last chunk: an empty line, before which there may be
/// `fields`.
fn is_trailer(rest: &[u8], fields: bool) -> bool {
    let mut trailer = Fields::new(if fields { rest } else { b"" });
    let end = trailer.body();
    trailer.odd.is_none() && rest[end..].trim_ascii().is_empty()
}

/// The chunk whose size line begins at `at`: the offset and the number of its bytes.
fn chunk_at(body: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = &body[at..];
    let end = memchr::memchr(b'\n', &rest[..rest.len().min(1024)])?;
    let line = rest[..end].split(|&byte| byte == b';').next()?.trim_ascii();
    if line.is_empty() || line.len() > 15 || !line.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let length = usize::from_str_radix(std::str::from_utf8(line).ok()?, 16).ok()?;
    Some((at + end + 1, length))
}

/// Undoes one content coding, if the bytes are really encoded in it.
fn undo<'a>(
    body: Cow<'a, [u8]>,
    coding: &str,
    config: &ReadConfig,
    notices: &mut Vec<(Reason, String)>,
) -> Result<Cow<'a, [u8]>, Notice> {
    let coding = coding.to_ascii_lowercase();
    let streams: &[BodyStream] = match coding.as_str() {
        "" | "identity" | "none" | "utf-8" | "binary" | "8bit" | "7bit" => return Ok(body),
        "gzip" | "x-gzip" if body.starts_with(&[0x1f, 0x8b]) => &[BodyStream::Gzip],
        "gzip" | "x-gzip" => &[],
        // The standard defines it as the zlib format, but some servers send raw deflate.
        "deflate" if !surely_text(&body) => &[BodyStream::Zlib, BodyStream::Deflate],
        "br" if !surely_text(&body) => &[BodyStream::Brotli],
        "zstd" if body.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => &[BodyStream::Zstd],
        _ => &[],
    };
    let mut best = Vec::new();
    for &stream in streams {
        let (out, end) = inflate_body(&body, stream, config.max_document.0, config.max_ratio)
            .map_err(|fault| (fault.reason, fault.detail))?;
        let followed = end == BodyEnd::Followed && !out.is_empty();
        if followed {
            let detail = format!("{coding}: bytes that follow the stream are left out");
            notices.push((Reason::BadContentEncoding, detail));
        }
        if followed || end == BodyEnd::Whole {
            return Ok(out.into());
        }
        if best.len() < out.len() {
            best = out;
        }
    }
    if !best.is_empty() && binary_kind(&best).is_none() {
        let detail = format!("{coding}: the stream is broken after {} bytes", best.len());
        notices.push((Reason::BadContentEncoding, detail));
        return Ok(best.into());
    }
    if body.is_empty() {
        return Ok(body);
    }
    // A body that is neither may be text in an old charset.
    if surely_text(&body) || binary_kind(&body).is_none() && streams.is_empty() {
        let detail = format!("{coding}: the body is not compressed");
        notices.push((Reason::BadContentEncoding, detail));
        return Ok(body);
    }
    Err((Reason::NotText, format!("content encoding {coding}")))
}
