//! Features of nodes or edges, a column for each.

use isomorph::sampling::Sampler;
use isomorph::{Error, Result};

use super::answer::Drawn;
use super::place::Place;
use super::values::Elements;
use crate::args::sample::{Feature, FeaturesArgs};

/// What stands before the name of a feature whose own name another column has.
const CLASHING: &str = "feature:";

/// The features of nodes or of edges.
pub(super) fn features(sampler: &Sampler, place: &Place, args: &FeaturesArgs) -> Result<Drawn> {
    let (elements, mut drawn) = match args.edges.is_empty() {
        true => {
            let nodes = place.ids(&args.nodes, &args.common)?;
            let mut drawn = Drawn::new("features", format!("of {} nodes", nodes.len()));
            drawn.keys("node", place, &nodes)?;
            (Elements::Nodes(nodes), drawn)
        }
        false => {
            let ends = |at: usize| -> Vec<String> { args.edges.iter().skip(at).step_by(3).cloned().collect() };
            let (sources, targets) = (place.ids(&ends(0), &args.common)?, place.targets(&ends(1), &args.common)?);
            let types = ends(2).iter().map(|name| place.edge_type(name)).collect::<Result<Vec<i32>>>()?;
            let mut drawn = Drawn::new("features", format!("of {} edges", sources.len()));
            drawn.keys("source", place, &sources)?;
            drawn.keys("target", place, &targets)?;
            drawn.column("type", place.edge_type_names(&types));
            let mut hidden = 0;
            for ((source, target), ty) in sources.iter().zip(&targets).zip(&types) {
                hidden += place.graph.edges_between(*source, *target, *ty)?.saturating_sub(1);
            }
            drawn.hidden(hidden);
            (Elements::Edges(sources, targets, types), drawn)
        }
    };
    for (at, feature) in args.features.iter().enumerate() {
        // What is asked for again is there already.
        if args.features.iter().take(at).any(|before| before.text == feature.text) {
            continue;
        }
        let found = place.found(feature, &elements)?;
        let several = args.features.iter().filter(|other| other.id == feature.id).count() > 1;
        let name = column_name(&drawn, &found.name, feature, several)?;
        let column = elements.column(sampler, &found)?;
        drawn.column(&name, column);
    }
    Ok(drawn)
}

/// What the column of a feature is called: as the graph calls it, if no other column is called so.
fn column_name(drawn: &Drawn, name: &str, feature: &Feature, several: bool) -> Result<String> {
    let plain = if several { &feature.text } else { name };
    if !drawn.has(plain) {
        return Ok(plain.to_owned());
    }
    let other = format!("{CLASHING}{plain}");
    match drawn.has(&other) {
        true => Err(Error::usage(format!("{plain:?} is asked for twice")).hint("ask for it once")),
        false => Ok(other),
    }
}
