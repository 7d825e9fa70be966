//! Plans as bytes: scans of graphs, questions about them, and functions of ours; everything else is Ballista's and DataFusion's to write.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::ScalarUDF;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use datafusion_proto::protobuf;
use isomorph::{Error, Result};
use isomorph_query::distributed::{OpenTable, TableScan, TableScanExec, function_of_text, function_to_text};
use prost::Message;

use crate::ballista::opener::Opener;
use crate::ballista::place::Place;
use crate::ballista::question_exec::QuestionExec;
use crate::ballista::wire;

/// What scans and questions begin with: no message of Ballista's does.
const SCAN: &[u8] = b"isomorph\0";
const QUESTION: &[u8] = b"isomorph?\0";

/// The version of what is written here, and of the rules by which plans are divided. Each process refuses another one, and another version of isomorph, in
/// which the same plan may read other parts.
const VERSION: u32 = 2;

/// A scan as it is written.
#[derive(Clone, PartialEq, Message)]
struct ScanMessage {
    /// [`VERSION`].
    #[prost(uint32, tag = "1")]
    codec: u32,
    /// The version of isomorph.
    #[prost(string, tag = "2")]
    isomorph: String,
    /// The place, as JSON.
    #[prost(string, tag = "3")]
    place: String,
    /// What is read, see [`TableScan::to_text`].
    #[prost(string, tag = "4")]
    scan: String,
    /// The columns that it gives.
    #[prost(message, optional, tag = "5")]
    schema: Option<protobuf::Schema>,
}

/// A question as it is written.
#[derive(Clone, PartialEq, Message)]
struct QuestionMessage {
    /// [`VERSION`].
    #[prost(uint32, tag = "1")]
    codec: u32,
    /// The version of isomorph.
    #[prost(string, tag = "2")]
    isomorph: String,
    /// The place, as JSON.
    #[prost(string, tag = "3")]
    place: String,
    /// The question, as JSON.
    #[prost(string, tag = "4")]
    question: String,
}

/// Who reads and writes plans.
pub(crate) enum Role {
    /// Writes them; the graphs by their names in the question.
    Client(BTreeMap<String, Place>),
    /// Divides those of clients, and opens nothing. Places are kept as they were written.
    Scheduler,
    /// Runs them.
    Executor(Arc<Opener>),
}

/// Writes and reads plans.
pub(crate) struct Codec {
    role: Role,
    others: BallistaPhysicalExtensionCodec,
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Codec")
    }
}

/// An error of ours inside one of the engine, as it travels.
fn travelling(error: &Error) -> DataFusionError {
    DataFusionError::Execution(wire::to_text(error))
}

fn broken(what: &str) -> Error {
    Error::malformed(format!("a plan cannot be read: {what}"))
}

fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::unsupported(error.to_string()).caused_by(error))
}

/// Checks that a message comes from the same version.
fn check(codec: u32, isomorph: &str) -> Result<()> {
    let own = env!("CARGO_PKG_VERSION");
    if (codec, isomorph) == (VERSION, own) {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "the client is isomorph {isomorph} with plans of version {codec}, and this process is isomorph {own} with plans of version {VERSION}"
    ))
    .hint("run the same version of isomorph on every machine of the cluster"))
}

impl Codec {
    pub fn new(role: Role) -> Self {
        Codec { role, others: BallistaPhysicalExtensionCodec::default() }
    }

    /// The place of a scan as JSON: a scheduler hands on what it read.
    fn place_of(&self, graph: &str) -> Result<String> {
        let Role::Client(places) = &self.role else { return Ok(graph.to_owned()) };
        let place = places.get(graph);
        let place = place.ok_or_else(|| Error::usage(format!("the cluster was not told where {graph} is")))?;
        json(place)
    }

    fn written(&self, exec: &TableScanExec) -> Result<Vec<u8>> {
        let schema = protobuf::Schema::try_from(exec.schema().as_ref())
            .map_err(|error| Error::unsupported(format!("a column does not travel: {error}")))?;
        let message = ScanMessage {
            codec: VERSION,
            isomorph: env!("CARGO_PKG_VERSION").to_owned(),
            place: self.place_of(exec.graph())?,
            scan: exec.scan().to_text()?,
            schema: Some(schema),
        };
        Ok([SCAN, &message.encode_to_vec()].concat())
    }

    fn written_question(exec: &QuestionExec) -> Result<Vec<u8>> {
        let message = QuestionMessage {
            codec: VERSION,
            isomorph: env!("CARGO_PKG_VERSION").to_owned(),
            place: json(exec.place())?,
            question: json(exec.question())?,
        };
        Ok([QUESTION, &message.encode_to_vec()].concat())
    }

    fn read_question(&self, bytes: &[u8], inputs: &[Arc<dyn ExecutionPlan>]) -> Result<QuestionExec> {
        let message = QuestionMessage::decode(bytes).map_err(|error| broken(&error.to_string()))?;
        let QuestionMessage { codec, isomorph, place, question } = message;
        check(codec, &isomorph)?;
        let [input] = inputs else { return Err(broken("a question has one input")) };
        let opener = match &self.role {
            Role::Executor(opener) => Some(Arc::clone(opener)),
            Role::Client(_) | Role::Scheduler => None,
        };
        let place = serde_json::from_str(&place).map_err(|error| broken(&error.to_string()))?;
        let question = serde_json::from_str(&question).map_err(|error| broken(&error.to_string()))?;
        Ok(QuestionExec::decoded(question, place, opener, Arc::clone(input)))
    }

