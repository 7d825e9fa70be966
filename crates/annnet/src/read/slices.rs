//! Slices: named sets of nodes and edges.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{Array, Float64Array, StringArray, UInt32Array};
use isomorph_error::{Findings, Place, Result, Rule};
use isomorph_storage::{Budget, Reservation};

use super::attributes::Attributes;
use super::edges::{Edges, IdSum};
use super::entities::Entities;
use super::ids::{self, ENTRY_BYTES, IdMap};
use crate::cells::Cells;
use crate::layout::{Layout, Words, column, file, word};
use crate::members::Members;
use crate::rules;
use crate::table::Table;

/// Rows of a batch while slices are checked.
const BATCH_ROWS: usize = 1 << 15;

/// The slices of a graph. Memberships stay in their tables.
pub(crate) struct Slices {
    /// Ids in the order of the registry.
    pub names: Vec<String>,
    numbers: HashMap<String, u32>,
    /// The slice that contains everything.
    pub all: Option<u32>,
    pub attributes: Attributes,
    cells: Option<Cells>,
    rows: UInt32Array,
    /// Values of edges in slices.
    pub pairs: Pairs,
    /// Memberships of nodes.
    pub nodes: Option<Table>,
    /// Memberships of edges.
    pub edges: Option<Table>,
    /// Weights of memberships by slice and edge, if the attributes of the pair state none and other rows of the table
    /// have no weight. They apply to memberships that are repeated without a weight.
    stated: IdMap<f64>,
    /// Edges that a table of slices names, and whether they exist.
    known: IdMap<AtomicBool>,
    /// The members listed in the default slice.
    in_default: (IdSum, IdSum),
    held: Reservation,
}

/// The slice named by a row.
struct Named {
    hash: u128,
    is_default: bool,
}

/// Weights and attributes of edges in slices.
#[derive(Default)]
pub(crate) struct Pairs {
    pub attributes: Attributes,
    pub cells: Option<Cells>,
    pub weights: Option<Float64Array>,
    rows: IdMap<u32>,
    /// Rows whose edge is not listed as a member.
    pub unlisted: Vec<u32>,
    _held: Option<Reservation>,
}

impl Pairs {
    fn read(table: &Table, budget: &Budget, findings: &mut Findings) -> Result<Pairs> {
        let keys = [column::SLICE_ID, column::EDGE_ID, column::WEIGHT];
        let attributes = Attributes::of(table, &keys, &[], findings)?;
        let (cells, mut held) = table.read(&[], budget)?;
        held.grow(cells.rows() as u64 * ENTRY_BYTES)?;
        let (slices, edges) = (cells.text(column::SLICE_ID)?, cells.text(column::EDGE_ID)?);
        let present = (0..cells.rows()).filter(|&row| slices.is_valid(row) && edges.is_valid(row));
        let pair = |row: usize| ids::pair(ids::hash(slices.value(row)), ids::hash(edges.value(row)));
        let rows = present.map(|row| (pair(row), row as u32)).collect();
        let weights = Some(cells.floats(column::WEIGHT)?);
        Ok(Pairs { attributes, cells: Some(cells), weights, rows, unlisted: Vec::new(), _held: Some(held) })
    }

    /// Returns the weight in a row.
    fn weight(&self, row: Option<u32>) -> Option<f64> {
        let (weights, row) = (self.weights.as_ref()?, row? as usize);
        weights.is_valid(row).then(|| weights.value(row))
    }

    /// Returns the row of an edge in a slice, by the hashes of both.
    pub fn row(&self, slice: u128, edge: u128) -> Option<u32> {
        if self.rows.is_empty() { None } else { self.rows.get(&ids::pair(slice, edge)).copied() }
    }
}

