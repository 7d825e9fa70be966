//! How graphs are opened, and with what.

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
    /// The format of the input [default: by name and content]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(&Registry::standard()))]
    pub from: Option<Format>,
    /// What travels beside the data: use it and refuse when it is stale, use names and types alone, or leave it out
    #[arg(long, visible_alias = "carry", value_name = "USE", default_value = "auto", value_parser = sidecar_parser())]
    pub sidecar: SidecarUse,
    /// GraphAr: where the data is, instead of what its prefix says [default: as the prefix says]
    #[arg(long, value_name = "DIR")]
    pub root: Option<String>,
    /// GraphAr: follow links that stay below DIR, which holds the graph [default: follow none out of the graph's directory]
    #[arg(long, value_name = "DIR")]
    pub follow_links: Option<String>,
    /// GraphAr: the adjacency list that edges are read from [default: an ordered one]
    #[arg(long, value_name = "LIST", value_parser = list_parser())]
    pub adjacency: Option<graphar::info::AdjListType>,
    /// GraphAr: `row` identifies nodes by their position, whatever their primary property [default: the primary property]
    #[arg(long, value_name = "row", value_parser = ["row"])]
    pub key: Option<String>,
    /// GraphAr: the unit of timestamps that no Parquet file tells [default: ms]
    #[arg(long, value_name = "UNIT", value_parser = unit_parser())]
    pub timestamps: Option<TimeUnit>,
    /// NOCK, GraphLake: refuse whatever the specification forbids
    #[arg(long, conflicts_with = "lenient")]
    pub strict: bool,
    /// Go on where opening finds errors, with a warning; NOCK: guess where the specification is broken, too; GraphLake: sort files
    /// that are out of order; RDF: leave out what is broken, with what depends on it, and count it; DeepGNN: skip records of a text
    /// that are broken, and count them
    #[arg(long)]
    pub lenient: bool,
    /// NOCK: read edge_id as a property; it is layout otherwise
    #[arg(long)]
    pub keep_edge_id: bool,
    /// DeepGNN: the text format, instead of what names of files say; files of any name are taken for DeepGNN then [default: by name]
    #[arg(long, value_name = "FORMAT", value_parser = text_parser())]
    pub text_format: Option<deepgnn::TextFormat>,
    /// DeepGNN: the file with what Linear and EdgeList leave out [default: meta.json beside the text]
    #[arg(long, value_name = "FILE")]
    pub defaults: Option<String>,
    /// DeepGNN: read a text as the published converter does, also where that loses data [default: off]
    #[arg(long, value_name = "deepgnn", value_parser = ["deepgnn"])]
    pub compat: Option<String>,
    /// DeepGNN: lines of EdgeList state two times behind the weight
    #[arg(long)]
    pub temporal: bool,
    /// DeepGNN: types of the features of nodes in a binary, which does not store them: 0:float32,1:text,2:sparse-int64,3:float32-at-times [default: none]
    #[arg(long, value_name = "ID:TYPE,…", value_delimiter = ',', value_parser = feature)]
    pub node_features: Option<Vec<(u32, deepgnn::FeatureType)>>,
    /// DeepGNN: the same of edges [default: none]
    #[arg(long, value_name = "ID:TYPE,…", value_delimiter = ',', value_parser = feature)]
    pub edge_features: Option<Vec<(u32, deepgnn::FeatureType)>>,
    /// Edge lists: what the columns behind the ends are called, and of which types they are: weight,since:int [default: as a header says]
    #[arg(long, value_name = "NAME[:int|float|text],…", value_delimiter = ',', value_parser = edge_column)]
    pub edge_columns: Option<Vec<edgelist::Column>>,
    /// Edge lists: edges have no direction [default: as a comment says, else they have one]
    #[arg(long)]
    pub undirected: bool,
    /// Tables: a mapping file may name files outside its directory
    #[arg(long)]
    pub allow_outside: bool,
    /// GraphLake: the snapshot, by version, by id, or the one that was current at a time: 2026-11-22T10:00:00Z, 2026-11-22,
    /// @ and milliseconds since 1970; LAKE@VERSION and LAKE@@MILLISECONDS say the same [default: the latest]
    #[arg(long = "at", value_name = "SNAPSHOT")]
    pub snapshot: Option<graphlake::At>,
    /// GraphLake: what a short prefix of a foreign store stands for [default: the store's own]
    #[arg(long = "ns", alias = "prefix", value_name = "PREFIX=IRI", value_parser = namespace)]
    pub namespaces: Vec<(String, String)>,
    /// GraphLake: follow the specification literally: adding a deleted triple again has no effect
    #[arg(long)]
    pub naive: bool,
    /// RDF: the syntax, instead of what the name or the beginning of a text says [default: by name, then by content]
    #[arg(long, value_name = "SYNTAX", value_parser = syntax_parser())]
    pub syntax: Option<rdf::Syntax>,
    /// RDF: what relative IRIs are relative to, where a text does not say it; `convert`: what IRIs of types, properties and
    /// keys begin with, where a property graph becomes RDF [default: urn:x-isomorph:]
    #[arg(long, value_name = "IRI", value_parser = base)]
    pub base: Option<String>,
    /// Whether the base may be for what is written.
    #[arg(skip)]
    pub base_of_result: bool,
}

