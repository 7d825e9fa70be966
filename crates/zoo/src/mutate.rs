//! Graphs with one thing changed.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, StringArray, new_null_array};
use arrow_schema::DataType;

use super::cells::{altered, replaced, special};
use super::rows::{ends, pick, properties};
use super::same::ends_as_keys;
use isomorph_model::digest::LineKind;
use isomorph_model::json::Members;
use isomorph_model::label::LabelBuilder;
use isomorph_model::schema::{Document, DocumentBody, Owner};
use isomorph_model::{Batch, Direction, Ends, KeyKind, LabelVocabulary, MemoryGraph, Relation, ValueKind, well_known};

/// A graph with one thing changed.
#[derive(Debug, Clone)]
pub struct Mutation {
    /// What was changed.
    pub what: String,
    /// Where the digest must differ.
    pub kind: LineKind,
    /// The property that must differ, if the owner has a key and only one of its values was changed.
    pub property: Option<String>,
    /// The changed graph.
    pub graph: MemoryGraph,
}

/// Returns the graph with one thing changed, in every way that this module supports: elements removed, repeated and
/// altered, values and nulls exchanged, labels, directions, ends, layers, coefficients, qualifiers, memberships, names and
/// documents changed. The content digest of each differs from that of the graph. All ends are keys.
pub fn mutations(memory: &MemoryGraph) -> Vec<Mutation> {
    let mut all = All { memory: ends_as_keys(memory), found: Vec::new() };
    for at in 0..all.memory.batches.len() {
        let rows = all.memory.batches[at].rows();
        // Of larger batches the first rows, which contain the unusual values, and the last.
        let sample: Vec<usize> = (0..rows).filter(|row| *row < 6 || *row + 1 == rows).collect();
        for row in sample {
            all.rows(at, row);
            all.columns(at, row);
            all.ends(at, row);
            match all.memory.batches[at].clone() {
                Batch::Nodes(_) => all.labels(at, row),
                Batch::Edges(_) => all.edge(at, row),
                Batch::Members(_) => all.member(at, row),
                Batch::Hyperedges(_) | Batch::Values(_) | Batch::Groups(_) | Batch::Memberships(_) => {}
            }
        }
        all.keys(at);
    }
    all.names();
    all.documents();
    all.found
}

struct All {
    memory: MemoryGraph,
    found: Vec<Mutation>,
}

/// Declares labels where a type declares them, because a graph that violates its own declaration is invalid.
fn declare(vocabulary: &mut LabelVocabulary, labels: &[String]) {
    match vocabulary {
        LabelVocabulary::Open => {}
        LabelVocabulary::None if labels.is_empty() => {}
        LabelVocabulary::None => *vocabulary = LabelVocabulary::Declared(labels.to_vec()),
        LabelVocabulary::Declared(declared) => {
            let missing = labels.iter().filter(|label| !declared.contains(label)).cloned().collect::<Vec<_>>();
            declared.extend(missing);
        }
    }
}

impl All {
    fn push(&mut self, kind: LineKind, what: String, graph: MemoryGraph) {
        self.found.push(Mutation { what, kind, property: None, graph });
    }

    /// Returns the graph with batch `at` changed.
    fn with(&self, at: usize, change: impl FnOnce(&mut MemoryGraph, &mut Batch)) -> MemoryGraph {
        let mut graph = self.memory.clone();
        let mut batch = graph.batches[at].clone();
        change(&mut graph, &mut batch);
        graph.batches[at] = batch;
        graph
    }

    /// The kind of a batch's rows, and where a difference in them must show.
    fn kind(&self, at: usize) -> (LineKind, String) {
        let graph = &self.memory.graph;
        match &self.memory.batches[at] {
            Batch::Nodes(batch) => (LineKind::Nodes, graph.nodes[batch.ty].name.clone()),
            Batch::Edges(batch) => (LineKind::Edges, graph.edge_name(&graph.edges[batch.ty]).1),
            Batch::Hyperedges(batch) => (LineKind::Hyperedges, graph.hyperedges[batch.ty].name.clone()),
            Batch::Members(batch) => (LineKind::Members, graph.hyperedges[batch.ty].name.clone()),
            Batch::Values(batch) => {
                let table = &graph.values[batch.table];
                let kind = match table.owner {
                    Owner::Nodes(_) => LineKind::Nodes,
                    Owner::Edges(_) => LineKind::Edges,
                    Owner::Hyperedges(_) => LineKind::Hyperedges,
                };
                (kind, format!("values of {}", table.property.name))
            }
            Batch::Groups(batch) => (LineKind::Groups, graph.groups[batch.kind].kind.clone()),
            Batch::Memberships(batch) => (LineKind::Memberships, graph.groups[batch.kind].kind.clone()),
        }
    }

