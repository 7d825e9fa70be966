//! Arguments for the output format and its layout.

use std::path::Path;
use std::time::SystemTime;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use isomorph::convert::{
    Clash, EdgeProperties, Format, Hyperedges, IriMap, NodeTypes, RdfMode, Registry, TypesFrom, Typing, WriteOptions,
};
use isomorph::formats::annnet::update::AttributeTable;
use isomorph::formats::graphar::info::{AdjListType, FileType};
use isomorph::formats::graphar::write::Grouping;
use isomorph::formats::{annnet, deepgnn, edgelist, nock, rdf};
use isomorph::tables::Compression;
use isomorph::{Error, Result};

use super::epoch;
use super::formats;
use super::read::{list_parser, syntax_parser, text_parser};

/// The output format and its layout.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Target")]
pub struct TargetArgs {
    /// Format of the output [default: by the destination's name; else the original format of the sidecar; else, if the
    /// name has no extension, the format of the input]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(&Registry::standard()))]
    pub to: Option<Format>,
    /// File type: parquet, orc, csv or json for GraphAr, parquet or csv for NOCK [default: for NOCK by the
    /// destination's name; for GraphAr as in the input if its layout is kept or stored in the sidecar; else parquet]
    #[arg(long, value_name = "TYPE", value_parser = file_type_parser())]
    pub file_type: Option<FileType>,
    /// Compression of Parquet, ORC and annnet arrays: none, snappy, zstd, lz4, gzip or brotli, with a level as in
    /// zstd:3 [default: snappy for NOCK, zstd:1 for GraphAr and annnet]
    #[arg(long, value_name = "CODEC", value_parser = compression)]
    pub compression: Option<Compression>,
    /// GraphAr: vertices per chunk [default: 65536]
    #[arg(long, value_name = "ROWS", visible_alias = "vertex-chunk-size", value_parser = clap::value_parser!(u64).range(1..))]
    pub vertex_chunk: Option<u64>,
    /// GraphAr: edges per chunk [default: 4194304]
    #[arg(long, value_name = "ROWS", visible_alias = "edge-chunk-size", value_parser = clap::value_parser!(u64).range(1..))]
    pub edge_chunk: Option<u64>,
    /// GraphAr: the adjacency lists of every edge type [default: ordered_by_source,ordered_by_dest]
    #[arg(long, value_name = "LIST,…", value_delimiter = ',', value_parser = list_parser())]
    pub adj_lists: Option<Vec<AdjListType>>,
    /// GraphAr: store all properties of a type in the same files, or each in its own [default: one]
    #[arg(long, value_name = "HOW", value_parser = grouping_parser())]
    pub groups: Option<Grouping>,
    /// GraphAr: name of the graph [default: its own]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// NOCK → GraphAr: write one column per member of props, or one column of JSON [default: columns]
    #[arg(long, value_name = "HOW", value_parser = ["columns", "json"], default_value = "columns", hide_default_value = true)]
    pub props: String,
    /// NOCK → GraphAr: write labels as labels, or as a property [default: files]
    #[arg(long, value_name = "HOW", value_parser = ["files", "property"], default_value = "files", hide_default_value = true)]
    pub labels: String,
    /// NOCK → GraphAr: write one edge type per relation, or a single one with the relation in a column [default: types]
    #[arg(long, value_name = "HOW", value_parser = ["types", "column"], default_value = "types", hide_default_value = true)]
    pub relations: String,
    /// RDF, NOCK → others: one node type per class or label. DeepGNN → others: one per value of a property of 32-bit
    /// integers [default: one node type]
    #[arg(long, value_name = "label|property:NAME", value_parser = types_from)]
    pub node_type_from: Option<TypesFrom>,
    /// RDF → others: write classes, as stated by rdf:type in the default graph, as labels [default: none]
    #[arg(long, value_name = "rdf:type", value_parser = ["rdf:type"])]
    pub labels_from: Option<String>,
    /// RDF → NOCK, NOCK → RDF: rich maps literals to properties and back; pynock maps them as pynock does: literals to
    /// nodes, edges to triples. pynock implies --lossy [default: rich to NOCK, as a property graph to RDF]
    #[arg(long, value_name = "MODE", value_parser = rdf_mode_parser())]
    pub rdf_mode: Option<RdfMode>,
    /// Names of these node types: 0=person,1=city or http://example.org/Person=person. The type of a node with several
    /// labels is the first of them in this list, otherwise the first in byte order [default: the values]
    #[arg(long, value_name = "VALUE=NAME,…", value_delimiter = ',', value_parser = type_name, requires = "node_type_from")]
    pub type_names: Option<Vec<(String, String)>>,
    /// GraphAr: keep the layout of the input, except for what other arguments set
    #[arg(long)]
    pub keep_layout: bool,
    /// NOCK, DeepGNN: write a directory of N partitions, or of N files of a text [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub partitions: Option<u32>,
    /// NOCK: the node column, not a member of props, with the partition number, from 0 [default: a hash of the name]
    #[arg(long, value_name = "NAME", requires = "partitions")]
    pub partition_by: Option<String>,
    /// NOCK: physical types: those of the specification, or those that pynock writes [default: spec]
    #[arg(long, value_name = "TYPES", value_parser = dialect_parser())]
    pub dialect: Option<nock::Types>,
    /// NOCK: write truth as DOUBLE, for values that do not fit into FLOAT
    #[arg(long)]
    pub truth_double: bool,
    /// NOCK: nest edge rows in node rows; pynock cannot read this
    #[arg(long)]
    pub nested_edges: bool,
    /// NOCK: write props as a Parquet map; pynock cannot read this
    #[arg(long)]
    pub props_map: bool,
    /// NOCK: sort the rows of a text file by name
    #[arg(long)]
    pub sort: bool,
    /// annnet: the layout of annnet 0.4, or of the specification [default: v2]
    #[arg(long, value_name = "LAYOUT", value_parser = layout_parser())]
    pub layout: Option<annnet::WriteLayout>,
    /// annnet: also write the incidence matrix, which is redundant
    #[arg(long)]
    pub matrix: bool,
    /// DeepGNN: write text of this format instead of a binary [default: by the destination's name, as in graph.tsv.gz]
    #[arg(long, value_name = "FORMAT", value_parser = text_parser())]
    pub text: Option<deepgnn::TextFormat>,
    /// DeepGNN: omit from Linear and EdgeList what all nodes or all edges have in common, and write it once, to
    /// meta.json in the directory of --partitions
    #[arg(long, requires = "partitions")]
    pub leave_out: bool,
    /// DeepGNN: assign lines to partitions by line number or by their first id [default: line]
    #[arg(long, value_name = "BY", value_parser = dispatch_parser())]
    pub dispatch: Option<deepgnn::Dispatch>,
    /// DeepGNN: omit the tables for weighted sampling
    #[arg(long)]
    pub no_samplers: bool,
    /// DeepGNN: the watermark, the last known time. A binary made of a text stores times of edges only if it is given; without it they are in
    /// the sidecar alone, where DeepGNN's engine does not see them [default: none]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub watermark: Option<i64>,
    /// Edge lists: how to write edge properties [default: in columns if all are numbers that every edge has]
    #[arg(long, value_name = "WHERE", value_parser = edge_data_parser())]
    pub edge_data: Option<edgelist::EdgeData>,
    /// RDF: syntax of the output [default: by the destination's name, as in graph.ttl.gz]
    #[arg(long, value_name = "SYNTAX", value_parser = syntax_parser())]
    pub to_syntax: Option<rdf::Syntax>,
    /// RDF: version of the output. 1.2 states properties of edges with triple terms, which RDF 1.1 does not have
    /// [default: 1.2]
    #[arg(long, value_name = "VERSION", value_parser = ["1.1", "1.2"])]
    pub rdf: Option<String>,
    /// RDF 1.1: how to write properties of edges: as statements (rdf:subject, …), as a predicate or a named graph for
    /// each edge, or not at all. drop implies --lossy [default: reification]
    #[arg(long, value_name = "HOW", value_parser = edge_properties_parser(), requires = "rdf")]
    pub edge_properties: Option<EdgeProperties>,
    /// Property graphs → RDF text, RDF → typed graphs: JSON with the names of types, properties and relations, how the
    /// IRIs of nodes begin, and the IRIs of a vocabulary for them; see docs/mapping.md [default: IRIs below --base]
    #[arg(long, value_name = "FILE")]
    pub iri_map: Option<String>,
    /// annnet: also write cache/csr.zarr and cache/csc.zarr, edges by their ends for fast look-ups
    #[arg(long)]
    pub cache: bool,
    /// Time to store in files and directories. Nothing else in the output depends on when or where it was written
    /// [default: SOURCE_DATE_EPOCH, or the clock]
    #[arg(long, value_name = "SECONDS|RFC3339", value_parser = epoch::parse)]
    pub epoch: Option<SystemTime>,
}

