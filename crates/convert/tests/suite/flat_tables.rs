//! Tables as a graph: conventions of other tools, what is refused where, and that other formats and back lose nothing.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use isomorph_convert::{
    ConvertOptions, Digests, Format, OpenOptions, Opened, Plan, Registry, SidecarUse, Silent, convert, digest, dump,
};
use isomorph_error::{Error, Findings, Severity};
use isomorph_fixtures::fixture;
use isomorph_model::{Direction, Graph};
use isomorph_storage::{Budget, Location, Resources};
use proptest::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

pub(super) fn resources() -> Resources {
    Resources { threads: 2, budget: Budget::new(1 << 28), ..Resources::of_this_machine().unwrap() }
}

pub(super) fn opened(path: &Path) -> Result<Opened, Error> {
    Opened::open(&Location::from_path(path), &OpenOptions::default())
}

pub(super) fn open(path: &Path) -> Opened {
    opened(path).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()))
}

/// The lines of a dump, in their order.
pub(super) fn lines(opened: &Opened) -> Vec<Value> {
    let mut out = Vec::new();
    dump(opened.graph.as_ref(), &mut out, &resources(), &Silent).unwrap_or_else(|error| panic!("{error:?}"));
    String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(super) fn digests(opened: &Opened) -> Result<Digests, Error> {
    digest(opened.graph.as_ref(), &resources(), &Silent).map(|found| found.digests)
}

/// Files in a directory of their own.
pub(super) fn directory(files: &[(&str, &str)]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(home.path().join(name), text).unwrap();
    }
    home
}

/// `name: type` of each property, one type after another.
pub(super) fn columns(graph: &Graph) -> Vec<String> {
    let of = |properties: &[isomorph_model::Property]| {
        let all = properties.iter();
        let one = |own: &isomorph_model::Property| {
            format!("{} {}", own.name, isomorph_model::type_name::type_name(&own.data_type))
        };
        all.map(one).collect::<Vec<_>>().join(", ")
    };
    let nodes = graph.nodes.iter().map(|ty| {
        let key = ty.key.name.clone().unwrap_or_default();
        format!("{}({key} {:?}): {}", ty.name, ty.key.kind, of(&ty.properties))
    });
    let edges = graph.edges.iter().map(|ty| {
        let (source, relation, target) = graph.edge_name(ty);
        let direction = match ty.direction {
            Direction::Directed => "",
            Direction::Undirected => " undirected",
            Direction::PerRow => " by row",
        };
        format!("{source} {relation} {target}{direction}: {}", of(&ty.properties))
    });
    nodes.chain(edges).collect()
}

pub(super) fn counts(graph: &Graph) -> (Vec<u64>, Vec<u64>) {
    let nodes = graph.nodes.iter().map(|ty| ty.rows.unwrap()).collect();
    (nodes, graph.edges.iter().map(|ty| ty.rows.unwrap()).collect())
}

