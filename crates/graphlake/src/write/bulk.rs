//! Gathers many quads in sorted runs and writes them as files: for new stores, and for transactions on existing ones.

use std::sync::Arc;

#[cfg(doc)]
use isomorph_error::Kind;
use isomorph_error::Result;
use isomorph_model::faces::Quad;
use isomorph_storage::{Scratch, ScratchFile, parallel};

use super::create::WriteOptions;
use super::dictionary::Dictionary;
use super::files::NewFiles;
use super::filler::Filler;
use super::names::{Named, Names};
use super::parts::{Part, Parts, Written};
use super::resume::Resume;
use super::run::Run;
use crate::term;

/// Quads from which files will be made: takes them in any order, with duplicates, and sorts them.
pub struct Bulk {
    options: WriteOptions,
    scratch: Scratch,
    names: Arc<Names>,
    /// Takes the quads that are pushed here.
    own: Option<Filler>,
    filled: Vec<(ScratchFile, Vec<Run>)>,
    resume: Option<Arc<Resume>>,
}

impl Bulk {
    /// Creates an empty one.
    ///
    /// # Errors
    /// Returns an error if no temporary files can be created.
    pub(crate) fn new(options: &WriteOptions) -> Result<Self> {
        Ok(Bulk {
            options: options.clone(),
            scratch: options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?,
            names: Arc::new(Names::new(&options.budget)?),
            own: None,
            filled: Vec::new(),
            resume: None,
        })
    }

    /// Creates one with the quads that an earlier load gathered, which can be resumed itself.
    ///
    /// # Errors
    /// As [`Bulk::new`]; [`Kind::Malformed`] if the earlier work is inconsistent.
    pub(crate) fn resumed(options: &WriteOptions, resume: &Arc<Resume>) -> Result<Self> {
        let bulk = Bulk::new(options)?;
        let filled = resume.restored(&bulk.names)?;
        Ok(Bulk { filled, resume: Some(Arc::clone(resume)), ..bulk })
    }

    pub(super) fn options(&self) -> &WriteOptions {
        &self.options
    }

    /// Adds a quad: see [`Filler::push`].
    ///
    /// # Errors
    /// [`rules::IRI`](crate::rules::IRI) if a term is of the wrong kind; [`Kind::NoSpace`] and [`Kind::Io`] from
    /// temporary files.
    pub fn push(&mut self, quad: &Quad<'_>) -> Result<()> {
        let memory = self.shared(1);
        let own = match &mut self.own {
            Some(own) => own,
            none => none.insert(Filler::new(
                &self.names,
                &self.options.budget,
                memory,
                &self.scratch,
                self.resume.as_ref(),
            )?),
        };
        own.push(quad)
    }

    /// Returns this many fillers, each for a thread of its own. Give them back with [`Bulk::absorb`]. The output does
    /// not depend on which of them took which quad.
    ///
    /// # Errors
    /// Returns an error if the budget is exhausted.
    pub fn fillers(&self, threads: usize) -> Result<Vec<Filler>> {
        let memory = self.shared(threads);
        let (names, budget, resume) = (&self.names, &self.options.budget, self.resume.as_ref());
        (0..threads).map(|_| Filler::new(names, budget, memory, &self.scratch, resume)).collect()
    }

    /// Takes the quads that a thread has gathered.
    ///
    /// # Errors
    /// [`Kind::NoSpace`] and [`Kind::Io`] from temporary files.
    pub fn absorb(&mut self, fillers: Vec<Filler>) -> Result<()> {
        let finished = parallel::map(self.options.threads, fillers, Filler::finish);
        finished.into_iter().try_for_each(|runs| {
            self.filled.extend(runs?);
            Ok(())
        })
    }

    /// The memory of each of this many fillers for terms and rows: together half of the budget, because sorting takes
    /// more for a moment.
    fn shared(&self, threads: usize) -> u64 {
        let longest = self.resume.as_ref().map_or(u64::MAX, |resume| resume.longest_run());
        longest.min(self.options.budget.available() / 2 / threads.max(1) as u64)
    }

    /// Graphs with predicates that may have triples.
    pub(crate) fn partitions(&self) -> Vec<(String, String)> {
        let Named { graphs, partitions, .. } = self.names.named();
        let name = |number: u32| graphs.get(number as usize).cloned().unwrap_or_default();
        partitions.into_iter().map(|(graph, predicate)| (name(graph), predicate)).collect()
    }

    /// Writes the files: for each graph and predicate with triples those by subject and by object, the default graph
    /// first, then graphs and predicates by name. `ids` returns the ids of a graph and a predicate; `advance` gets the
    /// number of triples written since its last call, and can stop the work.
    ///
    /// # Errors
    /// Returns an error if something cannot be written, or if `ids` or `advance` returns one.
    pub(crate) fn write(
        mut self,
        place: &dyn NewFiles,
        ids: &mut dyn FnMut(&str, &str) -> Result<[String; 2]>,
        advance: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Vec<(String, String, Written)>> {
        let own = self.own.take();
        self.absorb(own.into_iter().collect())?;
        let Named { graphs: names, partitions, datatypes } = self.names.named();
        let dictionary = Dictionary::merge(&self.filled, datatypes, &self.options.budget, &self.scratch)?;
        // By name, so that the output does not depend on the order of the input.
        let mut filled: Vec<(u32, &str, &str)> = (0..)
            .zip(&partitions)
            .map(|(number, (graph, predicate))| {
                (number, names.get(*graph as usize).map_or("", String::as_str), predicate.as_str())
            })
            .collect();
        filled.retain(|(number, ..)| {
            let runs = self.filled.iter().flat_map(|(_, runs)| runs);
            let mut runs = runs.map(|run| run.partitions.binary_search_by_key(number, |found| found.partition));
            runs.any(|found| found.is_ok())
        });
        filled.sort_unstable_by_key(|(_, graph, predicate)| (*graph != term::DEFAULT_GRAPH, *graph, *predicate));
        let parts = filled.iter().map(|&(number, graph, predicate)| {
            let [graph_id, predicate_id] = ids(graph, predicate)?;
            Ok(Part { number, graph, predicate, graph_id, predicate_id })
        });
        let parts: Vec<Part<'_>> = parts.collect::<Result<_>>()?;
        let writing = Parts {
            place,
            options: &self.options,
            files: &self.filled,
            dictionary: &dictionary,
            // Half of the memory of a growing file; there are as many such files as threads.
            file_bytes: self.options.file_bytes.min(self.options.budget.limit() / 16).max(1),
        };
        let written = writing.write(&parts, advance)?;
        let named = parts.iter().zip(written);
        Ok(named.map(|(part, files)| (part.graph.to_owned(), part.predicate.to_owned(), files)).collect())
    }
}
