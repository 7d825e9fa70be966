//! Rules for rows and their sequence.

use std::collections::HashSet;

use arrow_array::Array;
use isomorph_error::{Findings, Place, Rule};
use isomorph_model::json::Members;

use super::cells;
use super::raw::{Raw, number, text};
use crate::columns::Column;
use crate::dataset::{Format, Partition};
use crate::rules;

/// Maximum number of characters of a field in Python's csv module.
const PYTHON_FIELD: usize = 131_072;

/// Maximum number of edge numbers of one node that are remembered; later edges of the node are not checked for repeats.
const REMEMBERED: i64 = 1 << 20;

/// Checks the rows of one partition, in their order.
pub(super) struct RowChecks<'a> {
    file: &'a str,
    is_text: bool,
    members: Members,
    node: Option<CurrentNode>,
}

/// The node whose edge rows are being read.
struct CurrentNode {
    name: String,
    is_rdf: Option<bool>,
    foreign: bool,
    /// Number of edge rows so far, and the largest edge number; the numbers themselves once they are not ascending.
    edges: usize,
    largest: i64,
    numbers: HashSet<i64>,
}

/// One row, and the destination of its findings.
struct Row<'r> {
    raw: &'r Raw<'r>,
    row: usize,
    file: &'r str,
    findings: &'r mut Findings,
}

impl Row<'_> {
    fn push(&mut self, rule: &'static Rule, column: Column, message: impl Into<String>) {
        let place = Place::file(self.file).row(self.raw.numbers.at(self.row)).in_field(column.name());
        self.findings.push(rule, message, place);
    }
}

impl<'a> RowChecks<'a> {
    /// Creates the checks for the rows of this partition.
    pub fn new(partition: &'a Partition) -> Self {
        let is_text = partition.format == Format::Csv;
        RowChecks { file: &partition.name, is_text, members: Members::default(), node: None }
    }

    /// Checks the next rows.
    pub fn check(&mut self, raw: &Raw<'_>, findings: &mut Findings) {
        for row in 0..raw.names.len() {
            let mut at = Row { raw, row, file: self.file, findings };
            if raw.edge_ids.is_null(row) {
                at.push(&rules::EDGE_ID, Column::EdgeId, "edge_id is null");
                continue;
            }
            let name = text(Some(&raw.names), row).flatten().unwrap_or_default();
            if name.is_empty() {
                at.push(&rules::NAME_EMPTY, Column::SrcName, "src_name is empty");
            }
            let sign = raw.edge_ids.value(row);
            // A nested edge row is an edge row whatever its number; without a number, its position counts.
            let stated = raw.stated_ids.as_ref().filter(|_| sign >= 0);
            let unstated = stated.filter(|ids| ids.is_null(row) || ids.value(row) < 0);
            if let Some(ids) = unstated {
                let id = if ids.is_null(row) { "null".to_owned() } else { ids.value(row).to_string() };
                at.push(&rules::EDGE_ID, Column::EdgeId, format!("edge_id is {id} on an edge row"));
            }
            let id = stated.filter(|_| unstated.is_none()).map_or(sign, |ids| ids.value(row));
            if id < -1 || i32::try_from(id).is_err() {
                at.push(&rules::EDGE_ID_RANGE, Column::EdgeId, format!("edge_id is {id}"));
            }
            let is_rdf = raw.is_rdf.as_ref().map(|flags| flags.is_valid(row).then(|| flags.value(row)));
            if is_rdf == Some(None) {
                at.push(&rules::RDF_NULL, Column::IsRdf, "is_rdf is null");
            }
            let is_rdf = is_rdf.flatten();
            if id < 0 {
                self.node_row(&mut at, name, is_rdf);
            } else {
                self.edge_row(&mut at, name, unstated.is_none().then_some(id), is_rdf);
            }
            self.both(&mut at);
        }
    }

    fn node_row(&mut self, at: &mut Row<'_>, name: &str, is_rdf: Option<bool>) {
        let (raw, row) = (at.raw, at.row);
        for (column, cells) in [(Column::RelName, &raw.rels), (Column::DstName, &raw.dsts)] {
            match text(cells.as_ref(), row) {
                Some(None) => at.push(&rules::MISSING_NULL, column, format!("{column} is null on a node row")),
                Some(Some("")) | None => {}
                Some(Some(_)) => at.push(&rules::IGNORED, column, format!("{column} has a value on a node row")),
            }
        }
        let shadow = number(raw.shadow.as_ref(), row);
        if matches!(shadow, Some(None) | Some(Some(..-1))) {
            at.push(&rules::SHADOW_RANGE, Column::Shadow, "shadow is null or less than -1");
        }
        match text(raw.labels.as_ref(), row) {
            Some(None) => at.push(&rules::LABELS_NULL, Column::Labels, "labels are null on a node row"),
            Some(Some(labels)) => {
                if let Some(message) = cells::labels(labels) {
                    at.push(&rules::LABELS, Column::Labels, message);
                }
            }
            None => {}
        }
        if is_rdf == Some(true) && !cells::is_iri(name) {
            at.push(&rules::RDF_NAME, Column::SrcName, "a node from an RDF stack has a non-IRI name");
        }
        let foreign = matches!(shadow, Some(Some(0..)));
        let node =
            CurrentNode { name: name.to_owned(), is_rdf, foreign, edges: 0, largest: -1, numbers: HashSet::new() };
        self.node = Some(node);
    }

