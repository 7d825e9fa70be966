//! `lake`: changes GraphLake stores in place.

mod apply;
pub(super) mod changed;
mod compact;
mod edit;
mod graphs;
mod init;
mod load;
mod log;
mod vacuum;

use isomorph::Result;
use isomorph::convert::LakeEdit;
use isomorph::formats::graphlake::{Lake, OpenOptions, Tolerance, WriteOptions};
use isomorph::storage::Resources;

use super::Answer;
use crate::args::{LakeChangeArgs, LakeCommand, epoch_or_environment, written_place};
use crate::console::Console;

/// Runs a subcommand.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(command: &LakeCommand, console: &Console) -> Result<Answer> {
    let done = match command {
        LakeCommand::Init(args) => init::run(args, console),
        LakeCommand::Load(args) => load::run(args, console),
        LakeCommand::Insert(args) => edit::run(args, LakeEdit::Insert, console),
        LakeCommand::Delete(args) => edit::run(args, LakeEdit::Delete, console),
        LakeCommand::Apply(args) => apply::run(args, console),
        #[cfg(feature = "query")]
        LakeCommand::Update(args) => super::sparql::update(args, console),
        #[cfg(not(feature = "query"))]
        LakeCommand::Update(_) => Err(super::not_built("the query engine")),
        LakeCommand::Drop(args) => graphs::drop(args, console),
        LakeCommand::Copy(args) => graphs::copy(args, graphs::Original::Stays, console),
        LakeCommand::Move(args) => graphs::copy(args, graphs::Original::Goes, console),
        LakeCommand::Log(args) => log::run(args, console),
        LakeCommand::Compact(args) => compact::run(args, console),
        LakeCommand::Vacuum(args) => vacuum::run(args, console),
    };
    // Only `compact` and `load` have the flag, and that of `load` is about texts.
    done.map_err(|error| {
        if !error.hints().any(|hint| hint.contains(LENIENT_ORDER)) {
            return error;
        }
        let what = "writes the files of the store anew, in order";
        error.hint(format!("isomorph lake compact {} --full --lenient    {what}", command.path()))
    })
}

/// What errors say about files of a store that are not in order.
const LENIENT_ORDER: &str = "sort such files in memory";

/// Returns the options for reading and writing a store with these resources.
pub(super) fn options(resources: &Resources) -> (OpenOptions, WriteOptions) {
    let opening = OpenOptions { budget: resources.budget.clone(), ..OpenOptions::default() };
    let writing = WriteOptions {
        budget: resources.budget.clone(),
        scratch: Some(resources.scratch.clone()),
        ..WriteOptions::default()
    };
    (opening, writing)
}

/// Opens the store at `path` for changes; `namespaces` are those of short prefixes in stores that isomorph did not
/// write.
pub(super) fn open(path: &str, args: &LakeChangeArgs, namespaces: &[(String, String)]) -> Result<Lake> {
    open_as(path, args, namespaces, Tolerance::Normal)
}

/// The same; a lenient writer sorts files in memory that are not in order.
pub(super) fn open_as(
    path: &str,
    args: &LakeChangeArgs,
    namespaces: &[(String, String)],
    tolerance: Tolerance,
) -> Result<Lake> {
    let (mut opening, mut writing) = options(&args.resources.resources()?);
    opening.tolerance = tolerance;
    opening.namespaces = namespaces.iter().cloned().collect();
    writing.time = epoch_or_environment(args.epoch)?;
    Lake::open(&written_place(path)?, &opening, &writing)
}
