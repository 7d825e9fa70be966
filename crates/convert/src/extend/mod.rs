//! Adds to a graph in place: columns of a table as a property group, or an adjacency list.
//!
//! Existing files are not rewritten. The rows of a table can have any order: they are sorted by the row of their node,
//! and joined with the nodes.

mod annnet;
mod columns;
mod rows;

use std::time::Instant;

use isomorph_error::{Error, Kind, Result, did_you_mean};
use isomorph_graphar::extend::NewGroup;
use isomorph_graphar::info::{AdjListType, FileType};
use isomorph_graphar::{GraphAr, OpenOptions};
use isomorph_model::{EdgeType, Source};
use isomorph_storage::{Changed, Location};
use isomorph_tables::Compression;

use crate::driver::Format;
use crate::open::home_of;
use crate::progress::Progress;
use crate::registry::Registry;
use crate::sidecar::{self, Sidecar};
pub use annnet::{Extended, Extension, extend_annnet};
use columns::NodeRows;
use isomorph_storage::Resources;
use rows::Table;
pub use rows::TableColumns;

/// What was added.
#[derive(Debug, Clone)]
pub struct Added {
    /// The type that it was added to.
    pub ty: String,
    /// Names of the new properties; empty for an adjacency list.
    pub properties: Vec<String>,
    /// Number of rows: nodes with a value from the table, or edges of the list.
    pub rows: u64,
    /// Number of nodes of the type that have no row in the table, and therefore no value.
    pub without: u64,
    /// Number of files that were written, including the information file.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// How new properties are stored.
#[derive(Debug, Clone, Copy)]
pub struct GroupOptions {
    /// Encoding of the chunks.
    pub file_type: FileType,
    /// Compression of Parquet and ORC chunks.
    pub compression: Compression,
}

/// Adds columns of a table to node type `ty` of the GraphAr graph at `location`, as a separate property group.
///
/// # Errors
/// If there is no such graph or type, the table refers to a node that does not exist or to one node twice, GraphAr
/// cannot store a column, or the sidecar of the graph describes another graph, which would no longer fit. Nothing is
/// changed in these cases.
pub fn add_columns(
    location: &Location,
    ty: &str,
    table: &TableColumns,
    options: GroupOptions,
    formats: &Registry,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Added> {
    let started = Instant::now();
    let graph = open(location, formats)?;
    if sidecar_at(location, formats)?.is_some() {
        return Err(Error::new(
            Kind::WouldLose,
            "the sidecar of this graph describes another graph, which does not have such a property",
        )
        .at(location.to_string())
        .hint("isomorph sidecar drop PATH    remove the sidecar; the data is then an ordinary GraphAr graph"));
    }
    let at = node_type(&graph, ty)?;
    let table = Table::open(table, &graph.graph().nodes[at])?;
    let sorted = table.sorted(&graph, at, resources, progress)?;
    let group = NewGroup {
        file_type: options.file_type,
        compression: options.compression,
        ..NewGroup::new(table.properties().to_vec())
    };
    let mut rows = NodeRows::new(&sorted, &table)?;
    progress.begin("write", graph.graph().nodes[at].rows);
    let written = graph.add_vertex_group(at, &group, &mut |batch| {
        progress.advance(batch.rows as u64)?;
        rows.columns(batch.start, batch.rows)
    });
    progress.end();
    Ok(Added {
        ty: ty.to_owned(),
        properties: group.properties.iter().map(|property| property.name.clone()).collect(),
        rows: rows.matched(),
        without: rows.without(),
        ..added(written?, started)
    })
}

/// Adds the adjacency list `kind` to edge type `ty` (`knows` or `person_knows_person`) of the GraphAr graph at
/// `location`. A sidecar is bound to the changed files: the list is a copy, and does not change the graph.
///
/// # Errors
/// If there is no such graph or type, the name matches several types, or the list already exists. Nothing is changed in
/// these cases.
pub fn add_list(
    location: &Location,
    ty: &str,
    kind: AdjListType,
    formats: &Registry,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Added> {
    let started = Instant::now();
    let graph = open(location, formats)?;
    let carried = sidecar_at(location, formats)?.is_some();
    let at = edge_type(&graph, ty)?;
    let rows = graph.graph().edges[at].rows.unwrap_or_default();
    let written = graph.add_list(at, kind, &resources.budget, &resources.scratch)?;
    if carried {
        sidecar::rebind(location, formats, resources, progress)?;
    }
    Ok(Added { ty: ty.to_owned(), rows, ..added(written, started) })
}

fn added(written: Changed, started: Instant) -> Added {
    Added {
        ty: String::new(),
        properties: Vec::new(),
        rows: 0,
        without: 0,
        files: written.files,
        bytes: written.bytes,
        seconds: started.elapsed().as_secs_f64(),
    }
}

/// Opens the graph, which must be GraphAr.
fn open(location: &Location, formats: &Registry) -> Result<GraphAr> {
    let format = formats.at(location)?;
    if format != Format::GRAPHAR {
        return Err(Error::usage(format!("columns and lists can only be added to GraphAr graphs, not to {format}"))
            .at(location.to_string())
            .hint("isomorph convert PATH NEW --to graphar    convert to GraphAr first"));
    }
    GraphAr::open(location, &OpenOptions::default())
}

/// The sidecar of the graph; an error if it is stale, because this could not be detected later.
fn sidecar_at(location: &Location, formats: &Registry) -> Result<Option<Sidecar>> {
    let (home, directory) = home_of(location, Format::GRAPHAR);
    let Some(sidecar) = Sidecar::read(&home, directory, formats)? else { return Ok(None) };
    let differences = sidecar.differences(&home, directory)?;
    if differences.is_empty() { Ok(Some(sidecar)) } else { Err(Sidecar::stale(&home, &differences)) }
}

fn node_type(graph: &GraphAr, name: &str) -> Result<usize> {
    let graph = graph.graph();
    if let Some(at) = graph.node_type(name) {
        return Ok(at);
    }
    let nodes: Vec<&str> = graph.nodes.iter().map(|ty| ty.name.as_str()).collect();
    let message = match graph.edges.iter().any(|edge| means(graph, edge, name)) {
        true => format!("{name} is an edge type; a table adds properties to nodes"),
        false => format!("there is no node type {name}{}", did_you_mean(name, nodes.iter().copied())),
    };
    Err(Error::usage(message).hint(format!("--type {}", nodes.join("|"))))
}

fn edge_type(graph: &GraphAr, name: &str) -> Result<usize> {
    let graph = graph.graph();
    let found = graph.edges.iter().enumerate().filter(|(_, edge)| means(graph, edge, name));
    match found.map(|(at, _)| at).collect::<Vec<_>>().as_slice() {
        [one] => Ok(*one),
        [] => {
            let all: Vec<String> = graph.edges.iter().map(|edge| triple(graph, edge)).collect();
            let relations = graph.edges.iter().filter_map(|edge| edge.relation.fixed());
            let near = did_you_mean(name, relations.chain(all.iter().map(String::as_str)));
            Err(Error::usage(format!("there is no edge type {name}{near}")).hint(format!("--type {}", all.join("|"))))
        }
        several => {
            let all: Vec<String> = several.iter().map(|at| triple(graph, &graph.edges[*at])).collect();
            Err(Error::usage(format!("{} edge types have the relation {name}", several.len()))
                .hint(format!("--type {}", all.join("|"))))
        }
    }
}

fn means(graph: &isomorph_model::Graph, edge: &EdgeType, name: &str) -> bool {
    edge.relation.fixed() == Some(name) || triple(graph, edge) == name
}

/// `person_knows_person`.
fn triple(graph: &isomorph_model::Graph, edge: &EdgeType) -> String {
    let (source, relation, target) = graph.edge_name(edge);
    format!("{source}_{relation}_{target}")
}
