//! An edge list as a model source.

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray};
use isomorph_error::{Error, Findings, Kind as ErrorKind, Result};
use isomorph_model::{
    About, Batch, Direction, EdgeBatch, EdgeOrder, EdgeType, Ends, Graph, Key, KeyKind, NodeId, NodeType, Part,
    Property, Request, Side, Source, Tables, part,
};
use isomorph_storage::{Location, Scratch};
use isomorph_tables::PackedFile;

use crate::columns::{Column, Kind, free};
use crate::layout::{Form, Layout, layout};
use crate::line::{cell, integer};
use crate::pieces::{Piece, Pieces, is_plain, piece_at};
use crate::survey::{Behind, Survey, Wrong, edges, noticed, survey};
use crate::{EdgeData, OpenOptions, python, rules};

/// The names of the node type and of the edge type.
pub(crate) const NODE: &str = "node";
pub(crate) const EDGE: &str = "edge";

/// Name of a column of integers whose meaning is unknown.
const VALUE: &str = "value";

/// An opened edge list.
///
/// ```no_run
/// use isomorph_edgelist::{EdgeList, OpenOptions};
/// use isomorph_model::Source;
/// use isomorph_storage::Location;
///
/// let graph = EdgeList::open(&Location::parse("graph.txt")?, &OpenOptions::default())?;
/// println!("{:?} edges", graph.graph().edge_rows());
/// # Ok::<(), isomorph_error::Error>(())
/// ```
pub struct EdgeList {
    file: PackedFile,
    layout: Layout,
    survey: Survey,
    graph: Graph,
    /// The reason for the name of each column and for the direction of edges.
    recognised: Vec<(String, String)>,
    findings: Findings,
}

/// Returns the name of a property, and where it comes from.
fn named(at: usize, kind: Kind, layout: &Layout, options: &OpenOptions, taken: &[String]) -> (String, String) {
    let place = match layout.place_of(at) {
        0 => "first column".to_owned(),
        2 => "third column".to_owned(),
        place => format!("column {}", place + 1),
    };
    if let Some(column) = options.columns.get(at) {
        return (column.name.clone(), format!("{place}, by --edge-columns"));
    }
    if let Some(name) = layout.names.get(at).filter(|name| !name.is_empty()) {
        return (free(name, taken), format!("{place}, by its header"));
    }
    match kind {
        Kind::Float if at == 0 => {
            ("weight".to_owned(), format!("{place}, floats: read as weights; rename with --edge-columns NAME"))
        }
        _ => {
            let what = match kind {
                Kind::Int => "integers",
                Kind::Float => "floats",
                _ => "text",
            };
            (
                free(VALUE, taken),
                format!("{place}, {what}; set its name with --edge-columns weight or --edge-columns time"),
            )
        }
    }
}

impl EdgeList {
    /// Opens the file at `location`, and reads it once.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or a line is invalid.
    pub fn open(location: &Location, options: &OpenOptions) -> Result<EdgeList> {
        let file = PackedFile::open(location)?;
        let mut layout = layout(&file)?;
        let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
        let shown = options.shown.as_ref();
        if options.undirected || shown.is_some() {
            // It is a property then, whatever it says.
            layout.type_column = None;
        }
        let as_text = shown.and_then(|graph| graph.nodes.first()).is_some_and(|ty| ty.key.kind == KeyKind::Utf8);
        let survey = survey(&file, &layout, as_text, (&options.budget, &scratch))?;
        let mut recognised = Vec::new();
        let what = match layout.form {
            Form::Dictionary => "dictionaries after source and target",
            Form::Columns(_) => layout.separator.words(),
        };
        let header = if layout.has_header { ", named by the first line" } else { "" };
        recognised.push(("lines".to_owned(), format!("{what}{header}")));
        let integers = survey.integers && !as_text;
        let key = if integers { Key::int64() } else { Key::utf8() };
        let mut node = NodeType::new(NODE, key);
        node.rows = Some(survey.nodes.rows());
        let mut edge = EdgeType::new(0, EDGE, 0);
        edge.rows = Some(survey.edges);
        edge.properties = properties(&survey, &layout, options, &mut recognised)?;
        let (undirected, who) =
            match (options.undirected, shown.and_then(|graph| graph.edges.first()), layout.undirected) {
                (true, _, _) => (true, "by --undirected"),
                (_, Some(ty), _) => (ty.direction == Direction::Undirected, "by the sidecar"),
                (_, _, Some(undirected)) if layout.type_column.is_some() => (undirected, "by the column of directions"),
                (_, _, Some(undirected)) => (undirected, "by a comment"),
                _ => (false, "by default; change with --undirected"),
            };
        edge.direction = if undirected { Direction::Undirected } else { Direction::Directed };
        let direction = match (undirected, layout.ends) {
            (true, _) => "undirected".to_owned(),
            (_, (0, 1)) => "from the first column to the second".to_owned(),
            (_, (source, target)) => format!("from column {} to column {}", source + 1, target + 1),
        };
        recognised.push(("edges".to_owned(), format!("{direction}: {who}")));
        let findings = noticed(&survey, &layout, &edge.properties, &file.blob.place());
        let graph = Graph { nodes: vec![node], edges: vec![edge], ..Graph::default() };
        Ok(EdgeList { file, layout, survey, graph, recognised, findings })
    }

