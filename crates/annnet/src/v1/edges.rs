//! Edges, combined from one table for each fact.

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{Array, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field};
use isomorph_error::Result;
use isomorph_model::json::push_string;
use isomorph_model::type_name::ITEM;

use super::layers::{EdgeLayers, labels_of};
use super::{Facts, Reader, array, entities, push_labels, table};
use crate::cells::Cells;
use crate::layout::{column, file, word};
use crate::read::ids::{ENTRY_BYTES, IdMap};
use crate::read::{Layers, hash, json};
use crate::rules;

/// Kinds of edges between layers, since 0.2.0.
const EDGE_ML_KIND: &str = "layers/edge_ml_kind.parquet";
/// The value of `col_idx` for edges without a column in the matrix.
const NO_COLUMN: i64 = -1;
/// Bytes of an edge while the table is built: its id with a hash, two ends and a kind, all as references to texts;
/// layers.
const ROW_BYTES: u64 = 128;
/// Number of edges for which memory is reserved at a time.
const HELD_ROWS: usize = 1 << 12;

/// Reads all edges, including placeholders and hyperedges.
///
/// # Errors
/// Returns an error if a table is malformed or exceeds the budget.
pub(super) fn read(
    reader: &mut Reader<'_>,
    entities: &entities::Read,
    layers: &EdgeLayers,
    hyperedges: &Facts,
) -> Result<RecordBatch> {
    let definitions = reader.facts(file::EDGE_DEFINITIONS)?;
    let (weights, directions) = (reader.facts(file::EDGE_WEIGHTS)?, reader.facts(file::EDGE_DIRECTED)?);
    let (kinds, ml_kinds) = (reader.facts(file::EDGE_KIND)?, reader.facts(EDGE_ML_KIND)?);
    let positions = reader.facts(file::EDGE_TO_IDX)?;
    // 0.2.0 defines only edges with two ends; the weights cover all edges. Without weights, the other tables list
    // the edges.
    let mut tables = vec![&definitions.cells, &weights.cells];
    if !reader.members.has(file::EDGE_WEIGHTS)? {
        tables.extend([&positions.cells, &kinds.cells, &hyperedges.cells]);
    }
    let told = tables.into_iter().filter(|cells| cells.rows() > 0);
    let told = told.map(|cells| cells.ids(column::EDGE_ID, &rules::EDGE_ID)).collect::<Result<Vec<_>>>()?;
    let mut ids: Vec<(u128, &str)> = Vec::new();
    let mut seen: IdMap<()> = IdMap::default();
    for (table, own) in told.iter().enumerate() {
        for id in own.iter().flatten() {
            // An id that is defined twice stays two rows, so that the check of the edges finds it.
            if seen.insert(hash(id), ()).is_none() || table == 0 && definitions.cells.rows() > 0 {
                if ids.len().is_multiple_of(HELD_ROWS) {
                    reader.hold(HELD_ROWS as u64 * (ENTRY_BYTES + ROW_BYTES), file::EDGE_DEFINITIONS)?;
                }
                ids.push((hash(id), id));
            }
        }
    }
    drop(seen);
    let (source, target) = (definitions.cells.text(column::SOURCE)?, definitions.cells.text(column::TARGET)?);
    let types = definitions.cells.text(column::EDGE_TYPE)?;
    let (weight, directed) = (weights.cells.floats(column::WEIGHT)?, directions.cells.booleans(column::DIRECTED)?);
    let (kind, ml_kind) = (kinds.cells.text(column::KIND)?, ml_kinds.cells.text(column::ML_KIND)?);
    let position = positions.cells.integers(column::IDX)?;
    fn text<'a>(facts: &Facts, column: &'a StringArray, id: u128) -> Option<&'a str> {
        facts.row(id, column).map(|row| column.value(row))
    }
    let idx = |id: u128| positions.row(id, &position).map_or(NO_COLUMN, |row| position.value(row));
    ids.sort_by_key(|(id, _)| idx(*id));
    let sources: Vec<Option<&str>> = ids.iter().map(|(id, _)| text(&definitions, &source, *id)).collect();
    let targets: Vec<Option<&str>> = ids.iter().map(|(id, _)| text(&definitions, &target, *id)).collect();
    let word_of = |at: usize| -> &'static str {
        let (id, _) = ids[at];
        let ends = sources[at].is_some() || targets[at].is_some();
        match (text(&kinds, &kind, id), text(&definitions, &types, id)) {
            (Some(word::HYPER), _) | (_, Some(word::HYPER)) => word::HYPER,
            (Some(word::EDGE_PLACEHOLDER), _) => word::EDGE_PLACEHOLDER,
            // Nothing states its kind, but it has members.
            (None, None) if !ends && hyperedges.rows.contains_key(&id) => word::HYPER,
            _ if entities.edges.contains_key(&id) && !ends => word::EDGE_PLACEHOLDER,
            _ if entities.edges.contains_key(&id) => word::NODE_EDGE,
            _ => word::BINARY,
        }
    };
    let words: Vec<&str> = (0..ids.len()).map(word_of).collect();
    // Edges that are entities are in no layer unless they are placed in one, whatever the layers of the edges that
    // end in them.
    let of_layers = |at: usize, second: bool| {
        let end = if second { targets[at] } else { sources[at] };
        let is_unplaced = end.is_some_and(|end| entities.edges.get(&hash(end)) == Some(&true));
        let (own, other) = layers.get(&ids[at].0).filter(|_| !is_unplaced)?;
        Some(i64::from(if second { other.unwrap_or(*own) } else { *own }))
    };
    let between = |id: u128| {
        let own = text(&ml_kinds, &ml_kind, id).or_else(|| text(&kinds, &kind, id));
        own.filter(|own| matches!(*own, "intra" | "inter" | "coupling"))
    };
    let of_source = (0..ids.len()).map(|at| of_layers(at, false)).collect::<Int64Array>();
    let of_target = (0..ids.len()).map(|at| of_layers(at, true)).collect::<Int64Array>();
    let of_weight = |(id, _): &(u128, &str)| weights.row(*id, &weight).map(|row| weight.value(row));
    let of_direction = |(id, _): &(u128, &str)| directions.row(*id, &directed).map(|row| directed.value(row));
    table(vec![
        (column::COL_IDX, array(ids.iter().map(|(id, _)| Some(idx(*id))).collect::<Int64Array>())),
        (column::WEIGHT, array(ids.iter().map(of_weight).collect::<Float64Array>())),
        (column::DIRECTED, array(ids.iter().map(of_direction).collect::<BooleanArray>())),
        (column::KIND, array(StringArray::from(words))),
        (column::SOURCE_LAYER, array(of_source)),
        (column::TARGET_LAYER, array(of_target)),
        (column::ML_KIND, array(ids.iter().map(|(id, _)| between(*id)).collect::<StringArray>())),
        (column::SOURCE, array(StringArray::from(sources))),
        (column::TARGET, array(StringArray::from(targets))),
        (column::EDGE_ID, array(StringArray::from_iter_values(ids.iter().map(|(_, id)| *id)))),
    ])
}

/// Reads members of hyperedges: their plain ids as JSON, with the layers of their edge.
///
/// A member that is not an id, and that reads as the longer form of later layouts, is read as that form: isomorph
/// writes it if the layers of an edge do not determine the layers of its members. `objects` are the ids that look like
/// this form.
pub(super) fn hyperedges(
    cells: &Cells,
    layers: &Layers,
    of_edges: &EdgeLayers,
    objects: &IdMap<()>,
) -> Result<RecordBatch> {
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
            let layer = of_edges.get(&hash(ids.value(row))).filter(|_| !layers.is_flat());
            let layer = layer.map(|(own, other)| if second { other.unwrap_or(*own) } else { *own });
            for id in labels_of(&lists, row) {
                let mut text = String::new();
                match layer {
                    None if id.starts_with('{')
                        && !objects.contains_key(&hash(&id))
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