/// Parses `nodes=FILE`.
///
/// # Errors
/// Returns a usage error if the table is unknown, or the file is missing.
pub fn attribute_table(text: &str) -> Result<(AttributeTable, String)> {
    let (kind, file) = named_file(text)?;
    let table = match kind.as_str() {
        "nodes" => AttributeTable::Nodes,
        "edges" => AttributeTable::Edges,
        "slices" => AttributeTable::Slices,
        "edge-slices" => AttributeTable::EdgeSlices,
        "layers" => AttributeTable::Layers,
        _ => return Err(Error::usage(format!("{kind:?} is not one of nodes, edges, slices, edge-slices, layers"))),
    };
    Ok((table, file))
}

/// Parses `NAME=FILE`. Both may contain `=`, and the name of a slice may be empty: the name ends at the first `=` that
/// precedes an existing file, or at the first `=` if there is no such file.
///
/// # Errors
/// Returns a usage error if there is no file.
pub fn named_file(text: &str) -> Result<(String, String)> {
    let splits = || {
        let parts = text.match_indices('=').map(|(at, _)| text.split_at(at));
        parts.filter_map(|(name, file)| Some((name, file.strip_prefix('=').filter(|file| !file.is_empty())?)))
    };
    match splits().find(|(_, file)| Path::new(file).exists()).or_else(|| splits().next()) {
        Some((name, file)) => Ok((name.to_owned(), file.to_owned())),
        None => Err(Error::usage(format!("{text:?} does not name a file: use NAME=FILE"))),
    }
}

