//! A bundled source shown as its typed graph.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Int64Builder, ListBuilder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, StringArray, UInt32Array};
use arrow_schema::{DataType, Field};
use arrow_select::take::take;
use isomorph_error::{Error, Kind, Place, Result, Rule, Severity};
use isomorph_model::json::Members;
use isomorph_model::type_name::ITEM;
use isomorph_model::{
    About, Batch, Columns, Direction, EdgeBatch, EndForm, Ends, Graph, Key, KeyKind, LabelColumn, LabelVocabulary,
    NodeBatch, NodeId, Part, Progress, Property, Request, Side, Source, Tables, ValueKind, json,
};

use super::json_in::JsonColumn;
use super::{Bundling, Slot};

/// Data that its carry no longer describes.
pub static CARRY_FITS: Rule = Rule {
    id: "CARRY-FITS",
    severity: Severity::Error,
    says: "every name, relation and value fits the types that travel beside the data",
    remedy: "--carry ignore    read the data as what it is",
};

/// Shows one table of nodes and one of edges as a typed source.
pub struct Shredded {
    inner: Arc<dyn Source>,
    bundling: Bundling,
    bases: Vec<u64>,
    /// For each relation, the edge types that have it.
    relations: HashMap<String, Vec<usize>>,
    /// The edge type of all other relations, if there is one.
    any_relation: Vec<usize>,
}

impl Shredded {
    /// Shows `inner` as `bundling.typed`.
    ///
    /// # Errors
    /// When the source is no bundled graph.
    pub fn new(inner: Arc<dyn Source>, bundling: &Bundling) -> Result<Self> {
        if inner.graph().nodes.len() != 1 || inner.graph().edges.len() != 1 {
            return Err(Error::usage("the mapping is of another graph"));
        }
        let mut bundling = bundling.clone();
        let mut bases = Vec::new();
        let mut next = 0u64;
        for ty in &bundling.typed.nodes {
            bases.push(next);
            next = next.saturating_add(ty.rows.unwrap_or_default());
        }
        let mut relations: HashMap<String, Vec<usize>> = HashMap::new();
        let mut any_relation = Vec::new();
        for (ty, slots) in bundling.edges.iter().enumerate() {
            match slots.properties.contains(&Slot::Relation) {
                true => any_relation.push(ty),
                false => relations.entry(slots.relation.clone()).or_default().push(ty),
            }
        }
        // The inner columns stand where the source has them, not where the record says.
        bundling.bundled = inner.graph().clone();
        Ok(Shredded { inner, bundling, bases, relations, any_relation })
    }

    /// The type of a name: the one whose prefix it has.
    fn type_of(&self, name: &str) -> Option<usize> {
        match self.bundling.nodes.as_slice() {
            [only] => name.starts_with(&only.prefix).then_some(0),
            many => {
                let prefix = name.find('/').and_then(|slash| name.get(..=slash))?;
                many.iter().position(|slots| slots.prefix == prefix)
            }
        }
    }

    fn stranger(&self, name: &str) -> Error {
        Error::broken(&CARRY_FITS, format!("{name:?} belongs to none of the node types"))
    }

    /// The bundled name of a node of type `ty`, or its row there.
    fn bundled_id(&self, ty: usize, node: NodeId<'_>) -> Result<BundledId> {
        let (Some(slots), Some(typed)) = (self.bundling.nodes.get(ty), self.bundling.typed.nodes.get(ty)) else {
            return Err(Error::usage("no such node type"));
        };
        match node {
            NodeId::Key(key) => Ok(BundledId::Name(format!("{}{key}", slots.prefix))),
            NodeId::Row(row) if typed.key.kind == KeyKind::Row => Ok(BundledId::Name(format!("{}{row}", slots.prefix))),
            NodeId::Row(row) if typed.rows.is_some_and(|rows| row >= rows) => {
                Err(Error::new(Kind::NotFound, format!("there is no row {row} of {}", typed.name)))
            }
            NodeId::Row(row) => Ok(BundledId::Row(self.bases.get(ty).copied().unwrap_or_default().saturating_add(row))),
        }
    }

