//! Adds a property group.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::{Batch, Columns, EdgeBatch, NodeBatch, Request, Tables};
use isomorph_storage::{Changed, Redo, limits};

use super::{Below, NewGroup};
use crate::GraphAr;
use crate::info::{FileType, PropertyGroup, PropertyInfo};
use crate::layout::{ListLayout, VertexLayout};
use crate::read::indexes_from;
use crate::rules;
use crate::table::VERTEX_INDEX;
use crate::write::{
    Encoder, Files, TableFile, TableSpec, checked_property, group_prefix, has_blank_lines, stored_column, stored_type,
};

/// The file of the chunk that is being written, and its path.
struct Current {
    open: Option<(String, TableFile)>,
}

impl Current {
    /// Adds a batch to the file `path`, which is begun if it is not the open one.
    fn push(
        &mut self,
        files: &Files<'_>,
        path: String,
        spec: &TableSpec,
        columns: Vec<ArrayRef>,
        rows: usize,
    ) -> Result<()> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != path) {
            self.close(files)?;
            self.open = Some((path.clone(), files.table(&path, spec)?));
        }
        match &mut self.open {
            Some((_, file)) => file.push(files.encoder, spec.batch(columns, rows)?),
            None => Ok(()),
        }
    }

    fn close(&mut self, files: &Files<'_>) -> Result<()> {
        self.open.take().map_or(Ok(()), |(_, file)| file.close(files.encoder))
    }
}

/// The columns of the new group, ready for its files.
struct NewColumns<'a> {
    group: &'a NewGroup,
    types: Vec<DataType>,
}

impl NewColumns<'_> {
    fn stored(&self, computed: &Columns, rows: usize) -> Result<Vec<ArrayRef>> {
        if computed.len() != self.types.len() {
            let message = format!("got {} columns for {} properties", computed.len(), self.types.len());
            return Err(Error::usage(message));
        }
        let mut stored = Vec::with_capacity(computed.len());
        for ((column, data_type), property) in computed.iter().zip(&self.types).zip(&self.group.properties) {
            let array = stored_column(column.as_ref(), rows, data_type, &property.name)?;
            if array.len() != rows {
                let message = format!("got {} values for {rows} rows", array.len());
                return Err(Error::usage(message).at(Place::field(&property.name)));
            }
            if !property.nullable && array.null_count() > 0 {
                return Err(Error::broken(&rules::NULL, "the value must not be null").at(Place::field(&property.name)));
            }
            stored.push(array);
        }
        Ok(stored)
    }
}

impl GraphAr {
    /// Adds a property group to node type `ty`. `compute` gets the vertices batch by batch, in order, with all their
    /// properties, and returns a column for each new property. Returns a summary of what was written.
    ///
    /// Open the graph again to see the new properties.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] for columns of the wrong number, length or type;
    /// [`isomorph_error::Kind::WouldLose`] for a type that GraphAr does not have; the rule that a name violates; and errors of
    /// `compute`, reading and writing. Nothing is changed in these cases.
    pub fn add_vertex_group(
        &self,
        ty: usize,
        group: &NewGroup,
        compute: &mut dyn FnMut(&NodeBatch) -> Result<Columns>,
    ) -> Result<Changed> {
        let table = self.vertex_table(ty)?;
        self.refuse_unknown(&table.info.file, &table.info.unknown)?;
        let mut info = table.info.clone();
        let number = info.groups.len();
        info.groups.push(new_group(group, &info.groups, &["vertex_count", "labels"], false)?);
        let layout = VertexLayout::new(&info)?;
        let types = types(group);
        let index = Field::new(VERTEX_INDEX, DataType::Int64, false);
        let spec = TableSpec::new(fields(Some(index), group, &types), group.file_type.encoding(), group.compression);
        let columns = NewColumns { group, types };
        self.change(&info.file, &info.to_yml()?, |files| {
            let mut current = Current { open: None };
            for part in self.scan_parts(&Request::of(Tables::Nodes(ty)))? {
                for batch in part {
                    let Batch::Nodes(batch) = batch? else { continue };
                    let computed = compute(&batch)?;
                    let mut arrays: Vec<ArrayRef> = vec![Arc::new(indexes_from(batch.start, batch.rows))];
                    arrays.extend(columns.stored(&computed, batch.rows)?);
                    let path = layout.chunk(number, batch.start / info.chunk_size);
                    current.push(files, path, &spec, arrays, batch.rows)?;
                }
            }
            current.close(files)
        })
    }

