//! A table of edges: ends and properties, read whole or for single nodes.
//!
//! An edge has no key in most formats. One that is found from both of its ends must have one number: edges between the same two nodes are
//! always read together, so they are told apart by their order among themselves, and keep the values with which they were found first.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use isomorph::dataset::{Role, Table};
use isomorph::model::{EdgeType, Way};
use isomorph::{Error, Kind, Result};

use super::batch::Element;
use super::filter::Columns;
use super::keys::{Key, column};
use super::nodes::{NodeTable, question};
use super::{Kept, Scans, cells, may_be_undirected, number, parts};
use crate::graph::Direction;
use crate::value::{Map, Node, Relationship, Value};

/// An end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Source,
    Target,
}

pub(crate) struct EdgeTable {
    table: String,
    source_column: String,
    target_column: String,
    relation_column: Option<String>,
    directed_column: Option<String>,
    /// Columns of properties, the key included, with whether their cells hold several.
    properties: Vec<(String, bool)>,
    filtered: Columns,
    source_table: usize,
    target_table: usize,
    relation: Option<Arc<str>>,
    may_be_undirected: bool,
    is_undirected: bool,
    edges: Vec<Edge>,
    relations: HashMap<String, Arc<str>>,
    /// All edges were read: their positions in the order of their source, and of their target.
    whole: Option<(Vec<u32>, Vec<u32>)>,
    /// Whole columns of properties.
    columns: HashMap<String, Vec<Value>>,
    /// Positions of the edges of nodes that were looked up.
    from: HashMap<Node, Vec<usize>>,
    to: HashMap<Node, Vec<usize>>,
    between: HashMap<(Node, Node), Vec<usize>>,
    single: HashMap<usize, HashMap<String, Kept>>,
}

struct Edge {
    source: Node,
    target: Node,
    is_directed: bool,
    relation: Arc<str>,
}

impl EdgeTable {
    pub(crate) fn new(table: &Table, ty: &EdgeType) -> Self {
        let name_of = |role: Role| {
            let at = table.roles().iter().position(|one| *one == role)?;
            Some(table.schema().field(at).name().clone())
        };
        let is_property = |role: &Role| matches!(role, Role::Property(_) | Role::Key);
        EdgeTable {
            table: table.name().to_owned(),
            source_column: name_of(Role::Source).unwrap_or_default(),
            target_column: name_of(Role::Target).unwrap_or_default(),
            relation_column: name_of(Role::Relation),
            directed_column: name_of(Role::Directed),
            properties: super::property_columns(table, is_property),
            filtered: super::filtered(table, is_property),
            source_table: ty.source,
            target_table: ty.target,
            relation: ty.relation.fixed().map(Arc::from),
            may_be_undirected: may_be_undirected(ty.direction),
            is_undirected: ty.direction == isomorph::model::Direction::Undirected,
            edges: Vec::new(),
            relations: HashMap::new(),
            whole: None,
            columns: HashMap::new(),
            from: HashMap::new(),
            to: HashMap::new(),
            between: HashMap::new(),
            single: HashMap::new(),
        }
    }

    pub(super) fn table_name(&self) -> &str {
        &self.table
    }

    /// The node tables of source and target.
    pub(super) fn node_tables(&self) -> (usize, usize) {
        (self.source_table, self.target_table)
    }

    pub(super) fn may_be_undirected(&self) -> bool {
        self.may_be_undirected
    }

    /// The relation, if it is that of all edges.
    pub(super) fn fixed_relation(&self) -> Option<&str> {
        self.relation.as_deref()
    }

    pub(super) fn relation_column(&self) -> Option<&str> {
        self.relation_column.as_deref().filter(|_| self.relation.is_none())
    }

    pub(super) fn directed_column(&self) -> Option<&str> {
        self.directed_column.as_deref()
    }

    /// The columns with the keys of source and target.
    pub(super) fn end_columns(&self) -> (&str, &str) {
        (&self.source_column, &self.target_column)
    }

    /// The columns that a filter may name.
    pub(super) fn filtered(&self) -> Columns {
        self.filtered.clone()
    }

