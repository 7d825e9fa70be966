//! What look-ups cache of a snapshot: the files of each predicate, their filters, and where to start in them.
//!
//! Everything is created on first use, and kept within the budget as long as the store is open.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use isomorph_error::{Kind, Result};
use isomorph_storage::{Blob, Reservation};

use super::keys::{Keys, Wanted};
use crate::bloom::Bloom;
use crate::cursor::Cursor;
use crate::id::TripleId;
use crate::id_index::Ids;
use crate::index_file::{ENDING, Of, SMALL, STEP, Sidecar, Sparse, SparseBuilder};
use crate::read::{GraphLake, Order};
use crate::record::Prefixes;
use crate::snapshot::{DataFile, Description, Living, NamedGraph, Snapshot};
use crate::triple::Triple;
use crate::verified::Proof;
use crate::{Tolerance, path};

/// Files that are kept open; each uses a file handle.
const MOST_OPEN: usize = 256;

/// The files of a snapshot by graph and predicate.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    /// In the order of the graphs of the snapshot.
    pub(super) graphs: Vec<Predicates>,
    /// The number of live triples of each predicate of each graph, if it is stated.
    pub(super) living: OnceLock<Vec<Vec<Option<Living>>>>,
    /// Their numbers, by name.
    numbers: HashMap<String, usize>,
    open: AtomicUsize,
}

/// The predicates of a graph.
#[derive(Debug, Default)]
pub(super) struct Predicates {
    numbers: HashMap<String, usize>,
    /// Those of the index, then others that files have.
    pub(super) all: Vec<PredicateFiles>,
}

/// The files of a predicate in a graph.
#[derive(Debug)]
pub(crate) struct PredicateFiles {
    pub(super) name: String,
    /// By subject, by object, and those of deleted triples.
    lists: [Vec<Known>; 3],
    /// Whether the tombstones of one order are sufficient for that order.
    pub(super) paired: bool,
    /// The order that holds triples which the other lacks: it is read for both.
    only: Option<Order>,
}

/// A file of the snapshot with what is known of it.
#[derive(Debug)]
pub(super) struct Known {
    /// The list that it is in, and its position there.
    list: usize,
    at: usize,
    /// Copies of graphs share their files, if their metadata is equal.
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    bloom: OnceLock<Option<Bloom>>,
    id_bloom: OnceLock<Option<Bloom>>,
    blob: OnceLock<Blob>,
    prefixes: OnceLock<Prefixes>,
    index: OnceLock<Option<Index>>,
    ids: OnceLock<Option<Ids>>,
    /// The checksum of the file, for readers of the whole file.
    proof: OnceLock<Option<Arc<Proof>>>,
}

/// Where to start in a file.
#[derive(Debug)]
pub(super) enum Index {
    /// From an index file.
    FromFile(Box<Sidecar>),
    /// From a pass over the file.
    Read { sparse: Sparse, lowest: String, highest: String, _memory: Reservation },
}

impl Index {
    fn sparse(&self) -> &Sparse {
        match self {
            Index::FromFile(sidecar) => &sidecar.sparse,
            Index::Read { sparse, .. } => sparse,
        }
    }
}

fn lists(graph: &NamedGraph) -> [&[DataFile]; 3] {
    [&graph.subject_files, &graph.object_files, &graph.tombstones]
}

