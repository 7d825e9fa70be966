//! Compaction: merges the many small files of a predicate into few, without deleted triples.
//!
//! The new files have the version of the snapshot that they were computed from, so that triples deleted in the meantime
//! stay deleted. Both orders are merged from the same versions of files: they always hold the same triples of each
//! version.

use std::collections::BTreeSet;

use isomorph_error::{Error, Place, Result};
use isomorph_storage::Additions;

use crate::commit::{Attempt, Base, Changes, Committed, GraphChange, Lake, Tally};
use crate::lookup::Wanted;
use crate::merge::Merge;
use crate::read::Order;
use crate::record::{Prefixes, is_marked};
use crate::rules;
use crate::snapshot::{DataFile, Living, NamedGraph, OneOrder};
use crate::term::QUOTED_GRAPH;
use crate::write::{FileWriter, Partition};
use crate::{GraphLake, OpenOptions, Tolerance};

/// If a tier has more files than this, they are merged.
const TIER_FILES: usize = 8;

/// Files belong to one tier if their sizes are within this factor.
const TIER_FACTOR: u64 = 8;

/// If there is more than one deletion for this many triples, all files of a predicate are merged.
const DELETED_ONE_IN: u64 = 10;

/// What is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CompactMode {
    /// More than eight files of about the same size; or everything, if more than a tenth is deleted.
    #[default]
    Tiers,
    /// All files of each predicate that has several versions or deletions, or whose live triples are not counted.
    Full,
}

/// The result of a compaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compacted {
    /// The commit; `None` if there was nothing to merge.
    pub commit: Option<Committed>,
    /// Number of predicates, counted for each graph, whose files were merged.
    pub predicates: u64,
    /// Number of files that are no longer in the snapshot.
    pub merged: u64,
    /// Number of deletions that were dropped.
    pub forgotten: u64,
    /// Triples that were deleted before they were last inserted, or in the same version, in predicates whose deletions
    /// were dropped: `naive` reading did not find them, and finds them now.
    pub revived: u64,
    /// Number of predicates, counted for each graph, that were left unchanged because other writers replaced their
    /// files repeatedly.
    pub left: u64,
}

/// The versions of files to merge, and the deletions that are not needed afterwards.
struct Inputs {
    versions: BTreeSet<i64>,
    /// Whether these are all versions.
    is_all: bool,
    /// The lowest version of the files that stay; `None` if none does.
    stays: Option<i64>,
}

/// How often a predicate is merged again because other writers replaced its files; after that it is left to the next
/// compaction.
const ATTEMPTS: u32 = 8;

/// A predicate whose files were merged.
struct Merged {
    graph: String,
    predicate: String,
    change: GraphChange,
    /// The data files that are replaced. The deletions may have changed when the merge is published: what the old ones
    /// delete in these files is not in the new files, and later deletions have a greater version.
    data: Vec<String>,
    forgotten: u64,
    revived: u64,
}