impl Slices {
    /// Reads the slices and the ids of their members. Whether the members exist is determined later: see
    /// [`Slices::mark`] and [`Slices::settle`].
    ///
    /// # Errors
    /// Returns an error if a table is malformed or exceeds the budget.
    pub fn read(
        members: &Members,
        (layout, all_in_default): (Layout, bool),
        default: &str,
        budget: &Budget,
        findings: &mut Findings,
    ) -> Result<Slices> {
        let words = &layout.words();
        let mut slices = Slices {
            names: Vec::new(),
            numbers: HashMap::new(),
            all: None,
            attributes: Attributes::default(),
            cells: None,
            rows: UInt32Array::new_null(0),
            pairs: Pairs::default(),
            nodes: Table::find(members, words.memberships)?,
            edges: Table::find(members, file::EDGE_MEMBERSHIPS)?,
            stated: IdMap::default(),
            known: IdMap::default(),
            in_default: Default::default(),
            held: budget.reserve(0)?,
        };
        if layout != Layout::V1 && members.has(file::REGISTRY)? && Table::find(members, file::REGISTRY)?.is_none() {
            return Err(Cells::empty(file::REGISTRY).missing(column::SLICE_ID));
        }
        if let Some(table) = Table::find(members, file::REGISTRY)? {
            let (cells, _held) = table.read(&[column::SLICE_ID], budget)?;
            cells.ids(column::SLICE_ID, &rules::SLICE_UNKNOWN)?.iter().flatten().for_each(|name| {
                slices.number(name);
            });
        }
        if slices.numbers.is_empty() || !slices.numbers.contains_key(default) {
            slices.number(default);
        }
        if let Some(table) = Table::find(members, file::EDGE_SLICE_ATTRIBUTES)? {
            slices.pairs = Pairs::read(&table, budget, findings)?;
        }
        // The specification allows the registry of older layouts to be missing.
        let rule = if layout == Layout::V1 { &rules::SLICE_UNKNOWN } else { &rules::SLICE_UNREGISTERED };
        slices.read_members((default, words, rule), findings)?;
        if all_in_default {
            // The older library adds everything to the default slice when it reads; its files may omit these
            // memberships.
            slices.all = slices.find(default);
        }
        slices.attributes(members, budget, findings)?;
        Ok(slices)
    }

    /// Returns the number of a slice, and adds the slice if it is new.
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// Returns the number of a slice in use, and reports `rule` if it is not registered.
    fn registered(
        &mut self,
        name: &str,
        rule: &'static Rule,
        place: impl FnOnce() -> Place,
        findings: &mut Findings,
    ) -> u32 {
        if self.find(name).is_none() {
            findings.push(rule, format!("slice {name:?} is not in the registry"), place());
        }
        self.number(name)
    }

    /// Returns the number of a slice, if it exists.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// Returns whether an edge that a slice names exists.
    pub fn knows(&self, edge: u128) -> bool {
        self.known.get(&edge).is_some_and(|known| known.load(Ordering::Relaxed))
    }

