//! From a text to one statement that reads.

use datafusion::sql::parser::{DFParserBuilder, ExplainStatement, Statement};
use datafusion::sql::sqlparser::ast::{self, DescribeAlias, SetExpr, Statement as Sql};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use isomorph::error::Place;
use isomorph::{Error, Result};

use crate::errors::of_engine;
use crate::syntax::dialect::Questions;
use crate::syntax::limits;

/// How deeply a question may be nested.
const DEPTH: usize = 200;

/// Parses a text that is one statement, and refuses statements that do not read.
///
/// # Errors
/// [`isomorph::Kind::Usage`] with line and column for what is no SQL; [`isomorph::Kind::Unsupported`] for what does not read.
pub(crate) fn parse(text: &str) -> Result<Statement> {
    limits::check(text)?;
    let parser = DFParserBuilder::new(text).with_dialect(&Questions).with_recursion_limit(DEPTH).build();
    let question = || Place::file("the question");
    // What is missing at the end is missing there.
    let end = || {
        let line = text.lines().count().max(1) as u64;
        let column = text.lines().last().map_or(0, |line| line.chars().count()) + 1;
        question().line(line).in_field(format!("column {column}"))
    };
    let statements = parser.and_then(|mut parser| parser.parse_statements());
    let mut statements =
        statements.map_err(of_engine).map_err(|error| match error.message().ends_with("found EOF") {
            true => error.at(end()),
            false => error,
        })?;
    let Some(statement) = statements.pop_front() else {
        return Err(Error::usage("expected a question, found nothing")
            .at(question())
            .hint("select count(*) from person"));
    };
    if !statements.is_empty() {
        return Err(Error::usage("expected one question, found several").at(question()));
    }
    check(&statement)?;
    Ok(statement)
}

/// Refuses what does not read.
fn check(statement: &Statement) -> Result<()> {
    match statement {
        Statement::Statement(sql) => check_sql(sql),
        Statement::Explain(ExplainStatement { statement, .. }) => check(statement),
        Statement::CreateExternalTable(_) => Err(refused("CREATE EXTERNAL TABLE")),
        Statement::CopyTo(_) => Err(refused("COPY")),
        Statement::Reset(_) => Err(refused("RESET")),
    }
}

fn check_sql(sql: &Sql) -> Result<()> {
    match sql {
        Sql::Query(query) => check_body(&query.body),
        Sql::Explain { statement, .. } => check_sql(statement),
        Sql::ExplainTable {
            describe_alias: DescribeAlias::Describe | DescribeAlias::Desc | DescribeAlias::Explain,
            ..
        }
        | Sql::ShowTables { .. }
        | Sql::ShowColumns { .. } => Ok(()),
        other => {
            // Its first words, which say what it is.
            let text = other.to_string();
            let words: Vec<&str> =
                text.split_whitespace().take_while(|word| word.chars().all(|c| c.is_ascii_uppercase())).collect();
            Err(refused(&words.join(" ")))
        }
    }
}

/// A query can hold statements that change data in the place of tables.
fn check_body(body: &SetExpr) -> Result<()> {
    match body {
        SetExpr::Insert(other) | SetExpr::Update(other) | SetExpr::Delete(other) | SetExpr::Merge(other) => {
            check_sql(other)
        }
        SetExpr::SetOperation { left, right, .. } => check_body(left).and_then(|()| check_body(right)),
        SetExpr::Query(query) => check_body(&query.body),
        SetExpr::Select(select) => match &select.into {
            Some(_) => Err(refused("SELECT INTO")),
            None => Ok(()),
        },
        SetExpr::Values(_) | SetExpr::Table(_) => Ok(()),
    }
}

fn refused(what: &str) -> Error {
    Error::unsupported(format!("{what} is not supported: a question only reads")).at(Place::file("the question"))
}

