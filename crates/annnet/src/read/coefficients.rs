//! Explicit coefficients of members of edges.

use arrow_array::Array;
use isomorph_error::{Findings, Place, Result};
use isomorph_storage::{Budget, Reservation};

use super::entities::{Entities, Placement};
use super::ids::{self, ENTRY_BYTES, IdMap};
use super::layers::Layers;
use crate::layout::{Layout, column};
use crate::rules;
use crate::table::Table;

/// Coefficients by edge. A coefficient applies to every role that its entity has in the edge: the published library
/// reads coefficients this way, whatever it meant when it wrote them.
#[derive(Debug, Default)]
pub(crate) struct Coefficients {
    edges: IdMap<Vec<Own>>,
    held: Option<Reservation>,
}

/// One coefficient.
#[derive(Debug, Clone, Copy)]
struct Own {
    member: Placement,
    value: Option<f64>,
    /// Whether it names no layer, in a graph with layers: it applies to members that name none, and no other does, as in the
    /// published library. `None` for a coefficient that applies to both: a cell of a matrix, and with a layer in older layouts.
    is_bare: Option<bool>,
}

impl Own {
    fn is_of(&self, member: Placement, is_bare: bool) -> bool {
        self.member == member && self.is_bare.is_none_or(|own| own == is_bare)
    }
}

impl Coefficients {
    /// Returns whether there are no coefficients.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// Reads the table.
    ///
    /// # Errors
    /// Returns an error if it is malformed or exceeds the budget.
    pub fn read(
        table: &Table,
        entities: &Entities,
        (layers, layout): (&Layers, Layout),
        budget: &Budget,
        findings: &mut Findings,
    ) -> Result<Coefficients> {
        let columns = [column::EDGE_ID, column::ENTITY_ID, column::LAYER_ID, column::COEFFICIENT];
        let (cells, mut held) = table.read(&columns, budget)?;
        held.grow(cells.rows() as u64 * (ENTRY_BYTES + 24))?;
        let edge = cells.ids(column::EDGE_ID, &rules::EDGE_ID)?;
        let entity = cells.ids(column::ENTITY_ID, &rules::ENTITY_ID)?;
        let (numbers, values) = (cells.integers(column::LAYER_ID)?, cells.floats(column::COEFFICIENT)?);
        let mut coefficients = Coefficients { held: Some(held), ..Coefficients::default() };
        for row in 0..cells.rows() {
            let place = || Place::file(&table.name).row(row as u64);
            let value = values.is_valid(row).then(|| values.value(row));
            if value.is_none() {
                let message =
                    format!("the coefficient of {:?} in edge {:?} is missing", entity.value(row), edge.value(row));
                findings.push(&rules::COEFFICIENT, message, place().in_field(column::COEFFICIENT));
            }
            let layer = numbers.is_valid(row).then(|| layers.at(numbers.value(row))).transpose();
            let layer = layer.map_err(|error| error.at(place().in_field(column::LAYER_ID)))?;
            let list = coefficients.edges.entry(ids::hash(edge.value(row))).or_default();
            // The ends of older layouts name no layers, but coefficients that this crate wrote there do.
            let is_bare = match layer {
                _ if layers.is_flat() => None,
                None => Some(true),
                Some(_) => (layout != Layout::V1).then_some(false),
            };
            match entities.resolve(entity.value(row), layer) {
                Some(member) => list.push(Own { member, value, is_bare }),
                None => {
                    let message = format!("{:?} is not a member of edge {:?}", entity.value(row), edge.value(row));
                    findings.push(&rules::COEFFICIENT_MEMBER, message, place());
                }
            }
        }
        Ok(coefficients)
    }

    /// Creates an empty collection within a budget.
    ///
    /// # Errors
    /// Never fails in practice.
    pub fn within(budget: &Budget) -> Result<Coefficients> {
        Ok(Coefficients { edges: IdMap::default(), held: Some(budget.reserve(0)?) })
    }

    /// Adds the coefficient of a member.
    ///
    /// # Errors
    /// Returns an error if it exceeds the budget.
    pub fn add(&mut self, edge: u128, member: Placement, value: f64) -> Result<()> {
        if let Some(held) = &mut self.held {
            held.grow(ENTRY_BYTES + 24)?;
        }
        self.edges.entry(edge).or_default().push(Own { member, value: Some(value), is_bare: None });
        Ok(())
    }

    /// Returns whether the edge whose id has this hash has coefficients.
    pub fn has(&self, edge: u128) -> bool {
        !self.edges.is_empty() && self.edges.contains_key(&edge)
    }

    /// Returns the coefficients of an edge that belong to none of these members; the flag of a member says that it
    /// names no layer.
    pub fn others(&self, edge: u128, members: &[(Placement, bool)]) -> impl Iterator<Item = Placement> {
        let all = self.edges.get(&edge).into_iter().flatten();
        all.filter(|own| !members.iter().any(|(member, is_bare)| own.is_of(*member, *is_bare))).map(|own| own.member)
    }

    /// Returns the coefficient of a member, which names no layer if `is_bare` is set: 0 if only other members of the
    /// edge have one, `None` if no member has one or its value is missing.
    pub fn of(&self, edge: u128, member: Option<Placement>, is_bare: bool) -> Option<f64> {
        let list = self.edges.get(&edge)?;
        let found = list.iter().rev().find(|own| member.is_some_and(|member| own.is_of(member, is_bare)));
        found.map_or(Some(0.0), |own| own.value)
    }
}
