//! Graphs in memory, built table by table.

use std::collections::BTreeSet;

use arrow_array::{Array, ArrayRef, BooleanArray, StringArray, UInt32Array, UInt64Array};
use arrow_schema::DataType;

use super::arrays::text;
use isomorph_model::label::LabelBuilder;
use isomorph_model::schema::{Direction, Document, DocumentBody};
use isomorph_model::{
    Batch, Columns, EdgeBatch, EdgeType, Ends, Graph, Key, KeyKind, LabelColumn, LabelVocabulary, MemoryGraph,
    NodeBatch, NodeType, Property, Relation, Relations,
};

/// A graph under construction.
///
/// ```
/// use isomorph_zoo::{Build, Edges, Nodes, int64, text};
///
/// let mut build = Build::default();
/// let person = build.nodes(Nodes::keyed("person", int64([1, 2])).column("name", text(["ann", "bob"])));
/// build.edges(Edges::rows(person, "knows", person, [(0, 1)]).column("since", int64([Some(1999)])));
/// let graph = build.finish();
/// ```
#[derive(Debug, Clone, Default)]
pub struct Build {
    memory: MemoryGraph,
}

impl Build {
    /// Adds a table of nodes; returns the index of its type.
    pub fn nodes(&mut self, nodes: Nodes) -> usize {
        let at = self.memory.graph.nodes.len();
        let mut ty = nodes.ty;
        ty.rows = Some(nodes.batch.rows as u64);
        self.memory.graph.nodes.push(ty);
        // Types without rows have no batch.
        if nodes.batch.rows > 0 {
            self.memory.batches.push(Batch::Nodes(NodeBatch { ty: at, ..nodes.batch }));
        }
        at
    }

    /// Adds a table of edges; returns the index of its type.
    pub fn edges(&mut self, edges: Edges) -> usize {
        let at = self.memory.graph.edges.len();
        let mut ty = edges.ty;
        ty.rows = Some(edges.batch.rows as u64);
        self.memory.graph.edges.push(ty);
        if edges.batch.rows > 0 {
            self.memory.batches.push(Batch::Edges(EdgeBatch { ty: at, ..edges.batch }));
        }
        at
    }

    /// Adds a JSON document.
    pub fn document(&mut self, name: &str, json: &str) {
        let body = DocumentBody::Json(json.to_owned());
        self.memory.graph.documents.push(Document { name: name.to_owned(), body });
    }

    /// Adds a batch of another kind. Its table must exist in the description, see [`Build::describe`].
    pub fn batch(&mut self, batch: Batch) {
        self.memory.batches.push(batch);
    }

    /// Returns the description, to add whatever has no method here.
    pub fn describe(&mut self) -> &mut Graph {
        &mut self.memory.graph
    }

    /// Returns the graph.
    pub fn finish(self) -> MemoryGraph {
        self.memory
    }
}

/// A table of nodes under construction.
#[derive(Debug, Clone)]
pub struct Nodes {
    ty: NodeType,
    batch: NodeBatch,
}

impl Nodes {
    /// Creates nodes of type `name` with the given keys, integers or text.
    pub fn keyed(name: &str, keys: ArrayRef) -> Self {
        let kind = if *keys.data_type() == DataType::Utf8 { KeyKind::Utf8 } else { KeyKind::Int };
        Nodes::with_key(name, Key { kind, data_type: keys.data_type().clone(), name: Some("id".to_owned()) }, keys)
    }

    /// Creates nodes of type `name` with keys of another kind.
    pub fn with_key(name: &str, key: Key, keys: ArrayRef) -> Self {
        let rows = keys.len();
        let ty = NodeType::new(name, key);
        let batch =
            NodeBatch { ty: 0, start: 0, numbers: None, rows, keys: Some(keys), labels: None, properties: Vec::new() };
        Nodes { ty, batch }
    }

    /// Creates nodes of type `name` without keys.
    pub fn rows(name: &str, rows: usize) -> Self {
        let ty = NodeType::new(name, Key::row());
        let batch =
            NodeBatch { ty: 0, start: 0, numbers: None, rows, keys: None, labels: None, properties: Vec::new() };
        Nodes { ty, batch }
    }

    /// Makes the positions of rows significant in addition to their keys.
    pub fn ordered(mut self) -> Self {
        self.ty.ordered = true;
        self
    }

    /// Makes the nodes implied: they exist only because something mentions them.
    pub fn implied(mut self) -> Self {
        self.ty.implied = true;
        self
    }

    /// Declares the labels that nodes may have, used or not.
    pub fn declare(mut self, labels: &[&str]) -> Self {
        self.ty.labels = LabelVocabulary::Declared(labels.iter().map(|label| (*label).to_owned()).collect());
        self
    }

