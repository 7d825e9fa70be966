//! A pass over all edges that determines the class of each.

use std::ops::Range;

use arrow_array::{Array, BooleanArray, Int64Array, StringArray};
use isomorph_error::{Findings, Place, Result};
use isomorph_storage::{Budget, Reservation, Scratch, pool};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::coefficients::Coefficients;
use super::entities::{Entities, Placement};
use super::hyperedges::Hyperedges;
use super::ids::{self, ENTRY_BYTES, IdMap};
use super::layers::Layers;
use super::repeats::{self, Hashes};
use super::slices::Slices;
use crate::explicit::{self, Follows};
use crate::inherited::Inherited;
use crate::layout::{column, word};
use crate::rules;
use crate::table::Table;

/// Rows of a batch.
pub(super) const BATCH_ROWS: usize = 1 << 15;

/// The class of a row of the edge table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// An edge with two ends.
    TwoEnded,
    /// A hyperedge with any number of members.
    Hyperedge,
    /// An entity without ends.
    Placeholder,
    /// An edge of which one or both ends are missing.
    OneSided,
}

impl Class {
    /// The classes that become hyperedge types, in their order.
    pub const OTHERS: [Class; 3] = [Class::Hyperedge, Class::Placeholder, Class::OneSided];

    /// Returns the name of the type.
    pub fn name(self) -> &'static str {
        match self {
            Class::TwoEnded => word::EDGE,
            Class::Hyperedge => word::HYPEREDGE,
            Class::Placeholder => word::PLACEHOLDER,
            Class::OneSided => word::ONE_SIDED,
        }
    }
}

/// A number of ids and the sum of their hashes: equal for equal sets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct IdSum {
    pub count: u64,
    sum: u128,
}

impl IdSum {
    pub fn add(&mut self, hash: u128) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(hash);
    }

    fn merge(&mut self, other: IdSum) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

/// The edge table after the pass.
pub(crate) struct Edges {
    pub table: Table,
    /// Row ranges of the parts.
    pub groups: Vec<Range<u64>>,
    /// Rows of hyperedges, placeholders and one-sided edges, ascending.
    others: [Vec<u64>; 3],
    /// Edges that do not have two ends, by the hashes of their ids.
    class_of: IdMap<Class>,
    /// All ids.
    pub ids: IdSum,
    /// Whether edges with two ends have explicit coefficients.
    pub has_coefficients: bool,
    /// Whether the attribute table has the same edges row by row.
    pub is_beside: bool,
    /// Edges that state no direction.
    pub inherited: Inherited,
    /// Layers and kinds that do not follow from the ends, until they are written to the metadata.
    pub stated: explicit::Found,
    _held: Reservation,
}

/// What the ends of an edge are compared with.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub entities: &'a Entities,
    pub layers: &'a Layers,
    pub hyperedges: &'a Hyperedges,
    pub coefficients: &'a Coefficients,
}

/// What one part of the table contains.
#[derive(Default)]
struct Found {
    others: Vec<(u64, Class, u128)>,
    ids: IdSum,
    has_coefficients: bool,
    is_beside: bool,
    inherited: Inherited,
    stated: explicit::Found,
    findings: Findings,
}

impl Edges {
    /// Determines the classes of the edges of `table`, compares the table with that of their attributes, and marks
    /// edges that slices name.
    ///
    /// # Errors
    /// Returns an error if a table is malformed, a layer is invalid, or the budget is too small.
    pub fn settle(
        table: Table,
        known: Known<'_>,
        (attributes, slices): (Option<&Table>, &Slices),
        (budget, scratch): (&Budget, &Scratch),
        findings: &mut Findings,
    ) -> Result<Edges> {
        for name in [column::EDGE_ID, column::COL_IDX] {
            if !table.has(name) {
                return Err(crate::cells::Cells::empty(&table.name).missing(name));
            }
        }
        let groups = table.groups();
        let attributes = attributes.filter(|own| own.has(column::EDGE_ID) && own.rows() == table.rows());
        let hashes = Hashes::new(budget, scratch)?;
        let settle = |rows| settle_part(&table, rows, known, attributes, (slices, &hashes));
        let found = groups.clone().into_par_iter().map(settle);
        let found = pool::run(|| found.collect::<Result<Vec<Found>>>())?;
        repeats::edges(hashes, &table, findings)?;
        let others: usize = found.iter().map(|part| part.others.len()).sum();
        let held = budget.reserve(others as u64 * (ENTRY_BYTES + 8))?;
        let mut edges = Edges {
            table,
            groups,
            others: Default::default(),
            class_of: IdMap::default(),
            ids: IdSum::default(),
            has_coefficients: false,
            is_beside: attributes.is_some(),
            inherited: Inherited::default(),
            stated: explicit::Found::default(),
            _held: held,
        };
        let mut hyperedges = 0;
        for part in found {
            edges.ids.merge(part.ids);
            edges.has_coefficients |= part.has_coefficients;
            edges.is_beside &= part.is_beside;
            edges.inherited.append(&part.inherited);
            edges.stated.merge(part.stated);
            findings.merge(part.findings);
            for (row, class, id) in part.others {
                hyperedges += u64::from(class == Class::Hyperedge && known.hyperedges.get(id).is_some());
                edges.class_of.insert(id, class);
                if let Some(at) = Class::OTHERS.iter().position(|other| *other == class) {
                    edges.others[at].push(row);
                }
            }
        }
        let unused = (known.hyperedges.len() as u64).saturating_sub(hyperedges);
        if unused > 0 {
            let message = format!("{unused} rows refer to no edge of kind hyper");
            findings.push(&rules::HYPEREDGE, message, Place::file(crate::layout::file::HYPEREDGES));
        }
        Ok(edges)
    }

