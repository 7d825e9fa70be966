//! Reads the edges of a graph once, as pairs of node numbers.

mod bulk;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array as _, ArrayRef, StringArray};
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_schema::DataType;
use isomorph_error::{Error, Result, did_you_mean};
use isomorph_model::{Batch, Direction, EdgeBatch, EdgeType, Ends, Narrowing, Progress, Relation, Request, Tables};
use isomorph_storage::parallel::{Ahead, in_order};
use isomorph_tables::lookup::Lookup;

use crate::nodes::{NOBODY, Nodes, Resolved, unread};

/// Which edges are read, and what of them.
#[derive(Default)]
pub(crate) struct Wanted<'a> {
    /// Only edges of these relations.
    pub relations: Option<&'a BTreeSet<String>>,
    /// The column with weights, which every edge must have.
    pub weight: Option<&'a str>,
    /// Sees each batch with all columns, on any thread.
    pub observer: Option<&'a Observer<'a>>,
}

/// Sees batches of edges.
pub(crate) type Observer<'a> = dyn Fn(&EdgeBatch) -> Result<()> + Sync + 'a;

/// Some edges between nodes.
pub(crate) struct Edges {
    pub sources: Vec<u32>,
    pub targets: Vec<u32>,
    /// The relation of each, a number of [`Relations`].
    pub relations: Vec<u32>,
    /// Which have no direction; empty if all have one.
    pub undirected: Vec<bool>,
    /// Weights, if they are wanted.
    pub weights: Option<Vec<f64>>,
}

/// The relations that edges have: one for each edge type, or for each name in a type whose edges name theirs.
#[derive(Debug, Default)]
pub struct Relations {
    all: Vec<RelationOf>,
    known: Vec<HashMap<String, u32>>,
}

/// The edges of one relation of an edge type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationOf {
    /// Index of the edge type.
    pub edge_type: usize,
    /// The name of the relation.
    pub name: String,
    /// Number of edges, dangling ones included.
    pub edges: u64,
    /// Edges that were not walked because an end is no node.
    pub dangling: u64,
    /// One such end, as text: the first, unless keys are looked up in temporary files.
    pub dangling_example: Option<String>,
}

impl Relations {
    /// All of them, in the order of their first edge.
    pub fn all(&self) -> &[RelationOf] {
        &self.all
    }

    /// The name of a relation.
    pub fn name(&self, number: u32) -> &str {
        self.all.get(number as usize).map_or("", |one| one.name.as_str())
    }

    /// Edges that were not walked because an end is no node.
    pub fn dangling(&self) -> u64 {
        self.all.iter().map(|one| one.dangling).sum()
    }

    fn number(&mut self, edge_type: usize, name: &str) -> u32 {
        if self.known.len() <= edge_type {
            self.known.resize_with(edge_type + 1, HashMap::new);
        }
        let Some(known) = self.known.get_mut(edge_type) else { return 0 };
        if let Some(number) = known.get(name) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        known.insert(name.to_owned(), number);
        let name = name.to_owned();
        self.all.push(RelationOf { edge_type, name, edges: 0, dangling: 0, dangling_example: None });
        number
    }

    fn count(&mut self, number: u32, dangling: Option<&dyn Fn() -> Option<String>>) {
        let Some(one) = self.all.get_mut(number as usize) else { return };
        one.edges += 1;
        if let Some(end) = dangling {
            one.dangling += 1;
            if one.dangling_example.is_none() {
                one.dangling_example = end();
            }
        }
    }
}

/// A batch of edges whose ends were looked up as far as that is possible at once.
pub(super) struct Piece {
    ty: usize,
    rows: usize,
    ends: [Ends; 2],
    resolved: [Resolved; 2],
    names: Option<StringArray>,
    /// For each row an index into `names`; empty if there is one relation.
    index: Vec<u32>,
    undirected: Vec<bool>,
    weights: Option<Vec<f64>>,
}

