//! Loads what a query can read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use isomorph::convert::{Opened, Progress, quads};
use isomorph::error::Result;
use isomorph::formats::graphlake::{GraphLake, QUOTED_GRAPH};
use isomorph::formats::rdf::{RdfText, ReadOptions, Reading, Text};
use isomorph::model::faces::Quad;
use isomorph::storage::Resources;

use crate::builder::{Builder, Filling};
use crate::index::TripleIndex;
use crate::look_ups;
use crate::patterns::Wanted;

/// Quads between two checks for cancellation.
const AT_ONCE: u64 = 1 << 14;

/// Loads the quads of `opened` that are wanted: those that a conversion to N-Quads would write. `base` is the beginning
/// of generated IRIs.
///
/// # Errors
/// If the graph has something that triples cannot represent, or cannot be read; [`isomorph::Kind::TooLarge`] if the
/// quads do not fit into the budget.
pub fn load(
    opened: &Opened,
    base: Option<&str>,
    wanted: Wanted,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<TripleIndex> {
    let wanted = Arc::new(wanted);
    if let Some(native) = opened.native.as_any().filter(|_| opened.sidecar.is_none()) {
        if let Some(lake) = native.downcast_ref::<GraphLake>() {
            return load_lake(lake, &wanted, resources, progress);
        }
        if let Some(text) = native.downcast_ref::<RdfText>() {
            return in_parallel(&wanted, resources, progress, |takers, take| text.quads_shared(takers, take));
        }
    }
    let mut builder = Builder::new(&wanted, &resources.budget)?;
    quads(opened, base, Box::new(Filling(&mut builder)), resources, progress)?;
    Ok(builder.finish()?.with_threads(resources.threads))
}

/// The same for a text, which is read once. Also returns what reading found.
///
/// # Errors
/// As [`load`].
pub fn load_text(
    text: &Text,
    options: &ReadOptions,
    wanted: Wanted,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<(TripleIndex, Reading)> {
    let mut reading = Reading::default();
    let wanted = Arc::new(wanted);
    let index = in_parallel(&wanted, resources, progress, |takers, take| {
        reading = text.read_shared(options, takers, take)?;
        Ok(())
    })?;
    Ok((index, reading))
}

/// A builder on each thread.
type Take<'t> = dyn Fn(&mut (Builder, u64), Quad<'_>) -> Result<()> + Sync + 't;

fn in_parallel(
    wanted: &Arc<Wanted>,
    resources: &Resources,
    progress: &dyn Progress,
    read: impl FnOnce(&mut [(Builder, u64)], &Take<'_>) -> Result<()>,
) -> Result<TripleIndex> {
    let first = Builder::new(wanted, &resources.budget)?;
    let builder = || first.alike().map(|builder| (builder, 0));
    let mut takers = (0..resources.threads.max(1)).map(|_| builder()).collect::<Result<Vec<_>>>()?;
    progress.begin("load", None);
    let read = read(&mut takers, &|(builder, unsaid), quad| {
        *unsaid += 1;
        if *unsaid == AT_ONCE {
            progress.advance(std::mem::take(unsaid))?;
        }
        builder.quad(&quad)
    });
    progress.end();
    read?;
    let mut all = first;
    takers.sort_by_key(|(builder, _)| std::cmp::Reverse(builder.rows.len()));
    for (builder, _) in takers {
        all.absorb(builder)?;
    }
    Ok(all.finish()?.with_threads(resources.threads))
}

/// Loads a snapshot of a store: by look-ups if every pattern has constants, otherwise all of it.
///
/// # Errors
/// As [`load`].
pub fn load_lake(
    lake: &GraphLake,
    wanted: &Arc<Wanted>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<TripleIndex> {
    let mut builder = Builder::new(wanted, &resources.budget)?;
    for name in lake.named_graphs().filter(|name| *name != QUOTED_GRAPH) {
        builder.graph(name)?;
    }
    if let Some(patterns) = wanted.patterns() {
        progress.begin("load", None);
        let found = look_ups::all(lake, patterns, resources.threads, &mut builder, progress);
        progress.end();
        found?;
        return Ok(builder.finish()?.with_threads(resources.threads));
    }
    let sections = lake.divided_sections()?;
    let next = AtomicU64::new(0);
    progress.begin("load", None);
    let loaded: Result<Vec<Builder>> = std::thread::scope(|scope| {
        let work = || -> Result<Builder> {
            let mut builder = builder.alike()?;
            let mut unsaid = 0;
            while let Some(section) = usize::try_from(next.fetch_add(1, Relaxed)).ok().and_then(|at| sections.get(at)) {
                lake.statements_of(section, &mut |quad| {
                    unsaid += 1;
                    if unsaid == AT_ONCE {
                        progress.advance(std::mem::take(&mut unsaid))?;
                    }
                    builder.quad(&quad)
                })?;
            }
            Ok(builder)
        };
        let threads: Vec<_> = (1..resources.threads.max(1)).map(|_| scope.spawn(work)).collect();
        let mut builders = vec![work()?];
        for thread in threads {
            builders.push(thread.join().unwrap_or_else(|_| {
                Err(isomorph::Error::malformed("internal error: a thread that read the store failed"))
            })?);
        }
        Ok(builders)
    });
    progress.end();
    for other in loaded? {
        builder.absorb(other)?;
    }
    Ok(builder.finish()?.with_threads(resources.threads))
}
