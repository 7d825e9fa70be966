//! Reads the edges of one node, up to the limit.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, StringArray};
use arrow_buffer::BooleanBuffer;
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, Columns, Direction, EdgeBatch, EdgeType, Ends, NodeType, Part, Side};

use super::{NeighborBatch, Neighbors, keys, missing, must_exist};
use crate::arrays::relations;
use crate::schema::property_name;
use crate::selected::Rows;

/// Edges of one type that are read to count those beyond the limit.
const COUNTED: usize = 1 << 14;

/// Number of other relations that are remembered.
const OTHERS: usize = 1000;

/// A look-up among the edges of one type, from one side.
#[derive(Debug, Clone, Copy)]
struct LookUp {
    edge: usize,
    side: Side,
}

/// The edges of one node, in batches that are read on request. Reading ends at the limit, except that a bounded number
/// of further edges is counted. After an error, the iterator is at its end.
pub struct NeighborBatches<'d> {
    asked: Neighbors<'d>,
    look_ups: std::vec::IntoIter<LookUp>,
    /// The look-up that is being read, and the number of edges read.
    current: Option<(LookUp, Box<dyn Part + 'd>, usize)>,
    is_looked_up: bool,
    given: usize,
    more: u64,
    is_cut: bool,
    others: BTreeSet<String>,
    /// The error of a format that has no row for a node which edges imply.
    missing: Option<Error>,
    is_done: bool,
}

impl std::fmt::Debug for NeighborBatches<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NeighborBatches")
            .field("asked", &self.asked)
            .field("given", &self.given)
            .finish_non_exhaustive()
    }
}

impl<'d> NeighborBatches<'d> {
    pub(super) fn new(asked: Neighbors<'d>) -> Self {
        let mut look_ups = Vec::new();
        for (edge, ty) in asked.graph().edges.iter().enumerate() {
            if ty.relation.fixed().zip(asked.relation.as_deref()).is_some_and(|(fixed, wanted)| fixed != wanted) {
                continue;
            }
            let has_undirected = ty.direction != Direction::Directed;
            for side in [Side::Out, Side::In] {
                let is_end = near(ty, side) == asked.ty;
                if is_end && (has_undirected || asked.sides.include(side)) {
                    look_ups.push(LookUp { edge, side });
                }
            }
        }
        NeighborBatches {
            is_looked_up: !look_ups.is_empty(),
            asked,
            look_ups: look_ups.into_iter(),
            current: None,
            given: 0,
            more: 0,
            is_cut: false,
            others: BTreeSet::new(),
            missing: None,
            is_done: false,
        }
    }

    /// The number of neighbours beyond the limit, after all batches were read; `None` if the limit was reached before
    /// all edges were read.
    pub fn more(&self) -> Option<u64> {
        (!self.is_cut).then_some(self.more)
    }

    /// Some relations of edges that were skipped because another relation is requested: at most a thousand.
    pub fn others(&self) -> &BTreeSet<String> {
        &self.others
    }

