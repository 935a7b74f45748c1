//! Flags that several commands share. Each flag is defined once, in a group that the options of the
//! commands flatten.
//!
//! The file of a command defines the flags that only this command has. Defaults come from the
//! configurations of the library.

mod audit;
mod input;
mod pairs;
mod removal;
mod resources;
mod results;
mod units;
mod values;

pub use audit::AuditFlags;
pub use input::{CollectionFlags, InputFlags, Reading, ShingleFlags, WalkFlags};
pub use pairs::{CriterionFlags, JoinFlags, Planning, ThresholdFlag};
pub use removal::RemovalFlags;
pub use resources::{Json, Limits, Memory, Output, Quiet, Threads};
pub use results::ResultsFlag;
pub use units::UnitFlags;
pub use values::{KeepOrDrop, List};
