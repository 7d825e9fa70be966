//! Shows a graph as nodes and edges.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use isomorph_error::{Error, Result};
use isomorph_model::batch::{GroupBatch, HyperedgeBatch, MemberBatch, MembershipBatch};
use isomorph_model::{Batch, Columns, EdgeBatch, EndForm, Ends, Graph, NodeBatch, Part, Request, Source, Tables};
use isomorph_storage::Budget;

use super::columns::{key_text, rows_of_role, said_of_end};
use super::tables::ByEdge;
use super::{EdgeMemberships, ROLES, Reification};
use crate::mapping::arrays::as_type;
use crate::mapping::forward;
use crate::read_once::ReadOnce;
use isomorph_model::part::shown;

/// Shows a graph as nodes and edges.
pub struct Reified {
    inner: Arc<dyn Source>,
    record: Reification,
    /// The groups of edges, in the order of [`Reified::lists_of_groups`]: read with the first edge.
    groups: ReadOnce<Vec<ByEdge>>,
    budget: Budget,
}

/// The requested part of a batch.
#[derive(Clone, Copy)]
enum Want {
    All,
    Nodes(Option<usize>),
    Edges(Option<usize>),
}

impl Reified {
    /// Shows `inner` as `record.plain`. Reads nothing; the groups of edges will be held within `budget`.
    ///
    /// # Errors
    /// If it is not the graph of the record.
    pub fn new(inner: Arc<dyn Source>, record: &Reification, budget: &Budget) -> Result<Self> {
        let found = inner.graph();
        let same = found.nodes.len() == record.rich.nodes.len()
            && found.edges.len() == record.rich.edges.len()
            && found.hyperedges.len() == record.rich.hyperedges.len()
            && found.groups.len() == record.rich.groups.len();
        if !same {
            return Err(Error::usage("the mapping is of another graph"));
        }
        let (record, budget) = (record.clone(), budget.clone());
        Ok(Reified { inner, record, groups: ReadOnce::default(), budget })
    }

    fn lists_of_groups(&self) -> impl Iterator<Item = &EdgeMemberships> {
        self.record.edges.iter().flat_map(|columns| &columns.memberships)
    }

    /// The groups of edges.
    fn by_edge(&self) -> Result<&[ByEdge]> {
        let read = || match self.lists_of_groups().collect::<Vec<_>>().as_slice() {
            [] => Ok(Vec::new()),
            wanted => ByEdge::read(self.inner.as_ref(), wanted, &self.budget),
        };
        self.groups.get(read).map(Vec::as_slice)
    }

    fn edges(&self, batch: EdgeBatch) -> Result<EdgeBatch> {
        let (Some(columns), Some(plain)) = (self.record.edges.get(batch.ty), self.record.plain.edges.get(batch.ty))
        else {
            return Err(Error::usage("no such edge type"));
        };
        let mut properties: Columns = batch.properties;
        properties.resize(plain.properties.len(), None);
        let mut set = |at: Option<usize>, column: Option<ArrayRef>| {
            if let Some(place) = at.and_then(|at| properties.get_mut(at)) {
                *place = column;
            }
        };
        set(columns.key, batch.keys.clone());
        set(columns.directed, batch.directed.map(|directed| Arc::new(directed) as ArrayRef));
        if let (Some((source, target)), Some(layers)) = (&batch.layers, columns.layers) {
            let (source, target) = (said_of_end(source)?, said_of_end(target)?);
            set(Some(layers[0]), source.0);
            set(Some(layers[1]), target.0);
            if let Some(coefficients) = columns.coefficients {
                set(Some(coefficients[0]), source.1);
                set(Some(coefficients[1]), target.1);
            }
        }
        if let Some(keys) = batch.keys.as_ref().filter(|_| !columns.memberships.is_empty()) {
            let keys = as_type(keys, &arrow_schema::DataType::Utf8)?;
            let before: usize = self.record.edges.iter().take(batch.ty).map(|columns| columns.memberships.len()).sum();
            for (table, by_edge) in columns.memberships.iter().zip(self.by_edge()?.iter().skip(before)) {
                if let Some((groups, values)) = by_edge.lists(keys.as_string::<i32>())? {
                    set(Some(table.groups), Some(groups));
                    table.properties.iter().zip(values).for_each(|(at, column)| set(Some(*at), column));
                }
            }
        }
        Ok(EdgeBatch { layers: None, directed: None, keys: None, properties, ..batch })
    }

    fn hyperedges(&self, batch: HyperedgeBatch) -> Result<NodeBatch> {
        let tables = self.record.hyperedges.get(batch.ty).ok_or_else(|| Error::usage("no such hyperedge type"))?;
        let mut properties = batch.properties;
        if let Some(at) = tables.directed {
            properties.resize(at + 1, None);
            if let Some(place) = properties.get_mut(at) {
                *place = batch.directed.map(|directed| Arc::new(directed) as ArrayRef);
            }
        }
        let (keys, labels) = (Some(batch.keys), None);
        Ok(NodeBatch { keys, labels, properties, ..NodeBatch::of(tables.node, batch.start, batch.rows) })
    }

