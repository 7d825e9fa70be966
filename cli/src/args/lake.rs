//! Arguments of `lake`.

use std::num::NonZeroUsize;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use isomorph::Error;
use isomorph::formats::rdf;

use super::read::{base, namespace, syntax_parser};
use super::{ResourceArgs, epoch};

/// The subcommands of `lake`.
#[derive(Debug, Subcommand)]
pub enum LakeCommand {
    /// Create an empty store
    Init(LakeInitArgs),
    /// Load RDF files in bulk, as one transaction
    Load(LakeLoadArgs),
    /// Insert statements
    Insert(LakeEditArgs),
    /// Delete statements
    Delete(LakeEditArgs),
    /// Delete and insert the statements of files, as one transaction
    Apply(LakeApplyArgs),
    /// Change triples by a SPARQL update, as one transaction
    Update(Box<super::LakeUpdateArgs>),
    /// Drop graphs with all their triples
    Drop(LakeDropArgs),
    /// Copy a graph under another name; the files are shared
    Copy(LakeGraphsArgs),
    /// Rename a graph
    Move(LakeGraphsArgs),
    /// Show what each snapshot changed
    Log(LakeLogArgs),
    /// Merge small files, and remove deleted triples from them
    Compact(LakeCompactArgs),
    /// Remove old snapshots and unneeded files; list them without --apply
    Vacuum(LakeVacuumArgs),
}

/// Arguments of `lake init`.
#[derive(Debug, Args)]
pub struct LakeInitArgs {
    /// A directory that does not exist yet, or a prefix in an object store
    pub path: String,
}

/// Arguments of `lake load`.
#[derive(Debug, Args)]
pub struct LakeLoadArgs {
    /// The store
    pub path: String,
    /// RDF files: N-Triples, N-Quads, Turtle, TriG, RDF/XML or JSON-LD, compressed or not; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub texts: Vec<String>,
    /// Syntax of the files [default: by name, then by content]
    #[arg(long, value_name = "SYNTAX", value_parser = syntax_parser())]
    pub syntax: Option<rdf::Syntax>,
    /// Graph for triples without a graph name [default: the default graph]
    #[arg(long, value_name = "IRI")]
    pub graph: Option<String>,
    /// Base IRI for relative IRIs [default: none]
    #[arg(long, value_name = "IRI", value_parser = base)]
    pub base: Option<String>,
    /// Skip invalid statements and everything that depends on them, and count them
    #[arg(long)]
    pub lenient: bool,
    /// Write a tab-separated list of renamed blank nodes to this file: old label, new label, input [default: none]
    #[arg(long, value_name = "FILE")]
    pub blank_map: Option<String>,
    /// Write no filters for looking up triples by id
    #[arg(long)]
    pub no_id_filters: bool,
    /// Make the load resumable, and resume an interrupted load of the same files. Sorted quads are kept in .NAME.load
    /// next to the store until the load is done. This costs disk space, at least 16 bytes per quad; input that was read
    /// but not yet written is read again
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub change: LakeChangeArgs,
}

/// Arguments of `lake insert` and `lake delete`.
#[derive(Debug, Args)]
pub struct LakeEditArgs {
    /// The store
    pub path: String,
    /// Statements, each one argument, with terms as in `match`: 'ex:ann a foaf:Person', '<urn:s> <urn:p> "o"@en
    /// <urn:graph>'; - or none reads N-Quads from standard input. Blank node labels are those of the store
    #[arg(value_name = "STATEMENT")]
    pub statements: Vec<String>,
    /// Namespace of a prefix in statements, or of a short prefix in a store that isomorph did not write [default: the
    /// store's own]
    #[arg(long = "ns", value_name = "PREFIX=IRI", value_parser = namespace)]
    pub namespaces: Vec<(String, String)>,
    #[command(flatten)]
    pub change: LakeChangeArgs,
}

/// Arguments of `lake apply`.
#[derive(Debug, Args)]
#[command(override_usage = "isomorph lake apply [OPTIONS] <PATH> [FILE]... [--delete <FILE>]...")]
#[command(group = clap::ArgGroup::new("changes").required(true).multiple(true))]
pub struct LakeApplyArgs {
    /// The store
    pub path: String,
    /// RDF files whose statements are inserted after those of --delete are deleted; - is N-Quads on standard input.
    /// Blank node labels are those of the store; blank nodes without a label are new
    #[arg(value_name = "FILE", group = "changes")]
    pub inserts: Vec<String>,
    /// An RDF file whose statements are deleted before others are inserted; every blank node must have its label from
    /// the store; - is N-Quads on standard input; may be given several times [default: none]
    #[arg(long = "delete", value_name = "FILE", group = "changes")]
    pub deletes: Vec<String>,
    /// Syntax of the files [default: by name, then by content]
    #[arg(long, value_name = "SYNTAX", value_parser = syntax_parser())]
    pub syntax: Option<rdf::Syntax>,
    /// Namespace of a short prefix in a store that isomorph did not write [default: the store's own]
    #[arg(long = "ns", value_name = "PREFIX=IRI", value_parser = namespace)]
    pub namespaces: Vec<(String, String)>,
    #[command(flatten)]
    pub change: LakeChangeArgs,
}

/// Arguments of `lake drop`.
#[derive(Debug, Args)]
pub struct LakeDropArgs {
    /// The store
    pub path: String,
    /// Graphs, named as in `lake log`: an IRI, <IRI>, prefix:name, _:label, or default for the default graph
    #[arg(required = true, value_name = "GRAPH")]
    pub graphs: Vec<String>,
    /// Namespace of a prefix in graph names, or of a short prefix in a store that isomorph did not write [default: the
    /// store's own]
    #[arg(long = "ns", value_name = "PREFIX=IRI", value_parser = namespace)]
    pub namespaces: Vec<(String, String)>,
    #[command(flatten)]
    pub change: LakeChangeArgs,
}

