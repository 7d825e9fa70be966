//! Answers that the engine alone would give wrongly, each with what SQL says.

use crate::support::{engine_of, error, rows, social};
use isomorph_query::{Engine, Parameters};

/// Nodes 1, 2, 3 with the floats 0.0, -0.0, 5.0; prices and dates.
pub(crate) fn engine() -> (tempfile::TempDir, Engine) {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(
        home.path().join("node.csv"),
        "id,f,price,d,seen\n1,0.0,1.50,1582-10-15,2001-02-03T04:05:06\n2,-0.0,,9999-12-31,\n3,5.0,123456789012345678.99,2001-02-03,\n",
    )
    .unwrap();
    std::fs::write(home.path().join("link.csv"), "source,target\n1,2\n").unwrap();
    let mapping = "CREATE EXTERNAL TABLE node (id BIGINT NOT NULL, f DOUBLE, price DECIMAL(20,2), d DATE, seen TIMESTAMP(3))
            STORED AS CSV LOCATION 'node.csv';
        CREATE EXTERNAL TABLE link (\"source\" BIGINT NOT NULL, target BIGINT NOT NULL) STORED AS CSV LOCATION 'link.csv';
        CREATE PROPERTY GRAPH g VERTEX TABLES (node KEY (id)) EDGE TABLES (link SOURCE KEY (\"source\") REFERENCES
            node (id) DESTINATION KEY (target) REFERENCES node (id));";
    std::fs::write(home.path().join("graph.pgq"), mapping).unwrap();
    let engine = engine_of(&home.path().display().to_string());
    (home, engine)
}

/// Questions with their answers.
#[track_caller]
pub(crate) fn all(engine: &Engine, questions: &[(&str, &[&str])]) {
    let mut wrong = Vec::new();
    for (question, expected) in questions {
        match rows(engine, question) {
            Ok(found) if found == *expected => {}
            other => wrong.push(format!("{question}\n  expected {expected:?}\n  found {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn any_and_all_have_their_own_columns() {
    let (_home, engine) = engine();
    all(
        &engine,
        &[
            ("select id from node where id > any(select id from node where id<3) order by 1", &["2", "3"]),
            ("select id from node where id > all(select id from node where id<3)", &["3"]),
            ("select id from node where id <= all(select id from node)", &["1"]),
            ("select id from node where id <> all(select id from node where id=1) order by 1", &["2", "3"]),
            ("select id from node where id = any(select id from node where id<3) order by 1", &["1", "2"]),
            ("select id from node where id = any(select target from (select _target as target from link) t)", &["2"]),
            (
                "select id from node n where id < any(select id from node m where m.id <= n.id + 1) order by 1",
                &["1", "2"],
            ),
        ],
    );
    let social = engine_of(&social());
    assert_eq!(
        rows(&social, "select count(*) n from person where id = any(select id from person where id<1010)").unwrap(),
        ["2"]
    );
}

#[test]
fn merged_columns_have_the_keys_of_both_tables() {
    let (_home, engine) = engine();
    let x = "(select id from node where id<2) x";
    let some = "(select id, f as g from node where id<3) s";
    all(
        &engine,
        &[
            (&format!("select id, y.f from {x} right join node y using (id) order by id"), &["1|0.0", "2|-0.0", "3|5.0"]),
            (&format!("select id, x.id, y.id from {x} full join node y using (id) order by id"), &["1|1|1", "2|null|2", "3|null|3"]),
            (&format!("select id, y.* except (id, price, d, seen) from {x} right join node y using (id) order by y.id"), &["1|0.0", "2|-0.0", "3|5.0"]),
            (&format!("select id, f, g from {some} natural full join (select id, f from node where id>1) y order by id"), &["1|null|0.0", "2|-0.0|-0.0", "3|5.0|null"]),
            (&format!("select * from {some} right join (select id, f from node where id>1) y using (id) order by id"), &["2|-0.0|-0.0", "3|null|5.0"]),
            (&format!("select id, count(*) from {x} right join node y using (id) group by id order by id"), &["1|1", "2|1", "3|1"]),
            (&format!("select id + 1 from {x} right join node y using (id) where id > 1 order by id"), &["3", "4"]),
            (
                "select id from (select id from node where id=1) a full join (select id from node where id=2) b using (id)
                    full join (select id from node where id>=2) c using (id) order by id",
                &["1", "2", "3"],
            ),
            (&format!("select id from {x} left join node y using (id)"), &["1"]),
            ("select * from (select id from node) a full join (select id from node) b using (id) order by 1", &["1", "2", "3"]),
        ],
    );
    // Rows with nulls are equal to no others.
    let all_columns = "with a as (select * from node) select id from a natural full join node order by id";
    assert_eq!(rows(&engine, all_columns).unwrap(), ["1", "2", "2", "3", "3"]);
    let refused =
        error(&engine, "select id from (with b as (select * from node) select * from b) a natural full join node");
    assert!(refused.message().contains("USING or NATURAL"), "{refused}");
}

#[test]
fn is_distinct_binds_more_than_and() {
    let (_home, engine) = engine();
    all(
        &engine,
        &[
            ("select true is distinct from false and false", &["false"]),
            ("select false is not distinct from true or true", &["true"]),
            ("select id from node where f is distinct from 5.0 or id = 3 order by id", &["1", "2", "3"]),
            ("select true and true is distinct from true or true", &["true"]),
            ("select not true is distinct from false and false", &["false"]),
            ("select null is distinct from 1 + 1 is true", &["true"]),
            ("select true is distinct from 1 = 2", &["true"]),
        ],
    );
}

#[test]
fn zeros_are_equal() {
    let (_home, engine) = engine();
    all(
        &engine,
        &[
            ("select x.id from node x join node y on x.f=y.f where y.id=2 order by 1", &["1", "2"]),
            ("select x.id from node x join node y on x.f=y.f where y.id=1 order by 1", &["1", "2"]),
            ("select x.id from node x, node y where x.f=y.f and y.id=2 order by 1 desc", &["2", "1"]),
            ("select x.id from node x join node y using (f) where y.id=2 order by x.id", &["1", "2"]),
            ("select id from node where f in (select f from node where id = 2) order by id", &["1", "2"]),
            (
                "select id from node x where exists (select 1 from node y where y.f = x.f and y.id = 2) order by id",
                &["1", "2"],
            ),
            ("select count(distinct f) from node", &["2"]),
            ("select count(distinct f), avg(id) from node", &["2|2.0"]),
            ("select count(*) from (select distinct f from node)", &["2"]),
            ("select count(*) from (select f from node group by f)", &["2"]),
            ("select count(*) from (select f, id > 2 from node group by f, id > 2)", &["2"]),
            ("select id from node where coalesce(f,1) in (0.0,7.0) order by id", &["1", "2"]),
            ("select id from node where coalesce(f,1) not in (0.0,7.0)", &["3"]),
            ("select id from node where f in (0.0, 7.0, 8.0, 9.0, 10.0) order by id", &["1", "2"]),
            ("select case f when 0.0 then 'zero' else 'other' end from node order by id", &["zero", "zero", "other"]),
            ("select nullif(f,0.0) from node order by id", &["null", "null", "5.0"]),
            ("select id from node where (f,id) = (0.0,2)", &["2"]),
            ("select id from node order by f, id desc", &["2", "1", "3"]),
            ("select id from node order by f, id desc limit 1", &["2"]),
            ("select id, rank() over (order by f) from node order by id", &["1|1", "2|1", "3|3"]),
            ("select id, count(*) over (partition by f) from node order by id", &["1|2", "2|2", "3|1"]),
            ("select count(*) from (select f from node where id=1 intersect select f from node where id=2)", &["1"]),
            ("select f from node where id=1 except select f from node where id=2", &[]),
            ("select count(*) from (select f from node union select f from node)", &["2"]),
            ("select f from node where id = 2", &["-0.0"]),
            ("select id from node where f between -0.0 and -0.0 order by id", &["1", "2"]),
            ("select id from node where f >= -0.0 and f < 1e0 order by id", &["1", "2"]),
            ("select id from node where f = any(select f from node where id = 2) order by id", &["1", "2"]),
        ],
    );
}

#[test]
fn integers_do_not_wrap() {
    let (_home, engine) = engine();
    for question in [
        "select sum(x) from (values (9223372036854775807),(1)) t(x)",
        "select g, sum(x) from (values (1, 9223372036854775807),(1, 1)) t(g, x) group by g",
        "select sum(x) from (values (18446744073709551615),(18446744073709551615)) t(x)",
        "select sum(distinct x) from (values (9223372036854775807),(1)) t(x)",
        "select sum(x) over (order by x rows between 1 preceding and current row) from (values (9223372036854775807),(9223372036854775806)) t(x)",
        "select x + 1 from (values (9223372036854775807)) t(x)",
        "select 9223372036854775807 + 1",
        "select x - 1 from (values (-9223372036854775808)) t(x)",
        "select x * 10 from (values (9223372036854775807)) t(x)",
        "select - x from (values (-9223372036854775808)) t(x)",
        "select id from node where id * 9223372036854775807 > 5",
        "select sum(x + 1) from (values (9223372036854775807),(1)) t(x)",
    ] {
        let error = error(&engine, question);
        assert!(
            error.message().contains("verflow") || error.message().contains("more than 64 bits"),
            "{question}: {error}"
        );
    }
    all(
        &engine,
        &[
            ("select sum(x) from (values (9223372036854775807),(1),(-1)) t(x)", &["9223372036854775807"]),
            (
                "select sum(x) from (values (9223372036854775807),(9223372036854775807),(-9223372036854775807)) t(x)",
                &["9223372036854775807"],
            ),
            (
                "select sum(cast(x as decimal(38,0))) from (values (9223372036854775807),(1)) t(x)",
                &["9223372036854775808"],
            ),
            ("select sum(id), sum(distinct id), sum(id) filter (where id > 1) from node", &["6|6|5"]),
            ("select sum(id) from node where id > 5", &["null"]),
            ("select id % 2, sum(id + 1) as s from node group by id % 2 order by 1", &["0|3", "1|6"]),
            ("select id + 1 as n, count(*) from node group by id + 1 order by id + 1", &["2|1", "3|1", "4|1"]),
            ("select -id * 2 - 1 from node where id + 1 = 2", &["-3"]),
            (
                "select sum(id) over (order by id rows between 1 preceding and current row) from node order by id",
                &["1", "3", "5"],
            ),
            (
                "select sum(distinct id) over (order by id rows between 1 preceding and current row) from node order by id",
                &["1", "3", "5"],
            ),
            ("select (id + 2) * 3 - id * (id - 1) - 1 from node order by id", &["8", "9", "8"]),
            ("select -9223372036854775808", &["-9223372036854775808"]),
        ],
    );
}

#[test]
fn windows_are_computed_from_their_rows() {
    let (_home, engine) = engine();
    let over = "over (order by id rows between 1 preceding and current row)";
    let large = "(values (1,1e300),(2,1.0),(3,2.0)) t(id,f)";
    let nan = "(values (1,1.0),(2,'NaN'::double),(3,2.0),(4,3.0)) t(id,f)";
    all(
        &engine,
        &[
            (&format!("select sum(f) {over} from {large} order by id"), &["1e300", "1e300", "3.0"]),
            (&format!("select avg(f) {over} from {large} order by id"), &["1e300", "5e299", "1.5"]),
            (&format!("select sum(f) {over} from {nan} order by id"), &["1.0", "NaN", "NaN", "5.0"]),
            (&format!("select avg(f) {over} from {nan} order by id"), &["1.0", "NaN", "NaN", "2.5"]),
            (&format!("select var_pop(f) {over} from {nan} order by id"), &["0.0", "NaN", "NaN", "0.25"]),
            (&format!("select stddev_pop(f) {over} from {large} order by id"), &["0.0", "inf", "0.5"]),
            (&format!("select avg(id) {over} from {nan} order by id"), &["1.0", "1.5", "2.5", "3.5"]),
            (
                "select sum(f) over (order by id rows between 1 preceding and 1 preceding) from (values (1,1.5),(2,null),(3,2.0)) t(id,f) order by id",
                &["null", "1.5", "null"],
            ),
        ],
    );
}

#[test]
fn set_operations_count_rows() {
    let (_home, engine) = engine();
    let two = "select x from (values (1),(1),(2),(null),(null)) t(x)";
    let one = "select x from (values (1),(null)) u(x)";
    all(
        &engine,
        &[
            (&format!("select * from ({two} intersect all {one}) order by 1"), &["1", "null"]),
            (&format!("select * from ({two} except all {one}) order by 1"), &["1", "2", "null"]),
            (&format!("select * from ({two} intersect {one}) order by 1"), &["1", "null"]),
            (&format!("select * from ({two} except {one}) order by 1"), &["2"]),
            (&format!("select * from ({two} intersect all {two}) order by 1"), &["1", "1", "2", "null", "null"]),
            (
                "select id, f from node intersect all select id, f from node where id < 3 order by id",
                &["1|0.0", "2|-0.0"],
            ),
            (
                "select id from node except all (select id from node except all select id from node where id = 1) order by id",
                &["1"],
            ),
        ],
    );
}

#[test]
fn numerals_are_exact_beside_decimals() {
    let (_home, engine) = engine();
    all(
        &engine,
        &[
            ("select id from node where price = 123456789012345678.99", &["3"]),
            ("select id from node where price >= 123456789012345678.99", &["3"]),
            ("select id from node where price in (123456789012345678.99, 2.5)", &["3"]),
            ("select id from node where price between 123456789012345678.98 and 123456789012345678.99", &["3"]),
            ("select cast(123456789012345678.99 as decimal(20,2))", &["123456789012345678.99"]),
            ("select 100000000000000000000", &["100000000000000000000"]),
            ("select cast(price as double) = '123456789012345678.99'::double from node where id = 3", &["true"]),
            ("select price * 1.1 from node where id = 1", &["1.650"]),
            ("select id from node where f = 5.0 and f > 0.1 and f < 1e300", &["3"]),
            ("select 0.1, 5/2.0, 1e300, -0.0, -1.5", &["0.1|2.5|1e300|-0.0|-1.5"]),
            ("select f * 1.1 from node where id = 3", &["5.5"]),
            ("select 0.1 + 0.2 = 0.3 as a, cast(0.1 as decimal(2, 1)) + 0.2 = 0.3 as b", &["false|true"]),
            ("select id from node where id * 1.5 > 4.4 and (price + 1.25) * 2 > 5.49 order by id", &["3"]),
            ("select sum(x) from (values (1.5), (2)) t(x)", &["3.5"]),
            (
                "select percentile_cont(0.3) within group (order by x) from (select value as x from range(0, 40))",
                &["11.7"],
            ),
            ("select percentile_cont(0.5) within group (order by id desc), median(id) from node", &["2.0|2.0"]),
            (
                "select id % 2 as g, percentile_cont(0.25) within group (order by id) from node group by 1 order by 1",
                &["0|2.0", "1|1.5"],
            ),
            ("select case when price > 1.4 then 0.5 else f end from node where id = 1", &["0.5"]),
        ],
    );
    let with = |question: &str, value: &str| {
        crate::support::with(&engine, question, &Parameters::new().with("x", value)).unwrap()
    };
    assert_eq!(with("select id from node where price = $x", "123456789012345678.99"), ["3"]);
    assert_eq!(with("select 2.5 < $x", "2.55"), ["true"]);
    assert_eq!(with("select id from node where f > $x and f < 9.75", "4.25"), ["3"]);
}

#[test]
fn times_of_all_years() {
    let (_home, engine) = engine();
    all(
        &engine,
        &[
            ("select id from node where d > timestamp '2000-01-01' order by id", &["2", "3"]),
            ("select id from node where d < timestamp '2000-01-01 00:00:00.123456789'", &["1"]),
            ("select id from node where d <= now() order by id", &["1", "3"]),
            ("select id from node where d > now()", &["2"]),
            ("select d::timestamp from node where id = 1", &["1582-10-15T00:00:00"]),
            (
                "select date_trunc('year', d) from node order by id",
                &["1582-01-01T00:00:00", "9999-01-01T00:00:00", "2001-01-01T00:00:00"],
            ),
            ("select timestamp '1600-01-01'", &["1600-01-01T00:00:00"]),
            ("select id from node where seen = timestamp '2001-02-03 04:05:06'", &["1"]),
            ("select id from node where seen < now()", &["1"]),
            (
                "select count(*) from node where current_date > date '2020-01-01' and now() = now() and now() > timestamp '2020-01-01'",
                &["3"],
            ),
            ("select timestamp '2001-02-03 04:05:06.123456789'", &["2001-02-03T04:05:06.123456789"]),
        ],
    );
}

#[test]
fn functions_of_sql() {
    let (_home, engine) = engine();
    all(&engine, &[("select mod(7, 1 + 2), sign(-2.5), sign(3)", &["1|-1.0|1.0"])]);
    let near = error(&engine, "select lenght('a')");
    assert!(near.message().contains("did you mean length"), "{near}");
    let scalar = error(&engine, "select a.id, (select count(*) from node b where b.f<a.f) n from node a");
    assert!(scalar.hints().any(|hint| hint.contains("join")), "{scalar}");
    let several = error(&engine, "select id from node where id in (select id, f from node)");
    assert!(several.hints().any(|hint| hint.contains("exists")), "{several}");
}

#[test]
fn columns_are_called_as_they_are_written() {
    let (_home, engine) = engine();
    let names = |question: &str| {
        let own: Vec<String> = engine
            .columns(question, &Parameters::new())
            .unwrap()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect();
        let answer = engine.query(question, &Parameters::new()).unwrap();
        let shown: Vec<String> = answer.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(own, shown, "{question}");
        own.join("|")
    };
    assert_eq!(names("select sum(f), count(*), id + 1, ID from node group by id"), "sum(f)|count(*)|id + 1|id");
    assert_eq!(
        names("select max(f), x.*, min(x.f) from (select id, f from node) x group by x.id, x.f"),
        "max(f)|id|f|min(x.f)"
    );
    assert_eq!(names("select count(*) from node union all select 1"), "count(*)");
    assert_eq!(names("select ID, y.f, x.id from (select id from node) x full join node y using (id)"), "id|f|id_2");
    assert_eq!(names("select f = 0.5, 'a' from node order by sum(f) over ()"), "f = 0.5|'a'");
}

#[test]
fn too_much_is_refused_soon() {
    let (_home, engine) = engine();
    let resources = isomorph::storage::Resources {
        budget: isomorph::storage::Budget::new(64 << 20),
        ..crate::support::resources()
    };
    let mut small = Engine::new(resources).unwrap();
    small.add_graph("graph", std::sync::Arc::new(isomorph::open(&social()).unwrap())).unwrap();
    for question in [
        format!("select {}", vec!["1"; 3000].join("+")),
        format!(
            "select id from person where {}",
            (10..3010).map(|n| format!("id<>{n}")).collect::<Vec<_>>().join(" and ")
        ),
        vec!["select 1"; 1500].join(" union all "),
        "select array_length(range(1,300000000))".to_owned(),
        "select length(repeat('a',200000000))".to_owned(),
        "select length(lpad('a', 200000000))".to_owned(),
        "select length(repeat(gender, 10000000)) from person".to_owned(),
    ] {
        let error = error(&small, &question);
        assert_eq!(error.kind(), isomorph::Kind::TooLarge, "{error}");
    }
    let joined = |count: usize, link: &str| (10..10 + count).map(|n| format!("id<>{n}")).collect::<Vec<_>>().join(link);
    let longest = format!("select count(*) from node where {}", joined(100, " and "));
    assert_eq!(rows(&engine, &longest).unwrap(), ["3"]);
    assert_eq!(rows(&engine, &format!("select {}", vec!["1"; 401].join("+"))).unwrap(), ["401"]);
    assert_eq!(
        rows(&engine, &format!("select count(*) from ({})", vec!["select 1"; 200].join(" union all "))).unwrap(),
        ["200"]
    );
}

#[test]
fn planning_can_be_left() {
    let (_home, engine) = engine();
    let question = "select count(*) from range(0, 100000000) a where value in (select length(repeat('a', 100)) from range(0, 1000))";
    let mut looks = 0;
    let ended = engine.query_while(question, &Parameters::new(), &mut || {
        looks += 1;
        Err(isomorph::Error::new(isomorph::Kind::Cancelled, "enough"))
    });
    assert_eq!((ended.unwrap_err().kind(), looks), (isomorph::Kind::Cancelled, 1));
}

#[test]
fn joins_that_do_not_fit_into_memory_sort_both_sides() {
    let budget = isomorph::storage::Budget::new(32 << 20);
    let mut engine = Engine::new(isomorph::storage::Resources { budget, ..crate::support::resources() }).unwrap();
    engine.add_graph("graph", std::sync::Arc::new(isomorph::open(&social()).unwrap())).unwrap();
    let side = "(select value as k, value * 7 as v from generate_series(1, 600000))";
    let joined = format!("from {side} x join {side} y on x.k = y.k and x.v = y.v");
    let question = format!("select count(*), sum(x.v + y.v) {joined}");
    assert_eq!(rows(&engine, &question).unwrap(), ["600000|2520004200000"]);
}

/// Two lists about one value are two, whatever their items are.
#[test]
fn lists_of_columns_and_nulls_are_what_they_say() {
    let engine = engine_of(&social());
    for (condition, expected) in [
        ("a in (b, 7) and a not in (3, 8)", "3"),
        ("a in (b, 7, 9, 10) and a not in (3, 8, 11, 12)", "3"),
        ("a in (b, null) and a not in (3, null)", ""),
        ("a in (2, 7) and a not in (3, null)", ""),
        ("(a in (2, null) and a not in (3, null)) is null", "1 3"),
        ("(a in (b, null) and a not in (3, null)) is not false", "1 3"),
        ("a in (1, null, 3) and a in (b, 2)", "2 3"),
        ("a not in (b, 9) or a in (b, 1)", "1 2 3"),
        ("not (a in (b, 1) and a in (3, 1))", "1"),
        ("case when a in (b, null) then 1 else 2 end = 1", "2 3"),
    ] {
        let question = format!("select k from (values (1,2,3),(2,3,3),(3,1,1)) s(k,a,b) where {condition} order by k");
        assert_eq!(rows(&engine, &question).unwrap().join(" "), expected, "{condition}");
    }
}
