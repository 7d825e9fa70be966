//! From a question to a plan, on a thread of the engine.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, TimeUnit};
use datafusion::common::Result as EngineResult;
use datafusion::config::ConfigOptions;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::planner::TypePlanner;
use datafusion::optimizer::simplify_expressions::SimplifyExpressions;
use datafusion::optimizer::{Optimizer, OptimizerRule};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SQLOptions, SessionConfig};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast;
use isomorph::storage::Resources;
use isomorph::{Error, Result};
use tokio::runtime::Handle;

use crate::end_groups::EndGroups;
use crate::errors::{is_of_equal_names, of_engine, of_optimizer, of_plan};
use crate::functions::aggregates;
use crate::functions::array_any;
use crate::functions::bounded;
use crate::functions::length_parts;
use crate::functions::moment_functions;
use crate::functions::operations;
use crate::joined::Searches;
use crate::parameters::Parameters;
use crate::rewrite::exact::Exact;
use crate::rewrite::instants::Times;
use crate::rewrite::null_lists::NullLists;
use crate::rewrite::own_names;
use crate::rewrite::prepared::prepared;
use crate::syntax::casts;
use crate::syntax::function_clauses;
use crate::syntax::labels::Labels;
use crate::syntax::like_escapes;
use crate::syntax::merged::merge;
use crate::syntax::named_windows;
use crate::syntax::parameter_lists;
use crate::syntax::repeated_names::{self, MARK, RepeatedNames};
use crate::syntax::resolve::resolve;
use crate::syntax::row_values::compare_values;
use crate::syntax::similar;
use crate::syntax::spelling::respell;
use crate::syntax::stars;
use crate::syntax::statement::{parse, sql_of};
use crate::syntax::subqueries;
use crate::syntax::table_columns;
use crate::tables::catalog::{CATALOG, Catalog, SqlCatalog};
use crate::tables::graph_table;
use crate::tables::narrowing;
use crate::tables::parts::Divided;

/// The most memory that is kept for merging what was sorted, bytes.
const MOST_RESERVED: usize = 256 << 20;

/// Rows of a batch where tables are sorted for joins.
const ROWS_OF_SORTED: usize = 1024;

/// Keys of the smaller side of a join that are handed to the other side: so many, of so many bytes.
const MOST_KEYS: usize = 20_000;
const MOST_KEY_BYTES: usize = 4 << 20;

/// What a plan needs.
#[derive(Debug, Clone)]
pub(crate) struct Planning {
    pub catalog: Arc<Catalog>,
    pub resources: Resources,
    pub question: String,
    pub parameters: Parameters,
    /// Into how many partitions work is divided, where other processes do it.
    pub elsewhere: Option<usize>,
    /// Whether tables are joined by sorting both, on disk if memory is too small, and not by holding one of them.
    pub sorts_joins: bool,
}

/// A plan of the engine.
pub(crate) struct Planned {
    pub state: SessionState,
    pub plan: LogicalPlan,
    pub labels: Labels,
}

/// A plan that runs.
pub(crate) struct Runnable {
    pub state: SessionState,
    pub plan: Arc<dyn ExecutionPlan>,
    pub labels: Labels,
}

