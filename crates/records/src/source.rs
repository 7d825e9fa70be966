//! A stream of records as a model source.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array};
use isomorph_error::{Error, Finding, Findings, Kind, Result};
use isomorph_model::batch::{HyperedgeBatch, MemberBatch};
use isomorph_model::schema::HyperedgeType;
use isomorph_model::{
    About, Batch, Direction, EdgeBatch, EdgeOrder, EdgeType, Ends, Graph, Key, KeyKind, NodeBatch, NodeId, NodeType,
    Part, Request, Side, Source, Tables, part,
};
use isomorph_storage::Location;
use isomorph_tables::PackedFile;

use crate::check::{MOST, NAMED, WrongRecords};
use crate::chunk::{Chunk, Chunks, LeftOut, ROWS, Wanted};
use crate::reader::{Item, OpenOptions, Syntax};
use crate::stored::{IdKind, Misfit, Stored};
use crate::survey::{Ids, Survey, Table, survey, wrong};

/// The name of the node type.
pub const NODE: &str = "node";
/// The name of the edge type.
pub const EDGE: &str = "edge";
const HYPEREDGE: &str = "hyperedge";

/// An opened file of records.
pub struct RecordGraph {
    syntax: &'static dyn Syntax,
    file: PackedFile,
    survey: Survey,
    options: OpenOptions,
    left_out: LeftOut,
    graph: Graph,
    findings: Findings,
    /// Wrong ids and wrong ends, which end every reading.
    wrong: Findings,
    set_aside: Vec<Finding>,
}

impl RecordGraph {
    /// Opens the file at `location`, and reads it once. A node whose id is repeated and an edge that ends in no node are findings, and
    /// end every reading; with [`OpenOptions::lenient`], they are set aside, and the file is read again without them. A record without an id or
    /// an end is an error, or set aside too.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or breaks a rule of the syntax.
    pub fn open(location: &Location, syntax: &'static dyn Syntax, options: OpenOptions) -> Result<RecordGraph> {
        let mut graph = RecordGraph::without(LeftOut::default(), syntax, PackedFile::open(location)?, options)?;
        let incomplete = std::mem::take(&mut graph.survey.incomplete);
        graph = graph.leave_out(incomplete)?;
        if graph.survey.is_sound {
            return Ok(graph);
        }
        if !graph.options.lenient {
            let wrong = graph.wrong_records(NAMED)?;
            wrong.tell(&mut graph.wrong);
            return Ok(graph);
        }
        let wrong = graph.wrong_records(MOST)?;
        graph.leave_out(wrong)
    }

    /// Reads the file again without wrong records, if there are some.
    fn leave_out(self, wrong: WrongRecords) -> Result<RecordGraph> {
        let (others, told) = wrong.set_aside()?;
        if told.is_empty() {
            return Ok(self);
        }
        let mut left_out = self.left_out;
        left_out.add_remaining(&others);
        let mut graph = RecordGraph::without(left_out, self.syntax, self.file, self.options)?;
        graph.set_aside = self.set_aside;
        graph.set_aside.extend(told);
        Ok(graph)
    }

    /// Reads the file but for some records.
    fn without(
        left_out: LeftOut,
        syntax: &'static dyn Syntax,
        file: PackedFile,
        options: OpenOptions,
    ) -> Result<RecordGraph> {
        let survey = survey(syntax, &file, &options, &left_out)?;
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
        if survey.hyperedges.rows > 0 {
            graph.hyperedges.push(HyperedgeType {
                name: HYPEREDGE.to_owned(),
                key: Key::utf8(),
                ends: 0,
                direction: match survey.hyperedge_directions {
                    [true, true] => Direction::PerRow,
                    [true, false] => Direction::Directed,
                    [false, _] => Direction::Undirected,
                },
                layered: false,
                properties: survey.hyperedges.properties.clone(),
                rows: Some(survey.hyperedges.rows),
            });
        }
        graph.name.clone_from(&survey.head.name);
        graph.documents.clone_from(&survey.head.documents);
        graph.metadata.clone_from(&survey.head.metadata);
        let mut findings = survey.head.findings.clone();
        if survey.mixed_ids {
            let message = "some ids are texts and others are not: all are read as texts, so 1 and \"1\" are the same";
            findings.push(syntax.rules().mixed, message, file.blob.place());
        }
        let (wrong, set_aside) = (Findings::keeping(NAMED), Vec::new());
        Ok(RecordGraph { syntax, file, survey, options, left_out, graph, findings, wrong, set_aside })
    }

