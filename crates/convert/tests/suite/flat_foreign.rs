//! Tables that other people wrote: what a header says is taken, and what would be read as another graph is refused.
#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_error::{Findings, Kind, Severity};
use isomorph_storage::Location;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::flat_tables::{columns, digests, directory, lines, open, opened, refused};

/// Source and target of each edge, in their order.
fn ends(home: &TempDir) -> Vec<(Value, Value)> {
    let all = lines(&open(home.path()));
    let edges = all.iter().filter(|line| line.get("edge").is_some());
    edges.map(|line| (line["ends"][0].clone(), line["ends"][1].clone())).collect()
}

/// The values of a property of nodes.
fn values(home: &TempDir, name: &str) -> Vec<Value> {
    let all = lines(&open(home.path()));
    let nodes = all.iter().filter(|line| line.get("node").is_some());
    nodes.map(|line| line["properties"][name].clone()).collect()
}

/// The message of the error of opening, with its hints.
#[track_caller]
fn message(files: &[(&str, &str)]) -> String {
    let home = directory(files);
    let error = opened(home.path()).and_then(|opened| digests(&opened)).unwrap_err();
    assert_ne!(error.kind(), Kind::NotFound, "{error:?}");
    format!("{} {error} {}", error.place(), error.hints().collect::<Vec<_>>().join(" "))
}

#[test]
fn ends_are_found_by_name_anywhere() {
    for header in [
        "id,source,dest",
        "id,src,trg",
        "id,start_id,end_id",
        "id,from_node,to_node",
        "id,SourceID,TargetID",
        "id,source.id,target.id",
        "~id,~from,~to",
        "w,Subject,Object",
        "key,node_1,node_2",
        "id,u,v",
        "id,head,tail",
        "id,source_name,target_name",
        "id,begin,end",
        "id,source_id,target",
    ] {
        let home = directory(&[("nodes.csv", "id\n1\n2\n3\n"), ("edges.csv", &format!("{header}\n1,2,3\n2,3,1\n"))]);
        assert_eq!(ends(&home), [(json!(2), json!(3)), (json!(3), json!(1))], "{header}");
    }
    let target_first = [("nodes.csv", "id\n1\n2\n"), ("edges.csv", "start,end,target,source\n9,9,1,2\n")];
    assert_eq!(ends(&directory(&target_first)), [(json!(2), json!(1))]);
    let unnamed = [("nodes.csv", "id\n1\n2\n"), ("edges.csv", "person,friend,since\n1,2,3\n")];
    assert_eq!(ends(&directory(&unnamed)), [(json!(1), json!(2))]);
}

#[test]
fn ends_that_no_name_tells_are_not_guessed() {
    for (header, words) in [
        ("source,weight,other", "the column source is one end of edges"),
        ("id,person,friend", "it is not certain which are: id, person, friend"),
        ("person,weight,friend", "it is not certain"),
        ("1,2,3", "does not name the columns"),
        (
            "from,to,source,target",
            "several pairs of columns could be source and target: source and target; from and to",
        ),
        ("source,target,Source", "several pairs"),
    ] {
        let row = header.split(',').map(|_| "1").collect::<Vec<_>>().join(",");
        let files = [("nodes.csv", "id\n1\n2\n3\n"), ("edges.csv", &*format!("{header}\n{row}\n"))];
        let found = message(&files);
        assert!(found.contains(words) && found.contains("isomorph import init"), "{header}: {found}");
        // A person corrects a draft.
        let home = directory(&files);
        let draft = isomorph_flat::mapping_of(&Location::from_path(home.path())).unwrap();
        assert!(draft.contains("to be checked"), "{draft}");
    }
}

