//! A vertex type prepared for reading.

use isomorph_error::{Findings, Place, Result};
use isomorph_model::{Key, KeyKind, LabelVocabulary, NodeType};
use isomorph_storage::Root;

use super::{Column, Group, Refine, Target, property};
use crate::counts::read_count;
use crate::info::{ValueType, VertexInfo};
use crate::layout::{VertexLayout, check_chunks, chunk_count, chunk_rows};
use crate::rules;

/// A vertex type: the location of its chunks, and the columns that are read.
pub(crate) struct VertexTable {
    pub root: Root,
    pub info: VertexInfo,
    pub layout: VertexLayout,
    /// The groups that have properties.
    pub groups: Vec<Group>,
    /// Number of vertices; `None` if the count file is missing.
    pub count: Option<u64>,
    /// The type in the model.
    pub shown: NodeType,
}

impl VertexTable {
    /// Resolves a vertex type; with `key_row`, the primary property is an ordinary property.
    ///
    /// # Errors
    /// Returns an error if a prefix leaves the root, or if a count or the first chunk of a group with timestamps is malformed.
    pub fn new(refine: &Refine<'_>, info: VertexInfo, key_row: bool, findings: &mut Findings) -> Result<Self> {
        let layout = VertexLayout::new(&info).map_err(|error| error.at(Place::file(&info.file)))?;
        let count = read_count(refine.root, &layout.count())?;
        match count {
            None => findings.push(&rules::FILE_MISSING, "the file is missing", layout.count()),
            Some(count) => check_chunks(chunk_count(count, info.chunk_size), "the vertex count")
                .map_err(|error| error.at(Place::file(layout.count())))?,
        }
        let key = info.key().filter(|_| !key_row).cloned();
        let mut shown = NodeType::new(
            &info.ty,
            key.as_ref().map_or_else(Key::row, |key| model_key(&key.value_type).named(&key.name)),
        );
        shown.ordered = true;
        shown.rows = count;
        if !info.labels.is_empty() {
            shown.labels = LabelVocabulary::Declared(info.labels.clone());
        }
        let mut groups = Vec::new();
        for (number, group) in info.groups.iter().enumerate() {
            let first = count.is_some_and(|count| count > 0).then(|| layout.chunk(number, 0));
            let types = refine.types(group, first.as_deref())?;
            let mut columns = Vec::new();
            for (info, data_type) in group.properties.iter().zip(types) {
                let target = match &key {
                    Some(key) if key.name == info.name => Target::Key,
                    _ => Target::Property(shown.properties.len()),
                };
                if matches!(target, Target::Property(_)) {
                    shown.properties.push(property(info, &data_type));
                }
                let as_text = matches!(info.value_type, ValueType::Other(_));
                columns.push(Column { name: info.name.clone(), data_type, target, as_text });
            }
            groups.push(Group { number, encoding: group.file_type.encoding(), columns: columns.into() });
        }
        groups.retain(|group| !group.columns.is_empty());
        Ok(VertexTable { root: refine.root.clone(), layout, groups, count, shown, info })
    }

    /// Returns the number of vertices.
    ///
    /// # Errors
    /// Returns [`rules::FILE_MISSING`] if the count file is missing.
    pub fn rows(&self) -> Result<u64> {
        self.count.ok_or_else(|| super::chunk::missing(&self.layout.count()))
    }

    /// Returns the number of chunks.
    ///
    /// # Errors
    /// As [`VertexTable::rows`].
    pub fn chunks(&self) -> Result<u64> {
        Ok(chunk_count(self.rows()?, self.info.chunk_size))
    }

    /// Returns the number of rows in chunk `chunk`.
    ///
    /// # Errors
    /// As [`VertexTable::rows`].
    pub fn chunk_rows(&self, chunk: u64) -> Result<u64> {
        Ok(chunk_rows(self.rows()?, self.info.chunk_size, chunk))
    }

    /// Returns the key column: its group among those that are read, and its position there.
    pub fn key(&self) -> Option<(&Group, usize)> {
        self.groups.iter().find_map(|group| {
            let at = group.columns.iter().position(|column| column.target == Target::Key)?;
            Some((group, at))
        })
    }
}

/// Returns the model's key for a primary property.
fn model_key(value_type: &ValueType) -> Key {
    let kind = if *value_type == ValueType::String { KeyKind::Utf8 } else { KeyKind::Int };
    Key { kind, data_type: value_type.data_type(), name: None }
}
