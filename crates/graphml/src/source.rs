//! A GraphML file as a model source.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray};
use arrow_schema::DataType;
use isomorph_error::{Error, Findings, Kind, Result};
use isomorph_model::json::push_string;
use isomorph_model::schema::{DocumentBody, HyperedgeType};
use isomorph_model::{
    About, Batch, Direction, Document, EdgeBatch, EdgeOrder, EdgeType, Ends, Graph, Key, NodeBatch, NodeId, NodeType,
    Part, Request, Side, Source, Tables, part,
};
use isomorph_storage::{Budget, Location, Scratch};
use isomorph_tables::PackedFile;

use crate::columns::Column;
use crate::hyperedges;
use crate::keys::{float, integer, truth};
use crate::parse::{self, Item, Parser};
use crate::survey::{Survey, Table, said_by, survey};
use crate::{rules, validate};

/// The names of the node type, the edge type and the hyperedge type.
pub(crate) const NODE: &str = "node";
pub(crate) const EDGE: &str = "edge";
const HYPEREDGE: &str = "hyperedge";

/// The document with the data of the graph.
pub(crate) const OF_GRAPH: &str = "graph";

/// Number of first bytes that are inspected.
const LOOK: u64 = 16 << 10;

/// Maximum number of rows in a batch.
const ROWS: usize = 1 << 16;

/// Options for opening a file.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Memory for checks.
    pub budget: Budget,
    /// Temporary files.
    pub scratch: Option<Scratch>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions { budget: Budget::of_this_machine(), scratch: None }
    }
}

/// Returns whether the file at `location` begins like GraphML.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn detect(location: &Location) -> Result<bool> {
    if location.as_path().is_some_and(std::path::Path::is_dir) {
        return Ok(false);
    }
    let file = PackedFile::open(location)?;
    // A file that cannot be decompressed belongs to another format.
    let Ok(begin) = file.begin(LOOK) else { return Ok(false) };
    Ok(parse::begins(&begin))
}

/// An opened GraphML file.
///
/// ```no_run
/// use isomorph_graphml::{GraphMl, OpenOptions};
/// use isomorph_model::Source;
/// use isomorph_storage::Location;
///
/// let graph = GraphMl::open(&Location::parse("graph.graphml")?, OpenOptions::default())?;
/// println!("{:?} nodes", graph.graph().node_rows());
/// # Ok::<(), isomorph_error::Error>(())
/// ```
pub struct GraphMl {
    pub(crate) file: PackedFile,
    pub(crate) survey: Survey,
    pub(crate) options: OpenOptions,
    graph: Graph,
    findings: Findings,
}

impl GraphMl {
    /// Opens the file at `location`, and reads it once.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is not GraphML.
    pub fn open(location: &Location, options: OpenOptions) -> Result<GraphMl> {
        let file = PackedFile::open(location)?;
        let survey = survey(&file)?;
        let mut node = NodeType::new(NODE, Key::utf8());
        (node.rows, node.properties) = (Some(survey.nodes.rows), survey.nodes.properties.clone());
        let mut edge = EdgeType::new(0, EDGE, 0);
        (edge.rows, edge.properties) = (Some(survey.edges.rows), survey.edges.properties.clone());
        edge.direction = match (survey.by_row, survey.directed) {
            (true, _) => Direction::PerRow,
            (_, true) => Direction::Directed,
            (_, false) => Direction::Undirected,
        };
        let mut graph = Graph { nodes: vec![node], edges: vec![edge], ..Graph::default() };
        graph.name = Some(survey.graph_id.clone()).filter(|id| !id.is_empty());
        if survey.hyperedges.rows > 0 {
            graph.hyperedges.push(HyperedgeType {
                name: HYPEREDGE.to_owned(),
                key: Key::utf8(),
                ends: 0,
                direction: match survey.directed_hyperedges {
                    [_, 0] => Direction::Directed,
                    [0, _] => Direction::Undirected,
                    _ => Direction::PerRow,
                },
                layered: false,
                properties: survey.hyperedges.properties.clone(),
                rows: Some(survey.hyperedges.rows),
            });
        }
        graph.documents.extend(document(&survey.graph_data));
        let mut findings = Findings::keeping(8);
        for key in &survey.keys.all {
            if let Some(word) = &key.foreign {
                let message = format!("{} has type {word:?}, which is not one of GraphML's", key.name);
                findings.push(&rules::TYPE, message, file.blob.place());
            }
        }
        if survey.passed_over > 0 {
            let message = format!("{} ports, locators and descriptions are not read", survey.passed_over);
            findings.push(&rules::PORT, message, file.blob.place());
        }
        if let Some((name, count)) = &survey.unknown {
            let message = format!("{count} elements are not part of GraphML and are not read; the first is {name}");
            findings.push(&rules::ELEMENT, message, file.blob.place());
        }
        if let Some((name, place, count)) = &survey.repeated {
            let message = format!("{count} values are followed by another for the same key; the first is of {name:?}");
            findings.push(&rules::REPEATED, message, place.clone());
        }
        if survey.lacks_default {
            findings.push(
                &rules::DIRECTION,
                "the graph has no edgedefault: its edges are undirected",
                file.blob.place(),
            );
        }
        for (of, table) in [("node", &survey.nodes), ("edge", &survey.edges), ("hyperedge", &survey.hyperedges)] {
            for (name, own) in &table.renamed {
                let message = format!(
                    "two keys for {of} have the name {name:?}; the values of the second become the property {own}"
                );
                findings.push(&rules::NAME, message, file.blob.place());
            }
        }
        Ok(GraphMl { file, survey, options, graph, findings })
    }

