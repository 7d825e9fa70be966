//! What the names of files and of columns say of tables of nodes: `person_knows_person`, `person_id`.

use super::TableFile;
use super::pairs::normal;

/// What the names of columns say of the first end and of the second one, before or behind the name of a table.
const FIRST: &[&str] = &["source", "src", "from", "start", "1", "a"];
const SECOND: &[&str] = &["target", "dst", "dest", "destination", "to", "end", "2", "b"];

/// A table of nodes, and its column with keys.
pub(super) type Nodes<'a> = [(&'a TableFile, &'a str)];

/// What the name of a file says of edges: two tables, and between them a relation or nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    /// Positions of tables of nodes.
    pub tables: [usize; 2],
    /// The words between their names: `user_post` has none.
    pub relation: Option<String>,
    /// How many words are those of tables.
    covered: usize,
}

/// The column of a table that names a table of nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Foreign<'a> {
    pub column: &'a str,
    pub table: usize,
    /// Which end it is, if its name says so.
    side: Option<usize>,
    /// Whether it is called by keys or ends: `country_id`, not `country`.
    pub is_key: bool,
}

/// The columns of the ends of edges, and their tables.
pub(super) type Ends<'a> = ([&'a str; 2], [usize; 2]);

/// Whether two names are one, or singular and plural of one.
pub(super) fn are_alike(one: &str, other: &str) -> bool {
    let is_plural = |long: &str, short: &str| {
        let ies = long.strip_suffix("ies").zip(short.strip_suffix('y')).is_some_and(|(long, short)| long == short);
        ies || ["s", "es"].iter().any(|ending| long.strip_suffix(ending) == Some(short))
    };
    one == other || is_plural(one, other) || is_plural(other, one)
}

/// The tables of nodes with this name.
fn tables_called(name: &str, nodes: &Nodes<'_>) -> Vec<usize> {
    let stems = || nodes.iter().map(|(file, _)| normal(&file.stem)).enumerate();
    let exact: Vec<usize> = stems().filter(|(_, stem)| stem == name).map(|(at, _)| at).collect();
    match exact.is_empty() {
        true => stems().filter(|(_, stem)| are_alike(stem, name)).map(|(at, _)| at).collect(),
        false => exact,
    }
}

/// All that the name of a file may say, those in which more words are names of tables first.
pub(super) fn readings(file: &TableFile, nodes: &Nodes<'_>) -> Vec<Reading> {
    let words: Vec<&str> = file.stem.split(['_', '-', '.', ' ']).collect();
    let of = |words: &[&str]| tables_called(&normal(&words.concat()), nodes);
    let mut all = Vec::new();
    for from in 1..words.len() {
        let sources = of(&words[..from]);
        for to in (from..words.len()).filter(|_| !sources.is_empty()) {
            let relation = words[from..to].join("_");
            // Nothing but the characters between words.
            if to > from && relation.is_empty() {
                continue;
            }
            let relation = Some(relation).filter(|_| to > from);
            let covered = words.len() - (to - from);
            for target in of(&words[to..]) {
                let own = |source: &usize| Reading { tables: [*source, target], relation: relation.clone(), covered };
                all.extend(sources.iter().map(own));
            }
        }
    }
    all.sort_by_key(|reading| std::cmp::Reverse(reading.covered));
    all
}

/// The readings in which the most words are names of tables: `user_group_user` is of user groups and users, not of users alone.
pub(super) fn longest(readings: &[Reading]) -> &[Reading] {
    let Some(first) = readings.first() else { return readings };
    readings.get(..readings.partition_point(|own| own.covered == first.covered)).unwrap_or_default()
}

