//! `sql`: its page, its outputs, its errors.
#![cfg(feature = "query")]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Home, social};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// A directory with the examples.
fn home() -> Home {
    let home = Home::new();
    copy(Path::new(&social()).parent().unwrap(), &home.at("examples"));
    home
}

/// Whether the output of a command is the same each time.
fn is_told(command: &str) -> bool {
    !command.contains("isomorph convert") && !command.contains("analyze")
}

/// Every command of the page runs, and prints what the page shows. `UPDATE_SCREENS=1` writes that.
#[test]
fn the_page_shows_what_commands_print() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/query.md");
    let text = fs::read_to_string(&page).unwrap();
    let home = home();
    let binary = Path::new(env!("CARGO_BIN_EXE_isomorph")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(binary.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let path = path.unwrap();
    let (mut written, mut inside, mut asked) = (String::new(), false, 0);
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
            written.push_str(&format!("{line}\n"));
            continue;
        }
        if !inside {
            written.push_str(&format!("{line}\n"));
            continue;
        }
        let Some(command) = line.strip_prefix("$ ") else { continue };
        let (command, wanted) = match command.split_once("    # exits with ") {
            Some((command, code)) => (command.trim(), code.parse().unwrap()),
            None => (command, 0),
        };
        let done =
            Command::new("sh").args(["-c", command]).current_dir(home.path()).env("PATH", &path).output().unwrap();
        let error = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(wanted), "{command}: {error}");
        asked += usize::from(command.contains("isomorph sql"));
        written.push_str(&format!("{line}\n"));
        if is_told(command) {
            written.push_str(&String::from_utf8(done.stdout).unwrap());
        }
    }
    assert!(asked > 30, "{asked} questions");
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        fs::write(&page, &written).unwrap();
    }
    assert_eq!(written, text, "UPDATE_SCREENS=1 writes the page");
}

#[test]
fn answers_have_every_form() {
    let home = home();
    let question = "select id, firstName, birthday, _labels, id / 2.0 as half from person where id in (1000, 1007, 1021) order by id";
    let asked = |more: &[&str]| home.run(&[&["sql", "examples/social", question], more].concat()).exits(0);
    let json = asked(&["--format", "json"]).json();
    let rows = json.as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["id"]), (3, &serde_json::json!(1000)));
    assert!(rows[0]["birthday"].as_str().unwrap().len() == 10 && rows[0]["half"] == 500.0, "{json}");
    assert_eq!(asked(&["--json"]).json(), json);
    let lines = asked(&["--format", "jsonl"]);
    let each: Vec<serde_json::Value> = lines.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(serde_json::Value::Array(each), json);
    assert_eq!(lines.err.trim(), "answer   3 rows");
    let csv = asked(&["--format", "csv"]).out;
    assert!(csv.starts_with("\"id\",\"firstName\",\"birthday\",\"_labels\",\"half\"\n1000,"), "{csv}");
    for file in ["a.parquet", "a.arrow", "a.csv", "a.jsonl"] {
        asked(&["-o", file]);
        let back = home.run(&["sql", file, "select id, half from a order by id", "--format", "json"]).exits(0);
        let half: Vec<_> = back.json().as_array().unwrap().iter().map(|row| row["half"].clone()).collect();
        assert_eq!(half, [500.0, 503.5, 510.5], "{file}");
    }
    assert_eq!(
        home.run(&["sql", "examples/social", "select 1 as a where false", "--format", "json"]).exits(0).out,
        "[]\n"
    );
}

