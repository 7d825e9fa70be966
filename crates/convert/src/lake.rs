//! RDF texts into stores of GraphLake that are there already, as one transaction each.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use isomorph_bridges::{ReadOptions, Reading, Syntax, Text};
use isomorph_error::{Findings, Kind, Result};
use isomorph_graphlake::{Committed, Filler, Lake, LakeWriter, OpenOptions, Transaction, WriteOptions, fresh_id};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::{Budget, Location, Mode, Reservation, Root, Staging};

use crate::digests::Resources;
use crate::progress::Progress;

/// Quads between two looks at whether the work is cancelled.
const AT_ONCE: u64 = 1 << 14;

/// What a label of a blank node needs beside its text, bytes.
const LABEL: u64 = 96;

/// Which texts come into a store, and how they are read.
#[derive(Debug, Clone, Default)]
pub struct LakeLoad {
    /// The texts.
    pub texts: Vec<Location>,
    /// Their syntax, where their names and beginnings do not tell it.
    pub syntax: Option<Syntax>,
    /// The graph of triples that name none; the default graph otherwise.
    pub graph: Option<String>,
    /// What relative IRIs are relative to.
    pub base: Option<String>,
    /// Leave out statements that are broken, and count them.
    pub lenient: bool,
    /// Where it is written down what became of labels of blank nodes: a line for each, the old and the new, with a tab between.
    pub blank_map: Option<Location>,
    /// Write no filters by which triples are found when their ids are known.
    pub no_id_filters: bool,
    /// The time of the snapshot instead of the clock's.
    pub epoch: Option<std::time::SystemTime>,
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
    /// Labels of blank nodes that were replaced.
    pub blank_nodes: u64,
    /// Mistakes that were skipped.
    pub skipped: u64,
    /// The first of them.
    pub findings: Findings,
}

/// Loads texts in bulk: into a new store, where there is nothing yet; else as one transaction. Into a store that has a
/// snapshot, and from several texts, blank nodes get labels that no other import has.
///
/// # Errors
/// When a text is broken, or something cannot be written: then nothing of it is in the store.
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
    let there = match Root::open(location) {
        Ok(_) => true,
        Err(error) if error.kind() == Kind::NotFound => false,
        Err(error) => return Err(error),
    };
    progress.begin("read", None);
    let loaded = match there {
        false => create(location, load, &writing, progress),
        true => {
            let lake = Lake::open(location, &opening, &writing)?;
            add(&lake, load, &writing, progress)
        }
    };
    progress.end();
    loaded
}

fn create(location: &Location, load: &LakeLoad, writing: &WriteOptions, progress: &dyn Progress) -> Result<LakeLoaded> {
    let staging = Staging::directory(location, Mode::CreateNew)?;
    let mut writer = LakeWriter::create(&staging, writing)?;
    let mut fillers = writer.fillers(writing.threads.max(1))?;
    let (mut loaded, labels) = gather(load, &writing.budget, load.texts.len() > 1, progress, &mut fillers)?;
    writer.absorb(fillers)?;
    let created = writer.finish(&|rows| progress.advance(rows))?;
    progress.advance(0)?;
    let manifests = LakeWriter::manifests();
    let published = staging.commit(&manifests.each_ref().map(String::as_str))?;
    loaded.blank_nodes = labels.finish()?;
    loaded.created = true;
    let (version, inserted) = (1, created.triples);
    let (files, bytes) = (published.files.saturating_sub(manifests.len() as u64), published.bytes);
    let id = format!("snapshot{version}");
    loaded.commit = Some(Committed { version, id, inserted, files, bytes, ..Committed::default() });
    Ok(loaded)
}

fn add(lake: &Lake, load: &LakeLoad, writing: &WriteOptions, progress: &dyn Progress) -> Result<LakeLoaded> {
    let mut transaction = lake.begin()?;
    let is_empty = transaction.base_version() == 0;
    if is_empty {
        // Labels may stay as they are only where nobody else has any.
        transaction.alone();
    }
    let mut bulk = transaction.bulk()?;
    let mut fillers = bulk.fillers(writing.threads.max(1))?;
    let replaces = !is_empty || load.texts.len() > 1;
    let (mut loaded, labels) = gather(load, &writing.budget, replaces, progress, &mut fillers)?;
    bulk.absorb(fillers)?;
    transaction.insert_bulk(bulk, &|rows| progress.advance(rows))?;
    // The last moment to turn back.
    progress.advance(0)?;
    loaded.commit = transaction.commit()?;
    loaded.blank_nodes = labels.finish()?;
    Ok(loaded)
}

