//! Round trips from graphs to quads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, UInt32Array};

use super::*;
use crate::zoo::{self, Build, Edges, Nodes, int64, text};
use crate::{Batch, EdgeBatch, Ends, MemoryGraph};

/// Formats a quad as one line.
fn line(quad: Quad<'_>) -> String {
    let object = match quad.object {
        Object::Term(term) => crate::term::ntriples(term),
        Object::Literal { lexical, datatype, language: None, .. } => format!("{lexical:?}^^<{datatype}>"),
        Object::Literal { lexical, language: Some(language), .. } => format!("{lexical:?}@{language}"),
    };
    let graph = quad.graph.map(|graph| format!(" {}", crate::term::ntriples(graph))).unwrap_or_default();
    format!("{} <{}> {object}{graph}", crate::term::ntriples(quad.subject), quad.predicate)
}

/// Returns the graph with sorted edges, so that parallel ones are adjacent, in batches of `rows`.
fn prepared(memory: &MemoryGraph, rows: usize) -> MemoryGraph {
    let keyed = zoo::same(memory).into_iter().find(|(what, _)| *what == "ends as keys").unwrap().1;
    let mut batches = Vec::new();
    for batch in &keyed.batches {
        let batch = match batch {
            Batch::Edges(edges) => Batch::Edges(sorted(edges)),
            other => other.clone(),
        };
        batches.extend((0..batch.rows()).step_by(rows).map(|at| batch.slice(at, rows.min(batch.rows() - at))));
    }
    MemoryGraph { graph: keyed.graph, batches }
}

fn sorted(edges: &EdgeBatch) -> EdgeBatch {
    let texts = |ends: &Ends| match ends {
        Ends::Keys(keys) => lexical::write(keys).unwrap().0,
        Ends::Rows(_) => panic!("rows"),
    };
    let (sources, targets) = (texts(&edges.source), texts(&edges.target));
    let mut order: Vec<u32> = (0..edges.rows as u32).collect();
    let relation = |row: usize| edges.relations.as_ref().map(|all| all.index.value(row));
    order.sort_by_key(|row| {
        let row = *row as usize;
        (sources.value(row), relation(row), targets.value(row))
    });
    let order = UInt32Array::from(order);
    let take = |column: &arrow_array::ArrayRef| arrow_select::take::take(column, &order, None).unwrap();
    let ends = |ends: &Ends| match ends {
        Ends::Keys(keys) => Ends::Keys(take(keys)),
        Ends::Rows(_) => panic!("rows"),
    };
    use arrow_array::cast::AsArray;
    use std::sync::Arc;
    EdgeBatch {
        source: ends(&edges.source),
        target: ends(&edges.target),
        directed: edges.directed.as_ref().map(|all| take(&(Arc::new(all.clone()) as _)).as_boolean().clone()),
        relations: edges.relations.as_ref().map(|all| crate::Relations {
            names: all.names.clone(),
            index: take(&(Arc::new(all.index.clone()) as _)).as_primitive().clone(),
        }),
        properties: edges.properties.iter().map(|column| column.as_ref().map(take)).collect(),
        ..edges.clone()
    }
}

fn lines(memory: &MemoryGraph) -> Vec<String> {
    let mut all = Vec::new();
    let mut take = |quad: Quad<'_>| {
        all.push(line(quad));
        Ok(())
    };
    let mut quads = Quads::new(&memory.graph, None);
    memory.batches.iter().for_each(|batch| quads.batch(batch, &mut take).unwrap());
    quads.finish(&mut take).unwrap();
    all
}

/// The graph that its quads describe; the same with and without the positions that keys tell.
fn there_and_back(memory: &MemoryGraph, base: Option<&str>) -> MemoryGraph {
    let [all, few] = [false, true].map(|by_keys| {
        let mut back = FromQuads::new(&memory.graph, base).ordered_by_keys(by_keys);
        let mut take = |quad: Quad<'_>| {
            back.take(quad);
            Ok(())
        };
        let mut quads = Quads::new(&memory.graph, base).ordered_by_keys(by_keys);
        for batch in &memory.batches {
            quads.batch(batch, &mut take).unwrap();
        }
        quads.finish(&mut take).unwrap();
        back.finish().unwrap()
    });
    assert_eq!(all.digest().ok(), few.digest().ok());
    assert_eq!(all.order_digest().ok(), few.order_digest().ok());
    few
}

