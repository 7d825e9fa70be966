//! Hyperedges and their members, value tables, groups and memberships, documents.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array, StringArray};
use arrow_buffer::NullBuffer;
use isomorph_error::{Error, Place, Result};

use super::cells::Cells;
use super::content::{ContentDigest, RowHashes, is_directed};
use super::encode::{Buffer, Tag};
use super::fact::{KeyStem, of_parts, stem};
use super::table::{Line, LineKind};
use super::values::{add_values, column_name, same_length, sum_row_values};
use crate::batch::{GroupBatch, HyperedgeBatch, MemberBatch, MembershipBatch, ValueBatch};
use crate::schema::{DocumentBody, GroupKind, MembershipTable, Owner};
use crate::{Batch, Ends, Graph, well_known};

impl ContentDigest {
    /// Adds a batch of anything except nodes and edges. `rows` provides the key hashes if ends or owners are rows.
    ///
    /// # Errors
    /// Returns an error if a key is null, an end does not exist, a cell is invalid, or the batch contains nodes or edges.
    pub fn rest(&mut self, graph: &Graph, batch: &Batch, rows: &dyn RowHashes) -> Result<()> {
        match batch {
            Batch::Nodes(_) | Batch::Edges(_) => Err(Error::usage("use the methods for nodes and edges")),
            Batch::Hyperedges(batch) => self.hyperedges(graph, batch).map(|_| ()),
            Batch::Members(batch) => self.members(graph, batch, rows),
            Batch::Values(batch) => self.values(graph, batch, rows),
            Batch::Groups(batch) => self.groups(graph, batch).map(|_| ()),
            Batch::Memberships(batch) => self.memberships(graph, batch, rows),
        }
    }

    /// Adds hyperedges; returns the hashes of their keys, in order.
    ///
    /// # Errors
    /// Same as [`ContentDigest::nodes`].
    pub fn hyperedges(&mut self, graph: &Graph, batch: &HyperedgeBatch) -> Result<Vec<u128>> {
        let ty = graph.hyperedges.get(batch.ty).ok_or_else(|| Error::usage("no such hyperedge type"))?;
        same_length(batch.keys.as_ref(), batch.rows, "key")?;
        if let Some(directed) = &batch.directed {
            same_length(directed, batch.rows, well_known::DIRECTED)?;
        }
        let names = [ty.name.as_str()];
        let mut keys = Vec::new();
        KeyStem::new("hyperedges", &names, ty.key.kind).hash(batch.keys.as_ref(), &mut self.buffer, &mut keys)?;
        let stem = stem("hyperedges", &names, "");
        let mut sum = self.tallies.begin();
        for (row, key) in keys.iter().enumerate() {
            let directed = is_directed(ty.direction, batch.directed.as_ref(), row);
            sum.add(of_parts([stem, *key, u128::from(directed)]));
        }
        self.tallies.merge_line(Line::new(LineKind::Hyperedges, &names, ""), sum);
        self.all_groups(graph, Owner::Hyperedges(batch.ty), &keys)?;
        let (table, buffer) = (&mut self.tallies, &mut self.buffer);
        add_values(table, buffer, (LineKind::Hyperedges, &names), &ty.properties, &batch.properties, &keys)?;
        Ok(keys)
    }

    /// Adds members of hyperedges. Each is one fact, of the hyperedge, the member with its layer and coefficient, and
    /// the role.
    ///
    /// # Errors
    /// Same as [`ContentDigest::edges`].
    pub fn members(&mut self, graph: &Graph, batch: &MemberBatch, rows: &dyn RowHashes) -> Result<()> {
        let ty = graph.hyperedges.get(batch.ty).ok_or_else(|| Error::usage("no such hyperedge type"))?;
        let (mut owners, mut members) = (Vec::new(), Vec::new());
        self.owner_hashes(graph, Owner::Hyperedges(batch.ty), &batch.owner, rows, &mut owners)?;
        self.end_hashes(graph, ty.ends, &batch.member, rows, &mut members)?;
        if owners.len() != members.len() {
            return Err(Error::usage("the numbers of members and hyperedges differ"));
        }
        same_length(&batch.roles, members.len(), "role")?;
        let layers = batch.layers.as_deref();
        add_details(&mut self.buffer, layers, batch.coefficients.as_ref(), None, &mut members)?;
        let stem = stem("members", &[&ty.name], "");
        let mut sum = self.tallies.begin();
        for ((owner, member), role) in owners.iter().zip(&members).zip(&batch.roles) {
            self.buffer.begin([stem, *owner, *member]);
            self.buffer.text(role.ok_or_else(|| Error::malformed("a member has no role"))?);
            sum.add(self.buffer.hash());
        }
        self.tallies.merge_line(Line::new(LineKind::Members, &[&ty.name], ""), sum);
        Ok(())
    }

