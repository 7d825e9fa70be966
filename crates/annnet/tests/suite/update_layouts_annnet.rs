//! Changes in every layout and form: many random changes of all kinds give the same graph as a new conversion.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::DataType;
use common::build::{Files, booleans, floats, integers, text};
use common::changes::{Random, bytes, change, is_sound, table};
use common::{open, write};
use isomorph_annnet::update::{AttributeTable, Changes};
use isomorph_annnet::{WriteLayout, WriteOptions};
use isomorph_model::MemoryGraph;
use isomorph_model::digest::Digest;
use isomorph_storage::{Blob, Location};
use isomorph_tables::{Encoding, ReadOptions, Selection, TableReader};

/// The expected graph after the changes generated so far.
struct State {
    random: Random,
    layered: bool,
    /// Entities with the layers in which they are placed; entities that are edges are in none.
    entities: Vec<(String, Vec<&'static str>)>,
    nodes: Vec<String>,
    edges: Vec<String>,
    slices: Vec<String>,
    next: u64,
}

const LAYERS: [&str; 2] = ["t0", "t1"];

impl State {
    fn new(seed: u64, layered: bool) -> State {
        let place = |layer: &'static str| if layered { vec![layer] } else { Vec::new() };
        State {
            random: Random(seed),
            layered,
            entities: vec![("a".into(), place("t0")), ("b".into(), place("t1"))],
            nodes: vec!["a".into(), "b".into()],
            edges: vec!["e".into(), "h".into()],
            slices: vec!["s".into()],
            next: 0,
        }
    }

    fn files(&self) -> Files {
        if self.layered { Files::layered() } else { Files::small() }
    }

    fn chance(&mut self, of: u64) -> bool {
        self.random.below(of) == 0
    }

    fn id(&mut self, kind: &str) -> String {
        self.next += 1;
        // Some ids read as something else.
        if self.chance(9) { format!("{}", self.next) } else { format!("{kind}{}\u{e9}", self.next) }
    }

    /// An entity, with a layer in which it is placed.
    fn end(&mut self) -> (String, Option<&'static str>) {
        let (id, layers) = &self.entities[self.random.below(self.entities.len() as u64) as usize];
        let at = self.random.below(layers.len() as u64) as usize;
        (id.clone(), layers.get(at).copied())
    }

