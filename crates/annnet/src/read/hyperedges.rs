//! Members of hyperedges.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ListArray};
use isomorph_error::{Findings, Place, Result, Rule};
use isomorph_model::json::{Value, value};
use isomorph_storage::{Budget, Reservation};

use super::entities::{Entities, Placement};
use super::ids::{self, ENTRY_BYTES, IdMap};
use super::json;
use super::layers::Layers;
use super::python::{self, Pair};
use crate::layout::column;
use crate::rules;
use crate::table::Table;

/// The role of a member in its hyperedge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// On the source side of a directed hyperedge.
    Head,
    /// On the target side.
    Tail,
    /// A member of an undirected hyperedge.
    Member,
}

impl Role {
    pub fn word(self) -> &'static str {
        match self {
            Role::Head => "head",
            Role::Tail => "tail",
            Role::Member => "member",
        }
    }
}

/// The definition of one hyperedge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Definition<'a> {
    pub directed: bool,
    pub members: &'a [(Placement, Role)],
    /// Whether each member names no layer.
    pub are_bare: &'a [bool],
}

/// The definitions of all hyperedges, by the hashes of their ids.
#[derive(Debug, Default)]
pub(crate) struct Hyperedges {
    rows: IdMap<u32>,
    directed: Vec<bool>,
    ends: Vec<usize>,
    members: Vec<(Placement, Role)>,
    are_bare: Vec<bool>,
    _held: Option<Reservation>,
}

impl Hyperedges {
    /// Reads the definitions.
    ///
    /// # Errors
    /// Returns an error if the table is malformed or exceeds the budget.
    pub fn read(
        table: &Table,
        entities: &Entities,
        layers: &Layers,
        budget: &Budget,
        findings: &mut Findings,
    ) -> Result<Hyperedges> {
        let columns = [column::EDGE_ID, column::DIRECTED, column::MEMBERS, column::HEAD, column::TAIL];
        let (cells, mut held) = table.read(&columns, budget)?;
        let ids = cells.ids(column::EDGE_ID, &rules::EDGE_ID)?;
        let directed = cells.booleans(column::DIRECTED)?;
        let lists = [
            (Role::Member, column::MEMBERS, cells.lists(column::MEMBERS)?),
            (Role::Head, column::HEAD, cells.lists(column::HEAD)?),
            (Role::Tail, column::TAIL, cells.lists(column::TAIL)?),
        ];
        let texts: usize = lists.iter().map(|(_, _, list)| list.values().len()).sum();
        held.grow(ids.len() as u64 * (ENTRY_BYTES + 16) + texts as u64 * 17)?;
        let mut all = Hyperedges { _held: Some(held), ..Hyperedges::default() };
        for row in 0..ids.len() {
            let stated = directed.is_valid(row).then(|| directed.value(row));
            let is_given = |list: &ListArray| texts_of(list, row).next().is_some();
            let sides = lists.iter().find(|(role, _, list)| *role != Role::Member && is_given(list));
            let all_alike = lists.iter().find(|(role, _, list)| *role == Role::Member && is_given(list));
            let lacks_sides = sides.is_none() && stated == Some(true);
            if let Some((_, name, _)) = all_alike.filter(|_| stated == Some(true)) {
                let message = format!("hyperedge {:?} is directed but has {name}, which have no side", ids.value(row));
                let place = Place::file(&table.name).row(row as u64).in_field(*name);
                findings.push(&rules::HYPEREDGE_SIDES, message, place);
            }
            if let Some((_, name, _)) = sides.filter(|_| stated != Some(true)) {
                let what = if stated.is_none() { "states no direction" } else { "is undirected" };
                let message = format!("hyperedge {:?} has a {name} but {what}", ids.value(row));
                findings.push(
                    &rules::HYPEREDGE_SIDES,
                    message,
                    Place::file(&table.name).row(row as u64).in_field(*name),
                );
            }
            // If no direction is stated, head and tail make an edge directed; an edge with only members is
            // undirected.
            let directed = stated.unwrap_or(sides.is_some()) && !(lacks_sides && all_alike.is_some());
            for (role, name, list) in &lists {
                if directed && *role == Role::Member {
                    continue;
                }
                let role = if directed { *role } else { Role::Member };
                let place = || Place::file(&table.name).row(row as u64).in_field(*name);
                for text in texts_of(list, row).flatten() {
                    if let Some((rule, what)) = json::string(text).and_then(|id| misread(&id)) {
                        findings.push(rule, format!("id {text} reads as {what}"), place());
                    }
                    match end(text, entities, layers, &table.name)? {
                        Some((placement, is_bare)) => {
                            if let Some(message) = entities.late(placement, layers) {
                                findings.push(&rules::PLACEMENT, message, place());
                            }
                            all.members.push((placement, role));
                            all.are_bare.push(is_bare);
                        }
                        None => {
                            let message = format!("member {text} of hyperedge {:?} is not an entity", ids.value(row));
                            findings.push(&rules::HYPEREDGE_MEMBER, message, place());
                        }
                    }
                }
            }
            all.directed.push(directed);
            all.ends.push(all.members.len());
            all.rows.insert(ids::hash(ids.value(row)), row as u32);
        }
        Ok(all)
    }

