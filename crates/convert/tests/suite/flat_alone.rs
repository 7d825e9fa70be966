//! A table of edges alone is a graph whose nodes are its ends, in every encoding; what is not told by names is none.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray, UInt64Array,
};
use isomorph_convert::{Format, OpenOptions, Opened, Registry, SidecarUse, digest, home_of};
use isomorph_error::{Error, Findings, Kind};
use isomorph_flat::OpenOptions as Opening;
use isomorph_storage::{Budget, Location, Resources, Scratch};
use isomorph_tables::{Encoding, TableWriter, WriteOptions};
use serde_json::{Value, json};

use super::flat_tables::{columns, counts, digests, directory, lines, open, opened, resources, write};

/// Writes a table; the ending of the name says the encoding.
pub(super) fn table(place: &Path, columns: Vec<(&str, ArrayRef)>) {
    let encoding = match place.extension().and_then(|ending| ending.to_str()).unwrap() {
        "parquet" => Encoding::Parquet,
        "arrow" => Encoding::Arrow,
        "orc" => Encoding::Orc,
        "csv" => Encoding::Csv,
        _ => Encoding::JsonLines,
    };
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, own)| (name, own, true)));
    let batch = batch.unwrap();
    let file = std::fs::File::create(place).unwrap();
    let mut writer = TableWriter::create(file, encoding, &batch.schema(), &WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

pub(super) fn integers(all: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(all.to_vec()))
}

pub(super) fn texts(all: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(all.to_vec()))
}

/// The keys of nodes, and the keys of the ends of edges, in their order.
pub(super) fn shown(opened: &Opened) -> (Vec<Value>, Vec<Value>) {
    let all = lines(opened);
    let of = |what: &str, field: &str| {
        all.iter().filter(|line| line.get(what).is_some()).map(|line| line[field].clone()).collect::<Vec<_>>()
    };
    (of("node", "key"), of("edge", "ends"))
}

pub(super) fn findings(path: &Path) -> Vec<(&'static str, Option<u64>)> {
    let options = OpenOptions { unsound: true, ..OpenOptions::default() };
    let opened = Opened::open(&Location::from_path(path), &options).unwrap();
    let mut findings = Findings::keeping(100);
    opened.native.validate(&mut findings).unwrap();
    findings.by_rule().flat_map(|(_, all)| all).map(|one| (one.rule.id, one.place.row)).collect()
}

pub(super) fn lenient(path: &Path) -> Opened {
    let mut options = OpenOptions { unsound: true, ..OpenOptions::default() };
    options.get_mut::<Opening>().lenient = true;
    Opened::open(&Location::from_path(path), &options).unwrap()
}

pub(super) fn refused(path: &Path) -> Error {
    opened(path).map(|_| ()).unwrap_err()
}

#[test]
fn a_table_of_edges_is_the_same_graph_in_every_encoding() {
    let home = tempfile::tempdir().unwrap();
    let mut content = Vec::new();
    for (ending, format) in [
        ("parquet", Format::PARQUET),
        ("orc", Format::PARQUET),
        ("arrow", Format::ARROW),
        ("jsonl", Format::JSON_LINES),
        ("csv", Format::EDGELIST),
    ] {
        let place = home.path().join(format!("knows.{ending}"));
        table(
            &place,
            vec![
                ("note", texts(&["x", "y", "y", "z"])),
                ("source", integers(&[7, 3, 3, 5])),
                ("target", integers(&[3, 9, 9, 5])),
            ],
        );
        let graph = open(&place);
        assert_eq!(graph.format, format, "{ending}");
        content.push(digests(&graph).unwrap().content);
        if format == Format::EDGELIST {
            continue;
        }
        assert_eq!(columns(graph.graph.graph()), ["node(id Int): ", "node edge node: note string"], "{ending}");
        assert_eq!(counts(graph.graph.graph()), (vec![4], vec![4]));
        let (nodes, ends) = shown(&graph);
        assert_eq!(nodes, [7, 3, 9, 5].map(Value::from), "{ending}");
        assert_eq!(ends, [json!([7, 3]), json!([3, 9]), json!([3, 9]), json!([5, 5])], "{ending}");
        let told = graph.format.recognised(graph.native.as_ref());
        assert!(told.iter().any(|(_, fact)| fact.starts_with("edges from source to target, by the names")), "{told:?}");
        // Parallel edges stay, and other formats and back lose nothing.
        let out = tempfile::tempdir().unwrap();
        for to in [Format::GRAPHAR, Format::NOCK, Format::CSV, Format::EDGELIST] {
            let place = out.path().join(to.suggested_name("out", &Default::default()));
            write(&graph, to, &place);
            assert_eq!(digests(&open(&place)).unwrap(), digests(&graph).unwrap(), "{ending} {to}");
        }
        assert!(findings(&place).is_empty());
    }
    // The name of a key is no content of an edge list.
    assert!(content[..4].windows(2).all(|pair| pair[0] == pair[1]), "{content:?}");
}

