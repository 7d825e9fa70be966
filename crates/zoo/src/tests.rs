//! Tests of the model's guarantees on all test graphs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use isomorph_model::digest::{ContentDigest, LineKind, schema_digest};
use isomorph_model::schema::{DocumentBody, MembershipTable, Owner};
use isomorph_model::{Batch, Ends, MemoryGraph};

fn whole_zoo() -> Vec<(&'static str, MemoryGraph)> {
    [five(), property_graphs(), wide_property_graphs(), bundled_graphs()].concat()
}

#[test]
fn the_graphs_have_different_digests() {
    let mut seen = BTreeSet::new();
    for (name, memory) in whole_zoo() {
        let digest = memory.digest().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(seen.insert(digest.0) || name.starts_with("empty"), "{name}");
    }
}

#[test]
fn other_clothes_do_not_change_the_digest() {
    for (name, memory) in whole_zoo() {
        let table = memory.digest_table().unwrap();
        for (what, other) in same(&memory) {
            let other = other.digest_table().unwrap_or_else(|error| panic!("{name}, {what}: {error:?}"));
            let differences = table.differences(&other);
            assert!(differences.is_empty(), "{name}, {what}: {differences:?}");
        }
    }
}

#[test]
fn every_change_changes_the_digest_where_it_was_made() {
    let mut kinds = BTreeSet::new();
    let mut count = 0;
    for (name, memory) in whole_zoo() {
        let table = memory.digest_table().unwrap();
        for Mutation { what, kind, property, graph } in mutations(&memory) {
            let changed = graph.digest_table().unwrap_or_else(|error| panic!("{name}, {what}: {error:?}"));
            assert_ne!(changed.digest(), table.digest(), "{name}, {what}");
            let differences = table.differences(&changed);
            let named = |line: &isomorph_model::digest::Line| {
                line.kind == kind && property.as_ref().is_none_or(|property| line.property == *property)
            };
            assert!(differences.iter().any(|(line, _, _)| named(line)), "{name}, {what}: {differences:?}");
            if property.is_some() {
                assert_eq!(differences.len(), 1, "{name}, {what}: {differences:?}");
            }
            kinds.insert(kind);
            count += 1;
        }
    }
    assert_eq!(kinds.len(), 7, "{kinds:?}");
    assert!(count > 3_500, "{count}");
}

#[test]
fn two_changes_are_not_one() {
    // For a graph without repetitions, all changed graphs also differ from each other.
    let mut seen = std::collections::BTreeMap::new();
    for Mutation { what, graph, .. } in mutations(&typed::social()) {
        if let Some(other) = seen.insert(graph.digest().unwrap().0, what.clone()) {
            panic!("{what} = {other}");
        }
    }
    assert!(seen.len() > 100, "{}", seen.len());
}

#[test]
fn annnet_everything_is_in_the_default_slice_listed_or_not() {
    let unlisted = annnet();
    let mut listed = unlisted.clone();
    let slices = &mut listed.graph.groups[3];
    slices.all.clear();
    let place = |slices: &[MembershipTable], of: Owner| slices.iter().position(|table| table.of == of).unwrap();
    let row = |table: usize, members: &[&str], properties| {
        Batch::Memberships(isomorph_model::batch::MembershipBatch {
            kind: 3,
            table,
            group: Ends::Keys(text(members.iter().map(|_| "default"))),
            member: Ends::Keys(text(members.iter().copied())),
            properties,
        })
    };
    let nothing = || columns([float64([None])]);
    let [nodes, edges, hyper] =
        [Owner::Nodes(0), Owner::Edges(0), Owner::Hyperedges(0)].map(|of| place(&slices.memberships, of));
    // e1 is already listed, with a weight.
    listed.batches.push(row(nodes, &["A", "B", "e1", "e2"], Vec::new()));
    listed.batches.push(row(edges, &["e2"], nothing()));
    listed.batches.push(row(hyper, &["h1"], nothing()));
    let (unlisted, listed) = (unlisted.digest_table().unwrap(), listed.digest_table().unwrap());
    assert_eq!(unlisted.differences(&listed), []);
}

#[test]
fn annnet_an_entity_on_both_sides_has_two_members_with_its_coefficient() {
    let mut both = annnet();
    for batch in &mut both.batches {
        if let Batch::Members(members) = batch {
            members.member = Ends::Keys(text(["e1", "e1"]));
        }
    }
    let line = isomorph_model::digest::Line::new(LineKind::Members, &["hyperedge"], "");
    assert_eq!(both.digest_table().unwrap().get(&line).count, 2);
    assert_ne!(both.digest().unwrap(), annnet().digest().unwrap());
}

