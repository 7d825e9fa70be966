//! Ids that are repeated, and ends that are no nodes: found when a file is opened, so that no reading counts what another does not find.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, StringArray};
use isomorph_error::{Error, Finding, Findings, Kind, Place, Result, Rule};
use isomorph_model::Ends;
use isomorph_storage::Scratch;
use isomorph_tables::PackedFile;
use isomorph_tables::lookup::{Asked, LookupOptions, Take, WrongId, WrongIds, wrong_ids};
use isomorph_tables::sort::Sequence;

use crate::chunk::{Chunk, LeftOut, Wanted};
use crate::reader::{Item, Syntax};
use crate::source::RecordGraph;
use crate::stored::IdKind;
use crate::survey::{Ids, wrong};

/// The most records that are set aside, and that `validate` names: more are no mistakes, but another file.
pub(crate) const MOST: usize = 1_000_000;

/// The most records that are named when a file is opened.
pub(crate) const NAMED: usize = 100;

/// A record that is wrong.
struct WrongRecord {
    item: Item,
    row: u64,
    finding: Finding,
}

/// The records with wrong ids, or wrong ends.
#[derive(Default)]
pub(crate) struct WrongRecords {
    all: Vec<WrongRecord>,
    /// How often rules are broken by records that are not named, and by what.
    others: Vec<(&'static Rule, &'static str, u64)>,
}

impl WrongRecords {
    /// Adds the records of a chunk that lack an id or an end.
    ///
    /// # Errors
    /// Returns an error if there is one and this is not `lenient`, or if there are too many.
    pub fn see(&mut self, chunk: &Chunk, syntax: &dyn Syntax, file: &PackedFile, lenient: bool) -> Result<()> {
        let rules = syntax.rules();
        let (rule, message) = match (chunk.item, syntax.has_integer_ids()) {
            (Item::Node, false) => (rules.id, "a node has no id"),
            (Item::Node, true) => (rules.id, "a node has no id, or one that is no integer of 64 bits"),
            (Item::Edge, false) => (rules.end, "an edge has no source or no target"),
            (Item::Edge, true) => (rules.end, "an edge lacks an end, or has one that is no integer of 64 bits"),
            (Item::Hyperedge, _) => (rules.hyperedge.unwrap_or(rules.id), "a hyperedge has no id"),
        };
        for row in chunk.incomplete() {
            let error = wrong(rule, message, file, chunk, row);
            if !lenient {
                return Err(error);
            }
            if self.all.len() == MOST {
                return Err(Error::new(Kind::TooLarge, "more than 1,000,000 records lack an id or an end"));
            }
            let finding = Finding { rule, message: message.to_owned(), place: error.place().clone() };
            self.all.push(WrongRecord { item: chunk.item, row: chunk.start + row as u64, finding });
        }
        Ok(())
    }

    /// Adds what is wrong to `findings`.
    pub fn tell(self, findings: &mut Findings) {
        for WrongRecord { finding, .. } in self.all {
            findings.push(finding.rule, finding.message, finding.place);
        }
        for (rule, message, count) in self.others {
            (0..count).for_each(|_| findings.push(rule, message, Place::default()));
        }
    }

    /// Returns the records, which are to be left out, and what is wrong with each.
    ///
    /// # Errors
    /// Returns an error if there are too many.
    pub fn set_aside(self) -> Result<(LeftOut, Vec<Finding>)> {
        if !self.others.is_empty() {
            let message =
                "more records are wrong than can be set aside: 1,000,000, or 16 if ids do not fit into memory";
            return Err(Error::new(Kind::TooLarge, message).hint("--memory SIZE    allow more memory"));
        }
        let (mut left_out, mut told) = (LeftOut::default(), Vec::new());
        for WrongRecord { item, row, finding } in self.all {
            // An edge may have two wrong ends.
            if left_out.add(item, row) {
                told.push(finding);
            }
        }
        Ok((left_out, told))
    }
}

