//! The information files of GraphAr.

use std::collections::BTreeMap;

use bytes::Bytes;
use isomorph::error::Findings;
use isomorph::formats::graphar::info::GraphInfo;
use isomorph::formats::graphar::rules;

pub(crate) const WORDS: &[&str] = &[
    "\n@@@ a.yml\n",
    "\n  - ",
    "\n    ",
    ": ",
    "name: ",
    "prefix: ",
    "vertices:",
    "edges:",
    "chunk_size: ",
    "type: ",
    "src_type: ",
    "edge_type: ",
    "dst_type: ",
    "adj_lists:",
    "property_groups:",
    "properties:",
    "data_type: ",
    "is_primary: ",
    "is_nullable: ",
    "cardinality: ",
    "aligned_by: ",
    "ordered: ",
    "file_type: ",
    "version: gar/v1",
    "labels:",
    "extra_info:",
    "label: ",
    "&a ",
    "*a",
    "!!str ",
    "|\n",
    "null",
    "~",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
];

const GRAPH: &str = "\
name: social
prefix: ./
vertices:
  - person.vertex.yml
edges:
  - knows.edge.yml
labels:
  - Person
extra_info:
  - key: made by
    value: \"hand: carefully\"
version: gar/v1 (t1,t2)
@@@ person.vertex.yml
type: person
chunk_size: 100
prefix: vertex/person/
labels:
  - Person
  - Writer
property_groups:
  - prefix: id/
    file_type: parquet
    properties:
      - name: id
        data_type: int64
        is_primary: true
        is_nullable: false
  - file_type: csv
    properties:
      - name: first name
        data_type: string
        is_primary: false
      - name: scores
        data_type: list<float>
        is_primary: false
        cardinality: single
version: gar/v1
@@@ knows.edge.yml
src_type: person
edge_type: knows
dst_type: person
chunk_size: 1024
src_chunk_size: 100
dst_chunk_size: 100
directed: true
prefix: edge/person_knows_person/
adj_lists:
  - ordered: true
    aligned_by: src
    prefix: ordered_by_source/
    file_type: parquet
  - ordered: false
    aligned_by: dst
    file_type: orc
property_groups:
  - file_type: json
    properties:
      - name: since
        data_type: timestamp
        is_primary: false
version: gar/v1
";

const OF_2023: &str = "\
name: old
vertices: [v.yml]
edges: []
version: gar/v1
@@@ v.yml
label: v
chunk_size: 4
property_groups:
- properties:
  - {name: 'id', data_type: string, is_primary: true}
  file_type: csv
x: {y: [1, ~]}
";

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    vec![GRAPH.as_bytes().to_vec(), OF_2023.as_bytes().to_vec(), b"name: g\nversion: gar/v2\n".to_vec()]
}

/// The files of a graph, one after another: the graph file, then after each `@@@ NAME` the file with that name.
fn files(data: &[u8]) -> (Bytes, BTreeMap<String, Bytes>) {
    let text = data.split(|byte| *byte == b'\n');
    let (mut name, mut files) = (String::new(), BTreeMap::<String, Vec<u8>>::new());
    for line in text {
        match line.strip_prefix(b"@@@ ") {
            Some(next) => name = String::from_utf8_lossy(next).into_owned(),
            None => {
                let file = files.entry(name.clone()).or_default();
                file.extend_from_slice(line);
                file.push(b'\n');
            }
        }
    }
    let graph = files.remove("").unwrap_or_default();
    (graph.into(), files.into_iter().map(|(name, bytes)| (name, bytes.into())).collect())
}

fn read(graph: &[u8], files: &BTreeMap<String, Bytes>) -> Option<(GraphInfo, Findings)> {
    let mut findings = Findings::keeping(100);
    let open = |name: &str| Ok(files.get(name).cloned());
    match GraphInfo::read("x.graph.yml", graph, &open, &mut findings) {
        Ok(info) => {
            info.check("x.graph.yml", &mut findings);
            Some((info, findings))
        }
        Err(error) => {
            assert_eq!(error.kind().exit_code(), 3, "{error:?}");
            assert!(error.place().file.is_some(), "{error:?}");
            None
        }
    }
}

/// What was written means the same, and uses only the part of YAML that the published library can read.
pub(crate) fn check(data: &[u8]) {
    let (graph, given) = files(data);
    let Some((info, _)) = read(&graph, &given) else { return };
    let Ok(text) = info.to_yml() else { return };
    // Every key of a graph file is optional; but a file without any is not a graph file.
    if text.is_empty() {
        return;
    }
    let mut files = BTreeMap::new();
    let vertices = info.vertices.iter().map(|vertex| (&vertex.file, vertex.to_yml()));
    for (name, text) in vertices.chain(info.edges.iter().map(|edge| (&edge.file, edge.to_yml()))) {
        let Ok(text) = text else { return };
        // One file can be listed as a vertex file and as an edge file, although it cannot be both.
        if files.insert(name.clone(), Bytes::from(text.clone())).is_some_and(|before| before != text) {
            return;
        }
    }
    let Some((again, findings)) = read(text.as_bytes(), &files) else {
        panic!("what was written cannot be read:\n{text}\n{files:?}");
    };
    assert_eq!(again, info, "{text}\n{files:?}");
    assert_eq!(findings.count(&rules::META_REFERENCE), 0, "{findings:?}\n{text}\n{files:?}");
}
