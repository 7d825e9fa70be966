//! Writes a graph as records.

use std::io::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, UInt64Array};
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::{
    Batch, Delivery, EdgeBatch, Ends, Graph, KeyKind, LabelVocabulary, NodeBatch, NodeType, Sink, Written,
};
use isomorph_storage::Staging;
use isomorph_tables::PackedWriter;

use crate::schema::{Schema, key_names};
use crate::spelled::Spelled;
use crate::{Form, apoc, cypher, holds, is_label};

/// Bytes written at a time.
const BLOCK: usize = 1 << 16;

/// Rows of a statement, and their most bytes.
const ROWS: usize = 1_000;
const BYTES: usize = 1 << 20;

/// A text that is being written.
pub struct RecordsWriter<'a> {
    staging: &'a Staging,
    file: PackedWriter,
    graph: Graph,
    form: Form,
    keys: Vec<String>,
    /// The labels by which a script finds the nodes of each type.
    finders: Vec<String>,
    /// What keys of each type do not begin with, because ids of another type do.
    rivals: Vec<Vec<String>>,
    /// Whether ids begin with the type.
    prefixes: bool,
    out: String,
    /// Number of nodes and of relationships so far.
    rows: u64,
    edges: u64,
    /// Rows of the next statement about nodes, or about the relationships of each type.
    nodes: Statement,
    statements: Vec<Statement>,
}

/// Rows that wait for their statement.
#[derive(Default)]
struct Statement {
    ty: usize,
    rows: usize,
    text: String,
    /// Labels in the order of their first nodes, with keys.
    labels: Vec<(String, String)>,
}

impl Statement {
    fn begin(&mut self) {
        self.text.push_str(if self.rows > 0 { ",\n" } else { "" });
        self.rows += 1;
    }

    fn is_full(&self) -> bool {
        self.rows >= ROWS || self.text.len() >= BYTES
    }

    fn label(&mut self, label: &str, key: &str) {
        match self.labels.iter_mut().find(|(known, _)| known == label) {
            Some((_, keys)) => {
                keys.push_str(", ");
                keys.push_str(key);
            }
            None => self.labels.push((label.to_owned(), key.to_owned())),
        }
    }
}

impl<'a> RecordsWriter<'a> {
    /// Starts the text of a graph of nodes and edges.
    ///
    /// # Errors
    /// If the graph has more than that, or values that Neo4j does not have.
    pub fn create(staging: &'a Staging, graph: &Graph, form: Form) -> Result<Self> {
        if !graph.hyperedges.is_empty() || !graph.groups.is_empty() || !graph.values.is_empty() {
            return Err(Error::unsupported("Neo4j has only nodes and relationships"));
        }
        let of_edges = graph.edges.iter().map(|ty| (ty.relation.fixed().unwrap_or_default(), &ty.properties));
        let all = graph.nodes.iter().map(|ty| (ty.name.as_str(), &ty.properties)).chain(of_edges);
        for (of, properties) in all {
            if let Some(property) = properties.iter().find(|property| !holds(property)) {
                let place = Place::field(format!("{of}.{}", property.name));
                return Err(Error::unsupported("Neo4j has no values of this type").at(place));
            }
        }
        if graph.edges.iter().any(|ty| ty.key.is_some() || ty.layered || ty.relation.fixed().is_none()) {
            return Err(Error::unsupported("relationships of Neo4j have neither keys nor layers"));
        }
        if graph.nodes.iter().any(|ty| matches!(ty.key.kind, KeyKind::Tuple | KeyKind::Term)) {
            return Err(Error::unsupported("keys of nodes must be integers or text"));
        }
        let file = PackedWriter::create(staging, staging.destination().file_name())?;
        let keys = key_names(graph);
        let finders = finders(graph);
        let rivals = if form == Form::Apoc { Schema::rivals(graph) } else { Vec::new() };
        let mut out = String::new();
        if form == Form::Cypher {
            out.push_str(cypher::HEAD);
            for ((ty, finder), key) in graph.nodes.iter().zip(&finders).zip(&keys) {
                cypher::push_constraint(&mut out, (&ty.name, finder), key);
            }
            out.push('\n');
        }
        let statements = (0..graph.edges.len()).map(|ty| Statement { ty, ..Statement::default() }).collect();
        Ok(RecordsWriter {
            staging,
            file,
            form,
            keys,
            finders,
            rivals,
            prefixes: Schema::prefixes(graph),
            out,
            rows: 0,
            edges: 0,
            nodes: Statement::default(),
            statements,
            graph: graph.clone(),
        })
    }

