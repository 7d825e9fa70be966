//! Questions that are not plans of the engine: openCypher, SPARQL and statistics, which have engines of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use isomorph::algorithms::{GraphStatistics, Job, statistics};
use isomorph::convert::{Hyperedges, Progress};
use isomorph::dataset::Cancel;
use isomorph::storage::Resources;
use isomorph::{Error, Graph, Kind, Result};
use isomorph_cypher::{Options, Part, Query, Share, TableGraph, Value, value_of_bytes, value_to_bytes};
use isomorph_sparql as sparql;
use serde::{Deserialize, Serialize};

/// A question in openCypher.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CypherQuestion {
    text: String,
    /// A map, as bytes.
    parameters: Vec<u8>,
    /// The time of `datetime()`, the same for all parts.
    now: DateTime<Utc>,
    /// Into how many parts it is divided; nothing for a question that is answered as a whole.
    parts: Option<u32>,
}

impl CypherQuestion {
    /// A query of this text. `parts` is the number of parts, for one that can be divided.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for parameters that do not travel.
    pub fn new(text: &str, options: &Options, parts: Option<u32>) -> Result<Self> {
        let parameters = options.parameters.iter().map(|(name, value)| (Arc::from(name.as_str()), value.clone()));
        let parameters = value_to_bytes(&Value::Map(Arc::new(parameters.collect())))?;
        Ok(CypherQuestion {
            text: text.to_owned(),
            parameters,
            now: options.now,
            parts: parts.map(|parts| parts.max(1)),
        })
    }

    fn answer(&self, graph: &Graph, number: u32, work: &Work<'_>, take: Take<'_>) -> Result<()> {
        let Value::Map(parameters) = value_of_bytes(&self.parameters)? else {
            return Err(Error::malformed("the parameters of a question cannot be read"));
        };
        let parameters: BTreeMap<String, Value> =
            parameters.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        let told = |fault: isomorph_cypher::Fault| fault.into_error(&self.text);
        let query = Query::parse(&self.text, &parameters).map_err(told)?;
        let Resources { budget, threads, .. } = work.resources;
        // Each thread of an executor has a part.
        let threads = if self.parts.is_some() { 1 } else { *threads };
        let tables = TableGraph::new(graph.dataset()?, budget, work.cancel.clone())?.with_threads(threads);
        let options =
            Options { parameters, cancel: work.cancel.clone(), now: self.now, ..Options::new(budget.clone()) };
        let share = self.parts.map_or(Share::Whole, |of| Share::Part(Part { number, of }));
        query.send(&tables, &options, share, take).map_err(told)
    }
}

/// A question in SPARQL.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SparqlQuestion {
    text: String,
    base: Option<String>,
    prefixes: Vec<(String, String)>,
    params: Vec<(String, String)>,
    /// The longest time that it may take.
    timeout: Option<Duration>,
}

impl SparqlQuestion {
    /// A query of this text.
    pub fn new(text: &str, options: &sparql::QuestionOptions, timeout: Option<Duration>) -> Self {
        let sparql::QuestionOptions { base, prefixes, params } = options.clone();
        SparqlQuestion { text: text.to_owned(), base, prefixes, params, timeout }
    }

    fn answer(&self, graph: &Graph, work: &Work<'_>, take: Take<'_>) -> Result<()> {
        let options = sparql::QuestionOptions {
            base: self.base.clone(),
            prefixes: self.prefixes.clone(),
            params: self.params.clone(),
        };
        let question = sparql::Question::parse(&self.text, &options)?;
        let index = sparql::load(graph.opened(), self.base.as_deref(), question.wanted(), work.resources, work)?;
        question.run_while(&index, self.timeout, &|| work.go_on(), |answer| answer.send(take))
    }
}

/// A question about a whole graph.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StatisticsQuestion {
    relations: Option<BTreeSet<String>>,
    /// What becomes of hyperedges; nothing if they are not walked.
    hyperedges: Option<Walked>,
}

/// [`Hyperedges`] as they travel.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Walked {
    Reify,
    Expand,
    Skip,
}

impl StatisticsQuestion {
    /// Of edges of these relations, and of hyperedges as they are walked.
    pub fn new(relations: Option<BTreeSet<String>>, hyperedges: Option<Hyperedges>) -> Self {
        let hyperedges = hyperedges.map(|how| match how {
            Hyperedges::Reify => Walked::Reify,
            Hyperedges::Expand => Walked::Expand,
            Hyperedges::Skip => Walked::Skip,
        });
        StatisticsQuestion { relations, hyperedges }
    }

    fn answer(&self, graph: &Graph, work: &Work<'_>, take: Take<'_>) -> Result<()> {
        let (opened, resources) = (graph.opened(), work.resources);
        opened.check_whole(false, resources, work)?;
        let hyperedges = self.hyperedges.map(|how| match how {
            Walked::Reify => Hyperedges::Reify,
            Walked::Expand => Hyperedges::Expand,
            Walked::Skip => Hyperedges::Skip,
        });
        let source = match hyperedges {
            None => opened.with_resources_as_nodes(resources)?,
            Some(how) => opened.without_hyperedges(how, resources, work)?,
        };
        let job = Job { resources, relations: self.relations.as_ref(), progress: work };
        let found: GraphStatistics = statistics(&source, &job)?;
        take(serde_json::to_vec(&found).map_err(|error| Error::unsupported(error.to_string()).caused_by(error))?)?;
        Ok(())
    }
}

/// A question as it travels.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Question {
    Cypher(CypherQuestion),
    Sparql(SparqlQuestion),
    Statistics(StatisticsQuestion),
}

/// Takes a message of an answer; false if no more are wanted.
pub(crate) type Take<'t> = &'t mut (dyn FnMut(Vec<u8>) -> Result<bool> + Send);

/// What answering needs besides the graph.
pub(crate) struct Work<'w> {
    pub resources: &'w Resources,
    pub cancel: Cancel,
}

impl Work<'_> {
    fn go_on(&self) -> Result<()> {
        match self.cancel.is_cancelled() {
            true => Err(Error::new(Kind::Cancelled, "the question was cancelled")),
            false => Ok(()),
        }
    }
}

/// Nobody sees how far it is; it can be cancelled.
impl Progress for Work<'_> {
    fn begin(&self, _: &str, _: Option<u64>) {}

    fn end(&self) {}

    fn advance(&self, _: u64) -> Result<()> {
        self.go_on()
    }
}

impl Question {
    /// Into how many parts it is divided.
    pub fn parts(&self) -> u32 {
        match self {
            Question::Cypher(question) => question.parts.unwrap_or(1),
            Question::Sparql(_) | Question::Statistics(_) => 1,
        }
    }

    /// What it is, for plans.
    pub fn language(&self) -> &'static str {
        match self {
            Question::Cypher(_) => "openCypher",
            Question::Sparql(_) => "SPARQL",
            Question::Statistics(_) => "statistics",
        }
    }

    /// Answers the part of this number.
    ///
    /// # Errors
    /// Those of the question and of reading.
    pub fn answer(&self, graph: &Graph, number: u32, work: &Work<'_>, take: Take<'_>) -> Result<()> {
        match self {
            Question::Cypher(question) => question.answer(graph, number, work, take),
            Question::Sparql(question) => question.answer(graph, work, take),
            Question::Statistics(question) => question.answer(graph, work, take),
        }
    }
}
