//! A table for each type, as most people write them: `person.parquet` with `id`, and `person_knows_person.parquet` with `source` and `target`; or
//! `knows.parquet`, where its columns or a single table of nodes tell what it connects.

use isomorph_error::{Error, Result};

use super::pairs::{INIT, NO_ENDS, are_weak, directions, named_ends, normal};
use super::{Guess, TableFile};
use crate::sql::{Hints, Properties, TableOptions};

/// What the names of columns say of the first end and of the second one, before or behind the name of a table.
const FIRST: &[&str] = &["source", "src", "from", "start", "1", "a"];
const SECOND: &[&str] = &["target", "dst", "dest", "destination", "to", "end", "2", "b"];

/// The most candidates that an error names.
const SHOWN: usize = 8;

/// Edges whose columns are known.
struct Edges<'a> {
    file: &'a TableFile,
    relation: String,
    columns: [&'a str; 2],
    /// Positions of tables of nodes.
    tables: [usize; 2],
    why: &'static str,
}

/// A name as part of which the tables that edges connect are named: `person_knows_person`.
struct Named {
    tables: [usize; 2],
    relation: String,
}

/// The graph of tables that are one for each type of nodes and of edges; with `draft`, ends that could be several tables are the first one.
///
/// # Errors
/// When edges could connect several tables, or several pairs of columns could be their ends.
pub(super) fn guess(files: &[TableFile], draft: bool) -> Result<Option<Guess>> {
    let keyed: Vec<(&TableFile, &str)> = files.iter().filter_map(|file| Some((file, key(file)?))).collect();
    // A table that has a key and ends is one of edges, unless its ends may be anything else.
    let may_be_node = |file: &TableFile| matches!(named_ends(file), Ok(None)) || are_weak(file);
    let nodes: Vec<(&TableFile, &str)> = keyed.into_iter().filter(|(file, _)| may_be_node(file)).collect();
    let is_edge = |file: &&TableFile| {
        let is_keyed = nodes.iter().any(|(node, _)| node.name == file.name);
        // Of a table with a key, only its name and its columns together say that it has edges.
        !is_keyed || names(file, &nodes).iter().any(|named| by_table(file, &nodes, Some(named.tables)).is_some())
    };
    let edges: Vec<&TableFile> = files.iter().filter(is_edge).collect();
    let nodes: Vec<(&TableFile, &str)> =
        nodes.into_iter().filter(|(file, _)| edges.iter().all(|edge| edge.name != file.name)).collect();
    if nodes.is_empty() {
        return Ok(None);
    }
    let mut found = Vec::new();
    for file in edges {
        found.extend(edges_of(file, &nodes, draft)?);
    }
    if found.is_empty() {
        return Ok(None);
    }
    let mut guess = Guess::new("a table for each type");
    let mut aliases = Vec::with_capacity(nodes.len());
    for (at, (file, key)) in nodes.iter().enumerate() {
        if let Some((other, _)) = nodes.iter().take(at).find(|(other, _)| other.stem.eq_ignore_ascii_case(&file.stem)) {
            return Err(twice(other, file));
        }
        let table = guess.table(file, TableOptions::default(), Hints::default());
        guess.vertex(table.clone(), key, &file.stem, Properties::All);
        guess.tell(file, format!("nodes {}: key {key}", file.stem));
        aliases.push(table);
    }
    for (at, edges) in found.iter().enumerate() {
        let same =
            |other: &&Edges<'_>| other.tables == edges.tables && other.relation.eq_ignore_ascii_case(&edges.relation);
        if let Some(other) = found.iter().take(at).find(same) {
            return Err(twice(other.file, edges.file));
        }
        let Edges { file, relation, columns: [from, to], tables, why } = edges;
        let hints = Hints { directed: directions(file), ..Hints::default() };
        let own = guess.table(file, TableOptions::default(), hints);
        let [Some(source), Some(target)] = tables.map(|at| aliases.get(at).cloned()) else { continue };
        guess.edge(own, [(from, &source), (to, &target)], relation, Properties::All);
        guess.tell(file, format!("edges {relation} from {from} in {source} to {to} in {target}, {why}"));
    }
    Ok(Some(guess))
}