    fn flush(&mut self, least: usize) -> Result<()> {
        if self.out.len() >= least {
            self.file.write_all(self.out.as_bytes())?;
            self.out.clear();
        }
        Ok(())
    }

    fn key_of(&self, ty: usize) -> &str {
        self.keys.get(ty).map_or("id", String::as_str)
    }

    fn type_name(&self, ty: usize) -> &str {
        self.graph.nodes.get(ty).map_or("", |ty| ty.name.as_str())
    }

    /// The label by which a script finds the nodes of a type.
    fn finder(&self, ty: usize) -> &str {
        self.finders.get(ty).map_or("", String::as_str)
    }

    /// Writes the statements of nodes that wait.
    fn end_nodes(&mut self) -> Result<()> {
        let done = std::mem::take(&mut self.nodes);
        if done.rows > 0 {
            let mut out = std::mem::take(&mut self.out);
            let (ty, key) = (self.type_name(done.ty), self.key_of(done.ty));
            let finder = self.finder(done.ty);
            cypher::push_nodes(&mut out, &done.text, (ty, finder), key);
            for (label, keys) in &done.labels {
                cypher::push_label(&mut out, keys, finder, key, label);
            }
            self.out = out;
        }
        self.flush(BLOCK)
    }

    /// Writes the statement of relationships of a type that wait.
    fn end_edges(&mut self, at: usize) -> Result<()> {
        let Some(waiting) = self.statements.get_mut(at) else { return Ok(()) };
        let done = std::mem::replace(waiting, Statement { ty: at, ..Statement::default() });
        if let Some(ty) = self.graph.edges.get(at).filter(|_| done.rows > 0) {
            let mut out = std::mem::take(&mut self.out);
            let end = |ty: usize| (self.finder(ty), self.key_of(ty));
            let ends = [end(ty.source), end(ty.target)];
            cypher::push_edges(&mut out, &done.text, ends, ty.relation.fixed().unwrap_or_default());
            self.out = out;
        }
        self.flush(BLOCK)
    }

