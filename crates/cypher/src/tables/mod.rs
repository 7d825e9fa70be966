//! A graph of any format as a property graph: tables are read when a query needs them.
//!
//! A node is known by its table and its key; it gets a number when it is first seen. Tables are read in one of two ways: whole, column by
//! column, if a query goes over all nodes; or by look-ups of keys, for all nodes of a step together, if it starts from few. Hyperedges
//! and groups are not visible.

mod alike;
mod batch;
mod cells;
mod column;
mod edges;
mod ends;
mod expand;
mod explained;
mod filter;
mod first;
mod keys;
mod nodes;
mod pass;
mod reading;
mod unordered;
mod whole;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_schema::DataType;
use isomorph::dataset::{Cancel, Dataset, KIND, Role, Table, TableKind};
use isomorph::error::index;
use isomorph::model;
use isomorph::storage::{Budget, Reservation};
use isomorph::{Error, Kind, Result};

use crate::columnar::holds_for_type;
use crate::graph::{Direction, Nodes, PropertyGraph};
use crate::plan::Labels;
use crate::value::{Map, Node, Relationship, Value};
use batch::InBatch;
use edges::EdgeTable;
use expand::Expansion;
pub use expand::{Found, Joined, JoinedEdges, JoinedLink, JoinedMatches};
use filter::Columns;
pub(crate) use first::First;
use nodes::NodeTable;
use pass::Pass;
pub(crate) use whole::{Argument, Whole, each};

/// Bits of a number for the position in its table; the rest is the table.
const POSITION: u32 = 40;

/// From this table on, numbers are those of elements of batches, which passes go over.
const FIRST_PASS: usize = (1 << 24) - (1 << 16);

/// A graph of any format, for queries.
pub struct TableGraph<'d> {
    scans: Scans<'d>,
    nodes: Vec<RefCell<NodeTable>>,
    edges: Vec<RefCell<EdgeTable>>,
    /// The batch of each pass that is going on.
    batches: RefCell<BTreeMap<usize, InBatch>>,
    passes: Cell<usize>,
    /// How many threads search.
    threads: usize,
}

/// How tables are read.
pub(crate) struct Scans<'d> {
    dataset: &'d Dataset,
    cancel: Cancel,
    budget: Budget,
    memory: RefCell<Reservation>,
}

impl std::fmt::Debug for TableGraph<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableGraph").finish_non_exhaustive()
    }
}

impl Scans<'_> {
    fn grow(&self, bytes: u64) -> Result<()> {
        self.memory.borrow_mut().grow(bytes).map_err(|error| error.hint("--memory"))
    }
}