#[test]
fn packed_lines_and_folders_are_read() {
    use std::io::Write;
    let home = tempfile::tempdir().unwrap();
    let text = "{\"from\":\"a\",\"to\":\"b\",\"w\":1}\n{\"from\":\"b\",\"to\":\"c\"}\n";
    let place = home.path().join("edges.jsonl.gz");
    let mut out = flate2::write::GzEncoder::new(std::fs::File::create(&place).unwrap(), flate2::Compression::default());
    out.write_all(text.as_bytes()).unwrap();
    out.finish().unwrap();
    let packed = open(&place);
    let folder = directory(&[("knows.jsonl", text), ("README.txt", "about")]);
    let whole = open(folder.path());
    assert_eq!((packed.format, whole.format), (Format::JSON_LINES, Format::JSON_LINES));
    assert_eq!(digests(&packed).unwrap(), digests(&whole).unwrap());
    assert_eq!(shown(&whole).0, ["a", "b", "c"].map(Value::from));
    // Whatever the names of its files.
    for names in [&["edges.jsonl"][..], &["edges.ndjson"], &["part-0.jsonl", "part-1.jsonl"]] {
        let lines: Vec<&str> = if names.len() == 1 { vec![text] } else { text.split_inclusive('\n').collect() };
        let own = directory(&names.iter().copied().zip(lines).collect::<Vec<_>>());
        let outer = tempfile::tempdir().unwrap();
        std::fs::create_dir(outer.path().join("edges")).unwrap();
        for name in names {
            std::fs::copy(own.path().join(name), outer.path().join("edges").join(name)).unwrap();
        }
        for place in [own.path(), outer.path()] {
            let found = open(place);
            assert_eq!(found.format, Format::JSON_LINES, "{names:?}");
            assert_eq!(digests(&found).unwrap(), digests(&whole).unwrap(), "{names:?}");
        }
    }
    std::fs::create_dir(home.path().join("packed")).unwrap();
    std::fs::copy(&place, home.path().join("packed/edges.jsonl.gz")).unwrap();
    assert_eq!(digests(&open(&home.path().join("packed"))).unwrap(), digests(&whole).unwrap());
    // Another graph beside it: then the folder is none.
    std::fs::write(folder.path().join("other.graphml"), "<graphml><graph/></graphml>").unwrap();
    let error = refused(folder.path());
    assert!(error.message().contains("it holds 2 graphs"), "{error:?}");
    // A folder with one edge list in CSV names it.
    let folder = directory(&[("edges.csv", "source,target\n1,2\n")]);
    let error = refused(folder.path());
    assert!(error.hints().any(|hint| hint.contains("edges.csv")), "{error:?}");
    // Parts of one table, in a directory of their own or beside nothing else.
    let home = tempfile::tempdir().unwrap();
    let parts = home.path().join("knows.parquet");
    std::fs::create_dir(&parts).unwrap();
    for (name, ends) in [("part-0000.parquet", [1, 2]), ("part-0001.parquet", [3, 1])] {
        table(&parts.join(name), vec![("src", integers(&ends[..1])), ("dst", integers(&ends[1..]))]);
    }
    std::fs::write(parts.join("_SUCCESS"), "").unwrap();
    for place in [parts.as_path(), home.path()] {
        let graph = open(place);
        assert_eq!(shown(&graph).0, [1, 2, 3].map(Value::from), "{}", place.display());
        assert_eq!(counts(graph.graph.graph()).1, [2]);
    }
    // Columns in another order are the same; one that is missing is named.
    let second = parts.join("part-0001.parquet");
    table(&second, vec![("dst", integers(&[1])), ("src", integers(&[3]))]);
    assert_eq!(shown(&open(&parts)).0, [1, 2, 3].map(Value::from));
    table(&second, vec![("src", integers(&[3]))]);
    for place in [parts.as_path(), home.path()] {
        let error = refused(place);
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("FLAT-PARTS"), "{error:?}");
        assert!(error.to_string().contains("dst") && error.place().to_string().contains("part-0001"), "{error:?}");
    }
    table(&second, vec![("src", integers(&[3])), ("dst", integers(&[1]))]);
    // Spark calls its parts so in every encoding, and some may be empty.
    for (ending, header, rows) in [
        ("csv", "src,dst\n", ["", "1,2\n", "3,1\n"]),
        ("json", "", ["", "{\"src\":1,\"dst\":2}\n", "{\"src\":3,\"dst\":1}\n"]),
    ] {
        let outer = tempfile::tempdir().unwrap();
        let own = outer.path().join("knows");
        std::fs::create_dir(&own).unwrap();
        for (at, rows) in rows.iter().enumerate() {
            let text = if rows.is_empty() { String::new() } else { format!("{header}{rows}") };
            std::fs::write(own.join(format!("part-0000{at}-c000.{ending}")), text).unwrap();
        }
        std::fs::write(own.join("_SUCCESS"), "").unwrap();
        std::fs::write(own.join(format!(".part-00000-c000.{ending}.crc")), "x").unwrap();
        for place in [own.as_path(), outer.path()] {
            let graph = open(place);
            let expected = if ending == "csv" { Format::CSV } else { Format::JSON_LINES };
            assert_eq!(graph.format, expected);
            assert_eq!(
                shown(&graph),
                (vec![json!(1), json!(2), json!(3)], vec![json!([1, 2]), json!([3, 1])]),
                "{ending}"
            );
        }
        let names: Vec<_> = std::fs::read_dir(&own).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        // One that stands alone, and one beside another graph.
        for at in 0..2 {
            std::fs::remove_file(own.join(format!("part-0000{at}-c000.{ending}"))).unwrap();
        }
        assert_eq!(shown(&open(&own)).1, [json!([3, 1])], "{names:?}");
        std::fs::write(own.join("other.graphml"), "<graphml><graph/></graphml>").unwrap();
        let error = refused(&own);
        assert!(error.message().contains("it holds 2 graphs"), "{error:?}");
    }
    // Two tables that are no parts are two graphs.
    std::fs::rename(parts.join("part-0001.parquet"), parts.join("likes.parquet")).unwrap();
    let apart = home.path().join("apart");
    std::fs::rename(&parts, &apart).unwrap();
    assert!(refused(&apart).message().contains("it holds 2 graphs"));
}

