//! Checks that the first command of the README does what the README shows, and what the command that it builds refuses.

use std::fs;
use std::path::PathBuf;

use crate::process::Workspace;
use crate::report::{Outcome, StepResult};

/// Runs the first command and compares its output with the lines below it, except figures of time and rate.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let path = workspace.root.join("README.md");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let example = Example::first(&text).ok_or("README.md has no block that begins with `$ cargo …`")?;
    let written = workspace.root.join(example.destination().unwrap_or_default());
    if written != workspace.root && written.exists() {
        return Err(format!("{} is in the way: the first command of the README writes it", written.display()));
    }
    let answer = workspace.cargo(&example.arguments).output();
    remove(&written, workspace)?;
    let answer = answer?;
    print!("{answer}");
    match example.first_difference(&answer) {
        None => refusals(workspace),
        Some((shown, printed)) => Err(format!("README.md shows\n  {shown}\nbut its first command prints\n  {printed}")),
    }
}

/// What the command without its default features does not have, and a part of its hint. All other tests run the command with
/// these features.
const REFUSED: &[(&[&str], &str)] = &[
    (&["info", "s3://bucket/graph"], "cargo install --path cli   build the command with object stores"),
    (&["serve", "deepgnn", "examples/social"], "cargo install --path cli   build the command with the server"),
    (&["bench", "serve", "127.0.0.1:1"], "cargo install --path cli   build the command with the server"),
];

/// Checks that the command names the command that has what it lacks.
fn refusals(workspace: &Workspace) -> StepResult {
    for (arguments, hint) in REFUSED {
        let (code, _, said) = workspace.cargo(&[&["isomorph"], *arguments].concat()).answer()?;
        if code != Some(3) || !said.contains(hint) {
            let shown = arguments.join(" ");
            return Err(format!("`isomorph {shown}` without default features exits with {code:?} and says\n{said}"));
        }
    }
    Ok(Outcome::Done)
}

/// Removes the output of the command, and its sidecar.
fn remove(written: &PathBuf, workspace: &Workspace) -> Result<(), String> {
    if *written == workspace.root {
        return Ok(());
    }
    let mut sidecar = written.clone().into_os_string();
    sidecar.push(".isomorph");
    for path in [written.clone(), PathBuf::from(sidecar)] {
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(format!("{}: {error}", path.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A command and the lines shown below it.
struct Example<'a> {
    arguments: Vec<&'a str>,
    shown: Vec<&'a str>,
}

impl<'a> Example<'a> {
    /// The first fenced block whose first line is `$ cargo …`.
    fn first(readme: &'a str) -> Option<Self> {
        let mut lines = readme.lines();
        loop {
            lines.by_ref().find(|line| line.starts_with("```"))?;
            let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            if let Some(command) = block.first().and_then(|line| line.strip_prefix("$ cargo ")) {
                let shown = block[1..].iter().take_while(|line| !line.starts_with("$ "));
                return Some(Example {
                    arguments: command.split_whitespace().collect(),
                    shown: shown.copied().collect(),
                });
            }
        }
    }

    /// The output of `convert`: its second argument that is not a flag.
    fn destination(&self) -> Option<&'a str> {
        let mut plain = self.arguments.iter().skip_while(|&&argument| argument != "convert").skip(1);
        let positional: Vec<_> = plain.by_ref().take_while(|argument| !argument.starts_with('-')).collect();
        positional.get(1).map(|&&argument| argument)
    }

    /// The first line that is not printed as shown.
    fn first_difference(&self, printed: &str) -> Option<(String, String)> {
        let lines = |lines: &mut dyn Iterator<Item = &str>| -> Vec<String> {
            lines.map(|line| still(line.trim_end())).filter(|line| !line.is_empty()).collect()
        };
        let shown = lines(&mut self.shown.iter().copied());
        let printed = lines(&mut printed.lines());
        let line = |lines: &[String], at: usize| lines.get(at).cloned().unwrap_or_else(|| "(nothing)".into());
        (0..shown.len().max(printed.len()))
            .map(|at| (line(&shown, at), line(&printed, at)))
            .find(|(shown, printed)| shown != printed)
    }
}

/// A line with every figure that differs between runs replaced: a number before a unit of time or rate.
fn still(line: &str) -> String {
    const UNITS: &[&str] = &["s", "ms", "µs", "k/s", "M/s", "MB/s", "edges/s", "rows/s"];
    let words: Vec<&str> = line.split_whitespace().collect();
    let moving = |at: usize| {
        let unit = words.get(at + 1).is_some_and(|next| UNITS.contains(&next.trim_end_matches([',', '.'])));
        unit && words[at].starts_with(|first: char| first.is_ascii_digit())
    };
    (0..words.len()).map(|at| if moving(at) { "#" } else { words[at] }).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const README: &str = "# isomorph\n\n```text\npicture\n```\n\n```console\n$ cargo isomorph convert a/b.yml c.parq --to nock\n\
        plan     GraphAr → NOCK\n\nwrote    c.parq (402 KB) in 0.21 s\n$ cargo xtask test\n```\n";

    #[test]
    fn the_first_command_is_found_with_its_output() {
        let example = Example::first(README).unwrap();
        assert_eq!(example.arguments, ["isomorph", "convert", "a/b.yml", "c.parq", "--to", "nock"]);
        assert_eq!(example.destination(), Some("c.parq"));
        assert_eq!(example.shown.len(), 3);
        assert!(Example::first("```sh\ncargo test\n```\n").is_none());
    }

    #[test]
    fn times_may_differ_and_nothing_else() {
        let example = Example::first(README).unwrap();
        assert_eq!(example.first_difference("plan     GraphAr → NOCK\nwrote    c.parq (402 KB) in 1.5 s\n"), None);
        let (shown, printed) =
            example.first_difference("plan     GraphAr → NOCK\nwrote    c.parq (403 KB) in 1.5 s\n").unwrap();
        assert!(shown.contains("402 KB") && printed.contains("403 KB"));
        assert!(example.first_difference("plan     GraphAr → NOCK\n").is_some());
    }
}
