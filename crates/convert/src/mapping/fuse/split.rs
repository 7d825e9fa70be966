//! One node type and one edge type shown as the typed graph that they were made from.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use arrow_select::take::take;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::batch::slice_columns;
use isomorph_model::{
    About, Batch, Columns, Direction, EdgeBatch, EndForm, Ends, Graph, KeyKind, LabelVocabulary, NodeBatch, NodeId,
    Part, Progress, Property, Request, Side, Source, Tables,
};

use super::Fusion;
use crate::mapping::CARRY_FITS;
use crate::mapping::anew::Places;
use crate::mapping::bundle::labels_of;
use crate::mapping::declare::cast;
use crate::mapping::shred::{in_order, keys};
use crate::mapping::view::{edges_shown, node_rows_of_one, one_table, within};
use crate::narrow::narrow;
use isomorph_model::part::shown;

/// Shows one node type and one edge type as the graph that they were made from.
pub struct Split {
    inner: Arc<dyn Source>,
    record: Fusion,
    bases: Vec<u64>,
    /// Where the nodes of each type lie, where that was looked up and is not told by the numbers of rows.
    places: Option<Places>,
    /// For each attribute of the record the column where the source has it.
    node_columns: Vec<Option<usize>>,
    edge_columns: Vec<Option<usize>>,
    /// For each relation, the edge types that have it.
    relations: HashMap<String, Vec<usize>>,
}

