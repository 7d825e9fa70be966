//! Both ways of reading triples as a property graph return the same graph.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use isomorph_graphlake::GraphLake;
use isomorph_model::{MemoryGraph, Source};
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
