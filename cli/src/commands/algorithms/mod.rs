//! `stats`, `paths`, `rank`, `components`: work on a whole graph that needs no query.

mod html;
mod stats;

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::RecordBatch;
use isomorph::algorithms::{Job, Order, PageRank, PathsBetween, ReadOf};
use isomorph::convert::matching::Prefixes;
use isomorph::convert::{Opened, Progress, Registry, Shape};
use isomorph::formats::graphlake;
use isomorph::model::Source;
use isomorph::storage::Resources;
use isomorph::{Error, Result};

use super::{Answer, open_at, select};
use crate::answer::{AnswerFormat, deliver};
use crate::args::{ComponentsArgs, OpenArgs, PathsArgs, RankArgs, ResourceArgs, SelectArgs, WalkArgs};
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::render::{of, thousands};

pub use stats::run as stats;

/// Rows that are printed in a table, if nobody says how many.
const SHOWN: u64 = 20;

/// A graph that is walked.
struct Walked {
    source: Arc<dyn Source>,
    resources: Resources,
    relations: Option<BTreeSet<String>>,
    bars: Bars,
    interrupt: Interrupt,
    /// In RDF, what prefixes mean in keys.
    prefixes: Option<Prefixes>,
}

impl Walked {
    fn open(
        path: &str,
        (walk, open, chosen, resources): (&WalkArgs, &OpenArgs, &SelectArgs, &ResourceArgs),
        weight: Option<&str>,
        formats: &Registry,
        console: &Console,
    ) -> Result<Walked> {
        let interrupt = Interrupt::listen()?;
        let bars = Bars::new(interrupt.clone());
        let resources = resources.resources()?;
        let (location, options) = open.place(path, formats, &resources)?;
        let prefixes = Prefixes::new(&options.get::<graphlake::OpenOptions>().namespaces);
        let opened = open_at(&location, &options, console)?;
        console.warn(&opened.cautions()?);
        super::check_whole(&opened, open.lenient, &resources, &bars, console)?;
        let (opened, _) = select(opened, &chosen.selection(None)?, false, &resources, &bars)?;
        let is_rdf = opened.format_of_graph().shape() == Shape::Triples;
        let source = source(&opened, walk, weight, &resources, &bars)?;
        let relations = walk.relations();
        Ok(Walked { source, resources, relations, bars, interrupt, prefixes: is_rdf.then_some(prefixes) })
    }

    fn job(&self) -> Job<'_> {
        Job { resources: &self.resources, relations: self.relations.as_ref(), progress: &self.bars }
    }

    /// The key that a user writes.
    fn key(&self, key: &str) -> String {
        self.prefixes.as_ref().map_or_else(|| key.to_owned(), |prefixes| prefixes.resource(key))
    }
}

/// The graph as nodes and edges.
fn source(
    opened: &Opened,
    walk: &WalkArgs,
    weight: Option<&str>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Arc<dyn Source>> {
    if let Some(how) = walk.hyperedges {
        return opened.without_hyperedges(how, resources, progress);
    }
    let graph = opened.graph.graph();
    let has = |weight: &str| graph.edges.iter().any(|ty| ty.properties.iter().any(|property| property.name == weight));
    match weight {
        // Members of a bag of properties become columns.
        Some(weight) if !has(weight) => opened.in_columns(resources, progress),
        _ => opened.with_resources_as_nodes(resources),
    }
}

/// What a walk leaves out.
struct LeftOut<'a> {
    /// Edges with an end that is not a node, and the relation and the end of one of them.
    dangling: u64,
    example: Option<(&'a str, &'a str)>,
    repeated_keys: u64,
    /// `None` if they were not counted.
    hyperedges: Option<u64>,
}

