//! Hyperedges with their members, groups and memberships as lines.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, UInt64Array, new_null_array};
use arrow_schema::DataType;
use arrow_select::concat::concat;
use arrow_select::take::take;
use isomorph_error::{Error, Result};
use isomorph_model::batch::{GroupBatch, HyperedgeBatch, MemberBatch, MembershipBatch, ValueBatch};
use isomorph_model::schema::Owner;
use isomorph_model::type_name::list_of;
use isomorph_model::{
    Batch, Columns, Direction, Ends, Graph, Key, Property, Request, Source, Tables, json, well_known,
};

use super::{Element, KeyTexts, LineOf, PropertyTexts, Renderer};
use crate::mapping::json_out::push_float;

/// Keys of hyperedges and groups by row, if something refers to them by row.
#[derive(Default)]
pub(super) struct KeysBeside {
    hyperedges: Vec<Option<ArrayRef>>,
    groups: Vec<Option<ArrayRef>>,
}

impl KeysBeside {
    /// Reads the keys of all hyperedges and groups.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn read(source: &dyn Source) -> Result<Self> {
        let graph = source.graph();
        let mut hyperedges: Vec<Vec<(u64, ArrayRef)>> = vec![Vec::new(); graph.hyperedges.len()];
        let mut groups: Vec<Vec<(u64, ArrayRef)>> = vec![Vec::new(); graph.groups.len()];
        for mut part in source.scan(&Request::of(Tables::Rest))? {
            part.read(&mut |batch| {
                let (all, start, keys) = match batch {
                    Batch::Hyperedges(batch) => (hyperedges.get_mut(batch.ty), batch.start, batch.keys),
                    Batch::Groups(batch) => (groups.get_mut(batch.kind), batch.start, batch.keys),
                    _ => return Ok(()),
                };
                all.into_iter().for_each(|all| all.push((start, keys.clone())));
                Ok(())
            })?;
        }
        let joined = |all: Vec<Vec<(u64, ArrayRef)>>| all.into_iter().map(join).collect::<Result<_>>();
        Ok(KeysBeside { hyperedges: joined(hyperedges)?, groups: joined(groups)? })
    }
}

/// Joins pieces of a column, in the order of their rows.
fn join(mut pieces: Vec<(u64, ArrayRef)>) -> Result<Option<ArrayRef>> {
    pieces.sort_by_key(|(start, _)| *start);
    let arrays: Vec<&dyn Array> = pieces.iter().map(|(_, keys)| keys.as_ref()).collect();
    match arrays.as_slice() {
        [] => Ok(None),
        arrays => concat(arrays).map(Some).map_err(|error| Error::malformed(error.to_string())),
    }
}

/// The keys at `rows` of a table.
fn gather(keys: Option<&Option<ArrayRef>>, rows: &UInt64Array) -> Result<ArrayRef> {
    let keys = keys.and_then(Option::as_ref).ok_or_else(|| Error::usage("ends are rows, but keys were announced"))?;
    take(keys, rows, None).map_err(|error| Error::malformed(error.to_string()))
}

/// Name and key of a table of elements.
fn table_of(graph: &Graph, owner: Owner) -> Result<(&'static str, String, Key)> {
    let none = || Error::usage("no such table of members");
    match owner {
        Owner::Nodes(at) => graph.nodes.get(at).map(|ty| ("node", ty.name.clone(), ty.key.clone())),
        Owner::Hyperedges(at) => graph.hyperedges.get(at).map(|ty| ("hyperedge", ty.name.clone(), ty.key.clone())),
        Owner::Edges(at) => graph.edges.get(at).and_then(|ty| {
            let name = ty.relation.fixed().unwrap_or_default().to_owned();
            Some(("edge", name, ty.key.clone()?))
        }),
    }
    .ok_or_else(none)
}

/// Layers, and coefficients if there are any, of one end of edges.
pub(super) fn split_details(details: &ArrayRef) -> (ArrayRef, Option<ArrayRef>) {
    match details.as_struct_opt() {
        Some(both) => {
            let column = |name: &str| both.column_by_name(name).cloned();
            let layers = column("layer").unwrap_or_else(|| new_null_array(&list_of(DataType::Utf8), both.len()));
            (layers, column(well_known::COEFFICIENT))
        }
        None => (details.clone(), None),
    }
}

