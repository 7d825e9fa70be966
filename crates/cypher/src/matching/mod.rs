//! Matches of a pattern: nested loops over steps, one match at a time, so that whoever wants no more of them stops.
//!
//! Every step binds slots of the row or tests it. A step that has no further candidate gives way to the one before.

mod order;
mod walk;

use std::sync::Arc;

use crate::eval::{Row, eval, holds, set};
use crate::exec::Context;
use crate::fault::Result;
use crate::graph::Direction;
use crate::plan::{Condition, Expr, Pattern, RelationshipPattern, Slot};
use crate::shortest;
use crate::value::{Node, Path, Relationship, Value};
pub(crate) use order::begins_with_look_up;
use order::order;
pub(crate) use walk::relationships;
use walk::{Walk, follow, list_ends, oriented, seen};

/// One step, with the conditions that can be tested after it.
#[derive(Debug)]
pub(crate) struct Step {
    kind: StepKind,
    conditions: Vec<Condition>,
}

#[derive(Debug)]
enum StepKind {
    /// Nodes of the graph.
    Scan { slot: Slot, label: Option<Arc<str>>, find: Option<(Arc<str>, Arc<Expr>)> },
    /// A node that is bound already: it must be a node.
    Bound { slot: Slot },
    /// A relationship that is bound already; it binds its ends.
    Ends { relationship: usize, from_left: bool },
    /// From one node over a relationship pattern to another.
    Expand { relationship: usize, forward: bool, to_is_bound: bool },
    /// The value of a named path.
    Name { path: usize },
}

/// The candidates of a step.
enum Candidates<'g> {
    Nodes(Box<dyn Iterator<Item = isomorph::Result<Node>> + 'g>),
    Found(std::vec::IntoIter<Node>),
    Single(bool),
    Ends(std::vec::IntoIter<(Node, Node)>),
    Relationships(std::vec::IntoIter<(Relationship, Node)>),
    Lists(Box<Walk>),
    Paths(std::vec::IntoIter<(Vec<Relationship>, Node)>),
}

/// The matches of a pattern for one row.
pub(crate) struct Matches<'p, 'g> {
    pattern: &'p Pattern,
    steps: &'p [Step],
    stack: Vec<Candidates<'g>>,
    row: Row,
    is_done: bool,
    width: usize,
}

impl<'p, 'g> Matches<'p, 'g> {
    pub(crate) fn new(pattern: &'p Pattern, row: Row, cx: &Context<'g>) -> Self {
        let steps = pattern.steps.get_or_init(|| order(pattern, cx.graph));
        let width = row.len();
        Matches { pattern, steps, stack: Vec::new(), row, is_done: false, width }
    }

    /// The row with the next match.
    pub(crate) fn next(&mut self, cx: &Context<'g>) -> Result<Option<&mut Row>> {
        if self.is_done {
            return Ok(None);
        }
        if self.stack.is_empty() {
            if self.steps.is_empty() {
                self.is_done = true;
                return Ok(Some(&mut self.row));
            }
            let first = self.open(0, cx)?;
            self.stack.push(first);
        }
        loop {
            cx.tick()?;
            let depth = self.stack.len() - 1;
            if !self.advance(depth, cx)? {
                self.stack.pop();
                if self.stack.is_empty() {
                    self.is_done = true;
                    return Ok(None);
                }
                continue;
            }
            let steps = self.steps;
            let mut fits = true;
            for condition in &steps[depth].conditions {
                if !holds(&condition.expr, &mut self.row, cx)? {
                    fits = false;
                    break;
                }
            }
            if !fits {
                continue;
            }
            if depth + 1 == steps.len() {
                debug_assert!(self.row.len() == self.width, "rows keep their width");
                return Ok(Some(&mut self.row));
            }
            let next = self.open(depth + 1, cx)?;
            self.stack.push(next);
        }
    }

    fn node(&self, index: usize) -> Option<Node> {
        match self.row.get(self.pattern.nodes[index].slot) {
            Some(Value::Node(node)) => Some(*node),
            _ => None,
        }
    }

