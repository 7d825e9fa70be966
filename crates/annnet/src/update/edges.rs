//! New edges of every kind.

use std::collections::HashSet;

use arrow_array::builder::{BooleanBuilder, Float64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, ListArray, StringArray, UInt32Array};
use isomorph_error::{Error, Result};

use super::columns::{self, name};
use super::ends::Ends;
use super::input::{Input, range, texts};
use super::memberships::{Listed, Of};
use crate::layout::column;
use crate::read::ids::{self, IdMap};
use crate::read::layers::PLACEHOLDER;
use crate::rules;
use crate::table::Table;
use crate::write::columns::gather;

/// Columns of members of hyperedges by role, and columns of their coefficients.
const ROLES: [(&str, &str, &str); 3] = [
    (column::HEAD, "head", name::MEMBER_COEFFICIENTS[0]),
    (column::TAIL, "tail", name::MEMBER_COEFFICIENTS[1]),
    (column::MEMBERS, "member", name::MEMBER_COEFFICIENTS[2]),
];

/// Edges of one class.
#[derive(Default)]
pub(super) struct Class {
    pub rows: Vec<u32>,
    pub directed: BooleanBuilder,
    pub weights: Float64Builder,
}

/// New edges.
#[derive(Default)]
pub(super) struct NewEdges {
    /// Ids, weights and directions of edges with two ends, hyperedges and placeholders, in the order of [`Of`].
    pub classes: [Class; 3],
    pub ids: Option<StringArray>,
    pub attributes: Vec<(String, ArrayRef)>,
    /// Edges with two ends: their ends, the layers of these, and their coefficients.
    pub ends: [StringBuilder; 2],
    pub layers: [Vec<u32>; 2],
    pub coefficients: [Float64Builder; 2],
    /// Members of hyperedges: owner, member, role, layer, coefficient.
    pub members: Members,
    /// Edges that are entities.
    pub entities: StringBuilder,
}

/// Members of hyperedges.
#[derive(Default)]
pub(super) struct Members {
    pub owners: StringBuilder,
    pub members: StringBuilder,
    pub roles: StringBuilder,
    pub layers: Vec<u32>,
    pub coefficients: Float64Builder,
}

impl NewEdges {
    /// Adds the ids of edges that become entities, so that earlier edges can end in them.
    ///
    /// # Errors
    /// Returns an error if one is already an entity.
    pub fn announce(input: &Input, ends: &mut Ends<'_>) -> Result<()> {
        let id = input.first_of(&name::EDGE_IDS).ok_or_else(|| input.cells.missing(name::ID))?;
        let own = input.cells.ids(id, &rules::EDGE_ID)?;
        let entity = input.cells.booleans(name::ENTITY)?;
        for row in (0..own.len()).filter(|row| entity.is_valid(*row) && entity.value(*row)) {
            if ends.is_old(own.value(row)) || ends.is_new(own.value(row)) {
                let message = format!("{:?} is already an entity", own.value(row));
                return Err(Error::broken(&rules::ENTITY_ID, message).at(input.place(row, id)));
            }
            ends.place(own.value(row), PLACEHOLDER);
        }
        Ok(())
    }

