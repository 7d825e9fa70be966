//! `sql`: a query over the tables of graphs and files.

use std::path::Path;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use isomorph::convert::Registry;
use isomorph::formats::flat::PlainTable;
use isomorph::formats::nock::Column;
use isomorph::{Error, Graph, Kind, Location, Result};
use isomorph_query::{Engine, Parameters, explained};

use super::Answer;
use super::session::Session;
use crate::answer::deliver;
use crate::args::{SqlArgs, is_name};
use crate::console::Console;
use crate::input;
use crate::interrupt::Interrupt;

/// A path, and its name if it has one.
pub type Named = (Option<String>, String);

/// The schema of the only graph.
pub const GRAPH: &str = "graph";

/// The engine, and what the names of its graphs and files stand for.
pub struct Tables {
    pub engine: Engine,
    opened: Vec<(String, Opened)>,
}

/// Answers a query.
///
/// # Errors
/// Any error of reading, of the query, or of writing.
pub fn run(args: &SqlArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    answer(args, formats, console, &mut Session::default())
}

/// The same in a session.
///
/// # Errors
/// As [`run`].
pub fn answer(args: &SqlArgs, formats: &Registry, console: &Console, session: &mut Session) -> Result<Answer> {
    let interrupt = session.interrupt(Interrupt::listen)?;
    let mut go_on = interrupt.within(args.timeout);
    let (paths, query) = paths_and_query(args, &interrupt)?;
    let (query, explains) = args.explained.of(query, explained);
    let format = args.answer.form(console.json)?;
    let Tables { engine, opened } = tables(&paths, args, formats, console, session)?;
    let parameters = args.parameters.iter().fold(Parameters::new(), |all, (name, value)| match value.as_str() {
        "null" => all.with_null(name.as_str()),
        value => all.with(name.as_str(), value),
    });
    if let Some(runs) = explains {
        return super::explained::show(&engine.explain(&query, &parameters, runs, &mut go_on)?, console);
    }
    let mut answer = answered(args, engine, opened, (&query, &parameters), &mut go_on)?;
    let schema = SchemaRef::clone(answer.schema());
    let batches = std::iter::from_fn(|| answer.next_while(&mut go_on).transpose());
    deliver(&args.answer, format, &schema, batches, |_| Vec::new(), console)?;
    Ok(Answer::Yes)
}

/// The answer, of this process or of a cluster.
fn answered(
    args: &SqlArgs,
    engine: &Engine,
    opened: &[(String, Opened)],
    (query, parameters): (&str, &Parameters),
    go_on: &mut dyn FnMut() -> Result<()>,
) -> Result<isomorph_query::Answer> {
    #[cfg(feature = "cluster")]
    if let Some(cluster) = super::elsewhere::cluster(&args.cluster, &args.open)? {
        use isomorph_cluster::Place;
        let place = |(name, opened): &(String, Opened)| {
            let place = match opened {
                Opened::Graph(graph) => Place::of_graph(graph),
                Opened::File(location) => Place::of_file(location),
            };
            Ok::<_, Error>((name.clone(), place?))
        };
        let places = opened.iter().map(place).collect::<Result<_>>()?;
        return cluster.query(engine, &places, query, parameters, go_on);
    }
    let _ = (args, opened);
    engine.query_while(query, parameters, go_on)
}

/// What a name of a question stands for.
#[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "a cluster has to find it again"))]
enum Opened {
    Graph(Arc<Graph>),
    File(Location),
}

/// The paths with their names, and the query.
fn paths_and_query(args: &SqlArgs, interrupt: &Interrupt) -> Result<(Vec<Named>, String)> {
    let (words, argument) = match (&args.file, args.words.as_slice()) {
        (None, [words @ .., last]) => (words, Some(last.as_str())),
        (_, words) => (words, None),
    };
    let paths: Vec<_> = words.iter().map(|word| name_and_path(word)).collect();
    if paths.is_empty() && args.file.is_none() {
        return Err(Error::usage("expected a graph and a query, found one argument")
            .hint("isomorph sql examples/social 'select count(*) from person'"));
    }
    let unnamed = paths.iter().filter(|(name, path)| name.is_none() && PlainTable::stem(path).is_none()).count();
    if unnamed > 1 {
        return Err(Error::usage("several graphs need names").hint("a=PATH b=PATH    with tables a.person, b.person"));
    }
    let others = paths.iter().map(|(_, path)| path.as_str());
    let query = input::query(argument, args.file.as_deref(), others, interrupt)?;
    Ok((paths, query))
}

