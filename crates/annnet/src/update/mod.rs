//! Changing a graph where it lies: more vertices and edges, other attributes, a slice, an entry of the history, without
//! writing the rest again.

mod columns;
mod delta;
mod edges;
mod ends;
mod grow;
mod input;
mod manifest;
mod memberships;
mod slices;
mod tables;
mod target;
mod vertices;

use std::time::SystemTime;

use arrow_array::RecordBatch;
use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::{Blob, Fingerprint, Location, Root, limits};
use isomorph_tables::Compression;

use crate::OpenOptions;
use crate::layout::{Layout, column, file, word};
use crate::members::{DOCUMENT_BYTES, Members};
use crate::read::{Annnet, Class, json};
use crate::table::Table;
use crate::write::documents::created;
use crate::write::{Start, WriteOptions};
pub use columns::{Rows, columns};
use edges::NewEdges;
use ends::Ends;
use grow::Tables;
use input::Input;
use memberships::Listed;
use target::Target;
use vertices::Vertices;

/// Views of the graph that are made from it and may be missing.
const CACHES: &str = "cache";

/// What is to be changed of a graph. The columns of the tables are those of the crate's page, section *Changing a graph*;
/// columns that it does not name are attributes.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// New vertices.
    pub vertices: Vec<RecordBatch>,
    /// New edges, of every kind.
    pub edges: Vec<RecordBatch>,
    /// One attribute table that takes the place of the one that is there. Not together with vertices or edges.
    pub table: Option<(AttributeTable, Vec<RecordBatch>)>,
    /// One slice, new or with other members. Not together with vertices or edges, which name their slices themselves.
    pub slice: Option<(String, Vec<RecordBatch>)>,
    /// An entry of the history: a JSON object.
    pub history: Option<String>,
}

/// An attribute table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeTable {
    /// Of vertices, by `node_id`.
    Nodes,
    /// Of edges, by `edge_id`.
    Edges,
    /// Of slices, by `slice_id`.
    Slices,
    /// Of edges in slices, by `slice_id` and `edge_id`.
    EdgeSlices,
    /// Of layers: `layer` and `attributes`, a JSON object.
    Layers,
}

/// How a graph is changed.
#[derive(Debug, Clone, Default)]
pub struct UpdateOptions {
    /// Memory, and the place of temporary files.
    pub open: OpenOptions,
    /// Compression of new files; that which the manifest names if nothing is given.
    pub compression: Option<Compression>,
    /// The time of an entry of the history; the clock's if nothing is given.
    pub created: Option<SystemTime>,
}

/// What was changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Updated {
    /// Number of new vertices.
    pub vertices: u64,
    /// Number of new edges, hyperedges and placeholders.
    pub edges: u64,
    /// The counter of changes after it.
    pub graph_version: i64,
    /// Number of files that were written.
    pub files: u64,
    /// Their size, bytes. What was not written again is not counted.
    pub bytes: u64,
    /// Size of the graph before, bytes.
    pub graph_bytes: u64,
    /// Derived files that would not fit any more and are gone: the incidence matrix, caches.
    pub removed: Vec<String>,
    /// Whether everything was written again, as with an archive.
    pub whole: bool,
}

