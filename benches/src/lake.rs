//! Small commits to a GraphLake store with many files.

use std::time::Instant;

use isomorph_error::Result;
use isomorph_graphlake::{Lake, OpenOptions, WriteOptions};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;
use serde_json::{Value, json};

use crate::measure::median;

/// Number of predicates among which the files are divided.
const PREDICATES: usize = 20;

/// Creates a store of `files` files, half of them by subject and half by object, with `triples` triples each; then runs
/// `runs` transactions of one triple, each durable when it ends.
pub fn commit(files: usize, triples: usize, path: &str, runs: usize) -> Result<Value> {
    let (opening, writing) = (OpenOptions::default(), WriteOptions::default());
    let lake = Lake::create(&Location::parse(path)?, &opening, &writing)?;
    let commits = (files / 2).div_ceil(PREDICATES);
    for commit in 0..commits {
        let mut transaction = lake.begin()?;
        for predicate in 0..PREDICATES {
            for triple in 0..triples {
                insert(&mut transaction, predicate, commit * triples + triple)?;
            }
        }
        transaction.commit()?;
    }
    let mut times = Vec::with_capacity(runs);
    for run in 0..runs {
        let started = Instant::now();
        let mut transaction = lake.begin()?;
        insert(&mut transaction, run % PREDICATES, usize::MAX - run)?;
        transaction.commit()?;
        times.push(started.elapsed());
    }
    let event = lake.log(1)?.pop().unwrap_or_default();
    let snapshot = std::fs::metadata(format!("{path}/snapshots/{}.json", event.id)).map(|file| file.len()).unwrap_or(0);
    Ok(json!({
        "files": event.files, "triples": event.triples, "snapshot_bytes": snapshot, "commits": runs,
        "median_seconds": median(&mut times).as_secs_f64(), "worst_seconds": times.last().map_or(0.0, |time| time.as_secs_f64()),
    }))
}

fn insert(transaction: &mut isomorph_graphlake::Transaction<'_>, predicate: usize, number: usize) -> Result<()> {
    let subject = format!("http://example.org/subject/{number}");
    let predicate = format!("http://example.org/predicate/{predicate}");
    let object = format!("http://example.org/object/{}", number % 7919);
    transaction.insert(&Quad { subject: &subject, predicate: &predicate, object: Object::Term(&object), graph: None })
}
