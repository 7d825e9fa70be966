//! Multilayer hypergraphs generated from a number: aspects, placements, hyperedges with roles and coefficients,
//! edges that are entities, slices with weights, and ids that look like something else.

use std::collections::BTreeMap;

use arrow_array::{ArrayRef, Float64Array, StringArray};
use arrow_schema::DataType;

use super::arrays::*;
use super::build::{Build, Edges, Nodes, columns};
use super::groups::{self, Element, Slicing};
use isomorph_model::batch::{HyperedgeBatch, MemberBatch};
use isomorph_model::schema::HyperedgeType;
use isomorph_model::{Batch, Direction, Ends, Key, MemoryGraph, Property, well_known};

/// Unusual ids: empty, blank, JSON of every kind, layers, other scripts.
const IDS: &[&str] = &[
    "",
    " ",
    "1",
    "-1",
    "1e5",
    "null",
    "true",
    "NaN",
    "\"x\"",
    "[1]",
    "{}",
    "(a)",
    "_",
    "a,b",
    "a/b",
    "\\",
    "\n",
    "é",
    "e\u{301}",
    "😀",
    "漢",
    "default",
    "n",
    "node",
    "edge",
    "x",
    "y",
    "z",
    "{\"kind\": \"supra\", \"layer\": [\"_\"], \"node\": \"x\"}",
];

const FLOATS: &[f64] =
    &[1.0, 0.0, -0.0, 0.1, -1.5, 1e300, 5e-324, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 9_007_199_254_740_993.0];

/// A random generator: the same number generates the same graph.
pub(super) struct Dice(u64);

impl Dice {
    /// Returns a number below `end`, or 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        // SplitMix64: every state gives another number.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % end.max(1) as u64) as usize
    }

    /// Returns true in this percentage of cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub fn float(&mut self) -> f64 {
        self.pick(FLOATS)
    }

    /// Returns at most `count` distinct ids that are not in `taken`.
    fn ids(&mut self, count: usize, taken: &[String]) -> Vec<String> {
        let mut chosen: Vec<String> = Vec::new();
        for number in 0..count {
            let id = if self.chance(80) { self.pick(IDS).to_owned() } else { format!("id {number}") };
            if !taken.contains(&id) && !chosen.contains(&id) {
                chosen.push(id);
            }
        }
        chosen
    }

    /// Returns cells of text, some of them absent.
    pub fn texts(&mut self, rows: usize) -> ArrayRef {
        text((0..rows).map(|_| self.chance(60).then(|| self.pick(IDS))).collect::<Vec<_>>())
    }
}

/// What can be an end: a node, in one of its layers.
struct Places {
    names: Vec<String>,
    layers: Vec<Vec<String>>,
    /// The layers of each node.
    of: Vec<Vec<usize>>,
}

impl Places {
    fn any(&self, dice: &mut Dice) -> (usize, usize) {
        let node = dice.below(self.names.len());
        (node, dice.pick(&self.of[node]))
    }

    fn keys(&self, ends: &[(usize, usize)]) -> ArrayRef {
        text(ends.iter().map(|(node, _)| self.names[*node].as_str()))
    }

    fn labels(&self, ends: &[(usize, usize)]) -> ArrayRef {
        groups::tuples(ends.iter().map(|(_, layer)| self.layers[*layer].as_slice()))
    }
}