#[test]
fn a_small_graph_reads_as_one_would_write_it() {
    let mut build = Build::default();
    let person = build.nodes(
        Nodes::keyed("person", int64([1, 2]))
            .labels(&[&["Admin"], &["person"]])
            .column("name", text([Some("ann b"), None]))
            .column("scores", zoo::lists(int64([Some(1), None]), &[Some(2), None])),
    );
    build.edges(
        Edges::keys(person, "knows", person, int64([1, 1, 2]), int64([2, 2, 1]))
            .column("since", zoo::dates([None, None, Some(-1)])),
    );
    let memory = build.finish();
    let (rdf, xsd) = ("http://www.w3.org/1999/02/22-rdf-syntax-ns#", crate::xsd::NAMESPACE);
    let short = |line: &String| {
        let line = line.replace(rdf, "rdf:").replace(xsd, "xsd:").replace("urn:x-isomorph:", ":");
        line.replace(|c: char| c.is_ascii_alphanumeric() && line.contains("_:e"), "")
    };
    let all: Vec<String> = lines(&memory).iter().map(short).collect();
    assert_eq!(
        all[..7],
        [
            "<:person/1> <rdf:type> <:person>",
            "<:person/1> <rdf:type> <:Admin>",
            "<:person/1> <:name> \"ann b\"^^<xsd:string>",
            "<:person/1> <:scores> \"[1,null]\"^^<rdf:JSON>",
            "<:person/2> <rdf:type> <:person>",
            "<:person/2> <rdf:type> <:label#person>",
            "<:person/1> <:knows> <:person/2>",
        ]
    );
    // Two edges are one triple with two reifiers; a third quad has its date.
    assert_eq!(all.len(), 12);
    assert_eq!(lines(&memory).iter().filter(|line| line.contains("#reifies> <<( ")).count(), 3);
    assert!(
        lines(&memory).iter().any(
            |line| line.ends_with("<urn:x-isomorph:since> \"1969-12-31\"^^<http://www.w3.org/2001/XMLSchema#date>")
        )
    );
}

#[test]
fn numbers_in_json_are_those_that_readers_with_64_bits_get() {
    use std::sync::Arc;
    let property = |value: f32| {
        let mut build = Build::default();
        let list = zoo::lists(Arc::new(Float32Array::from(vec![value, 0.5, f32::INFINITY])), &[Some(3)]);
        build.nodes(Nodes::keyed("v", int64([1])).column("l", list));
        build.finish()
    };
    let memory = property(0.1);
    let said = lines(&memory).join("\n");
    assert!(said.contains("\"[1.0000000149011612E-1,5.0E-1,"), "{said}");
    let back = there_and_back(&memory, None).digest_table().unwrap();
    assert_eq!(memory.digest_table().unwrap().differences(&back), []);
    // Lists that were written with the shortest digits of 32 bits are equal.
    let ty = memory.graph.nodes[0].properties[0].data_type.clone();
    let read = |text: &str| super::lexical::read(&ty, &[Some(text.to_owned())]).unwrap();
    assert_eq!(&read("[1.0E-1,5.0E-1]"), &read("[1.0000000149011612E-1,5.0E-1]"));
}

#[test]
fn every_typed_graph_comes_back() {
    for (name, memory) in [zoo::property_graphs(), zoo::wide_property_graphs(), zoo::bundled_graphs()].concat() {
        let memory = MemoryGraph { graph: crate::Graph { documents: Vec::new(), ..memory.graph }, ..memory };
        let expected = memory.digest_table().unwrap();
        for (rows, base) in [(1_000_000, None), (1, Some("http://example.org/g/"))] {
            let back = there_and_back(&prepared(&memory, rows), base).digest_table().unwrap();
            assert_eq!(expected.differences(&back), [], "{name}, {rows}");
        }
    }
}