    /// Returns nodes and edges in the order of the file.
    fn part(&self, nodes: bool, edges: bool, bare: bool, rows: usize) -> Box<dyn Part + '_> {
        let count = |wanted: bool, table: &Table| if wanted { table.rows } else { 0 };
        let all = count(nodes, &self.survey.nodes) + count(edges, &self.survey.edges);
        let rows = rows.clamp(1, ROWS);
        let open = move || {
            let parser = Parser::new(&self.file)?;
            let nodes = nodes.then(|| Elements::new(&self.survey.nodes, Item::Node, bare));
            let edges = edges.then(|| Elements::new(&self.survey.edges, Item::Edge, bare));
            Ok((parser, nodes, edges, 0u64))
        };
        part::stepped(Some(all), open, move |(parser, nodes, edges, start), take| {
            let mut more = true;
            while more && [&*nodes, &*edges].into_iter().flatten().all(|own| own.rows < rows) {
                match parser.next()? {
                    Some(Item::Node) => nodes.as_mut().map_or(Ok(()), |own| own.push(parser))?,
                    Some(Item::Edge) => edges.as_mut().map_or(Ok(()), |own| own.push(parser))?,
                    Some(_) => {}
                    None => more = false,
                }
            }
            if let Some(own) = nodes.as_mut().filter(|own| own.rows > 0) {
                let batch = own.nodes(*start);
                *start += batch.rows as u64;
                take(Batch::Nodes(batch))?;
            }
            if let Some(own) = edges.as_mut().filter(|own| own.rows > 0) {
                take(Batch::Edges(own.edges(self.survey.by_row)))?;
            }
            Ok(more)
        })
    }

    fn has(&self, node: &str) -> Result<bool> {
        for batch in self.part(true, false, true, ROWS) {
            let Batch::Nodes(nodes) = batch? else { continue };
            if nodes.keys.as_ref().is_some_and(|keys| equal_to(keys, node).true_count() > 0) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns a mask of the keys that equal `node`.
fn equal_to(keys: &ArrayRef, node: &str) -> BooleanArray {
    let keys = keys.as_string_opt::<i32>();
    keys.map(|keys| keys.iter().map(|key| Some(key == Some(node))).collect())
        .unwrap_or_else(|| BooleanArray::from(Vec::<bool>::new()))
}

/// Returns the data of the graph, as a JSON object.
fn document(data: &[(String, DataType, String)]) -> Option<Document> {
    if data.is_empty() {
        return None;
    }
    let mut json = String::from("{");
    for (name, data_type, text) in data {
        if json.len() > 1 {
            json.push(',');
        }
        push_string(&mut json, name);
        json.push(':');
        let number = match data_type {
            DataType::Boolean => truth(text).map(|value| value.to_string()),
            DataType::Int32 | DataType::Int64 => integer(text).map(|value| value.to_string()),
            DataType::Float64 => float(text).filter(|value| value.is_finite()).map(|value| format!("{value:?}")),
            _ => None,
        };
        match number {
            Some(number) => json.push_str(&number),
            None => push_string(&mut json, text),
        }
    }
    json.push('}');
    Some(Document { name: OF_GRAPH.to_owned(), body: DocumentBody::Json(json) })
}

/// Elements of one kind that are collected for a batch.
struct Elements<'a> {
    table: &'a Table,
    of: Item,
    bare: bool,
    rows: usize,
    ids: [StringBuilder; 2],
    directed: BooleanBuilder,
    columns: Vec<Column>,
}

impl<'a> Elements<'a> {
    fn new(table: &'a Table, of: Item, bare: bool) -> Self {
        let columns = table.properties.iter().map(|property| Column::new(&property.data_type)).collect();
        let ids = [StringBuilder::new(), StringBuilder::new()];
        Elements { table, of, bare, rows: 0, ids, directed: BooleanBuilder::new(), columns }
    }

    fn push(&mut self, parser: &Parser) -> Result<()> {
        self.rows += 1;
        let element = &parser.element;
        if self.of == Item::Node {
            self.ids[0].append_value(&element.id);
        } else {
            self.ids[0].append_value(&element.source);
            self.ids[1].append_value(&element.target);
            self.directed.append_value(element.directed.unwrap_or(parser.directed));
        }
        if self.bare {
            return Ok(());
        }
        push_data(&mut self.columns, self.table, parser)
    }

    fn properties(&mut self) -> Vec<Option<ArrayRef>> {
        let bare = self.bare;
        self.columns.iter_mut().map(|column| (!bare).then(|| column.finish())).collect()
    }

    fn nodes(&mut self, start: u64) -> NodeBatch {
        let rows = std::mem::take(&mut self.rows);
        let keys: ArrayRef = Arc::new(self.ids[0].finish());
        let properties = self.properties();
        NodeBatch { ty: 0, start, numbers: None, rows, keys: Some(keys), labels: None, properties }
    }

    fn edges(&mut self, by_row: bool) -> EdgeBatch {
        let rows = std::mem::take(&mut self.rows);
        let [source, target] = self.ids.each_mut().map(|ids| Ends::Keys(Arc::new(ids.finish())));
        let directed = Some(self.directed.finish()).filter(|_| by_row);
        let (ty, relations, layers, keys, properties) = (0, None, None, None, self.properties());
        EdgeBatch { ty, rows, relations, source, target, layers, directed, keys, properties }
    }
}

/// Appends the data of the current element to the columns.
///
/// # Errors
/// Returns an error if a value has another type: the file has changed.
pub(crate) fn push_data(columns: &mut [Column], table: &Table, parser: &Parser) -> Result<()> {
    for (column, key) in columns.iter_mut().zip(&table.keys) {
        let text = match key.as_slice() {
            [_, ..] => said_by(key, parser),
            [] => parser.element.has_id.then_some(parser.element.id.as_str()),
        };
        match text {
            Some(text) if column.push(text) => {}
            Some(_) => return Err(parser.wrong(&rules::VALUE, "a value does not have its type")),
            None => column.push_null(),
        }
    }
    Ok(())
}

impl Source for GraphMl {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::unsupported("a GraphML file returns edges in the order of the file"));
        }
        let rows = request.batch_rows;
        Ok(match request.tables {
            Tables::All => {
                std::iter::once(self.part(true, true, false, rows)).chain(hyperedges::parts(self, rows)).collect()
            }
            Tables::AllNodes | Tables::Nodes(0) => vec![self.part(true, false, false, rows)],
            Tables::NodeKeys(0) => vec![self.part(true, false, true, rows)],
            Tables::AllEdges | Tables::Edges(0) => vec![self.part(false, true, false, rows)],
            Tables::EdgeEnds(0) => vec![self.part(false, true, true, rows)],
            Tables::Rest => hyperedges::parts(self, rows),
            _ => Vec::new(),
        })
    }

    fn about(&self) -> About {
        let default = if self.survey.directed { "directed" } else { "undirected" };
        let keys = self.survey.keys.all.len();
        About {
            format: "GraphML".to_owned(),
            version: self.file.packing.word().to_owned(),
            files: 1,
            bytes: self.file.blob.size(),
            layout: format!("edges {default} by default · {keys} key{}", if keys == 1 { "" } else { "s" }),
            edge_layouts: Vec::new(),
            findings: self.findings.clone(),
        }
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let NodeId::Key(key) = node else {
            return Err(Error::unsupported("GraphML nodes are looked up by id").hint("give the id of the node"));
        };
        if edge != 0 {
            return Err(Error::usage("GraphML has a single edge table"));
        }
        if !self.has(key)? {
            return Err(Error::new(Kind::NotFound, format!("there is no node {key}")));
        }
        let key = key.to_owned();
        Ok(part::shown(self.part(false, true, false, ROWS), move |batch, take| {
            let Batch::Edges(edges) = batch else { return Ok(()) };
            let ends = if side == Side::Out { &edges.source } else { &edges.target };
            let Ends::Keys(keys) = ends else { return Ok(()) };
            let mut row = 0;
            for run in equal_to(keys, &key).iter().collect::<Vec<_>>().chunk_by(|left, right| left == right) {
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
        validate::validate(self, findings)
    }
}
