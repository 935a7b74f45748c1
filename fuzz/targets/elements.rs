//! Markup that is split at elements.

use lookalike::text::read::Format;

/// Splits the input at its elements `p`.
pub fn run(data: &[u8]) {
    super::records::check_split(data, &[None, Some(Format::Html)], Some("p"));
}