#[test]
fn every_graph_of_plain_columns_comes_back_from_columns() {
    let mut seen = 0;
    let all = [zoo::property_graphs(), zoo::wide_property_graphs(), zoo::bundled_graphs()].concat();
    for ((name, memory), by_keys) in all.iter().flat_map(|graph| [(graph.clone(), false), (graph.clone(), true)]) {
        let memory = MemoryGraph { graph: crate::Graph { documents: Vec::new(), ..memory.graph }, ..memory };
        let Some(columns) = QuadColumns::new(&memory.graph, Some("http://example.org/g/")) else { continue };
        let mut columns = columns.ordered_by_keys(by_keys);
        let prepared = prepared(&memory, 1_000_000);
        let mut quads = Quads::new(&memory.graph, Some("http://example.org/g/")).ordered_by_keys(by_keys);
        let mut take = |quad: Quad<'_>| {
            columns.take(&quad);
            Ok(())
        };
        prepared.batches.iter().for_each(|batch| quads.batch(batch, &mut take).unwrap());
        quads.finish(&mut take).unwrap();
        let rows = columns.finish().unwrap();
        let mut batches = Vec::new();
        for ty in 0..memory.graph.nodes.len() {
            let all = rows.node_rows(ty);
            batches.extend((0..all).step_by(3).map(|at| Batch::Nodes(rows.nodes(ty, at..all.min(at + 3)).unwrap())));
        }
        for ty in 0..memory.graph.edges.len() {
            batches.extend(rows.edge_ranges(ty, 2).iter().map(|range| Batch::Edges(rows.edges(range).unwrap())));
        }
        let back = MemoryGraph { graph: memory.graph.clone(), batches };
        let expected = memory.digest_table().unwrap();
        assert_eq!(expected.differences(&back.digest_table().unwrap()), [], "{name}");
        assert_eq!(memory.order_digest().unwrap(), back.order_digest().unwrap(), "{name}");
        seen += 1;
    }
    assert!(seen > 10, "{seen} graphs");
}

#[test]
fn rdf_is_itself() {
    let memory = MemoryGraph {
        batches: zoo::rdf().batches.into_iter().filter(|batch| !matches!(batch, Batch::Groups(_))).collect(),
        ..zoo::rdf()
    };
    let all: BTreeSet<String> = lines(&memory).into_iter().collect();
    let expected = [
        "<urn:s> <urn:p> <urn:o> <urn:g1>",
        "<urn:s> <urn:p> <urn:o> <urn:g2>",
        "<urn:s> <urn:p> <urn:o> <urn:g3>",
        "_:r <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <urn:s> <urn:p> <urn:o> )>> <urn:g1>",
        "_:r <urn:label> \"chat\"@fr <urn:g1>",
    ];
    assert_eq!(all, expected.into_iter().map(str::to_owned).collect());
    assert_eq!(there_and_back(&memory, None).digest().unwrap(), memory.digest().unwrap());
}

#[test]
fn reifiers_do_not_depend_on_batches() {
    let loops = zoo::property_graphs().into_iter().find(|(name, _)| *name == "loops and parallel edges").unwrap().1;
    let [whole, cut] = [1_000, 1].map(|rows| lines(&prepared(&loops, rows)));
    assert_eq!(whole, cut);
    assert_eq!(whole.iter().filter(|line| line.contains("reifies")).count(), 9);
}

/// Returns the quads of reifiers, by their names, for edges in some order.
fn reified(memory: &MemoryGraph) -> std::collections::BTreeMap<String, Vec<String>> {
    let mut all = std::collections::BTreeMap::<String, Vec<String>>::new();
    for line in lines(memory).into_iter().filter(|line| line.starts_with("_:e")) {
        let (name, said) = line.split_once(' ').unwrap();
        all.entry(name.to_owned()).or_default().push(said.to_owned());
    }
    all.values_mut().for_each(|said| said.sort());
    all
}

