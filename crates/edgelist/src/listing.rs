//! A text in one of the notations as a model source.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Int64Builder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int64Array, StringArray, UInt64Array};
use isomorph_error::{Error, Findings, Kind as ErrorKind, Place, Result, index};
use isomorph_model::{
    About, Batch, Direction, EdgeBatch, EdgeOrder, EdgeType, EndForm, Ends, Graph, Key, KeyKind, NodeBatch, NodeId,
    NodeType, Part, Property, Request, Side, Source, Tables, part,
};
use isomorph_storage::{Budget, Location, Reservation, Scratch};
use isomorph_tables::PackedFile;

use crate::OpenOptions;
use crate::columns::{Column, Properties};
use crate::grammar::{Cells, End, Grammar, Item};
use crate::line::integer;
use crate::listing_survey::{Extent, Mentions};
use crate::nodes::Nodes;
use crate::notation::Notation;
use crate::pieces::{Piece, Pieces, is_plain, piece_at};
use crate::source::{EDGE, NODE, equal_to};
use crate::survey::Wrong;

/// A text with what the survey found in it.
pub(crate) struct Text {
    pub file: PackedFile,
    pub grammar: Box<dyn Grammar>,
    pub extents: Vec<Extent>,
    pub nodes: u64,
}

/// Where the keys of nodes come from.
pub(crate) enum Keys {
    /// Every name in the text, in the order of its first occurrence.
    Names(Box<Nodes>),
    /// The numbers from 1.
    Numbers(u64),
    /// The names that items of nodes have.
    Items,
}

/// A property and its name in the text.
#[derive(Clone)]
pub(crate) struct Named {
    pub name: String,
    pub property: Property,
}

/// A graph in one of the notations, opened.
///
/// ```no_run
/// use isomorph_edgelist::{Listing, Notation, OpenOptions};
/// use isomorph_model::Source;
/// use isomorph_storage::Location;
///
/// let graph = Listing::open(&Location::parse("graph.mtx")?, Notation::MatrixMarket, &OpenOptions::default())?;
/// println!("{:?} edges", graph.graph().edge_rows());
/// # Ok::<(), isomorph_error::Error>(())
/// ```
pub struct Listing {
    pub(crate) notation: Notation,
    /// One text, or that of the nodes and that of the edges.
    pub(crate) texts: Vec<Text>,
    pub(crate) keys: Keys,
    pub(crate) mentions: Mentions,
    /// The properties of nodes and edges that the text states, by position in the description.
    pub(crate) of_nodes: Vec<Named>,
    pub(crate) of_edges: Vec<Named>,
    pub(crate) graph: Graph,
    pub(crate) recognised: Vec<(String, String)>,
    pub(crate) findings: Findings,
    /// The keys of nodes by row, if ends are given as keys although the text has rows.
    pub(crate) labels: Option<(StringArray, Reservation)>,
}

impl Listing {
    /// Opens the graph at `location`, and reads it once.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or a line is invalid.
    pub fn open(location: &Location, notation: Notation, options: &OpenOptions) -> Result<Listing> {
        let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
        let file = || PackedFile::open(location);
        match notation {
            Notation::MatrixMarket => crate::matrix_market::open(file()?, options, &scratch),
            Notation::AdjacencyList | Notation::MultilineAdjacencyList => {
                crate::adjacency::open(file()?, notation, options, &scratch)
            }
            Notation::Metis => crate::metis::open(file()?, options, &scratch),
            Notation::Pajek => crate::pajek::open(file()?, options, &scratch),
            // A graph of several files, which its properties name.
            Notation::Graphalytics => crate::graphalytics::open(location, options, &scratch),
        }
    }

    /// Returns what was recognised, and from what: pairs of subject and fact.
    pub fn recognised(&self) -> &[(String, String)] {
        &self.recognised
    }

    /// Returns the notation.
    pub fn notation(&self) -> Notation {
        self.notation
    }

