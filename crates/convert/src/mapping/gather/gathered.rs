//! RDF shown as nodes with bags of properties.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Float32Array, StringArray};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::{Object, Quad, Quads};
use isomorph_model::json::push_string;
use isomorph_model::{
    About, Batch, EdgeBatch, EndForm, Ends, Graph, NodeBatch, NodeId, Part, Progress, Request, Side, Source, Tables,
    well_known,
};
use isomorph_storage::{Budget, Scratch};

use super::{Gathering, literal};
use crate::mapping::lift::subjects::{Collecting, Said, Subjects};
use crate::mapping::view::{edges_shown, shown};
use crate::progress::Silent;

/// Nodes in a batch.
const ROWS: usize = 1 << 13;

/// Stands for the predicate of a mention: no triple has it.
const MENTIONED: &str = "";

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
        let mut take = |quad: Quad<'_>| {
            let mention = Object::Term(MENTIONED);
            let mentioned = |subject| Quad { subject, predicate: MENTIONED, object: mention, graph: None };
            match quad.object {
                Object::Literal { .. } => subjects.push(&quad),
                Object::Term(object) => {
                    // Triples come by subject.
                    if last != quad.subject {
                        subjects.push(&mentioned(quad.subject))?;
                        last.clear();
                        last.push_str(quad.subject);
                    }
                    subjects.push(&mentioned(object))
                }
            }
        };
        for part in &parts {
            part.read(&mut |batch| {
                progress.advance(batch.rows() as u64)?;
                match &batch {
                    Batch::Edges(_) | Batch::Values(_) => quads.batch(&batch, &mut take),
                    Batch::Groups(groups) if !self.record.lossy && !groups.keys.is_empty() => {
                        let name = groups.keys.as_string_opt::<i32>().map(|names| names.value(0)).unwrap_or_default();
                        Err(Error::new(Kind::WouldLose, format!("the graph {name} without triples would be lost"))
                            .hint("--lossy    write it without graphs that have no triples"))
                    }
                    _ => Ok(()),
                }
            })?;
        }
        quads.finish(&mut take)?;
        progress.end();
        subjects.finish()
    }

    /// A triple's graph as a bag.
    fn edges(&self, batch: &EdgeBatch) -> EdgeBatch {
        let graphs = batch.properties.first().and_then(Option::as_ref).and_then(|column| column.as_string_opt::<i32>());
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
        let truths = self.record.is_flagged().then(|| Some(truths(batch.rows)));
        EdgeBatch { properties: truths.into_iter().chain([bags]).collect(), ..batch.clone() }
    }
}

/// All resources.
struct NodesPart<'a> {
    subjects: &'a Subjects,
    flagged: bool,
}

/// Nodes that are being filled.
struct Nodes {
    keys: StringBuilder,
    bags: StringBuilder,
    rows: usize,
    start: u64,
    flagged: bool,
    /// The node that is being told: its name, what is said of it by number of the predicate, and all of that as text.
    name: String,
    said: Vec<(u32, String)>,
    bag: String,
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
        let flags: Vec<ArrayRef> = match self.flagged {
            true => vec![truths(rows), Arc::new(BooleanArray::from(vec![true; rows]))],
            false => Vec::new(),
        };
        let keys: ArrayRef = Arc::new(self.keys.finish());
        let bags: ArrayRef = Arc::new(self.bags.finish());
        let start = self.start;
        self.start += rows as u64;
        let properties = flags.into_iter().chain([bags]).map(Some).collect();
        give(Batch::Nodes(NodeBatch { ty: 0, start, rows, keys: Some(keys), labels: None, properties }))
    }
}

impl Part for NodesPart<'_> {
    fn read(&self, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let mut nodes = Nodes {
            keys: StringBuilder::new(),
            bags: StringBuilder::new(),
            rows: 0,
            start: 0,
            flagged: self.flagged,
            name: String::new(),
            said: Vec::new(),
            bag: String::new(),
        };
        let mut stream = self.subjects.sorted.stream()?;
        while let Some(batch) = stream.next_batch()? {
            let said = Said::of(&batch.payload)?;
            for row in 0..batch.other.len() {
                let (predicate, quad) = (said.predicate(row), said.quad(row, &self.subjects.names));
                if quad.subject != nodes.name {
                    nodes.close(self.subjects, give)?;
                    nodes.name.push_str(quad.subject);
                }
                if let Object::Literal { .. } = quad.object {
                    let mut value = String::new();
                    literal::push(&mut value, &quad.object, quad.graph);
                    nodes.said.push((predicate, value));
                }
            }
        }
        nodes.close(self.subjects, give)?;
        nodes.flush(give)
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
            let flagged = self.record.is_flagged();
            parts.push(Box::new(NodesPart { subjects: self.subjects(&Silent)?, flagged }));
        }
        if let Some(tables) = edges {
            for part in self.inner.scan(&Request { tables, ..*request })? {
                parts.push(shown(part, |batch, take| match batch {
                    Batch::Edges(edges) => take(Batch::Edges(self.edges(&edges))),
                    _ => Ok(()),
                }));
            }
        }
        Ok(parts)
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        EndForm::Keys
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Vec<EdgeBatch>> {
        edges_shown(&self.inner.neighbors(edge, node, side)?, |batch, take| take(Batch::Edges(self.edges(batch))))
    }

    fn about(&self) -> About {
        self.inner.about()
    }
}

/// What is said in RDF is true.
fn truths(rows: usize) -> ArrayRef {
    Arc::new(Float32Array::from_value(1.0, rows))
}

/// Keys of ends, which are texts in both shapes.
pub(super) fn texts(ends: &Ends) -> Option<&StringArray> {
    match ends {
        Ends::Keys(keys) => keys.as_string_opt::<i32>(),
        Ends::Rows(_) => None,
    }
}
