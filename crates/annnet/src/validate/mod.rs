//! Validation of every rule of the format, row by row.

mod edges;
mod layers;
mod matrix;
mod repeats;
mod slices;
mod tables;

use arrow_array::Array;
use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::json::{Value, value};
use isomorph_model::schema::DocumentBody;
use isomorph_model::{Request, Source, Tables};

use crate::layout::{column, document, file};
use crate::read::json::{items, members};
use crate::read::{Class, check_json, check_texts};
use crate::table::Table;
use crate::{Annnet, cache, checksum, rules};

/// Adds all violations to `findings`.
///
/// # Errors
/// Returns an error if a file cannot be read to the end.
pub(crate) fn validate(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    findings.merge(annnet.noticed.clone());
    if !annnet.options.verify {
        let stated = annnet.manifest.checksum.as_deref();
        if let Err(error) = checksum::verify(&annnet.members, stated, findings) {
            match error.broken_rule() {
                Some(rule) => findings.push(rule, error.message(), error.place().clone()),
                None => return Err(error),
            }
        }
    }
    tables::check(annnet, findings)?;
    repeats::check(annnet, findings)?;
    edges::check(annnet, findings)?;
    layers::check(annnet, findings)?;
    slices::check(annnet, findings)?;
    matrix::check(annnet, findings)?;
    check_attributes(annnet, findings)?;
    check_documents(annnet, findings);
    check_counts(annnet, findings);
    cache::check(annnet, findings)?;
    read_all(annnet, findings)
}

/// Checks that every row can be read.
fn read_all(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    for mut part in annnet.scan(&Request::of(Tables::All))? {
        if let Err(error) = part.try_for_each(|batch| batch.map(drop)) {
            match error.broken_rule() {
                Some(rule) => findings.push(rule, error.message(), error.place().clone()),
                None => return Err(error),
            }
        }
    }
    Ok(())
}

/// Checks that the documents of the graph are completely readable; opening only checks where they end.
fn check_documents(annnet: &Annnet, findings: &mut Findings) {
    let documents = annnet.graph().documents.iter().filter_map(|document| match &document.body {
        DocumentBody::Json(text) => Some((text, document.name.as_str())),
        _ => None,
    });
    let aspects = annnet.layers.aspects.iter().filter_map(|aspect| aspect.attributes.as_ref());
    for (text, name) in documents.chain(aspects.map(|text| (text, file::ASPECT_ATTRIBUTES))) {
        if let Err(error) = check_texts(text, name) {
            findings.push(&rules::JSON, error.message(), error.place().clone());
        }
    }
    let snapshots = annnet.graph().documents.iter().find(|document| document.name == document::SNAPSHOTS);
    if let Some(DocumentBody::Json(text)) = snapshots.map(|document| &document.body)
        && let Err(error) = check_snapshots(text)
    {
        findings.push(&rules::JSON, error.message(), error.place().clone());
    }
}

/// Checks that a snapshot is an object with lists of ids, which the published library converts to sets.
fn check_snapshots(text: &str) -> Result<()> {
    let wrong = |name: &str| Error::malformed(format!("{name} of a snapshot must be a list of ids"));
    items(text, file::SNAPSHOTS, |snapshot| {
        members(snapshot, file::SNAPSHOTS, |name, ids| match (name, value(ids)) {
            ("node_ids" | "edge_ids" | "slice_ids", Ok(Value::Array(ids))) => {
                items(ids, file::SNAPSHOTS, |id| match value(id) {
                    Ok(Value::Array(_) | Value::Object(_)) => Err(wrong(name)),
                    _ => Ok(()),
                })
            }
            ("node_ids" | "edge_ids" | "slice_ids", Ok(Value::Integer(1..) | Value::Float(_) | Value::Bool(true))) => {
                Err(wrong(name))
            }
            _ => Ok(()),
        })
    })
    .map_err(|error| error.at(Place::file(file::SNAPSHOTS)))
}

/// Checks that attributes of layers and placements are JSON.
fn check_attributes(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    for name in [file::LAYER_ATTRIBUTES, annnet.words.node_layer_attributes] {
        let Some(table) = Table::find(&annnet.members, name)? else { continue };
        let mut start = 0;
        for cells in table.batches(&[column::ATTRIBUTES], 0..table.rows(), 1 << 14)? {
            let texts = cells?.text(column::ATTRIBUTES)?;
            for (row, text) in texts.iter().enumerate() {
                let checked = text.map(|text| check_json(text, name).and_then(|()| check_texts(text, name)));
                if let Some(Err(error)) = checked {
                    let place = Place::file(name).row(start + row as u64).in_field(column::ATTRIBUTES);
                    findings.push(&rules::JSON, error.message(), place);
                }
            }
            start += texts.len() as u64;
        }
    }
    Ok(())
}

/// Checks the counts of the manifest, which are never relied on.
fn check_counts(annnet: &Annnet, findings: &mut Findings) {
    let nodes = annnet.entities.is_edge.iter().filter(|is_edge| !**is_edge).count() as u64;
    let placements = annnet.entities.placements.len() as u64;
    let entities = annnet.entities.len() as u64;
    for (name, count) in &annnet.manifest.counts {
        // Since 0.3, nodes are counted by placements, and edges without placeholders.
        let placed = annnet.entities.placements.iter();
        let placed = placed.filter(|placement| !annnet.entities.is_edge[placement.node as usize]).count() as u64;
        let all = annnet.edges.ids.count;
        let found = match name.as_str() {
            "nodes" | "vertices" => vec![nodes, placed],
            "entities" => vec![entities, placements],
            "edges" => vec![all - annnet.edges.count(Class::Placeholder), all],
            "hyperedges" => vec![annnet.edges.count(Class::Hyperedge)],
            "slices" => vec![annnet.slices.names.len() as u64],
            "aspects" => vec![annnet.layers.aspects.len() as u64, annnet.layers.aspects.len().max(1) as u64],
            _ => continue,
        };
        if !found.contains(count) {
            let message = format!("the count of {name} is {count}, but there are {}", found[0]);
            findings.push(&rules::COUNTS, message, Place::file(file::MANIFEST).in_field("counts"));
        }
    }
}
