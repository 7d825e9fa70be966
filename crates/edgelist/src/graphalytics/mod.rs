#![doc = include_str!("README.md")]

mod properties;
pub mod rules;
mod write;

use std::borrow::Cow;

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::Direction;
use isomorph_storage::{Budget, Location, Root, Scratch};
use isomorph_tables::PackedFile;

use crate::OpenOptions;
use crate::columns::{Kind, Properties as Columns};
use crate::grammar::{Cell, Cells, End, Grammar, Item, State, Take, lines};
use crate::line::integer;
use crate::listing::{Keys, Listing, Text, described, has_text_keys, place, properties as named, shown};
use crate::listing_survey::{Mentions, Wanted, distinct, survey};
use crate::matrix_market::short;
use crate::notation::Notation;
use crate::pieces::Piece;
use crate::python::Value;
use crate::survey::Wrong;

use properties::{Properties, Values};
pub(crate) use write::{GraphalyticsWriter, has_place};

/// Returns whether a location is the properties of a graph, or a directory with those of one graph.
///
/// # Errors
/// Returns an error if it cannot be read.
pub(crate) fn detect(location: &Location) -> Result<bool> {
    if location.file_name().ends_with(".properties") && !is_directory(location) {
        let file = PackedFile::open(location)?;
        return Ok(file.begin(properties::LOOK).is_ok_and(|begin| properties::begins(&begin)));
    }
    if !is_directory(location) {
        return Ok(false);
    }
    let root = Root::open(location)?;
    Ok(only(&root)?.is_some())
}

fn is_directory(location: &Location) -> bool {
    location.scheme().has_listing() && Root::open(location).is_ok()
}

/// Returns the name of the one file of properties of a graph in a directory.
fn only(root: &Root) -> Result<Option<String>> {
    let mut found = None;
    for entry in root.list_dir("")? {
        if entry.is_dir || !entry.name.ends_with(".properties") {
            continue;
        }
        let begin = root.file(&entry.name)?;
        let size = begin.size().min(properties::LOOK);
        if properties::begins(&begin.read(0..size)?) && found.replace(entry.name).is_some() {
            return Ok(None);
        }
    }
    Ok(found)
}

/// A file of vertices or of edges: one or two integers, then values.
struct Lines {
    ends: usize,
    values: Values,
    directed: bool,
}

impl Grammar for Lines {
    fn read<'a>(&self, piece: &'a Piece, _state: &'a State, take: Take<'_, 'a>) -> Result<(), Wrong> {
        let mut cells: Cells<'a> = Vec::new();
        for line in lines(piece, &rules::ENCODING)? {
            let (at, line) = line?;
            let wrong = |message: String| Wrong::new(&rules::LINE, message, at);
            let mut words = line.split_ascii_whitespace();
            let Some(first) = words.next() else { continue };
            if first.starts_with('#') {
                continue;
            }
            let id = |word: Option<&'a str>| {
                let word = word.ok_or_else(|| wrong("expected two vertices".to_owned()))?;
                let number = integer(word).map(|_| End::Name(word));
                number.ok_or_else(|| wrong(format!("{:?} is not a 64-bit integer without leading zeros", short(word))))
            };
            let first = id(Some(first))?;
            let second = if self.ends == 2 { Some(id(words.next())?) } else { None };
            cells.clear();
            for (name, is_real) in &self.values.0 {
                let word = words.next().ok_or_else(|| wrong(format!("{name} is missing")))?;
                let value = match is_real {
                    true => word
                        .parse::<f64>()
                        .ok()
                        .filter(|value| !value.is_infinite() || !word.contains(|c: char| c.is_ascii_digit()))
                        .map(Value::Float),
                    false => word.parse::<i64>().ok().map(Value::Int),
                };
                let value = value.ok_or_else(|| wrong(format!("{name}: {:?} does not have its type", short(word))))?;
                cells.push((Cow::Owned(name.clone()), Cell::Value(value)));
            }
            if let Some(word) = words.next() {
                return Err(wrong(format!("{:?} follows the values that the properties name", short(word))));
            }
            match second {
                Some(second) => take(at, Item::Edge(first, second, self.directed, &mut cells))?,
                None => take(at, Item::Node(first, &mut cells))?,
            }
        }
        Ok(())
    }
}

/// Gives declared values their types although no line has them.
fn declare(found: &mut Columns, values: &Values) {
    for (name, is_real) in &values.0 {
        let at = found.place(name);
        let value = if *is_real { Value::Float(0.0) } else { Value::Int(0) };
        found.at(at).into_iter().for_each(|seen| seen.value(&value));
    }
}