    fn read(&self, bytes: &[u8], inputs: &[Arc<dyn ExecutionPlan>]) -> Result<TableScanExec> {
        let message = ScanMessage::decode(bytes).map_err(|error| broken(&error.to_string()))?;
        let ScanMessage { codec, isomorph, place, scan, schema } = message;
        check(codec, &isomorph)?;
        let schema = schema.ok_or_else(|| broken("a scan without columns"))?;
        let schema = Schema::try_from(&schema).map_err(|error| broken(&error.to_string()))?;
        let [input] = inputs else { return Err(broken("a scan has one input")) };
        let scan = TableScan::parse(&scan)?;
        let open = match &self.role {
            Role::Executor(opener) => {
                let parsed: Place = serde_json::from_str(&place).map_err(|error| broken(&error.to_string()))?;
                let (opener, scan) = (Arc::clone(opener), scan.clone());
                Some(Arc::new(move || opener.rows(&parsed, &scan)) as OpenTable)
            }
            Role::Client(_) | Role::Scheduler => None,
        };
        Ok(TableScanExec::decoded(scan, place, open, Arc::clone(input), SchemaRef::new(schema)))
    }
}

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        if let Some(bytes) = bytes.strip_prefix(QUESTION) {
            return Ok(Arc::new(self.read_question(bytes, inputs).map_err(|error| travelling(&error))?));
        }
        match bytes.strip_prefix(SCAN) {
            Some(bytes) => Ok(Arc::new(self.read(bytes, inputs).map_err(|error| travelling(&error))?)),
            // Operators of Ballista read and write files of executors: a scheduler makes them, and a client sends none.
            None if matches!(self.role, Role::Scheduler) => Err(travelling(&broken("it has operators of a stage"))),
            None => self.others.try_decode(bytes, inputs, context, converter),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> EngineResult<()> {
        if let Some(exec) = node.downcast_ref::<TableScanExec>() {
            bytes.extend(self.written(exec).map_err(|error| travelling(&error))?);
            return Ok(());
        }
        if let Some(exec) = node.downcast_ref::<QuestionExec>() {
            bytes.extend(Codec::written_question(exec).map_err(|error| travelling(&error))?);
            return Ok(());
        }
        let name = node.name().to_owned();
        self.others.try_encode(node, bytes, converter).map_err(|_| {
            let refused =
                Error::unsupported(format!("{name}, an operator of this question, does not travel to a cluster"));
            travelling(&refused.hint("ask without --cluster"))
        })
    }

    fn try_encode_udf(&self, function: &ScalarUDF, bytes: &mut Vec<u8>) -> EngineResult<()> {
        if let Some(text) = function_to_text(function) {
            bytes.extend(text.as_bytes());
        }
        Ok(())
    }

    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> EngineResult<Arc<ScalarUDF>> {
        let found = std::str::from_utf8(bytes).ok().and_then(function_of_text);
        found
            .ok_or_else(|| travelling(&Error::unsupported(format!("the function {name} does not travel to a cluster"))))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use isomorph::Kind;

    use super::*;

    #[test]
    fn other_versions_are_refused_with_both_numbers() {
        assert!(check(VERSION, env!("CARGO_PKG_VERSION")).is_ok());
        for (codec, isomorph) in [(VERSION, "9.9.9"), (VERSION + 1, env!("CARGO_PKG_VERSION")), (0, "")] {
            let error = check(codec, isomorph).unwrap_err();
            assert_eq!(error.kind(), Kind::Unsupported);
            assert!(error.message().contains(isomorph) && error.message().contains(env!("CARGO_PKG_VERSION")));
        }
    }

    #[test]
    fn a_scan_of_another_version_is_refused_where_it_is_read() {
        let message = ScanMessage { codec: VERSION, isomorph: "9.9.9".to_owned(), ..ScanMessage::default() };
        let bytes = [SCAN, &message.encode_to_vec()].concat();
        let codec = Codec::new(Role::Scheduler);
        let context = datafusion::prelude::SessionContext::new().task_ctx();
        let converter = datafusion_proto::physical_plan::DefaultPhysicalProtoConverter {};
        let error = codec.try_decode(&bytes, &[], &context, &converter).unwrap_err();
        let error = wire::of_text(&error.to_string()).unwrap();
        assert!(error.message().contains("9.9.9"), "{}", error.message());
        let message = QuestionMessage { codec: VERSION, isomorph: "9.9.9".to_owned(), ..QuestionMessage::default() };
        let bytes = [QUESTION, &message.encode_to_vec()].concat();
        let error = codec.try_decode(&bytes, &[], &context, &converter).unwrap_err();
        assert!(error.to_string().contains("isomorph-error"), "{error}");
        assert!(wire::of_text(&error.to_string()).unwrap().message().contains("9.9.9"));
        // What is not ours is a stage of Ballista, which only schedulers make.
        let error = codec.try_decode(b"stage", &[], &context, &converter).unwrap_err();
        assert_eq!(wire::of_text(&error.to_string()).unwrap().kind(), Kind::Malformed);
    }
}