/// Reads all wanted edges, in their order, and passes those between nodes to `take`. Edges of which an end is no node are counted. Nodes of implied
/// types that only edges name are added to `nodes`.
///
/// # Errors
/// If edges cannot be read, or a weight is missing, negative or no number; and errors of `take`.
pub(crate) fn edges(
    nodes: &mut Nodes,
    wanted: &Wanted<'_>,
    progress: &dyn Progress,
    take: &mut dyn FnMut(Edges) -> Result<()>,
) -> Result<Relations> {
    let source = Arc::clone(&nodes.source);
    let graph = source.graph();
    let walked = |ty: &EdgeType| match (ty.relation.fixed(), wanted.relations) {
        (Some(name), Some(relations)) => relations.contains(name),
        _ => true,
    };
    let mut relations = Relations::default();
    let types: Vec<usize> = (0..graph.edges.len()).filter(|at| graph.edges.get(*at).is_some_and(walked)).collect();
    let mut weights: Vec<Option<usize>> = vec![None; graph.edges.len()];
    for at in &types {
        let Some(ty) = graph.edges.get(*at) else { continue };
        // So that a type without edges is known as well.
        if let Some(name) = ty.relation.fixed() {
            relations.number(*at, name);
        }
        if let (Some(column), Some(slot)) = (wanted.weight, weights.get_mut(*at)) {
            *slot = Some(weight_of(ty, &title(graph, ty), column)?);
        }
    }
    if let Some(names) = wanted.relations {
        let per_row = types.iter().any(|at| graph.edges.get(*at).is_some_and(|ty| ty.relation.fixed().is_none()));
        let there: Vec<&str> = graph.edges.iter().filter_map(|ty| ty.relation.fixed()).collect();
        if let Some(name) = names.iter().find(|name| !per_row && !there.contains(&name.as_str())) {
            let near = did_you_mean(name, there.iter().copied());
            return Err(Error::usage(format!("no edge type has the relation {name}{near}")));
        }
    }
    let together = types.len() > 1 && source.is_one_table(Tables::AllEdges);
    let requests: Vec<(Option<usize>, Request)> = match together {
        true => vec![(None, Request::of(Tables::AllEdges))],
        false => types.iter().map(|at| (Some(*at), request(graph.edges.get(*at), *at, wanted, &weights))).collect(),
    };
    let total: Option<u64> = types.iter().map(|at| graph.edges.get(*at).and_then(|ty| ty.rows)).sum();
    progress.begin("edges", total);
    for (only, request) in &requests {
        let known: &Nodes = nodes;
        let spilled = |ty: usize| matches!(known.lookup(ty), Some(Lookup::Spilled(_)));
        let waits = |at: &usize| graph.edges.get(*at).is_some_and(|ty| spilled(ty.source) || spilled(ty.target));
        let waiting: Vec<usize> =
            types.iter().filter(|at| only.is_none_or(|only| only == **at)).copied().filter(waits).collect();
        let mut bulk = bulk::Bulk::new(&waiting);
        // Workers look keys up; this thread sees the edges in order.
        let read = |part: Box<dyn isomorph_model::Part + '_>, give: &mut dyn FnMut(Piece) -> Result<()>| {
            for batch in part {
                let Batch::Edges(batch) = batch? else { continue };
                if !types.contains(&batch.ty) {
                    continue;
                }
                progress.advance(batch.rows as u64)?;
                if let Some(observer) = wanted.observer {
                    observer(&batch)?;
                }
                give(piece(known, batch, wanted, &weights)?)?;
            }
            Ok(())
        };
        let ahead = Ahead { pieces: 2, parts: known.resources.threads };
        in_order(source.scan(request)?, known.resources.threads, ahead, read, |mut piece| {
            let Some(ty) = graph.edges.get(piece.ty) else { return Ok(()) };
            for ((end, resolved), of) in piece.ends.iter().zip(&mut piece.resolved).zip([ty.source, ty.target]) {
                if let (Ends::Keys(keys), Resolved::Numbers(numbers)) = (end, resolved)
                    && known.is_implied(of)
                {
                    known.imply(of, keys, numbers)?;
                }
            }
            let numbered = piece.labels(ty, wanted, &mut relations);
            match piece.resolved {
                [Resolved::Numbers(sources), Resolved::Numbers(targets)] => {
                    let Numbered { kept, labels } = numbered;
                    let Piece { ends, undirected, weights, .. } = piece;
                    let edges = Edges { sources, targets, relations: labels, undirected, weights };
                    take(between(edges, kept.as_deref(), &ends, &mut relations))
                }
                _ => bulk.push(known, ty, piece, numbered),
            }
        })?;
        bulk.finish(known, graph, wanted.weight.is_some(), &mut relations, take)?;
    }
    progress.end();
    nodes.forget_keys();
    Ok(relations)
}

