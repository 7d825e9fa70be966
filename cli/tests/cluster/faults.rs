//! What is refused, and what happens when processes end.

use std::path::Path;
use std::process::{Command, Stdio};

use super::process::{Machines, alone, asked, asking, between, error, executor, isomorph, root, rows, scheduler};

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
    fails(&ask(recursive), 3, &["does not travel to a cluster", "Recursive"]);
    let divided = ask("select id, count(*) over (partition by id % 2 + 1) from person");
    fails(&divided, 3, &["does not travel", "partition by c"]);
    let flagged =
        isomorph(&["sql", "examples/social", "select 1", "--key", "row", "--cluster", &machines.scheduler.address]);
    fails(&flagged, 3, &["--key does not travel"]);
    // What reads no table needs no cluster.
    assert_eq!(rows(&ask("select 1 + 1 as two")), ["\"two\"", "2"]);
    let nobody = isomorph(&["sql", "examples/social", "select id from person", "--cluster", "127.0.0.1:1"]);
    fails(&nobody, 5, &["the scheduler cannot be reached", "isomorph cluster scheduler"]);
    fails(&isomorph(&["cluster", "scheduler", "--bind", "0.0.0.0:0"]), 2, &["other machines", "--insecure"]);
}

#[test]
fn graphs_outside_of_what_is_allowed_are_refused() {
    let (scheduler, home) = (scheduler(), tempfile::tempdir().unwrap());
    let _executor = executor(&scheduler, home.path(), &[&root().join("examples/social")]);
    let count = "select count(*) as n from person where id > 0";
    assert_eq!(rows(&asked(&scheduler, &["examples/social"], count)), ["\"n\"", "500"]);
    fails(&asked(&scheduler, &["examples/town"], count), 2, &["does not open this graph", "--allow"]);
    let all = isomorph(&["cluster", "executor", "--scheduler", &scheduler.address]);
    fails(&all, 2, &["--allow"]);
}

#[test]
fn a_graph_that_an_executor_does_not_see_is_named() {
    let data = tempfile::tempdir().unwrap();
    let (seen, moved) = (data.path().join("people.csv"), data.path().join("moved.csv"));
    std::fs::write(&seen, "id,name\n1,Ada\n2,Bo\n").unwrap();
    let path = seen.display().to_string();
    let (scheduler, home) = (scheduler(), tempfile::tempdir().unwrap());
    let _executor = executor(&scheduler, home.path(), &[data.path()]);
    let question = "select name from people where id > 0";
    assert_eq!(rows(&asked(&scheduler, &[&path], question)), ["\"name\"", "Ada", "Bo"]);
    // The plan is made: from here on only executors read.
    let (address, passing) = between(&scheduler, move || std::fs::rename(seen, moved).unwrap());
    let gone = asking(&address, &[&path], question).output().unwrap();
    let words = ["no such file", "people.csv", "every machine of a cluster sees the graphs at the same path"];
    fails(&gone, 3, &words);
    passing.join().unwrap();
}

#[test]
fn a_graph_that_changed_since_the_plan_was_made_is_a_conflict() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("people.csv");
    std::fs::write(&file, "id,name\n1,Ada\n2,Bo\n").unwrap();
    let path = file.display().to_string();
    let (scheduler, home) = (scheduler(), tempfile::tempdir().unwrap());
    let _executor = executor(&scheduler, home.path(), &[data.path()]);
    let question = "select name from people where id > 0";
    let change = move || std::fs::write(&file, "id,name\n1,Ada\n2,Bo\n3,Cy\n").unwrap();
    let (address, passing) = between(&scheduler, change);
    fails(&asking(&address, &[&path], question).output().unwrap(), 5, &["not those from which the plan was made"]);
    passing.join().unwrap();
    assert_eq!(rows(&asked(&scheduler, &[&path], question)), ["\"name\"", "Ada", "Bo", "Cy"]);
}

#[test]
fn credentials_stay_where_they_are() {
    const SECRET: &str = "open-sesame-0123456789";
    let (scheduler, home) = (scheduler(), tempfile::tempdir().unwrap());
    let _executor = executor(&scheduler, home.path(), &[&root()]);
    let (address, passing) = between(&scheduler, || ());
    let mut client = asking(&address, &["examples/social"], "select count(*) as n from person where id > 0");
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_ACCOUNT_KEY"] {
        client.env(name, SECRET);
    }
    assert_eq!(rows(&client.output().unwrap()), ["\"n\"", "500"]);
    let said = passing.join().unwrap();
    let has = |text: &str| said.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(has("examples/social") && !has(SECRET));
}

#[test]
fn a_question_that_is_interrupted_leaves_nothing_behind() {
    let machines = Machines::start();
    let mut client = asking(&machines.scheduler.address, &["examples/social"], LONG);
    let mut client = client.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let has_any = || machines.homes.iter().any(|home| has_results(home.path()));
    while !has_any() && client.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-INT", &client.id().to_string()]).status().unwrap().success());
    let ended = client.wait_with_output().unwrap();
    fails(&ended, 5, &[]);
    // What tasks had begun ends soon. Starting a process takes a while.
    let cleaned = (0..2000).any(|_| !has_any() || !isomorph(&["--version"]).status.success());
    assert!(cleaned && !has_any());
    assert_eq!(
        rows(&machines.asked(&["examples/social"], "select 1 + count(*) as n from person where id > 0")),
        ["\"n\"", "501"]
    );
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
pub fn has_results(home: &Path) -> bool {
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
