//! The metadata of a binary: `meta.json`, and `meta.txt` before it.

use isomorph_error::{Error, Place, Result, index};
use serde_json::Value;

use crate::binary::layout::{META, OLD_META};
use crate::rules;

/// Maximum number of partitions.
const PARTITIONS: u64 = 100_000;

/// Maximum number of types and features: lists have as many items as the number states.
const TYPES: u64 = 1 << 16;

/// The content of the metadata.
#[derive(Debug, Clone, Default)]
pub struct Meta {
    /// `v2`, `v1`, or `None` for the oldest.
    pub version: Option<String>,
    /// Number of nodes, without entries that only stand for edges.
    pub nodes: u64,
    /// Number of edges.
    pub edges: u64,
    /// The largest number of features of a node.
    pub node_features: u32,
    /// The largest number of features of an edge.
    pub edge_features: u32,
    /// Numbers of the partitions, from 0.
    pub partitions: Vec<u32>,
    /// The last known time; −1 without times.
    pub watermark: i64,
    /// Metadata of the types of nodes.
    pub node_types: Types,
    /// Metadata of the types of edges.
    pub edge_types: Types,
    /// Values that cannot be understood, or that the published engine cannot open, with messages.
    pub faults: Vec<(Place, String)>,
    /// The name of the file.
    pub file: &'static str,
}

/// Metadata of the types of nodes or of edges. Lists have as many items as there are types, or are empty if the file
/// does not state them.
#[derive(Debug, Clone, Default)]
pub struct Types {
    /// Number of types.
    pub number: u32,
    /// Number of elements of each type.
    pub counts: Vec<u64>,
    /// For each partition, the sum of the weights of each type.
    pub weights: Vec<Vec<f64>>,
}

/// Returns values that the published engine requires and that are missing or malformed. The engine reads lists that are
/// too short beyond their end.
fn faults(value: &Value, version: u32, numbers: [(&str, u64); 2], partitions: u64) -> Vec<(Place, String)> {
    let mut faults = Vec::new();
    let mut fault = |field: &str, what: String| faults.push((Place::file(META).in_field(field.to_owned()), what));
    if version < 2 {
        fault("binary_data_version", "the published engine opens only version v2".to_owned());
    }
    if value.get("watermark").is_none() {
        fault("watermark", "expected a number".to_owned());
    }
    for (what, number) in numbers {
        let mut list = |field: String, list: Option<&Value>, is_fit: fn(&Value) -> bool| {
            let list = list.and_then(Value::as_array);
            let fits = list.is_some_and(|list| list.len() as u64 == number && list.iter().all(is_fit));
            if !fits {
                fault(&field, format!("expected a list of {number} numbers"));
            }
        };
        let counts = format!("{what}_count_per_type");
        list(counts.clone(), value.get(&counts), |count| count.as_u64().is_some());
        let weights = format!("{what}_weight");
        for partition in 0..partitions {
            let sums = value.get("partitions").and_then(|all| all.get(partition.to_string())?.get(&weights));
            let field = format!("partitions.{partition}.{weights}");
            list(field, sums, |sum| sum.as_f64().is_some_and(f64::is_finite));
        }
    }
    faults
}

/// A count that has been compared with [`TYPES`] or [`PARTITIONS`].
#[expect(clippy::cast_possible_truncation, reason = "these are far below 2^32")]
fn narrow(count: usize) -> u32 {
    count as u32
}

impl Types {
    fn of_json(value: &Value, number: u64, counts: &str, weights: &str) -> Types {
        let number = index(number);
        let list = |value: Option<&Value>| value.and_then(Value::as_array).filter(|list| list.len() == number).cloned();
        let counts =
            list(value.get(counts)).unwrap_or_default().iter().map(|count| count.as_u64().unwrap_or(0)).collect();
        let partitions = value.get("partitions").and_then(Value::as_object).map_or(0, serde_json::Map::len);
        let of_partition = |partition: usize| {
            let sums = list(value.get("partitions").and_then(|all| all.get(partition.to_string())?.get(weights)));
            let sums = sums.unwrap_or_default();
            sums.iter().map(|sum| sum.as_f64().unwrap_or(0.0)).collect()
        };
        Types { number: narrow(number), counts, weights: (0..partitions).map(of_partition).collect() }
    }
}

