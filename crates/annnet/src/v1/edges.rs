//! Edges, from a table for each fact.

use std::collections::{HashMap, HashSet};

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{Array, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field};
use isomorph_error::Result;
use isomorph_model::json::push_string;
use isomorph_model::type_name::ITEM;

use super::layers::{EdgeLayers, labels_of};
use super::{Reader, array, entities, push_labels, table};
use crate::cells::Cells;
use crate::layout::{column, file, word};
use crate::read::{Layers, json};
use crate::rules;

/// Kinds between layers, since 0.2.0.
const EDGE_ML_KIND: &str = "layers/edge_ml_kind.parquet";

/// Rows of a table by the id in its first key column.
fn by_id(cells: &Cells) -> Result<HashMap<String, usize>> {
    let ids = cells.text(column::EDGE_ID)?;
    Ok(ids.iter().enumerate().filter_map(|(row, id)| Some((id?.to_owned(), row))).collect())
}

/// Reads all edges, placeholders and hyperedges with them.
pub(super) fn read(reader: &mut Reader<'_>, entities: &entities::Read, layers: &EdgeLayers) -> Result<RecordBatch> {
    let definitions = reader.cells(file::EDGE_DEFINITIONS)?;
    let (weights, directions) = (reader.cells(file::EDGE_WEIGHTS)?, reader.cells(file::EDGE_DIRECTED)?);
    let (kinds, ml_kinds) = (reader.cells(file::EDGE_KIND)?, reader.cells(EDGE_ML_KIND)?);
    let positions = reader.cells(file::EDGE_TO_IDX)?;
    let (of_definition, of_weight) = (by_id(&definitions)?, by_id(&weights)?);
    let (of_direction, of_kind) = (by_id(&directions)?, by_id(&kinds)?);
    let (of_ml_kind, of_position) = (by_id(&ml_kinds)?, by_id(&positions)?);
    // 0.2.0 defines edges with two ends only; the weights are those of all.
    let mut ids: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for cells in [&definitions, &weights] {
        if cells.rows() == 0 {
            continue;
        }
        for id in cells.ids(column::EDGE_ID, &rules::EDGE_ID)?.iter().flatten() {
            // A repeated definition stays one: reading the edges finds it.
            if seen.insert(id.to_owned()) {
                ids.push(id.to_owned());
            }
        }
    }
    let (source, target) = (definitions.text(column::SOURCE)?, definitions.text(column::TARGET)?);
    let types = definitions.text(column::EDGE_TYPE)?;
    let (weight, directed) = (weights.floats(column::WEIGHT)?, directions.booleans(column::DIRECTED)?);
    let (kind, ml_kind) = (kinds.text(column::KIND)?, ml_kinds.text(column::ML_KIND)?);
    let position = positions.integers(column::IDX)?;
    let text = |column: &StringArray, row: Option<&usize>| -> Option<String> {
        row.filter(|row| column.is_valid(**row)).map(|row| column.value(*row).to_owned())
    };
    let idx = |id: &String| of_position.get(id).filter(|row| position.is_valid(**row)).map(|row| position.value(*row));
    ids.sort_by_key(|id| idx(id).unwrap_or(-1));
    let sources: Vec<Option<String>> = ids.iter().map(|id| text(&source, of_definition.get(id))).collect();
    let targets: Vec<Option<String>> = ids.iter().map(|id| text(&target, of_definition.get(id))).collect();
    let word_of = |at: usize| -> &'static str {
        let id = &ids[at];
        let ends = sources[at].is_some() || targets[at].is_some();
        let (own, ty) = (text(&kind, of_kind.get(id)), text(&types, of_definition.get(id)));
        match (own.as_deref(), ty.as_deref()) {
            (Some(word::HYPER), _) | (_, Some(word::HYPER)) => word::HYPER,
            (Some(word::EDGE_PLACEHOLDER), _) => word::EDGE_PLACEHOLDER,
            _ if entities.edges.contains(id) && !ends => word::EDGE_PLACEHOLDER,
            _ if entities.edges.contains(id) => word::NODE_EDGE,
            _ => word::BINARY,
        }
    };
    let words: Vec<&str> = (0..ids.len()).map(word_of).collect();
    // Edges that are entities are in no layer, whatever the layers of the edges at them, unless they are placed in one.
    let of_layers = |at: usize, second: bool| {
        let end = if second { &targets[at] } else { &sources[at] };
        let (own, other) =
            layers.get(&ids[at]).filter(|_| !end.as_ref().is_some_and(|end| entities.unplaced.contains(end)))?;
        Some(i64::from(if second { other.unwrap_or(*own) } else { *own }))
    };
    let between = |id: &String| {
        let own = text(&ml_kind, of_ml_kind.get(id)).or_else(|| text(&kind, of_kind.get(id)));
        own.filter(|own| matches!(own.as_str(), "intra" | "inter" | "coupling"))
    };
    let of_source = (0..ids.len()).map(|at| of_layers(at, false)).collect::<Int64Array>();
    let of_target = (0..ids.len()).map(|at| of_layers(at, true)).collect::<Int64Array>();
    table(vec![
        (column::COL_IDX, array(ids.iter().map(|id| Some(idx(id).unwrap_or(-1))).collect::<Int64Array>())),
        (
            column::WEIGHT,
            array(
                ids.iter()
                    .map(|id| of_weight.get(id).filter(|row| weight.is_valid(**row)).map(|row| weight.value(*row)))
                    .collect::<Float64Array>(),
            ),
        ),
        (
            column::DIRECTED,
            array(
                ids.iter()
                    .map(|id| {
                        of_direction.get(id).filter(|row| directed.is_valid(**row)).map(|row| directed.value(*row))
                    })
                    .collect::<BooleanArray>(),
            ),
        ),
        (column::KIND, array(StringArray::from(words))),
        (column::SOURCE_LAYER, array(of_source)),
        (column::TARGET_LAYER, array(of_target)),
        (column::ML_KIND, array(ids.iter().map(between).collect::<StringArray>())),
        (column::SOURCE, array(StringArray::from(sources))),
        (column::TARGET, array(StringArray::from(targets))),
        (column::EDGE_ID, array(StringArray::from(ids))),
    ])
}

