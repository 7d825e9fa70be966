//! `not in` with a subquery that has a null: a null may be anything, wherever the comparison stands.

use crate::answers::all;
use crate::support::{engine_of, social};

const LEFT: &str = "(values (1,0),(3,0),(5,1),(null,2)) m(a,b)";
const RIGHT: &str = "(values (1,null),(2,5)) n(x,g)";

#[test]
fn a_null_may_be_anything_beside_or() {
    let engine = engine_of(&social());
    let of = |condition: &str| format!("select b, a from {LEFT} where {condition} order by b, a");
    let known = &["0|1", "0|3"];
    all(
        &engine,
        &[
            (&of(&format!("a not in (select g from {RIGHT}) or b = 7")), &[]),
            (&of(&format!("not (a in (select g from {RIGHT})) or b = 7")), &[]),
            (&of(&format!("b = 2 or not (b < 7 and a in (select g from {RIGHT}))")), &["2|null"]),
            (&of(&format!("a not in (select g from {RIGHT} where g > 0) or b = 7")), known),
            (&of(&format!("a not in (select g from {RIGHT} where g > 0)")), known),
            (&of(&format!("a not in (select g from {RIGHT} where g > 9)")), &["0|1", "0|3", "1|5", "2|null"]),
            (&of(&format!("a not in (select g from {RIGHT} where g > 9) or b = 7")), &["0|1", "0|3", "1|5", "2|null"]),
            (&of(&format!("a in (select g from {RIGHT}) or b = 7")), &["1|5"]),
            (&of(&format!("not (a not in (select g from {RIGHT}) or b = 7)")), &["1|5"]),
        ],
    );
}

#[test]
fn a_null_may_be_anything_of_constants_and_of_rows_that_depend_on_the_outer_one() {
    let engine = engine_of(&social());
    let of = |condition: &str| format!("select b, a from {LEFT} where {condition} order by b, a");
    let everything = &["0|1", "0|3", "1|5", "2|null"];
    all(
        &engine,
        &[
            (&of(&format!("2 not in (select g from {RIGHT})")), &[]),
            (&of(&format!("not (2 in (select g from {RIGHT}))")), &[]),
            (&of(&format!("2 not in (select g from {RIGHT} where g > 0)")), everything),
            (&of(&format!("null not in (select g from {RIGHT})")), &[]),
            (&of(&format!("null not in (select g from {RIGHT} where g > 9)")), everything),
            // Of 1 there is no row, of 3 and 5 there is the null.
            (&of(&format!("a not in (select g from {RIGHT} where n.x < m.a)")), &["0|1", "2|null"]),
            (&of(&format!("a not in (select g from {RIGHT} where n.x = m.a)")), &["0|3", "1|5", "2|null"]),
            (&of(&format!("a not in (select g from {RIGHT} where n.x = m.b)")), &["0|1", "0|3"]),
        ],
    );
}

#[test]
fn a_row_that_may_be_in_a_subquery_is_not_beside_or_and_the_outer_row() {
    let engine = engine_of(&social());
    let outer = "(values (1,2),(2,null),(null,3),(3,1)) r(a,b)";
    let inner = "(values (2,1),(3,3),(1,1)) s(a,b)";
    // All rows of `s` may be the second one.
    let nulls = "(values (null,1),(null,null)) n(a,b)";
    let unknown = format!("(s.a, s.a) not in (select n.a, n.b from {nulls})");
    let of = |condition: &str| format!("select b, a from {outer} where {condition} order by b, a");
    all(
        &engine,
        &[
            (&of(&format!("3 in (select s.a from {inner} where {unknown} or s.b in (r.b, null))")), &["3|null"]),
            (&of(&format!("exists (select 1 from {inner} where {unknown} or s.b = r.b)")), &["1|3", "3|null"]),
            (&of(&format!("not exists (select 1 from {inner} where {unknown} or s.b = r.b)")), &["2|1", "null|2"]),
            (
                &of(&format!("exists (select 1 from {inner} where {unknown} or s.b = r.b) or r.a = 1")),
                &["1|3", "2|1", "3|null"],
            ),
        ],
    );
}

