//! Graphs without their hyperedges: replaced by pairs of members, or dropped (`docs/mapping.md`).
//!
//! Nothing here has an inverse. A hyperedge of four members becomes six pairs, and the properties of one member, or the
//! memberships of the hyperedge in groups, cannot be stored any more. So a [`Projection`] counts what it drops, and is
//! made only for conversions without a sidecar.

mod gather;
mod pairs;
mod projected;

use std::fmt;
use std::sync::Arc;

use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::schema::{HyperedgeType, Owner};
use isomorph_model::{EdgeType, Graph, Property, Relation, Source};

use super::Names;
use crate::options::Hyperedges;
use crate::progress::Progress;
use gather::{Counts, Gathered};
use isomorph_storage::Resources;

pub use projected::Projected;

/// The column of a pair with the id of its hyperedge.
const HYPEREDGE: &str = "hyperedge";

/// A graph without hyperedges, and what is lost.
pub struct Projection {
    /// The graph: its first edge types are the original ones, followed by the pairs.
    pub graph: Graph,
    /// For each hyperedge type: its name, and what is written for it.
    pub lines: Vec<(String, String)>,
    /// What is lost, as text with counts.
    pub lost: Vec<String>,
    /// The hyperedges of each edge type of pairs.
    pairs: Vec<Gathered>,
    /// For each kind of groups, the new positions of its membership tables; `None` for those of hyperedges.
    memberships: Vec<Vec<Option<usize>>>,
    /// The same for value tables.
    values: Vec<Option<usize>>,
    /// Number of edge types before the pairs.
    edges: usize,
}

impl fmt::Debug for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Projection").field("lines", &self.lines).field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl Projection {
    /// The projection of a graph; `None` if there are no hyperedges, or they are kept. Hyperedges and members are read
    /// to count them and, for pairs, a second time to collect them.
    ///
    /// # Errors
    /// If they cannot be read, members refer to no hyperedge, or there is too little memory even for spilling.
    pub fn of(
        source: &dyn Source,
        how: Hyperedges,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Option<Arc<Projection>>> {
        let graph = source.graph();
        if how == Hyperedges::Reify || graph.hyperedges.is_empty() {
            return Ok(None);
        }
        let counts = gather::count(source, progress)?;
        let mut projection = Projection::without(graph);
        projection.say_memberships(graph, &counts);
        match how {
            Hyperedges::Expand => projection.expand(source, &counts, resources, progress)?,
            _ => projection.skip(graph, &counts),
        }
        Ok(Some(Arc::new(projection)))
    }

    /// The graph without hyperedges, and without what refers to them.
    fn without(graph: &Graph) -> Projection {
        let mut kept = graph.clone();
        kept.hyperedges.clear();
        let of_others = |owner: Owner| !matches!(owner, Owner::Hyperedges(_));
        let mut memberships = Vec::new();
        for kind in &mut kept.groups {
            memberships.push(places(kind.memberships.iter().map(|table| of_others(table.of))));
            kind.memberships.retain(|table| of_others(table.of));
        }
        let values = places(kept.values.iter().map(|table| of_others(table.owner)));
        kept.values.retain(|table| of_others(table.owner));
        Projection {
            edges: kept.edges.len(),
            graph: kept,
            lines: Vec::new(),
            lost: Vec::new(),
            pairs: Vec::new(),
            memberships,
            values,
        }
    }

    fn say_memberships(&mut self, graph: &Graph, counts: &Counts) {
        for (kind, count) in graph.groups.iter().zip(&counts.memberships).filter(|(_, count)| **count > 0) {
            self.lost.push(format!("{} in groups {}", counted(*count, "membership of hyperedges"), kind.kind));
        }
    }

    fn skip(&mut self, graph: &Graph, counts: &Counts) {
        for (ty, count) in graph.hyperedges.iter().zip(&counts.types) {
            self.lines.push((ty.name.clone(), "dropped".to_owned()));
            if count.hyperedges > 0 {
                let (hyperedges, members) = (count.hyperedges, counted(count.members, "member"));
                self.lost.push(format!("{} {} with {members}", counted(hyperedges, "hyperedge"), ty.name));
            }
        }
    }

    fn expand(
        &mut self,
        source: &dyn Source,
        counts: &Counts,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<()> {
        let graph = source.graph();
        let mut relations = Names::reserving(graph.edges.iter().filter_map(|ty| ty.relation.fixed()));
        let gathered = gather::gather(source, counts, resources, progress)?;
        for ((ty, count), gathered) in graph.hyperedges.iter().zip(&counts.types).zip(gathered) {
            let (mut pairs, mut expanded) = (0u64, 0u64);
            let mut groups = gathered.groups(0..u64::MAX)?;
            while groups.advance()? {
                let own = groups.group.pairs();
                pairs = pairs.saturating_add(own);
                expanded += u64::from(own > 0);
            }
            let relation = relations.give(&ty.name, |_| true);
            let alone = count.hyperedges.saturating_sub(expanded);
            if alone > 0 {
                let all = counted(count.hyperedges, "hyperedge");
                self.lost.push(format!("{alone} of {all} {}, which have fewer than two members to pair", ty.name));
            }
            if count.coefficients > 0 {
                let coefficients = counted(count.coefficients, "coefficient of members");
                self.lost.push(format!("{coefficients} of hyperedges {}", ty.name));
            }
            // A type without pairs would be an empty table in every format.
            if pairs == 0 {
                self.lines.push((ty.name.clone(), "dropped: fewer than two members to pair".to_owned()));
                continue;
            }
            self.lines.push((ty.name.clone(), format!("{} {relation}", counted(pairs, "edge"))));
            self.graph.edges.push(pair_type(ty, relation, pairs));
            self.pairs.push(gathered);
        }
        Ok(())
    }

    /// The hyperedges of an edge type, if it is one of pairs.
    fn pairs_of(&self, edge: usize) -> Option<&Gathered> {
        self.pairs.get(edge.checked_sub(self.edges)?)
    }
}

/// The edge type of the pairs of a hyperedge type. Its last property is the id of the hyperedge.
fn pair_type(ty: &HyperedgeType, relation: String, pairs: u64) -> EdgeType {
    let mut names = Names::reserving(ty.properties.iter().map(|property| property.name.as_str()));
    let mut properties = ty.properties.clone();
    properties.push(Property::new(names.give(HYPEREDGE, |_| true), DataType::Utf8));
    EdgeType {
        source: ty.ends,
        relation: Relation::Fixed(relation),
        target: ty.ends,
        direction: ty.direction,
        key: None,
        layered: ty.layered,
        properties,
        rows: Some(pairs),
    }
}

/// The new positions of the tables that are kept.
fn places(kept: impl Iterator<Item = bool>) -> Vec<Option<usize>> {
    let mut next = 0..;
    kept.map(|kept| if kept { next.next() } else { None }).collect()
}

/// `1 membership of hyperedges`, `2 memberships of hyperedges`: the first word gets the plural ending.
fn counted(number: u64, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    match what.split_once(' ') {
        Some((first, rest)) => format!("{number} {first}{ending} {rest}"),
        None => format!("{number} {what}{ending}"),
    }
}
