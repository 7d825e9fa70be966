//! Unusual property graphs in the typed shape: node types, edge types, typed columns.

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::arrays::*;
use super::build::{Build, Edges, Nodes};
use isomorph_model::{Cardinality, MemoryGraph, Property};

/// Property graphs of the types that every typed format has: 32- and 64-bit integers and floats, booleans, text, dates,
/// timestamps in milliseconds, lists of the first five. Each is small, and unusual in one way.
pub fn property_graphs() -> Vec<(&'static str, MemoryGraph)> {
    vec![
        ("empty", MemoryGraph::default()),
        ("empty types", empty_types()),
        ("isolated nodes", isolated()),
        ("social", social()),
        ("scalars", scalars()),
        ("floats", floats()),
        ("texts", texts()),
        ("texts that look like something else", disguised()),
        ("dates", dates_and_times()),
        ("lists", all_lists()),
        ("sets", sets()),
        ("edges with everything", edges_with_everything()),
        ("loops and parallel edges", loops()),
        ("undirected", undirected()),
        ("row keys", row_keys()),
        ("extreme keys", extreme_keys()),
        ("text keys", text_keys()),
        ("several types", several_types()),
        ("labels", all_labels()),
        ("names with meanings", names_with_meanings()),
        ("a few thousand", thousands()),
    ]
}

/// Property graphs whose names or types not every typed format has: they must be mapped, or refused with a reason.
pub fn wide_property_graphs() -> Vec<(&'static str, MemoryGraph)> {
    vec![("wide types", wide_types()), ("awkward names", awkward_names()), ("documents", documents())]
}

/// A property and its cells.
type Column = (Property, ArrayRef);

fn plain(name: &str, cells: ArrayRef) -> Column {
    (Property::new(name, cells.data_type().clone()), cells)
}

/// Three rows of every scalar type: a value, an extreme value, null.
fn scalar_columns() -> Vec<Column> {
    vec![
        plain("flag", bools([Some(true), Some(false), None])),
        plain("small", int32([Some(i32::MIN), Some(i32::MAX), None])),
        plain("big", int64([Some(i64::MIN), Some(i64::MAX), None])),
        plain("single", float32([Some(0.1), Some(f32::MIN_POSITIVE), None])),
        plain("double", float64([Some(0.1), Some(f64::MAX), None])),
        plain("text", text([Some(""), Some("ünï¢ødé 😀"), None])),
        plain("day", dates([Some(0), Some(-1), None])),
        plain("moment", millis([Some(0), Some(-1), None])),
    ]
}

fn list_columns() -> Vec<Column> {
    let lengths = [Some(2), Some(0), None, Some(1)];
    vec![
        plain("int32s", lists(int32([Some(1), None, Some(i32::MIN)]), &lengths)),
        plain("int64s", lists(int64([Some(1), Some(2), Some(i64::MAX)]), &lengths)),
        plain("floats", lists(float32([Some(-0.0), Some(f32::NAN), None]), &lengths)),
        plain("doubles", lists(float64([Some(0.1), None, Some(f64::INFINITY)]), &lengths)),
        plain("texts", lists(text([Some(""), None, Some("null")]), &lengths)),
    ]
}

fn with_columns(nodes: Nodes, columns: Vec<Column>) -> Nodes {
    columns.into_iter().fold(nodes, |nodes, (property, cells)| nodes.property(property, cells))
}

fn one_type(nodes: Nodes) -> MemoryGraph {
    let mut build = Build::default();
    build.nodes(nodes);
    build.finish()
}

fn empty_types() -> MemoryGraph {
    let mut build = Build::default();
    let none = || text(Vec::<&str>::new());
    let a = build.nodes(Nodes::keyed("a", none()).declare(&["Unused"]).column("p", none()));
    let b = build.nodes(Nodes::rows("b", 0));
    build.edges(Edges::rows(a, "rel", b, []).column("w", float64(Vec::<f64>::new())));
    let c = build.nodes(Nodes::keyed("c", int64([1])).column("all null", text([None])));
    build.edges(Edges::rows(c, "none", a, []));
    build.finish()
}

fn isolated() -> MemoryGraph {
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("island", int64([3, 1, 2])).ordered().column("p", int32([1, 1, 1])));
    build.edges(Edges::rows(node, "bridge", node, []));
    build.finish()
}

