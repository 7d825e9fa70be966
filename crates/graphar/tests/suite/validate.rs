//! Validation: valid graphs pass, and every violation is reported with its rule and place.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::support;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use isomorph_error::{Findings, Severity};
use isomorph_graphar::info::{AdjListType, FileType};
use isomorph_graphar::{GraphAr, OpenOptions, WriteOptions};
use isomorph_model::{Batch, Request, Source, Tables};
use isomorph_storage::{Blob, Location};
use isomorph_tables::{Encoding, ReadOptions, Selection, TableReader, TableWriter};
use support::pump::write_as;
use support::social::social;

fn validate(path: &Path) -> Findings {
    let mut findings = Findings::keeping(100);
    support::open(path, &OpenOptions::default()).validate(&mut findings).unwrap();
    findings
}

/// Returns rule ids with the number of violations, without notes.
fn ids(findings: &Findings) -> Vec<(&'static str, u64)> {
    let worth = findings.by_rule().filter(|(_, kept)| kept[0].rule.severity > Severity::Note);
    worth.map(|(count, kept)| (kept[0].rule.id, count)).collect()
}

#[test]
fn the_public_samples_are_sound() {
    let Some(samples) = support::samples() else { return };
    let int32 = |count| vec![("GAR-OFFSET-INT32", count)];
    let expected = [
        ("ldbc_sample/parquet/ldbc_sample.graph.yml", vec![]),
        ("ldbc_sample/parquet/ldbc_sample_date.graph.yml", vec![]),
        ("ldbc_sample/parquet/ldbc_sample_timestamp.graph.yml", vec![]),
        ("ldbc_sample/parquet/ldbc_sample_with_feature.graph.yml", vec![]),
        ("ldbc_sample/csv/ldbc_sample.graph.yml", vec![]),
        ("ldbc_sample/orc/ldbc_sample.graph.yml", vec![]),
        ("ldbc_sample/json/LdbcSample.graph.yml", vec![("GAR-META-JSON", 4)]),
        ("modern_graph/modern_graph.graph.yml", vec![]),
        ("neo4j/MovieGraph.graph.yml", int32(19)),
        (
            "nebula/basketballplayergraph.graph.yml",
            vec![("GAR-META-NESTED-GROUPS", 1), ("GAR-META-PREFIX-ELSEWHERE", 1), ("GAR-OFFSET-INT32", 4)],
        ),
    ];
    for (name, expected) in expected {
        let findings = validate(&samples.join(name));
        assert_eq!(ids(&findings), expected, "{name}: {findings:#?}");
    }
}

#[test]
fn missing_files_are_named_each() {
    let Some(samples) = support::samples() else { return };
    let missing = |name: &str| -> Vec<String> {
        let findings = validate(&samples.join(name));
        let mut files: Vec<String> = findings
            .by_rule()
            .flat_map(|(_, kept)| kept)
            .filter(|finding| finding.rule.id == "GAR-FILE-MISSING")
            .map(|finding| finding.place.file.clone().unwrap())
            .collect();
        files.sort();
        files
    };
    assert_eq!(
        missing("ldbc/parquet/ldbc.graph.yml"),
        [
            "edge/organisation_isLocatedIn_place/ordered_by_dest/vertex_count",
            "edge/organisation_isLocatedIn_place/ordered_by_source/edge_count0",
            "edge/organisation_isLocatedIn_place/ordered_by_source/edge_count1",
            "edge/organisation_isLocatedIn_place/ordered_by_source/vertex_count",
            "edge/place_isPartOf_place/ordered_by_dest/vertex_count",
            "edge/place_isPartOf_place/ordered_by_source/vertex_count",
            "vertex/place/vertex_count",
        ]
    );
    assert_eq!(
        missing("transformer/ldbc_sample.graph.yml"),
        [
            "edge/person_knows_person/ordered_by_source/vertex_count",
            "edge/person_knows_person/unordered_by_dest/vertex_count",
            "vertex/person/vertex_count",
        ]
    );
    // 8 vertex types, and 23 edge types with two lists each.
    assert_eq!(missing("ldbc/ldbc.graph.yml").len(), 8 + 2 * 23);
}

