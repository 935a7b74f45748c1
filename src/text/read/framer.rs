//! Framers find where records begin and end.

use super::record::{Reason, RecordKind};

/// The result of one step of a framer.
pub(super) enum Step {
    /// A record; its bytes are in the sink.
    Record {
        kind: RecordKind,
        notice: Option<(Reason, String)>,
    },
    /// A stretch of bytes that is not a record, either in the sink or skipped.
    Rejected {
        reason: Reason,
        docno: Option<String>,
        detail: String,
    },
    /// The end of the stream was reached.
    End,
}

impl Step {
    pub fn rejected(reason: Reason, detail: impl Into<String>) -> Self {
        Step::Rejected {
            reason,
            docno: None,
            detail: detail.into(),
        }
    }
}
