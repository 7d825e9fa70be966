//! `diff`: are two graphs equal? If not, which kinds, types and elements differ.

mod element;

use isomorph::storage::Resources;
use std::sync::Arc;

use isomorph::convert::{Diff, DiffElement, DiffLine, Format, Opened, Registry, diff, diff_first, relabelled};
use isomorph::formats::graphlake;
use isomorph::model::digest::{Line, LineKind};
use isomorph::model::json;
use isomorph::{Error, Result};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{Answer, check_whole, open_at, select};
use crate::args::{DiffArgs, OpenArgs, foreign, names, read_place};
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::progress::Bars;
use crate::render::{Cell, Column, Mark, Screen, Table, of, thousands};
use crate::stdio::DASH;

/// Default number of elements to list.
const NAMED: usize = 10;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    left: &'a str,
    right: &'a str,
    equal: bool,
    order_equal: bool,
    schema_equal: bool,
    lines: Vec<LineDocument<'a>>,
    elements: Vec<ElementDocument<'a>>,
    differing: Option<u64>,
    /// Whether the search ended at `--limit`: then `differing` is a lower bound.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ended: bool,
}

#[derive(Debug, Serialize)]
struct LineDocument<'a> {
    kind: LineKind,
    #[serde(rename = "type")]
    ty: &'a [String],
    property: &'a str,
    left: u64,
    right: u64,
    equal: bool,
    only_left: Option<u64>,
    only_right: Option<u64>,
}

#[derive(Debug, Serialize)]
struct ElementDocument<'a> {
    #[serde(flatten)]
    element: &'a DiffElement,
    /// Its key, or a list of its ends, with numbers as numbers.
    key: Option<Box<RawValue>>,
}

impl<'a> ElementDocument<'a> {
    fn new(element: &'a DiffElement) -> Self {
        // A key of several parts is a list.
        let list = format!("[{}]", element.identity);
        let mut parts = 0;
        let read = json::items(&list, |_| {
            parts += 1;
            Ok(())
        });
        let text = if parts == 1 { element.identity.clone() } else { list };
        ElementDocument { element, key: read.ok().and_then(|()| RawValue::from_string(text).ok()) }
    }
}

impl<'a> Document<'a> {
    fn new(args: &'a DiffArgs, found: &'a Diff) -> Self {
        let lines = found.lines.iter().map(|DiffLine { line, left, right, equal, only }| LineDocument {
            kind: line.kind,
            ty: &line.ty,
            property: &line.property,
            left: *left,
            right: *right,
            equal: *equal,
            only_left: only.map(|[left, _]| left),
            only_right: only.map(|[_, right]| right),
        });
        Document {
            left: &args.left,
            right: &args.right,
            equal: found.equal,
            order_equal: found.order_equal,
            schema_equal: found.schema_equal,
            lines: lines.collect(),
            elements: found.elements.iter().map(ElementDocument::new).collect(),
            differing: found.differing,
            ended: found.ended,
        }
    }
}

/// Compares two graphs; the answer is whether they are equal.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &DiffArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    if (args.from.is_some() || args.syntax.is_some()) && ![&args.left, &args.right].iter().any(|path| *path == DASH) {
        return Err(Error::usage("--from and --syntax apply to standard input, and neither graph is -"));
    }
    let selection = args.select.selection(None)?;
    let left = open(&args.left, args, formats, &resources, console)?;
    let right = open(&args.right, args, formats, &resources, console)?;
    let given = [("--key", args.key.is_some())];
    let foreign = [&left, &right].map(|side| foreign(&given, side.format, formats, |flags| flags.opening));
    if let [Some((flag, of)), Some(_)] = foreign {
        return Err(Error::usage(format!("{flag} applies to {}; neither graph has this format", names(&of))));
    }
    let bars = Bars::new(Interrupt::default());
    for side in [&left, &right] {
        check_whole(side, args.lenient, &resources, &bars, console)?;
    }
    let (left, _) = select(left, &selection, false, &resources, &bars)?;
    let (right, _) = select(right, &selection, false, &resources, &bars)?;
    let seen = |side: &Opened| {
        let graph = match args.seen_as {
            Some(format) => side.seen_as(format, &resources, &bars)?,
            None => Arc::clone(&side.graph),
        };
        if args.rdfc { relabelled(graph, &resources, &bars) } else { Ok(graph) }
    };
    let (one, other) = (seen(&left)?, seen(&right)?);
    let found = match args.limit {
        Some(limit) => diff_first(one.as_ref(), other.as_ref(), limit, &resources, &bars)?,
        None => diff(one.as_ref(), other.as_ref(), NAMED, &resources, &bars)?,
    };
    drop(bars);
    let same = found.equal && (!args.exact || found.order_equal && found.schema_equal);

    let mut screen = console.screen();
    verdict(&mut screen, &found, same);
    if !found.equal {
        screen.table(&lines(&found, console.verbose));
        screen.table(&element::table(&found.elements));
        let named = found.elements.len() as u64;
        if found.ended {
            let ended = format!("the search ended at {}; omit --limit to count all", of(named, "element"));
            screen.plain(&ended, None);
        } else if let Some(all) = found.differing.filter(|all| *all > named && named > 0) {
            let more = of(all - named, "more element");
            screen.plain(&format!("and {more}; --limit {all} lists them"), None);
        }
        if let (Some(format), None) = (shared_view(&left, &right), args.seen_as) {
            screen.line("", &format!("--as {} compares both as {format} stores them", format.id()));
        }
    }
    console.show(&screen)?;
    console.document(&Document::new(args, &found))?;
    Ok(Answer::yes_if(same))
}