/// Writes the small graph, to be damaged.
struct Victim {
    _home: tempfile::TempDir,
    path: PathBuf,
}

impl Victim {
    fn new(write: &WriteOptions) -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("social");
        let graph = social(30);
        let write = WriteOptions { vertex_chunk: Some(10), edge_chunk: Some(8), ..write.clone() };
        write_as(&graph, &graph.graph, &write, &Location::from_path(&path), 7).unwrap();
        Victim { _home: home, path }
    }

    /// Writes a fresh copy of the graph as text, with all lists.
    fn csv() -> Self {
        static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
        let files = FILES.get_or_init(|| {
            let adjacency = Some(AdjListType::ALL.to_vec());
            let victim =
                Victim::new(&WriteOptions { file_type: Some(FileType::Csv), adjacency, ..WriteOptions::default() });
            support::files(&victim.path)
        });
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("social");
        for (name, bytes) in files {
            std::fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
            std::fs::write(path.join(name), bytes).unwrap();
        }
        Victim { _home: home, path }
    }

    fn edit(&self, file: &str, edit: impl FnOnce(String) -> String) -> &Self {
        let path = self.path.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let edited = edit(text.clone());
        assert_ne!(edited, text, "{file}: {text}");
        std::fs::write(path, edited).unwrap();
        self
    }

    fn write(&self, file: &str, bytes: &[u8]) -> &Self {
        std::fs::write(self.path.join(file), bytes).unwrap();
        self
    }

    /// Returns the warnings and errors of validation.
    fn found(&self) -> Vec<(&'static str, u64)> {
        ids(&validate(&self.path))
    }

    /// Returns the rule of the error of a complete scan.
    fn scan(&self) -> Option<&'static str> {
        let graph = GraphAr::open(&Location::from_path(&self.path), &OpenOptions::default());
        let result = graph.and_then(|graph| isomorph_model::MemoryGraph::read(&graph));
        result.err().map(|error| error.broken_rule().map_or("no rule", |rule| rule.id))
    }
}

#[test]
fn what_we_write_is_sound() {
    for file_type in FileType::ALL {
        let victim = Victim::new(&WriteOptions {
            file_type: Some(file_type),
            adjacency: Some(AdjListType::ALL.to_vec()),
            ..WriteOptions::default()
        });
        let expected: &[&str] = if file_type == FileType::Json { &["GAR-META-JSON"] } else { &[] };
        let found = victim.found();
        assert_eq!(found.iter().map(|(id, _)| *id).collect::<Vec<_>>(), expected, "{file_type}");
        assert_eq!(victim.scan(), None, "{file_type}");
    }
}

const KNOWS: &str = "edge/person_knows_person";

#[test]
fn counts_are_checked() {
    let victim = Victim::csv();
    victim.write("vertex/person/vertex_count", b"30");
    assert_eq!(victim.scan(), Some("GAR-COUNT-SIZE"));
    let victim = Victim::csv();
    victim.write("vertex/person/vertex_count", &(-1i64).to_le_bytes());
    assert_eq!(victim.scan(), Some("GAR-COUNT-RANGE"));
    let victim = Victim::csv();
    victim.write("vertex/person/vertex_count", &(1u64 << 40).to_le_bytes());
    assert_eq!(victim.scan(), Some("GAR-COUNT-RANGE"));
    let victim = Victim::csv();
    victim.write("vertex/person/vertex_count", &29u64.to_le_bytes());
    assert_eq!(victim.scan(), Some("GAR-COUNT-ALIGNED"));
    let found = victim.found();
    for id in ["GAR-COUNT-ROWS", "GAR-COUNT-ALIGNED", "GAR-EDGE-DANGLING"] {
        assert!(found.iter().any(|(found, _)| *found == id), "{id}: {found:?}");
    }
    let victim = Victim::csv();
    victim.write(&format!("{KNOWS}/ordered_by_source/edge_count0"), &1u64.to_le_bytes());
    assert_eq!(victim.scan(), Some("GAR-COUNT-ROWS"));
    let found = victim.found();
    for id in ["GAR-COUNT-ROWS", "GAR-OFFSET-END"] {
        assert!(found.iter().any(|(found, _)| *found == id), "{id}: {found:?}");
    }
}

