//! Conditions on what is stored of a graph, where that stands for something else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use isomorph_convert::{
    CarryUse, ConvertOptions, Format, NodeTypes, OpenOptions, Opened, Plan, Silent, TypesFrom, convert, dump,
};
use isomorph_error::{Error, Kind};
use isomorph_model::Predicate;
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

const TURTLE: &str = r#"PREFIX : <http://e/>
:a a :P ; :age 3, "x" ; :n "1"@en .
:b a :P ; :age 5 ; :n "1" ; :knows :c .
:c a :Q ; :age 18446744073709551616 .
"#;

fn converted(opened: &Opened, to: &Path, options: &ConvertOptions) -> Result<(), Error> {
    let (to, resources) = (Location::from_path(to), Resources::of_this_machine().unwrap());
    let plan = Plan::new(opened, &to, options, &resources, &Silent)?;
    convert(opened, &plan, &to, options, &resources, &Silent).map(|_| ())
}

fn by_label() -> ConvertOptions {
    let node_types = Some(NodeTypes::of(TypesFrom::Label));
    ConvertOptions { to: Some(Format::GRAPHAR), node_types, ..ConvertOptions::default() }
}

/// A text as a GraphAr graph.
fn written(text: &str, name: &str, options: &ConvertOptions) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let from = home.path().join(name);
    std::fs::write(&from, text).unwrap();
    let opened = Opened::open(&Location::from_path(&from), &OpenOptions::default()).unwrap();
    converted(&opened, &home.path().join("g"), options).unwrap();
    home
}

fn chosen(home: &tempfile::TempDir, ty: &str, filter: Predicate, carry: CarryUse) -> Result<Opened, Error> {
    let mut options = OpenOptions { carry, ..OpenOptions::default() };
    options.get_mut::<isomorph_graphar::OpenOptions>().filters.insert(ty.to_owned(), filter);
    Opened::open(&Location::from_path(&home.path().join("g")), &options)
}

fn lines(opened: &Opened) -> Vec<String> {
    let mut out = Vec::new();
    dump(opened.graph.as_ref(), &mut out, &Resources::of_this_machine().unwrap(), &Silent).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

/// The keys of the nodes that a condition leaves.
fn nodes(opened: &Opened) -> Vec<String> {
    let mut keys: Vec<String> = ["a", "b", "c", "d", "m"].map(|key| format!("\"{key}\"")).into();
    let lines = lines(opened);
    keys.retain(|key| lines.iter().any(|line| line.contains("\"node\"") && line.contains(key)));
    keys.iter().map(|key| key.trim_matches('"').to_owned()).collect()
}

#[test]
fn json_is_not_compared_whatever_makes_the_types() {
    let plain = ConvertOptions { to: Some(Format::GRAPHAR), ..ConvertOptions::default() };
    type Case<'c> = (&'c str, &'c str, &'c ConvertOptions, &'c [(&'c str, &'c str)]);
    let cases: [Case<'_>; 3] = [
        (NOCK, "n.csv", &by_label(), &[("L", "q"), ("M", "q"), ("k", "w"), ("L_k_M", "w")]),
        (NOCK, "n.csv", &plain, &[("node", "q"), ("k", "w"), ("node_k_node", "w")]),
        (
            TURTLE,
            "t.ttl",
            &by_label(),
            &[("http___e_P", "http___e_n"), ("http___e_P", "http___e_age"), ("http___e_Q", "http___e_age")],
        ),
    ];
    for (text, name, options, columns) in cases {
        let home = written(text, name, options);
        for (ty, column) in columns {
            let filter = || Predicate::equal(*column, "1");
            let error = chosen(&home, ty, filter(), CarryUse::Auto).map(|_| ()).unwrap_err();
            assert!(error.message().contains("stored as something else"), "{ty}.{column}: {error}");
            chosen(&home, ty, filter(), CarryUse::Ignore).unwrap_or_else(|error| panic!("{ty}.{column}: {error}"));
        }
    }
}

#[test]
fn json_null_is_null() {
    let home = written(NOCK, "n.csv", &by_label());
    let column = || "q".to_owned();
    let (null, some) = (Predicate::IsNull(column()), Predicate::IsNotNull(column()));
    for (filter, expected) in [
        (null.clone(), ["c", "d", "m"].as_slice()),
        (Predicate::Not(Box::new(null)), &["a", "b", "m"]),
        (some.clone(), &["a", "b", "m"]),
        (Predicate::Not(Box::new(some)), &["c", "d", "m"]),
    ] {
        let opened = chosen(&home, "L", filter.clone(), CarryUse::Auto).unwrap();
        assert_eq!(nodes(&opened), expected, "{filter:?}");
    }
}

#[test]
fn nodes_of_several_types_are_counted_where_a_condition_chooses() {
    let home = written(NOCK, "n.csv", &by_label());
    let opened = chosen(&home, "L", Predicate::equal("id", "b"), CarryUse::Auto).unwrap();
    let all = lines(&opened);
    assert_eq!(nodes(&opened), ["b", "m"]);
    assert_eq!(all.iter().filter(|line| line.contains("\"edge\"")).count(), 1, "{all:?}");
    for (name, format) in [("o.parq", Format::NOCK), ("o.graphar", Format::GRAPHAR)] {
        let to = home.path().join(name);
        converted(&opened, &to, &ConvertOptions { to: Some(format), ..ConvertOptions::default() }).unwrap();
        let again = Opened::open(&Location::from_path(&to), &OpenOptions::default()).unwrap();
        assert_eq!(lines(&again).len(), 3, "{name}");
    }
}

#[test]
fn groups_in_which_edges_are_cannot_be_chosen() {
    let home = tempfile::tempdir().unwrap();
    let from = Location::from_path(&isomorph_fixtures::fixture("annnet/everything_flat/graph.annnet.d"));
    let opened = Opened::open(&from, &OpenOptions::default()).unwrap();
    let to = home.path().join("g");
    converted(&opened, &to, &ConvertOptions { to: Some(Format::GRAPHAR), ..ConvertOptions::default() }).unwrap();
    let filter = || Predicate::equal("id", "s1");
    let error = chosen(&home, "slice", filter(), CarryUse::Auto).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported, "{error}");
    chosen(&home, "slice", filter(), CarryUse::Ignore).unwrap();
    // What is in a slice can be chosen.
    let few = chosen(&home, "node", Predicate::equal("id", "nothing"), CarryUse::Auto).unwrap();
    assert!(!lines(&few).iter().any(|line| line.contains("\"edge\"") && line.contains("\"source\"")));
}
