//! `--types`, `--columns`, `--where` and other flags that select a part of a graph.

use serde_json::{Value, json};

use crate::support::{Home, PEOPLE};

/// The people in every format, each with its sidecar.
const COPIES: [&str; 6] =
    ["people.csv", "people.parq", "people.graphar", "people.annnet", "people.deepgnn", "people.lake"];

fn copies() -> Home {
    copies_of(PEOPLE)
}

fn copies_of(people: &str) -> Home {
    let home = Home::new();
    home.write("people.csv", people);
    for copy in &COPIES[1..] {
        home.run(&["convert", "people.csv", copy]).exits(0);
    }
    home
}

#[test]
fn a_selection_is_the_same_of_every_format() {
    let home = copies();
    let selections: [(&[&str], usize); 7] = [
        (&["--where", "node: born < 1800"], 2),
        (&["--where", "node: born < 1800", "--keep-dangling"], 6),
        (&["--where", "knows: since > 1833"], 4),
        (&["--types", "knows"], 5),
        (&["--columns", "born"], 6),
        (&["--where", "node: has label \"Writer\" or born = 1791", "--columns", "since,died"], 4),
        (&["--sample-rows", "2", "--sample-seed", "3"], 0),
    ];
    for (selection, lines) in selections {
        let dumps: Vec<Vec<String>> = COPIES
            .iter()
            .map(|copy| {
                let out = home.run(&[&["dump", copy], selection].concat()).exits(0).out;
                let mut lines: Vec<String> = out.lines().map(str::to_owned).collect();
                lines.sort_unstable();
                lines
            })
            .collect();
        assert!(lines == 0 || dumps[0].len() == lines, "{selection:?}: {:#?}", dumps[0]);
        for (copy, dump) in COPIES.iter().zip(&dumps) {
            assert_eq!(*dump, dumps[0], "{copy}: {selection:?}");
            home.run(&[&["diff", "people.csv", copy], selection].concat()).exits(0);
        }
    }
}

#[test]
fn nodes_without_labels_are_the_same_of_every_format() {
    let home = copies_of(&format!("{PEOPLE}\"zed\",-1,\"\",\"\",1.0,-1,False,\"\",\"\"\n"));
    let cases: [(&str, &[&str]); 8] = [
        ("@labels is null", &["zed"]),
        ("@labels is not null", &["ada", "charles", "mary"]),
        ("has label \"Writer\"", &["ada"]),
        ("not has label \"Writer\"", &["charles", "mary", "zed"]),
        ("@labels not has \"Person\"", &["zed"]),
        ("not (has label \"Writer\" or @labels is null)", &["charles", "mary"]),
        ("has label \"Nobody\"", &[]),
        ("born = 1780 or not has label \"Person\"", &["mary", "zed"]),
    ];
    for copy in COPIES {
        for (condition, expected) in cases {
            let dump = home.run(&["dump", copy, "--where", &format!("node: {condition}")]).exits(0).out;
            let lines = dump.lines().map(|line| -> Value { serde_json::from_str(line).unwrap() });
            let mut keys: Vec<String> = lines.filter_map(|line| line["key"].as_str().map(str::to_owned)).collect();
            keys.sort_unstable();
            assert_eq!(keys, expected, "{copy}: {condition}");
        }
    }
    // Cities have none, and are not asked for any.
    let refused = home.run(&["dump", &crate::support::social(), "--where", "city: has label \"Student\""]).exits(2);
    assert!(refused.err.contains("nodes of type city cannot have labels"), "{}", refused.err);
}

/// A relation without direction, and one of which a row has none.
const FRIENDS: &str = r#""ada",2,"friend","mary",1.0,-1,False,"","{""directed"": false, ""since"": 1830}"
"ada",3,"knows","mary",0.5,-1,False,"","{""directed"": false}"
"#;

#[test]
fn edges_keep_their_direction_whatever_the_columns() {
    let home = copies_of(&PEOPLE.replacen("\"charles\",-1", &format!("{FRIENDS}\"charles\",-1"), 1));
    for columns in ["truth", "born", "since", "is_rdf,born", "directed"] {
        let mut first = Vec::new();
        for copy in COPIES {
            let dump = home.run(&["dump", copy, "--columns", columns]).exits(0).out;
            let mut lines: Vec<&str> = dump.lines().collect();
            lines.sort_unstable();
            let undirected: Vec<&&str> = lines.iter().filter(|line| line.contains("\"directed\":false")).collect();
            assert_eq!(undirected.len(), 2, "{copy}, {columns}: {dump}");
            assert_eq!(dump.contains("\"since\""), columns == "since", "{copy}, {columns}: {dump}");
            assert_eq!(dump.contains("\"born\""), columns.contains("born"), "{copy}, {columns}: {dump}");
            if first.is_empty() {
                first = lines.into_iter().map(str::to_owned).collect();
            } else {
                assert_eq!(lines, first, "{copy}, {columns}");
            }
        }
    }
    for copy in COPIES {
        for (condition, edges) in [
            ("friend: directed = false", 5),
            ("friend: directed = true", 4),
            ("friend: directed is null", 4),
            ("knows: directed = false", 3),
            ("knows: directed is null", 4),
        ] {
            let dump = home.run(&["dump", copy, "--where", condition]).exits(0).out;
            assert_eq!(dump.lines().filter(|line| line.starts_with("{\"edge\"")).count(), edges, "{copy}: {condition}");
        }
    }
    // A format with a direction of its own is told.
    home.run(&["convert", "people.csv", "part.graphar", "--columns", "truth"]).exits(0);
    let info = home.run(&["info", "part.graphar", "--carry", "ignore", "--json"]).exits(0).json();
    let friend = info["edges"].as_array().unwrap().iter().find(|ty| ty["relation"] == "friend").unwrap();
    assert_eq!(friend["direction"], "undirected", "{info}");
}

