//! `convert`: plan, progress, certificate.

mod document;
mod early;
mod screen;

use isomorph::convert::{ConvertOptions, Format, Plan, Shape, convert, target_format};
use isomorph::storage::{Mode, Staging};
use isomorph::{Error, Location, Result};

use self::early::Early;
use super::{Answer, open_at};
use crate::args::{ConvertArgs, OpenArgs, written_place};
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::progress::Bars;

/// Converts a graph, or only plans it.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(args: &ConvertArgs, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    let destination = written_place(&args.destination)?;
    let open = OpenArgs { base_of_result: true, ..args.open.clone() };
    let (source, mut how) = open.place(&args.source, &args.select, &resources)?;
    // A text of DeepGNN that becomes a binary is read once.
    let wanted = args.target.format_at(destination.file_name());
    how.deepgnn.later = wanted == Some(Format::DeepGnn) && args.target.text_at(destination.file_name()).is_none();
    let opened = open_at(&source, &how, console)?;
    let mut options = ConvertOptions {
        to: wanted,
        lossy: args.lossy,
        no_verify: args.no_verify,
        replace: args.replace,
        epoch: args.target.epoch()?,
        typing: args.target.typing(),
        node_types: args.target.node_types(),
        hyperedges: args.hyperedges,
        labels_from_type: args.target.labels_from.is_some(),
        rdf_mode: args.target.rdf_mode,
        base: args.open.base.clone(),
        ..ConvertOptions::default()
    };
    let to = target_format(&opened, &destination, &options)?;
    if options.base.is_some() && opened.format != Format::Rdf && to.shape() != Shape::Triples {
        return Err(Error::usage("--base is for texts of RDF, and for what becomes RDF"));
    }
    let returns = opened.format_of_graph() == to && opened.format != to;
    options.write = args.target.options(to, destination.file_name(), returns)?;
    let directory = options.write.is_directory(to);
    let interrupt = Interrupt::listen()?;
    if !args.plan {
        probe(&destination, directory, args.replace)?;
    }
    let mut findings = opened.native.about().findings;

    let bars = Bars::new(interrupt.clone());
    // A survey can take long: what is planned is shown before it, and the rest after.
    let early = Early::new(&bars, console, screen::heading(&opened, opened.format_of_graph(), to, &options));
    let plan = interrupt.outcome(Plan::new(&opened, &destination, &options, &resources, &early))?;
    let shown = early.shown();
    let is_itself = plan.mapping.steps.is_empty() && plan.carried.is_empty();
    let carries = !is_itself && !options.loses();
    let beside = carries.then(|| screen::beside(destination.file_name(), directory));
    let cost = plan.cost(&opened, &options, &resources);
    console.show(&screen::plan(&opened, &plan, &cost, &options, beside.as_deref(), shown, console))?;
    console.warn(&plan.findings);
    findings.merge(plan.findings.clone());
    let certificate = match args.plan {
        true => None,
        false => {
            let certificate = convert(&opened, &plan, &destination, &options, &resources, &bars);
            let certificate = interrupt.outcome(certificate)?;
            drop(bars);
            console.warn(&certificate.findings);
            findings.merge(certificate.findings.clone());
            console.show(&screen::certificate(&certificate, args, options.loses(), directory, console))?;
            Some(certificate)
        }
    };
    console.document(&document::Document::new(&args.destination, &plan, &cost, certificate.as_ref(), &findings))?;
    Ok(Answer::Yes)
}

/// Fails now, and not after a long survey, when nothing could be written there.
fn probe(destination: &Location, directory: bool, replace: bool) -> Result<()> {
    let mode = if replace { Mode::Replace } else { Mode::CreateNew };
    let staging = match directory {
        true => Staging::directory(destination, mode),
        false => Staging::file(destination, mode),
    };
    staging.map(drop)
}