    /// Returns what was recognised, and from what: pairs of subject and fact.
    pub fn recognised(&self) -> &[(String, String)] {
        &self.recognised
    }

    /// Returns how the properties of edges are stored.
    pub fn data(&self) -> EdgeData {
        match self.layout.form {
            Form::Columns(_) => EdgeData::Columns,
            Form::Dictionary => EdgeData::Dictionary,
        }
    }

    fn integers(&self) -> bool {
        self.graph.nodes.first().is_some_and(|ty| ty.key.kind == KeyKind::Int)
    }

    fn types(&self) -> &[Property] {
        self.graph.edges.first().map(|ty| ty.properties.as_slice()).unwrap_or_default()
    }

    /// Returns the edges of a piece.
    ///
    /// # Errors
    /// Returns an error if a line is invalid.
    fn rows(&self, piece: &Piece, is_first: bool, bare: bool) -> Result<EdgeBatch> {
        let types = self.types();
        let mut columns: Vec<Column> = types.iter().map(Column::new).collect();
        let mut ends = [EndColumn::new(self.integers()), EndColumn::new(self.integers())];
        let mut rows = 0;
        let mut given = vec![false; types.len()];
        let read = edges(piece, &self.layout, is_first, &mut |at, source, target, behind| {
            rows += 1;
            let [sources, targets] = &mut ends;
            if !(sources.push(source) && targets.push(target)) {
                return Err(Wrong::new(&rules::VALUE, "source or target is not an integer", at));
            }
            if bare {
                return Ok(());
            }
            let misfit =
                |property: &Property| Wrong::new(&rules::VALUE, format!("{} has another type here", property.name), at);
            match behind {
                Behind::Fields(fields) => {
                    for ((column, field), property) in columns.iter_mut().zip(fields).zip(types) {
                        if !column.push_field(cell(field)) {
                            return Err(misfit(property));
                        }
                    }
                    columns.iter_mut().skip(fields.len()).for_each(Column::push_null);
                }
                Behind::Dictionary(text) => {
                    given.fill(false);
                    let mut wrong = None;
                    let read = python::dictionary(text, &mut |name, value| {
                        let Some(at) = types.iter().position(|property| property.name == name) else { return };
                        // Opening has rejected repeated names; the file may have changed since.
                        if std::mem::replace(&mut given[at], true) || !columns[at].push_value(value) {
                            wrong = Some(at);
                        }
                    });
                    read.map_err(|fault| Wrong::new(&rules::DICTIONARY, fault.message, at))?;
                    if let Some(property) = wrong.and_then(|at| types.get(at)) {
                        return Err(misfit(property));
                    }
                    columns
                        .iter_mut()
                        .zip(&given)
                        .filter(|(_, given)| !**given)
                        .for_each(|(column, _)| column.push_null());
                }
            }
            Ok(())
        });
        read.map_err(|wrong| wrong.in_piece(piece, &self.file))?;
        let [source, target] = ends.map(|ends| Ends::Keys(ends.finish()));
        let properties = match bare {
            true => vec![None; types.len()],
            false => columns.into_iter().map(|column| Some(column.finish())).collect(),
        };
        let (ty, relations, layers, directed, keys) = (0, None, None, None, None);
        Ok(EdgeBatch { ty, rows, relations, source, target, layers, directed, keys, properties })
    }

