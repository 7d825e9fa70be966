//! The survey: one pass over a source without a schema, if the target must declare one.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use isomorph_model::json::{self, Members, Value};
use isomorph_model::{Batch, EdgeBatch, Graph, NodeBatch, Property, Request, Source, Tables, ValueKind, well_known};
use isomorph_storage::Resources;

use crate::options::Typing;
use crate::parallel::Pass;
use crate::progress::Progress;

/// The kinds of JSON values that a member has, and how often it occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds {
    /// Number of occurrences.
    pub count: u64,
    bits: u16,
}

impl Kinds {
    const INTEGER: u16 = 1;
    const FLOAT: u16 = 1 << 1;
    const TEXT: u16 = 1 << 2;
    const TRUE: u16 = 1 << 3;
    const INTEGERS: u16 = 1 << 4;
    const FLOATS: u16 = 1 << 5;
    const TEXTS: u16 = 1 << 6;
    const EMPTY_LIST: u16 = 1 << 7;
    const OTHER: u16 = 1 << 8;
    const FALSE: u16 = 1 << 9;
    const BOOL: u16 = Kinds::TRUE | Kinds::FALSE;

    fn see(&mut self, value: &Value<'_>) -> Result<()> {
        self.count += 1;
        self.bits |= match value {
            Value::Array(array) => {
                let mut items = 0;
                json::items(array, |item| {
                    items |= Kinds::scalar(&json::value(item)?);
                    Ok(())
                })?;
                match items {
                    0 => Kinds::EMPTY_LIST,
                    Kinds::INTEGER => Kinds::INTEGERS,
                    Kinds::FLOAT => Kinds::FLOATS,
                    Kinds::TEXT => Kinds::TEXTS,
                    _ => Kinds::OTHER,
                }
            }
            scalar => Kinds::scalar(scalar),
        };
        Ok(())
    }

    fn scalar(value: &Value<'_>) -> u16 {
        match value {
            Value::Integer(value) if i64::try_from(*value).is_ok() => Kinds::INTEGER,
            Value::Float(_) => Kinds::FLOAT,
            Value::Text(_) => Kinds::TEXT,
            Value::Bool(true) => Kinds::TRUE,
            Value::Bool(false) => Kinds::FALSE,
            _ => Kinds::OTHER,
        }
    }

    fn merge(&mut self, other: Kinds) {
        self.count += other.count;
        self.bits |= other.bits;
    }

    /// The column that holds all these values losslessly: typed if they have one type, otherwise JSON text.
    pub fn property(&self, name: &str) -> Property {
        let list = isomorph_model::type_name::list_of;
        let data_type = match self.bits & !Kinds::EMPTY_LIST {
            _ if self.bits == Kinds::INTEGER => DataType::Int64,
            _ if self.bits == Kinds::FLOAT => DataType::Float64,
            _ if self.bits == Kinds::TEXT => DataType::Utf8,
            _ if self.bits != 0 && self.bits & !Kinds::BOOL == 0 => DataType::Boolean,
            Kinds::INTEGERS => list(DataType::Int64),
            Kinds::FLOATS => list(DataType::Float64),
            Kinds::TEXTS => list(DataType::Utf8),
            _ => return Property::new(name, DataType::Utf8).of_kind(ValueKind::Json),
        };
        Property::new(name, data_type)
    }

    /// Whether all of `rows` rows have `false`.
    pub fn is_always_false(&self, rows: u64) -> bool {
        self.bits == Kinds::FALSE && self.count == rows
    }
}

/// What was found in rows of one kind.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Number of rows.
    pub rows: u64,
    /// Members of the bags, by name.
    pub members: BTreeMap<String, Kinds>,
    /// Whether the well-known column `truth` has a value other than 1.
    pub truth: bool,
    /// Whether the well-known column `is_rdf` is true in some row.
    pub rdf: bool,
    /// Whether it is not true in some row.
    pub other: bool,
    /// Further columns with a value in some row, by index.
    pub columns: BTreeSet<usize>,
}

