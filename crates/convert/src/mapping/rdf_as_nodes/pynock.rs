//! RDF and NOCK as in pynock: every term is a node named by its text, every triple an edge.
//!
//! Datatypes, languages and graphs are lost in the forward direction; properties, labels, truths and nodes without
//! edges on the way back: there is no inverse. It is for comparisons with pynock, and for tools that expect its files.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use isomorph_error::{Error, Result};
use isomorph_model::batch::ValueBatch;
use isomorph_model::faces::{description, push_encoded};
use isomorph_model::{
    Batch, EdgeBatch, EndForm, Ends, Graph, NodeId, Part, Progress, Request, Side, Source, Tables, Take,
};
use isomorph_storage::Budget;

use super::nodes::{nodes, truths};
use super::{Gathering, nodes_and_edges, rows};
use crate::mapping::forward;
use crate::mapping::iri_map::is_iri;
use crate::mapping::subjects::{Rows as Saying, Said, Sorted, Subjects};
use crate::mapping::view::Rows;
use crate::progress::Silent;
use isomorph_model::part::shown;

/// A term in pynock's spelling: a blank node without `_:`.
fn spelt(term: &str) -> &str {
    term.strip_prefix("_:").unwrap_or(term)
}

fn all_spelt(terms: &StringArray) -> ArrayRef {
    Arc::new(terms.iter().map(|term| term.map(spelt)).collect::<StringArray>())
}

/// The error for a literal without text, which would be a node without a name.
fn nameless(owner: &str) -> Error {
    Error::unsupported(format!("the empty literal of {owner} would be a node without a name"))
        .hint("--rdf-mode rich    keeps literals")
}

/// Shows the default graph of RDF as pynock reads it.
pub struct Flattened {
    inner: Arc<dyn Source>,
    record: Gathering,
    budget: Budget,
    subjects: Sorted,
}

impl Flattened {
    /// Shows `inner`, which is `record.rdf`, as `record.bundled`. Nothing is read before the first request.
    pub fn new(inner: Arc<dyn Source>, record: &Gathering, budget: &Budget) -> Self {
        let (record, budget) = (record.clone(), budget.clone());
        Flattened { inner, record, budget, subjects: Sorted::default() }
    }

    fn subjects(&self, threads: usize, progress: &dyn Progress) -> Result<&Subjects> {
        let mention = |said: &mut Saying<'_>, batch| {
            let Some(edges) = self.edges(&batch)? else { return Ok(()) };
            let terms = [rows::terms(&edges.source)?, rows::terms(&edges.target)?];
            terms.into_iter().flatten().flatten().try_for_each(|term| said.push(term, Said::Mentioned))
        };
        self.subjects.get(self.inner.as_ref(), (&self.budget, threads), progress, mention)
    }

    /// Triples and literals as edges; `None` for everything else.
    fn edges(&self, batch: &Batch) -> Result<Option<EdgeBatch>> {
        let edges = match batch {
            Batch::Edges(edges) => edges.clone(),
            Batch::Values(values) => self.literals(values)?,
            _ => return Ok(None),
        };
        let edges = match rows::graphs(&edges) {
            None => edges,
            Some(graphs) => Rows::that(edges.rows, |row| graphs.is_null(row)).of_edges(&edges)?,
        };
        if let Some(row) = rows::terms(&edges.target)?.iter().position(|term| term == Some("")) {
            let owner = rows::terms(&edges.source)?;
            return Err(nameless(if owner.is_valid(row) { owner.value(row) } else { "" }));
        }
        let (source, target) = (all_spelt(rows::terms(&edges.source)?), all_spelt(rows::terms(&edges.target)?));
        let bundled = self.record.bundled.edges.first();
        let truth =
            bundled.and_then(|ty| ty.properties.first()).map(|property| truths(edges.rows, &property.data_type));
        Ok(Some(EdgeBatch {
            source: Ends::Keys(source),
            target: Ends::Keys(target),
            properties: vec![truth.transpose()?, None],
            ..edges
        }))
    }

    fn literals(&self, values: &ValueBatch) -> Result<EdgeBatch> {
        let table = self.record.rdf.values.get(values.table).ok_or_else(|| Error::usage("no such table of values"))?;
        let lexical = values.values.as_struct_opt().and_then(|literals| literals.column(0).as_string_opt::<i32>());
        let lexical = lexical.ok_or_else(|| Error::malformed("literals without a lexical form"))?;
        let relation = table.property.name.as_str();
        let properties = vec![values.qualifiers.first().cloned().flatten()];
        Ok(rows::between(rows::terms(&values.owner)?.clone(), relation, lexical.clone(), properties))
    }
}

