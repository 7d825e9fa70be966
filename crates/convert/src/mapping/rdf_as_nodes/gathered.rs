//! Shows RDF as nodes with bags of properties.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::batch::ValueBatch;
use isomorph_model::faces::Object;
use isomorph_model::json::push_string;
use isomorph_model::part::shown;
use isomorph_model::{
    Batch, Cost, EdgeBatch, EndForm, Graph, Narrowing, NodeId, Part, Progress, Request, Side, Source, Tables,
    well_known, xsd,
};
use isomorph_storage::{Budget, Resources};

use super::nodes::{nodes, truths, unnumbered_nodes};
use super::{Gathering, literal, nodes_and_edges, rows};
use crate::digests::Digested;
use crate::mapping::forward;
use crate::mapping::subjects::{Rows, Said, Sorted, Subjects};
use crate::mapping::view::edges_as;
use crate::options::Typing;
use crate::parallel::Pass;
use crate::progress::Silent;
use crate::running::Running;
use crate::survey::Survey;

/// Shows RDF as a bundled graph.
pub struct Gathered {
    inner: Arc<dyn Source>,
    record: Gathering,
    budget: Budget,
    subjects: Sorted,
}

impl std::fmt::Debug for Gathered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gathered").field("record", &self.record).finish_non_exhaustive()
    }
}

impl Gathered {
    /// Shows `inner`, which is `record.rdf`, as `record.bundled`. Nothing is read before the first request; then the
    /// data of resources is sorted, within `budget`.
    pub fn new(inner: Arc<dyn Source>, record: &Gathering, budget: &Budget) -> Self {
        let (record, budget) = (record.clone(), budget.clone());
        Gathered { inner, record, budget, subjects: Sorted::default() }
    }

