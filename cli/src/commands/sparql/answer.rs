//! Prints answers.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use arrow_array::RecordBatch;
use isomorph::convert::Registry;
use isomorph::convert::matching::Prefixes;
use isomorph::dataset::Ran;
use isomorph::formats::rdf::{QuadWriter, Syntax, WriteOptions};
use isomorph::storage::{Budget, Mode, Staging};
use isomorph::tables::{Encoding, TableWriter, WriteOptions as TableOptions};
use isomorph::{Error, Result};
use isomorph_sparql as sparql;
use isomorph_sparql::oxrdf::{GraphName, Term, Triple};
use isomorph_sparql::{
    Question, QuestionOptions, ResultsFormat, push_term, solutions_as_columns, triples_as_columns, with_quad,
    write_boolean, write_solutions,
};
use serde::Serialize;

use super::asked;
use crate::answer::write_lines;
use crate::args::sparql::AnswerFormat;
use crate::args::{Explained, OpenArgs, SparqlArgs, file_place};
use crate::commands::session::Session;
use crate::commands::{Answer, explained};
use crate::console::{Console, Output};
use crate::input;
use crate::interrupt::Interrupt;
use crate::render::{Cell, Column, Palette, Screen, Table, of};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    triples: Vec<DocumentTriple>,
}

#[derive(Debug, Serialize)]
struct DocumentTriple {
    subject: String,
    predicate: String,
    object: String,
}

/// Evaluates a query, and prints the answer.
///
/// # Errors
/// Any error of reading, evaluating or printing.
pub fn run(args: &SparqlArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    answer(args, formats, console, &mut Session::default())
}

/// The same in a session.
///
/// # Errors
/// As [`run`].
pub fn answer(args: &SparqlArgs, formats: &Registry, console: &Console, session: &mut Session) -> Result<Answer> {
    // A command that only reads is ended by the system's signals.
    let interrupt = session.interrupt(|| Ok(Interrupt::default()))?;
    let resources = session.resources(&args.resources)?;
    let others = std::iter::once(args.path.as_str());
    let text = input::query(args.query.as_deref(), args.file.as_deref(), others, &interrupt)?;
    let options = QuestionOptions {
        base: args.open.base.clone(),
        prefixes: args.open.namespaces.clone(),
        params: args.params.clone(),
    };
    let question = Question::parse(&text, &options)?;
    if args.explained.explain.is_some() {
        return explain(args, &question, formats, console, session);
    }
    let format = format(args, &question, console)?;
    let output = args.output.as_deref().map(|name| {
        let mode = if args.replace { Mode::Replace } else { Mode::CreateNew };
        Staging::file(&file_place(name)?, mode)
    });
    let output = output.transpose()?;
    let namespaces = args.open.namespaces.iter().cloned().collect();
    let shape = console.screen().shape();
    let printing = Printing {
        args,
        budget: &resources.budget,
        format,
        prefixes: Prefixes::new(&namespaces),
        json: console.json,
        shape,
    };
    // What is said of a table goes to standard error: standard output has the answer and nothing else.
    let aside = Console { aside: true, ..*console };
    let mut screen = aside.screen();
    #[cfg(feature = "cluster")]
    {
        use crate::commands::elsewhere::cluster;
        use isomorph_cluster::{Place, SparqlQuestion};
        // Namespaces apply to the query.
        let open = crate::args::OpenArgs { namespaces: Vec::new(), ..args.open.clone() };
        if let Some(cluster) = cluster(&args.cluster, &open)? {
            let interrupt = session.interrupt(Interrupt::listen)?;
            let graph = session.graph(&args.path, &open, formats, &resources, console)?;
            let asked = SparqlQuestion::new(&text, &options, args.timeout);
            let messages = cluster.sparql(asked, Place::of_graph(&graph)?, interrupt.within(args.timeout))?;
            let write = |answer: sparql::Answer<'_>| printing.write(answer, output.as_ref(), &interrupt, &mut screen);
            let answer = question.received(Box::new(messages), &resources.budget, write)?;
            return published(answer, output, &screen, &aside);
        }
    }
    let graph = asked::graph(args, &question, formats, console, session)?;
    let go_on = || interrupt.check();
    let write = |answer: sparql::Answer<'_>| printing.write(answer, output.as_ref(), &interrupt, &mut screen);
    let answer = question.run_while(&graph, args.timeout, &go_on, write)?;
    published(answer, output, &screen, &aside)
}

