//! Flags that several commands share, each defined once, as groups that a command's options
//! flatten.
//!
//! What only one command has is in that command's file. Defaults come from the library's
//! configurations.

mod input;
mod pairs;
mod resources;
mod values;

pub use input::{CollectionFlags, ReadLimits, Reading, WalkFlags};
pub use pairs::{Comparison, JoinFlags, Planning, ThresholdFlag};
pub use resources::{Json, Limits, Memory, Output, Quiet};
pub use values::List;
