//! The statements of `docs/mapping.md` about annnet, and about names and types that GraphAr lacks: the output, read
//! without its sidecar.

use isomorph_convert::Format;
use isomorph_model::{Direction, LabelVocabulary};
use isomorph_zoo::{Build, Edges, Nodes, bools, bytes, float32, int32, int64, lists, text, uint64};

use crate::statements::{has, has_not, written};

#[test]
fn types_labels_and_relations_are_attributes() {
    let mut build = Build::default();
    let person = build.nodes(
        Nodes::keyed("person", int64([1, 2]))
            .declare(&["Admin"])
            .labels(&[&["Admin"], &[]])
            .column("age", int32([Some(30), None]))
            .column("type", text(["own", "own"]))
            .column("node_id", text(["x", "y"])),
    );
    let city = build.nodes(Nodes::keyed("a/b", text(["Rome"])).column("age", text(["old"])));
    build.nodes(Nodes::rows("row", 2));
    let knows = Edges::rows(person, "knows", person, [(0, 1), (0, 1), (1, 0)]).undirected();
    build.edges(knows.column("weight", float32([Some(0.5), None, Some(2.0)])).column("kind", text(["k", "k", "k"])));
    build.edges(Edges::rows(person, "in", city, [(1, 0)]).column("weight", int64([1 << 60])));
    let (lines, graph) = written(build.finish(), Format::GRAPHAR, Format::ANNNET);
    has(
        &lines,
        &[r#""key":"person/1""#, r#""age":30"#, r#""type":"own""#, r#""type_2":"person""#, r#""node_id_2":"x""#],
    );
    has(&lines, &[r#""key":"person/1""#, r#""labels":["Admin"]"#]);
    has_not(&lines, r#""labels":[]"#);
    // A slash in a type would end it; a property `type` is a column.
    has(&lines, &[r#""key":"a_b/Rome""#, r#""type_2":"a/b""#, r#""age_2":"old""#]);
    has(&lines, &[r#""key":"row/1""#]);
    has(&lines, &[r#""key":"knows:person/1>person/2""#, r#""directed":false"#, r#""weight":0.5"#, r#""kind_2":"k""#]);
    has(&lines, &[r#""key":"knows:person/1>person/2~2""#, r#""weight":1.0"#, r#""unweighted":true"#]);
    has(&lines, &[r#""key":"knows:person/2>person/1""#, r#""weight":2.0"#]);
    has(&lines, &[r#""key":"in:person/2>a_b/Rome""#, r#""relation":"in""#, r#""weight_2":1152921504606846976"#]);
    has(&lines, &[r#""group":"slice""#, r#""default""#]);
    assert_eq!((graph.nodes.len(), graph.edges.len(), graph.hyperedges.len()), (1, 1, 0));
}

#[test]
fn one_type_needs_no_words_for_it() {
    let mut build = Build::default();
    let n = build.nodes(Nodes::keyed("n", text(["a>b", "c"])));
    build.edges(Edges::rows(n, "rel", n, [(0, 1), (1, 0)]));
    let (lines, graph) = written(build.finish(), Format::GRAPHAR, Format::ANNNET);
    has(&lines, &[r#""key":"a>b""#]);
    has(&lines, &[r#""key":"a\\>b>c""#]);
    has(&lines, &[r#""key":"c>a>b""#]);
    has_not(&lines, "relation\"");
    assert!(graph.nodes[0].properties.is_empty() && graph.edges[0].properties.len() == 1, "{graph:?}");
}

#[test]
fn an_id_does_not_depend_on_what_else_there_is() {
    let ids = |more: u64| -> Vec<String> {
        let mut build = Build::default();
        let n = build.nodes(Nodes::keyed("n", int64(0..5 + more as i64)));
        let edges = [(3, 1), (0, 2), (3, 1)].into_iter().chain((0..more).map(|at| (at % 3, 5 + at)));
        build.edges(Edges::rows(n, "rel", n, edges));
        let (lines, _) = written(build.finish(), Format::GRAPHAR, Format::ANNNET);
        ["0>2", "3>1", "3>1~2"]
            .iter()
            .filter(|id| lines.iter().any(|line| line.contains(&format!("\"key\":\"{id}\""))))
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(ids(0), ["0>2", "3>1", "3>1~2"]);
    assert_eq!(ids(40), ids(0));
}

#[test]
fn what_graphar_lacks_becomes_the_nearest() {
    let mut build = Build::default();
    let a = build.nodes(
        Nodes::keyed("a:b", int64([1]))
            .declare(&["\u{fc}"])
            .labels(&[&["\u{fc}"]])
            .column("_graphArX", int32([5]))
            .column("n", uint64([u64::MAX]))
            .column("b", bytes([Some(&[0xd7, 0x6d, 0xf8][..])]))
            .column("flags", lists(bools([true, false]), &[Some(2)])),
    );
    build.edges(Edges::rows(a, "r/s", a, [(0, 0)]));
    let (lines, graph) = written(build.finish(), Format::GRAPHAR, Format::GRAPHAR);
    has(&lines, &[r#""x_graphArX":5"#, r#""n":"18446744073709551615""#, r#""b":"1234""#, r#""flags":"[true,false]""#]);
    assert_eq!((graph.nodes[0].name.as_str(), graph.edges[0].relation.fixed()), ("a_b", Some("r_s")));
    assert_eq!(graph.nodes[0].labels, LabelVocabulary::Declared(vec!["_ufc".to_owned()]));
    assert_eq!(graph.edges[0].direction, Direction::Directed);
}