impl Split {
    /// Shows `inner` as `record.typed`. Nothing is read.
    ///
    /// # Errors
    /// [`CARRY_FITS`] when the source has hyperedges, or lacks attributes that the record names.
    pub fn new(inner: Arc<dyn Source>, record: &Fusion) -> Result<Self> {
        let found = inner.graph();
        let ([node], [edge]) = (found.nodes.as_slice(), found.edges.as_slice()) else {
            return Err(Error::usage("the mapping is of another graph"));
        };
        if let Some(other) = found.hyperedges.first() {
            return Err(Error::broken(&CARRY_FITS, format!("{} is no type that travels beside the data", other.name)));
        }
        let columns = |found: &[Property], wanted: Option<&[Property]>| -> Vec<Option<usize>> {
            let place = |property: &Property| found.iter().position(|other| other.name == property.name);
            wanted.unwrap_or_default().iter().map(place).collect()
        };
        let fused = &record.fused;
        let node_columns = columns(&node.properties, fused.nodes.first().map(|ty| ty.properties.as_slice()));
        let edge_columns = columns(&edge.properties, fused.edges.first().map(|ty| ty.properties.as_slice()));
        let missing = |at: Option<usize>, columns: &[Option<usize>]| {
            at.is_some_and(|at| columns.get(at).copied().flatten().is_none())
        };
        if missing(record.relation, &edge_columns) || missing(record.unweighted, &edge_columns) {
            return Err(Error::broken(&CARRY_FITS, "the attribute that tells the types of edges is gone"));
        }
        let mut record = record.clone();
        node_rows_of_one(&mut record.typed, node.rows);
        let (mut bases, mut next) = (Vec::new(), 0u64);
        for ty in &record.typed.nodes {
            bases.push(next);
            next = next.saturating_add(ty.rows.unwrap_or_default());
        }
        let mut relations: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, ty) in record.typed.edges.iter().enumerate() {
            relations.entry(ty.relation.fixed().unwrap_or_default().to_owned()).or_default().push(at);
        }
        Ok(Split { bases, places: None, node_columns, edge_columns, relations, record, inner })
    }

    /// The same with numbers of rows and places of nodes that are looked up in the keys, where there are several types.
    ///
    /// # Errors
    /// When keys cannot be read, or one is that of no type.
    pub fn placed(mut self, threads: usize) -> Result<Self> {
        if self.record.nodes.len() > 1 {
            let places = Places::of(self.inner.as_ref(), threads, |key| self.type_of(key))?;
            places.count(&mut self.record.typed.nodes);
            self.places = Some(places);
        }
        Ok(self)
    }

    /// Whether nodes of several types are known to alternate.
    pub(in crate::mapping) fn alternate(&self) -> bool {
        self.places.as_ref().is_some_and(Places::alternate)
    }

    /// The node type of a key: the one whose prefix it has.
    fn type_of(&self, key: &str) -> Result<usize> {
        let found = match self.record.nodes.as_slice() {
            [_] => Some(0),
            many => {
                let prefix = key.find('/').and_then(|slash| key.get(..=slash));
                prefix.and_then(|prefix| many.iter().position(|own| own.prefix == prefix))
            }
        };
        found.ok_or_else(|| Error::broken(&CARRY_FITS, format!("{key:?} belongs to none of the node types")))
    }

    /// Nodes of all types, or of one.
    fn nodes(&self, batch: &NodeBatch, only: Option<usize>, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let names = batch.keys.as_ref().and_then(|keys| keys.as_string_opt::<i32>());
        let names = names.ok_or_else(|| Error::unsupported("nodes without keys of text"))?;
        let mut row = 0;
        while row < batch.rows {
            let ty = self.type_of(names.value(row))?;
            let prefix = self.record.nodes.get(ty).map(|own| own.prefix.as_str()).unwrap_or_default();
            let more = (row + 1..batch.rows).find(|next| !names.value(*next).starts_with(prefix));
            let end = more.unwrap_or(batch.rows);
            if only.is_none_or(|only| only == ty) {
                give(Batch::Nodes(self.run_of_nodes(batch, names, ty, row..end)?))?;
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
        run: std::ops::Range<usize>,
    ) -> Result<NodeBatch> {
        let (Some(own), Some(typed)) = (self.record.nodes.get(ty), self.record.typed.nodes.get(ty)) else {
            return Err(Error::usage("no such node type"));
        };
        let (from, rows) = (run.start, run.len());
        let base = self.bases.get(ty).copied().unwrap_or_default();
        let at = batch.start + from as u64;
        let mut start = match &self.places {
            Some(places) => places.row(at).ok_or_else(|| Error::malformed("a node that was not there before"))?,
            None => at.saturating_sub(base),
        };
        let ids = match (keys(&own.prefix, &typed.key, &names.slice(from, rows))?, typed.key.kind) {
            (Ends::Rows(numbers), KeyKind::Row) => {
                // Where several types lie in one table and their places were not looked up, the numbers tell the rows.
                if self.places.is_none() && self.record.nodes.len() > 1 {
                    start = numbers.values().first().copied().unwrap_or(start);
                }
                in_order(numbers.values(), start)?;
                None
            }
            (Ends::Keys(ids), _) => Some(ids),
            (Ends::Rows(_), _) => None,
        };
        let columns = slice_columns(&batch.properties, from, rows);
        let lists = self.column(&columns, &self.node_columns, self.record.labels);
        let lists = lists.filter(|_| typed.labels != LabelVocabulary::None);
        Ok(NodeBatch {
            ty,
            start,
            numbers: None,
            rows,
            keys: ids,
            labels: lists.as_ref().map(labels_of).transpose()?,
            properties: self.properties(&columns, &self.node_columns, &own.properties, &typed.properties)?,
        })
    }

    /// The column of an attribute.
    fn column(&self, columns: &Columns, places: &[Option<usize>], attribute: Option<usize>) -> Option<ArrayRef> {
        columns.get(places.get(attribute?).copied().flatten()?)?.clone()
    }

    /// The properties of a type, as they are declared.
    fn properties(
        &self,
        columns: &Columns,
        places: &[Option<usize>],
        attributes: &[usize],
        declared: &[Property],
    ) -> Result<Columns> {
        let declared = declared.iter().zip(attributes);
        declared
            .map(|(property, at)| {
                let column = self.column(columns, places, Some(*at));
                column.map(|column| cast(&column, &property.data_type)).transpose()
            })
            .collect()
    }

    /// Edges of all types, or of one.
    fn edges(&self, batch: &EdgeBatch, only: Option<usize>, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let types = self.record.typed.edges.len();
        if types == 1 {
            return give(Batch::Edges(self.edges_of(batch, 0, None)?));
        }
        let relations = self.column(&batch.properties, &self.edge_columns, self.record.relation);
        let relations = relations.as_ref().and_then(|relations| relations.as_string_opt::<i32>());
        let stranger = |what: String| Error::broken(&CARRY_FITS, what);
        let relations = relations.ok_or_else(|| stranger("edges name no type".to_owned()))?;
        let (sources, targets) = (texts(&batch.source)?, texts(&batch.target)?);
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); types];
        let mut last: Option<(&str, &[usize])> = None;
        for row in 0..batch.rows {
            let relation = if relations.is_valid(row) { relations.value(row) } else { "" };
            let candidates = match last {
                Some((known, candidates)) if known == relation => candidates,
                _ => self.relations.get(relation).map(Vec::as_slice).unwrap_or_default(),
            };
            last = Some((relation, candidates));
            let found = match candidates {
                [only] => Some(*only),
                several => {
                    let ends = (self.type_of(sources.value(row))?, self.type_of(targets.value(row))?);
                    let joins = |at: &&usize| {
                        self.record.typed.edges.get(**at).is_some_and(|ty| (ty.source, ty.target) == ends)
                    };
                    several.iter().find(joins).copied()
                }
            };
            let found = found.and_then(|ty| rows.get_mut(ty));
            found.ok_or_else(|| stranger(format!("{relation:?} is the relation of no edge type")))?.push(narrow(row));
        }
        for (ty, rows) in rows.into_iter().enumerate() {
            if !rows.is_empty() && only.is_none_or(|only| only == ty) {
                let rows = (rows.len() < batch.rows).then(|| UInt32Array::from(rows));
                give(Batch::Edges(self.edges_of(batch, ty, rows.as_ref())?))?;
            }
        }
        Ok(())
    }

    /// The rows `picked` of a batch, or all, as edges of type `ty`.
    fn edges_of(&self, batch: &EdgeBatch, ty: usize, picked: Option<&UInt32Array>) -> Result<EdgeBatch> {
        let (Some(own), Some(typed)) = (self.record.edges.get(ty), self.record.typed.edges.get(ty)) else {
            return Err(Error::broken(&CARRY_FITS, "there are edges of no type"));
        };
        let pick = |column: &dyn Array| -> Result<ArrayRef> {
            match picked {
                Some(rows) => take(column, rows, None).map_err(|error| Error::malformed(error.to_string())),
                None => Ok(column.slice(0, column.len())),
            }
        };
        let end = |ends: &Ends, node: usize| -> Result<Ends> {
            let (Some(own), Some(node)) = (self.record.nodes.get(node), self.record.typed.nodes.get(node)) else {
                return Err(Error::usage("no such node type"));
            };
            keys(&own.prefix, &node.key, pick(texts(ends)?)?.as_string::<i32>())
        };
        // Only the columns of this type are picked.
        let wanted = |at: usize| {
            let attribute = self.edge_columns.iter().position(|place| *place == Some(at));
            attribute.is_some_and(|own_at| own.contains(&own_at) || self.record.unweighted == Some(own_at))
        };
        let columns = batch.properties.iter().enumerate();
        let columns: Columns = columns
            .map(|(at, column)| column.as_ref().filter(|_| wanted(at)).map(|column| pick(column.as_ref())).transpose())
            .collect::<Result<_>>()?;
        let mut properties = self.properties(&columns, &self.edge_columns, own, &typed.properties)?;
        let unweighted = self.column(&columns, &self.edge_columns, self.record.unweighted);
        if let (Some(unweighted), Some(at)) = (unweighted, own.iter().position(|at| *at == 0)) {
            let unweighted = cast(&unweighted, &DataType::Boolean)?;
            let weights = properties.get_mut(at).and_then(Option::as_mut);
            weights.map_or(Ok(()), |weights| without(weights, &unweighted))?;
        }
        let directed = batch.directed.as_ref().filter(|_| typed.direction == Direction::PerRow);
        let directed = directed.map(|directed| pick(directed)).transpose()?;
        Ok(EdgeBatch {
            ty,
            rows: picked.map_or(batch.rows, |rows| rows.len()),
            relations: None,
            source: end(&batch.source, typed.source)?,
            target: end(&batch.target, typed.target)?,
            layers: None,
            directed: directed.map(|directed| directed.as_boolean().clone()),
            keys: None,
            properties,
        })
    }

    /// The key of a node of type `ty` among the nodes of all types.
    fn fused_key(&self, ty: usize, node: NodeId<'_>) -> Option<String> {
        let prefix = &self.record.nodes.get(ty)?.prefix;
        let keyless = self.record.typed.nodes.get(ty)?.key.kind == KeyKind::Row;
        match node {
            NodeId::Key(key) => Some(format!("{prefix}{key}")),
            NodeId::Row(row) if keyless => Some(format!("{prefix}{row}")),
            NodeId::Row(_) => None,
        }
    }
}

