//! The metadata that several workers of the published converter wrote separately (`meta_0.json` and so on),
//! combined.

use bytes::Bytes;
use isomorph_error::{Error, Place, Result};
use serde_json::{Map, Value, json};

use crate::rules;

/// Maximum number of workers.
const WORKERS: usize = 10_000;

/// Returns the number of the worker that wrote a file of this name.
pub(crate) fn worker(name: &str) -> Option<u32> {
    let number = name.strip_prefix("meta_")?.strip_suffix(".json")?;
    number.parse().ok().filter(|worker: &u32| worker.to_string() == number)
}

fn wrong(file: &str, field: &str, what: impl Into<String>) -> Error {
    Error::broken(&rules::META, what.into()).at(Place::file(file).in_field(field))
}

/// Combines the files of all workers into the file that a single worker would have written: counts are summed, every
/// partition has the weights that its own worker states, and lists are as long as the largest number of types. (The
/// published merger gives each partition the sum of its worker.)
///
/// # Errors
/// Returns an error if a file is malformed, versions differ, or two workers wrote the same partition.
pub(super) fn merged(files: &[(String, Bytes)]) -> Result<Value> {
    const SUMS: [&str; 2] = ["node_count", "edge_count"];
    const MOST: [&str; 4] = ["node_type_count", "edge_type_count", "node_feature_count", "edge_feature_count"];
    if files.len() > WORKERS {
        return Err(wrong("meta_0.json", "", format!("more than {WORKERS} workers")));
    }
    let mut whole = Map::new();
    let mut partitions = Map::new();
    let mut watermark = i64::MIN;
    for (name, bytes) in files {
        let value: Value =
            serde_json::from_slice(bytes).map_err(|error| wrong(name, "", "invalid JSON").caused_by(error))?;
        let number = |field: &str| {
            value.get(field).and_then(Value::as_u64).ok_or_else(|| wrong(name, field, "expected a number"))
        };
        let before = |whole: &Map<String, Value>, field: &str| whole.get(field).and_then(Value::as_u64).unwrap_or(0);
        for field in SUMS {
            let sum = before(&whole, field).checked_add(number(field)?);
            let sum = sum.ok_or_else(|| wrong(name, field, "the sum exceeds 64 bits"))?;
            whole.insert(field.to_owned(), json!(sum));
        }
        for field in MOST {
            let most = before(&whole, field).max(number(field)?);
            whole.insert(field.to_owned(), json!(most));
        }
        for field in ["node_count_per_type", "edge_count_per_type"] {
            let own = value.get(field).and_then(Value::as_array);
            let own = own.ok_or_else(|| wrong(name, field, "expected a list"))?;
            let mut sums: Vec<u64> = counts(whole.get(field));
            sums.resize(sums.len().max(own.len()), 0);
            for (sum, own) in sums.iter_mut().zip(counts(Some(&Value::Array(own.clone())))) {
                *sum = sum.saturating_add(own);
            }
            whole.insert(field.to_owned(), json!(sums));
        }
        let version = value.get("binary_data_version").cloned().unwrap_or_default();
        if whole.entry("binary_data_version").or_insert_with(|| version.clone()) != &version {
            return Err(wrong(name, "binary_data_version", "the version differs from that of the previous worker"));
        }
        let own = value.get("partitions").and_then(Value::as_object);
        for (number, weights) in own.ok_or_else(|| wrong(name, "partitions", "no partitions found"))? {
            if partitions.insert(number.clone(), weights.clone()).is_some() {
                return Err(wrong(name, "partitions", format!("partition {number} is that of another worker as well")));
            }
        }
        let own = value.get("watermark").map_or(Some(-1), Value::as_i64);
        watermark = watermark.max(own.ok_or_else(|| wrong(name, "watermark", "expected a time"))?);
    }
    for (types, list, counts) in [
        ("node_type_count", "node_weight", "node_count_per_type"),
        ("edge_type_count", "edge_weight", "edge_count_per_type"),
    ] {
        let length = whole.get(types).and_then(Value::as_u64).unwrap_or(0).min(1 << 16) as usize;
        let all = partitions.values_mut().filter_map(|partition| partition.get_mut(list));
        for list in all.chain(whole.get_mut(counts)) {
            if let Some(list) = list.as_array_mut()
                && list.len() < length
            {
                list.resize(length, json!(0));
            }
        }
    }
    whole.insert("partitions".to_owned(), Value::Object(partitions));
    whole.insert("watermark".to_owned(), json!(watermark));
    Ok(Value::Object(whole))
}

fn counts(list: Option<&Value>) -> Vec<u64> {
    let list = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|count| count.as_u64().unwrap_or(0)).collect()
}
