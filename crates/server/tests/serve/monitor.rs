//! Metrics and health over HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use isomorph_server::wire::*;
use isomorph_server::{Access, Gate, Log, Metrics, Monitor, Phase};

use crate::client::{call, connect};
use crate::graphs::engine;
use crate::running::{Running, TYPES, asked, is_well, run};

/// The status and the body of a response.
fn get(address: SocketAddr, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    // A server that refuses a request early does not read all of it.
    let _ = stream.write_all(request.as_bytes());
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, text.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned()))
}

fn path(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

#[test]
fn metrics_count_what_happened() {
    let running = Running::of(engine("hetero/bin_linear_p1", None));
    let monitor = Monitor::start("127.0.0.1:0".parse().unwrap(), &running.options.metrics, None, &Log::none());
    let monitor = monitor.unwrap();
    run(async {
        let client = connect(running.address).await;
        for _ in 0..3 {
            call::<NodeTypesReply>(&client, TYPES, &asked()).await.unwrap();
        }
        let request = NodeTypesRequest { node_ids: vec![1; 1_000_001] };
        assert_eq!(call::<NodeTypesReply>(&client, TYPES, &request).await.unwrap_err().status, 8);
        let create = CreateRequest { types: vec![0], ..CreateRequest::default() };
        call::<CreateReply>(&client, "/snark.GraphSampler/Create", &create).await.unwrap();
        let (status, text) = get(monitor.address(), &path("/metrics"));
        assert_eq!(status, 200);
        for line in [
            "isomorph_ready 1\n",
            "isomorph_requests_total{call=\"snark.GraphEngine/GetNodeTypes\",code=\"OK\"} 3\n",
            "isomorph_requests_total{call=\"snark.GraphEngine/GetNodeTypes\",code=\"RESOURCE_EXHAUSTED\"} 1\n",
            "isomorph_request_seconds_count{call=\"snark.GraphEngine/GetNodeTypes\"} 4\n",
            "isomorph_samplers{state=\"kept\"} 1\n",
            "isomorph_samplers{state=\"remembered\"} 0\n",
            "isomorph_connections 1\n",
            "isomorph_connections_total{outcome=\"accepted\"} 1\n",
            "isomorph_requests_running 0\n",
            "isomorph_graph_nodes 6\n",
            "isomorph_graph_edges 11\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
        // Three ids of one byte each, with their tag and length, and the prefix of gRPC: at least that much came.
        let of = |name: &str| -> u64 {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line.rsplit(' ').next().unwrap().parse().unwrap()
        };
        assert!(of("isomorph_request_bytes_total") >= 3 * 10 && of("isomorph_reply_bytes_total") >= 3 * 13, "{text}");
        assert!(of("isomorph_memory_budget_bytes") > of("isomorph_memory_reserved_bytes"), "{text}");
        // Each line is a comment, or a name with labels and a number.
        for line in text.lines() {
            let value = line.rsplit(' ').next().unwrap();
            assert!(line.starts_with("# ") || value.parse::<f64>().is_ok(), "{line}");
        }
    });
    running.stop();
    assert_eq!(get(monitor.address(), &path("/readyz")).0, 503);
}

#[test]
fn health_follows_the_server() {
    let metrics = Metrics::new();
    let monitor = Monitor::start("127.0.0.1:0".parse().unwrap(), &metrics, None, &Log::none()).unwrap();
    let address = monitor.address();
    assert_eq!(metrics.phase(), Phase::Opening);
    assert_eq!(get(address, &path("/livez")), (200, "alive\n".to_owned()));
    assert_eq!(get(address, &path("/readyz")), (503, "the graph is being opened\n".to_owned()));
    assert!(get(address, &path("/metrics")).1.contains("isomorph_ready 0\n"));
    assert_eq!(get(address, &path("/other")).0, 404);
    assert_eq!(get(address, "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").0, 405);
    assert_eq!(get(address, "HEAD /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"), (200, String::new()));
    // What is not HTTP has no answer, or an error, and others are answered.
    for bytes in ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\r\n\r\n", "GET\r\n\r\n"] {
        assert_ne!(get(address, bytes).0, 200, "{bytes:?}");
    }
    let long = format!("GET /livez HTTP/1.1\r\nHost: localhost\r\nx: {}\r\n\r\n", "x".repeat(1 << 20));
    assert_ne!(get(address, &long).0, 200);
    assert_eq!(get(address, &path("/livez")).0, 200);
    drop(monitor);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn metrics_beyond_this_machine_need_the_token_and_health_does_not() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "a-token-of-these-tests").unwrap();
    let gate = Arc::new(Gate::open(Access { tokens: Some(file.path().to_owned()), tls: None }).unwrap());
    let monitor = Monitor::start("127.0.0.1:0".parse().unwrap(), &Metrics::new(), Some(&gate), &Log::none()).unwrap();
    let with =
        |token: &str| format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n");
    assert_eq!(get(monitor.address(), &path("/metrics")).0, 401);
    assert_eq!(get(monitor.address(), &with("another-token-entirely")).0, 401);
    assert_eq!(get(monitor.address(), &with("a-token-of-these-tests")).0, 200);
    assert_eq!(get(monitor.address(), &path("/livez")).0, 200);
}

#[test]
fn an_address_in_use_is_an_error() {
    let running = Running::of(engine("hetero/bin_linear_p1", None));
    let error = Monitor::start(running.address, &Metrics::new(), None, &Log::none()).err().unwrap();
    assert!(error.to_string().contains("cannot listen on"), "{error}");
    run(is_well(running.address));
    running.stop();
}