    /// Reads the edges of a table. Edges that state no direction are directed if `directed` is true.
    ///
    /// # Errors
    /// Returns an error if an id already exists or is repeated in the table, an end or member does not exist, or an
    /// edge has no kind.
    pub fn take(input: &Input, ends: &mut Ends<'_>, listed: &mut Listed<'_>, directed: bool) -> Result<NewEdges> {
        let id = input.first_of(&name::EDGE_IDS).ok_or_else(|| input.cells.missing(name::ID))?;
        let own = input.cells.ids(id, &rules::EDGE_ID)?;
        let (sources, targets) = (input.cells.text(column::SOURCE)?, input.cells.text(column::TARGET)?);
        let side_layers = [input.lists(name::SIDE_LAYERS[0])?, input.lists(name::SIDE_LAYERS[1])?];
        let lists = [input.lists(column::HEAD)?, input.lists(column::TAIL)?, input.lists(column::MEMBERS)?];
        let mut numbers: [Option<ListArray>; 3] = Default::default();
        for (at, (_, _, column)) in ROLES.iter().enumerate() {
            numbers[at] = input.numbers(column)?;
        }
        let weights = input.cells.floats(column::WEIGHT)?;
        let stated = input.cells.booleans(column::DIRECTED)?;
        let entity = input.cells.booleans(name::ENTITY)?;
        let of_ends = [input.cells.floats(name::END_COEFFICIENTS[0])?, input.cells.floats(name::END_COEFFICIENTS[1])?];
        let (slices, slice_weights) = (input.lists(name::SLICES)?, input.numbers(name::SLICE_WEIGHTS)?);
        let known = columns::of_edges();
        let known: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let mut edges = NewEdges { attributes: input.attributes(&known)?, ..NewEdges::default() };
        let mut seen: HashSet<u128> = HashSet::with_capacity(own.len());
        for row in 0..own.len() {
            let edge = own.value(row);
            if !seen.insert(ids::hash(edge)) {
                return Err(
                    Error::broken(&rules::EDGE_ID, format!("edge {edge:?} is listed twice")).at(input.place(row, id))
                );
            }
            let is_entity = entity.is_valid(row) && entity.value(row);
            let has_members = lists.iter().any(|list| list.is_valid(row));
            let mut layers = [None; 2];
            for (side, column) in name::SIDE_LAYERS.into_iter().enumerate() {
                layers[side] = ends.layer_of(input, &side_layers[side], row, column)?;
            }
            let of = match (sources.is_valid(row), targets.is_valid(row)) {
                (true, true) if !has_members => Of::Edges,
                (false, false) if has_members && !is_entity => Of::Hyperedges,
                (false, false) if is_entity && !has_members => Of::Placeholders,
                _ => {
                    let message = "an edge must have a source and a target, or members, or be an entity without ends";
                    return Err(Error::broken(&rules::EDGE_END, message).at(input.place(row, column::SOURCE)));
                }
            };
            // Without ends, an edge has no direction. An entity with ends has the direction of the graph, like any
            // other edge, and must state it: null means undirected for an entity.
            let inherited = directed && of != Of::Placeholders;
            let mut own_direction = if stated.is_valid(row) { stated.value(row) } else { inherited };
            match of {
                Of::Edges => {
                    for (side, (end, column)) in
                        [(&sources, column::SOURCE), (&targets, column::TARGET)].into_iter().enumerate()
                    {
                        let end = end.value(row);
                        let layer = ends.resolve(end, layers[side], || input.place(row, column))?;
                        edges.ends[side].append_value(end);
                        edges.layers[side].push(layer);
                        edges.coefficients[side]
                            .append_option(of_ends[side].is_valid(row).then(|| of_ends[side].value(row)));
                    }
                }
                Of::Hyperedges => {
                    own_direction = lists[0].is_valid(row) || lists[1].is_valid(row);
                    if own_direction && lists[2].is_valid(row) {
                        let message = "a hyperedge must have head and tail, or members, not both";
                        return Err(Error::broken(&rules::HYPEREDGE, message).at(input.place(row, column::MEMBERS)));
                    }
                    for (at, (column, role, _)) in ROLES.into_iter().enumerate() {
                        let side = usize::from(at == 1);
                        let coefficients = Coefficients::of(numbers[at].as_ref(), &lists[at], row)
                            .ok_or_else(|| uneven(input, row, column))?;
                        for (number, member) in texts(&lists[at], row).enumerate() {
                            let layer = ends.resolve(member, layers[side], || input.place(row, column))?;
                            edges.members.push(edge, member, role, layer, coefficients.at(number));
                        }
                    }
                }
                Of::Placeholders => {}
            }
            if is_entity {
                edges.entities.append_value(edge);
            }
            let weighted = Coefficients::of(slice_weights.as_ref(), &slices, row)
                .ok_or_else(|| uneven(input, row, name::SLICE_WEIGHTS))?;
            for (number, slice) in texts(&slices, row).enumerate() {
                let listing = listed.edge(of, slice, edge, weighted.at(number));
                listing.map_err(|error| error.at(input.place(row, name::SLICES)))?;
            }
            let class = &mut edges.classes[of as usize];
            class.rows.push(row as u32);
            class.directed.append_value(own_direction);
            class.weights.append_value(if weights.is_valid(row) { weights.value(row) } else { 1.0 });
        }
        edges.ids = Some(own);
        Ok(edges)
    }