    /// Adds values of a value table: the same facts as those of a column; a value with qualifiers includes them.
    ///
    /// # Errors
    /// Same as [`ContentDigest::edges`].
    pub fn values(&mut self, graph: &Graph, batch: &ValueBatch, rows: &dyn RowHashes) -> Result<()> {
        let table = graph.values.get(batch.table).ok_or_else(|| Error::usage("no such value table"))?;
        let mut owners = Vec::new();
        self.owner_hashes(graph, table.owner, &batch.owner, rows, &mut owners)?;
        same_length(batch.values.as_ref(), owners.len(), &table.property.name)?;
        let mut qualifiers = vec![0; owners.len()];
        sum_row_values(&mut self.buffer, &table.qualifiers, &batch.qualifiers, &mut qualifiers)?;
        let (kind, names) = owner_name(graph, table.owner);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let name = column_name(&table.property.name);
        let stem = stem(kind.word(), &names, name);
        let cells = Cells::new(&table.property, batch.values.as_ref())?;
        let mut sum = self.tallies.begin();
        cells
            .hash_all(
                &mut self.buffer,
                |row| [stem, owners[row]],
                |row, value| match qualifiers[row] {
                    0 => sum.add(value),
                    qualifiers => sum.add(of_parts([value, qualifiers])),
                },
            )
            .map_err(|error| error.at(Place::field(table.property.name.clone())))?;
        self.tallies.merge_line(Line::new(kind, &names, name), sum);
        Ok(())
    }

    /// Adds groups; returns the hashes of their keys, in order.
    ///
    /// # Errors
    /// Same as [`ContentDigest::nodes`].
    pub fn groups(&mut self, graph: &Graph, batch: &GroupBatch) -> Result<Vec<u128>> {
        let kind = graph.groups.get(batch.kind).ok_or_else(|| Error::usage("no such kind of groups"))?;
        let names = [kind.kind.as_str()];
        let mut keys = Vec::new();
        KeyStem::new("groups", &names, kind.key.kind).hash(batch.keys.as_ref(), &mut self.buffer, &mut keys)?;
        let stem = stem("groups", &names, "");
        let mut sum = self.tallies.begin();
        keys.iter().for_each(|key| sum.add(of_parts([stem, *key])));
        self.tallies.merge_line(Line::new(LineKind::Groups, &names, ""), sum);
        let (table, buffer) = (&mut self.tallies, &mut self.buffer);
        add_values(table, buffer, (LineKind::Groups, &names), &kind.properties, &batch.properties, &keys)?;
        Ok(keys)
    }

    /// Adds memberships. Each is one fact, of the group, the member and the membership's properties.
    ///
    /// # Errors
    /// Same as [`ContentDigest::edges`].
    pub fn memberships(&mut self, graph: &Graph, batch: &MembershipBatch, rows: &dyn RowHashes) -> Result<()> {
        let kind = graph.groups.get(batch.kind).ok_or_else(|| Error::usage("no such kind of groups"))?;
        let table = kind.memberships.get(batch.table).ok_or_else(|| Error::usage("no such membership table"))?;
        let (mut groups, mut members) = (Vec::new(), Vec::new());
        match &batch.group {
            Ends::Keys(keys) => KeyStem::new("groups", &[&kind.kind], kind.key.kind).hash(
                keys.as_ref(),
                &mut self.buffer,
                &mut groups,
            )?,
            Ends::Rows(ends) => rows.gather_of(LineKind::Groups, batch.kind, ends.values(), &mut groups)?,
        }
        self.owner_hashes(graph, table.of, &batch.member, rows, &mut members)?;
        if groups.len() != members.len() {
            return Err(Error::usage("the numbers of groups and members in memberships differ"));
        }
        let mut values = vec![0; members.len()];
        sum_row_values(&mut self.buffer, &table.properties, &batch.properties, &mut values)?;
        let line = membership_line(graph, kind, table);
        let stem = line.stem();
        let all = self.all_keys(graph, kind, table)?;
        let mut sum = self.tallies.begin();
        for ((group, member), values) in groups.iter().zip(&members).zip(values) {
            let fact = of_parts([stem, *group, *member, values]);
            if all.contains(group) {
                // It is already a member by the rule, so the row adds only its properties.
                sum.replace(of_parts([stem, *group, *member, 0]), fact);
            } else {
                sum.add(fact);
            }
        }
        self.tallies.merge_line(line, sum);
        Ok(())
    }