fn twice(one: &TableFile, other: &TableFile) -> Error {
    Error::usage(format!("{} and {} are tables of one type", one.name, other.name))
        .hint("remove one of them from the directory")
        .hint("write a mapping file, graph.pgq, that says which is meant")
}

/// The column with the keys of a table of nodes, by its name.
fn key(file: &TableFile) -> Option<&str> {
    let own = normal(&file.stem);
    let is_own = |name: &str| name.strip_suffix("id").is_some_and(|name| !name.is_empty() && are_alike(name, &own));
    let of = |fits: &dyn Fn(&str) -> bool| {
        let mut all = file.columns.iter().filter(|column| fits(&normal(column)));
        all.next().filter(|_| all.next().is_none()).map(String::as_str)
    };
    ["id", "key", "nodeid", "vertexid"].iter().find_map(|wanted| of(&|name| name == *wanted)).or_else(|| of(&is_own))
}

/// Whether two names are one, or singular and plural of one.
fn are_alike(one: &str, other: &str) -> bool {
    let is_plural = |long: &str, short: &str| {
        let ies = long.strip_suffix("ies").zip(short.strip_suffix('y')).is_some_and(|(long, short)| long == short);
        ies || ["s", "es"].iter().any(|ending| long.strip_suffix(ending) == Some(short))
    };
    one == other || is_plural(one, other) || is_plural(other, one)
}

/// The tables of nodes with this name.
fn tables_called(name: &str, nodes: &[(&TableFile, &str)]) -> Vec<usize> {
    let stems = || nodes.iter().map(|(file, _)| normal(&file.stem)).enumerate();
    let exact: Vec<usize> = stems().filter(|(_, stem)| stem == name).map(|(at, _)| at).collect();
    match exact.is_empty() {
        true => stems().filter(|(_, stem)| are_alike(stem, name)).map(|(at, _)| at).collect(),
        false => exact,
    }
}

/// The ways in which the name of a file has the names of two tables and a relation between them.
fn names(file: &TableFile, nodes: &[(&TableFile, &str)]) -> Vec<Named> {
    let words: Vec<&str> = file.stem.split(['_', '-', '.', ' ']).collect();
    let mut all = Vec::new();
    for from in 1..words.len() {
        for to in from + 1..words.len() {
            let (source, target) = (normal(&words[..from].concat()), normal(&words[to..].concat()));
            let relation = words[from..to].join("_");
            if relation.is_empty() {
                continue;
            }
            for source in tables_called(&source, nodes) {
                let own = |target| Named { tables: [source, target], relation: relation.clone() };
                all.extend(tables_called(&target, nodes).into_iter().map(own));
            }
        }
    }
    all
}

/// The two tables whose names alone are that of a file: `user_post`.
fn pair_of_name(file: &TableFile, nodes: &[(&TableFile, &str)]) -> Option<[usize; 2]> {
    let words: Vec<&str> = file.stem.split(['_', '-', '.', ' ']).collect();
    let mut all = (1..words.len()).flat_map(|at| {
        let of = |words: &[&str]| tables_called(&normal(&words.concat()), nodes);
        let targets = of(&words[at..]);
        of(&words[..at])
            .into_iter()
            .flat_map(move |source| targets.clone().into_iter().map(move |target| [source, target]))
    });
    all.next().filter(|_| all.next().is_none())
}

/// The table that the name of a column names, as `person_id`, `source_person` or `person_id_1`, and which end that is, if it says so.
fn table_of(column: &str, nodes: &[(&TableFile, &str)]) -> Option<(usize, Option<usize>)> {
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
        [one] if !stem.is_empty() => Some((*one, side)),
        _ => None,
    })
}

