//! Addresses, tokens, certificates and events of a server as its flags state them.

use std::io::{Read, Write};

use crate::process::{Served, certificate, fails, fixture, isomorph};

const TOKEN: &str = "a-token-of-these-tests";

fn token_file(token: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "# for tests\n{token}").unwrap();
    file
}

#[test]
fn other_machines_are_answered_only_if_they_are_known_and_nobody_listens() {
    let graph = fixture("karate/bin_linear_p1").display().to_string();
    let file = token_file(TOKEN);
    let token = file.path().to_str().unwrap();
    let (certificate, key) = (certificate("server.pem"), certificate("server.key"));
    let refused = |more: &[&str]| fails(&[&["serve", "deepgnn", &graph, "--address", "0.0.0.0:0"], more].concat(), 2);
    let tls = ["--tls-cert", &certificate, "--tls-key", &key];
    assert!(refused(&[]).contains("neither TLS nor tokens"));
    assert!(refused(&["--token-file", token]).contains("no TLS"));
    assert!(refused(&tls).contains("neither tokens nor client certificates"));
    // The address of metrics is no way around it.
    let text = fails(&["serve", "deepgnn", &graph, "--metrics", "0.0.0.0:0"], 2);
    assert!(text.contains("neither TLS nor tokens"), "{text}");
    let known = [&tls[..], &["--token-file", token]].concat();
    let server = Served::of(&[graph.as_ref()], "0.0.0.0:0", &known);
    assert_eq!((&server.document["tls"], &server.document["token"]), (&"server".into(), &true.into()));
    let server = Served::of(&[graph.as_ref()], "0.0.0.0:0", &["--insecure"]);
    assert_eq!((&server.document["tls"], &server.document["token"]), (&"none".into(), &false.into()));
}

#[test]
fn files_that_are_not_valid_end_it_before_anything_is_opened() {
    let graph = "there-is-no-such-graph";
    let short = token_file("secret");
    let (certificate, key) = (certificate("server.pem"), certificate("other_server.key"));
    let text = fails(&["serve", "deepgnn", graph, "--token-file", short.path().to_str().unwrap()], 3);
    assert!(text.contains("at least 16 characters") && !text.contains("secret"), "{text}");
    let text = fails(&["serve", "deepgnn", graph, "--tls-cert", &certificate, "--tls-key", &key], 3);
    assert!(text.contains("does not belong to the certificate"), "{text}");
    let text = fails(&["serve", "deepgnn", graph, "--tls-cert", &certificate], 2);
    assert!(text.contains("--tls-key"), "{text}");
    let text = fails(&["serve", "deepgnn", graph, "--tls-client-ca", &certificate], 2);
    assert!(text.contains("--tls-cert"), "{text}");
}

#[test]
fn a_measurement_over_mutual_tls_with_a_token() {
    let file = token_file(TOKEN);
    let token = file.path().to_str().unwrap();
    let of = |name: &str| certificate(name);
    let (authority, cert, key) = (of("authority.pem"), of("server.pem"), of("server.key"));
    let more = ["--tls-cert", &cert, "--tls-key", &key, "--tls-client-ca", &authority, "--token-file", token];
    let server = Served::of(&[&fixture("karate/bin_linear_p1")], "127.0.0.1:0", &more);
    assert_eq!(server.document["tls"], "mutual");
    let url = format!("https://{}", server.address());
    let (own, own_key) = (of("client.pem"), of("client.key"));
    let words = ["bench", "serve", &url, "--requests", "200", "--connections", "4", "--json", "--tls-ca", &authority];
    let identity = ["--tls-cert", &own, "--tls-key", &own_key];
    let done = isomorph(&[&words[..], &identity, &["--token-file", token]].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let document: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&document["requests"], &document["lost"]), (&200.into(), &0.into()));
    assert!(document["latency"]["p99"].as_f64().unwrap() >= document["latency"]["p50"].as_f64().unwrap());
    // Another token, or no certificate: the error has neither token.
    let other = token_file("another-token-entirely");
    let words = [&words[..], &identity, &["--token-file", other.path().to_str().unwrap()]].concat();
    let text = fails(&words, 5);
    assert!(text.contains("does not know this token") && !text.contains(TOKEN), "{text}");
    server.terminate();
    let (succeeded, events) = server.ended();
    assert!(succeeded && events.contains("UNAUTHENTICATED"), "{events}");
    assert!(!events.contains(TOKEN) && !events.contains("another-token-entirely"), "{events}");
    for line in events.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(event["time"].is_string() && event["event"].is_string() && event["message"].is_string(), "{line}");
    }
}

#[test]
fn a_replaced_token_is_used_without_a_restart() {
    let file = token_file(TOKEN);
    let server = Served::of(
        &[&fixture("karate/bin_linear_p1")],
        "127.0.0.1:0",
        &["--token-file", file.path().to_str().unwrap()],
    );
    std::fs::write(file.path(), "the-next-token-of-these-tests\n").unwrap();
    let next = token_file("the-next-token-of-these-tests");
    let words = ["bench", "serve", server.address(), "--requests", "1", "--token-file", next.path().to_str().unwrap()];
    while !isomorph(&words).status.success() {
        std::thread::yield_now();
    }
    assert!(server.get("/metrics").1.contains("isomorph_access_reloads_total{outcome=\"used\"} 1\n"));
}

#[test]
fn a_server_that_is_sent_other_protocols_answers_the_next_client() {
    let server = Served::of(&[&fixture("karate/bin_linear_p1")], "127.0.0.1:0", &[]);
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", &[0xff; 1000]] {
        let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    }
    assert!(isomorph(&["bench", "serve", server.address(), "--requests", "20"]).status.success());
}