#[test]
fn annnet_the_order_of_slices_and_entities_is_order_and_no_content() {
    let memory = annnet();
    let mut reordered = memory.clone();
    for batch in &mut reordered.batches {
        if let Batch::Groups(groups) = batch
            && groups.kind == 3
        {
            *batch = rows::pick(batch, &[2, 0, 1]);
        }
    }
    assert_eq!(reordered.digest().unwrap(), memory.digest().unwrap());
    assert_ne!(reordered.order_digest().unwrap(), memory.order_digest().unwrap());
}

#[test]
fn rdf_an_empty_graph_is_a_fact() {
    let memory = rdf();
    let mut without = memory.clone();
    without.batches.retain(|batch| !matches!(batch, Batch::Groups(_)));
    let (memory, without) = (memory.digest_table().unwrap(), without.digest_table().unwrap());
    let differences = memory.differences(&without);
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].0.kind, LineKind::Groups);
}

#[test]
fn rdf_resources_need_no_rows() {
    let memory = rdf();
    let mut stated = memory.clone();
    stated.batches.push(Batch::Nodes(isomorph_model::NodeBatch {
        ty: 0,
        start: 0,
        numbers: None,
        rows: 2,
        keys: Some(text(["urn:s", "urn:o"])),
        labels: None,
        properties: Vec::new(),
    }));
    assert_eq!(stated.digest().unwrap(), memory.digest().unwrap());
}

#[test]
fn graphar_without_a_key_has_one_digest_from_either_list_and_no_order() {
    let memory = graphar();
    let other_list = same(&memory).into_iter().find(|(what, _)| *what == "edges in reverse").unwrap().1;
    assert_eq!(other_list.digest().unwrap(), memory.digest().unwrap());
    assert_eq!(memory.order_digest().unwrap(), MemoryGraph::default().order_digest().unwrap());
    // Among rows that look alike, an edge's row is identified by position: exchanging two nodes is a change.
    let mut exchanged = memory.clone();
    exchanged.batches[0] = rows::pick(&exchanged.batches[0], &[0, 1, 3, 2]);
    assert_ne!(exchanged.digest().unwrap(), memory.digest().unwrap());
}

#[test]
fn deepgnn_one_feature_may_have_two_number_types() {
    let line = isomorph_model::digest::Line::new(LineKind::Nodes, &["node"], "3");
    let table = deepgnn().digest_table().unwrap();
    assert_eq!(table.get(&line).count, 2);
}

#[test]
fn nock_minutes_of_two_kinds_are_the_same_as_a_column_of_json() {
    let bag = nock();
    let mut column = bag.clone();
    let at = column.graph.nodes[0].properties.len() - 1;
    column.graph.nodes[0].properties[at] =
        isomorph_model::Property::new("minutes", arrow_schema::DataType::Utf8).of_kind(isomorph_model::ValueKind::Json);
    let Batch::Nodes(nodes) = &mut column.batches[0] else { panic!() };
    nodes.properties[at] = Some(text([Some("5"), Some("\"5\""), None, None]));
    assert_eq!(column.digest().unwrap(), bag.digest().unwrap());
    nodes_property(&mut column, at, text([Some("5"), Some("5"), None, None]));
    assert_ne!(column.digest().unwrap(), bag.digest().unwrap());
}

fn nodes_property(memory: &mut MemoryGraph, at: usize, cells: arrow_array::ArrayRef) {
    if let Some(Batch::Nodes(nodes)) = memory.batches.first_mut() {
        nodes.properties[at] = Some(cells);
    }
}

