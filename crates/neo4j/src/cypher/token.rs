//! The words of a statement, and the values in it.

use crate::value::{Time, Value};

/// How deep lists may be nested.
const DEEP: usize = 32;

/// A statement that is being read.
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

/// What is wrong, and where in the statement.
pub(super) type Wrong = (usize, String);

impl<'a> Tokens<'a> {
    pub fn new(text: &'a str) -> Self {
        Tokens { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            match trimmed.starts_with("//") {
                true => self.at += trimmed.find('\n').unwrap_or(trimmed.len()),
                false => return,
            }
        }
    }

    /// Whether the statement ends here.
    pub fn is_done(&mut self) -> bool {
        self.skip();
        self.rest().is_empty()
    }

    /// Takes `words`, between which there may be blanks.
    pub fn take(&mut self, words: &str) -> bool {
        let before = self.at;
        for word in words.split(' ') {
            self.skip();
            if !self.rest().starts_with(word) {
                self.at = before;
                return false;
            }
            self.at += word.len();
        }
        true
    }

    /// Takes `words`, which have to come next.
    ///
    /// # Errors
    /// If something else does.
    pub fn expect(&mut self, words: &str) -> Result<(), Wrong> {
        match self.take(words) {
            true => Ok(()),
            false => Err(self.wrong(&format!("expected {words}"))),
        }
    }

    pub fn wrong(&mut self, what: &str) -> Wrong {
        self.skip();
        let found: String = self.rest().chars().take(24).collect();
        (self.at, if found.is_empty() { format!("{what}, found the end") } else { format!("{what}, found {found:?}") })
    }

    /// A name, in backticks or bare.
    ///
    /// # Errors
    /// If there is none.
    pub fn name(&mut self) -> Result<String, Wrong> {
        self.skip();
        let rest = self.rest();
        if let Some(quoted) = rest.strip_prefix('`') {
            let (mut name, mut chars) = (String::new(), quoted.char_indices().peekable());
            while let Some((at, c)) = chars.next() {
                match c {
                    '`' if chars.next_if(|(_, next)| *next == '`').is_some() => name.push('`'),
                    '`' => {
                        self.at += at + 2;
                        return Ok(name);
                    }
                    c => name.push(c),
                }
            }
            return Err(self.wrong("a name does not end"));
        }
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        match rest.get(..end).filter(|name| !name.is_empty()) {
            Some(name) => {
                self.at += end;
                Ok(name.to_owned())
            }
            None => Err(self.wrong("expected a name")),
        }
    }

    /// A text in quotes, or several with `+` between them.
    fn text(&mut self) -> Result<String, Wrong> {
        let mut out = String::new();
        loop {
            self.expect("\"")?;
            let mut chars = self.rest().char_indices();
            loop {
                let Some((at, c)) = chars.next() else { return Err(self.wrong("a text does not end")) };
                match c {
                    '"' => {
                        self.at += at + 1;
                        break;
                    }
                    '\\' => match chars.next().map(|(_, c)| c) {
                        Some('n') => out.push('\n'),
                        Some('r') => out.push('\r'),
                        Some('t') => out.push('\t'),
                        Some('u') => {
                            let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                            let c = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                            out.push(c.ok_or_else(|| self.wrong("a number of a character is wrong"))?);
                        }
                        Some(c @ ('\\' | '"' | '\'')) => out.push(c),
                        _ => return Err(self.wrong("an escape is not known")),
                    },
                    c => out.push(c),
                }
            }
            if !self.take("+") {
                return Ok(out);
            }
        }
    }

    /// A value.
    ///
    /// # Errors
    /// If there is none.
    pub fn value(&mut self, deep: usize) -> Result<Value, Wrong> {
        self.skip();
        let rest = self.rest();
        if rest.starts_with('"') {
            return self.text().map(Value::Text);
        }
        for (call, time) in [("date(", Time::Date), ("localdatetime(", Time::Local), ("datetime(", Time::Instant)] {
            if self.take(call) {
                let text = self.text()?;
                self.expect(")")?;
                return Ok(Value::Time(time, text));
            }
        }
        if self.take("[") {
            if deep >= DEEP {
                return Err(self.wrong("lists are nested too deep"));
            }
            let mut items = Vec::new();
            if self.take("]") {
                return Ok(Value::List(items));
            }
            loop {
                items.push(self.value(deep + 1)?);
                if !self.take(",") {
                    break;
                }
            }
            self.expect("]")?;
            return Ok(Value::List(items));
        }
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'))).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            "NaN" | "Infinity" | "-Infinity" => Value::Number(word.to_owned()),
            _ if word.parse::<f64>().is_ok() => Value::Number(word.to_owned()),
            _ => return Err(self.wrong("expected a value")),
        };
        self.at += end;
        Ok(value)
    }

    /// A map in braces: names with values.
    ///
    /// # Errors
    /// If it is none.
    pub fn map(&mut self) -> Result<Vec<(String, Value)>, Wrong> {
        self.expect("{")?;
        let mut all = Vec::new();
        if self.take("}") {
            return Ok(all);
        }
        loop {
            let name = self.name()?;
            self.expect(":")?;
            if name.is_empty() {
                return Err(self.wrong("a property has an empty name"));
            }
            if all.iter().any(|(known, _)| *known == name) {
                return Err(self.wrong(&format!("the property {name} comes twice")));
            }
            all.push((name, self.value(0)?));
            if !self.take(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::cypher::{push_name, push_text};

    #[test]
    fn texts_and_names_come_back() {
        for text in [
            "",
            "a",
            "\"q\" 'q'",
            "\\",
            "\\u0041",
            "\\\\u",
            "a\nb\r\t\u{0}\u{85}",
            "日本 — 😀",
            "\u{2028}",
            "${x} // ; `",
        ] {
            let mut out = String::new();
            push_text(&mut out, text);
            assert!(!out.contains("\\\\u"), "{out}");
            assert_eq!(Tokens::new(&out).value(0).unwrap(), Value::Text(text.to_owned()), "{out}");
            for quoted in [true, false] {
                if text.is_empty() {
                    continue;
                }
                out.clear();
                push_name(&mut out, text, quoted);
                assert_eq!(Tokens::new(&out).name().unwrap(), text, "{out}");
            }
        }
    }

    #[test]
    fn values_are_read_or_refused() {
        let read = |text: &str| Tokens::new(text).value(0);
        assert_eq!(read("[1, -2.5e3, true]").unwrap(), {
            let number = |text: &str| Value::Number(text.to_owned());
            Value::List(vec![number("1"), number("-2.5e3"), Value::Bool(true)])
        });
        assert_eq!(read("date(\"2020-01-01\")").unwrap(), Value::Time(Time::Date, "2020-01-01".to_owned()));
        for text in ["", "[1", "x", "\"a", "\"\\x\"", "date(1)", "{a: 1}", "rand()"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&"[".repeat(100)).is_err());
    }
}
