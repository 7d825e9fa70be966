//! Answers of SQL queries as tables.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use arrow_schema::SchemaRef;
use isomorph::dataset::Cancel;
use isomorph::{Error, Kind, Result};
use isomorph_query::{Answer, Parameters};

use crate::cut::Cut;
use crate::graph::Shared;
use crate::reader::{Next, Reader};
use crate::table::{Rows, Shape};

/// The answer to a query, which is evaluated whenever it is read.
pub(crate) struct Sql {
    graph: Arc<Shared>,
    query: String,
    parameters: Parameters,
    schema: SchemaRef,
}

impl Sql {
    /// The answer to `query`; a wrong query is an error here. No rows are read.
    pub(crate) fn new(graph: &Arc<Shared>, query: String, values: Vec<(String, Option<String>)>) -> Result<Sql> {
        let none = Parameters::new();
        let parameters = values.into_iter().fold(none, |all, (name, value)| match value {
            Some(value) => all.with(name, value),
            None => all.with_null(name),
        });
        let schema = graph.engine()?.columns(&query, &parameters)?;
        Ok(Sql { graph: Arc::clone(graph), query, parameters, schema })
    }
}

impl Rows for Sql {
    fn schema(&self, shape: &Shape) -> Result<SchemaRef> {
        Cut::new(&self.schema, shape).map(|cut| Arc::clone(cut.schema()))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn exact_rows(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    fn read(&self, shape: &Shape, cancel: &Cancel) -> Result<Box<dyn Reader>> {
        let answer = self.graph.engine()?.query(&self.query, &self.parameters)?;
        let cut = Cut::new(answer.schema(), shape)?;
        Ok(Box::new(Running { answer: Some(answer), cut, cancel: cancel.clone(), process: std::process::id() }))
    }
}

/// A query that is being answered.
struct Running {
    /// `None` at the end.
    answer: Option<Answer>,
    cut: Cut,
    cancel: Cancel,
    /// The process whose threads work on it.
    process: u32,
}

impl Running {
    fn fail(&mut self, error: Error) -> Next {
        self.answer = None;
        Next::Batch(Err(error))
    }
}

impl Reader for Running {
    fn schema(&self) -> &SchemaRef {
        self.cut.schema()
    }

    fn next_within(&mut self, time: Duration) -> Next {
        if self.process != std::process::id() {
            // The threads of the parent are not here; what they share is not touched.
            std::mem::forget(self.answer.take());
            let error = Error::usage("the query was being answered when this process was forked");
            return self.fail(error.hint("read the table again in the child"));
        }
        if self.cancel.is_cancelled() {
            return self.fail(Error::new(Kind::Cancelled, "interrupted"));
        }
        if self.cut.is_done() {
            self.answer = None;
        }
        let Some(answer) = &mut self.answer else { return Next::End };
        match answer.next_within(time) {
            Poll::Pending => Next::Waiting,
            Poll::Ready(None) => {
                self.answer = None;
                Next::End
            }
            Poll::Ready(Some(batch)) => match batch.and_then(|batch| self.cut.apply(batch)) {
                // Nothing of this batch passes; the next call goes on.
                Ok(batch) if batch.num_rows() == 0 => Next::Waiting,
                Ok(batch) => Next::Batch(Ok(batch)),
                Err(error) => self.fail(error),
            },
        }
    }
}
