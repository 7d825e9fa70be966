//! `lake`: changes GraphLake stores in place.

use crate::support::{Home, assert_screen, fixture};

#[test]
fn a_store_is_made_and_looked_at() {
    let home = Home::new();
    let made = home.run(&["lake", "init", "people.lake"]).exits(0);
    assert_eq!(made.out, "wrote    people.lake, an empty store\n");
    let again = home.run(&["lake", "init", "people.lake"]).exits(2);
    assert!(!again.err.contains("--replace") && again.err.contains("isomorph lake log people.lake"), "{}", again.err);
    let again = home.run(&["lake", "init", "people.lake", "--json"]).exits(2).error();
    assert!(!again["error"]["try"].to_string().contains("--replace"), "{again}");
    let log = home.run(&["lake", "log", "people.lake"]).exits(0);
    assert_eq!(log.out, "nothing  the store has no snapshots yet\n");
    home.run(&["validate", "people.lake"]).exits(0);
    for command in [&["lake", "log", "nowhere"][..], &["lake", "insert", "nowhere", "<urn:a> <urn:b> <urn:c>"]] {
        let none = home.run(command).exits(3);
        assert!(
            none.err.contains("isomorph lake init nowhere") && none.err.contains("lake load nowhere"),
            "{}",
            none.err
        );
    }
    std::fs::create_dir(home.at("empty")).unwrap();
    let none = home.run(&["lake", "compact", "empty"]).exits(3);
    assert!(none.err.contains("isomorph lake init empty"), "{}", none.err);
}

#[test]
fn the_history_of_a_store_is_told_merged_and_shortened() {
    let history = fixture("graphlake/history");
    let home = Home::new();
    copy(history.as_ref(), &home.at("h.lake"));
    let log = home.run(&["lake", "log", "h.lake"]).exits(0);
    assert_screen("lake_log", &log.screen());
    let all = home.run(&["lake", "log", "h.lake", "--limit", "2", "--json"]).exits(0).json();
    assert_eq!((all[0]["version"].as_i64(), all.as_array().unwrap().len()), (Some(12), 2));
    let merged = home.run(&["lake", "compact", "h.lake", "--full", "--epoch", "1800000000"]).exits(0);
    assert_screen("lake_compact", &merged.screen());
    home.run(&["diff", "h.lake@12", "h.lake@13"]).exits(0);
    assert_eq!(home.run(&["lake", "compact", "h.lake", "--full"]).exits(0).out, "nothing  nothing to merge\n");
    home.run(&["validate", "h.lake", "--strict"]).exits(0);
    let would = home.run(&["lake", "vacuum", "h.lake", "--keep-last", "3"]).exits(0);
    assert!(would.out.contains("remove 10 snapshots and 10 files"), "{}", would.out);
    home.run(&["info", "h.lake@1"]).exits(0);
    // After a second @, a number is a time, as with --at.
    let before = home.run(&["info", &format!("h.lake@@{}", all[0]["timestamp"])]).exits(0).out;
    assert!(before.contains("(version 12,"), "{before}");
    let removed =
        home.run(&["lake", "vacuum", "h.lake", "--keep-last", "3", "--grace", "0s", "--apply", "--json"]).exits(0);
    assert_eq!(removed.json()["snapshots"].as_array().unwrap().len(), 10);
    home.run(&["info", "h.lake@10"]).exits(3);
    home.run(&["diff", "h.lake@12", "h.lake"]).exits(0);
    home.run(&["validate", "h.lake"]).exits(0);
    home.run(&["lake", "vacuum", "h.lake", "--keep-for", "soon"]).exits(2);
}

#[test]
fn what_a_stopped_load_left_is_told_and_removed() {
    let home = Home::new();
    home.run(&["lake", "init", "l.lake"]).exits(0);
    std::fs::create_dir(home.at(".l.lake.load")).unwrap();
    home.write(".l.lake.load/log", [0; 2000]);
    let vacuum = |more: &[&str]| home.run(&[&["lake", "vacuum", "l.lake"], more].concat()).exits(0);
    let young = vacuum(&["--apply"]).out;
    assert!(young.starts_with("nothing  nothing to remove\nkept"), "{young}");
    assert!(young.contains("2.0 KB left by a load in ./.l.lake.load"), "{young}");
    let would = vacuum(&["--grace", "0s"]).out;
    assert_eq!(would, "would    remove 2.0 KB left by a load in ./.l.lake.load; --apply removes it\n");
    let removed = vacuum(&["--grace", "0s", "--apply", "--json"]).json();
    assert_eq!(removed["load"], serde_json::json!({"path": "./.l.lake.load", "bytes": 2000, "young": false}));
    assert_eq!(home.names(), ["l.lake"]);
    assert!(vacuum(&["--json"]).json()["load"].is_null());
}

