//! Files of sorted triples, with what a snapshot says of them.

use std::io::Write;

use isomorph_error::Result;
use isomorph_storage::{Budget, Reservation, Staging};
use twox_hash::XxHash64;

use super::encode::{Namespaces, Row};
use super::uuid;
use crate::bloom::Bloom;
use crate::id::TripleId;
use crate::read::Order;
use crate::snapshot::DataFile;
use crate::triple::Triple;

/// The longest text of `min_value` and `max_value`, bytes; bounds of longer ones are cut.
const LONGEST_BOUND: usize = 1024;

/// Bytes that are encoded before they are written.
const BLOCK: usize = 128 << 10;

/// Which graph and predicate files are of, and how large they may become.
pub(super) struct Partition<'a> {
    pub(super) graph: &'a str,
    pub(super) graph_id: &'a str,
    pub(super) predicate: &'a str,
    pub(super) predicate_id: &'a str,
    pub(super) version: i64,
    /// Expanded bytes of a file.
    pub(super) file_bytes: u64,
    pub(super) id_filters: bool,
}

/// Collects sorted triples and writes a file whenever there are enough: namespaces are known only then.
pub(super) struct FileWriter<'a> {
    staging: &'a Staging,
    partition: &'a Partition<'a>,
    order: Order,
    texts: String,
    rows: Vec<[u32; 4]>,
    held: Reservation,
    done: Vec<DataFile>,
}

/// A length that says that the object is no literal.
const NO_LITERAL: u32 = u32::MAX;

impl<'a> FileWriter<'a> {
    pub(super) fn new(
        staging: &'a Staging,
        partition: &'a Partition<'a>,
        order: Order,
        budget: &Budget,
    ) -> Result<Self> {
        let held = budget.reserve(0)?;
        Ok(FileWriter { staging, partition, order, texts: String::new(), rows: Vec::new(), held, done: Vec::new() })
    }

    /// Adds the next triple in the order.
    pub(super) fn push(&mut self, triple: &Triple) -> Result<()> {
        let bytes = triple.bytes() + size_of::<[u32; 4]>();
        let taken = self.texts.len() + self.rows.len() * size_of::<[u32; 4]>();
        if !self.rows.is_empty() && (taken + bytes) as u64 > self.partition.file_bytes {
            self.write()?;
        }
        // Vectors grow by doubling.
        let needed = 2 * (self.texts.len() + self.rows.len() * size_of::<[u32; 4]>() + bytes) as u64;
        if needed > self.held.bytes() {
            self.held.grow(needed - self.held.bytes())?;
        }
        let datatype = if triple.literal { triple.datatype.len() as u32 } else { NO_LITERAL };
        let start = self.texts.len() as u32;
        self.rows.push([start, triple.subject.len() as u32, triple.object.len() as u32, datatype]);
        [&triple.subject, &triple.object, &triple.datatype].into_iter().for_each(|text| self.texts.push_str(text));
        Ok(())
    }

    /// Writes what is left and says what there is.
    pub(super) fn finish(mut self) -> Result<Vec<DataFile>> {
        self.write()?;
        Ok(self.done)
    }

    fn write(&mut self) -> Result<()> {
        let texts = std::mem::take(&mut self.texts);
        let rows = std::mem::take(&mut self.rows);
        let rows = rows.iter().map(|[start, subject, object, datatype]| {
            let part = |start: usize, length: u32| texts.get(start..start + length as usize).unwrap_or_default();
            let start = *start as usize;
            let behind = start + *subject as usize;
            let datatype = (*datatype != NO_LITERAL).then(|| part(behind + *object as usize, *datatype));
            Row { subject: part(start, *subject), object: part(behind, *object), datatype }
        });
        let file = self.file(rows)?;
        self.done.extend(file);
        let held = self.held.bytes();
        self.held.shrink(held);
        Ok(())
    }

