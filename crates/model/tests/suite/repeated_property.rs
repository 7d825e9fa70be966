//! Two properties with the same name in one table.
#![allow(clippy::unwrap_used)]

use arrow_schema::DataType;
use isomorph_model::schema::{GroupKind, MembershipTable, Owner};
use isomorph_model::{EdgeType, Graph, Key, NodeType, Property};

type Break = fn(&mut Graph, Vec<Property>);

#[test]
fn two_properties_of_one_name_are_found_in_every_table() {
    let pair = || ["x", "y", "x"].map(|name| Property::new(name, DataType::Utf8)).to_vec();
    let sound = || {
        let mut node = NodeType::new("n", Key::utf8());
        let mut edge = EdgeType::new(0, "r", 0);
        // Two different tables may both have a property of this name.
        node.properties = pair()[..2].to_vec();
        edge.properties = pair()[1..].to_vec();
        let memberships = vec![MembershipTable { of: Owner::Nodes(0), properties: Vec::new() }];
        let (properties, all) = (Vec::new(), Vec::new());
        let group = GroupKind { kind: "g".into(), key: Key::utf8(), ordered: false, properties, all, memberships };
        Graph { nodes: vec![node], edges: vec![edge], groups: vec![group], ..Graph::default() }
    };
    assert_eq!(sound().repeated_property(), None);
    let breaks: [(&str, Break); 4] = [
        ("nodes of type n", |graph, pair| graph.nodes[0].properties = pair),
        ("edges of type n r n", |graph, pair| graph.edges[0].properties = pair),
        ("groups of kind g", |graph, pair| graph.groups[0].properties = pair),
        ("members of groups of kind g", |graph, pair| graph.groups[0].memberships[0].properties = pair),
    ];
    for (what, make) in breaks {
        let mut graph = sound();
        make(&mut graph, pair());
        assert_eq!(graph.repeated_property(), Some((what.to_owned(), "x")), "{what}");
    }
}
