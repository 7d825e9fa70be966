//! Parses conditions.

use std::iter::Peekable;
use std::vec::IntoIter;

use isomorph_error::{Error, Result};
use isomorph_model::{Comparison, Literal, Predicate};

/// The deepest nesting of parentheses and negations.
const DEPTH: usize = 64;

/// The column of labels, by its role: see [`crate::Table::column`].
pub(crate) const LABELS: &str = "@labels";

/// Parses a type and a [condition](parse_predicate) on its elements: `person: id < 1000`. A name that contains a colon
/// is written in backticks.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Usage`] if the text is not such a condition.
pub fn parse_condition(text: &str) -> Result<(String, Predicate)> {
    let example = "write 'person: id < 1000 and gender = \"female\"'";
    let (ty, condition) = typed(text).ok_or_else(|| refused(text, "it does not start with a type").hint(example))?;
    let predicate = read(condition).map_err(|why| refused(text, &why).hint(example))?;
    Ok((ty, predicate))
}

/// The type before a condition, and the condition.
fn typed(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.trim_start().strip_prefix('`') else {
        let (ty, condition) = text.split_once(':')?;
        return Some((ty.trim().to_owned(), condition));
    };
    let mut ty = String::new();
    loop {
        let (inside, behind) = rest.split_once('`')?;
        ty.push_str(inside);
        match behind.strip_prefix('`') {
            Some(more) => {
                ty.push('`');
                rest = more;
            }
            None => return Some((ty, behind.trim_start().strip_prefix(':')?)),
        }
    }
}

/// Parses a condition: `id < 1000 and (gender in ("female", "male") or email is null)`.
///
/// - Comparisons of a column with a value: `= != < <= > >=`, `between A and B`, `in (A, B)`, `like "%text_"` (`%` is any text, `_` any
///   character), `has A` (a list holds the value), `has label "A"`, `is null`; `not` before each but the signs, and `is not null`.
/// - A comparison with null is neither true nor false, so a row whose column is null passes neither `in` nor `not in`.
/// - `not`, `and`, `or`, in this order of precedence, and parentheses.
/// - Values: numbers, `true`, `false`, `date "2024-02-29"`, `timestamp "2024-02-29T12:00:00"`, and text in single or
///   double quotes, which is converted to the type of the column. Write a quote inside a text twice, or use the other
///   kind around the text; a backslash is an ordinary character.
/// - A column name with characters other than letters, digits and `_-+.` is written in backticks; `@ROLE` is the first
///   column of that role.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Usage`] if the text is not a condition.
pub fn parse_predicate(text: &str) -> Result<Predicate> {
    read(text).map_err(|why| refused(text, &why).hint("write 'id < 1000 and gender = \"female\"'"))
}

fn read(condition: &str) -> Result<Predicate, String> {
    let mut parser = Parser { tokens: tokens(condition)?.into_iter().peekable(), depth: 0 };
    let predicate = parser.any()?;
    match parser.tokens.next() {
        None => Ok(predicate),
        Some(token) => Err(format!("unexpected {} at the end", token.shown())),
    }
}

fn refused(text: &str, why: &str) -> Error {
    Error::usage(format!("{text:?} is not a condition: {why}"))
}

