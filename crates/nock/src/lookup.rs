use crate::Nock;
use isomorph_error::{Error, Result};
use isomorph_model::{EdgeBatch, NodeId, Side};
pub(crate) fn neighbors(_: &Nock, _: usize, _: NodeId<'_>, _: Side) -> Result<Vec<EdgeBatch>> {
    Err(Error::unsupported(""))
}