    /// Returns the records that were set aside, and why.
    pub fn set_aside(&self) -> &[Finding] {
        &self.set_aside
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

    pub(crate) fn syntax(&self) -> &'static dyn Syntax {
        self.syntax
    }

    pub(crate) fn file(&self) -> &PackedFile {
        &self.file
    }

    pub(crate) fn survey(&self) -> &Survey {
        &self.survey
    }

    pub(crate) fn options(&self) -> &OpenOptions {
        &self.options
    }

    fn feed(&self, wanted: Wanted) -> Result<Feed<'_>> {
        Ok(match &self.survey.kept {
            Some(kept) => Feed::Kept(kept.chunks.iter()),
            None => {
                let template = self.survey.template.clone();
                Feed::Read(Box::new(Chunks::new(self.syntax, &self.file, template, wanted, &self.left_out)?))
            }
        })
    }

    /// Passes on what is wanted, in the order of the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, and errors of `take`.
    pub(crate) fn each_chunk(&self, wanted: Wanted, take: &mut dyn FnMut(&Chunk) -> Result<()>) -> Result<()> {
        let mut feed = self.feed(wanted)?;
        while let Some(chunk) = feed.next(wanted)? {
            take(&chunk)?;
        }
        Ok(())
    }

    /// # Errors
    /// Returns an error if a record has a wrong id or a wrong end: other readings would not agree about the graph.
    fn refuse_wrong(&self) -> Result<()> {
        match self.wrong.by_rule().find_map(|(_, kept)| kept.first()) {
            Some(wrong) => Err(Error::broken(wrong.rule, wrong.message.clone()).at(wrong.place.clone())),
            None => Ok(()),
        }
    }

    /// Returns what is wanted, in the order of the file, with at most `rows` rows in a batch. `convert` returns the batches of a chunk.
    fn stream<'a>(
        &'a self,
        wanted: Wanted,
        (count, rows): (u64, usize),
        convert: impl Fn(&Chunk) -> Result<Option<Batch>> + Send + 'a,
    ) -> Box<dyn Part + 'a> {
        let rows = rows.clamp(1, ROWS);
        part::stepped(
            Some(count),
            move || self.feed(wanted),
            move |feed, take| {
                let Some(chunk) = feed.next(wanted)? else { return Ok(false) };
                let Some(batch) = convert(&chunk)? else { return Ok(true) };
                let all = batch.rows();
                for start in (0..all).step_by(rows) {
                    take(batch.slice(start, rows.min(all - start)))?;
                }
                Ok(true)
            },
        )
    }

    /// Returns nodes and edges, or the keys of nodes and the ends of edges.
    fn part(&self, nodes: bool, edges: bool, bare: bool, rows: usize) -> Box<dyn Part + '_> {
        let count = |wanted: bool, table: &Table| if wanted { table.rows } else { 0 };
        let all = count(nodes, &self.survey.nodes) + count(edges, &self.survey.edges);
        let wanted = Wanted { nodes, edges, hyperedges: false, bare };
        self.stream(wanted, (all, rows), move |chunk| match chunk.item {
            Item::Node => self.node_batch(chunk, bare).map(|batch| Some(Batch::Nodes(batch))),
            Item::Edge => self.edge_batch(chunk, bare).map(|batch| Some(Batch::Edges(batch))),
            Item::Hyperedge => Ok(None),
        })
    }

    /// Returns all hyperedges, then all their ends.
    fn hyperedges(&self, rows: usize) -> Vec<Box<dyn Part + '_>> {
        if self.survey.hyperedges.rows == 0 {
            return Vec::new();
        }
        let wanted = Wanted { nodes: false, edges: false, hyperedges: true, bare: false };
        let all = self.stream(wanted, (self.survey.hyperedges.rows, rows), |chunk| {
            self.hyperedge_batch(chunk).map(|batch| Some(Batch::Hyperedges(batch)))
        });
        let members = self.stream(Wanted { bare: true, ..wanted }, (self.survey.members, rows), |chunk| {
            let Some(members) = chunk.members.as_ref().filter(|members| !members.nodes.is_empty()) else {
                return Ok(None);
            };
            Ok(Some(Batch::Members(MemberBatch {
                ty: 0,
                owner: Ends::Keys(Arc::new(members.owners.clone())),
                member: Ends::Keys(Arc::new(members.nodes.clone())),
                roles: members.roles.clone(),
                layers: None,
                coefficients: None,
            })))
        });
        vec![all, members]
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

