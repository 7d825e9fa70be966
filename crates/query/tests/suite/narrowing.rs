//! Filters that become narrower while a plan runs, where joined tables have columns of one name.

use std::fmt::Write as _;
use std::path::Path;

use isomorph_query::Engine;

use crate::support::{engine_of, sorted};

/// A graph in chunks, and the same edges in memory.
fn graph(home: &Path, nodes: u64, edges: u64) -> (Engine, Vec<(u64, u64, u64)>) {
    let (mut of_nodes, mut of_edges) = ("id,x\n".to_owned(), "source,target,w\n".to_owned());
    let mut all = Vec::new();
    let mut state = 7u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    for id in 0..nodes {
        writeln!(of_nodes, "{id},{id}").unwrap();
    }
    for row in 0..edges {
        let edge = (below(nodes), below(nodes), row);
        writeln!(of_edges, "{},{},{}", edge.0, edge.1, edge.2).unwrap();
        all.push(edge);
    }
    let tables = home.join("tables");
    std::fs::create_dir(&tables).unwrap();
    std::fs::write(tables.join("nodes.csv"), of_nodes).unwrap();
    std::fs::write(tables.join("edges.csv"), of_edges).unwrap();
    let chunks = home.join("graph.graphar").display().to_string();
    isomorph::open(&tables.display().to_string()).unwrap().convert(&chunks).unwrap();
    (engine_of(&chunks), all)
}

#[test]
fn filters_reach_the_columns_that_they_are_about() {
    for (nodes, edges) in [(6, 4), (20, 60), (100, 400), (300, 1_000)] {
        let home = tempfile::tempdir().unwrap();
        let (engine, all) = graph(home.path(), nodes, edges);
        let least = nodes / 2;
        let mut expected = Vec::new();
        for a in &all {
            let alike = all.iter().filter(|b| b.0 == a.0 && b.1 > least);
            expected.extend(alike.map(|b| format!("{}|{}|{}|{}", a.0, a.1, b.1, b.2)));
        }
        expected.sort();
        let columns =
            "a._source as s, a._target as t, b._target as u, b.w as w from edge a join edge b on a._source = b._source";
        for question in [
            format!("select {columns} where b._target in (select id from node where x > {least})"),
            format!("select {columns} join node c on b._target = c.id and c.x > {least}"),
            format!("select {columns} where exists (select 1 from node c where c.id = b._target and c.x > {least})"),
            format!("select s, t, u, w from (select {columns}) e join node c on e.u = c.id where c.x > {least}"),
        ] {
            assert_eq!(sorted(&engine, &question).unwrap(), expected, "{nodes} nodes: {question}");
        }
        // The largest of a column, and the first rows by it.
        let most = all.iter().flat_map(|a| all.iter().filter(|b| b.0 == a.0).map(|b| b.1)).max().unwrap();
        let joined = "from edge a join edge b on a._source = b._source";
        assert_eq!(sorted(&engine, &format!("select max(b._target) {joined}")).unwrap(), [most.to_string()]);
        let first = format!("select a._target as t, b._target as u {joined} order by b._target desc limit 1");
        let first = sorted(&engine, &first).unwrap();
        assert!(first[0].ends_with(&format!("|{most}")), "{nodes} nodes: {first:?}");
    }
}

#[test]
fn filters_of_unions_reach_the_columns_that_they_are_about() {
    let home = tempfile::tempdir().unwrap();
    let (engine, all) = graph(home.path(), 50, 200);
    let question = "select e.x, e.y from (select _source as x, _target as y from edge union all select _target, _source from edge) e
        join node c on e.x = c.id where c.x > 25";
    let both = all.iter().flat_map(|edge| [(edge.0, edge.1), (edge.1, edge.0)]);
    let mut expected: Vec<String> = both.filter(|ends| ends.0 > 25).map(|(x, y)| format!("{x}|{y}")).collect();
    expected.sort();
    assert_eq!(sorted(&engine, question).unwrap(), expected);
}

#[test]
fn conditions_above_joins_are_about_the_columns_that_they_name() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("l.csv"), "lab\nq\n").unwrap();
    let right: String = (0..300).map(|_| "q,k\n").collect();
    std::fs::write(home.path().join("r.csv"), format!("tgt,lab\n{right}z,m\n")).unwrap();
    let mut engine = Engine::new(crate::support::resources()).unwrap();
    for name in ["l", "r"] {
        let file = home.path().join(format!("{name}.csv"));
        engine.add_file(name, &isomorph::Location::parse(&file.display().to_string()).unwrap()).unwrap();
    }
    let count = |question: &str| sorted(&engine, question).unwrap();
    for (condition, expected) in [
        ("lower(l.lab) = 'q'", "300"),
        ("coalesce(l.lab, '') = 'q'", "300"),
        ("lower(l.lab) <> 'k'", "300"),
        ("lower(r.lab) = 'k'", "300"),
        ("coalesce(l.lab, '') = ''", "1"),
    ] {
        for joined in ["l right join r", "r left join l"] {
            let rows = format!("select r.lab as r from {joined} on l.lab = r.tgt where {condition}");
            assert_eq!(count(&rows).len().to_string(), expected, "{rows}");
        }
    }
    // A condition that is false, or null, joins nothing.
    for condition in ["false", "null", "l.lab = r.tgt and false", "l.lab = r.tgt and coalesce(r.lab, 'n') is null"] {
        let rows = count(&format!("select l.lab as a, r.lab as b from l left join r on {condition}"));
        assert_eq!(rows, ["q|null"], "{condition}");
    }
}
