//! The messages of the services `snark.GraphEngine` and `snark.GraphSampler` of deepgnn-ge 0.1.66, and of the gRPC health check.
//!
//! Field numbers are those of the protocol. Lists of numbers are packed.

use prost::Message;

/// A request of a call.
pub trait Request: Message + Default + Clone {
    /// Returns the number of requested elements.
    fn batch(&self) -> usize;

    /// Returns the work that the request causes, in elements that are looked up; sixteen draws count as one.
    fn work(&self) -> usize {
        self.batch()
    }
}

/// An empty request.
#[derive(Clone, PartialEq, Message)]
pub struct Empty {}

/// The metadata of the graph.
#[derive(Clone, PartialEq, Message)]
pub struct MetadataReply {
    /// Number of nodes.
    #[prost(uint64, tag = "1")]
    pub nodes: u64,
    /// Number of edges.
    #[prost(uint64, tag = "2")]
    pub edges: u64,
    /// Number of node types.
    #[prost(uint64, tag = "3")]
    pub node_types: u64,
    /// Number of edge types.
    #[prost(uint64, tag = "4")]
    pub edge_types: u64,
    /// Maximum number of features of a node.
    #[prost(uint64, tag = "5")]
    pub node_features: u64,
    /// Maximum number of features of an edge.
    #[prost(uint64, tag = "6")]
    pub edge_features: u64,
    /// Number of partitions, including those of other servers.
    #[prost(uint64, tag = "7")]
    pub partitions: u64,
    /// Weights of the nodes of each type, partition by partition.
    #[prost(float, repeated, tag = "8")]
    pub node_partition_weights: Vec<f32>,
    /// Weights of the edges of each type, partition by partition.
    #[prost(float, repeated, tag = "9")]
    pub edge_partition_weights: Vec<f32>,
    /// Number of nodes of each type.
    #[prost(uint64, repeated, tag = "10")]
    pub node_count_per_type: Vec<u64>,
    /// Number of edges of each type.
    #[prost(uint64, repeated, tag = "11")]
    pub edge_count_per_type: Vec<u64>,
    /// Version of the binary: 2.
    #[prost(uint64, tag = "12")]
    pub version: u64,
    /// The latest known time; −1 without times.
    #[prost(int64, tag = "13")]
    pub watermark: i64,
}

/// Requests the types of nodes.
#[derive(Clone, PartialEq, Message)]
pub struct NodeTypesRequest {
    /// The nodes.
    #[prost(int64, repeated, tag = "1")]
    pub node_ids: Vec<i64>,
}

/// Types of the nodes that exist.
#[derive(Clone, PartialEq, Message)]
pub struct NodeTypesReply {
    /// Their types.
    #[prost(int32, repeated, tag = "1")]
    pub types: Vec<i32>,
    /// Their positions in the request.
    #[prost(uint32, repeated, tag = "2")]
    pub offsets: Vec<u32>,
}

/// A requested dense feature.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct FeatureInfo {
    /// Its id.
    #[prost(int32, tag = "1")]
    pub id: i32,
    /// Number of requested bytes.
    #[prost(uint32, tag = "2")]
    pub size: u32,
}

/// Requests dense features of nodes.
#[derive(Clone, PartialEq, Message)]
pub struct NodeFeaturesRequest {
    /// The nodes.
    #[prost(int64, repeated, tag = "1")]
    pub node_ids: Vec<i64>,
    /// The features.
    #[prost(message, repeated, tag = "2")]
    pub features: Vec<FeatureInfo>,
    /// A time for each node, or none.
    #[prost(int64, repeated, tag = "3")]
    pub timestamps: Vec<i64>,
}

/// Requests dense features of edges.
#[derive(Clone, PartialEq, Message)]
pub struct EdgeFeaturesRequest {
    /// All sources, then all targets.
    #[prost(int64, repeated, tag = "1")]
    pub node_ids: Vec<i64>,
    /// Types of the edges.
    #[prost(int32, repeated, tag = "2")]
    pub types: Vec<i32>,
    /// The features.
    #[prost(message, repeated, tag = "3")]
    pub features: Vec<FeatureInfo>,
    /// A time for each edge, or none.
    #[prost(int64, repeated, tag = "4")]
    pub timestamps: Vec<i64>,
}

