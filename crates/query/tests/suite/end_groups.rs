//! Edges that are grouped by what the node at one end has: without a join by keys, and the same as with one.

use std::path::Path;

use isomorph_query::Engine;

use crate::support::{engine_of, plan, root, social, sorted};

const WAY: &str = "way=groups of person";

/// The question with keys of groups that are expressions, which the engine joins for.
fn joined(engine: &Engine, question: &str, keys: &[&str]) -> Vec<String> {
    let other = keys.iter().fold(question.to_owned(), |text, key| {
        text.replace(&format!("group by {key}"), &format!("group by {key} || ''"))
            .replace(&format!("select {key}"), &format!("select {key} || ''"))
    });
    assert_ne!(other, question);
    assert!(!plan(engine, &other).contains(WAY), "{}", plan(engine, &other));
    sorted(engine, &other).unwrap()
}

#[test]
fn groups_are_those_of_a_join() {
    let engine = engine_of(&social());
    for question in [
        "select p.gender, count(*) from knows e join person p on e._source = p.id group by p.gender",
        "select p.gender, count(*), min(e.since), max(e.since) from person p join knows e on e._target = p.id group by p.gender",
        "select p.gender, count(e.since), count(distinct e.since), avg(extract(year from e.since)) from knows e, person p where p.id = e._source group by p.gender",
        "select p.gender, count(*) filter (where e.since > date '2024-06-01') from knows e join person p on e._source = p.id group by p.gender",
        "select p.gender, count(*) from knows e join person p on e._source = p.id where e.since > timestamp '2024-06-01' group by p.gender",
        "select p.gender, count(distinct e.since) from knows e join person p on e._source = p.id group by p.gender having count(*) > 3",
        "select p.gender, sum(e.weight) from likes e join person p on e._source = p.id group by p.gender",
    ] {
        assert!(plan(&engine, question).contains(WAY), "{question}\n{}", plan(&engine, question));
        assert_eq!(sorted(&engine, question).unwrap(), joined(&engine, question, &["p.gender"]), "{question}");
    }
    // Two columns, one of them twice, under other names.
    let two = "select p.gender as a, p.gender as b, p.birthday, count(*) as n from knows e join person p on e._source = p.id group by p.gender, p.birthday";
    assert!(plan(&engine, two).contains(WAY));
    let total = format!("select sum(n), count(*) from ({two}) t where a = b");
    let other = "select sum(n), count(*) from (select p.gender || '', p.birthday, count(*) as n from knows e join person p on e._source = p.id group by 1, 2) t";
    assert_eq!(sorted(&engine, &total).unwrap(), sorted(&engine, other).unwrap());
}

#[test]
fn what_has_another_meaning_is_joined() {
    let engine = engine_of(&social());
    for question in [
        "select p.gender, count(*) from knows e left join person p on e._source = p.id group by p.gender",
        "select p.gender, count(*) from knows e join person p on e._source < p.id group by p.gender",
        "select p.gender, count(*) from knows e join person p on e._source = p.id where p.birthday > date '1990-01-01' group by p.gender",
        "select p.gender, max(p.birthday) from knows e join person p on e._source = p.id group by p.gender",
        "select p.gender, count(distinct e._target) from knows e join person p on e._source = p.id group by p.gender having count(*) > 3",
        "select p.gender, max(e._source), count(*) from knows e join person p on e._source = p.id group by p.gender",
        "select e.since, count(*) from knows e join person p on e._source = p.id group by e.since",
        "select c.name, count(*) from livesIn e join city c on e._source::text = c.name group by c.name",
        "select p.gender, count(*) from knows e join person p on e._source = p.id and e._target = p.id group by p.gender",
    ] {
        assert!(!plan(&engine, question).contains("way=groups of"), "{question}\n{}", plan(&engine, question));
        sorted(&engine, question).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

#[test]
fn nodes_with_one_key_are_all_found() {
    let home = tempfile::tempdir().unwrap();
    copy(&root().join("fixtures/reifiers/graph"), home.path());
    let place = home.path().display().to_string();
    let question =
        "select p.age, count(*), sum(e.weight) from knows e join person p on e._source = p.id group by p.age";
    let engine = engine_of(&place);
    assert!(plan(&engine, question).contains(WAY), "{}", plan(&engine, question));
    let keys = home.path().join("vertex/person/id_age/chunk0");
    let text = std::fs::read_to_string(&keys).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // The second node has the key of the first one, and keeps its age.
    let key = lines[1].split(',').next().unwrap().to_owned();
    let age = lines[2].split(',').nth(1).unwrap().to_owned();
    lines[2] = format!("{key},{age}");
    std::fs::write(&keys, lines.join("\n") + "\n").unwrap();
    let engine = engine_of(&place);
    assert!(!plan(&engine, question).contains(WAY), "{}", plan(&engine, question));
    let naive = "select (select count(*) from person p join knows e on p.id = e._source) as n";
    let total = "select sum(n) from (select p.age, count(*) as n from knows e join person p on e._source = p.id group by p.age) t";
    assert_eq!(sorted(&engine, total).unwrap(), sorted(&engine, naive).unwrap());
    // Look-ups of a key find the edges of both.
    let key = key.trim_matches('"');
    let both = format!("select count(*) from knows where _source = '{key}'");
    let scanned = format!("select count(*) from knows where _source || '' = '{key}'");
    assert_eq!(sorted(&engine, &both).unwrap(), sorted(&engine, &scanned).unwrap());
}
