//! Shows nodes with bags of properties as the RDF that they were gathered from.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{DataType, Fields};
use isomorph_error::{Error, Place, Result};
use isomorph_model::batch::ValueBatch;
use isomorph_model::faces::RDF_TYPE;
use isomorph_model::json::{self, Members, Value};
use isomorph_model::{
    Batch, EdgeBatch, EndForm, Ends, Graph, NodeBatch, NodeId, Part, Request, Side, Source, Tables, Take, ValueKind,
    well_known,
};
use isomorph_storage::{Budget, Resources, Scratch};

use super::rows::{between, texts};
use super::{Gathering, literal};
use crate::mapping::view::edges_as;
use crate::mapping::{CARRY_FITS, declared, forward};
use crate::read_once::ReadOnce;
use isomorph_dataset::KeysByRow;
use isomorph_model::part::shown;

/// Shows a bundled graph as RDF.
pub struct Scattered {
    inner: Arc<dyn Source>,
    record: Gathering,
    /// The positions of the bags of nodes and edges in the inner graph.
    bags: [Option<usize>; 2],
    /// Value tables by predicate.
    tables: HashMap<String, usize>,
    budget: Budget,
    /// Names by row, if ends are rows: resources have none.
    names: ReadOnce<KeysByRow>,
}

impl Scattered {
    /// Shows `inner`, which is `record.bundled`, as `record.rdf`. Reads nothing.
    ///
    /// # Errors
    /// Returns [`CARRY_FITS`] if types or columns of the record are missing.
    pub fn new(inner: Arc<dyn Source>, record: &Gathering, budget: &Budget) -> Result<Self> {
        let inner = declared(inner, &record.bundled)?;
        let found = inner.graph();
        let bag = |properties: &[isomorph_model::Property]| {
            properties.iter().position(|property| property.kind == ValueKind::Bag)
        };
        let bags = [
            found.nodes.first().and_then(|ty| bag(&ty.properties)),
            found.edges.first().and_then(|ty| bag(&ty.properties)),
        ];
        let tables = record.rdf.values.iter().enumerate();
        let tables = tables.map(|(at, table)| (table.property.name.clone(), at)).collect();
        let (record, budget) = (record.clone(), budget.clone());
        Ok(Scattered { inner, record, bags, tables, budget, names: ReadOnce::default() })
    }

    /// Ends as names.
    fn named(&self, ends: &Ends) -> Result<Ends> {
        let Ends::Rows(rows) = ends else { return Ok(ends.clone()) };
        let read = || {
            let resources = Resources { threads: 1, budget: self.budget.clone(), scratch: Scratch::new(None)? };
            let mut names = KeysByRow::builder(self.inner.graph(), &resources);
            for mut part in self.inner.scan(&Request::of(Tables::NodeKeys(0)))? {
                part.read(&mut |batch| match batch {
                    Batch::Nodes(nodes) => names.add(&nodes),
                    _ => Ok(()),
                })?;
            }
            names.finish()
        };
        self.names.get(read)?.gather(0, rows.values()).map(Ends::Keys)
    }

    fn edges(&self, batch: &EdgeBatch) -> Result<EdgeBatch> {
        let bags = self.bags[1].and_then(|at| batch.properties.get(at)?.as_ref()?.as_string_opt::<i32>());
        let mut graphs = None;
        if let Some(bags) = bags.filter(|bags| bags.null_count() < bags.len()) {
            let (mut found, mut members) =
                (StringBuilder::with_capacity(bags.len(), bags.len() * 32), Members::default());
            for bag in bags {
                let mut graph = None;
                members.read(bag.unwrap_or_default(), |name, value| match (name, json::value(value)?) {
                    (well_known::GRAPH, Value::Text(text)) => {
                        graph = Some(text.into_owned());
                        Ok(())
                    }
                    // For data that was not RDF before, the plan lists this as lost.
                    _ if self.record.lossy => Ok(()),
                    _ => Err(Error::broken(&CARRY_FITS, format!("a triple has no {name:?}"))),
                })?;
                found.append_option(graph);
            }
            graphs = Some(Arc::new(found.finish()) as ArrayRef);
        }
        let width = self.record.rdf.edges.first().map(|ty| ty.properties.len()).unwrap_or_default();
        let mut properties = vec![None; width];
        if let Some(slot) = properties.first_mut() {
            *slot = graphs;
        }
        let (source, target) = (self.named(&batch.source)?, self.named(&batch.target)?);
        Ok(EdgeBatch { ty: 0, source, target, directed: None, properties, ..batch.clone() })
    }

    /// Labels of nodes as classes.
    fn classes(&self, batch: &NodeBatch, take: Take<'_>) -> Result<()> {
        let keys = batch.keys.clone().map(Ends::Keys);
        let (Some(names), Some(labels)) = (keys.as_ref().and_then(texts), &batch.labels) else { return Ok(()) };
        let (mut subjects, mut classes) = (StringBuilder::new(), StringBuilder::new());
        for (row, name) in names.iter().enumerate() {
            for label in labels.row(row) {
                subjects.append_option(name);
                classes.append_value(label);
            }
        }
        let width = self.record.rdf.edges.first().map(|ty| ty.properties.len()).unwrap_or_default();
        let triples = between(subjects.finish(), RDF_TYPE, classes.finish(), vec![None; width]);
        if triples.rows == 0 { Ok(()) } else { take(Batch::Edges(triples)) }
    }

