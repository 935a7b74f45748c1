//! Elements: newswire in SGML, and the elements of `--record`.

pub(super) mod elements;
pub(super) mod frame_elements;
pub(super) mod frame_trec;
pub(super) mod sgml;