impl<'a> LeftOut<'a> {
    fn of(read: &'a ReadOf) -> Self {
        let mut all = read.relations.all().iter();
        LeftOut {
            dangling: read.relations.dangling(),
            example: all.find_map(|one| Some((one.name.as_str(), one.dangling_example.as_deref()?))),
            repeated_keys: read.repeated_keys,
            hyperedges: read.hyperedges,
        }
    }

    /// The warnings of a walk as `walk` asks for it.
    fn warnings(&self, walk: &WalkArgs) -> Vec<(&'static str, String)> {
        let mut warnings = Vec::new();
        if self.dangling > 0 {
            let example = self.example.map(|(relation, end)| format!(", for example {end} of {relation}"));
            let edges = of(self.dangling, "edge");
            warnings.push(format!("{edges} not walked: an end is not a node{}", example.unwrap_or_default()));
        }
        if self.repeated_keys > 0 {
            let repeated = of(self.repeated_keys, "key");
            warnings.push(format!("{repeated} of several nodes of a type; edges lead to the first"));
        }
        let hyperedges = match self.hyperedges {
            _ if walk.hyperedges.is_some() => None,
            Some(0) => None,
            Some(hyperedges) => Some(format!("{} not walked", of(hyperedges, "hyperedge"))),
            None => Some("hyperedges are not walked".to_owned()),
        };
        let what = "--hyperedges expand walks between members";
        warnings.extend(hyperedges.map(|hyperedges| format!("{hyperedges}; {what}")));
        warnings.into_iter().map(|warning| ("warning", warning)).collect()
    }
}

/// Prints the nodes with their PageRank.
///
/// # Errors
/// Any error of reading or writing.
pub fn rank(args: &RankArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let format = args.answer.form(console.json)?;
    let how = PageRank { damping: args.damping, iterations: args.iterations, tolerance: args.tolerance };
    how.check()?;
    let walked =
        Walked::open(&args.path, (&args.walk, &args.open, &args.select, &args.resources), None, formats, console)?;
    walked.interrupt.outcome((|| {
        let ranks = isomorph::algorithms::page_rank(&walked.source, &how, &walked.job())?;
        let top = args.top.or((format == AnswerFormat::Table && args.answer.output.is_none()).then_some(SHOWN));
        let told = |rows: u64| {
            let (nodes, edges) = (ranks.nodes().count(), ranks.read.edges());
            let mut text = format!("{} of {}, {}", thousands(rows), of(nodes, "node"), of(edges, "edge"));
            let change = ranks.change.unwrap_or_default();
            let is_first = ranks.iterations == Some(0) && ranks.nodes().count() > 0;
            let iterations = of(u64::from(ranks.iterations.unwrap_or_default()), "iteration");
            text.push_str(&match is_first {
                true => format!(" · {iterations}"),
                false => format!(" · {iterations}, the last changed {change:.1e}"),
            });
            let mut told = vec![("rank", text)];
            if is_first {
                told.push(("warning", "every node has the same rank; --iterations N makes iterations".to_owned()));
            } else if args.tolerance > 0.0 && change >= args.tolerance {
                told.push((
                    "warning",
                    format!(
                        "ranks still change by more than --tolerance {:e}; --iterations N makes more iterations",
                        args.tolerance
                    ),
                ));
            }
            told.extend(LeftOut::of(&ranks.read).warnings(&args.walk));
            told
        };
        let rows = ranks.rows(Order::Greatest, top)?;
        let schema = Arc::clone(rows.schema());
        deliver(&args.answer, format, &schema, rows, told, console)
    })())?;
    Ok(Answer::Yes)
}

