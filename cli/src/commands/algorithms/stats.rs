//! `stats`: what a graph looks like.

use std::io::Write;

use isomorph::Result;
use isomorph::algorithms::{Degrees, GraphStatistics, HistogramBar, statistics};
use isomorph::convert::Registry;
use isomorph::storage::{Mode, Staging};
use serde::Serialize;

use super::super::Answer;
use super::{LeftOut, Walked, html};
use crate::args::{StatsArgs, WalkArgs, file_place};
use crate::console::Console;
use crate::render::{Cell, Column, Screen, Table, of, thousands};

/// Relations and columns that are shown, unless all are wanted.
const SHOWN: usize = 20;

/// Columns of the longest bar.
const WIDTH: usize = 32;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    #[serde(flatten)]
    statistics: &'a GraphStatistics,
}

/// Prints the statistics of a graph, or writes them as a page.
///
/// # Errors
/// Any error of reading or writing.
pub fn run(args: &StatsArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let found = found(args, formats, console)?;
    let mut screen = console.screen();
    show(&mut screen, &args.path, &found, console.verbose, &args.walk);
    if let Some(file) = &args.html {
        let mode = if args.replace { Mode::Replace } else { Mode::CreateNew };
        let staging = Staging::file(&file_place(file)?, mode)?;
        let mut page = staging.create("")?;
        page.write_all(html::page(&args.path, &found).as_bytes())?;
        page.finish()?;
        let bytes = staging.commit(&[])?.bytes;
        screen = console.screen();
        screen.line("wrote", file);
        console.show(&screen)?;
        console.document(&serde_json::json!({ "wrote": file, "bytes": bytes }))?;
        return Ok(Answer::Yes);
    }
    console.show(&screen)?;
    console.document(&Document { path: &args.path, statistics: &found })?;
    Ok(Answer::Yes)
}

/// The statistics, of this process or of a cluster.
fn found(args: &StatsArgs, formats: &Registry, console: &Console) -> Result<GraphStatistics> {
    #[cfg(feature = "cluster")]
    if let Some(cluster) = crate::commands::elsewhere::cluster(&args.cluster, &args.open)? {
        use isomorph_cluster::{Place, StatisticsQuestion};
        if !args.select.selection(None)?.is_everything() {
            return Err(crate::commands::elsewhere::refused("a selection"));
        }
        let interrupt = crate::interrupt::Interrupt::listen()?;
        let resources = args.resources.resources()?;
        let (location, options) = args.open.place(&args.path, formats, &resources)?;
        let graph = isomorph::Graph::open(&location, &options, resources)?;
        console.warn(&graph.opened().native.about().findings);
        console.warn(&graph.opened().cautions()?);
        let asked = StatisticsQuestion::new(args.walk.relations(), args.walk.hyperedges);
        return interrupt.outcome(cluster.statistics(asked, Place::of_graph(&graph)?, interrupt.within(None)));
    }
    let walked =
        Walked::open(&args.path, (&args.walk, &args.open, &args.select, &args.resources), None, formats, console)?;
    walked.interrupt.outcome(statistics(&walked.source, &walked.job()))
}

fn show(screen: &mut Screen, path: &str, found: &GraphStatistics, all: bool, walk: &WalkArgs) {
    let limit = if all { usize::MAX } else { SHOWN };
    screen.line("graph", &format!("{path}   {} · {}", of(found.nodes, "node"), of(found.edges, "edge")));
    let mut types = Table::new([Column::stage(), Column::text(1), Column::number(), Column::text(2)]);
    let word = |at: usize, word: &'static str| if at == 0 { word } else { "" };
    for (at, ty) in found.node_types.iter().enumerate() {
        let isolated = if ty.isolated > 0 { format!("{} isolated", thousands(ty.isolated)) } else { String::new() };
        types.row([word(at, "nodes"), &ty.name, &thousands(ty.nodes), &isolated].map(Cell::from));
    }
    let mut edges: Vec<_> = found.edge_types.iter().collect();
    edges.sort_by_key(|ty| std::cmp::Reverse(ty.edges));
    for (at, ty) in edges.iter().take(limit).enumerate() {
        let name = format!("{} ─{}─ {}", ty.source, ty.relation, ty.target);
        let mut facts = Vec::new();
        if ty.undirected > 0 {
            facts.push(if ty.directed > 0 {
                format!("{} undirected", thousands(ty.undirected))
            } else {
                "undirected".to_owned()
            });
        }
        for (count, what) in [(ty.loops, "loop"), (ty.parallel, "parallel edge"), (ty.dangling, "dangling edge")] {
            if count > 0 {
                facts.push(of(count, what));
            }
        }
        facts.extend(ty.reciprocity.map(|share| format!("reciprocity {share:.3}")));
        types.row([word(at, "edges"), &name, &thousands(ty.edges), &facts.join(" · ")].map(Cell::from));
    }
    screen.table(&types);
    if edges.len() > limit {
        screen.line("", &format!("and {}; -v shows them", of((edges.len() - limit) as u64, "more relation")));
    }
    degrees(screen, "degree", &found.degree);
    let sides = [("out", &found.out_degree), ("in", &found.in_degree)];
    for (word, own) in sides.into_iter().filter_map(|(word, own)| Some((word, own.as_ref()?))) {
        screen.line(word, &summary(own));
        if all {
            bars(screen, &own.histogram);
        }
    }
    let components = &found.components;
    let share = if found.nodes == 0 { 0.0 } else { components.largest as f64 / found.nodes as f64 * 100.0 };
    let text = format!(
        "{} · the largest has {} ({share:.1} %)",
        of(components.count, "component"),
        of(components.largest, "node")
    );
    screen.line("parts", &text);
    if components.count > 1 {
        bars(screen, &components.histogram);
    }
    columns(screen, found, limit);
    let example = found.edge_types.iter().find_map(|ty| Some((ty.relation.as_str(), ty.dangling_example.as_deref()?)));
    let (dangling, repeated_keys, hyperedges) = (found.dangling, found.repeated_keys, found.hyperedges);
    for (word, text) in (LeftOut { dangling, example, repeated_keys, hyperedges }).warnings(walk) {
        screen.line(word, &text);
    }
}

