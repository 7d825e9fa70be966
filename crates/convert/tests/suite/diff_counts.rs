//! The facts that `diff` counts on one side only, compared with sets made of the lines of `dump`.
#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_storage::Resources;
use std::collections::{BTreeMap, HashMap};

use isomorph_convert::{Silent, diff, diff_first, dump};
use isomorph_model::digest::{Line, LineKind};
use isomorph_model::schema::Owner;
use isomorph_model::{Graph, MemoryGraph};
use isomorph_zoo::{self as zoo, mutations};
use serde_json::Value;

/// Number of occurrences of each fact, by the line that counts it.
type Facts = BTreeMap<Line, HashMap<String, i64>>;

fn resources() -> Resources {
    Resources { threads: 2, ..Resources::of_this_machine().unwrap() }
}

/// The facts of a graph, read from its dump. Documents are omitted: a dump does not show all of their bodies.
fn facts(graph: &MemoryGraph) -> Facts {
    let mut out = Vec::new();
    dump(graph, &mut out, &resources(), &Silent).unwrap();
    let mut facts = Facts::new();
    for line in String::from_utf8(out).unwrap().lines() {
        // Numbers that JSON does not have are texts here.
        let line = ["NaN", "-Infinity", "Infinity"].iter().fold(line.to_owned(), |line, number| {
            [':', ',', '[']
                .iter()
                .fold(line, |line, before| line.replace(&format!("{before}{number}"), &format!("{before}\"{number}\"")))
        });
        add(&graph.graph, &serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")), &mut facts);
    }
    facts
}

fn add(graph: &Graph, line: &Value, facts: &mut Facts) {
    let name = |member: &str| line[member].as_str().map(str::to_owned);
    let mut fact = |kind: LineKind, ty: &[&str], property: &str, fact: String| {
        *facts.entry(Line::new(kind, ty, property)).or_default().entry(fact).or_default() += 1;
    };
    let without_properties = || {
        let mut rest = line.clone();
        rest.as_object_mut().unwrap().remove("properties");
        rest.as_object_mut().unwrap().remove("bag");
        // A group that contains everything is stated for each of its members.
        rest.as_object_mut().unwrap().remove("all");
        rest
    };
    // A member of a bag with the name of a column is a separate property.
    let bag = line["bag"].as_object().into_iter().flatten();
    let bag: Vec<(String, &Value)> = bag.map(|(name, value)| (format!("{name}\0"), value)).collect();
    let properties = || {
        let own = line["properties"].as_object().into_iter().flatten();
        own.chain(bag.iter().map(|(name, value)| (name, *value)))
    };
    if let Some(ty) = name("node") {
        let key = if line["key"].is_null() { &line["row"] } else { &line["key"] };
        if graph.nodes.iter().any(|node| node.name == ty && !node.implied) {
            fact(LineKind::Nodes, &[&ty], "", key.to_string());
        }
        for label in line["labels"].as_array().into_iter().flatten() {
            fact(LineKind::Nodes, &[&ty], "labels", format!("{key} {label}"));
        }
        for (property, value) in properties() {
            fact(LineKind::Nodes, &[&ty], property, format!("{key} {value}"));
        }
    } else if let Some(relation) = name("edge") {
        let ends = [line["types"][0].as_str().unwrap(), line["types"][1].as_str().unwrap()];
        let ty = [ends[0], relation.as_str(), ends[1]];
        if line["key"].is_null() {
            fact(LineKind::Edges, &ty, "", line.to_string());
        } else {
            fact(LineKind::Edges, &ty, "", without_properties().to_string());
            for (property, value) in properties() {
                fact(LineKind::Edges, &[ends[0], "", ends[1]], property, format!("{} {value}", line["key"]));
                fact(LineKind::Edges, &ty, property, format!("{} {value}", line["key"]));
            }
        }
    } else if let Some(word) = ["hyperedge", "group"]
        .into_iter()
        .find(|word| name(word).is_some() && line["member"].is_null() && line["membership"].is_null())
    {
        let kind = if word == "group" { LineKind::Groups } else { LineKind::Hyperedges };
        let ty = name(word).unwrap();
        fact(kind, &[&ty], "", without_properties().to_string());
        for (property, value) in properties() {
            fact(kind, &[&ty], property, format!("{} {value}", line["key"]));
        }
    } else if line["member"].is_string() {
        let of = line["of"].as_str().unwrap();
        // The type of the node is part of its identity, but not of the line.
        let ends = graph.hyperedges.iter().find(|own| own.name == of).map(|own| &graph.nodes[own.ends].name);
        fact(LineKind::Members, &[of], "", format!("{ends:?} {line}"));
    } else if let Some(kind) = name("membership") {
        let of = [line["of"][0].as_str().unwrap(), line["of"][1].as_str().unwrap()];
        let words = BTreeMap::from([("node", "nodes"), ("edge", "edges"), ("hyperedge", "hyperedges")]);
        let table = graph.groups.iter().find(|own| own.kind == kind).unwrap().memberships.iter();
        let edge = table.clone().find_map(|table| match table.of {
            Owner::Edges(at) if of[0] == "edge" => Some(graph.edge_name(&graph.edges[at])),
            _ => None,
        });
        let ty = match &edge {
            Some((source, relation, target)) => vec![&*kind, words[of[0]], &**source, &**relation, &**target],
            None => vec![&*kind, words[of[0]], of[1]],
        };
        fact(LineKind::Memberships, &ty, "", line.to_string());
    } else if let Some(property) = name("value") {
        let of = [line["of"][0].as_str().unwrap(), line["of"][1].as_str().unwrap()];
        let kind = match of[0] {
            "node" => LineKind::Nodes,
            "hyperedge" => LineKind::Hyperedges,
            _ => return,
        };
        let value = if properties().count() == 1 { &line["properties"][&property] } else { &line["properties"] };
        fact(kind, &[of[1]], &property, format!("{} {value}", line["key"]));
    }
}

/// Compares the counts of `diff` with those of the dumps; returns the number of lines with facts on only one side, for
/// both sides.
fn compare(what: &str, left: &MemoryGraph, right: &MemoryGraph, skipped: &mut usize) -> usize {
    let found = diff(left, right, 3, &resources(), &Silent).unwrap();
    let [of_left, of_right] = [facts(left), facts(right)];
    let mut both = 0;
    for line in &found.lines {
        let [one, other] = line.only.unwrap_or_else(|| panic!("{what}: {line:?} was not counted"));
        assert_eq!(line.left as i64 - line.right as i64, one as i64 - other as i64, "{what}: {line:?}");
        assert_eq!(line.equal, (one, other) == (0, 0), "{what}: {line:?}");
        let none = HashMap::new();
        let [a, b] = [&of_left, &of_right].map(|facts| facts.get(&line.line).unwrap_or(&none));
        let total = |side: &HashMap<String, i64>| side.values().sum::<i64>() as u64;
        // Memberships by a rule, and values in several tables, are not compared line by line.
        if (total(a), total(b)) != (line.left, line.right) {
            *skipped += 1;
            continue;
        }
        let missing = |from: &HashMap<String, i64>, of: &HashMap<String, i64>| {
            from.iter().map(|(fact, count)| (count - of.get(fact).unwrap_or(&0)).max(0) as u64).sum::<u64>()
        };
        assert_eq!([one, other], [missing(a, b), missing(b, a)], "{what}: {line:?}");
        both += usize::from(one > 0 && other > 0);
    }
    both
}

#[test]
fn what_is_on_one_side_only_is_counted_as_the_dumps_tell() {
    let (mut both, mut skipped, mut lines) = (0, 0, 0);
    let mut graphs = zoo::five();
    graphs.extend((1..5).map(|seed| ("multilayer", zoo::multilayer(seed))));
    for (name, graph) in &graphs {
        let all = mutations(graph);
        let step = (all.len() / 24).max(1);
        for pair in all.iter().step_by(step).collect::<Vec<_>>().windows(2) {
            let what = format!("{name}: {} against {}", pair[0].what, pair[1].what);
            let readable = |graph: &MemoryGraph| dump(graph, &mut std::io::sink(), &resources(), &Silent).is_ok();
            if !pair.iter().all(|one| readable(&one.graph) && one.graph.digest().is_ok()) {
                continue;
            }
            both += compare(&what, &pair[0].graph, &pair[1].graph, &mut skipped);
            lines += 1;
        }
    }
    for seed in 1..8 {
        let [left, right] = [seed, seed + 1].map(zoo::multilayer);
        both += compare(&format!("multilayer {seed}"), &left, &right, &mut skipped);
    }
    assert!(both > 50 && lines > 100, "{both} lines have facts on both sides only, {skipped} skipped, {lines} pairs");
}

/// Compares a search with a limit to one without; returns whether it ended earlier.
fn compare_first(what: &str, left: &MemoryGraph, right: &MemoryGraph, limit: usize) -> bool {
    let whole = diff(left, right, usize::MAX, &resources(), &Silent).unwrap();
    let first = diff_first(left, right, limit, &resources(), &Silent).unwrap();
    let all = whole.differing.unwrap();
    assert_eq!((first.equal, first.elements.len() as u64), (whole.equal, all.min(limit as u64)), "{what}, {limit}");
    let mut others = whole.elements.clone();
    for element in &first.elements {
        let at = others.iter().position(|other| other == element);
        others.swap_remove(at.unwrap_or_else(|| panic!("{what}, {limit}: {element:?} does not differ")));
    }
    // A limit of 0 searches for none.
    assert!(first.ended || limit == 0 || all <= limit as u64, "{what}, {limit} of {all}");
    assert!(first.differing <= whole.differing, "{what}, {limit}");
    if !first.ended {
        let same = diff(left, right, limit, &resources(), &Silent).unwrap();
        assert_eq!(serde_json::to_string(&first).unwrap(), serde_json::to_string(&same).unwrap(), "{what}, {limit}");
    }
    first.ended
}

#[test]
fn the_last_difference_that_is_wanted_ends_the_search() {
    let (mut ended, mut searched) = (0, 0);
    let mut graphs = zoo::five();
    graphs.extend((1..4).map(|seed| ("multilayer", zoo::multilayer(seed))));
    for (at, (name, left)) in graphs.iter().enumerate() {
        for (other, right) in &graphs[at..] {
            for limit in [0, 1, 2, 3, 7, 1000] {
                ended += usize::from(compare_first(&format!("{name} and {other}"), left, right, limit));
                searched += 1;
            }
        }
    }
    assert!(ended > 20 && ended < searched - 20, "{ended} of {searched}");
}