impl Lake {
    /// Merges files. The quads of the store do not change. `advance` gets the number of triples written since its last
    /// call, and can stop the work.
    ///
    /// If the store was opened as [`Tolerance::Lenient`], files that are not in order are sorted in memory, and
    /// [`CompactMode::Full`] also writes files anew whose order is not known.
    ///
    /// Predicates whose files another writer replaced in the meantime are merged again, and left unchanged if that
    /// happens repeatedly; the others are committed.
    ///
    /// # Errors
    /// [`rules::ORDERS_DIFFER`] if the triples by subject and by object differ, [`rules::CHECKSUM`] and other rules if
    /// a file is damaged; errors of reading and writing.
    pub fn compact(&self, mode: CompactMode, advance: &dyn Fn(u64) -> Result<()>) -> Result<Compacted> {
        let mut base = self.base()?;
        let additions = self.shared.additions()?;
        let (mut compacted, mut merged) = (Compacted::default(), Vec::new());
        for name in base.snapshot.names() {
            let Some(raw) = base.snapshot.graph(name)? else { continue };
            for (predicate, _) in &raw.predicates {
                merged.extend(self.merged(&base, &additions, (name, predicate), mode, advance)?);
            }
        }
        for lost in 0.. {
            if merged.is_empty() {
                return Ok(compacted);
            }
            let written = additions.settle()?;
            let (changes, [inserted, quoted]) = (together(&merged), triples(&merged));
            if let Attempt::Done(entry) = self.make(&base, &additions, changes)? {
                compacted.predicates = merged.len() as u64;
                compacted.merged = merged.iter().map(|one| one.change.removed.len() as u64).sum();
                compacted.forgotten = merged.iter().map(|one| one.forgotten).sum();
                compacted.revived = merged.iter().map(|one| one.revived).sum();
                compacted.commit = Some(Committed {
                    version: entry.version,
                    id: entry.id,
                    timestamp: entry.timestamp,
                    inserted,
                    quoted,
                    again: Some(inserted),
                    deleted: 0,
                    missing: 0,
                    files: merged.iter().flat_map(|one| one.change.added.iter()).map(|files| files.len() as u64).sum(),
                    bytes: written.bytes,
                    lost,
                });
                break;
            }
            base = self.base()?;
            let (still, stale) = listed(&base, merged)?;
            merged = still;
            for one in stale {
                one.change.added.iter().flatten().try_for_each(|file| self.shared.remove(&file.path))?;
                let at = (one.graph.as_str(), one.predicate.as_str());
                match lost < ATTEMPTS {
                    true => merged.extend(self.merged(&base, &additions, at, mode, advance)?),
                    false => compacted.left += 1,
                }
            }
        }
        Ok(compacted)
    }