/// Layers and coefficients of the ends of edges, as JSON.
pub(super) struct DetailTexts<'a> {
    layers: [KeyTexts<'a>; 2],
    coefficients: Option<[&'a Float64Array; 2]>,
}

impl<'a> DetailTexts<'a> {
    /// Created from the results of [`split_details`] for source and target.
    pub(super) fn new(
        source: &'a (ArrayRef, Option<ArrayRef>),
        target: &'a (ArrayRef, Option<ArrayRef>),
    ) -> Result<Self> {
        let floats = |column: &'a Option<ArrayRef>| column.as_ref()?.as_primitive_opt::<Float64Type>();
        Ok(DetailTexts {
            layers: [KeyTexts::new(&Key::utf8(), &source.0)?, KeyTexts::new(&Key::utf8(), &target.0)?],
            coefficients: floats(&source.1).zip(floats(&target.1)).map(|(source, target)| [source, target]),
        })
    }

    /// Appends the JSON members for a row; `swapped` states that the target comes first.
    pub(super) fn push(&self, row: usize, swapped: bool, line: &mut String) {
        let order = if swapped { [1, 0] } else { [0, 1] };
        for (at, end) in order.into_iter().enumerate() {
            line.push_str(if at == 0 { ",\"layers\":[" } else { "," });
            self.layers[end].push(row, line);
        }
        line.push(']');
        let Some(all) = self.coefficients.filter(|all| all.iter().any(|column| column.is_valid(row))) else { return };
        for (at, end) in order.into_iter().enumerate() {
            line.push_str(if at == 0 { ",\"coefficients\":[" } else { "," });
            match all[end].is_valid(row) {
                true => push_float(all[end].value(row), line),
                false => line.push_str("null"),
            }
        }
        line.push(']');
    }
}

impl Renderer {
    /// Calls `each` for every row of a batch that holds neither nodes nor edges.
    pub(super) fn rest(&self, batch: &Batch, each: &mut dyn FnMut(Element<'_>) -> Result<()>) -> Result<()> {
        match batch {
            Batch::Hyperedges(batch) => self.hyperedges(batch, each),
            Batch::Members(batch) => self.members(batch, each),
            Batch::Groups(batch) => self.groups(batch, each),
            Batch::Memberships(batch) => self.memberships(batch, each),
            Batch::Values(batch) => self.values(batch, each),
            Batch::Nodes(_) | Batch::Edges(_) => Err(Error::usage("nodes and edges are rendered separately")),
        }
    }

    /// Keys of elements of a table.
    fn keys_of(&self, owner: Owner, ends: &Ends) -> Result<ArrayRef> {
        match (ends, owner) {
            (Ends::Keys(keys), _) => Ok(keys.clone()),
            (Ends::Rows(rows), Owner::Nodes(ty)) => self.keys.gather(ty, rows.values()),
            (Ends::Rows(rows), Owner::Hyperedges(ty)) => gather(self.beside.hyperedges.get(ty), rows),
            (Ends::Rows(_), Owner::Edges(_)) => {
                Err(Error::unsupported("edges that are given by row cannot be rendered"))
            }
        }
    }

    fn hyperedges(&self, batch: &HyperedgeBatch, each: &mut dyn FnMut(Element<'_>) -> Result<()>) -> Result<()> {
        let ty = self.graph.hyperedges.get(batch.ty).ok_or_else(|| Error::usage("no such hyperedge type"))?;
        let mut properties = PropertyTexts::new(&ty.properties, &batch.properties)?;
        let keys = KeyTexts::new(&ty.key, &batch.keys)?;
        let (mut line, mut identity) = (String::new(), String::new());
        for row in 0..batch.rows {
            identity.clear();
            keys.push(row, &mut identity);
            line.clear();
            line.push_str("{\"hyperedge\":");
            json::push_string(&mut line, &ty.name);
            let _ = write!(line, ",\"key\":{identity}");
            let directed = match ty.direction {
                Direction::Directed => true,
                Direction::Undirected => false,
                Direction::PerRow => batch.directed.as_ref().is_none_or(|all| all.is_null(row) || all.value(row)),
            };
            if !directed {
                line.push_str(",\"directed\":false");
            }
            properties.push(row, &mut line)?;
            line.push('}');
            each(Element { of: LineOf::Hyperedge, ty: &ty.name, identity: &identity, statement: "", line: &line })?;
        }
        Ok(())
    }

    fn values(&self, batch: &ValueBatch, each: &mut dyn FnMut(Element<'_>) -> Result<()>) -> Result<()> {
        let table = self.graph.values.get(batch.table).ok_or_else(|| Error::usage("no such table of values"))?;
        let (word, name, key) = table_of(&self.graph, table.owner)?;
        let described: Vec<Property> = std::iter::once(&table.property).chain(&table.qualifiers).cloned().collect();
        let columns: Columns = std::iter::once(Some(batch.values.clone())).chain(batch.qualifiers.clone()).collect();
        let mut properties = PropertyTexts::new(&described, &columns)?;
        let mut qualifiers = PropertyTexts::new(&table.qualifiers, &batch.qualifiers)?;
        let owners = self.keys_of(table.owner, &batch.owner)?;
        let owners = KeyTexts::new(&key, &owners)?;
        let (mut line, mut identity, mut statement) = (String::new(), String::new(), String::new());
        for row in 0..batch.values.len() {
            identity.clear();
            owners.push(row, &mut identity);
            line.clear();
            line.push_str("{\"value\":");
            json::push_string(&mut line, &table.property.name);
            let _ = write!(line, ",\"of\":[\"{word}\",");
            json::push_string(&mut line, &name);
            let _ = write!(line, "],\"key\":{identity}");
            properties.push(row, &mut line)?;
            line.push('}');
            statement.clear();
            json::push_string(&mut statement, &table.property.name);
            qualifiers.push(row, &mut statement)?;
            each(Element { of: LineOf::Value, ty: &name, identity: &identity, statement: &statement, line: &line })?;
        }
        Ok(())
    }

    fn members(&self, batch: &MemberBatch, each: &mut dyn FnMut(Element<'_>) -> Result<()>) -> Result<()> {
        let ty = self.graph.hyperedges.get(batch.ty).ok_or_else(|| Error::usage("no such hyperedge type"))?;
        let (_, _, node) = table_of(&self.graph, Owner::Nodes(ty.ends))?;
        let (owners, members) = (
            self.keys_of(Owner::Hyperedges(batch.ty), &batch.owner)?,
            self.keys_of(Owner::Nodes(ty.ends), &batch.member)?,
        );
        let (owners, members) = (KeyTexts::new(&ty.key, &owners)?, KeyTexts::new(&node, &members)?);
        let layers = batch.layers.as_ref().map(|layers| KeyTexts::new(&ty.key, layers)).transpose()?;
        let (mut line, mut identity) = (String::new(), String::new());
        for row in 0..batch.member.len() {
            identity.clear();
            owners.push(row, &mut identity);
            let middle = identity.len();
            identity.push(',');
            members.push(row, &mut identity);
            line.clear();
            line.push_str("{\"member\":");
            json::push_string(&mut line, batch.roles.value(row));
            line.push_str(",\"of\":");
            json::push_string(&mut line, &ty.name);
            let (owner, member) = identity.split_at(middle);
            let _ = write!(line, ",\"hyperedge\":{owner},\"end\":{}", member.trim_start_matches(','));
            if let Some(layers) = &layers {
                line.push_str(",\"layer\":");
                layers.push(row, &mut line);
            }
            if let Some(all) = batch.coefficients.as_ref().filter(|all| all.is_valid(row)) {
                line.push_str(",\"coefficient\":");
                push_float(all.value(row), &mut line);
            }
            line.push('}');
            each(Element { of: LineOf::Member, ty: &ty.name, identity: &identity, statement: "", line: &line })?;
        }
        Ok(())
    }

    fn groups(&self, batch: &GroupBatch, each: &mut dyn FnMut(Element<'_>) -> Result<()>) -> Result<()> {
        let kind = self.graph.groups.get(batch.kind).ok_or_else(|| Error::usage("no such kind of groups"))?;
        let mut properties = PropertyTexts::new(&kind.properties, &batch.properties)?;
        let keys = KeyTexts::new(&kind.key, &batch.keys)?;
        let (mut line, mut identity) = (String::new(), String::new());
        for row in 0..batch.keys.len() {
            identity.clear();
            keys.push(row, &mut identity);
            line.clear();
            line.push_str("{\"group\":");
            json::push_string(&mut line, &kind.kind);
            let _ = write!(line, ",\"key\":{identity}");
            let is_all = |name: &String| {
                let mut quoted = String::new();
                json::push_string(&mut quoted, name);
                quoted == identity
            };
            if kind.all.iter().any(is_all) {
                line.push_str(",\"all\":true");
            }
            properties.push(row, &mut line)?;
            line.push('}');
            each(Element { of: LineOf::Group, ty: &kind.kind, identity: &identity, statement: "", line: &line })?;
        }
        Ok(())
    }

    fn memberships(&self, batch: &MembershipBatch, each: &mut dyn FnMut(Element<'_>) -> Result<()>) -> Result<()> {
        let kind = self.graph.groups.get(batch.kind).ok_or_else(|| Error::usage("no such kind of groups"))?;
        let table = kind.memberships.get(batch.table).ok_or_else(|| Error::usage("no such membership table"))?;
        let (word, name, key) = table_of(&self.graph, table.of)?;
        let mut properties = PropertyTexts::new(&table.properties, &batch.properties)?;
        let groups = match &batch.group {
            Ends::Keys(keys) => keys.clone(),
            Ends::Rows(rows) => gather(self.beside.groups.get(batch.kind), rows)?,
        };
        let members = self.keys_of(table.of, &batch.member)?;
        let (groups, members) = (KeyTexts::new(&kind.key, &groups)?, KeyTexts::new(&key, &members)?);
        let (mut line, mut identity) = (String::new(), String::new());
        for row in 0..batch.member.len() {
            identity.clear();
            groups.push(row, &mut identity);
            let middle = identity.len();
            let _ = write!(identity, ",\"{word}\",");
            let member = identity.len();
            members.push(row, &mut identity);
            line.clear();
            line.push_str("{\"membership\":");
            json::push_string(&mut line, &kind.kind);
            let group = identity.get(..middle).unwrap_or_default();
            let _ = write!(line, ",\"group\":{group},\"of\":[\"{word}\",");
            json::push_string(&mut line, &name);
            let _ = write!(line, "],\"key\":{}", identity.get(member..).unwrap_or_default());
            properties.push(row, &mut line)?;
            line.push('}');
            each(Element { of: LineOf::Membership, ty: &kind.kind, identity: &identity, statement: "", line: &line })?;
        }
        Ok(())
    }
}
