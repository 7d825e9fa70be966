//! The known formats, and detecting which of them a location holds.

use std::borrow::Cow;
use std::fmt;

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{Location, Root};

use crate::catalogue::{Listed, catalogue, not_one_graph};
use crate::driver::{Driver, Format};
use crate::drivers::STANDARD;
use crate::sidecar::Sidecar;

/// The known formats. A registry is a value: to add a format, pass on a registry that contains it.
#[derive(Clone)]
pub struct Registry(Cow<'static, [Format]>);

impl Registry {
    /// The formats of this library.
    pub const fn standard() -> Self {
        Registry(Cow::Borrowed(&STANDARD))
    }

    /// Adds the format of `driver`, or replaces the format with the same id. The driver is never freed, because handles of it are
    /// copied freely: make a registry once per process.
    #[must_use]
    pub fn with(mut self, driver: impl Driver + 'static) -> Self {
        let format = Format::new(Box::leak(Box::new(driver)));
        let formats = self.0.to_mut();
        match formats.iter_mut().find(|known| **known == format) {
            Some(known) => *known = format,
            None => formats.push(format),
        }
        self
    }

    /// All formats; those of this library first.
    pub fn all(&self) -> &[Format] {
        &self.0
    }

    /// All formats in the order in which they are tried on a location or a file name: added formats come first, because a built-in one
    /// may recognise their files by chance.
    pub fn detection_order(&self) -> impl Iterator<Item = Format> {
        let (known, added) = self.0.split_at(STANDARD.len().min(self.0.len()));
        added.iter().chain(known).copied()
    }

    /// All ids, joined by a separator.
    pub fn ids(&self, joined_by: &str) -> String {
        let ids: Vec<&str> = self.0.iter().map(|format| format.id()).collect();
        ids.join(joined_by)
    }

    /// The format with this id.
    pub fn find(&self, id: &str) -> Option<Format> {
        self.0.iter().copied().find(|format| format.id() == id)
    }

    /// The format with this id, in upper or lower case.
    ///
    /// # Errors
    /// [`Kind::Usage`] if no format has this id.
    pub fn named(&self, id: &str) -> Result<Format> {
        let known = self.find(&id.to_ascii_lowercase());
        known.ok_or_else(|| Error::usage(format!("{id:?} is not a format")).hint(self.ids(", ")))
    }

    /// The format that the name of a destination suggests.
    pub fn of_name(&self, name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        self.detection_order().find(|format| format.matches_name(&name))
    }

    /// The format at `location`.
    ///
    /// # Errors
    /// Returns [`Kind::NotFound`] if the location does not exist; [`Kind::Unsupported`] if it is not a recognised
    /// format, or a directory of several graphs, which the error lists.
    pub fn at(&self, location: &Location) -> Result<Format> {
        if let Some(format) = self.of_sidecar(location) {
            return Ok(format);
        }
        let mut missing = false;
        for format in self.detection_order() {
            match format.detect(location) {
                Ok(true) if !format.is_conclusive(location)? => return self.only(format, location),
                Ok(true) => return Ok(format),
                Ok(false) => {}
                Err(error) if error.kind() == Kind::NotFound => missing = true,
                Err(error) => return Err(error),
            }
        }
        if missing {
            let message = format!("no such file or directory{}", location.did_you_mean());
            return Err(Error::new(Kind::NotFound, message).at(location.to_string()));
        }
        let told = self.detection_order().find_map(|format| format.unrecognised(location));
        // The name suggests a format: its reader can report best what is wrong, unless another format knows that it is sound.
        let is_sound = told.as_ref().is_some_and(|error| matches!(error.kind(), Kind::Usage | Kind::Unsupported));
        if let Some(format) = self.of_name(location.file_name()).filter(|_| !is_sound) {
            return Ok(format);
        }
        let inside = catalogue(location, self)?;
        if !inside.graphs.is_empty() {
            return Err(not_one_graph(location, &inside));
        }
        let is_told = told.is_some();
        let unknown = || Error::unsupported("not a recognised graph format").at(location.to_string());
        let unknown = told.unwrap_or_else(unknown);
        Err(match self.around(location) {
            Some((format, around)) => unknown.hint(format!("{around}    open the {format} graph that it is part of")),
            None if is_told => unknown,
            None => unknown.hint(format!("--from {}    specify the format", self.ids("|"))),
        })
    }

    /// The format in which the unchanged files of a directory were written, if they have a sidecar: of a graph with few elements, files may look like those of another format, or of none. A sidecar
    /// that cannot be read, or belongs to other files, says nothing here.
    fn of_sidecar(&self, location: &Location) -> Option<Format> {
        if !location.scheme().has_listing() || Root::open(location).is_err() {
            return None;
        }
        let sidecar = Sidecar::read(location, true, self).ok().flatten()?;
        let format = self.find(&sidecar.format)?;
        let is_unchanged = sidecar.differences(location, true).is_ok_and(|differences| differences.is_empty());
        is_unchanged.then_some(format)
    }

    /// `format`, unless it is the format of one file in a directory that also holds other graphs.
    fn only(&self, format: Format, location: &Location) -> Result<Format> {
        let inside = catalogue(location, self)?;
        let parts = format.parts(location)?;
        let is_part = |graph: &Listed| parts.iter().any(|name| name == graph.location.file_name());
        let others = inside.graphs.iter().any(|graph| graph.format != format && !is_part(graph));
        if others { Err(not_one_graph(location, &inside)) } else { Ok(format) }
    }

    /// The graph that a local file or directory is part of: one that is at most two directories above it.
    fn around(&self, location: &Location) -> Option<(Format, Location)> {
        let is_dataset = |place: &Location| {
            let named = place.as_path().is_some_and(|path| path.file_name().is_some());
            let mut formats = self.detection_order().filter(|format| !format.traits().is_single_file && named);
            // Where only one file is a graph, the directory is no other one.
            let is_whole = |format: &Format| format.is_conclusive(place).unwrap_or(false);
            formats.find(|format| format.detect(place).unwrap_or(false) && is_whole(format))
        };
        let mut place = location.clone();
        for _ in 0..2 {
            place = place.parent()?;
            if let Some(format) = is_dataset(&place) {
                return Some((format, place));
            }
        }
        None
    }
}

impl Default for Registry {
    fn default() -> Self {
        Registry::standard()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registry").field(&self.ids(" ")).finish()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use isomorph_model::Source;
    use isomorph_model::capability::Capability;

    use super::*;
    use crate::OpenOptions;

    struct Named(&'static str);

    impl Driver for Named {
        fn id(&self) -> &'static str {
            self.0
        }

        fn name(&self) -> &'static str {
            "Named"
        }

        fn capability(&self) -> &'static Capability {
            &Capability::LEAST
        }

        fn detect(&self, location: &Location) -> Result<bool> {
            Ok(location.file_name() == "all.csv")
        }

        fn matches_name(&self, name: &str) -> bool {
            name == "all.csv"
        }

        fn open(&self, _location: &Location, _options: &OpenOptions) -> Result<Arc<dyn Source>> {
            Err(Error::unsupported("not implemented"))
        }
    }

    #[test]
    fn an_added_format_is_detected_first_and_listed_last() {
        let formats = Registry::standard().with(Named("all"));
        assert_eq!(
            formats.ids(" "),
            "graphar nock annnet apoc cypher matrixmarket adjlist multiline metis pajek graphalytics edgelist deepgnn graphlake graphml psl gml rdf kgx nodelink gexf jgf cx2 dot mermaid parquet csv arrow jsonl kgxl neo4j xlsx all"
        );
        assert_eq!(formats.of_name("ALL.CSV"), formats.find("all"));
        assert_eq!(formats.of_name("some.csv"), Some(Format::NOCK));
        assert_eq!(formats.named("All").unwrap().to_string(), "Named");
        assert_eq!(formats.named("other").unwrap_err().hints().next(), Some(formats.ids(", ").as_str()));
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("all.csv");
        std::fs::write(&place, "").unwrap();
        assert_eq!(formats.at(&Location::from_path(&place)).unwrap().id(), "all");
        // Other registries do not know it.
        assert_eq!(Registry::standard().all().len(), 32);
    }

    #[test]
    fn an_added_format_replaces_the_one_with_the_same_id() {
        let formats = Registry::standard().with(Named("nock"));
        assert_eq!(formats.all().len(), 32);
        assert_eq!(formats.find("nock").unwrap().name(), "Named");
        assert_eq!(formats.find("nock"), Some(Format::NOCK));
    }
}
