//! Conventions of two tables: one of nodes, one of edges.

use isomorph_error::{Error, Result};
use isomorph_model::type_name::list_of;
use isomorph_model::well_known;

use arrow_schema::DataType;

use super::by_type::backwards;
use super::table_names::are_backwards;
use super::{BrokenFile, Guess, TableFile, only};
use crate::sql::{ColumnType, Hints, Properties, TableOptions};

/// What to do where names do not tell the roles of columns.
pub(crate) const INIT: &str = "isomorph import init DIRECTORY > DIRECTORY/graph.pgq    write a mapping file, and correct KEY, SOURCE KEY and DESTINATION KEY";
const NODE: &str = "node";
const EDGE: &str = "edge";

/// Names of files of nodes and of edges.
const NODES: &[&str] = &["nodes", "node", "vertices", "vertex"];
const EDGES: &[&str] = &["edges", "edge", "links", "relationships", "rels"];

/// Names of keys, the likeliest first.
const KEYS: &[&str] = &["id", "node_id", "nodeid", "node", "key", "vertex_id", "vertex", "name"];

/// Names of sources and of the targets that go with them, without what `normal` removes and without [`SUFFIXES`].
const ENDS: &[(&[&str], &[&str])] = &[
    (&["source", "src"], &["target", "dst", "dest", "destination", "trg", "tgt", "sink"]),
    (&["from"], &["to"]),
    (&["subject"], &["object"]),
];

/// Names that are ends where no others are: they may also be times, speeds and words.
const WEAK_ENDS: &[(&[&str], &[&str])] =
    &[(&["head"], &["tail"]), (&["u"], &["v"]), (&["node1"], &["node2"]), (&["start", "begin"], &["end"])];

/// What names of ends end with: the first that both have counts.
const SUFFIXES: &[&str] = &["", "id", "node", "nodeid", "vertex", "vertexid", "key", "index", "idx", "name"];

/// Names of an arc's ends in graph theory, from tail to head, and of a triple's in knowledge graphs, from head to tail: which of them
/// is meant, the order of the columns tells.
const BY_ORDER: (&str, &str) = ("head", "tail");

/// Names of which one alone is half of a pair.
const HALVES: &[&str] = &["source", "src", "from", "to", "target", "dst", "dest", "destination", "trg", "tgt"];

/// Names of columns that are no ends; among them what pandas calls an index.
pub(super) const NO_ENDS: &[&str] = &[
    "",
    "unnamed0",
    "level0",
    "indexlevel0",
    "id",
    "edgeid",
    "eid",
    "key",
    "index",
    "idx",
    "weight",
    "w",
    "value",
    "label",
    "type",
    "kind",
    "name",
    "relation",
    "rel",
    "predicate",
    "date",
    "time",
    "timestamp",
    "year",
    "since",
    "count",
    "directed",
    "direction",
    "edge",
    "rank",
    "row",
    "no",
    "nr",
    "n",
    "amount",
    "line",
    "score",
    "duration",
];

/// Properties of KGX that have several values, divided by `|` (KGX format, "multivalued").
const MULTIVALUED: &[&str] = &["xref", "synonym", "same_as", "publications", "provided_by", "in_taxon"];

fn has_role(file: &TableFile, names: &[&str]) -> bool {
    names.iter().any(|name| file.stem.eq_ignore_ascii_case(name))
}

fn is_tabbed(file: &TableFile) -> bool {
    file.delimiter == Some(b'\t')
}

