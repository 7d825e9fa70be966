//! Calls to a running server.

use std::net::SocketAddr;
use std::path::PathBuf;

use isomorph_server::load::{Answered, Client, ClientTls, Endpoint, framed};
use prost::Message;

/// A file of the certificates of tests.
pub fn certificate(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/certificates").join(name)
}

/// Connects without TLS, on the runtime of the test.
pub async fn connect(address: SocketAddr) -> Client {
    let endpoint = Endpoint::parse(&address.to_string(), &ClientTls::default(), None).unwrap();
    Client::connect(&endpoint).await.unwrap()
}

/// Calls with a message.
pub async fn call<E: Message + Default>(client: &Client, path: &str, request: &impl Message) -> Result<E, Answered> {
    call_within(client, path, request, &[]).await
}

/// Calls with a message and further headers.
pub async fn call_within<E: Message + Default>(
    client: &Client,
    path: &str,
    request: &impl Message,
    headers: &[(&'static str, &str)],
) -> Result<E, Answered> {
    let answered = client.call(path, framed(&request.encode_to_vec()), headers).await.unwrap();
    if answered.status == 0 { Ok(E::decode(answered.body).unwrap()) } else { Err(answered) }
}
