//! The `lookalike-lab` program. [`lookalike_lab::cli`] has the commands.

fn main() -> std::process::ExitCode {
    lookalike::cli::main::<lookalike_lab::cli::Commands>()
}