/// Opens a graph by its properties, or by the directory with them.
///
/// # Errors
/// Returns an error if a file cannot be read, or is invalid.
pub(crate) fn open(location: &Location, options: &OpenOptions, scratch: &Scratch) -> Result<Listing> {
    let (root, name) = match is_directory(location) {
        true => {
            let root = Root::open(location)?;
            let missing = || Error::unsupported("there is not exactly one file of properties").at(location.to_string());
            let name = only(&root)?.ok_or_else(missing)?;
            (root, name)
        }
        false => {
            let parent = location.parent().ok_or_else(|| Error::unsupported("files beside it are needed"))?;
            (Root::open(&parent)?, location.file_name().to_owned())
        }
    };
    let text = root.read(&name, properties::MOST)?;
    let told = Properties::of(&text)
        .map_err(|message| Error::broken(&rules::PROPERTIES, message).at(Place::file(name.clone())))?;
    let file = |relative: &str| PackedFile::of(root.file(relative)?);
    let (vertex_file, edge_file) = (file(&told.vertex_file)?, file(&told.edge_file)?);
    let vertex_lines = Lines { ends: 1, values: told.of_vertices.clone(), directed: false };
    let edge_lines = Lines { ends: 2, values: told.of_edges.clone(), directed: told.directed };
    let memory: (&Budget, &Scratch) = (&options.budget, scratch);
    let wanted =
        Wanted { names: Some(false), sums: false, otherwise: Kind::Text, memory, too_many: &rules::PROPERTIES };
    let mut findings = Findings::keeping(8);
    let (mut vertices, of_vertices, ids) = survey(&vertex_file, &vertex_lines, wanted, &mut findings)?;
    let wanted = Wanted { names: None, ..wanted };
    let (mut edges, of_edges, _) = survey(&edge_file, &edge_lines, wanted, &mut findings)?;
    let ids = ids.map_or(0, |ids| ids.rows());
    if ids != vertices.nodes {
        let message = format!("{} lines repeat a vertex", vertices.nodes - ids);
        return Err(Error::broken(&rules::VERTEX, message).at(place(&vertex_file)));
    }
    let all = distinct(&[(&vertex_file, &vertex_lines), (&edge_file, &edge_lines)], memory)?;
    if all != ids {
        let message = format!("{} ends of edges are not in {}", all - ids, told.vertex_file);
        return Err(Error::broken(&rules::DANGLING, message).at(place(&edge_file)));
    }
    for (what, stated, found) in [("vertices", told.counts[0], vertices.nodes), ("edges", told.counts[1], edges.edges)]
    {
        if stated.is_some_and(|stated| stated != found) {
            let message = format!("the properties state {} {what}, but there are {found}", stated.unwrap_or_default());
            return Err(Error::broken(&rules::COUNT, message).at(Place::file(name)));
        }
    }
    if vertices.nodes == 0 {
        declare(&mut vertices.of_nodes, &told.of_vertices);
    }
    if edges.edges == 0 {
        declare(&mut edges.of_edges, &told.of_edges);
    }
    let (shown_nodes, shown_edges) = shown(options);
    let (of_nodes, node_properties) = named(&vertices.of_nodes, vertices.nodes, shown_nodes, Kind::Text, None);
    let (named_of_edges, edge_properties) = named(&edges.of_edges, edges.edges, shown_edges, Kind::Text, None);
    let direction = if told.directed { Direction::Directed } else { Direction::Undirected };
    let mut graph = described(
        (vertices.nodes, edges.edges),
        (node_properties, edge_properties),
        !has_text_keys(options),
        direction,
    );
    graph.name = options.shown.as_ref().map_or(Some(told.name.clone()), |shown| shown.name.clone());
    let recognised = vec![
        ("nodes".to_owned(), format!("{}, named by {name}", told.vertex_file)),
        ("edges".to_owned(), format!("{}, {}", told.edge_file, if told.directed { "directed" } else { "undirected" })),
    ];
    Ok(Listing {
        notation: Notation::Graphalytics,
        texts: vec![
            Text { file: vertex_file, grammar: Box::new(vertex_lines), extents: of_vertices, nodes: vertices.nodes },
            Text { file: edge_file, grammar: Box::new(edge_lines), extents: of_edges, nodes: 0 },
        ],
        keys: Keys::Items,
        mentions: Mentions::Once,
        of_nodes,
        of_edges: named_of_edges,
        graph,
        recognised,
        findings,
        labels: None,
    })
}
