//! Evaluates a query.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use isomorph::error::{Error, Kind, Result};
use spareval::{CancellationToken, QueryEvaluationError, QueryEvaluator};

use crate::answer::Answer;
use crate::dataset::Face;
use crate::index::TripleIndex;
use crate::question::{Question, largest_join, pattern_of};
use crate::stack::on_large_stack;

/// Triple patterns that are brought into an order. The time for that grows with the fourth power of their number (0.7
/// seconds for 60, 12 for 120), so more of them are joined as they are written.
const MOST_ORDERED: usize = 60;

impl Question {
    /// Evaluates the query, and passes its answer to `take` as it is found.
    ///
    /// Memory of the evaluation itself (joins by hash, groups, sorting) is not part of the budget. After `timeout`,
    /// evaluation ends at the next quad that it reads.
    ///
    /// # Errors
    /// [`Kind::Cancelled`] after the timeout; [`Kind::TooLarge`] if there is no memory for an index;
    /// [`Kind::Unsupported`] for functions that nobody defined; errors of `take`.
    pub fn run<T: Send>(
        &self,
        graph: &TripleIndex,
        timeout: Option<Duration>,
        take: impl FnOnce(Answer<'_>) -> Result<T> + Send,
    ) -> Result<T> {
        let token = CancellationToken::new();
        with_timeout(timeout, &token, || {
            on_large_stack(|| {
                let mut evaluator = QueryEvaluator::new().with_cancellation_token(token.clone());
                if largest_join(pattern_of(&self.query)) > MOST_ORDERED {
                    evaluator = evaluator.without_optimizations();
                }
                let results =
                    evaluator.prepare(&self.query).execute(Face(graph)).map_err(|error| failure(error, timeout))?;
                take(Answer::new(results, timeout))
            })
        })
    }
}

/// Calls `work`, and cancels the token if it takes longer than `timeout`.
pub(crate) fn with_timeout<T>(
    timeout: Option<Duration>,
    token: &CancellationToken,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let Some(timeout) = timeout else { return work() };
    thread::scope(|scope| {
        let (done, wait) = channel::<()>();
        let timer = token.clone();
        scope.spawn(move || {
            if wait.recv_timeout(timeout) == Err(RecvTimeoutError::Timeout) {
                timer.cancel();
            }
        });
        let result = work();
        drop(done);
        result
    })
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