/// The two columns whose names name tables, those of `wanted` if they are known.
fn by_table<'a>(
    file: &'a TableFile,
    nodes: &[(&TableFile, &str)],
    wanted: Option<[usize; 2]>,
) -> Option<([&'a str; 2], [usize; 2])> {
    let of = |column: &'a String| table_of(column, nodes).map(|(table, side)| (column.as_str(), table, side));
    let all: Vec<(&str, usize, Option<usize>)> = file.columns.iter().filter_map(of).collect();
    let [first, second] = all.as_slice() else { return None };
    let (first, second) = match (first.2, second.2, wanted) {
        (Some(1), Some(0) | None, _) | (None, Some(0), _) => (second, first),
        (None, None, Some([source, _])) if first.1 != source => (second, first),
        _ => (first, second),
    };
    let tables = [first.1, second.1];
    wanted.is_none_or(|wanted| wanted == tables).then_some(([first.0, second.0], tables))
}

/// The edges of a file, if it has some.
fn edges_of<'a>(file: &'a TableFile, nodes: &[(&TableFile, &str)], draft: bool) -> Result<Option<Edges<'a>>> {
    let named = names(file, nodes);
    let shown = |tables: &[usize; 2]| {
        let stem = |at: usize| nodes.get(at).map_or("", |(file, _)| file.stem.as_str());
        format!("{} to {}", stem(tables[0]), stem(tables[1]))
    };
    let several = |what: String| {
        let error = Error::usage(what).at(file.name.as_str());
        Err(error
            .hint("call the columns by their tables, person_id and company_id, or the file person_worksAt_company")
            .hint(INIT))
    };
    let known = match named.as_slice() {
        [] => None,
        [one] => Some(one),
        [first, ..] => match named.iter().find(|named| by_table(file, nodes, Some(named.tables)).is_some()) {
            Some(told) => Some(told),
            None if draft => Some(first),
            None => {
                let all: Vec<String> = named
                    .iter()
                    .take(SHOWN)
                    .map(|named| format!("{} from {}", named.relation, shown(&named.tables)))
                    .collect();
                return several(format!("the name of the table could mean several relations: {}", all.join("; ")));
            }
        },
    };
    let relation = known.map_or_else(|| file.stem.clone(), |named| named.relation.clone());
    let tables = known.map(|named| named.tables);
    // `user_post` with `post_id, user_id` is from users to posts.
    let ordered = by_table(file, nodes, tables.or_else(|| pair_of_name(file, nodes)));
    if let Some((columns, tables)) = ordered.or_else(|| by_table(file, nodes, tables)) {
        return Ok(Some(Edges { file, relation, columns, tables, why: "by the names of columns" }));
    }
    let pair = match named_ends(file) {
        Err(_) if draft => None,
        found => found?,
    };
    let first_two = || match file.columns.as_slice() {
        [first, second, ..] if [first, second].iter().all(|name| !NO_ENDS.contains(&normal(name).as_str())) => {
            Some((first.as_str(), second.as_str()))
        }
        _ => None,
    };
    let (columns, why) = match (pair, tables) {
        (Some((source, target)), _) => ([source, target], "by their names"),
        (None, Some(_)) => match first_two() {
            Some((source, target)) => ([source, target], "the first two columns"),
            None => {
                let what = format!(
                    "the name of the table says that it has edges, and no columns are called source and target: {}",
                    file.columns.join(", ")
                );
                return Err(Error::usage(what)
                    .at(file.name.as_str())
                    .hint("rename the columns to source and target")
                    .hint(INIT));
            }
        },
        (None, None) => return Ok(None),
    };
    let tables = match (tables, nodes) {
        (Some(tables), _) => tables,
        (None, [_]) => [0, 0],
        (None, _) if draft => [0, 0],
        (None, several_tables) => {
            let all: Vec<&str> = several_tables.iter().take(SHOWN).map(|(file, _)| file.stem.as_str()).collect();
            let what = format!("{} and {} could be keys of several tables: {}", columns[0], columns[1], all.join(", "));
            return several(what);
        }
    };
    Ok(Some(Edges { file, relation, columns, tables, why }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use isomorph_tables::Encoding;

    use super::*;

    fn files(all: &[(&str, &[&str])]) -> Vec<TableFile> {
        let of = |(stem, columns): &(&str, &[&str])| {
            let columns = columns.iter().map(|name| (*name).to_owned()).collect();
            TableFile::new(format!("{stem}.parquet"), (*stem).to_owned(), Encoding::Parquet, None, columns)
        };
        all.iter().map(of).collect()
    }

    /// Nodes with their keys, then edges with their ends; or the error.
    fn guessed(all: &[(&str, &[&str])]) -> String {
        match guess(&files(all), false) {
            Err(error) => error.message().to_owned(),
            Ok(None) => "none".to_owned(),
            Ok(Some(guess)) => {
                let graph = guess.script.graph;
                let nodes = graph.vertices.iter().map(|own| format!("{}({})", own.label, own.key.clone().unwrap()));
                let edges = graph.edges.iter().map(|own| {
                    let end = |end: &crate::sql::End| format!("{}.{}", end.references, end.column);
                    format!("{} {} {}", end(&own.source), own.label, end(&own.target))
                });
                nodes.chain(edges).collect::<Vec<_>>().join(", ")
            }
        }
    }

    #[test]
    fn names_of_files_and_columns_tell_types_and_ends() {
        let person: (&str, &[&str]) = ("person", &["id", "country", "age"]);
        let company: (&str, &[&str]) = ("company", &["company_id", "name"]);
        for (ends, expected) in [
            (["source", "target"], "person.source knows person.target"),
            (["_source", "_target"], "person._source knows person._target"),
            (["src", "dst"], "person.src knows person.dst"),
            (["from", "to"], "person.from knows person.to"),
            (["start", "end"], "person.start knows person.end"),
            (["person1_id", "person2_id"], "person.person1_id knows person.person2_id"),
            (["person_id_b", "person_id_a"], "person.person_id_a knows person.person_id_b"),
            (["to_person", "from_person"], "person.from_person knows person.to_person"),
            (["p", "q"], "person.p knows person.q"),
        ] {
            let all = [person, ("person_knows_person", &[ends[0], ends[1], "weight"])];
            assert_eq!(guessed(&all), format!("person(id), {expected}"));
            if ends != ["p", "q"] {
                let all = [person, ("knows", &["weight", ends[0], ends[1]])];
                assert_eq!(guessed(&all), format!("person(id), {expected}"));
            }
        }
        for (edges, expected) in [
            (("person_works_at_company", &["source", "target", "id"][..]), "person.source works_at company.target"),
            (("works_at", &["company_id", "person_id"]), "company.company_id works_at person.person_id"),
            (
                ("works_at", &["target_company", "source_person"]),
                "person.source_person works_at company.target_company",
            ),
            (
                ("person_works_at_company", &["company_id", "person_id", "from", "to"]),
                "person.person_id works_at company.company_id",
            ),
            (("Persons-worksAt-Companies", &["a", "b"]), "person.a worksAt company.b"),
            // The name of the file has both types: it tells the direction, where no column does.
            (("person_company", &["company_id", "person_id"]), "person.person_id person_company company.company_id"),
            (
                ("persons_companies", &["company_id", "person_id"]),
                "person.person_id persons_companies company.company_id",
            ),
            (("company_person", &["company_id", "person_id"]), "company.company_id company_person person.person_id"),
            (
                ("person_company", &["from_company", "to_person"]),
                "company.from_company person_company person.to_person",
            ),
        ] {
            assert_eq!(guessed(&[person, company, edges]), format!("person(id), company(company_id), {expected}"));
        }
    }

    #[test]
    fn what_is_not_clear_is_refused_with_the_candidates() {
        let person: (&str, &[&str]) = ("person", &["id"]);
        let group: (&str, &[&str]) = ("person_group", &["id"]);
        assert_eq!(
            guessed(&[person, group, ("knows", &["source", "target"])]),
            "source and target could be keys of several tables: person, person_group"
        );
        assert_eq!(
            guessed(&[person, group, ("person_group_has_person", &["source", "target"])]),
            "the name of the table could mean several relations: group_has from person to person; has from person_group to person"
        );
        assert_eq!(
            guessed(&[person, group, ("person_group_has_person", &["person_group_id", "person_id"])]),
            "person(id), person_group(id), person_group.person_group_id has person.person_id"
        );
        assert!(guessed(&[person, ("person_knows_person", &["weight", "x"])]).contains("no columns are called source"));
        assert!(
            guessed(&[person, ("knows", &["source", "target", "src", "dst"])]).contains("several pairs of columns")
        );
        // A node with times, and tables without a relation between them.
        assert_eq!(guessed(&[person, ("event", &["id", "start", "end"])]), "none");
        assert_eq!(guessed(&[person, ("event", &["name"])]), "none");
        assert_eq!(guessed(&[("knows", &["source", "target"])]), "none");
        let twice = [person, ("knows", &["source", "target"][..]), ("person_knows_person", &["source", "target"])];
        assert!(guessed(&twice).contains("are tables of one type"));
    }
}
