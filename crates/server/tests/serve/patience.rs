//! Clients that are slow, silent, or in a hurry.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use isomorph_server::Limits;
use isomorph_server::load::framed;
use isomorph_server::wire::*;
use isomorph_storage::Budget;
use prost::Message;

use crate::client::{call_within, connect};
use crate::graphs::{budget, engine, limited};
use crate::running::{Running, TYPES, asked, is_well, run};

#[test]
fn a_deadline_of_the_client_is_honoured() {
    let running = Running::of(engine("hetero/bin_linear_p1", None));
    run(async {
        let client = connect(running.address).await;
        let late = call_within::<NodeTypesReply>(&client, TYPES, &asked(), &[("grpc-timeout", "0n")]).await;
        let late = late.unwrap_err();
        assert_eq!(late.status, 4, "{late:?}");
        assert!(late.text.contains("took longer than"), "{late:?}");
        call_within::<NodeTypesReply>(&client, TYPES, &asked(), &[("grpc-timeout", "20S")]).await.unwrap();
        let wrong = call_within::<NodeTypesReply>(&client, TYPES, &asked(), &[("grpc-timeout", "soon")]).await;
        assert_eq!(wrong.unwrap_err().status, 3);
    });
    running.stop();
}

#[test]
fn a_request_that_never_ends_is_given_up() {
    let limits = Limits { deadline: Duration::from_millis(200), ..Limits::default() };
    let budget = Budget::new(1 << 24);
    let running = Running::of(limited("hetero/bin_linear_p1", None, &limits, &budget));
    run(async {
        let (response, mut stream, _driver) = begun(running.address, TYPES).await;
        // The beginning of a message, and nothing more.
        stream.send_data(framed(&asked().encode_to_vec()).slice(..7), false).unwrap();
        let response = response.await.unwrap();
        assert_eq!(response.headers()["grpc-status"], "4");
        is_well(running.address).await;
    });
    running.stop();
    assert_eq!(budget.used(), 0);
}

#[test]
fn replies_that_are_not_read_hold_their_memory_until_the_client_is_disconnected() {
    let limits = Limits { stall: Duration::from_millis(300), ..Limits::default() };
    let budget = Budget::new(1 << 30);
    let running = Running::of(limited("karate/bin_linear_p1", None, &limits, &budget));
    run(async {
        let path = "/snark.GraphEngine/WeightedSampleNeighbors";
        let (response, mut stream, driver) = begun(running.address, path).await;
        let request = WeightedNeighborsRequest {
            node_ids: (0..34).cycle().take(2000).collect(),
            edge_types: vec![0],
            count: 1000,
            ..WeightedNeighborsRequest::default()
        };
        stream.send_data(framed(&request.encode_to_vec()), true).unwrap();
        let mut body = response.await.unwrap().into_body();
        // Ten bytes for each neighbour are on the way; the client's window holds 64 KiB of them.
        let first = body.data().await.unwrap().unwrap();
        assert!(first.len() <= 1 << 16);
        assert!(budget.used() > 20_000_000, "{}", budget.used());
        // Windows are never opened again.
        let mut received = first.len();
        let ended = loop {
            match body.data().await {
                Some(Ok(data)) => received += data.len(),
                Some(Err(error)) => break error,
                None => panic!("the reply is complete after {received} bytes"),
            }
        };
        assert!(received <= 1 << 16, "{received}: {ended}");
        driver.await.unwrap();
    });
    let text = running.options.metrics.text();
    assert!(text.contains("isomorph_connections_total{outcome=\"stalled\"} 1"), "{text}");
    running.stop();
    assert_eq!(budget.used(), 0);
}

#[test]
fn connections_that_do_not_begin_are_closed() {
    let limits = Limits { silent: Duration::from_millis(100), ..Limits::default() };
    let running = Running::of(limited("hetero/bin_linear_p1", None, &limits, &budget()));
    // Nothing at all, and half of what a client begins with.
    for bytes in [b"".as_slice(), b"PRI * HTTP/2.0\r\n"] {
        let mut stream = TcpStream::connect(running.address).unwrap();
        stream.write_all(bytes).unwrap();
        let mut received = Vec::new();
        let _ = stream.read_to_end(&mut received);
    }
    run(is_well(running.address));
    let text = running.options.metrics.text();
    assert!(text.contains("isomorph_connections_total{outcome=\"silent\"} 2"), "{text}");
    running.stop();
}

/// A request whose message is not sent yet, on a connection of its own whose windows are never opened.
async fn begun(
    address: SocketAddr,
    path: &str,
) -> (h2::client::ResponseFuture, h2::SendStream<bytes::Bytes>, tokio::task::JoinHandle<()>) {
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let (send, connection) = h2::client::handshake(stream).await.unwrap();
    let driver = tokio::spawn(async move {
        let _ = connection.await;
    });
    let request = http::Request::post(format!("http://localhost{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    let mut ready = send.ready().await.unwrap();
    let (response, stream) = ready.send_request(request.body(()).unwrap(), false).unwrap();
    (response, stream, driver)
}
