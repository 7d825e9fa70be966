//! The graph as a source of model batches.

use std::sync::Arc;

use isomorph_error::{Error, Findings, Result};
use isomorph_model::statistics::{ColumnStatistics, Known, Statistics};
use isomorph_model::{
    About, Cost, EdgeOrder, Graph, Narrowing, NodeId, Part, Predicate, Request, Set, Side, Source, Tables,
};

use super::Annnet;
use super::edge_part::EdgePart;
use super::edges::Class;
use super::groups::GroupPart;
use super::neighbors::neighbors;
use super::nodes::NodePart;
use super::other_part::OtherPart;
use super::slice_part::{EdgeMemberships, NodeMemberships};
use crate::layout::word;
use crate::members::Archive;
use crate::validate;

type Parts<'a> = Vec<Box<dyn Part + 'a>>;

impl Annnet {
    fn node_parts(&self, narrowing: Option<Arc<Narrowing>>, batch_rows: usize) -> Parts<'_> {
        let (entities, table) = (&self.entities, &self.nodes);
        let some = narrowing.as_ref().and_then(|narrowing| self.asked(narrowing.filter.as_ref()?));
        let part = |nodes| {
            let (some, narrowing) = (some.clone(), narrowing.clone());
            NodePart { entities, table, nodes, some, narrowing, batch_rows }.part()
        };
        table.groups(entities.len()).into_iter().map(part).collect()
    }

    /// The rows of nodes that a filter names by their keys or rows, ascending.
    fn asked(&self, filter: &Predicate) -> Option<Arc<[u32]>> {
        let mut rows: Vec<u32> = match filter.set_of(Narrowing::KEY).and_then(Set::texts) {
            Some(keys) => self.entities.rows_of(keys).into_iter().flatten().collect(),
            None => {
                let rows = filter.set_of(Narrowing::ROW)?.rows().filter(|row| *row < self.entities.len() as u64);
                rows.filter_map(|row| u32::try_from(row).ok()).collect()
            }
        };
        rows.sort_unstable();
        rows.dedup();
        Some(rows.into())
    }

    fn edge_parts(&self, narrowing: Option<Arc<Narrowing>>, batch_rows: usize) -> Parts<'_> {
        let part = |group| EdgePart { annnet: self, group, narrowing: narrowing.clone(), batch_rows }.part();
        (0..self.edges.groups.len()).map(part).collect()
    }

    fn rest_parts(&self, batch_rows: usize) -> Parts<'_> {
        let mut parts: Parts<'_> = Vec::new();
        for (ty, class) in self.others.iter().copied().enumerate() {
            for group in 0..self.edges.groups.len() {
                parts.push(OtherPart { annnet: self, ty, class, group, batch_rows }.part());
            }
        }
        parts.push(GroupPart { annnet: self, batch_rows }.part());
        let Some(kind) = self.graph.groups.iter().position(|kind| kind.kind == word::SLICE) else { return parts };
        for rows in self.slices.nodes.iter().flat_map(|table| table.groups()) {
            parts.push(NodeMemberships { annnet: self, kind, rows, batch_rows }.part());
        }
        for rows in self.slices.edges.iter().flat_map(|table| table.groups()) {
            parts.push(EdgeMemberships { annnet: self, kind, rows: Some(rows), batch_rows }.part());
        }
        if !self.slices.pairs.unlisted.is_empty() {
            parts.push(EdgeMemberships { annnet: self, kind, rows: None, batch_rows }.part());
        }
        parts
    }
}

