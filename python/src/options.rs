//! How graphs are opened and written, as Python says it.

use std::path::Path;

use isomorph::convert::{ConvertOptions, Format, Hyperedges, OpenOptions, RdfMode, Registry, SidecarUse, WriteOptions};
use isomorph::formats::{annnet, deepgnn, flat, graphar, graphfile, graphlake, neo4j, nock, rdf};
use isomorph::storage::{Budget, Resources, Scratch};
use isomorph::{Error, Location, Result};
use pyo3::prelude::*;

/// Options of opening. Python passes all of them.
#[derive(Debug, Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Opening {
    format: Option<String>,
    at: Option<String>,
    sidecar: String,
    lenient: bool,
    strict: bool,
    memory: Option<u64>,
    threads: Option<usize>,
    temp_dir: Option<String>,
    base: Option<String>,
    syntax: Option<String>,
    naive: bool,
    allow_outside: bool,
    namespaces: Vec<(String, String)>,
}

impl Opening {
    /// The resources of this machine, as far as the options do not limit them.
    pub(crate) fn resources(&self) -> Result<Resources> {
        resources(self.memory, self.threads, self.temp_dir.as_deref())
    }

    /// The location that `path` names, with the options for opening it. Paths become absolute, so that they mean the same after the
    /// working directory has changed.
    pub(crate) fn place(&self, path: &str) -> Result<(Location, OpenOptions)> {
        let (location, at) = graphlake::snapshot_of(Location::parse(path)?, path)?;
        let at = match (at, &self.at) {
            (Some(_), Some(_)) => {
                return Err(Error::usage("the snapshot is named twice, in the path and by at=").at(path.to_owned()));
            }
            (Some(at), None) => Some(at),
            (None, at) => at.as_deref().map(str::parse).transpose()?,
        };
        Ok((absolute(location)?, self.options(at)?))
    }

    fn options(&self, at: Option<graphlake::At>) -> Result<OpenOptions> {
        if self.lenient && self.strict {
            return Err(Error::usage("lenient and strict exclude each other"));
        }
        let formats = Registry::standard();
        let mut options = OpenOptions {
            from: self.format.as_deref().map(|id| formats.named(id)).transpose()?,
            sidecar: match self.sidecar.as_str() {
                "auto" => SidecarUse::Auto,
                "schema" => SidecarUse::Schema,
                "ignore" => SidecarUse::Ignore,
                other => return Err(one_of("sidecar", other, "auto, schema, ignore")),
            },
            resources: Some(self.resources()?),
            unsound: self.lenient,
            ..OpenOptions::default()
        };
        let lake = options.get_mut::<graphlake::OpenOptions>();
        lake.at = at.unwrap_or_default();
        lake.naive = self.naive;
        lake.namespaces = self.namespaces.iter().cloned().collect();
        lake.tolerance = match (self.strict, self.lenient) {
            (true, _) => graphlake::Tolerance::Strict,
            (_, true) => graphlake::Tolerance::Lenient,
            _ => graphlake::Tolerance::Normal,
        };
        options.get_mut::<nock::OpenOptions>().tolerance = match (self.strict, self.lenient) {
            (true, _) => nock::Tolerance::Strict,
            (_, true) => nock::Tolerance::Lenient,
            _ => nock::Tolerance::Normal,
        };
        let text = options.get_mut::<rdf::OpenOptions>();
        text.syntax = self.syntax.as_deref().map(syntax).transpose()?;
        text.read.base.clone_from(&self.base);
        text.read.lenient = self.lenient;
        options.get_mut::<deepgnn::OpenOptions>().lenient = self.lenient;
        let tables = options.get_mut::<flat::OpenOptions>();
        (tables.allow_outside, tables.lenient) = (self.allow_outside, self.lenient);
        options.get_mut::<graphfile::OpenOptions>().lenient = self.lenient;
        options.get_mut::<neo4j::OpenOptions>().lenient = self.lenient;
        Ok(options)
    }

    /// Whether a snapshot was asked for.
    pub(crate) fn names_snapshot(&self) -> bool {
        self.at.is_some()
    }
}

