//! GraphML as a syntax of records.

use isomorph_error::Result;
use isomorph_records::{Reader, RecordRules, Syntax, xml};
use isomorph_storage::Location;
use isomorph_tables::PackedFile;

use crate::read::GraphMlReader;
use crate::rules;

/// Number of first bytes that are inspected.
const LOOK: u64 = 16 << 10;

/// GraphML.
///
/// ```no_run
/// use isomorph_graphml::{GraphMl, OpenOptions, RecordGraph};
/// use isomorph_model::Source;
/// use isomorph_storage::Location;
///
/// let graph = RecordGraph::open(&Location::parse("graph.graphml")?, &GraphMl, OpenOptions::default())?;
/// println!("{:?} nodes", graph.graph().node_rows());
/// # Ok::<(), isomorph_error::Error>(())
/// ```
pub struct GraphMl;

impl GraphMl {
    /// Returns whether the file at `location` begins like GraphML.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn detect(location: &Location) -> Result<bool> {
        if location.as_path().is_some_and(std::path::Path::is_dir) {
            return Ok(false);
        }
        let file = PackedFile::open(location)?;
        // A file that cannot be decompressed belongs to another format.
        let Ok(begin) = file.begin(LOOK) else { return Ok(false) };
        Ok(xml::begins_with(&begin, "graphml"))
    }
}

impl Syntax for GraphMl {
    fn name(&self) -> &'static str {
        "GraphML"
    }

    fn rules(&self) -> RecordRules {
        RecordRules {
            id: &rules::ID,
            end: &rules::END,
            value: &rules::VALUE,
            mixed: &rules::ID,
            hyperedge: Some(&rules::HYPEREDGE),
        }
    }

    fn reader(&self, file: &PackedFile) -> Result<Box<dyn Reader>> {
        Ok(Box::new(GraphMlReader::new(file)?))
    }

    fn heeds_default_direction(&self) -> bool {
        true
    }
}
