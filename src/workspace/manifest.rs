//! The content of `manifest.json`.

use std::collections::BTreeMap;

use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::inputs::InputsEntry;
use super::record::{AnyRecord, RecordKind, StageRecord};
use crate::store::{self, Kind, PartInfo};

/// The format of `manifest.json` that this build writes and reads.
pub const MANIFEST_FORMAT: u32 = 1;

/// The whole of `manifest.json`.
#[derive(Debug)]
pub struct Manifest {
    /// What is not a stage's.
    head: Head,
    /// The number that the digest of the collection's parameters is.
    parameters: u128,
    /// Every kind of record that there can be, in the order of the stages.
    kinds: &'static [RecordKind],
    records: BTreeMap<&'static str, Box<dyn AnyRecord>>,
}

/// The fields that belong to no stage.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    /// Version of this file's format.
    pub format: u32,
    /// Version of the program that wrote it last.
    pub program: String,
    /// Digest of the collection's parameters, in the header of every part of it.
    pub collection_digest: String,
    /// The input files.
    pub inputs: InputsEntry,
    /// Digest of what this directory stands on, where it stands on another's collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The specification of the method whose features take the place of shingles, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Auxiliary files, by name: summary, page, plan, those of a study.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<ResultFile>,
    /// What each stage cost, summed over interruptions.
    pub costs: BTreeMap<String, Cost>,
}

impl std::ops::Deref for Manifest {
    type Target = Head;
    fn deref(&self) -> &Head {
        &self.head
    }
}

impl std::ops::DerefMut for Manifest {
    fn deref_mut(&mut self) -> &mut Head {
        &mut self.head
    }
}

impl Clone for Manifest {
    fn clone(&self) -> Manifest {
        let records = self.records.iter();
        Manifest {
            head: self.head.clone(),
            parameters: self.parameters,
            kinds: self.kinds,
            records: records
                .map(|(name, record)| (*name, record.boxed()))
                .collect(),
        }
    }
}

impl Manifest {
    /// A manifest without records, of parts that carry this digest of parameters.
    #[must_use]
    pub fn new(kinds: &'static [RecordKind], parameters: u128) -> Manifest {
        Manifest {
            head: Head {
                format: MANIFEST_FORMAT,
                program: super::directory::program(),
                collection_digest: store::digest_text(parameters),
                inputs: Default::default(),
                origin: None,
                method: None,
                others: Vec::new(),
                costs: Default::default(),
            },
            parameters,
            kinds,
            records: BTreeMap::new(),
        }
    }

