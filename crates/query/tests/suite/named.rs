//! Names of tables and columns.

use std::sync::Arc;

use isomorph_query::{Engine, Parameters};

use crate::support::{engine_of, error, resources, root, rows, social};

#[test]
fn names_match_exactly_and_else_without_case() {
    let engine = engine_of(&social());
    let one = |question: &str| rows(&engine, question).unwrap();
    let expected = one("select \"firstName\" from person where id = 1007");
    for question in [
        "select firstName from person where id = 1007",
        "select FIRSTNAME from Person where ID = 1007",
        "select P.firstname from PERSON p where p.Id = 1007",
        "select person.FirstName from graph.person where graph.person.id = 1007",
        "select PERSON.firstName from GRAPH.Person where 1007 = id",
        "with X as (select firstname as N from person where id = 1007) select n from x",
        "select Given from (select firstName as given from person where id = 1007) as t",
        "select t.GIVEN from (select firstName from person where id = 1007) as T(given)",
        "select p.* except (id, lastname, gender, birthday, EMAIL, _row, _labels) from person p where id = 1007",
    ] {
        match rows(&engine, question) {
            Ok(found) => assert_eq!(found, expected, "{question}"),
            Err(error) => panic!("{question}: {error}"),
        }
    }
    assert!(error(&engine, "select \"firstname\" from person").message().contains("firstName"));
    assert!(error(&engine, "select 1 from \"Person\"").message().contains("person"));
}

#[test]
fn edges_are_called_by_their_relation() {
    let engine = engine_of(&social());
    let count = |table: &str| rows(&engine, &format!("select count(*) from {table}")).unwrap();
    assert_eq!(count("knows"), count("person_knows_person"));
    let ends = "select count(*) from knows k join person a on k._source = a.id join person b on b.id = k._target";
    assert_eq!(rows(&engine, ends).unwrap(), count("knows"));
    let shown = rows(&engine, "select knows._source from knows limit 1").unwrap();
    assert_eq!(shown.len(), 1);
}

#[test]
fn tables_about_tables() {
    let engine = engine_of(&social());
    let tables = rows(
        &engine,
        "select table_name from information_schema.tables where table_schema = 'graph' order by table_name",
    );
    let tables = tables.unwrap();
    assert!(tables.contains(&"person".to_owned()) && tables.contains(&"person_knows_person".to_owned()), "{tables:?}");
    let columns = "select column_name from information_schema.columns where table_name = 'person_knows_person'";
    let columns = rows(&engine, columns).unwrap();
    assert!(columns.contains(&"_source".to_owned()) && columns.contains(&"_target".to_owned()), "{columns:?}");
    assert!(!rows(&engine, "describe Person").unwrap().is_empty());
    assert!(rows(&engine, "show tables").unwrap().iter().any(|row| row.contains("|person|")));
}

#[test]
fn several_graphs_are_schemas() {
    let mut engine = Engine::new(resources()).unwrap();
    let home = tempfile::tempdir().unwrap();
    let nock = home.path().join("social.parq").display().to_string();
    let graph = isomorph::open(&social()).unwrap();
    graph.convert(&nock).unwrap();
    engine.add_graph("a", Arc::new(graph)).unwrap();
    engine.add_graph("b", Arc::new(isomorph::open(&nock).unwrap())).unwrap();
    let people = root().join("examples/people.ttl").display().to_string();
    engine.add_graph("c", Arc::new(isomorph::open(&people).unwrap())).unwrap();
    let same = "select count(*) from a.person p join B.Person q on p.id = q.id where p.firstName = q.firstName";
    assert_eq!(rows(&engine, same).unwrap(), rows(&engine, "select count(*) from a.person").unwrap());
    let several = error(&engine, "select count(*) from person");
    assert!(several.message().contains("a.person, b.person"), "{several}");
    let unclear = error(&engine, "select person.id from a.person join b.person on person.id = person.id");
    assert!(unclear.message().contains("a.person, b.person"), "{unclear}");
    assert_ne!(rows(&engine, "select count(*) from quads").unwrap(), ["0"]);
    assert!(error(&engine, "select * from d.person").message().contains("no graph d"));
    assert!(engine.add_graph("a", Arc::new(isomorph::open(&people).unwrap())).is_err());
}

