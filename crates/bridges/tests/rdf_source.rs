//! Texts as graphs: the same graph has the same digest in every syntax.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use isomorph_bridges::{OpenOptions, RdfText, ReadOptions, Syntax, Text, detect};
use isomorph_model::{MemoryGraph, Request, Source, Tables};
use isomorph_storage::{Budget, Location};

fn open(directory: &Path, name: &str, text: &[u8]) -> RdfText {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    RdfText::open(&Location::from_path(&path), &OpenOptions::default()).unwrap()
}

const QUADS: &str = "\
<urn:s> <urn:p> <urn:o> .
<urn:s> <urn:p> <urn:o> <urn:g> .
<urn:s> <urn:q> \"a\" .
<urn:s> <urn:q> \"a\"@en .
<urn:s> <urn:q> \"a\"@en--ltr _:g .
_:x <urn:q> \"05\"^^<http://www.w3.org/2001/XMLSchema#integer> .
_:x <urn:r> \"http://www.w3.org/2001/XMLSchema#string\" .
_:x <urn:p> <<( <urn:s> <urn:p> \"a\" )>> .
";

const TRIG: &str = "\
PREFIX : <urn:> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
GRAPH _:g { :s :q 'a'@en--ltr }
GRAPH :g { :s :p :o }
_:x :r \"http://www.w3.org/2001/XMLSchema#string\" ; :q 05 ; :p <<( :s :p 'a' )>> .
:s :q 'a'@EN , \"\"\"a\"\"\", 'a'^^xsd:string ; :p :o .
";

#[test]
fn a_graph_has_one_digest_in_every_syntax() {
    let directory = tempfile::tempdir().unwrap();
    let digest = |graph: &RdfText| MemoryGraph::read(graph).unwrap().digest().unwrap();
    let quads = open(directory.path(), "a.nq", QUADS.as_bytes());
    let trig = open(directory.path(), "a.trig", TRIG.as_bytes());
    assert_eq!(digest(&quads), digest(&trig));
    // What is said twice is one statement.
    let twice = open(directory.path(), "b.nq", QUADS.repeat(3).as_bytes());
    assert_eq!(digest(&quads), digest(&twice));
    assert_eq!(twice.reading().quads, 24);
    assert!(twice.about().layout.contains("16 of them said before"), "{}", twice.about().layout);
    for (at, line) in QUADS.lines().enumerate() {
        let less: String = QUADS.lines().filter(|other| *other != line).map(|line| format!("{line}\n")).collect();
        assert_ne!(digest(&quads), digest(&open(directory.path(), &format!("{at}.nq"), less.as_bytes())), "{line}");
    }
}

#[test]
fn scans_give_what_they_are_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let graph = open(directory.path(), "a.nq", QUADS.as_bytes());
    let rows = |tables, batch_rows| {
        let mut rows = 0;
        for mut part in graph.scan(&Request::of(tables).in_batches_of(batch_rows)).unwrap() {
            part.read(&mut |batch| {
                assert!(batch.rows() <= batch_rows);
                rows += batch.rows();
                Ok(())
            })
            .unwrap();
        }
        rows
    };
    for batch_rows in [1, 2, 65_536] {
        assert_eq!(rows(Tables::AllEdges, batch_rows), 3);
        assert_eq!(rows(Tables::EdgeEnds(0), batch_rows), 3);
        assert_eq!(rows(Tables::Rest, batch_rows), 5);
        assert_eq!(rows(Tables::All, batch_rows), 8);
        assert_eq!(rows(Tables::AllNodes, batch_rows), 0);
    }
    assert_eq!(graph.graph().edges[0].rows, Some(3));
    let tables: Vec<_> = graph.graph().values.iter().map(|table| (table.property.name.as_str(), table.rows)).collect();
    assert_eq!(tables, [("urn:q", Some(4)), ("urn:r", Some(1))]);
}

#[test]
fn names_and_contents_tell_syntax_and_packing() {
    let directory = tempfile::tempdir().unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, QUADS.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let zstd = zstd::encode_all(QUADS.as_bytes(), 0).unwrap();
    let texts: &[(&str, &[u8])] = &[
        ("a.nq", QUADS.as_bytes()),
        ("a.nq.gz", &packed),
        ("a.nq.zst", &zstd),
        ("unnamed", QUADS.as_bytes()),
        ("packed", &packed),
        ("named.nq", &packed),
        ("zstd", &zstd),
        ("zstd.nq", &zstd),
    ];
    for (name, text) in texts {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        let location = Location::from_path(&path);
        assert!(detect(&location).unwrap(), "{name}");
        let text = Text::open(&location, None).unwrap();
        assert_eq!(text.syntax(), Syntax::NQuads, "{name}");
        assert_eq!(text.read(&ReadOptions::default(), &mut |_| Ok(())).unwrap().quads, 8, "{name}");
    }
    let other = directory.path().join("other.csv");
    std::fs::write(&other, "a,b\n1,2\n").unwrap();
    assert!(!detect(&Location::from_path(&other)).unwrap());
    assert!(!detect(&Location::from_path(directory.path())).unwrap());
    assert!(detect(&Location::from_path(&directory.path().join("nothing.nq"))).is_err());
}

#[test]
fn a_little_memory_is_enough() {
    let directory = tempfile::tempdir().unwrap();
    let lines: String =
        (0..30_000).map(|n| format!("<urn:s{}> <urn:p> <urn:o{}> .\n", n % 20_000, n % 20_000)).collect();
    let path = directory.path().join("a.nt");
    std::fs::write(&path, lines).unwrap();
    let budget = Budget::new(4 << 20);
    let read = ReadOptions { budget: budget.clone(), ..ReadOptions::default() };
    let graph = RdfText::open(&Location::from_path(&path), &OpenOptions { read, ..OpenOptions::default() }).unwrap();
    let mut quads = 0;
    graph
        .quads(&mut |_| {
            quads += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(quads, 20_000);
    assert!(budget.peak() <= 4 << 20);
}
