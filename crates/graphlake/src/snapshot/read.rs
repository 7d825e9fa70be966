//! Reads the JSON of a snapshot, and checks it against the schema of the specification.

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_storage::{Budget, Root};
use serde_json::{Map, Value};

use super::{DataFile, Files, NamedGraph, Snapshot, file_of};
use crate::json::{self, Object};
use crate::rules;
use crate::store::SnapshotEntry;

impl Snapshot {
    /// Reads the snapshot `id`.
    pub(crate) fn read(root: &Root, id: &str, budget: &Budget, findings: &mut Findings) -> Result<Snapshot> {
        let members = json::read(&super::open(root, id)?, budget)?;
        Snapshot::of(members, &file_of(id), findings)
    }

    /// Reads the snapshot of an entry of `store.json`.
    ///
    /// # Errors
    /// As [`Snapshot::read`]; [`rules::STORE_ENTRY`] if it is not the one that the entry describes.
    pub(crate) fn listed(root: &Root, entry: &SnapshotEntry, budget: &Budget) -> Result<Snapshot> {
        // Other findings are reported when triples are read, and by validation.
        let snapshot = Snapshot::read(root, &entry.id, budget, &mut Findings::keeping(0))?;
        snapshot.is_listed_as(entry)?;
        Ok(snapshot)
    }

    fn is_listed_as(&self, entry: &SnapshotEntry) -> Result<()> {
        match crate::validate::metadata::differs(entry, (&self.id, self.version, self.timestamp)) {
            None => Ok(()),
            Some(message) => Err(Error::broken(&rules::STORE_ENTRY, message).at(Place::file(file_of(&entry.id)))),
        }
    }

    pub(crate) fn of(members: Map<String, Value>, file: &str, findings: &mut Findings) -> Result<Snapshot> {
        let mut object = Object::new(members, file, findings);
        let id = object.text("id")?;
        let version = object.integer_or_text("version")?;
        let timestamp = object.integer_or_text("timestamp")?;
        let mut graphs = Vec::new();
        for (name, value) in object.object("graphs")? {
            let graph = graph(object.inner(&format!("graphs[{name}]"), value)?, name)?;
            graphs.push(graph);
        }
        let unknown: Vec<String> = object.members().cloned().collect();
        for name in unknown {
            object.note(&rules::SCHEMA, format!("{name} is not in the schema"), &name);
        }
        Ok(Snapshot { id, version, timestamp, graphs })
    }
}

fn graph(mut object: Object<'_>, name: String) -> Result<NamedGraph> {
    let mut graph = NamedGraph { name, id: object.text("id")?, ..NamedGraph::default() };
    for (predicate, partition) in object.object("predicate_index")? {
        let partition = object.as_text("predicate_index", partition)?;
        graph.predicates.push((predicate, partition));
    }
    for (id, partition) in object.object_if("partitions")? {
        let mut partition = object.inner(&format!("partitions[{id}]"), partition)?;
        let ids = partition.texts("files")?;
        graph.partitions.push((id, Files { ids, extra: partition.rest() }));
    }
    graph.subject_files = files(&mut object, "so_data_files")?;
    graph.object_files = files(&mut object, "os_data_files")?;
    graph.tombstones = files(&mut object, "tombstone_files")?;
    graph.extra = object.rest();
    Ok(graph)
}

fn files(object: &mut Object<'_>, list: &str) -> Result<Vec<DataFile>> {
    let items = object.array_if(list)?.into_iter().enumerate();
    items.map(|(at, item)| data_file(object.inner(&format!("{list}[{at}]"), item)?)).collect()
}

impl DataFile {
    /// Reads the metadata of one file, in a snapshot called `file`.
    pub(crate) fn of(members: Map<String, Value>, file: &str, findings: &mut Findings) -> Result<DataFile> {
        data_file(Object::new(members, file, findings))
    }
}

fn data_file(mut object: Object<'_>) -> Result<DataFile> {
    let mut file = DataFile {
        id: object.text("id")?,
        predicate: object.text("predicate")?,
        snapshot_version: object.integer("snapshot_version")?,
        is_inverse: object.truth("is_inverse")?,
        path: object.text("path")?,
        size: object.count("size")?,
        triple_count: object.count("triple_count")?,
        max_value: object.text("max_value")?,
        min_value: object.text("min_value")?,
        bloom_filter: object.text("bloom_filter")?,
        graph: object.text("graph")?,
        original_graph: object.text("original_graph")?,
        prefix_map: Vec::new(),
        prefixes: object.texts("prefixes")?,
        id_bloom_filter: object.text_if("id_bloom_filter"),
        checksum: object.text_if("checksum"),
        sort_order: object.text_if("sort_order"),
        literal_count: object.count_if("literal_count"),
        extra: Map::new(),
    };
    for (prefix, number) in object.object("prefix_map")? {
        let id = number.as_i64().and_then(|number| i32::try_from(number).ok()).filter(|number| *number > 0);
        let id = id.ok_or_else(|| object.wrong("prefix_map", "a number of a prefix, from 1 on", &number))?;
        file.prefix_map.push((prefix, id));
    }
    let mut ids: Vec<i32> = file.prefix_map.iter().map(|(_, id)| *id).collect();
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        let message = format!("two prefixes have the number {}", pair[0]);
        return Err(Error::broken(&rules::SCHEMA, message).at(object.place("prefix_map")));
    }
    file.extra = object.rest();
    Ok(file)
}
