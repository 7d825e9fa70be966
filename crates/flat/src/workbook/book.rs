//! Writes a workbook (Office Open XML, ISO/IEC 29500-1 and 29500-2): the sheets of tables, and the mapping as the last sheet.
//!
//! Sheets wait deflated in temporary files, because rows of several tables may come in turn, and an archive has one member after another.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::io::Write as _;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use isomorph_error::{Error, Place, Result};
use isomorph_model::Written;
use isomorph_storage::zip::{ZipPacked, ZipPacker, ZipWriter};
use isomorph_storage::{Scratch, Staging};
use isomorph_tables::{SHEET_ROWS, SHEET_STYLES, SheetWriter};

use super::CELLS;
use crate::find::MAPPING;
use crate::sql::{Script, TableOptions};

/// The most characters of the name of a sheet, counted in UTF-16.
const NAME: usize = 31;

const DECLARATION: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#;
const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const DOCUMENT: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const CONTENT: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml";

/// The names of the sheets of a workbook.
pub(crate) struct SheetNames {
    /// Those that are taken, in lower case.
    taken: HashSet<String>,
}

impl Default for SheetNames {
    fn default() -> Self {
        // Spreadsheets keep a name for themselves.
        SheetNames { taken: ["history", MAPPING].map(str::to_owned).into() }
    }
}

impl SheetNames {
    /// A name that no other sheet has, like `wanted`, which has letters, digits, `_` and `-`.
    pub fn give(&mut self, wanted: &str) -> String {
        let mut number = 1;
        loop {
            let ending = if number == 1 { String::new() } else { format!("_{number}") };
            let mut left = NAME - ending.len();
            let fitting = wanted.chars().take_while(|character| {
                let fits = character.len_utf16() <= left;
                left = left.saturating_sub(character.len_utf16());
                fits
            });
            let name = fitting.collect::<String>() + &ending;
            if self.taken.insert(name.to_lowercase()) {
                return name;
            }
            number += 1;
        }
    }
}

/// The sheets of a table.
struct Sheets {
    names: Vec<String>,
    /// The last one, unless it is complete.
    open: Option<SheetWriter<ZipPacker>>,
}

/// A workbook that is being written.
pub(crate) struct Book {
    scratch: Scratch,
    names: SheetNames,
    tables: Vec<Sheets>,
    /// Complete sheets, by table and number.
    complete: BTreeMap<(usize, usize), ZipPacked>,
    /// The most rows of a sheet, that of the names included.
    most_rows: u32,
}

