//! The five graphs for which the model was designed before its types were fixed (`docs/model.md`): one for each format, with
//! the features that only that format has. Their tests are in `zoo/tests.rs`.

use arrow_array::{Array, ArrayRef, Float64Array, StringArray};
use arrow_schema::DataType;

use super::arrays::*;
use super::build::{Build, Edges, Nodes, columns};
use isomorph_model::batch::{GroupBatch, HyperedgeBatch, MemberBatch, MembershipBatch, ValueBatch};
use isomorph_model::schema::{Document, DocumentBody, GroupKind, HyperedgeType, MembershipTable, Owner, ValueTable};
use isomorph_model::type_name::list_of;
use isomorph_model::{Batch, Direction, Ends, Key, KeyKind, MemoryGraph, Property, ValueKind, term, well_known};

/// All five, with the format from which each comes.
pub fn five() -> Vec<(&'static str, MemoryGraph)> {
    vec![("annnet", annnet()), ("rdf", rdf()), ("graphar", graphar()), ("deepgnn", deepgnn()), ("nock", nock())]
}

fn tuple() -> Key {
    Key { kind: KeyKind::Tuple, data_type: list_of(DataType::Utf8), name: None }
}

/// annnet: a multilayer hyperedge over two edges that are ends themselves, in slices.
pub fn annnet() -> MemoryGraph {
    let mut build = Build::default();
    let entity = Property::new(well_known::ENTITY, DataType::Utf8);
    let names = text(["A", "B", "e1", "e2"]);
    let node = build.nodes(
        Nodes::with_key("node", Key::utf8(), names)
            .ordered()
            .property(entity, text([None, None, Some("edge"), Some("edge")]))
            .column("species", text([Some("mouse"), None, None, None])),
    );
    let (t0, t1): (&[&str], &[&str]) = (&["social", "t0"], &["social", "t1"]);
    // Each end has a layer; the second edge also has signed coefficients.
    let at = |coefficients: [Option<f64>; 2]| {
        structs(&[("layer", labels(&[Some(t0), Some(t0)])), ("coefficient", float64(coefficients))])
    };
    let edge = build.edges(
        Edges::keys(node, "edge", node, text(["A", "A"]), text(["B", "B"]))
            .keyed(Key::utf8(), text(["e1", "e2"]))
            .layered(at([None, Some(-1.0)]), at([None, Some(2.0)]))
            .column("weight", float64([1.0, 0.5])),
    );
    // Undirected across layers: the ends can be exchanged, with all their attributes.
    build.edges(
        Edges::keys(node, "beside", node, text(["A", "A", "B"]), text(["B", "A", "A"]))
            .undirected()
            .keyed(Key::utf8(), text(["e3", "e4", "e5"]))
            .layered(
                structs(&[
                    ("layer", labels(&[Some(t0), Some(t1), Some(t0)])),
                    ("coefficient", float64([1.0, 2.0, 3.0])),
                ]),
                structs(&[("layer", labels(&[Some(t1), Some(t0), None])), ("coefficient", float64([1.0, -2.0, 3.0]))]),
            ),
    );
    let hyper = HyperedgeType {
        name: "hyperedge".into(),
        key: Key::utf8(),
        ends: node,
        direction: Direction::Directed,
        layered: true,
        properties: vec![Property::new("weight", DataType::Float64)],
        rows: Some(1),
    };
    build.describe().hyperedges.push(hyper);
    build.batch(Batch::Hyperedges(HyperedgeBatch {
        ty: 0,
        start: 0,
        rows: 1,
        keys: text(["h1"]),
        directed: None,
        properties: columns([float64([1.0])]),
    }));
    build.batch(Batch::Members(MemberBatch {
        ty: 0,
        owner: Ends::Keys(text(["h1", "h1"])),
        member: Ends::Keys(text(["e1", "e2"])),
        roles: StringArray::from(vec!["head", "tail"]),
        layers: Some(labels(&[Some(t0), Some(t1)])),
        coefficients: Some(Float64Array::from(vec![-1.0, 2.0])),
    }));
    let groups = [
        group("aspect", Key::utf8(), text(["relation", "time"])),
        group("elementary", tuple(), labels(&[Some(&["relation", "social"]), Some(&["time", "t0"])])),
        group("layer", tuple(), labels(&[Some(t0), Some(t1)])),
        group("slice", Key::utf8(), text(["default", "s1", "s2"])),
    ];
    for (at, (mut kind, keys)) in groups.into_iter().enumerate() {
        match kind.kind.as_str() {
            "layer" => kind.memberships.push(memberships(Owner::Nodes(node), &[("attributes", DataType::Utf8)])),
            "slice" => {
                // Everything is in the default slice, without a table that lists it.
                kind.all.push("default".into());
                kind.properties.push(Property::new("colour", DataType::Utf8));
                let weight = [("weight", DataType::Float64)];
                kind.memberships = vec![memberships(Owner::Edges(edge), &weight), memberships(Owner::Nodes(node), &[])];
                kind.memberships.push(memberships(Owner::Hyperedges(0), &weight));
            }
            _ => {}
        }
        let slices = kind.kind == "slice";
        let properties = columns(slices.then(|| text([None, Some("red"), None])));
        build.describe().groups.push(kind);
        build.batch(Batch::Groups(GroupBatch { kind: at, start: 0, keys, properties }));
    }
    build.batch(Batch::Memberships(MembershipBatch {
        kind: 2,
        table: 0,
        group: Ends::Keys(labels(&[Some(t0)])),
        member: Ends::Keys(text(["A"])),
        properties: columns([text([r#"{"mood":"good"}"#])]),
    }));
    let slice = |table, group: &[&str], member: &[&str], properties| {
        let (group, member) = (text(group.iter().copied()), text(member.iter().copied()));
        let (group, member) = (Ends::Keys(group), Ends::Keys(member));
        Batch::Memberships(MembershipBatch { kind: 3, table, group, member, properties })
    };
    build.batch(slice(2, &["s1", "s2"], &["h1", "h1"], columns([float64([0.5, 2.0])])));
    build.batch(slice(1, &["s1"], &["e1"], Vec::new()));
    // A row of the default slice adds properties to a member.
    build.batch(slice(0, &["default"], &["e1"], columns([float64([3.0])])));
    build.document("uns", r#"{"source":"lab 3","scores":[1,2.5,NaN]}"#);
    build.document("active_slice", r#""s1""#);
    build.finish()
}

fn group(kind: &str, key: Key, keys: ArrayRef) -> (GroupKind, ArrayRef) {
    let (kind, properties, all, memberships) = (kind.to_owned(), Vec::new(), Vec::new(), Vec::new());
    (GroupKind { kind, key, ordered: true, properties, all, memberships }, keys)
}

fn memberships(of: Owner, properties: &[(&str, DataType)]) -> MembershipTable {
    let properties = properties.iter().map(|(name, data_type)| Property::new(*name, data_type.clone())).collect();
    MembershipTable { of, properties }
}

/// RDF: one triple in three graphs, and quoted; a label with a language; a graph without triples.
pub fn rdf() -> MemoryGraph {
    const REIFIES: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies";
    let mut build = Build::default();
    let (s, p, o) = ("urn:s", "urn:p", "urn:o");
    let quoted = term::triple(&term::ntriples(s), &term::ntriples(p), &term::ntriples(o));
    let blank = term::blank("r");
    // Resources need no rows: it is enough that something mentions them.
    let resource = build.nodes(Nodes::with_key("resource", Key::term(), text(Vec::<&str>::new())).implied());
    let graph = || Property::new(well_known::GRAPH, DataType::Utf8).of_kind(ValueKind::Term);
    build.edges(
        Edges::keys(resource, p, resource, text([s, s, s]), text([o, o, o]))
            .property(graph(), text(["urn:g1", "urn:g2", "urn:g3"])),
    );
    build.edges(
        Edges::keys(resource, REIFIES, resource, text([blank.as_str()]), text([quoted.as_str()]))
            .property(graph(), text(["urn:g1"])),
    );
    let label = structs(&[
        ("value", text(["chat"])),
        ("datatype", text([None])),
        ("language", text(["fr"])),
        ("direction", text([None])),
    ]);
    build.describe().values.push(ValueTable {
        owner: Owner::Nodes(resource),
        property: Property::new("urn:label", label.data_type().clone()).of_kind(ValueKind::Literal { datatype: None }),
        qualifiers: vec![graph()],
        rows: Some(1),
    });
    build.batch(Batch::Values(ValueBatch {
        table: 0,
        owner: Ends::Keys(text([blank.as_str()])),
        values: label,
        qualifiers: columns([text(["urn:g1"])]),
    }));
    let (kind, keys) = group("graph", Key::term(), text(["urn:empty"]));
    build.describe().groups.push(GroupKind { ordered: false, ..kind });
    build.batch(Batch::Groups(GroupBatch { kind: 0, start: 0, keys, properties: Vec::new() }));
    build.finish()
}

/// GraphAr: no primary key, so that the row is the identity; parallel edges; ends as rows.
pub fn graphar() -> MemoryGraph {
    let mut build = Build::default();
    let t = build.nodes(
        Nodes::rows("t", 4)
            .ordered()
            .column("x", int32([Some(1), None, Some(1), Some(4)]))
            .column("name", text([Some("a"), Some(""), None, Some("a")])),
    );
    build.edges(
        Edges::rows(t, "rel", t, [(0, 1), (0, 1), (1, 0), (2, 2), (3, 0)])
            .column("w", float32([Some(0.5), Some(0.5), None, Some(-0.0), Some(0.5)]))
            .column("since", millis([Some(-1), Some(-1), None, Some(0), Some(1)])),
    );
    let body = DocumentBody::Json(r#"{"owner":"me"}"#.to_owned());
    build.describe().documents.push(Document { name: "extra_info".to_owned(), body });
    build.finish()
}

/// DeepGNN: a node that was split over two partitions, with dense, missing and sparse temporal features; and a feature
/// with two number types.
pub fn deepgnn() -> MemoryGraph {
    let mut build = Build::default();
    let dense = lists(float32([0.5, -0.0, f32::NAN]), &[Some(3), None]);
    let tensor = |sparse: bool, shape: &[u64]| ValueKind::Tensor { shape: shape.to_vec(), sparse };
    let feature = |id: u32, data_type: &DataType, kind| {
        let property = Property::new(id.to_string(), data_type.clone()).of_kind(kind);
        Property { feature: Some(id), ..property }
    };
    let absent = feature(1, &list_of(DataType::Float32), tensor(false, &[]));
    let node = build.nodes(
        Nodes::with_key("node", Key { data_type: DataType::UInt64, ..Key::int64() }, uint64([7, 9]))
            .column("type", int32([1, 0]))
            .column(well_known::WEIGHT, float32([1.0, 0.25]))
            .property(feature(0, dense.data_type(), tensor(false, &[3])), dense)
            .property(absent, lists(float32(Vec::<f32>::new()), &[None, None])),
    );
    build.edges(
        Edges::keys(node, "0", node, uint64([7]), uint64([9]))
            .column(well_known::WEIGHT, float32([0.1]))
            .column(well_known::CREATED_AT, int64([10]))
            .column(well_known::REMOVED_AT, int64([Option::<i64>::None])),
    );
    let sparse = structs(&[
        ("coordinates", lists(int64([0, 5, 2]), &[Some(2), Some(1)])),
        ("values", lists(float32([1.0, 2.0, 3.0]), &[Some(2), Some(1)])),
    ]);
    let temporal = vec![Property::new(well_known::CREATED_AT, DataType::Int64)];
    let tables = [
        (feature(2, sparse.data_type(), tensor(true, &[])), temporal, sparse, columns([int64([10, 20])])),
        values_of(feature(3, &list_of(DataType::Float32), tensor(false, &[])), lists(float32([1.0]), &[Some(1)])),
        values_of(feature(3, &list_of(DataType::Float64), tensor(false, &[])), lists(float64([1.0]), &[Some(1)])),
    ];
    for (table, (property, qualifiers, values, cells)) in tables.into_iter().enumerate() {
        let rows = Some(values.len() as u64);
        let owner = Owner::Nodes(node);
        build.describe().values.push(ValueTable { owner, property, qualifiers, rows });
        // The second type of feature 3 belongs to the other node.
        let owners = [7, if table == 2 { 9 } else { 7 }];
        let owner = Ends::Keys(uint64(owners.into_iter().rev().take(values.len())));
        build.batch(Batch::Values(ValueBatch { table, owner, values, qualifiers: cells }));
    }
    build.finish()
}

type Values = (Property, Vec<Property>, ArrayRef, isomorph_model::Columns);

fn values_of(property: Property, values: ArrayRef) -> Values {
    (property, Vec::new(), values, Vec::new())
}

/// NOCK: three partitions as they are read, each name once, from its owner; `minutes` has values of two types; one shadow has
/// no owner.
pub fn nock() -> MemoryGraph {
    let mut build = Build::default();
    let node = build.nodes(
        Nodes::with_key("node", Key::utf8(), text(["a", "b", "c", "far"]))
            .open_labels(&[&["Recipe"], &["Recipe", "Soup"], &[], &[]])
            .property(Property::new(well_known::TRUTH, DataType::Float32).required(), float32([1.0, 0.1, 1.0, 1.0]))
            .property(Property::new(well_known::IS_RDF, DataType::Boolean).required(), bools([false; 4]))
            .column(well_known::SHADOW, int64([None, None, None, Some(2)]))
            .property(Property::bag(), text([Some(r#"{"minutes":5}"#), Some(r#"{"minutes":"5"}"#), Some(""), None])),
    );
    let ends = [("a", "uses", "b"), ("a", "uses", "b"), ("b", "", "c"), ("c", "knows", "far")];
    build.edges(
        Edges::per_row(node, &ends)
            .property(Property::new(well_known::TRUTH, DataType::Float32).required(), float32([1.0, 0.5, 1.0, 1.0]))
            .property(Property::bag(), text(["", "{}", r#"{"w":1}"#, r#"{"w":1.0}"#])),
    );
    build.finish()
}
