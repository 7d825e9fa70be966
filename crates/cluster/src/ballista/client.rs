//! Questions to a cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use ballista_core::config::BallistaConfig;
use ballista_core::extension::SessionConfigExt;
use ballista_core::serde::protobuf::KeyValuePair;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use datafusion_proto::physical_plan::AsExecutionPlan;
use datafusion_proto::protobuf::PhysicalPlanNode;
use isomorph::algorithms::GraphStatistics;
use isomorph::{Error, Result};
use isomorph_query::distributed::error_of_engine;
use isomorph_query::{Answer, Engine, Parameters};

use crate::ballista::address::host_and_port;
use crate::ballista::codec::{Codec, Role};
use crate::ballista::job::{Job, Messages, start};
use crate::ballista::place::Place;
use crate::ballista::question::{CypherQuestion, Question, SparqlQuestion, StatisticsQuestion};
use crate::ballista::question_exec::{QuestionExec, messages};
use crate::ballista::wire;

/// A cluster that answers questions.
#[derive(Debug, Clone)]
pub struct Cluster {
    scheduler: (String, u16),
    partitions: usize,
}

impl Cluster {
    /// The cluster of the scheduler at `HOST:PORT`. Joins and groups are divided into so many partitions: more than all executors have threads, so that none is
    /// idle.
    ///
    /// # Errors
    /// [`isomorph::Kind::Usage`] for another text.
    pub fn at(scheduler: &str, partitions: usize) -> Result<Self> {
        Ok(Cluster { scheduler: host_and_port(scheduler)?, partitions: partitions.max(1) })
    }

    /// Answers a question as [`Engine::query_while`] does, by the cluster. The graphs and files of `engine` have these places, by name. A question that reads no
    /// table is answered here. Dropping the answer, or an error of `go_on`, ends the work of the executors.
    ///
    /// # Errors
    /// As [`Engine::query_while`]; [`isomorph::Kind::Unsupported`] for an operator that does not travel, by name, and if the versions differ;
    /// [`isomorph::Kind::Conflict`] if files changed; [`isomorph::Kind::Io`] if there is no scheduler. What executors find, reading the answer tells.
    pub fn query(
        &self,
        engine: &Engine,
        places: &BTreeMap<String, Place>,
        question: &str,
        parameters: &Parameters,
        go_on: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Answer> {
        let planned = engine.distributed(question, parameters, self.partitions, go_on)?;
        if planned.tables().is_empty() {
            return engine.query_while(question, parameters, go_on);
        }
        let plan = written(Arc::clone(planned.plan()), places)?;
        let job = Job { scheduler: self.scheduler.clone(), plan, settings: settings(planned.config()) };
        let stream = start(job, planned.plan().schema())?;
        Ok(planned.answer(stream))
    }

    /// Into how many parts a question that can be divided is divided.
    pub fn parts(&self) -> u32 {
        u32::try_from(self.partitions).unwrap_or(u32::MAX)
    }

    /// Asks a question in openCypher about the graph of this place. Returns the messages for [`isomorph_cypher::Query::received`].
    ///
    /// # Errors
    /// If there is no thread. Those of the scheduler and of executors, reading the messages tells, and those of `go_on`.
    pub fn cypher<'g>(
        &self,
        question: CypherQuestion,
        place: Place,
        go_on: impl FnMut() -> Result<()> + 'g,
    ) -> Result<Messages<'g>> {
        self.ask(Question::Cypher(question), place, go_on)
    }

    /// The same in SPARQL, for [`isomorph_sparql::Question::received`].
    ///
    /// # Errors
    /// As [`Cluster::cypher`].
    pub fn sparql<'g>(
        &self,
        question: SparqlQuestion,
        place: Place,
        go_on: impl FnMut() -> Result<()> + 'g,
    ) -> Result<Messages<'g>> {
        self.ask(Question::Sparql(question), place, go_on)
    }

    /// The statistics of the graph of this place.
    ///
    /// # Errors
    /// As [`isomorph::algorithms::statistics`], those of the cluster, and of `go_on`.
    pub fn statistics(
        &self,
        question: StatisticsQuestion,
        place: Place,
        go_on: impl FnMut() -> Result<()>,
    ) -> Result<GraphStatistics> {
        let mut messages = self.ask(Question::Statistics(question), place, go_on)?;
        let found = messages.next().ok_or_else(|| Error::malformed("an answer without statistics"))??;
        serde_json::from_slice(&found)
            .map_err(|error| Error::malformed(format!("the statistics of an executor: {error}")).caused_by(error))
    }

    fn ask<'g>(
        &self,
        question: Question,
        place: Place,
        go_on: impl FnMut() -> Result<()> + 'g,
    ) -> Result<Messages<'g>> {
        let plan = QuestionExec::new(question, place).map_err(error_of_engine)?;
        let plan = written(Arc::new(plan), &BTreeMap::new())?;
        let job = Job { scheduler: self.scheduler.clone(), plan, settings: settings(&SessionConfig::new()) };
        Messages::of(job, messages(), Box::new(go_on))
    }
}

