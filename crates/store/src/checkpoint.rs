//! The finished work of a command that searches a whole collection, so that it can continue after a
//! stop.
//!
//! # In and out
//! In: external sorts ([`Sort`]), into which a command puts what it finds in the units of
//! the inputs, and steps that write result files. Out: the parts of the sorts in the subdirectory
//! [`DIRECTORY`], and the record [`Checkpoint`], which names them until the command has ended.
//!
//! # Invariants
//! - The parts of a record have all items of the units that it calls done. They may also have items
//!   of other units, which are read again: a sort then has some items twice.
//! - A part is removed only when no record names it.
//!
//! # Errors
//! Those of the store.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::workspace::{MANIFEST_FILE, ResultFile, StageRecord, Workspace};
use crate::{Item, Kind, PartInfo, Parts, Sort, disk, part_number};
use lookalike_base::{Error, Result, budget::ByteSize, lock, unlocked};

/// The subdirectory of the parts.
pub const DIRECTORY: &str = "checkpoint";

/// The record of a command that was begun.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Digest of what it does, and with which collection.
    pub of: String,
    /// Its sorts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sorts: BTreeMap<String, SortEntry>,
    /// Counts, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
    /// Finished steps.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub steps: BTreeMap<String, StepEntry>,
}

/// A sort that is under way, or complete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SortEntry {
    /// Its parts.
    pub parts: Vec<PartInfo>,
    /// The units whose items are all in the parts.
    #[serde(default, skip_serializing_if = "Units::is_empty")]
    pub units: Units,
    /// Whether the parts have all items.
    pub complete: bool,
}

/// A finished step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEntry {
    /// Digest of its parameters.
    pub of: String,
    /// The names of its files, which the manifest has.
    pub files: Vec<String>,
    /// The counts and findings of the step.
    pub found: Value,
}

/// A set of units: disjoint ranges in order, which do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Units(Vec<Range<usize>>);

impl Units {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a unit is in it.
    pub fn has(&self, unit: usize) -> bool {
        let after = self.0.partition_point(|range| range.end <= unit);
        self.0.get(after).is_some_and(|range| range.contains(&unit))
    }

    /// Adds a unit.
    pub fn add(&mut self, unit: usize) {
        if self.has(unit) {
            return;
        }
        let at = self.0.partition_point(|range| range.end < unit);
        match self.0.get_mut(at) {
            Some(range) if range.end == unit => range.end += 1,
            Some(range) if range.start == unit + 1 => range.start = unit,
            _ => return self.0.insert(at, unit..unit + 1),
        }
        let next = self.0.get(at + 1).cloned();
        if let (Some(range), Some(next)) = (self.0.get_mut(at), next)
            && range.end == next.start
        {
            range.end = next.end;
            self.0.remove(at + 1);
        }
    }
}

impl StageRecord for Checkpoint {
    const NAME: &'static str = "checkpoint";
    const OMITTED: bool = true;
    const DIRECTORY: Option<&'static str> = Some(DIRECTORY);

    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        let sorts = self.sorts.values();
        let parts = sorts.flat_map(|sort| &sort.parts);
        parts.map(|part| (Kind::Sorted, part)).collect()
    }
}

/// The parameters of the last search of the collection that was not a search for pairs. The next
/// search keeps each parameter that it is not given.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LastSearch(pub Value);

impl StageRecord for LastSearch {
    const NAME: &'static str = "last_search";
    const OMITTED: bool = true;
}

/// The checkpoint of a command that runs.
pub struct Checkpoints<'w> {
    workspace: Mutex<&'w mut Workspace>,
    /// The names of its sorts. Their parts have numbers of their own.
    names: &'static [&'static str],
    directory: PathBuf,
    parameters: u128,
}

