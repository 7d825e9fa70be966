//! Memberships of nodes and edges in slices.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, StringArray, UInt32Array};
use arrow_select::take::take as take_rows;
use isomorph_error::{Error, Result};
use isomorph_model::batch::MembershipBatch;
use isomorph_model::{Batch, Columns, Ends, Part};

use super::Annnet;
use super::edges::Class;
use super::ids;
use super::slices::Slices;
use crate::layout::column;

/// Memberships of nodes, of one part of their table.
pub(crate) struct NodeMemberships<'a> {
    pub annnet: &'a Annnet,
    /// Index of the kind `slice`.
    pub kind: usize,
    pub rows: Range<u64>,
    pub batch_rows: usize,
}

fn gather(column: &dyn Array, rows: &[u32]) -> Result<ArrayRef> {
    let rows = UInt32Array::from(rows.to_vec());
    take_rows(column, &rows, None).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
}

impl Part for NodeMemberships<'_> {
    fn read(&self, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let slices = &self.annnet.slices;
        let Some(table) = &slices.nodes else { return Ok(()) };
        let id = self.annnet.words.node_id;
        for cells in table.batches(&[column::SLICE_ID, id], self.rows.clone(), self.batch_rows)? {
            let cells = cells?;
            let (groups, members) = (cells.text(column::SLICE_ID)?, cells.text(id)?);
            let mut named = Runs::default();
            let mut is_member = |row: &usize| {
                groups.is_valid(*row)
                    && members.is_valid(*row)
                    // Who is in the slice of everything need not be said, and there is nothing more to say.
                    && !named.of(slices, groups.value(*row)).is_all
                    && self.annnet.entities.row(members.value(*row)).is_some()
            };
            let rows: Vec<u32> = (0..cells.rows()).filter(&mut is_member).map(|row| row as u32).collect();
            if !rows.is_empty() {
                take(Batch::Memberships(MembershipBatch {
                    kind: self.kind,
                    table: 0,
                    group: Ends::Keys(gather(&groups, &rows)?),
                    member: Ends::Keys(gather(&members, &rows)?),
                    properties: Vec::new(),
                }))?;
            }
        }
        Ok(())
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows.end - self.rows.start)
    }
}

/// The slice of a row: rows of one slice stand together, most often, so that it is looked up once.
#[derive(Default)]
struct Runs<'a>(Option<(&'a str, Run)>);

#[derive(Clone, Copy)]
struct Run {
    hash: u128,
    is_all: bool,
}

impl<'a> Runs<'a> {
    fn of(&mut self, slices: &Slices, name: &'a str) -> Run {
        match self.0 {
            Some((last, run)) if last == name => run,
            _ => {
                let run = Run { hash: ids::hash(name), is_all: slices.find(name) == slices.all };
                self.0 = Some((name, run));
                run
            }
        }
    }
}

/// Rows whose members are of one class.
#[derive(Default)]
struct Chosen {
    rows: Vec<u32>,
    pairs: Vec<Option<u32>>,
    weights: Vec<Option<f64>>,
}

/// Memberships of edges of all kinds.
pub(crate) struct EdgeMemberships<'a> {
    pub annnet: &'a Annnet,
    /// Index of the kind `slice`.
    pub kind: usize,
    /// Rows of the table; nothing for edges with attributes in a slice that the table does not list.
    pub rows: Option<Range<u64>>,
    pub batch_rows: usize,
}

impl Part for EdgeMemberships<'_> {
    fn read(&self, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let slices = &self.annnet.slices;
        let Some(range) = &self.rows else { return self.unlisted(take) };
        let Some(table) = &slices.edges else { return Ok(()) };
        let columns = [column::SLICE_ID, column::EDGE_ID, column::WEIGHT];
        for cells in table.batches(&columns, range.clone(), self.batch_rows)? {
            let cells = cells?;
            let (groups, members) = (cells.text(column::SLICE_ID)?, cells.text(column::EDGE_ID)?);
            self.rows_of(&groups, &members, &cells.floats(column::WEIGHT)?, take)?;
        }
        Ok(())
    }

    fn rows(&self) -> Option<u64> {
        self.rows.as_ref().map(|rows| rows.end - rows.start)
    }
}

impl EdgeMemberships<'_> {
    fn unlisted(&self, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let pairs = &self.annnet.slices.pairs;
        let Some(cells) = &pairs.cells else { return Ok(()) };
        for rows in pairs.unlisted.chunks(self.batch_rows.max(1)) {
            let text = |name| -> Result<StringArray> {
                let column = gather(&cells.text(name)?, rows)?;
                Ok(arrow_array::cast::AsArray::as_string::<i32>(&column).clone())
            };
            let (groups, members) = (text(column::SLICE_ID)?, text(column::EDGE_ID)?);
            self.rows_of(&groups, &members, &Float64Array::new_null(rows.len()), take)?;
        }
        Ok(())
    }

    fn rows_of(
        &self,
        groups: &StringArray,
        members: &StringArray,
        stated: &Float64Array,
        take: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<()> {
        let (slices, edges) = (&self.annnet.slices, &self.annnet.edges);
        let pairs = &slices.pairs;
        // One list of rows for each table of members.
        let mut lists: [Chosen; 4] = Default::default();
        let mut named = Runs::default();
        for row in (0..groups.len()).filter(|&row| groups.is_valid(row) && members.is_valid(row)) {
            let slice = named.of(slices, groups.value(row));
            let hash = ids::hash(members.value(row));
            let pair = pairs.row(slice.hash, hash);
            let by_pair = || {
                let weights = pairs.weights.as_ref()?;
                pair.map(|pair| pair as usize).filter(|pair| weights.is_valid(*pair)).map(|pair| weights.value(pair))
            };
            let weight = if stated.is_valid(row) { Some(stated.value(row)) } else { by_pair() };
            if slice.is_all {
                if pair.is_none() && weight.is_none() {
                    continue;
                }
            } else if !slices.knows(hash) {
                continue;
            }
            let chosen = &mut lists[edges.class_of(hash) as usize];
            chosen.rows.push(row as u32);
            chosen.pairs.push(pair);
            chosen.weights.push(weight);
        }
        for (class, Chosen { rows, pairs: of_pairs, weights }) in lists.into_iter().enumerate() {
            let Some(table) = self.table(class).filter(|_| !rows.is_empty()) else { continue };
            let weight = weights.iter().any(Option::is_some);
            let mut properties: Columns = vec![weight.then(|| Arc::new(Float64Array::from(weights)) as ArrayRef)];
            properties.extend(match &pairs.cells {
                Some(cells) if of_pairs.iter().any(Option::is_some) => {
                    pairs.attributes.take(cells, &UInt32Array::from(of_pairs))?
                }
                _ => pairs.attributes.absent(),
            });
            take(Batch::Memberships(MembershipBatch {
                kind: self.kind,
                table,
                group: Ends::Keys(gather(groups, &rows)?),
                member: Ends::Keys(gather(members, &rows)?),
                properties,
            }))?;
        }
        Ok(())
    }

    /// Index of the membership table of a class: nodes come first, then edges, then the hyperedge types that there are.
    fn table(&self, class: usize) -> Option<usize> {
        if class == Class::TwoEnded as usize {
            return Some(1);
        }
        let at = self.annnet.others.iter().position(|other| *other as usize == class)?;
        Some(2 + at)
    }
}
