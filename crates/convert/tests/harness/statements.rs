//! The statements of `docs/mapping.md` about GraphAr and NOCK: the output, read without its sidecar.

use isomorph_convert::{Format, SidecarUse, Silent, dump};
use isomorph_model::{Cardinality, Direction, Graph, LabelVocabulary, MemoryGraph, Property};
use isomorph_zoo::{
    self as zoo, Build, Edges, Nodes, bools, dates, float32, float64, int32, int64, lists, millis, text,
};

use crate::formats::member;
use crate::stage::{Case, resources, stage};

/// The elements as lines, and the description, of `memory` in the first layout of `to`, without the sidecar.
pub fn written(memory: MemoryGraph, from: Format, to: Format) -> (Vec<String>, Graph) {
    let case = Case::new("statement", from, memory);
    let member = member(to);
    let layout = &(member.layouts)(case.rows())[0];
    let staged = stage(&case.opened(), member, layout).unwrap_or_else(|error| panic!("{error:?}"));
    staged.check("statement", &case.digests(), &case.memory.graph, layout);
    let alone = staged.open(SidecarUse::Ignore);
    let mut out = Vec::new();
    dump(alone.graph.as_ref(), &mut out, &resources(), &Silent).unwrap();
    let lines = String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
    (lines, alone.graph.graph().clone())
}

fn as_nock(build: Build) -> Vec<String> {
    written(build.finish(), Format::GRAPHAR, Format::NOCK).0
}

fn as_graphar(memory: MemoryGraph) -> (Vec<String>, Graph) {
    written(memory, Format::NOCK, Format::GRAPHAR)
}

/// Checks that some line has all of these parts.
#[track_caller]
pub fn has(lines: &[String], parts: &[&str]) {
    assert!(lines.iter().any(|line| parts.iter().all(|part| line.contains(part))), "{parts:?}: {lines:#?}");
}

#[track_caller]
pub fn has_not(lines: &[String], part: &str) {
    assert!(!lines.iter().any(|line| line.contains(part)), "{part}: {lines:#?}");
}