impl Source for Annnet {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Edges, hyperedges and memberships are delivered in one part for each row group of their tables.
    fn scan(&self, request: &Request) -> Result<Parts<'_>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::unsupported("edges in annnet files are not sorted by their ends"));
        }
        let rows = request.batch_rows.max(1);
        let narrowing = || request.narrowing().cloned();
        Ok(match request.tables {
            Tables::All => {
                let mut parts = self.node_parts(None, rows);
                parts.extend(self.edge_parts(None, rows));
                parts.extend(self.rest_parts(rows));
                parts
            }
            Tables::AllNodes | Tables::Nodes(0) | Tables::NodeKeys(0) => self.node_parts(narrowing(), rows),
            Tables::AllEdges | Tables::Edges(0) | Tables::EdgeEnds(0) => self.edge_parts(narrowing(), rows),
            Tables::Rest => self.rest_parts(rows),
            Tables::Nodes(_) | Tables::NodeKeys(_) | Tables::Edges(_) | Tables::EdgeEnds(_) => Vec::new(),
        })
    }

    fn about(&self) -> About {
        // Web servers have no listing: the number of files is then unknown and shown as 0.
        let files = self.members.list().unwrap_or_default();
        let mut layout = Vec::new();
        let mut count = |number: u64, what: &str| {
            if number > 0 {
                layout.push(format!("{number} {what}{}", if number == 1 { "" } else { "s" }));
            }
        };
        count(self.layers.aspects.len() as u64, "aspect");
        count(self.layer_groups.layers.len() as u64, "layer");
        count(self.entities.placements.len() as u64, "placement");
        count(self.slices.names.len() as u64, "slice");
        count(self.edges.groups.len() as u64, "row group");
        let writer = self.manifest.annnet_version.as_deref().map(|version| format!(", written by annnet {version}"));
        About {
            format: match self.members.archive() {
                None => "annnet".to_owned(),
                Some(Archive::Zip) => "annnet (zip)".to_owned(),
                Some(Archive::Tar) => "annnet (tar.gz)".to_owned(),
            },
            version: format!("{}{}", self.layout.name(), writer.unwrap_or_default()),
            files: files.len() as u64,
            bytes: files.iter().map(|(_, size)| size).sum(),
            layout: layout.join(" · "),
            edge_layouts: Vec::new(),
            findings: self.noticed.clone(),
        }
    }

    /// Ids of nodes are in memory, those of edges after a look at all of them; edges are found by their ends by a look at one column.
    fn look_up_cost(&self, tables: Tables, column: &str) -> Cost {
        match (tables, column) {
            (Tables::Nodes(_) | Tables::NodeKeys(_), Narrowing::KEY | Narrowing::ROW) => Cost::INDEX,
            (Tables::Nodes(_) | Tables::NodeKeys(_), _) => Cost::pass(Some(self.entities.len() as u64)),
            (Tables::Edges(_) | Tables::EdgeEnds(_), Narrowing::KEY) => self.cost_of_edges(),
            _ => Cost::pass(Some(self.edges.table.rows())),
        }
    }

    /// Nodes and edges were counted when the graph was opened.
    fn statistics(&self, tables: Tables) -> Result<Statistics> {
        Ok(match tables {
            Tables::Nodes(0) | Tables::NodeKeys(0) => {
                let rows = Known::Exact(self.entities.len() as u64);
                let mut columns = self.nodes.statistics()?;
                columns.push((Narrowing::KEY.to_owned(), ColumnStatistics::of_keys(rows)));
                Statistics { rows, columns }
            }
            Tables::Edges(0) | Tables::EdgeEnds(0) => {
                let rows = self.edges.count(Class::TwoEnded);
                let is_all = rows == self.edges.table.rows();
                let columns = if is_all { self.edge_attributes.statistics()? } else { Vec::new() };
                Statistics { rows: Known::Exact(rows), columns }
            }
            _ => Statistics::default(),
        })
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        if edge > 0 {
            return Err(Error::usage("annnet has only one edge type"));
        }
        neighbors(self, node, side, None)
    }

    fn narrowed_neighbors(
        &self,
        edge: usize,
        node: NodeId<'_>,
        side: Side,
        narrowing: Narrowing,
    ) -> Result<Box<dyn Part + '_>> {
        if edge > 0 {
            return Err(Error::usage("there is one type of edges"));
        }
        neighbors(self, node, side, Some(narrowing))
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        validate::validate(self, findings)
    }
}