impl TargetArgs {
    /// Returns the time to use instead of the clock.
    ///
    /// # Errors
    /// Returns an error if the environment variable is invalid.
    pub fn epoch(&self) -> Result<Option<SystemTime>> {
        epoch::or_environment(self.epoch)
    }

    /// Returns how nodes get their types.
    pub fn node_types(&self) -> Option<NodeTypes> {
        let from = self.node_type_from.clone()?;
        Some(NodeTypes { from, names: self.type_names.iter().flatten().cloned().collect() })
    }

    /// Returns how properties of edges are written, if the output must be RDF 1.1.
    ///
    /// # Errors
    /// Returns a usage error if they are given for RDF 1.2.
    pub fn rdf_1_1(&self) -> Result<Option<EdgeProperties>> {
        match (self.rdf.as_deref(), self.edge_properties) {
            (Some("1.1"), form) => Ok(Some(form.unwrap_or_default())),
            (_, Some(_)) => Err(Error::usage("--edge-properties applies to --rdf 1.1; RDF 1.2 has triple terms")),
            (_, None) => Ok(None),
        }
    }

    /// Returns the IRIs of a vocabulary.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is no such map.
    pub fn iri_map(&self) -> Result<Option<IriMap>> {
        let Some(path) = &self.iri_map else { return Ok(None) };
        let text = std::fs::read_to_string(path).map_err(|error| Error::from(error).at(path.as_str()))?;
        IriMap::parse(&text).map(Some).map_err(|error| error.at(path.as_str()))
    }

    /// Returns how a graph without a schema is typed.
    pub fn typing(&self) -> Typing {
        let mut typing = Typing::default();
        if self.props != "columns" {
            typing.columns = 0;
        }
        if self.labels != "files" {
            typing.labels = 0;
        }
        if self.relations != "types" {
            typing.relations = 0;
        }
        typing
    }