/// The relations of the rows of a piece.
pub(super) struct Numbered {
    /// Which rows have a wanted relation; `None` for all.
    kept: Option<Vec<bool>>,
    labels: Vec<u32>,
}

impl Piece {
    fn labels(&self, ty: &EdgeType, wanted: &Wanted<'_>, relations: &mut Relations) -> Numbered {
        let Some(names) = &self.names else {
            let number = relations.number(self.ty, ty.relation.fixed().unwrap_or_default());
            return Numbered { kept: None, labels: vec![number; self.rows] };
        };
        let is_wanted = |name: &str| wanted.relations.is_none_or(|wanted| wanted.contains(name));
        // Names that no row uses are no relations.
        let mut numbers: Vec<Option<u32>> = vec![None; names.len()];
        for at in &self.index {
            let at = *at as usize;
            if let Some(slot @ None) = numbers.get_mut(at)
                && is_wanted(names.value(at))
            {
                *slot = Some(relations.number(self.ty, names.value(at)));
            }
        }
        let number = |at: &u32| numbers.get(*at as usize).copied().flatten();
        let labels = self.index.iter().map(|at| number(at).unwrap_or_default()).collect();
        let kept = wanted.relations.is_some().then(|| self.index.iter().map(|at| number(at).is_some()).collect());
        Numbered { kept, labels }
    }
}

/// Counts edges, and leaves out those of other relations and those with an end that is no node.
fn between(mut edges: Edges, kept: Option<&[bool]>, ends: &[Ends; 2], relations: &mut Relations) -> Edges {
    let rows = edges.sources.len();
    let mut keep = vec![true; rows];
    for (row, keep) in keep.iter_mut().enumerate() {
        if kept.is_some_and(|kept| !kept.get(row).copied().unwrap_or_default()) {
            *keep = false;
            continue;
        }
        let label = edges.relations.get(row).copied().unwrap_or_default();
        let numbers = [&edges.sources, &edges.targets].map(|all| all.get(row).copied().unwrap_or(NOBODY));
        match numbers.iter().position(|number| *number == NOBODY) {
            None => relations.count(label, None),
            Some(end) => {
                *keep = false;
                let text = || ends.get(end).and_then(|end| text_of(end, row));
                relations.count(label, Some(&text));
            }
        }
    }
    if keep.iter().all(|keep| *keep) {
        return edges;
    }
    fn retain<T: Copy>(all: &mut Vec<T>, keep: &[bool]) {
        let mut keep = keep.iter();
        all.retain(|_| keep.next().copied().unwrap_or_default());
    }
    retain(&mut edges.sources, &keep);
    retain(&mut edges.targets, &keep);
    retain(&mut edges.relations, &keep);
    retain(&mut edges.undirected, &keep);
    if let Some(weights) = &mut edges.weights {
        retain(weights, &keep);
    }
    edges
}

/// An end of an edge, as text.
fn text_of(ends: &Ends, row: usize) -> Option<String> {
    match ends {
        Ends::Rows(rows) => rows.values().get(row).map(|row| format!("row {row}")),
        Ends::Keys(keys) if row >= keys.len() => None,
        Ends::Keys(keys) if keys.is_null(row) => Some("null".to_owned()),
        Ends::Keys(keys) => {
            let text = cast(&keys.slice(row, 1), &DataType::Utf8).ok()?;
            text.as_string_opt::<i32>().map(|text| text.value(0).to_owned())
        }
    }
}

/// The name of an edge type for messages.
pub(crate) fn title(graph: &isomorph_model::Graph, ty: &EdgeType) -> String {
    let (source, relation, target) = graph.edge_name(ty);
    if relation.is_empty() { format!("{source} → {target}") } else { format!("{source} {relation} {target}") }
}

/// The position of the column of weights.
fn weight_of(ty: &EdgeType, title: &str, column: &str) -> Result<usize> {
    let names = || ty.properties.iter().map(|property| property.name.as_str());
    names().position(|name| name == column).ok_or_else(|| {
        let near = did_you_mean(column, names());
        Error::usage(format!("edges of type {title} have no column {column}{near}"))
            .hint("--edge NAME    walk only edges of a relation that has it")
    })
}

