//! A graph in the representation of the fixtures.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use isomorph_model::batch::MembershipBatch;
use isomorph_model::schema::{DocumentBody, Owner};
use isomorph_model::{Batch, Ends, Graph, MemoryGraph, Source};
use serde_json::{Map, Value, json};

use super::cells::{cell, properties};

fn keys(ends: &Ends) -> &ArrayRef {
    match ends {
        Ends::Keys(keys) => keys,
        Ends::Rows(_) => panic!("annnet names ends by keys"),
    }
}

/// One edge of any kind.
#[derive(Default)]
struct Edge {
    kind: &'static str,
    weight: Value,
    directed: bool,
    source: Vec<Value>,
    target: Vec<Value>,
    coefficients: Option<BTreeMap<String, f64>>,
    attributes: Map<String, Value>,
}

#[derive(Default)]
struct Slice {
    attributes: Value,
    nodes: BTreeSet<String>,
    edges: BTreeSet<String>,
    pairs: Map<String, Value>,
}

/// The collected content of a graph.
#[derive(Default)]
pub struct View {
    graph: Graph,
    nodes: Vec<String>,
    entities: BTreeSet<String>,
    node_attributes: Map<String, Value>,
    edges: BTreeMap<String, Edge>,
    slices: Vec<String>,
    of_slices: BTreeMap<String, Slice>,
    placements: Vec<(Value, Value)>,
    placement_attributes: Vec<Value>,
    aspects: Vec<(String, Value, bool)>,
    elementary: Vec<(Value, Value)>,
    layers: Vec<(Value, Value)>,
}

fn at(id: &str, layer: Option<Value>) -> Value {
    match layer {
        Some(layer) if !layer.is_null() => json!([id, layer]),
        _ => json!(id),
    }
}

fn json_of(text: &Value) -> Value {
    text.as_str().map_or(Value::Null, |text| serde_json::from_str(text).unwrap())
}

impl View {
    /// Collects everything.
    pub fn of(source: &dyn Source) -> View {
        let memory = MemoryGraph::read(source).unwrap();
        let mut view = View { graph: memory.graph, ..View::default() };
        memory.batches.iter().for_each(|batch| view.add(batch));
        view
    }

