//! Decimals of many digits, decimals beside floats, and NaN in groups.

use crate::answers::all;
use crate::support::{engine_of, error, rows, social};

const MOST: &str = "99999999999999999999999999999999999999";

#[test]
fn decimals_of_more_than_38_digits_are_errors() {
    let engine = engine_of(&social());
    let most = format!("cast({MOST} as decimal(38,0))");
    let both = format!("(values ({most}),(1)) t(x)");
    let grouped = format!("(values (1,{most}),(1,1),(2,1)) t(k,x)");
    for question in [
        format!("select {most} + 1 as z"),
        format!("select -1 - {most} as z"),
        format!("select {most} * 10 as z"),
        format!("select 1 + {most} - 1 as z"),
        format!("select x + 1 from {both}"),
        format!("select {most} / 0.1 as z"),
        format!("select sum(x) from {both}"),
        format!("select sum(distinct x) from {both}"),
        format!("select k, sum(x) from {grouped} group by k"),
        format!("select sum(x) over (order by x) from {both}"),
        format!("select avg(x) from (values ({most}),({most})) t(x)"),
        format!("select k, avg(x) from (values (1,{most}),(1,{most}),(1,{most})) t(k,x) group by k"),
        format!("select sum(x) from (values ({most}),({most}),({most}),({most})) t(x)"),
    ] {
        let found = rows(&engine, &question);
        assert!(found.is_err(), "{question}: {found:?}");
    }
    let told = error(&engine, &format!("select {most} + 1 as z"));
    assert!(told.message().contains("more than 38 digits"), "{told}");
    all(
        &engine,
        &[
            (&format!("select {most} - 1 + 1 as z"), &[MOST]),
            (&format!("select sum(x) from (values ({most}),(-1),(1)) t(x)"), &[MOST]),
            (&format!("select k, sum(x) from {grouped} where x < 9 group by k order by k"), &["1|1", "2|1"]),
            (
                "select sum(x) over (order by x rows between 1 preceding and current row) from
                    (values (cast(1.5 as decimal(38,1))),(2.5),(4)) t(x) order by 1",
                &["1.5", "4.0", "6.5"],
            ),
            (
                "select avg(x), avg(distinct x) from (values (cast(1 as decimal(30,0))),(2),(2)) t(x)",
                &["1.6666|1.5000"],
            ),
            (
                "select k, avg(x) from (values (1, cast(1 as decimal(30,0))),(1,2),(2,null)) t(k,x) group by k order by k",
                &["1|1.5000", "2|null"],
            ),
            ("select cast(2 as decimal(10,2)) / 3 as z", &["0.666666"]),
        ],
    );
}

#[test]
fn decimals_beside_floats_are_floats() {
    let engine = engine_of(&social());
    let small = "cast(1e-20 as double)";
    let three = "(select cast(0.3 as decimal(2,1)) as d) a";
    let sum = "(select cast(0.1 as double) + cast(0.2 as double) as f) b";
    all(
        &engine,
        &[
            (
                &format!(
                    "select coalesce(cast(null as decimal(3,1)), {small}), greatest(cast(0 as decimal(3,1)), {small}),
                        case when true then {small} else cast(1 as decimal(2,1)) end"
                ),
                &["1e-20|1e-20|1e-20"],
            ),
            (&format!("select cast(1.5 as decimal(10,2)) as x union all select {small} order by 1"), &["1e-20", "1.5"]),
            (
                &format!("select x from (values (cast(1.5 as decimal(10,2))),({small}),(null)) t(x) order by x"),
                &["1e-20", "1.5", "null"],
            ),
            (
                &format!("select x from (values (1,{small}),(2,cast(1.5 as decimal(10,2)))) t(k,x) order by x"),
                &["1e-20", "1.5"],
            ),
            (
                &format!(
                    "select x from (values (cast({small} as decimal(30,15))),(cast(1.5 as decimal(2,1)))) t(x) order by x"
                ),
                &["0.000000000000000", "1.500000000000000"],
            ),
            (&format!("select cast(0 as decimal(2,1)) = {small} as x"), &["false"]),
            (
                &format!(
                    "select cast(0 as decimal(2,1)) between {small} and 1 as x, {small} in (cast(0 as decimal(2,1))) as y"
                ),
                &["false|false"],
            ),
            (&format!("select count(*) from {three} join {sum} on d = f"), &["0"]),
            (&format!("select count(*) from {three} join (select f as d from {sum}) b using (d)"), &["0"]),
            (&format!("select count(*) from {three} where d in (select f from {sum})"), &["0"]),
            (&format!("select count(*) from {sum} where f in (select d from {three})"), &["0"]),
            (&format!("select count(*) from {three} where d in (select f - f + 0.3 from {sum})"), &["1"]),
            (&format!("select count(*) from {sum} where f > any (select d from {three})"), &["1"]),
            (&format!("select count(*) from (select d from {three} intersect select f from {sum}) t"), &["0"]),
            ("select cast(1 as decimal(2,1)) < cast(1e20 as double) as x", &["true"]),
            ("select cast(1 as decimal(2,1)) < cast('nan' as double) as x", &["true"]),
            (
                "select cast(1.5 as decimal(2,1)) = cast(1.5 as double) as x, cast(1.5 as decimal(2,1)) = cast(1.5 as real) as y",
                &["true|true"],
            ),
            ("select cast(0.1 as decimal(2,1)) = cast(0.1 as double) as x", &["true"]),
        ],
    );
}

