//! Arguments of the files of graph tools, and of Neo4j's texts: each is nodes and edges one after another.

use isomorph::Result;
use isomorph::convert::{Format, OpenOptions};
use isomorph::formats::{graphfile, neo4j};

use super::Arguments;
use crate::args::OpenArgs;

/// GraphML, GEXF, GML and the JSON of graph tools.
pub struct GraphFile(pub Format);

impl Arguments for GraphFile {
    fn format(&self) -> Format {
        self.0
    }

    fn opening(&self, args: &OpenArgs, options: &mut OpenOptions) -> Result<()> {
        options.get_mut::<graphfile::OpenOptions>().lenient = args.lenient;
        Ok(())
    }
}

/// JSON lines of APOC, and scripts of Cypher.
pub struct Neo4jText(pub Format);

impl Arguments for Neo4jText {
    fn format(&self) -> Format {
        self.0
    }

    fn opening(&self, args: &OpenArgs, options: &mut OpenOptions) -> Result<()> {
        options.get_mut::<neo4j::OpenOptions>().lenient = args.lenient;
        Ok(())
    }
}
