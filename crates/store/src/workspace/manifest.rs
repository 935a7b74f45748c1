//! The content of `manifest.json`.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use serde::de::Error;
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::inputs::InputsEntry;
use super::record::{AnyRecord, StageRecord, StageRecordKind};
use crate::disk;
use crate::{self as store, Kind, PartInfo, received};
use lookalike_base::{Result, process, threads};

/// Name of the manifest in an output directory.
pub const MANIFEST_FILE: &str = "manifest.json";

/// The format of `manifest.json` that this build writes and reads.
pub(crate) const MANIFEST_FORMAT: u32 = 2;
/// The format before: the checksum followed the object.
pub(crate) const FIRST_FORMAT: u32 = 1;

/// The whole of `manifest.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this file's format.
    pub format: u32,
    /// Version of the program that wrote it last.
    pub program: String,
    /// Digest of the collection's parameters, also stored in the header of each of its parts.
    pub collection_digest: String,
    /// The input files.
    pub inputs: InputsEntry,
    /// Digest of what this directory depends on, if it depends on another directory's collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Another output directory whose parts this one uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// Specification of the method whose features replace shingles, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Its fields stand between the others.
    #[serde(flatten, skip_deserializing)]
    records: Records,
    /// Auxiliary files, by name: the summary, the report page, the plan, the files of a study.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<ResultFile>,
    /// Cost of each stage, summed over interrupted runs.
    pub costs: BTreeMap<String, Cost>,
    /// The digest of the collection's parameters, as a number.
    #[serde(skip)]
    parameters: u128,
}

/// The records of the stages.
#[derive(Clone, Debug, Default)]
struct Records {
    /// Every kind of record, in the order of the stages.
    kinds: &'static [StageRecordKind],
    all: BTreeMap<&'static str, Box<dyn AnyRecord>>,
}

impl Serialize for Records {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for kind in self.kinds {
            match self.all.get(kind.name) {
                Some(record) => {
                    let json = record.to_json().map_err(S::Error::custom)?;
                    map.serialize_entry(kind.name, &json)?;
                }
                None if kind.omitted => {}
                None => map.serialize_entry(kind.name, &Value::Null)?,
            }
        }
        map.end()
    }
}

/// Another output directory whose parts a directory uses. They are never written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// Its path, unchanged from the command line.
    pub path: String,
    /// Its absolute path without symbolic links, if that is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real: Option<String>,
    /// By subdirectory: a part belongs to the other directory if the upper half of its number (the
    /// unit of the input or the level of the index) is below this.
    pub below: BTreeMap<String, u32>,
}

impl Base {
    /// Whether a part of this name in a subdirectory belongs to the other directory.
    pub fn has(&self, directory: &str, name: &str) -> bool {
        let below = self.below.get(directory);
        below.is_some_and(|&below| store::part_unit(name) < below)
    }
}

impl Manifest {
    /// A manifest without records. Its parts carry this digest of parameters.
    pub fn new(kinds: &'static [StageRecordKind], parameters: u128) -> Manifest {
        Manifest {
            format: MANIFEST_FORMAT,
            program: program(),
            collection_digest: store::digest_text(parameters),
            records: Records {
                kinds,
                all: BTreeMap::new(),
            },
            parameters,
            ..Manifest::default()
        }
    }

    /// Reads the JSON of a manifest. It makes no tree of it, which would take fifty times its size.
    ///
    /// # Errors
    /// The errors of `serde_json`, with the field.
    pub fn from_json(
        json: &[u8],
        kinds: &'static [StageRecordKind],
    ) -> serde_json::Result<Manifest> {
        let mut fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(json)?;
        let mut all = BTreeMap::new();
        for kind in kinds {
            match fields.remove(kind.name).filter(|json| json.get() != "null") {
                None if kind.required => return Err(Error::missing_field(kind.name)),
                None => {}
                Some(json) => {
                    all.insert(kind.name, (kind.read)(json)?);
                }
            }
        }
        let mut manifest: Manifest = serde_json::from_slice(json)?;
        manifest.records = Records { kinds, all };
        let digest = &manifest.collection_digest;
        manifest.parameters = store::digest_number(digest).ok_or_else(|| {
            Error::custom(format!(
                "collection_digest `{digest}` is not 32 hexadecimal digits"
            ))
        })?;
        Ok(manifest)
    }