    /// Nodes of all types, or of one.
    fn nodes(
        &self,
        batch: &NodeBatch,
        only: Option<usize>,
        take_batch: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<()> {
        let names = batch.keys.as_ref().and_then(|keys| keys.as_string_opt::<i32>());
        let names = names.ok_or_else(|| Error::unsupported("bundled nodes without text names"))?;
        let mut row = 0;
        while row < batch.rows {
            let ty = self.type_of(names.value(row)).ok_or_else(|| self.stranger(names.value(row)))?;
            let mut end = row + 1;
            if let Some(slots) = self.bundling.nodes.get(ty) {
                let same = |name: &str| self.bundling.nodes.len() == 1 || name.starts_with(&slots.prefix);
                while end < batch.rows && same(names.value(end)) {
                    end += 1;
                }
            }
            if only.is_none_or(|only| only == ty) {
                take_batch(Batch::Nodes(self.run_of_nodes(batch, names, ty, row, end)?))?;
            }
            row = end;
        }
        Ok(())
    }

    fn run_of_nodes(
        &self,
        batch: &NodeBatch,
        names: &StringArray,
        ty: usize,
        from: usize,
        to: usize,
    ) -> Result<NodeBatch> {
        let (Some(slots), Some(node_type)) = (self.bundling.nodes.get(ty), self.bundling.typed.nodes.get(ty)) else {
            return Err(Error::usage("no such node type"));
        };
        let rows = to - from;
        let names = names.slice(from, rows);
        let base = self.bases.get(ty).copied().unwrap_or_default();
        let mut start = (batch.start + from as u64).saturating_sub(base);
        let keys = keys(&slots.prefix, &node_type.key, &names)?;
        let keys = match (&keys, node_type.key.kind) {
            (Ends::Rows(numbers), KeyKind::Row) => {
                start = numbers.values().first().copied().unwrap_or(start);
                if numbers.values().iter().zip(start..).any(|(number, row)| *number != row) {
                    return Err(Error::broken(&CARRY_FITS, "numbered nodes are out of order"));
                }
                None
            }
            (Ends::Keys(keys), _) => Some(Arc::clone(keys)),
            (Ends::Rows(_), _) => None,
        };
        let columns = isomorph_model::batch::slice_columns(&batch.properties, from, rows);
        let inner = self.bundling.bundled.nodes.first().map(|ty| ty.properties.as_slice()).unwrap_or_default();
        let of_slot = batch.labels.as_ref().filter(|_| slots.properties.contains(&Slot::Labels));
        let of_slot = of_slot.map(|labels| label_lists(&labels.slice(from, rows)));
        let (properties, _) =
            columns_of(inner, &columns, &node_type.properties, &slots.properties, None, of_slot, rows)?;
        let labels = match node_type.labels {
            LabelVocabulary::None => None,
            _ => batch.labels.as_ref().map(|labels| self.labels(ty, &labels.slice(from, rows))),
        };
        Ok(NodeBatch { ty, start, rows, keys, labels, properties })
    }

    fn labels(&self, ty: usize, labels: &LabelColumn) -> LabelColumn {
        let Some(slots) = self.bundling.nodes.get(ty) else { return labels.clone() };
        labels.map_sets(|names| {
            let kept = names.into_iter().filter(|name| slots.label.as_deref() != Some(*name));
            kept.map(|name| {
                let renamed = slots.labels.iter().find(|(_, bundled)| bundled == name);
                renamed.map_or_else(|| name.to_owned(), |(typed, _)| typed.clone())
            })
            .collect()
        })
    }

    /// Edges of all types, or of one.
    fn edges(
        &self,
        batch: &EdgeBatch,
        only: Option<usize>,
        take_batch: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<()> {
        let Some(relations) = &batch.relations else {
            return Err(Error::unsupported("bundled edges without relations"));
        };
        let (sources, targets) = (self.names_of(&batch.source)?, self.names_of(&batch.target)?);
        let type_of =
            |names: Option<&StringArray>, row: usize| names.map_or(Some(0), |names| self.type_of(names.value(row)));
        let candidates: Vec<&[usize]> = relations
            .names
            .iter()
            .map(|name| self.relations.get(name.unwrap_or_default()).unwrap_or(&self.any_relation).as_slice())
            .collect();
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); self.bundling.edges.len()];
        for row in 0..batch.rows {
            let relation = relations.index.value(row) as usize;
            let ty = match candidates.get(relation).copied().unwrap_or_default() {
                [only] => *only,
                many => {
                    let ends = (type_of(sources, row), type_of(targets, row));
                    let fits = |ty: &&usize| {
                        let typed = self.bundling.typed.edges.get(**ty);
                        typed.is_some_and(|typed| ends == (Some(typed.source), Some(typed.target)))
                    };
                    *many.iter().find(fits).ok_or_else(|| {
                        let name = relations.names.value(relation);
                        Error::broken(&CARRY_FITS, format!("relation {name:?} belongs to none of the edge types"))
                    })?
                }
            };
            if let Some(rows) = rows.get_mut(ty) {
                rows.push(row as u32);
            }
        }
        for (ty, rows) in rows.into_iter().enumerate() {
            if rows.is_empty() || only.is_some_and(|only| only != ty) {
                continue;
            }
            take_batch(Batch::Edges(self.edges_of(batch, ty, rows)?))?;
        }
        Ok(())
    }

