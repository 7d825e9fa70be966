//! The order of the steps of a pattern, and where its conditions are tested.

use std::sync::Arc;

use super::{Step, StepKind};
use crate::graph::PropertyGraph;
use crate::plan::{Condition, Expr, Labels, Operator, Pattern, Slot};

/// Chooses an order: from bound nodes, then from what finds fewest.
pub(super) fn order(pattern: &Pattern, graph: &dyn PropertyGraph) -> Vec<Step> {
    let mut bound: Vec<bool> = pattern.nodes.iter().map(|node| node.is_bound).collect();
    let mut done = vec![false; pattern.relationships.len()];
    let mut kinds: Vec<(StepKind, Vec<Slot>)> = Vec::new();
    for node in pattern.nodes.iter().filter(|node| node.is_bound) {
        kinds.push((StepKind::Bound { slot: node.slot }, vec![node.slot]));
    }
    // Slots that have a value when the first step runs.
    let own: Vec<Slot> = pattern
        .nodes
        .iter()
        .filter(|node| !node.is_bound)
        .map(|node| node.slot)
        .chain(pattern.relationships.iter().filter(|one| !one.is_bound).map(|one| one.slot))
        .chain(pattern.paths.iter().map(|path| path.slot))
        .collect();
    let mut open: Vec<Slot> = own;
    loop {
        // Relationships whose both ends are bound come first: they only test.
        let reach = |at: &usize, bound: &[bool]| {
            let one = &pattern.relationships[*at];
            (bound[one.left], bound[one.right])
        };
        let candidates: Vec<usize> = (0..done.len()).filter(|at| !done[*at]).collect();
        let both = candidates.iter().find(|at| reach(at, &bound) == (true, true)).copied();
        let fixed = candidates.iter().find(|at| pattern.relationships[**at].is_bound).copied();
        let single = |at: &&usize| {
            let (left, right) = reach(at, &bound);
            (left || right) && pattern.relationships[**at].length.is_none()
        };
        let any = |at: &&usize| {
            let (left, right) = reach(at, &bound);
            // A shortest path needs both ends, unless nothing else is left to bind them.
            (left || right) && pattern.relationships[**at].shortest.is_none()
        };
        let next = both
            .or(fixed)
            .or_else(|| candidates.iter().find(single).copied())
            .or_else(|| candidates.iter().find(any).copied());
        if let Some(at) = next {
            let one = &pattern.relationships[at];
            let (left, right) = (bound[one.left], bound[one.right]);
            done[at] = true;
            (bound[one.left], bound[one.right]) = (true, true);
            let slots = vec![one.slot, pattern.nodes[one.left].slot, pattern.nodes[one.right].slot];
            let kind = if left || right {
                StepKind::Expand { relationship: at, forward: left, to_is_bound: left && right }
            } else {
                StepKind::Ends { relationship: at, from_left: true }
            };
            kinds.push((kind, slots));
            continue;
        }
        let Some(node) = anchor(pattern, &bound, &open, graph) else { break };
        let (at, label, find) = node;
        bound[at] = true;
        let slot = pattern.nodes[at].slot;
        kinds.push((StepKind::Scan { slot, label, find }, vec![slot]));
        open.retain(|one| *one != slot);
    }
    for path in 0..pattern.paths.len() {
        kinds.push((StepKind::Name { path }, vec![pattern.paths[path].slot]));
    }
    attach(pattern, kinds)
}

/// Attaches each condition to the first step after which all that it reads is bound. What may fail waits for the last one.
fn attach(pattern: &Pattern, kinds: Vec<(StepKind, Vec<Slot>)>) -> Vec<Step> {
    let mut unbound: Vec<Slot> = kinds.iter().flat_map(|(_, slots)| slots).copied().collect();
    unbound.sort_unstable();
    unbound.dedup();
    let mut left: Vec<Condition> = pattern.conditions.clone();
    let last = kinds.len().saturating_sub(1);
    let mut steps = Vec::with_capacity(kinds.len());
    for (at, (kind, slots)) in kinds.into_iter().enumerate() {
        unbound.retain(|slot| !slots.contains(slot));
        let ready =
            |one: &Condition| at == last || (one.is_safe && one.reads.iter().all(|slot| !unbound.contains(slot)));
        let (now, later) = left.into_iter().partition(ready);
        left = later;
        steps.push(Step { kind, conditions: now });
    }
    steps
}

/// Whether a look-up finds the node to begin with.
pub(crate) fn begins_with_look_up(pattern: &Pattern, graph: &dyn PropertyGraph) -> bool {
    let bound: Vec<bool> = pattern.nodes.iter().map(|node| node.is_bound).collect();
    let slots = pattern.nodes.iter().map(|node| node.slot).chain(pattern.relationships.iter().map(|one| one.slot));
    let open: Vec<Slot> = slots.collect();
    anchor(pattern, &bound, &open, graph).is_some_and(|(_, _, find)| find.is_some())
}

type Anchor = (usize, Option<Arc<str>>, Option<(Arc<str>, Arc<Expr>)>);

/// The node to begin with: one that is found by a property, else the one whose label is rarest.
fn anchor(pattern: &Pattern, bound: &[bool], open: &[Slot], graph: &dyn PropertyGraph) -> Option<Anchor> {
    let mut best: Option<(u64, Anchor)> = None;
    for (at, node) in pattern.nodes.iter().enumerate().filter(|(at, _)| !bound[*at]) {
        let mut label: Option<Arc<str>> = None;
        for condition in &pattern.conditions {
            if let Expr::HasLabels(base, labels) = &*condition.expr
                && matches!(**base, Expr::Slot(slot) if slot == node.slot)
            {
                for name in certain(labels) {
                    let rarer = |known: &Arc<str>| graph.node_count(Some(&name)) < graph.node_count(Some(known));
                    if label.as_ref().is_none_or(rarer) {
                        label = Some(name);
                    }
                }
            }
        }
        let mut find = None;
        for condition in &pattern.conditions {
            if let Expr::Binary(Operator::Equal, left, right) = &*condition.expr {
                for (property, value) in [(left, right), (right, left)] {
                    if let Expr::Property(base, name) = &**property
                        && matches!(**base, Expr::Slot(slot) if slot == node.slot)
                        && value.slots().iter().all(|slot| !open.contains(slot))
                        && (value.is_safe() || matches!(**value, Expr::Parameter(_)))
                        && find.is_none()
                        && graph.can_find(label.as_deref(), name)
                    {
                        let left_side = std::ptr::eq(&raw const **property, &raw const **left);
                        find = Some((Arc::clone(name), Arc::clone(&condition.expr), left_side));
                    }
                }
            }
        }
        let cost = match &find {
            Some(_) => 0,
            None => graph.node_count(label.as_deref()).saturating_add(1),
        };
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            let find = find.map(|(name, condition, _)| (name, condition));
            best = Some((cost, (at, label, find)));
        }
    }
    best.map(|(_, anchor)| anchor)
}

/// Labels that a node must have for the condition to hold.
fn certain(labels: &Labels) -> Vec<Arc<str>> {
    match labels {
        Labels::Name(name) => vec![Arc::clone(name)],
        Labels::And(all) => all.iter().flat_map(certain).collect(),
        _ => Vec::new(),
    }
}
