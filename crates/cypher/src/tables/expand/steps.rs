//! The order in which the nodes of a pattern are bound.

/// The most relationships whose lists are intersected at once; more of them are checked afterwards.
pub(super) const MOST_VIA: usize = 8;

/// A relationship that is followed from a bound node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Via {
    pub relationship: usize,
    /// The bound node.
    pub from: usize,
    /// Whether that is the left one.
    pub from_left: bool,
}

/// What happens at a depth of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Binds the first node.
    Start { node: usize },
    /// Binds a node that all these relationships lead to.
    Extend { node: usize, via: Vec<Via> },
    /// A relationship between two bound nodes.
    Check { via: Via, to: usize },
    /// Relationships of a variable length, to a node that is bound or becomes so.
    Walk { via: Via, to: usize, to_is_bound: bool, least: u32, most: u32 },
}

impl Step {
    /// The relationships that are followed.
    pub(super) fn via(&self) -> &[Via] {
        match self {
            Step::Start { .. } => &[],
            Step::Extend { via, .. } => via,
            Step::Check { via, .. } | Step::Walk { via, .. } => std::slice::from_ref(via),
        }
    }

    /// Whether it binds a node.
    pub(super) fn binds(&self, node: usize) -> bool {
        match self {
            Step::Start { node: own } | Step::Extend { node: own, .. } => *own == node,
            Step::Walk { to, to_is_bound, .. } => !to_is_bound && *to == node,
            Step::Check { .. } => false,
        }
    }

    /// Whether it begins or ends at a node.
    pub(super) fn touches(&self, node: usize) -> bool {
        match self {
            Step::Start { node: own } => *own == node,
            Step::Extend { node: own, via } => *own == node || via.iter().any(|one| one.from == node),
            Step::Check { via, to } | Step::Walk { via, to, .. } => via.from == node || *to == node,
        }
    }
}

/// A relationship as the order sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub left: usize,
    pub right: usize,
    pub length: Option<(u32, u32)>,
    /// About how many edges match it.
    pub edges: f64,
}

/// A node as the order sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// About how many nodes pass its conditions.
    pub passing: f64,
    /// Of so many.
    pub of: f64,
    /// Whether nothing is read or tested of it, so that it may only be counted.
    pub is_plain: bool,
}

impl Link {
    fn other(&self, node: usize) -> usize {
        if self.left == node { self.right } else { self.left }
    }

    fn touches(&self, node: usize) -> bool {
        self.left == node || self.right == node
    }
}

