//! `sparql` and `lake update`, and the examples of `docs/sparql.md`.

use std::fs;
use std::path::Path;

use arrow_cast::base64::{BASE64_STANDARD, Engine as _};

use crate::support::{Home, still};

const NS: [&str; 2] = ["--ns", "e=http://e.org/"];

const LINES: &str = r#"<http://e.org/a> <http://e.org/p> <http://e.org/b> .
<http://e.org/a> <http://e.org/name> "Ann"@en <http://e.org/g> .
<http://e.org/b> <http://e.org/p> <http://e.org/c> .
<http://e.org/b> <http://e.org/age> "07"^^<http://www.w3.org/2001/XMLSchema#integer> .
_:x <http://e.org/p> <http://e.org/a> .
"#;

fn home() -> Home {
    let home = Home::new();
    home.write("a.nq", LINES);
    home
}

fn ask(home: &Home, path: &str, query: &str, more: &[&str]) -> crate::support::Done {
    let mut words = vec!["sparql", path, query];
    words.extend(NS);
    words.extend(more);
    home.run(&words)
}

#[test]
fn answers_have_all_formats() {
    let home = home();
    let csv = ask(&home, "a.nq", "SELECT ?s ?o { ?s e:p ?o } ORDER BY ?s", &["--format", "csv"]).exits(0).out;
    assert_eq!(csv, "s,o\r\n_:x,http://e.org/a\r\nhttp://e.org/a,http://e.org/b\r\nhttp://e.org/b,http://e.org/c\r\n");
    let tsv = ask(&home, "a.nq", "SELECT ?o { ?s e:age ?o }", &["--format", "tsv"]).exits(0).out;
    assert!(tsv.contains("07"), "{tsv}");
    let json = ask(&home, "a.nq", "SELECT ?o ?g { GRAPH ?g { ?s e:name ?o } }", &["--json"]).exits(0).json();
    assert_eq!(json["results"]["bindings"][0]["o"]["xml:lang"], "en");
    assert_eq!(json["results"]["bindings"][0]["g"]["value"], "http://e.org/g");
    let xml = ask(&home, "a.nq", "ASK { ?s e:p ?o }", &["--format", "xml"]).exits(0).out;
    assert!(xml.contains("<boolean>true</boolean>"), "{xml}");
    let table = ask(&home, "a.nq", "SELECT ?s ?o { ?s e:p ?o }", &["--limit", "2"]).exits(0);
    assert!(table.out.starts_with("?s ") && table.out.lines().count() == 3, "{}", table.out);
    assert!(table.err.contains("the first 2 solutions") && table.err.contains("--limit 20"), "{}", table.err);
    assert_eq!(ask(&home, "a.nq", "ASK { ?s e:none ?o }", &[]).exits(1).out, "no\n");
    let text =
        ask(&home, "a.nq", "CONSTRUCT { ?o e:q ?s } { ?s e:p ?o FILTER(?o = e:b) }", &["--format", "nt"]).exits(0).out;
    assert_eq!(text, "<http://e.org/b> <http://e.org/q> <http://e.org/a> .\n");
    let turtle = ask(&home, "a.nq", "DESCRIBE e:b", &["--format", "ttl"]).exits(0).out;
    assert!(turtle.contains("@prefix e: <http://e.org/>") && turtle.contains("e:b"), "{turtle}");
    // 07 is an integer, too.
    ask(&home, "a.nq", "SELECT ?s ?n { ?s e:age ?n }", &["-o", "answer.arrow"]).exits(0);
    let file = fs::File::open(home.at("answer.arrow")).unwrap();
    let mut reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
    let batch = reader.next().unwrap().unwrap();
    assert_eq!(batch.schema().field(1).data_type(), &arrow_schema::DataType::Int64);
    assert_eq!((batch.num_rows(), batch.schema().field(0).metadata()["isomorph.term"].as_str()), (1, "iri"));
    ask(&home, "a.nq", "SELECT ?s ?n { ?s e:age ?n }", &["-o", "terms.parquet"]).exits(0);
    let bytes = fs::read(home.at("terms.parquet")).unwrap();
    let begins = |text: &[u8]| bytes.windows(text.len()).position(|window| window == text).unwrap();
    // A schema begins with four bytes of ones.
    assert!(begins(b"ARROW:schema") < begins(b"/////"));
    let base64 = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let text: Vec<u8> = bytes[begins(b"/////")..].iter().take_while(base64).copied().collect();
    let schema = BASE64_STANDARD.decode(text).unwrap();
    assert!(schema.windows(13).any(|window| window == b"isomorph.term"));
    ask(&home, "a.nq", "DESCRIBE e:b", &["-o", "answer.parquet"]).exits(0);
    assert!(fs::read(home.at("answer.parquet")).unwrap().starts_with(b"PAR1"));
    for (query, format) in [("SELECT * { ?s ?p ?o }", "ttl"), ("DESCRIBE e:b", "csv"), ("ASK {}", "parquet")] {
        let refused = ask(&home, "a.nq", query, &["--format", format]).exits(2).err;
        assert!(refused.contains("cannot store") && refused.contains("--format"), "{refused}");
    }
}