/// Dense features of the elements that have one of them.
#[derive(Clone, PartialEq, Message)]
pub struct FeaturesReply {
    /// The bytes of all features of each element.
    #[prost(bytes = "vec", tag = "1")]
    pub feature_values: Vec<u8>,
    /// Positions of the elements in the request.
    #[prost(uint32, repeated, tag = "2")]
    pub offsets: Vec<u32>,
    /// Time of creation of each feature of each element; 0 without times, −1 if the feature is missing.
    #[prost(int64, repeated, tag = "3")]
    pub timestamps: Vec<i64>,
}

/// Requests sparse features, or texts, of nodes.
#[derive(Clone, PartialEq, Message)]
pub struct NodeSparseFeaturesRequest {
    /// The nodes.
    #[prost(int64, repeated, tag = "1")]
    pub node_ids: Vec<i64>,
    /// The features.
    #[prost(int32, repeated, tag = "2")]
    pub feature_ids: Vec<i32>,
    /// A time for each node, or none.
    #[prost(int64, repeated, tag = "3")]
    pub timestamps: Vec<i64>,
}

/// Requests sparse features, or texts, of edges.
#[derive(Clone, PartialEq, Message)]
pub struct EdgeSparseFeaturesRequest {
    /// All sources, then all targets.
    #[prost(int64, repeated, tag = "1")]
    pub node_ids: Vec<i64>,
    /// Types of the edges.
    #[prost(int32, repeated, tag = "2")]
    pub types: Vec<i32>,
    /// The features.
    #[prost(int32, repeated, tag = "3")]
    pub feature_ids: Vec<i32>,
    /// A time for each edge, or none.
    #[prost(int64, repeated, tag = "4")]
    pub timestamps: Vec<i64>,
}

/// Sparse features, feature by feature.
#[derive(Clone, PartialEq, Message)]
pub struct SparseFeaturesReply {
    /// The values of all points.
    #[prost(bytes = "vec", tag = "1")]
    pub values: Vec<u8>,
    /// For each point, the position of its element in the request, then its coordinates.
    #[prost(int64, repeated, tag = "2")]
    pub indices: Vec<i64>,
    /// For each feature, the number of coordinates of a point; 0 if no element has the feature.
    #[prost(int64, repeated, tag = "3")]
    pub dimensions: Vec<i64>,
    /// For each feature, the number of its `indices`.
    #[prost(int64, repeated, tag = "4")]
    pub indices_counts: Vec<i64>,
    /// For each feature, the number of its bytes in `values`.
    #[prost(int64, repeated, tag = "5")]
    pub values_counts: Vec<i64>,
    /// Times as for dense features, of all elements.
    #[prost(int64, repeated, tag = "6")]
    pub timestamps: Vec<i64>,
}

/// Texts, or any bytes, element by element and feature by feature.
#[derive(Clone, PartialEq, Message)]
pub struct StringFeaturesReply {
    /// Their bytes.
    #[prost(bytes = "vec", tag = "1")]
    pub values: Vec<u8>,
    /// Number of bytes of each, for all elements; 0 if it is missing.
    #[prost(int64, repeated, tag = "2")]
    pub dimensions: Vec<i64>,
    /// Times as for dense features, of elements that have one; at a time, of each text that exists.
    #[prost(int64, repeated, tag = "3")]
    pub timestamps: Vec<i64>,
}

/// Requests all neighbours, or their number.
#[derive(Clone, PartialEq, Message)]
pub struct NeighborsRequest {
    /// The nodes.
    #[prost(int64, repeated, tag = "1")]
    pub node_ids: Vec<i64>,
    /// Types of the edges.
    #[prost(int32, repeated, tag = "2")]
    pub edge_types: Vec<i32>,
    /// A time for each node, or none.
    #[prost(int64, repeated, tag = "3")]
    pub timestamps: Vec<i64>,
    /// Whether times of creation are requested.
    #[prost(bool, tag = "4")]
    pub return_edge_created_ts: bool,
}

/// Neighbours, node after node.
#[derive(Clone, PartialEq, Message)]
pub struct NeighborsReply {
    /// The neighbours.
    #[prost(int64, repeated, tag = "1")]
    pub node_ids: Vec<i64>,
    /// Weights of the edges to them.
    #[prost(float, repeated, tag = "2")]
    pub edge_weights: Vec<f32>,
    /// Types of these edges.
    #[prost(int32, repeated, tag = "3")]
    pub edge_types: Vec<i32>,
    /// Number of neighbours of each node.
    #[prost(uint64, repeated, tag = "4")]
    pub neighbor_counts: Vec<u64>,
    /// Times of creation of these edges, if requested.
    #[prost(int64, repeated, tag = "5")]
    pub timestamps: Vec<i64>,
}

