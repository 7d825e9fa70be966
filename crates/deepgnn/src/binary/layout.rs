//! Names and sizes of the files of a binary.

/// Name of the metadata of a binary.
pub const META: &str = "meta.json";

/// Name of the metadata before version 1.
pub(crate) const OLD_META: &str = "meta.txt";

/// The version that is written.
pub(crate) const VERSION: &str = "v2";

/// Bytes of a record of the map: id, number, type.
pub(crate) const MAP_RECORD: usize = 20;

/// Bytes of a record of edges: target, first feature, type, weight.
pub(crate) const EDGE_RECORD: usize = 24;

/// Bytes of the times of an edge.
pub(crate) const TIME_RECORD: usize = 16;

/// Type of an entry that only stands for edges.
pub(crate) const DUMMY: i32 = -1;

/// Names of the files of partition `p`.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    pub map: String,
    pub node_index: String,
    pub node_features_index: String,
    pub node_features_data: String,
    pub neighbors: String,
    pub edge_index: String,
    pub edge_features_index: String,
    pub edge_features_data: String,
    pub times: String,
}

impl Names {
    pub fn of(p: u32) -> Names {
        Names {
            map: format!("node_{p}_0.map"),
            node_index: format!("node_{p}_0.index"),
            node_features_index: format!("node_features_{p}_0.index"),
            node_features_data: format!("node_features_{p}_0.data"),
            neighbors: format!("neighbors_{p}_0.index"),
            edge_index: format!("edge_{p}_0.index"),
            edge_features_index: format!("edge_features_{p}_0.index"),
            edge_features_data: format!("edge_features_{p}_0.data"),
            times: format!("edge_{p}_0.timestamp"),
        }
    }
}

/// Returns the name of the sampling table of nodes or edges of a type. The type comes first here, unlike in all other
/// names.
pub(crate) fn alias(element: &str, ty: usize, partition: u32) -> String {
    format!("{element}_{ty}_{partition}.alias")
}