/// Parses the end of `meta.txt`, after line `before`, about types: for each partition its number, and the sums of
/// weights of node types and of edge types, then the counts of each. If the end is malformed, the types remain unknown,
/// and the fault is reported.
fn old_types(
    lines: &[&str],
    before: usize,
    partitions: usize,
    [nodes, edges]: [usize; 2],
) -> ([Types; 2], Option<(Place, String)>) {
    let of_partition = 1 + nodes + edges;
    let wanted = partitions.saturating_mul(of_partition).saturating_add(nodes + edges);
    if lines.len() != wanted {
        let what = format!("types and partitions need {wanted} lines, but there are {}", lines.len());
        return (silent(nodes, edges), Some((Place::file(OLD_META), what)));
    }
    let mut fault = None;
    let mut wrong = |at: usize, what: String| {
        let place = Place::file(OLD_META).line((before + at) as u64 + 1);
        fault.get_or_insert((place, format!("found {:?}, expected {what}", lines[at])));
    };
    let mut sums = |range: std::ops::Range<usize>| -> Vec<f64> {
        let mut sum = |at: usize| {
            let sum: Option<f64> = lines[at].parse().ok().filter(|sum: &f64| sum.is_finite());
            sum.unwrap_or_else(|| {
                wrong(at, "sum of weights".to_owned());
                0.0
            })
        };
        range.map(&mut sum).collect()
    };
    let mut weights = [Vec::with_capacity(partitions), Vec::with_capacity(partitions)];
    for start in (0..partitions).map(|number| number * of_partition + 1) {
        weights[0].push(sums(start..start + nodes));
        weights[1].push(sums(start + nodes..start + nodes + edges));
    }
    for number in (0..partitions).filter(|number| lines[number * of_partition] != number.to_string()) {
        wrong(number * of_partition, format!("partition {number}"));
    }
    let mut counts = |range: std::ops::Range<usize>| -> Vec<u64> {
        let mut count = |at: usize| {
            lines[at].parse().unwrap_or_else(|_| {
                wrong(at, "number of elements".to_owned());
                0
            })
        };
        range.map(&mut count).collect()
    };
    let counted = wanted - edges - nodes;
    let counts = [counts(counted..counted + nodes), counts(counted + nodes..wanted)];
    if fault.is_some() {
        return (silent(nodes, edges), fault);
    }
    let ([of_nodes, of_edges], [nodes_of, edges_of]) = (weights, counts);
    let types = [
        Types { number: narrow(nodes), counts: nodes_of, weights: of_nodes },
        Types { number: narrow(edges), counts: edges_of, weights: of_edges },
    ];
    (types, None)
}

/// Returns this number of node types and edge types, without further metadata.
fn silent(nodes: usize, edges: usize) -> [Types; 2] {
    [nodes, edges].map(|number| Types { number: narrow(number), ..Types::default() })
}

fn wrong(file: &str, field: &str, what: &str) -> Error {
    Error::broken(&rules::META, what).at(Place::file(file).in_field(field))
}

impl Meta {
    /// Parses `meta.json`.
    ///
    /// # Errors
    /// Returns an error if it is malformed.
    pub fn of_json(bytes: &[u8]) -> Result<Meta> {
        let value: Value =
            serde_json::from_slice(bytes).map_err(|error| wrong(META, "", "invalid JSON").caused_by(error))?;
        Meta::of_value(&value)
    }

    /// Parses the content of `meta.json`.
    ///
    /// # Errors
    /// Returns an error if it is malformed.
    pub(super) fn of_value(value: &Value) -> Result<Meta> {
        let count = |field: &str| {
            value.get(field).and_then(Value::as_u64).ok_or_else(|| wrong(META, field, "expected a number"))
        };
        let limited = |field: &str| {
            let found = count(field)?;
            if found > TYPES { Err(wrong(META, field, "more than 65536")) } else { Ok(found) }
        };
        let (node_types, edge_types) = (limited("node_type_count")?, limited("edge_type_count")?);
        let version = value.get("binary_data_version").and_then(Value::as_str);
        let version = version.ok_or_else(|| wrong(META, "binary_data_version", "expected a version"))?;
        let number: Option<u32> = version.strip_prefix('v').and_then(|number| number.parse().ok());
        let Some(number @ 1..=2) = number else {
            return Err(Error::unsupported(format!("version {version:?} of the binary is not supported"))
                .at(Place::file(META).in_field("binary_data_version")));
        };
        let partitions = value.get("partitions").and_then(Value::as_object);
        let partitions = partitions.ok_or_else(|| wrong(META, "partitions", "no partitions found"))?;
        let count_of = partitions.len() as u64;
        if count_of > PARTITIONS || !(0..count_of).all(|number| partitions.contains_key(&number.to_string())) {
            return Err(wrong(META, "partitions", "partitions must be numbered from 0"));
        }
        let watermark = value.get("watermark").map_or(Some(-1), Value::as_i64);
        Ok(Meta {
            version: Some(version.to_owned()),
            nodes: count("node_count")?,
            edges: count("edge_count")?,
            node_features: narrow(index(limited("node_feature_count")?)),
            edge_features: narrow(index(limited("edge_feature_count")?)),
            partitions: (0..narrow(partitions.len())).collect(),
            watermark: watermark.ok_or_else(|| wrong(META, "watermark", "expected a time"))?,
            node_types: Types::of_json(value, node_types, "node_count_per_type", "node_weight"),
            edge_types: Types::of_json(value, edge_types, "edge_count_per_type", "edge_weight"),
            faults: faults(value, number, [("node", node_types), ("edge", edge_types)], count_of),
            file: META,
        })
    }

