//! RDF texts into stores of GraphLake that are there already, as one transaction each.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use isomorph_bridges::{ReadOptions, Reading, Syntax, Text, relabelled};
use isomorph_error::{Findings, Kind, Result};
use isomorph_graphlake::{Committed, Filler, Lake, LakeWriter, OpenOptions, Transaction, WriteOptions, fresh_id};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::{Budget, Location, Mode, Reservation, Root, Staging};

use crate::digests::Resources;
use crate::progress::Progress;

/// Quads between two looks at whether the work is cancelled.
const AT_ONCE: u64 = 1 << 14;

/// What a label of a blank node that is written down needs beside its text, bytes.
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
    /// What was put in front of the labels of blank nodes, if there were any that had to be other ones. With several texts the number
    /// of the text, from 1 on, and `_` come between that and the label.
    pub blank_prefix: Option<String>,
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
    loaded.blank_prefix = labels.finish()?;
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
    loaded.blank_prefix = labels.finish()?;
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
    let labels = Labels::new(load, replaces, budget)?;
    let loaded = read(load, budget, progress, fillers, &|filler, text, quad| {
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
}

/// Labels that were replaced, by the number of their text.
struct Replaced {
    labels: BTreeSet<(usize, String)>,
    held: Reservation,
}

impl Labels {
    fn new(load: &LakeLoad, replaces: bool, budget: &Budget) -> Result<Self> {
        let import = match replaces {
            // The first 48 of its bits, behind a letter: names of XML begin with one.
            true => Some(format!("i{}_", fresh_id()?.split('-').take(2).collect::<String>())),
            false => None,
        };
        let map = match &load.blank_map {
            Some(place) => {
                let replaced = Replaced { labels: BTreeSet::new(), held: budget.reserve(0)? };
                Some((Staging::file(place, Mode::CreateNew)?, Mutex::new(replaced)))
            }
            None => None,
        };
        let texts: Vec<String> = load.texts.iter().map(Location::to_string).collect();
        Ok(Labels { import, several: texts.len() > 1, used: AtomicBool::new(false), map, texts })
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
        self.used.store(true, Relaxed);
        let Some((_, replaced)) = &self.map else { return Ok(()) };
        let mut replaced = replaced.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (text, label.to_owned());
        if !replaced.labels.contains(&key) {
            replaced.held.grow(label.len() as u64 + LABEL)?;
            replaced.labels.insert(key);
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
