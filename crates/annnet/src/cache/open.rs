//! A graph opened only for look-ups: rows are read on demand.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::UInt32Array;
use isomorph_error::{Error, Findings, Kind, Result};
use isomorph_model::{Batch, EdgeBatch, Ends, Graph, Incidents, Narrowing, NodeId, Part, Request, Side, Source, part};
use isomorph_storage::Location;

use super::{Cache, Side as CacheSide, if_sound};
use crate::cells::Cells;
use crate::layout::{Layout, column, file, not_annnet};
use crate::members::{Files, Members};
use crate::read::{
    Attributes, COLUMNS, LayerColumns, Layers, Manifest, describe_edges, directions, in_pieces, only_of, ranges_of,
    weights,
};
use crate::table::Table;
use crate::{Annnet, OpenOptions};

/// The edges of nodes that are named by their ids, found by the views in `cache/`.
///
/// ```no_run
/// use isomorph_annnet::{LookUps, OpenOptions};
/// use isomorph_model::{NodeId, Side};
/// use isomorph_storage::Location;
///
/// let graph = LookUps::open(&Location::parse("graph.annnet.d")?, &OpenOptions::default())?;
/// for edges in graph.neighbors(0, NodeId::Key("a"), Side::Out)? {
///     println!("{} edges", edges?.rows());
/// }
/// # Ok::<(), isomorph_error::Error>(())
/// ```
///
/// It describes nodes and edges only, and cannot be scanned.
pub struct LookUps {
    cache: Cache,
    manifest: Manifest,
    layers: Layers,
    layer_columns: LayerColumns,
    edges: Table,
    files: Files,
    options: OpenOptions,
    /// The attribute table, with the rows in the order of the edge table.
    beside: Option<Table>,
    attributes: Attributes,
    graph: Graph,
}

impl LookUps {
    /// Opens a graph for look-ups: through its views if they match it and are sufficient, otherwise as a whole.
    ///
    /// # Errors
    /// Returns the errors of [`Annnet::open`].
    pub fn open(location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let members = Members::open(location, options)?;
        let layout = Layout::of(&members)?.ok_or_else(|| not_annnet(&location.to_string()))?;
        // Errors in the tables are reported when they are opened.
        match if_sound(LookUps::of(&members, layout, options))?.flatten() {
            Some(look_ups) => Ok(Arc::new(look_ups)),
            None => Ok(Arc::new(Annnet::of(members, layout, options)?)),
        }
    }

    fn of(members: &Members, layout: Layout, options: &OpenOptions) -> Result<Option<LookUps>> {
        // Older layouts must first be converted to the current tables.
        if layout == Layout::V1 {
            return Ok(None);
        }
        let (words, mut findings) = (layout.words(), Findings::default());
        let manifest = Manifest::read(members, &mut findings)?;
        let cache = Cache::open(members, &words, manifest.graph_version.as_deref(), &options.budget)?;
        let Some(cache) = cache.filter(Cache::is_direct) else { return Ok(None) };
        let layers = Layers::read(members, layout, &mut findings)?;
        let edges = Table::must(members, file::EDGES)?;
        let beside = Table::find(members, words.edge_table)?.filter(|table| table.has(column::EDGE_ID));
        let attributes = |table: &Table| Attributes::of_edges(table, &mut findings);
        let attributes = beside.as_ref().map(attributes).transpose()?.unwrap_or_default();
        let graph = describe_edges(cache.nodes(), None, &attributes, !layers.is_flat());
        Ok(Some(LookUps {
            cache,
            files: members.files(),
            options: options.clone(),
            manifest,
            layer_columns: layers.columns(),
            layers,
            edges,
            beside: beside.filter(|_| !attributes.properties.is_empty()),
            attributes,
            graph,
        }))
    }

    /// The graph as a whole.
    fn whole(&self) -> Result<Annnet> {
        let members = Members::of(self.files.clone());
        let layout = Layout::of(&members)?.ok_or_else(|| not_annnet(&self.edges.name))?;
        // Files were already verified when the views were opened.
        Annnet::of(members, layout, &OpenOptions { verify: false, ..self.options.clone() })
    }

