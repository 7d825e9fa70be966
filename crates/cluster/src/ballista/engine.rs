//! Runs stages as Ballista does, with errors that travel.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::serde::protobuf::{RuntimeStatsReport, ShuffleWritePartition, TaskColumnStats, WindowStateReport};
use ballista_executor::execution_engine::{DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor};
use datafusion::common::Result as EngineResult;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::prelude::SessionConfig;

use crate::ballista::wire::leaving;

/// Ballista's engine.
pub(crate) struct Stages(pub DefaultExecutionEngine);

/// A stage of a plan.
#[derive(Debug)]
struct Stage(Arc<dyn QueryStageExecutor>);

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ExecutionEngine for Stages {
    fn create_query_stage_exec(
        &self,
        job_id: JobId,
        stage_id: usize,
        task_id: usize,
        outputs: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        directory: &str,
        config: &SessionConfig,
    ) -> EngineResult<Arc<dyn QueryStageExecutor>> {
        let stage = self.0.create_query_stage_exec(job_id, stage_id, task_id, outputs, plan, directory, config);
        Ok(Arc::new(Stage(stage.map_err(leaving)?)))
    }
}

#[async_trait]
impl QueryStageExecutor for Stage {
    async fn execute_query_stage(
        &self,
        task_id: usize,
        context: Arc<TaskContext>,
    ) -> EngineResult<Vec<ShuffleWritePartition>> {
        self.0.execute_query_stage(task_id, context).await.map_err(leaving)
    }

    fn collect_plan_metrics(&self) -> Vec<MetricsSet> {
        self.0.collect_plan_metrics()
    }

    fn collect_runtime_stats_reports(&self) -> Vec<RuntimeStatsReport> {
        self.0.collect_runtime_stats_reports()
    }

    fn collect_window_state_reports(&self) -> EngineResult<Vec<WindowStateReport>> {
        self.0.collect_window_state_reports()
    }

    fn collect_column_stats(&self) -> Vec<TaskColumnStats> {
        self.0.collect_column_stats()
    }
}