/// KGX: nodes with `id` and `category`, edges with `subject`, `predicate` and `object`.
pub(super) fn kgx(files: &[TableFile]) -> Result<Option<Guess>> {
    let is_node = |file: &&TableFile| file.has("id") && file.has("category") && !file.has("subject");
    let is_edge = |file: &&TableFile| file.has("subject") && file.has("predicate") && file.has("object");
    let nodes: Vec<&TableFile> = files.iter().filter(is_node).collect();
    let edges: Vec<&TableFile> = files.iter().filter(is_edge).collect();
    if nodes.is_empty() || edges.is_empty() {
        return Ok(None);
    }
    let (Some(node), Some(edge)) = (only("nodes of KGX", &nodes)?, only("edges of KGX", &edges)?) else {
        return Ok(None);
    };
    let mut guess = Guess::new("KGX");
    let hints = |file: &TableFile, more: &[&str]| {
        let lists = MULTIVALUED.iter().chain(more).filter(|name| file.delimiter.is_some() && file.has(name));
        let list = |name: &&str| ((*name).to_owned(), ColumnType::plain(list_of(DataType::Utf8)));
        let mut types: Vec<(String, ColumnType)> = lists.map(list).collect();
        // Identifiers are CURIEs; only in JSON lines, ids of edges may be anything else.
        let is_any = |name: &str| name == "id" && file.delimiter.is_none() && file.has("subject");
        let texts = ["id", "subject", "predicate", "object"].iter().filter(|name| file.has(name) && !is_any(name));
        types.extend(texts.map(|name| ((*name).to_owned(), ColumnType::plain(DataType::Utf8))));
        Hints { types, ..Hints::default() }
    };
    let text = node.delimiter.is_some();
    // KGX reads and writes its tables without quoting (csv.QUOTE_NONE in its tsv_source).
    let of_node = TableOptions {
        literal_quotes: is_tabbed(node),
        labels: Some("category".to_owned()),
        array_delimiter: text.then_some('|'),
        ..TableOptions::default()
    };
    let table = guess.table(node, of_node, hints(node, &["category"]));
    guess.vertex(table.clone(), "id", NODE, Properties::All);
    guess.tell(node, "nodes: key id, labels category".to_owned());
    let of_edge = TableOptions {
        literal_quotes: is_tabbed(edge),
        relation: Some("predicate".to_owned()),
        array_delimiter: edge.delimiter.is_some().then_some('|'),
        ..TableOptions::default()
    };
    let own = guess.table(edge, of_edge, hints(edge, &[]));
    guess.edge(own, [("subject", &table), ("object", &table)], EDGE, Properties::All);
    guess.tell(edge, "edges from subject to object: an edge type for each predicate".to_owned());
    Ok(Some(guess))
}

/// Gephi: nodes with `Id`, edges with `Source`, `Target` and one of its other columns. Gephi's own import takes any case.
pub(super) fn gephi(files: &[TableFile]) -> Result<Option<Guess>> {
    let is_edge = |file: &&TableFile| {
        file.has("Source") && file.has("Target") && ["Type", "Weight", "Id", "Label"].iter().any(|name| file.has(name))
    };
    let others = || files.iter().filter(|file| !file.has("Source"));
    let exact: Vec<&TableFile> = others().filter(|file| file.has("Id")).collect();
    let nodes = if exact.is_empty() { others().filter(|file| file.find("Id").is_some()).collect() } else { exact };
    let edges: Vec<&TableFile> = files.iter().filter(is_edge).collect();
    if nodes.is_empty() || edges.is_empty() {
        return Ok(None);
    }
    let (Some(node), Some(edge)) = (only("nodes of Gephi", &nodes)?, only("edges of Gephi", &edges)?) else {
        return Ok(None);
    };
    let mut guess = Guess::new("Gephi");
    let header = TableOptions::default();
    let table = guess.table(node, header.clone(), Hints::default());
    let key = node.find("Id").unwrap_or("Id");
    guess.vertex(table.clone(), key, NODE, Properties::All);
    guess.tell(node, format!("nodes: key {key}"));
    let directed: Vec<String> = edge.find("Type").map(str::to_owned).into_iter().collect();
    let by = if directed.is_empty() { ", all with a direction" } else { "" };
    let own = guess.table(edge, header, Hints { directed, ..Hints::default() });
    let properties = edge.columns.iter().filter(|name| !["Source", "Target"].contains(&name.as_str()));
    let called = |name: &String| match name.as_str() {
        "Weight" => (name.clone(), well_known::WEIGHT.to_owned()),
        _ => (name.clone(), name.clone()),
    };
    let properties = Properties::Listed(properties.map(called).collect());
    guess.edge(own, [("Source", &table), ("Target", &table)], EDGE, properties);
    guess.tell(edge, format!("edges from Source to Target{by}"));
    Ok(Some(guess))
}