#[test]
fn a_member_beside_a_column_of_its_name_is_another_property() {
    let memory = |truth: f32, member: f32| bundled(&[("a", &[], truth, &format!("{{\"truth\":{member:?}}}"))], &[]);
    assert_ne!(memory(0.5, 0.75).digest().unwrap(), memory(0.75, 0.5).digest().unwrap());
    let edge = |truth: f32, member: f32| {
        let nodes: [BundledNode<'_>; 1] = [("a", &[], 1.0, "")];
        bundled(&nodes, &[("a", "r", "a", truth, &format!("{{\"truth\":{member:?}}}"))])
    };
    assert_ne!(edge(0.5, 0.75).digest().unwrap(), edge(0.75, 0.5).digest().unwrap());
}

#[test]
fn a_member_without_a_name_is_no_node() {
    let memory = bundled(&[("a", &[], 1.0, r#"{"":1}"#)], &[]);
    let nodes = isomorph_model::digest::Line::new(LineKind::Nodes, &["node"], "");
    assert_eq!(memory.digest_table().unwrap().get(&nodes).count, 1);
}

#[test]
fn widths_and_declarations_are_in_the_schema_digest() {
    let memory = typed::social();
    let schema = schema_digest(&memory.graph);
    let mut wider = memory.graph.clone();
    wider.nodes[0].properties[1].data_type = arrow_schema::DataType::Int64;
    assert_ne!(schema_digest(&wider), schema);
    let mut unused = memory.graph.clone();
    unused.nodes.push(isomorph_model::NodeType::new("unused", isomorph_model::Key::row()));
    assert_ne!(schema_digest(&unused), schema);
    // The grouping of properties into files determines their order here, and is not a declaration.
    let mut regrouped = memory.graph.clone();
    regrouped.nodes[0].properties.reverse();
    regrouped.nodes.iter_mut().for_each(|ty| ty.rows = None);
    assert_eq!(schema_digest(&regrouped), schema);
    for (mut graph, change) in [(annnet().graph, 0), (annnet().graph, 1), (rdf().graph, 2)] {
        let before = schema_digest(&graph);
        match change {
            0 => graph.groups[3].memberships[0].properties.clear(),
            1 => graph.groups[0].ordered = false,
            _ => graph.values[0].qualifiers.clear(),
        }
        assert_ne!(schema_digest(&graph), before, "{change}");
    }
}

#[test]
fn unsound_batches_are_errors() {
    let memory = typed::social();
    let broken = |change: &dyn Fn(&mut Batch)| {
        let mut memory = memory.clone();
        memory.batches.iter_mut().for_each(change);
        memory.digest().unwrap_err().message().to_owned()
    };
    assert_eq!(
        broken(&|batch| {
            if let Batch::Nodes(nodes) = batch {
                nodes.properties[0] = Some(text(["one"]));
            }
        }),
        "a column of 1 cells in a batch of 4 rows"
    );
    assert_eq!(
        broken(&|batch| {
            if let Batch::Nodes(nodes) = batch {
                nodes.keys = None;
            }
        }),
        "the keys of nodes of type person are missing"
    );
    assert_eq!(
        broken(&|batch| {
            if let Batch::Edges(edges) = batch {
                edges.target = Ends::Rows(vec![0, 1, 2, 3, 99].into_iter().take(edges.rows).collect::<Vec<_>>().into());
            }
        }),
        "row 99 of nodes does not exist"
    );
    assert_eq!(
        broken(&|batch| {
            if let Batch::Nodes(nodes) = batch {
                nodes.keys = Some(text(vec!["x"; nodes.rows]));
            }
        }),
        "the type of the key, string, does not match its kind"
    );
    let json = MemoryGraph {
        graph: isomorph_model::Graph {
            documents: vec![isomorph_model::Document { name: "d".into(), body: DocumentBody::Json("{".into()) }],
            ..Default::default()
        },
        batches: Vec::new(),
    };
    assert!(json.digest().is_err());
}

#[test]
fn threads_may_share_the_work() {
    let memory = typed::property_graphs().into_iter().find(|(name, _)| *name == "a few thousand").unwrap().1;
    let memory = same::ends_as_keys(&memory);
    let digests: Vec<ContentDigest> = std::thread::scope(|scope| {
        let work = memory.batches.iter().map(|batch| {
            let graph = &memory.graph;
            scope.spawn(move || {
                let mut digest = ContentDigest::default();
                match batch {
                    Batch::Nodes(nodes) => drop(digest.nodes(graph, nodes).unwrap()),
                    Batch::Edges(edges) => digest.edges(graph, edges, &Vec::<Vec<u128>>::new()).unwrap(),
                    _ => panic!(),
                }
                digest
            })
        });
        work.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut total = ContentDigest::default();
    digests.into_iter().rev().for_each(|digest| total.merge(digest));
    assert_eq!(total.digest(), memory.digest().unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_graphs_keep_their_digest_in_other_clothes(memory in arbitrary::property_graph()) {
        let table = memory.digest_table().unwrap();
        for (what, other) in same(&memory) {
            let other = other.digest_table().unwrap();
            prop_assert_eq!(table.differences(&other), vec![], "{}", what);
        }
    }

    #[test]
    fn arbitrary_bundles_keep_their_digest_in_other_clothes(memory in arbitrary::bundled_graph()) {
        let table = memory.digest_table().unwrap();
        for (what, other) in same(&memory) {
            let other = other.digest_table().unwrap();
            prop_assert_eq!(table.differences(&other), vec![], "{}", what);
        }
    }

    #[test]
    fn one_difference_in_an_arbitrary_graph_is_located(memory in arbitrary::property_graph()) {
        check_mutations(&memory)?;
    }

    #[test]
    fn one_difference_in_an_arbitrary_bundle_is_located(memory in arbitrary::bundled_graph()) {
        check_mutations(&memory)?;
    }
}

fn check_mutations(memory: &MemoryGraph) -> Result<(), TestCaseError> {
    let table = memory.digest_table().unwrap();
    for Mutation { what, kind, property, graph } in mutations(memory) {
        let changed = graph.digest_table().unwrap();
        let differences = table.differences(&changed);
        let named = differences
            .iter()
            .any(|(line, _, _)| line.kind == kind && property.as_ref().is_none_or(|name| line.property == *name));
        prop_assert!(named, "{}: {:?}", what, differences);
        prop_assert_ne!(changed.digest(), table.digest());
    }
    Ok(())
}