#[test]
fn ends_of_two_types_are_keys_of_one() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("edges.parquet");
    let small: ArrayRef = Arc::new(Int8Array::from(vec![1, -2]));
    let wide: ArrayRef = Arc::new(Int32Array::from(vec![70_000, 1]));
    table(&place, vec![("source", small), ("target", wide)]);
    let graph = open(&place);
    assert_eq!(shown(&graph), (vec![json!(1), json!(70_000), json!(-2)], vec![json!([1, 70_000]), json!([-2, 1])]));
    let out = home.path().join("out.graphar");
    write(&graph, Format::GRAPHAR, &out);
    assert_eq!(digests(&open(&out)).unwrap(), digests(&graph).unwrap());
    // An integer and its digits are one node, as in an edge list; so are integers that no type has.
    for (ends, nodes) in [
        ((integers(&[1, 2]), texts(&["a", "1"])), ["1", "a", "2"].as_slice()),
        (
            (Arc::new(UInt64Array::from(vec![u64::MAX])) as ArrayRef, integers(&[-1])),
            ["18446744073709551615", "-1"].as_slice(),
        ),
    ] {
        table(&place, vec![("source", ends.0), ("target", ends.1)]);
        assert_eq!(shown(&open(&place)).0, nodes.iter().map(|key| json!(key)).collect::<Vec<_>>());
    }
    let largest: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, 0]));
    table(&place, vec![("source", Arc::clone(&largest)), ("target", largest)]);
    assert_eq!(shown(&open(&place)).0, [json!(u64::MAX), json!(0)]);
    // Lines of JSON have the same.
    let lines = directory(&[("edges.jsonl", "{\"source\":1,\"target\":\"1\"}\n{\"source\":2,\"target\":\"x\"}\n")]);
    assert_eq!(shown(&open(&lines.path().join("edges.jsonl"))).0, ["1", "2", "x"].map(Value::from));
    for odd in [
        Arc::new(Float64Array::from(vec![1.0, 2.5])) as ArrayRef,
        Arc::new(BooleanArray::from(vec![true, false])) as ArrayRef,
    ] {
        table(&place, vec![("source", odd), ("target", integers(&[1, 2]))]);
        let error = refused(&place);
        assert!(error.message().contains("keys are integers or text, and source"), "{error:?}");
    }
}

