//! How formats give and take rows.
//!
//! A scan is a list of [`Part`]s: independent pieces of the input (a chunk, a row group) in a fixed order. Whoever
//! drives the scan pulls their batches, one part after another, or on all cores. Nothing flows back: a [`Sink`] says beforehand what
//! it wants delivered, in which order, with ends as rows or as keys.

use std::sync::Arc;

use isomorph_error::{Error, Findings, Result};

use crate::faces::Triples;
use crate::predicate::Renamed;
use crate::statistics::Statistics;
use crate::{Batch, Graph, Part, Predicate};

/// Which tables of a graph a scan should read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tables {
    /// All of them.
    #[default]
    All,
    /// Nodes of all types.
    AllNodes,
    /// Edges of all types.
    AllEdges,
    /// Nodes of one type.
    Nodes(usize),
    /// Nodes of one type, keys only: no labels, no properties.
    NodeKeys(usize),
    /// Edges of one type.
    Edges(usize),
    /// Edges of one type, ends only: no properties.
    EdgeEnds(usize),
    /// Everything but nodes and edges.
    Rest,
}

/// An order of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EdgeOrder {
    /// Whatever costs least.
    #[default]
    Any,
    /// Ascending rows of the source end.
    Source,
    /// Ascending rows of the target end.
    Target,
}

/// How a source names the ends of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndForm {
    /// As rows of the node type's table.
    Rows,
    /// As keys.
    Keys,
}

/// What a scan should read.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Which tables.
    pub tables: Tables,
    /// In which order edges must come. A source that does not offer it (see [`Source::edge_orders`]) refuses.
    pub order: EdgeOrder,
    /// Upper bound for the rows of a batch.
    pub batch_rows: usize,
    /// Not public, so that no view hands it on by copying the rest: its positions and names are those of one description.
    narrowing: Option<Arc<Narrowing>>,
}

/// What of one table of nodes or edges is wanted. A source gives at least that: batches may have columns that are not asked for, and rows
/// for which the filter is not true, so that one which knows nothing of this is correct.
#[derive(Debug, Clone, PartialEq)]
pub struct Narrowing {
    /// Whether the keys of nodes are wanted. Those of edges come where these have any.
    pub keys: bool,
    /// Whether labels are wanted.
    pub labels: bool,
    /// The properties that are wanted, those of the filter among them, by their positions in the type's properties; ascending.
    pub properties: Vec<usize>,
    /// Rows for which this is not true need not come. Its columns are names of properties, and [`Narrowing::NAMES`] for what is none.
    pub filter: Option<Predicate>,
    /// Further filters, which become narrower while the scan runs.
    pub dynamic: Vec<Renamed>,
}

impl Narrowing {
    /// What filters call the key, of nodes and of edges that have one.
    pub const KEY: &'static str = "@key";
    /// What they call the row of a node.
    pub const ROW: &'static str = "@row";
    /// What they call the source of an edge, by its key.
    pub const SOURCE: &'static str = "@source";
    /// What they call the target of an edge, by its key.
    pub const TARGET: &'static str = "@target";
    /// What they call the source of an edge, by its row: of sources of which [`Source::end_form`] says so.
    pub const SOURCE_ROW: &'static str = "@source_row";
    /// What they call the target of an edge, by its row: of sources of which [`Source::end_form`] says so.
    pub const TARGET_ROW: &'static str = "@target_row";
    /// What they call the relation of an edge, where rows name it.
    pub const RELATION: &'static str = "@relation";
    /// All of these: no property that is called so is compared.
    pub const NAMES: [&'static str; 7] =
        [Self::KEY, Self::ROW, Self::SOURCE, Self::TARGET, Self::SOURCE_ROW, Self::TARGET_ROW, Self::RELATION];

    /// Keys of nodes, or ends of edges, alone: what [`Tables::NodeKeys`] and [`Tables::EdgeEnds`] ask for.
    pub fn least() -> Self {
        Narrowing { keys: true, labels: false, properties: Vec::new(), filter: None, dynamic: Vec::new() }
    }

    /// Rows for which this is not true need not come from now on: the filter and what the dynamic filters have come to. A source looks at it whenever
    /// it opens a part that it reads on its own.
    pub fn filter_now(&self) -> Option<Predicate> {
        let dynamic = self.dynamic.iter().filter_map(Renamed::now);
        dynamic.fold(self.filter.clone(), |all, one| Predicate::both(all, Some(one)))
    }

    /// The same with the filters of `wanted`, whose columns have the names that `name` gives; conditions on columns that it does not know are left out. For
    /// views of another description.
    pub fn with_filters_of(self, wanted: &Narrowing, name: &mut dyn FnMut(&str) -> Option<String>) -> Self {
        let filter = wanted.filter.as_ref().and_then(|filter| filter.known_part(name));
        let dynamic = wanted.dynamic.iter().map(|filter| filter.renamed(name)).collect();
        Narrowing { filter, dynamic, ..self }
    }

    /// Whether the property at `position` is wanted.
    pub fn wants(&self, position: usize) -> bool {
        self.properties.binary_search(&position).is_ok()
    }
}

impl Request {
    /// All of `tables`, in any order.
    pub fn of(tables: Tables) -> Self {
        Request { tables, order: EdgeOrder::Any, batch_rows: 65_536, narrowing: least_of(tables) }
    }

