//! GraphAr as a [`Source`] of the model.

use std::sync::Arc;

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::{About, EdgeOrder, EndForm, Graph, Narrowing, NodeId, Part, Request, Side, Source, Tables};

use crate::layout::chunk_count;
use crate::read::{Bounds, EdgePart, EdgeScan, PartOffsets, VertexPart, empty_part};
use crate::table::{EdgeTable, List, VertexTable};
use crate::{GraphAr, rules};

type Parts<'a> = Vec<Box<dyn Part + 'a>>;

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
        let narrowing = match request.tables {
            Tables::NodeKeys(_) | Tables::EdgeEnds(_) => Some(Arc::new(Narrowing::least())),
            _ => request.narrowing().cloned(),
        };
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
        let part = |chunk| VertexPart { table, ty, chunk, narrowing: narrowing.cloned(), batch_rows }.part();
        parts.extend((0..table.chunks()?).map(part));
        Ok(())
    }

    fn edges<'a>(
        &'a self,
        ty: usize,
        narrowing: Option<&Arc<Narrowing>>,
        request: &Request,
        parts: &mut Parts<'a>,
    ) -> Result<()> {
        let list = self.edge_table(ty)?.list_in_order(request.order)?;
        let scan = Arc::new(self.edge_scan(ty, list, narrowing.cloned(), request.batch_rows)?);
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
    ) -> Result<Vec<(u64, u64, EdgePart<'a>)>> {
        self.chunks_of(&Arc::new(self.edge_scan(ty, list, None, batch_rows)?))
    }

    fn chunks_of<'a>(&'a self, scan: &Arc<EdgeScan<'a>>) -> Result<Vec<(u64, u64, EdgePart<'a>)>> {
        let (table, list) = (scan.table, scan.list);
        let counts = list.counts().map_err(|error| table.with_other_lists(error, list))?;
        let mut chunks = Vec::new();
        for (part, edges) in (0..).zip(&counts.edges) {
            let (bounds, offsets) = (Arc::new(Bounds::default()), Arc::new(PartOffsets::default()));
            let number = chunk_count(*edges, list.chunk_size);
            for chunk in 0..number {
                let rows = list.chunk_rows(*edges, chunk);
                let (bounds, offsets) = (Arc::clone(&bounds), Arc::clone(&offsets));
                let (scan, last) = (Arc::clone(scan), chunk + 1 == number);
                chunks.push((part, chunk, EdgePart { scan, part, chunk, rows, last, bounds, offsets }));
            }
        }
        Ok(chunks)
    }

    /// Returns what the parts of a scan of `list` share. The counts of the list must match those of the vertices.
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
