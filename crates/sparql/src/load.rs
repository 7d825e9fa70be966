//! Loads what a query can read.

use std::sync::Arc;

use isomorph::convert::{Opened, Progress, RdfForm, Silent};
use isomorph::error::Result;
use isomorph::formats::rdf::{ReadOptions, Reading, Statements, Text};
use isomorph::model::faces::{Quad, QuadTaker, TripleLookUps, Triples};
use isomorph::storage::Resources;

use crate::builder::Builder;
use crate::index::TripleIndex;
use crate::look_ups;
use crate::patterns::{Wanted, WantedPattern};

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
    if let Some(stored) = opened.native.triples().filter(|_| opened.sidecar.is_none()) {
        return load_triples(stored, &wanted, resources, progress);
    }
    // The stages of reading a graph of nodes and edges report their own progress.
    filled(&RdfForm::of(opened, base, resources, progress), &wanted, 1, resources, &Silent)
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
    let statements = Statements::new(text.clone(), options.clone());
    let index = load_triples(&statements, &Arc::new(wanted), resources, progress)?;
    Ok((index, statements.reading()))
}

/// The same for triples: by look-ups if there are any and every pattern has constants, otherwise all of them, on all
/// threads.
///
/// # Errors
/// As [`load`].
pub fn load_triples(
    triples: &dyn Triples,
    wanted: &Arc<Wanted>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<TripleIndex> {
    progress.begin("load", None);
    let loaded = match (triples.look_ups(), wanted.patterns()) {
        (Some(look_ups), Some(patterns)) => looked_up(look_ups, patterns, wanted, resources, progress),
        _ => filled(triples, wanted, resources.threads.max(1), resources, progress),
    };
    progress.end();
    loaded
}

fn looked_up(
    triples: &dyn TripleLookUps,
    patterns: &[WantedPattern],
    wanted: &Arc<Wanted>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<TripleIndex> {
    let mut builder = Builder::new(wanted, &resources.budget)?;
    triples.graphs().into_iter().try_for_each(|name| builder.graph(name))?;
    look_ups::all(triples, patterns, resources.threads, &mut builder, progress)?;
    Ok(builder.finish()?.with_threads(resources.threads))
}

/// A builder on each thread.
struct Filling<'p> {
    builder: Builder,
    progress: &'p dyn Progress,
    unsaid: u64,
}

impl QuadTaker for Filling<'_> {
    fn graph(&mut self, name: &str) -> Result<()> {
        self.builder.graph(name)
    }

    fn quad(&mut self, quad: &Quad<'_>) -> Result<()> {
        self.unsaid += 1;
        if self.unsaid == AT_ONCE {
            self.progress.advance(std::mem::take(&mut self.unsaid))?;
        }
        self.builder.quad(quad)
    }
}

fn filled(
    triples: &dyn Triples,
    wanted: &Arc<Wanted>,
    threads: usize,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<TripleIndex> {
    let mut all = Builder::new(wanted, &resources.budget)?;
    let filling = || Ok(Filling { builder: all.alike()?, progress, unsaid: 0 });
    let mut fillings = (0..threads).map(|_| filling()).collect::<Result<Vec<_>>>()?;
    let mut takers: Vec<&mut dyn QuadTaker> = fillings.iter_mut().map(|filling| filling as _).collect();
    triples.shared(&mut takers)?;
    fillings.sort_by_key(|filling| std::cmp::Reverse(filling.builder.rows.len()));
    for filling in fillings {
        all.absorb(filling.builder)?;
    }
    Ok(all.finish()?.with_threads(resources.threads))
}
