//! GraphAr as a [`Source`] of the model.

use std::sync::Arc;

use isomorph_error::{Error, Findings, Place, Result, index};
use isomorph_model::statistics::Statistics;
use isomorph_model::{About, Cost, EdgeOrder, EndForm, Graph, Narrowing, NodeId, Part, Request, Side, Source, Tables};

use crate::layout::chunk_count;
use crate::read::{Asked, Bounds, EdgePart, EdgeScan, PartOffsets, Ranges, VertexPart, add_rows, empty_part};
use crate::table::{EdgeTable, List, VertexTable};
use crate::{GraphAr, rules};

type Parts<'a> = Vec<Box<dyn Part + 'a>>;

/// A chunk with its part and its number.
type NumberedChunk<'a> = (u64, u64, EdgePart<'a>);

impl Source for GraphAr {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        self.scan_parts(request)
    }

    fn edge_orders(&self, ty: usize) -> Vec<EdgeOrder> {
        let lists = self.edges.get(ty).map(|table| table.lists.as_slice()).unwrap_or_default();
        lists.iter().filter(|list| list.kind.ordered()).map(|list| list.kind.order()).collect()
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        EndForm::Rows
    }

    fn about(&self) -> About {
        self.describe()
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let ty = &self.edge_table(edge)?.shown;
        let row = self.row_of(if side == Side::Out { ty.source } else { ty.target }, node)?;
        self.neighbors_of(edge, row, side, None)
    }

    fn narrowed_neighbors(
        &self,
        edge: usize,
        node: NodeId<'_>,
        side: Side,
        narrowing: Narrowing,
    ) -> Result<Box<dyn Part + '_>> {
        let ty = &self.edge_table(edge)?.shown;
        let row = self.row_of(if side == Side::Out { ty.source } else { ty.target }, node)?;
        self.neighbors_of(edge, row, side, Some(narrowing))
    }

    fn look_up_cost(&self, tables: Tables, column: &str) -> Cost {
        self.cost_of(tables, column)
    }

    fn statistics(&self, tables: Tables) -> Result<Statistics> {
        match tables {
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => self.node_statistics(ty),
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => self.edge_statistics(ty),
            _ => Ok(Statistics::default()),
        }
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        self.check(findings)
    }
}

impl GraphAr {
    /// Returns the table of node type `ty`.
    pub(crate) fn vertex_table(&self, ty: usize) -> Result<&VertexTable> {
        self.vertices.get(ty).ok_or_else(|| Error::usage(format!("there is no node type {ty}")))
    }

    /// Returns the table of edge type `ty`.
    pub(crate) fn edge_table(&self, ty: usize) -> Result<&EdgeTable> {
        self.edges.get(ty).ok_or_else(|| Error::usage(format!("there is no edge type {ty}")))
    }

