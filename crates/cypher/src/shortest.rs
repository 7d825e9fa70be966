//! Shortest paths, by breadth-first search.

use std::collections::HashMap;

use crate::eval::Row;
use crate::exec::Context;
use crate::fault::Result;
use crate::graph::Direction;
use crate::matching::relationships;
use crate::plan::RelationshipPattern;
use crate::value::{Node, Relationship};

/// What is asked.
pub(crate) struct Wanted {
    pub start: Node,
    /// `None`: every node that is reached.
    pub goal: Option<Node>,
    pub direction: Direction,
    /// All paths of the least length, not one.
    pub all: bool,
}

type Steps = Vec<(Relationship, Node)>;

/// The shortest paths, each with its last node.
pub(crate) fn paths(
    one: &RelationshipPattern,
    wanted: &Wanted,
    row: &mut Row,
    cx: &Context<'_>,
) -> Result<Vec<(Vec<Relationship>, Node)>> {
    let (least, most) = one.length.unwrap_or((1, 1));
    let mut results = Vec::new();
    if least == 0 && wanted.goal.is_none_or(|goal| goal == wanted.start) {
        results.push((Vec::new(), wanted.start));
        if wanted.goal.is_some() {
            return Ok(results);
        }
    }
    // For each node that was reached: at which depth, and over which relationships.
    let mut reached: HashMap<Node, (u64, Steps)> = HashMap::from([(wanted.start, (0, Vec::new()))]);
    let mut level = vec![wanted.start];
    let mut depth = 0;
    while !level.is_empty() && depth < most {
        depth += 1;
        cx.graph.prepare(&level, wanted.direction, &one.types)?;
        let mut next = Vec::new();
        for node in level {
            cx.tick()?;
            for (relationship, other) in relationships(node, one, wanted.direction, row, cx)? {
                match reached.get_mut(&other) {
                    None => {
                        cx.grow(96)?;
                        reached.insert(other, (depth, vec![(relationship, node)]));
                        next.push(other);
                    }
                    Some((found, steps)) if *found == depth && wanted.all => {
                        cx.grow(32)?;
                        steps.push((relationship, node));
                    }
                    Some(_) => {}
                }
            }
        }
        match wanted.goal {
            Some(goal) if next.contains(&goal) => {
                if depth >= least {
                    collect(&reached, wanted.start, goal, &mut results, cx)?;
                }
                return Ok(results);
            }
            None if depth >= least => {
                for node in &next {
                    collect(&reached, wanted.start, *node, &mut results, cx)?;
                }
            }
            _ => {}
        }
        level = next;
    }
    Ok(results)
}

/// Walks back from `end` over all recorded steps.
fn collect(
    reached: &HashMap<Node, (u64, Steps)>,
    start: Node,
    end: Node,
    results: &mut Vec<(Vec<Relationship>, Node)>,
    cx: &Context<'_>,
) -> Result<()> {
    let mut open: Vec<(Node, Vec<Relationship>)> = vec![(end, Vec::new())];
    while let Some((node, taken)) = open.pop() {
        cx.tick()?;
        if node == start {
            results.push((taken.into_iter().rev().collect(), end));
            continue;
        }
        for (relationship, before) in reached.get(&node).map(|(_, steps)| steps.as_slice()).unwrap_or_default() {
            let mut longer = taken.clone();
            longer.push(*relationship);
            open.push((*before, longer));
        }
    }
    Ok(())
}