    /// Whether an owner is an RDF resource.
    fn is_resource(&self, owner: Owner) -> bool {
        matches!(owner, Owner::Nodes(ty) if self.memory.graph.nodes[ty].implied)
    }

    /// Removes and repeats rows.
    fn rows(&mut self, at: usize, row: usize) {
        let (kind, name) = self.kind(at);
        let rows = self.memory.batches[at].rows();
        let last = row + 1 == rows;
        let (can_drop, can_repeat) = match &self.memory.batches[at] {
            Batch::Nodes(nodes) => {
                let ty = &self.memory.graph.nodes[nodes.ty];
                // Without keys, all rows after a removed one would be other nodes.
                let row_key = ty.key.kind == KeyKind::Row;
                (!ty.implied && (last || !row_key), !ty.implied && last)
            }
            // Triples are a set: repeating one does not change the graph.
            Batch::Values(values) => (true, !self.is_resource(self.memory.graph.values[values.table].owner)),
            Batch::Edges(edges) => {
                let ty = &self.memory.graph.edges[edges.ty];
                (true, ty.key.is_some() || !self.is_resource(Owner::Nodes(ty.source)))
            }
            _ => (true, true),
        };
        if can_drop {
            let kept: Vec<usize> = (0..rows).filter(|other| *other != row).collect();
            let graph = self.with(at, |_, batch| *batch = pick(batch, &kept));
            self.push(kind, format!("{name}: row {row} lost"), graph);
        }
        if can_repeat {
            let kept: Vec<usize> = (0..rows).chain([row]).collect();
            let graph = self.with(at, |_, batch| *batch = pick(batch, &kept));
            self.push(kind, format!("{name}: row {row} twice"), graph);
        }
    }

    /// Alters values of a row, makes them null or not null, and exchanges them for values that are almost equal.
    fn columns(&mut self, at: usize, row: usize) {
        let (kind, name) = self.kind(at);
        let mut graph = self.memory.graph.clone();
        let mut batch = self.memory.batches[at].clone();
        let keyed = match &batch {
            Batch::Edges(edges) => edges.keys.is_some(),
            Batch::Values(_) | Batch::Memberships(_) => false,
            _ => true,
        };
        let mut columns = Vec::new();
        if let Some((properties, cells)) = properties(&mut graph, &mut batch) {
            let cells = properties.iter().cloned().zip(cells.iter().cloned()).enumerate();
            columns.extend(cells.filter_map(|(place, (property, cells))| Some((Some(place), property, cells?))));
        }
        if let Batch::Values(values) = &batch {
            columns.push((None, graph.values[values.table].property.clone(), Arc::clone(&values.values)));
        }
        for (place, property, column) in columns {
            let null = column.is_null(row) || column.logical_nulls().is_some_and(|nulls| nulls.is_null(row));
            let mut cells: Vec<(&str, ArrayRef)> = special(&property, &column.slice(row, 1));
            cells.push(("altered", altered(&property, &column.slice(row, 1))));
            // An empty bag equals none.
            let says_nothing = null || property.kind == ValueKind::Bag && is_empty_bag(&column, row);
            // A property that is declared never null stays so, because otherwise the graph would violate its own declaration.
            if !says_nothing && property.nullable {
                cells.push(("null", new_null_array(column.data_type(), 1)));
            }
            for (what, cell) in cells {
                let graph = self.with(at, |graph, batch| {
                    let changed = replaced(&column, row, &cell);
                    match (place, &mut *batch) {
                        (None, Batch::Values(values)) => values.values = changed,
                        (Some(place), batch) => {
                            if let Some((_, columns)) = properties_of(graph, batch) {
                                columns[place] = Some(changed);
                            }
                        }
                        (None, _) => {}
                    }
                });
                let named = (keyed && property.kind != ValueKind::Bag).then(|| property.name.clone());
                let what = format!("{name}: {} in row {row}: {what}", property.name);
                self.found.push(Mutation { what, kind, property: named, graph });
            }
        }
    }

