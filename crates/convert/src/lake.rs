//! Loads RDF texts into existing GraphLake stores, each load in one transaction.

mod edit;
mod resume;

pub use edit::{LakeChanges, LakeEdit, change_lake, edit_lake};

use std::collections::BTreeSet;
use std::fmt;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use isomorph_error::{Findings, Kind, Result, index};
use isomorph_graphlake::{
    Committed, Filler, FoundLoad, Lake, LakeWriter, OpenOptions, Resume, WriteOptions, check_graph, fresh_id,
};
use isomorph_model::faces::{Object, Quad};
use isomorph_rdf::{ReadOptions, Syntax, Text, read_stream, relabelled};
use isomorph_storage::{Budget, Location, Mode, Reservation, Root, Staging};

use crate::progress::Progress;
use isomorph_storage::Resources;

/// Quads between two checks for cancellation.
const AT_ONCE: u64 = 1 << 14;

/// Memory for a recorded label of a blank node, apart from its text, in bytes.
const LABEL: u64 = 96;

/// A text to load.
#[derive(Debug, Clone)]
pub enum LakeText {
    /// A file or an object.
    At(Location),
    /// A stream that can be read only once, by the first load: a pipe.
    Stream(LakeStream),
}

impl From<Location> for LakeText {
    fn from(location: Location) -> Self {
        LakeText::At(location)
    }
}

impl fmt::Display for LakeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LakeText::At(location) => location.fmt(f),
            LakeText::Stream(stream) => f.write_str(&stream.name),
        }
    }
}

/// A stream that can be read only once. Clones share it.
#[derive(Clone)]
pub struct LakeStream {
    name: String,
    input: Arc<Mutex<Box<dyn Read + Send>>>,
}

impl LakeStream {
    /// Creates a stream that is called `name` in errors and lists of labels.
    pub fn new(name: &str, input: Box<dyn Read + Send>) -> Self {
        LakeStream { name: name.to_owned(), input: Arc::new(Mutex::new(input)) }
    }
}

impl fmt::Debug for LakeStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LakeStream").field(&self.name).finish()
    }
}

/// The texts to load, and the reading options.
#[derive(Debug, Clone, Default)]
pub struct LakeLoad {
    /// The texts.
    pub texts: Vec<LakeText>,
    /// Their syntax, if it cannot be determined from their names and beginnings.
    pub syntax: Option<Syntax>,
    /// The graph of triples without a graph; the default graph otherwise.
    pub graph: Option<String>,
    /// The base of relative IRIs.
    pub base: Option<String>,
    /// Skip malformed statements, with those that depend on them, and count them.
    pub lenient: bool,
    /// Where to record the new labels of blank nodes: one line each, with the old and the new label, separated by a
    /// tab.
    pub blank_map: Option<Location>,
    /// Do not write the filters by which triples are found from their ids.
    pub no_id_filters: bool,
    /// The time of the snapshot, instead of the current time.
    pub epoch: Option<std::time::SystemTime>,
    /// Keep what is needed to resume after an interruption, and resume an earlier interrupted load of the same texts.
    pub resume: bool,
}

/// What was loaded.
#[derive(Debug, Clone, Default)]
pub struct LakeLoaded {
    /// Number of quads that were read, including duplicates.
    pub quads: u64,
    /// Whether the store was created by this load.
    pub created: bool,
    /// The commit; `None` if there was nothing to load.
    pub commit: Option<Committed>,
    /// The prefix of the labels of blank nodes, if any labels had to be changed. With several texts, the number of the
    /// text, from 1, and `_` follow the prefix.
    pub blank_prefix: Option<String>,
    /// Number of errors that were skipped.
    pub skipped: u64,
    /// The first of these errors.
    pub findings: Findings,
    /// The state of an earlier load; `None` if none was looked for.
    pub found: Option<FoundLoad>,
    /// Whether the earlier load had published everything, so that nothing was left to do.
    pub finished_before: bool,
}

