//! Scans, batches and joins of a GraphLake store, on one thread and on several.

use std::sync::Arc;

use isomorph_error::Result;
use isomorph_graphlake::{
    Bindings, GraphLake, GraphNode, Join, JoinPattern, Node, OpenOptions, Place, Question, Terms,
};
use isomorph_model::faces::Object;
use isomorph_storage::Location;
use serde_json::{Value, json};

use crate::draw::Draw;
use crate::measure::Measured;
use crate::triples::{OF_SUBJECT, predicate, resource};

/// Number of bindings in the batch.
const BATCH: u64 = 100_000;

/// Queries a store of generated triples, on one thread and on `threads` threads alternately: all triples of a predicate
/// with literals, their number, the triples of a batch of subjects, and a join of two patterns with the same subject.
/// Caches are warm.
pub(crate) fn scans(path: &str, triples: u64, runs: usize, threads: usize) -> Result<Value> {
    let lake = Arc::new(GraphLake::open(&Location::parse(path)?, &OpenOptions::default())?);
    let (resources, texts) = (predicate(1), predicate(3));
    let of = |predicate| Question { predicate: Place::Term(Object::Term(predicate)), ..Question::default() };
    let (mut draw, mut subjects) = (Draw::new(13), Terms::default());
    for _ in 0..BATCH {
        subjects.push_resource(&resource(draw.below(triples.div_ceil(OF_SUBJECT))))?;
    }
    let (unit, batch) = (Arc::new(Bindings::unit()), Arc::new(Bindings::new(vec![subjects])?));
    let asked = |question: &Question<'_>, bindings: &Arc<Bindings>, threads: usize| {
        let mut rows = 0;
        lake.ask(question, Arc::clone(bindings), threads, &mut |found| {
            rows += found.rows.len() as u64;
            Ok(())
        })?;
        Ok(rows)
    };
    let pattern = |predicate, object| JoinPattern {
        nodes: [Node::Variable(0), Node::Term(Object::Term(predicate)), Node::Variable(object)],
        graph: GraphNode::Any,
    };
    let patterns = [pattern(&texts, 1), pattern(&resources, 2)];
    let joined = |threads: usize| {
        let mut rows = 0;
        Join::new(Arc::clone(&lake), &patterns, 3)?.each(threads, &mut |found| {
            rows += found.rows() as u64;
            Ok(())
        })?;
        Ok(rows)
    };
    let by_subject = Question { subject: Place::Column(0), ..of(&texts) };
    let mut answer = serde_json::Map::new();
    let mut measure = |name: &str, work: &dyn Fn(usize) -> Result<u64>| -> Result<()> {
        work(threads)?;
        let (mut one, mut more) = (Measured::new(), Measured::new());
        for _ in 0..runs {
            one.run(|| work(1))?;
            more.run(|| work(threads))?;
        }
        let side = |mut measured: Measured<u64>| -> Result<Value> {
            let (seconds, processor) = (measured.seconds(), measured.processor());
            Ok(json!({ "seconds": seconds, "processor": processor, "rows": measured.answer()? }))
        };
        answer.insert(name.to_owned(), json!({ "one": side(one)?, "more": side(more)? }));
        Ok(())
    };
    measure("scan", &|threads| asked(&of(&texts), &unit, threads))?;
    measure("count", &|threads| lake.ask_count(&of(&texts), Arc::clone(&unit), threads))?;
    measure("batch", &|threads| asked(&by_subject, &batch, threads))?;
    measure("join", &joined)?;
    Ok(answer.into())
}
