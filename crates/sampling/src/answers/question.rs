//! What is asked of a graph that is sampled.

use isomorph_error::{Error, Result};

use super::feature::Feature;
use super::time::Moment;
use crate::{Bias, Choice, Generator};

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// Nodes of the whole graph.
    Nodes(ElementsOf),
    /// Edges of the whole graph.
    Edges(ElementsOf),
    /// Neighbours of nodes.
    Neighbors(NeighborsOf),
    /// Random walks from nodes.
    Walks(WalksOf),
    /// Features of nodes or edges.
    Features(FeaturesOf),
}

/// How it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// The seed: one seed gives one answer.
    pub seed: i64,
    /// What draws.
    pub generator: Generator,
    /// How many threads draw.
    pub threads: usize,
    /// The type of the nodes: of those that are drawn; else of those that are named, where several types have such keys.
    pub node_type: Option<String>,
}

/// Elements of the whole graph.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementsOf {
    /// How many.
    pub count: usize,
    /// How they are chosen.
    pub choice: Choice,
    /// Only these types, by name or number.
    pub types: Option<Vec<String>>,
}

/// How neighbours are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// By the weights of edges, with replacement.
    Weighted,
    /// Each edge as likely as the others, with replacement.
    Uniform,
    /// Each edge as likely as the others, none twice.
    WithoutReplacement,
    /// The heaviest edges.
    Top,
    /// The edges that were created last.
    Last,
    /// Nodes by personalised PageRank.
    Pagerank,
    /// All of them.
    All,
}

/// Neighbours of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighborsOf {
    /// The nodes, by their keys.
    pub nodes: Vec<String>,
    /// How many for each node: 10 by default; with [`Strategy::All`] every one.
    pub count: Option<usize>,
    /// How they are chosen.
    pub strategy: Strategy,
    /// Only edges of these types, by name or number.
    pub types: Option<Vec<String>>,
    /// Only edges that exist at this time.
    pub time: Option<Moment>,
}

/// Random walks.
#[derive(Debug, Clone, PartialEq)]
pub struct WalksOf {
    /// Where walks begin, by keys.
    pub nodes: Vec<String>,
    /// Number of steps.
    pub length: u16,
    /// What makes going back, and going away, less likely.
    pub bias: Bias,
    /// Only edges of these types, by name or number.
    pub types: Option<Vec<String>>,
    /// Only edges that exist at this time.
    pub time: Option<Moment>,
}

/// Features of nodes, or of edges.
#[derive(Debug, Clone, PartialEq)]
pub struct FeaturesOf {
    /// The nodes, by their keys, where no edges are given.
    pub nodes: Vec<String>,
    /// Edges by the keys of their ends and their type.
    pub edges: Vec<[String; 3]>,
    /// The features.
    pub features: Vec<Feature>,
}

impl Question {
    /// The features that it names.
    pub fn features(&self) -> &[Feature] {
        if let Question::Features(asked) = self { &asked.features } else { &[] }
    }

    /// Whether the generator that is asked for gives one answer for each seed.
    ///
    /// # Errors
    /// When it is the engine of DeepGNN and this is not: it draws nodes and edges evenly from a table that is in another order in each process,
    /// has no heaviest neighbours, and at a time counts edges that were removed.
    pub fn repeatable(&self, generator: Generator) -> Result<()> {
        if generator == Generator::Stable {
            return Ok(());
        }
        let why = match self {
            Question::Nodes(asked) | Question::Edges(asked) if asked.choice != Choice::Weighted => {
                "draws nodes and edges evenly in another order in each process"
            }
            Question::Neighbors(asked) => match asked.strategy {
                Strategy::Top => "does not know the heaviest neighbours",
                Strategy::Last => "has the latest neighbours in no order",
                Strategy::Weighted | Strategy::Uniform | Strategy::WithoutReplacement if asked.time.is_some() => {
                    "draws among edges that were removed already, where a time is asked for"
                }
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        Err(Error::usage(format!("--generator deepgnn has no answer to repeat: DeepGNN's engine {why}"))
            .hint("--generator stable    one answer for each seed"))
    }

    /// Whether a graph that is no binary can be asked: DeepGNN's engine has none but binaries, and what a seed draws there depends on their
    /// tables, and on the order of nodes, and of edges with equal ends or times, which a graph that is read has lost.
    ///
    /// # Errors
    /// When it is asked for what this engine draws.
    pub fn without_binary(&self, generator: Generator) -> Result<()> {
        let draws = match self {
            Question::Nodes(_) | Question::Edges(_) | Question::Walks(_) => true,
            Question::Neighbors(asked) => !matches!(asked.strategy, Strategy::All | Strategy::Pagerank),
            Question::Features(_) => false,
        };
        if generator == Generator::Stable || !draws {
            return Ok(());
        }
        let message =
            "--generator deepgnn has no answer to repeat: DeepGNN's engine draws from binaries, and this is none";
        Err(Error::usage(message)
            .hint("isomorph convert PATH NEW --to deepgnn    makes one")
            .hint("--generator stable    one answer for each seed"))
    }
}