/// Numbers of neighbours.
#[derive(Clone, PartialEq, Message)]
pub struct NeighborCountsReply {
    /// Number for each node.
    #[prost(uint64, repeated, tag = "1")]
    pub neighbor_counts: Vec<u64>,
    /// Not used.
    #[prost(int64, repeated, tag = "2")]
    pub timestamps: Vec<i64>,
}

/// Requests the neighbours whose edges were created last.
#[derive(Clone, PartialEq, Message)]
pub struct LastNeighborsRequest {
    /// The nodes.
    #[prost(int64, repeated, tag = "1")]
    pub node_ids: Vec<i64>,
    /// Types of the edges.
    #[prost(int32, repeated, tag = "2")]
    pub edge_types: Vec<i32>,
    /// A time for each node.
    #[prost(int64, repeated, tag = "3")]
    pub timestamps: Vec<i64>,
    /// Number of neighbours of each node.
    #[prost(int64, tag = "4")]
    pub count: i64,
}

/// Requests neighbours by the weights of edges, with replacement.
#[derive(Clone, PartialEq, Message)]
pub struct WeightedNeighborsRequest {
    /// The seed.
    #[prost(int64, tag = "1")]
    pub seed: i64,
    /// The nodes.
    #[prost(int64, repeated, tag = "2")]
    pub node_ids: Vec<i64>,
    /// Types of the edges.
    #[prost(int32, repeated, tag = "3")]
    pub edge_types: Vec<i32>,
    /// Default for a missing neighbour.
    #[prost(int64, tag = "4")]
    pub default_node_id: i64,
    /// Default for a missing weight.
    #[prost(float, tag = "5")]
    pub default_node_weight: f32,
    /// Default for a missing type.
    #[prost(int32, tag = "6")]
    pub default_edge_type: i32,
    /// Number of neighbours of each node.
    #[prost(int32, tag = "7")]
    pub count: i32,
    /// A time for each node, or none.
    #[prost(int64, repeated, tag = "8")]
    pub timestamps: Vec<i64>,
    /// Whether times of creation are requested.
    #[prost(bool, tag = "9")]
    pub return_edge_created_ts: bool,
}

/// Neighbours by weight of the nodes that exist.
#[derive(Clone, PartialEq, Message)]
pub struct WeightedNeighborsReply {
    /// The neighbours.
    #[prost(int64, repeated, tag = "1")]
    pub neighbor_ids: Vec<i64>,
    /// Weights of the edges to them.
    #[prost(float, repeated, tag = "2")]
    pub neighbor_weights: Vec<f32>,
    /// Types of these edges.
    #[prost(int32, repeated, tag = "3")]
    pub neighbor_types: Vec<i32>,
    /// The nodes.
    #[prost(int64, repeated, tag = "4")]
    pub node_ids: Vec<i64>,
    /// Total weight of the edges of each node.
    #[prost(float, repeated, tag = "5")]
    pub shard_weights: Vec<f32>,
    /// Times of creation of these edges, if requested.
    #[prost(int64, repeated, tag = "6")]
    pub timestamps: Vec<i64>,
}

/// Requests neighbours, drawn uniformly.
#[derive(Clone, PartialEq, Message)]
pub struct UniformNeighborsRequest {
    /// The seed.
    #[prost(int64, tag = "1")]
    pub seed: i64,
    /// The nodes.
    #[prost(int64, repeated, tag = "2")]
    pub node_ids: Vec<i64>,
    /// Types of the edges.
    #[prost(int32, repeated, tag = "3")]
    pub edge_types: Vec<i32>,
    /// Default for a missing neighbour.
    #[prost(int64, tag = "4")]
    pub default_node_id: i64,
    /// Default for a missing type.
    #[prost(int32, tag = "5")]
    pub default_edge_type: i32,
    /// Number of neighbours of each node.
    #[prost(int32, tag = "6")]
    pub count: i32,
    /// Whether to draw without replacement.
    #[prost(bool, tag = "7")]
    pub without_replacement: bool,
    /// A time for each node, or none.
    #[prost(int64, repeated, tag = "8")]
    pub timestamps: Vec<i64>,
    /// Whether times of creation are requested.
    #[prost(bool, tag = "9")]
    pub return_edge_created_ts: bool,
}