/// Nulls where `absent` is true.
fn without(column: &mut ArrayRef, absent: &ArrayRef) -> Result<()> {
    let absent = absent.as_boolean();
    let stated: NullBuffer = absent.iter().map(|absent| absent != Some(true)).collect();
    let nulls = NullBuffer::union(column.nulls(), Some(&stated));
    let data = column.to_data().into_builder().nulls(nulls).build();
    *column = arrow_array::make_array(data.map_err(|error| Error::malformed(error.to_string()))?);
    Ok(())
}

fn texts(ends: &Ends) -> Result<&StringArray> {
    let keys = match ends {
        Ends::Keys(keys) => keys.as_string_opt::<i32>(),
        Ends::Rows(_) => None,
    };
    keys.ok_or_else(|| Error::unsupported("edges whose ends are no text"))
}

impl Source for Split {
    fn graph(&self) -> &Graph {
        &self.record.typed
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let (tables, only) = match request.tables {
            Tables::Nodes(ty) => (Tables::Nodes(0), Some(ty)),
            Tables::NodeKeys(ty) => (Tables::NodeKeys(0), Some(ty)),
            Tables::Edges(ty) => (Tables::Edges(0), Some(ty)),
            Tables::EdgeEnds(ty) if self.record.typed.edges.len() > 1 => (Tables::Edges(0), Some(ty)),
            Tables::EdgeEnds(ty) => (Tables::EdgeEnds(0), Some(ty)),
            Tables::Rest => return Ok(Vec::new()),
            other => (other, None),
        };
        let parts = self.inner.scan(&request.for_tables(tables))?;
        let split = |inner| {
            shown(inner, move |batch, take| match batch {
                Batch::Nodes(nodes) => self.nodes(&nodes, only, take),
                Batch::Edges(edges) => self.edges(&edges, only, take),
                // The slice of everything, which the typed graph does not have.
                _ => Ok(()),
            })
        };
        Ok(parts.into_iter().map(split).collect())
    }