/// A token of a condition.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// A word: a column, a keyword, a number.
    Word(String),
    /// A column in backticks.
    Column(String),
    /// Text in quotes.
    Text(String),
    /// A comparison operator.
    Sign(Comparison),
    Open,
    Close,
    Comma,
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
            Token::Comma => "`,`".to_owned(),
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
            ',' => Token::Comma,
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
                        None => return Err(format!("missing closing {letter}")),
                    }
                }
                if letter == '`' { Token::Column(inside) } else { Token::Text(inside) }
            }
            _ if letter.is_alphanumeric() || "_-+.@".contains(letter) => {
                let mut word = String::from(letter);
                while let Some(next) = letters.next_if(|next| next.is_alphanumeric() || "_-+.".contains(*next)) {
                    word.push(next);
                }
                Token::Word(word)
            }
            _ => {
                return Err(format!(
                    "unexpected `{letter}`; write text in quotes, and a name that contains it in backticks"
                ));
            }
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
            return Err(format!("parentheses are nested more than {DEPTH} deep"));
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
        if self.keyword("has") {
            return self.label();
        }
        let column = match self.tokens.next() {
            Some(Token::Word(name) | Token::Column(name)) => name,
            Some(other) => return Err(format!("expected a column, found {}", other.shown())),
            None => return Err("expected a column, found the end".to_owned()),
        };
        if self.keyword("is") {
            let not = self.keyword("not");
            return match (self.keyword("null"), not) {
                (true, false) => Ok(Predicate::IsNull(column)),
                (true, true) => Ok(Predicate::IsNotNull(column)),
                (false, _) => Err("`is` must be followed by `null` or `not null`".to_owned()),
            };
        }
        let not = self.keyword("not");
        let found = if self.keyword("between") {
            let least = Predicate::compare(&*column, Comparison::GreaterOrEqual, self.literal()?);
            if !self.keyword("and") {
                return Err("`between` must be followed by two values with `and` between them".to_owned());
            }
            Predicate::And(vec![least, Predicate::compare(column, Comparison::LessOrEqual, self.literal()?)])
        } else if self.keyword("in") {
            self.one_of(&column)?
        } else if self.keyword("like") {
            match self.tokens.next() {
                Some(Token::Text(pattern)) => Predicate::Like { column, pattern },
                _ => return Err("`like` must be followed by text in quotes".to_owned()),
            }
        } else if self.keyword("has") {
            Predicate::Has { column, literal: self.literal()? }
        } else if let Some(Token::Sign(comparison)) =
            self.tokens.next_if(|token| !not && matches!(token, Token::Sign(_)))
        {
            Predicate::compare(column, comparison, self.literal()?)
        } else {
            return Err(format!("expected a comparison after {column}"));
        };
        Ok(if not { Predicate::Not(Box::new(found)) } else { found })
    }

    fn one_of(&mut self, column: &str) -> Result<Predicate, String> {
        let mut all = Vec::new();
        if self.tokens.next_if_eq(&Token::Open).is_some() {
            loop {
                if self.keyword("null") {
                    return Err(format!("null equals nothing: write `{column} is null or {column} in (1, 2)`"));
                }
                all.push(Predicate::equal(column, self.literal()?));
                match self.tokens.next() {
                    Some(Token::Comma) => {}
                    Some(Token::Close) => return Ok(single(all, Predicate::Or)),
                    _ => break,
                }
            }
        }
        Err(format!("`in` is followed by values in parentheses, with commas between them: `{column} in (1, 2)`"))
    }

    fn label(&mut self) -> Result<Predicate, String> {
        match (self.keyword("label"), self.tokens.next()) {
            (true, Some(Token::Text(label) | Token::Word(label))) => {
                Ok(Predicate::Has { column: LABELS.to_owned(), literal: Literal::Text(label) })
            }
            _ => Err("`has` without a column before it must be followed by `label` and a label".to_owned()),
        }
    }

    fn literal(&mut self) -> Result<Literal, String> {
        for (keyword, read) in
            [("date", Literal::date as fn(&str) -> Option<Literal>), ("timestamp", Literal::timestamp)]
        {
            if self.keyword(keyword) {
                return match self.tokens.next() {
                    Some(Token::Text(text)) => read(&text).ok_or_else(|| format!("{text:?} is not a {keyword}")),
                    _ => Err(format!("{keyword} must be followed by text in quotes")),
                };
            }
        }
        match self.tokens.next() {
            Some(Token::Text(text)) => Ok(Literal::Text(text)),
            Some(Token::Word(word)) => Literal::number(&word).ok_or_else(|| {
                format!("`{word}` is not a value: write text in quotes, and the column before the comparison")
            }),
            Some(other) => Err(format!("expected a value, found {}", other.shown())),
            None => Err("expected a value, found the end".to_owned()),
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn compare(column: &str, comparison: Comparison, literal: Literal) -> Predicate {
        Predicate::Compare { column: column.to_owned(), comparison, literal }
    }

    #[test]
    fn conditions_bind_as_in_sql() {
        let (ty, predicate) = parse_condition("person: id < 1000 and gender = 'f' or not (email is null)").unwrap();
        assert_eq!(ty, "person");
        let left = Predicate::And(vec![
            compare("id", Comparison::Less, Literal::Int(1000)),
            compare("gender", Comparison::Equal, Literal::Text("f".into())),
        ]);
        let right = Predicate::Not(Box::new(Predicate::IsNull("email".into())));
        assert_eq!(predicate, Predicate::Or(vec![left, right]));
    }

    #[test]
    fn a_type_with_a_colon_stands_in_backticks() {
        assert_eq!(parse_condition(" `http://e/`` v` : a = 1").unwrap().0, "http://e/` v");
    }

    #[test]
    fn literals_have_the_types_of_columns() {
        let literal = |text: &str| match parse_condition(&format!("t: c != {text}")).unwrap().1 {
            Predicate::Compare { literal, comparison: Comparison::NotEqual, .. } => Some(literal),
            _ => None,
        };
        assert_eq!(literal("-5"), Some(Literal::Int(-5)));
        assert_eq!(literal("1.5e3"), Some(Literal::Number("1.5e3".into())));
        assert_eq!(literal("inf"), Some(Literal::Float(f64::INFINITY)));
        assert_eq!(literal("TRUE"), Some(Literal::Bool(true)));
        assert_eq!(literal("\"say \"\"hi\"\"\""), Some(Literal::Text("say \"hi\"".into())));
        assert_eq!(literal("date '1969-12-31'"), Some(Literal::Date(-1)));
        assert_eq!(literal("timestamp '1970-01-01T00:00:01.5'"), Some(Literal::Timestamp(1_500_000_000)));
        assert_eq!(literal("timestamp '1970-01-02'"), Some(Literal::Timestamp(86_400_000_000_000)));
        assert_eq!(literal("timestamp '1970-01-02 01:00:00+01:00'"), Some(Literal::Instant(86_400_000_000_000)));
        assert_eq!(parse_condition("t: `a b` is not null").unwrap().1, Predicate::IsNotNull("a b".into()));
    }

    #[test]
    fn short_forms_are_what_they_stand_for() {
        for (short, long) in [
            ("a between 1 and 3 or b = 2", "(a >= 1 and a <= 3) or b = 2"),
            ("a in (1, 2)", "a = 1 or a = 2"),
            ("a IN (1)", "a = 1"),
            ("`a b` in ('x', \"y\", date '1970-01-01')", "`a b` = 'x' or `a b` = 'y' or `a b` = date '1970-01-01'"),
            ("a in (1) or b not in (2, 3)", "a = 1 or not (b = 2 or b = 3)"),
            ("not a in (1, 2)", "a not in (1, 2)"),
            ("a not in ('x')", "not a = 'x'"),
            ("not a between 1 and 2", "not (a >= 1 and a <= 2)"),
            ("a not between 1 and 2", "not (a >= 1 and a <= 2)"),
            ("has label Person", "`@labels` has 'Person'"),
            ("@key = 5", "`@key` = 5"),
        ] {
            assert_eq!(parse_predicate(short).unwrap(), parse_predicate(long).unwrap(), "{short}");
        }
        let like = Predicate::Like { column: "a".into(), pattern: "%x".into() };
        assert_eq!(parse_predicate("a not like '%x'").unwrap(), Predicate::Not(Box::new(like)));
    }

    #[test]
    fn what_is_no_condition_says_why() {
        for (text, why) in [
            ("id < 5", "does not start with a type"),
            ("t: id <", "found the end"),
            ("t: id < x", "write text in quotes"),
            ("t: (id < 5", "not closed"),
            ("t: id < 5 6", "at the end"),
            ("t: id < 'x", "missing closing"),
            ("t: id # 5", "unexpected `#`"),
            ("t: id is 5", "not null"),
            ("t: ", "found the end"),
            ("t: a between 1", "two values"),
            ("t: a in 1", "in parentheses"),
            ("t: a in (1", "in parentheses"),
            ("t: a in (1 2)", "`a in (1, 2)`"),
            ("t: a in (1, 2,)", "expected a value"),
            ("t: a in (1, null)", "write `a is null or a in (1, 2)`"),
            ("t: a in ()", "expected a value"),
            ("t: a like 5", "text in quotes"),
            ("t: a not = 5", "expected a comparison"),
            ("t: 1 = id", "column before the comparison"),
            ("t: x:y = 1", "in backticks"),
            ("`t: a = 1", "does not start with a type"),
            ("`t` a = 1", "does not start with a type"),
            ("t: has 5", "followed by `label`"),
        ] {
            let error = parse_condition(text).unwrap_err();
            assert!(error.message().contains(why), "{text}: {error}");
        }
        let deep = format!("t: {}id = 1{}", "(".repeat(100), ")".repeat(100));
        assert!(parse_condition(&deep).unwrap_err().message().contains("nested more than"));
    }
}