    /// Returns the rows of a class, ascending. All rows not in another class are edges with two ends.
    pub fn rows_of(&self, class: Class) -> &[u64] {
        let at = Class::OTHERS.iter().position(|other| *other == class);
        at.and_then(|at| self.others.get(at)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the number of rows of a class.
    pub fn count(&self, class: Class) -> u64 {
        match class {
            Class::TwoEnded => self.ids.count - self.others.iter().map(|rows| rows.len() as u64).sum::<u64>(),
            class => self.rows_of(class).len() as u64,
        }
    }

    /// Calls `take` for each edge with the layers that its row states, and with the layers and kind that follow from
    /// its ends.
    ///
    /// # Errors
    /// Returns an error if the table cannot be read.
    pub fn follows(
        &self,
        known: Known<'_>,
        take: &mut dyn FnMut(&str, Option<explicit::OfEdge>, Follows),
    ) -> Result<()> {
        let columns = [
            column::EDGE_ID,
            column::SOURCE,
            column::TARGET,
            column::SOURCE_LAYER,
            column::TARGET_LAYER,
            column::HYPER_LAYER,
        ];
        let is_flat = known.layers.is_flat();
        for cells in self.table.batches(&columns, 0..self.table.rows(), BATCH_ROWS)? {
            let cells = cells?;
            let ids = cells.ids(column::EDGE_ID, &rules::EDGE_ID)?;
            let (sources, targets) = (cells.text(column::SOURCE)?, cells.text(column::TARGET)?);
            let (of_source, of_target) = (cells.integers(column::SOURCE_LAYER)?, cells.integers(column::TARGET_LAYER)?);
            let of_members = cells.integers(column::HYPER_LAYER)?;
            for row in 0..ids.len() {
                let id = ids::hash(ids.value(row));
                let of_ends = || -> Result<Option<explicit::OfEdge>> {
                    let source = layer_of(known, &sources, &of_source, row)?;
                    Ok(both(source, layer_of(known, &targets, &of_target, row)?))
                };
                let (alone, follows) = match self.class_of(id) {
                    Class::TwoEnded => {
                        let end = |ends: &StringArray, layers| {
                            resolve(known, ends.is_valid(row).then(|| ends.value(row)), layers, row)
                        };
                        let follows = match (end(&sources, &of_source)?, end(&targets, &of_target)?) {
                            (Some(source), Some(target)) => Follows::of_ends(source, target, is_flat),
                            _ => Follows::of_none(is_flat),
                        };
                        (of_ends()?, follows)
                    }
                    Class::OneSided => (of_ends()?, Follows::of_none(is_flat)),
                    Class::Placeholder => (None, Follows::of_none(is_flat)),
                    Class::Hyperedge => {
                        let members = known.hyperedges.get(id).map(|known| known.members).unwrap_or_default();
                        let layer = stated(known, &of_members, row)?;
                        (layer.map(|layer| (layer, None)), Follows::of_members(members, is_flat))
                    }
                };
                take(ids.value(row), alone, follows);
            }
        }
        Ok(())
    }

    /// Returns the class of the edge with this id. It does not check whether the edge exists.
    pub fn class_of(&self, id: u128) -> Class {
        self.class_of.get(&id).copied().unwrap_or(Class::TwoEnded)
    }

    /// Returns a mask of the rows of a class; `None` if all rows are of this class.
    pub fn mask(&self, class: Class, rows: Range<u64>) -> Option<BooleanArray> {
        let len = (rows.end - rows.start) as usize;
        let mut mask = vec![class == Class::TwoEnded; len];
        let mut all = class == Class::TwoEnded;
        for other in Class::OTHERS.into_iter().filter(|other| class == Class::TwoEnded || class == *other) {
            for row in within(self.rows_of(other), &rows) {
                mask[(row - rows.start) as usize] = class == other;
                all = false;
            }
        }
        (!all).then(|| BooleanArray::from(mask))
    }
}

/// Returns the part of the sorted `rows` that is in a range.
pub(crate) fn within<'a>(rows: &'a [u64], range: &Range<u64>) -> &'a [u64] {
    let start = rows.partition_point(|row| *row < range.start);
    let end = rows.partition_point(|row| *row < range.end);
    rows.get(start..end).unwrap_or_default()
}

