//! WARC and ARC, with the HTTP responses in them: header, chunks, content codings.

use lookalike::text::read::Format;

/// Reads the input as such, or as what it seems to be.
pub fn run(data: &[u8]) {
    let formats = [Some(Format::Warc), Some(Format::Arc), None];
    super::records::check(data, &formats);
}
