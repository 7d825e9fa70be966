//! Persons, cities and posts.

use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, Int64Array, StringArray, TimestampMillisecondArray};
use arrow_schema::{DataType, TimeUnit};
use isomorph_model::label::LabelBuilder;
use isomorph_model::schema::LabelVocabulary;
use isomorph_model::{Key, NodeBatch, NodeType, Property};

use crate::names::{CITIES, FIRST, LAST, OPENINGS, TOPICS};
use isomorph_examples::draw::Stream;

/// Number of persons.
pub(crate) const PERSONS: u64 = 500;
/// Number of posts.
pub(crate) const POSTS: u64 = 800;

/// Index of the persons among the node types.
pub(crate) const PERSON: usize = 0;
/// Index of the cities.
pub(crate) const CITY: usize = 1;
/// Index of the posts.
pub(crate) const POST: usize = 2;

/// 1 January 2024 in milliseconds since the epoch.
const NEW_YEAR: i64 = 1_704_067_200_000;
/// Milliseconds of a year.
const YEAR: u64 = 365 * 24 * 60 * 60 * 1_000;

/// Returns the type of times in this graph.
pub(crate) fn instant() -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, None)
}

/// Returns time number `number` of a stream, within 2024, in milliseconds since the epoch.
pub(crate) fn moment(stream: Stream, number: u64) -> i64 {
    NEW_YEAR + stream.below(number, YEAR) as i64
}

/// Returns the three node types.
pub(crate) fn types() -> Vec<NodeType> {
    let node = |name: &str, key: Key, rows: u64, properties: Vec<Property>| NodeType {
        ordered: true,
        properties,
        rows: Some(rows),
        ..NodeType::new(name, key)
    };
    let text = |name: &str| Property::new(name, DataType::Utf8);
    let person = vec![
        text("firstName"),
        text("lastName"),
        text("gender"),
        Property::new("birthday", DataType::Date32),
        text("email"),
    ];
    let labels = LabelVocabulary::Declared(["Student", "Teacher", "Moderator"].map(str::to_owned).to_vec());
    vec![
        NodeType { labels, ..node("person", Key::int64().named("id"), PERSONS, person) },
        node(
            "city",
            Key::utf8().named("name"),
            CITIES.len() as u64,
            vec![Property::new("population", DataType::Int64)],
        ),
        node("post", Key::int64().named("id"), POSTS, vec![text("content"), Property::new("created", instant())]),
    ]
}

/// Returns all persons. Keys have gaps; every third person has no e-mail address.
pub(crate) fn persons() -> NodeBatch {
    let (first, last, email) = (Stream::new("first name"), Stream::new("last name"), Stream::new("email"));
    let (birthday, role) = (Stream::new("birthday"), Stream::new("role"));
    let names: Vec<(&str, &str, &str)> = (0..PERSONS)
        .map(|at| {
            let (name, gender) = FIRST[first.below(at, FIRST.len() as u64) as usize];
            (name, last.pick(at, LAST), gender)
        })
        .collect();
    let address = |at: u64| (email.below(at, 3) > 0).then(|| format!("person{at}@example.org"));
    let mut labels = LabelBuilder::default();
    for at in 0..PERSONS {
        labels.push(
            match role.below(at, 10) {
                0..=4 => &["Student"][..],
                5..=6 => &["Teacher"],
                7 => &["Teacher", "Moderator"],
                _ => &[],
            }
            .iter()
            .copied(),
        );
    }
    let text = |column: fn(&(&'static str, &'static str, &'static str)) -> &'static str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(names.iter().map(column)))
    };
    // Between 1950 and 2008, in days since the epoch.
    let birthdays = Date32Array::from_iter_values((0..PERSONS).map(|at| birthday.below(at, 21_185) as i32 - 7_305));
    let properties = vec![
        Some(text(|name| name.0)),
        Some(text(|name| name.1)),
        Some(text(|name| name.2)),
        Some(Arc::new(birthdays) as ArrayRef),
        Some(Arc::new((0..PERSONS).map(address).collect::<StringArray>()) as ArrayRef),
    ];
    batch(PERSON, PERSONS, keys((0..PERSONS).map(|at| 1_000 + 7 * at as i64)), Some(labels), properties)
}

/// Returns all cities, by name.
pub(crate) fn cities() -> NodeBatch {
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(CITIES.iter().map(|city| city.0)));
    let population: ArrayRef = Arc::new(Int64Array::from_iter_values(CITIES.iter().map(|city| city.1)));
    batch(CITY, CITIES.len() as u64, names, None, vec![Some(population)])
}

/// Returns all posts.
pub(crate) fn posts() -> NodeBatch {
    let (opening, topic, created) = (Stream::new("opening"), Stream::new("topic"), Stream::new("post created"));
    let sentence = |at: u64| format!("{} {}", opening.pick(at, OPENINGS), topic.pick(at, TOPICS));
    let content: ArrayRef = Arc::new(StringArray::from_iter_values((0..POSTS).map(sentence)));
    let created: ArrayRef =
        Arc::new(TimestampMillisecondArray::from_iter_values((0..POSTS).map(|at| moment(created, at))));
    batch(POST, POSTS, keys((0..POSTS).map(|at| 100_000 + at as i64)), None, vec![Some(content), Some(created)])
}

fn keys(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn batch(
    ty: usize,
    rows: u64,
    keys: ArrayRef,
    labels: Option<LabelBuilder>,
    properties: Vec<Option<ArrayRef>>,
) -> NodeBatch {
    NodeBatch {
        ty,
        start: 0,
        numbers: None,
        rows: rows as usize,
        keys: Some(keys),
        labels: labels.map(LabelBuilder::finish),
        properties,
    }
}