    /// Merges the files of a predicate in a graph; `None` if it is not worthwhile.
    fn merged(
        &self,
        base: &Base,
        additions: &Additions,
        (name, predicate): (&str, &str),
        mode: CompactMode,
        advance: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Option<Merged>> {
        let Some(raw) = base.snapshot.graph(name)? else { return Ok(None) };
        let Some((_, predicate_id)) = raw.partition(predicate) else { return Ok(None) };
        let part = base.part(name, &raw, [true; 3], Some(predicate))?;
        let known = raw.living().get(predicate).is_none_or(Option::is_some);
        let is_lenient = self.opening.tolerance == Tolerance::Lenient;
        let Some(inputs) = inputs(&part, mode, known, is_lenient) else { return Ok(None) };
        if is_lenient {
            self.check_prefixes(&part)?;
        }
        if let Some(OneOrder { order: Some(complete), .. }) = part.of_one_order().get(predicate)
            && lacks(&base.lake(self, vec![part.clone()]), *complete)?
        {
            let message = format!("{predicate}: each order has triples that the other lacks");
            return Err(Error::broken(&rules::ORDERS_DIFFER, message)
                .at(base.snapshot.place(name))
                .hint("isomorph validate LAKE    shows the details"));
        }
        let partition = Partition {
            graph: name,
            graph_id: &raw.id,
            predicate,
            predicate_id,
            version: base.snapshot.version,
            file_bytes: self.writing.file_bytes,
            id_filters: self.writing.id_filters,
        };
        let mut change = GraphChange { from: Some(name.to_owned()), ..GraphChange::default() };
        let (mut tally, mut sums, mut bytes) = (Tally::SAME, [(0u64, 0u64); 2], Vec::new());
        let mut revived = 0;
        for ((list, order), (sum, count)) in [(0, Order::Subject), (1, Order::Object)].into_iter().zip(&mut sums) {
            let mut writer = FileWriter::new(additions, &partition, order, &self.writing.budget)?;
            let open = base.lake(self, vec![chosen(&part, &inputs)]);
            let mut merge = living(&open, order, predicate)?;
            let mut unsaid = 0;
            while let Some(triple) = merge.next()? {
                writer.push(triple)?;
                (*sum, *count) = (sum.wrapping_add(triple.fingerprint(&mut bytes)), *count + 1);
                unsaid += 1;
                if unsaid == 1 << 14 {
                    advance(std::mem::take(&mut unsaid))?;
                }
            }
            advance(unsaid)?;
            if inputs.is_all && order == Order::Subject {
                revived = merge.revived.all;
            }
            let files = writer.finish()?;
            if let (Order::Subject, true, Some(living)) = (order, inputs.is_all, Living::in_files(&files)) {
                tally = Tally::Is(living);
            }
            change.add(list, files);
        }
        alike(base, name, predicate, sums)?;
        let data = part.subject_files.iter().chain(&part.object_files);
        let data = data.filter(|file| inputs.versions.contains(&file.snapshot_version)).map(|file| file.id.clone());
        let data: Vec<String> = data.collect();
        change.removed.extend(data.iter().cloned());
        // What is deleted in the files that stay must stay deleted; the new files do not hold deleted triples.
        let needed = |file: &&DataFile| inputs.stays.is_some_and(|oldest| file.snapshot_version > oldest);
        let mut forgotten = 0;
        for file in part.tombstones.iter().filter(|file| !needed(file)) {
            change.removed.insert(file.id.clone());
            forgotten += if file.is_inverse { 0 } else { file.triple_count };
        }
        change.living.insert(predicate.to_owned(), tally);
        Ok(Some(Merged { graph: name.to_owned(), predicate: predicate.to_owned(), change, data, forgotten, revived }))
    }

    /// Checks that no prefix of a file was changed: a lenient reader accepts that, but what is merged must not depend on it.
    fn check_prefixes(&self, part: &NamedGraph) -> Result<()> {
        let options = OpenOptions { tolerance: Tolerance::Normal, ..self.opening.clone() };
        part.files().try_for_each(|(_, file)| match Prefixes::of(file, &options) {
            Ok(_) => Ok(()),
            Err(error) => Err(error.at(Place::file(&file.path))),
        })
    }
}

/// The number of merged triples; those of the graph of quoted triples are counted separately.
fn triples(merged: &[Merged]) -> [u64; 2] {
    let mut counts = [0u64; 2];
    for Merged { graph, change, .. } in merged {
        let count = change.added[0].iter().map(|file| file.triple_count).sum::<u64>();
        counts[usize::from(graph == QUOTED_GRAPH)] += count;
    }
    counts
}

/// Selects what to merge of a predicate; `known` says whether its live triples are counted, `sorts` whether files are written
/// anew whose order is not known. `None` if a merge is not worthwhile.
fn inputs(part: &NamedGraph, mode: CompactMode, known: bool, sorts: bool) -> Option<Inputs> {
    let own = || part.subject_files.iter().chain(&part.object_files);
    let deleted: u64 = part.tombstones.iter().filter(|file| !file.is_inverse).map(|file| file.triple_count).sum();
    let triples: u64 = part.subject_files.iter().map(|file| file.triple_count).sum();
    let all: BTreeSet<i64> = own().map(|file| file.snapshot_version).collect();
    let whole = match mode {
        // Files of one version may have a triple twice if it was not counted.
        CompactMode::Full => {
            all.len() > 1
                || !part.tombstones.is_empty()
                || (!known && part.subject_files.len() > 1)
                || (sorts && own().any(|file| !is_marked(file)))
        }
        CompactMode::Tiers => deleted.saturating_mul(DELETED_ONE_IN) > triples,
    };
    let whole = whole || !part.of_one_order().is_empty();
    if whole && (!all.is_empty() || !part.tombstones.is_empty()) {
        return Some(Inputs { versions: all, is_all: true, stays: None });
    }
    if mode == CompactMode::Full {
        return None;
    }
    // Versions are merged in the order of the size of their files by subject, the smallest first.
    let size = |version: i64| -> u64 {
        let files = part.subject_files.iter().filter(|file| file.snapshot_version == version);
        files.map(|file| file.size).sum()
    };
    let mut sizes: Vec<(u64, i64)> = all.iter().map(|version| (size(*version).max(1), *version)).collect();
    sizes.sort_unstable();
    let mut tier: Vec<(u64, i64)> = Vec::new();
    for one in sizes {
        if tier.first().is_some_and(|(smallest, _)| one.0 > smallest.saturating_mul(TIER_FACTOR)) {
            if tier.len() > TIER_FILES {
                break;
            }
            tier.clear();
        }
        tier.push(one);
    }
    if tier.len() <= TIER_FILES {
        return None;
    }
    let versions: BTreeSet<i64> = tier.into_iter().map(|(_, version)| version).collect();
    let stays = all.difference(&versions).min().copied();
    Some(Inputs { is_all: stays.is_none(), versions, stays })
}

/// The files that are merged, with all deletions.
fn chosen(part: &NamedGraph, inputs: &Inputs) -> NamedGraph {
    let of = |files: &[DataFile]| -> Vec<DataFile> {
        files.iter().filter(|file| inputs.versions.contains(&file.snapshot_version)).cloned().collect()
    };
    NamedGraph { subject_files: of(&part.subject_files), object_files: of(&part.object_files), ..part.clone() }
}

/// The live triples of the only graph that is open.
fn living(open: &GraphLake, order: Order, predicate: &str) -> Result<Merge> {
    match open.snapshot.graphs.first() {
        Some(graph) if order == Order::Subject => open.merge_noting(graph, predicate),
        Some(graph) => open.merge(graph, predicate, order),
        None => Ok(Merge::new(order, false)),
    }
}

/// Whether the order that has more records, and is merged for both, lacks a triple of the other: it may have others twice.
fn lacks(open: &GraphLake, complete: Order) -> Result<bool> {
    let Some(graph) = open.snapshot.graphs.first() else { return Ok(false) };
    let (all, fewer) = match complete {
        Order::Subject => (&graph.subject_files, &graph.object_files),
        Order::Object => (&graph.object_files, &graph.subject_files),
    };
    // What is left of the one after deleting what the other has.
    let mut merge = Merge::new(complete, false);
    for file in fewer.iter().filter(|file| file.triple_count > 0) {
        merge.add(open.resorted(file, complete, &Wanted::All)?, 0, false, true)?;
    }
    for file in all.iter().filter(|file| file.triple_count > 0) {
        merge.add(open.cursor(file, complete)?, 1, true, false)?;
    }
    Ok(merge.next()?.is_some())
}

/// Checks that the same triples were merged by subject and by object, by sums of fingerprints and numbers of triples.
/// Both orders are written; if they differ, merging could repair the damage or spread it.
fn alike(base: &Base, graph: &str, predicate: &str, [subject, object]: [(u64, u64); 2]) -> Result<()> {
    if subject == object {
        return Ok(());
    }
    let message = match (subject.1, object.1) {
        (one, other) if one == other => format!("{predicate}: both orders have {one} triples, but not the same ones"),
        (one, other) => format!("{predicate}: {one} live triples by subject, {other} by object"),
    };
    Err(Error::broken(&rules::ORDERS_DIFFER, message)
        .at(base.snapshot.place(graph))
        .hint("isomorph validate LAKE    shows the details"))
}

/// The changes of each graph combined.
fn together(merged: &[Merged]) -> Changes {
    let mut changes = Changes::new();
    for Merged { graph: name, change, .. } in merged {
        let own = changes
            .entry(name.clone())
            .or_insert_with(|| Some(GraphChange { from: Some(name.clone()), ..GraphChange::default() }));
        if let Some(own) = own {
            own.removed.extend(change.removed.iter().cloned());
            own.living.extend(change.living.clone());
            change.added.iter().enumerate().for_each(|(list, files)| own.add(list, files.clone()));
        }
    }
    changes
}

/// Separates predicates whose merged files are all still listed from the others: files that another writer has merged
/// or dropped must not come back.
fn listed(base: &Base, merged: Vec<Merged>) -> Result<(Vec<Merged>, Vec<Merged>)> {
    let (mut still, mut stale) = (Vec::new(), Vec::new());
    for mut one in merged {
        let there: BTreeSet<String> = base.files_of(&one.graph, Some(&one.predicate))?.into_iter().collect();
        if !one.data.iter().all(|id| there.contains(id)) {
            stale.push(one);
            continue;
        }
        one.change.removed.retain(|id| there.contains(id));
        // The count was made before the changes of others.
        one.change.living.values_mut().for_each(|tally| *tally = Tally::SAME);
        still.push(one);
    }
    Ok((still, stale))
}
