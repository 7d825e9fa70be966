//! Types that share one table: the number of passes over it does not depend on the number of types.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Int64Array, StringArray};
use arrow_schema::DataType;
use isomorph_convert::{Format, Opened, Progress, SidecarUse, digest};
use isomorph_error::Result;
use isomorph_model::{
    About, Batch, EdgeBatch, EdgeOrder, EdgeType, EndForm, Ends, Graph, Key, MemoryGraph, Narrowing, NodeBatch, NodeId,
    NodeType, Part, Property, Request, Run, Side, Source, Tables,
};

use crate::formats::{MEMBERS, member};
use crate::stage::{Case, resources, stage};

/// A graph, the number of passes over its nodes and its edges, and the columns that were requested last.
struct Counting {
    inner: Arc<dyn Source>,
    wanted: Mutex<Option<Narrowing>>,
    nodes: AtomicUsize,
    edges: AtomicUsize,
}

impl Counting {
    fn new(inner: &Arc<dyn Source>) -> Arc<Self> {
        Arc::new(Counting {
            inner: Arc::clone(inner),
            wanted: Mutex::default(),
            nodes: AtomicUsize::new(0),
            edges: AtomicUsize::new(0),
        })
    }

    fn read(&self) -> (usize, usize) {
        (self.nodes.swap(0, Ordering::Relaxed), self.edges.swap(0, Ordering::Relaxed))
    }
}

impl Source for Counting {
    fn graph(&self) -> &Graph {
        self.inner.graph()
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let of_nodes =
            matches!(request.tables, Tables::All | Tables::AllNodes | Tables::Nodes(_) | Tables::NodeKeys(_));
        let of_edges =
            matches!(request.tables, Tables::All | Tables::AllEdges | Tables::Edges(_) | Tables::EdgeEnds(_));
        self.nodes.fetch_add(usize::from(of_nodes), Ordering::Relaxed);
        self.edges.fetch_add(usize::from(of_edges), Ordering::Relaxed);
        *self.wanted.lock().unwrap() = request.narrowing().map(|wanted| Narrowing::clone(wanted));
        self.inner.scan(request)
    }

    fn is_one_table(&self, tables: Tables) -> bool {
        self.inner.is_one_table(tables)
    }

    fn edge_orders(&self, ty: usize) -> Vec<EdgeOrder> {
        self.inner.edge_orders(ty)
    }

    fn runs(&self, ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        self.inner.runs(ty, order)
    }

    fn end_form(&self, ty: usize) -> EndForm {
        self.inner.end_form(ty)
    }

    fn about(&self) -> About {
        self.inner.about()
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        self.inner.neighbors(edge, node, side)
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        self.inner.as_any()
    }
}

/// This number of node types, each with edges to itself and to the next.
fn typed(types: usize) -> MemoryGraph {
    const ROWS: usize = 7;
    let mut graph = Graph::default();
    let mut batches = Vec::new();
    let numbers = |from: i64| -> ArrayRef { Arc::new((from..from + ROWS as i64).collect::<Int64Array>()) };
    for ty in 0..types {
        let mut node = NodeType::new(format!("kind{ty}"), Key::int64());
        node.rows = Some(ROWS as u64);
        node.properties =
            vec![Property::new("name", DataType::Utf8), Property::new(format!("own{ty}"), DataType::Int64)];
        graph.nodes.push(node);
        let names = (0..ROWS).map(|row| (row % 3 > 0).then(|| format!("{row} of {ty}"))).collect::<StringArray>();
        batches.push(Batch::Nodes(NodeBatch {
            ty,
            start: 0,
            numbers: None,
            rows: ROWS,
            keys: Some(numbers(0)),
            labels: None,
            properties: vec![Some(Arc::new(names)), Some(numbers(100))],
        }));
    }
    for (ty, target) in (0..types).flat_map(|ty| [(ty, ty), (ty, (ty + 1) % types)]) {
        let mut edge = EdgeType::new(ty, "knows", target);
        edge.rows = Some(ROWS as u64);
        edge.properties = vec![Property::new("since", DataType::Int64)];
        let number = graph.edges.len();
        graph.edges.push(edge);
        let turned: ArrayRef = Arc::new((0..ROWS as i64).rev().collect::<Int64Array>());
        batches.push(Batch::Edges(EdgeBatch {
            ty: number,
            rows: ROWS,
            relations: None,
            source: Ends::Keys(numbers(0)),
            target: Ends::Keys(turned),
            layers: None,
            directed: None,
            keys: None,
            properties: vec![Some(numbers(number as i64))],
        }));
    }
    MemoryGraph { graph, batches }
}

