//! Flags that several commands share. Each flag is defined once, in a group that the options of the
//! commands flatten.
//!
//! The file of a command defines the flags that only this command has. Defaults are those of
//! the configurations of the library.

mod audit;
mod input;
mod pairs;
mod resources;
mod results;
mod stores;
mod values;

pub(crate) use audit::AuditFlags;
pub(crate) use input::ShingleFlags;
pub use input::{CollectionFlags, InputFlags, Programs, Reading, WalkFlags};
pub use pairs::ThresholdFlag;
pub(crate) use pairs::{CriterionFlags, JoinFlags, Planning};
pub use resources::{Answering, Json, Limits, Memory, Output, Quiet, Threads, With};
pub use results::ResultsFlag;
pub use stores::StoreFlags;
pub use values::List;
pub(crate) use values::{Lowest, lowest};