/// Shows how a query is answered.
fn explain(
    args: &SparqlArgs,
    question: &Question,
    formats: &Registry,
    console: &Console,
    session: &mut Session,
) -> Result<Answer> {
    // As it is opened to be loaded.
    let open = OpenArgs { namespaces: Vec::new(), base_of_result: true, ..args.open.clone() };
    let resources = session.resources(&args.resources)?;
    let opened = session.graph(&args.path, &open, formats, &resources, console)?;
    let mut shown = question.explain(opened.opened().native.as_ref());
    if args.explained.explain == Some(Explained::Analyze) {
        let interrupt = session.interrupt(|| Ok(Interrupt::default()))?;
        let (started, before) = (Instant::now(), isomorph::storage::bytes_read());
        let graph = asked::graph(args, question, formats, console, session)?;
        let count = |answer: sparql::Answer<'_>| match answer {
            sparql::Answer::Solutions(solutions) => counted(solutions),
            sparql::Answer::Graph(triples) => counted(triples),
            sparql::Answer::Boolean(_) => Ok(1),
        };
        let rows = question.run_while(&graph, args.timeout, &|| interrupt.check(), count)?;
        let bytes = isomorph::storage::bytes_read().saturating_sub(before);
        shown.ran = Some(Ran { rows, bytes, time: started.elapsed() });
    }
    explained::show(&shown, console)
}

fn counted<T>(rows: impl Iterator<Item = Result<T>>) -> Result<u64> {
    let mut count = 0;
    for row in rows {
        row?;
        count += 1;
    }
    Ok(count)
}

/// Lets the output appear, and says what the answer is.
fn published(answer: Answer, output: Option<Staging>, screen: &Screen, aside: &Console) -> Result<Answer> {
    if let Some(staging) = output {
        staging.commit(&[])?;
    }
    aside.show(screen)?;
    Ok(answer)
}

/// The format of the answer, which must suit the kind of query.
fn format(args: &SparqlArgs, question: &Question, console: &Console) -> Result<AnswerFormat> {
    let named = args.output.as_deref().map(|name| {
        AnswerFormat::of_name(name).ok_or_else(|| {
            Error::usage("the name of the output file does not select a format").at(name.to_owned()).hint(
                match question.makes_graph() {
                    true => "--format nt|nq|ttl|trig|rdf|jsonld|jsonl|parquet|arrow",
                    false => "--format csv|tsv|json|xml|jsonl|parquet|arrow",
                },
            )
        })
    });
    let format = match (args.format, named) {
        (Some(format), _) => format,
        (None, _) if console.json => AnswerFormat::Json,
        (None, Some(named)) => named?,
        (None, None) => AnswerFormat::Table,
    };
    let graph = question.makes_graph();
    let suits = match format {
        AnswerFormat::Table => true,
        // With --json, a graph is a document.
        AnswerFormat::Json => !graph || args.format.is_none() && console.json,
        AnswerFormat::Csv | AnswerFormat::Tsv => !graph && !question.is_ask(),
        AnswerFormat::Jsonl | AnswerFormat::Parquet | AnswerFormat::Arrow => !question.is_ask(),
        AnswerFormat::Xml => !graph,
        AnswerFormat::Text(_) => graph,
    };
    if suits {
        let is_text = !matches!(format, AnswerFormat::Parquet | AnswerFormat::Arrow);
        if !is_text && args.output.is_none() && std::io::stdout().is_terminal() {
            return Err(Error::usage("this format is not text, and standard output is a terminal")
                .hint("--output FILE    write a file"));
        }
        return Ok(format);
    }
    let (what, formats) = match (graph, question.is_ask()) {
        (true, _) => ("the answer to this query is a graph", "--format nt|nq|ttl|trig|rdf|jsonld|jsonl|parquet|arrow"),
        (_, true) => ("the answer to ASK is yes or no", "--format json|xml"),
        _ => ("the answer to SELECT is a table", "--format csv|tsv|json|xml|jsonl|parquet|arrow"),
    };
    Err(Error::usage(format!("{what}, which {} cannot store", format.id())).hint(formats))
}

/// An output whose writer ends when the user interrupts the query.
struct Stoppable<'i> {
    out: Output,
    interrupt: &'i Interrupt,
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.interrupt.check().map_err(std::io::Error::other)?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

struct Printing<'a> {
    args: &'a SparqlArgs,
    budget: &'a Budget,
    format: AnswerFormat,
    prefixes: Prefixes,
    json: bool,
    /// Colours and width of the terminal.
    shape: (Palette, Option<usize>),
}

