//! What a first look-up reads, on disks and in object stores: an index, and then the wanted blocks.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Poll;

use futures::stream::BoxStream;
use isomorph_graphlake::{
    Bindings, GraphLake, Lake, OpenOptions, Pattern, Place, Question, Solutions, Terms, TripleId, WriteOptions,
};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult,
};

fn node(number: usize) -> String {
    format!("http://example.org/node/{number:07}")
}

/// This many triples each of two predicates, one with resources and one with literals.
fn each(count: usize, take: &mut dyn FnMut(&Quad<'_>)) {
    for number in 0..count {
        let (subject, object) = (node(number), node(number.wrapping_mul(31) % count));
        take(&Quad { subject: &subject, predicate: "urn:p", object: Object::Term(&object), graph: None });
        let object = Object::plain(&object, "urn:d");
        take(&Quad { subject: &subject, predicate: "urn:q", object, graph: None });
    }
}

/// Number of reads and bytes of one look-up in a store that was just opened.
fn cost(location: &Location, look: impl FnOnce(&GraphLake) -> usize) -> (u64, u64, usize) {
    let lake = GraphLake::open(location, &OpenOptions { survey_up_to: 0, ..OpenOptions::default() }).unwrap();
    let (reads, bytes) = (lake.reads(), lake.bytes_read());
    let found = look(&lake);
    (lake.reads() - reads, lake.bytes_read() - bytes, found)
}

fn count(lake: &GraphLake, pattern: &Pattern<'_>) -> usize {
    let mut found = 0;
    lake.matching(pattern, &mut |_| {
        found += 1;
        Ok(())
    })
    .unwrap();
    found
}

/// Every kind of look-up in a store of two predicates with one file of each order.
fn check(location: &Location, number: usize, size: u64) {
    let (subject, partner) = (node(number), node(number * 31));
    let literal = Object::plain(&partner, "urn:d");
    let (s, o) = (Some(subject.as_str()), Some(literal));
    for (pattern, files, expected) in [
        (Pattern { subject: s, predicate: Some("urn:p"), ..Pattern::default() }, 1, 1),
        (Pattern { object: o, predicate: Some("urn:q"), ..Pattern::default() }, 1, 1),
        (Pattern { subject: s, ..Pattern::default() }, 2, 2),
        (Pattern { object: o, ..Pattern::default() }, 2, 1),
        (Pattern { subject: Some("urn:none"), ..Pattern::default() }, 0, 0),
    ] {
        let (reads, bytes, found) = cost(location, |lake| count(lake, &pattern));
        assert_eq!(found, expected, "{pattern:?}");
        assert!(reads <= 4 * files && bytes < size, "{reads} reads of {bytes} bytes for {pattern:?}");
    }
    let id = TripleId::of(&subject, "urn:q", &literal);
    let (reads, _, found) = cost(location, |lake| {
        let mut found = 0;
        lake.by_id(&id, &mut |_| {
            found += 1;
            Ok(())
        })
        .unwrap();
        found
    });
    assert_eq!(found, 1);
    assert!(reads <= 4 * 2, "{reads} reads by id");
}

#[test]
fn a_first_look_up_reads_a_file_four_times_at_most() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    // Enough that an index is longer than its part that is read first.
    let all = 120_000;
    common::write(&path, &WriteOptions::default(), |writer| {
        let mut done = Ok(());
        each(all, &mut |quad| {
            if done.is_ok() {
                done = writer.push(quad);
            }
        });
        done
    })
    .unwrap();
    let location = Location::from_path(&path);
    let lake = common::open(&path, &OpenOptions::default()).unwrap();
    let sizes = lake.snapshot().graphs[0].subject_files.iter().map(|file| file.size);
    check(&location, 3_000, sizes.min().unwrap());
}

#[test]
fn from_afar_ranges_are_read_together() {
    let location =
        Location::parse("s3://bucket/lake").unwrap().on_store(isomorph_network::client(Arc::new(InMemory::new())));
    let lake = Lake::create(&location, &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let mut transaction = lake.begin().unwrap();
    each(20_000, &mut |quad| transaction.insert(quad).unwrap());
    transaction.commit().unwrap();
    let size = GraphLake::open(&location, &OpenOptions::default()).unwrap().snapshot().graphs[0].subject_files[0].size;
    assert!(size > 400_000, "{size}");
    check(&location, 500, size);
    // Many bindings that are far apart: an index, and then all of their blocks at once.
    let mut terms = Terms::default();
    (0..10).for_each(|number| terms.push_resource(&node(number * 1_997)).unwrap());
    let question =
        Question { subject: Place::Column(0), predicate: Place::Term(Object::Term("urn:p")), ..Question::default() };
    let bindings = Arc::new(Bindings::new(vec![terms]).unwrap());
    let (reads, _, found) = cost(&location, |lake| {
        let mut solutions = Solutions::new(lake, &question, bindings).unwrap();
        let mut found = 0;
        while let Some(batch) = solutions.next_batch().unwrap() {
            found += batch.rows.len();
        }
        found
    });
    assert_eq!(found, 10);
    assert!(reads <= 4, "{reads}");
}

/// A store in memory that counts concurrent reads: each yields to others before it continues.
#[derive(Debug, Default)]
struct Watched {
    inner: InMemory,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl std::fmt::Display for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("watched")
    }
}