    fn add(&mut self, batch: &Batch) {
        match batch {
            Batch::Nodes(nodes) => {
                assert_eq!(nodes.start, self.nodes.len() as u64);
                for row in 0..nodes.rows {
                    let id = nodes.keys.as_ref().unwrap().as_string::<i32>().value(row).to_owned();
                    let mut own = properties(&self.graph.nodes[0].properties, &nodes.properties, row);
                    if own.remove("entity") == Some(json!("edge")) {
                        self.entities.insert(id.clone());
                    } else {
                        self.node_attributes.insert(id.clone(), Value::Object(own));
                    }
                    self.nodes.push(id);
                }
            }
            Batch::Edges(edges) => {
                let ids = edges.keys.as_ref().unwrap().as_string::<i32>();
                let (source, target) = (keys(&edges.source).as_string::<i32>(), keys(&edges.target).as_string::<i32>());
                for row in 0..edges.rows {
                    let mut edge = Edge { kind: "binary", ..Edge::default() };
                    edge.attributes = properties(&self.graph.edges[0].properties, &edges.properties, row);
                    edge.weight = edge.attributes.remove("weight").unwrap();
                    edge.directed = edges.directed.as_ref().is_none_or(|all| all.is_null(row) || all.value(row));
                    let details = |ends: &ArrayRef| match ends.as_struct_opt() {
                        Some(both) => {
                            let coefficient = both.column(1).as_primitive::<Float64Type>();
                            let coefficient = coefficient.is_valid(row).then(|| coefficient.value(row));
                            (cell(both.column(0), row), coefficient)
                        }
                        None => (cell(ends, row), None),
                    };
                    let of = edges.layers.as_ref().map(|(source, target)| (details(source), details(target)));
                    let (of_source, of_target) = of.unzip();
                    edge.source = vec![at(source.value(row), of_source.clone().map(|(layer, _)| layer))];
                    edge.target = vec![at(target.value(row), of_target.clone().map(|(layer, _)| layer))];
                    for (end, of) in [(&edge.source, of_source), (&edge.target, of_target)] {
                        if let Some((_, Some(coefficient))) = of {
                            let all = edge.coefficients.get_or_insert_default();
                            all.insert(end[0].to_string(), coefficient);
                        }
                    }
                    assert!(self.edges.insert(ids.value(row).to_owned(), edge).is_none());
                }
            }
            Batch::Hyperedges(edges) => {
                let ty = &self.graph.hyperedges[edges.ty];
                for row in 0..edges.rows {
                    let kind = match ty.name.as_str() {
                        "hyperedge" => "hyper",
                        "placeholder" => "placeholder",
                        _ => "one_sided",
                    };
                    let mut edge = Edge { kind, ..Edge::default() };
                    edge.attributes = properties(&ty.properties, &edges.properties, row);
                    edge.weight = edge.attributes.remove("weight").unwrap();
                    edge.directed = edges.directed.as_ref().is_none_or(|all| all.value(row));
                    self.edges.insert(edges.keys.as_string::<i32>().value(row).to_owned(), edge);
                }
            }
            Batch::Members(members) => {
                let (owner, member) =
                    (keys(&members.owner).as_string::<i32>(), keys(&members.member).as_string::<i32>());
                for row in 0..owner.len() {
                    let edge = self.edges.get_mut(owner.value(row)).unwrap();
                    let end = at(member.value(row), members.layers.as_ref().map(|layers| cell(layers, row)));
                    if let Some(all) = members.coefficients.as_ref().filter(|all| all.is_valid(row)) {
                        edge.coefficients.get_or_insert_default().insert(end.to_string(), all.value(row));
                    }
                    match members.roles.value(row) {
                        "tail" => edge.target.push(end),
                        role => {
                            assert_eq!(role, if edge.directed { "head" } else { "member" });
                            edge.source.push(end);
                        }
                    }
                }
            }
            Batch::Groups(groups) => {
                let kind = &self.graph.groups[groups.kind];
                for row in 0..groups.keys.len() {
                    let own = properties(&kind.properties, &groups.properties, row);
                    let key = cell(&groups.keys, row);
                    let attributes = own.get("attributes").map_or(Value::Null, json_of);
                    match kind.kind.as_str() {
                        "slice" => {
                            let name = key.as_str().unwrap().to_owned();
                            let mut slice = Slice { attributes: Value::Object(own), ..Slice::default() };
                            if kind.all.contains(&name) {
                                slice.nodes.extend(self.nodes.iter().cloned());
                                slice.edges.extend(self.edges.keys().cloned());
                            }
                            self.slices.push(name.clone());
                            self.of_slices.insert(name, slice);
                        }
                        "aspect" => {
                            let name = key.as_str().unwrap().to_owned();
                            self.aspects.push((name, attributes, own["ordered"] == json!(true)));
                        }
                        "elementary" => self.elementary.push((key, Value::Object(own))),
                        "layer" => self.layers.push((key, attributes)),
                        other => panic!("{other} is no kind of groups"),
                    }
                }
            }
            Batch::Memberships(memberships) => self.memberships(memberships),
            Batch::Values(_) => panic!("annnet has no values in long form"),
        }
    }

