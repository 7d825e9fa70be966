//! A disk with an injected fault.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Disk, DiskFile, Lock, Node};

/// The fault. Steps are counted from 0; every call of [`Disk`] and [`DiskFile`] is a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No fault, for counting the steps.
    None,
    /// The step with this number has no effect and returns this error.
    Fail(u64, io::ErrorKind),
    /// If the step with this number is a write, it writes only half of the bytes and succeeds.
    ShortWrite(u64),
    /// Syncs fail from the step with this number on.
    FailSyncs(u64),
    /// Only this many bytes can be written.
    NoSpaceAfter(u64),
    /// From the step with this number on, steps have no effect, as if the process had been killed. An interrupted
    /// write writes half.
    Kill(u64),
}

/// A disk with one fault.
#[derive(Debug, Clone)]
pub struct FaultDisk {
    disk: Arc<dyn Disk>,
    shared: Arc<Shared>,
}

/// What a test does between two steps.
type Meanwhile = Box<dyn FnOnce() + Send>;

struct Shared {
    fault: Fault,
    /// The end of a log line, and the work to do before that step.
    meanwhile: Mutex<Option<(String, Meanwhile)>>,
    steps: AtomicU64,
    written: AtomicU64,
    log: Mutex<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Do,
    Half,
}

impl FaultDisk {
    /// Wraps `disk` with `fault`.
    pub fn new(disk: Arc<dyn Disk>, fault: Fault) -> Self {
        let (steps, written) = (AtomicU64::new(0), AtomicU64::new(0));
        FaultDisk {
            disk,
            shared: Arc::new(Shared { fault, meanwhile: Mutex::default(), steps, written, log: Mutex::default() }),
        }
    }

    /// Runs `work` before the first step whose log line ends with `before`, to simulate another process between two steps.
    pub fn meanwhile(self, before: &str, work: impl FnOnce() + Send + 'static) -> Self {
        *self.shared.meanwhile.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((before.to_owned(), Box::new(work)));
        self
    }

    /// Returns the number of steps so far.
    pub fn steps(&self) -> u64 {
        self.shared.steps.load(Ordering::Relaxed)
    }

    /// Returns the steps so far, one line each, for the message of a failing test.
    pub fn log(&self) -> Vec<String> {
        self.shared.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn step(&self, what: &str, path: &Path) -> io::Result<()> {
        self.shared.step(what, path).map(|_| ())
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("fault", &self.fault).field("steps", &self.steps).finish_non_exhaustive()
    }
}

impl Shared {
    fn step(&self, what: &str, path: &Path) -> io::Result<Verdict> {
        let number = self.steps.fetch_add(1, Ordering::Relaxed);
        let line = format!("{number} {what} {}", path.display());
        let due = {
            let mut meanwhile = self.meanwhile.lock().unwrap_or_else(PoisonError::into_inner);
            meanwhile.take_if(|(before, _)| line.ends_with(before.as_str()))
        };
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        if let Some((_, work)) = due {
            work();
        }
        match self.fault {
            Fault::Fail(at, kind) if at == number => Err(io::Error::new(kind, "injected")),
            Fault::FailSyncs(at) if at <= number && what.starts_with("sync") => Err(io::Error::other("injected")),
            Fault::ShortWrite(at) if at == number => Ok(Verdict::Half),
            Fault::Kill(at) if at == number && what == "write" => Ok(Verdict::Half),
            Fault::Kill(at) if at <= number => Err(io::Error::other("killed")),
            _ => Ok(Verdict::Do),
        }
    }

    /// Returns how many of `wanted` bytes still fit.
    fn room(&self, wanted: usize) -> usize {
        let Fault::NoSpaceAfter(limit) = self.fault else { return wanted };
        let left = limit.saturating_sub(self.written.load(Ordering::Relaxed));
        wanted.min(usize::try_from(left).unwrap_or(usize::MAX))
    }
}

impl Disk for FaultDisk {
    fn create_file(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.step("create file", path)?;
        let file = self.disk.create_file(path)?;
        Ok(Box::new(FaultFile { file, path: path.to_owned(), shared: Arc::clone(&self.shared) }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step("create directory", path)?;
        self.disk.create_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.step("sync directory", path)?;
        self.disk.sync_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step("rename to", to)?;
        self.disk.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step("rename to new", to)?;
        self.disk.rename_new(from, to)
    }

    fn link(&self, file: &Path, name: &Path) -> io::Result<()> {
        self.step("link as", name)?;
        self.disk.link(file, name)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        self.step("exchange with", other)?;
        self.disk.exchange(one, other)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.step("remove file", path)?;
        self.disk.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.step("remove directory", path)?;
        self.disk.remove_dir(path)
    }

    fn node(&self, path: &Path) -> io::Result<Option<Node>> {
        self.step("look at", path)?;
        self.disk.node(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.step("resolve", path)?;
        self.disk.canonical(path)
    }

    fn names(&self, path: &Path) -> io::Result<Vec<String>> {
        self.step("list", path)?;
        self.disk.names(path)
    }

    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.step("read", path)?;
        self.disk.read(path, limit)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Lock> {
        self.step("try to lock", path)?;
        self.disk.try_lock(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Lock> {
        self.step("lock", path)?;
        self.disk.lock(path)
    }

    fn trusted(&self, path: &Path) -> io::Result<bool> {
        self.step("look at the owner of", path)?;
        self.disk.trusted(path)
    }
}

struct FaultFile {
    file: Box<dyn DiskFile>,
    path: PathBuf,
    shared: Arc<Shared>,
}

impl Write for FaultFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let verdict = self.shared.step("write", &self.path)?;
        let wanted = if verdict == Verdict::Half { bytes.len().div_ceil(2) } else { bytes.len() };
        let room = self.shared.room(wanted);
        if room == 0 && wanted > 0 {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "injected"));
        }
        let written = self.file.write(&bytes[..room])?;
        self.shared.written.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl DiskFile for FaultFile {
    fn sync(&mut self) -> io::Result<()> {
        self.shared.step("sync file", &self.path)?;
        self.file.sync()
    }
}

impl fmt::Debug for FaultFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FaultFile({})", self.path.display())
    }
}