    /// Reads a manifest's JSON; every field must be known.
    ///
    /// # Errors
    /// Those of `serde_json`, with the field.
    pub fn from_json(value: Value, kinds: &'static [RecordKind]) -> serde_json::Result<Manifest> {
        let mut fields: Map<String, Value> = serde_json::from_value(value)?;
        let mut records = BTreeMap::new();
        for kind in kinds {
            match fields.remove(kind.name) {
                None | Some(Value::Null) => {}
                Some(value) => {
                    records.insert(kind.name, (kind.read)(value)?);
                }
            }
        }
        let head: Head = serde_json::from_value(Value::Object(fields))?;
        let digest = &head.collection_digest;
        let parameters = store::digest_number(digest).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "collection_digest `{digest}` is not 32 hexadecimal digits"
            ))
        })?;
        Ok(Manifest {
            head,
            parameters,
            kinds,
            records,
        })
    }

    /// The digest of the collection's parameters, as parts carry it.
    #[must_use]
    pub fn parameters(&self) -> u128 {
        self.parameters
    }

    /// A record.
    #[must_use]
    pub fn get<R: StageRecord>(&self) -> Option<&R> {
        self.records.get(R::NAME)?.as_any().downcast_ref()
    }

    /// A record, to change it.
    pub fn get_mut<R: StageRecord>(&mut self) -> Option<&mut R> {
        let record = self.records.get_mut(R::NAME)?;
        record.as_any_mut().downcast_mut()
    }

    /// A record, to change it; made by `make` where there is none.
    pub fn get_or_insert_with<R: StageRecord>(&mut self, make: impl FnOnce() -> R) -> &mut R {
        let slot = self
            .records
            .entry(R::NAME)
            .or_insert_with(|| Box::new(make()));
        let record = slot.as_any_mut().downcast_mut();
        record.unwrap_or_else(|| unreachable!("two types of records are called {}", R::NAME))
    }

    /// Is there such a record?
    #[must_use]
    pub fn has<R: StageRecord>(&self) -> bool {
        self.records.contains_key(R::NAME)
    }

    /// Puts a record in the place of the one that was there.
    pub fn set<R: StageRecord>(&mut self, record: R) {
        self.records.insert(R::NAME, Box::new(record));
    }

    /// Removes a record and returns it.
    pub fn take<R: StageRecord>(&mut self) -> Option<R> {
        let record = self.records.remove(R::NAME)?.into_any();
        record.downcast().ok().map(|record| *record)
    }

    /// Removes a record.
    pub fn remove<R: StageRecord>(&mut self) {
        self.records.remove(R::NAME);
    }

    /// Removes the records of all later stages.
    pub fn remove_after<R: StageRecord>(&mut self) {
        let kinds = self.kinds.iter().map(|kind| kind.name);
        for name in kinds.skip_while(|name| *name != R::NAME).skip(1) {
            self.records.remove(name);
        }
    }

    /// The subdirectories that hold parts.
    pub(super) fn directories(kinds: &[RecordKind]) -> Vec<&'static str> {
        let mut directories = Vec::new();
        for directory in kinds.iter().filter_map(|kind| kind.directory) {
            if !directories.contains(&directory) {
                directories.push(directory);
            }
        }
        directories
    }

    /// Every kind of record that there can be, in the order of the stages.
    #[must_use]
    pub fn kinds(&self) -> &'static [RecordKind] {
        self.kinds
    }

    /// Do the parts in a subdirectory come from the inputs?
    pub(super) fn comes_from_inputs(&self, directory: &str) -> bool {
        let mut kinds = self.kinds.iter();
        kinds.any(|kind| kind.from_inputs && kind.directory == Some(directory))
    }

    /// Every part that it names: subdirectory, kind, part.
    #[must_use]
    pub fn parts(&self) -> Vec<(&'static str, Kind, &PartInfo)> {
        let mut parts = Vec::new();
        for kind in self.kinds {
            let record = self.records.get(kind.name);
            if let (Some(record), Some(directory)) = (record, kind.directory) {
                let own = record.parts().into_iter();
                parts.extend(own.map(|(kind, part)| (directory, kind, part)));
            }
        }
        parts
    }

    /// Every result file that it names; auxiliary files are apart.
    pub fn result_files(&self) -> impl Iterator<Item = &ResultFile> {
        self.records.values().flat_map(|record| record.files())
    }

    /// Takes away what named a part that is gone, and what that stands on it.
    pub(super) fn lose(&mut self, directory: &str, part: &str) {
        let kinds = self.kinds.iter();
        for kind in kinds.filter(|kind| kind.directory == Some(directory)) {
            let Some(record) = self.records.get(kind.name) else {
                continue;
            };
            if record.parts().iter().all(|(_, own)| own.name != part) {
                continue;
            }
            match record.without(part) {
                Some(left) => {
                    self.records.insert(kind.name, left);
                }
                None => {
                    self.records.remove(kind.name);
                }
            }
            for name in kind.takes_along {
                self.records.remove(name);
            }
        }
    }
}

impl Serialize for Manifest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Head {
            format,
            program,
            collection_digest,
            inputs,
            origin,
            method,
            others,
            costs,
        } = &self.head;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("format", format)?;
        map.serialize_entry("program", program)?;
        map.serialize_entry("collection_digest", collection_digest)?;
        map.serialize_entry("inputs", inputs)?;
        if origin.is_some() {
            map.serialize_entry("origin", origin)?;
        }
        if method.is_some() {
            map.serialize_entry("method", method)?;
        }
        for kind in self.kinds {
            match self.records.get(kind.name) {
                Some(record) => {
                    let json = record.to_json().map_err(S::Error::custom)?;
                    map.serialize_entry(kind.name, &json)?;
                }
                None if kind.omitted => {}
                None => map.serialize_entry(kind.name, &Value::Null)?,
            }
        }
        if !others.is_empty() {
            map.serialize_entry("others", others)?;
        }
        map.serialize_entry("costs", costs)?;
        map.end()
    }
}

/// A finished result file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultFile {
    /// File name.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// xxh3 of the content, 16 hexadecimal digits.
    pub checksum: String,
}

impl ResultFile {
    /// One of so many bytes with this checksum.
    #[must_use]
    pub fn new(name: &str, (bytes, checksum): (u64, u64)) -> ResultFile {
        ResultFile {
            name: name.into(),
            bytes,
            checksum: format!("{checksum:016x}"),
        }
    }
}

/// What a stage cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Seconds of wall time.
    pub wall_seconds: f64,
    /// Seconds of CPU time, user and system, all threads.
    pub cpu_seconds: f64,
    /// Peak resident memory of the process until the end of the stage, bytes, earlier stages of the
    /// same process included; 0 where the system does not say.
    pub peak_bytes: u64,
}
