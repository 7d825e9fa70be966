//! Keys of nodes by row number.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{ArrayRef, UInt64Array};
use isomorph_error::Result;
use isomorph_model::{Graph, KeyKind, NodeBatch, Set};
use isomorph_storage::Resources;
use isomorph_tables::lookup::{RowKeys, RowKeysBuilder};

/// Keys that are searched at a time.
const SEARCHED: u64 = 1 << 16;

/// Row → key, for the node types that edges refer to by row and whose keys are needed.
pub struct KeysByRow {
    keys: Vec<Option<RowKeys>>,
}

/// Collects the keys of nodes.
pub struct KeysByRowBuilder {
    builders: Vec<RowKeysBuilder>,
    keyless: Vec<bool>,
}

impl KeysByRow {
    /// Creates a builder for the node types of `graph`.
    pub fn builder(graph: &Graph, resources: &Resources) -> KeysByRowBuilder {
        KeysByRow::builder_of(graph.nodes.iter().map(|ty| ty.key.kind).collect(), resources)
    }

    /// Creates a builder for tables with keys of these kinds, numbered from 0.
    pub fn builder_of(kinds: Vec<KeyKind>, resources: &Resources) -> KeysByRowBuilder {
        let memory = resources.budget.limit() / 4 / kinds.len().max(1) as u64;
        let builder = |_: &KeyKind| RowKeysBuilder::new(&resources.budget, &resources.scratch, memory);
        KeysByRowBuilder {
            builders: kinds.iter().map(builder).collect(),
            keyless: kinds.iter().map(|kind| *kind == KeyKind::Row).collect(),
        }
    }

    /// The keys of rows; for a type without a key, the rows themselves.
    ///
    /// # Errors
    /// If a row does not exist.
    pub fn gather(&self, ty: usize, rows: &[u64]) -> Result<ArrayRef> {
        match self.keys.get(ty) {
            Some(Some(keys)) => keys.gather(rows),
            _ => Ok(Arc::new(UInt64Array::from(rows.to_vec()))),
        }
    }

    /// The rows of these keys, each as often as there are nodes that have it; for a type without a key, the keys themselves.
    ///
    /// # Errors
    /// If keys were read to a temporary file that cannot be read.
    pub(crate) fn rows_of(&self, ty: usize, wanted: &Set) -> Result<Set> {
        let Some(Some(keys)) = self.keys.get(ty) else { return Ok(wanted.clone()) };
        let mut rows: Vec<u64> = Vec::new();
        let mut first = 0;
        while first < keys.rows() {
            let end = keys.rows().min(first + SEARCHED);
            let batch = keys.range(first..end)?;
            let numbered = first..end;
            if let Some(texts) = batch.as_string_opt::<i32>() {
                rows.extend(
                    numbered.zip(texts.iter().flatten()).filter(|(_, text)| wanted.has_text(text)).map(|(row, _)| row),
                );
            } else if let Some(ints) = batch.as_primitive_opt::<Int64Type>() {
                let ints = ints.values().iter().map(|int| i128::from(*int));
                rows.extend(numbered.zip(ints).filter(|(_, int)| wanted.has_int(*int)).map(|(row, _)| row));
            } else if let Some(ints) = batch.as_primitive_opt::<UInt64Type>() {
                let ints = ints.values().iter().map(|int| i128::from(*int));
                rows.extend(numbered.zip(ints).filter(|(_, int)| wanted.has_int(*int)).map(|(row, _)| row));
            }
            first = end;
        }
        Ok(Set::of_ints(rows.into_iter().map(i128::from)))
    }
}

impl KeysByRowBuilder {
    /// Adds the keys of nodes, which follow the nodes before.
    ///
    /// # Errors
    /// If a key is null, or there is no space for temporary files.
    pub fn add(&mut self, nodes: &NodeBatch) -> Result<()> {
        nodes.keys.as_ref().map_or(Ok(()), |keys| self.push(nodes.ty, keys))
    }

    /// Adds keys of table number `ty`, which follow the keys before.
    ///
    /// # Errors
    /// As [`KeysByRowBuilder::add`].
    pub fn push(&mut self, ty: usize, keys: &ArrayRef) -> Result<()> {
        self.builders.get_mut(ty).map_or(Ok(()), |builder| builder.push(keys.as_ref()))
    }

    /// Finishes after the last node.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    pub fn finish(self) -> Result<KeysByRow> {
        let keys = self.builders.into_iter().zip(self.keyless);
        let keys = keys.map(|(builder, keyless)| if keyless { Ok(None) } else { builder.finish().map(Some) });
        Ok(KeysByRow { keys: keys.collect::<Result<_>>()? })
    }
}
