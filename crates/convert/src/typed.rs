//! Graphs whose format declares no types, shown with the types and columns that a survey finds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use isomorph_error::{Error, Kind, Result};
use isomorph_model::statistics::{Known, Statistics};
use isomorph_model::{LabelVocabulary, Source, Tables};
use isomorph_storage::Resources;

use crate::mapping::{
    Bundling, Completed, Completion, Divided, Gathered, Gathering, Labels, NameRules, NodeTypes, Parted, Parting,
    Relating, TERM, TypesFrom, forward,
};
use crate::open::Opened;
use crate::options::Typing;
use crate::progress::Progress;
use crate::survey;
use crate::traits::Shape;

/// How a graph without declared types is given types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TypedOptions {
    /// How many columns, labels and relations there may be.
    pub typing: Typing,
    /// The most rows that one pass of the survey may read; without it there is no limit.
    pub most_rows: Option<u64>,
}

impl Opened {
    /// The graph with declared types, as a conversion to GraphAr with `--node-type-from label` reads it: a node type for each label (NOCK) or class
    /// (RDF), of several the first by its bytes; an edge type for each relation between two node types; and a column for each property,
    /// which holds JSON where values have several types. Properties keep their names; one that a column of the format has as well is called `bag.NAME`. If there
    /// are too many labels or types, all nodes have one type. A graph whose format declares types is returned as it is, with edge types for the
    /// relations that edges of DeepGNN name.
    ///
    /// A survey reads nodes and edges, and what types need for their ends: two to three passes, which `progress` announces and can cancel. Its
    /// result is kept in memory: 10 bytes for each node, within the budget or in a temporary file. What is said of resources in RDF is sorted.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if the survey reads more than `options.most_rows` rows; otherwise an error if the graph cannot be read or is not sound.
    pub fn typed(
        &self,
        options: &TypedOptions,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Arc<dyn Source>> {
        let limited = options.most_rows.map(|most| RowLimit { progress, most, read: AtomicU64::new(0) });
        let progress: &dyn Progress = match &limited {
            Some(limited) => limited,
            None => progress,
        };
        let typed = self.surveyed(options, resources, progress)?;
        if Arc::ptr_eq(&typed, &self.graph) {
            return Ok(typed);
        }
        Ok(Arc::new(RowsCounted { inner: typed }))
    }

    fn surveyed(
        &self,
        options: &TypedOptions,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Arc<dyn Source>> {
        let format = self.format_of_graph();
        match format.shape() {
            Shape::Typed if !Relating::is_needed(self.graph.graph()) => Ok(Arc::clone(&self.graph)),
            Shape::Typed => self.by_relation(options.typing, resources, progress),
            Shape::Bundled => {
                let survey = survey::read(self.graph.as_ref(), options.typing, resources, progress)?;
                let rules = format.name_rules();
                let bundling = Bundling::surveyed(self.graph.graph(), &survey, options.typing, &rules)?;
                by_label(Arc::clone(&self.graph), &bundling.with_own_names(), &rules, resources, progress)
            }
            Shape::Triples => {
                let record = Gathering::of(self.graph.graph(), false, true, true)?;
                let typing = Some(options.typing);
                let (gathered, _, survey) = Gathered::read(&self.graph, &record, typing, resources, progress)?;
                let rules = NameRules { key: TERM, ..format.name_rules() };
                let bundling =
                    Bundling::surveyed(&record.bundled, &survey.unwrap_or_default(), options.typing, &rules)?;
                by_label(Arc::new(gathered), &bundling.with_own_names(), &rules, resources, progress)
            }
        }
    }

    /// Edge types for the relations that edges name, and nodes for the ends that have none.
    fn by_relation(&self, typing: Typing, resources: &Resources, progress: &dyn Progress) -> Result<Arc<dyn Source>> {
        self.graph.prepare(resources.threads, progress)?;
        let mut source = Arc::clone(&self.graph);
        if let Some(record) = Completion::needed(source.as_ref(), self.sidecar.is_some(), resources, progress)? {
            source = Arc::new(Completed::new(source, &record)?);
        }
        let survey = survey::read(source.as_ref(), typing, resources, progress)?;
        let record = Relating::surveyed(source.graph(), &survey)?;
        Ok(Arc::new(Divided::of(source, record.layout())?))
    }
}

/// The types of `bundling`, and node types for labels if nodes have some.
fn by_label(
    bundled: Arc<dyn Source>,
    bundling: &Bundling,
    rules: &NameRules,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Arc<dyn Source>> {
    let typed = Arc::new(Divided::of(bundled, bundling.layout())?);
    if bundling.typed.nodes.iter().all(|ty| ty.labels == LabelVocabulary::None) {
        return Ok(typed);
    }
    let labels = Labels::of(bundling, &NodeTypes::of(TypesFrom::Label), rules)?;
    match Parting::of_labels(typed.as_ref(), &labels, resources, progress) {
        Ok(record) => Ok(Arc::new(Parted::new(typed, &record)?)),
        // More types than there may be: their nodes keep their labels.
        Err(error) if error.kind() == Kind::Unsupported => Ok(typed),
        Err(error) => Err(error),
    }
}

/// A graph whose types a survey found, which has counted their rows.
struct RowsCounted {
    inner: Arc<dyn Source>,
}

impl Source for RowsCounted {
    forward!(inner:
        graph prepare scan is_one_table edge_orders runs end_form about neighbors narrowed_neighbors incidents look_up_cost as_any validate
    );

    fn statistics(&self, tables: Tables) -> Result<Statistics> {
        let (graph, known) = (self.graph(), self.inner.statistics(tables)?);
        let counted = match tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => graph.nodes.get(ty).and_then(|ty| ty.rows),
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => graph.edges.get(ty).and_then(|ty| ty.rows),
            _ => None,
        };
        Ok(Statistics { rows: counted.map_or(known.rows, Known::Exact), ..known })
    }
}

/// Ends a survey that reads more rows than it may.
struct RowLimit<'a> {
    progress: &'a dyn Progress,
    most: u64,
    read: AtomicU64,
}

impl Progress for RowLimit<'_> {
    fn begin(&self, stage: &str, total: Option<u64>) {
        self.read.store(0, Ordering::Relaxed);
        self.progress.begin(stage, total);
    }

    fn advance(&self, rows: u64) -> Result<()> {
        let read = self.read.fetch_add(rows, Ordering::Relaxed).saturating_add(rows);
        if read > self.most {
            let message = format!("the graph has more than the {} rows that a survey of its types may read", self.most);
            return Err(Error::new(Kind::TooLarge, message)
                .hint("raise the limit, or read the tables as they are stored, which needs no survey"));
        }
        self.progress.advance(rows)
    }

    fn end(&self) {
        self.progress.end();
    }
}
