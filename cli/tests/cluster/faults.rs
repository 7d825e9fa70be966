//! What is refused, and what happens when processes end.

use std::path::Path;

use super::process::{Machines, alone, asked, error, executor, isomorph, rows, scheduler};

/// A question that takes long, in two stages.
const LONG: &str = "select a.gender, c.name, count(*) as n, sum(a.id * b.id) as total from person a join person b on a.id <> b.id \
     cross join city c group by a.gender, c.name";

fn fails(found: &std::process::Output, code: i32, words: &[&str]) {
    let text = error(found);
    assert_eq!(found.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn what_does_not_travel_is_refused_by_name() {
    let machines = Machines::start();
    let ask = |question: &str| machines.asked(&["examples/social"], question);
    let recursive = "with recursive r as (select 1000 as id union all select id + 1 from r where id < 1005) \
         select count(*) from r join person p on p.id = r.id";
    fails(&ask(recursive), 2, &["does not travel to a cluster", "Recursive"]);
    let divided = ask("select id, count(*) over (partition by id % 2 + 1) from person");
    fails(&divided, 2, &["does not travel", "partition by c"]);
    let flagged =
        isomorph(&["sql", "examples/social", "select 1", "--key", "row", "--cluster", &machines.scheduler.address]);
    fails(&flagged, 2, &["--key does not travel"]);
    // What reads no table needs no cluster.
    assert_eq!(rows(&ask("select 1 + 1 as two")), ["two", "2"]);
    let nobody = isomorph(&["sql", "examples/social", "select count(id) from person", "--cluster", "127.0.0.1:1"]);
    fails(&nobody, 5, &["the scheduler cannot be reached", "isomorph cluster scheduler"]);
    fails(&isomorph(&["cluster", "scheduler", "--bind", "0.0.0.0:0"]), 2, &["other machines", "--insecure"]);
}

#[test]
fn places_outside_of_what_is_allowed_are_refused() {
    let (scheduler, home) = (scheduler(), tempfile::tempdir().unwrap());
    let allowed = super::process::root().join("examples/social").display().to_string();
    let _executor = executor(&scheduler, home.path(), &["--allow", &allowed]);
    let count = "select count(*) as n from person where id > 0";
    assert_eq!(rows(&asked(&scheduler, &["examples/social"], count)), ["n", "500"]);
    fails(&asked(&scheduler, &["examples/town"], count), 2, &["does not open this place", "--allow"]);
}

#[test]
fn processes_end_when_they_are_asked_to() {
    let Machines { executors, scheduler, homes } = Machines::start();
    for executor in executors {
        assert!(executor.ends());
    }
    for home in &homes {
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "what they made is gone");
    }
    assert!(scheduler.ends());
}

/// Whether a stage was written below a directory.
fn has_results(home: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(home) else { return false };
    entries.flatten().any(|entry| {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory { has_results(&entry.path()) } else { true }
    })
}

#[test]
fn a_question_survives_an_executor_that_is_killed() {
    let mut machines = Machines::start();
    let expected = rows(&alone(&["examples/social"], LONG));
    let found = std::thread::scope(|scope| {
        let scheduler = &machines.scheduler;
        let asking = scope.spawn(move || asked(scheduler, &["examples/social"], LONG));
        // In the middle: it has written what a stage gave it, and the question is not answered.
        while !has_results(machines.homes[0].path()) && !asking.is_finished() {
            std::thread::yield_now();
        }
        machines.executors.remove(0).kill();
        asking.join().unwrap()
    });
    match found.status.success() {
        true => assert_eq!(rows(&found), expected),
        false => fails(&found, 5, &["ask again"]),
    }
    // The other one goes on.
    assert_eq!(rows(&machines.asked(&["examples/social"], LONG)), expected);
}
