//! `isomorph cypher` as a process: the examples of its page and of its help, forms of output, exit codes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

struct Done {
    code: i32,
    out: String,
    err: String,
}

/// Runs the command in the workspace.
fn run(arguments: &[&str], input: &str) -> Done {
    let mut child = Command::new(env!("CARGO_BIN_EXE_isomorph"))
        .args(arguments)
        .current_dir(workspace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input may have ended.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Done { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn ask(arguments: &[&str]) -> Done {
    run(&[&["cypher"], arguments].concat(), "")
}

/// The words of a line of a shell with single quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    for one in line.chars() {
        match one {
            '\'' => (quoted, any) = (!quoted, true),
            ' ' if !quoted => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            _ => word.push(one),
        }
    }
    words.push(word);
    words
}

#[test]
fn the_examples_of_the_page_have_this_output() {
    let page = fs::read_to_string(workspace().join("docs/cypher.md")).unwrap();
    let mut count = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let (command, expected) = block.strip_prefix("$ isomorph ").unwrap().split_once('\n').unwrap();
        let arguments = words(command);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let done = run(&arguments, "");
        assert_eq!((done.code, done.out.as_str()), (0, expected), "{command}: {}", done.err);
        count += 1;
    }
    assert!(count >= 5, "only {count} examples");
}

#[test]
fn the_examples_of_the_help_work() {
    let help = ask(&["--help"]).out;
    let examples: Vec<&str> = help.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(examples.len(), 3, "{help}");
    for example in examples {
        let arguments = words(example.trim().strip_prefix("isomorph ").unwrap());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let done = run(&arguments, "");
        assert_eq!(done.code, 0, "{example}: {}", done.err);
        assert!(done.out.lines().count() > 1, "{example}: {}", done.out);
    }
}

#[test]
fn output_has_forms_of_text() {
    let query =
        "UNWIND [1, null, 'a,\"b', '', [1.5, {x: true}], date('2024-02-29'), 0.0 / 0.0] AS v RETURN v, 1 AS one";
    let form = |form: &str| ask(&["examples/social", query, "--format", form]);
    assert_eq!(
        form("csv").out,
        "v,one\n1,1\n,1\n\"a,\"\"b\",1\n\"\",1\n\"[1.5,{\"\"x\"\":true}]\",1\n2024-02-29,1\nNaN,1\n"
    );
    let rows = "[{\"v\":1,\"one\":1},{\"v\":null,\"one\":1},{\"v\":\"a,\\\"b\",\"one\":1},{\"v\":\"\",\"one\":1},\
                {\"v\":[1.5,{\"x\":true}],\"one\":1},{\"v\":\"2024-02-29\",\"one\":1},{\"v\":\"NaN\",\"one\":1}]";
    let expected: serde_json::Value = serde_json::from_str(rows).unwrap();
    for done in [form("json"), ask(&["examples/social", query, "--json"])] {
        assert_eq!(serde_json::from_str::<serde_json::Value>(&done.out).unwrap(), expected);
    }
    let lines: Vec<serde_json::Value> =
        form("jsonl").out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(serde_json::Value::Array(lines), expected);
    let table = form("table");
    assert!(table.out.starts_with("v ") && table.out.lines().count() == 8, "{}", table.out);
    assert_eq!(table.err, "answer   7 rows\n");
    let none = ask(&["examples/social", "UNWIND [] AS v RETURN v", "--format", "json"]);
    assert_eq!(none.out, "[]\n");
}

#[test]
fn queries_come_from_arguments_files_and_standard_input() {
    let home = tempfile::tempdir().unwrap();
    let (file, out) = (home.path().join("q.cypher"), home.path().join("out.csv"));
    fs::write(&file, "RETURN $a AS a, $b AS b, $c AS c").unwrap();
    let (file, out) = (file.display().to_string(), out.display().to_string());
    let parameters = ["--param", "a=[1,\"x\"]", "--param", "b=plain text", "--param", "c=null", "--format", "jsonl"];
    let done = ask(&[&["examples/social", "-f", &file], &parameters[..]].concat());
    assert_eq!(done.out, "{\"a\":[1,\"x\"],\"b\":\"plain text\",\"c\":null}\n", "{}", done.err);
    let done = run(&["cypher", "examples/social", "-", "--format", "csv"], "RETURN 1 AS x");
    assert_eq!(done.out, "x\n1\n", "{}", done.err);
    let to_file = ["examples/social", "RETURN 1 AS x", "--format", "csv", "-o", &out];
    assert_eq!(ask(&to_file).code, 0);
    assert_eq!(fs::read_to_string(&out).unwrap(), "x\n1\n");
    let again = ask(&to_file);
    assert_eq!(again.code, 2, "{}", again.err);
    let failed = home.path().join("failed.csv").display().to_string();
    let done = ask(&["examples/social", "UNWIND [1, 0] AS x RETURN 1 / x", "--format", "csv", "-o", &failed]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "no partial output is left");
}

