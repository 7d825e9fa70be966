//! `lake`: stores of GraphLake, changed where they lie.

mod compact;
mod edit;
mod init;
mod load;
mod log;
mod vacuum;

use isomorph::Result;
use isomorph::convert::{LakeEdit, Resources};
use isomorph::formats::graphlake::{Lake, OpenOptions, WriteOptions};

use super::Answer;
use crate::args::{LakeChangeArgs, LakeCommand, epoch_or_environment, written_place};
use crate::console::Console;

/// Does what is asked with a store.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(command: &LakeCommand, console: &Console) -> Result<Answer> {
    match command {
        LakeCommand::Init(args) => init::run(args, console),
        LakeCommand::Load(args) => load::run(args, console),
        LakeCommand::Insert(args) => edit::run(args, LakeEdit::Insert, console),
        LakeCommand::Delete(args) => edit::run(args, LakeEdit::Delete, console),
        LakeCommand::Log(args) => log::run(args, console),
        LakeCommand::Compact(args) => compact::run(args, console),
        LakeCommand::Vacuum(args) => vacuum::run(args, console),
    }
}

/// How a store is read and written with these resources.
fn options(resources: &Resources) -> (OpenOptions, WriteOptions) {
    let opening = OpenOptions { budget: resources.budget.clone(), ..OpenOptions::default() };
    let writing = WriteOptions {
        budget: resources.budget.clone(),
        scratch: Some(resources.scratch.clone()),
        ..WriteOptions::default()
    };
    (opening, writing)
}

/// The store at `path`, to be changed; in foreign stores, short prefixes stand for these namespaces.
fn open(path: &str, args: &LakeChangeArgs, namespaces: &[(String, String)]) -> Result<Lake> {
    let (mut opening, mut writing) = options(&args.resources.resources()?);
    opening.namespaces = namespaces.iter().cloned().collect();
    writing.time = epoch_or_environment(args.epoch)?;
    Lake::open(&written_place(path)?, &opening, &writing)
}
