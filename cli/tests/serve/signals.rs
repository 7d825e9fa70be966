//! Servers that are stopped, or killed and started again, while clients draw.

use isomorph_server::load;

use crate::process::{Served, content, copy, fixture, free_port, load};

#[test]
fn clients_go_on_when_a_killed_server_is_started_again() {
    let home = tempfile::tempdir().unwrap();
    let graph = home.path().join("graph");
    copy(&fixture("karate/bin_linear_p3"), &graph, |_| true);
    let before = content(home.path());
    let address = format!("127.0.0.1:{}", free_port());
    let first = Served::of(&[&graph], &address, &[]);
    let of = load(&address, None, 4, 8000);
    let clients = std::thread::spawn(move || load::run(&of).unwrap());
    first.wait_for(300);
    first.kill();
    let second = Served::of(&[&graph], &address, &[]);
    let measured = clients.join().unwrap();
    // Requests on the way were lost, and those sent while nobody answered. The numbers of samplers that the first server gave are known to
    // the second: nothing was refused.
    assert!(measured.lost > 0 && measured.refused.is_empty(), "{measured:?}");
    assert_eq!(measured.requests + measured.lost, 8000);
    assert!(second.answered() > 300, "{}", second.get("/metrics").1);
    second.terminate();
    assert!(second.ended().0);
    assert_eq!(content(home.path()), before);
}

#[test]
fn sigterm_lets_requests_end() {
    let server = Served::of(&[&fixture("karate/bin_linear_p1")], "127.0.0.1:0", &[]);
    let of = load(server.address(), None, 8, 1500);
    let clients = std::thread::spawn(move || load::run(&of).unwrap());
    server.wait_for(300);
    server.terminate();
    let (succeeded, events) = server.ended();
    assert!(succeeded, "{events}");
    let measured = clients.join().unwrap();
    assert!(measured.requests > 200, "{measured:?}");
    // What was answered was answered well; then the address was free.
    assert!(measured.refused.is_empty(), "{measured:?}");
    let stopping = events.lines().find(|line| line.contains("\"event\":\"stopping\"")).unwrap();
    let event: serde_json::Value = serde_json::from_str(stopping).unwrap();
    assert_eq!(event["level"], "info");
}

#[test]
fn many_clients_leave_nothing_and_memory_stays_flat() {
    let server = Served::of(&[&fixture("karate/bin_linear_p1")], "127.0.0.1:0", &[]);
    let mut kept = Vec::new();
    for _ in 0..4 {
        let measured = load::run(&load(server.address(), None, 64, 800)).unwrap();
        assert!(measured.is_clean(), "{measured:?}");
        let text = server.get("/metrics").1;
        let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
        kept.push((of("isomorph_memory_reserved_bytes "), of("isomorph_samplers{state=\"kept\"} ")));
    }
    assert!(kept[1..].iter().all(|of| *of == kept[1]), "{kept:?}");
    assert_eq!(server.get("/readyz"), (200, "ready\n".to_owned()));
}