#[test]
fn conventions_are_recognised_and_told() {
    for (folder, convention, expected, numbers) in [
        (
            "neo4j",
            "Neo4j's admin import",
            &[
                "City(cityId Utf8): name string, population int64, capital bool, at string",
                "Person(personId Utf8): name string, age int64, tags list<string>",
                "Person KNOWS Person: since date, weight double",
                "Person LIVES_IN City: ",
            ][..],
            (vec![5, 12], vec![30, 12]),
        ),
        (
            "gephi",
            "Gephi",
            &[
                "node(Id Int): Label string, timeset string, modularity_class int64",
                "node edge node by row: Id int64, Label string, timeset string, weight double",
            ],
            (vec![12], vec![30]),
        ),
        (
            "kgx",
            "KGX",
            &[
                "node(id Utf8): name string, xref list<string>",
                "node biolink:interacts_with node: id string, knowledge_level string",
            ],
            (vec![12], vec![30]),
        ),
        (
            "ldbc",
            "LDBC",
            &[
                "person(id Int): firstName string, lastName string, gender string, birthday date, creationDate timestamp[us, UTC]",
                "person knows person undirected: creationDate timestamp[us, UTC]",
            ],
            (vec![12], vec![30]),
        ),
        (
            "plain",
            "two tables, nodes and edges",
            &["node(id Int): name string, born date", "node edge node: amount double"],
            (vec![12], vec![30]),
        ),
    ] {
        let path = fixture(format!("inout/{folder}"));
        let opened = open(&path);
        let format = if folder == "neo4j" { Format::NEO4J } else { Format::CSV };
        assert_eq!(opened.format, format, "{folder}");
        assert_eq!(columns(opened.graph.graph()), expected, "{folder}");
        assert_eq!(counts(opened.graph.graph()), numbers, "{folder}");
        let layout = opened.native.about().layout;
        assert!(layout.starts_with(&format!("tables: by the convention of {convention} · ")), "{layout}");
        let mut findings = Findings::keeping(5);
        opened.native.validate(&mut findings).unwrap();
        assert!(findings.is_empty(), "{folder}: {findings:?}");
        // What the convention says is a mapping file that says the same.
        let home = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), home.path().join(entry.file_name())).unwrap();
        }
        let mapping = isomorph_flat::mapping_of(&Location::from_path(&path)).unwrap();
        std::fs::write(home.path().join("graph.pgq"), &mapping).unwrap();
        let mapped = open(&home.path().join("graph.pgq"));
        assert_eq!(columns(mapped.graph.graph()), expected, "{folder}: {mapping}");
        assert_eq!(digests(&mapped).unwrap(), digests(&opened).unwrap(), "{folder}");
        assert_eq!(
            isomorph_flat::mapping_of(&Location::from_path(home.path())).unwrap().lines().skip(1).collect::<Vec<_>>(),
            mapping.lines().skip_while(|line| line.starts_with("--")).collect::<Vec<_>>(),
            "{folder}"
        );
    }
}

/// A folder with a table for each type is a graph by the names of files and columns, in every encoding.
#[test]
fn a_table_for_each_type_needs_no_mapping_file() {
    let home = tempfile::tempdir().unwrap();
    let source = open(&fixture("inout/neo4j"));
    let formats =
        [(Format::CSV, "csv"), (Format::PARQUET, "parquet"), (Format::ARROW, "arrow"), (Format::JSON_LINES, "jsonl")];
    for (format, ending) in formats {
        let place = home.path().join(format.id());
        write(&source, format, &place);
        std::fs::remove_file(place.join("graph.pgq")).unwrap();
        std::fs::remove_dir_all(place.join("_isomorph")).unwrap();
        let error = Opened::open(&Location::from_path(&place), &OpenOptions::default()).err().unwrap();
        assert_eq!(error.message(), "source and target could be keys of several tables: City, Person", "{format}");
        for (from, to) in [("KNOWS", "Person_KNOWS_Person"), ("LIVES_IN", "person_LIVES_IN_cities")] {
            let name = |stem: &str| place.join(format!("{stem}.{ending}"));
            std::fs::rename(name(from), name(to)).unwrap();
        }
        let opened = open(&place);
        assert_eq!(opened.format, format);
        let graph = opened.graph.graph();
        let name = |ty| <[String; 3]>::from(graph.edge_name(ty)).join(" ");
        let edges: Vec<String> = graph.edges.iter().map(name).collect();
        assert_eq!(edges, ["Person KNOWS Person", "Person LIVES_IN City"], "{format}");
        assert_eq!(counts(graph), (vec![5, 12], vec![30, 12]), "{format}");
        let ends = |opened: &Opened| {
            let all = lines(opened).into_iter().filter(|line| line.get("edge").is_some());
            // Nothing but the mapping file says that keys of digits are text.
            let mut all: Vec<String> = all.map(|line| line["ends"].to_string().replace('"', "")).collect();
            all.sort();
            all
        };
        assert_eq!(ends(&opened), ends(&source), "{format}");
    }
    // A damaged table is not left out.
    std::fs::write(home.path().join("jsonl/person_READ_book.jsonl"), "nothing").unwrap();
    let error = Opened::open(&Location::from_path(&home.path().join("jsonl")), &OpenOptions::default()).err().unwrap();
    assert!(error.to_string().contains("person_READ_book.jsonl"), "{error}");
    // What is no graph is named, with what was looked for.
    let place = home.path().join("other");
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("a.csv"), "x,y\n1,2\n").unwrap();
    let options = OpenOptions { from: Some(Format::CSV), ..OpenOptions::default() };
    let error = Opened::open(&Location::from_path(&place), &options).err().unwrap();
    assert_eq!(error.message(), "no mapping file and no convention makes a graph of these tables: a.csv (x, y)");
    assert!(error.hints().any(|hint| hint.contains("person_knows_person")), "{error}");
}

