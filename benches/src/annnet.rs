//! annnet: writing a generated graph, reading a whole graph, and the edges of random nodes.

use std::sync::Arc;
use std::time::Instant;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow_schema::DataType;
use isomorph_annnet::{Annnet, AnnnetWriter, OpenOptions, WriteOptions};
use isomorph_error::{Error, Result};
use isomorph_model::batch::{GroupBatch, HyperedgeBatch, MemberBatch, MembershipBatch};
use isomorph_model::schema::{GroupKind, HyperedgeType, MembershipTable, Owner};
use isomorph_model::{
    Batch, Direction, EdgeBatch, EdgeType, Ends, Graph, Key, NodeBatch, NodeId, NodeType, Property, Request, Side,
    Sink, Source, Tables, Written, well_known,
};
use isomorph_storage::{Location, Mode, Staging};
use serde_json::{Value, json};

use crate::draw::Draw;
use crate::measure::{Measured, median};

/// Number of rows in a batch.
const PIECE: u64 = 1 << 16;
/// Number of members of a hyperedge.
const MEMBERS: u64 = 4;
/// One edge in this many is in the second slice, and one in this many of those has a weight there.
const IN_SLICE: u64 = 10;
const WEIGHTED: u64 = 10;
/// The slice with everything, and another one.
const ALL: &str = "default";
const SOME: &str = "selected";
/// The sink's deliveries.
const NODES: usize = 0;
const REST: usize = 1;
const EDGES: usize = 2;
/// Number of look-ups whose results are printed individually.
const PEER_LOOKUPS: usize = 100;

/// The size of the generated graph.
#[derive(Clone, Copy)]
pub(crate) struct Drawn {
    pub vertices: u64,
    pub edges: u64,
    pub hyperedges: u64,
}

/// Writes a generated graph `runs` times, as a directory or (`NAME.annnet`) an archive: nodes with three attributes,
/// directed edges with a weight and one attribute, directed hyperedges, and a second slice with a tenth of the edges.
/// Also generates the same without writing it, to tell generating from writing.
pub(crate) fn make(drawn: Drawn, path: &str, runs: usize) -> Result<Value> {
    let graph = describe(drawn);
    let (mut wrote, mut threw) = (Measured::new(), Measured::new());
    for _ in 0..runs {
        wrote.run(|| {
            let location = Location::parse(path)?;
            let archive = location.file_name().ends_with(".annnet");
            let staging = match archive {
                true => Staging::file(&location, Mode::Replace)?,
                false => Staging::directory(&location, Mode::Replace)?,
            };
            let options = WriteOptions { archive, ..WriteOptions::default() };
            let mut sink = AnnnetWriter::create(&staging, &graph, &options)?;
            draw(drawn, &mut |delivery, batch| sink.write(delivery, batch))?;
            let written: Written = Sink::finish(sink)?;
            staging.commit(&[])?;
            Ok(written)
        })?;
        threw.run(|| {
            let mut rows = 0;
            draw(drawn, &mut |_, batch| {
                rows += batch.rows();
                Ok(())
            })?;
            Ok(rows)
        })?;
    }
    let (seconds, processor, drawing) = (wrote.seconds(), wrote.processor(), threw.processor());
    let written = wrote.answer()?;
    Ok(json!({
        "seconds": seconds,
        "processor": processor,
        "drawing": drawing,
        "rows": threw.answer()?,
        "bytes": written.bytes(),
        "files": written.files.len(),
    }))
}

fn describe(drawn: Drawn) -> Graph {
    let weight = || Property::new(well_known::WEIGHT, DataType::Float64);
    let mut node = NodeType::new("node", Key::utf8());
    node.ordered = true;
    node.rows = Some(drawn.vertices);
    node.properties = vec![
        Property::new("name", DataType::Utf8),
        Property::new("age", DataType::Int64),
        Property::new("score", DataType::Float64),
    ];
    let mut edge = EdgeType::new(0, "edge", 0);
    edge.key = Some(Key::utf8().named("edge_id"));
    edge.direction = Direction::PerRow;
    edge.rows = Some(drawn.edges);
    edge.properties = vec![weight().required(), Property::new("label", DataType::Utf8)];
    let hyperedge = HyperedgeType {
        name: "hyperedge".to_owned(),
        key: Key::utf8().named("edge_id"),
        ends: 0,
        direction: Direction::PerRow,
        layered: false,
        properties: edge.properties.clone(),
        rows: Some(drawn.hyperedges),
    };
    let slice = GroupKind {
        kind: "slice".to_owned(),
        key: Key::utf8(),
        ordered: true,
        properties: Vec::new(),
        all: vec![ALL.to_owned()],
        memberships: vec![
            MembershipTable { of: Owner::Nodes(0), properties: Vec::new() },
            MembershipTable { of: Owner::Edges(0), properties: vec![weight()] },
            MembershipTable { of: Owner::Hyperedges(0), properties: vec![weight()] },
        ],
    };
    Graph { nodes: vec![node], edges: vec![edge], hyperedges: vec![hyperedge], groups: vec![slice], ..Graph::default() }
}

