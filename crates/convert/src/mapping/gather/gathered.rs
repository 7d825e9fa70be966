//! RDF shown as nodes with bags of properties.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Float32Array};
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::{Object, Quad, Quads, RDF_TYPE};
use isomorph_model::json::push_string;
use isomorph_model::label::LabelBuilder;
use isomorph_model::{
    About, Batch, EdgeBatch, EndForm, Graph, NodeBatch, NodeId, Part, Progress, Request, Side, Source, Tables, part,
    well_known,
};
use isomorph_storage::{Budget, Scratch};

use super::{Gathering, literal, rows};
use crate::mapping::lift::subjects::{Collecting, Said, Subjects};
use crate::mapping::reify::malformed;
use crate::mapping::view::edges_as;
use crate::progress::Silent;
use isomorph_model::part::shown;

/// Nodes in a batch.
const ROWS: usize = 1 << 13;

/// Stands for the predicate of a mention: no triple has it.
pub(super) const MENTIONED: &str = "";

/// Shows RDF as a bundled graph.
pub struct Gathered {
    inner: Arc<dyn Source>,
    record: Gathering,
    budget: Budget,
    subjects: OnceLock<Subjects>,
    /// Held by who sorts, so that nobody does it twice.
    sorting: Mutex<()>,
}

impl Gathered {
    /// Shows `inner`, which is `record.rdf`, as `record.bundled`. Nothing is read before it is asked for; then what is said of
    /// resources is sorted, within `budget`.
    pub fn new(inner: Arc<dyn Source>, record: &Gathering, budget: &Budget) -> Self {
        let (record, budget) = (record.clone(), budget.clone());
        Gathered { inner, record, budget, subjects: OnceLock::new(), sorting: Mutex::new(()) }
    }

    fn subjects(&self, progress: &dyn Progress) -> Result<&Subjects> {
        let _alone = self.sorting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(subjects) = self.subjects.get() {
            return Ok(subjects);
        }
        let subjects = self.collect(progress)?;
        Ok(self.subjects.get_or_init(|| subjects))
    }

    /// Sorts literals by their subjects, and who is mentioned with them.
    fn collect(&self, progress: &dyn Progress) -> Result<Subjects> {
        let mut subjects = Collecting::new(&self.budget, self.budget.available() / 2, &Scratch::new(None)?)?;
        let mut quads = Quads::new(self.inner.graph(), None);
        // The triples themselves are read when they are asked for, once.
        let mut parts = self.inner.scan(&Request::of(Tables::EdgeEnds(0)))?;
        parts.extend(self.inner.scan(&Request::of(Tables::Rest))?);
        progress.begin("resources", parts.iter().map(|part| part.rows()).sum());
        let mut last = String::new();
        for part in &mut parts {
            part.read(&mut |batch| {
                progress.advance(batch.rows() as u64)?;
                match &batch {
                    Batch::Edges(edges) => self.mention(edges, &mut last, &mut subjects),
                    Batch::Values(_) => quads.batch(&batch, &mut |quad| subjects.push(&quad)),
                    Batch::Groups(groups) if !self.record.lossy && !groups.keys.is_empty() => {
                        let name = groups.keys.as_string_opt::<i32>().map(|names| names.value(0)).unwrap_or_default();
                        Err(Error::new(Kind::WouldLose, format!("the graph {name} without triples would be lost"))
                            .hint("--lossy    write it without graphs that have no triples"))
                    }
                    _ => Ok(()),
                }
            })?;
        }
        progress.end();
        subjects.finish()
    }

