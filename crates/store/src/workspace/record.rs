//! The record that each stage leaves in the manifest. The workspace knows no stage by name.

use std::any::Any;
use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::ResultFile;
use crate::{Kind, PartInfo};

/// The record of a stage in the manifest.
pub trait StageRecord: Any + Clone + Debug + Send + Sync + Serialize + DeserializeOwned {
    /// Its field in `manifest.json`.
    const NAME: &'static str;
    /// Whether the field is omitted when there is no record. Otherwise it is `null`.
    const OMITTED: bool = false;
    /// The subdirectory of its parts.
    const DIRECTORY: Option<&'static str> = None;
    /// Whether a manifest without it is corrupt.
    const REQUIRED: bool = false;
    /// Whether its parts come from the inputs, and so can be rebuilt only if the inputs are
    /// available.
    const FROM_INPUTS: bool = false;
    /// The records that are dropped when a part of this one is lost.
    const TAKES_ALONG: &'static [&'static str] = &[];

    /// Its parts, with their kinds.
    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        Vec::new()
    }

    /// Result files, which lie in the output directory itself.
    fn files(&self) -> &[ResultFile] {
        &[]
    }

    /// The record without a part; `None` if nothing useful is left.
    fn without(&self, part: &str) -> Option<Self> {
        let _ = part;
        None
    }
}

/// A record whose type only its stage knows.
pub(super) trait AnyRecord: Any + Debug + Send + Sync {
    fn parts(&self) -> Vec<(Kind, &PartInfo)>;
    fn files(&self) -> &[ResultFile];
    fn without(&self, part: &str) -> Option<Box<dyn AnyRecord>>;
    fn to_json(&self) -> serde_json::Result<Value>;
    fn boxed(&self) -> Box<dyn AnyRecord>;
}

impl Clone for Box<dyn AnyRecord> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

impl<R: StageRecord> AnyRecord for R {
    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        StageRecord::parts(self)
    }
    fn files(&self) -> &[ResultFile] {
        StageRecord::files(self)
    }
    fn without(&self, part: &str) -> Option<Box<dyn AnyRecord>> {
        StageRecord::without(self, part).map(|left| Box::new(left) as Box<dyn AnyRecord>)
    }
    fn to_json(&self) -> serde_json::Result<Value> {
        // Not `to_value`, for which each record would be compiled a second time.
        serde_json::from_slice(&serde_json::to_vec(self)?)
    }
    fn boxed(&self) -> Box<dyn AnyRecord> {
        Box::new(self.clone())
    }
}

/// How the records of one type are read from a manifest.
#[derive(Debug)]
pub struct StageRecordKind {
    pub(super) name: &'static str,
    pub(super) omitted: bool,
    pub(super) directory: Option<&'static str>,
    pub(super) required: bool,
    pub(super) from_inputs: bool,
    pub(super) takes_along: &'static [&'static str],
    pub(super) read: fn(&RawValue) -> serde_json::Result<Box<dyn AnyRecord>>,
}

impl StageRecordKind {
    /// The kind of a record type.
    pub const fn of<R: StageRecord>() -> StageRecordKind {
        StageRecordKind {
            name: R::NAME,
            omitted: R::OMITTED,
            directory: R::DIRECTORY,
            required: R::REQUIRED,
            from_inputs: R::FROM_INPUTS,
            takes_along: R::TAKES_ALONG,
            read: |json| Ok(Box::new(serde_json::from_str::<R>(json.get())?)),
        }
    }
}