    /// Adds elements to the groups that contain every element without listing them.
    pub(super) fn all_groups(&mut self, graph: &Graph, owner: Owner, members: &[u128]) -> Result<()> {
        for kind in graph.groups.iter().filter(|kind| !kind.all.is_empty()) {
            for table in kind.memberships.iter().filter(|table| table.of == owner) {
                let line = membership_line(graph, kind, table);
                let stem = line.stem();
                let mut sum = self.tallies.begin();
                for group in self.all_keys(graph, kind, table)? {
                    members.iter().for_each(|member| sum.add(of_parts([stem, group, *member, 0])));
                }
                self.tallies.merge_line(line, sum);
            }
        }
        Ok(())
    }

    /// Returns the key hashes of the groups of a kind that contain all elements of a table.
    fn all_keys(&mut self, graph: &Graph, kind: &GroupKind, table: &MembershipTable) -> Result<Vec<u128>> {
        let mut keys = Vec::new();
        let implied = matches!(table.of, Owner::Nodes(ty) if graph.nodes.get(ty).is_some_and(|ty| ty.implied));
        if !kind.all.is_empty() && !implied {
            let names = StringArray::from_iter_values(&kind.all);
            KeyStem::new("groups", &[&kind.kind], kind.key.kind).hash(&names, &mut self.buffer, &mut keys)?;
        }
        Ok(keys)
    }

    /// Returns the key hashes of elements that own values or are members of groups.
    fn owner_hashes(
        &mut self,
        graph: &Graph,
        owner: Owner,
        ends: &Ends,
        rows: &dyn RowHashes,
        out: &mut Vec<u128>,
    ) -> Result<()> {
        let (kind, names) = owner_name(graph, owner);
        let (ty, key) = match owner {
            Owner::Nodes(ty) => return self.end_hashes(graph, ty, ends, rows, out),
            Owner::Edges(ty) => (ty, graph.edges.get(ty).and_then(|ty| ty.key.as_ref())),
            Owner::Hyperedges(ty) => (ty, graph.hyperedges.get(ty).map(|ty| &ty.key)),
        };
        let key = key.ok_or_else(|| Error::usage("only elements with a key can own values or be members of groups"))?;
        out.clear();
        match ends {
            Ends::Keys(keys) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                KeyStem::new(kind.word(), &names, key.kind).hash(keys.as_ref(), &mut self.buffer, out)
            }
            Ends::Rows(ends) => rows.gather_of(kind, ty, ends.values(), out),
        }
    }

    /// Combines each end with its layer and coefficient.
    pub(super) fn with_details(&mut self, details: &dyn Array, hashes: &mut [u128]) -> Result<()> {
        let Some(both) = details.as_struct_opt() else {
            return add_details(&mut self.buffer, Some(details), None, None, hashes);
        };
        let coefficients = both.column_by_name(well_known::COEFFICIENT);
        let coefficients = coefficients.and_then(|column| column.as_primitive_opt::<Float64Type>());
        let layers = both.column_by_name("layer").map(|column| column.as_ref());
        add_details(&mut self.buffer, layers, coefficients, both.nulls(), hashes)
    }

    /// Adds the documents of a graph.
    ///
    /// # Errors
    /// Returns an error if a JSON document is not JSON, or the model does not support a type.
    pub fn documents(&mut self, graph: &Graph) -> Result<()> {
        for document in &graph.documents {
            let name = [document.name.as_str()];
            self.buffer.bytes.clear();
            self.buffer.hashed(stem("documents", &name, ""));
            body(&document.body, &mut self.buffer).map_err(|error| error.at(Place::field(document.name.clone())))?;
            let mut sum = self.tallies.begin();
            sum.add(self.buffer.hash());
            self.tallies.merge_line(Line::new(LineKind::Documents, &name, ""), sum);
        }
        Ok(())
    }
}

