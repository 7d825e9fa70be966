//! Subqueries that depend on the outer row, and functions that PostgreSQL has: with its answers.

use isomorph::Kind;

use crate::support::{engine_of, error, rows, social};

const TABLES: &str = "with r(k, a, b) as (values (1, 1, 2), (2, 2, null), (3, null, 3), (4, 3, 1), (5, 2, 2)),
    s(k, a, b) as (values (1, 2, 1), (2, 3, 3), (3, 1, 1), (4, 2, null)),
    n(k, a, b) as (values (1, 3, 1), (2, 2, null), (3, 1, 2)) ";

#[track_caller]
fn all(questions: &[(&str, &[&str])]) {
    let engine = engine_of(&social());
    let mut wrong = Vec::new();
    for (question, expected) in questions {
        match rows(&engine, &format!("{TABLES}{question}")) {
            Ok(found) if found == *expected => {}
            other => wrong.push(format!("{question}\n  expected {expected:?}\n  found {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_value_of_the_only_row() {
    all(&[
        ("select k, (select s.b from s where s.k = r.a) from r order by k", &["1|1", "2|3", "3|null", "4|1", "5|3"]),
        ("select k from r where (select s.b from s where s.k = r.a) = r.b order by k", &["4"]),
        ("select k from r where (select n.b from n where n.k = r.a) is null order by k", &["2", "3", "5"]),
        ("select k from r where k > 3 and (select s.b from s where s.a = r.b and s.k < 3) = 1 order by k", &["5"]),
        ("select sum((select n.b from n where n.k = r.a)) from r", &["3"]),
        (
            "select (select n.b from n where n.k = r.a) as g, count(*) from r group by g order by g",
            &["1|1", "2|1", "null|3"],
        ),
        ("select k from r order by (select n.b from n where n.k = r.a) desc, k", &["2", "3", "5", "4", "1"]),
        ("select r.k, q.k from r join n q on q.b = (select n.b from n where n.k = r.a) order by 1, 2", &["1|1", "4|3"]),
        (
            "select k, case when r.k = 1 then (select s.b from s where s.a = r.a) else 0 end from r order by k",
            &["1|1", "2|0", "3|0", "4|0", "5|0"],
        ),
        (
            "select k, coalesce((select (select n.b from n where n.k = s.a) from s where s.k = r.k), -1) from r order by k",
            &["1|-1", "2|2", "3|1", "4|-1", "5|-1"],
        ),
        (
            "select k, (select distinct s.a from s where s.a = r.a) from r order by k",
            &["1|1", "2|2", "3|null", "4|3", "5|2"],
        ),
        (
            "select k, (select max(s.b) from s where s.a = r.a group by s.a) from r order by k",
            &["1|1", "2|1", "3|null", "4|3", "5|1"],
        ),
        (
            "select k, (select n.b + s.b from s join n on n.k = s.a where s.k = r.k) from r order by k",
            &["1|null", "2|5", "3|2", "4|null", "5|null"],
        ),
        (
            "select k, (select s.b + n.a from s left join n on n.k = s.b where s.k = r.k) from r order by k",
            &["1|4", "2|4", "3|4", "4|null", "5|null"],
        ),
        (
            "select k, (select s.b from s where s.k = r.k order by s.b) from r order by k",
            &["1|1", "2|3", "3|1", "4|null", "5|null"],
        ),
        (
            "select k, (select s.b from s where s.k = r.k and s.a > 1) + 1, (select s.a from s where s.k = r.b) from r order by k",
            &["1|2|3", "2|4|null", "3|null|1", "4|null|2", "5|null|3"],
        ),
        (
            "select k, (select s.b from s where s.k = r.k) in (1, 3) from r order by k",
            &["1|true", "2|true", "3|true", "4|null", "5|null"],
        ),
        (
            "select k, (select cast(s.b as text) || 'x' from s where s.k = r.k) from r order by k",
            &["1|1x", "2|3x", "3|1x", "4|null", "5|null"],
        ),
        (
            "select k, row_number() over (order by (select s.b from s where s.k = r.k), k) from r order by k",
            &["1|1", "2|3", "3|2", "4|4", "5|5"],
        ),
        (
            "select k, (select s.b from s where s.a = r.a limit 1) is null from r order by k",
            &["1|false", "2|false", "3|true", "4|false", "5|false"],
        ),
    ]);
}

#[test]
fn a_value_of_several_rows_is_an_error() {
    let engine = engine_of(&social());
    for (question, expected) in [
        ("select k, (select s.b from s where s.a = r.a) from r", "more than one row"),
        ("select k from r where (select s.b from s where s.a = r.a) > 0", "more than one row"),
        ("select k, (select s.b from s where s.a = r.a order by s.k limit 2) from r", "more than one row"),
        ("select k, (select count(*) from s where s.a = r.a group by s.k) from r", "more than one row"),
        ("select (select s.b from s)", "more than one row"),
        (
            "select k from r where r.b in (select s.a from s where s.a = r.b intersect select s.k from s where s.a = r.a)",
            "the second query of intersect or except, depends on the outer row",
        ),
        (
            "select k from r where exists (select 1 from s left join (select * from n where n.a = r.a) m on m.k = s.k where m.k is null)",
            "a table of an outer join",
        ),
        (
            "select k from r where exists (select s.b from s where s.a = r.k except all select s.b from s)",
            "a window over rows that depend on the outer row",
        ),
        ("select k, (select s.b from s where s.a < r.a) from r", "whose condition on the outer row is another than ="),
    ] {
        let error = error(&engine, &format!("{TABLES}{question}"));
        assert!(error.message().contains(expected), "{question}: {error}");
        assert!(matches!(error.kind(), Kind::Usage | Kind::Unsupported) && error.hints().count() > 0, "{error}");
    }
    let names = "select e._source, (select p.firstName from person p where p.id = e._target) as name from knows e
        where e._source = 1007 order by e._target limit 2";
    assert_eq!(rows(&engine, names).unwrap(), ["1007|Grace", "1007|Luca"]);
}

#[test]
fn unions_tables_and_windows_that_depend_on_the_outer_row() {
    all(&[
        (
            "select k from r where exists (select 1 from s where s.a = r.a union select 1 from n where n.b = r.b) order by k",
            &["1", "2", "4", "5"],
        ),
        (
            "select k from r where not exists (select 1 from s where s.a = r.a union all select 1 from n where n.b = r.b) order by k",
            &["3"],
        ),
        (
            "select k, exists (select 1 from s where s.a = r.a union all select 1 from n where n.b = r.b) from r order by k",
            &["1|true", "2|true", "3|false", "4|true", "5|true"],
        ),
        (
            "select k, r.a in (select s.b from s where s.a = r.a union select n.b from n where n.b = r.b) from r order by k",
            &["1|true", "2|null", "3|false", "4|true", "5|true"],
        ),
        (
            "select k, r.a not in (select s.b from s where s.a = r.a union select n.b from n where n.a = r.b) from r order by k",
            &["1|false", "2|null", "3|null", "4|false", "5|null"],
        ),
        (
            "select k, r.a > all (select s.b from s where s.a = r.a union select n.b from n where n.b = r.b) from r order by k",
            &["1|false", "2|null", "3|true", "4|false", "5|false"],
        ),
        (
            "select k, r.a <= any (select s.b from s where s.a = r.a union all select n.b from n where n.a = r.b) from r order by k",
            &["1|true", "2|null", "3|null", "4|true", "5|null"],
        ),
        (
            "select k from r where r.a in (select q.v from (select s.b as v, s.k as w from s where s.a = r.a union all select n.b, n.k from n where n.b = r.b) q where q.w > 1) order by k",
            &["1", "4", "5"],
        ),
        (
            "select k from r where exists (select 1 from s where s.a = r.a union select 1 from n where n.b = r.b union select 1 from n where n.k = r.k) order by k",
            &["1", "2", "3", "4", "5"],
        ),
        (
            "select k from r where r.a in (select s.b from s where s.a = r.a union select 2) order by k",
            &["1", "2", "4", "5"],
        ),
        ("select k from r where (a, b) = any (select s.a, s.b from s) order by k", &[]),
        ("select k from r where row(a, b) in (select s.a, s.b from s) order by k", &[]),
        ("select k from r where row(a, b) not in (select s.a, s.b from s) order by k", &["1", "4"]),
        (
            "select k from r where (a, b) <> all (select s.a, s.b from s where s.b is not null) order by k",
            &["1", "4", "5"],
        ),
        (
            "select k, (a, b) = any (select s.a, s.b from s), row(a, b) <> all (select s.a, s.b from s) from r order by k",
            &["1|false|true", "2|null|null", "3|null|null", "4|false|true", "5|null|null"],
        ),
        (
            "select k from r where exists (select s.b from s where s.a = r.a except select n.b from n) order by k",
            &["4"],
        ),
        (
            "select k from r where exists (select s.b from s where s.a = r.a except select n.b from n where n.a = r.a) order by k",
            &["1", "2", "4", "5"],
        ),
        (
            "select k from r where exists (select s.b from s where s.a = r.a intersect select n.b from n where n.a = r.a) order by k",
            &["2", "5"],
        ),
        (
            "select k from r where exists (select s.b from s where s.a = r.a intersect select n.b from n) order by k",
            &["1", "2", "5"],
        ),
        (
            "select k, r.b in (select s.k from s where s.a = r.a except select n.k from n where n.b = r.a and n.k > 1) from r order by k",
            &["1|false", "2|null", "3|false", "4|false", "5|false"],
        ),
        (
            "select k, (select c from (select count(*) as c from s where s.a = r.a) q) from r order by k",
            &["1|1", "2|2", "3|0", "4|1", "5|2"],
        ),
        (
            "select k, (select c from (select count(*) as c from s where s.a = r.a) q where c > 1) from r order by k",
            &["1|null", "2|2", "3|null", "4|null", "5|2"],
        ),
        (
            "select k, exists (select 1 from (select row_number() over (order by s.k) as m from s where s.a = r.a) q where q.m > 1) from r order by k",
            &["1|false", "2|true", "3|false", "4|false", "5|true"],
        ),
        (
            "select k, (select m from (select row_number() over (order by s.k) as m, s.k from s where s.a = r.a) q where q.m = 1) from r order by k",
            &["1|1", "2|1", "3|null", "4|1", "5|1"],
        ),
        (
            "select k from r where r.a in (select q.m from (select count(*) over () as m from s where s.a = r.a) q) order by k",
            &["1", "2", "5"],
        ),
        (
            "select k from r where exists (select 1 from (select s.b from s where s.a = r.a) q where q.b > 1) order by k",
            &["4"],
        ),
    ]);
}

#[test]
fn windows_that_slide_and_sets_in_an_order() {
    all(&[
        (
            "select k, rank() over (order by abs(a) < b), count(*) over (partition by abs(a) < b) from r order by k",
            &["1|3|1", "2|4|2", "3|4|2", "4|1|2", "5|1|2"],
        ),
        (
            "select k, string_agg(cast(b as text), ',') over (order by k rows between 1 preceding and 1 following) from r order by k",
            &["1|2", "2|2,3", "3|3,1", "4|3,1,2", "5|1,2"],
        ),
        (
            "select k, bool_or(a > 2) over (order by k rows between 1 preceding and current row), bool_and(a > 1) over (order by k rows between current row and 1 following) from r order by k",
            &["1|false|false", "2|false|true", "3|false|true", "4|true|true", "5|true|true"],
        ),
        (
            "select k, bit_or(a) over (order by k rows between 1 preceding and current row), bit_and(a) over (order by k rows 2 preceding) from r order by k",
            &["1|1|1", "2|3|0", "3|2|0", "4|3|2", "5|3|2"],
        ),
        (
            "select k, lag(a, 1, cast(b as int)) over (order by k), lead(a, 1, -b) over (order by k), lag(a, 2, b + 1) over (order by k) from r order by k",
            &["1|2|2|3", "2|1|null|null", "3|2|3|1", "4|null|2|2", "5|3|-2|null"],
        ),
        (
            "select k, lead(a, 1, (b)) over (order by k), lag(a, 1, -1) over (order by k), lag(a, 1, cast('7' as int)) over (order by k) from r order by k",
            &["1|2|-1|7", "2|null|1|1", "3|3|2|2", "4|2|null|null", "5|2|3|3"],
        ),
        (
            "select percentile_disc(0.5) within group (order by a), percentile_disc(0.25) within group (order by a desc), percentile_disc(0) within group (order by k), percentile_disc(1) within group (order by b) from r",
            &["2|3|1|3"],
        ),
        (
            "select b, percentile_disc(0.5) within group (order by k), mode() within group (order by a) from r group by b order by b",
            &["1|4|3", "2|1|1", "3|3|null", "null|2|2"],
        ),
        (
            "select mode() within group (order by a), mode() within group (order by k desc), mode() within group (order by cast(b as text)) from r",
            &["2|5|2"],
        ),
        (
            "select mode() within group (order by a) filter (where k > 4), percentile_disc(0.3) within group (order by k) filter (where k > 1) from r",
            &["2|3"],
        ),
        (
            "select mode() within group (order by a), percentile_disc(0.5) within group (order by a) from r where k < 0",
            &["null|null"],
        ),
        (
            "select percentile_disc(0.7) within group (order by k), percentile_disc(0.1) within group (order by k) from (select r.k * 10 + s.k as k from r, s limit 20) q",
            &["42|12"],
        ),
    ]);
    let engine = engine_of(&social());
    for (question, expected) in [
        ("select percentile_disc(1.5) within group (order by k) from r", "a number from 0 to 1"),
        ("select mode(k, a) from r", "mode has one value"),
    ] {
        let error = error(&engine, &format!("{TABLES}{question}"));
        assert!(error.message().contains(expected), "{question}: {error}");
    }
}
