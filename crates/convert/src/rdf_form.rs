//! The RDF form of a graph of any format, in memory: what `convert` to N-Quads would write, as a stream of quads.

use isomorph_error::Result;
use isomorph_model::faces::{Quad, QuadSink, QuadTaker, Triples};
use isomorph_model::{Sink, Written};
use isomorph_rdf::Syntax;
use isomorph_storage::{Location, Resources};

use crate::conversion::shown;
use crate::driver::Format;
use crate::drivers::RdfOptions;
use crate::mapping::Lifter;
use crate::open::Opened;
use crate::options::ConvertOptions;
use crate::pipeline;
use crate::plan::Plan;
use crate::progress::Progress;

/// Where the text would go. Nothing is written: only the name is used, which selects named graphs and triple terms.
const NOWHERE: &str = "graph.nq";

/// A graph of nodes and edges as triples: those that `convert` writes to N-Quads without `--lossy`. Each reading is a
/// pass over the graph, and further ones if a conversion needs them. A graph that stores triples
/// ([`isomorph_model::Source::triples`]) is read directly instead.
pub struct RdfForm<'a> {
    opened: &'a Opened,
    base: Option<&'a str>,
    resources: &'a Resources,
    progress: &'a dyn Progress,
}

impl<'a> RdfForm<'a> {
    /// The RDF form of a graph. `base` is the beginning of generated IRIs; the default is
    /// [`isomorph_model::faces::BASE`]. Reading reports its stages to `progress`.
    pub fn of(opened: &'a Opened, base: Option<&'a str>, resources: &'a Resources, progress: &'a dyn Progress) -> Self {
        RdfForm { opened, base, resources, progress }
    }
}

impl Triples for RdfForm<'_> {
    fn shared(&self, takers: &mut [&mut dyn QuadTaker]) -> Result<()> {
        let RdfForm { opened, base, resources, progress } = *self;
        let Some(first) = takers.first_mut() else { return Ok(()) };
        opened.check_bytes(resources, progress)?;
        let mut options = ConvertOptions {
            to: Some(Format::RDF),
            base: base.map(str::to_owned),
            no_verify: true,
            ..ConvertOptions::default()
        };
        options.write.get_mut::<RdfOptions>().syntax = Some(Syntax::NQuads);
        let plan = Plan::of_read(opened, &Location::parse(NOWHERE)?, &options, resources, progress)?;
        let quads = Box::new(Passing(&mut **first));
        let mut sink = match plan.mapping.lifting() {
            Some(record) => Box::new(Lifter::new(quads, record, resources, progress)) as Box<dyn Sink>,
            None => Box::new(Lifter::of_rdf(quads, &plan.target, progress)),
        };
        let ids = pipeline::IdParts { relation: plan.mapping.relation_of_ids(), rows: plan.repeats_keys };
        let (source, mapping) = plan.remaining(plan.source(&opened.graph));
        let target = shown(&mapping, source, resources, progress)?;
        pipeline::run_with_ids(target.as_ref(), sink.as_mut(), ids, resources, progress)?;
        sink.finish()?;
        Ok(())
    }

    /// What several nodes or edges state is passed on several times.
    fn are_distinct(&self) -> bool {
        false
    }
}

/// Passes quads on.
struct Passing<'t>(&'t mut dyn QuadTaker);

impl QuadSink for Passing<'_> {
    fn graph(&mut self, name: &str) -> Result<()> {
        self.0.graph(name)
    }

    fn quad(&mut self, quad: &Quad<'_>) -> Result<()> {
        self.0.quad(quad)
    }

    fn finish(self: Box<Self>, _advance: &dyn Fn(u64) -> Result<()>) -> Result<Written> {
        Ok(Written::default())
    }
}