    fn memberships(&mut self, batch: &MembershipBatch) {
        let kind = &self.graph.groups[batch.kind];
        let table = &kind.memberships[batch.table];
        let (groups, members) = (keys(&batch.group), keys(&batch.member).as_string::<i32>());
        for row in 0..members.len() {
            let own = properties(&table.properties, &batch.properties, row);
            let member = members.value(row).to_owned();
            if kind.kind == "layer" {
                let layer = cell(groups, row);
                self.placements.push((json!(member), layer.clone()));
                if let Some(attributes) = own.get("attributes") {
                    self.placement_attributes.push(json!([member, layer, json_of(attributes)]));
                }
                continue;
            }
            let slice = self.of_slices.get_mut(groups.as_string::<i32>().value(row)).unwrap();
            match table.of {
                Owner::Nodes(_) => assert!(slice.nodes.insert(member)),
                _ => {
                    slice.edges.insert(member.clone());
                    if !own.is_empty() {
                        slice.pairs.insert(member, Value::Object(own));
                    }
                }
            }
        }
    }

    fn document(&self, name: &str) -> Option<&DocumentBody> {
        self.graph.documents.iter().find(|document| document.name == name).map(|document| &document.body)
    }

    /// A JSON document; null if there is none. Infinity and NaN are represented as in the fixtures.
    pub fn json(&self, name: &str) -> Value {
        let Some(DocumentBody::Json(text)) = self.document(name) else { return Value::Null };
        let mut text = text.clone();
        for (token, name) in [("-Infinity", "-inf"), ("Infinity", "inf"), ("NaN", "nan")] {
            text = text.replace(&format!(": {token}"), &format!(": {{\"$\":\"float\",\"v\":\"{name}\"}}"));
        }
        serde_json::from_str(&text).unwrap()
    }

    fn history(&self) -> Value {
        let Some(DocumentBody::Table(table)) = self.document("history") else { return json!([]) };
        let schema = table.schema();
        let row = |row| {
            let cells = schema.fields().iter().zip(table.columns());
            cells.map(|(field, column)| (field.name().clone(), cell(column, row))).collect::<Value>()
        };
        (0..table.num_rows()).map(row).collect()
    }

    fn edge(&self, id: &str, edge: &Edge) -> Value {
        let is_entity = self.entities.contains(id);
        let kind = if edge.kind == "binary" && is_entity { "node_edge" } else { edge.kind };
        let sorted = |ends: &[Value]| {
            let mut ends = ends.to_vec();
            ends.sort_by_key(Value::to_string);
            ends
        };
        let coefficients = edge.coefficients.as_ref().map(|all| {
            all.iter()
                .map(|(end, value)| json!([serde_json::from_str::<Value>(end).unwrap(), value]))
                .collect::<Value>()
        });
        json!({
            "id": id, "kind": kind, "weight": edge.weight, "directed": edge.directed,
            "source": sorted(&edge.source), "target": sorted(&edge.target),
            "coefficients": coefficients, "policy": self.json("direction_policies").get(id),
        })
    }

