//! A text of records as a model source.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use isomorph_error::{Error, Finding, Findings, Result};
use isomorph_model::label::LabelBuilder;
use isomorph_model::{
    About, Batch, EdgeBatch, EdgeOrder, EndForm, Ends, Graph, Key, KeyKind, LabelVocabulary, NodeBatch, NodeId, Part,
    Request, Side, Source, Tables, part,
};
use isomorph_storage::{Budget, Location};
use isomorph_tables::PackedFile;
use isomorph_tables::lookup::LookupOptions;

use crate::check::{self, Checked, LeftOut, MOST, NAMED, Remaining, Wrong};
use crate::item::{Edge, Item, Items, Node};
use crate::schema::{Schema, key_names};
use crate::table::{Column, Rows};
use crate::{Form, OpenOptions, apoc, cypher, rules};

/// Maximum number of rows in a batch.
const ROWS: usize = 1 << 16;

/// An opened text.
///
/// ```no_run
/// use isomorph_model::Source;
/// use isomorph_neo4j::{Form, OpenOptions, Records};
/// use isomorph_storage::Location;
///
/// let graph = Records::open(&Location::parse("all.json")?, Form::Apoc, &OpenOptions::default())?;
/// println!("{:?} nodes", graph.graph().node_rows());
/// # Ok::<(), isomorph_error::Error>(())
/// ```
pub struct Records {
    file: PackedFile,
    form: Form,
    schema: Schema,
    keys: Vec<String>,
    /// What the labels and ids of a file of APOC mean, see [`apoc::Lines`].
    types: Option<bool>,
    left_out: Arc<LeftOut>,
    /// Wrong ids and wrong ends, which end every reading.
    wrong: Findings,
    set_aside: Vec<Finding>,
    lookups: LookupOptions,
}

impl Records {
    /// The records, from the first on, but for those that are left out.
    fn items(&self) -> Result<Box<dyn Items>> {
        let items: Box<dyn Items> = match self.form {
            Form::Apoc => Box::new(apoc::Lines::new(&self.file, self.types)?),
            Form::Cypher => Box::new(cypher::Script::new(&self.file)?),
        };
        Ok(match self.left_out.is_empty() {
            true => items,
            false => Box::new(Remaining::new(items, Arc::clone(&self.left_out))),
        })
    }

    /// Finds the schema; returns whether ids are known to be unique, and all ends to be nodes.
    fn survey(&mut self, options: &OpenOptions) -> Result<bool> {
        let mut items = self.items()?;
        let mut checked = Checked::new(items.as_mut(), self.lookups.clone());
        self.schema = match &options.shown {
            Some(graph) => Schema::known(graph),
            None => Schema::surveyed(&mut checked)?,
        };
        if !self.left_out.is_empty() && options.shown.is_some() {
            self.schema.forget_rows();
        }
        self.keys = key_names(&self.schema.graph);
        checked.finish()
    }

    /// The records that were set aside, and why.
    pub fn set_aside(&self) -> &[Finding] {
        &self.set_aside
    }

    /// # Errors
    /// If a record has a wrong id or a wrong end: other readings would not agree about the graph.
    fn refuse_wrong(&self) -> Result<()> {
        match self.wrong.by_rule().find_map(|(_, kept)| kept.first()) {
            Some(wrong) => Err(Error::broken(wrong.rule, wrong.message.clone()).at(wrong.place.clone())),
            None => Ok(()),
        }
    }

    /// Opens the text at `location`, and reads it once. A node whose id is repeated and a relationship that ends in no node are findings,
    /// and end every reading; with [`OpenOptions::lenient`], they are set aside.
    ///
    /// # Errors
    /// If it cannot be read, or is not understood.
    pub fn open(location: &Location, form: Form, options: &OpenOptions) -> Result<Records> {
        let file = PackedFile::open(location)?;
        let types = options.shown.as_ref().map(Schema::prefixes);
        let budget = options.budget.clone().unwrap_or_else(Budget::of_this_machine);
        let lookups = check::lookups(&budget, options.scratch.as_ref())?;
        let mut own = Records {
            file,
            form,
            schema: Schema::known(&Graph::default()),
            keys: Vec::new(),
            types,
            left_out: Arc::default(),
            wrong: Findings::keeping(NAMED),
            set_aside: Vec::new(),
            lookups,
        };
        if own.survey(options)? {
            return Ok(own);
        }
        if !options.lenient {
            let wrong = own.find_wrong(NAMED)?;
            wrong.tell(&mut own.wrong);
            return Ok(own);
        }
        let (left_out, set_aside) = own.find_wrong(MOST)?.set_aside()?;
        if !set_aside.is_empty() {
            (own.left_out, own.set_aside) = (Arc::new(left_out), set_aside);
            own.survey(options)?;
        }
        Ok(own)
    }

