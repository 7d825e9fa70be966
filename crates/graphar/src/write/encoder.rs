//! Encodes files on several threads; the bytes do not depend on the number of threads.
//!
//! Each file is encoded piece by piece, in order, by one thread at a time; different files in parallel. The queue is
//! bounded, so a slow disk blocks the producer instead of filling memory.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use arrow_array::RecordBatch;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::StagedFile;
use isomorph_tables::TableWriter;

/// Maximum bytes of batches that wait to be encoded.
const WAITING_BYTES: usize = 48 << 20;

/// A unit of work on one file.
enum Job {
    Write(RecordBatch),
    Finish,
}

/// A file that is being encoded.
pub(crate) struct Task {
    path: String,
    state: Mutex<TaskState>,
}

struct TaskState {
    jobs: VecDeque<Job>,
    /// Whether the task is queued or running.
    scheduled: bool,
    writer: Option<Box<TableWriter<StagedFile>>>,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Arc<Task>>,
    waiting_bytes: usize,
    open_files: usize,
    stop: bool,
    error: Option<Error>,
    written: Vec<(String, u64)>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Signals that a task is ready, or that encoding ends.
    ready: Condvar,
    /// Signals that a job was completed.
    done: Condvar,
}

/// Threads that encode files.
pub(crate) struct Encoder {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Encoder {
    /// Creates an encoder with `threads` threads; by default as many as processors.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started.
    pub fn new(threads: Option<usize>) -> Result<Self> {
        let available = || std::thread::available_parallelism().map_or(1, usize::from);
        let count = threads.unwrap_or_else(available).max(1);
        let shared = Arc::new(Shared::default());
        let mut encoder = Encoder { shared, threads: Vec::with_capacity(count) };
        for number in 0..count {
            let shared = Arc::clone(&encoder.shared);
            let builder = std::thread::Builder::new().name(format!("graphar-encode-{number}"));
            encoder.threads.push(builder.spawn(move || shared.work()).map_err(Error::from)?);
        }
        Ok(encoder)
    }

    /// Begins a file.
    pub fn begin(&self, path: &str, writer: TableWriter<StagedFile>) -> Arc<Task> {
        lock(&self.shared.state).open_files += 1;
        let state = TaskState { jobs: VecDeque::new(), scheduled: false, writer: Some(Box::new(writer)) };
        Arc::new(Task { path: path.to_owned(), state: Mutex::new(state) })
    }

    /// Queues the next rows of a file; blocks while the queue is full.
    ///
    /// # Errors
    /// Returns the first error of any file.
    pub fn write(&self, task: &Arc<Task>, batch: RecordBatch) -> Result<()> {
        let bytes = batch.get_array_memory_size();
        let mut state = lock(&self.shared.state);
        while state.error.is_none() && state.waiting_bytes > 0 && state.waiting_bytes + bytes > WAITING_BYTES {
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(error) = state.error.take() {
            state.error = Some(again());
            return Err(error);
        }
        state.waiting_bytes += bytes;
        drop(state);
        self.schedule(task, Job::Write(batch));
        Ok(())
    }

    /// Marks a file as complete.
    pub fn close(&self, task: &Arc<Task>) {
        self.schedule(task, Job::Finish);
    }

    fn schedule(&self, task: &Arc<Task>, job: Job) {
        let mut own = lock(&task.state);
        own.jobs.push_back(job);
        if !std::mem::replace(&mut own.scheduled, true) {
            lock(&self.shared.state).ready.push_back(Arc::clone(task));
            self.shared.ready.notify_one();
        }
    }

    /// Waits until everything is encoded and returns the files with their sizes, in no particular order.
    ///
    /// # Errors
    /// Returns the first error of any file.
    pub fn finish(mut self) -> Result<Vec<(String, u64)>> {
        let mut state = lock(&self.shared.state);
        while state.error.is_none() && state.open_files > 0 {
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let error = state.error.take();
        let written = std::mem::take(&mut state.written);
        drop(state);
        self.stop();
        error.map_or(Ok(written), Err)
    }

    fn stop(&mut self) {
        lock(&self.shared.state).stop = true;
        self.shared.ready.notify_all();
        for thread in self.threads.drain(..) {
            // A panic of a thread has already been turned into an error.
            let _ = thread.join();
        }
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns the error of every call after the first failure.
fn again() -> Error {
    Error::new(Kind::Cancelled, "writing failed for another file")
}

impl Shared {
    /// The main loop of a thread.
    fn work(&self) {
        loop {
            let mut state = lock(&self.state);
            let task = loop {
                if state.stop {
                    return;
                }
                match state.ready.pop_front() {
                    Some(task) => break task,
                    None => state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(state);
            self.step(&task);
        }
    }

    /// Executes one job of a task, and queues the task again if it has more.
    fn step(&self, task: &Arc<Task>) {
        let (job, writer) = {
            let mut own = lock(&task.state);
            (own.jobs.pop_front(), own.writer.take())
        };
        let bytes = match &job {
            Some(Job::Write(batch)) => batch.get_array_memory_size(),
            _ => 0,
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| run(job, writer)))
            .unwrap_or_else(|_| Err(Error::new(Kind::Unsupported, "the encoder failed on a batch")));
        let mut state = lock(&self.state);
        state.waiting_bytes = state.waiting_bytes.saturating_sub(bytes);
        match outcome {
            Ok(Outcome::Open(writer)) => {
                drop(state);
                let mut own = lock(&task.state);
                own.writer = Some(writer);
                own.scheduled = !own.jobs.is_empty();
                if own.scheduled {
                    lock(&self.state).ready.push_back(Arc::clone(task));
                    self.ready.notify_one();
                }
            }
            Ok(Outcome::Done(size)) => {
                state.open_files -= 1;
                state.written.push((task.path.clone(), size));
            }
            Err(error) => {
                if state.error.is_none() {
                    state.error = Some(error.at(Place::file(&task.path)));
                }
            }
        }
        self.done.notify_all();
    }
}

enum Outcome {
    Open(Box<TableWriter<StagedFile>>),
    Done(u64),
}

fn run(job: Option<Job>, writer: Option<Box<TableWriter<StagedFile>>>) -> Result<Outcome> {
    let Some(mut writer) = writer else { return Err(again()) };
    match job {
        Some(Job::Write(batch)) => {
            writer.write(&batch)?;
            Ok(Outcome::Open(writer))
        }
        Some(Job::Finish) => {
            let (file, _) = writer.finish()?;
            Ok(Outcome::Done(file.finish()?.size))
        }
        None => Ok(Outcome::Open(writer)),
    }
}
