//! Selections by the names of the graph that is shown, if the files of a copy have other names, or the same names for
//! something else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use isomorph_convert::{
    ConvertOptions, Format, NodeTypes, OpenOptions, Opened, Plan, SidecarUse, Silent, TypesFrom, convert, dump,
};
use isomorph_dataset::{Selection, parse_condition};
use isomorph_error::Error;
use isomorph_storage::{Location, Resources};
use serde_json::Value;

const HEAD: &str = "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n";

/// Two nodes of the type Person and two without a type, with edges of two relations, one of which has the name of the
/// type of all edges.
const NOCK: &str = r#""bob",-1,"","",1.0,-1,False,"Person","{""age"":7,""id"":""tea"",""a b"":1}"
"bob",0,"edge","tea",1.0,-1,False,"","{""w"":9}"
"cup",-1,"","",1.0,-1,False,"","{""age"":90,""a_b"":5,""id"":""cup""}"
"cup",1,"knows","bob",1.0,-1,False,"","{""w"":1}"
"cup",2,"edge","tea",1.0,-1,False,"",""
"may",-1,"","",1.0,-1,False,"Person","{""only"":2}"
"may",3,"edge","may",1.0,-1,False,"","{""w"":2}"
"tea",-1,"","",1.0,-1,False,"","{""age"":3,""id"":""bob""}"
"#;

const DEEPGNN: &str = r#"{"node_id":1,"node_type":0,"node_weight":0.5,"neighbor":{"0":{"9":1.0}},"edge":[{"src_id":1,"dst_id":9,"edge_type":0,"weight":1.0}]}
{"node_id":2,"node_type":1,"node_weight":9.0,"neighbor":{},"edge":[]}
"#;

fn resources() -> Resources {
    Resources::of_this_machine().unwrap()
}

fn copied(from: &Path, to: &Path, options: &ConvertOptions) {
    let opened = Opened::open(&Location::from_path(from), &OpenOptions::default()).unwrap();
    let (to, resources) = (Location::from_path(to), resources());
    let options = ConvertOptions { to: Some(Format::GRAPHAR), ..options.clone() };
    let plan = Plan::new(&opened, &to, &options, &resources, &Silent).unwrap();
    convert(&opened, &plan, &to, &options, &resources, &Silent).map(|_| ()).unwrap();
}

/// Copies with one node type, and with several.
fn copies(text: &str, name: &str, from: TypesFrom) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join(name);
    std::fs::write(&source, text).unwrap();
    copied(&source, &home.path().join("one"), &ConvertOptions::default());
    let options = ConvertOptions {
        node_types: Some(NodeTypes::of(from)),
        labels_from_type: name.ends_with(".ttl"),
        ..ConvertOptions::default()
    };
    copied(&source, &home.path().join("several"), &options);
    home
}

fn nock() -> tempfile::TempDir {
    copies(&format!("{HEAD}{NOCK}"), "n.csv", TypesFrom::Label)
}

fn lines(at: &Path, conditions: &[&str], types: Option<&str>, sidecar: SidecarUse) -> Result<Vec<String>, Error> {
    let selection = Selection {
        types: types.map(|names| names.split(',').map(str::to_owned).collect()),
        conditions: conditions.iter().map(|condition| parse_condition(condition).unwrap()).collect(),
        ..Selection::default()
    };
    dumped(at, &selection, sidecar)
}

fn dumped(at: &Path, selection: &Selection, sidecar: SidecarUse) -> Result<Vec<String>, Error> {
    let opened = Opened::open(&Location::from_path(at), &OpenOptions { sidecar, ..OpenOptions::default() })?;
    let opened = opened.select(selection, false, &resources(), &Silent)?.opened;
    let mut out = Vec::new();
    dump(opened.graph.as_ref(), &mut out, &resources(), &Silent)?;
    let mut lines: Vec<String> = String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
    lines.sort_unstable();
    Ok(lines)
}

/// The keys of nodes and the ends of edges.
fn elements(lines: &[String]) -> Vec<String> {
    let named = |line: &String| {
        let line: Value = serde_json::from_str(line).unwrap();
        match line.get("ends") {
            Some(ends) => {
                ends.as_array().unwrap().iter().map(|end| end.as_str().unwrap()).collect::<Vec<_>>().join(">")
            }
            None => line["key"].as_str().map_or_else(|| line["key"].to_string(), str::to_owned),
        }
    };
    lines.iter().map(named).collect()
}

fn found(at: &Path, condition: &str) -> Vec<String> {
    elements(&lines(at, &[condition], None, SidecarUse::Auto).unwrap_or_else(|error| panic!("{condition}: {error}")))
}

