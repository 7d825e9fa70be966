//! SPDX licence expressions: `A OR B`, `A AND B`, `A WITH exception`, brackets, and the old `A/B` for OR.

/// Whether `expression` can be satisfied with licences that `allowed` accepts.
///
/// An exception (`WITH`) only grants more rights, so it is ignored. AND binds tighter than OR.
///
/// # Errors
/// Returns an error if the text is not a valid expression.
pub(crate) fn satisfied(expression: &str, allowed: &dyn Fn(&str) -> bool) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { tokens: &tokens, allowed };
    match parser.any_of() {
        Some(answer) if parser.tokens.is_empty() => Ok(answer),
        _ => Err(format!("`{expression}` is not a licence expression")),
    }
}

struct Parser<'a> {
    tokens: &'a [&'a str],
    allowed: &'a dyn Fn(&str) -> bool,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn take(&mut self, word: &str) -> bool {
        let there = self.tokens.first().is_some_and(|token| token.eq_ignore_ascii_case(word));
        if there {
            self.next();
        }
        there
    }

    fn any_of(&mut self) -> Option<bool> {
        let mut answer = self.all_of()?;
        while self.take("OR") {
            answer |= self.all_of()?;
        }
        Some(answer)
    }

    fn all_of(&mut self) -> Option<bool> {
        let mut answer = self.one()?;
        while self.take("AND") {
            answer &= self.one()?;
        }
        Some(answer)
    }

    fn one(&mut self) -> Option<bool> {
        match self.next()? {
            "(" => {
                let answer = self.any_of()?;
                self.take(")").then_some(answer)
            }
            ")" | "AND" | "OR" | "WITH" => None,
            licence => {
                if self.take("WITH") {
                    self.next()?;
                }
                Some((self.allowed)(licence))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(expression: &str) -> Result<bool, String> {
        satisfied(expression, &|licence| matches!(licence, "MIT" | "Apache-2.0" | "BSD-3-Clause"))
    }

    #[test]
    fn one_of_several_is_enough_and_all_of_several_are_needed() {
        assert_eq!(ask("MIT"), Ok(true));
        assert_eq!(ask("GPL-3.0-only"), Ok(false));
        assert_eq!(ask("GPL-3.0-only OR MIT"), Ok(true));
        assert_eq!(ask("GPL-3.0-only/MIT"), Ok(true));
        assert_eq!(ask("GPL-3.0-only AND MIT"), Ok(false));
        assert_eq!(ask("(MIT OR GPL-2.0-only) AND BSD-3-Clause"), Ok(true));
        assert_eq!(ask("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only"), Ok(true));
    }

    #[test]
    fn and_binds_closer_than_or() {
        assert_eq!(ask("MIT OR GPL-2.0-only AND GPL-3.0-only"), Ok(true));
        assert_eq!(ask("(MIT OR GPL-2.0-only) AND GPL-3.0-only"), Ok(false));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "MIT OR", "(MIT", "MIT)", "AND MIT", "MIT Apache-2.0", "MIT WITH"] {
            assert!(ask(text).is_err(), "{text}");
        }
    }
}
