//! Reads the edges of a graph once, and sorts them by target.

use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{
    Batch, Direction, EdgeBatch, EdgeType, Ends, KeyKind, Narrowing, Part, Progress, Relation, Request, Source, Tables,
};
use isomorph_storage::parallel::{Ahead, in_order};
use isomorph_storage::{Location, Mode, Reservation, Resources, StagedFile, Staging};
use isomorph_tables::lookup::{ABSENT, KeyRows, KeyRowsBuilder, Lookup, LookupOptions};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};

use super::topology::{
    DOCUMENT, Document, Listed, NUMBERS, NodesOf, REVERSED, RelationOf, SOURCES, STARTS, Topology, VERSION, file_of,
    width_of,
};

/// Marks the number of an edge that is there a second time, so that these are sorted after the others of a target.
const AGAIN: u64 = 1 << 62;

/// The name of edges whose rows have relations of their own.
const EDGES: &str = "edges";

/// The nodes of a type.
struct Nodes {
    ty: usize,
    name: String,
    rows: u64,
    keys: Option<KeyRows>,
}

/// The edges of a batch, by rows.
struct Piece {
    sources: Vec<u64>,
    targets: Vec<u64>,
    undirected: Vec<bool>,
}

impl Topology {
    /// Reads the edges of all types of a graph and writes them into a directory, in place of what is there. `input` states what was
    /// read. An edge without a direction is there twice: a second time from target to source, in the same relation if both ends have the
    /// same node type (once if it is a loop), otherwise in one called `rev_` and its name.
    ///
    /// Takes the memory of `resources` for the keys of nodes, and for sorting; what does not fit is sorted in temporary files.
    ///
    /// # Errors
    /// Returns [`Kind::Malformed`] if an end of an edge is not a node, [`Kind::TooLarge`] if the keys of the nodes need more memory;
    /// otherwise an error if the graph cannot be read, or the directory cannot be written.
    pub fn write(
        source: &dyn Source,
        input: &str,
        directory: &Location,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<()> {
        let graph = source.graph();
        let mut nodes = Vec::new();
        for ty in 0..graph.nodes.len() {
            nodes.push(nodes_of(source, ty, resources, progress)?);
        }
        let staging = Staging::directory(directory, Mode::Replace)?;
        let mut relations: Vec<RelationOf> = Vec::new();
        for (at, ty) in graph.edges.iter().enumerate() {
            let (mut forward, back) = Arcs::read(source, at, ty, &nodes, resources, progress)?;
            let (source, name, target) = (ty.source, ty.relation.fixed().unwrap_or(EDGES).to_owned(), ty.target);
            let reverse = format!("rev_{name}");
            forward.write(&staging, &mut relations, RelationOf { name, ..relation(source, target, at) }, &nodes)?;
            if let Some(mut back) = back {
                let of = RelationOf { name: reverse, ..relation(target, source, at) };
                back.write(&staging, &mut relations, of, &nodes)?;
            }
        }
        if let Some((one, other)) = twice(&relations) {
            let message =
                format!("two edge types are called {one:?} between the same node types, the second is number {other}");
            return Err(Error::unsupported(message).hint("part(types=…)    one of them"));
        }
        let document = Document {
            version: VERSION,
            written_by: env!("CARGO_PKG_VERSION").to_owned(),
            input: input.to_owned(),
            nodes: nodes.into_iter().map(|ty| NodesOf { name: ty.name, nodes: ty.rows }).collect(),
            relations,
        };
        let text = serde_json::to_vec_pretty(&document)
            .map_err(|error| Error::unsupported(format!("this graph cannot be described: {error}")))?;
        let mut file = staging.create(DOCUMENT)?;
        file.write_all(&text)?;
        file.finish()?;
        staging.commit(&[DOCUMENT])?;
        Ok(())
    }
}

fn relation(source: usize, target: usize, edge_type: usize) -> RelationOf {
    RelationOf { source, name: String::new(), target, edge_type, edges: 0, forward: 0, numbered: false }
}

fn twice(relations: &[RelationOf]) -> Option<(&str, usize)> {
    let same = |one: &RelationOf, other: &RelationOf| {
        (one.source, &one.name, one.target) == (other.source, &other.name, other.target)
    };
    let found = relations.iter().enumerate().find(|(at, one)| relations[..*at].iter().any(|before| same(before, one)));
    found.map(|(_, one)| (one.name.as_str(), one.edge_type))
}

fn nodes_of(source: &dyn Source, at: usize, resources: &Resources, progress: &dyn Progress) -> Result<Nodes> {
    let graph = source.graph();
    let ty = graph.nodes.get(at).ok_or_else(|| Error::malformed("an unknown node type"))?;
    progress.begin("nodes", ty.rows);
    let has_keys = ty.key.kind != KeyKind::Row;
    let mut builder = has_keys.then(|| KeyRowsBuilder::new(LookupOptions::new(&resources.budget, &resources.scratch)));
    let mut rows = 0;
    for part in source.scan(&Request::of(Tables::NodeKeys(at)))? {
        for batch in part {
            let Batch::Nodes(batch) = batch? else { continue };
            if batch.ty != at {
                continue;
            }
            progress.advance(batch.rows as u64)?;
            if let (Some(builder), Some(keys)) = (&mut builder, &batch.keys) {
                builder.push(keys.as_ref())?;
            }
            rows += batch.rows as u64;
        }
    }
    let keys = match builder.map(KeyRowsBuilder::finish).transpose()? {
        None => None,
        Some(Lookup::Memory(keys)) => Some(keys),
        Some(Lookup::Spilled(_)) => {
            let error =
                Error::new(Kind::TooLarge, format!("the keys of the nodes of type {} need more memory", ty.name));
            return Err(error.hint("memory=…    allow more"));
        }
    };
    progress.end();
    Ok(Nodes { ty: at, name: ty.name.clone(), rows, keys })
}

/// Resolves ends of edges to rows.
fn rows_of(nodes: &Nodes, ends: &Ends, title: &str) -> Result<Vec<u64>> {
    let rows: Vec<u64> = match (ends, &nodes.keys) {
        (Ends::Rows(rows), _) => rows.values().to_vec(),
        (Ends::Keys(keys), Some(known)) => {
            let mut rows = Vec::new();
            known.translate(keys.as_ref(), &mut rows)?;
            rows
        }
        // Nodes without keys: the key is the row.
        (Ends::Keys(keys), None) => {
            let rows = cast(keys, &DataType::UInt64).map_err(unsorted)?;
            rows.as_primitive::<UInt64Type>().iter().map(|row| row.unwrap_or(ABSENT)).collect()
        }
    };
    if let Some(at) = rows.iter().position(|row| *row >= nodes.rows) {
        let end = match ends {
            Ends::Rows(rows) => rows.values().get(at).map(|row| format!("row {row}")),
            Ends::Keys(keys) if keys.is_null(at) => Some("null".to_owned()),
            Ends::Keys(keys) => {
                let text = cast(&keys.slice(at, 1), &DataType::Utf8).ok();
                text.and_then(|text| text.as_string_opt::<i32>().map(|text| format!("{:?}", text.value(0))))
            }
        };
        let end = end.unwrap_or_default();
        let message = format!("an edge {title} has an end {end} that is not a node of type {}", nodes.name);
        return Err(Error::malformed(message).hint("part()    leaves such edges out"));
    }
    Ok(rows)
}

/// Reads the edges of a type in the order of their rows.
fn read(
    source: &dyn Source,
    at: usize,
    nodes: &[Nodes],
    resources: &Resources,
    progress: &dyn Progress,
    take: &mut dyn FnMut(Piece) -> Result<()>,
) -> Result<()> {
    let graph = source.graph();
    let ty = graph.edges.get(at).ok_or_else(|| Error::malformed("an unknown edge type"))?;
    let (from, relation, to) = graph.edge_name(ty);
    let title = if relation.is_empty() { format!("{from} → {to}") } else { format!("{from} {relation} {to}") };
    let of_type = |ty: usize| nodes.iter().find(|nodes| nodes.ty == ty);
    let (Some(sources), Some(targets)) = (of_type(ty.source), of_type(ty.target)) else {
        return Err(Error::malformed(format!("the edges {title} are between unknown node types")));
    };
    let is_plain = ty.direction != Direction::PerRow && ty.relation != Relation::PerRow;
    let request = match is_plain {
        true => Request::of(Tables::EdgeEnds(at)),
        false => Request::of(Tables::Edges(at)).narrowed(Narrowing::least()),
    };
    progress.begin("edges", ty.rows);
    let read = |part: Box<dyn Part + '_>, give: &mut dyn FnMut(Piece) -> Result<()>| {
        for batch in part {
            let Batch::Edges(batch) = batch? else { continue };
            if batch.ty != at {
                continue;
            }
            progress.advance(batch.rows as u64)?;
            let undirected = undirected(ty.direction, &batch);
            let (sources, targets) =
                (rows_of(sources, &batch.source, &title)?, rows_of(targets, &batch.target, &title)?);
            give(Piece { sources, targets, undirected })?;
        }
        Ok(())
    };
    let ahead = Ahead { pieces: 2, parts: resources.threads };
    in_order(source.scan(&request)?, resources.threads, ahead, read, take)?;
    progress.end();
    Ok(())
}