    fn edge_row(&mut self, at: &mut Row<'_>, name: &str, id: Option<i64>, is_rdf: Option<bool>) {
        let (raw, row) = (at.raw, at.row);
        match text(raw.dsts.as_ref(), row) {
            Some(None | Some("")) => at.push(&rules::NAME_EMPTY, Column::DstName, "dst_name is empty on an edge row"),
            Some(Some(target)) if is_rdf == Some(true) && !cells::is_iri(target) => {
                at.push(&rules::RDF_NAME, Column::DstName, "an edge from an RDF stack has a non-IRI target");
            }
            _ => {}
        }
        match text(raw.rels.as_ref(), row) {
            Some(None) => at.push(&rules::REL_NULL, Column::RelName, "rel_name is null on an edge row"),
            Some(Some(relation)) if is_rdf == Some(true) && !cells::is_iri(relation) => {
                at.push(&rules::RDF_NAME, Column::RelName, "an edge from an RDF stack has a non-IRI relation");
            }
            _ => {}
        }
        if matches!(number(raw.shadow.as_ref(), row), Some(Some(0..))) {
            at.push(&rules::IGNORED, Column::Shadow, "shadow has a value on an edge row");
        }
        match text(raw.labels.as_ref(), row) {
            Some(None) => at.push(&rules::MISSING_NULL, Column::Labels, "labels are null on an edge row"),
            Some(Some("")) | None => {}
            Some(Some(_)) => at.push(&rules::IGNORED, Column::Labels, "labels have a value on an edge row"),
        }
        match &mut self.node {
            Some(node) if node.name == name => {
                if is_rdf.is_some() && node.is_rdf.is_some() && is_rdf != node.is_rdf {
                    at.push(&rules::RDF_EDGE, Column::IsRdf, "is_rdf differs from that of the source node");
                }
                if node.foreign && node.edges == 0 {
                    at.push(&rules::SHADOW_EDGES, Column::SrcName, "a node of another partition has edges here");
                }
                node.edges += 1;
                if let Some(id) = id.filter(|&id| node.repeats(id)) {
                    at.push(&rules::EDGE_ID_REPEATED, Column::EdgeId, format!("edge_id {id} is used by two edges"));
                }
            }
            _ => at.push(&rules::EDGE_SEQUENCE, Column::SrcName, "this edge row does not follow the row of its node"),
        }
    }

    /// Checks truth and properties, which both kinds of rows have.
    fn both(&mut self, at: &mut Row<'_>) {
        let (raw, row) = (at.raw, at.row);
        if let Some(truth) = &raw.truth {
            let value = truth.is_valid(row).then(|| truth.value(row));
            match value {
                None => at.push(&rules::TRUTH_MISSING, Column::Truth, "truth is null"),
                Some(value) if value.is_nan() => at.push(&rules::TRUTH_MISSING, Column::Truth, "truth is NaN"),
                Some(value) if !(0.0..=1.0).contains(&value) => {
                    at.push(&rules::TRUTH_RANGE, Column::Truth, format!("truth is {value}"));
                }
                Some(_) => {}
            }
        }
        match text(raw.props.as_ref(), row) {
            Some(None) => at.push(&rules::PROPS_NULL, Column::Props, "props is null"),
            Some(Some(props)) => {
                if let Some((rule, message)) = cells::props(props, &mut self.members) {
                    at.push(rule, Column::Props, message);
                }
            }
            None => {}
        }
        if self.is_text {
            let columns = [
                (Column::SrcName, Some(&raw.names)),
                (Column::DstName, raw.dsts.as_ref()),
                (Column::Labels, raw.labels.as_ref()),
                (Column::Props, raw.props.as_ref()),
            ];
            for (column, cells) in columns {
                let cell = text(cells, row).flatten().unwrap_or_default();
                if cell.len() > PYTHON_FIELD && cell.chars().count() > PYTHON_FIELD {
                    at.push(&rules::CSV_FIELD, column, "a field is too long for Python's csv module");
                }
            }
        }
    }
}

impl CurrentNode {
    /// Returns whether an earlier edge row of this node has the same number.
    fn repeats(&mut self, id: i64) -> bool {
        if id > self.largest && self.numbers.is_empty() {
            // While numbers ascend, the previous ones are between 0 and the largest; most files have all of them.
            if id == self.largest + 1 {
                self.largest = id;
                return false;
            }
            self.numbers.extend(0..=self.largest.min(REMEMBERED));
        } else if self.numbers.is_empty() {
            self.numbers.extend(0..=self.largest.min(REMEMBERED));
        }
        self.largest = self.largest.max(id);
        (self.numbers.len() as u64) < REMEMBERED.unsigned_abs() && !self.numbers.insert(id)
    }
}
