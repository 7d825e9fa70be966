//! Arguments of GraphLake.

use isomorph::Result;
use isomorph::convert::{Format, OpenOptions};
use isomorph::formats::graphlake;

use super::Arguments;
use crate::args::OpenArgs;

pub struct GraphLake;

impl Arguments for GraphLake {
    fn format(&self) -> Format {
        Format::GRAPHLAKE
    }

    fn opening(&self, args: &OpenArgs, options: &mut OpenOptions) -> Result<()> {
        let options = options.get_mut::<graphlake::OpenOptions>();
        options.at = args.snapshot.clone().unwrap_or_default();
        options.tolerance = match (args.strict, args.lenient) {
            (true, _) => graphlake::Tolerance::Strict,
            (_, true) => graphlake::Tolerance::Lenient,
            _ => graphlake::Tolerance::Normal,
        };
        options.namespaces = args.namespaces.iter().cloned().collect();
        options.naive = args.naive;
        Ok(())
    }
}
