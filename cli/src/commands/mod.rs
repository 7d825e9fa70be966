//! The commands, one file each.

mod algorithms;
#[cfg(feature = "serve")]
mod bench;
#[cfg(feature = "cluster")]
mod cluster;
mod convert;
#[cfg(feature = "cypher")]
mod cypher;
mod diff;
mod digest;
mod dump;
#[cfg(feature = "cluster")]
mod elsewhere;
mod explain;
#[cfg(any(feature = "query", feature = "cypher"))]
mod explained;
mod extend;
mod formats;
mod import;
mod info;
mod lake;
mod manual;
mod matching;
mod neighbors;
mod sample;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "cypher")]
mod session;
#[cfg(feature = "query")]
mod shell;
mod sidecar;
#[cfg(feature = "query")]
mod sparql;
#[cfg(feature = "query")]
mod sql;
mod validate;

use isomorph::storage::Resources;
use std::process::ExitCode;

use isomorph::convert::{OpenOptions, Opened, Progress, Registry, sound};
use isomorph::dataset::Selection;
use isomorph::formats::graphlake::{self, GraphLake};
use isomorph::model::Source;
use isomorph::{Error, Kind, Location, Result};

use crate::args::{Command, OpenArgs};
use crate::console::Console;
use crate::render::{Screen, of};

/// The answer of a command that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Yes: valid, equal, done.
    Yes,
    /// No: invalid, different.
    No,
}

impl Answer {
    /// Returns `Yes` if `yes` is true.
    pub fn yes_if(yes: bool) -> Self {
        if yes { Answer::Yes } else { Answer::No }
    }
}

impl From<Answer> for ExitCode {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Yes => ExitCode::SUCCESS,
            Answer::No => ExitCode::from(1),
        }
    }
}

/// Runs the command of the command line.
///
/// # Errors
/// Any error of the command; it is not printed yet.
pub fn run(command: &Command, formats: &Registry, console: &Console) -> Result<Answer> {
    match command {
        Command::Info(args) => info::run(args, formats, console),
        Command::Convert(args) => convert::run(args, formats, console),
        Command::Validate(args) => validate::run(args, formats, console),
        Command::Diff(args) => diff::run(args, formats, console),
        Command::Digest(args) => digest::run(args, formats, console),
        Command::Dump(args) => dump::run(args, formats, console),
        Command::Neighbors(args) => neighbors::run(args, formats, console),
        Command::Stats(args) => algorithms::stats(args, formats, console),
        Command::Paths(args) => algorithms::paths(args, formats, console),
        Command::Rank(args) => algorithms::rank(args, formats, console),
        Command::Components(args) => algorithms::components(args, formats, console),
        Command::Match(args) => matching::run(args, formats, console),
        #[cfg(feature = "query")]
        Command::Sql(args) => sql::run(args, formats, console),
        #[cfg(feature = "query")]
        Command::Sparql(args) => sparql::run(args, formats, console),
        #[cfg(feature = "cypher")]
        Command::Cypher(args) => cypher::run(args, formats, console),
        #[cfg(feature = "query")]
        Command::Shell(args) => shell::run(args, formats, console),
        #[cfg(not(feature = "query"))]
        Command::Sql(_) | Command::Sparql(_) | Command::Shell(_) => Err(not_built("the query engine")),
        Command::Sample(args) => sample::run(args, formats, console),
        #[cfg(feature = "serve")]
        Command::Serve(command) => serve::run(command, formats, console),
        #[cfg(feature = "cluster")]
        Command::Cluster(command) => cluster::run(command, console),
        #[cfg(feature = "serve")]
        Command::Bench(command) => bench::run(command, console),
        #[cfg(not(feature = "serve"))]
        Command::Serve(_) | Command::Bench(_) => Err(not_built("the server")),
        Command::Extend(args) => extend::run(args, formats, console),
        Command::Lake(command) => lake::run(command, console),
        Command::Sidecar(command) => sidecar::run(command, formats, console),
        Command::Explain(args) => explain::run(args, formats, console),
        Command::Import(command) => import::run(command, console),
        Command::Formats => formats::run(formats, console),
        Command::Completions(args) => manual::completions(args, formats, console),
        Command::Man(args) => manual::man(args, formats, console),
    }
}