    /// The keys of the nodes of all types, as [`Tables::NodeKeys`] gives those of one: types in one table are read together. A source may
    /// answer with whole nodes.
    pub fn of_all_keys() -> Self {
        Request::of(Tables::AllNodes).narrowed(Narrowing::least())
    }

    /// The same, with edges in `order`.
    pub fn in_order(mut self, order: EdgeOrder) -> Self {
        self.order = order;
        self
    }

    /// The same, with at most `rows` rows in a batch.
    pub fn in_batches_of(mut self, rows: usize) -> Self {
        self.batch_rows = rows.max(1);
        self
    }

    /// The same for other tables, of which everything is wanted.
    pub fn for_tables(&self, tables: Tables) -> Self {
        Request { tables, narrowing: least_of(tables), ..*self }
    }

    /// The same, of which everything is wanted: for views of another description than that of what they show.
    pub fn whole(&self) -> Self {
        self.for_tables(self.tables)
    }

    /// The same for less of a table: of one type of nodes or edges, or of their keys or ends.
    pub fn narrowed(mut self, narrowing: Narrowing) -> Self {
        self.narrowing = Some(Arc::new(narrowing));
        self
    }

    /// What of the table is wanted, if not everything. Of nodes of all types there is no narrowing but to their keys.
    pub fn narrowing(&self) -> Option<&Arc<Narrowing>> {
        let fits = |narrowing: &&Arc<Narrowing>| match self.tables {
            Tables::Nodes(_) | Tables::Edges(_) | Tables::NodeKeys(_) | Tables::EdgeEnds(_) => true,
            Tables::AllNodes => ***narrowing == Narrowing::least(),
            Tables::All | Tables::AllEdges | Tables::Rest => false,
        };
        self.narrowing.as_ref().filter(fits)
    }

    /// Whether keys of nodes are all that is wanted.
    pub fn is_of_keys(&self) -> bool {
        matches!(self.tables, Tables::NodeKeys(_)) || self.tables == Tables::AllNodes && self.narrowing().is_some()
    }

    /// The filter for the rows that are wanted, if there is one.
    pub fn filter(&self) -> Option<&Predicate> {
        self.narrowing().and_then(|narrowing| narrowing.filter.as_ref())
    }
}

/// What keys or ends alone are of a table.
fn least_of(tables: Tables) -> Option<Arc<Narrowing>> {
    matches!(tables, Tables::NodeKeys(_) | Tables::EdgeEnds(_)).then(|| Arc::new(Narrowing::least()))
}

/// How rows with certain values in a column are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// By an index: the places of the rows are known, and about the pages that hold them are read.
    Index,
    /// In order, or by bounds of pages: a few pages are read for each value, where the data are in that order.
    Sorted,
    /// By a look at every row.
    Pass,
}

/// What it costs to find rows by the values of a column, beside reading what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// How they are found.
    pub way: Way,
    /// Values of the column that are looked at, as far as that is known and does not depend on how many are asked for: all rows of a pass, those
    /// from which an index is made first, none where it is there.
    pub rows: Option<u64>,
}

