//! The matches of a `GRAPH_TABLE`, which are found when they are read.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use datafusion::common::Statistics;
use futures::{Stream, StreamExt};
use isomorph::dataset::{Cancel, PlannedRead};
use isomorph::storage::Resources;
use isomorph::{Error, Graph, Predicate, Result};
use isomorph_cypher::{Columns, Options, Query, TableGraph, Value};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::errors::internal;
use crate::tables::columns::{Column, in_sql};
use crate::tables::graph_table::at;
use crate::tables::parts::{Part, Pattern, Rows, Wanted};
use crate::tables::table::shown;

/// Rows of a batch.
const BATCH: usize = 8192;

/// Batches that wait for whoever reads them.
const WAITING: usize = 2;

/// A table of matches. Its types are those that the tables of the graph have in SQL.
#[derive(Clone)]
pub(crate) struct MatchedRows {
    graph: Arc<Graph>,
    /// The name of the graph in the question.
    #[cfg_attr(not(feature = "distributed"), expect(dead_code, reason = "another process has to find it"))]
    name: String,
    query: Arc<Query>,
    pattern: Pattern,
    resources: Resources,
    columns: Columns,
    schema: SchemaRef,
}

impl fmt::Debug for MatchedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MatchedRows").field("query", &self.pattern.text).finish_non_exhaustive()
    }
}

impl MatchedRows {
    /// The table of a pattern. Nothing is read but what the types of tables take.
    ///
    /// # Errors
    /// If the pattern is none, or names what the graph does not have; if the budget is used up.
    pub fn of(graph: &Arc<Graph>, name: &str, pattern: &Pattern, resources: &Resources) -> Result<Self> {
        let Pattern { text, parameters, .. } = pattern;
        let query = Query::of_graph_table(text, parameters).map_err(|fault| fault.into_error(text))?;
        if let Some(unknown) = query.names().unknown(graph.dataset()?.source().graph()).into_iter().next() {
            return Err(Error::usage(format!("GRAPH_TABLE: {unknown}")));
        }
        let tables = TableGraph::new(graph.dataset()?, &resources.budget, Cancel::new())?;
        let columns = query.column_types(&tables, parameters);
        drop(tables);
        let schema = Arc::new(Schema::new(columns.schema().fields().iter().map(in_sql).collect::<Vec<_>>()));
        Ok(MatchedRows {
            graph: Arc::clone(graph),
            name: name.to_owned(),
            query: Arc::new(query),
            pattern: pattern.clone(),
            resources: resources.clone(),
            columns,
            schema,
        })
    }

    /// Finds the matches, and sends them while somebody wants them.
    fn find(&self, wanted: &Wanted, cancel: &Cancel, to: &Sender<Result<RecordBatch>>) -> Result<()> {
        let dataset = self.graph.dataset()?;
        let budget = &self.resources.budget;
        let tables = TableGraph::new(dataset, budget, cancel.clone())?.with_threads(self.resources.threads);
        let options = Options {
            parameters: self.pattern.parameters.clone(),
            cancel: cancel.clone(),
            ..Options::new(budget.clone())
        };
        let told = |fault: isomorph_cypher::Fault| fault.into_error(&self.pattern.text);
        let mut rows = self.query.run(&tables, &options).map_err(told)?;
        let mut left = wanted.limit.unwrap_or(usize::MAX);
        let mut memory = budget.reserve(0)?;
        while left > 0 {
            let mut some = Vec::new();
            for row in rows.by_ref().take(left.min(BATCH)) {
                let row = row.map_err(told)?;
                memory.grow(row.iter().map(Value::bytes).sum()).map_err(|error| error.hint("--memory"))?;
                some.push(row);
            }
            if some.is_empty() {
                return Ok(());
            }
            left -= some.len();
            let batch = shown(&self.columns.batch(&some, &tables)?, &self.schema, 0)?;
            let batch = batch.project(&wanted.columns).map_err(|error| Error::usage(error.to_string()))?;
            memory.shrink(memory.bytes());
            if to.blocking_send(Ok(batch)).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Matches that are being found. Dropping them ends the work.
pub(crate) struct Matches {
    batches: Receiver<Result<RecordBatch>>,
    cancel: Cancel,
    /// `None` at the end.
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Matches {
    /// Starts a thread of this name that finds them.
    fn start(
        name: &str,
        find: impl FnOnce(&Cancel, &Sender<Result<RecordBatch>>) -> Result<()> + Send + 'static,
    ) -> Result<Matches> {
        let (sender, batches) = channel(WAITING);
        let cancel = Cancel::new();
        let inside = cancel.clone();
        let thread = std::thread::Builder::new().name(name.to_owned());
        let thread = thread.spawn(move || {
            if let Err(error) = find(&inside, &sender) {
                // Nobody hears it who does not read.
                let _ = sender.blocking_send(Err(error));
            }
        })?;
        Ok(Matches { batches, cancel, thread: Some(thread) })
    }

    /// The same as a part of a table. A plan has it, too: the thread starts with the first batch that is asked for.
    pub fn later(
        name: &'static str,
        find: impl FnOnce(&Cancel, &Sender<Result<RecordBatch>>) -> Result<()> + Send + 'static,
    ) -> Part {
        let matches = futures::stream::once(async move {
            match Matches::start(name, find) {
                Ok(matches) => matches.boxed(),
                Err(error) => futures::stream::iter([Err(error)]).boxed(),
            }
        });
        matches.flatten().boxed()
    }
}

impl Stream for Matches {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.batches.poll_recv(context) {
            // The thread has dropped what it sends to, and is at its end.
            Poll::Ready(None) => Poll::Ready(match self.thread.take().map(std::thread::JoinHandle::join) {
                Some(Err(_)) => Some(Err(internal("a search panicked"))),
                _ => None,
            }),
            other => other,
        }
    }
}

impl Drop for Matches {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl Rows for MatchedRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn column(&self, _: &str) -> Option<Column> {
        None
    }

    fn statistics(&self) -> Statistics {
        Statistics::new_unknown(&self.schema)
    }

    fn fraction(&self, _: &Predicate) -> f64 {
        1.0
    }

    fn parts(&self, wanted: &Wanted) -> Result<Vec<Part>> {
        let (own, wanted) = (self.clone(), wanted.clone());
        Ok(vec![Matches::later("isomorph-graph-table", move |cancel, to| {
            own.find(&wanted, cancel, to).map_err(|error| at(error, &own.pattern.place))
        })])
    }

    #[cfg(feature = "distributed")]
    fn matched(&self) -> Option<(String, Pattern)> {
        Some((self.name.clone(), self.pattern.clone()))
    }

    fn reads(&self, _: &Wanted) -> Result<Vec<PlannedRead>> {
        let tables = TableGraph::new(self.graph.dataset()?, &self.resources.budget, Cancel::new())?;
        let options =
            Options { parameters: self.pattern.parameters.clone(), ..Options::new(self.resources.budget.clone()) };
        let told = |fault: isomorph_cypher::Fault| fault.into_error(&self.pattern.text);
        self.query.explain(&tables, &options).map_err(told).map(|explained| explained.reads)
    }

    fn way(&self, _: &Wanted) -> String {
        "matches of a pattern".to_owned()
    }
}
