//! The tables of a source with other declarations: names, types of columns and keys, kinds of values, order.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::statistics::Statistics;
use isomorph_model::{
    About, Columns, Cost, EdgeBatch, EdgeOrder, EndForm, Ends, Graph, KeyKind, LabelColumn, LabelVocabulary, Narrowing,
    NodeBatch, NodeId, Part, Property, Request, Run, Side, Source, Tables,
};

use super::coerce::{Fitting, Way};
use super::narrowed::{Asked, TypeByType, alike, columns_alone};
use super::view::{edges_as, near, positions, properties_of, rows_as};
use super::{CARRY_FITS, declared, forward};

/// Shows the tables of a source with other declarations.
pub struct Redeclared {
    inner: Arc<dyn Source>,
    shown: Graph,
    nodes: Vec<Table>,
    edges: Vec<Table>,
    /// For each node type, the conversion of its keys.
    keys: Vec<Way>,
    /// Labels whose names differ, by the label in the inner graph.
    labels: BTreeMap<String, String>,
}

/// The position of a type in the inner graph, and the conversion of its columns.
struct Table {
    /// Its index there.
    inner: usize,
    /// For each property, its index there, if it exists, and its conversion.
    properties: Vec<(Option<usize>, Way)>,
    /// Properties that only the inner graph has; they must have no values.
    others: Vec<usize>,
}

impl Table {
    /// The properties in their order, each converted as `way` says.
    fn in_order(inner: usize, from: &[Property], to: &[Property], way: impl Fn(&Property, &Property) -> Way) -> Self {
        let ways = from.iter().zip(to).enumerate().map(|(at, (from, to))| (Some(at), way(from, to)));
        Table { inner, properties: ways.collect(), others: Vec::new() }
    }

    /// The properties by name, with their declared types.
    fn by_name(name: &str, inner: usize, found: &[Property], declared: &[Property]) -> Result<Self> {
        let places = positions(declared, found);
        if let Some((property, _)) =
            declared.iter().zip(&places).find(|(property, place)| place.is_none() && !property.nullable)
        {
            // If each row has its own relation, the type has no name.
            let name = if name.is_empty() { "the table of edges" } else { name };
            return Err(misfit(format!("{name} has no property {}", property.name)));
        }
        let others = (0..found.len()).filter(|at| !places.contains(&Some(*at))).collect();
        let ways = declared.iter().map(|property| Way::Restore(property.data_type.clone()));
        Ok(Table { inner, properties: places.into_iter().zip(ways).collect(), others })
    }

    /// The request to the inner graph: the wanted columns, and those that must have no values.
    fn wanted(&self, wanted: &Narrowing) -> Narrowing {
        let places = wanted.properties.iter().filter_map(|at| self.properties.get(*at)?.0);
        columns_alone(wanted.keys, wanted.labels, places.chain(self.others.iter().copied()))
    }

    /// What `found` calls the property at `at` of `shown`, if it has the same values.
    fn alike(&self, at: usize, shown: &[Property], found: &[Property]) -> Option<String> {
        alike(shown.get(at)?, found.get(self.properties.get(at)?.0?)?)
    }

    fn columns(&self, columns: &Columns, found: &[Property], shown: &[Property]) -> Result<Columns> {
        for at in &self.others {
            let has_values =
                columns.get(*at).and_then(Option::as_ref).is_some_and(|column| column.null_count() < column.len());
            if has_values {
                let name = found.get(*at).map(|property| property.name.as_str()).unwrap_or_default();
                return Err(misfit(format!("property {name} is not in the sidecar")));
            }
        }
        let column = |(property, (place, way)): (&Property, &(Option<usize>, Way))| {
            let column = place.and_then(|place| columns.get(place)?.as_ref());
            let column = column.map(|column| way.convert(column)).transpose();
            column.map_err(|error| error.at(Place::field(property.name.clone())))
        };
        shown.iter().zip(&self.properties).map(column).collect()
    }
}

fn misfit(what: String) -> Error {
    Error::broken(&CARRY_FITS, what)
}

