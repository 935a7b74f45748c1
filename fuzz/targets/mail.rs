//! Mailboxes and mail messages.

use lookalike::text::read::Format;

/// Reads the input as such, or as what it seems to be.
pub fn run(data: &[u8]) {
    super::records::check(data, &[Some(Format::Mbox), Some(Format::Eml), None]);
}