/// What a job may use.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Resources")]
pub struct ResourceArgs {
    /// Memory to work with: 512MiB, 2GiB [default: a quarter of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub memory: Option<u64>,
    /// Where temporary files go when that is too little [default: the system's]
    #[arg(long, value_name = "DIR")]
    pub temp_dir: Option<PathBuf>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

impl ResourceArgs {
    /// The resources that these arguments leave.
    ///
    /// # Errors
    /// When there is no place for temporary files.
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
            // Readers that divide their work by themselves take it from the pool of the process, which is made here, or
            // was made already by somebody who asked for the same.
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

    /// The format of the graph at `location`: that which a flag tells, where nothing else tells of a format.
    ///
    /// # Errors
    /// When it cannot be told.
    fn format_at(&self, location: &Location, given: &Given, formats: &Registry) -> Result<Format> {
        let is_open = |format: &Format| matches!(format.detect(location), Ok(false));
        match formats::told(given, formats).as_slice() {
            [told] if formats.all().iter().all(is_open) => Ok(*told),
            _ => formats.at(location),
        }
    }

    /// The options for the graph at `location`, whose format they name.
    ///
    /// # Errors
    /// When the format cannot be told, or an argument is for another one.
    pub fn options(&self, location: &Location, formats: &Registry, resources: &Resources) -> Result<OpenOptions> {
        let given = self.given();
        let format = match self.from {
            Some(format) => format,
            None => self.format_at(location, &given, formats)?,
        };
        if let Some((flag, of)) = formats::foreign(&given, format, formats, |flags| flags.opening) {
            let what = formats::names(&of);
            let error = Error::usage(format!("{flag} is for graphs kept in {what}, and this one is kept in {format}"))
                .at(location.to_string());
            // Texts may have any names; that of a file whose content tells nothing may mislead.
            let text = of.into_iter().find(|format| !format.flags().telling.is_empty());
            let text = text.filter(|_| self.from.is_none() && !format.detect(location).unwrap_or(true));
            return Err(match text {
                Some(text) => error.hint(format!("--from {}    read it as {text}", text.id())),
                None => error,
            });
        }
        self.options_of(Some(format), formats, resources)
    }

    /// The options for a graph of this format, or of one that is not known yet, whatever arguments there are for others.
    ///
    /// # Errors
    /// When an argument makes no sense.
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

