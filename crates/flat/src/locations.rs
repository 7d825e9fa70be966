//! The files that the mapping names.

use isomorph_error::{Kind, Result};
use isomorph_storage::{Blob, Location, check_relative};

use crate::opening::Opening;
use crate::parts;
use crate::sql::{ExternalTable, TableOptions};
use crate::workbook;

impl Opening {
    /// The files of a table: those that its location says, and those that an option adds.
    ///
    /// # Errors
    /// When they are not there, or outside the directory of the mapping file.
    pub fn blobs(&mut self, declared: &ExternalTable, options: &TableOptions, file: &str) -> Result<Vec<Blob>> {
        let mut all = Vec::new();
        for location in std::iter::once(&declared.location).chain(&options.parts) {
            let location = location.strip_prefix("./").unwrap_or(location);
            self.open_workbook(location)?;
            if let Some(at) = self.found.broken.iter().position(|sheet| sheet.name == location) {
                return Err(self.found.broken.swap_remove(at).error());
            }
            let of_sheet = self.found.sheets.iter().find(|(name, _)| name == location);
            match of_sheet {
                Some((_, sheet)) => all.push(sheet.clone()),
                None => self.find_blobs(declared, location, file, &mut all)?,
            }
        }
        Ok(all)
    }

    /// Reads the sheets of a workbook of which a location names one, `people.xlsx#Sheet1`, once.
    fn open_workbook(&mut self, location: &str) -> Result<()> {
        let Some((name, _)) = location.split_once('#').filter(|(name, _)| workbook::is_workbook(name)) else {
            return Ok(());
        };
        let is_open =
            self.found.sheets.iter().any(|(known, _)| known.split_once('#').is_some_and(|(own, _)| own == name));
        if !is_open && check_relative(name).is_ok() {
            let sheets = workbook::sheets(name, &self.found.root()?.file(name)?)?;
            self.findings.merge(sheets.findings);
            self.found.broken.extend(sheets.broken);
            self.found.sheets.extend(sheets.tables.into_iter().map(|(file, blob)| (file.name, blob)));
        }
        Ok(())
    }

    /// The files at one location. A name that leaves the directory of the mapping file is followed only where that is allowed.
    fn find_blobs(&self, declared: &ExternalTable, location: &str, file: &str, all: &mut Vec<Blob>) -> Result<()> {
        let root = self.found.root()?;
        let is_inside = check_relative(location.trim_end_matches('/')).is_ok();
        if is_inside {
            let is_several = location.ends_with('/') || parts::is_pattern(location);
            let one = if is_several { None } else { Some(root.file(location)) };
            let names = match &one {
                None => Some(parts::named(root, location, declared.encoding)?),
                Some(Err(error)) if matches!(error.kind(), Kind::NotFound | Kind::Malformed) => {
                    parts::named(root, location, declared.encoding).ok()
                }
                Some(_) => None,
            };
            if let Some(names) = names {
                all.extend(names.iter().map(|name| root.file(name)).collect::<Result<Vec<_>>>()?);
                return Ok(());
            }
            match one.unwrap_or_else(|| root.file(location)) {
                Err(error) if error.kind() == Kind::NotFound => {
                    return Err(declared.at.error(file, format!("the table {} has no file {location}", declared.name)));
                }
                Err(error)
                    if error.broken_rule() == Some(&isomorph_storage::PATH_ESCAPE) && self.options.allow_outside => {}
                found => {
                    all.push(found?);
                    return Ok(());
                }
            }
        }
        if matches!(location, "." | "") || location.ends_with('/') {
            let what = format!("the location of the table {} is a directory that is not below this one", declared.name);
            return Err(declared.at.error(file, what).hint("LOCATION 'people.csv'"));
        }
        if !self.options.allow_outside {
            let what =
                format!("the table {} is in {location}, outside the directory of the mapping file", declared.name);
            return Err(declared.at.error(file, what).hint("--allow-outside    read it all the same"));
        }
        let has_scheme = location.contains("://");
        let place = match root.location().as_path().filter(|_| !has_scheme) {
            Some(directory) => Location::from_path(&directory.join(location)),
            None => Location::parse(location)?,
        };
        all.push(Blob::open(&place)?);
        Ok(())
    }
}
