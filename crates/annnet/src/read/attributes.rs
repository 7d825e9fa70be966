//! Attribute tables: every column except the key is a property.

use std::ops::Range;

use arrow_array::{Array, BooleanArray, StringArray, UInt32Array};
use arrow_schema::DataType;
use arrow_select::filter::filter;
use arrow_select::take::take;
use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::statistics::ColumnStatistics;
use isomorph_model::{Columns, Narrowing, Predicate, Property};
use isomorph_storage::{Budget, Reservation};

use super::ids::{self, ENTRY_BYTES, IdMap};
use super::unsupported::{shown, shown_type};
use crate::cells::Cells;
use crate::layout::column;
use crate::rules;
use crate::table::{Table, TableBatches};

/// Columns that pandas adds for its index.
const INDEX_PREFIX: &str = "__index_level_";

/// The attribute columns of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attributes {
    /// Names of properties that differ from those of their columns, with the names of the columns.
    pub renamed: Vec<(String, String)>,
    columns: Vec<String>,
    pub properties: Vec<Property>,
}

impl Attributes {
    /// Returns the columns of `table` that are not in `keys`. Columns with a name in `reserved` get another, unused
    /// name.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Unsupported`] for a column of a type that the model does not support, and an
    /// error if two columns have the same name.
    pub fn of(table: &Table, keys: &[&str], reserved: &[&str], findings: &mut Findings) -> Result<Attributes> {
        let mut attributes = Attributes::default();
        for field in table.schema().fields() {
            let name = field.name().as_str();
            if keys.contains(&name) || name.starts_with(INDEX_PREFIX) {
                continue;
            }
            let place = || Place::file(&table.name).in_field(name);
            if attributes.columns.iter().any(|own| own == name) {
                return Err(Error::broken(&rules::COLUMN, format!("two columns have the name {name}")).at(place()));
            }
            let mut shown = name.to_owned();
            if reserved.contains(&name) {
                findings.push(&rules::RESERVED, format!("an attribute has the reserved name {name}"), place());
                shown = shown_name(name, |name| reserved.contains(&name) || table.has(name));
                attributes.renamed.push((shown.clone(), name.to_owned()));
            }
            attributes.columns.push(name.to_owned());
            let data_type = shown_type(field.data_type());
            let data_type = data_type.map_err(|error| error.at(place()))?;
            attributes.properties.push(Property::new(shown, data_type));
        }
        Ok(attributes)
    }

    /// Returns the attributes in the table of edges.
    ///
    /// # Errors
    /// Returns the errors of [`Attributes::of`].
    pub fn of_edges(table: &Table, findings: &mut Findings) -> Result<Attributes> {
        Attributes::of(table, &[column::EDGE_ID], &[column::WEIGHT], findings)
    }

    /// Returns the names of the columns in the table.
    pub fn names(&self) -> Vec<&str> {
        self.names_of(None, 0)
    }

    /// Returns the names of the requested columns; `before` is the number of properties before them.
    pub fn names_of(&self, narrowing: Option<&Narrowing>, before: usize) -> Vec<&str> {
        let is_wanted = |at: usize| narrowing.is_none_or(|narrowing| narrowing.wants(before + at));
        self.columns.iter().enumerate().filter(|(at, _)| is_wanted(*at)).map(|(_, name)| name.as_str()).collect()
    }

    /// What of a filter is said of attributes alone, by the names of their columns: of those that are shown as they are stored in `table`.
    pub fn part_of(&self, filter: &Predicate, table: &Table) -> Option<Predicate> {
        let schema = table.schema();
        filter.known_part(&mut |name| {
            let at = self.properties.iter().position(|property| property.name == name)?;
            let column = self.columns.get(at).filter(|_| !Narrowing::NAMES.contains(&name))?;
            let stored = schema.field_with_name(column).ok()?.data_type();
            self.properties.get(at).filter(|property| property.data_type == *stored).map(|_| column.clone())
        })
    }

