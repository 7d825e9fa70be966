//! Conditions as people write them: `person: id < 1000 and (gender = "female" or email is null)`.
//!
//! Comparisons `= != < <= > >=` of a column with a literal, `is null`, `is not null`, `not`, `and`, `or`, parentheses.
//! Literals: numbers, `true`, `false`, text in single or double quotes (a quote inside is doubled),
//! `date "2024-02-29"`, `timestamp "2024-02-29T12:00:00"`. A column whose name is no word stands in backticks.

use std::iter::Peekable;
use std::vec::IntoIter;

use chrono::{NaiveDate, NaiveDateTime};
use isomorph::tables::{Comparison, Literal, Predicate};
use isomorph::{Error, Result};

/// Parentheses and negations inside one another.
const DEPTH: usize = 64;

/// Reads a type and a condition on its elements.
///
/// # Errors
/// When the text is no condition.
pub fn parse(text: &str) -> Result<(String, Predicate)> {
    let example = "write 'person: id < 1000 and gender = \"female\"'";
    let (ty, condition) =
        text.split_once(':').ok_or_else(|| refused(text, "it does not begin with a type").hint(example))?;
    let tokens = tokens(condition).map_err(|why| refused(text, &why).hint(example))?;
    let mut parser = Parser { tokens: tokens.into_iter().peekable(), depth: 0 };
    let predicate = parser.any().map_err(|why| refused(text, &why).hint(example))?;
    match parser.tokens.next() {
        None => Ok((ty.trim().to_owned(), predicate)),
        Some(token) => Err(refused(text, &format!("{} is left over", token.shown())).hint(example)),
    }
}

fn refused(text: &str, why: &str) -> Error {
    Error::usage(format!("{text:?} is no condition: {why}"))
}

/// What a condition is made of.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// A word: a column, a keyword, a number.
    Word(String),
    /// A column in backticks.
    Column(String),
    /// Text in quotes.
    Text(String),
    /// A sign of comparison.
    Sign(Comparison),
    Open,
    Close,
}

impl Token {
    fn shown(&self) -> String {
        match self {
            Token::Word(word) => format!("`{word}`"),
            Token::Column(name) => format!("`{name}`"),
            Token::Text(text) => format!("{text:?}"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Open => "`(`".to_owned(),
            Token::Close => "`)`".to_owned(),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let mut then = |next: char| letters.next_if_eq(&next).is_some();
        tokens.push(match letter {
            _ if letter.is_whitespace() => continue,
            '(' => Token::Open,
            ')' => Token::Close,
            '=' => {
                then('=');
                Token::Sign(Comparison::Equal)
            }
            '!' if then('=') => Token::Sign(Comparison::NotEqual),
            '<' if then('>') => Token::Sign(Comparison::NotEqual),
            '<' if then('=') => Token::Sign(Comparison::LessOrEqual),
            '<' => Token::Sign(Comparison::Less),
            '>' if then('=') => Token::Sign(Comparison::GreaterOrEqual),
            '>' => Token::Sign(Comparison::Greater),
            '\'' | '"' | '`' => {
                let mut inside = String::new();
                loop {
                    match letters.next() {
                        Some(next) if next == letter && letters.next_if_eq(&letter).is_none() => break,
                        Some(next) => inside.push(next),
                        None => return Err(format!("{letter} is never closed")),
                    }
                }
                if letter == '`' { Token::Column(inside) } else { Token::Text(inside) }
            }
            _ if letter.is_alphanumeric() || "_-+.".contains(letter) => {
                let mut word = String::from(letter);
                while let Some(next) = letters.next_if(|next| next.is_alphanumeric() || "_-+.".contains(*next)) {
                    word.push(next);
                }
                Token::Word(word)
            }
            _ => return Err(format!("`{letter}` means nothing here")),
        });
    }
    Ok(tokens)
}

struct Parser {
    tokens: Peekable<IntoIter<Token>>,
    depth: usize,
}

impl Parser {
    fn keyword(&mut self, keyword: &str) -> bool {
        let is = |token: &Token| matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(keyword));
        self.tokens.next_if(is).is_some()
    }

    fn any(&mut self) -> Result<Predicate, String> {
        let mut all = vec![self.all()?];
        while self.keyword("or") {
            all.push(self.all()?);
        }
        Ok(single(all, Predicate::Or))
    }

    fn all(&mut self) -> Result<Predicate, String> {
        let mut all = vec![self.one()?];
        while self.keyword("and") {
            all.push(self.one()?);
        }
        Ok(single(all, Predicate::And))
    }

    fn one(&mut self) -> Result<Predicate, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("more than {DEPTH} parentheses inside one another"));
        }
        let predicate = if self.keyword("not") {
            Predicate::Not(Box::new(self.one()?))
        } else if self.tokens.next_if_eq(&Token::Open).is_some() {
            let inside = self.any()?;
            if self.tokens.next_if_eq(&Token::Close).is_none() {
                return Err("a parenthesis is not closed".to_owned());
            }
            inside
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(predicate)
    }

    fn comparison(&mut self) -> Result<Predicate, String> {
        let column = match self.tokens.next() {
            Some(Token::Word(name) | Token::Column(name)) => name,
            Some(other) => return Err(format!("{} stands where a column should", other.shown())),
            None => return Err("it ends where a column should stand".to_owned()),
        };
        if self.keyword("is") {
            let not = self.keyword("not");
            return match (self.keyword("null"), not) {
                (true, false) => Ok(Predicate::IsNull(column)),
                (true, true) => Ok(Predicate::IsNotNull(column)),
                (false, _) => Err("`is` is followed by `null` or `not null`".to_owned()),
            };
        }
        let Some(Token::Sign(comparison)) = self.tokens.next() else {
            return Err(format!("a comparison should follow {column}"));
        };
        Ok(Predicate::Compare { column, comparison, literal: self.literal()? })
    }

    fn literal(&mut self) -> Result<Literal, String> {
        for (keyword, read) in [("date", date as fn(&str) -> Option<Literal>), ("timestamp", timestamp)] {
            if self.keyword(keyword) {
                return match self.tokens.next() {
                    Some(Token::Text(text)) => read(&text).ok_or_else(|| format!("{text:?} is no {keyword}")),
                    _ => Err(format!("{keyword} is followed by text in quotes")),
                };
            }
        }
        match self.tokens.next() {
            Some(Token::Text(text)) => Ok(Literal::Text(text)),
            Some(Token::Word(word)) => {
                number(&word).ok_or_else(|| format!("`{word}` is no number; text stands in quotes"))
            }
            Some(other) => Err(format!("{} stands where a value should", other.shown())),
            None => Err("it ends where a value should stand".to_owned()),
        }
    }
}

