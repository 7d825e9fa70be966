//! Samples nodes and edges of the whole graph.

use isomorph_sampling::{Draw, EdgeSampler, NodeSampler, TypeSet};
use tonic::Status;

use super::samplers::{Elements, Key, choice, same_elements};
use super::{Answer, Engine, known, refused};
use crate::status::{invalid, too_much};
use crate::wire::{CreateReply, CreateRequest, SampleReply, SampleRequest};

/// The value returned if there is no element.
const NONE: i64 = -1;

/// Bytes of an element in a reply: two ends and a type, twice, because of the encoded copy.
const ELEMENT: u64 = 50;

impl Engine {
    /// Returns the number of a sampler, and the weight of its elements.
    ///
    /// # Errors
    /// Returns an error if the choice does not exist, or if the graph has no elements of these types or no tables to draw them by.
    pub fn create(&self, request: CreateRequest) -> Result<Answer<CreateReply>, Status> {
        let (what, counts) = match request.is_edge {
            false => ("nodes", &self.served.summary.node_counts),
            true => ("edges", &self.served.summary.edge_counts),
        };
        let category = request.category;
        let choice = u64::try_from(category).ok().and_then(choice);
        let choice = choice.ok_or_else(|| invalid(format!("category is {category}; expected 0, 1 or 2")))?;
        let types = known(&request.types, counts.len()).listed().unwrap_or_default().to_vec();
        let nothing = || {
            let types = request.types.iter().take(8).map(i32::to_string).collect::<Vec<_>>().join(", ");
            let message = match types.is_empty() {
                true => format!("the request names no types of {what}"),
                false => format!("the graph has no {what} of types {types}"),
            };
            Status::failed_precondition(message)
        };
        if types.is_empty() {
            return Err(nothing());
        }
        let stated: u64 = types.iter().filter_map(|ty| counts.get(usize::try_from(*ty).ok()?)).sum();
        let key = Key { is_edge: request.is_edge, choice, types };
        let sampler_id = self.served.samplers.number(&key)?;
        let sampler = self.served.samplers.get(sampler_id, || self.make(&key))?;
        let (size, weight) = match &*sampler {
            Elements::Nodes(nodes) => (nodes.size(), nodes.weight()),
            Elements::Edges(edges) => (edges.size(), edges.weight()),
        };
        // If other partitions have such elements, their servers draw them.
        if size == 0 && stated == 0 {
            return Err(nothing());
        }
        Ok(Answer { reply: CreateReply { sampler_id, weight }, memory: self.room(0)? })
    }

    /// Draws nodes or edges, by the number of a sampler.
    ///
    /// # Errors
    /// Returns an error if no sampler has the number, or if there is nothing to draw.
    pub fn sample(&self, request: SampleRequest) -> Result<Answer<SampleReply>, Status> {
        let negative = |_| invalid(format!("the count is {}, and must not be negative", request.count));
        let count = usize::try_from(request.count).map_err(negative)?;
        if count == 0 {
            return Ok(Answer { reply: SampleReply::default(), memory: self.room(0)? });
        }
        if count > self.served.limits.batch {
            return Err(too_much("elements", count, self.served.limits.batch));
        }
        let key = self.served.samplers.key(request.sampler_id)?;
        same_elements(&key, request.is_edge)?;
        let memory = self.room(ELEMENT * count as u64)?;
        let sampler = self.served.samplers.get(request.sampler_id, || self.make(&key))?;
        let draw = Draw::of(request.seed.cast_unsigned());
        let mut types = vec![0; count];
        let (filled, node_ids) = match &*sampler {
            Elements::Nodes(nodes) => {
                let mut ids = vec![0; count];
                let filled = nodes.stopped_by(&self.stop).sample(draw, NONE, &mut ids, &mut types).map_err(refused)?;
                (filled, ids)
            }
            Elements::Edges(edges) => {
                let mut ends = vec![0; 2 * count];
                let (sources, targets) = ends.split_at_mut(count);
                let mut edges = edges.stopped_by(&self.stop);
                let filled = edges.sample(draw, NONE, sources, targets, &mut types).map_err(refused)?;
                (filled, ends)
            }
        };
        if filled == 0 {
            return Err(Status::failed_precondition("this sampler has nothing to draw: its elements have no weight"));
        }
        Ok(Answer { reply: SampleReply { types, node_ids }, memory })
    }

    fn make(&self, key: &Key) -> Result<Elements, Status> {
        let (types, graph, generator) = (TypeSet::of(&key.types), &self.served.graph, self.served.generator);
        match key.is_edge {
            false => NodeSampler::until(graph, &types, key.choice, generator, &self.stop).map(Elements::Nodes),
            true => EdgeSampler::until(graph, &types, key.choice, generator, &self.stop).map(Elements::Edges),
        }
        .map_err(refused)
    }
}
