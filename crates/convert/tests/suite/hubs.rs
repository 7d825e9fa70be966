//! A node with very many edges: a reader of some of them does not wait for all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use isomorph_convert::{ConvertOptions, Format, OpenOptions, Opened, Plan, Silent, convert};
use isomorph_model::{Batch, NodeId, Side};
use isomorph_storage::{Location, Resources};
use isomorph_zoo::{Build, Edges, Nodes, int64};

/// Edges of the hub.
const EDGES: usize = 40_000;

/// The number of rows of each batch of the hub's edges, after checking their contents.
fn batches(opened: &Opened, key: &str, side: Side) -> Vec<usize> {
    let batches = opened.graph.neighbors(0, NodeId::Key(key), side).unwrap().map(Result::unwrap);
    let rows = |batch| match batch {
        Batch::Edges(edges) => edges.rows,
        other => panic!("{other:?}"),
    };
    batches.map(rows).collect()
}

#[test]
fn the_edges_of_a_hub_come_in_batches() {
    let home = tempfile::tempdir().unwrap();
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("node", int64((0..=EDGES as i64).collect::<Vec<_>>())));
    // Node 0 is one end of all of them.
    let ends = (1..=EDGES as u64).map(|other| (0, other));
    let weights = int64((0..EDGES as i64).collect::<Vec<_>>());
    build.edges(Edges::rows(node, "near", node, ends).column("weight", weights));
    let (graph, location) = (Arc::new(build.finish()), Location::from_path(std::path::Path::new("/memory")));
    let memory = Opened {
        location,
        format: Format::GRAPHAR,
        native: graph.clone(),
        sidecar: None,
        graph,
        options: OpenOptions::default(),
        is_part: false,
    };
    let resources = Resources::of_this_machine().unwrap();
    for (format, name) in [
        (Format::GRAPHAR, "graphar"),
        (Format::NOCK, "nock.parq"),
        (Format::ANNNET, "annnet"),
        (Format::GRAPHLAKE, "lake"),
        (Format::DEEPGNN, "binary"),
    ] {
        let place = Location::from_path(&home.path().join(name));
        let options = ConvertOptions { to: Some(format), ..ConvertOptions::default() };
        let plan = Plan::new(&memory, &place, &options, &resources, &Silent).unwrap();
        convert(&memory, &plan, &place, &options, &resources, &Silent).unwrap();
        let opened = Opened::open(&place, &OpenOptions::default()).unwrap();
        // A store finds the edges of a property graph by the triples of the node, which are read together.
        let of_graph = match format == Format::GRAPHLAKE {
            true => Opened { graph: Arc::clone(&opened.native), ..opened },
            false => opened,
        };
        let key = if format == Format::GRAPHLAKE { "urn:x-isomorph:node/0" } else { "0" };
        let all = batches(&of_graph, key, Side::Out);
        let (first, sum) = (all[0], all.iter().sum::<usize>());
        assert!(first < EDGES, "{name}: {first} of {EDGES} at once");
        assert!(sum >= EDGES, "{name}: {sum}");
    }
}
