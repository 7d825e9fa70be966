//! Golden files: graphs written in every encoding and every generation of the format must stay
//! readable. `UPDATE_GOLDEN=1` rewrites them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::support;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Findings, Severity};
use isomorph_graphar::info::FileType;
use isomorph_graphar::{GraphAr, OpenOptions, WriteOptions};
use isomorph_model::Source;
use isomorph_storage::{Blob, Location};
use isomorph_tables::{Encoding, ReadOptions, Selection, TableReader, TableWriter};
use support::digest::digests;
use support::pump::write_as;
use support::social::social;

const PEOPLE: usize = 7;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

fn options(file_type: FileType) -> WriteOptions {
    WriteOptions { vertex_chunk: Some(4), edge_chunk: Some(5), file_type: Some(file_type), ..WriteOptions::default() }
}

fn write(file_type: FileType, to: &Path) {
    let graph = social(PEOPLE);
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    write_as(&graph, &graph.graph, &options(file_type), &Location::from_path(to), 100).unwrap();
}

/// Returns the findings of a graph that are more than notes.
fn warnings(path: &Path) -> Vec<&'static str> {
    let mut findings = Findings::keeping(10);
    support::open(path, &OpenOptions::default()).validate(&mut findings).unwrap();
    let worse = findings.by_rule().filter(|(_, kept)| kept[0].rule.severity > Severity::Note);
    worse.map(|(_, kept)| kept[0].rule.id).collect()
}

#[test]
fn every_encoding_says_the_same() {
    for file_type in FileType::ALL {
        let path = golden(&format!("gar-v1-{}", file_type.word()));
        if updating() {
            write(file_type, &path);
        }
        let graph = support::open(&path, &OpenOptions::default());
        assert_eq!(digests(&graph), digests(&social(PEOPLE)), "{file_type}");
        let expected: &[&str] = if file_type == FileType::Json { &["GAR-META-JSON"] } else { &[] };
        assert_eq!(warnings(&path), expected, "{file_type}");
    }
}

#[test]
fn text_is_written_as_it_always_was() {
    for file_type in FileType::ALL {
        let home = tempfile::tempdir().unwrap();
        let to = home.path().join("social");
        write(file_type, &to);
        let now = support::files(&to);
        let then = support::files(&golden(&format!("gar-v1-{}", file_type.word())));
        let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&now), names(&then));
        // The bytes of Parquet and ORC depend on their libraries; label files are always Parquet.
        let ours = |name: &str| {
            let lists = name.contains("emails") || name.contains("labels/");
            !name.contains("chunk")
                || (matches!(file_type, FileType::Csv | FileType::Json)
                    && !(file_type == FileType::Csv && lists)
                    && !name.contains("labels/"))
        };
        for ((name, now), (_, then)) in now.iter().zip(&then).filter(|((name, _), _)| ours(name)) {
            assert_eq!(String::from_utf8_lossy(now), String::from_utf8_lossy(then), "{file_type} {name}");
        }
    }
}

/// Rewrites a Parquet file through `change`.
fn rewrite(path: &Path, change: impl Fn(RecordBatch) -> RecordBatch) {
    let blob = Blob::from_bytes("chunk", &std::fs::read(path).unwrap().into());
    let reader = TableReader::open(blob, Encoding::Parquet, &ReadOptions::default()).unwrap();
    let batches: Vec<RecordBatch> =
        reader.batches(&Selection::all()).unwrap().map(|batch| change(batch.unwrap())).collect();
    let options = isomorph_tables::WriteOptions { page_index: false, ..Default::default() };
    let mut writer = TableWriter::create(Vec::new(), Encoding::Parquet, &batches[0].schema(), &options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    std::fs::write(path, writer.finish().unwrap().0).unwrap();
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from:?} in {text}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

/// Returns the files below a directory whose path contains `part`.
fn each_file(path: &Path, part: &str, mut change: impl FnMut(&Path)) {
    for (name, _) in support::files(path).iter().filter(|(name, _)| name.contains(part)) {
        change(&path.join(name));
    }
}

/// Changes a graph to the form of Spark writers: 32-bit offsets, no vertex index, microseconds, an absolute prefix of another machine.
fn make_spark(path: &Path) {
    write(FileType::Parquet, path);
    each_file(path, "/offset/", |file| {
        rewrite(file, |batch| {
            let offsets = cast(batch.column(0), &DataType::Int32).unwrap();
            let field = Field::new("_graphArOffset", DataType::Int32, true);
            RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![offsets]).unwrap()
        });
    });
    each_file(path, "vertex/person/id_", |file| {
        rewrite(file, |batch| batch.project(&(1..batch.num_columns()).collect::<Vec<_>>()).unwrap());
    });
    edit(&path.join("social.graph.yml"), "name: social\n", "name: social\nprefix: /home/spark/export/\n");
}

