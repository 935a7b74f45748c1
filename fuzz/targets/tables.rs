//! Rows of CSV and TSV, with all their quotes.

use lookalike::text::read::Format;

/// Reads the input as such, or as what it seems to be.
pub fn run(data: &[u8]) {
    super::records::check(data, &[Some(Format::Csv), Some(Format::Tsv), None]);
}