#[test]
fn an_edge_without_an_end_is_named_and_set_aside() {
    let home = tempfile::tempdir().unwrap();
    for ending in ["parquet", "jsonl"] {
        let place = home.path().join(format!("edges.{ending}"));
        let sources: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("c"), Some("d")]));
        let targets: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), Some("x"), None, Some("a")]));
        table(&place, vec![("source", sources), ("target", targets)]);
        let error = refused(&place);
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("FLAT-END"), "{error:?}");
        assert_eq!((error.place().row, error.place().field.as_deref()), (Some(1), Some("source")));
        assert!(error.place().file.as_deref().is_some_and(|file| file.ends_with(&format!("edges.{ending}"))));
        assert_eq!(findings(&place), [("FLAT-END", Some(1)), ("FLAT-END", Some(2))]);
        // Rows that are set aside give no node.
        let rest = lenient(&place);
        assert_eq!(shown(&rest).0, ["a", "b", "d"].map(Value::from), "{ending}");
        assert_eq!(counts(rest.graph.graph()), (vec![3], vec![2]));
        assert_eq!(rest.format.set_aside(rest.native.as_ref()).len(), 2);
    }
}

#[test]
fn names_that_tell_nothing_are_no_graph() {
    let home = tempfile::tempdir().unwrap();
    for ending in ["parquet", "arrow", "orc", "jsonl"] {
        let place = home.path().join(format!("measures.{ending}"));
        table(&place, vec![("day", texts(&["a"])), ("value", integers(&[1]))]);
        let error = refused(&place);
        assert!(error.message().contains("day, value"), "{ending}: {error:?}");
        assert!(error.hints().any(|hint| hint.contains("isomorph import init")), "{ending}: {error:?}");
        assert!(Registry::standard().at(&Location::from_path(home.path())).is_err());
        // Several pairs, or half of one.
        for names in [vec!["source", "target", "from", "to"], vec!["source", "weight"], vec!["start", "end"]] {
            let first = names[0];
            table(&place, names.iter().map(|name| (*name, texts(&["a"]))).collect());
            let error = refused(&place);
            assert!(matches!(error.kind(), Kind::Usage | Kind::Unsupported), "{ending}: {error:?}");
            assert!(error.message().contains(first), "{ending}: {error:?}");
            assert!(error.hints().all(|hint| !hint.contains("part of") && !hint.contains("edgelist")), "{error:?}");
        }
    }
    // What is NOCK stays NOCK, also when a column is missing.
    let place = home.path().join("nodes.parquet");
    table(&place, vec![("src_name", texts(&["a"])), ("dst_name", texts(&["b"]))]);
    assert_eq!(refused(&place).broken_rule().map(|rule| rule.id), Some("NOCK-FILE-COLUMNS"));
    let names = ["src_name", "edge_id", "dst_name"].map(|name| (name, texts(&["a"])));
    table(&place, names.into_iter().chain([("source", texts(&["a"])), ("target", texts(&["b"]))]).collect());
    assert_eq!(Registry::standard().at(&Location::from_path(&place)).unwrap(), Format::NOCK);
}