type Answer<'a, T> = Pin<Box<dyn Future<Output = object_store::Result<T>> + Send + 'a>>;

impl ObjectStore for Watched {
    fn put_opts<'a: 'r, 'b: 'r, 'r>(
        &'a self,
        location: &'b Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Answer<'r, PutResult>
    where
        Self: 'r,
    {
        self.inner.put_opts(location, payload, options)
    }

    fn put_multipart_opts<'a: 'r, 'b: 'r, 'r>(
        &'a self,
        location: &'b Path,
        options: PutMultipartOptions,
    ) -> Answer<'r, Box<dyn MultipartUpload>>
    where
        Self: 'r,
    {
        self.inner.put_multipart_opts(location, options)
    }

    fn get_opts<'a: 'r, 'b: 'r, 'r>(&'a self, location: &'b Path, options: GetOptions) -> Answer<'r, GetResult>
    where
        Self: 'r,
    {
        Box::pin(async move {
            self.most.fetch_max(self.now.fetch_add(1, SeqCst) + 1, SeqCst);
            let mut waited = false;
            std::future::poll_fn(|context| {
                context.waker().wake_by_ref();
                if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            let answer = self.inner.get_opts(location, options).await;
            self.now.fetch_sub(1, SeqCst);
            answer
        })
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, object_store::Result<Path>>,
    ) -> BoxStream<'static, object_store::Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_delimiter<'a: 'r, 'b: 'r, 'r>(&'a self, prefix: Option<&'b Path>) -> Answer<'r, ListResult>
    where
        Self: 'r,
    {
        self.inner.list_with_delimiter(prefix)
    }

    fn copy_opts<'a: 'r, 'b: 'r, 'c: 'r, 'r>(
        &'a self,
        from: &'b Path,
        to: &'c Path,
        options: CopyOptions,
    ) -> Answer<'r, ()>
    where
        Self: 'r,
    {
        self.inner.copy_opts(from, to, options)
    }
}

#[test]
fn from_afar_ranges_are_fetched_at_the_same_time() {
    let store = Arc::new(Watched::default());
    let client = isomorph_network::client(Arc::clone(&store) as Arc<dyn ObjectStore>);
    let location = Location::parse("s3://bucket/lake").unwrap().on_store(client);
    let lake = Lake::create(&location, &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let mut transaction = lake.begin().unwrap();
    // Long texts, so that the wanted records are far apart.
    let text = "x".repeat(1_000);
    for number in 0..12_000 {
        let object = Object::plain(&text, "");
        transaction.insert(&Quad { subject: &node(number), predicate: "urn:p", object, graph: None }).unwrap();
    }
    transaction.commit().unwrap();
    let question =
        Question { subject: Place::Column(0), predicate: Place::Term(Object::Term("urn:p")), ..Question::default() };
    let lake = GraphLake::open(&location, &OpenOptions { survey_up_to: 0, ..OpenOptions::default() }).unwrap();
    let ask = |numbers: &mut dyn Iterator<Item = usize>| {
        let mut terms = Terms::default();
        numbers.for_each(|number| terms.push_resource(&node(number)).unwrap());
        store.most.store(0, SeqCst);
        let (before, mut found) = (lake.reads(), 0);
        let mut solutions = Solutions::new(&lake, &question, Arc::new(Bindings::new(vec![terms]).unwrap())).unwrap();
        while let Some(batch) = solutions.next_batch().unwrap() {
            found += batch.rows.len();
        }
        (found, lake.reads() - before, store.most.load(SeqCst))
    };
    // One: its index and its block, one after the other.
    let (found, _, most) = ask(&mut std::iter::once(7));
    assert_eq!((found, most), (1, 1));
    // Six that are far apart: all blocks at once.
    let (found, reads, most) = ask(&mut (0..6).map(|number| 100 + number * 2_000));
    assert_eq!(found, 6);
    assert!(reads >= 6 && most >= 6, "{reads} reads, {most} at the same time");
}