    /// What is read of edges one after another.
    pub(super) fn element(&self, names: &[&Arc<str>]) -> Element {
        let mut element = Element { type_name: self.relation.clone(), ..Element::default() };
        element.add_properties(names, &self.properties);
        element
    }

    /// Whether edges can have one of the types.
    pub(crate) fn may_have(&self, types: &[Arc<str>]) -> bool {
        types.is_empty() || self.relation.as_ref().is_none_or(|own| types.contains(own))
    }

    /// The ends at which edges of a direction hold a node, with the node table of that end.
    pub(crate) fn sides(&self, direction: Direction) -> Vec<(Side, usize)> {
        let (source, target) = ((Side::Source, self.source_table), (Side::Target, self.target_table));
        match direction {
            _ if self.may_be_undirected => vec![source, target],
            Direction::Out => vec![source],
            Direction::In => vec![target],
            Direction::Both => vec![source, target],
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.whole.is_some()
    }

    /// Edges that were read.
    pub(super) fn count(&self) -> usize {
        self.edges.len()
    }

    pub(super) fn is_unread(&self) -> bool {
        self.whole.is_none() && self.edges.is_empty() && self.from.is_empty() && self.to.is_empty()
    }

    /// Whether a look-up for a direction would read the whole table.
    pub(crate) fn passes(&self, direction: Direction, scans: &Scans<'_>) -> Result<bool> {
        if !self.is_unread() {
            return Ok(false);
        }
        for (side, _) in self.sides(direction) {
            let column = if side == Side::Source { &self.source_column } else { &self.target_column };
            if scans.dataset.look_up_cost(&self.table, column)?.way == Way::Pass {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn ends_columns(&self) -> Vec<String> {
        let names = [&self.source_column, &self.target_column].into_iter();
        names.chain(&self.relation_column).chain(&self.directed_column).cloned().collect()
    }

    /// Reads the edges of nodes at one end.
    pub(crate) fn read(
        &mut self,
        side: Side,
        ends: &[Node],
        whole: bool,
        nodes: &[RefCell<NodeTable>],
        scans: &Scans<'_>,
    ) -> Result<()> {
        if self.whole.is_some() {
            return Ok(());
        }
        let known = if side == Side::Source { &self.from } else { &self.to };
        let mut seen = HashSet::new();
        let new: Vec<Node> =
            ends.iter().copied().filter(|node| !known.contains_key(node) && seen.insert(*node)).collect();
        if new.is_empty() {
            return Ok(());
        }
        if whole && self.is_unread() {
            return self.read_whole(nodes, scans);
        }
        self.look_up(side, &new, nodes, scans)
    }

    /// Reads all edges.
    pub(super) fn read_whole(&mut self, nodes: &[RefCell<NodeTable>], scans: &Scans<'_>) -> Result<()> {
        if self.is_whole() {
            return Ok(());
        }
        let mut edges = Vec::new();
        let scan = scans.dataset.scan(&self.table)?.columns(self.ends_columns()).cancel(scans.cancel.clone());
        for batch in scan.batches()? {
            let batch = batch?;
            scans.grow(48 * batch.num_rows() as u64)?;
            for row in 0..batch.num_rows() {
                edges.push(self.edge(&batch, 0, row, nodes, scans)?);
            }
        }
        // Only now: after an error, nothing was read.
        self.edges = edges;
        let count = u32::try_from(self.edges.len())
            .map_err(|_| Error::new(Kind::TooLarge, format!("{} has more than 4,294,967,295 edges", self.table)))?;
        let sorted = |end: fn(&Edge) -> Node| {
            let mut order: Vec<u32> = (0..count).collect();
            order.sort_by_key(|at| self.edges.get(*at as usize).map(end));
            order
        };
        self.whole = Some((sorted(|edge| edge.source), sorted(|edge| edge.target)));
        Ok(())
    }

    /// The edge of a row of a batch whose columns from `first` on are [`EdgeTable::ends_columns`].
    fn edge(
        &mut self,
        batch: &RecordBatch,
        first: usize,
        row: usize,
        nodes: &[RefCell<NodeTable>],
        scans: &Scans<'_>,
    ) -> Result<Edge> {
        let end = |table: usize, key: Key| -> Result<Node> {
            let cell = nodes.get(table).ok_or_else(super::unknown)?;
            Ok(Node(number(table, cell.borrow_mut().add(key, scans)?)))
        };
        let source = end(self.source_table, cells::key(cells::of(batch, first)?, row)?)?;
        let target = end(self.target_table, cells::key(cells::of(batch, first + 1)?, row)?)?;
        let mut at = first + 2;
        let relation = match &self.relation {
            Some(relation) => Arc::clone(relation),
            None => {
                let text = match self.relation_column.is_some() {
                    true => {
                        at += 1;
                        cells::key(cells::of(batch, at - 1)?, row)?.text()
                    }
                    false => String::new(),
                };
                let made = || Arc::from(text.as_str());
                Arc::clone(self.relations.entry(text.clone()).or_insert_with(made))
            }
        };
        let is_directed = match self.directed_column.is_some() {
            true => {
                let column = cells::of(batch, at)?;
                let column = column.as_any().downcast_ref::<arrow_array::BooleanArray>();
                column.is_none_or(|column| column.is_null(row) || column.value(row))
            }
            false => !self.is_undirected,
        };
        Ok(Edge { source, target, is_directed, relation })
    }

    fn look_up(&mut self, side: Side, ends: &[Node], nodes: &[RefCell<NodeTable>], scans: &Scans<'_>) -> Result<()> {
        let (table, role) = match side {
            Side::Source => (self.source_table, self.source_column.clone()),
            Side::Target => (self.target_table, self.target_column.clone()),
        };
        let mut keys = Vec::with_capacity(ends.len());
        {
            let nodes = nodes.get(table).ok_or_else(super::unknown)?.borrow();
            for end in ends {
                keys.push(nodes.key(parts(end.0).1).cloned().ok_or_else(super::unknown)?);
            }
        }
        let mut names = self.ends_columns();
        let first_property = names.len() + 1;
        names.extend(self.properties.iter().map(|(name, _)| name.clone()));
        let scan =
            scans.dataset.scan(&self.table)?.columns(names).look_up(role, column(&keys)).cancel(scans.cancel.clone());
        let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        // How many edges between two nodes this look-up has met.
        let mut met: HashMap<(Node, Node), usize> = HashMap::new();
        for batch in scan.batches()? {
            let batch = batch?;
            let schema = batch.schema();
            for row in 0..batch.num_rows() {
                let edge = self.edge(&batch, 1, row, nodes, scans)?;
                let pair = (edge.source, edge.target);
                let nth = met.entry(pair).or_insert(0);
                *nth += 1;
                let known = self.between.get(&pair).and_then(|list| list.get(*nth - 1)).copied();
                let position = match known {
                    Some(position) => position,
                    None => {
                        let position = self.edges.len();
                        let mut values = HashMap::new();
                        let mut bytes = 160;
                        for at in first_property..batch.num_columns() {
                            let field = schema.field(at);
                            let value = Kept::of(cells::value(cells::of(&batch, at)?, row, field))?;
                            bytes += 48 + value.bytes();
                            values.insert(field.name().clone(), value);
                        }
                        scans.grow(bytes)?;
                        self.edges.push(edge);
                        self.single.insert(position, values);
                        self.between.entry(pair).or_default().push(position);
                        position
                    }
                };
                found.entry(question(&batch, row)?).or_default().push(position);
            }
        }
        let lists = if side == Side::Source { &mut self.from } else { &mut self.to };
        for (at, end) in ends.iter().enumerate() {
            lists.insert(*end, found.remove(&at).unwrap_or_default());
        }
        Ok(())
    }

    /// The positions of edges with a node at one end.
    fn at(&self, side: Side, node: Node) -> Vec<usize> {
        if let Some((by_source, by_target)) = &self.whole {
            let (order, end): (_, fn(&Edge) -> Node) = match side {
                Side::Source => (by_source, |edge| edge.source),
                Side::Target => (by_target, |edge| edge.target),
            };
            let of = |at: &u32| self.edges.get(*at as usize).map(end);
            let first = order.partition_point(|at| of(at) < Some(node));
            let own = order.get(first..).unwrap_or_default().iter().take_while(|at| of(at) == Some(node));
            return own.map(|at| *at as usize).collect();
        }
        let lists = if side == Side::Source { &self.from } else { &self.to };
        lists.get(&node).cloned().unwrap_or_default()
    }

    /// Adds the relationships of a node, which were read before.
    pub(crate) fn incident(
        &self,
        own: usize,
        node: Node,
        of: usize,
        direction: Direction,
        types: &[Arc<str>],
        found: &mut Vec<(Relationship, Node)>,
    ) {
        for (side, table) in self.sides(direction) {
            if table != of {
                continue;
            }
            for position in self.at(side, node) {
                let Some(edge) = self.edges.get(position) else { continue };
                let fits = match (direction, side) {
                    _ if !edge.is_directed => true,
                    (Direction::Both, _) | (Direction::Out, Side::Source) | (Direction::In, Side::Target) => true,
                    _ => false,
                };
                // A loop is found at both ends; it counts once, if both ends are searched at all.
                let is_second = side == Side::Target
                    && edge.source == edge.target
                    && (direction == Direction::Both || !edge.is_directed);
                if !fits || is_second || (!types.is_empty() && !types.contains(&edge.relation)) {
                    continue;
                }
                let one = Relationship { id: number(own, position), source: edge.source, target: edge.target };
                found.push((one, if side == Side::Source { edge.target } else { edge.source }));
            }
        }
    }

    /// Columns of properties, the key included, with whether their cells hold several.
    pub(super) fn declared(&self) -> &[(String, bool)] {
        &self.properties
    }

    pub(crate) fn is_directed(&self, position: usize) -> bool {
        self.edges.get(position).is_none_or(|edge| edge.is_directed)
    }

    pub(crate) fn relation(&self, position: usize) -> Arc<str> {
        self.edges.get(position).map_or_else(|| Arc::from(""), |edge| Arc::clone(&edge.relation))
    }

    fn cell(&mut self, position: usize, name: &str, scans: &Scans<'_>) -> Result<Value> {
        if let Some(values) = self.single.get(&position) {
            return Kept::find(values, name);
        }
        if !self.columns.contains_key(name) {
            // Rows come in the order in which their ends were read.
            let scan = scans.dataset.scan(&self.table)?.columns([name]).cancel(scans.cancel.clone());
            let mut values = Vec::with_capacity(self.edges.len());
            for batch in scan.batches()? {
                let batch = batch?;
                let (column, schema) = (cells::of(&batch, 0)?, batch.schema());
                let mut bytes = 0;
                for row in 0..batch.num_rows() {
                    let value = cells::value(column, row, schema.field(0))?;
                    bytes += value.bytes();
                    values.push(value);
                }
                scans.grow(bytes)?;
            }
            if values.len() != self.edges.len() {
                return Err(Error::new(Kind::Conflict, format!("{} changed while it was read", self.table)));
            }
            self.columns.insert(name.to_owned(), values);
        }
        Ok(self.columns.get(name).and_then(|values| values.get(position)).cloned().unwrap_or_default())
    }

    pub(crate) fn property(&mut self, position: usize, name: &str, scans: &Scans<'_>) -> Result<Value> {
        if self.properties.iter().any(|(own, is_bag)| own == name && !is_bag) {
            return self.cell(position, name, scans);
        }
        let bags: Vec<String> =
            self.properties.iter().filter(|(_, is_bag)| *is_bag).map(|(own, _)| own.clone()).collect();
        super::in_bags(name, bags.iter().map(|bag| self.cell(position, bag, scans)))
    }

    pub(crate) fn properties(&mut self, position: usize, scans: &Scans<'_>) -> Result<Map> {
        let mut map = Map::new();
        for (name, is_bag) in self.properties.clone() {
            super::add_property(&mut map, &name, is_bag, self.cell(position, &name, scans)?);
        }
        Ok(map)
    }
}
