//! Memberships of nodes and edges in slices.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, StringArray, UInt32Array};
use arrow_select::take::take as take_rows;
use isomorph_error::{Error, Result};
use isomorph_model::batch::MembershipBatch;
use isomorph_model::{Batch, Columns, Ends, Part, Take, part};

use super::Annnet;
use super::edges::Class;
use super::ids;
use super::slices::Slices;
use crate::cells::Cells;
use crate::layout::column;

/// Memberships of nodes, from one part of their table.
pub(crate) struct NodeMemberships<'a> {
    pub annnet: &'a Annnet,
    /// Index of the group kind `slice`.
    pub kind: usize,
    pub rows: Range<u64>,
    pub batch_rows: usize,
}

fn gather(column: &dyn Array, rows: &[u32]) -> Result<ArrayRef> {
    let rows = UInt32Array::from(rows.to_vec());
    take_rows(column, &rows, None).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
}

impl<'a> NodeMemberships<'a> {
    /// Returns it as a part of a scan.
    pub fn part(self) -> Box<dyn Part + 'a> {
        let slices = &self.annnet.slices;
        let (rows, id, batch_rows) = (self.rows.clone(), self.annnet.words.node_id, self.batch_rows);
        let open = move || {
            let table = slices.nodes.as_ref();
            table.map(|table| table.batches(&[column::SLICE_ID, id], rows, batch_rows)).transpose()
        };
        part::stepped(Some(self.rows.end - self.rows.start), open, move |batches, take| {
            let Some(cells) = batches.as_mut().and_then(Iterator::next) else { return Ok(false) };
            self.members(&cells?, id, take).map(|()| true)
        })
    }

    fn members(&self, cells: &Cells, id: &str, take: Take<'_>) -> Result<()> {
        let (groups, members) = (cells.text(column::SLICE_ID)?, cells.text(id)?);
        let mut named = Runs::default();
        let mut is_member = |row: &usize| {
            groups.is_valid(*row)
                && members.is_valid(*row)
                // Members of the slice that contains everything need not be listed, and a node membership has no
                // other values.
                && !named.of(&self.annnet.slices, groups.value(*row)).is_all
                && self.annnet.entities.row(members.value(*row)).is_some()
        };
        let rows: Vec<u32> = (0..cells.rows()).filter(&mut is_member).map(|row| row as u32).collect();
        if rows.is_empty() {
            return Ok(());
        }
        take(Batch::Memberships(MembershipBatch {
            kind: self.kind,
            table: 0,
            group: Ends::Keys(gather(&groups, &rows)?),
            member: Ends::Keys(gather(&members, &rows)?),
            properties: Vec::new(),
        }))
    }
}

/// The slice of a row. Rows of the same slice are usually adjacent, so that it is looked up once.
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

/// Rows whose members are of the same class.
#[derive(Default)]
struct Chosen {
    rows: Vec<u32>,
    pairs: Vec<Option<u32>>,
    weights: Vec<Option<f64>>,
}

/// Memberships of edges of all kinds.
pub(crate) struct EdgeMemberships<'a> {
    pub annnet: &'a Annnet,
    /// Index of the group kind `slice`.
    pub kind: usize,
    /// Rows of the table; `None` for edges that have attributes in a slice but are not listed in the table.
    pub rows: Option<Range<u64>>,
    pub batch_rows: usize,
}

impl<'a> EdgeMemberships<'a> {
    /// Returns it as a part of a scan.
    pub fn part(self) -> Box<dyn Part + 'a> {
        match self.rows.clone() {
            Some(rows) => self.listed(rows),
            None => self.unlisted(),
        }
    }

    fn listed(self, rows: Range<u64>) -> Box<dyn Part + 'a> {
        let (table, batch_rows, count) = (&self.annnet.slices.edges, self.batch_rows, rows.end - rows.start);
        let open = move || {
            let columns = [column::SLICE_ID, column::EDGE_ID, column::WEIGHT];
            table.as_ref().map(|table| table.batches(&columns, rows, batch_rows)).transpose()
        };
        part::stepped(Some(count), open, move |batches, take| {
            let Some(cells) = batches.as_mut().and_then(Iterator::next).transpose()? else { return Ok(false) };
            let (groups, members) = (cells.text(column::SLICE_ID)?, cells.text(column::EDGE_ID)?);
            self.rows_of(&groups, &members, &cells.floats(column::WEIGHT)?, take).map(|()| true)
        })
    }

    fn unlisted(self) -> Box<dyn Part + 'a> {
        let pairs = &self.annnet.slices.pairs;
        let (mut all, open) = (pairs.unlisted.chunks(self.batch_rows.max(1)), || Ok(()));
        part::stepped(None, open, move |(), take| {
            let (Some(cells), Some(rows)) = (&pairs.cells, all.next()) else { return Ok(false) };
            let text = |name| -> Result<StringArray> {
                let column = gather(&cells.text(name)?, rows)?;
                Ok(arrow_array::cast::AsArray::as_string::<i32>(&column).clone())
            };
            let (groups, members) = (text(column::SLICE_ID)?, text(column::EDGE_ID)?);
            self.rows_of(&groups, &members, &Float64Array::new_null(rows.len()), take).map(|()| true)
        })
    }

    fn rows_of(
        &self,
        groups: &StringArray,
        members: &StringArray,
        stated: &Float64Array,
        take: Take<'_>,
    ) -> Result<()> {
        let (slices, edges) = (&self.annnet.slices, &self.annnet.edges);
        let pairs = &slices.pairs;
        // One list of rows for each membership table.
        let mut lists: [Chosen; 4] = Default::default();
        let mut named = Runs::default();
        for row in (0..groups.len()).filter(|&row| groups.is_valid(row) && members.is_valid(row)) {
            let slice = named.of(slices, groups.value(row));
            let hash = ids::hash(members.value(row));
            let pair = pairs.row(slice.hash, hash);
            let weight = match stated.is_valid(row) {
                true => Some(stated.value(row)),
                false => slices.weight(slice.hash, hash, pair),
            };
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

    /// Returns the index of the membership table of a class: first nodes, then edges, then the hyperedge types of the
    /// graph.
    fn table(&self, class: usize) -> Option<usize> {
        if class == Class::TwoEnded as usize {
            return Some(1);
        }
        let at = self.annnet.others.iter().position(|other| *other as usize == class)?;
        Some(2 + at)
    }
}
