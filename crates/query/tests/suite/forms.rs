//! Forms of questions that the engine reads in another way, or not at all.

use isomorph_query::Parameters;

use crate::support::{engine_of, error, rows, social, sorted, with};

#[test]
fn patterns_of_sql_match_the_whole_text() {
    let engine = engine_of(&social());
    for (condition, expected) in [
        ("'xab1' similar to '(a|b)+'", "false"),
        ("'abba' similar to '(a|b)+'", "true"),
        ("'ab' similar to 'a%'", "true"),
        ("'ba' similar to 'a%'", "false"),
        ("'ab' similar to 'a_'", "true"),
        ("'abc' similar to 'a_'", "false"),
        ("'a.b' similar to 'a.b'", "true"),
        ("'axb' similar to 'a.b'", "false"),
        ("'a' similar to '^a$'", "false"),
        ("'^a$' similar to '^a$'", "true"),
        ("'aaa' similar to 'a{2,3}'", "true"),
        ("'aaaa' similar to 'a{2,3}'", "false"),
        ("'b' similar to 'a|b|c'", "true"),
        ("'bc' similar to 'a|b|c'", "false"),
        ("'x7' similar to '[a-z][[:digit:]]'", "true"),
        ("'x-' similar to '[a-z][^a-z]'", "true"),
        (r"'50%' similar to '[0-9]+\%'", "true"),
        (r"'50x' similar to '[0-9]+\%'", "false"),
        ("'50%' similar to '[0-9]+#%' escape '#'", "true"),
        ("'a\nb' similar to 'a%b'", "true"),
        ("'' similar to '%'", "true"),
        ("'ab' not similar to 'a'", "true"),
        ("cast(null as text) similar to 'a'", "null"),
        ("'a' similar to null", "null"),
    ] {
        let found = rows(&engine, &format!("select {condition}"));
        assert_eq!(found.unwrap_or_else(|error| panic!("{condition}: {error}")), [expected], "{condition}");
    }
    assert_eq!(
        sorted(&engine, "select distinct gender from person where gender similar to '(fe)?male'").unwrap(),
        ["female", "male"]
    );
    for question in [
        "select id from person where gender similar to firstName",
        "select id from person where gender similar to 'a' || 'b'",
    ] {
        assert!(error(&engine, question).message().contains("SIMILAR TO"), "{question}");
    }
    for question in
        ["select 'a' similar to '[a'", "select 'a' similar to 'a\\'", "select 'a' similar to 'a' escape 'ab'"]
    {
        assert_eq!(error(&engine, question).kind(), isomorph::Kind::Usage, "{question}");
    }
}

#[test]
fn a_table_has_a_star_without_an_alias() {
    let engine = engine_of(&social());
    let all = "select * from city order by name limit 2";
    for question in [
        "select city.* from city order by name limit 2",
        "select CITY.* from City order by name limit 2",
        "select graph.city.* from city order by name limit 2",
        "select \"city\".* from graph.city order by name limit 2",
        "select c.* from city c order by name limit 2",
    ] {
        assert_eq!(rows(&engine, question).unwrap(), rows(&engine, all).unwrap(), "{question}");
    }
    assert_eq!(
        rows(&engine, "select city.*, p.id from livesIn join city on city.name = _target join person p on p.id = _source where p.id = 1007").unwrap(),
        rows(&engine, "select c.*, 1007 from livesIn join city c on c.name = _target where _source = 1007").unwrap()
    );
    assert_eq!(
        rows(&engine, "with r as (select 1 as a) select r.*, city.name from r join city on name = 'Accra'").unwrap(),
        ["1|Accra"]
    );
}

