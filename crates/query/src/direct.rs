//! Questions that one look-up answers: `select … from t where key = value`. They are answered without planning, which would take longer than
//! the look-up.
//!
//! Whatever has another shape, names what does not exist, or is not found by an index or an order, is planned as usual; so this way gives no
//! errors of its own but those of reading.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::sql::sqlparser::ast::{Ident, ObjectName};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Word};
use futures::{StreamExt, TryStreamExt};
use isomorph::Predicate;
use isomorph::model::Literal;

use crate::errors::inside;
use crate::parameters::Parameters;
use crate::syntax::dialect::Questions;
use crate::syntax::labels::Labels;
use crate::syntax::names::{Match, find};
use crate::syntax::vocabulary::{Located, Vocabulary};
use crate::tables::catalog::{Catalog, Entry};
use crate::tables::columns::{Column, Compares};
use crate::tables::filter::is_looked_up;
use crate::tables::parts::Wanted;

/// The longest text that is looked at, bytes.
const LONGEST: usize = 4096;

/// Words that are values where a column could stand.
const VALUES: [&str; 12] = [
    "null",
    "true",
    "false",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_user",
    "session_user",
    "localtime",
    "localtimestamp",
    "user",
    "now",
];

/// The rows that answer such a question.
pub(crate) struct Direct {
    pub stream: datafusion::execution::SendableRecordBatchStream,
    pub labels: Labels,
}

/// A column that is shown: its name, and what it is called.
struct Shown {
    column: Vec<Word>,
    alias: Option<String>,
}

/// The question, as far as its words say.
struct Question {
    /// Nothing for `*`.
    shown: Vec<Shown>,
    table: Vec<Word>,
    alias: Option<Word>,
    column: Vec<Word>,
    value: Value,
}

enum Value {
    Number(String),
    Text(String),
    Parameter(String),
}

/// The answer to `question`, if one look-up gives it.
pub(crate) fn answer(question: &str, parameters: &Parameters, catalog: &Catalog) -> Option<Direct> {
    // Finding tables may read whole graphs.
    if question.len() > LONGEST || !catalog.is_found() {
        return None;
    }
    let question = Words::of(question)?.question()?;
    let name = ObjectName::from(question.table.iter().map(ident).collect::<Vec<_>>());
    let Located::Table { path: [schema, table], .. } = Vocabulary::default().locate(&name, catalog).ok()?? else {
        return None;
    };
    let entry = entry(catalog, &schema, &table)?;
    let qualifier = question.alias.as_ref().or(question.table.last())?;
    let columns = entry.rows.schema();
    let at = |words: &[Word]| position(words, qualifier, columns);
    let (mut positions, mut fields) = (Vec::new(), Vec::new());
    for one in &question.shown {
        let position = at(&one.column)?;
        let field = columns.field(position).clone();
        positions.push(position);
        fields.push(match &one.alias {
            Some(alias) => field.with_name(alias),
            None => field,
        });
    }
    if question.shown.is_empty() {
        positions = (0..columns.fields().len()).collect();
        fields = columns.fields().iter().map(|field| Field::clone(field)).collect();
    }
    // A scan reads each column once.
    let mut seen = positions.clone();
    seen.sort_unstable();
    seen.dedup();
    if seen.len() != positions.len() {
        return None;
    }
    let column = entry.rows.column(columns.field(at(&question.column)?).name())?;
    let filter = Predicate::equal(column.stored.clone(), literal(&column, &question.value, parameters)?);
    let wanted = Wanted { columns: positions, filter: Some(filter), ..Wanted::default() };
    if !entry.rows.is_found(&wanted) {
        return None;
    }
    let parts = entry.rows.parts(&wanted).ok()?;
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let shown = Arc::clone(&schema);
    let rows = futures::stream::iter(parts).flatten();
    let rows = rows.map(move |batch| crate::tables::table::shown(&batch?, &shown, 0)).map_err(inside);
    Some(Direct { stream: Box::pin(RecordBatchStreamAdapter::new(schema, rows)), labels: Labels::default() })
}

fn ident(word: &Word) -> Ident {
    match word.quote_style {
        Some(quote) => Ident::with_quote(quote, word.value.clone()),
        None => Ident::new(word.value.clone()),
    }
}

fn entry(catalog: &Catalog, schema: &str, table: &str) -> Option<Entry> {
    let entries = catalog.tables(schema).ok()?;
    let exact = entries.iter().find(|entry| entry.name == table);
    exact.or_else(|| entries.iter().find(|entry| entry.other.as_deref() == Some(table))).cloned()
}

