//! Property graphs as RDF texts, RDF as property graphs with labels, and both ways of storing RDF in NOCK.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use isomorph_convert::{
    Certificate, ConvertOptions, Format, NodeTypes, OpenOptions, Opened, Plan, RdfMode, SidecarUse, Silent, TypesFrom,
    convert, digest, dump,
};
use isomorph_error::{Error, Kind};
use isomorph_model::{LabelVocabulary, MemoryGraph, NodeType};
use isomorph_storage::{Budget, Location, Resources};
use isomorph_zoo::{self as zoo, Build, Edges, Nodes, float64, int64, text};
use tempfile::TempDir;

const PEOPLE: &str = "\
@prefix ex: <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:ann a ex:Person , ex:Author ; ex:name \"Ann\" ; ex:age 41 ; ex:born \"1983-01-02\"^^xsd:date ; ex:knows ex:bob , _:c .
ex:bob a ex:Person ; ex:name \"Bob\"@en , \"Bobby\" ; ex:knows ex:ann .
_:c ex:likes ex:ann ; a ex:comma%2C, <http://example.org/a,b> .
";

fn resources() -> Resources {
    Resources { threads: 2, budget: Budget::new(256 << 20), ..Resources::of_this_machine().unwrap() }
}

fn open(place: &Path, sidecar: SidecarUse) -> Opened {
    Opened::open(&Location::from_path(place), &OpenOptions { sidecar, ..OpenOptions::default() }).unwrap()
}

fn write(opened: &Opened, place: &Path, options: &ConvertOptions) -> Result<(Plan, Certificate), Error> {
    let destination = Location::from_path(place);
    let plan = Plan::new(opened, &destination, options, &resources(), &Silent)?;
    let certificate = convert(opened, &plan, &destination, options, &resources(), &Silent)?;
    Ok((plan, certificate))
}

fn content(opened: &Opened) -> String {
    digest(opened.graph.as_ref(), &resources(), &Silent).unwrap().digests.content.to_string()
}

fn lines(opened: &Opened) -> Vec<String> {
    let mut out = Vec::new();
    dump(opened.graph.as_ref(), &mut out, &resources(), &Silent).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

fn labelled() -> ConvertOptions {
    ConvertOptions { labels_from_type: true, ..ConvertOptions::default() }
}

fn in_mode(mode: RdfMode) -> ConvertOptions {
    ConvertOptions { rdf_mode: Some(mode), ..ConvertOptions::default() }
}

fn home(name: &str, text: &str) -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join(name);
    fs::write(&place, text).unwrap();
    (home, place)
}

fn memory(format: Format, memory: MemoryGraph) -> Opened {
    let (graph, location) = (Arc::new(memory), Location::from_path(Path::new("/memory")));
    Opened {
        location,
        format,
        native: graph.clone(),
        sidecar: None,
        graph,
        options: OpenOptions::default(),
        is_part: false,
    }
}

/// A typed graph; with `said`, edges have a property.
fn social(said: bool) -> Opened {
    let mut build = Build::default();
    let person = build.nodes(
        Nodes::keyed("person", int64([1, 2, 3]))
            .column("name", text(["A <b>", "é", "c"]))
            .column("size", float64([1.5, 0.1, 2.0])),
    );
    let edges = Edges::rows(person, "knows", person, [(0, 1), (1, 2)]);
    build.edges(if said { edges.column("since", int64([2001, 2002])) } else { edges });
    memory(Format::GRAPHAR, build.finish())
}