impl<'d> TableGraph<'d> {
    /// The node and edge tables of a dataset, which should be the typed one, `isomorph::Graph::dataset`. Reads nothing.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn new(dataset: &'d Dataset, budget: &Budget, cancel: Cancel) -> Result<Self> {
        let graph = dataset.source().graph();
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        for table in dataset.tables() {
            match table.kind() {
                TableKind::Nodes(ty) => {
                    if let Some(ty) = graph.nodes.get(ty) {
                        nodes.push(RefCell::new(NodeTable::new(table, ty)));
                    }
                }
                TableKind::Edges(ty) => {
                    if let Some(ty) = graph.edges.get(ty) {
                        edges.push(RefCell::new(EdgeTable::new(table, ty)));
                    }
                }
                _ => {}
            }
        }
        let scans = Scans { dataset, cancel, budget: budget.clone(), memory: RefCell::new(budget.reserve(0)?) };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(TableGraph { scans, nodes, edges, batches: RefCell::default(), passes: Cell::new(0), threads })
    }

    /// With so many threads for what is searched by several; else as many as the machine has.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Calls `each` with the type of the column of a property, in each table whose nodes may have these labels, or whose edges may have one of `types`; with
    /// nothing where it may be in a column that holds several.
    pub(crate) fn property_types(
        &self,
        types: Option<&[Arc<str>]>,
        labels: &[&Labels],
        name: &str,
        each: &mut dyn FnMut(Option<&DataType>),
    ) {
        let mut column = |table: &str, key: Option<&str>, properties: &[(String, bool)]| {
            let own = properties.iter().find(|(own, is_bag)| own == name && !is_bag);
            let has_bags = properties.iter().any(|(_, is_bag)| *is_bag);
            if own.is_none() && key != Some(name) {
                if has_bags {
                    each(None);
                }
                return;
            }
            let schema = self.scans.dataset.table(table).map(|table| Arc::clone(table.schema()));
            let field = schema.as_ref().ok().and_then(|schema| schema.field_with_name(name).ok());
            // Cells of other kinds are not what their type says.
            each(field.filter(|field| !field.metadata().contains_key(KIND)).map(|field| field.data_type()));
        };
        match types {
            Some(types) => {
                for table in self.edges.iter().map(RefCell::borrow).filter(|table| table.may_have(types)) {
                    column(table.table_name(), None, table.declared());
                }
            }
            None => {
                for table in self.nodes.iter().map(RefCell::borrow) {
                    let fits =
                        |labels: &&Labels| holds_for_type(labels, table.name(), table.has_labels()) != Some(false);
                    if labels.iter().all(fits) {
                        column(table.table_name(), table.key_name(), table.declared());
                    }
                }
            }
        }
    }

    /// The number of the table of a node, which is the same in every process.
    pub(crate) fn table_of(&self, node: Node) -> usize {
        parts(node.0).0
    }

    fn node_table(&self, node: Node) -> Result<(&RefCell<NodeTable>, usize)> {
        let (table, position) = parts(node.0);
        Ok((self.nodes.get(table).ok_or_else(unknown)?, position))
    }

    fn edge_table(&self, one: Relationship) -> Result<(&RefCell<EdgeTable>, usize)> {
        let (table, position) = parts(one.id);
        Ok((self.edges.get(table).ok_or_else(unknown)?, position))
    }

    /// A number for a pass.
    fn new_pass(&self) -> usize {
        let pass = self.passes.get();
        self.passes.set((pass + 1) % (1 << 16));
        pass
    }

    /// The batch that a pass is at.
    fn show(&self, pass: usize, batch: InBatch) {
        self.batches.borrow_mut().insert(pass, batch);
    }

    fn hide(&self, pass: usize) {
        self.batches.borrow_mut().remove(&pass);
    }

    /// What `read` returns of an element of a batch; `None` for elements that are not of a batch.
    fn in_batch<T>(&self, number: u64, read: impl FnOnce(&InBatch, usize) -> Result<T>) -> Option<Result<T>> {
        let (table, row) = parts(number);
        let pass = table.checked_sub(FIRST_PASS)?;
        Some(self.batches.borrow().get(&pass).ok_or_else(unknown).and_then(|batch| read(batch, row)))
    }

    /// Reads what `relationships` of these nodes needs.
    fn read_edges(&self, nodes: &[Node], direction: Direction, types: &[Arc<str>]) -> Result<()> {
        for table in &self.edges {
            let mut table = table.borrow_mut();
            if !table.may_have(types) {
                continue;
            }
            // Whole if a look-up at one of the ends would read all of it anyway.
            let passes = table.passes(direction, &self.scans)?;
            for (side, of) in table.sides(direction) {
                let ends: Vec<Node> = nodes.iter().copied().filter(|node| parts(node.0).0 == of).collect();
                if !ends.is_empty() {
                    // Also if the nodes were read whole.
                    let whole = passes || self.nodes.get(of).is_some_and(|nodes| nodes.borrow().is_whole());
                    table.read(side, &ends, whole, &self.nodes, &self.scans)?;
                }
            }
        }
        Ok(())
    }
}

/// Table and position of a number.
fn parts(number: u64) -> (usize, usize) {
    (index(number >> POSITION), index(number & ((1 << POSITION) - 1)))
}

/// The number of an element of the batch of a pass.
fn in_pass(pass: usize, row: usize) -> u64 {
    number(FIRST_PASS + pass, row)
}

fn number(table: usize, position: usize) -> u64 {
    ((table as u64) << POSITION) | position as u64
}

fn unknown() -> Error {
    Error::new(Kind::Usage, "a node or relationship of another graph")
}

