//! Evaluates a query.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use isomorph::error::{Error, Kind, Result};
use spareval::{CancellationToken, QueryEvaluationError};

use crate::answer::Answer;
use crate::columnar::{Columnar, refusal};
use crate::dataset::Face;
use crate::index::TripleIndex;
use crate::operators;
use crate::question::{Question, largest_join, pattern_of, pattern_of_mut};
use crate::stack::on_large_stack;
use crate::sums;

/// Triple patterns that are brought into an order. The time for that grows with the fourth power of their number (0.7
/// seconds for 60, 12 for 120), so more of them are joined as they are written.
const MOST_ORDERED: usize = 60;

/// How often a query is asked whether it goes on.
const LOOK: Duration = Duration::from_millis(50);

impl Question {
    /// Evaluates the query, and passes its answer to `take` as it is found.
    ///
    /// What the query does decides how: over columns, on several threads and within the budget of the graph, if
    /// [`Question::row_at_a_time`] gives no reason against that; otherwise row at a time, where the memory of joins by hash, groups
    /// and sorting is not part of the budget. After `timeout`, evaluation ends at the next batch, or quad that it reads.
    ///
    /// # Errors
    /// [`Kind::Cancelled`] after the timeout; [`Kind::TooLarge`] if there is no memory for an index or an operator;
    /// [`Kind::Unsupported`] for functions that nobody defined; errors of `take`.
    pub fn run<T: Send>(
        &self,
        graph: &TripleIndex,
        timeout: Option<Duration>,
        take: impl FnOnce(Answer<'_>) -> Result<T> + Send,
    ) -> Result<T> {
        self.run_while(graph, timeout, &|| Ok(()), take)
    }

    /// The same. It asks `go_on` about twenty times in a second, and ends with its error.
    ///
    /// # Errors
    /// As [`Question::run`], and those of `go_on`.
    pub fn run_while<T: Send>(
        &self,
        graph: &TripleIndex,
        timeout: Option<Duration>,
        go_on: &(dyn Fn() -> Result<()> + Sync),
        take: impl FnOnce(Answer<'_>) -> Result<T> + Send,
    ) -> Result<T> {
        let token = CancellationToken::new();
        watched(timeout, go_on, &token, || {
            on_large_stack(|| {
                let Some(columnar) = Columnar::new(&self.query, graph, token.clone(), timeout)? else {
                    return self.rows(graph, timeout, &token, take);
                };
                match columnar.run(take)? {
                    Ok(taken) => Ok(taken),
                    Err(take) => self.rows(graph, timeout, &token, take),
                }
            })
        })
    }

    /// The same, row at a time. The answers are the same, in an order that may be another.
    ///
    /// # Errors
    /// As [`Question::run`].
    pub fn run_row_at_a_time<T: Send>(
        &self,
        graph: &TripleIndex,
        timeout: Option<Duration>,
        take: impl FnOnce(Answer<'_>) -> Result<T> + Send,
    ) -> Result<T> {
        let token = CancellationToken::new();
        watched(timeout, &|| Ok(()), &token, || on_large_stack(|| self.rows(graph, timeout, &token, take)))
    }

    /// Why this query is evaluated row at a time: the part of it that is not evaluated over columns. `None` if there is no such part.
    ///
    /// ```
    /// use isomorph_sparql::{Question, QuestionOptions};
    ///
    /// let parse = |text| Question::parse(text, &QuestionOptions::default()).unwrap();
    /// assert_eq!(parse("SELECT ?s { ?s ?p 1 }").row_at_a_time(), None);
    /// assert_eq!(parse("SELECT ?s { GRAPH ?g { ?s ?p 1 } }").row_at_a_time(), Some("GRAPH"));
    /// ```
    pub fn row_at_a_time(&self) -> Option<&'static str> {
        // A query that was parsed is not too deep for the stack of another thread, but may be for this one.
        on_large_stack(|| Ok(refusal(&self.query))).unwrap_or(None)
    }

    fn rows<T>(
        &self,
        graph: &TripleIndex,
        timeout: Option<Duration>,
        token: &CancellationToken,
        take: impl FnOnce(Answer<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut evaluator = sums::evaluator(token);
        if largest_join(pattern_of(&self.query)) > MOST_ORDERED {
            evaluator = evaluator.without_optimizations();
        }
        let mut query = self.query.clone();
        sums::replace(pattern_of_mut(&mut query));
        operators::replace(pattern_of_mut(&mut query));
        let results = evaluator.prepare(&query).execute(Face(graph)).map_err(|error| failure(error, timeout))?;
        take(Answer::new(results, timeout, graph.budget())?)
    }
}

/// Calls `work`, and cancels the token if it takes longer than `timeout`, or `go_on` has an error, which is returned.
pub(crate) fn watched<T>(
    timeout: Option<Duration>,
    go_on: &(dyn Fn() -> Result<()> + Sync),
    token: &CancellationToken,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let start = Instant::now();
    let result = thread::scope(|scope| {
        let (done, wait) = channel::<()>();
        let token = token.clone();
        scope.spawn(move || {
            loop {
                let left = timeout.map_or(LOOK, |timeout| timeout.saturating_sub(start.elapsed()));
                if wait.recv_timeout(left.min(LOOK)) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                if go_on().is_err() || timeout.is_some_and(|timeout| start.elapsed() >= timeout) {
                    return token.cancel();
                }
            }
        });
        let result = work();
        drop(done);
        result
    });
    result.or_else(|error| go_on().and(Err(error)))
}

/// The error of an evaluation.
pub(crate) fn failure(error: QueryEvaluationError, timeout: Option<Duration>) -> Error {
    match error {
        QueryEvaluationError::Dataset(error) => match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => Error::new(Kind::Malformed, error.to_string()),
        },
        QueryEvaluationError::Cancelled => {
            let limit = timeout.map_or_else(String::new, |timeout| format!(" after {} s", timeout.as_secs_f64()));
            Error::new(Kind::Cancelled, format!("the query was stopped{limit}")).hint("--timeout    allow more time")
        }
        QueryEvaluationError::UnsupportedCustomFunction(name) => Error::unsupported(format!("unknown function {name}")),
        error => Error::unsupported(format!("the query cannot be evaluated: {error}")),
    }
}
