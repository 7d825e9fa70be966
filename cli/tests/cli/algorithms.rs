//! `stats`, `paths`, `rank`, `components`: their page, their outputs, their errors.

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

/// Every command of the page runs, and prints what the page shows. `UPDATE_SCREENS=1` writes that.
#[test]
fn the_page_shows_what_commands_print() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/algorithms.md");
    let text = fs::read_to_string(&page).unwrap();
    let home = home();
    let binary = Path::new(env!("CARGO_BIN_EXE_isomorph")).parent().unwrap();
    let before = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(binary.to_owned()).chain(std::env::split_paths(&before))).unwrap();
    let (mut written, mut inside, mut asked) = (String::new(), false, 0);
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            let (command, wanted) = match command.split_once("    # exits with ") {
                Some((command, code)) => (command.trim(), code.parse().unwrap()),
                None => (command, 0),
            };
            let mut shell = Command::new("sh");
            let done = shell.args(["-c", command]).current_dir(home.path()).env("PATH", &path).output().unwrap();
            let error = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(wanted), "{command}: {error}");
            asked += 1;
            written.push_str(&format!("{line}\n{}", String::from_utf8(done.stdout).unwrap()));
            continue;
        } else if inside {
            continue;
        }
        written.push_str(&format!("{line}\n"));
    }
    assert!(asked >= 8, "{asked} commands");
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        fs::write(&page, &written).unwrap();
    }
    assert_eq!(written, text, "UPDATE_SCREENS=1 writes the page");
}

/// A graph in which results are known: a ring of four, a tail, a loop, and a pair.
fn ring(home: &Home) -> &'static str {
    fs::create_dir(home.at("ring")).unwrap();
    fs::write(home.at("ring/nodes.csv"), "id,name\n1,a\n2,b\n3,\n4,d\n5,e\n6,f\n7,g\n8,g\n").unwrap();
    let edges = "source,target,weight\n1,2,1\n2,3,1\n3,4,1\n4,1,1\n1,3,9\n4,5,2\n6,6,1\n7,8,1\n7,8,2\n8,7,1\n";
    fs::write(home.at("ring/edges.csv"), edges).unwrap();
    "ring"
}

#[test]
fn statistics_have_every_form() {
    let home = Home::new();
    let ring = ring(&home);
    let found = home.run(&["stats", ring, "--json"]).exits(0).json();
    let number = |name: &str| found[name].as_u64().unwrap_or(u64::MAX);
    let counts = ["nodes", "edges", "isolated", "loops", "parallel", "dangling", "hyperedges"].map(number);
    assert_eq!(counts, [8, 10, 0, 1, 1, 0, 0], "{found:#}");
    assert_eq!(found["components"]["count"], 3);
    assert_eq!(found["components"]["largest"], 5);
    assert_eq!(found["degree"]["max"], 3);
    assert!((found["reciprocity"].as_f64().unwrap() - 2.0 / 8.0).abs() < 1e-12, "{found:#}");
    let name = &found["tables"][0]["columns"][1];
    assert_eq!((&name["name"], &name["nulls"], &name["distinct"]["values"]), (&"name".into(), &1.into(), &6.into()));
    let text = home.run(&["stats", ring]).exits(0).out;
    for shown in ["8 nodes · 10 edges", "1 loop · 1 parallel edge", "█", "3 components", "1 null"] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    home.run(&["stats", ring, "--html", "page.html"]).exits(0);
    let page = fs::read_to_string(home.at("page.html")).unwrap();
    assert!(
        page.contains("<svg") && page.ends_with("</html>\n") && !page.contains("<script") && !page.contains("http"),
        "{page}"
    );
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    let again = home.run(&["stats", ring, "--html", "page.html"]).exits(2);
    assert!(again.err.contains("already exists"), "{}", again.err);
    home.run(&["stats", ring, "--html", "page.html", "--replace"]).exits(0);
}

