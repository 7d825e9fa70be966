//! annnet as a sink of the model.

use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Delivery, Document, Graph, Sink, Written, batch::GroupBatch};
use isomorph_storage::Staging;

use super::WriteOptions;
use super::columns::ids;
use super::documents::{self, Counts};
use super::edges::Edges;
use super::groups::Groups;
use super::hyperedges::{Beside, Hyperedges};
use super::layers::LayerIds;
use super::nodes::Nodes;
use super::output::Output;
use super::shape::Shape;
use super::slices::Slices;
use crate::layout::{file, word};

/// Writes a graph in the layout that annnet 0.4.1 reads (v2), as a directory or as one zip file.
///
/// The graph must be in the shape of the format: what [`crate::Annnet`] shows. It asks for nodes, then for the rest, then
/// for edges with their ends as keys ([`Delivery::EdgesWithKeys`]), which go to their file as they come. Ids of nodes in
/// layers, placements, and hyperedges with their members are held in memory. Publishing what was staged is the
/// caller's; the manifest is to come last.
pub struct AnnnetWriter<'a> {
    output: Output<'a>,
    options: WriteOptions,
    shape: Shape,
    documents: Vec<Document>,
    /// Numbers of the properties of aspects and of layers.
    aspect: (Option<usize>, Option<usize>),
    layer: Option<usize>,
    layers: LayerIds,
    nodes: Nodes,
    edges: Edges,
    hyperedges: Hyperedges,
    slices: Slices,
    groups: Groups,
    /// Everything but edges with two ends is written.
    is_settled: bool,
}

impl<'a> AnnnetWriter<'a> {
    /// A sink that writes `graph` into `staging`: a directory, or with [`WriteOptions::archive`] a file.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::WouldLose`] for what annnet cannot say; when files cannot be created, or hold a type that
    /// Parquet has not.
    pub fn create(staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        let shape = Shape::of(graph)?;
        let output = Output::new(staging, options)?;
        let property = |kind: Option<usize>, name: &str| {
            let kind = graph.groups.get(kind?)?;
            kind.properties.iter().position(|property| property.name == name)
        };
        let options = options.clone();
        // Provenance and manifest name one time.
        let options =
            WriteOptions { created: options.created.or_else(|| Some(std::time::SystemTime::now())), ..options };
        Ok(Box::new(AnnnetWriter {
            aspect: (property(shape.aspect, word::ORDERED), property(shape.aspect, word::ATTRIBUTES)),
            layer: property(shape.layer, word::ATTRIBUTES),
            layers: LayerIds::new(),
            nodes: Nodes::new(&output, &shape, &options)?,
            edges: Edges::new(&output, &shape, &options)?,
            hyperedges: Hyperedges::new(&options)?,
            slices: Slices::new(&output, &shape, &options)?,
            groups: Groups::default(),
            is_settled: false,
            documents: graph.documents.clone(),
            output,
            options,
            shape,
        }))
    }

    fn groups(&mut self, batch: &GroupBatch) -> Result<()> {
        let files = (&self.output, &self.options);
        let kind = Some(batch.kind);
        if kind == self.shape.slice {
            self.slices.write(batch)
        } else if kind == self.shape.aspect {
            self.groups.add_aspects(batch, self.aspect)
        } else if kind == self.shape.elementary {
            self.groups.add_elementary(batch, &self.shape, files)
        } else {
            self.groups.add_layers(batch, self.layer, &mut self.layers, files)
        }
    }

    /// Writes what had to be known before the edges.
    fn settle(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_settled, true) {
            return Ok(());
        }
        self.nodes.settle(&mut self.output, &self.options)?;
        self.hyperedges.write(&mut Beside {
            shape: &self.shape,
            nodes: &self.nodes,
            edges: &mut self.edges,
            slices: &mut self.slices,
            layers: &mut self.layers,
            output: &mut self.output,
            options: &self.options,
        })
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
                let files = (&self.output, &self.options);
                self.edges.write(&batch, &self.shape, &self.nodes, &mut self.layers, files)?;
                match &batch.keys {
                    Some(keys) => self.slices.list_edges(keys, ids(keys, "ids of edges")?, &self.shape.all),
                    None => Ok(()),
                }
            }
            _ if self.is_settled => Err(Error::usage("everything else must come before the edges")),
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
            Batch::Memberships(_) => Err(Error::usage("annnet has members of slices and layers only")),
            Batch::Values(_) => Err(Error::usage("annnet has one value for each property")),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        self.settle()?;
        let AnnnetWriter { mut output, options, documents, layers, nodes, edges, hyperedges, slices, groups, .. } =
            *self;
        let counts = Counts {
            entities: nodes.counts.0,
            nodes: nodes.counts.1,
            edges: edges.columns,
            hyperedges: hyperedges.count,
            aspects: groups.aspects(),
        };
        nodes.finish(&mut output)?;
        edges.finish(&mut output)?;
        let names = slices.finish(&mut output)?;
        groups.finish(&mut output)?;
        output.put(file::LAYER_DICT, &layers.to_json())?;
        documents::write(&documents, &mut output, &options)?;
        documents::write_manifest(&documents, &names, &counts, &mut output, &options)?;
        Ok(Written { files: output.close()? })
    }
}
