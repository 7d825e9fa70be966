//! `sample`: draws nodes, edges, neighbours, walks and features.

mod answer;

use std::num::NonZeroUsize;

use isomorph::convert::Registry;
use isomorph::formats::deepgnn::OpenOptions;
use isomorph::sampling::answers::{Drawing, ElementsOf, FeaturesOf, NeighborsOf, Question, Strategy, WalksOf};
use isomorph::sampling::{Bias, Choice, GraphOptions, Hold, IndexFile};
use isomorph::{Result, Sampled, SampledOptions};

use super::{Answer, open_at};
use crate::args::sample::{Elements, ElementsArgs, Groups, Near, SampleArgs, What};
use crate::console::Console;

/// Draws, and prints the result.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &SampleArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let common = args.what.common();
    let resources = common.resources.resources()?;
    let (seed, generator, threads, node_type) =
        (common.seed, common.generator, resources.threads, common.node_type.clone());
    let (question, how) = (question(&args.what), Drawing { seed, generator, threads, node_type });
    question.repeatable(generator)?;
    let (location, mut open) = common.open.place(&args.path, formats, &resources)?;
    open.get_mut::<OpenOptions>().no_recovery = true;
    let opened = open_at(&location, &open, console)?;
    console.warn(&opened.cautions()?);
    let options = SampledOptions { hyperedges: common.hyperedges, groups_as_nodes: common.groups == Groups::Reify };
    let hold = if common.copy { Hold::Copied } else { Hold::Mapped };
    let index = if common.no_index { IndexFile::Ignore } else { IndexFile::Keep };
    let kept = GraphOptions { hold, index, ..GraphOptions::new(&resources.budget, &resources.scratch) };
    let sampled = Sampled::of(opened, &question, &how, &options, &kept, &resources)?;
    let drawn = sampled.graph.draw(&question, &how)?;
    match &common.arrow {
        Some(file) => answer::write(&drawn, file, console)?,
        None => answer::show(&drawn, &args.path, &sampled.left_out, common, console)?,
    }
    Ok(Answer::Yes)
}

/// Returns the request of the arguments.
fn question(what: &What) -> Question {
    match what {
        What::Nodes(args) => Question::Nodes(elements(args)),
        What::Edges(args) => Question::Edges(elements(args)),
        What::Neighbors(args) => Question::Neighbors(NeighborsOf {
            nodes: args.nodes.clone(),
            count: args.count.map(NonZeroUsize::get),
            strategy: match args.strategy {
                Near::Weighted => Strategy::Weighted,
                Near::Uniform => Strategy::Uniform,
                Near::WithoutReplacement => Strategy::WithoutReplacement,
                Near::Top => Strategy::Top,
                Near::Last => Strategy::Last,
                Near::Pagerank => Strategy::Pagerank,
                Near::All => Strategy::All,
            },
            types: args.types.clone(),
            time: args.timestamp.clone(),
        }),
        What::Walk(args) => Question::Walks(WalksOf {
            nodes: args.nodes.clone(),
            length: args.length,
            bias: Bias { back: args.p, away: args.q },
            types: args.types.clone(),
            time: args.timestamp.clone(),
        }),
        What::Features(args) => {
            let edges = args.edges.chunks_exact(3);
            Question::Features(FeaturesOf {
                nodes: args.nodes.clone(),
                edges: edges.map(|edge| [edge[0].clone(), edge[1].clone(), edge[2].clone()]).collect(),
                features: args.features.clone(),
            })
        }
    }
}

fn elements(args: &ElementsArgs) -> ElementsOf {
    let choice = match args.strategy {
        Elements::Weighted => Choice::Weighted,
        Elements::Uniform => Choice::Uniform,
        Elements::WithoutReplacement => Choice::WithoutReplacement,
    };
    ElementsOf { count: args.count.get(), choice, types: args.types.clone() }
}
