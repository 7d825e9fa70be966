//! Rows that are wrong, set aside instead of ending the reading: records of CSV with another number of fields, cells that do not have their type,
//! keys that are missing or repeated, edges without a relation, and ends that are no node. They are found when the tables are opened, so that every reading leaves out the same ones.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use arrow_array::Array;
use isomorph_error::{Error, Finding, Kind, Place, Result, Rule};
use isomorph_tables::lookup::{Asked, WrongId, wrong_ids};

use crate::ends::{EndsOf, KeyFile, collect};
use crate::keys::{Keys, lookup_options};
use crate::open::Tables;
use crate::rules;
use crate::survey::Relations;

/// The most rows that are set aside: more are no mistakes, but another file.
const MOST: usize = 1_000_000;

/// Rows of a batch.
const ROWS: usize = 1 << 14;

/// Rows of one table that are found wrong, as they are numbered without those that were set aside before.
#[derive(Default)]
struct Found {
    rows: BTreeSet<u64>,
    told: Vec<Finding>,
}

impl Found {
    fn add(&mut self, row: u64, place: Place, rule: &'static Rule, message: String) {
        if self.rows.insert(row) {
            self.told.push(Finding { rule, message, place });
        }
    }
}

impl Tables {
    /// Sets aside what is wrong.
    ///
    /// # Errors
    /// If the tables cannot be read, or too many rows are wrong.
    pub(crate) fn set_aside(&mut self) -> Result<()> {
        for at in 0..self.tables.len() {
            let found = self.wrong_cells(at)?;
            self.reject(at, found)?;
        }
        for at in 0..self.tables.len() {
            self.collect_ends(at)?;
        }
        let has_keys = |ty: &usize| !self.nodes[*ty].row_keys && self.ends_of(*ty).is_none();
        for ty in (0..self.nodes.len()).filter(has_keys).collect::<Vec<_>>() {
            let found = self.missing_keys(ty)?;
            self.reject(self.nodes[ty].table, found)?;
            let found = self.repeated_keys(ty)?;
            self.reject(self.nodes[ty].table, found)?;
        }
        let mut of_edges: BTreeSet<usize> = self.edges.iter().map(|own| own.table).collect();
        of_edges.retain(|table| self.nodes.iter().all(|own| own.table != *table));
        for table in of_edges {
            let found = self.missing_relations(table)?;
            self.reject(table, found)?;
            let found = self.wrong_ends(table)?;
            self.reject(table, found)?;
        }
        self.recount()
    }

    /// Gives a table of ends its rows: those of the edges that are not set aside.
    fn collect_ends(&mut self, at: usize) -> Result<()> {
        let Some(EndsOf { table, columns }) = self.tables.get(at).and_then(|own| own.ends_of.clone()) else {
            return Ok(());
        };
        let found = self.missing_relations(table)?;
        self.reject(table, found)?;
        let found = self.missing_ends(table, &columns)?;
        self.reject(table, found)?;
        let name = self.tables[at].columns.first().map(|own| own.name.clone()).unwrap_or_default();
        let place = self.tables[table].place().file.unwrap_or_default();
        let KeyFile { file, .. } = collect(&self.tables[table], &columns, &name, &self.options)?;
        self.tables[at].fill(file, &place)
    }

    /// Rows of edges that lack an end.
    fn missing_ends(&self, at: usize, columns: &[usize]) -> Result<Found> {
        let (table, mut found) = (&self.tables[at], Found::default());
        for piece in table.pieces() {
            let mut reading = table.read(&piece, columns, ROWS)?;
            while let Some((first, count, ends)) = reading.next_batch()? {
                let lacking = ends.iter().zip(columns).filter(|(end, _)| end.null_count() > 0);
                for (end, column) in lacking {
                    for row in (0..count).filter(|row| end.is_null(*row)) {
                        let row = first + row as u64;
                        let error = table.no_end(row, *column);
                        found.add(row, error.place().clone(), &rules::END, error.message().to_owned());
                    }
                }
            }
        }
        Ok(found)
    }

    /// Leaves rows of a table out.
    fn reject(&mut self, table: usize, found: Found) -> Result<()> {
        if found.rows.is_empty() {
            return Ok(());
        }
        if self.rejected.len() + found.told.len() > MOST {
            return Err(Error::new(Kind::TooLarge, "more than 1,000,000 rows are wrong"));
        }
        self.rejected.extend(found.told);
        self.tables[table].leave_out(&found.rows);
        let keys = self.nodes.iter().zip(&mut self.keys).filter(|(own, _)| own.table == table);
        keys.for_each(|(_, keys)| *keys = OnceLock::new());
        Ok(())
    }

    /// The columns of a table that are read.
    fn read_columns(&self, table: usize) -> Vec<usize> {
        let nodes = self.nodes.iter().filter(|own| own.table == table);
        let nodes = nodes.flat_map(|own| own.properties.iter().copied().chain([own.key]).chain(own.labels));
        let edges = self.edges.iter().filter(|own| own.table == table).flat_map(|own| {
            let roles = own.directed.into_iter().chain(own.relation.as_ref().map(|(column, _)| *column));
            own.properties.iter().copied().chain(own.ends).chain(roles)
        });
        nodes.chain(edges).collect::<BTreeSet<usize>>().into_iter().collect()
    }