#[test]
fn property_graphs_become_every_syntax_and_come_back() {
    let (home, graph) = (tempfile::tempdir().unwrap(), social(false));
    let expected = content(&graph);
    for name in ["a.nt", "a.nq.gz", "a.ttl", "a.trig", "a.rdf", "a.jsonld"] {
        let place = home.path().join(name);
        let (_, certificate) =
            write(&graph, &place, &ConvertOptions::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(certificate.source, certificate.result, "{name}");
        assert_eq!(content(&open(&place, SidecarUse::Auto)), expected, "{name}");
        assert!(home.path().join(format!("{name}.isomorph/carry.json")).is_file(), "{name}");
        let back = home.path().join(format!("{name}.graphar"));
        write(&open(&place, SidecarUse::Auto), &back, &ConvertOptions::default()).unwrap();
        assert_eq!(content(&open(&back, SidecarUse::Auto)), expected, "{name}");
    }
    let turtle = fs::read_to_string(home.path().join("a.ttl")).unwrap();
    assert!(turtle.contains("@prefix : <urn:x-isomorph:> ."), "{turtle}");
    assert!(turtle.contains("person:1 a :person ;"), "{turtle}");
    assert!(turtle.contains("person:1 :knows person:2 ."), "{turtle}");
}

#[test]
fn edges_of_which_something_is_said_become_every_syntax_and_come_back() {
    let (home, graph) = (tempfile::tempdir().unwrap(), social(true));
    // Parallel edges have reifiers too, even without properties.
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("n", int64([1])));
    build.edges(Edges::rows(node, "r", node, [(0, 0), (0, 0)]));
    let parallel = memory(Format::GRAPHAR, build.finish());
    for (number, graph) in [&graph, &parallel].into_iter().enumerate() {
        let nock = home.path().join(format!("{number}.parq"));
        write(graph, &nock, &ConvertOptions { lossy: true, ..ConvertOptions::default() }).unwrap();
        // The same as NOCK, whose properties are in a bag.
        for (from, graph) in [("typed", graph), ("bag", &open(&nock, SidecarUse::Auto))] {
            for syntax in ["rdf", "ttl", "jsonld"] {
                let place = home.path().join(format!("{number}-{from}.{syntax}"));
                let (_, certificate) = write(graph, &place, &ConvertOptions::default()).unwrap();
                assert_eq!(certificate.source, certificate.result, "{number} {from} {syntax}");
                let back = open(&place, SidecarUse::Auto);
                assert_eq!(content(&back), content(graph), "{number} {from} {syntax}");
                let text = fs::read_to_string(&place).unwrap();
                assert_eq!(text.contains("rdf-syntax-ns#Statement"), syntax == "jsonld", "{number} {from} {syntax}");
                let again = home.path().join(format!("{number}-{from}-{syntax}.graphar"));
                write(&back, &again, &ConvertOptions { to: Some(Format::GRAPHAR), ..ConvertOptions::default() })
                    .unwrap();
                assert_eq!(content(&open(&again, SidecarUse::Auto)), content(graph), "{number} {from} {syntax}");
            }
        }
    }
    let error =
        write(&graph, &home.path().join("a"), &ConvertOptions { to: Some(Format::RDF), ..labelled() }).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage, "{error}");
}

#[test]
fn statements_of_other_rdf_stay_triples() {
    let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
    let text = ["subject", "predicate", "object"].map(|part| format!("_:e <{rdf}{part}> <urn:a> .\n")).concat();
    let (home, place) = home("a.nt", &format!("{text}_:e <{rdf}type> <{rdf}Statement> .\n"));
    let there = home.path().join("a.jsonld");
    let (_, certificate) = write(&open(&place, SidecarUse::Auto), &there, &ConvertOptions::default()).unwrap();
    assert_eq!((certificate.source, certificate.triples), (certificate.result, Some(4)));
    // A text that itself has triple terms is refused as before.
    let quoted = home.path().join("b.nt");
    fs::write(&quoted, format!("_:e <{rdf}reifies> <<( <urn:a> <urn:b> <urn:c> )>> .\n")).unwrap();
    let error = write(&open(&quoted, SidecarUse::Auto), &home.path().join("b.jsonld"), &ConvertOptions::default());
    let error = error.unwrap_err();
    assert_eq!(error.kind(), Kind::WouldLose, "{error}");
    assert!(error.to_string().contains("JSON-LD has no triple terms"), "{error}");
    assert!(!home.path().join("b.jsonld").exists());
}