fn texts(texts: impl Iterator<Item = String>) -> ArrayRef {
    let mut column = StringBuilder::new();
    texts.for_each(|text| column.append_value(text));
    Arc::new(column.finish())
}

fn same(text: &str, rows: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, rows)))
}

fn vertex(number: u64) -> String {
    format!("v{number:07}")
}

fn edge(number: u64) -> String {
    format!("e{number:08}")
}

/// Returns ranges of at most [`PIECE`] numbers.
fn pieces(count: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..count).step_by(PIECE as usize).map(move |start| (start, count.min(start + PIECE)))
}

/// Generates the graph in the order that the sink requires. No piece is kept.
fn draw(drawn: Drawn, take: &mut dyn FnMut(usize, Batch) -> Result<()>) -> Result<()> {
    let mut random = Draw::new(5);
    for (start, end) in pieces(drawn.vertices) {
        let rows = (end - start) as usize;
        let ages = Int64Array::from_iter_values((0..rows).map(|_| random.below(90) as i64));
        let scores = Float64Array::from_iter_values((0..rows).map(|_| random.below(1 << 20) as f64 / 1024.0));
        let names = texts((start..end).map(|number| format!("name {}", number % 5000)));
        let properties: Vec<Option<ArrayRef>> = vec![Some(names), Some(Arc::new(ages)), Some(Arc::new(scores))];
        let keys = Some(texts((start..end).map(vertex)));
        take(NODES, Batch::Nodes(NodeBatch { ty: 0, start, numbers: None, rows, keys, labels: None, properties }))?;
    }
    rest(drawn, &mut random, take)?;
    for (start, end) in pieces(drawn.edges) {
        let rows = (end - start) as usize;
        let sources = texts((0..rows).map(|_| vertex(random.below(drawn.vertices))));
        let targets = texts((0..rows).map(|_| vertex(random.below(drawn.vertices))));
        let weights = Float64Array::from_iter_values((0..rows).map(|_| random.below(1 << 30) as f64 / 1e6));
        let labels = texts((0..rows).map(|_| format!("label {}", random.below(20))));
        take(
            EDGES,
            Batch::Edges(EdgeBatch {
                ty: 0,
                rows,
                relations: None,
                source: Ends::Keys(sources),
                target: Ends::Keys(targets),
                layers: None,
                directed: Some(BooleanArray::from(vec![true; rows])),
                keys: Some(texts((start..end).map(edge))),
                properties: vec![Some(Arc::new(weights)), Some(labels)],
            }),
        )?;
    }
    Ok(())
}

fn rest(drawn: Drawn, random: &mut Draw, take: &mut dyn FnMut(usize, Batch) -> Result<()>) -> Result<()> {
    let keys = texts([ALL, SOME].into_iter().map(str::to_owned));
    take(REST, Batch::Groups(GroupBatch { kind: 0, start: 0, keys, properties: Vec::new() }))?;
    let hyperedge = |number: u64| format!("h{number:06}");
    for (start, end) in pieces(drawn.hyperedges) {
        let rows = (end - start) as usize;
        let weights = Float64Array::from(vec![1.0; rows]);
        take(
            REST,
            Batch::Hyperedges(HyperedgeBatch {
                ty: 0,
                start,
                rows,
                keys: texts((start..end).map(hyperedge)),
                directed: Some(BooleanArray::from(vec![true; rows])),
                properties: vec![Some(Arc::new(weights)), None],
            }),
        )?;
        let members = (start..end).flat_map(|number| (0..MEMBERS).map(move |at| (number, at)));
        // A node is in a hyperedge at most once: each member is drawn from its own part of the nodes.
        let part = (drawn.vertices / MEMBERS).max(1);
        let member = texts(members.clone().map(|(_, at)| vertex((at * part + random.below(part)) % drawn.vertices)));
        let roles = members.clone().map(|(_, at)| if at < MEMBERS / 2 { "head" } else { "tail" });
        take(
            REST,
            Batch::Members(MemberBatch {
                ty: 0,
                owner: Ends::Keys(texts(members.clone().map(|(number, _)| hyperedge(number)))),
                member: Ends::Keys(member),
                roles: StringArray::from_iter_values(roles.collect::<Vec<_>>()),
                layers: None,
                coefficients: None,
            }),
        )?;
    }
    let chosen = drawn.edges / IN_SLICE;
    for (start, end) in pieces(chosen) {
        let rows = (end - start) as usize;
        let weight = |number: u64| number.is_multiple_of(WEIGHTED).then_some(number as f64 / 8.0);
        let weights: Float64Array = (start..end).map(weight).collect();
        take(
            REST,
            Batch::Memberships(MembershipBatch {
                kind: 0,
                table: 1,
                group: Ends::Keys(same(SOME, rows)),
                member: Ends::Keys(texts((start..end).map(|number| edge(number * IN_SLICE)))),
                properties: vec![Some(Arc::new(weights))],
            }),
        )?;
    }
    for (start, end) in pieces(drawn.vertices / IN_SLICE) {
        take(
            REST,
            Batch::Memberships(MembershipBatch {
                kind: 0,
                table: 0,
                group: Ends::Keys(same(SOME, (end - start) as usize)),
                member: Ends::Keys(texts((start..end).map(|number| vertex(number * IN_SLICE)))),
                properties: Vec::new(),
            }),
        )?;
    }
    Ok(())
}

