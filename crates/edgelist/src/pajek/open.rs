//! Opens a Pajek network.

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::Direction;
use isomorph_storage::Scratch;
use isomorph_tables::PackedFile;

use super::{Pajek, content, rules, section};
use crate::OpenOptions;
use crate::columns::Kind;
use crate::layout::beginning;
use crate::listing::{Keys, Listing, Text, described, has_text_keys, place, properties, shown};
use crate::listing_survey::{Mentions, Wanted, survey};
use crate::matrix_market::ROWS;
use crate::notation::Notation;

/// Returns whether a text begins like a network.
pub(crate) fn begins(begin: &[u8]) -> bool {
    let text = String::from_utf8_lossy(begin);
    let first = text.lines().find_map(content).and_then(section);
    matches!(first, Some((name, _)) if name == "vertices" || name == "network")
}

/// Reads the lines up to `*Vertices`.
fn head(begin: &[u8]) -> std::result::Result<Pajek, (u64, String)> {
    let text = String::from_utf8_lossy(begin);
    let mut name = None;
    for (number, line) in (1..).zip(text.lines()) {
        let Some((word, rest)) = content(line.trim_start_matches('\u{feff}')).and_then(section) else { continue };
        match word.as_str() {
            "network" => name = Some(rest.trim_matches('"').to_owned()).filter(|name| !name.is_empty()),
            "vertices" => {
                let numbers: Option<Vec<u64>> = rest.split_whitespace().map(|word| word.parse().ok()).collect();
                let Some([vertices, modes @ ..]) = numbers.as_deref() else { break };
                if *vertices > ROWS || modes.len() > 1 {
                    return Err((number, format!("expected the number of vertices, at most {ROWS}")));
                }
                let first_mode = modes.first().copied();
                return Ok(Pajek { vertices: *vertices, first_mode, name, labels_are_values: false });
            }
            _ => break,
        }
    }
    Err((1, "expected *Vertices and their number".to_owned()))
}

/// Opens a network.
///
/// # Errors
/// Returns an error if the file cannot be read, or is invalid.
pub(crate) fn open(file: PackedFile, options: &OpenOptions, scratch: &Scratch) -> Result<Listing> {
    let (begin, _) = beginning(&file)?;
    let mut pajek = head(&begin).map_err(|(line, message)| {
        Error::broken(&rules::SECTION, message).at(Place::file(file.blob.name()).line(line))
    })?;
    let mut findings = Findings::keeping(8);
    let mut wanted = Wanted {
        names: Some(true),
        sums: false,
        otherwise: Kind::Text,
        memory: (&options.budget, scratch),
        too_many: &rules::SECTION,
    };
    let (mut found, mut extents, labels) = survey(&file, &pajek, wanted, &mut findings)?;
    if found.end.section == super::NETWORK || found.nodes > 0 && found.nodes != pajek.vertices {
        let message = format!("*Vertices states {} vertices, but there are {} lines", pajek.vertices, found.nodes);
        return Err(Error::broken(&rules::VERTEX, message).at(place(&file)));
    }
    if let Some(first) = pajek.first_mode {
        let message = format!("the first {first} vertices are of another kind than the others, which is not read");
        findings.push(&rules::MODES, message, place(&file));
    }
    // Labels are keys if they tell vertices apart.
    let distinct = labels.map_or(0, |labels| labels.rows());
    let key = match (found.nodes, distinct == found.nodes) {
        (0, _) => "the numbers of the vertices, which have no labels",
        (_, true) => "the labels of the vertices",
        (_, false) => {
            let message =
                "some vertices have the same label: keys are their numbers, and the property label has the labels";
            findings.push(&rules::LABEL, message, place(&file));
            pajek.labels_are_values = true;
            wanted.names = None;
            (found, extents, _) = survey(&file, &pajek, wanted, &mut Findings::keeping(0))?;
            "the numbers of the vertices, because labels are not unique"
        }
    };
    let by_label = found.nodes > 0 && !pajek.labels_are_values;
    let keys = if by_label { Keys::Items } else { Keys::Numbers(pajek.vertices) };
    let (shown_nodes, shown_edges) = shown(options);
    let (of_nodes, nodes) = properties(&found.of_nodes, found.nodes, shown_nodes, Kind::Text, None);
    let (of_edges, edges) = properties(&found.of_edges, found.edges, shown_edges, Kind::Text, None);
    let told = options.shown.as_ref().and_then(|graph| graph.edges.first()).map(|ty| ty.direction);
    let direction = match (found.directed, told) {
        ([0, 0], Some(direction)) => direction,
        // Edges of one direction may be the rest of a graph with both.
        (_, Some(Direction::PerRow)) => Direction::PerRow,
        ([_, 0], _) => Direction::Directed,
        ([0, _], _) => Direction::Undirected,
        _ => Direction::PerRow,
    };
    let words = match direction {
        Direction::Directed => "directed: *Arcs",
        Direction::Undirected => "undirected: *Edges",
        Direction::PerRow => "directed in *Arcs, undirected in *Edges",
    };
    let recognised = vec![("nodes".to_owned(), format!("keys are {key}")), ("edges".to_owned(), words.to_owned())];
    let integers = !by_label && !has_text_keys(options);
    let mut graph = described((pajek.vertices, found.edges), (nodes, edges), integers, direction);
    graph.name.clone_from(&pajek.name);
    let mut listing = Listing {
        notation: Notation::Pajek,
        texts: vec![Text { file, grammar: Box::new(pajek), extents, nodes: found.nodes }],
        keys,
        mentions: Mentions::Once,
        of_nodes,
        of_edges,
        graph,
        recognised,
        findings,
        labels: None,
    };
    // A graph of several node types, of which the sidecar knows, is told apart by keys.
    if by_label && options.shown.is_some() {
        listing.hold_labels(&options.budget)?;
    }
    Ok(listing)
}
