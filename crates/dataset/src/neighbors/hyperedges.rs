//! The hyperedges that a node is a member of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray, UInt64Array, new_empty_array};
use arrow_cast::cast;
use arrow_schema::DataType;
use arrow_select::concat::concat;
use arrow_select::take::take;
use isomorph_error::{Error, Result};
use isomorph_model::batch::{HyperedgeBatch, MemberBatch, slice_columns};
use isomorph_model::schema::HyperedgeType;
use isomorph_model::{Batch, Columns, Direction, Ends, Incidents, Key, Property, Request, Side, Source, Tables};

use super::{Named, Neighbors, keys};
use crate::lazy_keys::{Keyed, Keys};
use crate::schema::property_name;

/// The hyperedges of a node.
#[derive(Debug, Clone, Default)]
pub struct HyperedgesOf {
    /// The key of the node as text, even if the node was given by row; empty if the graph has no hyperedges.
    pub node: String,
    /// The first of them, ordered by type name and then by key as text.
    pub hyperedges: Vec<HyperedgeOf>,
    /// Number of hyperedges beyond the limit.
    pub more: u64,
}

/// A hyperedge with its members.
#[derive(Debug, Clone)]
pub struct HyperedgeOf {
    /// Its type.
    pub ty: Arc<HyperedgeType>,
    /// Its key: one row.
    pub key: ArrayRef,
    /// Whether it has a direction.
    pub directed: bool,
    /// The role of each member: `head`, `tail` or `member`.
    pub roles: Vec<String>,
    /// The kind of the members' keys.
    pub member_key: Key,
    /// The keys of the members, in the same order.
    pub members: ArrayRef,
    /// The properties, one row each, in the order of the type; `None` for a property that was not requested, or that is
    /// null.
    pub properties: Columns,
}

/// A hyperedge by the name of its type and its key as text.
type Name = (String, String);

/// Reads the hyperedges of the requested node.
pub(super) fn read(asked: &Neighbors<'_>) -> Result<HyperedgesOf> {
    let own = asked.dataset.source();
    let key = match &asked.node {
        Named::Key(key) => key.clone(),
        // Finding the key of a row takes time.
        Named::Row(_) if own.graph().hyperedges.is_empty() => return Ok(HyperedgesOf::default()),
        Named::Row(row) => {
            let keys = keys::of_rows(own.as_ref(), asked.ty, &UInt64Array::from(vec![*row]))?;
            texts(&keys)?.value(0).to_owned()
        }
    };
    let none = |key: String| HyperedgesOf { node: key, ..HyperedgesOf::default() };
    match own.incidents(&key)? {
        Incidents::None => Ok(none(key)),
        Incidents::In(source) => {
            let keys = Keys::new(Arc::clone(&source), asked.dataset.resources().clone());
            of_key(asked, source.as_ref(), &keys, key)
        }
        Incidents::Here if own.graph().hyperedges.is_empty() => Ok(HyperedgesOf::default()),
        Incidents::Here => of_key(asked, own.as_ref(), asked.dataset.keys(), key),
    }
}

fn of_key(asked: &Neighbors<'_>, source: &dyn Source, keys: &Keys, key: String) -> Result<HyperedgesOf> {
    let types = source.graph().hyperedges.iter();
    let types = types.map(|own| {
        let is_wanted = own.ends == asked.ty && asked.relation.as_ref().is_none_or(|relation| *relation == own.name);
        is_wanted.then(|| Arc::new(own.clone()))
    });
    let reading = Reading { source, keys, types: types.collect() };
    let mut found = HyperedgesOf { node: key, ..HyperedgesOf::default() };
    if reading.types.iter().all(Option::is_none) {
        return Ok(found);
    }
    let mut roles = vec!["member"];
    roles.extend(asked.sides.include(Side::Out).then_some("head"));
    roles.extend(asked.sides.include(Side::In).then_some("tail"));
    let mut names: BTreeSet<Name> = BTreeSet::new();
    reading.members(&mut |ty, batch| {
        let members = texts(&reading.nodes(ty, &batch.member)?)?;
        let is_wanted = |row: usize| members.value(row) == found.node && roles.contains(&batch.roles.value(row));
        let rows: Vec<u64> =
            (0u64..).zip(0..members.len()).filter(|(_, row)| is_wanted(*row)).map(|(at, _)| at).collect();
        if !rows.is_empty() {
            let owners = texts(&of_rows(&reading.owners(batch)?, &rows)?)?;
            names.extend(owners.iter().flatten().map(|owner| (ty.name.clone(), owner.to_owned())));
        }
        Ok(())
    })?;
    found.more = names.len().saturating_sub(asked.limit) as u64;
    let names: BTreeSet<Name> = names.into_iter().take(asked.limit).collect();
    if names.is_empty() {
        return Ok(found);
    }
    let mut pieces = reading.pieces(&names)?;
    reading.describe(&names, &mut pieces)?;
    let wants = |property: &Property| asked.wants(property_name(property));
    let members = names.iter().filter_map(|name| pieces.remove(name));
    found.hyperedges = members.map(|pieces| pieces.whole(&wants)).collect::<Result<_>>()?;
    Ok(found)
}

/// A hyperedge while it is being read.
struct Pieces {
    ty: Arc<HyperedgeType>,
    key: ArrayRef,
    directed: bool,
    member_key: Key,
    roles: Vec<String>,
    members: Vec<ArrayRef>,
    properties: Columns,
}