    /// Reads the listed members. A node membership in an unregistered slice breaks `rule`.
    fn read_members(
        &mut self,
        (default, words, rule): (&str, &Words, &'static Rule),
        findings: &mut Findings,
    ) -> Result<()> {
        let (mut of_nodes, mut of_edges) = (IdSum::default(), IdSum::default());
        if let Some(table) = self.nodes.clone() {
            self.each(&table, (words.node_id, rule), default, findings, |_, slice, id| {
                if slice.is_default {
                    of_nodes.add(id);
                }
                Ok(())
            })?;
        }
        let mut listed = vec![false; self.pairs.cells.as_ref().map_or(0, Cells::rows)];
        if let Some(table) = self.edges.clone() {
            self.each(&table, (column::EDGE_ID, &rules::SLICE_UNKNOWN), default, findings, |slices, slice, id| {
                if let Some(pair) = slices.pairs.row(slice.hash, id) {
                    listed[pair as usize] = true;
                }
                match slice.is_default {
                    true => of_edges.add(id),
                    false => slices.name_edge(id)?,
                }
                Ok(())
            })?;
        }
        self.in_default = (of_nodes, of_edges);
        self.read_weights()?;
        if let Some(cells) = self.pairs.cells.clone() {
            let (slices, ids) = (cells.text(column::SLICE_ID)?, cells.text(column::EDGE_ID)?);
            for row in (0..cells.rows()).filter(|&row| slices.is_valid(row) && ids.is_valid(row)) {
                let edge = ids::hash(ids.value(row));
                self.name_edge(edge)?;
                // Attributes of an edge that does not exist are ignored; if a pair has several rows, the last one is
                // used.
                let counts = self.pairs.row(ids::hash(slices.value(row)), edge) == Some(row as u32);
                if counts && !listed[row] {
                    let place = || Place::file(&cells.name).row(row as u64);
                    self.registered(slices.value(row), &rules::SLICE_UNKNOWN, place, findings);
                    let message = format!("edge {:?} is not listed in slice {:?}", ids.value(row), slices.value(row));
                    findings.push(&rules::SLICE_UNLISTED, message, place());
                    self.pairs.unlisted.push(row as u32);
                }
            }
        }
        Ok(())
    }

    /// Keeps the weights that rows without a weight may need: the published library reads repeated memberships as one,
    /// with the last stated weight.
    fn read_weights(&mut self) -> Result<()> {
        let Some(table) = self.edges.clone().filter(|table| table.has(column::WEIGHT)) else { return Ok(()) };
        let (mut some, mut none) = (false, false);
        for cells in table.batches(&[column::WEIGHT], 0..table.rows(), BATCH_ROWS)? {
            let weights = cells?.floats(column::WEIGHT)?;
            none |= weights.null_count() > 0;
            some |= weights.null_count() < weights.len();
        }
        if !(some && none) {
            return Ok(());
        }
        let columns = [column::SLICE_ID, column::EDGE_ID, column::WEIGHT];
        for cells in table.batches(&columns, 0..table.rows(), BATCH_ROWS)? {
            let cells = cells?;
            let (slices, edges) = (cells.text(column::SLICE_ID)?, cells.text(column::EDGE_ID)?);
            let weights = cells.floats(column::WEIGHT)?;
            for ((slice, edge), weight) in slices.iter().zip(&edges).zip(&weights) {
                let (Some(slice), Some(edge), Some(weight)) = (slice, edge, weight) else { continue };
                let (slice, edge) = (ids::hash(slice), ids::hash(edge));
                if self.pairs.weight(self.pairs.row(slice, edge)).is_none()
                    && self.stated.insert(ids::pair(slice, edge), weight).is_none()
                {
                    self.held.grow(ENTRY_BYTES + 8)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the weight of a membership that states none: that in the attributes of the pair, else that of a repeated
    /// row.
    pub fn weight(&self, slice: u128, edge: u128, pair: Option<u32>) -> Option<f64> {
        let again = || if self.stated.is_empty() { None } else { self.stated.get(&ids::pair(slice, edge)).copied() };
        self.pairs.weight(pair).or_else(again)
    }

    /// Records that the edge whose id has this hash exists.
    pub fn mark(&self, edge: u128) {
        // If everything is in one slice, no member need be listed.
        if !self.known.is_empty()
            && let Some(known) = self.known.get(&edge)
        {
            known.store(true, Ordering::Relaxed);
        }
    }

    /// Determines whether the default slice contains everything, once all edges are known and marked.
    ///
    /// # Errors
    /// Returns an error if a table is malformed or exceeds the budget.
    pub fn settle(&mut self, default: &str, entities: &Entities, edges: &Edges) -> Result<()> {
        if self.all.is_some() {
            return Ok(());
        }
        let mut every_node = IdSum::default();
        entities.keys.iter().flatten().for_each(|id| every_node.add(ids::hash(id)));
        if self.in_default == (every_node, edges.ids) {
            self.all = self.find(default);
            return Ok(());
        }
        let Some(table) = self.edges.clone() else { return Ok(()) };
        self.each(
            &table,
            (column::EDGE_ID, &rules::SLICE_UNKNOWN),
            default,
            &mut Findings::default(),
            |slices, slice, id| {
                if slice.is_default { slices.name_edge(id) } else { Ok(()) }
            },
        )?;
        let table = &edges.table;
        for cells in table.batches(&[column::EDGE_ID], 0..table.rows(), BATCH_ROWS)? {
            cells?.text(column::EDGE_ID)?.iter().flatten().for_each(|id| self.mark(ids::hash(id)));
        }
        Ok(())
    }

    /// Calls `each` with the slice and the hash of the member of each row. Unknown slices are added.
    fn each(
        &mut self,
        table: &Table,
        (member, rule): (&str, &'static Rule),
        default: &str,
        findings: &mut Findings,
        mut each: impl FnMut(&mut Slices, &Named, u128) -> Result<()>,
    ) -> Result<()> {
        let mut start = 0;
        for cells in table.batches(&[column::SLICE_ID, member], 0..table.rows(), BATCH_ROWS)? {
            let cells = cells?;
            let (slices, members) = (cells.text(column::SLICE_ID)?, cells.text(member)?);
            // Rows of the same slice are usually adjacent.
            let mut last: Option<(&str, Named)> = None;
            for row in (0..cells.rows()).filter(|&row| slices.is_valid(row) && members.is_valid(row)) {
                let slice = slices.value(row);
                let named = match last.take() {
                    Some((name, named)) if name == slice => named,
                    _ => {
                        self.registered(slice, rule, || Place::file(&table.name).row(start + row as u64), findings);
                        Named { hash: ids::hash(slice), is_default: slice == default }
                    }
                };
                each(self, &named, ids::hash(members.value(row)))?;
                last = Some((slice, named));
            }
            start += cells.rows() as u64;
        }
        Ok(())
    }

    fn name_edge(&mut self, edge: u128) -> Result<()> {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.known.entry(edge) {
            entry.insert(AtomicBool::new(false));
            self.held.grow(ENTRY_BYTES)?;
        }
        Ok(())
    }

    fn attributes(&mut self, members: &Members, budget: &Budget, findings: &mut Findings) -> Result<()> {
        let Some(table) = Table::find(members, file::SLICE_ATTRIBUTES)? else { return Ok(()) };
        self.attributes = Attributes::of(&table, &[column::SLICE_ID], &[], findings)?;
        let (cells, held) = table.read(&[], budget)?;
        let mut rows: Vec<Option<u32>> = vec![None; self.names.len()];
        for (row, id) in cells.text(column::SLICE_ID)?.iter().enumerate() {
            let Some(id) = id else { continue };
            let place = || Place::file(&table.name).row(row as u64);
            let slice = self.registered(id, &rules::SLICE_UNKNOWN, place, findings) as usize;
            rows.resize(self.names.len(), None);
            rows[slice] = Some(row as u32);
        }
        self.rows = UInt32Array::from(rows);
        self.cells = Some(cells);
        self.held.grow(held.bytes())
    }

    /// Returns the keys and attributes of all slices.
    pub fn groups(&self) -> Result<(StringArray, isomorph_model::Columns)> {
        let keys = StringArray::from_iter_values(&self.names);
        let columns = match &self.cells {
            Some(cells) => self.attributes.take(cells, &self.rows)?,
            None => self.attributes.absent(),
        };
        Ok((keys, columns))
    }

    /// Returns the active slice: the manifest's if it exists, otherwise the default.
    pub fn active(&self, stated: Option<&str>, default: &str, findings: &mut Findings) -> String {
        match stated {
            Some(name) if self.find(name).is_some() => name.to_owned(),
            other => {
                let message = other.map_or("no active slice is named".to_owned(), |name| {
                    format!("active slice {name:?} is not in the registry")
                });
                let place = Place::file(file::MANIFEST).in_field("active_slice");
                findings.push(&rules::SLICE_ACTIVE, message, place);
                let known = self.find(default).is_some();
                if known { default } else { word::DEFAULT }.to_owned()
            }
        }
    }
}
