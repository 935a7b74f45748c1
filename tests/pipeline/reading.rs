//! A file as its records and documents, however reads are split.

use std::io::{Cursor, Read};

use lookalike::text::read::{
    Batch, Interpreted, ReadConfig, Reason, RecordReader, Reject, interpret,
};

/// Gives a few bytes at a time.
struct Dribble(Cursor<Vec<u8>>, usize);

impl Read for Dribble {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let most = self.1.min(out.len());
        self.0.read(&mut out[..most])
    }
}

/// The records of a file that is read by at most `step` bytes at a time.
pub fn records(file: &[u8], name: &str, config: &ReadConfig, step: usize) -> Batch {
    let reader = Dribble(Cursor::new(file.to_vec()), step);
    let mut reader = RecordReader::from_reader(reader, name, 0, config);
    let mut batch = Batch::default();
    while reader.next_into(&mut batch) {}
    batch
}

/// The records of a file, which are the same however its bytes come.
pub fn batch(file: &[u8], name: &str, config: &ReadConfig) -> Batch {
    config.check().unwrap();
    let [whole, parts @ ..] = [usize::MAX, 1, 7].map(|step| records(file, name, config, step));
    for part in parts {
        assert_eq!(whole.records, part.records, "{name}");
    }
    whole
}

/// Applies `show` to each record of a file.
pub fn each<T>(
    file: &[u8],
    name: &str,
    config: &ReadConfig,
    mut show: impl FnMut(Interpreted<'_>) -> T,
) -> Vec<T> {
    let batch = batch(file, name, config);
    let records = batch.records.iter();
    let shown = records.map(|record| {
        show(interpret(
            record,
            &batch.bytes[record.bytes.clone()],
            config,
        ))
    });
    shown.collect()
}

/// `DOCNO: TEXT` of a document and `reason: detail` of each warning, or `reason: detail` of a reject.
pub fn lines(found: Interpreted<'_>, text: fn(&str) -> String) -> Vec<String> {
    match found {
        Interpreted::Document(document) => {
            let body = text(&String::from_utf8_lossy(&document.body));
            let notices = document.notices.iter();
            let notices = notices.map(|(reason, detail)| format!("{}: {detail}", reason.text()));
            [format!("{}: {body}", document.docno)]
                .into_iter()
                .chain(notices)
                .collect()
        }
        Interpreted::Skipped(kind) => vec![format!("skipped {kind}")],
        Interpreted::Rejected(reject) => vec![line(&reject)],
    }
}

pub fn line(reject: &Reject) -> String {
    format!("{}: {}", reject.reason.text(), reject.detail)
}

/// The details of the warnings that a file, which is read as one document, may be several.
pub fn perhaps_several(file: &[u8], name: &str) -> Vec<String> {
    let details = each(file, name, &ReadConfig::default(), |found| match found {
        Interpreted::Document(document) => {
            let mut notices = document.notices;
            notices.retain(|(reason, _)| *reason == Reason::PerhapsSeveral);
            notices.into_iter().map(|(_, detail)| detail).collect()
        }
        _ => Vec::new(),
    });
    match <[Vec<String>; 1]>::try_from(details) {
        Ok([details]) => details,
        Err(_) => Vec::new(),
    }
}