#[test]
fn integers_beyond_64_bits_are_numbers() {
    let home = home();
    let texts = ["18446744073709551615", "9223372036854775808", "100000000000000000000"];
    let lines = texts.map(|text| {
        format!("<http://e.org/a> <http://e.org/u> \"{text}\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n")
    });
    home.write("u.nt", lines.concat());
    let csv = |query: &str| ask(&home, "u.nt", query, &["--format", "csv"]).exits(0).out.replace('\r', "");
    assert_eq!(
        csv("SELECT (MAX(?v) AS ?m) (SUM(?v) AS ?s) { ?a e:u ?v }"),
        "m,s\n100000000000000000000,127670116110564327423\n"
    );
    assert_eq!(csv("SELECT (COUNT(*) AS ?n) { ?a e:u ?v FILTER(?v > 0) }"), "n\n3\n");
    assert_eq!(csv("SELECT (COUNT(*) AS ?n) { ?a e:u ?v FILTER(?v > 18446744073709551614) }"), "n\n2\n");
    assert_eq!(
        csv("SELECT ?v { { ?a e:u ?v } UNION { VALUES ?v { 2.5 } } } ORDER BY ?v"),
        "v\n2.5\n9223372036854775808\n18446744073709551615\n100000000000000000000\n"
    );
}

#[test]
fn an_output_file_appears_when_it_is_complete() {
    let home = home();
    let query = "SELECT ?s { ?s e:p ?o }";
    ask(&home, "a.nq", query, &["-o", "answer.csv"]).exits(0);
    assert!(fs::read_to_string(home.at("answer.csv")).unwrap().starts_with("s\r\n"));
    assert!(ask(&home, "a.nq", query, &["-o", "answer.csv"]).exits(2).err.contains("already exists"));
    ask(&home, "a.nq", query, &["-o", "answer.csv", "--replace", "--format", "tsv"]).exits(0);
    assert!(fs::read_to_string(home.at("answer.csv")).unwrap().starts_with("?s\n"));
    let wrong = ask(&home, "a.nq", "SELECT (e:f(?s) AS ?x) { ?s ?p ?o }", &["-o", "none.csv"]).exits(3).err;
    assert!(wrong.contains("http://e.org/f"), "{wrong}");
    assert!(!home.at("none.csv").exists());
}

#[test]
fn a_query_comes_from_a_file_or_standard_input() {
    let home = home();
    home.write("q.rq", "ASK { ?s e:p ?o }");
    home.run(&["sparql", "a.nq", "-f", "q.rq", NS[0], NS[1]]).exits(0);
    assert!(home.run(&["sparql", "a.nq"]).exits(2).err.contains("QUERY"));
    assert!(home.run(&["sparql", "-", "-"]).exits(2).err.contains("only once"));
}

#[test]
fn errors_are_usage_with_line_and_column() {
    let home = home();
    let refused = ask(&home, "a.nq", "SELECT * {\n ?s ?p }", &[]).exits(2).err;
    assert!(refused.contains("line 2, column 9"), "{refused}");
    let refused = ask(&home, "a.nq", "SELECT * { ?s foaf:name ?o }", &[]).exits(2).err;
    assert!(refused.contains("the prefix foaf: is not declared") && refused.contains("--ns foaf="), "{refused}");
    let refused = ask(&home, "a.nq", "SELECT * { ?s ?p ?o }", &["--param", "x=1"]).exits(2).err;
    assert!(refused.contains("unknown parameter ?x"), "{refused}");
    let refused = ask(&home, "a.nq", "SELECT * { SERVICE <http://e.org/> { ?s ?p ?o } }", &[]).exits(3).err;
    assert!(refused.contains("SERVICE <http://e.org/>"), "{refused}");
    ask(&home, "none.nq", "ASK {}", &[]).exits(3);
}

