//! The description of a dataset for `info`, without reading its rows.

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
        let order = if settled.in_sequence { "after their source's row" } else { "unordered" };
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

/// Returns the dialects of the partitions, each once, in the order of the partitions.
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
    let count = |number: u64, what: &str| format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    if nock.is_directory {
        parts.push(count(nock.partitions.len() as u64, "partition"));
    }
    if let Some(rows) = nock.partitions.iter().map(|partition| partition.rows).sum::<Option<u64>>() {
        let groups: usize = nock.partitions.iter().map(|partition| partition.row_groups()).sum();
        parts.push(count(rows, "row"));
        parts.push(count(groups as u64, "row group"));
    }
    if !nock.shape.extras.is_empty() {
        let names: Vec<&str> = nock.shape.extras.iter().map(|extra| extra.name.as_str()).collect();
        parts.push(format!("further columns {}", names.join(", ")));
    }
    parts.join(" · ")
}

/// Formats a number with thousands separators: `1,000,000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = (0..tail.len()).step_by(3).map(|at| tail.get(at..at + 3).unwrap_or_default());
    Some(head).filter(|head| !head.is_empty()).into_iter().chain(groups).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn digits_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
