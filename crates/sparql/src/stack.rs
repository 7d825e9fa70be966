//! Parsing and evaluation are recursive, so they run on a thread with a large stack.

use std::thread;

use isomorph::error::{Error, Kind, Result};

/// The stack in bytes. Only what is used becomes memory.
const STACK: usize = 512 << 20;

/// Calls `work` on a thread with a large stack.
///
/// # Errors
/// Those of `work`; [`Kind::Io`] if the system starts no thread.
pub(crate) fn on_large_stack<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    thread::scope(|scope| {
        let thread = start(scope, work)?;
        thread.join().unwrap_or_else(|_| {
            Err(Error::malformed(
                "internal error: the evaluation of the query failed; please report this with the query and \
                 `isomorph --version`",
            ))
        })
    })
}

/// Starts a thread with a large stack, which ends with the scope.
///
/// # Errors
/// [`Kind::Io`] if the system starts no thread.
pub(crate) fn large_stack<'s>(scope: &'s thread::Scope<'s, '_>, work: impl FnOnce() + Send + 's) -> Result<()> {
    start(scope, work).map(|_| ())
}

fn start<'s, T: Send + 's>(
    scope: &'s thread::Scope<'s, '_>,
    work: impl FnOnce() -> T + Send + 's,
) -> Result<thread::ScopedJoinHandle<'s, T>> {
    thread::Builder::new()
        .stack_size(STACK)
        .spawn_scoped(scope, work)
        .map_err(|error| Error::new(Kind::Io, format!("a thread could not be started: {error}")).caused_by(error))
}
