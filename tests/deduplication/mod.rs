//! `dedup`, as a user calls it: which documents stay, what is written, and what is left alone.

mod agreement;
mod audit;
mod bytes;
mod exclude;
#[cfg(feature = "faults")]
mod killed;
mod oracle;
mod references;
mod revisit;
mod rows;
mod safety;
mod same;
mod support;
mod tables;