/// The result of a survey.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// Of the nodes.
    pub nodes: Found,
    /// Of the edges of each relation.
    pub relations: BTreeMap<String, Found>,
    /// Of all edges, if there are more relations than the limit; `relations` is then empty.
    pub all_edges: Option<Found>,
    /// Labels in use.
    pub labels: BTreeSet<String>,
    /// Whether there are more labels than the limit; `labels` is then empty.
    pub many_labels: bool,
    typing: Typing,
}

impl Found {
    fn merge(&mut self, other: Found) {
        self.rows += other.rows;
        self.truth |= other.truth;
        self.rdf |= other.rdf;
        self.other |= other.other;
        self.columns.extend(other.columns);
        for (name, kinds) in other.members {
            self.members.entry(name).or_default().merge(kinds);
        }
    }
}

/// Examines the plain columns of rows; `sort` returns which of `found` a row belongs to.
fn each_cell(
    properties: &[Property],
    columns: &[Option<ArrayRef>],
    sort: impl Fn(usize) -> usize,
    found: &mut [Found],
) {
    for (at, (property, column)) in properties.iter().zip(columns).enumerate() {
        let Some(column) = column else { continue };
        if property.kind == ValueKind::Bag {
            continue;
        }
        for row in 0..column.len() {
            let Some(found) = found.get_mut(sort(row)) else { continue };
            match property.name.as_str() {
                well_known::TRUTH => found.truth |= !is_one(column, row),
                well_known::IS_RDF => {
                    let is_rdf = column.as_boolean_opt().is_some_and(|flags| !flags.is_null(row) && flags.value(row));
                    found.rdf |= is_rdf;
                    found.other |= !is_rdf;
                }
                _ if column.is_null(row) => {}
                _ => {
                    found.columns.insert(at);
                }
            }
        }
    }
}

fn is_one(column: &ArrayRef, row: usize) -> bool {
    let one = match column.data_type() {
        DataType::Float32 => column.as_primitive::<Float32Type>().value(row) == 1.0,
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row) == 1.0,
        _ => false,
    };
    one && !column.is_null(row)
}

impl Survey {
    /// Creates an empty survey.
    pub fn new(typing: Typing) -> Self {
        Survey { typing, ..Survey::default() }
    }

    /// Adds the result of another thread.
    pub fn merge(&mut self, other: Survey) {
        self.nodes.merge(other.nodes);
        self.labels.extend(other.labels);
        self.many_labels |= other.many_labels;
        if let Some(found) = other.all_edges {
            self.all_edges.get_or_insert_default().merge(found);
        }
        for (relation, found) in other.relations {
            self.relations.entry(relation).or_default().merge(found);
        }
        self.fold();
    }

    /// The results for edges, by relation or for all.
    pub fn edges(&self) -> impl Iterator<Item = &Found> {
        self.relations.values().chain(&self.all_edges)
    }

    /// Limits memory: a graph with very many relations or labels gets no type for each.
    fn fold(&mut self) {
        if self.all_edges.is_some() || self.relations.len() > self.typing.relations {
            let all = self.all_edges.get_or_insert_default();
            std::mem::take(&mut self.relations).into_values().for_each(|found| all.merge(found));
        }
        if self.many_labels || self.labels.len() > self.typing.labels {
            self.many_labels = true;
            self.labels.clear();
        }
    }

    /// Examines the rows of a batch of a bundled graph.
    ///
    /// # Errors
    /// If a bag is not a JSON object.
    pub fn see(&mut self, graph: &Graph, batch: &Batch) -> Result<()> {
        match batch {
            Batch::Nodes(batch) => self.see_nodes(graph, batch),
            Batch::Edges(batch) => self.see_edges(graph, batch),
            _ => Ok(()),
        }
    }