#[test]
fn graphs_are_copied_moved_and_dropped() {
    let home = Home::new();
    home.write("people.nq", TEXT);
    home.run(&["lake", "load", "l", "people.nq"]).exits(0);
    let graphs = |store: &str| {
        let count = |graph: &str| {
            home.run(&["match", store, &format!("? ? ? {graph}"), "--count", "--json"]).exits(0).json()["count"]
                .as_u64()
        };
        ["default", "<http://example.org/people>", "<urn:g:copy>", "<urn:g:two>"].map(|graph| count(graph).unwrap())
    };
    assert_eq!(graphs("l"), [3, 1, 0, 0]);
    let ns = ["--ns", "g=urn:g:", "--ns", "ex=http://example.org/"];
    let run = |given: &[&str]| home.run(&[&["lake"], given, &ns].concat());
    let copied = run(&["copy", "l", "default", "g:copy"]).exits(0);
    assert_eq!(copied.out, "copied   the default graph to urn:g:copy · version 2 of l\n");
    assert_eq!(graphs("l"), [3, 1, 3, 0]);
    let refused = run(&["copy", "l", "ex:people", "<urn:g:copy>"]).exits(2);
    assert!(refused.err.contains("urn:g:copy already") && refused.err.contains("--replace"), "{}", refused.err);
    run(&["copy", "l", "http://example.org/people", "urn:g:copy", "--replace"]).exits(0);
    assert_eq!(graphs("l"), [3, 1, 1, 0]);
    let moved = run(&["move", "l", "ex:people", "g:two", "--json"]).exits(0).json();
    let wanted = serde_json::json!({
        "path": "l", "version": 4, "from": "http://example.org/people", "to": "urn:g:two", "lost": 0
    });
    assert_eq!((moved, graphs("l")), (wanted, [3, 0, 1, 1]));
    // A graph without triples is not in any text, until it is dropped.
    home.run(&["lake", "delete", "l", "<http://example.org/ada> <http://example.org/name> \"Ada\"@en <urn:g:two>"])
        .exits(0);
    home.run(&["convert", "l", "there.nq"]).exits(4);
    let none = run(&["drop", "l", "g:two", "g:none"]).exits(3);
    assert!(none.err.contains("there is no graph urn:g:none") && none.err.contains("isomorph info l"), "{}", none.err);
    let dropped = run(&["drop", "l", "g:two", "g:copy", "--json"]).exits(0).json();
    let wanted = serde_json::json!({"path": "l", "version": 6, "graphs": ["urn:g:two", "urn:g:copy"], "lost": 0});
    assert_eq!((dropped, graphs("l")), (wanted, [3, 0, 0, 0]));
    let log = home.run(&["lake", "log", "l", "--limit", "1", "--json"]).exits(0).json();
    let change = &log[0]["changes"][0];
    assert_eq!((&change["what"], &change["deleted"]), (&"dropped".into(), &serde_json::Value::Null), "{log}");
    home.run(&["convert", "l", "there.nq"]).exits(0);
    assert_eq!(run(&["drop", "l", "default"]).exits(0).out, "dropped  the default graph · version 7 of l\n");
    assert_eq!(graphs("l"), [0, 0, 0, 0]);
    assert_eq!(graphs("l@2"), [3, 1, 3, 0]);
    for [from, to] in [["g:none", "g:more"], ["default", "g:more"]] {
        run(&["move", "l", from, to]).exits(3);
    }
    run(&["copy", "l@2", "default", "g:more"]).exits(2);
    home.run(&["validate", "l", "--strict"]).exits(0);
    home.run(&["diff", "l@1", "people.nq"]).exits(0);
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

const TEXT: &str = r#"<http://example.org/ada> <http://example.org/knows> <http://example.org/charles> .
<http://example.org/ada> <http://example.org/name> "Ada"@en <http://example.org/people> .
_:somebody <http://example.org/knows> <http://example.org/ada> .
_:claim <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( _:somebody <http://example.org/says> "_:nobody" )>> .
"#;

#[test]
fn texts_and_statements_come_into_a_store_and_go() {
    let home = Home::new();
    home.write("people.nq", TEXT);
    let loaded = home.run(&["lake", "load", "people.lake", "people.nq"]).exits(0);
    assert!(
        loaded.out.contains("loaded   4 quads from 1 file") && loaded.out.contains("a new store"),
        "{}",
        loaded.out
    );
    home.run(&["convert", "people.nq", "same.lake", "--to", "graphlake"]).exits(0);
    home.run(&["diff", "people.lake", "same.lake"]).exits(0);
    let again =
        home.run(&["lake", "load", "people.lake", "people.nq", "--blank-map", "map.tsv", "--json"]).exits(0).json();
    assert_eq!((again["version"].as_i64(), again["created"].as_bool()), (Some(2), Some(false)));
    let import = again["blank_prefix"].as_str().unwrap();
    let map = std::fs::read_to_string(home.at("map.tsv")).unwrap();
    let line = |label: &str| format!("_:{label}\t_:{import}{label}\tpeople.nq\n");
    assert_eq!(map, line("claim") + &line("somebody"));
    // Inside triple terms they are the same nodes, but text in a literal is not.
    let dumped = home.run(&["dump", "people.lake"]).exits(0).out;
    let claims: Vec<&str> = dumped.lines().filter(|line| line.contains("#reifies")).collect();
    let claim = format!("<<( _:{import}somebody <http://example.org/says> \\\"_:nobody\\\" )>>");
    assert!(claims.len() == 2 && claims.iter().any(|line| line.contains(&claim)), "{claims:#?}");
    let one = "<http://example.org/ada> <http://example.org/age> \"36\"";
    let done = home.run(&["lake", "insert", "people.lake", one]).exits(0);
    assert_eq!(done.out, "inserted 1 triple · version 3 of people.lake\n");
    let done = home.run(&["lake", "delete", "people.lake", one, "<urn:a> <urn:b> <urn:c> ."]).exits(0);
    assert_eq!(done.out, "deleted  1 triple, 1 was not present · version 4 of people.lake\n");
    assert_eq!(home.run(&["lake", "delete", "people.lake", one]).exits(0).out, "nothing  no changes to make\n");
    home.run(&["diff", "people.lake@2", "people.lake@4"]).exits(0);
    home.run(&["diff", "people.lake@2", "people.lake@3"]).exits(1);
    let broken = home.run(&["lake", "insert", "people.lake", "<urn:a> <urn:b>"]).exits(2);
    assert!(broken.err.contains("no changes were made"), "{}", broken.err);
    home.run(&["validate", "people.lake"]).exits(0);
    // Statements on standard input.
    let mut command = home.command(&["lake", "insert", "people.lake", "-"]);
    let mut child = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), TEXT.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    home.run(&["info", "people.lake@5"]).exits(0);
    // All commands report the same numbers, whatever the files contain.
    let told = |which: &[&str], names: &[&str]| -> Vec<serde_json::Value> {
        let document = home.run(which).exits(0).json();
        names.iter().map(|name| document[*name].clone()).collect()
    };
    let two = "<http://example.org/ada> <http://example.org/age> \"37\"";
    let edit = |what: &'static str, count: &[&str]| {
        told(&[&["lake", what, "people.lake", "--json"][..], count].concat(), &["again", "missing", "lost"])
    };
    edit("insert", &[one]);
    assert_eq!(edit("insert", &[one, two]), [1, 0, 0]);
    assert_eq!(edit("delete", &[two, "<urn:a> <urn:b> <urn:c>"]), [0, 1, 0]);
    assert_eq!(edit("delete", &[two]), [0, 1, 0], "there is no commit");
    let log = home.run(&["lake", "log", "people.lake", "--json"]).exits(0).json();
    let log: Vec<_> =
        log.as_array().unwrap().iter().map(|one| (one["triples"].as_u64(), one["exact"] == true)).collect();
    let lines =
        |version: usize| home.run(&["dump", &format!("people.lake@{version}")]).exits(0).out.lines().count() as u64;
    let counted: Vec<_> = (1..=log.len()).rev().map(|version| (Some(lines(version)), true)).collect();
    assert_eq!(log, counted);
    assert_eq!(told(&["match", "people.lake", "_ _ _", "--count", "--json"], &["count"]), [log[0].0.unwrap()]);
}