/// Its sidecar is beside the file: that of the directory belongs to a neighbour.
#[test]
fn the_sidecar_is_beside_the_file() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("edges.parquet");
    table(&place, vec![("source", integers(&[1])), ("target", integers(&[2]))]);
    let before = digests(&open(&place)).unwrap();
    let location = Location::from_path(&place);
    for format in [Format::PARQUET, Format::JSON_LINES] {
        assert_eq!(home_of(&location, format), (location.clone(), false));
    }
    let mapping = Location::from_path(&home.path().join("graph.pgq"));
    assert_eq!(home_of(&mapping, Format::PARQUET), (Location::from_path(home.path()), true));
    // A sidecar of the directory, which is damaged, is not looked at.
    std::fs::create_dir(home.path().join("_isomorph")).unwrap();
    std::fs::write(home.path().join("_isomorph/carry.json"), "{").unwrap();
    assert_eq!(digests(&open(&place)).unwrap(), before);
    let options = OpenOptions { from: Some(Format::PARQUET), ..OpenOptions::default() };
    assert_eq!(digests(&Opened::open(&location, &options).unwrap()).unwrap(), before);
    let ignored = OpenOptions { sidecar: SidecarUse::Ignore, ..options };
    assert_eq!(digests(&Opened::open(&location, &ignored).unwrap()).unwrap(), before);
}

#[test]
fn a_mapping_file_says_the_same_and_can_say_more() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("edges.parquet");
    let (users, items) = (texts(&["u", "v", "u"]), integers(&[5, 5, 6]));
    table(
        &place,
        vec![("weight", integers(&[1, 2, 3])), ("from", Arc::clone(&users)), ("to", texts(&["v", "w", "v"]))],
    );
    let alone = digests(&open(&place)).unwrap();
    let mapping = isomorph_flat::mapping_of(&Location::from_path(&place)).unwrap();
    assert!(mapping.contains("'isomorph.ends' '[\"from\",\"to\"]'"), "{mapping}");
    std::fs::write(home.path().join("graph.pgq"), &mapping).unwrap();
    assert_eq!(digests(&open(home.path())).unwrap(), alone, "{mapping}");
    // Nodes of two types, each the values of one column.
    table(&place, vec![("user", users), ("item", items)]);
    let two = "CREATE EXTERNAL TABLE users (name VARCHAR) STORED AS PARQUET LOCATION 'edges.parquet' OPTIONS ('isomorph.ends' '[\"user\"]');
