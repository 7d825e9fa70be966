//! A running server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use isomorph_server::load::framed;
use isomorph_server::wire::*;
use isomorph_server::{Access, Engine, Gate, Limits, Log, Metrics, Options, Server};
use isomorph_storage::Budget;

use crate::client::{call, connect};
use crate::graphs::{engine, limited};

/// A server on a thread.
pub struct Running {
    pub address: SocketAddr,
    pub options: Options,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<isomorph_error::Result<bool>>>,
}

impl Running {
    /// Starts a server that answers everybody.
    pub fn of(engine: Engine) -> Running {
        Running::with(engine, Access::default(), Log::none())
    }

    /// Starts a server.
    pub fn with(engine: Engine, access: Access, log: Log) -> Running {
        let gate = Arc::new(Gate::open(access).unwrap());
        let options = Options { threads: 2, gate, metrics: Metrics::new(), log };
        let server = Server::bind("127.0.0.1:0".parse().unwrap(), engine, &options).unwrap();
        let (address, stop) = (server.address().unwrap(), Arc::new(AtomicBool::new(false)));
        let asked = Arc::clone(&stop);
        let thread = std::thread::spawn(move || server.run(|| asked.load(Ordering::Relaxed)));
        Running { address, options, stop, thread: Some(thread) }
    }

    /// Stops the server, and waits for its end.
    pub fn stop(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        assert!(self.thread.take().unwrap().join().unwrap().unwrap());
    }
}

/// Runs a client.
pub fn run<T>(client: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(client)
}

pub const TYPES: &str = "/snark.GraphEngine/GetNodeTypes";

pub fn asked() -> NodeTypesRequest {
    NodeTypesRequest { node_ids: vec![10, 99, 11] }
}

pub async fn is_well(address: SocketAddr) {
    let types: NodeTypesReply = call(&connect(address).await, TYPES, &asked()).await.unwrap();
    assert_eq!((types.types, types.offsets), (vec![0, 2], vec![0, 2]));
}

#[test]
fn calls_are_answered_until_it_stops() {
    let running = Running::of(engine("hetero/bin_linear_p1", None));
    let address = running.address;
    run(async {
        is_well(address).await;
        let client = connect(address).await;
        let health: HealthReply =
            call(&client, "/grpc.health.v1.Health/Check", &HealthRequest::default()).await.unwrap();
        assert_eq!(health.status, 1);
        let service = "other".to_owned();
        let other = call::<HealthReply>(&client, "/grpc.health.v1.Health/Check", &HealthRequest { service }).await;
        assert_eq!(other.unwrap_err().status, 5);
        let unknown = call::<Empty>(&client, "/snark.GraphEngine/Forget", &Empty {}).await.unwrap_err();
        assert_eq!((unknown.status, unknown.text.contains("not a call")), (12, true), "{unknown:?}");
    });
    running.stop();
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn reflection_tells_what_the_calls_are() {
    let running = Running::of(engine("hetero/bin_linear_p1", None));
    run(async {
        let client = connect(running.address).await;
        let symbol = b"snark.GraphSampler";
        let of_symbol = [&[0x22, symbol.len() as u8][..], symbol].concat();
        // The names of the services, and the file with one of them.
        for (question, told) in [(&[0x3a, 0][..], "snark.GraphEngine"), (&of_symbol, "GetLastNCreatedNeighbors")] {
            for version in ["v1", "v1alpha"] {
                let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
                let answered = client.call(&path, framed(question), &[]).await.unwrap();
                let found = answered.body.windows(told.len()).any(|part| part == told.as_bytes());
                assert!(answered.status == 0 && found, "{version}, {told}: {answered:?}");
            }
        }
        is_well(running.address).await;
    });
    running.stop();
}

#[test]
fn what_is_not_grpc_ends_its_connection_alone() {
    let running = Running::of(engine("hetero/bin_linear_p1", None));
    let half = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\xff\x04\x00".as_slice();
    for bytes in [half, b"PRI * HTTP/2.0\r\n\r\nSN\r\n\r\n", b"P", &[0xff; 4096]] {
        sent(running.address, bytes);
    }
    run(is_well(running.address));
    running.stop();
}

/// What the server answers to these bytes and nothing more.
fn sent(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(bytes).unwrap();
    // A server that has heard enough may have closed the connection already; what it answered is checked by the caller.
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

#[test]
fn other_protocols_are_answered_or_reported() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let log = Log::new(move |event| heard.lock().unwrap().push((event.name, event.message.to_owned())));
    let running = Running::with(engine("hetero/bin_linear_p1", None), Access::default(), log);
    let long = format!("POST /snark.GraphEngine/GetNodeTypes HTTP/1.1\r\nHost: a\r\n\r\n{}", "a".repeat(30_000));
    let mut expected = Vec::new();
    for request in ["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HEAD / HTTP/1.0\r\n\r\n", "GET", &long] {
        let answer = String::from_utf8(sent(running.address, request.as_bytes())).unwrap();
        assert!(answer.starts_with("HTTP/1.1 426 Upgrade Required\r\nUpgrade: h2c\r\n"), "{request}: {answer}");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{answer}");
        assert!(body.contains("it needs HTTP/2"), "{answer}");
        expected.push("the client speaks HTTP/1, but gRPC needs HTTP/2");
    }
    for bytes in [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], b"\x16"] {
        assert_eq!(sent(running.address, bytes), b"");
        expected.push("the client begins with TLS, but this server was started without --tls-cert");
    }
    for bytes in [&[0xff; 4096][..], b"PRI * HTTP/2.0\r\n\r\nSN\r\n\r\n", b"ssh-2.0"] {
        assert_eq!(sent(running.address, bytes), b"");
        expected.push("the client does not speak HTTP/2");
    }
    // Nothing at all is no protocol.
    assert_eq!(sent(running.address, b""), b"");
    run(is_well(running.address));
    let text = running.options.metrics.text();
    assert!(text.contains("isomorph_connections_total{outcome=\"other_protocol\"} 9\n"), "{text}");
    running.stop();
    let mut told: Vec<String> =
        told.lock().unwrap().iter().filter(|of| of.0 == "other_protocol").map(|of| of.1.clone()).collect();
    // Connections end on threads of their own: a client may have its answer before the event is told.
    told.sort_unstable();
    expected.sort_unstable();
    assert_eq!(told, expected);
}

