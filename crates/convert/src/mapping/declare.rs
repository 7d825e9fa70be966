//! A source with declarations that its format does not store: names of keys, widths, kinds of values, order.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use isomorph_model::digest::schema_json;
use isomorph_model::{
    About, Batch, Columns, Cost, Document, EdgeBatch, EdgeOrder, EndForm, Ends, Graph, KeyKind, LabelVocabulary,
    Narrowing, NodeBatch, NodeId, Part, Property, Request, Run, Side, Source, Tables,
};

use super::split::CARRY_FITS;
use crate::mapping::exact_cast::exact_cast;
use crate::mapping::forward;
use crate::mapping::view::{Asked, alike, columns_alone, edges_as, with_filters};
use isomorph_model::part::shown;
use isomorph_model::statistics::Statistics;

/// Shows `inner` as `graph`: the same types and properties, found by name, with their original declarations.
pub struct Declared {
    inner: Arc<dyn Source>,
    graph: Graph,
    nodes: Vec<Lies>,
    edges: Vec<Lies>,
}

/// The position of a type in the inner graph.
struct Lies {
    /// Its index there.
    inner: usize,
    /// For each property, its index there, if it exists.
    properties: Vec<Option<usize>>,
    /// Properties that only the inner graph has; they must have no values.
    others: Vec<usize>,
}

/// Shows `inner` as `graph`; returns `inner` itself if it already is.
///
/// # Errors
/// Returns [`CARRY_FITS`] if it has other types or properties.
pub fn declared(inner: Arc<dyn Source>, graph: &Graph) -> Result<Arc<dyn Source>> {
    if says_itself(inner.graph(), graph) && names(inner.graph()) == names(graph) {
        return Ok(inner);
    }
    Ok(Arc::new(Declared::new(inner, graph)?))
}

/// Whether the graph in the files declares everything that `graph` does, in any order.
pub fn says_itself(found: &Graph, graph: &Graph) -> bool {
    documents(found) == documents(graph) && schema_json(found) == schema_json(graph)
}

/// The documents by name: layouts store them in different files, and their order has no meaning.
fn documents(graph: &Graph) -> Vec<&Document> {
    let mut documents: Vec<&Document> = graph.documents.iter().collect();
    documents.sort_by(|left, right| left.name.cmp(&right.name));
    documents
}

/// Types and properties, in order.
fn names(graph: &Graph) -> Vec<String> {
    let of = |properties: &[Property]| properties.iter().map(|property| property.name.clone()).collect::<Vec<_>>();
    let nodes = graph.nodes.iter().flat_map(|ty| [vec![ty.name.clone()], of(&ty.properties)]);
    let edges = graph.edges.iter().flat_map(|ty| {
        let (source, relation, target) = graph.edge_name(ty);
        [vec![source, relation, target], of(&ty.properties)]
    });
    nodes.chain(edges).flatten().collect()
}

fn misfit(what: String) -> Error {
    Error::broken(&CARRY_FITS, what)
}

impl Lies {
    fn new(name: &str, inner: usize, found: &[Property], declared: &[Property]) -> Result<Self> {
        let find = |property: &Property| found.iter().position(|other| other.name == property.name);
        let places: Vec<Option<usize>> = declared.iter().map(find).collect();
        if let Some((property, _)) =
            declared.iter().zip(&places).find(|(property, place)| place.is_none() && !property.nullable)
        {
            // If each row has its own relation, the type has no name.
            let name = if name.is_empty() { "the table of edges" } else { name };
            return Err(misfit(format!("{name} has no property {}", property.name)));
        }
        let others = (0..found.len()).filter(|at| !places.contains(&Some(*at))).collect();
        Ok(Lies { inner, properties: places, others })
    }

    /// The request to the inner graph: the wanted columns, and those that must have no values.
    fn wanted(&self, wanted: &Narrowing) -> Narrowing {
        let places = wanted.properties.iter().filter_map(|at| self.properties.get(*at).copied().flatten());
        columns_alone(wanted.keys, wanted.labels, places.chain(self.others.iter().copied()))
    }

    /// What `found` calls the property at `at` of `declared`, if it has the same values.
    fn alike(&self, at: usize, declared: &[Property], found: &[Property]) -> Option<String> {
        alike(declared.get(at)?, found.get(self.properties.get(at).copied().flatten()?)?)
    }

    fn columns(&self, columns: &Columns, found: &[Property], declared: &[Property]) -> Result<Columns> {
        for at in &self.others {
            let has_values =
                columns.get(*at).and_then(Option::as_ref).is_some_and(|column| column.null_count() < column.len());
            if has_values {
                let name = found.get(*at).map(|property| property.name.as_str()).unwrap_or_default();
                return Err(misfit(format!("property {name} is not in the sidecar")));
            }
        }
        let column = |(property, place): (&Property, &Option<usize>)| {
            let column = place.and_then(|place| columns.get(place)?.as_ref());
            let column = column.map(|column| cast(column, &property.data_type));
            column.transpose().map_err(|error| error.at(Place::field(property.name.clone())))
        };
        declared.iter().zip(&self.properties).map(column).collect()
    }
}

