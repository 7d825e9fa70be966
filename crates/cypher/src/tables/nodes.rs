//! A table of nodes: keys, labels and properties, read when they are needed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use isomorph::Result;
use isomorph::dataset::{Role, Table};
use isomorph::error::index;
use isomorph::model::{NodeType, Way};

use super::alike::{Alike, Codes, alike};
use super::batch::Element;
use super::column::Column;
use super::filter::Columns;
use super::keys::{KEY_BYTES, Key, Positions, column};
use super::{Kept, Scans, cells};
use crate::value::{Map, Value};

/// Nodes whose properties are looked up at once, at most.
const AT_ONCE: usize = 8192;

pub(crate) struct NodeTable {
    table: String,
    type_name: Arc<str>,
    /// The column that identifies a node, and its name if it is a property.
    key_column: String,
    key_name: Option<String>,
    labels_column: Option<String>,
    /// Columns of properties, with whether their cells hold several.
    properties: Vec<(String, bool)>,
    filtered: Columns,
    rows: Option<u64>,
    positions: Positions,
    /// Number of positions when all nodes became known; positions after it are ends of edges that are no rows.
    whole: Option<usize>,
    /// Positions before it that are no rows either.
    no_rows: HashSet<usize>,
    /// How many keys were looked up.
    finds: u64,
    /// Columns that were read whole.
    columns: HashMap<String, Column>,
    /// All values of single nodes.
    single: HashMap<usize, HashMap<String, Kept>>,
}

impl NodeTable {
    pub(crate) fn new(table: &Table, ty: &NodeType) -> Self {
        let name_of = |role: Role| {
            let at = table.roles().iter().position(|one| *one == role)?;
            Some(table.schema().field(at).name().clone())
        };
        let key_name = name_of(Role::Key);
        let key_column = key_name.clone().or_else(|| name_of(Role::Row)).unwrap_or_default();
        NodeTable {
            table: table.name().to_owned(),
            type_name: Arc::from(ty.name.as_str()),
            key_column,
            key_name,
            labels_column: name_of(Role::Labels),
            properties: super::property_columns(table, |role| matches!(role, Role::Property(_))),
            filtered: super::filtered(table, |role| matches!(role, Role::Property(_) | Role::Key)),
            rows: table.rows(),
            positions: Positions::default(),
            whole: None,
            no_rows: HashSet::new(),
            finds: 0,
            columns: HashMap::new(),
            single: HashMap::new(),
        }
    }

    pub(super) fn table_name(&self) -> &str {
        &self.table
    }

    pub(super) fn key_column(&self) -> &str {
        &self.key_column
    }

    /// Columns of properties, with whether their cells hold several.
    pub(super) fn declared(&self) -> &[(String, bool)] {
        &self.properties
    }

    /// The keys, by position.
    pub(super) fn keys(&self) -> &[Key] {
        self.positions.keys()
    }

    /// The columns that a filter may name.
    pub(super) fn filtered(&self) -> Columns {
        self.filtered.clone()
    }

    /// What is read of nodes one after another.
    pub(super) fn element(&self, names: &[&Arc<str>], labels: bool) -> Element {
        let mut element = Element { type_name: Some(Arc::clone(&self.type_name)), ..Element::default() };
        if let Some(key) = self.key_name.as_ref().filter(|key| names.iter().any(|name| ***name == ***key)) {
            element.key = Some((key.clone(), element.column(key)));
        }
        element.add_properties(names, &self.properties);
        element.labels_at = self.labels_column.as_ref().filter(|_| labels).map(|name| element.column(name));
        element
    }

    pub(crate) fn name(&self) -> &str {
        &self.type_name
    }

    pub(crate) fn key_name(&self) -> Option<&str> {
        self.key_name.as_deref()
    }

    pub(crate) fn has_labels(&self) -> bool {
        self.labels_column.is_some()
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.whole.is_some()
    }

    /// About how many nodes there are.
    pub(crate) fn estimate(&self) -> u64 {
        self.whole.map_or_else(|| self.rows.unwrap_or(1_000_000), |count| count as u64)
    }

    /// The positions of nodes, after [`NodeTable::read_all`].
    pub(crate) fn rows(&self) -> Vec<usize> {
        (0..self.whole.unwrap_or(0)).filter(|position| !self.no_rows.contains(position)).collect()
    }

    /// The positions of ends of edges that are no rows, after [`NodeTable::read_all`].
    pub(super) fn no_rows(&self) -> Vec<usize> {
        (0..self.positions.len()).filter(|position| !self.is_row(*position)).collect()
    }

    fn is_row(&self, position: usize) -> bool {
        self.whole.is_some_and(|count| position < count) && !self.no_rows.contains(&position)
    }

    pub(crate) fn element_id(&self, position: usize) -> String {
        let key = self.positions.key(position).map(Key::text).unwrap_or_default();
        format!("{}:{key}", self.type_name)
    }

