//! The names that a statement uses and gives.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, ObjectNamePart, Query, Select, SelectItem, Statement, TableAlias, TableFactor, Visit,
    Visitor,
};
use isomorph::error::Place;
use isomorph::{Error, Result, did_you_mean};

use crate::syntax::names::{Match, find};
use crate::syntax::table_columns::Scope;
use crate::tables::catalog::{CATALOG, Catalog, Entry, FILES, QUADS};

/// A table that a statement reads.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    /// What its columns are qualified with: its alias, else its name.
    pub qualifier: String,
    /// Schema and table, for tables without an alias.
    pub path: Option<[String; 2]>,
    /// Its columns, if they are known.
    pub columns: Option<Vec<String>>,
}

/// The names of a statement.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    pub relations: Vec<Relation>,
    /// Names of common table expressions.
    pub ctes: Vec<String>,
    /// All names that a column can have.
    pub columns: BTreeSet<String>,
}

/// Names of columns that nobody gave: of `values`, of table functions.
const GENERATED: [&str; 9] =
    ["value", "column1", "column2", "column3", "column4", "column5", "column6", "column7", "column8"];

impl Vocabulary {
    /// Collects the names of `statement`.
    ///
    /// # Errors
    /// For a table that does not exist, or is one of several.
    pub fn of(statement: &Statement, catalog: &Catalog) -> Result<Self> {
        let mut ctes = Ctes(Vec::new());
        let _ = statement.visit(&mut ctes);
        let columns = GENERATED.map(ToOwned::to_owned).into();
        let mut all = Collector { catalog, all: Vocabulary { relations: Vec::new(), ctes: ctes.0, columns } };
        match statement.visit(&mut all) {
            ControlFlow::Break(error) => Err(error),
            ControlFlow::Continue(()) => Ok(all.all),
        }
    }

    /// What a name of a table means: schema and table, or `None` for a common table expression and for tables about tables.
    ///
    /// # Errors
    /// For a table that does not exist, or is one of several.
    pub fn locate(&self, name: &ObjectName, catalog: &Catalog) -> Result<Option<Located>> {
        let parts: Vec<&Ident> = name.0.iter().filter_map(ObjectNamePart::as_ident).collect();
        let parts = match parts.as_slice() {
            [first, rest @ ..] if rest.len() == 2 && first.value.eq_ignore_ascii_case(CATALOG) => rest,
            other => other,
        };
        match parts {
            [table] => {
                let ctes = || self.ctes.iter().map(|name| (name.clone(), name.clone())).collect();
                match find(&table.value, true, ctes) {
                    Match::None => {}
                    _ => return Ok(Some(Located::Cte(table.value.clone()))),
                }
                match located(table, None, catalog) {
                    Err(error) => match find(&table.value, table.quote_style.is_some(), ctes) {
                        Match::One(cte) => Ok(Some(Located::Cte(cte))),
                        _ => Err(error),
                    },
                    found => found.map(Some),
                }
            }
            [schema, _] if schema.value.eq_ignore_ascii_case("information_schema") => {
                // Tables are listed without a way to tell an error.
                catalog.graphs.iter().try_for_each(|graph| graph.tables().map(|_| ()))?;
                Ok(None)
            }
            [schema, table] => {
                let names = || catalog.schemas().into_iter().map(|name| (name.clone(), name)).collect();
                match find(&schema.value, schema.quote_style.is_some(), names) {
                    Match::One(found) => located(table, Some(&found), catalog).map(Some),
                    Match::None => {
                        let names = catalog.schemas();
                        let near = did_you_mean(&schema.value, names.iter().map(String::as_str));
                        Err(Error::usage(format!("there is no graph {}{near}", schema.value))
                            .at(place(schema))
                            .hint(format!("the graphs are {}", names.join(", "))))
                    }
                    Match::Several(all) => Err(several("graphs", schema, &all)),
                }
            }
            _ => Err(Error::usage(format!("{name} is no name of a table")).at(Place::file("the question"))),
        }
    }
}

