//! Conversions, of graphs that were opened and of dataframes alike.

use isomorph::convert::{
    Certificate, Opened, Plan, Shape, check_apart, check_name, check_replaced, convert, target_format,
};
use isomorph::storage::Resources;
use isomorph::{Error, Location, Result};
use serde_json::{Value, json};

use crate::options::{Writing, layout};
use crate::work::Watch;

/// Where a graph comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Files of its format.
    Files,
    /// Dataframes in memory.
    Dataframes,
}

/// Converts `opened` and verifies the output.
///
/// # Errors
/// As [`convert`], and for a destination whose name does not fit.
pub(crate) fn converted(
    opened: Opened,
    origin: Origin,
    destination: &Location,
    how: &Writing,
    resources: &Resources,
    watch: &Watch,
) -> Result<String> {
    let mut options = how.options()?;
    let formats = &opened.options.formats;
    let to = target_format(&opened, destination, &options)?;
    let reads_base = opened.format.traits().flags.opening.contains(&"--base");
    if options.base.is_some() && !reads_base && to.shape() != Shape::Triples {
        return Err(Error::usage("base= applies to RDF text and to conversions to RDF"));
    }
    let returns = opened.format_of_graph() == to && opened.format != to;
    options.write = layout(to, destination.file_name(), returns);
    check_apart(&opened, destination)?;
    check_name(to, &options.write, destination, formats)?;
    if options.replace && options.write.is_directory(to) {
        check_replaced(destination, formats)?;
    }
    // Such formats number the nodes of all types in one sequence.
    let opened = if to.numbers_all_nodes() { opened.counted(resources, watch)? } else { opened };
    let plan = Plan::new(&opened, destination, &options, resources, watch)?;
    let certificate = convert(&opened, &plan, destination, &options, resources, watch)?;
    document(&certificate, destination, origin)
}

/// A certificate as JSON: the members of `isomorph convert --json`.
fn document(certificate: &Certificate, destination: &Location, origin: Origin) -> Result<String> {
    let mut document = to_json(certificate)?;
    if let Value::Object(members) = &mut document {
        let equal = certificate.result.map(|result| Some(result) == certificate.source);
        members.insert("equal".to_owned(), json!(equal));
        if origin == Origin::Dataframes {
            members.insert("from".to_owned(), json!("dataframes"));
        }
        members.insert("destination".to_owned(), json!(destination.to_string()));
        members.insert("findings".to_owned(), to_json(&certificate.findings.documents())?);
    }
    Ok(document.to_string())
}

/// A value as JSON.
pub(crate) fn to_json(value: &impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
}
