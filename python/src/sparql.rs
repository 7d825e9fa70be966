//! Answers of SPARQL queries.

use std::sync::Arc;

use isomorph::Result;
use isomorph_sparql::{Answer, Question, QuestionOptions, load, solutions_as_columns, triples_as_columns};
use pyo3::prelude::*;

use crate::graph::Shared;
use crate::memory::InMemory;
use crate::work::Watch;

/// A query. Python passes all members.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    query: String,
    parameters: Vec<(String, String)>,
    prefixes: Vec<(String, String)>,
    base: Option<String>,
    /// Whether every cell is a term in N-Triples syntax.
    as_terms: bool,
    /// Seconds.
    timeout: Option<f64>,
}

/// What a query was answered.
pub(crate) enum Found {
    /// SELECT, CONSTRUCT, DESCRIBE.
    Table(InMemory),
    /// ASK.
    Boolean(bool),
}

/// Answers a query. The columns depend on the terms, so all of it is evaluated, and held within the memory of the graph.
pub(crate) fn answer(graph: &Arc<Shared>, asked: &Asked, watch: &Watch) -> Result<Found> {
    let options = QuestionOptions {
        base: asked.base.clone(),
        prefixes: asked.prefixes.clone(),
        params: asked.parameters.clone(),
    };
    let question = Question::parse(&asked.query, &options)?;
    let timeout = asked.timeout.map(crate::work::seconds).transpose()?;
    let (opened, resources) = (graph.graph()?, graph.resources());
    let index = load(opened.opened(), asked.base.as_deref(), question.wanted(), resources, watch)?;
    question.run(&index, timeout, |answer| {
        let batch = match answer {
            Answer::Boolean(answer) => return Ok(Found::Boolean(answer)),
            Answer::Solutions(solutions) => solutions_as_columns(solutions, asked.as_terms, &resources.budget)?,
            Answer::Graph(triples) => triples_as_columns(triples, &resources.budget)?,
        };
        Ok(Found::Table(InMemory::new(batch.schema(), vec![batch])))
    })
}