/// Opens a graph and reads all its batches on this thread.
pub(crate) fn read(path: &str, runs: usize) -> Result<Value> {
    let location = Location::parse(path)?;
    let (mut opened, mut scanned) = (Measured::new(), Measured::new());
    for _ in 0..runs {
        let mut annnet = None;
        opened.run(|| {
            annnet = Some(Annnet::open(&location, &OpenOptions::default())?);
            Ok(())
        })?;
        let annnet = annnet.ok_or_else(|| Error::usage("nothing was opened"))?;
        scanned.run(|| {
            let mut rows = std::collections::BTreeMap::new();
            for mut part in annnet.scan(&Request::of(Tables::All))? {
                part.read(&mut |batch| {
                    *rows.entry(kind(&batch)).or_insert(0) += batch.rows() as u64;
                    Ok(())
                })?;
            }
            Ok(rows)
        })?;
    }
    Ok(json!({
        "seconds": opened.seconds() + scanned.seconds(),
        "processor": opened.processor() + scanned.processor(),
        "opening": opened.processor(),
        "answer": scanned.answer()?,
    }))
}

fn kind(batch: &Batch) -> &'static str {
    match batch {
        Batch::Nodes(_) => "nodes",
        Batch::Edges(_) => "edges",
        Batch::Hyperedges(_) => "hyperedges",
        Batch::Members(_) => "members",
        Batch::Values(_) => "values",
        Batch::Groups(_) => "groups",
        Batch::Memberships(_) => "memberships",
    }
}

/// Looks up the edges from and to `lookups` random nodes, with all attributes, one node after the other: with warm
/// caches, and the first look-up after opening.
pub(crate) fn neighbours(path: &str, lookups: usize) -> Result<Value> {
    let location = Location::parse(path)?;
    let open = Instant::now();
    let annnet = Annnet::open(&location, &OpenOptions::default())?;
    let open = open.elapsed().as_secs_f64();
    let rows = annnet.graph().nodes.first().and_then(|ty| ty.rows).unwrap_or_default();
    let mut random = Draw::new(7);
    let nodes: Vec<u64> = (0..lookups).map(|_| random.below(rows)).collect();
    let first = Instant::now();
    look_up(&annnet, nodes.get(..1).unwrap_or_default(), Side::Out)?;
    let first = first.elapsed().as_secs_f64();
    let mut measured = serde_json::Map::new();
    for (name, side) in [("out", Side::Out), ("in", Side::In)] {
        // The first round warms the caches.
        look_up(&annnet, &nodes, side)?;
        measured.insert(name.to_owned(), look_up(&annnet, &nodes, side)?);
    }
    let answers = nodes.iter().take(PEER_LOOKUPS).map(|node| {
        let out = look_up(&annnet, &[*node], Side::Out)?;
        Ok(json!([vertex(*node), out["edges"], out["sum"]]))
    });
    measured.insert("first".to_owned(), Value::Array(answers.collect::<Result<_>>()?));
    measured.insert("open".to_owned(), json!(open));
    measured.insert("first_lookup".to_owned(), json!(first));
    Ok(Value::Object(measured))
}

/// Looks up every node by name. The result is the sum of the numbers of edges.
fn look_up(annnet: &Annnet, nodes: &[u64], side: Side) -> Result<Value> {
    let mut times = Vec::with_capacity(nodes.len());
    let (mut edges, mut sum) = (0, 0u64);
    for node in nodes {
        let name = vertex(*node);
        let start = Instant::now();
        let found = annnet.neighbors(0, NodeId::Key(&name), side).and_then(isomorph_model::part::edge_batches)?;
        times.push(start.elapsed());
        for batch in &found {
            edges += batch.rows;
            let Some(keys) = &batch.keys else { continue };
            let numbers = keys.as_string::<i32>().iter().flatten();
            let numbers = numbers.filter_map(|key| key.get(1..)).filter_map(|number| number.parse::<u64>().ok());
            sum = numbers.fold(sum, u64::wrapping_add);
        }
    }
    let p50 = median(&mut times).as_secs_f64();
    let p99 = times.get(times.len() * 99 / 100).copied().unwrap_or_default().as_secs_f64();
    Ok(json!({ "p50": p50, "p99": p99, "edges": edges, "sum": sum }))
}