impl Cost {
    /// An index that is there.
    pub const INDEX: Cost = Cost { way: Way::Index, rows: Some(0) };

    /// A pass over so many rows.
    pub fn pass(rows: Option<u64>) -> Cost {
        Cost { way: Way::Pass, rows }
    }
}

/// Parts whose rows, one part after another, are in one order.
pub type Run<'a> = Vec<Box<dyn Part + 'a>>;

/// Told how far a long job is, and asked whether it should go on. Called from several threads.
pub trait Progress: Sync {
    /// A stage begins: its word, and the number of rows to come if that is known.
    fn begin(&self, stage: &str, total: Option<u64>);

    /// So many more rows are done. An error ends the job with that error: this is how a job is cancelled.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Cancelled`] when the job should not go on; every call after that says so again.
    fn advance(&self, rows: u64) -> Result<()>;

    /// The stage is over.
    fn end(&self);
}

/// A graph that can be read.
pub trait Source: Send + Sync {
    /// Its description.
    fn graph(&self) -> &Graph;

    /// The pieces of a scan, in the order of the rows.
    ///
    /// # Errors
    /// When the request cannot be met, or metadata cannot be read.
    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>>;

    /// The orders in which edges of type `ty` can be had without sorting. Foreign declarations are checked while
    /// reading: a part that breaks the order is an error.
    fn edge_orders(&self, _ty: usize) -> Vec<EdgeOrder> {
        Vec::new()
    }

    /// Finds out now what scans need to know beforehand, on `threads` threads, for a job that shows its progress and can be
    /// cancelled. A source that needs this and is not asked for it does it at the first scan.
    ///
    /// # Errors
    /// When the input cannot be read or is not sound, or the job should not go on.
    fn prepare(&self, _threads: usize, _progress: &dyn Progress) -> Result<()> {
        Ok(())
    }

    /// The edges of type `ty` as runs, each in `order`, to be merged; `None` when they must be sorted.
    ///
    /// # Errors
    /// As for [`Source::scan`].
    fn runs(&self, ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        if !self.edge_orders(ty).contains(&order) {
            return Ok(None);
        }
        Ok(Some(vec![self.scan(&Request::of(Tables::Edges(ty)).in_order(order))?]))
    }

    /// Whether ends of edges of type `ty` are delivered as rows or as keys.
    fn end_form(&self, _ty: usize) -> EndForm {
        EndForm::Keys
    }

    /// Whether `tables`, [`Tables::AllNodes`] or [`Tables::AllEdges`], lie in one table: to read one type costs as much as to read all.
    fn is_one_table(&self, _tables: Tables) -> bool {
        false
    }

    /// What there is to know without reading the rows.
    fn about(&self) -> About {
        About::default()
    }

    /// The edges of type `edge` that leave (or reach) one node, straight from where they lie, with properties. A node may have very many:
    /// they are read as they are pulled, as far as the format allows it.
    ///
    /// # Errors
    /// When the node does not exist, the input cannot be read, or the source has no look-ups.
    fn neighbors(&self, _edge: usize, _node: NodeId<'_>, _side: Side) -> Result<Box<dyn Part + '_>> {
        Err(Error::unsupported("this format has no neighbour look-ups"))
    }

    /// The same with no more of the properties than `narrowing` wants, where the format can leave the others unread; else with all of them. Its
    /// filter is not applied.
    ///
    /// # Errors
    /// As for [`Source::neighbors`].
    fn narrowed_neighbors(
        &self,
        edge: usize,
        node: NodeId<'_>,
        side: Side,
        _narrowing: Narrowing,
    ) -> Result<Box<dyn Part + '_>> {
        self.neighbors(edge, node, side)
    }

    /// Where the hyperedges that the node with this key is a member of are found: by a scan of this source, unless it knows better.
    ///
    /// # Errors
    /// When the input cannot be read.
    fn incidents(&self, _key: &str) -> Result<Incidents> {
        Ok(Incidents::Here)
    }

