//! New rows written as separate tables, by the code that writes complete graphs, so that edges are represented in
//! one way only.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StructArray, UInt32Array, new_null_array};
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Result};
use isomorph_model::batch::{Ends as Keyed, HyperedgeBatch, MemberBatch, MembershipBatch};
use isomorph_model::schema::{GroupKind, HyperedgeType, MembershipTable, Owner};
use isomorph_model::type_name::list_of;
use isomorph_model::{
    Batch, Direction, EdgeBatch, EdgeType, Graph, Key, KeyKind, NodeBatch, NodeType, Property, Sink, well_known,
};

use super::edges::NewEdges;
use super::ends::Ends;
use super::memberships::{Listed, Of};
use super::vertices::Vertices;
use crate::layout::{column, word};
use crate::preserved;
use crate::write::columns::same;
use crate::write::{AnnnetWriter, Apart, Start, WriteOptions};

/// Index of the group kind of layers, after slices, aspects and elementary layers.
const LAYERS: usize = 3;

/// Writes new rows. Attributes with names that the graph `known` shows go into its columns.
///
/// # Errors
/// Returns an error if the format cannot represent them, or they exceed the budget.
pub(super) fn write(
    vertices: &mut Vertices,
    edges: &mut NewEdges,
    listed: Listed<'_>,
    ends: &Ends<'_>,
    (start, default, known): (Start, &str, &Graph),
    options: &WriteOptions,
) -> Result<Apart> {
    let entities = edges.entities.finish();
    vertices.add_entities(&entities, ends);
    let mut graph = describe(vertices, edges, entities.is_empty(), ends.is_flat(), default)?;
    preserved::same_names(&mut graph, known);
    let mut writer = AnnnetWriter::apart(&graph, start, options)?;
    let put =
        |writer: &mut AnnnetWriter<'_>, batch: Batch| if batch.rows() > 0 { writer.write(0, batch) } else { Ok(()) };
    writer.know_nodes(Arc::new(vertices.again.finish()));
    let mut properties: Vec<Option<ArrayRef>> =
        vertices.attributes.iter().map(|(_, own)| Some(Arc::clone(own))).collect();
    let absent = vec![None; properties.len()];
    if !entities.is_empty() {
        properties.push(None);
    }
    put(&mut writer, nodes(vertices.ids(), properties))?;
    let marks = Some(same(word::EDGE, entities.len()));
    put(&mut writer, nodes(Arc::new(entities), absent.into_iter().chain([marks]).collect()))?;
    if !ends.is_flat() {
        let layers = ends.layers.columns().column(&UInt32Array::from(std::mem::take(&mut vertices.placed.1)))?;
        let member: ArrayRef = Arc::new(vertices.placed.0.finish());
        let (group, member) = (Keyed::Keys(layers), Keyed::Keys(member));
        put(
            &mut writer,
            Batch::Memberships(MembershipBatch { kind: LAYERS, table: 0, group, member, properties: vec![None] }),
        )?;
    }
    for batch in listed.finish() {
        put(&mut writer, Batch::Memberships(batch))?;
    }
    for (ty, of) in [Of::Hyperedges, Of::Placeholders].into_iter().enumerate() {
        let (keys, attributes) = edges.columns(of)?;
        let class = &mut edges.classes[of as usize];
        let weights: ArrayRef = Arc::new(class.weights.finish());
        let batch = HyperedgeBatch {
            ty,
            start: 0,
            rows: keys.len(),
            keys,
            directed: Some(class.directed.finish()),
            properties: std::iter::once(Some(weights)).chain(attributes).collect(),
        };
        put(&mut writer, Batch::Hyperedges(batch))?;
    }
    let layers = |own: &mut Vec<u32>| ends.layers.columns().column(&UInt32Array::from(std::mem::take(own)));
    let members = &mut edges.members;
    let coefficients = members.coefficients.finish();
    let batch = MemberBatch {
        ty: 0,
        owner: Keyed::Keys(Arc::new(members.owners.finish())),
        member: Keyed::Keys(Arc::new(members.members.finish())),
        roles: members.roles.finish(),
        layers: (!ends.is_flat()).then(|| layers(&mut members.layers)).transpose()?,
        coefficients: (coefficients.null_count() < coefficients.len()).then_some(coefficients),
    };
    put(&mut writer, Batch::Members(batch))?;
    put(&mut writer, Batch::Edges(two_ended(edges, ends)?))?;
    writer.finish_apart()
}

fn nodes(keys: ArrayRef, properties: Vec<Option<ArrayRef>>) -> Batch {
    Batch::Nodes(NodeBatch {
        ty: 0,
        start: 0,
        numbers: None,
        rows: keys.len(),
        keys: Some(keys),
        labels: None,
        properties,
    })
}