impl<'w> Checkpoints<'w> {
    /// Continues the work that has the digest `of`, or begins it. The work of another command is
    /// removed.
    pub fn begin(
        workspace: &'w mut Workspace,
        names: &'static [&'static str],
        of: &str,
    ) -> Result<Checkpoints<'w>> {
        if workspace.matches::<Checkpoint>(|old| old.of != of) {
            workspace.manifest.remove::<Checkpoint>();
            workspace.settle(&[])?;
        }
        let new = || Checkpoint {
            of: of.into(),
            ..Checkpoint::default()
        };
        workspace.manifest.get_or_insert_with(new);
        Ok(Checkpoints {
            names,
            directory: workspace.path(DIRECTORY),
            parameters: workspace.collection_parameters(),
            workspace: Mutex::new(workspace),
        })
    }

    /// The workspace. No other thread may save anything while the caller has it.
    pub fn workspace(&self) -> MutexGuard<'_, &'w mut Workspace> {
        lock(&self.workspace)
    }

    fn saved<T>(&self, get: impl FnOnce(&Checkpoint) -> Option<T>) -> Option<T> {
        self.workspace().manifest.get::<Checkpoint>().and_then(get)
    }

    /// Whether a sort is complete.
    pub fn is_complete(&self, name: &str) -> bool {
        let complete = |saved: &Checkpoint| saved.sorts.get(name).map(|sort| sort.complete);
        self.saved(complete).unwrap_or(false)
    }

    /// A count that was saved, or 0.
    pub fn count(&self, name: &str) -> u64 {
        let count = self.saved(|saved| saved.counts.get(name).copied());
        count.unwrap_or(0)
    }

    /// A sort, with the items that were saved.
    pub fn sorter<T: Item>(&self, name: &str, memory: ByteSize) -> Sort<T> {
        let sort = self.saved(|saved| saved.sorts.get(name).cloned());
        let sort = sort.unwrap_or_default();
        let number = self.names.iter().position(|own| *own == name).unwrap_or(0) as u64;
        let numbers = sort.parts.iter().filter_map(|part| part_number(&part.name));
        let own = numbers.filter(|part| part >> 32 == number).max();
        let next = own.map_or(number << 32, |last| last + 1);
        let place = (&*self.directory, self.parameters);
        Sort::resumed(place, next, sort.parts, memory)
    }

    /// A sort into which the items of units come.
    pub fn sort<'c, T: Item>(&'c self, name: &'static str, memory: ByteSize) -> UnitSort<'c, T> {
        let units = self.saved(|saved| saved.sorts.get(name).map(|sort| sort.units.clone()));
        let save: Save<'c> = Box::new(move |sorter, units| {
            self.save(&mut [sorter], |record, sorters| {
                let sort = record.sorts.entry(name.into()).or_default();
                for sorter in sorters {
                    sort.parts = sorter.parts().0.to_vec();
                }
                sort.units.clone_from(units);
            })
        });
        let sorter = self.sorter(name, memory);
        UnitSort::new(sorter, units.unwrap_or_default(), Some(save))
    }

    /// Changes the record. The parts of `sorter` that the record does not name any more are
    /// removed.
    fn save(
        &self,
        sorters: &mut [&mut Parts],
        change: impl FnOnce(&mut Checkpoint, &[&mut Parts]),
    ) -> Result<()> {
        let mut workspace = self.workspace();
        let record = workspace.manifest.get_or_insert_with(Checkpoint::default);
        let before = names(record);
        change(record, sorters);
        let after = names(record);
        let new = record.parts().into_iter().map(|(_, part)| part);
        let new = new.filter(|part| !before.contains(&part.name));
        let bytes = new.map(|part| part.bytes).sum();
        let gone: Vec<_> = before.iter().filter(|name| !after.contains(name)).collect();
        match gone.is_empty() {
            true => workspace.commit_part(&[DIRECTORY], bytes)?,
            false => workspace.commit(&[DIRECTORY])?,
        }
        for name in gone {
            disk::remove(&self.directory.join(name))?;
        }
        for path in (sorters.iter_mut()).flat_map(|sorter| std::mem::take(&mut sorter.merged)) {
            disk::remove(&path)?;
        }
        Ok(())
    }

    /// Writes all items of sorts, saves them, whether they are complete, and the counts, and
    /// removes other sorts, which are not needed any more.
    pub fn save_all(
        &self,
        sorts: &mut [(&str, &mut Parts, bool)],
        counts: &[(&str, u64)],
        done: &[&str],
    ) -> Result<()> {
        for (_, sorter, _) in sorts.iter_mut() {
            sorter.flush()?;
        }
        let names: Vec<_> = sorts.iter().map(|(name, _, all)| (*name, *all)).collect();
        let mut sorters: Vec<_> = sorts
            .iter_mut()
            .map(|(_, sorter, _)| &mut **sorter)
            .collect();
        self.save(&mut sorters, |record, sorters| {
            for ((name, complete), sorter) in names.iter().zip(sorters) {
                let sort = record.sorts.entry((*name).into()).or_default();
                (sort.parts, sort.complete) = (sorter.parts().0.to_vec(), *complete);
                sort.units = Units::default();
            }
            for (name, count) in counts {
                record.counts.insert((*name).into(), *count);
            }
            for name in done {
                record.sorts.remove(*name);
            }
        })
    }

    /// The files of a finished step with these parameters, if they are there, and what it found.
    pub fn step<T: DeserializeOwned>(&self, name: &str, of: &str) -> Option<(Vec<String>, T)> {
        let step = self.saved(|saved| saved.steps.get(name).cloned())?;
        let workspace = self.workspace();
        let is_whole = step.of == of && step.files.iter().all(|file| workspace.is_whole(file));
        let found = serde_json::from_value(step.found).ok();
        found.filter(|_| is_whole).map(|found| (step.files, found))
    }

    /// Names the files of a finished step in the manifest.
    pub fn finish_step<T: Serialize>(
        &self,
        name: &str,
        of: &str,
        found: &T,
        files: &[ResultFile],
    ) -> Result<()> {
        let mut workspace = self.workspace();
        let place = workspace.path(MANIFEST_FILE);
        let record = workspace.manifest.get_or_insert_with(Checkpoint::default);
        let step = StepEntry {
            of: of.into(),
            files: files.iter().map(|file| file.name.clone()).collect(),
            found: serde_json::to_value(found)
                .map_err(|e| Error::io("encode", &place)(e.into()))?,
        };
        record.steps.insert(name.into(), step);
        workspace.name_others(files.to_vec())
    }

    /// Ends the command: names its files in the manifest, and removes the sorts. With `steps`, the
    /// record of finished steps is kept.
    pub fn end(self, steps: bool, files: Vec<ResultFile>) -> Result<()> {
        let workspace = unlocked(self.workspace);
        let record = workspace.manifest.take::<Checkpoint>().unwrap_or_default();
        if steps && !record.steps.is_empty() {
            workspace.manifest.set(Checkpoint {
                sorts: BTreeMap::new(),
                ..record
            });
        }
        workspace.name_others(files)?;
        workspace.remove_scrap(1)
    }
}

