//! Clauses of functions, aliases and patterns that the engine reads in another way than SQL, or refuses. The answers are those of PostgreSQL 15.

use crate::answers::all;
use crate::support::{engine_of, error, social};

/// Two partitions of two rows.
const T: &str = "(values (1, 1), (2, 1), (3, 2), (4, 2)) t(a, b)";

#[test]
fn a_named_window_that_is_extended_keeps_its_parts() {
    let engine = engine_of(&social());
    let of = |values: &str, windows: &str| format!("select a, {values} from {T} window {windows} order by a");
    all(
        &engine,
        &[
            (&of("sum(a) over (w order by a)", "w as (partition by b)"), &["1|1", "2|3", "3|3", "4|7"]),
            (&of("sum(a) over (w)", "w as (partition by b)"), &["1|3", "2|3", "3|7", "4|7"]),
            (&of("sum(a) over w", "w as (partition by b)"), &["1|3", "2|3", "3|7", "4|7"]),
            (
                &of(
                    "sum(a) over (w rows between current row and unbounded following)",
                    "w as (partition by b order by a)",
                ),
                &["1|3", "2|2", "3|7", "4|4"],
            ),
            (
                &of("sum(a) over w2, count(*) over W", "w as (partition by b), w2 as (w order by a desc)"),
                &["1|3|2", "2|2|2", "3|7|2", "4|4|2"],
            ),
            (&of("sum(a) over w2", "w as (partition by b), w2 as w"), &["1|3", "2|3", "3|7", "4|7"]),
            (
                &of("sum(a) over (w order by a) + sum(a) over (w)", "w as (partition by b)"),
                &["1|4", "2|6", "3|10", "4|14"],
            ),
            (&of("sum(a) over w", "\"W\" as (order by a), w as (partition by b)"), &["1|3", "2|3", "3|7", "4|7"]),
            (
                &format!(
                    "select a from {T} window w as (partition by b order by a) order by row_number() over (w) desc, a"
                ),
                &["2", "4", "1", "3"],
            ),
            // A subquery has windows of its own.
            (
                "select a, (select max(s) from (select sum(x) over w as s from (values (5), (6)) u(x) window w as (order by x)) v) as m,
                    sum(a) over w from (values (1, 1), (2, 2)) t(a, b) window w as (order by a desc) order by a",
                &["1|11|3", "2|11|2"],
            ),
        ],
    );
    for (values, windows, expected) in [
        ("sum(a) over (w partition by a)", "w as (order by b)", "cannot have partitions of its own"),
        ("sum(a) over (w order by a)", "w as (order by b)", "cannot have an order, as w has one"),
        ("sum(a) over (w)", "w as (order by b rows 1 preceding)", "has a frame, so it cannot be extended"),
        ("sum(a) over x", "w as (order by b)", "the window x is not defined"),
        ("sum(a) over \"W\"", "w as (order by b)", "the window \"W\" is not defined"),
        ("sum(a) over w2", "w2 as (w order by a), w as (partition by b)", "the window w is not defined"),
        ("sum(a) over w", "w as (order by b), w as (order by a)", "the window w is defined twice"),
        ("sum(a) over WW", "ww as (order by b), wW as (order by a)", "several windows are called WW"),
    ] {
        let told = error(&engine, &of(values, windows));
        assert!(told.message().contains(expected), "{values}: {told}");
    }
}

