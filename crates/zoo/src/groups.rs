//! Slices and layers of generated graphs.

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::arrays::*;
use super::build::{Build, columns};
use super::multilayer::Dice;
use isomorph_model::batch::{GroupBatch, MembershipBatch};
use isomorph_model::schema::{GroupKind, MembershipTable, Owner};
use isomorph_model::type_name::list_of;
use isomorph_model::{Batch, Ends, Key, KeyKind, Property, ValueKind, well_known};

/// The ids of one table of elements.
pub(super) struct Element<'a>(pub &'a [String]);

/// The elements that can be in slices: nodes, edges, and each hyperedge type.
pub(super) struct Slicing<'a> {
    pub elements: &'a [Element<'a>],
}

/// Lists of labels.
pub(super) fn tuples<'a>(rows: impl Iterator<Item = &'a [String]>) -> ArrayRef {
    let rows: Vec<Vec<&str>> = rows.map(|row| row.iter().map(String::as_str).collect()).collect();
    let rows: Vec<Option<&[&str]>> = rows.iter().map(|row| Some(row.as_slice())).collect();
    labels(&rows)
}

fn kind(name: &str, key: Key, ordered: bool, properties: Vec<Property>) -> GroupKind {
    GroupKind { kind: name.to_owned(), key, ordered, properties, all: Vec::new(), memberships: Vec::new() }
}

/// A slice of everything, or one that lacks an element, and some others that overlap.
pub(super) fn slices(build: &mut Build, dice: &mut Dice, slicing: &Slicing<'_>) {
    let mut names = vec!["default"];
    names.extend(["s1", "", "é"].iter().filter(|_| dice.chance(50)));
    let colours = dice.chance(50).then(|| dice.texts(names.len()));
    let first_is_out = !slicing.elements[0].0.is_empty() && dice.chance(30);
    let has_attribute = dice.chance(50);
    let colour = colours.as_ref().map(|_| Property::new("colour", DataType::Utf8));
    let mut slice = kind("slice", Key::utf8(), true, colour.into_iter().collect());
    if !first_is_out {
        slice.all.push("default".to_owned());
    }
    let mut said = vec![Property::new(well_known::WEIGHT, DataType::Float64)];
    said.extend(has_attribute.then(|| Property::new("note", DataType::Utf8)));
    let owners = (0..slicing.elements.len()).map(|at| match at {
        0 => Owner::Nodes(0),
        1 => Owner::Edges(0),
        at => Owner::Hyperedges(at - 2),
    });
    let said_of = |of: Owner| if of == Owner::Nodes(0) { Vec::new() } else { said.clone() };
    slice.memberships = owners.map(|of| MembershipTable { of, properties: said_of(of) }).collect();
    let at = build.describe().groups.len();
    build.describe().groups.push(slice);
    let keys = text(names.iter().copied());
    build.batch(Batch::Groups(GroupBatch { kind: at, start: 0, keys, properties: columns(colours) }));
    for (table, Element(ids)) in slicing.elements.iter().enumerate() {
        let (mut groups, mut members, mut weights, mut notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for name in &names {
            let is_default = *name == "default";
            for (row, id) in ids.iter().enumerate() {
                let weight = (table > 0 && dice.chance(30)).then(|| dice.float());
                let note = (table > 0 && has_attribute && dice.chance(30)).then(|| dice.pick(&["", "noted"]));
                let listed = match (is_default, first_is_out) {
                    // A row for the slice of everything adds properties to a member.
                    (true, false) => weight.is_some() || note.is_some(),
                    (true, true) => table > 0 || row > 0,
                    (false, _) => dice.chance(40),
                };
                if listed {
                    groups.push(*name);
                    members.push(id.as_str());
                    weights.push(weight);
                    notes.push(note);
                }
            }
        }
        if groups.is_empty() {
            continue;
        }
        let mut properties = Vec::new();
        if table > 0 {
            properties.push(Some(float64(weights)));
            properties.extend(has_attribute.then(|| Some(text(notes))));
        }
        let (group, member) = (Ends::Keys(text(groups)), Ends::Keys(text(members)));
        build.batch(Batch::Memberships(MembershipBatch { kind: at, table, group, member, properties }));
    }
}

/// Aspects with their labels.
pub(super) struct Aspects {
    aspects: Vec<(&'static str, Vec<&'static str>)>,
}

/// Some aspects, each with at least one label.
pub(super) fn aspects(dice: &mut Dice, count: usize) -> Aspects {
    const NAMES: [(&str, [&str; 3]); 2] = [("relation", ["social", "work_ed", "é"]), ("a_b", ["t0", "1", "\"t\""])];
    let of = |(name, labels): &(&'static str, [&'static str; 3])| {
        let count = 1 + dice.below(labels.len());
        (*name, labels[..count].to_vec())
    };
    Aspects { aspects: NAMES[..count].iter().map(of).collect() }
}

