//! A table for each type, as most people write them: `person.parquet` with `id`, and `person_knows_person.parquet` with `source` and `target`; or
//! `knows.parquet`, where its columns or a single table of nodes tell what it connects.

use isomorph_error::{Error, Result};

use super::pairs::{INIT, NO_ENDS, are_weak, directions, named_ends, normal};
use super::table_names::{
    Ends, Foreign, Nodes, Reading, are_alike, are_backwards, by_columns, by_reading, foreign_columns, longest, readings,
};
use super::{Guess, TableFile};
use crate::sql::{Hints, Properties, TableOptions};

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
    /// Whether a draft takes the first of several candidates.
    is_guessed: bool,
}

/// What a table with a key of its own is.
#[derive(PartialEq)]
enum Role {
    Nodes,
    Edges,
    /// Either of both: the columns with keys of other tables.
    Unclear(Vec<String>),
}

/// The graph of tables that are one for each type of nodes and of edges; with `draft`, ends that could be several tables are the first one.
///
/// # Errors
/// When edges could connect several tables, several pairs of columns could be their ends, or a table could be one of nodes or of edges.
pub(super) fn guess(files: &[TableFile], draft: bool) -> Result<Option<Guess>> {
    let keyed: Vec<(&TableFile, &str)> = files.iter().filter_map(|file| Some((file, key(file)?))).collect();
    // A table that has a key and ends is one of edges, unless its ends may be anything else.
    let may_be_node = |file: &TableFile| matches!(named_ends(file), Ok(None)) || are_weak(file);
    let mut candidates: Vec<(&TableFile, &str)> = keyed.iter().copied().filter(|(file, _)| may_be_node(file)).collect();
    if candidates.is_empty() && files.iter().any(|file| matches!(named_ends(file), Ok(Some(_)))) {
        // The nodes of a table of edges are in none, if not in one with a column that looks like one end of other edges.
        let refused = keyed.iter().filter_map(|(file, key)| Some((*file, *key, named_ends(file).err()?)));
        for (file, key, error) in refused {
            if !draft {
                return Err(error);
            }
            candidates.push((file, key));
        }
    }
    let mut nodes = Vec::with_capacity(candidates.len());
    for (at, (file, key)) in candidates.iter().enumerate() {
        match role(at, &candidates, files) {
            Role::Edges => {}
            Role::Unclear(columns) if !draft => return Err(unclear(file, key, &columns)),
            Role::Nodes | Role::Unclear(_) => nodes.push((*file, *key)),
        }
    }
    if nodes.is_empty() {
        return Ok(None);
    }
    let mut found = Vec::new();
    for file in files.iter().filter(|file| nodes.iter().all(|(node, _)| node.name != file.name)) {
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
        let Edges { file, relation, columns: [from, to], tables, why, is_guessed } = edges;
        let hints = Hints { directed: directions(file), ..Hints::default() };
        let own = guess.table(file, TableOptions::default(), hints);
        let [Some(source), Some(target)] = tables.map(|at| aliases.get(at).cloned()) else { continue };
        guess.edge(own, [(from, &source), (to, &target)], relation, Properties::All);
        let checked = if *is_guessed { ": to be checked" } else { "" };
        guess.tell(file, format!("edges {relation} from {from} in {source} to {to} in {target}, {why}{checked}"));
    }
    Ok(Some(guess))
}

