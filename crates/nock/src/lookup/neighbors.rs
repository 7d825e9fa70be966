//! Look-up of the edges of one node.

use arrow_array::Array;
use isomorph_error::{Error, Kind, Place, Result, index};
use isomorph_model::{Batch, NodeId, Part, Request, Side, Source, Tables, part};

use crate::Nock;
use crate::columns::{Column, ColumnSet};
use crate::dataset::{Named, Partition, Wanted};
use crate::rows::{Depth, Rows, Split, split};

/// Maximum rows of a batch, so that only the requested edges of a node with very many edges are read.
const BATCH_ROWS: usize = 1 << 14;

/// Returns the edges that leave or reach a node, in row order, with properties.
///
/// # Errors
/// Returns [`Kind::NotFound`] if the node or edge type does not exist, or an error if a file cannot be read.
pub(crate) fn neighbors<'n>(nock: &'n Nock, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + 'n>> {
    if edge != 0 {
        return Err(Error::usage("a NOCK file has one edge type"));
    }
    let name = match node {
        NodeId::Key(name) => name.to_owned(),
        NodeId::Row(row) => name_of(nock, row)?,
    };
    let of = name.clone();
    let in_partition = move |partition| edges_in(nock, partition, &of, side);
    let mut found = part::chained(nock.partitions.iter().map(in_partition))?;
    let first = found.next().transpose()?;
    if first.is_none() && nock.lookup(&name)?.is_none() {
        return Err(Error::new(Kind::NotFound, format!("there is no node {name:?}")));
    }
    Ok(part::of(None, first.map(Ok).into_iter().chain(found)))
}

/// Returns the edges of a name in one partition.
fn edges_in<'n>(nock: &'n Nock, partition: &'n Partition, name: &str, side: Side) -> Result<Box<dyn Part + 'n>> {
    let named = match side {
        Side::Out => Named::Source(name),
        Side::In => Named::Target(name),
    };
    let what = Split {
        nodes: Depth::None,
        edges: Depth::Full,
        shadow: false,
        edge_id: nock.options.keep_edge_id,
        shape: &nock.shape,
    };
    let edges = move |rows: Result<Rows>| {
        let (_, edges) = split(&rows?, &what, 0, &[]).map_err(|error| error.at(Place::file(&partition.name)))?;
        Ok(edges.map(Batch::Edges))
    };
    let columns = ColumnSet::of(&[Column::RelName, Column::DstName, Column::Truth, Column::Props]);
    let wanted = Wanted { batch_rows: BATCH_ROWS, ..nock.wanted(columns, true) };
    let rows = partition.named(named, wanted)?;
    Ok(part::of(None, rows.map(edges).filter_map(Result::transpose)))
}

/// Returns the name of a node by its row in the model's table.
fn name_of(nock: &Nock, row: u64) -> Result<String> {
    for part in nock.scan(&Request::of(Tables::NodeKeys(0)))? {
        for batch in part {
            let Batch::Nodes(batch) = batch? else { continue };
            // Parts are in row order: parts after the row need not be searched.
            let Some(at) = row.checked_sub(batch.start) else { break };
            let keys = batch.keys.as_ref().map(arrow_array::cast::AsArray::as_string::<i32>);
            if let Some(keys) = keys.filter(|keys| at < keys.len() as u64) {
                return Ok(keys.value(index(at)).to_owned());
            }
        }
    }
    Err(Error::new(Kind::NotFound, format!("there is no node in row {row}")))
}