    /// Takes down who triples speak of, and the classes that are labels. `last` is the subject that was mentioned last.
    fn mention(&self, edges: &EdgeBatch, last: &mut String, subjects: &mut Collecting) -> Result<()> {
        let mentioned = |subject| Quad { subject, predicate: MENTIONED, object: Object::Term(MENTIONED), graph: None };
        let classes = if self.record.labels { rows::classes(edges)? } else { None };
        let (from, to) = (rows::terms(&edges.source)?, rows::terms(&edges.target)?);
        for (row, (subject, object)) in from.iter().flatten().zip(to.iter().flatten()).enumerate() {
            if classes.as_ref().is_some_and(|classes| classes.value(row)) {
                subjects.push(&Quad { subject, predicate: RDF_TYPE, object: Object::Term(object), graph: None })?;
                continue;
            }
            // Triples often come by subject.
            if last != subject {
                subjects.push(&mentioned(subject))?;
                last.clear();
                last.push_str(subject);
            }
            subjects.push(&mentioned(object))?;
        }
        Ok(())
    }

    /// A triple's graph as a bag.
    fn edges(&self, batch: &EdgeBatch) -> Result<EdgeBatch> {
        let without;
        let batch = match self.record.labels {
            true => {
                without = rows::without_classes(batch)?;
                &without
            }
            false => batch,
        };
        let graphs = rows::graphs(batch);
        let bags = graphs.filter(|graphs| graphs.null_count() < graphs.len()).map(|graphs| {
            let mut bags = StringBuilder::with_capacity(graphs.len(), graphs.len() * 48);
            let mut bag = String::new();
            for graph in graphs {
                bag.clear();
                if let Some(graph) = graph {
                    bag.push('{');
                    push_string(&mut bag, well_known::GRAPH);
                    bag.push(':');
                    push_string(&mut bag, graph);
                    bag.push('}');
                }
                bags.append_option(graph.map(|_| &bag));
            }
            Arc::new(bags.finish()) as ArrayRef
        });
        let stated = self.record.bundled.edges.first().and_then(|ty| ty.properties.first());
        let stated = stated.filter(|_| self.record.is_flagged());
        let truths = stated.map(|truth| truths(batch.rows, &truth.data_type).map(Some)).transpose()?;
        Ok(EdgeBatch { properties: truths.into_iter().chain([bags]).collect(), ..batch.clone() })
    }
}

/// All resources.
pub(super) struct NodesPart<'a> {
    pub(super) subjects: &'a Subjects,
    pub(super) record: &'a Gathering,
}

/// Nodes that are being filled.
struct Nodes {
    keys: StringBuilder,
    bags: StringBuilder,
    rows: usize,
    start: u64,
    /// The type of truths, where nodes state them and that they are RDF.
    flagged: Option<DataType>,
    /// The node that is being told: its name, what is said of it by number of the predicate, and all of that as text.
    name: String,
    said: Vec<(u32, String)>,
    bag: String,
    classes: Vec<String>,
    labels: Option<LabelBuilder>,
}

impl Nodes {
    /// The node is told.
    fn close(&mut self, subjects: &Subjects, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        if self.name.is_empty() {
            return Ok(());
        }
        self.keys.append_value(&self.name);
        self.name.clear();
        // Values of one predicate may come from several graphs.
        self.said.sort_by_key(|(predicate, _)| *predicate);
        self.bag.clear();
        for several in self.said.chunk_by(|one, other| one.0 == other.0) {
            let Some((predicate, first)) = several.first() else { continue };
            self.bag.push(if self.bag.is_empty() { '{' } else { ',' });
            push_string(&mut self.bag, subjects.names.text(*predicate).unwrap_or_default());
            self.bag.push(':');
            if let [_] = several {
                self.bag.push_str(first);
                continue;
            }
            for (at, (_, value)) in several.iter().enumerate() {
                self.bag.push(if at == 0 { '[' } else { ',' });
                self.bag.push_str(value);
            }
            self.bag.push(']');
        }
        self.said.clear();
        if let Some(labels) = &mut self.labels {
            labels.push(self.classes.iter().map(String::as_str));
            self.classes.clear();
        }
        if self.bag.is_empty() {
            self.bags.append_null();
        } else {
            self.bag.push('}');
            self.bags.append_value(&self.bag);
        }
        self.rows += 1;
        if self.rows >= ROWS { self.flush(give) } else { Ok(()) }
    }

