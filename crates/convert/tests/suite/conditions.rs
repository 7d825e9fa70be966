//! Conditions on the graph that is shown, whatever its files contain.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use isomorph_convert::{
    ConvertOptions, Format, NodeTypes, OpenOptions, Opened, Plan, SidecarUse, Silent, TypesFrom, convert, dump,
};
use isomorph_dataset::{Dataset, Selection, TableKind, parse_condition};
use isomorph_error::{Error, Kind};
use isomorph_storage::{Location, Resources};

/// Nodes of the types L and M whose member `q` has values of several types, and edges between the types.
const NOCK: &str = r#""src_name","edge_id","rel_name","dst_name","truth","shadow","is_rdf","labels","props"
"a",-1,"","",1.0,-1,False,"L","{""q"":""1""}"
"a",0,"k","m",1.0,-1,False,"","{""w"":""1""}"
"a",1,"k","b",1.0,-1,False,"","{""w"":1}"
"b",-1,"","",1.0,-1,False,"L","{""q"":1}"
"b",2,"k","m",1.0,-1,False,"","{""w"":2}"
"c",-1,"","",1.0,-1,False,"L","{""q"":null}"
"d",-1,"","",1.0,-1,False,"L",""
"m",-1,"","",1.0,-1,False,"M","{""q"":1}"
"#;

const TRIG: &str = r#"PREFIX : <http://e/>
:a a :P ; :age 3, "x" ; :n "1"@en .
:g { :b a :P ; :age 5 ; :n "1" ; :knows :c . }
"#;

fn converted(opened: &Opened, to: &Path, options: &ConvertOptions) -> Result<(), Error> {
    let (to, resources) = (Location::from_path(to), Resources::of_this_machine().unwrap());
    let plan = Plan::new(opened, &to, options, &resources, &Silent)?;
    convert(opened, &plan, &to, options, &resources, &Silent).map(|_| ())
}

fn graphar() -> ConvertOptions {
    ConvertOptions { to: Some(Format::GRAPHAR), ..ConvertOptions::default() }
}

fn by_label() -> ConvertOptions {
    ConvertOptions { node_types: Some(NodeTypes::of(TypesFrom::Label)), ..graphar() }
}

/// Converts a text to the GraphAr graph `g`.
fn written(text: &str, name: &str, options: &ConvertOptions) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let from = home.path().join(name);
    std::fs::write(&from, text).unwrap();
    converted(&opened(&from, SidecarUse::Auto), &home.path().join("g"), options).unwrap();
    home
}

fn opened(at: &Path, sidecar: SidecarUse) -> Opened {
    Opened::open(&Location::from_path(at), &OpenOptions { sidecar, ..OpenOptions::default() }).unwrap()
}

fn chosen(at: &Path, condition: &str, sidecar: SidecarUse) -> Result<Opened, Error> {
    let selection = Selection { conditions: vec![parse_condition(condition).unwrap()], ..Selection::default() };
    let selected = opened(at, sidecar).select(&selection, false, &Resources::of_this_machine().unwrap(), &Silent);
    selected.map(|selecting| selecting.opened)
}

fn refused(at: &Path, condition: &str) -> Error {
    chosen(at, condition, SidecarUse::Auto).map(|_| ()).expect_err(condition)
}

