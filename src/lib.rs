//! Near-duplicate documents in collections that do not fit in memory.
//!
//! The pipeline in ten lines, and what flows between:
//!
//! 1. [`read`]: inputs -> raw documents, in batches
//! 2. [`parse`]: raw documents -> canonical text and tokens
//! 3. [`shingle`]: tokens -> fingerprint sets
//! 4. [`collection`]: fingerprint sets -> the collection on disk, and its exact duplicates
//! 5. [`sample`]: collection -> which <fingerprint, document> records take part
//! 6. [`sort`]: records -> sorted runs
//! 7. [`merge`]: runs -> shared postings
//! 8. [`join`]: shared postings -> the pair list
//! 9. [`cluster`]: pair list -> clusters, and the files for people
//! 10. [`evaluate`]: two pair lists -> precision and recall; [`evaluate::qrels`]: relevance judgements and clusters ->
//!     judgements that contradict each other; [`report`]: what every stage counted -> the
//!     ledger
//!
//! [`methods`] puts the keys of the papers' other methods in place of shingles, and [`compare`] shows them side
//! by side, [`query`] looks new documents up in a collection; [`perturb`] makes corpora whose pairs are known, and [`formulas`] has what the papers expect.
//!
//! [`pipeline`] runs them in order over an output directory ([`manifest`]) of files that [`store`]
//! describes. The library never prints, exits, or reads the environment.
//!
//! It runs on Unix only: parts are mapped and read in place, directories locked and synced, and standard input
//! waited for, as POSIX has it.
#![deny(missing_docs, unsafe_code)]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod budget;
pub mod byte_size;
pub mod cluster;
pub mod collection;
pub mod error;
pub mod evaluate;
pub mod experiments;
pub mod ids;
pub mod inspect;
pub mod join;
pub mod limits;
pub mod measure;
pub mod merge;
pub mod methods;
pub mod numbers;
pub mod outputs;
pub mod parse;
pub mod pipeline;
pub mod precision;
pub mod process;
pub mod progress;
pub mod query;
pub(crate) mod random;
pub mod rate;
pub mod read;
pub mod report;
pub mod resource;
pub mod sample;
pub mod shingle;
pub mod sort;
pub mod store;
pub mod union_find;
mod utf8;
pub mod workspace;

pub use error::{Error, Result};