/// Generates a graph from a number, in the shape in which annnet graphs are read: one node type, one edge type, hyperedge
/// types, slices, and in two of three graphs layers.
pub fn multilayer(seed: u64) -> MemoryGraph {
    let mut dice = Dice(seed);
    let aspects = dice.pick(&[0, 1, 2]);
    let own = dice.below(7);
    let mut names = dice.ids(own, &[]);
    let marked = names.len();
    // Ends need at least one node.
    let most = if names.is_empty() { 0 } else { 7 };
    let [edges, hyperedges, one_sided] = [most, most, most / 3].map(|most| dice.below(most + 1));
    let placeholders = dice.below(3);
    let mut taken = Vec::new();
    let mut ids = [edges, hyperedges, placeholders, one_sided].map(|count| {
        let ids = dice.ids(count, &taken);
        taken.extend(ids.iter().cloned());
        ids
    });
    // Placeholders are only entities; other edges may be entities too. A node with that name represents them already.
    ids[2].retain(|id| !names.contains(id));
    for id in ids[0].iter().chain(&ids[2]) {
        if !names.contains(id) && (ids[2].contains(id) || dice.chance(30)) {
            names.push(id.clone());
        }
    }
    let layers = groups::aspects(&mut dice, aspects);
    let tuples = layers.tuples();
    let of = (0..names.len()).map(|_| {
        let first = dice.below(tuples.len());
        let mut own = vec![first];
        own.extend((0..tuples.len()).filter(|layer| *layer != first && dice.chance(25)));
        own
    });
    let places = Places { of: of.collect(), names, layers: tuples };

    let mut build = Build::default();
    nodes(&mut build, &mut dice, &places.names, marked);
    let has_attribute = dice.chance(50);
    two_ended(&mut build, &mut dice, &places, &ids[0], (aspects > 0, has_attribute));
    let classes = [("hyperedge", &ids[1]), ("placeholder", &ids[2]), ("one_sided", &ids[3])];
    let mut others = Vec::new();
    for (name, ids) in classes.into_iter().filter(|(_, ids)| !ids.is_empty()) {
        hyper(&mut build, &mut dice, &places, (name, ids), (aspects > 0, has_attribute));
        others.push(ids.as_slice());
    }
    let elements: Vec<Element<'_>> =
        [places.names.as_slice(), &ids[0]].into_iter().chain(others).map(Element).collect();
    groups::slices(&mut build, &mut dice, &Slicing { elements: &elements });
    if aspects > 0 {
        layers.write(&mut build, &mut dice, (&places.names, &places.of));
    }
    let directed = dice.pick(&["true", "false", "null"]);
    for (name, text) in [
        ("directed", directed),
        ("graph_version", "7"),
        ("active_slice", "\"default\""),
        ("default_slice", "\"default\""),
    ] {
        build.document(name, text);
    }
    if dice.chance(50) {
        build.document("uns", "{\"scores\": [1, 2.5, NaN, -Infinity], \"\": {\"deep\": null}}");
    }
    build.finish()
}

fn nodes(build: &mut Build, dice: &mut Dice, names: &[String], marked: usize) {
    let mut table = Nodes::with_key("node", Key::utf8(), text(names.iter().map(String::as_str))).ordered();
    let entity = |row: usize| (row >= marked).then_some("edge");
    if names.len() > marked {
        table = table.column(well_known::ENTITY, text((0..names.len()).map(entity)));
    }
    // An edge that is an entity has its attributes as an edge.
    let own = |row: usize| row < marked;
    if dice.chance(70) {
        let cells: Vec<Option<f64>> =
            (0..names.len()).map(|row| (own(row) && dice.chance(70)).then(|| dice.float())).collect();
        table = table.column("score", float64(cells));
    }
    if dice.chance(50) {
        let rows: Vec<Option<&[&str]>> = (0..names.len())
            .map(|row| (own(row) && dice.chance(60)).then(|| dice.pick::<&[&str]>(&[&[], &["a"], &["", "é"]])))
            .collect();
        table = table.column("tags", labels(&rows));
    }
    build.nodes(table);
}

fn properties(dice: &mut Dice, rows: usize, has_attribute: bool) -> Vec<(Property, ArrayRef)> {
    let weights: Vec<f64> = (0..rows).map(|_| dice.float()).collect();
    let weight = (Property::new(well_known::WEIGHT, DataType::Float64).required(), float64(weights));
    let attribute = has_attribute.then(|| (Property::new("kind of it", DataType::Utf8), dice.texts(rows)));
    std::iter::once(weight).chain(attribute).collect()
}

