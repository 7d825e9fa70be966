//! `GRAPH_TABLE` of SQL/PGQ: what the equivalent openCypher and SQL answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use isomorph::dataset::Cancel;
use isomorph::storage::Budget;
use isomorph_cypher::{Options, Query, TableGraph, to_text};
use isomorph_query::{Engine, Parameters};

use crate::support::{engine_of, error, plan, resources, rows, social, sorted, with};

/// The sorted rows of an openCypher query.
fn cypher(text: &str) -> Vec<String> {
    let graph = isomorph::open(&social()).unwrap();
    let options = Options::new(Budget::new(1 << 30));
    let tables = TableGraph::new(graph.dataset().unwrap(), &options.budget, Cancel::new()).unwrap();
    let query = Query::parse(text, &BTreeMap::new()).unwrap();
    let rows = query.run(&tables, &options).unwrap();
    let mut lines: Vec<String> = rows
        .map(|row| {
            let row = row.unwrap();
            let cells =
                row.iter().map(|value| if value.is_null() { "null".into() } else { to_text(value, &tables).unwrap() });
            cells.collect::<Vec<String>>().join("|")
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn a_graph_table_answers_as_open_cypher_does() {
    let engine = engine_of(&social());
    for (table, query) in [
        (
            "(graph match (a is person)-[e is knows]->(b is person) where a.id = 1007 columns (b.id, b.firstName as name))",
            "MATCH (a:person)-[e:knows]->(b:person) WHERE a.id = 1007 RETURN b.id, b.firstName",
        ),
        (
            "(graph match (a:person where a.gender = 'female')-[:livesIn]->(c:city) columns (c.name, a.email, a.id))",
            "MATCH (a:person {gender: 'female'})-[:livesIn]->(c:city) RETURN c.name, a.email, a.id",
        ),
        (
            "(graph match (a:person)-[:knows]->{2}(b:person), (a)-[:livesIn]->(c)<-[:livesIn]-(b) where a.id < 1100 columns (a.id as a, b.id as b, c.name))",
            // Each in a clause of its own: edges may be the same.
            "MATCH (a:person)-[:knows]->(x) MATCH (x)-[:knows]->(b:person) MATCH (a)-[:livesIn]->(c) MATCH (c)<-[:livesIn]-(b) WHERE a.id < 1100 RETURN a.id, b.id, c.name",
        ),
        (
            "(graph match (p:person)-[l:likes]->(q:post) where l.weight > 0.9 and p.lastName is not null columns (p.id, l.weight + 1 as w))",
            "MATCH (p:person)-[l:likes]->(q:post) WHERE l.weight > 0.9 AND p.lastName IS NOT NULL RETURN p.id, l.weight + 1",
        ),
        (
            "(graph match (a)->(b)->(c:city) where a.id = 1007 columns (b.id, c.name))",
            "MATCH (a)-->(b)-->(c:city) WHERE a.id = 1007 RETURN b.id, c.name",
        ),
    ] {
        let expected = cypher(query);
        assert!(!expected.is_empty(), "{query}");
        let found = sorted(&engine, &format!("select * from graph_table {table} t")).unwrap();
        assert!(found == expected, "{table}: {} rows, expected {}", found.len(), expected.len());
    }
}

#[test]
fn edges_may_stand_twice_in_a_match() {
    let engine = engine_of(&social());
    let back = "from knows a join knows b on a._source = b._source where a._source = 1007";
    let expected = rows(&engine, &format!("select count(*) {back}")).unwrap();
    let pattern =
        "graph_table (graph match (b)<-[:knows]-(a:person)-[:knows]->(c) where a.id = 1007 columns (1 as one))";
    assert_eq!(rows(&engine, &format!("select count(*) from {pattern}")).unwrap(), expected);
    // In openCypher both edges differ.
    assert_ne!(cypher("MATCH (b)<-[:knows]-(a:person)-[:knows]->(c) WHERE a.id = 1007 RETURN count(*)"), expected);
    let walks = "graph_table (graph match (a:person)-[:knows]-{0,2}(b) where a.id = 1007 columns (b.id))";
    let both = "(select _source s, _target t from knows union all select _target, _source from knows)";
    let sql = format!(
        "select (select count(*) from {both} a join {both} b on a.t = b.s where a.s = 1007) + (select count(*) from {both} a where a.s = 1007) + 1"
    );
    assert_eq!(rows(&engine, &format!("select count(*) from {walks}")).unwrap(), rows(&engine, &sql).unwrap());
}

#[test]
fn its_rows_join_with_other_tables() {
    let engine = engine_of(&social());
    let friends = "graph_table (graph match (a:person)-[e:knows]->(b:person) where a.id = $who
        columns (b.id as friend, e.since)) f";
    let own =
        "select k._target, p.firstName, k.since from knows k join person p on p.id = k._target where k._source = 1007";
    let parameters = Parameters::new().with("who", "1007").with("least", "1000");
    let joined = format!(
        "select friend, p.firstName, since from {friends} join person p on p.id = friend where friend > $least"
    );
    let mut found = with(&engine, &joined, &parameters).unwrap();
    found.sort();
    assert_eq!(found, sorted(&engine, own).unwrap());
    let two = "select count(*) from GRAPH_TABLE (graph match (a:city) columns (a.name)) a
        join graph_table (graph match (a:city) columns (a.name)) b using (name)";
    assert_eq!(rows(&engine, two).unwrap(), ["40"]);
    let names = engine.columns(
        "select * from graph_table (graph match (a:city) columns (a.name as \"N\", a.population))",
        &Parameters::new(),
    );
    let names: Vec<String> =
        names.unwrap().fields().iter().map(|field| format!("{} {}", field.name(), field.data_type())).collect();
    assert_eq!(names, ["N Utf8", "population Int64"]);
    let mut several = Engine::new(resources()).unwrap();
    several.add_graph("a", Arc::new(isomorph::open(&social()).unwrap())).unwrap();
    several.add_graph("b", Arc::new(isomorph::open(&social()).unwrap())).unwrap();
    let both = "select count(*) from graph_table (A match (x:city) columns (x.name)) x join b.city using (name)";
    assert_eq!(rows(&several, both).unwrap(), ["40"]);
}

#[test]
fn what_is_wrong_says_where() {
    let engine = engine_of(&social());
    for (question, expected, line) in [
        ("select 1 from\n graph_table (nope match (a) columns (a.id))", "there is no graph nope", 2),
        ("select 1 from graph_table (graph match (a:persn) columns (a.id))", "persn, did you mean person?", 1),
        (
            "select 1 from graph_table (graph match (a:person) columns (a.nmae))",
            "no node or relationship has the property nmae",
            1,
        ),
        ("select 1 from graph_table (graph match (a columns (a.id))", "", 1),
        ("select 1 from graph_table (graph match (a) columns (count(*) as n))", "aggregates", 1),
        ("select 1 from graph_table (graph match (a)-[:knows]->*(b) columns (a.id))", "upper bound", 1),
        ("select 1 from graph_table (graph match (a) where a.id = $id columns (a.id))", "$id", 1),
        ("select 1 from graph_table (graph match (a) where b.id = 1 columns (a.id))", "variable b is not defined", 1),
        ("select nope\nfrom graph_table (graph match (a:city)\n columns (a.name)) t\nwhere t.zzz = 1", "zzz", 4),
    ] {
        let told = error(&engine, question);
        assert!(told.message().contains(expected), "{question}: {told}");
        if !expected.is_empty() {
            assert_eq!(told.place().line, Some(line), "{question}: {told}");
        }
    }
    // A text is no GRAPH_TABLE, and neither is a column of its name.
    assert_eq!(rows(&engine, "select 'graph_table (' as graph_table").unwrap(), ["graph_table ("]);
}

#[test]
fn matches_are_found_when_they_are_read() {
    let engine = engine_of(&social());
    let failing = "select * from graph_table (graph match (a:city) columns (1 / 0 as x)) t";
    assert!(plan(&engine, failing).contains("matches of a pattern"));
    let told = error(&engine, &format!("select 1,\n 2 from ({failing})"));
    assert!(told.message().contains("zero") && told.place().line == Some(2), "{told}");
    // 6·10^10 matches, of which few are wanted; the rest is left when the answer is dropped.
    let many =
        "graph_table (graph match (a:person), (b:person), (c:person), (d:person) columns (a.id, d.id as other)) t";
    assert_eq!(rows(&engine, &format!("select other from {many} limit 3")).unwrap().len(), 3);
    let mut answer = engine.query(&format!("select * from {many}"), &Parameters::new()).unwrap();
    assert!(answer.next().unwrap().unwrap().num_rows() > 0);
    drop(answer);
    let mut turns = 0;
    let left =
        engine.query(&format!("select count(*) from {many}"), &Parameters::new()).unwrap().next_while(&mut || {
            turns += 1;
            if turns > 3 { Err(isomorph::Error::usage("enough")) } else { Ok(()) }
        });
    assert_eq!(left.unwrap_err().message(), "enough");
}

#[test]
fn columns_have_the_types_of_the_tables() {
    let engine = engine_of(&social());
    let table = "graph_table (graph match (a:person)-[e:likes]->(p:post) where a.id = 0 columns (a.id, e.weight, a.birthday,
        a.id + 1 as next, a.id * 1.5 as more, a.firstName + '!' as loud, a.gender = 'male' as is_male, size(a.firstName) as n,
        [a.id] as list, a as node, coalesce(a.email, 'none') as mail, case when a.id > 1 then 1 else 2.5 end as number,
        toUpper(a.gender) as g, date('2020-01-01') as day, null as nothing, head([1, 2]) as first))";
    let columns = engine.columns(&format!("select * from {table} t"), &Parameters::new()).unwrap();
    let types: Vec<String> = columns.fields().iter().map(|field| field.data_type().to_string()).collect();
    let known = [
        "Int64", "Float64", "Date32", "Int64", "Float64", "Utf8", "Boolean", "Int64", "Utf8", "Utf8", "Utf8",
        "Float64", "Utf8", "Date32", "Utf8", "Int64",
    ];
    assert_eq!(types, known);
    let first = table.replace("where a.id = 0 ", "");
    let found = rows(
        &engine,
        &format!("select next - 1 = id, more = id * 1.5, first, list = '[' || id || ']' from {first} t limit 1"),
    );
    assert_eq!(found.unwrap(), ["true|true|1|true"]);
}

