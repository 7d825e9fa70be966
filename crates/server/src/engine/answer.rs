//! Answers a call whose messages are bytes.

use bytes::Bytes;
use tonic::Status;

use super::{Answer, Engine};
use crate::codec::{Asked, decoded};
use crate::packed::{Parts, Reply};
use crate::wire::Request;

impl Engine {
    /// The paths of the calls that [`Engine::answer`] knows.
    pub const PATHS: [&str; 15] = [
        "/snark.GraphEngine/GetMetadata",
        "/snark.GraphEngine/GetNodeTypes",
        "/snark.GraphEngine/GetNodeFeatures",
        "/snark.GraphEngine/GetEdgeFeatures",
        "/snark.GraphEngine/GetNodeSparseFeatures",
        "/snark.GraphEngine/GetEdgeSparseFeatures",
        "/snark.GraphEngine/GetNodeStringFeatures",
        "/snark.GraphEngine/GetEdgeStringFeatures",
        "/snark.GraphEngine/GetNeighbors",
        "/snark.GraphEngine/GetNeighborCounts",
        "/snark.GraphEngine/GetLastNCreatedNeighbors",
        "/snark.GraphEngine/WeightedSampleNeighbors",
        "/snark.GraphEngine/UniformSampleNeighbors",
        "/snark.GraphSampler/Create",
        "/snark.GraphSampler/Sample",
    ];

    /// Answers a call by its path, as a server does, without its network: the message of the request is decoded within the budget and the
    /// limits, and the message of the reply is encoded.
    ///
    /// # Errors
    /// Returns the status that a client would get; `UNIMPLEMENTED` for other paths.
    pub fn answer(&self, path: &str, message: &[u8]) -> Result<Vec<u8>, Status> {
        match path {
            "/snark.GraphEngine/GetMetadata" => self.answered(message, Engine::metadata),
            "/snark.GraphEngine/GetNodeTypes" => self.answered(message, Engine::node_types),
            "/snark.GraphEngine/GetNodeFeatures" => self.answered(message, Engine::node_features),
            "/snark.GraphEngine/GetEdgeFeatures" => self.answered(message, Engine::edge_features),
            "/snark.GraphEngine/GetNodeSparseFeatures" => self.answered(message, Engine::node_sparse),
            "/snark.GraphEngine/GetEdgeSparseFeatures" => self.answered(message, Engine::edge_sparse),
            "/snark.GraphEngine/GetNodeStringFeatures" => self.answered(message, Engine::node_strings),
            "/snark.GraphEngine/GetEdgeStringFeatures" => self.answered(message, Engine::edge_strings),
            "/snark.GraphEngine/GetNeighbors" => self.answered(message, Engine::neighbors),
            "/snark.GraphEngine/GetNeighborCounts" => self.answered(message, Engine::neighbor_counts),
            "/snark.GraphEngine/GetLastNCreatedNeighbors" => self.answered(message, Engine::last_neighbors),
            "/snark.GraphEngine/WeightedSampleNeighbors" => self.answered(message, Engine::weighted_neighbors),
            "/snark.GraphEngine/UniformSampleNeighbors" => self.answered(message, Engine::uniform_neighbors),
            "/snark.GraphSampler/Create" => self.answered(message, Engine::create),
            "/snark.GraphSampler/Sample" => self.answered(message, Engine::sample),
            path => Err(Status::unimplemented(format!("{path} is not a call of this server"))),
        }
    }

    fn answered<D: Request, E: Reply>(
        &self,
        message: &[u8],
        call: fn(&Engine, D) -> Result<Answer<E>, Status>,
    ) -> Result<Vec<u8>, Status> {
        let Asked { message, _memory } = decoded::<D>(self, Bytes::copy_from_slice(message))?;
        let answer = call(self, message)?;
        Ok(Parts::of(answer.reply).into_vec())
    }
}