fn two_ended(
    build: &mut Build,
    dice: &mut Dice,
    places: &Places,
    ids: &[String],
    (layered, has_attribute): (bool, bool),
) {
    let sources: Vec<(usize, usize)> = ids.iter().map(|_| places.any(dice)).collect();
    // Some loops, and some edges that equal the previous one.
    let mut targets: Vec<(usize, usize)> = ids.iter().map(|_| places.any(dice)).collect();
    let mut sources = sources;
    for row in 0..ids.len() {
        match dice.below(6) {
            0 => targets[row] = sources[row],
            1 if row > 0 => (sources[row], targets[row]) = (sources[row - 1], targets[row - 1]),
            _ => {}
        }
    }
    let coefficients: Vec<Option<(f64, f64)>> = (0..ids.len())
        .map(|row| {
            let (first, second) = (dice.float(), dice.float());
            // A loop has one coefficient for both its ends.
            let second = if sources[row] == targets[row] { first } else { second };
            dice.chance(20).then_some((first, second))
        })
        .collect();
    let stated = coefficients.iter().any(Option::is_some);
    let directed: Vec<Option<bool>> = ids.iter().map(|_| Some(dice.chance(50))).collect();
    let (source, target) = (places.keys(&sources), places.keys(&targets));
    let mut table = Edges::keys(0, "edge", 0, source, target).directed(&directed);
    table = table.keyed(Key::utf8().named("edge_id"), text(ids.iter().map(String::as_str)));
    if layered || stated {
        let end = |ends: &[(usize, usize)], coefficient: &dyn Fn(&(f64, f64)) -> f64| {
            let layers = match layered {
                true => places.labels(ends),
                false => labels(&vec![None; ends.len()]),
            };
            let numbers: Vec<Option<f64>> = coefficients.iter().map(|both| both.as_ref().map(coefficient)).collect();
            structs(&[("layer", layers), ("coefficient", float64(numbers))])
        };
        table = table.layered(end(&sources, &|both| both.0), end(&targets, &|both| both.1));
    }
    for (property, cells) in properties(dice, ids.len(), has_attribute) {
        table = table.property(property, cells);
    }
    build.edges(table);
}

fn hyper(
    build: &mut Build,
    dice: &mut Dice,
    places: &Places,
    (name, ids): (&str, &[String]),
    (layered, has_attribute): (bool, bool),
) {
    let directed: Vec<bool> = ids.iter().map(|_| dice.chance(50)).collect();
    let (mut owners, mut ends, mut roles, mut numbers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (row, id) in ids.iter().enumerate() {
        let sides: &[(&str, usize)] = match (name, directed[row]) {
            ("placeholder", _) => &[],
            ("one_sided", true) => dice.pick(&[&[("head", 1)][..], &[("tail", 1)]]),
            ("one_sided", false) => &[("member", 1)],
            (_, true) => &[("head", 3), ("tail", 3)],
            (_, false) => &[("member", 5)],
        };
        let stated = name == "hyperedge" && dice.chance(30);
        // An element on both sides has one coefficient for both.
        let mut known: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (role, most) in sides {
            let count = if *most == 1 { 1 } else { dice.below(*most + 1) };
            let mut chosen: Vec<(usize, usize)> = (0..count).map(|_| places.any(dice)).collect();
            chosen.sort_unstable();
            chosen.dedup();
            for end in chosen {
                let number = *known.entry(end).or_insert_with(|| dice.float());
                owners.push(id.as_str());
                ends.push(end);
                roles.push(*role);
                numbers.push(stated.then_some(number));
            }
        }
    }
    let ty = build.describe().hyperedges.len();
    let cells = properties(dice, ids.len(), has_attribute);
    build.describe().hyperedges.push(HyperedgeType {
        name: name.to_owned(),
        key: Key::utf8().named("edge_id"),
        ends: 0,
        direction: Direction::PerRow,
        layered,
        properties: cells.iter().map(|(property, _)| property.clone()).collect(),
        rows: Some(ids.len() as u64),
    });
    build.batch(Batch::Hyperedges(HyperedgeBatch {
        ty,
        start: 0,
        rows: ids.len(),
        keys: text(ids.iter().map(String::as_str)),
        directed: Some(directed.into()),
        properties: columns(cells.into_iter().map(|(_, cells)| cells)),
    }));
    if !owners.is_empty() {
        build.batch(Batch::Members(MemberBatch {
            ty,
            owner: Ends::Keys(text(owners)),
            member: Ends::Keys(places.keys(&ends)),
            roles: StringArray::from(roles),
            layers: layered.then(|| places.labels(&ends)),
            coefficients: numbers.iter().any(Option::is_some).then(|| Float64Array::from(numbers)),
        }));
    }
}