#[test]
fn a_value_has_one_spelling_in_all_texts() {
    let home = home();
    let question = "select true as b, 1.5e0 as f, cast('nan' as double) as nan, cast(1.50 as decimal(5, 2)) as d, date '2024-01-02' as day, \
        timestamp '2024-01-02 03:04:05' as at, time '03:04:05' as time, arrow_cast(86400005, 'Duration(Millisecond)') as length, \
        interval '1 month 2 days 3.5 seconds' as span, X'78' as bytes, [X'78'] as list, struct(1 as a, X'78' as b) as object, \
        map {'k': interval '1 day'} as map, null as none";
    let ask = |more: &[&str]| home.run(&[&["sql", "examples/social", question], more].concat()).exits(0);
    let expected = serde_json::json!({
        "b": true, "f": 1.5, "nan": "NaN", "d": 1.5, "day": "2024-01-02", "at": "2024-01-02T03:04:05", "time": "03:04:05",
        "length": "PT24H0.005S", "span": "P1M2DT3.5S", "bytes": "eA==", "list": ["eA=="], "object": {"a": 1, "b": "eA=="},
        "map": [{"key": "k", "value": "P1D"}], "none": null,
    });
    assert_eq!(ask(&["--format", "json"]).json(), serde_json::json!([expected]));
    let line = ask(&["--format", "jsonl"]).out;
    assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), expected);
    let csv = ask(&["--format", "csv"]).out;
    let cells = "true,1.5,nan,1.50,2024-01-02,2024-01-02 03:04:05.000000,03:04:05,PT24H0.005S,P1M2DT3.5S,eA==";
    assert!(csv.lines().nth(1).unwrap().starts_with(cells), "{csv}");
    let table = ask(&["--format", "table"]).out;
    for cell in ["NaN", "1.50", "2024-01-02T03:04:05", "PT24H0.005S", "P1M2DT3.5S", "eA==", "[eA==]", "P1D"] {
        assert!(table.contains(cell), "{cell}: {table}");
    }
    // Files of columns keep types, and are tables with the same values.
    for (file, length) in [("types.parquet", "Duration(ms)"), ("types.arrow", "Duration(ms)")] {
        let without_map = question.replace(", map {'k': interval '1 day'} as map", "");
        home.run(&["sql", "examples/social", &without_map, "-o", file]).exits(0);
        let asked = |query: &str| home.run(&["sql", file, query, "--format", "csv"]).exits(0).out;
        assert_eq!(
            asked("select arrow_typeof(length) as t, arrow_typeof(bytes) as b from types").lines().nth(1).unwrap(),
            format!("{length},Binary")
        );
        let cells = "PT24H0.005S,P1M2DT3.5S,eA==";
        assert_eq!(asked("select length, span, bytes from types").lines().nth(1), Some(cells), "{file}");
    }
    home.run(&["sql", "examples/social", question, "-o", "map.arrow"]).exits(0);
}

#[test]
fn durations_of_files_are_durations_of_open_cypher() {
    let home = home();
    let nodes = "select 1 as id, arrow_cast(86400005, 'Duration(Millisecond)') as length union all select 2, null";
    fs::create_dir(home.at("g")).unwrap();
    home.run(&["sql", "examples/social", nodes, "-o", "g/A.parquet"]).exits(0);
    let graph = "CREATE EXTERNAL TABLE A STORED AS PARQUET LOCATION 'A.parquet';\n\
        CREATE PROPERTY GRAPH g VERTEX TABLES (A KEY (id) LABEL A);\n";
    home.write("g/graph.pgq", graph);
    let query = "MATCH (a:A) RETURN a.id AS id, a.length AS length, a.length.milliseconds AS ms, a.length + duration('PT1S') AS more ORDER BY id";
    let csv = home.run(&["cypher", "g", query, "--format", "csv"]).exits(0).out;
    assert_eq!(csv, "id,length,ms,more\n1,PT24H0.005S,86400005,PT24H1.005S\n2,,,\n");
    let table = "select length from graph_table (graph match (a:A) columns (a.length)) t order by length";
    let sql = home.run(&["sql", "g", table, "--format", "jsonl"]).exits(0).out;
    assert_eq!(sql, "{\"length\":\"PT24H0.005S\"}\n{\"length\":null}\n");
}

#[test]
fn a_file_without_rows_is_a_table() {
    let home = home();
    let empty = "select id as k, firstName as s from person where false";
    for file in ["empty.parquet", "empty.arrow"] {
        home.run(&["sql", "examples/social", empty, "-o", file, "--replace"]).exits(0);
        let asked = |query: &str| home.run(&["sql", file, query, "--format", "json"]).exits(0).out;
        assert_eq!(asked("select count(*) as n, max(k) as k from empty"), "[\n{\"n\":0,\"k\":null}\n]\n", "{file}");
        assert_eq!(asked("select s from empty"), "[]\n", "{file}");
        let joined = "select count(*) as n from person left join empty on k = id";
        let beside = home.run(&["sql", "examples/social", file, joined, "--format", "csv"]).exits(0);
        assert_eq!(beside.out, "\"n\"\n500\n", "{file}");
    }
}

#[test]
fn averages_of_integers_are_those_of_sql() {
    let home = home();
    let cypher =
        "MATCH (p:person)-[:livesIn]->(c:city) RETURN p.gender AS gender, avg(c.population) AS mean ORDER BY gender";
    let sql = "select gender, avg(population) as mean from person p join livesIn on _source = p.id join city c on c.name = _target group by gender order by gender";
    let of = |language: &str, query: &str| {
        home.run(&[language, "examples/social", query, "--format", "json"]).exits(0).json()
    };
    assert_eq!(of("cypher", cypher), of("sql", sql));
}

