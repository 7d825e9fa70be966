//! The edges of one node.

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
        partition.named(named, &nock.wanted(columns, true), &mut |rows| {
            let apart = split(&rows, &what, 0, &[]);
            found.extend(apart.map_err(|error| error.at(Place::file(&partition.name)))?.1);
            Ok(())
        })?;
    }
    if found.is_empty() && nock.lookup(&name)?.is_none() {
        return Err(Error::new(Kind::NotFound, format!("there is no node {name:?}")));
    }
    Ok(found)
}

/// The name of a node, by its row in the model's table.
fn name_of(nock: &Nock, row: u64) -> Result<String> {
    let mut name = None;
    for part in nock.scan(&Request::of(Tables::NodeKeys(0)))? {
        let read = part.read(&mut |batch| {
            let Batch::Nodes(batch) = batch else { return Ok(()) };
            // Parts come in the order of rows: behind the row there is nothing to look for.
            let done = || Error::new(Kind::Cancelled, "found");
            let at = row.checked_sub(batch.start).ok_or_else(done)?;
            if at >= batch.rows as u64 {
                return Ok(());
            }
            let keys = batch.keys.as_ref().map(arrow_array::cast::AsArray::as_string::<i32>);
            name = keys.map(|keys| keys.value(index(at)).to_owned());
            Err(done())
        });
        match (read, &mut name) {
            (_, Some(name)) => return Ok(std::mem::take(name)),
            (Err(error), None) if error.kind() != Kind::Cancelled => return Err(error),
            _ => {}
        }
    }
    Err(Error::new(Kind::NotFound, format!("there is no node in row {row}")))
}
