//! Reads directories and files of the program's formats: checks every byte, and shows them as text.

mod verify;

pub use verify::{Verified, inspect, stages, verify};