fn single(mut all: Vec<Predicate>, several: fn(Vec<Predicate>) -> Predicate) -> Predicate {
    match all.pop() {
        Some(one) if all.is_empty() => one,
        last => {
            all.extend(last);
            several(all)
        }
    }
}

fn number(word: &str) -> Option<Literal> {
    match word.to_ascii_lowercase().as_str() {
        "true" => return Some(Literal::Bool(true)),
        "false" => return Some(Literal::Bool(false)),
        _ => {}
    }
    match word.parse::<i128>() {
        Ok(whole) => Some(Literal::Int(whole)),
        Err(_) => word.parse::<f64>().ok().map(Literal::Float),
    }
}

fn date(text: &str) -> Option<Literal> {
    let epoch = NaiveDate::default();
    let days = text.parse::<NaiveDate>().ok()?.signed_duration_since(epoch).num_days();
    i32::try_from(days).ok().map(Literal::Date)
}

fn timestamp(text: &str) -> Option<Literal> {
    let moment = match text.trim_end_matches('Z').replacen(' ', "T", 1).parse::<NaiveDateTime>() {
        Ok(moment) => moment,
        Err(_) => text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0)?,
    };
    let moment = moment.and_utc();
    let nanoseconds = i128::from(moment.timestamp()) * 1_000_000_000 + i128::from(moment.timestamp_subsec_nanos());
    Some(Literal::Timestamp(nanoseconds))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn compare(column: &str, comparison: Comparison, literal: Literal) -> Predicate {
        Predicate::Compare { column: column.to_owned(), comparison, literal }
    }

    #[test]
    fn conditions_bind_as_in_sql() {
        let (ty, predicate) = parse("person: id < 1000 and gender = 'f' or not (email is null)").unwrap();
        assert_eq!(ty, "person");
        let left = Predicate::And(vec![
            compare("id", Comparison::Less, Literal::Int(1000)),
            compare("gender", Comparison::Equal, Literal::Text("f".into())),
        ]);
        let right = Predicate::Not(Box::new(Predicate::IsNull("email".into())));
        assert_eq!(predicate, Predicate::Or(vec![left, right]));
    }

    #[test]
    fn literals_have_the_types_of_columns() {
        let literal = |text: &str| match parse(&format!("t: c != {text}")).unwrap().1 {
            Predicate::Compare { literal, comparison: Comparison::NotEqual, .. } => Some(literal),
            _ => None,
        };
        assert_eq!(literal("-5"), Some(Literal::Int(-5)));
        assert_eq!(literal("1.5e3"), Some(Literal::Float(1500.0)));
        assert_eq!(literal("TRUE"), Some(Literal::Bool(true)));
        assert_eq!(literal("\"say \"\"hi\"\"\""), Some(Literal::Text("say \"hi\"".into())));
        assert_eq!(literal("date '1969-12-31'"), Some(Literal::Date(-1)));
        assert_eq!(literal("timestamp '1970-01-01T00:00:01.5'"), Some(Literal::Timestamp(1_500_000_000)));
        assert_eq!(literal("timestamp '1970-01-02'"), Some(Literal::Timestamp(86_400_000_000_000)));
        assert_eq!(parse("t: `a b` is not null").unwrap().1, Predicate::IsNotNull("a b".into()));
    }

    #[test]
    fn what_is_no_condition_says_why() {
        for (text, why) in [
            ("id < 5", "does not begin with a type"),
            ("t: id <", "ends where a value"),
            ("t: id < x", "text stands in quotes"),
            ("t: (id < 5", "not closed"),
            ("t: id < 5 6", "left over"),
            ("t: id < 'x", "never closed"),
            ("t: id # 5", "means nothing"),
            ("t: id is 5", "not null"),
            ("t: ", "ends where a column"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.message().contains(why), "{text}: {error}");
        }
        let deep = format!("t: {}id = 1{}", "(".repeat(100), ")".repeat(100));
        assert!(parse(&deep).unwrap_err().message().contains("inside one another"));
    }
}
