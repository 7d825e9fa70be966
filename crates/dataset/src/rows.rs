//! Converts batches of the model to record batches.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow_schema::SchemaRef;
use isomorph_error::{Error, Result};
use isomorph_model::schema::Owner;
use isomorph_model::{Batch, Columns, Ends, ValueKind};

use crate::arrays::{coefficients, column, declared, directed, labels, layers, relations, without_empty};
use crate::lazy_keys::{Keyed, Keys};
use crate::schema::{KIND, Role};
use crate::table::TableKind;

/// Whether a batch has rows of a table.
pub(crate) fn is_of(kind: TableKind, batch: &Batch) -> bool {
    match (kind, batch) {
        (TableKind::Nodes(ty), Batch::Nodes(batch)) => batch.ty == ty,
        (TableKind::Edges(ty), Batch::Edges(batch)) => batch.ty == ty,
        (TableKind::Hyperedges(ty), Batch::Hyperedges(batch)) => batch.ty == ty,
        (TableKind::Members(ty), Batch::Members(batch)) => batch.ty == ty,
        (TableKind::Values(table), Batch::Values(batch)) => batch.table == table,
        (TableKind::Groups(kind), Batch::Groups(batch)) => batch.kind == kind,
        (TableKind::Memberships { kind, table }, Batch::Memberships(batch)) => {
            batch.kind == kind && batch.table == table
        }
        _ => false,
    }
}

/// Makes record batches of some columns of a table.
pub(crate) struct Rows {
    pub keys: Arc<Keys>,
    pub roles: Vec<Role>,
    pub schema: SchemaRef,
    /// Whether ends of edges are shown as rows of nodes.
    pub rows_of_ends: bool,
}