    /// Writes one file; nothing when there are no rows.
    fn file<'t>(&self, rows: impl ExactSizeIterator<Item = Row<'t>> + Clone) -> Result<Option<DataFile>> {
        use std::hash::Hasher;
        let first = |row: &Row<'t>| if self.order == Order::Subject { row.subject } else { row.object };
        let Some(lowest) = rows.clone().next() else { return Ok(None) };
        let mut namespaces = Namespaces::default();
        let (mut keys, mut highest, mut literals) = (1, first(&lowest), 0);
        for row in rows.clone() {
            namespaces.count(&row);
            literals += u64::from(row.datatype.is_some());
            if first(&row) != highest {
                keys += 1;
                highest = first(&row);
            }
        }
        namespaces.number();
        let partition = self.partition;
        let id = uuid::of(&[
            "file",
            partition.graph,
            partition.predicate,
            &partition.version.to_string(),
            if self.order == Order::Subject { "subject" } else { "object" },
            &self.done.len().to_string(),
        ]);
        let path = format!("graphs/{}/{}/{id}.bin", partition.graph_id, partition.predicate_id);
        let mut out = self.staging.create(&path)?;
        let mut bloom = Bloom::for_keys(keys);
        let mut ids = Some(rows.len()).filter(|_| partition.id_filters).and_then(Bloom::for_keys);
        let mut hasher = XxHash64::with_seed(0);
        let (mut bytes, mut line, mut before) = (Vec::with_capacity(BLOCK), String::new(), None);
        let count = rows.len() as u64;
        for row in rows {
            namespaces.record(&mut bytes, &row);
            if before != Some(first(&row)) {
                before = Some(first(&row));
                bloom.iter_mut().for_each(|bloom| bloom.add(first(&row).as_bytes()));
            }
            if let Some(ids) = &mut ids {
                let id = TripleId::with(&mut line, row.subject, partition.predicate, &row.as_object());
                ids.add(&id.0);
            }
            if bytes.len() >= BLOCK {
                hasher.write(&bytes);
                out.write_all(&bytes)?;
                bytes.clear();
            }
        }
        hasher.write(&bytes);
        out.write_all(&bytes)?;
        let digest = out.finish()?;
        let prefix_map = namespaces.prefixes();
        Ok(Some(DataFile {
            id,
            predicate: partition.predicate.to_owned(),
            snapshot_version: partition.version,
            is_inverse: self.order == Order::Object,
            path,
            size: digest.size,
            triple_count: count,
            max_value: upper_bound(highest),
            min_value: lower_bound(first(&lowest)).to_owned(),
            bloom_filter: bloom.map(|bloom| bloom.to_text()).unwrap_or_default(),
            graph: partition.graph.to_owned(),
            original_graph: partition.graph.to_owned(),
            prefixes: prefix_map.iter().map(|(prefix, _)| prefix.clone()).collect(),
            prefix_map,
            id_bloom_filter: ids.map(|ids| ids.to_text()),
            checksum: Some(format!("xxh64:{:016x}", hasher.finish())),
            sort_order: Some("codepoint".to_owned()),
            literal_count: Some(literals),
            extra: serde_json::Map::new(),
        }))
    }
}

/// A text that is not above `text`, and not long: a prefix is.
fn lower_bound(text: &str) -> &str {
    if text.len() <= LONGEST_BOUND {
        return text;
    }
    let end = (0..=LONGEST_BOUND).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    text.get(..end).unwrap_or_default()
}

/// A text that is not below `text`, and not long where that can be: a prefix whose last character is the next one.
fn upper_bound(text: &str) -> String {
    let mut bound = lower_bound(text).to_owned();
    if bound.len() == text.len() {
        return bound;
    }
    while let Some(last) = bound.pop() {
        // Behind the last character before the surrogates comes the first behind them.
        let next = if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(u32::from(last) + 1) };
        if let Some(next) = next {
            bound.push(next);
            return bound;
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_BOUND, lower_bound, upper_bound};

    #[test]
    fn bounds_are_bounds() {
        let long = |last: &str| format!("{}{last}{}", "a".repeat(LONGEST_BOUND - 3), "z".repeat(10));
        for text in ["", "short", &long(""), &long("é"), &long("\u{d7ff}"), &long("日本"), &"\u{10ffff}".repeat(300)]
        {
            let (lower, upper) = (lower_bound(text), upper_bound(text));
            assert!(lower.as_bytes() <= text.as_bytes() && upper.as_bytes() >= text.as_bytes(), "{text:?}");
            assert!(lower.len() <= LONGEST_BOUND);
        }
        assert!(upper_bound(&long("")).len() <= LONGEST_BOUND);
        assert_eq!(upper_bound(&"\u{10ffff}".repeat(300)).len(), 1200, "nothing is above it");
    }
}