    fn see_nodes(&mut self, graph: &Graph, batch: &NodeBatch) -> Result<()> {
        let properties = graph.nodes.get(batch.ty).map(|ty| ty.properties.as_slice()).unwrap_or_default();
        if let Some(labels) = &batch.labels {
            let mut used = vec![false; labels.sets().len()];
            for &set in labels.rows() {
                if let Some(used) = used.get_mut(set as usize) {
                    *used = true;
                }
            }
            let sets = labels.sets().iter().zip(used).filter(|(_, used)| *used);
            for &label in sets.flat_map(|(set, _)| set) {
                if let Some(name) = labels.names().get(label as usize).filter(|name| !self.labels.contains(*name)) {
                    self.labels.insert(name.clone());
                }
            }
            self.fold();
        }
        self.nodes.rows += batch.rows as u64;
        let found = std::slice::from_mut(&mut self.nodes);
        each_cell(properties, &batch.properties, |_| 0, found);
        each_bag(properties, &batch.properties, |_| 0, found)
    }

    fn see_edges(&mut self, graph: &Graph, batch: &EdgeBatch) -> Result<()> {
        let ty = graph.edges.get(batch.ty).ok_or_else(|| Error::usage("no such edge type"))?;
        let names: Vec<&str> = match &batch.relations {
            Some(relations) => relations.names.iter().map(Option::unwrap_or_default).collect(),
            None => vec![ty.relation.fixed().unwrap_or_default()],
        };
        let relation = |row: usize| batch.relations.as_ref().map_or(0, |all| all.index.value(row) as usize);
        let mut found = vec![Found::default(); names.len()];
        for row in 0..batch.rows {
            if let Some(found) = found.get_mut(relation(row)) {
                found.rows += 1;
            }
        }
        each_cell(&ty.properties, &batch.properties, relation, &mut found);
        each_bag(&ty.properties, &batch.properties, relation, &mut found)?;
        for (name, found) in names.into_iter().zip(found).filter(|(_, found)| found.rows > 0) {
            self.relations.entry(name.to_owned()).or_default().merge(found);
        }
        self.fold();
        Ok(())
    }
}

/// Reads `source` once to survey it.
///
/// # Errors
/// Returns an error if it cannot be read, or a bag is no JSON object.
pub(crate) fn read(
    source: &dyn Source,
    typing: Typing,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Survey> {
    source.prepare(resources.threads, progress)?;
    let graph = source.graph();
    let parts = source.scan(&Request::of(Tables::All))?;
    let pass = Pass::new(parts, "survey", resources.threads, progress);
    let found = pass.fold(|| Survey::new(typing), |survey, _, batch| survey.see(graph, &batch))?;
    let mut survey = Survey::new(typing);
    found.into_iter().for_each(|found| survey.merge(found));
    Ok(survey)
}

/// Looks at every member of every bag; `sort` says which of `found` a row belongs to.
fn each_bag(
    properties: &[Property],
    columns: &[Option<ArrayRef>],
    sort: impl Fn(usize) -> usize,
    found: &mut [Found],
) -> Result<()> {
    let bag = properties.iter().position(|property| property.kind == ValueKind::Bag);
    let bag = bag.and_then(|at| columns.get(at)?.as_ref()).and_then(|column| column.as_string_opt::<i32>());
    let Some(bag) = bag else { return Ok(()) };
    let mut members = Members::default();
    for row in (0..bag.len()).filter(|&row| !bag.is_null(row)) {
        let Some(found) = found.get_mut(sort(row)) else { continue };
        members
            .read(bag.value(row), |name, value| {
                if !found.members.contains_key(name) {
                    found.members.insert(name.to_owned(), Kinds::default());
                }
                found.members.get_mut(name).map_or(Ok(()), |kinds| kinds.see(&json::value(value)?))
            })
            .map_err(|error| error.at(Place::default().row(row as u64)))?;
    }
    Ok(())
}
