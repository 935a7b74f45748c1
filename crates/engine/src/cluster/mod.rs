//! Stage 9 of 9: from the pair list to clusters, and the result files.
//!
//! # Source
//! Broder, Glassman, Manasse & Zweig 1997: clusters are the connected components of the pair list,
//! found by union-find; exact duplicates are found first and attached to their representative.
//! Union-find with path halving: Tarjan & van Leeuwen 1984.
//!
//! # In and out
//! In: the pair list, the catalogue, the segments. Out: `pairs.tsv`, `clusters.jsonl`,
//! `exact-duplicates.tsv`, `documents.tsv`, `rejects.jsonl`. The stage writes each one under a
//! temporary name and renames it. It writes all of them, even those that are empty. If wanted,
//! [`write_tables`] makes Parquet files of the first two and of `documents.tsv`.
//!
//! # Algorithm
//! 1. Union the documents of every pair, and every document with its representative. The least
//!    document of a component is its root: the representative of the cluster.
//! 2. Number the components of two documents or more by their roots.
//! 3. Sort the members by (root, document) with an external sort, and write them.
//!
//! # Invariants
//! - The clusters do not depend on the order of the pairs.
//! - A cluster is a connected component, so two of its members may not resemble each other. Each
//!   member is written with its resemblance to the representative.
//!
//! # Cost
//! Memory: 8.2 bytes per document, and the sizes of its samples. The sort uses the rest of the
//! budget.

mod results;

pub use results::{
    ClusterStats, Member, MemberKind, Members, RESULT_FILES, ResultFormat, ResultsEntry,
    TABLE_FILES, TablesEntry, cluster_of, cluster_of_bytes, columns, each_reject, pair_columns,
    parameters, parameters_of, reject_line, run, write_rejects, write_tables,
};

/// Files that later commands make from the results. They are removed together with the results.
pub const DERIVED_FILES: [&str; 4] = ["report.html", "graph.dot", "graph.graphml", "graph.tsv"];

/// A directory whose files later commands make from the results. They are removed in the same way.
pub const DERIVED_DIRECTORY: &str = "report";
