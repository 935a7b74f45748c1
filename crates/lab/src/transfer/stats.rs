//! The counts of a transfer.

use std::path::PathBuf;

use serde::Serialize;

use super::LabelsFormat;

/// The counts of the labels, by result.
///
/// `labels` = `unknown_labels` + `alone` + `overruled` + `transferred`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TransferReport {
    /// The file of labels.
    pub path: PathBuf,
    /// Its format.
    pub format: LabelsFormat,
    /// Labels read.
    pub labels: u64,
    /// Labels of documents that the old collection does not have.
    pub unknown_labels: u64,
    /// Labels whose document has no near-duplicate in the new collection.
    pub alone: u64,
    /// Labels that no document gets, because a label of a more similar document decides for each.
    pub overruled: u64,
    /// Labels that documents of the new collection get.
    pub transferred: u64,
    /// Distinct docnos of the labels.
    pub docnos: u64,
    /// Docnos that the old collection does not have.
    pub unknown_docnos: u64,
    /// Documents of the new collection that get labels, with exact duplicates.
    pub documents: u64,
    /// Labels that these documents get: lines of `transferred.tsv`.
    pub written: u64,
    /// The part of them that is left out of the file of labels, because it cannot hold the docno.
    pub unwritable: u64,
    /// The part of them that is left out of the file of labels, because an earlier document of the
    /// new collection with the same docno has one.
    pub repeated: u64,
    /// Representatives of the new collection, for each topic, whose candidates have different
    /// labels.
    pub contradictions: u64,
}
