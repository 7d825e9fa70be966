//! Keys of elements that batches refer to by row, read when the first row is needed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, ArrayRef, Int64Array, UInt64Array, new_empty_array};
use arrow_select::concat::concat;
use arrow_select::take::take;
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Graph, KeyKind, Part, Request, Set, Source, Tables};
use isomorph_storage::Resources;
use isomorph_storage::parallel::{Ahead, in_order};
use isomorph_tables::lookup::{ABSENT, KeyRows, KeyRowsBuilder, Lookup, LookupOptions};

use crate::arrays::declared;
use crate::keys::KeysByRow;
use crate::schema::of_key;

/// Elements whose keys are looked up by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyed {
    Nodes(usize),
    Hyperedges(usize),
}

/// The keys of tables of one sort, by the number of the table, after they were read.
type Known = Mutex<HashMap<usize, Arc<KeysByRow>>>;

/// Batches of one part that may wait until those of earlier parts are taken.
const AHEAD: usize = 4;

/// Keys that are searched for at once, and how often: beyond that an index is made, which takes as long as several searches.
const FEW: usize = 1024;
const SEARCHES: u32 = 4;

/// The keys of the elements of a graph.
pub(crate) struct Keys {
    source: Arc<dyn Source>,
    resources: Resources,
    nodes: Known,
    hyperedges: Known,
    /// The keys of each kind of groups; few, and of any type.
    groups: Mutex<Option<Arc<Vec<ArrayRef>>>>,
    /// The rows of the keys of nodes, by node type, after an index was made; `None` if keys do not identify rows.
    rows: Mutex<HashMap<usize, Option<Arc<KeyRows>>>>,
    /// How often keys of nodes were searched for without an index, by node type.
    searches: Mutex<HashMap<usize, u32>>,
}

impl Keys {
    pub fn new(source: Arc<dyn Source>, resources: Resources) -> Self {
        let (nodes, hyperedges) = (Known::default(), Known::default());
        let (rows, searches) = (Mutex::default(), Mutex::default());
        Keys { source, resources, nodes, hyperedges, groups: Mutex::default(), rows, searches }
    }

    pub fn graph(&self) -> &Graph {
        self.source.graph()
    }

    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// The keys of rows of a table; for a table without keys, the rows themselves.
    ///
    /// # Errors
    /// If a row does not exist, keys cannot be read, or there is no space for temporary files.
    pub fn gather(&self, what: Keyed, rows: &UInt64Array) -> Result<ArrayRef> {
        let (Keyed::Nodes(ty) | Keyed::Hyperedges(ty)) = what;
        self.by_row(what)?.gather(ty, rows.values())
    }