/// What the table at `at` is, which has a key of its own: a join table may have one, too.
fn role(at: usize, candidates: &Nodes<'_>, files: &[TableFile]) -> Role {
    let Some((file, key)) = candidates.get(at) else { return Role::Nodes };
    let is_other = |one: &Foreign<'_>| one.column != *key && one.table != at;
    let foreign: Vec<Foreign<'_>> = foreign_columns(file, candidates).into_iter().filter(is_other).collect();
    let readings = readings(file, candidates);
    let named = readings.iter().any(|reading| by_reading(&foreign, reading).is_some());
    let keys = foreign.iter().filter(|one| one.is_key).count();
    let is_half = !longest(&readings).is_empty() && keys == 1;
    if !(named || is_half || keys > 1) {
        return Role::Nodes;
    }
    // What edges end in is a table of nodes.
    let ends_in = |other: &TableFile| {
        let columns = foreign_columns(other, candidates);
        let by_columns = columns.iter().any(|one| one.is_key && one.table == at);
        by_columns || longest(&self::readings(other, candidates)).iter().any(|own| own.tables.contains(&at))
    };
    let is_end = files.iter().any(|other| other.name != file.name && ends_in(other));
    match (is_end, named || keys == 2) {
        (false, true) => Role::Edges,
        (true, false) if keys == 1 => Role::Nodes,
        _ => Role::Unclear(foreign.iter().map(|one| one.column.to_owned()).collect()),
    }
}

fn unclear(file: &TableFile, key: &str, columns: &[String]) -> Error {
    let all = columns.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let what = format!(
        "the table has a key of its own, {key}, and columns with keys of other tables, {all}: it could be nodes or edges"
    );
    Error::usage(what)
        .at(file.name.as_str())
        .hint(format!("if its rows are edges, rename {key} to edge_id, or the file to person_worksAt_company"))
        .hint(INIT)
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

/// Edges of which columns and tables are known.
fn edges<'a>(file: &'a TableFile, reading: Option<&Reading>, ends: Ends<'a>, why: &'static str) -> Edges<'a> {
    let relation = reading.and_then(|own| own.relation.clone()).unwrap_or_else(|| file.stem.clone());
    Edges { file, relation, columns: ends.0, tables: ends.1, why, is_guessed: false }
}

