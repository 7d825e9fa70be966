//! Changes in object stores, with the in-memory store of the library.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::build::{Files, text};
use common::changes::{change, options, table};
use common::{open, write_to};
use isomorph_annnet::update::{Changes, update};
use isomorph_annnet::{Annnet, OpenOptions, WriteLayout, WriteOptions, write_cache};
use isomorph_error::Findings;
use isomorph_model::{MemoryGraph, Source};
use isomorph_storage::{Blob, Location, Root};
use object_store::memory::InMemory;

/// Every object below a location with its entity tag.
fn tags(place: &Location) -> BTreeMap<String, String> {
    let bucket = place.parent().unwrap();
    let root = Root::open(&bucket).unwrap();
    let names = root.list("").unwrap().into_iter().filter(|entry| !entry.is_dir).map(|entry| entry.name);
    names.map(|name| (name.clone(), root.file(&name).unwrap().opened_as().etag.clone().unwrap())).collect()
}

fn additions(number: usize) -> Changes {
    let ids: Vec<String> = (0..200).map(|at| format!("v{number}-{at}")).collect();
    let edges: Vec<String> = (0..200).map(|at| format!("e{number}-{at}")).collect();
    let vertices = table(vec![("id", text(ids.iter().map(String::as_str)))]);
    let edges = table(vec![
        ("id", text(edges.iter().map(String::as_str))),
        ("source", text(ids.iter().map(String::as_str))),
        ("target", text(ids.iter().rev().map(String::as_str))),
    ]);
    Changes { vertices: vec![vertices], edges: vec![edges], ..Changes::default() }
}

#[test]
fn graphs_in_object_stores_are_changed_like_those_on_disks() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("base");
    Files::small().write(&base);
    let source = open(&base).unwrap();
    for layout in WriteLayout::ALL {
        for archive in [false, true] {
            let name = if archive { "graph.annnet" } else { "graph" };
            let form = WriteOptions { layout, archive, matrix: true, ..common::write::options() };
            let disk = folder.path().join(format!("{layout}")).join(name);
            std::fs::create_dir_all(disk.parent().unwrap()).unwrap();
            let store = Arc::new(InMemory::new());
            let place =
                Location::parse(&format!("s3://lake/{name}")).unwrap().on_store(isomorph_network::client(store));
            write_to(&source, &Location::from_path(&disk), &form, 2).unwrap();
            write_to(&source, &place, &form, 2).unwrap();
            let open_there = || Annnet::open(&place, &OpenOptions::default()).unwrap();
            for step in 0..3 {
                let before = tags(&place);
                let done = update(&place, &additions(step), &options()).unwrap();
                change(&disk, &additions(step)).unwrap();
                let after = tags(&place);
                let kept = after.iter().filter(|(name, tag)| before.get(*name) == Some(tag)).count();
                assert_eq!(done.files as usize, after.len() - kept, "{layout} {name}");
                let written = after.iter().filter(|(name, tag)| before.get(*name) != Some(tag));
                let size = |name: &String| Blob::open(&place.parent().unwrap().join(name).unwrap()).unwrap().size();
                assert_eq!(done.bytes, written.map(|(name, _)| size(name)).sum::<u64>(), "{layout} {name}");
                assert_eq!(done.whole, archive);
                if !archive {
                    // Objects do not become directories; objects to which nothing was added are unchanged.
                    assert!(after.keys().all(|name| !name.contains(".parquet/")), "{after:?}");
                    assert!(kept >= 4, "{kept}");
                }
            }
            let mut findings = Findings::default();
            open_there().validate(&mut findings).unwrap();
            assert!(findings.by_rule().all(|(_, kept)| kept[0].rule.id == "ANNNET-MEMBER"), "{findings:?}");
            let digest = |annnet: &Annnet| MemoryGraph::read(annnet).unwrap().digest().unwrap();
            assert_eq!(digest(&open_there()), digest(&open(&disk).unwrap()), "{layout} {name}");
            write_cache(&place, &form).unwrap();
            assert!(open_there().has_views().unwrap(), "{layout} {name}");
        }
    }
}
