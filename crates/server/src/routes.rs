//! Maps paths to calls.

use std::convert::Infallible;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use isomorph_sampling::{Stop, Why};
use isomorph_storage::Reservation;
use tokio::sync::Semaphore;
use tonic::body::Body;
use tonic::metadata::MetadataValue;
use tonic::{Code, Status, Streaming};
use tower_service::Service;

use crate::access::Gate;
use crate::codec::{Asked, Requests};
use crate::deadline;
use crate::engine::{Answer, Engine, busy};
use crate::log::{Log, field};
use crate::metered::{Incoming, Outgoing};
use crate::metrics::{Metrics, Phase};
use crate::packed::{Parts, Reply};
use crate::peer::Peer;
use crate::reflection;
use crate::status::invalid;
use crate::wire::{HealthReply, HealthRequest, Request};

/// Maximum work of a request that is answered at once; a larger one waits for its turn on a separate thread. See [`Request::work`].
const SHORT: usize = 4096;

/// The services.
const SERVICES: [&str; 2] = ["snark.GraphEngine", "snark.GraphSampler"];

/// The call that needs no token: it tells nothing about the graph, and those who watch over a server often have none.
const HEALTH: &str = "/grpc.health.v1.Health/Check";

/// Maximum work of a request that is answered on the thread that read it, in units of [`Stop`]: about two milliseconds. A request that turns
/// out to be longer begins anew on a separate thread.
const MOST_AT_ONCE: u64 = 1 << 19;

/// When a request must be answered.
#[derive(Clone, Copy)]
struct End {
    at: Instant,
    longest: Duration,
}

/// The status of a request whose time is over.
fn late(longest: Duration) -> Status {
    Status::deadline_exceeded(format!("this request took longer than {} s", longest.as_secs_f64()))
}

/// State that all requests share.
pub(crate) struct Shared {
    pub engine: Arc<Engine>,
    pub gate: Arc<Gate>,
    pub metrics: Arc<Metrics>,
    pub log: Log,
    /// Permits for long requests.
    pub turns: Arc<Semaphore>,
}

/// Routes requests by path.
#[derive(Clone)]
pub(crate) struct Routes(pub Arc<Shared>);

type Responding = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

/// A call: takes a request of one type, returns a reply of another, unless its work is ended early.
type Call<D, E> = fn(&Shared, D, &Stop) -> Result<Answer<E>, Status>;

