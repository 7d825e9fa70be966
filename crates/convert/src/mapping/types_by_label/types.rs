//! The type of each node: read once, sorted by key, looked up for the ends of edges.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Ends, NodeBatch, Progress, Request, Source, Tables};
use isomorph_tables::lookup::{Numbered, NumberedBuilder};
use isomorph_tables::sort::{EdgeSorter, SortOptions};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Labels;
use crate::parallel::Pass;
use crate::pipeline::REPEATED_KEY;
use isomorph_storage::Resources;

/// No type; greater than all codes of types.
pub(super) const NO_TYPE: u64 = 1 << 32;

/// Maximum number of node types.
const TYPES: usize = 1_000;

/// How often other hashes are tried if two texts have the same: rarely twice, unless a key is duplicated.
const SEEDS: u64 = 3;

/// What states the types.
pub(super) enum Stated<'a> {
    /// A property, by its number.
    Property(usize),
    /// Labels.
    Labels(&'a Labels),
}

/// The value of a property for a code.
pub(super) fn value(code: u64) -> Option<i32> {
    i64::try_from(code).ok().and_then(|code| i32::try_from(code + i64::from(i32::MIN)).ok())
}

/// The code of a value: codes have the order of values.
fn code(value: i32) -> u64 {
    (i64::from(value) - i64::from(i32::MIN)).unsigned_abs()
}

/// What the nodes of a type have.
#[derive(Default)]
pub(super) struct Found {
    pub(super) rows: u64,
    /// For each property, whether a node has a value.
    pub(super) columns: Vec<bool>,
    /// Labels, apart from the type.
    pub(super) labels: BTreeSet<String>,
}

/// The result of reading the nodes.
pub(super) struct Read {
    /// The types of all nodes.
    pub(super) types: Types,
    /// What each type has, by code: nodes without a type come last.
    pub(super) found: Vec<(u64, Found)>,
}

/// The number of the type of each node.
#[derive(Clone, Default)]
pub(super) struct Types {
    nodes: Option<Arc<Numbered>>,
    /// The seed for hashes of keys that are texts; `None` if keys are integers.
    seed: Option<u64>,
    labels: Option<Labels>,
    numbers: Arc<HashMap<u64, u16>>,
}

impl std::fmt::Debug for Types {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Types").field(&self.nodes.as_ref().map(|nodes| nodes.len())).finish()
    }
}

impl PartialEq for Types {
    /// Types are not stored with a record, so they are not compared.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Types {
    /// The types of nodes with these keys. A collision of hashes does no harm: a key that is not a node's key is
    /// detected where keys become rows.
    fn of_keys(&self, keys: Option<&ArrayRef>) -> Result<Vec<u16>> {
        let find = |id: u64| self.nodes.as_ref().and_then(|nodes| nodes.get(id));
        let ids = ids(keys, self.seed)?;
        let missing = |at: usize| {
            let text = keys.and_then(|keys| keys.as_string_opt::<i32>()).map(|texts| texts.value(at).to_owned());
            let name = text.or_else(|| ids.get(at).map(u64::to_string)).unwrap_or_default();
            Error::malformed(format!("there is no node {name}"))
        };
        ids.iter().enumerate().map(|(at, id)| find(*id).ok_or_else(|| missing(at))).collect()
    }

    /// The type of the node with this key, if there is one.
    ///
    /// # Errors
    /// Returns an error if the types are not at hand, as in a record that was read from a sidecar.
    pub(super) fn of_key(&self, key: &str) -> Result<Option<u16>> {
        let nodes = self.nodes.as_ref().ok_or_else(|| Error::unsupported("the types of nodes were not read"))?;
        let id = match self.seed {
            Some(seed) => Some(xxh3_64_with_seed(key.as_bytes(), seed)),
            None => key.parse().ok(),
        };
        Ok(id.and_then(|id| nodes.get(id)))
    }