    /// Moves ends and owners to another element.
    fn ends(&mut self, at: usize, row: usize) {
        let (kind, name) = self.kind(at);
        let mut batch = self.memory.batches[at].clone();
        let count = ends(&self.memory.graph, &mut batch).len();
        for place in 0..count {
            let graph = self.with(at, |graph, batch| {
                if let Some((_, Ends::Keys(keys))) = ends(&graph.graph, batch).into_iter().nth(place) {
                    *keys = another(keys, row);
                }
            });
            self.push(kind, format!("{name}: end {place} of row {row} is another"), graph);
        }
    }

    fn labels(&mut self, at: usize, row: usize) {
        let Batch::Nodes(nodes) = &self.memory.batches[at] else { return };
        let rows: Vec<Vec<String>> = match &nodes.labels {
            Some(labels) => (0..nodes.rows).map(|row| labels.row(row).map(str::to_owned).collect()).collect(),
            None => vec![Vec::new(); nodes.rows],
        };
        let mut changes = vec![("a label more", [rows[row].clone(), vec!["another label".to_owned()]].concat())];
        if !rows[row].is_empty() {
            changes.push(("a label less", rows[row][1..].to_vec()));
            changes.push(("a label altered", [rows[row][1..].to_vec(), vec![format!("{}x", rows[row][0])]].concat()));
        }
        for (what, changed) in changes {
            let mut rows = rows.clone();
            rows[row] = changed;
            let graph = self.with(at, |memory, batch| {
                let mut builder = LabelBuilder::default();
                rows.iter().for_each(|row| builder.push(row.iter().map(String::as_str)));
                if let Batch::Nodes(nodes) = batch {
                    nodes.labels = Some(builder.finish());
                    declare(&mut memory.graph.nodes[nodes.ty].labels, &rows[row]);
                }
            });
            let (kind, name) = self.kind(at);
            let property = Some(well_known::LABELS.to_owned());
            self.found.push(Mutation { what: format!("{name}: {what} in row {row}"), kind, property, graph });
        }
    }

    fn edge(&mut self, at: usize, row: usize) {
        let Batch::Edges(edges) = &self.memory.batches[at] else { return };
        let ty = self.memory.graph.edges[edges.ty].clone();
        let (kind, name) = self.kind(at);
        let directed = match ty.direction {
            Direction::Directed => true,
            Direction::Undirected => false,
            Direction::PerRow => edges.directed.as_ref().is_none_or(|all| all.is_null(row) || all.value(row)),
        };
        let flipped = self.with(at, |graph, batch| {
            let Batch::Edges(edges) = batch else { return };
            let all = (0..edges.rows).map(|other| match ty.direction {
                Direction::PerRow if other != row => {
                    edges.directed.as_ref().and_then(|all| all.is_valid(other).then(|| all.value(other)))
                }
                Direction::Undirected if other != row => Some(false),
                _ if other != row => Some(true),
                _ => Some(!directed),
            });
            edges.directed = Some(all.collect::<BooleanArray>());
            graph.graph.edges[edges.ty].direction = Direction::PerRow;
        });
        // If all rows of a type have a direction, the other batches need one too.
        let alone =
            self.memory.batches.iter().filter(|batch| matches!(batch, Batch::Edges(other) if other.ty == edges.ty));
        if ty.direction == Direction::PerRow || alone.count() == 1 {
            self.push(kind, format!("{name}: direction of row {row}"), flipped);
        }
        let Batch::Edges(edges) = &self.memory.batches[at] else { return };
        if let (Ends::Keys(source), Ends::Keys(target)) = (&edges.source, &edges.target)
            && directed
            && ty.source == ty.target
            && source.slice(row, 1).as_ref() != target.slice(row, 1).as_ref()
        {
            let (from, to) = (source.slice(row, 1), target.slice(row, 1));
            let graph = self.with(at, |_, batch| {
                if let Batch::Edges(edges) = batch
                    && let (Ends::Keys(source), Ends::Keys(target)) = (&mut edges.source, &mut edges.target)
                {
                    *source = replaced(source, row, &to);
                    *target = replaced(target, row, &from);
                }
            });
            self.push(kind, format!("{name}: row {row} the other way round"), graph);
        }
        self.layers(at, row);
    }

