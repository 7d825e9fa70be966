//! Look-up of vertices by key.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{KeyKind, NodeId};
use isomorph_model::{Literal, Predicate};
use isomorph_tables::Selection;

use crate::GraphAr;

const ROW: &str = "_isomorphRow";

impl GraphAr {
    /// Returns the row of the first vertex of node type `ty` with the key `key`. The files of the key are
    /// read up to that row, except where their statistics rule it out.
    ///
    /// # Errors
    /// Returns [`Kind::NotFound`] if there is no such vertex; [`Kind::Usage`] if keys are numbers but `key` is not; or an error of
    /// reading.
    pub fn find(&self, ty: usize, key: &str) -> Result<u64> {
        let table = self.vertex_table(ty)?;
        let not_found = || Error::new(Kind::NotFound, format!("there is no {} {key}", table.info.ty));
        let number = || {
            let refused = |_| Error::usage(format!("the keys of {} are integers, found {key:?}", table.info.ty));
            let number = key.parse::<i128>().map_err(refused)?;
            // A key has one spelling: `07` and `+7` are not 7.
            if number.to_string() == key { Ok(number) } else { Err(not_found()) }
        };
        let literal = match table.shown.key.kind {
            KeyKind::Row => {
                let row = u64::try_from(number()?).map_err(|_| not_found())?;
                return self.check_exist(ty, &[row]).map(|()| row);
            }
            KeyKind::Int => Literal::Int(number()?),
            _ => Literal::Text(key.to_owned()),
        };
        let Some((group, column)) = table.key() else { return Err(not_found()) };
        let Some(column) = group.columns.get(column) else { return Err(not_found()) };
        for chunk in 0..table.chunks()? {
            let path = table.layout.chunk(group.number, chunk);
            let fields = || group.columns.iter().filter_map(|column| column.field(group.encoding)).collect();
            let reader = self.lookups.reader(&table.root, &path, group.encoding, fields)?;
            let is_key = Predicate::equal(column.name.as_str(), literal.clone());
            let selection = Selection::all().columns::<&str>([]).row_numbers(ROW).filter(is_key);
            for batch in reader.batches(&selection).map_err(|error| error.at(path.as_str()))? {
                let batch = batch.map_err(|error| error.at(path.as_str()))?;
                let rows = batch.column_by_name(ROW).and_then(|rows| rows.as_primitive_opt::<Int64Type>());
                if let Some(row) = rows.and_then(|rows| rows.values().first()) {
                    return Ok(chunk * table.info.chunk_size + row.unsigned_abs());
                }
            }
        }
        Err(not_found())
    }

    /// Returns the row of `node` in node type `ty`.
    ///
    /// # Errors
    /// As [`GraphAr::find`].
    pub(crate) fn row_of(&self, ty: usize, node: NodeId<'_>) -> Result<u64> {
        match node {
            NodeId::Row(row) => Ok(row),
            NodeId::Key(key) => self.find(ty, key),
        }
    }
}