impl Source for Flattened {
    forward!(inner: about);

    fn graph(&self) -> &Graph {
        &self.record.bundled
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)?;
        self.subjects(threads, progress).map(|_| ())
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let (with_nodes, edges) = nodes_and_edges(request.tables);
        let mut parts = match with_nodes {
            true => nodes(self.subjects(1, &Silent)?, &self.record)?,
            false => Vec::new(),
        };
        for tables in edges.into_iter().flat_map(|edges| [edges, Tables::Rest]) {
            for part in self.inner.scan(&request.for_tables(tables))? {
                parts.push(shown(part, |batch, take: Take<'_>| match self.edges(&batch)? {
                    Some(edges) if edges.rows > 0 => take(Batch::Edges(edges)),
                    _ => Ok(()),
                }));
            }
        }
        Ok(parts)
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        EndForm::Keys
    }

    fn neighbors(&self, _edge: usize, _node: NodeId<'_>, _side: Side) -> Result<Box<dyn Part + '_>> {
        Err(Error::unsupported("look-ups are not supported in RDF of the mode pynock"))
    }
}

/// Shows NOCK as pynock exports it to RDF: a triple of three IRIs for each edge.
pub struct Exported {
    inner: Arc<dyn Source>,
    rdf: Graph,
    base: String,
}

impl Exported {
    /// Shows the edges of `inner`, a bundled graph. Names that are not IRIs are appended to `base`.
    pub fn new(inner: Arc<dyn Source>, base: &str) -> Self {
        Exported { inner, rdf: description(None, []), base: base.to_owned() }
    }

    fn iris(&self, names: &StringArray) -> StringArray {
        let mut iris = StringBuilder::with_capacity(names.len(), names.len() * 32);
        for name in names {
            match name {
                Some(name) if !is_iri(name) => {
                    let mut iri = self.base.clone();
                    push_encoded(&mut iri, name);
                    iris.append_value(iri);
                }
                name => iris.append_option(name),
            }
        }
        iris.finish()
    }

    fn edges(&self, batch: &EdgeBatch) -> Result<EdgeBatch> {
        let relations = batch.relations.clone().map(|mut relations| {
            relations.names = self.iris(&relations.names);
            relations
        });
        let ends = |ends: &Ends| rows::terms(ends).map(|names| Ends::Keys(Arc::new(self.iris(names))));
        let (source, target) = (ends(&batch.source)?, ends(&batch.target)?);
        Ok(EdgeBatch { ty: 0, relations, source, target, properties: vec![None], ..batch.clone() })
    }
}

impl Source for Exported {
    forward!(inner: prepare about);

    fn graph(&self) -> &Graph {
        &self.rdf
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let (_, Some(tables)) = nodes_and_edges(request.tables) else { return Ok(Vec::new()) };
        let parts = self.inner.scan(&request.for_tables(tables))?;
        let exported = |part| {
            shown(part, |batch, take: Take<'_>| match batch {
                Batch::Edges(edges) => take(Batch::Edges(self.edges(&edges)?)),
                _ => Ok(()),
            })
        };
        Ok(parts.into_iter().map(exported).collect())
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        EndForm::Keys
    }

    fn neighbors(&self, _edge: usize, _node: NodeId<'_>, _side: Side) -> Result<Box<dyn Part + '_>> {
        Err(Error::unsupported("look-ups are not supported in RDF of the mode pynock"))
    }
}