/// The table that the name of a column names, as `person_id`, `source_person` or `person_id_1`.
fn foreign<'a>(column: &'a str, nodes: &Nodes<'_>) -> Option<Foreign<'a>> {
    let name = normal(column);
    let side = |word: &str| [FIRST, SECOND].iter().position(|words| words.contains(&word));
    let without = |text: &str| -> (String, Option<usize>) {
        let before = FIRST.iter().chain(SECOND).filter(|word| word.len() > 1);
        let before = before.filter_map(|word| Some((text.strip_prefix(word)?, side(word))));
        let behind = FIRST.iter().chain(SECOND).filter_map(|word| Some((text.strip_suffix(word)?, side(word))));
        let cut = before.chain(behind).min_by_key(|(rest, _)| rest.len());
        cut.map_or_else(|| (text.to_owned(), None), |(rest, side)| (rest.to_owned(), side))
    };
    let bare = |text: &str| ["id", "key"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text).to_owned();
    let (outside, own_side) = without(&name);
    let (inside, inner_side) = without(&bare(&name));
    let forms = [(bare(&name), None), (bare(&outside), own_side), (inside, inner_side)];
    forms.into_iter().find_map(|(stem, side)| match tables_called(&stem, nodes).as_slice() {
        [one] if !stem.is_empty() => Some(Foreign { column, table: *one, side, is_key: stem != name }),
        _ => None,
    })
}

/// Whether the forms of a verb in the names of two columns say that the second is the source: `followed_id` and `follower_id`, or one of the two
/// and the relation, `follows`.
pub(super) fn are_backwards(first: &str, second: &str, relation: Option<&str>) -> bool {
    let (first, second) = (normal(first), normal(second));
    let is_one = |rest: &str, ends: &[&str]| ends.iter().any(|end| rest.starts_with(end));
    let (has_it_done, does_it): (&[&str], &[&str]) = (&["ed", "ee"], &["er", "or"]);
    let stem = relation.and_then(|relation| {
        let words: Vec<&str> = relation.split(['_', '-', '.', ' ']).collect();
        // `followed_by` turns it around, and a word beside a verb may be its subject.
        let [verb] = words.as_slice() else { return None };
        let verb = normal(verb);
        let verb = verb.strip_suffix('s').unwrap_or(&verb);
        let verb = verb.strip_suffix('e').unwrap_or(verb);
        (verb.len() > 2).then(|| verb.to_owned())
    });
    if let Some(stem) = &stem {
        let rest = |name: &str, ends: &[&str]| name.strip_prefix(stem.as_str()).is_some_and(|rest| is_one(rest, ends));
        if rest(&first, has_it_done) || rest(&second, does_it) {
            return true;
        }
    }
    // Without the relation, both forms of one verb.
    let alike = first.chars().zip(second.chars()).take_while(|(one, other)| one == other);
    let length: usize = alike.map(|(one, _)| one.len_utf8()).sum();
    let length = if first.get(..length).is_some_and(|alike| alike.ends_with('e')) { length - 1 } else { length };
    let rest = |name: &str, ends: &[&str]| name.get(length..).is_some_and(|rest| is_one(rest, ends));
    length > 2 && rest(&first, has_it_done) && rest(&second, does_it)
}

/// The columns that name tables of nodes.
pub(super) fn foreign_columns<'a>(file: &'a TableFile, nodes: &Nodes<'_>) -> Vec<Foreign<'a>> {
    file.columns.iter().filter_map(|column| foreign(column, nodes)).collect()
}

/// The two columns that name tables, if there are two: the source first, if they say it.
pub(super) fn by_columns<'a>(all: &[Foreign<'a>]) -> Option<Ends<'a>> {
    let [first, second] = all else { return None };
    let (first, second) = match (first.side, second.side) {
        (Some(1), Some(0) | None) | (None, Some(0)) => (second, first),
        _ => (first, second),
    };
    Some(([first.column, second.column], [first.table, second.table]))
}

/// The two columns that name the tables of a reading; where columns do not say which is the source, the reading does.
pub(super) fn by_reading<'a>(all: &[Foreign<'a>], reading: &Reading) -> Option<Ends<'a>> {
    // Of several, those that can be its ends.
    let own: Vec<Foreign<'a>> = match all.len() {
        2 => all.to_vec(),
        _ => all.iter().filter(|one| reading.tables.contains(&one.table)).copied().collect(),
    };
    let (columns, tables) = by_columns(&own)?;
    let (turned, backwards) = ([columns[1], columns[0]], [tables[1], tables[0]]);
    let is_told = own.iter().any(|one| one.side.is_some());
    match () {
        () if tables == reading.tables => Some((columns, tables)),
        () if backwards == reading.tables && !is_told => Some((turned, backwards)),
        // `person_company` does not say of itself which is the source.
        () if backwards == reading.tables && reading.relation.is_none() => Some((columns, tables)),
        () => None,
    }
}
