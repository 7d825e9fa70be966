//! Answers a query over columns.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use isomorph::error::{Error, Result};
use oxrdf::{Term, Variable};
use spareval::{CancellationToken, QueryEvaluationError, QueryResults, QuerySolutionIter};
use spargebra::Query;
use spargebra::algebra::GraphPattern;

use super::compile::{self, Refused};
use super::execute::Context;
use super::numbers::Numbers;
use super::plan::Plan;
use super::table::Table;
use crate::answer::Answer;
use crate::index::TripleIndex;
use crate::stack::large_stack;

/// Batches of solutions that wait for whoever takes them.
const WAITING: usize = 4;

/// A query that is evaluated over columns.
pub(crate) struct Columnar<'g> {
    context: Context<'g>,
    plan: Plan,
}

/// Why a query is not evaluated over columns, whatever its graph.
pub(crate) fn refusal(query: &Query) -> Option<&'static str> {
    match compile::plan(query, &mut |_| Ok(1)) {
        Err(Refused::Because(what)) => Some(what),
        Ok(_) | Err(Refused::Failed(_)) => None,
    }
}

/// A part of an answer; `None` is its end.
type Message = Result<Option<Table>>;

impl<'g> Columnar<'g> {
    /// Plans a query; `None` if a part of it is not covered.
    ///
    /// # Errors
    /// If there is no memory for its terms.
    pub fn new(
        query: &Query,
        graph: &'g TripleIndex,
        token: CancellationToken,
        timeout: Option<Duration>,
    ) -> Result<Option<Self>> {
        let numbers = Numbers::new(&graph.terms, graph.budget())?;
        let plan = match compile::plan(query, &mut |term| numbers.number(term)) {
            Ok(plan) => plan,
            Err(Refused::Because(_)) => return Ok(None),
            Err(Refused::Failed(error)) => return Err(error),
        };
        let (Query::Select { base_iri, .. }
        | Query::Construct { base_iri, .. }
        | Query::Describe { base_iri, .. }
        | Query::Ask { base_iri, .. }) = query;
        let pattern = GraphPattern::Bgp { patterns: Vec::new() };
        let template = Query::Select { dataset: None, pattern, base_iri: base_iri.clone() };
        let context = Context::new(graph, numbers, template, plan.memos, token, timeout)?;
        Ok(Some(Columnar { context, plan }))
    }

    /// Evaluates the query. If it turns out that values cannot be compared here, `take` is returned as it was.
    ///
    /// # Errors
    /// If the evaluation is stopped, or there is no memory for it; those of `take`.
    pub fn run<T, F: FnOnce(Answer<'_>) -> Result<T>>(self, take: F) -> Result<std::result::Result<T, F>> {
        let Columnar { context, plan } = self;
        let refused = |result: Result<()>| match result {
            Err(_) if context.is_refused() => Ok(false),
            Err(error) => Err(error),
            Ok(()) => Ok(true),
        };
        if plan.is_ask {
            let mut found = false;
            let asked = context.answer(&plan, &mut |batch| {
                found |= batch.rows > 0;
                Ok(!found)
            });
            return if refused(asked)? { take(Answer::Boolean(found)).map(Ok) } else { Ok(Err(take)) };
        }
        if plan.compares {
            // Whether values can be compared is known only at the end.
            let (mut batches, mut held) = (Vec::new(), context.budget.reserve(0)?);
            let answered = context.answer(&plan, &mut |batch| {
                let bytes = held.bytes() + batch.bytes();
                context.hold(&mut held, bytes, batch.rows)?;
                batches.push(batch);
                Ok(true)
            });
            if !refused(answered)? {
                return Ok(Err(take));
            }
            let batches = batches.into_iter().map(|batch| Ok(Some(batch))).chain([Ok(None)]);
            return take(solutions(&context, &plan, batches)?).map(Ok);
        }
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<Message>(WAITING);
            let (context, plan) = (&context, &plan);
            large_stack(scope, move || {
                let done = context.answer(plan, &mut |batch| Ok(sender.send(Ok(Some(batch))).is_ok()));
                // Nobody waits for the end if the answer was not read to it.
                let _ = sender.send(done.map(|()| None));
            })?;
            take(solutions(context, plan, Messages(receiver))?).map(Ok)
        })
    }
}

/// Messages of a thread. That it ended without saying so is an error.
struct Messages(Receiver<Message>);

impl Iterator for Messages {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        Some(self.0.recv().unwrap_or_else(|_| {
            Err(Error::malformed("internal error: the evaluation of the query ended without an answer"))
        }))
    }
}

fn solutions<'a>(
    context: &'a Context<'_>,
    plan: &'a Plan,
    messages: impl Iterator<Item = Message> + 'a,
) -> Result<Answer<'a>> {
    let variables: Arc<[Variable]> = plan.answer.iter().map(|(_, name)| name.clone()).collect();
    let rows = Solutions { context, plan, messages, batch: Table::default(), row: 0, ended: false };
    let failed = |error| QueryEvaluationError::Dataset(Box::new(error));
    let rows = rows.map(move |row| row.map_err(failed));
    let results = QueryResults::Solutions(QuerySolutionIter::from_tuples(variables, rows));
    Answer::new(results, context.timeout, &context.budget)
}

/// Solutions as terms.
struct Solutions<'a, 'g, M> {
    context: &'a Context<'g>,
    plan: &'a Plan,
    messages: M,
    batch: Table,
    row: usize,
    ended: bool,
}

impl<M: Iterator<Item = Message>> Iterator for Solutions<'_, '_, M> {
    type Item = Result<Vec<Option<Term>>>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.row >= self.batch.rows {
            if self.ended {
                return None;
            }
            match self.messages.next() {
                Some(Ok(Some(batch))) => (self.batch, self.row) = (batch, 0),
                Some(Ok(None)) | None => self.ended = true,
                Some(Err(error)) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        let row = self.row;
        self.row += 1;
        let term = |var: usize| self.context.numbers.term(self.batch.value(var, row));
        Some(self.plan.answer.iter().map(|(var, _)| term(*var)).collect())
    }
}
