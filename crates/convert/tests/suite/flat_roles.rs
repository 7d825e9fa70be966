//! Roles of columns that names or cells tell: keys, ends and directions. What neither tells is refused.
#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_convert::{ConvertOptions, Format, Plan, Silent, digest};
use isomorph_storage::Location;
use serde_json::{Value, json};

use super::flat_tables::{columns, digests, directory, lines, open, opened, resources};

const NODES: (&str, &str) = ("nodes.csv", "id,name\n0,Ann\n1,Bo\n2,Cy\n");

/// Source, target and direction of each edge, in their order.
fn edges(files: &[(&str, &str)]) -> Vec<(Value, Value, bool)> {
    let home = directory(files);
    let place = if let [(name, _)] = files { home.path().join(name) } else { home.path().to_owned() };
    let all = lines(&open(&place));
    let edges = all.iter().filter(|line| line.get("edge").is_some());
    edges.map(|line| (line["ends"][0].clone(), line["ends"][1].clone(), line["directed"] != json!(false))).collect()
}

/// The error of opening, with its hints.
#[track_caller]
fn refused(files: &[(&str, &str)]) -> String {
    let home = directory(files);
    let error = opened(home.path()).and_then(|opened| digests(&opened)).unwrap_err();
    format!("{} {error} {}", error.place(), error.hints().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_column_that_may_be_something_else_is_no_end() {
    for header in [
        "Unnamed: 0,caller,callee",
        ",caller,callee",
        "level_0,caller,callee",
        "rank,caller,callee",
        "x,caller,callee",
        "edge,caller,callee",
        "caller,duration,callee",
        "gene_a,score,gene_b",
        "caller,callee,other",
    ] {
        let found = refused(&[NODES, ("edges.csv", &format!("{header}\n0,1,2\n1,2,0\n"))]);
        assert!(found.contains(header.split(',').next().unwrap()) && found.contains("isomorph import init"), "{found}");
    }
    // Nothing else can be an end.
    for header in ["caller,callee,duration", "person,friend,since"] {
        let found = edges(&[NODES, ("edges.csv", &format!("{header}\n0,1,2\n"))]);
        assert_eq!(found, [(json!(0), json!(1), true)], "{header}");
    }
}

#[test]
fn a_key_is_named_or_the_only_column_that_edges_can_mean() {
    let edges = ("edges.csv", "source,target\n0,1\n2,0\n");
    for header in ["Unnamed: 0", "rank", "age", "index"] {
        let found = refused(&[("nodes.csv", &format!("{header},person,nm\n0,1,x\n1,2,y\n2,0,z\n")), edges]);
        assert!(found.contains("more than one") && found.contains(&format!("{header}, person")), "{found}");
        assert!(found.contains("isomorph import init"), "{found}");
    }
    let found = refused(&[("nodes.csv", "age,person\n0,1\n1,2\n1,3\n"), edges]);
    assert!(found.contains("none has different values"), "{found}");
    // The age is repeated, the rank is in no edge, and of the name there is none.
    let only = [("nodes.csv", "age,rank,person,nm\n1,10,1,x\n1,20,2,\n2,30,0,z\n"), edges];
    let home = directory(&only);
    let opened = open(home.path());
    assert_eq!(columns(opened.graph.graph())[0], "node(person Int): age int64, rank int64, nm string");
    assert!(opened.native.about().layout.contains("key person, the only column"), "{}", opened.native.about().layout);
    let mapping = isomorph_flat::mapping_of(&Location::from_path(home.path())).unwrap();
    assert!(mapping.contains("KEY (person)"), "{mapping}");
    // A person corrects a draft.
    let home = directory(&[("nodes.csv", "age,person\n0,1\n1,2\n1,3\n"), edges]);
    let mapping = isomorph_flat::mapping_of(&Location::from_path(home.path())).unwrap();
    assert!(mapping.contains("KEY (age)") && mapping.contains("the first column: to be checked"), "{mapping}");
}

#[test]
fn directions_of_gephi_do_not_depend_on_the_table_of_nodes() {
    let nodes = ["Id,Label", "ID,Label", "id,label"].map(|header| format!("{header}\n1,a\n2,b\n3,c\n"));
    for (header, words) in [
        ("Source,Target,Type,Weight", ["Undirected", "Directed"]),
        ("source,target,type,weight", ["undirected", "directed"]),
        ("Source,Target,Type,Weight", ["UNDIRECTED", "DIRECTED"]),
    ] {
        for word in words {
            let text = format!("{header}\n1,2,{word},1.5\n2,3,{word},2\n");
            let alone = edges(&[("edges.csv", &text)]);
            assert_eq!(alone.len(), 2);
            for nodes in &nodes {
                let found = edges(&[("nodes.csv", nodes), ("edges.csv", &text)]);
                assert_eq!(found, alone, "{header} {word} {nodes}");
            }
        }
        let mixed = format!("{header}\n1,2,{},1.5\n2,3,{},2\n", words[0], words[1]);
        for nodes in &nodes {
            let found: Vec<bool> =
                edges(&[("nodes.csv", nodes), ("edges.csv", &mixed)]).into_iter().map(|edge| edge.2).collect();
            assert_eq!(found, [false, true], "{header} {nodes}");
        }
    }
    // A relation is none, in part or as a whole.
    for text in ["Source,Target,Type\n1,2,friend\n", "Source,Target,Type\n1,2,friend\n2,3,Directed\n"] {
        for nodes in &nodes {
            let home = directory(&[("nodes.csv", nodes), ("edges.csv", text)]);
            let opened = open(home.path());
            assert_eq!(columns(opened.graph.graph())[1], "node edge node: Type string", "{text}");
            assert!(opened.native.about().layout.contains("no cells of Type"), "{}", opened.native.about().layout);
        }
    }
}

#[test]
fn truths_in_a_column_called_directed_are_directions() {
    for (yes, no) in [("1", "0"), ("1.0", "0.0"), ("yes", "no "), ("Y", "N"), ("true", "false"), ("True", "False")] {
        let found = edges(&[NODES, ("edges.csv", &format!("source,target,directed\n0,1,{no}\n1,2,{yes}\n"))]);
        assert_eq!(found.iter().map(|edge| edge.2).collect::<Vec<_>>(), [false, true], "{yes} {no}");
    }
    // Some cells that say a direction and others that do not are a mistake, with its line.
    for cells in [["false", "maybe"], ["0", "2"], ["Undirected", "Mutual"]] {
        let text = format!("source,target,directed\n0,1,{}\n1,2,{}\n", cells[0], cells[1]);
        let error = refused(&[NODES, ("edges.csv", &text)]);
        assert!(error.contains("line 3") && error.contains("is no direction"), "{text}: {error}");
    }
    let error = refused(&[NODES, ("edges.csv", "source,target,Type\n0,1,Undirected\n1,2,Mutual\n")]);
    assert!(error.contains("line 3") && error.contains("is no direction"), "{error}");
    // Elsewhere they are values.
    let found = edges(&[NODES, ("edges.csv", "source,target,type\n0,1,0\n1,2,1\n")]);
    assert!(found.iter().all(|edge| edge.2));
}

#[test]
fn the_order_of_head_and_tail_tells_which_is_the_source() {
    for (text, expected) in [("head,tail\n0,1\n", (0, 1)), ("tail,head\n0,1\n", (0, 1)), ("head,tail\n1,0\n", (1, 0))] {
        let expected = [(json!(expected.0), json!(expected.1), true)];
        assert_eq!(edges(&[("edges.csv", text)]), expected, "{text}");
        assert_eq!(edges(&[NODES, ("edges.csv", text)]), expected, "{text}");
        let behind =
            text.replace("head,tail", "w,head,tail").replace("tail,head", "w,tail,head").replace("\n0", "\n7,0");
        let behind = behind.replace("\n1,0", "\n7,1,0");
        assert_eq!(edges(&[NODES, ("edges.csv", &behind)]), expected, "{behind}");
    }
}

#[test]
fn a_column_without_a_name_is_not_counted_as_nodes() {
    let home = directory(&[("nodes.csv", ",id\n5,10\n6,11\n"), ("edges.csv", "source,target\n10,11\n")]);
    let opened = open(home.path());
    let found = digest(opened.graph.as_ref(), &resources(), &Silent).unwrap();
    let of_nodes: Vec<u64> =
        found.table.lines().filter(|(line, _)| line.property.is_empty()).map(|(_, sum)| sum.count).collect();
    assert_eq!(of_nodes, [2, 1]);
    let without = directory(&[("nodes.csv", "id\n10\n11\n"), ("edges.csv", "source,target\n10,11\n")]);
    assert_ne!(digests(&opened).unwrap().content, digests(&open(without.path())).unwrap().content);
}

/// The lines of the plan of a conversion.
fn plan(files: &[(&str, &str)], to: Format, name: &str) -> Vec<String> {
    let home = directory(files);
    let there = tempfile::tempdir().unwrap();
    let place = Location::from_path(&there.path().join(name));
    let options = ConvertOptions { to: Some(to), ..ConvertOptions::default() };
    let plan = Plan::new(&open(home.path()), &place, &options, &resources(), &Silent).unwrap();
    plan.lines.iter().map(|line| format!("{}: {}", line.subject, line.becomes)).collect()
}

#[test]
fn what_networkx_takes_for_keys_of_edges_is_renamed() {
    let edges = "source,target,key,networkx_key\n0,1,a,b\n0,1,a,b\n";
    for (to, name, expected) in [
        (Format::GRAPHML, "g.graphml", &["edge.key: called xkey"][..]),
        (Format::GEXF, "g.gexf", &["edge.key: called xkey", "edge.networkx_key: called xnetworkx_key"]),
        (Format::NODELINK, "g.json", &["edge.key: called xkey"]),
        (Format::GML, "g.gml", &["edge.key: called xkey"]),
    ] {
        let found = plan(&[NODES, ("edges.csv", edges)], to, name);
        let renamed: Vec<&String> = found.iter().filter(|line| line.contains("called")).collect();
        assert_eq!(renamed, expected, "{to}");
    }
}

#[test]
fn plans_name_the_key_and_the_readers_that_refuse_the_output() {
    let mixed = ("edges.csv", "source,target,directed\n0,1,true\n1,2,false\n");
    for (to, name, words) in [
        (Format::GRAPHML, "g.graphml", Some("NetworkX refuses the file, and igraph reads all edges as directed")),
        (Format::GEXF, "g.gexf", Some("NetworkX refuses the file")),
        (Format::JGF, "g.jgf", None),
    ] {
        let found = plan(&[NODES, mixed], to, name).join("\n");
        assert_eq!(words.is_some(), found.contains("direction: of each edge"), "{found}");
        assert!(words.is_none_or(|words| found.contains(words)), "{found}");
        let found = plan(&[NODES, ("edges.csv", "source,target\n0,1\n")], to, name).join("\n");
        assert!(!found.contains("of each edge"), "{found}");
    }
    for (to, name) in [(Format::NODELINK, "g.json"), (Format::GML, "g.gml")] {
        let found = plan(&[NODES, ("edges.csv", "source,target\n0,1\n")], to, name).join("\n");
        assert!(found.contains("nodes, id = id, name") && !found.contains("xid"), "{found}");
    }
}

#[test]
fn columns_may_be_called_by_numbers_where_names_tell_the_roles() {
    let home = directory(&[("nodes.csv", "id,2020,nan,inf\n1,a,b,c\n"), ("edges.csv", "source,target,2021\n1,1,5\n")]);
    assert_eq!(
        columns(open(home.path()).graph.graph()),
        ["node(id Int): 2020 string, nan string, inf string", "node edge node: 2021 int64"]
    );
    let found = refused(&[("nodes.csv", "1,Ann\n2,Bo\n"), ("edges.csv", "source,target\n1,2\n")]);
    assert!(found.contains("does not name the columns"), "{found}");
}

#[test]
fn separators_that_excel_states_are_taken() {
    for text in ["sep=;\nid;v\n1;x,y\n", "\u{feff}SEP=;\r\nid;v\r\n1;x,y\r\n", "sep=|\nid|v\n1|x,y\n"] {
        let home = directory(&[("nodes.csv", text), ("edges.csv", "sep=,\nsource,target\n1,1\n")]);
        let all = lines(&open(home.path()));
        assert_eq!(all[0]["properties"]["v"], json!("x,y"), "{text:?}");
        assert_eq!(all.len(), 2, "{text:?}");
    }
    let found = refused(&[("nodes.csv", "sep=;\nid;v\n1;2\n"), ("edges.csv", "source,target\n1,\n")]);
    assert!(found.contains("--lenient"), "{found}");
}

#[test]
fn tables_of_edges_are_divided_by_semicolons_and_bars() {
    for mark in [';', '|'] {
        let text = "source,target,v\n1,2,\"x,y\"\n2,3,z w\n".replace("\"x,y\"", "@").replace(',', &mark.to_string());
        let text = text.replace('@', "x, y");
        let home = directory(&[("edges.csv", &text)]);
        let all = lines(&open(&home.path().join("edges.csv")));
        let found: Vec<_> = all.iter().filter(|line| line.get("edge").is_some()).collect();
        assert_eq!(found.len(), 2, "{text}");
        assert_eq!((&found[0]["ends"], &found[0]["properties"]["v"]), (&json!([1, 2]), &json!("x, y")));
    }
    // Between blanks they belong to names.
    let home = directory(&[("g.edges", "a;b c;d\ne;f g;h\n")]);
    let all = lines(&open(&home.path().join("g.edges")));
    assert!(all.iter().any(|line| line["ends"] == json!(["a;b", "c;d"])), "{all:?}");
}

#[test]
fn hidden_files_are_no_tables() {
    let people = ("person.csv", "id\n0\n1\n2\n");
    let knows = "source,target\n0,1\n";
    let found = edges(&[people, ("knows.csv", knows), (".knows.csv", knows), ("._knows.csv", "\u{0}")]);
    assert_eq!(found, [(json!(0), json!(1), true)]);
}
