//! Numbers for nodes: type after type, in the order of the rows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result, did_you_mean, index};
use isomorph_model::{Batch, EndForm, Ends, KeyKind, Progress, Request, Source, Tables};
use isomorph_storage::{Reservation, Resources};
use isomorph_tables::lookup::{ABSENT, KeyRowsBuilder, Lookup, LookupOptions};

/// The number of no node.
pub(crate) const NOBODY: u32 = u32::MAX;

/// Bytes of memory for a node that only edges name, beside its key.
const IMPLIED: u64 = 96;

/// The nodes of a graph, numbered from 0: type after type in the order of their rows, then the nodes of implied types that only edges name.
pub struct Nodes {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) resources: Resources,
    types: Vec<TypeNodes>,
    /// Number of rows of all types.
    rows: u64,
    implied: Mutex<Implied>,
}

/// Nodes of implied types that only edges name.
struct Implied {
    /// Their numbers, by type and key.
    known: Vec<HashMap<Box<str>, u32>>,
    /// Type and key of each of them.
    named: Vec<(usize, Box<str>)>,
    memory: Reservation,
}

struct TypeNodes {
    name: String,
    kind: KeyKind,
    implied: bool,
    /// The number of its first row.
    first: u64,
    rows: u64,
    /// From keys to rows, while edges are read.
    lookup: Option<Lookup>,
    /// Keys that several rows have.
    repeated: u64,
}

/// Ends that are resolved, or wait for a look-up in temporary files.
pub(crate) enum Resolved {
    /// Numbers; [`NOBODY`] for an end that is no node.
    Numbers(Vec<u32>),
    /// Keys, which are looked up together.
    Waiting(ArrayRef),
}