#[test]
fn numbers_of_json_keep_every_digit() {
    let home = directory(&[
        (
            "nodes.jsonl",
            "{\"id\":1,\"v\":18446744073709551617,\"d\":12345678901234567890.12,\"l\":[18446744073709551617],\"u\":18446744073709551615}\n\
             {\"id\":2,\"v\":1,\"d\":0.5,\"l\":[2],\"u\":1}\n",
        ),
        ("edges.jsonl", "{\"source\":1,\"target\":2,\"z\":-0}\n"),
    ]);
    let found = columns(open(home.path()).graph.graph());
    assert_eq!(found, ["node(id Int): v string, d string, l string, u uint64", "node edge node: z double"]);
    let mut text = Vec::new();
    isomorph_convert::dump(
        open(home.path()).graph.as_ref(),
        &mut text,
        &isomorph_storage::Resources::of_this_machine().unwrap(),
        &isomorph_convert::Silent,
    )
    .unwrap();
    let text = String::from_utf8(text).unwrap();
    for digits in ["18446744073709551617", "12345678901234567890.12", "[18446744073709551617]", "18446744073709551615"]
    {
        assert!(text.contains(digits), "{digits}: {text}");
    }
    let large = directory(&[
        ("nodes.jsonl", "{\"id\":18446744073709551615}\n{\"id\":2}\n"),
        ("edges.jsonl", "{\"source\":2,\"target\":18446744073709551615}\n"),
    ]);
    assert_eq!(ends(&large), [(json!(2), json!(u64::MAX))]);
}

#[test]
fn quotes_of_kgx_are_characters() {
    let home = directory(&[
        ("x_nodes.tsv", "id\tcategory\tname\nA:1\tG\t\"alpha\nA:2\tG\tbeta\nA:3\tG\tgamma\"\nA:4\tG\t\"q\"\n"),
        ("x_edges.tsv", "id\tsubject\tpredicate\tobject\ne1\tA:1\tp\tA:2\n"),
    ]);
    assert_eq!(values(&home, "name"), [json!("\"alpha"), json!("beta"), json!("gamma\""), json!("\"q\"")]);
    let mapping = isomorph_flat::mapping_of(&Location::from_path(home.path())).unwrap();
    assert!(mapping.contains("'isomorph.quotes' 'literal'"), "{mapping}");
    std::fs::write(home.path().join("graph.pgq"), mapping).unwrap();
    assert_eq!(values(&home, "name")[3], json!("\"q\""));
}

const EDGES: (&str, &str) = ("e.csv", ":START_ID,:END_ID,:TYPE\n1,2,T\n");

#[test]
fn types_of_neo4j_have_any_case_and_others_are_refused() {
    let nodes =
        "id:ID,a:INT,b:STRING[],c:Boolean,d:DateTime,:Label\n1,7,x;y,TRUE,2020-01-01T00:00:00+02:00,P\n2,,,,,\n";
    let home = directory(&[("n.csv", nodes), EDGES]);
    let found = columns(open(home.path()).graph.graph());
    assert_eq!(found[0], "n(id Utf8): a int64, b list<string>, c bool, d timestamp[ns, UTC]");
    for (header, words) in [
        ("id:ID,d:vector", "d:vector has the type vector"),
        ("id:ID,http://x", "the column http://x has the type //x"),
        ("id:ID,t:datetime{timezone:Europe/Stockholm}", "the zone Europe/Stockholm"),
        ("a:ID,:LABEL,:LABEL", "are both :LABEL"),
    ] {
        let found = message(&[("n.csv", &format!("{header}\n")), EDGES]);
        assert!(found.contains(words) && found.contains("n.csv"), "{header}: {found}");
    }
    let found = message(&[("n.csv", "a:ID\n1\n2\n"), ("e.csv", ":START_ID,:START_ID,:END_ID,:TYPE\n")]);
    assert!(found.contains("are both :START_ID"), "{found}");
}

const MAPPING: &str = "CREATE EXTERNAL TABLE n (id BIGINT, v VARCHAR) STORED AS CSV LOCATION 'n.csv';
CREATE PROPERTY GRAPH g VERTEX TABLES (n KEY (id));
";

