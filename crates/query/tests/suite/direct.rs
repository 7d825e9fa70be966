//! Questions that one look-up answers give what planned ones give.

use isomorph_query::Parameters;

use crate::support::{engine_of, error, social, with};

#[test]
fn a_look_up_gives_what_a_plan_gives() {
    let engine = engine_of(&social());
    // From now on its tables are known.
    engine.tables().unwrap();
    let none = Parameters::new();
    let one = |value: &str| Parameters::new().with("x", value);
    let questions = [
        ("* from person", "id", "1007", none.clone()),
        ("id, firstName as \"First\" from person p", "p.id", "1007", none.clone()),
        ("FIRSTNAME, P.Birthday from Person as p", "ID", "1007", none.clone()),
        ("_labels, id from graph.person", "id", "-5", none.clone()),
        ("* from knows", "_source", "1007", none.clone()),
        ("_target as _source, since from knows k", "k._target", "1007", none.clone()),
        ("* from city", "name", "'Accra'", none.clone()),
        ("name from city", "name", "'it''s'", none),
        ("id from person", "id", "$x", one("1007")),
        ("id from person", "id", "$x", one("1008")),
        ("population from city", "name", "$x", one("Accra")),
    ];
    for (what, column, value, parameters) in questions {
        let found = |question: &str| {
            let answer = engine.query(question, &parameters).unwrap_or_else(|error| panic!("{question}: {error}"));
            let schema = answer.schema().clone();
            drop(answer);
            let mut rows = with(&engine, question, &parameters).unwrap();
            rows.sort();
            (schema, rows)
        };
        let direct = found(&format!("select {what} where {column} = {value}"));
        // Brackets are planned.
        assert_eq!(direct, found(&format!("select {what} where ({column} = {value})")), "{what} {column} {value}");
    }
}

#[test]
fn what_is_wrong_is_told_as_ever() {
    let engine = engine_of(&social());
    engine.tables().unwrap();
    for (question, expected) in [
        ("select id from persn where id = 1", "there is no table persn, did you mean person?"),
        ("select fristName from person where id = 1", "there is no column fristName here, did you mean firstName?"),
        ("select id from person where ID = 'x'", "Cannot cast string 'x'"),
        ("select id from person where id = $x", "has no value"),
    ] {
        let told = error(&engine, question);
        assert!(told.message().contains(expected), "{question}: {told}");
    }
    let unused = engine.query("select id from person where id = 1", &Parameters::new().with("x", "1"));
    assert!(unused.unwrap_err().message().contains("has no parameter $x"));
}