    /// The same, but the data of resources is sorted at once, together with the digests of the RDF and, if `typing` is
    /// given, a survey of the result. The source is read once for all of this.
    ///
    /// # Errors
    /// If the source cannot be read or is invalid, or would lose graphs without triples; also if there is no space for
    /// temporary files.
    pub(crate) fn read(
        inner: &Arc<dyn Source>,
        record: &Gathering,
        typing: Option<Typing>,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<(Self, Digested, Option<Survey>)> {
        let mut gathered = Gathered::new(Arc::clone(inner), record, &resources.budget);
        inner.prepare(resources.threads, progress)?;
        let running = Running::new(inner.as_ref(), resources)?;
        let parts = inner.scan(&Request::of(Tables::All))?;
        let new = || (running.state(), typing.map(Survey::new));
        let (subjects, states) = Subjects::collect(parts, resources, progress, new, |(state, survey), rows, batch| {
            running.add(state, &batch)?;
            if let (Some(survey), Batch::Edges(edges)) = (survey, &batch) {
                survey.see(&record.bundled, &Batch::Edges(gathered.edges(edges)?))?;
            }
            gathered.take(&batch, rows)
        })?;
        let mut survey = typing.map(Survey::new);
        for (state, found) in states {
            running.merge(state);
            survey.iter_mut().zip(found).for_each(|(survey, found)| survey.merge(found));
        }
        let digested = running.finish()?;
        if let (Some(survey), Some(typing)) = (&mut survey, typing) {
            let parts = unnumbered_nodes(&subjects, record, resources.threads)?;
            let pass = Pass::new(parts, "survey", resources.threads, progress);
            let found = pass.fold(|| Survey::new(typing), |survey, _, batch| survey.see(&record.bundled, &batch))?;
            found.into_iter().for_each(|found| survey.merge(found));
        }
        gathered.subjects = subjects.into();
        Ok((gathered, digested, survey))
    }

    fn subjects(&self, threads: usize, progress: &dyn Progress) -> Result<&Subjects> {
        let take = |rows: &mut Rows<'_>, batch| self.take(&batch, rows);
        self.subjects.get(self.inner.as_ref(), (&self.budget, threads), progress, take)
    }

    /// Collects the data about resources in a batch.
    fn take(&self, batch: &Batch, rows: &mut Rows<'_>) -> Result<()> {
        match batch {
            Batch::Edges(edges) => self.mention(edges, rows),
            Batch::Values(values) => self.values(values, rows),
            Batch::Groups(groups) if !self.record.lossy && !groups.keys.is_empty() => {
                let name = groups.keys.as_string_opt::<i32>().map(|names| names.value(0)).unwrap_or_default();
                Err(Error::new(Kind::WouldLose, format!("the graph {name} without triples would be lost"))
                    .hint("--lossy    write it without graphs that have no triples"))
            }
            _ => Ok(()),
        }
    }

    /// Collects the resources that triples mention, and the classes that are labels.
    fn mention(&self, edges: &EdgeBatch, said: &mut Rows<'_>) -> Result<()> {
        let classes = if self.record.labels { rows::classes(edges)? } else { None };
        let (from, to) = (rows::terms(&edges.source)?, rows::terms(&edges.target)?);
        let mut last = None;
        for (row, (subject, object)) in from.iter().flatten().zip(to.iter().flatten()).enumerate() {
            if classes.as_ref().is_some_and(|classes| classes.value(row)) {
                said.push(subject, Said::Class(object))?;
                continue;
            }
            // Triples are often ordered by subject.
            if last != Some(subject) {
                said.push(subject, Said::Mentioned)?;
                last = Some(subject);
            }
            said.push(object, Said::Mentioned)?;
        }
        Ok(())
    }

    /// Collects the literals of one predicate, as JSON.
    fn values(&self, batch: &ValueBatch, said: &mut Rows<'_>) -> Result<()> {
        let misfit = || Error::malformed("literals are not text");
        let predicate = u32::try_from(batch.table).map_err(|_| misfit())?;
        let subjects = rows::terms(&batch.owner)?;
        let parts = batch.values.as_struct_opt().ok_or_else(misfit)?;
        let texts = |at: usize| parts.columns().get(at).and_then(|part| part.as_string_opt::<i32>()).ok_or_else(misfit);
        let parts = [texts(0)?, texts(1)?, texts(2)?, texts(3)?];
        let graphs = batch.qualifiers.first().and_then(Option::as_ref).and_then(|graphs| graphs.as_string_opt::<i32>());
        let mut value = String::new();
        for (row, subject) in subjects.iter().enumerate() {
            let Some(subject) = subject else { continue };
            let [lexical, datatype, language, direction] =
                parts.map(|part| part.is_valid(row).then(|| part.value(row)));
            let (lexical, datatype) = (lexical.unwrap_or_default(), datatype.unwrap_or(xsd::STRING));
            let graph = graphs.filter(|graphs| graphs.is_valid(row)).map(|graphs| graphs.value(row));
            value.clear();
            literal::push(&mut value, &Object::Literal { lexical, datatype, language, direction }, graph);
            said.push(subject, Said::Value(predicate, &value))?;
        }
        Ok(())
    }

    /// All columns of the triples that may be wanted: subjects, predicates and objects have the same values.
    fn triples(&self, wanted: &Narrowing) -> Narrowing {
        let columns = self.inner.graph().edges.first().map_or(0, |ty| ty.properties.len());
        let all = Narrowing { properties: (0..columns).collect(), ..Narrowing::least() };
        let names = [Narrowing::SOURCE, Narrowing::TARGET, Narrowing::RELATION];
        all.with_filters_of(wanted, &mut |name| names.contains(&name).then(|| name.to_owned()))
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
        let truths = self.record.truth_of_edges().map(|truth| truths(batch.rows, truth).map(Some)).transpose()?;
        Ok(EdgeBatch { properties: truths.into_iter().chain([bags]).collect(), ..batch.clone() })
    }
}

impl Source for Gathered {
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
        if let Some(tables) = edges {
            let inner = request.for_tables(tables);
            let inner = match request.narrowing() {
                Some(wanted) => inner.narrowed(self.triples(wanted)),
                None => inner,
            };
            for part in self.inner.scan(&inner)? {
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

    fn look_up_cost(&self, tables: Tables, column: &str) -> Cost {
        match (tables, column) {
            (Tables::Edges(_) | Tables::EdgeEnds(_), Narrowing::SOURCE | Narrowing::TARGET) => {
                self.inner.look_up_cost(tables, column)
            }
            _ => Cost::pass(None),
        }
    }
}
