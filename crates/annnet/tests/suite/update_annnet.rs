//! Graphs are changed in place: existing data stays, new data is added, and there is no state in between.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::path::Path;
use std::sync::Arc;

use arrow_array::ArrayRef;
use common::build::{Files, booleans, floats, integers, lists, text};
use common::changes::{Random, bytes, change, is_sound, options, table, view};
use common::{copy, fixtures, open};
use isomorph_annnet::update::{AttributeTable, Changes, update};
use isomorph_annnet::{WriteLayout, WriteOptions};
use isomorph_error::{Error, Kind};
use isomorph_model::MemoryGraph;
use isomorph_storage::Location;
use isomorph_storage::fault::{Fault, FaultDisk, RealDisk};
use isomorph_tables::Compression;
use serde_json::{Value, json};

/// Vertices and edges of every kind for [`Files::small`].
fn additions() -> Changes {
    let vertices = table(vec![
        ("id", text(["c", "1"])),
        ("n", integers([Some(7), None])),
        ("slices", lists(&[Some(&["s"]), None])),
    ]);
    let edges = table(vec![
        ("id", text(["f", "g", "hd", "hu", "p"])),
        ("source", text([Some("a"), Some("c"), None, None, None])),
        ("target", text([Some("c"), Some("f"), None, None, None])),
        ("head", lists(&[None, None, Some(&["a", "1"]), None, None])),
        ("tail", lists(&[None, None, Some(&["b"]), None, None])),
        ("members", lists(&[None, None, None, Some(&["a", "b", "c"]), None])),
        ("weight", floats([Some(0.25), None, Some(2.0), None, None])),
        ("directed", booleans([Some(false), None, None, None, None])),
        ("entity", booleans([Some(true), None, None, None, Some(true)])),
        ("source_coefficient", floats([None, Some(-2.0), None, None, None])),
        ("target_coefficient", floats([None, Some(3.0), None, None, None])),
        ("slices", lists(&[Some(&["s"]), None, None, None, None])),
        ("slice_weights", text([Some("[9.5]"), None, None, None, None])),
        ("x", text([Some("y"), None, Some("z"), None, None])),
    ]);
    Changes { vertices: vec![vertices], edges: vec![edges], ..Changes::default() }
}

