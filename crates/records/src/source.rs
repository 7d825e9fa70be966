//! A stream of records as a model source.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Int64Builder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray};
use isomorph_error::{Error, Findings, Kind, Result};
use isomorph_model::{
    About, Batch, Direction, EdgeBatch, EdgeOrder, EdgeType, Ends, Graph, Key, KeyKind, NodeBatch, NodeId, NodeType,
    Part, Request, Side, Source, Tables, part,
};
use isomorph_storage::{Location, Scratch};
use isomorph_tables::PackedFile;

use crate::check::check_ids;
use crate::columns::Column;
use crate::reader::{Item, OpenOptions, Reader, Syntax, wrong};
use crate::slots::{Id, Record, Slots, Tag};
use crate::survey::{Ids, Survey, Table, survey};

/// The name of the node type.
pub const NODE: &str = "node";
/// The name of the edge type.
pub const EDGE: &str = "edge";

/// Maximum number of rows in a batch.
const ROWS: usize = 1 << 16;

/// Bytes of texts after which a batch ends.
const BYTES: usize = 128 << 20;

/// An opened file of records.
pub struct RecordGraph {
    syntax: &'static dyn Syntax,
    file: PackedFile,
    survey: Survey,
    options: OpenOptions,
    graph: Graph,
    findings: Findings,
}

impl RecordGraph {
    /// Opens the file at `location`, and reads it once.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or breaks a rule of the syntax.
    pub fn open(location: &Location, syntax: &'static dyn Syntax, options: OpenOptions) -> Result<RecordGraph> {
        let file = PackedFile::open(location)?;
        let survey = survey(syntax, &file, &options)?;
        let key = match (survey.ids, survey.label) {
            (Ids::Integers | Ids::Positions, None) => Key::int64(),
            _ => Key::utf8(),
        };
        let mut node = NodeType::new(NODE, key);
        (node.rows, node.properties) = (Some(survey.nodes.rows), survey.nodes.properties.clone());
        let mut edge = EdgeType::new(0, EDGE, 0);
        (edge.rows, edge.properties) = (Some(survey.edges.rows), survey.edges.properties.clone());
        edge.direction = match (survey.by_row, survey.directed) {
            (true, _) => Direction::PerRow,
            (_, true) => Direction::Directed,
            (_, false) => Direction::Undirected,
        };
        if let Some(told) = options.shown.as_ref().and_then(|graph| graph.edges.first())
            && told.direction == Direction::PerRow
        {
            edge.direction = Direction::PerRow;
        }
        let mut graph = Graph { nodes: vec![node], edges: vec![edge], ..Graph::default() };
        graph.name.clone_from(&survey.head.name);
        graph.documents.clone_from(&survey.head.documents);
        graph.metadata.clone_from(&survey.head.metadata);
        let mut findings = survey.head.findings.clone();
        if survey.mixed_ids {
            let message = "some ids are texts and others are not: all are read as texts, so 1 and \"1\" are the same";
            findings.push(syntax.rules().mixed, message, file.blob.place());
        }
        Ok(RecordGraph { syntax, file, survey, options, graph, findings })
    }

    /// Returns what was recognised, and from what: pairs of subject and fact.
    pub fn recognised(&self) -> Vec<(String, String)> {
        let mut all = self.survey.head.recognised.clone();
        let ids = match (self.survey.ids, self.survey.label, self.syntax.labels().name()) {
            (_, Some(_), Some(label)) => format!("the texts of {label}; ids are positions"),
            (Ids::Positions, ..) => "positions from 0: no node has an id".to_owned(),
            (Ids::Integers, ..) => "integers".to_owned(),
            (Ids::Texts, ..) => "texts".to_owned(),
        };
        all.push(("ids".to_owned(), ids));
        for name in &self.survey.mixed_numbers {
            all.push((name.clone(), "integers and floats that no double equals: read as JSON".to_owned()));
        }
        all
    }

    /// Returns the place of the file.
    pub(crate) fn file(&self) -> &PackedFile {
        &self.file
    }

    /// Whether ids are rows, and keys are something else.
    fn ids_are_rows(&self) -> bool {
        self.survey.label.is_some()
    }

