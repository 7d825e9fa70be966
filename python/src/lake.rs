//! GraphLake stores that are changed in place.

use std::sync::{Arc, Mutex, PoisonError};

use isomorph::convert::{LakeLoad, LakeText};
use isomorph::formats::graphlake::{self, Committed, CompactMode, OpenOptions, What, WriteOptions};
use isomorph::formats::rdf;
use isomorph::model::faces::{Object, Quad};
use isomorph::storage::Resources;
use isomorph::{Error, Location, Result};
use pyo3::prelude::*;
use self_cell::self_cell;
use serde_json::json;

use crate::functions::invalid;
use crate::graph::or_raise;
use crate::options::{destination, resources, syntax};
use crate::work::{Ending, run};

/// A store that is opened for changes.
#[pyclass(module = "isomorph._isomorph", frozen)]
pub(crate) struct Lake {
    lake: Arc<graphlake::Lake>,
    location: Location,
    resources: Resources,
}

#[pymethods]
impl Lake {
    /// Opens a store, or creates an empty one.
    #[new]
    fn new(
        py: Python<'_>,
        path: String,
        create: bool,
        memory: Option<u64>,
        threads: Option<usize>,
        temp_dir: Option<String>,
    ) -> PyResult<Lake> {
        run(py, None, Ending::Awaited, move |_| {
            let location = destination(&path)?;
            let resources = resources(memory, threads, temp_dir.as_deref())?;
            let opening =
                OpenOptions { budget: resources.budget.clone(), threads: resources.threads, ..OpenOptions::default() };
            let writing = WriteOptions {
                budget: resources.budget.clone(),
                scratch: Some(resources.scratch.clone()),
                threads: resources.threads,
                ..WriteOptions::default()
            };
            let lake = match create {
                true => graphlake::Lake::create(&location, &opening, &writing)?,
                false => graphlake::Lake::open(&location, &opening, &writing)?,
            };
            Ok(Lake { lake: Arc::new(lake), location, resources })
        })
    }

    #[getter]
    fn location(&self) -> String {
        self.location.to_string()
    }

    fn begin(&self, py: Python<'_>) -> PyResult<Transaction> {
        let (lake, resources) = (Arc::clone(&self.lake), self.resources.clone());
        run(py, None, Ending::Abandoned, move |_| {
            let open = Open::try_new(lake, |lake| lake.begin().map(Some))?;
            Ok(Transaction { open: Mutex::new(Some(open)), process: std::process::id(), resources })
        })
    }

    /// The last snapshots, the newest last, as JSON.
    fn log(&self, py: Python<'_>, limit: usize) -> PyResult<String> {
        let lake = Arc::clone(&self.lake);
        run(py, None, Ending::Abandoned, move |_| {
            let events = lake.log(limit)?.into_iter().map(|event| {
                let changes = event.changes.iter().map(|change| {
                    let what = match change.what {
                        What::Created => "created",
                        What::Dropped => "dropped",
                        What::Changed => "changed",
                        What::Compacted => "compacted",
                    };
                    json!({
                        "graph": change.graph, "what": what, "inserted": change.inserted, "deleted": change.deleted,
                        "removed_files": change.removed,
                    })
                });
                json!({
                    "version": event.version, "id": event.id, "timestamp": event.timestamp, "graphs": event.graphs,
                    "triples": event.triples, "exact": event.exact, "records": event.records, "deletions": event.deletions,
                    "files": event.files, "bytes": event.bytes, "after": event.after,
                    "changes": changes.collect::<Vec<_>>(),
                })
            });
            Ok(json!(events.collect::<Vec<_>>()).to_string())
        })
    }

    /// Merges files. Returns what was done as JSON.
    #[pyo3(signature = (full, progress=None))]
    fn compact(&self, py: Python<'_>, full: bool, progress: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        let lake = Arc::clone(&self.lake);
        run(py, progress, Ending::Awaited, move |watch| {
            use isomorph::convert::Progress;
            watch.begin("merge", None);
            let mode = if full { CompactMode::Full } else { CompactMode::Tiers };
            let done = lake.compact(mode, &|rows| watch.advance(rows))?;
            let document = json!({
                "predicates": done.predicates, "merged_files": done.merged, "forgotten_deletions": done.forgotten,
                "revived_triples": done.revived, "left_predicates": done.left,
                "commit": done.commit.as_ref().map(committed),
            });
            Ok(document.to_string())
        })
    }
}

fn committed(commit: &Committed) -> serde_json::Value {
    json!({
        "version": commit.version, "id": commit.id, "timestamp": commit.timestamp, "inserted": commit.inserted,
        "quoted": commit.quoted, "again": commit.again, "deleted": commit.deleted, "missing": commit.missing,
        "files": commit.files, "bytes": commit.bytes, "lost": commit.lost,
    })
}

type MaybeTransaction<'a> = Option<graphlake::Transaction<'a>>;

self_cell!(
    /// A store and a transaction on it.
    struct Open {
        owner: Arc<graphlake::Lake>,
        #[not_covariant]
        dependent: MaybeTransaction,
    }
);

/// A statement: subject, predicate, object, graph. An object is a term, or the lexical form, the datatype and the language of a literal.
type Statement = (String, String, Given, Option<String>);