#[test]
fn triples_are_a_table_of_text() {
    let engine = engine_of(&root().join("examples/people.ttl").display().to_string());
    let home = tempfile::tempdir().unwrap();
    let lake = home.path().join("people.lake").display().to_string();
    isomorph::open(&root().join("examples/people.ttl").display().to_string()).unwrap().convert(&lake).unwrap();
    let stored = engine_of(&lake);
    for question in [
        "select * from quads",
        "select count(*) from quads",
        "select subject, object from Quads where predicate = '<http://example.org/knows>'",
        "select count(distinct subject) from quads where object like '\"%'",
        "select a.subject from quads a join quads b on a.object = b.subject where a.predicate in
            ('<http://example.org/knows>', '<http://example.org/name>')",
        "select count(*) from quads where graph is null",
        "select count(*) from quads where graph = '<urn:none>'",
        // Few IRIs are looked up in a store.
        "select * from quads where subject = '<http://example.org/ann>'",
        "select * from quads where subject in ('<http://example.org/ann>', '<http://example.org/bob>', '<urn:none>') and
            predicate in ('<http://example.org/knows>', '<http://example.org/name>')",
        "select subject from quads where object = '<http://example.org/bob>' and predicate <> '<urn:none>'",
        "select count(*) from quads where subject = '<http://example.org/ann>' and object = '<urn:none>'",
        "select count(*) from quads where subject = '<http://example.org/ann>' or object like '\"%'",
        "select a.object from quads a, quads b where a.subject = b.object and b.subject = '<http://example.org/ann>'",
        "select count(*) from quads where object in ('\"Ann\"', '<http://example.org/bob>')",
    ] {
        let mut both = [&engine, &stored].map(|engine| rows(engine, question).unwrap());
        both.iter_mut().for_each(|rows| rows.sort());
        assert_eq!(both[0], both[1], "{question}");
        assert!(!both[0].is_empty(), "{question}");
    }
}

#[test]
fn a_property_is_never_hidden() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("person.csv"), "id,_row,_labels\n1,a,b\n2,c,d\n").unwrap();
    std::fs::write(home.path().join("knows.csv"), "source,target,_source,_target\n1,2,x,y\n").unwrap();
    std::fs::write(
        home.path().join("graph.pgq"),
        "CREATE EXTERNAL TABLE person STORED AS CSV LOCATION 'person.csv';
         CREATE EXTERNAL TABLE knows STORED AS CSV LOCATION 'knows.csv';
         CREATE PROPERTY GRAPH g VERTEX TABLES (person KEY (id)) EDGE TABLES (knows SOURCE KEY (\"source\") REFERENCES
         person (id) DESTINATION KEY (target) REFERENCES person (id));",
    )
    .unwrap();
    let engine = engine_of(&home.path().display().to_string());
    let own = rows(&engine, "select _source, _target, __source, __target from knows").unwrap();
    assert_eq!(own, ["x|y|1|2"]);
    assert_eq!(rows(&engine, "select _row, _labels from person order by id").unwrap(), ["a|b", "c|d"]);
}

#[test]
fn a_column_may_be_shown_twice() {
    let engine = engine_of(&social());
    for (question, names, expected) in [
        ("select id, id from person where id = 1007", "id id_2", "1007|1007"),
        (
            "select id, p.id, ID from person p where id < 1010 order by id desc limit 1",
            "id id_2 id_3",
            "1007|1007|1007",
        ),
        ("select distinct id, id from person where id = 1007 order by id", "id id_2", "1007|1007"),
        (
            "select id, count(*), id, count(*) from person where id = 1007 group by id",
            "id count(*) id_2 count(*)_2",
            "1007|1|1007|1",
        ),
        ("select id as a, id as a, id from person where id = 1007", "a a_2 id", "1007|1007|1007"),
        ("select * from (select id, id from person) t where id = 1007", "id id_2", "1007|1007"),
        ("select count(*) from (select id, id, id from person) t", "count(*)", "500"),
        ("select a + b as s from (select id, id from person) t(a, b) where a = 1007", "s", "2014"),
        ("select population, * from city where name = 'Accra'", "", ""),
        ("select *, population from city where name = 'Accra'", "", ""),
    ] {
        let answer = engine
            .query(question, &isomorph_query::Parameters::new())
            .unwrap_or_else(|error| panic!("{question}: {error}"));
        let shown: Vec<String> = answer.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert!(names.is_empty() || shown.join(" ") == names, "{question}: {shown:?}");
        let found = rows(&engine, question).unwrap();
        assert_eq!(found.len(), 1, "{question}");
        assert!(expected.is_empty() || found == [expected], "{question}: {found:?}");
    }
}