fn settle_part(
    table: &Table,
    rows: Range<u64>,
    known: Known<'_>,
    attributes: Option<&Table>,
    (slices, hashes): (&Slices, &Hashes),
) -> Result<Found> {
    let columns = [
        column::EDGE_ID,
        column::DIRECTED,
        column::KIND,
        column::SOURCE,
        column::TARGET,
        column::SOURCE_LAYER,
        column::TARGET_LAYER,
        column::ML_KIND,
        column::HYPER_LAYER,
    ];
    let is_flat = known.layers.is_flat();
    let mut found = Found { findings: Findings::keeping(8), is_beside: attributes.is_some(), ..Found::default() };
    let beside = |table: &Table| table.batches(&[column::EDGE_ID], rows.clone(), BATCH_ROWS);
    let mut beside = attributes.map(beside).transpose()?;
    let mut start = rows.start;
    for cells in table.batches(&columns, rows.clone(), BATCH_ROWS)? {
        let cells = cells?;
        let ids = cells.ids(column::EDGE_ID, &rules::EDGE_ID)?;
        hashes.add((0..ids.len()).map(|row| ids::hash(ids.value(row))))?;
        if let Some(batches) = &mut beside {
            let own = batches.take_rows(ids.len())?.map(|cells| cells.text(column::EDGE_ID)).transpose()?;
            if own.as_ref() != Some(&ids) {
                (found.is_beside, beside) = (false, None);
            }
        }
        let (kinds, directed) = (cells.text(column::KIND)?, cells.booleans(column::DIRECTED)?);
        let (sources, targets) = (cells.text(column::SOURCE)?, cells.text(column::TARGET)?);
        let (source_rows, target_rows) = (known.entities.rows_of(&sources), known.entities.rows_of(&targets));
        let (of_source, of_target) = (cells.integers(column::SOURCE_LAYER)?, cells.integers(column::TARGET_LAYER)?);
        let (ml_kinds, of_members) = (cells.text(column::ML_KIND)?, cells.integers(column::HYPER_LAYER)?);
        for row in 0..ids.len() {
            let id = ids::hash(ids.value(row));
            found.ids.add(id);
            slices.mark(id);
            let place = || Place::file(&table.name).row(start + row as u64);
            let mut class = match kinds.is_valid(row).then(|| kinds.value(row)) {
                None | Some(word::BINARY | word::NODE_EDGE | word::VERTEX_EDGE) => Class::TwoEnded,
                Some(word::HYPER) => Class::Hyperedge,
                Some(word::EDGE_PLACEHOLDER) => Class::Placeholder,
                Some(other) => {
                    let message = format!("unknown kind {other:?} of edge {:?}", ids.value(row));
                    found.findings.push(&rules::EDGE_KIND, message, place().in_field(column::KIND));
                    Class::TwoEnded
                }
            };
            if class == Class::Placeholder && (sources.is_valid(row) || targets.is_valid(row)) {
                let message = format!("placeholder {:?} has an end", ids.value(row));
                found.findings.push(&rules::PLACEHOLDER, message, place().in_field(column::KIND));
            }
            let kind = of_entity(known, ids.value(row), kinds.is_valid(row).then(|| kinds.value(row)));
            let ml_kind = ml_kinds.is_valid(row).then(|| ml_kinds.value(row));
            if class == Class::TwoEnded {
                let mut missing = None;
                let mut ends_of = [None; 2];
                let mut layers_of = [None; 2];
                let each = ends_of.iter_mut().zip(&mut layers_of);
                for ((own, own_layer), (name, ends, rows, layers)) in each.zip([
                    (column::SOURCE, &sources, &source_rows, &of_source),
                    (column::TARGET, &targets, &target_rows, &of_target),
                ]) {
                    let end = ends.is_valid(row).then(|| ends.value(row));
                    let layer = end.map_or(Ok(None), |_| stated(known, layers, row));
                    let layer = layer.map_err(|error| error.at(place()))?;
                    *own_layer = layer;
                    *own = rows[row].and_then(|node| known.entities.placement(node, layer));
                    if own.is_none() {
                        missing = Some((name, end));
                    }
                }
                let alone = both(layers_of[0], layers_of[1]).filter(|_| !is_flat);
                let mut follows = Follows::of_none(is_flat);
                if let [Some(source), Some(target)] = ends_of {
                    follows = Follows::of_ends(source, target, is_flat);
                    for (end, name) in [(source, column::SOURCE), (target, column::TARGET)] {
                        if let Some(message) = known.entities.late(end, known.layers) {
                            found.findings.push(&rules::PLACEMENT, message, place().in_field(name));
                        }
                    }
                }
                found.stated.add(ids.value(row), kind, (ml_kind, alone), follows);
                if let Some((name, end)) = missing {
                    class = Class::OneSided;
                    let what =
                        end.map_or("is missing".to_owned(), |end| format!("{end:?} is not an entity of this layer"));
                    let message = format!("{name} of edge {:?} {what}", ids.value(row));
                    found.findings.push(&rules::EDGE_END, message, place().in_field(name));
                }
            }
            found.inherited.add(class, directed.is_null(row));
            match class {
                Class::TwoEnded => found.has_coefficients |= known.coefficients.has(id),
                Class::Hyperedge => {
                    let members = known.hyperedges.get(id).map(|known| known.members);
                    if members.is_none() {
                        let message = format!("hyperedge {:?} has no members", ids.value(row));
                        found.findings.push(&rules::HYPEREDGE, message, place());
                    }
                    let layer = stated(known, &of_members, row).map_err(|error| error.at(place()))?;
                    let alone = layer.map(|layer| (layer, None)).filter(|_| !is_flat);
                    let follows = Follows::of_members(members.unwrap_or_default(), is_flat);
                    found.stated.add(ids.value(row), None, (ml_kind, alone), follows);
                }
                Class::Placeholder => {
                    found.stated.add(ids.value(row), None, (ml_kind, None), Follows::of_none(is_flat));
                }
                Class::OneSided => {}
            }
            if class != Class::TwoEnded {
                found.others.push((start + row as u64, class, id));
            }
        }
        start += ids.len() as u64;
    }
    Ok(found)
}

