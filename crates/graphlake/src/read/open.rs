//! Opening a store.

use std::sync::{Arc, Mutex, OnceLock};

use isomorph_error::{Error, Findings, Kind, Result, Severity};
use isomorph_model::Graph;
use isomorph_storage::{Blob, Location, Root};

use super::quoted::Quoted;
use super::survey::Survey;
use crate::cursor::Cursor;
use crate::lookup::{Catalog, Narrowed, Wanted};
use crate::record::Prefixes;
use crate::store::STORE;
use crate::validate::metadata;
use crate::verified::Proof;
use crate::{DataFile, OpenOptions, Order, Snapshot, Store, Tolerance, path, rules};

/// An opened snapshot of a GraphLake store.
///
/// ```no_run
/// use isomorph_graphlake::{GraphLake, OpenOptions, Order};
/// use isomorph_storage::Location;
///
/// let lake = GraphLake::open(&Location::parse("lake")?, &OpenOptions::default())?;
/// lake.quads(Order::Subject, &mut |quad| {
///     println!("{} {}", quad.subject, quad.predicate);
///     Ok(())
/// })?;
/// # Ok::<(), isomorph_error::Error>(())
/// ```
pub struct GraphLake {
    pub(crate) root: Root,
    pub(crate) store: Store,
    /// The opened snapshot; an empty one if the store has no snapshots.
    pub(crate) snapshot: Snapshot,
    pub(crate) options: OpenOptions,
    pub(crate) graph: Graph,
    /// Findings of opening.
    pub(crate) noticed: Findings,
    /// Those of them that come from parsing metadata: a validation that parses it again finds them again.
    pub(crate) parsed: Findings,
    pub(super) quoted: OnceLock<Quoted>,
    /// Held while the quoted triples are read: if several threads need them, only one reads them.
    pub(super) quoting: Mutex<()>,
    pub(crate) catalog: OnceLock<Catalog>,
    /// A restriction of scans, if there is one.
    pub(crate) narrowed: Option<Narrowed>,
}

/// Whether there is a store at `location`: a directory with a `store.json` that lists snapshots.
///
/// # Errors
/// Returns an error if the location does not exist or cannot be read.
pub fn detect(location: &Location) -> Result<bool> {
    let blob = if location.scheme().has_listing() {
        match Root::open(location) {
            Ok(root) => root.try_file(STORE)?,
            Err(error) if error.kind() == Kind::Usage => return Ok(false),
            Err(error) => return Err(error),
        }
    } else {
        match Blob::open(&location.join(STORE)?) {
            Ok(blob) => Some(blob),
            Err(error) if error.kind() == Kind::NotFound => None,
            Err(error) => return Err(error),
        }
    };
    Ok(blob.is_some())
}

impl GraphLake {
    /// Opens a snapshot. Reads `store.json` and the snapshot's JSON; triples are read only for small snapshots, see
    /// [`OpenOptions::survey_up_to`], and of a predicate whose orders have different numbers of records although they may hold
    /// the same triples.
    ///
    /// # Errors
    /// Returns an error if there is no store or no such snapshot, or if its metadata does not match the specification's
    /// schema; with strict reading, also if there is any warning. Other problems of the metadata are among the findings
    /// of [`Source::about`](isomorph_model::Source::about), which callers should check.
    pub fn open(location: &Location, options: &OpenOptions) -> Result<GraphLake> {
        let root = Root::open(location)?;
        let mut parsed = Findings::keeping(8);
        let store = Store::read(&root, options.tolerance, &options.budget, &mut parsed)?;
        let mut noticed = Findings::keeping(8);
        let snapshot = match store.find(&options.at)? {
            None => Snapshot::default(),
            Some(entry) => {
                let snapshot = Snapshot::read(&root, &entry.id, &options.budget, &mut parsed)?;
                metadata::entry(entry, &snapshot, &mut noticed);
                metadata::snapshot(&snapshot, &mut noticed);
                snapshot
            }
        };
        let (graph, options) = (Graph::default(), options.clone());
        let mut lake = GraphLake {
            root,
            store,
            snapshot,
            options,
            graph,
            noticed,
            parsed,
            quoted: OnceLock::new(),
            quoting: Mutex::default(),
            catalog: OnceLock::new(),
            narrowed: None,
        };
        let mut noticed = Findings::keeping(8);
        // A lenient reader may do without this pass, which is the only way to know: it continues in either case.
        let most = if lake.options.tolerance == Tolerance::Lenient { lake.options.survey_up_to } else { u64::MAX };
        metadata::orders(&lake, most, &mut noticed)?;
        lake.noticed.merge(noticed);
        lake.noticed.merge(lake.parsed.clone());
        let survey = lake.survey_or_note()?;
        lake.graph = super::graph::graph(&lake.store, &lake.snapshot, survey.as_ref());
        if lake.options.tolerance == Tolerance::Strict
            && let Some((_, [finding, ..])) =
                lake.noticed.by_rule().find(|(_, kept)| kept.iter().any(|one| one.rule.severity > Severity::Note))
        {
            return Err(Error::broken(finding.rule, finding.message.clone()).at(finding.place.clone()));
        }
        Ok(lake)
    }