/// Where chunks come from.
enum Feed<'a> {
    /// From memory.
    Kept(std::slice::Iter<'a, Arc<Chunk>>),
    /// From the file, which is read again.
    Read(Box<Chunks>),
}

impl Feed<'_> {
    fn next(&mut self, wanted: Wanted) -> Result<Option<Arc<Chunk>>> {
        match self {
            Feed::Kept(chunks) => Ok(chunks.find(|chunk| wanted.includes(chunk.item)).cloned()),
            Feed::Read(chunks) => chunks.next(),
        }
    }
}

/// Chunks as batches.
impl RecordGraph {
    /// Creates the error of a file that is not as it was when it was opened.
    pub(crate) fn changed(&self, chunk: &Chunk, row: usize) -> Error {
        let message = "the id has another kind than when the file was opened";
        wrong(self.syntax.rules().id, message, &self.file, chunk, row)
    }

    pub(crate) fn id_kind(&self) -> IdKind {
        match self.graph.nodes.first().map(|ty| ty.key.kind) {
            Some(KeyKind::Int) => IdKind::Integers,
            _ => IdKind::Texts,
        }
    }

    pub(crate) fn node_keys(&self, chunk: &Chunk) -> Result<ArrayRef> {
        let keys = match (self.survey.label, self.survey.ids) {
            (Some(label), _) => match chunk.column(label) {
                Some(Stored::Text(texts)) if texts.null_count() == 0 => return Ok(Arc::new(texts.clone())),
                _ => Err(0),
            },
            (None, Ids::Positions) => return self.positions(chunk),
            _ => match &chunk.ids[0] {
                Some(ids) if ids.count(false) == 0 => ids.ids(self.id_kind()),
                _ => Err(0),
            },
        };
        match keys {
            Ok(Ends::Keys(keys)) => Ok(keys),
            Ok(Ends::Rows(_)) => Err(self.changed(chunk, 0)),
            Err(row) => Err(self.changed(chunk, row)),
        }
    }

    /// Returns the positions of nodes as integers.
    pub(crate) fn positions(&self, chunk: &Chunk) -> Result<ArrayRef> {
        let rows = chunk.start..chunk.start + chunk.rows as u64;
        let rows: std::result::Result<Vec<i64>, _> = rows.map(i64::try_from).collect();
        Ok(Arc::new(Int64Array::from(rows.map_err(|_| self.changed(chunk, 0))?)))
    }

    fn ends(&self, chunk: &Chunk, side: usize) -> Result<Ends> {
        let Some(ids) = chunk.ids[side].as_ref().filter(|ids| ids.count(false) == 0) else {
            return Err(self.changed(chunk, 0));
        };
        let Some(labels) = &self.survey.labels else {
            return ids.ids(self.id_kind()).map_err(|row| self.changed(chunk, row));
        };
        let no_node = |row| {
            let message = "an edge ends in an id that no node has";
            wrong(self.syntax.rules().end, message, &self.file, chunk, row)
        };
        let Ends::Rows(rows) = ids.ids(IdKind::Rows).map_err(no_node)? else { return Err(no_node(0)) };
        match rows.values().iter().position(|row| *row >= self.survey.nodes.rows) {
            Some(row) => Err(no_node(row)),
            None => labels.gather(rows.values()).map(Ends::Keys),
        }
    }

    /// Returns the columns of the properties of `table`.
    fn columns(&self, chunk: &Chunk, table: &Table, bare: bool) -> Result<Vec<Option<ArrayRef>>> {
        if bare {
            return Ok(vec![None; table.properties.len()]);
        }
        let as_text = self.syntax.has_json_as_text();
        let all = table.properties.iter().zip(&table.slots).zip(&table.told);
        let column = |((property, at), told): ((&isomorph_model::Property, &Option<usize>), &bool)| {
            let Some(stored) = at.and_then(|at| chunk.column(at)) else { return Ok(None) };
            stored.column(property, as_text && *told).map(Some).map_err(|misfit| match misfit {
                Misfit::Row(row) => {
                    let message = format!("{}: the value has another type than the others", property.name);
                    wrong(self.syntax.rules().value, message, &self.file, chunk, row)
                }
                Misfit::TooLong => Error::new(Kind::TooLarge, "the lists in a batch have more than 2^31 values"),
            })
        };
        all.map(column).collect()
    }

