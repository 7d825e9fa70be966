//! Finds data that its sidecar does not read.
//!
//! A sidecar reads what its mapping knows: a value that another tool added elsewhere is invisible through it. So the
//! graph that the sidecar shows is written again, in the layout of the data, and both are compared without a sidecar.

use std::collections::BTreeSet;
use std::sync::Arc;

use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, Graph, LabelVocabulary, Property, Request, Source, Tables};
use isomorph_storage::{Location, Resources};

use super::verify::of_reading;
use super::{CARRY_UNREAD, Sidecar};
use crate::as_written;
use crate::conversion::native_options;
use crate::digests::{Digests, digest};
use crate::mapping::{Completion, Mapping, Step};
use crate::open::Opened;
use crate::options::{ConvertOptions, OpenOptions, WriteOptions};
use crate::parallel;
use crate::plan::{Plan, edge_text};
use crate::progress::Progress;

/// The result of reading all of the data.
pub(crate) struct Reread {
    /// Digests of the graph, as the sidecar shows it.
    pub(crate) graph: Digests,
    /// The differences between the data and the graph, one line each.
    pub(crate) unread: Vec<String>,
}

/// Reads the graph that `opened` shows through its sidecar, and compares it with the data. Writes temporary files.
///
/// # Errors
/// If the data cannot be read, or the graph cannot be written.
pub(crate) fn reread(
    opened: &Opened,
    sidecar: &Sidecar,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Reread> {
    let described = |error| of_reading(opened, error);
    let native = opened.format.open(&opened.location, &of_data(opened, resources))?;
    let unknown = unknown_labels(opened.graph.as_ref(), resources).map_err(described)?;
    let read = digest(opened.graph.as_ref(), resources, progress).map_err(described)?;
    let graph = read.digests;
    if let Some(Step::Part(record)) = sidecar.mapping.steps.last() {
        // The mapping to the data needs the types of all nodes, which are not kept. The way back reads everything that
        // was declared.
        let unread = unknown.into_iter().chain(undeclared(native.graph(), &record.typed)).collect();
        return Ok(Reread { graph, unread });
    }
    let data = digest(native.as_ref(), resources, progress)?;
    let mut mapping = sidecar.mapping.clone();
    if let Some(Step::Complete(record)) = mapping.steps.first_mut()
        && let Some(anew) = Completion::of(opened.graph.as_ref(), resources, progress)?
    {
        // The record does not list the nodes that were added.
        record.add_those_of(anew);
    }
    let mut target = match mapping.steps.last() {
        Some(Step::Number(record)) => record.numbered.clone(),
        Some(Step::Fuse(record)) => record.written(),
        _ => mapping.apply(Arc::clone(&opened.graph), &resources.budget)?.graph().clone(),
    };
    target.name.clone_from(&native.graph().name);
    target.metadata.extend(native.graph().metadata.clone());
    // Row information of the data may not fit the rows of the graph.
    isomorph_annnet::forget_rows(&mut target);
    let mut plan = Plan::known(opened.format_of_graph(), opened.format, mapping, target);
    plan.digested = Some(read);
    let mut write = WriteOptions::default();
    opened.format.same_layout(opened, native.as_ref(), &mut write)?;
    let options = ConvertOptions { to: Some(opened.format), no_verify: true, write, ..ConvertOptions::default() };
    drop(native);
    let folder = as_written::beside(opened, &plan, &options, resources, progress)?;
    let again = opened.format.open(folder.place(), &of_copy(opened, resources))?;
    let again = digest(again.as_ref(), resources, progress)?;
    let unread = data.table.differences(&again.table).into_iter().map(|(line, data, again)| {
        let what = match line.property.is_empty() {
            true => format!("{} {}", line.kind.word(), line.ty.join("─")),
            false => format!("{} {} {}", line.kind.word(), line.ty.join("─"), line.property),
        };
        match data.count == again.count {
            true => format!("{what}: other values"),
            false => format!("{what}: {} in the data, {} in the graph", data.count, again.count),
        }
    });
    Ok(Reread { graph, unread: unknown.into_iter().chain(unread).collect() })
}

/// Labels of nodes that their types do not declare.
fn unknown_labels(source: &dyn Source, resources: &Resources) -> Result<Vec<String>> {
    let mut unknown = Vec::new();
    for (at, ty) in source.graph().nodes.iter().enumerate() {
        let LabelVocabulary::Declared(known) = &ty.labels else { continue };
        let parts = source.scan(&Request::of(Tables::Nodes(at)))?;
        let found =
            parallel::fold(parts, resources.threads, BTreeSet::new, |found: &mut BTreeSet<String>, _, batch| {
                let Batch::Nodes(nodes) = batch else { return Ok(()) };
                let Some(labels) = nodes.labels else { return Ok(()) };
                let sets: BTreeSet<u32> = labels.rows().iter().copied().collect();
                let numbers = sets.into_iter().filter_map(|set| labels.sets().get(set as usize)).flatten();
                let names = numbers.filter_map(|number| labels.names().get(*number as usize));
                found.extend(names.filter(|name| !known.contains(name)).cloned());
                Ok(())
            })?;
        let found: BTreeSet<String> = found.into_iter().flatten().collect();
        unknown.extend(found.into_iter().map(|label| format!("nodes {}, label {label}", ty.name)));
    }
    Ok(unknown)
}

/// Types, properties and labels that `data` has and the written graph does not.
fn undeclared(data: &Graph, written: &Graph) -> Vec<String> {
    let mut found = Vec::new();
    let mut properties = |ty: String, of_data: &[Property], of_graph: Option<&[Property]>| match of_graph {
        None => found.push(ty),
        Some(known) => {
            let further = of_data.iter().filter(|own| known.iter().all(|property| property.name != own.name));
            found.extend(further.map(|property| format!("{ty} {}", property.name)));
        }
    };
    for ty in &data.nodes {
        let known = written.nodes.iter().find(|known| known.name == ty.name);
        properties(format!("nodes {}", ty.name), &ty.properties, known.map(|known| known.properties.as_slice()));
    }
    for ty in &data.edges {
        let named = edge_text(data, ty);
        let known = written.edges.iter().find(|known| edge_text(written, known) == named);
        properties(format!("edges {named}"), &ty.properties, known.map(|known| known.properties.as_slice()));
    }
    for ty in &data.nodes {
        let known = written.nodes.iter().find(|known| known.name == ty.name).map(|known| labels(&known.labels));
        let further = labels(&ty.labels).iter().filter(|label| known.is_some_and(|known| !known.contains(label)));
        found.extend(further.map(|label| format!("nodes {}, label {label}", ty.name)));
    }
    found
}

/// The declared labels.
fn labels(vocabulary: &LabelVocabulary) -> &[String] {
    match vocabulary {
        LabelVocabulary::Declared(labels) => labels,
        LabelVocabulary::None | LabelVocabulary::Open => &[],
    }
}

/// Options to open the data of `opened` without its sidecar: the same snapshot, the same part, the same reading mode.
fn of_data(opened: &Opened, resources: &Resources) -> OpenOptions {
    let mut options = of_copy(opened, resources);
    opened.format.reopen_options(opened, &mut options);
    options
}

/// Options to open a copy of the graph without a sidecar. It has the layout of the data of `opened`, which its name may
/// not show, and holds only what was selected.
fn of_copy(opened: &Opened, resources: &Resources) -> OpenOptions {
    let mut options = native_options(opened, opened.format, &Mapping::default(), resources);
    opened.format.copy_options(opened, &mut options);
    options
}

/// The error for data that contains more than its sidecar shows.
pub(crate) fn says_more(location: &Location, unread: &[String]) -> Error {
    let more = match unread.len().saturating_sub(1) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let first = unread.first().map(String::as_str).unwrap_or_default();
    Error::new(Kind::StaleSidecar, format!("the data contains something that its sidecar does not read: {first}{more}"))
        .rule(&CARRY_UNREAD)
        .at(location.to_string())
}