impl Piece {
    /// The rows of edges that are there a second time, from target to source: those without a direction, except loops.
    fn again(&self, ty: &EdgeType) -> Vec<usize> {
        let is_loop = |row: usize| ty.source == ty.target && self.sources[row] == self.targets[row];
        (0..self.undirected.len()).filter(|row| self.undirected[*row] && !is_loop(*row)).collect()
    }
}

/// Reads all edges of an edge type into memory: those in the direction of their rows, then those without a direction a second time,
/// from target to source, as [`Topology::write`] numbers them.
///
/// # Errors
/// As [`Topology::write`], and [`Kind::TooLarge`] if the budget is too small.
pub fn edges_of(
    source: &dyn Source,
    edge_type: usize,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<(Listed, Listed)> {
    let graph = source.graph();
    let ty =
        graph.edges.get(edge_type).ok_or_else(|| Error::usage(format!("there is no edge type number {edge_type}")))?;
    let mut nodes = vec![nodes_of(source, ty.source, resources, progress)?];
    if ty.source != ty.target {
        nodes.push(nodes_of(source, ty.target, resources, progress)?);
    }
    let (mut forward, mut back) = (Listed::default(), Listed::default());
    let mut memory = resources.budget.reserve(0)?;
    read(source, edge_type, &nodes, resources, progress, &mut |piece| {
        let again = piece.again(ty);
        memory.grow(16 * (piece.sources.len() + again.len()) as u64)?;
        back.sources.extend(again.iter().map(|row| piece.targets[*row].cast_signed()));
        back.targets.extend(again.iter().map(|row| piece.sources[*row].cast_signed()));
        forward.sources.extend(piece.sources.iter().map(|row| row.cast_signed()));
        forward.targets.extend(piece.targets.iter().map(|row| row.cast_signed()));
        Ok(())
    })?;
    Ok((forward, back))
}

/// The edges of a relation while they are collected.
struct Arcs {
    sorter: Option<EdgeSorter>,
    schema: SchemaRef,
    /// Number of edges in the direction of their row.
    forward: u64,
    /// Rows of those that are there a second time, ascending.
    again: Vec<u64>,
    held: Reservation,
    /// Whether all edges came in the order of their targets.
    ascending: bool,
    last: u64,
}

impl Arcs {
    fn new(resources: &Resources, share: u64) -> Result<Self> {
        let schema = Arc::new(Schema::new(vec![Field::new("source", DataType::UInt64, false)]));
        let options = SortOptions::new(&resources.budget, &resources.scratch).payload(Arc::clone(&schema));
        let memory = resources.budget.available() / share;
        let sorter = Some(EdgeSorter::new(options.memory(memory).threads(resources.threads).distinct())?);
        let held = resources.budget.reserve(0)?;
        Ok(Arcs { sorter, schema, forward: 0, again: Vec::new(), held, ascending: true, last: 0 })
    }

    /// Reads the edges of a type: those in the direction of their rows (and, between nodes of one type, the others as well), and those in
    /// the other direction between nodes of two types.
    fn read(
        source: &dyn Source,
        at: usize,
        ty: &EdgeType,
        nodes: &[Nodes],
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<(Arcs, Option<Arcs>)> {
        let has_two = ty.direction != Direction::Directed && ty.source != ty.target;
        let mut forward = Arcs::new(resources, if has_two { 4 } else { 2 })?;
        let mut back = has_two.then(|| Arcs::new(resources, 3)).transpose()?;
        read(source, at, nodes, resources, progress, &mut |piece| {
            let first = forward.forward;
            forward.push(&piece.targets, &piece.sources, (first..).take(piece.targets.len()).collect())?;
            forward.forward += piece.targets.len() as u64;
            let rows = piece.again(ty);
            if rows.is_empty() {
                return Ok(());
            }
            let numbers: Vec<u64> = rows.iter().map(|row| first + *row as u64).collect();
            let take = |all: &[u64]| rows.iter().map(|row| all[*row]).collect::<Vec<u64>>();
            let arcs = back.as_mut().unwrap_or(&mut forward);
            arcs.held.grow(8 * numbers.len() as u64)?;
            arcs.again.extend(&numbers);
            let numbers = numbers.iter().map(|number| number | AGAIN).collect();
            arcs.push(&take(&piece.sources), &take(&piece.targets), numbers)
        })?;
        Ok((forward, back))
    }

    fn push(&mut self, aligned: &[u64], other: &[u64], numbers: Vec<u64>) -> Result<()> {
        let Some(sorter) = &self.sorter else { return Ok(()) };
        for target in aligned {
            self.ascending &= self.last <= *target;
            self.last = *target;
        }
        let sources: ArrayRef = Arc::new(UInt64Array::from(other.to_vec()));
        let payload = RecordBatch::try_new(Arc::clone(&self.schema), vec![sources]).map_err(unsorted)?;
        // Two edges never have the same number, so their order among equals does not matter.
        sorter.push(aligned, &numbers, Some(&payload), 0u64)
    }

    fn write(
        &mut self,
        staging: &Staging,
        relations: &mut Vec<RelationOf>,
        relation: RelationOf,
        nodes: &[Nodes],
    ) -> Result<()> {
        let Some(sorter) = self.sorter.take() else { return Ok(()) };
        let at = relations.len();
        let count = |ty: usize| nodes.get(ty).map_or(0, |ty| ty.rows);
        let (sources, targets) = (count(relation.source), count(relation.target));
        let edges = self.forward + self.again.len() as u64;
        // Each edge that is there again has its row between two others, so a number is a position only without them.
        let numbered = !self.ascending || (!self.again.is_empty() && self.forward > 0);
        let file = |what: &str, limit: u64| -> Result<Numbers> {
            Ok(Numbers { file: staging.create(&file_of(at, what))?, width: width_of(limit) })
        };
        let mut starts = file(STARTS, edges + 1)?;
        let mut ends = file(SOURCES, sources)?;
        let mut numbers = numbered.then(|| file(NUMBERS, edges)).transpose()?;
        let (mut written, mut next) = (0u64, 0u64);
        let sorted: SortedEdges = sorter.finish()?;
        for batch in sorted.stream()? {
            let batch = batch?;
            let from = batch.payload.column(0).as_primitive::<UInt64Type>().values();
            for ((target, number), source) in batch.aligned.values().iter().zip(batch.other.values()).zip(from) {
                while next <= *target {
                    starts.put(written)?;
                    next += 1;
                }
                ends.put(*source)?;
                if let Some(numbers) = &mut numbers {
                    let row = number & !AGAIN;
                    let rank = self.again.partition_point(|other| *other < row) as u64;
                    numbers.put(if number & AGAIN == 0 { row } else { self.forward + rank })?;
                }
                written += 1;
            }
        }
        while next <= targets {
            starts.put(written)?;
            next += 1;
        }
        let mut reversed = file(REVERSED, u64::MAX)?;
        self.again.iter().try_for_each(|row| reversed.put(*row))?;
        for file in [Some(starts), Some(ends), numbers, Some(reversed)].into_iter().flatten() {
            file.file.finish()?;
        }
        relations.push(RelationOf { edges, forward: self.forward, numbered, ..relation });
        Ok(())
    }
}

/// Which edges of a batch have no direction; empty if all have one.
fn undirected(direction: Direction, batch: &EdgeBatch) -> Vec<bool> {
    match (direction, &batch.directed) {
        (Direction::Directed, _) | (Direction::PerRow, None) => Vec::new(),
        (Direction::Undirected, _) => vec![true; batch.rows],
        (Direction::PerRow, Some(directed)) => directed.iter().map(|directed| directed == Some(false)).collect(),
    }
}

/// A file of numbers.
struct Numbers {
    file: StagedFile,
    width: usize,
}

impl Numbers {
    fn put(&mut self, number: u64) -> Result<()> {
        Ok(self.file.write_all(&number.to_le_bytes()[..self.width])?)
    }
}

fn unsorted(error: arrow_schema::ArrowError) -> Error {
    Error::malformed("ends of edges have another type than declared").caused_by(error)
}
