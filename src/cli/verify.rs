//! `verify`: every committed file of an output directory, read again.

use std::process::ExitCode;

use lookalike::Result;
use lookalike::inspect::verify;
use lookalike::numbers::counted;

use super::args::VerifyOptions;

pub fn run(options: &VerifyOptions) -> Result<ExitCode> {
    let found = verify(&options.directory)?;
    for error in &found.errors {
        super::tell_error(error);
    }
    let (files, bytes) = (counted(found.files, "file"), counted(found.bytes, "byte"));
    let damaged = found.errors.len();
    super::say(&format!("{files}, {bytes}, {damaged} damaged\n"))?;
    Ok(if found.errors.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
