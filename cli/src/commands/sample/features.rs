//! Features as columns of their types.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryArray, FixedSizeListArray, StringArray, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use isomorph::formats::deepgnn::{DType, FeatureType};
use isomorph::sampling::{Dense, Sampler, Strings};
use isomorph::{Error, Result};

use super::answer::Drawn;
use super::place::Place;
use crate::args::sample::{Feature, FeaturesArgs};

/// The features of nodes, a column for each.
pub(super) fn features(sampler: &Sampler, place: &Place, args: &FeaturesArgs) -> Result<Drawn> {
    let nodes = place.ids(&args.nodes, &args.common)?;
    let mut drawn = Drawn::new("features", format!("of {} nodes", nodes.len()));
    drawn.column("node", place.keys(&nodes)?);
    for feature in &args.features {
        let id = place.feature(&feature.id)?;
        let column = match feature.ty {
            FeatureType::Dense(dtype) => dense(sampler, &nodes, id, feature.count, dtype)?,
            _ => bytes(sampler, &nodes, id, feature)?,
        };
        drawn.column(&feature.id, column);
    }
    Ok(drawn)
}

fn dense(sampler: &Sampler, nodes: &[i64], id: u32, count: usize, dtype: DType) -> Result<ArrayRef> {
    let width = count * dtype.size();
    let mut out = vec![0; nodes.len() * width];
    sampler.node_features(nodes, &[Dense { id, bytes: width }], None, &mut out)?;
    let numbers = ArrayData::builder(dtype.arrow()).len(nodes.len() * count).add_buffer(Buffer::from(out));
    let numbers = make_array(numbers.align_buffers(true).build().map_err(wrong)?);
    if count == 1 {
        return Ok(numbers);
    }
    let item = Arc::new(Field::new_list_field(numbers.data_type().clone(), false));
    let count = i32::try_from(count).map_err(|_| Error::usage("these are too many numbers"))?;
    Ok(Arc::new(FixedSizeListArray::try_new(item, count, numbers, None).map_err(wrong)?))
}

fn bytes(sampler: &Sampler, nodes: &[i64], id: u32, feature: &Feature) -> Result<ArrayRef> {
    let mut strings = Strings::default();
    sampler.node_strings(nodes, &[id], None, &mut strings)?;
    let mut at = 0;
    let cells = strings.lengths.iter().map(|length| {
        let cell = strings.bytes.get(at..at + *length as usize).unwrap_or_default();
        at += *length as usize;
        // An empty text and none are stored alike.
        Some(cell).filter(|cell| !cell.is_empty())
    });
    let cells: Vec<Option<&[u8]>> = cells.collect();
    if feature.ty != FeatureType::Text {
        return Ok(Arc::new(BinaryArray::from(cells)));
    }
    let texts = cells.into_iter().map(|cell| cell.map(std::str::from_utf8).transpose());
    let texts: std::result::Result<Vec<Option<&str>>, _> = texts.collect();
    let no_text = || Error::malformed(format!("feature {} is no text", feature.id)).hint("raw shows its bytes");
    Ok(Arc::new(StringArray::from(texts.map_err(|_| no_text())?)))
}

fn wrong(error: arrow_schema::ArrowError) -> Error {
    Error::usage("a column of features could not be made").caused_by(error)
}

/// Whether a column holds numbers, for where it stands in a table.
pub(super) fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric()
}
