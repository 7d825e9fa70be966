//! Names that complete a word.

use std::collections::BTreeSet;

/// The names of tables and columns, once they were asked for.
#[derive(Debug, Default)]
pub struct Names(Option<BTreeSet<String>>);

const COMMANDS: [&str; 6] = [".help", ".language", ".quit", ".reload", ".schema", ".tables"];

impl Names {
    /// The names that begin with `word`; `read` gives all names, at the first call.
    pub fn beginning_with(&mut self, word: &str, read: impl FnOnce() -> Vec<String>) -> Vec<String> {
        if word.starts_with('.') {
            return COMMANDS.iter().filter(|name| name.starts_with(word)).map(|name| (*name).to_owned()).collect();
        }
        let names = self.0.get_or_insert_with(|| read().into_iter().collect());
        let small = word.to_lowercase();
        names.iter().filter(|name| name.to_lowercase().starts_with(&small)).cloned().collect()
    }
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
        let read = || ["person", "firstName", "für"].map(str::to_owned).to_vec();
        assert_eq!(names.beginning_with("F", read), ["firstName", "für"]);
        assert_eq!(names.beginning_with("p", Vec::new), ["person"]);
        assert_eq!(names.beginning_with(".s", Vec::new), [".schema"]);
        let of = |names: &[&str]| common(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            (of(&["für", "fünf"]), of(&["a"]), of(&["a", "b"]), of(&[])),
            ("fü".to_owned(), "a".to_owned(), String::new(), String::new())
        );
    }
}
