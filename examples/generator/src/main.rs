//! Writes `examples/social`, a small social graph in GraphAr: `cargo xtask example`.
//!
//! The graph is drawn by counter from word lists, so that it is equal on every machine, and can grow without changing.

mod edges;
mod names;
mod nodes;
mod social;
mod write;

use std::path::Path;
use std::process::ExitCode;

use isomorph_storage::Location;

fn main() -> ExitCode {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let folder = examples.join("social");
    match write::write(&social::graph(), &Location::from_path(&folder)) {
        Ok(written) => {
            println!("{}: {} files, {} bytes", folder.display(), written.files.len(), written.bytes());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