    fn wrong_cells(&self, at: usize) -> Result<Found> {
        let (table, mut found) = (&self.tables[at], Found::default());
        for part in &table.files {
            part.reader.odd_records(&mut |row, error| {
                if let Some(rule) = error.broken_rule() {
                    found.add(part.first + row, error.place().clone(), rule, error.message().to_owned());
                }
            })?;
        }
        let columns = self.read_columns(at);
        for piece in table.pieces() {
            let mut reading = table.read(&piece, &columns, ROWS)?;
            while let Some(errors) = reading.next_errors()? {
                for (row, error) in errors {
                    let Some(rule) = error.broken_rule() else { return Err(error) };
                    found.add(row, error.place().clone(), rule, error.message().to_owned());
                }
            }
        }
        Ok(found)
    }

    fn missing_keys(&self, ty: usize) -> Result<Found> {
        let (own, mut found) = (&self.nodes[ty], Found::default());
        let table = &self.tables[own.table];
        let name = &table.columns[own.key].name;
        self.each_key(ty, |first, keys| {
            for row in (first..).zip(0..keys.len()).filter_map(|(row, at)| keys.is_null(at).then_some(row)) {
                found.add(
                    row,
                    table.place_of(row).in_field(name.clone()),
                    &rules::KEY,
                    "the row has no key".to_owned(),
                );
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Rows whose key an earlier row has. None lacks a key.
    fn repeated_keys(&self, ty: usize) -> Result<Found> {
        let (own, mut found) = (&self.nodes[ty], Found::default());
        let table = &self.tables[own.table];
        let name = &table.columns[own.key].name;
        let options = lookup_options(&self.options, self.nodes.len())?;
        let all = wrong_ids(&options, MOST, |asked, take| match asked {
            Asked::Ids => self.each_key(ty, |first, keys| take(first.into(), keys)),
            // These are found by table: several types may have one.
            Asked::Ends => Ok(()),
        })?;
        if !all.is_complete() {
            return Err(self.too_many(ty));
        }
        for WrongId { row, first, .. } in all.repeated {
            let earlier = first.map(|first| table.earlier(first, row)).unwrap_or_default();
            let what = format!("the key is that of {earlier} already");
            found.add(row, table.place_of(row).in_field(name.clone()), &rules::KEY, what);
        }
        Ok(found)
    }

    /// Rows of edges that name no relation, where each row does.
    fn missing_relations(&self, at: usize) -> Result<Found> {
        let (table, mut found) = (&self.tables[at], Found::default());
        let own = self.edges.iter().filter(|own| own.table == at).find_map(|own| own.relation.as_ref());
        let Some((column, _)) = own else { return Ok(found) };
        let name = &table.columns[*column].name;
        for piece in table.pieces() {
            let mut reading = table.read(&piece, &[*column], ROWS)?;
            while let Some((first, count, columns)) = reading.next_batch()? {
                let Some(relations) = columns.first().filter(|relations| relations.null_count() > 0) else { continue };
                for row in (0..count).filter(|row| relations.is_null(*row)) {
                    let row = first + row as u64;
                    let place = table.place_of(row).in_field(name.clone());
                    found.add(row, place, &rules::RELATION, "the row names no relation".to_owned());
                }
            }
        }
        Ok(found)
    }

    fn wrong_ends(&self, at: usize) -> Result<Found> {
        let (table, mut found) = (&self.tables[at], Found::default());
        let mut ends = BTreeSet::new();
        // Ends of which the nodes are made are keys of nodes.
        let others = self.edges.iter().zip(&self.graph.edges).filter(|(own, _)| own.table == at && !own.are_own);
        for (own, ty) in others {
            ends.extend([(own.ends[0], ty.source), (own.ends[1], ty.target)]);
        }
        for (column, ty) in ends {
            let mut rows = Vec::new();
            for piece in table.pieces() {
                let mut reading = table.read(&piece, &[column], ROWS)?;
                while let Some((first, count, columns)) = reading.next_batch()? {
                    let Some(keys) = columns.first() else { continue };
                    rows.clear();
                    let has_none = match self.keys_of(ty)? {
                        Keys::Known(known) => known.translate(keys.as_ref(), &mut rows)?.not_found == 0,
                        Keys::Many => return Err(self.too_many(ty)),
                        Keys::Rows(_) => self.rows_of(ty, keys, (at, column), first).is_ok(),
                    };
                    if has_none && keys.null_count() == 0 {
                        continue;
                    }
                    for row in 0..count {
                        let own = keys.slice(row, 1);
                        if let Err(error) = self.rows_of(ty, &own, (at, column), first + row as u64) {
                            let Some(rule) = error.broken_rule() else { return Err(error) };
                            found.add(first + row as u64, error.place().clone(), rule, error.message().to_owned());
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    /// The numbers of rows of all types, after some were left out.
    fn recount(&mut self) -> Result<()> {
        for table in &mut self.tables {
            let Some(column) = table.options.relation.as_ref().and_then(|name| table.find(name)) else { continue };
            let mut relations = Relations::default();
            for piece in table.pieces() {
                let mut reading = table.read(&piece, &[column], ROWS)?;
                while let Some((_, _, columns)) = reading.next_batch()? {
                    columns.first().into_iter().for_each(|column| relations.see(column.as_ref()));
                }
            }
            table.relations = relations.finish();
        }
        for (own, ty) in self.nodes.iter().zip(&mut self.graph.nodes) {
            ty.rows = Some(self.tables[own.table].rows);
        }
        for (own, ty) in self.edges.iter().zip(&mut self.graph.edges) {
            let table = &self.tables[own.table];
            ty.rows = Some(match &own.relation {
                None => table.rows,
                Some((_, name)) => table.relations.iter().find(|(known, _)| known == name).map_or(0, |(_, rows)| *rows),
            });
        }
        Ok(())
    }
}
