//! The edges of one node, from their triples: only the triples of the node and of the reifiers of its edges are read
//! from the store.

use std::collections::HashSet;

use arrow_array::BooleanArray;
use arrow_select::filter::filter_record_batch;
use isomorph_error::{Error, Kind, Result};
use isomorph_graphlake::{GraphLake, Pattern, QUOTED_GRAPH, TripleId};
use isomorph_model::faces::{EdgeRows, FromQuads, Object, Quad, RDF_REIFIES, Rows};
use isomorph_model::{EdgeBatch, KeyKind, NodeId, Part, Side, part, term};

use super::tables::{batch_of, record_of};
use super::{Lifting, lowered};
use crate::mapping::arrays::malformed;
use crate::mapping::view::near;

/// A quad that owns its terms.
struct Owned {
    subject: String,
    predicate: String,
    object: String,
    graph: Option<String>,
}

/// The edges of type `edge` from (or to) `node` in `lake`, to which a graph was lifted.
///
/// # Errors
/// Returns [`Kind::NotFound`] if no triple mentions the node; also if a file cannot be read.
pub(super) fn neighbors(
    lake: &GraphLake,
    record: &Lifting,
    edge: usize,
    node: NodeId<'_>,
    side: Side,
) -> Result<Box<dyn Part>> {
    let ty = record.graph.edges.get(edge).ok_or_else(|| Error::usage("no such edge type"))?;
    let mut reader = lowered::reader(record);
    let near = near(ty, side);
    let row;
    let key = match node {
        NodeId::Key(key) => key,
        // Resources have no order: if the row is not the key, it does not identify a node.
        NodeId::Row(_) if record.graph.nodes.get(near).is_some_and(|ty| ty.key.kind != KeyKind::Row) => {
            return Err(Error::unsupported("nodes of this graph are looked up by key")
                .hint("--id KEY    specify the node by its key"));
        }
        NodeId::Row(number) => {
            row = number.to_string();
            &row
        }
    };
    let iri = reader.term(near, key);
    let mut mentioned = false;
    let mut triples: Vec<Owned> = Vec::new();
    let pattern = match side {
        Side::Out => Pattern { subject: Some(&iri), ..Pattern::default() },
        Side::In => Pattern { object: Some(Object::Term(&iri)), ..Pattern::default() },
    };
    lake.matching(&pattern, &mut |quad| {
        if quad.graph != Some(QUOTED_GRAPH) {
            mentioned = true;
            if let (true, Object::Term(object)) = (reader.edge_type(&quad) == Some(edge), quad.object) {
                triples.push(Owned {
                    subject: quad.subject.to_owned(),
                    predicate: quad.predicate.to_owned(),
                    object: object.to_owned(),
                    graph: quad.graph.map(str::to_owned),
                });
            }
        }
        Ok(())
    })?;
    if !mentioned {
        let other = match side {
            Side::Out => Pattern { object: Some(Object::Term(&iri)), ..Pattern::default() },
            Side::In => Pattern { subject: Some(&iri), ..Pattern::default() },
        };
        lake.matching(&other, &mut |quad| {
            mentioned |= quad.graph != Some(QUOTED_GRAPH);
            Ok(())
        })?;
        if !mentioned {
            return Err(Error::new(Kind::NotFound, format!("there is no node {key:?}")));
        }
    }
    for triple in &triples {
        let (subject, predicate, object) = (triple.subject.as_str(), triple.predicate.as_str(), triple.object.as_str());
        reader.take(Quad { subject, predicate, object: Object::Term(object), graph: triple.graph.as_deref() });
        reifiers(lake, triple, &mut reader)?;
    }
    let mut found: Vec<EdgeRows> = Vec::new();
    let read = reader.rows(&mut |rows| {
        if let Rows::Edges(edges) = rows {
            found.push(*edges);
        }
        Ok(())
    });
    read.map_err(lowered::misfit)?;
    let reified: HashSet<u128> =
        found.iter().filter(|rows| rows.reified).flat_map(|rows| rows.triples.iter().copied()).collect();
    let edges = found.into_iter().filter(|rows| rows.batch.ty == edge);
    let edges = edges.map(|rows| {
        if rows.reified {
            return Ok(rows.batch);
        }
        let keep: BooleanArray = rows.triples.iter().map(|id| Some(!reified.contains(id))).collect();
        let columns = record_of(&record.graph, ty, &rows.batch)?;
        batch_of(&record.graph, edge, &filter_record_batch(&columns, &keep).map_err(malformed)?)
    });
    let edges: Vec<EdgeBatch> = edges.collect::<Result<_>>()?;
    Ok(part::edges(edges))
}

/// Reads the triples of the reifiers of a triple.
fn reifiers(lake: &GraphLake, triple: &Owned, reader: &mut FromQuads<'_>) -> Result<()> {
    let Owned { subject, predicate, object, .. } = triple;
    let id = TripleId::of(subject, predicate, &Object::Term(object));
    let spelt = term::triple(&term::ntriples(subject), &term::ntriples(predicate), &term::ntriples(object));
    // The store may have been changed by others, with another IRI for an id.
    for id in [id.iri(), id.ni()] {
        let mut reifiers = Vec::new();
        let pattern = Pattern { predicate: Some(RDF_REIFIES), object: Some(Object::Term(&id)), ..Pattern::default() };
        // A triple that is only quoted is not stated: its subject reifies nothing by it.
        lake.matching(&pattern, &mut |quad| {
            if quad.graph != Some(QUOTED_GRAPH) {
                reifiers.push(quad.subject.to_owned());
            }
            Ok(())
        })?;
        for reifier in &reifiers {
            lake.matching(&Pattern { subject: Some(reifier), ..Pattern::default() }, &mut |quad| {
                if quad.graph == Some(QUOTED_GRAPH) {
                    return Ok(());
                }
                let object = match quad.object {
                    Object::Term(term) if term == id => Object::Term(&spelt),
                    other => other,
                };
                reader.take(Quad { object, ..quad });
                Ok(())
            })?;
        }
    }
    Ok(())
}
