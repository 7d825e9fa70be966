//! annnet as a sink of the model.

use arrow_array::ArrayRef;
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Delivery, Document, Graph, Sink, Written, batch::GroupBatch};
use isomorph_storage::{Blob, ScratchFile, Staging};

use super::columns::{ids, lost};
use super::documents::{self, Counts};
use super::edges::Edges;
use super::groups::Groups;
use super::hyperedges::{Beside, Hyperedges};
use super::layers::LayerIds;
use super::matrix::{Matrix, MatrixRows};
use super::nodes::Nodes;
use super::output::Output;
use super::shape::Shape;
use super::slices::Slices;
use super::{WriteLayout, WriteOptions};
use crate::explicit::Stating;
use crate::inherited::Inheriting;
use crate::layout::{file, word};
use crate::preserved;
use crate::{Annnet, OpenOptions, cache, order, provenance};

/// Writes a graph in the layout that annnet 0.4.1 reads (v2) or in that of the specification's text, as a directory or
/// as one file.
///
/// The graph must have the shape of the format, as [`crate::Annnet`] shows it. The writer requests nodes, then
/// everything except edges, then edges with keys as their ends ([`Delivery::EdgesWithKeys`]), which are written as they
/// arrive. Ids of nodes in layers, placements, and hyperedges with their members are held in memory. The caller
/// publishes what was staged; the manifest must come last.
pub struct AnnnetWriter<'a> {
    output: Output<'a>,
    options: WriteOptions,
    shape: Shape,
    documents: Vec<Document>,
    /// The stated order of edges.
    positions: order::Told,
    /// Earlier conversions of the graph.
    earlier: Option<String>,
    /// Kept keys of the manifest, with their JSON.
    unknown: Vec<(String, String)>,
    /// The provenance of the input, and files kept in its metadata.
    provenance: Option<String>,
    files: Vec<(String, Blob)>,
    /// Indexes of the properties of aspects and of layers.
    aspect: (Option<usize>, Option<usize>),
    layer: Option<usize>,
    layers: LayerIds,
    nodes: Nodes,
    edges: Edges,
    hyperedges: Hyperedges,
    slices: Slices,
    groups: Groups,
    /// Whether everything except edges with two ends is written.
    is_settled: bool,
    /// For a change: the first `idx` and `col_idx`, and the number of layers before it.
    start: (u64, u64, usize),
}

impl<'a> AnnnetWriter<'a> {
    /// Creates a sink that writes `graph` into `staging`: a directory, or with [`WriteOptions::archive`] a file.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::WouldLose`] for what annnet cannot represent, and an error if a file cannot be
    /// created or a column has a type that Parquet does not support.
    pub fn create(staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        Ok(Box::new(AnnnetWriter::begin(Output::new(staging, options)?, graph, options)?))
    }

    fn begin(output: Output<'a>, graph: &Graph, options: &WriteOptions) -> Result<Self> {
        let shape = Shape::of(graph)?;
        let property = |kind: Option<usize>, name: &str| {
            let kind = graph.groups.get(kind?)?;
            kind.properties.iter().position(|property| property.name == name)
        };
        let options = options.clone();
        // Provenance and manifest state the same time.
        let options =
            WriteOptions { created: options.created.or_else(|| Some(std::time::SystemTime::now())), ..options };
        let mut edges = Edges::new(&output, &shape, &options)?;
        edges.inherit(Inheriting::of(graph, documents::is_directed(&graph.documents)));
        let mut layers = LayerIds::new();
        edges.stating = Stating::of(graph, &mut layers);
        if let (WriteLayout::Specification, Some(edge)) = (options.layout, edges.stating.any()) {
            let what = "in the layout of the specification's text, layers and kinds of edges are those of their ends and entities";
            return Err(lost(format!("{what}, but edge {edge:?} has others"))
                .hint("--layout v2    writes the layout that has them"));
        }
        Ok(AnnnetWriter {
            aspect: (property(shape.aspect, word::ORDERED), property(shape.aspect, word::ATTRIBUTES)),
            layer: property(shape.layer, word::ATTRIBUTES),
            layers,
            nodes: Nodes::new(&output, &shape, &options)?,
            edges,
            hyperedges: Hyperedges::new(&options)?,
            slices: Slices::new(&output, &shape, &options)?,
            groups: Groups::default(),
            is_settled: false,
            start: (0, 0, 0),
            documents: graph.documents.clone(),
            positions: order::Told::of(graph),
            earlier: graph.metadata.get(provenance::METADATA).cloned(),
            unknown: preserved::keys(graph),
            provenance: preserved::provenance(graph),
            files: preserved::files(graph),
            output,
            options,
            shape,
        })
    }

    fn groups(&mut self, batch: &GroupBatch) -> Result<()> {
        let files = (&self.output, &self.options);
        let kind = Some(batch.kind);
        if kind == self.shape.slice {
            self.slices.write(batch, &self.shape)
        } else if kind == self.shape.aspect {
            self.groups.add_aspects(batch, self.aspect)
        } else if kind == self.shape.elementary {
            self.groups.add_elementary(batch, &self.shape, files)
        } else {
            self.groups.add_layers(batch, self.layer, &mut self.layers, files)
        }
    }

    /// Writes everything that must be known before the edges.
    fn settle(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_settled, true) {
            return Ok(());
        }
        self.nodes.settle(&self.layers, &mut self.output, &self.options)?;
        self.hyperedges.write(&mut Beside {
            shape: &self.shape,
            nodes: &self.nodes,
            edges: &mut self.edges,
            slices: &mut self.slices,
            layers: &mut self.layers,
            output: &mut self.output,
            options: &self.options,
            positions: &self.positions,
        })
    }
}

