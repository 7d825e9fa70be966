//! The RDF form of a graph of any format, in memory: what `convert` to N-Quads would write, as a stream of quads.

use isomorph_error::Result;
use isomorph_model::Sink;
use isomorph_model::faces::QuadSink;
use isomorph_rdf::Syntax;
use isomorph_storage::{Location, Resources};

use crate::conversion::shown;
use crate::driver::Format;
use crate::drivers::RdfOptions;
use crate::mapping::{Lifter, Native};
use crate::open::Opened;
use crate::options::ConvertOptions;
use crate::pipeline;
use crate::plan::Plan;
use crate::progress::Progress;

/// Where the text would go. Nothing is written: only the name is used, which selects named graphs and triple terms.
const NOWHERE: &str = "graph.nq";

/// Passes the quads of a graph of nodes and edges to `sink`: those that `convert` writes to N-Quads. `base` is the
/// beginning of generated IRIs; the default is [`isomorph_model::faces::BASE`]. Triples that are stored as such (an RDF
/// text, a GraphLake store) are read directly from their source instead.
///
/// # Errors
/// As for a conversion to N-Quads without `--lossy`: if the graph has something that triples cannot represent, or
/// cannot be read; also errors of `sink`.
pub fn quads(
    opened: &Opened,
    base: Option<&str>,
    sink: Box<dyn QuadSink + '_>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<()> {
    opened.check_bytes(resources, progress)?;
    let mut options = ConvertOptions {
        to: Some(Format::RDF),
        base: base.map(str::to_owned),
        no_verify: true,
        ..ConvertOptions::default()
    };
    options.write.get_mut::<RdfOptions>().syntax = Some(Syntax::NQuads);
    let plan = Plan::new(opened, &Location::parse(NOWHERE)?, &options, resources, progress)?;
    let mut sink = match plan.mapping.lifting() {
        Some(record) => Box::new(Lifter::new(sink, record, resources, progress)) as Box<dyn Sink>,
        None => Box::new(Native::new(sink, &plan.target, progress)),
    };
    let ids = pipeline::IdParts { relation: plan.mapping.relation_of_ids(), rows: plan.repeats_keys };
    let (source, mapping) = plan.remaining(plan.source(&opened.graph));
    let target = shown(&mapping, source, resources, progress)?;
    pipeline::run_with_ids(target.as_ref(), sink.as_mut(), ids, resources, progress)?;
    sink.finish()?;
    Ok(())
}
