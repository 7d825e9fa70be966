//! Features of nodes or edges, one column each.

use isomorph_error::{Error, Result};

use super::columns::Drawn;
use super::feature::Feature;
use super::keyed::KeyedGraph;
use super::question::{Drawing, FeaturesOf};
use super::values::Elements;
use crate::Sampler;

/// Prefix of a feature whose name is already the name of another column.
const CLASHING: &str = "feature:";

/// Returns the features of nodes or of edges.
pub(super) fn features(sampler: &Sampler, graph: &KeyedGraph, asked: &FeaturesOf, how: &Drawing) -> Result<Drawn> {
    let (elements, mut drawn) = match asked.edges.is_empty() {
        true => {
            let nodes = graph.ids(&asked.nodes, how)?;
            let mut drawn = Drawn::new("features", format!("of {} nodes", nodes.len()));
            drawn.keys("node", graph, &nodes)?;
            (Elements::Nodes(nodes), drawn)
        }
        false => {
            let ends = |at: usize| -> Vec<String> { asked.edges.iter().map(|edge| edge[at].clone()).collect() };
            let (sources, targets) = (graph.ids(&ends(0), how)?, graph.targets(&ends(1), how)?);
            let types = ends(2).iter().map(|name| graph.edge_type(name)).collect::<Result<Vec<i32>>>()?;
            let mut drawn = Drawn::new("features", format!("of {} edges", sources.len()));
            drawn.keys("source", graph, &sources)?;
            drawn.keys("target", graph, &targets)?;
            drawn.column("type", graph.edge_type_names(&types));
            let mut hidden = 0;
            for ((source, target), ty) in sources.iter().zip(&targets).zip(&types) {
                hidden += graph.graph().edges_between(*source, *target, *ty)?.saturating_sub(1);
            }
            drawn.hidden = hidden;
            (Elements::Edges(sources, targets, types), drawn)
        }
    };
    for (at, feature) in asked.features.iter().enumerate() {
        // A repeated request gets no second column.
        if asked.features.iter().take(at).any(|before| before.text == feature.text) {
            continue;
        }
        let found = graph.found(feature, &elements)?;
        let several = asked.features.iter().filter(|other| other.id == feature.id).count() > 1;
        let name = column_name(&drawn, &found.name, feature, several)?;
        let column = elements.column(sampler, &found)?;
        drawn.column(&name, column);
    }
    Ok(drawn)
}

/// Returns the name of a feature's column: the name in the graph, unless another column has it.
fn column_name(drawn: &Drawn, name: &str, feature: &Feature, several: bool) -> Result<String> {
    let plain = if several { &feature.text } else { name };
    if !drawn.has(plain) {
        return Ok(plain.to_owned());
    }
    let other = format!("{CLASHING}{plain}");
    match drawn.has(&other) {
        true => Err(Error::usage(format!("{plain:?} is requested twice")).hint("request it once")),
        false => Ok(other),
    }
}
