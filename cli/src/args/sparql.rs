//! Arguments of `sparql` and `lake update`.

use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use isomorph::Error;
use isomorph::formats::rdf::Syntax;

use super::LakeChangeArgs;
#[cfg(feature = "cluster")]
use super::cluster::ClusterArgs;
use super::duration::duration;
use super::explained::ExplainedArgs;
use super::read::{OpenArgs, ResourceArgs, base, namespace};

/// Arguments of `sparql`.
#[derive(Debug, Args)]
#[command(
    override_usage = "isomorph sparql [OPTIONS] <PATH> <QUERY>\n       isomorph sparql [OPTIONS] <PATH> --file <FILE>"
)]
pub struct SparqlArgs {
    /// A graph in any format: a file, a directory or a URL; - is standard input
    pub path: String,
    /// The query: SELECT, ASK, CONSTRUCT or DESCRIBE; - reads it from standard input. ASK exits with 1 if the answer is
    /// no
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub query: Option<String>,
    /// Read the query from this file [default: QUERY]
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<String>,
    /// How to print the answer. SELECT and ASK: table, or csv, tsv, json, xml as the W3C defines them. CONSTRUCT and
    /// DESCRIBE: table, nt, nq, ttl, trig, rdf, jsonld. All but ASK: jsonl, parquet, arrow, with a type for each column [default:
    /// by the name of --output, otherwise table]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub format: Option<AnswerFormat>,
    /// Write the answer to this file, which appears when it is complete [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    /// Replace an existing output file
    #[arg(long, requires = "output")]
    pub replace: bool,
    /// Number of solutions or triples in a table; other formats have all
    #[arg(long, value_name = "N", default_value = "100")]
    pub limit: std::num::NonZeroU64,
    /// A value of a variable: an IRI or a literal as in a query, which takes the place of the variable; may be given
    /// several times [default: none]
    #[arg(long = "param", value_name = "NAME=TERM", value_parser = param)]
    pub params: Vec<(String, String)>,
    #[command(flatten)]
    pub explained: ExplainedArgs,
    /// Stop evaluation after this time: 500ms, 10s, 5m [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub open: OpenArgs,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Arguments of `lake update`.
#[derive(Debug, Args)]
#[command(
    override_usage = "isomorph lake update [OPTIONS] <PATH> <UPDATE>\n       isomorph lake update [OPTIONS] <PATH> --file <FILE>"
)]
pub struct LakeUpdateArgs {
    /// The store
    pub path: String,
    /// A SPARQL update: operations separated by ; as one transaction; - reads it from standard input
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub update: Option<String>,
    /// Read the update from this file [default: UPDATE]
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<String>,
    /// Base IRI for relative IRIs [default: none]
    #[arg(long, value_name = "IRI", value_parser = base)]
    pub base: Option<String>,
    /// Namespace of a prefix in the update, or of a short prefix in a store that isomorph did not write [default: the
    /// prefixes that the update declares]
    #[arg(long = "ns", value_name = "PREFIX=IRI", value_parser = namespace)]
    pub namespaces: Vec<(String, String)>,
    /// Stop evaluation after this time: 500ms, 10s, 5m [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub change: LakeChangeArgs,
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFormat {
    /// For people.
    Table,
    /// Solutions in a format of the W3C.
    Csv,
    /// The same.
    Tsv,
    /// The same.
    Json,
    /// The same.
    Xml,
    /// An object in each line, with values of JSON.
    Jsonl,
    /// Columns of Arrow in a file.
    Parquet,
    /// The same.
    Arrow,
    /// A graph.
    Text(Syntax),
}

// Without the query engine, there are no answers.
#[cfg_attr(not(feature = "query"), allow(dead_code))]
impl AnswerFormat {
    /// All formats, with their ids.
    pub const ALL: [(&'static str, AnswerFormat); 14] = [
        ("table", AnswerFormat::Table),
        ("csv", AnswerFormat::Csv),
        ("tsv", AnswerFormat::Tsv),
        ("json", AnswerFormat::Json),
        ("xml", AnswerFormat::Xml),
        ("jsonl", AnswerFormat::Jsonl),
        ("parquet", AnswerFormat::Parquet),
        ("arrow", AnswerFormat::Arrow),
        ("nt", AnswerFormat::Text(Syntax::NTriples)),
        ("nq", AnswerFormat::Text(Syntax::NQuads)),
        ("ttl", AnswerFormat::Text(Syntax::Turtle)),
        ("trig", AnswerFormat::Text(Syntax::TriG)),
        ("rdf", AnswerFormat::Text(Syntax::RdfXml)),
        ("jsonld", AnswerFormat::Text(Syntax::JsonLd)),
    ];

    /// Its id.
    pub fn id(self) -> &'static str {
        Self::ALL.iter().find(|(_, format)| *format == self).map_or("", |(id, _)| id)
    }

    /// The format that a file name suggests.
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, ending) = name.rsplit_once('.')?;
        let ending = match ending.to_ascii_lowercase().as_str() {
            "srj" => "json".to_owned(),
            "srx" => "xml".to_owned(),
            "txt" => "table".to_owned(),
            "parq" | "pq" => "parquet".to_owned(),
            "feather" | "ipc" => "arrow".to_owned(),
            "ndjson" => "jsonl".to_owned(),
            other => other.to_owned(),
        };
        Self::ALL.iter().find(|(id, _)| *id == ending).map(|(_, format)| *format)
    }
}

fn format_parser() -> impl TypedValueParser<Value = AnswerFormat> {
    let named = |id: String| AnswerFormat::ALL.iter().find(|(known, _)| *known == id).map(|(_, format)| *format);
    PossibleValuesParser::new(AnswerFormat::ALL.map(|(id, _)| id))
        .map(move |id| named(id).unwrap_or(AnswerFormat::Table))
}

fn param(text: &str) -> Result<(String, String), Error> {
    let (name, term) = text.split_once('=').filter(|(name, _)| !name.trim().is_empty()).ok_or_else(|| {
        Error::usage(format!("{text:?} is not NAME=TERM")).hint("--param who='<http://example.org/ann>'")
    })?;
    Ok((name.trim().to_owned(), term.to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_of_files_select_formats() {
        assert_eq!(AnswerFormat::of_name("a.srx"), Some(AnswerFormat::Xml));
        assert_eq!(AnswerFormat::of_name("a.TTL"), Some(AnswerFormat::Text(Syntax::Turtle)));
        assert_eq!(AnswerFormat::of_name("a.Parquet"), Some(AnswerFormat::Parquet));
        assert_eq!(AnswerFormat::of_name("a.feather"), Some(AnswerFormat::Arrow));
        assert_eq!(AnswerFormat::of_name("a.xlsx"), None);
        assert_eq!(param("who=<urn:a=b>").unwrap(), ("who".to_owned(), "<urn:a=b>".to_owned()));
    }
}
