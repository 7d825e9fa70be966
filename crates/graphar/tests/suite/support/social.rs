//! A small graph that uses every construct of GraphAr.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int32Array, Int64Array, StringArray,
    TimestampMillisecondArray, UInt64Array,
};
use arrow_schema::{DataType, Field, TimeUnit};
use isomorph_model::label::LabelBuilder;
use isomorph_model::schema::DocumentBody;
use isomorph_model::type_name::list_of;
use isomorph_model::{
    Batch, Cardinality, Direction, Document, EdgeBatch, EdgeType, Ends, Graph, Key, LabelVocabulary, MemoryGraph,
    NodeBatch, NodeType, Property,
};

fn texts(lists: impl IntoIterator<Item = Option<Vec<&'static str>>>) -> ArrayRef {
    let mut builder =
        ListBuilder::new(StringBuilder::new()).with_field(Arc::new(Field::new("element", DataType::Utf8, true)));
    for list in lists {
        match list {
            Some(list) => {
                list.into_iter().for_each(|text| builder.values().append_value(text));
                builder.append(true);
            }
            None => builder.append(false),
        }
    }
    Arc::new(builder.finish())
}

/// People who know each other and live in cities; `people` is at least 1.
pub fn social(people: usize) -> MemoryGraph {
    let mut person = NodeType::new("person", Key::int64().named("id"));
    person.ordered = true;
    person.labels = LabelVocabulary::Declared(vec!["admin".into(), "guest".into(), "never".into()]);
    person.properties = vec![
        Property::new("name", DataType::Utf8).required(),
        Property::new("active", DataType::Boolean),
        Property::new("age", DataType::Int32),
        Property::new("height", DataType::Float32),
        Property::new("born", DataType::Date32),
        Property::new("seen", DataType::Timestamp(TimeUnit::Millisecond, None)),
        Property::new("emails", list_of(DataType::Utf8)).with_cardinality(Cardinality::Set),
        Property::new("nicknames", list_of(DataType::Utf8)),
    ];
    let mut city = NodeType::new("city", Key::row());
    city.ordered = true;
    city.properties = vec![Property::new("name", DataType::Utf8)];
    let mut knows = EdgeType::new(0, "knows", 0);
    knows.direction = Direction::Undirected;
    knows.properties = vec![Property::new("weight", DataType::Float64), Property::new("note", DataType::Utf8)];
    let lives = EdgeType::new(0, "lives_in", 1);

    let row = |number: usize| number as i64;
    let some = |number: usize, every: usize| !number.is_multiple_of(every);
    let mut labels = LabelBuilder::default();
    for number in 0..people {
        let own = [(number % 3 == 0, "admin"), (number % 5 == 0, "guest")];
        labels.push(own.into_iter().filter(|(has, _)| *has).map(|(_, label)| label));
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter(
            (0..people).map(|n| Some(if n == 1 { String::new() } else { format!("p, \"{n}\"") })),
        )),
        Arc::new(BooleanArray::from_iter((0..people).map(|n| some(n, 4).then_some(n % 2 == 0)))),
        Arc::new(Int32Array::from_iter((0..people).map(|n| some(n, 7).then_some(n as i32 - 5)))),
        Arc::new(Float32Array::from_iter((0..people).map(|n| some(n, 6).then_some(n as f32 / 3.0)))),
        Arc::new(Date32Array::from_iter((0..people).map(|n| some(n, 5).then_some(n as i32 * 400 - 20_000)))),
        Arc::new(TimestampMillisecondArray::from_iter(
            (0..people).map(|n| some(n, 9).then_some(row(n) * 86_399_999 - 999_999_999_999)),
        )),
        texts((0..people).map(|n| match n % 4 {
            0 => None,
            1 => Some(vec![]),
            2 => Some(vec!["a@x"]),
            _ => Some(vec!["a@x", "b@y"]),
        })),
        texts((0..people).map(|n| some(n, 3).then(|| vec!["nick", "", "n,\"1\""]))),
    ];
    let people_batch = NodeBatch {
        ty: 0,
        start: 0,
        numbers: None,
        rows: people,
        keys: Some(Arc::new(Int64Array::from_iter_values((0..people).map(|n| 1_000 - 7 * row(n))))),
        labels: Some(labels.finish()),
        properties: columns.into_iter().map(Some).collect(),
    };
    let names: ArrayRef = Arc::new(StringArray::from(vec![Some("K\u{f6}ln"), None, Some("")]));
    let cities =
        NodeBatch { ty: 1, start: 0, numbers: None, rows: 3, keys: None, labels: None, properties: vec![Some(names)] };

    // Everybody knows the next two, everybody knows the first, and nobody in the middle third knows anybody.
    let mut pairs: Vec<(u64, u64)> = Vec::new();
    for number in (0..people as u64).filter(|n| *n < people as u64 / 3 || *n >= people as u64 * 2 / 3) {
        pairs.extend([(number, (number + 1) % people as u64), (number, 0), (number, 0)]);
    }
    let edge = |ty: usize, pairs: &[(u64, u64)], properties: Vec<Option<ArrayRef>>| EdgeBatch {
        ty,
        rows: pairs.len(),
        relations: None,
        source: Ends::Rows(UInt64Array::from_iter_values(pairs.iter().map(|(source, _)| *source))),
        target: Ends::Rows(UInt64Array::from_iter_values(pairs.iter().map(|(_, target)| *target))),
        layers: None,
        directed: None,
        keys: None,
        properties,
    };
    let weights: ArrayRef =
        Arc::new(Float64Array::from_iter((0..pairs.len()).map(|n| some(n, 8).then_some(n as f64 * 0.1))));
    let notes: ArrayRef =
        Arc::new(StringArray::from_iter((0..pairs.len()).map(|n| some(n, 3).then(|| format!("line\n{}", n % 10)))));
    let homes: Vec<(u64, u64)> = (0..people as u64).map(|number| (number, number % 2)).collect();
    let batches = vec![
        Batch::Nodes(people_batch),
        Batch::Nodes(cities),
        Batch::Edges(edge(0, &pairs, vec![Some(weights), Some(notes)])),
        Batch::Edges(edge(1, &homes, Vec::new())),
    ];
    let graph = Graph {
        name: Some("social".into()),
        nodes: vec![person, city],
        edges: vec![knows, lives],
        documents: vec![Document {
            name: "extra_info".into(),
            body: DocumentBody::Json(r#"{"category":"test graph","owner":"nobody: really"}"#.into()),
        }],
        ..Graph::default()
    };
    MemoryGraph { graph, batches }
}
