//! The edges of one node.

use arrow_array::Array;
use isomorph_error::{Error, Kind, Place, Result, index};
use isomorph_model::{Batch, EdgeBatch, NodeId, Request, Side, Source, Tables};

use crate::Nock;
use crate::columns::{Column, ColumnSet};
use crate::dataset::Named;
use crate::rows::{Depth, Split, split};

/// The edges that leave or reach a node, in the order of the rows, with properties.
///
/// # Errors
/// [`Kind::NotFound`] when there is no such node or edge type; when a file cannot be read.
pub(crate) fn neighbors(nock: &Nock, edge: usize, node: NodeId<'_>, side: Side) -> Result<Vec<EdgeBatch>> {
    if edge != 0 {
        return Err(Error::usage("a NOCK file has one edge type"));
    }
    let name = match node {
        NodeId::Key(name) => name.to_owned(),
        NodeId::Row(row) => name_of(nock, row)?,
    };
    let named = match side {
        Side::Out => Named::Source(&name),
        Side::In => Named::Target(&name),
    };
    let columns = ColumnSet::of(&[Column::RelName, Column::DstName, Column::Truth, Column::Props]);
    let what = Split {
        nodes: Depth::None,
        edges: Depth::Full,
        shadow: false,
        edge_id: nock.options.keep_edge_id,
        shape: &nock.shape,
    };
    let mut found = Vec::new();
    for partition in &nock.partitions {
        for rows in partition.named(named, nock.wanted(columns, true))? {
            let apart = split(&rows?, &what, 0, &[]);
            found.extend(apart.map_err(|error| error.at(Place::file(&partition.name)))?.1);
        }
    }
    if found.is_empty() && nock.lookup(&name)?.is_none() {
        return Err(Error::new(Kind::NotFound, format!("there is no node {name:?}")));
    }
    Ok(found)
}

/// The name of a node, by its row in the model's table.
fn name_of(nock: &Nock, row: u64) -> Result<String> {
    for part in nock.scan(&Request::of(Tables::NodeKeys(0)))? {
        for batch in part {
            let Batch::Nodes(batch) = batch? else { continue };
            // Parts come in the order of rows: behind the row there is nothing to look for.
            let Some(at) = row.checked_sub(batch.start) else { break };
            let keys = batch.keys.as_ref().map(arrow_array::cast::AsArray::as_string::<i32>);
            if let Some(keys) = keys.filter(|keys| at < keys.len() as u64) {
                return Ok(keys.value(index(at)).to_owned());
            }
        }
    }
    Err(Error::new(Kind::NotFound, format!("there is no node in row {row}")))
}