    fn edge_parts(&self, bare: bool, at_once: usize) -> Vec<Box<dyn Part + '_>> {
        let give = move |batch: EdgeBatch, take: part::Take<'_>| {
            (0..batch.rows)
                .step_by(at_once)
                .try_for_each(|from| take(Batch::Edges(batch.slice(from, at_once.min(batch.rows - from)))))
        };
        if !is_plain(&self.file) {
            let step = move |(pieces, at): &mut (Pieces, usize), take: part::Take<'_>| {
                let Some(piece) = pieces.next()? else { return Ok(false) };
                let is_first = self.is_first(*at);
                *at += 1;
                give(self.rows(&piece, is_first, bare)?, take).map(|()| true)
            };
            return vec![part::stepped(Some(self.survey.edges), || Ok((Pieces::of(&self.file)?, 0)), step)];
        }
        let part = |(at, place): (usize, &crate::survey::Lies)| {
            let (line, range) = (place.line, place.range.clone());
            let step = move |is_done: &mut bool, take: part::Take<'_>| {
                if std::mem::replace(is_done, true) {
                    return Ok(false);
                }
                let piece = piece_at(&self.file, line, range.clone())?;
                give(self.rows(&piece, self.is_first(at), bare)?, take).map(|()| true)
            };
            part::stepped(Some(place.edges), || Ok(false), step)
        };
        self.survey.places.iter().enumerate().map(part).collect()
    }

    /// Returns whether a piece is the one with the header, if there is one.
    fn is_first(&self, piece: usize) -> bool {
        self.survey.places.get(piece).is_some_and(|place| place.is_first)
    }

    fn has(&self, node: &str) -> Result<bool> {
        for part in [self.survey.nodes.part(1 << 16)] {
            for batch in part {
                let Batch::Nodes(nodes) = batch? else { continue };
                if nodes
                    .keys
                    .as_ref()
                    .is_some_and(|keys| equal_to(keys, node).is_some_and(|equal| equal.true_count() > 0))
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Returns a mask of the keys that equal `node`; `None` if no key can.
pub(crate) fn equal_to(keys: &ArrayRef, node: &str) -> Option<BooleanArray> {
    match keys.as_primitive_opt::<Int64Type>() {
        Some(numbers) => {
            let wanted = integer(node)?;
            Some(numbers.values().iter().map(|key| Some(*key == wanted)).collect())
        }
        None => Some(keys.as_string_opt::<i32>()?.iter().map(|key| Some(key == Some(node))).collect()),
    }
}

/// Returns the properties of edges, and records the origin of their names.
fn properties(
    survey: &Survey,
    layout: &Layout,
    options: &OpenOptions,
    recognised: &mut Vec<(String, String)>,
) -> Result<Vec<Property>> {
    let shown = options.shown.as_ref().and_then(|graph| graph.edges.first()).map(|ty| ty.properties.as_slice());
    let is_dictionary = layout.form == Form::Dictionary;
    let behind = survey.properties.names.len();
    if options.columns.len() > behind || is_dictionary && !options.columns.is_empty() {
        let what = match is_dictionary {
            true => "--edge-columns does not apply: the values of this edge list are named".to_owned(),
            false => {
                format!(
                    "there are {behind} columns after source and target, but --edge-columns names {}",
                    options.columns.len()
                )
            }
        };
        return Err(Error::usage(what));
    }
    let mut properties: Vec<Property> = Vec::new();
    let mut taken: Vec<String> = Vec::new();
    for (at, (own, seen)) in survey.properties.names.iter().zip(&survey.properties.seen).enumerate() {
        let kind = seen.kind(if is_dictionary { Kind::Json } else { Kind::Text });
        let mut name = own.clone();
        if !is_dictionary {
            let who;
            (name, who) = named(at, kind, layout, options, &taken);
            recognised.push((name.clone(), who));
        }
        let told = shown.and_then(|shown| shown.iter().find(|property| property.name == name));
        let mut property = match (told, options.columns.get(at).and_then(|column| column.data_type.clone())) {
            (_, Some(data_type)) => Property::new(name.clone(), data_type),
            (Some(told), _) => Property { nullable: true, ..told.clone() },
            _ => kind.property(&name),
        };
        property.nullable = seen.count < survey.edges || seen.count == 0;
        taken.push(name);
        properties.push(property);
    }
    // Properties that no edge has are in no line.
    let unseen = shown.unwrap_or_default().iter().filter(|property| !taken.contains(&property.name));
    properties.extend(unseen.cloned());
    Ok(properties)
}

/// The ends on one side.
enum EndColumn {
    Integers(Int64Builder),
    Names(StringBuilder),
}

impl EndColumn {
    fn new(integers: bool) -> Self {
        if integers { EndColumn::Integers(Int64Builder::new()) } else { EndColumn::Names(StringBuilder::new()) }
    }

    fn push(&mut self, name: &str) -> bool {
        match self {
            EndColumn::Integers(column) => match integer(name) {
                Some(id) => column.append_value(id),
                None => return false,
            },
            EndColumn::Names(column) => column.append_value(name),
        }
        true
    }

    fn finish(self) -> ArrayRef {
        match self {
            EndColumn::Integers(mut column) => Arc::new(column.finish()),
            EndColumn::Names(mut column) => Arc::new(column.finish()),
        }
    }
}

impl Source for EdgeList {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::unsupported("an edge list returns edges in the order of its lines"));
        }
        let rows = request.batch_rows.max(1);
        let nodes = || self.survey.nodes.part(rows);
        Ok(match request.tables {
            Tables::All => std::iter::once(nodes()).chain(self.edge_parts(false, rows)).collect(),
            Tables::AllNodes | Tables::Nodes(0) | Tables::NodeKeys(0) => vec![nodes()],
            Tables::AllEdges | Tables::Edges(0) => self.edge_parts(false, rows),
            Tables::EdgeEnds(0) => self.edge_parts(true, rows),
            _ => Vec::new(),
        })
    }

    fn about(&self) -> About {
        let layout: Vec<String> = self.recognised.iter().map(|(what, fact)| format!("{what}: {fact}")).collect();
        About {
            format: "edge list".to_owned(),
            version: self.file.packing.word().to_owned(),
            files: 1,
            bytes: self.file.blob.size(),
            layout: layout.join(" · "),
            edge_layouts: Vec::new(),
            findings: self.findings.clone(),
        }
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let NodeId::Key(key) = node else {
            return Err(
                Error::unsupported("nodes of an edge list are looked up by name").hint("give the name of the node")
            );
        };
        if edge != 0 {
            return Err(Error::usage("an edge list has a single edge table"));
        }
        if !self.has(key)? {
            return Err(Error::new(ErrorKind::NotFound, format!("there is no node {key}")));
        }
        let key = key.to_owned();
        let parts = self.edge_parts(false, 1 << 16).into_iter().map(Ok);
        let all = part::chained(parts)?;
        Ok(part::shown(all, move |batch, take| {
            let Batch::Edges(edges) = batch else { return Ok(()) };
            let ends = if side == Side::Out { &edges.source } else { &edges.target };
            let Ends::Keys(keys) = ends else { return Ok(()) };
            let Some(equal) = equal_to(keys, &key) else { return Ok(()) };
            let mut row = 0;
            for run in equal.iter().collect::<Vec<_>>().chunk_by(|left, right| left == right) {
                if run.first() == Some(&Some(true)) {
                    take(Batch::Edges(edges.slice(row, run.len())))?;
                }
                row += run.len();
            }
            Ok(())
        }))
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        findings.merge(self.findings.clone());
        // Opening has read every line, but not converted the values to the types that a flag or the sidecar states.
        self.edge_parts(false, 1 << 16)
            .into_iter()
            .try_for_each(|piece| findings.note(part::read_all(vec![piece])).map(|_| ()))
    }
}