/// The position of the only column of this name.
fn position(words: &[Word], qualifier: &Word, columns: &SchemaRef) -> Option<usize> {
    let name = match words {
        [name] => name,
        [table, name] => {
            let own = || vec![(qualifier.value.clone(), ())];
            match find(&table.value, table.quote_style.is_some(), own) {
                Match::One(()) => name,
                _ => return None,
            }
        }
        _ => return None,
    };
    let is_value = name.quote_style.is_none() && VALUES.contains(&name.value.to_lowercase().as_str());
    let all = || columns.fields().iter().enumerate().map(|(at, field)| (field.name().clone(), at)).collect();
    match find(&name.value, name.quote_style.is_some(), all) {
        Match::One(at) if !is_value => Some(at),
        _ => None,
    }
}

/// A value as a key of exactly the column's type.
fn literal(column: &Column, value: &Value, parameters: &Parameters) -> Option<Literal> {
    if !is_looked_up(column.role) || column.compares != Compares::Fully {
        return None;
    }
    let int = |text: &str| Some(Literal::Int(i128::from(text.parse::<i64>().ok()?)));
    match (&column.data_type, value) {
        (DataType::Int64, Value::Number(text)) if parameters.is_empty() => int(text),
        (DataType::Utf8, Value::Text(text)) if parameters.is_empty() => Some(Literal::Text(text.clone())),
        (DataType::Int64, Value::Parameter(name)) => int(parameters.only(name)?),
        (DataType::Utf8, Value::Parameter(name)) => Some(Literal::Text(parameters.only(name)?.to_owned())),
        _ => None,
    }
}

/// The words of a question that are still to be read.
struct Words(std::iter::Peekable<std::vec::IntoIter<Token>>);

impl Words {
    fn of(question: &str) -> Option<Words> {
        let tokens = Tokenizer::new(&Questions, question).tokenize().ok()?;
        let told: Vec<Token> = tokens.into_iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect();
        Some(Words(told.into_iter().peekable()))
    }

    fn has(&mut self, keyword: Keyword) -> bool {
        let is =
            |token: &Token| matches!(token, Token::Word(word) if word.keyword == keyword && word.quote_style.is_none());
        self.0.next_if(is).is_some()
    }

    fn is_next(&mut self, token: &Token) -> bool {
        self.0.next_if_eq(token).is_some()
    }

    fn word(&mut self) -> Option<Word> {
        match self.0.next()? {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Names with dots between them.
    fn path(&mut self) -> Option<Vec<Word>> {
        let mut path = vec![self.word()?];
        while self.is_next(&Token::Period) {
            path.push(self.word()?);
        }
        Some(path)
    }

    fn question(mut self) -> Option<Question> {
        if !self.has(Keyword::SELECT) {
            return None;
        }
        let mut shown = Vec::new();
        if !self.is_next(&Token::Mul) {
            loop {
                let column = self.path()?;
                let alias = if self.has(Keyword::AS) { Some(self.word()?.value) } else { None };
                shown.push(Shown { column, alias });
                if !self.is_next(&Token::Comma) {
                    break;
                }
            }
        }
        if !self.has(Keyword::FROM) {
            return None;
        }
        let table = self.path()?;
        let mut alias = None;
        if !self.has(Keyword::WHERE) {
            self.has(Keyword::AS);
            alias = Some(self.word()?);
            if !self.has(Keyword::WHERE) {
                return None;
            }
        }
        let column = self.path()?;
        if !self.is_next(&Token::Eq) {
            return None;
        }
        let is_negative = self.is_next(&Token::Minus);
        let value = match self.0.next()? {
            Token::Number(text, false) => Value::Number(if is_negative { format!("-{text}") } else { text }),
            Token::SingleQuotedString(text) if !is_negative => Value::Text(text),
            Token::Placeholder(name) if !is_negative => Value::Parameter(name.strip_prefix('$')?.to_owned()),
            _ => return None,
        };
        self.is_next(&Token::SemiColon);
        self.0.next().is_none().then_some(Question { shown, table, alias, column, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_questions_of_this_shape_are_taken() {
        let is_taken = |text: &str| Words::of(text).and_then(Words::question).is_some();
        for text in [
            "select * from person where id = 1007",
            "SELECT p.id, \"firstName\" as name FROM a.person AS p WHERE p.id = -7;",
            "select _target from knows k where _source = $id",
            "select id -- which\nfrom city where name = 'Accra'",
        ] {
            assert!(is_taken(text), "{text}");
        }
        for text in [
            "select distinct id from person where id = 1",
            "select id name from person where id = 1",
            "select id + 1 from person where id = 1",
            "select count(*) from person where id = 1",
            "select *, id from person where id = 1",
            "select id from person",
            "select id from person, city where id = 1",
            "select id from person where id = 1 and id = 2",
            "select id from person where id = 1 order by id",
            "select id from person where id = 1 limit 1",
            "select id from person where id = 1; select 1",
            "select id from person where id = 1 + 1",
            "select id from person where id = 1.5 or id = 1",
            "select id from person where id > 1",
            "select id from person where id = -'7'",
            "with person as (select 1 as id) select id from person where id = 1",
            "explain select id from person where id = 1",
            "select id from person where id = (1)",
            "",
        ] {
            assert!(!is_taken(text), "{text}");
        }
    }
}