    fn find_wrong(&self, most: usize) -> Result<Wrong> {
        Wrong::of(&|| self.items(), &self.lookups, most)
    }

    /// The records of these types, in the order of the text; all if `None`.
    fn part(&self, wanted: [Option<Wanted>; 2], rows: usize) -> Box<dyn Part + '_> {
        let rows = rows.clamp(1, ROWS);
        let open = move || {
            Ok(Reading {
                items: self.items()?,
                nodes: HashMap::new(),
                edges: HashMap::new(),
                starts: vec![0; self.schema.graph.nodes.len()],
            })
        };
        part::stepped(None, open, move |reading, take| {
            loop {
                let Some(item) = reading.items.next()? else {
                    return reading.rest(self, take).map(|()| false);
                };
                let full = match item {
                    Item::Node(node) => match wanted[0] {
                        Some(wanted) => reading.node(self, &node, wanted)?.filter(|(_, count)| *count >= rows),
                        None => None,
                    },
                    Item::Edge(edge) => match wanted[1] {
                        Some(wanted) => reading.edge(self, &edge, wanted)?.filter(|(_, count)| *count >= rows),
                        None => None,
                    },
                };
                if let Some((ty, _)) = full {
                    reading.give(self, ty, take)?;
                    return Ok(true);
                }
            }
        })
    }

    fn is_row(&self, ty: usize) -> bool {
        self.schema.graph.nodes.get(ty).is_none_or(|ty| ty.key.kind == KeyKind::Row)
    }
}

/// Which types are wanted.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    All,
    One(usize),
}

impl Wanted {
    fn has(self, ty: usize) -> bool {
        match self {
            Wanted::All => true,
            Wanted::One(one) => one == ty,
        }
    }
}

/// A type of nodes or of edges.
#[derive(Debug, Clone, Copy)]
enum Of {
    Nodes(usize),
    Edges(usize),
}

/// A text that is being read.
struct Reading {
    items: Box<dyn Items>,
    nodes: HashMap<usize, NodeRows>,
    edges: HashMap<usize, EdgeRows>,
    /// Rows of each node type that were given.
    starts: Vec<u64>,
}

struct NodeRows {
    keys: Column,
    labels: LabelBuilder,
    rows: Rows,
}

struct EdgeRows {
    ends: [Column; 2],
    rows: Rows,
}

fn key_column(key: &Key) -> Column {
    match key.kind {
        KeyKind::Row => Column::of(&DataType::UInt64),
        _ => Column::of(&key.data_type),
    }
}

impl Reading {
    fn wrong(&self, what: String) -> Error {
        Error::broken(&rules::VALUE, what).at(self.items.place())
    }

    /// Adds a node, if its type is wanted; returns the type, and its number of rows that wait.
    fn node(&mut self, of: &Records, node: &Node, wanted: Wanted) -> Result<Option<(Of, usize)>> {
        let Some(at) = of.schema.nodes.get(&node.ty).copied() else {
            return Err(self.wrong(format!("the sidecar knows no node type {:?}", node.ty)));
        };
        let Some(ty) = of.schema.graph.nodes.get(at).filter(|_| wanted.has(at)) else { return Ok(None) };
        let own = self.nodes.entry(at).or_insert_with(|| NodeRows {
            keys: key_column(&ty.key),
            labels: LabelBuilder::default(),
            rows: Rows::new(&ty.properties, of.schema.from_values),
        });
        let key = own.keys.push(&node.key);
        own.labels.push(node.labels.iter().map(String::as_str));
        let name = of.keys.get(at).map(String::as_str).filter(|_| !of.schema.from_values);
        let read = own.rows.push(&node.properties, name);
        let count = own.rows.rows;
        if !key {
            return Err(self.wrong("the key does not have its type".to_owned()));
        }
        read.map_err(|what| self.wrong(what))?;
        Ok(Some((Of::Nodes(at), count)))
    }

