//! The `lookalike` program. [`lookalike::cli`] has the commands.

fn main() -> std::process::ExitCode {
    lookalike::cli::main::<lookalike::cli::Commands>()
}
