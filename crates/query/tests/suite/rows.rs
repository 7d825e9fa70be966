//! Comparisons with subqueries: `any`, `all`, and rows of several columns.

use crate::answers::all;
use crate::support::{engine_of, error, rows, social};

const LEFT: &str = "(values (1,1,'a'),(2,1,'b'),(3,2,null),(4,null,'a')) l(k,a,b)";
const RIGHT: &str = "(values (1,'a'),(2,'b'),(null,'b'))";

#[test]
fn rows_are_in_subqueries() {
    let engine = engine_of(&social());
    let within = |what: &str, rows: &str| {
        format!("select k from {LEFT} where (a, b) {what} (select x, y from {rows} r(x,y)) order by k")
    };
    let known = "(values (1,'a'),(2,'b'))";
    all(
        &engine,
        &[
            (&within("in", RIGHT), &["1"]),
            (&within("in", known), &["1"]),
            (&within("= any", known), &["1"]),
            // (2, null) may be (2, 'b'), (null, 'a') may be (1, 'a').
            (&within("not in", known), &["2"]),
            (&within("<> all", known), &["2"]),
            // (1, 'b') may be (null, 'b').
            (&within("not in", RIGHT), &[]),
            (&within("not in", "(select 1, 'a' where false)"), &["1", "2", "3", "4"]),
            (&format!("select k from {LEFT} where not (a, b) in (select x, y from {known} r(x,y)) order by k"), &["2"]),
            (
                &format!("select k from {LEFT} where not (a, b) not in (select x, y from {known} r(x,y)) order by k"),
                &["1"],
            ),
            (
                &format!("select k from {LEFT} where k = 4 or (a, b) in (select x, y from {known} r(x,y)) order by k"),
                &["1", "4"],
            ),
            (
                &format!(
                    "select k from {LEFT} where not (k = 2 or (a, b) in (select x, y from {known} r(x,y))) order by k"
                ),
                &[],
            ),
            (
                &format!("select k from {LEFT} where ((a, b) in (select x, y from {known} r(x,y))) is null order by k"),
                &["3", "4"],
            ),
            ("select count(*) from knows where (_target, _source) in (select _source, _target from knows)", &["0"]),
            (
                "select count(*) from livesIn where (_source, _target) in (select _source, _target from livesIn)",
                &["500"],
            ),
            // The names of the subquery are not those outside.
            (
                "select count(*) from person where (id, id) in (select id as x, p.id as y from person p where p.id < 1010)",
                &["2"],
            ),
        ],
    );
}

#[test]
fn rows_are_in_subqueries_that_depend_on_the_outer_row() {
    let engine = engine_of(&social());
    let inner = "(values (1,1,'a'),(1,2,'b'),(2,1,'a'),(3,2,null)) r(j,x,y)";
    let within = |what: &str, select: &str| format!("select k from {LEFT} where (a, b) {what} ({select}) order by k");
    all(
        &engine,
        &[
            (&within("in", &format!("select x, y from {inner} where r.j = l.k")), &["1"]),
            (&within("in", &format!("select distinct x, y from {inner} where r.j <= l.k")), &["1"]),
            (&within("in", &format!("select x + 0, y || '' from {inner} where r.j = l.k")), &["1"]),
            (&within("in", &format!("select l.a, y from {inner} where r.j <= l.k")), &["1", "2"]),
            (&within("in", &format!("select x, max(y) from {inner} where r.j = l.k group by x")), &["1"]),
            (&within("not in", &format!("select x, y from {inner} where r.j = l.k")), &["2", "4"]),
            (&within("not in", &format!("select x, y from {inner} where r.j < l.k")), &["1", "2"]),
        ],
    );
    // The inner table may have columns that are called as those outside.
    let found = "select count(*) from knows k where (_source, _target) in (select k._source, _target from knows j
        where j._source = k._source and j.since = k.since)";
    assert_eq!(rows(&engine, found).unwrap(), rows(&engine, "select count(*) from knows").unwrap());
}

#[test]
fn rows_are_not_in_subqueries_by_hash() {
    let engine = engine_of(&social());
    let plan = |question: &str| rows(&engine, &format!("explain {question}")).unwrap().join("\n");
    let question = "select count(*) from knows where (_target, _source) not in (select _source, _target from knows)";
    assert!(plan(question).contains("HashJoinExec"), "{}", plan(question));
    assert_eq!(rows(&engine, question).unwrap(), rows(&engine, "select count(*) from knows").unwrap());
    let nested =
        "select count(*) from person where (id, id) not in (select _source, _target from knows where (_source, 1)
        not in (select id, 2 from person))";
    assert_eq!(rows(&engine, nested).unwrap(), ["500"]);
    // Also within each other they are not written too often.
    let inner = |depth: usize| {
        (0..depth).fold("select 1, 2".to_owned(), |inner, _| format!("select 1, 2 where (1, 2) not in ({inner})"))
    };
    assert_eq!(rows(&engine, &inner(7)).unwrap().len(), 0);
    assert_eq!(rows(&engine, &inner(8)).unwrap().len(), 1);
}

