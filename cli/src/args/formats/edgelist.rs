//! Arguments of edge lists and adjacency lists.

use isomorph::Result;
use isomorph::convert::{Format, OpenOptions, WriteOptions};
use isomorph::formats::edgelist;

use super::Arguments;
use crate::args::{OpenArgs, TargetArgs};

pub struct EdgeList;

impl Arguments for EdgeList {
    fn format(&self) -> Format {
        Format::EDGELIST
    }

    fn opening(&self, args: &OpenArgs, options: &mut OpenOptions) -> Result<()> {
        let options = options.get_mut::<edgelist::OpenOptions>();
        options.columns = args.edge_columns.clone().unwrap_or_default();
        options.undirected = args.undirected;
        Ok(())
    }

    fn writing(&self, args: &TargetArgs, _destination: &str, _returns: bool, options: &mut WriteOptions) -> Result<()> {
        options.get_mut::<edgelist::WriteOptions>().data = args.edge_data;
        Ok(())
    }
}

/// Adjacency lists, which state no direction either.
pub struct Adjacency(pub Format);

impl Arguments for Adjacency {
    fn format(&self) -> Format {
        self.0
    }

    fn opening(&self, args: &OpenArgs, options: &mut OpenOptions) -> Result<()> {
        options.get_mut::<edgelist::OpenOptions>().undirected = args.undirected;
        Ok(())
    }
}