    fn flush(&mut self, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        if rows == 0 {
            return Ok(());
        }
        let flags: Vec<ArrayRef> = match &self.flagged {
            Some(truth) => vec![truths(rows, truth)?, Arc::new(BooleanArray::from(vec![true; rows]))],
            None => Vec::new(),
        };
        let keys: ArrayRef = Arc::new(self.keys.finish());
        let bags: ArrayRef = Arc::new(self.bags.finish());
        let start = self.start;
        self.start += rows as u64;
        let properties = flags.into_iter().chain([bags]).map(Some).collect();
        let labels = self.labels.as_mut().map(|labels| std::mem::take(labels).finish());
        give(Batch::Nodes(NodeBatch { ty: 0, start, numbers: None, rows, keys: Some(keys), labels, properties }))
    }
}

impl<'a> NodesPart<'a> {
    /// The part of a scan that it is.
    pub fn part(self) -> Box<dyn Part + 'a> {
        let NodesPart { record, subjects, .. } = self;
        let stated = record.bundled.nodes.first().and_then(|ty| ty.properties.first());
        let stated = stated.filter(|_| record.is_flagged());
        let open = move || {
            let nodes = Nodes {
                keys: StringBuilder::new(),
                bags: StringBuilder::new(),
                rows: 0,
                start: 0,
                flagged: stated.map(|truth| truth.data_type.clone()),
                name: String::new(),
                said: Vec::new(),
                bag: String::new(),
                classes: Vec::new(),
                labels: record.labels.then(LabelBuilder::default),
            };
            Ok((subjects.sorted.stream()?, nodes))
        };
        part::stepped(None, open, move |(stream, nodes), give| {
            let Some(batch) = stream.next_batch()? else {
                nodes.close(subjects, give)?;
                nodes.flush(give)?;
                return Ok(false);
            };
            let said = Said::of(&batch.payload)?;
            for row in 0..batch.other.len() {
                let (predicate, quad) = (said.predicate(row), said.quad(row, &subjects.names));
                if quad.subject != nodes.name {
                    nodes.close(subjects, give)?;
                    nodes.name.push_str(quad.subject);
                }
                match quad.object {
                    Object::Literal { .. } => {
                        let mut value = String::new();
                        literal::push(&mut value, &quad.object, quad.graph);
                        nodes.said.push((predicate, value));
                    }
                    Object::Term(MENTIONED) => {}
                    Object::Term(class) => nodes.classes.push(class.to_owned()),
                }
            }
            Ok(true)
        })
    }
}

impl Source for Gathered {
    fn graph(&self) -> &Graph {
        &self.record.bundled
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)?;
        self.subjects(progress).map(|_| ())
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let (nodes, edges) = match request.tables {
            Tables::All => (true, Some(Tables::AllEdges)),
            Tables::AllNodes | Tables::Nodes(_) | Tables::NodeKeys(_) => (true, None),
            edges @ (Tables::AllEdges | Tables::Edges(_) | Tables::EdgeEnds(_)) => (false, Some(edges)),
            Tables::Rest => (false, None),
        };
        let mut parts: Vec<Box<dyn Part + '_>> = Vec::new();
        if nodes {
            parts.push(NodesPart { subjects: self.subjects(&Silent)?, record: &self.record }.part());
        }
        if let Some(tables) = edges {
            for part in self.inner.scan(&request.for_tables(tables))? {
                parts.push(shown(part, |batch, take| match batch {
                    Batch::Edges(edges) => take(Batch::Edges(self.edges(&edges)?)),
                    _ => Ok(()),
                }));
            }
        }
        Ok(parts)
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        EndForm::Keys
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        Ok(edges_as(self.inner.neighbors(edge, node, side)?, |batch| self.edges(&batch)))
    }

    fn about(&self) -> About {
        self.inner.about()
    }
}

/// What is said in RDF is true.
pub(super) fn truths(rows: usize, data_type: &DataType) -> Result<ArrayRef> {
    let ones: ArrayRef = Arc::new(Float32Array::from_value(1.0, rows));
    arrow_cast::cast(&ones, data_type).map_err(malformed)
}
