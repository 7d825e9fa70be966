//! What look-ups remember of a snapshot: which files a predicate has, their filters, and where in them to begin.
//!
//! Everything is made when it is first wanted, and kept within the budget as long as the store is open.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use isomorph_error::Result;
use isomorph_storage::{Blob, Reservation};

use crate::bloom::Bloom;
use crate::cursor::Cursor;
use crate::id::TripleId;
use crate::read::{GraphLake, Order};
use crate::record::Prefixes;
use crate::sidecar::{ENDING, Ids, Of, SMALL, Sidecar, Sparse, SparseBuilder};
use crate::snapshot::{DataFile, NamedGraph, Snapshot};
use crate::triple::Triple;
use crate::{Tolerance, path};

/// Files that are kept open; each takes a handle of the system.
const MOST_OPEN: usize = 256;

/// The files of a snapshot by graphs and predicates.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    /// As the graphs of the snapshot.
    pub(super) graphs: Vec<Predicates>,
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
pub(super) struct PredicateFiles {
    pub(super) name: String,
    /// By subject, by object, and those of deleted triples.
    lists: [Vec<Known>; 3],
    /// Whether tombstones of one order are all that an order must read.
    paired: bool,
}

/// A file of the snapshot with what is known of it.
#[derive(Debug)]
pub(super) struct Known {
    /// The list that it is in, and where.
    list: usize,
    at: usize,
    /// Copies of graphs share their files.
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
}

/// What tells where in a file to begin.
#[derive(Debug)]
enum Index {
    /// It lay beside the file.
    Beside(Box<Sidecar>),
    /// The file was read.
    Read { sparse: Sparse, lowest: String, highest: String, _memory: Reservation },
}

fn lists(graph: &NamedGraph) -> [&[DataFile]; 3] {
    [&graph.subject_files, &graph.object_files, &graph.tombstones]
}

impl Catalog {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut states: HashMap<&str, Arc<State>> = HashMap::new();
        let mut graphs = Vec::with_capacity(snapshot.graphs.len());
        for graph in &snapshot.graphs {
            let mut predicates = Predicates::default();
            for (number, name) in graph.all_predicates().into_iter().enumerate() {
                predicates.numbers.insert(name.to_owned(), number);
                predicates.all.push(PredicateFiles { name: name.to_owned(), lists: Default::default(), paired: true });
            }
            for (list, files) in lists(graph).into_iter().enumerate() {
                for (at, file) in files.iter().enumerate() {
                    let state = Arc::clone(states.entry(&file.path).or_default());
                    let number = predicates.numbers.get(&file.predicate);
                    let predicate = number.and_then(|number| predicates.all.get_mut(*number));
                    if let Some(known) = predicate.and_then(|predicate| predicate.lists.get_mut(list)) {
                        known.push(Known { list, at, state });
                    }
                }
            }
            for predicate in &mut predicates.all {
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
        Catalog { graphs, open: AtomicUsize::new(0) }
    }
}

impl Predicates {
    pub(super) fn get(&self, predicate: &str) -> Option<&PredicateFiles> {
        self.all.get(*self.numbers.get(predicate)?)
    }
}

impl PredicateFiles {
    /// The files that are sorted in `order`.
    pub(super) fn data(&self, order: Order) -> &[Known] {
        let [subject, object, _] = &self.lists;
        if order == Order::Subject { subject } else { object }
    }