    fn integers(&self) -> bool {
        self.graph.nodes.first().is_some_and(|ty| ty.key.kind == KeyKind::Int)
    }

    fn is_by_row(&self) -> bool {
        self.notation.is_numbered()
    }

    /// Gives ends as keys from now on: nodes of several types in one text are told apart by their keys.
    ///
    /// # Errors
    /// Returns an error if the labels cannot be read, or exceed the budget.
    pub(crate) fn hold_labels(&mut self, budget: &Budget) -> Result<()> {
        let (mut labels, mut held) = (StringBuilder::new(), budget.reserve(0)?);
        for part in self.node_parts(true, 1 << 14) {
            for batch in part {
                let Batch::Nodes(nodes) = batch? else { continue };
                let Some(keys) = nodes.keys.as_ref().and_then(|keys| keys.as_string_opt::<i32>()) else {
                    return Ok(());
                };
                held.grow(keys.iter().map(|key| 8 + key.map_or(0, str::len) as u64).sum())?;
                keys.iter().for_each(|key| labels.append_option(key));
            }
        }
        self.labels = Some((labels.finish(), held));
        Ok(())
    }

    /// Returns ends that the text states as rows.
    fn by_label(&self, rows: &UInt64Array) -> Ends {
        match &self.labels {
            None => Ends::Rows(rows.clone()),
            Some((labels, _)) => {
                let labels = rows.values().iter().map(|row| Some(labels.value(index(*row))));
                Ends::Keys(Arc::new(labels.collect::<StringArray>()))
            }
        }
    }

    /// Returns the nodes and edges of a piece, as far as they are wanted.
    fn rows(
        &self,
        text: &Text,
        extent: &Extent,
        piece: &Piece,
        wanted: Wants,
    ) -> Result<(Option<NodeBatch>, Option<EdgeBatch>)> {
        let mut nodes = Table::new(&self.of_nodes, self.integers(), false);
        let mut edges = Table::new(&self.of_edges, self.integers(), self.is_by_row());
        let mut directed = BooleanBuilder::new();
        let read = text.grammar.read(piece, &extent.state, &mut |at, item| match item {
            Item::Node(end, cells) if wanted.nodes => nodes.push([Some(end), None], cells, wanted.bare, at),
            Item::Edge(source, target, is_directed, cells) if wanted.edges && self.mentions.counts(source, target) => {
                directed.append_value(is_directed);
                edges.push([Some(source), Some(target)], cells, wanted.bare, at)
            }
            _ => Ok(()),
        });
        read.map_err(|wrong| wrong.in_piece(piece, &text.file))?;
        let node_batch = (nodes.rows > 0).then(|| {
            let (rows, start) = (nodes.rows, extent.first_node);
            let (ends, properties) = nodes.finish(wanted.bare, self.node_types());
            let keys = match &self.keys {
                Keys::Items => ends.into_iter().next(),
                _ => Some(numbered(start, rows, self.integers())),
            };
            NodeBatch { ty: 0, start, numbers: None, rows, keys, labels: None, properties }
        });
        let edge_batch = (edges.rows > 0).then(|| {
            let (rows, by_row) = (edges.rows, self.is_by_row());
            let (ends, properties) = edges.finish(wanted.bare, self.edge_types());
            let mut ends = ends.into_iter().map(|ends| match by_row {
                true => self.by_label(ends.as_primitive()),
                false => Ends::Keys(ends),
            });
            let none = || Ends::Rows(Vec::<u64>::new().into());
            let (source, target) = (ends.next().unwrap_or_else(none), ends.next().unwrap_or_else(none));
            let directed = Some(directed.finish()).filter(|_| self.direction() == Direction::PerRow);
            EdgeBatch { ty: 0, rows, relations: None, source, target, layers: None, directed, keys: None, properties }
        });
        Ok((node_batch, edge_batch))
    }

    fn direction(&self) -> Direction {
        self.graph.edges.first().map_or(Direction::Directed, |ty| ty.direction)
    }

