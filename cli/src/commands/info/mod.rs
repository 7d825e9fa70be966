//! `info`: describes a graph without reading its rows.

mod catalogue;
mod screen;

pub use screen::format_name;

use std::io::Write as _;

use isomorph::convert::{Described, Opened, Registry};
use isomorph::formats::graphfile::draw::{Language, schema, schema_svg};
use isomorph::{Kind, Result};

use super::{Answer, select, show_dangling};
use crate::args::{InfoArgs, file_place};
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::stdio::DASH;

/// Describes a graph without reading its rows.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &InfoArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let (resources, selection) = (args.resources.resources()?, args.select.selection(args.limit)?);
    let (location, mut options) = match args.open.place(&args.path, formats, &resources) {
        // A directory of graphs: list them.
        Err(error) if error.kind() == Kind::Unsupported && args.open.from.is_none() && args.path != DASH => {
            let found = isomorph::convert::catalogue(&file_place(&args.path)?, formats)?;
            if found.graphs.is_empty() {
                return Err(error);
            }
            catalogue::show(&args.path, &found, console)?;
            return Ok(Answer::Yes);
        }
        place => place?,
    };
    // Errors that opening finds are printed, not returned.
    options.unsound = true;
    let opened = match Opened::open(&location, &options) {
        // A stale sidecar is part of the description.
        Err(error) if error.kind() == Kind::StaleSidecar => {
            Opened::open(&location, &isomorph::convert::sidecar::told(&location, options))?
        }
        opened => opened?,
    };
    let beside = opened.beside(args.open.sidecar)?;
    let cautions = opened.cautions()?;
    let (opened, dangling) = select(opened, &selection, true, &resources, &Bars::new(Interrupt::default()))?;
    if let Some(language) = &args.schema {
        let graph = opened.graph.graph();
        let text = match language.as_str() {
            "dot" => schema(graph, Language::Dot),
            "mermaid" => schema(graph, Language::Mermaid),
            _ => schema_svg(graph),
        };
        console.write(|out| out.write_all(text.as_bytes()))?;
        return Ok(Answer::Yes);
    }
    let described = Described::of(&opened, beside, cautions, dangling);
    let mut screen = screen::screen(&described, console);
    show_dangling(&mut screen, described.dangling, &selection, described.opened);
    console.show(&screen)?;
    console.document(&described.document(&args.path))?;
    Ok(Answer::Yes)
}