impl Printing<'_> {
    /// Writes an answer to the output, or to standard output.
    fn write(
        &self,
        answer: sparql::Answer<'_>,
        output: Option<&Staging>,
        interrupt: &Interrupt,
        screen: &mut Screen,
    ) -> Result<Answer> {
        let Some(staging) = output else {
            return self.print(answer, &mut Stoppable { out: Output::new(), interrupt }, screen);
        };
        let mut file = staging.create("")?;
        let printed = self.print(answer, &mut file, screen)?;
        file.finish()?;
        Ok(printed)
    }

    /// Prints an answer to `out`. What is to be said of it goes to `screen`.
    fn print(&self, answer: sparql::Answer<'_>, out: &mut dyn Write, screen: &mut Screen) -> Result<Answer> {
        let results = match self.format {
            AnswerFormat::Csv => Some(ResultsFormat::Csv),
            AnswerFormat::Tsv => Some(ResultsFormat::Tsv),
            AnswerFormat::Json => Some(ResultsFormat::Json),
            AnswerFormat::Xml => Some(ResultsFormat::Xml),
            AnswerFormat::Table
            | AnswerFormat::Jsonl
            | AnswerFormat::Parquet
            | AnswerFormat::Arrow
            | AnswerFormat::Text(_) => None,
        };
        let encoding = match self.format {
            AnswerFormat::Jsonl => Some(Encoding::JsonLines),
            AnswerFormat::Parquet => Some(Encoding::Parquet),
            AnswerFormat::Arrow => Some(Encoding::Arrow),
            _ => None,
        };
        let answer = match (encoding, answer) {
            (Some(encoding), sparql::Answer::Solutions(solutions)) => {
                return columns(&solutions_as_columns(solutions, false, self.budget)?, encoding, out);
            }
            (Some(encoding), sparql::Answer::Graph(triples)) => {
                return columns(&triples_as_columns(triples, self.budget)?, encoding, out);
            }
            (_, answer) => answer,
        };
        match (answer, results, self.format) {
            (sparql::Answer::Solutions(solutions), Some(format), _) => {
                write_solutions(solutions, format, out)?;
                if matches!(format, ResultsFormat::Json | ResultsFormat::Xml) {
                    out.write_all(b"\n")?;
                }
                out.flush()?;
                Ok(Answer::Yes)
            }
            (sparql::Answer::Boolean(answer), Some(format), _) => {
                write_boolean(answer, format, out)?;
                out.write_all(b"\n")?;
                out.flush()?;
                Ok(Answer::yes_if(answer))
            }
            (sparql::Answer::Graph(triples), _, AnswerFormat::Text(syntax)) => {
                self.graph(triples, syntax, out)?;
                Ok(Answer::Yes)
            }
            (sparql::Answer::Graph(triples), Some(_), _) if self.json => {
                let triples = triples.map(|triple| triple.map(|triple| document(&triple))).collect::<Result<_>>()?;
                let document = Document { path: &self.args.path, triples };
                serde_json::to_writer_pretty(&mut *out, &document).map_err(std::io::Error::from)?;
                out.write_all(b"\n")?;
                out.flush()?;
                Ok(Answer::Yes)
            }
            (answer, _, _) => {
                let yes = self.table(answer, out, screen)?;
                out.flush()?;
                Ok(yes)
            }
        }
    }

    fn graph(&self, triples: sparql::Triples<'_>, syntax: Syntax, out: &mut dyn Write) -> Result<()> {
        let options = WriteOptions { prefixes: self.args.open.namespaces.clone(), base: None, rdf_1_1: false };
        let mut writer = QuadWriter::new(syntax, out, &options)?;
        for triple in triples {
            with_quad(&triple?, &GraphName::DefaultGraph, |quad| writer.push(quad))?;
        }
        writer.finish()?;
        Ok(())
    }

    fn table(&self, answer: sparql::Answer<'_>, out: &mut dyn Write, screen: &mut Screen) -> Result<Answer> {
        let limit = usize::try_from(self.args.limit.get()).unwrap_or(usize::MAX);
        let (head, rows, more, what) = match answer {
            sparql::Answer::Boolean(answer) => {
                writeln!(out, "{}", if answer { "yes" } else { "no" })?;
                return Ok(Answer::yes_if(answer));
            }
            sparql::Answer::Solutions(mut solutions) => {
                let head: Vec<String> = solutions.variables().iter().map(ToString::to_string).collect();
                let mut rows = Vec::new();
                for solution in solutions.by_ref().take(limit) {
                    let solution = solution?;
                    let cell = |term: &Option<Term>| term.as_ref().map_or("–".to_owned(), |term| self.short(term));
                    rows.push(solution.values().iter().map(cell).collect::<Vec<_>>());
                }
                (head, rows, solutions.next().transpose()?.is_some(), "solution")
            }
            sparql::Answer::Graph(mut triples) => {
                let head = ["subject", "predicate", "object"].map(str::to_owned).to_vec();
                let mut rows = Vec::new();
                for triple in triples.by_ref().take(limit) {
                    let DocumentTriple { subject, predicate, object } = document(&triple?);
                    rows.push([subject, predicate, object].map(|term| self.prefixes.shorten(&term)).to_vec());
                }
                (head, rows, triples.next().transpose()?.is_some(), "triple")
            }
        };
        // Numbers are printed without quotation marks, so they can be told from texts.
        let is_number = |text: &String| text.parse::<f64>().is_ok();
        let columns = (0..head.len()).map(|at| match rows.iter().filter_map(|row| row.get(at)).all(is_number) {
            true if !rows.is_empty() => Column::number(),
            _ => Column::text(u8::try_from(at).unwrap_or(u8::MAX)),
        });
        let mut table = Table::new(columns.collect::<Vec<_>>());
        table.row(head.iter().map(Cell::from));
        for row in &rows {
            table.row(row.iter().map(Cell::from));
        }
        let (palette, width) = self.shape;
        for line in table.lines(width.filter(|_| self.args.output.is_none()), palette) {
            writeln!(out, "{line}")?;
        }
        let count = of(rows.len() as u64, what);
        if more {
            let ten_times = self.args.limit.get().saturating_mul(10);
            screen.line("answer", &format!("the first {count}; --limit {ten_times} shows more, --format has all"));
        } else {
            screen.line("answer", &count);
        }
        Ok(Answer::Yes)
    }

    /// A term for people: numbers and booleans as Turtle abbreviates them, names with prefixes.
    fn short(&self, term: &Term) -> String {
        if let Term::Literal(literal) = term
            && is_abbreviated(literal.value(), literal.datatype().as_str())
        {
            return literal.value().to_owned();
        }
        let mut text = String::new();
        push_term(&mut text, term);
        self.prefixes.shorten(&text)
    }
}

