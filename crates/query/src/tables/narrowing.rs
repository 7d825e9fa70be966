//! Filters that move down a physical plan, once or while it runs, kept away from operators that would misread them.
//!
//! The engine finds a column of such a filter in the rows of the operator below by its name (`FilterRemapper` of DataFusion 55). Where two tables that are joined
//! have columns of one name, that is the first of them, and rows were lost, or kept. So filters do not pass an operator whose input has two columns of one name, or other
//! names than it has itself, as inputs of `union` may. Filters that such an operator makes itself name columns by position, and still reach its input.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::filter_pushdown::FilterPushdown;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::union::{InterleaveExec, UnionExec};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

/// The engine's rules for plans, with those for filters replaced.
pub(crate) fn rules() -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let replaced = |rule: Arc<dyn PhysicalOptimizerRule + Send + Sync>| {
        let own = [FilterPushdown::new(), FilterPushdown::new_post_optimization()];
        match own.into_iter().find(|own| own.name() == rule.name()) {
            Some(own) => Arc::new(Narrowing(own)) as _,
            None => rule,
        }
    };
    PhysicalOptimizer::new().rules.into_iter().map(replaced).collect()
}

/// The engine's rule, on a plan that has barriers meanwhile.
#[derive(Debug)]
struct Narrowing(FilterPushdown);

impl PhysicalOptimizerRule for Narrowing {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let guarded = plan.transform_up(|node| {
            Ok(match misreads(&node) {
                true => Transformed::yes(Arc::new(BarrierExec(node)) as Arc<dyn ExecutionPlan>),
                false => Transformed::no(node),
            })
        })?;
        let optimized = self.0.optimize(guarded.data, config)?;
        let bare = optimized.transform_up(|node| {
            Ok(match node.downcast_ref::<BarrierExec>() {
                Some(BarrierExec(inner)) => Transformed::yes(Arc::clone(inner)),
                None => Transformed::no(node),
            })
        })?;
        Ok(bare.data)
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

/// Whether an operator would take a column of its input for another one.
fn misreads(node: &Arc<dyn ExecutionPlan>) -> bool {
    let own = node.schema();
    let is_union = node.is::<UnionExec>() || node.is::<InterleaveExec>();
    node.children().into_iter().any(|child| {
        let schema = child.schema();
        let mut names = HashSet::new();
        let differs =
            is_union && schema.fields().iter().zip(own.fields()).any(|(below, own)| below.name() != own.name());
        differs || !schema.fields().iter().all(|field| names.insert(field.name().as_str()))
    })
}

/// Gives what its input gives, and lets no filter pass.
#[derive(Debug)]
struct BarrierExec(Arc<dyn ExecutionPlan>);

impl DisplayAs for BarrierExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BarrierExec: of filters")
    }
}

impl ExecutionPlan for BarrierExec {
    fn name(&self) -> &'static str {
        "BarrierExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.0.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.0]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(children.into_iter().next().map_or(self as _, |child| Arc::new(BarrierExec(child)) as _))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.0.execute(partition, context)
    }
}
