//! Both ways of reading triples as a property graph return the same graph.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use isomorph_graphlake::{GraphLake, Lake, Order};
use isomorph_model::faces::{Object, Quad, RDF_REIFIES};
use isomorph_model::{Batch, MemoryGraph, NodeId, Side, Source, term};
use isomorph_storage::{Budget, Location, Resources};
use isomorph_zoo as zoo;

use super::{Lifting, Lowered};
use crate::{ConvertOptions, Digested, Format, OpenOptions, Opened, Plan, Silent, convert, digest};

fn digested(source: &dyn Source) -> Digested {
    digest(source, &Resources::of_this_machine().unwrap(), &Silent).unwrap()
}

fn lowered(inner: &Arc<dyn Source>, record: &Lifting) -> Lowered {
    Lowered::new(Arc::clone(inner), record, &Budget::new(1 << 28)).unwrap()
}

#[test]
fn rows_are_the_same_in_memory_and_sorted() {
    let home = tempfile::tempdir().unwrap();
    let (mut seen, mut in_memory) = (0, 0);
    for (name, memory) in [zoo::property_graphs(), zoo::wide_property_graphs()].concat() {
        let graph: Arc<MemoryGraph> = Arc::new(memory);
        let location = Location::from_path(Path::new("/memory"));
        let opened = Opened {
            location,
            format: Format::GRAPHAR,
            native: graph.clone(),
            sidecar: None,
            graph,
            options: OpenOptions::default(),
            is_part: false,
        };
        for (to, suffix) in [(Format::GRAPHLAKE, "lake"), (Format::RDF, "nt"), (Format::RDF, "jsonld")] {
            let place = home.path().join(format!("{seen}.{suffix}"));
            let destination = Location::from_path(&place);
            let (options, resources) =
                (ConvertOptions { to: Some(to), ..ConvertOptions::default() }, Resources::of_this_machine().unwrap());
            let Ok(plan) = Plan::new(&opened, &destination, &options, &resources, &Silent) else { continue };
            let Some(record) = plan.mapping.lifting() else { continue };
            convert(&opened, &plan, &destination, &options, &resources, &Silent).unwrap();
            let inner: Arc<dyn Source> = match to == Format::GRAPHLAKE {
                true => Arc::new(GraphLake::open(&destination, &Default::default()).unwrap()),
                false => Arc::new(isomorph_rdf::RdfText::open(&destination, &Default::default()).unwrap()),
            };
            let sorted = digested(&lowered(&inner, record).sorted().unwrap());
            let read = lowered(&inner, record);
            let found = digested(&read);
            assert_eq!(sorted.table.differences(&found.table), [], "{name}, {to}, {suffix}");
            assert_eq!(sorted.digests, found.digests, "{name}, {to}, {suffix}");
            in_memory += usize::from(read.is_in_memory());
            seen += 1;
        }
    }
    assert!(in_memory > 10 && seen >= in_memory, "{in_memory} of {seen}");
}

/// The number of edges from each node, of each type.
fn edges_from(lowered: &Lowered) -> Vec<u64> {
    let graph = lowered.graph().clone();
    let nodes = MemoryGraph::read(lowered).unwrap();
    let mut all = Vec::new();
    for batch in &nodes.batches {
        let Batch::Nodes(nodes) = batch else { continue };
        let Some(keys) = &nodes.keys else { continue };
        for (edge, _) in graph.edges.iter().enumerate().filter(|(_, ty)| ty.source == nodes.ty) {
            for row in 0..nodes.rows {
                let key = arrow_cast::display::array_value_to_string(keys, row).unwrap();
                let part = lowered.neighbors(edge, NodeId::Key(&key), Side::Out).unwrap();
                all.push(part.map(|batch| batch.unwrap().rows() as u64).sum());
            }
        }
    }
    all
}

/// A triple that is only quoted is not stated: who is said to reify a triple does not.
#[test]
fn reifiers_that_are_only_quoted_are_none() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("g.lake");
    let destination = Location::from_path(&place);
    let source = Location::from_path(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/social"));
    let resources = Resources::of_this_machine().unwrap();
    let options = ConvertOptions { to: Some(Format::GRAPHLAKE), ..ConvertOptions::default() };
    let opened = Opened::open(&source, &OpenOptions::default()).unwrap();
    let plan = Plan::new(&opened, &destination, &options, &resources, &Silent).unwrap();
    convert(&opened, &plan, &destination, &options, &resources, &Silent).unwrap();
    let record = plan.mapping.lifting().unwrap();
    let shown = || {
        let lake: Arc<dyn Source> = Arc::new(GraphLake::open(&destination, &Default::default()).unwrap());
        lowered(&lake, record)
    };
    let before = (edges_from(&shown()), digested(&shown()).digests);
    let mut quoted = Vec::new();
    let lake = GraphLake::open(&destination, &Default::default()).unwrap();
    lake.statements(Order::Subject, &mut |quad| {
        if let (RDF_REIFIES, Object::Term(triple)) = (quad.predicate, quad.object) {
            quoted.push(term::triple("<urn:nobody>", &term::ntriples(RDF_REIFIES), triple));
        }
        Ok(())
    })
    .unwrap();
    assert!(quoted.len() > 3);
    let store = Lake::open(&destination, &Default::default(), &Default::default()).unwrap();
    let mut transaction = store.begin().unwrap();
    for triple in &quoted {
        let object = Object::Term(triple);
        transaction.insert(&Quad { subject: "urn:x", predicate: "urn:says", object, graph: None }).unwrap();
    }
    transaction.commit().unwrap();
    assert_eq!((edges_from(&shown()), digested(&shown()).digests), before);
}
