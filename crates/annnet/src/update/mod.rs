//! Changing a graph in place: adding vertices and edges, replacing attributes or a slice, and adding an entry to
//! the history, without rewriting the rest.

mod append;
mod columns;
mod delta;
mod derived;
mod edges;
mod ends;
mod input;
mod manifest;
mod memberships;
mod names;
mod slices;
mod sums;
mod tables;
mod target;
mod totals;
mod vertices;

use std::time::SystemTime;

use arrow_array::RecordBatch;
use bytes::Bytes;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Source, well_known};
use isomorph_storage::{Blob, Fingerprint, Location, Root, limits};
use isomorph_tables::Compression;

use crate::OpenOptions;
use crate::layout::{Layout, column, file, word};
use crate::members::{DOCUMENT_BYTES, Members, PART_SUFFIX};
use crate::read::{Annnet, json};
use crate::table::Table;
use crate::write::documents::created;
use crate::write::layers::LayerIds;
use crate::write::{Start, WriteLayout, WriteOptions};
use append::Tables;
pub use columns::{Rows, columns};
use edges::NewEdges;
use ends::Ends;
use input::Input;
use memberships::Listed;
pub(crate) use target::Target;
use totals::Totals;
use vertices::Vertices;

/// The changes to make. The columns of the tables are described in the section *Changing a graph* of the crate's
/// README; other columns are attributes.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// New vertices.
    pub vertices: Vec<RecordBatch>,
    /// New edges of any kind.
    pub edges: Vec<RecordBatch>,
    /// An attribute table that replaces the existing one. Cannot be combined with vertices or edges.
    pub table: Option<(AttributeTable, Vec<RecordBatch>)>,
    /// A slice, new or with other members. Cannot be combined with vertices or edges, which name their slices
    /// themselves.
    pub slice: Option<(String, Vec<RecordBatch>)>,
    /// An entry of the history: a JSON object.
    pub history: Option<String>,
}

/// An attribute table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeTable {
    /// Attributes of vertices, by `node_id`.
    Nodes,
    /// Attributes of edges, by `edge_id`.
    Edges,
    /// Attributes of slices, by `slice_id`.
    Slices,
    /// Attributes of edges in slices, by `slice_id` and `edge_id`.
    EdgeSlices,
    /// Attributes of layers: `layer` and `attributes`, a JSON object.
    Layers,
}

/// Options for changing a graph.
#[derive(Debug, Clone, Default)]
pub struct UpdateOptions {
    /// Memory, and the location of temporary files.
    pub open: OpenOptions,
    /// Compression of new files. Default: the one that the manifest names.
    pub compression: Option<Compression>,
    /// Time of an entry of the history. Default: the current time.
    pub created: Option<SystemTime>,
}

/// The changes that were made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Updated {
    /// Number of new vertices.
    pub vertices: u64,
    /// Number of new edges, hyperedges and placeholders.
    pub edges: u64,
    /// The counter of changes after the change.
    pub graph_version: i64,
    /// Number of files that were written.
    pub files: u64,
    /// Their size in bytes. Files that were not rewritten are not counted.
    pub bytes: u64,
    /// Size of the graph before the change, in bytes.
    pub graph_bytes: u64,
    /// Derived files that were removed because they no longer match: views for look-ups, an incidence matrix that
    /// cannot be extended.
    pub removed: Vec<String>,
    /// Whether everything was rewritten, as for an archive.
    pub whole: bool,
}

/// Changes the graph at `location`. Its files change together: after a crash, all of them or none have changed, as soon
/// as the location is opened with this crate.
///
/// # Errors
/// The input is checked before anything is written: existing ids and unknown ends, slices and layers are errors.
/// Returns [`Kind::Unsupported`] for layouts of older versions, which must be converted first, [`Kind::Conflict`] if
/// the graph changed meanwhile, and the errors of writing.
pub fn update(location: &Location, changes: &Changes, options: &UpdateOptions) -> Result<Updated> {
    Update::begin(location, options)?.make(changes)
}

/// A graph opened for a change.
pub struct Update {
    location: Location,
    options: UpdateOptions,
    before: State,
    annnet: Annnet,
}

