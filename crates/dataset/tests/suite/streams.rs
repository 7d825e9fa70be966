//! Partitions as asynchronous streams, from inside and outside of runtimes.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use isomorph_dataset::{Cancel, Dataset};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, Graph, MemoryGraph, Part, Request, Source, part};
use isomorph_storage::Resources;
use isomorph_zoo::{Build, Nodes, int64};

const BATCHES: usize = 200;

/// Two partitions of one-row batches, which count how often they were read.
struct Counting {
    inner: MemoryGraph,
    read: Arc<AtomicUsize>,
    /// The batch that is an error.
    broken: Option<usize>,
}

impl Source for Counting {
    fn graph(&self) -> &Graph {
        self.inner.graph()
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let one = |from: usize| {
            let request = request.clone();
            let batches = (from..from + BATCHES).map(move |at| {
                self.read.fetch_add(1, Ordering::SeqCst);
                if self.broken == Some(at) {
                    return Err(Error::malformed("the broken batch"));
                }
                let all: Option<Result<Batch>> =
                    self.inner.scan(&request).ok().and_then(|parts| parts.into_iter().flatten().next());
                all.unwrap_or_else(|| Err(Error::malformed("no batch"))).map(|batch| batch.slice(at, 1))
            });
            part::of(Some(BATCHES as u64), batches)
        };
        Ok(vec![one(0), one(BATCHES)])
    }
}

fn dataset(broken: Option<usize>) -> (Dataset, Arc<AtomicUsize>) {
    let mut build = Build::default();
    build.nodes(Nodes::keyed("node", int64((0..2 * BATCHES as i64).collect::<Vec<_>>())));
    let read = Arc::new(AtomicUsize::new(0));
    let source = Counting { inner: build.finish(), read: Arc::clone(&read), broken };
    (Dataset::new(Arc::new(source), Resources::of_this_machine().unwrap()), read)
}

/// The rows of all partitions, one stream after another.
async fn rows(dataset: &Dataset) -> Result<usize> {
    let mut rows = 0;
    for partition in dataset.scan("node")?.partitions()? {
        let mut stream = partition.into_stream();
        while let Some(batch) = stream.next().await {
            rows += batch?.num_rows();
        }
        assert!(stream.next().await.is_none());
    }
    Ok(rows)
}

#[test]
fn streams_give_all_batches_in_every_runtime_and_in_none() {
    let (dataset, _) = dataset(None);
    assert_eq!(futures::executor::block_on(rows(&dataset)).unwrap(), 2 * BATCHES);
    let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(one.block_on(rows(&dataset)).unwrap(), 2 * BATCHES);
    let many = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let dataset = Arc::new(dataset);
    let found = many.block_on(async {
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let dataset = Arc::clone(&dataset);
                tokio::spawn(async move { rows(&dataset).await.unwrap() })
            })
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        sum
    });
    assert_eq!(found, 8 * BATCHES);
    // Reading without a stream blocks, and works inside of a runtime all the same.
    let blocking = one.block_on(async { dataset.scan("node").unwrap().batches().unwrap().count() });
    assert_eq!(blocking, 2 * BATCHES);
}

#[test]
fn nothing_is_read_before_the_first_poll_and_little_ahead() {
    let (dataset, read) = dataset(None);
    let mut streams: Vec<_> =
        dataset.scan("node").unwrap().partitions().unwrap().into_iter().map(|part| part.into_stream()).collect();
    assert_eq!(read.load(Ordering::SeqCst), 0);
    assert_eq!(futures::executor::block_on(streams[0].next()).unwrap().unwrap().num_rows(), 1);
    // Two wait, and one more may be read already.
    assert!(read.load(Ordering::SeqCst) <= 4);
    drop(streams);
    assert!(read.load(Ordering::SeqCst) <= 5);
}

#[test]
fn an_error_is_the_last_item() {
    let (dataset, _) = dataset(Some(7));
    let partition = dataset.scan("node").unwrap().partitions().unwrap().remove(0);
    let items: Vec<_> = futures::executor::block_on(partition.into_stream().collect());
    assert_eq!(items.len(), 8);
    assert_eq!(items[7].as_ref().unwrap_err().message(), "the broken batch");
}

#[test]
fn a_token_ends_every_partition() {
    let (dataset, read) = dataset(None);
    let cancel = Cancel::new();
    let scan = dataset.scan("node").unwrap().cancel(cancel.clone());
    let mut partitions = scan.partitions().unwrap();
    assert!(partitions[0].next().unwrap().is_ok());
    cancel.cancel();
    for partition in &mut partitions {
        assert_eq!(partition.next().unwrap().unwrap_err().kind(), Kind::Cancelled);
        assert!(partition.next().is_none());
    }
    assert_eq!(read.load(Ordering::SeqCst), 1);
}