#[test]
fn vertices_and_edges_of_every_kind_are_added() {
    let folder = tempfile::tempdir().unwrap();
    Files::small().write(folder.path());
    let before = view(folder.path());
    let done = change(folder.path(), &additions()).unwrap();
    assert_eq!((done.vertices, done.edges, done.graph_version, done.whole), (2, 5, 4, false));
    is_sound(folder.path());
    let after = view(folder.path());
    for (id, edge) in before["edges"].as_object().unwrap() {
        assert_eq!(after["edges"][id], *edge, "{id}");
    }
    let ids: Vec<&str> = after["edges"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(ids, ["e", "f", "g", "h", "hd", "hu", "p"]);
    let placed: Vec<&Value> = after["entities"].as_array().unwrap().iter().map(|entity| &entity[0]).collect();
    assert_eq!(placed, ["a", "b", "c", "1", "f", "p"]);
    assert_eq!(after["node_attributes"]["c"], json!({"n": 7}));
    assert_eq!(after["edge_attributes"]["hd"], json!({"x": "z"}));
    assert_eq!(after["edges"]["f"]["weight"], json!(0.25));
    assert_eq!(after["edges"]["f"]["directed"], json!(false));
    assert_eq!(after["edges"]["g"]["directed"], json!(true), "the direction of the graph");
    assert_eq!(after["edges"]["hd"]["source"], json!(["1", "a"]), "the head is the source side");
    assert_eq!(after["slices"]["s"]["nodes"], json!(["a", "c"]));
    assert_eq!(after["slices"]["s"]["edges"], json!(["e", "f"]));
    assert_eq!(after["slices"]["default"]["edges"].as_array().unwrap().len(), 7);
    assert_ne!(after["edges"]["g"]["coefficients"], before["edges"]["e"]["coefficients"]);
}

#[test]
fn a_graph_with_layers_gets_vertices_and_further_places() {
    let folder = tempfile::tempdir().unwrap();
    Files::layered().write(folder.path());
    let vertices =
        table(vec![("id", text(["c", "c", "a"])), ("layer", lists(&[Some(&["t0"]), Some(&["t1"]), Some(&["t1"])]))]);
    let edges = table(vec![
        ("id", text(["f", "k"])),
        ("source", text([Some("c"), None])),
        ("target", text([Some("b"), None])),
        ("source_layer", lists(&[Some(&["t0"]), Some(&["t1"])])),
        ("members", lists(&[None, Some(&["a", "b"])])),
    ]);
    change(folder.path(), &Changes { vertices: vec![vertices], edges: vec![edges], ..Changes::default() }).unwrap();
    is_sound(folder.path());
    let after = view(folder.path());
    let placed: Vec<(&Value, &Value)> =
        after["entities"].as_array().unwrap().iter().map(|entity| (&entity[0], &entity[1])).collect();
    assert!(placed.contains(&(&json!("a"), &json!(["t1"]))) && placed.contains(&(&json!("c"), &json!(["t1"]))));
    assert_eq!(after["edges"]["f"]["target"], json!([["b", ["t1"]]]), "the only place of b");
    assert_eq!(after["edges"]["k"]["source"], json!([["a", ["t1"]], ["b", ["t1"]]]));
}

/// Null would mean undirected for an edge that is an entity: a new edge states the direction of the graph.
#[test]
fn an_entity_with_ends_has_the_direction_of_the_graph() {
    for directed in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Files::small();
        let manifest = format!(
            r#"{{"graph_version": 3, "directed": {directed}, "active_slice": "s", "default_slice": "default"}}"#
        );
        files.put("manifest.json", manifest);
        files.write(folder.path());
        let edges = table(vec![
            ("id", text(["f", "g", "p"])),
            ("source", text([Some("a"), Some("a"), None])),
            ("target", text([Some("b"), Some("b"), None])),
            ("entity", booleans([true, true, true])),
            ("directed", booleans([None, Some(!directed), None])),
        ]);
        change(folder.path(), &Changes { edges: vec![edges], ..Changes::default() }).unwrap();
        let edges = view(folder.path())["edges"].clone();
        let found = ["f", "g", "p"].map(|id| edges[id]["directed"].clone());
        assert_eq!(found, [json!(directed), json!(!directed), json!(false)], "{directed}");
    }
}

/// If a graph has hyperedges of one kind only, the columns of the other kind contain nulls without a type, possibly
/// within lists.
#[test]
fn the_first_hyperedge_of_the_other_kind_gives_its_columns_their_type() {
    let untyped = |rows: usize| -> [ArrayRef; 2] {
        let field = Arc::new(arrow_schema::Field::new_list_field(arrow_schema::DataType::Null, true));
        let lists = arrow_array::new_null_array(&arrow_schema::DataType::List(field), rows);
        [arrow_array::new_null_array(&arrow_schema::DataType::Null, rows), lists]
    };
    for nulls in untyped(1) {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Files::small();
        files.column("structure/hyperedge_definitions.parquet", "head", Arc::clone(&nulls));
        files.column("structure/hyperedge_definitions.parquet", "tail", nulls);
        files.write(folder.path());
        let before = view(folder.path())["edges"]["h"].clone();
        let edges = table(vec![("id", text(["n"])), ("head", text(["a"])), ("tail", text(["b"]))]);
        change(folder.path(), &Changes { edges: vec![edges], ..Changes::default() }).unwrap();
        is_sound(folder.path());
        let after = view(folder.path())["edges"].clone();
        assert_eq!(after["h"], before);
        assert_eq!((&after["n"]["source"], &after["n"]["target"]), (&json!(["a"]), &json!(["b"])));
    }
}

