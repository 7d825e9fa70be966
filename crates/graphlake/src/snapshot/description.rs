//! Of two listings of a file, when one tells about the other.

use super::DataFile;

/// All that is said of a file, and decides how it is read and what it must hold: not where it is listed, since when, and by what id.
/// A copied graph lists its files in the same words. Where a foreign or damaged store says two things of one file, these are two files
/// to whoever reads: what was learned by one says nothing of the other.
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
