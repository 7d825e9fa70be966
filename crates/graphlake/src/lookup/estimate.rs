//! Estimates the number of triples that a question finds from what is known of the files, without reading.

use isomorph_model::faces::{Estimate, Object};

use super::catalog::{Known, PredicateFiles, Predicates};
use super::keys::Wanted;
use super::question::{Asked, Place, Question, Unit};
use crate::bloom;
use crate::read::{GraphLake, Order};
use crate::snapshot::{DataFile, NamedGraph};

/// The shortest record, in bytes.
const SHORTEST: u64 = 17;

/// What is known of the key that is looked up.
#[derive(Clone, Copy)]
enum Key<'a> {
    /// Every triple is wanted.
    None,
    Text(&'a str),
    /// There is one key, which is not known yet.
    Unknown,
}

impl<'a> Key<'a> {
    fn of(place: &Place<'a>) -> Self {
        match place {
            Place::Any => Key::None,
            Place::Term(Object::Term(text)) => Key::Text(text),
            Place::Term(Object::Literal { lexical, .. }) => Key::Text(lexical),
            Place::Column(_) => Key::Unknown,
        }
    }
}

impl GraphLake {
    /// Estimates how many quads a question finds from numbers of triples, bounds, filters, tombstones, stated numbers
    /// of live triples, and the indexes that were read already. Nothing is read.
    pub fn estimate(&self, question: &Question<'_>) -> Estimate {
        let (Ok(_), Ok(predicate)) = (question.subject.resource(), question.predicate.resource()) else {
            return Estimate::NONE;
        };
        let order = question.order();
        let keys = [Key::of(&question.subject), Key::of(&question.object)];
        let mut all = Estimate::NONE;
        let mut graphs = 0u32;
        for (at, (graph, predicates)) in self.snapshot.graphs.iter().zip(&self.catalog().graphs).enumerate() {
            // The graph is in a column, so it can be any graph.
            let named = if matches!(question.graph, super::Graphs::Column(_)) {
                let any = Question { graph: super::Graphs::Any, ..*question };
                any.has_graph(graph, None)
            } else {
                question.has_graph(graph, None)
            };
            if !named {
                continue;
            }
            graphs += 1;
            let found = match predicate {
                Some(predicate) => predicates.number(predicate).map_or(0..0, |number| number..number + 1),
                None => 0..predicates.all.len(),
            };
            let (mut sum, mut some) = (Estimate::NONE, 0u32);
            for number in found {
                let one = self.of_predicate((at, number), order, keys);
                some += u32::from(one.high > 0);
                sum = sum.plus(one);
            }
            if question.predicate.column().is_some() {
                sum = Estimate { rows: sum.rows / f64::from(some.max(1)), low: 0, ..sum };
            }
            all = all.plus(sum);
        }
        if matches!(question.graph, super::Graphs::Column(_)) {
            all = Estimate { rows: all.rows / f64::from(graphs.max(1)), low: 0, ..all };
        }
        all
    }

    /// Removes the units whose rows can be counted without reading, and returns the number of these rows.
    pub(super) fn known_rows(&self, asked: &Asked, units: &mut Vec<Unit>) -> u64 {
        let mut known = 0u64;
        units.retain(|unit| {
            let (Wanted::All, Some(group)) = (&unit.wanted, asked.groups.get(unit.group)) else { return true };
            let all = self.of_predicate((unit.graph, unit.predicate), Order::Subject, [Key::None; 2]);
            if all.is_exact() {
                known = known.saturating_add(all.high.saturating_mul(group.rows.len() as u64));
            }
            !all.is_exact()
        });
        known
    }

    /// The stated number of live triples of a predicate in a graph, if it was computed from the current files. Both are
    /// numbers in the snapshot.
    fn living(&self, (graph, predicate): (usize, usize)) -> Option<u64> {
        let catalog = self.catalog();
        let all = catalog.living.get_or_init(|| {
            let of = |(graph, predicates): (&NamedGraph, &Predicates)| {
                let stated = self.stated(graph);
                predicates.all.iter().map(|files| stated.get(files.name.as_str()).copied().flatten()).collect()
            };
            self.snapshot.graphs.iter().zip(&catalog.graphs).map(of).collect()
        });
        all.get(graph)?.get(predicate)?.map(|living| living.triples)
    }