    /// Returns the flags of single formats, and whether they were given.
    fn given(&self) -> [(&'static str, bool); 30] {
        [
            ("--vertex-chunk", self.vertex_chunk.is_some()),
            ("--edge-chunk", self.edge_chunk.is_some()),
            ("--adj-lists", self.adj_lists.is_some()),
            ("--groups", self.groups.is_some()),
            ("--name", self.name.is_some()),
            ("--keep-layout", self.keep_layout),
            ("--props", self.props != "columns"),
            ("--labels", self.labels != "files"),
            ("--relations", self.relations != "types"),
            ("--partitions", self.partitions.is_some()),
            ("--partition-by", self.partition_by.is_some()),
            ("--text", self.text.is_some()),
            ("--leave-out", self.leave_out),
            ("--dispatch", self.dispatch.is_some()),
            ("--no-samplers", self.no_samplers),
            ("--watermark", self.watermark.is_some()),
            ("--dialect", self.dialect.is_some()),
            ("--truth-double", self.truth_double),
            ("--nested-edges", self.nested_edges),
            ("--props-map", self.props_map),
            ("--sort", self.sort),
            ("--layout", self.layout.is_some()),
            ("--matrix", self.matrix),
            ("--cache", self.cache),
            ("--edge-data", self.edge_data.is_some()),
            ("--to-syntax", self.to_syntax.is_some()),
            ("--rdf", self.rdf.is_some()),
            ("--edge-properties", self.edge_properties.is_some()),
            ("--file-type", self.file_type.is_some()),
            ("--compression", self.compression.is_some()),
        ]
    }

    /// Returns the options for writing `to` at `destination`. `returns` tells whether the graph is converted back to
    /// its original format.
    ///
    /// # Errors
    /// Returns an error if an argument applies to another format, or contradicts the name of the destination.
    pub fn options(&self, to: Format, destination: &str, returns: bool, formats: &Registry) -> Result<WriteOptions> {
        if let Some((flag, of)) = formats::foreign(&self.given(), to, formats, |flags| flags.writing) {
            let what = formats::names(&of);
            return Err(Error::usage(format!("{flag} applies to {what} output; the output format is {to}")));
        }
        let mut options = WriteOptions::default();
        formats::of(Some(to)).try_for_each(|own| own.writing(self, destination, returns, &mut options))?;
        Ok(options)
    }

    /// Returns the requested output format: by `--to`, by the destination's name, or by a flag that only one format
    /// has.
    pub fn format_at(&self, destination: &str, formats: &Registry) -> Option<Format> {
        let named = self.to.or_else(|| formats.of_name(destination));
        named.or_else(|| formats::told(&self.given(), formats).pop())
    }
}

/// Parser of format ids.
pub fn format_parser(formats: &Registry) -> impl TypedValueParser<Value = Format> + use<> {
    let formats = formats.clone();
    let ids: Vec<&'static str> = formats.all().iter().map(|format| format.id()).collect();
    PossibleValuesParser::new(ids).try_map(move |id| formats.named(&id))
}

/// Parser of file types.
pub fn file_type_parser() -> impl TypedValueParser<Value = FileType> {
    PossibleValuesParser::new(FileType::ALL.map(FileType::word))
        .map(|word| FileType::from_word(&word).unwrap_or(FileType::Parquet))
}

/// Parser of what happens to clashing nodes of a union.
pub fn clash_parser() -> impl TypedValueParser<Value = Clash> {
    PossibleValuesParser::new(["error", "first"]).map(|word| if word == "first" { Clash::First } else { Clash::Error })
}

/// Parser of the ways to write hyperedges, named as in annnet.
pub fn hyperedges_parser() -> impl TypedValueParser<Value = Hyperedges> {
    PossibleValuesParser::new(["reify", "expand", "skip"]).map(|word| match word.as_str() {
        "expand" => Hyperedges::Expand,
        "skip" => Hyperedges::Skip,
        _ => Hyperedges::Reify,
    })
}

fn rdf_mode_parser() -> impl TypedValueParser<Value = RdfMode> {
    PossibleValuesParser::new(["rich", "pynock"])
        .map(|word| if word == "pynock" { RdfMode::Pynock } else { RdfMode::Rich })
}

fn layout_parser() -> impl TypedValueParser<Value = annnet::WriteLayout> {
    PossibleValuesParser::new(annnet::WriteLayout::ALL.map(annnet::WriteLayout::name))
        .try_map(|name| name.parse::<annnet::WriteLayout>())
}

fn grouping_parser() -> impl TypedValueParser<Value = Grouping> {
    PossibleValuesParser::new(["one", "each"]).map(|word| if word == "each" { Grouping::Each } else { Grouping::One })
}

fn edge_data_parser() -> impl TypedValueParser<Value = edgelist::EdgeData> {
    use edgelist::EdgeData;
    PossibleValuesParser::new(EdgeData::ALL.map(EdgeData::word))
        .map(|word| if word == "columns" { EdgeData::Columns } else { EdgeData::Dictionary })
}

fn edge_properties_parser() -> impl TypedValueParser<Value = EdgeProperties> {
    PossibleValuesParser::new(EdgeProperties::ALL.map(EdgeProperties::word))
        .map(|word| EdgeProperties::ALL.into_iter().find(|form| form.word() == word).unwrap_or_default())
}

fn dispatch_parser() -> impl TypedValueParser<Value = deepgnn::Dispatch> {
    PossibleValuesParser::new(["line", "id"])
        .map(|word| if word == "id" { deepgnn::Dispatch::Id } else { deepgnn::Dispatch::Line })
}

fn dialect_parser() -> impl TypedValueParser<Value = nock::Types> {
    PossibleValuesParser::new(["spec", "pynock"])
        .map(|word| if word == "pynock" { nock::Types::Pynock } else { nock::Types::Specification })
}

/// Parses the source of node types.
fn types_from(text: &str) -> Result<TypesFrom> {
    if text == "label" {
        return Ok(TypesFrom::Label);
    }
    let name = text.strip_prefix("property:").filter(|name| !name.is_empty());
    name.map(|name| TypesFrom::Property(name.to_owned())).ok_or_else(|| {
        Error::usage(format!("{text:?} is not a source of node types")).hint("label").hint("property:type")
    })
}

/// Parses a value and the name of its type.
fn type_name(text: &str) -> Result<(String, String)> {
    let wrong = || Error::usage(format!("{text:?} is not VALUE=NAME")).hint("0=person,1=city");
    // An IRI may contain `=`.
    let (value, name) = text.rsplit_once('=').filter(|(_, name)| !name.is_empty()).ok_or_else(wrong)?;
    Ok((value.to_owned(), name.to_owned()))
}

/// Parses a codec and its level.
///
/// # Errors
/// Returns a usage error if the codec or its level does not exist.
pub fn compression(text: &str) -> Result<Compression> {
    let refused =
        || Error::usage(format!("{text:?} is not a compression: use none, snappy, zstd, lz4, gzip, brotli, or zstd:3"));
    let (name, level) = text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
    let level = level.map(|level| level.parse::<u32>().map_err(|_| refused())).transpose()?;
    let within = |least: u32, most: u32, usual: u32| match level.unwrap_or(usual) {
        level if (least..=most).contains(&level) => Ok(level),
        _ => Err(Error::usage(format!("{name} supports levels {least} to {most}"))),
    };
    match (name.to_ascii_lowercase().as_str(), level) {
        ("none" | "uncompressed", None) => Ok(Compression::None),
        ("snappy", None) => Ok(Compression::Snappy),
        ("lz4", None) => Ok(Compression::Lz4),
        ("zstd", _) => Ok(Compression::Zstd(within(1, 22, 1)? as i32)),
        ("gzip", _) => Ok(Compression::Gzip(within(0, 9, 6)?)),
        ("brotli", _) => Ok(Compression::Brotli(within(0, 11, 4)?)),
        _ => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn codecs_have_levels() {
        let codecs = ["none", "snappy", "zstd", "zstd:19", "gzip:9", "LZ4"].map(|text| compression(text).unwrap());
        let expected = [
            Compression::None,
            Compression::Snappy,
            Compression::Zstd(1),
            Compression::Zstd(19),
            Compression::Gzip(9),
            Compression::Lz4,
        ];
        assert_eq!(codecs, expected);
        for text in ["", "zip", "snappy:3", "zstd:99", "zstd:x", "gzip:10"] {
            assert!(compression(text).is_err(), "{text}");
        }
    }
}
