//! The rows that answer a question.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use isomorph::Result;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinHandle;

use crate::errors::{internal, of_engine};
use crate::syntax::labels::Labels;
use crate::syntax::repeated_names::shown;
use crate::wait::{LOOK, within};
use crate::workers::Workers;

/// Batches that wait for their reader.
const AHEAD: usize = 2;

/// The rows that answer a question, batch by batch. Work begins at once; dropping the answer ends it. After an error the answer is at its end.
///
/// It is read from threads that do no asynchronous work of their own.
#[derive(Debug)]
pub struct Answer {
    schema: SchemaRef,
    batches: Receiver<Result<RecordBatch>>,
    work: Option<JoinHandle<()>>,
    workers: Arc<Workers>,
    is_done: bool,
}

impl Answer {
    pub(crate) fn new(workers: &Arc<Workers>, stream: SendableRecordBatchStream, labels: &Labels) -> Self {
        let schema = distinct_names(&labels.on(&stream.schema()));
        let (to, batches) = channel(AHEAD);
        let shown = Arc::clone(&schema);
        let work = workers.handle().spawn(async move {
            let mut stream = stream;
            while let Some(batch) = stream.next().await {
                let batch = batch.map_err(of_engine).and_then(|batch| named(&batch, &shown));
                let failed = batch.is_err();
                if to.send(batch).await.is_err() || failed {
                    return;
                }
            }
        });
        Answer { schema, batches, work: Some(work), workers: Arc::clone(workers), is_done: false }
    }

    /// The columns. Each has a name of its own: of several that the question calls alike the second ends with `_2`.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next batch; nothing at the end. While it waits it asks `go_on`, about twenty times in a second, and ends with its error.
    ///
    /// # Errors
    /// Those of reading and of the question: a division by zero, too little memory.
    pub fn next_while(&mut self, go_on: &mut dyn FnMut() -> Result<()>) -> Result<Option<RecordBatch>> {
        loop {
            if self.is_done {
                return Ok(None);
            }
            if let Err(error) = go_on() {
                self.stop();
                return Err(error);
            }
            if let Poll::Ready(next) = self.next_within(LOOK) {
                return next.transpose();
            }
        }
    }

    /// The next batch, if it is there within `time`; nothing at the end.
    pub fn next_within(&mut self, time: Duration) -> Poll<Option<Result<RecordBatch>>> {
        if self.is_done {
            return Poll::Ready(None);
        }
        let next = within(pin!(self.batches.recv()), time);
        match next {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(batch))) => Poll::Ready(Some(Ok(batch))),
            Poll::Ready(Some(Err(error))) => {
                self.stop();
                Poll::Ready(Some(Err(error)))
            }
            Poll::Ready(None) => {
                self.is_done = true;
                Poll::Ready(self.ended().err().map(Err))
            }
        }
    }

    /// Whether the work ended well.
    fn ended(&mut self) -> Result<()> {
        match self.work.take().map(|work| self.workers.handle().block_on(work)) {
            Some(Err(error)) if error.is_panic() => Err(internal("the engine panicked")),
            _ => Ok(()),
        }
    }

    fn stop(&mut self) {
        self.is_done = true;
        if let Some(work) = self.work.take() {
            work.abort();
        }
    }
}

impl Iterator for Answer {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_while(&mut || Ok(())).transpose()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The schema, with different names for all columns.
pub(crate) fn distinct_names(schema: &SchemaRef) -> SchemaRef {
    let mut taken: Vec<String> = Vec::new();
    let fields = schema.fields().iter().map(|field| {
        let own = shown(field.name()).to_owned();
        let mut name = own.clone();
        let mut number = 2;
        while taken.contains(&name) || number > 2 && schema.fields().iter().any(|other| *other.name() == name) {
            name = format!("{own}_{number}");
            number += 1;
        }
        taken.push(name.clone());
        Field::clone(field).with_name(name)
    });
    let fields: Vec<Field> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn named(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), batch.columns().to_vec(), &options)
        .map_err(|error| internal(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::DataType;

    #[test]
    fn columns_have_different_names() {
        let of = |names: &[&str]| {
            let fields: Vec<Field> = names.iter().map(|name| Field::new(*name, DataType::Null, true)).collect();
            let shown = distinct_names(&Arc::new(Schema::new(fields)));
            shown.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>()
        };
        assert_eq!(of(&["id", "name", "id", "id"]), ["id", "name", "id_2", "id_3"]);
        assert_eq!(of(&["id", "id", "id_2"]), ["id", "id_3", "id_2"]);
    }
}