    fn edge(&mut self, of: &Records, edge: &Edge, wanted: Wanted) -> Result<Option<(Of, usize)>> {
        let [from, to] = [&edge.ends[0].0, &edge.ends[1].0].map(|ty| of.schema.nodes.get(ty).copied());
        let known =
            from.zip(to).and_then(|(from, to)| of.schema.edges.get(&(from, edge.relation.clone(), to)).copied());
        let Some(at) = known else {
            let [from, to] = [&edge.ends[0].0, &edge.ends[1].0];
            return Err(self.wrong(format!("the sidecar knows no relationship {from} {} {to}", edge.relation)));
        };
        let Some(ty) = of.schema.graph.edges.get(at).filter(|_| wanted.has(at)) else { return Ok(None) };
        let end = |node: usize| {
            of.schema.graph.nodes.get(node).map_or_else(|| Column::of(&DataType::Utf8), |ty| key_column(&ty.key))
        };
        let own = self.edges.entry(at).or_insert_with(|| EdgeRows {
            ends: [end(ty.source), end(ty.target)],
            rows: Rows::new(&ty.properties, of.schema.from_values),
        });
        let ends = own.ends.iter_mut().zip(&edge.ends).fold(true, |all, (column, (_, key))| column.push(key) && all);
        let read = own.rows.push(&edge.properties, None);
        let count = own.rows.rows;
        if !ends {
            return Err(self.wrong("an end does not have the type of keys".to_owned()));
        }
        read.map_err(|what| self.wrong(what))?;
        Ok(Some((Of::Edges(at), count)))
    }

    /// Passes on the rows of a type that wait.
    fn give(&mut self, of: &Records, ty: Of, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let place = self.items.place();
        match ty {
            Of::Nodes(at) => {
                let (Some(mut own), Some(ty)) = (self.nodes.remove(&at), of.schema.graph.nodes.get(at)) else {
                    return Ok(());
                };
                let rows = own.rows.rows;
                let keys = own.keys.finish().map_err(|error| error.at(place.clone()))?;
                let start = self.starts.get_mut(at).map_or(0, |start| std::mem::replace(start, *start + rows as u64));
                if ty.key.kind == KeyKind::Row {
                    counted(&keys, start).map_err(|error| error.at(place.clone()))?;
                }
                let properties = own.rows.finish().map_err(|error| error.at(place))?;
                let labels = own.labels.finish();
                let has_labels = ty.labels != LabelVocabulary::None && labels.sets().iter().any(|set| !set.is_empty());
                let keys = (ty.key.kind != KeyKind::Row).then_some(keys);
                let (numbers, labels) = (None, has_labels.then_some(labels));
                take(Batch::Nodes(NodeBatch { ty: at, start, numbers, rows, keys, labels, properties }))
            }
            Of::Edges(at) => {
                let (Some(mut own), Some(ty)) = (self.edges.remove(&at), of.schema.graph.edges.get(at)) else {
                    return Ok(());
                };
                let rows = own.rows.rows;
                let mut ends = own.ends.iter_mut().zip([ty.source, ty.target]).map(|(column, node)| {
                    let keys = column.finish().map_err(|error| error.at(place.clone()))?;
                    Ok(match (of.is_row(node), keys.as_primitive_opt::<UInt64Type>()) {
                        (true, Some(rows)) => Ends::Rows(rows.clone()),
                        _ => Ends::Keys(keys),
                    })
                });
                let mut end = || ends.next().unwrap_or_else(|| Err(Error::usage("an edge has two ends")));
                let (source, target) = (end()?, end()?);
                drop(ends);
                let properties = own.rows.finish().map_err(|error| error.at(place.clone()))?;
                let (relations, layers, directed, keys) = (None, None, None, None);
                take(Batch::Edges(EdgeBatch {
                    ty: at,
                    rows,
                    relations,
                    source,
                    target,
                    layers,
                    directed,
                    keys,
                    properties,
                }))
            }
        }
    }