    /// Returns the number of definitions.
    pub fn len(&self) -> usize {
        self.directed.len()
    }

    /// Returns the definition of the edge whose id has this hash.
    pub fn get(&self, edge: u128) -> Option<Definition<'_>> {
        let row = *self.rows.get(&edge)? as usize;
        let start = row.checked_sub(1).and_then(|row| self.ends.get(row)).copied().unwrap_or_default();
        let range = start..*self.ends.get(row)?;
        let (members, are_bare) = (self.members.get(range.clone())?, self.are_bare.get(range)?);
        Some(Definition { directed: *self.directed.get(row)?, members, are_bare })
    }
}

/// Returns the texts of one row of a list column.
fn texts_of(list: &ListArray, row: usize) -> impl Iterator<Item = Option<&str>> {
    let range = match list.is_valid(row) {
        true => list.value_offsets()[row] as usize..list.value_offsets()[row + 1] as usize,
        false => 0..0,
    };
    let values = list.values().as_string::<i32>();
    range.map(move |at| values.is_valid(at).then(|| values.value(at)))
}

/// Returns the end that a text stands for, and whether it names no layer. JSON is decoded once; a pair of node and
/// layer, as older libraries wrote it (in JSON or in Python syntax), is a placement; everything else is an id.
fn end(text: &str, entities: &Entities, layers: &Layers, file: &str) -> Result<Option<(Placement, bool)>> {
    let bare = |id: &str| entities.resolve(id, None).map(|placement| (placement, true));
    // No node is in a layer that nothing else names.
    let placed = |node: &str, labels: &[String]| {
        let placement = layers.find(labels).and_then(|layer| entities.resolve(node, Some(layer)));
        placement.map(|placement| (placement, false))
    };
    match value(text) {
        Ok(Value::Array(array)) => Ok(match pair_of(array) {
            Some((node, labels)) => placed(&node, &labels),
            None => bare(text),
        }),
        Err(_) => Ok(match python::pair(text) {
            Some(Pair::Placement(node, labels)) => placed(&node, &labels),
            Some(Pair::Nobody | Pair::Unhashable) => None,
            None => bare(text),
        }),
        Ok(Value::Text(id)) => Ok(bare(&id)),
        Ok(Value::Object(object)) => {
            let (mut node, mut layer) = (None, None);
            json::members(object, file, |name, value| {
                match name {
                    "node" => node = json::string(value).map(|node| node.into_owned()),
                    "layer" => layer = Some(json::strings(value, file)?),
                    _ => {}
                }
                Ok(())
            })?;
            let Some(node) = node else { return Ok(bare(text)) };
            match layer {
                None => Ok(bare(&node)),
                Some(labels) => Ok(placed(&node, &labels)),
            }
        }
        _ => Ok(bare(text)),
    }
}

/// Parses node and labels from a JSON array of both.
fn pair_of(array: &str) -> Option<(String, Vec<String>)> {
    let mut items = Vec::new();
    let read = json::items(array, "", |item| {
        items.push(item.to_owned());
        Ok(())
    });
    let [node, labels] = read.ok().map(|()| items)?.try_into().ok()?;
    Some((json::string(&node)?.into_owned(), json::strings(&labels, "").ok()?))
}

/// Returns how the published library misreads an id, which it decodes a second time: it loses the member, or fails.
fn misread(id: &str) -> Option<(&'static Rule, &'static str)> {
    match value(id) {
        // The library checks whether the result is true.
        Ok(Value::Null) => None,
        Ok(Value::Array(array)) if pair_of(array).is_some() => Some((&rules::HYPEREDGE_JSON, "JSON")),
        Ok(Value::Array(_) | Value::Object(_)) if json::check(id, "").is_ok() => {
            Some((&rules::HYPEREDGE_NESTED, "JSON"))
        }
        Err(_) | Ok(Value::Array(_) | Value::Object(_)) => match python::pair(id)? {
            Pair::Unhashable => Some((&rules::HYPEREDGE_NESTED, "a Python pair")),
            Pair::Placement(..) | Pair::Nobody => Some((&rules::HYPEREDGE_JSON, "a Python pair")),
        },
        Ok(_) => Some((&rules::HYPEREDGE_JSON, "JSON")),
    }
}
