//! A graph that is written and read back is the same, in any layout and any division into batches.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use common::graphs::{Data, data};
use common::{assert_same, open, view};
use isomorph_nock::{By, CreateOptions, Format, OpenOptions, Partitioning, Types};
use isomorph_storage::Budget;
use isomorph_tables::Compression;
use proptest::prelude::*;

/// Writes, reads back and compares; and again with as much spilling as possible.
fn check(data: &Data, options: &CreateOptions, sizes: (usize, usize)) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph");
    let written = data.write(&path, options, sizes).unwrap();
    assert!(written.bytes() > 0);
    if path.is_file() {
        let is_parquet = std::fs::read(&path).unwrap().starts_with(b"PAR1");
        assert_eq!(is_parquet, options.format == Format::Parquet);
    }
    let no_memory = OpenOptions::default().budget(Budget::new(0)).settle_up_to(0).piece_rows(3);
    for open_options in [OpenOptions::default(), no_memory] {
        let nock = open(&path, &open_options).unwrap();
        assert_same(&view(&nock).unwrap(), &data.view(), "read back");
        let settled = nock.settle().unwrap();
        assert_eq!((settled.nodes, settled.edges), (data.nodes.len() as u64, data.edges.len() as u64));
        assert_eq!(settled.implicit_nodes + settled.unresolved_shadows, 0);
        // Sorting puts a shadow row at the position of its name, not after the others; it has no edges there.
        assert!(settled.in_sequence && settled.findings.is_empty());
    }
}

fn sizes() -> impl Strategy<Value = (usize, usize)> {
    (1usize..20, 1usize..20)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn one_file(data in data(20), sizes in sizes(), pynock in any::<bool>(), rows in 1usize..10) {
        let types = if pynock { Types::Pynock } else { Types::Specification };
        let compression = if pynock { Compression::Zstd(3) } else { Compression::Snappy };
        let options = CreateOptions {
            types, compression, truth_double: data.double, row_group_rows: rows, ..CreateOptions::default()
        };
        check(&data, &options, sizes);
    }

    #[test]
    fn nested_edges_and_maps(data in data(20), sizes in sizes(), nested in any::<bool>(), map in any::<bool>()) {
        let options = CreateOptions {
            nested_edges: nested, props_map: map, truth_double: data.double, row_group_rows: 7, ..CreateOptions::default()
        };
        check(&data, &options, sizes);
    }

    #[test]
    fn text(data in data(20), sizes in sizes(), sort in any::<bool>(), parts in proptest::option::of(1u32..4)) {
        let partitions = parts.map(|count| Partitioning { count, by: By::Name });
        let options = CreateOptions { format: Format::Csv, sort, partitions, ..CreateOptions::default() };
        check(&data, &options, sizes);
    }

    #[test]
    fn partitions(data in data(20), sizes in sizes(), count in 1u32..5, nested in any::<bool>()) {
        let options = CreateOptions {
            partitions: Some(Partitioning { count, by: By::Name }),
            nested_edges: nested,
            truth_double: data.double,
            ..CreateOptions::default()
        };
        check(&data, &options, sizes);
    }
}
