//! Catches panics of decoders.
//!
//! The published Parquet and ORC decoders panic on some malformed input. What can be checked in advance is checked
//! in advance; all other decoding runs inside [`fenced`], which converts a panic to an error. This
//! needs unwinding: in a program built with `panic = "abort"`, a panic still ends the process.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use isomorph_error::{Error, Result, Rule};

thread_local! {
    static FENCES: Cell<u32> = const { Cell::new(0) };
}

/// Counts the nested calls of [`fenced`] on this thread, also while it unwinds.
struct Inside;

impl Inside {
    fn enter() -> Self {
        FENCES.set(FENCES.get() + 1);
        Inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        FENCES.set(FENCES.get().saturating_sub(1));
    }
}

/// Suppresses the messages of panics that [`fenced`] catches; all others go to the previous panic hook.
///
/// A library must not change a process-wide hook without being asked, so this crate does not call it: a program that wants
/// a quiet terminal calls it once at its start. Calling it again has no effect.
pub fn quiet_fenced_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if FENCES.get() == 0 {
                before(info);
            }
        }));
    });
}

/// Runs `work` and converts a panic to an error of `rule`. After such an error, values that `work` borrowed mutably must
/// not be used again.
///
/// # Errors
/// Errors of `work`, and the broken `rule` if it panics.
pub fn fenced<T>(rule: &'static Rule, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let inside = Inside::enter();
    let outcome = catch_unwind(AssertUnwindSafe(work));
    drop(inside);
    outcome.unwrap_or_else(|payload| {
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        Err(Error::broken(rule, format!("the decoder failed: {}", first_line(message))))
    })
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use crate::rules::PARQUET_VALUES;

    #[test]
    fn a_panic_becomes_an_error() {
        quiet_fenced_panics();
        let error = fenced::<()>(&PARQUET_VALUES, || panic!("index {} out of range\nmore", 3)).unwrap_err();
        assert_eq!(error.to_string(), "PARQUET-VALUES: the decoder failed: index 3 out of range");
        assert_eq!(FENCES.get(), 0);
    }

    #[test]
    fn results_pass_through() {
        assert_eq!(fenced(&PARQUET_VALUES, || Ok(7)).unwrap(), 7);
    }
}
