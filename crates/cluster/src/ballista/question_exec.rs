//! The operator that answers a part of a question, on whichever executor runs it.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{BinaryArray, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{Stream, TryStreamExt};
use isomorph::dataset::Cancel;
use isomorph::{Error, Result};
use tokio::sync::mpsc::Sender;

use crate::ballista::opener::Opener;
use crate::ballista::place::Place;
use crate::ballista::question::{Question, Work};
use crate::ballista::wire;

/// Messages of a batch, and bytes.
const MESSAGES: usize = 1024;
const BYTES: usize = 1 << 20;

/// Batches that wait to be written.
const AHEAD: usize = 2;

/// Answers parts of a question: those whose numbers its input has, one for each of its partitions.
pub(crate) struct QuestionExec {
    question: Question,
    place: Place,
    /// Nothing in a process that only divides the plan.
    opener: Option<Arc<Opener>>,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl fmt::Debug for QuestionExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuestionExec").field("question", &self.question).finish_non_exhaustive()
    }
}

/// The columns of an answer: its messages.
pub(crate) fn messages() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("message", DataType::Binary, false)]))
}

fn failed(error: &Error) -> DataFusionError {
    DataFusionError::Execution(wire::to_text(error))
}

impl QuestionExec {
    /// A question about a graph, divided as it says.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn new(question: Question, place: Place) -> EngineResult<Self> {
        let numbers = Arc::new(Schema::new(vec![Field::new("part", DataType::UInt32, false)]));
        let one = |number: u32| -> EngineResult<Vec<RecordBatch>> {
            let column = Arc::new(UInt32Array::from_iter_values([number]));
            Ok(vec![RecordBatch::try_new(Arc::clone(&numbers), vec![column])?])
        };
        let batches = (0..question.parts()).map(one).collect::<EngineResult<Vec<_>>>()?;
        let input = MemorySourceConfig::try_new_exec(&batches, Arc::clone(&numbers), None)?;
        Ok(QuestionExec::decoded(question, place, None, input))
    }

    /// One that was read; without `opener` it cannot be run.
    pub fn decoded(
        question: Question,
        place: Place,
        opener: Option<Arc<Opener>>,
        input: Arc<dyn ExecutionPlan>,
    ) -> Self {
        let partitions = input.properties().partitioning.partition_count();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(messages()),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        QuestionExec { question, place, opener, input, properties: Arc::new(properties) }
    }

    pub fn question(&self) -> &Question {
        &self.question
    }

    pub fn place(&self) -> &Place {
        &self.place
    }
}

/// Answers one part, and sends its messages.
fn answer(
    question: &Question,
    place: &Place,
    opener: &Opener,
    number: u32,
    cancel: &Cancel,
    to: &Outgoing,
) -> Result<()> {
    let graph = opener.graph(place)?;
    let work = Work { resources: opener.resources(), cancel: cancel.clone() };
    let (mut waiting, mut bytes) = (Vec::new(), 0);
    question.answer(&graph, number, &work, &mut |message| {
        bytes += message.len();
        waiting.push(message);
        if waiting.len() < MESSAGES && bytes < BYTES {
            return Ok(true);
        }
        bytes = 0;
        to.send(&std::mem::take(&mut waiting))
    })?;
    to.send(&waiting)?;
    Ok(())
}

/// Where batches go.
struct Outgoing(Sender<EngineResult<RecordBatch>>);

impl Outgoing {
    /// Sends messages as a batch; false if nobody wants them.
    fn send(&self, messages: &[Vec<u8>]) -> Result<bool> {
        if messages.is_empty() {
            return Ok(true);
        }
        let column = BinaryArray::from_iter_values(messages);
        let batch = RecordBatch::try_new(self::messages(), vec![Arc::new(column)]);
        let batch = batch.map_err(|error| Error::unsupported(error.to_string()).caused_by(error))?;
        Ok(self.0.blocking_send(Ok(batch)).is_ok())
    }
}

/// Batches whose making ends when they are dropped.
struct Cancelling {
    batches: SendableRecordBatchStream,
    cancel: Cancel,
}

impl Stream for Cancelling {
    type Item = EngineResult<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.batches.as_mut().poll_next(context)
    }
}

impl RecordBatchStream for Cancelling {
    fn schema(&self) -> SchemaRef {
        self.batches.schema()
    }
}

impl Drop for Cancelling {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl DisplayAs for QuestionExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QuestionExec: {}, parts={}", self.question.language(), self.question.parts())
    }
}

impl ExecutionPlan for QuestionExec {
    fn name(&self) -> &str {
        "QuestionExec"
    }

    fn schema(&self) -> SchemaRef {
        messages()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    /// More partitions of numbers are no more parts.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let [input] = <[_; 1]>::try_from(children)
            .map_err(|_| DataFusionError::Internal("a question has one input".to_owned()))?;
        let (question, place) = (self.question.clone(), self.place.clone());
        Ok(Arc::new(QuestionExec::decoded(question, place, self.opener.clone(), input)))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> EngineResult<TreeNodeRecursion>,
    ) -> EngineResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> EngineResult<SendableRecordBatchStream> {
        let Some(opener) = self.opener.clone() else {
            return Err(DataFusionError::Internal("a question that only an executor can answer".to_owned()));
        };
        let numbers = self.input.execute(partition, context)?;
        let (question, place) = (self.question.clone(), self.place.clone());
        let one = move |batch: RecordBatch| {
            let column = batch.columns().first().and_then(|column| column.as_primitive_opt::<UInt32Type>());
            let numbers: Vec<u32> = column.into_iter().flat_map(|column| column.iter().flatten()).collect();
            let cancel = Cancel::new();
            let mut builder = RecordBatchReceiverStreamBuilder::new(messages(), AHEAD);
            let (to, inside) = (Outgoing(builder.tx()), cancel.clone());
            let (question, place, opener) = (question.clone(), place.clone(), Arc::clone(&opener));
            builder.spawn_blocking(move || {
                let all = numbers.into_iter();
                let answered = all.map(|number| answer(&question, &place, &opener, number, &inside, &to));
                answered.collect::<Result<()>>().map_err(|error| failed(&error))
            });
            Ok(Cancelling { batches: builder.build(), cancel })
        };
        let batches = numbers.and_then(move |batch| futures::future::ready(one(batch))).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(messages(), batches)))
    }
}
