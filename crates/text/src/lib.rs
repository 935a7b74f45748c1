//! Reads collections of documents as text and tokens: TREC, Reuters and other SGML, WARC, ARC, JSON
//! lines, Parquet, CSV, XML records, mail, text, HTML and source code, also compressed or in tar
//! archives.
//!
//! - [`read`], stage 1: inputs -> raw documents, in batches. [`read::RecordReader`] cuts a file into
//!   records, and [`read::interpret`] makes a document of a record, or a [`read::Reject`] that says
//!   why it is none. No byte vanishes without one.
//! - [`parse`], stage 2: raw documents -> canonical text and tokens, with charsets and markup
//!   resolved. [`parse::Parser`] is what a thread needs for it.
//!
//! # Example
//! The pages of a crawl with the first words of their text, and the records that are not pages:
//!
//! ```
//! use lookalike_base::progress::Stop;
//! use lookalike_text::parse::{ParseConfig, Parser};
//! use lookalike_text::read::{Batch, Interpreted, ReadConfig, RecordReader, interpret, list_inputs};
//!
//! let inputs = list_inputs(&["../../sample-corpora/warc/a.warc.gz".into()])?;
//! let config = ReadConfig::default();
//! let mut parser = Parser::new(&ParseConfig::default());
//! let mut batch = Batch::default();
//! let mut pages = 0;
//! for (file, input) in (0..).zip(&*inputs) {
//!     let mut reader = RecordReader::open(input, file, &config, &Stop::default());
//!     while reader.next_into(&mut batch) {
//!         for record in &batch.records {
//!             match interpret(record, &batch.bytes[record.bytes.clone()], &config) {
//!                 Interpreted::Document(page) => {
//!                     let mut text = Vec::new();
//!                     parser.text(&page, &mut text);
//!                     pages += 1;
//!                     println!("{}: {:.60}", page.docno, String::from_utf8_lossy(&text));
//!                 }
//!                 Interpreted::Rejected(reject) => println!("{}", reject.line(&input.docno)),
//!                 Interpreted::Skipped(_) => {}
//!             }
//!         }
//!         batch.clear();
//!     }
//! }
//! assert!(pages > 0);
//! # Ok::<(), lookalike_base::Error>(())
//! ```
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod parse;
pub mod read;
