//! Whether the formats and fields of the inputs fit the parameters.

use super::{DedupConfig, Form, Policy, STAGE};
use lookalike_base::error::refuse;
use lookalike_base::progress::Context;
use lookalike_base::{Error, Result};
use lookalike_rewrite::again::Again;
use lookalike_rewrite::parquet;
use lookalike_rewrite::source::is_parquet;
use lookalike_store::disk::{self, SharedFile};
use lookalike_text::read::{Batch, Container, InputFile, ReadConfig, RecordReader};

/// Refuses inputs that cannot be annotated or written again, and `revisit` records without a WARC
/// file. Looks at the first bytes of each input.
pub(super) fn check(
    config: &DedupConfig,
    inputs: &[InputFile],
    read: &ReadConfig,
    context: &Context<'_>,
) -> Result<()> {
    let annotated = config.form == Form::Annotated;
    for input in inputs {
        context.stop.check(STAGE)?;
        if config.form != Form::Lists && input.problem.is_none() && is_parquet(&input.path)? {
            let file = SharedFile::new(disk::open_regular(&input.path)?);
            parquet::refuse_encrypted(&file, &input.path)?;
        }
    }
    let payloads = config.needs_payloads();
    if !annotated && payloads.is_none() {
        return Ok(());
    }
    for input in inputs {
        context.stop.check(STAGE)?;
        match Again::open(input, 0, read, context.stop).container()? {
            Some(Container::Warc) if !annotated => return Ok(()),
            None | Some(Container::Json | Container::Parquet) => {}
            Some(other) if annotated => {
                let limit = format!(
                    "its format is {}, and only JSON objects and rows of Parquet can be \
                         annotated; leave the file out (--exclude), or write lists with --ids-only",
                    other.text()
                );
                return refuse("annotate", input.path.display(), limit);
            }
            Some(_) => {}
        }
    }
    match payloads.filter(|_| !annotated) {
        None => Ok(()),
        Some((parameter, value)) => refuse(
            parameter,
            value,
            "no input is a WARC file; leave the flag out",
        ),
    }
}

/// Bytes and rows at the beginning of each input in which fields are looked for.
const LOOK_BYTES: u64 = 256 << 10;
const LOOK_ROWS: usize = 4096;
/// The most inputs whose beginning is read.
const LOOK_INPUTS: usize = 256;

/// Looks for the fields of policies in the inputs before they are searched, and refuses a field
/// that no record has. If a field is not at the beginning of the inputs, all of them are read until
/// a record has it.
pub(super) fn check_fields(
    policies: &[Policy],
    inputs: &[InputFile],
    read: &ReadConfig,
    context: &Context<'_>,
) -> Result<()> {
    let mut missing: Vec<&Policy> = policies.iter().filter(|p| p.field().is_some()).collect();
    let mut all = inputs.len() <= LOOK_INPUTS;
    for input in inputs.iter().take(LOOK_INPUTS) {
        all &= look(input, &mut missing, (read, true), context)?;
    }
    let Some(policy) = missing.first() else {
        return Ok(());
    };
    if !all {
        let rest = "no record at the beginning of the inputs has the field; looking in the rest";
        context
            .progress
            .note(&format!("warning: --keep {policy}: {rest}"));
        for input in inputs {
            look(input, &mut missing, (read, false), context)?;
        }
    }
    match missing.first() {
        None => Ok(()),
        Some(policy) => {
            let field = policy.field().unwrap_or_default();
            let limit = RecordReader::no_such_field(field, inputs, read);
            refuse("keep", policy, limit)
        }
    }
}

/// Removes the policies whose fields a record of an input has. Returns whether it read the whole
/// input; with `beginning`, it may have more.
fn look(
    input: &InputFile,
    missing: &mut Vec<&Policy>,
    (read, beginning): (&ReadConfig, bool),
    context: &Context<'_>,
) -> Result<bool> {
    if missing.is_empty() || input.problem.is_some() {
        return Ok(true);
    }
    let of_rows = is_parquet(&input.path)?;
    let size = input.identity.as_ref().map_or(u64::MAX, |file| file.size);
    let mut all = of_rows || !beginning || size <= LOOK_BYTES;
    let mut found = Vec::new();
    // A row of Parquet has only the fields that are asked for.
    let fields = missing.iter().filter_map(|policy| policy.field());
    let config = ReadConfig {
        fields: fields.map(Into::into).collect(),
        ..read.clone()
    };
    let mut reader = match beginning {
        true => RecordReader::beginning(input, LOOK_BYTES, &config)
            .map_err(Error::io("open", &input.path))?,
        false => RecordReader::open(input, 0, &config, context.stop),
    };
    let (mut batch, mut records) = (Batch::default(), 0);
    let most = if beginning { LOOK_ROWS } else { usize::MAX };
    while found.len() < missing.len() && records < most && reader.next_into(&mut batch) {
        context.stop.check(STAGE)?;
        for record in &batch.records {
            let bytes = batch.bytes.get(record.bytes.clone()).unwrap_or_default();
            let has = |field: &str| record.kind.field(bytes, field).is_some();
            for policy in missing.iter() {
                if policy.field().is_some_and(has) && !found.contains(policy) {
                    found.push(*policy);
                }
            }
            records += 1;
        }
        batch.clear();
    }
    all &= records < most;
    missing.retain(|policy| !found.contains(policy));
    Ok(all)
}
