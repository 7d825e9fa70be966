//! Pairs of a node and a layer in Python syntax: `('a', ('x',))`.
//!
//! Older libraries wrote members of hyperedges this way, and the published library still reads every text of this form
//! as such a pair, even if it is an id. This parser accepts slightly less than Python's `literal_eval`: no bytes, sets,
//! dictionaries, complex numbers, or string prefixes.

use std::iter::Peekable;
use std::str::Chars;

/// Maximum nesting depth.
const DEPTH: usize = 64;

/// A literal.
#[derive(Debug, Clone, PartialEq)]
enum Literal {
    Text(String),
    Tuple(Vec<Literal>),
    List(Vec<Literal>),
    Other,
}

impl Literal {
    /// Returns whether a set can contain it.
    fn is_hashable(&self) -> bool {
        match self {
            Literal::List(_) => false,
            Literal::Tuple(items) => items.iter().all(Literal::is_hashable),
            Literal::Text(_) | Literal::Other => true,
        }
    }
}

/// The meaning of a text of this form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pair {
    /// A node, and the labels of a layer.
    Placement(String, Vec<String>),
    /// A value that cannot be the name of a node.
    Nobody,
    /// A value that a set cannot contain.
    Unhashable,
}

/// Returns the pair that a text is read as, if it is read as one.
pub(super) fn pair(text: &str) -> Option<Pair> {
    if !text.starts_with('(') || !text.ends_with(')') {
        return None;
    }
    let mut reader = Reader { rest: text.chars().peekable() };
    let whole = reader.literal(0)?;
    reader.blanks();
    let Literal::Tuple(items) = whole else { return None };
    let [node, Literal::Tuple(labels) | Literal::List(labels)] = items.as_slice() else { return None };
    if reader.rest.peek().is_some() {
        return None;
    }
    if !node.is_hashable() || !labels.iter().all(Literal::is_hashable) {
        return Some(Pair::Unhashable);
    }
    let text = |literal: &Literal| match literal {
        Literal::Text(text) => Some(text.clone()),
        _ => None,
    };
    let labels = labels.iter().map(text).collect::<Option<Vec<String>>>();
    Some(match text(node).zip(labels) {
        Some((node, labels)) => Pair::Placement(node, labels),
        None => Pair::Nobody,
    })
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        while self.rest.next_if(|c| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c')).is_some() {}
    }

    fn literal(&mut self, depth: usize) -> Option<Literal> {
        self.blanks();
        match *self.rest.peek()? {
            '(' if depth < DEPTH => self.items(')', depth),
            '[' if depth < DEPTH => self.items(']', depth),
            quote @ ('\'' | '"') => {
                let mut text = self.text(quote)?;
                // Adjacent strings are concatenated.
                loop {
                    self.blanks();
                    match self.rest.peek() {
                        Some(quote @ ('\'' | '"')) => {
                            let quote = *quote;
                            text.push_str(&self.text(quote)?);
                        }
                        _ => return Some(Literal::Text(text)),
                    }
                }
            }
            _ => self.word(),
        }
    }

    /// Parses items up to the closing bracket. A single item in round brackets without a comma is that item itself.
    fn items(&mut self, end: char, depth: usize) -> Option<Literal> {
        self.rest.next()?;
        let (mut items, mut commas) = (Vec::new(), 0);
        loop {
            self.blanks();
            if self.rest.next_if_eq(&end).is_some() {
                break;
            }
            if commas < items.len() {
                return None;
            }
            items.push(self.literal(depth + 1)?);
            self.blanks();
            commas += usize::from(self.rest.next_if_eq(&',').is_some());
        }
        match end {
            ')' if commas == 0 && items.len() == 1 => items.pop(),
            ')' => Some(Literal::Tuple(items)),
            _ => Some(Literal::List(items)),
        }
    }

    fn text(&mut self, quote: char) -> Option<String> {
        self.rest.next()?;
        let mut text = String::new();
        loop {
            match self.rest.next()? {
                '\n' | '\r' => return None,
                '\\' => match self.rest.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'x' => text.push(self.code(2)?),
                    'u' => text.push(self.code(4)?),
                    'U' => text.push(self.code(8)?),
                    own @ ('\\' | '\'' | '"') => text.push(own),
                    other => text.extend(['\\', other]),
                },
                own if own == quote => return Some(text),
                own => text.push(own),
            }
        }
    }

    fn code(&mut self, digits: usize) -> Option<char> {
        let mut code = 0u32;
        for _ in 0..digits {
            code = code.checked_mul(16)? + self.rest.next()?.to_digit(16)?;
        }
        char::from_u32(code)
    }

    /// Parses a number, a boolean, or `None`.
    fn word(&mut self) -> Option<Literal> {
        let mut word = String::new();
        while let Some(own) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-')) {
            word.push(own);
        }
        let is_name = matches!(word.as_str(), "None" | "True" | "False");
        let is_number = || {
            let digits = word.trim_start_matches(['+', '-']);
            digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
                && digits.replace('_', "").parse::<f64>().is_ok()
        };
        (is_name || is_number()).then_some(Literal::Other)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_python_takes_for_pairs() {
        let placed = |node: &str, labels: &[&str]| {
            Some(Pair::Placement(node.to_owned(), labels.iter().map(|label| (*label).to_owned()).collect()))
        };
        assert_eq!(pair("('a',('b',))"), placed("a", &["b"]));
        assert_eq!(pair("('a', ())"), placed("a", &[]));
        assert_eq!(pair("( 'a' , [ ] )"), placed("a", &[]));
        assert_eq!(pair("(('a', [\"x\", 'y' 'z',],))"), placed("a", &["x", "yz"]));
        assert_eq!(pair(r"('it\'s \x41', ('\u00e4',),)"), placed("it's A", &["\u{e4}"]));
        assert_eq!(pair("((1,2),(3,))"), Some(Pair::Nobody));
        assert_eq!(pair("(None, (-1_0.5e3, True))"), Some(Pair::Nobody));
        assert_eq!(pair("([1], ('b',))"), Some(Pair::Unhashable));
        assert_eq!(pair("('a', ([],))"), Some(Pair::Unhashable));
    }

    #[test]
    fn other_texts_are_no_pairs() {
        for text in [
            "('a', ('b'))",
            "('a', 'b')",
            "('a',('b',)",
            "('a')('b',)",
            "(a, ('b',))",
            "('a', ('b',), 1)",
            "('a' ('b',))",
            "('a',, ('b',))",
            " ('a', ('b',))",
            "(a)",
            "()",
            "(,)",
            "('a', ('b\n',))",
            "(nan, ('b',))",
        ] {
            assert_eq!(pair(text), None, "{text}");
        }
        assert_eq!(pair(&format!("({}('b',)", "(".repeat(1000))), None);
        assert_eq!(pair(&format!("{}{}", "(".repeat(100_000), ")".repeat(100_000))), None);
    }
}
