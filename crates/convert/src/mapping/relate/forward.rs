//! A graph whose edges name their relations, shown with an edge type for each.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_select::take::take;
use isomorph_error::{Error, Result};
use isomorph_model::{
    About, Batch, Columns, EdgeBatch, EndForm, Ends, Graph, NodeId, Part, Progress, Request, Side, Source, Tables,
};

use super::Relating;
use crate::mapping::declared;
use crate::mapping::shred::CARRY_FITS;
use crate::mapping::view::{edges_shown, one_table};
use crate::narrow::narrow;
use isomorph_model::part::shown;

/// Shows a graph whose edges name their relations with an edge type for each relation.
pub struct Related {
    inner: Arc<dyn Source>,
    record: Relating,
    types: HashMap<String, usize>,
}

impl Related {
    /// Shows `inner` as `record.typed`. Nothing is read.
    ///
    /// # Errors
    /// When it is another graph than the record's.
    pub fn new(inner: Arc<dyn Source>, record: &Relating) -> Result<Self> {
        let inner = declared(inner, &record.single)?;
        let types = record.typed.edges.iter().enumerate();
        let types = types.filter_map(|(at, ty)| Some((ty.relation.fixed()?.to_owned(), at))).collect();
        Ok(Related { inner, record: record.clone(), types })
    }

    /// Edges of all types, or of one.
    fn edges(&self, batch: &EdgeBatch, only: Option<usize>, give: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let relations = batch.relations.as_ref();
        let relations = relations.ok_or_else(|| Error::unsupported("edges that do not name their relations"))?;
        if self.record.in_column {
            return give(Batch::Edges(self.edges_of(batch, 0, None)?));
        }
        let types: Vec<Option<usize>> =
            relations.names.iter().map(|name| self.types.get(name.unwrap_or_default()).copied()).collect();
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); self.record.typed.edges.len()];
        for (row, relation) in relations.index.values().iter().enumerate() {
            let ty = types.get(*relation as usize).copied().flatten();
            let rows = ty.and_then(|ty| rows.get_mut(ty)).ok_or_else(|| {
                let name = relations.names.iter().nth(*relation as usize).flatten().unwrap_or_default();
                Error::broken(&CARRY_FITS, format!("relation {name:?} is that of no edge type"))
            })?;
            rows.push(narrow(row));
        }
        for (ty, rows) in rows.into_iter().enumerate() {
            if !rows.is_empty() && only.is_none_or(|only| only == ty) {
                let picked = (rows.len() < batch.rows).then(|| UInt32Array::from(rows));
                give(Batch::Edges(self.edges_of(batch, ty, picked.as_ref())?))?;
            }
        }
        Ok(())
    }

    /// The rows `picked` of a batch, or all, as edges of type `ty`.
    fn edges_of(&self, batch: &EdgeBatch, ty: usize, picked: Option<&UInt32Array>) -> Result<EdgeBatch> {
        let places = self.record.columns.get(ty).ok_or_else(|| Error::usage("no such edge type"))?;
        let pick = |column: &dyn Array| -> Result<ArrayRef> {
            match picked {
                Some(rows) => take(column, rows, None).map_err(|error| Error::malformed(error.to_string())),
                None => Ok(column.slice(0, column.len())),
            }
        };
        let ends = |ends: &Ends| -> Result<Ends> {
            Ok(match ends {
                Ends::Rows(rows) => Ends::Rows(pick(rows)?.as_primitive::<UInt64Type>().clone()),
                Ends::Keys(keys) => Ends::Keys(pick(keys.as_ref())?),
            })
        };
        let column = |at: &usize| batch.properties.get(*at).and_then(Option::as_ref).map(|own| pick(own.as_ref()));
        let mut properties: Columns = places.iter().map(|at| column(at).transpose()).collect::<Result<_>>()?;
        if let Some(relations) = batch.relations.as_ref().filter(|_| self.record.in_column) {
            let names = take(&relations.names, &relations.index, None);
            properties.push(Some(names.map_err(|error| Error::malformed(error.to_string()))?));
        }
        let directed = batch.directed.as_ref().map(|directed| pick(directed)).transpose()?;
        Ok(EdgeBatch {
            ty,
            rows: picked.map_or(batch.rows, |rows| rows.len()),
            relations: None,
            source: ends(&batch.source)?,
            target: ends(&batch.target)?,
            layers: None,
            directed: directed.map(|directed| directed.as_boolean().clone()),
            keys: None,
            properties,
        })
    }
}

impl Source for Related {
    fn graph(&self) -> &Graph {
        &self.record.typed
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let (tables, only) = match request.tables {
            Tables::Edges(ty) => (Tables::Edges(0), Some(ty)),
            Tables::EdgeEnds(ty) => (Tables::EdgeEnds(0), Some(ty)),
            other => (other, None),
        };
        let parts = self.inner.scan(&request.for_tables(tables))?;
        let related = |inner| {
            shown(inner, move |batch, take| match batch {
                Batch::Edges(edges) => self.edges(&edges, only, take),
                other => take(other),
            })
        };
        Ok(parts.into_iter().map(related).collect())
    }

    fn is_one_table(&self, tables: Tables) -> bool {
        tables == Tables::AllEdges || self.inner.is_one_table(tables)
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        self.inner.end_form(0)
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let found = self.inner.neighbors(0, node, side)?;
        Ok(edges_shown(found, move |batch, take| self.edges(batch, Some(edge), take)))
    }

    fn about(&self) -> About {
        one_table(self.inner.about(), self.record.typed.edges.len())
    }
}