impl Update {
    /// Opens the graph at `location`.
    ///
    /// # Errors
    /// Returns the errors of [`Annnet::open`].
    pub fn begin(location: &Location, options: &UpdateOptions) -> Result<Self> {
        // Before anything is read, so that changes by others from now on are noticed.
        let before = State::of(location)?;
        let annnet = Annnet::open(location, &options.open)?;
        Ok(Update { location: location.clone(), options: options.clone(), before, annnet })
    }

    /// Returns the graph before the change.
    pub fn annnet(&self) -> &Annnet {
        &self.annnet
    }

    /// Makes the changes.
    ///
    /// # Errors
    /// Returns the errors of [`update`].
    pub fn make(self, changes: &Changes) -> Result<Updated> {
        make(&self.location, self.annnet, &self.before, changes, &self.options)
    }
}

fn make(
    location: &Location,
    annnet: Annnet,
    before: &State,
    changes: &Changes,
    options: &UpdateOptions,
) -> Result<Updated> {
    let layout = written_layout(&annnet).ok_or_else(|| {
        Error::unsupported(format!("graphs with layout {} cannot be changed in place", annnet.layout().name()))
            .at(location.to_string())
            .hint("isomorph convert PATH NEW    converts it to the layout of annnet 0.4.1, which can be changed")
    })?;
    let grows = !changes.vertices.is_empty() || !changes.edges.is_empty();
    if grows && (changes.table.is_some() || changes.slice.is_some()) {
        return Err(Error::usage(
            "adding vertices or edges cannot be combined with replacing a table or a slice: do it in two steps",
        ));
    }
    let text = annnet.members.text(file::MANIFEST, limits::MANIFEST_BYTES)?.unwrap_or_default();
    let version = manifest::next_version(annnet.manifest.graph_version.as_deref())?;
    let writing = WriteOptions {
        layout,
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
    let mut target = Target::begin(location, &annnet.members, annnet.manifest.checksum.as_deref(), &writing)?;
    let mut tables = Tables { members: &annnet.members, target: &mut target, compression: writing.compression };
    let goes_on = match grows {
        true => add(&annnet, changes, &writing, &mut tables, (&mut updated, &mut totals))?,
        false => true,
    };
    updated.removed = derived::stale(&annnet, &sizes, goes_on)?;
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
    for path in &updated.removed {
        target.remove(path)?;
    }
    let mut stated = totals.stated(annnet.layers.aspects.len(), &slices);
    stated.push(("graph_version", version.to_string()));
    if updated.removed.iter().any(|path| path == file::INCIDENCE) {
        stated.push(("incidence_stored", "false".to_owned()));
    }
    if let Some(checksum) = target.put_checksums()? {
        stated.push(("checksum", crate::write::json::string(&checksum)));
    }
    target.put(file::MANIFEST, &manifest::with(&text, &stated)?)?;
    updated.whole = target.is_archive();
    if let State::Manifest(_, fingerprint) = before {
        target.expect(file::MANIFEST, fingerprint)?;
    }
    // Nobody else can change the graph between this check and the change.
    let _turn = location.turn()?;
    if State::of(location)? != *before {
        return Err(Error::new(Kind::Conflict, "the graph was changed by another process meanwhile")
            .at(location.to_string())
            .hint("run the command again"));
    }
    let wrote = target.commit(&annnet.members, &annnet.words)?;
    (updated.files, updated.bytes) = (wrote.files, wrote.bytes);
    Ok(updated)
}

/// Returns the layout of new files; `None` if none are added.
fn written_layout(annnet: &Annnet) -> Option<WriteLayout> {
    match annnet.layout() {
        Layout::V2 => Some(WriteLayout::V2),
        Layout::V1 if annnet.manifest.is_specified() => Some(WriteLayout::Specification),
        _ => None,
    }
}

/// Adds vertices and edges. Returns whether the matrix was extended.
fn add(
    annnet: &Annnet,
    changes: &Changes,
    writing: &WriteOptions,
    tables: &mut Tables<'_>,
    (updated, totals): (&mut Updated, &mut Totals),
) -> Result<bool> {
    let mut ends = Ends::of(annnet);
    let mut listed = Listed::new(&annnet.slices, default_of(annnet));
    let of_vertices = Input::of("the vertices", &changes.vertices)?;
    let of_edges = Input::of("the edges", &changes.edges)?;
    if let Some(input) = of_vertices.as_ref().filter(|input| input.says(well_known::ENTITY)) {
        return Err(names::reserved(annnet, input, well_known::ENTITY, "entity marks vertices that are edges"));
    }
    let mut vertices = match &of_vertices {
        Some(input) => Vertices::take(input, &mut ends, &mut listed)?,
        None => Vertices::default(),
    };
    let mut edges = NewEdges::default();
    if let Some(input) = &of_edges {
        NewEdges::announce(input, &mut ends)?;
        edges = NewEdges::take(input, &mut ends, &mut listed, annnet.manifest.is_directed())?;
    }
    let column = edges.next_column(&annnet.edges.table, of_edges.as_ref())?;
    (updated.vertices, updated.edges) = (vertices.len() as u64, edges.len() as u64);
    let known = dictionary(&annnet.members)?;
    let in_file = known.len();
    let mut layers = LayerIds::of(known);
    let matrix = derived::resume(annnet, column, &mut layers, writing)?;
    let goes_on = matrix.is_some();
    let writing = &WriteOptions { matrix: goes_on, ..writing.clone() };
    let start = Start { idx: next_idx(annnet)?, column, layers: (layers, in_file), matrix };
    let apart =
        delta::write(&mut vertices, &mut edges, listed, &ends, (start, default_of(annnet), annnet.graph()), writing)?;
    // Slices themselves do not change.
    for (name, rows) in apart.files.iter().filter(|(name, _)| name != file::REGISTRY) {
        if !name.ends_with(PART_SUFFIX) {
            tables.target.copy(name, &rows.blob()?)?;
            continue;
        }
        let rows = Table::open(name, vec![rows.blob()?])?;
        if name == file::COEFFICIENTS && rows.rows() > 0 && derived::is_only_in_matrix(annnet)? {
            return Err(derived::only_in_matrix());
        }
        let (cells, _held) = rows.read(&[], &writing.budget)?;
        tables.grow(name, &cells.batch)?;
    }
    // In the other layout, layers have no numbers.
    if let Some(dictionary) = apart.layers.filter(|_| writing.layout == WriteLayout::V2) {
        tables.target.put(file::LAYER_DICT, &dictionary)?;
    }
    totals.add(&apart.counts);
    Ok(goes_on)
}

/// Identifies the state of a graph, to notice changes.
#[derive(PartialEq)]
enum State {
    Manifest(Bytes, Fingerprint),
    Archive(Fingerprint),
}

impl State {
    fn of(location: &Location) -> Result<State> {
        match Root::open(location) {
            Ok(root) => {
                let manifest = root.file(file::MANIFEST)?;
                Ok(State::Manifest(manifest.read_all(limits::MANIFEST_BYTES)?, manifest.opened_as().clone()))
            }
            // A file, or nothing, in which case this reports it.
            Err(_) => Ok(State::Archive(Blob::open(location)?.fingerprint()?)),
        }
    }
}

fn default_of(annnet: &Annnet) -> &str {
    annnet.manifest.default_slice.as_deref().unwrap_or(word::DEFAULT)
}

/// Returns the compression that the manifest names.
fn stated_compression(annnet: &Annnet) -> Compression {
    match annnet.manifest.compression.as_deref() {
        Some("none") => Compression::None,
        Some("snappy") => Compression::Snappy,
        Some("lz4") => Compression::Lz4,
        _ => Compression::Zstd(1),
    }
}

/// Returns the position after those of all entities.
fn next_idx(annnet: &Annnet) -> Result<u64> {
    let index = Table::must(&annnet.members, file::ENTITY_INDEX)?;
    let mut next = 0;
    for cells in index.batches(&[column::IDX], 0..index.rows(), 1 << 15)? {
        let last = cells?.integers(column::IDX)?.iter().flatten().max();
        next = next.max(last.and_then(|last| u64::try_from(last).ok()).map_or(0, |last| last.saturating_add(1)));
    }
    Ok(next)
}

/// Reads the layers by number from the file.
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
