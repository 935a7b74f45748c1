//! Reads the program's directories and files, checks every byte, and prints them as text.

mod verify;

pub use verify::{Verified, inspect, stages, verify};