#[test]
fn two_columns_of_a_subquery_that_are_called_alike_are_told_apart() {
    let engine = engine_of(&social());
    let two = "select a.id, b.id from person a join person b on a.id = b.id where a.id = 1007";
    for (question, names) in [
        (two.to_owned(), ["id", "id_2"]),
        (format!("select * from ({two}) t"), ["id", "id_2"]),
        (format!("with t as ({two}) select * from t"), ["id", "id_2"]),
        (format!("select t.id_2 as one, p.id from ({two}) t, person p where p.id = 1007"), ["one", "id"]),
        ("select * from (select id as x, 1 as x from person where id = 1007) t".to_owned(), ["x", "x_2"]),
    ] {
        let columns = engine.columns(&question, &Parameters::new());
        let columns = columns.unwrap_or_else(|error| panic!("{question}: {error}"));
        assert_eq!(columns.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), names, "{question}");
        assert_eq!(rows(&engine, &question).unwrap().len(), 1, "{question}");
    }
    for question in [
        format!("select id from ({two}) t"),
        format!("select t.id from ({two}) t"),
        format!("with t as ({two}) select u.id from t u"),
        format!("select count(*) from ({two}) t join person p on p.id = t.id"),
    ] {
        let told = error(&engine, &question);
        let table = if question.contains("t u") { "u" } else { "t" };
        assert_eq!(told.message(), format!("two columns of {table} are called id"), "{question}");
        assert!(told.hints().any(|hint| hint.contains("b.id as other")), "{told}");
    }
    let both = "select * from person a join person b on a.id = b.id where a.id = 1007";
    for question in [
        format!("select t.id from ({both}) t"),
        "select u.id from (select a.id, b.id from person a join person b on a.id = b.id) u".to_owned(),
        "select t.id from (select a.gender as id, a.id from person a) t".to_owned(),
        format!("select 1 from person p where exists (select 1 from ({two}) t where t.id = p.id)"),
    ] {
        assert!(error(&engine, &question).message().starts_with("two columns of "), "{question}");
    }
    // A name without a table may be that of both tables.
    let several = error(&engine, &format!("select id from ({two}) t join person p on p.firstName = 'x'"));
    assert_eq!(several.message(), "several tables have a column id");
    for (question, expected) in [
        (format!("select count(*) from ({two}) t"), "1"),
        (format!("select count(*) from ({both}) t"), "1"),
        (format!("select p.id from ({two}) t join person p on p.id = 1000"), "1000"),
        (
            format!(
                "select count(*) from person where id in (select id from city) or exists (select 1 from ({two}) t)"
            ),
            "500",
        ),
        ("select count(*) from (select a.gender as id, a.id from person a) t".to_owned(), "500"),
        // Names that differ in case are two.
        ("select a from (select id as a, gender as \"A\" from person where id = 1007) t".to_owned(), "1007"),
        ("select t.\"A\" from (select id as a, gender as \"A\" from person where id = 1007) t".to_owned(), "female"),
    ] {
        match rows(&engine, &question) {
            Ok(found) => assert_eq!(found, [expected], "{question}"),
            Err(error) => panic!("{question}: {error}"),
        }
    }
}

#[test]
fn casts_tell_columns_apart() {
    let engine = engine_of(&social());
    for (question, names, expected) in [
        (
            "select sum(id), sum(cast(id as double)) / 2 as half from person where id < 1010",
            "sum(id) half",
            "2007|1003.5",
        ),
        ("select count(id) as n, count(id::text) as m, count(id::double) as o from person", "n m o", "500|500|500"),
        (
            "select sum(id) over (order by id), sum(id::double) over (order by id) as d from person order by id limit 1",
            "sum(id) OVER (ORDER BY id) d",
            "1000|1000.0",
        ),
        ("select id::text, id::double from person where id = 1007", "id::TEXT id::DOUBLE", "1007|1007.0"),
        (
            "select id::text, id::double, count(*) as n from person where id = 1007 group by 1, 2",
            "id::TEXT id::DOUBLE n",
            "1007|1007.0|1",
        ),
        ("select count(*) as n from (select id::text, id::double from person) t", "n", "500"),
        ("select t.id from (select id::text from person where id = 1007) t", "id", "1007"),
        ("select count(*) as n from (select id + 1, id + 1 from person) t", "n", "500"),
    ] {
        let columns = engine.columns(question, &Parameters::new());
        let columns = columns.unwrap_or_else(|error| panic!("{question}: {error}"));
        let shown: Vec<&str> = columns.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(shown.join(" "), names, "{question}");
        assert_eq!(rows(&engine, question).unwrap(), [expected], "{question}");
    }
}
