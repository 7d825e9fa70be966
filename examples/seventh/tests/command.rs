//! The command with a seventh format: every operation supports it.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A new directory.
struct Home(tempfile::TempDir);

/// The result of a command.
struct Done {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, line: &[&str]) -> Done {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isomorph-seventh"));
        let Output { status, stdout, stderr } = command.args(line).current_dir(self.0.path()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Done { code: status.code(), out: text(stdout), err: text(stderr) }
    }

    /// The output of a command that succeeds.
    fn does(&self, line: &[&str]) -> String {
        let done = self.run(line);
        assert_eq!(done.code, Some(0), "{line:?}: {}{}", done.out, done.err);
        done.out
    }

    fn json(&self, line: &[&str]) -> Value {
        serde_json::from_str(&self.does(&[line, &["--json"]].concat())).unwrap()
    }

    /// A text of the example, and its digests.
    fn with_text(&self) -> [Value; 3] {
        let social = social();
        self.does(&["convert", social.to_str().unwrap(), "a.seventh"]);
        self.digests("a.seventh")
    }

    fn digests(&self, path: &str) -> [Value; 3] {
        let found = self.json(&["digest", path]);
        ["content", "order", "schema"].map(|what| found[what].clone())
    }
}

fn social() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../social").canonicalize().unwrap()
}

#[test]
fn a_graph_goes_into_the_format_and_from_there_into_every_other() {
    let home = Home::new();
    let digests = home.with_text();
    assert_eq!(digests, home.digests(social().to_str().unwrap()));
    for name in ["b.parq", "b.csv", "b.gar", "b.annnet", "b.lake", "b.nt", "b.deepgnn"] {
        home.does(&["convert", "a.seventh", name]);
        assert_eq!(home.digests(name), digests, "{name}");
        let back = format!("{name}.seventh");
        home.does(&["convert", name, &back]);
        assert_eq!(home.digests(&back), digests, "{back}");
        home.does(&["diff", "a.seventh", &back]);
    }
}

#[test]
fn a_text_alone_is_a_graph_of_texts() {
    let home = Home::new();
    home.with_text();
    let digests = {
        std::fs::copy(home.path("a.seventh"), home.path("alone.seventh")).unwrap();
        home.digests("alone.seventh")
    };
    for name in ["c.parq", "c.gar"] {
        home.does(&["convert", "alone.seventh", name]);
        home.does(&["convert", name, &format!("{name}.seventh")]);
        assert_eq!(home.digests(&format!("{name}.seventh")), digests, "{name}");
    }
    let difference = home.run(&["diff", "a.seventh", "alone.seventh"]);
    assert_eq!(difference.code, Some(1), "{}", difference.err);
    home.does(&["convert", "alone.seventh", "again.seventh"]);
    assert_eq!(home.digests("again.seventh"), digests);
    assert_eq!(
        std::fs::read(home.path("again.seventh")).unwrap().len(),
        std::fs::read(home.path("alone.seventh")).unwrap().len()
    );
}

#[test]
fn a_graph_without_a_schema_becomes_a_text() {
    let home = Home::new();
    let people = isomorph_fixtures::fixture("nock/03_karate_example/part_0.parq");
    let people = people.to_str().unwrap();
    home.does(&["convert", people, "p.seventh"]);
    home.does(&["diff", people, "p.seventh"]);
}