CREATE EXTERNAL TABLE items STORED AS PARQUET LOCATION 'edges.parquet' OPTIONS ('isomorph.ends' '[\"item\"]');
CREATE EXTERNAL TABLE likes STORED AS PARQUET LOCATION 'edges.parquet';
CREATE PROPERTY GRAPH g VERTEX TABLES (users KEY (name) LABEL \"user\", items KEY (id) LABEL item)
EDGE TABLES (likes SOURCE KEY (\"user\") REFERENCES users (name) DESTINATION KEY (item) REFERENCES items (id) LABEL likes);
";
    std::fs::write(home.path().join("graph.pgq"), two).unwrap();
    let graph = open(home.path());
    assert_eq!(columns(graph.graph.graph()), ["user(name Utf8): ", "item(id Int): ", "user likes item: "]);
    assert_eq!(
        shown(&graph),
        (vec![json!("u"), json!("v"), json!(5), json!(6)], vec![json!(["u", 5]), json!(["v", 5]), json!(["u", 6])])
    );
    // What cannot be.
    for (from, to, words) in [
        ("[\"item\"]", "[\"items\"]", "has no column items"),
        ("items STORED", "items (id BIGINT, x BIGINT) STORED", "it has one column, the key"),
        ("users (name VARCHAR)", "users (name BIGINT)", "declared as int64"),
        ("'edges.parquet';", "'other.parquet';", "no table of edges is declared with the location edges.parquet"),
        ("'[\"item\"]'", "'item'", "cannot be \"item\""),
    ] {
        std::fs::write(home.path().join("graph.pgq"), two.replace(from, to)).unwrap();
        let error = refused(home.path());
        assert!(error.message().contains(words), "{words}: {error:?}");
    }
    // Names that tell nothing: the first two columns, to be corrected.
    let place = home.path().join("b.csv");
    std::fs::write(&place, "weight,x,y\n1,a,b\n2,b,c\n").unwrap();
    let drafted = isomorph_flat::mapping_of(&Location::from_path(&place)).unwrap();
    assert!(drafted.contains("to be checked") && drafted.contains("SOURCE KEY (x)"), "{drafted}");
    std::fs::write(home.path().join("graph.pgq"), &drafted).unwrap();
    assert_eq!(shown(&open(home.path())).0, ["a", "b", "c"].map(Value::from));
}

/// More nodes than the memory holds are put into temporary files, in the same order.
#[test]
fn many_ends_are_spilled() {
    const EDGES: i64 = 300_000;
    let home = tempfile::tempdir().unwrap();
    for (ending, as_text) in [("parquet", false), ("arrow", true)] {
        let place = home.path().join(format!("edges.{ending}"));
        // Each node is twice an end, far apart.
        let of = |edge: i64| (edge * 7_919) % EDGES;
        let ends = |shift: i64| -> ArrayRef {
            match as_text {
                true => {
                    Arc::new(StringArray::from_iter_values((0..EDGES).map(|edge| format!("n{}", of(edge + shift)))))
                }
                false => Arc::new(Int64Array::from_iter_values((0..EDGES).map(|edge| of(edge + shift)))),
            }
        };
        table(&place, vec![("source", ends(0)), ("target", ends(EDGES / 2))]);
        let roomy = open(&place);
        assert_eq!(counts(roomy.graph.graph()), (vec![EDGES as u64], vec![EDGES as u64]));
        let (expected, first) = (digests(&roomy).unwrap(), shown(&roomy).0);
        assert_eq!(first.len() as i64, EDGES);
        let scratch = Scratch::new(None).unwrap();
        let tight = Resources { threads: 2, budget: Budget::new(6 << 20), scratch: scratch.clone() };
        let options = OpenOptions { resources: Some(tight.clone()), ..OpenOptions::default() };
        let graph = Opened::open(&Location::from_path(&place), &options).unwrap();
        assert!(tight.budget.peak() <= tight.budget.limit());
        assert!(scratch.peak() > 3_000_000, "{}", scratch.peak());
        assert_eq!(shown(&graph).0, first);
        let found = digest(graph.graph.as_ref(), &resources(), &isomorph_convert::Silent).unwrap();
        assert_eq!(found.digests, expected);
    }
}
