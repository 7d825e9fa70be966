//! `import`: mapping files, which say which graph tables are.

use std::io::Write;

use isomorph::Result;
use isomorph::formats::flat;
use serde::Serialize;

use super::Answer;
use crate::args::{ImportCommand, ImportInitArgs, file_place};
use crate::console::Console;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document {
    mapping: String,
}

/// Does what the command says.
///
/// # Errors
/// When there are no tables, no convention explains them, or they cannot be read.
pub fn run(command: &ImportCommand, console: &Console) -> Result<Answer> {
    let ImportCommand::Init(ImportInitArgs { path }) = command;
    let document = Document { mapping: flat::mapping_of(&file_place(path)?)? };
    match console.json {
        true => console.document(&document)?,
        false => console.write(|out| out.write_all(document.mapping.as_bytes()))?,
    }
    Ok(Answer::Yes)
}