    pub(crate) fn key(&self, position: usize) -> Option<&Key> {
        self.positions.key(position)
    }

    /// The position of the node with a key, which an edge mentions.
    pub(crate) fn add(&mut self, key: Key, scans: &Scans<'_>) -> Result<usize> {
        let (position, is_new) = self.positions.add(key);
        if is_new {
            scans.grow(KEY_BYTES)?;
        }
        Ok(position)
    }

    /// The position of the node with an integer as its key, if it is known.
    pub(super) fn position(&self, key: i64) -> Option<usize> {
        self.positions.of_int(key)
    }

    /// Reads all keys. Nodes that edges mentioned before keep their positions.
    pub(crate) fn read_all(&mut self, scans: &Scans<'_>) -> Result<()> {
        if self.whole.is_some() {
            return Ok(());
        }
        let mut no_rows: HashSet<usize> = (0..self.positions.len()).collect();
        let scan = scans.dataset.scan(&self.table)?.columns([self.key_column.as_str()]).cancel(scans.cancel.clone());
        // How far integers lie apart is known when all are read.
        let mut all: Vec<ArrayRef> = Vec::new();
        for batch in scan.batches()? {
            let batch = batch?;
            let keys = cells::of(&batch, 0)?;
            scans.grow(KEY_BYTES * batch.num_rows() as u64)?;
            all.push(ArrayRef::clone(keys));
        }
        let ints = all.iter().filter_map(|keys| keys.as_primitive_opt::<Int64Type>()).flat_map(|ints| ints.values());
        if let (Some(least), Some(most)) = (ints.clone().min(), ints.max()) {
            let count = all.iter().map(|keys| keys.len()).sum();
            scans.grow(self.positions.expect(*least, *most, count))?;
        }
        for keys in all {
            for row in 0..keys.len() {
                let (position, _) = self.positions.add(cells::key(&keys, row)?);
                if !no_rows.is_empty() {
                    no_rows.remove(&position);
                }
            }
        }
        self.whole = Some(self.positions.len());
        self.no_rows = no_rows;
        Ok(())
    }

    /// The position of the node with a key.
    pub(crate) fn find(&mut self, key: &Key, scans: &Scans<'_>) -> Result<Option<usize>> {
        if self.whole.is_some() {
            return Ok(self.positions.get(key).filter(|position| self.is_row(*position)));
        }
        // The first look-up may read the whole table and keep one row; with the second one, all keys are kept.
        self.finds += 1;
        if self.finds > 1 && self.passes(scans)? {
            self.read_all(scans)?;
            return Ok(self.positions.get(key).filter(|position| self.is_row(*position)));
        }
        let (mut found, names) = (None, self.single_columns());
        self.look_up(std::slice::from_ref(key), &names, scans, &mut |own, batch, row| {
            let key = cells::key(cells::of(batch, 1)?, row)?;
            let (position, _) = own.positions.add(key);
            found = Some(position);
            own.keep(position, batch, row, scans)
        })?;
        Ok(found)
    }

    /// Whether a look-up would read the whole table.
    fn passes(&self, scans: &Scans<'_>) -> Result<bool> {
        Ok(scans.dataset.look_up_cost(&self.table, &self.key_column)?.way == Way::Pass)
    }

    /// Columns that are read of single nodes: all.
    fn single_columns(&self) -> Vec<String> {
        let names = std::iter::once(&self.key_column).chain(&self.labels_column);
        names.chain(self.properties.iter().map(|(name, _)| name)).cloned().collect()
    }

