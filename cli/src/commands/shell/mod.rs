//! `shell`: queries one after another.
//!
//! Each query is a process of this command, `isomorph sql|cypher|sparql`: Ctrl-C reaches the query, which ends as it ends alone, and a query that
//! fails for lack of memory does not end the shell.

mod editor;
mod names;
mod statement;

use std::io::{BufRead, IsTerminal, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use isomorph::{Error, Result};
use signal_hook::consts::SIGINT;

use super::Answer;
use crate::args::{Language, ShellArgs};
use crate::console::{Console, Output};
use crate::stdio::DASH;
use editor::{Editor, Input};
use names::Names;
use statement::{Said, Statement};

const HELP: &str = "\
A query ends with ; at the end of a line, or with an empty line.
.tables                      the tables of the graph
.schema TABLE                the columns of a table
.language sql|cypher|sparql  the language of the next queries
.help                        this text
.quit                        end, as Ctrl-D does
Ctrl-C ends a query, or drops the line. Tab completes names, arrows recall lines.
";

/// Reads queries and answers them until the input ends.
///
/// # Errors
/// If queries cannot be read, or this program cannot be started again.
pub fn run(args: &ShellArgs, console: &Console) -> Result<Answer> {
    if args.path == DASH {
        return Err(Error::usage("the graph cannot be standard input, from which queries are read"));
    }
    // Interrupts are for queries: they are processes of their own, in the group of the terminal.
    let interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGINT, Arc::clone(&interrupted))?;
    let mut shell = Shell { args, language: args.language, json: console.json, failed: false };
    let mut statement = Statement::default();
    let mut names = Names::default();
    let mut input = match std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        true => Lines::Terminal(Editor::new()),
        false => Lines::Pipe(std::io::stdin().lock()),
    };
    if let Lines::Terminal(_) = input {
        console.write(|out| writeln!(out, "isomorph {}   .help lists commands", args.path))?;
    }
    loop {
        let prompt = match statement.is_empty() {
            true => format!("{}> ", shell.language.command()),
            false => format!("{:>1$}> ", "…", shell.language.command().len()),
        };
        let line = input.next(&prompt, &mut |word| shell.complete(&mut names, word))?;
        interrupted.store(false, Ordering::Relaxed);
        let said = match line {
            Input::Line(line) => statement.add(&line),
            Input::Dropped => {
                statement = Statement::default();
                continue;
            }
            Input::End => statement.end(),
        };
        let is_last = matches!(said, Said::Nothing | Said::Query(_)) && statement.has_ended();
        match said {
            Said::More | Said::Nothing => {}
            Said::Query(query) => shell.query(&query)?,
            Said::Command(word, rest) => {
                if !shell.command(&word, &rest)? {
                    break;
                }
            }
        }
        if is_last {
            break;
        }
    }
    Ok(Answer::yes_if(!shell.failed))
}

/// Where lines come from.
enum Lines {
    Terminal(Editor),
    Pipe(std::io::StdinLock<'static>),
}

impl Lines {
    fn next(&mut self, prompt: &str, complete: &mut dyn FnMut(&str) -> Vec<String>) -> Result<Input> {
        match self {
            Lines::Terminal(editor) => editor.line(prompt, complete),
            Lines::Pipe(input) => {
                let mut line = String::new();
                Ok(if input.read_line(&mut line)? == 0 { Input::End } else { Input::Line(line) })
            }
        }
    }
}

struct Shell<'a> {
    args: &'a ShellArgs,
    language: Language,
    json: bool,
    /// Whether a query had no answer.
    failed: bool,
}

impl Shell<'_> {
    /// Asks, in a process of its own.
    fn query(&mut self, query: &str) -> Result<()> {
        let done = self.process(self.language, query, &[])?.status().map_err(not_started)?;
        self.failed |= !done.success();
        Ok(())
    }

    fn process(&self, language: Language, query: &str, more: &[&str]) -> Result<Command> {
        let mut process = Command::new(std::env::current_exe().map_err(not_started)?);
        process.arg(language.command()).args(&self.args.flags).args(more);
        if self.json && more.is_empty() {
            process.arg("--json");
        }
        // What begins with a dash is no flag.
        process.arg("--").arg(&self.args.path).arg(query).stdin(Stdio::null());
        Ok(process)
    }

    /// Runs a command that begins with a dot; returns whether to go on.
    fn command(&mut self, word: &str, rest: &str) -> Result<bool> {
        match word {
            ".quit" | ".exit" => return Ok(false),
            ".help" => print(HELP)?,
            ".tables" => self.sql(
                "select table_name as \"table\" from information_schema.tables where table_schema = 'graph' order by 1",
            )?,
            ".schema" if !rest.is_empty() => {
                let table = rest.trim_matches('"').replace('\'', "''");
                self.sql(&format!(
                    "select column_name as \"column\", data_type as \"type\" from information_schema.columns \
                     where table_schema = 'graph' and table_name = '{table}' order by ordinal_position"
                ))?;
            }
            ".schema" => self.complain("expected the name of a table: .schema TABLE"),
            ".language" => match rest {
                "sql" => self.language = Language::Sql,
                "cypher" => self.language = Language::Cypher,
                "sparql" => self.language = Language::Sparql,
                _ => self.complain("expected .language sql, .language cypher or .language sparql"),
            },
            _ => self.complain(&format!("{word} is not a command; .help lists them")),
        }
        Ok(true)
    }

    fn sql(&mut self, query: &str) -> Result<()> {
        let done = self.process(Language::Sql, query, &[])?.status().map_err(not_started)?;
        self.failed |= !done.success();
        Ok(())
    }

    fn complain(&mut self, text: &str) {
        self.failed = true;
        // If standard error is closed, there is nowhere to report it.
        let _ = writeln!(std::io::stderr(), "error    {text}");
    }

    /// The names that begin with a word.
    fn complete(&self, names: &mut Names, word: &str) -> Vec<String> {
        let columns = "select table_name, column_name from information_schema.columns where table_schema = 'graph'";
        names.beginning_with(word, || {
            let mut process = self.process(Language::Sql, columns, &["--format", "jsonl"]).ok()?;
            let done = process.stderr(Stdio::null()).output().ok()?;
            done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
        })
    }
}

fn print(text: &str) -> Result<()> {
    let mut out = Output::new();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

fn not_started(error: std::io::Error) -> Error {
    Error::from(error).at("a process for a query")
}