/// Casts a column to its declared type; every value must be representable.
pub(super) fn cast(column: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    exact_cast(column, to).map_err(|error| misfit(format!("a value does not fit its declared type: {error}")))
}

impl Declared {
    /// Shows `inner` as `graph`. Reads nothing.
    ///
    /// # Errors
    /// Returns [`CARRY_FITS`] if types or properties are missing, or there are additional ones.
    pub fn new(inner: Arc<dyn Source>, graph: &Graph) -> Result<Self> {
        let found = inner.graph();
        let mut shown = graph.clone();
        if found.nodes.len() != graph.nodes.len() || found.edges.len() != graph.edges.len() {
            return Err(misfit("the types of the data differ from those in the sidecar".to_owned()));
        }
        let mut nodes = Vec::new();
        for ty in &mut shown.nodes {
            let at = found.node_type(&ty.name).ok_or_else(|| misfit(format!("there is no node type {}", ty.name)))?;
            let (keyed, wanted) = (&found.nodes[at].key, &ty.key);
            if (keyed.kind == KeyKind::Row) != (wanted.kind == KeyKind::Row) {
                return Err(misfit(format!("nodes of type {} have keys of another kind", ty.name)));
            }
            nodes.push(Lies::new(&ty.name, at, &found.nodes[at].properties, &ty.properties)?);
            ty.rows = found.nodes[at].rows;
        }
        let mut edges = Vec::new();
        for ty in &mut shown.edges {
            let name = graph.edge_name(ty);
            let at = found.edges.iter().position(|other| found.edge_name(other) == name);
            let at = at.ok_or_else(|| misfit(format!("there is no edge type {} {} {}", name.0, name.1, name.2)))?;
            edges.push(Lies::new(&name.1, at, &found.edges[at].properties, &ty.properties)?);
            ty.rows = found.edges[at].rows;
        }
        Ok(Declared { graph: shown, nodes, edges, inner })
    }

    fn nodes(&self, batch: NodeBatch) -> Result<NodeBatch> {
        let at = self.nodes.iter().position(|place| place.inner == batch.ty);
        let known = at.and_then(|at| Some((at, self.nodes.get(at)?, self.graph.nodes.get(at)?)));
        let (at, place, ty) = known.ok_or_else(|| Error::usage("no such node type"))?;
        let found = self.inner.graph().nodes.get(batch.ty).map(|ty| ty.properties.as_slice()).unwrap_or_default();
        let keys = batch.keys.as_ref().map(|keys| cast(keys, &ty.key.data_type)).transpose()?;
        Ok(NodeBatch {
            ty: at,
            keys,
            labels: batch.labels.filter(|_| ty.labels != LabelVocabulary::None),
            properties: place.columns(&batch.properties, found, &ty.properties)?,
            ..batch
        })
    }

    fn edges(&self, batch: EdgeBatch) -> Result<EdgeBatch> {
        let at = self.edges.iter().position(|place| place.inner == batch.ty);
        let known = at.and_then(|at| Some((at, self.edges.get(at)?, self.graph.edges.get(at)?)));
        let (at, place, ty) = known.ok_or_else(|| Error::usage("no such edge type"))?;
        let found = self.inner.graph().edges.get(batch.ty).map(|ty| ty.properties.as_slice()).unwrap_or_default();
        let ends = |ends: Ends, node: usize| match (ends, self.graph.nodes.get(node)) {
            (Ends::Keys(keys), Some(ty)) if ty.key.kind != KeyKind::Row => {
                Ok::<_, Error>(Ends::Keys(cast(&keys, &ty.key.data_type)?))
            }
            (ends, _) => Ok(ends),
        };
        Ok(EdgeBatch {
            ty: at,
            source: ends(batch.source, ty.source)?,
            target: ends(batch.target, ty.target)?,
            properties: place.columns(&batch.properties, found, &ty.properties)?,
            ..batch
        })
    }

    fn parts<'a>(&'a self, parts: Run<'a>) -> Run<'a> {
        let declared = |inner| {
            shown(inner, |batch, take| match batch {
                Batch::Nodes(nodes) => take(Batch::Nodes(self.nodes(nodes)?)),
                Batch::Edges(edges) => take(Batch::Edges(self.edges(edges)?)),
                other => take(other),
            })
        };
        parts.into_iter().map(declared).collect()
    }

    fn inner_edge(&self, ty: usize) -> usize {
        self.edges.get(ty).map_or(ty, |place| place.inner)
    }

