//! The isomorph command with a seventh format.

use std::process::ExitCode;

use isomorph::convert::Registry;
use isomorph_seventh::Seventh;

fn main() -> ExitCode {
    isomorph_cli::main(&Registry::standard().with(Seventh), std::env::args_os())
}
