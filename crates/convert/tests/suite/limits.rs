//! Reading ends when no more is needed: tested by counting the batches that are read.
#![allow(clippy::unwrap_used)]

use isomorph_storage::Resources;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use arrow_array::{Array, ArrayRef, Int64Array};
use isomorph_convert::{Silent, dump, dump_first};
use isomorph_error::Result;
use isomorph_model::{Batch, EndForm, Graph, MemoryGraph, NodeBatch, Part, Request, Source, part};
use isomorph_zoo::{Build, Edges, Nodes};

/// Rows of nodes, each in a separate batch.
const ROWS: u64 = 2_000;

/// A graph that counts the batches that are read from it. Its ends are rows, for which all keys must be read.
struct Counting {
    inner: MemoryGraph,
    pulled: AtomicUsize,
}

impl Source for Counting {
    fn graph(&self) -> &Graph {
        self.inner.graph()
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let counted = |inner| {
            part::shown(inner, |batch, take| {
                self.pulled.fetch_add(1, Relaxed);
                take(batch)
            })
        };
        Ok(self.inner.scan(request)?.into_iter().map(counted).collect())
    }

    fn end_form(&self, ty: usize) -> EndForm {
        self.inner.end_form(ty)
    }
}

fn counting() -> Counting {
    let mut build = Build::default();
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(0..ROWS as i64));
    let node = build.nodes(Nodes::keyed("node", keys.clone()));
    build.edges(Edges::rows(node, "next", node, (1..ROWS).map(|row| (row - 1, row))));
    let mut inner = build.finish();
    let one = |row: u64| {
        let keys = Some(keys.slice(row as usize, 1));
        Batch::Nodes(NodeBatch {
            ty: node,
            start: row,
            numbers: None,
            rows: 1,
            keys,
            labels: None,
            properties: Vec::new(),
        })
    };
    let edges: Vec<Batch> = inner.batches.iter().filter(|batch| matches!(batch, Batch::Edges(_))).cloned().collect();
    inner.batches = (0..ROWS).map(one).chain(edges).collect();
    Counting { inner, pulled: AtomicUsize::new(0) }
}

/// A reader of this number of lines, which then stops.
struct Pipe(usize);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(1).ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_last_line_that_is_wanted_ends_a_dump() {
    let mut whole = Vec::new();
    let resources = |threads| Resources { threads, ..Resources::of_this_machine().unwrap() };
    dump(&counting(), &mut whole, &resources(1), &Silent).unwrap();
    let whole = String::from_utf8(whole).unwrap();
    assert_eq!(whole.lines().count() as u64, 2 * ROWS - 1);
    for (most, threads) in [(3, 1), (3, 4), (100, 4), (ROWS, 4)] {
        let (graph, mut some) = (counting(), Vec::new());
        dump_first(&graph, most, &mut some, &resources(threads), &Silent).unwrap();
        let expected: String = whole.split_inclusive('\n').take(most as usize).collect();
        assert_eq!(String::from_utf8(some).unwrap(), expected);
        assert_eq!(graph.pulled.into_inner() as u64, most, "{threads} threads");
    }
    let (graph, mut all) = (counting(), Vec::new());
    dump_first(&graph, ROWS + 5, &mut all, &resources(2), &Silent).unwrap();
    assert_eq!(all.iter().filter(|byte| **byte == b'\n').count() as u64, ROWS + 5);
}

#[test]
fn a_closed_pipe_ends_a_dump() {
    for threads in [1, 3] {
        let graph = counting();
        let resources = Resources { threads, ..Resources::of_this_machine().unwrap() };
        dump(&graph, &mut Pipe(3), &resources, &Silent).unwrap_err();
        let pulled = graph.pulled.into_inner();
        // Some may wait to be consumed, none is read for the keys of edges.
        assert!(pulled <= if threads == 1 { 4 } else { 100 }, "{pulled} of {ROWS} batches");
    }
}