    /// Ends as names; nothing where they are rows, which only the rows of the one node type can be.
    fn names_of<'a>(&self, ends: &'a Ends) -> Result<Option<&'a StringArray>> {
        match ends {
            Ends::Rows(_) if self.bundling.nodes.len() == 1 => Ok(None),
            Ends::Rows(_) => Err(Error::unsupported("bundled edges without names")),
            Ends::Keys(keys) => match keys.as_string_opt::<i32>() {
                Some(names) => Ok(Some(names)),
                None => Err(Error::unsupported("bundled edges without text names")),
            },
        }
    }

    fn edges_of(&self, batch: &EdgeBatch, ty: usize, rows: Vec<u32>) -> Result<EdgeBatch> {
        let (Some(slots), Some(edge_type)) = (self.bundling.edges.get(ty), self.bundling.typed.edges.get(ty)) else {
            return Err(Error::usage("no such edge type"));
        };
        let count = rows.len();
        let picked = (count < batch.rows).then(|| UInt32Array::from(rows));
        let pick = |array: &dyn Array| -> Result<ArrayRef> {
            match &picked {
                Some(rows) => take(array, rows, None).map_err(|error| Error::malformed(error.to_string())),
                None => Ok(array.slice(0, array.len())),
            }
        };
        let end = |ends: &Ends, node: usize| -> Result<Ends> {
            let names = match ends {
                Ends::Rows(rows) => return Ok(Ends::Rows(pick(rows)?.as_primitive::<UInt64Type>().clone())),
                Ends::Keys(names) => names,
            };
            let (Some(slots), Some(node_type)) = (self.bundling.nodes.get(node), self.bundling.typed.nodes.get(node))
            else {
                return Err(Error::usage("no such node type"));
            };
            keys(&slots.prefix, &node_type.key, pick(names)?.as_string::<i32>())
        };
        let columns: Columns = batch
            .properties
            .iter()
            .map(|column| column.as_ref().map(|column| pick(column.as_ref())).transpose())
            .collect::<Result<_>>()?;
        let inner = self.bundling.bundled.edges.first().map(|ty| ty.properties.as_slice()).unwrap_or_default();
        let marker = slots.directed.as_deref().filter(|_| edge_type.direction != Direction::Directed);
        let of_slot = batch.relations.as_ref().filter(|_| slots.properties.contains(&Slot::Relation));
        let of_slot = of_slot.map(|relations| {
            let index = pick(&relations.index)?;
            let names: StringArray = relations.names.iter().map(|name| Some(name.unwrap_or_default())).collect();
            take(&names, &index, None).map_err(|error| Error::malformed(error.to_string()))
        });
        let of_slot = of_slot.transpose()?;
        let (properties, directed) =
            columns_of(inner, &columns, &edge_type.properties, &slots.properties, marker, of_slot, count)?;
        Ok(EdgeBatch {
            ty,
            rows: count,
            relations: None,
            source: end(&batch.source, edge_type.source)?,
            target: end(&batch.target, edge_type.target)?,
            layers: None,
            directed: directed.filter(|_| edge_type.direction == Direction::PerRow),
            keys: None,
            properties,
        })
    }
}

