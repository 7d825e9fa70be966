//! What `lake` does to a store.

use std::num::NonZeroUsize;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use isomorph::Error;
use isomorph::formats::rdf;

use super::read::{base, namespace, syntax_parser};
use super::{ResourceArgs, epoch};

/// What to do with a store.
#[derive(Debug, Subcommand)]
pub enum LakeCommand {
    /// Make an empty store
    Init(LakeInitArgs),
    /// Load RDF files in bulk, as one transaction
    Load(LakeLoadArgs),
    /// Insert statements
    Insert(LakeEditArgs),
    /// Delete statements
    Delete(LakeEditArgs),
    /// Delete and insert the statements of files, as one transaction
    Apply(LakeApplyArgs),
    /// Drop graphs with all their triples
    Drop(LakeDropArgs),
    /// Copy a graph under another name; the files are shared
    Copy(LakeGraphsArgs),
    /// Give a graph another name
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
    /// A directory that is not there yet, or a prefix of an object store
    pub path: String,
}

/// Arguments of `lake load`.
#[derive(Debug, Args)]
pub struct LakeLoadArgs {
    /// The store
    pub path: String,
    /// The texts: N-Triples, N-Quads, Turtle, TriG, RDF/XML or JSON-LD, packed or not; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub texts: Vec<String>,
    /// The syntax, instead of what names and contents of the files say [default: by name, then by content]
    #[arg(long, value_name = "SYNTAX", value_parser = syntax_parser())]
    pub syntax: Option<rdf::Syntax>,
    /// The graph of triples that name none [default: the default graph]
    #[arg(long, value_name = "IRI")]
    pub graph: Option<String>,
    /// What relative IRIs are relative to [default: none]
    #[arg(long, value_name = "IRI", value_parser = base)]
    pub base: Option<String>,
    /// Leave out what is broken, with what depends on it, and count it
    #[arg(long)]
    pub lenient: bool,
    /// Write down what became of the labels of blank nodes: the old, the new and the text, with tabs between [default: none]
    #[arg(long, value_name = "FILE")]
    pub blank_map: Option<String>,
    /// Write no filters by which triples are found when their ids are known
    #[arg(long)]
    pub no_id_filters: bool,
    /// Go on where a load of the same texts was stopped, by whatever, and keep what that needs: sorted quads in .NAME.load beside the store until it is done. It costs disk, 16 bytes and more for a quad, and what is read and not yet written is read again
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
    /// Statements, each as one argument, of the terms of `match`: 'ex:ann a foaf:Person', '<urn:s> <urn:p> "o"@en <urn:graph>'; - or none reads N-Quads from standard input. Labels of blank nodes are those of the store
    #[arg(value_name = "STATEMENT")]
    pub statements: Vec<String>,
    /// What a prefix in statements stands for, and a short prefix of a foreign store [default: the store's own]
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
    /// RDF texts whose statements are inserted, after those of --delete are deleted; - is N-Quads on standard input. Labels of blank nodes are those of the store; nodes without a label are new ones
    #[arg(value_name = "FILE", group = "changes")]
    pub inserts: Vec<String>,
    /// An RDF text whose statements are deleted, before others are inserted, each blank node with its label; - is N-Quads on standard input; may be given several times [default: none]
    #[arg(long = "delete", value_name = "FILE", group = "changes")]
    pub deletes: Vec<String>,
    /// The syntax, instead of what names and contents of the files say [default: by name, then by content]
    #[arg(long, value_name = "SYNTAX", value_parser = syntax_parser())]
    pub syntax: Option<rdf::Syntax>,
    /// What a short prefix of a foreign store stands for [default: the store's own]
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
    /// The graphs, as `lake log` names them: an IRI, <IRI>, prefix:name, _:label, or default for the default graph
    #[arg(required = true, value_name = "GRAPH")]
    pub graphs: Vec<String>,
    /// What a prefix in names of graphs stands for, and a short prefix of a foreign store [default: the store's own]
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
    /// The name that it gets
    pub to: String,
    /// Drop the triples of a graph that has this name already
    #[arg(long)]
    pub replace: bool,
    /// What a prefix in names of graphs stands for, and a short prefix of a foreign store [default: the store's own]
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
    /// How many snapshots are shown, the newest
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
    /// Merge all files of each predicate, not only where many are of one size or much is deleted
    #[arg(long)]
    pub full: bool,
    /// What a short prefix of a foreign store stands for [default: the store's own]
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
    /// Remove it
    #[arg(long)]
    pub apply: bool,
    /// Snapshots that stay, the newest [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub keep_last: Option<u64>,
    /// Younger snapshots stay, whatever --keep-last says: 30d, 12h, 90m [default: all]
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub keep_for: Option<Duration>,
    /// Files that no snapshot names stay while they are younger: a writer may be about to name them. So does what `lake load --resume` could go on with
    #[arg(long, value_name = "AGE", default_value = "24h", value_parser = age)]
    pub grace: Duration,
    #[command(flatten)]
    pub change: LakeChangeArgs,
}

/// What changes of a store take.
#[derive(Debug, Default, Args)]
pub struct LakeChangeArgs {
    /// The time of the new snapshot [default: SOURCE_DATE_EPOCH, or the clock]
    #[arg(long, value_name = "SECONDS|RFC3339", value_parser = epoch::parse)]
    pub epoch: Option<SystemTime>,
    #[command(flatten)]
    pub resources: ResourceArgs,
}

impl LakeCommand {
    /// The store.
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
        }
    }

    /// What an error leaves behind.
    pub fn outcome(&self) -> Option<&'static str> {
        match self {
            LakeCommand::Log(_) | LakeCommand::Vacuum(_) => None,
            LakeCommand::Init(_) => Some("nothing was written"),
            LakeCommand::Load(_)
            | LakeCommand::Insert(_)
            | LakeCommand::Delete(_)
            | LakeCommand::Apply(_)
            | LakeCommand::Drop(_)
            | LakeCommand::Copy(_)
            | LakeCommand::Move(_)
            | LakeCommand::Compact(_) => Some("nothing was changed"),
        }
    }
}

/// Reads `30d`, `12h`, `90m`, `10s`.
fn age(text: &str) -> Result<Duration, Error> {
    let wrong = || Error::usage(format!("{text:?} is no age: write 30d, 12h, 90m or 10s"));
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