impl Planning {
    /// The logical plan.
    ///
    /// # Errors
    /// As those of the engine's `query`.
    pub fn logical(&self, handle: &Handle) -> Result<Planned> {
        let Planning { question, parameters, catalog, resources, .. } = self;
        // Patterns are no SQL to the parser: tables of their matches take their places.
        let taken = graph_table::take(question, parameters, catalog, resources)?;
        let (question, catalog, mut used) = match &taken {
            Some(taken) => (&taken.question, &taken.catalog, taken.used.clone()),
            None => (question, catalog, BTreeSet::new()),
        };
        let mut statement = parse(question)?;
        // A plan that the engine shows as rows has columns of its own.
        let is_plain =
            matches!(&statement, Statement::Statement(sql) if !matches!(**sql, ast::Statement::Explain { .. }));
        let sql = sql_of(&mut statement).ok_or_else(|| Error::unsupported("a statement that does not read"))?;
        let stars = if is_plain { stars::once(sql) } else { None };
        let labels = if is_plain { Labels::of(sql) } else { Labels::default() };
        named_windows::write_out(sql)?;
        let (parameters, lists) = parameter_lists::spread(sql, parameters)?;
        used.extend(lists);
        respell(sql)?;
        function_clauses::respell(sql)?;
        like_escapes::respell(sql)?;
        similar::respell(sql)?;
        subqueries::rewrite(sql)?;
        compare_values(sql)?;
        let places = resolve(sql, catalog)?;
        table_columns::complete(sql, catalog)?;
        let mut labels = labels.or_columns_of(sql);
        merge(sql, catalog)?;
        casts::name(sql);
        let renamed = labels.renamed(sql);
        let names = repeated_names::plain_names(sql);
        let state = self.state(catalog)?;
        let functions = || state.udfs().into_iter().chain(state.udafs()).chain(state.udwfs()).collect();
        let mut plan = handle.block_on(state.statement_to_plan(statement));
        if plan.as_ref().is_err_and(is_of_equal_names) && is_plain {
            let (sql, other) = renamed;
            labels = other;
            let statement = Statement::Statement(Box::new(sql));
            plan = handle.block_on(state.statement_to_plan(statement));
        }
        let mut plan = plan.map_err(|error| of_plan(error, &places, &functions))?;
        if let Some(stars) = stars {
            (plan, labels) = stars.again(plan, &labels).map_err(of_engine)?;
        }
        let only_reads = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        only_reads.verify_plan(&plan).map_err(|error| of_engine(error).of_kind(isomorph::Kind::Unsupported))?;
        repeated_names::check(&plan, &names).map_err(of_engine)?;
        let plan = prepared(plan).map_err(of_engine)?;
        Ok(Planned { state, plan: parameters.bind(plan, &used)?, labels })
    }

    /// The physical plan.
    ///
    /// # Errors
    /// As [`Planning::logical`].
    pub fn physical(&self, handle: &Handle) -> Result<Runnable> {
        let Planned { state, plan, labels } = self.logical(handle)?;
        let plan = handle.block_on(state.create_physical_plan(&plan)).map_err(of_optimizer)?;
        Ok(Runnable { state, plan, labels })
    }

    /// The physical plan, and the text of the logical plan that it was made of.
    ///
    /// # Errors
    /// As [`Planning::logical`].
    pub fn explained(&self, handle: &Handle) -> Result<(Runnable, String)> {
        let Planned { state, plan, labels } = self.logical(handle)?;
        let plan = state.optimize(&plan).map_err(of_optimizer)?;
        let text = plan.display_indent().to_string().replace(MARK, "");
        let plan = handle.block_on(state.query_planner().create_physical_plan(&plan, &state)).map_err(of_engine)?;
        Ok((Runnable { state, plan, labels }, text))
    }

    fn state(&self, catalog: &Arc<Catalog>) -> Result<SessionState> {
        // The engine sorts for joins only where it divides the work.
        let threads = self.resources.threads.max(if self.sorts_joins { 2 } else { 1 });
        let limit = usize::try_from(self.resources.budget.limit() / 2).unwrap_or(usize::MAX);
        // Sorting fails where less than a quarter is kept for merging, see apache/datafusion#16979.
        // Two tables are sorted for each join, at the same time.
        let sorts = if self.sorts_joins { 8 } else { 2 };
        let reserved = (limit / 4).min(limit / (sorts * threads)).min(MOST_RESERVED);
        let mut config = SessionConfig::new()
            .with_target_partitions(threads)
            .with_create_default_catalog_and_schema(false)
            .with_default_catalog_and_schema(CATALOG, catalog.schemas().first().map_or("graph", String::as_str))
            .with_information_schema(true)
            .with_sort_spill_reservation_bytes(reserved);
        if self.sorts_joins {
            // What is in memory is sorted as a whole, and merged in few rows at once: other merges need as much memory as the rows.
            config = config.with_sort_in_place_threshold_bytes(usize::MAX).with_batch_size(ROWS_OF_SORTED);
        }
        if self.elsewhere.is_some() {
            config = config.with_extension(Arc::new(Divided));
        }
        let options = config.options_mut();
        options.optimizer.prefer_hash_join = !self.sorts_joins;
        // Names have the spelling of what they match.
        options.sql_parser.enable_ident_normalization = false;
        options.sql_parser.map_string_types_to_utf8view = false;
        // Now is an instant.
        options.execution.time_zone = Some("+00:00".to_owned());
        // Numerals keep their digits until it is known what they stand beside.
        options.sql_parser.parse_float_as_decimal = true;
        if let Some(partitions) = self.elsewhere {
            elsewhere(options, partitions);
        }
        options.optimizer.hash_join_inlist_pushdown_max_distinct_values = MOST_KEYS;
        options.optimizer.hash_join_inlist_pushdown_max_size = MOST_KEY_BYTES;
        let top = NonZeroUsize::MIN.saturating_add(2);
        let pool = TrackConsumersPool::new(FairSpillPool::new(limit), top);
        let scratch = vec![self.resources.scratch.directory().to_owned()];
        let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(scratch));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(pool)).with_disk_manager_builder(disk);
        let runtime = runtime.build_arc().map_err(of_engine)?;
        let mut builder = SessionStateBuilder::new()
            .with_config(config)
            .with_runtime_env(runtime)
            .with_default_features()
            .with_type_planner(Arc::new(Types));
        if self.elsewhere.is_none() {
            builder = builder.with_physical_optimizer_rules(narrowing::rules());
        }
        *builder.optimizer() = Some(optimizer());
        if self.elsewhere.is_none() && !self.sorts_joins {
            builder = builder
                .with_optimizer_rule(Arc::new(EndGroups::new(&self.resources)))
                .with_optimizer_rule(Arc::new(Searches::new(&self.resources)));
        }
        let mut state = builder.build();
        state.catalog_list().register_catalog(CATALOG.to_owned(), Arc::new(SqlCatalog(Arc::clone(catalog))));
        state.add_analyzer_rule(Arc::new(Exact));
        aggregates::register(&mut state).map_err(of_engine)?;
        bounded::register(&mut state, limit).map_err(of_engine)?;
        length_parts::register(&mut state).map_err(of_engine)?;
        moment_functions::register(&mut state).map_err(of_engine)?;
        state.register_expr_planner(Arc::new(Times)).map_err(of_engine)?;
        state.register_relation_planner(Arc::new(RepeatedNames::default())).map_err(of_engine)?;
        for function in array_any::all().chain([operations::always(), casts::function()]) {
            state.register_udf(function).map_err(of_engine)?;
        }
        // The time that the question calls now.
        state.mark_start_execution();
        Ok(state)
    }
}