    /// Opens a snapshot, or a part of one, for look-ups only: it is not described.
    pub(crate) fn over(root: Root, store: Store, snapshot: Snapshot, options: OpenOptions) -> GraphLake {
        GraphLake {
            root,
            store,
            snapshot,
            options,
            graph: Graph::default(),
            noticed: Findings::keeping(0),
            parsed: Findings::keeping(0),
            quoted: OnceLock::new(),
            quoting: Mutex::default(),
            catalog: OnceLock::new(),
            narrowed: None,
        }
    }

    /// Counts the snapshot, if it is small. Broken rules are recorded as findings.
    ///
    /// # Errors
    /// Returns an error if something cannot be read at all.
    fn survey_or_note(&mut self) -> Result<Option<Survey>> {
        match self.survey() {
            Err(error) => match error.broken_rule() {
                Some(rule) => {
                    self.noticed.push(rule, error.message().to_owned(), error.place().clone());
                    Ok(None)
                }
                // A caller that only looks something up may have enough memory for that, or need no file that must be
                // sorted.
                None if matches!(error.kind(), Kind::TooLarge | Kind::Unsupported) => Ok(None),
                None => Err(error),
            },
            survey => survey,
        }
    }

    /// The same snapshot with the description of another store of the same triples. Stores declare no schema: the
    /// description of a large store is inferred from what its writers state, and writers state different things.
    pub fn described_as(mut self, graph: &Graph) -> Self {
        self.graph = graph.clone();
        self
    }

    /// The list of snapshots.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The opened snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Number of bytes read from the store so far.
    pub fn bytes_read(&self) -> u64 {
        self.root.bytes_read()
    }

    /// Number of reads from the store so far: for remote stores, requests except those that open a file.
    pub fn reads(&self) -> u64 {
        self.root.reads()
    }

    /// Opens a file of the snapshot and checks its stated size: nothing else reveals a truncated file.
    pub(crate) fn file(&self, file: &DataFile) -> Result<Blob> {
        let name = path::resolve(&file.path, &self.store.location)?;
        let blob = self.root.file(&name).map_err(|error| match error.kind() {
            Kind::NotFound => error.of_kind(Kind::Incomplete).rule(&rules::FILE),
            _ => error,
        })?;
        if blob.size() != file.size {
            let message = format!("the file has {} bytes, but its metadata states {}", blob.size(), file.size);
            return Err(Error::broken(&rules::FILE, message).of_kind(Kind::Incomplete).at(blob.place()));
        }
        Ok(blob)
    }

    /// Returns a cursor over a whole file whose triples are wanted in `order`.
    pub(crate) fn cursor(&self, file: &DataFile, order: Order) -> Result<Cursor> {
        let blob = self.file(file)?;
        let prefixes = Prefixes::of(file, &self.options).map_err(|error| error.at(blob.place()))?;
        // Only the mark of this crate is trusted, and even then the order is checked while the file is read.
        if self.options.tolerance == Tolerance::Lenient && file.sort_order.as_deref() != Some("codepoint") {
            return Cursor::of_unsorted(blob, prefixes, order, &Wanted::All, (file, &self.options.budget));
        }
        let proof = Proof::of(file).map(Arc::new);
        Ok(Cursor::new(blob, prefixes, Some(order), &self.options.budget).proved(file, proof))
    }
}