/// Ends a command that continued from the finished steps of another one.
pub fn end(workspace: &mut Workspace) -> Result<()> {
    match workspace.manifest.take::<Checkpoint>() {
        Some(_) => workspace.commit(&[]),
        None => Ok(()),
    }
}

fn names(record: &Checkpoint) -> Vec<String> {
    let parts = record.parts().into_iter();
    parts.map(|(_, part)| part.name.clone()).collect()
}

/// A sort of the items of units, which several threads share. It is saved when it has a new part,
/// if more units are done than before: so a command that fails at the same place again and again
/// leaves no more each time.
pub struct UnitSort<'c, T>(Mutex<UnitState<'c, T>>);

struct UnitState<'c, T> {
    sorter: Sort<T>,
    units: Units,
    /// Whether units were done since it was saved.
    more: bool,
    save: Option<Save<'c>>,
}

/// Saves a sort and the units whose items it has.
type Save<'c> = Box<dyn Fn(&mut Parts, &Units) -> Result<()> + Send + 'c>;

impl<'c, T: Item> UnitSort<'c, T> {
    fn new(sorter: Sort<T>, units: Units, save: Option<Save<'c>>) -> UnitSort<'c, T> {
        UnitSort(Mutex::new(UnitState {
            sorter,
            units,
            more: false,
            save,
        }))
    }

    /// A sort that is not saved.
    pub fn temporary(sorter: Sort<T>) -> UnitSort<'c, T> {
        UnitSort::new(sorter, Units::default(), None)
    }

    /// Whether it has all items of a unit.
    pub fn has(&self, unit: usize) -> bool {
        lock(&self.0).units.has(unit)
    }

    /// Adds items that a thread has collected.
    pub fn push(&self, items: &mut Vec<T>) -> Result<()> {
        let state = &mut *lock(&self.0);
        for item in items.drain(..) {
            let before = state.sorter.untyped.parts().1;
            state.sorter.push(item)?;
            if state.more
                && state.sorter.untyped.parts().1 != before
                && let Some(save) = &state.save
            {
                save(&mut state.sorter.untyped, &state.units)?;
                state.more = false;
            }
        }
        Ok(())
    }

    /// All items of a unit were added.
    pub fn done(&self, unit: usize) {
        let mut state = lock(&self.0);
        state.units.add(unit);
        state.more = true;
    }

    /// The sort, which has all items.
    pub fn into_sorter(self) -> Sort<T> {
        unlocked(self.0).sorter
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_base::random::Random;

    #[test]
    fn units_are_a_set() {
        let mut random = Random::new(7);
        for count in [1, 2, 3, 10, 50] {
            let (mut units, mut expected) = (Units::default(), vec![false; count]);
            for _ in 0..3 * count {
                let unit = random.below(count as u64) as usize;
                units.add(unit);
                expected[unit] = true;
                for (unit, expected) in expected.iter().enumerate() {
                    assert_eq!(units.has(unit), *expected, "{unit} in {units:?}");
                }
                let apart = units.0.windows(2).all(|pair| pair[0].end < pair[1].start);
                assert!(apart && units.0.iter().all(|range| !range.is_empty()));
            }
        }
    }
}
