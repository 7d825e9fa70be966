//! `dump`: every element as one line of JSON.

use std::io::Write;

use isomorph::Result;
use isomorph::convert::{Silent, dump_first};

use super::{Answer, open};
use crate::args::DumpArgs;
use crate::console::{Console, Output};

/// Prints the elements of a graph.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(args: &DumpArgs, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    let opened = open(&args.path, &args.open, &args.select, &resources, console)?;
    let mut out = Output::new();
    let most = args.limit.map_or(u64::MAX, |limit| limit.get());
    dump_first(opened.graph.as_ref(), most, &mut out, &resources, &Silent)?;
    out.flush()?;
    Ok(Answer::Yes)
}
