//! The entry point of quads: each thread gathers its own.

use std::sync::Arc;

use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::{Budget, Reservation, Scratch, ScratchFile};

use super::intern::{HEAD, Interner};
use super::names::Names;
use super::pending::Pending;
use super::resume::{Piece, Resume};
use super::run::{self, RESOURCE, Row, Run};
use crate::read::quoted;
#[cfg(doc)]
use crate::rules;
use crate::term::{self, Datatype, no_iri, resource};

/// The longest part of a triple, in bytes: lengths have 31 bits.
const LONGEST: usize = i32::MAX as usize;

/// Memory of a term in addition to its text while its run is sorted, in bytes: head and offset, then the slot in the
/// table, or key, number and rank.
const OF_TERM: u64 = 30 + HEAD as u64;

/// Memory of a triple then: a row and a pair.
const OF_ROW: u64 = 20;

/// Memory is reserved in steps of this many bytes; if a step does not fit, a run is written.
const STEP: u64 = 1 << 20;

/// Takes quads for a new store or a bulk insert, on any thread, and gathers them in sorted runs.
pub struct Filler {
    names: Arc<Names>,
    scratch: Scratch,
    terms: Interner,
    rows: Vec<Row>,
    /// The last triples, whose terms have no numbers yet.
    pending: Pending,
    /// The local number of a predicate, by graph; the partition that it means; and the same for graphs and datatypes.
    predicates: Interner,
    partitions: Vec<u32>,
    graphs: Interner,
    graph_numbers: Vec<u32>,
    /// The graph of the last quad outside the default graph, and the number of the default graph, if it is known.
    last_graph: Option<(String, u32)>,
    default_graph: Option<u32>,
    datatypes: Interner,
    datatype_numbers: Vec<u32>,
    text: String,
    /// A buffer for the lines that ids are made from.
    line: String,
    held: Reservation,
    /// Maximum memory for terms and rows, in bytes.
    memory: u64,
    file: Option<ScratchFile>,
    runs: Vec<Run>,
    /// The log of runs, and the number of this filler's file in it.
    resume: Option<(Arc<Resume>, u32)>,
    /// Pieces of texts whose last quads are in memory.
    pieces: Vec<Piece>,
}

impl Filler {
    /// An empty one that may take `memory` bytes of `budget` before it writes temporary files.
    pub(super) fn new(
        names: &Arc<Names>,
        budget: &Budget,
        memory: u64,
        scratch: &Scratch,
        resume: Option<&Arc<Resume>>,
    ) -> Result<Self> {
        Ok(Filler {
            names: Arc::clone(names),
            scratch: scratch.clone(),
            terms: Interner::new(),
            rows: Vec::new(),
            pending: Pending::default(),
            predicates: Interner::new(),
            partitions: Vec::new(),
            graphs: Interner::new(),
            graph_numbers: Vec::new(),
            last_graph: None,
            default_graph: None,
            datatypes: Interner::new(),
            datatype_numbers: Vec::new(),
            text: String::new(),
            line: String::new(),
            held: budget.reserve(0)?,
            memory: memory.max(STEP),
            file: None,
            runs: Vec::new(),
            resume: resume.map(|resume| (Arc::clone(resume), 0)),
            pieces: Vec::new(),
        })
    }

    /// Adds a quad. Its terms are texts as a store has them: IRIs, blank nodes with `_:` before their labels. A triple
    /// term becomes the IRI of its id, and its triple is added to the graph of quoted triples (R33). After an error
    /// about a term the next quad may follow.
    ///
    /// # Errors
    /// [`rules::IRI`] if a term is of the wrong kind; [`Kind::TooLarge`] if quoted triples are nested too deeply;
    /// [`Kind::NoSpace`] and [`Kind::Io`] from temporary files.
    pub fn push(&mut self, quad: &Quad<'_>) -> Result<()> {
        let mut line = std::mem::take(&mut self.line);
        let ids = quoted::ids(quad, &mut line, &mut |quoted| self.push_plain(quoted));
        self.line = line;
        let [subject, object] = ids?;
        if subject.is_none() && object.is_none() {
            return self.push_plain(quad);
        }
        self.push_plain(&Quad {
            subject: subject.as_deref().unwrap_or(quad.subject),
            object: object.as_deref().map_or(quad.object, Object::Term),
            ..*quad
        })
    }

    /// Declares that all quads of a piece were pushed here: it need not be read again once the next run is written. Has
    /// no effect if the load cannot be resumed.
    pub fn done_with(&mut self, piece: Piece) {
        if self.resume.is_some() {
            self.pieces.push(piece);
        }
    }

    fn push_plain(&mut self, quad: &Quad<'_>) -> Result<()> {
        let (object, literal) = match quad.object {
            Object::Term(term) => (term, false),
            Object::Literal { lexical, .. } => (lexical, true),
        };
        if quad.subject.len() > LONGEST || object.len() > LONGEST {
            return Err(too_long());
        }
        self.make_room(quad.subject.len() + object.len())?;
        let graph = self.graph(quad.graph)?;
        let partition = self.partition(graph, quad.predicate)?;
        let subject = match self.pending.subject(quad.subject) {
            Some(subject) => subject,
            None => {
                resource(quad.subject, "subject")?;
                self.pending.term(&self.terms, RESOURCE, quad.subject)
            }
        };
        let tag = if literal { self.datatype(&quad.object)? + 1 } else { RESOURCE };
        if !literal {
            resource(object, "object")?;
        }
        let object = self.pending.term(&self.terms, tag, object);
        self.pending.row(partition, subject, object);
        if self.pending.is_full() {
            self.pending.settle(&mut self.terms, &mut self.rows);
        }
        Ok(())
    }

