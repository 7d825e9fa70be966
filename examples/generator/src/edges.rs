//! Edges: who knows whom, lives where, wrote and likes what.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, TimestampMillisecondArray, UInt64Array};
use arrow_schema::DataType;
use isomorph_model::schema::Direction;
use isomorph_model::{EdgeBatch, EdgeType, Ends, Property};

use crate::names::CITIES;
use crate::nodes::{CITY, PERSON, PERSONS, POST, POSTS, instant, moment};
use isomorph_examples::draw::Stream;

/// Index of each edge type.
const KNOWS: usize = 0;
const LIVES_IN: usize = 1;
const WROTE: usize = 2;
const LIKES: usize = 3;

/// Numbers of draws of acquaintances and of likes; a few draws are repeats, which are dropped.
const ACQUAINTANCES: u64 = 2_500;
const APPLAUSE: u64 = 3_000;

/// Returns the four edge types. `knows` is undirected: each pair occurs once.
pub(crate) fn types() -> Vec<EdgeType> {
    let with = |property: Property, ty: EdgeType| EdgeType { properties: vec![property], ..ty };
    let knows = EdgeType { direction: Direction::Undirected, ..EdgeType::new(PERSON, "knows", PERSON) };
    vec![
        with(Property::new("since", instant()), knows),
        EdgeType::new(PERSON, "livesIn", CITY),
        EdgeType::new(PERSON, "wrote", POST),
        with(Property::new("weight", DataType::Float64), EdgeType::new(PERSON, "likes", POST)),
    ]
}

/// Acquaintances: half between neighbours in the list of persons, half with the well-known persons at its beginning.
pub(crate) fn knows() -> EdgeBatch {
    let (one, other, near) = (Stream::new("knows one"), Stream::new("knows other"), Stream::new("knows near"));
    let pairs: BTreeSet<(u64, u64)> = (0..ACQUAINTANCES)
        .map(|at| {
            let person = one.below(at, PERSONS);
            let friend = match near.below(at, 2) {
                0 => (person + 1 + other.below(at, 12)) % PERSONS,
                _ => other.skewed(at, PERSONS),
            };
            (person.min(friend), person.max(friend))
        })
        .filter(|(person, friend)| person != friend)
        .collect();
    let since = Stream::new("knows since");
    let since = TimestampMillisecondArray::from_iter_values((0..pairs.len() as u64).map(|at| moment(since, at)));
    batch(KNOWS, pairs, Some(Arc::new(since)))
}

/// Every person lives in a city, mostly in one of the first cities of the list.
pub(crate) fn lives_in() -> EdgeBatch {
    let home = Stream::new("home");
    batch(LIVES_IN, (0..PERSONS).map(|person| (person, home.skewed(person, CITIES.len() as u64))), None)
}

/// Every post has one author.
pub(crate) fn wrote() -> EdgeBatch {
    let author = Stream::new("author");
    let mut pairs: Vec<(u64, u64)> = (0..POSTS).map(|post| (author.skewed(post, PERSONS), post)).collect();
    pairs.sort_unstable();
    batch(WROTE, pairs, None)
}

/// Likes, each with a weight in eighths.
pub(crate) fn likes() -> EdgeBatch {
    let (who, what) = (Stream::new("likes who"), Stream::new("likes what"));
    let pairs: BTreeSet<(u64, u64)> =
        (0..APPLAUSE).map(|at| (who.below(at, PERSONS), what.skewed(at, POSTS))).collect();
    let weight = Stream::new("likes weight");
    let weights = (0..pairs.len() as u64).map(|at| (1 + weight.below(at, 8)) as f64 / 8.0);
    let weights = Float64Array::from_iter_values(weights);
    batch(LIKES, pairs, Some(Arc::new(weights)))
}

/// Returns a batch of edges between rows, with at most one property.
fn batch(ty: usize, pairs: impl IntoIterator<Item = (u64, u64)>, property: Option<ArrayRef>) -> EdgeBatch {
    let (source, target): (Vec<u64>, Vec<u64>) = pairs.into_iter().unzip();
    EdgeBatch {
        ty,
        rows: source.len(),
        relations: None,
        source: Ends::Rows(UInt64Array::from(source)),
        target: Ends::Rows(UInt64Array::from(target)),
        layers: None,
        directed: None,
        keys: None,
        properties: property.map(Some).into_iter().collect(),
    }
}
