//! `info`: what is in there, without reading the rows.

mod catalogue;
mod counts;
mod document;
mod screen;

pub use screen::format_name;

use isomorph::convert::{CarryUse, Opened, Registry};
use isomorph::model::About;
use isomorph::{Kind, Result};

use super::{Answer, select, show_dangling};
use crate::args::{InfoArgs, file_place};
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::stdio::DASH;
use counts::Counts;

/// All that there is to say.
struct Described<'a> {
    opened: &'a Opened,
    about: &'a About,
    counts: Counts,
    beside: Beside,
    /// Edges that a selection leaves out because an end of theirs is left out.
    dangling: Option<u64>,
}

impl Described<'_> {
    /// How the edges of a type are stored, where the types of the graph are those of the data.
    fn stored(&self, edge: usize) -> Option<&str> {
        self.about.edge_layouts.get(edge).map(String::as_str).filter(|_| self.opened.carry.is_none())
    }
}

/// What travels beside the data, and whether it still fits.
enum Beside {
    Nothing,
    Ignored,
    Fits { of: String },
    Stale { of: String, differences: Vec<String> },
}

/// Describes a graph without reading its rows.
///
/// # Errors
/// Whatever keeps it from doing so.
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
    // What is wrong is shown.
    options.unsound = true;
    let opened = match Opened::open(&location, &options) {
        // A stale carry is one of the things that somebody wants to be told.
        Err(error) if error.kind() == Kind::StaleCarry => {
            Opened::open(&location, &isomorph::convert::carry::told(&location, options))?
        }
        opened => opened?,
    };
    let beside = beside(&opened, args.open.carry)?;
    let cautions = opened.cautions()?;
    let (opened, dangling) = select(opened, &selection, true, &resources, &Bars::new(Interrupt::default()))?;
    let mut about = opened.native.about();
    about.findings.merge(cautions);
    let mut counts = Counts::of(opened.graph.as_ref(), about.bytes);
    if let Some((error, rule)) = counts.error.as_ref().and_then(|error| Some((error, error.broken_rule()?))) {
        // What opening found already is told once.
        if about.findings.count(rule) == 0 {
            about.findings.push(rule, error.message().to_owned(), error.place().clone());
        }
        counts.error = None;
    }
    let described = Described { opened: &opened, about: &about, counts, beside, dangling };
    let mut screen = screen::screen(&described, console);
    show_dangling(&mut screen, described.dangling, &selection, described.opened);
    console.show(&screen)?;
    console.document(&document::Document::new(&args.path, &described))?;
    Ok(Answer::Yes)
}

fn beside(opened: &Opened, wanted: CarryUse) -> Result<Beside> {
    let (carry, differences) =
        match isomorph::convert::carry_beside(&opened.location, opened.format, &opened.options.formats) {
            Ok(found) => found,
            Err(error) if error.kind() == Kind::NotFound => return Ok(Beside::Nothing),
            Err(error) => return Err(error),
        };
    let of = carry.of;
    Ok(match (wanted, differences.is_empty()) {
        (CarryUse::Ignore, _) => Beside::Ignored,
        (_, true) => Beside::Fits { of },
        (_, false) => Beside::Stale { of, differences },
    })
}