#[test]
fn a_zone_in_a_local_time_is_refused() {
    for (ty, cell) in [("TIMESTAMP(3)", "2020-01-01T00:00:00+02:00"), ("TIMESTAMP", "2020-01-01 00:00Z")] {
        let mapping = MAPPING.replace("VARCHAR", ty);
        let csv = [("graph.pgq", mapping.as_str()), ("n.csv", &*format!("id,v\n1,2020-01-01\n2,{cell}\n"))];
        refused(&csv, "TEXT-VALUE", "n.csv", 3, "has a time zone");
        let mapping = mapping.replace("CSV", "JSON").replace(".csv", ".jsonl");
        let json = [("graph.pgq", mapping.as_str()), ("n.jsonl", &*format!("{{\"id\":1,\"v\":\"{cell}\"}}\n"))];
        refused(&json, "TEXT-VALUE", "n.jsonl", 1, "has a time zone");
        let zoned = MAPPING.replace("VARCHAR", &format!("{ty} WITH TIME ZONE"));
        assert!(opened(directory(&[("graph.pgq", &*zoned), csv[1]]).path()).and_then(|own| digests(&own)).is_ok());
    }
    let neo4j = [("n.csv", "id:ID,t:localdatetime\n1,2020-01-01T00:00:00+02:00\n2,\n"), EDGES];
    refused(&neo4j, "TEXT-VALUE", "n.csv", 2, "has a time zone");
}

#[test]
fn cells_that_are_not_json_are_found_with_their_line() {
    let mapping = MAPPING.replace("VARCHAR", "JSON");
    let deep = "[".repeat(600);
    for cell in ["nope", "[1", "\"\"\"\\ud800\"\"\"", &deep] {
        let files = [("graph.pgq", mapping.as_str()), ("n.csv", &*format!("id,v\n1,{{}}\n\n2,{cell}\n"))];
        refused(&files, "TEXT-VALUE", "n.csv", 4, "declared as JSON");
    }
    let own = [("graph.pgq", mapping.as_str()), ("n.csv", "id,v\n1,NaN\n2,\"[1,{\"\"a\"\":2}]\"\n3,\n")];
    assert!(digests(&open(directory(&own).path())).is_ok());
}

#[test]
fn columns_that_are_not_declared_are_told() {
    let csv = [("graph.pgq", MAPPING), ("n.csv", "id,v,extra,\"x y\"\n1,a,b,c\n")];
    let json_mapping = MAPPING.replace("CSV", "JSON").replace(".csv", ".jsonl");
    let json =
        [("graph.pgq", &*json_mapping), ("n.jsonl", "{\"id\":1,\"v\":\"a\"}\n{\"id\":2,\"extra\":1,\"x y\":2}\n")];
    for files in [csv, json] {
        let home = directory(&files);
        let opened = open(home.path());
        assert_eq!(columns(opened.graph.graph()), ["n(id Int): v string"]);
        let mut validated = Findings::keeping(5);
        opened.native.validate(&mut validated).unwrap();
        for findings in [opened.native.about().findings, validated] {
            assert_eq!(findings.worst(), Some(Severity::Warning));
            let (_, kept) = findings.by_rule().next().unwrap();
            let told = kept.first().unwrap();
            assert_eq!(told.rule.id, "FLAT-COLUMN");
            assert!(told.message.ends_with("table n does not declare them: extra, x y"), "{}", told.message);
        }
    }
    let all = [("graph.pgq", MAPPING), ("n.csv", "v,id\na,1\n")];
    assert!(open(directory(&all).path()).native.about().findings.is_empty());
}

#[test]
fn ends_are_the_keys_as_they_are_written() {
    for end in ["01", "+1", "1.00", "-0", "-0.0"] {
        let files = [("nodes.csv", "id\n0\n1\n"), ("edges.csv", &*format!("source,target\n1,0\n1,{end}\n"))];
        refused(&files, "FLAT-END", "edges.csv", 3, "which is no key");
    }
    // Floats that programs write for integers are these.
    let floats = [("nodes.csv", "id\n0\n1\n"), ("edges.csv", "source,target\n1,0\n1,1.0\n")];
    assert_eq!(ends(&directory(&floats)), [(json!(1), json!(0)), (json!(1), json!(1))]);
    let texts = [("nodes.csv", "id\n0012\n1\n"), ("edges.csv", "source,target\n1,0012\n")];
    assert_eq!(ends(&directory(&texts)), [(json!("1"), json!("0012"))]);
}

