//! Decides whether two listings describe the same file.

use super::DataFile;

/// All metadata of a file that decides how it is read and what it must hold: everything except the graph that lists it,
/// its version and its id. A copied graph lists its files with equal metadata. If a foreign or damaged store states two
/// different things about one file, readers treat these as two files: what was learned from one says nothing about the
/// other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Description<'f> {
    path: &'f str,
    predicate: &'f str,
    is_inverse: bool,
    size: u64,
    triple_count: u64,
    bounds: (&'f str, &'f str),
    checksum: Option<&'f str>,
    sort_order: Option<&'f str>,
    literal_count: Option<u64>,
    prefix_map: &'f [(String, i32)],
    prefixes: &'f [String],
    bloom_filter: &'f str,
    id_bloom_filter: Option<&'f str>,
}

impl DataFile {
    pub(crate) fn description(&self) -> Description<'_> {
        Description {
            path: &self.path,
            predicate: &self.predicate,
            is_inverse: self.is_inverse,
            size: self.size,
            triple_count: self.triple_count,
            bounds: (&self.min_value, &self.max_value),
            checksum: self.checksum.as_deref(),
            sort_order: self.sort_order.as_deref(),
            literal_count: self.literal_count,
            prefix_map: &self.prefix_map,
            prefixes: &self.prefixes,
            bloom_filter: &self.bloom_filter,
            id_bloom_filter: self.id_bloom_filter.as_deref(),
        }
    }
}
