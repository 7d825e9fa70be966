//! How long a question may be. The engine's work grows with the square of a chain of operators, and its stack with the chain.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use isomorph::error::Place;
use isomorph::{Error, Kind, Result};

use crate::syntax::dialect::Questions;

/// The most operators of one expression that is not divided by brackets or commas.
const OPERATORS: usize = 400;

/// The most queries that `union`, `intersect` and `except` join.
const QUERIES: usize = 200;

/// A place between brackets.
#[derive(Default)]
struct Level {
    operators: usize,
    queries: usize,
}

/// Refuses chains that are too long.
///
/// # Errors
/// [`Kind::TooLarge`] with line and column. What is no SQL is the parser's to say.
pub(crate) fn check(text: &str) -> Result<()> {
    let Ok(tokens) = Tokenizer::new(&Questions, text).tokenize_with_location() else { return Ok(()) };
    let mut levels = vec![Level::default()];
    for token in &tokens {
        let Some(level) = levels.last_mut() else { return Ok(()) };
        match &token.token {
            Token::LParen | Token::LBracket | Token::LBrace => levels.push(Level::default()),
            Token::RParen | Token::RBracket | Token::RBrace => {
                if levels.len() > 1 {
                    levels.pop();
                }
            }
            Token::Comma | Token::SemiColon => level.operators = 0,
            Token::Word(word) => match word.keyword {
                Keyword::AND | Keyword::OR | Keyword::LIKE | Keyword::ILIKE | Keyword::IS | Keyword::XOR => {
                    level.operators += 1;
                }
                Keyword::UNION | Keyword::INTERSECT | Keyword::EXCEPT => {
                    level.operators = 0;
                    level.queries += 1;
                }
                Keyword::SELECT
                | Keyword::FROM
                | Keyword::WHERE
                | Keyword::ON
                | Keyword::GROUP
                | Keyword::HAVING
                | Keyword::ORDER
                | Keyword::WHEN
                | Keyword::THEN
                | Keyword::ELSE
                | Keyword::END => level.operators = 0,
                _ => {}
            },
            Token::Whitespace(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::Placeholder(_)
            | Token::Period => {}
            _ => level.operators += 1,
        }
        let Some(level) = levels.last() else { return Ok(()) };
        let (what, hint) = match () {
            () if level.operators > OPERATORS => (
                format!("an expression has more than {OPERATORS} operators in a row"),
                "x in (1, 2, 3) instead of x = 1 or x = 2 or x = 3; a file of values is a table",
            ),
            () if level.queries >= QUERIES => (
                format!("more than {QUERIES} queries are united"),
                "values (1), (2), (3) instead of select 1 union all select 2; a file of values is a table",
            ),
            () => continue,
        };
        let start = token.span.start;
        let place = Place::file("the question").line(start.line).in_field(format!("column {}", start.column));
        return Err(Error::new(Kind::TooLarge, what).at(place).hint(hint));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_have_an_end() {
        let sum = |terms: usize| format!("select {}", vec!["1"; terms].join("+"));
        assert!(check(&sum(401)).is_ok());
        assert_eq!(check(&sum(402)).map_err(|error| error.kind()), Err(Kind::TooLarge));
        let list = format!("select x in ({})", vec!["-1"; 50_000].join(","));
        assert!(check(&list).is_ok());
        let united = vec!["select 1"; 201].join(" union all ");
        assert_eq!(check(&united).map_err(|error| error.kind()), Err(Kind::TooLarge));
        assert!(check("select a.b, count(*) from t where x = 'a + b' -- + + +").is_ok());
    }
}
