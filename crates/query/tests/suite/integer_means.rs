//! Means of integers are exact sums that are divided.

use crate::answers::all;
use crate::support::{engine_of, rows, social};

/// Their sum is -1 in each half, and 6 of the small ones; in floats it depends on the order.
const T: &str = "(values (1, 9223372036854775807, 1), (2, -9223372036854775808, 2), (1, -9223372036854775808, 3),
    (2, 9223372036854775807, null), (1, null, 5)) t(k, x, y)";

#[test]
fn means_of_large_integers_are_exact() {
    let engine = engine_of(&social());
    all(
        &engine,
        &[
            (
                &format!("select avg(x), avg(y), avg(x) filter (where k = 2), avg(x) filter (where k > 2) from {T}"),
                &["-0.5|2.75|-0.5|null"],
            ),
            (
                &format!("select k, avg(x), avg(y), avg(x) filter (where y > 1) from {T} group by k order by k"),
                &["1|-0.5|3.0|-9.223372036854776e18", "2|-0.5|2.0|-9.223372036854776e18"],
            ),
            (&format!("select avg(distinct x), avg(distinct y), count(distinct x) from {T}"), &["-0.5|2.75|2"]),
            (
                &format!("select k, avg(distinct x), avg(distinct y) from {T} group by k order by k"),
                &["1|-0.5|3.0", "2|-0.5|2.0"],
            ),
            (
                &format!(
                    "select k, y, avg(x) over (partition by k order by y nulls last rows between 1 preceding and current row) from {T} order by k, y"
                ),
                &[
                    "1|1|9.223372036854776e18",
                    "1|3|-0.5",
                    "1|5|-9.223372036854776e18",
                    "2|2|-9.223372036854776e18",
                    "2|null|-0.5",
                ],
            ),
            (
                &format!(
                    "select y, avg(y) over (order by y rows between 1 preceding and current row), avg(x) over () from {T} where k = 1 order by y"
                ),
                &["1|1.0|-0.5", "3|2.0|-0.5", "5|4.0|-0.5"],
            ),
            (
                &format!(
                    "select avg(distinct y) over (order by y rows between 1 preceding and current row) from {T} where k = 1 order by y"
                ),
                &["1.0", "2.0", "4.0"],
            ),
            (
                "select avg(x) as a, avg(y) as b, avg(z) as c, mean(x) as d from (select x, cast(x as smallint) as y, cast(x as int unsigned) as z from (values (1), (2)) t(x)) t",
                &["1.5|1.5|1.5|1.5"],
            ),
            (
                "select avg(cast(x as bigint unsigned)) from (values (18446744073709551615), (18446744073709551615), (0)) t(x)",
                &["1.2297829382473034e19"],
            ),
            ("select avg(x), avg(null) from (values (1), (2)) t(x) where x > 2", &["null|null"]),
            ("select avg(x + 1), avg(x) + avg(x) from (values (1), (2)) t(x)", &["2.5|3.0"]),
            (
                "select avg(y), avg(z) from (select cast(x as double) as y, cast(x as decimal(5, 2)) as z from (values (1), (2)) t(x)) t",
                &["1.5|1.500000"],
            ),
        ],
    );
}

#[test]
fn means_do_not_depend_on_how_rows_are_grouped() {
    let engine = engine_of(&social());
    // Many groups, so that states are handed on.
    let of = |values: &str| {
        format!(
            "select count(*), count(distinct m), max(m) from (select k % 20000 as g, avg({values}) as m from
                (select value as k from generate_series(1, 60000)) t group by g) q"
        )
    };
    assert_eq!(rows(&engine, &of("k - k + 9007199254740993")).unwrap(), ["20000|1|9007199254740992.0"]);
    assert_eq!(rows(&engine, &of("k % 20000")).unwrap(), ["20000|20000|19999.0"]);
    assert_eq!(
        rows(&engine, "select avg(id), avg(population) from person, city where id < 1010 and name = 'Accra'").unwrap(),
        ["1003.5|2513000.0"]
    );
}