/// A node of the one table.
enum BundledId {
    Name(String),
    Row(u64),
}

/// Keys of names: without the prefix, in the key's own type; rows where the type has no key.
pub(super) fn keys(prefix: &str, key: &Key, names: &StringArray) -> Result<Ends> {
    let strip = |name: &str| -> Result<usize> {
        name.starts_with(prefix)
            .then_some(prefix.len())
            .ok_or_else(|| Error::broken(&CARRY_FITS, format!("{name:?} does not begin with {prefix:?}")))
    };
    let number = |name: &str| -> Result<i128> {
        let text = name.get(strip(name)?..).unwrap_or_default();
        let number = text.parse::<i64>().map(i128::from).or_else(|_| text.parse::<u64>().map(i128::from));
        number.map_err(|_| Error::broken(&CARRY_FITS, format!("{name:?} holds no number")))
    };
    let range = || Error::broken(&CARRY_FITS, "a key is out of its type's range");
    let array: ArrayRef = match (key.kind, &key.data_type) {
        (KeyKind::Row, _) => {
            let mut rows = UInt64Builder::with_capacity(names.len());
            for name in names.iter().flatten() {
                rows.append_value(u64::try_from(number(name)?).map_err(|_| range())?);
            }
            return Ok(Ends::Rows(rows.finish()));
        }
        (KeyKind::Int, DataType::UInt64) => {
            let mut keys = UInt64Builder::with_capacity(names.len());
            for name in names.iter().flatten() {
                keys.append_value(u64::try_from(number(name)?).map_err(|_| range())?);
            }
            Arc::new(keys.finish())
        }
        (KeyKind::Int, data_type) => {
            let mut keys = Int64Builder::with_capacity(names.len());
            for name in names.iter().flatten() {
                keys.append_value(i64::try_from(number(name)?).map_err(|_| range())?);
            }
            let options = arrow_cast::CastOptions { safe: false, ..Default::default() };
            arrow_cast::cast_with_options(&keys.finish(), data_type, &options).map_err(|_| range())?
        }
        _ if prefix.is_empty() => Arc::new(names.clone()),
        _ => {
            let mut keys = StringBuilder::with_capacity(names.len(), names.values().len());
            for name in names.iter().flatten() {
                keys.append_value(name.get(strip(name)?..).unwrap_or_default());
            }
            Arc::new(keys.finish())
        }
    };
    Ok(Ends::Keys(array))
}

/// Labels as a column of lists; no labels are null.
pub(super) fn label_lists(labels: &LabelColumn) -> ArrayRef {
    let item = Field::new(ITEM, DataType::Utf8, true);
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(item);
    for row in 0..labels.len() {
        let mut any = false;
        for label in labels.row(row) {
            builder.values().append_value(label);
            any = true;
        }
        builder.append(any);
    }
    Arc::new(builder.finish())
}