    fn node_batch(&self, chunk: &Chunk, bare: bool) -> Result<NodeBatch> {
        let (keys, properties) = (self.node_keys(chunk)?, self.columns(chunk, &self.survey.nodes, bare)?);
        let (start, rows) = (chunk.start, chunk.rows);
        Ok(NodeBatch { ty: 0, start, numbers: None, rows, keys: Some(keys), labels: None, properties })
    }

    fn edge_batch(&self, chunk: &Chunk, bare: bool) -> Result<EdgeBatch> {
        let (source, target) = (self.ends(chunk, 0)?, self.ends(chunk, 1)?);
        let by_row = self.graph.edges.first().is_some_and(|ty| ty.direction == Direction::PerRow);
        let directed = by_row.then(|| directions(chunk, self.survey.head.directed));
        let (ty, relations, layers, keys) = (0, None, None, None);
        let (rows, properties) = (chunk.rows, self.columns(chunk, &self.survey.edges, bare)?);
        Ok(EdgeBatch { ty, rows, relations, source, target, layers, directed, keys, properties })
    }

    pub(crate) fn hyperedge_keys(&self, chunk: &Chunk) -> Result<ArrayRef> {
        match chunk.ids[0].as_ref().map(|ids| ids.ids(IdKind::Texts)) {
            Some(Ok(Ends::Keys(keys))) if keys.len() == chunk.rows => Ok(keys),
            _ => Err(self.changed(chunk, 0)),
        }
    }

    fn hyperedge_batch(&self, chunk: &Chunk) -> Result<HyperedgeBatch> {
        let by_row = self.graph.hyperedges.first().is_some_and(|ty| ty.direction == Direction::PerRow);
        let keys = self.hyperedge_keys(chunk)?;
        Ok(HyperedgeBatch {
            ty: 0,
            start: chunk.start,
            rows: chunk.rows,
            keys,
            directed: by_row.then(|| directions(chunk, false)),
            properties: self.columns(chunk, &self.survey.hyperedges, false)?,
        })
    }
}

/// Returns the direction of each row; `default` where it has none of its own.
fn directions(chunk: &Chunk, default: bool) -> BooleanArray {
    match &chunk.directed {
        Some(Stored::Bool(stated)) => stated.iter().map(|own| Some(own.unwrap_or(default))).collect(),
        _ => std::iter::repeat_n(Some(default), chunk.rows).collect(),
    }
}

impl Source for RecordGraph {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::unsupported(format!("{} returns edges in the order of the file", self.syntax.name())));
        }
        self.refuse_wrong()?;
        let rows = request.batch_rows;
        Ok(match request.tables {
            Tables::All => std::iter::once(self.part(true, true, false, rows)).chain(self.hyperedges(rows)).collect(),
            Tables::AllNodes | Tables::Nodes(0) => vec![self.part(true, false, false, rows)],
            Tables::NodeKeys(0) => vec![self.part(true, false, true, rows)],
            Tables::AllEdges | Tables::Edges(0) => vec![self.part(false, true, false, rows)],
            Tables::EdgeEnds(0) => vec![self.part(false, true, true, rows)],
            Tables::Rest => self.hyperedges(rows),
            _ => Vec::new(),
        })
    }

    fn about(&self) -> About {
        let recognised = self.recognised();
        let layout: Vec<String> = recognised.iter().map(|(what, fact)| format!("{what}: {fact}")).collect();
        let mut findings = Findings::keeping(NAMED);
        findings.merge(self.findings.clone());
        findings.merge(self.wrong.clone());
        self.set_aside.iter().for_each(|one| findings.push(one.rule, one.message.clone(), one.place.clone()));
        About {
            format: self.syntax.name().to_owned(),
            version: self.file.packing.word().to_owned(),
            files: 1,
            bytes: self.file.blob.size(),
            layout: layout.join(" · "),
            edge_layouts: Vec::new(),
            findings,
        }
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let NodeId::Key(key) = node else {
            return Err(Error::unsupported("nodes are looked up by id").hint("give the id of the node"));
        };
        if edge != 0 {
            return Err(Error::usage("there is a single edge table"));
        }
        self.refuse_wrong()?;
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
        self.set_aside.iter().for_each(|one| findings.push(one.rule, one.message.clone(), one.place.clone()));
        if !self.wrong.is_empty() {
            self.wrong_records(MOST)?.tell(findings);
            return Ok(());
        }
        self.find_parallel_edges(findings)?;
        // Values have been surveyed, but not converted to the types that a sidecar states.
        if self.options.shown.is_none() {
            return Ok(());
        }
        findings.note(part::read_all(self.scan(&Request::of(Tables::All))?)).map(|_| ())
    }
}