impl std::fmt::Debug for Nodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Nodes").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl Nodes {
    /// Numbers the nodes. Their keys are read if edges name their ends by key, or if nothing states how many nodes there are.
    ///
    /// # Errors
    /// If nodes cannot be read; [`Kind::TooLarge`] beyond 2³² − 1 nodes.
    pub(crate) fn read(source: &Arc<dyn Source>, resources: &Resources, progress: &dyn Progress) -> Result<Nodes> {
        let graph = source.graph();
        source.prepare(resources.threads, progress)?;
        let by_key = |node: usize| {
            let edges = graph.edges.iter().enumerate();
            let mut touching = edges.filter(|(_, ty)| ty.source == node || ty.target == node);
            touching.any(|(at, _)| source.end_form(at) == EndForm::Keys)
        };
        let wanted: Vec<bool> = (0..graph.nodes.len())
            .map(|at| by_key(at) && graph.nodes.get(at).is_some_and(|ty| ty.key.kind != KeyKind::Row))
            .collect();
        let share = resources.budget.limit() / 2 / wanted.iter().filter(|wanted| **wanted).count().max(1) as u64;
        let options =
            LookupOptions::new(&resources.budget, &resources.scratch).memory(share).threads(resources.threads);
        let builder = |wanted: &bool| wanted.then(|| KeyRowsBuilder::new(options.clone()));
        let mut builders: Vec<Option<KeyRowsBuilder>> = wanted.iter().map(builder).collect();
        let mut counts: Vec<Option<u64>> =
            graph.nodes.iter().zip(&wanted).map(|(ty, wanted)| ty.rows.filter(|_| !wanted)).collect();
        let unread: Vec<usize> = (0..counts.len()).filter(|at| counts.get(*at).is_some_and(Option::is_none)).collect();
        let requests = match unread.len() > 1 && source.is_one_table(Tables::AllNodes) {
            true => vec![Request::of_all_keys()],
            false => unread.iter().map(|at| Request::of(Tables::NodeKeys(*at))).collect(),
        };
        if !requests.is_empty() {
            progress.begin("nodes", graph.node_rows());
        }
        let mut seen: Vec<u64> = vec![0; counts.len()];
        for request in &requests {
            for batch in source.scan(request)?.into_iter().flatten() {
                let Batch::Nodes(batch) = batch? else { continue };
                progress.advance(batch.rows as u64)?;
                if let Some(seen) = seen.get_mut(batch.ty) {
                    *seen += batch.rows as u64;
                }
                if let (Some(Some(builder)), Some(keys)) = (builders.get_mut(batch.ty), &batch.keys) {
                    builder.push(keys.as_ref())?;
                }
            }
        }
        if !requests.is_empty() {
            progress.end();
        }
        for at in unread {
            if let (Some(count), Some(seen)) = (counts.get_mut(at), seen.get(at)) {
                *count = Some(*seen);
            }
        }
        let (mut types, mut first) = (Vec::new(), 0u64);
        for ((ty, builder), rows) in graph.nodes.iter().zip(builders).zip(counts) {
            let rows = rows.unwrap_or_default();
            let lookup = builder.map(KeyRowsBuilder::finish).transpose()?;
            let repeated = lookup.as_ref().map_or(0, |lookup| lookup.repeats().count());
            let (name, kind, implied) = (ty.name.clone(), ty.key.kind, ty.implied);
            types.push(TypeNodes { name, kind, implied, first, rows, lookup, repeated });
            first = first.saturating_add(rows);
        }
        if first >= u64::from(NOBODY) {
            return Err(too_many(first));
        }
        let known = types.iter().map(|_| HashMap::new()).collect();
        let implied = Mutex::new(Implied { known, named: Vec::new(), memory: resources.budget.reserve(0)? });
        let (source, resources) = (Arc::clone(source), resources.clone());
        Ok(Nodes { source, resources, types, rows: first, implied })
    }

    fn implied(&self) -> MutexGuard<'_, Implied> {
        self.implied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of nodes.
    pub fn count(&self) -> u64 {
        self.rows + self.without_rows()
    }

    /// Number of nodes, for arrays.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.count()).unwrap_or(NOBODY)
    }

    /// Names of the node types, in the order of the description.
    pub fn types(&self) -> impl ExactSizeIterator<Item = &str> {
        self.types.iter().map(|ty| ty.name.as_str())
    }

    /// Number of nodes of a type.
    pub fn of_type(&self, ty: usize) -> u64 {
        let implied = self.implied().known.get(ty).map_or(0, HashMap::len) as u64;
        self.types.get(ty).map_or(0, |ty| ty.rows) + implied
    }

    /// Number of nodes that only edges name.
    pub fn without_rows(&self) -> u64 {
        self.implied().named.len() as u64
    }

    /// Keys that several nodes of a type have. Edges refer to the first of these nodes.
    pub fn repeated_keys(&self) -> u64 {
        self.types.iter().map(|ty| ty.repeated).sum()
    }

    /// The type of a node.
    pub fn type_of(&self, node: u32) -> Option<usize> {
        let node = u64::from(node);
        if node >= self.rows {
            return self.implied().named.get(index(node - self.rows)).map(|(ty, _)| *ty);
        }
        self.types.iter().rposition(|ty| ty.rows > 0 && ty.first <= node)
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = KeyKind> {
        self.types.iter().map(|ty| ty.kind)
    }

    pub(crate) fn is_implied(&self, ty: usize) -> bool {
        self.types.get(ty).is_some_and(|ty| ty.implied)
    }

    /// The row of a node in its type; `Err` with its key for a node without a row.
    pub(crate) fn row_of(&self, node: u32) -> std::result::Result<u64, String> {
        let node = u64::from(node);
        if node >= self.rows {
            return Err(self.implied().named.get(index(node - self.rows)).map_or("", |(_, key)| key).to_owned());
        }
        let ty = self.types.iter().rfind(|ty| ty.rows > 0 && ty.first <= node);
        Ok(node - ty.map_or(0, |ty| ty.first))
    }

    pub(crate) fn lookup(&self, ty: usize) -> Option<&Lookup> {
        self.types.get(ty).and_then(|ty| ty.lookup.as_ref())
    }

    /// Ends of edges as numbers, if keys are in memory.
    ///
    /// # Errors
    /// If keys are neither integers nor texts.
    pub(crate) fn resolve(&self, ty: usize, ends: &Ends) -> Result<Resolved> {
        let of = self.types.get(ty).ok_or_else(|| Error::malformed("an edge between unknown node types"))?;
        let rows: &[u64] = match (ends, &of.lookup) {
            (Ends::Rows(rows), _) => rows.values(),
            (Ends::Keys(keys), Some(Lookup::Memory(lookup))) => {
                let mut rows = Vec::new();
                lookup.translate(keys.as_ref(), &mut rows)?;
                return Ok(Resolved::Numbers(of.numbers(&rows)));
            }
            (Ends::Keys(keys), Some(Lookup::Spilled(_))) => return Ok(Resolved::Waiting(Arc::clone(keys))),
            // Nodes without keys: the key is the row.
            (Ends::Keys(keys), None) if of.kind == KeyKind::Row => {
                let rows = cast(keys, &DataType::UInt64).map_err(unread)?;
                let rows = rows.as_primitive::<UInt64Type>();
                let rows: Vec<u64> = rows.iter().map(|row| row.unwrap_or(ABSENT)).collect();
                return Ok(Resolved::Numbers(of.numbers(&rows)));
            }
            (Ends::Keys(_), None) => {
                return Err(Error::malformed(format!(
                    "edges name nodes of type {} by key, which was not announced",
                    of.name
                )));
            }
        };
        Ok(Resolved::Numbers(of.numbers(rows)))
    }

    /// Numbers of rows that a look-up has found.
    pub(crate) fn numbers(&self, ty: usize, rows: &[u64]) -> Vec<u32> {
        self.types.get(ty).map(|of| of.numbers(rows)).unwrap_or_default()
    }

    /// Gives ends of an implied type that are no rows numbers of their own.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if there are too many for the budget or for a number.
    pub(crate) fn imply(&self, ty: usize, keys: &ArrayRef, numbers: &mut [u32]) -> Result<()> {
        if !numbers.contains(&NOBODY) {
            return Ok(());
        }
        let texts = cast(keys, &DataType::Utf8).map_err(unread)?;
        let texts: &StringArray = texts.as_string();
        let mut implied = self.implied();
        let Implied { known, named, memory } = &mut *implied;
        let Some(known) = known.get_mut(ty) else { return Ok(()) };
        for (number, text) in numbers.iter_mut().zip(texts).filter(|(number, _)| **number == NOBODY) {
            let Some(text) = text else { continue };
            *number = match known.get(text) {
                Some(known) => *known,
                None => {
                    let new = self.rows + named.len() as u64;
                    let new = u32::try_from(new).ok().filter(|new| *new < NOBODY).ok_or_else(|| too_many(new))?;
                    memory.grow(IMPLIED + 2 * text.len() as u64)?;
                    known.insert(text.into(), new);
                    named.push((ty, text.into()));
                    new
                }
            };
        }
        Ok(())
    }

    /// Frees what only reading edges needs.
    pub(crate) fn forget_keys(&mut self) {
        self.types.iter_mut().for_each(|ty| ty.lookup = None);
    }

    /// The node with this key, of a type if one is given. Reads the keys of the types once.
    ///
    /// # Errors
    /// [`Kind::NotFound`] if there is none; [`Kind::Usage`] if nodes of several types have the key, or the type does not exist.
    pub fn find(&self, ty: Option<&str>, key: &str) -> Result<u32> {
        if let Some(ty) = ty.filter(|ty| !self.types.iter().any(|of| of.name == *ty)) {
            let near = did_you_mean(ty, self.types());
            return Err(Error::usage(format!("there is no node type {ty}{near}"))
                .hint(format!("the node types are {}", self.types().collect::<Vec<_>>().join(", "))));
        }
        let mut found: Vec<(usize, u32)> = Vec::new();
        for (at, of) in self.types.iter().enumerate().filter(|(_, of)| ty.is_none_or(|ty| of.name == ty)) {
            let row = match of.kind {
                KeyKind::Row => key.parse::<u64>().ok().filter(|row| *row < of.rows && row.to_string() == key),
                _ => self.row_with(at, key)?,
            };
            let implied = || self.implied().known.get(at).and_then(|known| known.get(key)).copied();
            let number = row.and_then(|row| u32::try_from(of.first + row).ok()).or_else(implied);
            found.extend(number.map(|number| (at, number)));
        }
        match found.as_slice() {
            [(_, number)] => Ok(*number),
            [] => {
                let of = ty.map(|ty| format!(" of type {ty}")).unwrap_or_default();
                Err(Error::new(Kind::NotFound, format!("there is no node {key:?}{of}")))
            }
            several => {
                let names: Vec<&str> = several.iter().filter_map(|(at, _)| self.types().nth(*at)).collect();
                Err(Error::usage(format!("nodes of the types {} have the key {key:?}", names.join(" and ")))
                    .hint(format!("--type {}    of both ends; --to-type of the second", names.join(", --type "))))
            }
        }
    }

    /// The first row of a type with this key.
    fn row_with(&self, ty: usize, key: &str) -> Result<Option<u64>> {
        let mut before = 0;
        for batch in self.source.scan(&Request::of(Tables::NodeKeys(ty)))?.into_iter().flatten() {
            let Batch::Nodes(batch) = batch? else { continue };
            let Some(keys) = batch.keys.as_ref().filter(|_| batch.ty == ty) else { continue };
            let texts = cast(keys, &DataType::Utf8).map_err(unread)?;
            let texts: &StringArray = texts.as_string();
            if let Some(row) = texts.iter().position(|text| text == Some(key)) {
                return Ok(Some(before + row as u64));
            }
            before += batch.rows as u64;
        }
        Ok(None)
    }
}

impl TypeNodes {
    fn numbers(&self, rows: &[u64]) -> Vec<u32> {
        let number = |row: &u64| match *row < self.rows {
            true => u32::try_from(self.first + row).unwrap_or(NOBODY),
            false => NOBODY,
        };
        rows.iter().map(number).collect()
    }
}

fn too_many(nodes: u64) -> Error {
    let message = format!("the graph has {nodes} nodes or more; algorithms number at most {} of them", NOBODY - 1);
    Error::new(Kind::TooLarge, message).hint("--types, --where    select a part of the graph")
}

pub(crate) fn unread(error: arrow_schema::ArrowError) -> Error {
    Error::malformed("a column has other values than it declares").caused_by(error)
}