impl Book {
    /// Begins a workbook whose mapping calls its tables `#sheet`.
    ///
    /// # Errors
    /// If there is no directory for temporary files.
    pub fn new<'a>(scratch: Option<Scratch>, locations: impl Iterator<Item = &'a str>) -> Result<Self> {
        let mut names = SheetNames::default();
        let mut table = |location: &str| {
            let name = location.trim_start_matches('#').to_owned();
            names.taken.insert(name.to_lowercase());
            Sheets { names: vec![name], open: None }
        };
        let tables = locations.map(&mut table).collect();
        let scratch = scratch.map_or_else(|| Scratch::new(None), Ok)?;
        Ok(Book { scratch, names, tables, complete: BTreeMap::new(), most_rows: SHEET_ROWS })
    }

    /// Writes rows of a table. What does not fit into its sheet begins another.
    ///
    /// # Errors
    /// If a cell has no place in a sheet, or it cannot be written.
    pub fn write(&mut self, table: usize, batch: &RecordBatch) -> Result<()> {
        // A sheet that its reader takes.
        let most =
            u32::try_from(CELLS / batch.num_columns().max(1)).map_or(self.most_rows, |rows| rows.min(self.most_rows));
        let mut rest = batch.clone();
        while rest.num_rows() > 0 {
            let sheet = self.sheet(table, batch.schema_ref())?;
            let free = usize::try_from(most.saturating_sub(sheet.rows()).max(1)).unwrap_or(usize::MAX);
            let now = rest.num_rows().min(free);
            sheet.write(&rest.slice(0, now))?;
            rest = rest.slice(now, rest.num_rows() - now);
            if now == free {
                self.complete(table)?;
            }
        }
        Ok(())
    }

    /// Completes the sheets of a table; it has one even if it has no rows.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish_table(&mut self, table: usize, schema: &Schema) -> Result<()> {
        if self.complete.range((table, 0)..(table + 1, 0)).next().is_none() {
            self.sheet(table, schema)?;
        }
        self.complete(table)
    }

    /// The sheet of a table to which rows are added.
    fn sheet(&mut self, table: usize, schema: &Schema) -> Result<&mut SheetWriter<ZipPacker>> {
        let number = self.complete.range((table, 0)..(table + 1, 0)).count();
        let own = self.tables.get_mut(table).ok_or_else(|| Error::usage("no such table"))?;
        let sheet = match own.open.take() {
            Some(sheet) => sheet,
            None => {
                if number == own.names.len() {
                    own.names.push(self.names.give(&own.names[0]));
                }
                SheetWriter::create(ZipPacker::new(self.scratch.create()?), schema)?
            }
        };
        Ok(own.open.insert(sheet))
    }

    fn complete(&mut self, table: usize) -> Result<()> {
        let Some(own) = self.tables.get_mut(table) else { return Ok(()) };
        let Some(sheet) = own.open.take() else { return Ok(()) };
        let number = own.names.len() - 1;
        self.complete.insert((table, number), sheet.finish()?.finish()?);
        Ok(())
    }

    /// Writes the workbook with its mapping.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self, staging: &Staging, mut script: Script) -> Result<Written> {
        for (table, own) in script.tables.iter_mut().zip(&self.tables) {
            let more = &own.names[1..];
            if !more.is_empty() {
                let parts = more.iter().map(|name| format!("#{name}")).collect();
                table.options.extend(TableOptions { parts, ..TableOptions::default() }.written());
            }
        }
        let packer = ZipPacker::new(self.scratch.create()?);
        let mapping = SheetWriter::write_lines(packer, script.to_string().split('\n'))?.finish()?;
        let names = self.tables.iter().flat_map(|own| own.names.iter().map(String::as_str)).chain([MAPPING]);
        let names: Vec<&str> = names.collect();
        let name = staging.destination().file_name().to_owned();
        let mut archive = ZipWriter::new(staging.create(&name)?, &name);
        let scratch = &self.scratch;
        let mut text = |name: &str, text: &str| {
            let mut packer = ZipPacker::new(scratch.create()?);
            packer.write_all(text.as_bytes()).map_err(|error| Error::from(error).at(Place::file(name)))?;
            archive.add(name.to_owned(), &packer.finish()?)
        };
        text("[Content_Types].xml", &content_types(names.len()))?;
        text("_rels/.rels", &relationships(&[("officeDocument", "xl/workbook.xml".to_owned())]))?;
        text("xl/workbook.xml", &workbook(&names))?;
        let mut related: Vec<(&str, String)> =
            (1..=names.len()).map(|number| ("worksheet", format!("worksheets/sheet{number}.xml"))).collect();
        related.push(("styles", "styles.xml".to_owned()));
        text("xl/_rels/workbook.xml.rels", &relationships(&related))?;
        text("xl/styles.xml", SHEET_STYLES)?;
        for (at, sheet) in self.complete.values().chain([&mapping]).enumerate() {
            archive.add(format!("xl/worksheets/sheet{}.xml", at + 1), sheet)?;
        }
        let size = archive.finish()?;
        Ok(Written { files: vec![(name, size)] })
    }
}

fn content_types(sheets: usize) -> String {
    let mut text = format!(
        r#"{DECLARATION}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{CONTENT}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="{CONTENT}.styles+xml"/>"#
    );
    for number in 1..=sheets {
        // Writing to a text does not fail.
        let _ = write!(
            text,
            r#"<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="{CONTENT}.worksheet+xml"/>"#
        );
    }
    text + "</Types>"
}