/// Several chunks per thread; all statements are in one graph, and some are also in a second one.
#[test]
fn a_snapshot_is_read_by_every_command_and_written_by_none() {
    let home = Home::new();
    home.write("a.nt", "<urn:a> <urn:p> <urn:b> .\n");
    home.write("b.nt", "<urn:a> <urn:p> <urn:c> .\n");
    home.run(&["lake", "load", "lake", "a.nt"]).exits(0);
    home.run(&["lake", "load", "lake", "b.nt"]).exits(0);
    let neighbors = |place: &str| {
        home.run(&["sample", place, "neighbors", "urn:a", "--strategy", "all", "--json"]).exits(0).json()["rows"]
            .clone()
    };
    assert_ne!(neighbors("lake@1"), neighbors("lake@2"));
    assert_eq!(neighbors("lake@2"), neighbors("lake"));
    for words in [
        &["lake", "load", "lake@1", "b.nt"][..],
        &["lake", "insert", "lake@1", "<urn:a> <urn:p> <urn:d>"],
        &["lake", "compact", "lake@1"],
        &["lake", "init", "lake@1"],
        &["convert", "b.nt", "lake@1", "--to", "graphlake"],
    ] {
        let refused = home.run(words).exits(2);
        assert!(refused.err.contains("a snapshot cannot be changed"), "{words:?}: {}", refused.err);
    }
    assert!(!home.at("lake@1").exists());
}