/// The error of a command whose part was left out.
#[cfg(not(all(feature = "query", feature = "serve")))]
fn not_built(what: &str) -> Error {
    // Of another command: cargo's.
    let build = format!("cargo install --path cli    build the command with {what}");
    Error::unsupported(format!("this command was built without {what}")).hint(build)
}

/// Opens the graph at `path`, as [`open_at`] does.
fn open(path: &str, args: &OpenArgs, formats: &Registry, resources: &Resources, console: &Console) -> Result<Opened> {
    let (location, options) = args.place(path, formats, resources)?;
    open_at(&location, &options, console)
}

/// Returns what a selection leaves of a graph, or the graph itself if the selection is empty. If edges are to be
/// counted, also returns the number of edges that it drops because they lose an end.
fn select(
    opened: Opened,
    selection: &Selection,
    count: bool,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<(Opened, Option<u64>)> {
    if selection.is_everything() {
        return Ok((opened, None));
    }
    let selecting = opened.select(selection, count, resources, progress)?;
    Ok((selecting.opened, selecting.dangling))
}

/// Prints how many edges a selection drops because they lose an end.
fn show_dangling(screen: &mut Screen, dangling: Option<u64>, selection: &Selection, part: &Opened) {
    let Some(edges) = dangling.filter(|edges| *edges > 0) else { return };
    let edges = of(edges, "edge");
    // Ends that are not rows cannot be distinguished from dropped nodes.
    let can_be_kept = !part.graph.graph().nodes.iter().any(|ty| ty.implied);
    let text = match (selection.keep_dangling, can_be_kept) {
        (true, _) => format!("{edges} dropped because both ends are dropped"),
        (false, false) => format!("{edges} dropped because an end is dropped"),
        (false, true) => format!("{edges} dropped because an end is dropped; --keep-dangling keeps those with one end"),
    };
    screen.line("selected", &text);
}

/// Opens a graph for reading, and prints the findings of opening. An error among them is returned, unless `--lenient`
/// is given.
fn open_at(location: &Location, options: &OpenOptions, console: &Console) -> Result<Opened> {
    let opened = Opened::open(location, options)?;
    console.warn(&opened.native.about().findings);
    Ok(opened)
}

/// Opens a store for look-ups, which do not need what a description needs, and prints the findings of opening. An error among them is returned,
/// unless `--lenient` is given.
fn open_lake(
    location: &Location,
    options: &OpenOptions,
    args: &OpenArgs,
    resources: &Resources,
    console: &Console,
) -> Result<GraphLake> {
    let options = graphlake::OpenOptions {
        survey_up_to: 0,
        namespaces: args.namespaces.iter().cloned().collect(),
        budget: resources.budget.clone(),
        threads: resources.threads,
        ..options.get::<graphlake::OpenOptions>().into_owned()
    };
    let lake = GraphLake::open(location, &options)?;
    let findings = lake.about().findings;
    if !args.lenient {
        sound(&findings)?;
    }
    console.warn(&findings);
    Ok(lake)
}

/// Before a whole graph is read, checks that it still matches its sidecar; prints the findings that `lenient` ignores.
fn check_whole(
    opened: &Opened,
    lenient: bool,
    resources: &Resources,
    progress: &dyn Progress,
    console: &Console,
) -> Result<()> {
    console.warn(&opened.check_whole(lenient, resources, progress)?);
    Ok(())
}

/// A graph that cannot be represented as triples without loss: that is not the user's mistake here.
fn without_remedy(error: Error) -> Error {
    match error.kind() {
        Kind::WouldLose => error.hint("isomorph convert PATH NAME.nq --lossy, then query NAME.nq"),
        _ => error,
    }
}
