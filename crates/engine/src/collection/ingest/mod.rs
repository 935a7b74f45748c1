//! From inputs to committed segments.
//!
//! # Parts
//! - `units`: how the inputs are cut into units, each with segments of its own.
//! - `shares`: how the budget is divided, and what batches and documents can take of it.
//! - `credit`: the bytes that may be in flight.
//! - `feeder`: the reader of a unit; it frames records into batches and cuts segments.
//! - `worker`: interprets and shingles the records of a batch.
//! - `writer`: the writer of a unit; it appends batches in input order. Segments are committed in
//!   any order and take their places in the manifest.
//! - `threads`: who does what.
//! - `stats`: the counts of a segment.
//! - `reread`: reads the documents of an ingested collection again.
//!
//! # Damage that is found late
//! A large member of a compressed file shows only at its end that its checksum is wrong. Documents
//! from it were committed by then. So the segments of the unit are taken out of the manifest, and
//! the unit is read again, without the records of that stretch. No bytes of the results depend on
//! when the damage was found.
//!
//! The feeder makes `Work`, a worker turns it into `Done`, and the writer writes it.
//!
//! # Errors
//! `InputChanged` if a file differs from its entry in the list of inputs. Each file is checked
//! before it is opened, after it has been read, and before a segment that ends within it is
//! committed; those that programs convert also at the end. So every committed segment was read from the files as listed. Once the file is
//! restored (including its modification time), the run can continue.

mod feeder;
mod reread;
mod shares;
mod stats;
mod threads;
mod units;
mod worker;
mod writer;

use crate::collection::{
    self, Addition, Additions, CollectionConfig, Cursor, Ingested, SegmentEntry, Segments,
};
use lookalike_base::{
    Budget, Context, Key, Result, budget::ByteSize, counted, progress::Unit as Progressing,
};
use lookalike_store::{PartInfo, Workspace, disk};
use lookalike_text::read::InputFile;

use feeder::{Damaged, Known};
use shares::{INPUT_BYTES, Shares};
use threads::Ingest;
use units::Unit;

pub use units::Share;

pub use reread::Reread;
pub use shares::least_memory;
pub use stats::SegmentStats;

const STAGE: &str = "ingest";
/// Subdirectory of the segments' parts.
const DIRECTORY: &str = "collection";

/// Refuses a budget that is too small for reading this number of inputs.
pub fn require_memory(config: &CollectionConfig, inputs: usize, budget: &Budget) -> Result<()> {
    let least = |most| {
        let mut config = config.clone();
        config.read.max_document = most;
        least_memory(&config, inputs).0
    };
    let most = config.read.max_document;
    budget.require_for(most, least, || {
        let files = counted(inputs as u64, "file");
        format!("reading documents of up to {most} (--max-document) from {files}")
    })
}

/// The last addition of inputs, which is being read. If a part that was read before it is lost, all
/// inputs are read again, in one piece.
fn last_addition(workspace: &mut Workspace) -> Result<Addition> {
    let additions = workspace.manifest.get::<Additions>();
    let Some(&addition) = additions.and_then(|additions| additions.0.last()) else {
        return Ok(Addition::default());
    };
    let begin = Cursor::of_file(addition.file);
    let segments = collection::segments(&workspace.manifest);
    let before = segments.partition_point(|segment| segment.next <= begin);
    if before < addition.segments as usize {
        workspace.manifest.remove::<Additions>();
        return Ok(Addition::default());
    }
    Ok(addition)
}

/// Takes the segments of the units with damaged stretches out of the manifest: documents in them
/// came from bytes whose checksum is wrong. Returns their parts.
fn forget(workspace: &mut Workspace, units: &[Unit], damaged: &[Damaged]) -> Vec<PartInfo> {
    let segments = collection::segments(&workspace.manifest).to_vec();
    let is_damaged = |unit: &&Unit| damaged.iter().any(|(file, _)| unit.files.contains(file));
    let mut gone: Vec<SegmentEntry> = Vec::new();
    for unit in units.iter().filter(is_damaged) {
        gone.extend_from_slice(unit.committed(&segments));
    }
    workspace.manifest.set(Segments::default());
    for segment in segments {
        if !gone.iter().any(|other| other.next == segment.next) {
            collection::insert_segment(&mut workspace.manifest, segment);
        }
    }
    let parts = gone.iter().flat_map(SegmentEntry::parts);
    parts.map(|(_, part)| part.clone()).collect()
}

/// Reads the inputs into committed segments, starting after the last committed one. With a share,
/// reads nothing but that, and also keeps its texts.
pub fn run<K: Key>(
    workspace: &mut Workspace,
    inputs: &[InputFile],
    share: Option<Share>,
    context: &Context<'_>,
) -> Result<()> {
    if collection::ingested(&workspace.manifest) {
        return Ok(());
    }
    let mut config = collection::config(&workspace.manifest).clone();
    config.text |= share.is_some();
    require_memory(&config, inputs.len(), &context.budget)?;
    let addition = last_addition(workspace)?;
    let mut units = units::units(inputs, addition, &config, context.stop);
    let mut total = InputFile::total(inputs);
    if let Some(share) = share {
        units = share.of_units(units);
        total = Some(units.iter().map(|unit| unit.bytes).sum());
    }
    context.stop.check(STAGE)?;
    let begin = Cursor::of_file(addition.file);
    let segments = collection::segments(&workspace.manifest);
    let before = segments.partition_point(|segment| segment.next <= begin);
    if !units::fit(&segments[before..], &units) {
        // Another version began, and cut the inputs differently.
        let kept = segments[..before].to_vec();
        workspace.manifest.set(Segments(kept));
        workspace.settle(&[])?;
    }
    let list = inputs.len() as u64 * INPUT_BYTES;
    let memory = ByteSize(context.budget.memory.0 - list);
    let threads = context.budget.threads;
    let shares = Shares::new(memory, &config, units.len().min(threads), threads > 1);
    context.start(STAGE, Progressing::Bytes, total);
    let mut damaged: Vec<Damaged> = Vec::new();
    loop {
        let known = Known {
            inputs,
            damaged: &damaged,
        };
        let ingest = Ingest::<K>::new(workspace, known, &units, &config, shares, context);
        let found = ingest.run()?;
        if found.is_empty() {
            break;
        }
        let parts = forget(workspace, &units, &found);
        workspace.commit(&[])?;
        for part in parts {
            disk::remove(&workspace.path(DIRECTORY).join(part.name))?;
        }
        damaged.extend(found);
    }
    if !config.read.convert.is_empty() {
        // A program may have changed an input after it was read.
        let files = units.iter().flat_map(|unit| unit.files.clone());
        let mut read = files.filter_map(|file| inputs.get(file as usize));
        read.try_for_each(InputFile::check_path)?;
    }
    workspace.manifest.set(Ingested(true));
    workspace.commit(&[DIRECTORY])
}