    /// The tombstone files to read for `order`: those of that order, where those of the other hold as many of each version;
    /// else all, because both orders hold the same triples where a writer wrote both.
    pub(super) fn tombstones<'p>(&'p self, graph: &'p NamedGraph, order: Order) -> impl Iterator<Item = &'p Known> {
        let [.., tombstones] = &self.lists;
        let wanted = move |file: &DataFile| !self.paired || file.is_inverse == (order == Order::Object);
        tombstones.iter().filter(move |known| known.file(graph).is_some_and(wanted))
    }
}

impl Known {
    /// The file, in its graph.
    pub(super) fn file<'g>(&self, graph: &'g NamedGraph) -> Option<&'g DataFile> {
        lists(graph).get(self.list)?.get(self.at)
    }

    /// The opened file; it stays open if not too many are.
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

    /// A cursor at the begin of the file, whose triples are wanted in `order`.
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
        Ok(Cursor::new(blob, prefixes, Some(order)))
    }

    /// The index of the file: from beside it, or from a pass over it; nothing for small files, and where the budget has no
    /// room.
    ///
    /// # Errors
    /// When the file is broken, or not in its order: then no record of it can be found by a search.
    fn index(&self, lake: &GraphLake, file: &DataFile, order: Order) -> Result<Option<&Index>> {
        if file.size < SMALL {
            return Ok(None);
        }
        if let Some(index) = self.state.index.get() {
            return Ok(index.as_ref());
        }
        let index = match self.beside(lake, file)? {
            Some(sidecar) => Some(Index::Beside(Box::new(sidecar))),
            None => self.passed(lake, file, order)?,
        };
        Ok(self.state.index.get_or_init(|| index).as_ref())
    }

    /// What lies beside a file whose order is believed: who wrote the one wrote the other.
    fn beside(&self, lake: &GraphLake, file: &DataFile) -> Result<Option<Sidecar>> {
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

    /// Whether the file, which is sorted in `order`, can have the key. Bounds and filters of others are not believed: a file
    /// of theirs that is not small was read, and what was found in it counts.
    pub(super) fn may_have(&self, lake: &GraphLake, file: &DataFile, order: Order, key: &str) -> Result<bool> {
        if file.triple_count == 0 {
            return Ok(false);
        }
        let within = |lowest: &str, highest: &str| lowest <= key && key <= highest;
        if !is_trusted(file) {
            return Ok(match self.index(lake, file, order)? {
                Some(Index::Read { lowest, highest, .. }) => within(lowest, highest),
                _ => true,
            });
        }
        if !within(&file.min_value, &file.max_value) {
            return Ok(false);
        }
        let stated = self.state.bloom.get_or_init(|| Bloom::parse(&file.bloom_filter));
        let bloom = match stated {
            Some(bloom) => Some(bloom),
            None => match self.index(lake, file, order)? {
                Some(Index::Beside(sidecar)) => sidecar.bloom.as_ref(),
                _ => None,
            },
        };
        Ok(bloom.is_none_or(|bloom| bloom.may_have(key.as_bytes())))
    }

    /// Whether the filter of ids of a file leaves it open that one is there.
    pub(super) fn may_have_id(&self, file: &DataFile, id: &TripleId) -> bool {
        let parsed = || file.id_bloom_filter.as_deref().filter(|_| is_trusted(file)).and_then(Bloom::parse);
        self.state.id_bloom.get_or_init(parsed).as_ref().is_none_or(|filter| filter.may_have(&id.0))
    }

    /// A cursor that begins not behind the first record with `key`, and whether the order of the whole file is known.
    pub(super) fn cursor_at(
        &self,
        lake: &GraphLake,
        file: &DataFile,
        order: Order,
        key: &str,
    ) -> Result<(Cursor, bool)> {
        let mut cursor = self.cursor(lake, file, order)?;
        if cursor.is_sorted() {
            return Ok((cursor, true));
        }
        let index = self.index(lake, file, order)?;
        let begin = index.map(|index| match index {
            Index::Beside(sidecar) => sidecar.sparse.begin(key.as_bytes()),
            Index::Read { sparse, .. } => sparse.begin(key.as_bytes()),
        });
        cursor.begin_at(begin.unwrap_or_default());
        Ok((cursor, begin.is_some()))
    }

    /// Hands over the triples of a file by subject whose ids begin like `id`, and more; the whole file, where nothing tells
    /// where they are.
    pub(super) fn candidates(
        &self,
        lake: &GraphLake,
        file: &DataFile,
        id: &TripleId,
        take: &mut dyn FnMut(&Triple) -> Result<()>,
    ) -> Result<()> {
        let mut cursor = self.cursor(lake, file, Order::Subject)?;
        if let Some(Index::Beside(found)) = self.index(lake, file, Order::Subject)?
            && let Some(ids) = self.ids(lake, file, found)?
        {
            for block in ids.find(id).filter_map(|known| found.sparse.block(known, file.size)) {
                let mut cursor = self.cursor(lake, file, Order::Subject)?;
                cursor.begin_at(block.start);
                while cursor.offset() < block.end && cursor.advance()? {
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

/// Whether what a file's metadata says of its order, bounds and filters is believed.
fn is_trusted(file: &DataFile) -> bool {
    file.sort_order.as_deref() == Some("codepoint")
}

/// The sidecar of a file, if there is one.
fn sidecar(lake: &GraphLake, file: &DataFile) -> Result<Option<Blob>> {
    let name = path::resolve(&file.path, &lake.store.location)?;
    lake.root.try_file(&format!("{name}{ENDING}"))
}