/// What the cells are, held against the texts of the fixtures.
#[test]
fn cells_are_what_the_files_say() {
    let of = |folder: &str| lines(&open(&fixture(format!("inout/{folder}"))));
    let neo4j = of("neo4j");
    let person = |key: &str| neo4j.iter().find(|line| line["node"] == "Person" && line["key"] == key).unwrap().clone();
    let names: Vec<Value> = (0..7).map(|at| person(&at.to_string())["properties"]["name"].clone()).collect();
    assert_eq!(names, ["true", "0012", "null", "  lead", "Zürich", "null", "tab\tin"]);
    assert_eq!(person("1")["labels"], serde_json::json!(["Admin", "Person"]));
    assert_eq!(person("3")["properties"].get("age"), None);
    assert_eq!(person("1")["properties"]["tags"], serde_json::json!(["a", "b"]));
    assert_eq!(person("3")["properties"]["tags"], serde_json::json!([]));
    let gephi = of("gephi");
    let directed = gephi.iter().filter(|line| line.get("edge").is_some() && line["directed"] != false).count();
    let text = std::fs::read_to_string(fixture("inout/gephi/edges.csv")).unwrap();
    assert_eq!(directed, text.lines().filter(|line| line.contains(",Directed,")).count());
    let kgx = of("kgx");
    assert_eq!(kgx[3]["labels"], serde_json::json!(["biolink:Gene"]));
    assert_eq!(kgx[3]["properties"]["xref"], serde_json::json!(["ENSEMBL:3", "NCBIGene:3"]));
}

pub(super) fn write(opened: &Opened, to: Format, place: &Path) {
    let place = Location::from_path(place);
    let options = ConvertOptions { to: Some(to), ..ConvertOptions::default() };
    Plan::new(opened, &place, &options, &resources(), &Silent)
        .and_then(|plan| convert(opened, &plan, &place, &options, &resources(), &Silent))
        .unwrap_or_else(|error| panic!("{to}: {error:?}"));
}

/// Foreign tables go into every format and come back as tables of every encoding, with equal digests.
#[test]
fn foreign_tables_go_everywhere() {
    let home = tempfile::tempdir().unwrap();
    let flat = [Format::CSV, Format::PARQUET, Format::ARROW, Format::JSON_LINES];
    for (number, folder) in ["neo4j", "gephi", "kgx", "ldbc", "plain"].into_iter().enumerate() {
        let source = open(&fixture(format!("inout/{folder}")));
        let expected = digests(&source).unwrap();
        let others = [Format::GRAPHAR, Format::NOCK, Format::ANNNET, Format::GRAPHML, Format::GRAPHLAKE];
        let others = others.into_iter().chain([Format::NEO4J, Format::XLSX, Format::APOC, Format::CYPHER]);
        for (at, format) in others.chain(flat).enumerate() {
            let ending = [
                (Format::NOCK, ".parq"),
                (Format::GRAPHML, ".graphml"),
                (Format::CYPHER, ".cypher"),
                (Format::XLSX, ".xlsx"),
            ];
            let ending = ending.iter().find(|(of, _)| *of == format).map_or("", |(_, ending)| ending);
            let name = format!("{folder}_{}{ending}", format.id());
            let there = home.path().join(name);
            write(&source, format, &there);
            let abroad = open(&there);
            assert_eq!(digests(&abroad).unwrap(), expected, "{folder} as {format}");
            let to = flat[(number + at) % flat.len()];
            let back = home.path().join(format!("{folder}_{}_back", format.id()));
            write(&abroad, to, &back);
            assert_eq!(digests(&open(&back)).unwrap(), expected, "{folder} as {format}, then {to}");
        }
    }
}