#[test]
fn what_is_left_is_converted_and_counted() {
    let home = copies();
    let select = ["--where", "node: born < 1800"];
    for copy in COPIES {
        for to in ["some.graphar", "some.parq", "some.annnet", "some.lake", "some.nq"] {
            let done = home.run(&[&["convert", copy, to, "--json"][..], &select].concat()).exits(0).json();
            assert_eq!((&done["dangling"], &done["certificate"]["equal"]), (&json!(3), &json!(true)), "{copy} to {to}");
            home.run(&[&["diff", copy, to][..], &select].concat()).exits(0);
            let info = home.run(&["info", to, "--json"]).exits(0).json();
            assert_eq!((&info["nodes"][0]["count"], &info["dangling"]), (&json!(2), &Value::Null), "{copy} to {to}");
            let place = home.at(to);
            if place.is_dir() {
                std::fs::remove_dir_all(place).unwrap();
            } else {
                std::fs::remove_file(&place).unwrap();
                let _ = std::fs::remove_dir_all(home.at(&format!("{to}.isomorph")));
            }
        }
    }
    let screen = home.run(&[&["info", "people.csv"][..], &select].concat()).exits(0).out;
    assert!(screen.contains("3 edges dropped because an end is dropped; --keep-dangling keeps"), "{screen}");
    let all = home.run(&["info", "people.csv", "--json"]).exits(0).json();
    assert_eq!(all["dangling"], Value::Null);
    let few = home.run(&["info", "people.csv", "--limit", "2", "--json"]).exits(0).json();
    assert_eq!((&few["nodes"][0]["count"], &few["edges"][0]["count"]), (&json!(2), &json!(2)));
}

#[test]
fn neighbors_are_those_that_are_left() {
    let home = copies();
    for copy in COPIES {
        let names = |more: &[&str]| -> Vec<Value> {
            let done = home.run(&[&["neighbors", copy, "ada", "--json"], more].concat()).exits(0).json();
            done["neighbors"].as_array().unwrap().iter().map(|one| one["key"].clone()).collect()
        };
        assert_eq!(names(&["--where", "node: born > 1785"]), ["charles"], "{copy}");
        assert_eq!(names(&["--where", "admires: truth < 1", "--types", "admires"]), ["mary"], "{copy}");
        let gone = home.run(&["neighbors", copy, "ada", "--where", "node: born < 1800"]).exits(3);
        assert!(gone.err.contains("there is no node ada, or the selection leaves it out"), "{copy}: {}", gone.err);
    }
}

#[test]
fn what_cannot_be_selected_is_said() {
    let home = copies();
    home.write("t.ttl", "@prefix e: <http://e/> . e:a e:age 5 ; e:knows e:b .");
    let cases: [(&[&str], i32, &str); 9] = [
        (&["dump", "people.csv", "--where", "node: borne < 3"], 2, "did you mean born?"),
        (&["dump", "people.csv", "--where", "nod: born < 3"], 2, "did you mean node?"),
        (&["dump", "people.csv", "--where", "know: since < 3"], 2, "did you mean knows?"),
        (&["dump", "people.csv", "--types", "knws"], 2, "did you mean knows?"),
        (&["dump", "people.csv", "--columns", "borne"], 2, "did you mean born?"),
        (&["dump", "people.csv", "--where", "node: born like \"1\""], 2, "born"),
        (&["dump", "t.ttl", "--where", "resource: age > 3"], 3, "isomorph match"),
        (&["info", "t.ttl", "--limit", "1"], 3, "isomorph match"),
        (&["info", "people.csv", "--sample-seed", "1"], 2, "--sample-rows"),
    ];
    for (arguments, code, said) in cases {
        let done = home.run(arguments).exits(code);
        assert!(done.err.contains(said), "{arguments:?}: {}", done.err);
        assert!(done.out.is_empty(), "{arguments:?}: {}", done.out);
    }
    let some = home.run(&["dump", "t.ttl", "--columns", "http://e/age"]).exits(0).out;
    assert_eq!(some.lines().count(), 2, "{some}");
}