fn long_text(repeated: usize) -> String {
    let line = |n: usize| match n % 4 {
        0 => format!("<http://example.org/thing/{n}> <http://example.org/name> \"thing {n}\"@en .\n"),
        1 => format!("_:b{} <http://example.org/of> <http://example.org/thing/{}> .\n", n % 500, n - 1),
        2 => format!("<http://example.org/thing/{n}> <http://example.org/near> _:b{} .\n", n % 500),
        _ => format!("<urn:{n}> <http://example.org/size> \"{n}\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n"),
    };
    (0..50_000).chain(0..repeated).map(line).collect()
}

#[test]
fn threads_share_the_load_of_a_text() {
    let home = Home::new();
    home.write("once.nt", long_text(0));
    home.write("twice.nt", long_text(1_000));
    let snapshot = |lake: &str| std::fs::read_to_string(home.at(lake).join("snapshots/snapshot1.json")).unwrap();
    let time = ["--epoch", "1700000000"];
    let load = |lake: &str, text: &str, threads: &str| {
        home.run(&[&["lake", "load", lake, text, "--threads", threads][..], &time].concat()).exits(0);
    };
    load("one.lake", "once.nt", "1");
    load("three.lake", "once.nt", "3");
    load("again.lake", "twice.nt", "3");
    assert!(snapshot("one.lake") == snapshot("three.lake") && snapshot("one.lake") == snapshot("again.lake"));
    home.run(&["validate", "three.lake", "--strict"]).exits(0);
    let digest = home.run(&["digest", "once.nt", "--json"]).exits(0).json();
    for (text, threads) in [("once.nt", "1"), ("once.nt", "3"), ("twice.nt", "3")] {
        let lake = format!("{text}-{threads}.lake");
        let words = [&["convert", text, &lake, "--threads", threads, "--json"][..], &time].concat();
        let certificate = &home.run(&words).exits(0).json()["certificate"];
        assert_eq!(certificate["source"]["content"], digest["content"], "{text} {threads}");
        assert_eq!(certificate["equal"], true);
        assert!(snapshot(&lake) == snapshot("one.lake"), "{text} {threads}");
    }
    // Blank node labels of several files stay distinct, whichever thread reads them.
    home.run(&["lake", "load", "both.lake", "once.nt", "twice.nt", "--threads", "3"]).exits(0);
    let both = home.run(&["match", "both.lake", "?b <http://example.org/of> ?o", "--json"]).exits(0).out;
    assert_eq!(both.matches("_:").count() % 2, 0);
    home.run(&["validate", "both.lake"]).exits(0);
}