    fn vertices(&mut self) -> Vec<arrow_array::RecordBatch> {
        let (mut ids, mut layers, mut slices, mut numbers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.random.below(4) {
            let again = self.layered && self.chance(4);
            if again {
                let free = self.entities.iter_mut().find(|(id, own)| own.len() == 1 && !id.starts_with('x'));
                if let Some((id, own)) = free {
                    let other = LAYERS.into_iter().find(|layer| !own.contains(layer)).unwrap();
                    own.push(other);
                    ids.push(id.clone());
                    layers.push(Some(other));
                    slices.push(None);
                    numbers.push(None);
                }
                continue;
            }
            let id = self.id("v");
            let layer = self.layered.then(|| LAYERS[self.random.below(2) as usize]);
            self.entities.push((id.clone(), layer.into_iter().collect()));
            self.nodes.push(id.clone());
            ids.push(id);
            layers.push(layer);
            slices.push(self.chance(3).then(|| self.slices[0].clone()));
            numbers.push((!self.chance(3)).then_some(self.next as i64));
        }
        if ids.is_empty() {
            return Vec::new();
        }
        let mut columns = vec![
            ("id", text(ids.iter().map(String::as_str))),
            ("slices", text(slices.iter().map(Option::as_deref))),
            ("n", integers(numbers)),
        ];
        if self.layered {
            columns.push(("layer", text(layers)));
        }
        vec![table(columns)]
    }

    /// Edges of every kind. An edge that is an entity has an id with an x.
    fn edges(&mut self) -> Vec<arrow_array::RecordBatch> {
        let rows = 1 + self.random.below(5) as usize;
        let mut ids = Vec::new();
        let mut sides: [Vec<Option<String>>; 2] = Default::default();
        let mut side_layers: [Vec<Option<&str>>; 2] = Default::default();
        let mut lists: [Vec<Option<String>>; 3] = Default::default();
        let mut list_numbers: [Vec<Option<String>>; 3] = Default::default();
        let mut numbers: [Vec<Option<f64>>; 2] = Default::default();
        let (mut entity, mut directed, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let (mut slices, mut slice_weights, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rows {
            let kind = self.random.below(8);
            let is_entity = matches!(kind, 0 | 1);
            let id = self.id(if is_entity { "x" } else { "e" });
            let is_entity = is_entity && id.starts_with('x');
            let mut row = (None, None, [None; 2]);
            let mut own: [Option<String>; 3] = Default::default();
            let mut coefficients: [Option<String>; 3] = Default::default();
            let mut of_ends = [None; 2];
            match kind {
                0 if is_entity => {}
                2 | 3 => {
                    let (first, second) = if kind == 2 { (vec![2], self.chance(2)) } else { (vec![0, 1], true) };
                    // All members of a side are in one layer.
                    for at in first {
                        let layer = self.layered.then(|| LAYERS[self.random.below(2) as usize]);
                        let fits =
                            |(_, layers): &&(String, Vec<&str>)| layer.is_none_or(|layer| layers.contains(&layer));
                        let all: Vec<String> = self.entities.iter().filter(fits).map(|(id, _)| id.clone()).collect();
                        let some: BTreeSet<String> =
                            (0..3).map(|_| all[self.random.below(all.len() as u64) as usize].clone()).collect();
                        if second && self.chance(2) && at == 2 {
                            let values: Vec<String> =
                                some.iter().enumerate().map(|(at, _)| format!("{at}.5")).collect();
                            coefficients[at] = Some(values.join("|"));
                        }
                        row.2[usize::from(at == 1)] = layer;
                        own[at] = Some(some.into_iter().collect::<Vec<_>>().join("|"));
                    }
                }
                _ => {
                    let (source, target) = (self.end(), self.end());
                    if kind == 4 && source.0 != target.0 {
                        of_ends = [Some(-1.25 - self.next as f64), Some(3.0)];
                    }
                    row = (Some(source.0), Some(target.0), [source.1, target.1]);
                }
            }
            entity.push(is_entity);
            sides[0].push(row.0);
            sides[1].push(row.1);
            for at in 0..2 {
                side_layers[at].push(row.2[at]);
                numbers[at].push(of_ends[at]);
            }
            for at in 0..3 {
                lists[at].push(own[at].take());
                list_numbers[at].push(coefficients[at].take());
            }
            directed.push((kind > 5).then_some(kind == 6));
            weights.push((!self.chance(3)).then_some(self.next as f64 * 0.3));
            let slice =
                self.chance(3).then(|| self.slices[self.random.below(self.slices.len() as u64) as usize].clone());
            slice_weights.push(slice.is_some().then_some("0.75"));
            slices.push(slice);
            words.push((!self.chance(2)).then(|| format!("about {id}")));
            self.edges.push(id.clone());
            if is_entity {
                self.entities.push((id.clone(), Vec::new()));
            }
            ids.push(id);
        }
        let options = |all: &[Option<String>]| text(all.iter().map(Option::as_deref));
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("id", text(ids.iter().map(String::as_str))),
            ("source", options(&sides[0])),
            ("target", options(&sides[1])),
            ("head", options(&lists[0])),
            ("tail", options(&lists[1])),
            ("members", options(&lists[2])),
            ("member_coefficients", options(&list_numbers[2])),
            ("source_coefficient", floats(numbers[0].clone())),
            ("target_coefficient", floats(numbers[1].clone())),
            ("entity", booleans(entity)),
            ("directed", booleans(directed)),
            ("weight", floats(weights)),
            ("slices", options(&slices)),
            ("slice_weights", text(slice_weights)),
            ("x", options(&words)),
        ];
        if self.layered {
            columns.push(("source_layer", text(side_layers[0].clone())));
            columns.push(("target_layer", text(side_layers[1].clone())));
        }
        vec![table(columns)]
    }

    fn some(&mut self, of: &[String]) -> Vec<String> {
        let some: BTreeSet<String> = (0..3).map(|_| of[self.random.below(of.len() as u64) as usize].clone()).collect();
        some.into_iter().collect()
    }

    fn additions(&mut self) -> Changes {
        Changes { vertices: self.vertices(), edges: self.edges(), ..Changes::default() }
    }

    /// A random change of any kind.
    fn change(&mut self) -> Changes {
        let of = |kind, columns| Changes { table: Some((kind, vec![table(columns)])), ..Changes::default() };
        let id = self.next as i64;
        match self.random.below(12) {
            0 => {
                let ids = self.some(&self.nodes.clone());
                let numbers: Vec<i64> = (0..ids.len() as i64).map(|at| at + id).collect();
                of(AttributeTable::Nodes, vec![("id", text(ids.iter().map(String::as_str))), ("n", integers(numbers))])
            }
            1 => {
                let ids = self.some(&self.edges.clone());
                let same = text(ids.iter().map(String::as_str));
                of(AttributeTable::Edges, vec![("edge_id", same.clone()), ("x", same)])
            }
            2 => {
                let ids = self.some(&self.slices.clone());
                let same = text(ids.iter().map(String::as_str));
                let numbers: Vec<f64> = (0..ids.len()).map(|at| at as f64 / 4.0).collect();
                of(AttributeTable::Slices, vec![("slice_id", same.clone()), ("colour", same), ("y", floats(numbers))])
            }
            3 | 4 => {
                let name = if self.chance(2) { self.slices[0].clone() } else { self.id("slice") };
                let (nodes, edges) = (self.some(&self.nodes.clone()), self.some(&self.edges.clone()));
                let count = nodes.len() + edges.len();
                let nodes = nodes.iter().map(|id| Some(id.as_str())).chain(edges.iter().map(|_| None));
                let ids = (0..count - edges.len()).map(|_| None).chain(edges.iter().map(|id| Some(id.as_str())));
                let weights = (0..count).map(|at| (at + 1 == count).then_some(0.5));
                let columns =
                    vec![("node", text(nodes)), ("edge", text(ids)), ("weight", floats(weights.collect::<Vec<_>>()))];
                if !self.slices.contains(&name) {
                    self.slices.push(name.clone());
                }
                Changes { slice: Some((name, vec![table(columns)])), ..Changes::default() }
            }
            5 => Changes { history: Some(format!("{{\"op\": \"mark\", \"n\": {id}}}")), ..Changes::default() },
            6 if self.layered => {
                let columns = vec![("layer", text(["t1"])), ("attributes", text([r#"{"note": [2]}"#]))];
                of(AttributeTable::Layers, columns)
            }
            _ => self.additions(),
        }
    }
}

/// The graph in every form in which it can be changed, with and without its matrix.
fn forms(folder: &Path, state: &State) -> Vec<PathBuf> {
    let base = folder.join("base");
    state.files().write(&base);
    let source = open(&base).unwrap();
    let form = |name: &str, layout, archive, matrix| {
        let place = folder.join(name);
        let options = WriteOptions { layout, archive, matrix, ..common::write::options() };
        write(&source, &place, &options, 2).unwrap();
        place
    };
    let text = WriteLayout::Specification;
    vec![
        form("v2", WriteLayout::V2, false, false),
        form("v2-matrix", WriteLayout::V2, false, true),
        form("v2.annnet", WriteLayout::V2, true, false),
        form("text", text, false, true),
        form("text.annnet", text, true, true),
    ]
}

fn digest(path: &Path) -> Digest {
    MemoryGraph::read(&open(path).unwrap()).unwrap().digest().unwrap()
}

/// The graph of `changed`, newly written in the same form.
fn fresh(changed: &Path, folder: &Path) -> PathBuf {
    let name = changed.file_name().unwrap().to_str().unwrap();
    let place = folder.join(format!("fresh-{name}"));
    let layout = if name.starts_with("text") { WriteLayout::Specification } else { WriteLayout::V2 };
    let options = WriteOptions {
        layout,
        archive: name.ends_with(".annnet"),
        matrix: name.contains("matrix"),
        ..common::write::options()
    };
    write(&open(changed).unwrap(), &place, &options, 7).unwrap();
    place
}

#[test]
fn fifty_changes_of_every_kind_are_one_fresh_write_in_every_layout() {
    for (seed, layered) in [(1, false), (2, true)] {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::new(seed, layered);
        let forms = forms(folder.path(), &state);
        for step in 0..50 {
            let changes = state.change();
            for form in &forms {
                change(form, &changes).unwrap_or_else(|error| panic!("{step} {}: {error:?}", form.display()));
            }
        }
        let wanted = digest(&forms[0]);
        for form in &forms {
            is_sound(form);
            assert_eq!(digest(form), wanted, "seed {seed} {}", form.display());
            assert_eq!(digest(&fresh(form, folder.path())), wanted, "seed {seed} {}", form.display());
        }
    }
}

#[test]
fn additions_in_steps_are_additions_at_once_in_every_layout() {
    for (seed, layered) in [(3, false), (4, true)] {
        let folder = tempfile::tempdir().unwrap();
        let (steps, once) = (folder.path().join("steps"), folder.path().join("once"));
        let mut state = State::new(seed, layered);
        let (steps, once) = (forms(&steps, &state), forms(&once, &state));
        let mut all = Changes::default();
        for _ in 0..50 {
            let changes = state.additions();
            steps.iter().for_each(|form| drop(change(form, &changes).unwrap()));
            all.vertices.extend(changes.vertices);
            all.edges.extend(changes.edges);
        }
        for (steps, once) in steps.iter().zip(&once) {
            // The counter of changes is a part of the content.
            change(once, &all).unwrap();
            (0..49).for_each(|_| drop(change(once, &Changes::default()).unwrap()));
            assert_eq!(digest(steps), digest(once), "seed {seed} {}", steps.display());
        }
    }
}

/// Row, column and value of each entry of an uncompressed matrix, sorted by column and row.
fn cells(graph: &Path) -> (String, Vec<(i32, i32, u32)>) {
    let group = graph.join("structure/incidence.zarr");
    let numbers = |name: &str| -> Vec<[u8; 4]> {
        let about = std::fs::read_to_string(group.join(name).join("zarr.json")).unwrap();
        let length = serde_json::from_str::<serde_json::Value>(&about).unwrap()["shape"][0].as_u64().unwrap() as usize;
        let chunk = std::fs::read(group.join(name).join("c/0")).unwrap_or_else(|_| vec![0; length * 4]);
        chunk.chunks_exact(4).take(length).map(|own| own.try_into().unwrap()).collect()
    };
    let (rows, columns, data) = (numbers("row"), numbers("col"), numbers("data"));
    let cell =
        |at: usize| (i32::from_le_bytes(rows[at]), i32::from_le_bytes(columns[at]), u32::from_le_bytes(data[at]));
    assert!(rows.len() == columns.len() && rows.len() == data.len());
    (std::fs::read_to_string(group.join("zarr.json")).unwrap(), (0..rows.len()).map(cell).collect())
}

#[test]
fn a_matrix_goes_on_and_is_that_of_a_fresh_write() {
    for (seed, layered) in [(5, false), (6, true)] {
        for layout in WriteLayout::ALL {
            let folder = tempfile::tempdir().unwrap();
            let mut state = State::new(seed, layered);
            let (base, place) = (folder.path().join("base"), folder.path().join("graph"));
            state.files().write(&base);
            let options = WriteOptions {
                layout,
                matrix: true,
                compression: isomorph_tables::Compression::None,
                ..common::write::options()
            };
            write(&open(&base).unwrap(), &place, &options, 2).unwrap();
            for _ in 0..6 {
                let done = change(&place, &state.additions()).unwrap();
                assert!(done.removed.is_empty(), "{:?}", done.removed);
            }
            is_sound(&place);
            // Rows and columns have another order in a new conversion.
            let named = |graph: &Path| {
                let (about, cells) = cells(graph);
                let (rows, columns) = match layout {
                    WriteLayout::V2 => (("entity_index", "entity_id", "idx"), ("edges", "edge_id", "col_idx")),
                    _ => (("entity_to_idx", "entity_id", "idx"), ("edge_to_idx", "edge_id", "idx")),
                };
                let (rows, columns) = (names(graph, rows), names(graph, columns));
                let cell =
                    |(row, column, value)| (rows[&i64::from(row)].clone(), columns[&i64::from(column)].clone(), value);
                let mut named: Vec<(String, String, u32)> = cells.into_iter().map(cell).collect();
                named.sort();
                (about, named)
            };
            let again = folder.path().join("again");
            write(&open(&place).unwrap(), &again, &options, 5).unwrap();
            let (own, fresh) = (named(&place), named(&again));
            assert_eq!(own, fresh, "{layout} layered {layered}");
            assert!(own.1.len() > 20);
            let manifest = String::from_utf8(bytes(&place)["manifest.json"].clone()).unwrap();
            if layout == WriteLayout::V2 {
                assert!(manifest.contains("\"incidence_stored\": true"), "{manifest}");
            }
        }
    }
}

/// Ids in a table of `structure` by their positions.
fn names(graph: &Path, (file, id, position): (&str, &str, &str)) -> BTreeMap<i64, String> {
    let place = graph.join(format!("structure/{file}.parquet"));
    let files = match place.is_dir() {
        true => std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()).collect(),
        false => vec![place],
    };
    let mut names = BTreeMap::new();
    for file in files {
        let blob = Blob::open(&Location::from_path(&file)).unwrap();
        let table = TableReader::open(blob, Encoding::Parquet, &ReadOptions::default()).unwrap();
        for batch in table.batches(&Selection::all().columns([id, position])).unwrap() {
            let batch = batch.unwrap();
            let ids = arrow_cast::cast(batch.column_by_name(id).unwrap(), &DataType::Utf8).unwrap();
            let positions = batch.column_by_name(position).unwrap().as_primitive::<Int64Type>().clone();
            let rows = ids.as_string::<i32>().iter().flatten().map(str::to_owned);
            names.extend(positions.iter().flatten().zip(rows));
        }
    }
    names
}