    /// Returns nodes and edges in the order of the file.
    fn part(&self, nodes: bool, edges: bool, bare: bool, rows: usize) -> Box<dyn Part + '_> {
        let count = |wanted: bool, table: &Table| if wanted { table.rows } else { 0 };
        let all = count(nodes, &self.survey.nodes) + count(edges, &self.survey.edges);
        let rows = rows.clamp(1, ROWS);
        let open = move || {
            let reader = self.syntax.reader(&self.file)?;
            let record = self.survey.template.clone();
            let nodes = nodes.then(|| Elements::nodes(self, bare));
            let edges = edges.then(|| Elements::edges(self, bare));
            Ok(State { reader, record, nodes, edges, start: 0, row: 0 })
        };
        part::stepped(Some(all), open, move |state, take| {
            let mut more = true;
            let is_open =
                |own: &Option<Elements<'_>>| own.as_ref().is_none_or(|own| own.rows < rows && own.bytes < BYTES);
            while more && is_open(&state.nodes) && is_open(&state.edges) {
                match state.reader.next(&mut state.record)? {
                    Some(Item::Node) => {
                        if let Some(own) = state.nodes.as_mut() {
                            own.push_node(&state.record, state.row, state.reader.as_ref())?;
                        }
                        state.row += 1;
                    }
                    Some(Item::Edge) => {
                        if let Some(own) = state.edges.as_mut() {
                            own.push_edge(&state.record, self.survey.head.directed, state.reader.as_ref())?;
                        }
                    }
                    None => more = false,
                }
            }
            if let Some(own) = state.nodes.as_mut().filter(|own| own.rows > 0) {
                let batch = own.node_batch(state.start)?;
                state.start += batch.rows as u64;
                take(Batch::Nodes(batch))?;
            }
            if let Some(own) = state.edges.as_mut().filter(|own| own.rows > 0) {
                let by_row = self.graph.edges.first().is_some_and(|ty| ty.direction == Direction::PerRow);
                take(Batch::Edges(own.edge_batch(by_row)?))?;
            }
            Ok(more)
        })
    }

    fn has(&self, node: &str) -> Result<bool> {
        for batch in self.part(true, false, true, ROWS) {
            let Batch::Nodes(nodes) = batch? else { continue };
            let mask = nodes.keys.as_ref().and_then(|keys| equal_to(keys, node));
            if mask.is_some_and(|mask| mask.true_count() > 0) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns a mask of the keys that equal `node`; `None` if no key can.
fn equal_to(keys: &ArrayRef, node: &str) -> Option<BooleanArray> {
    match keys.as_primitive_opt::<Int64Type>() {
        Some(numbers) => {
            let wanted: i64 = node.parse().ok()?;
            Some(numbers.values().iter().map(|key| Some(*key == wanted)).collect())
        }
        None => Some(keys.as_string_opt::<i32>()?.iter().map(|key| Some(key == Some(node))).collect()),
    }
}

struct State<'a> {
    reader: Box<dyn Reader>,
    record: Record,
    nodes: Option<Elements<'a>>,
    edges: Option<Elements<'a>>,
    start: u64,
    /// Number of nodes read.
    row: u64,
}

/// Keys or ends.
enum IdColumn {
    Integers(Int64Builder),
    Texts(StringBuilder),
    Rows(UInt64Builder),
}

impl IdColumn {
    /// Appends an id; returns false if it has another kind.
    fn push(&mut self, id: &Id) -> bool {
        match self {
            IdColumn::Integers(column) => match id.integer() {
                Some(value) => column.append_value(value),
                None => return false,
            },
            IdColumn::Texts(column) => column.append_value(&id.text),
            IdColumn::Rows(column) => match id.integer().and_then(|value| u64::try_from(value).ok()) {
                Some(value) => column.append_value(value),
                None => return false,
            },
        }
        true
    }

    fn finish(&mut self) -> Ends {
        match self {
            IdColumn::Integers(column) => Ends::Keys(Arc::new(column.finish())),
            IdColumn::Texts(column) => Ends::Keys(Arc::new(column.finish())),
            IdColumn::Rows(column) => Ends::Rows(column.finish()),
        }
    }
}

/// Elements that are collected for a batch.
struct Elements<'a> {
    graph: &'a RecordGraph,
    table: &'a Table,
    bare: bool,
    rows: usize,
    bytes: usize,
    ids: [IdColumn; 2],
    directed: BooleanBuilder,
    columns: Vec<Column>,
}