#[test]
fn threads_share_one_predicate() {
    let home = Home::new();
    // So long that the only file by subject is split.
    let long = "x".repeat(2_000);
    let line = |n: u32| format!("<urn:{:05}> <urn:p> \"{n} {long}\" .\n", n * 7 % 10_000);
    home.write("long.nt", (0..10_000).map(line).collect::<String>());
    home.run(&["lake", "load", "lake", "long.nt"]).exits(0);
    for threads in ["1", "3"] {
        home.run(&["convert", "lake", &format!("{threads}.nq"), "--threads", threads, "--no-verify"]).exits(0);
    }
    let written = |name: &str| std::fs::read_to_string(home.at(name)).unwrap();
    let one = written("1.nq");
    assert!(one == written("3.nq"));
    assert_eq!(one.lines().count(), 10_000);
    assert!(one.lines().is_sorted());
}

#[test]
fn what_is_told_to_be_tried_can_be_tried() {
    let home = Home::new();
    home.write("a.nt", "<urn:a> <urn:p> <urn:b> .\n");
    home.write("broken.nt", "<urn:a> <urn:p> .\n");
    home.run(&["lake", "load", "lake", "a.nt"]).exits(0);
    for (command, code, has, has_not) in [
        (&["lake", "insert", "lake", "x y z"][..], 2, "<http://example.org/name>", "--lenient"),
        (&["lake", "apply", "lake", "broken.nt"], 3, "isomorph explain RDF-SYNTAX", "--lenient"),
        (&["lake", "load", "lake", "broken.nt"], 3, "--lenient", "explain"),
        (&["lake", "load", "lake", "a.nt", "--blank-map", "a.nt"], 2, "choose another", "--replace"),
        (&["convert", "lake", "a.nt"], 2, "--replace", "explain"),
        (&["lake", "log", "lake@1"], 2, "isomorph lake log lake\n", "no such"),
        (&["info", "lake@7"], 3, "it has versions 1 to 1 (1), times 20", "times 17"),
        (&["info", "lake", "--at", "@12"], 3, "at or before 1970-01-01T00:00:00.012Z", "times 17"),
    ] {
        let done = home.run(command).exits(code);
        assert!(done.err.contains(has) && !done.err.contains(has_not), "{command:?}: {}", done.err);
    }
}

#[test]
fn a_base_is_an_absolute_iri_also_where_nothing_is_relative() {
    let home = Home::new();
    home.write("a.nt", "<urn:a> <urn:p> <urn:b> .\n");
    for command in
        [&["lake", "load", "lake", "a.nt"][..], &["dump", "a.nt"], &["diff", "a.nt", "a.nt"], &["info", "a.nt"]]
    {
        let refused = home.run(&[command, &["--base", "rel"]].concat()).exits(2);
        assert!(refused.err.contains("the base \"rel\" is not an absolute IRI"), "{}", refused.err);
        home.run(&[command, &["--base", "http://example.org/"]].concat()).exits(0);
    }
}

/// The id of `<urn:s> <urn:p> <urn:o> .`, an N-Triples line with its line feed.
const ID: &str = "e10810789d82e674d8aa3bb4448aaaf3398ff7e93a37a39eec78eaa36b1fd719";

/// The same id in URL-safe Base64.
const BASE64: &str = "4QgQeJ2C5nTYqju0RIqq8zmP9-k6N6Oe7Hjqo2sf1xk";

