//! Every format, there and back: the same graph, and an ordinary graph without its sidecar.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use isomorph_convert::{
    Certificate, ConvertOptions, Digested, Format, OpenOptions, Opened, Plan, Registry, SidecarUse, Silent, convert,
    counts, diff, digest,
};
use isomorph_error::{Error, Kind};
use isomorph_storage::{Budget, Location, Resources};

fn resources() -> Resources {
    Resources { threads: 2, budget: Budget::new(256 << 20), ..Resources::of_this_machine().unwrap() }
}

fn open(path: &Path) -> Opened {
    open_with(path, SidecarUse::Auto).unwrap()
}

fn open_with(path: &Path, sidecar: SidecarUse) -> Result<Opened, Error> {
    Opened::open(&Location::from_path(path), &OpenOptions { sidecar, ..OpenOptions::default() })
}

fn digested(opened: &Opened) -> Digested {
    digest(opened.graph.as_ref(), &resources(), &Silent).unwrap()
}

fn convert_with(from: &Path, to: &Path, options: &ConvertOptions) -> Result<Certificate, Error> {
    let opened = open(from);
    let destination = Location::from_path(to);
    let plan = Plan::new(&opened, &destination, options, &resources(), &Silent)?;
    convert(&opened, &plan, &destination, options, &resources(), &Silent)
}

fn convert_to(from: &Path, to: &Path, format: Format) -> Certificate {
    convert_with(from, to, &ConvertOptions { to: Some(format), ..ConvertOptions::default() }).unwrap()
}

/// Converts the graph to the other format and back: equal digests at every step.
fn there_and_back(graph: &Path) {
    let home = tempfile::tempdir().unwrap();
    let before = digested(&open(graph));
    let from = Registry::standard().at(&Location::from_path(graph)).unwrap();
    let other = if from == Format::GRAPHAR { Format::NOCK } else { Format::GRAPHAR };
    let middle = home.path().join(if other == Format::NOCK { "middle.parq" } else { "middle.graphar" });
    let end = home.path().join(if from == Format::NOCK { "end.parq" } else { "end.graphar" });
    let certificate = convert_to(graph, &middle, other);
    assert_eq!(certificate.source, Some(before.digests), "{}", graph.display());
    assert_eq!(certificate.result, Some(before.digests), "{}", graph.display());
    assert_eq!(digested(&open(&middle)).digests, before.digests, "{}", graph.display());
    let certificate = convert_to(&middle, &end, from);
    assert_eq!(certificate.result, Some(before.digests), "{}", graph.display());
    // The final output is a graph of the first format without its sidecar.
    let native = open_with(&end, SidecarUse::Ignore).unwrap();
    assert_eq!(native.format, from);
    let after = digested(&native);
    assert_eq!(after.digests.content, before.digests.content, "{}", graph.display());
    assert_eq!(after.digests.order, before.digests.order, "{}", graph.display());
    // The intermediate output without its sidecar is an ordinary graph too, with all nodes and edges.
    let alone = digested(&open_with(&middle, SidecarUse::Ignore).unwrap());
    assert_eq!(counts(&alone.table), counts(&before.table), "{}", graph.display());
}

#[test]
fn graphar_samples_survive_nock() {
    let Some(data) = isomorph_fixtures::public_data("graphar-testing") else { return };
    for graph in [
        "ldbc_sample/parquet/ldbc_sample.graph.yml",
        "ldbc_sample/parquet/ldbc_sample_date.graph.yml",
        "ldbc_sample/parquet/ldbc_sample_timestamp.graph.yml",
        "ldbc_sample/parquet/ldbc_sample_with_feature.graph.yml",
        "ldbc_sample/csv/ldbc_sample.graph.yml",
        "ldbc_sample/json/LdbcSample.graph.yml",
        "modern_graph/modern_graph.graph.yml",
        "nebula/basketballplayergraph.graph.yml",
        "neo4j/MovieGraph.graph.yml",
    ] {
        there_and_back(&data.join(graph));
    }
}

#[test]
fn nock_files_survive_graphar() {
    let fixtures = isomorph_fixtures::fixture("nock");
    for graph in [
        "01_tiny/tiny.parq",
        "03_karate_example/part_0.parq",
        "03_karate_example/part_1.parq",
        "04_rdf_literals/out.parq",
        "05_rdf_uris/out.parq",
        "06_spec_schema/spec_zstd_null.parq",
        "08_quirks/dangling_dst.parq",
        "08_quirks/dup_node_rows.parq",
        "08_quirks/empty.parq",
        "08_quirks/labels_spaces_dups.parq",
        "08_quirks/null_rel.parq",
        "08_quirks/props_dup_key.parq",
        "08_quirks/truth_out_of_range.parq",
    ] {
        there_and_back(&fixtures.join(graph));
    }
}