/// People who know each other: the ordinary case.
pub(super) fn social() -> MemoryGraph {
    let mut build = Build::default();
    let person = build.nodes(
        Nodes::keyed("person", int64([10, 20, 30, 40]))
            .ordered()
            .labels(&[&["Admin", "User"], &["User"], &[], &["User"]])
            .column("name", text([Some("ann"), Some("bob"), Some("ann"), None]))
            .column("age", int32([Some(30), None, Some(0), Some(-1)]))
            .property(Property::new("active", DataType::Boolean).required(), bools([true, false, true, false])),
    );
    let city = build.nodes(Nodes::keyed("city", text(["Berlin", "São Paulo"])).column("people", int64([4, 12])));
    build.edges(
        Edges::rows(person, "knows", person, [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2)])
            .column("since", millis([Some(1_500_000_000_000), None, Some(-1), Some(0), None]))
            .column("strength", float64([Some(0.5), Some(0.25), None, Some(1.0), Some(0.5)])),
    );
    build.edges(Edges::rows(person, "lives_in", city, [(0, 0), (1, 1), (3, 0)]));
    build.finish()
}

fn scalars() -> MemoryGraph {
    one_type(with_columns(Nodes::keyed("thing", int32([1, 2, 3])), scalar_columns()))
}

fn floats() -> MemoryGraph {
    let singles = [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, 1e-45, 0.1, 1.0];
    let doubles =
        [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.1, 1e22];
    one_type(Nodes::keyed("f", int64(0..10)).column("single", float32(singles)).column("double", float64(doubles)))
}

fn texts() -> MemoryGraph {
    let long = "long ".repeat(20_000);
    let all = [
        Some(""),
        None,
        Some(" "),
        Some(" leading and trailing "),
        Some("line\nbreak\r\nand\ttab"),
        Some("quote \" double \"\" single ' comma , semicolon ; backslash \\"),
        Some("nul \0 and \u{1} and \u{7f}"),
        Some("é e\u{301} 😀 👩‍👩‍👧 \u{feff} \u{202e}rtl\u{202c} 漢字"),
        Some(long.as_str()),
    ];
    let keys = int64(0..all.len() as i64);
    one_type(Nodes::keyed("t", keys).column("text", text(all)))
}

fn disguised() -> MemoryGraph {
    let all = [
        "null",
        "NULL",
        "None",
        "NA",
        "NaN",
        "nan",
        "Infinity",
        "-inf",
        "true",
        "False",
        "0",
        "-0",
        "1.0",
        "1e5",
        "{}",
        "[]",
        "{\"a\":1}",
        "[1,2]",
        "\"quoted\"",
        "1970-01-01",
        "1970-01-01T00:00:00Z",
        "\\N",
        "#",
        "=1+1",
        "_:b",
        "<a>",
    ];
    let keys = int64(0..all.len() as i64);
    let listed = lists(text(all), &vec![Some(1); all.len()]);
    one_type(Nodes::keyed("t", keys).column("text", text(all)).column("texts", listed))
}

fn dates_and_times() -> MemoryGraph {
    // 0001-01-01 and 9999-12-31, the first and last date of ISO 8601 with four-digit years; and a leap day.
    let days = [Some(-719_162), Some(2_932_896), Some(-1), Some(0), Some(11_016), None];
    let times = [Some(-62_135_596_800_000), Some(253_402_300_799_999), Some(-1), Some(0), Some(951_782_400_001), None];
    one_type(Nodes::keyed("d", int64(0..6)).column("day", dates(days)).column("moment", millis(times)))
}

fn all_lists() -> MemoryGraph {
    one_type(with_columns(Nodes::keyed("l", int64(0..4)), list_columns()))
}

fn sets() -> MemoryGraph {
    let many = |name: &str, cardinality: Cardinality, cells: ArrayRef| {
        (Property::new(name, cells.data_type().clone()).with_cardinality(cardinality), cells)
    };
    let lengths = [Some(3), Some(0), None, Some(1)];
    let columns = vec![
        many("tags", Cardinality::Set, lists(text(["b", "a", "b", "x,y"]), &lengths)),
        many("numbers", Cardinality::Set, lists(int64([3, 1, 2, 0]), &lengths)),
        many("steps", Cardinality::List, lists(int32([2, 1, 2, 0]), &lengths)),
    ];
    one_type(with_columns(Nodes::keyed("s", int64(0..4)), columns))
}

fn edges_with_everything() -> MemoryGraph {
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("n", text(["a", "b", "c"])));
    // Two edges between the same nodes differ in one value only; the third has no value.
    let edges = Edges::rows(node, "rel", node, [(0, 1), (0, 1), (2, 0)]);
    build.edges(scalar_columns().into_iter().fold(edges, |edges, (property, cells)| edges.property(property, cells)));
    let edges = Edges::rows(node, "listed", node, [(2, 1), (1, 1), (0, 2), (0, 1)]);
    build.edges(list_columns().into_iter().fold(edges, |edges, (property, cells)| edges.property(property, cells)));
    build.finish()
}

fn loops() -> MemoryGraph {
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("n", int64([1, 2])));
    build.edges(Edges::rows(node, "bare", node, [(0, 0), (0, 0), (0, 1), (0, 1), (0, 1), (1, 0)]));
    build.edges(
        Edges::rows(node, "valued", node, [(0, 0), (0, 0), (1, 1), (1, 1)])
            .column("w", int64([Some(1), Some(1), None, Some(0)])),
    );
    build.finish()
}

