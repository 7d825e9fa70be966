//! Opening a graph.

use std::sync::OnceLock;

use isomorph_error::{Findings, Place, Result};
use isomorph_model::Graph;
use isomorph_storage::{Location, Reservation, Scratch};

use super::attributes::EdgeAttributes;
use super::coefficients::Coefficients;
use super::documents;
use super::edge_index::EdgeIndex;
use super::edges::{Class, Edges, Known};
use super::entities::Entities;
use super::graph::{Parts, describe};
use super::groups::LayerGroups;
use super::hyperedges::Hyperedges;
use super::layers::{LayerColumns, Layers};
use super::manifest::Manifest;
use super::nodes::NodeTable;
use super::recover::{RowsOf, recover};
use super::slices::Slices;
use crate::cache::Cache;
use crate::layout::{Layout, Words, file, not_annnet, word};
use crate::matrix::Matrix;
use crate::members::Members;
use crate::table::Table;
use crate::{OpenOptions, cache, checksum, order, preserved, provenance, rules, v1};

/// An opened annnet graph.
///
/// ```no_run
/// use isomorph_annnet::{Annnet, OpenOptions};
/// use isomorph_model::Source;
/// use isomorph_storage::Location;
///
/// let annnet = Annnet::open(&Location::parse("graph.annnet")?, &OpenOptions::default())?;
/// println!("{:?} nodes", annnet.graph().node_rows());
/// # Ok::<(), isomorph_error::Error>(())
/// ```
pub struct Annnet {
    pub(crate) layout: Layout,
    pub(crate) words: Words,
    pub(crate) members: Members,
    pub(crate) options: OpenOptions,
    pub(crate) manifest: Manifest,
    pub(crate) layers: Layers,
    pub(crate) layer_columns: LayerColumns,
    pub(crate) entities: Entities,
    pub(crate) nodes: NodeTable,
    pub(crate) hyperedges: Hyperedges,
    pub(crate) coefficients: Coefficients,
    pub(crate) edges: Edges,
    pub(crate) edge_attributes: EdgeAttributes,
    /// The hyperedge types of the graph.
    pub(crate) others: Vec<Class>,
    pub(crate) slices: Slices,
    pub(crate) layer_groups: LayerGroups,
    pub(crate) graph: Graph,
    /// Findings made while opening.
    pub(crate) noticed: Findings,
    /// Files that belong to no layout and are too large for the metadata of the graph.
    left: Vec<String>,
    /// Views for look-ups, opened at the first look-up; `None` if there are none that match the graph.
    cache: OnceLock<Option<Cache>>,
    pub(crate) edge_index: EdgeIndex,
    _held: Vec<Reservation>,
}

impl Annnet {
    /// Opens a directory or an archive, which is unpacked. Reads everything except edges, their attributes and
    /// memberships; of the edges, it reads kinds and ends.
    ///
    /// # Errors
    /// Returns an error if nothing exists there, it is not an annnet graph, a file is malformed, or the data that must
    /// be held exceeds the budget.
    pub fn open(location: &Location, options: &OpenOptions) -> Result<Annnet> {
        let members = Members::open(location, options)?;
        let layout = Layout::of(&members)?.ok_or_else(|| not_annnet(&location.to_string()))?;
        // Remote files are read in ranges; comparing their bytes would fetch them completely.
        let verify = options.verify && (location.is_local() || members.archive().is_some());
        Annnet::of(members, layout, &OpenOptions { verify, ..options.clone() })
    }

