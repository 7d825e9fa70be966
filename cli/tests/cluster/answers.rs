//! The same answers as one machine gives.

use std::collections::BTreeMap;

use super::process::{Machines, alone, error, isomorph, root, rows};

/// The questions of the page in a language, with the graphs that they are asked of.
pub fn questions(asked: &str) -> Vec<(String, String)> {
    let page = std::fs::read_to_string(root().join("docs/questions.md")).unwrap();
    let (mut all, mut graph, mut inside) = (Vec::<(String, String)>::new(), "", false);
    for line in page.lines() {
        if let Some(language) = line.strip_prefix("```") {
            inside = language == asked && !graph.is_empty();
            if inside {
                all.push((graph.to_owned(), String::new()));
            }
        } else if let Some(name) = line.strip_prefix("## Of ") {
            graph = name;
        } else if let (true, Some((_, text))) = (inside, all.last_mut()) {
            text.push_str(line);
            text.push('\n');
        }
    }
    assert_eq!(all.len(), 60);
    all
}

/// Questions on what travels in a way of its own: functions of ours, joins in one task, files, triples, unions, windows, limits.
const FURTHER: [&str; 24] = [
    "select a, b, since from graph_table (graph match (a:person)-[k:knows]->(b where b.id > 1400) columns (a.id as a, b.id as b, k.since))",
    "select p.gender, count(*) as n from graph_table (graph match (a:person)-[:knows]->{1,2}(b) columns (b.id as b)) m join person p on p.id = m.b group by p.gender",
    "select sum(id), avg(id), min(birthday), max(id + 1) from person",
    "select gender, sum(id * 2 - 1) from person group by gender",
    "select count(*) from person where -id < -1500",
    "select var(id), stddev(id), median(id), percentile_cont(0.3) within group (order by id) from person",
    "select a.id, count(b.id) as n from person a left join person b on a.id < b.id and b.id < 1020 group by a.id",
    "select count(*) from person a where not exists (select 1 from person b where b.id > a.id)",
    "select count(*) from person a full join city c on a.firstName = c.name",
    "select count(*) from person a where a.id not in (select _source from knows)",
    "select c.name, count(*) from city c, person p group by c.name",
    "select id, rank() over (partition by gender order by birthday, id) as place from person",
    "select id, sum(id) over (order by id rows between 3 preceding and current row) from person",
    "select * from person where id between 1000 and 1100 order by id",
    "select id from person order by birthday desc, id limit 7",
    "select id from person order by id offset 490",
    "select count(*) from (select id from person union all select 1 union all select _source from knows)",
    "select id from person intersect select _source from knows",
    "select firstName, count(distinct gender) from person group by firstName",
    "select l, count(*) from (select unnest(_labels) as l from person) group by l",
    "select count(*) from person where id > (select avg(id) from person)",
    "select gender, (select count(*) from city) from person group by gender",
    "with few as (select id from person where id < 1100) select count(*) from few a join few b on a.id = b.id join knows k on k._source = a.id",
    "select case when id % 2 = 0 then 'even' else 'odd' end as parity, count(*), sum(cast(id as double) / 3) from person group by 1",
];

#[test]
fn a_cluster_answers_what_one_machine_answers() {
    let home = tempfile::tempdir().unwrap();
    let machines = Machines::start_with(&[&root(), home.path()]);
    // As every graph of the page in GraphAr, and the social graph in formats with and without types, indexes and row groups.
    let converted = |name: &str, format: &str| {
        let place = home.path().join(name).display().to_string();
        let done = isomorph(&["convert", "examples/social", &place, "--to", format]);
        assert!(done.status.success(), "{}", error(&done));
        place
    };
    let social =
        ["examples/social".to_owned(), converted("social.parq", "nock"), converted("social.lake", "graphlake")];
    let mut wrong = Vec::new();
    let mut compare = |paths: &[&str], question: &str| {
        let found = machines.asked(paths, question);
        let expected = rows(&alone(paths, question));
        let right = found.status.success() && rows(&found) == expected;
        if !right {
            let text = String::from_utf8_lossy(&found.stdout).into_owned();
            wrong.push(format!("{paths:?} {question}\n  {}{text}  expected {expected:?}", error(&found)));
        }
    };
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    let mut refused = 0;
    for (graph, question) in questions("sql") {
        *asked.entry(graph.clone()).or_default() += 1;
        // Recursion is for one machine.
        if question.contains("recursive") {
            let found = machines.asked(&[&graph], &question);
            assert_eq!(found.status.code(), Some(3), "{question}");
            assert!(error(&found).contains("RecursiveQueryExec"), "{}", error(&found));
            refused += 1;
            continue;
        }
        compare(&[&graph], &question);
    }
    assert_eq!(refused, 2);
    for question in FURTHER {
        compare(&[&social[0]], question);
    }
    for place in &social[1..] {
        for question in [FURTHER[0], FURTHER[2], FURTHER[6], FURTHER[19], FURTHER[22]] {
            compare(&[place], question);
        }
    }
    compare(&[&social[2]], "select predicate, count(*) from quads group by predicate");
    // Two graphs, one of them in a snapshot of a store, and a file.
    let file = home.path().join("people.csv").display().to_string();
    let done = isomorph(&["sql", "examples/social", "select id, gender from person where id < 1500", "-o", &file]);
    assert!(done.status.success(), "{}", error(&done));
    let several = [format!("a={}", social[0]), format!("b={}@1", social[2]), format!("t={file}")];
    let several: Vec<&str> = several.iter().map(String::as_str).collect();
    compare(
        &several,
        "select count(*), sum(t.id) from a.person p join t on p.id = t.id join b.quads q on q.object is not null where p.id < 1010",
    );
    compare(&several, "select t.gender, count(*) from t group by t.gender");
    assert!(wrong.is_empty(), "{} wrong answers\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(asked.len(), 2, "{asked:?}");
}

#[test]
fn the_order_of_an_answer_is_kept() {
    let machines = Machines::start();
    for question in
        ["select id, birthday from person order by birthday, id", "select id from person order by -id limit 30"]
    {
        let (found, expected) = (machines.asked(&["examples/social"], question), alone(&["examples/social"], question));
        assert!(found.status.success(), "{}", error(&found));
        assert_eq!(String::from_utf8_lossy(&found.stdout), String::from_utf8_lossy(&expected.stdout), "{question}");
    }
}

#[test]
fn errors_of_executors_are_those_of_one_machine() {
    let machines = Machines::start();
    let wrong = [
        "select 9223372036854775807 + id from person",
        "select sum(id * 92233720368547758) from person",
        "select 1 / (id - id) from person",
        "select cast(firstName as int) from person where id = 1007",
        "select nothing from person",
    ];
    for question in wrong {
        let (found, expected) = (machines.asked(&["examples/social"], question), alone(&["examples/social"], question));
        assert_eq!(found.status.code(), expected.status.code(), "{question}: {}", error(&found));
        // Which row is the first depends on the order in which parts are read.
        let text = |answer| error(answer).replace(|sign: char| sign.is_ascii_digit(), "");
        assert_eq!(text(&found), text(&expected), "{question}");
    }
}