/// All cores and a quarter of the memory, or less.
pub(crate) fn resources(memory: Option<u64>, threads: Option<usize>, temp_dir: Option<&str>) -> Result<Resources> {
    let mut resources = Resources::of_this_machine()?;
    if let Some(bytes) = memory {
        resources.budget = Budget::new(bytes);
    }
    if let Some(directory) = temp_dir {
        resources.scratch = Scratch::new(Some(Path::new(directory)))?;
    }
    match threads {
        Some(0) => return Err(Error::usage("threads must be at least 1")),
        Some(threads) => resources.threads = threads,
        None => {}
    }
    Ok(resources)
}

/// The location where `path` is written, which cannot be a snapshot.
pub(crate) fn destination(path: &str) -> Result<Location> {
    match graphlake::snapshot_of(Location::parse(path)?, path)? {
        (location, None) => absolute(location),
        (store, Some(_)) => Err(Error::usage("a snapshot cannot be changed")
            .at(path.to_owned())
            .hint(format!("{store}    the store itself"))),
    }
}

/// The same place with an absolute path.
pub(crate) fn absolute(location: Location) -> Result<Location> {
    match location.as_path().filter(|path| path.is_relative()) {
        None => Ok(location),
        Some(path) => Ok(Location::from_path(&std::path::absolute(path)?)),
    }
}

/// A syntax of RDF, by its usual extension or name.
pub(crate) fn syntax(name: &str) -> Result<rdf::Syntax> {
    use rdf::Syntax;
    Ok(match name.to_ascii_lowercase().as_str() {
        "nt" | "ntriples" | "n-triples" => Syntax::NTriples,
        "nq" | "nquads" | "n-quads" => Syntax::NQuads,
        "ttl" | "turtle" => Syntax::Turtle,
        "trig" => Syntax::TriG,
        "rdf" | "xml" | "rdfxml" => Syntax::RdfXml,
        "jsonld" | "json-ld" => Syntax::JsonLd,
        other => return Err(one_of("syntax", other, "nt, nq, ttl, trig, rdf, jsonld")),
    })
}

fn one_of(option: &str, found: &str, expected: &str) -> Error {
    Error::usage(format!("{option} must be one of {expected}; found {found:?}"))
}

/// Options of writing. Python passes all of them.
#[derive(Debug, Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Writing {
    to: Option<String>,
    lossy: bool,
    verify: bool,
    replace: bool,
    base: Option<String>,
    hyperedges: String,
    rdf_mode: Option<String>,
    labels_from_type: bool,
}

impl Writing {
    /// The options of a conversion, apart from the layout.
    pub(crate) fn options(&self) -> Result<ConvertOptions> {
        Ok(ConvertOptions {
            to: self.to.as_deref().map(|id| Registry::standard().named(id)).transpose()?,
            lossy: self.lossy,
            no_verify: !self.verify,
            replace: self.replace,
            base: self.base.clone(),
            hyperedges: match self.hyperedges.as_str() {
                "reify" => Hyperedges::Reify,
                "expand" => Hyperedges::Expand,
                "skip" => Hyperedges::Skip,
                other => return Err(one_of("hyperedges", other, "reify, expand, skip")),
            },
            rdf_mode: match self.rdf_mode.as_deref() {
                None => None,
                Some("rich") => Some(RdfMode::Rich),
                Some("pynock") => Some(RdfMode::Pynock),
                Some(other) => return Err(one_of("rdf_mode", other, "rich, pynock")),
            },
            labels_from_type: self.labels_from_type,
            ..ConvertOptions::default()
        })
    }
}

/// The layout of `to` at a destination of this name: what its ending says. `returns` tells whether the graph came from `to` and goes
/// back.
pub(crate) fn layout(to: Format, name: &str, returns: bool) -> WriteOptions {
    let (mut options, lower) = (WriteOptions::default(), name.to_ascii_lowercase());
    if to == Format::NOCK && lower.ends_with(".csv") {
        options.get_mut::<nock::CreateOptions>().format = nock::Format::Csv;
    }
    if to == Format::DEEPGNN {
        options.get_mut::<deepgnn::WriteOptions>().text = deepgnn::TextFormat::of_name(name);
    }
    if to == Format::ANNNET {
        options.get_mut::<annnet::WriteOptions>().archive = lower.ends_with(".annnet");
    }
    if to == Format::GRAPHAR {
        options.get_mut::<graphar::WriteOptions>().hints = returns;
    }
    options
}