/// The number of passes over nodes and edges of a graph with this number of types, in a file of format `at`, while it
/// is digested, and while it is converted to each other format.
fn reads(at: Format, types: usize) -> Vec<(String, (usize, usize))> {
    let case = Case::new(format!("{types} types"), Format::GRAPHAR, typed(types));
    let expected = case.digests();
    let home = member(at);
    let staged = stage(&case.opened(), home, &home.layouts_for(&case)[0]).unwrap();
    let opened = staged.open(SidecarUse::Auto);
    let counting = Counting::new(&opened.native);
    let mapping = opened.sidecar.as_ref().unwrap().mapping.inverse();
    let graph = mapping.apply(Arc::clone(&counting) as Arc<dyn Source>, &resources().budget).unwrap();
    let opened = Opened { graph, ..opened };
    let found = digest(opened.graph.as_ref(), &resources(), &isomorph_convert::Silent).unwrap().digests;
    assert_eq!(found, expected, "{at} of {types} types");
    let mut all = vec![("the digest".to_owned(), counting.read())];
    // For these the keys of nodes are read to find repeats, still type by type.
    let by_type =
        [Format::GRAPHML, Format::NODELINK, Format::GEXF, Format::GML, Format::JGF, Format::PARQUET, Format::CSV];
    for to in MEMBERS.iter().filter(|to| to.format != at && !by_type.contains(&to.format)) {
        let staged = stage(&opened, to, &to.layouts_for(&case)[0]).unwrap_or_else(|error| panic!("{at}: {error:?}"));
        assert_eq!(staged.certificate.source, Some(expected), "{at} to {}", to.format);
        all.push((to.format.to_string(), counting.read()));
    }
    all
}

#[test]
fn one_table_of_many_types_is_read_as_often_as_one_of_two() {
    for at in [Format::NOCK, Format::ANNNET, Format::DEEPGNN] {
        let few = reads(at, 2);
        assert!(few.iter().all(|(_, (nodes, edges))| *nodes > 0 && *edges > 0), "{at}: {few:?}");
        assert_eq!(reads(at, 9), few, "{at}");
    }
}

#[test]
fn of_one_table_only_the_columns_of_what_is_wanted_are_read() {
    let case = Case::new("two types", Format::GRAPHAR, typed(2));
    // The property that both types have, and that of the second; in NOCK both are in the bag.
    for (at, property, columns) in [(Format::NOCK, None, 0), (Format::ANNNET, Some(0), 1), (Format::ANNNET, Some(1), 1)]
    {
        let home = member(at);
        let staged = stage(&case.opened(), home, &home.layouts_for(&case)[0]).unwrap();
        let opened = staged.open(SidecarUse::Auto);
        let counting = Counting::new(&opened.native);
        let mapping = opened.sidecar.as_ref().unwrap().mapping.inverse();
        let shown = mapping.apply(Arc::clone(&counting) as Arc<dyn Source>, &resources().budget).unwrap();
        let properties = property.into_iter().collect();
        let wanted = Narrowing { properties, ..Narrowing::least() };
        let request = Request::of(Tables::Nodes(1)).narrowed(wanted);
        let rows: usize = shown.scan(&request).unwrap().into_iter().flatten().map(|batch| batch.unwrap().rows()).sum();
        let read = counting.wanted.lock().unwrap().clone().unwrap_or_else(|| panic!("{at}: all was read"));
        assert_eq!((rows, read.properties.len()), (7, columns), "{at}: {read:?}");
    }
}
