//! The state that a load needs to continue after it was killed: a log, and the runs that it lists.
//!
//! Runs are in files that keep their names, several in each, written by one thread. When a run is complete, the log
//! records new names and labels, then the position of the run, its checksum, and which pieces of the texts were read to
//! their end since the thread's previous run. A piece that the end of a run cuts is recorded with the next run; if that
//! is never recorded, the piece is read again, and its quads are in two runs, which does not matter for a set.
//!
//! Nothing is synced while the load runs: after a power cut, the log is trusted as far as it is complete and the bytes
//! of the runs match their checksums. A run counts only if all runs before it in its file do.

mod log;
mod record;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isomorph_error::{Error, Kind, Result, index};
use isomorph_storage::{Budget, Scratch, ScratchFile, Workplace};
use xxhash_rust::xxh3::Xxh3;

use self::log::Log;
pub use self::record::Piece;
use self::record::{Record, RunRecord};
use super::names::{Named, Names};
use super::run::Run;

/// The file of the log.
const LOG: &str = "log";

/// Bytes of a run that are read at once.
const BLOCK: usize = 256 << 10;

/// What an earlier load left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Quads that need not be read again, including duplicates.
    pub quads: u64,
    /// Sorted runs that they are in.
    pub runs: u64,
    /// Why the earlier work cannot be used.
    pub discarded: Option<String>,
}

/// The persistent state of one load, in a directory that no other process uses. Give it to one [`Bulk`](super::Bulk).
pub struct Resume {
    workplace: Workplace,
    budget: Budget,
    scratch: Scratch,
    job: String,
    inner: Mutex<Inner>,
}

struct Inner {
    log: Log,
    found: Found,
    import: Option<Option<String>>,
    labels: Vec<(u64, String)>,
    publishing: Option<String>,
    graphs: Vec<String>,
    partitions: Vec<(u32, String)>,
    datatypes: Vec<String>,
    runs: Vec<(ScratchFile, Vec<Run>)>,
    pieces: Vec<Piece>,
    /// How many names the log has, so that only new ones are added.
    logged: [usize; 3],
    /// Labels that the log does not have yet.
    new_labels: Vec<(u64, String)>,
    next_file: u32,
}

impl Resume {
    /// The extension of a load's directory, after the name of its store.
    pub const PURPOSE: &str = "load";

    /// Opens what an earlier load left in `workplace`, or starts anew. `job` describes what is loaded, and how: the
    /// work of a different job is not used.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if the log does not fit into the budget; [`Kind::NoSpace`], [`Kind::Io`].
    pub fn open(workplace: Workplace, job: &str, budget: &Budget, scratch: &Scratch) -> Result<Self> {
        let mut records = Vec::new();
        let mut unreadable = false;
        let (log, ours) = Log::open(&workplace.path().join(LOG), budget, &mut |text| {
            match serde_json::from_slice::<Record>(text) {
                Ok(record) => records.push(record),
                Err(_) => unreadable = true,
            }
            Ok(())
        })?;
        let inner = Mutex::new(Inner::new(log));
        let resume = Resume { workplace, budget: budget.clone(), scratch: scratch.clone(), job: job.to_owned(), inner };
        match records.first() {
            _ if !ours || unreadable => {
                resume.restart("the earlier load was started by another version of this program")?
            }
            None => resume.restart("")?,
            Some(Record::Job(found)) if found == job => resume.restore(records)?,
            Some(_) => resume.restart("the texts or the options have changed")?,
        }
        Ok(resume)
    }

    /// Drops everything, for this reason; an empty reason means that there was nothing.
    ///
    /// # Errors
    /// [`Kind::NoSpace`], [`Kind::Io`].
    pub fn restart(&self, because: &str) -> Result<()> {
        let mut inner = self.inner();
        inner.log.clear()?;
        for name in std::fs::read_dir(self.workplace.path())? {
            let path = name?.path();
            if path.file_name().is_none_or(|name| name != LOG) {
                std::fs::remove_file(path)?;
            }
        }
        inner.forget();
        inner.found.discarded = Some(because.to_owned()).filter(|because| !because.is_empty());
        let job = Record::Job(self.job.clone()).text()?;
        inner.log.append(&[job])
    }

