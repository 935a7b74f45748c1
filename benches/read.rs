//! Stage 1: cut inputs of each format into records, and interpret them. Each bench checks the
//! number of documents and the bytes of their bodies.

mod made;

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::sync::Arc;

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use lookalike::text::read::{Batch, Interpreted, ReadConfig, RecordReader, interpret};

const DOCUMENTS: usize = 1000;

/// A page of about 8 KB. It is the body of a document in every format.
fn page(number: usize) -> String {
    let mut state = number as u64;
    let mut page = String::from("<html><body>\n");
    for _ in 0..100 {
        let word = made::random(&mut state);
        let _ = writeln!(page, "<p>{}</p>", format!("{word:x} ").repeat(4));
    }
    page + "</body></html>\n"
}

fn trec(number: usize, page: &str) -> String {
    format!(
        "<DOC>\n<DOCNO>{number}</DOCNO>\n<DOCHDR>\nhttp://example.org/{number}\n</DOCHDR>\n{page}</DOC>\n"
    )
}

fn warc(number: usize, page: &str) -> String {
    let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-TREC-ID: {number}\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    )
}

fn json(number: usize, page: &str) -> String {
    let page = page.replace('\n', "\\n");
    format!("{{\"id\":\"{number}\",\"text\":\"{page}\"}}\n")
}

/// Returns the number of documents, and the bytes of their bodies.
fn documents(input: &Arc<[u8]>) -> (usize, usize) {
    let config = ReadConfig::default();
    let mut reader = RecordReader::from_reader(Cursor::new(input.clone()), "in", 0, &config);
    let (mut documents, mut bytes) = (0, 0);
    let mut batch = Batch::default();
    loop {
        batch.clear();
        let more = reader.next_into(&mut batch);
        for record in &batch.records {
            let own = &batch.bytes[record.bytes.clone()];
            if let Interpreted::Document(document) = interpret(record, own, &config) {
                documents += 1;
                bytes += document.body.len();
            }
        }
        if !more {
            return (documents, bytes);
        }
    }
}

fn bench(c: &mut Criterion) {
    let pages: Vec<String> = (0..DOCUMENTS).map(page).collect();
    let bodies: usize = pages.iter().map(String::len).sum();
    let mut group = c.benchmark_group("read");
    group.sampling_mode(SamplingMode::Flat);
    type Make = fn(usize, &str) -> String;
    for (name, make) in [("trec", trec as Make), ("warc", warc), ("jsonl", json)] {
        let input: String = pages.iter().enumerate().map(|(n, p)| make(n, p)).collect();
        let mut zipped = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        zipped.write_all(input.as_bytes()).unwrap();
        group.throughput(Throughput::Bytes(input.len() as u64));
        let inputs = [("", input.into_bytes()), (".gz", zipped.finish().unwrap())];
        for (compression, input) in inputs {
            let input: Arc<[u8]> = input.into();
            group.bench_function(
                BenchmarkId::from_parameter(format!("{name}{compression}")),
                |b| {
                    b.iter(|| assert_eq!(documents(&input), (DOCUMENTS, bodies)));
                },
            );
        }
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = made::criterion();
    targets = bench
}
criterion_main!(benches);
