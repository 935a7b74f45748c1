//! The pages of the laboratory, in the frame of the report page.

pub(crate) mod compare;
mod panels;
pub(crate) mod reproduced;
pub(crate) mod study;
