//! The same questions of the same graph in every format have the same answers.

use isomorph::Location;
use isomorph::convert::{ConvertOptions, Format, Silent};
use isomorph_query::Engine;

use crate::support::{engine_of, social, sorted};

/// Twenty questions that each format can answer from the same typed tables.
const QUESTIONS: [&str; 20] = [
    "select count(*) from person",
    "select count(*), count(email), min(birthday), max(birthday) from person",
    "select gender, count(*) from person group by gender",
    "select id, firstName from person where id in (1000, 1007, 1500)",
    "select firstName from person where birthday < date '1980-01-01' and gender = 'female'",
    "select count(*) from person where firstName like 'A%' or lastName is null",
    "select _source, _target from knows where _source = 1007 or _target = 1007",
    "select count(*), min(since), max(since) from knows",
    "select p.firstName, count(*) as n from person p join livesIn l on l._source = p.id where l._target = 'Lisbon'
        group by p.firstName order by n desc, 1 limit 5",
    "select c.name, count(l._source) from city c left join livesIn l on l._target = c.name group by c.name",
    "select count(distinct b._target) from knows a join knows b on a._target = b._source where a._source = 1007",
    "select count(*) from person p where not exists (select 1 from wrote w where w._source = p.id)",
    "select id from person where id not in (select _source from likes) order by id limit 10",
    "select distinct population from city order by population desc limit 3",
    "select id from person union select id from person intersect select _source from wrote",
    "select id, row_number() over (partition by gender order by birthday, id) as n from person order by id limit 20",
    "with recursive reached as (select 1007 as id union select k._target from knows k join reached r on k._source = r.id)
        select count(*) from reached",
    "select avg(population), sum(population) from city where population > 100000",
    "select count(*) from likes l join post p on p.id = l._target join wrote w on w._target = p.id",
    "select l.name, r.n from city l join (select _target, count(*) as n from livesIn group by _target) r on
        r._target = l.name where r.n > 30",
];

fn converted(home: &std::path::Path, name: &str, to: Format) -> Engine {
    let place = home.join(name);
    let options = ConvertOptions { to: Some(to), ..ConvertOptions::default() };
    let graph = isomorph::open(&social()).unwrap();
    graph.convert_with(&Location::from_path(&place), &options, &Silent).unwrap();
    engine_of(&place.display().to_string())
}

#[test]
fn every_format_gives_the_same_answers() {
    let home = tempfile::tempdir().unwrap();
    let own = engine_of(&social());
    let expected: Vec<Vec<String>> = QUESTIONS
        .iter()
        .map(|question| match sorted(&own, question) {
            Ok(rows) => rows,
            Err(error) => panic!("{question}: {error}"),
        })
        .collect();
    assert!(expected.iter().all(|rows| !rows.is_empty()), "{expected:?}");
    let formats = [
        ("social.parq", Format::NOCK),
        ("social.annnet", Format::ANNNET),
        ("deepgnn", Format::DEEPGNN),
        ("social.lake", Format::GRAPHLAKE),
        ("social.ttl", Format::RDF),
        ("graphar", Format::GRAPHAR),
    ];
    for (name, format) in formats {
        let engine = converted(home.path(), name, format);
        for (question, expected) in QUESTIONS.iter().zip(&expected) {
            match sorted(&engine, question) {
                Ok(rows) => assert_eq!(rows, *expected, "{name}: {question}"),
                Err(error) => panic!("{name}: {question}: {error}"),
            }
        }
    }
}

#[test]
fn a_null_that_was_written_is_a_value() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mixed.json");
    let nodes = r#"{"id":"a","m":5},{"id":"b","m":"5"},{"id":"c","m":null},{"id":"d"}"#;
    std::fs::write(&file, format!(r#"{{"directed":true,"multigraph":false,"nodes":[{nodes}],"edges":[]}}"#)).unwrap();
    let engine = crate::support::engine_of(&file.display().to_string());
    let found = crate::support::rows(&engine, "select count(m), count(distinct m), count(*) from node").unwrap();
    assert_eq!(found, ["3|3|4"]);
}