#[test]
fn a_count_that_calls_for_many_files_names_each_of_them() {
    // Found by fuzzing: nearly half a million files, each of which was looked up.
    let victim = Victim::csv();
    let files = |victim: &Victim| -> u64 {
        let missing = victim.found().into_iter().find(|(id, _)| *id == "GAR-FILE-MISSING");
        missing.map_or(0, |(_, count)| count)
    };
    assert_eq!(files(&victim), 0);
    victim.write("vertex/person/vertex_count", &917_504u64.to_le_bytes());
    assert!(files(&victim) > 2 * 90_000, "{:?}", victim.found());
}

#[test]
fn missing_and_foreign_files_are_named() {
    let victim = Victim::csv();
    std::fs::remove_file(victim.path.join(KNOWS).join("ordered_by_source/adj_list/part0/chunk1")).unwrap();
    std::fs::remove_file(victim.path.join("vertex/person/labels/chunk2")).unwrap();
    std::fs::remove_file(victim.path.join(KNOWS).join("unordered_by_dest/edge_count2")).unwrap();
    victim.write("vertex/person/labels/_SUCCESS", b"");
    assert_eq!(victim.found(), [("GAR-FILE-EXTRA", 1), ("GAR-FILE-MISSING", 3)]);
    assert_eq!(victim.scan(), Some("GAR-FILE-MISSING"));
}

/// Swaps two lines, counted from 0 after the header.
fn swapped(text: &str, one: usize, other: usize) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.swap(one + 1, other + 1);
    format!("{}\n", lines.join("\n"))
}

#[test]
fn edges_are_checked() {
    let adj = format!("{KNOWS}/ordered_by_source/adj_list/part0/chunk0");
    let only = |edit: &dyn Fn(&str) -> String| {
        let victim = Victim::csv();
        victim.edit(&adj, |text| edit(&text));
        (victim.scan(), victim.found())
    };
    // Lines are 0,0 0,0 0,1 1,0 1,0 1,2 2,0 2,0.
    let (scan, found) = only(&|text| swapped(text, 0, 7));
    assert_eq!(scan, Some("GAR-EDGE-ORDER"));
    assert!(found.contains(&("GAR-EDGE-ORDER", 1)) && found.contains(&("GAR-LISTS-DIFFER", 3)), "{found:?}");
    let (scan, found) = only(&|text| text.replacen("0,1\n", "0,77\n", 1));
    assert_eq!(scan, Some("GAR-EDGE-DANGLING"));
    assert!(found.contains(&("GAR-EDGE-DANGLING", 1)), "{found:?}");
    let (scan, found) = only(&|text| text.replacen("2,0\n2,0\n", "2,0\n29,0\n", 1));
    assert_eq!(scan, Some("GAR-EDGE-PART"));
    assert!(found.contains(&("GAR-EDGE-PART", 1)), "{found:?}");
    let (scan, _) = only(&|text| text.replacen("0,1\n", ",1\n", 1));
    assert_eq!(scan, Some("GAR-EDGE-NULL"));
    let (scan, found) = only(&|text| text.replacen("1,2\n", "1,3\n", 1));
    assert_eq!((scan, found), (None, vec![("GAR-LISTS-DIFFER", 3)]));
    let (scan, found) = only(&|text| text.replacen("1,0\n", "0,0\n", 1));
    assert_eq!(scan, Some("GAR-OFFSET-DEGREE"));
    assert!(found.contains(&("GAR-OFFSET-DEGREE", 1)), "{found:?}");
    let (scan, _) = only(&|text| text.replacen("0,1\n", "zero,1\n", 1));
    assert_eq!(scan, Some("TEXT-VALUE"));
}