#[test]
fn messages_that_are_none_are_refused() {
    let limits = Limits { message: 1 << 16, batch: 1000, ..Limits::default() };
    let running = Running::of(limited("hetero/bin_linear_p1", None, &limits, &Budget::new(1 << 24)));
    run(async {
        let client = connect(running.address).await;
        let malformed: &[&[u8]] =
            &[&[0xff], &[0x0a, 0x7f, 1], &[0x0a, 1, 0xff], &[0x0b], &[0x08; 7], &[0x12, 0xff, 0xff, 0xff, 0xff, 0x0f]];
        for bytes in malformed {
            let refused = client.call(TYPES, framed(bytes), &[]).await.unwrap();
            assert_eq!(refused.status, 3, "{bytes:?}: {refused:?}");
        }
        // A frame that claims to be longer than it is, longer than allowed, or compressed.
        for (bytes, status) in
            [(&[0, 0, 0, 0, 9, 1][..], 13), (&[0, 0xff, 0xff, 0xff, 0xff, 1], 11), (&[1, 0, 0, 0, 0], 12)]
        {
            let refused = client.call(TYPES, bytes::Bytes::copy_from_slice(bytes), &[]).await.unwrap();
            assert_ne!(refused.status, 0, "{refused:?}");
            assert!(refused.status == status || refused.status == 8 || refused.status == 13, "{refused:?}");
        }
        let many = NodeTypesRequest { node_ids: vec![1; 1001] };
        let refused = call::<NodeTypesReply>(&client, TYPES, &many).await.unwrap_err();
        assert_eq!(refused.status, 8, "{refused:?}");
        assert!(refused.text.contains("1001"), "{refused:?}");
        is_well(running.address).await;
    });
    running.stop();
}

#[test]
fn a_request_beyond_the_budget_is_refused_and_leaves_nothing() {
    let budget = Budget::new(1 << 20);
    let running = Running::of(limited("hetero/bin_linear_p1", None, &Limits::default(), &budget));
    run(async {
        let client = connect(running.address).await;
        let many = NodeTypesRequest { node_ids: vec![1; 900_000] };
        let refused = call::<NodeTypesReply>(&client, TYPES, &many).await.unwrap_err();
        assert_eq!(refused.status, 8, "{refused:?}");
        is_well(running.address).await;
    });
    running.stop();
    assert_eq!(budget.used(), 0);
    assert!(budget.peak() <= budget.limit());
}

#[test]
fn requests_side_by_side_have_the_same_answers() {
    let running = Running::of(engine("karate/bin_linear_p1", None));
    run(async {
        let client = Arc::new(connect(running.address).await);
        let ask = |nodes: usize| WeightedNeighborsRequest {
            seed: 7,
            node_ids: (0..34).cycle().take(nodes).collect(),
            edge_types: vec![0],
            count: 10,
            ..WeightedNeighborsRequest::default()
        };
        let path = "/snark.GraphEngine/WeightedSampleNeighbors";
        for nodes in [34, 20_000] {
            let one: WeightedNeighborsReply = call(&client, path, &ask(nodes)).await.unwrap();
            let tasks: Vec<_> = (0..16)
                .map(|_| {
                    let (client, request) = (Arc::clone(&client), ask(nodes));
                    tokio::spawn(async move { call::<WeightedNeighborsReply>(&client, path, &request).await.unwrap() })
                })
                .collect();
            for task in tasks {
                assert_eq!(task.await.unwrap(), one);
            }
        }
    });
    running.stop();
}
