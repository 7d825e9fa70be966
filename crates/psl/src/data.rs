//! The data file: YAML with predicates and the names of files.

use isomorph_error::{Error, Place, Result};

use crate::rules;

/// What the atoms of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Observations,
    Targets,
    Truth,
}

impl Role {
    pub const ALL: [Role; 3] = [Role::Observations, Role::Targets, Role::Truth];

    /// The name of its section.
    pub fn section(self) -> &'static str {
        match self {
            Role::Observations => "observations",
            Role::Targets => "targets",
            Role::Truth => "truth",
        }
    }

    /// What is appended to a predicate in the name of a relation.
    pub fn suffix(self) -> &'static str {
        match self {
            Role::Observations => "",
            Role::Targets => ":target",
            Role::Truth => ":truth",
        }
    }

    /// A predicate and the role of its atoms, from the name of a relation.
    pub fn split(relation: &str) -> (&str, Role) {
        let of = |role: Role| Some((relation.strip_suffix(role.suffix())?, role));
        of(Role::Targets).or_else(|| of(Role::Truth)).unwrap_or((relation, Role::Observations))
    }
}

/// A predicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Predicate {
    pub name: String,
    pub arity: usize,
    /// `open` or `closed`, if it is said.
    pub kind: Option<String>,
}

/// A file of atoms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AtomFile {
    pub predicate: usize,
    pub role: Role,
    pub name: String,
}

/// A data file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Data {
    pub predicates: Vec<Predicate>,
    pub files: Vec<AtomFile>,
}

/// Whether a text begins as data files do.
pub(crate) fn begins(text: &str) -> bool {
    let mut lines = text.lines().map(content).filter(|line| !line.trim().is_empty());
    lines.any(|line| line.trim_end() == "predicates:")
        && text.lines().map(content).any(|line| {
            let name = line.trim().split_once(':').map_or("", |(name, _)| name);
            name.rsplit_once('/').is_some_and(|(_, arity)| arity.parse::<usize>().is_ok())
        })
}

