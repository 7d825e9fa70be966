//! `docs/cookbook.md`: every command does what the page shows. `UPDATE_COOKBOOK=1` writes what commands print into the page.
//!
//! A block `console` has commands after `$`, and what they print; a block with a file name is written as that file. Known are
//! `isomorph`, `cat FILE`, `head -N FILE`, `ls DIRECTORY`, and `cat FILE | isomorph …`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Home, fixture, still, workspace};

fn page() -> PathBuf {
    workspace().join("docs/cookbook.md")
}

/// Copies a directory with everything in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// The words of a command; quotes keep blanks.
fn words(command: &str) -> Vec<String> {
    let (mut all, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for c in command.chars() {
        match (c, quote) {
            (c, Some(mark)) if c == mark => quote = None,
            (c, Some(_)) => word.push(c),
            ('\'' | '"', None) => (quote, begun) = (Some(c), true),
            (' ', None) => {
                if begun || !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (c, None) => word.push(c),
        }
    }
    if begun || !word.is_empty() {
        all.push(word);
    }
    all
}

/// What a command prints.
fn printed(home: &Home, command: &str) -> String {
    let read = |name: &str| fs::read_to_string(home.at(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    if let Some((file, piped)) = command.split_once(" | ") {
        let text = read(file.strip_prefix("cat ").unwrap_or_else(|| panic!("{command}")));
        let words = words(piped);
        let arguments: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let done = home.feed(&arguments, text.as_bytes()).exits(0);
        return done.out + &done.err;
    }
    let words = words(command);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["isomorph", arguments @ ..] => {
            let done = home.run(arguments).exits(0);
            done.out + &done.err
        }
        ["cat", name] => read(name),
        ["head", count, name] => {
            let count = count.trim_start_matches('-').parse().unwrap();
            read(name).lines().take(count).map(|line| format!("{line}\n")).collect()
        }
        ["ls", name] => {
            let entries =
                fs::read_dir(home.at(name)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = entries.filter(|name| !name.starts_with('.')).collect();
            names.sort();
            names.join("  ") + "\n"
        }
        _ => panic!("the page has a command that is not known here: {command}"),
    }
}

#[test]
fn every_recipe_does_what_the_page_shows() {
    let text = fs::read_to_string(page()).unwrap();
    let home = Home::new();
    copy(&workspace().join("examples/social"), &home.at("social"));
    copy(fixture("inout/neo4j").as_ref(), &home.at("neo4j"));
    copy(fixture("inout/psl").as_ref(), &home.at("psl"));
    copy(fixture("inout/plain").as_ref(), &home.at("plain"));
    let (mut made, mut recipes, mut commands) = (String::new(), 0, 0);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        made.push_str(line);
        made.push('\n');
        recipes += usize::from(line.starts_with("## ") && line.chars().nth(3).is_some_and(|c| c.is_ascii_digit()));
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let mut block = Vec::new();
        for line in lines.by_ref().take_while(|line| *line != "```") {
            block.push(line);
        }
        if kind == "console" {
            for line in &block {
                let Some(command) = line.strip_prefix("$ ") else { continue };
                commands += 1;
                made.push_str(&format!("{line}\n{}", printed(&home, command)));
                if !made.ends_with('\n') {
                    made.push('\n');
                }
            }
        } else {
            if let Some((_, name)) = kind.split_once(' ') {
                if let Some(parent) = home.at(name).parent() {
                    fs::create_dir_all(parent).unwrap();
                }
                home.write(name, block.iter().map(|line| format!("{line}\n")).collect::<String>());
            }
            block.iter().for_each(|line| made.push_str(&format!("{line}\n")));
        }
        made.push_str("```\n");
    }
    assert!(recipes >= 12 && commands >= 24, "{recipes} recipes, {commands} commands");
    if std::env::var_os("UPDATE_COOKBOOK").is_some() {
        fs::write(page(), &made).unwrap();
    }
    assert_eq!(still(&made), still(&text), "UPDATE_COOKBOOK=1 keeps what commands print now");
}