/// Chooses an order for a connected pattern: from the fewest nodes, then to where the fewest matches are expected.
pub(super) fn order(places: &[Place], links: &[Link]) -> Vec<Step> {
    let mut bound = vec![false; places.len()];
    let mut done = vec![false; links.len()];
    let mut steps = Vec::new();
    let mut start = 0;
    for (at, place) in places.iter().enumerate() {
        if places.get(start).is_some_and(|best| place.passing < best.passing) {
            start = at;
        }
    }
    steps.push(Step::Start { node: start });
    if let Some(place) = bound.get_mut(start) {
        *place = true;
    }
    let is_bound = |bound: &[bool], node: usize| bound.get(node) == Some(&true);
    loop {
        let open = |done: &[bool], at: usize| done.get(at) == Some(&false);
        // What only tests comes first.
        let tested = links
            .iter()
            .enumerate()
            .find(|(at, link)| open(&done, *at) && is_bound(&bound, link.left) && is_bound(&bound, link.right));
        if let Some((at, link)) = tested {
            let via = Via { relationship: at, from: link.left, from_left: true };
            steps.push(match link.length {
                None => Step::Check { via, to: link.right },
                Some((least, most)) => Step::Walk { via, to: link.right, to_is_bound: true, least, most },
            });
            done[at] = true;
            continue;
        }
        let mut best: Option<(f64, usize, Vec<Via>)> = None;
        for (node, place) in places.iter().enumerate().filter(|(node, _)| !is_bound(&bound, *node)) {
            let mut via = Vec::new();
            let mut matches = f64::INFINITY;
            let mut shared = 1.0;
            for (at, link) in links.iter().enumerate() {
                let other = link.other(node);
                if !open(&done, at) || link.length.is_some() || !link.touches(node) || !is_bound(&bound, other) {
                    continue;
                }
                let from = places.get(other).map_or(1.0, |place| place.of).max(1.0);
                let of_each = link.edges / from;
                // Each further list leaves of the nodes those that are in it.
                shared *= if matches.is_finite() { (matches.max(of_each) / place.of.max(1.0)).min(1.0) } else { 1.0 };
                matches = matches.min(of_each);
                if via.len() < MOST_VIA {
                    via.push(Via { relationship: at, from: other, from_left: link.left == other });
                }
            }
            if via.is_empty() {
                continue;
            }
            // What may only be counted is best left to the end.
            let late = if place.is_plain && via.len() == 1 { 1.01 } else { 1.0 };
            let cost = matches * shared * (place.passing / place.of.max(1.0)) * late;
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, node, via));
            }
        }
        if let Some((_, node, via)) = best {
            for one in &via {
                done[one.relationship] = true;
            }
            bound[node] = true;
            steps.push(Step::Extend { node, via });
            continue;
        }
        let walk = links
            .iter()
            .enumerate()
            .find(|(at, link)| open(&done, *at) && (is_bound(&bound, link.left) || is_bound(&bound, link.right)));
        let Some((at, link)) = walk else { break };
        let from_left = is_bound(&bound, link.left);
        let (from, to) = if from_left { (link.left, link.right) } else { (link.right, link.left) };
        let (least, most) = link.length.unwrap_or((1, 1));
        steps.push(Step::Walk { via: Via { relationship: at, from, from_left }, to, to_is_bound: false, least, most });
        done[at] = true;
        bound[to] = true;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(passing: &[f64]) -> Vec<Place> {
        passing.iter().map(|passing| Place { passing: *passing, of: 100.0, is_plain: false }).collect()
    }

    fn link(left: usize, right: usize) -> Link {
        Link { left, right, length: None, edges: 1000.0 }
    }

    #[test]
    fn the_last_node_of_a_triangle_is_found_from_both_others() {
        let steps = order(&places(&[100.0; 3]), &[link(0, 1), link(1, 2), link(2, 0)]);
        assert_eq!(steps.len(), 3, "{steps:?}");
        assert!(matches!(&steps[2], Step::Extend { via, .. } if via.len() == 2), "{steps:?}");
    }

    #[test]
    fn a_search_begins_with_the_fewest_nodes() {
        let walk = Link { length: Some((1, 3)), ..link(1, 2) };
        let steps = order(&places(&[100.0, 100.0, 2.0]), &[link(0, 1), walk]);
        assert_eq!(steps[0], Step::Start { node: 2 });
        assert!(matches!(steps[1], Step::Walk { to: 1, to_is_bound: false, least: 1, most: 3, .. }), "{steps:?}");
        assert!(matches!(&steps[2], Step::Extend { node: 0, via } if !via[0].from_left), "{steps:?}");
    }

    #[test]
    fn loops_and_walks_between_bound_nodes_are_tests() {
        let walk = Link { length: Some((0, 2)), ..link(0, 1) };
        let steps = order(&places(&[1.0, 5.0]), &[walk, link(0, 1), link(1, 1)]);
        assert!(matches!(&steps[1], Step::Extend { node: 1, .. }), "{steps:?}");
        assert!(steps[2..].iter().any(|step| matches!(step, Step::Check { to: 1, .. })), "{steps:?}");
        assert!(steps[2..].iter().any(|step| matches!(step, Step::Walk { to_is_bound: true, .. })), "{steps:?}");
    }
}