/// Neighbours of the nodes that exist.
#[derive(Clone, PartialEq, Message)]
pub struct UniformNeighborsReply {
    /// The neighbours.
    #[prost(int64, repeated, tag = "1")]
    pub neighbor_ids: Vec<i64>,
    /// Types of the edges to them.
    #[prost(int32, repeated, tag = "2")]
    pub neighbor_types: Vec<i32>,
    /// Number of the edges of each node.
    #[prost(uint64, repeated, tag = "3")]
    pub shard_counts: Vec<u64>,
    /// The nodes.
    #[prost(int64, repeated, tag = "4")]
    pub node_ids: Vec<i64>,
    /// Times of creation of these edges, if requested.
    #[prost(int64, repeated, tag = "5")]
    pub timestamps: Vec<i64>,
}

/// Requests a sampler of nodes or edges.
#[derive(Clone, PartialEq, Message)]
pub struct CreateRequest {
    /// Types of the elements.
    #[prost(int32, repeated, tag = "1")]
    pub types: Vec<i32>,
    /// Whether they are edges.
    #[prost(bool, tag = "2")]
    pub is_edge: bool,
    /// 0: by weight, 1: uniformly, 2: uniformly without replacement.
    #[prost(int32, tag = "3")]
    pub category: i32,
}

/// A sampler.
#[derive(Clone, PartialEq, Message)]
pub struct CreateReply {
    /// Its number.
    #[prost(uint64, tag = "1")]
    pub sampler_id: u64,
    /// Total weight of its elements.
    #[prost(float, tag = "2")]
    pub weight: f32,
}

/// Requests nodes or edges of the whole graph.
#[derive(Clone, PartialEq, Message)]
pub struct SampleRequest {
    /// The sampler.
    #[prost(uint64, tag = "1")]
    pub sampler_id: u64,
    /// The seed.
    #[prost(int64, tag = "2")]
    pub seed: i64,
    /// Number of elements.
    #[prost(int32, tag = "3")]
    pub count: i32,
    /// Whether they are edges.
    #[prost(bool, tag = "4")]
    pub is_edge: bool,
}

/// Nodes or edges.
#[derive(Clone, PartialEq, Message)]
pub struct SampleReply {
    /// Their types.
    #[prost(int32, repeated, tag = "1")]
    pub types: Vec<i32>,
    /// Nodes, or all sources and then all targets.
    #[prost(int64, repeated, tag = "2")]
    pub node_ids: Vec<i64>,
}

/// Requests whether a service is available.
#[derive(Clone, PartialEq, Message)]
pub struct HealthRequest {
    /// Its name; an empty name means the server.
    #[prost(string, tag = "1")]
    pub service: String,
}

/// Whether a service is available.
#[derive(Clone, PartialEq, Message)]
pub struct HealthReply {
    /// 1 if it is.
    #[prost(int32, tag = "1")]
    pub status: i32,
}

/// Number of draws that take about as long as looking up an element.
const DRAWS: usize = 16;

macro_rules! requests {
    ($($request:ty: $batch:expr $(, $each:expr)?;)*) => {
        $(impl Request for $request {
            fn batch(&self) -> usize {
                let batch: fn(&$request) -> usize = $batch;
                batch(self)
            }

            $(fn work(&self) -> usize {
                let each: fn(&$request) -> i64 = $each;
                let draws = usize::try_from(each(self)).unwrap_or(0).saturating_mul(self.batch());
                self.batch().max(draws / DRAWS)
            })?
        })*
    };
}

requests! {
    Empty: |_| 0;
    NodeTypesRequest: |request| request.node_ids.len();
    NodeFeaturesRequest: |request| request.node_ids.len();
    EdgeFeaturesRequest: |request| request.types.len();
    NodeSparseFeaturesRequest: |request| request.node_ids.len();
    EdgeSparseFeaturesRequest: |request| request.types.len();
    NeighborsRequest: |request| request.node_ids.len();
    LastNeighborsRequest: |request| request.node_ids.len(), |request| request.count;
    WeightedNeighborsRequest: |request| request.node_ids.len(), |request| request.count.into();
    UniformNeighborsRequest: |request| request.node_ids.len(), |request| request.count.into();
    CreateRequest: |request| request.types.len();
    SampleRequest: |request| usize::try_from(request.count).unwrap_or(0);
    HealthRequest: |_| 0;
}
