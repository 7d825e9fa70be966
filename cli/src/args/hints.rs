//! Hints of errors must be usable: every flag that a remedy or a hint names must be a flag of the command.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use isomorph::convert::Registry;

use super::Cli;
use super::flags::missing;
use crate::rules;

/// Finds all source files below a directory.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => sources(&entry.path(), found),
            false if entry.path().extension().is_some_and(|ending| ending == "rs") => found.push(entry.path()),
            false => {}
        }
    }
}

/// Returns the string literals that are passed to `hint`, as written in the source.
fn hints(source: &str) -> Vec<&str> {
    let calls = source.match_indices(".hint(").map(|(at, call)| &source[at + call.len()..]);
    let literals = calls.filter_map(|rest| {
        let inside = rest.trim_start().strip_prefix("format!(").unwrap_or(rest).trim_start();
        inside.strip_prefix('"')?.split('"').next()
    });
    literals.collect()
}

#[test]
fn every_flag_that_is_named_exists() {
    let mut command = Cli::command();
    command.build();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (_, rules) in rules::all(&Registry::standard()) {
        for rule in rules {
            seen += usize::from(rule.remedy.contains("--"));
            wrong.extend(missing(rule.remedy, &command).into_iter().map(|flag| format!("{}: --{flag}", rule.id)));
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    sources(&root.join("crates"), &mut files);
    sources(&root.join("cli/src"), &mut files);
    for file in files.iter().filter(|file| file.components().any(|part| part.as_os_str() == "src")) {
        let source = fs::read_to_string(file).unwrap();
        for hint in hints(&source) {
            seen += usize::from(hint.contains("--"));
            wrong.extend(missing(hint, &command).into_iter().map(|flag| format!("{}: --{flag}", file.display())));
        }
    }
    assert!(seen > 20, "found only {seen} hints");
    // `cargo xtask cluster` runs this with the flags of a build that has the cluster.
    if !cfg!(feature = "cluster") {
        wrong.retain(|flag| !OF_CLUSTER.iter().any(|own| flag.ends_with(own)));
    }
    assert_eq!(wrong, [""; 0]);
}

/// Flags of the feature `cluster`.
const OF_CLUSTER: [&str; 3] = ["--allow", "--bind", "--cluster"];

/// The verbs that remedies may begin with.
const VERBS: &[&str] = &[
    "add", "ask", "check", "compare", "convert", "copy", "correct", "declare", "exchange", "fill", "flatten", "get",
    "give", "keep", "list", "move", "name", "number", "open", "remove", "rename", "save", "scale", "set", "sort",
    "split", "store", "use", "write",
];

/// Returns whether a text tells the reader to do something: it is an isomorph command, or it begins with a verb.
fn is_action(remedy: &str, command: &clap::Command) -> bool {
    let mut words = remedy.split_whitespace();
    match words.next() {
        // A command and an argument: `isomorph convert writes it` states a fact.
        Some("isomorph") => {
            let name = words.next().unwrap_or_default();
            let rest = words.next().unwrap_or_default();
            let argument = rest.starts_with("--") || rest.starts_with(|first: char| first.is_ascii_uppercase());
            command.find_subcommand(name).is_some_and(|command| argument || command.find_subcommand(rest).is_some())
        }
        Some(verb) => VERBS.contains(&verb),
        None => false,
    }
}

#[test]
fn every_rule_says_what_to_do() {
    let mut command = Cli::command();
    command.build();
    let rules: Vec<_> = rules::all(&Registry::standard()).into_iter().flat_map(|(_, rules)| rules).collect();
    assert!(rules.len() > 150, "{} rules", rules.len());
    let wrong: Vec<String> = rules
        .into_iter()
        .filter(|rule| !is_action(rule.remedy, &command))
        .map(|rule| format!("{}: {:?}", rule.id, rule.remedy))
        .collect();
    assert_eq!(wrong, [""; 0], "a remedy begins with a verb, or with a command");
}

#[test]
fn a_fact_is_no_action() {
    let mut command = Cli::command();
    command.build();
    for (remedy, action) in [
        ("", false),
        ("the published library refuses it", false),
        ("isomorph reads it; the library does not", false),
        ("isomorph convert PATH NEW --to graphar    write today's keys", true),
        ("remove the file", true),
    ] {
        assert_eq!(is_action(remedy, &command), action, "{remedy}");
    }
}

#[test]
fn a_flag_of_another_command_is_found_out() {
    let mut command = Cli::command();
    command.build();
    assert_eq!(missing("isomorph sidecar rebind PATH --replace", &command), ["replace"]);
    assert_eq!(missing("--to graphar|nock", &command), [""; 0]);
    assert_eq!(missing("--separator csv", &command), ["separator"]);
    assert_eq!(hints(r#"x.hint(format!("--by {INDEX}"))"#), ["--by {INDEX}"]);
}
