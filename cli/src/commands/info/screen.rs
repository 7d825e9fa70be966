//! The screen of `info`.

use isomorph::convert::{Beside, Described, Registry};
use isomorph::error::Severity;
use isomorph::model::schema::{GroupKind, LabelVocabulary, MembershipTable, Owner};
use isomorph::model::type_name::type_name;
use isomorph::model::{About, Cardinality, Direction, EdgeType, Graph, KeyKind, NodeType, Property, ValueKind};

use crate::console::Console;
use crate::render::{Cell, Column, Mark, Screen, Table, bytes, count, of, thousands};
use crate::report;

/// Separator of facts on one line.
const DOT: &str = " · ";

/// Number of relations that are printed without --verbose.
const RELATIONS: usize = 8;

/// Returns the screen of an opened graph.
pub fn screen(described: &Described<'_>, console: &Console) -> Screen {
    let Described { opened, about, counts, beside, .. } = described;
    let graph = opened.graph.graph();
    let mut screen = console.screen();
    let name = graph.name.iter().cloned();
    let sizes = name.chain([of(about.files, "file"), bytes(about.bytes)]).collect::<Vec<_>>().join(DOT);
    let version = if about.version.is_empty() { String::new() } else { format!("  {}", about.version) };
    screen.plain(&format!("{:7}{version}   {sizes}", about.format), None);
    let mut table = Table::new([Column::stage(), Column::text(1), Column::number(), Column::text(2)]);
    for (ty, rows) in graph.nodes.iter().zip(&counts.nodes) {
        let row = ["nodes", &ty.name, &count(*rows), &node_facts(ty, console.verbose).join(DOT)];
        table.row(row.map(Cell::from));
        properties(&mut table, &ty.properties, console.verbose);
    }
    for (at, ty) in graph.edges.iter().enumerate() {
        let layout = described.stored(at).unwrap_or_default();
        let facts = edge_facts(ty, layout, console.verbose).join(DOT);
        let rows = counts.edges.get(at).copied().flatten();
        table.row(["edges", &arrow(graph, ty), &count(rows), &facts].map(Cell::from));
        let found = counts.relations.get(at).and_then(Option::as_deref).unwrap_or_default();
        relations(&mut table, found, console.verbose);
        properties(&mut table, &ty.properties, console.verbose);
    }
    for ty in &graph.hyperedges {
        let mut facts = vec![format!("key {}", ty.key.name.as_deref().unwrap_or("edge"))];
        facts.extend(ty.layered.then(|| "members in layers".to_owned()));
        facts.extend(grouped(&ty.properties).filter(|_| !console.verbose));
        table.row(["hyperedges", &ty.name, &count(ty.rows), &facts.join(DOT)].map(Cell::from));
        properties(&mut table, &ty.properties, console.verbose);
    }
    values(&mut table, graph, console.verbose);
    for kind in &graph.groups {
        table.row(["groups", &kind.kind, "", &group_facts(graph, kind, console.verbose).join(DOT)].map(Cell::from));
        properties(&mut table, &kind.properties, console.verbose);
    }
    screen.table(&table);
    for document in &graph.documents {
        screen.line("document", &document.name);
    }
    if opened.sidecar.is_some() {
        screen.table(&stored(opened.native.graph(), console.verbose));
    }
    let mut layout = vec![about.layout.as_str()];
    layout.extend(about.edge_layouts.iter().map(String::as_str).filter(|_| opened.sidecar.is_some()));
    layout.retain(|text| !text.is_empty());
    layout.dedup();
    if !layout.is_empty() {
        screen.line("layout", &layout.join(DOT));
    }
    report::findings(&mut screen, &about.findings, Severity::Warning, console.verbose);
    if let Some(error) = &counts.error {
        screen.line("counts", &format!("not read: {}", error.message()));
    }
    checks(&mut screen, about);
    sidecar(&mut screen, beside, &opened.options.formats);
    screen
}