/// If the two graphs are of different formats, returns the storage format of the right one: without sidecars, a
/// comparison of both as this format stores them is often what is wanted.
fn shared_view(left: &Opened, right: &Opened) -> Option<Format> {
    (left.format_of_graph() != right.format_of_graph()).then_some(right.format)
}

fn open(path: &str, args: &DiffArgs, formats: &Registry, resources: &Resources, console: &Console) -> Result<Opened> {
    let mut open = OpenArgs {
        sidecar: args.sidecar,
        lenient: args.lenient,
        key: args.key.clone(),
        base: args.base.clone(),
        namespaces: args.namespaces.clone(),
        ..OpenArgs::default()
    };
    if path == DASH {
        (open.from, open.syntax) = (args.from.or_else(|| args.syntax.map(|_| Format::RDF)), args.syntax);
    }
    let (location, at) = read_place(path, resources)?;
    // One command line has two graphs: options apply to each graph whose format has them.
    let mut options = open.options_of(None, formats, resources)?;
    options.from = open.from;
    options.get_mut::<graphlake::OpenOptions>().at = at.unwrap_or_default();
    open_at(&location, &options, console)
}

fn verdict(screen: &mut Screen, found: &Diff, same: bool) {
    let besides = match (found.order_equal, found.schema_equal) {
        (true, true) => "in content, order and schema",
        (false, true) => "in content; the order of nodes differs",
        (true, false) => "in content; the schema differs (widths, declarations, unused types)",
        (false, false) => "in content; order and schema differ",
    };
    match (found.equal, same) {
        (true, true) => screen.plain(&format!("equal {besides}"), Some(Mark::Sound)),
        (true, false) => screen.plain(&format!("different, although equal {besides}"), Some(Mark::Error)),
        (false, _) => screen.plain("different", Some(Mark::Error)),
    };
}

/// Returns the facts of both sides by kind and type: all types, and all properties that differ.
fn lines(found: &Diff, all: bool) -> Table {
    let mut table = Table::new([
        Column::stage(),
        Column::text(0).gap("  "),
        Column::text(1),
        Column::number().gap(" "),
        Column::text(0).gap(" "),
        Column::text(0),
        Column::text(0),
    ]);
    for line in found.lines.iter().filter(|line| all || !line.equal || line.line.property.is_empty()) {
        let state = state(line);
        let state = if line.equal { Cell::from(state) } else { Cell::marked(state, Mark::Error) };
        let cells =
            ["", line.line.kind.word(), &subject(&line.line), &thousands(line.left), "│", &thousands(line.right)];
        table.row(cells.map(Cell::from).into_iter().chain([state]));
    }
    table
}

/// Returns what differs in a line: how many elements only one side has, which equal totals would hide.
fn state(line: &DiffLine) -> String {
    match line.only {
        _ if line.equal => "equal".to_owned(),
        None => "differs".to_owned(),
        Some([left, 0]) => format!("{} missing on the right", thousands(left)),
        Some([0, right]) => format!("{} missing on the left", thousands(right)),
        Some([left, right]) => format!("{} missing on the right, {} on the left", thousands(left), thousands(right)),
    }
}

/// Returns the subject of a line: `person`, `person.lastName`, `person ─knows→ person`.
pub fn subject(line: &Line) -> String {
    let ty = match (line.kind, line.ty.as_slice()) {
        (LineKind::Edges, [source, relation, target]) => format!("{source} ─{relation}→ {target}"),
        (_, parts) => parts.join(" "),
    };
    if line.property.is_empty() { ty } else { format!("{ty}.{}", line.property) }
}
