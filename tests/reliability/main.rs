//! What goes wrong goes wrong well: stops, failing disks, damaged files. All of it happens in this
//! process.
//!
//! No test here starts another process: for a moment, a process that is being started has a copy of
//! every lock that the tests hold. Those that do are in `tests/processes`.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/damage.rs"]
mod damage;

mod corruption;
mod corruption_answers;
mod corruption_remedies;
#[cfg(feature = "faults")]
mod faults;
mod resume;
