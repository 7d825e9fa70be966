//! `lake drop`, `lake copy` and `lake move`: change whole graphs, without moving files.

use isomorph::convert::matching::Prefixes;
use isomorph::formats::graphlake::{Committed, check_graph};
use isomorph::{Error, Kind, Result};
use serde::Serialize;

use super::changed;
use crate::args::{LakeDropArgs, LakeGraphsArgs};
use crate::commands::Answer;
use crate::console::Console;
use crate::render::of;

/// See `docs/cli-json.md`. The default graph is null.
#[derive(Debug, Serialize)]
struct Dropped<'a> {
    path: &'a str,
    version: Option<i64>,
    graphs: &'a [Option<String>],
    lost: u32,
}

/// The document of `lake copy` and `lake move`.
#[derive(Debug, Serialize)]
struct Named<'a> {
    path: &'a str,
    version: Option<i64>,
    from: Option<String>,
    to: Option<String>,
    lost: u32,
}

/// Drops graphs.
///
/// # Errors
/// Returns [`Kind::NotFound`] if a graph does not exist; any other error of reading, writing or printing.
pub fn drop(args: &LakeDropArgs, console: &Console) -> Result<Answer> {
    let lake = super::open(&args.path, &args.change, &args.namespaces)?;
    let mut transaction = lake.begin()?;
    let graphs = args.graphs.iter().map(|name| named(name, &args.namespaces)).collect::<Result<Vec<_>>>()?;
    for graph in &graphs {
        if !transaction.has_graph(graph.as_deref())? {
            return Err(missing(graph.as_deref(), &args.path));
        }
        transaction.drop_graph(graph.as_deref())?;
    }
    let commit = transaction.commit()?;
    let what = match graphs.as_slice() {
        [one] => told(one.as_deref()).to_owned(),
        many => of(many.len() as u64, "graph"),
    };
    changed::show("dropped", commit.as_ref(), |_| what, &args.path, console)?;
    let (version, lost) = ends(commit.as_ref());
    console.document(&Dropped { path: &args.path, version, graphs: &graphs, lost })?;
    Ok(Answer::Yes)
}

/// What becomes of the graph that is copied.
#[derive(Debug, Clone, Copy)]
pub enum Original {
    Stays,
    Goes,
}

/// Creates a graph with the triples of another graph.
///
/// # Errors
/// Returns [`Kind::NotFound`] if the other graph does not exist, [`Kind::AlreadyExists`] if the new one does; any other
/// error of reading, writing or printing.
pub fn copy(args: &LakeGraphsArgs, original: Original, console: &Console) -> Result<Answer> {
    let lake = super::open(&args.path, &args.change, &args.namespaces)?;
    let mut transaction = lake.begin()?;
    let (from, to) = (named(&args.from, &args.namespaces)?, named(&args.to, &args.namespaces)?);
    if !transaction.has_graph(from.as_deref())? {
        return Err(missing(from.as_deref(), &args.path));
    }
    if transaction.has_graph(to.as_deref())? && !args.replace {
        let message = format!("graph {} already exists", told(to.as_deref()));
        return Err(Error::new(Kind::AlreadyExists, message).hint("--replace   drop its triples first"));
    }
    let word = match original {
        Original::Stays => {
            transaction.copy_graph(from.as_deref(), to.as_deref())?;
            "copied"
        }
        Original::Goes => {
            transaction.move_graph(from.as_deref(), to.as_deref())?;
            "moved"
        }
    };
    let commit = transaction.commit()?;
    let what = format!("{} to {}", told(from.as_deref()), told(to.as_deref()));
    changed::show(word, commit.as_ref(), |_| what, &args.path, console)?;
    let (version, lost) = ends(commit.as_ref());
    console.document(&Named { path: &args.path, version, from, to, lost })?;
    Ok(Answer::Yes)
}

/// Parses the name of a graph; `None` is the default graph. The graph of quoted triples has no statements, so it is not
/// accepted.
fn named(word: &str, namespaces: &[(String, String)]) -> Result<Option<String>> {
    let graph = Prefixes::new(&namespaces.iter().cloned().collect()).graph(word)?;
    check_graph(graph.as_deref())?;
    Ok(graph)
}

fn missing(graph: Option<&str>, path: &str) -> Error {
    let message = format!("there is no graph {}", told(graph));
    Error::new(Kind::NotFound, message).hint(format!("isomorph info {path}   list all graphs"))
}

fn told(graph: Option<&str>) -> &str {
    graph.unwrap_or("the default graph")
}

fn ends(commit: Option<&Committed>) -> (Option<i64>, u32) {
    (commit.map(|commit| commit.version), commit.map_or(0, |commit| commit.lost))
}