    /// The values of nodes, by predicate.
    fn values(&self, batch: &NodeBatch, take: Take<'_>) -> Result<()> {
        let misfit = |what: String| Error::broken(&CARRY_FITS, what);
        let keys = batch.keys.clone().map(Ends::Keys);
        let names = keys.as_ref().and_then(texts).ok_or_else(|| misfit("nodes have no names".to_owned()))?;
        let bags = self.bags[0].and_then(|at| batch.properties.get(at)?.as_ref()?.as_string_opt::<i32>());
        let Some(bags) = bags else { return Ok(()) };
        let mut tables: Vec<Option<Said>> = self.record.rdf.values.iter().map(|_| None).collect();
        let mut members = Members::default();
        for (name, bag) in names.iter().zip(bags) {
            let (Some(name), Some(bag)) = (name, bag) else { continue };
            members.read(bag, |predicate, raw| {
                let table = self.tables.get(predicate).and_then(|at| tables.get_mut(*at));
                let table = table.ok_or_else(|| misfit(format!("{predicate:?} is not a predicate of the graph")))?;
                let said = table.get_or_insert_default();
                literal::each(raw, &mut |parts| {
                    said.push(name, parts);
                    Ok(())
                })
                .map_err(|error| error.at(Place::field(format!("{name}.{predicate}"))))
            })?;
        }
        let tables = tables.into_iter().enumerate();
        tables.filter_map(|(at, said)| Some((at, said?))).try_for_each(|(at, said)| {
            let Some(table) = self.record.rdf.values.get(at) else { return Ok(()) };
            let DataType::Struct(fields) = &table.property.data_type else { return Ok(()) };
            take(Batch::Values(said.finish(at, fields, table.qualifiers.len())))
        })
    }
}

/// Values of one predicate.
#[derive(Default)]
struct Said {
    owners: StringBuilder,
    parts: [StringBuilder; 5],
}

impl Said {
    fn push(&mut self, owner: &str, parts: literal::Parts<'_>) {
        self.owners.append_value(owner);
        self.parts.iter_mut().zip(parts).for_each(|(column, part)| column.append_option(part));
    }

    fn finish(mut self, table: usize, fields: &Fields, qualifiers: usize) -> ValueBatch {
        let owner: ArrayRef = Arc::new(self.owners.finish());
        let mut columns = self.parts.map(|mut column| Arc::new(column.finish()) as ArrayRef).to_vec();
        let graphs = columns.pop();
        let values = StructArray::new(fields.clone(), columns, None);
        let qualifiers = (0..qualifiers).map(|_| graphs.clone()).collect();
        ValueBatch { table, owner: Ends::Keys(owner), values: Arc::new(values), qualifiers }
    }
}

impl Source for Scattered {
    forward!(inner: prepare about);

    fn graph(&self) -> &Graph {
        &self.record.rdf
    }

    /// Resources have no rows: they exist because triples mention them.
    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let (edges, values) = match request.tables {
            Tables::All => (Some(Tables::AllEdges), true),
            edges @ (Tables::AllEdges | Tables::Edges(_)) => (Some(edges), false),
            // The graph of triples is a property of edges, so it is read with their ends.
            Tables::EdgeEnds(ty) => (Some(Tables::Edges(ty)), false),
            Tables::Rest => (None, true),
            Tables::AllNodes | Tables::Nodes(_) | Tables::NodeKeys(_) => (None, false),
        };
        let mut parts = Vec::new();
        if let Some(tables) = edges {
            for part in self.inner.scan(&request.for_tables(tables))? {
                parts.push(shown(part, |batch, take: Take<'_>| match batch {
                    Batch::Edges(edges) => take(Batch::Edges(self.edges(&edges)?)),
                    _ => Ok(()),
                }));
            }
        }
        let classes = self.record.labels && edges.is_some();
        if values || classes {
            for part in self.inner.scan(&request.for_tables(Tables::AllNodes))? {
                parts.push(shown(part, move |batch, take: Take<'_>| match batch {
                    Batch::Nodes(nodes) => {
                        if classes {
                            self.classes(&nodes, take)?;
                        }
                        if values { self.values(&nodes, take) } else { Ok(()) }
                    }
                    _ => Ok(()),
                }));
            }
        }
        Ok(parts)
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        EndForm::Keys
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        if self.record.labels {
            return Err(Error::unsupported("look-ups of classes that are stored as labels are not supported")
                .hint("--sidecar ignore    read the data as an ordinary graph of its format"));
        }
        Ok(edges_as(self.inner.neighbors(edge, node, side)?, |batch| self.edges(&batch)))
    }
}
