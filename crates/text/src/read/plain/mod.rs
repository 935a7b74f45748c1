//! Texts without a format: whole files, the sections of `--split-at`, and files that perhaps have
//! several documents.

pub(super) mod frame_lines;
pub(super) mod frame_sections;
pub(super) mod several;