/// The files say the content without the sidecar, as far as the encoding has the types.
#[test]
fn tables_need_no_sidecar_for_what_they_hold() {
    let home = tempfile::tempdir().unwrap();
    let source = open(&fixture("inout/neo4j"));
    let expected = digests(&source).unwrap().content;
    for format in [Format::PARQUET, Format::ARROW, Format::JSON_LINES] {
        let place = home.path().join(format.id());
        write(&source, format, &place);
        let options = OpenOptions { sidecar: SidecarUse::Ignore, ..OpenOptions::default() };
        let alone = Opened::open(&Location::from_path(&place), &options).unwrap();
        assert_eq!(alone.format, format);
        assert_eq!(digests(&alone).unwrap().content, expected, "{format}");
    }
}

const MAPPING: &str = "CREATE EXTERNAL TABLE p (id BIGINT, name VARCHAR) STORED AS CSV LOCATION 'p.csv';
CREATE EXTERNAL TABLE k (a BIGINT, b BIGINT, w DOUBLE) STORED AS CSV LOCATION 'k.csv';
CREATE PROPERTY GRAPH g VERTEX TABLES (p KEY (id))
EDGE TABLES (k SOURCE KEY (a) REFERENCES p (id) DESTINATION KEY (b) REFERENCES p (id));
";

/// What is read of such tables comes to this error: its rule, file, line and column.
#[track_caller]
pub(super) fn refused(files: &[(&str, &str)], rule: &str, file: &str, line: u64, words: &str) {
    let home = directory(files);
    let error = opened(home.path()).and_then(|opened| digests(&opened)).unwrap_err();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some(rule), "{error:?}");
    assert!(error.message().contains(words), "{error:?}");
    let place = error.place();
    assert_eq!((place.file.as_deref(), place.line), (Some(file), Some(line)), "{error:?}");
    if let Ok(opened) = opened(home.path()) {
        let mut findings = Findings::keeping(5);
        opened.native.validate(&mut findings).unwrap();
        assert_eq!(findings.worst(), Some(Severity::Error), "{findings:?}");
    }
}

#[test]
fn what_is_wrong_in_a_table_is_named_with_its_line() {
    let nodes = "id,name\n1,ann\n\n2,\"bo\nb\"\n3,eve\n";
    let with = |nodes: &'static str, edges: &'static str| [("graph.pgq", MAPPING), ("p.csv", nodes), ("k.csv", edges)];
    refused(&with(nodes, "a,b,w\n1,2,0.5\n\n3,4,1\n"), "FLAT-END", "k.csv", 4, "ends in 4, which is no key of p");
    refused(&with(nodes, "a,b,w\n1,2,0.5\n,1,1\n"), "FLAT-END", "k.csv", 3, "has no end");
    refused(&with("id,name\n1,a\n2,b\n1,c\n", "a,b,w\n1,2,0.5\n"), "FLAT-KEY", "p.csv", 4, "that of line 2 already");
    refused(&with("id,name\n1,a\n,b\n", "a,b,w\n"), "FLAT-KEY", "p.csv", 3, "has no key");
    refused(&with(nodes, "a,b,w\n1,2,x\n"), "TEXT-VALUE", "k.csv", 2, "\"x\" is not a value");
    refused(&with(nodes, "a,b,w\n1,2\n"), "CSV-RECORD", "k.csv", 2, "2 fields");
    let mapping = MAPPING.replace("KEY (id))\n", "KEY (nr))\n");
    let files = [("graph.pgq", mapping.as_str()), ("p.csv", nodes), ("k.csv", "a,b,w\n")];
    refused(&files, "FLAT-MAPPING", "graph.pgq", 3, "no column nr");
    let mapping = MAPPING.replace("p.csv", "../p.csv");
    let files = [("graph.pgq", mapping.as_str()), ("k.csv", "a,b,w\n")];
    refused(&files, "FLAT-MAPPING", "graph.pgq", 1, "outside the directory");
    let mapping = MAPPING.replace("p.csv", "q.csv");
    let files = [("graph.pgq", mapping.as_str()), ("p.csv", nodes), ("k.csv", "a,b,w\n")];
    refused(&files, "FLAT-MAPPING", "graph.pgq", 1, "has no file q.csv");
    let mapping = MAPPING.replace("LOCATION 'k.csv'", "LOCATION 'k.csv' OPTIONS ('isomorph.direktion' 'x')");
    let files = [("graph.pgq", mapping.as_str()), ("p.csv", nodes), ("k.csv", "a,b,w\n")];
    refused(&files, "FLAT-MAPPING", "graph.pgq", 2, "did you mean isomorph.direction");
}