    fn node_types(&self) -> &[Property] {
        self.graph.nodes.first().map(|ty| ty.properties.as_slice()).unwrap_or_default()
    }

    fn edge_types(&self) -> &[Property] {
        self.graph.edges.first().map(|ty| ty.properties.as_slice()).unwrap_or_default()
    }

    /// Returns the parts with nodes, or with edges, of all texts.
    fn parts(&self, wanted: Wants, at_once: usize) -> Vec<Box<dyn Part + '_>> {
        self.texts.iter().flat_map(|text| self.parts_of(text, wanted, at_once)).collect()
    }

    fn parts_of<'s>(&'s self, text: &'s Text, wanted: Wants, at_once: usize) -> Vec<Box<dyn Part + 's>> {
        let count = move |extent: &Extent| if wanted.nodes { extent.nodes } else { extent.edges };
        let total: u64 = text.extents.iter().map(count).sum();
        if total == 0 {
            return Vec::new();
        }
        let give = move |extent: &Extent, piece: &Piece, take: part::Take<'_>| {
            let (nodes, edges) = self.rows(text, extent, piece, wanted)?;
            for batch in nodes.map(Batch::Nodes).into_iter().chain(edges.map(Batch::Edges)) {
                let rows = batch.rows();
                (0..rows).step_by(at_once).try_for_each(|from| take(batch.slice(from, at_once.min(rows - from))))?;
            }
            Ok(())
        };
        let is_halved = wanted.edges && self.mentions == Mentions::AtBothEnds;
        if !is_plain(&text.file) {
            let step = move |(pieces, at): &mut (Pieces, usize), take: part::Take<'_>| {
                let Some(piece) = pieces.next()? else { return Ok(false) };
                let Some(extent) = text.extents.get(*at) else { return Ok(false) };
                *at += 1;
                if count(extent) > 0 {
                    give(extent, &piece, take)?;
                }
                Ok(true)
            };
            return vec![part::stepped(Some(total).filter(|_| !is_halved), || Ok((Pieces::of(&text.file)?, 0)), step)];
        }
        let part = |extent: &'s Extent| {
            let step = move |is_done: &mut bool, take: part::Take<'_>| {
                if std::mem::replace(is_done, true) {
                    return Ok(false);
                }
                give(extent, &piece_at(&text.file, extent.line, extent.range.clone())?, take).map(|()| true)
            };
            part::stepped(Some(count(extent)).filter(|_| !is_halved), || Ok(false), step)
        };
        text.extents.iter().filter(|extent| count(extent) > 0).map(part).collect()
    }

    fn node_parts(&self, bare: bool, at_once: usize) -> Vec<Box<dyn Part + '_>> {
        let generated = |count: u64| -> Vec<Box<dyn Part + '_>> {
            let integers = self.integers();
            let properties = self.node_types();
            let step = move |next: &mut u64, take: part::Take<'_>| {
                let rows = index((count - *next).min(at_once as u64));
                if rows == 0 {
                    return Ok(false);
                }
                let keys = Some(numbered(*next, rows, integers));
                let absent =
                    properties.iter().map(|own| (!bare).then(|| arrow_array::new_null_array(&own.data_type, rows)));
                let properties = absent.collect();
                take(Batch::Nodes(NodeBatch {
                    ty: 0,
                    start: *next,
                    numbers: None,
                    rows,
                    keys,
                    labels: None,
                    properties,
                }))?;
                *next += rows as u64;
                Ok(true)
            };
            vec![part::stepped(Some(count), || Ok(0), step)]
        };
        let has_items = self.texts.iter().any(|text| text.nodes > 0);
        match &self.keys {
            Keys::Names(nodes) => vec![nodes.part(at_once)],
            Keys::Numbers(count) if !has_items => generated(*count),
            Keys::Numbers(_) | Keys::Items => self.parts(Wants { nodes: true, edges: false, bare }, at_once),
        }
    }

    fn edge_parts(&self, bare: bool, at_once: usize) -> Vec<Box<dyn Part + '_>> {
        self.parts(Wants { nodes: false, edges: true, bare }, at_once)
    }

    /// Returns the row of the node with a key.
    fn row_of(&self, key: &str) -> Result<u64> {
        let missing = || Error::new(ErrorKind::NotFound, format!("there is no node {key}"));
        if let Keys::Numbers(count) = &self.keys {
            let number = integer(key).and_then(|number| u64::try_from(number).ok());
            return number.filter(|number| (1..=*count).contains(number)).map(|number| number - 1).ok_or_else(missing);
        }
        let mut before = 0;
        for part in self.node_parts(true, 1 << 16) {
            for batch in part {
                let Batch::Nodes(nodes) = batch? else { continue };
                let equal = nodes.keys.as_ref().and_then(|keys| equal_to(keys, key));
                if let Some(at) = equal.and_then(|equal| equal.iter().position(|equal| equal == Some(true))) {
                    return Ok(before + at as u64);
                }
                before += nodes.rows as u64;
            }
        }
        Err(missing())
    }
}

