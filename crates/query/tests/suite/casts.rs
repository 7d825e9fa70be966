//! Casts round, shifts do not wrap, unions of decimals and floats.

use crate::answers::all;
use crate::support::{engine_of, error, rows, social};

#[test]
fn casts_to_integers_round() {
    let engine = engine_of(&social());
    let floats = "(values (1,cast(0.5 as double)),(2,1.5),(3,2.5),(4,-0.5),(5,-1.5),(6,2.4999999),(7,null)) t(k,x)";
    let decimals = "(select k, cast(f as decimal(10,2)) as x from
        (values (1,0.5),(2,1.5),(3,2.5),(4,-0.5),(5,-1.5),(6,2.49),(7,null)) v(k,f)) t";
    all(
        &engine,
        &[
            // As in PostgreSQL and DuckDB: halves of floats go to the even number, those of decimals away from zero.
            (&format!("select cast(x as bigint) from {floats} order by k"), &["0", "2", "2", "0", "-2", "2", "null"]),
            (&format!("select cast(x as int) from {decimals} order by k"), &["1", "2", "3", "-1", "-2", "2", "null"]),
            ("select cast(2.5 as int), cast(-2.5 as bigint), cast(2.5e0 as int), 2.5::smallint", &["3|-3|2|3"]),
            ("select cast(cast(2.675 as decimal(10,3)) as decimal(10,2)), cast(0.99 as decimal(2,0))", &["2.68|1"]),
            (&format!("select k from {floats} where cast(x as int) = 2 order by k"), &["2", "3", "6"]),
            (&format!("select k from {decimals} where cast(x as int) = 2 order by k"), &["2", "6"]),
            (&format!("select k from {decimals} where cast(x as int) in (2, -2) order by k"), &["2", "5", "6"]),
            (&format!("select k from {decimals} where cast(x as decimal(9,0)) = 2 order by k"), &["2", "6"]),
            (&format!("select k from {decimals} where cast(x as decimal(9,1)) < 0 order by k"), &["4", "5"]),
            (
                &format!("select k from {decimals} where cast(x as decimal(9,0)) between 2 and 2 order by k"),
                &["2", "6"],
            ),
            ("select try_cast(cast(1e30 as double) as bigint), try_cast(cast('nan' as double) as int)", &["null|null"]),
            ("select try_cast(cast(300.5 as decimal(5,1)) as tinyint), try_cast(12.5 as tinyint)", &["null|13"]),
            ("select cast(99999999999999999999999999999999999999 as decimal(38,0)) = 0", &["false"]),
            ("select cast(cast(0.99999999999999999999999999999999999999 as decimal(38,38)) as bigint)", &["1"]),
        ],
    );
    for question in [
        "select cast(cast(1e30 as double) as bigint)",
        "select cast(cast('nan' as double) as int)",
        "select cast(cast(127.5 as decimal(5,1)) as tinyint)",
        "select cast(cast(9223372036854775807.5 as decimal(38,1)) as bigint)",
        "select cast(cast(99.5 as decimal(3,1)) as decimal(2,0))",
    ] {
        let found = rows(&engine, question);
        assert!(found.is_err(), "{question}: {found:?}");
    }
}

#[test]
fn shifts_do_not_wrap() {
    let engine = engine_of(&social());
    all(
        &engine,
        &[
            ("select 1 << 0, 1 << 62, 5 >> 1, -8 >> 1, -1 << 3", &["1|4611686018427387904|2|-4|-8"]),
            ("select x << n from (values (1,3),(2,null),(null,1)) t(x,n)", &["8", "null", "null"]),
            ("select 1 + 1 << 2", &["8"]),
            ("select (1 << 2) + 1, 1 << 2 << 3", &["5|32"]),
        ],
    );
    for question in [
        "select 1 << 64",
        "select 1 << -1",
        "select 1 >> 64",
        "select 1 << 63",
        "select x << 60 from (values (1),(16)) t(x)",
    ] {
        let told = error(&engine, question);
        assert!(told.message().contains("<<") || told.message().contains(">>"), "{question}: {told}");
    }
}