#[test]
fn columns_have_the_types_of_expressions() {
    let engine = engine_of(&social());
    let int = [
        "a.birthday.month",
        "a.birthday.year",
        "datetime('2020-02-03T00:00Z').epochMillis",
        "e.since.millisecond",
        "date('2020-02-03').day",
        "datetime('2020-02-03T00:00Z').offsetSeconds",
        "duration.between(a.birthday, b.birthday).months",
        "(a.birthday + duration({days: 3})).week",
        "{x: 1}.x",
        "a {.id, n: 2}.n",
        "a {.id}.id",
        "a['id']",
        "last([1, 2])",
        "[1, 2][0]",
        "[a.id, b.id][1]",
        "[1, 2][1..][0]",
        "reverse([1])[0]",
        "tail([1, 2])[0]",
        "range(1, 3)[2]",
        "head([x in [1, 2] | x * 2])",
        "head([x in [a, b] | x.id])",
        "head([(a)-[k:knows]->(c:person) | c.id])",
        "reduce(s = 0, x in [1, 2] | s + x)",
        "size(labels(a))",
        "length(p)",
        "toInteger('1')",
        "startNode(e).id",
        "coalesce(a.birthday.month, 0)",
        "case when a.id > 1 then a.birthday.month else 0 end",
        "-a.birthday.month",
        "([1] + [2])[0]",
        "([1] + 2)[0]",
        "nodes(p)[0].id",
        "relationships(p)[0].since.year",
        "properties(a).id",
    ];
    let others = [
        ("labels(a)[0]", "Utf8"),
        ("split('a b', ' ')[1]", "Utf8"),
        ("keys(a)[0]", "Utf8"),
        ("datetime('2020-02-03T00:00Z').timezone", "Utf8"),
        ("reduce(s = 0, x in [1.5] | s + x)", "Float64"),
        ("head([1, 2.5])", "Float64"),
        ("reverse('ab')", "Utf8"),
        ("a.birthday + duration({days: 3})", "Date32"),
        ("e.since", "Timestamp(ms)"),
        ("e.since - duration('PT1H')", "Timestamp(µs)"),
        ("localtime('10:00') + duration('PT1H')", "Time64(ns)"),
        ("duration({days: 1}) * 2", "Interval(MonthDayNano)"),
        ("duration.between(a.birthday, b.birthday)", "Interval(MonthDayNano)"),
        ("head([1, 'a'])", "Utf8"),
        ("time('10:00Z')", "Utf8"),
    ];
    let all = int.iter().map(|expr| (*expr, "Int64")).chain(others);
    for (expression, expected) in all {
        let table =
            format!("graph_table (graph match p = (a:person)-[e:knows]->(b:person) columns ({expression} as x)) t");
        let columns = engine.columns(&format!("select * from {table}"), &Parameters::new());
        let columns = columns.unwrap_or_else(|error| panic!("{expression}: {error}"));
        assert_eq!(columns.field(0).data_type().to_string(), expected, "{expression}");
        // The rows have the type.
        let count = rows(&engine, &format!("select count(x) from (select x from {table} limit 1) t"));
        assert_eq!(count.unwrap_or_else(|error| panic!("{expression}: {error}")), ["1"], "{expression}");
    }
    let joined = "select count(*) from graph_table (graph match (a:person)-[e:knows]->(b:person) columns (a.id, b.id as other, e.since)) t
        join knows on id = _source and other = _target and t.since = knows.since";
    assert_eq!(rows(&engine, joined).unwrap(), rows(&engine, "select count(*) from knows").unwrap());
    let table = |x: &str| format!("graph_table (graph match (a:person) columns ({x} as x)) t");
    let of_sql = "select max(extract(month from birthday)), min(extract(year from birthday)) from person";
    let found = format!(
        "select (select max(x) from {}), (select min(x) from {})",
        table("a.birthday.month"),
        table("a.birthday.year")
    );
    assert_eq!(rows(&engine, &found).unwrap(), rows(&engine, of_sql).unwrap());
    // P9D is after P10D among texts.
    let longest = format!("select max(x) = interval '10 days' from {}", table("duration({days: 9 + a.id % 2})"));
    assert_eq!(rows(&engine, &longest).unwrap(), ["true"]);
}
