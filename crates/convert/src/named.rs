//! What the destination's name says: a result that has been published is opened by its name, without a flag.

use isomorph_bridges::Syntax;
use isomorph_deepgnn::TextFormat;
use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{Location, Root};

use crate::carry;
use crate::options::WriteOptions;
use crate::registry::Format;

/// Fails for a text that its name would not tell, or tell as something else, to whoever opens it.
///
/// # Errors
/// [`isomorph_error::Kind::Usage`], with a name that tells it.
pub fn check_name(to: Format, write: &WriteOptions, destination: &Location) -> Result<()> {
    let name = destination.file_name();
    let (what, ending) = match to {
        Format::Rdf => match write.rdf.syntax {
            Some(syntax) => match Syntax::of_name(name) {
                Some(named) if reads(named, syntax) => return Ok(()),
                None if begins_so(syntax) && Format::of_name(name).is_none() => return Ok(()),
                _ => (syntax.name(), syntax.id()),
            },
            None => return Ok(()),
        },
        Format::DeepGnn => match write.deepgnn.text {
            Some(text) if write.deepgnn.parts.is_none() && TextFormat::of_name(name) != Some(text) => {
                (text.name(), text.id())
            }
            _ => return Ok(()),
        },
        Format::GraphAr | Format::Nock | Format::Annnet | Format::GraphLake => return Ok(()),
    };
    Err(Error::usage(format!("a text of {what} is told by its name, which ends in .{ending}"))
        .at(destination.to_string())
        .hint(format!("{}.{ending}", destination.to_string().trim_end_matches('/'))))
}

/// Whether the first bytes of a text tell its syntax, where the name tells nothing. A text of Turtle or TriG may begin with anything.
fn begins_so(syntax: Syntax) -> bool {
    !matches!(syntax, Syntax::Turtle | Syntax::TriG)
}

/// Whether who reads the syntax `named` reads a text of `syntax`.
fn reads(named: Syntax, syntax: Syntax) -> bool {
    named == syntax
        || match syntax {
            Syntax::NTriples => matches!(named, Syntax::NQuads | Syntax::Turtle | Syntax::TriG),
            Syntax::Turtle => named == Syntax::TriG,
            _ => false,
        }
}

/// Fails for a directory that is not to be replaced, because it is not known what is lost with it: one that is not empty and no graph.
///
/// # Errors
/// [`Kind::AlreadyExists`]; when it cannot be looked at.
pub fn check_replaced(destination: &Location) -> Result<()> {
    if !destination.scheme().has_listing() {
        return Ok(());
    }
    let Ok(root) = Root::open(destination) else { return Ok(()) };
    let entries = root.list_dir("")?;
    let Some(first) = entries.first() else { return Ok(()) };
    if root.try_file(&format!("{}/{}", carry::FOLDER, carry::DOCUMENT))?.is_some() {
        return Ok(());
    }
    let is_table = |name: &str| isomorph_nock::Format::of_name(name).is_some() || name.starts_with(['.', '_']);
    // Any directory with a table is a graph of NOCK to who reads it.
    let only_tables = || entries.iter().all(|entry| is_table(&entry.name) || entry.name.ends_with(".isomorph"));
    for format in Format::ALL {
        let named = format != Format::Nock || only_tables() || isomorph_nock::has_partition_names(destination)?;
        if named && format.detect(destination)? {
            return Ok(());
        }
    }
    let more = match entries.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(Error::new(
        Kind::AlreadyExists,
        format!("the directory is no graph, and {}{more} in it would be removed", first.name),
    )
    .at(destination.to_string())
    .hint("choose another destination")
    .hint(format!("rm -r {destination}    remove it first")))
}
