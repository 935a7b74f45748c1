//! The parts that all formats need: the configuration; records, their fields, and the names that
//! users may give; the window over the bytes of a file; the results of an interpreter.

pub(super) mod bytes;
pub(super) mod config;
pub(super) mod convert;
pub(super) mod date;
pub(super) mod dialect;
pub(super) mod fields;
pub(super) mod framer;
pub(super) mod outcome;
pub(super) mod record;
pub(super) mod resolve;
pub(super) mod split_at;
pub(super) mod stream;
pub(super) mod unread;