#[test]
fn not_exists_binds_less_than_what_follows() {
    let engine = engine_of(&social());
    let none = "exists (select 1 where false)";
    let one = "exists (select 1)";
    all(
        &engine,
        &[
            (
                &format!("select not {none} is null, (not {none}) is null, not {none} is not null"),
                &["true|false|false"],
            ),
            (&format!("select not {none} = true, not {none} in (true), not {none} = false"), &["true|true|false"]),
            (
                &format!("select not {none} is true, not {one} between true and true, not {none} <> true"),
                &["true|false|false"],
            ),
            (
                &format!("select not not {one}, not {one} and false, not {none} and true, not {one} or true"),
                &["true|false|true|true"],
            ),
            (&format!("select not ({none} or {one}), NOT EXISTS (select 1), not {none}"), &["false|false|true"]),
            (
                "select count(*) from (values (1), (2)) t(a) where not exists (select 1 from (values (1)) u(b) where a = b) is null",
                &["2"],
            ),
            ("select count(*) from person p where not exists (select 1 from wrote w where w._source = p.id)", &["151"]),
        ],
    );
}

#[test]
fn orders_name_an_expression_twice() {
    let engine = engine_of(&social());
    all(
        &engine,
        &[
            ("select string_agg(x, ',' order by x, x) from (values ('b'), ('a')) t(x)", &["a,b"]),
            ("select string_agg(x, ',' order by x, x desc) from (values ('b'), ('a')) t(x)", &["a,b"]),
            ("select array_agg(x order by x desc, x) from (values (1), (2)) t(x)", &["[2, 1]"]),
            ("select x, row_number() over (order by x desc, x) from (values (1), (2)) t(x) order by 1", &["1|2", "2|1"]),
            (
                "select a, row_number() over (order by a > (select max(b) from (values (1), (2)) u(b)), a) as n
                    from (values (3), (1), (2)) t(a) order by n",
                &["1|1", "2|2", "3|3"],
            ),
            (
                "select a, rank() over (order by a > (select max(b) from (values (1), (2)) u(b))) as n, sum(a) over (order by a < (select max(b) from (values (1), (2)) u(b)), a)
                    from (values (3), (1), (2)) t(a) order by a",
                &["1|1|6", "2|1|2", "3|3|5"],
            ),
        ],
    );
}

