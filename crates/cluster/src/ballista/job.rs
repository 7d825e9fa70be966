//! A question on its way through a cluster: sent, waited for, and fetched from the executors that have the answer.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray, RecordBatch};
use arrow_schema::SchemaRef;
use ballista_core::client::BallistaClient;
use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, CleanJobDataParams, ExecuteQueryParams, GetJobStatusParams, KeyValuePair, PartitionLocation,
    execute_query_result, job_status,
};
use ballista_core::utils::{GrpcClientConfig, create_grpc_client_endpoint};
use ballista_core::version::insert_version_header;
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use futures::{Stream, StreamExt};
use isomorph::{Error, Kind, Result};
use isomorph_query::distributed::error_of_engine;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::ballista::runtime::STACK;
use crate::ballista::scheduler::MESSAGE;
use crate::ballista::wire;

/// Batches that wait for their reader.
const AHEAD: usize = 4;

/// How often the state of a job is asked for.
const STEP: Duration = Duration::from_millis(20);

/// How long nobody looks whether there is a batch.
const LOOK: Duration = Duration::from_millis(2);

/// How long the end of the process waits until the scheduler has been told that nobody wants the answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a part of the answer is asked for, and the time between, milliseconds.
const TIMES: u8 = 3;
const PAUSE: u64 = 200;

/// A plan that is sent.
pub(crate) struct Job {
    pub scheduler: (String, u16),
    pub plan: Vec<u8>,
    pub settings: Vec<KeyValuePair>,
}

/// The batches of an answer. Dropping it ends the job.
struct Batches {
    schema: SchemaRef,
    batches: Receiver<EngineResult<RecordBatch>>,
    /// Closed when the job has ended.
    ended: std::sync::mpsc::Receiver<()>,
}

/// Sends a job, and returns the stream of its answer. It is done by a thread of its own, whose connections need no other.
///
/// # Errors
/// If there is no thread.
pub(crate) fn start(job: Job, schema: SchemaRef) -> Result<SendableRecordBatchStream> {
    Ok(Box::pin(batches(job, schema)?))
}

fn batches(job: Job, schema: SchemaRef) -> Result<Batches> {
    let (to, batches) = channel(AHEAD);
    let (ending, ended) = std::sync::mpsc::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let thread = std::thread::Builder::new().name("isomorph-cluster".to_owned()).stack_size(STACK);
    thread.spawn(move || {
        runtime.block_on(answer(job, to));
        drop(ending);
    })?;
    Ok(Batches { schema, batches, ended })
}

/// The messages of an answer. Dropping them ends the job.
pub struct Messages<'g> {
    batches: Batches,
    current: Option<BinaryArray>,
    next: usize,
    go_on: Box<dyn FnMut() -> Result<()> + 'g>,
}

impl fmt::Debug for Messages<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Messages").finish_non_exhaustive()
    }
}

impl<'g> Messages<'g> {
    /// Sends a question, and returns its answer. While it waits it asks `go_on`, and ends with its error.
    ///
    /// # Errors
    /// If there is no thread.
    pub(crate) fn of(job: Job, schema: SchemaRef, go_on: Box<dyn FnMut() -> Result<()> + 'g>) -> Result<Self> {
        Ok(Messages { batches: batches(job, schema)?, current: None, next: 0, go_on })
    }

    /// The next batch.
    fn batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            match self.batches.batches.try_recv() {
                Ok(batch) => return batch.map(Some).map_err(error_of_engine),
                Err(TryRecvError::Disconnected) => return Ok(None),
                Err(TryRecvError::Empty) => {
                    (self.go_on)()?;
                    std::thread::sleep(LOOK);
                }
            }
        }
    }
}

impl Iterator for Messages<'_> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(column) = self.current.as_ref().filter(|column| self.next < column.len()) {
                self.next += 1;
                return Some(Ok(column.value(self.next - 1).to_vec()));
            }
            let column = match self.batch() {
                Ok(Some(batch)) => batch.columns().first().and_then(|column| column.as_binary_opt::<i32>().cloned()),
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            };
            match column {
                Some(column) => (self.current, self.next) = (Some(column), 0),
                None => return Some(Err(told("an answer without messages"))),
            }
        }
    }
}

impl Stream for Batches {
    type Item = EngineResult<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.batches.poll_recv(context)
    }
}

impl RecordBatchStream for Batches {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        self.batches.close();
        // It never sends: it ends.
        let _ = self.ended.recv_timeout(PATIENCE);
    }
}

/// A connection to the scheduler.
type Scheduler = SchedulerGrpcClient<tonic::transport::Channel>;

