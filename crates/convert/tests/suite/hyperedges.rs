//! Hyperedges in formats that have none: as pairs of members, or dropped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use isomorph_convert::{
    Certificate, ConvertOptions, Format, Hyperedges, OpenOptions, Opened, Plan, SidecarUse, Silent, convert,
};
use isomorph_error::{Error, Kind};
use isomorph_model::{Batch, Ends, MemoryGraph, Request, Tables};
use isomorph_storage::{Budget, Location, Resources};
use isomorph_zoo::multilayer;

fn opened(memory: &MemoryGraph) -> Opened {
    let (graph, location) = (Arc::new(memory.clone()), Location::from_path(Path::new("/memory")));
    Opened {
        location,
        format: Format::ANNNET,
        native: graph.clone(),
        sidecar: None,
        graph,
        options: OpenOptions::default(),
        is_part: false,
    }
}

fn resources(budget: u64) -> Resources {
    Resources { threads: 2, budget: Budget::new(budget), ..Resources::of_this_machine().unwrap() }
}

fn written(
    memory: &MemoryGraph,
    to: Format,
    place: &Path,
    how: Hyperedges,
    budget: u64,
) -> Result<(Plan, Certificate), Error> {
    let (opened, destination) = (opened(memory), Location::from_path(place));
    let options = ConvertOptions { to: Some(to), hyperedges: how, ..ConvertOptions::default() };
    let plan = Plan::new(&opened, &destination, &options, &resources(budget), &Silent)?;
    let certificate = convert(&opened, &plan, &destination, &options, &resources(budget), &Silent)?;
    Ok((plan, certificate))
}

fn read(place: &Path) -> Opened {
    let options = OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() };
    Opened::open(&Location::from_path(place), &options).unwrap()
}

/// A pair: hyperedge, whether it is directed, ends (sorted if undirected), bits of the weight.
type Pair = (String, bool, [String; 2], u64);

fn names(column: &ArrayRef) -> Vec<String> {
    column.as_string::<i32>().iter().map(|name| name.unwrap_or_default().to_owned()).collect()
}

/// An end with its layer, as one text.
fn end(name: &str, layers: Option<&ArrayRef>, row: usize) -> String {
    match layers.filter(|layers| layers.is_valid(row)) {
        Some(layers) => format!("{name:?}{:?}", names(&layers.as_list::<i32>().value(row))),
        None => format!("{name:?}"),
    }
}

fn pair(id: &str, directed: bool, mut ends: [String; 2], weight: f64) -> Pair {
    if !directed {
        ends.sort();
    }
    (id.to_owned(), directed, ends, weight.to_bits())
}

/// The pairs that a graph must have according to the documentation.
fn expected(memory: &MemoryGraph) -> (Vec<Pair>, usize) {
    type Said = (bool, f64, BTreeMap<String, BTreeSet<String>>);
    let mut hyperedges: BTreeMap<(usize, String), Said> = BTreeMap::new();
    for batch in &memory.batches {
        if let Batch::Hyperedges(batch) = batch {
            let weights = batch.properties[0].as_ref().unwrap().as_primitive::<Float64Type>();
            for (row, id) in names(&batch.keys).into_iter().enumerate() {
                let directed = batch.directed.as_ref().unwrap().value(row);
                hyperedges.insert((batch.ty, id), (directed, weights.value(row), BTreeMap::new()));
            }
        }
    }
    for batch in &memory.batches {
        let Batch::Members(batch) = batch else { continue };
        let (Ends::Keys(owners), Ends::Keys(ends)) = (&batch.owner, &batch.member) else { panic!("rows") };
        for (row, (id, name)) in names(owners).into_iter().zip(names(ends)).enumerate() {
            let said = hyperedges.get_mut(&(batch.ty, id)).unwrap();
            let role = batch.roles.value(row).to_owned();
            said.2.entry(role).or_default().insert(end(&name, batch.layers.as_ref(), row));
        }
    }
    let (mut pairs, mut alone) = (Vec::new(), 0);
    for ((_, id), (directed, weight, members)) in &hyperedges {
        let of = |role: &str| members.get(role).cloned().unwrap_or_default();
        let before = pairs.len();
        for head in of("head") {
            pairs.extend(of("tail").into_iter().map(|tail| pair(id, *directed, [head.clone(), tail], *weight)));
        }
        let all: Vec<String> = of("member").into_iter().collect();
        for (at, one) in all.iter().enumerate() {
            let others = all[at + 1..].iter();
            pairs.extend(others.map(|other| pair(id, *directed, [one.clone(), other.clone()], *weight)));
        }
        alone += usize::from(pairs.len() == before);
    }
    pairs.sort();
    (pairs, alone)
}

