//! Whether the formats and fields of the inputs fit the parameters.

use super::{Form, Policy, Rewriting, STAGE};
use lookalike_base::{Error, Result, refuse};
use lookalike_rewrite::parquet;
use lookalike_rewrite::source::is_parquet;
use lookalike_store::disk;
use lookalike_text::read::{Batch, Container, FileRecords, InputFile, ReadConfig, RecordReader};

/// Refuses inputs that cannot be annotated or written again, and `revisit` records without a WARC
/// file. Looks at the first bytes of each input.
pub(super) fn check(of: Rewriting<'_>, inputs: &[InputFile]) -> Result<()> {
    let (config, stop) = (of.config, of.context.stop);
    let annotated = config.form == Form::Annotated;
    for input in inputs {
        stop.check(STAGE)?;
        if config.form != Form::Lists && input.problem.is_none() && is_parquet(&input.path)? {
            let file = disk::open_regular(&input.path)?;
            parquet::refuse_encrypted(&file, &input.path)?;
        }
    }
    let payloads = config.needs_payloads();
    if !annotated && payloads.is_none() {
        return Ok(());
    }
    for input in inputs {
        stop.check(STAGE)?;
        match FileRecords::open(input, 0, of.read, STAGE, stop).container()? {
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
        Some((parameter, value)) => {
            let limit = "no input is a WARC file; leave the flag out";
            refuse(parameter, value, limit)
        }
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
pub(super) fn check_fields(of: Rewriting<'_>, inputs: &[InputFile]) -> Result<()> {
    let mut missing: Vec<&Policy> = of.config.keep.iter().collect();
    missing.retain(|policy| policy.field().is_some());
    let mut all = inputs.len() <= LOOK_INPUTS;
    for input in inputs.iter().take(LOOK_INPUTS) {
        all &= look(of, input, &mut missing, true)?;
    }
    let Some(policy) = missing.first() else {
        return Ok(());
    };
    if !all {
        let rest = "no record at the beginning of the inputs has the field; looking in the rest";
        let line = format!("warning: --keep {policy}: {rest}");
        of.context.progress.note(&line);
        for input in inputs {
            look(of, input, &mut missing, false)?;
        }
    }
    match missing.first() {
        None => Ok(()),
        Some(policy) => {
            let field = policy.field().unwrap_or_default();
            let limit = RecordReader::no_such_field(field, inputs, of.read);
            refuse("keep", policy, limit)
        }
    }
}

/// Removes the policies whose fields a record of an input has. Returns whether it read the whole
/// input; with `beginning`, it may have more.
fn look(
    of: Rewriting<'_>,
    input: &InputFile,
    missing: &mut Vec<&Policy>,
    beginning: bool,
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
        ..of.read.clone()
    };
    let mut reader = match beginning {
        true => RecordReader::beginning(input, LOOK_BYTES, &config)
            .map_err(Error::io("open", &input.path))?,
        false => RecordReader::open(input, 0, &config, of.context.stop),
    };
    let (mut batch, mut records) = (Batch::default(), 0);
    let most = if beginning { LOOK_ROWS } else { usize::MAX };
    while found.len() < missing.len() && records < most {
        let Some((record, bytes)) = reader.next_of(&mut batch) else {
            break;
        };
        of.context.stop.check(STAGE)?;
        let has = |field: &str| record.kind.field(bytes, field).is_some();
        for policy in missing.iter() {
            if policy.field().is_some_and(has) && !found.contains(policy) {
                found.push(*policy);
            }
        }
        records += 1;
    }
    all &= records < most;
    missing.retain(|policy| !found.contains(policy));
    Ok(all)
}