impl Aspects {
    /// All layers: the one for no aspects, then each combination of labels. A graph without aspects has only the first.
    pub fn tuples(&self) -> Vec<Vec<String>> {
        let mut tuples: Vec<Vec<String>> = vec![Vec::new()];
        for (_, labels) in &self.aspects {
            let with = |label: &&str| {
                let add = move |tuple: &Vec<String>| tuple.iter().cloned().chain([(*label).to_owned()]).collect();
                tuples.iter().map(add).collect::<Vec<Vec<String>>>()
            };
            tuples = labels.iter().flat_map(with).collect();
        }
        let none = vec!["_".to_owned(); self.aspects.len().max(1)];
        if self.aspects.is_empty() {
            return vec![none];
        }
        std::iter::once(none).chain(tuples).collect()
    }

    /// Adds aspects, elementary layers, layers, and placements: node by node, the first of its layers first.
    pub fn write(&self, build: &mut Build, dice: &mut Dice, (nodes, places): (&[String], &[Vec<usize>])) {
        let tuple = || Key { kind: KeyKind::Tuple, data_type: list_of(DataType::Utf8), name: None };
        let attributes = || Property::new("attributes", DataType::Utf8).of_kind(ValueKind::Json);
        let mut json = |rows: usize| {
            let one = |_| dice.chance(40).then(|| dice.pick(&["{\"a\": 1}", "{\"b\": [null, 1.5], \"\": \"x\"}"]));
            text((0..rows).map(one).collect::<Vec<_>>())
        };
        let aspect = text(self.aspects.iter().map(|(name, _)| *name));
        let of_aspects = json(aspect.len());
        let pairs: Vec<Vec<String>> = self
            .aspects
            .iter()
            .flat_map(|(name, labels)| labels.iter().map(|label| vec![(*name).to_owned(), (*label).to_owned()]))
            .collect();
        // A layer exists if it contains a node or has properties.
        let all = self.tuples();
        let said = json(all.len());
        let used = |layer: &usize| places.iter().any(|own| own.contains(layer)) || said.is_valid(*layer);
        let used: Vec<usize> = (0..all.len()).filter(used).collect();
        let said = super::rows::pick_column(&said, &used);
        let placed: Vec<(usize, usize)> =
            places.iter().enumerate().flat_map(|(node, own)| own.iter().map(move |layer| (node, *layer))).collect();
        let of_places = json(placed.len());
        let ordered = bools((0..aspect.len()).map(|_| dice.chance(50)).collect::<Vec<_>>());
        let colours = dice.chance(50).then(|| dice.texts(pairs.len()));

        let first = build.describe().groups.len();
        let is_ordered = Property::new("ordered", DataType::Boolean).required();
        let colour = colours.as_ref().map(|_| Property::new("colour", DataType::Utf8));
        let mut layer = kind("layer", tuple(), false, vec![attributes()]);
        layer.memberships.push(MembershipTable { of: Owner::Nodes(0), properties: vec![attributes()] });
        build.describe().groups.extend([
            kind("aspect", Key::utf8(), true, vec![is_ordered, attributes()]),
            kind("elementary", tuple(), true, colour.into_iter().collect()),
            layer,
        ]);
        let own = tuples(used.iter().map(|layer| all[*layer].as_slice()));
        let tables = [
            (aspect, columns([ordered, of_aspects])),
            (tuples(pairs.iter().map(Vec::as_slice)), columns(colours)),
            (own, columns([said])),
        ];
        for (at, (keys, properties)) in tables.into_iter().enumerate().filter(|(_, (keys, _))| !keys.is_empty()) {
            build.batch(Batch::Groups(GroupBatch { kind: first + at, start: 0, keys, properties }));
        }
        if !placed.is_empty() {
            build.batch(Batch::Memberships(MembershipBatch {
                kind: first + 2,
                table: 0,
                group: Ends::Keys(tuples(placed.iter().map(|(_, layer)| all[*layer].as_slice()))),
                member: Ends::Keys(text(placed.iter().map(|(node, _)| nodes[*node].as_str()))),
                properties: columns([of_places]),
            }));
        }
    }
}
