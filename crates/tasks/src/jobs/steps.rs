//! The steps of a search, and their tasks.

use std::fmt;

/// A step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Reads a share of the inputs.
    Read,
    /// Passes the fingerprints of a part to their ranges.
    Frequencies,
    /// Counts how frequent the fingerprints of a range are.
    Classes,
    /// Passes the rarest fingerprints of the documents of a part to their ranges.
    Prefixes,
    /// Finds the documents that share one.
    Candidates,
    /// Makes the candidates of long lists.
    Blocks,
    /// Compares the candidates of a part.
    Verify,
    /// Compares the candidates of different parts.
    Results,
}

impl Step {
    /// All steps, in order.
    pub const ALL: [Step; 8] = [
        Step::Read,
        Step::Frequencies,
        Step::Classes,
        Step::Prefixes,
        Step::Candidates,
        Step::Blocks,
        Step::Verify,
        Step::Results,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Step::Read => "read",
            Step::Frequencies => "frequencies",
            Step::Classes => "classes",
            Step::Prefixes => "prefixes",
            Step::Candidates => "candidates",
            Step::Blocks => "blocks",
            Step::Verify => "verify",
            Step::Results => "results",
        }
    }

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
        format!("{}-{}", self as u8 + 1, self.name())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A task, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub step: Step,
    /// Its number in the step.
    pub number: u32,
}