/// Members of hyperedges, their plain ids told as JSON, with the layers of their edge.
///
/// A member that is no id and reads as the longer form of later layouts is taken for that: it is written here where the layers
/// of an edge do not say where its members are. `objects` are the ids that look like it.
pub(super) fn hyperedges(
    reader: &mut Reader<'_>,
    layers: &Layers,
    of_edges: &EdgeLayers,
    objects: &HashSet<String>,
) -> Result<RecordBatch> {
    let cells = reader.cells(file::HYPEREDGES)?;
    let ids = match cells.rows() {
        0 => StringArray::new_null(0),
        _ => cells.ids(column::EDGE_ID, &rules::EDGE_ID)?,
    };
    let mut columns = Vec::new();
    for (name, second) in [(column::MEMBERS, false), (column::HEAD, false), (column::TAIL, true)] {
        let lists = cells.lists(name)?;
        let mut builder = ListBuilder::new(StringBuilder::new()).with_field(Field::new(ITEM, DataType::Utf8, true));
        for row in 0..ids.len() {
            if lists.is_null(row) {
                builder.append(false);
                continue;
            }
            let layer = of_edges.get(ids.value(row)).filter(|_| !layers.is_flat());
            let layer = layer.map(|(own, other)| if second { other.unwrap_or(*own) } else { *own });
            for id in labels_of(&lists, row) {
                let mut text = String::new();
                match layer {
                    None if id.starts_with('{')
                        && !objects.contains(&id)
                        && json::check(&id, file::HYPEREDGES).is_ok() =>
                    {
                        text = id;
                    }
                    None => push_string(&mut text, &id),
                    Some(layer) => {
                        text.push_str("{\"kind\":\"supra\",\"layer\":[");
                        push_labels(&mut text, layers.labels(layer));
                        text.push_str("],\"node\":");
                        push_string(&mut text, &id);
                        text.push('}');
                    }
                }
                builder.values().append_value(text);
            }
            builder.append(true);
        }
        columns.push((name, array(builder.finish())));
    }
    columns.push((column::EDGE_ID, array(ids)));
    columns.push((column::DIRECTED, array(cells.booleans(column::DIRECTED)?)));
    table(columns)
}
