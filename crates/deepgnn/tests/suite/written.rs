//! Graphs of the model are written as the same bytes that the published converter makes of the same graph, and as
//! texts that it reads.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::path::Path;

use common::{built, compare, fixtures, written};
use isomorph_deepgnn::{BuildOptions, DeepGnn, Dispatch, FeatureType, OpenOptions, TextFormat, WriteOptions};
use isomorph_error::Kind;
use isomorph_model::Source;
use isomorph_storage::{Budget, Location};

fn open(path: &Path, options: &OpenOptions) -> DeepGnn {
    DeepGnn::open(&Location::from_path(path), options).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()))
}

fn binary(partitions: u32) -> WriteOptions {
    WriteOptions { binary: BuildOptions { partitions, ..BuildOptions::default() }, ..WriteOptions::default() }
}

fn text(format: TextFormat) -> WriteOptions {
    WriteOptions { text: Some(format), ..WriteOptions::default() }
}

/// The fixtures whose lines are sorted, and the output of the published converter for them, without holes at the ends
/// of features, which a graph does not have.
const GRAPHS: &[(&str, &str)] = &[
    ("karate/graph.linear", "karate/bin_linear"),
    ("karate/graph.tsv", "karate/bin_tsv"),
    ("karate/graph.edgelist", "karate/bin_linear"),
    ("karate/graph.json", "karate/bin_json"),
    ("hetero/graph.linear", "hetero/bin_json"),
    ("hetero/graph.json", "hetero/bin_json"),
    ("hetero/graph.edgelist", "hetero/bin_json"),
];