    /// The keys of a table by row, which are read once.
    fn by_row(&self, what: Keyed) -> Result<Arc<KeysByRow>> {
        let (known, ty) = match what {
            Keyed::Nodes(ty) => (&self.nodes, ty),
            Keyed::Hyperedges(ty) => (&self.hyperedges, ty),
        };
        // Other threads that need keys wait for them.
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keys) = known.get(&ty) {
            return Ok(Arc::clone(keys));
        }
        let (keys, types) = self.read(what)?;
        let keys = Arc::new(keys);
        // A type without keys is not among them.
        known.extend(types.into_iter().chain([ty]).map(|ty| (ty, Arc::clone(&keys))));
        Ok(keys)
    }

    /// The keys of groups by row.
    ///
    /// # Errors
    /// As [`Keys::gather`].
    pub fn of_groups(&self, kind: usize, rows: &UInt64Array) -> Result<ArrayRef> {
        let mut known = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = match &*known {
            Some(keys) => Arc::clone(keys),
            None => Arc::clone(known.insert(Arc::new(self.read_groups()?))),
        };
        drop(known);
        let keys = keys.get(kind).ok_or_else(|| Error::usage("members of an unknown kind of groups"))?;
        if let Some(row) = rows.values().iter().find(|row| isomorph_error::index(**row) >= keys.len()) {
            return Err(Error::malformed(format!("a membership refers to group {row}, which does not exist")));
        }
        take(keys, rows, None).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
    }

    /// Whether the keys of a node type were read.
    pub fn knows_keys(&self, ty: usize) -> bool {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&ty)
    }

    /// Whether the rows of the keys of a node type are in an index; `None` before one was made.
    pub fn knows_rows(&self, ty: usize) -> Option<bool> {
        let known = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&ty).map(Option::is_some)
    }

    /// The rows of the keys of a node type; for a type without keys, the keys themselves. `None` if there is no index, because keys are duplicated, or they do not
    /// fit into memory. A few keys are searched for among all, which need no index for that.
    ///
    /// # Errors
    /// If keys cannot be read.
    pub fn rows_of(&self, ty: usize, keys: &Set) -> Result<Option<Set>> {
        if self.graph().nodes.get(ty).is_some_and(|ty| ty.key.kind == KeyKind::Row) {
            return Ok(Some(keys.clone()));
        }
        // Other threads that need the same keys wait for them.
        let mut known = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match known.get(&ty) {
            Some(found) => found.clone(),
            None if self.is_few(ty, keys) => {
                drop(known);
                return self.by_row(Keyed::Nodes(ty))?.rows_of(ty, keys).map(Some);
            }
            None => {
                let found = self.read_rows(ty)?.map(Arc::new);
                known.insert(ty, found.clone());
                found
            }
        };
        drop(known);
        let Some(found) = found else { return Ok(None) };
        let mut rows = Vec::with_capacity(keys.len());
        let mut look_up = |keys: &dyn Array| found.translate(keys, &mut rows).map(|_| ());
        match (keys.ints(), keys.texts()) {
            (Some(ints), _) => {
                // No integer type can hold all of them.
                let signed = ints.iter().filter(|int| **int < 0).filter_map(|int| i64::try_from(*int).ok());
                look_up(&Int64Array::from_iter_values(signed))?;
                look_up(&UInt64Array::from_iter_values(keys.rows()))?;
            }
            (_, Some(texts)) => look_up(texts)?,
            (None, None) => {}
        }
        Ok(Some(Set::of_ints(rows.into_iter().filter(|row| *row != ABSENT).map(i128::from))))
    }

    /// Whether no two nodes of a type have one key, as an index shows; false, if that does not fit into memory.
    ///
    /// # Errors
    /// If keys cannot be read.
    pub fn are_distinct(&self, ty: usize) -> Result<bool> {
        if self.graph().nodes.get(ty).is_some_and(|ty| ty.key.kind == KeyKind::Row) {
            return Ok(true);
        }
        let mut known = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&ty) {
            return Ok(found.is_some());
        }
        let found = self.read_rows(ty)?.map(Arc::new);
        Ok(known.entry(ty).or_insert(found).is_some())
    }

    /// Whether a search takes less than an index, which serves all later searches as well.
    fn is_few(&self, ty: usize, keys: &Set) -> bool {
        let mut searches = self.searches.lock().unwrap_or_else(PoisonError::into_inner);
        let count = searches.entry(ty).or_default();
        *count += 1;
        keys.len() <= FEW && *count <= SEARCHES
    }

    fn read_rows(&self, ty: usize) -> Result<Option<KeyRows>> {
        let options = LookupOptions::new(&self.resources.budget, &self.resources.scratch)
            .memory(self.resources.budget.limit() / 4)
            .threads(self.resources.threads);
        let mut keys = KeyRowsBuilder::new(options);
        self.each(&Request::of(Tables::NodeKeys(ty)), |batch| {
            if let Batch::Nodes(nodes) = batch
                && let Some(own) = nodes.keys.filter(|_| nodes.ty == ty)
            {
                keys.push(own.as_ref())?;
            }
            Ok(())
        })?;
        Ok(match keys.finish()? {
            Lookup::Memory(rows) if rows.repeats().is_empty() => Some(rows),
            Lookup::Memory(_) | Lookup::Spilled(_) => None,
        })
    }

    fn read_groups(&self) -> Result<Vec<ArrayRef>> {
        let groups = &self.source.graph().groups;
        let mut keys: Vec<Vec<ArrayRef>> =
            groups.iter().map(|kind| vec![new_empty_array(&of_key(&kind.key))]).collect();
        for batch in self.source.scan(&Request::of(Tables::Rest))?.into_iter().flatten() {
            let Batch::Groups(batch) = batch? else { continue };
            if let (Some(all), Some(kind)) = (keys.get_mut(batch.kind), groups.get(batch.kind)) {
                all.push(declared(Some(&batch.keys), &of_key(&kind.key), batch.keys.len())?);
            }
        }
        let one = |keys: Vec<ArrayRef>| concat(&keys.iter().map(AsRef::as_ref).collect::<Vec<_>>());
        let all: std::result::Result<Vec<ArrayRef>, _> = keys.into_iter().map(one).collect();
        all.map_err(|error| Error::malformed(error.to_string()).caused_by(error))
    }

    /// The keys of a table, and of those that are read with it; and which these are.
    fn read(&self, what: Keyed) -> Result<(KeysByRow, Vec<usize>)> {
        let graph = self.source.graph();
        let of = |kinds: Vec<KeyKind>| KeysByRow::builder_of(kinds, &self.resources);
        match what {
            Keyed::Nodes(ty) => {
                let mut keys = KeysByRow::builder(graph, &self.resources);
                let keyed = graph.nodes.iter().enumerate().filter(|(_, ty)| ty.key.kind != KeyKind::Row);
                let keyed: Vec<usize> = keyed.map(|(at, _)| at).collect();
                let (request, types) = match self.reads_all_keys() {
                    true => (Some(Request::of_all_keys()), keyed),
                    // Ends without keys are rows.
                    false => (keyed.contains(&ty).then(|| Request::of(Tables::NodeKeys(ty))), vec![ty]),
                };
                if let Some(request) = request {
                    self.each(&request, |batch| match batch {
                        Batch::Nodes(nodes) => keys.add(&nodes),
                        _ => Ok(()),
                    })?;
                }
                Ok((keys.finish()?, types))
            }
            Keyed::Hyperedges(_) => {
                let mut keys = of(graph.hyperedges.iter().map(|ty| ty.key.kind).collect());
                self.each(&Request::of(Tables::Rest), |batch| match batch {
                    Batch::Hyperedges(batch) => keys.push(batch.ty, &batch.keys),
                    _ => Ok(()),
                })?;
                Ok((keys.finish()?, (0..graph.hyperedges.len()).collect()))
            }
        }
    }

    /// Whether the keys of all node types are read at once: they are in one table.
    pub fn reads_all_keys(&self) -> bool {
        let keyed = self.graph().nodes.iter().filter(|ty| ty.key.kind != KeyKind::Row);
        keyed.count() > 1 && self.source.is_one_table(Tables::AllNodes)
    }

    /// Passes what is requested to `take`, in its order. Several threads read.
    fn each(&self, request: &Request, take: impl FnMut(Batch) -> Result<()>) -> Result<()> {
        let (parts, threads) = (self.source.scan(request)?, self.resources.threads);
        let read = |mut part: Box<dyn Part + '_>, give: &mut dyn FnMut(Batch) -> Result<()>| part.read(give);
        in_order(parts, threads, Ahead { pieces: AHEAD, parts: threads }, read, take)
    }
}