#[test]
fn a_text_is_described_dumped_and_looked_into() {
    let home = Home::new();
    home.with_text();
    let described = home.json(&["info", "a.seventh"]);
    assert_eq!(described["format"], "seventh");
    let dump = |path: &str| {
        let mut lines: Vec<String> = home.does(&["dump", path]).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let social = social();
    assert_eq!(dump("a.seventh"), dump(social.to_str().unwrap()));
    let near = |path: &str, rest: &[&str]| {
        let found = home.json(&[&["neighbors", path, "--limit", "1000"], rest].concat());
        let mut found: Vec<String> = found["neighbors"].as_array().unwrap().iter().map(Value::to_string).collect();
        found.sort();
        found
    };
    for rest in [&["Lisbon", "--type", "city", "--in"][..], &["--type", "person", "--row", "0", "--both"]] {
        let found = near("a.seventh", rest);
        assert!(!found.is_empty(), "{rest:?}");
        assert_eq!(found, near(social.to_str().unwrap(), rest), "{rest:?}");
    }
    assert_eq!(home.run(&["neighbors", "a.seventh", "Atlantis", "--type", "city"]).code, Some(3));
    home.does(&["sample", "a.seventh", "nodes", "--types", "person", "--count", "3"]);
}

#[test]
fn a_part_of_a_text_is_that_part_of_the_graph() {
    let home = Home::new();
    home.with_text();
    let social = social();
    let selections: [&[&str]; 4] = [
        &["--types", "person"],
        &["--types", "knows", "--columns", "firstName"],
        &["--where", "person: gender = \"female\" and firstName like \"A%\""],
        &["--sample-rows", "5", "--sample-seed", "7"],
    ];
    for (number, selection) in selections.into_iter().enumerate() {
        let part = |path: &str| home.json(&[&["digest", path], selection].concat())["content"].clone();
        let expected = part(social.to_str().unwrap());
        assert_eq!(part("a.seventh"), expected, "{selection:?}");
        let name = format!("part{number}.seventh");
        home.does(&[&["convert", "a.seventh", &name], selection].concat());
        assert_eq!(home.json(&["digest", &name])["content"], expected, "{selection:?}");
    }
}

#[test]
fn a_text_goes_to_standard_output() {
    let home = Home::new();
    home.with_text();
    std::fs::copy(home.path("a.seventh"), home.path("alone.seventh")).unwrap();
    let printed = home.does(&["convert", "alone.seventh", "-", "--to", "seventh", "--lossy"]);
    std::fs::write(home.path("printed"), printed).unwrap();
    assert_eq!(home.json(&["info", "printed"])["format"], "seventh");
    home.does(&["diff", "alone.seventh", "printed"]);
}

#[test]
fn a_rule_of_the_format_is_checked_and_explained() {
    let home = Home::new();
    home.with_text();
    home.does(&["validate", "a.seventh"]);
    let mut text = std::fs::read_to_string(home.path("a.seventh")).unwrap();
    text.push_str("{\"edge\":[1,0,99999,[]]}\n");
    std::fs::write(home.path("broken.seventh"), text).unwrap();
    let done = home.run(&["validate", "broken.seventh"]);
    assert_eq!(done.code, Some(1), "{}{}", done.out, done.err);
    assert!(done.out.contains("SEV-EDGE-END"), "{}", done.out);
    assert!(home.does(&["explain", "SEV-EDGE-END"]).contains("both ends of an edge are rows of nodes"));
    let done = home.run(&["convert", "broken.seventh", "x.parq"]);
    assert_eq!(done.code, Some(3), "{}{}", done.out, done.err);
    std::fs::write(home.path("bad.seventh"), "{\"graph\":{}\n").unwrap();
    let done = home.run(&["info", "bad.seventh"]);
    assert!(done.code == Some(3) && done.err.contains("line 1"), "{}", done.err);
}

#[test]
fn what_travels_beside_a_text_is_bound_to_it() {
    let home = Home::new();
    home.with_text();
    assert!(home.does(&["carry", "show", "a.seventh", "--verify"]).contains("GraphAr graph, written as Seventh"));
    let text = std::fs::read_to_string(home.path("a.seventh")).unwrap();
    std::fs::write(home.path("a.seventh"), text.replacen("Lisbon", "Lisboa", 1)).unwrap();
    assert_eq!(home.run(&["digest", "a.seventh"]).code, Some(4));
    home.does(&["carry", "drop", "a.seventh"]);
    home.does(&["digest", "a.seventh"]);
}

#[test]
fn the_format_is_named_wherever_formats_are() {
    let home = Home::new();
    home.with_text();
    let listed = home.json(&["formats"]);
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 33);
    assert_eq!(listed.last().unwrap()["names"][0], "NAME.seventh");
    assert!(home.does(&["convert", "--help"]).contains("seventh"));
    std::fs::rename(home.path("a.seventh"), home.path("a")).unwrap();
    home.does(&["info", "a", "--from", "seventh", "--sidecar", "ignore"]);
    let refused = home.run(&["info", "a", "--keep-edge-id"]);
    let what = "--keep-edge-id applies to NOCK; this graph's format is Seventh";
    assert!(refused.code == Some(2) && refused.err.contains(what), "{}", refused.err);
    let refused = home.run(&["convert", "a", "b.seventh", "--compression", "zstd"]);
    let what = "--compression applies to GraphAr, NOCK and annnet output; the output format is Seventh";
    assert!(refused.code == Some(2) && refused.err.contains(what), "{}", refused.err);
    let unknown = home.run(&["convert", "a", "b.what", "--to", "eighth"]);
    assert!(unknown.err.contains("jsonl, kgxl, neo4j, xlsx, seventh"), "{}", unknown.err);
    // A directory of graphs.
    home.does(&["convert", "a", "b.parq", "--sidecar", "ignore"]);
    let inside = home.json(&["info", "."]);
    let formats: Vec<&str> =
        inside["graphs"].as_array().unwrap().iter().filter_map(|one| one["format"].as_str()).collect();
    assert_eq!(formats, ["seventh", "nock"]);
}