/// The typed columns of a run of rows; and, where `marker` names a member, whether each row is directed. `of_slot` are
/// the labels or relations of the rows, where they are a property.
fn columns_of(
    inner: &[Property],
    cells: &Columns,
    typed: &[Property],
    slots: &[Slot],
    marker: Option<&str>,
    of_slot: Option<ArrayRef>,
    rows: usize,
) -> Result<(Columns, Option<arrow_array::BooleanArray>)> {
    let bag = inner.iter().position(|property| property.kind == ValueKind::Bag);
    let bag = bag.and_then(|at| cells.get(at)?.as_ref()).and_then(|column| column.as_string_opt::<i32>());
    let mut shredder = Shredder::new(typed, slots, marker)?;
    if let Some(bag) = bag {
        shredder.read(bag)?;
    }
    let mut shredded = shredder.columns.into_iter();
    let mut rest = shredder.rest;
    let columns = typed
        .iter()
        .zip(slots)
        .map(|(property, slot)| match slot {
            Slot::Column(at) => match cells.get(*at).cloned().flatten() {
                Some(column) if *column.data_type() != property.data_type => {
                    let cast = arrow_cast::cast(&column, &property.data_type);
                    cast.map(Some).map_err(|error| Error::malformed(error.to_string()))
                }
                column => Ok(column),
            },
            Slot::Member(_) => match shredded.next() {
                Some(column) if bag.is_some() => column.finish().map(Some),
                _ => Ok(None),
            },
            Slot::Labels | Slot::Relation => Ok(of_slot.clone()),
            Slot::Rest => Ok(rest.take().filter(|_| bag.is_some()).map(|mut rest| Arc::new(rest.finish()) as ArrayRef)),
        })
        .collect::<Result<Columns>>()?;
    debug_assert!(columns.iter().flatten().all(|column| column.len() == rows));
    // Without a bag nothing is said, and every edge is directed.
    let directed = shredder.directed.filter(|_| bag.is_some());
    Ok((columns, directed.map(|mut directed| directed.finish())))
}

/// Sorts the members of bags into columns.
struct Shredder<'a> {
    /// Member names in the order of `columns`.
    names: Vec<&'a str>,
    by_name: HashMap<&'a str, usize>,
    columns: Vec<JsonColumn>,
    rest: Option<StringBuilder>,
    marker: Option<&'a str>,
    directed: Option<BooleanBuilder>,
}

impl<'a> Shredder<'a> {
    fn new(typed: &[Property], slots: &'a [Slot], marker: Option<&'a str>) -> Result<Self> {
        let mut shredder = Shredder {
            names: Vec::new(),
            by_name: HashMap::new(),
            columns: Vec::new(),
            rest: None,
            marker,
            directed: marker.map(|_| BooleanBuilder::new()),
        };
        for (property, slot) in typed.iter().zip(slots) {
            match slot {
                Slot::Member(name) => {
                    shredder.by_name.insert(name, shredder.columns.len());
                    shredder.names.push(name);
                    shredder.columns.push(JsonColumn::new(property)?);
                }
                Slot::Rest => shredder.rest = Some(StringBuilder::new()),
                Slot::Column(_) | Slot::Labels | Slot::Relation => {}
            }
        }
        Ok(shredder)
    }

    fn read(&mut self, bags: &StringArray) -> Result<()> {
        let mut members = Members::default();
        let mut rest_text = String::new();
        for row in 0..bags.len() {
            let text = if bags.is_null(row) { "" } else { bags.value(row) };
            let mut expected = 0;
            let mut is_directed = true;
            rest_text.clear();
            members
                .read(text, |name, value| {
                    if self.marker == Some(name) {
                        is_directed = value != "false";
                        return Ok(());
                    }
                    // Members mostly come in the order of the columns: look there first.
                    let at = match self.names.get(expected) {
                        Some(next) if *next == name => Some(expected),
                        _ => self.by_name.get(name).copied(),
                    };
                    if let Some((at, column)) = at.and_then(|at| Some((at, self.columns.get_mut(at)?))) {
                        expected = at + 1;
                        return column.push(value).map_err(|error| error.at(Place::field(name)));
                    }
                    if self.rest.is_some() {
                        rest_text.push(if rest_text.is_empty() { '{' } else { ',' });
                        json::push_string(&mut rest_text, name);
                        rest_text.push(':');
                        rest_text.push_str(value);
                        return Ok(());
                    }
                    Err(Error::broken(&CARRY_FITS, format!("member {name:?} is no property of its type")))
                })
                .map_err(|error| error.at(Place::default().row(row as u64)))?;
            for column in &mut self.columns {
                if column.len() <= row {
                    column.push_null();
                }
            }
            if let Some(directed) = &mut self.directed {
                directed.append_value(is_directed);
            }
            if let Some(rest) = &mut self.rest {
                if rest_text.is_empty() {
                    rest.append_null();
                } else {
                    rest_text.push('}');
                    rest.append_value(&rest_text);
                }
            }
        }
        Ok(())
    }
}