/// The question after `explain` or `explain analyze`, in its place in the text, and whether it is to be run; nothing, if the text is something else.
pub fn explained(text: &str) -> Option<(String, bool)> {
    let mut tokenizer = Tokenizer::new(&Questions, text);
    let tokens = tokenizer.tokenize_with_location().ok()?;
    let mut words = tokens.iter().filter(|one| !matches!(one.token, Token::Whitespace(_)));
    let is = |token: &Token, keyword| matches!(token, Token::Word(word) if word.keyword == keyword);
    is(&words.next()?.token, Keyword::EXPLAIN).then_some(())?;
    let mut first = words.next()?;
    let runs = is(&first.token, Keyword::ANALYZE);
    if runs {
        first = words.next()?;
    }
    let begins = [Keyword::SELECT, Keyword::WITH, Keyword::VALUES, Keyword::FROM, Keyword::TABLE];
    if first.token != Token::LParen && !begins.into_iter().any(|keyword| is(&first.token, keyword)) {
        return None;
    }
    // Blanks keep the lines and columns of errors.
    let (line, column) = (first.span.start.line, first.span.start.column);
    let mut rest = String::with_capacity(text.len());
    let mut place = (1, 1);
    for letter in text.chars() {
        rest.push(if place < (line, column) && letter != '\n' { ' ' } else { letter });
        place = if letter == '\n' { (place.0 + 1, 1) } else { (place.0, place.1 + 1) };
    }
    Some((rest, runs))
}

/// The SQL inside a statement.
pub(crate) fn sql_of(statement: &mut Statement) -> Option<&mut ast::Statement> {
    match statement {
        Statement::Statement(sql) => Some(sql),
        Statement::Explain(ExplainStatement { statement, .. }) => sql_of(statement),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_what_reads_is_parsed() {
        for text in [
            "select 1",
            "explain select 1",
            "explain analyze select 1",
            "with a as (select 1 as x) select * from a;",
            "values (1), (2)",
            "show tables",
            "describe person",
        ] {
            parse(text).unwrap();
        }
        for text in [
            "create table t as select 1",
            "create external table t stored as csv location 'x'",
            "create view v as select 1",
            "drop table person",
            "insert into person values (1)",
            "update person set name = 'x'",
            "delete from person",
            "merge into person p using q on p.id = q.id when matched then delete",
            "truncate table person",
            "copy person to 'x.parquet'",
            "copy (select 1) to 'x.parquet'",
            "set datafusion.execution.batch_size = 1",
            "reset datafusion.execution.batch_size",
            "show all",
            "prepare p as select 1",
            "execute p",
            "explain insert into person values (1)",
            "explain analyze create table t as select 1",
            "explain copy person to 'x.parquet'",
            "select 1 into t",
            "begin",
            "create function f() returns int return 1",
            "analyze table person",
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.kind(), isomorph::Kind::Unsupported, "{text}: {error}");
            assert!(error.message().ends_with("a question only reads"), "{text}: {error}");
        }
    }

    #[test]
    fn explained_questions_keep_their_places() {
        let of = |text: &str| explained(text);
        assert_eq!(of("explain select 1"), Some(("        select 1".to_owned(), false)));
        assert_eq!(
            of("/* a */ EXPLAIN\nanalyze (select 1)"),
            Some((format!("{}\n{}(select 1)", " ".repeat(15), " ".repeat(8)), true))
        );
        assert_eq!(of("explain with t as (select 1) select * from t").map(|(_, runs)| runs), Some(false));
        for text in [
            "select 1",
            "explain person",
            "explain verbose select 1",
            "explain",
            "select explain from t",
            "explain 'open",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_sql_says_where() {
        let error = parse("select a\nfrom person\nwhere ) = 1").unwrap_err();
        assert_eq!(error.place().line, Some(3), "{error}");
        assert!(error.message().starts_with("expected "), "{error}");
        let error = parse("select a\nfrom person\nwhere (a = 1").unwrap_err();
        assert_eq!((error.place().line, error.place().field.as_deref()), (Some(3), Some("column 13")), "{error}");
        for text in ["", " -- nothing", "select 1; select 2", "selec 1", "select 'open"] {
            assert_eq!(parse(text).unwrap_err().kind(), isomorph::Kind::Usage, "{text}");
        }
        let deep = format!("select {}1{}", "(".repeat(5000), ")".repeat(5000));
        assert_eq!(parse(&deep).unwrap_err().kind(), isomorph::Kind::TooLarge);
    }
}