impl Rows {
    /// The columns of `batch`, which must be a batch of that table.
    ///
    /// # Errors
    /// If a column is missing, or its values are not of the declared type.
    pub fn of(&self, batch: &Batch) -> Result<RecordBatch> {
        let rows = batch.rows();
        let fields = self.roles.iter().zip(self.schema.fields());
        let columns = fields.map(|(role, field)| {
            let column = self.column(*role, batch, rows)?;
            let column = declared(column.as_ref(), field.data_type(), rows)?;
            // In some batches the empty text means no bag, in some null does.
            let is_bag = field.metadata().get(KIND).is_some_and(|kind| kind == ValueKind::Bag.word());
            if is_bag { without_empty(&column) } else { Ok(column) }
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(|error| Error::malformed(error.to_string()).caused_by(error))
    }

    /// A column of a batch; `None` if all of it is null.
    fn column(&self, role: Role, batch: &Batch, rows: usize) -> Result<Option<ArrayRef>> {
        let key = |keys: Option<&ArrayRef>| keys.map(Arc::clone).ok_or_else(|| Error::usage("rows without their keys"));
        let numbers = |start: u64| -> ArrayRef { Arc::new(UInt64Array::from_iter_values((start..).take(rows))) };
        Ok(Some(match (batch, role) {
            (Batch::Nodes(nodes), Role::Key) => key(nodes.keys.as_ref())?,
            (Batch::Nodes(nodes), Role::Row) => match &nodes.numbers {
                Some(numbers) => Arc::new(numbers.clone()),
                None => numbers(nodes.start),
            },
            (Batch::Nodes(nodes), Role::Labels) => labels(nodes.labels.as_ref(), rows),
            (Batch::Nodes(nodes), Role::Property(at)) => return property(&nodes.properties, at),
            (Batch::Edges(edges), Role::Source | Role::Target) if self.rows_of_ends => {
                let ends = if role == Role::Source { &edges.source } else { &edges.target };
                match ends {
                    Ends::Rows(rows) => Arc::new(rows.clone()),
                    Ends::Keys(_) => return Err(Error::usage("ends that are stored as keys have no rows")),
                }
            }
            (Batch::Edges(edges), Role::Source | Role::Target) => {
                let ty =
                    self.keys.graph().edges.get(edges.ty).ok_or_else(|| Error::usage("edges of an unknown type"))?;
                match role {
                    Role::Source => self.ends(Owner::Nodes(ty.source), &edges.source)?,
                    _ => self.ends(Owner::Nodes(ty.target), &edges.target)?,
                }
            }
            (Batch::Edges(edges), Role::Relation) => relations(edges.relations.as_ref())?,
            (Batch::Edges(edges), Role::Directed) => directed(edges.directed.as_ref(), rows),
            (Batch::Edges(edges), Role::Key) => key(edges.keys.as_ref())?,
            (Batch::Edges(edges), Role::SourceLayer) => layers(edges.layers.as_ref().map(|both| &both.0), rows)?.0,
            (Batch::Edges(edges), Role::SourceCoefficient) => {
                layers(edges.layers.as_ref().map(|both| &both.0), rows)?.1
            }
            (Batch::Edges(edges), Role::TargetLayer) => layers(edges.layers.as_ref().map(|both| &both.1), rows)?.0,
            (Batch::Edges(edges), Role::TargetCoefficient) => {
                layers(edges.layers.as_ref().map(|both| &both.1), rows)?.1
            }
            (Batch::Edges(edges), Role::Property(at)) => return property(&edges.properties, at),
            (Batch::Hyperedges(hyperedges), Role::Key) => Arc::clone(&hyperedges.keys),
            (Batch::Hyperedges(hyperedges), Role::Row) => numbers(hyperedges.start),
            (Batch::Hyperedges(hyperedges), Role::Directed) => directed(hyperedges.directed.as_ref(), rows),
            (Batch::Hyperedges(hyperedges), Role::Property(at)) => return property(&hyperedges.properties, at),
            (Batch::Members(members), Role::Owner) => self.ends(Owner::Hyperedges(members.ty), &members.owner)?,
            (Batch::Members(members), Role::Member) => {
                let ty = self
                    .keys
                    .graph()
                    .hyperedges
                    .get(members.ty)
                    .ok_or_else(|| Error::usage("members of an unknown type"))?;
                self.ends(Owner::Nodes(ty.ends), &members.member)?
            }
            (Batch::Members(members), Role::Part) => column(&members.roles),
            (Batch::Members(members), Role::Layer) => layers(members.layers.as_ref(), rows)?.0,
            (Batch::Members(members), Role::Coefficient) => coefficients(members.coefficients.as_ref(), rows),
            (Batch::Values(values), Role::Owner) => {
                let table = self
                    .keys
                    .graph()
                    .values
                    .get(values.table)
                    .ok_or_else(|| Error::usage("values of an unknown table"))?;
                self.ends(table.owner, &values.owner)?
            }
            (Batch::Values(values), Role::Value) => Arc::clone(&values.values),
            (Batch::Values(values), Role::Property(at)) => return property(&values.qualifiers, at),
            (Batch::Groups(groups), Role::Key) => Arc::clone(&groups.keys),
            (Batch::Groups(groups), Role::Row) => numbers(groups.start),
            (Batch::Groups(groups), Role::Property(at)) => return property(&groups.properties, at),
            (Batch::Memberships(members), Role::Group) => match &members.group {
                Ends::Keys(keys) => Arc::clone(keys),
                Ends::Rows(rows) => self.keys.of_groups(members.kind, rows)?,
            },
            (Batch::Memberships(members), Role::Member) => {
                let table =
                    self.keys.graph().groups.get(members.kind).and_then(|kind| kind.memberships.get(members.table));
                self.ends(
                    table.ok_or_else(|| Error::usage("members of an unknown kind of groups"))?.of,
                    &members.member,
                )?
            }
            (Batch::Memberships(members), Role::Property(at)) => return property(&members.properties, at),
            _ => return Err(Error::usage(format!("a table without {}", role.word()))),
        }))
    }

    /// Ends as keys; for elements without keys, as rows.
    fn ends(&self, owner: Owner, ends: &Ends) -> Result<ArrayRef> {
        let rows = match ends {
            Ends::Keys(keys) => return Ok(Arc::clone(keys)),
            Ends::Rows(rows) => rows,
        };
        match owner {
            Owner::Nodes(ty) => self.keys.gather(Keyed::Nodes(ty), rows),
            Owner::Hyperedges(ty) => self.keys.gather(Keyed::Hyperedges(ty), rows),
            // Edges that are owners by their position have no key.
            Owner::Edges(_) => Ok(Arc::new(rows.clone())),
        }
    }
}

/// A column of properties; `None` if all of it is null.
fn property(columns: &Columns, at: usize) -> Result<Option<ArrayRef>> {
    Ok(columns.get(at).cloned().flatten())
}
