//! Shows a graph with the names and types of a format, and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::{
    Batch, Columns, EdgeBatch, EdgeOrder, Ends, Graph, KeyKind, LabelVocabulary, Narrowing, NodeBatch, NodeId,
    NodeType, Part, Property, Request, Run, Side, Source, Tables,
};

use super::Fitting;
use super::cells::Way;
use crate::mapping::view::{Asked, alike, columns_alone, edges_as, with_filters};
use crate::mapping::{declared, forward};
use isomorph_model::part::shown;

/// Shows one of the two graphs of a record as the other.
pub struct Converted {
    inner: Arc<dyn Source>,
    shown: Graph,
    nodes: Vec<Vec<Way>>,
    edges: Vec<Vec<Way>>,
    /// For each node type, the conversion of keys, if their type differs.
    keys: Vec<Option<Way>>,
    /// Labels whose names differ, by the label in the inner graph.
    labels: BTreeMap<String, String>,
}

impl Converted {
    /// Shows `inner` as `record.fitted`. Reads nothing.
    ///
    /// # Errors
    /// If it is not the graph of the record.
    pub fn fitted(inner: Arc<dyn Source>, record: &Fitting) -> Result<Self> {
        Converted::new(inner, (&record.graph, &record.fitted), Way::there)
    }

    /// Shows `inner`, which is `record.fitted`, as `record.graph`. Reads nothing.
    ///
    /// # Errors
    /// Returns [`crate::mapping::CARRY_FITS`] if types or columns of the record are missing.
    pub fn original(inner: Arc<dyn Source>, record: &Fitting) -> Result<Self> {
        Converted::new(inner, (&record.fitted, &record.graph), |original, fitted| Way::back(fitted, original))
    }

    fn new(
        inner: Arc<dyn Source>,
        (from, to): (&Graph, &Graph),
        way: impl Fn(&Property, &Property) -> Way,
    ) -> Result<Self> {
        let inner = declared(inner, from)?;
        let mut shown = to.clone();
        let found = inner.graph();
        shown.nodes.iter_mut().zip(&found.nodes).for_each(|(ty, found)| ty.rows = found.rows);
        shown.edges.iter_mut().zip(&found.edges).for_each(|(ty, found)| ty.rows = found.rows);
        let ways = |from: &[Property], to: &[Property]| from.iter().zip(to).map(|(from, to)| way(from, to)).collect();
        let nodes = from.nodes.iter().zip(&to.nodes).map(|(from, to)| ways(&from.properties, &to.properties));
        let edges = from.edges.iter().zip(&to.edges).map(|(from, to)| ways(&from.properties, &to.properties));
        let key = |(from, to): (&NodeType, &NodeType)| {
            let differ = from.key.data_type != to.key.data_type;
            differ.then(|| Way::between(&from.key.data_type, &to.key.data_type))
        };
        let keys = from.nodes.iter().zip(&to.nodes).map(key).collect();
        let mut labels = BTreeMap::new();
        for (from, to) in from.nodes.iter().zip(&to.nodes) {
            if let (LabelVocabulary::Declared(from), LabelVocabulary::Declared(to)) = (&from.labels, &to.labels) {
                let differing = from.iter().zip(to).filter(|(from, to)| from != to);
                labels.extend(differing.map(|(from, to)| (from.clone(), to.clone())));
            }
        }
        Ok(Converted { nodes: nodes.collect(), edges: edges.collect(), keys, labels, shown, inner })
    }

    fn nodes(&self, mut batch: NodeBatch) -> Result<NodeBatch> {
        let ways = self.nodes.get(batch.ty).map(Vec::as_slice).unwrap_or_default();
        let properties = self.shown.nodes.get(batch.ty).map(|ty| ty.properties.as_slice()).unwrap_or_default();
        batch.properties = convert(batch.properties, ways, properties)?;
        if let (Some(way), Some(keys)) = (self.way_of_keys(batch.ty), &batch.keys) {
            batch.keys = Some(way.convert(keys)?);
        }
        if !self.labels.is_empty() {
            let renamed = |name: &str| self.labels.get(name).map_or_else(|| name.to_owned(), Clone::clone);
            let renamed = |names: Vec<&str>| names.into_iter().map(renamed).collect();
            batch.labels = batch.labels.map(|labels| labels.map_sets(renamed));
        }
        Ok(batch)
    }

    fn edges(&self, mut batch: EdgeBatch) -> Result<EdgeBatch> {
        let ways = self.edges.get(batch.ty).map(Vec::as_slice).unwrap_or_default();
        let properties = self.shown.edges.get(batch.ty).map(|ty| ty.properties.as_slice()).unwrap_or_default();
        batch.properties = convert(batch.properties, ways, properties)?;
        let ends = self.shown.edges.get(batch.ty).map(|ty| (ty.source, ty.target));
        let (source, target) = ends.ok_or_else(|| Error::usage("no such edge type"))?;
        for (ends, node) in [(&mut batch.source, source), (&mut batch.target, target)] {
            if let (Some(way), Ends::Keys(keys)) = (self.way_of_keys(node), &*ends) {
                *ends = Ends::Keys(way.convert(keys)?);
            }
        }
        Ok(batch)
    }

    fn way_of_keys(&self, node: usize) -> Option<&Way> {
        self.keys.get(node).and_then(Option::as_ref)
    }

