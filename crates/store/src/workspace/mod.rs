//! The contents of an output directory, and which of them a later run may reuse.
//!
//! # In and out
//! `inputs.jsonl` lists the input files. `manifest.json` names every committed part with its size
//! and checksum, the parameters and inputs that produced it, and the counts of each stage.
//! [`Workspace`] opens or creates a directory, keeps other processes out, removes scrap, and
//! commits.
//!
//! # Algorithm
//! The record of a stage carries a digest of the stage's own parameters and of the stages that it
//! depends on. A stage whose record has another digest removes that record and the records of all
//! later stages (`Manifest::remove_after`). Earlier records are kept.
//!
//! # Invariants
//! - A commit has five steps: sync the parts under their names, sync their directory, write and
//!   sync `manifest.json.tmp`, rename it, and sync the output directory. A stop at any point leaves
//!   either the old manifest or the new one.
//! - A part that carries one of our names and that the manifest does not name is scrap. The next
//!   start removes it.
//! - If the manifest names a part that is missing, the next run rebuilds the part and everything
//!   that depends on it. To repair a damaged file, delete it and run the same command again.
//!
//! # Errors
//! `Locked`, `Incompatible`, `InputChanged`, `Corrupt` (the manifest itself), `Io`.

mod directory;
mod inputs;
mod lock;
mod manifest;
mod others;
mod own;
mod place;
mod record;

pub use directory::{Places, Workspace};
pub use inputs::{
    Arranged, FileIdentity, INPUTS_FILE, InputEntry, InputList, InputsEntry, Skipped, arrange,
    check as check_inputs, other_inputs,
};
pub use lock::{LOCK_FILE, Lock};
pub use manifest::{
    Base, Cost, MANIFEST_FILE, Manifest, Meter, ResultFile, check as check_file, put as put_file,
};
pub use own::OwnDirectory;
pub use place::{
    OutputKind, PRIVATE, SOURCE_FILE, STATE_FILE, check_address, check_secret, has_records,
    missing, output_kind, refuse_below_another, refuse_held, refuse_remote, resolved,
};
pub use record::{StageRecord, StageRecordKind};
