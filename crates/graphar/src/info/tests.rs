#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashMap;

use bytes::Bytes;
use isomorph_error::{Findings, Kind, Result};
use isomorph_model::Cardinality;
use proptest::prelude::*;

use super::*;
use crate::rules;
use crate::yml::check_text;

fn read(files: &HashMap<String, String>, findings: &mut Findings) -> Result<GraphInfo> {
    let open = |name: &str| Ok(files.get(name).map(|text| Bytes::from(text.clone())));
    GraphInfo::read("g.graph.yml", files["g.graph.yml"].as_bytes(), &open, findings)
}

fn files<const N: usize>(files: [(&str, &str); N]) -> HashMap<String, String> {
    files.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

fn graph_file(info: &GraphInfo) -> HashMap<String, String> {
    let mut files = HashMap::from([("g.graph.yml".to_owned(), info.to_yml().unwrap())]);
    files.extend(info.vertices.iter().map(|vertex| (vertex.file.clone(), vertex.to_yml().unwrap())));
    files.extend(info.edges.iter().map(|edge| (edge.file.clone(), edge.to_yml().unwrap())));
    files
}

/// Texts that an information file can hold, including awkward ones.
fn text() -> impl Strategy<Value = String> {
    "[ -}]{1,12}".prop_filter("a text that can be written in a list", |text| {
        check_text(text).is_ok() && text.matches(':').count() < 2
    })
}

fn file_type() -> impl Strategy<Value = FileType> {
    prop::sample::select(&FileType::ALL[..])
}

fn value_type() -> impl Strategy<Value = ValueType> {
    const TOKENS: [&str; 8] = ["bool", "int32", "double", "string", "date", "timestamp", "list<int64>", "t1"];
    prop::sample::select(&TOKENS[..]).prop_map(ValueType::from_token)
}

fn property() -> impl Strategy<Value = PropertyInfo> {
    let cardinality = prop::sample::select(&[Cardinality::Single, Cardinality::List, Cardinality::Set][..]);
    (text(), value_type(), any::<bool>(), any::<bool>(), cardinality).prop_map(
        |(name, value_type, primary, nullable, cardinality)| PropertyInfo {
            name,
            value_type,
            primary,
            nullable: nullable && !primary,
            cardinality,
        },
    )
}

fn group() -> impl Strategy<Value = PropertyGroup> {
    (file_type(), prop::collection::vec(property(), 1..4), "[a-z]{1,5}/")
        .prop_map(|(file_type, properties, prefix)| PropertyGroup { prefix, file_type, properties })
}

fn version() -> impl Strategy<Value = Option<Version>> {
    prop::sample::select(&["gar/v1", "gar/v1 (t1,t2)", ""][..])
        .prop_map(|text| (!text.is_empty()).then(|| Version::parse(text)))
}

fn vertex() -> impl Strategy<Value = VertexInfo> {
    let labels = prop::collection::vec(text(), 0..3);
    (text(), 1u64..1 << 40, labels, prop::collection::vec(group(), 0..3), version()).prop_map(
        |(ty, chunk_size, labels, groups, version)| VertexInfo {
            file: String::new(),
            prefix: "vertex/v/".into(),
            ty,
            chunk_size,
            labels,
            groups,
            version,
            unknown: Vec::new(),
        },
    )
}

fn edge() -> impl Strategy<Value = EdgeInfo> {
    let lists = prop::collection::vec((prop::sample::select(&AdjListType::ALL[..]), file_type()), 0..3);
    let sizes = (1u64..1 << 40, 1u64..1 << 40, 1u64..1 << 40);
    let directed = any::<Option<bool>>();
    (text(), text(), text(), sizes, directed, lists, prop::collection::vec(group(), 0..3), version()).prop_map(
        |(source, relation, target, sizes, directed, lists, groups, version)| EdgeInfo {
            file: String::new(),
            source,
            relation,
            target,
            chunk_size: sizes.0,
            source_chunk_size: sizes.1,
            target_chunk_size: sizes.2,
            directed,
            prefix: "edge/e/".into(),
            lists: lists
                .into_iter()
                .map(|(kind, file_type)| AdjList { kind, prefix: format!("{}/", kind.word()), file_type })
                .collect(),
            groups,
            version,
            unknown: vec![("owner".into(), "somebody".into())],
        },
    )
}

fn graph() -> impl Strategy<Value = GraphInfo> {
    let extra = prop::collection::vec((text(), text()), 0..3);
    let labels = prop::collection::vec(text(), 0..3);
    let types = (prop::collection::vec(vertex(), 0..3), prop::collection::vec(edge(), 0..3));
    (text(), version(), labels, extra, types).prop_map(
        |(name, version, labels, mut extra_info, (mut vertices, mut edges))| {
            // A key occurs once in a mapping; there are at most two.
            extra_info.dedup_by(|one, other| one.0 == other.0);
            for (number, vertex) in vertices.iter_mut().enumerate() {
                vertex.file = format!("v{number}.vertex.yml");
            }
            for (number, edge) in edges.iter_mut().enumerate() {
                edge.file = format!("e{number}.edge.yml");
            }
            GraphInfo {
                name: Some(name),
                prefix: None,
                version,
                labels,
                extra_info,
                vertices,
                edges,
                unknown: Vec::new(),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back(info in graph()) {
        let mut findings = Findings::default();
        let back = read(&graph_file(&info), &mut findings).unwrap();
        prop_assert_eq!(back, info);
        prop_assert_eq!(findings.count(&rules::META_REFERENCE), 0);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[a-z:\\- \n\\[\\]{}&*\"'#|>%!]{0,120}") {
        let nothing = |_: &str| Ok(None);
        let _ = GraphInfo::read("g", &bytes, &nothing, &mut Findings::default());
        let _ = GraphInfo::read("g", text.as_bytes(), &nothing, &mut Findings::default());
    }
}

const VERTEX: &str = "type: v\nchunk_size: 10\n";

#[test]
fn defaults_are_those_of_the_published_library() {
    let vertex = "type: person\nchunk_size: 100\nproperty_groups:\n  - file_type: parquet\n    properties:\n      - name: id\n        data_type: int64\n        is_primary: TRUE\n      - name: x\n        data_type: string\n";
    let edge = "src_type: person\nedge_type: knows\ndst_type: person\nchunk_size: 9\nsrc_chunk_size: 100\ndst_chunk_size: 100\nadj_lists:\n  - aligned_by: src\n    file_type: csv\n";
    let files =
        files([("g.graph.yml", "vertices:\n  - p.yml\nedges:\n  - e.yml\n"), ("p.yml", vertex), ("e.yml", edge)]);
    let mut findings = Findings::keeping(9);
    let graph = read(&files, &mut findings).unwrap();
    let person = &graph.vertices[0];
    assert_eq!((person.prefix.as_str(), person.groups[0].prefix.as_str()), ("person/", "id_x/"));
    assert_eq!(person.key().unwrap().name, "id");
    assert!(!person.key().unwrap().nullable);
    assert!(person.groups[0].properties[1].nullable);
    let knows = &graph.edges[0];
    assert_eq!(knows.prefix, "person_knows_person/");
    assert_eq!(knows.lists[0].kind, AdjListType::UnorderedBySource);
    assert_eq!(knows.lists[0].prefix, "unordered_by_source/");
    assert_eq!(knows.directed, None);
    assert_eq!(findings.count(&rules::META_DIRECTED), 1);
}

#[test]
fn the_keys_of_2023_are_understood() {
    let files = files([
        ("g.graph.yml", "vertices:\n  - p.yml\nedges:\n  - e.yml\n"),
        ("p.yml", "label: person\nchunk_size: 100\n"),
        (
            "e.yml",
            "src_label: person\nedge_label: knows\ndst_label: person\nchunk_size: 9\nsrc_chunk_size: 100\ndst_chunk_size: 100\nadj_lists:\n  - aligned_by: dst\n    ordered: true\n    file_type: orc\n    property_groups:\n      - file_type: orc\n        properties:\n          - name: w\n            data_type: double\n",
        ),
    ]);
    let mut findings = Findings::keeping(9);
    let graph = read(&files, &mut findings).unwrap();
    assert_eq!(graph.vertices[0].ty, "person");
    assert_eq!(graph.edges[0].groups[0].properties[0].name, "w");
    assert_eq!(findings.count(&rules::META_LEGACY_KEYS), 4);
    assert_eq!(findings.count(&rules::META_NESTED_GROUPS), 1);
}

#[test]
fn references_that_leave_the_directory_are_refused() {
    for reference in ["../v.yml", "a/../../v.yml", "..\\v.yml", "/etc/../v.yml"] {
        let files = files([("g.graph.yml", &format!("vertices:\n  - {reference}\n")), ("v.yml", VERTEX)]);
        let error = read(&files, &mut Findings::default()).unwrap_err();
        assert_eq!(error.broken_rule().unwrap().id, isomorph_storage::PATH_ESCAPE.id, "{reference}");
    }
}

#[test]
fn misnamed_references_are_found_with_a_warning() {
    for reference in ["v.yaml", "/tmp/elsewhere/v.yml", "./v.yml", "/tmp/elsewhere/v.yaml", "sub/v.yml"] {
        let files = files([("g.graph.yml", &format!("vertices:\n  - {reference}\n")), ("v.yml", VERTEX)]);
        let mut findings = Findings::default();
        assert_eq!(read(&files, &mut findings).unwrap().vertices[0].file, "v.yml", "{reference}");
        assert_eq!(findings.count(&rules::META_FILE_NAME), 1, "{reference}");
    }
    let files = files([("g.graph.yml", "vertices:\n  - w.yml\n")]);
    let error = read(&files, &mut Findings::default()).unwrap_err();
    assert_eq!((error.kind(), error.broken_rule().unwrap().id), (Kind::Incomplete, "GAR-FILE-MISSING"));
}

#[test]
fn what_cannot_be_guessed_is_an_error() {
    let vertex = |text: &str| {
        let files = files([("g.graph.yml", "vertices:\n  - v.yml\n"), ("v.yml", text)]);
        read(&files, &mut Findings::default()).unwrap_err().broken_rule().unwrap().id
    };
    assert_eq!(vertex("chunk_size: 1\n"), "GAR-META-KEY-MISSING");
    assert_eq!(vertex("type: v\n"), "GAR-META-KEY-MISSING");
    assert_eq!(vertex("type: v\nchunk_size: 0\n"), "GAR-META-VALUE");
    assert_eq!(vertex("type: [v]\nchunk_size: 1\n"), "GAR-META-VALUE");
    let group =
        "type: v\nchunk_size: 1\nproperty_groups:\n  - properties:\n      - name: x\n        data_type: int64\n";
    assert_eq!(vertex(group), "GAR-META-KEY-MISSING");
    assert_eq!(vertex(&format!("{group}    file_type: avro\n")), "GAR-META-FILE-TYPE");
    assert_eq!(vertex(&format!("{group}        cardinality: bag\n    file_type: csv\n")), "GAR-META-CARDINALITY");
}

#[test]
fn a_list_aligned_by_source_is_refused_loudly() {
    let edge = "src_type: v\nedge_type: e\ndst_type: v\nchunk_size: 9\nsrc_chunk_size: 1\ndst_chunk_size: 1\nadj_lists:\n  - aligned_by: source\n    file_type: csv\n";
    let files = files([("g.graph.yml", "edges:\n  - e.yml\n"), ("e.yml", edge)]);
    let error = read(&files, &mut Findings::default()).unwrap_err();
    assert_eq!((error.broken_rule().unwrap().id, error.place().line), ("GAR-META-ALIGNED", Some(8)));
}

#[test]
fn metadata_rules_are_found_without_data() {
    let vertex = "type: v\nchunk_size: 262144\nprefix: vertex/v\nlabels: [L]\nproperty_groups:\n  - file_type: csv\n    prefix: labels/\n    properties:\n      - name: x\n        data_type: list<int64>\n      - name: _graphArX\n        data_type: duration\n  - file_type: json\n    properties:\n      - name: x\n        data_type: double\n        is_primary: true\n";
    let edge = "src_type: v\nedge_type: e\ndst_type: w\nchunk_size: 9\nsrc_chunk_size: 1\ndst_chunk_size: 1\n";
    let files = files([
        ("g.graph.yml", "version: gar/v3\nvertices:\n  - v.yml\n  - v.yml\nedges:\n  - e.yml\nowner: me\n"),
        ("v.yml", vertex),
        ("e.yml", edge),
    ]);
    let mut findings = Findings::default();
    let graph = read(&files, &mut findings).unwrap();
    graph.check("g.graph.yml", &mut findings);
    for rule in [
        &rules::META_VERSION,
        &rules::META_KEY_UNKNOWN,
        &rules::META_DUPLICATE,
        &rules::META_CHUNK_LARGE,
        &rules::META_PREFIX_SLASH,
        &rules::META_REFERENCE,
        &rules::META_PREFIX_SHARED,
        &rules::META_LIST_IN_CSV,
        &rules::META_RESERVED,
        &rules::META_TYPE,
        &rules::META_JSON,
        &rules::META_PROPERTY_TWICE,
        &rules::META_KEY_ROW,
        &rules::META_LIST_NONE,
        &rules::META_ENDS,
        &rules::META_CHUNK_SIZE,
        &rules::META_DIRECTED,
    ] {
        assert!(findings.count(rule) > 0, "{}", rule.id);
    }
}