#[test]
fn types_are_labels_and_keys_are_names() {
    let mut one = Build::default();
    one.nodes(Nodes::keyed("person", int64([7])));
    has(&as_nock(one), &[r#""key":"7""#, r#""labels":["person"]"#]);
    let mut several = Build::default();
    // A real label with the name of the type, a comma, a slash: only names that must be altered are altered.
    several.nodes(Nodes::keyed("person", text(["a"])).declare(&["person"]).labels(&[&["person"]]));
    several.nodes(Nodes::keyed("a,b", text(["x"])));
    several.nodes(Nodes::keyed("c/d", int32([5])));
    several.nodes(Nodes::rows("row", 2));
    let lines = as_nock(several);
    has(&lines, &[r#""key":"person/a""#, r#""person""#, r#""person_2""#]);
    has(&lines, &[r#""key":"a,b/x""#, r#""labels":["a_b"]"#]);
    has(&lines, &[r#""key":"c_d/5""#, r#""labels":["c/d"]"#]);
    has(&lines, &[r#""key":"row/1""#]);
}

#[test]
fn labels_with_a_comma_are_altered() {
    let mut build = Build::default();
    build.nodes(Nodes::keyed("n", int64([1])).declare(&["x,y", "x_y"]).labels(&[&["x,y", "x_y"]]));
    has(&as_nock(build), &[r#""x_y""#, r#""x_y_2""#]);
}

#[test]
fn values_are_json() {
    let set = lists(text(["b"]), &[Some(1)]);
    let mut build = Build::default();
    build.nodes(
        Nodes::keyed("n", int64([1]))
            .column("flag", bools([true]))
            .column("small", int32([5]))
            .column("single", float32([0.1]))
            .column("not", float64([f64::NAN]))
            .column("less", float64([f64::NEG_INFINITY]))
            .column("day", dates([0]))
            .column("far", dates([3_000_000]))
            .column("moment", millis([1]))
            .column("none", text([None]))
            .property(Property::new("set", set.data_type().clone()).with_cardinality(Cardinality::Set), set),
    );
    let lines = as_nock(build);
    for part in [
        r#""flag":true"#,
        r#""small":5"#,
        r#""single":0.10000000149011612"#,
        r#""not":"NaN""#,
        r#""less":"-Infinity""#,
        r#""day":"1970-01-01""#,
        r#""far":"+10183-09-21""#,
        r#""moment":"1970-01-01T00:00:00.001""#,
        r#""set":["b"]"#,
    ] {
        has(&lines, &[part]);
    }
    has_not(&lines, "none");
}

#[test]
fn truth_and_is_rdf_are_columns_where_they_are_stated() {
    let stated = |name: &str, cells: &arrow_array::ArrayRef| Property::new(name, cells.data_type().clone()).required();
    let (truth, rdf) = (float64([0.1]), bools([true]));
    let mut build = Build::default();
    build.nodes(
        Nodes::keyed("n", int64([1]))
            .property(stated("truth", &truth), truth.clone())
            .property(stated("is_rdf", &rdf), rdf.clone()),
    );
    let (lines, graph) = written(build.finish(), Format::GRAPHAR, Format::NOCK);
    has(&lines, &[r#""truth":0.1"#, r#""is_rdf":true"#]);
    // A double makes the column a double.
    assert_eq!(graph.nodes[0].properties[0].data_type, arrow_schema::DataType::Float64);
    // If null is legal, or the type is another, it is an ordinary member, in addition to a truth of 1.
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("n", int64([1])).column("truth", float32([0.5])));
    build.edges(Edges::rows(node, "r", node, [(0, 0)]).column("truth", text(["high"])));
    let (lines, graph) = written(build.finish(), Format::GRAPHAR, Format::NOCK);
    has(&lines, &[r#""truth":1.0"#, "0.5"]);
    has(&lines, &[r#""edge":"r""#, r#""truth":1.0"#, r#""high""#]);
    assert_eq!(graph.nodes[0].properties[0].data_type, arrow_schema::DataType::Float32);
}

#[test]
fn edges_name_their_relation_and_their_missing_direction() {
    let mut build = Build::default();
    let (a, b) = (build.nodes(Nodes::keyed("a", int64([1]))), build.nodes(Nodes::keyed("b", int64([1]))));
    build.edges(Edges::rows(a, "r", b, [(0, 0), (0, 0)]));
    build.edges(Edges::rows(b, "r", a, [(0, 0)]).undirected());
    build.edges(Edges::rows(a, "s", a, [(0, 0)]).undirected().column("directed", text(["x"])));
    let lines = as_nock(build);
    assert_eq!(lines.iter().filter(|line| line.contains(r#""ends":["a/1","b/1"]"#)).count(), 2, "{lines:#?}");
    has(&lines, &[r#""edge":"r""#, r#""ends":["b/1","a/1"]"#, r#""directed":false"#]);
    has(&lines, &[r#""edge":"s""#, r#""directed":"x""#, r#""directed_2":false"#]);
}

#[test]
fn an_empty_key_has_no_name() {
    let mut build = Build::default();
    build.nodes(Nodes::keyed("n", text([""])));
    let case = Case::new("empty key", Format::GRAPHAR, build.finish());
    let nock = member(Format::NOCK);
    let error = stage(&case.opened(), nock, &(nock.layouts)(1)[0]).err().unwrap();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("NOCK-WRITE-VALUE"), "{error:?}");
}

#[test]
fn a_key_twice_is_an_error_everywhere() {
    for to in crate::formats::MEMBERS {
        let mut build = Build::default();
        let node = build.nodes(Nodes::keyed("n", int64([1, 1])));
        let (ends, same) = (int64([1]), int64([1]));
        build.edges(Edges::keys(node, "r", node, ends, same));
        let case = Case::new("key twice", Format::GRAPHAR, build.finish());
        let error = stage(&case.opened(), to, &(to.layouts)(1)[0]).err().unwrap();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("MODEL-REPEATED-KEY"), "{error:?}");
    }
}

#[test]
fn members_that_agree_are_typed_columns() {
    let graph = zoo::bundled(
        &[
            (
                "a",
                &["Soup"],
                1.0,
                r#"{"i":1,"f":1.5,"t":"x","b":true,"l":[1],"m":1,"n":null,"big":9223372036854775808}"#,
            ),
            ("b", &[], 1.0, r#"{"i":2,"f":2.0,"t":"","b":false,"l":[],"m":"1","o":{"x":1}}"#),
        ],
        &[("a", "r", "b", 0.5, r#"{"w":1}"#), ("a", "r s", "b", 1.0, "")],
    );
    let (lines, graph) = as_graphar(graph);
    let node = &graph.nodes[0];
    assert_eq!((node.name.as_str(), node.key.name.as_deref()), ("node", Some("id")));
    assert_eq!(node.labels, LabelVocabulary::Declared(vec!["Soup".to_owned()]));
    let type_of = |name: &str| {
        let found = node.properties.iter().find(|property| property.name == name);
        found.map(|property| isomorph_model::type_name::type_name(&property.data_type))
    };
    let expected = [("i", "int64"), ("f", "double"), ("t", "string"), ("b", "bool"), ("l", "list<int64>")];
    for (name, ty) in expected.into_iter().chain([("m", "string"), ("n", "string"), ("o", "string"), ("big", "string")])
    {
        assert_eq!(type_of(name).as_deref(), Some(ty), "{name}");
    }
    // Nothing but ones and falses: no columns.
    assert_eq!((type_of("truth"), type_of("is_rdf")), (None, None));
    has(&lines, &[r#""key":"a""#, r#""m":"1""#, r#""n":"null""#]);
    has(&lines, &[r#""key":"b""#, r#""m":"\"1\"""#, r#""o":"{\"x\":1}""#]);
    has(&lines, &[r#""edge":"r""#, r#""truth":0.5"#, r#""w":1"#]);
    has(&lines, &[r#""edge":"r_s""#]);
}

#[test]
fn a_relation_without_direction_is_undirected() {
    let marked = r#"{"directed":false}"#;
    let nodes = [("a", &[][..], 1.0, ""), ("b", &[][..], 1.0, "")];
    let edges = [
        ("a", "all", "b", 1.0, marked),
        ("b", "all", "a", 1.0, marked),
        ("a", "some", "b", 1.0, marked),
        ("a", "some", "b", 1.0, ""),
    ];
    let (_, graph) = as_graphar(zoo::bundled(&nodes, &edges));
    let found: Vec<_> =
        graph.edges.iter().map(|ty| (ty.relation.fixed().unwrap(), ty.direction, ty.properties.len())).collect();
    assert_eq!(found, [("all", Direction::Undirected, 0), ("some", Direction::Directed, 1)]);
}

#[test]
fn too_many_of_a_kind_become_a_column() {
    let (_, graph) = as_graphar(zoo::many_members(1_001));
    let properties: Vec<&str> = graph.nodes[0].properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(properties, ["props"]);
    let (lines, graph) = as_graphar(zoo::many_relations(1_001));
    assert_eq!(graph.edges.len(), 1);
    assert_eq!(graph.edges[0].relation.fixed(), Some("edge"));
    has(&lines, &[r#""edge":"edge""#, r#""predicate":"rel1000""#]);
    let labels: Vec<String> = (0..1_001).map(|at| format!("l{at}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let (_, graph) = as_graphar(zoo::bundled(&[("a", &labels, 1.0, "")], &[]));
    assert_eq!(graph.nodes[0].labels, LabelVocabulary::None);
    assert_eq!(graph.nodes[0].properties[0].cardinality, Cardinality::Set);
}
