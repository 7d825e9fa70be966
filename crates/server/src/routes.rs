//! Maps paths to calls.

use std::convert::Infallible;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use prost::Message;
use tokio::sync::Semaphore;
use tonic::body::Body;
use tonic::server::{Grpc, UnaryService};
use tonic::{Response, Status};
use tower_service::Service;

use crate::codec::{Asked, Wire};
use crate::engine::{Answer, Engine, busy};
use crate::metered::{Held, Incoming, Outgoing};
use crate::wire::{HealthReply, HealthRequest, Request};

/// Maximum number of elements in a request that is answered at once; a larger one waits for its turn on a separate thread.
const SHORT: usize = 4096;

/// The services.
const SERVICES: [&str; 2] = ["snark.GraphEngine", "snark.GraphSampler"];

/// State that all requests share.
pub(crate) struct Shared {
    pub engine: Arc<Engine>,
    /// Permits for long requests.
    pub turns: Semaphore,
    /// Whether the server is stopping.
    pub stopping: AtomicBool,
}

/// Routes requests by path.
#[derive(Clone)]
pub(crate) struct Routes(pub Arc<Shared>);

type Reply = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

/// A call: takes a request of one type, returns a reply of another.
type Call<D, E> = fn(&Shared, D) -> Result<Answer<E>, Status>;

/// Routes the calls of the engine.
macro_rules! calls {
    ($routes:expr, $request:expr; $($path:literal: $method:ident,)* ; $($other:literal: $call:expr,)*) => {
        match $request.uri().path() {
            $($path => $routes.unary($request, |shared, message| shared.engine.$method(message)),)*
            $($other => $routes.unary($request, $call),)*
            path => {
                let status = Status::unimplemented(format!("{path} is not a call of this server"));
                Box::pin(async move { Ok(status.into_http()) })
            }
        }
    };
}

impl Service<http::Request<Body>> for Routes {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Reply;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Reply {
        calls!(self, request;
            "/snark.GraphEngine/GetMetadata": metadata,
            "/snark.GraphEngine/GetNodeTypes": node_types,
            "/snark.GraphEngine/GetNodeFeatures": node_features,
            "/snark.GraphEngine/GetEdgeFeatures": edge_features,
            "/snark.GraphEngine/GetNodeSparseFeatures": node_sparse,
            "/snark.GraphEngine/GetEdgeSparseFeatures": edge_sparse,
            "/snark.GraphEngine/GetNodeStringFeatures": node_strings,
            "/snark.GraphEngine/GetEdgeStringFeatures": edge_strings,
            "/snark.GraphEngine/GetNeighbors": neighbors,
            "/snark.GraphEngine/GetNeighborCounts": neighbor_counts,
            "/snark.GraphEngine/GetLastNCreatedNeighbors": last_neighbors,
            "/snark.GraphEngine/WeightedSampleNeighbors": weighted_neighbors,
            "/snark.GraphEngine/UniformSampleNeighbors": uniform_neighbors,
            "/snark.GraphSampler/Create": create,
            "/snark.GraphSampler/Sample": sample,
            ;
            "/grpc.health.v1.Health/Check": health,
        )
    }
}

/// Answers whether a service is available.
fn health(shared: &Shared, request: HealthRequest) -> Result<Answer<HealthReply>, Status> {
    let (serving, stopping) = (1, 2);
    if !request.service.is_empty() && !SERVICES.contains(&request.service.as_str()) {
        return Err(Status::not_found(format!("service not found; expected one of {}", SERVICES.join(", "))));
    }
    let status = if shared.stopping.load(Ordering::Relaxed) { stopping } else { serving };
    let memory = shared.engine.budget().try_reserve(0).ok_or_else(busy)?;
    Ok(Answer { reply: HealthReply { status }, memory })
}

impl Routes {
    fn unary<D, E>(&self, request: http::Request<Body>, call: Call<D, E>) -> Reply
    where
        D: Request + Send + 'static,
        E: Message + 'static,
    {
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            let Some(memory) = shared.engine.budget().try_reserve(0) else { return Ok(busy().into_http()) };
            let limit = shared.engine.limits().message;
            let mut grpc = Grpc::new(Wire::<D, E>::new(&shared.engine)).max_decoding_message_size(limit);
            let request = request.map(|body| Incoming::new(body, memory));
            let mut response = grpc.unary(Answering { shared, call }, request).await;
            let held = response.extensions_mut().remove::<Held>();
            Ok(match held {
                Some(held) => response.map(|body| Body::new(Outgoing { body, _held: held })),
                None => response,
            })
        })
    }
}

/// The handler of one call.
struct Answering<D, E> {
    shared: Arc<Shared>,
    call: Call<D, E>,
}

impl<D: Request + Send + 'static, E: Message + 'static> UnaryService<Asked<D>> for Answering<D, E> {
    type Response = E;
    type Future = Pin<Box<dyn Future<Output = Result<Response<E>, Status>> + Send>>;

    fn call(&mut self, request: tonic::Request<Asked<D>>) -> Self::Future {
        let (shared, call, asked) = (Arc::clone(&self.shared), self.call, request.into_inner());
        Box::pin(async move {
            let answer = if asked.message.batch() <= SHORT {
                fenced(&shared, call, asked)?
            } else {
                let _turn = shared.turns.acquire().await.map_err(|_| Status::unavailable("this server is stopping"))?;
                tokio::task::block_in_place(|| fenced(&shared, call, asked))?
            };
            let mut response = Response::new(answer.reply);
            response.extensions_mut().insert(Held::new(answer.memory));
            Ok(response)
        })
    }
}

/// Calls the engine; a panic fails only this request.
fn fenced<D, E>(shared: &Shared, call: Call<D, E>, asked: Asked<D>) -> Result<Answer<E>, Status> {
    let Asked { message, _memory } = asked;
    catch_unwind(AssertUnwindSafe(|| call(shared, message)))
        .unwrap_or_else(|_| Err(Status::internal("internal error while answering this request")))
}