    /// Passes on all rows that wait.
    fn rest(&mut self, of: &Records, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let sorted = |mut all: Vec<usize>| {
            all.sort_unstable();
            all
        };
        for ty in sorted(self.nodes.keys().copied().collect()) {
            self.give(of, Of::Nodes(ty), take)?;
        }
        for ty in sorted(self.edges.keys().copied().collect()) {
            self.give(of, Of::Edges(ty), take)?;
        }
        Ok(())
    }
}

/// Checks that keys count the rows.
fn counted(keys: &ArrayRef, start: u64) -> Result<()> {
    let keys = keys.as_primitive_opt::<UInt64Type>();
    let sound = keys
        .is_some_and(|keys| keys.null_count() == 0 && keys.values().iter().zip(start..).all(|(key, row)| *key == row));
    match sound {
        true => Ok(()),
        false => Err(Error::broken(&rules::ID, "the nodes of this type are numbered, and one has another number")),
    }
}

impl Source for Records {
    fn graph(&self) -> &Graph {
        &self.schema.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::unsupported("the records of a text come in its order"));
        }
        self.refuse_wrong()?;
        let (one, all) = (|ty| Some(Wanted::One(ty)), Some(Wanted::All));
        let wanted = match request.tables {
            Tables::All => [all, all],
            Tables::AllNodes => [all, None],
            Tables::AllEdges => [None, all],
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => [one(ty), None],
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => [None, one(ty)],
            Tables::Rest => return Ok(Vec::new()),
        };
        Ok(vec![self.part(wanted, request.batch_rows)])
    }

    fn is_one_table(&self, _tables: Tables) -> bool {
        true
    }

    fn end_form(&self, ty: usize) -> EndForm {
        let ends = self.schema.graph.edges.get(ty).map(|ty| self.is_row(ty.source) && self.is_row(ty.target));
        if ends == Some(true) { EndForm::Rows } else { EndForm::Keys }
    }

    fn about(&self) -> About {
        let mut findings = self.wrong.clone();
        self.set_aside.iter().for_each(|one| findings.push(one.rule, one.message.clone(), one.place.clone()));
        let format = match self.form {
            Form::Apoc => "JSON lines of APOC",
            Form::Cypher => "Cypher script",
        };
        About {
            format: format.to_owned(),
            version: self.file.packing.word().to_owned(),
            files: 1,
            bytes: self.file.blob.size(),
            layout: "one record after another".to_owned(),
            edge_layouts: Vec::new(),
            findings,
        }
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        self.refuse_wrong()?;
        let ty = self.schema.graph.edges.get(edge).ok_or_else(|| Error::usage("no such edge type"))?;
        let near = if side == Side::Out { ty.source } else { ty.target };
        let text = match node {
            NodeId::Key(key) => key.to_owned(),
            NodeId::Row(row) if self.is_row(near) => row.to_string(),
            NodeId::Row(_) => {
                return Err(Error::unsupported("nodes are looked up by key").hint("give the key of the node"));
            }
        };
        let all = self.part([None, Some(Wanted::One(edge))], ROWS);
        Ok(part::shown(all, move |batch, take| {
            let Batch::Edges(edges) = batch else { return Ok(()) };
            let keys: ArrayRef = match if side == Side::Out { &edges.source } else { &edges.target } {
                Ends::Keys(keys) => Arc::clone(keys),
                Ends::Rows(rows) => Arc::new(rows.clone()),
            };
            let keys = crate::spelled::Spelled::new(&keys, Form::Apoc)?;
            let mut row = 0;
            let hits: Vec<bool> = (0..edges.rows).map(|row| keys.text(row) == text).collect();
            for run in hits.chunk_by(|left, right| left == right) {
                if run.first() == Some(&true) {
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
        self.set_aside.iter().for_each(|one| findings.push(one.rule, one.message.clone(), one.place.clone()));
        if !self.wrong.is_empty() {
            self.find_wrong(MOST)?.tell(findings);
            return Ok(());
        }
        findings.note(part::read_all(self.scan(&Request::of(Tables::All))?)).map(|_| ())
    }
}
