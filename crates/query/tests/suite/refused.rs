//! What a question cannot do, and what errors say.

use isomorph::{Kind, Location};
use isomorph_query::Parameters;

use crate::support::{engine_of, error, rows, social, with};

#[test]
fn nothing_but_the_arguments_is_read() {
    let engine = engine_of(&social());
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("secret.csv");
    std::fs::write(&file, "a\n1\n").unwrap();
    let file = file.display().to_string();
    for question in [
        format!("select * from '{file}'"),
        format!("select * from \"{file}\""),
        format!("select * from read_csv('{file}')"),
        format!("select * from parquet_metadata('{file}')"),
        format!("create external table t stored as csv location '{file}'"),
        format!("copy (select 1) to '{file}'"),
        "set datafusion.execution.batch_size = 1".to_owned(),
        "insert into person values (1)".to_owned(),
        "drop table person".to_owned(),
        "explain insert into person (id) values (1)".to_owned(),
    ] {
        let error = error(&engine, &question);
        assert!(matches!(error.kind(), Kind::Usage | Kind::Unsupported), "{question}: {error}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "a\n1\n");
}

#[test]
fn errors_say_what_is_near_and_where() {
    let engine = engine_of(&social());
    let table = error(&engine, "select *\nfrom persn");
    assert!(
        table.message().contains("there is no table persn; did you mean person?")
            || table.message().contains("did you mean"),
        "{table}"
    );
    assert_eq!(table.place().line, Some(2), "{table}");
    let column = error(&engine, "select fristName from person");
    assert!(column.message().contains("firstName"), "{column}");
    assert_eq!((column.place().line, column.place().field.as_deref()), (Some(1), Some("column 8")), "{column}");
    let column = error(&engine, "select p.fristName from person p");
    assert!(column.message().contains("firstName"), "{column}");
    let syntax = error(&engine, "select id\nfrom person wher id = 1 2");
    assert_eq!((syntax.kind(), syntax.place().line), (Kind::Usage, Some(2)), "{syntax}");
    let division = error(&engine, "select 1 / (id - id) from person");
    assert!(division.message().to_lowercase().contains("divide by zero"), "{division}");
}

#[test]
fn parameters_are_bound() {
    let engine = engine_of(&social());
    let of = |question: &str, value: &str| with(&engine, question, &Parameters::new().with("x", value));
    let count = "select count(*) from person where id = $x";
    assert_eq!(of(count, "1007").unwrap(), ["1"]);
    assert!(of(count, "1007 or true").is_err());
    let name = "select count(*) from person where \"firstName\" = $x";
    assert_eq!(of(name, "x' or 'a' = 'a").unwrap(), ["0"]);
    assert_eq!(of("select $x || 'b'", "a").unwrap(), ["ab"]);
    assert!(error(&engine, count).message().contains("$x"));
    assert!(of("select 1", "1").unwrap_err().message().contains("no parameter $x"));
}

#[test]
fn a_file_is_a_table() {
    let mut engine = engine_of(&social());
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("prices.csv");
    std::fs::write(&file, "id;price;Note\n1007;2.5;x\n1021;;\"a;b\"\n").unwrap();
    engine.add_file("prices", &Location::from_path(&file)).unwrap();
    assert_eq!(rows(&engine, "select * from prices order by id").unwrap(), ["1007|2.5|x", "1021|null|a;b"]);
    let joined = "select p.id, price from person p join Prices t using (ID) order by price";
    assert_eq!(rows(&engine, joined).unwrap(), ["1007|2.5", "1021|null"]);
    assert_eq!(rows(&engine, "select count(*) from files.prices where NOTE like '%;%'").unwrap(), ["1"]);
    assert!(engine.add_file("prices", &Location::from_path(&file)).is_err());
}

#[test]
fn little_memory_spills_or_says_so() {
    use isomorph::storage::{Budget, Resources};
    use std::sync::Arc;
    let resources =
        |bytes| Resources { budget: Budget::new(bytes), threads: 2, ..Resources::of_this_machine().unwrap() };
    let question = "select count(*), max(v) from (select row_number() over (order by a.v desc, b.value) as v from
        (select value as v from range(0, 600)) a cross join range(0, 1500) b)";
    let run = |bytes| {
        let mut engine = isomorph_query::Engine::new(resources(bytes)).unwrap();
        engine.add_graph("graph", Arc::new(isomorph::open(&social()).unwrap())).unwrap();
        rows(&engine, question)
    };
    assert_eq!(run(64 << 20).unwrap(), ["900000|900000"]);
    let error = run(1 << 20).unwrap_err();
    assert_eq!(error.kind(), Kind::TooLarge, "{error}");
    assert!(error.message().contains("Sort"), "{error}");
}

#[test]
fn a_join_of_long_texts_spills() {
    use isomorph::storage::{Budget, Resources};
    use std::sync::Arc;
    let resources = Resources { budget: Budget::new(32 << 20), threads: 2, ..Resources::of_this_machine().unwrap() };
    let mut engine = isomorph_query::Engine::new(resources).unwrap();
    engine.add_graph("graph", Arc::new(isomorph::open(&social()).unwrap())).unwrap();
    // 150,000 keys of 70 letters: about a third of the limit for each side.
    let side = |name: &str, order: &str| {
        format!(
            "(select repeat('x', 60) || lpad(cast(value as varchar), 10, '0') as key, value as v from range(0, 150000) order by {order}) {name}"
        )
    };
    let question = format!(
        "select count(*), sum(a.v), max(b.v) from {} join {} on a.key = b.key",
        side("a", "value % 1000, value"),
        side("b", "value % 777, value")
    );
    assert_eq!(rows(&engine, &question).unwrap(), ["150000|11249925000|149999"]);
}

#[test]
fn an_answer_can_be_left() {
    let engine = engine_of(&social());
    let endless = "with recursive r as (select 1 as n union all select n + 1 from r) select sum(n) from r";
    let mut answer = engine.query(endless, &Parameters::new()).unwrap();
    let mut looks = 0;
    let ended = answer.next_while(&mut || {
        looks += 1;
        if looks > 3 { Err(isomorph::Error::new(Kind::Cancelled, "enough")) } else { Ok(()) }
    });
    assert_eq!(ended.unwrap_err().kind(), Kind::Cancelled);
    assert!(answer.next().is_none());
    drop(engine.query("select * from knows k cross join knows l", &Parameters::new()).unwrap());
}

#[test]
fn a_plain_timestamp_has_no_offset() {
    let engine = engine_of(&social());
    for question in [
        "select timestamp '2024-01-01 00:00:00+02:00'",
        "select cast('2024-01-01T00:00:00-0530' as timestamp)",
        "select * from knows where since < timestamp '2024-01-01 00:00+02'",
    ] {
        let error = error(&engine, question);
        assert!(error.message().contains("cannot have the offset"), "{question}: {error}");
    }
    let of = |question: &str| rows(&engine, question).unwrap();
    assert_eq!(of("select timestamp '2024-01-01 00:00:00'"), ["2024-01-01T00:00:00"]);
    assert_eq!(of("select timestamp '2024-01-01T00:00:00Z'"), ["2024-01-01T00:00:00"]);
    assert_eq!(of("select timestamp '2024-01-01'"), ["2024-01-01T00:00:00"]);
    assert_eq!(of("select timestamptz '2024-01-01 00:00:00+02:00' = timestamptz '2023-12-31 22:00:00Z'"), ["true"]);
}

#[test]
fn keys_of_groups_are_named_once() {
    let engine = engine_of(&social());
    for (group, what) in [
        ("cube(gender, gender)", "cube"),
        ("rollup((gender, id), gender)", "rollup"),
        ("grouping sets ((gender, gender))", "a grouping set"),
    ] {
        let error = error(&engine, &format!("select gender, count(*) from person group by {group}"));
        assert_eq!(error.message(), format!("{what} names gender twice"));
    }
    let sets = "select count(*) from (select gender, count(*) from person group by grouping sets ((gender), (gender, id), ())) t";
    assert_eq!(rows(&engine, sets).unwrap(), ["504"]);
}

#[test]
fn any_and_all_may_depend_on_the_outer_row() {
    let engine = engine_of(&social());
    let count =
        |condition: &str| rows(&engine, &format!("select count(*) from person p where {condition}")).unwrap().remove(0);
    let inner = "from person q where q.gender = p.gender";
    for (condition, other) in [
        (format!("1300 > any (select q.id {inner})"), format!("(select min(q.id) {inner}) < 1300")),
        (format!("p.id > all (select q.id - 5 {inner})"), format!("(select max(q.id) - 5 {inner}) < p.id")),
        (
            format!("not (p.id > any (select q.id {inner}))"),
            format!("(select min(q.id) {inner}) >= p.id or (select count(*) {inner}) = 0"),
        ),
        (format!("not (p.id >= all (select q.id {inner}))"), format!("(select max(q.id) {inner}) > p.id")),
        // Nothing is known of a comparison with null.
        (
            format!("not (p.id > any (select nullif(q.id, 1007) {inner}))"),
            format!(
                "(select count(*) {inner}) = 0 or (select min(q.id) {inner}) >= p.id and not exists (select 1 {inner} and q.id = 1007)"
            ),
        ),
        (
            format!("p.id > all (select nullif(q.id, 1007) {inner} and q.id < p.id)"),
            format!("not exists (select 1 {inner} and q.id = 1007 and q.id < p.id)"),
        ),
    ] {
        assert_eq!(count(&condition), count(&other), "{condition}");
    }
    assert_eq!(
        rows(&engine, "select id > any (select id from person) from person where id = 1000").unwrap(),
        ["false"]
    );
}

#[test]
fn what_the_engine_does_not_join_is_refused_in_words() {
    let engine = engine_of(&social());
    for (question, expected) in [
        (
            "with u(x, y) as (values (1, 2)) select id in (select max(u.x) from u where u.y < person.id) from person",
            "a subquery whose condition on the outer row is another than =",
        ),
        (
            "select p.id from person p left join city c on c.population in (select q.id from person q where q.id = p.id)",
            "a subquery in the condition of an outer join depends on both tables",
        ),
        (
            "select p.id, k._target from person p left join lateral (select _target from knows where _source < p.id limit 2) k on true",
            "a subquery that depends on the outer row is not supported here",
        ),
        ("select 1 = any(2)", "any compares with an array or a subquery, found a value of type Int64"),
    ] {
        let error = error(&engine, question);
        assert!(error.message().contains(expected), "{question}: {error}");
    }
}

#[test]
fn texts_beside_dates_are_dates() {
    let engine = engine_of(&social());
    let of = |question: &str| with(&engine, question, &Parameters::new().with("x", "2000-01-01")).unwrap();
    assert_eq!(of("select coalesce(cast(null as date), $x)"), ["2000-01-01"]);
    assert_eq!(of("select count(*) from person where coalesce(birthday, $x) is null"), ["0"]);
}
