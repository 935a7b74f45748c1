//! What goes wrong goes wrong well, where it takes a process of its own: signals, kills, power cuts, panics, full
//! disks, limits of the operating system, inputs made to do harm.

#[path = "../common/mod.rs"]
mod common;

mod full_disk;
mod hostile;
mod killed;
mod limits;
#[cfg(feature = "faults")]
mod panics;
#[cfg(feature = "faults")]
mod signals;
#[cfg(feature = "faults")]
mod torture;