    /// Returns the number of edges.
    pub fn len(&self) -> usize {
        self.classes.iter().map(|class| class.rows.len()).sum()
    }

    /// Returns the ids and attributes of the edges of a class.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn columns(&self, of: Of) -> Result<(ArrayRef, Vec<Option<ArrayRef>>)> {
        let rows = UInt32Array::from(self.classes[of as usize].rows.clone());
        let none = StringArray::new_null(0);
        let ids = gather(self.ids.as_ref().unwrap_or(&none), &rows)?;
        let columns = self.attributes.iter().map(|(_, column)| gather(column, &rows).map(Some));
        Ok((ids, columns.collect::<Result<_>>()?))
    }

    /// Checks that no edge of the graph has one of the new ids. Returns the next column of the matrix.
    ///
    /// # Errors
    /// Returns an error if an id exists already, or if the table cannot be read.
    pub fn next_column(&self, table: &Table, input: Option<&Input>) -> Result<u64> {
        let none = StringArray::new_null(0);
        let own = self.ids.as_ref().unwrap_or(&none);
        let new: IdMap<u32> = own.iter().flatten().enumerate().map(|(row, id)| (ids::hash(id), row as u32)).collect();
        let mut next = 0;
        for cells in table.batches(&[column::EDGE_ID, column::COL_IDX], 0..table.rows(), 1 << 15)? {
            let cells = cells?;
            for id in cells.text(column::EDGE_ID)?.iter().flatten() {
                if let (Some(row), Some(input)) = (new.get(&ids::hash(id)), input) {
                    let place = input.place(u64::from(*row) as usize, column::EDGE_ID);
                    return Err(Error::broken(&rules::EDGE_ID, format!("edge {id:?} already exists")).at(place));
                }
            }
            let last = cells.integers(column::COL_IDX)?.iter().flatten().max();
            next = next.max(last.and_then(|last| u64::try_from(last).ok()).map_or(0, |last| last.saturating_add(1)));
        }
        Ok(next)
    }
}

impl Members {
    fn push(&mut self, owner: &str, member: &str, role: &str, layer: u32, coefficient: Option<f64>) {
        self.owners.append_value(owner);
        self.members.append_value(member);
        self.roles.append_value(role);
        self.layers.push(layer);
        self.coefficients.append_option(coefficient);
    }
}

/// The numbers for the items of a list in one row.
struct Coefficients<'a>(Option<(&'a Float64Array, usize)>);

impl<'a> Coefficients<'a> {
    /// Returns `None` if the number of numbers differs from the number of items. A row without numbers is valid.
    fn of(numbers: Option<&'a ListArray>, items: &ListArray, row: usize) -> Option<Self> {
        let Some(numbers) = numbers.filter(|numbers| numbers.is_valid(row)) else { return Some(Coefficients(None)) };
        let own = range(numbers, row);
        let values = numbers.values().as_primitive_opt::<Float64Type>()?;
        (own.len() == texts(items, row).count()).then_some(Coefficients(Some((values, own.start))))
    }

    fn at(&self, item: usize) -> Option<f64> {
        let (values, start) = self.0?;
        values.is_valid(start + item).then(|| values.value(start + item))
    }
}

fn uneven(input: &Input, row: usize, column: &str) -> Error {
    Error::malformed("the number of coefficients differs from the number of items in the list")
        .at(input.place(row, column))
}
