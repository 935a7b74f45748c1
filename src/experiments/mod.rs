//! What runs the pipeline several times to learn something: trials, studies, sampling plans, methods compared.
//!
//! - `trial`: one run with other parameters over a collection that is there, in a directory of its own.
//! - [`study`]: precision and recall of every sampling ratio (Ye, Wen & Ma 2008, sections 5 and 6).
//! - [`plan`]: a sampling ratio for each size group.
//! - [`compare`]: the methods of the papers side by side.
//! - [`perturb`]: corpora with known pairs.
//! - [`formulas`]: what the papers expect.

pub mod compare;
pub mod formulas;
pub mod perturb;
pub mod plan;
pub mod study;
pub(crate) mod trial;
