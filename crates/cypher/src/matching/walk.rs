//! Walks over several relationships: of variable length, and over lists that are bound already.

use crate::eval::{Row, eval};
use crate::exec::Context;
use crate::fault::Result;
use crate::graph::Direction;
use crate::plan::RelationshipPattern;
use crate::value::{Node, Relationship, Value, equal};

/// Walks of variable length from a node, depth first.
pub(super) struct Walk {
    least: u64,
    most: u64,
    /// The relationships of the current walk.
    pub(super) taken: Vec<Relationship>,
    /// The nodes of the current walk.
    nodes: Vec<Node>,
    /// What is left to try at each depth.
    left: Vec<std::vec::IntoIter<(Relationship, Node)>>,
    started: bool,
    /// Whether a relationship may be walked several times.
    repeats: bool,
}

impl Walk {
    pub(super) fn new(start: Node, least: u64, most: u64, repeats: bool) -> Self {
        Walk { least, most, taken: Vec::new(), nodes: vec![start], left: Vec::new(), started: false, repeats }
    }

    /// The end of the next walk.
    pub(super) fn next(
        &mut self,
        one: &RelationshipPattern,
        direction: Direction,
        earlier: &[u64],
        row: &mut Row,
        cx: &Context<'_>,
    ) -> Result<Option<Node>> {
        if !self.started {
            self.started = true;
            if self.most > 0 {
                let start = self.nodes.first().copied().unwrap_or(Node(0));
                self.descend(start, one, direction, row, cx)?;
            }
            if self.least == 0 {
                return Ok(self.nodes.first().copied());
            }
        }
        loop {
            cx.tick()?;
            let depth = self.left.len();
            // The walk is as long as the number of levels above the last one.
            let Some(level) = self.left.last_mut() else { return Ok(None) };
            self.taken.truncate(depth - 1);
            self.nodes.truncate(depth);
            let Some((relationship, node)) = level.next() else {
                self.left.pop();
                continue;
            };
            if !self.repeats && self.taken.contains(&relationship) || earlier.contains(&relationship.id) {
                continue;
            }
            self.taken.push(relationship);
            self.nodes.push(node);
            let length = self.taken.len() as u64;
            if length < self.most {
                self.descend(node, one, direction, row, cx)?;
            }
            if length >= self.least {
                return Ok(Some(node));
            }
        }
    }

    fn descend(
        &mut self,
        node: Node,
        one: &RelationshipPattern,
        direction: Direction,
        row: &mut Row,
        cx: &Context<'_>,
    ) -> Result<()> {
        let found = relationships(node, one, direction, row, cx)?;
        if found.len() > 1 && (self.taken.len() as u64) + 1 < self.most {
            let nodes: Vec<Node> = found.iter().map(|(_, node)| *node).collect();
            cx.graph.prepare(&nodes, direction, &one.types)?;
        }
        self.left.push(found.into_iter());
        Ok(())
    }
}

/// The relationships of a node that fit a pattern of variable length, with its properties.
pub(crate) fn relationships(
    node: Node,
    one: &RelationshipPattern,
    direction: Direction,
    row: &mut Row,
    cx: &Context<'_>,
) -> Result<Vec<(Relationship, Node)>> {
    let mut found = Vec::new();
    cx.graph.relationships(node, direction, &one.types, &mut found)?;
    for (name, value) in &one.properties {
        let value = eval(value, row, cx)?;
        let mut kept = Vec::with_capacity(found.len());
        for (relationship, other) in found {
            if equal(&cx.graph.relationship_property(relationship, name)?, &value) == Some(true) {
                kept.push((relationship, other));
            }
        }
        found = kept;
    }
    Ok(found)
}

/// The pairs of left and right end that a relationship has in a direction.
pub(super) fn oriented(direction: Direction, source: Node, target: Node) -> Vec<(Node, Node)> {
    match direction {
        Direction::Out => vec![(source, target)],
        Direction::In => vec![(target, source)],
        Direction::Both if source == target => vec![(source, target)],
        Direction::Both => vec![(source, target), (target, source)],
    }
}

/// The direction in which a relationship can be followed: one without a direction in both.
pub(super) fn seen(direction: Direction, one: Relationship, cx: &Context<'_>) -> Result<Direction> {
    Ok(if cx.graph.is_directed(one)? { direction } else { Direction::Both })
}

/// The ends of a list of relationships, walked from its first one.
pub(super) fn list_ends(list: &[Value], direction: Direction, cx: &Context<'_>) -> Result<Vec<(Node, Node)>> {
    let taken: Option<Vec<Relationship>> = list
        .iter()
        .map(|item| match item {
            Value::Relationship(one) => Some(*one),
            _ => None,
        })
        .collect();
    let Some(taken) = taken else { return Ok(Vec::new()) };
    let Some(first) = taken.first() else { return Ok(Vec::new()) };
    let mut ends = Vec::new();
    for (start, _) in oriented(seen(direction, *first, cx)?, first.source, first.target) {
        ends.extend(follow(start, &taken, direction, cx)?.map(|end| (start, end)));
    }
    Ok(ends)
}

/// Where a walk over these relationships ends.
pub(super) fn follow(
    start: Node,
    taken: &[Relationship],
    direction: Direction,
    cx: &Context<'_>,
) -> Result<Option<Node>> {
    let mut at = start;
    for one in taken {
        let ends = oriented(seen(direction, *one, cx)?, one.source, one.target);
        match ends.into_iter().find(|(from, _)| *from == at) {
            Some((_, to)) => at = to,
            None => return Ok(None),
        }
    }
    Ok(Some(at))
}
