//! Aggregates that depend on the order of values, in groups of several threads and in windows of opposite orders.

use crate::answers::all;
use crate::support::{engine_of, social};

/// Three people.
const FEW: &str = "(select id, gender from person where id < 1015) few";

#[test]
fn percentiles_of_groups_have_the_values_of_all_threads() {
    let engine = engine_of(&social());
    let differs = |question: &str| format!("select count(*) from ({question}) t where p is distinct from m");
    for _ in 0..3 {
        all(
            &engine,
            &[
                (
                    &differs(
                        "select percentile_cont(0.5) within group (order by id) as p, median(id) as m from person group by gender",
                    ),
                    &["0"],
                ),
                (
                    &differs(
                        "select quantile_cont(id, 0.5) as p, median(id) as m from person group by rollup(gender, id % 3)",
                    ),
                    &["0"],
                ),
                (
                    &differs(
                        "select percentile_cont(0.0) within group (order by id desc) as p, max(id) as m from person group by gender",
                    ),
                    &["0"],
                ),
                (&differs("select sum(distinct id % 5) as p, 10 as m from person group by gender"), &["0"]),
            ],
        );
    }
}

#[test]
fn windows_of_opposite_orders_have_their_own() {
    let engine = engine_of(&social());
    let both = |value: &str| {
        format!(
            "select id, {value} over (order by id) as u, {value} over (order by id desc) as v from {FEW} order by id"
        )
    };
    all(
        &engine,
        &[
            (
                &both("array_agg(id)"),
                &["1000|[1000]|[1014, 1007, 1000]", "1007|[1000, 1007]|[1014, 1007]", "1014|[1000, 1007, 1014]|[1014]"],
            ),
            (
                &both("string_agg(cast(id as text), '-')"),
                &["1000|1000|1014-1007-1000", "1007|1000-1007|1014-1007", "1014|1000-1007-1014|1014"],
            ),
            (&both("first_value(id)"), &["1000|1000|1014", "1007|1000|1014", "1014|1000|1014"]),
            (&both("last_value(id)"), &["1000|1000|1000", "1007|1007|1007", "1014|1014|1014"]),
            (&both("nth_value(id, 2)"), &["1000|null|1007", "1007|1007|1007", "1014|1007|null"]),
            (&both("lag(id)"), &["1000|null|1007", "1007|1000|1014", "1014|1007|null"]),
        ],
    );
}

#[test]
fn aggregates_of_opposite_orders_have_their_own() {
    let engine = engine_of(&social());
    let values = "array_agg(id order by id), array_agg(id order by id desc), string_agg(cast(id as text), '-' order by id),
        string_agg(cast(id as text), '-' order by id desc), first_value(id order by id), first_value(id order by id desc)";
    let found = "[1000, 1007, 1014]|[1014, 1007, 1000]|1000-1007-1014|1014-1007-1000|1000|1014";
    all(
        &engine,
        &[
            (&format!("select {values} from {FEW}"), &[found]),
            (&format!("select {values} from {FEW} group by id < 0"), &[found]),
            (&format!("select {values} from (select id from {FEW} order by id) t"), &[found]),
            (
                "select array_agg(distinct id % 3 order by id % 3 desc), string_agg(distinct cast(id % 3 as text), '' order by cast(id % 3 as text)) from person",
                &["[2, 1, 0]|012"],
            ),
        ],
    );
}
