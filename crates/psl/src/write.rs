//! Writes a graph as predicates.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, StringArray, UInt64Array};
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::{Batch, Delivery, EdgeBatch, Ends, Graph, KeyKind, NodeBatch, Sink, Written, well_known};
use isomorph_storage::{StagedFile, Staging};

use crate::capability::holds;
use crate::layout::{Layout, Says};
use crate::{DATA, data, unheld};

/// Bytes that a file collects before they are written.
const BLOCK: usize = 1 << 16;

/// How predicates are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Whether properties that PSL does not have are dropped; otherwise they are an error.
    pub without_unheld: bool,
}

/// Predicates that are being written.
pub struct PredicatesWriter<'a> {
    staging: &'a Staging,
    graph: Graph,
    layout: Layout,
    files: Vec<(StagedFile, String)>,
    options: WriteOptions,
}

fn texts_of(keys: &ArrayRef) -> Result<StringArray> {
    let texts = cast(keys, &DataType::Utf8).map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
    Ok(texts.as_string::<i32>().clone())
}

fn truths_of(column: &ArrayRef) -> Result<Float64Array> {
    let wide =
        cast(column, &DataType::Float64).map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
    Ok(wide.as_primitive::<Float64Type>().clone())
}

impl<'a> PredicatesWriter<'a> {
    /// Starts the files of a graph of nodes and edges.
    ///
    /// # Errors
    /// If the graph has more than that, or properties that are no truth.
    pub fn create(staging: &'a Staging, graph: &Graph, options: WriteOptions) -> Result<Self> {
        if !graph.hyperedges.is_empty() || !graph.groups.is_empty() || !graph.values.is_empty() {
            return Err(Error::unsupported("predicates hold only nodes and edges"));
        }
        if graph.edges.iter().any(|ty| ty.key.is_some() || ty.layered || ty.relation.fixed().is_none()) {
            return Err(Error::unsupported("predicates have neither keys of edges nor layers"));
        }
        if graph.nodes.iter().any(|ty| matches!(ty.key.kind, KeyKind::Tuple | KeyKind::Term)) {
            return Err(Error::unsupported("keys of nodes must be integers or text"));
        }
        if let Some((what, why)) = unheld(graph).into_iter().next().filter(|_| !options.without_unheld) {
            return Err(Error::new(Kind::WouldLose, format!("{what} would be lost: {why}")));
        }
        let layout = Layout::of(graph);
        let files = layout.data.files.iter().map(|file| Ok((staging.create(&file.name)?, String::new())));
        let files = files.collect::<Result<_>>()?;
        Ok(PredicatesWriter { staging, graph: graph.clone(), layout, files, options })
    }

    /// Fails where a key makes the constant of another type's node: `A/` and `b/c` are those of `A/b` and `c`.
    fn check_apart(&self, ty: usize, key: &str) -> Result<()> {
        let own = self.type_name(ty);
        let mut rests = self.graph.nodes.iter().filter_map(|other| other.name.strip_prefix(own)?.strip_prefix('/'));
        let is_other = |rest: &str| key.strip_prefix(rest).is_some_and(|key| key.starts_with('/'));
        match self.layout.prefixes && rests.any(is_other) {
            true => {
                let what = format!("the constant {:?} could be that of a node of another type", format!("{own}/{key}"));
                Err(Error::new(Kind::WouldLose, what).at(Place::field(own)))
            }
            false => Ok(()),
        }
    }

    /// The constant of a node.
    fn push_constant(&self, ty: usize, key: &str, out: &mut String) -> Result<()> {
        if key.is_empty() || key.contains(['\t', '\n', '\r']) || key.trim() != key {
            let what = format!("the key {key:?} is empty, or has blanks where tabs and line ends divide arguments");
            return Err(Error::new(Kind::WouldLose, what).at(Place::field(self.type_name(ty))));
        }
        if self.layout.prefixes {
            out.push_str(self.type_name(ty));
            out.push('/');
        }
        out.push_str(key);
        Ok(())
    }

    fn type_name(&self, ty: usize) -> &str {
        self.graph.nodes.get(ty).map_or("", |ty| ty.name.as_str())
    }

    fn flush(&mut self, least: usize) -> Result<()> {
        for (file, text) in self.files.iter_mut().filter(|(_, text)| text.len() >= least) {
            file.write_all(text.as_bytes())?;
            text.clear();
        }
        Ok(())
    }