fn written(plan: Arc<dyn ExecutionPlan>, places: &BTreeMap<String, Place>) -> Result<Vec<u8>> {
    let codec = Codec::new(Role::Client(places.clone()));
    let mut bytes = Vec::new();
    let node = PhysicalPlanNode::try_from_physical_plan(plan, &codec);
    node.and_then(|node| node.try_encode(&mut bytes))
        .map_err(|error| wire::of_text(&error.to_string()).unwrap_or_else(|| error_of_engine(error)))?;
    Ok(bytes)
}

/// The settings of a plan, which executors use. They fetch from each other batch by batch and check what comes: whole files are faster, but Ballista reads these
/// without looking whether they are valid, and another process may claim to be an executor.
fn settings(config: &SessionConfig) -> Vec<KeyValuePair> {
    let config = config.clone().with_option_extension(BallistaConfig::default());
    let config = config.with_ballista_shuffle_reader_remote_prefer_flight(true);
    // How much memory there is for what, executors know.
    let entries = config.options().entries().into_iter().filter(|entry| !entry.key.ends_with("_reservation_bytes"));
    entries.map(|entry| KeyValuePair { key: entry.key, value: entry.value }).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::net::TcpStream;
    use std::sync::atomic::{AtomicBool, Ordering};

    use isomorph::Kind;
    use isomorph::storage::Resources;
    use isomorph_query::distributed::DistributedPlan;

    use super::*;
    use crate::ballista::address::{Reach, listening};
    use crate::ballista::scheduler::Scheduler;

    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/social");

    /// A question that is planned, and its plan as it is sent.
    fn planned() -> (DistributedPlan, Vec<u8>) {
        let graph = Arc::new(isomorph::open(PATH).unwrap());
        let places = BTreeMap::from([("graph".to_owned(), Place::of_graph(&graph).unwrap())]);
        let mut engine = Engine::new(Resources::of_this_machine().unwrap()).unwrap();
        engine.add_graph("graph", graph).unwrap();
        let question = "select id from person where id > 1200";
        let planned = engine.distributed(question, &Parameters::new(), 4, &mut || Ok(())).unwrap();
        let bytes = written(Arc::clone(planned.plan()), &places).unwrap();
        (planned, bytes)
    }

    #[test]
    fn a_scheduler_refuses_plans_of_another_version() {
        let address = listening("127.0.0.1:0", Reach::Loopback).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let go_on = move || match stopped.load(Ordering::Relaxed) {
            true => Err(Error::new(Kind::Cancelled, "enough")),
            false => Ok(()),
        };
        let running = std::thread::spawn(move || Scheduler::new(address, 2).run(go_on));
        while TcpStream::connect(address).is_err() {
            std::thread::yield_now();
        }
        let (planned, mut plan) = planned();
        // As another version writes it: its number, as long as ours.
        let own = env!("CARGO_PKG_VERSION");
        let other: String = own.chars().map(|sign| if sign.is_ascii_digit() { '9' } else { sign }).collect();
        let found: Vec<usize> =
            (0..plan.len()).filter(|at| plan.get(*at..).is_some_and(|rest| rest.starts_with(own.as_bytes()))).collect();
        assert!(!found.is_empty());
        for at in found {
            plan[at..at + other.len()].copy_from_slice(other.as_bytes());
        }
        let scheduler = (address.ip().to_string(), address.port());
        let job = Job { scheduler, plan, settings: settings(planned.config()) };
        let mut answer = planned.answer(start(job, planned.plan().schema()).unwrap());
        let error = answer.next().unwrap().unwrap_err();
        assert_eq!(error.kind(), Kind::Unsupported, "{error}");
        assert!(error.message().contains(own) && error.message().contains(&other), "{error}");
        stop.store(true, Ordering::Relaxed);
        running.join().unwrap().unwrap();
    }
}
