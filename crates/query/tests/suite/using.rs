//! `*` and columns without a table after joins that merge columns: of which table they are does not depend on how the tables are called.

use crate::answers::all;
use crate::support::{engine_of, error, social};

const POSTS: &str = "(select _source as id, count(*) as posts from wrote group by 1)";

#[test]
fn all_columns_have_the_key_of_the_table_that_is_kept() {
    let engine = engine_of(&social());
    let counted = |from: &str| format!("select count(*), count(id), count(posts) from (select * from {from}) t");
    let all_rows: &[&str] = &["500|500|349"];
    for (person, posts) in [("p", "d"), ("a", "z")] {
        let both = |join: &str| {
            counted(&join.replace("person", &format!("person {person}")).replace("posts", &format!("{POSTS} {posts}")))
        };
        all(
            &engine,
            &[
                (&both("person left join posts using (id)"), all_rows),
                (&both("person natural left join posts"), all_rows),
                (&both("posts right join person using (id)"), all_rows),
                (&both("posts natural right join person"), all_rows),
                (&both("posts full join person using (id)"), all_rows),
                (&both("person full join posts using (id)"), all_rows),
                (&both("person join posts using (id)"), &["349|349|349"]),
                (&both("posts natural join person"), &["349|349|349"]),
            ],
        );
    }
}

#[test]
fn a_merged_column_stands_in_its_place_in_the_left_table() {
    let engine = engine_of(&social());
    let of = |join: &str, left: &str, right: &str| {
        format!(
            "select * from (select 1 as a, 2 as id, 3 as b) {left} {join} join (select 4 as c, 5 as id) {right} using (id) order by id"
        )
    };
    for (left, right) in [("x", "y"), ("y", "x")] {
        all(
            &engine,
            &[
                (&of("left", left, right), &["1|2|3|null"]),
                (&of("right", left, right), &["null|5|null|4"]),
                (&of("full", left, right), &["1|2|3|null", "null|5|null|4"]),
                (&of("left", left, right).replace("5 as", "2 as"), &["1|2|3|4"]),
                (&of("", left, right).replace("5 as", "2 as"), &["1|2|3|4"]),
            ],
        );
    }
}

#[test]
fn a_merged_column_needs_no_table() {
    let engine = engine_of(&social());
    let joined = format!("from person p left join {POSTS} d using (id)");
    all(
        &engine,
        &[
            (&format!("select id {joined} where id = 1007"), &["1007"]),
            (&format!("select count(id), count(p.id), count(d.id) {joined}"), &["500|500|349"]),
            (&format!("select count(*) {joined} where d.id is null and id is not null"), &["151"]),
            (&format!("select p.id, d.* {joined} where id = 1000 and posts is null"), &[]),
        ],
    );
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let engine = engine_of(&social());
    let of = "(select 1 as a, 2 as id)";
    let tables = format!("{of} z left join (select 4 as c, 3 as id) y using (id)");
    for question in [
        format!("select * from ({tables})"),
        format!("select * except (c) from {tables}"),
        format!("select * from {of} z natural left join (with e as (select 4 as c, 3 as id) select * from e) d"),
    ] {
        let told = error(&engine, &question);
        assert!(told.message().contains("* after a left join with USING or NATURAL"), "{question}: {told}");
        assert_eq!(told.kind(), isomorph::Kind::Unsupported);
    }
    all(
        &engine,
        &[
            (&format!("with d as (select 4 as c, 3 as id) select * from {of} z left join d using (id)"), &["1|2|null"]),
            (&format!("with d as (select 4 as c, 3 as id) select * from {of} z natural left join d"), &["1|2|null"]),
        ],
    );
}

#[test]
fn a_natural_left_join_of_unknown_columns_is_refused() {
    let engine = engine_of(&social());
    let unknown = "(with e as (select 4 as c where false) select * from e) d";
    for question in [
        format!("select count(*) from (select 1 as a) z natural left join {unknown}"),
        format!("select count(*) from ((select 1 as a) z natural left join {unknown})"),
    ] {
        let told = error(&engine, &question);
        assert!(told.message().contains("not known to have a column in common"), "{question}: {told}");
    }
    all(
        &engine,
        &[("select count(*) from (person natural left join (select id from person where id < 1010) q)", &["500"])],
    );
}

#[test]
fn a_merged_column_of_a_subquery_is_none_of_the_query_outside() {
    let engine = engine_of(&social());
    let tables = "with p as (select * from (values (1), (2), (3)) t(id)), a as (select * from (values (1, 10), (2, 20)) t(id, v))";
    all(
        &engine,
        &[
            (
                &format!(
                    "{tables} select id, id in (select id from a x join a y using (id)), \
                     exists (select 1 from a x natural join a y where id = 1), \
                     (select max(id) from a x join a y using (id)) from p order by id"
                ),
                &["1|true|true|2", "2|true|true|2", "3|false|true|2"],
            ),
            (
                &format!(
                    "{tables} select count(*) from p where exists (select 1 from a join a b using (id) where id = p.id)"
                ),
                &["2"],
            ),
            (
                "select count(*) from person where id in (select id from person a join person b using (id) where b.gender = 'male')",
                &["179"],
            ),
        ],
    );
    let told = error(&engine, "select id in (select id from (person a join person b using (id))) from person");
    assert!(told.message().contains("in a subquery"), "{told}");
}
