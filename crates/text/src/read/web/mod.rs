//! Archives of the web, and the messages of HTTP in them.

pub(super) mod archive;
pub(super) mod capture;
pub(super) mod frame_archive;
pub(super) mod http;
pub(super) mod trec_web;
pub(super) mod warc;
