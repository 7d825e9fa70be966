//! An executor: reads parts of graphs, and does the work of stages.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::execution_engine::DefaultExecutionEngine;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use isomorph::storage::Resources;
use isomorph::{Error, Kind, Result};
use isomorph_query::distributed::session_state;

use crate::ballista::address::host_and_port;
use crate::ballista::allow::Allowed;
use crate::ballista::codec::{Codec, Role};
use crate::ballista::engine::Stages;
use crate::ballista::opener::Opener;
use crate::ballista::pool::Pool;
use crate::ballista::runtime::{runtime, without_files};
use crate::ballista::scheduler::{MESSAGE, settings};
use crate::ballista::wire::leaving;

/// How long it tries to reach its scheduler, seconds.
const PATIENCE: u16 = 10;

/// Seconds that parts of answers are kept at most.
const KEPT: u64 = 86_400;

/// How an executor runs.
#[derive(Debug, Clone)]
pub struct ExecutorOptions {
    /// `HOST:PORT` of the scheduler.
    pub scheduler: String,
    /// Where other executors and clients fetch what it made.
    pub address: SocketAddr,
    /// The name or address by which they reach it, if that is not the one that the scheduler sees.
    pub name: Option<String>,
    /// Directories and URLs below which it opens graphs; nothing else is opened.
    pub allow: Vec<String>,
    /// Memory, of which half is the engine's; threads, each of which does one task; and the directory for parts of answers.
    pub resources: Resources,
}

/// An executor that is about to run.
#[derive(Debug)]
pub struct Executor {
    options: ExecutorOptions,
    scheduler: (String, u16),
    allowed: Allowed,
}

impl Executor {
    /// One with these options.
    ///
    /// # Errors
    /// [`Kind::Usage`] for a scheduler that is none; and for a directory that does not exist.
    pub fn new(options: ExecutorOptions) -> Result<Self> {
        let scheduler = host_and_port(&options.scheduler)?;
        let allowed = Allowed::of(&options.allow)?;
        Ok(Executor { options, scheduler, allowed })
    }

    /// Runs until the process is asked to end.
    ///
    /// # Errors
    /// If there is no scheduler, or the address cannot be had.
    pub fn run(self) -> Result<()> {
        let Resources { threads, scratch, .. } = &self.options.resources;
        let runtime = runtime(*threads)?;
        let home = tempfile::Builder::new().prefix("isomorph-cluster-").tempdir_in(scratch.directory())?;
        let config = self.config(home.path())?;
        let outcome = runtime.block_on(start_executor_process(Arc::new(config)));
        runtime.shutdown_timeout(Duration::from_millis(500));
        outcome.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &BallistaError) -> Error {
        let (host, port) = &self.scheduler;
        Error::new(Kind::Io, format!("the executor cannot run: {error}"))
            .hint(format!("isomorph cluster scheduler --bind {host}:{port}    the scheduler, which is started first"))
    }

    fn config(&self, home: &std::path::Path) -> Result<ExecutorProcessConfig> {
        let Resources { threads, budget, .. } = &self.options.resources;
        let memory = budget.limit() / 2;
        let most = usize::try_from(memory).unwrap_or(usize::MAX) / (*threads).max(1);
        let state = session_state(settings(), most).map_err(isomorph_query::distributed::error_of_engine)?;
        let opener = Opener::new(self.allowed.clone(), self.options.resources.clone());
        let directory = home.to_owned();
        let runtime = move |_: &datafusion::prelude::SessionConfig| {
            let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(vec![directory.clone()]));
            without_files()?.with_disk_manager_builder(disk).build_arc().map_err(leaving)
        };
        let address = self.options.address;
        let stages = DefaultExecutionEngine::with_client_pool(Arc::new(Pool::default()));
        Ok(ExecutorProcessConfig {
            bind_host: address.ip().to_string(),
            external_host: self.options.name.clone(),
            port: address.port(),
            scheduler_host: self.scheduler.0.clone(),
            scheduler_port: self.scheduler.1,
            scheduler_connect_timeout_seconds: PATIENCE,
            vcores: (*threads).max(1),
            task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
            work_dir: Some(home.display().to_string()),
            job_data_ttl_seconds: KEPT,
            grpc_max_decoding_message_size: MESSAGE,
            grpc_max_encoding_message_size: MESSAGE,
            memory_pool_size: Some(memory),
            override_execution_engine: Some(Arc::new(Stages(stages))),
            override_function_registry: Some(Arc::new(BallistaFunctionRegistry::from(&state))),
            override_runtime_producer: Some(Arc::new(runtime)),
            // Sorting fails where less is kept for merging, see apache/datafusion#16979.
            override_config_producer: Some(Arc::new(move || settings().with_sort_spill_reservation_bytes(most / 8))),
            override_physical_codec: Some(Arc::new(Codec::new(Role::Executor(Arc::new(opener))))),
            ..ExecutorProcessConfig::default()
        })
    }
}