    fn step(&mut self) -> Result<Option<NeighborBatch<'d>>> {
        loop {
            let is_full = self.given >= self.asked.limit;
            let Some((look_up, part, seen)) = &mut self.current else {
                let Some(look_up) = self.look_ups.next() else { return self.finish().map(|()| None) };
                if is_full {
                    self.is_cut = true;
                    return Ok(None);
                }
                self.current = self.open(look_up)?.map(|part| (look_up, part, 0));
                continue;
            };
            let look_up = *look_up;
            let batch = match part.next().transpose()? {
                Some(Batch::Edges(batch)) => batch,
                Some(_) => continue,
                None => {
                    self.current = None;
                    continue;
                }
            };
            if is_full && *seen >= COUNTED {
                self.is_cut = true;
                return Ok(None);
            }
            *seen += batch.rows;
            if let Some(found) = self.wanted(batch, look_up)? {
                return Ok(Some(found));
            }
        }
    }

    /// The edges of a look-up; `None` if the node may still be an end of other edges.
    fn open(&mut self, look_up: LookUp) -> Result<Option<Box<dyn Part + 'd>>> {
        let source = self.asked.dataset.source();
        let node = self.asked.node.id();
        let found = match self.asked.narrowing(look_up.edge) {
            Some(narrowing) => source.narrowed_neighbors(look_up.edge, node, look_up.side, narrowing),
            None => source.neighbors(look_up.edge, node, look_up.side),
        };
        match found {
            Err(error) if self.is_implied() && error.kind() == Kind::NotFound => {
                self.missing.get_or_insert(error);
                Ok(None)
            }
            found => found.map(Some),
        }
    }

    fn is_implied(&self) -> bool {
        self.asked.node_type().is_some_and(|ty| ty.implied)
    }

    /// Checks that the node exists, if no edge has shown it.
    fn finish(&mut self) -> Result<()> {
        let Neighbors { dataset, ty, node, .. } = &self.asked;
        if !self.is_looked_up {
            must_exist(dataset.source().as_ref(), *ty, node.id())?;
        }
        match self.missing.take() {
            Some(error) if self.given == 0 && !self.is_an_end()? => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether an edge of any type starts or ends at the node.
    fn is_an_end(&self) -> Result<bool> {
        let Neighbors { dataset, ty, node, .. } = &self.asked;
        for (edge, edges) in self.asked.graph().edges.iter().enumerate() {
            for side in [Side::Out, Side::In].into_iter().filter(|side| near(edges, *side) == *ty) {
                match dataset.source().neighbors(edge, node.id(), side) {
                    Err(error) if error.kind() == Kind::NotFound => {}
                    Err(error) => return Err(error),
                    Ok(mut batches) => {
                        if batches.next().transpose()?.is_some() {
                            return Ok(true);
                        }
                    }
                }
            }
        }
        Ok(false)
    }

    /// Selects the requested edges of a batch, up to the limit; edges beyond it are counted.
    fn wanted(&mut self, batch: EdgeBatch, look_up: LookUp) -> Result<Option<NeighborBatch<'d>>> {
        let broken = || Error::malformed("edges of an unknown type");
        let graph = self.asked.graph();
        let edge_type = graph.edges.get(look_up.edge).ok_or_else(broken)?;
        let far = near(edge_type, opposite(look_up.side));
        let node_type: &'d NodeType = graph.nodes.get(far).ok_or_else(broken)?;
        let mut keep = self.kept(&batch, edge_type, look_up.side)?;
        let names = relations_of(&batch, edge_type)?;
        if let Some(wanted) = &self.asked.relation {
            for (keep, name) in keep.iter_mut().zip(&names) {
                let name = name.unwrap_or_default();
                if *keep && name != wanted {
                    *keep = false;
                    if self.others.len() < OTHERS && !self.others.contains(name) {
                        self.others.insert(name.to_owned());
                    }
                }
            }
        }
        let mut room = self.asked.limit.saturating_sub(self.given);
        for keep in keep.iter_mut().filter(|keep| **keep) {
            if room == 0 {
                *keep = false;
                self.more += 1;
            } else {
                room -= 1;
                self.given += 1;
            }
        }
        if !keep.contains(&true) {
            return Ok(None);
        }
        let rows = Rows::new(BooleanBuffer::from(keep));
        let ends = match look_up.side {
            Side::Out => &batch.target,
            Side::In => &batch.source,
        };
        let neighbors = self.keys_of(far, &rows.of_ends(ends)?)?;
        let wanted: Vec<bool> =
            edge_type.properties.iter().map(|property| self.asked.wants(property_name(property))).collect();
        let properties =
            batch.properties.iter().zip(&wanted).map(|(column, wanted)| column.clone().filter(|_| *wanted));
        let properties: Columns = rows.of_columns(properties.collect())?;
        let directed = match (edge_type.direction, &batch.directed) {
            (Direction::Undirected, _) => BooleanArray::from(vec![false; batch.rows]),
            (Direction::PerRow, Some(all)) => all.iter().map(|directed| Some(directed != Some(false))).collect(),
            _ => BooleanArray::from(vec![true; batch.rows]),
        };
        let (relations, directed) = (rows.of_typed(&names)?, rows.of_typed(&directed)?);
        let side = look_up.side;
        Ok(Some(NeighborBatch { side, edge_type, node_type, neighbors, relations, directed, properties, wanted }))
    }

    /// Which edges of a batch are requested, by direction. Undirected edges are requested on either side, but an
    /// undirected loop only once: its two ends are the same node.
    fn kept(&self, batch: &EdgeBatch, edge: &EdgeType, side: Side) -> Result<Vec<bool>> {
        let undirected: Vec<bool> = match (edge.direction, &batch.directed) {
            (Direction::Undirected, _) => vec![true; batch.rows],
            (Direction::PerRow, Some(directed)) => directed.iter().map(|directed| directed == Some(false)).collect(),
            _ => vec![false; batch.rows],
        };
        // Between two types, equal row numbers are different nodes.
        let can_loop = side == Side::In && edge.source == edge.target && undirected.contains(&true);
        let loops = if can_loop { self.loops(batch, edge.source)? } else { vec![false; batch.rows] };
        let keep = undirected.iter().zip(loops);
        Ok(keep
            .map(|(undirected, is_loop)| if *undirected { !is_loop } else { self.asked.sides.include(side) })
            .collect())
    }

    /// Which edges of a batch between nodes of type `ty` are loops.
    fn loops(&self, batch: &EdgeBatch, ty: usize) -> Result<Vec<bool>> {
        if let (Ends::Rows(sources), Ends::Rows(targets)) = (&batch.source, &batch.target) {
            return Ok(sources
                .values()
                .iter()
                .zip(targets.values())
                .map(|(source, target)| source == target)
                .collect());
        }
        let texts = |ends: &Ends| {
            let keys = self.keys_of(ty, ends)?;
            cast(&keys, &DataType::Utf8).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
        };
        let (sources, targets) = (texts(&batch.source)?, texts(&batch.target)?);
        Ok(sources.as_string::<i32>().iter().zip(targets.as_string::<i32>()).map(|(one, other)| one == other).collect())
    }

    fn keys_of(&self, ty: usize, ends: &Ends) -> Result<ArrayRef> {
        match ends {
            Ends::Keys(keys) => Ok(Arc::clone(keys)),
            Ends::Rows(rows) => keys::of_rows(self.asked.dataset.source().as_ref(), ty, rows),
        }
    }
}

impl<'d> Iterator for NeighborBatches<'d> {
    type Item = Result<NeighborBatch<'d>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let next = self.step();
        if !matches!(next, Ok(Some(_))) {
            self.is_done = true;
            self.current = None;
        }
        next.map_err(|error| missing::explained(&self.asked, error)).transpose()
    }
}

/// The node type at one end of edges.
fn near(edges: &EdgeType, side: Side) -> usize {
    match side {
        Side::Out => edges.source,
        Side::In => edges.target,
    }
}

fn opposite(side: Side) -> Side {
    match side {
        Side::Out => Side::In,
        Side::In => Side::Out,
    }
}

/// The relation of each edge of a batch.
fn relations_of(batch: &EdgeBatch, edges: &EdgeType) -> Result<StringArray> {
    if batch.relations.is_none() {
        let fixed = edges.relation.fixed().unwrap_or_default();
        return Ok(StringArray::from_iter_values(std::iter::repeat_n(fixed, batch.rows)));
    }
    Ok(relations(batch.relations.as_ref())?.as_string::<i32>().clone())
}