    /// The types of the ends of edges.
    pub(super) fn of_ends(&self, ends: &Ends) -> Result<Vec<u16>> {
        match ends {
            Ends::Keys(keys) => self.of_keys(Some(keys)),
            Ends::Rows(_) => Err(Error::unsupported("the types of ends that are rows instead of keys are unknown")),
        }
    }

    /// The types of nodes: labels state them directly.
    pub(super) fn of_nodes(&self, batch: &NodeBatch) -> Result<Vec<u16>> {
        let Some(labels) = &self.labels else { return self.of_keys(batch.keys.as_ref()) };
        let codes = labels.codes(batch.labels.as_ref(), batch.rows);
        let unknown = || Error::malformed("the data has changed while it was read: a node has unknown labels");
        codes.iter().map(|code| self.numbers.get(code).copied().ok_or_else(unknown)).collect()
    }
}

/// Keys in the form of the look-up: integers, or with a seed the hashes of texts.
fn ids(keys: Option<&ArrayRef>, seed: Option<u64>) -> Result<Cow<'_, [u64]>> {
    if let (Some(seed), Some(texts)) = (seed, keys.and_then(|keys| keys.as_string_opt::<i32>())) {
        let hash = |text: Option<&str>| xxh3_64_with_seed(text.unwrap_or_default().as_bytes(), seed);
        return Ok(Cow::Owned(texts.iter().map(hash).collect()));
    }
    let ids = keys.filter(|_| seed.is_none()).and_then(|keys| keys.as_primitive_opt::<UInt64Type>());
    ids.map(|ids| Cow::Borrowed(&ids.values()[..])).ok_or_else(|| {
        Error::unsupported(match seed {
            Some(_) => "only nodes with text keys can be given types by their labels",
            None => "only nodes with unsigned 64-bit integer keys can be given types by a property",
        })
    })
}

/// Reads the types of all nodes.
///
/// # Errors
/// If the source cannot be read, a key is duplicated, or there are too many types.
pub(super) fn read(
    source: &dyn Source,
    stated: &Stated<'_>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Read> {
    let Stated::Labels(labels) = stated else {
        return read_with(source, stated, None, resources, progress)?.map_err(repeated);
    };
    let mut read = read_with(source, stated, Some(0), resources, progress)?;
    for seed in 1..SEEDS {
        if read.is_err() {
            read = read_with(source, stated, Some(seed), resources, progress)?;
        }
    }
    let mut read = read.map_err(|_| Error::broken(&REPEATED_KEY, "several nodes have the same key"))?;
    read.types.labels = Some((*labels).clone());
    Ok(read)
}

fn repeated(id: u64) -> Error {
    Error::broken(&REPEATED_KEY, format!("several nodes have the key {id}"))
}