    /// What the footers of `table`, which has the rows of the elements, say of attributes that are shown as they are stored there.
    ///
    /// # Errors
    /// When a footer is not sound.
    pub fn statistics(&self, table: &Table) -> Result<Vec<(String, ColumnStatistics)>> {
        let schema = table.schema();
        let is_shown = |(column, property): &(&String, &Property)| {
            schema.field_with_name(column).is_ok_and(|field| *field.data_type() == property.data_type)
        };
        let shown = self.columns.iter().zip(&self.properties).filter(is_shown);
        shown.map(|(column, property)| Ok((property.name.clone(), table.column_statistics(column)?))).collect()
    }

    /// The columns of `cells`, one for each property; nothing for one that is null throughout.
    ///
    /// # Errors
    /// Returns an error if a column has another type than its table declared.
    pub fn columns(&self, cells: &Cells) -> Result<Columns> {
        let column = |(name, property): (&String, &Property)| {
            let said = cells.raw(name).filter(|column| column.null_count() < column.len());
            let said = said.filter(|column| *column.data_type() != DataType::Null);
            let shown = said.map(|column| shown(column, &property.data_type)).transpose();
            shown.map_err(|error| error.at(Place::file(&cells.name).in_field(name.clone())))
        };
        self.columns.iter().zip(&self.properties).map(column).collect()
    }

    /// Returns the columns for some rows of `cells`; a null stands for a missing row.
    pub fn take(&self, cells: &Cells, rows: &UInt32Array) -> Result<Columns> {
        let all = self.columns(cells)?.into_iter();
        all.map(|column| column.map(|column| take(column.as_ref(), rows, None)).transpose())
            .map(|column| column.map_err(|error| Error::malformed(error.to_string()).caused_by(error)))
            .map(|column| column.map(|column| column.filter(|all| all.null_count() < all.len())))
            .collect()
    }

    /// Returns absent columns for all properties.
    pub fn absent(&self) -> Columns {
        vec![None; self.properties.len()]
    }
}

/// Returns another name for an attribute whose name the model uses otherwise; if that name is taken too, it gets a
/// number.
pub(crate) fn shown_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let first = format!("{name}_attribute");
    let numbered = (2u64..).map(|number| format!("{first}_{number}"));
    let found = std::iter::once(first.clone()).chain(numbered).find(|name| !is_taken(name));
    found.unwrap_or(first)
}

/// The attributes of edges: read row by row with the edges if both tables have the same order, otherwise by id.
pub(crate) struct EdgeAttributes {
    pub attributes: Attributes,
    source: Source,
}

enum Source {
    None,
    Beside(Table),
    ById { cells: Cells, rows: IdMap<u32>, _held: Reservation },
}

impl EdgeAttributes {
    /// Determines how the attributes of edges are read; `is_beside` says whether the table has the order of the edges.
    ///
    /// # Errors
    /// Returns an error if a table cannot be read, or must be held and exceeds the budget.
    pub fn open(table: Option<Table>, is_beside: bool, budget: &Budget, findings: &mut Findings) -> Result<Self> {
        let none = EdgeAttributes { attributes: Attributes::default(), source: Source::None };
        let Some(table) = table.filter(|table| table.has(column::EDGE_ID)) else { return Ok(none) };
        let attributes = Attributes::of_edges(&table, findings)?;
        if attributes.columns.is_empty() {
            return Ok(none);
        }
        if is_beside {
            return Ok(EdgeAttributes { attributes, source: Source::Beside(table) });
        }
        let (cells, mut held) = table.read(&[], budget)?;
        let ids = cells.text(column::EDGE_ID)?;
        held.grow(ids.len() as u64 * ENTRY_BYTES)?;
        // If an edge has several rows, the last one is used, as in the published library.
        let rows = (0..ids.len()).filter(|&row| ids.is_valid(row)).map(|row| (ids::hash(ids.value(row)), row as u32));
        let rows = rows.collect();
        Ok(EdgeAttributes { attributes, source: Source::ById { cells, rows, _held: held } })
    }

