//! Texts as graphs: the same graph has the same digest in every syntax.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use isomorph_model::{Batch, Ends, MemoryGraph, Request, Source, Tables};
use isomorph_rdf::{OpenOptions, RdfText, ReadOptions, Syntax, Text, detect};
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
    assert!(twice.about().layout.contains("16 of them duplicates"), "{}", twice.about().layout);
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

/// What all parts say, one after another: tables, rows, subjects and texts of each row.
fn said(graph: &RdfText, tables: Tables) -> (usize, Vec<String>, Vec<String>) {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    let parts = graph.scan(&Request::of(tables)).unwrap();
    let (count, mut edges, mut values) = (parts.len(), Vec::new(), Vec::new());
    let text = |ends: &Ends, row: usize| match ends {
        Ends::Keys(keys) => keys.as_string::<i32>().value(row).to_owned(),
        Ends::Rows(_) => panic!("resources have no rows"),
    };
    for batch in parts.into_iter().flatten() {
        match batch.unwrap() {
            Batch::Edges(batch) => {
                let of_row = |row| format!("{} {}", text(&batch.source, row), text(&batch.target, row));
                edges.extend((0..batch.rows).map(of_row));
            }
            Batch::Values(batch) => {
                let lexical = batch.values.as_struct().column(0).as_string::<i32>();
                let of_row = |row| format!("{} {} {}", batch.table, text(&batch.owner, row), lexical.value(row).len());
                values.extend((0..lexical.len()).map(of_row));
            }
            _ => {}
        }
    }
    // Of each predicate by itself: which of several comes first is left to the batches.
    values.sort_by_key(|value| value.split(' ').next().map(str::to_owned));
    (count, edges, values)
}

#[test]
fn a_long_text_of_lines_is_read_in_parts_that_say_what_the_whole_says() {
    let directory = tempfile::tempdir().unwrap();
    let padding = "x".repeat(3_000);
    let mut lines = String::from("# long\n");
    for n in 0..9_000 {
        match n % 3 {
            0 => lines.push_str(&format!("<urn:s{n}> <urn:p{}> \"{n}{padding}\"@en .\n", n % 7)),
            1 => lines.push_str(&format!("_:b{n} <urn:p> <urn:{padding}{}> .\r\n", n % 100)),
            _ => lines.push_str(&format!("<urn:s{n}> <urn:q> \"\\u00e4{}\" . # {padding}\n\n", &padding[n % 17..])),
        }
    }
    // One line that is longer than what is read at once, and no end of line at the end.
    lines.push_str(&format!("<urn:last> <urn:q> \"{}\" .", "y".repeat(3 << 20)));
    let divided = open(directory.path(), "a.nt", lines.as_bytes());
    let whole = open(directory.path(), "a.ttl", lines.as_bytes());
    for tables in [Tables::All, Tables::AllEdges, Tables::EdgeEnds(0), Tables::Rest, Tables::AllNodes] {
        let ((parts, edges, values), (one, all_edges, all_values)) = (said(&divided, tables), said(&whole, tables));
        assert_eq!((parts > 1, one), if tables == Tables::AllNodes { (false, 0) } else { (true, 1) });
        assert!(edges == all_edges && values == all_values, "{tables:?}");
    }
    let rows = |graph: &RdfText| -> u64 {
        graph.scan(&Request::of(Tables::All)).unwrap().iter().filter_map(|part| part.rows()).sum()
    };
    assert_eq!((rows(&divided), rows(&whole)), (9_001, 9_001));
    // Of what is said twice the first counts, in each part; what is skipped is found by who reads from the beginning.
    let again: String = lines.lines().skip(1).step_by(7).map(|line| format!("{line}\n")).collect();
    let text = format!("{lines}\n<urn:last> <urn:p> <urn:o> .\n{again}");
    let path = directory.path().join("b.nt");
    std::fs::write(&path, &text).unwrap();
    let whole = open(directory.path(), "b.ttl", text.as_bytes());
    for threads in [1, 3] {
        let options = OpenOptions { threads, ..OpenOptions::default() };
        let twice = RdfText::open(&Location::from_path(&path), &options).unwrap();
        for tables in [Tables::All, Tables::AllEdges] {
            let ((parts, edges, values), (one, all_edges, all_values)) = (said(&twice, tables), said(&whole, tables));
            assert!(parts > 1 && one == 1, "{tables:?}");
            assert!(edges == all_edges && values == all_values, "{tables:?}");
        }
        assert_eq!(rows(&twice), 9_002);
        let (mut of_lines, mut of_turtle) = (Vec::new(), Vec::new());
        for (graph, quads) in [(&twice, &mut of_lines), (&whole, &mut of_turtle)] {
            graph
                .quads(&mut |quad| {
                    quads.push(format!("{} {}", quad.subject, quad.predicate));
                    Ok(())
                })
                .unwrap();
        }
        assert!(of_lines == of_turtle && of_lines.len() == 9_002);
    }
    let path = directory.path().join("c.nt");
    std::fs::write(&path, format!("<urn:broken\n{lines}")).unwrap();
    let options =
        OpenOptions { read: ReadOptions { lenient: true, ..ReadOptions::default() }, ..OpenOptions::default() };
    let skipped = RdfText::open(&Location::from_path(&path), &options).unwrap();
    assert_eq!(skipped.reading().skipped, 1);
    assert_eq!(said(&skipped, Tables::All), { (1, said(&divided, Tables::All).1, said(&divided, Tables::All).2) });
}

#[test]
fn a_text_that_changes_between_its_parts_is_no_graph() {
    let directory = tempfile::tempdir().unwrap();
    let lines: String = (0..3_000).map(|n| format!("<urn:s{n}> <urn:p> \"{}\" .\n", "x".repeat(9_000))).collect();
    let graph = open(directory.path(), "a.nt", lines.as_bytes());
    let mut parts = graph.scan(&Request::of(Tables::All)).unwrap();
    assert!(parts.len() > 2);
    assert!(parts.remove(0).all(|batch| batch.is_ok()));
    std::fs::write(directory.path().join("a.nt"), lines.replace("> <urn:p>", ">  <urn:p>")).unwrap();
    assert!(parts.into_iter().flatten().any(|batch| batch.is_err()));
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