/// Changes the graph at `location`. Files change together: after a crash all of them or none, as soon as anybody opens
/// the place with this crate.
///
/// # Errors
/// What is given is checked before a byte is written: ids that are there already, ends, slices and layers that are none.
/// [`Kind::Unsupported`] for older layouts, which are not changed but converted; [`Kind::Conflict`] when the graph changed
/// meanwhile; those of writing.
pub fn update(location: &Location, changes: &Changes, options: &UpdateOptions) -> Result<Updated> {
    let before = State::of(location)?;
    let annnet = Annnet::open(location, &options.open)?;
    if annnet.layout() != Layout::V2 {
        let message = format!("graphs in the layout {} are not changed in place", annnet.layout().name());
        return Err(Error::unsupported(message)
            .at(location.to_string())
            .hint("isomorph convert PATH NEW    into the layout of annnet 0.4.1, which can be"));
    }
    let grows = !changes.vertices.is_empty() || !changes.edges.is_empty();
    if grows && (changes.table.is_some() || changes.slice.is_some()) {
        return Err(Error::usage("first add vertices and edges, then replace a table or a slice: in two steps"));
    }
    let text = annnet.members.text(file::MANIFEST, limits::MANIFEST_BYTES)?.unwrap_or_default();
    let version = manifest::next_version(annnet.manifest.graph_version.as_deref())?;
    let writing = WriteOptions {
        compression: options.compression.unwrap_or_else(|| stated_compression(&annnet)),
        created: options.created,
        budget: options.open.budget.clone(),
        scratch: options.open.scratch.clone(),
        ..WriteOptions::default()
    };
    let sizes = annnet.members.list()?;
    let graph_bytes = sizes.iter().filter(|(name, _)| !name.starts_with("_isomorph/")).map(|(_, size)| size).sum();
    let mut updated = Updated { graph_version: version, graph_bytes, ..Updated::default() };
    let mut totals = Totals::of(&annnet);
    let mut target = Target::begin(location, &annnet.members, &writing)?;
    let mut tables = Tables { members: &annnet.members, target: &mut target, compression: writing.compression };
    if grows {
        add(&annnet, changes, &writing, &mut tables, (&mut updated, &mut totals))?;
    }
    let mut slices = annnet.slices.names.clone();
    if let Some((table, batches)) = &changes.table {
        let input = Input::of("the table", batches)?.ok_or_else(|| Error::usage("the table has no columns"))?;
        tables::replace(&annnet, *table, &input, &mut tables)?;
    }
    if let Some((name, batches)) = &changes.slice {
        slices::put(&annnet, name, Input::of("the slice", batches)?.as_ref(), default_of(&annnet), &mut tables)?;
        if annnet.slices.find(name).is_none() {
            slices.push(name.clone());
        }
    }
    if let Some(entry) = &changes.history {
        let entry = manifest::entry(entry, version, &created(&writing)?.replace("+00:00", "Z"))?;
        tables.grow(file::HISTORY, &entry)?;
    }
    if grows {
        updated.removed = stale(&annnet, &sizes)?;
    }
    for path in &updated.removed {
        target.remove(path)?;
    }
    let mut stated = totals.stated(annnet.layers.aspects.len(), &slices);
    stated.push(("graph_version", version.to_string()));
    if updated.removed.iter().any(|path| path == file::INCIDENCE) {
        stated.push(("incidence_stored", "false".to_owned()));
    }
    target.put(file::MANIFEST, &manifest::with(&text, &stated)?)?;
    updated.whole = target.is_archive();
    if State::of(location)? != before {
        return Err(Error::new(Kind::Conflict, "somebody changed the graph meanwhile")
            .at(location.to_string())
            .hint("run again"));
    }
    let wrote = target.commit(&annnet.members, &annnet.words)?;
    (updated.files, updated.bytes) = (wrote.files, wrote.bytes);
    Ok(updated)
}

/// Adds vertices and edges.
fn add(
    annnet: &Annnet,
    changes: &Changes,
    writing: &WriteOptions,
    tables: &mut Tables<'_>,
    (updated, totals): (&mut Updated, &mut Totals),
) -> Result<()> {
    let mut ends = Ends::of(annnet);
    let mut listed = Listed::new(&annnet.slices, default_of(annnet));
    let of_vertices = Input::of("the vertices", &changes.vertices)?;
    let of_edges = Input::of("the edges", &changes.edges)?;
    let mut vertices = match &of_vertices {
        Some(input) => Vertices::take(input, &mut ends, &mut listed)?,
        None => Vertices::default(),
    };
    let (mut edges, mut column) = (NewEdges::default(), 0);
    if let Some(input) = &of_edges {
        NewEdges::announce(input, &mut ends)?;
        edges = NewEdges::take(input, &mut ends, &mut listed, annnet.manifest.is_directed())?;
        column = edges.next_column(&annnet.edges.table, input)?;
    }
    (updated.vertices, updated.edges) = (vertices.len() as u64, edges.len() as u64);
    let start = Start { idx: next_idx(annnet)?, column, layers: dictionary(&annnet.members)? };
    let apart = delta::write(&mut vertices, &mut edges, listed, &ends, (start, default_of(annnet)), writing)?;
    // The slices are those that are there.
    for (name, rows) in apart.files.iter().filter(|(name, _)| name != file::REGISTRY) {
        let rows = Table::open(name, vec![rows.blob()?])?;
        let (cells, _held) = rows.read(&[], &writing.budget)?;
        tables.grow(name, &cells.batch)?;
    }
    if let Some(layers) = &apart.layers {
        tables.target.put(file::LAYER_DICT, layers)?;
    }
    totals.entities += apart.counts.entities;
    totals.nodes += apart.counts.nodes;
    totals.edges += apart.counts.edges;
    totals.hyperedges += apart.counts.hyperedges;
    Ok(())
}

/// The counts of the manifest: of placements in a graph with layers, of edges without placeholders.
struct Totals {
    entities: u64,
    nodes: u64,
    edges: u64,
    hyperedges: u64,
}

