//! All kinds of questions about a store, in every way, as texts: two stores must answer alike.

use std::sync::Arc;

use isomorph_error::Result;
use isomorph_graphlake::{
    Bindings, Found, GraphLake, GraphNode, Graphs, InGraph, Join, JoinPattern, Node, Order, Pattern, Place, Question,
    Terms, TripleId, push_quad,
};
use isomorph_model::faces::{Object, Quad};

/// The terms of the questions: subject, predicate, object.
pub type Asked<'a> = (&'a str, &'a str, Object<'a>);

fn line(quad: &Quad<'_>) -> String {
    let mut line = String::new();
    push_quad(&mut line, quad);
    line
}

/// The extent of the questions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Everything,
    /// Questions that need no pass over everything.
    LookUps,
}

/// Checks that two stores answer alike.
#[track_caller]
pub fn assert_same(found: &[String], expected: &[String], what: &str) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected, "{what}");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

/// The answers to all questions about these triples, each with the question; an error is an answer, too.
pub fn answers(lake: &Arc<GraphLake>, asked: &[Asked<'_>], extent: Extent) -> Vec<String> {
    let whole = extent == Extent::Everything;
    let mut all = Vec::new();
    let mut say = |question: String, answer: Result<Vec<String>>| {
        let answer = answer.map_or_else(
            |error| format!("{:?} {:?}", error.kind(), error.broken_rule().map(|rule| rule.id)),
            |lines| {
                let sum = lines.iter().fold(0u64, |sum, line| {
                    line.bytes().fold(sum.wrapping_mul(31), |sum, byte| sum.wrapping_mul(131).wrapping_add(byte.into()))
                });
                format!("{} lines, {sum:x}, {}", lines.len(), lines.first().map_or("", |line| head(line)))
            },
        );
        all.push(format!("{question}: {answer}"));
    };
    for order in [Order::Subject, Order::Object].into_iter().filter(|_| whole) {
        say(format!("scan {order:?}"), collect(|take| lake.quads(order, take)));
    }
    if whole {
        say("divided".to_owned(), divided(lake));
    }
    for (number, (subject, predicate, object)) in asked.iter().enumerate() {
        for known in 0..8 {
            let pick = |bit: usize| known & bit != 0;
            let pattern = Pattern {
                subject: pick(1).then_some(*subject),
                predicate: pick(2).then_some(*predicate),
                object: pick(4).then_some(*object),
                graph: InGraph::Any,
            };
            // Patterns without terms are the same for all.
            if known & 5 != 0 || number == 0 && whole {
                say(format!("{number} pattern {known}"), collect(|take| lake.matching(&pattern, take)));
                say(format!("{number} on threads {known}"), collect(|take| lake.matching_on(2, &pattern, take)));
                let unit = Arc::new(Bindings::unit());
                let count = lake.ask_count(&Question::from(&pattern), unit, 2).map(|count| vec![count.to_string()]);
                say(format!("{number} count {known}"), count);
            }
        }
        let id = TripleId::of(subject, predicate, object);
        say(format!("{number} id"), collect(|take| lake.by_id(&id, take)));
    }
    for known in (1..8).filter(|known| known & 5 != 0 || whole) {
        say(format!("batch {known}"), batch(lake, asked, known));
    }
    for known in [false, true].into_iter().filter(|known| *known || whole) {
        say(format!("join {known}"), join(lake, asked, known));
    }
    all
}

fn head(line: &str) -> &str {
    line.char_indices().nth(60).map_or(line, |(end, _)| &line[..end])
}

fn collect(ask: impl FnOnce(&mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()>) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    ask(&mut |quad| {
        lines.push(line(&quad));
        Ok(())
    })?;
    Ok(lines)
}

/// Sections by subject, in sequence: their division may differ, but not their concatenation.
fn divided(lake: &GraphLake) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for section in lake.divided_sections()? {
        lake.statements_of(&section, &mut |quad| {
            lines.push(line(&quad));
            Ok(())
        })?;
    }
    Ok(lines)
}

/// All terms, as bindings of one question.
fn batch(lake: &Arc<GraphLake>, asked: &[Asked<'_>], known: usize) -> Result<Vec<String>> {
    let mut columns = [Terms::default(), Terms::default(), Terms::default()];
    for (subject, predicate, object) in asked {
        columns[0].push(&Object::Term(subject))?;
        columns[1].push(&Object::Term(predicate))?;
        columns[2].push(object)?;
    }
    let place = |column: usize| if known & (1 << column) == 0 { Place::Any } else { Place::Column(column) };
    let question = Question { subject: place(0), predicate: place(1), object: place(2), graph: Graphs::Any };
    let bindings = Arc::new(Bindings::new(columns.into())?);
    let mut lines = Vec::new();
    lake.ask(&question, Arc::clone(&bindings), 2, &mut |found| {
        lines.extend((0..found.rows.len()).map(|row| shown(&found, row)));
        Ok(())
    })?;
    let count = lake.ask_count(&question, bindings, 2)?;
    lines.sort();
    lines.push(format!("{count} counted"));
    Ok(lines)
}

fn shown(found: &Found, row: usize) -> String {
    let columns = [&found.subjects, &found.predicates, &found.objects, &found.graphs];
    format!("{} {:?}", found.rows[row], columns.map(|column| column.get(row)))
}

/// Subjects that share two things: one of them known, or both variables.
fn join(lake: &Arc<GraphLake>, asked: &[Asked<'_>], known: bool) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for (_, predicate, object) in asked.iter().take(if known { asked.len() } else { 1 }) {
        let one = if known { Node::Term(*object) } else { Node::Variable(1) };
        let patterns = [
            JoinPattern { nodes: [Node::Variable(0), Node::Term(Object::Term(predicate)), one], graph: GraphNode::Any },
            JoinPattern { nodes: [Node::Variable(0), Node::Variable(2), Node::Variable(1)], graph: GraphNode::Any },
        ];
        let mut join = Join::new(Arc::clone(lake), &patterns, 3)?;
        while let Some(rows) = join.next_batch()? {
            for row in 0..rows.rows() {
                let term = |variable| join.column(variable).and_then(|column| rows.columns()[column].get(row));
                lines.push(format!("{:?}", [0, 1, 2].map(term)));
            }
        }
    }
    lines.sort();
    Ok(lines)
}