impl RecordGraph {
    /// Returns the records that are wrong, and names up to `most` of each kind.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or there is no space for temporary files.
    pub(crate) fn wrong_records(&self, most: usize) -> Result<WrongRecords> {
        let lookups = self.lookups()?;
        let of_nodes = wrong_ids(&lookups, most, |asked, take| self.each_id(asked, take))?;
        let hyperedges = Wanted { hyperedges: true, ..Wanted::BARE };
        let of_hyperedges = match self.survey().hyperedges.rows {
            0 => WrongIds::default(),
            _ => wrong_ids(&lookups, most, |asked, take| match asked {
                Asked::Ids => {
                    self.each_chunk(hyperedges, &mut |chunk| take(chunk.start.into(), &self.hyperedge_keys(chunk)?))
                }
                Asked::Ends => Ok(()),
            })?,
        };
        let edges = self.survey().edges.rows;
        let rules = self.syntax().rules();
        let end = |own: &WrongId| match own.row.checked_sub(edges) {
            None => (Item::Edge, own.row),
            Some(row) => (Item::Hyperedge, row),
        };
        let nodes = of_nodes.repeated.iter().map(|own| (Item::Node, own.row, own, rules.id));
        let unique = rules.hyperedge.unwrap_or(rules.id);
        let hyperedges = of_hyperedges.repeated.iter().map(|own| (Item::Hyperedge, own.row, own, unique));
        let lost = of_nodes.lost.iter().map(|own| (end(own).0, end(own).1, own, rules.end));
        let all: Vec<(Item, u64, &WrongId, &'static Rule)> = nodes.chain(hyperedges).chain(lost).collect();
        let named = all.iter().map(|(item, row, own, _)| (*item, *row, own.first));
        let offsets = self.offsets(named)?;
        let place = |item, row| match offsets.get(&(item, row)) {
            Some(Some(offset)) => self.file().blob.place().offset(*offset),
            _ => self.file().blob.place(),
        };
        let is_text = self.id_kind() == IdKind::Texts && self.survey().label.is_none();
        let records = all.iter().map(|(item, row, own, rule)| {
            let id = if is_text || *item == Item::Hyperedge { format!("{:?}", own.id) } else { own.id.clone() };
            let what = item.word();
            let message = match own.first {
                Some(first) => {
                    let earlier = offsets.get(&(*item, first)).copied().flatten();
                    let earlier = earlier.map(|offset| format!(" at byte {offset}")).unwrap_or_default();
                    format!("the id {id} is that of the {what}{earlier} already")
                }
                None => format!("the {what} ends in {id}, which is not a node"),
            };
            WrongRecord { item: *item, row: *row, finding: Finding { rule, message, place: place(*item, *row) } }
        });
        let others = [
            (rules.id, "two nodes have the same id", of_nodes.repeats - of_nodes.repeated.len() as u64),
            (rules.end, "an end is not a node", of_nodes.losses - of_nodes.lost.len() as u64),
            (unique, "two hyperedges have the same id", of_hyperedges.repeats - of_hyperedges.repeated.len() as u64),
        ];
        let others = others.into_iter().filter(|(.., count)| *count > 0).collect();
        Ok(WrongRecords { all: records.collect(), others })
    }

    /// Adds the edges that have the ends of an earlier one, in a file that has no such edges as it says.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or there is no space for temporary files.
    pub(crate) fn find_parallel_edges(&self, findings: &mut Findings) -> Result<()> {
        let Some(rule) = self.syntax().single_edges(&self.survey().head) else { return Ok(()) };
        let wanted = Wanted { edges: true, ..Wanted::BARE };
        let found = wrong_ids(&self.lookups()?, NAMED, |asked, take| match asked {
            Asked::Ids => self.each_chunk(wanted, &mut |chunk| take(chunk.start.into(), &self.pairs(chunk)?)),
            Asked::Ends => Ok(()),
        })?;
        let named = found.repeated.iter().map(|own| (Item::Edge, own.row, own.first));
        let offsets = self.offsets(named)?;
        let offset = |row: u64| offsets.get(&(Item::Edge, row)).copied().flatten().unwrap_or_default();
        for own in &found.repeated {
            let first = offset(own.first.unwrap_or_default());
            let place = self.file().blob.place().offset(offset(own.row));
            findings.push(rule, format!("the edge has the ends of the edge at byte {first}"), place);
        }
        (found.repeated.len() as u64..found.repeats)
            .for_each(|_| findings.push(rule, "an edge has the ends of an earlier one", Place::default()));
        Ok(())
    }

    /// Returns both ends of each edge as one text, the smaller one first if edges have no direction.
    fn pairs(&self, chunk: &Chunk) -> Result<StringArray> {
        let (source, target) = (self.plain_ends(chunk, 0)?, self.plain_ends(chunk, 1)?);
        let is_directed = self.survey().head.directed;
        let mut pairs = StringBuilder::new();
        for row in 0..chunk.rows {
            // Writing into the builder does not fail.
            let _ = match (source.as_primitive_opt::<Int64Type>(), target.as_primitive_opt::<Int64Type>()) {
                (Some(source), Some(target)) => {
                    let (from, to) = (source.value(row), target.value(row));
                    let (from, to) = if is_directed || from <= to { (from, to) } else { (to, from) };
                    write!(pairs, "{from} {to}")
                }
                _ => {
                    let (from, to) = (source.as_string::<i32>().value(row), target.as_string::<i32>().value(row));
                    let (from, to) = if is_directed || from <= to { (from, to) } else { (to, from) };
                    write!(pairs, "{} {from}{to}", from.len())
                }
            };
            pairs.append_value("");
        }
        Ok(pairs.finish())
    }

    /// Returns how ids are looked up.
    fn lookups(&self) -> Result<LookupOptions> {
        let options = self.options();
        let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
        Ok(LookupOptions::new(&options.budget, &scratch).memory(options.budget.available() / 4))
    }

    /// Passes on the ids of nodes, or the ends of edges and then of hyperedges, whose rows follow those of edges.
    fn each_id(&self, asked: Asked, take: &mut Take<'_>) -> Result<()> {
        let edges = self.survey().edges.rows;
        match asked {
            Asked::Ids => self.each_chunk(Wanted { nodes: true, ..Wanted::BARE }, &mut |chunk| {
                take(chunk.start.into(), self.plain_ids(chunk)?.as_ref())
            }),
            Asked::Ends => {
                let wanted = Wanted { edges: true, hyperedges: true, ..Wanted::BARE };
                self.each_chunk(wanted, &mut |chunk| match &chunk.members {
                    Some(members) => {
                        let rows: Vec<u64> = members.rows().map(|row| edges + chunk.start + row as u64).collect();
                        take(Sequence::Each(&rows), &members.nodes)
                    }
                    None => {
                        (0..2).try_for_each(|side| take(chunk.start.into(), self.plain_ends(chunk, side)?.as_ref()))
                    }
                })
            }
        }
    }

    /// Returns the ids of nodes as edges name them.
    fn plain_ids(&self, chunk: &Chunk) -> Result<ArrayRef> {
        if self.survey().label.is_none() && self.survey().ids != Ids::Positions {
            return self.node_keys(chunk);
        }
        self.positions(chunk)
    }

    fn plain_ends(&self, chunk: &Chunk, side: usize) -> Result<ArrayRef> {
        let kind = match self.survey().label {
            Some(_) => IdKind::Integers,
            None => self.id_kind(),
        };
        let ends = chunk.ids[side].as_ref().map(|ids| ids.ids(kind));
        match ends {
            Some(Ok(Ends::Keys(keys))) => Ok(keys),
            Some(Err(row)) => {
                let message = "an edge ends in an id that no node has";
                Err(wrong(self.syntax().rules().end, message, self.file(), chunk, row))
            }
            _ => Err(self.changed(chunk, 0)),
        }
    }

    /// Returns where some records are, and those with the same id before them.
    fn offsets(
        &self,
        records: impl Iterator<Item = (Item, u64, Option<u64>)>,
    ) -> Result<BTreeMap<(Item, u64), Option<u64>>> {
        let both = records.flat_map(|(item, row, first)| [Some((item, row)), first.map(|first| (item, first))]);
        let mut offsets: BTreeMap<(Item, u64), Option<u64>> = both.flatten().map(|record| (record, None)).collect();
        if offsets.is_empty() {
            return Ok(offsets);
        }
        self.each_chunk(Wanted { nodes: true, edges: true, hyperedges: true, ..Wanted::BARE }, &mut |chunk| {
            let rows = (chunk.item, chunk.start)..(chunk.item, chunk.start + chunk.rows as u64);
            for ((_, row), offset) in offsets.range_mut(rows) {
                *offset = usize::try_from(row - chunk.start).ok().and_then(|at| chunk.offsets.get(at)).copied();
            }
            Ok(())
        })?;
        Ok(offsets)
    }
}
