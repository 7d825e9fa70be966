//! Questions: what to draw from a graph.

use isomorph_error::{Error, Result};

use super::feature::Feature;
use super::time::Moment;
use crate::{Bias, Choice, Generator};

/// What to draw.
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

/// How to draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// The seed: equal seeds give equal results.
    pub seed: i64,
    /// The random generator.
    pub generator: Generator,
    /// Number of threads.
    pub threads: usize,
    /// The type of the nodes: of those that are drawn; otherwise of the named ones, if several types have such keys.
    pub node_type: Option<String>,
}

/// Elements of the whole graph.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementsOf {
    /// Number of elements.
    pub count: usize,
    /// How they are drawn.
    pub choice: Choice,
    /// Only these types, by name or number.
    pub types: Option<Vec<String>>,
}

/// How neighbours are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// By the weights of edges, with replacement.
    Weighted,
    /// All edges with equal probability, with replacement.
    Uniform,
    /// All edges with equal probability, without replacement.
    WithoutReplacement,
    /// The heaviest edges.
    Top,
    /// The most recently created edges.
    Last,
    /// Nodes, by personalised PageRank.
    Pagerank,
    /// All edges.
    All,
}

/// Neighbours of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighborsOf {
    /// Keys of the nodes.
    pub nodes: Vec<String>,
    /// Number of neighbours of each node: by default 10, or all with [`Strategy::All`].
    pub count: Option<usize>,
    /// How they are drawn.
    pub strategy: Strategy,
    /// Only edges of these types, by name or number.
    pub types: Option<Vec<String>>,
    /// Only edges that exist at this time.
    pub time: Option<Moment>,
}

/// Random walks.
#[derive(Debug, Clone, PartialEq)]
pub struct WalksOf {
    /// Keys of the nodes at which walks begin.
    pub nodes: Vec<String>,
    /// Number of steps.
    pub length: u16,
    /// The factors against returning and against moving away.
    pub bias: Bias,
    /// Only edges of these types, by name or number.
    pub types: Option<Vec<String>>,
    /// Only edges that exist at this time.
    pub time: Option<Moment>,
}

/// Features of nodes, or of edges.
#[derive(Debug, Clone, PartialEq)]
pub struct FeaturesOf {
    /// Keys of the nodes, if no edges are given.
    pub nodes: Vec<String>,
    /// Edges: keys of source and target, and the type.
    pub edges: Vec<[String; 3]>,
    /// The features.
    pub features: Vec<Feature>,
}

impl Question {
    /// Returns the requested features.
    pub fn features(&self) -> &[Feature] {
        if let Question::Features(asked) = self { &asked.features } else { &[] }
    }

    /// Checks that the requested generator gives a repeatable result.
    ///
    /// # Errors
    /// Returns an error if it is DeepGNN's engine and the result is not repeatable: the engine draws nodes and edges
    /// uniformly from a table whose order differs in each process, does not implement the heaviest neighbours, and
    /// counts removed edges if a time is requested.
    pub fn repeatable(&self, generator: Generator) -> Result<()> {
        if generator == Generator::Stable {
            return Ok(());
        }
        let why = match self {
            Question::Nodes(asked) | Question::Edges(asked) if asked.choice != Choice::Weighted => {
                "uses another order for uniform nodes and edges in each process"
            }
            Question::Neighbors(asked) => match asked.strategy {
                Strategy::Top => "does not implement the heaviest neighbours",
                Strategy::Last => "returns the latest neighbours in no fixed order",
                Strategy::Weighted | Strategy::Uniform | Strategy::WithoutReplacement if asked.time.is_some() => {
                    "also draws removed edges if a time is requested"
                }
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        Err(Error::usage(format!("--generator deepgnn has no repeatable result here: DeepGNN's engine {why}"))
            .hint("--generator stable    equal seeds give equal results"))
    }

    /// Checks whether a graph that is not a binary can be used. DeepGNN's engine reads only binaries: what a seed draws
    /// depends on their tables, and on the order of nodes, and of edges with equal ends or times, which a graph that
    /// was read does not have.
    ///
    /// # Errors
    /// Returns an error if a result of this engine is requested.
    pub fn without_binary(&self, generator: Generator) -> Result<()> {
        let draws = match self {
            Question::Nodes(_) | Question::Edges(_) | Question::Walks(_) => true,
            Question::Neighbors(asked) => !matches!(asked.strategy, Strategy::All | Strategy::Pagerank),
            Question::Features(_) => false,
        };
        if generator == Generator::Stable || !draws {
            return Ok(());
        }
        let message = "--generator deepgnn requires a binary: DeepGNN's engine draws only from binaries";
        Err(Error::usage(message)
            .hint("isomorph convert PATH NEW --to deepgnn    write a binary")
            .hint("--generator stable    equal seeds give equal results"))
    }
}