#[test]
fn a_condition_is_on_the_type_that_is_shown() {
    let home = nock();
    for copy in ["n.csv", "one", "several"].map(|name| home.path().join(name)) {
        let nodes = |condition: &str| -> Vec<String> {
            found(&copy, condition).into_iter().filter(|name| !name.contains('>')).collect()
        };
        assert_eq!(nodes("node: age > 5"), ["bob", "cup"]);
        // Properties that the nodes of a type never have are null there.
        assert_eq!(nodes("node: only = 2"), ["may"]);
        assert!(nodes("node: not only = 2").is_empty());
        assert_eq!(nodes("node: only is null"), ["bob", "cup", "tea"]);
        assert_eq!(nodes("node: not (only is not null and age > 5)"), ["bob", "cup", "tea"]);
        assert_eq!(nodes("node: only = 2 or age < 5"), ["may", "tea"]);
        // The key has the name that is shown, and `id` is a property.
        assert_eq!(nodes("node: src_name = 'bob'"), ["bob"]);
        assert_eq!(nodes("node: id = 'bob'"), ["tea"]);
        assert_eq!(nodes("node: `a b` = 1"), ["bob"]);
        assert_eq!(nodes("node: a_b = 5"), ["cup"]);
        // A column and a member in one condition, and in two.
        assert_eq!(nodes("node: src_name = 'bob' or age = 90"), ["bob", "cup"]);
        let both = lines(&copy, &["node: src_name != 'bob'", "node: age > 5"], None, SidecarUse::Auto).unwrap();
        assert_eq!(elements(&both), ["cup"]);
        let edges = |condition: &str| -> Vec<String> {
            found(&copy, condition).into_iter().filter(|name| name.contains('>')).collect()
        };
        for name in ["edge", "node_edge_node", "node edge node"] {
            assert_eq!(edges(&format!("{name}: w > 5")), ["bob>tea", "cup>bob"], "{name}");
        }
    }
    // Names that exist only in the files do not exist in the graph that is shown.
    for (copy, condition) in [
        ("several", "Person: age > 5"),
        ("one", "node: id_2 = 'bob'"),
        ("one", "node: none = 1"),
        ("one", "node: props is null"),
    ] {
        let found = lines(&home.path().join(copy), &[condition], None, SidecarUse::Auto);
        assert!(found.is_err(), "{copy} {condition}: {found:?}");
    }
    assert_eq!(lines(&home.path().join("several"), &["Person: age > 5"], None, SidecarUse::Ignore).unwrap().len(), 6);
}

#[test]
fn types_are_those_that_are_shown() {
    let home = nock();
    for copy in ["n.csv", "one", "several"].map(|name| home.path().join(name)) {
        let all = lines(&copy, &[], None, SidecarUse::Auto).unwrap();
        assert_eq!(lines(&copy, &[], Some("node"), SidecarUse::Auto).unwrap(), all);
        let knows = lines(&copy, &[], Some("knows"), SidecarUse::Auto).unwrap();
        assert_eq!(elements(&knows).iter().filter(|name| name.contains('>')).collect::<Vec<_>>(), ["cup>bob"]);
        assert!(lines(&copy, &[], Some("Person"), SidecarUse::Auto).is_err());
    }
}

#[test]
fn columns_are_those_that_are_shown() {
    let home = nock();
    for copy in ["n.csv", "one", "several"].map(|name| home.path().join(name)) {
        let with = |columns: &str| {
            let columns = Some(columns.split(',').map(str::to_owned).collect());
            dumped(&copy, &Selection { columns, ..Selection::default() }, SidecarUse::Auto).unwrap().join("\n")
        };
        for columns in ["id", "node.id", "src_name,id"] {
            let shown = with(columns);
            assert!(shown.contains(r#""id":"tea""#) && !shown.contains("age"), "{columns}: {shown}");
        }
        assert!(!with("src_name").contains(r#""id""#));
    }
}

#[test]
fn relations_in_a_column_are_those_that_are_shown() {
    let home = nock();
    let at = home.path().join("column");
    let mut options = ConvertOptions::default();
    options.typing.relations = 0;
    copied(&home.path().join("n.csv"), &at, &options);
    let of = |condition: &str| -> Vec<String> {
        found(&at, condition).into_iter().filter(|name| name.contains('>')).collect()
    };
    assert_eq!(of("edge: w > 5"), ["bob>tea", "cup>bob"]);
    assert_eq!(of("knows: w > 5").len(), 3);
    assert!(found(&at, "node: age > 5").contains(&"bob".to_owned()));
}

#[test]
fn numbered_types_are_of_the_one_type_that_is_shown() {
    let home = copies(DEEPGNN, "g.json", TypesFrom::Property("type".to_owned()));
    for copy in ["g.json", "one", "several"] {
        assert_eq!(found(&home.path().join(copy), "node: weight > 5"), ["2"], "{copy}");
    }
}
