//! `digest`: digests of content, order and schema, by kind and type.

use std::sync::Arc;

use isomorph::convert::{Digests, Registry, digest, relabelled};
use isomorph::model::digest::{LineKind, Sum, VERSION};
use serde::Serialize;

use super::diff::subject;
use super::{Answer, check_whole, open, select, show_dangling};
use crate::args::DigestArgs;
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::render::{Cell, Column, Table, thousands};
use isomorph::Result;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    digest: &'static str,
    #[serde(flatten)]
    digests: Digests,
    lines: Vec<LineDocument<'a>>,
    /// Edges that a selection drops because one of their ends is dropped; null without a selection.
    dangling: Option<u64>,
}

#[derive(Debug, Serialize)]
struct LineDocument<'a> {
    kind: LineKind,
    #[serde(rename = "type")]
    ty: &'a [String],
    property: &'a str,
    count: u64,
    sum: String,
}

/// Computes and prints the digests of a graph.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &DigestArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    let selection = args.select.selection(args.limit)?;
    let opened = open(&args.path, &args.open, formats, &resources, console)?;
    let bars = Bars::new(Interrupt::default());
    check_whole(&opened, args.open.lenient, &resources, &bars, console)?;
    let (opened, dangling) = select(opened, &selection, true, &resources, &bars)?;
    let graph = match args.rdfc {
        true => relabelled(Arc::clone(&opened.graph), &resources, &bars)?,
        false => Arc::clone(&opened.graph),
    };
    let digested = digest(graph.as_ref(), &resources, &bars)?;
    drop(bars);
    let Digests { content, order, schema } = digested.digests;

    let mut screen = console.screen();
    screen.line("content", &content.to_string()).line("order", &order.to_string()).line("schema", &schema.to_string());
    let mut table = Table::new([Column::stage(), Column::text(1), Column::number(), Column::text(2)]);
    for (line, sum) in digested.table.lines().filter(|(line, _)| console.verbose || line.property.is_empty()) {
        table.row([line.kind.word(), &subject(line), &thousands(sum.count), &shown(sum)].map(Cell::from));
    }
    screen.table(&table);
    show_dangling(&mut screen, dangling, &selection, &opened);
    console.show(&screen)?;
    let lines = digested.table.lines().map(|(line, sum)| LineDocument {
        kind: line.kind,
        ty: &line.ty,
        property: &line.property,
        count: sum.count,
        sum: format!("{:032x}", sum.hash),
    });
    console.document(&Document {
        path: &args.path,
        digest: VERSION,
        digests: digested.digests,
        lines: lines.collect(),
        dangling,
    })?;
    Ok(Answer::Yes)
}

/// Returns the beginning of a sum.
fn shown(sum: &Sum) -> String {
    let digits = format!("{:032x}", sum.hash);
    format!("{} {} …", digits.get(..4).unwrap_or_default(), digits.get(4..8).unwrap_or_default())
}
