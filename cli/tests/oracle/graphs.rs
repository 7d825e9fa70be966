//! Random graphs in files: typed and layered graphs from the model's test graphs, and texts that are written here.

use isomorph::storage::Resources;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use isomorph::Location;
use isomorph::convert::{ConvertOptions, Format, OpenOptions, Opened, Plan, Silent, convert};
use isomorph::model::MemoryGraph;
use isomorph_zoo::arbitrary::property_graph;
use isomorph_zoo::multilayer;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::quads;

/// Random numbers: equal seeds give equal numbers.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    /// Returns a number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        // SplitMix64: every state gives another number.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % end as u64) as usize
    }

    /// Returns true with a probability of `percent`.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// A graph in files.
pub struct Made {
    /// Name of the file or directory.
    pub path: String,
    /// Id of its format.
    pub format: &'static str,
    /// Numbers of nodes and edges, if known.
    pub counts: Option<(usize, usize)>,
}

/// Names that are easy to handle wrongly.
const NAMES: &[&str] = &[
    "a", "b", "c", "1", "-1", "01", "1.0", "true", "null", "NaN", "a b", "é", "漢", "x,y", "{}", "[1]", "-", "a\"b",
    "?x",
];

/// Creates a graph in `home`.
pub fn make(dice: &mut Dice, home: &Path) -> Made {
    match dice.below(5) {
        0 => typed(dice, home),
        1 => layered(dice, home),
        2 => rows(dice, home),
        3 => numbers(dice, home),
        _ => statements(dice, home),
    }
}

/// Creates typed nodes and edges, as GraphAr.
fn typed(dice: &mut Dice, home: &Path) -> Made {
    let mut seed = [0; 32];
    seed.iter_mut().for_each(|byte| *byte = dice.below(256) as u8);
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, random);
    loop {
        let memory = property_graph().new_tree(&mut runner).expect("a graph").current();
        // GraphAr does not support a direction per edge: try another graph.
        if written(memory, Format::GRAPHAR, &home.join("graph.graphar")) {
            return Made { path: "graph.graphar".to_owned(), format: "graphar", counts: None };
        }
    }
}

/// Creates a multilayer hypergraph, as annnet.
fn layered(dice: &mut Dice, home: &Path) -> Made {
    let seed = dice.below(1 << 40) as u64;
    assert!(
        written(multilayer(seed), Format::ANNNET, &home.join("graph.annnet")),
        "annnet holds every multilayer graph"
    );
    Made { path: "graph.annnet".to_owned(), format: "annnet", counts: None }
}

/// Writes a graph; returns false if the format cannot store it.
fn written(memory: MemoryGraph, format: Format, path: &Path) -> bool {
    let graph = Arc::new(memory);
    let location = Location::from_path(Path::new("/memory"));
    let opened = Opened {
        location,
        format,
        native: graph.clone(),
        sidecar: None,
        graph,
        options: OpenOptions::default(),
        is_part: false,
    };
    let destination = Location::from_path(path);
    let options = ConvertOptions { to: Some(format), ..ConvertOptions::default() };
    let resources = Resources { threads: 1, ..Resources::of_this_machine().expect("this machine") };
    let plan = Plan::new(&opened, &destination, &options, &resources, &Silent);
    plan.and_then(|plan| convert(&opened, &plan, &destination, &options, &resources, &Silent)).is_ok()
}

/// Creates rows of nodes and edges, as NOCK CSV.
fn rows(dice: &mut Dice, home: &Path) -> Made {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let names: BTreeSet<&str> = (0..1 + dice.below(8)).map(|_| dice.pick(NAMES)).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let mut text = String::from(
        "\"src_name\",\"edge_id\",\"rel_name\",\"dst_name\",\"truth\",\"shadow\",\"is_rdf\",\"labels\",\"props\"\n",
    );
    let mut edges = 0;
    for name in &names {
        let labels: BTreeSet<&str> = (0..dice.below(3)).map(|_| dice.pick(&["A", "B", "ü"])).collect();
        let labels = quoted(&labels.into_iter().collect::<Vec<_>>().join(","));
        let props = quoted(&bag(dice, false));
        writeln!(text, "{},-1,\"\",\"\",1.0,-1,False,{labels},{props}", quoted(name)).expect("a string");
        let mut own: BTreeSet<(&str, &str, String)> = BTreeSet::new();
        for _ in 0..dice.below(4) {
            own.insert((dice.pick(&["knows", "r s", "é"]), dice.pick(&names), bag(dice, true)));
        }
        for (at, (relation, to, props)) in own.into_iter().enumerate() {
            let (relation, to, props) = (quoted(relation), quoted(to), quoted(&props));
            writeln!(text, "{},{at},{relation},{to},1.0,-1,False,\"\",{props}", quoted(name)).expect("a string");
            edges += 1;
        }
    }
    std::fs::write(home.join("graph.csv"), text).expect("a file");
    Made { path: "graph.csv".to_owned(), format: "nock", counts: Some((names.len(), edges)) }
}

/// Returns a JSON object of properties, or an empty text.
fn bag(dice: &mut Dice, of_edge: bool) -> String {
    let mut members = serde_json::Map::new();
    for _ in 0..dice.below(3) {
        let value = match dice.below(5) {
            0 => serde_json::json!(dice.below(9) as i64 - 4),
            1 => serde_json::json!(dice.below(9) as f64 / 4.0),
            2 => serde_json::json!(dice.chance(50)),
            3 => serde_json::Value::Null,
            _ => serde_json::json!(dice.pick(NAMES)),
        };
        members.insert(dice.pick(&["p", "q", "größe"]).to_owned(), value);
    }
    if of_edge && dice.chance(30) {
        members.insert("directed".to_owned(), serde_json::json!(false));
    }
    if members.is_empty() { String::new() } else { serde_json::Value::Object(members).to_string() }
}

/// Creates nodes and edges with numbers, as DeepGNN Linear text.
fn numbers(dice: &mut Dice, home: &Path) -> Made {
    let ids: BTreeSet<usize> = (0..1 + dice.below(8)).map(|_| dice.below(20)).collect();
    let ids: Vec<usize> = ids.into_iter().collect();
    let mut text = String::new();
    let mut edges = 0;
    for id in &ids {
        let feature = if dice.chance(50) { format!(" float32 2 {} 0.5", dice.below(4)) } else { String::new() };
        writeln!(text, "-1 {id} {} {}.5{feature}", dice.below(3), dice.below(4)).expect("a string");
        let own: BTreeSet<(usize, usize)> =
            (0..dice.below(4)).map(|_| (dice.below(3), ids[dice.below(ids.len())])).collect();
        for (ty, to) in own {
            writeln!(text, "{id} {to} {ty} {}.25", 1 + dice.below(4)).expect("a string");
            edges += 1;
        }
    }
    std::fs::write(home.join("graph.linear"), text).expect("a file");
    Made { path: "graph.linear".to_owned(), format: "deepgnn", counts: Some((ids.len(), edges)) }
}

/// Creates statements, as N-Quads.
fn statements(dice: &mut Dice, home: &Path) -> Made {
    let lines: BTreeSet<String> = (0..1 + dice.below(25)).map(|_| quads::random(dice)).collect();
    std::fs::write(home.join("graph.nq"), lines.into_iter().collect::<String>()).expect("a file");
    Made { path: "graph.nq".to_owned(), format: "rdf", counts: None }
}