/// Arguments of `lake copy` and `lake move`.
#[derive(Debug, Args)]
pub struct LakeGraphsArgs {
    /// The store
    pub path: String,
    /// The graph: an IRI, <IRI>, prefix:name, _:label, or default for the default graph
    pub from: String,
    /// The new name
    pub to: String,
    /// If a graph with this name exists, drop its triples
    #[arg(long)]
    pub replace: bool,
    /// Namespace of a prefix in graph names, or of a short prefix in a store that isomorph did not write [default: the
    /// store's own]
    #[arg(long = "ns", value_name = "PREFIX=IRI", value_parser = namespace)]
    pub namespaces: Vec<(String, String)>,
    #[command(flatten)]
    pub change: LakeChangeArgs,
}

/// Arguments of `lake log`.
#[derive(Debug, Args)]
pub struct LakeLogArgs {
    /// The store
    pub path: String,
    /// Show only the newest N snapshots
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN.saturating_add(19))]
    pub limit: NonZeroUsize,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

/// Arguments of `lake compact`.
#[derive(Debug, Args)]
pub struct LakeCompactArgs {
    /// The store
    pub path: String,
    /// Merge all files of each predicate, not only where many files have a similar size or many triples are deleted
    #[arg(long)]
    pub full: bool,
    /// Sort files that are not in order in memory, within --memory; with --full, also write files anew whose order is
    /// not known, as other writers leave them. Checksums and prefixes are still checked [default: refuse such files]
    #[arg(long)]
    pub lenient: bool,
    /// Namespace of a short prefix in a store that isomorph did not write [default: the store's own]
    #[arg(long = "ns", value_name = "PREFIX=IRI", value_parser = namespace)]
    pub namespaces: Vec<(String, String)>,
    #[command(flatten)]
    pub change: LakeChangeArgs,
}

/// Arguments of `lake vacuum`.
#[derive(Debug, Args)]
pub struct LakeVacuumArgs {
    /// The store
    pub path: String,
    /// Remove the files; without this flag they are only listed
    #[arg(long)]
    pub apply: bool,
    /// Number of newest snapshots to keep [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub keep_last: Option<u64>,
    /// Keep snapshots younger than this, whatever --keep-last says: 30d, 12h, 90m [default: all]
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub keep_for: Option<Duration>,
    /// Keep unreferenced files younger than this, because a writer may be about to commit them; the same applies to
    /// files that `lake load --resume` could use
    #[arg(long, value_name = "AGE", default_value = "24h", value_parser = age)]
    pub grace: Duration,
    #[command(flatten)]
    pub change: LakeChangeArgs,
}

/// Arguments of all commands that change a store.
#[derive(Debug, Default, Args)]
pub struct LakeChangeArgs {
    /// Time of the new snapshot [default: SOURCE_DATE_EPOCH, or the clock]
    #[arg(long, value_name = "SECONDS|RFC3339", value_parser = epoch::parse)]
    pub epoch: Option<SystemTime>,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

impl LakeCommand {
    /// Returns the path of the store.
    pub fn path(&self) -> &str {
        match self {
            LakeCommand::Init(LakeInitArgs { path })
            | LakeCommand::Load(LakeLoadArgs { path, .. })
            | LakeCommand::Insert(LakeEditArgs { path, .. })
            | LakeCommand::Delete(LakeEditArgs { path, .. })
            | LakeCommand::Apply(LakeApplyArgs { path, .. })
            | LakeCommand::Drop(LakeDropArgs { path, .. })
            | LakeCommand::Copy(LakeGraphsArgs { path, .. })
            | LakeCommand::Move(LakeGraphsArgs { path, .. })
            | LakeCommand::Log(LakeLogArgs { path, .. })
            | LakeCommand::Compact(LakeCompactArgs { path, .. })
            | LakeCommand::Vacuum(LakeVacuumArgs { path, .. }) => path,
            LakeCommand::Update(args) => &args.path,
        }
    }

    /// Returns the line that states the outcome after an error.
    pub fn outcome(&self) -> Option<&'static str> {
        match self {
            LakeCommand::Log(_) | LakeCommand::Vacuum(_) => None,
            LakeCommand::Init(_) => Some("no output was written"),
            LakeCommand::Load(_)
            | LakeCommand::Insert(_)
            | LakeCommand::Delete(_)
            | LakeCommand::Apply(_)
            | LakeCommand::Update(_)
            | LakeCommand::Drop(_)
            | LakeCommand::Copy(_)
            | LakeCommand::Move(_)
            | LakeCommand::Compact(_) => Some("no changes were made"),
        }
    }
}

/// Parses `30d`, `12h`, `90m`, `10s`.
fn age(text: &str) -> Result<Duration, Error> {
    let wrong = || Error::usage(format!("{text:?} is not an age: use 30d, 12h, 90m or 10s"));
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let seconds = match text.get(digits.len()..) {
        Some("d") => 24 * 3600,
        Some("h") => 3600,
        Some("m") => 60,
        Some("s") => 1,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    Ok(Duration::from_secs(number.checked_mul(seconds).ok_or_else(wrong)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ages_have_units() {
        assert_eq!(age("30d").unwrap(), Duration::from_secs(30 * 86_400));
        assert_eq!(age("12h").unwrap(), Duration::from_secs(12 * 3600));
        assert_eq!(age("0s").unwrap(), Duration::ZERO);
        for text in ["", "3", "d", "-1d", "1w", "1.5h", "99999999999999999999d"] {
            assert!(age(text).is_err(), "{text}");
        }
    }
}