#[test]
fn labels_are_lists_whatever_is_declared() {
    let nodes = "id,labels\n1,\"[\"\"A\"\",\"\"B\"\"]\"\n2,C\n3,[]\n4,\"[\"\"\"\"]\"\n";
    let mapping = |columns: &str| {
        format!(
            "CREATE EXTERNAL TABLE n {columns} STORED AS CSV LOCATION 'n.csv' OPTIONS ('isomorph.labels' 'labels');
             CREATE PROPERTY GRAPH g VERTEX TABLES (n KEY (id));"
        )
    };
    for columns in ["(id BIGINT, labels VARCHAR)", ""] {
        let home = directory(&[("graph.pgq", &*mapping(columns)), ("n.csv", nodes)]);
        let found: Vec<Value> = lines(&open(home.path())).iter().map(|line| line["labels"].clone()).collect();
        assert_eq!(found[..2], [json!(["A", "B"]), json!(["C"])], "{columns}");
    }
}

#[test]
fn directions_are_words_or_truths() {
    let of = |files: &[(&str, &str)]| {
        let home = directory(files);
        let opened = open(home.path());
        let told = opened.native.about().layout;
        (lines(&opened).iter().filter(|line| line["directed"] == json!(false)).count(), told)
    };
    let (undirected, told) =
        of(&[("nodes.csv", "id\n1\n2\n"), ("edges.csv", "source,target,directed\n1,2,true\n2,1,false\n1,1,false\n")]);
    assert_eq!(undirected, 2);
    assert!(told.contains("direction by directed"), "{told}");
    // Other values are a property.
    let (undirected, _) = of(&[("nodes.csv", "id\n1\n2\n"), ("edges.csv", "source,target,directed\n1,2,7\n2,1,8\n")]);
    assert_eq!(undirected, 0);
    let mapping = "CREATE EXTERNAL TABLE n (id BIGINT) STORED AS CSV LOCATION 'n.csv';
        CREATE EXTERNAL TABLE e (a BIGINT, b BIGINT, d VARCHAR) STORED AS CSV LOCATION 'e.csv' OPTIONS ('isomorph.directed' 'd');
        CREATE PROPERTY GRAPH g VERTEX TABLES (n KEY (id))
        EDGE TABLES (e SOURCE KEY (a) REFERENCES n (id) DESTINATION KEY (b) REFERENCES n (id));";
    let (undirected, _) =
        of(&[("graph.pgq", mapping), ("n.csv", "id\n1\n"), ("e.csv", "a,b,d\n1,1,true\n1,1,False\n1,1,undirected\n")]);
    assert_eq!(undirected, 2);
}

#[test]
fn a_table_that_cannot_be_read_is_named() {
    let edges = ("edges.csv", "source,target\n1,2\n");
    for (name, text, words) in [
        ("nodes.jsonl", "{\"id\": NaN}\n", "nodes.jsonl, line 1"),
        ("nodes.jsonl", "\n[1]\n", "nodes.jsonl, line 2"),
        ("nodes.jsonl", "{\n \"id\": 1}\n", "nodes.jsonl, line 1"),
        ("nodes.jsonl", "{\"id\": 1, \"v\": \"\\ud800\"}\n", "nodes.jsonl"),
        ("nodes.parquet", "PAR1", "nodes.parquet"),
    ] {
        let found = message(&[(name, text), edges]);
        assert!(found.contains(words), "{name} {text:?}: {found}");
        assert!(!found.contains("not a graph itself"), "{found}");
    }
}

