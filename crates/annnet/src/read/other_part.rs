//! Hyperedges, placeholders and edges with a missing end, with their members.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, StringArray, UInt32Array};
use arrow_select::take::take as take_rows;
use isomorph_error::{Error, Place, Result};
use isomorph_model::batch::{HyperedgeBatch, MemberBatch};
use isomorph_model::{Batch, Ends, Part, Take, part};

use super::Annnet;
use super::edge_part::{COLUMNS, directions, masked, weights};
use super::edges::{Class, resolve, within};
use super::entities::Placement;
use super::hyperedges::Role;
use super::ids;
use crate::cells::Cells;
use crate::layout::column;

/// Rows of one part of the table that are of one class other than edges with two ends.
pub(crate) struct OtherPart<'a> {
    pub annnet: &'a Annnet,
    /// Index of the hyperedge type.
    pub ty: usize,
    pub class: Class,
    pub group: usize,
    pub batch_rows: usize,
}

/// Collected members.
#[derive(Default)]
struct Collected {
    owner: Vec<u32>,
    member: Vec<u32>,
    layer: Vec<u32>,
    roles: Vec<&'static str>,
    coefficients: Vec<Option<f64>>,
}

impl Collected {
    fn add(&mut self, owner: usize, member: Placement, role: Role, coefficient: Option<f64>) {
        self.owner.push(owner as u32);
        self.member.push(member.node);
        self.layer.push(member.layer);
        self.roles.push(role.word());
        self.coefficients.push(coefficient);
    }
}

impl<'a> OtherPart<'a> {
    /// Returns it as a part of a scan.
    pub fn part(self) -> Box<dyn Part + 'a> {
        let (annnet, batch_rows) = (self.annnet, self.batch_rows.max(1));
        let edges = &annnet.edges;
        let all = edges.rows_of(self.class);
        let group = edges.groups.get(self.group).cloned();
        let count = group.as_ref().map(|rows| within(all, rows).len() as u64);
        // If the group has no rows of this class, nothing is read.
        let rows = group.filter(|_| count > Some(0));
        let mut start = rows.as_ref().map_or(0, |rows| rows.start);
        let open = move || {
            let Some(rows) = rows else { return Ok(None) };
            let attributes = annnet.edge_attributes.reader(rows.clone(), batch_rows, None, 0)?;
            Ok(Some((edges.table.batches(&COLUMNS, rows, batch_rows)?, attributes)))
        };
        part::stepped(count, open, move |opened, take| {
            let Some((batches, attributes)) = opened else { return Ok(false) };
            let Some(cells) = batches.next().transpose()? else { return Ok(false) };
            let (len, begin) = (cells.rows(), start);
            start += len as u64;
            let mask = edges.mask(self.class, begin..start);
            let cells = masked(cells, mask.as_ref())?;
            let keys = cells.text(column::EDGE_ID)?;
            let attributes = attributes.next(len, mask.as_ref(), &keys)?;
            if cells.rows() > 0 {
                let first = all.partition_point(|row| *row < begin) as u64;
                let given = self.batches(&cells, keys, attributes, first, take);
                given.map_err(|error| error.at(Place::file(&edges.table.name).row(begin)))?;
            }
            Ok(true)
        })
    }
}

impl OtherPart<'_> {
    fn batches(
        &self,
        cells: &Cells,
        keys: StringArray,
        attributes: Vec<Option<ArrayRef>>,
        start: u64,
        take: Take<'_>,
    ) -> Result<()> {
        let directed = match self.class {
            Class::Hyperedge => {
                let stated = keys.iter().map(|id| {
                    let definition = self.annnet.hyperedges.get(ids::hash(id.unwrap_or_default()));
                    Some(definition.is_some_and(|definition| definition.directed))
                });
                Some(stated.collect::<BooleanArray>())
            }
            _ => directions(cells, self.annnet.manifest.is_directed())?,
        };
        let members = self.members(cells, &keys, directed.as_ref())?;
        let properties = std::iter::once(Some(weights(cells)?)).chain(attributes).collect();
        let keys: ArrayRef = Arc::new(keys);
        let rows = keys.len();
        take(Batch::Hyperedges(HyperedgeBatch {
            ty: self.ty,
            start,
            rows,
            keys: Arc::clone(&keys),
            directed,
            properties,
        }))?;
        if members.owner.is_empty() {
            return Ok(());
        }
        let owner = take_rows(keys.as_ref(), &UInt32Array::from(members.owner), None)
            .map_err(|error| Error::malformed(error.to_string()))?;
        let layers = match self.annnet.layers.is_flat() {
            true => None,
            false => Some(self.annnet.layer_columns.column(&UInt32Array::from(members.layer))?),
        };
        let coefficients = members.coefficients.iter().any(Option::is_some);
        take(Batch::Members(MemberBatch {
            ty: self.ty,
            owner: Ends::Keys(owner),
            member: Ends::Keys(self.annnet.entities.keys_of(&UInt32Array::from(members.member))?),
            roles: StringArray::from(members.roles),
            layers,
            coefficients: coefficients.then(|| Float64Array::from(members.coefficients)),
        }))
    }

    fn members(&self, cells: &Cells, keys: &StringArray, directed: Option<&BooleanArray>) -> Result<Collected> {
        let known = self.annnet.known();
        let mut members = Collected::default();
        if self.class == Class::Placeholder {
            return Ok(members);
        }
        let ends = [
            (Role::Head, cells.text(column::SOURCE)?, cells.integers(column::SOURCE_LAYER)?),
            (Role::Tail, cells.text(column::TARGET)?, cells.integers(column::TARGET_LAYER)?),
        ];
        for (row, id) in keys.iter().enumerate() {
            let id = ids::hash(id.unwrap_or_default());
            if self.class == Class::Hyperedge {
                let Some(definition) = known.hyperedges.get(id) else { continue };
                for ((member, role), is_bare) in definition.members.iter().zip(definition.are_bare) {
                    members.add(row, *member, *role, known.coefficients.of(id, Some(*member), *is_bare));
                }
                continue;
            }
            let is_directed = directed.is_none_or(|all| all.is_null(row) || all.value(row));
            for (role, ends, layers) in &ends {
                let end = ends.is_valid(row).then(|| ends.value(row));
                if let Some(member) = resolve(known, end, layers, row)? {
                    let role = if is_directed { *role } else { Role::Member };
                    members.add(row, member, role, known.coefficients.of(id, Some(member), layers.is_null(row)));
                }
            }
        }
        Ok(members)
    }
}
