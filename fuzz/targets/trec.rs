//! TREC web and SGML bundles, Reuters-21578.

use lookalike::text::read::Format;

/// Reads the input as such, or as what it seems to be.
pub fn run(data: &[u8]) {
    let formats = [Some(Format::TrecWeb), Some(Format::TrecSgml), None];
    super::records::check(data, &formats);
}