    /// Adds a line to a file.
    fn put(&mut self, file: usize, arguments: &[&str], truth: Option<f64>) -> Result<()> {
        let name = self.layout.data.files.get(file).map_or("", |file| file.name.as_str());
        if let Some(truth) = truth.filter(|truth| !(0.0..=1.0).contains(truth)) {
            let what = format!("a truth is from 0 to 1, and this is {truth}");
            return Err(Error::new(Kind::WouldLose, what).at(Place::file(name)));
        }
        if let Some((_, out)) = self.files.get_mut(file) {
            for (at, argument) in arguments.iter().enumerate() {
                out.push_str(if at > 0 { "\t" } else { "" });
                out.push_str(argument);
            }
            if let Some(truth) = truth {
                // Writing to a string cannot fail.
                let _ = write!(out, "\t{truth:?}");
            }
            out.push('\n');
        }
        Ok(())
    }

    fn write_nodes(&mut self, nodes: &NodeBatch) -> Result<()> {
        let ty = self.graph.nodes.get(nodes.ty).ok_or_else(|| Error::usage("no such node type"))?.clone();
        let keys: ArrayRef = match &nodes.keys {
            _ if ty.key.kind == KeyKind::Row => Arc::new((nodes.start..).take(nodes.rows).collect::<UInt64Array>()),
            Some(keys) => Arc::clone(keys),
            None => return Err(Error::usage("nodes have no keys")),
        };
        let keys = texts_of(&keys)?;
        let columns =
            ty.properties.iter().zip(&nodes.properties).map(|(property, column)| {
                column.as_ref().filter(|_| holds(property, false)).map(truths_of).transpose()
            });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let says = self.layout.says.clone();
        for row in 0..nodes.rows {
            let mut constant = String::new();
            self.check_apart(nodes.ty, keys.value(row))?;
            self.push_constant(nodes.ty, keys.value(row), &mut constant)?;
            for (file, says) in says.iter().enumerate() {
                match says {
                    Says::Nodes(of) if *of == nodes.ty => self.put(file, &[&constant], None)?,
                    Says::Label(label) => {
                        let mut labels = nodes.labels.iter().flat_map(|labels| labels.row(row));
                        if labels.any(|own| own == label) {
                            self.put(file, &[&constant], None)?;
                        }
                    }
                    Says::Property(of, place) if *of == nodes.ty => {
                        let column = columns.get(*place).and_then(Option::as_ref);
                        if let Some(truths) = column.filter(|truths| truths.is_valid(row)) {
                            self.put(file, &[&constant], Some(truths.value(row)))?;
                        }
                    }
                    _ => {}
                }
            }
            self.flush(BLOCK)?;
        }
        Ok(())
    }

    fn write_edges(&mut self, edges: &EdgeBatch) -> Result<()> {
        let ty = self.graph.edges.get(edges.ty).ok_or_else(|| Error::usage("no such edge type"))?.clone();
        let file = self.layout.says.iter().position(|says| *says == Says::Edges(edges.ty));
        let file = file.ok_or_else(|| Error::usage("no file for these edges"))?;
        let end = |ends: &Ends| match ends {
            Ends::Keys(keys) => texts_of(keys),
            Ends::Rows(rows) => texts_of(&(Arc::new(rows.clone()) as ArrayRef)),
        };
        let (sources, targets) = (end(&edges.source)?, end(&edges.target)?);
        let truth = ty.properties.iter().position(|own| own.name == well_known::TRUTH && holds(own, true));
        let is_wanted = truth.is_some() && !self.options.without_unheld;
        let truth = truth.and_then(|at| edges.properties.get(at)).and_then(Option::as_ref);
        let truth = truth.map(truths_of).transpose()?;
        for row in 0..edges.rows {
            let (mut from, mut to) = (String::new(), String::new());
            self.push_constant(ty.source, sources.value(row), &mut from)?;
            self.push_constant(ty.target, targets.value(row), &mut to)?;
            let truth = truth.as_ref().filter(|truths| truths.is_valid(row)).map(|truths| truths.value(row));
            if truth.is_none() && is_wanted {
                let what = format!("the edge from {from:?} to {to:?} has no truth, and PSL reads such an edge as true");
                return Err(Error::new(Kind::WouldLose, what)
                    .at(Place::field(well_known::TRUTH))
                    .hint("--lossy    write it so")
                    .hint("--where 'RELATION: truth is not null'    leave such edges out"));
            }
            self.put(file, &[&from, &to], truth)?;
            self.flush(BLOCK)?;
        }
        Ok(())
    }
}

impl Sink for PredicatesWriter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        let nodes = (0..self.graph.nodes.len()).map(Delivery::Nodes);
        nodes.chain((0..self.graph.edges.len()).map(Delivery::EdgesAsTheyCome)).collect()
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => self.write_nodes(&nodes),
            Batch::Edges(edges) => self.write_edges(&edges),
            _ => Err(Error::usage("predicates hold only nodes and edges")),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        self.flush(0)?;
        for (file, _) in std::mem::take(&mut self.files) {
            file.finish()?;
        }
        let mut file = self.staging.create(DATA)?;
        file.write_all(data::written(&self.layout.data).as_bytes())?;
        file.finish()?;
        let files = self.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}
