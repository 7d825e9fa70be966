//! Writes the subset of YAML that every published reader of GraphAr understands in the same way.
//!
//! Block style, lists two spaces deeper than their key, printable ASCII without `~`, no empty texts. The C++ library's
//! own parser cuts quoted texts at a second `#`, reads a second `:` in a quoted list item as a key, and knows no
//! escapes, so a text that needs them is refused instead of written wrongly.

use std::fmt::Write;

use isomorph_error::{Error, Place, Result};

use crate::rules;

/// Words that some readers would read as null or a boolean.
const WORDS: [&str; 10] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan"];

/// Returns the spelling of `text` as the value of a key.
///
/// # Errors
/// Returns [`rules::META_TEXT`] if no spelling is read back unchanged by every reader.
pub(crate) fn check_text(text: &str) -> Result<String> {
    spell(text, false)
}

/// Returns whether an unknown key is written again: one line of text is; a list or mapping, whose JSON is
/// `text`, is not.
pub(crate) fn is_written_again(key: &str, text: &str) -> bool {
    // Keys are never quoted in the YAML that every reader understands.
    check_text(key).is_ok_and(|spelled| spelled == key) && check_text(text).is_ok() && !text.starts_with(['[', '{'])
}

fn spell(text: &str, in_list: bool) -> Result<String> {
    let refuse = |why: &str| {
        let shown: String = text.chars().take(60).collect();
        Err(Error::broken(&rules::META_TEXT, format!("{shown:?}: {why}")))
    };
    if text.is_empty() {
        return refuse("it is empty");
    }
    if text.contains(|c: char| !matches!(c, ' '..='}')) {
        return refuse("it contains ~ or a character outside printable ASCII");
    }
    if is_plain(text) {
        return Ok(text.to_owned());
    }
    let colons = if in_list { text.matches(':').count() } else { 0 };
    if text.matches('#').count() > 1 || colons > 1 {
        return refuse("it contains more than one # or :");
    }
    if !text.contains(['"', '\\']) {
        return Ok(format!("\"{text}\""));
    }
    if !text.contains(['\'', '#', ':']) && !text.ends_with('\\') {
        return Ok(format!("'{text}'"));
    }
    refuse("it contains both quotes and special characters")
}

/// Returns whether a text never needs quotes: it begins with a letter or underscore and has no special characters.
fn is_plain(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-./()<>+, ".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(allowed)
        && !text.ends_with(' ')
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

/// Writes one mapping.
#[derive(Debug, Default)]
pub(crate) struct Emitter {
    out: String,
    indent: usize,
    /// Whether the next key begins a list item.
    item: bool,
}

impl Emitter {
    /// Returns the finished text.
    pub fn finish(self) -> String {
        self.out
    }

    fn begin(&mut self, key: &str) {
        let dash = std::mem::take(&mut self.item);
        let spaces = if dash { self.indent - 2 } else { self.indent };
        let _ = write!(self.out, "{:spaces$}{}{key}:", "", if dash { "- " } else { "" });
    }

    /// Writes `key: text`.
    ///
    /// # Errors
    /// As [`check_text`].
    pub fn text(&mut self, key: &str, text: &str) -> Result<()> {
        let spelled = spell(text, false).map_err(|error| error.at(Place::field(key)))?;
        self.begin(key);
        let _ = writeln!(self.out, " {spelled}");
        Ok(())
    }

    /// Writes `key: value` for numbers and booleans.
    pub fn value(&mut self, key: &str, value: impl std::fmt::Display) {
        self.begin(key);
        let _ = writeln!(self.out, " {value}");
    }

    /// Writes `key:` and a list of texts below it; nothing for an empty list.
    ///
    /// # Errors
    /// As [`check_text`].
    pub fn texts<'t>(&mut self, key: &str, texts: impl IntoIterator<Item = &'t str>) -> Result<()> {
        let mut texts = texts.into_iter().peekable();
        if texts.peek().is_none() {
            return Ok(());
        }
        self.begin(key);
        self.out.push('\n');
        let spaces = self.indent + 2;
        for text in texts {
            let spelled = spell(text, true).map_err(|error| error.at(Place::field(key)))?;
            let _ = writeln!(self.out, "{:spaces$}- {spelled}", "");
        }
        Ok(())
    }

    /// Writes `key:` and a list of mappings below it; nothing for an empty list.
    ///
    /// # Errors
    /// Returns the errors of `write`.
    pub fn each<T>(
        &mut self,
        key: &str,
        items: &[T],
        mut write: impl FnMut(&mut Emitter, &T) -> Result<()>,
    ) -> Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        self.begin(key);
        self.out.push('\n');
        self.indent += 4;
        for item in items {
            self.item = true;
            write(self, item)?;
        }
        self.indent -= 4;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn texts_get_the_quotes_they_need() {
        for (text, spelled) in [
            ("person", "person"),
            ("gar/v1 (t1,t2)", "gar/v1 (t1,t2)"),
            ("list<int64>", "list<int64>"),
            ("null", "\"null\""),
            ("12", "\"12\""),
            (" a ", "\" a \""),
            ("a: b", "\"a: b\""),
            ("it's", "\"it's\""),
            ("say \"x\"", "'say \"x\"'"),
            ("a\\b", "'a\\b'"),
            ("-", "\"-\""),
        ] {
            assert_eq!(check_text(text).unwrap(), spelled);
        }
        for text in ["", "\u{e9}", "a~b", "a\nb", "#a#", "it's \"x\"", "a\\", "tab\t"] {
            assert!(check_text(text).is_err(), "{text:?}");
        }
        assert!(check_text("a:b:c").is_ok());
        assert!(spell("a:b:c", true).is_err());
    }

    #[test]
    fn lists_are_deeper_than_their_key() {
        let mut out = Emitter::default();
        out.text("name", "g").unwrap();
        out.texts("labels", ["a", "b c"]).unwrap();
        out.each("groups", &["x", "z"], |out, name| {
            out.text("name", name)?;
            out.each("inner", &[1], |out, number| {
                out.value("n", number);
                out.value("m", true);
                Ok(())
            })
        })
        .unwrap();
        let expected = "name: g\nlabels:\n  - a\n  - b c\ngroups:\n  - name: x\n    inner:\n      - n: 1\n        m: true\n  - name: z\n    inner:\n      - n: 1\n        m: true\n";
        assert_eq!(out.finish(), expected);
    }
}
