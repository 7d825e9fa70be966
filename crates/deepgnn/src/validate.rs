//! Validation of every rule.

use isomorph_error::{Findings, Place, Result};
use isomorph_model::Source;

use crate::binary::{DUMMY, Sums, check_ends, check_tables};
use crate::block::{Block, Depth, RecordEnd};
use crate::rules;
use crate::source::{BlockPlace, DeepGnn, Form};
use crate::text::{Fault, Piece, Text, TextFormat};
use crate::write::Records;

/// Reads everything. A line or record that cannot be read ends the check and is reported as an error.
///
/// Ids of nodes and of sources are sorted within the budget, to find nodes that are repeated or missing.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub(crate) fn validate(graph: &DeepGnn, findings: &mut Findings) -> Result<()> {
    match &graph.form {
        Form::Text(_, survey) => findings.merge(survey.findings.clone()),
        Form::Binary(binary) => findings.merge(binary.noticed.clone()),
    }
    let mut check = Check { ids: graph.records()?, nodes: 0, last_node: None, last: None };
    let mut sums = match &graph.form {
        Form::Text(..) => None,
        Form::Binary(binary) => Some(Sums::new(&binary.meta)),
    };
    graph.blocks(|place, block| {
        match (&mut sums, &place) {
            (Some(sums), BlockPlace::Nodes(at, ..)) => sums.nodes(*at, &block.nodes, findings),
            (Some(sums), BlockPlace::Edges(at, ..)) => sums.edges(*at, &block.edges, findings),
            _ => {}
        }
        check.block(&place, block, findings)?;
        graph.columns.node_features.columns(&block.nodes.features, 0..block.nodes.ids.len(), Depth::Full)?;
        graph.columns.edge_features.columns(&block.edges.features, 0..block.edges.sources.len(), Depth::Full)?;
        Ok(())
    })?;
    let nodes = check.nodes;
    check.ids(findings)?;
    if let Some(united) = graph.united()? {
        united.contradictions(graph.graph(), findings)?;
    }
    if let Form::Binary(binary) = &graph.form {
        if binary.meta.nodes != nodes {
            let message =
                format!("{} states {} nodes, but the partitions have {nodes}", binary.meta.file, binary.meta.nodes);
            findings.push(&rules::COUNTS, message, Place::file(binary.meta.file).in_field("node_count"));
        }
        if let Some(sums) = sums {
            sums.end(findings);
        }
        check_ends(binary, findings)?;
        check_tables(binary, findings)?;
        if let Some(lost) = binary.lost.as_ref().filter(|lost| lost.is_damage) {
            findings.push(&rules::NODE_WEIGHTS, lost.why.clone(), lost.place.clone());
        }
    }
    Ok(())
}

struct Check {
    /// Ids of nodes, and of sources of edges; runs of equal ids are stored once.
    ids: Records,
    nodes: u64,
    /// The previous node, of a text whose nodes must be sorted.
    last_node: Option<u64>,
    /// The previous edge: source, type, target.
    last: Option<(u64, i32, u64)>,
}

impl Check {
    fn block(&mut self, place: &BlockPlace<'_>, block: &Block, findings: &mut Findings) -> Result<()> {
        let nodes = block.nodes.ids.iter().zip(&block.nodes.types);
        let is_sorted = matches!(place, BlockPlace::Text(text, _) if text.format() == TextFormat::Linear);
        for (node, (id, _)) in nodes.filter(|(_, ty)| **ty != DUMMY).enumerate() {
            self.nodes += 1;
            self.ids.push_id(*id, NODE)?;
            if let Some(before) = self.last_node.replace(*id).filter(|before| is_sorted && before > id) {
                let message = format!("node {id} after node {before}");
                findings.push(&rules::NODE_ORDER, message, of_node(place, block, node));
            }
        }
        let edges = &block.edges;
        if matches!(place, BlockPlace::Edges(..)) {
            // Texts have already reported theirs.
            for (edge, weight) in edges.weights.iter().enumerate().filter(|(_, weight)| **weight < 0.0) {
                findings.push(&rules::NEGATIVE, format!("weight {weight}"), of_edge(place, block, edge));
            }
        }
        let mut begins = block.nodes.edges_before.iter().peekable();
        for (edge, ((source, target), ty)) in edges.sources.iter().zip(&edges.targets).zip(&edges.types).enumerate() {
            // After a statement of a node, the order of its edges starts again.
            while begins.next_if(|before| **before as usize <= edge).is_some() {
                self.last = None;
            }
            match self.last {
                Some((before, _, _)) if before != *source => self.ids.push_id(*source, SOURCE)?,
                None => self.ids.push_id(*source, SOURCE)?,
                Some((_, before, _)) if before > *ty => {
                    let message = format!("type {ty} after type {before} of node {source}");
                    findings.push(&rules::TYPE_ORDER, message, of_edge(place, block, edge));
                }
                // Edges with times are sorted by their times.
                Some((_, same, before)) if same == *ty && before > *target && edges.lives.is_empty() => {
                    let message = format!("target {target} after {before} of node {source}");
                    findings.push(&rules::EDGE_ORDER, message, of_edge(place, block, edge));
                }
                Some(_) => {}
            }
            self.last = Some((*source, *ty, *target));
        }
        Ok(())
    }

    fn ids(self, findings: &mut Findings) -> Result<()> {
        // The previous id, and whether it is that of a node, or of a source that has been reported.
        let mut before: Option<u64> = None;
        self.ids.each_id(|id, what| {
            let is_known = before == Some(id);
            before = Some(id);
            match what {
                NODE if is_known => {
                    findings.push(&rules::NODE_REPEATED, format!("node {id} is stated again"), Place::default());
                }
                SOURCE if !is_known => {
                    let message = format!("node {id} has edges but is not stated");
                    findings.push(&rules::EDGE_END, message, Place::default());
                }
                _ => {}
            }
            Ok(())
        })
    }
}

/// What an id belongs to: nodes sort before sources.
const NODE: u32 = 0;
const SOURCE: u32 = 1;

/// Returns the location of the first record of a block for which `is_before` is false.
fn of_record(text: &Text, piece: &Piece, block: &Block, is_before: impl Fn(&RecordEnd) -> bool) -> Place {
    let record = block.records.partition_point(is_before);
    let at = block.records.get(record).map_or(0, |end| end.at as usize);
    let line = Fault::place_in(&piece.text, piece.line, at);
    Place { file: Some(text.file_name(piece.file).to_owned()), ..line }
}

fn of_node(place: &BlockPlace<'_>, block: &Block, node: usize) -> Place {
    match place {
        BlockPlace::Text(text, piece) => of_record(text, piece, block, |end| end.nodes as usize <= node),
        BlockPlace::Nodes(_, partition, start) => partition.place_of_entry(start + node as u64),
        BlockPlace::Edges(_, partition, start) => partition.place_of_edge(*start),
    }
}

fn of_edge(place: &BlockPlace<'_>, block: &Block, edge: usize) -> Place {
    match place {
        BlockPlace::Text(text, piece) => of_record(text, piece, block, |end| end.edges as usize <= edge),
        BlockPlace::Edges(_, partition, start) => partition.place_of_edge(start + edge as u64),
        BlockPlace::Nodes(_, partition, start) => partition.place_of_entry(*start),
    }
}
