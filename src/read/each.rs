//! Reads every record of the inputs in order, on one thread.

use super::{Batch, InputFile, Interpreted, ReadConfig, RecordReader, interpret};
use crate::progress::Context;
use crate::{Error, Result};

/// Number of records between checks for a stop request.
const LOOK_AFTER: u64 = 1024;

/// Reads the records of the inputs in order, one in memory at a time. Progress of `stage` continues
/// from `before` bytes.
pub(crate) fn each_interpreted(
    inputs: &[InputFile],
    config: &ReadConfig,
    (stage, mut before): (&'static str, u64),
    context: &Context<'_>,
    mut act: impl FnMut(Interpreted<'_>) -> Result<()>,
) -> Result<()> {
    config.check()?;
    let mut records = 0u64;
    let mut batch = Batch::default();
    for (file, input) in inputs.iter().enumerate() {
        context.stop.check(stage)?;
        input.check_path()?;
        let file = u32::try_from(file).unwrap_or(u32::MAX);
        let mut reader = RecordReader::open(input, file, config, context.stop);
        loop {
            batch.clear();
            let more = reader.next_into(&mut batch);
            if let Some(error) = reader.failure() {
                return Err(error).map_err(Error::io("read", &input.path));
            }
            if !more {
                break;
            }
            for record in &batch.records {
                if records.is_multiple_of(LOOK_AFTER) {
                    context.stop.check(stage)?;
                    context.progress.at(before + reader.position());
                }
                records += 1;
                let bytes = batch.bytes.get(record.bytes.clone()).unwrap_or_default();
                act(interpret(record, bytes, config))?;
            }
        }
        // Standard input ends early when a stop is requested.
        context.stop.check(stage)?;
        reader.check_unchanged(input)?;
        before += input.identity.as_ref().map_or(0, |f| f.size);
        context.progress.at(before);
    }
    Ok(())
}
