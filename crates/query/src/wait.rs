//! Waiting for work on other threads, for a while.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How often somebody who waits is asked whether to go on.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The result of `future`, if it is there within `time`. It needs no clock of the engine's threads: these may all be busy.
pub(crate) fn within<F: Future>(mut future: Pin<&mut F>, time: Duration) -> Poll<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let end = Instant::now().checked_add(time);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return Poll::Ready(done);
        }
        let left = end.map_or(time, |end| end.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Poll::Pending;
        }
        std::thread::park_timeout(left);
    }
}