/// A name in lower case, its letters and digits only: `Source.ID` is `sourceid`.
pub(super) fn normal(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The columns with source and target, if their names say so.
///
/// # Errors
/// When several columns could be one of them, or only one of the two is there.
pub(crate) fn named_ends<'a>(file: &'a TableFile) -> Result<Option<(&'a str, &'a str)>> {
    let names: Vec<String> = file.columns.iter().map(|name| normal(name)).collect();
    let refused = |what: String| {
        Err(Error::usage(what).at(file.name.as_str()).hint(INIT).hint("rename the columns to source and target"))
    };
    let of = |stem: &str, suffix: &str| -> Vec<&'a str> {
        let all = file.columns.iter().zip(&names);
        all.filter(|(_, name)| name.strip_suffix(suffix) == Some(stem)).map(|(column, _)| column.as_str()).collect()
    };
    let pairs = |(sources, targets): &(&[&str], &[&str])| {
        let mut found = Vec::new();
        for suffix in SUFFIXES {
            let all = |stems: &[&str]| stems.iter().flat_map(|stem| of(stem, suffix)).collect::<Vec<_>>();
            let (sources, targets) = (all(sources), all(targets));
            found.extend(sources.iter().flat_map(|source| targets.iter().map(|target| (*source, *target))));
            if !found.is_empty() {
                return found;
            }
        }
        // One may have a suffix and the other none: `source_id`, `target`.
        let any = |stems: &[&str]| -> Vec<&'a str> {
            let suffixes = SUFFIXES.iter().filter(|suffix| **suffix != "name");
            suffixes.flat_map(|suffix| stems.iter().flat_map(|stem| of(stem, suffix)).collect::<Vec<_>>()).collect()
        };
        if let ([source], [target]) = (any(sources).as_slice(), any(targets).as_slice()) {
            found.push((*source, *target));
        }
        found
    };
    let strong: Vec<_> = ENDS.iter().flat_map(pairs).collect();
    let found = if strong.is_empty() { WEAK_ENDS.iter().flat_map(pairs).collect() } else { strong };
    let is_half = |name: &&String| {
        let suffixes = SUFFIXES.iter().filter(|suffix| **suffix != "name");
        HALVES.iter().any(|half| suffixes.clone().any(|suffix| name.strip_suffix(suffix) == Some(half)))
    };
    match found.as_slice() {
        [(head, tail)] if normal(head).starts_with(BY_ORDER.0) && normal(tail).starts_with(BY_ORDER.1) => {
            let place = |name: &str| file.columns.iter().position(|column| column == name);
            Ok(Some(if place(head) < place(tail) { (*head, *tail) } else { (*tail, *head) }))
        }
        [one] => Ok(Some(*one)),
        [] => match names.iter().position(|name| is_half(&name)) {
            None => Ok(None),
            Some(at) => {
                refused(format!("the column {} is one end of edges, and no column is the other", file.columns[at]))
            }
        },
        several => {
            let shown: Vec<String> = several.iter().map(|(source, target)| format!("{source} and {target}")).collect();
            refused(format!("several pairs of columns could be source and target: {}", shown.join("; ")))
        }
    }
}

/// Whether the ends of a table are named only by words that may also be times, speeds and words.
pub(super) fn are_weak(file: &TableFile) -> bool {
    let names: Vec<String> = file.columns.iter().map(|name| normal(name)).collect();
    let is_strong = |name: &String| {
        let mut stems = ENDS.iter().flat_map(|(sources, targets)| sources.iter().chain(*targets));
        stems.any(|stem| SUFFIXES.iter().any(|suffix| name.strip_suffix(suffix) == Some(stem)))
    };
    !names.iter().any(is_strong)
}

/// The position of a file that has one of the two names and cannot be read, if both names are there.
pub(super) fn broken(files: &[TableFile], broken: &[BrokenFile]) -> Option<usize> {
    let is_called = |stem: &str, names: &[&str]| {
        let stem = stem.to_ascii_lowercase();
        names
            .iter()
            .any(|name| stem.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with(['_', '-'])))
    };
    let stems = files.iter().map(|file| file.stem.as_str()).chain(broken.iter().map(|file| file.stem.as_str()));
    let has = |names: &[&str]| stems.clone().any(|stem| is_called(stem, names));
    if !has(NODES) || !has(EDGES) {
        return None;
    }
    broken.iter().position(|file| is_called(&file.stem, NODES) || is_called(&file.stem, EDGES))
}