/// Where a table is.
#[derive(Debug, Clone)]
pub(crate) enum Located {
    /// A common table expression.
    Cte(String),
    /// A table, by the name that it was called by.
    Table {
        /// Schema and table.
        path: [String; 2],
        columns: Vec<String>,
    },
}

/// The place of a name in the question.
pub(crate) fn place(ident: &Ident) -> Place {
    let start = ident.span.start;
    let place = Place::file("the question");
    if start.line == 0 { place } else { place.line(start.line).in_field(format!("column {}", start.column)) }
}

/// The error for a name that matches several.
pub(crate) fn several(what: &str, ident: &Ident, all: &[String]) -> Error {
    let mut all = all.to_vec();
    all.sort();
    Error::usage(format!("{} is the name of several {what}: {}", ident.value, all.join(", ")))
        .at(place(ident))
        .hint("write the name exactly, in double quotes")
}

/// The table that an identifier calls, in a schema or in any.
fn located(table: &Ident, schema: Option<&str>, catalog: &Catalog) -> Result<Located> {
    let found = |schema: &str, name: &str, entry: &Entry| Located::Table {
        path: [schema.to_owned(), name.to_owned()],
        columns: entry.rows.schema().fields().iter().map(|field| field.name().clone()).collect(),
    };
    // Triples and files need no survey of a graph.
    let is_alone = catalog.graphs.len() + usize::from(!catalog.files.is_empty()) <= 1;
    let quads = catalog.graphs.iter().filter(|graph| schema.is_none_or(|schema| schema == graph.name));
    let quads: Vec<_> = quads.filter_map(|graph| Some((graph, graph.quads()?))).collect();
    if let ([(graph, quads)], true, true) = (quads.as_slice(), table.value == QUADS, is_alone || schema.is_some()) {
        return Ok(found(&graph.name, QUADS, quads));
    }
    let mut file = catalog.files.iter().filter(|_| schema.is_none_or(|schema| schema == FILES));
    if let Some(entry) = file.find(|entry| entry.name == table.value) {
        return Ok(found(FILES, &entry.name, entry));
    }
    let mut entries: Vec<(String, Entry)> = Vec::new();
    for name in catalog.schemas() {
        if schema.is_none_or(|schema| schema == name) {
            entries.extend(catalog.tables(&name)?.into_iter().map(|entry| (name.clone(), entry)));
        }
    }
    let full =
        || entries.iter().map(|(schema, entry)| (entry.name.clone(), (schema, entry, entry.name.as_str()))).collect();
    let by_relation = || {
        let named = entries.iter().filter_map(|(schema, entry)| Some((schema, entry, entry.other.as_deref()?)));
        named.map(|(schema, entry, name)| (name.to_owned(), (schema, entry, name))).collect()
    };
    let mut steps = vec![find(&table.value, true, full), find(&table.value, true, by_relation)];
    if table.quote_style.is_none() {
        steps.push(find(&table.value, false, full));
        steps.push(find(&table.value, false, by_relation));
    }
    for step in steps {
        match step {
            Match::None => {}
            Match::One((schema, entry, name)) => return Ok(found(schema, name, entry)),
            Match::Several(all) => {
                let is_many = entries.iter().any(|(schema, _)| Some(schema) != entries.first().map(|(first, _)| first));
                let shown = all.into_iter().map(
                    |(schema, _, name)| {
                        if is_many { format!("{schema}.{name}") } else { name.to_owned() }
                    },
                );
                let error = several("tables", table, &shown.collect::<Vec<_>>());
                return Err(if is_many { error.hint("write GRAPH.TABLE") } else { error });
            }
        }
    }
    let names: Vec<&str> = entries
        .iter()
        .flat_map(|(_, entry)| std::iter::once(entry.name.as_str()).chain(entry.other.as_deref()))
        .collect();
    let near = did_you_mean(&table.value, names.iter().copied());
    let shown: Vec<&str> = entries.iter().map(|(_, entry)| entry.name.as_str()).take(20).collect();
    let error = Error::usage(format!("there is no table {}{near}", table.value)).at(place(table));
    Err(if shown.is_empty() { error } else { error.hint(format!("the tables are {}", shown.join(", "))) })
}