#[test]
fn frames_that_end_before_they_begin_have_no_rows() {
    let engine = engine_of(&social());
    let of = |values: &str| format!("select a, {values} from (values (1), (2), (4)) t(a) order by a");
    let days = "(values (1, date '2024-01-01'), (2, date '2024-01-02')) t(a, d)";
    all(
        &engine,
        &[
            (
                &of("count(*) over (order by a rows between 2 following and 1 following),
                    first_value(a) over (order by a rows between 1 preceding and 2 preceding),
                    rank() over (order by a rows between 2 following and 1 following)"),
                &["1|0|null|1", "2|0|null|2", "4|0|null|3"],
            ),
            (
                &of("array_agg(a) over (order by a rows between 1 preceding and 2 preceding)"),
                &["1|null", "2|null", "4|null"],
            ),
            (
                &of("sum(a) over (order by a groups between 2 following and 1 following),
                    sum(a) over (order by a range between 1 preceding and 2 preceding),
                    sum(a) filter (where a > 1) over (order by a rows between 2 following and 1 following)"),
                &["1|null|null|null", "2|null|null|null", "4|null|null|null"],
            ),
            (
                &of("sum(a) over (order by a rows between 2 preceding and 1 preceding),
                    sum(a) over (order by a rows between 1 following and 2 following),
                    sum(a) over (order by a rows between 1 preceding and 1 preceding)"),
                &["1|null|6|null", "2|1|4|1", "4|3|null|2"],
            ),
            (
                &format!(
                    "select a, count(*) over (order by d range between interval '2 days' following and interval '1 hour' following) from {days} order by a"
                ),
                &["1|0", "2|0"],
            ),
        ],
    );
    for (frame, expected) in [
        ("rows between current row and 1 preceding", "a frame that begins with the current row cannot end before it"),
        ("rows between 1 following and current row", "cannot end with it or before it"),
        ("rows 1 following", "cannot end with it or before it"),
        ("rows between unbounded following and unbounded following", "cannot begin with unbounded following"),
        ("rows between unbounded preceding and unbounded preceding", "cannot end with unbounded preceding"),
    ] {
        let told = error(&engine, &of(&format!("sum(a) over (order by a {frame})")));
        assert!(told.message().contains(expected), "{frame}: {told}");
    }
}

#[test]
fn patterns_have_other_escapes() {
    let engine = engine_of(&social());
    all(
        &engine,
        &[
            (
                r"select '50%' like '50!%' escape '!', '500' like '50!%' escape '!', 'a\b' like 'a\b' escape '!'",
                &["true|false|true"],
            ),
            (
                r"select 'a!b' like 'a!!b' escape '!', 'A%' ilike 'a!%' escape '!', 'ab' not like 'a!_' escape '!'",
                &["true|true|true"],
            ),
            (
                r"select 'a\b' like 'a\\b', 'a\b' like 'a\_' escape '', 'a%' like 'a\%' escape '\', null like 'a' escape '!'",
                &["true|true|true|null"],
            ),
            ("select count(*) from person where firstName like 'G!r%' escape '!'", &["26"]),
        ],
    );
    for (condition, expected) in [
        ("'a' like 'a!' escape '!'", "ends with its escape character"),
        ("'a' like 'a' escape '!!'", "must be one character"),
        ("x like x escape '!'", "a pattern that is written in the question"),
    ] {
        let told = error(&engine, &format!("select {condition} from (values ('a')) t(x)"));
        assert!(told.message().contains(expected), "{condition}: {told}");
    }
}

#[test]
fn an_alias_may_name_fewer_columns_than_the_table_has() {
    let engine = engine_of(&social());
    all(
        &engine,
        &[
            ("select x, column2 from (values (1, 2)) t(x)", &["1|2"]),
            ("select * from (select 1 as a, 2 as b, 3 as c) t(x, y)", &["1|2|3"]),
            ("select t.c, x from (select 1 as a, 2 as b, 3 as c) t(x, y)", &["3|1"]),
            ("with q(x) as (select 1 as a, 2 as b) select x, b from q", &["1|2"]),
            ("select l.who, l._target from livesIn l(who) where l.who = 1007 and l.WHO = who", &["1007|Lisbon"]),
            ("select t.x, t.a from (select 1 as a, 2 as b) t(x, a)", &["1|2"]),
        ],
    );
    assert!(error(&engine, "select * from (select 1 as a) t(x, y)").message().contains("2 names"));
}

#[test]
fn natural_joins_without_a_common_column_keep_the_rows_of_the_outer_side() {
    let engine = engine_of(&social());
    let (t, u) = ("(select 1 as a) t", "(select 2 as b) u");
    let (no_t, no_u) = ("(select 1 as a where false) t", "(select 2 as b where false) u");
    all(
        &engine,
        &[
            (&format!("select count(*) from {t} natural left join {no_u}"), &["1"]),
            (&format!("select a, b from {t} natural left join {no_u}"), &["1|null"]),
            (&format!("select * from {t} natural left join {no_u}"), &["1|null"]),
            (&format!("select count(*) from {no_t} natural full join {u}"), &["1"]),
            (&format!("select * from {no_t} natural full join {u}"), &["null|2"]),
            (&format!("select * from {t} natural full join {no_u}"), &["1|null"]),
            (&format!("select * from {no_t} natural right join {u}"), &["null|2"]),
            (&format!("select * from {t} natural join {u}"), &["1|2"]),
            (&format!("select count(*) from {t} natural join {no_u}"), &["0"]),
            (&format!("select * from {t} natural left join {u}"), &["1|2"]),
            (
                "select count(*), count(name) from person natural left join (select name from city where false) c",
                &["500|0"],
            ),
            (
                "with c as (select name from city where false) select count(*), count(name) from person natural left join c",
                &["500|0"],
            ),
            (
                "with c as (select * from city where false) select count(*), count(name) from (select id from person) p natural left join c",
                &["500|0"],
            ),
        ],
    );
}