#[test]
fn memberships_may_be_selected() {
    let engine = engine_of(&social());
    let of = |question: &str| rows(&engine, question).unwrap_or_else(|error| panic!("{question}: {error}"));
    assert_eq!(
        of(
            "select writes, count(*) from (select id in (select _source from wrote) as writes from person) group by 1 order by 1"
        ),
        ["false|151", "true|349"]
    );
    assert_eq!(of("select 1 in (select 1), 2 in (select 1), 2 not in (select 1)"), ["true|false|true"]);
    assert_eq!(
        of(
            "select 1 in (select null union all select 1), 2 in (select null union all select 1), cast(null as int) in (select 1)"
        ),
        ["true|null|null"]
    );
    assert_eq!(of("select case when 1 in (select 1) then 'a' else 'b' end as c"), ["a"]);
    assert_eq!(
        with(&engine, "select $x in (select id from person)", &Parameters::new().with("x", "1007")).unwrap(),
        ["true"]
    );
}

#[test]
fn a_limit_may_be_that_of_each_outer_row() {
    let engine = engine_of(&social());
    let tables = "with o(k) as (values (1),(2),(3)), i(x,y) as (values (1,5),(1,4),(1,3),(2,9)) ";
    for (question, expected) in [
        (
            "select k, y from o left join lateral (select y from i where x = k order by y limit 2) l on true order by k, y",
            &["1|3", "1|4", "2|9", "3|null"][..],
        ),
        (
            "select k, y from o, lateral (select y from i where x = k order by y desc limit 1 offset 1) l order by k",
            &["1|4"],
        ),
        (
            "select k, (select y from i where x = k order by y limit 1) as least from o order by k",
            &["1|3", "2|9", "3|null"],
        ),
        (
            "select k, exists (select 1 from i where x = k offset 1) as has_two from o order by k",
            &["1|true", "2|false", "3|false"],
        ),
        ("select k from o where 4 in (select y from i where x = k order by y limit 2) order by k", &["1"]),
        ("select k from o where 5 in (select y from i where x = k order by y limit 2) order by k", &[]),
    ] {
        let found = rows(&engine, &format!("{tables}{question}"));
        assert_eq!(found.unwrap_or_else(|error| panic!("{question}: {error}")), expected, "{question}");
    }
}

#[test]
fn forms_that_are_not_answered_say_what_to_write() {
    let engine = engine_of(&social());
    for (question, expected, hint) in [
        ("select * from knows semi join city on true", "a join is not supported: semi", "left semi join"),
        ("select * from knows anti join city on true", "a join is not supported: anti", "left anti join"),
        (
            "select p.id, l.u from person p, unnest(p._labels) as l(u)",
            "unnest of a column is not supported in FROM",
            "unnest(c) as u",
        ),
        (
            "select p.id, k._target from person p left join lateral (select _target from knows where _source < p.id limit 2) k on true",
            "a subquery that depends on the outer row is not supported here",
            "row_number()",
        ),
    ] {
        let told = error(&engine, question);
        assert!(told.message().contains(expected), "{question}: {told}");
        assert!(told.hints().any(|own| own.contains(hint)), "{question}: {told}");
    }
    assert_eq!(rows(&engine, "select u from unnest([1, 2]) as t(u)").unwrap(), ["1", "2"]);
}

#[test]
fn fetch_first_is_a_limit() {
    let engine = engine_of(&social());
    let of = |rest: &str| rows(&engine, &format!("select id from person order by id {rest}"));
    for (fetch, limit) in [
        ("fetch first 3 rows only", "limit 3"),
        ("fetch next row only", "limit 1"),
        ("offset 2 rows fetch next 3 rows only", "limit 3 offset 2"),
        ("offset 1 row fetch first row only", "limit 1 offset 1"),
        ("fetch first 0 rows only", "limit 0"),
    ] {
        assert_eq!(of(fetch).unwrap(), of(limit).unwrap(), "{fetch}");
    }
    let inside = "select max(id) from (select id from person order by id fetch first 2 rows only) t";
    assert_eq!(rows(&engine, inside).unwrap(), ["1007"]);
    for (fetch, expected) in [
        ("fetch first 3 rows with ties", "with ties is not supported"),
        ("fetch first 3 percent rows only", "percent is not supported"),
        ("limit 1 fetch first 3 rows only", "limit and fetch first"),
    ] {
        let error = of(fetch).unwrap_err();
        assert!(error.message().contains(expected), "{fetch}: {error}");
    }
}
