//! `exists` among what is selected, and collations.

use crate::answers::all;
use crate::support::{engine_of, error, social};

const OUTER: &str = "(values (1,2),(2,null),(null,3),(3,1),(3,9)) r(a,b)";
const INNER: &str = "(values (2,1),(3,3),(3,1),(null,null)) s(a,b)";

#[test]
fn exists_is_a_value() {
    let engine = engine_of(&social());
    let each = |exists: &str| format!("select a, b, {exists} as e from {OUTER} order by b nulls first");
    let some = &["2|null|true", "3|1|true", "1|2|false", "null|3|false", "3|9|true"];
    let none = &["2|null|false", "3|1|false", "1|2|true", "null|3|true", "3|9|false"];
    all(
        &engine,
        &[
            ("select exists (select 1) as e", &["true"]),
            ("select exists (select 1 where false) as e, not exists (select 1 where false) as n", &["false|true"]),
            ("select exists (select count(*) from person where id < 0) as e", &["true"]),
            ("select exists (select id from person limit 0) as e", &["false"]),
            ("select exists (select id from person offset 1000000) as e", &["false"]),
            (&format!("select exists (select a from {INNER} where a > 9 union select b from {INNER}) as e"), &["true"]),
            (&each(&format!("exists (select 1 from {INNER} where s.a = r.a)")), some),
            (&each(&format!("exists (select 1 from {INNER} where r.a = s.a limit 1)")), some),
            (&each(&format!("exists (select distinct s.b from {INNER} where r.a = s.a)")), some),
            (&each(&format!("exists (select null from {INNER} where r.a = s.a)")), some),
            (&each(&format!("not exists (select 1 from {INNER} where s.a = r.a)")), none),
            (
                &each(&format!(
                    "case when not exists (select * from {INNER} where s.a = r.a and s.b = 1) then 0 else r.b end"
                )),
                &["2|null|null", "3|1|1", "1|2|0", "null|3|0", "3|9|9"],
            ),
            (
                &format!(
                    "select count(*) from (select exists (select 1 from {INNER} where s.a = r.a) as e from {OUTER}) t where e"
                ),
                &["3"],
            ),
            (
                "select count(*) from (select exists (select 1 from wrote w where w._source = p.id) as e from person p) t where not e",
                &["151"],
            ),
        ],
    );
}

#[test]
fn an_aggregate_has_one_row_also_of_nothing() {
    let engine = engine_of(&social());
    let of = |condition: &str| format!("select b from {OUTER} where {condition} order by b nulls first");
    let (all_rows, matched, others) = (&["null", "1", "2", "3", "9"], &["null", "1", "9"], &["2", "3"]);
    let none: &[&str] = &[];
    let counted = |what: &str| format!("(select {what} from {INNER} where s.a = r.a)");
    let having = |what: &str, having: &str| format!("(select {what} from {INNER} where s.a = r.a having {having})");
    all(
        &engine,
        &[
            (&of(&format!("exists {}", counted("count(*)"))), all_rows),
            (&of(&format!("exists {} or b = 77", counted("max(s.b)"))), all_rows),
            (&of(&format!("not exists {}", counted("count(*)"))), none),
            (&of(&format!("exists {}", having("1", "count(*) = 0"))), others),
            (&of(&format!("exists {}", having("1", "count(*) > 0"))), matched),
            (&of(&format!("not exists {}", having("sum(s.b)", "count(*) > 1"))), &["null", "2", "3"]),
            (&of(&format!("exists {}", having("1", "sum(s.b) is null"))), others),
            (&of(&format!("0 in {}", counted("count(*)"))), others),
            (&of(&format!("0 not in {}", counted("count(*)"))), matched),
            (&of(&format!("1 in {}", counted("max(s.b)"))), &["null"]),
            (&of(&format!("1 not in {}", counted("max(s.b)"))), &["1", "9"]),
            (&of(&format!("0 in {}", having("count(*)", "count(*) = 0"))), others),
            (&of(&format!("7 not in {}", having("count(*)", "count(*) > 1"))), all_rows),
            (&of(&format!("0 = any {}", counted("count(*)"))), others),
            (&of(&format!("2 > all {}", counted("count(*)"))), &["null", "2", "3"]),
            (&of(&format!("2 < all {}", having("count(*)", "count(*) > 1"))), &["null", "2", "3"]),
            (&of(&format!("exists {} and b > 2", counted("count(*)"))), &["3", "9"]),
            (
                &format!(
                    "select b, exists {} as e from {OUTER} order by b nulls first limit 2",
                    having("1", "count(*) = 2")
                ),
                &["null|false", "1|true"],
            ),
        ],
    );
}

#[test]
fn a_collation_of_bytes_is_the_order_of_texts() {
    let engine = engine_of(&social());
    let names = "(values ('b'),('B'),('ä'),('a')) t(x)";
    all(
        &engine,
        &[
            (&format!("select x from {names} order by x collate \"C\""), &["B", "a", "b", "ä"]),
            (&format!("select count(*) from {names} where x collate posix < 'a'"), &["1"]),
        ],
    );
    let refused = error(&engine, &format!("select x from {names} order by x collate \"de_DE\""));
    assert_eq!(refused.message(), "an expression is not supported: Collate");
    assert!(refused.hints().any(|hint| hint.contains("collate \"C\"")), "{refused}");
}
