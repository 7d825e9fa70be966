//! Converts annnet graphs from one form to the other: equal digests at every step.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use arrow_array::{ArrayRef, Float32Array, Float64Array, Int32Array, Int64Array, RecordBatch};
use isomorph_convert::{
    Certificate, ConvertOptions, Digested, Format, OpenOptions, Opened, Plan, Silent, WriteOptions, convert, digest,
};
use isomorph_error::Error;
use isomorph_storage::{Budget, Location, Resources};
use isomorph_tables::{Compression, Encoding, TableWriter};

/// Graphs of the layout that is also written.
const V2: [&str; 16] = [
    "aspects_without_nodes",
    "attr_types",
    "backend_pandas",
    "backend_pyarrow",
    "backend_pyarrow_nopolars",
    "direction_none",
    "empty",
    "empty_undirected",
    "everything_flat",
    "everything_multilayer",
    "jsonlike_ids_lossy",
    "legacy_vertex_words",
    "one_node",
    "plain_directed",
    "plain_undirected",
    "stale_overwrite",
];

/// Graphs of older layouts, which are written in the newest layout.
const OLDER: [&str; 4] = ["v1_0.1.1/empty", "v1_0.1.1/flat", "v1_0.1.1/multilayer", "v1_0.1.1/weighted_slices"];

fn fixture(name: &str) -> PathBuf {
    isomorph_fixtures::fixture(format!("annnet/{name}/graph.annnet.d"))
}

fn resources(threads: usize) -> Resources {
    Resources { threads, budget: Budget::new(256 << 20), ..Resources::of_this_machine().unwrap() }
}

fn open(path: &Path) -> Opened {
    Opened::open(&Location::from_path(path), &OpenOptions::default()).unwrap()
}

fn digested(path: &Path) -> Digested {
    digest(open(path).graph.as_ref(), &resources(2), &Silent).unwrap()
}

fn convert_with(from: &Path, to: &Path, options: &ConvertOptions, threads: usize) -> Result<Certificate, Error> {
    let (opened, destination) = (open(from), Location::from_path(to));
    let plan = Plan::new(&opened, &destination, options, &resources(threads), &Silent)?;
    convert(&opened, &plan, &destination, options, &resources(threads), &Silent)
}

fn to_annnet(compression: Compression) -> ConvertOptions {
    let mut write = WriteOptions::default();
    write.get_mut::<isomorph_annnet::WriteOptions>().compression = compression;
    let epoch = Some(UNIX_EPOCH + Duration::from_secs(1));
    ConvertOptions { to: Some(Format::ANNNET), write, epoch, ..ConvertOptions::default() }
}

#[test]
fn every_graph_survives_an_archive_and_a_directory() {
    let home = tempfile::tempdir().unwrap();
    for name in V2.into_iter().chain(OLDER) {
        let graph = fixture(name);
        let before = digested(&graph).digests;
        let archive = home.path().join(format!("{}.annnet", name.replace('/', "-")));
        let certificate = convert_with(&graph, &archive, &to_annnet(Compression::Zstd(3)), 2).unwrap();
        assert_eq!((certificate.source, certificate.result), (Some(before), Some(before)), "{name}");
        assert!(certificate.carried.is_empty() && certificate.files == 1, "{name}: {certificate:?}");
        let directory = home.path().join(name.replace('/', "-"));
        let certificate = convert_with(&archive, &directory, &to_annnet(Compression::Snappy), 2).unwrap();
        assert_eq!((certificate.source, certificate.result), (Some(before), Some(before)), "{name}");
        assert!(directory.join("manifest.json").is_file() && !directory.join(".isomorph").exists(), "{name}");
    }
}

#[test]
fn threads_and_repetition_change_no_byte() {
    let home = tempfile::tempdir().unwrap();
    let graph = fixture("everything_multilayer");
    let archives = [1, 4].map(|threads| {
        let archive = home.path().join(format!("{threads}.annnet"));
        convert_with(&graph, &archive, &to_annnet(Compression::Zstd(1)), threads).unwrap();
        std::fs::read(archive).unwrap()
    });
    assert!(archives[0] == archives[1]);
}

/// Graphs with names or attributes that the format cannot store.
const REFUSED_ABROAD: [(Format, &str); 0] = [];

