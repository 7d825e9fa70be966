//! Nodes with the same key: how a conversion merges them, and that it reports this. Compared with counts by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use isomorph_convert::{Certificate, ConvertOptions, Format, OpenOptions, Opened, Plan, SidecarUse, Silent};
use isomorph_convert::{convert, dump};
use isomorph_error::Error;
use isomorph_storage::{Budget, Location, Resources};
use isomorph_zoo::{Build, Edges, Nodes, int64, text};

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

/// Keys of the types of a graph, and the rows of the first and the last type that its edges connect.
struct Case {
    name: &'static str,
    types: Vec<(&'static str, Keys)>,
    edges: Vec<(u64, u64)>,
}

#[derive(Clone)]
enum Keys {
    Numbers(Vec<i64>),
    Texts(Vec<&'static str>),
}

impl Keys {
    fn texts(&self) -> Vec<String> {
        match self {
            Keys::Numbers(numbers) => numbers.iter().map(i64::to_string).collect(),
            Keys::Texts(texts) => texts.iter().map(|text| format!("{text:?}")).collect(),
        }
    }

    /// The number of keys that an earlier node of the type has, and the first of them.
    fn repeats(&self) -> Option<(usize, String)> {
        let mut seen = BTreeSet::new();
        let all: Vec<String> = self.texts().into_iter().filter(|text| !seen.insert(text.clone())).collect();
        all.first().map(|first| (all.len(), first.clone()))
    }
}

fn cases() -> Vec<Case> {
    let numbers = |numbers: &[i64]| Keys::Numbers(numbers.to_vec());
    let texts = |texts: &[&'static str]| Keys::Texts(texts.to_vec());
    let edges = vec![(0, 1), (1, 0), (2, 0), (2, 1)];
    vec![
        Case { name: "one type", types: vec![("city", texts(&["a", "b", "a", "a", "b"]))], edges: edges.clone() },
        Case { name: "numbers", types: vec![("n", numbers(&[7, 8, 7]))], edges: edges.clone() },
        Case {
            name: "two types",
            types: vec![("n", numbers(&[1, 2, 3])), ("m", texts(&["x", "y", "y"]))],
            edges: edges.clone(),
        },
        // The same key in two types is not a duplicate, even in a format without types.
        Case { name: "equal across types", types: vec![("n", numbers(&[1, 2, 3])), ("m", numbers(&[1, 2, 3]))], edges },
        Case { name: "a slash", types: vec![("a", texts(&["b/c", "d"])), ("a/b", texts(&["c", "d"]))], edges: vec![] },
    ]
}

impl Case {
    fn graph(&self) -> Opened {
        let mut build = Build::default();
        let types: Vec<usize> = self
            .types
            .iter()
            .map(|(name, keys)| match keys {
                Keys::Numbers(keys) => {
                    let values: Vec<i64> = (0..).take(keys.len()).collect();
                    build.nodes(Nodes::keyed(name, int64(keys.clone())).column("value", int64(values)))
                }
                Keys::Texts(keys) => {
                    let values: Vec<i64> = (0..).take(keys.len()).collect();
                    build.nodes(Nodes::keyed(name, text(keys.clone())).column("value", int64(values)))
                }
            })
            .collect();
        if !self.edges.is_empty() {
            build.edges(Edges::rows(types[0], "knows", *types.last().unwrap(), self.edges.clone()));
        }
        let (graph, location) = (Arc::new(build.finish()), Location::from_path(Path::new("/memory")));
        Opened {
            location,
            format: Format::GRAPHAR,
            native: graph.clone(),
            sidecar: None,
            graph,
            options: OpenOptions::default(),
            is_part: false,
        }
    }

    fn rows(&self) -> usize {
        self.types.iter().map(|(_, keys)| keys.texts().len()).sum()
    }

    fn repeats(&self) -> BTreeMap<&'static str, (usize, String)> {
        self.types.iter().filter_map(|(name, keys)| Some((*name, keys.repeats()?))).collect()
    }

    /// Checks the entries about nodes with the same key in a list of losses.
    fn check(&self, what: &str, lost: &[String], merges: bool) {
        let told: Vec<&String> = lost.iter().filter(|line| line.contains("the key of another")).collect();
        let repeats = if merges { self.repeats() } else { BTreeMap::new() };
        assert_eq!(told.len(), repeats.len(), "{what}: {lost:?}");
        for (name, (count, key)) in repeats {
            let begin = format!("{count} node{} of {name} ", if count == 1 { "" } else { "s" });
            let line = told.iter().find(|line| line.starts_with(&begin)).unwrap_or_else(|| panic!("{what}: {lost:?}"));
            assert!(line.contains(&format!("one with it: {key}, rows ")), "{what}: {line}");
        }
    }
}

/// Each target, the names of its files, and whether it identifies nodes by key.
const TARGETS: [(Format, &str, bool); 9] = [
    (Format::GRAPHAR, "graphar", false),
    (Format::NOCK, "parq", true),
    (Format::NOCK, "csv", true),
    (Format::ANNNET, "annnet", true),
    (Format::DEEPGNN, "json", false),
    (Format::GRAPHLAKE, "lake", true),
    (Format::RDF, "nt", true),
    (Format::RDF, "rdf", true),
    (Format::RDF, "jsonld", true),
];

/// The number of nodes that readers of the output see.
fn nodes(place: &Path, to: Format) -> usize {
    let opened = open(place, SidecarUse::Ignore);
    let mut out = Vec::new();
    dump(opened.graph.as_ref(), &mut out, &resources(), &Silent).unwrap();
    let text = String::from_utf8(out).unwrap();
    if [Format::GRAPHLAKE, Format::RDF].contains(&to) {
        // Each node has its class, and nothing else has one except statements.
        let of_class = |line: &&str| line.contains("22-rdf-syntax-ns#type") && !line.contains("#Statement");
        return text.lines().filter(of_class).collect::<BTreeSet<_>>().len();
    }
    opened.graph.graph().node_rows().map_or_else(
        || text.lines().filter(|line| line.starts_with("{\"node\"")).count(),
        |rows| usize::try_from(rows).unwrap(),
    )
}

#[test]
fn nodes_that_become_one_are_lost_and_told() {
    for case in cases() {
        let (home, graph) = (tempfile::tempdir().unwrap(), case.graph());
        let more: usize = case.repeats().values().map(|(count, _)| count).sum();
        for (to, suffix, by_key) in TARGETS {
            let what = format!("{}, {to}, {suffix}", case.name);
            let options = ConvertOptions { to: Some(to), ..ConvertOptions::default() };
            // Ids of DeepGNN are the keys if these are numbers of one type; otherwise rows.
            let ids = to == Format::DEEPGNN && matches!(case.types.as_slice(), [(_, Keys::Numbers(_))]);
            let merges = (by_key || ids) && more > 0;
            for no_verify in [false, true] {
                let place = home.path().join(format!("{no_verify}.{suffix}"));
                match write(&graph, &place, &ConvertOptions { no_verify, ..options.clone() }) {
                    Ok((_, certificate)) => {
                        assert!(!merges, "{what}");
                        assert!(no_verify || certificate.source == certificate.result, "{what}");
                    }
                    Err(error) => {
                        assert!(merges, "{what}: {error}");
                        assert_eq!(
                            error.broken_rule().map(|rule| rule.id),
                            Some("MODEL-REPEATED-KEY"),
                            "{what}: {error}"
                        );
                        let place = error.place();
                        assert!(place.row.is_some() && place.file.is_some(), "{what}: {error:?}");
                        assert!(error.hints().any(|hint| hint.contains("--key row")), "{what}: {error:?}");
                    }
                }
            }
            let place = home.path().join(format!("lossy.{suffix}"));
            let lossy = write(&graph, &place, &ConvertOptions { lossy: true, ..options });
            if ids && merges {
                assert!(lossy.is_err(), "{what}");
                continue;
            }
            let (plan, certificate) = lossy.unwrap_or_else(|error| panic!("{what}: {error}"));
            case.check(&what, &plan.carried, merges);
            case.check(&what, &certificate.lost, merges);
            assert_eq!(nodes(&place, to), case.rows() - if merges { more } else { 0 }, "{what}");
        }
    }
}

#[test]
fn a_graph_that_came_from_deepgnn_still_has_its_keys() {
    let case = &cases()[0];
    let home = tempfile::tempdir().unwrap();
    let (ids, there) = (home.path().join("ids"), home.path().join("there.parq"));
    let to = |to| ConvertOptions { to: Some(to), ..ConvertOptions::default() };
    write(&case.graph(), &ids, &to(Format::DEEPGNN)).unwrap();
    let opened = open(&ids, SidecarUse::Auto);
    let error = write(&opened, &there, &to(Format::NOCK)).unwrap_err();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("MODEL-REPEATED-KEY"), "{error}");
    assert!(error.place().row.is_some(), "{error:?}");
    let (_, certificate) = write(&opened, &there, &ConvertOptions { lossy: true, ..to(Format::NOCK) }).unwrap();
    case.check("DeepGNN to NOCK", &certificate.lost, true);
}

#[test]
fn rows_of_nock_that_do_not_count_are_told() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("a.csv");
    let header = "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n";
    let row = |value: u8| format!("\"a\",-1,\"\",\"\",1.0,-1,False,\"\",\"{{\"\"x\"\":{value}}}\"\n");
    for (rows, told) in [(1, 0), (3, 1)] {
        fs::write(&place, format!("{header}{}", (0..rows).map(row).collect::<String>())).unwrap();
        let opened = open(&place, SidecarUse::Auto);
        for (to, suffix, _) in TARGETS {
            let there = home.path().join(format!("{rows}.{suffix}"));
            let options = ConvertOptions { to: Some(to), lossy: true, ..ConvertOptions::default() };
            let lost = write(&opened, &there, &options).unwrap().1.lost;
            let found: Vec<_> = lost.iter().filter(|line| line.contains("that have another row: ")).collect();
            assert_eq!(found.len(), told, "{to} {suffix}: {lost:?}");
            assert!(found.iter().all(|line| line.starts_with("2 node rows of nodes")), "{to} {suffix}: {lost:?}");
        }
    }
}

