//! Lazy tables, and how Arrow consumers read them.

use std::sync::Arc;
use std::thread::ThreadId;
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_schema::{ArrowError, Field, SchemaRef};
use isomorph::dataset::{Cancel, KIND, ROLE};
use isomorph::model::type_name::type_name;
use isomorph::{Error, Predicate, Result, parse_predicate};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};

use crate::errors::raised;
use crate::memory::InMemory;
use crate::reader::{Next, Reader};
use crate::work::{Ending, Watch, run};

/// The longest wait with the interpreter's lock.
const SHORT: Duration = Duration::from_micros(200);

/// The longest wait without looking for Ctrl-C.
const LONG: Duration = Duration::from_millis(50);

/// Which part of a table is read: some columns of the first rows that pass a filter.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shape {
    /// Columns by name or `@ROLE`, in this order; all if `None`.
    pub(crate) columns: Option<Vec<String>>,
    /// The condition; it may look at columns that are not returned.
    pub(crate) filter: Option<Predicate>,
    /// The maximum number of rows.
    pub(crate) limit: Option<u64>,
}

/// Whatever can be read as record batches: a table of a graph, a result in memory, the result of a query.
pub(crate) trait Rows: Send + Sync {
    /// The columns of a part.
    fn schema(&self, shape: &Shape) -> Result<SchemaRef>;

    /// Number of rows of the whole table, if something states it; a file may state a wrong one.
    fn rows(&self) -> Option<u64>;

    /// Number of rows of the whole table, if it is known without reading them and certain.
    fn exact_rows(&self) -> Result<Option<u64>>;

    /// Starts to read a part. Cancelling `cancel` ends it.
    fn read(&self, shape: &Shape, cancel: &Cancel) -> Result<Box<dyn Reader>>;
}

/// A lazy table.
#[pyclass(module = "isomorph._isomorph", frozen)]
pub(crate) struct Table {
    rows: Arc<dyn Rows>,
    shape: Shape,
}

impl Table {
    /// The whole of a table.
    pub(crate) fn new(rows: Arc<dyn Rows>) -> Self {
        Table { rows, shape: Shape::default() }
    }

    fn shaped(&self, change: impl FnOnce(&mut Shape)) -> Table {
        let mut shape = self.shape.clone();
        change(&mut shape);
        Table { rows: Arc::clone(&self.rows), shape }
    }

    fn columns(&self, py: Python<'_>) -> PyResult<SchemaRef> {
        let (rows, shape) = (Arc::clone(&self.rows), self.shape.clone());
        py.detach(|| rows.schema(&shape)).map_err(|error| raised(py, &error))
    }
}

/// A column as Python sees it: name, type, whether it can be null, role, kind.
type Column = (String, String, bool, Option<String>, Option<String>);

#[pymethods]
impl Table {
    fn select(&self, py: Python<'_>, columns: Vec<String>) -> PyResult<Table> {
        let table = self.shaped(|shape| shape.columns = Some(columns));
        table.columns(py).map(|_| table)
    }

    fn filter(&self, py: Python<'_>, condition: &str) -> PyResult<Table> {
        if self.shape.limit.is_some() {
            let error = Error::usage("a filter after a limit would be applied before it");
            return Err(raised(py, &error.hint("filter first, and then limit")));
        }
        let condition = parse_predicate(condition).map_err(|error| raised(py, &error))?;
        Ok(self.shaped(|shape| {
            shape.filter = Some(match shape.filter.take() {
                None => condition,
                Some(first) => Predicate::And(vec![first, condition]),
            });
        }))
    }

    fn limit(&self, rows: u64) -> Table {
        self.shaped(|shape| shape.limit = Some(shape.limit.map_or(rows, |before| before.min(rows))))
    }

    /// The columns.
    fn schema(&self, py: Python<'_>) -> PyResult<Vec<Column>> {
        let column = |field: &Arc<Field>| {
            let word = |key| field.metadata().get(key).cloned();
            (field.name().clone(), type_name(field.data_type()), field.is_nullable(), word(ROLE), word(KIND))
        };
        Ok(self.columns(py)?.fields().iter().map(column).collect())
    }

    /// Number of rows, if known without reading.
    fn num_rows(&self, py: Python<'_>) -> Option<u64> {
        let limited = |rows: u64| self.shape.limit.map_or(rows, |limit| rows.min(limit));
        if self.shape.filter.is_some() { None } else { py.detach(|| self.rows.rows()).map(limited) }
    }

