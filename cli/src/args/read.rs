//! Arguments for opening graphs, and for resources.

use std::path::PathBuf;

use arrow_schema::TimeUnit;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use isomorph::convert::{Format, OpenOptions, Registry, SidecarUse};
use isomorph::formats::{deepgnn, edgelist, graphar, graphlake, rdf};
use isomorph::storage::{Budget, Resources, Scratch};
use isomorph::{Error, Location, Result};

use super::formats::{self, Given};
use super::size;
use super::write::format_parser;
use crate::stdio;

/// How a graph is opened.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Opening")]
pub struct OpenArgs {
    /// Format of the input [default: by name and content]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(&Registry::standard()))]
    pub from: Option<Format>,
    /// How to use the sidecar: completely, and fail if it is stale (auto); only names and types (schema); not at all
    /// (ignore)
    #[arg(long, visible_alias = "carry", value_name = "USE", default_value = "auto", value_parser = sidecar_parser())]
    pub sidecar: SidecarUse,
    /// GraphAr: the directory of the data, instead of the prefix in the metadata [default: the prefix]
    #[arg(long, value_name = "DIR")]
    pub root: Option<String>,
    /// GraphAr: follow links to files below DIR, which must contain the graph [default: follow no links out of the
    /// graph's directory]
    #[arg(long, value_name = "DIR")]
    pub follow_links: Option<String>,
    /// GraphAr: the adjacency list from which edges are read [default: an ordered one]
    #[arg(long, value_name = "LIST", value_parser = list_parser())]
    pub adjacency: Option<graphar::info::AdjListType>,
    /// GraphAr: identify nodes by row number, not by their primary property [default: the primary property]
    #[arg(long, value_name = "row", value_parser = ["row"])]
    pub key: Option<String>,
    /// GraphAr: unit of timestamps whose unit no Parquet file states [default: ms]
    #[arg(long, value_name = "UNIT", value_parser = unit_parser())]
    pub timestamps: Option<TimeUnit>,
    /// NOCK, GraphLake: reject everything that the specification forbids
    #[arg(long, conflicts_with = "lenient")]
    pub strict: bool,
    /// If opening finds errors, warn and continue. NOCK: also guess where the data breaks the specification. GraphLake:
    /// sort files that are out of order. RDF: skip invalid statements and everything that depends on them, and count
    /// them. DeepGNN: skip invalid records of a text, and count them. Tables: set aside rows with wrong cells, repeated
    /// keys and ends that are no node. Files of graph tools, APOC: set aside nodes with repeated ids, and edges with ends
    /// that are no node. convert lists what is set aside in a file next to the output
    #[arg(long)]
    pub lenient: bool,
    /// NOCK: read edge_id as a property; otherwise it is treated as layout
    #[arg(long)]
    pub keep_edge_id: bool,
    /// DeepGNN: the text format; with it, files of any name are read as DeepGNN [default: by name]
    #[arg(long, value_name = "FORMAT", value_parser = text_parser())]
    pub text_format: Option<deepgnn::TextFormat>,
    /// DeepGNN: the file with the defaults that Linear and EdgeList omit [default: meta.json next to the text]
    #[arg(long, value_name = "FILE")]
    pub defaults: Option<String>,
    /// DeepGNN: read a text as the published converter does, even if that loses data [default: off]
    #[arg(long, value_name = "deepgnn", value_parser = ["deepgnn"])]
    pub compat: Option<String>,
    /// DeepGNN: lines of EdgeList have two times after the weight. A binary stores those of edges with --watermark
    #[arg(long)]
    pub temporal: bool,
    /// DeepGNN: types of node features in a binary, which does not store them:
    /// 0:float32,1:text,2:sparse-int64,3:float32-at-times [default: none]
    #[arg(long, value_name = "ID:TYPE,…", value_delimiter = ',', value_parser = feature)]
    pub node_features: Option<Vec<(u32, deepgnn::FeatureType)>>,
    /// DeepGNN: types of edge features, in the same form [default: none]
    #[arg(long, value_name = "ID:TYPE,…", value_delimiter = ',', value_parser = feature)]
    pub edge_features: Option<Vec<(u32, deepgnn::FeatureType)>>,
    /// Edge lists: names and types of the columns after source and target: weight,since:int [default: from the header]
    #[arg(long, value_name = "NAME[:int|float|text],…", value_delimiter = ',', value_parser = edge_column)]
    pub edge_columns: Option<Vec<edgelist::Column>>,
    /// Edge lists and adjacency lists: edges are undirected [default: as stated in a comment, otherwise directed]
    #[arg(long)]
    pub undirected: bool,
    /// Tables: a mapping file may name files outside its directory
    #[arg(long)]
    pub allow_outside: bool,
    /// GraphLake: the snapshot, by version, by id, or the one that was current at a time: 2026-11-22T10:00:00Z, 2026-11-22,
    /// @ and milliseconds since 1970; LAKE@VERSION and LAKE@@MILLISECONDS say the same [default: the latest]
    #[arg(long = "at", value_name = "SNAPSHOT")]
    pub snapshot: Option<graphlake::At>,
    /// GraphLake: namespace of a short prefix in a store that isomorph did not write [default: the store's own]
    #[arg(long = "ns", alias = "prefix", value_name = "PREFIX=IRI", value_parser = namespace)]
    pub namespaces: Vec<(String, String)>,
    /// GraphLake: follow the specification literally: adding a deleted triple again has no effect
    #[arg(long)]
    pub naive: bool,
    /// RDF: the syntax [default: by name, then by content]
    #[arg(long, value_name = "SYNTAX", value_parser = syntax_parser())]
    pub syntax: Option<rdf::Syntax>,
    /// RDF: base IRI, for texts that do not state one. `convert` from a property graph to RDF: prefix of the IRIs of
    /// types, properties and keys [default: urn:x-isomorph:]
    #[arg(long, value_name = "IRI", value_parser = base)]
    pub base: Option<String>,
    /// Whether `--base` may apply to the output.
    #[arg(skip)]
    pub base_of_result: bool,
}