#[test]
fn files_outside_are_read_where_that_is_allowed() {
    let home = tempfile::tempdir().unwrap();
    let inside = home.path().join("in");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(home.path().join("p.csv"), "id,name\n1,a\n").unwrap();
    std::fs::write(inside.join("k.csv"), "a,b,w\n1,1,2\n").unwrap();
    std::fs::write(inside.join("graph.pgq"), MAPPING.replace("p.csv", "../p.csv")).unwrap();
    let mut options = OpenOptions::default();
    options.get_mut::<isomorph_flat::OpenOptions>().allow_outside = true;
    let opened = Opened::open(&Location::from_path(&inside), &options).unwrap();
    assert_eq!(counts(opened.graph.graph()), (vec![1], vec![1]));
}

#[test]
fn several_candidates_are_listed_and_none_is_nothing() {
    let both = directory(&[("nodes.csv", "id\n1\n"), ("nodes.jsonl", "{\"id\":1}\n"), ("edges.csv", "a,b\n1,1\n")]);
    let error = opened(both.path()).err().unwrap();
    assert!(error.message().contains("several tables could be the nodes: nodes.csv, nodes.jsonl"), "{error:?}");
    let spaces = directory(&[
        ("a.csv", "id:ID,name\n1,x\n"),
        ("b.csv", "id:ID,name\n2,y\n"),
        ("e.csv", ":START_ID,:END_ID,:TYPE\n1,2,T\n"),
    ]);
    let error = opened(spaces.path()).err().unwrap();
    assert!(error.message().contains("have ids in one space"), "{error:?}");
    let other = directory(&[("a.csv", "x,y\n1,2\n"), ("b.csv", "x,y\n1,2\n")]);
    assert!(Registry::standard().at(&Location::from_path(other.path())).is_err());
    let left = directory(&[("nodes.csv", "id\n1\n"), ("edges.csv", "a,b\n1,1\n"), ("notes.csv", "x\n1\n")]);
    let layout = open(left.path()).native.about().layout;
    assert!(layout.ends_with("not read: notes.csv"), "{layout}");
}

/// Dialects of CSV, packed files and JSON lines.
#[test]
fn texts_in_many_dialects_are_one_graph() {
    let plain = directory(&[("nodes.csv", "id,name,n\n1,\"a,b\",1.5\n2,,2\n"), ("edges.csv", "source,target\n1,2\n")]);
    let expected = digests(&open(plain.path())).unwrap();
    let semicolons = directory(&[
        ("vertices.csv", "\u{feff}id;name;n\r\n1;\"a,b\";1.5\r\n2;;2\r\n"),
        ("links.tsv", "source\ttarget\r\n1\t2\r\n"),
    ]);
    assert_eq!(digests(&open(semicolons.path())).unwrap().content, expected.content);
    let json = directory(&[
        ("nodes.jsonl", "{\"id\":1,\"name\":\"a,b\",\"n\":1.5}\n\n{\"id\":2,\"name\":null,\"n\":2}\n"),
        ("edges.ndjson", "{\"source\":1,\"target\":2}\n"),
    ]);
    let opened = open(json.path());
    assert_eq!(opened.format, Format::JSON_LINES);
    assert_eq!(digests(&opened).unwrap().content, expected.content);
    let packed = directory(&[]);
    for (name, text) in [("nodes.csv.gz", "id,name,n\n1,\"a,b\",1.5\n2,,2\n"), ("edges.csv.gz", "source,target\n1,2\n")]
    {
        let file = std::fs::File::create(packed.path().join(name)).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
        encoder.finish().unwrap();
    }
    assert_eq!(digests(&open(packed.path())).unwrap().content, expected.content);
}