    /// Returns the parts of a scan.
    ///
    /// # Errors
    /// As [`Source::scan`].
    pub(crate) fn scan_parts(&self, request: &Request) -> Result<Parts<'_>> {
        let mut parts: Parts<'_> = Vec::new();
        let (vertices, edges) = (0..self.vertices.len(), 0..self.edges.len());
        let (nodes, edges): (Vec<usize>, Vec<usize>) = match request.tables {
            Tables::All => (vertices.collect(), edges.collect()),
            Tables::AllNodes => (vertices.collect(), Vec::new()),
            Tables::AllEdges => (Vec::new(), edges.collect()),
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => (vec![ty], Vec::new()),
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => (Vec::new(), vec![ty]),
            Tables::Rest => (Vec::new(), Vec::new()),
        };
        let narrowing = request.narrowing().cloned();
        for ty in nodes {
            self.nodes(ty, narrowing.as_ref(), request.batch_rows, &mut parts)?;
        }
        for ty in edges {
            self.edges(ty, narrowing.as_ref(), request, &mut parts)?;
        }
        Ok(parts)
    }

    fn nodes<'a>(
        &'a self,
        ty: usize,
        narrowing: Option<&Arc<Narrowing>>,
        batch_rows: usize,
        parts: &mut Parts<'a>,
    ) -> Result<()> {
        let table = self.vertex_table(ty)?;
        let part =
            |chunk, some| VertexPart { table, ty, chunk, some, narrowing: narrowing.cloned(), batch_rows }.part();
        let asked = narrowing.and_then(|narrowing| narrowing.filter.as_ref()?.set_of(Narrowing::ROW));
        let Some(asked) = asked else {
            parts.extend((0..table.chunks()?).map(|chunk| part(chunk, None)));
            return Ok(());
        };
        let (all, size) = (table.rows()?, table.info.chunk_size);
        let rows: Vec<u64> = asked.rows().take_while(|row| *row < all).collect();
        for of_chunk in rows.chunk_by(|one, other| one / size == other / size) {
            let Some(chunk) = of_chunk.first().map(|row| row / size) else { continue };
            let mut some = Ranges::new();
            add_rows(&mut some, of_chunk.iter().map(|row| row % size));
            parts.push(part(chunk, Some(some)));
        }
        Ok(())
    }

    fn edges<'a>(
        &'a self,
        ty: usize,
        narrowing: Option<&Arc<Narrowing>>,
        request: &Request,
        parts: &mut Parts<'a>,
    ) -> Result<()> {
        let asked = self.asked_edges(ty, request)?;
        let list = match &asked {
            Some(asked) => asked.list,
            None => self.edge_table(ty)?.list_in_order(request.order)?,
        };
        let scan = Arc::new(self.edge_scan(ty, list, narrowing.cloned(), request.batch_rows)?);
        if let Some(asked) = asked {
            return self.found_edges(&scan, asked, parts);
        }
        parts.extend(self.chunks_of(&scan)?.into_iter().map(|(_, _, part)| part.part()));
        if list.kind.ordered() {
            let counts = list.counts()?;
            let empty = (0..).zip(&counts.edges).filter(|(_, edges)| **edges == 0).map(|(part, _)| part);
            parts.extend(empty.map(|part| empty_part(Arc::clone(&scan), part)));
        }
        Ok(())
    }

    /// Returns the chunks of `list` with their part and chunk numbers, each with all properties.
    ///
    /// # Errors
    /// As [`Source::scan`].
    pub(crate) fn list_parts<'a>(
        &'a self,
        ty: usize,
        list: &'a List,
        batch_rows: usize,
    ) -> Result<Vec<NumberedChunk<'a>>> {
        self.chunks_of(&Arc::new(self.edge_scan(ty, list, None, batch_rows)?))
    }

    pub(crate) fn chunks_of<'a>(&'a self, scan: &Arc<EdgeScan<'a>>) -> Result<Vec<NumberedChunk<'a>>> {
        let counts = scan.list.counts().map_err(|error| scan.table.with_other_lists(error, scan.list))?;
        let mut chunks = Vec::new();
        for (part, edges) in (0..).zip(&counts.edges) {
            chunks.extend(chunks_of_part(scan, part, *edges));
        }
        Ok(chunks)
    }

    /// The same of one part.
    ///
    /// # Errors
    /// As [`Source::scan`].
    pub(crate) fn chunks_in<'a>(&'a self, scan: &Arc<EdgeScan<'a>>, part: u64) -> Result<Vec<NumberedChunk<'a>>> {
        let counts = scan.list.counts().map_err(|error| scan.table.with_other_lists(error, scan.list))?;
        let edges = counts.edges.get(index(part)).copied().unwrap_or_default();
        Ok(chunks_of_part(scan, part, edges).collect())
    }

    /// What the parts of a scan of `list` have in common. The counts of the list must fit those of the vertices.
    pub(crate) fn edge_scan<'a>(
        &'a self,
        ty: usize,
        list: &'a List,
        narrowing: Option<Arc<Narrowing>>,
        batch_rows: usize,
    ) -> Result<EdgeScan<'a>> {
        let table = self.edge_table(ty)?;
        let (source, target) = (table.shown.source, table.shown.target);
        let vertices = (self.vertex_table(source)?.rows()?, self.vertex_table(target)?.rows()?);
        let aligned = if list.kind.by_source() { vertices.0 } else { vertices.1 };
        let counts = list.counts().map_err(|error| table.with_other_lists(error, list))?;
        if counts.vertices != aligned {
            let message = format!("vertex count is {}, but the vertex type has {aligned} vertices", counts.vertices);
            let error = Error::broken(&rules::COUNT_ALIGNED, message).at(Place::file(list.layout.vertex_count()));
            return Err(table.with_other_lists(error, list));
        }
        Ok(EdgeScan { table, ty, list, vertices, narrowing, batch_rows })
    }
}

/// The chunks of a part with so many edges.
fn chunks_of_part<'a>(scan: &Arc<EdgeScan<'a>>, part: u64, edges: u64) -> impl Iterator<Item = NumberedChunk<'a>> {
    let (bounds, offsets) = (Arc::new(Bounds::default()), Arc::new(PartOffsets::default()));
    let (scan, number) = (Arc::clone(scan), chunk_count(edges, scan.list.chunk_size));
    (0..number).map(move |chunk| {
        let (rows, last, asked) = (scan.list.chunk_rows(edges, chunk), chunk + 1 == number, Asked::All);
        let (scan, bounds, offsets) = (Arc::clone(&scan), Arc::clone(&bounds), Arc::clone(&offsets));
        (part, chunk, EdgePart { scan, part, chunk, rows, asked, last, bounds, offsets })
    })
}
