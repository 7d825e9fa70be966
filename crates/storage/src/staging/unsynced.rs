//! Finished files that are not durable yet.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use isomorph_error::{Error, Kind, Place, Result};

use crate::disk::{Disk, DiskFile};

/// The number of files that may wait for their sync. Waiting lets the system write many at once; each file is synced
/// through the handle that wrote it, because only that handle is sure to receive its errors.
const WAITING: usize = 64;

/// The number of threads that sync if more files wait, so that writers need not wait for the disk, and the number of files
/// that may wait then, each of which stays open.
const THREADS: usize = 2;
const WAITING_BEHIND: usize = 128;

/// The number of threads for the last syncs: a disk can write several files at once.
const THREADS_AT_THE_END: usize = 4;

/// Finished files that are not durable yet, oldest first.
pub(super) struct Unsynced {
    state: Mutex<State>,
    poisoned: AtomicBool,
    /// Whether other threads may sync.
    behind: bool,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(String, Box<dyn DiskFile>)>,
    threads: Vec<JoinHandle<()>>,
    /// The failure of a thread, until it is reported.
    failed: Option<(String, io::Error)>,
}

impl Unsynced {
    pub(super) fn new(disk: &dyn Disk) -> Arc<Self> {
        let behind = disk.syncs_on_threads();
        Arc::new(Unsynced { state: Mutex::default(), poisoned: AtomicBool::new(false), behind })
    }

    /// Takes over a finished file.
    ///
    /// # Errors
    /// [`Kind::Poisoned`] if this or an earlier file could not be synced.
    pub(super) fn push(self: &Arc<Self>, name: &str, file: Box<dyn DiskFile>) -> Result<()> {
        let oldest = {
            let mut state = self.state();
            state.waiting.push_back((name.to_owned(), file));
            if state.waiting.len() <= WAITING {
                return Ok(());
            }
            if self.behind {
                state.threads.retain(|thread| !thread.is_finished());
                if state.threads.len() < THREADS {
                    let shared = Arc::clone(self);
                    // If no thread can be started, the files wait longer.
                    state.threads.extend(std::thread::Builder::new().spawn(move || shared.drain(WAITING / 2)));
                }
                if state.waiting.len() <= WAITING_BEHIND {
                    drop(state);
                    return self.answer();
                }
            }
            state.waiting.pop_front()
        };
        match oldest {
            Some((name, mut file)) => self.sync(|| file.sync(), &name),
            None => Ok(()),
        }
    }

    /// Makes all files durable.
    ///
    /// # Errors
    /// Same as [`Unsynced::push`].
    pub(super) fn settle(&self) -> Result<()> {
        let threads = std::mem::take(&mut self.state().threads);
        if self.behind {
            std::thread::scope(|scope| {
                for _ in 1..THREADS_AT_THE_END.min(self.state().waiting.len()) {
                    let _ = std::thread::Builder::new().spawn_scoped(scope, || self.drain(0));
                }
                self.drain(0);
            });
        }
        // A thread that ended early has left its files to others, and a panic does not count as a sync.
        for thread in threads {
            if thread.join().is_err() {
                self.poisoned.store(true, Ordering::Relaxed);
            }
        }
        self.answer()?;
        loop {
            let next = self.state().waiting.pop_front();
            let Some((name, mut file)) = next else { return self.check() };
            self.sync(|| file.sync(), &name)?;
        }
    }

    /// Syncs files until only `left` wait, or one cannot be synced.
    fn drain(&self, left: usize) {
        while !self.poisoned.load(Ordering::Relaxed) {
            let next = {
                let mut state = self.state();
                if state.waiting.len() > left { state.waiting.pop_front() } else { None }
            };
            let Some((name, mut file)) = next else { return };
            if let Err(error) = file.sync() {
                self.state().failed.get_or_insert((name, error));
                self.poisoned.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Returns the failure of another thread.
    fn answer(&self) -> Result<()> {
        match self.state().failed.take() {
            Some((name, error)) => Err(unsynced(error, &name)),
            None => self.check(),
        }
    }

    /// Runs a sync. After one has failed, nothing that was written here can be trusted to be durable.
    pub(super) fn sync(&self, sync: impl FnOnce() -> io::Result<()>, name: &str) -> Result<()> {
        self.answer()?;
        sync().map_err(|error| {
            self.poisoned.store(true, Ordering::Relaxed);
            unsynced(error, name)
        })
    }

    fn check(&self) -> Result<()> {
        if self.poisoned.load(Ordering::Relaxed) {
            return Err(Error::new(Kind::Poisoned, "an earlier sync failed"));
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the error for a failed sync.
fn unsynced(error: io::Error, name: &str) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space and run again",
        _ => "check the disk, then run again",
    };
    Error::new(Kind::Poisoned, "the system could not make the data durable")
        .caused_by(error)
        .at(Place::file(name))
        .hint(hint)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Write;
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::disk::RealDisk;

    /// Counts its syncs, or fails.
    struct Counted(Arc<AtomicUsize>, bool);

    impl DiskFile for Counted {
        fn sync(&mut self) -> io::Result<()> {
            self.0.fetch_add(1, Ordering::Relaxed);
            if self.1 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    impl Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn each_file_is_synced_once() {
        for files in [0, 1, WAITING, 2_000] {
            let (count, unsynced) = (Arc::new(AtomicUsize::new(0)), Unsynced::new(&RealDisk));
            for file in 0..files {
                unsynced.push(&file.to_string(), Box::new(Counted(Arc::clone(&count), false))).unwrap();
            }
            unsynced.settle().unwrap();
            assert_eq!(count.load(Ordering::Relaxed), files);
        }
    }

    #[test]
    fn a_sync_that_failed_is_told_once_with_its_file_and_trusted_never() {
        for failing in [0, 63, 700, 999] {
            let (count, unsynced) = (Arc::new(AtomicUsize::new(0)), Unsynced::new(&RealDisk));
            let pushed = (0..1_000).try_for_each(|file| {
                unsynced.push(&file.to_string(), Box::new(Counted(Arc::clone(&count), file == failing)))
            });
            let error = pushed.and_then(|()| unsynced.settle()).unwrap_err();
            assert_eq!(error.kind(), Kind::Poisoned);
            assert!(error.to_string().contains("could not make the data durable"), "{error}");
            assert_eq!(error.place().file.as_deref(), Some(failing.to_string().as_str()));
            assert_eq!(unsynced.settle().unwrap_err().kind(), Kind::Poisoned);
        }
    }
}