/// The same; the inner error is that of the look-up of duplicate nodes.
fn read_with(
    source: &dyn Source,
    stated: &Stated<'_>,
    seed: Option<u64>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Result<Read, u64>> {
    let memory = resources.budget.available() / 4;
    let sorter = EdgeSorter::new(
        SortOptions::new(&resources.budget, &resources.scratch).memory(memory).threads(resources.threads),
    )?;
    let mut found: BTreeMap<u64, Found> = BTreeMap::new();
    let mut start = 0;
    let parts = source.scan(&Request::of(Tables::Nodes(0)))?;
    Pass::new(parts, "types", resources.threads, progress).in_order(|batch| {
        let Batch::Nodes(nodes) = batch else { return Ok(()) };
        let codes = match stated {
            Stated::Property(property) => codes(&nodes, *property),
            Stated::Labels(labels) => labels.codes(nodes.labels.as_ref(), nodes.rows),
        };
        codes.iter().for_each(|code| found.entry(*code).or_default().rows += 1);
        if found.len() > TYPES {
            return Err(Error::unsupported(format!("more than {TYPES} node types")));
        }
        if let Stated::Labels(labels) = stated {
            see(&nodes, &codes, labels, &mut found);
        }
        let first = start;
        start += nodes.rows as u64;
        sorter.push(&ids(nodes.keys.as_ref(), seed)?, &codes, None, first)
    })?;
    let numbers: HashMap<u64, u16> = found.keys().copied().zip(0u16..).collect();
    let sorted = sorter.finish()?;
    let mut last = None;
    let mut nodes = NumberedBuilder::new(&resources.budget, &resources.scratch, memory);
    for batch in sorted.stream()? {
        let batch = batch?;
        for (id, code) in batch.aligned.values().iter().zip(batch.other.values()) {
            if last.replace(*id) == Some(*id) {
                return Ok(Err(*id));
            }
            nodes.push(*id, numbers.get(code).copied().unwrap_or_default())?;
        }
    }
    let types = Types { nodes: Some(Arc::new(nodes.finish()?)), seed, labels: None, numbers: Arc::new(numbers) };
    Ok(Ok(Read { types, found: found.into_iter().collect() }))
}

/// The codes of the values of a property.
fn codes(nodes: &NodeBatch, property: usize) -> Vec<u64> {
    let stated = nodes.properties.get(property).and_then(Option::as_ref);
    let stated = stated.and_then(|column| column.as_primitive_opt::<Int32Type>());
    let code = |row: usize| stated.filter(|stated| stated.is_valid(row)).map(|stated| code(stated.value(row)));
    (0..nodes.rows).map(|row| code(row).unwrap_or(NO_TYPE)).collect()
}

/// Records which properties and further labels the nodes of each type have.
fn see(nodes: &NodeBatch, codes: &[u64], labels: &Labels, found: &mut BTreeMap<u64, Found>) {
    for found in found.values_mut() {
        found.columns.resize(nodes.properties.len(), false);
    }
    let mut of_types: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    codes.iter().enumerate().for_each(|(row, code)| of_types.entry(*code).or_default().push(row));
    for (code, rows) in of_types {
        let Some(found) = found.get_mut(&code) else { continue };
        for (has, column) in found.columns.iter_mut().zip(&nodes.properties) {
            *has |= column.as_ref().is_some_and(|column| rows.iter().any(|row| column.is_valid(*row)));
        }
        let Some(column) = &nodes.labels else { continue };
        let sets: BTreeSet<u32> = rows.iter().filter_map(|row| column.rows().get(*row)).copied().collect();
        let own = labels.of_code(code);
        for name in sets.iter().filter_map(|set| column.sets().get(*set as usize)).flatten() {
            match column.names().get(*name as usize) {
                Some(name) if own != Some(name.as_str()) && !found.labels.contains(name) => {
                    found.labels.insert(name.clone());
                }
                _ => {}
            }
        }
    }
}

/// Number of edges of an edge type from one node type to another.
type Between = BTreeMap<(usize, u16, u16), u64>;

/// Counts edges by their type and those of their ends.
///
/// # Errors
/// If the source cannot be read, or an end is not a node.
pub(super) fn read_ends(
    source: &dyn Source,
    types: &Types,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Between> {
    // Edge types of one table are read together, because each of them would be a pass over all.
    let wanted = match source.graph().edges.len() {
        0 => return Ok(Between::new()),
        1 => Tables::EdgeEnds(0),
        _ => Tables::AllEdges,
    };
    let parts = source.scan(&Request::of(wanted))?;
    let pass = Pass::new(parts, "ends", resources.threads, progress);
    let counted = pass.fold(Between::new, |found, _, batch| {
        let Batch::Edges(edges) = batch else { return Ok(()) };
        let (from, to) = (types.of_ends(&edges.source)?, types.of_ends(&edges.target)?);
        for (from, to) in from.iter().zip(&to) {
            *found.entry((edges.ty, *from, *to)).or_default() += 1;
        }
        Ok(())
    })?;
    let mut found = Between::new();
    for some in counted {
        some.into_iter().for_each(|(of, rows)| *found.entry(of).or_default() += rows);
    }
    Ok(found)
}