#[test]
fn the_same_question_has_the_same_answer_in_every_format() {
    let home = Home::new();
    home.write(
        "people.ttl",
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/people.ttl")).unwrap(),
    );
    for (name, more) in [
        ("people.lake", &[][..]),
        ("people.nq", &[]),
        ("people.graphar", &[]),
        ("people.parq", &[]),
        ("people.annnet", &[]),
        ("people.graphml", &[]),
        ("deepgnn", &["--to", "deepgnn"]),
    ] {
        let mut words = vec!["convert", "people.ttl", name];
        words.extend(more);
        home.run(&words).exits(0);
        for query in [
            "SELECT * { ?s ?p ?o } ORDER BY ?s ?p ?o",
            "SELECT ?n { ?s <http://example.org/name> ?n FILTER(lang(?n) = 'de') }",
            "SELECT (COUNT(*) AS ?n) { <http://example.org/ann> <http://example.org/knows>+ ?o }",
            "SELECT ?s { ?s <http://example.org/knows> ?o OPTIONAL { ?o <http://example.org/name> ?n } FILTER(!BOUND(?n)) } ORDER BY ?s",
        ] {
            let answer = |path: &str| home.run(&["sparql", path, query, "--format", "tsv"]).exits(0).out;
            let expected = answer("people.ttl");
            assert!(expected.lines().count() > 1, "{query}: {expected}");
            assert_eq!(answer(name), expected, "{name}: {query}");
        }
    }
}

#[test]
fn the_query_of_a_graph_that_does_not_fit_is_refused() {
    let home = Home::new();
    let mut lines = String::new();
    let long = "x".repeat(600);
    for number in 0..60_000 {
        lines.push_str(&format!("<http://e.org/n{number}> <http://e.org/p{}> \"{number}{long}\" .\n", number % 7));
    }
    home.write("large.nt", lines);
    let refused = ask(&home, "large.nt", "SELECT * { ?s ?p ?o }", &["--memory", "16MiB"]).exits(3).err;
    assert!(refused.contains("--memory") && refused.contains(".lake"), "{refused}");
    home.run(&["lake", "load", "large.lake", "large.nt"]).exits(0);
    let one =
        ask(&home, "large.lake", "SELECT ?o { e:n77 ?p ?o }", &["--memory", "16MiB", "--format", "csv"]).exits(0).out;
    assert_eq!(one, format!("o\r\n77{long}\r\n"));
}

#[test]
fn an_update_is_a_transaction() {
    let home = home();
    home.run(&["lake", "load", "lake", "a.nq"]).exits(0);
    let update = |text: &str| home.run(&["lake", "update", "lake", text, NS[0], NS[1]]);
    let done = update("DELETE { ?s e:p ?o } INSERT { ?o e:r ?s } WHERE { ?s e:p ?o }").exits(0).out;
    assert!(done.contains("deleted 3 triples; inserted 3 triples") && done.contains("version 2"), "{done}");
    assert_eq!(
        ask(&home, "lake", "SELECT ?s { ?s e:r e:a }", &["--format", "csv"]).exits(0).out,
        "s\r\nhttp://e.org/b\r\n"
    );
    assert_eq!(
        ask(&home, "lake@1", "SELECT ?s { ?s e:p e:b }", &["--format", "csv"]).exits(0).out,
        "s\r\nhttp://e.org/a\r\n"
    );
    assert!(update("DELETE DATA { e:none e:p e:b }").exits(0).out.contains("no changes"));
    assert!(update("LOAD <http://e.org/x>").exits(3).err.contains("LOAD"));
    assert!(update("INSERT DATA { e:a e:p ?x }").exits(2).err.contains("line 1"));
    assert!(update("DROP GRAPH e:none").exits(3).err.contains("there is no graph"));
    let json = home.run(&["lake", "update", "lake", "INSERT DATA { <urn:a> <urn:b> 1 }", "--json"]).exits(0).json();
    assert_eq!((json["version"].as_i64(), json["inserts"].as_u64()), (Some(3), Some(1)));
}

/// Runs the examples of the page one after another in a folder with the examples of the repository.
#[test]
fn the_examples_of_the_page_are_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = root.join("docs/sparql.md");
    let page = fs::read_to_string(&path).unwrap();
    let home = Home::new();
    copy(&root.join("examples"), &home.at("examples"));
    let (mut found, mut examples) = (String::new(), 0);
    let mut in_block = false;
    for line in page.lines() {
        match line {
            "```console" => in_block = true,
            "```" => in_block = false,
            _ => {}
        }
        match line.strip_prefix("$ isomorph ").filter(|_| in_block) {
            Some(command) => {
                examples += 1;
                let words = words(command);
                let done = home.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
                // The number of rows goes to standard error.
                let error = if done.code > 1 { done.err.as_str() } else { "" };
                found.push_str(&format!("{line}\n{}{error}", done.out.replace('\r', "")));
            }
            None if in_block && line != "```console" => {}
            None => found.push_str(&format!("{line}\n")),
        }
    }
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        fs::write(&path, &found).unwrap();
    }
    assert!(examples >= 12, "{examples}");
    assert_eq!(still(&found), still(&page), "UPDATE_SCREENS=1 writes the page anew");
}

/// The words of a command line as a shell sees them; there are only single quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            letter => word.push(letter),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}
