//! The `lookalike` command: arguments, one library call, the result on the terminal.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