/// A graph that is larger than the memory for it, through all encodings.
#[test]
fn tables_larger_than_the_budget_are_streamed() {
    let text: String = (0..60_000).map(|at| format!("{at},{:064}\n", at * 7)).collect();
    let edges: String = (0..120_000).map(|at| format!("{},{},{at}\n", at % 60_000, at * 7 % 60_000)).collect();
    let home =
        directory(&[("nodes.csv", &format!("id,text\n{text}")), ("edges.csv", &format!("source,target,n\n{edges}"))]);
    let (small, beside) = (Resources { budget: Budget::new(2 << 20), ..resources() }, tempfile::tempdir().unwrap());
    let options = OpenOptions { resources: Some(small.clone()), ..OpenOptions::default() };
    let mut opened = Opened::open(&Location::from_path(home.path()), &options).unwrap();
    let expected = digest(opened.graph.as_ref(), &small, &Silent).unwrap().digests;
    for format in [Format::PARQUET, Format::JSON_LINES, Format::ARROW, Format::CSV] {
        let place = Location::from_path(&beside.path().join(format.id()));
        let how = ConvertOptions { to: Some(format), ..ConvertOptions::default() };
        let plan = Plan::new(&opened, &place, &how, &small, &Silent).unwrap();
        convert(&opened, &plan, &place, &how, &small, &Silent).unwrap_or_else(|error| panic!("{format}: {error:?}"));
        opened = Opened::open(&place, &options).unwrap();
        assert_eq!(digest(opened.graph.as_ref(), &small, &Silent).unwrap().digests, expected, "{format}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    /// Random tables of keys and ends are read if, and only if, keys differ and ends are keys; then with the edges that a naive reading finds.
    #[test]
    fn ends_are_keys_or_refused(
        keys in proptest::collection::vec("[ab01]{1,2}", 1..8),
        ends in proptest::collection::vec(("[ab01]{1,2}", "[ab01]{1,2}"), 0..6),
        encoding in 0..2,
    ) {
        let mut rows: HashMap<&str, usize> = HashMap::new();
        let distinct = keys.iter().enumerate().filter(|(at, key)| rows.insert(key, *at).is_none()).count() == keys.len();
        let dangling = ends.iter().any(|(from, to)| !rows.contains_key(from.as_str()) || !rows.contains_key(to.as_str()));
        let files = if encoding == 0 {
            let nodes: String = keys.iter().map(|key| format!("\"k{key}\"\n")).collect();
            let edges: String = ends.iter().map(|(from, to)| format!("k{from},\"k{to}\"\n")).collect();
            [("nodes.csv", format!("id\n{nodes}")), ("edges.csv", format!("source,target\n{edges}"))]
        } else {
            let nodes: String = keys.iter().map(|key| format!("{{\"id\":\"k{key}\"}}\n")).collect();
            let edges: String =
                ends.iter().map(|(from, to)| format!("{{\"target\":\"k{to}\",\"source\":\"k{from}\"}}\n")).collect();
            [("nodes.jsonl", nodes), ("edges.jsonl", edges)]
        };
        // Nothing says the names of the columns of no lines.
        prop_assume!(encoding == 0 || !ends.is_empty());
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let home = directory(&files);
        match opened(home.path()).and_then(|opened| digests(&opened).map(|_| opened)) {
            Ok(opened) => {
                prop_assert!(distinct && !dangling);
                let mut found: BTreeMap<(String, String), usize> = BTreeMap::new();
                for line in lines(&opened).iter().filter(|line| line.get("edge").is_some()) {
                    let text = |side: usize| line["ends"][side].as_str().unwrap()[1..].to_owned();
                    *found.entry((text(0), text(1))).or_default() += 1;
                }
                let mut expected = BTreeMap::new();
                ends.iter().for_each(|end| *expected.entry(end.clone()).or_default() += 1);
                prop_assert_eq!(found, expected);
            }
            Err(error) => {
                let rule = error.broken_rule().map(|rule| rule.id);
                prop_assert!(!distinct && rule == Some("FLAT-KEY") || dangling && rule == Some("FLAT-END"), "{:?}", error);
            }
        }
    }
}