impl<'a> Elements<'a> {
    fn new(graph: &'a RecordGraph, table: &'a Table, bare: bool, ends: impl Fn() -> IdColumn) -> Self {
        let columns = if bare {
            Vec::new()
        } else {
            let as_text = graph.syntax.has_json_as_text();
            let both = table.properties.iter().zip(&table.told);
            both.map(|(own, told)| Column::new(own, as_text && *told)).collect()
        };
        let ids = [ends(), ends()];
        Elements { graph, table, bare, rows: 0, bytes: 0, ids, directed: BooleanBuilder::new(), columns }
    }

    fn nodes(graph: &'a RecordGraph, bare: bool) -> Self {
        Elements::new(graph, &graph.survey.nodes, bare, || match graph.graph.nodes.first().map(|ty| ty.key.kind) {
            Some(KeyKind::Int) => IdColumn::Integers(Int64Builder::new()),
            _ => IdColumn::Texts(StringBuilder::new()),
        })
    }

    fn edges(graph: &'a RecordGraph, bare: bool) -> Self {
        Elements::new(graph, &graph.survey.edges, bare, || {
            match (graph.ids_are_rows(), graph.graph.nodes.first().map(|ty| ty.key.kind)) {
                (true, _) => IdColumn::Rows(UInt64Builder::new()),
                (_, Some(KeyKind::Int)) => IdColumn::Integers(Int64Builder::new()),
                _ => IdColumn::Texts(StringBuilder::new()),
            }
        })
    }

    fn push_node(&mut self, record: &Record, row: u64, reader: &dyn Reader) -> Result<()> {
        self.rows += 1;
        let survey = &self.graph.survey;
        let fits = match (survey.label, survey.ids, &mut self.ids[0]) {
            (Some(label), _, IdColumn::Texts(column)) => match record.nodes.get(label) {
                Some(slot) if slot.tag == Tag::Text => {
                    column.append_value(&slot.text);
                    true
                }
                _ => false,
            },
            (None, Ids::Positions, IdColumn::Integers(column)) => {
                i64::try_from(row).map(|row| column.append_value(row)).is_ok()
            }
            (_, _, ids) => ids.push(&record.id),
        };
        if !fits {
            return Err(changed(reader, self.graph));
        }
        self.bytes += record.id.text.len();
        self.push(&record.nodes, reader)
    }

    fn push_edge(&mut self, record: &Record, default: bool, reader: &dyn Reader) -> Result<()> {
        self.rows += 1;
        if !(self.ids[0].push(&record.source) && self.ids[1].push(&record.target)) {
            return Err(match self.graph.ids_are_rows() {
                true => wrong(self.graph.syntax.rules().end, "an edge ends in an id that no node has", reader),
                false => changed(reader, self.graph),
            });
        }
        if let IdColumn::Rows(_) = self.ids[0] {
            let is_node = |id: &Id| {
                id.integer()
                    .and_then(|row| u64::try_from(row).ok())
                    .is_some_and(|row| row < self.graph.survey.nodes.rows)
            };
            if !is_node(&record.source) || !is_node(&record.target) {
                return Err(wrong(self.graph.syntax.rules().end, "an edge ends in an id that no node has", reader));
            }
        }
        self.directed.append_value(record.directed.unwrap_or(default));
        self.bytes += record.source.text.len() + record.target.text.len();
        self.push(&record.edges, reader)
    }

    fn push(&mut self, slots: &Slots, reader: &dyn Reader) -> Result<()> {
        if self.bare {
            return Ok(());
        }
        for ((column, at), property) in self.columns.iter_mut().zip(&self.table.slots).zip(&self.table.properties) {
            let slot = at.and_then(|at| slots.get(at));
            self.bytes += slot.map_or(0, |slot| slot.text.len());
            if !column.push_slot(slot) {
                let message = format!("{}: the value has another type than the others", property.name);
                return Err(wrong(self.graph.syntax.rules().value, message, reader));
            }
        }
        Ok(())
    }