    /// How rows of a table are found by the values of a column, which has one of [`Narrowing::NAMES`] or that of a property. Nothing is read to say
    /// so. What is found is asked for by a filter ([`Predicate::In`]).
    fn look_up_cost(&self, _tables: Tables, _column: &str) -> Cost {
        Cost::pass(None)
    }

    /// What is known of one table of nodes or edges without reading its rows: from footers, counts and indexes, of which a few hundred are opened at
    /// most. A view says nothing that it does not know of what it shows.
    ///
    /// # Errors
    /// When what is opened for it cannot be read.
    fn statistics(&self, _tables: Tables) -> Result<Statistics> {
        Ok(Statistics::default())
    }

    /// The source itself, for who knows its format and what it can do beside giving rows.
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }

    /// Its triples, if it stores triples. A graph of nodes and edges is asked for them through its RDF form.
    fn triples(&self) -> Option<&dyn Triples> {
        None
    }

    /// Checks every rule of the format, reading everything, and adds what is broken to `findings`.
    ///
    /// # Errors
    /// When it could not read on.
    fn validate(&self, _findings: &mut Findings) -> Result<()> {
        Ok(())
    }
}

/// Where the hyperedges of one node are found.
pub enum Incidents {
    /// In the source that was asked.
    Here,
    /// Nowhere: it is a member of none.
    None,
    /// In another source of the same graph, opened for this.
    In(Arc<dyn Source>),
}

/// A node of a known type, as somebody names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeId<'a> {
    /// By its row.
    Row(u64),
    /// By its key, as text.
    Key(&'a str),
}

/// Which end of an edge the node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The source: edges that leave it.
    Out,
    /// The target: edges that reach it.
    In,
}

/// What a format says of an opened graph beside its description: for `info`.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// The format's name and encoding: "GraphAr", "NOCK (Parquet)".
    pub format: String,
    /// Version or dialect: "gar/v1, keys of 2024+".
    pub version: String,
    /// Number of files, data and metadata.
    pub files: u64,
    /// Their size in bytes, as far as known.
    pub bytes: u64,
    /// How it is stored, one line.
    pub layout: String,
    /// What is stored for an edge type, by its index: "by source (ordered), by dest (ordered)".
    pub edge_layouts: Vec<String>,
    /// What was noticed while opening.
    pub findings: Findings,
}

/// One thing a sink wants. Deliveries are made one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// All nodes of a type in the source's order.
    Nodes(usize),
    /// All edges of a type with ends as rows, sorted by the aligned end, then the other.
    Edges {
        /// Edge type.
        ty: usize,
        /// [`EdgeOrder::Source`] or [`EdgeOrder::Target`], or any.
        order: EdgeOrder,
    },
    /// Nodes of all types, type by type, in the source's order; behind each batch of nodes the edges that leave
    /// them, of all types, sorted by (source row, edge type, target row). Source ends are rows, target ends keys.
    NodesWithOutEdges,
    /// All edges of a type in the source's order, with ends as keys: for sinks that keep a table of edges as it comes.
    /// Edges that have no keys of their own come sorted by their ends, with keys that are made of these.
    EdgesWithKeys(usize),
    /// All edges of a type in the source's order, with ends as keys, which need not be those of nodes: for sinks that sort
    /// by keys themselves. Several such deliveries come mixed where the source has edges of all types in one table.
    EdgesAsTheyCome(usize),
    /// Hyperedges, values, groups and memberships.
    Rest,
}

/// What a sink wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Files with their sizes in bytes, relative to the destination.
    pub files: Vec<(String, u64)>,
}

impl Written {
    /// Sum of the sizes, in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, size)| size).sum()
    }
}

/// A graph that is being written.
pub trait Sink: Send {
    /// What is wanted, in this order.
    fn deliveries(&self) -> Vec<Delivery>;

    /// Takes rows of delivery number `delivery`.
    ///
    /// # Errors
    /// When they cannot be written, or break a promise of the delivery.
    fn write(&mut self, delivery: usize, batch: Batch) -> Result<()>;

    /// Writes what is left. Publishing is the caller's.
    ///
    /// # Errors
    /// When something cannot be written.
    fn finish(self: Box<Self>) -> Result<Written>;
}