struct ShreddedPart<'a> {
    shredded: &'a Shredded,
    only: Option<usize>,
    inner: Box<dyn Part + 'a>,
}

impl Part for ShreddedPart<'_> {
    fn read(&self, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        self.inner.read(&mut |batch| match batch {
            Batch::Nodes(nodes) => self.shredded.nodes(&nodes, self.only, take),
            Batch::Edges(edges) => self.shredded.edges(&edges, self.only, take),
            _ => Err(Error::unsupported("only nodes and edges can be shredded")),
        })
    }

    fn rows(&self) -> Option<u64> {
        self.inner.rows()
    }
}

impl Source for Shredded {
    fn graph(&self) -> &Graph {
        &self.bundling.typed
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let (tables, only) = match request.tables {
            Tables::Nodes(ty) => (Tables::Nodes(0), Some(ty)),
            Tables::NodeKeys(ty) => (Tables::NodeKeys(0), Some(ty)),
            Tables::Edges(ty) => (Tables::Edges(0), Some(ty)),
            Tables::EdgeEnds(ty) => (Tables::EdgeEnds(0), Some(ty)),
            other => (other, None),
        };
        let parts = self.inner.scan(&Request { tables, ..*request })?;
        let shred = |inner| Box::new(ShreddedPart { shredded: self, only, inner }) as Box<dyn Part>;
        Ok(parts.into_iter().map(shred).collect())
    }

    fn end_form(&self, ty: usize) -> EndForm {
        // Types without a key are told by numbers: those are rows.
        let keyless = |node: usize| self.bundling.typed.nodes.get(node).is_some_and(|ty| ty.key.kind == KeyKind::Row);
        match self.bundling.typed.edges.get(ty) {
            Some(ty) if keyless(ty.source) && keyless(ty.target) => EndForm::Rows,
            _ if self.bundling.nodes.len() == 1 => self.inner.end_form(0),
            _ => EndForm::Keys,
        }
    }

    /// The edges of the node that the bundled table has, as far as they are of this type.
    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Vec<EdgeBatch>> {
        let ty = self.bundling.typed.edges.get(edge).ok_or_else(|| Error::usage("no such edge type"))?;
        let near = match side {
            Side::Out => ty.source,
            Side::In => ty.target,
        };
        let batches = match self.bundled_id(near, node)? {
            BundledId::Name(name) => self.inner.neighbors(0, NodeId::Key(&name), side)?,
            BundledId::Row(row) => self.inner.neighbors(0, NodeId::Row(row), side)?,
        };
        let mut found = Vec::new();
        for batch in &batches {
            self.edges(batch, Some(edge), &mut |batch| {
                found.extend(match batch {
                    Batch::Edges(edges) => Some(edges),
                    _ => None,
                });
                Ok(())
            })?;
        }
        Ok(found)
    }

    fn about(&self) -> About {
        let mut about = self.inner.about();
        // All types lie in the one table of edges.
        if let Some(layout) = about.edge_layouts.first().cloned() {
            about.edge_layouts = vec![layout; self.bundling.typed.edges.len()];
        }
        about
    }
}
