//! Copies of inputs that keep chosen records.

pub(crate) mod parquet;
