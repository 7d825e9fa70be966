//! Answers of openCypher queries.

use std::collections::BTreeMap;
use std::sync::Arc;

use isomorph::dataset::Dataset;
use isomorph::{Error, Result};
use isomorph_cypher::{Options, Query, TableGraph, Value, rows_as_columns, value_of_json};
use pyo3::prelude::*;
use serde_json::Value as Json;

use crate::graph::Shared;
use crate::memory::InMemory;
use crate::work::{Watch, seconds};

/// A query. Python passes all members.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    query: String,
    /// Names and values, the latter as JSON.
    parameters: Vec<(String, String)>,
    /// Seconds.
    timeout: Option<f64>,
}

/// Answers a query; also returns notes about names that the graph does not have. The types of columns depend on the values, so all of it is
/// evaluated, and held within the memory of the graph.
pub(crate) fn answer(graph: &Arc<Shared>, asked: &Asked, watch: &Watch) -> Result<(InMemory, Vec<String>)> {
    let parameter = |(name, json): &(String, String)| {
        let json: Json = serde_json::from_str(json).map_err(|error| Error::usage(format!("{name}: {error}")))?;
        Ok((name.clone(), value_of_json(&json)))
    };
    let parameters = asked.parameters.iter().map(parameter).collect::<Result<BTreeMap<String, Value>>>()?;
    let query = Query::parse(&asked.query, &parameters).map_err(|fault| fault.into_error(&asked.query))?;
    let timeout = asked.timeout.map(seconds).transpose()?;
    let (graph, budget) = (graph.graph()?, &graph.resources().budget);
    let dataset: &Dataset = graph.survey(watch)?;
    let notes = query.names().unknown(dataset.source().graph());
    let tables = TableGraph::new(dataset, budget, watch.cancel.clone())?;
    let options = Options { parameters, timeout, cancel: watch.cancel.clone(), ..Options::new(budget.clone()) };
    let rows = query.run(&tables, &options).map_err(|fault| fault.into_error(&asked.query))?;
    let batch = rows_as_columns(rows, query.columns(), &asked.query, &tables, budget)?;
    Ok((InMemory::new(batch.schema(), vec![batch]), notes))
}