fn undirected() -> MemoryGraph {
    let mut build = Build::default();
    let a = build.nodes(Nodes::keyed("a", int64([1, 2, 3])));
    let b = build.nodes(Nodes::keyed("b", int64([1, 2])));
    build.edges(
        Edges::rows(a, "near", a, [(0, 1), (1, 0), (2, 2), (2, 0)])
            .undirected()
            .column("km", float64([1.0, 1.0, 0.0, 2.5])),
    );
    build.edges(Edges::rows(a, "beside", b, [(0, 1), (1, 0)]).undirected());
    let directed = [None, Some(true), Some(false), Some(false)];
    build.edges(Edges::rows(a, "mixed", a, [(0, 1), (1, 0), (0, 2), (2, 0)]).directed(&directed));
    build.finish()
}

fn row_keys() -> MemoryGraph {
    let mut build = Build::default();
    let a = build.nodes(Nodes::rows("a", 3).ordered().column("p", text([Some("same"), Some("same"), None])));
    let b = build.nodes(Nodes::rows("b", 2));
    build.edges(Edges::rows(a, "rel", b, [(0, 1), (2, 0), (2, 0)]).column("w", int32([1, 2, 2])));
    build.edges(Edges::rows(b, "rel", a, [(0, 1)]));
    build.edges(Edges::rows(a, "self", a, [(1, 1)]));
    build.finish()
}

fn extreme_keys() -> MemoryGraph {
    let mut build = Build::default();
    let wide = build.nodes(Nodes::keyed("wide", int64([i64::MIN, -1, 0, 1, i64::MAX])).ordered());
    let narrow = build.nodes(Nodes::keyed("narrow", int32([i32::MIN, 0, i32::MAX])));
    build.edges(Edges::rows(wide, "rel", narrow, [(0, 2), (4, 0), (2, 1)]));
    build.finish()
}

fn text_keys() -> MemoryGraph {
    let mut build = Build::default();
    let all =
        ["", " ", "a", "A", "a/b", "n/a", "a,b", "\"a\"", "0", "00", "é", "e\u{301}", "null", "_:b", "%2F", "a b"];
    let n = build.nodes(Nodes::keyed("n", text(all)).ordered());
    let m = build.nodes(Nodes::keyed("m", text(["a", "n/a", ""])));
    build.edges(Edges::rows(n, "rel", n, (0..all.len() as u64).map(|at| (at, (at * 7 + 3) % all.len() as u64))));
    build.edges(Edges::rows(n, "rel", m, [(0, 2), (2, 0), (5, 1)]));
    build.finish()
}

fn several_types() -> MemoryGraph {
    let mut build = Build::default();
    let int = build.nodes(Nodes::keyed("int", int64([1, 2])).column("p", int32([1, 2])));
    let words = build.nodes(Nodes::keyed("words", text(["1", "2"])).column("p", text(["1", "2"])));
    let row = build.nodes(Nodes::rows("row", 3).column("p", float64([1.0, 2.0, 3.0])));
    for (source, target) in [(int, words), (words, row), (row, int), (int, int), (words, int)] {
        build.edges(Edges::rows(source, "rel", target, [(0, 1), (1, 0)]).column("p", int64([Some(1), None])));
    }
    build.finish()
}

fn all_labels() -> MemoryGraph {
    let mut build = Build::default();
    build.nodes(
        Nodes::keyed("n", int64(0..5))
            .declare(&["C", "A", "B", "n", "ü"])
            .labels(&[&["A"], &["B", "A"], &[], &["C", "B", "A"], &["n", "ü"]])
            .column("labels", text([Some("A"), None, Some(""), None, None])),
    );
    build.nodes(Nodes::keyed("m", int64([0])).labels(&[&["A"]]));
    build.nodes(Nodes::keyed("unlabelled", int64([0])).declare(&["A"]).labels(&[&[]]));
    build.finish()
}

fn names_with_meanings() -> MemoryGraph {
    let mut build = Build::default();
    let columns = vec![
        plain("truth", float64([Some(0.5), None])),
        plain("is_rdf", bools([Some(true), None])),
        plain("directed", bools([Some(false), None])),
        plain("shadow", int64([1, 2])),
        plain("weight", float32([0.5, 1.5])),
        plain("label", text(["x", "y"])),
        plain("key", text(["x", "y"])),
        plain("src_name", text(["x", "y"])),
        plain("props", text(["{}", ""])),
    ];
    let node = build.nodes(with_columns(Nodes::keyed("node", int64([1, 2])), columns));
    let directed = Edges::rows(node, "edge", node, [(0, 1), (1, 0)]).undirected();
    build.edges(directed.column("directed", bools([Some(true), None])).column("truth", text(["0.5", "1.0"])));
    let stated = Property::new("truth", DataType::Float32).required();
    build.edges(
        Edges::rows(node, "node", node, [(0, 1)]).property(stated, float32([0.1])).column("rel_name", int32([1])),
    );
    build.finish()
}

