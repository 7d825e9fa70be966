//! The scheduler: divides plans into stages and tasks, and gives these to executors.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::extension::SessionConfigExt;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::{SchedulerConfig, TaskDistributionPolicy};
use ballista_scheduler::scheduler_process::start_server;
use datafusion::common::Result as EngineResult;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionConfig;
use isomorph::{Error, Kind, Result};
use isomorph_query::distributed::session_state;

use crate::ballista::codec::{Codec, Role};
use crate::ballista::runtime::{runtime, without_files};

/// Bytes of a message: plans with many keys are long.
pub(crate) const MESSAGE: u32 = 256 << 20;

/// Seconds after which an executor that says nothing is given up, and its tasks are given to others.
const SILENCE: u64 = 20;

/// Seconds between looks for such executors.
const LOOK: u64 = 2;

/// Seconds that results of a question are kept whose client did not say that it has them.
const KEPT: u64 = 3600;

/// How often `go_on` is asked.
const STEP: Duration = Duration::from_millis(50);

/// A scheduler that is about to run.
#[derive(Debug)]
pub struct Scheduler {
    address: SocketAddr,
    threads: usize,
}

impl Scheduler {
    /// One that listens here, with so many threads.
    pub fn new(address: SocketAddr, threads: usize) -> Self {
        Scheduler { address, threads }
    }

    /// Runs until `go_on` fails. Returns its error only if it is another than being cancelled.
    ///
    /// # Errors
    /// If the address cannot be had.
    pub fn run(&self, mut go_on: impl FnMut() -> Result<()>) -> Result<()> {
        let runtime = runtime(self.threads)?;
        let config = Arc::new(self.config());
        let address = self.address;
        let outcome = runtime.block_on(async move {
            let cluster = BallistaCluster::new_from_config(&config).await.map_err(|error| failed(&error))?;
            let serving = start_server(cluster, address, config);
            tokio::pin!(serving);
            loop {
                tokio::select! {
                    done = &mut serving => return done.map_err(|error| failed(&error)),
                    () = tokio::time::sleep(STEP) => go_on()?,
                }
            }
        });
        runtime.shutdown_timeout(Duration::from_millis(500));
        match outcome {
            Err(error) if error.kind() == Kind::Cancelled => Ok(()),
            other => other,
        }
    }

    fn config(&self) -> SchedulerConfig {
        SchedulerConfig {
            external_host: self.address.ip().to_string(),
            bind_host: self.address.ip().to_string(),
            bind_port: self.address.port(),
            scheduling_policy: TaskSchedulingPolicy::PullStaged,
            task_distribution: TaskDistributionPolicy::RoundRobin,
            finished_job_data_clean_up_interval_seconds: KEPT,
            grpc_server_max_decoding_message_size: MESSAGE,
            grpc_server_max_encoding_message_size: MESSAGE,
            grpc_client_max_message_size: MESSAGE,
            executor_timeout_seconds: SILENCE,
            expire_dead_executor_interval_seconds: LOOK,
            no_executors_grace_period_seconds: SILENCE,
            override_config_producer: Some(Arc::new(settings)),
            override_session_builder: Some(Arc::new(session)),
            override_physical_codec: Some(Arc::new(Codec::new(Role::Scheduler))),
            ..SchedulerConfig::default()
        }
    }
}

/// A session, which decodes functions and calls none.
fn session(config: SessionConfig) -> EngineResult<SessionState> {
    let runtime = without_files()?.build_arc()?;
    let state = session_state(config, usize::MAX)?;
    Ok(SessionStateBuilder::new_from_existing(state).with_runtime_env(runtime).build())
}

/// The settings of a session, before those of a client.
pub(crate) fn settings() -> SessionConfig {
    SessionConfig::new_with_ballista()
}

fn failed(error: &BallistaError) -> Error {
    Error::new(Kind::Io, format!("the scheduler cannot run: {error}"))
}
