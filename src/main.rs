//! The `lookalike` program. [`lookalike::cli`] has the commands.

fn main() -> std::process::ExitCode {
    #[cfg(feature = "faults")]
    if let Ok(text) = std::env::var("LOOKALIKE_FAULTS")
        && let Err(what) = lookalike::store::disk::faults::arm_process(&text)
    {
        eprintln!("LOOKALIKE_FAULTS: cannot understand {what}");
        return std::process::ExitCode::from(2);
    }
    lookalike::cli::main()
}