#[test]
fn every_graph_comes_back_from_the_files_of_other_formats() {
    let home = tempfile::tempdir().unwrap();
    let mut refused = Vec::new();
    for name in V2.into_iter().chain(OLDER) {
        let graph = fixture(name);
        let before = digested(&graph).digests;
        for (abroad, ending) in [(Format::GRAPHAR, "graphar"), (Format::NOCK, "parq")] {
            let middle = home.path().join(format!("{}.{ending}", name.replace('/', "-")));
            let there = ConvertOptions { to: Some(abroad), ..ConvertOptions::default() };
            match convert_with(&graph, &middle, &there, 2) {
                Ok(_) => {}
                Err(error) => {
                    refused.push((abroad, name, error.to_string()));
                    continue;
                }
            }
            let back = home.path().join(format!("{}-{ending}.annnet", name.replace('/', "-")));
            let certificate = convert_with(&middle, &back, &to_annnet(Compression::Zstd(1)), 2)
                .unwrap_or_else(|error| panic!("{name} from {abroad}: {error:?}"));
            assert_eq!((certificate.source, certificate.result), (Some(before), Some(before)), "{name} from {abroad}");
            assert!(certificate.carried.is_empty(), "{name}: {:?}", certificate.carried);
            // The file declares everything without a sidecar.
            assert_eq!(digested(&back).digests, before, "{name} from {abroad}");
        }
    }
    let found: Vec<_> = refused.iter().map(|(abroad, name, _)| (*abroad, *name)).collect();
    assert_eq!(found, REFUSED_ABROAD, "{refused:#?}");
}

/// A GraphAr graph of two node types, each with one node and a `weight` of its own type.
fn weighted(root: &Path, weights: [(&str, ArrayRef); 2]) {
    for (ty, (data_type, weight)) in ["p", "c"].into_iter().zip(weights) {
        let numbers = |number| Arc::new(Int64Array::from(vec![number])) as ArrayRef;
        let columns = [("_graphArVertexIndex", numbers(0)), ("id", numbers(1)), ("weight", weight)];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let folder = root.join(format!("vertex/{ty}"));
        std::fs::create_dir_all(folder.join("p")).unwrap();
        std::fs::write(folder.join("vertex_count"), 1i64.to_le_bytes()).unwrap();
        let file = std::fs::File::create(folder.join("p/chunk0")).unwrap();
        let options = isomorph_tables::WriteOptions::default();
        let mut writer = TableWriter::create(file, Encoding::Parquet, batch.schema_ref(), &options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let description = format!(
            "type: {ty}\nchunk_size: 10\nprefix: vertex/{ty}/\nproperty_groups:\n  - prefix: p/\n    file_type: parquet\n    \
             properties:\n      - {{name: id, data_type: int64, is_primary: true}}\n      - {{name: weight, data_type: \
             {data_type}, is_primary: false}}\nversion: gar/v1\n"
        );
        std::fs::write(root.join(format!("{ty}.vertex.yml")), description).unwrap();
    }
    let graph = "name: g\nvertices: [p.vertex.yml, c.vertex.yml]\nedges: []\nversion: gar/v1\n";
    std::fs::write(root.join("g.graph.yml"), graph).unwrap();
}

/// The weight of edges has its own column; weights of nodes are attributes, one for each type of number.
#[test]
fn weights_of_two_types_of_nodes_are_two_attributes() {
    let integer = || ("int64", Arc::new(Int64Array::from(vec![2])) as ArrayRef);
    let double = || ("double", Arc::new(Float64Array::from(vec![0.1])) as ArrayRef);
    let small = || ("int32", Arc::new(Int32Array::from(vec![3])) as ArrayRef);
    let float = || ("float", Arc::new(Float32Array::from(vec![0.5])) as ArrayRef);
    for weights in [[integer(), double()], [double(), integer()], [small(), float()], [double(), double()]] {
        let home = tempfile::tempdir().unwrap();
        let (graph, written) = (home.path().join("g"), home.path().join("a"));
        weighted(&graph, weights);
        let before = digested(&graph).digests;
        let certificate = convert_with(&graph, &written, &to_annnet(Compression::Zstd(1)), 1).unwrap();
        assert_eq!((certificate.source, certificate.result), (Some(before), Some(before)));
    }
}
