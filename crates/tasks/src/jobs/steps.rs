//! The steps of a search, and their tasks.

use lookalike_base::keywords;

keywords! {
    /// A step of a search.
    #[derive(PartialOrd, Ord)]
    pub enum Step {
        /// Reads a share of the inputs.
        Read = "read",
        /// Passes the fingerprints of a part that are counted to their ranges.
        Frequencies = "frequencies",
        /// Counts how frequent the fingerprints of a range are.
        Classes = "classes",
        /// Passes the rarest fingerprints of the documents of a part to their ranges.
        Prefixes = "prefixes",
        /// Finds the documents that share one.
        Candidates = "candidates",
        /// Makes the candidates of long lists.
        Blocks = "blocks",
        /// Compares the candidates of a part.
        Verify = "verify",
        /// Compares the candidates of different parts.
        Results = "results",
    }
}

impl Step {
    /// The steps whose rows it takes. All of their tasks must be done.
    pub(super) fn sources(self) -> &'static [Step] {
        match self {
            Step::Read => &[],
            Step::Frequencies => &[Step::Read],
            Step::Classes => &[Step::Frequencies],
            Step::Prefixes => &[Step::Classes, Step::Read],
            Step::Candidates => &[Step::Prefixes],
            Step::Blocks => &[Step::Candidates],
            Step::Verify => &[Step::Blocks, Step::Read],
            Step::Results => &[Step::Verify],
        }
    }

    /// The directory of its files: in the order of the steps.
    pub(super) fn directory(self) -> String {
        format!("{}-{}", self as u8 + 1, self.text())
    }
}

/// A task, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub step: Step,
    /// Its number in the step.
    pub number: u32,
}