/// Lists the types and columns of the files themselves, if the sidecar describes another graph.
fn stored(graph: &Graph, verbose: bool) -> Table {
    let mut table = Table::new([Column::stage(), Column::text(1), Column::text(2)]);
    let nodes = graph.nodes.iter().map(|ty| (ty.name.clone(), node_facts(ty, verbose), &ty.properties));
    let edges = graph.edges.iter().map(|ty| (arrow(graph, ty), edge_facts(ty, "", verbose), &ty.properties));
    for (at, (name, facts, all)) in nodes.chain(edges).enumerate() {
        let word = if at == 0 { "stored" } else { "" };
        table.row([word, &name, &facts.join(DOT)].map(Cell::from));
        for property in all.iter().filter(|_| verbose) {
            table.row(["", &format!("  {}", property_name(property)), &property_type(property)].map(Cell::from));
        }
    }
    table
}

/// Lists the most frequent relations of an edge type whose rows have their own relations, or all of them.
fn relations(table: &mut Table, found: &[(String, u64)], verbose: bool) {
    let shown = if verbose { found.len() } else { found.len().min(RELATIONS) };
    for (name, rows) in found.iter().take(shown) {
        let name = if name.is_empty() { "\"\"" } else { name };
        table.row(["", &format!("  {name}"), &thousands(*rows)].map(Cell::from));
    }
    let more = (found.len() - shown) as u64;
    if more > 0 {
        table.row(["", &format!("  and {}", of(more, "more relation"))].map(Cell::from));
    }
}

/// Lists the value tables: the properties with most values, or all of them.
fn values(table: &mut Table, graph: &Graph, verbose: bool) {
    let mut found: Vec<_> = graph.values.iter().collect();
    found.sort_by_key(|values| std::cmp::Reverse(values.rows));
    let shown = if verbose { found.len() } else { found.len().min(RELATIONS) };
    for (at, values) in found.iter().take(shown).enumerate() {
        let qualifiers: Vec<&str> = values.qualifiers.iter().map(|property| property.name.as_str()).collect();
        let facts = if qualifiers.is_empty() { String::new() } else { format!("by {}", qualifiers.join(", ")) };
        let word = if at == 0 { "values" } else { "" };
        table.row([word, &values.property.name, &count(values.rows), &facts].map(Cell::from));
    }
    let more = (found.len() - shown) as u64;
    if more > 0 {
        let properties = if more == 1 { "property" } else { "properties" };
        table.row(["", &format!("  and {} more {properties}", thousands(more))].map(Cell::from));
    }
}

/// Lists properties line by line with --verbose.
fn properties(table: &mut Table, properties: &[Property], verbose: bool) {
    for property in properties.iter().filter(|_| verbose) {
        let required = if property.nullable { "" } else { ", never null" };
        let text = format!("{}{required}", property_type(property));
        table.row(["", &format!("  {}", property_name(property)), "", &text].map(Cell::from));
    }
}

fn node_facts(ty: &NodeType, verbose: bool) -> Vec<String> {
    let mut facts = vec![match (ty.key.kind, &ty.key.name) {
        (KeyKind::Row, _) => "key row".to_owned(),
        (_, Some(name)) => format!("key {name} {}", type_name(&ty.key.data_type)),
        (_, None) => format!("key {}", type_name(&ty.key.data_type)),
    }];
    facts.extend(grouped(&ty.properties).filter(|_| !verbose));
    match &ty.labels {
        LabelVocabulary::Declared(labels) if !labels.is_empty() => facts.push(format!("labels {}", labels.join(", "))),
        LabelVocabulary::Open => facts.push("labels".to_owned()),
        _ => {}
    }
    facts
}

fn edge_facts(ty: &EdgeType, layout: &str, verbose: bool) -> Vec<String> {
    let direction = match ty.direction {
        Direction::Directed => "directed",
        Direction::Undirected => "undirected",
        Direction::PerRow => "direction per row",
    };
    let mut facts = vec![direction.to_owned()];
    facts.extend(ty.key.as_ref().map(|key| format!("key {}", key.name.as_deref().unwrap_or("edge"))));
    facts.extend(grouped(&ty.properties).filter(|_| !verbose));
    facts.extend(Some(layout.to_owned()).filter(|layout| !layout.is_empty()));
    facts
}