#[test]
fn paths_are_rows() {
    let home = Home::new();
    let ring = ring(&home);
    let keys = |more: &[&str], code: i32| -> Vec<String> {
        let rows = home.run(&[&["paths", ring], more, &["--format", "json"]].concat()).exits(code).json();
        rows.as_array().unwrap().iter().map(|row| format!("{}:{}", row["path"], row["key"])).collect()
    };
    assert_eq!(keys(&["1", "5"], 0), ["1:1", "1:3", "1:4", "1:5"]);
    assert_eq!(keys(&["1", "5", "--weight", "weight"], 0), ["1:1", "1:2", "1:3", "1:4", "1:5"]);
    assert_eq!(keys(&["5", "1"], 1), [""; 0]);
    assert_eq!(keys(&["5", "1", "--both"], 0), ["1:5", "1:4", "1:1"]);
    assert_eq!(keys(&["5", "1", "--undirected"], 0), ["1:5", "1:4", "1:1"]);
    assert_eq!(keys(&["2", "4", "--all", "--both"], 0), ["1:2", "1:1", "1:4", "2:2", "2:3", "2:4"]);
    assert_eq!(keys(&["1", "5", "--max-hops", "2"], 1), [""; 0]);
    assert_eq!(keys(&["6", "6"], 0), ["1:6"]);
    let table = home.run(&["paths", ring, "2", "4", "--all", "--both", "--limit", "1"]).exits(0);
    assert!(table.err.contains("1 of 2 shortest paths of 2 edges; --limit N lists more"), "{}", table.err);
    for (more, code, told) in [
        (&["1", "99"][..], 3, "there is no node \"99\""),
        (&["1", "5", "--weight", "wight"], 2, "did you mean weight"),
        (&["1", "5", "--edge", "likes"], 2, "no edge type has the relation likes"),
        (&["1", "5", "--type", "city"], 2, "there is no node type city"),
        (&["1", "5", "--weight", "weight", "--max-hops", "2"], 2, "cannot be used with"),
    ] {
        let done = home.run(&[&["paths", ring], more].concat()).exits(code);
        assert!(done.err.contains(told), "{more:?}: {}", done.err);
    }
}

#[test]
fn ranks_and_components_are_answers() {
    let home = Home::new();
    let ring = ring(&home);
    let ranks = home.run(&["rank", ring, "--json"]).exits(0).json();
    let sum: f64 = ranks.as_array().unwrap().iter().map(|row| row["rank"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9 && ranks.as_array().unwrap().len() == 8, "{ranks}");
    let few = home.run(&["rank", ring, "--iterations", "1", "--top", "2"]).exits(0);
    assert!(
        few.err.contains("2 of 8 nodes, 10 edges · 1 iteration") && few.err.contains("still change"),
        "{}",
        few.err
    );
    let none = home.run(&["rank", ring, "--iterations", "0"]).exits(0);
    assert!(none.err.contains("· 0 iterations\n") && none.err.contains("warning"), "{}", none.err);
    home.run(&["rank", ring, "-o", "ranks.parquet"]).exits(0);
    assert!(home.run(&["rank", ring, "-o", "ranks.parquet"]).exits(2).err.contains("no output was written"));
    assert!(home.run(&["rank", ring, "--damping", "2"]).exits(2).err.contains("from 0 to 1"));
    let parts = home.run(&["components", ring, "--format", "csv"]).exits(0);
    let sizes: Vec<&str> = parts.out.lines().map(|line| line.rsplitn(3, ',').last().unwrap()).collect();
    assert_eq!(sizes, ["\"component\",\"nodes\"", "1,5", "2,2", "3,1"]);
    assert!(parts.err.contains("3 components of 8 nodes, 10 edges · the largest has 5 (62.5 %)"), "{}", parts.err);
    let each = home.run(&["components", ring, "--each", "--format", "jsonl"]).exits(0).out;
    let of: Vec<u64> = each
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["component"].as_u64().unwrap())
        .collect();
    assert_eq!(of, [1, 1, 1, 1, 1, 3, 2, 2]);
}

/// The same numbers in every format that has nodes and edges.
#[test]
fn formats_agree() {
    let home = home();
    let of = |path: &str| {
        let found = home.run(&["stats", path, "--json"]).exits(0).json();
        let degrees = [&found["degree"], &found["out_degree"], &found["in_degree"]]
            .map(|degrees| degrees["histogram"].to_string());
        (
            found["nodes"].clone(),
            found["edges"].clone(),
            found["loops"].clone(),
            degrees,
            found["components"].to_string(),
        )
    };
    let first = of("examples/social");
    for (name, format) in
        [("social.parq", "nock"), ("social.annnet", "annnet"), ("tables", "csv"), ("social.graphml", "graphml")]
    {
        let done = home.run(&["convert", "examples/social", name, "--to", format]);
        assert_eq!(done.code, 0, "{name}: {}", done.err);
        assert_eq!(of(name), first, "{name}");
    }
    home.run(&["convert", "examples/people.ttl", "people.nq"]).exits(0);
    home.run(&["convert", "examples/people.ttl", "people.lake"]).exits(0);
    let people = of("examples/people.ttl");
    assert_eq!((of("people.nq"), of("people.lake")), (people.clone(), people));
}

/// The flag `--from` and the argument FROM are two things.
#[test]
fn paths_are_found_in_a_graph_of_a_given_format() {
    let home = Home::new();
    home.write("edges.txt", "1 2\n2 3\n");
    let found = home.run(&["paths", "edges.txt", "1", "3", "--from", "edgelist", "--format", "csv"]).exits(0);
    assert_eq!(found.out.lines().count(), 4, "{}", found.out);
}
