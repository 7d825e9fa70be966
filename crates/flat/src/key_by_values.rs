//! Finds the key of a table of nodes that no name tells: the only column that has a value of its own in each row, and the ends of all edges.

use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Request, Source, Tables as Wanted, part};
use isomorph_storage::Location;

use crate::conventions::INIT;
use crate::find::Found;
use crate::open::{OpenOptions, Opens, Tables};
use crate::sql::Script;

/// The table whose key its values must tell: its file, and the columns of which one is the key.
fn wanted(script: &Script) -> Option<(String, Vec<String>)> {
    let table = script.tables.iter().find(|table| !table.hints.key_among.is_empty())?;
    Some((table.location.clone(), table.hints.key_among.clone()))
}

/// Makes `key` the key of the only table of nodes.
fn choose(script: &mut Script, key: &str) {
    for vertex in &mut script.graph.vertices {
        vertex.key = Some(key.to_owned());
    }
    for end in script.graph.edges.iter_mut().flat_map(|edge| [&mut edge.source, &mut edge.target]) {
        end.referenced = Some(key.to_owned());
    }
}

/// What was found, with the key that the values tell, if no name does. `find` finds it once more, for each column that is tried.
///
/// # Errors
/// When no column could be the key, or several could; also when the files cannot be read.
pub(crate) fn settled(
    found: Found,
    find: impl Fn() -> Result<Option<Found>>,
    location: &Location,
    options: &OpenOptions,
) -> Result<Found> {
    let Some((file, columns)) = wanted(&found.script) else { return Ok(found) };
    let mut fitting = Vec::new();
    for name in &columns {
        let mut tried = find()?;
        if let Some(found) = &mut tried {
            choose(&mut found.script, name);
        }
        if is_key(tried, location, options)? {
            fitting.push(name.as_str());
        }
    }
    let [key] = fitting.as_slice() else {
        let several = if fitting.is_empty() { columns.join(", ") } else { fitting.join(", ") };
        let which = if fitting.is_empty() { "none" } else { "more than one" };
        let what = format!(
            "no column is called id or similar, and {which} has different values in all rows and the ends of all edges: {several}"
        );
        return Err(Error::usage(what).at(file).hint("rename the column with the keys of nodes to id").hint(INIT));
    };
    let mut found = found;
    choose(&mut found.script, key);
    let what = format!("nodes: key {key}, the only column with different values and all ends of edges");
    found.recognised.iter_mut().filter(|(subject, _)| *subject == file).for_each(|(_, own)| own.clone_from(&what));
    Ok(found)
}

/// Whether the key of the nodes is in each row, differs, and is what edges end in.
fn is_key(tried: Option<Found>, location: &Location, options: &OpenOptions) -> Result<bool> {
    let tables = match Tables::of(tried, location, OpenOptions { lenient: false, ..options.clone() }, Opens::Trial) {
        // Such a column is no key.
        Err(error) if error.kind() == Kind::Usage => return Ok(false),
        tables => tables?,
    };
    let read = tables.keys_of(0).and_then(|_| part::read_all(tables.scan(&Request::of(Wanted::EdgeEnds(0)))?));
    match read {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == Kind::Malformed => Ok(false),
        Err(error) => Err(error),
    }
}