/// The edges of a file, if it has some. Columns that name tables decide first, then the name of the file.
fn edges_of<'a>(file: &'a TableFile, nodes: &Nodes<'_>, draft: bool) -> Result<Option<Edges<'a>>> {
    const BY_COLUMNS: &str = "by the names of columns";
    let readings = readings(file, nodes);
    let foreign = foreign_columns(file, nodes);
    // The longest names that columns agree with.
    let told: Vec<(&Reading, Ends<'a>)> =
        readings.iter().filter_map(|own| Some((own, by_reading(&foreign, own)?))).collect();
    let agreeing: Vec<Reading> = told.iter().map(|(own, _)| (*own).clone()).collect();
    match (longest(&agreeing), told.first()) {
        ([_], Some((own, ends))) => return Ok(Some(edges(file, Some(own), *ends, BY_COLUMNS))),
        ([], _) | (_, None) => {}
        (_, Some((own, ends))) if draft => {
            return Ok(Some(Edges { is_guessed: true, ..edges(file, Some(own), *ends, BY_COLUMNS) }));
        }
        (several_readings, _) => return Err(several_relations(file, nodes, several_readings)),
    }
    let by_columns = by_columns(&foreign);
    let pair = match named_ends(file) {
        Err(_) if draft => None,
        // What could be no end by its name alone is one by its table.
        Err(_) if by_columns.is_some() && readings.is_empty() => None,
        found => found?,
    };
    if readings.is_empty() {
        return match (by_columns, pair) {
            (Some(ends), _) => Ok(Some(edges(file, None, ends, BY_COLUMNS))),
            (None, Some(pair)) => without_tables(file, nodes, pair, draft).map(Some),
            (None, None) => Ok(None),
        };
    }
    let known = match longest(&readings) {
        [one] => one,
        [first, ..] if draft => first,
        all => return Err(several_relations(file, nodes, all)),
    };
    let is_guessed = longest(&readings).len() > 1;
    match (by_columns, pair) {
        (_, Some((source, target))) if by_columns.is_none() || !are_weak(file) => {
            let found = edges(file, Some(known), ([source, target], known.tables), "by their names");
            Ok(Some(Edges { is_guessed, ..found }))
        }
        (Some(ends), _) if draft => Ok(Some(Edges { is_guessed: true, ..edges(file, None, ends, BY_COLUMNS) })),
        (Some(ends), _) => {
            let what = format!(
                "the name of the table says {}, and its columns {} and {} say {}",
                shown(file, nodes, known),
                ends.0[0],
                ends.0[1],
                between(nodes, ends.1)
            );
            Err(several(file, what))
        }
        (None, _) => {
            let found = first_two(file, known, &foreign, draft)?;
            Ok(Some(Edges { is_guessed: is_guessed || draft, ..found }))
        }
    }
}

/// The edges of a file whose name has two tables and whose columns name none: the first two are the ends.
///
/// # Errors
/// When these cannot be ends, or name other tables.
fn first_two<'a>(file: &'a TableFile, known: &Reading, foreign: &[Foreign<'a>], draft: bool) -> Result<Edges<'a>> {
    let fits = |(column, table): (&str, usize)| {
        let of = foreign.iter().find(|own| own.column == column);
        !NO_ENDS.contains(&normal(column).as_str()) && of.is_none_or(|own| own.table == table)
    };
    let has_others = foreign.iter().any(|own| !file.columns.iter().take(2).any(|column| column == own.column));
    match file.columns.as_slice() {
        [first, second, ..]
            if !has_others && fits((first, known.tables[0])) && fits((second, known.tables[1])) && first != second =>
        {
            let found = |columns| Ok(edges(file, Some(known), (columns, known.tables), "the first two columns"));
            match (are_backwards(first, second, known.relation.as_deref()), draft) {
                (false, _) => found([first, second]),
                (true, true) => found([second, first]),
                (true, false) => Err(backwards(file, first, second)),
            }
        }
        _ => {
            let what = format!(
                "the name of the table says that it has edges, and no columns are called source and target: {}",
                file.columns.join(", ")
            );
            Err(Error::usage(what).at(file.name.as_str()).hint("rename the columns to source and target").hint(INIT))
        }
    }
}

/// The error for two columns of which the order says that the first is the source, and the names that the second is.
pub(super) fn backwards(file: &TableFile, first: &str, second: &str) -> Error {
    Error::usage(format!("it is not certain whether edges are from {first} to {second} or from {second} to {first}"))
        .at(file.name.as_str())
        .hint("rename the columns to source and target")
        .hint(INIT)
}

/// The edges of a file with ends whose tables nothing names: those of the only table of nodes.
fn without_tables<'a>(
    file: &'a TableFile,
    nodes: &Nodes<'_>,
    (source, target): (&'a str, &'a str),
    draft: bool,
) -> Result<Edges<'a>> {
    if nodes.len() > 1 && !draft {
        let all: Vec<&str> = nodes.iter().take(SHOWN).map(|(file, _)| file.stem.as_str()).collect();
        let what = format!("{source} and {target} could be keys of several tables: {}", all.join(", "));
        return Err(several(file, what));
    }
    let found = edges(file, None, ([source, target], [0, 0]), "by their names");
    Ok(Edges { is_guessed: nodes.len() > 1, ..found })
}

/// Two tables of nodes, for messages.
fn between(nodes: &Nodes<'_>, tables: [usize; 2]) -> String {
    let [source, target] = tables.map(|at| nodes.get(at).map_or("", |(file, _)| file.stem.as_str()));
    format!("from {source} to {target}")
}

fn shown(file: &TableFile, nodes: &Nodes<'_>, reading: &Reading) -> String {
    let relation = reading.relation.as_deref().unwrap_or(&file.stem);
    format!("{relation} {}", between(nodes, reading.tables))
}

fn several_relations(file: &TableFile, nodes: &Nodes<'_>, all: &[Reading]) -> Error {
    let all: Vec<String> = all.iter().take(SHOWN).map(|own| shown(file, nodes, own)).collect();
    several(file, format!("the name of the table could mean several relations: {}", all.join("; ")))
}