#[test]
fn triples_are_named_by_their_ids() {
    let home = Home::new();
    home.write(
        "a.nt",
        "<urn:r> <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <urn:s> <urn:p> <urn:o> )>> .\n",
    );
    home.run(&["lake", "load", "lake", "a.nt"]).exits(0);
    let (urn, ni) = (format!("urn:triple:sha256:{ID}"), format!("ni:///sha-256;{BASE64}"));
    for name in [ID, &ID.to_uppercase(), &urn, &format!("<{urn}>"), &ni, &format!("<{ni}>")] {
        let found = home.run(&["match", "lake", &format!("?r rdf:reifies {name}"), "--nquads"]).exits(0);
        assert!(found.out.starts_with("<urn:r> ") && found.out.contains("<<( <urn:s>"), "{name}: {}", found.out);
        let found = home.run(&["neighbors", "lake", name.trim_matches(['<', '>']), "--in"]).exits(0);
        assert!(found.out.contains("urn:r"), "{name}: {}", found.out);
    }
    // A store of other software uses the other name; the statement is the same.
    let reifies = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>";
    home.write("foreign.nq", format!("<urn:r> {reifies} <{ni}> .\n"));
    home.run(&["lake", "load", "foreign", "foreign.nq"]).exits(0);
    // A quoted triple stays when the statement that quotes it is deleted.
    let quoting = format!("<urn:other> {reifies} <<( <urn:s> <urn:p> <urn:o> )>>");
    home.run(&["lake", "insert", "foreign", &quoting]).exits(0);
    home.run(&["lake", "delete", "foreign", &quoting]).exits(0);
    assert_eq!(home.run(&["dump", "foreign"]).exits(0).out, home.run(&["dump", "lake"]).exits(0).out);
    home.run(&["diff", "foreign", "lake"]).exits(0);
    let found = home.run(&["match", "foreign", &format!("?r _ {ID}"), "--count", "--json"]).exits(0).json();
    assert_eq!(found["count"], 1);
    let one = "<urn:q> <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <urn:s> <urn:p> <urn:o> )>>";
    let done = home.run(&["lake", "insert", "lake", one]).exits(0);
    assert_eq!(done.out, "inserted 1 triple, plus 1 quoted · version 2 of lake\n");
}

#[test]
fn a_broken_store_is_told_alike_by_who_reads_and_who_writes() {
    let home = Home::new();
    home.write("a.nt", "<urn:a> <urn:p> <urn:b> .\n");
    for (name, file) in [("one", "store.json"), ("two", "snapshots/snapshot1.json")] {
        home.run(&["lake", "load", name, "a.nt"]).exits(0);
        home.write(&format!("{name}/{file}"), "{\n  \"id\": \n}\n");
        let read = home.run(&["info", name, "--json"]).exits(3).error();
        assert_eq!((&read["error"]["place"]["file"], &read["error"]["place"]["line"]), (&file.into(), &3.into()));
        for command in [&["insert", name, "<urn:a> <urn:p> <urn:c>"][..], &["load", name, "a.nt"], &["log", name]] {
            let wrote = home.run(&[&["lake"], command, &["--json"]].concat()).exits(3).error();
            assert_eq!(wrote["error"]["place"], read["error"]["place"], "{command:?} {file}");
        }
    }
}

#[test]
#[cfg(unix)]
fn a_store_on_a_full_disk_names_the_file() {
    let home = Home::new();
    // Long literals: a file of them is larger than the limit, and what was read before it is not written.
    let lines: String = (0..2_000).map(|n| format!("<urn:s:{n}> <urn:p> \"{n:0>60}\" .\n")).collect();
    home.write("a.nt", lines);
    home.run(&["lake", "init", "there"]).exits(0);
    for (arguments, outcome) in [
        (&["lake", "load", "new", "a.nt"][..], "no changes were made\n"),
        (&["lake", "load", "there", "a.nt"], "no changes were made\n"),
        (&["convert", "a.nt", "result", "--to", "graphlake"], "no output was written\n"),
    ] {
        let command = home.command(arguments);
        let limited = std::process::Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 8 || exit 77; exec \"$0\" \"$@\""])
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(home.path())
            .output()
            .unwrap();
        if limited.status.code() == Some(77) {
            isomorph_fixtures::skipped("the size of files cannot be limited here");
            return;
        }
        let said = String::from_utf8_lossy(&limited.stderr).into_owned();
        assert_eq!(limited.status.code(), Some(5), "{said}");
        assert!(said.contains("\n  file   ") && said.ends_with(outcome), "{arguments:?}: {said}");
    }
}

/// The id of `<urn:s> <urn:p> <urn:o>`, in the form of RFC 6920 and in the form of stores.
const IDS: [&str; 2] = [
    "ni:///sha-256;4QgQeJ2C5nTYqju0RIqq8zmP9-k6N6Oe7Hjqo2sf1xk",
    "urn:triple:sha256:e10810789d82e674d8aa3bb4448aaaf3398ff7e93a37a39eec78eaa36b1fd719",
];