#[test]
fn rows_of_partitions_that_do_not_count_are_told_as_lost() {
    const HEADER: &str = "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props";
    let lost = |parts: [&str; 2]| {
        let home = tempfile::tempdir().unwrap();
        let from = home.path().join("in");
        fs::create_dir(&from).unwrap();
        for (id, rows) in parts.iter().enumerate() {
            fs::write(from.join(format!("part_{id}.csv")), format!("{HEADER}\n{rows}\n")).unwrap();
        }
        let lossy = ConvertOptions { lossy: true, ..ConvertOptions::default() };
        write(&open(&from, SidecarUse::Auto), &home.path().join("out.parq"), &lossy).unwrap().1.lost
    };
    let row = |shadow, labels| format!("\"b\",-1,\"\",\"\",1.0,{shadow},False,\"{labels}\",\"\"");
    let has = |lost: &[String], what: &str| lost.iter().any(|line| line.contains(what) && line.contains("part_0.csv"));
    assert!(has(&lost([&row(-1, "S"), &row(-1, "T")]), "1 node row of nodes that another partition also owns"));
    assert!(has(&lost([&row(1, "S"), &row(-1, "T")]), "1 shadow row with values that the used row does not"));
    assert!(has(&lost([&row(7, "S"), &row(7, "T")]), "1 shadow row with values that the used row does not"));
    assert!(lost([&row(7, ""), &row(7, "T")]).iter().all(|line| !line.contains("row")));
}

#[test]
fn a_column_that_is_taken_for_an_index_is_told_as_lost() {
    let home = tempfile::tempdir().unwrap();
    let from = home.path().join("in.csv");
    let text = "\"\",src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n\
                \"x\",\"b\",-1,\"\",\"\",1.0,-1,False,\"\",\"\"\n";
    fs::write(&from, text).unwrap();
    let lossy = ConvertOptions { lossy: true, ..ConvertOptions::default() };
    let lost = write(&open(&from, SidecarUse::Auto), &home.path().join("out.parq"), &lossy).unwrap().1.lost;
    assert!(
        lost.iter().any(|line| line.starts_with("1 column read as an index: ") && line.ends_with("in.csv")),
        "{lost:?}"
    );
}