/// `count` vertices and three times as many edges, numbered from `start`, between all vertices below `start + count`.
fn random(random: &mut Random, start: u64, count: u64) -> Changes {
    let ids: Vec<String> = (start..start + count).map(|at| format!("v{at}")).collect();
    let vertices = table(vec![
        ("id", text(ids.iter().map(String::as_str))),
        ("n", integers((start..start + count).map(|at| at as i64))),
    ]);
    let mut some = || format!("v{}", random.below(start + count));
    let edges = 3 * count as usize;
    let ids: Vec<String> = (0..edges).map(|at| format!("e{start}-{at}")).collect();
    let (mut ends, mut members) = ((Vec::new(), Vec::new()), Vec::new());
    for at in 0..edges {
        let hyper = at % 7 == 3;
        ends.0.push((!hyper).then(&mut some));
        ends.1.push((!hyper).then(&mut some));
        members.push(hyper.then(|| (0..4).map(|_| some()).collect::<std::collections::BTreeSet<_>>()));
    }
    let members: Vec<Option<String>> =
        members.iter().map(|own| own.as_ref().map(|own| own.iter().cloned().collect::<Vec<_>>().join("|"))).collect();
    let weights: Vec<f64> = (0..edges).map(|at| at as f64 * 0.37 + start as f64).collect();
    let edges = table(vec![
        ("id", text(ids.iter().map(String::as_str))),
        ("source", text(ends.0.iter().map(Option::as_deref))),
        ("target", text(ends.1.iter().map(Option::as_deref))),
        ("members", text(members.iter().map(Option::as_deref))),
        ("weight", floats(weights)),
        ("x", text(ids.iter().map(|id| (id.len() % 2 == 0).then_some(id.as_str())))),
        ("slices", text(ids.iter().map(|id| id.ends_with('1').then_some("s")))),
    ]);
    Changes { vertices: vec![vertices], edges: vec![edges], ..Changes::default() }
}

/// A graph whose tables are large enough to grow by additional files.
fn large(path: &Path, seed: u64, vertices: u64) {
    Files::small().write(path);
    change(path, &random(&mut Random(seed), 0, vertices)).unwrap();
}

fn without_version(mut value: Value) -> Value {
    value.as_object_mut().unwrap().remove("graph_version");
    value
}

fn both(mut one: Changes, other: Changes) -> Changes {
    one.vertices.extend(other.vertices);
    one.edges.extend(other.edges);
    one
}

#[test]
fn adding_in_steps_is_adding_at_once() {
    for seed in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let (steps, once) = (folder.path().join("steps"), folder.path().join("once"));
        large(&steps, seed, 3000);
        copy(&steps, &once);
        let mut numbers = Random(seed);
        let (mut start, mut all) = (3000, Changes::default());
        for _ in 0..4 {
            let count = 1 + numbers.below(200);
            let own = random(&mut Random(seed ^ start), start, count);
            change(&steps, &own).unwrap();
            all = both(all, own);
            start += count;
        }
        change(&once, &all).unwrap();
        assert!(steps.join("structure/edges.parquet").is_dir(), "the table has grown by files");
        is_sound(&steps);
        assert!(without_version(view(&steps)) == without_version(view(&once)), "seed {seed}");
        let digests = [&steps, &once].map(|path| {
            let mut memory = MemoryGraph::read(&open(path).unwrap()).unwrap();
            memory.graph.documents.retain(|document| document.name != "graph_version");
            memory.digest().unwrap()
        });
        assert_eq!(digests[0], digests[1], "seed {seed}");
    }
}