#[test]
fn a_plan_says_what_a_syntax_has_no_words_for() {
    let (home, place) = home("a.nq", "<urn:a> <http://example.org/1> <urn:b> <urn:g> .\n<urn:a> <urn:p> <urn:b> .\n");
    let lake = home.path().join("a.lake");
    write(&open(&place, SidecarUse::Auto), &lake, &ConvertOptions::default()).unwrap();
    let plan = |opened: &Opened, name: &str| {
        let destination = Location::from_path(&home.path().join(name));
        Plan::new(opened, &destination, &ConvertOptions::default(), &resources(), &Silent)
    };
    let error = plan(&open(&lake, SidecarUse::Auto), "b.ttl").unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::WouldLose, "Turtle does not support named graphs"));
    let (_keep, place) = self::home("c.nq", "<urn:a> <http://example.org/1> \"b\" .\n");
    let lake = home.path().join("c.lake");
    write(&open(&place, SidecarUse::Auto), &lake, &ConvertOptions::default()).unwrap();
    for from in [&lake, &place] {
        let error = plan(&open(from, SidecarUse::Auto), "d.rdf").unwrap_err();
        assert_eq!(error.message(), "http://example.org/1 does not end in an XML name");
        let lines = plan(&open(from, SidecarUse::Auto), "d.jsonld").unwrap().lines;
        assert!(lines.iter().any(|line| line.subject == "statements about triples"), "{lines:?}");
    }
    // The names of a property graph become predicates; a base that ends in a letter helps.
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("n", int64([1, 2])).column("1st", int64([1, 2])));
    build.edges(Edges::rows(node, "7", node, [(0, 1)]));
    let graph = memory(Format::GRAPHAR, build.finish());
    let error = plan(&graph, "e.rdf").unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::WouldLose, "urn:x-isomorph:7 does not end in an XML name"));
    let options = ConvertOptions { base: Some("http://example.org/x_".to_owned()), ..ConvertOptions::default() };
    let (_, certificate) = write(&graph, &home.path().join("e.rdf"), &options).unwrap();
    assert_eq!(certificate.source, certificate.result);
    let lines = plan(&graph, "e.jsonld").unwrap().lines;
    assert!(lines.iter().any(|line| line.subject == "reifiers"), "{lines:?}");
}

#[test]
fn a_triple_in_two_graphs_makes_no_further_node() {
    let text = "<urn:a> <urn:p> <urn:b> <urn:g> .\n<urn:a> <urn:p> <urn:b> <urn:h> .\n";
    let (home, place) = home("a.nq", text);
    for (stop, name) in [(None, "direct.parq"), (Some("lake.lake"), "by_lake.parq")] {
        let mut from = place.clone();
        if let Some(stop) = stop {
            from = home.path().join(stop);
            write(&open(&place, SidecarUse::Auto), &from, &ConvertOptions::default()).unwrap();
        }
        let nock = home.path().join(name);
        write(&open(&from, SidecarUse::Auto), &nock, &ConvertOptions::default()).unwrap();
        let lines = lines(&open(&nock, SidecarUse::Ignore));
        assert_eq!(lines.iter().filter(|line| line.contains("\"key\"")).count(), 2, "{lines:#?}");
        assert_eq!(lines.iter().filter(|line| line.contains("\"edge\"")).count(), 2, "{lines:#?}");
    }
}