/// Prints the weakly connected components, or every node with its component.
///
/// # Errors
/// Any error of reading or writing.
pub fn components(args: &ComponentsArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let format = args.answer.form(console.json)?;
    let walked =
        Walked::open(&args.path, (&args.walk, &args.open, &args.select, &args.resources), None, formats, console)?;
    walked.interrupt.outcome((|| {
        let found = isomorph::algorithms::components(&walked.source, &walked.job())?;
        let told = |_: u64| {
            let nodes = found.each().nodes().count();
            let largest = found.sizes().next().unwrap_or_default();
            let share = if nodes == 0 { 0.0 } else { largest as f64 / nodes as f64 * 100.0 };
            let text = format!(
                "{} of {}, {} · the largest has {} ({share:.1} %)",
                of(found.count(), "component"),
                of(nodes, "node"),
                of(found.each().read.edges(), "edge"),
                thousands(largest)
            );
            let mut told = vec![("found", text)];
            told.extend(LeftOut::of(&found.each().read).warnings(&args.walk));
            told
        };
        if args.each {
            let rows = found.each().rows(Order::Nodes, args.limit)?;
            let schema = Arc::clone(rows.schema());
            return deliver(&args.answer, format, &schema, rows, told, console);
        }
        let limit = args.limit.or((format == AnswerFormat::Table && args.answer.output.is_none()).then_some(SHOWN));
        let rows = found.rows(limit)?;
        let schema =
            rows.first().map(RecordBatch::schema).ok_or_else(|| Error::malformed("an answer without columns"))?;
        deliver(&args.answer, format, &schema, rows.into_iter().map(Ok), told, console)
    })())?;
    Ok(Answer::Yes)
}

/// Prints shortest paths between two nodes.
///
/// # Errors
/// Any error of reading or writing.
pub fn paths(args: &PathsArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let format = args.answer.form(console.json)?;
    // For edge lists the flag says how edges are read; for any other graph how they are walked, which comes to the same.
    let open = OpenArgs { undirected: false, ..args.open.clone() };
    let weight = args.weight.as_deref();
    let walked =
        Walked::open(&args.path, (&args.walk, &open, &args.select, &args.resources), weight, formats, console)?;
    walked.interrupt.outcome((|| {
        let (from, to) = (walked.key(&args.from), walked.key(&args.to));
        let wanted = PathsBetween {
            from: (args.node_type.as_deref(), &from),
            to: (args.to_type.as_deref().or(args.node_type.as_deref()), &to),
            weight,
            both_ways: args.both || args.open.undirected,
            all: args.all,
            max_hops: args.max_hops,
            limit: args.limit.get(),
        };
        let found = isomorph::algorithms::shortest_paths(&walked.source, &wanted, &walked.job())?;
        let told = |_: u64| {
            let text = match (found.length, weight) {
                (None, _) => {
                    let hint = if wanted.both_ways { "" } else { "; --both walks edges from both ends" };
                    let most = args.max_hops.map(|most| format!(" of at most {}", of(most.into(), "edge")));
                    format!("no path{} from {} to {}{hint}", most.unwrap_or_default(), args.from, args.to)
                }
                (Some(length), Some(weight)) => {
                    format!("{} with the smallest sum of {weight}, {length}", count(found.count, found.len(), args.all))
                }
                (Some(length), None) => {
                    format!("{} of {}", count(found.count, found.len(), args.all), of(length as u64, "edge"))
                }
            };
            let is_cut = args.all && found.count > found.len() as u128;
            let text = if is_cut { format!("{text}; --limit N lists more") } else { text };
            let mut told = vec![("found", text)];
            told.extend(LeftOut::of(&found.read).warnings(&args.walk));
            told
        };
        let rows = found.rows()?;
        deliver(&args.answer, format, &rows.schema(), std::iter::once(Ok(rows.clone())), told, console)?;
        Ok(Answer::yes_if(!found.is_empty()))
    })())
}

/// `a shortest path`, `3 shortest paths`, `100 of 4,000 shortest paths`.
fn count(count: u128, shown: usize, all: bool) -> String {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    match all {
        false => "a shortest path".to_owned(),
        true if count == shown as u64 => of(count, "shortest path"),
        true => format!("{} of {}", thousands(shown as u64), of(count, "shortest path")),
    }
}