    /// Everything, in the shape of [`normal`].
    pub fn value(&self) -> Value {
        let edges: Map<String, Value> = self.edges.iter().map(|(id, edge)| (id.clone(), self.edge(id, edge))).collect();
        let placed = |id: &Value| if self.entities.contains(id.as_str().unwrap()) { "edge_entity" } else { "node" };
        let entities: Vec<Value> = match self.aspects.is_empty() {
            true => self.nodes.iter().map(|id| json!([id, ["_"], placed(&json!(id))])).collect(),
            false => self.placements.iter().map(|(id, layer)| json!([id, layer, placed(id)])).collect(),
        };
        let slices: Map<String, Value> = self
            .of_slices
            .iter()
            .map(|(name, slice)| {
                let value = json!({
                    "attributes": slice.attributes, "nodes": slice.nodes, "edges": slice.edges,
                    "edge_attributes": slice.pairs,
                });
                (name.clone(), value)
            })
            .collect();
        let with = |pairs: &[(Value, Value)]| -> Vec<Value> {
            let present = |value: &Value| !value.is_null() && *value != json!({});
            let mut all: Vec<Value> =
                pairs.iter().filter(|(_, value)| present(value)).map(|(key, value)| json!([key, value])).collect();
            all.sort_by_key(Value::to_string);
            all
        };
        let mut elementary: Map<String, Value> = Map::new();
        for (key, _) in &self.elementary {
            let labels = elementary.entry(key[0].as_str().unwrap()).or_insert_with(|| json!([]));
            labels.as_array_mut().unwrap().push(key[1].clone());
        }
        let aspect = |(name, attributes, ordered): &(String, Value, bool)| {
            let mut own = attributes.as_object().cloned().unwrap_or_default();
            if *ordered {
                own.insert("__ordered__".into(), json!(true));
            }
            (!own.is_empty()).then(|| (name.clone(), Value::Object(own)))
        };
        let mut placements = self.placement_attributes.clone();
        placements.sort_by_key(Value::to_string);
        let edge_attributes: Map<String, Value> =
            self.edges.iter().map(|(id, edge)| (id.clone(), Value::Object(edge.attributes.clone()))).collect();
        json!({
            "directed": self.json("directed"), "graph_version": self.json("graph_version"),
            "active_slice": self.json("active_slice"), "default_slice": self.json("default_slice"),
            "slice_order": self.slices, "slices": slices, "entities": entities, "edges": edges,
            "node_attributes": self.node_attributes, "edge_attributes": edge_attributes,
            "graph_attributes": self.json("uns"), "history": self.history(), "snapshots": Some(self.json("snapshots")).filter(|all| !all.is_null()).unwrap_or(json!([])),
            "multilayer": {
                "aspects": self.aspects.iter().map(|(name, _, _)| name).collect::<Vec<_>>(),
                "aspect_attributes": self.aspects.iter().filter_map(aspect).collect::<Map<_, _>>(),
                "elem_layers": elementary,
                "elementary_attributes": with(&self.elementary),
                "layer_attributes": with(&self.layers),
                "node_layer_attributes": placements,
            },
        })
    }
}

/// What the published library read, without values derived from others.
pub fn normal(mut expected: Value) -> Value {
    let top = expected.as_object_mut().unwrap();
    for derived in ["annnet", "counts", "shape", "incidence"] {
        top.remove(derived);
    }
    let edges = top["edges"].as_array().unwrap().clone();
    let edges: Map<String, Value> = edges
        .into_iter()
        .map(|mut edge| {
            let own = edge.as_object_mut().unwrap();
            for derived in ["column", "declared_directed", "ml_kind", "ml_layers"] {
                own.remove(derived);
            }
            for side in ["source", "target"] {
                own[side].as_array_mut().unwrap().sort_by_key(Value::to_string);
            }
            if let Some(all) = own["coefficients"].as_array_mut() {
                all.sort_by_key(|pair| pair[0].to_string());
            }
            (edge["id"].as_str().unwrap().to_owned(), edge)
        })
        .collect();
    // The library lists no attributes for an edge without any.
    let mut attributes = top.remove("edge_attributes").unwrap_or_else(|| json!({}));
    for id in edges.keys() {
        attributes.as_object_mut().unwrap().entry(id).or_insert_with(|| json!({}));
    }
    top.insert("edge_attributes".into(), attributes);
    top.insert("edges".into(), Value::Object(edges));
    for slice in top["slices"].as_object_mut().unwrap().values_mut() {
        slice.as_object_mut().unwrap().remove("edge_weights");
    }
    let multilayer = top["multilayer"].as_object_mut().unwrap();
    for derived in ["edge_layers", "layers_with_placeholder"] {
        multilayer.remove(derived);
    }
    for sorted in ["elementary_attributes", "layer_attributes", "node_layer_attributes"] {
        multilayer[sorted].as_array_mut().unwrap().sort_by_key(Value::to_string);
    }
    expected
}

/// The differences of two values: paths and both sides.
pub fn differences(path: &str, left: &Value, right: &Value, out: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for name in names {
                let null = Value::Null;
                let (left, right) = (left.get(name).unwrap_or(&null), right.get(name).unwrap_or(&null));
                differences(&format!("{path}/{name}"), left, right, out);
            }
        }
        (left, right) if left == right => {}
        (left, right) => out.push(format!("{path}: {left} is not {right}")),
    }
}
