//! A summary of a snapshot, without reading its triples.

use isomorph_model::About;

use super::GraphLake;

pub(super) fn about(lake: &GraphLake) -> About {
    let snapshot = &lake.snapshot;
    let mut files = std::collections::HashMap::new();
    let (mut records, mut deleted) = (0u64, 0u64);
    for graph in &snapshot.graphs {
        for (_, file) in graph.files() {
            // Copies of graphs share their files.
            files.insert(file.path.as_str(), file.size);
        }
        graph.once().for_each(|file| records = records.saturating_add(file.triple_count));
        let tombstones = graph.tombstones.iter().filter(|file| !file.is_inverse);
        tombstones.for_each(|file| deleted = deleted.saturating_add(file.triple_count));
    }
    let predicates: std::collections::HashSet<&str> =
        snapshot.graphs.iter().flat_map(super::super::snapshot::NamedGraph::all_predicates).collect();
    let count = |number: u64, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
    let mut layout = match lake.store.snapshots.len() {
        0 => "no snapshot".to_owned(),
        all => format!(
            "snapshot {} (version {}, {} of {all}) · {} · {} · {}",
            snapshot.id,
            snapshot.version,
            lake.store.snapshots.iter().filter(|entry| entry.version <= snapshot.version).count(),
            count(snapshot.graphs.len() as u64, "graph", "graphs"),
            count(predicates.len() as u64, "predicate", "predicates"),
            count(records, "record", "records"),
        ),
    };
    if deleted > 0 {
        layout.push_str(&format!(" · {deleted} in tombstones"));
    }
    About {
        format: "GraphLake".to_owned(),
        version: lake.store.format_version.clone(),
        files: files.len() as u64 + 1 + u64::from(!lake.store.snapshots.is_empty()),
        bytes: files.values().fold(0, |sum: u64, size| sum.saturating_add(*size)),
        layout,
        edge_layouts: vec!["by subject, by object".to_owned()],
        findings: lake.noticed.clone(),
    }
}