#[test]
fn exit_codes_tell_errors_apart() {
    for (query, code, said) in [
        ("MATCH (n RETURN n", 2, "line 1, column"),
        ("MATCH (n) RETURN m", 2, "variable m is not defined"),
        ("MATCH (n) SET n.x = 1", 3, "SET changes data"),
        ("RETURN 1 / 0", 2, "divided by zero"),
        ("UNWIND [1, 'a'] AS x RETURN x * 2", 2, "TypeError"),
    ] {
        let done = ask(&["examples/social", query]);
        assert_eq!(done.code, code, "{query}: {}", done.err);
        assert!(done.err.contains(said), "{query}: {}", done.err);
    }
    assert_eq!(ask(&["examples/nothing", "RETURN 1"]).code, 3);
    let slow = "MATCH (a), (b), (c) RETURN count(*)";
    let done = ask(&["examples/social", slow, "--timeout", "10ms"]);
    assert_eq!(done.code, 5, "{}", done.err);
    assert!(done.err.contains("time limit"), "{}", done.err);
    let done = ask(&["examples/social", "MATCH (a), (b) RETURN collect(a.firstName)", "--memory", "16MiB"]);
    assert_eq!(done.code, 3, "{}", done.err);
    assert!(done.err.contains("--memory"), "{}", done.err);
}

/// A graph of tables, made by queries.
#[cfg(feature = "query")]
fn tables(nodes: &str) -> (tempfile::TempDir, String) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().display().to_string();
    for (name, query) in [("nodes", nodes), ("edges", "select 1 as source, 2 as target")] {
        let file = format!("{path}/{name}.parquet");
        let done = run(&["sql", "examples/social", query, "-o", &file], "");
        assert_eq!(done.code, 0, "{}", done.err);
    }
    (home, path)
}

#[cfg(feature = "query")]
#[test]
fn a_column_without_a_type_of_opencypher_is_an_error_only_if_it_is_wanted() {
    let (_home, graph) = tables(
        "select id, cast(price as decimal(9, 2)) as price, at from (values (1, 1.5, timestamp '2024-08-09T12:05:06'), \
         (2, null, null)) t(id, price, at)",
    );
    for query in [
        "MATCH (a {id: 1}) RETURN a.id AS id",
        "MATCH (a) WHERE a.id = 1 RETURN a.id AS id",
        "MATCH (a {id: 1})-[*1..2]->(b) RETURN a.id AS id",
        "MATCH p = shortestPath((a {id: 1})-[*]->(b {id: 2})) RETURN a.id AS id",
    ] {
        let done = ask(&[&graph, query, "--format", "csv"]);
        assert_eq!((done.code, done.out.as_str()), (0, "id\n1\n"), "{query}: {}", done.err);
    }
    for query in ["MATCH (a {id: 1}) RETURN a.price", "MATCH (a {id: 1}) RETURN a", "MATCH (a) RETURN a.price"] {
        let done = ask(&[&graph, query]);
        assert!(done.code == 3 && done.err.contains("price") && done.err.contains("isomorph sql"), "{}", done.err);
    }
}

#[test]
fn numbers_beyond_opencypher_are_refused_as_parameters() {
    for value in ["18446744073709551615", "1e400", "[1, 9223372036854775808]", "{\"a\": 1e999}"] {
        let done = ask(&["examples/social", "RETURN $x", "--param", &format!("x={value}")]);
        assert!(done.code == 2 && done.err.contains("no 64-bit integer"), "{value}: {} {}", done.out, done.err);
    }
    let done = ask(&["examples/social", "RETURN $x", "--param", "x=-9223372036854775808", "--format", "csv"]);
    assert_eq!(done.out, "$x\n-9223372036854775808\n", "{}", done.err);
}

#[test]
fn rounding_is_exact() {
    let query = "UNWIND [4503599627370497.0, -4503599627370497.0, 0.49999999999999994, 0.5, -0.5, -1.5, 2.5] AS x \
                 RETURN toInteger(round(x)) AS r";
    let done = ask(&["examples/social", query, "--format", "csv"]);
    assert_eq!(done.out, "r\n4503599627370497\n-4503599627370497\n0\n1\n0\n-1\n3\n", "{}", done.err);
}