#[test]
fn chunks_of_one_part_are_in_order_too() {
    let victim = Victim::csv();
    // The second chunk of the part begins with vertex 2, with which the first one ends.
    victim.edit(&format!("{KNOWS}/ordered_by_source/adj_list/part0/chunk1"), |text| text.replacen("\n2,", "\n0,", 1));
    assert_eq!(victim.scan(), Some("GAR-EDGE-ORDER"));
    assert!(victim.found().contains(&("GAR-EDGE-ORDER", 1)));
}

#[test]
fn offsets_are_checked() {
    let offsets = format!("{KNOWS}/ordered_by_source/offset/chunk0");
    let found = |edit: &dyn Fn(&str) -> String| {
        let victim = Victim::csv();
        victim.edit(&offsets, |text| edit(&text));
        (victim.scan().unwrap_or("nothing"), victim.found())
    };
    // Offsets are 0 3 6 9 … 30.
    let first = vec![("GAR-OFFSET-DEGREE", 1), ("GAR-OFFSET-FIRST", 1)];
    assert_eq!(found(&|text| text.replacen("\n0\n", "\n1\n", 1)), ("GAR-OFFSET-FIRST", first));
    let alone = |id| (id, vec![(id, 1)]);
    assert_eq!(found(&|text| text.replacen("\n6\n", "\n5\n", 1)), alone("GAR-OFFSET-DEGREE"));
    assert_eq!(found(&|text| text.replacen("\n6\n", "\n2\n", 1)), alone("GAR-OFFSET-FALLS"));
    assert_eq!(found(&|text| text.replacen("\n30\n", "\n31\n", 1)), alone("GAR-OFFSET-END"));
    assert_eq!(found(&|text| format!("{text}30\n")), alone("GAR-OFFSET-ROWS"));
    assert_eq!(found(&|text| text.replacen("\n6\n", "\n\n", 1)), alone("GAR-COLUMN-TYPE"));
}

#[test]
fn label_files_of_a_prefix_without_its_slash_are_not_called_missing() {
    let victim = Victim::csv();
    victim.edit("person.vertex.yml", |text| text.replacen("prefix: vertex/person/\n", "prefix: vertex/person\n", 1));
    std::fs::rename(victim.path.join("vertex/person/labels"), victim.path.join("vertex/personlabels")).unwrap();
    assert_eq!((victim.scan(), victim.found()), (None, vec![("GAR-META-PREFIX-SLASH", 1)]));
    std::fs::remove_file(victim.path.join("vertex/personlabels/chunk1")).unwrap();
    assert_eq!(victim.scan(), Some("GAR-FILE-MISSING"));
    assert_eq!(victim.found(), [("GAR-FILE-MISSING", 1), ("GAR-META-PREFIX-SLASH", 1)]);
}