impl Pieces {
    fn whole(self, wants: &dyn Fn(&Property) -> bool) -> Result<HyperedgeOf> {
        let Pieces { ty, key, directed, member_key, roles, members, properties } = self;
        let members: Vec<&dyn Array> = members.iter().map(AsRef::as_ref).collect();
        let members = match members.is_empty() {
            true => new_empty_array(&member_key.data_type),
            false => concat(&members).map_err(broken)?,
        };
        let properties =
            ty.properties.iter().zip(properties).map(|(property, column)| column.filter(|_| wants(property)));
        let properties = properties.collect();
        Ok(HyperedgeOf { ty, key, directed, roles, member_key, members, properties })
    }
}

/// Passes over hyperedges and their members.
struct Reading<'a> {
    source: &'a dyn Source,
    keys: &'a Keys,
    /// The types that are requested.
    types: Vec<Option<Arc<HyperedgeType>>>,
}

impl Reading<'_> {
    fn each(&self, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        for mut part in self.source.scan(&Request::of(Tables::Rest))? {
            part.read(take)?;
        }
        Ok(())
    }

    fn members(&self, take: &mut dyn FnMut(&Arc<HyperedgeType>, &MemberBatch) -> Result<()>) -> Result<()> {
        self.each(&mut |batch| {
            let Batch::Members(batch) = &batch else { return Ok(()) };
            self.types.get(batch.ty).and_then(Option::as_ref).map_or(Ok(()), |ty| take(ty, batch))
        })
    }

    /// The keys of the members of hyperedges.
    fn nodes(&self, ty: &HyperedgeType, ends: &Ends) -> Result<ArrayRef> {
        match ends {
            Ends::Keys(keys) => Ok(Arc::clone(keys)),
            Ends::Rows(rows) => self.keys.gather(Keyed::Nodes(ty.ends), rows),
        }
    }

    /// The keys of the hyperedges of members.
    fn owners(&self, batch: &MemberBatch) -> Result<ArrayRef> {
        match &batch.owner {
            Ends::Keys(keys) => Ok(Arc::clone(keys)),
            Ends::Rows(rows) => self.keys.gather(Keyed::Hyperedges(batch.ty), rows),
        }
    }

    /// Reads the members of these hyperedges.
    fn pieces(&self, names: &BTreeSet<Name>) -> Result<BTreeMap<Name, Pieces>> {
        let mut all: BTreeMap<Name, Pieces> = BTreeMap::new();
        self.members(&mut |ty, batch| {
            let owners = self.owners(batch)?;
            let owner_texts = texts(&owners)?;
            let mut members = None;
            for (row, owner) in owner_texts.iter().enumerate() {
                let name = (ty.name.clone(), owner.unwrap_or_default().to_owned());
                if !names.contains(&name) {
                    continue;
                }
                let members = match &members {
                    Some(members) => members,
                    None => members.insert(self.nodes(ty, &batch.member)?),
                };
                let member_key =
                    || self.source.graph().nodes.get(ty.ends).map_or_else(Key::row, |node| node.key.clone());
                let pieces = all.entry(name).or_insert_with(|| Pieces {
                    ty: Arc::clone(ty),
                    key: owners.slice(row, 1),
                    directed: false,
                    member_key: member_key(),
                    roles: Vec::new(),
                    members: Vec::new(),
                    properties: vec![None; ty.properties.len()],
                });
                pieces.roles.push(batch.roles.value(row).to_owned());
                pieces.members.push(members.slice(row, 1));
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Reads direction and properties of these hyperedges.
    fn describe(&self, names: &BTreeSet<Name>, all: &mut BTreeMap<Name, Pieces>) -> Result<()> {
        self.each(&mut |batch| {
            let Batch::Hyperedges(batch) = &batch else { return Ok(()) };
            let Some(ty) = self.types.get(batch.ty).and_then(Option::as_ref) else { return Ok(()) };
            for (row, key) in texts(&batch.keys)?.iter().enumerate() {
                let name = (ty.name.clone(), key.unwrap_or_default().to_owned());
                if let Some(pieces) = all.get_mut(&name).filter(|_| names.contains(&name)) {
                    pieces.key = batch.keys.slice(row, 1);
                    pieces.directed = is_directed(ty, batch, row);
                    pieces.properties = slice_columns(&batch.properties, row, 1);
                }
            }
            Ok(())
        })
    }
}

fn is_directed(ty: &HyperedgeType, batch: &HyperedgeBatch, row: usize) -> bool {
    match ty.direction {
        Direction::Directed => true,
        Direction::Undirected => false,
        Direction::PerRow => batch.directed.as_ref().is_none_or(|all| all.is_null(row) || all.value(row)),
    }
}

/// Keys as text.
fn texts(keys: &ArrayRef) -> Result<StringArray> {
    Ok(cast(keys, &DataType::Utf8).map_err(broken)?.as_string::<i32>().clone())
}

fn of_rows(keys: &ArrayRef, rows: &[u64]) -> Result<ArrayRef> {
    take(keys.as_ref(), &UInt64Array::from(rows.to_vec()), None).map_err(broken)
}

fn broken(error: arrow_schema::ArrowError) -> Error {
    Error::malformed(error.to_string()).caused_by(error)
}
