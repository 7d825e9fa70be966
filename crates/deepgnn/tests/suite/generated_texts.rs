//! Generated graphs: four texts of one graph make one binary, which has the content of the texts.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::fmt::Write;
use std::path::Path;

use common::{built, files, text, written};
use isomorph_deepgnn::{BuildOptions, DeepGnn, Dispatch, OpenOptions, TextFormat, WriteOptions};
use isomorph_model::MemoryGraph;
use isomorph_storage::{Budget, Location};

/// Pseudo-random numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn weight(&mut self) -> f64 {
        [0.0, 1.0, 0.5, 0.1, 1e-3, 3.25, 1e6, 0.30000000000000004][self.below(8) as usize] * self.below(5) as f64
    }
}

/// A feature: the name of its type and its values.
type Feature = Option<(&'static str, Vec<String>)>;

struct Element {
    ty: u64,
    weight: f64,
    features: Vec<Feature>,
}

struct Node {
    id: u64,
    says: Element,
    edges: Vec<(u64, Element)>,
}

fn element(dice: &mut Dice, types: u64) -> Element {
    let (ty, weight) = (dice.below(types), dice.weight());
    let mut features: Vec<Feature> = Vec::new();
    for _ in 0..dice.below(4) {
        let count = 1 + dice.below(4) as usize;
        features.push(match dice.below(5) {
            0 => None,
            1 => Some(("float32", (0..count).map(|_| format!("{:?}", dice.weight())).collect())),
            2 => Some(("int64", (0..count).map(|_| (dice.below(1 << 40) as i64 - (1 << 39)).to_string()).collect())),
            3 => Some(("uint8", (0..count).map(|_| dice.below(256).to_string()).collect())),
            _ => Some(("text", vec![format!("t-{}é", dice.below(100))])),
        });
    }
    // JSON cannot state a hole at the end.
    while features.last().is_some_and(Option::is_none) {
        features.pop();
    }
    Element { ty, weight, features }
}

fn graph(seed: u64) -> Vec<Node> {
    let mut dice = Dice(seed);
    let count = 1 + dice.below(40);
    let mut nodes = Vec::new();
    for at in 0..count {
        let id = if at == 0 { u64::MAX - seed } else { at * (1 + dice.below(3)) + at * at };
        let says = element(&mut dice, 3);
        let mut edges: Vec<(u64, Element)> =
            (0..dice.below(6)).map(|_| (dice.below(count * 2), element(&mut dice, 3))).collect();
        edges.sort_by_key(|(target, element)| (element.ty, *target));
        nodes.push(Node { id, says, edges });
    }
    nodes
}

/// Features as words, separated by `mark`.
fn words(features: &[Feature], mark: char, text: &str) -> String {
    let mut out = String::new();
    for feature in features {
        match feature {
            None => write!(out, "{mark}uint8{mark}0").unwrap(),
            Some((ty, values)) => {
                let ty = if *ty == "text" { text } else { ty };
                write!(out, "{mark}{ty}{mark}{}", values.len()).unwrap();
                values.iter().for_each(|value| write!(out, "{mark}{value}").unwrap());
            }
        }
    }
    out
}

fn linear(nodes: &[Node]) -> String {
    let mut out = String::new();
    for node in nodes {
        let features = words(&node.says.features, ' ', "binary_feature");
        write!(out, "-1 {} {} {:?}{features}", node.id, node.says.ty, node.says.weight).unwrap();
        for (target, edge) in &node.edges {
            let features = words(&edge.features, ' ', "binary_feature");
            write!(out, " {} {target} {} {:?}{features}", node.id, edge.ty, edge.weight).unwrap();
        }
        out.push('\n');
    }
    out
}

fn edge_list(nodes: &[Node]) -> String {
    let mut out = String::new();
    for node in nodes {
        let features = words(&node.says.features, ',', "binary");
        writeln!(out, "{},-1,{},{:?}{features}", node.id, node.says.ty, node.says.weight).unwrap();
        for (target, edge) in &node.edges {
            let features = words(&edge.features, ',', "binary");
            writeln!(out, "{},{},{target},{:?}{features}", node.id, edge.ty, edge.weight).unwrap();
        }
    }
    out
}

fn json_features(features: &[Feature]) -> String {
    let mut out = String::new();
    for (id, feature) in features.iter().enumerate() {
        match feature {
            None => {}
            Some(("text", values)) => write!(out, ", \"binary_feature\": {{\"{id}\": \"{}\"}}", values[0]).unwrap(),
            Some((ty, values)) => write!(out, ", \"{ty}_feature\": {{\"{id}\": [{}]}}", values.join(", ")).unwrap(),
        }
    }
    out
}

fn json(nodes: &[Node]) -> String {
    let mut out = String::new();
    for node in nodes {
        let edge = |(target, edge): &(u64, Element)| {
            let features = json_features(&edge.features);
            let (source, ty, weight) = (node.id, edge.ty, edge.weight);
            format!(
                "{{\"src_id\": {source}, \"dst_id\": {target}, \"edge_type\": {ty}, \"weight\": {weight:?}{features}}}"
            )
        };
        let edges: Vec<_> = node.edges.iter().map(edge).collect();
        let says = &node.says;
        let features = json_features(&says.features);
        writeln!(
            out,
            "{{\"node_id\": {}, \"node_type\": {}, \"node_weight\": {:?}{features}, \"edge\": [{}]}}",
            node.id,
            says.ty,
            says.weight,
            edges.join(", ")
        )
        .unwrap();
    }
    out
}

fn tsv_features(features: &[Feature]) -> String {
    let code = |feature: &Feature| match feature {
        None => String::new(),
        Some((ty, values)) => {
            let code = [("float32", "f"), ("int64", "i64"), ("uint8", "u8"), ("text", "b")];
            let code = code.iter().find(|(name, _)| name == ty).unwrap().1;
            format!("{code}:{}", values.join(" "))
        }
    };
    features.iter().map(code).collect::<Vec<_>>().join(";")
}

fn tsv(nodes: &[Node]) -> String {
    let mut out = String::new();
    for node in nodes {
        let edge = |(target, edge): &(u64, Element)| {
            format!("{target},{},{:?},{}", edge.ty, edge.weight, tsv_features(&edge.features))
        };
        let edges: Vec<_> = node.edges.iter().map(edge).collect();
        let says = &node.says;
        let features = tsv_features(&says.features);
        writeln!(out, "{}\t{}\t{:?}\t{features}\t{}", node.id, says.ty, says.weight, edges.join("|")).unwrap();
    }
    out
}

/// JSON has one object for each feature type, so that several features of one type share it.
fn shares_no_type(nodes: &[Node]) -> bool {
    let all = nodes.iter().flat_map(|node| std::iter::once(&node.says).chain(node.edges.iter().map(|(_, edge)| edge)));
    all.into_iter().all(|element| {
        let mut types: Vec<_> = element.features.iter().flatten().map(|(ty, _)| *ty).collect();
        let count = types.len();
        types.sort_unstable();
        types.dedup();
        types.len() == count
    })
}

fn digest(path: &Path, raw: bool) -> isomorph_model::digest::Digest {
    let graph = DeepGnn::open(&Location::from_path(path), &OpenOptions { raw, ..OpenOptions::default() }).unwrap();
    MemoryGraph::read(&graph).unwrap().digest_table().unwrap().digest()
}

#[test]
fn four_texts_make_one_binary() {
    let home = tempfile::tempdir().unwrap();
    let mut with_json = 0;
    for seed in 1..25 {
        let nodes = graph(seed);
        let mut texts = vec![("linear", linear(&nodes)), ("edgelist", edge_list(&nodes)), ("tsv", tsv(&nodes))];
        if shares_no_type(&nodes) {
            texts.push(("json", json(&nodes)));
            with_json += 1;
        }
        let mut first = None;
        for (format, content) in &texts {
            let path = text(home.path(), &format!("graph.{format}"), content, None);
            let out = home.path().join("out");
            built(&path, &out, &OpenOptions::default(), &BuildOptions::default()).unwrap();
            let said = (files(&out), digest(&path, false));
            assert_eq!(digest(&out, true), digest(&path, true), "seed {seed} {format}");
            assert!(*first.get_or_insert_with(|| said.clone()) == said, "seed {seed} {format}");
        }
    }
    assert!(with_json > 0);
}

/// A graph in the order that the specification requires, with 32-bit weights.
fn sorted(seed: u64) -> Vec<Node> {
    let mut nodes = graph(seed);
    nodes.sort_by_key(|node| node.id);
    nodes.dedup_by_key(|node| node.id);
    let round = |element: &mut Element| element.weight = (element.weight as f32).to_string().parse().unwrap();
    for node in &mut nodes {
        round(&mut node.says);
        node.edges.iter_mut().for_each(|(_, edge)| round(edge));
    }
    nodes
}

#[test]
fn texts_that_are_written_have_the_binary_of_the_first() {
    let home = tempfile::tempdir().unwrap();
    for seed in 1..25 {
        let nodes = sorted(seed);
        let path = text(home.path(), "graph.linear", &linear(&nodes), None);
        let (first, out) = (home.path().join("first"), home.path().join("out"));
        built(&path, &first, &OpenOptions::default(), &BuildOptions::default()).unwrap();
        let source = DeepGnn::open(&Location::from_path(&path), &OpenOptions::default()).unwrap();
        for format in TextFormat::ALL {
            let budget = Budget::new(if seed % 2 == 0 { 0 } else { 1 << 30 });
            let binary = BuildOptions { budget, ..BuildOptions::default() };
            let again = home.path().join(format!("again.{}", format.id()));
            let options = WriteOptions { text: Some(format), binary, ..WriteOptions::default() };
            written(&source, &again, &options, 1 + seed as usize).unwrap();
            assert_eq!(digest(&again, false), digest(&path, false), "seed {seed} {format}");
            built(&again, &out, &OpenOptions::default(), &BuildOptions::default()).unwrap();
            assert!(files(&out) == files(&first), "seed {seed} {format}");
        }
        written(&source, &out, &WriteOptions::default(), 3).unwrap();
        assert!(files(&out) == files(&first), "seed {seed}");
    }
}

#[test]
fn texts_in_several_files_are_the_same_graph_also_with_defaults() {
    let home = tempfile::tempdir().unwrap();
    let mut with_defaults = 0;
    for seed in 1..25 {
        let mut nodes = sorted(seed);
        if seed % 3 > 0 {
            // What all elements have in common: type and weight, and a first feature if they have any.
            let alike = |element: &mut Element| (element.ty, element.weight) = (0, 0.25);
            for node in &mut nodes {
                alike(&mut node.says);
                node.edges.iter_mut().for_each(|(_, edge)| alike(edge));
            }
        }
        let path = text(home.path(), "graph.linear", &linear(&nodes), None);
        let (first, out) = (home.path().join("first"), home.path().join("out"));
        let source = DeepGnn::open(&Location::from_path(&path), &OpenOptions::default()).unwrap();
        for (format, parts) in TextFormat::ALL.into_iter().zip([1, 2, 3, 12].into_iter().cycle().skip(seed as usize)) {
            let dispatch = if seed % 2 == 0 { Dispatch::Id } else { Dispatch::Line };
            let options = WriteOptions {
                text: Some(format),
                parts: Some(parts),
                leave_out: true,
                binary: BuildOptions { dispatch, ..BuildOptions::default() },
                ..WriteOptions::default()
            };
            let again = home.path().join(format!("again.{}.zst", format.id()));
            written(&source, &again, &options, 1 + seed as usize).unwrap();
            let names: Vec<String> = files(&again).into_keys().collect();
            let of_parts = names.iter().filter(|name| name.starts_with("part-") && name.ends_with(".zst")).count();
            assert_eq!(of_parts, parts as usize, "{names:?}");
            assert_eq!(digest(&again, false), digest(&path, false), "seed {seed} {format}");
            let stated = files(&again).get("meta.json").map(|bytes| String::from_utf8(bytes.clone()).unwrap());
            if format.has_defaults() && seed % 3 > 0 && !nodes.is_empty() {
                let stated = stated.unwrap();
                assert!(stated.contains(r#""node_default_type":0,"node_default_weight":0.25"#), "{stated}");
                with_defaults += 1;
            } else if !format.has_defaults() {
                assert_eq!(stated, None);
            }
            if parts == 1 {
                let one = home.path().join(format!("one.{}", format.id()));
                written(&source, &one, &WriteOptions { text: Some(format), ..WriteOptions::default() }, 7).unwrap();
                built(&one, &first, &OpenOptions::default(), &BuildOptions::default()).unwrap();
                built(&again, &out, &OpenOptions::default(), &BuildOptions::default()).unwrap();
                assert!(files(&out) == files(&first), "seed {seed} {format}");
            }
        }
    }
    assert!(with_defaults > 10, "{with_defaults}");
}

#[test]
fn partitions_are_the_same_graph() {
    let home = tempfile::tempdir().unwrap();
    for seed in 1..15 {
        let nodes = graph(seed);
        let path = text(home.path(), "graph.edgelist", &edge_list(&nodes), None);
        let expected = digest(&path, true);
        for (partitions, dispatch) in [(2, Dispatch::Line), (5, Dispatch::Line), (3, Dispatch::Id)] {
            let options = BuildOptions { partitions, dispatch, budget: Budget::new(0), ..BuildOptions::default() };
            let out = home.path().join("out");
            match built(&path, &out, &OpenOptions::default(), &options) {
                Ok(_) => assert_eq!(digest(&out, true), expected, "seed {seed}, {partitions} {dispatch:?}"),
                Err(error) => panic!("seed {seed}: {error}"),
            }
        }
    }
}

/// A text has the same content whether it is cut into many pieces or one: the pieces of a large file are a mebibyte
/// each.
#[test]
fn a_text_in_pieces_is_the_text_as_a_whole() {
    let home = tempfile::tempdir().unwrap();
    let mut nodes = Vec::new();
    for round in 0..1200u64 {
        for mut node in graph(round % 50 + 1) {
            node.id = nodes.len() as u64;
            nodes.push(node);
        }
    }
    let content = linear(&nodes);
    assert!(content.len() > 3 << 20, "{} bytes are not several pieces", content.len());
    let path = text(home.path(), "graph.linear", &content, None);
    let expected = digest(&path, false);
    // Compressed, it is one part that is read from its beginning.
    let packed = path.with_file_name("packed.linear.zst");
    std::fs::write(&packed, zstd::encode_all(content.as_bytes(), 1).unwrap()).unwrap();
    assert_eq!(digest(&packed, false), expected);
    let directory = home.path().join("lines");
    std::fs::create_dir(&directory).unwrap();
    for (at, lines) in content.split_inclusive('\n').collect::<Vec<_>>().chunks(500).enumerate() {
        std::fs::write(directory.join(format!("part-{at:04}.linear")), lines.concat()).unwrap();
    }
    assert_eq!(digest(&directory, false), expected);
    let (whole, parts) = (home.path().join("whole"), home.path().join("parts"));
    built(&path, &whole, &OpenOptions::default(), &BuildOptions::default()).unwrap();
    built(&directory, &parts, &OpenOptions::default(), &BuildOptions::default()).unwrap();
    assert!(files(&whole) == files(&parts));
    // The first error of the text is reported, whichever piece is read first.
    let mut lines: Vec<&str> = content.lines().collect();
    let at = lines.len() - 5;
    (lines[at], lines[at - 4000]) = ("broken", "-1 0 broken 1");
    let broken = text(home.path(), "graph.linear", &lines.join("\n"), None);
    let error =
        built(&broken, &home.path().join("none"), &OpenOptions::default(), &BuildOptions::default()).unwrap_err();
    assert_eq!(error.place().line, Some(at as u64 - 4000 + 1));
}
