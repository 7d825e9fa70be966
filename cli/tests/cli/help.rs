//! Help, manual, completions, rules.

use std::fs;
use std::path::Path;

use crate::support::{Home, social};

/// Returns the examples at the beginning of a help text.
fn examples(help: &str) -> Vec<Vec<String>> {
    let lines = help.lines().take_while(|line| !line.is_empty());
    let words = |line: &str| {
        let command = line.trim().split("  ").next().unwrap_or_default();
        command.split(' ').map(str::to_owned).collect()
    };
    lines.map(words).collect()
}

#[test]
fn help_begins_with_examples_that_work() {
    let social = social();
    for command in [
        &["--help"][..],
        &["convert", "--help"],
        &["neighbors", "--help"],
        &["extend", "--help"],
        &["sample", "--help"],
        &["stats", "--help"],
        &["paths", "--help"],
        &["rank", "--help"],
        &["components", "--help"],
    ] {
        let home = Home::new();
        fs::create_dir(home.at("examples")).unwrap();
        copy(social.as_ref(), &home.at("examples/social"));
        fs::copy(Path::new(&social).with_file_name("scores.csv"), home.at("examples/scores.csv")).unwrap();
        fs::copy(Path::new(&social).with_file_name("ties.csv"), home.at("examples/ties.csv")).unwrap();
        let help = home.run(command).exits(0).out;
        if command[0] == "neighbors" {
            // One of the examples reads the output of the `convert` example.
            home.run(&["convert", "examples/social", "social.parq"]).exits(0);
        }
        let examples = examples(&help);
        assert_eq!(examples.len(), if command[0] == "extend" { 5 } else { 3 }, "{help}");
        for example in examples {
            assert_eq!(example[0], "isomorph");
            let arguments: Vec<&str> = example[1..].iter().map(String::as_str).collect();
            let done = home.run(&arguments).exits(0);
            assert!(!done.out.contains("   0 neighbors"), "{example:?}: {}", done.out);
        }
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

#[test]
fn no_line_of_help_is_wider_than_a_terminal() {
    let home = Home::new();
    for command in [
        "info",
        "convert",
        "validate",
        "diff",
        "digest",
        "dump",
        "neighbors",
        "stats",
        "paths",
        "rank",
        "components",
        "shell",
        "extend",
        "sample",
        "sparql",
        "lake",
        "sidecar",
        "explain",
        "formats",
    ] {
        let help = home.run(&[command, "--help"]).exits(0).out;
        let widest = help.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 100, "{command}: {help}");
    }
}

#[test]
fn rules_explain_themselves() {
    let home = Home::new();
    let done = home.run(&["explain", "gar-offset-end"]).exits(0);
    assert!(done.out.starts_with("error    GAR-OFFSET-END · GraphAr\nrule     "), "{}", done.out);
    let all = home.run(&["explain", "--json"]).exits(0).json();
    let all = all.as_array().unwrap();
    assert!(all.len() > 80, "{}", all.len());
    for rule in all {
        let id = rule["id"].as_str().unwrap();
        assert_eq!(home_explains(&home, id), rule["says"].as_str().unwrap());
    }
    let some = home.run(&["explain", "NOCK-CSV"]).exits(0);
    assert!(some.out.lines().count() > 1 && some.out.lines().all(|line| line.contains(" NOCK-CSV-")), "{}", some.out);
}

fn home_explains(home: &Home, id: &str) -> String {
    let document = home.run(&["explain", id, "--json"]).exits(0).json();
    assert_eq!(document.as_array().unwrap().len(), 1, "{id}");
    document[0]["says"].as_str().unwrap().to_owned()
}

#[test]
fn formats_are_listed() {
    let home = Home::new();
    let done = home.run(&["formats"]).exits(0);
    // The width of columns depends on all formats.
    let lines: Vec<String> =
        done.out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in ["graphar GraphAr reads, writes", "nock NOCK reads, writes"] {
        assert!(lines.iter().any(|one| one.starts_with(line)), "{}", done.out);
    }
    let document = home.run(&["formats", "--json"]).exits(0).json();
    assert_eq!(document[0]["id"], "graphar");
    assert_eq!(document[1]["read"], true);
}

#[test]
fn the_manual_names_every_command() {
    let home = Home::new();
    let page = home.run(&["man"]).exits(0).out;
    assert!(page.contains(".TH isomorph 1"), "{page}");
    for command in
        ["info", "convert", "validate", "diff", "digest", "dump", "neighbors", "sidecar", "explain", "formats"]
    {
        assert!(page.contains(&format!("isomorph\\-{command}")), "{command}");
    }
    let page = home.run(&["man", "convert"]).exits(0).out;
    assert!(page.contains("\\-\\-vertex\\-chunk"), "{page}");
}

#[test]
fn help_can_be_asked_for_in_two_ways() {
    let home = Home::new();
    for command in [&["convert"][..], &["lake", "load"], &["sidecar", "show"], &[]] {
        let asked = home.run(&[&["help"][..], command].concat()).exits(0).out;
        let flag = home.run(&[command, &["--help"]].concat()).exits(0).out;
        assert_eq!(asked, flag, "{command:?}");
    }
    let all = home.run(&["help"]).exits(0).out;
    for word in ["help", "completions", "man", "--color"] {
        assert!(all.contains(&format!("  {word} ")) || all.contains(word) && word.starts_with("--"), "{word}: {all}");
    }
    assert!(home.run(&["man", "lake", "load"]).exits(0).out.contains(".TH isomorph-lake-load 1"));
}

#[test]
fn every_shell_has_completions() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = home.run(&["completions", shell]).exits(0).out;
        assert!(script.contains("neighbors"), "{shell}");
    }
}
