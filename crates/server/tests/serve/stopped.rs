//! Work that nobody waits for ends early. What was done is counted, not timed.

use std::sync::Arc;
use std::time::Duration;

use isomorph_sampling::{Stop, Why};
use isomorph_server::load::framed;
use isomorph_server::wire::*;
use isomorph_server::{Engine, Limits};
use prost::Message;
use tonic::{Code, Status};

use crate::client::{call_within, connect};
use crate::graphs::{budget, engine, limited};
use crate::running::{Running, run};

const UNIFORM: &str = "/snark.GraphEngine/UniformSampleNeighbors";

/// Units of work that may be done after a stop: until the next look, at nodes with few edges.
const AFTER: u64 = 2 * 4096;

fn nodes(count: usize) -> Vec<i64> {
    (0..34).cycle().take(count).collect()
}

fn draws(count: usize, each: i32) -> UniformNeighborsRequest {
    UniformNeighborsRequest { node_ids: nodes(count), edge_types: vec![0], count: each, ..Default::default() }
}

#[test]
fn every_call_ends_early_and_says_so() {
    let engine = engine("karate/bin_linear_p1", None);
    let sampler = |is_edge, category| {
        let request = CreateRequest { types: vec![0], is_edge, category };
        engine.create(request).unwrap().reply.sampler_id
    };
    let features = vec![FeatureInfo { id: 0, size: 8 }];
    let (ids, edge_types) = (nodes(120_000), vec![0]);
    let (ends, types) = (nodes(240_000), vec![0; 120_000]);
    type Ask = Box<dyn Fn(&Engine) -> Result<usize, Status>>;
    let mut calls: Vec<(&str, Ask)> = Vec::new();
    macro_rules! add {
        ($name:ident, $request:expr) => {{
            let request = $request;
            calls.push((
                stringify!($name),
                Box::new(move |engine| engine.$name(request.clone()).map(|answer| answer.reply.encoded_len())),
            ));
        }};
    }
    add!(node_types, NodeTypesRequest { node_ids: ids.clone() });
    add!(
        node_features,
        NodeFeaturesRequest { node_ids: ids.clone(), features: features.clone(), ..Default::default() }
    );
    add!(
        edge_features,
        EdgeFeaturesRequest { node_ids: ends.clone(), types: types.clone(), features, ..Default::default() }
    );
    add!(node_strings, NodeSparseFeaturesRequest { node_ids: ids.clone(), feature_ids: vec![0], ..Default::default() });
    add!(node_sparse, NodeSparseFeaturesRequest { node_ids: ids.clone(), feature_ids: vec![9], ..Default::default() });
    let of_edges = EdgeSparseFeaturesRequest { node_ids: ends, types, feature_ids: vec![9], ..Default::default() };
    add!(edge_strings, of_edges.clone());
    add!(edge_sparse, of_edges);
    let neighbors = NeighborsRequest { node_ids: ids, edge_types, ..Default::default() };
    add!(neighbors, neighbors.clone());
    add!(neighbor_counts, neighbors);
    let request = draws(120_000, 2);
    let weighted = WeightedNeighborsRequest {
        node_ids: request.node_ids.clone(),
        edge_types: vec![0],
        count: 2,
        ..Default::default()
    };
    add!(weighted_neighbors, weighted);
    add!(uniform_neighbors, request);
    for (is_edge, category) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
        let sampler_id = sampler(is_edge, category);
        add!(sample, SampleRequest { sampler_id, count: 120_000, is_edge, ..Default::default() });
    }
    for (name, call) in &calls {
        let whole = Stop::new(None, u64::MAX);
        assert!(call(&engine.until(&whole)).unwrap() > 0 || name.ends_with("sparse"), "{name}");
        assert!(whole.done() > 100_000, "{name}: {}", whole.done());
        let part = Stop::new(None, 30_000);
        let status = call(&engine.until(&part)).unwrap_err();
        assert_eq!((status.code(), part.why()), (Code::Cancelled, Some(Why::TooMuch)), "{name}: {status:?}");
        // Some calls work in several loops, each of which looks at its own time.
        assert!(part.done() <= 30_000 + 3 * AFTER, "{name}: {} of {}", part.done(), whole.done());
        // Nothing is left of it in the buffers that later requests use.
        assert_eq!(call(&engine).unwrap(), call(&engine).unwrap(), "{name}");
    }
    // A sampler that must read the graph, too: it is made again by the next request.
    let key = CreateRequest { types: vec![0], is_edge: true, category: 1 };
    let other = engine_without_tables();
    let late = Stop::new(Some(std::time::Instant::now()), u64::MAX);
    assert_eq!(other.until(&late).create(key.clone()).unwrap_err().code(), Code::Cancelled);
    assert_eq!(other.create(key).unwrap().reply.weight, 156.0);
}

/// A graph whose samplers read its edges.
fn engine_without_tables() -> Engine {
    engine("karate/bin_linear_noalias", None)
}

#[test]
fn a_stop_from_another_thread_leaves_little_to_do() {
    let engine = Arc::new(engine("karate/bin_linear_p1", None));
    let whole = Stop::new(None, u64::MAX);
    let request = draws(1_000_000, 3);
    engine.until(&whole).uniform_neighbors(request.clone()).unwrap();
    let stop = Stop::new(None, u64::MAX);
    let (own, until) = (Arc::clone(&engine), stop.clone());
    let working = std::thread::spawn(move || own.until(&until).uniform_neighbors(request).map(drop));
    while stop.done() == 0 {
        std::thread::yield_now();
    }
    stop.stop();
    let done = stop.done();
    assert_eq!(working.join().unwrap().unwrap_err().code(), Code::Cancelled);
    // What was done between the two statements above is counted as well.
    assert!(stop.done() < whole.done(), "{} after {done}, of {}", stop.done(), whole.done());
}