#[test]
fn the_same_graph_has_the_same_digest_in_every_encoding() {
    let Some(data) = isomorph_fixtures::public_data("graphar-testing") else { return };
    let of = |graph: &str| digested(&open(&data.join(graph))).digests;
    let parquet = of("ldbc_sample/parquet/ldbc_sample.graph.yml");
    let csv = of("ldbc_sample/csv/ldbc_sample.graph.yml");
    assert_eq!(parquet, csv);
}

fn social() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/social")
}

#[test]
fn the_example_survives_nock() {
    there_and_back(&social());
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let home = tempfile::tempdir().unwrap();
    let opened = open(&social());
    let mut files = Vec::new();
    for threads in [1, 2, 4] {
        let place = home.path().join(format!("{threads}.parq"));
        let destination = Location::from_path(&place);
        let resources = Resources { threads, ..resources() };
        let options = ConvertOptions::default();
        let plan = Plan::new(&opened, &destination, &options, &resources, &Silent).unwrap();
        convert(&opened, &plan, &destination, &options, &resources, &Silent).unwrap();
        files.push(std::fs::read(&place).unwrap());
    }
    assert!(files.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_lossy_conversion_says_what_is_lost_and_carries_nothing() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("social.parq");
    let certificate = convert_with(&social(), &place, &ConvertOptions { lossy: true, ..ConvertOptions::default() });
    let lost = certificate.unwrap().lost;
    assert!(lost.iter().any(|loss| loss.starts_with("person") && loss.contains("become")), "{lost:?}");
    assert!(!home.path().join("social.parq.isomorph").exists());
}

#[test]
fn data_that_was_changed_is_not_read_with_its_old_sidecar() {
    let home = tempfile::tempdir().unwrap();
    let (first, second) = (home.path().join("first.parq"), home.path().join("second.parq"));
    convert_to(&social(), &first, Format::NOCK);
    convert_to(&social(), &second, Format::NOCK);
    let mut bytes = std::fs::read(&first).unwrap();
    let inside = bytes.len() - 30_000;
    bytes[inside] ^= 1;
    std::fs::write(&first, bytes).unwrap();
    assert_eq!(open_with(&first, SidecarUse::Auto).err().unwrap().kind(), Kind::StaleSidecar);
    std::fs::remove_file(&second).unwrap();
    std::fs::copy(&first, &second).unwrap();
    assert_eq!(open_with(&second, SidecarUse::Auto).err().unwrap().kind(), Kind::StaleSidecar);
}

#[test]
fn an_existing_destination_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("social.parq");
    std::fs::write(&place, "mine").unwrap();
    let error = convert_with(&social(), &place, &ConvertOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::AlreadyExists);
    assert_eq!(std::fs::read(&place).unwrap(), b"mine");
}

#[test]
fn a_broken_chunk_publishes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let copy = home.path().join("social");
    copy_directory(&social(), &copy);
    let mut chunks = Vec::new();
    find_chunks(&copy, &mut chunks);
    chunks.sort();
    let chunk = chunks.into_iter().find(|chunk| chunk.to_string_lossy().contains("by_source/adj_list")).unwrap();
    let bytes = std::fs::read(&chunk).unwrap();
    std::fs::write(&chunk, &bytes[..bytes.len() / 2]).unwrap();
    let place = home.path().join("out.parq");
    let error = convert_with(&copy, &place, &ConvertOptions::default()).unwrap_err();
    assert_eq!(error.kind().exit_code(), 3, "{error:?}");
    assert!(error.place().file.is_some(), "{error:?}");
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["social"]);
}

#[test]
fn a_difference_is_found_and_named() {
    let Some(data) = isomorph_fixtures::public_data("graphar-testing/ldbc_sample/parquet") else { return };
    let (left, right) =
        (open(&data.join("ldbc_sample.graph.yml")), open(&data.join("ldbc_sample_with_feature.graph.yml")));
    let found = diff(left.graph.as_ref(), right.graph.as_ref(), 5, &resources(), &Silent).unwrap();
    assert!(!found.equal);
    let differing: Vec<&str> =
        found.lines.iter().filter(|line| !line.equal).map(|line| line.line.property.as_str()).collect();
    assert_eq!(differing, ["feature"]);
    assert_eq!((found.differing, found.elements.len()), (Some(903), 5));
    assert!(found.elements.iter().all(|element| element.kind == "node" && element.ty == "person"));
}

fn find_chunks(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find_chunks(&path, found);
        } else if path.file_name().unwrap().to_string_lossy().starts_with("chunk") {
            found.push(path);
        }
    }
}

fn copy_directory(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copy_directory(&path, &target) } else { std::fs::copy(&path, &target).map(|_| ()).unwrap() }
    }
}
