//! Which patterns are answered by a search over lists of neighbours, and what is read of their matches.

use std::sync::Arc;

use isomorph::model::Comparison;

use super::super::filter;
use super::search::Pair;
use crate::columnar::{Read, is_count_of, is_random, is_weighable, may_read};
use crate::exec::Context;
use crate::matching;
use crate::plan::{Branch, Clause, Expr, Operator, Pattern, Projection, Slot};

/// Walks of more relationships are left to matching from node to node.
const LONGEST: u64 = 32;

/// A condition on one node or relationship, and the properties that it reads.
#[derive(Debug)]
pub(super) struct Own<'p> {
    pub conditions: Vec<&'p Expr>,
    pub names: Vec<&'p Arc<str>>,
    pub reads_labels: bool,
}

/// A branch whose first pattern is answered so.
#[derive(Debug)]
pub(super) struct Shape<'p> {
    pub pattern: &'p Pattern,
    /// Conditions on single nodes, and on single relationships.
    pub nodes: Vec<Own<'p>>,
    pub relationships: Vec<Own<'p>>,
    /// Least and most length of relationships that have a variable one.
    pub lengths: Vec<Option<(u32, u32)>>,
    /// Whether two nodes are the same one, or are not, with the first node of each pair.
    pub pairs: Vec<(usize, Pair)>,
    /// What is tested of whole matches.
    pub others: Vec<&'p Expr>,
    /// What is read of a match: positions in the pattern.
    pub shown_nodes: Vec<usize>,
    pub shown_edges: Vec<usize>,
    /// Whether a row may stand for several matches, with their number.
    pub may_count: bool,
    /// Whether matches that look alike are wanted once.
    pub is_distinct: bool,
}

impl<'p> Shape<'p> {
    /// The shape of a branch, if its first pattern can be answered so, and no look-up finds where to begin.
    pub(super) fn of(branch: &'p Branch, cx: &Context<'_>) -> Option<Shape<'p>> {
        let (Clause::Match { pattern, optional: false }, rest) = branch.clauses.split_first()? else { return None };
        let lengths = lengths(pattern)?;
        if !is_connected(pattern) || matching::begins_with_look_up(pattern, cx.graph) {
            return None;
        }
        let own = || Own { conditions: Vec::new(), names: Vec::new(), reads_labels: false };
        let mut shape = Shape {
            pattern,
            nodes: pattern.nodes.iter().map(|_| own()).collect(),
            relationships: pattern.relationships.iter().map(|_| own()).collect(),
            lengths,
            pairs: Vec::new(),
            others: Vec::new(),
            shown_nodes: Vec::new(),
            shown_edges: Vec::new(),
            may_count: false,
            is_distinct: false,
        };
        for one in &pattern.relationships {
            // Each relationship of a walk has these properties, with values that do not change.
            let is_fixed = |expr: &Expr| expr.slots().is_empty() && filter::is_safe(expr, cx);
            if !one.properties.iter().all(|(_, expr)| is_fixed(expr)) {
                return None;
            }
        }
        for (at, one) in pattern.relationships.iter().enumerate() {
            if let Some(own) = shape.relationships.get_mut(at) {
                own.names.extend(one.properties.iter().map(|(name, _)| name));
            }
        }
        // What may fail waits for the others.
        let (safe, unsafe_ones): (Vec<_>, Vec<_>) =
            pattern.conditions.iter().partition(|one| filter::is_safe(&one.expr, cx));
        for one in safe {
            shape.condition(&one.expr);
        }
        shape.others.extend(unsafe_ones.into_iter().map(|one| &*one.expr));
        let is_read = |slot: Slot| {
            shape.others.iter().any(|expr| expr.slots().contains(&slot))
                || rest.iter().any(|clause| reads(clause, slot))
                || branch.outputs.contains(&slot)
        };
        let walks = pattern.relationships.iter().zip(&shape.lengths).filter(|(_, length)| length.is_some());
        if walks.into_iter().any(|(one, _)| is_read(one.slot)) {
            return None;
        }
        let nodes = pattern.nodes.iter().enumerate().filter(|(_, node)| is_read(node.slot));
        let shown_nodes = nodes.map(|(at, _)| at).collect();
        let edges = pattern.relationships.iter().enumerate().filter(|(_, one)| is_read(one.slot));
        let shown_edges = edges.map(|(at, _)| at).collect();
        (shape.shown_nodes, shape.shown_edges) = (shown_nodes, shown_edges);
        if let Some(Clause::Project(projection)) = rest.first() {
            let is_random = projection.exprs().any(is_random) || shape.others.iter().any(|expr| is_random(expr));
            let weighable = |projection: &Projection| {
                projection.aggregates.iter().all(|one| one.distinct || is_weighable(one.what))
            };
            shape.may_count = !is_random && projection.is_aggregating && weighable(projection);
            shape.is_distinct = !is_random && !projection.is_aggregating && projection.distinct;
        }
        Some(shape)
    }

    /// Puts a condition that cannot fail where it is tested.
    fn condition(&mut self, expr: &'p Expr) {
        let slots = expr.slots();
        if let [slot] = slots.as_slice() {
            let node = self.pattern.nodes.iter().position(|node| node.slot == *slot);
            let edge = self.pattern.relationships.iter().position(|one| one.slot == *slot);
            let own = match (node, edge) {
                (Some(at), _) => self.nodes.get_mut(at),
                (_, Some(at)) if self.lengths.get(at) == Some(&None) => self.relationships.get_mut(at),
                _ => None,
            };
            let mut read = Read::default();
            if let Some(own) = own
                && may_read(expr, *slot, &mut read).is_some()
            {
                own.conditions.push(expr);
                own.names.extend(read.names);
                own.reads_labels |= read.labels;
                return;
            }
        }
        if let Expr::Binary(operator @ (Operator::Equal | Operator::NotEqual), left, right) = expr
            && let (Expr::Slot(left), Expr::Slot(right)) = (&**left, &**right)
        {
            let node = |slot: &Slot| self.pattern.nodes.iter().position(|node| node.slot == *slot);
            if let (Some(left), Some(other)) = (node(left), node(right))
                && left != other
            {
                let comparison = match operator {
                    Operator::Equal => Comparison::Equal,
                    _ => Comparison::NotEqual,
                };
                self.pairs.push((left, Pair { other, comparison }));
                return;
            }
        }
        self.others.push(expr);
    }
}