/// Changes a graph to the form of 2023: the key label for types, property groups below the lists, no `is_nullable`, offsets
/// that end with the last vertex.
fn make_2023(path: &Path) {
    write(FileType::Csv, path);
    for name in ["person", "city"] {
        let file = path.join(format!("{name}.vertex.yml"));
        edit(&file, "type: ", "label: ");
        edit(&file, "data_label: ", "data_type: ");
        edit(&file, "file_label: ", "file_type: ");
    }
    for name in ["person_knows_person", "person_lives_in_city"] {
        let file = path.join(format!("{name}.edge.yml"));
        for end in ["src", "edge", "dst"] {
            edit(&file, &format!("{end}_type: "), &format!("{end}_label: "));
        }
    }
    let file = path.join("person_knows_person.edge.yml");
    let text = std::fs::read_to_string(&file).unwrap();
    let (before, groups) = text.split_once("property_groups:\n").unwrap();
    let (groups, version) = groups.split_once("version:").unwrap();
    let nested: String = std::iter::once("    property_groups:\n".to_owned())
        .chain(groups.lines().map(|line| format!("    {line}\n")))
        .collect();
    let before = before.replace("    file_type: csv\n", &format!("    file_type: csv\n{nested}"));
    std::fs::write(&file, format!("{before}version:{version}")).unwrap();
    each_file(path, ".yml", |file| {
        let text = std::fs::read_to_string(file).unwrap();
        let kept: Vec<&str> = text.lines().filter(|line| !line.contains("is_nullable: true")).collect();
        std::fs::write(file, format!("{}\n", kept.join("\n"))).unwrap();
    });
    // Seven people in chunks of four: the last chunk has three.
    each_file(path, "person_knows_person/ordered_by_source/offset/chunk1", |file| {
        let text = std::fs::read_to_string(file).unwrap();
        let lines: Vec<&str> = text.lines().take(5).collect();
        std::fs::write(file, format!("{}\n", lines.join("\n"))).unwrap();
    });
}

/// Files as written by other or older writers.
struct Generation {
    name: &'static str,
    make: fn(&Path),
    warnings: &'static [&'static str],
}

#[test]
fn every_generation_says_the_same() {
    let spark =
        Generation { name: "spark", make: make_spark, warnings: &["GAR-META-PREFIX-ELSEWHERE", "GAR-OFFSET-INT32"] };
    let of_2023 = Generation {
        name: "keys-of-2023",
        make: make_2023,
        warnings: &["GAR-META-LEGACY-KEYS", "GAR-META-NESTED-GROUPS"],
    };
    for Generation { name, make, warnings: expected } in [spark, of_2023] {
        let path = golden(name);
        if updating() {
            make(&path);
        }
        let graph = support::open(&path, &OpenOptions::default());
        assert_eq!(digests(&graph), digests(&social(PEOPLE)), "{name}");
        assert_eq!(warnings(&path), expected, "{name}");
        assert_eq!(graph.about().version.contains("2023"), name.contains("2023"));
    }
}

#[test]
fn the_golden_files_are_small() {
    let bytes: usize = support::files(&golden("")).iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(bytes < 200 << 10, "{bytes} bytes");
}

#[test]
fn a_graph_written_again_in_its_own_layout_is_the_same() {
    let path = golden("gar-v1-parquet");
    let graph = GraphAr::open(&Location::from_path(&path), &OpenOptions::default()).unwrap();
    let home = tempfile::tempdir().unwrap();
    let to = home.path().join("again");
    let write = WriteOptions { hints: true, ..WriteOptions::default() };
    write_as(&graph, graph.graph(), &write, &Location::from_path(&to), 3).unwrap();
    let names = |path: &Path| support::files(path).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(&to), names(&path));
    let again = GraphAr::open(&Location::from_path(&to), &OpenOptions::default()).unwrap();
    assert_eq!(digests(&again), digests(&graph));
    assert_eq!(again.graph(), graph.graph());
}
