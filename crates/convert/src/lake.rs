//! RDF texts into stores of GraphLake that are there already, as one transaction each.

use std::collections::HashMap;
use std::io::Write;

use isomorph_bridges::{ReadOptions, Reading, Syntax, Text};
use isomorph_error::{Findings, Kind, Result};
use isomorph_graphlake::{Committed, Lake, LakeWriter, OpenOptions, Transaction, WriteOptions, fresh_id};
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

/// Loads texts: into a new store, in bulk, where there is nothing yet; else as one transaction, whose blank nodes get labels that no
/// other import has.
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
            add(&lake, load, resources, progress)
        }
    };
    progress.end();
    loaded
}

fn create(location: &Location, load: &LakeLoad, writing: &WriteOptions, progress: &dyn Progress) -> Result<LakeLoaded> {
    let staging = Staging::directory(location, Mode::CreateNew)?;
    let mut writer = LakeWriter::create(&staging, writing)?;
    let mut labels = Labels::new(load, load.texts.len() > 1, &writing.budget)?;
    let mut loaded =
        read(load, &writing.budget, progress, &mut |at, quad| labels.of(at, &quad, |quad| writer.push(quad)))?;
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

fn add(lake: &Lake, load: &LakeLoad, resources: &Resources, progress: &dyn Progress) -> Result<LakeLoaded> {
    let mut transaction = lake.begin()?;
    let mut labels = Labels::new(load, true, &resources.budget)?;
    let mut loaded =
        read(load, &resources.budget, progress, &mut |at, quad| labels.of(at, &quad, |quad| transaction.insert(quad)))?;
    // The last moment to turn back.
    progress.advance(0)?;
    loaded.commit = transaction.commit()?;
    loaded.blank_nodes = labels.finish()?;
    Ok(loaded)
}

/// Reads the texts one after another.
fn read(
    load: &LakeLoad,
    budget: &Budget,
    progress: &dyn Progress,
    take: &mut dyn FnMut(usize, Quad<'_>) -> Result<()>,
) -> Result<LakeLoaded> {
    let options = ReadOptions { base: load.base.clone(), lenient: load.lenient, budget: budget.clone() };
    let mut loaded = LakeLoaded::default();
    let mut unsaid = 0;
    for (at, text) in load.texts.iter().enumerate() {
        let reading = Text::open(text, load.syntax)?.read(&options, &mut |quad| {
            unsaid += 1;
            if unsaid == AT_ONCE {
                progress.advance(std::mem::take(&mut unsaid))?;
            }
            take(at, Quad { graph: quad.graph.or(load.graph.as_deref()), ..quad })
        })?;
        loaded.quads += reading.quads;
        loaded.skipped += reading.skipped;
        if loaded.findings.is_empty() {
            loaded.findings = reading.findings;
        }
    }
    progress.advance(unsaid)?;
    Ok(loaded)
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

    /// Hands over a quad with its new labels.
    fn of(&mut self, text: usize, quad: &Quad<'_>, then: impl FnOnce(&Quad<'_>) -> Result<()>) -> Result<()> {
        if self.import.is_none() {
            return then(quad);
        }
        let subject = self.label(text, quad.subject)?;
        let object = match quad.object {
            Object::Term(term) => self.label(text, term)?,
            Object::Literal { .. } => None,
        };
        let graph = quad.graph.map(|graph| self.label(text, graph)).transpose()?.flatten();
        let term = |new: &'_ Option<String>, old: &'_ str| new.as_deref().map_or(old.to_owned(), str::to_owned);
        match (&subject, &object, &graph) {
            (None, None, None) => then(quad),
            _ => {
                let own_subject = term(&subject, quad.subject);
                let own_graph = quad.graph.map(|old| term(&graph, old));
                let object = object.as_deref().map_or(quad.object, Object::Term);
                then(&Quad { subject: &own_subject, predicate: quad.predicate, object, graph: own_graph.as_deref() })
            }
        }
    }

    /// The new label of a blank node; nothing for other terms.
    fn label(&mut self, text: usize, term: &str) -> Result<Option<String>> {
        let (Some(import), true) = (&self.import, term.starts_with("_:")) else { return Ok(None) };
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