    /// The candidates of a step for the row as it is.
    fn open(&mut self, at: usize, cx: &Context<'g>) -> Result<Candidates<'g>> {
        let steps = self.steps;
        Ok(match &steps[at].kind {
            StepKind::Scan { slot, label, find } => {
                if let Some((name, condition)) = find {
                    let value = self.sought(*slot, name, condition, cx)?;
                    if let Some(value) = value
                        && let Some(nodes) = cx.graph.find(label.as_deref(), name, &value)?
                    {
                        self.prepare(at, *slot, &nodes, cx)?;
                        return Ok(Candidates::Found(nodes.into_iter()));
                    }
                }
                Candidates::Nodes(cx.graph.nodes(label.as_deref())?)
            }
            StepKind::Bound { slot } => {
                if let Some(Value::Node(node)) = self.row.get(*slot) {
                    let node = *node;
                    self.prepare(at, *slot, &[node], cx)?;
                    return Ok(Candidates::Single(true));
                }
                Candidates::Single(false)
            }
            StepKind::Ends { relationship, from_left } => {
                let one = &self.pattern.relationships[*relationship];
                debug_assert!(*from_left, "ends are bound from the left");
                let ends = match (self.row.get(one.slot), one.is_list) {
                    (Some(Value::Relationship(found)), false) => {
                        oriented(seen(one.direction, *found, cx)?, found.source, found.target)
                    }
                    (Some(Value::List(list)), true) => list_ends(list, one.direction, cx)?,
                    _ => Vec::new(),
                };
                Candidates::Ends(ends.into_iter())
            }
            StepKind::Expand { relationship, forward, to_is_bound } => {
                self.expand(at, *relationship, *forward, *to_is_bound, cx)?
            }
            StepKind::Name { .. } => Candidates::Single(true),
        })
    }

    /// The value that a property of the node in `slot` must equal.
    fn sought(&mut self, slot: Slot, name: &str, condition: &Expr, cx: &Context<'g>) -> Result<Option<Value>> {
        let Expr::Binary(_, left, right) = condition else { return Ok(None) };
        let is_own = |expr: &Expr| {
            matches!(expr, Expr::Property(base, property)
                if **property == *name && matches!(**base, Expr::Slot(one) if one == slot))
        };
        let value = if is_own(left) { right } else { left };
        eval(value, &mut self.row, cx).map(Some)
    }

    /// Tells the graph which relationships the next step wants, of all candidates of this one.
    fn prepare(&self, at: usize, slot: Slot, nodes: &[Node], cx: &Context<'g>) -> Result<()> {
        if let Some(next) = self.steps.get(at + 1)
            && let StepKind::Expand { relationship, forward, .. } = &next.kind
        {
            let one = &self.pattern.relationships[*relationship];
            let from = self.pattern.nodes[if *forward { one.left } else { one.right }].slot;
            if from == slot {
                let direction = if *forward { one.direction } else { one.direction.reversed() };
                cx.graph.prepare(nodes, direction, &one.types)?;
            }
        }
        Ok(())
    }

    fn expand(
        &mut self,
        at: usize,
        index: usize,
        forward: bool,
        to_is_bound: bool,
        cx: &Context<'g>,
    ) -> Result<Candidates<'g>> {
        let one = &self.pattern.relationships[index];
        let (from, to) = if forward { (one.left, one.right) } else { (one.right, one.left) };
        let direction = if forward { one.direction } else { one.direction.reversed() };
        let Some(start) = self.node(from) else { return Ok(Candidates::Single(false)) };
        let goal = if to_is_bound {
            match self.node(to) {
                Some(node) => Some(node),
                None => return Ok(Candidates::Single(false)),
            }
        } else {
            None
        };
        if one.is_bound {
            return self.expand_bound(one, start, direction, cx);
        }
        if let Some(all) = one.shortest {
            let wanted = shortest::Wanted { start, goal, direction, all };
            let mut paths = shortest::paths(one, &wanted, &mut self.row, cx)?;
            if !forward {
                paths.iter_mut().for_each(|(taken, _)| taken.reverse());
            }
            return Ok(Candidates::Paths(paths.into_iter()));
        }
        if let Some((least, most)) = one.length {
            let walk = Walk::new(start, least, most, self.pattern.repeats);
            return Ok(Candidates::Lists(Box::new(walk)));
        }
        let mut found = Vec::new();
        cx.graph.relationships(start, direction, &one.types, &mut found)?;
        if let Some(goal) = goal {
            found.retain(|(_, other)| *other == goal);
        }
        let to_slot = self.pattern.nodes[to].slot;
        if found.len() > 1 && self.wants(at, to_slot) {
            let nodes: Vec<Node> = found.iter().map(|(_, node)| *node).collect();
            self.prepare(at, to_slot, &nodes, cx)?;
        }
        Ok(Candidates::Relationships(found.into_iter()))
    }

    fn wants(&self, at: usize, slot: Slot) -> bool {
        self.steps.get(at + 1).is_some_and(|next| match &next.kind {
            StepKind::Expand { relationship, forward, .. } => {
                let one = &self.pattern.relationships[*relationship];
                self.pattern.nodes[if *forward { one.left } else { one.right }].slot == slot
            }
            _ => false,
        })
    }