    /// The digest of the collection's parameters, as stored in parts.
    pub fn parameters(&self) -> u128 {
        self.parameters
    }

    /// Returns a record.
    pub fn get<R: StageRecord>(&self) -> Option<&R> {
        let record: &dyn Any = &**self.records.all.get(R::NAME)?;
        record.downcast_ref()
    }

    /// Returns a copy of a record, or a new one.
    pub fn get_or_default<R: StageRecord + Clone + Default>(&self) -> R {
        self.get().cloned().unwrap_or_default()
    }

    /// Returns a record for changing it.
    pub fn get_mut<R: StageRecord>(&mut self) -> Option<&mut R> {
        let record: &mut dyn Any = &mut **self.records.all.get_mut(R::NAME)?;
        record.downcast_mut()
    }

    /// Returns a record for changing it, and creates it with `make` if it is missing.
    pub fn get_or_insert_with<R: StageRecord>(&mut self, make: impl FnOnce() -> R) -> &mut R {
        let slot = self.records.all.entry(R::NAME);
        let record: &mut dyn Any = &mut **slot.or_insert_with(|| Box::new(make()));
        let record = record.downcast_mut();
        record.unwrap_or_else(|| unreachable!("two types of records are called {}", R::NAME))
    }

    /// Whether there is a record of this type.
    pub fn has<R: StageRecord>(&self) -> bool {
        self.records.all.contains_key(R::NAME)
    }

    /// Stores a record, replacing an earlier one of the same type.
    pub fn set<R: StageRecord>(&mut self, record: R) {
        self.records.all.insert(R::NAME, Box::new(record));
    }

    /// Removes a record and returns it.
    pub fn take<R: StageRecord>(&mut self) -> Option<R> {
        let record: Box<dyn Any> = self.records.all.remove(R::NAME)?;
        record.downcast().ok().map(|record| *record)
    }

    /// Removes a record.
    pub fn remove<R: StageRecord>(&mut self) {
        self.records.all.remove(R::NAME);
    }

    /// Removes the records of all later stages.
    pub fn remove_after<R: StageRecord>(&mut self) {
        let kinds = self.kinds().iter().map(|kind| kind.name);
        for name in kinds.skip_while(|name| *name != R::NAME).skip(1) {
            self.records.all.remove(name);
        }
    }

    /// The subdirectories that hold parts.
    pub(super) fn directories(kinds: &[StageRecordKind]) -> Vec<&'static str> {
        let mut directories = Vec::new();
        for directory in kinds.iter().filter_map(|kind| kind.directory) {
            if !directories.contains(&directory) {
                directories.push(directory);
            }
        }
        directories
    }

    /// Every kind of record, in the order of the stages.
    pub fn kinds(&self) -> &'static [StageRecordKind] {
        self.records.kinds
    }

    /// Whether the parts in a subdirectory come from the inputs.
    pub(super) fn comes_from_inputs(&self, directory: &str) -> bool {
        let mut kinds = self.kinds().iter();
        kinds.any(|kind| kind.from_inputs && kind.directory == Some(directory))
    }

    /// Every part that the manifest names: subdirectory, kind, part.
    pub fn parts(&self) -> Vec<(&'static str, Kind, &PartInfo)> {
        let mut parts = Vec::new();
        for kind in self.kinds() {
            let record = self.records.all.get(kind.name);
            if let (Some(record), Some(directory)) = (record, kind.directory) {
                let own = record.parts().into_iter();
                parts.extend(own.map(|(kind, part)| (directory, kind, part)));
            }
        }
        parts
    }

    /// Every result file that the manifest names, without the auxiliary files.
    pub fn result_files(&self) -> impl Iterator<Item = &ResultFile> {
        self.records.all.values().flat_map(|record| record.files())
    }

    /// Removes a missing part from its record, and removes the records that depend on it.
    pub(super) fn lose(&mut self, directory: &str, part: &str) {
        let kinds = self.kinds().iter();
        let records = &mut self.records.all;
        for kind in kinds.filter(|kind| kind.directory == Some(directory)) {
            let Some(record) = records.get(kind.name) else {
                continue;
            };
            if record.parts().iter().all(|(_, own)| own.name != part) {
                continue;
            }
            match record.without(part) {
                Some(left) => {
                    records.insert(kind.name, left);
                }
                None => {
                    records.remove(kind.name);
                }
            }
            for name in kind.takes_along {
                records.remove(name);
            }
        }
    }
}

