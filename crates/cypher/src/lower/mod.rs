//! From the syntax tree to a plan: variables become slots, aggregates are taken apart, and all that is wrong with a query is found
//! before any row is read.

mod calls;
mod expressions;
mod patterns;
mod projection;
mod scope;
mod types;

use std::collections::BTreeSet;

use open_cypher::Span;
use open_cypher::ast::{
    CallTarget, Clause as AstClause, ClauseKind, Name, Query as AstQuery, QueryKind, RegularQuery, SingleQuery,
    StatementKind, UnionOperator,
};

use crate::fault::{Class, Fault, Result, UNSUPPORTED};
use crate::names::Names;
use crate::plan::{Aggregate, Branch, Clause, Plan, Slot};
use crate::query::Source;
use scope::Scope;
use types::Ty;

/// How deep expressions may be nested.
const DEEPEST: usize = 200;

/// The state of lowering one query.
pub(crate) struct Lowering<'s> {
    pub source: Source<'s>,
    /// Spans of all tokens that are not white space or comments.
    pub tokens: Vec<Span>,
    /// Names of parameters that have a value.
    pub parameters: &'s BTreeSet<String>,
    next_slot: Slot,
    depth: usize,
    /// Where aggregates go; `None` where there must be none.
    aggregates: Option<Vec<Aggregate>>,
    in_aggregate: bool,
    /// Whether patterns are allowed as expressions.
    in_predicate: bool,
    /// Expressions that are already in a slot, by their text.
    known: Vec<(String, Slot, Ty)>,
    /// Labels and relationship types of the query.
    names: Names,
}

/// A program becomes a plan.
pub(crate) fn lower(
    program: &open_cypher::ast::Program,
    source: Source<'_>,
    tokens: Vec<Span>,
    parameters: &BTreeSet<String>,
) -> Result<(Plan, Names)> {
    let mut lowering = Lowering {
        source,
        tokens,
        parameters,
        next_slot: 0,
        depth: 0,
        aggregates: None,
        in_aggregate: false,
        in_predicate: false,
        known: Vec::new(),
        names: Names::default(),
    };
    let Some(statement) = program.statements.first() else {
        return Err(Fault::syntax("UnexpectedSyntax", "the query is empty", program.span));
    };
    let StatementKind::Query(query) = &statement.kind else {
        return Err(Fault::syntax("UnexpectedSyntax", "not a query", statement.span));
    };
    if let Some(mode) = &query.mode {
        return Err(unsupported("EXPLAIN and PROFILE are", mode.span));
    }
    let mut plan = lowering.query(&query.query, &Scope::default(), false)?;
    plan.width = lowering.next_slot;
    Ok((plan, lowering.names))
}

pub(crate) fn unsupported(what: &str, span: Span) -> Fault {
    Fault::compile(Class::SyntaxError, UNSUPPORTED, format!("{what} not supported"), span)
}

