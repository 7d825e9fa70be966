//! Joins of tables that do not fit into memory.
//!
//! The engine joins by holding the smaller table, which it cannot spill; a search (`joined`) holds all of them. If that fails before there is a row of the answer, the question is
//! planned once more: tables are sorted, on disk if memory is too small, and merged.

use std::sync::Arc;

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::{StreamExt, TryStreamExt};
use isomorph::{Error, Kind};
use tokio::runtime::Handle;

use crate::errors::{inside, internal};
use crate::planning::{Planning, Runnable};
use crate::tables::scan::ScanExec;

/// Whether a plan has joins that hold a table.
pub(crate) fn holds_tables(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.is::<HashJoinExec>()
        || plan.downcast_ref::<ScanExec>().is_some_and(ScanExec::holds_tables)
        || plan.children().into_iter().any(holds_tables)
}

/// The rows of `first`, or those of the plan that `again` makes if memory is too small for the first one.
pub(crate) fn or_sorted(
    first: SendableRecordBatchStream,
    again: Planning,
    handle: &Handle,
) -> SendableRecordBatchStream {
    let (schema, handle) = (first.schema(), handle.clone());
    let rows = futures::stream::once(async move {
        let mut first = first;
        Ok::<_, DataFusionError>(match first.next().await {
            Some(Err(error)) if is_of_memory(&error) => {
                // What the first plan holds is released.
                drop(first);
                sorted(again, handle).await?.boxed()
            }
            head => futures::stream::iter(head).chain(first).boxed(),
        })
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows.try_flatten()))
}

async fn sorted(again: Planning, handle: Handle) -> Result<SendableRecordBatchStream> {
    let planning = handle.clone();
    let planned = handle.spawn_blocking(move || again.physical(&planning)).await;
    let planned = planned.map_err(|_| inside(internal("the engine panicked")))?;
    let Runnable { state, plan, .. } = planned.map_err(inside)?;
    execute_stream(plan, state.task_ctx())
}

fn is_of_memory(error: &DataFusionError) -> bool {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(_) => true,
        // What reads tables has a budget of its own.
        DataFusionError::External(inner) => {
            inner.downcast_ref::<Error>().is_some_and(|error| error.kind() == Kind::TooLarge)
        }
        _ => false,
    }
}
