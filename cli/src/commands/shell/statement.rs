//! Puts lines together to queries.

/// What lines came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    /// A query that goes on.
    More,
    /// An empty line, or the end.
    Nothing,
    /// A query, without the sign at its end.
    Query(String),
    /// A command that begins with a dot, and the rest of its line.
    Command(String, String),
}

/// Lines of a query.
#[derive(Debug, Default)]
pub struct Statement {
    text: String,
    ended: bool,
}

impl Statement {
    /// Whether no query has begun.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether the input is at its end.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Adds a line.
    pub fn add(&mut self, line: &str) -> Said {
        let trimmed = line.trim();
        if self.is_empty() && trimmed.is_empty() {
            return Said::Nothing;
        }
        if self.is_empty()
            && let Some(first) = trimmed.strip_prefix('.')
            && first.starts_with(|letter: char| letter.is_ascii_alphabetic())
        {
            let (word, rest) = trimmed.split_once(char::is_whitespace).unwrap_or((trimmed, ""));
            return Said::Command(word.to_owned(), rest.trim().trim_end_matches(';').trim_end().to_owned());
        }
        if trimmed.is_empty() {
            return self.take();
        }
        if !self.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line.trim_end());
        match trimmed.ends_with(';') {
            true => self.take(),
            false => Said::More,
        }
    }

    /// The input is at its end.
    pub fn end(&mut self) -> Said {
        self.ended = true;
        self.take()
    }

    fn take(&mut self) -> Said {
        let text = std::mem::take(&mut self.text);
        let query = text.trim_end_matches(|letter: char| letter == ';' || letter.is_whitespace());
        if query.trim().is_empty() { Said::Nothing } else { Said::Query(query.to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_ends_with_its_sign_or_an_empty_line() {
        let mut statement = Statement::default();
        assert_eq!(statement.add("\n"), Said::Nothing);
        assert_eq!(statement.add("select 1;\n"), Said::Query("select 1".to_owned()));
        assert_eq!(statement.add("select"), Said::More);
        assert_eq!(statement.add("  1 ; "), Said::Query("select\n  1".to_owned()));
        assert_eq!(statement.add("match (n)"), Said::More);
        // A point is a command only where a query begins.
        assert_eq!(statement.add(".5 return n"), Said::More);
        assert_eq!(statement.add(""), Said::Query("match (n)\n.5 return n".to_owned()));
        assert_eq!(statement.add(".schema  person;"), Said::Command(".schema".to_owned(), "person".to_owned()));
        assert_eq!(statement.add(";"), Said::Nothing);
        assert_eq!(statement.add("ask {}"), Said::More);
        assert_eq!(statement.end(), Said::Query("ask {}".to_owned()));
        assert!(statement.has_ended());
    }
}
