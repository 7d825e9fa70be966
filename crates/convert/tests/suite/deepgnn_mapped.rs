//! Texts and binaries of DeepGNN through GraphAr, NOCK and annnet, and back with equal digests.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use isomorph_convert::{
    Certificate, ConvertOptions, Digests, Format, NodeTypes, OpenOptions, Opened, Plan, SidecarUse, Silent, TypesFrom,
    convert, digest, dump,
};
use isomorph_deepgnn::FeatureType;
use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Location, Resources};

/// Two types of nodes, three of edges, features of several kinds, missing features, parallel edges, ids beyond 63 bits,
/// and an edge that ends at an id without a line.
const LINEAR: &str = "\
-1 7 0 1.5 float32 3 0.5 -0.0 nan uint64 2 18446744073709551615 0 binary_feature 1 seven float16 2 0.5 -2 uint16 3,2,3 0 1 2 3 4 5 7 8 9 7 9 0 0.1 float64 1 3.5 7 9 0 0.2 7 18446744073709551615 10 1.0 uint8 0 binary_feature 1 edge
-1 9 1 0.0 uint8 0 uint8 0 binary_feature 1 \u{3b2},\"x\" uint8 0 uint8 0 int8 3 -128 0 127 9 7 2 0.3 int64 2,2 5 9 -1 1
-1 18446744073709551615 0 2.0 float32 1 1e30 18446744073709551615 99 2 0.5
";

fn resources() -> Resources {
    Resources { threads: 2, budget: Budget::new(256 << 20), ..Resources::of_this_machine().unwrap() }
}

fn open(path: &Path, options: &OpenOptions) -> Opened {
    Opened::open(&Location::from_path(path), options).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()))
}

fn digests(opened: &Opened) -> Digests {
    digest(opened.graph.as_ref(), &resources(), &Silent).unwrap().digests
}

fn write(opened: &Opened, to: Format, path: &Path, options: &ConvertOptions) -> Result<Certificate, Error> {
    write_within(opened, to, path, options, &resources())
}

fn write_within(
    opened: &Opened,
    to: Format,
    path: &Path,
    options: &ConvertOptions,
    resources: &Resources,
) -> Result<Certificate, Error> {
    let destination = Location::from_path(path);
    let options = ConvertOptions { to: Some(to), ..options.clone() };
    let plan = Plan::new(opened, &destination, &options, resources, &Silent)?;
    convert(opened, &plan, &destination, &options, resources, &Silent)
}

fn fixture(name: &str) -> PathBuf {
    isomorph_fixtures::fixture(format!("deepgnn/{name}"))
}

const OTHERS: [(Format, &str); 3] =
    [(Format::GRAPHAR, "g.graphar"), (Format::NOCK, "n.parq"), (Format::ANNNET, "a.annnet")];

/// Through each format, and from there through each other.
fn survives(source: &Opened) {
    let expected = digests(source);
    for (to, name) in OTHERS {
        let home = tempfile::tempdir().unwrap();
        let there = home.path().join(name);
        let done = write(source, to, &there, &ConvertOptions::default());
        let done = done.unwrap_or_else(|error| panic!("{} to {to}: {error:?}", source.location));
        assert_eq!((done.source, done.result), (Some(expected), Some(expected)), "{} {to}", source.location);
        let opened = open(&there, &OpenOptions::default());
        assert_eq!(digests(&opened), expected, "{} {to}", source.location);
        assert_eq!(opened.format_of_graph(), Format::DEEPGNN);
        for (next, name) in OTHERS.iter().filter(|(next, _)| *next != to) {
            let farther = home.path().join(format!("next.{name}"));
            let done = write(&opened, *next, &farther, &ConvertOptions::default());
            let done = done.unwrap_or_else(|error| panic!("{} {to} {next}: {error:?}", source.location));
            assert_eq!(done.result, Some(expected), "{} {to} {next}", source.location);
        }
    }
}

#[test]
fn a_text_survives_every_other_format() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.linear");
    std::fs::write(&path, LINEAR).unwrap();
    survives(&open(&path, &OpenOptions::default()));
}

