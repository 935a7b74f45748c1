//! What all formats need: the configuration; records, their fields, and what may be named; the
//! window over the bytes of a file; what an interpreter returns.

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