/// Which rows of a piece are wanted, and whether without properties.
#[derive(Debug, Clone, Copy)]
struct Wants {
    nodes: bool,
    edges: bool,
    bare: bool,
}

/// Returns the keys of rows: their numbers from 1.
fn numbered(start: u64, rows: usize, integers: bool) -> ArrayRef {
    let numbers = (start + 1..).take(rows);
    match integers {
        true => Arc::new(numbers.map(|number| i64::try_from(number).ok()).collect::<Int64Array>()),
        false => Arc::new(numbers.map(|number| Some(number.to_string())).collect::<StringArray>()),
    }
}

/// Rows that are collected from a piece.
struct Table<'t> {
    names: &'t [Named],
    columns: Vec<Column>,
    given: Vec<bool>,
    ends: [EndColumn; 2],
    rows: usize,
}

impl<'t> Table<'t> {
    fn new(names: &'t [Named], integers: bool, by_row: bool) -> Self {
        let columns = names.iter().map(|own| Column::new(&own.property)).collect();
        let ends = [(); 2].map(|()| EndColumn::new(integers, by_row));
        Table { names, columns, given: vec![false; names.len()], ends, rows: 0 }
    }

    fn push(&mut self, ends: [Option<End<'_>>; 2], cells: &mut Cells<'_>, bare: bool, at: usize) -> Result<(), Wrong> {
        self.rows += 1;
        for (column, end) in self.ends.iter_mut().zip(ends) {
            if end.is_some_and(|end| !column.push(end)) {
                return Err(changed("a node", at));
            }
        }
        if bare {
            return Ok(());
        }
        self.given.fill(false);
        for (name, cell) in cells.iter_mut() {
            // Properties that the sidecar does not know are not shown.
            let Some(place) = self.names.iter().position(|own| own.name == *name) else { continue };
            let own = self.columns.get_mut(place).zip(self.given.get_mut(place));
            // A name that is given twice was rejected when the file was opened.
            if let Some((column, given)) = own
                && !std::mem::replace(given, true)
                && !column.push_cell(std::mem::take(cell))
            {
                return Err(changed(name, at));
            }
        }
        let absent = self.columns.iter_mut().zip(&self.given).filter(|(_, given)| !**given);
        absent.for_each(|(column, _)| column.push_null());
        Ok(())
    }

    /// Returns the ends, and the columns of the properties `types`, of which those that no line states come last.
    fn finish(self, bare: bool, types: &[Property]) -> (Vec<ArrayRef>, Vec<Option<ArrayRef>>) {
        let rows = self.rows;
        let stated = self.columns.into_iter().map(|column| (!bare).then(|| column.finish()));
        let unstated = types.iter().skip(self.names.len());
        let unstated = unstated.map(|own| (!bare).then(|| arrow_array::new_null_array(&own.data_type, rows)));
        (self.ends.into_iter().map(EndColumn::finish).collect(), stated.chain(unstated).collect())
    }
}

fn changed(what: &str, at: usize) -> Wrong {
    let error =
        Error::malformed(format!("{what} has another type here than the sidecar or the rest of the file states"));
    Wrong { error, at }
}

/// The ends on one side.
enum EndColumn {
    Rows(UInt64Builder),
    Integers(Int64Builder),
    Names(StringBuilder),
}

impl EndColumn {
    fn new(integers: bool, by_row: bool) -> EndColumn {
        match (by_row, integers) {
            (true, _) => EndColumn::Rows(UInt64Builder::new()),
            (false, true) => EndColumn::Integers(Int64Builder::new()),
            (false, false) => EndColumn::Names(StringBuilder::new()),
        }
    }