    /// The key of a node in the inner graph; `None` if it is the same.
    ///
    /// # Errors
    /// Returns [`Kind::NotFound`] if no node can have the key.
    fn inner_id(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Option<String>> {
        let ty = self.shown.edges.get(edge);
        let near = ty.map(|ty| if side == Side::Out { ty.source } else { ty.target });
        let shown = near.filter(|near| self.way_of_keys(*near).is_some()).and_then(|near| self.shown.nodes.get(near));
        let (Some(shown), NodeId::Key(key)) = (shown, node) else { return Ok(None) };
        // 64-bit integers that are signed on one side only: a key that is invalid on one side can be another node's key
        // on the other. Large ones are text on one side, with the same digits.
        let stored = near.and_then(|near| self.inner.graph().nodes.get(near)).map(|ty| &ty.key.data_type);
        let inner = match shown.key.data_type {
            DataType::Utf8 => {
                key.parse::<u64>().ok().filter(|number| number.to_string() == key).map(|_| key.to_owned())
            }
            DataType::UInt64 if stored == Some(&DataType::Utf8) => {
                key.parse::<u64>().ok().map(|number| number.to_string())
            }
            DataType::UInt64 => key.parse::<u64>().ok().map(|key| key.cast_signed().to_string()),
            _ => key.parse::<i64>().ok().map(|key| key.cast_unsigned().to_string()),
        };
        inner.map(Some).ok_or_else(|| Error::new(Kind::NotFound, format!("there is no node {key}")))
    }

    /// `columns` with the conditions that the inner graph can answer: those on keys and columns that have the same type there.
    fn filtered(&self, tables: Tables, columns: Narrowing, wanted: &Narrowing) -> Narrowing {
        let properties = match tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => self.shown.nodes.get(ty).map(|ty| &ty.properties),
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => self.shown.edges.get(ty).map(|ty| &ty.properties),
            _ => None,
        };
        let properties = properties.map(Vec::as_slice).unwrap_or_default();
        with_filters(columns, wanted, properties, |asked| self.stored_name(tables, asked))
    }

    /// What the inner graph calls a column of one type of nodes or edges, if it has the same values.
    fn stored_name(&self, tables: Tables, asked: Asked<'_>) -> Option<String> {
        let inner = self.inner.graph();
        let same = |at: usize, ways: &[Way], shown: &[Property], stored: &[Property]| {
            ways.get(at).filter(|way| matches!(way, Way::Same))?;
            alike(shown.get(at)?, stored.get(at)?)
        };
        match tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => {
                let (own, stored) = (self.shown.nodes.get(ty)?, inner.nodes.get(ty)?);
                match asked {
                    // Rows that are left out must be counted.
                    _ if (own.ordered || own.key.kind == KeyKind::Row) && !stored.ordered => None,
                    Asked::Name(Narrowing::KEY) if self.way_of_keys(ty).is_some() => None,
                    Asked::Name(name) => Some(name.to_owned()),
                    Asked::Property(at) => same(at, self.nodes.get(ty)?, &own.properties, &stored.properties),
                }
            }
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => {
                let (own, stored) = (self.shown.edges.get(ty)?, inner.edges.get(ty)?);
                match asked {
                    // Relations may have other names.
                    Asked::Name(Narrowing::KEY | Narrowing::RELATION) => None,
                    Asked::Name(Narrowing::SOURCE) if self.way_of_keys(own.source).is_some() => None,
                    Asked::Name(Narrowing::TARGET) if self.way_of_keys(own.target).is_some() => None,
                    Asked::Name(name) => Some(name.to_owned()),
                    Asked::Property(at) => same(at, self.edges.get(ty)?, &own.properties, &stored.properties),
                }
            }
            _ => None,
        }
    }

    fn parts<'a>(&'a self, parts: Run<'a>) -> Run<'a> {
        let converted = |inner| {
            shown(inner, |batch, take| match batch {
                Batch::Nodes(nodes) => take(Batch::Nodes(self.nodes(nodes)?)),
                Batch::Edges(edges) => take(Batch::Edges(self.edges(edges)?)),
                other => take(other),
            })
        };
        parts.into_iter().map(converted).collect()
    }
}

fn convert(columns: Columns, ways: &[Way], properties: &[Property]) -> Result<Columns> {
    let columns = columns.into_iter().zip(ways).zip(properties);
    let convert = |((column, way), property): ((Option<_>, &Way), &Property)| {
        let column = column.map(|column| way.convert(&column)).transpose();
        column.map_err(|error| error.at(Place::field(property.name.clone())))
    };
    columns.map(convert).collect()
}

impl Source for Converted {
    forward!(inner: prepare is_one_table edge_orders end_form about);

    fn graph(&self) -> &Graph {
        &self.shown
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let inner = match request.narrowing() {
            // Columns stand where they stood.
            Some(wanted) => {
                let columns = columns_alone(wanted.keys, wanted.labels, wanted.properties.iter().copied());
                request.whole().narrowed(self.filtered(request.tables, columns, wanted))
            }
            None => request.whole(),
        };
        Ok(self.parts(self.inner.scan(&inner)?))
    }

    fn runs(&self, ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        let runs = self.inner.runs(ty, order)?;
        Ok(runs.map(|runs| runs.into_iter().map(|run| self.parts(run)).collect()))
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let own = self.inner_id(edge, node, side)?;
        let found = self.inner.neighbors(edge, own.as_deref().map_or(node, NodeId::Key), side)?;
        Ok(edges_as(found, |batch| self.edges(batch)))
    }
}