/// A graph of another writer: three vertices and edges 0 → 1, 0 → 2, 1 → 2 with a weight as the only CSV column, the second null.
fn weights_alone() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let list = "edge/ordered_by_source";
    write("g.graph.yml", b"name: g\nvertices:\n  - v.vertex.yml\nedges:\n  - e.edge.yml\nversion: gar/v1\n");
    write("v.vertex.yml", b"type: v\nchunk_size: 10\nprefix: vertex/\nversion: gar/v1\n");
    write(
        "e.edge.yml",
        b"src_type: v\nedge_type: e\ndst_type: v\nchunk_size: 10\nsrc_chunk_size: 10\ndst_chunk_size: 10\n\
          directed: true\nprefix: edge/\nadj_lists:\n  - ordered: true\n    aligned_by: src\n    file_type: csv\n\
          property_groups:\n  - prefix: weight/\n    file_type: csv\n    properties:\n      - name: weight\n        \
          data_type: double\nversion: gar/v1\n",
    );
    write("vertex/vertex_count", &3u64.to_le_bytes());
    write(&format!("{list}/vertex_count"), &3u64.to_le_bytes());
    write(&format!("{list}/edge_count0"), &3u64.to_le_bytes());
    write(&format!("{list}/offset/chunk0"), b"_graphArOffset\n0\n2\n3\n3\n");
    write(&format!("{list}/adj_list/part0/chunk0"), b"_graphArSrcIndex,_graphArDstIndex\n0,1\n0,2\n1,2\n");
    write(&format!("{list}/weight/part0/chunk0"), b"weight\n0.5\n\n2.5\n");
    home
}

#[test]
fn an_empty_line_of_a_single_column_is_a_null_with_a_finding() {
    let home = weights_alone();
    let findings = validate(home.path());
    assert_eq!(ids(&findings), [("GAR-CSV-BLANK", 1)], "{findings:#?}");
    let graph = support::open(home.path(), &OpenOptions::default());
    let mut weights = Vec::new();
    for mut part in graph.scan(&Request::of(Tables::Edges(0))).unwrap() {
        part.read(&mut |batch| {
            let Batch::Edges(batch) = batch else { panic!("not edges") };
            weights.extend(batch.properties[0].as_ref().unwrap().as_primitive::<Float64Type>().iter());
            Ok(())
        })
        .unwrap();
    }
    assert_eq!(weights, [Some(0.5), None, Some(2.5)]);
    // If the line were skipped, values would move to other edges.
    std::fs::write(home.path().join("edge/ordered_by_source/weight/part0/chunk0"), "weight\n0.5\n2.5\n").unwrap();
    assert_eq!(ids(&validate(home.path())), [("GAR-COUNT-ROWS", 1)]);
}

#[test]
fn page_indexes_are_checked() {
    let parquet = WriteOptions { file_type: Some(FileType::Parquet), ..WriteOptions::default() };
    let victim = Victim::new(&parquet);
    let mut unnoticed = 0;
    for (name, bytes) in support::files(&victim.path).into_iter().filter(|(name, _)| name.ends_with("chunk0")) {
        // The last offset index of the file: a list of one structure that begins with the position of a page.
        let start = [0x19, 0x1c, 0x16];
        let Some(at) = bytes.windows(3).rposition(|window| window == start) else { continue };
        let mut damaged = bytes.clone();
        damaged[at + 3] ^= 2;
        victim.write(&name, &damaged);
        // Chunks are read without an index; the offsets of a part are read from the middle.
        let scan = victim.scan();
        assert!(matches!(scan, None | Some("PARQUET-INDEX")), "{name}: {scan:?}");
        unnoticed += u32::from(scan.is_none());
        let found = victim.found();
        assert!(found.contains(&("PARQUET-INDEX", 1)), "{name}: {found:?}");
        victim.write(&name, &bytes);
    }
    assert!(unnoticed > 3, "{unnoticed}");
}