impl PropertyGraph for TableGraph<'_> {
    fn nodes(&self, label: Option<&str>) -> Result<Nodes<'_>> {
        let mut all: Nodes<'_> = Box::new(std::iter::empty());
        for (number_of_table, cell) in self.nodes.iter().enumerate() {
            let mut table = cell.borrow_mut();
            let is_type = label.is_none_or(|label| table.name() == label);
            if !is_type && !table.has_labels() {
                continue;
            }
            table.read_all(&self.scans)?;
            let rows = table.rows();
            let wanted = label.filter(|_| !is_type).map(str::to_owned);
            let numbers = rows.into_iter().map(move |position| Ok(Node(number(number_of_table, position))));
            all = match wanted {
                None => Box::new(all.chain(numbers)),
                Some(label) => Box::new(all.chain(numbers.filter_map(move |node| {
                    let node: Node = match node {
                        Ok(node) => node,
                        Err(error) => return Some(Err(error)),
                    };
                    match self.has_label(node, &label) {
                        Ok(true) => Some(Ok(node)),
                        Ok(false) => None,
                        Err(error) => Some(Err(error)),
                    }
                }))),
            };
        }
        Ok(all)
    }

    fn find(&self, label: Option<&str>, property: &str, value: &Value) -> Result<Option<Vec<Node>>> {
        let mut found = Vec::new();
        for (table_number, cell) in self.nodes.iter().enumerate() {
            let mut table = cell.borrow_mut();
            if label.is_some_and(|label| table.name() != label) || table.key_name() != Some(property) {
                continue;
            }
            let Some(key) = keys::Key::of_value(value) else { continue };
            found.extend(table.find(&key, &self.scans)?.map(|position| Node(number(table_number, position))));
        }
        Ok(Some(found))
    }

    fn can_find(&self, label: Option<&str>, property: &str) -> bool {
        let mut any = false;
        for table in &self.nodes {
            let table = table.borrow();
            match label {
                Some(label) if table.name() != label => {
                    // A label of another table's nodes would need all of them.
                    if table.has_labels() {
                        return false;
                    }
                }
                _ if table.key_name() == Some(property) => any = true,
                _ => return false,
            }
        }
        any
    }

    fn node_count(&self, label: Option<&str>) -> u64 {
        let tables = self.nodes.iter().map(RefCell::borrow);
        tables
            .filter(|table| label.is_none_or(|label| table.name() == label || table.has_labels()))
            .map(|table| table.estimate())
            .sum()
    }

    fn tables(&self) -> Option<&TableGraph<'_>> {
        Some(self)
    }

    fn labels(&self, node: Node) -> Result<Vec<Arc<str>>> {
        if let Some(labels) = self.in_batch(node.0, InBatch::labels) {
            return labels;
        }
        let (table, position) = self.node_table(node)?;
        table.borrow_mut().labels(position, &self.scans)
    }

    fn has_label(&self, node: Node, label: &str) -> Result<bool> {
        if let Some(labels) = self.in_batch(node.0, InBatch::labels) {
            return Ok(labels?.iter().any(|one| **one == *label));
        }
        let (table, position) = self.node_table(node)?;
        let mut table = table.borrow_mut();
        if table.name() == label {
            return Ok(true);
        }
        Ok(table.has_labels() && table.labels(position, &self.scans)?.iter().any(|one| &**one == label))
    }

    fn relationships(
        &self,
        node: Node,
        direction: Direction,
        types: &[Arc<str>],
        found: &mut Vec<(Relationship, Node)>,
    ) -> Result<()> {
        self.read_edges(&[node], direction, types)?;
        let (of, _) = parts(node.0);
        for (number, table) in self.edges.iter().enumerate() {
            let table = table.borrow();
            if table.may_have(types) {
                table.incident(number, node, of, direction, types, found);
            }
        }
        Ok(())
    }

    fn prepare(&self, nodes: &[Node], direction: Direction, types: &[Arc<str>]) -> Result<()> {
        self.read_edges(nodes, direction, types)
    }

    fn is_directed(&self, one: Relationship) -> Result<bool> {
        let (table, position) = self.edge_table(one)?;
        Ok(table.borrow().is_directed(position))
    }

    fn relationship_type(&self, one: Relationship) -> Result<Arc<str>> {
        if let Some(relation) = self.in_batch(one.id, InBatch::relation) {
            return relation;
        }
        let (table, position) = self.edge_table(one)?;
        Ok(table.borrow().relation(position))
    }

    fn node_property(&self, node: Node, name: &str) -> Result<Value> {
        if let Some(value) = self.in_batch(node.0, |batch, row| batch.property(row, name)) {
            return value;
        }
        let (table, position) = self.node_table(node)?;
        table.borrow_mut().property(position, name, &self.scans)
    }

    fn relationship_property(&self, one: Relationship, name: &str) -> Result<Value> {
        if let Some(value) = self.in_batch(one.id, |batch, row| batch.property(row, name)) {
            return value;
        }
        let (table, position) = self.edge_table(one)?;
        table.borrow_mut().property(position, name, &self.scans)
    }

    fn node_properties(&self, node: Node) -> Result<Map> {
        let (table, position) = self.node_table(node)?;
        table.borrow_mut().properties(position, &self.scans)
    }

    fn relationship_properties(&self, one: Relationship) -> Result<Map> {
        let (table, position) = self.edge_table(one)?;
        table.borrow_mut().properties(position, &self.scans)
    }

    fn node_element_id(&self, node: Node) -> Result<String> {
        let (table, position) = self.node_table(node)?;
        Ok(table.borrow().element_id(position))
    }
}