#[test]
fn a_binary_survives_with_and_without_types() {
    let home = tempfile::tempdir().unwrap();
    let (path, binary) = (home.path().join("graph.linear"), home.path().join("binary"));
    std::fs::write(&path, LINEAR).unwrap();
    write(&open(&path, &OpenOptions::default()), Format::DEEPGNN, &binary, &ConvertOptions::default()).unwrap();
    let mut options = OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() };
    survives(&open(&binary, &options));
    let of = |(id, ty): (u32, &str)| (id, ty.parse::<FeatureType>().unwrap());
    options.get_mut::<isomorph_deepgnn::OpenOptions>().node_features =
        [(0, "float32"), (2, "text"), (4, "sparse-uint16"), (5, "int8")].map(of).to_vec();
    options.get_mut::<isomorph_deepgnn::OpenOptions>().edge_features = [(1, "text")].map(of).to_vec();
    survives(&open(&binary, &options));
}

#[test]
fn fixtures_survive() {
    for name in [
        "karate/graph.linear",
        "karate/bin_tsv_p3",
        "hetero/graph.json",
        "hetero/bin_defaults",
        "seed_linear/bin_fixed",
        "seed_json/graph_fixed.json",
        "seed_tsv/graph_fixed.tsv",
    ] {
        let path = fixture(name);
        survives(&open(&path, &OpenOptions::default()));
    }
}

/// Nodes that several lines and several partitions describe are one node, in every format, and again in files of
/// DeepGNN.
#[test]
fn split_nodes_are_united() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.linear");
    let lines: String = (0..60)
        .map(|line| {
            let (id, target) = (line * 17 % 23, line * 5 % 29);
            let features = match line % 3 {
                0 => format!("float32 2 {id} 0.5"),
                1 => format!("uint8 0 binary_feature 1 n{id}"),
                _ => format!("uint8 0 uint8 0 int64 1 {id}"),
            };
            format!("-1 {id} {} 1 {features} {id} {target} {} 0.5\n", id % 2, line % 2)
        })
        .collect();
    std::fs::write(&path, lines).unwrap();
    let text = open(&path, &OpenOptions::default());
    let whole = digests(&text);
    survives(&text);
    let mut written = ConvertOptions::default();
    for partitions in [1, 3] {
        written.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.partitions = partitions;
        let binary = home.path().join(format!("binary{partitions}"));
        write(&text, Format::DEEPGNN, &binary, &written).unwrap();
        let split = open(&binary, &OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() });
        let expected = digests(&split);
        survives(&split);
        // Each node in one place again: another binary of the same graph.
        let anew = home.path().join(format!("anew{partitions}"));
        assert_eq!(write(&split, Format::DEEPGNN, &anew, &written).unwrap().result, Some(expected));
    }
    let anew = home.path().join("anew.linear");
    written.write.get_mut::<isomorph_deepgnn::WriteOptions>().text = Some(isomorph_deepgnn::TextFormat::Linear);
    assert_eq!(write(&text, Format::DEEPGNN, &anew, &written).unwrap().result, Some(whole));
    assert_eq!(std::fs::read_to_string(&anew).unwrap().lines().count(), 23);
}

/// The lines of a dump without the sidecar.
fn alone(path: &Path) -> Vec<String> {
    let opened = open(path, &OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() });
    let mut out = Vec::new();
    dump(opened.graph.as_ref(), &mut out, &resources(), &Silent).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

#[track_caller]
fn has(lines: &[String], parts: &[&str]) {
    assert!(lines.iter().any(|line| parts.iter().all(|part| line.contains(part))), "{parts:?}: {lines:#?}");
}