    fn is_one_table(&self, _tables: Tables) -> bool {
        true
    }

    fn end_form(&self, ty: usize) -> EndForm {
        let keyless = |node: usize| self.record.typed.nodes.get(node).is_some_and(|ty| ty.key.kind == KeyKind::Row);
        match self.record.typed.edges.get(ty) {
            Some(ty) if keyless(ty.source) && keyless(ty.target) => EndForm::Rows,
            _ => EndForm::Keys,
        }
    }

    /// The edges of the node that the one table has, as far as they are of this type.
    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let ty = self.record.typed.edges.get(edge).ok_or_else(|| Error::usage("no such edge type"))?;
        let near = match side {
            Side::Out => ty.source,
            Side::In => ty.target,
        };
        within(&self.record.typed.nodes, near, node)?;
        let key = self.fused_key(near, node);
        let base = self.bases.get(near).copied().unwrap_or_default();
        let node = match (&key, node) {
            (Some(key), _) => NodeId::Key(key),
            (None, NodeId::Row(row)) => match &self.places {
                Some(places) => {
                    let missing = || Error::new(Kind::NotFound, format!("there is no row {row}"));
                    NodeId::Row(places.at(near, row).ok_or_else(missing)?)
                }
                None => NodeId::Row(row.saturating_add(base)),
            },
            (None, other) => other,
        };
        let found = self.inner.neighbors(0, node, side)?;
        Ok(edges_shown(found, move |batch, take| self.edges(batch, Some(edge), take)))
    }

    fn about(&self) -> About {
        one_table(self.inner.about(), self.record.typed.edges.len())
    }
}