/// Whether edges of a type can be undirected.
fn may_be_undirected(direction: model::Direction) -> bool {
    direction != model::Direction::Directed
}

/// A value that was read along with others. If openCypher has no type for it, that is an error only for who wants it.
#[derive(Debug)]
pub(crate) enum Kept {
    Value(Value),
    Refused(String),
}

impl Kept {
    fn of(value: Result<Value>) -> Result<Kept> {
        match value {
            Ok(value) => Ok(Kept::Value(value)),
            Err(error) if error.kind() == Kind::Unsupported => Ok(Kept::Refused(error.message().to_owned())),
            Err(error) => Err(error),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Kept::Value(value) => value.bytes(),
            Kept::Refused(text) => text.len() as u64,
        }
    }

    /// The value of a column among those that were kept.
    fn find(kept: &HashMap<String, Kept>, name: &str) -> Result<Value> {
        match kept.get(name) {
            None => Ok(Value::Null),
            Some(Kept::Value(value)) => Ok(value.clone()),
            Some(Kept::Refused(text)) => Err(cells::refused(text.clone(), name)),
        }
    }
}

/// The columns of properties of a table, with whether their cells hold several.
fn property_columns(table: &Table, is_property: impl Fn(&Role) -> bool) -> Vec<(String, bool)> {
    let columns = table.roles().iter().zip(table.schema().fields()).filter(|(role, _)| is_property(role));
    let is_bag = |field: &arrow_schema::Field| field.metadata().get(KIND).is_some_and(|kind| kind == "bag");
    columns.map(|(_, field)| (field.name().clone(), is_bag(field))).collect()
}

/// The columns of properties whose cells are what their Arrow type says.
fn filtered(table: &Table, is_property: impl Fn(&Role) -> bool) -> Columns {
    let columns = table.roles().iter().zip(table.schema().fields()).filter(|(role, _)| is_property(role));
    let plain = columns.filter(|(_, field)| !field.metadata().contains_key(KIND));
    plain.map(|(_, field)| (field.name().clone(), field.data_type().clone())).collect()
}

/// The value of a property in the first of several bags that has it.
fn in_bags(name: &str, bags: impl Iterator<Item = Result<Value>>) -> Result<Value> {
    for bag in bags {
        if let Value::Map(map) = bag?
            && let Some(value) = map.get(name)
        {
            return Ok(value.clone());
        }
    }
    Ok(Value::Null)
}

/// Adds what the cell of a column of properties holds.
fn add_property(map: &mut Map, name: &str, is_bag: bool, value: Value) {
    match value {
        Value::Null => {}
        Value::Map(bag) if is_bag => map.extend(bag.iter().map(|(key, value)| (Arc::clone(key), value.clone()))),
        value => {
            map.insert(Arc::from(name), value);
        }
    }
}

/// The type of a node and its own labels, sorted.
fn labels(type_name: Option<&Arc<str>>, own: Option<&Value>) -> Vec<Arc<str>> {
    let mut labels: Vec<Arc<str>> = type_name.into_iter().cloned().collect();
    if let Some(Value::List(own)) = own {
        labels.extend(own.iter().filter_map(|label| match label {
            Value::String(text) => Some(Arc::clone(text)),
            _ => None,
        }));
    }
    labels.sort();
    labels.dedup();
    labels
}
