//! What a plan does about nodes that have one key, where the target knows nodes by their keys.

use arrow_cast::display::array_value_to_string;
use isomorph_error::{Error, Place, Result};
use isomorph_model::{Batch, KeyKind, Request, Source, Tables};
use isomorph_tables::lookup::{KeyRowsBuilder, LookupOptions, Repeats};

use crate::conversion::blame;
use crate::driver::Shape;
use crate::open::Opened;
use crate::options::ConvertOptions;
use crate::parallel;
use crate::pipeline::REPEATED_KEY;
use crate::plan::{Plan, counted};
use crate::progress::Progress;
use isomorph_storage::Resources;

impl Plan {
    /// Looks for nodes that the target would take for one, where reading the result back does not find them. With `--lossy` they are told
    /// as lost, and so is what opening has left out.
    ///
    /// # Errors
    /// [`REPEATED_KEY`], or what the source's own format says of it, without `--lossy`; when the keys cannot be read.
    pub(crate) fn merge_nodes(
        &mut self,
        opened: &Opened,
        options: &ConvertOptions,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<()> {
        if options.loses() {
            self.merged.extend(opened.format.dropped_on_open(opened.native.as_ref()));
        }
        self.merge_by_key(opened, options, resources, progress)?;
        self.carried.extend(self.merged.iter().cloned());
        Ok(())
    }

    fn merge_by_key(
        &mut self,
        opened: &Opened,
        options: &ConvertOptions,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<()> {
        let by_key = self.to.knows_nodes_by_key();
        // Opening NOCK unites its nodes by name, and a resource is its name.
        let may_repeat = self.from.shape() == Shape::Typed;
        // Who writes nodes as they come reads them back as they came.
        let is_asked = options.loses() || options.no_verify || self.becomes_plain() || self.to.has_types();
        if !by_key || !may_repeat || !is_asked {
            return Ok(());
        }
        let source = self.source(&opened.graph);
        for number in 0..source.graph().nodes.len() {
            let Some(found) = SameKey::of(source.as_ref(), number, resources, progress)? else { continue };
            if !options.loses() {
                let error = blame(opened, found.error());
                return Err(error.hint("--lossy    make one node of those with the same key"));
            }
            self.repeats_keys = true;
            // Triples are a set: what tells parallel edges apart knows rows, not keys.
            let and = match self.to.shape() {
                Shape::Triples if !source.graph().edges.is_empty() => "; of edges that are equal then, one is left",
                _ => "",
            };
            self.merged.push(format!("{}{and}", found.lost()));
        }
        Ok(())
    }
}

/// An error for nodes with one key that has no place yet, with the place of one of them.
pub(crate) fn with_place(error: Error, source: &dyn Source, resources: &Resources, progress: &dyn Progress) -> Error {
    if error.broken_rule() != Some(&REPEATED_KEY) || !error.place().is_empty() {
        return error;
    }
    let of = |number| SameKey::of(source, number, resources, progress);
    // What was wrong is known: that it cannot be read again is not the reason.
    let found = (0..source.graph().nodes.len()).find_map(|number| of(number).ok().flatten());
    found.map_or(error, |found| found.error())
}

/// Nodes of one type that have one key.
struct SameKey {
    ty: String,
    /// Number of nodes whose key another one before them has.
    count: u64,
    /// Rows of the first two, and their key.
    rows: (u64, u64),
    key: String,
}

impl SameKey {
    /// Those of node type number `ty`, if there are some.
    fn of(source: &dyn Source, ty: usize, resources: &Resources, progress: &dyn Progress) -> Result<Option<SameKey>> {
        let Some(node) = source.graph().nodes.get(ty).filter(|ty| ty.key.kind != KeyKind::Row && !ty.implied) else {
            return Ok(None);
        };
        let repeats = repeats(source, ty, resources, progress)?;
        let Some(repeat) = repeats.shown().first() else { return Ok(None) };
        let key = key_of(source, ty, repeat.row, resources)?;
        Ok(Some(SameKey { ty: node.name.clone(), count: repeats.count(), rows: (repeat.first, repeat.row), key }))
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

/// Nodes of a type whose key another one has.
fn repeats(source: &dyn Source, ty: usize, resources: &Resources, progress: &dyn Progress) -> Result<Repeats> {
    let options = LookupOptions::new(&resources.budget, &resources.scratch).memory(resources.budget.limit() / 2);
    let mut builder = KeyRowsBuilder::new(options.threads(resources.threads));
    let parts = source.scan(&Request::of(Tables::NodeKeys(ty)))?;
    progress.begin("keys", parts.iter().map(|part| part.rows()).sum());
    let read = parallel::in_order(parts, resources.threads, Ok, |batch| {
        progress.advance(batch.rows() as u64)?;
        match &batch {
            Batch::Nodes(nodes) => nodes.keys.as_ref().map_or(Ok(()), |keys| builder.push(keys.as_ref())),
            _ => Ok(()),
        }
    });
    progress.end();
    read?;
    Ok(builder.finish()?.repeats().clone())
}

/// The key of a node, as an example: a text in quotation marks, of which a long one is cut.
fn key_of(source: &dyn Source, ty: usize, row: u64, resources: &Resources) -> Result<String> {
    const MOST: usize = 60;
    let parts = source.scan(&Request::of(Tables::NodeKeys(ty)))?;
    let (mut before, mut found) = (0, None);
    parallel::in_order(parts, resources.threads, Ok, |batch| {
        let Batch::Nodes(nodes) = batch else { return Ok(()) };
        let at = row.checked_sub(before).and_then(|at| usize::try_from(at).ok()).filter(|at| *at < nodes.rows);
        before += nodes.rows as u64;
        if let (Some(at), Some(keys)) = (at, &nodes.keys) {
            found = array_value_to_string(keys, at).ok();
        }
        Ok(())
    })?;
    let key = found.unwrap_or_default();
    let is_text = source.graph().nodes.get(ty).is_some_and(|ty| ty.key.kind != KeyKind::Int);
    let cut: String = key.chars().take(MOST).collect();
    let more = if cut.len() < key.len() { "…" } else { "" };
    Ok(if is_text { format!("{cut:?}{more}") } else { cut })
}