/// Writes a table whose columns have types.
fn columns(batch: &RecordBatch, encoding: Encoding, out: &mut dyn Write) -> Result<Answer> {
    if encoding == Encoding::JsonLines {
        write_lines(batch, out)?;
        out.flush()?;
        return Ok(Answer::Yes);
    }
    // The writer of files needs an output that may go to another thread, so the file is made in memory, where its columns are already.
    let options = TableOptions { field_metadata: true, ..TableOptions::default() };
    let mut file = TableWriter::create(Vec::new(), encoding, batch.schema_ref(), &options)?;
    file.write(batch)?;
    out.write_all(&file.finish()?.0)?;
    out.flush()?;
    Ok(Answer::Yes)
}

/// Whether Turtle has the literal without quotes and datatype (section 2.5.2 and 2.5.3).
fn is_abbreviated(value: &str, datatype: &str) -> bool {
    let unsigned = value.strip_prefix(['+', '-']).unwrap_or(value);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match datatype.strip_prefix("http://www.w3.org/2001/XMLSchema#") {
        Some("integer") => !unsigned.is_empty() && digits(unsigned),
        Some("decimal") => {
            unsigned.split_once('.').is_some_and(|(whole, part)| !part.is_empty() && digits(whole) && digits(part))
        }
        Some("boolean") => matches!(value, "true" | "false"),
        _ => false,
    }
}

fn document(triple: &Triple) -> DocumentTriple {
    let text = |term: &Term| {
        let mut text = String::new();
        push_term(&mut text, term);
        text
    };
    DocumentTriple {
        subject: text(&triple.subject.clone().into()),
        predicate: text(&triple.predicate.clone().into()),
        object: text(&triple.object),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_abbreviated_as_turtle_reads_them() {
        let of = |value, datatype: &str| is_abbreviated(value, &format!("http://www.w3.org/2001/XMLSchema#{datatype}"));
        assert!(of("-07", "integer") && of(".5", "decimal") && of("true", "boolean"));
        assert!(!of("", "integer") && !of("+", "integer") && !of("5.", "decimal") && !of("5", "decimal"));
        assert!(!of("1", "boolean") && !of("7", "string") && !of("1e3", "double") && !of("x", "integer"));
    }
}