/// Whether a file is a table and no graph: formats recognise files by their names, and then find other columns in them.
fn is_no_graph(error: &Error) -> bool {
    let rule = error.broken_rule().map_or("", |rule| rule.id);
    let is_other = rule == "NOCK-FILE-COLUMNS" || ["DEEPGNN-", "FLAT-"].iter().any(|of| rule.starts_with(of));
    error.kind() == Kind::Unsupported || is_other
}

/// Whether a graph was made of one table alone.
fn is_table_alone(graph: &Graph) -> bool {
    let opened = graph.opened();
    opened.format.is_table_alone(opened.native.as_ref())
}

/// Adds a table of edges alone: the file is a table as any other; where nothing else is asked, the graph that it is, too.
fn table_alone(
    engine: &mut Engine,
    graph: Arc<Graph>,
    (name, stem): (Option<&str>, &str),
    (path, is_only): (&str, bool),
) -> Result<Vec<(String, Opened)>> {
    let mut all = vec![file(engine, name.unwrap_or(stem), path)?];
    let names: Vec<String> = graph.dataset()?.tables().iter().map(|table| table.name().to_owned()).collect();
    let is_taken = names.iter().map(String::as_str).chain([GRAPH]).any(|name| name.eq_ignore_ascii_case(stem));
    if is_only && name.is_none() && !is_taken {
        engine.add_graph(GRAPH, Arc::clone(&graph))?;
        all.push((GRAPH.to_owned(), Opened::Graph(graph)));
    }
    Ok(all)
}

/// Whether a file without rows is a table of other columns than those of NOCK, which reads any file without rows.
fn is_empty_table(graph: &Graph, path: &str) -> bool {
    if graph.opened().format_of_graph().id() != "nock" {
        return false;
    }
    let table = crate::args::file_place(path).and_then(|location| PlainTable::open(&location));
    table.is_ok_and(|table| {
        let fields = table.schema();
        table.reader().row_count() == Some(0)
            && !fields.fields().is_empty()
            && fields.fields().iter().all(|field| Column::named(field.name()).is_none())
    })
}

/// `NAME=PATH`, unless a file has that name.
fn name_and_path(word: &str) -> Named {
    match word.split_once('=') {
        Some((name, path)) if is_name(name) && !Path::new(word).exists() => (Some(name.to_owned()), path.to_owned()),
        _ => (None, word.to_owned()),
    }
}

/// The tables of graphs and files, which a session opens once.
///
/// # Errors
/// If they cannot be opened.
pub fn tables<'s>(
    paths: &[Named],
    args: &SqlArgs,
    formats: &Registry,
    console: &Console,
    session: &'s mut Session,
) -> Result<&'s Tables> {
    let tables = match session.engine.take() {
        Some(tables) => tables,
        None => open(paths, args, formats, console, session)?,
    };
    Ok(session.engine.insert(tables))
}

fn open(
    paths: &[Named],
    args: &SqlArgs,
    formats: &Registry,
    console: &Console,
    session: &mut Session,
) -> Result<Tables> {
    let resources = session.resources(&args.resources)?;
    let mut engine = Engine::new(resources.clone())?;
    let mut all = Vec::new();
    for (name, path) in paths {
        let stem = PlainTable::stem(path).filter(|_| !Path::new(path).is_dir());
        match (session.graph(path, &args.open, formats, &resources, console), stem) {
            (Ok(graph), Some(stem)) if is_empty_table(&graph, path) => {
                all.push(file(&mut engine, name.as_ref().unwrap_or(&stem), path)?);
            }
            (Ok(graph), Some(stem)) if args.open.from.is_none() && is_table_alone(&graph) => {
                let what = (name.as_deref(), stem.as_str());
                all.extend(table_alone(&mut engine, graph, what, (path, paths.len() == 1))?);
            }
            (Ok(graph), _) => {
                let name = name.as_deref().unwrap_or(GRAPH);
                engine.add_graph(name, Arc::clone(&graph))?;
                all.push((name.to_owned(), Opened::Graph(graph)));
            }
            (Err(error), Some(stem)) if is_no_graph(&error) => {
                all.push(file(&mut engine, name.as_ref().unwrap_or(&stem), path)?);
            }
            (Err(error), _) => return Err(error),
        }
    }
    Ok(Tables { engine, opened: all })
}

/// Adds a table file.
fn file(engine: &mut Engine, name: &str, path: &str) -> Result<(String, Opened)> {
    let location = crate::args::file_place(path)?;
    engine.add_file(name, &location)?;
    Ok((name.to_owned(), Opened::File(location)))
}