/// Combines each end with its layer and coefficient, if it has one.
fn add_details(
    buffer: &mut Buffer,
    layers: Option<&dyn Array>,
    coefficients: Option<&Float64Array>,
    nulls: Option<&NullBuffer>,
    hashes: &mut [u128],
) -> Result<()> {
    if let Some(layers) = layers {
        same_length(layers, hashes.len(), "layer")?;
    }
    if let Some(coefficients) = coefficients {
        same_length(coefficients, hashes.len(), well_known::COEFFICIENT)?;
    }
    let layers = layers.map(Cells::plain).transpose()?;
    for (row, hash) in hashes.iter_mut().enumerate() {
        if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            continue;
        }
        buffer.bytes.clear();
        buffer.hashed(*hash);
        let mut present = false;
        buffer.item(|buffer| {
            let layer = layers.as_ref().map_or(Ok(false), |layers| layers.encode(row, buffer))?;
            present |= layer;
            Ok(layer)
        })?;
        if let Some(coefficients) = coefficients.filter(|all| all.is_valid(row)) {
            buffer.float(coefficients.value(row));
            present = true;
        }
        if present {
            *hash = buffer.hash();
        }
    }
    Ok(())
}

/// Returns the kind and the parts of the name of a table of elements.
fn owner_name(graph: &Graph, owner: Owner) -> (LineKind, Vec<String>) {
    let name = |name: Option<&String>| vec![name.cloned().unwrap_or_default()];
    match owner {
        Owner::Nodes(ty) => (LineKind::Nodes, name(graph.nodes.get(ty).map(|ty| &ty.name))),
        Owner::Hyperedges(ty) => (LineKind::Hyperedges, name(graph.hyperedges.get(ty).map(|ty| &ty.name))),
        Owner::Edges(ty) => {
            let parts = graph.edges.get(ty).map(|ty| graph.edge_name(ty)).unwrap_or_default();
            (LineKind::Edges, vec![parts.0, parts.1, parts.2])
        }
    }
}

/// Returns the line of a membership table: kind of groups, kind of members, name of their type.
fn membership_line(graph: &Graph, kind: &GroupKind, table: &MembershipTable) -> Line {
    let (of, names) = owner_name(graph, table.of);
    let ty = [kind.kind.clone(), of.word().to_owned()].into_iter().chain(names).collect();
    Line { kind: LineKind::Memberships, ty, property: String::new() }
}

/// Appends the bytes of a document, preceded by its kind.
fn body(body: &DocumentBody, buffer: &mut Buffer) -> Result<()> {
    match body {
        DocumentBody::Json(text) => {
            buffer.bytes.extend_from_slice(b"json");
            super::json::encode(text, buffer)
        }
        DocumentBody::Text(text) => {
            buffer.bytes.extend_from_slice(b"text");
            buffer.text(text);
            Ok(())
        }
        DocumentBody::Bytes(bytes) => {
            buffer.bytes.extend_from_slice(b"bytes");
            buffer.tail(Tag::Bytes, bytes);
            Ok(())
        }
        DocumentBody::Table(table) => {
            buffer.bytes.extend_from_slice(b"table");
            buffer.number(table.num_columns() as u64);
            buffer.number(table.num_rows() as u64);
            for (field, column) in table.schema().fields().iter().zip(table.columns()) {
                buffer.sized_bytes(field.name().as_bytes());
                let cells = Cells::plain(column.as_ref())?;
                for row in 0..column.len() {
                    buffer.item(|buffer| cells.encode(row, buffer))?;
                }
            }
            Ok(())
        }
    }
}
