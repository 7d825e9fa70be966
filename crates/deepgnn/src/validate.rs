//! Checking every rule.

use isomorph_error::{Findings, Place, Result};

use crate::binary::DUMMY;
use crate::block::Block;
use crate::rules;
use crate::source::{BlockPlace, DeepGnn, Form};
use crate::text::Fault;

/// Reads everything. What cannot be read ends the check: the first such line or record is reported as an error.
///
/// Ids of nodes are held in memory, 8 bytes each, to find those that are stated twice or not at all.
///
/// # Errors
/// When something cannot be read.
pub(crate) fn validate(graph: &DeepGnn, findings: &mut Findings) -> Result<()> {
    match &graph.form {
        Form::Text(_, survey) => findings.merge(survey.findings.clone()),
        Form::Binary(binary) => findings.merge(binary.noticed.clone()),
    }
    let mut check = Check::default();
    graph.blocks(|place, block| {
        check.block(&place, block, findings);
        graph.columns.node_features.columns(&block.nodes.features, 0..block.nodes.ids.len())?;
        graph.columns.edge_features.columns(&block.edges.features, 0..block.edges.sources.len())?;
        Ok(())
    })?;
    check.ids(findings);
    if let Form::Binary(binary) = &graph.form
        && binary.meta.nodes != check.nodes.len() as u64
    {
        let message = format!("meta.json says {} nodes, the partitions have {}", binary.meta.nodes, check.nodes.len());
        findings.push(&rules::COUNTS, message, Place::field("node_count"));
    }
    Ok(())
}

#[derive(Default)]
struct Check {
    nodes: Vec<u64>,
    /// Sources of edges, each run of equal ones once.
    sources: Vec<u64>,
    /// The edge before: source, type, target.
    last: Option<(u64, i32, u64)>,
}

impl Check {
    fn block(&mut self, place: &BlockPlace<'_>, block: &Block, findings: &mut Findings) {
        let nodes = block.nodes.ids.iter().zip(&block.nodes.types);
        self.nodes.extend(nodes.filter(|(_, ty)| **ty != DUMMY).map(|(id, _)| *id));
        let edges = &block.edges;
        let mut begins = block.nodes.edges_before.iter().peekable();
        for (edge, ((source, target), ty)) in edges.sources.iter().zip(&edges.targets).zip(&edges.types).enumerate() {
            // Behind a statement of a node its edges begin anew.
            while begins.next_if(|before| **before as usize <= edge).is_some() {
                self.last = None;
            }
            match self.last {
                Some((before, _, _)) if before != *source => self.sources.push(*source),
                None => self.sources.push(*source),
                Some((_, before, _)) if before > *ty => {
                    let message = format!("type {ty} behind type {before} of node {source}");
                    findings.push(&rules::TYPE_ORDER, message, of_edge(place, block, edge));
                }
                // Edges with times are in the order of their times.
                Some((_, same, before)) if same == *ty && before > *target && edges.lives.is_empty() => {
                    let message = format!("target {target} behind {before} of node {source}");
                    findings.push(&rules::EDGE_ORDER, message, of_edge(place, block, edge));
                }
                Some(_) => {}
            }
            self.last = Some((*source, *ty, *target));
        }
    }

    fn ids(&mut self, findings: &mut Findings) {
        self.nodes.sort_unstable();
        for pair in self.nodes.windows(2).filter(|pair| pair[0] == pair[1]) {
            findings.push(&rules::NODE_REPEATED, format!("node {} is stated again", pair[0]), Place::default());
        }
        self.sources.sort_unstable();
        self.sources.dedup();
        for source in self.sources.iter().filter(|source| self.nodes.binary_search(source).is_err()) {
            findings.push(&rules::EDGE_END, format!("node {source} has edges and is not stated"), Place::default());
        }
    }
}

fn of_edge(place: &BlockPlace<'_>, block: &Block, edge: usize) -> Place {
    match place {
        BlockPlace::Text(text, piece) => {
            let record = block.records.partition_point(|end| end.edges as usize <= edge);
            let at = block.records.get(record).map_or(0, |end| end.at as usize);
            let line = Fault::place_in(&piece.text, piece.line, at);
            Place { file: Some(text.file_name(piece.file).to_owned()), ..line }
        }
        BlockPlace::Edges(partition, start) => partition.place_of_edge(start + edge as u64),
        BlockPlace::Nodes(partition, start) => partition.place_of_entry(*start),
    }
}