/// Routes the calls of the engine.
macro_rules! calls {
    ($routes:expr, $request:expr, $end:expr; $($path:literal: $method:ident,)* ; $($other:literal: $call:expr,)*) => {
        match $request.uri().path() {
            $($path => {
                $routes.unary($request, $end, |shared, message, stop| shared.engine.until(stop).$method(message))
            })*
            $($other => $routes.unary($request, $end, $call),)*
            path if reflection::PATHS.contains(&path) => {
                let engine = Arc::clone(&$routes.0.engine);
                Box::pin(async move { reflection::serve(&engine, $request).await })
            }
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
    type Future = Responding;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Responding {
        let shared = Arc::clone(&self.0);
        let peer = request.extensions().get::<Arc<Peer>>().cloned();
        let mut running = Running::new(shared, request.uri().path(), peer);
        let headers = request.headers();
        let token = if request.uri().path() == HEALTH { Ok(()) } else { self.0.gate.check(headers) };
        let longest = token.and_then(|()| deadline::of(headers, self.0.engine.limits().deadline));
        let longest = match longest {
            // A request can be answered when it is looked at for the first time, but not before its deadline.
            Ok(longest) if longest.is_zero() => {
                return Box::pin(async move { Ok(running.ended(late(longest).into_http())) });
            }
            Ok(longest) => longest,
            Err(status) => return Box::pin(async move { Ok(running.ended(status.into_http())) }),
        };
        let answering = self.dispatch(request, End { at: Instant::now() + longest, longest });
        Box::pin(async move {
            let response = match tokio::time::timeout(longest, answering).await {
                Ok(Ok(response)) => response,
                Err(_) => late(longest).into_http(),
            };
            Ok(running.ended(response))
        })
    }
}

/// A request that is being answered. If it is dropped before it has ended, the client is gone.
struct Running {
    shared: Arc<Shared>,
    peer: Option<Arc<Peer>>,
    call: usize,
    start: Instant,
    code: Code,
}

impl Running {
    fn new(shared: Arc<Shared>, path: &str, peer: Option<Arc<Peer>>) -> Running {
        let call = shared.metrics.begin(path);
        Running { shared, peer, call, start: Instant::now(), code: Code::Cancelled }
    }

    fn ended(&mut self, response: http::Response<Body>) -> http::Response<Body> {
        let refused = Status::from_header_map(response.headers());
        self.code = refused.as_ref().map_or(Code::Ok, Status::code);
        if let Some(status) = refused.filter(|status| status.code() != Code::Ok) {
            self.shared.log.limited("request_refused", status.message(), || {
                let peer = self.peer.as_ref().map_or_else(String::new, |peer| peer.address.to_string());
                let milliseconds = self.start.elapsed().as_millis();
                let (call, code) = (Metrics::name(self.call), Metrics::code(status.code()));
                vec![field("peer", peer), field("call", call), field("code", code), field("ms", milliseconds)]
            });
        }
        response
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.metrics.end(self.call, self.code, self.start.elapsed());
    }
}

impl Routes {
    fn dispatch(&self, request: http::Request<Body>, end: End) -> Responding {
        calls!(self, request, end;
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

    fn unary<D, E>(&self, request: http::Request<Body>, end: End, call: Call<D, E>) -> Responding
    where
        D: Request + Send + 'static,
        E: Reply + 'static,
    {
        let shared = Arc::clone(&self.0);
        let peer = request.extensions().get::<Arc<Peer>>().cloned();
        Box::pin(async move {
            let metrics = Arc::clone(&shared.metrics);
            let answered = match asked::<D>(&shared, request).await {
                Ok(asked) => answered(shared, call, asked, end).await,
                Err(status) => Err(status),
            };
            Ok(match answered {
                Ok(Answered { parts, memory }) => {
                    let sending = peer.map(|peer| peer.sending());
                    let body = Outgoing::new(parts.into_chunks(), memory, sending, &metrics);
                    let mut response = http::Response::new(Body::new(body));
                    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
                    response
                }
                Err(status) => status.into_http(),
            })
        })
    }
}

/// Receives the message of a request.
async fn asked<D: Request + Send + 'static>(shared: &Shared, request: http::Request<Body>) -> Result<Asked<D>, Status> {
    uncompressed(request.headers())?;
    let memory = shared.engine.budget().try_reserve(0).ok_or_else(busy)?;
    let body = Incoming::new(request.into_body(), memory, &shared.metrics);
    let (decoder, limit) = (Requests::new(&shared.engine), shared.engine.limits().message);
    let mut messages = Streaming::new_request(decoder, body, None, Some(limit));
    let message = messages.message().await?.ok_or_else(|| invalid("the request has no message"))?;
    // The client may still say that it gives up.
    messages.trailers().await?;
    Ok(message)
}

/// Refuses messages that are compressed: no compression is offered.
fn uncompressed(headers: &HeaderMap) -> Result<(), Status> {
    match headers.get("grpc-encoding") {
        Some(encoding) if encoding != "identity" => {
            let mut status = Status::unimplemented("compressed messages are not supported");
            status.metadata_mut().insert("grpc-accept-encoding", MetadataValue::from_static("identity"));
            Err(status)
        }
        _ => Ok(()),
    }
}

/// Answers whether a service is available.
fn health(shared: &Shared, request: HealthRequest, _: &Stop) -> Result<Answer<HealthReply>, Status> {
    let (serving, stopping) = (1, 2);
    if !request.service.is_empty() && !SERVICES.contains(&request.service.as_str()) {
        return Err(Status::not_found(format!("service not found; expected one of {}", SERVICES.join(", "))));
    }
    let status = if shared.metrics.phase() == Phase::Stopping { stopping } else { serving };
    let memory = shared.engine.budget().try_reserve(0).ok_or_else(busy)?;
    Ok(Answer { reply: HealthReply { status }, memory })
}

/// A reply that is ready to be sent, and its memory.
struct Answered {
    parts: Parts,
    memory: Reservation,
}

async fn answered<D, E>(shared: Arc<Shared>, call: Call<D, E>, asked: Asked<D>, end: End) -> Result<Answered, Status>
where
    D: Request + Send + 'static,
    E: Reply + 'static,
{
    let at_once = if asked.message.work() <= SHORT { at_once(&shared, call, &asked, end) } else { None };
    match at_once {
        Some(answered) => answered,
        None => in_turn(shared, call, asked, end).await,
    }
}

/// Answers on the thread that read the request, or returns `None` if the request turns out to be long: a few nodes may have many edges, and
/// a sampler may need to read the whole graph.
fn at_once<D: Request, E: Reply>(
    shared: &Shared,
    call: Call<D, E>,
    asked: &Asked<D>,
    end: End,
) -> Option<Result<Answered, Status>> {
    let stop = Stop::new(Some(end.at), MOST_AT_ONCE);
    let answered = fenced(shared, call, asked.message.clone(), &stop, end);
    if answered.is_err() && stop.why() == Some(Why::TooMuch) { None } else { Some(answered) }
}

/// Answers on a thread for long requests when it is this request's turn. If this future is dropped, because the client is gone or the time
/// is over, the request gives up its place, or its work ends early and makes room for the next one.
async fn in_turn<D, E>(shared: Arc<Shared>, call: Call<D, E>, asked: Asked<D>, end: End) -> Result<Answered, Status>
where
    D: Request + Send + 'static,
    E: Reply + 'static,
{
    let stopping = || Status::unavailable("this server is stopping");
    let turn = Arc::clone(&shared.turns).acquire_owned().await.map_err(|_| stopping())?;
    let waiting = Waiting(Stop::new(Some(end.at), u64::MAX));
    let stop = waiting.0.clone();
    let work = move || {
        let Asked { message, _memory } = asked;
        let answered = fenced(&shared, call, message, &stop, end);
        if answered.is_err() && stop.why().is_some() {
            shared.metrics.stopped();
        }
        drop(turn);
        answered
    };
    let done = tokio::task::spawn_blocking(work).await;
    drop(waiting);
    done.map_err(|_| stopping())?
}

/// Somebody waits for the work. When this is dropped, nobody does.
struct Waiting(Stop);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Calls the engine and encodes its reply; a panic fails only this request.
fn fenced<D, E: Reply>(
    shared: &Shared,
    call: Call<D, E>,
    message: D,
    stop: &Stop,
    end: End,
) -> Result<Answered, Status> {
    let answer = catch_unwind(AssertUnwindSafe(|| {
        let Answer { reply, memory } = call(shared, message, stop)?;
        let parts = Parts::framed(reply).ok_or_else(|| Status::resource_exhausted("the reply is too long"))?;
        Ok(Answered { parts, memory })
    }));
    shared.metrics.worked(stop.done());
    match answer {
        Ok(Err(_)) if stop.why() == Some(Why::Late) => Err(late(end.longest)),
        Ok(answer) => answer,
        Err(_) => Err(Status::internal("internal error while answering this request")),
    }
}
