//! Plans the merging of nodes with the same key, for targets that identify nodes by key.

use std::collections::BTreeMap;

use arrow_cast::display::array_value_to_string;
use isomorph_error::{Error, Place, Result};
use isomorph_model::{KeyKind, Source};
use isomorph_tables::lookup::{KeyRowsBuilder, LookupOptions, Repeat, Repeats};

use crate::conversion::blame;
use crate::node_keys;
use crate::pipeline::REPEATED_KEY;
use crate::plan::counted;
use crate::plan::planner::Planner;
use crate::progress::{Progress, Silent};
use crate::traits::Shape;
use isomorph_storage::Resources;

/// The memory that the keys of a type get at least, bytes: with less, fewer types are read in one pass.
const MEMORY: u64 = 1 << 20;

impl Planner<'_> {
    /// Finds nodes that the target would merge, if verification would not find them. With `--lossy` they are listed as
    /// lost, as are those that opening the source has merged.
    ///
    /// # Errors
    /// Without `--lossy`, returns [`REPEATED_KEY`] or the corresponding error of the source's format; also if the keys
    /// cannot be read.
    pub fn merge_nodes(&mut self) -> Result<()> {
        if self.options.loses() {
            self.plan.merged.extend(self.opened.format.dropped_on_open(self.opened.native.as_ref()));
        }
        self.merge_by_key()?;
        self.plan.carried.extend(self.plan.merged.iter().cloned());
        Ok(())
    }

    fn merge_by_key(&mut self) -> Result<()> {
        let (options, to) = (self.options, self.plan.to);
        // Opening NOCK merges its nodes by name, and a resource is identified by its name.
        let may_repeat = self.plan.from.shape() == Shape::Typed;
        // Who writes nodes as they come reads them back as they came.
        let is_asked = options.loses() || options.no_verify || self.becomes_plain() || to.has_types();
        if !to.traits().knows_nodes_by_key || !may_repeat || !is_asked {
            return Ok(());
        }
        let source = self.source();
        for found in SameKey::of(source.as_ref(), self.resources, self.progress)? {
            if !options.loses() {
                let error = blame(self.opened, found.error());
                return Err(error.hint("--lossy    merge the nodes with the same key"));
            }
            self.plan.repeats_keys = true;
            // Triples are a set: what distinguishes parallel edges depends on rows, not keys.
            let and = match to.shape() {
                Shape::Triples if !source.graph().edges.is_empty() => "; of edges that are equal then, one is kept",
                _ => "",
            };
            self.plan.merged.push(format!("{}{and}", found.lost()));
        }
        Ok(())
    }
}

/// Adds the place of a node to an error about nodes with the same key that has none.
pub(crate) fn with_place(error: Error, source: &dyn Source, resources: &Resources, progress: &dyn Progress) -> Error {
    if error.broken_rule() != Some(&REPEATED_KEY) || !error.place().is_empty() {
        return error;
    }
    // What was wrong is known: that it cannot be read again is not the reason.
    let found = SameKey::of(source, resources, progress).unwrap_or_default();
    found.first().map_or(error, SameKey::error)
}

/// Nodes of one type with the same key.
struct SameKey {
    ty: String,
    /// Number of nodes whose key an earlier node has.
    count: u64,
    /// Rows of the first two, and their key.
    rows: (u64, u64),
    key: String,
}

