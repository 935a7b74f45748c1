//! Stage 1 of 10: read inputs and cut them into raw documents.
mod archive;
mod config;
mod frame_archive;
mod frame_json;
mod frame_trec;
mod http;
mod inputs;
mod interpret;
mod json;
mod lzw;
mod reader;
mod record;
mod sgml;
mod sniff;
mod source;
mod stream;

pub use config::{DEFAULT_MAX_RATIO, Format, RATIO_FREE_BYTES, ReadConfig};
pub use inputs::{FileIdentity, InputFile, list_inputs};
pub use interpret::{Interpreted, interpret};
pub use json::{ID_FIELDS, TEXT_FIELDS, URL_FIELDS};
pub use reader::RecordReader;
pub use record::{Batch, ContentKind, RawDocument, Reason, Record, RecordKind, Reject, SourceSpan};
