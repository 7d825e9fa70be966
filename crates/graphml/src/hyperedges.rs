//! Hyperedges and their ends.

use std::sync::Arc;

use arrow_array::StringArray;
use arrow_array::builder::{BooleanBuilder, StringBuilder};
use isomorph_error::Result;
use isomorph_model::batch::{HyperedgeBatch, MemberBatch};
use isomorph_model::{Batch, Direction, Ends, Part, part};

use crate::columns::Column;
use crate::parse::{Item, Parser};
use crate::source::{GraphMl, push_data};
use crate::survey::is_directed;

use isomorph_model::Source as _;

/// Returns the role of an end: an end that goes into a hyperedge is its head, one that comes out is its tail.
fn role(kind: &str) -> &'static str {
    match kind {
        "in" => "head",
        "out" => "tail",
        _ => "member",
    }
}

/// Returns all hyperedges, then all their ends.
pub(crate) fn parts(graph: &GraphMl, rows: usize) -> Vec<Box<dyn Part + '_>> {
    if graph.survey.hyperedges.rows == 0 {
        return Vec::new();
    }
    let rows = rows.clamp(1, 1 << 16);
    let by_row = graph.graph().hyperedges.first().is_some_and(|ty| ty.direction == Direction::PerRow);
    let table = &graph.survey.hyperedges;
    let open = || Ok((Parser::new(&graph.file)?, 0u64));
    let elements = part::stepped(Some(table.rows), open, move |(parser, start), take| {
        let mut columns: Vec<Column> = table.properties.iter().map(|own| Column::new(&own.data_type)).collect();
        let (mut ids, mut directed, mut count) = (StringBuilder::new(), BooleanBuilder::new(), 0);
        let mut more = true;
        while more && count < rows {
            match parser.next()? {
                Some(Item::Hyperedge) => {
                    count += 1;
                    ids.append_value(&parser.element.id);
                    directed.append_value(is_directed(parser));
                    push_data(&mut columns, table, parser)?;
                }
                Some(_) => {}
                None => more = false,
            }
        }
        if count > 0 {
            take(Batch::Hyperedges(HyperedgeBatch {
                ty: 0,
                start: *start,
                rows: count,
                keys: Arc::new(ids.finish()),
                directed: Some(directed.finish()).filter(|_| by_row),
                properties: columns.iter_mut().map(|column| Some(column.finish())).collect(),
            }))?;
            *start += count as u64;
        }
        Ok(more)
    });
    let open = || Parser::new(&graph.file);
    let members = part::stepped(Some(graph.survey.endpoints), open, move |parser, take| -> Result<bool> {
        let (mut owners, mut nodes, mut roles) = (StringBuilder::new(), StringBuilder::new(), Vec::new());
        let mut more = true;
        while more && roles.len() < rows {
            match parser.next()? {
                Some(Item::Hyperedge) => {
                    for end in &parser.element.endpoints {
                        owners.append_value(&parser.element.id);
                        nodes.append_value(&end.node);
                        roles.push(role(&end.kind));
                    }
                }
                Some(_) => {}
                None => more = false,
            }
        }
        if !roles.is_empty() {
            take(Batch::Members(MemberBatch {
                ty: 0,
                owner: Ends::Keys(Arc::new(owners.finish())),
                member: Ends::Keys(Arc::new(nodes.finish())),
                roles: StringArray::from(roles),
                layers: None,
                coefficients: None,
            }))?;
        }
        Ok(more)
    });
    vec![elements, members]
}
