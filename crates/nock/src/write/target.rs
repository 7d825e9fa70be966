//! The shape of a graph to be written, and the schema of its rows.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Place, Result};
use isomorph_model::{Direction, Graph, KeyKind, Property, Relation, ValueKind, well_known};

use super::options::{CreateOptions, Types};
use crate::Format;
use crate::columns::Column;

/// A further column, and the origin of its cells.
#[derive(Debug, Clone)]
pub(super) struct ExtraColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Position among the properties of nodes.
    pub node: Option<usize>,
    /// Position among the properties of edges.
    pub edge: Option<usize>,
}

/// Positions of properties in the batches, and the schema of flat rows.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// The nine columns, then the further ones.
    pub schema: SchemaRef,
    /// Type of numbers.
    pub integer: DataType,
    /// Type of truth.
    pub truth: DataType,
    /// Further columns.
    pub extras: Vec<ExtraColumn>,
    /// Truth of nodes.
    pub node_truth: Option<usize>,
    /// RDF flag of nodes.
    pub node_rdf: Option<usize>,
    /// Owner of foreign nodes.
    pub node_shadow: Option<usize>,
    /// Bag of nodes.
    pub node_bag: Option<usize>,
    /// Truth of edges.
    pub edge_truth: Option<usize>,
    /// Given numbers of edges.
    pub edge_id: Option<usize>,
    /// Bag of edges.
    pub edge_bag: Option<usize>,
}

fn not_in_shape(message: &str) -> Error {
    Error::usage(format!("the graph does not have the shape of NOCK: {message}"))
}

impl Target {
    /// Examines a graph that will be written.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if it does not have one node type with text keys and at most one edge type that names
    /// relations by row, or if further columns have names of the nine or incompatible types.
    pub fn of(graph: &Graph, options: &CreateOptions) -> Result<Target> {
        let [node] = graph.nodes.as_slice() else { return Err(not_in_shape("it must have one node type")) };
        if !matches!(node.key.kind, KeyKind::Utf8 | KeyKind::Term) {
            return Err(not_in_shape("the keys of its nodes must be text"));
        }
        let no_properties: &[Property] = &[];
        let edges = match graph.edges.as_slice() {
            [] => no_properties,
            [edge] if edge.relation != Relation::PerRow => return Err(not_in_shape("edges must name their relations")),
            [edge] if edge.direction != Direction::Directed || edge.key.is_some() || edge.layered => {
                return Err(not_in_shape("edges must be directed, without keys and layers"));
            }
            [edge] => &edge.properties,
            _ => return Err(not_in_shape("it must have one edge type")),
        };
        if !graph.hyperedges.is_empty() || !graph.values.is_empty() || !graph.groups.is_empty() {
            return Err(not_in_shape("it has hyperedges, values or groups"));
        }
        let (integer, truth) = match options.types {
            // Text has one kind of floats: the digits must be those of the number, not of the nearest FLOAT.
            _ if options.format == Format::Csv => (DataType::Int32, DataType::Float64),
            Types::Specification if options.truth_double => (DataType::Int32, DataType::Float64),
            Types::Specification => (DataType::Int32, DataType::Float32),
            Types::Pynock => (DataType::Int64, DataType::Float64),
        };
        let find = |properties: &[Property], name: &str| properties.iter().position(|property| property.name == name);
        let bag = |properties: &[Property]| properties.iter().position(|property| property.kind == ValueKind::Bag);
        let extras = extras(&node.properties, edges)?;
        let is_bytes = |extra: &&ExtraColumn| {
            extra.data_type.is_binary() || matches!(extra.data_type, DataType::FixedSizeBinary(_))
        };
        if let Some(extra) = extras.iter().find(is_bytes).filter(|_| options.format == Format::Csv) {
            let message = format!("a text file cannot store the bytes of column {}", extra.name);
            return Err(Error::unsupported(message).at(Place::field(&extra.name)));
        }
        Ok(Target {
            schema: schema(&integer, &truth, &extras, options.types == Types::Specification),
            integer,
            truth,
            extras,
            node_truth: find(&node.properties, well_known::TRUTH),
            node_rdf: find(&node.properties, well_known::IS_RDF),
            node_shadow: find(&node.properties, well_known::SHADOW),
            node_bag: bag(&node.properties),
            edge_truth: find(edges, well_known::TRUTH),
            edge_id: find(edges, Column::EdgeId.name()),
            edge_bag: bag(edges),
        })
    }
}

/// Returns the nine columns and the further ones.
fn schema(integer: &DataType, truth: &DataType, extras: &[ExtraColumn], required: bool) -> SchemaRef {
    let mut fields: Vec<Field> = Vec::with_capacity(9 + extras.len());
    for column in Column::ALL {
        let data_type = match column {
            Column::EdgeId | Column::Shadow => integer.clone(),
            Column::Truth => truth.clone(),
            Column::IsRdf => DataType::Boolean,
            _ => DataType::Utf8,
        };
        fields.push(Field::new(column.name(), data_type, !(required && column == Column::SrcName)));
    }
    fields.extend(extras.iter().map(|extra| Field::new(&extra.name, extra.data_type.clone(), true)));
    Arc::new(Schema::new(fields))
}

/// Returns the further columns: properties of nodes and edges other than the well-known ones, in the order of the description.
fn extras(nodes: &[Property], edges: &[Property]) -> Result<Vec<ExtraColumn>> {
    let own = |property: &Property, known: &[&str]| {
        property.kind != ValueKind::Bag && !known.contains(&property.name.as_str())
    };
    let node_own = [well_known::TRUTH, well_known::IS_RDF, well_known::SHADOW];
    let edge_own = [well_known::TRUTH, Column::EdgeId.name()];
    let mut extras: Vec<ExtraColumn> = Vec::new();
    for (at, property) in nodes.iter().enumerate().filter(|(_, property)| own(property, &node_own)) {
        let (name, data_type) = (property.name.clone(), property.data_type.clone());
        extras.push(ExtraColumn { name, data_type, node: Some(at), edge: None });
    }
    for (at, property) in edges.iter().enumerate().filter(|(_, property)| own(property, &edge_own)) {
        match extras.iter_mut().find(|extra| extra.name == property.name) {
            Some(extra) if extra.data_type == property.data_type => extra.edge = Some(at),
            Some(extra) => {
                let (one, two) = (&extra.data_type, &property.data_type);
                let message = format!("column {} would be {one} on nodes and {two} on edges", extra.name);
                return Err(Error::usage(message).at(Place::field(&extra.name)));
            }
            None => {
                let (name, data_type) = (property.name.clone(), property.data_type.clone());
                extras.push(ExtraColumn { name, data_type, node: None, edge: Some(at) });
            }
        }
    }
    match extras.iter().find(|extra| Column::named(&extra.name).is_some() || extra.name.is_empty()) {
        Some(extra) => {
            let message = format!("a further column cannot be called {:?}", extra.name);
            Err(Error::unsupported(message).at(Place::field(&extra.name)))
        }
        None => Ok(extras),
    }
}