impl Catalog {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut states: HashMap<Description<'_>, Arc<State>> = HashMap::new();
        let mut graphs = Vec::with_capacity(snapshot.graphs.len());
        for graph in &snapshot.graphs {
            let mut predicates = Predicates::default();
            for (number, name) in graph.all_predicates().into_iter().enumerate() {
                predicates.numbers.insert(name.to_owned(), number);
                predicates.all.push(PredicateFiles {
                    name: name.to_owned(),
                    lists: Default::default(),
                    paired: true,
                    only: None,
                });
            }
            for (list, files) in lists(graph).into_iter().enumerate() {
                for (at, file) in files.iter().enumerate() {
                    let state = Arc::clone(states.entry(file.description()).or_default());
                    let number = predicates.numbers.get(&file.predicate);
                    let predicate = number.and_then(|number| predicates.all.get_mut(*number));
                    if let Some(known) = predicate.and_then(|predicate| predicate.lists.get_mut(list)) {
                        known.push(Known { list, at, state });
                    }
                }
            }
            let ones = graph.of_one_order();
            for predicate in &mut predicates.all {
                predicate.only = ones.get(predicate.name.as_str()).and_then(|one| one.order);
                let [.., tombstones] = &predicate.lists;
                let mut counts = [Vec::new(), Vec::new()];
                for file in tombstones.iter().filter_map(|known| known.file(graph)) {
                    counts[usize::from(file.is_inverse)].push((file.snapshot_version, file.triple_count));
                }
                counts.iter_mut().for_each(|counts| counts.sort_unstable());
                predicate.paired = counts[0] == counts[1];
            }
            graphs.push(predicates);
        }
        let numbers = snapshot.graphs.iter().enumerate().map(|(number, graph)| (graph.name.clone(), number)).collect();
        Catalog { graphs, numbers, living: OnceLock::new(), open: AtomicUsize::new(0) }
    }

    pub(super) fn in_graph(&self, name: &str) -> Option<&Predicates> {
        self.graphs.get(*self.numbers.get(name)?)
    }
}

impl Predicates {
    pub(super) fn get(&self, predicate: &str) -> Option<&PredicateFiles> {
        self.all.get(self.number(predicate)?)
    }

    pub(super) fn number(&self, predicate: &str) -> Option<usize> {
        self.numbers.get(predicate).copied()
    }
}

impl PredicateFiles {
    /// The files to read for `order`: those sorted in this order; if the other order holds more, those of the other, to
    /// be sorted in memory.
    pub(super) fn data(&self, order: Order) -> &[Known] {
        let [subject, object, _] = &self.lists;
        if self.only.unwrap_or(order) == Order::Subject { subject } else { object }
    }

    /// The tombstone files of both orders.
    pub(super) fn all_tombstones(&self) -> &[Known] {
        let [.., tombstones] = &self.lists;
        tombstones
    }

    /// The tombstone files to read for `order`: those of that order if those of the other hold as many triples of each
    /// version; otherwise all, because both orders hold the same triples only if a writer wrote both.
    pub(super) fn tombstones<'p>(&'p self, graph: &'p NamedGraph, order: Order) -> impl Iterator<Item = &'p Known> {
        let [.., tombstones] = &self.lists;
        let wanted = move |file: &DataFile| !self.paired || file.is_inverse == (order == Order::Object);
        tombstones.iter().filter(move |known| known.file(graph).is_some_and(wanted))
    }
}

impl Known {
    /// The order of the list of data files that it is in.
    pub(super) fn order(&self) -> Order {
        if self.list == 1 { Order::Object } else { Order::Subject }
    }