/// More rows than fit into a small chunk, in no particular order.
fn thousands() -> MemoryGraph {
    let mut build = Build::default();
    let (nodes, edges) = (3_000u64, 10_000u64);
    let mixed = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let names: Vec<String> = (0..nodes).map(|at| format!("n{}", mixed(at) % 1_000_000)).collect();
    let names: Vec<String> = names.iter().enumerate().map(|(at, name)| format!("{name}.{at}")).collect();
    let labels: Vec<&[&str]> = (0..nodes).map(|at| [&["A"][..], &["A", "B"], &[]][(mixed(at) % 3) as usize]).collect();
    let node = build.nodes(
        Nodes::keyed("n", text(names.iter().map(String::as_str)))
            .labels(&labels)
            .column("p", int64((0..nodes).map(|at| (at % 7 > 0).then_some(mixed(at) as i64))))
            .column("text", text(names.iter().map(|name| name.get(..2)))),
    );
    let ends = (0..edges).map(|at| (mixed(at) % nodes, mixed(at ^ 0xffff) % 50 + mixed(at) % 2 * (nodes - 50)));
    build.edges(
        Edges::rows(node, "rel", node, ends)
            .column("w", float64((0..edges).map(|at| (at % 5 > 0).then_some(at as f64 / 8.0)))),
    );
    build.finish()
}

fn wide_types() -> MemoryGraph {
    let zoned = |cells: &ArrayRef, zone: &str| {
        let DataType::Timestamp(unit, _) = cells.data_type() else { return cells.clone() };
        let zoned = DataType::Timestamp(*unit, Some(zone.into()));
        arrow_cast::cast(cells, &zoned).unwrap_or_else(|_| cells.clone())
    };
    let cast = |cells: ArrayRef, data_type: DataType| arrow_cast::cast(&cells, &data_type).unwrap_or(cells);
    let columns = vec![
        plain("int8", cast(int32([Some(-128), Some(127), None]), DataType::Int8)),
        plain("int16", cast(int32([Some(-32768), Some(32767), None]), DataType::Int16)),
        plain("uint8", cast(int32([Some(0), Some(255), None]), DataType::UInt8)),
        plain("uint16", cast(int32([Some(0), Some(65535), None]), DataType::UInt16)),
        plain("uint32", cast(int64([Some(0), Some(4_294_967_295), None]), DataType::UInt32)),
        plain("uint64", uint64([Some(0), Some(u64::MAX), None])),
        plain("bytes", bytes([Some(&b""[..]), Some(&[0, 255, 10]), None])),
        plain("seconds", seconds([Some(-1), Some(1), None])),
        plain("micros", micros([Some(-1), Some(1), None])),
        plain("nanos", nanos([Some(-1), Some(1), None])),
        plain("instant", zoned(&millis([Some(-1), Some(1), None]), "UTC")),
        plain("zoned", zoned(&micros([Some(-1), Some(1), None]), "+02:00")),
        plain("nested", lists(lists(int64([1, 2]), &[Some(2), Some(0)]), &[Some(2), Some(0), None])),
        plain("flags", lists(bools([true, false]), &[Some(2), Some(0), None])),
        plain("days", lists(dates([-1, 0]), &[Some(2), Some(0), None])),
    ];
    one_type(with_columns(Nodes::keyed("wide", int64(0..3)), columns))
}

fn awkward_names() -> MemoryGraph {
    let mut build = Build::default();
    let a = build.nodes(
        Nodes::keyed("a,b/c \"d\"", int64([1, 2]))
            .declare(&["x,y", "x_y", ""])
            .labels(&[&["x,y"], &["x_y", ""]])
            .column("_graphArVertexIndex", int64([5, 6]))
            .column("a,b", text(["1", "2"]))
            .column("a_b", text(["3", "4"]))
            .column("é", int32([7, 8])),
    );
    let b = build.nodes(Nodes::keyed("é", text(["x"])));
    build.edges(Edges::rows(a, "", b, [(0, 0)]).column("_graphArSrcIndex", int64([1])));
    build.edges(Edges::rows(a, "r/s", b, [(1, 0)]));
    build.edges(Edges::rows(a, "r,s", b, [(1, 0)]));
    build.finish()
}

fn documents() -> MemoryGraph {
    let mut memory = social();
    let mut build = Build::default();
    build.document("extra_info", r#"{"k":"v","":[1,1.0,null]}"#);
    build.document("empty", "{}");
    memory.graph.documents = build.finish().graph.documents;
    memory
}