    fn groups(&self, batch: GroupBatch) -> Result<NodeBatch> {
        let tables = self.record.groups.get(batch.kind).ok_or_else(|| Error::usage("no such kind of groups"))?;
        let (rows, keys) = (batch.keys.len(), Some(key_text(&batch.keys)?));
        Ok(NodeBatch { keys, properties: batch.properties, ..NodeBatch::of(tables.node, batch.start, rows) })
    }

    fn members(&self, batch: &MemberBatch, role: usize) -> Result<Option<EdgeBatch>> {
        let tables = self.record.hyperedges.get(batch.ty).ok_or_else(|| Error::usage("no such hyperedge type"))?;
        let name = ROLES.get(role).copied().unwrap_or_default();
        let rows = rows_of_role(&batch.roles, name);
        let Some(ty) = tables.roles.get(role).copied().flatten().filter(|_| rows.len() > 0) else {
            return match rows.len() {
                0 => Ok(None),
                _ => Err(Error::malformed(format!("a hyperedge has a {name}, which its type does not allow"))),
            };
        };
        let mut properties = Columns::new();
        if tables.layered {
            properties.push(batch.layers.as_ref().map(|layers| rows.of(layers)).transpose()?);
        }
        properties.push(batch.coefficients.as_ref().map(|column| rows.of(column)).transpose()?);
        let (source, target) = (rows.of_ends(&batch.owner)?, rows.of_ends(&batch.member)?);
        Ok(Some(EdgeBatch { properties, ..EdgeBatch::between(ty, source, target) }))
    }

    fn memberships(&self, batch: MembershipBatch) -> Result<Option<EdgeBatch>> {
        let tables = self.record.groups.get(batch.kind).ok_or_else(|| Error::usage("no such kind of groups"))?;
        // Memberships of edges are columns of the edges.
        let Some(ty) = tables.memberships.get(batch.table).copied().flatten() else { return Ok(None) };
        let source = match &batch.group {
            Ends::Keys(keys) => Ends::Keys(key_text(keys)?),
            rows => rows.clone(),
        };
        Ok(Some(EdgeBatch { properties: batch.properties, ..EdgeBatch::between(ty, source, batch.member) }))
    }

    fn batch(&self, batch: Batch, want: Want, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let is_wanted = |batch: &Batch| match (want, batch) {
            (Want::All, _) => true,
            (Want::Nodes(ty), Batch::Nodes(batch)) => ty.is_none_or(|ty| ty == batch.ty),
            (Want::Edges(ty), Batch::Edges(batch)) => ty.is_none_or(|ty| ty == batch.ty),
            _ => false,
        };
        let mut give = |batch: Batch| if is_wanted(&batch) { take(batch) } else { Ok(()) };
        match batch {
            Batch::Nodes(nodes) => give(Batch::Nodes(nodes)),
            Batch::Edges(edges) => give(Batch::Edges(self.edges(edges)?)),
            Batch::Hyperedges(batch) => give(Batch::Nodes(self.hyperedges(batch)?)),
            Batch::Groups(batch) => give(Batch::Nodes(self.groups(batch)?)),
            Batch::Members(batch) => (0..ROLES.len()).try_for_each(|role| match self.members(&batch, role)? {
                Some(edges) => give(Batch::Edges(edges)),
                None => Ok(()),
            }),
            Batch::Memberships(batch) => match self.memberships(batch)? {
                Some(edges) => give(Batch::Edges(edges)),
                None => Ok(()),
            },
            Batch::Values(_) => Err(Error::unsupported("values in long form cannot be written as nodes and edges yet")),
        }
    }

    fn parts<'a>(&'a self, tables: Tables, request: &Request, want: Want) -> Result<Vec<Box<dyn Part + 'a>>> {
        let parts = self.inner.scan(&request.for_tables(tables))?;
        Ok(parts.into_iter().map(|inner| shown(inner, move |batch, take| self.batch(batch, want, take))).collect())
    }
}

impl Source for Reified {
    forward!(inner: about);

    fn graph(&self) -> &Graph {
        &self.record.plain
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let (nodes, edges) = (self.record.rich.nodes.len(), self.record.rich.edges.len());
        let rest = |want: Want| self.parts(Tables::Rest, request, want);
        let (mut parts, want) = match request.tables {
            Tables::All => return self.parts(Tables::All, request, Want::All),
            Tables::Rest => return Ok(Vec::new()),
            Tables::Nodes(ty) | Tables::NodeKeys(ty) if ty >= nodes => return rest(Want::Nodes(Some(ty))),
            Tables::Edges(ty) | Tables::EdgeEnds(ty) if ty >= edges => return rest(Want::Edges(Some(ty))),
            tables @ (Tables::Nodes(_) | Tables::NodeKeys(_)) => return self.parts(tables, request, Want::Nodes(None)),
            tables @ (Tables::Edges(_) | Tables::EdgeEnds(_)) => return self.parts(tables, request, Want::Edges(None)),
            Tables::AllNodes => (self.parts(Tables::AllNodes, request, Want::Nodes(None))?, Want::Nodes(None)),
            Tables::AllEdges => (self.parts(Tables::AllEdges, request, Want::Edges(None))?, Want::Edges(None)),
        };
        parts.extend(rest(want)?);
        Ok(parts)
    }

    fn end_form(&self, ty: usize) -> EndForm {
        if ty < self.record.rich.edges.len() { self.inner.end_form(ty) } else { EndForm::Keys }
    }
}