#[test]
fn nan_is_the_greatest_in_groups() {
    let engine = engine_of(&social());
    let t = "(values (1,cast('nan' as double)),(1,1.0),(2,1.0),(2,cast('nan' as double)),(3,null),(4,'nan'),(4,'nan'),(5,-1.5),(5,2.5)) t(k,x)";
    let each: &[&str] = &["1|NaN|1.0", "2|NaN|1.0", "3|null|null", "4|NaN|NaN", "5|2.5|-1.5"];
    all(
        &engine,
        &[
            (&format!("select k, max(x), min(x) from {t} group by k order by k"), each),
            (&format!("select k, max(distinct x), min(distinct x) from {t} group by k order by k"), each),
            (&format!("select k, max(cast(x as real)), min(cast(x as real)) from {t} group by k order by k"), each),
            (
                &format!("select k, max(x) filter (where x < 2), min(x) from {t} where k > 3 group by k order by k"),
                &["4|null|NaN", "5|-1.5|-1.5"],
            ),
            (&format!("select max(x), min(x) from {t} group by rollup (k) having grouping(k) = 1"), &["NaN|-1.5"]),
            (
                &format!("select k, max(x) as m from {t} where k <> 3 group by k order by m desc, k limit 2"),
                &["1|NaN", "2|NaN"],
            ),
            (&format!("select max(x), min(x) from {t}"), &["NaN|-1.5"]),
        ],
    );
}

#[test]
fn columns_without_names_may_be_equal() {
    let engine = engine_of(&social());
    all(
        &engine,
        &[
            ("select 1, 1", &["1|1"]),
            ("select count(*), count(*), max(name) from city", &["40|40|Zürich"]),
            ("select id + 1, id + 1 from person order by id limit 1", &["1001|1001"]),
            ("select id as x, id + 1 as x from person where id = 1007", &["1007|1008"]),
            ("select -0.0, cast(-0.0 as varchar)", &["-0.0|-0.0"]),
            ("select 1, 1 union all select 2, 3 order by 1", &["1|1", "2|3"]),
        ],
    );
    let columns = engine.columns("select 1, 1, count(*) as x, count(*) as x from city", &Default::default()).unwrap();
    let names: Vec<&str> = columns.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["1", "1_2", "x", "x_2"]);
}

#[test]
fn three_tables_have_one_merged_column() {
    let engine = engine_of(&social());
    let [a, b, c] = [("a", "s", "1007, 1000"), ("b", "t", "1007, 1014"), ("c", "u", "1007, 1014, 1000")]
        .map(|(name, other, keys)| format!("(select id, gender as {other} from person where id in ({keys})) {name}"));
    all(
        &engine,
        &[
            (
                &format!("select id from {a} left join {b} using (id) left join {c} using (id) order by id"),
                &["1000", "1007"],
            ),
            (&format!("select id from {a} join {b} using (id) join {c} using (id)"), &["1007"]),
            (
                &format!("select id, b.id from {a} natural left join {b} natural left join {c} order by 1"),
                &["1000|null", "1007|1007"],
            ),
            (
                &format!("select id from {a} left join {b} using (id) join {c} using (id) order by id"),
                &["1000", "1007"],
            ),
            (
                &format!("select count(*) from (select * from {a} join {b} using (id) left join {c} using (id)) t"),
                &["1"],
            ),
            (
                "select * from (select id from person where id = 1007) a join (select id from person) b using (id) join (select id from person) c using (id)",
                &["1007"],
            ),
            (&format!("select a.id, c.id from {a} join {b} using (id) join {c} on c.id = b.id"), &["1007|1007"]),
        ],
    );
}