#[test]
fn patterns_that_the_parser_refuses_are_answered() {
    for (query, out) in [
        ("MATCH (p:person) WHERE EXISTS { (p)-[:livesIn]->(:city {name: 'Lisbon'}) } RETURN count(*) AS n", "n\n9\n"),
        ("MATCH (a:city|person)-[:wrote]->(b:post) RETURN count(*) AS n", "n\n800\n"),
        ("RETURN COUNT { (:Teacher) } > 100", "COUNT { (:Teacher) } > 100\ntrue\n"),
    ] {
        let done = ask(&["examples/social", query, "--format", "csv"]);
        assert_eq!((done.code, done.out.as_str()), (0, out), "{query}: {}", done.err);
    }
    let done = ask(&["examples/social", "MATCH (a:A|B)-->(b:C) RETURN d"]);
    assert!(done.err.contains("variable d is not defined at line 1, column 30"), "{}", done.err);
}

#[test]
fn unknown_properties_are_told() {
    let done = ask(&["examples/social", "MATCH (p:person {fristName: 'Zoë'}) RETURN count(*)", "--format", "csv"]);
    assert_eq!((done.code, done.out.as_str()), (0, "count(*)\n0\n"));
    assert!(done.err.contains("has the property fristName, did you mean firstName?"), "{}", done.err);
}

#[cfg(feature = "query")]
#[test]
fn answers_are_files_of_columns() {
    let home = tempfile::tempdir().unwrap();
    let query = "UNWIND [1, 2] AS n OPTIONAL MATCH (p:person {id: 1006 + n}) RETURN n, p.id AS id, p.firstName AS name, \
                 p.birthday AS born, localdatetime('2024-02-29T10:00:00.5') AS at, datetime('2024-02-29T10:00:00+01:00') AS \
                 zoned, n / 2.0 AS half, n > 1 AS large, [n, null] AS list, labels(p) AS labels, \
                 CASE n WHEN 1 THEN 1 ELSE 'x' END AS mixed, null AS nothing";
    for file in ["a.parquet", "a.arrow"] {
        let path = home.path().join(file).display().to_string();
        let done = ask(&["examples/social", query, "-o", &path]);
        assert_eq!(done.code, 0, "{}", done.err);
        assert!(done.out.contains("(2 rows)"), "{}", done.out);
        let back = run(&["sql", &path, "select * from a order by n", "--format", "json"], "");
        let rows: serde_json::Value = serde_json::from_str(&back.out).unwrap_or_else(|_| panic!("{}", back.err));
        assert_eq!(rows[0]["id"], 1007, "{file}: {rows}");
        assert_eq!(rows[0]["born"], "1962-05-10");
        assert_eq!((&rows[0]["half"], &rows[1]["large"]), (&serde_json::json!(0.5), &serde_json::json!(true)));
        assert_eq!((&rows[1]["id"], &rows[1]["name"]), (&serde_json::Value::Null, &serde_json::Value::Null));
        assert_eq!(
            (&rows[0]["list"], &rows[0]["labels"]),
            (&serde_json::json!("[1,null]"), &serde_json::json!("[\"Teacher\",\"person\"]"))
        );
        assert_eq!((&rows[0]["mixed"], &rows[1]["mixed"]), (&serde_json::json!("1"), &serde_json::json!("\"x\"")));
        assert!(rows[0]["at"].as_str().unwrap().starts_with("2024-02-29T10:00:00.5"), "{rows}");
        assert!(rows[0]["zoned"].as_str().unwrap().starts_with("2024-02-29T09:00:00"), "{rows}");
    }
}

#[test]
fn instants_in_utc_are_written_with_z() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("nodes.csv"), "id,at\n1,2024-08-09T12:05:06Z\n2,\n").unwrap();
    fs::write(home.path().join("edges.csv"), "source,target\n1,2\n").unwrap();
    let graph = home.path().display().to_string();
    let query = "MATCH (a) RETURN a.id AS id, a.at AS at, datetime({year: 2024, timezone: 'Europe/Berlin'}) AS named";
    let done = ask(&[&graph, query, "--format", "csv"]);
    let named = "2024-01-01T00:00+01:00[Europe/Berlin]";
    assert_eq!(done.out, format!("id,at,named\n1,2024-08-09T12:05:06Z,{named}\n2,,{named}\n"), "{}", done.err);
}