/// The positions at which the rows of a change begin.
pub(crate) struct Start {
    /// The `idx` of the first new entity.
    pub idx: u64,
    /// The `col_idx` of the first new edge.
    pub column: u64,
    /// The numbered layers, and how many of them the file names.
    pub layers: (LayerIds, usize),
    /// The matrix to extend, if there is one.
    pub matrix: Option<(MatrixRows, Matrix)>,
}

/// The tables of a change, in temporary files by their names.
pub(crate) struct Apart {
    pub files: Vec<(String, ScratchFile)>,
    /// The content of `layer_dict.json`, if there are new layers.
    pub layers: Option<String>,
    /// What was added.
    pub counts: Counts,
}

impl AnnnetWriter<'static> {
    /// Creates a sink for rows that are appended to an existing graph.
    ///
    /// # Errors
    /// Returns the errors of [`AnnnetWriter::create`].
    pub(crate) fn apart(graph: &Graph, start: Start, options: &WriteOptions) -> Result<Self> {
        let mut writer = AnnnetWriter::begin(Output::apart(options)?, graph, options)?;
        let (rows, matrix) = start.matrix.unzip();
        writer.nodes.begin_at(start.idx, rows);
        writer.edges.begin_at(start.column, matrix);
        writer.start = (start.idx, start.column, start.layers.1);
        writer.layers = start.layers.0;
        Ok(writer)
    }

    /// Adds nodes of the existing graph, which get further placements.
    pub(crate) fn know_nodes(&mut self, keys: ArrayRef) {
        self.nodes.know(keys);
    }

    /// Completes the tables and returns them.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub(crate) fn finish_apart(mut self) -> Result<Apart> {
        self.settle()?;
        let AnnnetWriter { mut output, layers, nodes, edges, hyperedges, slices, start, .. } = self;
        let counts = Counts {
            entities: nodes.counts.0 - start.0,
            nodes: nodes.counts.1,
            edges: edges.columns - start.1,
            hyperedges: hyperedges.count,
            aspects: 0,
        };
        let rows = nodes.matrix_rows().unwrap_or_default();
        nodes.finish(&mut output)?;
        edges.finish(rows, &mut output)?;
        slices.finish(&mut output)?;
        let layers = (layers.len() > start.2.max(1)).then(|| layers.to_json());
        Ok(Apart { files: output.take(), layers, counts })
    }
}

impl Sink for AnnnetWriter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        vec![Delivery::Nodes(0), Delivery::Rest, Delivery::EdgesWithKeys(0)]
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Edges(batch) => {
                self.settle()?;
                let files = (&mut self.output, &self.options);
                self.edges.write(&batch, &self.shape, &self.nodes, &mut self.layers, files)?;
                match &batch.keys {
                    Some(keys) => self.slices.list_edges(keys, ids(keys, "ids of edges")?, &self.shape.all),
                    None => Ok(()),
                }
            }
            _ if self.is_settled => Err(Error::usage("edges must be written last")),
            Batch::Nodes(batch) => {
                let ids = self.nodes.write(&batch, &self.shape)?;
                self.slices.list_nodes(ids, &self.shape.all)
            }
            Batch::Hyperedges(batch) => self.hyperedges.add(batch),
            Batch::Members(batch) => self.hyperedges.add_members(batch),
            Batch::Groups(batch) => self.groups(&batch),
            Batch::Memberships(batch) if Some(batch.kind) == self.shape.slice => self.slices.add(&batch, &self.shape),
            Batch::Memberships(batch) if Some(batch.kind) == self.shape.layer => {
                self.nodes.place(&batch, &mut self.layers, (&self.output, &self.options))
            }
            Batch::Memberships(_) => Err(Error::usage("annnet supports memberships only in slices and layers")),
            Batch::Values(_) => Err(Error::usage("annnet supports only one value for each property")),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        self.settle()?;
        let AnnnetWriter { mut output, options, documents, unknown, earlier, layers, nodes, edges, .. } = *self;
        let AnnnetWriter { hyperedges, slices, groups, provenance, files, .. } = *self;
        let counts = Counts {
            entities: nodes.counts.0,
            nodes: nodes.counts.1,
            edges: edges.columns,
            hyperedges: hyperedges.count,
            aspects: groups.aspects(),
        };
        nodes.finish(&mut output)?;
        edges.finish(counts.entities, &mut output)?;
        let names = slices.finish(&mut output)?;
        groups.finish(&mut output)?;
        if options.layout == WriteLayout::V2 {
            output.put(file::LAYER_DICT, &layers.to_json())?;
        }
        documents::write(&documents, (earlier.as_deref(), provenance.as_deref()), &mut output, &options)?;
        for (name, blob) in options.keep.files.iter().chain(&files) {
            output.keep(name, blob)?;
        }
        options.keep.folders.iter().try_for_each(|folder| output.keep_folder(folder))?;
        output.put_checksums()?;
        documents::write_manifest((&documents, &unknown), &names, &counts, &mut output, &options)?;
        if options.cache {
            let reading =
                OpenOptions { budget: options.budget.clone(), scratch: options.scratch.clone(), verify: false };
            let written = Annnet::of(output.members(&reading)?, options.layout.read_as(), &reading)?;
            cache::build(&written, &mut output, &options)?;
        }
        Ok(Written { files: output.close()? })
    }
}
