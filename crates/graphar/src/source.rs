//! GraphAr as a source of the model.

use std::sync::Arc;

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::{About, EdgeOrder, EndForm, Graph, Narrowing, NodeId, Part, Request, Side, Source, Tables};

use crate::layout::chunk_count;
use crate::read::{Bounds, EdgePart, EdgeScan, PartOffsets, RowSet, VertexPart, empty_part};
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
        self.neighbors_of(edge, row, side)
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        self.check(findings)
    }
}

impl GraphAr {
    /// The table of node type `ty`.
    pub(crate) fn vertex_table(&self, ty: usize) -> Result<&VertexTable> {
        self.vertices.get(ty).ok_or_else(|| Error::usage(format!("there is no node type {ty}")))
    }

    /// The table of edge type `ty`.
    pub(crate) fn edge_table(&self, ty: usize) -> Result<&EdgeTable> {
        self.edges.get(ty).ok_or_else(|| Error::usage(format!("there is no edge type {ty}")))
    }

    /// The parts of a scan.
    ///
    /// # Errors
    /// As [`Source::scan`].
    pub(crate) fn scan_parts(&self, request: &Request) -> Result<Parts<'_>> {
        let mut parts: Parts<'_> = Vec::new();
        let least = || Some(Arc::new(Narrowing::least()));
        let narrowing = request.narrowing().cloned();
        let (nodes, edges) = (0..self.vertices.len(), 0..self.edges.len());
        match request.tables {
            Tables::All => {
                nodes.into_iter().try_for_each(|ty| self.nodes(ty, None, request, &mut parts))?;
                edges.into_iter().try_for_each(|ty| self.edges(ty, None, request, &mut parts))?;
            }
            Tables::AllNodes => nodes.into_iter().try_for_each(|ty| self.nodes(ty, None, request, &mut parts))?,
            Tables::AllEdges => edges.into_iter().try_for_each(|ty| self.edges(ty, None, request, &mut parts))?,
            Tables::Nodes(ty) => self.nodes(ty, narrowing, request, &mut parts)?,
            Tables::NodeKeys(ty) => self.nodes(ty, least(), request, &mut parts)?,
            Tables::Edges(ty) => self.edges(ty, narrowing, request, &mut parts)?,
            Tables::EdgeEnds(ty) => self.edges(ty, least(), request, &mut parts)?,
            Tables::Rest => {}
        }
        Ok(parts)
    }

    /// The vertices of a type that are shown, if not all.
    pub(crate) fn row_set(&self, ty: usize) -> Result<Option<Arc<RowSet>>> {
        let table = self.vertex_table(ty)?;
        match table.filter {
            None => Ok(None),
            Some(_) => self.row_sets.get(ty, || table.row_set()).map(Some),
        }
    }

    fn nodes<'a>(
        &'a self,
        ty: usize,
        narrowing: Option<Arc<Narrowing>>,
        request: &Request,
        parts: &mut Parts<'a>,
    ) -> Result<()> {
        let table = self.vertex_table(ty)?;
        let set = self.row_set(ty)?;
        for chunk in 0..table.chunks()? {
            let (batch_rows, narrowing, set) = (request.batch_rows, narrowing.clone(), set.clone());
            parts.push(VertexPart { table, ty, chunk, narrowing, batch_rows, set }.part());
        }
        Ok(())
    }

    fn edges<'a>(
        &'a self,
        ty: usize,
        narrowing: Option<Arc<Narrowing>>,
        request: &Request,
        parts: &mut Parts<'a>,
    ) -> Result<()> {
        let list = self.edge_table(ty)?.list_in_order(request.order)?;
        let scan = self.edge_scan(ty, list, narrowing, request.batch_rows)?;
        let scan = Arc::new(scan);
        parts.extend(self.chunks_of(&scan)?.into_iter().map(|(_, _, part)| part.part()));
        if list.kind.ordered() && self.edge_table(ty)?.filters.is_empty() {
            let counts = list.counts()?;
            let empty = (0..).zip(&counts.edges).filter(|(_, edges)| **edges == 0).map(|(part, _)| part);
            parts.extend(empty.map(|part| empty_part(Arc::clone(&scan), part)));
        }
        Ok(())
    }

    /// The chunks of `list` with their parts and numbers, each with all properties that are shown.
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
            let message = format!("{} here, {aligned} for the vertex type", counts.vertices);
            let error = Error::broken(&rules::COUNT_ALIGNED, message).at(Place::file(list.layout.vertex_count()));
            return Err(table.with_other_lists(error, list));
        }
        let sets = (self.row_set(source)?, self.row_set(target)?);
        Ok(EdgeScan { table, ty, list, vertices, narrowing, batch_rows, sets })
    }
}