/// The rules of the engine, with ours beside or instead of those that would change answers.
fn optimizer() -> Optimizer {
    let (simplified, joins) = (SimplifyExpressions::new(), own_names::joined());
    let joins: Arc<dyn OptimizerRule + Send + Sync> = Arc::new(joins);
    let lists: Arc<dyn OptimizerRule + Send + Sync> = Arc::new(NullLists);
    let rules = Optimizer::new().rules.into_iter().flat_map(|rule| match rule.name() {
        name if name == joins.name() => vec![Arc::clone(&joins)],
        name if name == simplified.name() => vec![Arc::clone(&lists), rule],
        _ => vec![rule],
    });
    Optimizer::with_rules(rules.collect())
}

/// Plans whose stages run in several processes have nothing that operators tell each other while they run: no filters that become narrower, no values of
/// subqueries; and no partitions that only threads of one process would need.
fn elsewhere(options: &mut ConfigOptions, partitions: usize) {
    options.execution.target_partitions = partitions.max(1);
    options.optimizer.enable_round_robin_repartition = false;
    options.optimizer.enable_dynamic_filter_pushdown = false;
    options.optimizer.enable_join_dynamic_filter_pushdown = false;
    options.optimizer.enable_topk_dynamic_filter_pushdown = false;
    options.optimizer.enable_aggregate_dynamic_filter_pushdown = false;
    options.optimizer.enable_physical_uncorrelated_scalar_subquery = false;
}

/// Types of SQL that are others in the engine.
#[derive(Debug)]
struct Types;

impl TypePlanner for Types {
    /// A timestamp has microseconds: nanoseconds of 64 bits have no years before 1678 and after 2262. One with a time zone is an instant.
    fn plan_type_field(&self, sql_type: &ast::DataType) -> EngineResult<Option<FieldRef>> {
        Ok(match sql_type {
            ast::DataType::Timestamp(None, ast::TimezoneInfo::None | ast::TimezoneInfo::WithoutTimeZone)
            | ast::DataType::Datetime(None) => {
                Some(Arc::new(Field::new("", DataType::Timestamp(TimeUnit::Microsecond, None), true)))
            }
            ast::DataType::Timestamp(None, ast::TimezoneInfo::WithTimeZone | ast::TimezoneInfo::Tz) => {
                let zone = Some("+00:00".into());
                Some(Arc::new(Field::new("", DataType::Timestamp(TimeUnit::Microsecond, zone), true)))
            }
            ast::DataType::Time(Some(9), ast::TimezoneInfo::None | ast::TimezoneInfo::WithoutTimeZone) => {
                Some(Arc::new(Field::new("", DataType::Time64(TimeUnit::Nanosecond), true)))
            }
            _ => None,
        })
    }
}