fn lines(opened: &Opened) -> Vec<String> {
    let mut out = Vec::new();
    dump(opened.graph.as_ref(), &mut out, &Resources::of_this_machine().unwrap(), &Silent).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

/// The keys of the nodes that pass a condition.
fn nodes(opened: &Opened) -> Vec<String> {
    let mut keys: Vec<String> = ["a", "b", "c", "d", "m"].map(|key| format!("\"{key}\"")).into();
    let lines = lines(opened);
    keys.retain(|key| lines.iter().any(|line| line.contains("\"node\"") && line.contains(key)));
    keys.iter().map(|key| key.trim_matches('"').to_owned()).collect()
}

#[test]
fn members_whose_types_disagree_are_not_compared_whatever_makes_the_types() {
    for options in [by_label(), graphar()] {
        let home = written(NOCK, "n.csv", &options);
        for at in ["n.csv", "g"].map(|name| home.path().join(name)) {
            for condition in ["node: q = '1'", "node: q = 1", "k: w = '1'", "node_k_node: w > 1"] {
                let error = refused(&at, condition);
                assert_eq!(error.kind(), Kind::Unsupported, "{condition}: {error}");
                assert!(error.message().contains("JSON"), "{condition}: {error}");
            }
        }
        // The stored values are texts.
        let ty = if options.node_types.is_some() { "L" } else { "node" };
        chosen(&home.path().join("g"), &format!("{ty}: q = '1'"), SidecarUse::Ignore).unwrap();
    }
}

#[test]
fn json_null_is_null() {
    let home = written(NOCK, "n.csv", &by_label());
    for at in ["n.csv", "g"].map(|name| home.path().join(name)) {
        for (condition, expected) in [
            ("node: q is null", ["c", "d"].as_slice()),
            ("node: not q is null", &["a", "b", "m"]),
            ("node: q is not null", &["a", "b", "m"]),
            ("node: not q is not null", &["c", "d"]),
        ] {
            let found = chosen(&at, condition, SidecarUse::Auto).unwrap_or_else(|error| panic!("{condition}: {error}"));
            assert_eq!(nodes(&found), expected, "{condition}");
        }
    }
}

#[test]
fn nodes_of_several_types_are_counted_where_a_condition_chooses() {
    let home = written(NOCK, "n.csv", &by_label());
    let few = [
        (SidecarUse::Auto, "node: src_name = 'b' or src_name = 'm'"),
        // Without its sidecar it is a graph of several node types.
        (SidecarUse::Ignore, "L: id = 'b'"),
    ];
    for (sidecar, condition) in few {
        let some = chosen(&home.path().join("g"), condition, sidecar).unwrap();
        let all = lines(&some);
        assert_eq!(nodes(&some), ["b", "m"]);
        assert_eq!(all.iter().filter(|line| line.contains("\"edge\"")).count(), 1, "{all:?}");
        for (name, format) in [("o.parq", Format::NOCK), ("o.annnet", Format::ANNNET), ("o.graphar", Format::GRAPHAR)] {
            let to = home.path().join(format!("{}{name}", some.graph.graph().nodes.len()));
            converted(&some, &to, &ConvertOptions { to: Some(format), ..ConvertOptions::default() }).unwrap();
            assert_eq!(lines(&opened(&to, SidecarUse::Auto)), all, "{name}");
        }
    }
}

#[test]
fn groups_are_chosen_but_those_that_edges_name_themselves() {
    let home = tempfile::tempdir().unwrap();
    let from = isomorph_fixtures::fixture("annnet/everything_flat/graph.annnet.d");
    let to = home.path().join("g");
    converted(&opened(&from, SidecarUse::Auto), &to, &graphar()).unwrap();
    for at in [from.as_path(), &to] {
        let all = lines(&opened(at, SidecarUse::Auto)).join("\n");
        assert!(all.contains("\"s1\"") && all.contains("\"s2 ünïcode\""), "{all}");
        let some = chosen(at, "slice: key = 's1'", SidecarUse::Auto).unwrap();
        // Documents about the whole graph are kept.
        let mut left = lines(&some);
        left.retain(|line| !line.starts_with("{\"document\""));
        let left = left.join("\n");
        assert!(left.contains("\"s1\"") && !left.contains("\"s2 ünïcode\""), "{left}");
        converted(&some, &home.path().join(format!("{}", all.len() + usize::from(at == to))), &graphar()).unwrap();
        // Members of a slice can be selected.
        let few = lines(&chosen(at, "node: key = 'nothing'", SidecarUse::Auto).unwrap());
        assert!(!few.iter().any(|line| line.starts_with("{\"edge\"") || line.starts_with("{\"membership\"")));
    }
    let home = written(TRIG, "t.trig", &graphar());
    for at in ["t.trig", "g"].map(|name| home.path().join(name)) {
        let error = refused(&at, "graph: key is not null");
        assert_eq!(error.kind(), Kind::Unsupported, "{error}");
        assert!(error.hints().next().is_some(), "{error}");
    }
}

#[test]
fn resources_that_triples_name_are_not_chosen() {
    let home = written(TRIG, "t.trig", &by_label());
    for at in ["t.trig", "g"].map(|name| home.path().join(name)) {
        let whole = opened(&at, SidecarUse::Auto);
        let dataset = Dataset::new(whole.graph, Resources::of_this_machine().unwrap());
        let nodes = dataset.tables().iter().filter(|table| matches!(table.kind(), TableKind::Nodes(_)));
        for table in nodes {
            let error = refused(&at, &format!("`{}`: `{}` is not null", table.name(), table.schema().field(0).name()));
            assert_eq!(error.kind(), Kind::Unsupported, "{error}");
            assert!(error.hints().any(|hint| hint.contains("isomorph match")), "{error:?}");
        }
    }
    // Without its sidecar it is what its files declare.
    let stored = opened(&home.path().join("g"), SidecarUse::Ignore);
    assert!(stored.graph.graph().nodes.iter().any(|ty| ty.properties.iter().any(|own| own.name == "http___e_age")));
}

#[test]
fn conditions_that_do_not_fit_a_type_are_refused_before_anything_is_read() {
    let social = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/social");
    for (condition, kind, what) in [
        ("person: weight is null", Kind::Usage, "weight"),
        ("knows: born is null", Kind::Usage, "born"),
        ("person_knows_person: nothing = 1", Kind::Usage, "nothing"),
        ("dog: name = 'x'", Kind::Usage, "dog"),
    ] {
        let error = refused(&social, condition);
        assert_eq!(error.kind(), kind, "{condition}: {error}");
        assert!(error.message().contains(what), "{condition}: {error}");
    }
}

#[test]
fn nothing_compares_with_nan() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("n.csv");
    let head = NOCK.lines().next().unwrap();
    let rows = "\"a\",-1,\"\",\"\",1.0,-1,False,\"\",\"{\"\"h\"\":1.5,\"\"t\"\":\"\"x\"\"}\"\n";
    std::fs::write(&file, format!("{head}\n{rows}")).unwrap();
    converted(&opened(&file, SidecarUse::Auto), &home.path().join("g"), &graphar()).unwrap();
    for at in [&file, &home.path().join("g")] {
        for sidecar in [SidecarUse::Auto, SidecarUse::Ignore] {
            for literal in ["'NaN'", "'nan'", "' NaN '"] {
                let error = chosen(at, &format!("node: not h = {literal}"), sidecar).map(|_| ()).unwrap_err();
                assert_eq!(error.kind(), Kind::Usage, "{literal}: {error}");
            }
            assert_eq!(nodes(&chosen(at, "node: not t = 'NaN'", sidecar).unwrap()), ["a"]);
        }
    }
}