#[test]
fn what_others_read_is_a_good_graph() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.linear");
    std::fs::write(&path, LINEAR).unwrap();
    let opened = open(&path, &OpenOptions::default());
    let [graphar, nock, annnet] = OTHERS.map(|(to, name)| {
        let there = home.path().join(name);
        write(&opened, to, &there, &ConvertOptions::default()).unwrap();
        alone(&there)
    });
    // Lists of numbers, unchanged text, sparse features as JSON; ids as text, because one is 2^63 or more; a node for the end without
    // a line.
    has(
        &graphar,
        &[
            r#""key":"7""#,
            r#""type":0"#,
            r#""0":[0.5,-0.0,"NaN"]"#,
            r#""1":"[18446744073709551615,0]""#,
            r#""2":"seven""#,
        ],
    );
    has(&graphar, &[r#""key":"18446744073709551615""#, r#""weight":2.0"#]);
    has(&graphar, &[r#""key":"99""#]);
    has(&graphar, &[r#""edge":"10""#, r#""ends":["7","18446744073709551615"]"#, r#""1":"edge""#]);
    has(&nock, &[r#""key":"18446744073709551615""#]);
    has(&nock, &[r#""coordinates":[[0,1],[2,3],[4,5]]"#, r#""values":[7,8,9]"#]);
    has(&annnet, &[r#""key":"10:7>18446744073709551615""#, r#""relation":"10""#]);
    has(&annnet, &[r#""key":"0:7>9~2""#]);
}

#[test]
fn nodes_of_which_nothing_is_said_may_lack_every_property_once_more() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.linear");
    std::fs::write(&path, LINEAR).unwrap();
    let text = open(&path, &OpenOptions::default());
    for (to, name) in OTHERS {
        let (there, next) = (home.path().join(name), home.path().join(format!("next.{name}")));
        write(&text, to, &there, &ConvertOptions::default()).unwrap();
        let done = write(&open(&there, &OpenOptions::default()), Format::GRAPHAR, &next, &ConvertOptions::default());
        assert_eq!(done.unwrap().result, Some(digests(&text)), "{to}");
        let mut found = isomorph_error::Findings::keeping(3);
        open(&next, &OpenOptions::default()).native.validate(&mut found).unwrap();
        assert_ne!(found.worst(), Some(isomorph_error::Severity::Error), "{to}: {found:?}");
    }
}

#[test]
fn many_relations_are_a_column() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.linear");
    let edges: String = (0..1_200).map(|ty| format!(" 1 1 {ty} 1.0")).collect();
    std::fs::write(&path, format!("-1 1 0 1.0{edges}\n")).unwrap();
    let opened = open(&path, &OpenOptions::default());
    let (expected, there) = (digests(&opened), home.path().join("g.graphar"));
    let done = write(&opened, Format::GRAPHAR, &there, &ConvertOptions::default()).unwrap();
    assert_eq!(done.result, Some(expected));
    let alone = open(&there, &OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() });
    assert_eq!(alone.graph.graph().edges.len(), 1);
    has(&self::alone(&there), &[r#""predicate":"1199""#]);
}

/// A text with every construct is converted to other formats, and from these to texts and binaries of DeepGNN.
#[test]
fn what_was_a_text_becomes_files_of_deepgnn_again() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.linear");
    std::fs::write(&path, LINEAR).unwrap();
    let source = open(&path, &OpenOptions::default());
    let expected = digests(&source);
    for (to, name) in OTHERS {
        let there = home.path().join(name);
        write(&source, to, &there, &ConvertOptions::default()).unwrap();
        let mut options = ConvertOptions::default();
        options.write.get_mut::<isomorph_deepgnn::WriteOptions>().text = Some(isomorph_deepgnn::TextFormat::Linear);
        let text = home.path().join(format!("{name}.linear"));
        let done = write(&open(&there, &OpenOptions::default()), Format::DEEPGNN, &text, &options);
        assert_eq!(done.unwrap_or_else(|error| panic!("{to}: {error:?}")).result, Some(expected), "{to}");
        let back = open(&text, &OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() });
        assert_eq!(digests(&back).content, expected.content, "{to}");
    }
}

/// Two vertex types, an undirected edge type, labels, a key of text, empty and missing texts, weights.
#[test]
fn what_deepgnn_reads_is_a_good_graph() {
    use isomorph_zoo::{Build, Edges, Nodes, bools, dates, float32, float64, int32, int64, lists, text};
    let mut build = Build::default();
    let person = build.nodes(
        Nodes::keyed("person", int64([70, 5]))
            .declare(&["Admin"])
            .labels(&[&["Admin"], &[]])
            .column("age", int32([Some(30), None]))
            .column("name", text([Some("ann"), Some("")]))
            .column("born", dates([0, 1]))
            .column("ok", bools([true, false])),
    );
    let city = build.nodes(Nodes::keyed("city", text(["Rome"])).column("name", text(["Roma"])));
    build.edges(
        Edges::rows(person, "knows", person, [(0, 1), (1, 1)]).undirected().column("weight", float64([0.1, f64::NAN])),
    );
    let items = lists(int64([1, 2]), &[Some(2)]);
    build.edges(Edges::rows(person, "in", city, [(1, 0)]).column("weight", float32([0.5])).column("at", items));
    let memory = build.finish();
    let opened = {
        let graph = std::sync::Arc::new(memory);
        let location = Location::from_path(Path::new("/memory"));
        Opened {
            location,
            format: Format::GRAPHAR,
            native: graph.clone(),
            sidecar: None,
            graph,
            options: OpenOptions::default(),
            is_part: false,
        }
    };
    let home = tempfile::tempdir().unwrap();
    let there = home.path().join("g.linear");
    let mut options = ConvertOptions::default();
    options.write.get_mut::<isomorph_deepgnn::WriteOptions>().text = Some(isomorph_deepgnn::TextFormat::Linear);
    let done = write(&opened, Format::DEEPGNN, &there, &options).unwrap();
    assert_eq!(done.result, Some(digests(&opened)));
    let lines = alone(&there);
    // Ids are rows across both types; features are numbered in the order of the description, followed by the key.
    has(
        &lines,
        &[r#""key":0"#, r#""type":0"#, r#""0":[30]"#, r#""1":"ann""#, r#""2":[0]"#, r#""3":[1]"#, r#""4":[70]"#],
    );
    has(&lines, &[r#""key":0"#, r#""5":"[\"Admin\"]""#]);
    has(&lines, &[r#""key":1"#, r#""4":[5]"#, r#""7":"{\"name\":\"\"}""#]);
    has(&lines, &[r#""key":2"#, r#""type":1"#, r#""1":"Roma""#, r#""6":"Rome""#]);
    // Both directions, the second one marked; a loop is written once; a weight that cannot be used for sampling is 1.
    has(&lines, &[r#""edge":"0""#, r#""ends":[0,1]"#, r#""0":[0.1]"#, r#""weight":0.10000000149011612"#]);
    has(&lines, &[r#""edge":"0""#, r#""ends":[1,0]"#, r#""2":[1]"#]);
    has(&lines, &[r#""edge":"0""#, r#""ends":[1,1]"#, r#""0":["NaN"]"#, r#""weight":1.0"#]);
    has(&lines, &[r#""edge":"1""#, r#""ends":[1,2]"#, r#""weight":0.5"#, r#""1":[1,2]"#]);
    assert_eq!(lines.iter().filter(|line| line.contains("\"edge\"")).count(), 4, "{lines:#?}");
}

/// If each row states whether it is directed, undirected edges are written in both directions.
#[test]
fn rows_without_a_direction_are_there_in_both() {
    use isomorph_zoo::{Build, Edges, Nodes, bools, int64};
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("n", int64([3, 4])));
    build.edges(
        Edges::rows(node, "r", node, [(0, 1), (1, 0), (0, 0), (1, 1)])
            .column("directed", bools([Some(true), Some(false), Some(false), None])),
    );
    let memory = std::sync::Arc::new(build.finish());
    let location = Location::from_path(Path::new("/memory"));
    let opened = Opened {
        location,
        format: Format::GRAPHAR,
        native: memory.clone(),
        sidecar: None,
        graph: memory,
        options: OpenOptions::default(),
        is_part: false,
    };
    let home = tempfile::tempdir().unwrap();
    let there = home.path().join("binary");
    let done = write(&opened, Format::DEEPGNN, &there, &ConvertOptions::default()).unwrap();
    assert_eq!((done.result, done.edges), (Some(digests(&opened)), 4));
    let lines = alone(&there);
    let ends = |ends: &str| lines.iter().filter(|line| line.contains(&format!("\"ends\":{ends}"))).count();
    assert_eq!(["[3,4]", "[4,3]", "[3,3]", "[4,4]"].map(ends), [2, 1, 1, 1], "{lines:#?}");
}

/// Integer keys are ids, also if rows are in another order, and in several partitions.
#[test]
fn integer_keys_stay_and_so_does_the_order_of_rows() {
    use isomorph_zoo::{Build, Edges, Nodes, int64, text};
    let mut build = Build::default();
    let keys: Vec<i64> = (0..500).map(|row| (row * 7919) % 1009 - 500).collect();
    let names: Vec<String> = keys.iter().map(|key| format!("n{key}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let node = build.nodes(Nodes::keyed("n", int64(keys.clone())).column("name", text(names)));
    build.edges(Edges::rows(node, "r", node, (0..499).map(|row| (row, row + 1))));
    let mut memory = build.finish();
    memory.graph.nodes[0].ordered = true;
    let opened = {
        let graph = std::sync::Arc::new(memory);
        let location = Location::from_path(Path::new("/memory"));
        Opened {
            location,
            format: Format::GRAPHAR,
            native: graph.clone(),
            sidecar: None,
            graph,
            options: OpenOptions::default(),
            is_part: false,
        }
    };
    let expected = digests(&opened);
    let home = tempfile::tempdir().unwrap();
    for partitions in [1, 3] {
        let there = home.path().join(format!("binary{partitions}"));
        let mut options = ConvertOptions::default();
        options.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.partitions = partitions;
        assert_eq!(write(&opened, Format::DEEPGNN, &there, &options).unwrap().result, Some(expected));
        let lines = alone(&there);
        has(&lines, &["\"key\":356,"]);
        has(&lines, &["\"key\":18446744073709551116,"]);
        // From there to a format whose rows have an order.
        let back = home.path().join(format!("g{partitions}.graphar"));
        let done = write(&open(&there, &OpenOptions::default()), Format::GRAPHAR, &back, &ConvertOptions::default());
        assert_eq!(done.unwrap().result, Some(expected));
    }
}

/// Memory that can hold neither the keys nor the rows of the graphs here.
fn little() -> Resources {
    Resources { threads: 2, budget: Budget::new(4 << 20), ..Resources::of_this_machine().unwrap() }
}

#[test]
fn ends_are_looked_up_beyond_memory() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.linear");
    let nodes = 200_000u64;
    // Nodes are odd, every third edge ends at an even id; the last node is stated twice.
    let id = |node: u64| (node * 7919 % 200_003) * 2 + 1;
    let mut lines: String = (0..nodes)
        .map(|node| {
            format!("-1 {} 0 1 {} {} 0 1\n", id(node), id(node), id(node * 31 % nodes) - u64::from(node % 3 == 0))
        })
        .collect();
    lines.push_str(&format!("-1 {} 0 1 float32 1 2\n", id(nodes - 1)));
    std::fs::write(&path, lines).unwrap();
    let little = little();
    let mut options = OpenOptions::default();
    (
        options.get_mut::<isomorph_deepgnn::OpenOptions>().budget,
        options.get_mut::<isomorph_deepgnn::OpenOptions>().scratch,
    ) = (little.budget.clone(), Some(little.scratch.clone()));
    let (there, plenty) = (home.path().join("g.graphar"), home.path().join("plenty.graphar"));
    let done = write_within(&open(&path, &options), Format::GRAPHAR, &there, &ConvertOptions::default(), &little);
    let done = done.unwrap();
    assert_eq!(done.result, done.source);
    assert!(little.scratch.peak() > 0 && little.budget.peak() <= 4 << 20);
    let wide = write(&open(&path, &OpenOptions::default()), Format::GRAPHAR, &plenty, &ConvertOptions::default());
    assert_eq!(wide.unwrap().result, done.result);
    let alone =
        |path: &Path| digests(&open(path, &OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() }));
    assert_eq!(alone(&there), alone(&plenty));
}

#[test]
fn rows_are_put_in_order_beyond_memory() {
    use isomorph_zoo::{Build, Edges, Nodes, int64, text};
    let mut build = Build::default();
    let keys: Vec<i64> = (0..60_000).map(|row| (row * 7919) % 60_013).collect();
    let names: Vec<String> = keys.iter().map(|key| format!("the node with number {key}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let node = build.nodes(Nodes::keyed("n", int64(keys)).column("name", text(names)));
    build.edges(Edges::rows(node, "r", node, (0..5_000).map(|row| (row, row + 1))));
    let mut memory = build.finish();
    memory.graph.nodes[0].ordered = true;
    let graph = std::sync::Arc::new(memory);
    let location = Location::from_path(Path::new("/memory"));
    let opened = Opened {
        location,
        format: Format::GRAPHAR,
        native: graph.clone(),
        sidecar: None,
        graph,
        options: OpenOptions::default(),
        is_part: false,
    };
    let (little, home) = (little(), tempfile::tempdir().unwrap());
    let mut options = ConvertOptions::default();
    options.write.get_mut::<isomorph_deepgnn::WriteOptions>().binary.partitions = 3;
    let done = write_within(&opened, Format::DEEPGNN, &home.path().join("binary"), &options, &little).unwrap();
    assert_eq!(done.result, Some(digests(&opened)));
    assert!(little.scratch.peak() > 0);
}

/// `diff --as deepgnn`: a graph of another format as DeepGNN would store it.
#[test]
fn a_graph_is_seen_as_deepgnn_holds_it() {
    use isomorph_zoo::{Build, Edges, Nodes, int64, text};
    let mut build = Build::default();
    let person = build.nodes(Nodes::keyed("person", text(["ann", "bob"])).column("age", int64([30, 40])));
    build.edges(Edges::rows(person, "knows", person, [(0, 1), (1, 1)]).undirected());
    let graph = std::sync::Arc::new(build.finish());
    let location = Location::from_path(Path::new("/memory"));
    let opened = Opened {
        location,
        format: Format::GRAPHAR,
        native: graph.clone(),
        sidecar: None,
        graph,
        options: OpenOptions::default(),
        is_part: false,
    };
    let home = tempfile::tempdir().unwrap();
    let own = Resources { scratch: isomorph_storage::Scratch::new(Some(home.path())).unwrap(), ..resources() };
    let seen = opened.seen_as(Format::DEEPGNN, &own, &Silent).unwrap();
    let mut out = Vec::new();
    dump(seen.as_ref(), &mut out, &resources(), &Silent).unwrap();
    let lines: Vec<String> = String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
    has(&lines, &[r#""key":0"#, r#""0":[30]"#, r#""1":"ann""#]);
    has(&lines, &[r#""ends":[0,1]"#]);
    has(&lines, &[r#""ends":[1,0]"#]);
    // The output is the same graph, without the view.
    let binary = home.path().join("binary");
    write(&opened, Format::DEEPGNN, &binary, &ConvertOptions::default()).unwrap();
    let native = open(&binary, &OpenOptions::default()).native;
    let of = |source: &dyn isomorph_model::Source| digest(source, &resources(), &Silent).unwrap().digests;
    assert_eq!(of(native.as_ref()), of(seen.as_ref()));
    drop(seen);
    assert!(std::fs::read_dir(home.path()).unwrap().all(|entry| entry.unwrap().file_name() == "binary"));
}

fn types_from(property: &str) -> NodeTypes {
    NodeTypes::of(TypesFrom::Property(property.to_owned()))
}

/// Nodes with separate types: an ordinary graph of several types, and the same graph again.
#[test]
fn nodes_are_given_types_of_their_own() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.linear");
    std::fs::write(&path, LINEAR).unwrap();
    let source = open(&path, &OpenOptions::default());
    let expected = digests(&source);
    let names = [("0", "person"), ("7", "nobody")].map(|(value, name)| (value.to_owned(), name.to_owned())).to_vec();
    let node_types = Some(NodeTypes { names, ..types_from("type") });
    let options = ConvertOptions { node_types, ..ConvertOptions::default() };
    for (to, name) in OTHERS {
        let there = home.path().join(name);
        let done = write(&source, to, &there, &options).unwrap_or_else(|error| panic!("{to}: {error:?}"));
        assert_eq!((done.source, done.result), (Some(expected), Some(expected)), "{to}");
        let back = open(&there, &OpenOptions::default());
        assert_eq!(digests(&back), expected, "{to}");
        let text = home.path().join(format!("{name}.linear"));
        let mut options = ConvertOptions::default();
        options.write.get_mut::<isomorph_deepgnn::WriteOptions>().text = Some(isomorph_deepgnn::TextFormat::Linear);
        assert_eq!(write(&back, Format::DEEPGNN, &text, &options).unwrap().result, Some(expected), "{to}");
    }
    let there =
        open(&home.path().join("g.graphar"), &OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() });
    let graph = there.graph.graph();
    // Type 0 has a name, 1 is named by its number, 99 has no line and so no type.
    let nodes: Vec<(&str, Option<u64>)> = graph.nodes.iter().map(|ty| (ty.name.as_str(), ty.rows)).collect();
    assert_eq!(nodes, [("person", Some(2)), ("1", Some(1)), ("node", Some(1))]);
    let mut edges: Vec<(String, String, String)> = graph.edges.iter().map(|ty| graph.edge_name(ty)).collect();
    edges.sort();
    let of = |from: &str, relation: &str, to: &str| (from.to_owned(), relation.to_owned(), to.to_owned());
    let known =
        [of("1", "2", "person"), of("person", "0", "1"), of("person", "10", "person"), of("person", "2", "node")];
    assert_eq!(edges, known);
    assert!(graph.nodes.iter().flat_map(|ty| &ty.properties).all(|property| property.name != "type"));
    // A graph without such a property, or without a change of format, is refused.
    let other = ConvertOptions { node_types: Some(types_from("age")), ..ConvertOptions::default() };
    for (to, how) in [(Format::GRAPHAR, &other), (Format::DEEPGNN, &options)] {
        let mut how = how.clone();
        how.write.get_mut::<isomorph_deepgnn::WriteOptions>().text = Some(isomorph_deepgnn::TextFormat::Json);
        let error = write(&source, to, &home.path().join("refused"), &how).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), isomorph_error::Kind::Usage, "{to}: {error:?}");
    }
}

/// The ids take more than the memory: they are sorted and looked up in temporary files.
#[test]
fn many_nodes_are_given_types_in_little_memory() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.linear");
    const NODES: u64 = 300_000;
    // Ids are spread, and not in order.
    let id = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8;
    let lines: String = (0..NODES)
        .map(|n| format!("-1 {} {} 1 {} {} {} 1\n", id(n), n % 5, id(n), id((n * 7 + 1) % NODES), n % 2))
        .collect();
    std::fs::write(&path, lines).unwrap();
    let budget = isomorph_storage::Budget::new(8 << 20);
    let own = Resources { budget, scratch: isomorph_storage::Scratch::new(Some(home.path())).unwrap(), ..resources() };
    let source = open(&path, &OpenOptions::default());
    let there = home.path().join("g.graphar");
    let node_types = Some(types_from("type"));
    let options = ConvertOptions { to: Some(Format::GRAPHAR), node_types, ..ConvertOptions::default() };
    let destination = Location::from_path(&there);
    let plan = Plan::new(&source, &destination, &options, &own, &Silent).unwrap();
    let done = convert(&source, &plan, &destination, &options, &own, &Silent).unwrap();
    assert_eq!((done.source, done.nodes, done.edges), (done.result, NODES, NODES));
    assert!(own.scratch.peak() > 10 * NODES, "{}", own.scratch.peak());
    let native = open(&there, &OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() }).graph;
    let rows: Vec<Option<u64>> = native.graph().nodes.iter().map(|ty| ty.rows).collect();
    assert_eq!(rows, [Some(NODES / 5); 5]);
}
