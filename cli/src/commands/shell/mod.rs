//! `shell`: queries one after another, in one session: the graph is opened once.

mod editor;
mod names;
mod statement;

use std::ffi::OsString;
use std::io::{BufRead, IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::{ArgMatches, FromArgMatches};
use isomorph::convert::Registry;
use isomorph::{Error, Result};
use isomorph_query::TableInfo;

use super::session::Session;
use super::{Answer, cypher, sparql, sql};
use crate::args::{Cli, Command, Flags, Language, ShellArgs, command};
use crate::console::{Console, Output, is_closed};
use crate::interrupt::Interrupt;
use crate::stdio::DASH;
use crate::usage;
use editor::{Editor, Input};
use names::Names;
use statement::{Said, Statement};

const HELP: &str = "\
A query ends with ; at the end of a line, or with an empty line.
.tables                      the tables of the graph
.schema TABLE                the columns of a table
.language sql|cypher|sparql  the language of the next queries
.reload                      open the graph again, as it is now
.help                        this text
.quit                        end, as Ctrl-D does
Ctrl-C ends a query, or drops the line. Tab completes names, arrows recall lines.
";

/// Reads queries and answers them until the input ends.
///
/// # Errors
/// If queries cannot be read, or standard output is closed.
pub fn run(args: &ShellArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    if args.path == DASH {
        return Err(Error::usage("the graph cannot be standard input, from which queries are read"));
    }
    let interrupt = Interrupt::of_queries()?;
    let session = Session::of_queries(&interrupt);
    let mut shell = Shell {
        args,
        formats,
        console: *console,
        interrupt,
        session,
        language: args.language,
        names: Names::default(),
        failed: false,
    };
    let mut statement = Statement::default();
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
        let line = input.next(&prompt, &mut |word| shell.complete(word))?;
        // What came while nothing was asked ends no query.
        shell.interrupt.forget();
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
    formats: &'a Registry,
    console: Console,
    /// Ends the query that is being answered.
    interrupt: Interrupt,
    session: Session,
    language: Language,
    names: Names,
    /// Whether a query had no answer.
    failed: bool,
}

impl Shell<'_> {
    /// Asks a query, and prints its error if it has one.
    ///
    /// # Errors
    /// If standard output is closed.
    fn query(&mut self, query: &str) -> Result<()> {
        self.ask(self.language, query)
    }

    fn ask(&mut self, language: Language, query: &str) -> Result<()> {
        if query == DASH {
            self.complain("expected a query, found -");
            return Ok(());
        }
        let words = self.line(language, query);
        let (cli, line) = match self.parsed(&words) {
            Ok(parsed) => parsed,
            Err(error) => {
                usage::report(&error, &words);
                self.failed = true;
                return Ok(());
            }
        };
        let console = Console { json: cli.json || self.console.json, verbose: cli.verbose, ..self.console };
        let (formats, session) = (self.formats, &mut self.session);
        let answer = catch_unwind(AssertUnwindSafe(|| match &cli.command {
            Command::Sql(args) if args.file.is_some() => {
                Err(Error::usage("queries of the shell are not read from a file"))
            }
            Command::Sql(args) => sql::answer(args, formats, &console, session),
            Command::Cypher(args) => cypher::answer(args, formats, &console, session),
            Command::Sparql(args) => sparql::answer(args, formats, &console, session),
            _ => Err(Error::usage("expected a query")),
        }));
        let answer = answer.unwrap_or_else(|_| {
            // What it was doing is not complete.
            self.reload();
            Err(Error::usage("internal error: please report this with the query and `isomorph --version`: it panicked"))
        });
        match answer {
            Ok(answer) => self.failed |= answer == Answer::No,
            Err(error) if is_closed(&error) => return Err(error),
            Err(_) if self.interrupt.came() => self.complain("interrupted"),
            Err(error) => {
                console.fail(&error, &Flags::of(&line), cli.command.path(), cli.command.outcome());
                self.failed = true;
            }
        }
        Ok(())
    }

    /// The command line that asks the same.
    fn line(&self, language: Language, query: &str) -> Vec<OsString> {
        let flags = self.args.flags.iter().map(String::as_str);
        // What begins with a dash is no flag.
        let words = ["isomorph", language.command()].into_iter().chain(flags);
        words.chain(["--", self.args.path.as_str(), query]).map(OsString::from).collect()
    }

    fn parsed(&self, words: &[OsString]) -> std::result::Result<(Cli, ArgMatches), clap::Error> {
        let line = command(self.formats).try_get_matches_from(words)?;
        Ok((Cli::from_arg_matches(&line)?, line))
    }

    /// Forgets what was opened and read.
    fn reload(&mut self) {
        self.session = Session::of_queries(&self.interrupt);
        self.names = Names::default();
    }

    /// Runs a command that begins with a dot; returns whether to go on.
    fn command(&mut self, word: &str, rest: &str) -> Result<bool> {
        match word {
            ".quit" | ".exit" => return Ok(false),
            ".help" => print(HELP)?,
            ".reload" => self.reload(),
            ".tables" => self.ask(
                Language::Sql,
                "select table_name as \"table\" from information_schema.tables where table_schema = 'graph' order by 1",
            )?,
            ".schema" if !rest.is_empty() => self.columns(rest.trim_matches('"'))?,
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

    /// Shows the columns of a table, which is found as queries find it.
    fn columns(&mut self, asked: &str) -> Result<()> {
        let tables = self.tables().unwrap_or_default();
        let named = |table: &&TableInfo, same: fn(&str, &str) -> bool| {
            same(&table.name, asked) || table.other_name.as_deref().is_some_and(|name| same(name, asked))
        };
        let mut alike = tables.iter().filter(|table| named(table, str::eq_ignore_ascii_case));
        let only = alike.next().filter(|_| alike.next().is_none());
        let found = tables.iter().find(|table| named(table, |name, asked| name == asked)).or(only);
        if found.is_none() && !tables.is_empty() {
            self.complain(&format!("no table is called {asked}; .tables lists them"));
            return Ok(());
        }
        let table = found.map_or(asked, |table| &table.name).replace('\'', "''");
        let columns = format!(
            "select column_name as \"column\", data_type as \"type\" from information_schema.columns \
             where table_schema = 'graph' and table_name = '{table}' order by ordinal_position"
        );
        self.ask(Language::Sql, &columns)
    }

    fn complain(&mut self, text: &str) {
        self.failed = true;
        // If standard error is closed, there is nowhere to report it.
        let _ = writeln!(std::io::stderr(), "error    {text}");
    }

    /// The names that begin with a word.
    fn complete(&mut self, word: &str) -> Vec<String> {
        let mut names = std::mem::take(&mut self.names);
        let found = names.beginning_with(word, || self.names().unwrap_or_default());
        self.names = names;
        found
    }

    /// The tables of the graph; nothing, if it cannot be opened: a query tells why.
    fn tables(&mut self) -> Option<Vec<TableInfo>> {
        let (cli, _) = self.parsed(&self.line(Language::Sql, "")).ok()?;
        let Command::Sql(args) = &cli.command else { return None };
        let quiet = Console { json: true, ..self.console };
        let paths = [(None, self.args.path.clone())];
        let opened = sql::tables(&paths, args, self.formats, &quiet, &mut self.session).ok()?;
        Some(opened.engine.tables().ok()?.into_iter().filter(|table| table.schema == sql::GRAPH).collect())
    }

    /// The names of tables and their columns.
    fn names(&mut self) -> Option<Vec<String>> {
        let names = self.tables()?.into_iter().flat_map(|table| {
            let columns: Vec<String> = table.columns.fields().iter().map(|field| field.name().clone()).collect();
            std::iter::once(table.name).chain(columns)
        });
        Some(names.collect())
    }
}

fn print(text: &str) -> Result<()> {
    let mut out = Output::new();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
