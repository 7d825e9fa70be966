//! What there is to say of a dataset without reading its rows.

use isomorph_model::About;

use super::Nock;
use crate::dataset::Format;

pub(super) fn about(nock: &Nock) -> About {
    let mut about = About {
        format: format!("NOCK ({})", formats(nock)),
        version: dialects(nock),
        files: nock.partitions.len() as u64,
        bytes: nock.partitions.iter().map(|partition| partition.size).sum(),
        layout: layout(nock),
        edge_layouts: Vec::new(),
        findings: nock.noticed.clone(),
    };
    if let Some(settled) = nock.settled() {
        let order = if settled.in_sequence { "behind their source's row" } else { "in no order" };
        about.edge_layouts.push(order.to_owned());
        about.findings.merge(settled.findings.clone());
        about.findings.merge(settled.out_of_sequence.clone());
    }
    about
}

fn formats(nock: &Nock) -> &'static str {
    let has = |format| nock.partitions.iter().any(|partition| partition.format == format);
    match (has(Format::Parquet), has(Format::Csv)) {
        (true, true) => "Parquet and CSV",
        (false, true) => "CSV",
        _ => "Parquet",
    }
}

/// The dialects of the partitions, each once, in the order of the partitions.
fn dialects(nock: &Nock) -> String {
    let mut found: Vec<String> = Vec::new();
    for partition in &nock.partitions {
        let dialect = match partition.format {
            Format::Parquet => partition.layout.dialect().to_string(),
            Format::Csv => "text".to_owned(),
        };
        if !found.contains(&dialect) {
            found.push(dialect);
        }
    }
    found.join(", ")
}

fn layout(nock: &Nock) -> String {
    let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    if nock.is_directory {
        parts.push(count(nock.partitions.len(), "partition"));
    }
    if let Some(rows) = nock.partitions.iter().map(|partition| partition.rows).sum::<Option<u64>>() {
        let groups: usize = nock.partitions.iter().map(|partition| partition.row_groups()).sum();
        parts.push(count(usize::try_from(rows).unwrap_or(usize::MAX), "row"));
        parts.push(count(groups, "row group"));
    }
    if !nock.shape.extras.is_empty() {
        let names: Vec<&str> = nock.shape.extras.iter().map(|extra| extra.name.as_str()).collect();
        parts.push(format!("further columns {}", names.join(", ")));
    }
    parts.join(" · ")
}