/// Does the job, until it is done or nobody wants it.
async fn answer(job: Job, to: Sender<EngineResult<RecordBatch>>) {
    let address = format!("http://{}:{}", job.scheduler.0, job.scheduler.1);
    let outcome = match connect(&address).await {
        Ok(mut scheduler) => {
            let mut id = None;
            let outcome = tokio::select! {
                outcome = done(&mut scheduler, job, &to, &mut id) => Some(outcome),
                () = to.closed() => None,
            };
            if let Some(id) = id {
                // The answer is here, or nobody wants it: what cannot be cleaned now is cleaned later.
                if !matches!(outcome, Some(Ok(()))) {
                    let _ = scheduler.cancel_job(CancelJobParams { job_id: id.clone() }).await;
                }
                let _ = scheduler.clean_job_data(CleanJobDataParams { job_id: id, remove_stage_ids: Vec::new() }).await;
            }
            outcome.unwrap_or(Ok(()))
        }
        Err(error) => Err(error),
    };
    if let Err(error) = outcome {
        let _ = to.send(Err(DataFusionError::External(Box::new(error)))).await;
    }
}

async fn connect(address: &str) -> Result<Scheduler> {
    let unreachable = |why: String| {
        Error::new(Kind::Io, format!("the scheduler cannot be reached: {why}"))
            .at(address.to_owned())
            .hint("isomorph cluster scheduler    starts one")
    };
    let config = GrpcClientConfig { max_message_size: MESSAGE as usize, ..GrpcClientConfig::default() };
    let endpoint = create_grpc_client_endpoint(address.to_owned(), Some(&config));
    let connected = endpoint.map_err(|error| unreachable(error.to_string()))?.connect().await;
    let channel = connected.map_err(|error| unreachable(error.to_string()))?;
    let client = SchedulerGrpcClient::new(channel);
    Ok(client.max_encoding_message_size(MESSAGE as usize).max_decoding_message_size(MESSAGE as usize))
}

/// An error that a scheduler told as text.
fn told(text: &str) -> Error {
    wire::of_text(text).unwrap_or_else(|| {
        let line = text.lines().next().unwrap_or_default();
        Error::new(Kind::Io, format!("the cluster did not answer: {line}")).hint("ask again; or without --cluster")
    })
}

/// A name that no other session has.
fn session() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("isomorph-{}-{time}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

async fn done(
    scheduler: &mut Scheduler,
    job: Job,
    to: &Sender<EngineResult<RecordBatch>>,
    id: &mut Option<String>,
) -> Result<()> {
    let session_id = session();
    let query = ExecuteQueryParams {
        query: Some(Query::PhysicalPlan(job.plan)),
        settings: job.settings,
        operation_id: session_id.clone(),
        session_id,
    };
    let mut query = tonic::Request::new(query);
    insert_version_header(query.metadata_mut());
    let sent = scheduler.execute_query(query).await.map_err(|status| told(status.message()))?.into_inner();
    let job_id = match sent.result {
        Some(execute_query_result::Result::Success(sent)) => sent.job_id,
        Some(execute_query_result::Result::Failure(failure)) => return Err(told(&format!("{failure:?}"))),
        None => return Err(told("an answer without a job")),
    };
    *id = Some(job_id.clone());
    for place in finished(scheduler, &job_id).await? {
        fetch(place, to).await?;
    }
    Ok(())
}

/// Waits until a job is done. Returns where the parts of its answer are.
async fn finished(scheduler: &mut Scheduler, job_id: &str) -> Result<Vec<PartitionLocation>> {
    loop {
        let asked = scheduler.get_job_status(GetJobStatusParams { job_id: job_id.to_owned() }).await;
        let status = asked.map_err(|status| told(status.message()))?.into_inner().status;
        match status.and_then(|status| status.status) {
            Some(job_status::Status::Successful(job)) => return Ok(job.partition_location),
            Some(job_status::Status::Failed(job)) => return Err(told(&job.error)),
            Some(job_status::Status::Queued(_) | job_status::Status::Running(_)) | None => {
                tokio::time::sleep(STEP).await;
            }
        }
    }
}

/// Hands over the batches of one part of the answer.
async fn fetch(place: PartitionLocation, to: &Sender<EngineResult<RecordBatch>>) -> Result<()> {
    let layout = place.layout();
    let (Some(executor), Some(partition)) = (place.executor_meta, place.partition_id) else {
        return Err(told("a part of the answer is nowhere"));
    };
    let gone = |why: String| {
        Error::new(Kind::Io, format!("an executor that has a part of the answer cannot be reached: {why}"))
            .at(format!("{}:{}", executor.host, executor.port))
            .hint("ask again")
    };
    let port = u16::try_from(executor.port).map_err(|error| gone(error.to_string()))?;
    let client = BallistaClient::try_new(&executor.host, port, MESSAGE as usize, false, None, TIMES, PAUSE, 0, 0).await;
    let mut client = client.map_err(|error| gone(error.to_string()))?;
    let batches = client.fetch_partition(&executor.id, &partition.into(), place.file_id, layout, true).await;
    let mut batches = batches.map_err(|error| gone(error.to_string()))?;
    while let Some(batch) = batches.next().await {
        let batch = batch.map_err(|error| gone(error.to_string()))?;
        if to.send(Ok(batch)).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}
