//! `neighbors`: lists the neighbours of a node without loading the graph.

mod shown;

use std::sync::Arc;

use isomorph::convert::matching::Prefixes;
use isomorph::convert::{Format, OpenOptions, Registry, Shape, Silent};
use isomorph::dataset::{Dataset, Sides};
use isomorph::formats::{graphlake, rdf};
use isomorph::model::{KeyKind, NodeId, NodeType};
use isomorph::{Error, Kind, Result, did_you_mean};
use serde::Serialize;
use serde_json::Value;

use super::matching::extent;
use super::{Answer, open_at, select};
use crate::args::{NeighborsArgs, ResourceArgs};
use crate::console::Console;
use crate::render::{Cell, Column, Screen, Table, of};
use shown::{Incident, Neighbor};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    node: NodeDocument<'a>,
    neighbors: &'a [Neighbor],
    /// Number of further neighbours, if all edges were read.
    more: Option<u64>,
    /// Hyperedges with this node as a member, and the number of further ones.
    hyperedges: &'a [Incident],
    more_hyperedges: u64,
}

#[derive(Debug, Serialize)]
struct NodeDocument<'a> {
    #[serde(rename = "type")]
    ty: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u64>,
}

/// Prints the neighbours of a node.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &NeighborsArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let resources = ResourceArgs::default().resources()?;
    let key = args.id.as_deref().or(args.node.as_deref());
    let (location, options) = args.open.place(&args.path, formats, &resources)?;
    let prefixes = Prefixes::new(&options.get::<graphlake::OpenOptions>().namespaces);
    let selection = args.select.selection(None)?;
    let look_ups = key.is_some() && selection.is_everything();
    let opened = open_at(&location, &OpenOptions { look_ups, ..options }, console)?;
    console.warn(&opened.cautions()?);
    let (opened, _) = select(opened, &selection, false, &resources, &Silent)?;
    // For RDF, the key is written as in a pattern.
    let is_rdf = opened.format_of_graph().shape() == Shape::Triples;
    let key = key.map(|key| if is_rdf { prefixes.resource(key) } else { key.to_owned() });
    let key = key.as_deref();
    let sides = match (args.incoming, args.both) {
        (true, _) => Sides::In,
        (_, true) => Sides::Both,
        _ => Sides::Out,
    };
    let node = match (key, args.row) {
        (Some(key), _) => NodeId::Key(key),
        (None, Some(row)) => NodeId::Row(row),
        (None, None) => return Err(Error::usage("no node is given")),
    };
    let tables = Dataset::new(Arc::clone(&opened.graph), resources);
    let mut asked = tables.neighbors(args.node_type.as_deref(), node)?.sides(sides).limit(args.limit.get());
    if let Some(relation) = &args.edge {
        asked = asked.relation(relation)?;
    }
    let explained = |error: Error| match key.filter(|_| opened.format == Format::RDF && is_rdf) {
        // What is no IRI names nothing in a pattern.
        Some(key) if error.kind() == Kind::Unsupported && rdf::check_base(key).is_ok() => {
            error.hint(format!("isomorph match {} '<{key}> ? ?'", args.path))
        }
        _ => error,
    };
    let (mut batches, mut neighbors) = (asked.batches(), Vec::new());
    while let Some(batch) = batches.next().transpose().map_err(explained)? {
        Neighbor::add(&batch, &mut neighbors)?;
    }
    let own = asked.hyperedges()?;
    let incidents = own.hyperedges.into_iter().map(Incident::of).collect::<Result<Vec<_>>>()?;

    let more = batches.more();
    let mut screen = screen(&title(asked.node_type(), node), &neighbors, more, console);
    show_incidents(&own.node, &incidents, own.more, &mut screen);
    let is_empty = neighbors.is_empty() && incidents.is_empty();
    // If every edge has its own relation, the relations are known only from the edges of the node.
    let near = args.edge.as_deref().map(|edge| did_you_mean(edge, batches.others().iter().map(String::as_str)));
    if let (Some(edge), Some(near), true) = (&args.edge, near.filter(|near| !near.is_empty()), is_empty) {
        screen.line("", &format!("this node has no edges of relation {edge}{near}"));
    } else if is_empty && sides == Sides::Out {
        screen.line("", "--in shows the edges to this node");
    }
    console.show(&screen)?;
    let ty = asked.node_type();
    let key = key.map(|key| {
        // A number, if keys are numbers.
        let is_number = ty.is_some_and(|ty| ty.key.kind == KeyKind::Int);
        let number = key.parse::<serde_json::Number>().ok().filter(|_| is_number);
        number.map_or_else(|| Value::from(key), Value::Number)
    });
    let node = NodeDocument { ty: ty.map_or("", |ty| ty.name.as_str()), key, row: args.row };
    console.document(&Document {
        path: &args.path,
        node,
        neighbors: &neighbors,
        more,
        hyperedges: &incidents,
        more_hyperedges: own.more,
    })?;
    Ok(Answer::Yes)
}

/// Prints hyperedges after the neighbours: the role of the node, the hyperedge, the other members.
fn show_incidents(node: &str, incidents: &[Incident], more: u64, screen: &mut Screen) {
    let mut table = Table::new([Column::stage(), Column::text(0), Column::text(1), Column::text(2)]);
    for own in incidents {
        let subject = format!("{} {}", own.ty, shown::text(&own.key));
        table.row([own.roles_of(node), subject, own.shown_members(), own.facts()].map(|text| Cell::from(&text)));
    }
    screen.table(&table);
    if more > 0 {
        let total = incidents.len() as u64 + more;
        screen.line("", &format!("and {}; --limit {total} shows them", of(more, "more hyperedge")));
    }
}

/// Returns `person 933` or `person row 7`.
fn title(ty: Option<&NodeType>, node: NodeId<'_>) -> String {
    let ty = ty.map_or("", |ty| ty.name.as_str());
    match node {
        NodeId::Key(key) => format!("{ty} {key}"),
        NodeId::Row(row) => format!("{ty} row {row}"),
    }
}

fn screen(node: &str, neighbors: &[Neighbor], more: Option<u64>, console: &Console) -> Screen {
    let mut screen = console.screen();
    let (count, rest) = extent(neighbors.len() as u64, more, "neighbor", false);
    screen.line("node", &format!("{node}   {count}"));
    let mut table = Table::new([Column::stage(), Column::text(0), Column::text(1), Column::text(2)]);
    for neighbor in neighbors {
        let subject = format!("{} {}", neighbor.ty, neighbor.identity());
        table.row([neighbor.word(), &neighbor.relation, &subject, &neighbor.facts()].map(Cell::from));
    }
    screen.table(&table);
    if let Some(rest) = rest {
        screen.line("", &rest);
    }
    screen
}