    /// Changes layers and coefficients of the ends of an edge.
    fn layers(&mut self, at: usize, row: usize) {
        let Batch::Edges(edges) = &self.memory.batches[at] else { return };
        let Some(layers) = edges.layers.clone() else { return };
        let (kind, name) = self.kind(at);
        let plain = isomorph_model::Property::new("", layers.0.data_type().clone());
        let cell = layers.1.slice(row, 1);
        let mut cells = special(&plain, &cell);
        cells.extend([("altered", altered(&plain, &cell)), ("null", new_null_array(cell.data_type(), 1))]);
        for (what, cell) in cells {
            let graph = self.with(at, |_, batch| {
                if let Batch::Edges(edges) = batch {
                    edges.layers = Some((Arc::clone(&layers.0), replaced(&layers.1, row, &cell)));
                }
            });
            self.push(kind, format!("{name}: target layer of row {row}: {what}"), graph);
        }
    }

    fn member(&mut self, at: usize, row: usize) {
        let Batch::Members(members) = self.memory.batches[at].clone() else { return };
        let (kind, name) = self.kind(at);
        let roles = |role: &str| {
            let roles = members.roles.iter().enumerate();
            roles.map(|(other, old)| if other == row { Some(role) } else { old }).collect::<StringArray>()
        };
        let other = if members.roles.value(row) == "head" { "tail" } else { "head" };
        let mut changes = vec![(
            "role",
            Batch::Members(isomorph_model::batch::MemberBatch { roles: roles(other), ..members.clone() }),
        )];
        if let Some(coefficients) = &members.coefficients {
            for (what, change) in [("sign", -1.0), ("size", 2.0), ("no", f64::NAN)] {
                let all = coefficients.iter().enumerate().map(|(other, value)| match value {
                    Some(value) if other == row => (!change.is_nan()).then_some(value * change),
                    value => value,
                });
                let coefficients = Some(all.collect::<Float64Array>());
                changes.push((
                    what,
                    Batch::Members(isomorph_model::batch::MemberBatch { coefficients, ..members.clone() }),
                ));
            }
        }
        if let Some(layers) = &members.layers {
            let plain = isomorph_model::Property::new("", layers.data_type().clone());
            for cell in [altered(&plain, &layers.slice(row, 1)), new_null_array(layers.data_type(), 1)] {
                let layers = Some(replaced(layers, row, &cell));
                changes
                    .push(("layer", Batch::Members(isomorph_model::batch::MemberBatch { layers, ..members.clone() })));
            }
        }
        for (what, changed) in changes {
            let graph = self.with(at, |_, batch| *batch = changed);
            self.push(kind, format!("{name}: {what} of member {row}"), graph);
        }
    }

    /// Alters keys of elements.
    fn keys(&mut self, at: usize) {
        let (kind, name) = self.kind(at);
        let implied =
            matches!(&self.memory.batches[at], Batch::Nodes(batch) if self.memory.graph.nodes[batch.ty].implied);
        if self.memory.batches[at].rows() == 0 || implied {
            return;
        }
        let graph = self.with(at, |_, batch| match batch {
            Batch::Nodes(batch) => batch.keys.iter_mut().for_each(|keys| *keys = another(keys, 0)),
            Batch::Edges(batch) => batch.keys.iter_mut().for_each(|keys| *keys = another(keys, 0)),
            Batch::Hyperedges(batch) => batch.keys = another(&batch.keys, 0),
            Batch::Groups(batch) => batch.keys = another(&batch.keys, 0),
            Batch::Members(_) | Batch::Values(_) | Batch::Memberships(_) => {}
        });
        let has_key = match &self.memory.batches[at] {
            Batch::Nodes(batch) => batch.keys.is_some(),
            Batch::Edges(batch) => batch.keys.is_some(),
            Batch::Hyperedges(_) | Batch::Groups(_) => true,
            Batch::Members(_) | Batch::Values(_) | Batch::Memberships(_) => false,
        };
        if has_key {
            self.push(kind, format!("{name}: key of row 0"), graph);
        }
    }