#[test]
fn unions_of_columns_are_floats() {
    let (_home, engine) = crate::answers::engine();
    all(
        &engine,
        &[
            ("select price from node where id < 3 union select f from node order by 1", &["0.0", "1.5", "5.0", "null"]),
            ("select f from node union select price from node where id < 3 order by 1", &["0.0", "1.5", "5.0", "null"]),
            ("select count(*) from (select id, price from node union select id, f from node) t", &["6"]),
            (
                "select price + 1 as x from node where id = 1 union select f from node where id = 3 order by x",
                &["2.5", "5.0"],
            ),
            ("select max(price) from node where id = 1 union select sum(f) from node order by 1", &["1.5", "5.0"]),
        ],
    );
}

#[test]
fn unions_of_decimals_and_floats_are_floats() {
    let engine = engine_of(&social());
    let decimal = "select cast(1.5 as decimal(10,2)) as x";
    let float = "select cast(1.5 as double) as x";
    all(
        &engine,
        &[
            (&format!("{decimal} union {float}"), &["1.5"]),
            (&format!("{float} union {decimal}"), &["1.5"]),
            (&format!("{float} union {decimal} union all {decimal} order by 1"), &["1.5", "1.5"]),
            (&format!("select count(*) from ({decimal} union {float} union select 2) t"), &["2"]),
            (&format!("{decimal} except {float}"), &[]),
            (&format!("{float} intersect all {decimal}"), &["1.5"]),
            (&format!("{decimal} union select cast(1e-20 as real) order by 1"), &["9.999999682655225e-21", "1.5"]),
            (&format!("with t as ({decimal} union {float}) select a.x from t a join t b using (x)"), &["1.5"]),
            (&format!("select x + 1 from ({decimal} union select x from ({float}) u) t"), &["2.5"]),
        ],
    );
}

#[test]
fn far_dates_times_and_texts_are_compared() {
    let engine = engine_of(&social());
    for (comparison, expected) in [
        ("timestamp '3000-01-01' > '2999-12-31'", "true"),
        ("timestamp '1500-01-01' < '1500-01-01 00:00:01'", "true"),
        ("timestamp '3000-01-01' between '2999-01-01' and '3001-01-01'", "true"),
        ("timestamp '3000-01-01' in ('2999-01-01', '3001-01-01')", "false"),
        ("date '3000-01-01' = timestamp '2999-01-01'", "false"),
        ("date '3000-01-01' > timestamp '2999-01-01'", "true"),
        ("date '3000-01-01' in (timestamp '2999-01-01', timestamp(9) '2000-01-01')", "false"),
        ("date '3000-01-01' between timestamp '2999-01-01' and timestamp(9) '2000-01-01'", "false"),
        ("date '3000-01-01' > timestamp(9) '2000-01-01'", "true"),
        ("date '1000-01-01' < timestamp '1000-01-01 00:00:00.000001'", "true"),
        ("cast(null as varchar) < timestamp '3000-01-01'", "null"),
    ] {
        assert_eq!(rows(&engine, &format!("select {comparison}")).unwrap(), [expected], "{comparison}");
    }
    // Texts in columns may have nanoseconds: those that are too far away for them are an error.
    let values = "(values ('2000-01-01T00:00:00.5'), ('1700-01-01'), (null)) v(x)";
    let found = |condition: &str| rows(&engine, &format!("select x from {values} where {condition}"));
    assert_eq!(found("x < timestamp '2500-01-01' and x > timestamp '1000-01-01'").unwrap().len(), 2);
    assert_eq!(found("x = timestamp '2000-01-01 00:00:00.5'").unwrap(), ["2000-01-01T00:00:00.5"]);
    error(&engine, "select x from (values ('3600-01-01'), (null)) v(x) where x > timestamp '2500-01-01'");
    let joined =
        "select count(*) from (values (date '3000-01-01')) v(x) join (values (timestamp '2999-01-01')) w(y) on x = y";
    assert_eq!(rows(&engine, joined).unwrap(), ["0"]);
    let joined = joined.replace("2999-01-01", "3000-01-01");
    assert_eq!(rows(&engine, &joined).unwrap(), ["1"]);
    let finer = "select timestamp '2000-01-01' = '2000-01-01 00:00:00.0000001', timestamp '2000-01-01' < '2000-01-01 00:00:00.0000001'";
    assert_eq!(rows(&engine, finer).unwrap(), ["false|true"]);
    assert!(error(&engine, "select timestamp '2000-01-01' = 'x'").message().contains("'x'"));
}
