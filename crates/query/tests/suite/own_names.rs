//! Subqueries that compare columns with the outer row which are called alike: each is the one that was written.

use crate::answers::all;
use crate::support::{engine_of, social};

const R: &str = "(values (1,1,2),(2,2,null),(3,null,3),(4,3,1),(5,2,2)) r(k,a,b)";
const S: &str = "(values (1,2,1),(2,3,3),(3,1,1)) s(k,a,b)";
const N: &str = "(values (1,3,1),(2,2,null),(1,1,2)) n(k,a,b)";

fn of(condition: &str) -> String {
    format!("select k from {R} where {condition} order by k")
}

#[test]
fn columns_of_two_tables_are_two() {
    let engine = engine_of(&social());
    all(
        &engine,
        &[
            (&of(&format!("exists (select 1 from {S}, {N} where s.a = r.a and n.a = r.b)")), &["1", "4", "5"]),
            (&of(&format!("not exists (select 1 from {S}, {N} where s.a = r.a and n.a = r.b)")), &["2", "3"]),
            (&of(&format!("exists (select 1 from {S} join {N} on s.k = n.k where s.a = r.a and n.a < r.b)")), &["5"]),
            (&of(&format!("r.a in (select s.a from {S}, {N} where n.a = r.b)")), &["1", "4", "5"]),
            (&of(&format!("r.a in (select s.a from {S}, {N} where n.a < r.b) or r.k = 7")), &["1", "5"]),
            (&of(&format!("r.a not in (select s.a from {S}, {N} where n.a = r.b)")), &["2"]),
            (&of(&format!("(r.a, 1) in (select s.a, 1 from {S}, {N} where n.a = r.b)")), &["1", "4", "5"]),
        ],
    );
}

/// What is not selected is there, too, where a comparison is a condition of the subquery.
#[test]
fn columns_that_are_not_selected_are_not_compared() {
    let engine = engine_of(&social());
    all(
        &engine,
        &[
            (&of(&format!("r.b not in (select s.a from {S}, {N} where n.b < r.b)")), &["2", "4"]),
            (&of(&format!("r.b not in (select s.a from {S}, {N} where s.b < r.a)")), &["1", "3"]),
            (&of(&format!("r.b not in (select s.a from {S}, {N} where n.b < r.b and s.a = r.b)")), &["2", "4"]),
            (&of(&format!("(r.b not in (select n.a from {S}, {N} where s.b < r.b) or r.k = 3)")), &["2", "3", "4"]),
        ],
    );
}

#[test]
fn one_value_and_a_lateral_table_compare_two_columns() {
    let engine = engine_of(&social());
    let both = "where s.a = r.a and n.a = r.b";
    all(
        &engine,
        &[
            (
                &format!("select k, (select count(*) from {S}, {N} {both}) from {R} order by k"),
                &["1|1", "2|0", "3|0", "4|1", "5|1"],
            ),
            (
                &format!("select k, (select max(s.k) from {S}, {N} {both}) from {R} order by k"),
                &["1|3", "2|null", "3|null", "4|2", "5|1"],
            ),
            (
                &format!("select r.k, x.c from {R}, lateral (select s.a as c from {S}, {N} {both}) x order by r.k"),
                &["1|1", "4|3", "5|2"],
            ),
        ],
    );
}

#[test]
fn subqueries_inside_of_a_subquery_are_not_one_another() {
    let engine = engine_of(&social());
    let none = format!("not exists (select 1 from {N} where n.b = 7 and n.a = s.a)");
    let every = format!("exists (select 1 from {N} where n.a = s.a)");
    let marked = "(values (1,2,1),(2,3,3),(3,1,1)) s(k,a,mark)";
    all(
        &engine,
        &[
            (&of(&format!("exists (select 1 from {S} where (not {every} and {none}) or s.b = r.b)")), &["3", "4"]),
            (&of(&format!("exists (select 1 from {S} where ({none} and not {every}) or s.b = r.b)")), &["3", "4"]),
            (
                &of(&format!("exists (select 1 from {S} where ({none} and not {every}) or s.b = r.b) or r.k = 1")),
                &["1", "3", "4"],
            ),
            (&of(&format!("exists (select 1 from {marked} where not {every} or s.mark = r.b)")), &["3", "4"]),
        ],
    );
}

#[test]
fn what_is_selected_is_not_what_is_compared() {
    let engine = engine_of(&social());
    let floats = "(values (1, cast(2.0 as double)), (2, cast(-0.0 as double)), (3, cast(1.5 as double))) f(k,a)";
    all(
        &engine,
        &[
            (&of(&format!("r.a in (select s.b as a from {S} where s.a <> r.b)")), &["1", "4"]),
            (&of(&format!("cast(r.a as double) in (select f.a from {floats} where f.a <= r.b)")), &["5"]),
        ],
    );
}

#[test]
fn a_table_of_a_subquery_passes_columns_on() {
    let engine = engine_of(&social());
    all(
        &engine,
        &[
            (
                &of(&format!("exists (select 1 from (select s.b, s.a from {S} where s.a = r.a) x where x.b < 3)")),
                &["1", "2", "5"],
            ),
            (
                &of(&format!("r.a in (select x.b from (select s.b, s.a from {S} where s.a <> r.b) x where x.a = r.k)")),
                &["1"],
            ),
        ],
    );
    // Also where the subquery has another column of this name.
    let both = format!("select s.b, s.a from {S}, {N} where s.a = r.a and n.a = r.b");
    all(&engine, &[(&of(&format!("exists (select 1 from ({both}) x where x.b < 3)")), &["1", "5"])]);
}
