//! Writes the JSON of a store and of its snapshots.

use serde_json::{Map, Value, json};

use super::{DataFile, Files, NamedGraph, Snapshot};
use crate::store::Store;

/// Maximum size of all filters of a snapshot together, in bytes: every snapshot repeats them.
pub(crate) const MOST_FILTERS: usize = 2 << 20;

impl Snapshot {
    /// The text of the file.
    pub(crate) fn to_json(&self) -> String {
        let graphs = self.graphs.iter().map(|graph| (graph.name.clone(), graph.to_json()));
        json!({
            "id": self.id,
            "version": self.version,
            "timestamp": self.timestamp,
            "graphs": graphs.collect::<Map<_, _>>(),
        })
        .to_string()
    }

    /// Drops the largest filters until the total is at most 2 MiB; filters of ids are dropped first, because look-ups
    /// by id are the rarest.
    pub(crate) fn fit_filters(&mut self) {
        let mut sizes: Vec<(bool, usize)> = Vec::new();
        for file in self.graphs.iter().flat_map(|graph| graph.files()).map(|(_, file)| file) {
            sizes.push((true, file.id_bloom_filter.as_ref().map_or(0, String::len)));
            sizes.push((false, file.bloom_filter.len()));
        }
        let mut total: usize = sizes.iter().map(|(_, size)| size).sum();
        // Filters of this size or larger are dropped.
        let mut limits = [usize::MAX; 2];
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        for (of_ids, size) in sizes {
            let limit = &mut limits[usize::from(!of_ids)];
            if total <= MOST_FILTERS && size < *limit {
                break;
            }
            total = total.saturating_sub(size);
            *limit = size.min(*limit);
        }
        let [ids, keys] = limits;
        let graphs = self.graphs.iter_mut();
        let files = graphs.flat_map(|graph| {
            graph.subject_files.iter_mut().chain(&mut graph.object_files).chain(&mut graph.tombstones)
        });
        for file in files {
            if file.id_bloom_filter.as_ref().is_some_and(|filter| filter.len() >= ids) {
                file.id_bloom_filter = None;
            }
            if file.bloom_filter.len() >= keys {
                file.bloom_filter.clear();
            }
        }
    }
}

impl NamedGraph {
    fn to_json(&self) -> Value {
        let text = |(name, value): &(String, String)| (name.clone(), Value::from(value.as_str()));
        let partition = |(id, files): &(String, Files)| (id.clone(), files.to_json());
        let files = |files: &[DataFile]| files.iter().map(DataFile::to_json).collect::<Vec<_>>();
        let mut graph = Map::new();
        graph.insert("id".to_owned(), self.id.as_str().into());
        graph.insert("predicate_index".to_owned(), Value::Object(self.predicates.iter().map(text).collect()));
        graph.insert("partitions".to_owned(), Value::Object(self.partitions.iter().map(partition).collect()));
        graph.insert("so_data_files".to_owned(), files(&self.subject_files).into());
        graph.insert("os_data_files".to_owned(), files(&self.object_files).into());
        graph.insert("tombstone_files".to_owned(), files(&self.tombstones).into());
        graph.extend(self.extra.clone());
        Value::Object(graph)
    }
}

impl Files {
    /// The object of a partition.
    pub(crate) fn to_json(&self) -> Value {
        let mut partition = Map::new();
        partition.insert("files".to_owned(), self.ids.as_slice().into());
        partition.extend(self.extra.clone());
        Value::Object(partition)
    }
}

impl DataFile {
    /// The object of a file in a snapshot.
    pub(crate) fn to_json(&self) -> Value {
        let prefixes = self.prefix_map.iter().map(|(prefix, number)| (prefix.clone(), Value::from(*number)));
        let mut file = json!({
            "id": self.id,
            "predicate": self.predicate,
            "snapshot_version": self.snapshot_version,
            "is_inverse": self.is_inverse,
            "path": self.path,
            "size": self.size,
            "triple_count": self.triple_count,
            "max_value": self.max_value,
            "min_value": self.min_value,
            "bloom_filter": self.bloom_filter,
            "graph": self.graph,
            "original_graph": self.original_graph,
            "prefix_map": prefixes.collect::<Map<_, _>>(),
            "prefixes": self.prefixes,
        });
        if let Value::Object(file) = &mut file {
            let mut extra = |name: &str, value: Option<Value>| {
                file.extend(value.map(|value| (name.to_owned(), value)));
            };
            extra("id_bloom_filter", self.id_bloom_filter.as_deref().map(Value::from));
            extra("checksum", self.checksum.as_deref().map(Value::from));
            extra("sort_order", self.sort_order.as_deref().map(Value::from));
            extra("literal_count", self.literal_count.map(Value::from));
            file.extend(self.extra.clone());
        }
        file
    }
}

impl Store {
    /// The text of the file.
    pub(crate) fn to_json(&self) -> String {
        let entry = |entry: &crate::SnapshotEntry| json!({ "id": entry.id, "version": entry.version, "timestamp": entry.timestamp });
        let mut store = Map::new();
        store.insert("format_version".to_owned(), self.format_version.as_str().into());
        store.insert("location".to_owned(), self.location.as_str().into());
        store.insert("snapshots".to_owned(), self.snapshots.iter().map(entry).collect::<Vec<_>>().into());
        store.extend(self.extra.clone());
        Value::Object(store).to_string()
    }
}
