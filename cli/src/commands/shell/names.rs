//! Names that complete a word.

use std::collections::BTreeSet;

use serde_json::Value;

/// The names of tables and columns, once they were asked for.
#[derive(Debug, Default)]
pub struct Names(Option<BTreeSet<String>>);

const COMMANDS: [&str; 5] = [".help", ".language", ".quit", ".schema", ".tables"];

impl Names {
    /// The names that begin with `word`; `read` gives rows of tables and columns as lines of JSON, at the first call.
    pub fn beginning_with(&mut self, word: &str, read: impl FnOnce() -> Option<String>) -> Vec<String> {
        if word.starts_with('.') {
            return COMMANDS.iter().filter(|name| name.starts_with(word)).map(|name| (*name).to_owned()).collect();
        }
        let names = self.0.get_or_insert_with(|| of_lines(&read().unwrap_or_default()));
        let small = word.to_lowercase();
        names.iter().filter(|name| name.to_lowercase().starts_with(&small)).cloned().collect()
    }
}

fn of_lines(lines: &str) -> BTreeSet<String> {
    let row = |line: &str| serde_json::from_str::<Value>(line).ok();
    let texts = |row: Value| -> Vec<String> {
        let cells = row.as_object().into_iter().flat_map(|row| row.values());
        cells.filter_map(|cell| cell.as_str().map(str::to_owned)).collect()
    };
    lines.lines().filter_map(row).flat_map(texts).collect()
}

/// What all of several names begin with.
pub fn common(names: &[String]) -> String {
    let Some((first, rest)) = names.split_first() else { return String::new() };
    let same = |length: usize| rest.iter().all(|name| name.get(..length) == first.get(..length));
    let ends = first.char_indices().map(|(at, letter)| at + letter.len_utf8());
    ends.take_while(|end| same(*end)).last().and_then(|end| first.get(..end)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_once() {
        let mut names = Names::default();
        let lines = "{\"table_name\":\"person\",\"column_name\":\"firstName\"}\n{\"table_name\":\"person\",\"column_name\":\"für\"}\n";
        assert_eq!(names.beginning_with("F", || Some(lines.to_owned())), ["firstName", "für"]);
        assert_eq!(names.beginning_with("p", || None), ["person"]);
        assert_eq!(names.beginning_with(".s", || None), [".schema"]);
        let of = |names: &[&str]| common(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            (of(&["für", "fünf"]), of(&["a"]), of(&["a", "b"]), of(&[])),
            ("fü".to_owned(), "a".to_owned(), String::new(), String::new())
        );
    }
}
