//! Measuring a server, and many clients that come and go.

use std::time::Duration;

use isomorph_server::Log;
use isomorph_server::load::{ClientTls, Endpoint, Load, Recording, run};

use crate::graphs::engine;
use crate::running::Running;

fn load(running: &Running, recording: Option<Recording>) -> Load {
    let endpoint = Endpoint::parse(&format!("http://{}", running.address), &ClientTls::default(), None).unwrap();
    Load { endpoint, recording, connections: 4, duration: Duration::from_secs(60), requests: Some(400) }
}

fn recorded(name: &str) -> Recording {
    let path = isomorph_fixtures::fixture(format!("deepgnn/grpc/{name}.json"));
    Recording::parse(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn recorded_requests_are_answered_again_and_again() {
    let running = Running::of(engine("hetero/bin_linear_p3", Some(vec![1, 2])));
    let measured = run(&load(&running, Some(recorded("hetero_p3_server1and2")))).unwrap();
    assert!(measured.is_clean(), "{measured:?}");
    assert_eq!(measured.requests, 400);
    assert!(measured.bytes.0 > 400 && measured.bytes.1 > 400, "{measured:?}");
    let (half, most) = (measured.percentile(0.5), measured.percentile(1.0));
    assert!(half > Duration::ZERO && half <= measured.percentile(0.99) && most <= measured.took, "{measured:?}");
    let text = running.options.metrics.text();
    // The samplers of the recording are created once.
    let created = text.lines().find(|line| line.contains("GraphSampler/Create\",code=\"OK\"")).unwrap();
    assert!(created.ends_with(" 3"), "{created}");
    running.stop();
}

#[test]
fn the_work_of_a_trainer_is_answered() {
    let running = Running::of(engine("karate/bin_linear_p1", None));
    let measured = run(&load(&running, None)).unwrap();
    assert!(measured.is_clean(), "{measured:?}");
    assert_eq!(measured.requests, 400);
    running.stop();
}

#[test]
fn refused_requests_are_counted_by_status() {
    let running = Running::of(engine("karate/bin_linear_p1", None));
    // A count of 2³¹ − 1 for one node.
    let text = r#"{"calls": [{"service": "snark.GraphEngine", "method": "UniformSampleNeighbors",
        "request_hex": "120101 1a0100 30ffffffff07"}]}"#;
    assert!(Recording::parse(text.as_bytes()).is_err());
    let recording = Recording::parse(text.replace(' ', "").as_bytes()).unwrap();
    let measured = run(&load(&running, Some(recording))).unwrap();
    assert!(!measured.is_clean());
    assert_eq!(measured.refused.into_iter().collect::<Vec<_>>(), [("RESOURCE_EXHAUSTED", 400)]);
    running.stop();
}

#[test]
fn recordings_that_are_none_are_refused() {
    for (text, words) in [
        ("", "not valid"),
        ("[]", "not valid"),
        (r#"{"calls": []}"#, "no requests"),
        (r#"{"calls": [{"service": "a", "method": "b", "request_hex": "0"}]}"#, "hexadecimal"),
        (r#"{"calls": [{"service": "a", "method": "b", "request_hex": "+1"}]}"#, "hexadecimal"),
        (r#"{"calls": [{"service": "a", "method": "b", "request_hex": null}]}"#, "no requests"),
    ] {
        let error = Recording::parse(text.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(words), "{text}: {error}");
    }
}

#[test]
fn addresses_that_are_none_are_refused() {
    let parse = |url: &str| Endpoint::parse(url, &ClientTls::default(), None);
    for good in ["127.0.0.1:1", "http://localhost:50051", "http://[::1]:50051/", "[::1]:7"] {
        assert!(parse(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "localhost",
        "ftp://localhost:1",
        "http://:1",
        "http://localhost:port",
        "http://a/b:1",
        "https://localhost:1",
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn clients_that_come_and_go_leave_nothing() {
    let running = Running::with(engine("karate/bin_linear_p1", None), Default::default(), Log::none());
    // Each round has 64 new connections; what a server keeps after the first, it keeps after the last.
    let mut kept = Vec::new();
    for _ in 0..5 {
        let load = Load { connections: 64, requests: Some(500), ..load(&running, None) };
        let measured = run(&load).unwrap();
        assert!(measured.is_clean(), "{measured:?}");
        let text = running.options.metrics.text();
        let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        assert_eq!(of("isomorph_requests_running "), "0");
        kept.push((of("isomorph_samplers{state=\"kept\"}"), of("isomorph_samplers{state=\"remembered\"}")));
    }
    assert!(kept.iter().all(|of| *of == kept[0]), "{kept:?}");
    let metrics = std::sync::Arc::clone(&running.options.metrics);
    running.stop();
    let text = metrics.text();
    assert!(text.contains("\nisomorph_connections 0\n"), "{text}");
    assert!(!text.contains("code=\"INTERNAL\""), "{text}");
}