    /// A relationship, or a list of them, that an earlier clause bound.
    fn expand_bound(
        &self,
        one: &RelationshipPattern,
        start: Node,
        direction: Direction,
        cx: &Context<'g>,
    ) -> Result<Candidates<'g>> {
        let fits = |found: &Relationship| -> Result<bool> {
            if one.types.is_empty() {
                return Ok(true);
            }
            let ty = cx.graph.relationship_type(*found)?;
            Ok(one.types.contains(&ty))
        };
        match self.row.get(one.slot) {
            Some(Value::Relationship(found)) if !one.is_list => {
                let mut all = Vec::new();
                if fits(found)? {
                    let ends = oriented(seen(direction, *found, cx)?, found.source, found.target);
                    all.extend(ends.into_iter().filter(|(from, _)| *from == start).map(|(_, to)| (*found, to)));
                }
                Ok(Candidates::Relationships(all.into_iter()))
            }
            Some(Value::List(list)) if one.is_list => {
                let mut taken = Vec::with_capacity(list.len());
                for item in list.iter() {
                    match item {
                        Value::Relationship(found) if fits(found)? => taken.push(*found),
                        _ => return Ok(Candidates::Single(false)),
                    }
                }
                let is_forward = self.pattern.nodes[one.left].slot == self.start_slot(one, start);
                if !is_forward {
                    taken.reverse();
                }
                let (least, most) = one.length.unwrap_or((1, 1));
                let length = taken.len() as u64;
                let end = if (least..=most).contains(&length) { follow(start, &taken, direction, cx)? } else { None };
                if !is_forward {
                    taken.reverse();
                }
                Ok(Candidates::Paths(end.map(|end| (taken, end)).into_iter().collect::<Vec<_>>().into_iter()))
            }
            _ => Ok(Candidates::Single(false)),
        }
    }

    /// The slot of the end of `one` that has the value `start`; the left one if both have it.
    fn start_slot(&self, one: &RelationshipPattern, start: Node) -> Slot {
        let left = self.pattern.nodes[one.left].slot;
        let right = self.pattern.nodes[one.right].slot;
        if self.node(one.left) == Some(start) { left } else { right }
    }

    /// Moves a step to its next candidate.
    fn advance(&mut self, depth: usize, cx: &Context<'g>) -> Result<bool> {
        let steps = self.steps;
        let pattern = self.pattern;
        let (row, stack) = (&mut self.row, &mut self.stack);
        let Some(candidates) = stack.get_mut(depth) else { return Ok(false) };
        match (&steps[depth].kind, candidates) {
            (StepKind::Scan { slot, .. }, Candidates::Nodes(nodes)) => match nodes.next().transpose()? {
                Some(node) => set(row, *slot, Value::Node(node)),
                None => return Ok(false),
            },
            (StepKind::Scan { slot, .. }, Candidates::Found(nodes)) => match nodes.next() {
                Some(node) => set(row, *slot, Value::Node(node)),
                None => return Ok(false),
            },
            (StepKind::Name { path }, Candidates::Single(left)) => {
                if !std::mem::take(left) {
                    return Ok(false);
                }
                let path = &pattern.paths[*path];
                let value = named_path(pattern, path.start, &path.relationships, row);
                set(row, path.slot, value);
            }
            (_, Candidates::Single(left)) => return Ok(std::mem::take(left)),
            (StepKind::Ends { relationship, .. }, Candidates::Ends(ends)) => {
                let one = &pattern.relationships[*relationship];
                let Some((left, right)) = ends.next() else { return Ok(false) };
                if one.left == one.right && left != right {
                    return self.advance(depth, cx);
                }
                if !type_fits(one, row, cx)? {
                    return Ok(false);
                }
                set(row, pattern.nodes[one.left].slot, Value::Node(left));
                set(row, pattern.nodes[one.right].slot, Value::Node(right));
                // A relationship of an earlier clause may still be one that this clause has matched.
                if clashes(pattern, steps, depth, *relationship, row) {
                    return self.advance(depth, cx);
                }
            }
            (StepKind::Expand { relationship, forward, to_is_bound }, Candidates::Relationships(found)) => {
                let one = &pattern.relationships[*relationship];
                let to = pattern.nodes[if *forward { one.right } else { one.left }].slot;
                loop {
                    let Some((relationship_found, node)) = found.next() else { return Ok(false) };
                    if *to_is_bound && !matches!(row.get(to), Some(Value::Node(goal)) if *goal == node) {
                        continue;
                    }
                    set(row, one.slot, Value::Relationship(relationship_found));
                    if clashes(pattern, steps, depth, *relationship, row) {
                        continue;
                    }
                    if !*to_is_bound {
                        set(row, to, Value::Node(node));
                    }
                    break;
                }
            }
            (StepKind::Expand { relationship, forward, to_is_bound }, Candidates::Paths(found)) => {
                let one = &pattern.relationships[*relationship];
                let to = pattern.nodes[if *forward { one.right } else { one.left }].slot;
                loop {
                    let Some((taken, node)) = found.next() else { return Ok(false) };
                    if *to_is_bound && !matches!(row.get(to), Some(Value::Node(goal)) if *goal == node) {
                        continue;
                    }
                    set(row, one.slot, list_of(&taken, one.is_list));
                    if clashes(pattern, steps, depth, *relationship, row) {
                        continue;
                    }
                    if !*to_is_bound {
                        set(row, to, Value::Node(node));
                    }
                    break;
                }
            }
            (StepKind::Expand { relationship, forward, to_is_bound }, Candidates::Lists(walk)) => {
                let one = &pattern.relationships[*relationship];
                let direction = if *forward { one.direction } else { one.direction.reversed() };
                let to = pattern.nodes[if *forward { one.right } else { one.left }].slot;
                let earlier = taken_before(pattern, steps, depth, row);
                loop {
                    let Some(node) = walk.next(one, direction, &earlier, row, cx)? else { return Ok(false) };
                    if *to_is_bound && !matches!(row.get(to), Some(Value::Node(goal)) if *goal == node) {
                        continue;
                    }
                    let list = if *forward {
                        list_of(&walk.taken, true)
                    } else {
                        Value::list(walk.taken.iter().rev().copied().map(Value::Relationship).collect())
                    };
                    set(row, one.slot, list);
                    if !*to_is_bound {
                        set(row, to, Value::Node(node));
                    }
                    break;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn list_of(taken: &[Relationship], is_list: bool) -> Value {
    match taken {
        [one] if !is_list => Value::Relationship(*one),
        _ => Value::list(taken.iter().copied().map(Value::Relationship).collect()),
    }
}

/// Whether the type of a bound relationship fits.
fn type_fits(one: &RelationshipPattern, row: &Row, cx: &Context<'_>) -> Result<bool> {
    if one.types.is_empty() {
        return Ok(true);
    }
    let fits = |found: &Relationship| -> Result<bool> {
        let ty = cx.graph.relationship_type(*found)?;
        Ok(one.types.contains(&ty))
    };
    match row.get(one.slot) {
        Some(Value::Relationship(found)) => fits(found),
        Some(Value::List(list)) => {
            for item in list.iter() {
                match item {
                    Value::Relationship(found) if fits(found)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Relationships that earlier steps of this pattern hold.
fn taken_before(pattern: &Pattern, steps: &[Step], depth: usize, row: &Row) -> Vec<u64> {
    let mut ids = Vec::new();
    if pattern.repeats {
        return ids;
    }
    for step in &steps[..depth] {
        let (StepKind::Expand { relationship, .. } | StepKind::Ends { relationship, .. }) = &step.kind else {
            continue;
        };
        match row.get(pattern.relationships[*relationship].slot) {
            Some(Value::Relationship(one)) => ids.push(one.id),
            Some(Value::List(list)) => ids.extend(list.iter().filter_map(|item| match item {
                Value::Relationship(one) => Some(one.id),
                _ => None,
            })),
            _ => {}
        }
    }
    ids
}

/// Whether the relationship of a step is one that an earlier step holds: a pattern matches each relationship once.
fn clashes(pattern: &Pattern, steps: &[Step], depth: usize, relationship: usize, row: &Row) -> bool {
    let earlier = taken_before(pattern, steps, depth, row);
    if earlier.is_empty() {
        return false;
    }
    match row.get(pattern.relationships[relationship].slot) {
        Some(Value::Relationship(one)) => earlier.contains(&one.id),
        Some(Value::List(list)) => {
            list.iter().any(|item| matches!(item, Value::Relationship(one) if earlier.contains(&one.id)))
        }
        _ => false,
    }
}

/// The value of a named path, from the values of its parts.
fn named_path(pattern: &Pattern, start: usize, relationships: &[usize], row: &Row) -> Value {
    let Some(Value::Node(first)) = row.get(pattern.nodes[start].slot) else { return Value::Null };
    let mut path = Path { nodes: vec![*first], relationships: Vec::new() };
    let mut at = *first;
    let add = |path: &mut Path, one: Relationship, at: &mut Node| {
        *at = if one.source == *at { one.target } else { one.source };
        path.nodes.push(*at);
        path.relationships.push(one);
    };
    for index in relationships {
        match row.get(pattern.relationships[*index].slot) {
            Some(Value::Relationship(one)) => add(&mut path, *one, &mut at),
            Some(Value::List(list)) => {
                for item in list.iter() {
                    if let Value::Relationship(one) = item {
                        add(&mut path, *one, &mut at);
                    }
                }
            }
            _ => return Value::Null,
        }
    }
    Value::Path(Arc::new(path))
}
