//! Ids that are repeated and ends that are no nodes in files of graph tools: every command agrees about them.

use crate::support::Home;

const FILES: [(&str, &str, &str, &str); 8] = [
    (
        "x.graphml",
        "GRAPHML",
        "<graphml><key id=\"k\" for=\"node\" attr.name=\"n\" attr.type=\"string\"/><graph edgedefault=\"directed\">NODES EDGES</graph></graphml>",
        "<node id=\"ID\"><data key=\"k\">N</data></node>|<edge source=\"ID\" target=\"TO\"/>",
    ),
    (
        "x.gexf",
        "GEXF",
        "<gexf><graph defaultedgetype=\"directed\"><nodes>NODES</nodes><edges>EDGES</edges></graph></gexf>",
        "<node id=\"ID\" label=\"N\"/>|<edge source=\"ID\" target=\"TO\"/>",
    ),
    ("x.gml", "GML", "graph [ directed 1 NODES EDGES ]", "node [ id ID n \"N\" ] |edge [ source ID target TO ] "),
    (
        "x.nodelink.json",
        "NODELINK",
        "{\"directed\": true, \"nodes\": [NODESnull], \"edges\": [EDGESnull]}",
        "{\"id\": ID, \"n\": \"N\"}, |{\"source\": ID, \"target\": TO}, ",
    ),
    (
        "x.kgx.json",
        "NODELINK",
        "{\"nodes\": [NODESnull], \"edges\": [EDGESnull]}",
        "{\"id\": \"ID\", \"category\": [\"c\"], \"n\": \"N\"}, |{\"subject\": \"ID\", \"object\": \"TO\", \"predicate\": \"p\"}, ",
    ),
    (
        "x.jgf.json",
        "JGF",
        "{\"graph\": {\"directed\": true, \"nodes\": [NODESnull], \"edges\": [EDGESnull]}}",
        "{\"id\": \"ID\", \"metadata\": {\"n\": \"N\"}}, |{\"source\": \"ID\", \"target\": \"TO\"}, ",
    ),
    (
        "x.cx2",
        "CX2",
        "[{\"CXVersion\": \"2.0\", \"hasFragments\": false}, {\"attributeDeclarations\": [{\"nodes\": {\"n\": {\"d\": \"string\"}}}]}, {\"nodes\": [NODESnull]}, {\"edges\": [EDGESnull]}, {\"status\": [{\"success\": true}]}]",
        "{\"id\": ID, \"v\": {\"n\": \"N\"}}, |{\"s\": ID, \"t\": TO}, ",
    ),
    (
        "x.json",
        "NEO4J",
        "NODESEDGES",
        "{\"type\":\"node\",\"id\":\"ID\",\"labels\":[\"p\"],\"properties\":{\"n\":\"N\"}}\n|{\"type\":\"relationship\",\"id\":\"0\",\"label\":\"edge\",\"start\":{\"id\":\"ID\"},\"end\":{\"id\":\"TO\"}}\n",
    ),
];

/// Writes a file with these nodes and edges.
fn text((_, _, frame, records): (&str, &str, &str, &str), nodes: &[(u8, &str)], edges: &[(u8, u8)]) -> String {
    let (node, edge) = records.split_once('|').unwrap();
    let nodes: String = nodes
        .iter()
        .map(|(id, n)| {
            node.replace("\"N\"", &format!("\"{n}\"")).replace(">N<", &format!(">{n}<")).replace("ID", &id.to_string())
        })
        .collect();
    let edges: String =
        edges.iter().map(|(from, to)| edge.replace("ID", &from.to_string()).replace("TO", &to.to_string())).collect();
    frame.replace("NODES", &nodes).replace("EDGES", &edges).replace(", null]", "]").replace("[null]", "[]")
}

#[test]
fn every_command_agrees_about_wrong_ids_and_ends() {
    for file in FILES {
        let (name, prefix, ..) = file;
        let home = Home::new();
        for (what, nodes, edges) in [
            ("ID", vec![(1, "a"), (2, "b"), (1, "c")], vec![(1, 2)]),
            ("END", vec![(1, "a"), (2, "b")], vec![(1, 2), (2, 7)]),
        ] {
            let rule = format!("{prefix}-{what}");
            home.write(name, text(file, &nodes, &edges));
            let commands: [&[&str]; 7] = [
                &["cypher", name, "match (n) return count(n)"],
                &["sql", name, "select count(*) from edge"],
                &["neighbors", name, "1"],
                &["digest", name],
                &["dump", name],
                &["stats", name],
                &["convert", name, "out.parq"],
            ];
            for command in commands {
                let error = home.run(&[command, &["--json"]].concat()).exits(3).error();
                assert_eq!(error["error"]["rule"], rule.as_str(), "{command:?}");
                assert_eq!(error["error"]["place"]["file"], name, "{command:?}");
            }
            let info = home.run(&["info", name, "--json"]).exits(0).json();
            assert!(info.to_string().contains(&rule), "{info}");
            let found = home.run(&["validate", name, "--json"]).exits(1).json();
            assert!(found.to_string().contains(&rule), "{found}");
            // Without the record it is a graph of two nodes and an edge.
            home.run(&["convert", name, "out.graphml", "--lenient", "--replace"]).exits(0);
            let listed = std::fs::read_to_string(home.path().join("out.graphml.set-aside.jsonl")).unwrap();
            assert_eq!(listed.lines().count(), 1, "{listed}");
            assert!(listed.contains(&rule), "{listed}");
            home.write(&format!("clean.{name}"), text(file, &[(1, "a"), (2, "b")], &[(1, 2)]));
            let digest = |place: &str, flags: &[&str]| {
                home.run(&[&["digest", place, "--json"] as &[&str], flags].concat()).exits(0).json()["content"].clone()
            };
            assert_eq!(digest(name, &["--lenient"]), digest(&format!("clean.{name}"), &[]), "{name}");
            assert_eq!(digest("out.graphml", &[]), digest(name, &["--lenient"]), "{name}");
        }
    }
}

/// What edges only mention is counted before a conversion as after it, and as queries count it.
#[test]
fn implied_nodes_are_counted() {
    let home = Home::new();
    home.write(
        "r.nt",
        "<urn:a> <urn:p> <urn:b> .\n<urn:b> <urn:q> \"x\" .\n<urn:c> <urn:p> <urn:d> .\n<urn:c> <urn:p> <urn:b> .\n",
    );
    home.write(
        "d.json",
        "{\"node_id\": 1, \"node_type\": 0, \"node_weight\": 1.0, \"neighbor\": {}, \"uint64_feature\": {}, \"float_feature\": {}, \"binary_feature\": {}, \"edge\": [{\"src_id\": 1, \"dst_id\": 7, \"edge_type\": 0, \"weight\": 1.0, \"uint64_feature\": {}, \"float_feature\": {}, \"binary_feature\": {}}]}\n",
    );
    for (name, nodes) in [("r.nt", 4), ("d.json", 2)] {
        let counted = |place: &str| home.run(&["info", place, "--json"]).exits(0).json()["nodes"][0]["count"].clone();
        assert_eq!(counted(name), nodes);
        let asked = home.run(&["cypher", name, "match (n) return count(n) as n", "--json"]).exits(0).json();
        assert!(asked.to_string().contains(&nodes.to_string()), "{asked}");
        for to in ["graphar", "parquet", "graphml"] {
            let out = format!("{name}.{to}");
            home.run(&["convert", name, &out, "--to", to]).exits(0);
            assert_eq!(counted(&out), nodes, "{out}");
        }
    }
}