/// Reads the texts into fillers, with new labels of blank nodes where that is wanted.
fn gather(
    load: &LakeLoad,
    budget: &Budget,
    replaces: bool,
    progress: &dyn Progress,
    fillers: &mut [Filler],
) -> Result<(LakeLoaded, Labels)> {
    let labels = Mutex::new(Labels::new(load, replaces, budget)?);
    // Few triples have blank nodes: only these wait for each other.
    let loaded = read(load, budget, progress, fillers, &|filler, text, quad| {
        if !replaces || !has_blank_node(&quad) {
            return filler.push(&quad);
        }
        let new = labels.lock().unwrap_or_else(PoisonError::into_inner).of(text, &quad)?;
        filler.push(&relabelled(&quad, &new))
    })?;
    Ok((loaded, labels.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

/// Reads the texts one after another, each on as many threads as there are takers, if its syntax is one of lines.
fn read<T: Send>(
    load: &LakeLoad,
    budget: &Budget,
    progress: &dyn Progress,
    takers: &mut [T],
    take: &(dyn Fn(&mut T, usize, Quad<'_>) -> Result<()> + Sync),
) -> Result<LakeLoaded> {
    let options = ReadOptions { base: load.base.clone(), lenient: load.lenient, budget: budget.clone() };
    let mut loaded = LakeLoaded::default();
    // Each with the quads that it has not told of yet.
    let mut takers: Vec<(&mut T, u64)> = takers.iter_mut().map(|taker| (taker, 0)).collect();
    for (at, text) in load.texts.iter().enumerate() {
        let text = Text::open(text, load.syntax)?;
        let reading = text.read_shared(&options, &mut takers, &|(taker, unsaid), quad| {
            *unsaid += 1;
            if *unsaid == AT_ONCE {
                progress.advance(std::mem::take(unsaid))?;
            }
            take(taker, at, Quad { graph: quad.graph.or(load.graph.as_deref()), ..quad })
        })?;
        loaded.quads += reading.quads;
        loaded.skipped += reading.skipped;
        if loaded.findings.is_empty() {
            loaded.findings = reading.findings;
        }
    }
    progress.advance(takers.iter().map(|(_, unsaid)| unsaid).sum())?;
    Ok(loaded)
}

fn is_blank_node(term: &str) -> bool {
    term.starts_with("_:")
}

fn has_blank_node(quad: &Quad<'_>) -> bool {
    let object = matches!(quad.object, Object::Term(term) if is_blank_node(term));
    object || is_blank_node(quad.subject) || quad.graph.is_some_and(is_blank_node)
}

/// A quad with new terms for subject, object and graph, where there are some.
fn relabelled<'q>(quad: &Quad<'q>, new: &'q [Option<String>; 3]) -> Quad<'q> {
    let [subject, object, graph] = new.each_ref().map(Option::as_deref);
    Quad {
        subject: subject.unwrap_or(quad.subject),
        predicate: quad.predicate,
        object: object.map_or(quad.object, Object::Term),
        graph: graph.or(quad.graph),
    }
}

/// Labels of blank nodes: those of one text mean something in that text only, so that each import gets its own.
struct Labels {
    /// What new labels begin with; nothing, where labels stay as they are.
    import: Option<String>,
    known: HashMap<(usize, String), u64>,
    held: Reservation,
    /// Where replacements are written down.
    map: Option<Staging>,
    texts: Vec<String>,
}

impl Labels {
    fn new(load: &LakeLoad, replaces: bool, budget: &Budget) -> Result<Self> {
        let import = match replaces {
            true => Some(fresh_id()?.split('-').next().unwrap_or_default().to_owned()),
            false => None,
        };
        let map = load.blank_map.as_ref().map(|place| Staging::file(place, Mode::CreateNew)).transpose()?;
        let texts = load.texts.iter().map(Location::to_string).collect();
        Ok(Labels { import, known: HashMap::new(), held: budget.reserve(0)?, map, texts })
    }

    /// The new labels of the blank nodes among subject, object and graph; nothing for other terms.
    fn of(&mut self, text: usize, quad: &Quad<'_>) -> Result<[Option<String>; 3]> {
        let subject = self.label(text, quad.subject)?;
        let object = match quad.object {
            Object::Term(term) => self.label(text, term)?,
            Object::Literal { .. } => None,
        };
        let graph = quad.graph.map(|graph| self.label(text, graph)).transpose()?.flatten();
        Ok([subject, object, graph])
    }

    /// The new label of a blank node; nothing for other terms.
    fn label(&mut self, text: usize, term: &str) -> Result<Option<String>> {
        let (Some(import), true) = (&self.import, is_blank_node(term)) else { return Ok(None) };
        let next = self.known.len() as u64 + 1;
        // The key is made anew for each look-up: a map over borrowed pairs would not take one.
        let key = (text, term.to_owned());
        let number = match self.known.get(&key) {
            Some(number) => *number,
            None => {
                self.held.grow(term.len() as u64 + LABEL)?;
                self.known.insert(key, next);
                next
            }
        };
        Ok(Some(format!("_:{import}_{number}")))
    }

    /// Writes down what was replaced, and says how many labels.
    fn finish(self) -> Result<u64> {
        let (Some(map), Some(import)) = (self.map, &self.import) else { return Ok(self.known.len() as u64) };
        let mut all: Vec<(u64, usize, &str)> =
            self.known.iter().map(|((text, label), number)| (*number, *text, label.as_str())).collect();
        all.sort_unstable();
        let mut file = map.create("")?;
        for (number, text, label) in all {
            let text = self.texts.get(text).map_or("", String::as_str);
            writeln!(file, "{label}\t_:{import}_{number}\t{text}")?;
        }
        file.finish()?;
        map.commit(&[])?;
        Ok(self.known.len() as u64)
    }
}

/// What of statements is done to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LakeEdit {
    /// They are inserted; labels of blank nodes are those of the store.
    Insert,
    /// They are deleted.
    Delete,
}

/// Inserts statements of N-Quads into a store, or deletes them, as one transaction.
///
/// # Errors
/// When a statement is broken, or something cannot be written: then nothing is changed.
pub fn edit_lake(
    lake: &Lake,
    edit: LakeEdit,
    mut statements: impl std::io::Read,
    budget: &Budget,
) -> Result<(Reading, Option<Committed>)> {
    let mut transaction: Transaction<'_> = lake.begin()?;
    let options = ReadOptions { budget: budget.clone(), ..ReadOptions::default() };
    let reading = isomorph_bridges::read(&mut statements, Syntax::NQuads, &options, &mut |quad| match edit {
        LakeEdit::Insert => transaction.insert(&quad),
        LakeEdit::Delete => transaction.delete(&quad),
    })?;
    Ok((reading, transaction.commit()?))
}