/// The pairs in the GraphAr files.
fn found(place: &Path) -> Vec<Pair> {
    let opened = read(place);
    let graph = opened.graph.graph();
    let keys = MemoryGraph::read(opened.graph.as_ref()).unwrap();
    let node = graph.nodes.iter().position(|ty| ty.name == "node").unwrap();
    let names_of_nodes: Vec<String> = keys
        .batches
        .iter()
        .filter_map(|batch| match batch {
            Batch::Nodes(batch) if batch.ty == node => Some(names(batch.keys.as_ref().unwrap())),
            _ => None,
        })
        .flatten()
        .collect();
    let mut pairs = Vec::new();
    for (ty, edges) in graph.edges.iter().enumerate() {
        let at = |name: &str| edges.properties.iter().position(|property| property.name == name);
        let Some(hyperedge) = at("hyperedge") else { continue };
        for mut part in opened.graph.scan(&Request::of(Tables::Edges(ty))).unwrap() {
            part.read(&mut |batch| {
                let Batch::Edges(batch) = batch else { panic!("no edges") };
                let column = |at: Option<usize>| batch.properties[at?].clone();
                let ids = names(&column(Some(hyperedge)).unwrap());
                let weights = column(at("weight")).unwrap();
                let directed = column(at("directed"));
                let layers = [column(at("source_layer")), column(at("target_layer"))];
                let (Ends::Rows(source), Ends::Rows(target)) = (&batch.source, &batch.target) else { panic!("keys") };
                for (row, id) in ids.iter().enumerate() {
                    let name = |ends: &arrow_array::UInt64Array| &names_of_nodes[ends.value(row) as usize];
                    let ends = [end(name(source), layers[0].as_ref(), row), end(name(target), layers[1].as_ref(), row)];
                    let directed = directed.as_ref().unwrap().as_boolean().value(row);
                    pairs.push(pair(id, directed, ends, weights.as_primitive::<Float64Type>().value(row)));
                }
                Ok(())
            })
            .unwrap();
        }
    }
    pairs.sort();
    pairs
}

#[test]
fn pairs_are_each_head_with_each_tail_and_each_two_members() {
    let home = tempfile::tempdir().unwrap();
    let (mut some, mut alone) = (0, 0);
    for seed in 0..40 {
        let memory = multilayer(seed);
        let place = home.path().join(seed.to_string());
        let (plan, certificate) = written(&memory, Format::GRAPHAR, &place, Hyperedges::Expand, 1 << 28).unwrap();
        let (pairs, without) = expected(&memory);
        assert_eq!(found(&place), pairs, "{seed}");
        assert!(!place.join("_isomorph").exists() && certificate.result.is_none(), "{seed}");
        let said = certificate.lost.iter().filter(|lost| lost.contains("fewer than two members")).count();
        assert_eq!(said > 0, without > 0, "{seed}: {:?}", certificate.lost);
        assert!(plan.target.hyperedges.is_empty() && !plan.target.nodes.iter().any(|ty| ty.name == "hyperedge"));
        (some, alone) = (some + pairs.len(), alone + without);
    }
    assert!(some > 100 && alone > 10, "{some} {alone}");
}

#[test]
fn pairs_do_not_depend_on_the_memory() {
    let home = tempfile::tempdir().unwrap();
    let memory = (0..200).map(multilayer).max_by_key(|memory| expected(memory).0.len()).unwrap();
    let files = [1u64 << 28, 1 << 20].map(|budget| {
        let place = home.path().join(budget.to_string());
        written(&memory, Format::NOCK, &place.with_extension("parq"), Hyperedges::Expand, budget).unwrap();
        std::fs::read(place.with_extension("parq")).unwrap()
    });
    assert!(files[0] == files[1]);
}

#[test]
fn hyperedges_that_are_skipped_are_counted() {
    let home = tempfile::tempdir().unwrap();
    for seed in 0..20 {
        let memory = multilayer(seed);
        let place = home.path().join(seed.to_string());
        let (_, certificate) = written(&memory, Format::GRAPHAR, &place, Hyperedges::Skip, 1 << 28).unwrap();
        let graph = read(&place);
        let edges = &graph.graph.graph().edges;
        assert!(edges.iter().all(|ty| !ty.relation.fixed().unwrap().starts_with("hyperedge")), "{seed}");
        let count = |wanted: &str| {
            let batches = memory.batches.iter().filter_map(|batch| match batch {
                Batch::Hyperedges(batch) if memory.graph.hyperedges[batch.ty].name == wanted => Some(batch.rows),
                _ => None,
            });
            batches.sum::<usize>()
        };
        for name in ["hyperedge", "placeholder", "one_sided"] {
            let (rows, plural) = (count(name), if count(name) == 1 { "" } else { "s" });
            let said = format!("{rows} hyperedge{plural} {name} with ");
            assert_eq!(certificate.lost.iter().any(|lost| lost.starts_with(&said)), rows > 0, "{seed} {said}");
        }
        // Edges with two ends are all kept.
        let two_ended = memory.graph.edges[0].rows.unwrap();
        let kept = edges.iter().find(|ty| ty.relation.fixed() == Some("edge")).and_then(|ty| ty.rows);
        assert_eq!(kept.unwrap_or_default(), two_ended, "{seed}");
    }
}

#[test]
fn a_format_with_hyperedges_writes_them_as_what_they_are() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("graph.annnet");
    let error = written(&multilayer(1), Format::ANNNET, &place, Hyperedges::Skip, 1 << 28).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.message().contains("annnet has hyperedges"), "{error}");
}

#[test]
fn hyperedges_of_files_that_hold_them_as_nodes_are_told_by_rows() {
    let home = tempfile::tempdir().unwrap();
    for seed in 0..20 {
        let memory = multilayer(seed);
        // GraphAr with its sidecar is the annnet graph; its members are rows.
        let (middle, place) = (home.path().join(format!("{seed}-middle")), home.path().join(format!("{seed}")));
        written(&memory, Format::GRAPHAR, &middle, Hyperedges::Reify, 1 << 28).unwrap();
        let opened = Opened::open(&Location::from_path(&middle), &OpenOptions::default()).unwrap();
        let options =
            ConvertOptions { to: Some(Format::GRAPHAR), hyperedges: Hyperedges::Expand, ..ConvertOptions::default() };
        let destination = Location::from_path(&place);
        let plan = Plan::new(&opened, &destination, &options, &resources(1 << 28), &Silent).unwrap();
        convert(&opened, &plan, &destination, &options, &resources(1 << 28), &Silent).unwrap();
        assert_eq!(found(&place), expected(&memory).0, "{seed}");
    }
}