/// Returns the kind of an edge with two ends if it differs from what the index of entities states: a node can have the
/// id of an edge that is an entity. As in the published library, a missing or unknown kind is that of an edge that is
/// not an entity.
fn of_entity(known: Known<'_>, id: &str, kind: Option<&str>) -> Option<&'static str> {
    let is_stated = matches!(kind, Some(word::NODE_EDGE | word::VERTEX_EDGE));
    let follows = known.entities.is_edge_entity(id);
    (is_stated != follows).then_some(if is_stated { word::NODE_EDGE } else { word::BINARY })
}

/// Returns the layer that a row states for an end, if the row names the end.
fn layer_of(known: Known<'_>, ends: &StringArray, layers: &Int64Array, row: usize) -> Result<Option<u32>> {
    if ends.is_valid(row) { stated(known, layers, row) } else { Ok(None) }
}

/// Returns the layers of an edge that states the layers of both ends.
fn both(source: Option<u32>, target: Option<u32>) -> Option<explicit::OfEdge> {
    source.zip(target).map(|(source, target)| (source, Some(target)))
}

/// Resolves an end of a row.
pub(crate) fn resolve(
    known: Known<'_>,
    end: Option<&str>,
    layers: &Int64Array,
    row: usize,
) -> Result<Option<Placement>> {
    let Some(end) = end else { return Ok(None) };
    Ok(known.entities.resolve(end, stated(known, layers, row)?))
}

/// Returns the layer that a row states.
fn stated(known: Known<'_>, layers: &Int64Array, row: usize) -> Result<Option<u32>> {
    layers.is_valid(row).then(|| known.layers.at(layers.value(row))).transpose()
}
