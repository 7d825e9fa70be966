//! Subqueries as values, which are null where they have no row: also of columns that are never null.

use crate::answers::all;
use crate::support::{engine_of, social};

const NONE: &str = "(select id from person where id = -1)";

#[test]
fn a_subquery_without_a_row_is_null() {
    let engine = engine_of(&social());
    all(
        &engine,
        &[
            (&format!("select count(*) from person where {NONE} is null"), &["500"]),
            (&format!("select count(*) from person where {NONE} is not null"), &["0"]),
            ("select (select 1 where false) is null, (select 1) is null", &["true|false"]),
            (&format!("select case when {NONE} is null then 'none' else 'some' end, coalesce({NONE}, 7)"), &["none|7"]),
            (&format!("select id, {NONE} as x from person order by id limit 2"), &["1000|null", "1007|null"]),
            (&format!("select ({NONE} = 1) is null, {NONE} is distinct from 1"), &["true|true"]),
            (&format!("select count(*) from person where ({NONE} in (1, 2)) is null"), &["500"]),
            ("select count(*) from person where id = (select id from person where id = 1007)", &["1"]),
            ("select (select id from person where id = 1007) is null", &["false"]),
            (
                "select (select count(*) from person where id < 0), (select count(*) from person having count(*) < 0) is null",
                &["0|true"],
            ),
            ("select (select 3 limit 0) is null, (select 3 offset 1) is null, (select 3 limit 1)", &["true|true|3"]),
            (&format!("select coalesce({NONE}, 0) as k, count(*) from person group by k"), &["0|500"]),
        ],
    );
}

#[test]
fn one_that_depends_on_the_outer_row_is_null_without_a_row() {
    let engine = engine_of(&social());
    let of = |condition: &str| format!("(select q.id from person q where q.id = p.id and q.id > {condition} limit 1)");
    let below = of("1007");
    all(
        &engine,
        &[
            (&format!("select count(*) from person p where {below} is null"), &["2"]),
            (&format!("select count(*) from person p where {below} is not null"), &["498"]),
            (
                &format!("select p.id, {below} as x, {below} is null as n from person p order by p.id limit 3"),
                &["1000|null|true", "1007|null|true", "1014|1014|false"],
            ),
            (&format!("select count(*) from person p where coalesce({below}, -1) = -1"), &["2"]),
            (
                "select count(*) from person p where (select count(*) from wrote w where w._source = p.id having count(*) > 1000) is null",
                &["500"],
            ),
            ("select count(*) from person p where (select count(*) from wrote w where w._source = p.id) = 0", &["151"]),
        ],
    );
}

#[test]
fn orders_have_subqueries() {
    let engine = engine_of(&social());
    all(
        &engine,
        &[
            ("select id from person order by id < (select max(id) from person), id limit 1", &["4493"]),
            ("select id from person p order by (select -max(q.id) from person q where q.id = p.id) limit 1", &["4493"]),
        ],
    );
}
