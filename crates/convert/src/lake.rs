//! RDF texts into stores of GraphLake that are there already, as one transaction each.

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

/// Quads between two looks at whether the work is cancelled.
const AT_ONCE: u64 = 1 << 14;

/// What a label of a blank node that is written down needs beside its text, bytes.
const LABEL: u64 = 96;

/// A text that comes into a store.
#[derive(Debug, Clone)]
pub enum LakeText {
    /// A file or an object.
    At(Location),
    /// What can be read once only, by the first load that gets to it: a pipe.
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

/// What can be read once only. Clones share it.
#[derive(Clone)]
pub struct LakeStream {
    name: String,
    input: Arc<Mutex<Box<dyn Read + Send>>>,
}

impl LakeStream {
    /// `name` is what errors and lists of labels call it.
    pub fn new(name: &str, input: Box<dyn Read + Send>) -> Self {
        LakeStream { name: name.to_owned(), input: Arc::new(Mutex::new(input)) }
    }
}

impl fmt::Debug for LakeStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LakeStream").field(&self.name).finish()
    }
}

/// Which texts come into a store, and how they are read.
#[derive(Debug, Clone, Default)]
pub struct LakeLoad {
    /// The texts.
    pub texts: Vec<LakeText>,
    /// Their syntax, where their names and beginnings do not tell it.
    pub syntax: Option<Syntax>,
    /// The graph of triples that name none; the default graph otherwise.
    pub graph: Option<String>,
    /// What relative IRIs are relative to.
    pub base: Option<String>,
    /// Leave out what is broken, with what depends on it, and count it.
    pub lenient: bool,
    /// Where it is written down what became of labels of blank nodes: a line for each, the old and the new, with a tab between.
    pub blank_map: Option<Location>,
    /// Write no filters by which triples are found when their ids are known.
    pub no_id_filters: bool,
    /// The time of the snapshot instead of the clock's.
    pub epoch: Option<std::time::SystemTime>,
    /// Keep what is needed to go on after an interruption, and go on where an earlier load of the same texts was stopped.
    pub resume: bool,
}

/// What was loaded.
#[derive(Debug, Clone, Default)]
pub struct LakeLoaded {
    /// Quads that were read, equal ones each time.
    pub quads: u64,
    /// Whether the store was made by this.
    pub created: bool,
    /// The commit; nothing when there was nothing to be loaded.
    pub commit: Option<Committed>,
    /// What was put in front of the labels of blank nodes, if there were any that had to be other ones. With several texts the number
    /// of the text, from 1 on, and `_` come between that and the label.
    pub blank_prefix: Option<String>,
    /// Mistakes that were skipped.
    pub skipped: u64,
    /// The first of them.
    pub findings: Findings,
    /// What was found of an earlier load; nothing, where none was looked for.
    pub found: Option<FoundLoad>,
    /// The earlier load had published everything, and nothing was left to be done.
    pub finished_before: bool,
}

/// Loads texts in bulk: into a new store, where there is nothing yet; else as one transaction. Into a store that has a
/// snapshot, and from several texts, blank nodes get labels that no other import has.
///
/// One that can be resumed keeps its sorted runs in a directory beside the store (that of an object store among temporary
/// files) until it is done; what it needs of them is the same with other threads and other memory.
///
/// # Errors
/// When a text is broken, or something cannot be written: then nothing of it is in the store. [`Kind::Conflict`] when another
/// load that can be resumed is at work on the same store.
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
        // Where it was made aside a directory may be left: who finds the place taken removes it.
        let _ = Staging::directory(location, Mode::CreateNew);
        // What became of labels may have been written down already.
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
        // Labels may stay as they are only where nobody else has any.
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
    // The last moment to turn back.
    progress.advance(0)?;
    if let Some(resume) = resume {
        resume::note_commit(resume, &transaction, &loaded)?;
    }
    loaded.commit = transaction.commit()?;
    loaded.blank_prefix = labels.finish()?;
    Ok(loaded)
}

/// What was gathered before an error or an interruption is of use only to a load that can be resumed.
fn absorb_if(useful: bool, absorb: impl FnOnce() -> Result<()>) -> Result<()> {
    if useful { absorb() } else { Ok(()) }
}

/// Reads the texts into fillers, with new labels of blank nodes where that is wanted.
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

/// Reads the texts one after another, each on as many threads as there are takers, if its syntax is one of lines.
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
    // Each with the quads that it has not told of yet.
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

/// Whether a term is a blank node or may have one inside.
fn may_have_blank_node(term: &str) -> bool {
    term.starts_with("_:") || term.starts_with("<<(") && term.contains("_:")
}

fn has_blank_node(quad: &Quad<'_>) -> bool {
    let object = matches!(quad.object, Object::Term(term) if may_have_blank_node(term));
    object || may_have_blank_node(quad.subject) || quad.graph.is_some_and(may_have_blank_node)
}

/// Labels of blank nodes: those of one text mean something in that text only, so that each import gets its own.
///
/// The new label is the old one behind what no other import has in front. So the labels themselves keep the mapping, whoever reads
/// the store, without a byte of memory for it.
struct Labels {
    /// What new labels begin with; nothing, where labels stay as they are.
    import: Option<String>,
    /// Whether there are several texts, whose labels must not meet.
    several: bool,
    used: AtomicBool,
    /// Where replacements are written down, and those so far.
    map: Option<(Staging, Mutex<Replaced>)>,
    texts: Vec<String>,
    /// Who remembers them.
    resume: Option<Arc<Resume>>,
}

/// What new labels begin with, where there are any.
fn import(resume: Option<&Arc<Resume>>, replaces: bool) -> Result<Option<String>> {
    match resume {
        Some(resume) => resume.import(replaces, fresh_prefix),
        None => replaces.then(fresh_prefix).transpose(),
    }
}

/// What no label of a blank node that is there begins with.
fn fresh_prefix() -> Result<String> {
    // The first 48 of its bits, behind a letter: names of XML begin with one.
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

    /// The new terms for subject, object and graph; nothing for those without blank nodes.
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

    /// Takes down that a label was replaced.
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

    /// Writes down what was replaced, and says what was put in front.
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
