//! Intervals compare by length, wherever values are compared: as in PostgreSQL and DuckDB.

use crate::answers::{all, engine};
use crate::support::{engine_of, social};

/// Of five intervals three have different lengths.
fn of(name: &str) -> String {
    format!(
        "(values (1, interval '1 day'), (2, interval '24 hours'), (3, interval '36 hours'), (4, interval '30 days'),
            (5, interval '1 month'), (6, null)) {name}(k, i)"
    )
}

#[test]
fn intervals_of_one_length_are_one() {
    let engine = engine_of(&social());
    let (t, u) = (of("t"), of("u"));
    all(
        &engine,
        &[
            (&format!("select min(i) = interval '1 day', max(i) = interval '720 hours' from {t}"), &["true|true"]),
            (&format!("select max(i) > interval '29 days', count(distinct i) from {t} where k < 6"), &["true|3"]),
            (
                &format!("select k % 2, max(i) = interval '36 hours' from {t} where k < 4 group by k % 2 order by 1"),
                &["0|false", "1|true"],
            ),
            (&format!("select min(k), count(*) from {t} group by i order by 1"), &["1|2", "3|1", "4|2", "6|1"]),
            (&format!("select count(*) from (select distinct i from {t})"), &["4"]),
            (&format!("select count(*) from (select distinct i, k > 3 from {t})"), &["4"]),
            (&format!("select count(*) from (select i from {t} union select i from {u})"), &["4"]),
            (&format!("select count(*) from (select i from {t} where k = 1 intersect select i from {u} where k = 2)"), &["1"]),
            (&format!("select i from {t} where k = 1 except select i from {u} where k = 2"), &[]),
            (&format!("select t.k, u.k from {t} join {u} on t.i = u.i where t.k < u.k order by 1"), &["1|2", "4|5"]),
            (&format!("select t.k, u.k from {t} join {u} using (i) where t.k < u.k order by t.k"), &["1|2", "4|5"]),
            (&format!("select t.k, u.k from {t}, {u} where t.i = u.i and t.k > u.k order by 1"), &["2|1", "5|4"]),
            (&format!("select k from {t} where i in (select i from {u} where k = 2) order by 1"), &["1", "2"]),
            (&format!("select k from {t} where i not in (select i from {u} where k < 3) order by 1"), &["3", "4", "5"]),
            (
                &format!("select k from {t} where exists (select 1 from {u} where u.i = t.i and u.k = 5) order by 1"),
                &["4", "5"],
            ),
            (
                &format!("select k, count(*) over (partition by i) from {t} order by k"),
                &["1|2", "2|2", "3|1", "4|2", "5|2", "6|1"],
            ),
            (
                &format!("select k, rank() over (order by i) from {t} order by k"),
                &["1|1", "2|1", "3|3", "4|4", "5|4", "6|6"],
            ),
            (
                &format!(
                    "select k, max(i) over (order by k rows between 1 preceding and current row) > interval '1 day' from {t} order by k"
                ),
                &["1|false", "2|false", "3|true", "4|true", "5|true", "6|true"],
            ),
            (
                &format!("select k, case i when interval '24 hours' then 'day' else 'other' end from {t} where k < 4 order by k"),
                &["1|day", "2|day", "3|other"],
            ),
            (
                &format!("select k, nullif(i, interval '24 hours') is null from {t} where k < 4 order by k"),
                &["1|true", "2|true", "3|false"],
            ),
            (
                &format!(
                    "select k, greatest(i, interval '25 hours') > interval '1 day', least(i, interval '2 days') < interval '30 hours'
                        from {t} order by k"
                ),
                &["1|true|true", "2|true|true", "3|true|false", "4|true|false", "5|true|false", "6|true|false"],
            ),
            (
                &format!("select count(*) from (select i, count(*) from {t} group by grouping sets ((i), ()))"),
                &["5"],
            ),
            (
                &format!(
                    "select i is null as a, k > 3 as b, count(*) as n from {t} where k < 6 group by rollup(i, k > 3) order by n, a, b"
                ),
                &["false|false|1", "false|null|1", "false|false|2", "false|true|2", "false|null|2", "false|null|2", "true|null|5"],
            ),
            (&format!("select k from (select distinct on (i) i, k from {t} order by i, k) order by k"), &["1", "3", "4", "6"]),
            (&format!("select k from {t} order by i desc nulls last, k"), &["4", "5", "3", "1", "2", "6"]),
            (
                &format!("select k, (select max(u.k) from {u} where u.i = t.i) from {t} where k < 5 order by k"),
                &["1|2", "2|2", "3|3", "4|5"],
            ),
        ],
    );
}

#[test]
fn a_group_shows_one_of_its_intervals() {
    let engine = engine_of(&social());
    let hours = "(values (interval '24 hours'), (interval '24 hours'), (interval '2 days')) t(i)";
    // Of intervals that are written alike it is that one.
    all(
        &engine,
        &[
            (
                &format!(
                    "select extract(hour from i), extract(day from i), count(*) from {hours} group by i order by 3"
                ),
                &["0|2|1", "24|0|2"],
            ),
            (
                &format!(
                    "select extract(hour from i), extract(day from i) from (select distinct i from {hours}) order by 1"
                ),
                &["0|2", "24|0"],
            ),
        ],
    );
}

#[test]
fn date_trunc_has_all_years_of_timestamps() {
    let (_home, engine) = engine();
    all(
        &engine,
        &[
            ("select date_trunc('month', timestamp '1600-02-15 03:04:05') = timestamp '1600-02-01'", &["true"]),
            ("select date_trunc('year', timestamp '9999-12-31 23:59:59') = timestamp '9999-01-01'", &["true"]),
            ("select date_trunc('week', timestamp '1500-01-03 23:59:59') = timestamp '1500-01-01'", &["true"]),
            ("select date_trunc('hour', timestamp '1500-01-03 23:59:59') = timestamp '1500-01-03 23:00:00'", &["true"]),
            (
                "select date_trunc('minute', timestamp '1500-01-03 23:59:59') = timestamp '1500-01-03 23:59:00'",
                &["true"],
            ),
            (
                "select date_trunc('millisecond', timestamp '1500-01-03 23:59:59.123456') = timestamp '1500-01-03 23:59:59.123'",
                &["true"],
            ),
            ("select date_trunc('day', seen) = timestamp '2001-02-03' from node where id = 1", &["true"]),
            ("select date_trunc('quarter', date '1600-05-15') = date '1600-04-01'", &["true"]),
        ],
    );
}

#[test]
fn a_scalar_subquery_finds_floats_and_expressions_of_the_outer_row() {
    let (_home, engine) = engine();
    all(
        &engine,
        &[
            (
                "select id, (select max(m.id) from node m where m.f = n.f) from node n order by id",
                &["1|2", "2|2", "3|3"],
            ),
            (
                "select id, (select count(*) from node m where m.f = n.f) from node n order by id",
                &["1|2", "2|2", "3|1"],
            ),
            (
                "select id, (select max(m.id) from node m where m.id + 1 = n.id) from node n order by id",
                &["1|null", "2|1", "3|2"],
            ),
            (
                "select id from node n where id = (select max(m.id) from node m where n.f = m.f and m.id < 9) order by id",
                &["2", "3"],
            ),
        ],
    );
}