#[test]
fn classes_become_labels_and_come_back() {
    let (home, place) = home("people.ttl", PEOPLE);
    let expected = content(&open(&place, SidecarUse::Auto));
    for name in ["people.parq", "people.graphar", "people.annnet"] {
        let there = home.path().join(name);
        let (_, certificate) = write(&open(&place, SidecarUse::Auto), &there, &labelled()).unwrap();
        assert_eq!(certificate.source, certificate.result, "{name}");
        assert_eq!(content(&open(&there, SidecarUse::Auto)), expected, "{name}");
        for text in ["back.nq", "back.lake"] {
            let back = home.path().join(format!("{name}.{text}"));
            write(&open(&there, SidecarUse::Auto), &back, &ConvertOptions::default()).unwrap();
            assert_eq!(content(&open(&back, SidecarUse::Auto)), expected, "{name} {text}");
        }
    }
    let found = lines(&open(&home.path().join("people.parq"), SidecarUse::Ignore));
    let ann = found.iter().find(|line| line.contains(r#""key":"http://example.org/ann""#)).unwrap();
    assert!(ann.contains(r#""labels":["http://example.org/Author","http://example.org/Person"]"#), "{ann}");
    // A comma would make two labels of one: that class stays an edge, and is a node.
    assert!(found.iter().any(|line| line.contains(r#""key":"http://example.org/a,b""#)), "{found:#?}");
    assert!(!found.iter().any(|line| line.contains(r#""key":"http://example.org/Person""#)), "{found:#?}");
    // Nothing but classes: no edge remains.
    let (classes, alone) =
        self::home("classes.nt", "<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:C> .\n");
    for name in ["a.parq", "a.graphar", "a.annnet", "a.deepgnn"] {
        let there = classes.path().join(name);
        let (_, certificate) = write(&open(&alone, SidecarUse::Auto), &there, &labelled())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(certificate.source, certificate.result, "{name}");
        assert_eq!(content(&open(&there, SidecarUse::Auto)), content(&open(&alone, SidecarUse::Auto)), "{name}");
    }
    // From a file with labels to a file with labels in another format.
    let again = home.path().join("again.graphar");
    write(&open(&home.path().join("people.parq"), SidecarUse::Auto), &again, &labelled()).unwrap();
    assert_eq!(content(&open(&again, SidecarUse::Auto)), expected);
    let error = write(&social(false), &home.path().join("x.parq"), &labelled()).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
}

/// All files below a place, by path; without those that contain the time.
fn files(place: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut found, mut open) = (Vec::new(), vec![place.to_owned()]);
    while let Some(path) = open.pop() {
        match path.is_dir() {
            true => open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path())),
            false => found.push((path.strip_prefix(place).unwrap().to_owned(), fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_gathered_does_not_depend_on_threads() {
    // Some 20 MiB, so that the text is read in parts; the triples of one resource are in many of them, in several
    // graphs.
    let padding = "x".repeat(1_500);
    let mut text = String::new();
    for n in 0_usize..12_000 {
        let resource = n.wrapping_mul(2_654_435_761) % 3_000;
        let graph = ["", " <urn:g>", " _:h"][n % 3];
        text.push_str(&match n % 5 {
            0 => format!("<urn:r{resource}> <urn:name{}> \"{n}{padding}\"{graph} .\n", n % 4),
            1 => format!(
                "<urn:r{resource}> <urn:size> \"{n}\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n# {padding}\n"
            ),
            2 => format!(
                "<urn:r{resource}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:C{}>{graph} .\n",
                n % 9
            ),
            3 => format!("_:b{resource} <urn:with> \"{padding}{n}\"@en-GB{graph} .\n"),
            _ => format!("<urn:r{resource}> <urn:knows> <urn:r{}>{graph} . # {padding}\n", (resource * 7 + n) % 3_000),
        });
    }
    let (home, place) = home("a.nq", &text);
    let lake = home.path().join("a.lake");
    write(&open(&place, SidecarUse::Auto), &lake, &ConvertOptions::default()).unwrap();
    for (from, name) in [(&place, "text"), (&lake, "lake")] {
        for (to, options) in [("graphar", labelled()), ("parq", ConvertOptions::default()), ("annnet", labelled())] {
            let mut before = None;
            for threads in [1, 2, 5] {
                // A graph without a name is named after its destination.
                let folder = home.path().join(format!("{name}-{threads}"));
                fs::create_dir_all(&folder).unwrap();
                let there = folder.join(format!("a.{to}"));
                let (location, resources) = (Location::from_path(&there), Resources { threads, ..resources() });
                let open_options = OpenOptions { resources: Some(resources.clone()), ..OpenOptions::default() };
                let opened = Opened::open(&Location::from_path(from), &open_options).unwrap();
                let options = ConvertOptions { epoch: Some(std::time::SystemTime::UNIX_EPOCH), ..options.clone() };
                let plan = Plan::new(&opened, &location, &options, &resources, &Silent).unwrap();
                let done = convert(&opened, &plan, &location, &options, &resources, &Silent).unwrap();
                assert_eq!(done.source, done.result, "{name} {to} {threads}");
                let written = (done.source, files(&there));
                assert!(before.as_ref().is_none_or(|before| *before == written), "{name} {to} {threads}");
                before = Some(written);
            }
        }
    }
}

/// Types from labels, with these names.
fn typed_by_label(names: &[(&str, &str)]) -> ConvertOptions {
    let names = names.iter().map(|(label, name)| ((*label).to_owned(), (*name).to_owned())).collect();
    ConvertOptions {
        node_types: Some(NodeTypes { names, ..NodeTypes::of(TypesFrom::Label) }),
        ..ConvertOptions::default()
    }
}

/// A node type: name, rows, columns, labels.
type Described = (String, Option<u64>, Vec<String>, Vec<String>);

fn node_types(opened: &Opened) -> Vec<Described> {
    let columns = |ty: &NodeType| ty.properties.iter().map(|property| property.name.clone()).collect();
    let labels = |ty: &NodeType| match &ty.labels {
        LabelVocabulary::Declared(labels) => labels.clone(),
        _ => Vec::new(),
    };
    opened.graph.graph().nodes.iter().map(|ty| (ty.name.clone(), ty.rows, columns(ty), labels(ty))).collect()
}

#[test]
fn classes_become_node_types_and_come_back() {
    let (home, place) = home("people.ttl", PEOPLE);
    let lake = home.path().join("people.lake");
    write(&open(&place, SidecarUse::Auto), &lake, &ConvertOptions::default()).unwrap();
    let expected = content(&open(&place, SidecarUse::Auto));
    let example = |name: &str| format!("http://example.org/{name}");
    for from in [&place, &lake] {
        let stem = from.extension().unwrap().to_str().unwrap();
        for name in ["people.parq", "people.graphar", "people.annnet", "people.deepgnn"] {
            let there = home.path().join(format!("{stem}.{name}"));
            let (_, certificate) = write(&open(from, SidecarUse::Auto), &there, &typed_by_label(&[]))
                .unwrap_or_else(|error| panic!("{stem} {name}: {error}"));
            assert_eq!(certificate.source, certificate.result, "{stem} {name}");
            assert_eq!(content(&open(&there, SidecarUse::Auto)), expected, "{stem} {name}");
            for text in ["nq", "lake"] {
                let back = home.path().join(format!("{stem}.{name}.{text}"));
                write(&open(&there, SidecarUse::Auto), &back, &ConvertOptions::default()).unwrap();
                assert_eq!(content(&open(&back, SidecarUse::Auto)), expected, "{stem} {name} {text}");
            }
        }
        // Ann has both classes; the first in byte order is her type, the other stays a label. A resource without a
        // class is a `resource`.
        let alone = open(&home.path().join(format!("{stem}.people.graphar")), SidecarUse::Ignore);
        let altered = |name: &str| example(name).replace([':', '/'], "_");
        let columns = |names: &[&str]| names.iter().map(|name| altered(name)).collect::<Vec<_>>();
        let found = node_types(&alone);
        assert_eq!(
            found,
            [
                (altered("Author"), Some(1), columns(&["age", "born", "name"]), vec![altered("Person")]),
                (altered("Person"), Some(1), columns(&["name"]), Vec::new()),
                (altered("comma%2C").replace('%', "_u25"), Some(1), Vec::new(), Vec::new()),
                ("resource".to_owned(), Some(1), Vec::new(), Vec::new()),
            ],
            "{stem}"
        );
        let mut edges: Vec<_> = alone.graph.graph().edges.iter().map(|ty| alone.graph.graph().edge_name(ty)).collect();
        edges.sort();
        let knows = |from: &str, to: &str| (altered(from), altered("knows"), altered(to));
        assert!(edges.contains(&knows("Author", "Person")) && edges.contains(&knows("Person", "Author")), "{edges:?}");
    }
    // The names determine which class is the type of a resource with several.
    let [person, author] = [example("Person"), example("Author")];
    let names = [(person.as_str(), "person"), (author.as_str(), "author")];
    let there = home.path().join("named.graphar");
    let (plan, certificate) = write(&open(&place, SidecarUse::Auto), &there, &typed_by_label(&names)).unwrap();
    assert_eq!(certificate.source, certificate.result);
    let line = plan.lines.iter().find(|line| line.subject == "label http://example.org/Person").unwrap();
    assert_eq!(line.becomes, "vertex type person");
    let found: Vec<_> = node_types(&open(&there, SidecarUse::Ignore)).into_iter().map(|ty| (ty.0, ty.1)).collect();
    assert_eq!(found[0], ("person".to_owned(), Some(2)), "{found:?}");
    assert_eq!(found.len(), 3, "nobody is left who is an author only: {found:?}");
}

#[test]
fn labels_of_nock_become_node_types_and_come_back() {
    let home = tempfile::tempdir().unwrap();
    let nock = zoo::bundled(
        &[
            ("a", &["Soup", "Dish"], 1.0, r#"{"n":1}"#),
            ("b", &["Soup"], 0.5, ""),
            ("c", &[], 1.0, r#"{"m":"x"}"#),
            ("d", &["node"], 1.0, ""),
        ],
        &[("a", "r", "b", 1.0, ""), ("c", "r", "a", 1.0, r#"{"w":1}"#), ("a", "s", "a", 1.0, "")],
    );
    let place = home.path().join("food.parq");
    write(&memory(Format::NOCK, nock), &place, &ConvertOptions::default()).unwrap();
    let expected = content(&open(&place, SidecarUse::Auto));
    for name in ["food.graphar", "food.annnet", "food.deepgnn"] {
        let there = home.path().join(name);
        let (_, certificate) = write(&open(&place, SidecarUse::Auto), &there, &typed_by_label(&[]))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(certificate.source, certificate.result, "{name}");
        let back = home.path().join(format!("{name}.parq"));
        write(&open(&there, SidecarUse::Auto), &back, &ConvertOptions::default()).unwrap();
        assert_eq!(content(&open(&back, SidecarUse::Auto)), expected, "{name}");
    }
    let found = node_types(&open(&home.path().join("food.graphar"), SidecarUse::Ignore));
    let of = |name: &str, columns: &[&str], labels: &[&str]| {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        (name.to_owned(), Some(1), owned(columns), owned(labels))
    };
    // Every row states its truth.
    let known = [
        of("Dish", &["truth", "n"], &["Soup"]),
        of("Soup", &["truth"], &[]),
        of("node", &["truth"], &[]),
        of("node_2", &["truth", "m"], &[]),
    ];
    assert_eq!(found, known);
    // A graph with types, and one without labels, is refused.
    for (graph, name) in [(social(false), "x.parq"), (open(&place, SidecarUse::Auto), "x.csv"), (social(false), "x.nq")]
    {
        let error = write(&graph, &home.path().join(name), &typed_by_label(&[])).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage, "{name}: {error}");
    }
}

#[test]
fn nock_that_lost_its_carry_is_rdf_again() {
    let (home, place) = home("people.ttl", PEOPLE);
    let expected = content(&open(&place, SidecarUse::Auto));
    for (name, options) in
        [("edges.parq", in_mode(RdfMode::Rich)), ("labels.parq", labelled()), ("types.csv", labelled())]
    {
        let nock = home.path().join(name);
        write(&open(&place, SidecarUse::Auto), &nock, &options).unwrap();
        fs::remove_dir_all(home.path().join(format!("{name}.isomorph"))).unwrap();
        let alone = open(&nock, SidecarUse::Auto);
        for text in ["nq", "trig", "lake"] {
            let back = home.path().join(format!("{name}.{text}"));
            let (_, certificate) =
                write(&alone, &back, &in_mode(RdfMode::Rich)).unwrap_or_else(|error| panic!("{name} {text}: {error}"));
            assert_eq!(certificate.source, certificate.result, "{name} {text}");
            assert_eq!(content(&open(&back, SidecarUse::Ignore)), expected, "{name} {text}");
            assert_eq!(content(&open(&back, SidecarUse::Auto)), content(&alone), "{name} {text}");
        }
    }
}

#[test]
fn nock_with_more_than_rdf_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let there = home.path().join("a.nq");
    let plain = memory(Format::NOCK, zoo::bundled(&[("urn:a", &[], 1.0, "")], &[]));
    let error = write(&plain, &there, &in_mode(RdfMode::Rich)).unwrap_err();
    assert!(error.to_string().contains("not RDF"), "{error}");
    // A node without triples.
    let (_keep, place) = self::home("a.nq", "<urn:a> <urn:p> <urn:b> .\n");
    let nock = home.path().join("a.parq");
    write(&open(&place, SidecarUse::Auto), &nock, &ConvertOptions { lossy: true, ..ConvertOptions::default() })
        .unwrap();
    assert!(write(&open(&nock, SidecarUse::Auto), &there, &in_mode(RdfMode::Rich)).is_ok());
    let error =
        write(&open(&place, SidecarUse::Auto), &home.path().join("b.graphar"), &in_mode(RdfMode::Rich)).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage, "{error}");
}

#[test]
fn pynock_has_terms_for_nodes_and_edges_for_triples() {
    let (home, place) = home("people.ttl", PEOPLE);
    let nock = home.path().join("people.parq");
    let (_, certificate) = write(&open(&place, SidecarUse::Auto), &nock, &in_mode(RdfMode::Pynock)).unwrap();
    assert!(!certificate.lost.is_empty());
    assert!(!home.path().join("people.parq.isomorph").exists());
    let opened = open(&nock, SidecarUse::Auto);
    let found = lines(&opened);
    for node in ["http://example.org/ann", "http://example.org/Person", "41", "Bob", "c", "1983-01-02"] {
        assert!(found.iter().any(|line| line.contains(&format!("\"key\":\"{node}\""))), "{node}: {found:#?}");
    }
    let edges = found.iter().filter(|line| line.contains("\"edge\"")).count();
    assert_eq!(edges, 14, "{found:#?}");
    let text = home.path().join("people.nq");
    let options = ConvertOptions { base: Some("http://base.example/".to_owned()), ..in_mode(RdfMode::Pynock) };
    write(&opened, &text, &options).unwrap();
    let text = fs::read_to_string(&text).unwrap();
    assert_eq!(text.lines().count(), 14, "{text}");
    assert!(text.contains("<http://example.org/ann> <http://example.org/age> <http://base.example/41> .\n"), "{text}");
    assert!(text.contains("<http://base.example/c> <http://example.org/likes> <http://example.org/ann> .\n"), "{text}");
}

#[test]
fn pynock_has_no_node_for_an_empty_literal() {
    for (text, fits) in [
        ("<urn:a> <urn:p> \"\" .\n", false),
        ("<urn:a> <urn:p> \"\"@en .\n", false),
        // Literals in a named graph are lost in any case.
        ("<urn:a> <urn:p> \"x\" .\n<urn:a> <urn:p> \"\" <urn:g> .\n", true),
    ] {
        let (home, place) = home("empty.nq", text);
        let nock = home.path().join("empty.parq");
        let done = write(&open(&place, SidecarUse::Auto), &nock, &in_mode(RdfMode::Pynock));
        let Err(error) = done else {
            assert!(fits, "{text}");
            continue;
        };
        assert!(!fits && error.message().contains("the empty literal of urn:a"), "{text}: {error}");
        assert!(error.hints().any(|hint| hint.starts_with("--rdf-mode rich ")), "{error}");
    }
}

#[test]
fn names_that_files_cannot_have_are_altered() {
    let long = "x".repeat(300);
    let text = format!(
        "<urn:s> a <http://e.org/a.> .\n<urn:t> a <http://e.org/{0}> .\n<urn:s> <urn:{long}> <urn:t> .\n<urn:s> <urn:p.> <urn:s> .\n",
        "y".repeat(150),
    );
    let by_label = NodeTypes::of(TypesFrom::Label);
    for (from, node_types) in [("a.ttl", Some(by_label.clone())), ("a.ttl", None), ("a.parq", Some(by_label))] {
        let (home, place) = home("a.ttl", &text);
        let labels_from_type = from == "a.parq";
        if labels_from_type {
            write(&open(&place, SidecarUse::Auto), &home.path().join(from), &labelled()).unwrap();
        }
        let (opened, options) = (
            open(&home.path().join(from), SidecarUse::Auto),
            ConvertOptions { node_types, ..ConvertOptions::default() },
        );
        let to = home.path().join("g.graphar");
        let (plan, certificate) = write(&opened, &to, &options).unwrap();
        assert_eq!(certificate.source, certificate.result, "{from}");
        assert_eq!(content(&open(&to, SidecarUse::Auto)), content(&opened), "{from}");
        assert!(plan.lines.iter().any(|line| line.becomes.starts_with("called x")), "{:?}", plan.lines);
        let types: Vec<&str> = plan.target.nodes.iter().map(|ty| ty.name.as_str()).collect();
        assert_eq!(types.contains(&"http___e.org_a_u2e"), options.node_types.is_some(), "{types:?}");
    }
}