#[test]
fn graphs_become_the_binary_of_the_published_converter() {
    let root = fixtures();
    let home = tempfile::tempdir().unwrap();
    let out = home.path().join("out");
    for (graph, directory) in GRAPHS {
        let graph = open(&root.join(graph), &OpenOptions::default());
        for count in [1, 3] {
            for (budget, rows) in [(1 << 30, 65_536), (0, 3)] {
                let mut options = binary(count);
                options.binary.budget = Budget::new(budget);
                written(&graph, &out, &options, rows).unwrap();
                compare(&out, &root.join(format!("{directory}_p{count}")), directory);
            }
        }
    }
    // There, nodes and their edges were distributed to three partitions, whose entries without a type are not nodes.
    let scattered = open(&root.join("karate/bin_edgelist_p3"), &OpenOptions::default());
    let by_id = BuildOptions { dispatch: Dispatch::Id, node_samplers: false, ..binary(3).binary };
    written(&scattered, &out, &WriteOptions { binary: by_id, ..WriteOptions::default() }, 7).unwrap();
    let again = open(&out, &OpenOptions::default());
    assert_eq!((again.graph().node_rows(), again.graph().edge_rows()), (Some(34), Some(156)));
    let mut findings = isomorph_error::Findings::keeping(8);
    again.validate(&mut findings).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn graphs_become_texts_that_have_the_same_binary() {
    let root = fixtures();
    let home = tempfile::tempdir().unwrap();
    for (graph, directory) in GRAPHS {
        let source = open(&root.join(graph), &OpenOptions::default());
        for format in TextFormat::ALL {
            if format == TextFormat::Tsv && graph.starts_with("hetero") {
                continue;
            }
            for ending in ["", ".gz", ".zst"] {
                let what = format!("{graph} as {format}{ending}");
                let (file, out) = (home.path().join(format!("graph.{}{ending}", format.id())), home.path().join("out"));
                written(&source, &file, &text(format), 5).unwrap_or_else(|error| panic!("{what}: {error:?}"));
                for compat in [false, true] {
                    let how = OpenOptions { compat, ..OpenOptions::default() };
                    built(&file, &out, &how, &binary(1).binary).unwrap_or_else(|error| panic!("{what}: {error:?}"));
                    compare(&out, &root.join(format!("{directory}_p1")), &what);
                }
            }
        }
    }
}

#[test]
fn what_a_text_cannot_hold_is_an_error_that_says_what_can() {
    let root = fixtures();
    let home = tempfile::tempdir().unwrap();
    let written_as = |source: &DeepGnn, format: TextFormat| {
        written(source, &home.path().join("graph"), &text(format), 100)
            .map_err(|error| (error.kind(), error.to_string()))
    };
    let hetero = open(&root.join("hetero/graph.linear"), &OpenOptions::default());
    let unheld = isomorph_deepgnn::unheld(hetero.graph(), &text(TextFormat::Tsv)).unwrap();
    assert!(unheld.iter().any(|(subject, why)| subject.starts_with("feature") && why.contains("sparse")), "{unheld:?}");
    assert!(isomorph_deepgnn::unheld(hetero.graph(), &text(TextFormat::Json)).unwrap().is_empty());
    assert!(matches!(written_as(&hetero, TextFormat::Tsv), Err((Kind::WouldLose, _))));
    // With this option, the features are dropped.
    let without = WriteOptions { without_unheld: true, ..text(TextFormat::Tsv) };
    written(&hetero, &home.path().join("less.tsv"), &without, 100).unwrap();
    let less = std::fs::read_to_string(home.path().join("less.tsv")).unwrap();
    assert!(less.lines().count() == std::fs::read_to_string(root.join("hetero/graph.linear")).unwrap().lines().count());
    assert!(less.contains("f32:"), "{less}");
    // Values of unknown type.
    let raw = open(&root.join("karate/bin_linear_p1"), &OpenOptions::default());
    let unheld = isomorph_deepgnn::unheld(raw.graph(), &text(TextFormat::Linear)).unwrap();
    assert!(unheld.iter().any(|(_, why)| why.contains("--node-features")), "{unheld:?}");
    // Texts with separators of words, fields and lines.
    for (value, formats) in [
        ("two words", &[TextFormat::Linear][..]),
        ("a,b", &[TextFormat::Tsv]),
        ("a:b", &[TextFormat::Tsv]),
        ("two\\nlines", &[TextFormat::Linear, TextFormat::EdgeList, TextFormat::Tsv]),
        ("a\\u2028b", &[TextFormat::Linear, TextFormat::EdgeList, TextFormat::Tsv]),
        ("back\\\\", &[TextFormat::EdgeList]),
    ] {
        let line = format!(
            r#"{{"node_id": 1, "node_type": 0, "node_weight": 1, "binary_feature": {{"0": "{value}"}}, "edge": []}}"#
        );
        let place = common::text(home.path(), "graph.json", &line, None);
        let source = open(&place, &OpenOptions::default());
        for format in TextFormat::ALL {
            match written_as(&source, format) {
                Err((kind, message)) => {
                    assert!(formats.contains(&format), "{value} as {format}: {message}");
                    assert!(kind == Kind::WouldLose && message.contains("cannot store"), "{message}");
                }
                Ok(()) => {
                    assert!(!formats.contains(&format), "{value} as {format}");
                    let how = OpenOptions { format: Some(format), ..OpenOptions::default() };
                    let (ours, theirs) = (home.path().join("ours"), home.path().join("theirs"));
                    built(&home.path().join("graph"), &ours, &how, &binary(1).binary).unwrap();
                    built(&place, &theirs, &OpenOptions::default(), &binary(1).binary).unwrap();
                    compare(&ours, &theirs, value);
                }
            }
        }
    }
    // Edges of an id that is not a node: JSON and TSV have no line for them.
    let place = common::text(home.path(), "graph.edgelist", "1,-1,0,1\n1,0,5,1.5\n2,0,1,2.5\n", None);
    let source = open(&place, &OpenOptions::default());
    for format in TextFormat::ALL {
        let refused = matches!(written_as(&source, format), Err((Kind::WouldLose, _)));
        assert_eq!(refused, matches!(format, TextFormat::Json | TextFormat::Tsv), "{format}");
    }
}

#[test]
fn types_are_those_of_the_graph_that_was_written() {
    let root = fixtures();
    let home = tempfile::tempdir().unwrap();
    let out = home.path().join("out");
    let graph = open(&root.join("karate/graph.linear"), &OpenOptions::default());
    written(&graph, &out, &binary(2), 50).unwrap();
    let shown = open(&out, &OpenOptions::default().showing(graph.graph()));
    let types = |graph: &DeepGnn| {
        let features = graph.graph().nodes[0].properties.iter().filter(|property| property.feature.is_some());
        features.map(|property| (property.name.clone(), property.data_type.clone())).collect::<Vec<_>>()
    };
    assert_eq!(types(&shown), types(&graph));
    let declared = OpenOptions { node_features: vec![(2, FeatureType::Text)], ..OpenOptions::default() };
    assert_eq!(types(&open(&out, &declared))[2], types(&graph)[2]);
}

#[test]
fn a_line_that_begins_with_an_edge_has_no_place_beside_defaults_of_nodes() {
    let home = tempfile::tempdir().unwrap();
    let place = common::text(home.path(), "graph.edgelist", "1,-1,0,1\n2,0,1,3\n", None);
    let source = open(&place, &OpenOptions::default());
    let options =
        |format| WriteOptions { text: Some(format), parts: Some(1), leave_out: true, ..WriteOptions::default() };
    let error = written(&source, &home.path().join("out"), &options(TextFormat::Linear), 100).unwrap_err();
    assert_eq!(error.kind(), Kind::WouldLose, "{error}");
    assert!(error.hints().any(|hint| hint.contains("edgelist")), "{error:?}");
    written(&source, &home.path().join("out"), &options(TextFormat::EdgeList), 100).unwrap();
    let files = common::files(&home.path().join("out"));
    assert_eq!(String::from_utf8_lossy(&files["part-0.edgelist"]), "1,-1\n2,1\n");
    let again = open(&home.path().join("out"), &OpenOptions::default());
    assert_eq!((again.graph().node_rows(), again.graph().edge_rows()), (Some(1), Some(1)));
}