/// The relationships of a part: their types and targets. The ids count them from 1.
fn relationships(all: &[(&str, String)]) -> String {
    let mut text = format!(r#"{DECLARATION}<Relationships xmlns="{PACKAGE}/relationships">"#);
    for (at, (kind, target)) in all.iter().enumerate() {
        let _ = write!(text, r#"<Relationship Id="rId{}" Type="{DOCUMENT}/{kind}" Target="{target}"/>"#, at + 1);
    }
    text + "</Relationships>"
}

fn workbook(names: &[&str]) -> String {
    let mut text = format!(r#"{DECLARATION}<workbook xmlns="{MAIN}" xmlns:r="{DOCUMENT}"><sheets>"#);
    for (at, name) in names.iter().enumerate() {
        let number = at + 1;
        let _ = write!(text, r#"<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>"#);
    }
    text + "</sheets></workbook>"
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array};
    use isomorph_storage::{Blob, Location, Mode};

    use super::*;

    #[test]
    fn names_of_sheets_are_short_and_differ() {
        let mut names = SheetNames::default();
        assert_eq!(names.give("person"), "person");
        assert_eq!(names.give("Person"), "Person_2");
        assert_eq!(names.give("History"), "History_2");
        let long = "a".repeat(40);
        assert_eq!(names.give(&long), long[..31]);
        assert_eq!(names.give(&long), format!("{}_2", &long[..29]));
        // A character that takes two in UTF-16 is not divided.
        assert_eq!(names.give(&"𝒜".repeat(20)), "𝒜".repeat(15));
    }

    #[test]
    fn rows_continue_in_further_sheets() {
        let home = tempfile::tempdir().unwrap();
        let place = Location::from_path(&home.path().join("x.xlsx"));
        let staging = Staging::file(&place, Mode::CreateNew).unwrap();
        let mut book = Book::new(None, ["#a", "#a_2"].into_iter()).unwrap();
        book.most_rows = 4;
        let rows = |from: i64, to: i64| {
            let column: ArrayRef = Arc::new(Int64Array::from_iter_values(from..to));
            RecordBatch::try_from_iter([("id", column)]).unwrap()
        };
        for batch in [rows(0, 2), rows(2, 7), rows(7, 9)] {
            book.write(0, &batch).unwrap();
        }
        let schema = rows(0, 1).schema();
        (0..2).for_each(|table| book.finish_table(table, &schema).unwrap());
        let table = |name: &str| crate::sql::ExternalTable {
            name: name.to_owned(),
            columns: Vec::new(),
            encoding: isomorph_tables::Encoding::Csv,
            location: format!("#{name}"),
            options: BTreeMap::new(),
            hints: crate::sql::Hints::default(),
            at: crate::sql::At::default(),
        };
        let script = Script { tables: vec![table("a"), table("a_2")], ..Script::default() };
        book.finish(&staging, script).unwrap();
        staging.commit(&[]).unwrap();
        let read = super::super::sheets("x.xlsx", &Blob::open(&place).unwrap()).unwrap();
        let texts: Vec<(String, String)> = read
            .tables
            .iter()
            .map(|(file, blob)| (file.stem.clone(), String::from_utf8(blob.read_all(1000).unwrap().to_vec()).unwrap()))
            .collect();
        let sheet = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        // The name a_2 is that of another table.
        assert_eq!(
            texts,
            [
                sheet("a", "id\n0\n1\n2\n"),
                sheet("a_3", "id\n3\n4\n5\n"),
                sheet("a_4", "id\n6\n7\n8\n"),
                sheet("a_2", "id\n"),
            ]
        );
        let mapping = read.mapping.unwrap();
        assert!(mapping.contains("'isomorph.parts' '[\"#a_3\",\"#a_4\"]'"), "{mapping}");
    }
}