/// Returns the members of groups of a kind, and their properties.
fn group_facts(graph: &Graph, kind: &GroupKind, verbose: bool) -> Vec<String> {
    let member = |table: &MembershipTable| match table.of {
        Owner::Nodes(at) => graph.nodes.get(at).map(|ty| ty.name.clone()),
        Owner::Edges(at) => graph.edges.get(at).and_then(|ty| ty.relation.fixed().map(str::to_owned)),
        Owner::Hyperedges(at) => graph.hyperedges.get(at).map(|ty| ty.name.clone()),
    };
    let members: Vec<String> = kind.memberships.iter().filter_map(member).collect();
    let mut facts = Vec::new();
    facts.extend((!members.is_empty()).then(|| format!("of {}", members.join(", "))));
    facts.extend((!kind.all.is_empty()).then(|| format!("everything in {}", kind.all.join(", "))));
    facts.extend(grouped(&kind.properties).filter(|_| !verbose));
    facts
}

/// Returns `person ─knows─ person` or `person ─wrote→ post`; a relation that differs by row is `…`.
fn arrow(graph: &Graph, ty: &EdgeType) -> String {
    let (source, relation, target) = graph.edge_name(ty);
    let relation = if ty.relation.fixed().is_some() { relation } else { "…".to_owned() };
    let head = if ty.direction == Direction::Undirected { '─' } else { '→' };
    format!("{source} ─{relation}{head} {target}")
}

/// Lists properties with their types; consecutive properties of one type share it, as in `firstName, lastName string`.
fn grouped(properties: &[Property]) -> Option<String> {
    let mut text = String::new();
    for (at, property) in properties.iter().enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(&property_name(property));
        let ty = property_type(property);
        if properties.get(at + 1).map(property_type) != Some(ty.clone()) {
            text.push_str(&format!(" {ty}"));
        }
    }
    Some(text).filter(|text| !text.is_empty())
}

fn property_name(property: &Property) -> String {
    if property.kind == ValueKind::Bag { "props".to_owned() } else { property.name.clone() }
}

fn property_type(property: &Property) -> String {
    let ty = match &property.kind {
        ValueKind::Plain => type_name(&property.data_type),
        ValueKind::Bag => "json object".to_owned(),
        kind => kind.word().to_owned(),
    };
    if property.cardinality == Cardinality::Set { ty.replacen("list<", "set<", 1) } else { ty }
}

fn checks(screen: &mut Screen, about: &About) {
    let next = "`isomorph validate` checks all data";
    let serious = about.findings.worst() >= Some(Severity::Warning);
    match (serious, about.findings.worst()) {
        (false, None) => {
            screen.marked("checks", Some(Mark::Sound), &format!("metadata sound, data not checked{DOT}{next}"))
        }
        (false, Some(_)) => screen.marked(
            "checks",
            Some(Mark::Sound),
            &format!("metadata sound, {}, data not checked{DOT}{next}", report::summary(&about.findings)),
        ),
        (true, worst) => {
            let mark = worst.and_then(report::mark);
            screen.marked("checks", mark, &format!("{}, data not checked{DOT}{next}", report::summary(&about.findings)))
        }
    };
}

fn sidecar(screen: &mut Screen, beside: &Beside, formats: &Registry) {
    match beside {
        Beside::Nothing => screen,
        Beside::Ignored => screen.line("sidecar", "ignored, as requested"),
        Beside::Fits { of } => screen.marked(
            "sidecar",
            Some(Mark::Sound),
            &format!(
                "details of the {} graph that this format cannot store{DOT}`isomorph sidecar show` lists them",
                format_name(of, formats)
            ),
        ),
        Beside::Stale { of, differences } => {
            let more = differences.len().saturating_sub(1);
            let first = differences.first().map(String::as_str).unwrap_or_default();
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            let text = format!(
                "of a {} graph; stale, the data has changed: {first}{more}{DOT}ignored here",
                format_name(of, formats)
            );
            screen.marked("sidecar", Some(Mark::Warning), &text)
        }
    };
}

/// Returns the name of the format with an id, or the id if the format is unknown.
pub fn format_name<'a>(id: &'a str, formats: &Registry) -> &'a str {
    formats.find(id).map_or(id, |format| format.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::DataType;

    #[test]
    fn neighbours_of_one_type_share_it() {
        let text = |name| Property::new(name, DataType::Utf8);
        let properties = [text("firstName"), text("lastName"), Property::new("age", DataType::Int64), text("email")];
        assert_eq!(grouped(&properties).as_deref(), Some("firstName, lastName string, age int64, email string"));
        assert_eq!(grouped(&[]), None);
        assert_eq!(grouped(&[Property::bag()]).as_deref(), Some("props json object"));
    }
}
