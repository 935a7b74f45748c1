//! Stage 9 of 10: from the pair list to clusters, and the files for people.
//!
//! # Source
//! Broder, Glassman, Manasse & Zweig 1997: clusters are the connected components of the pair list,
//! found by union-find; exact duplicates are found first and attached to their representative.
//! Union-find with path halving: Tarjan & van Leeuwen 1984.
//!
//! # In and out
//! In: the pair list, the catalogue, the segments. Out: `pairs.tsv`, `clusters.jsonl`,
//! `exact-duplicates.tsv`, `documents.tsv`, `rejects.jsonl`, each written aside and renamed; every one
//! also when it is empty.
//!
//! # Algorithm
//! 1. Union the documents of every pair, and every document with its representative. The least
//!    document of a component is its root: the representative of the cluster.
//! 2. Number the components of two documents or more by their roots.
//! 3. Sort the members by (root, document), externally, and write them.
//!
//! # Invariants
//! - Nothing depends on the order of the pairs.
//! - A cluster is chained: two of its members need not be alike. How alike each is to the
//!   representative stands beside it.
//!
//! # Cost
//! Memory: 28 bytes a document at most and the sizes of its samples; the rest of the budget for the sort.

mod results;

pub use results::cell;
pub use results::{ClusterStats, RESULT_FILES, ResultsEntry, run};
pub(crate) use results::{reject_line, write_rejects};

/// Files that later commands make from the results. They are removed with them.
pub const DERIVED_FILES: [&str; 4] = ["report.html", "graph.dot", "graph.graphml", "graph.tsv"];
