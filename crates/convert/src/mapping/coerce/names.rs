//! Names that a format allows, for names that it does not.

use std::collections::{BTreeMap, BTreeSet};

use isomorph_model::Graph;

use super::Allowed;
use crate::mapping::Names;

/// Bytes that are kept of a name that is too long. Three such names with numbers fit into one file name.
const SHORT: usize = 64;

/// The longest suffix of a name that is taken.
const NUMBER: &str = "_999999";

/// Changed names, by the name in the graph.
pub(super) type Called = BTreeMap<String, String>;

/// Names of node types and of relations. If the names of an edge type are too long together, the longest are shortened.
pub(super) fn of_types(graph: &Graph, allowed: &Allowed) -> (Called, Called) {
    let types = graph.nodes.iter().map(|ty| ty.name.as_str());
    let relations = graph.edges.iter().filter_map(|ty| ty.relation.fixed());
    let all = |long: &BTreeSet<String>| {
        let called = |name: &str, is_allowed: fn(&str) -> bool| is_allowed(name) && !long.contains(name);
        (
            given_where(types.clone(), |name| called(name, allowed.is_type), allowed.is_type, ""),
            given_where(relations.clone(), |name| called(name, allowed.is_relation), allowed.is_relation, ""),
        )
    };
    let (of_types, of_relations) = all(&BTreeSet::new());
    let mut long = BTreeSet::new();
    for ty in &graph.edges {
        let (source, relation, target) = graph.edge_name(ty);
        let now = |names: &Called, name: &String| names.get(name).unwrap_or(name).clone();
        let [from, to] = [&source, &target].map(|name| now(&of_types, name));
        if !(allowed.is_edge)(&from, &now(&of_relations, &relation), &to) {
            long.extend([source, relation, target].into_iter().filter(|name| name.len() > SHORT));
        }
    }
    if long.is_empty() { (of_types, of_relations) } else { all(&long) }
}

/// Assigns a name to each name that is not allowed; the others are kept, whatever other names exist. No assigned name
/// starts with `prefix`.
pub(super) fn given<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    is_allowed: fn(&str) -> bool,
    prefix: &'static str,
) -> Called {
    given_where(names, is_allowed, is_allowed, prefix)
}

/// The same for names that must change, even if they are allowed: these are too long.
fn given_where<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    stays: impl Fn(&str) -> bool,
    is_allowed: fn(&str) -> bool,
    prefix: &'static str,
) -> Called {
    let mut free = Names::reserving(names.clone().filter(|name| stays(name))).reserving_prefix(prefix);
    let mut given = BTreeMap::new();
    for name in names.filter(|name| !stays(name)) {
        if !given.contains_key(name) {
            let altered = altered(name, is_allowed);
            given.insert(name.to_owned(), free.give(&altered, |_| true));
        }
    }
    given
}

/// The nearest name that is allowed, also with a number appended. If only its ends are not allowed, they are altered;
/// otherwise only letters, digits and `_` remain, which every format allows; of a name that is too long, the end is
/// kept.
fn altered(name: &str, is_allowed: fn(&str) -> bool) -> String {
    let fits = |name: &str| is_allowed(name) && is_allowed(&format!("{name}{NUMBER}"));
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let escaped = Names::default().give(name, plain);
    let has_only = name.chars().all(|c| plain(c) || matches!(c, '-' | '.'));
    let near = if has_only { at_its_ends(name) } else { escaped.clone() };
    let shortened = short(&near);
    // A name that is allowed but must be altered is too long.
    let with_letter = format!("x{escaped}");
    let all = if is_allowed(name) { Vec::new() } else { vec![near, escaped, with_letter] };
    all.into_iter().find(|name| fits(name)).unwrap_or(shortened)
}

/// A name without dots at its ends.
fn at_its_ends(name: &str) -> String {
    let inner = name.trim_matches('.');
    let begin = name.len() - name.trim_start_matches('.').len();
    let dots = |count: usize| "_u2e".repeat(count);
    format!("{}{inner}{}", dots(begin), dots(name.len() - begin - inner.len()))
}

/// The end of an ASCII name: composed names usually differ there.
fn short(name: &str) -> String {
    let end = name.get(name.len().saturating_sub(SHORT)..).unwrap_or(name);
    let end = end.trim_start_matches(['.', '-', '_']);
    if end.is_empty() { "x".to_owned() } else { end.to_owned() }
}

#[cfg(test)]
mod tests {
    use isomorph_model::{EdgeType, Key, NodeType};

    use super::*;
    use crate::Format;

    fn called(types: &[&str], relation: &str) -> (Called, Called) {
        let mut graph = Graph::default();
        graph.nodes.extend(types.iter().map(|name| NodeType::new(*name, Key::utf8())));
        graph.edges.push(EdgeType::new(0, relation, types.len() - 1));
        of_types(&graph, &Format::GRAPHAR.allowed())
    }

    #[test]
    fn names_that_no_file_can_have_are_altered_where_they_are_wrong() {
        let (types, relations) = called(&["http___e.org_a.", ".b", "http___e.org_a_u2e", "p. ", "c.d"], "r.");
        let given: Vec<&str> = types.values().map(String::as_str).collect();
        assert_eq!(given, ["_u2eb", "http___e.org_a_u2e_2", "p_u2e_"], "{types:?}");
        assert!(relations.is_empty(), "{relations:?}");
    }

    #[test]
    fn what_is_too_long_is_shortened_and_stays_apart() {
        let long = |end: &str| format!("{}{end}", "x".repeat(300));
        let (types, relations) = called(
            &[&long("a"), &long("b"), &long(&"y".repeat(64)), &long(&format!("z{}", "y".repeat(64)))],
            &long("r"),
        );
        let mut given: Vec<&String> = types.values().chain(relations.values()).collect();
        assert_eq!(given.len(), 5);
        given.sort();
        given.dedup();
        assert_eq!(given.len(), 5);
        assert!(given.iter().all(|name| name.len() <= SHORT + 2), "{given:?}");
        // Each is short enough alone, but not all three together.
        let (types, relations) = called(&[&"a".repeat(100), &"b".repeat(60)], &"r".repeat(80));
        assert_eq!((types.len(), relations.len()), (1, 1), "{types:?} {relations:?}");
        assert_eq!(called(&[&"a".repeat(100), "b"], "r"), (Called::new(), Called::new()));
    }
}