impl SameKey {
    /// The repeated keys of each node type that has some. Types in one table are read together.
    ///
    /// # Errors
    /// Returns an error if the keys cannot be read.
    fn of(source: &dyn Source, resources: &Resources, progress: &dyn Progress) -> Result<Vec<SameKey>> {
        let types = &source.graph().nodes;
        let with_keys = types.iter().enumerate().filter(|(_, ty)| ty.key.kind != KeyKind::Row && !ty.implied);
        let most = usize::try_from(resources.budget.limit() / 2 / MEMORY).unwrap_or(usize::MAX);
        let mut all = Vec::new();
        for together in node_keys::passes(source, with_keys.map(|(at, _)| at), most) {
            let repeats = repeats(source, &together, resources, progress)?;
            let first = |(ty, repeats): (usize, Repeats)| {
                let repeat = *repeats.shown().first()?;
                Some((ty, repeats.count(), repeat))
            };
            let found: Vec<(usize, u64, Repeat)> = together.into_iter().zip(repeats).filter_map(first).collect();
            let keys = keys_at(source, &found.iter().map(|(ty, _, repeat)| (*ty, repeat.row)).collect(), resources)?;
            for ((ty, count, repeat), key) in found.into_iter().zip(keys) {
                let ty = types.get(ty).map(|ty| ty.name.clone()).unwrap_or_default();
                all.push(SameKey { ty, count, rows: (repeat.first, repeat.row), key });
            }
        }
        Ok(all)
    }

    fn error(&self) -> Error {
        let SameKey { ty, rows: (first, row), key, .. } = self;
        Error::broken(&REPEATED_KEY, format!("rows {first} and {row} of {ty} have the key {key}"))
            .at(Place::file(ty.clone()).row(*row))
    }

    fn lost(&self) -> String {
        let SameKey { ty, count, rows: (first, row), key } = self;
        let what = counted(usize::try_from(*count).unwrap_or(usize::MAX), "node");
        let (have, turns) = if *count == 1 { ("has", "becomes") } else { ("have", "become") };
        format!("{what} of {ty} that {have} the key of another and {turns} one with it: {key}, rows {first} and {row}")
    }
}

/// The nodes of each of these types whose key another node of the type has.
fn repeats(
    source: &dyn Source,
    types: &[usize],
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Vec<Repeats>> {
    let memory = resources.budget.limit() / 2 / types.len().max(1) as u64;
    let options = LookupOptions::new(&resources.budget, &resources.scratch).memory(memory).threads(resources.threads);
    let mut builders: Vec<KeyRowsBuilder> = types.iter().map(|_| KeyRowsBuilder::new(options.clone())).collect();
    node_keys::read(source, types, "keys", resources.threads, progress, |nodes| {
        let builder = types.iter().position(|ty| *ty == nodes.ty).and_then(|at| builders.get_mut(at));
        builder.zip(nodes.keys.as_ref()).map_or(Ok(()), |(builder, keys)| builder.push(keys.as_ref()))
    })?;
    builders.into_iter().map(|builder| Ok(builder.finish()?.repeats().clone())).collect()
}

/// The keys of the nodes in these rows of types, as examples: texts in quotation marks, of which long ones are cut.
fn keys_at(source: &dyn Source, rows: &BTreeMap<usize, u64>, resources: &Resources) -> Result<Vec<String>> {
    const MOST: usize = 60;
    let mut before: BTreeMap<usize, u64> = BTreeMap::new();
    let mut found: BTreeMap<usize, String> = BTreeMap::new();
    let types: Vec<usize> = rows.keys().copied().collect();
    node_keys::read(source, &types, "keys", resources.threads, &Silent, |nodes| {
        let before = before.entry(nodes.ty).or_default();
        let row = rows.get(&nodes.ty).and_then(|row| row.checked_sub(*before));
        let at = row.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < nodes.rows);
        *before += nodes.rows as u64;
        if let (Some(at), Some(keys)) = (at, &nodes.keys)
            && let Ok(key) = array_value_to_string(keys, at)
        {
            found.insert(nodes.ty, key);
        }
        Ok(())
    })?;
    let shown = |ty: &usize| {
        let key = found.remove(ty).unwrap_or_default();
        let is_text = source.graph().nodes.get(*ty).is_some_and(|ty| ty.key.kind != KeyKind::Int);
        let cut: String = key.chars().take(MOST).collect();
        let more = if cut.len() < key.len() { "…" } else { "" };
        if is_text { format!("{cut:?}{more}") } else { cut }
    };
    Ok(types.iter().map(shown).collect())
}
