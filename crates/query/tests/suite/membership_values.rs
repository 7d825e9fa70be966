//! Comparisons with subqueries as values: true, false or unknown, wherever an expression may stand.

use crate::answers::all;
use crate::support::{engine_of, social};

const TABLES: &str = "with l(k,a,b) as (values (1,1,1),(2,2,null),(3,null,3),(4,null,null),(5,9,9)), \
    r(x,y) as (values (1,1),(2,5),(3,null)), n(x) as (values (1),(null)), p(x) as (values (1),(2)), \
    e(x) as (select x from r where x > 99) ";

#[track_caller]
fn check(questions: &[(&str, &[&str])]) {
    let engine = engine_of(&social());
    let whole: Vec<(String, &[&str])> =
        questions.iter().map(|(question, rows)| (format!("{TABLES}{question}"), *rows)).collect();
    all(&engine, &whole.iter().map(|(question, rows)| (question.as_str(), *rows)).collect::<Vec<_>>());
}

#[test]
fn among_what_is_selected_a_null_may_be_anything() {
    check(&[
        (
            "select k, a in (select x from n), a not in (select x from n) from l order by k",
            &["1|true|false", "2|null|null", "3|null|null", "4|null|null", "5|null|null"],
        ),
        (
            "select k, a in (select x from p), a not in (select x from p) from l order by k",
            &["1|true|false", "2|true|false", "3|null|null", "4|null|null", "5|false|true"],
        ),
        // Nothing is in an empty subquery, not even a null.
        (
            "select k, a in (select x from e), a not in (select x from e) from l order by k",
            &["1|false|true", "2|false|true", "3|false|true", "4|false|true", "5|false|true"],
        ),
        (
            "select k, a in (select y from r where r.x <= l.k) from l order by k",
            &["1|true", "2|false", "3|null", "4|null", "5|null"],
        ),
        (
            "select k, (a, b) in (select x, y from r), (a, b) not in (select x, y from r) from l order by k",
            &["1|true|false", "2|null|null", "3|null|null", "4|null|null", "5|false|true"],
        ),
        (
            "select k, (a, b) in (select x, y from r where x > 99) from l order by k",
            &["1|false", "2|false", "3|false", "4|false", "5|false"],
        ),
        ("select max(a) in (select x from p) from l", &["false"]),
    ]);
}

#[test]
fn in_orders_groups_aggregates_windows_and_joins_too() {
    check(&[
        ("select k from l order by a in (select x from n) nulls first, k", &["2", "3", "4", "5", "1"]),
        (
            "select a in (select x from n) as i, count(*) from l group by a in (select x from n) order by 1 nulls first",
            &["null|4", "true|1"],
        ),
        (
            "select sum(case when a in (select x from p) then 1 when a not in (select x from p) then 10 else 100 end) from l",
            &["212"],
        ),
        (
            "select k, row_number() over (order by a in (select x from p) nulls first, k) from l order by k",
            &["1|4", "2|5", "3|1", "4|2", "5|3"],
        ),
        (
            "select l.k, p.x from l left join p on p.x = l.k and l.a in (select x from n) order by 1",
            &["1|1", "2|null", "3|null", "4|null", "5|null"],
        ),
        (
            "select l.k, p.x from l join p on p.x = l.k and l.a not in (select x from r where x > 2) order by 1",
            &["1|1", "2|2"],
        ),
        ("select k from l where coalesce(a in (select x from n), true) order by k", &["1", "2", "3", "4", "5"]),
        ("select b from l group by b having max(a) not in (select x from p) order by 1", &["9"]),
    ]);
}

#[test]
fn exists_any_and_all_are_values() {
    check(&[
        (
            "select k, exists (select 1 from r where r.x < l.a) from l order by k",
            &["1|false", "2|true", "3|false", "4|false", "5|true"],
        ),
        (
            "select k, a < any (select y from r), a < all (select y from r) from l order by k",
            &["1|true|false", "2|true|false", "3|null|null", "4|null|null", "5|null|false"],
        ),
        (
            "select k, a >= all (select x from r where r.x <= l.k) from l order by k",
            &["1|true", "2|true", "3|null", "4|null", "5|true"],
        ),
        ("select k from l order by exists (select 1 from n where n.x = l.a) desc, k limit 2", &["1", "2"]),
        (
            "select exists (select 1 from n where n.x = l.a) as e, count(*) from l group by 1 order by 1",
            &["false|4", "true|1"],
        ),
    ]);
}

#[test]
fn a_null_in_an_array_may_be_anything() {
    check(&[
        (
            "select k, a = any([b, 2]), a <> all([b, 2]) from l order by k",
            &["1|true|false", "2|true|false", "3|null|null", "4|null|null", "5|true|false"],
        ),
        (
            "select 1 = any([2, null]), 1 <> all([2, null]), 1 < any([null, 2]), 1 < all([null, 2])",
            &["null|null|true|null"],
        ),
        (
            "select k, a = any(v), a <> any(v), a < all(v) from (select k, a, array_append([2, 9], b) as v from l) q order by k",
            &["1|true|true|false", "2|true|true|false", "3|null|null|null", "4|null|null|null", "5|true|true|false"],
        ),
        (
            "select 1 = any(v), 1 = all(v), cast(null as int) = any(v) from (select array_remove([1], 1) as v) q",
            &["false|true|false"],
        ),
        ("select cast(null as int[]) is null, 1 = any(cast(null as bigint[]))", &["true|null"]),
        ("select 0.0e0 = any([-0.0e0]), 1.5 = any([1, 1.5])", &["true|true"]),
    ]);
}

#[test]
fn truth_values_are_groups() {
    check(&[
        ("select distinct (a = 1) is not false as c from l order by c", &["false", "true"]),
        ("select (a = 1) is true as c, count(*) from l group by (a = 1) is true order by c", &["false|4", "true|1"]),
        (
            "select distinct (not (a in (1, 2))) is true, (a > 1) is false, (a > 1) is not true from l order by 1, 2, 3",
            &["false|false|false", "false|false|true", "false|true|true", "true|false|false"],
        ),
    ]);
}