impl Totals {
    fn of(annnet: &Annnet) -> Self {
        let entities = &annnet.entities;
        let is_node = |node: u32| !entities.is_edge.get(node as usize).copied().unwrap_or_default();
        let (all, nodes) = match annnet.layers.is_flat() {
            true => (entities.len(), entities.is_edge.iter().filter(|is_edge| !**is_edge).count()),
            false => {
                let placed = entities.placements.iter().filter(|placement| is_node(placement.node)).count();
                (entities.placements.len(), placed)
            }
        };
        let edges = annnet.edges.ids.count - annnet.edges.count(Class::Placeholder);
        let hyperedges = annnet.edges.count(Class::Hyperedge);
        Totals { entities: all as u64, nodes: nodes as u64, edges, hyperedges }
    }

    /// What the manifest says of them.
    fn stated(&self, aspects: usize, slices: &[String]) -> Vec<(&'static str, String)> {
        let counts = [
            ("nodes", self.nodes),
            ("edges", self.edges),
            ("entities", self.entities),
            ("slices", slices.len() as u64),
            ("hyperedges", self.hyperedges),
            ("aspects", aspects as u64),
        ];
        let counts: Vec<String> = counts.iter().map(|(name, count)| format!("    \"{name}\": {count}")).collect();
        vec![
            ("matrix_shape", format!("[{}, {}]", self.entities, self.edges)),
            ("counts", format!("{{\n{}\n  }}", counts.join(",\n"))),
            ("slices", crate::write::layers::list(slices)),
        ]
    }
}

/// What tells that a graph is still the one that was read.
#[derive(PartialEq)]
enum State {
    Manifest(Bytes),
    Archive(Fingerprint),
}

impl State {
    fn of(location: &Location) -> Result<State> {
        match Root::open(location) {
            Ok(root) => Ok(State::Manifest(root.read(file::MANIFEST, limits::MANIFEST_BYTES)?)),
            Err(_) => Ok(State::Archive(Blob::open(location)?.fingerprint()?)),
        }
    }
}

fn default_of(annnet: &Annnet) -> &str {
    annnet.manifest.default_slice.as_deref().unwrap_or(word::DEFAULT)
}

/// The compression that the manifest names.
fn stated_compression(annnet: &Annnet) -> Compression {
    match annnet.manifest.compression.as_deref() {
        Some("none") => Compression::None,
        Some("snappy") => Compression::Snappy,
        Some("lz4") => Compression::Lz4,
        _ => Compression::Zstd(1),
    }
}

/// The position behind those of all entities.
fn next_idx(annnet: &Annnet) -> Result<u64> {
    let index = Table::must(&annnet.members, file::ENTITY_INDEX)?;
    let mut next = 0;
    for cells in index.batches(&[column::IDX], 0..index.rows(), 1 << 15)? {
        let last = cells?.integers(column::IDX)?.iter().flatten().max();
        next = next.max(last.and_then(|last| u64::try_from(last).ok()).map_or(0, |last| last.saturating_add(1)));
    }
    Ok(next)
}

/// The layers that numbers stand for, as the file has them.
fn dictionary(members: &Members) -> Result<Vec<Vec<String>>> {
    let mut layers = Vec::new();
    let Some(text) = members.text(file::LAYER_DICT, DOCUMENT_BYTES)? else { return Ok(layers) };
    json::members(&text, file::LAYER_DICT, |name, value| match name {
        "layers" => json::items(value, file::LAYER_DICT, |item| {
            layers.push(json::strings(item, file::LAYER_DICT)?);
            Ok(())
        }),
        _ => Ok(()),
    })?;
    Ok(layers)
}

/// Derived files that do not fit the new edges: they go, and whoever wants them makes them again.
fn stale(annnet: &Annnet, files: &[(String, u64)]) -> Result<Vec<String>> {
    let is_there =
        |path: &str| files.iter().any(|(name, _)| name.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')));
    let mut gone = Vec::new();
    if is_there(file::INCIDENCE) {
        if !annnet.members.has(file::COEFFICIENTS)? && !annnet.coefficients.is_empty() {
            let message = "explicit coefficients are kept in the incidence matrix alone, which would not fit new edges";
            return Err(Error::unsupported(message)
                .at(Place::file(file::INCIDENCE))
                .hint("isomorph convert PATH NEW    writes a table of them"));
        }
        gone.push(file::INCIDENCE.to_owned());
    }
    if is_there(CACHES) {
        gone.push(CACHES.to_owned());
    }
    Ok(gone)
}
