//! Parquet files: footers, page headers, levels and values.

use lookalike::base::Result;
use lookalike::base::budget::ByteSize;
use lookalike::rewrite::{Action, FileEdit, Span, parquet_again};
use lookalike::text::read::{
    Batch, Interpreted, ReadConfig, Reason, RecordKind, RecordReader, interpret,
};

use super::controls::Controls;

/// Reads the input as a file; every row of its row groups is a document or in one reject.
pub fn run(data: &[u8]) {
    let mut controls = Controls::new(data);
    let text = controls.one_of(&[
        None,
        Some("messages.content"),
        Some("messages[role=user][0].content,messages[1].content"),
        Some("page.body"),
        Some("id"),
    ]);
    let id = controls.one_of(&[None, Some("uuid"), Some("url")]);
    let max_document = controls.one_of(&[1 << 20, 1 << 10, 10]);
    let config = ReadConfig {
        text_field: text.map(Into::into),
        id_field: id.map(Into::into),
        max_document: ByteSize(max_document),
        max_ratio: 20,
        ..ReadConfig::default()
    };
    let mut input = controls.rest().to_vec();
    // Without them it is no Parquet file, and the other targets read such.
    if input.len() < 12 {
        return;
    }
    input[..4].copy_from_slice(b"PAR1");
    let end = input.len() - 4;
    input[end..].copy_from_slice(b"PAR1");
    written_again(&input);
    let mut reader = RecordReader::from_bytes(input, "a", 7, &config);
    let mut batch = Batch::default();
    let mut row = 0;
    loop {
        batch.clear();
        if !reader.next_into(&mut batch) {
            break;
        }
        let [record] = batch.records.as_slice() else {
            panic!("one record at a time");
        };
        let whole_file = match &record.kind {
            RecordKind::Rejected(reject) => {
                assert!(record.bytes.is_empty(), "a rejected record has bytes");
                record.source.length == 0 && reject.reason != Reason::MissingText
            }
            _ => false,
        };
        assert!(
            whole_file || record.source.offset == row,
            "rows are in order"
        );
        row = record.source.offset.saturating_add(record.source.length);
        let bytes = &batch.bytes[record.bytes.clone()];
        assert!(bytes.len() as u64 <= max_document);
        if let Interpreted::Document(document) = interpret(record, bytes, &config) {
            assert!(document.docno.len() <= 64 << 10);
        }
    }
    assert!(reader.failure().is_none());
}

/// What can be written again can be read, and has the rows that were kept.
fn written_again(input: &[u8]) {
    let mut third = Rows {
        removes: true,
        ..Rows::default()
    };
    let Ok(copy) = parquet_again(input.to_vec(), &mut third) else {
        return;
    };
    let mut all = Rows::default();
    let again = parquet_again(copy, &mut all);
    assert!(again.is_ok(), "a copy cannot be copied: {again:?}");
    assert_eq!(all.next, third.kept, "rows of a copy");
}

/// Keeps all rows, or removes every third one.
#[derive(Default)]
struct Rows {
    removes: bool,
    next: u64,
    kept: u64,
}

impl FileEdit for Rows {
    fn next(&mut self) -> Result<Option<Span>> {
        let offset = self.next;
        self.next += 1;
        let keeps = !self.removes || offset % 3 != 1;
        self.kept += u64::from(keeps);
        Ok(Some(Span {
            offset,
            length: 1,
            action: if keeps { Action::Keep } else { Action::Remove },
        }))
    }
}