    /// Returns whether attributes are in the same rows as their edges, if there are any attributes.
    pub fn is_by_row(&self) -> bool {
        !matches!(self.source, Source::ById { .. })
    }

    /// What the footers say of attributes, where every row of their table is that of an edge.
    ///
    /// # Errors
    /// When a footer is not sound.
    pub fn statistics(&self) -> Result<Vec<(String, ColumnStatistics)>> {
        match &self.source {
            Source::Beside(table) => self.attributes.statistics(table),
            Source::None | Source::ById { .. } => Ok(Vec::new()),
        }
    }

    /// The rows of a range of the edge table for whose attributes a filter is true, ascending; nothing where that is not worth asking.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub fn rows_where(&self, filter: &Predicate, within: Range<u64>) -> Result<Option<Vec<u64>>> {
        let Source::Beside(table) = &self.source else { return Ok(None) };
        let own = self.attributes.part_of(filter, table);
        own.map_or(Ok(None), |own| table.rows_where(&own, within))
    }

    /// The attributes of some rows of the edge table, whose ids are `ids`, behind so many other properties of their type.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub fn of_rows(
        &self,
        rows: &[Range<u64>],
        ids: &StringArray,
        narrowing: Option<&Narrowing>,
        before: usize,
    ) -> Result<Columns> {
        let names = self.attributes.names_of(narrowing, before);
        match &self.source {
            _ if names.is_empty() => Ok(self.attributes.absent()),
            Source::None => Ok(self.attributes.absent()),
            Source::Beside(table) => self.attributes.columns(&table.read_rows(&names, rows)?),
            Source::ById { cells, rows, .. } => {
                let found = ids.iter().map(|id| rows.get(&ids::hash(id.unwrap_or_default())).copied());
                self.attributes.take(cells, &found.collect())
            }
        }
    }

    /// Returns a reader for the attributes of a range of rows of the edge table; `before` is the number of properties
    /// before them.
    ///
    /// # Errors
    /// Returns an error if the table cannot be read.
    pub fn reader(
        &self,
        rows: Range<u64>,
        batch_rows: usize,
        narrowing: Option<&Narrowing>,
        before: usize,
    ) -> Result<AttributeReader<'_>> {
        let names = self.attributes.names_of(narrowing, before);
        let batches = match &self.source {
            Source::Beside(table) if !names.is_empty() => Some(table.batches(&names, rows, batch_rows)?),
            _ => None,
        };
        Ok(AttributeReader { all: self, batches, wanted: !names.is_empty() })
    }
}

/// Reads attributes of edges batch by batch.
pub(crate) struct AttributeReader<'a> {
    all: &'a EdgeAttributes,
    batches: Option<TableBatches>,
    wanted: bool,
}

impl AttributeReader<'_> {
    /// Reads the attributes of the next `rows` rows, of which those in `mask` are wanted; `ids` are their ids.
    ///
    /// # Errors
    /// Returns an error if the table cannot be read.
    pub fn next(&mut self, rows: usize, mask: Option<&BooleanArray>, ids: &StringArray) -> Result<Columns> {
        let attributes = &self.all.attributes;
        match (&self.all.source, &mut self.batches) {
            (Source::Beside(_), Some(batches)) => {
                let cells = batches.take_rows(rows)?;
                let columns = cells.map_or_else(|| Ok(attributes.absent()), |cells| attributes.columns(&cells))?;
                let Some(mask) = mask else { return Ok(columns) };
                let filtered = columns.into_iter().map(|column| column.map(|column| filter(&column, mask)).transpose());
                filtered.map(|column| column.map_err(|error| Error::malformed(error.to_string()))).collect()
            }
            (Source::ById { cells, rows, .. }, _) if self.wanted => {
                let found = ids.iter().map(|id| rows.get(&ids::hash(id.unwrap_or_default())).copied());
                attributes.take(cells, &found.collect())
            }
            _ => Ok(attributes.absent()),
        }
    }
}