#[test]
fn zeros_and_types_of_both_sides_agree() {
    let engine = engine_of(&social());
    let left = "(values (cast(0.0 as double)),(cast(-0.0 as double)),(1.5)) l(x)";
    all(
        &engine,
        &[
            (
                &format!(
                    "select count(*) from {left} where x not in (select y from (values (cast(-0.0 as double))) r(y)) or false"
                ),
                &["1"],
            ),
            (
                &format!(
                    "select count(*) from {left} where x not in (select y from (values (0)) r(y) where y < 1) or x > 9"
                ),
                &["1"],
            ),
        ],
    );
}

#[test]
fn intervals_are_compared_by_length_and_parts_of_days_are_kept() {
    let engine = engine_of(&social());
    all(
        &engine,
        &[
            ("select interval '36 hours' > interval '1 day', interval '1 day' < interval '25 hours'", &["true|true"]),
            ("select interval '24 hours' = interval '1 day', interval '1 month' = interval '30 days'", &["true|true"]),
            ("select timestamp '2020-01-03' - timestamp '2020-01-01' > interval '1 day'", &["true"]),
            ("select timestamp '2020-01-03' - timestamp '2020-01-01' = interval '2 days'", &["true"]),
            ("select interval '1 day' between interval '23 hours' and interval '25 hours'", &["true"]),
            ("select interval '1 day' in (interval '24 hours', interval '3 days')", &["true"]),
            ("select date '2020-01-01' + interval '36 hours' = timestamp '2020-01-02 12:00:00'", &["true"]),
            ("select date '2020-01-01' - interval '1 second' < date '2020-01-01'", &["true"]),
            ("select date '2020-01-01' + interval '25 hours' > timestamp '2020-01-02'", &["true"]),
            ("select interval '1 hour' + date '2020-01-01' = timestamp '2020-01-01 01:00:00'", &["true"]),
            ("select date '2020-01-31' + interval '1 month' = date '2020-02-29'", &["true"]),
            ("select date '9999-12-30' + interval '24 hours' = date '9999-12-31'", &["true"]),
        ],
    );
}

#[test]
fn lists_that_exclude_each_other_are_unknown_for_a_null() {
    let engine = engine_of(&social());
    let of = |value: &str| {
        format!("select k, {value} as v from (values (1,1,'x'),(2,null,null),(3,3,'')) t(k,a,s) order by k")
    };
    let kept =
        |condition: &str| format!("select k from (values (1,1,'x'),(2,null,null),(3,3,'')) t(k,a,s) where {condition}");
    let never = &["1|false", "2|null", "3|false"];
    let always = &["1|true", "2|null", "3|true"];
    all(
        &engine,
        &[
            (&of("a in (1, 2) and a in (3)"), never),
            (&of("not (a in (1, 2) and a in (3))"), always),
            (&of("(a in (1, 2) and true) and (a in (3) or false)"), never),
            (&of("(a = 1 or a = 2) and (a = 3 or a = 4)"), never),
            (&of("a in (1, 2) and a not in (1, 2, 7)"), never),
            (&of("a not in (1) or a not in (3)"), always),
            (&of("a in (1) or a not in (1)"), always),
            (&of("a in (1, 2, 3) and a not in (1, 2) and a not in (3)"), never),
            (&of("s in ('x') and s in ('y')"), never),
            (
                &of("case when s in ('x') and s in ('y') then 'both' when k = 2 then 'none' else 'else' end"),
                &["1|else", "2|none", "3|else"],
            ),
            (&of("s ~ '.*'"), always),
            (&of("not (s ~* '.*')"), never),
            // Of two subqueries.
            (
                "select k, one and other as v from (select k, one, a in (3) as other from (select k, a, a in (1, 2) as one from (values (1,1),(2,null),(3,3)) t(k,a)) o) p order by k",
                never,
            ),
            (&kept("not (a in (1, 2) and a in (3))"), &["1", "3"]),
            (&kept("a not in (1) or a not in (2)"), &["1", "3"]),
            (&kept("not (s ~ '.*')"), &[]),
            (&kept("a in (1, 2) and a not in (2) or a in (3) and a in (3, 4)"), &["1", "3"]),
        ],
    );
}
