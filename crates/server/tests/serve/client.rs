//! A gRPC client that sends any bytes.

use std::net::SocketAddr;

use bytes::{BufMut, Bytes, BytesMut};
use h2::client::SendRequest;
use prost::Message;

/// A connection.
pub struct Client {
    send: SendRequest<Bytes>,
}

/// The answer to a call: the status, its message, and the message of the reply.
#[derive(Debug)]
pub struct Answered {
    pub status: i32,
    pub text: String,
    pub body: Vec<u8>,
}

impl Client {
    /// Connects, on the runtime of the test.
    pub async fn connect(address: SocketAddr) -> Client {
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let (send, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(async move {
            let _ = connection.await;
        });
        Client { send }
    }

    /// Calls with a message.
    pub async fn call<E: Message + Default>(&self, path: &str, request: &impl Message) -> Result<E, Answered> {
        let answered = self.send(path, framed(&request.encode_to_vec())).await;
        if answered.status == 0 { Ok(E::decode(answered.body.as_slice()).unwrap()) } else { Err(answered) }
    }

    /// Calls with bytes.
    pub async fn send(&self, path: &str, bytes: Bytes) -> Answered {
        let request = http::Request::post(format!("http://localhost{path}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        let mut ready = self.send.clone().ready().await.unwrap();
        let (response, mut stream) = ready.send_request(request.body(()).unwrap(), false).unwrap();
        // A request that is refused early is reset.
        let _ = stream.send_data(bytes, true);
        let response = response.await.unwrap();
        let of =
            |headers: &http::HeaderMap, name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        let early = of(response.headers(), "grpc-status");
        let text = of(response.headers(), "grpc-message");
        let mut body = response.into_body();
        let mut received = Vec::new();
        while let Some(data) = body.data().await {
            let data = data.unwrap();
            body.flow_control().release_capacity(data.len()).unwrap();
            received.extend_from_slice(&data);
        }
        let trailers = body.trailers().await.unwrap().unwrap_or_default();
        let status = early.or_else(|| of(&trailers, "grpc-status")).unwrap().parse().unwrap();
        let text = text.or_else(|| of(&trailers, "grpc-message")).unwrap_or_default();
        Answered { status, text, body: received.split_off(received.len().min(5)) }
    }
}

/// An encoded message: not compressed, its length, the message.
pub fn framed(message: &[u8]) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(message.len()).unwrap());
    bytes.extend_from_slice(message);
    bytes.freeze()
}
