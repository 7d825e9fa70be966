//! Compaction: many small files of a predicate become few, without what is deleted.
//!
//! The new files have the version of the snapshot that they were computed from, so that what is deleted meanwhile stays
//! deleted. Both orders are merged from the same versions of files: the two always hold the same triples for each version.

use std::collections::BTreeSet;

use isomorph_error::{Error, Result};
use isomorph_storage::Additions;

use crate::commit::{Attempt, Base, Changes, Committed, GraphChange, Lake, Tally};
use crate::merge::Merge;
use crate::read::Order;
use crate::rules;
use crate::snapshot::{DataFile, Living, NamedGraph};
use crate::term::QUOTED_GRAPH;
use crate::write::{FileWriter, Partition};

/// With more files of one tier than this, they are merged.
const TIER_FILES: usize = 8;

/// Files belong to one tier whose sizes are within this factor.
const TIER_FACTOR: u64 = 8;

/// With more than one deletion for so many triples, all files of a predicate are merged.
const DELETED_ONE_IN: u64 = 10;

/// What is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CompactMode {
    /// Where more than eight files are of about one size, those; where more than a tenth is deleted, everything.
    #[default]
    Tiers,
    /// All files of each predicate that has several versions of them, or deletions, or of which nobody knows how many triples live.
    Full,
}

/// What was merged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compacted {
    /// The commit; nothing when there was nothing to be merged.
    pub commit: Option<Committed>,
    /// Predicates, in graphs, of which files were merged.
    pub predicates: u64,
    /// Files that are in the snapshot no more.
    pub merged: u64,
    /// Deletions that are forgotten.
    pub forgotten: u64,
    /// Triples that were deleted before they were inserted last, or at the same time, in predicates whose deletions are forgotten: reading
    /// by the words of the specification (`naive`) did not find them, and does now.
    pub revived: u64,
    /// Predicates, in graphs, that were left as they are because others replaced their files again and again.
    pub left: u64,
}

/// The versions of files that become one, and the deletions that nobody needs then.
struct Inputs {
    versions: BTreeSet<i64>,
    /// Whether these are all.
    is_all: bool,
    /// The lowest version of the files that stay; nothing when none does.
    stays: Option<i64>,
}

/// How often a predicate is merged again because others replaced its files meanwhile; then it is left to the next compaction.
const ATTEMPTS: u32 = 8;

/// A predicate whose files were merged.
struct Merged {
    graph: String,
    predicate: String,
    change: GraphChange,
    /// The data files that it takes the place of. Deletions may be other ones when it is published: what they delete in these is
    /// not in the new files, and what was deleted since is deleted by its version.
    data: Vec<String>,
    forgotten: u64,
    revived: u64,
}

impl Lake {
    /// Merges files. Quads are the same before and after. `advance` is told how many triples more are written and may end
    /// the work.
    ///
    /// Predicates of which another writer replaced files meanwhile are merged again, and left as they are where that happens again
    /// and again; the others are made.
    ///
    /// # Errors
    /// [`rules::ORDERS_DIFFER`] when what is merged by subject is not what is merged by object, [`rules::CHECKSUM`] and others when a
    /// file is damaged; those of reading and writing.
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

    /// Merges the files of a predicate in a graph; nothing where that is of no use.
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
        let Some(inputs) = inputs(&part, mode, known) else { return Ok(None) };
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
        // What is deleted in files that stay must stay deleted; the new files hold nothing that is deleted yet.
        let needed = |file: &&DataFile| inputs.stays.is_some_and(|oldest| file.snapshot_version > oldest);
        let mut forgotten = 0;
        for file in part.tombstones.iter().filter(|file| !needed(file)) {
            change.removed.insert(file.id.clone());
            forgotten += if file.is_inverse { 0 } else { file.triple_count };
        }
        change.living.insert(predicate.to_owned(), tally);
        Ok(Some(Merged { graph: name.to_owned(), predicate: predicate.to_owned(), change, data, forgotten, revived }))
    }
}

/// How many triples were merged: those of the graph of quoted triples apart.
fn triples(merged: &[Merged]) -> [u64; 2] {
    let mut counts = [0u64; 2];
    for Merged { graph, change, .. } in merged {
        let count = change.added[0].iter().map(|file| file.triple_count).sum::<u64>();
        counts[usize::from(graph == QUOTED_GRAPH)] += count;
    }
    counts
}

/// What is to be merged of a predicate, of which it is `known` or not how many triples live; nothing where that is of no use.
fn inputs(part: &NamedGraph, mode: CompactMode, known: bool) -> Option<Inputs> {
    let own = || part.subject_files.iter().chain(&part.object_files);
    let deleted: u64 = part.tombstones.iter().filter(|file| !file.is_inverse).map(|file| file.triple_count).sum();
    let triples: u64 = part.subject_files.iter().map(|file| file.triple_count).sum();
    let all: BTreeSet<i64> = own().map(|file| file.snapshot_version).collect();
    let whole = match mode {
        // Files of one version may have a triple twice, if nobody counted.
        CompactMode::Full => all.len() > 1 || !part.tombstones.is_empty() || (!known && part.subject_files.len() > 1),
        CompactMode::Tiers => deleted.saturating_mul(DELETED_ONE_IN) > triples,
    };
    let whole = whole || !part.of_one_order().is_empty();
    if whole && (!all.is_empty() || !part.tombstones.is_empty()) {
        return Some(Inputs { versions: all, is_all: true, stays: None });
    }
    if mode == CompactMode::Full {
        return None;
    }
    // A version is what is merged: by how large its files by subject are, the smallest first.
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

/// What lives of the only graph that is open.
fn living(open: &crate::GraphLake, order: Order, predicate: &str) -> Result<Merge> {
    match open.snapshot.graphs.first() {
        Some(graph) if order == Order::Subject => open.merge_noting(graph, predicate),
        Some(graph) => open.merge(graph, predicate, order),
        None => Ok(Merge::new(order, false)),
    }
}

/// Whether what was merged by subject is what was merged by object: sums of fingerprints, and numbers of triples. Both are written, and
/// who merges one of two that differ makes good what is damaged, or damages what is good.
fn alike(base: &Base, graph: &str, predicate: &str, [subject, object]: [(u64, u64); 2]) -> Result<()> {
    if subject == object {
        return Ok(());
    }
    let message = match (subject.1, object.1) {
        (one, other) if one == other => format!("{predicate}: {one} triples in each order, and not the same ones"),
        (one, other) => format!("{predicate}: {one} triples live by subject, {other} by object"),
    };
    Err(Error::broken(&rules::ORDERS_DIFFER, message)
        .at(base.snapshot.place(graph))
        .hint("isomorph validate LAKE    tells more"))
}

/// The changes of each graph as one.
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

/// Those of which all files that were merged are still there, and the others: what another writer has merged or dropped must not come
/// back.
fn listed(base: &Base, merged: Vec<Merged>) -> Result<(Vec<Merged>, Vec<Merged>)> {
    let (mut still, mut stale) = (Vec::new(), Vec::new());
    for mut one in merged {
        let there: BTreeSet<String> = base.files_of(&one.graph, Some(&one.predicate))?.into_iter().collect();
        if !one.data.iter().all(|id| there.contains(id)) {
            stale.push(one);
            continue;
        }
        one.change.removed.retain(|id| there.contains(id));
        // What was counted was counted before what others did.
        one.change.living.values_mut().for_each(|tally| *tally = Tally::SAME);
        still.push(one);
    }
    Ok((still, stale))
}