    /// Adds a property group to edge type `ty`. `compute` gets the edges of each adjacency list, batch by batch,
    /// with all their properties, and returns a column for each new property. It must return the same values for the
    /// same edge in every list: `isomorph validate` compares them.
    ///
    /// # Errors
    /// As [`GraphAr::add_vertex_group`].
    pub fn add_edge_group(
        &self,
        ty: usize,
        group: &NewGroup,
        compute: &mut dyn FnMut(&EdgeBatch) -> Result<Columns>,
    ) -> Result<Changed> {
        let table = self.edge_table(ty)?;
        self.refuse_unknown(&table.info.file, &table.info.unknown)?;
        let mut info = table.info.clone();
        let number = info.groups.len();
        let taken = ["adj_list", "offset", "vertex_count", "edge_count"];
        info.groups.push(new_group(group, &info.groups, &taken, true)?);
        let types = types(group);
        let spec = TableSpec::new(fields(None, group, &types), group.file_type.encoding(), group.compression);
        let columns = NewColumns { group, types };
        self.change(&info.file, &info.to_yml()?, |files| {
            for list in &table.lists {
                let declared = info.lists.iter().find(|declared| declared.kind == list.kind);
                let Some(declared) = declared else { continue };
                let layout = ListLayout::new(&info, declared)?;
                let mut current = Current { open: None };
                for (part, chunk, edges) in self.list_parts(ty, list, 65_536)? {
                    for batch in edges.part() {
                        let Batch::Edges(batch) = batch? else { continue };
                        let stored = columns.stored(&compute(&batch)?, batch.rows)?;
                        current.push(files, layout.chunk(number, part, chunk), &spec, stored, batch.rows)?;
                    }
                }
                current.close(files)?;
            }
            Ok(())
        })
    }

    /// Writes new files and replaces one information file in one step, unless the information file has been replaced since the graph
    /// was opened.
    pub(super) fn change(
        &self,
        file: &str,
        text: &str,
        write: impl FnOnce(&Files<'_>) -> Result<()>,
    ) -> Result<Changed> {
        let prefix = self.data_below()?;
        let redo = Redo::begin(&self.beside)?;
        let directory = Below { redo: &redo, prefix };
        let encoder = Encoder::new(None)?;
        let written = Mutex::default();
        write(&Files { directory: &directory, encoder: &encoder, label_files: true, written: &written })?;
        encoder.finish()?;
        let mut out = redo.create(file)?;
        std::io::Write::write_all(&mut out, text.as_bytes())
            .map_err(|error| Error::from(error).at(Place::file(file)))?;
        out.finish()?;
        // No other writer changes the graph between this check and the change.
        let _turn = self.beside.location().turn()?;
        let now = self.beside.file(file)?;
        if self.info_files.get(file) != Some(&now.read_all(limits::MANIFEST_BYTES)?) {
            return Err(Error::new(Kind::Conflict, "the graph was changed by another process")
                .at(Place::file(file))
                .hint("run again"));
        }
        redo.expect(file, now.opened_as())?;
        redo.commit(&[file])
    }
}

/// Returns the information file's entry for the new group.
fn new_group(group: &NewGroup, others: &[PropertyGroup], taken: &[&str], of_edge: bool) -> Result<PropertyGroup> {
    let mut properties: Vec<PropertyInfo> = Vec::with_capacity(group.properties.len());
    let mut names: HashSet<&str> =
        others.iter().flat_map(|group| &group.properties).map(|property| property.name.as_str()).collect();
    for property in &group.properties {
        if !names.insert(&property.name) {
            let message = format!("property {} already exists", property.name);
            return Err(Error::broken(&rules::META_PROPERTY_TWICE, message));
        }
        let info = checked_property(property, of_edge)?;
        if group.file_type == FileType::Csv && info.is_list() {
            return Err(Error::broken(&rules::META_LIST_IN_CSV, format!("{} is a list", info.name)));
        }
        properties.push(info);
    }
    if properties.is_empty() {
        return Err(Error::broken(&rules::META_GROUP_EMPTY, "the property group has no properties"));
    }
    if group.file_type == FileType::Csv && has_blank_lines(&properties, of_edge) {
        let message = "a CSV group of one nullable property";
        return Err(Error::broken(&rules::CSV_BLANK, message).hint("--file-type parquet"));
    }
    let prefix = group_prefix(&properties, others, taken);
    Ok(PropertyGroup { prefix, file_type: group.file_type, properties })
}

fn types(group: &NewGroup) -> Vec<DataType> {
    group.properties.iter().map(|property| stored_type(&property.data_type, group.file_type)).collect()
}

fn fields(index: Option<Field>, group: &NewGroup, types: &[DataType]) -> Vec<Field> {
    let own = group.properties.iter().zip(types);
    index.into_iter().chain(own.map(|(property, ty)| Field::new(&property.name, ty.clone(), true))).collect()
}