fn several(file: &TableFile, what: String) -> Error {
    Error::usage(what)
        .at(file.name.as_str())
        .hint("call the columns by their tables, person_id and company_id, or the file person_worksAt_company")
        .hint(INIT)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use isomorph_tables::Encoding;

    use super::*;

    /// A file and its columns.
    type Named = (&'static str, &'static [&'static str]);

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
        // The name of a table that is longer counts; one as long is another.
        assert_eq!(
            guessed(&[person, group, ("person_group_has_person", &["source", "target"])]),
            "person(id), person_group(id), person_group.source has person.target"
        );
        let turned: (&str, &[&str]) = ("group_person", &["id"]);
        assert_eq!(
            guessed(&[person, group, turned, ("person_group_person", &["source", "target"])]),
            "the name of the table could mean several relations: person_group_person from person to group_person; person_group_person from person_group to person"
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
        let half: (&str, &[&str]) = ("person", &["id", "name", "_source"]);
        assert_eq!(
            guessed(&[half, ("person_knows_person", &["source", "target"])]),
            "the column _source is one end of edges, and no column is the other"
        );
        assert_eq!(guessed(&[half, ("event", &["name"])]), "none");
        let twice = [person, ("knows", &["source", "target"][..]), ("person_knows_person", &["source", "target"])];
        assert!(guessed(&twice).contains("are tables of one type"));
    }

    #[test]
    fn columns_that_name_tables_decide_before_the_name_of_the_file() {
        let user: (&str, &[&str]) = ("user", &["id", "name"]);
        let group: (&str, &[&str]) = ("user_group", &["id", "name"]);
        let person: (&str, &[&str]) = ("person", &["id"]);
        let kind: (&str, &[&str]) = ("person_type", &["id"]);
        for (nodes, edges, expected) in [
            (
                [user, group],
                ("user_group_user", &["user_group_id", "user_id"][..]),
                "user_group.user_group_id user_group_user user.user_id",
            ),
            (
                [user, group],
                ("user_group_user", &["user_id", "user_group_id"]),
                "user_group.user_group_id user_group_user user.user_id",
            ),
            ([user, group], ("user_group_user", &["user_id_1", "user_id_2"]), "user.user_id_1 group user.user_id_2"),
            (
                [user, group],
                ("user_group_user", &["source", "target"]),
                "user_group.source user_group_user user.target",
            ),
            (
                [person, kind],
                ("person_type_person", &["person_type_id", "person_id"]),
                "person_type.person_type_id person_type_person person.person_id",
            ),
            (
                [person, kind],
                ("person_type_person_type", &["from_person_type", "to_person_type"]),
                "person_type.from_person_type person_type_person_type person_type.to_person_type",
            ),
        ] {
            let [one, other] = nodes.map(|(stem, _)| format!("{stem}(id)"));
            assert_eq!(guessed(&[nodes[0], nodes[1], edges]), format!("{one}, {other}, {expected}"));
            assert_eq!(guessed(&[edges, nodes[0], nodes[1]]), format!("{one}, {other}, {expected}"));
        }
        // They disagree.
        let post: (&str, &[&str]) = ("post", &["id"]);
        for (edges, said) in [
            (("user_likes_user", &["user_id", "post_id"][..]), "likes from user to user"),
            (("user_likes_post", &["from_post", "to_user"]), "likes from user to post"),
            (("user_post", &["user_id_1", "user_id_2"]), "user_post from user to post"),
        ] {
            let found = guessed(&[user, post, edges]);
            assert!(found.starts_with(&format!("the name of the table says {said}, and its columns ")), "{found}");
        }
        for edges in [("user_post", &["x", "user_id"][..]), ("user_likes_post", &["x", "y", "post_id"])] {
            assert!(guessed(&[user, post, edges]).contains("no columns are called source"), "{edges:?}");
        }
    }

    #[test]
    fn forms_of_a_verb_against_the_order_of_columns_are_refused() {
        let (user, post): (Named, Named) = (("user", &["id"]), ("post", &["id"]));
        for (name, first, second) in [
            ("user_follows_user", "followed_user_id", "user_id"),
            ("user_follows_user", "user_id", "follower_id"),
            ("user_likes_user", "liked_id", "user"),
            ("user_manages_user", "managee", "boss"),
            ("user_user", "followed_id", "follower_id"),
            ("user_user", "employee_id", "employer_id"),
        ] {
            let found = guessed(&[user, post, (name, &[first, second])]);
            assert!(found.starts_with("it is not certain whether edges are from"), "{name} {found}");
            // Here the order agrees.
            let turned = guessed(&[user, post, (name, &[second, first])]);
            assert!(turned.contains(&format!("user.{second} ")), "{name} {turned}");
        }
        for (name, columns) in [
            ("user_follows_user", ["user_id", "friend"]),
            ("user_followed_by_user", ["user_id", "follower_id"]),
            ("user_knows_user", ["user_id", "other_user"]),
            ("user_user", ["user", "partner"]),
        ] {
            assert!(guessed(&[user, post, (name, &columns)]).contains(&format!("user.{} ", columns[0])), "{name}");
        }
    }

    #[test]
    fn the_name_of_a_file_may_be_two_tables() {
        let (user, post): (Named, Named) = (("user", &["id"]), ("post", &["id"]));
        for (edges, expected) in [
            (("user_user", &["source", "target"][..]), "user.source user_user user.target"),
            (("user_post", &["source", "target"]), "user.source user_post post.target"),
            (("users_posts", &["a", "b"]), "user.a users_posts post.b"),
            (("user_post", &["id", "source", "target"]), "user.source user_post post.target"),
        ] {
            assert_eq!(guessed(&[user, post, edges]), format!("user(id), post(id), {expected}"));
        }
        // Not the name of a table of nodes, which has neither.
        let group: (&str, &[&str]) = ("group", &["id"]);
        let all = [user, group, ("user_group", &["id", "name"][..]), ("user_knows_user", &["source", "target"])];
        assert_eq!(guessed(&all), "user(id), group(id), user_group(id), user.source knows user.target");
    }

    #[test]
    fn a_table_of_edges_may_have_a_key_of_its_own() {
        let (user, post): (Named, Named) = (("user", &["id", "name"]), ("post", &["id", "title"]));
        for (edges, expected) in [
            (("user_post", &["id", "user_id", "post_id"][..]), "user.user_id user_post post.post_id"),
            (("user_likes_post", &["id", "post", "user"]), "user.user likes post.post"),
            (("likes", &["id", "post_id", "user_id"]), "post.post_id likes user.user_id"),
            (("message", &["id", "from_user", "to_user", "text"]), "user.from_user message user.to_user"),
        ] {
            assert_eq!(guessed(&[user, post, edges]), format!("user(id), post(id), {expected}"));
        }
        // One column with keys of another table, or columns that are called like tables, are properties.
        let knows: (&str, &[&str]) = ("user_knows_user", &["source", "target"]);
        for post in [("post", &["id", "user_id"][..]), ("post", &["id", "user", "country"])] {
            let country: (&str, &[&str]) = ("country", &["id"]);
            let expected = "user(id), country(id), post(id), user.source knows user.target";
            assert_eq!(guessed(&[user, country, post, knows]), expected);
        }
        // Neither is clear.
        let group: (&str, &[&str]) = ("group", &["id"]);
        let comment: (&str, &[&str]) = ("comment", &["id", "user_id", "post_id"]);
        for tables in [
            vec![user, post, comment, ("user_likes_comment", &["user_id", "comment_id"])],
            vec![user, post, group, ("visit", &["id", "user_id", "post_id", "group_id"])],
            vec![user, post, ("user_post", &["id", "user_id", "text"]), knows],
        ] {
            assert!(guessed(&tables).contains("it could be nodes or edges"), "{}", guessed(&tables));
        }
    }
}