    /// Renames types, relations and properties.
    fn names(&mut self) {
        for at in 0..self.memory.batches.len() {
            let (kind, name) = self.kind(at);
            let batch = self.memory.batches[at].clone();
            if batch.rows() == 0 {
                continue;
            }
            let mut graph = self.memory.clone();
            let mut relation = None;
            match &batch {
                Batch::Nodes(nodes) => graph.graph.nodes[nodes.ty].name.push('x'),
                Batch::Hyperedges(hyper) => graph.graph.hyperedges[hyper.ty].name.push('x'),
                Batch::Groups(groups) => graph.graph.groups[groups.kind].kind.push('x'),
                Batch::Edges(edges) => {
                    if let Relation::Fixed(name) = &mut graph.graph.edges[edges.ty].relation {
                        name.push('x');
                    }
                    relation = edges.relations.clone();
                }
                Batch::Values(values) => graph.graph.values[values.table].property.name.push('x'),
                Batch::Members(_) | Batch::Memberships(_) => continue,
            }
            if let (Some(mut relations), Batch::Edges(edges)) = (relation, &mut graph.batches[at]) {
                let first = relations.index.value(0) as usize;
                let names = relations.names.iter().enumerate().map(|(index, name)| match name {
                    Some(name) if index == first => Some(format!("{name}x")),
                    name => name.map(str::to_owned),
                });
                relations.names = names.collect::<StringArray>();
                edges.relations = Some(relations);
            }
            self.push(kind, format!("{name}: renamed"), graph);
            self.properties_renamed(at);
        }
    }

    fn properties_renamed(&mut self, at: usize) {
        let (kind, name) = self.kind(at);
        let (mut graph, mut batch) = (self.memory.graph.clone(), self.memory.batches[at].clone());
        let Some((named, columns)) = properties(&mut graph, &mut batch) else { return };
        for (place, (property, column)) in named.iter().zip(columns.iter()).enumerate() {
            let valid = column.as_ref().is_some_and(|column| column.logical_null_count() < column.len());
            if property.kind == ValueKind::Bag || !valid {
                continue;
            }
            let graph = self.with(at, |graph, batch| {
                if let Some((properties, _)) = properties_of(graph, batch) {
                    properties[place].name.push('x');
                }
            });
            self.push(kind, format!("{name}: {} renamed", property.name), graph);
        }
    }

    fn documents(&mut self) {
        let mut changes = vec![("a document more".to_owned(), {
            let mut graph = self.memory.clone();
            let body = DocumentBody::Text(String::new());
            graph.graph.documents.push(Document { name: "another".to_owned(), body });
            graph
        })];
        for (at, document) in self.memory.graph.documents.iter().enumerate() {
            let mut lost = self.memory.clone();
            lost.graph.documents.remove(at);
            changes.push((format!("{} lost", document.name), lost));
            let mut renamed = self.memory.clone();
            renamed.graph.documents[at].name.push('x');
            changes.push((format!("{} renamed", document.name), renamed));
            let text = match &document.body {
                DocumentBody::Json(text) | DocumentBody::Text(text) => text.clone(),
                DocumentBody::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                DocumentBody::Table(_) => String::new(),
            };
            let bodies = [
                DocumentBody::Json(format!("[{text}]")),
                DocumentBody::Json("null".to_owned()),
                DocumentBody::Text(text.clone()),
                DocumentBody::Bytes(text.into_bytes()),
            ];
            for body in bodies.into_iter().filter(|body| *body != document.body) {
                let mut changed = self.memory.clone();
                changed.graph.documents[at].body = body;
                changes.push((format!("{} changed", document.name), changed));
            }
        }
        for (what, graph) in changes {
            self.push(LineKind::Documents, what, graph);
        }
    }
}

fn properties_of<'a>(
    graph: &'a mut MemoryGraph,
    batch: &'a mut Batch,
) -> Option<(&'a mut Vec<isomorph_model::Property>, &'a mut isomorph_model::Columns)> {
    properties(&mut graph.graph, batch)
}

fn is_empty_bag(column: &ArrayRef, row: usize) -> bool {
    let mut empty = true;
    let read = Members::default().read(column.as_string::<i32>().value(row), |_, _| {
        empty = false;
        Ok(())
    });
    read.is_ok() && empty
}

/// Returns the keys with that of one row altered.
fn another(keys: &ArrayRef, row: usize) -> ArrayRef {
    let plain = isomorph_model::Property::new("", keys.data_type().clone());
    let cell = match keys.data_type() {
        // For the empty text and the like there is no better neighbour.
        DataType::Utf8 => Arc::new(StringArray::from(vec![format!("{}?", keys.as_string::<i32>().value(row))])),
        _ => altered(&plain, &keys.slice(row, 1)),
    };
    replaced(keys, row, &cell)
}