/// The columns that may say whether an edge has a direction; their cells decide.
pub(super) fn directions(file: &TableFile) -> Vec<String> {
    ["directed", "type"].into_iter().filter_map(|name| file.find(name)).map(str::to_owned).collect()
}

/// Two tables that are called nodes and edges.
pub(super) fn plain(files: &[TableFile], draft: bool) -> Result<Option<Guess>> {
    let nodes: Vec<&TableFile> = files.iter().filter(|file| has_role(file, NODES)).collect();
    let edges: Vec<&TableFile> = files.iter().filter(|file| has_role(file, EDGES)).collect();
    if nodes.is_empty() || edges.is_empty() {
        return Ok(None);
    }
    let (Some(node), Some(edge)) = (only("nodes", &nodes)?, only("edges", &edges)?) else { return Ok(None) };
    let named = KEYS.iter().find_map(|wanted| {
        let exact = node.find(wanted);
        exact.or_else(|| node.columns.iter().map(String::as_str).find(|name| normal(name) == normal(wanted)))
    });
    // Without a row, JSON lines name no columns: then they have the usual ones.
    let named = named.or(node.columns.is_empty().then_some("id"));
    let Some(key) = named.or(node.columns.first().map(String::as_str)) else { return Ok(None) };
    let pair = match named_ends(edge) {
        _ if edge.columns.is_empty() => Some(("source", "target")),
        Err(_) if draft => None,
        found => found?,
    };
    for (file, is_named) in [(node, named.is_some()), (edge, pair.is_some())] {
        let number = file.columns.iter().find(|name| name.parse::<f64>().is_ok_and(f64::is_finite));
        if let Some(number) = number.filter(|_| !is_named && !draft) {
            return Err(Error::usage(format!("the first line does not name the columns: {number} is a number"))
                .at(file.name.as_str())
                .hint("write a line with the names of the columns first")
                .hint(INIT));
        }
    }
    let may_be_end = |name: &String| !NO_ENDS.contains(&normal(name).as_str());
    let (source, target) = match (pair, edge.columns.as_slice()) {
        (Some(pair), _) => pair,
        // Nothing else is there that could be an end.
        (None, [first, second, rest @ ..])
            if first != second
                && (draft || may_be_end(first) && may_be_end(second) && !rest.iter().any(may_be_end)) =>
        {
            match (are_backwards(first, second, None), draft) {
                (false, _) => (first.as_str(), second.as_str()),
                (true, true) => (second.as_str(), first.as_str()),
                (true, false) => return Err(backwards(edge, first, second)),
            }
        }
        _ => {
            let what = format!(
                "no columns are called source and target, and it is not certain which are: {}",
                edge.columns.join(", ")
            );
            return Err(Error::usage(what)
                .at(edge.name.as_str())
                .hint("rename the columns to source and target")
                .hint(INIT));
        }
    };
    let mut guess = Guess::new("two tables, nodes and edges");
    let header = TableOptions::default();
    // Of several columns, the values tell which one is the key.
    let is_untold = named.is_none() && !draft && node.columns.len() > 1;
    let key_among = if is_untold { node.columns.clone() } else { Vec::new() };
    let table = guess.table(node, header.clone(), Hints { key_among, ..Hints::default() });
    guess.vertex(table.clone(), key, NODE, Properties::All);
    let why = match (named, draft) {
        (Some(_), _) => "by its name",
        (None, false) => "the only column",
        (None, true) => "the first column: to be checked",
    };
    guess.tell(node, format!("nodes: key {key}, {why}"));
    let directed = directions(edge);
    let direction = if directed.is_empty() { ", all with a direction" } else { "" };
    let own = guess.table(edge, header, Hints { directed, ..Hints::default() });
    guess.edge(own, [(source, &table), (target, &table)], EDGE, Properties::All);
    let why = match (pair, draft) {
        (Some(_), _) => "by their names",
        (None, false) => "the only columns that can be ends",
        (None, true) => "the first two columns: to be checked",
    };
    guess.tell(edge, format!("edges from {source} to {target}, {why}{direction}"));
    Ok(Some(guess))
}
