//! A graph that was read and kept answers like the one that was read; a directory that was changed is no graph.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::path::Path;
use std::sync::Arc;

use common::options;
use isomorph_deepgnn::{DeepGnn, OpenOptions};
use isomorph_model::Source;
use isomorph_sampling::{
    Ask, Choice, Draw, EdgeSampler, Edges, Generator, Graph, NeighborLists, NodeSampler, Sampler, Stated, Strings,
    Summary, TypeSet,
};
use isomorph_storage::Location;
use isomorph_zoo as zoo;

/// What a graph answers.
#[derive(Debug, PartialEq)]
struct Answers {
    summary: Summary,
    lists: NeighborLists,
    last: Vec<NeighborLists>,
    texts: Vec<Strings>,
    stated: Vec<Vec<Stated>>,
    nodes: Option<(Vec<i64>, Vec<i32>)>,
    edges: Option<(Vec<i64>, Vec<i64>, Vec<i32>)>,
    weights: Vec<bool>,
}

fn answers(graph: &Arc<Graph>, names: &isomorph_sampling::Names) -> Answers {
    let mut sampler = Sampler::new(graph, Generator::Stable, 1);
    let (nodes, types) = ((-3..700).collect::<Vec<i64>>(), TypeSet::all());
    let mut lists = NeighborLists::default();
    // Weights that cannot be shown are an error of both.
    let shown = sampler.neighbors(&Ask::new(&nodes, &types), &mut lists).is_ok();
    let mut last = Vec::new();
    if graph.check_times(&types).is_ok() {
        for time in [0, 5, 20, 1000] {
            let (times, mut lists) = (vec![time; nodes.len()], NeighborLists::default());
            let ask = Ask { nodes: &nodes, types: &types, times: Some(&times) };
            sampler.neighbors(&ask, &mut lists).unwrap();
            last.push(lists);
        }
    }
    let sources: Vec<i64> =
        nodes.iter().zip(&lists.counts).flat_map(|(node, count)| vec![*node; *count as usize]).collect();
    let edges = Edges { sources: &sources, targets: &lists.ids, types: &lists.types };
    let (mut texts, mut stated) = (Vec::new(), Vec::new());
    for feature in 0..names.features().len() as u32 {
        let mut found = Strings::default();
        sampler.node_strings(&nodes, &[feature], None, &mut found).unwrap();
        texts.push(found);
        stated.push(sampler.node_stated(&nodes, feature).unwrap());
    }
    for feature in 0..names.edge_features().len() as u32 {
        let mut found = Strings::default();
        sampler.edge_strings(edges, &[feature], None, &mut found).unwrap();
        texts.push(found);
        stated.push(sampler.edge_stated(edges, feature).unwrap());
    }
    let drawn = NodeSampler::new(graph, &types, Choice::Weighted, Generator::Stable).ok().and_then(|mut sampler| {
        let (mut ids, mut types) = (vec![0; 500], vec![0; 500]);
        sampler.sample(Draw::of(5), -1, &mut ids, &mut types).ok().map(|_| (ids, types))
    });
    let drawn_edges =
        EdgeSampler::new(graph, &types, Choice::Weighted, Generator::Stable).ok().and_then(|mut sampler| {
            let (mut sources, mut targets, mut types) = (vec![0; 500], vec![0; 500], vec![0; 500]);
            sampler
                .sample(Draw::of(5), -1, &mut sources, &mut targets, &mut types)
                .ok()
                .map(|_| (sources, targets, types))
        });
    let kinds = 0..i32::try_from(graph.edge_type_count()).unwrap();
    let mut weights: Vec<bool> = kinds.map(|ty| graph.knows_weights(ty)).collect();
    weights.extend([shown, graph.has_exact_weights(), graph.has_wide_weights(), graph.has_times()]);
    Answers {
        summary: graph.summary(Some(names)),
        lists,
        last,
        texts,
        stated,
        nodes: drawn,
        edges: drawn_edges,
        weights,
    }
}