impl Redeclared {
    /// Shows `inner` as `graph`: the same types and properties, found by name. Reads nothing.
    ///
    /// # Errors
    /// Returns [`CARRY_FITS`] if types or properties are missing, or there are additional ones.
    pub(super) fn declared(inner: Arc<dyn Source>, graph: &Graph) -> Result<Self> {
        let found = inner.graph();
        let mut shown = graph.clone();
        if found.nodes.len() != graph.nodes.len() || found.edges.len() != graph.edges.len() {
            return Err(misfit("the types of the data differ from those in the sidecar".to_owned()));
        }
        let (mut nodes, mut keys) = (Vec::new(), Vec::new());
        for ty in &mut shown.nodes {
            let at = found.node_type(&ty.name).ok_or_else(|| misfit(format!("there is no node type {}", ty.name)))?;
            let is_row = ty.key.kind == KeyKind::Row;
            if (found.nodes[at].key.kind == KeyKind::Row) != is_row {
                return Err(misfit(format!("nodes of type {} have keys of another kind", ty.name)));
            }
            nodes.push(Table::by_name(&ty.name, at, &found.nodes[at].properties, &ty.properties)?);
            keys.push(if is_row { Way::Same } else { Way::Restore(ty.key.data_type.clone()) });
            ty.rows = found.nodes[at].rows;
        }
        let mut edges = Vec::new();
        for ty in &mut shown.edges {
            let name = graph.edge_name(ty);
            let at = found.edges.iter().position(|other| found.edge_name(other) == name);
            let at = at.ok_or_else(|| misfit(format!("there is no edge type {} {} {}", name.0, name.1, name.2)))?;
            edges.push(Table::by_name(&name.1, at, &found.edges[at].properties, &ty.properties)?);
            ty.rows = found.edges[at].rows;
        }
        Ok(Redeclared { shown, nodes, edges, keys, labels: BTreeMap::new(), inner })
    }

    /// Shows `inner` as `record.fitted`. Reads nothing.
    ///
    /// # Errors
    /// If it is not the graph of the record.
    pub fn fitted(inner: Arc<dyn Source>, record: &Fitting) -> Result<Self> {
        Redeclared::converted(inner, (&record.graph, &record.fitted), Way::there)
    }

    /// Shows `inner`, which is `record.fitted`, as `record.graph`. Reads nothing.
    ///
    /// # Errors
    /// Returns [`CARRY_FITS`] if types or columns of the record are missing.
    pub fn original(inner: Arc<dyn Source>, record: &Fitting) -> Result<Self> {
        Redeclared::converted(inner, (&record.fitted, &record.graph), |original, fitted| Way::back(fitted, original))
    }

    fn converted(
        inner: Arc<dyn Source>,
        (from, to): (&Graph, &Graph),
        way: impl Fn(&Property, &Property) -> Way,
    ) -> Result<Self> {
        let inner = declared(inner, from)?;
        let mut shown = to.clone();
        let found = inner.graph();
        shown.nodes.iter_mut().zip(&found.nodes).for_each(|(ty, found)| ty.rows = found.rows);
        shown.edges.iter_mut().zip(&found.edges).for_each(|(ty, found)| ty.rows = found.rows);
        let (of_nodes, of_edges) = (from.nodes.iter().zip(&to.nodes), from.edges.iter().zip(&to.edges));
        let nodes = of_nodes.clone().enumerate();
        let nodes = nodes.map(|(at, (from, to))| Table::in_order(at, &from.properties, &to.properties, &way));
        let edges = of_edges.enumerate();
        let edges = edges.map(|(at, (from, to))| Table::in_order(at, &from.properties, &to.properties, &way));
        let keys = of_nodes.clone().map(|(from, to)| Way::between(&from.key.data_type, &to.key.data_type));
        let mut labels = BTreeMap::new();
        for (from, to) in of_nodes {
            if let (LabelVocabulary::Declared(from), LabelVocabulary::Declared(to)) = (&from.labels, &to.labels) {
                let differing = from.iter().zip(to).filter(|(from, to)| from != to);
                labels.extend(differing.map(|(from, to)| (from.clone(), to.clone())));
            }
        }
        let (nodes, edges, keys) = (nodes.collect(), edges.collect(), keys.collect());
        Ok(Redeclared { nodes, edges, keys, labels, shown, inner })
    }