#[derive(Debug, FromPyObject)]
pub(crate) enum Given {
    Literal(String, String, Option<String>),
    Term(String),
}

fn quad((subject, predicate, object, graph): &Statement) -> Quad<'_> {
    let object = match object {
        Given::Term(term) => Object::Term(term),
        Given::Literal(lexical, datatype, language) => {
            Object::Literal { lexical, datatype, language: language.as_deref(), direction: None }
        }
    };
    Quad { subject, predicate, object, graph: graph.as_deref() }
}

/// A change that is made completely or not at all.
#[pyclass(module = "isomorph._isomorph", frozen)]
pub(crate) struct Transaction {
    /// `None` when it has ended.
    open: Mutex<Option<Open>>,
    process: u32,
    resources: Resources,
}

impl Transaction {
    fn change(&self, work: impl FnOnce(&mut graphlake::Transaction<'_>) -> Result<u64>) -> Result<u64> {
        if self.process != std::process::id() {
            return Err(invalid("the transaction was begun by another process").hint("begin one in this process"));
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = || invalid("the transaction has ended").hint("begin another one");
        let open = open.as_mut().ok_or_else(ended)?;
        open.with_dependent_mut(|_, transaction| transaction.as_mut().map_or_else(|| Err(ended()), work))
    }
}

#[pymethods]
impl Transaction {
    /// Inserts or deletes statements. Returns their number.
    fn edit(&self, py: Python<'_>, statements: Vec<Statement>, insert: bool) -> PyResult<u64> {
        let done = py.detach(|| {
            self.change(|transaction| {
                for statement in &statements {
                    match insert {
                        true => transaction.insert(&quad(statement))?,
                        false => transaction.delete(&quad(statement))?,
                    }
                }
                Ok(statements.len() as u64)
            })
        });
        or_raise(py, done)
    }

    /// Inserts or deletes the statements of a text. Returns their number.
    fn edit_text(
        &self,
        py: Python<'_>,
        text: String,
        named: &str,
        insert: bool,
        base: Option<String>,
    ) -> PyResult<u64> {
        let done = py.detach(|| {
            let kind = syntax(named)?;
            let budget = self.resources.budget.clone();
            // Nodes without a label are different in each text, and are not nodes of the store.
            let unlabelled = match insert {
                true => rdf::Unlabelled::Called(format!(
                    "i{}_",
                    graphlake::fresh_id()?.split('-').take(2).collect::<String>()
                )),
                false => rdf::Unlabelled::Refused,
            };
            let options = rdf::ReadOptions { base, budget, unlabelled, ..rdf::ReadOptions::default() };
            self.change(|transaction| {
                let mut quads = 0;
                rdf::read(&mut text.as_bytes(), kind, &options, &mut |quad| {
                    quads += 1;
                    if insert { transaction.insert(&quad) } else { transaction.delete(&quad) }
                })?;
                Ok(quads)
            })
        });
        or_raise(py, done)
    }

    /// Commits. Returns the commit as JSON; `None` if there was nothing to change.
    fn commit(&self, py: Python<'_>) -> PyResult<Option<String>> {
        if self.process != std::process::id() {
            or_raise::<()>(py, Err(invalid("the transaction was begun by another process")))?;
        }
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut open) = open else {
            return or_raise(py, Err(invalid("the transaction has ended").hint("begin another one")));
        };
        run(py, None, Ending::Awaited, move |_| {
            let commit = open.with_dependent_mut(|_, transaction| match transaction.take() {
                Some(transaction) => transaction.commit(),
                None => Err(Error::usage("the transaction has ended")),
            })?;
            Ok(commit.map(|commit| committed(&commit).to_string()))
        })
    }

    /// Ends it without a change.
    fn rollback(&self, py: Python<'_>) {
        py.detach(|| {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
            // A forked child must not remove the files of its parent's transaction.
            if self.process == std::process::id() { drop(open) } else { std::mem::forget(open) }
        });
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.open.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

/// Loads RDF texts into a store in one transaction; creates the store if there is none. Returns what was loaded as JSON.
#[pyfunction]
#[pyo3(signature = (path, texts, named, graph, base, lenient, memory, threads, temp_dir, progress=None))]
#[allow(clippy::too_many_arguments, reason = "the arguments of a Python function, which are named there")]
pub(crate) fn load_lake(
    py: Python<'_>,
    path: String,
    texts: Vec<String>,
    named: Option<String>,
    graph: Option<String>,
    base: Option<String>,
    lenient: bool,
    memory: Option<u64>,
    threads: Option<usize>,
    temp_dir: Option<String>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    run(py, progress, Ending::Awaited, move |watch| {
        let load = LakeLoad {
            texts: texts.iter().map(|text| Location::parse(text).map(LakeText::At)).collect::<Result<_>>()?,
            syntax: named.as_deref().map(syntax).transpose()?,
            graph,
            base,
            lenient,
            ..LakeLoad::default()
        };
        let resources = resources(memory, threads, temp_dir.as_deref())?;
        let loaded = isomorph::convert::load_lake(&destination(&path)?, &load, &resources, watch)?;
        let document = json!({
            "quads": loaded.quads, "created": loaded.created, "skipped": loaded.skipped,
            "blank_prefix": loaded.blank_prefix, "commit": loaded.commit.as_ref().map(committed),
        });
        Ok(document.to_string())
    })
}