/// The Arrow schema embedded in a footer is not used here, but other readers cannot open a file in which it is damaged.
#[test]
fn a_damaged_arrow_schema_is_found_in_every_kind_of_file() {
    let parquet = WriteOptions { file_type: Some(FileType::Parquet), ..WriteOptions::default() };
    let victim = Victim::new(&parquet);
    let mut kinds = std::collections::BTreeSet::new();
    for (name, bytes) in support::files(&victim.path).into_iter().filter(|(_, bytes)| bytes.starts_with(b"PAR1")) {
        let blob = Blob::from_bytes(&name, &bytes.clone().into());
        let reader = TableReader::open(blob, Encoding::Parquet, &ReadOptions::default()).unwrap();
        let footer_metadata = vec![("ARROW:schema".to_owned(), "no schema".to_owned())];
        let options = isomorph_tables::WriteOptions { footer_metadata, ..Default::default() };
        let mut writer = TableWriter::create(Vec::new(), Encoding::Parquet, reader.schema(), &options).unwrap();
        reader.batches(&Selection::all()).unwrap().for_each(|batch| writer.write(&batch.unwrap()).unwrap());
        victim.write(&name, &writer.finish().unwrap().0);
        assert_eq!(victim.found(), [("PARQUET-FOOTER", 1)], "{name}");
        assert_eq!(victim.scan(), None, "{name}");
        victim.write(&name, &bytes);
        kinds.extend(["labels", "offset", "adj_list", "vertex"].into_iter().filter(|kind| name.contains(kind)));
    }
    assert!(kinds.len() >= 3, "{kinds:?}");
}

#[test]
fn vertices_are_checked() {
    let group = |victim: &Victim| {
        let names = std::fs::read_dir(victim.path.join("vertex/person")).unwrap();
        let mut names: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name.starts_with("id_"));
        format!("vertex/person/{}/chunk1", names[0])
    };
    // The row of vertex 11 begins with 11,923,"p, ""11""".
    let only = |edit: &dyn Fn(&str) -> String| {
        let victim = Victim::csv();
        victim.edit(&group(&victim), |text| edit(&text));
        (victim.scan(), victim.found())
    };
    let (scan, found) = only(&|text| text.replacen("\n11,", "\n12,", 1));
    assert_eq!((scan, found), (Some("GAR-INDEX-GAP"), vec![("GAR-INDEX-GAP", 1)]));
    let (scan, found) = only(&|text| text.replacen("11,923,", "11,,", 1));
    assert_eq!((scan, found), (Some("GAR-KEY-NULL"), vec![("GAR-KEY-NULL", 1)]));
    let (scan, found) = only(&|text| text.replacen("11,923,", "11,930,", 1));
    assert_eq!((scan, found), (None, vec![("GAR-KEY-TWICE", 1)]));
    let (scan, found) = only(&|text| text.replacen("\"p, \"\"11\"\"\"", "", 1));
    assert_eq!((scan, found), (None, vec![("GAR-NULL", 1)]));
    let (scan, _) = only(&|text| text.replacen("active", "inactive", 1));
    assert_eq!(scan, Some("CSV-HEADER"));
    let (scan, _) = only(&|text| text.replacen("11,923,", "11,x,", 1));
    assert_eq!(scan, Some("TEXT-VALUE"));
    let (scan, found) = only(&|text| text.lines().take(10).map(|line| format!("{line}\n")).collect());
    assert_eq!((scan, found), (Some("GAR-COUNT-ROWS"), vec![("GAR-COUNT-ROWS", 1)]));
}

#[test]
fn truncated_and_flipped_parquet_is_an_error_and_never_a_panic() {
    isomorph_tables::quiet_fenced_panics();
    let victim =
        Victim::new(&WriteOptions { adjacency: Some(vec![AdjListType::OrderedBySource]), ..WriteOptions::default() });
    let files = support::files(&victim.path);
    let chunks: Vec<_> = files.iter().filter(|(name, _)| name.contains("chunk")).collect();
    for (number, (name, bytes)) in chunks.iter().enumerate() {
        for cut in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            victim.write(name, &bytes[..cut]);
            assert!(victim.scan().is_some(), "{name} cut at {cut}");
            assert!(validate(&victim.path).worst() == Some(Severity::Error), "{name} cut at {cut}");
        }
        // Every bit of one byte in seven, at another offset in each file.
        for at in (number % 7..bytes.len()).step_by(7 * 8) {
            let mut broken = bytes.clone();
            broken[at] ^= 1 << (at / 7 % 8);
            victim.write(name, &broken);
            let _ = victim.scan();
        }
        victim.write(name, bytes);
    }
    assert_eq!(victim.found(), []);
}