pub(super) fn program() -> String {
    format!("lookalike {}", env!("CARGO_PKG_VERSION"))
}

/// A finished result file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultFile {
    /// File name.
    #[serde(deserialize_with = "received::below")]
    pub name: String,
    /// Bytes.
    #[serde(deserialize_with = "received::count")]
    pub bytes: u64,
    /// xxh3 of the content, 16 hexadecimal digits.
    pub checksum: String,
}

impl ResultFile {
    /// A file of this size in bytes and with this checksum.
    pub fn new(name: &str, (bytes, checksum): (u64, u64)) -> ResultFile {
        ResultFile {
            name: name.into(),
            bytes,
            checksum: format!("{checksum:016x}"),
        }
    }
}

/// Writes a small file into a directory. The caller adds it to the manifest.
pub fn put(directory: &Path, name: &str, content: &[u8]) -> Result<ResultFile> {
    Ok(ResultFile::new(
        name,
        disk::put(&directory.join(name), content)?,
    ))
}

/// Checks that a file has the recorded size and checksum.
pub fn check(directory: &Path, file: &ResultFile) -> Result<()> {
    disk::check(&directory.join(&file.name), file.bytes, &file.checksum)
}

/// The cost of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Seconds of wall time.
    pub wall_seconds: f64,
    /// Seconds of CPU time, user and system, all threads.
    pub cpu_seconds: f64,
    /// Seconds of CPU time that no number of cores would divide ([`lookalike_base::threads`]): the
    /// time of the thread that runs the stage, or of its busiest thread where there are several. 0
    /// in directories of version 0.1.0.
    #[serde(default)]
    pub undivided_seconds: f64,
    /// Peak resident memory of the process up to the end of the stage, in bytes. It includes
    /// earlier stages of the same process. 0 if the system does not report it.
    pub peak_bytes: u64,
    /// When the work ended, in seconds since 1970. 0 in directories of version 0.1.0.
    #[serde(default)]
    pub ended: u64,
}

impl Cost {
    /// Adds the cost of more work.
    pub fn add(&mut self, more: &Cost) {
        self.wall_seconds += more.wall_seconds;
        self.cpu_seconds += more.cpu_seconds;
        self.undivided_seconds += more.undivided_seconds;
        self.peak_bytes = self.peak_bytes.max(more.peak_bytes);
        self.ended = self.ended.max(more.ended);
    }
}

/// Measures the cost of some work of this thread and of those that it starts.
pub struct Meter {
    wall: Instant,
    cpu: f64,
    undivided: f64,
}

impl Meter {
    /// Begins to measure.
    pub fn start() -> Meter {
        Meter {
            wall: Instant::now(),
            cpu: process::cpu_seconds(),
            undivided: threads::course_seconds(),
        }
    }

    /// The cost so far.
    pub fn cost(&self) -> Cost {
        Cost {
            wall_seconds: self.wall.elapsed().as_secs_f64(),
            cpu_seconds: process::cpu_seconds() - self.cpu,
            undivided_seconds: threads::course_seconds() - self.undivided,
            peak_bytes: process::peak_bytes(),
            ended: process::seconds_since_1970(),
        }
    }
}