    /// The file, in its graph.
    pub(super) fn file<'g>(&self, graph: &'g NamedGraph) -> Option<&'g DataFile> {
        lists(graph).get(self.list)?.get(self.at)
    }

    /// The opened file; it stays open unless too many are.
    fn blob(&self, lake: &GraphLake, file: &DataFile) -> Result<Blob> {
        if let Some(blob) = self.state.blob.get() {
            return Ok(blob.clone());
        }
        let blob = lake.file(file)?;
        let open = &lake.catalog().open;
        if open.load(Relaxed) < MOST_OPEN && self.state.blob.set(blob.clone()).is_ok() {
            open.fetch_add(1, Relaxed);
        }
        Ok(blob)
    }

    /// Returns a cursor at the start of the file, whose triples are wanted in `order`. A caller that reads all of it,
    /// alone or in sections that together are the whole, gets an error if it was changed.
    fn cursor(&self, lake: &GraphLake, file: &DataFile, order: Order) -> Result<Cursor> {
        if lake.options.tolerance == Tolerance::Lenient && !is_trusted(file) {
            return lake.cursor(file, order);
        }
        let blob = self.blob(lake, file)?;
        let prefixes = match self.state.prefixes.get() {
            Some(prefixes) => prefixes.clone(),
            None => {
                let prefixes = Prefixes::of(file, &lake.options).map_err(|error| error.at(blob.place()))?;
                self.state.prefixes.get_or_init(|| prefixes).clone()
            }
        };
        let proof = self.state.proof.get_or_init(|| Proof::of(file).map(Arc::new)).clone();
        Ok(Cursor::new(blob, prefixes, Some(order), &lake.options.budget).proved(file, proof))
    }

    /// The index of the file: from its index file, or from a pass over it; `None` for small files, and if the budget is
    /// exhausted.
    ///
    /// # Errors
    /// Returns an error if the file is broken or not in order: then no record of it can be found by a search.
    pub(super) fn index(&self, lake: &GraphLake, file: &DataFile, order: Order) -> Result<Option<&Index>> {
        if file.size < SMALL {
            return Ok(None);
        }
        if let Some(index) = self.state.index.get() {
            return Ok(index.as_ref());
        }
        let index = match self.index_file(lake, file)? {
            Some(sidecar) => Some(Index::FromFile(Box::new(sidecar))),
            None => self.passed(lake, file, order)?,
        };
        Ok(self.state.index.get_or_init(|| index).as_ref())
    }

    /// The index file of a file whose order is trusted: the same writer wrote both.
    fn index_file(&self, lake: &GraphLake, file: &DataFile) -> Result<Option<Sidecar>> {
        if !is_trusted(file) {
            return Ok(None);
        }
        let Some(blob) = sidecar(lake, file)? else { return Ok(None) };
        let of = Of { size: file.size, records: file.triple_count, checksum: file.checksum.as_deref() };
        Sidecar::read(&blob, &of, &lake.options.budget)
    }

    fn passed(&self, lake: &GraphLake, file: &DataFile, order: Order) -> Result<Option<Index>> {
        let mut cursor = self.cursor(lake, file, order)?;
        if cursor.is_sorted() {
            return Ok(None);
        }
        let Some(mut memory) = lake.options.budget.try_reserve(0) else { return Ok(None) };
        let mut known = SparseBuilder::default();
        let (mut lowest, mut highest) = (None, String::new());
        loop {
            let offset = cursor.offset();
            if !cursor.advance()? {
                break;
            }
            let text = cursor.triple.first(order);
            if known.wants(offset) {
                known.push([text.as_bytes()], offset);
                let missing = (2 * known.memory()).saturating_sub(memory.bytes());
                if missing > 0 && !memory.try_grow(missing.max(SMALL)) {
                    return Ok(None);
                }
            }
            lowest.get_or_insert_with(|| text.to_owned());
            if highest != text {
                text.clone_into(&mut highest);
            }
        }
        let sparse = known.finish();
        memory.shrink(memory.bytes().saturating_sub(sparse.memory() + highest.len() as u64));
        let lowest = lowest.unwrap_or_default();
        Ok(Some(Index::Read { sparse, lowest, highest, _memory: memory }))
    }

    /// Returns a cursor over the part of the file, which is sorted in `order`, that may be wanted, and whether the
    /// whole file is known to be in order; `None` if nothing can be wanted. Bounds and filters of other writers are not
    /// trusted: a file of theirs that is not small is read once, and what was found in it counts.
    pub(super) fn open(
        &self,
        lake: &GraphLake,
        file: &DataFile,
        order: Order,
        wanted: &Wanted,
    ) -> Result<Option<(Cursor, bool)>> {
        if file.triple_count == 0 && file.size == 0 {
            return Ok(None);
        }
        let ((low, high), keys) = (wanted.between(), wanted.keys());
        if low.is_none() && high.is_none() && keys.is_none() {
            return Ok(Some((self.cursor(lake, file, order)?, false)));
        }
        let trusted = is_trusted(file);
        let mut left = Vec::new();
        if trusted {
            let (least, most) = (file.min_value.as_str(), file.max_value.as_str());
            if low.is_some_and(|low| most < low) || high.is_some_and(|high| least >= high) {
                return Ok(None);
            }
            if let Some((keys, among)) = keys {
                left.push(within(keys, among, (least, most)));
                if !self.asked(lake, file, order, keys, &mut left)? {
                    return Ok(None);
                }
            }
        } else {
            left.extend(keys.map(|(_, among)| among.clone()));
        }
        let sparse = match self.index(lake, file, order)? {
            None => {
                let cursor = self.cursor(lake, file, order)?;
                let tried = trusted || cursor.is_sorted();
                return Ok(Some((cursor, tried)));
            }
            Some(Index::FromFile(sidecar)) => &sidecar.sparse,
            Some(Index::Read { sparse, lowest, highest, .. }) => {
                if let (Some((keys, _)), [all]) = (keys, left.as_mut_slice()) {
                    *all = within(keys, all, (lowest, highest));
                }
                sparse
            }
        };
        let stretches = match keys {
            Some((keys, _)) => stretches(sparse, file.size, keys, &left),
            None => {
                let start = low.map_or(0, |low| sparse.begin(low.as_bytes()));
                std::iter::once(start..high.map_or(file.size, |high| sparse.end(high.as_bytes(), file.size))).collect()
            }
        };
        if stretches.is_empty() {
            return Ok(None);
        }
        let mut cursor = self.cursor(lake, file, order)?;
        if keys.is_some() {
            cursor.unproved();
        }
        if !cursor.is_sorted() {
            cursor.only(stretches);
        }
        Ok(Some((cursor, true)))
    }

    /// Tests the keys against the filter of a file, and keeps those that it does not exclude; false if none is left. If
    /// there are so many keys that most of the file will be read, the filter is not used.
    fn asked(
        &self,
        lake: &GraphLake,
        file: &DataFile,
        order: Order,
        keys: &Keys,
        left: &mut Vec<Range<usize>>,
    ) -> Result<bool> {
        let Some(all) = left.first().cloned().filter(|all| !all.is_empty()) else { return Ok(false) };
        if all.len() as u64 > (file.size / STEP).max(1) {
            return Ok(true);
        }
        let Some(bloom) = self.bloom(lake, file, order)? else { return Ok(true) };
        left.clear();
        for key in all {
            if !bloom.may_have_hash(keys.hash(key)) {
                continue;
            }
            match left.last_mut() {
                Some(last) if last.end == key => last.end = key + 1,
                _ => left.push(key..key + 1),
            }
        }
        Ok(!left.is_empty())
    }

    /// The filter of a file, if it is trusted: from the snapshot, or from the index file.
    fn bloom(&self, lake: &GraphLake, file: &DataFile, order: Order) -> Result<Option<&Bloom>> {
        let stated = self.state.bloom.get_or_init(|| Bloom::parse(&file.bloom_filter));
        Ok(match stated {
            Some(bloom) => Some(bloom),
            None => match self.index(lake, file, order)? {
                Some(Index::FromFile(sidecar)) => sidecar.bloom.as_ref(),
                _ => None,
            },
        })
    }

    /// Texts that divide the file into parts of about this many bytes; none if it has no index file, because finding
    /// them would take reading the whole file.
    pub(super) fn divided(&self, lake: &GraphLake, file: &DataFile, order: Order, bytes: u64) -> Result<Vec<String>> {
        if !is_trusted(file) {
            return Ok(Vec::new());
        }
        Ok(self.index(lake, file, order)?.map(|index| index.sparse().divided(bytes)).unwrap_or_default())
    }

    /// What is known of the first texts in `order` of a data file without reading it.
    pub(super) fn at_hand(&self, file: &DataFile, order: Order) -> AtHand<'_> {
        if self.order() != order {
            return AtHand { trusted: false, sparse: None, bloom: None };
        }
        let trusted = is_trusted(file);
        let index = self.state.index.get().and_then(Option::as_ref);
        let stated = || self.state.bloom.get_or_init(|| Bloom::parse(&file.bloom_filter)).as_ref();
        let (sparse, beside) = match index {
            None => (None, None),
            Some(Index::Read { sparse, .. }) => (Some(sparse), None),
            Some(Index::FromFile(sidecar)) => (Some(&sidecar.sparse), sidecar.bloom.as_ref()),
        };
        AtHand { trusted, sparse, bloom: if trusted { stated().or(beside) } else { None } }
    }

    /// Whether the filter of ids of a file allows that the id is in it.
    pub(super) fn may_have_id(&self, file: &DataFile, id: &TripleId) -> bool {
        let parsed = || file.id_bloom_filter.as_deref().filter(|_| is_trusted(file)).and_then(Bloom::parse);
        self.state.id_bloom.get_or_init(parsed).as_ref().is_none_or(|filter| filter.may_have(&id.0))
    }

    /// Passes the triples of a data file whose ids begin like `id` to `take`, and possibly others; the whole file if
    /// their positions are unknown.
    pub(super) fn candidates(
        &self,
        lake: &GraphLake,
        file: &DataFile,
        id: &TripleId,
        take: &mut dyn FnMut(&Triple) -> Result<()>,
    ) -> Result<()> {
        let order = self.order();
        let mut cursor = self.cursor(lake, file, order)?;
        if let Some(Index::FromFile(found)) = self.index(lake, file, order)?
            && let Some(ids) = self.ids(lake, file, found)?
        {
            for block in ids.find(id).filter_map(|known| found.sparse.block(known, file.size)) {
                let mut cursor = self.cursor(lake, file, order)?;
                cursor.unproved();
                cursor.only(std::iter::once(block).collect());
                while cursor.advance()? {
                    take(&cursor.triple)?;
                }
            }
            return Ok(());
        }
        while cursor.advance()? {
            take(&cursor.triple)?;
        }
        Ok(())
    }

    fn ids(&self, lake: &GraphLake, file: &DataFile, found: &Sidecar) -> Result<Option<&Ids>> {
        if let Some(ids) = self.state.ids.get() {
            return Ok(ids.as_ref());
        }
        let ids = match sidecar(lake, file)? {
            Some(blob) => found.ids(&blob, &lake.options.budget)?,
            None => None,
        };
        Ok(self.state.ids.get_or_init(|| ids).as_ref())
    }
}