    /// The place of the graph that a user calls `path`, and the options for it.
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

/// The place of a graph that is read and that a user calls `path`: also `-`, standard input. See [`snapshot_of`].
///
/// # Errors
/// As [`snapshot_of`]; when standard input cannot be read, or was read before.
pub fn read_place(path: &str, resources: &Resources) -> Result<(Location, Option<graphlake::At>)> {
    if path == stdio::DASH { Ok((stdio::input(&resources.scratch)?, None)) } else { snapshot_of(path) }
}

/// The place that a user calls `path`, where neither standard input nor standard output can be meant.
///
/// # Errors
/// When it is no place; [`isomorph::Kind::Usage`] for `-`.
pub fn file_place(path: &str) -> Result<Location> {
    if path == stdio::DASH {
        return Err(stdio::refused("a file or a directory is needed here"));
    }
    Location::parse(path)
}

/// The place that a user calls `path`, and the snapshot if it is a store and `@` with a snapshot behind it.
///
/// # Errors
/// When it is no place, or cannot be looked at.
pub fn snapshot_of(path: &str) -> Result<(Location, Option<graphlake::At>)> {
    graphlake::snapshot_of(file_place(path)?, path)
}

/// The place that a user calls `path`, where something is to be written.
///
/// # Errors
/// As [`snapshot_of`]; and when it is a snapshot of a store: these never change, and a directory of that name would hide it.
pub fn written_place(path: &str) -> Result<Location> {
    match snapshot_of(path)? {
        (location, None) => Ok(location),
        (store, Some(_)) => Err(Error::usage("a snapshot never changes")
            .at(path.to_owned())
            .hint(format!("{store}    the store itself"))),
    }
}

/// The store that a user calls `path`, where no snapshot is to be named.
///
/// # Errors
/// As [`snapshot_of`]; and when it is a snapshot.
pub fn whole_store(path: &str) -> Result<Location> {
    match snapshot_of(path)? {
        (location, None) => Ok(location),
        (store, Some(_)) => Err(Error::usage("a log is of a store, not of one of its snapshots")
            .at(path.to_owned())
            .hint(format!("isomorph lake log {store}"))),
    }
}

/// Reads the name of a column, with its type.
///
/// # Errors
/// When it is none.
pub fn edge_column(text: &str) -> Result<edgelist::Column> {
    text.parse()
}

/// Reads a prefix and what it stands for.
///
/// # Errors
/// When it is none.
pub fn namespace(text: &str) -> Result<(String, String)> {
    let refused = |because: &str| {
        Error::usage(format!("{text:?} is not a prefix and its namespace: {because}"))
            .hint("--ns ex=http://example.org/")
    };
    let (prefix, iri) = text.split_once('=').ok_or_else(|| refused("there is no ="))?;
    if prefix.contains(|c: char| c.is_whitespace() || c.is_control() || "<>\"':\\".contains(c)) {
        return Err(refused("a prefix has no blanks, colons, quotes and brackets"));
    }
    rdf::check_base(iri).map_err(|_| refused("the namespace is not an absolute IRI"))?;
    Ok((prefix.to_owned(), iri.to_owned()))
}

/// Reads what relative IRIs are relative to.
///
/// # Errors
/// When it is no absolute IRI.
pub fn base(text: &str) -> Result<String> {
    rdf::check_base(text).map(|()| text.to_owned())
}

/// The text formats of DeepGNN.
pub fn text_parser() -> impl TypedValueParser<Value = deepgnn::TextFormat> {
    PossibleValuesParser::new(deepgnn::TextFormat::ALL.map(deepgnn::TextFormat::id))
        .try_map(|id| id.parse::<deepgnn::TextFormat>())
}

/// The syntaxes of RDF.
pub fn syntax_parser() -> impl TypedValueParser<Value = rdf::Syntax> {
    PossibleValuesParser::new(rdf::Syntax::ALL.map(rdf::Syntax::id)).try_map(|id| id.parse::<rdf::Syntax>())
}

/// Reads a feature and its type.
fn feature(text: &str) -> Result<(u32, deepgnn::FeatureType)> {
    let wrong = || Error::usage(format!("{text:?} is no feature and its type")).hint("0:float32");
    let (id, ty) = text.split_once(':').ok_or_else(wrong)?;
    Ok((id.parse().map_err(|_| wrong())?, ty.parse()?))
}

/// `auto`, `schema`, `ignore`.
pub fn sidecar_parser() -> impl TypedValueParser<Value = SidecarUse> {
    PossibleValuesParser::new(["auto", "schema", "ignore"]).map(|word| match word.as_str() {
        "schema" => SidecarUse::Schema,
        "ignore" => SidecarUse::Ignore,
        _ => SidecarUse::Auto,
    })
}

/// The four kinds of adjacency lists.
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
