//! Arguments of single formats. Drivers list the flags that apply to them; the modules here turn the values into
//! options. A format without a module has no options of its own.

mod annnet;
mod deepgnn;
mod edgelist;
mod flat;
mod graphar;
mod graphfile;
mod graphlake;
mod nock;
mod rdf;

use isomorph::Result;
use isomorph::convert::{Flags, Format, OpenOptions, Registry, WriteOptions};

use super::{OpenArgs, TargetArgs};

/// The arguments of one format.
pub trait Arguments: Sync {
    /// The format.
    fn format(&self) -> Format;

    /// Sets the options for reading.
    ///
    /// # Errors
    /// If a value is invalid.
    fn opening(&self, _args: &OpenArgs, _options: &mut OpenOptions) -> Result<()> {
        Ok(())
    }

    /// Sets the options for reading the input of a conversion into this format.
    fn source(&self, _args: &TargetArgs, _destination: &str, _options: &mut OpenOptions) {}

    /// Sets the options for writing. `returns` tells whether the graph is converted back to its original format.
    ///
    /// # Errors
    /// If a value is invalid or contradicts the name of the destination.
    fn writing(
        &self,
        _args: &TargetArgs,
        _destination: &str,
        _returns: bool,
        _options: &mut WriteOptions,
    ) -> Result<()> {
        Ok(())
    }
}

static ALL: [&dyn Arguments; 25] = [
    &graphar::GraphAr,
    &nock::Nock,
    &annnet::Annnet,
    &edgelist::EdgeList,
    &edgelist::Adjacency(Format::ADJACENCY_LIST),
    &edgelist::Adjacency(Format::MULTILINE),
    &deepgnn::DeepGnn,
    &graphlake::GraphLake,
    &rdf::Rdf,
    &flat::Flat(Format::PARQUET),
    &flat::Flat(Format::CSV),
    &flat::Flat(Format::ARROW),
    &flat::Flat(Format::JSON_LINES),
    &flat::Flat(Format::KGX_LINES),
    &flat::Flat(Format::NEO4J),
    &flat::Flat(Format::XLSX),
    &graphfile::GraphFile(Format::GRAPHML),
    &graphfile::GraphFile(Format::GEXF),
    &graphfile::GraphFile(Format::GML),
    &graphfile::GraphFile(Format::NODELINK),
    &graphfile::GraphFile(Format::KGX),
    &graphfile::GraphFile(Format::JGF),
    &graphfile::GraphFile(Format::CX2),
    &graphfile::Neo4jText(Format::APOC),
    &graphfile::Neo4jText(Format::CYPHER),
];

/// The arguments of `format`, or of all formats if it is not known yet.
pub fn of(format: Option<Format>) -> impl Iterator<Item = &'static dyn Arguments> {
    ALL.into_iter().filter(move |own| format.is_none_or(|format| own.format() == format))
}

/// Flags, and whether they were given.
pub type Given = [(&'static str, bool)];

/// The first given flag that does not apply to `format`, and the formats that it applies to.
pub fn foreign(
    given: &Given,
    format: Format,
    formats: &Registry,
    known: fn(Flags) -> &'static [&'static str],
) -> Option<(&'static str, Vec<Format>)> {
    let knows = |format: &Format, flag: &str| known(format.traits().flags).contains(&flag);
    let (flag, _) = given.iter().find(|(flag, given)| *given && !knows(&format, flag))?;
    Some((flag, formats.all().iter().copied().filter(|format| knows(format, flag)).collect()))
}

/// The formats that the given flags select, in the order of the flags.
pub fn told(given: &Given, formats: &Registry) -> Vec<Format> {
    let tells = |flag: &str| formats.all().iter().copied().find(|format| format.traits().flags.telling.contains(&flag));
    given.iter().filter(|(_, given)| *given).filter_map(|(flag, _)| tells(flag)).collect()
}

/// `GraphAr, NOCK and annnet`.
pub fn names(formats: &[Format]) -> String {
    match formats {
        [] => "no known format".to_owned(),
        [one] => one.to_string(),
        [others @ .., last] => {
            let others: Vec<&str> = others.iter().map(|format| format.name()).collect();
            format!("{} and {last}", others.join(", "))
        }
    }
}