#[test]
fn a_null_alone_in_csv_names_the_way_out() {
    let home = home();
    let ask = |format: &str| {
        home.run(&[
            "sql",
            "examples/social",
            "select email from person where email is null limit 1",
            "--format",
            format,
        ])
    };
    let refused = ask("csv").exits(3);
    assert!(refused.err.contains("--format jsonl"), "{}", refused.err);
    assert_eq!(ask("jsonl").exits(0).out, "{\"email\":null}\n");
}

#[test]
fn a_file_is_published_once() {
    let home = home();
    let ask = |more: &[&str]| home.run(&[&["sql", "examples/social", "select 1 as a", "-o", "a.csv"], more].concat());
    ask(&[]).exits(0);
    assert_eq!(fs::read_to_string(home.at("a.csv")).unwrap(), "\"a\"\n1\n");
    let again = ask(&[]);
    assert!(again.code != 0 && again.err.contains("exists"), "{}", again.err);
    ask(&["--replace"]).exits(0);
    let failed = home.run(&["sql", "examples/social", "select 1 / (id - 1007) from person", "-o", "b.csv"]);
    assert!(failed.code != 0 && !home.at("b.csv").exists());
    let left: Vec<String> = home.names().into_iter().filter(|name| name.contains("b.csv")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn errors_are_those_of_other_commands() {
    let home = home();
    let ask = |question: &str| home.run(&["sql", "examples/social", question, "--json"]);
    let syntax = ask("select id\nfrom person where (id = 1").exits(2);
    assert_eq!(syntax.error()["error"]["place"]["field"], "column 26", "{}", syntax.err);
    ask("delete from person").exits(3);
    ask("select * from nothing").exits(2);
    assert_eq!(home.run(&["sql", "examples/social"]).code, 2);
    assert_eq!(home.run(&["sql", "nowhere", "select 1"]).code, 3);
    let late = home.run(&[
        "sql",
        "examples/social",
        "--timeout",
        "1",
        "with recursive r as (select 1 as n union all select n + 1 from r) select count(*) from r",
    ]);
    assert!(late.code == 5 && late.err.contains("no answer after 1 s"), "{}", late.err);
}

#[test]
fn queries_are_explained_in_all_languages() {
    let home = home();
    let person = "select gender, count(*) from person group by gender";
    let plan = |arguments: &[&str]| home.run(arguments).exits(0).out;
    // The words of a language and the flag are the same.
    let flag = plan(&["sql", "examples/social", person, "--explain", "--threads", "1"]);
    assert_eq!(plan(&["sql", "examples/social", &format!("EXPLAIN {person}"), "--threads", "1"]), flag);
    assert!(flag.contains("physical plan") && flag.contains("person") && flag.contains("predicted"), "{flag}");
    let count = "MATCH (p:person)-[:livesIn]->(c) RETURN c.name, count(*)";
    let cypher = plan(&["cypher", "examples/social", count, "--explain"]);
    assert_eq!(plan(&["cypher", "examples/social", &format!("explain {count}")]), cypher);
    assert!(cypher.contains("match (:person)-[:livesIn]->(): one pass over the tables"), "{cypher}");
    let read = |arguments: &[&str]| {
        let document = home.run(&[arguments, &["--json"]].concat()).exits(0).json();
        let ran = &document["ran"];
        (document["predicted_bytes"].as_u64().unwrap(), ran["bytes"].as_u64().unwrap(), ran["rows"].as_u64().unwrap())
    };
    for arguments in [
        &["sql", "examples/social", person, "--explain=analyze"][..],
        &["sql", "examples/social", &format!("explain analyze {person}")],
    ] {
        let (predicted, bytes, rows) = read(arguments);
        assert_eq!(rows, 3, "{arguments:?}");
        // Only the column is read, and metadata of its file.
        assert!(predicted > 0 && bytes >= predicted && bytes < predicted + 30_000, "{predicted}: {bytes}");
    }
    let (_, bytes, rows) = read(&["cypher", "examples/social", &format!("PROFILE {count}")]);
    assert!(bytes > 0 && rows == 40, "{bytes} {rows}");
    let knows = "SELECT ?who { ?who <http://example.org/knows> ?other }";
    let (predicted, bytes, rows) = read(&["sparql", "examples/people.ttl", knows, "--explain=analyze"]);
    // The text, and the sorted copy of it that is asked.
    assert!(predicted > 0 && bytes >= predicted && rows == 3, "{predicted}: {bytes}");
    // Errors are where the query has them.
    let error = home.run(&["cypher", "examples/social", "EXPLAIN MATCH (n) RETURN m"]).exits(2).err;
    assert!(error.contains("column 26"), "{error}");
    let error = home.run(&["sql", "examples/social", "explain analyze select nothing from person"]).exits(2).err;
    assert!(error.contains("column 24"), "{error}");
    home.run(&["sql", "examples/social", person, "--explain", "--format", "csv"]).exits(2);
}
