//! Server reflection (`grpc.reflection.v1` and `v1alpha`): tells tools such as grpcurl what the calls are.

mod schema;

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::OnceLock;

use prost::{Message, Oneof};
use tokio_stream::StreamExt;
use tokio_stream::adapters::Map;
use tonic::body::Body;
use tonic::server::{Grpc, StreamingService};
use tonic::{Code, Response, Status, Streaming};

use crate::codec::{Asked, Wire};
use crate::engine::Engine;
use crate::packed::Reply;
use crate::wire::Request;
use schema::Schema;

/// The paths of the call, in both versions of the protocol, whose messages are the same.
pub(crate) const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// Our files by name.
const FILES: [(&str, &str); 2] =
    [("snark.proto", include_str!("snark.proto")), ("health.proto", include_str!("health.proto"))];

/// A question.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReflectionRequest {
    #[prost(string, tag = "1")]
    host: String,
    #[prost(oneof = "Question", tags = "3, 4, 6, 7")]
    question: Option<Question>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Question {
    #[prost(string, tag = "3")]
    FileByFilename(String),
    #[prost(string, tag = "4")]
    FileContainingSymbol(String),
    #[prost(string, tag = "6")]
    AllExtensionNumbersOfType(String),
    #[prost(string, tag = "7")]
    ListServices(String),
}

/// An answer.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReflectionReply {
    #[prost(string, tag = "1")]
    valid_host: String,
    #[prost(message, optional, tag = "2")]
    original_request: Option<ReflectionRequest>,
    #[prost(oneof = "Told", tags = "4, 6, 7")]
    told: Option<Told>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Told {
    #[prost(message, tag = "4")]
    Files(Files),
    #[prost(message, tag = "6")]
    Services(Services),
    #[prost(message, tag = "7")]
    Error(Refused),
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    descriptors: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    services: Vec<Named>,
}

#[derive(Clone, PartialEq, Message)]
struct Named {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Refused {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

impl Request for ReflectionRequest {
    fn batch(&self) -> usize {
        0
    }
}

impl Reply for ReflectionReply {}

fn schemas() -> &'static [Schema] {
    static SCHEMAS: OnceLock<Vec<Schema>> = OnceLock::new();
    SCHEMAS.get_or_init(|| FILES.iter().map(|(name, text)| Schema::parse(name, text)).collect())
}

fn answer(request: ReflectionRequest) -> ReflectionReply {
    let file = |wanted: &str, schema: Option<&Schema>| match schema {
        Some(schema) => Told::Files(Files { descriptors: vec![schema.descriptor()] }),
        None => Told::Error(Refused { code: Code::NotFound as i32, message: format!("{wanted} is not known") }),
    };
    let told = match &request.question {
        Some(Question::ListServices(_)) => {
            let names = schemas().iter().flat_map(Schema::services);
            Told::Services(Services { services: names.map(|name| Named { name }).collect() })
        }
        Some(Question::FileByFilename(name)) => file(name, schemas().iter().find(|schema| schema.name == *name)),
        Some(Question::FileContainingSymbol(symbol)) => {
            file(symbol, schemas().iter().find(|schema| schema.has(symbol)))
        }
        Some(Question::AllExtensionNumbersOfType(_)) | None => {
            let message = "the messages of this server have no extensions".to_owned();
            Told::Error(Refused { code: Code::Unimplemented as i32, message })
        }
    };
    ReflectionReply { valid_host: request.host.clone(), original_request: Some(request), told: Some(told) }
}

/// Answers a stream of questions.
pub(crate) async fn serve(
    engine: &std::sync::Arc<Engine>,
    request: http::Request<Body>,
) -> Result<http::Response<Body>, Infallible> {
    let limit = engine.limits().message;
    let mut grpc = Grpc::new(Wire::<ReflectionRequest, ReflectionReply>::new(engine)).max_decoding_message_size(limit);
    Ok(grpc.streaming(Reflection, request).await)
}

struct Reflection;

type Replies = Map<
    Streaming<Asked<ReflectionRequest>>,
    fn(Result<Asked<ReflectionRequest>, Status>) -> Result<ReflectionReply, Status>,
>;

impl StreamingService<Asked<ReflectionRequest>> for Reflection {
    type Response = ReflectionReply;
    type ResponseStream = Replies;
    type Future = Ready<Result<Response<Replies>, Status>>;

    fn call(&mut self, request: tonic::Request<Streaming<Asked<ReflectionRequest>>>) -> Self::Future {
        ready(Ok(Response::new(request.into_inner().map(|asked| asked.map(|asked| answer(asked.message))))))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn told(question: Question) -> Told {
        answer(ReflectionRequest { host: String::new(), question: Some(question) }).told.unwrap()
    }

    #[test]
    fn services_and_files_are_told() {
        let Told::Services(services) = told(Question::ListServices(String::new())) else { panic!("no services") };
        let names: Vec<&str> = services.services.iter().map(|service| service.name.as_str()).collect();
        assert_eq!(names, ["snark.GraphEngine", "snark.GraphSampler", "grpc.health.v1.Health"]);
        let Told::Files(file) = told(Question::FileByFilename("snark.proto".into())) else { panic!("no file") };
        for symbol in
            ["snark.GraphEngine", "snark.GraphSampler.Create", "snark.SampleReply", "snark.GraphEngine.GetNeighbors"]
        {
            assert_eq!(told(Question::FileContainingSymbol(symbol.into())), Told::Files(file.clone()), "{symbol}");
        }
        for unknown in ["", "snark", "snark.Other", "GraphEngine", "snark.GraphEngine.Forget"] {
            assert!(matches!(told(Question::FileContainingSymbol(unknown.into())), Told::Error(_)), "{unknown}");
        }
        assert!(matches!(told(Question::FileByFilename("other.proto".into())), Told::Error(_)));
    }
}