/// Builds the batch of edges with two ends.
fn two_ended(edges: &mut NewEdges, ends: &Ends<'_>) -> Result<EdgeBatch> {
    let (keys, attributes) = edges.columns(Of::Edges)?;
    let rows = keys.len();
    let mut of_ends = Vec::with_capacity(2);
    for side in 0..2 {
        let coefficients: ArrayRef = Arc::new(edges.coefficients[side].finish());
        let layers = match ends.is_flat() {
            true => new_null_array(&list_of(DataType::Utf8), rows),
            false => ends.layers.columns().column(&UInt32Array::from(std::mem::take(&mut edges.layers[side])))?,
        };
        of_ends.push((layers, coefficients));
    }
    let plain = of_ends.iter().all(|(_, coefficients)| coefficients.null_count() == rows);
    let mut of_ends = of_ends.into_iter().map(|(layers, coefficients)| {
        if plain {
            return Ok(layers);
        }
        let fields = [(word::LAYER, &layers), (well_known::COEFFICIENT, &coefficients)];
        let fields = fields.map(|(name, column)| Field::new(name, column.data_type().clone(), true));
        let both = StructArray::try_new(fields.to_vec().into(), vec![layers, coefficients], None);
        both.map(|both| Arc::new(both) as ArrayRef)
            .map_err(|error| Error::malformed(error.to_string()).caused_by(error))
    });
    let layers = match (of_ends.next().transpose()?, of_ends.next().transpose()?) {
        (Some(source), Some(target)) if !(plain && ends.is_flat()) => Some((source, target)),
        _ => None,
    };
    let class = &mut edges.classes[Of::Edges as usize];
    let weights: ArrayRef = Arc::new(class.weights.finish());
    let end = |all: &mut arrow_array::builder::StringBuilder| Keyed::Keys(Arc::new(all.finish()));
    Ok(EdgeBatch {
        ty: 0,
        rows,
        relations: None,
        source: end(&mut edges.ends[0]),
        target: end(&mut edges.ends[1]),
        layers,
        directed: Some(class.directed.finish()),
        keys: Some(keys),
        properties: std::iter::once(Some(weights)).chain(attributes).collect(),
    })
}

/// Describes the new rows as a graph whose default slice contains all of them.
fn describe(vertices: &Vertices, edges: &NewEdges, no_entities: bool, is_flat: bool, default: &str) -> Result<Graph> {
    let property = |(name, column): &(String, ArrayRef)| Property::new(name.clone(), column.data_type().clone());
    let weight = || Property::new(well_known::WEIGHT, DataType::Float64);
    let mut node = NodeType::new(word::NODE, Key::utf8());
    node.ordered = true;
    node.properties = vertices.attributes.iter().map(property).collect();
    if !no_entities {
        node.properties.push(Property::new(well_known::ENTITY, DataType::Utf8));
    }
    let properties: Vec<Property> = std::iter::once(weight()).chain(edges.attributes.iter().map(property)).collect();
    let mut edge = EdgeType::new(0, word::EDGE, 0);
    edge.key = Some(Key::utf8().named(column::EDGE_ID));
    edge.direction = Direction::PerRow;
    edge.layered = true;
    edge.properties = properties.clone();
    let hyperedge = |name: &str| HyperedgeType {
        name: name.to_owned(),
        key: Key::utf8().named(column::EDGE_ID),
        ends: 0,
        direction: Direction::PerRow,
        layered: !is_flat,
        properties: properties.clone(),
        rows: None,
    };
    let group = |kind: &str, key: Key, memberships: Vec<MembershipTable>| GroupKind {
        kind: kind.to_owned(),
        key,
        ordered: true,
        properties: Vec::new(),
        all: Vec::new(),
        memberships,
    };
    let of = |of: Owner, properties: Vec<Property>| MembershipTable { of, properties };
    let mut slice = group(
        word::SLICE,
        Key::utf8(),
        vec![
            of(Owner::Nodes(0), Vec::new()),
            of(Owner::Edges(0), vec![weight()]),
            of(Owner::Hyperedges(0), vec![weight()]),
            of(Owner::Hyperedges(1), vec![weight()]),
        ],
    );
    slice.all = vec![default.to_owned()];
    let mut groups = vec![slice];
    if !is_flat {
        let tuple = || Key { kind: KeyKind::Tuple, data_type: list_of(DataType::Utf8), name: None };
        groups.push(group(word::ASPECT, Key::utf8(), Vec::new()));
        groups.push(group(word::ELEMENTARY, tuple(), Vec::new()));
        let attributes = Property::new(word::ATTRIBUTES, DataType::Utf8);
        groups.push(group(word::LAYER, tuple(), vec![of(Owner::Nodes(0), vec![attributes])]));
    }
    Ok(Graph {
        nodes: vec![node],
        edges: vec![edge],
        hyperedges: vec![hyperedge(word::HYPEREDGE), hyperedge(word::PLACEHOLDER)],
        groups,
        ..Graph::default()
    })
}