#[test]
fn correlated_any_sees_the_outer_row() {
    let engine = engine_of(&social());
    // With the same conditions on what is found.
    for (comparison, equal) in [
        (
            "1021 = any (select _target from knows k where k._source = p.id)",
            "exists (select 1 from knows k where k._source = p.id and _target = 1021)",
        ),
        (
            "p.id = any (select k._target from knows k where k._source < p.id)",
            "exists (select 1 from knows k where k._source < p.id and k._target = p.id)",
        ),
        (
            "p.id <> all (select k._target from knows k where k._source > p.id)",
            "not exists (select 1 from knows k where k._source > p.id and k._target = p.id)",
        ),
        (
            "not p.id = any (select k._source from knows k where k._source = p.id)",
            "not exists (select 1 from knows k where k._source = p.id)",
        ),
    ] {
        let ids = |condition: &str| {
            rows(&engine, &format!("select p.id from person p where {condition} order by 1")).unwrap()
        };
        assert!(!ids(equal).is_empty(), "{equal}");
        assert_eq!(ids(comparison), ids(equal), "{comparison}");
    }
    all(
        &engine,
        &[
            (
                "select k from (values (1,5),(2,6)) l(k,v) where v = any (select w from (values (1,5),(2,5)) r(j,w) where j = k)",
                &["1"],
            ),
            (
                "select k from (values (1,5),(2,6)) l(k,v) where v <> all (select w from (values (1,5),(2,5)) r(j,w) where j = k)",
                &["2"],
            ),
        ],
    );
}

#[test]
fn the_first_values_that_differ_decide() {
    let engine = engine_of(&social());
    for (comparison, expected) in [
        ("(1, 2) < (1, 3)", "true"),
        ("(1, 2) < (2, null)", "true"),
        ("(2, null) < (1, 5)", "false"),
        ("(1, null) < (1, 2)", "null"),
        ("(null, 1) < (2, 2)", "null"),
        ("(1, 2) <= (1, 2)", "true"),
        ("(1, 2) < (1, 2)", "false"),
        ("(1, 2, null) >= (1, 1, 7)", "true"),
        ("(1, 'a') > (1, 'B')", "true"),
        ("row(1, null) > row(1, 2)", "null"),
        ("((1, 2), 3) < ((1, 2), 4)", "true"),
        ("(1, 2) = (1, null)", "null"),
        ("(1, 2) = (2, null)", "false"),
        ("(1, 2) <> (2, null)", "true"),
        ("(1, null) <> (1, 2)", "null"),
        ("(1, null) is distinct from (1, null)", "false"),
        ("(1, null) is not distinct from (1, 2)", "false"),
        ("(1, 2) in ((1, null), (2, 3))", "null"),
        ("(1, 2) not in ((1, 3), (2, null))", "true"),
        ("(1, 2) in ((1, null), (1, 2))", "true"),
        ("(1, 2) between (1, null) and (0, 3)", "false"),
        ("(1, 2) not between (1, 1) and (1, null)", "null"),
        ("case (1, 2) when (1, null) then 'a' when (1, 2) then 'b' end", "b"),
        ("(date '2000-01-01', 1) < ('2000-01-02', 0)", "true"),
        ("((1, 2) < (1, 3), 4) = (true, 4)", "true"),
    ] {
        assert_eq!(rows(&engine, &format!("select {comparison}")).unwrap(), [expected], "{comparison}");
        // The same of columns.
        let of_columns = comparison.replace('1', "x.one");
        let found = rows(&engine, &format!("select {of_columns} from (values (1)) x(one)"));
        if !comparison.contains("2000") {
            assert_eq!(found.unwrap(), [expected], "{of_columns}");
        }
    }
    let found = "select count(*) from knows where (_source, _target) > (1400, 0) and (_source, _target) < (1400, 9999)";
    let known = "select count(*) from knows where _source = 1400";
    assert_eq!(rows(&engine, found).unwrap(), rows(&engine, known).unwrap());
    let told = error(&engine, "select (1, 2) < (1, 2, 3)");
    assert!(told.message().contains("a row of 2 values is compared with one of 3"), "{told}");
    let deep = (0..20).fold("true".to_owned(), |inner, _| format!("(({inner}), 1) < (true, 2)"));
    assert_eq!(error(&engine, &format!("select {deep}")).kind(), isomorph::Kind::TooLarge);
}

#[test]
fn groups_of_sets_may_be_expressions() {
    let engine = engine_of(&social());
    let values = "(values (1, 'a'), (1, 'b'), (3, 'b')) t(n, s)";
    all(
        &engine,
        &[
            (
                &format!("select n + 1 as g, count(*) as c from {values} group by rollup(n + 1) order by g nulls last"),
                &["2|2", "4|1", "null|3"],
            ),
            (
                &format!("select -n as g, count(*) as c from {values} group by cube(-n) order by g"),
                &["-3|1", "-1|2", "null|3"],
            ),
            (
                &format!(
                    "select nullif(n, 3) as g, s, count(*) as c from {values} group by grouping sets ((nullif(n, 3)), (s, n * 2)) order by c desc, g, s"
                ),
                &["1|null|2", "null|a|1", "null|b|1", "null|b|1", "null|null|1"],
            ),
            (
                &format!(
                    "select case when n > 2 then 'many' else 'few' end as g, sum(n) as c from {values} group by rollup(case when n > 2 then 'many' else 'few' end) order by 1 nulls last"
                ),
                &["few|2", "many|3", "null|5"],
            ),
            (&format!("select count(*) as c from {values} group by rollup(n * 1.5) order by c"), &["1", "2", "3"]),
            (
                &format!(
                    "select grouping(n + 1) as g, count(*) as c from {values} group by rollup(n + 1) order by g, c"
                ),
                &["0|1", "0|2", "1|3"],
            ),
        ],
    );
}

#[test]
fn a_row_is_null_if_all_of_its_values_are() {
    let engine = engine_of(&social());
    let question = "select (a, b) is null, row(a, b) is not null, not (a, b) is null, (a, (b, b)) is null \
                    from (values (1, 2), (1, null), (null, null)) t(a, b) order by a, b";
    all(&engine, &[(question, &["false|true|true|false", "false|false|true|false", "true|false|false|false"])]);
}