/// The value of a metric.
fn metric(running: &Running, name: &str) -> u64 {
    let text = running.options.metrics.text();
    let line = text.lines().find_map(|line| line.strip_prefix(name).and_then(|rest| rest.strip_prefix(' ')));
    line.unwrap().parse().unwrap()
}

/// Waits until a metric has a value.
fn wait(running: &Running, name: &str, wanted: u64) {
    while metric(running, name) != wanted {
        std::thread::yield_now();
    }
}

/// Sends a long request, and leaves when it has arrived.
fn leave(running: &Running, request: &UniformNeighborsRequest) {
    let bytes = framed(&request.encode_to_vec());
    let received = metric(running, "isomorph_request_bytes_total");
    let size = bytes.len() as u64;
    run(async {
        let stream = tokio::net::TcpStream::connect(running.address).await.unwrap();
        let builder = h2::client::Builder::new();
        let (send, connection) = builder.handshake::<_, bytes::Bytes>(stream).await.unwrap();
        let driver = tokio::spawn(async move {
            let _ = connection.await;
        });
        let request = http::Request::post(format!("http://localhost{UNIFORM}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        let mut ready = send.ready().await.unwrap();
        let (_response, mut stream) = ready.send_request(request.body(()).unwrap(), false).unwrap();
        stream.send_data(bytes, true).unwrap();
        while metric(running, "isomorph_request_bytes_total") < received + size {
            tokio::task::yield_now().await;
        }
        driver.abort();
        let _ = driver.await;
    });
}

#[test]
fn the_work_for_a_client_that_leaves_ends() {
    let budget = budget();
    let running = Running::of(limited("karate/bin_linear_p1", None, &Limits::default(), &budget));
    let request = draws(1_000_000, 3);
    let whole = run(async {
        let client = connect(running.address).await;
        call_within::<UniformNeighborsReply>(&client, UNIFORM, &request, &[]).await.unwrap();
        metric(&running, "isomorph_work_total")
    });
    // It may leave before its request has its turn, or stay until it is answered if this machine is busy.
    let mut done = Vec::new();
    for _ in 0..50 {
        let before = metric(&running, "isomorph_work_total");
        leave(&running, &request);
        wait(&running, "isomorph_requests_running", 0);
        // The next request has its turn when the work has ended.
        let stopped = metric(&running, "isomorph_requests_stopped_total");
        run(is_as_well(&running));
        done.push(metric(&running, "isomorph_work_total") - before);
        if metric(&running, "isomorph_requests_stopped_total") > 0 || stopped > 0 {
            break;
        }
    }
    assert!(metric(&running, "isomorph_requests_stopped_total") > 0, "{done:?}");
    assert!(done.iter().any(|done| *done < whole), "{done:?} of {whole}");
    let text = running.options.metrics.text();
    assert!(text.contains("UniformSampleNeighbors\",code=\"CANCELLED\"}"), "{text}");
    running.stop();
    assert_eq!(budget.used(), 0);
}

/// Two long requests at the same time: as many as there are threads for them.
async fn is_as_well(running: &Running) {
    let ask = || async {
        let client = connect(running.address).await;
        call_within::<UniformNeighborsReply>(&client, UNIFORM, &draws(5000, 1), &[]).await.unwrap();
    };
    tokio::join!(ask(), ask());
}

#[test]
fn work_ends_at_its_deadline() {
    let limits = Limits { deadline: Duration::from_millis(20), ..Limits::default() };
    let budget = budget();
    let running = Running::of(limited("karate/bin_linear_p1", None, &limits, &budget));
    run(async {
        let client = connect(running.address).await;
        let late = call_within::<UniformNeighborsReply>(&client, UNIFORM, &draws(1_000_000, 3), &[]).await;
        let late = late.unwrap_err();
        assert_eq!(late.status, 4, "{late:?}");
        assert!(late.text.contains("took longer than 0.02 s"), "{late:?}");
    });
    running.stop();
    assert_eq!(budget.used(), 0);
}

#[test]
fn a_short_request_that_is_much_work_begins_anew_on_another_thread() {
    let running = Running::of(engine("karate/bin_linear_p1", None));
    // 4,000 nodes are few, but not with 200 features each.
    let features = vec![FeatureInfo { id: 0, size: 4 }; 200];
    let request = NodeFeaturesRequest { node_ids: nodes(4000), features, ..Default::default() };
    let stop = Stop::new(None, u64::MAX);
    let own = engine("karate/bin_linear_p1", None).until(&stop);
    let expected = own.node_features(request.clone()).unwrap().reply;
    run(async {
        let client = connect(running.address).await;
        let path = "/snark.GraphEngine/GetNodeFeatures";
        assert_eq!(call_within::<FeaturesReply>(&client, path, &request, &[]).await.unwrap(), expected);
    });
    let (done, once) = (metric(&running, "isomorph_work_total"), stop.done());
    assert!(done > once + (1 << 19) && done < 2 * once, "{done}, {once} once");
    assert_eq!(metric(&running, "isomorph_requests_stopped_total"), 0);
    running.stop();
}
