//! `dump`: every element as one line of JSON.

use std::io::Write;

use isomorph::Result;
use isomorph::convert::{Registry, Silent, dump_first};

use super::{Answer, check_whole, open, select};
use crate::args::DumpArgs;
use crate::console::{Console, Output};

/// Prints the elements of a graph.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &DumpArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    let selection = args.select.selection(None)?;
    let opened = open(&args.path, &args.open, formats, &resources, console)?;
    match args.limit {
        None => check_whole(&opened, args.open.lenient, &resources, &Silent, console)?,
        Some(_) => console.warn(&opened.cautions()?),
    }
    let (opened, _) = select(opened, &selection, false, &resources, &Silent)?;
    let mut out = Output::new();
    let most = args.limit.map_or(u64::MAX, |limit| limit.get());
    dump_first(opened.graph.as_ref(), most, &mut out, &resources, &Silent)?;
    out.flush()?;
    Ok(Answer::Yes)
}