    /// Takes over the contents of the log.
    fn restore(&self, records: Vec<Record>) -> Result<()> {
        let mut inner = self.inner();
        let mut files: BTreeMap<u32, Kept> = BTreeMap::new();
        for record in records {
            match record {
                Record::Job(_) => {}
                Record::Import(import) => inner.import = Some(import),
                Record::Names { graphs, partitions, datatypes } => {
                    inner.graphs.extend(graphs);
                    inner.partitions.extend(partitions);
                    inner.datatypes.extend(datatypes);
                }
                Record::Labels(labels) => inner.labels.extend(labels),
                Record::Publishing(text) => inner.publishing = Some(text),
                Record::Run(record) => {
                    inner.next_file = inner.next_file.max(record.file.saturating_add(1));
                    let kept = files.entry(record.file).or_insert_with(|| {
                        // What cannot be opened is treated as damaged, and read again.
                        let file = self.scratch.open_kept(&self.workplace.path().join(name_of(record.file))).ok();
                        Kept { file, runs: Vec::new(), ended: false }
                    });
                    let run = kept.file.as_ref().filter(|_| !kept.ended).and_then(|file| checked(file, &record));
                    match run {
                        Some(run) => {
                            inner.found.quads += record.pieces.iter().map(|piece| piece.quads).sum::<u64>();
                            inner.found.runs += 1;
                            inner.pieces.extend(record.pieces);
                            kept.runs.push(run);
                        }
                        // Nor are the runs after it: pieces may have begun in it.
                        None => kept.ended = true,
                    }
                }
            }
        }
        inner.logged = [inner.graphs.len(), inner.partitions.len(), inner.datatypes.len()];
        let partitions = inner.partitions.len();
        let (mut believed, mut kept) = (Vec::new(), HashSet::new());
        for (number, Kept { file, runs, .. }) in files {
            let known = |run: &Run| run.partitions.iter().all(|part| (part.partition as usize) < partitions);
            if !runs.iter().all(known) {
                return Err(Error::malformed("the log of the load refers to something that it does not define"));
            }
            // If a later run is not trusted, those before it are.
            if let Some(file) = file.filter(|_| !runs.is_empty()) {
                kept.insert(name_of(number));
                believed.push((file, runs));
            }
        }
        inner.runs = believed;
        // Other files are not trusted: their threads were stopped before their first run was complete.
        for name in std::fs::read_dir(self.workplace.path())? {
            let path = name?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if name != LOG && !kept.contains(name) {
                std::fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// What an earlier load left.
    pub fn found(&self) -> Found {
        self.inner().found.clone()
    }

    /// The parts of a text that need not be read again, in order; adjacent pieces are merged.
    pub fn read_already(&self, text: u64) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = self.inner().pieces.iter().copied().filter(|piece| piece.text == text).collect();
        pieces.sort_unstable_by_key(|piece| (piece.begin, piece.end));
        let mut merged: Vec<Piece> = Vec::new();
        for piece in pieces {
            match merged.last_mut() {
                Some(before) if before.end == piece.begin => {
                    before.end = piece.end;
                    before.lines += piece.lines;
                    before.quads += piece.quads;
                    before.last = piece.last;
                }
                _ => merged.push(piece),
            }
        }
        merged
    }

    /// The prefix of new labels of blank nodes, or `None` if labels stay: as decided earlier, or as `import` decides
    /// now. If the decisions differ, the earlier work is useless, and the load starts anew: the store was empty then
    /// and is not now, or vice versa.
    ///
    /// # Errors
    /// Errors of `import`; [`Kind::NoSpace`], [`Kind::Io`].
    pub fn import(&self, replaces: bool, import: impl FnOnce() -> Result<String>) -> Result<Option<String>> {
        let decided = self.inner().import.clone();
        match decided {
            Some(decided) if decided.is_some() == replaces => return Ok(decided),
            Some(_) => self.restart("the store has changed, so blank nodes need other labels")?,
            None => {}
        }
        let import = if replaces { Some(import()?) } else { None };
        let mut inner = self.inner();
        inner.log.append(&[Record::Import(import.clone()).text()?])?;
        inner.import = Some(import.clone());
        Ok(import)
    }

    /// The decision; `None` also if there was none.
    pub fn decided(&self) -> Option<String> {
        self.inner().import.clone().flatten()
    }

    /// Labels of blank nodes that were replaced, each with its text, as far as [`Resume::label`] was called for them.
    pub fn labels(&self) -> Vec<(u64, String)> {
        self.inner().labels.clone()
    }

    /// Records that a label was replaced. It is in the log before any run that has it.
    pub fn label(&self, text: u64, label: &str) {
        self.inner().new_labels.push((text, label.to_owned()));
    }

    /// What an earlier load was about to publish when it was stopped, as passed to [`Resume::publish`].
    pub fn publishing(&self) -> Option<String> {
        self.inner().publishing.clone()
    }

    /// Records, durably, what is about to be published, so that the next load can check whether it was.
    ///
    /// # Errors
    /// [`Kind::NoSpace`], [`Kind::Io`].
    pub fn publish(&self, what: &str) -> Result<()> {
        let mut inner = self.inner();
        let labels = std::mem::take(&mut inner.new_labels);
        let labels = (!labels.is_empty()).then_some(Record::Labels(labels));
        let records = labels.into_iter().chain([Record::Publishing(what.to_owned())]);
        let records: Vec<Vec<u8>> = records.map(|record| record.text()).collect::<Result<_>>()?;
        inner.log.append(&records)?;
        inner.log.sync()?;
        self.workplace.sync()
    }

    /// Removes everything: the load is done.
    ///
    /// # Errors
    /// [`Kind::Usage`] if quads are still being gathered; [`Kind::Io`].
    pub fn finish(self: Arc<Self>) -> Result<()> {
        match Arc::into_inner(self) {
            Some(resume) => resume.workplace.remove(),
            None => Err(Error::usage("the load is still running")),
        }
    }

    /// Names and runs of the earlier load; nothing on the second call.
    pub(super) fn restored(&self, names: &Names) -> Result<Vec<(ScratchFile, Vec<Run>)>> {
        let mut inner = self.inner();
        let graphs = std::mem::take(&mut inner.graphs);
        let (partitions, datatypes) = (std::mem::take(&mut inner.partitions), std::mem::take(&mut inner.datatypes));
        names.restore(&graphs, &partitions, &datatypes)?;
        Ok(std::mem::take(&mut inner.runs))
    }

    /// A new file for runs, with its number.
    pub(super) fn create(&self) -> Result<(u32, ScratchFile)> {
        let mut inner = self.inner();
        let number = inner.next_file;
        let too_many = || Error::new(Kind::TooLarge, "the load was resumed 2^32 times");
        inner.next_file = number.checked_add(1).ok_or_else(too_many)?;
        Ok((number, self.scratch.create_kept(&self.workplace.path().join(name_of(number)))?))
    }

    /// Records the last run of `file`, which has this number, and the pieces that were read to their end since the
    /// previous run.
    pub(super) fn note(
        &self,
        number: u32,
        file: &ScratchFile,
        run: &Run,
        pieces: Vec<Piece>,
        names: &Names,
    ) -> Result<()> {
        let end = file.size();
        let checksum = checksum(file, run.terms_at, end)?;
        let mut inner = self.inner();
        let Named { graphs, partitions, datatypes } = names.named();
        let logged = [graphs.len(), partitions.len(), datatypes.len() - 1];
        let [graphs_before, partitions_before, datatypes_before] = inner.logged;
        let mut records = Vec::new();
        if inner.logged != logged {
            records.push(Record::Names {
                graphs: graphs.into_iter().skip(graphs_before).collect(),
                partitions: partitions.into_iter().skip(partitions_before).collect(),
                // The first always exists.
                datatypes: datatypes.into_iter().skip(1 + datatypes_before).collect(),
            });
        }
        let labels = std::mem::take(&mut inner.new_labels);
        if !labels.is_empty() {
            records.push(Record::Labels(labels));
        }
        records.push(Record::Run(RunRecord::new(number, run, end, checksum, pieces)));
        let texts: Vec<Vec<u8>> = records.iter().map(Record::text).collect::<Result<_>>()?;
        inner.log.append(&texts)?;
        inner.logged = logged;
        Ok(())
    }

    /// Maximum memory of one thread's run, in bytes: what is in memory is lost when the load is killed.
    pub(super) fn longest_run(&self) -> u64 {
        (self.budget.limit() / 8).min(LONGEST_RUN)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maximum memory of a run, in bytes.
const LONGEST_RUN: u64 = 256 << 20;

impl Inner {
    fn new(log: Log) -> Self {
        Inner {
            log,
            found: Found::default(),
            import: None,
            labels: Vec::new(),
            publishing: None,
            graphs: Vec::new(),
            partitions: Vec::new(),
            datatypes: Vec::new(),
            runs: Vec::new(),
            pieces: Vec::new(),
            logged: [0; 3],
            new_labels: Vec::new(),
            next_file: 0,
        }
    }

    fn forget(&mut self) {
        self.found = Found::default();
        (self.import, self.publishing, self.logged, self.next_file) = (None, None, [0; 3], 0);
        self.labels.clear();
        self.graphs.clear();
        self.partitions.clear();
        self.datatypes.clear();
        self.runs.clear();
        self.pieces.clear();
        self.new_labels.clear();
    }
}

/// A file of runs, as far as they are trusted.
struct Kept {
    /// `None` if it cannot be opened.
    file: Option<ScratchFile>,
    runs: Vec<Run>,
    /// Whether a run was not trusted.
    ended: bool,
}

/// Returns a run, if its bytes match its checksum. What cannot be read is not trusted, and is read again from the
/// texts.
fn checked(file: &ScratchFile, record: &RunRecord) -> Option<Run> {
    let run = record.run()?;
    let whole = record.end <= file.size() && checksum(file, record.terms_at, record.end).ok()? == record.checksum;
    whole.then_some(run)
}

fn checksum(file: &ScratchFile, begin: u64, end: u64) -> Result<u64> {
    let mut block = vec![0; BLOCK];
    let (mut at, mut hash) = (begin, Xxh3::new());
    while at < end {
        let block = &mut block[..index((end - at).min(BLOCK as u64))];
        file.read_exact_at(block, at)?;
        hash.update(block);
        at += block.len() as u64;
    }
    Ok(hash.digest())
}

fn name_of(file: u32) -> String {
    format!("runs-{file}")
}

impl fmt::Debug for Resume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resume({})", self.workplace.path().display())
    }
}