    /// Parses `meta.txt`: one value in each line, the version first or missing.
    ///
    /// # Errors
    /// Returns an error if it is malformed.
    pub fn of_lines(bytes: &[u8]) -> Result<Meta> {
        let text = std::str::from_utf8(bytes).map_err(|_| wrong(OLD_META, "", "invalid UTF-8"))?;
        let mut lines = text.lines().map(str::trim).enumerate().peekable();
        let version = lines.next_if(|(_, line)| line.starts_with('v')).map(|(_, line)| line.to_owned());
        let mut count = |what: &str| -> Result<u64> {
            let ends = || Error::broken(&rules::META, format!("the file ends before {what}")).at(OLD_META);
            let (line, text) = lines.next().ok_or_else(ends)?;
            text.parse().map_err(|_| {
                let message = format!("found {text:?}, expected {what}");
                Error::broken(&rules::META, message).at(Place::file(OLD_META).line(line as u64 + 1))
            })
        };
        let (nodes, edges) = (count("number of nodes")?, count("number of edges")?);
        let (node_types, edge_types) = (count("number of node types")?, count("number of edge types")?);
        let (node_features, edge_features) = (count("number of features")?, count("number of features")?);
        let partitions = count("number of partitions")?;
        if [node_types, edge_types, node_features, edge_features].iter().any(|count| *count > TYPES) {
            return Err(wrong(OLD_META, "", "more than 65536 types or features"));
        }
        if partitions > PARTITIONS {
            return Err(wrong(OLD_META, "", "more than 100000 partitions"));
        }
        let before = lines.peek().map_or(0, |(line, _)| *line);
        let rest: Vec<&str> = lines.map(|(_, line)| line).collect();
        let numbers = [index(node_types), index(edge_types)];
        let ([node_types, edge_types], fault) = old_types(&rest, before, index(partitions), numbers);
        Ok(Meta {
            version,
            nodes,
            edges,
            node_features: narrow(index(node_features)),
            edge_features: narrow(index(edge_features)),
            partitions: (0..narrow(index(partitions))).collect(),
            watermark: -1,
            node_types,
            edge_types,
            faults: fault.into_iter().collect(),
            file: OLD_META,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_has_a_number_in_each_line() {
        let lines = "v1\n3\n4\n1\n1\n2\n0\n1\n0\n1.0\n2.0\n3\n4\n";
        let meta = Meta::of_lines(lines.as_bytes()).unwrap();
        assert_eq!((meta.version.as_deref(), meta.nodes, meta.edges, meta.partitions.len()), (Some("v1"), 3, 4, 1));
        assert_eq!(Meta::of_lines(&lines.as_bytes()[3..]).unwrap().version, None);
        assert!(Meta::of_lines(b"v1\n3\nx\n").is_err() && Meta::of_lines(b"3\n").is_err());
    }

    #[test]
    fn partitions_are_numbered_from_0_on() {
        let text = |partitions: &str| {
            format!(
                r#"{{"binary_data_version": "v2", "node_count": 0, "edge_count": 0, "node_type_count": 0, "edge_type_count": 0,
                "node_feature_count": 0, "edge_feature_count": 0, "partitions": {partitions}, "watermark": -1}}"#
            )
        };
        assert_eq!(Meta::of_json(text(r#"{"0": {}, "1": {}}"#).as_bytes()).unwrap().partitions, [0, 1]);
        assert!(Meta::of_json(text(r#"{"0": {}, "2": {}}"#).as_bytes()).is_err());
        assert!(Meta::of_json(text("[]").as_bytes()).is_err());
        assert!(Meta::of_json(text("{}").replace("v2", "v9").as_bytes()).is_err());
    }
}
