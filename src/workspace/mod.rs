//! What an output directory holds, and what of it may be reused.
//!
//! # In and out
//! `inputs.jsonl` lists the input files. `manifest.json` names every committed part with its size and checksum, the parameters and inputs
//! that made them, and what each stage counted. [`Workspace`] opens or makes a directory, keeps
//! other processes out, removes scrap, and commits.
//!
//! # Algorithm
//! A stage's entry carries a digest of its own parameters and of those of the stages it stands on.
//! [`Workspace::keep_sample`] and [`Workspace::keep_pairs`] drop the entries whose digest is not the
//! one wanted, and with an entry those that stand on it; nothing else is touched.
//!
//! # Invariants
//! - A commit is: parts synced under their names, their directory synced, `manifest.json.tmp`
//!   written and synced, renamed, directory synced. A stop at any point leaves the old manifest or
//!   the new one.
//! - A part of ours that no manifest names is scrap: it is removed at the next start.
//! - A part that the manifest names and that is gone is made again, with what stands on it: to delete a
//!   damaged file and to repeat the command mends the directory.
//!
//! # Errors
//! `Locked`, `Incompatible`, `InputChanged`, `Corrupt` (the manifest itself), `Io`.

mod directory;
mod inputs;
mod lock;
mod manifest;
mod others;
mod record;

pub use directory::{MANIFEST_FILE, Workspace};
pub(crate) use inputs::modified_ns;
pub use inputs::{FileIdentity, INPUTS_FILE, InputEntry, InputList, InputsEntry, Skipped};
pub use lock::LOCK_FILE;
pub(crate) use lock::Lock;
pub use manifest::{Cost, Manifest, ResultFile};
pub(crate) use others::{check as check_file, put as put_file};
pub use record::{RecordKind, StageRecord};
