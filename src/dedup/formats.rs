//! Whether the formats of the inputs fit the parameters.

use super::{DedupConfig, Form, Revisit, STAGE};
use crate::progress::Context;
use crate::read::{Container, InputFile, ReadConfig, RecordReader};
use crate::{Error, Result};

/// Refuses inputs that cannot be annotated, and `revisit` records without a WARC file. Looks at the
/// first bytes of each input, and only if the parameters ask for one of both.
pub(super) fn check(
    config: &DedupConfig,
    inputs: &[InputFile],
    read: &ReadConfig,
    context: &Context<'_>,
) -> Result<()> {
    let annotated = config.form == Form::Annotated;
    if !annotated && config.revisit == Revisit::None {
        return Ok(());
    }
    for input in inputs {
        context.stop.check(STAGE)?;
        let mut reader = RecordReader::open(input, 0, read, context.stop);
        let container = reader.container();
        if let Some(error) = reader.failure() {
            return Err(error).map_err(Error::io("read", &input.path));
        }
        match container {
            Some(Container::Warc) if !annotated => return Ok(()),
            None | Some(Container::Json | Container::Parquet) => {}
            Some(other) if annotated => {
                return Err(Error::BadParameter {
                    name: "annotate",
                    given: input.path.display().to_string(),
                    limit: format!(
                        "its format is {}, and only JSON objects and rows of Parquet can be \
                         annotated; leave the file out (--exclude), or write lists with --ids-only",
                        other.text()
                    ),
                });
            }
            Some(_) => {}
        }
    }
    if annotated {
        return Ok(());
    }
    Err(Error::BadParameter {
        name: "revisit",
        given: config.revisit.text().into(),
        limit: "no input is a WARC file; leave the flag out".into(),
    })
}