    fn look_up(
        &mut self,
        keys: &[Key],
        names: &[String],
        scans: &Scans<'_>,
        each: &mut dyn FnMut(&mut Self, &RecordBatch, usize) -> Result<()>,
    ) -> Result<()> {
        let scan = scans.dataset.scan(&self.table)?.columns(names.iter().cloned());
        let scan = scan.look_up(self.key_column.clone(), column(keys)).cancel(scans.cancel.clone());
        for batch in scan.batches()? {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                each(self, &batch, row)?;
            }
        }
        Ok(())
    }

    /// Keeps all values of a row of [`NodeTable::single_columns`], after the question.
    fn keep(&mut self, position: usize, batch: &RecordBatch, row: usize, scans: &Scans<'_>) -> Result<()> {
        let mut values = HashMap::new();
        let schema = batch.schema();
        for at in 2..batch.num_columns() {
            let field = schema.field(at);
            let value = Kept::of(cells::value(cells::of(batch, at)?, row, field))?;
            scans.grow(48 + value.bytes())?;
            values.insert(field.name().clone(), value);
        }
        self.single.insert(position, values);
        Ok(())
    }

    /// The value of a column for a node.
    fn cell(&mut self, position: usize, name: &str, scans: &Scans<'_>) -> Result<Value> {
        if let Some(column) = self.columns.get(name) {
            return column.value(position);
        }
        if let Some(values) = self.single.get(&position) {
            return Kept::find(values, name);
        }
        if self.whole.is_none() && self.passes(scans)? {
            self.read_all(scans)?;
        }
        if self.whole.is_some() {
            return self.read_column(name, scans)?.value(position);
        }
        // All nodes that are known and not read, this one first.
        let unread = (0..self.positions.len()).filter(|one| *one != position && !self.single.contains_key(one));
        let wanted: Vec<usize> = std::iter::once(position).chain(unread.take(AT_ONCE)).collect();
        let keys: Vec<Key> = wanted.iter().filter_map(|one| self.positions.key(*one)).cloned().collect();
        let names = self.single_columns();
        self.look_up(&keys, &names, scans, &mut |own, batch, row| {
            let key = cells::key(cells::of(batch, 1)?, row)?;
            let (position, _) = own.positions.add(key);
            own.keep(position, batch, row, scans)
        })?;
        for one in wanted {
            // An end of an edge may be no row; then it has no properties.
            self.single.entry(one).or_default();
        }
        self.single.get(&position).map_or(Ok(Value::Null), |values| Kept::find(values, name))
    }

    /// Reads a column of all nodes, once.
    fn read_column(&mut self, name: &str, scans: &Scans<'_>) -> Result<&Column> {
        let column = match self.columns.remove(name) {
            Some(column) => column,
            None => {
                let columns = [self.key_column.as_str(), name];
                let scan = scans.dataset.scan(&self.table)?.columns(columns).cancel(scans.cancel.clone());
                let mut column = Column::new(scan.schema()?.field(1).clone());
                for batch in scan.batches()? {
                    let batch = batch?;
                    scans.grow(column.add(cells::of(&batch, 0)?, cells::of(&batch, 1)?, &self.positions)?)?;
                }
                column
            }
        };
        Ok(self.columns.entry(name.to_owned()).or_insert(column))
    }

    /// The nodes that differ in these properties, each with the sum of the `weights` of those that look alike; `None` if most of them differ, or a
    /// property is not a column of its own.
    pub(super) fn alike(&mut self, names: &[&Arc<str>], weights: &[u64], scans: &Scans<'_>) -> Result<Option<Alike>> {
        let is_plain = |name: &str| self.properties.iter().any(|(own, is_bag)| own == name && !is_bag);
        let Ok(count) = u32::try_from(weights.len()) else { return Ok(None) };
        if self.whole.is_none() || !names.iter().all(|name| is_plain(name)) {
            return Ok(None);
        }
        let Ok(_memory) = scans.budget.reserve(16 * u64::from(count)) else { return Ok(None) };
        let mut all: Vec<Codes> = Vec::with_capacity(names.len());
        for name in names {
            let Some(codes) = self.read_column(name, scans)?.codes(weights.len()) else { return Ok(None) };
            all.push(codes);
        }
        Ok(alike(all, 0..count, |position| weights.get(position).copied().unwrap_or_default()))
    }

    /// The type and the labels, sorted.
    pub(crate) fn labels(&mut self, position: usize, scans: &Scans<'_>) -> Result<Vec<Arc<str>>> {
        let own = self.labels_column.clone().map(|name| self.cell(position, &name, scans)).transpose()?;
        Ok(super::labels(Some(&self.type_name), own.as_ref()))
    }

    pub(crate) fn property(&mut self, position: usize, name: &str, scans: &Scans<'_>) -> Result<Value> {
        if self.key_name.as_deref() == Some(name) {
            return Ok(self.positions.key(position).map(Key::value).unwrap_or_default());
        }
        if self.properties.iter().any(|(own, is_bag)| own == name && !is_bag) {
            return self.cell(position, name, scans);
        }
        let bags: Vec<String> =
            self.properties.iter().filter(|(_, is_bag)| *is_bag).map(|(own, _)| own.clone()).collect();
        super::in_bags(name, bags.iter().map(|bag| self.cell(position, bag, scans)))
    }

    pub(crate) fn properties(&mut self, position: usize, scans: &Scans<'_>) -> Result<Map> {
        let mut map = Map::new();
        if let (Some(name), Some(key)) = (&self.key_name, self.positions.key(position)) {
            map.insert(Arc::from(name.as_str()), key.value());
        }
        for (name, is_bag) in self.properties.clone() {
            super::add_property(&mut map, &name, is_bag, self.cell(position, &name, scans)?);
        }
        Ok(map)
    }
}

/// The question of a row of a look-up.
pub(crate) fn question(batch: &RecordBatch, row: usize) -> Result<usize> {
    match cells::key(cells::of(batch, 0)?, row)? {
        Key::Int(at) => Ok(index(u64::try_from(at).unwrap_or(u64::MAX))),
        Key::Text(_) => Ok(usize::MAX),
    }
}