/// What is known of a file without reading it.
pub(super) struct AtHand<'k> {
    /// Whether it is in that order, and its metadata is trusted.
    pub(super) trusted: bool,
    pub(super) sparse: Option<&'k Sparse>,
    pub(super) bloom: Option<&'k Bloom>,
}

/// The keys within bounds, both included.
fn within(keys: &Keys, among: &Range<usize>, (least, most): (&str, &str)) -> Range<usize> {
    let start = keys.not_before(among.clone(), least.as_bytes());
    let mut end = keys.not_before(start..among.end, most.as_bytes());
    if end < among.end && keys.text(end) == most.as_bytes() {
        end += 1;
    }
    start..end
}

/// The ranges of a file where the keys can be, ascending and disjoint. Short gaps between them are read, too.
fn stretches(sparse: &Sparse, size: u64, keys: &Keys, left: &[Range<usize>]) -> Vec<Range<u64>> {
    let mut found: Vec<Range<u64>> = Vec::new();
    for key in left.iter().cloned().flatten() {
        let text = keys.text(key);
        let block = sparse.begin(text)..sparse.end(text, size);
        match found.last_mut() {
            Some(last) if block.start <= last.end.saturating_add(2 * STEP) => last.end = last.end.max(block.end),
            _ if block.is_empty() => {}
            _ => found.push(block),
        }
    }
    found
}

/// Whether the order, bounds and filters in a file's metadata are trusted.
fn is_trusted(file: &DataFile) -> bool {
    file.sort_order.as_deref() == Some("codepoint")
}

/// The index file of a file, if there is one. One that cannot be opened (a directory, no permission) counts as missing:
/// the file contains the same information.
fn sidecar(lake: &GraphLake, file: &DataFile) -> Result<Option<Blob>> {
    let name = path::resolve(&file.path, &lake.store.location)?;
    match lake.root.try_file(&format!("{name}{ENDING}")) {
        Err(error) if matches!(error.kind(), Kind::Malformed | Kind::Io) => Ok(None),
        opened => opened,
    }
}