    /// The edges that the views name.
    fn by_views(&self, key: &str, side: Side, narrowing: Option<Narrowing>) -> Result<Box<dyn Part + '_>> {
        let wanted = if side == Side::Out { CacheSide::Source } else { CacheSide::Target };
        let rows = self.cache.edges_of(key, &[wanted])?;
        if rows.is_empty() && !self.cache.knows(key)? {
            return Err(Error::new(Kind::NotFound, format!("there is no node {key:?}")));
        }
        let key = key.to_owned();
        in_pieces(rows, move |rows| only_of(self.batch(&ranges_of(rows), narrowing.as_ref())?, &key, side))
    }

    fn found(
        &self,
        edge: usize,
        node: NodeId<'_>,
        side: Side,
        narrowing: Option<Narrowing>,
    ) -> Result<Box<dyn Part + '_>> {
        let NodeId::Key(key) = node else {
            return Err(Error::usage("a graph that was opened for look-ups knows its nodes by their ids"));
        };
        if edge > 0 {
            return Err(Error::usage("there is one type of edges"));
        }
        match if_sound(self.by_views(key, side, narrowing))? {
            Some(found) => Ok(found),
            None => {
                let whole = self.whole()?;
                let found: Vec<Result<Batch>> = whole.neighbors(edge, node, side)?.collect();
                Ok(part::of(None, found.into_iter()))
            }
        }
    }

    fn batch(&self, rows: &[Range<u64>], narrowing: Option<&Narrowing>) -> Result<EdgeBatch> {
        let names = self.attributes.names_of(narrowing, 1);
        let cells = self.edges.read_rows(&COLUMNS, rows)?;
        let mut properties = vec![Some(weights(&cells)?)];
        properties.extend(match self.beside.as_ref().filter(|_| !names.is_empty()) {
            Some(table) => self.attributes.columns(&table.read_rows(&names, rows)?)?,
            None => self.attributes.absent(),
        });
        let layers = match self.layers.is_flat() {
            true => None,
            false => Some((self.layer(&cells, column::SOURCE_LAYER)?, self.layer(&cells, column::TARGET_LAYER)?)),
        };
        Ok(EdgeBatch {
            ty: 0,
            rows: cells.rows(),
            relations: None,
            source: Ends::Keys(Arc::new(cells.text(column::SOURCE)?)),
            target: Ends::Keys(Arc::new(cells.text(column::TARGET)?)),
            layers,
            directed: directions(&cells, self.manifest.is_directed())?,
            keys: Some(Arc::new(cells.text(column::EDGE_ID)?)),
            properties,
        })
    }

    fn layer(&self, cells: &Cells, name: &str) -> Result<arrow_array::ArrayRef> {
        let numbers = cells.integers(name)?;
        let layer = |number: Option<i64>| number.map(|number| self.layers.at(number)).transpose();
        self.layer_columns.column(&numbers.iter().map(layer).collect::<Result<UInt32Array>>()?)
    }
}

impl Source for LookUps {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, _request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        Err(Error::usage("the graph was opened for look-ups only"))
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        self.found(edge, node, side, None)
    }

    fn narrowed_neighbors(
        &self,
        edge: usize,
        node: NodeId<'_>,
        side: Side,
        narrowing: Narrowing,
    ) -> Result<Box<dyn Part + '_>> {
        self.found(edge, node, side, Some(narrowing))
    }

    /// The graph as a whole, if there are hyperedges that the node is a member of, or one of the same hash, which the views say.
    fn incidents(&self, key: &str) -> Result<Incidents> {
        let sides = [CacheSide::Head, CacheSide::Tail, CacheSide::Member];
        if if_sound(self.cache.edges_of(key, &sides))?.is_some_and(|found| found.is_empty()) {
            return Ok(Incidents::None);
        }
        Ok(Incidents::In(Arc::new(self.whole()?)))
    }
}
