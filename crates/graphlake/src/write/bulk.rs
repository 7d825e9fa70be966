//! Many quads, gathered in sorted runs and then written as files: for new stores, and for transactions of others.

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

/// Quads in the making of files: takes them in any order, some of them twice, and sorts them.
pub struct Bulk {
    options: WriteOptions,
    scratch: Scratch,
    names: Arc<Names>,
    /// What takes the quads that are pushed here.
    own: Option<Filler>,
    filled: Vec<(ScratchFile, Vec<Run>)>,
    resume: Option<Arc<Resume>>,
}

impl Bulk {
    /// An empty one.
    ///
    /// # Errors
    /// When there is no place for temporary files.
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

    /// One that has what an earlier load gathered, and can be taken up again itself.
    ///
    /// # Errors
    /// As [`Bulk::new`]; [`Kind::Malformed`] when what was found contradicts itself.
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
    /// [`rules::IRI`](crate::rules::IRI) when a term is not of that kind; [`Kind::NoSpace`] and [`Kind::Io`] from temporary files.
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

    /// So many that take quads, each on a thread of its own. Give them back with [`Bulk::absorb`]. What is written does
    /// not depend on which of them took which quad.
    ///
    /// # Errors
    /// When the budget has nothing left.
    pub fn fillers(&self, threads: usize) -> Result<Vec<Filler>> {
        let memory = self.shared(threads);
        let (names, budget, resume) = (&self.names, &self.options.budget, self.resume.as_ref());
        (0..threads).map(|_| Filler::new(names, budget, memory, &self.scratch, resume)).collect()
    }

    /// Takes what a thread has gathered.
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

    /// What one of so many threads may take for terms and rows: together half of what there is, for sorting takes more for
    /// a moment.
    fn shared(&self, threads: usize) -> u64 {
        let longest = self.resume.as_ref().map_or(u64::MAX, |resume| resume.longest_run());
        longest.min(self.options.budget.available() / 2 / threads.max(1) as u64)
    }

    /// Graphs with predicates of which there may be triples.
    pub(crate) fn partitions(&self) -> Vec<(String, String)> {
        let Named { graphs, partitions, .. } = self.names.named();
        let name = |number: u32| graphs.get(number as usize).cloned().unwrap_or_default();
        partitions.into_iter().map(|(graph, predicate)| (name(graph), predicate)).collect()
    }

    /// Writes the files: for each graph and predicate with triples those by subject and by object, the default graph first,
    /// then graphs and predicates by name. `ids` says which ids a graph and a predicate have; `advance` is told how many
    /// triples more are written and may end the work.
    ///
    /// # Errors
    /// When something cannot be written, or `ids` or `advance` returns an error.
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
        // By name, so that nothing depends on what came first.
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
            // Half of what a file may take while it grows; as many are in the making as there are threads.
            file_bytes: self.options.file_bytes.min(self.options.budget.limit() / 16).max(1),
        };
        let written = writing.write(&parts, advance)?;
        let named = parts.iter().zip(written);
        Ok(named.map(|(part, files)| (part.graph.to_owned(), part.predicate.to_owned(), files)).collect())
    }
}