fn summary(degrees: &Degrees) -> String {
    let [min, median, p99, max] = [degrees.min, degrees.median, degrees.p99, degrees.max].map(thousands);
    format!("min {min} · median {median} · p99 {p99} · max {max} · mean {:.2}", degrees.mean)
}

fn degrees(screen: &mut Screen, word: &str, degrees: &Degrees) {
    screen.line(word, &summary(degrees));
    bars(screen, &degrees.histogram);
}

/// `3–4`, or `2` for one number.
pub(super) fn range(bar: &HistogramBar) -> String {
    if bar.from == bar.to { thousands(bar.from) } else { format!("{}–{}", thousands(bar.from), thousands(bar.to)) }
}

fn bars(screen: &mut Screen, histogram: &[HistogramBar]) {
    let most = histogram.iter().map(|bar| bar.count).max().unwrap_or_default().max(1);
    let mut table = Table::new([Column::stage(), Column::number(), Column::number(), Column::text(1)]);
    for bar in histogram {
        table.row(["", &range(bar), &thousands(bar.count), &bar_of(bar.count, most)].map(Cell::from));
    }
    screen.table(&table);
}

/// A bar with eighths of a column; what is not zero has at least one.
fn bar_of(count: u64, most: u64) -> String {
    const PARTS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    let eighths = (u128::from(count) * (WIDTH * 8) as u128).div_ceil(u128::from(most.max(1)));
    let eighths = usize::try_from(eighths).unwrap_or(WIDTH * 8);
    let mut bar = "█".repeat(eighths / 8);
    if let Some(part) = (eighths % 8).checked_sub(1).and_then(|at| PARTS.get(at)) {
        bar.push(*part);
    }
    bar
}

fn columns(screen: &mut Screen, found: &GraphStatistics, limit: usize) {
    let all = || found.tables.iter().flat_map(|table| table.columns.iter().map(move |column| (table, column)));
    let mut table = Table::new([
        Column::stage(),
        Column::text(1),
        Column::text(2),
        Column::number(),
        Column::number(),
        Column::number(),
    ]);
    for (at, (of_table, column)) in all().take(limit).enumerate() {
        let word = if at == 0 { "columns" } else { "" };
        let name = format!("{}.{}", of_table.table, column.name);
        let about = if column.distinct.exact { "" } else { "≈ " };
        let rows = of(of_table.rows, "row");
        let (nulls, distinct) =
            (of(column.nulls, "null"), format!("{about}{} distinct", thousands(column.distinct.values)));
        table.row([word, &name, &column.data_type, &rows, &nulls, &distinct].map(Cell::from));
    }
    screen.table(&table);
    let more = all().count().saturating_sub(limit);
    if more > 0 {
        screen.line("", &format!("and {}; -v shows them", of(more as u64, "more column")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_seen_if_there_is_anything() {
        assert_eq!((bar_of(0, 10).as_str(), bar_of(1, 1_000_000).as_str()), ("", "▏"));
        assert_eq!(bar_of(10, 10), "█".repeat(WIDTH));
        assert_eq!(bar_of(5, 10).chars().count(), WIDTH / 2);
        assert_eq!(bar_of(u64::MAX, u64::MAX).chars().count(), WIDTH);
    }
}