#[test]
fn reifiers_without_a_key_are_called_by_what_they_say_and_depend_on_no_row() {
    let of = |rows: &[(i64, i64, Option<i64>)]| {
        let mut build = Build::default();
        let node = build.nodes(Nodes::keyed("n", int64([1, 2, 3])));
        let source: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let target: Vec<i64> = rows.iter().map(|row| row.1).collect();
        let since: Vec<Option<i64>> = rows.iter().map(|row| row.2).collect();
        build.edges(
            Edges::keys(node, "r", node, int64(source.as_slice().to_vec()), int64(target.as_slice().to_vec()))
                .column("since", int64(since)),
        );
        reified(&build.finish())
    };
    let all = of(&[(1, 2, Some(5)), (1, 2, Some(6)), (1, 2, Some(5)), (1, 2, None), (2, 3, Some(5)), (3, 1, None)]);
    // Five have properties or are parallel.
    assert_eq!(all.len(), 5, "{all:#?}");
    for name in all.keys() {
        let digits = name.strip_prefix("_:e").unwrap();
        assert!(digits.len() == 22 && digits.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{name}");
    }
    let turned = of(&[(3, 1, None), (1, 2, None), (1, 2, Some(5)), (1, 2, Some(5)), (1, 2, Some(6)), (2, 3, Some(5))]);
    assert_eq!(turned, all);
    // If an edge is removed, only its own reifier disappears.
    let fewer = of(&[(1, 2, Some(6)), (1, 2, Some(5)), (2, 3, Some(5))]);
    assert!(fewer.iter().all(|(name, said)| all.get(name) == Some(said)), "{fewer:#?} of {all:#?}");
}

#[test]
fn names_of_reifiers_are_for_ever_the_same() {
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("n", int64([1, 2])));
    build.edges(Edges::keys(node, "r", node, int64([1]), int64([2])).column("w", int64([5])));
    let names: Vec<String> = reified(&build.finish()).into_keys().collect();
    assert_eq!(names, ["_:e2CeFhGQQFQJ4d4HEf684wh"]);
}

#[test]
fn names_are_encoded_byte_by_byte() {
    for (name, encoded) in [
        ("", ""),
        ("plain-._~09", "plain-._~09"),
        ("a b/c", "a%20b%2Fc"),
        ("%", "%25"),
        ("Zoë 😀z", "Zo%C3%AB%20%F0%9F%98%80z"),
        ("éé", "%C3%A9%C3%A9"),
    ] {
        let mut out = String::from(">");
        push_encoded(&mut out, name);
        assert_eq!(out, format!(">{encoded}"));
        assert_eq!(decoded(encoded).as_deref(), Some(name));
    }
}

#[test]
fn values_of_the_default_graph_may_have_no_column_for_it() {
    let mut memory = zoo::rdf();
    memory.batches.retain(|batch| matches!(batch, Batch::Values(_)));
    for batch in &mut memory.batches {
        if let Batch::Values(values) = batch {
            values.qualifiers.iter_mut().for_each(|qualifier| *qualifier = None);
        }
    }
    assert_eq!(lines(&memory), ["_:r <urn:label> \"chat\"@fr"]);
}