#[test]
fn only_what_is_new_is_written() {
    let folder = tempfile::tempdir().unwrap();
    large(folder.path(), 1, 3000);
    let before = bytes(folder.path());
    let done = change(folder.path(), &random(&mut Random(9), 3000, 20)).unwrap();
    let after = bytes(folder.path());
    let moved = |name: &str| format!("{name}/part-000000.parquet");
    let mut grown = 0;
    for (name, old) in &before {
        if let Some(first) = after.get(&moved(name)) {
            assert!(first == old, "{name}");
            grown += 1;
        }
    }
    assert!(grown >= 1, "{:?}", after.keys());
    let new: u64 = after
        .iter()
        .filter(|(name, own)| before.get(*name) != Some(own) && !name.ends_with("part-000000.parquet"))
        .map(|(_, own)| own.len() as u64)
        .sum();
    assert_eq!(done.bytes, new);
    assert!(before["slices/registry.parquet"] == after["slices/registry.parquet"], "no slice is new");
    assert_eq!(done.graph_bytes, before.values().map(|own| own.len() as u64).sum::<u64>());
    // A second small step rewrites the small last file, and adds no file.
    let files = after.len();
    change(folder.path(), &random(&mut Random(10), 3020, 20)).unwrap();
    assert_eq!(bytes(folder.path()).len(), files);
    is_sound(folder.path());
}

#[test]
fn what_is_wrong_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    Files::small().write(folder.path());
    let before = bytes(folder.path());
    let vertices =
        |ids: [&'static str; 2]| Changes { vertices: vec![table(vec![("id", text(ids))])], ..Changes::default() };
    let edge = |columns: Vec<(&str, ArrayRef)>| Changes { edges: vec![table(columns)], ..Changes::default() };
    let ends = |id: &'static str, source: &'static str, target: &'static str| {
        vec![("id", text([id])), ("source", text([source])), ("target", text([target]))]
    };
    let with = |name: &'static str, column: ArrayRef| {
        let mut all = ends("f", "a", "b");
        all.push((name, column));
        edge(all)
    };
    let wrong = [
        ("a vertex that is there", vertices(["c", "a"])),
        ("a vertex twice", vertices(["c", "c"])),
        ("no id", Changes { vertices: vec![table(vec![("name", text(["x"]))])], ..Changes::default() }),
        ("an edge that is there", edge(ends("e", "a", "b"))),
        ("an end that is nowhere", edge(ends("f", "a", "nobody"))),
        ("one end only", edge(vec![("id", text(["f"])), ("source", text(["a"])), ("target", text([None]))])),
        ("a slice that is none", with("slices", lists(&[Some(&["t"])]))),
        ("a layer of a flat graph", with("source_layer", lists(&[Some(&["t0"])]))),
        ("weights of too many slices", with("slice_weights", text(["[1, 2]"]))),
        ("an attribute of another type", with("x", floats([1.5]))),
        ("members and ends", with("members", lists(&[Some(&["a"])]))),
        ("an entity that is there", {
            let mut all = ends("a", "a", "b");
            all.push(("entity", booleans([true])));
            edge(all)
        }),
        ("a slice that is the default one", Changes { slice: Some(("default".into(), vec![])), ..Changes::default() }),
        ("a history that is none", Changes { history: Some("[1]".into()), ..Changes::default() }),
        (
            "a table about nobody",
            Changes {
                table: Some((AttributeTable::Nodes, vec![table(vec![("node_id", text(["nobody"]))])])),
                ..Changes::default()
            },
        ),
    ];
    for (what, changes) in wrong {
        assert!(change(folder.path(), &changes).is_err(), "{what}");
        assert!(bytes(folder.path()) == before, "{what}");
    }
}