    /// Number of rows, which are counted if the number is not known.
    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        let (rows, shape) = (Arc::clone(&self.rows), Shape { columns: Some(Vec::new()), ..self.shape.clone() });
        run(py, None, Ending::Abandoned, move |watch| {
            if shape.filter.is_none()
                && let Some(rows) = rows.exact_rows()?
            {
                return Ok(shape.limit.map_or(rows, |limit| rows.min(limit)));
            }
            let mut reader = rows.read(&shape, &watch.cancel)?;
            let mut count = 0u64;
            each(reader.as_mut(), watch, |batch| count += batch.num_rows() as u64)?;
            Ok(count)
        })
    }

    /// Reads it into memory.
    fn collect(&self, py: Python<'_>) -> PyResult<Table> {
        let (rows, shape) = (Arc::clone(&self.rows), self.shape.clone());
        let held = run(py, None, Ending::Abandoned, move |watch| {
            let mut reader = rows.read(&shape, &watch.cancel)?;
            let (schema, mut batches) = (Arc::clone(reader.schema()), Vec::new());
            each(reader.as_mut(), watch, |batch| batches.push(batch))?;
            Ok(InMemory::new(schema, batches))
        })?;
        Ok(Table::new(Arc::new(held)))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.columns(py)?.as_ref())?)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let (rows, shape) = (Arc::clone(&self.rows), self.shape.clone());
        let reader = run(py, None, Ending::Abandoned, move |_| rows.read(&shape, &Cancel::new()))?;
        let schema = Arc::clone(reader.schema());
        let field = Field::new_struct("", schema.fields().clone(), false).with_metadata(schema.metadata().clone());
        let arrays = Arrays { reader, thread: std::thread::current().id() };
        Ok(to_stream_pycapsule(py, Box::new(ArrayIterator::new(arrays, Arc::new(field))), requested_schema)?)
    }
}

/// Passes all batches to `take`.
fn each(reader: &mut dyn Reader, watch: &Watch, mut take: impl FnMut(RecordBatch)) -> Result<()> {
    loop {
        match reader.next_within(LONG) {
            Next::Batch(batch) => take(batch?),
            Next::End => return Ok(()),
            Next::Waiting => watch.check()?,
        }
    }
}

/// Batches as Arrow's C interface wants them. A consumer calls this with the interpreter's lock or without it, on any thread.
struct Arrays {
    reader: Box<dyn Reader>,
    /// The thread that asked for the stream. It may take the lock, whether it has it or not; another thread must not: the one
    /// that has it may be waiting for it.
    thread: ThreadId,
}

impl Iterator for Arrays {
    type Item = std::result::Result<ArrayRef, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut next = self.reader.next_within(SHORT);
        let is_own = std::thread::current().id() == self.thread;
        loop {
            match next {
                Next::End => return None,
                Next::Batch(Ok(batch)) => return Some(Ok(Arc::new(StructArray::from(batch)))),
                Next::Batch(Err(error)) => return Some(Err(told(&error))),
                Next::Waiting if is_own => {
                    let looked = Python::try_attach(|py| {
                        py.check_signals()?;
                        Ok(py.detach(|| self.reader.next_within(LONG)))
                    });
                    match looked {
                        Some(Ok(found)) => next = found,
                        Some(Err(error)) => return Some(Err(interrupted(error))),
                        None => next = self.reader.next_within(LONG),
                    }
                }
                Next::Waiting => next = self.reader.next_within(LONG),
            }
        }
    }
}

/// An error in the only form that goes through Arrow's C interface: a text.
fn told(error: &Error) -> ArrowError {
    let hints: Vec<&str> = error.hints().collect();
    let hints = if hints.is_empty() { String::new() } else { format!("; try {}", hints.join("; ")) };
    ArrowError::ExternalError(format!("{error}{hints}").into())
}

/// Ends a stream because a signal handler raised. The exception itself cannot pass Arrow's C interface: an interrupt is set again, so
/// that it is raised as soon as the consumer returns.
fn interrupted(error: PyErr) -> ArrowError {
    Python::attach(|py| {
        if error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py)
            && let Ok(module) = py.import("_thread")
        {
            let _ = module.call_method0("interrupt_main");
        }
    });
    ArrowError::ExternalError(error.to_string().into())
}