    /// The same tables of the inner graph.
    fn stored_tables(&self, tables: Tables) -> Tables {
        let node = |ty: usize| self.nodes.get(ty).map_or(ty, |place| place.inner);
        match tables {
            Tables::Nodes(ty) => Tables::Nodes(node(ty)),
            Tables::NodeKeys(ty) => Tables::NodeKeys(node(ty)),
            Tables::Edges(ty) => Tables::Edges(self.inner_edge(ty)),
            Tables::EdgeEnds(ty) => Tables::EdgeEnds(self.inner_edge(ty)),
            other => other,
        }
    }

    /// The properties of one type of nodes or edges.
    fn properties(&self, tables: Tables) -> &[Property] {
        let properties = match tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => self.graph.nodes.get(ty).map(|ty| &ty.properties),
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => self.graph.edges.get(ty).map(|ty| &ty.properties),
            _ => None,
        };
        properties.map(Vec::as_slice).unwrap_or_default()
    }

    /// `columns` of the inner graph with the conditions that it can answer.
    fn filtered(&self, tables: Tables, columns: Narrowing, wanted: &Narrowing) -> Narrowing {
        // Where positions of rows mean something, those that are left out must be counted.
        let is_counted = match tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => {
                let stored = self.nodes.get(ty).and_then(|place| self.inner.graph().nodes.get(place.inner));
                let both = self.graph.nodes.get(ty).zip(stored);
                both.is_some_and(|(own, stored)| stored.ordered || !own.ordered && own.key.kind != KeyKind::Row)
            }
            _ => true,
        };
        with_filters(columns, wanted, self.properties(tables), |asked| {
            self.stored_name(tables, asked).filter(|_| is_counted)
        })
    }

    /// What the inner graph calls a column of one type of nodes or edges, if it has the same values.
    fn stored_name(&self, tables: Tables, asked: Asked<'_>) -> Option<String> {
        let inner = self.inner.graph();
        let has_keys_of = |ty: usize| {
            let stored = self.nodes.get(ty).and_then(|place| inner.nodes.get(place.inner));
            let both = self.graph.nodes.get(ty).zip(stored);
            both.is_some_and(|(own, stored)| own.key.data_type == stored.key.data_type)
        };
        match tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => {
                let (place, own) = (self.nodes.get(ty)?, self.graph.nodes.get(ty)?);
                let stored = inner.nodes.get(place.inner)?;
                match asked {
                    Asked::Name(Narrowing::KEY) if !has_keys_of(ty) => None,
                    Asked::Name(name) => Some(name.to_owned()),
                    Asked::Property(at) => place.alike(at, &own.properties, &stored.properties),
                }
            }
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => {
                let (place, own) = (self.edges.get(ty)?, self.graph.edges.get(ty)?);
                let stored = inner.edges.get(place.inner)?;
                match asked {
                    Asked::Name(Narrowing::KEY) => None,
                    Asked::Name(Narrowing::SOURCE) if !has_keys_of(own.source) => None,
                    Asked::Name(Narrowing::TARGET) if !has_keys_of(own.target) => None,
                    Asked::Name(name) => Some(name.to_owned()),
                    Asked::Property(at) => place.alike(at, &own.properties, &stored.properties),
                }
            }
            _ => None,
        }
    }
}

impl Source for Declared {
    forward!(inner: prepare is_one_table);

    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let inner = request.for_tables(self.stored_tables(request.tables));
        let place = match request.tables {
            Tables::Nodes(ty) => self.nodes.get(ty),
            Tables::Edges(ty) => self.edges.get(ty),
            _ => None,
        };
        let inner = match (place, request.narrowing()) {
            (Some(place), Some(wanted)) => inner.narrowed(self.filtered(request.tables, place.wanted(wanted), wanted)),
            (None, Some(wanted)) => inner.narrowed(self.filtered(request.tables, Narrowing::least(), wanted)),
            (_, None) => inner,
        };
        Ok(self.parts(self.inner.scan(&inner)?))
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
        let asked = Asked::of(column, self.properties(tables));
        match asked.and_then(|asked| self.stored_name(tables, asked)) {
            Some(name) => self.inner.look_up_cost(self.stored_tables(tables), &name),
            None => Cost::pass(None),
        }
    }

    /// What is known of the same columns; of those in another type nothing is.
    fn statistics(&self, tables: Tables) -> Result<Statistics> {
        let stored = self.inner.statistics(self.stored_tables(tables))?;
        let properties = self.properties(tables).iter().map(|property| property.name.as_str());
        let names = properties.chain(Narrowing::NAMES).filter_map(|name| {
            let own = self.stored_name(tables, Asked::of(name, self.properties(tables))?)?;
            Some((name.to_owned(), stored.column(&own)))
        });
        Ok(Statistics { rows: stored.rows, columns: names.collect() })
    }

    fn about(&self) -> About {
        let mut about = self.inner.about();
        let layouts = self.edges.iter().map(|place| about.edge_layouts.get(place.inner).cloned().unwrap_or_default());
        about.edge_layouts = layouts.collect();
        about
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let found = self.inner.neighbors(self.inner_edge(edge), node, side)?;
        Ok(edges_as(found, |batch| self.edges(batch)))
    }
}