impl Lowering<'_> {
    fn slot(&mut self) -> Slot {
        self.next_slot += 1;
        self.next_slot - 1
    }

    /// The tokens of a span as one text, by which equal expressions are recognised.
    pub(crate) fn text_of(&self, span: Span) -> String {
        let first = self.tokens.partition_point(|token| token.start < span.start);
        let inside = self.tokens.iter().skip(first).take_while(|token| token.end <= span.end);
        inside.filter_map(|token| token.text(self.source.parsed())).collect::<Vec<_>>().join(" ")
    }

    fn deeper<T>(&mut self, span: Span, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEEPEST {
            let message = format!("expressions are nested more than {DEEPEST} deep");
            return Err(Fault::Other(isomorph::Error::new(isomorph::Kind::TooLarge, message)));
        }
        let _ = span;
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// A query; as a subquery, it sees the variables of `outer` and need not return anything.
    fn query(&mut self, query: &AstQuery, outer: &Scope, is_subquery: bool) -> Result<Plan> {
        match &query.kind {
            QueryKind::Regular(regular) => self.regular(regular, outer, is_subquery),
            _ => Err(Fault::syntax("UnexpectedSyntax", "not a query", query.span)),
        }
    }

    fn regular(&mut self, query: &RegularQuery, outer: &Scope, is_subquery: bool) -> Result<Plan> {
        let (head, columns) = self.single(&query.head, outer, is_subquery)?;
        let mut branches = vec![head];
        let mut keeps: Option<bool> = None;
        for union in &query.unions {
            let all = union.operator.kind == UnionOperator::All;
            if keeps.is_some_and(|keeps| keeps != all) {
                return Err(Fault::syntax(
                    "InvalidClauseComposition",
                    "UNION and UNION ALL cannot be mixed in one query",
                    union.operator.span,
                ));
            }
            keeps = Some(all);
            let (branch, names) = self.single(&union.query, outer, is_subquery)?;
            let mut branch = branch;
            // Columns are the same by name; their order is that of the first branch.
            let mut outputs = Vec::with_capacity(columns.len());
            for column in &columns {
                let at = names.iter().position(|name| name == column);
                outputs.extend(at.and_then(|at| branch.outputs.get(at)).copied());
            }
            if outputs.len() != columns.len() || names.len() != columns.len() {
                let message = "all parts of a UNION must have the same columns";
                return Err(Fault::syntax("DifferentColumnsInUnion", message, union.query.span));
            }
            branch.outputs = outputs;
            branches.push(branch);
        }
        Ok(Plan { branches, keeps_duplicates: keeps.unwrap_or(true), columns, width: 0 })
    }

    fn single(&mut self, query: &SingleQuery, outer: &Scope, is_subquery: bool) -> Result<(Branch, Vec<String>)> {
        let mut scope = outer.clone();
        let mut clauses = Vec::new();
        let list = &query.kind.clauses;
        let mut result = None;
        for (at, clause) in list.iter().enumerate() {
            if let Some(name) = updating(&clause.kind) {
                if is_subquery {
                    let message = format!("{name} changes data, so it cannot be in a subquery");
                    return Err(Fault::syntax("InvalidClauseComposition", message, clause.span));
                }
                return Err(unsupported(&format!("{name} changes data; it is"), clause.span)
                    .hint("isomorph cypher only reads: MATCH, OPTIONAL MATCH, UNWIND, WITH, RETURN, UNION"));
            }
            let is_last = at + 1 == list.len();
            if let ClauseKind::Return(_) = clause.kind
                && !is_last
            {
                return Err(Fault::syntax("InvalidClauseComposition", "RETURN must be the last clause", clause.span));
            }
            result = self.clause(clause, &mut scope, outer, &mut clauses)?;
        }
        match result {
            Some((outputs, columns)) => Ok((Branch { clauses, outputs }, columns)),
            None if is_subquery => Ok((Branch { clauses, outputs: Vec::new() }, Vec::new())),
            None => {
                let end = Span::new(query.span.end, query.span.end);
                Err(Fault::syntax("InvalidClauseComposition", "the query must end with RETURN", end))
            }
        }
    }

    /// Adds a clause; returns the slots and names of columns for `RETURN`.
    fn clause(
        &mut self,
        clause: &AstClause,
        scope: &mut Scope,
        outer: &Scope,
        clauses: &mut Vec<Clause>,
    ) -> Result<Option<(Vec<Slot>, Vec<String>)>> {
        match &clause.kind {
            ClauseKind::Match(found) => {
                if let Some(mode) = &found.mode {
                    return Err(unsupported("path modes are", mode.span));
                }
                if let Some(hint) = found.hints.first() {
                    return Err(unsupported("planner hints are", hint.span));
                }
                let pattern = self.match_pattern(&found.pattern, found.where_clause.as_ref(), scope, true)?;
                clauses.push(Clause::Match { pattern, optional: found.optional });
            }
            ClauseKind::Unwind(unwind) => {
                let (list, ty) = self.expr(&unwind.expression, scope)?;
                self.must_be_new(&unwind.variable, scope)?;
                let slot = self.slot();
                scope.add(&unwind.variable.kind.text, slot, ty.item());
                clauses.push(Clause::Unwind { list, slot });
            }
            ClauseKind::Filter(filter) => {
                let condition = self.predicate(&filter.predicate, scope)?;
                clauses.push(Clause::Filter(condition));
            }
            ClauseKind::With(with) => {
                let (mut projection, next, _, known) = self.projection(&with.projection, scope, outer, true)?;
                let condition = match &with.where_clause {
                    None => None,
                    Some(condition) => {
                        // It sees what was before WITH too, unless rows were merged.
                        let mut all = next.clone();
                        if !projection.is_aggregating && !projection.distinct {
                            all = scope.clone();
                            all.variables.extend(next.variables.iter().cloned());
                        }
                        // Of merged rows, it sees the expressions that are columns.
                        self.known = known;
                        let lowered = self.predicate(condition, &all);
                        self.known.clear();
                        Some(lowered?)
                    }
                };
                let reads = condition.as_ref().map(crate::plan::Expr::slots).unwrap_or_default();
                projection.kept.extend(reads.into_iter().filter(|slot| !projection.outputs.contains(slot)));
                clauses.push(Clause::Project(projection));
                clauses.extend(condition.map(Clause::Filter));
                *scope = next;
            }
            ClauseKind::Return(returned) => {
                let (projection, _, columns, _) = self.projection(&returned.projection, scope, outer, false)?;
                let outputs = projection.outputs.clone();
                clauses.push(Clause::Project(projection));
                return Ok(Some((outputs, columns)));
            }
            ClauseKind::Call(call) => {
                return Err(match &call.target {
                    CallTarget::Procedure { name, .. } => {
                        let parts: Vec<&str> = name.parts.iter().map(|part| part.kind.text.as_str()).collect();
                        let message = format!("there is no procedure {}", parts.join("."));
                        Fault::compile(Class::ProcedureError, "ProcedureNotFound", message, name.span).hint(
                            "isomorph has no procedures; EXISTS { … }, COUNT { … } and COLLECT { … } are subqueries",
                        )
                    }
                    _ => unsupported("CALL { … } is", clause.span),
                });
            }
            ClauseKind::LoadCsv(_) => return Err(unsupported("LOAD CSV is", clause.span)),
            ClauseKind::Use(_) => return Err(unsupported("USE is", clause.span)),
            ClauseKind::Let(_) => return Err(unsupported("LET is", clause.span)),
            ClauseKind::Error(_) => return Err(Fault::syntax("UnexpectedSyntax", "not a clause", clause.span)),
            _ => return Err(unsupported("this clause is", clause.span)),
        }
        Ok(None)
    }

    fn must_be_new(&self, name: &Name, scope: &Scope) -> Result<()> {
        match scope.get(&name.kind.text) {
            Some(_) => {
                let message = format!("variable {} is already bound", name.kind.text);
                Err(Fault::syntax("VariableAlreadyBound", message, name.span))
            }
            None => Ok(()),
        }
    }
}

/// The name of a clause that changes data.
fn updating(clause: &ClauseKind) -> Option<&'static str> {
    Some(match clause {
        ClauseKind::Create(_) => "CREATE",
        ClauseKind::Insert(_) => "INSERT",
        ClauseKind::Merge(_) => "MERGE",
        ClauseKind::Delete(_) => "DELETE",
        ClauseKind::Set(_) => "SET",
        ClauseKind::Remove(_) => "REMOVE",
        ClauseKind::Foreach(_) => "FOREACH",
        _ => return None,
    })
}