#[test]
fn one_table_is_replaced_and_the_rest_stays() {
    let folder = tempfile::tempdir().unwrap();
    Files::small().write(folder.path());
    let before = bytes(folder.path());
    let replace = |table_: AttributeTable, columns| {
        change(folder.path(), &Changes { table: Some((table_, vec![table(columns)])), ..Changes::default() }).unwrap()
    };
    replace(AttributeTable::Nodes, vec![("node_id", text(["b"])), ("score", floats([0.5]))]);
    replace(AttributeTable::Edges, vec![("id", text(["h"])), ("kind_of", text(["set"]))]);
    replace(AttributeTable::Slices, vec![("slice_id", text(["default"])), ("colour", text(["blue"]))]);
    replace(
        AttributeTable::EdgeSlices,
        vec![("slice_id", text(["default"])), ("edge_id", text(["h"])), ("note", text(["x"]))],
    );
    let done = change(
        folder.path(),
        &Changes { history: Some(r#"{"op": "mark", "by": {"x": 1}}"#.into()), ..Changes::default() },
    );
    assert_eq!(done.unwrap().graph_version, 8);
    is_sound(folder.path());
    let after = view(folder.path());
    assert_eq!(after["node_attributes"], json!({"a": {}, "b": {"score": 0.5}}));
    assert_eq!(after["edge_attributes"], json!({"e": {}, "h": {"kind_of": "set"}}));
    assert_eq!(after["slices"]["default"]["attributes"], json!({"colour": "blue"}));
    assert_eq!(after["slices"]["s"]["edge_attributes"]["e"], json!({"weight": 2.0}), "its weight stays");
    assert_eq!(after["slices"]["default"]["edge_attributes"]["h"], json!({"note": "x"}));
    let entry = json!({"by": r#"{"x": 1}"#, "op": "mark", "ts_utc": "1970-01-01T00:00:01.500000Z", "version": 8});
    assert_eq!(after["history"], json!([entry]));
    let now = bytes(folder.path());
    for name in ["structure/edges.parquet", "structure/entity_index.parquet", "slices/registry.parquet"] {
        assert!(now[name] == before[name], "{name}");
    }
}

#[test]
fn one_slice_is_added_and_gets_other_members() {
    let folder = tempfile::tempdir().unwrap();
    Files::small().write(folder.path());
    let members = |node: Option<&'static str>, edge: &'static str, weight: f64| {
        let columns = vec![
            ("node", text([node, None])),
            ("edge", text([None, Some(edge)])),
            ("weight", floats([None, Some(weight)])),
        ];
        Changes { slice: Some(("t".into(), vec![table(columns)])), ..Changes::default() }
    };
    change(folder.path(), &members(Some("a"), "e", 4.0)).unwrap();
    let after = view(folder.path());
    assert_eq!(after["slice_order"], json!(["default", "s", "t"]));
    assert_eq!((&after["slices"]["t"]["nodes"], &after["slices"]["t"]["edges"]), (&json!(["a"]), &json!(["e"])));
    assert_eq!(after["slices"]["t"]["edge_attributes"]["e"], json!({"weight": 4.0}));
    change(folder.path(), &members(Some("b"), "h", 5.0)).unwrap();
    let after = view(folder.path());
    assert_eq!((&after["slices"]["t"]["nodes"], &after["slices"]["t"]["edges"]), (&json!(["b"]), &json!(["h"])));
    assert_eq!(after["slices"]["s"]["edges"], json!(["e"]), "the others keep theirs");
    is_sound(folder.path());
}

#[test]
fn an_archive_is_replaced_whole() {
    let fixtures = fixtures();
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("graph.annnet");
    let source = fixtures.join("everything_flat");
    let zip = std::fs::read_dir(&source)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_file() && path.extension().is_some_and(|own| own == "annnet"));
    let zip = zip.unwrap();
    std::fs::copy(zip, &archive).unwrap();
    let before = view(&archive);
    let vertices = table(vec![("id", text(["new"]))]);
    let done = change(&archive, &Changes { vertices: vec![vertices], ..Changes::default() }).unwrap();
    assert!(done.whole && done.files == 1 && done.bytes == std::fs::metadata(&archive).unwrap().len());
    is_sound(&archive);
    let after = view(&archive);
    assert_eq!(after["edges"], before["edges"]);
    assert!(after["entities"].as_array().unwrap().contains(&json!(["new", ["_"], "node"])));
}

/// Runs `work` on a copy of `base` with every fault at each step, or at every `stride`-th step; afterwards the location
/// is as before or as after the change.
fn cut_short(
    (base, place): (&Path, &Path),
    stride: usize,
    work: impl Fn(&Location) -> std::result::Result<(), Error>,
) -> (usize, usize) {
    let run = |fault: Fault| -> (u64, std::result::Result<(), Error>) {
        let _ = std::fs::remove_dir_all(place);
        copy(base, place);
        let disk = FaultDisk::new(Arc::new(RealDisk), fault);
        let location = Location::from_path(place).on_disk(Arc::new(disk.clone()));
        let done = work(&location);
        (disk.steps(), done)
    };
    let old = bytes(base);
    let (steps, done) = run(Fault::None);
    done.unwrap();
    let new = bytes(place);
    let (mut olds, mut news) = (0, 0);
    for step in (0..steps).step_by(stride) {
        let other = match step % 4 {
            0 => Some(Fault::Fail(step, std::io::ErrorKind::PermissionDenied)),
            2 => Some(Fault::FailSyncs(step)),
            _ => None,
        };
        for fault in other.into_iter().chain([Fault::Kill(step)]) {
            let (_, done) = run(fault);
            // Opening completes what was recorded, and compares the checksums.
            open(place).unwrap();
            let now = bytes(place);
            let is_new = now == new;
            assert!(is_new || now == old, "{fault:?}: a mix");
            assert!(is_new || done.is_err(), "{fault:?}: said to be done");
            *if is_new { &mut news } else { &mut olds } += 1;
        }
    }
    run(Fault::None).1.unwrap();
    (olds, news)
}

#[test]
fn whatever_cuts_a_change_short_leaves_the_old_state_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let (base, place) = (folder.path().join("base"), folder.path().join("place"));
    large(&base, 5, 1600);
    let changes = random(&mut Random(6), 1600, 10);
    let (olds, news) = cut_short((&base, &place), 1, |location| update(location, &changes, &options()).map(drop));
    assert!(place.join("structure/edges.parquet").is_dir(), "the table has grown by files");
    assert!(olds > 50 && news > 50, "{olds} old, {news} new");
}

#[test]
fn the_layout_of_the_text_and_views_are_cut_short_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let (base, text, place) = (folder.path().join("base"), folder.path().join("text"), folder.path().join("place"));
    large(&base, 5, 1600);
    let layout =
        WriteOptions { layout: WriteLayout::Specification, compression: Compression::None, ..common::write::options() };
    common::write(&open(&base).unwrap(), &text, &layout, 1 << 12).unwrap();
    let changes = random(&mut Random(6), 1600, 5);
    let (olds, news) = cut_short((&text, &place), 11, |location| update(location, &changes, &options()).map(drop));
    assert!(place.join("structure/edge_definitions.parquet").is_dir(), "the table has grown by files");
    assert!(olds > 10 && news > 10, "{olds} old, {news} new");
    let views = |location: &Location| isomorph_annnet::write_cache(location, &WriteOptions::default()).map(drop);
    let (olds, news) = cut_short((&text, &place), 5, views);
    assert!(olds > 5 && news > 5, "{olds} old, {news} new");
}

#[test]
fn older_layouts_are_refused() {
    let fixtures = fixtures();
    let folder = tempfile::tempdir().unwrap();
    for (at, fixture) in ["v1_0.1.1/flat", "legacy_vertex_words"].into_iter().enumerate() {
        let place = folder.path().join(at.to_string());
        copy(&fixtures.join(fixture).join("graph.annnet.d"), &place);
        let before = bytes(&place);
        let error = change(&place, &Changes { history: Some("{}".into()), ..Changes::default() }).unwrap_err();
        assert_eq!(error.kind(), Kind::Unsupported);
        assert!(bytes(&place) == before);
    }
}
