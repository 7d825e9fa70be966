//! The isomorph command.

use std::process::ExitCode;

use isomorph::convert::Registry;

fn main() -> ExitCode {
    isomorph_cli::main(&Registry::standard(), std::env::args_os())
}