    /// Sets the labels of each row. If none are declared, those in use are.
    pub fn labels(mut self, rows: &[&[&str]]) -> Self {
        if self.ty.labels == LabelVocabulary::None {
            let used: BTreeSet<&str> = rows.iter().flat_map(|row| row.iter().copied()).collect();
            self = self.declare(&used.into_iter().collect::<Vec<_>>());
        }
        self.batch.labels = Some(label_column(rows));
        self
    }

    /// Sets the labels of each row, from a vocabulary that is known only after reading.
    pub fn open_labels(mut self, rows: &[&[&str]]) -> Self {
        self.ty.labels = LabelVocabulary::Open;
        self.batch.labels = Some(label_column(rows));
        self
    }

    /// Adds a plain property with its cells.
    pub fn column(self, name: &str, cells: ArrayRef) -> Self {
        let property = Property::new(name, cells.data_type().clone());
        self.property(property, cells)
    }

    /// Adds a property with its cells.
    pub fn property(mut self, property: Property, cells: ArrayRef) -> Self {
        self.ty.properties.push(property);
        self.batch.properties.push(Some(cells));
        self
    }
}

/// Labels of rows.
pub fn label_column(rows: &[&[&str]]) -> LabelColumn {
    let mut builder = LabelBuilder::default();
    rows.iter().for_each(|row| builder.push(row.iter().copied()));
    builder.finish()
}

/// A table of edges under construction.
#[derive(Debug, Clone)]
pub struct Edges {
    ty: EdgeType,
    batch: EdgeBatch,
}

impl Edges {
    fn new(source: usize, relation: &str, target: usize, ends: (Ends, Ends)) -> Self {
        let batch = EdgeBatch {
            ty: 0,
            rows: ends.0.len(),
            relations: None,
            source: ends.0,
            target: ends.1,
            layers: None,
            directed: None,
            keys: None,
            properties: Vec::new(),
        };
        Edges { ty: EdgeType::new(source, relation, target), batch }
    }

    /// Creates edges whose ends are rows of their node types.
    pub fn rows(source: usize, relation: &str, target: usize, ends: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let (sources, targets): (Vec<u64>, Vec<u64>) = ends.into_iter().unzip();
        let ends = (Ends::Rows(UInt64Array::from(sources)), Ends::Rows(UInt64Array::from(targets)));
        Edges::new(source, relation, target, ends)
    }

    /// Creates edges whose ends are keys.
    pub fn keys(source: usize, relation: &str, target: usize, sources: ArrayRef, targets: ArrayRef) -> Self {
        Edges::new(source, relation, target, (Ends::Keys(sources), Ends::Keys(targets)))
    }

    /// Creates edges whose ends are text keys and whose relation differs by row.
    pub fn per_row(node: usize, edges: &[(&str, &str, &str)]) -> Self {
        let sources = text(edges.iter().map(|edge| edge.0));
        let targets = text(edges.iter().map(|edge| edge.2));
        let mut built = Edges::keys(node, "", node, sources, targets);
        let mut names: Vec<&str> = edges.iter().map(|edge| edge.1).collect();
        names.sort_unstable();
        names.dedup();
        let index = edges.iter().filter_map(|edge| names.binary_search(&edge.1).ok()).map(|at| at as u32);
        built.batch.relations = Some(Relations {
            index: UInt32Array::from_iter_values(index),
            names: StringArray::from_iter_values(&names),
        });
        built.ty.relation = Relation::PerRow;
        built
    }

    /// Makes all edges undirected.
    pub fn undirected(mut self) -> Self {
        self.ty.direction = Direction::Undirected;
        self
    }

    /// Sets the direction of each edge; the default is directed.
    pub fn directed(mut self, rows: &[Option<bool>]) -> Self {
        self.ty.direction = Direction::PerRow;
        self.batch.directed = Some(BooleanArray::from(rows.to_vec()));
        self
    }

    /// Sets the keys of the edges.
    pub fn keyed(mut self, key: Key, keys: ArrayRef) -> Self {
        self.ty.key = Some(key);
        self.batch.keys = Some(keys);
        self
    }

    /// Sets the layers of the ends.
    pub fn layered(mut self, source: ArrayRef, target: ArrayRef) -> Self {
        self.ty.layered = true;
        self.batch.layers = Some((source, target));
        self
    }

    /// Adds a plain property with its cells.
    pub fn column(self, name: &str, cells: ArrayRef) -> Self {
        let property = Property::new(name, cells.data_type().clone());
        self.property(property, cells)
    }

    /// Adds a property with its cells.
    pub fn property(mut self, property: Property, cells: ArrayRef) -> Self {
        self.ty.properties.push(property);
        self.batch.properties.push(Some(cells));
        self
    }
}

/// Columns without nulls.
pub fn columns(cells: impl IntoIterator<Item = ArrayRef>) -> Columns {
    cells.into_iter().map(Some).collect()
}
