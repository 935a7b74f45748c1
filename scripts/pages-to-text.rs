//! Reduces pages to their text, as JSON lines of `id` and `text` on standard output.
//!
//!     cargo run --release --example pages-to-text -- INPUT... > text.jsonl
//!
//! Reads what `lookalike run` reads, with the same reader and parser, so that other programs can be
//! given the very text that this one compares: markup reduced, charsets decoded, case and
//! punctuation kept, white space folded to single spaces. Counts go to standard error.

use std::io::{self, BufWriter, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;

use lookalike::base::progress::Stop;
use lookalike::text::parse::{Parser, TokenConsumer, TokenKind, Tokens};
use lookalike::text::read::{Batch, Interpreted, ReadConfig, RecordReader, interpret, list_inputs};
use serde::Serialize;

/// A batch is emptied after so many bytes.
const BATCH_BYTES: usize = 1 << 20;

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    text: &'a str,
}

/// Collects a document's canonical text.
#[derive(Default)]
struct Text(Vec<u8>);

impl TokenConsumer for Text {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        // A token that may still grow comes again, with what is behind it.
        let done = match tokens.starts.last() {
            Some(&next) if !last => next.min(tokens.bytes.len()),
            _ => tokens.bytes.len(),
        };
        self.0.extend_from_slice(&tokens.bytes[..done]);
        done
    }
}

fn run(arguments: &[PathBuf]) -> Result<(), Box<dyn std::error::Error>> {
    let config = ReadConfig::default();
    // The text as it is, with its white space folded.
    let mut parser = Parser::new(&TokenKind::Bytes(NonZeroU32::MIN).into());
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    let mut batch = Batch::default();
    let mut text = Text::default();
    let (mut documents, mut rejected, mut skipped, mut bytes) = (0u64, 0u64, 0u64, 0u64);
    for (number, input) in list_inputs(arguments)?.iter().enumerate() {
        let mut reader =
            RecordReader::open(input, u32::try_from(number)?, &config, &Stop::default());
        let mut more = true;
        while more {
            batch.clear();
            while more && batch.bytes.len() < BATCH_BYTES {
                more = reader.next_into(&mut batch);
            }
            for record in &batch.records {
                match interpret(record, &batch.bytes[record.bytes.clone()], &config) {
                    Interpreted::Skipped(_) => skipped += 1,
                    Interpreted::Rejected(_) => rejected += 1,
                    Interpreted::Document(document) => {
                        text.0.clear();
                        parser.parse(&document, &mut text);
                        documents += 1;
                        bytes += text.0.len() as u64;
                        let line = Line {
                            id: &document.docno,
                            text: std::str::from_utf8(&text.0)?,
                        };
                        serde_json::to_writer(&mut out, &line)?;
                        out.write_all(b"\n")?;
                    }
                }
            }
        }
    }
    out.flush()?;
    eprintln!(
        "{documents} documents, {bytes} bytes of text; {rejected} rejected, {skipped} skipped"
    );
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if arguments.is_empty() {
        eprintln!("usage: pages-to-text INPUT... > text.jsonl");
        return ExitCode::from(2);
    }
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