    /// Opens a graph from files with a known layout.
    ///
    /// # Errors
    /// Returns the errors of [`Annnet::open`].
    pub(crate) fn of(mut members: Members, layout: Layout, options: &OpenOptions) -> Result<Annnet> {
        let budget = &options.budget;
        let words = layout.words();
        let mut noticed = Findings::keeping(8);
        let manifest = Manifest::read(&members, &mut noticed)?;
        if options.verify {
            checksum::verify(&members, manifest.checksum.as_deref(), &mut noticed)?;
        }
        let translated = match layout {
            Layout::V1 => Some(v1::translate(&mut members, &words, budget, &mut noticed)?),
            _ => None,
        };
        let layers = Layers::read(&members, layout, &mut noticed)?;
        let index = Table::must(&members, file::ENTITY_INDEX)?;
        let presence = Table::find(&members, words.presence)?;
        let presence = presence.as_ref().map(|table| (table, words.node_id));
        let entities = Entities::read(&index, presence, &layers, budget, &mut noticed)?;
        let hyperedges = match Table::find(&members, file::HYPEREDGES)? {
            Some(table) => Hyperedges::read(&table, &entities, &layers, budget, &mut noticed)?,
            None => Hyperedges::default(),
        };
        let table = Table::must(&members, file::EDGES)?;
        let coefficients = match Table::find(&members, file::COEFFICIENTS)? {
            Some(table) => Coefficients::read(&table, &entities, (&layers, layout), budget, &mut noticed)?,
            None => {
                let coefficients = &Coefficients::default();
                let known = Known { entities: &entities, layers: &layers, hyperedges: &hyperedges, coefficients };
                let rows = if layout == Layout::V1 { RowsOf::Nodes } else { RowsOf::Placements };
                match Matrix::read(&members, budget)? {
                    Some(matrix) => recover(&matrix, rows, &table, known, manifest.is_directed(), budget)?,
                    None => Coefficients::default(),
                }
            }
        };
        let node_table = Table::find(&members, words.node_table)?;
        let nodes = NodeTable::open(node_table.as_ref(), words.node_id, &entities, budget, &mut noticed)?;
        let known =
            Known { entities: &entities, layers: &layers, hyperedges: &hyperedges, coefficients: &coefficients };
        let default = manifest.default_slice.clone().unwrap_or_else(|| word::DEFAULT.to_owned());
        let all_in_default = layout == Layout::V1 && !manifest.is_specified();
        let mut slices = Slices::read(&members, (layout, all_in_default), &default, budget, &mut noticed)?;
        let edge_table = Table::find(&members, words.edge_table)?;
        let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
        let beside = (edge_table.as_ref(), &slices);
        let mut edges = Edges::settle(table, known, beside, (budget, &scratch), &mut noticed)?;
        slices.settle(&default, &entities, &edges)?;
        let edge_attributes = EdgeAttributes::open(edge_table, edges.is_beside, budget, &mut noticed)?;
        let others: Vec<Class> = Class::OTHERS.into_iter().filter(|class| edges.count(*class) > 0).collect();
        let active = slices.active(manifest.active_slice.as_deref(), &default, &mut noticed);
        let layer_groups = LayerGroups::read(&members, &words, &layers, &entities, budget, &mut noticed)?;
        let found = documents::read(&members, &manifest, (&active, &default), budget, &mut noticed)?;
        for name in [
            words.edge_table,
            file::SLICE_ATTRIBUTES,
            file::EDGE_SLICE_ATTRIBUTES,
            file::REGISTRY,
            file::EDGE_MEMBERSHIPS,
        ] {
            if !members.has(name)? {
                // The specification allows sections of older layouts to be missing.
                let rule = if layout == Layout::V1 { &rules::SECTION } else { &rules::MEMBER };
                noticed.push(rule, "the file is missing", Place::file(name));
            }
        }
        let mut graph = describe(Parts {
            nodes: entities.len() as u64,
            node_properties: nodes.properties(),
            edges: &edges,
            edge_attributes: &edge_attributes.attributes,
            others: &others,
            is_layered: !layers.is_flat() || edges.has_coefficients,
            layers: &layers,
            elementary: &layer_groups.elementary,
            slices: &slices,
            documents: found.documents,
        });
        let (first, ends) = edges.positions(budget, &mut noticed)?;
        graph.metadata.extend(first.map(|first| (order::METADATA.to_owned(), first)));
        graph.metadata.extend(ends.map(|ends| (order::OTHERS.to_owned(), ends)));
        edges.inherited.note(&mut graph);
        // In older layouts, the ends take their layers from the edges.
        if layout != Layout::V1 {
            let stated = std::mem::take(&mut edges.stated);
            stated.note(&mut graph, &members, known, |take| edges.follows(known, take), &mut noticed)?;
        }
        if !found.conversions.is_empty() {
            graph.metadata.insert(provenance::METADATA.to_owned(), provenance::to_metadata(&found.conversions));
        }
        let renamed: Vec<(String, String)> =
            nodes.renamed().iter().chain(&edge_attributes.attributes.renamed).cloned().collect();
        preserved::note(&mut graph, &manifest.unknown, &renamed);
        let left = preserved::note_files(&mut graph, &members)?;
        Ok(Annnet {
            layout,
            words,
            members,
            options: options.clone(),
            manifest,
            layer_columns: layers.columns(),
            layers,
            entities,
            nodes,
            hyperedges,
            coefficients,
            edges,
            edge_attributes,
            others,
            slices,
            layer_groups,
            graph,
            noticed,
            left,
            cache: OnceLock::new(),
            edge_index: EdgeIndex::default(),
            _held: found.held.into_iter().chain(translated).collect(),
        })
    }

    /// Returns what ends of edges are compared with.
    pub(crate) fn known(&self) -> Known<'_> {
        Known {
            entities: &self.entities,
            layers: &self.layers,
            hyperedges: &self.hyperedges,
            coefficients: &self.coefficients,
        }
    }

    /// Returns whether ends of edges have layers or coefficients.
    pub(crate) fn is_layered(&self) -> bool {
        !self.layers.is_flat() || self.edges.has_coefficients
    }

    /// Returns the views for look-ups, if there are valid ones.
    ///
    /// # Errors
    /// Returns an error if they cannot be read, or exceed the budget.
    pub(crate) fn cache(&self) -> Result<Option<&Cache>> {
        if self.cache.get().is_none() {
            let version = self.manifest.graph_version.as_deref();
            let opened = Cache::open(&self.members, &self.words, version, &self.options.budget);
            let opened = cache::if_sound(opened)?.flatten();
            return Ok(self.cache.get_or_init(|| opened).as_ref());
        }
        Ok(self.cache.get().and_then(Option::as_ref))
    }

    /// Returns whether the graph has views for look-ups that match it.
    ///
    /// # Errors
    /// Returns an error if they cannot be read.
    pub fn has_views(&self) -> Result<bool> {
        Ok(self.cache()?.is_some())
    }

    /// Returns the names of files that belong to no layout and are kept in the metadata of the graph when it is
    /// converted to another format.
    pub fn files_that_travel(&self) -> Vec<String> {
        preserved::files(&self.graph).into_iter().map(|(name, _)| name).collect()
    }

    /// Returns the names of files that belong to no layout and are not kept, because together they exceed 1 MiB.
    pub fn files_left_out(&self) -> &[String] {
        &self.left
    }

    /// Returns the layout of the files.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the keys of the manifest that no version of annnet writes, with their JSON. A rewrite should keep them.
    pub fn unknown_keys(&self) -> &[(String, String)] {
        &self.manifest.unknown
    }
}