/// A line without its comment.
fn content(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.find(" #").and_then(|at| line.get(..at)).unwrap_or(line)
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inside = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

/// The predicates and files of a data file.
///
/// # Errors
/// [`rules::DATA`] for what is not understood.
pub(crate) fn parse(text: &str, file: &str) -> Result<Data> {
    let mut data = Data::default();
    let mut section = String::new();
    let mut of: Option<usize> = None;
    for (at, line) in text.lines().enumerate() {
        let wrong = |what: String| Error::broken(&rules::DATA, what).at(Place::file(file).line(at as u64 + 1));
        let line = content(line).trim_end();
        if line.trim().is_empty() {
            continue;
        }
        if !line.starts_with([' ', '\t', '-']) {
            let name = line.strip_suffix(':').ok_or_else(|| wrong(format!("{line:?} is not a section")))?;
            if name != "predicates" && Role::ALL.iter().all(|role| role.section() != name) {
                return Err(wrong(format!("{name:?} is not one of predicates, observations, targets, truth")));
            }
            (section, of) = (name.to_owned(), None);
            continue;
        }
        let line = line.trim();
        let role = Role::ALL.into_iter().find(|role| role.section() == section);
        if let Some(item) = line.strip_prefix("- ") {
            let (Some(predicate), Some(role)) = (of, role) else {
                return Err(wrong("an item belongs to no predicate".to_owned()));
            };
            data.files.push(AtomFile { predicate, role, name: unquoted(item).to_owned() });
            continue;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| wrong(format!("{line:?} is not NAME: VALUE")))?;
        let (name, value) = (unquoted(name), value.trim());
        let Some(role) = role else {
            let (name, arity) = name.rsplit_once('/').ok_or_else(|| wrong(format!("{name:?} has no arity")))?;
            let arity = arity.parse().map_err(|_| wrong(format!("{arity:?} is not a number of arguments")))?;
            if data.predicates.iter().any(|known| known.name.eq_ignore_ascii_case(name)) {
                return Err(wrong(format!("the predicate {name} comes twice")));
            }
            let kind = Some(unquoted(value).to_owned()).filter(|kind| !kind.is_empty());
            if let Some(other) = kind.as_ref().filter(|kind| !["open", "closed"].contains(&kind.as_str())) {
                return Err(wrong(format!("{other:?} is neither open nor closed")));
            }
            data.predicates.push(Predicate { name: name.to_owned(), arity, kind });
            continue;
        };
        let predicate = data.predicates.iter().position(|known| known.name.eq_ignore_ascii_case(name));
        let predicate = predicate.ok_or_else(|| wrong(format!("there is no predicate {name}")))?;
        of = Some(predicate);
        let names: Vec<&str> = match value.strip_prefix('[').and_then(|all| all.strip_suffix(']')) {
            Some(all) => all.split(',').map(unquoted).collect(),
            None => vec![unquoted(value)],
        };
        let files = names.into_iter().filter(|name| !name.is_empty());
        data.files.extend(files.map(|name| AtomFile { predicate, role, name: name.to_owned() }));
    }
    Ok(data)
}

/// The text of a data file.
pub(crate) fn written(data: &Data) -> String {
    let mut text = String::from("predicates:\n");
    for predicate in &data.predicates {
        let kind = predicate.kind.as_deref().unwrap_or("closed");
        text.push_str(&format!("  {}/{}: {kind}\n", predicate.name, predicate.arity));
    }
    for role in Role::ALL {
        let files: Vec<&AtomFile> = data.files.iter().filter(|file| file.role == role).collect();
        if files.is_empty() {
            continue;
        }
        text.push_str(&format!("\n{}:\n", role.section()));
        for (at, predicate) in data.predicates.iter().enumerate() {
            let own: Vec<&str> =
                files.iter().filter(|file| file.predicate == at).map(|file| file.name.as_str()).collect();
            match own.as_slice() {
                [] => {}
                [one] => text.push_str(&format!("  {}: {one}\n", predicate.name)),
                several => text.push_str(&format!("  {}: [{}]\n", predicate.name, several.join(", "))),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TEXT: &str = "# the program\npredicates:\n  Knows/2: open\n  'Old/1': closed # kind\n\nobservations:\n  Knows: a.txt\n  Old: [b.txt, \"c.txt\"]\ntargets:\n  Knows:\n    - d.txt\n    - e.txt\n";

    #[test]
    fn a_data_file_is_read_and_written() {
        assert!(begins(TEXT));
        assert!(!begins("predicates: 3\n") && !begins("a: b\n"));
        let data = parse(TEXT, "x.data").unwrap();
        let files: Vec<(usize, Role, &str)> =
            data.files.iter().map(|file| (file.predicate, file.role, file.name.as_str())).collect();
        use Role::{Observations, Targets};
        let expected = [
            (0, Observations, "a.txt"),
            (1, Observations, "b.txt"),
            (1, Observations, "c.txt"),
            (0, Targets, "d.txt"),
            (0, Targets, "e.txt"),
        ];
        assert_eq!(files, expected);
        assert_eq!(parse(&written(&data), "y.data").unwrap(), data);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, line) in [
            ("predicates:\n  Knows: open\n", 2),
            ("predicates:\n  Knows/x: open\n", 2),
            ("predicates:\n  Knows/2: ajar\n", 2),
            ("predicates:\n  K/2: open\nobservations:\n  L: a.txt\n", 4),
            ("rules:\n", 1),
            ("predicates:\n  K/2: open\n  k/1: open\n", 3),
        ] {
            let error = parse(text, "x.data").unwrap_err();
            assert_eq!(error.broken_rule().map(|rule| rule.id), Some("PSL-DATA"), "{text}");
            assert!(error.place().to_string().contains(&line.to_string()), "{text}: {}", error.place());
        }
    }
}