#[test]
fn statements_of_datafusion_are_read_or_named() {
    let with = |from: &str, to: &str| MAPPING.replacen(from, to, 1);
    let files = ("n.csv", "id,v\n1,1.50\n");
    for mapping in [
        with("STORED AS CSV", "STORED AS CSV WITH HEADER ROW"),
        with("VARCHAR", "DECIMAL(5, 2)"),
        with("VARCHAR", "NUMERIC(10, 4)"),
    ] {
        assert!(digests(&open(directory(&[("graph.pgq", &*mapping), files]).path())).is_ok(), "{mapping}");
    }
    let time = [("graph.pgq", &*with("VARCHAR", "TIME")), ("n.csv", "id,v\n1,12:30:01.5\n")];
    assert_eq!(columns(open(directory(&time).path()).graph.graph()), ["n(id Int): v time[us]"]);
    for (mapping, words) in [
        (with("LOCATION", "PARTITIONED BY (v) LOCATION"), "is partitioned"),
        (with("STORED AS CSV", "STORED AS CSV COMPRESSION TYPE GZIP"), "expected STORED AS, LOCATION, OPTIONS"),
        (with("'n.csv'", "'.'"), "is a directory"),
    ] {
        let found = message(&[("graph.pgq", &*mapping), files]);
        assert!(found.contains(words), "{mapping}: {found}");
    }
    let exact = [("graph.pgq", &*with("VARCHAR", "DECIMAL(5, 1)")), ("n.csv", "id,v\n1,1.55\n")];
    refused(&exact, "TEXT-VALUE", "n.csv", 2, "1.55");
}

#[test]
fn headers_are_divided_by_what_is_not_quoted() {
    let nodes = "\"id\",\"a,b\",\"x;y;z;w\"\n1,2,3\n";
    let home = directory(&[("nodes.csv", nodes), ("edges.csv", "source,target\n1,1\n")]);
    assert_eq!(columns(open(home.path()).graph.graph())[0], "node(id Int): a,b int64, x;y;z;w int64");
    // Lines that end as on old Macs.
    let home = directory(&[("nodes.csv", "id,v\r1,2\r2,3\r"), ("edges.csv", "source,target\r1,2\r")]);
    assert_eq!(values(&home, "v"), [json!(2), json!(3)]);
}