    /// The number of a graph: mostly that of the last quad, or the default graph.
    fn graph(&mut self, name: Option<&str>) -> Result<u32> {
        match (name, &self.last_graph, self.default_graph) {
            (None, _, Some(number)) => return Ok(number),
            (Some(name), Some((last, number)), _) if name == last => return Ok(*number),
            _ => {}
        }
        let number = self.found_graph(name)?;
        match name {
            None => self.default_graph = Some(number),
            Some(name) => self.last_graph = Some((name.to_owned(), number)),
        }
        Ok(number)
    }

    fn found_graph(&mut self, name: Option<&str>) -> Result<u32> {
        term::named_graph(name)?;
        let name = name.unwrap_or(term::DEFAULT_GRAPH);
        let (names, numbers) = (&self.names, &mut self.graph_numbers);
        let here = self.graphs.intern(0, name, || {
            graph_name(name)?;
            numbers.push(names.graph(name)?);
            Ok(())
        })?;
        Ok(self.graph_numbers.get(here as usize).copied().unwrap_or_default())
    }

    fn partition(&mut self, graph: u32, predicate: &str) -> Result<u32> {
        let (names, numbers) = (&self.names, &mut self.partitions);
        self.predicates.intern(graph, predicate, || {
            if !term::is_absolute_iri(predicate) {
                return Err(no_iri(predicate, "predicate"));
            }
            numbers.push(names.partition(graph, predicate)?);
            Ok(())
        })
    }

    fn datatype(&mut self, object: &Object<'_>) -> Result<u32> {
        let Object::Literal { datatype: iri, language, direction, .. } = *object else { return Ok(0) };
        term::direction_fits(language, direction)?;
        self.text.clear();
        Datatype { iri: Some(iri).filter(|_| language.is_none()), language, direction }.push(&mut self.text);
        if self.text.is_empty() {
            return Ok(0);
        }
        if self.text.len() > LONGEST {
            return Err(too_long());
        }
        let (names, numbers, text) = (&self.names, &mut self.datatype_numbers, &self.text);
        let here = self.datatypes.intern(0, text, || {
            if language.is_none() {
                term::datatype(iri)?;
            }
            numbers.push(names.datatype(text)?);
            Ok(())
        })?;
        Ok(self.datatype_numbers.get(here as usize).copied().unwrap_or_default())
    }

    /// Ensures that there is memory for two terms of this total length and a triple.
    fn make_room(&mut self, texts: usize) -> Result<()> {
        let more = texts as u64 + 2 * OF_TERM + OF_ROW;
        let needed = |filler: &Filler| {
            let terms = (filler.terms.len() + filler.pending.terms()) as u64 * OF_TERM;
            let rows = (filler.rows.len() + filler.pending.rows()) as u64 * OF_ROW;
            filler.terms.text_bytes() as u64 + 2 * filler.pending.text_bytes() as u64 + terms + rows + more
        };
        if needed(self) <= self.held.bytes() && self.has_room(texts) {
            return Ok(());
        }
        let missing = needed(self).saturating_sub(self.held.bytes());
        let fits = needed(self) <= self.memory
            && self.has_room(texts)
            && (missing == 0 || self.held.try_grow(missing.max(STEP)));
        if !fits {
            self.spill()?;
            self.terms.clear();
            let missing = needed(self).saturating_sub(self.held.bytes());
            self.held.grow(missing)?;
            // With existing texts, two of the longest texts can exceed 32-bit offsets.
            if !self.has_room(texts) {
                return Err(too_long());
            }
        }
        Ok(())
    }

    /// Whether two terms of this total length still fit.
    fn has_room(&self, texts: usize) -> bool {
        let pending = self.pending.text_bytes() + HEAD * self.pending.terms();
        self.terms.has_room(pending.saturating_add(texts).saturating_add(2 * HEAD))
    }

    /// Writes what is in memory to a run.
    fn spill(&mut self) -> Result<()> {
        self.pending.settle(&mut self.terms, &mut self.rows);
        if self.rows.is_empty() {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(match &mut self.resume {
                None => self.scratch.create()?,
                Some((resume, number)) => {
                    let (new, file) = resume.create()?;
                    *number = new;
                    file
                }
            }),
        };
        let datatypes = self.names.datatypes();
        let run = run::write(file, &mut self.terms, &mut self.rows, &self.partitions, &datatypes)?;
        if let Some((resume, number)) = &self.resume {
            resume.note(*number, file, &run, std::mem::take(&mut self.pieces), &self.names)?;
        }
        self.runs.push(run);
        Ok(())
    }

    /// The file with its runs; `None` if there were no quads.
    pub(super) fn finish(mut self) -> Result<Option<(ScratchFile, Vec<Run>)>> {
        self.spill()?;
        Ok(self.file.map(|file| (file, self.runs)))
    }
}

/// Checks that a graph may have this name.
pub(super) fn graph_name(name: &str) -> Result<()> {
    if name.starts_with("_:") || term::is_absolute_iri(name) { Ok(()) } else { Err(no_iri(name, "graph")) }
}

fn too_long() -> Error {
    Error::new(Kind::TooLarge, "a text in a record must be shorter than 2 GiB")
}