    fn properties(&mut self) -> Result<Vec<Option<ArrayRef>>> {
        if self.bare {
            return Ok(vec![None; self.table.properties.len()]);
        }
        let too_long = || Error::new(Kind::TooLarge, "the lists in a batch have more than 2^31 values");
        self.columns.iter_mut().map(|column| column.finish().map(Some).ok_or_else(too_long)).collect()
    }

    fn node_batch(&mut self, start: u64) -> Result<NodeBatch> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let Ends::Keys(keys) = self.ids[0].finish() else { return Err(Error::usage("nodes have keys")) };
        let properties = self.properties()?;
        Ok(NodeBatch { ty: 0, start, numbers: None, rows, keys: Some(keys), labels: None, properties })
    }

    fn edge_batch(&mut self, by_row: bool) -> Result<EdgeBatch> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let [source, target] = self.ids.each_mut().map(IdColumn::finish);
        let keyed = |ends: Ends| match (ends, &self.graph.survey.labels) {
            (Ends::Rows(rows), Some(labels)) => labels.gather(rows.values()).map(Ends::Keys),
            (ends, _) => Ok(ends),
        };
        let (source, target) = (keyed(source)?, keyed(target)?);
        let directed = Some(self.directed.finish()).filter(|_| by_row);
        let (ty, relations, layers, keys, properties) = (0, None, None, None, self.properties()?);
        Ok(EdgeBatch { ty, rows, relations, source, target, layers, directed, keys, properties })
    }
}

/// Creates the error of a file that is not as it was when it was opened.
fn changed(reader: &dyn Reader, graph: &RecordGraph) -> Error {
    wrong(graph.syntax.rules().id, "the id has another kind than when the file was opened", reader)
}

impl Source for RecordGraph {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::unsupported(format!("{} returns edges in the order of the file", self.syntax.name())));
        }
        let rows = request.batch_rows;
        Ok(match request.tables {
            Tables::All => vec![self.part(true, true, false, rows)],
            Tables::AllNodes | Tables::Nodes(0) => vec![self.part(true, false, false, rows)],
            Tables::NodeKeys(0) => vec![self.part(true, false, true, rows)],
            Tables::AllEdges | Tables::Edges(0) => vec![self.part(false, true, false, rows)],
            Tables::EdgeEnds(0) => vec![self.part(false, true, true, rows)],
            _ => Vec::new(),
        })
    }

    fn about(&self) -> About {
        let recognised = self.recognised();
        let layout: Vec<String> = recognised.iter().map(|(what, fact)| format!("{what}: {fact}")).collect();
        About {
            format: self.syntax.name().to_owned(),
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
            return Err(Error::unsupported("nodes are looked up by id").hint("give the id of the node"));
        };
        if edge != 0 {
            return Err(Error::usage("there is a single edge table"));
        }
        if !self.has(key)? {
            return Err(Error::new(Kind::NotFound, format!("there is no node {key}")));
        }
        let key = key.to_owned();
        Ok(part::shown(self.part(false, true, false, ROWS), move |batch, take| {
            let Batch::Edges(edges) = batch else { return Ok(()) };
            let mask = match if side == Side::Out { &edges.source } else { &edges.target } {
                Ends::Keys(keys) => equal_to(keys, &key),
                Ends::Rows(_) => None,
            };
            let Some(mask) = mask else { return Ok(()) };
            let mut at = 0;
            for run in mask.iter().collect::<Vec<_>>().chunk_by(|left, right| left == right) {
                if run.first() == Some(&Some(true)) {
                    take(Batch::Edges(edges.slice(at, run.len())))?;
                }
                at += run.len();
            }
            Ok(())
        }))
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        findings.merge(self.findings.clone());
        let scratch = self.options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
        let rules = self.syntax.rules();
        let place = self.file().blob.place();
        // Values have been surveyed, but not converted to the types that a sidecar states.
        for part in self.scan(&Request::of(Tables::All))? {
            for batch in part {
                let Err(error) = batch else { continue };
                let Some(rule) = error.broken_rule() else { return Err(error) };
                findings.push(rule, error.message(), error.place().clone());
                return Ok(());
            }
        }
        check_ids(self, &place, (rules.id, rules.end), (&self.options.budget, &scratch), findings)
    }
}
