//! Arguments of GraphAr.

use isomorph::Result;
use isomorph::convert::{Format, OpenOptions, WriteOptions};
use isomorph::formats::graphar;

use super::Arguments;
use crate::args::{OpenArgs, TargetArgs, file_place};

pub struct GraphAr;

impl Arguments for GraphAr {
    fn format(&self) -> Format {
        Format::GRAPHAR
    }

    fn opening(&self, args: &OpenArgs, options: &mut OpenOptions) -> Result<()> {
        options.own.set(graphar::OpenOptions {
            root: args.root.as_deref().map(file_place).transpose()?,
            follow_links: args.follow_links.as_deref().map(file_place).transpose()?,
            adjacency: args.adjacency,
            key_row: args.key.is_some(),
            timestamps: args.timestamps,
        });
        Ok(())
    }

    fn writing(&self, args: &TargetArgs, _destination: &str, returns: bool, options: &mut WriteOptions) -> Result<()> {
        let options = options.get_mut::<graphar::WriteOptions>();
        options.vertex_chunk = args.vertex_chunk;
        options.edge_chunk = args.edge_chunk;
        options.file_type = args.file_type;
        options.adjacency = args.adj_lists.clone();
        options.grouping = args.groups;
        options.name = args.name.clone();
        options.hints = args.keep_layout || returns;
        options.compression = args.compression.unwrap_or(options.compression);
        Ok(())
    }
}
