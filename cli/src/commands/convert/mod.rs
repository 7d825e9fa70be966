//! `convert`: plan, progress, certificate.

mod document;
mod early;
mod screen;
mod set_aside;

use isomorph::convert::{
    ConvertOptions, Plan, Registry, Shape, check_apart, check_name, check_replaced, convert, target_format, union,
};
use isomorph::storage::{Mode, Staging};
use isomorph::{Error, Kind, Location, Result};

use self::early::Early;
use super::{Answer, open_at, select, show_dangling};
use crate::args::{ConvertArgs, OpenArgs, arguments_of, written_place};
use crate::console::{self, Console};
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::render::{Mark, of};
use crate::stdio::{self, DASH, Output};

/// Converts a graph, or prints the plan only.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &ConvertArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let (sources, destination) = places(args);
    let args = &ConvertArgs { destination: destination.to_owned(), ..args.clone() };
    let resources = args.resources.resources()?;
    let printed = if args.destination == DASH { Some(Output::new(&resources.scratch)?) } else { None };
    let destination = match &printed {
        Some(output) => output.location(),
        None => written_place(&args.destination)?,
    };
    let console = &Console { aside: printed.is_some() && !args.plan, ..*console };
    let open = OpenArgs { base_of_result: true, ..args.open.clone() };
    let (source, mut how) = open.place(&args.source, formats, &resources)?;
    let others =
        sources.iter().skip(1).map(|path| open.place(path, formats, &resources)).collect::<Result<Vec<_>>>()?;
    let selection = args.select.selection(args.limit)?;
    let wanted = args.target.format_at(destination.file_name(), formats);
    if wanted.is_some() && selection.is_everything() {
        arguments_of(wanted).for_each(|own| own.source(&args.target, destination.file_name(), &mut how));
    }
    let opened = open_at(&source, &how, console)?;
    let mut set_aside = set_aside::rows(&opened);
    let interrupt = Interrupt::listen()?;
    let bars = Bars::new(interrupt.clone());
    let opened = match args.union {
        true => {
            let others = others.iter().map(|(place, how)| {
                let other = open_at(place, how, console)?;
                set_aside.extend(set_aside::rows(&other));
                Ok(other)
            });
            let graphs = std::iter::once(Ok(opened)).chain(others).collect::<Result<Vec<_>>>()?;
            interrupt.outcome(union(graphs, args.on_clash, &resources, &bars))?
        }
        false => opened,
    };
    let (opened, dangling) = match selection.is_everything() {
        true => (opened, None),
        false => {
            interrupt.outcome(opened.check_bytes(&resources, &bars))?;
            interrupt.outcome(select(opened, &selection, true, &resources, &bars))?
        }
    };
    // What the name alone says is not asked for: the plan tells of a format that has the name's ending, too.
    let by_name = args.target.to.is_none() && formats.of_name(destination.file_name()) == wanted;
    let mut options = ConvertOptions {
        to: wanted.filter(|_| !by_name),
        lossy: args.lossy,
        no_verify: args.no_verify,
        replace: args.replace,
        epoch: args.target.epoch()?,
        typing: args.target.typing(),
        node_types: args.target.node_types(),
        hyperedges: args.hyperedges,
        labels_from_type: args.target.labels_from.is_some(),
        rdf_mode: args.target.rdf_mode,
        rdf_1_1: args.target.rdf_1_1()?,
        iri_map: args.target.iri_map()?,
        base: args.open.base.clone(),
        ..ConvertOptions::default()
    };
    if let (Some(map), Some(types)) = (&options.iri_map, &mut options.node_types) {
        types.names.extend(map.type_names());
    }
    let to = match target_format(&opened, &destination, &options) {
        Err(_) if printed.is_some() => {
            return Err(Error::usage("standard output has no name from which to choose a format")
                .hint("--to-syntax SYNTAX    write RDF text")
                .hint("--to nock --file-type csv    write NOCK as CSV")
                .hint("--text FORMAT    write DeepGNN text"));
        }
        to => to?,
    };
    let reads_base = opened.format.traits().flags.opening.contains(&"--base");
    if options.base.is_some() && !reads_base && to.shape() != Shape::Triples {
        return Err(Error::usage("--base applies to RDF text and to conversions to RDF"));
    }
    let returns = opened.format_of_graph() == to && opened.format != to;
    options.write = args.target.options(to, destination.file_name(), returns, formats)?;
    let directory = options.write.is_directory(to);
    match printed {
        Some(_) => stdio::check_text(to, &options.write)?,
        None => {
            check_apart(&opened, &destination)?;
            check_name(to, &options.write, &destination, formats)?;
        }
    }
    if args.replace && directory {
        check_replaced(&destination, formats)?;
    }
    if !args.plan {
        probe(&destination, directory, args.replace, formats)?;
    }
    let mut findings = opened.native.about().findings;

    // Such formats number the nodes of all types in one sequence.
    let opened = match to.numbers_all_nodes() {
        true => interrupt.outcome(opened.counted(&resources, &bars))?,
        false => opened,
    };
    // A survey can take long: the first line of the plan is printed before it, and the rest after it.
    let early = Early::new(&bars, console, screen::heading(&opened, opened.format_of_graph(), to, &options));
    let plan = interrupt.outcome(Plan::new(&opened, &destination, &options, &resources, &early))?;
    let shown = early.shown();
    let is_itself = plan.mapping.steps.is_empty() && plan.carried.is_empty();
    let carries = !is_itself && !options.loses();
    if printed.is_some() && carries && !plan.carried.is_empty() {
        return Err(needs_sidecar());
    }
    // If the destination is a link, the file that it points to is written, with the sidecar next to it.
    let linked = destination.link_target().filter(|_| !directory);
    let named = linked.as_ref().map_or_else(|| destination.file_name().to_owned(), Location::to_string);
    let beside = carries.then(|| screen::beside(&named, directory));
    let cost = plan.cost(&opened, &options, &resources);
    let mut left_out = console.screen();
    show_dangling(&mut left_out, dangling, &selection, &opened);
    console.show(&left_out)?;
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
            if let Some(output) = &printed {
                if output.has_sidecar() {
                    return Err(needs_sidecar());
                }
                output.print(&mut console::Output::new(), &interrupt)?;
            }
            console.show(&screen::certificate(
                &certificate,
                &screen::lost(&plan),
                args,
                options.loses(),
                directory,
                console,
            ))?;
            if args.destination != DASH && set_aside::write(&set_aside, args)? {
                let mut screen = console.screen();
                let what = format!("{}, listed in {}", of(set_aside.len() as u64, "row"), set_aside::name(args));
                console.show(screen.marked("set aside", Some(Mark::Warning), &what))?;
            }
            Some(certificate)
        }
    };
    console.document(&document::Document::new(
        &args.destination,
        &plan,
        &cost,
        options.loses(),
        certificate.as_ref(),
        &findings,
        dangling,
    ))?;
    Ok(Answer::Yes)
}

/// Returns the graphs to convert, and where the output goes: the last argument.
fn places(args: &ConvertArgs) -> (Vec<&str>, &str) {
    let mut all = vec![args.source.as_str(), args.destination.as_str()];
    all.extend(args.more.iter().map(String::as_str));
    let destination = all.pop().unwrap_or_default();
    (all, destination)
}

/// Returns the error for a conversion to standard output that needs a sidecar.
fn needs_sidecar() -> Error {
    Error::new(Kind::WouldLose, "this conversion writes a sidecar, which cannot go to standard output")
        .hint("--lossy    write no sidecar, and list what is lost")
        .hint("use a file as the destination    instead of -")
}

/// Fails early, not after a long survey, if the destination cannot be written.
fn probe(destination: &Location, directory: bool, replace: bool, formats: &Registry) -> Result<()> {
    let mode = if replace { Mode::Replace } else { Mode::CreateNew };
    let staging = match directory {
        true => Staging::directory(destination, mode),
        false => Staging::file(destination, mode),
    };
    match staging {
        // A directory that is not a graph is never replaced: report this at once.
        Err(error) if directory && error.kind() == Kind::AlreadyExists => {
            check_replaced(destination, formats).and(Err(error))
        }
        staging => staging.map(drop),
    }
}