/// Edges that connect the same nodes by several relations, in the order of a sort by ends alone.
#[test]
fn relations_may_alternate_between_the_same_ends() {
    let edge = |relation| ("a", relation, "b", 1.0, "");
    let nodes = [("a", &[][..], 1.0, ""), ("b", &[][..], 1.0, "")];
    let memory = zoo::bundled(&nodes, &[edge("r"), edge("s"), edge("r"), ("a", "t", "b", 1.0, r#"{"w":1}"#)]);
    let keyed = zoo::same(&memory).into_iter().find(|(what, _)| *what == "ends as keys").unwrap().1;
    for rows in [1, 2, 100] {
        let cut: Vec<Batch> = keyed
            .batches
            .iter()
            .flat_map(|batch| (0..batch.rows()).step_by(rows).map(|at| batch.slice(at, rows.min(batch.rows() - at))))
            .collect();
        let memory = MemoryGraph { graph: keyed.graph.clone(), batches: cut };
        let all = lines(&memory);
        let reified = |relation: &str| {
            let suffix = format!("<urn:x-isomorph:{relation}> <urn:x-isomorph:node/b> )>>");
            all.iter().filter(|line| line.contains("#reifies>") && line.ends_with(&suffix)).count()
        };
        // Two edges, one edge without properties, one edge with properties. A truth of 1 is the default.
        assert_eq!([reified("r"), reified("s"), reified("t")], [2, 0, 1], "{all:#?}");
        let triples = all.iter().filter(|line| line.starts_with("<urn:x-isomorph:node/a> <urn:x-isomorph:"));
        assert_eq!(triples.filter(|line| line.ends_with("node/b>")).count(), 3, "{all:#?}");
        assert_eq!(there_and_back(&memory, None).digest().unwrap(), memory.digest().unwrap(), "{rows}");
    }
}

#[test]
fn positions_are_told_where_keys_do_not_tell_them() {
    let mut build = Build::default();
    let (keyed, rows) = (Nodes::keyed("k", int64([7, 3, 5])), Nodes::rows("r", 2));
    build.nodes(keyed);
    build.nodes(rows);
    let mut memory = build.finish();
    memory.graph.nodes.iter_mut().for_each(|ty| ty.ordered = true);
    let all = lines(&memory);
    let positions: Vec<&String> = all.iter().filter(|line| line.contains(POSITION)).collect();
    assert_eq!(positions.len(), 3, "{all:#?}");
    assert!(positions[0].starts_with("<urn:x-isomorph:k/7>") && positions[0].contains("\"0\""), "{positions:#?}");
    let back = there_and_back(&memory, None);
    assert_eq!(back.order_digest().unwrap(), memory.order_digest().unwrap());
    assert_eq!(back.digest().unwrap(), memory.digest().unwrap());
}

/// Nodes of several batches, in the order of their keys up to some node.
#[test]
fn positions_that_keys_tell_are_not_told() {
    let signed: &[i64] = &[i64::MIN, -3, 0, 7, i64::MAX];
    for (keys, told) in [
        (int64(signed.to_vec()), 0),
        (int64([1, 2, 4, 3, 5]), 2),
        (int64([5, 4, 3, 2, 1]), 4),
        (Arc::new(arrow_array::UInt64Array::from(vec![0, 1, 1 << 63, u64::MAX])) as ArrayRef, 0),
        (Arc::new(arrow_array::UInt64Array::from(vec![u64::MAX, 1 << 63])), 1),
        (Arc::new(arrow_array::Int32Array::from(vec![-1, 0, 1])), 0),
        (text(["a", "b", "c"]), 3),
    ] {
        let count = keys.len();
        let mut build = Build::default();
        build.nodes(Nodes::keyed("k", keys.clone()));
        let mut memory = build.finish();
        memory.graph.nodes.iter_mut().for_each(|ty| ty.ordered = true);
        // In batches of two nodes.
        let cut = |start: usize| {
            let Batch::Nodes(all) = &memory.batches[0] else { unreachable!() };
            let rows = 2.min(count - start);
            let keys = all.keys.as_ref().map(|keys| keys.slice(start, rows));
            Batch::Nodes(crate::NodeBatch { start: start as u64, rows, keys, ..all.clone() })
        };
        let batches: Vec<Batch> = (0..count).step_by(2).map(cut).collect();
        let memory = MemoryGraph { batches, ..memory };
        let (mut rows, mut positions) = (FromQuads::new(&memory.graph, None).ordered_by_keys(true), 0);
        let mut columns = QuadColumns::new(&memory.graph, None).unwrap().ordered_by_keys(true);
        let mut all = Vec::new();
        let mut take = |quad: Quad<'_>| {
            positions += usize::from(quad.predicate == POSITION);
            let Object::Literal { lexical, .. } = quad.object else {
                let Object::Term(object) = quad.object else { return Ok(()) };
                all.push((quad.subject.to_owned(), quad.predicate.to_owned(), object.to_owned(), false));
                return Ok(());
            };
            all.push((quad.subject.to_owned(), quad.predicate.to_owned(), lexical.to_owned(), true));
            Ok(())
        };
        let mut quads = Quads::new(&memory.graph, None).ordered_by_keys(true);
        memory.batches.iter().for_each(|batch| quads.batch(batch, &mut take).unwrap());
        quads.finish(&mut take).unwrap();
        assert_eq!(positions, told, "{keys:?}");
        // In any order.
        all.sort();
        all.rotate_left(1);
        for (subject, predicate, object, is_literal) in &all {
            let object = if *is_literal { Object::plain(object, crate::xsd::INTEGER) } else { Object::Term(object) };
            let quad = Quad { subject, predicate, object, graph: None };
            columns.take(&quad);
            rows.take(quad);
        }
        let back = rows.finish().unwrap();
        assert_eq!(back.order_digest().unwrap(), memory.order_digest().unwrap(), "{keys:?}");
        let columns = columns.finish().unwrap();
        let batches = vec![Batch::Nodes(columns.nodes(0, 0..count).unwrap())];
        let back = MemoryGraph { graph: memory.graph.clone(), batches };
        assert_eq!(back.order_digest().unwrap(), memory.order_digest().unwrap(), "{keys:?}");
    }
}

#[test]
fn keyed_edges_are_reified_by_their_keys() {
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("n", int64([1, 2])));
    build
        .edges(Edges::keys(node, "r", node, int64([1, 2]), int64([2, 1])).keyed(crate::Key::utf8(), text(["a/1", ""])));
    let memory = build.finish();
    assert!(lines(&memory).iter().any(|line| line.starts_with("<urn:x-isomorph:r#a%2F1> ")));
    assert_eq!(there_and_back(&memory, None).digest().unwrap(), memory.digest().unwrap());
    // An IRI contains at most one number sign.
    assert_eq!(there_and_back(&memory, Some("http://b/x#")).digest().unwrap(), memory.digest().unwrap());
}

#[test]
fn what_has_no_quads_is_refused() {
    let memory = zoo::annnet();
    let mut quads = Quads::new(&memory.graph, None);
    let refused = memory.batches.iter().filter(|batch| quads.batch(batch, &mut |_| Ok(())).is_err()).count();
    assert!(refused > 4, "{refused}");
    let social = zoo::property_graphs().remove(3).1;
    let edges = social.batches.iter().find(|batch| matches!(batch, Batch::Edges(_))).unwrap();
    let error = Quads::new(&social.graph, None).batch(edges, &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.message(), "expected ends as keys, found rows");
}

#[test]
fn an_encoded_name_has_no_sign() {
    assert_eq!(super::decoded("a%C3%A9").as_deref(), Some("a\u{e9}"));
    assert_eq!([super::decoded("a%+5"), super::decoded("%+a")], [None, None]);
}

/// Returns the errors of both readers for quads of a node type whose keys are rows or whose nodes have positions.
fn refused(keyed: bool, quads: &[(&str, &str, Object<'_>)]) -> [String; 2] {
    let mut build = Build::default();
    build.nodes(if keyed { Nodes::keyed("n", int64([0])) } else { Nodes::rows("n", 1) });
    let mut graph = build.finish().graph;
    graph.nodes.iter_mut().for_each(|ty| ty.ordered = true);
    let (mut rows, mut columns) = (FromQuads::new(&graph, None), QuadColumns::new(&graph, None).unwrap());
    for (subject, predicate, object) in quads.iter().cloned() {
        let quad = Quad { subject, predicate, object, graph: None };
        columns.take(&quad);
        rows.take(quad);
    }
    let message =
        |error: Option<isomorph_error::Error>| error.map_or(String::new(), |error| error.message().to_owned());
    [message(rows.finish().err()), message(columns.finish().err())]
}

#[test]
fn a_row_is_written_in_one_way() {
    for row in ["-1", "+1", "01", "1.0"] {
        let (class, node) = (Object::Term("urn:x-isomorph:n"), format!("urn:x-isomorph:n/{row}"));
        for error in refused(false, &[(&node, RDF_TYPE, class)]) {
            assert!(error.contains(row), "{error:?}");
        }
    }
}

#[test]
fn a_position_that_is_no_number_is_an_error() {
    let (class, node) = (Object::Term("urn:x-isomorph:n"), "urn:x-isomorph:n/1");
    let position = Object::plain("second", crate::xsd::INTEGER);
    for error in refused(true, &[(node, RDF_TYPE, class), (node, POSITION, position)]) {
        assert_eq!(error, "\"second\" is not a node position");
    }
}