    fn write_nodes(&mut self, nodes: &NodeBatch) -> Result<()> {
        let ty = self.graph.nodes.get(nodes.ty).ok_or_else(|| Error::usage("no such node type"))?.clone();
        self.rows += nodes.rows as u64;
        let is_row = ty.key.kind == KeyKind::Row;
        let keys: ArrayRef = match &nodes.keys {
            _ if is_row => Arc::new((nodes.start..).take(nodes.rows).collect::<UInt64Array>()),
            Some(keys) => Arc::clone(keys),
            None => return Err(Error::usage("nodes have no keys")),
        };
        let keys = Spelled::new(&keys, self.form)?;
        let columns = spelled(&nodes.properties, self.form)?;
        let key_name = self.key_of(nodes.ty).to_owned();
        let has_labels = ty.labels != LabelVocabulary::None;
        if self.form == Form::Cypher && self.nodes.ty != nodes.ty {
            self.end_nodes()?;
            self.nodes.ty = nodes.ty;
        }
        let (mut values, mut key, mut id) = (Vec::new(), String::new(), String::new());
        for row in 0..nodes.rows {
            if keys.is_null(row) {
                return Err(Error::malformed("key is null").at(Place::field(ty.name.clone())));
            }
            let labels = nodes.labels.iter().filter(|_| has_labels).flat_map(|labels| labels.row(row));
            let labels: Vec<&str> = labels.collect();
            if let Some(label) = labels.iter().find(|label| !is_label(label) || self.is_found_by(nodes.ty, label)) {
                let what = format!("Neo4j cannot store the label {label:?}");
                return Err(Error::new(Kind::WouldLose, what).at(Place::field(ty.name.clone())));
            }
            row_values(&columns, ty.properties.iter().map(|property| property.name.as_str()), row, &mut values)?;
            key.clear();
            keys.push(row, &mut key, &key_name)?;
            match self.form {
                Form::Apoc => {
                    self.id(nodes.ty, keys.text(row), &mut id);
                    if self
                        .rivals
                        .get(nodes.ty)
                        .is_some_and(|all| all.iter().any(|own| keys.text(row).starts_with(own)))
                    {
                        let what = format!("the id {id:?} could be that of a node of another type");
                        return Err(Error::new(Kind::WouldLose, what)
                            .at(Place::field(ty.name.clone()))
                            .hint("--to cypher    write a script instead, which keeps the keys of types apart"));
                    }
                    let own = (!is_row).then_some((key_name.as_str(), key.as_str()));
                    let all = own.into_iter().chain(values.iter().map(|(name, value)| (*name, value.as_str())));
                    let labels = std::iter::once(ty.name.as_str()).chain(labels);
                    apoc::push_node(&mut self.out, &id, labels, all);
                    self.flush(BLOCK)?;
                }
                Form::Cypher => {
                    self.nodes.begin();
                    let out = &mut self.nodes.text;
                    out.push_str("{key: ");
                    out.push_str(&key);
                    push_properties(out, &values);
                    labels.iter().for_each(|label| self.nodes.label(label, &key));
                    if self.nodes.is_full() {
                        self.end_nodes()?;
                        self.nodes.ty = nodes.ty;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a label that nodes of a type have is one by which the script finds nodes of other types, so that they would be found too.
    fn is_found_by(&self, ty: usize, label: &str) -> bool {
        self.form == Form::Cypher && self.finders.iter().enumerate().any(|(of, own)| of != ty && own == label)
    }

    /// The id of a node, from its key.
    fn id(&self, ty: usize, key: &str, out: &mut String) {
        out.clear();
        if self.prefixes {
            out.push_str(self.type_name(ty));
            out.push('/');
        }
        out.push_str(key);
    }

    fn write_edges(&mut self, edges: &EdgeBatch) -> Result<()> {
        let ty = self.graph.edges.get(edges.ty).ok_or_else(|| Error::usage("no such edge type"))?.clone();
        let end = |ends: &Ends| match ends {
            Ends::Keys(keys) => Spelled::new(keys, self.form),
            Ends::Rows(rows) => Spelled::new(&(Arc::new(rows.clone()) as ArrayRef), self.form),
        };
        let ends = [end(&edges.source)?, end(&edges.target)?];
        let columns = spelled(&edges.properties, self.form)?;
        let relation = ty.relation.fixed().unwrap_or_default();
        let (mut values, mut ids) = (Vec::new(), [String::new(), String::new()]);
        for row in 0..edges.rows {
            if ends.iter().any(|end| end.is_null(row)) {
                return Err(Error::malformed("an end is null").at(Place::field(relation)));
            }
            row_values(&columns, ty.properties.iter().map(|property| property.name.as_str()), row, &mut values)?;
            match self.form {
                Form::Apoc => {
                    for ((id, end), node) in ids.iter_mut().zip(&ends).zip([ty.source, ty.target]) {
                        self.id(node, end.text(row), id);
                    }
                    let names = [ty.source, ty.target].map(|node| self.type_name(node).to_owned());
                    let ends = [(ids[0].as_str(), names[0].as_str()), (ids[1].as_str(), names[1].as_str())];
                    let all = values.iter().map(|(name, value)| (*name, value.as_str()));
                    apoc::push_edge(&mut self.out, self.edges, relation, ends, all);
                    self.edges += 1;
                    self.flush(BLOCK)?;
                }
                Form::Cypher => {
                    let Some(waiting) = self.statements.get_mut(edges.ty) else { continue };
                    waiting.begin();
                    for (role, end) in ["{source: ", ", target: "].into_iter().zip(&ends) {
                        waiting.text.push_str(role);
                        end.push(row, &mut waiting.text, relation)?;
                    }
                    push_properties(&mut waiting.text, &values);
                    if waiting.is_full() {
                        self.end_edges(edges.ty)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The labels by which a script finds the nodes of each type: its name, or a label of its own where nodes of another type may have
/// the name as a label.
fn finders(graph: &Graph) -> Vec<String> {
    let has = |ty: &NodeType, label: &str| match &ty.labels {
        LabelVocabulary::None => false,
        LabelVocabulary::Declared(all) => all.iter().any(|own| own == label),
        LabelVocabulary::Open => true,
    };
    let is_taken = |name: &str| {
        let declares = |ty: &NodeType| ty.labels != LabelVocabulary::Open && has(ty, name);
        graph.nodes.iter().any(|ty| ty.name == name || declares(ty))
    };
    let finder = |(at, ty): (usize, &NodeType)| {
        if !graph.nodes.iter().enumerate().any(|(other, own)| other != at && has(own, &ty.name)) {
            return ty.name.clone();
        }
        let mut name = format!("isomorph {}", ty.name);
        while is_taken(&name) {
            name.insert(0, '_');
        }
        name
    };
    graph.nodes.iter().enumerate().map(finder).collect()
}

fn spelled(columns: &[Option<ArrayRef>], form: Form) -> Result<Vec<Option<Spelled>>> {
    columns.iter().map(|column| column.as_ref().map(|column| Spelled::new(column, form)).transpose()).collect()
}

/// The values of a row that are not null, with names.
fn row_values<'n>(
    columns: &[Option<Spelled>],
    names: impl Iterator<Item = &'n str>,
    row: usize,
    values: &mut Vec<(&'n str, String)>,
) -> Result<()> {
    values.clear();
    for (column, name) in columns.iter().zip(names) {
        let Some(column) = column else { continue };
        let mut text = String::new();
        if column.push(row, &mut text, name)? {
            values.push((name, text));
        }
    }
    Ok(())
}

/// Appends the properties of a row, and its end.
fn push_properties(out: &mut String, values: &[(&str, String)]) {
    out.push_str(", properties: ");
    cypher::push_properties(out, values.iter().map(|(name, value)| (*name, value.as_str())));
    out.push('}');
}

impl Sink for RecordsWriter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        let nodes = (0..self.graph.nodes.len()).map(Delivery::Nodes);
        nodes.chain((0..self.graph.edges.len()).map(Delivery::EdgesAsTheyCome)).collect()
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => self.write_nodes(&nodes),
            Batch::Edges(edges) => {
                self.end_nodes()?;
                self.write_edges(&edges)
            }
            _ => Err(Error::usage("Neo4j has only nodes and relationships")),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        self.end_nodes()?;
        (0..self.statements.len()).try_for_each(|at| self.end_edges(at))?;
        if self.form == Form::Cypher {
            let private = self.graph.nodes.iter().zip(&self.finders).filter(|(ty, finder)| ty.name != **finder);
            private.for_each(|(_, finder)| cypher::push_without(&mut self.out, finder));
        }
        if self.form == Form::Apoc && self.rows == 0 {
            let what = "a graph without nodes would be an empty file, and nothing tells what that is";
            return Err(Error::new(Kind::WouldLose, what).hint("--to cypher    write a script instead"));
        }
        self.flush(0)?;
        self.file.finish()?;
        let files = self.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}
