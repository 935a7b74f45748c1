//! The pages of the laboratory, in the frame of the report page.

pub(crate) mod compare;
mod panels;
mod plotted;
pub mod reproduced;
pub mod study;