/// Names of common table expressions.
struct Ctes(Vec<String>);

impl Visitor for Ctes {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            if !self.0.contains(&cte.alias.name.value) {
                self.0.push(cte.alias.name.value.clone());
            }
        }
        ControlFlow::Continue(())
    }
}

struct Collector<'c> {
    catalog: &'c Catalog,
    all: Vocabulary,
}

impl Collector<'_> {
    fn alias(&mut self, alias: &TableAlias, columns: Option<Vec<String>>) {
        let given: Vec<String> = alias.columns.iter().map(|column| column.name.value.clone()).collect();
        self.all.columns.extend(given.iter().cloned());
        let columns = match columns {
            // Those that the alias does not name keep their names.
            Some(all) => Some(given.iter().cloned().chain(all.into_iter().skip(given.len())).collect()),
            None if given.is_empty() => None,
            None => Some(given),
        };
        self.all.relations.push(Relation { qualifier: alias.name.value.clone(), path: None, columns });
    }

    fn table(&mut self, name: &ObjectName, alias: Option<&TableAlias>) -> Result<()> {
        let located = self.all.locate(name, self.catalog)?;
        let (qualifier, path, columns) = match located {
            Some(Located::Table { path, columns }) => {
                self.all.columns.extend(columns.iter().cloned());
                (path[1].clone(), Some(path), Some(columns))
            }
            Some(Located::Cte(name)) => (name, None, None),
            None => (name.0.last().map(ToString::to_string).unwrap_or_default().to_lowercase(), None, None),
        };
        match alias {
            Some(alias) => self.alias(alias, columns),
            None => self.all.relations.push(Relation { qualifier, path, columns }),
        }
        Ok(())
    }
}

impl Visitor for Collector<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.all.columns.extend(cte.alias.columns.iter().map(|column| column.name.value.clone()));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Error> {
        for item in &select.projection {
            match item {
                SelectItem::ExprWithAlias { alias, .. } => drop(self.all.columns.insert(alias.value.clone())),
                SelectItem::ExprWithAliases { aliases, .. } => {
                    self.all.columns.extend(aliases.iter().map(|alias| alias.value.clone()));
                }
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Error> {
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                if let Err(error) = self.table(name, alias.as_ref()) {
                    return ControlFlow::Break(error);
                }
            }
            TableFactor::Derived { alias: Some(alias), subquery, .. } if !alias.columns.is_empty() => {
                let columns = Scope::new(self.catalog).of_query(subquery, true).unwrap_or_default();
                let is_known = columns.is_some();
                self.alias(alias, columns);
                // It may have more columns than its alias names.
                if let Some(relation) = self.all.relations.last_mut().filter(|_| !is_known) {
                    relation.columns = None;
                }
            }
            TableFactor::Table { alias: Some(alias), .. }
            | TableFactor::Derived { alias: Some(alias), .. }
            | TableFactor::TableFunction { alias: Some(alias), .. }
            | TableFactor::Function { alias: Some(alias), .. }
            | TableFactor::UNNEST { alias: Some(alias), .. }
            | TableFactor::NestedJoin { alias: Some(alias), .. } => self.alias(alias, None),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<Error> {
        if let Expr::Lambda(lambda) = expression {
            let names = lambda.params.iter().map(|parameter| parameter.name.value.clone());
            self.all.columns.extend(names.collect::<Vec<_>>());
        }
        ControlFlow::Continue(())
    }
}