/// Keeps a graph, opens it again, and compares. Returns whether it can be read at all.
fn compare(name: &str, source: &dyn Source) -> bool {
    let home = tempfile::tempdir().unwrap();
    let location = Location::from_path(&home.path().join("kept"));
    let Ok((graph, names)) = Graph::of_source(source, &options()) else { return false };
    assert!(Graph::kept(&location, "input", &options()).unwrap().is_none());
    graph.keep(&names, "input", &["a note".to_owned()], &location).unwrap();
    let expected = answers(&Arc::new(graph), &names);
    let kept = Graph::kept(&location, "input", &options()).unwrap().unwrap();
    assert_eq!(kept.notes, ["a note"]);
    let features = |names: &isomorph_sampling::Names| [names.features().to_vec(), names.edge_features().to_vec()];
    assert_eq!(features(&kept.names), features(&names), "{name}");
    assert_eq!(kept.names.node_types(), names.node_types(), "{name}");
    assert_eq!(kept.names.edge_types(), names.edge_types(), "{name}");
    assert_eq!(answers(&Arc::new(kept.graph), &kept.names), expected, "{name}");
    assert!(Graph::kept(&location, "another input", &options()).unwrap().is_none());
    true
}

#[test]
fn graphs_of_every_kind_answer_alike() {
    let graphs =
        [("graphar", zoo::graphar()), ("deepgnn", zoo::deepgnn()), ("nock", zoo::nock()), ("annnet", zoo::annnet())];
    let read = graphs.iter().filter(|(name, graph)| compare(name, graph)).count();
    assert!(read >= 3, "{read} graphs can be sampled");
    for name in ["hetero/graph.json", "hetero/graph.edgelist", "karate/graph.linear"] {
        let place = Location::from_path(&isomorph_fixtures::fixture(format!("deepgnn/{name}")));
        assert!(compare(name, &DeepGnn::open(&place, &OpenOptions::default()).unwrap()), "{name}");
    }
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.json");
    let edge = |target: i64, created: i64| {
        format!(
            "{{\"src_id\": 1, \"dst_id\": {target}, \"edge_type\": 0, \"weight\": 0.5, \"created_at\": {created}, \"removed_at\": {}}}",
            created + 9
        )
    };
    let edges: Vec<String> = (1..40).map(|at| edge(at, at % 13)).collect();
    let line =
        format!("{{\"node_id\": 1, \"node_type\": 0, \"node_weight\": 2.5, \"edge\": [{}]}}\n", edges.join(", "));
    std::fs::write(&path, line).unwrap();
    assert!(compare("times", &DeepGnn::open(&Location::from_path(&path), &OpenOptions::default()).unwrap()));
}

fn changed(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).unwrap();
    change(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_directory_that_was_changed_is_no_graph() {
    let home = tempfile::tempdir().unwrap();
    let place = Location::from_path(&isomorph_fixtures::fixture("deepgnn/hetero/graph.json"));
    let (graph, names) =
        Graph::of_source(&DeepGnn::open(&place, &OpenOptions::default()).unwrap(), &options()).unwrap();
    let path = home.path().join("kept");
    let location = Location::from_path(&path);
    let there = || Graph::kept(&location, "input", &options()).unwrap().is_some();
    let keep = || graph.keep(&names, "input", &[], &location).unwrap();
    keep();
    let files: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 9);
    for file in files.iter().filter(|file| std::fs::metadata(file).unwrap().len() > 0) {
        changed(file, |bytes| bytes.truncate(bytes.len() - 1));
        // The document ends with a brace.
        assert!(!there(), "{file:?}");
        keep();
        changed(file, |bytes| *bytes.last_mut().unwrap() ^= 1);
        assert!(!there(), "{file:?}");
        keep();
        std::fs::remove_file(file).unwrap();
        assert!(!there(), "{file:?}");
        keep();
        assert!(there());
    }
    let document = path.join("kept.json");
    changed(&document, |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        *bytes = text.replacen("\"written_by\": \"", "\"written_by\": \"other ", 1).into_bytes();
    });
    assert!(!there());
}

#[test]
fn a_binary_is_not_kept() {
    let place = Location::from_path(&isomorph_fixtures::fixture("deepgnn/hetero/bin_linear_p1"));
    let text = Location::from_path(&isomorph_fixtures::fixture("deepgnn/hetero/graph.json"));
    let (_, names) = Graph::of_source(&DeepGnn::open(&text, &OpenOptions::default()).unwrap(), &options()).unwrap();
    let graph = Graph::open(&place, &options()).unwrap();
    let home = tempfile::tempdir().unwrap();
    let location = Location::from_path(&home.path().join("kept"));
    assert!(graph.keep(&names, "input", &[], &location).is_err());
    assert!(Graph::kept(&location, "input", &options()).unwrap().is_none());
}