    fn keys(&self, ty: usize, keys: &ArrayRef) -> Result<ArrayRef> {
        self.keys.get(ty).map_or_else(|| Ok(Arc::clone(keys)), |way| way.convert(keys))
    }

    fn labels(&self, labels: LabelColumn) -> LabelColumn {
        if self.labels.is_empty() {
            return labels;
        }
        let renamed = |name: &str| self.labels.get(name).map_or_else(|| name.to_owned(), Clone::clone);
        labels.map_sets(|names| names.into_iter().map(renamed).collect())
    }

    fn nodes(&self, batch: NodeBatch) -> Result<NodeBatch> {
        let at = self.nodes.iter().position(|table| table.inner == batch.ty);
        let known = at.and_then(|at| Some((at, self.nodes.get(at)?, self.shown.nodes.get(at)?)));
        let (at, table, ty) = known.ok_or_else(|| Error::usage("no such node type"))?;
        let found = properties_of(self.inner.graph(), Tables::Nodes(batch.ty));
        Ok(NodeBatch {
            ty: at,
            keys: batch.keys.as_ref().map(|keys| self.keys(at, keys)).transpose()?,
            labels: batch.labels.filter(|_| ty.labels != LabelVocabulary::None).map(|labels| self.labels(labels)),
            properties: table.columns(&batch.properties, found, &ty.properties)?,
            ..batch
        })
    }

    fn edges(&self, batch: EdgeBatch) -> Result<EdgeBatch> {
        let at = self.edges.iter().position(|table| table.inner == batch.ty);
        let known = at.and_then(|at| Some((at, self.edges.get(at)?, self.shown.edges.get(at)?)));
        let (at, table, ty) = known.ok_or_else(|| Error::usage("no such edge type"))?;
        let found = properties_of(self.inner.graph(), Tables::Edges(batch.ty));
        let ends = |ends: Ends, node: usize| match ends {
            Ends::Keys(keys) => self.keys(node, &keys).map(Ends::Keys),
            rows => Ok(rows),
        };
        Ok(EdgeBatch {
            ty: at,
            source: ends(batch.source, ty.source)?,
            target: ends(batch.target, ty.target)?,
            properties: table.columns(&batch.properties, found, &ty.properties)?,
            ..batch
        })
    }

    fn parts<'a>(&'a self, parts: Run<'a>) -> Run<'a> {
        rows_as(parts, |nodes| self.nodes(nodes), |edges| self.edges(edges))
    }

    fn inner_edge(&self, ty: usize) -> usize {
        self.edges.get(ty).map_or(ty, |table| table.inner)
    }