fn request(ty: Option<&EdgeType>, at: usize, wanted: &Wanted<'_>, weights: &[Option<usize>]) -> Request {
    if wanted.observer.is_some() {
        return Request::of(Tables::Edges(at));
    }
    let weight = weights.get(at).copied().flatten();
    let is_plain =
        |ty: &EdgeType| ty.direction != Direction::PerRow && ty.relation != Relation::PerRow && weight.is_none();
    if ty.is_some_and(is_plain) {
        return Request::of(Tables::EdgeEnds(at));
    }
    let properties = weight.into_iter().collect();
    Request::of(Tables::Edges(at)).narrowed(Narrowing { properties, ..Narrowing::least() })
}

fn piece(nodes: &Nodes, batch: EdgeBatch, wanted: &Wanted<'_>, weights: &[Option<usize>]) -> Result<Piece> {
    let graph = nodes.source.graph();
    let ty = graph.edges.get(batch.ty).ok_or_else(|| Error::malformed("edges of an unknown type"))?;
    let resolved = [nodes.resolve(ty.source, &batch.source)?, nodes.resolve(ty.target, &batch.target)?];
    let undirected = match (ty.direction, &batch.directed) {
        (Direction::Directed, _) | (Direction::PerRow, None) => Vec::new(),
        (Direction::Undirected, _) => vec![true; batch.rows],
        (Direction::PerRow, Some(directed)) => directed.iter().map(|directed| directed == Some(false)).collect(),
    };
    let (names, index) = match (&ty.relation, &batch.relations) {
        (Relation::Fixed(_), _) => (None, Vec::new()),
        (Relation::PerRow, Some(relations)) => (Some(relations.names.clone()), relations.index.values().to_vec()),
        (Relation::PerRow, None) => return Err(Error::malformed("edges have no relations")),
    };
    if let Some(names) = &names
        && let Some(wrong) = index.iter().find(|at| **at as usize >= names.len())
    {
        return Err(Error::malformed(format!("an edge has relation number {wrong}, which has no name")));
    }
    let weights = match (wanted.weight, weights.get(batch.ty).copied().flatten()) {
        (Some(column), Some(at)) => {
            let relevant = |row: usize| match (wanted.relations, &names) {
                (Some(wanted), Some(names)) => {
                    index.get(row).is_some_and(|at| wanted.contains(names.value(*at as usize)))
                }
                _ => true,
            };
            let cells = batch.properties.get(at).and_then(Option::as_ref);
            Some(read_weights(cells, batch.rows, column, &title(graph, ty), &relevant)?)
        }
        _ => None,
    };
    let (ty, rows) = (batch.ty, batch.rows);
    Ok(Piece { ty, rows, ends: [batch.source, batch.target], resolved, names, index, undirected, weights })
}

fn read_weights(
    cells: Option<&ArrayRef>,
    rows: usize,
    column: &str,
    title: &str,
    relevant: &dyn Fn(usize) -> bool,
) -> Result<Vec<f64>> {
    let missing = || {
        Error::malformed(format!("an edge of type {title} has no {column}"))
            .hint(format!("--where '…: {column} is not null'    walk only edges that have it"))
    };
    let Some(cells) = cells else {
        return if (0..rows).any(relevant) { Err(missing()) } else { Ok(vec![0.0; rows]) };
    };
    if !cells.data_type().is_numeric() && !matches!(cells.data_type(), DataType::Dictionary(..)) {
        let message = format!("column {column} of edges of type {title} holds {}, not numbers", cells.data_type());
        return Err(Error::usage(message));
    }
    let options = CastOptions { safe: true, ..CastOptions::default() };
    let numbers = cast_with_options(cells, &DataType::Float64, &options).map_err(unread)?;
    let numbers = numbers.as_primitive::<Float64Type>();
    let number = |(row, number): (usize, Option<f64>)| match number {
        Some(number) if number >= 0.0 && number.is_finite() => Ok(number),
        _ if !relevant(row) => Ok(0.0),
        Some(number) => Err(Error::unsupported(format!(
            "{column} of an edge of type {title} is {number}; shortest paths need finite weights of 0 or more"
        ))),
        None => Err(missing()),
    };
    numbers.iter().enumerate().map(number).collect()
}