/// Resources that a command may use.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Resources")]
pub struct ResourceArgs {
    /// Memory limit: 512MiB, 2GiB [default: a quarter of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub memory: Option<u64>,
    /// Directory for temporary files, used when the memory limit is too small [default: the system's]
    #[arg(long, value_name = "DIR")]
    pub temp_dir: Option<PathBuf>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

impl ResourceArgs {
    /// Returns the resources that these arguments allow.
    ///
    /// # Errors
    /// Returns an error if temporary files have no directory.
    pub fn resources(&self) -> Result<Resources> {
        let mut resources = Resources::of_this_machine()?;
        if let Some(bytes) = self.memory {
            resources.budget = Budget::new(bytes);
        }
        if let Some(directory) = &self.temp_dir {
            resources.scratch = Scratch::new(Some(directory))?;
        }
        if let Some(threads) = self.threads {
            resources.threads = usize::from(threads);
            // Readers that divide their work themselves use the global pool. It is created here, unless an earlier
            // caller in this process has already done so with the same number.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(resources.threads).build_global();
        }
        Ok(resources)
    }
}

impl OpenArgs {
    /// Which flags of formats are given.
    fn given(&self) -> [(&'static str, bool); 21] {
        [
            ("--root", self.root.is_some()),
            ("--follow-links", self.follow_links.is_some()),
            ("--adjacency", self.adjacency.is_some()),
            ("--key", self.key.is_some()),
            ("--timestamps", self.timestamps.is_some()),
            ("--strict", self.strict),
            ("--keep-edge-id", self.keep_edge_id),
            ("--text-format", self.text_format.is_some()),
            ("--defaults", self.defaults.is_some()),
            ("--compat", self.compat.is_some()),
            ("--temporal", self.temporal),
            ("--node-features", self.node_features.is_some()),
            ("--edge-features", self.edge_features.is_some()),
            ("--edge-columns", self.edge_columns.is_some()),
            ("--undirected", self.undirected),
            ("--allow-outside", self.allow_outside),
            ("--at", self.snapshot.is_some()),
            ("--ns", !self.namespaces.is_empty()),
            ("--naive", self.naive),
            ("--syntax", self.syntax.is_some()),
            ("--base", self.base.is_some() && !self.base_of_result),
        ]
    }

    /// The first flag that changes how a graph is read, apart from its format and its snapshot.
    #[cfg(feature = "cluster")]
    pub fn changing(&self) -> Option<&'static str> {
        let own = [("--sidecar", self.sidecar != SidecarUse::default()), ("--lenient", self.lenient)];
        let all = own.into_iter().chain(self.given());
        all.filter(|(flag, _)| *flag != "--at").find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    /// Returns the format of the graph at `location`: the one that the flags select if nothing else identifies it.
    ///
    /// # Errors
    /// Returns an error if the format cannot be determined.
    fn format_at(&self, location: &Location, given: &Given, formats: &Registry) -> Result<Format> {
        let is_open = |format: &Format| matches!(format.detect(location), Ok(false));
        match formats::told(given, formats).as_slice() {
            [told] if formats.all().iter().all(is_open) => Ok(*told),
            _ => formats.at(location),
        }
    }

    /// Returns the options for opening the graph at `location`, including its format.
    ///
    /// # Errors
    /// Returns an error if the format cannot be determined, or if an argument applies to another format.
    pub fn options(&self, location: &Location, formats: &Registry, resources: &Resources) -> Result<OpenOptions> {
        let given = self.given();
        let format = match self.from {
            Some(format) => format,
            None => self.format_at(location, &given, formats)?,
        };
        if let Some((flag, of)) = formats::foreign(&given, format, formats, |flags| flags.opening) {
            let what = formats::names(&of);
            let error = Error::usage(format!("{flag} applies to {what}; this graph's format is {format}"))
                .at(location.to_string());
            // Texts may have any name, and the name of a file whose content is not distinctive can mislead.
            let text = of.into_iter().find(|format| !format.traits().flags.telling.is_empty());
            let text = text.filter(|_| self.from.is_none() && !format.detect(location).unwrap_or(true));
            return Err(match text {
                Some(text) => error.hint(format!("--from {}    read it as {text}", text.id())),
                None => error,
            });
        }
        self.options_of(Some(format), formats, resources)
    }

    /// Returns the options for a graph of this format, or of an unknown one. Arguments for other formats are not
    /// checked.
    ///
    /// # Errors
    /// Returns an error if an argument is invalid.
    pub fn options_of(&self, format: Option<Format>, formats: &Registry, resources: &Resources) -> Result<OpenOptions> {
        let mut options = OpenOptions {
            from: format,
            sidecar: self.sidecar,
            formats: formats.clone(),
            resources: Some(resources.clone()),
            unsound: self.lenient,
            ..OpenOptions::default()
        };
        formats::of(format).try_for_each(|own| own.opening(self, &mut options))?;
        Ok(options)
    }

    /// Returns the location that a user calls `path`, and the options for opening it.
    ///
    /// # Errors
    /// As [`OpenArgs::options`].
    pub fn place(&self, path: &str, formats: &Registry, resources: &Resources) -> Result<(Location, OpenOptions)> {
        let (location, at) = read_place(path, resources)?;
        let mut options = self.options(&location, formats, resources)?;
        match at {
            Some(_) if self.snapshot.is_some() => {
                return Err(Error::usage("the snapshot is named twice, in the path and by --at").at(path.to_owned()));
            }
            Some(at) => options.get_mut::<graphlake::OpenOptions>().at = at,
            None => {}
        }
        Ok((location, options))
    }
}

/// Returns the location of an input that a user calls `path`, which may be `-`, standard input. See [`snapshot_of`].
///
/// # Errors
/// As [`snapshot_of`]; also if standard input cannot be read, or was read before.
pub fn read_place(path: &str, resources: &Resources) -> Result<(Location, Option<graphlake::At>)> {
    if path == stdio::DASH { Ok((stdio::input(&resources.scratch)?, None)) } else { snapshot_of(path) }
}

/// Returns the location that a user calls `path`, where neither standard input nor standard output is possible.
///
/// # Errors
/// Returns an error if the path is not a location; [`isomorph::Kind::Usage`] for `-`.
pub fn file_place(path: &str) -> Result<Location> {
    if path == stdio::DASH {
        return Err(stdio::refused("this argument must be a file or a directory"));
    }
    Location::parse(path)
}

/// Returns the location that a user calls `path`, and the snapshot if it is a store followed by `@` and a snapshot.
///
/// # Errors
/// Returns an error if the path is not a location, or cannot be accessed.
pub fn snapshot_of(path: &str) -> Result<(Location, Option<graphlake::At>)> {
    graphlake::snapshot_of(file_place(path)?, path)
}

/// Returns the destination that a user calls `path`.
///
/// # Errors
/// As [`snapshot_of`]; also for a snapshot of a store. Snapshots never change, and a directory of that name would hide
/// it.
pub fn written_place(path: &str) -> Result<Location> {
    match snapshot_of(path)? {
        (location, None) => Ok(location),
        (store, Some(_)) => Err(Error::usage("a snapshot cannot be changed")
            .at(path.to_owned())
            .hint(format!("{store}    the store itself"))),
    }
}

/// Returns the store that a user calls `path`, without a snapshot.
///
/// # Errors
/// As [`snapshot_of`]; also if the path names a snapshot.
pub fn whole_store(path: &str) -> Result<Location> {
    match snapshot_of(path)? {
        (location, None) => Ok(location),
        (store, Some(_)) => Err(Error::usage("a log belongs to a store, not to one of its snapshots")
            .at(path.to_owned())
            .hint(format!("isomorph lake log {store}"))),
    }
}

/// Parses the name of a column and its type.
///
/// # Errors
/// Returns a usage error if the text has another form.
pub fn edge_column(text: &str) -> Result<edgelist::Column> {
    text.parse()
}

/// Parses a prefix and its namespace.
///
/// # Errors
/// Returns a usage error if the text has another form.
pub fn namespace(text: &str) -> Result<(String, String)> {
    let refused = |because: &str| {
        Error::usage(format!("{text:?} is not PREFIX=IRI: {because}")).hint("--ns ex=http://example.org/")
    };
    let (prefix, iri) = text.split_once('=').ok_or_else(|| refused("it has no ="))?;
    if prefix.contains(|c: char| c.is_whitespace() || c.is_control() || "<>\"':\\".contains(c)) {
        return Err(refused("a prefix cannot contain blanks, colons, quotes or brackets"));
    }
    rdf::check_base(iri).map_err(|_| refused("the namespace is not an absolute IRI"))?;
    Ok((prefix.to_owned(), iri.to_owned()))
}

/// Parses a base IRI.
///
/// # Errors
/// Returns a usage error if the text is not an absolute IRI.
pub fn base(text: &str) -> Result<String> {
    rdf::check_base(text).map(|()| text.to_owned())
}

/// Parser of the text formats of DeepGNN.
pub fn text_parser() -> impl TypedValueParser<Value = deepgnn::TextFormat> {
    PossibleValuesParser::new(deepgnn::TextFormat::ALL.map(deepgnn::TextFormat::id))
        .try_map(|id| id.parse::<deepgnn::TextFormat>())
}

/// Parser of the syntaxes of RDF.
pub fn syntax_parser() -> impl TypedValueParser<Value = rdf::Syntax> {
    PossibleValuesParser::new(rdf::Syntax::ALL.map(rdf::Syntax::id)).try_map(|id| id.parse::<rdf::Syntax>())
}

/// Parses a feature id and its type.
fn feature(text: &str) -> Result<(u32, deepgnn::FeatureType)> {
    let wrong = || Error::usage(format!("{text:?} is not ID:TYPE")).hint("0:float32");
    let (id, ty) = text.split_once(':').ok_or_else(wrong)?;
    Ok((id.parse().map_err(|_| wrong())?, ty.parse()?))
}

/// Parser of `auto`, `schema` and `ignore`.
pub fn sidecar_parser() -> impl TypedValueParser<Value = SidecarUse> {
    PossibleValuesParser::new(["auto", "schema", "ignore"]).map(|word| match word.as_str() {
        "schema" => SidecarUse::Schema,
        "ignore" => SidecarUse::Ignore,
        _ => SidecarUse::Auto,
    })
}

/// Parser of the four kinds of adjacency lists.
pub fn list_parser() -> impl TypedValueParser<Value = graphar::info::AdjListType> {
    use graphar::info::AdjListType;
    PossibleValuesParser::new(AdjListType::ALL.map(AdjListType::word))
        .map(|word| AdjListType::from_word(&word).unwrap_or(AdjListType::OrderedBySource))
}

fn unit_parser() -> impl TypedValueParser<Value = TimeUnit> {
    PossibleValuesParser::new(["s", "ms", "us", "ns"]).map(|word| match word.as_str() {
        "s" => TimeUnit::Second,
        "us" => TimeUnit::Microsecond,
        "ns" => TimeUnit::Nanosecond,
        _ => TimeUnit::Millisecond,
    })
}