    /// The estimate for a predicate in a graph, both by their numbers in the snapshot. `keys` are those of subject and
    /// object.
    fn of_predicate(&self, at: (usize, usize), order: Order, keys: [Key<'_>; 2]) -> Estimate {
        let graph = self.snapshot.graphs.get(at.0);
        let files = self.catalog().graphs.get(at.0).and_then(|predicates| predicates.all.get(at.1));
        let Some((graph, files)) = graph.zip(files) else { return Estimate::NONE };
        let data = || files.data(order).iter().filter_map(|known| Some((known, known.file(graph)?)));
        let [subject, object] = keys;
        let key = if order == Order::Subject { subject } else { object };
        let InOrder { mut rows, mut high, stored } = in_order(graph, files, order, key);
        let mut low = 0;
        if matches!(key, Key::None) {
            // Both orders have the same live triples: if no two files of one of them overlap, it has no duplicates.
            let apart = [Order::Subject, Order::Object].into_iter().map(|order| distinct(graph, files, order));
            low = apart.max().unwrap_or_default();
        }
        let oldest = data().map(|(_, file)| file.snapshot_version).min().unwrap_or_default();
        let mut deleted = [0u64; 2];
        for file in files.all_tombstones().iter().filter_map(|known| known.file(graph)) {
            if self.options.naive || file.snapshot_version > oldest {
                let count = &mut deleted[usize::from(file.is_inverse)];
                *count = count.saturating_add(file.triple_count);
            }
        }
        // Of both orders together, if they differ.
        let deleted = if files.paired { deleted[0].max(deleted[1]) } else { deleted[0].saturating_add(deleted[1]) };
        // Orders that differ are broken, but the lower bound must still not exceed the upper one.
        low = low.saturating_sub(deleted).min(high);
        // A stated number is used if it is consistent with what is known of the files.
        let living = self.living(at).filter(|living| (low..=stored).contains(living));
        if matches!(key, Key::None)
            && let Some(living) = living
        {
            return Estimate { rows: living as f64, low: living, high: living };
        }
        if stored > 0 {
            rows *= living.unwrap_or_else(|| stored.saturating_sub(deleted)) as f64 / stored as f64;
        }
        high = high.min(living.unwrap_or(high));
        if !matches!(subject, Key::None) && !matches!(object, Key::None) {
            // The files by object are not read for it, but they show how many triples have the object, or that none
            // has.
            let by_object = in_order(graph, files, Order::Object, object);
            if by_object.stored > 0 {
                // Subjects and objects of triples are assumed to be independent.
                rows *= by_object.rows / by_object.stored as f64;
                high = high.min(by_object.high);
            }
            // A triple is in a graph once.
            (rows, high, low) = (rows.min(1.0), high.min(1), 0);
        }
        Estimate { rows: rows.clamp(low as f64, high as f64), low, high }
    }
}

/// What the files of one order have of a key.
struct InOrder {
    rows: f64,
    high: u64,
    /// All triples that they hold.
    stored: u64,
}

fn in_order(graph: &NamedGraph, files: &PredicateFiles, order: Order, key: Key<'_>) -> InOrder {
    let (mut all, mut keys) = (InOrder { rows: 0.0, high: 0, stored: 0 }, 0.0);
    for (known, file) in files.data(order).iter().filter_map(|known| Some((known, known.file(graph)?))) {
        let one = of_file((known, file), order, key);
        all.rows += one.rows;
        all.high = all.high.saturating_add(one.high);
        all.stored = all.stored.saturating_add(file.triple_count);
        keys += keys_of(known, file, order);
    }
    if matches!(key, Key::Unknown) {
        all.rows = all.stored as f64 / f64::max(keys, 1.0);
    }
    all
}

/// What a file has of a key of an order.
fn of_file((known, file): (&Known, &DataFile), order: Order, key: Key<'_>) -> Estimate {
    let count = file.triple_count;
    if count == 0 {
        return Estimate::NONE;
    }
    let (rows, high) = match key {
        Key::None => (count as f64, count),
        Key::Unknown => (0.0, count),
        Key::Text(text) => {
            let hand = known.at_hand(file, order);
            let outside = hand.trusted && !(file.min_value.as_str()..=file.max_value.as_str()).contains(&text);
            let denied = || hand.bloom.is_some_and(|bloom| !bloom.may_have_hash(bloom::hash(text.as_bytes())));
            if outside || denied() {
                return Estimate::NONE;
            }
            let room = hand.sparse.map_or(file.size, |sparse| {
                sparse.end(text.as_bytes(), file.size).saturating_sub(sparse.begin(text.as_bytes()))
            });
            let high = count.min(room / SHORTEST);
            ((count as f64 / keys_of(known, file, order)).min(high as f64), high)
        }
    };
    Estimate { rows, low: 0, high }
}

/// The approximate number of different first texts of a file in an order; at least one.
fn keys_of(known: &Known, file: &DataFile, order: Order) -> f64 {
    let count = file.triple_count.max(1) as f64;
    // Without a filter to count them: the middle between all different and all equal.
    known.at_hand(file, order).bloom.map_or_else(|| count.sqrt(), crate::Bloom::keys).clamp(1.0, count)
}

/// A lower bound of the number of different triples in the files of an order: files that cannot share triples are
/// added, and of those that can, the largest counts.
fn distinct(graph: &NamedGraph, files: &PredicateFiles, order: Order) -> u64 {
    let mut all: Vec<&DataFile> = Vec::new();
    let mut strange = 0;
    for known in files.data(order) {
        let Some(file) = known.file(graph).filter(|file| file.triple_count > 0) else { continue };
        if known.at_hand(file, order).trusted {
            all.push(file);
        } else {
            // Files of other writers may even contain a triple twice.
            strange = 1;
        }
    }
    all.sort_by(|one, other| (&one.min_value, &one.max_value).cmp(&(&other.min_value, &other.max_value)));
    let mut sum = 0u64;
    let mut reach: Option<&str> = None;
    // For overlapping files: the number of different triples in those of one load, which writes each triple once, even
    // if a text continues from one of its files to the next.
    let mut loads: Vec<(Option<i64>, u64)> = Vec::new();
    let most = |loads: &[(Option<i64>, u64)]| loads.iter().map(|(_, count)| *count).max().unwrap_or_default();
    for file in all {
        if reach.is_some_and(|reach| reach < file.min_value.as_str()) {
            sum = sum.saturating_add(most(&loads));
            loads.clear();
        }
        let load = of_load(file);
        match loads.iter_mut().find(|(other, _)| load.is_some() && *other == load) {
            Some((_, count)) => *count = count.saturating_add(file.triple_count),
            None => loads.push((load, file.triple_count)),
        }
        reach = reach.max(Some(&file.max_value));
    }
    sum.saturating_add(most(&loads)).max(strange)
}

/// The version of a bulk load, whose file names are hashes (UUIDs of version 8): other files of one version may be of
/// several writers, or hold a triple twice.
fn of_load(file: &DataFile) -> Option<i64> {
    let id = file.id.as_bytes();
    (id.len() == 36 && id.get(13..15) == Some(b"-8")).then_some(file.snapshot_version)
}