/// The lengths of all relationships, if they and the nodes of the pattern are of the kinds that a search follows.
fn lengths(pattern: &Pattern) -> Option<Vec<Option<(u32, u32)>>> {
    let is_new = pattern.nodes.iter().all(|node| !node.is_bound);
    if !is_new || !pattern.paths.is_empty() {
        return None;
    }
    let length = |one: &crate::plan::RelationshipPattern| {
        if one.is_bound || one.shortest.is_some() {
            return None;
        }
        match one.length {
            None => (!one.is_list).then_some(None),
            Some((least, most)) if most <= LONGEST && least <= most => {
                Some(Some((u32::try_from(least).ok()?, u32::try_from(most).ok()?)))
            }
            Some(_) => None,
        }
    };
    let lengths = pattern.relationships.iter().map(length).collect::<Option<Vec<_>>>()?;
    // One relationship and its ends need no lists: passes over tables answer that.
    (lengths.len() > 1 || lengths.iter().any(Option::is_some)).then_some(lengths)
}

/// Whether all nodes of a pattern are reached over its relationships.
fn is_connected(pattern: &Pattern) -> bool {
    let mut reached = vec![false; pattern.nodes.len()];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for _ in &pattern.nodes {
        for one in &pattern.relationships {
            let either = reached.get(one.left) == Some(&true) || reached.get(one.right) == Some(&true);
            for end in [one.left, one.right] {
                if let Some(place) = reached.get_mut(end) {
                    *place |= either;
                }
            }
        }
    }
    reached.into_iter().all(|one| one)
}

/// Whether a clause needs the value of a slot, and not only that it has one.
fn reads(clause: &Clause, slot: Slot) -> bool {
    match clause {
        Clause::Match { pattern, .. } => {
            let mut found = false;
            pattern.each_slot(&mut |one| found |= one == slot);
            found
        }
        Clause::Unwind { list: expr, .. } | Clause::Filter(expr) => expr.slots().contains(&slot),
        Clause::Project(one) => {
            let counted = one.aggregates.iter().filter(|one| !is_count_of(one, slot)).flat_map(|one| &one.arguments);
            one.plain_exprs().chain(counted).any(|expr| expr.slots().contains(&slot)) || one.kept.contains(&slot)
        }
    }
}