/// A table of edges alone is an edge list, whose cells are those of a table.
#[test]
fn cells_of_edge_lists_are_those_of_tables() {
    let home = directory(&[
        ("a.csv", "source,target,v,n,tiny\na,b,\"\",18446744073709551616,1e-400\na,c,,1,1e-3\n"),
        ("b.tsv", "source\ttarget\tv\n\"a\"\tb\t\"x\"\na\tc\ty\"\n"),
    ]);
    let of = |name: &str| -> Vec<Value> {
        lines(&open(&home.path().join(name))).into_iter().filter(|line| line.get("edge").is_some()).collect()
    };
    let csv = of("a.csv");
    assert_eq!(csv[0]["properties"], json!({"v": "", "n": "18446744073709551616", "tiny": "1e-400"}));
    assert_eq!(csv[1]["properties"], json!({"n": "1", "tiny": "1e-3"}));
    let tsv = of("b.tsv");
    assert_eq!((&tsv[0]["ends"], &tsv[0]["properties"]["v"]), (&json!(["a", "b"]), &json!("x")));
    assert_eq!((&tsv[1]["ends"], &tsv[1]["properties"]["v"]), (&json!(["a", "c"]), &json!("y\"")));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    /// Whatever stands in cells of CSV and of JSON lines, its digits come back.
    #[test]
    fn numbers_come_back_as_they_are_written(
        numbers in proptest::collection::vec("-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE]-?[0-9]{1,3})?", 1..5),
    ) {
        let number = |text: &str| {
            let plain = text.to_lowercase();
            let (mantissa, exponent) = plain.split_once('e').unwrap_or((&plain, "0"));
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
            let (kept, sign) = (digits.trim_start_matches('0').trim_end_matches('0').to_owned(), whole.starts_with('-'));
            let zeros = digits.trim_start_matches('0').len() - kept.len();
            let power = exponent.parse::<i64>().unwrap() - fraction.len() as i64 + zeros as i64;
            if kept.is_empty() { ("0".to_owned(), sign, 0) } else { (kept, sign, power) }
        };
        let csv: String = (0..).zip(&numbers).map(|(at, number)| format!("{at},{number}\n")).collect();
        let json: String = (0..).zip(&numbers).map(|(at, number)| format!("{{\"id\":{at},\"v\":{number}}}\n")).collect();
        for files in [
            [("nodes.csv", format!("id,v\n{csv}")), ("edges.csv", "source,target\n0,0\n".to_owned())],
            [("nodes.jsonl", json), ("edges.jsonl", "{\"source\":0,\"target\":0}\n".to_owned())],
        ] {
            let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
            let home = directory(&files);
            let mut text = Vec::new();
            let resources = isomorph_storage::Resources::of_this_machine().unwrap();
            isomorph_convert::dump(open(home.path()).graph.as_ref(), &mut text, &resources, &isomorph_convert::Silent).unwrap();
            let text = String::from_utf8(text).unwrap();
            let found = text.lines().filter(|line| line.starts_with("{\"node\"")).map(|line| {
                let value = line.split_once("\"v\":").unwrap().1;
                let value = value.trim_start_matches([' ', '"']);
                value.split(['"', '}', ',']).next().unwrap().trim().to_owned()
            });
            for (found, written) in found.zip(&numbers) {
                // A double of 17 digits may be spelt in fewer.
                let same = number(&found) == number(written) || found.parse::<f64>().unwrap() == written.parse::<f64>().unwrap()
                    && number(written).0.len() <= 17;
                prop_assert!(same, "{} {}: {}", files[0].0, written, found);
            }
        }
    }
}

#[test]
fn a_category_of_kgx_may_be_a_list_or_one_text() {
    let home = directory(&[
        (
            "nodes.jsonl",
            "{\"id\":\"a\",\"category\":[\"P\",\"Q\"]}\n{\"id\":\"b\",\"category\":\"P\"}\n{\"id\":\"c\"}\n",
        ),
        ("edges.jsonl", "{\"subject\":\"a\",\"predicate\":\"r\",\"object\":\"b\"}\n"),
    ]);
    let mut text = Vec::new();
    isomorph_convert::dump(
        open(home.path()).graph.as_ref(),
        &mut text,
        &isomorph_storage::Resources::of_this_machine().unwrap(),
        &isomorph_convert::Silent,
    )
    .unwrap();
    let lines: Vec<Value> =
        text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let labels: Vec<&Value> =
        lines.iter().filter(|line| line["node"].is_string()).map(|line| &line["labels"]).collect();
    assert_eq!(labels[..2], [&json!(["P", "Q"]), &json!(["P"])]);
}

#[test]
fn ids_of_edges_of_kgx_may_be_anything() {
    let nodes = "{\"id\":\"a:1\",\"category\":[\"x\"]}\n";
    let edge = |id: &str| format!("{{\"id\":{id},\"subject\":\"a:1\",\"predicate\":\"b:c\",\"object\":\"a:1\"}}\n");
    for (ids, ty) in [(["1", "2"], "int64"), (["\"e\"", "\"f\""], "string"), (["1", "\"f\""], "string")] {
        let home = directory(&[("nodes.jsonl", nodes), ("edges.jsonl", &ids.map(edge).concat())]);
        let opened = open(home.path());
        assert_eq!(columns(opened.graph.graph())[1], format!("node b:c node: id {ty}"));
        let all = lines(&opened).into_iter().filter(|line| line.get("edge").is_some());
        let all: Vec<Value> = all.map(|line| line["properties"]["id"].clone()).collect();
        assert_eq!(all, ids.map(|id| serde_json::from_str::<Value>(id).unwrap()));
    }
}