    fn push(&mut self, end: End<'_>) -> bool {
        match (self, end) {
            (EndColumn::Rows(column), End::Row(row)) => column.append_value(row),
            (EndColumn::Integers(column), End::Name(name)) => match integer(name) {
                Some(number) => column.append_value(number),
                None => return false,
            },
            (EndColumn::Names(column), End::Name(name)) => column.append_value(name),
            // The keys of numbered nodes are not taken from items.
            (_, End::Row(_)) => {}
            (EndColumn::Rows(_), End::Name(_)) => return false,
        }
        true
    }

    fn finish(self) -> ArrayRef {
        match self {
            EndColumn::Rows(mut column) => Arc::new(column.finish()),
            EndColumn::Integers(mut column) => Arc::new(column.finish()),
            EndColumn::Names(mut column) => Arc::new(column.finish()),
        }
    }
}

/// Returns the properties that a text states, and those that only the sidecar knows. In a notation that does
/// not name the number of an edge, `unnamed`, the sidecar may have another name for it.
pub(crate) fn properties(
    found: &Properties,
    rows: u64,
    shown: Option<&[Property]>,
    otherwise: crate::columns::Kind,
    unnamed: Option<Notation>,
) -> (Vec<Named>, Vec<Property>) {
    let mut named: Vec<Named> = Vec::new();
    for (name, seen) in found.names.iter().zip(&found.seen) {
        let kind = seen.kind(otherwise);
        let told = shown.and_then(|shown| {
            let same = shown.iter().find(|own| own.name == *name);
            same.or_else(|| unnamed.and_then(|notation| notation.number_of(shown)))
        });
        let mut property = match (shown, told) {
            (_, Some(told)) => told.clone(),
            // What the writer adds because other readers need it.
            (Some(_), None) if is_padding(name) => continue,
            _ => kind.property(name),
        };
        property.nullable = seen.count < rows || seen.count == 0;
        named.push(Named { name: name.clone(), property });
    }
    let is_unseen = |own: &&Property| !named.iter().any(|named| named.property.name == own.name);
    let unseen: Vec<Property> = shown.unwrap_or_default().iter().filter(is_unseen).cloned().collect();
    let all = named.iter().map(|own| own.property.clone()).chain(unseen).collect();
    (named, all)
}

/// Returns whether a property may be there only because readers expect it.
fn is_padding(name: &str) -> bool {
    matches!(name, "x" | "y" | "shape" | "weight")
}

/// Returns the description of nodes and edges.
pub(crate) fn described(
    (nodes, edges): (u64, u64),
    (of_nodes, of_edges): (Vec<Property>, Vec<Property>),
    integers: bool,
    direction: Direction,
) -> Graph {
    let mut node = NodeType::new(NODE, if integers { Key::int64() } else { Key::utf8() });
    (node.rows, node.properties) = (Some(nodes), of_nodes);
    let mut edge = EdgeType::new(0, EDGE, 0);
    (edge.rows, edge.properties, edge.direction) = (Some(edges), of_edges, direction);
    Graph { nodes: vec![node], edges: vec![edge], ..Graph::default() }
}

/// Returns whether the sidecar states that keys are texts.
pub(crate) fn has_text_keys(options: &OpenOptions) -> bool {
    let shown = options.shown.as_ref().and_then(|graph| graph.nodes.first());
    shown.is_some_and(|ty| ty.key.kind == KeyKind::Utf8)
}

/// Returns the properties of nodes and of edges that the sidecar states.
pub(crate) fn shown(options: &OpenOptions) -> (Option<&[Property]>, Option<&[Property]>) {
    let shown = options.shown.as_ref();
    let nodes = shown.and_then(|graph| graph.nodes.first()).map(|ty| ty.properties.as_slice());
    (nodes, shown.and_then(|graph| graph.edges.first()).map(|ty| ty.properties.as_slice()))
}

impl Source for Listing {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::unsupported(format!(
                "{} returns edges in the order of its lines",
                self.notation.name()
            )));
        }
        let rows = request.batch_rows.max(1);
        Ok(match request.tables {
            Tables::All => self.node_parts(false, rows).into_iter().chain(self.edge_parts(false, rows)).collect(),
            Tables::AllNodes | Tables::Nodes(0) => self.node_parts(false, rows),
            Tables::NodeKeys(0) => self.node_parts(true, rows),
            Tables::AllEdges | Tables::Edges(0) => self.edge_parts(false, rows),
            Tables::EdgeEnds(0) => self.edge_parts(true, rows),
            _ => Vec::new(),
        })
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        if self.is_by_row() && self.labels.is_none() { EndForm::Rows } else { EndForm::Keys }
    }

    fn about(&self) -> About {
        let layout: Vec<String> = self.recognised.iter().map(|(what, fact)| format!("{what}: {fact}")).collect();
        About {
            format: self.notation.name().to_owned(),
            version: self.texts.first().map(|text| text.file.packing.word().to_owned()).unwrap_or_default(),
            files: self.texts.len() as u64,
            bytes: self.texts.iter().map(|text| text.file.blob.size()).sum(),
            layout: layout.join(" · "),
            edge_layouts: Vec::new(),
            findings: self.findings.clone(),
        }
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        if edge != 0 {
            return Err(Error::usage(format!("{} has a single edge table", self.notation.name())));
        }
        let (row, key) = match node {
            NodeId::Key(key) => (self.row_of(key)?, key.to_owned()),
            NodeId::Row(row)
                if self.end_form(0) == EndForm::Rows && self.graph.node_rows().is_none_or(|rows| row < rows) =>
            {
                (row, String::new())
            }
            NodeId::Row(_) if self.end_form(0) == EndForm::Rows => {
                return Err(Error::new(ErrorKind::NotFound, "there is no such node"));
            }
            NodeId::Row(_) => {
                return Err(Error::unsupported("nodes are looked up by name").hint("give the name of the node"));
            }
        };
        let parts = self.edge_parts(false, 1 << 16).into_iter().map(Ok);
        Ok(part::shown(part::chained(parts)?, move |batch, take| {
            let Batch::Edges(edges) = batch else { return Ok(()) };
            let ends = if side == Side::Out { &edges.source } else { &edges.target };
            let equal: Vec<bool> = match ends {
                Ends::Rows(rows) => rows.values().iter().map(|own| *own == row).collect(),
                Ends::Keys(keys) => {
                    let Some(equal) = equal_to(keys, &key) else { return Ok(()) };
                    equal.iter().map(|equal| equal == Some(true)).collect()
                }
            };
            let mut from = 0;
            for run in equal.chunk_by(|left, right| left == right) {
                if run.first() == Some(&true) {
                    take(Batch::Edges(edges.slice(from, run.len())))?;
                }
                from += run.len();
            }
            Ok(())
        }))
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        // Opening has read and checked every line.
        findings.merge(self.findings.clone());
        Ok(())
    }
}

/// Returns the place of a file, for findings about all of it.
pub(crate) fn place(file: &PackedFile) -> Place {
    file.blob.place()
}
