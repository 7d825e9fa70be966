//! What errors tell people to try must exist: every flag in a remedy or a hint is a flag of the command.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};

use super::Cli;
use crate::rules;

/// The flags of a command and of those below it.
fn flags(command: &Command) -> BTreeSet<String> {
    let own = command.get_arguments().flat_map(|argument| {
        let aliases = argument.get_all_aliases().unwrap_or_default().into_iter().map(str::to_owned);
        argument.get_long().map(str::to_owned).into_iter().chain(aliases)
    });
    own.chain(command.get_subcommands().flat_map(flags)).collect()
}

/// Every source file below a directory.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => sources(&entry.path(), found),
            false if entry.path().extension().is_some_and(|ending| ending == "rs") => found.push(entry.path()),
            false => {}
        }
    }
}

/// The texts that are given to `hint`, as they stand in the source.
fn hints(source: &str) -> Vec<&str> {
    let calls = source.match_indices(".hint(").map(|(at, call)| &source[at + call.len()..]);
    let literals = calls.filter_map(|rest| {
        let inside = rest.trim_start().strip_prefix("format!(").unwrap_or(rest).trim_start();
        inside.strip_prefix('"')?.split('"').next()
    });
    literals.collect()
}

/// The flags that a text names and that do not exist: of the command that it names, or of any.
fn missing(text: &str, all: &Command) -> Vec<String> {
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let mut of = all;
    if words.next() == Some("isomorph") {
        while let Some(command) = words.next().and_then(|name| of.find_subcommand(name)) {
            of = command;
        }
    }
    let known = flags(of);
    let named = text.split([' ', '=', '|', ',']).filter_map(|word| word.strip_prefix("--"));
    named.filter(|flag| !flag.is_empty() && !known.contains(*flag)).map(str::to_owned).collect()
}

#[test]
fn every_flag_that_is_named_exists() {
    let mut command = Cli::command();
    command.build();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (_, rules) in rules::all() {
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
    assert!(seen > 20, "only {seen} hints were found");
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn a_flag_of_another_command_is_found_out() {
    let mut command = Cli::command();
    command.build();
    assert_eq!(missing("isomorph carry rebind PATH --replace", &command), ["replace"]);
    assert_eq!(missing("--to graphar|nock", &command), [""; 0]);
    assert_eq!(missing("--format csv", &command), ["format"]);
    assert_eq!(hints(r#"x.hint(format!("--by {INDEX}"))"#), ["--by {INDEX}"]);
}