#[test]
fn what_is_said_of_an_id_can_be_exported_when_its_triple_is_quoted_later() {
    const REIFIES: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies";
    for id in IDS {
        let home = Home::new();
        let lines =
            [format!("<{id}> <urn:q> \"v\" ."), format!("<urn:r> <{REIFIES}> <<( <urn:s> <urn:p> <urn:o> )>> .")];
        home.run(&["lake", "init", "a.lake"]).exits(0);
        for line in &lines {
            home.run(&["lake", "insert", "a.lake", line]).exits(0);
        }
        let found = home.run(&["match", "a.lake", "? ? ?", "--nquads"]).exits(0).out;
        assert!(lines.iter().all(|line| found.contains(line)), "{id}: {found}");
        home.run(&["convert", "a.lake", "a.nq"]).exits(0);
        assert_eq!(sorted(&std::fs::read_to_string(home.at("a.nq")).unwrap()), sorted(&found));
        home.run(&["lake", "load", "b.lake", "a.nq"]).exits(0);
        home.run(&["diff", "a.lake", "b.lake"]).exits(0);
    }
}

/// As a subject, an id is an IRI; as an object, it is its triple.
#[test]
fn ids_in_joins_are_what_they_are_alone() {
    const REIFIES: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies";
    let [_, id] = IDS;
    let home = Home::new();
    home.run(&["lake", "init", "a.lake"]).exits(0);
    for line in [
        format!("<{id}> <urn:q> <urn:v> ."),
        format!("<urn:r> <{REIFIES}> <<( <urn:s> <urn:p> <urn:o> )>> ."),
        "<urn:v> <urn:w> <urn:r> .".to_owned(),
    ] {
        home.run(&["lake", "insert", "a.lake", &line]).exits(0);
    }
    let solved = |one: &str, other: &str, name: &str| {
        let found = home.run(&["match", "a.lake", one, other, "--json"]).exits(0).json();
        let solutions = found["solutions"].as_array().unwrap().clone();
        assert_eq!(solutions.len(), 1, "{one}, {other}: {found}");
        let text = solutions[0][name].as_str().unwrap().to_owned();
        assert!(home.run(&["match", "a.lake", one, other]).exits(0).out.contains(&text), "{one}, {other}: {text}");
        text
    };
    assert_eq!(solved("?id <urn:q> ?v", "?v <urn:w> ?r", "id"), format!("<{id}>"));
    let quoted = solved(&format!("?r <{REIFIES}> ?triple"), "?v <urn:w> ?r", "triple");
    assert_eq!(quoted, "<<( <urn:s> <urn:p> <urn:o> )>>");
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn names_that_mean_something_else_in_a_store_are_refused_and_named() {
    const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
    let graph = |name: &str| (name.to_owned(), format!("<urn:s> <urn:p> <urn:o> <{name}> .\n"));
    let datatype = |name: String| (name.clone(), format!("<urn:s> <urn:p> \"x\"^^<{name}> .\n"));
    for (name, line) in [
        graph("urn:graphlake:quoted"),
        graph("urn:x-arq:DefaultGraph"),
        graph("urn:x-rdflib:default"),
        datatype(format!("{RDF}langString@en")),
        datatype(format!("{RDF}dirLangString@en--ltr")),
    ] {
        let home = Home::new();
        home.write("a.nq", &line);
        home.run(&["lake", "init", "there.lake"]).exits(0);
        home.run(&["lake", "insert", "there.lake", "<urn:s> <urn:p> <urn:o>"]).exits(0);
        for command in [
            &["lake", "load", "new.lake", "a.nq"][..],
            &["lake", "load", "there.lake", "a.nq"],
            &["lake", "insert", "there.lake", line.trim()],
            &["convert", "a.nq", "new.lake"],
        ] {
            let done = home.run(command).exits(3);
            assert!(
                done.err.contains("error GRAPHLAKE-RESERVED: ") && done.err.contains(&name),
                "{command:?}: {}",
                done.err
            );
            assert!(!home.at("new.lake").exists());
        }
        assert_eq!(home.run(&["lake", "log", "there.lake", "--json"]).exits(0).json().as_array().unwrap().len(), 1);
    }
}