    /// The key of a node in the inner graph; `None` if it is the same.
    ///
    /// # Errors
    /// Returns [`Kind::NotFound`] if no node can have the key.
    fn inner_id(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Option<String>> {
        let ty = self.shown.edges.get(edge);
        let near = ty.map(|ty| near(ty, side));
        let has_others = |ty: &usize| self.keys.get(*ty).is_some_and(|way| !matches!(way, Way::Same | Way::Restore(_)));
        let shown = near.filter(has_others).and_then(|near| self.shown.nodes.get(near));
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
}

impl TypeByType for Redeclared {
    fn sides(&self) -> (&Graph, &dyn Source) {
        (&self.shown, self.inner.as_ref())
    }

    fn stored_tables(&self, tables: Tables) -> Tables {
        let node = |ty: usize| self.nodes.get(ty).map_or(ty, |table| table.inner);
        match tables {
            Tables::Nodes(ty) => Tables::Nodes(node(ty)),
            Tables::NodeKeys(ty) => Tables::NodeKeys(node(ty)),
            Tables::Edges(ty) => Tables::Edges(self.inner_edge(ty)),
            Tables::EdgeEnds(ty) => Tables::EdgeEnds(self.inner_edge(ty)),
            other => other,
        }
    }

    fn stored_name(&self, tables: Tables, asked: Asked<'_>) -> Option<String> {
        let inner = self.inner.graph();
        let has_keys_of = |ty: usize| {
            let stored = self.nodes.get(ty).and_then(|table| inner.nodes.get(table.inner));
            let both = self.shown.nodes.get(ty).zip(stored);
            both.is_some_and(|(own, stored)| own.key.data_type == stored.key.data_type)
        };
        match tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => {
                let (table, own) = (self.nodes.get(ty)?, self.shown.nodes.get(ty)?);
                let stored = inner.nodes.get(table.inner)?;
                match asked {
                    Asked::Name(Narrowing::KEY) if !has_keys_of(ty) => None,
                    Asked::Name(name) => Some(name.to_owned()),
                    Asked::Property(at) => table.alike(at, &own.properties, &stored.properties),
                }
            }
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => {
                let (table, own) = (self.edges.get(ty)?, self.shown.edges.get(ty)?);
                let stored = inner.edges.get(table.inner)?;
                match asked {
                    Asked::Name(Narrowing::KEY) => None,
                    Asked::Name(Narrowing::RELATION) if own.relation != stored.relation => None,
                    Asked::Name(Narrowing::SOURCE) if !has_keys_of(own.source) => None,
                    Asked::Name(Narrowing::TARGET) if !has_keys_of(own.target) => None,
                    Asked::Name(name) => Some(name.to_owned()),
                    Asked::Property(at) => table.alike(at, &own.properties, &stored.properties),
                }
            }
            _ => None,
        }
    }

    fn stored_columns(&self, tables: Tables, wanted: &Narrowing) -> Option<Narrowing> {
        let table = match tables {
            Tables::Nodes(ty) => self.nodes.get(ty),
            Tables::Edges(ty) => self.edges.get(ty),
            _ => None,
        };
        Some(table.map_or_else(Narrowing::least, |table| table.wanted(wanted)))
    }

    fn may_omit_rows(&self, tables: Tables) -> bool {
        match tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => {
                let stored = self.nodes.get(ty).and_then(|table| self.inner.graph().nodes.get(table.inner));
                let both = self.shown.nodes.get(ty).zip(stored);
                both.is_some_and(|(own, stored)| stored.ordered || !own.ordered && own.key.kind != KeyKind::Row)
            }
            _ => true,
        }
    }
}

impl Source for Redeclared {
    forward!(inner: prepare is_one_table);

    fn graph(&self) -> &Graph {
        &self.shown
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        Ok(self.parts(self.inner.scan(&self.stored_request(request))?))
    }

    fn edge_orders(&self, ty: usize) -> Vec<EdgeOrder> {
        self.inner.edge_orders(self.inner_edge(ty))
    }

    fn runs(&self, ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        let runs = self.inner.runs(self.inner_edge(ty), order)?;
        Ok(runs.map(|runs| runs.into_iter().map(|run| self.parts(run)).collect()))
    }

    fn end_form(&self, ty: usize) -> EndForm {
        self.inner.end_form(self.inner_edge(ty))
    }

    fn look_up_cost(&self, tables: Tables, column: &str) -> Cost {
        self.stored_cost(tables, column)
    }

    /// What is known of the same columns; of those in another type nothing is.
    fn statistics(&self, tables: Tables) -> Result<Statistics> {
        let stored = self.inner.statistics(self.stored_tables(tables))?;
        let properties = properties_of(&self.shown, tables).iter().map(|property| property.name.as_str());
        let names = properties.chain(Narrowing::NAMES).filter_map(|name| {
            let own = self.stored_name(tables, Asked::of(name, properties_of(&self.shown, tables))?)?;
            Some((name.to_owned(), stored.column(&own)))
        });
        Ok(Statistics { rows: stored.rows, columns: names.collect() })
    }

    fn about(&self) -> About {
        let mut about = self.inner.about();
        let layouts = self.edges.iter().map(|table| about.edge_layouts.get(table.inner).cloned().unwrap_or_default());
        about.edge_layouts = layouts.collect();
        about
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let own = self.inner_id(edge, node, side)?;
        let found = self.inner.neighbors(self.inner_edge(edge), own.as_deref().map_or(node, NodeId::Key), side)?;
        Ok(edges_as(found, |batch| self.edges(batch)))
    }
}