/// Loads texts in bulk: into a new store if there is none, otherwise in one transaction. If the store has a snapshot,
/// or there are several texts, blank nodes get labels that no other import uses.
///
/// A load that can be resumed keeps its sorted runs in a directory next to the store (for an object store, among the
/// temporary files) until it is done; they can be used with another number of threads and another amount of memory.
///
/// # Errors
/// If a text is malformed, or writing fails: the store is unchanged in these cases. [`Kind::Conflict`] if another load
/// that can be resumed is running for the same store.
pub fn load_lake(
    location: &Location,
    load: &LakeLoad,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<LakeLoaded> {
    let opening = OpenOptions { budget: resources.budget.clone(), ..OpenOptions::default() };
    let writing = WriteOptions {
        id_filters: !load.no_id_filters,
        time: load.epoch,
        threads: resources.threads,
        budget: resources.budget.clone(),
        scratch: Some(resources.scratch.clone()),
        ..WriteOptions::default()
    };
    let mut resume = load.resume.then(|| resume::open(location, load, resources)).transpose()?;
    let published = resume.as_ref().map(|resume| resume::published(resume, location, &opening, &writing));
    if let Some(loaded) = published.transpose()?.flatten()
        && let Some(resume) = resume.take()
    {
        // The temporary directory of a new store may be left: a writer that finds the destination taken removes it.
        let _ = Staging::directory(location, Mode::CreateNew);
        // Labels may have been recorded already.
        let map = load.blank_map.as_ref().map(|place| Staging::file(place, Mode::CreateNew));
        let map = map.and_then(|map| match map {
            Err(error) if error.kind() == Kind::AlreadyExists => None,
            map => Some(map),
        });
        let labels = Labels::with(load, resume.decided(), map.transpose()?, &writing.budget, Some(&resume))?;
        let blank_prefix = labels.finish()?;
        return finished(resume, LakeLoaded { blank_prefix, ..loaded });
    }
    let there = match Root::open(location) {
        Ok(_) => true,
        Err(error) if error.kind() == Kind::NotFound => false,
        Err(error) => return Err(error),
    };
    progress.begin("read", None);
    let loaded = match there {
        false => create(location, load, &writing, resume.as_ref(), progress),
        true => {
            let lake = Lake::open(location, &opening, &writing)?;
            add(&lake, load, &writing, resume.as_ref(), progress)
        }
    };
    progress.end();
    match resume {
        Some(resume) => finished(resume, loaded.map_err(resume::told)?),
        None => loaded,
    }
}

fn finished(resume: Arc<Resume>, loaded: LakeLoaded) -> Result<LakeLoaded> {
    let found = Some(resume.found());
    resume.finish()?;
    Ok(LakeLoaded { found, ..loaded })
}

fn create(
    location: &Location,
    load: &LakeLoad,
    writing: &WriteOptions,
    resume: Option<&Arc<Resume>>,
    progress: &dyn Progress,
) -> Result<LakeLoaded> {
    let staging = Staging::directory(location, Mode::CreateNew)?;
    let labels = Labels::new(load, import(resume, load.texts.len() > 1)?, &writing.budget, resume)?;
    let mut writer = match resume {
        Some(resume) => LakeWriter::resumed(&staging, writing, resume)?,
        None => LakeWriter::create(&staging, writing)?,
    };
    let mut fillers = writer.fillers(writing.threads.max(1))?;
    let gathered = gather(load, &writing.budget, labels, progress, &mut fillers);
    let absorbed = absorb_if(gathered.is_ok() || resume.is_some(), || writer.absorb(fillers));
    let (mut loaded, labels) = gathered?;
    absorbed?;
    let created = writer.finish(&|rows| progress.advance(rows))?;
    progress.advance(0)?;
    if let Some(resume) = resume {
        resume::note_store(resume, &staging, &loaded, created.triples)?;
    }
    let manifests = LakeWriter::manifests();
    let published = staging.commit(&manifests.each_ref().map(String::as_str))?;
    loaded.blank_prefix = labels.finish()?;
    loaded.created = true;
    let (version, inserted) = (1, created.triples);
    let (files, bytes) = (published.files.saturating_sub(manifests.len() as u64), published.bytes);
    let id = format!("snapshot{version}");
    loaded.commit = Some(Committed { version, id, inserted, files, bytes, ..Committed::default() });
    Ok(loaded)
}

fn add(
    lake: &Lake,
    load: &LakeLoad,
    writing: &WriteOptions,
    resume: Option<&Arc<Resume>>,
    progress: &dyn Progress,
) -> Result<LakeLoaded> {
    let mut transaction = lake.begin()?;
    let is_empty = transaction.base_version() == 0;
    if is_empty {
        // Labels can be kept only if no other labels exist.
        transaction.alone();
    }
    let labels = Labels::new(load, import(resume, !is_empty || load.texts.len() > 1)?, &writing.budget, resume)?;
    let mut bulk = match resume {
        Some(resume) => transaction.bulk_resumed(resume)?,
        None => transaction.bulk()?,
    };
    let mut fillers = bulk.fillers(writing.threads.max(1))?;
    let gathered = gather(load, &writing.budget, labels, progress, &mut fillers);
    let absorbed = absorb_if(gathered.is_ok() || resume.is_some(), || bulk.absorb(fillers));
    let (mut loaded, labels) = gathered?;
    absorbed?;
    transaction.insert_bulk(bulk, &|rows| progress.advance(rows))?;
    // The last point at which the load can be cancelled.
    progress.advance(0)?;
    if let Some(resume) = resume {
        resume::note_commit(resume, &transaction, &loaded)?;
    }
    loaded.commit = transaction.commit()?;
    loaded.blank_prefix = labels.finish()?;
    Ok(loaded)
}

/// What was collected before an error or an interruption is useful only to a load that can be resumed.
fn absorb_if(useful: bool, absorb: impl FnOnce() -> Result<()>) -> Result<()> {
    if useful { absorb() } else { Ok(()) }
}

/// Reads the texts into fillers, with new labels of blank nodes if needed.
fn gather(
    load: &LakeLoad,
    budget: &Budget,
    labels: Labels,
    progress: &dyn Progress,
    fillers: &mut [Filler],
) -> Result<(LakeLoaded, Labels)> {
    let replaces = labels.import.is_some();
    let loaded = read(load, budget, labels.resume.as_ref(), progress, fillers, &|filler, text, quad| {
        check_graph(quad.graph)?;
        if !replaces || !has_blank_node(&quad) {
            return filler.push(&quad);
        }
        let [subject, object, graph] = labels.of(text, &quad)?;
        filler.push(&Quad {
            subject: subject.as_deref().unwrap_or(quad.subject),
            predicate: quad.predicate,
            object: object.as_deref().map_or(quad.object, Object::Term),
            graph: graph.as_deref().or(quad.graph),
        })
    })?;
    Ok((loaded, labels))
}

/// Reads the texts one after another; a text in a line-based syntax on as many threads as there are takers.
fn read(
    load: &LakeLoad,
    budget: &Budget,
    resume: Option<&Arc<Resume>>,
    progress: &dyn Progress,
    takers: &mut [Filler],
    take: &(dyn Fn(&mut Filler, usize, Quad<'_>) -> Result<()> + Sync),
) -> Result<LakeLoaded> {
    let options = ReadOptions {
        base: load.base.clone(),
        lenient: load.lenient,
        budget: budget.clone(),
        ..ReadOptions::default()
    };
    let mut loaded = LakeLoaded::default();
    // Each with the number of quads that it has not reported yet.
    let mut takers: Vec<(&mut Filler, u64)> = takers.iter_mut().map(|taker| (taker, 0)).collect();
    for (at, text) in load.texts.iter().enumerate() {
        let take = |(taker, unsaid): &mut (&mut Filler, u64), quad: Quad<'_>| {
            *unsaid += 1;
            if *unsaid == AT_ONCE {
                progress.advance(std::mem::take(unsaid))?;
            }
            take(taker, at, Quad { graph: quad.graph.or(load.graph.as_deref()), ..quad })
        };
        let reading = match text {
            LakeText::At(location) => {
                let text = Text::open(location, load.syntax)?;
                let before = resume::read_already(resume, at);
                progress.advance(before.iter().map(|piece| piece.quads).sum())?;
                text.read_pieces(&options, &before, &mut takers, &take, &|(taker, _), piece| {
                    taker.done_with(resume::piece(at, piece));
                    Ok(())
                })?
            }
            LakeText::Stream(LakeStream { name, input }) => {
                let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
                read_stream(name, &mut *input, load.syntax, &options, &mut takers, &take)?
            }
        };
        loaded.quads += reading.quads;
        loaded.skipped += reading.skipped;
        if loaded.findings.is_empty() {
            loaded.findings = reading.findings;
        }
    }
    progress.advance(takers.iter().map(|(_, unsaid)| unsaid).sum())?;
    Ok(loaded)
}

/// Whether a term is a blank node, or can contain one.
fn may_have_blank_node(term: &str) -> bool {
    term.starts_with("_:") || term.starts_with("<<(") && term.contains("_:")
}

fn has_blank_node(quad: &Quad<'_>) -> bool {
    let object = matches!(quad.object, Object::Term(term) if may_have_blank_node(term));
    object || may_have_blank_node(quad.subject) || quad.graph.is_some_and(may_have_blank_node)
}

/// Labels of blank nodes: a label has a meaning only within its text, so each import uses new labels.
///
/// The new label is the old one with a prefix that is unique to the import. So the labels themselves show the mapping
/// to readers of the store, without any memory for it.
struct Labels {
    /// The prefix of new labels; `None` if labels are kept.
    import: Option<String>,
    /// Whether there are several texts, whose labels must not collide.
    several: bool,
    used: AtomicBool,
    /// The file that records replacements, and the replacements so far.
    map: Option<(Staging, Mutex<Replaced>)>,
    texts: Vec<String>,
    /// The state of a load that can be resumed.
    resume: Option<Arc<Resume>>,
}

/// The prefix of new labels, if there are any.
fn import(resume: Option<&Arc<Resume>>, replaces: bool) -> Result<Option<String>> {
    match resume {
        Some(resume) => resume.import(replaces, fresh_prefix),
        None => replaces.then(fresh_prefix).transpose(),
    }
}

/// A prefix that no label of an existing blank node has.
fn fresh_prefix() -> Result<String> {
    // The first 48 of its bits, after a letter: XML names start with one.
    Ok(format!("i{}_", fresh_id()?.split('-').take(2).collect::<String>()))
}

/// Labels that were replaced, by the number of their text.
struct Replaced {
    labels: BTreeSet<(usize, String)>,
    held: Reservation,
}

impl Labels {
    fn new(load: &LakeLoad, import: Option<String>, budget: &Budget, resume: Option<&Arc<Resume>>) -> Result<Self> {
        let map = load.blank_map.as_ref().map(|place| Staging::file(place, Mode::CreateNew)).transpose()?;
        Labels::with(load, import, map, budget, resume)
    }

    fn with(
        load: &LakeLoad,
        import: Option<String>,
        map: Option<Staging>,
        budget: &Budget,
        resume: Option<&Arc<Resume>>,
    ) -> Result<Self> {
        let mut replaced = Replaced { labels: BTreeSet::new(), held: budget.reserve(0)? };
        for (text, label) in resume.map_or_else(Vec::new, |resume| resume.labels()) {
            replaced.held.grow(label.len() as u64 + LABEL)?;
            replaced.labels.insert((index(text), label));
        }
        let used = AtomicBool::new(!replaced.labels.is_empty());
        let map = map.map(|map| (map, Mutex::new(replaced)));
        let texts: Vec<String> = load.texts.iter().map(LakeText::to_string).collect();
        Ok(Labels { import, several: texts.len() > 1, used, map, texts, resume: resume.cloned() })
    }

    /// The new terms for subject, object and graph; `None` for those without blank nodes.
    fn of(&self, text: usize, quad: &Quad<'_>) -> Result<[Option<String>; 3]> {
        let subject = self.term(text, quad.subject)?;
        let object = match quad.object {
            Object::Term(term) => self.term(text, term)?,
            Object::Literal { .. } => None,
        };
        let graph = quad.graph.map(|graph| self.term(text, graph)).transpose()?.flatten();
        Ok([subject, object, graph])
    }

    fn term(&self, text: usize, term: &str) -> Result<Option<String>> {
        if !may_have_blank_node(term) {
            return Ok(None);
        }
        let mut noted = Ok(());
        let new = relabelled(term, &mut |label| {
            if noted.is_ok() {
                noted = self.note(text, label);
            }
            self.label(text, label)
        });
        noted.map(|()| new)
    }

    /// The new label of a blank node, without `_:`.
    fn label(&self, text: usize, label: &str) -> Option<String> {
        let import = self.import.as_ref()?;
        Some(if self.several { format!("{import}{}_{label}", text + 1) } else { format!("{import}{label}") })
    }

    /// Records that a label was replaced.
    fn note(&self, text: usize, label: &str) -> Result<()> {
        let first = !self.used.load(Relaxed) && !self.used.swap(true, Relaxed);
        let remember = || self.resume.iter().for_each(|resume| resume.label(text as u64, label));
        let Some((_, replaced)) = &self.map else {
            if first {
                remember();
            }
            return Ok(());
        };
        let mut replaced = replaced.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (text, label.to_owned());
        if !replaced.labels.contains(&key) {
            replaced.held.grow(label.len() as u64 + LABEL)?;
            replaced.labels.insert(key);
            remember();
        }
        Ok(())
    }

    /// Writes the recorded labels, and returns the prefix.
    fn finish(mut self) -> Result<Option<String>> {
        if let Some((map, replaced)) = self.map.take() {
            let replaced = replaced.into_inner().unwrap_or_else(PoisonError::into_inner);
            let mut file = map.create("")?;
            for (text, label) in &replaced.labels {
                let name = self.texts.get(*text).map_or("", String::as_str);
                let new = self.label(*text, label).unwrap_or_default();
                writeln!(file, "_:{label}\t_:{new}\t{name}")?;
            }
            file.finish()?;
            map.commit(&[])?;
        }
        Ok(self.import.filter(|_| self.used.load(Relaxed)))
    }
}
