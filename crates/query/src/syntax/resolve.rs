//! Gives the names in a statement the spelling of what they match.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    ExcludeSelectItem, Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Select, SelectItem,
    SelectItemQualifiedWildcardKind, Statement, TableFactor, VisitMut, VisitorMut, WildcardAdditionalOptions,
    visit_expressions,
};
use isomorph::error::Place;
use isomorph::{Error, Result};

use crate::syntax::names::{Match, find};
use crate::syntax::vocabulary::{Located, Relation, Vocabulary, place, several};
use crate::tables::catalog::Catalog;

/// Rewrites the names of tables and columns in `statement`. Returns the places of columns in the question.
///
/// # Errors
/// For a table that does not exist, and for a name that matches several.
pub(crate) fn resolve(statement: &mut Statement, catalog: &Catalog) -> Result<Vec<(String, Place)>> {
    let vocabulary = Vocabulary::of(statement, catalog)?;
    let mut resolver = Resolver { catalog, vocabulary, places: Vec::new() };
    if let Statement::ExplainTable { table_name, .. } = statement {
        return resolver.table(table_name).map(|()| Vec::new());
    }
    if matches!(statement, Statement::ShowTables { .. } | Statement::ShowColumns { .. }) {
        return catalog.graphs.iter().try_for_each(|graph| graph.tables().map(|_| ())).map(|()| Vec::new());
    }
    match statement.visit(&mut resolver) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(resolver.places),
    }
}

struct Resolver<'c> {
    catalog: &'c Catalog,
    vocabulary: Vocabulary,
    /// Where columns are named.
    places: Vec<(String, Place)>,
}

fn flow(done: Result<()>) -> ControlFlow<Error> {
    match done {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    }
}

/// Gives `ident` the spelling of the one name that it matches. Returns whether it matches one.
fn fix(ident: &mut Ident, what: &str, names: &dyn Fn() -> Vec<String>) -> Result<bool> {
    match find(&ident.value, ident.quote_style.is_some(), || distinct(names)) {
        Match::One(name) => {
            ident.value = name;
            Ok(true)
        }
        Match::None => Ok(false),
        Match::Several(all) => Err(several(what, ident, &all)),
    }
}

fn distinct(names: &dyn Fn() -> Vec<String>) -> Vec<(String, String)> {
    let mut all = names();
    all.sort();
    all.dedup();
    all.into_iter().map(|name| (name.clone(), name)).collect()
}

/// Whether an expression names columns.
fn names_columns(expression: &Expr) -> bool {
    let found = visit_expressions(expression, |part| match part {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}

impl Resolver<'_> {
    fn table(&self, name: &mut ObjectName) -> Result<()> {
        let quoted = |value: String| Ident::with_quote('"', value);
        match self.vocabulary.locate(name, self.catalog)? {
            Some(Located::Cte(own)) => *name = ObjectName::from(vec![quoted(own)]),
            Some(Located::Table { path: [schema, table], .. }) => {
                *name = ObjectName::from(vec![quoted(schema), quoted(table)]);
            }
            None => {
                for part in &mut name.0 {
                    if let ObjectNamePart::Identifier(ident) = part {
                        ident.value = ident.value.to_lowercase();
                    }
                }
            }
        }
        Ok(())
    }

    /// A name without a table.
    fn column(&self, ident: &mut Ident) -> Result<bool> {
        fix(ident, "columns", &|| self.vocabulary.columns.iter().cloned().collect())
    }

    /// Names with dots: a table and a column, a column and its field. `whole` if all of them are a table.
    fn path(&self, parts: &mut [&mut Ident], whole: bool) -> Result<()> {
        let qualifiers = || self.vocabulary.relations.iter().map(|relation| relation.qualifier.clone()).collect();
        let Some((first, rest)) = parts.split_first_mut() else { return Ok(()) };
        if (!rest.is_empty() || whole) && fix(first, "tables", &qualifiers)? {
            let own: Vec<&Relation> =
                self.vocabulary.relations.iter().filter(|relation| relation.qualifier == first.value).collect();
            let paths: Vec<&[String; 2]> = own.iter().filter_map(|relation| relation.path.as_ref()).collect();
            if let Some([one, other]) = paths.windows(2).find(|pair| pair[0] != pair[1]).map(|pair| [pair[0], pair[1]])
            {
                let names = [one, other].map(|path| path.join("."));
                return Err(several("tables", first, &names).hint("give each table an alias: from a.person p"));
            }
            if let Some(column) = rest.first_mut() {
                return self.column_of(&own, column);
            }
            return Ok(());
        }
        // A graph and a table.
        if let Some((second, rest)) = rest.split_first_mut().filter(|(_, rest)| whole || !rest.is_empty()) {
            let own: Vec<&Relation> = self
                .vocabulary
                .relations
                .iter()
                .filter(|relation| {
                    relation.path.as_ref().is_some_and(|[schema, table]| {
                        schema.eq_ignore_ascii_case(&first.value) && table.eq_ignore_ascii_case(&second.value)
                    })
                })
                .collect();
            if let Some([schema, table]) = own.first().and_then(|relation| relation.path.as_ref()) {
                (first.value, second.value) = (schema.clone(), table.clone());
                return match rest.first_mut() {
                    Some(column) => self.column_of(&own, column),
                    None => Ok(()),
                };
            }
        }
        self.column(first).map(|_| ())
    }

    fn column_of(&self, relations: &[&Relation], column: &mut Ident) -> Result<()> {
        let known = relations.iter().map(|relation| relation.columns.clone()).collect::<Option<Vec<_>>>();
        match known {
            Some(columns) => {
                let own = columns.concat();
                let names = own.clone();
                if !fix(column, "columns", &|| names.clone())? {
                    let near = isomorph::did_you_mean(&column.value, own.iter().map(String::as_str));
                    let table = relations.first().map(|relation| relation.qualifier.as_str()).unwrap_or_default();
                    let shown: Vec<&str> = own.iter().map(String::as_str).take(30).collect();
                    return Err(Error::usage(format!("there is no column {table}.{}{near}", column.value))
                        .at(place(column))
                        .hint(format!("its columns are {}", shown.join(", "))));
                }
                Ok(())
            }
            None => self.column(column).map(|_| ()),
        }
    }

    /// Schema and table of what is called so without an alias, unless an alias is called so too.
    fn full(&self, qualifier: &Ident) -> Option<&[String; 2]> {
        let mut own = self.vocabulary.relations.iter().filter(|relation| relation.qualifier == qualifier.value);
        let path = own.next()?.path.as_ref()?;
        own.all(|other| other.path.as_ref() == Some(path)).then_some(path)
    }

    fn options(&self, options: &mut WildcardAdditionalOptions) -> Result<()> {
        match &mut options.opt_exclude {
            Some(ExcludeSelectItem::Single(name)) => self.single(name)?,
            Some(ExcludeSelectItem::Multiple(names)) => names.iter_mut().try_for_each(|name| self.single(name))?,
            None => {}
        }
        if let Some(except) = &mut options.opt_except {
            self.column(&mut except.first_element)?;
            except.additional_elements.iter_mut().try_for_each(|one| self.column(one).map(|_| ()))?;
        }
        if let Some(replace) = &mut options.opt_replace {
            replace.items.iter_mut().try_for_each(|item| self.column(&mut item.column_name).map(|_| ()))?;
        }
        Ok(())
    }

    /// A column whose name is parsed like that of a table.
    fn single(&self, name: &mut ObjectName) -> Result<()> {
        match name.0.as_mut_slice() {
            [ObjectNamePart::Identifier(ident)] => self.column(ident).map(|_| ()),
            _ => Ok(()),
        }
    }

    fn join(&self, join: &mut Join) -> Result<()> {
        use JoinOperator as J;
        match &mut join.join_operator {
            J::Join(on)
            | J::Inner(on)
            | J::Left(on)
            | J::LeftOuter(on)
            | J::Right(on)
            | J::RightOuter(on)
            | J::FullOuter(on)
            | J::Semi(on)
            | J::LeftSemi(on)
            | J::RightSemi(on)
            | J::Anti(on)
            | J::LeftAnti(on)
            | J::RightAnti(on) => match on {
                JoinConstraint::Using(columns) => columns.iter_mut().try_for_each(|column| self.single(column)),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn select(&self, select: &mut Select) -> Result<()> {
        for item in &mut select.projection {
            match item {
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                    let mut parts: Vec<&mut Ident> = Vec::new();
                    for part in &mut name.0 {
                        if let ObjectNamePart::Identifier(ident) = part {
                            parts.push(ident);
                        }
                    }
                    self.path(&mut parts, true)?;
                    if let [ident] = parts.as_slice()
                        && let Some([schema, table]) = self.full(ident)
                    {
                        // The planner knows a table without an alias by its full name only.
                        let quoted = |value: &String| Ident::with_quote('"', value.clone());
                        *name = ObjectName::from(vec![quoted(schema), quoted(table)]);
                    }
                    self.options(options)?;
                }
                SelectItem::Wildcard(options) => self.options(options)?,
                _ => {}
            }
        }
        select.from.iter_mut().flat_map(|from| &mut from.joins).try_for_each(|join| self.join(join))
    }
}

impl VisitorMut for Resolver<'_> {
    type Break = Error;

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        flow(self.select(select))
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        flow(match factor {
            TableFactor::Table { name, args: None, .. } => self.table(name),
            TableFactor::UNNEST { array_exprs, .. } if array_exprs.iter().any(names_columns) => {
                Err(Error::unsupported("unnest of a column is not supported in FROM")
                    .at(Place::file("the question"))
                    .hint("select id, unnest(c) as u from t    a row for each item"))
            }
            TableFactor::NestedJoin { table_with_joins, .. } => {
                table_with_joins.joins.iter_mut().try_for_each(|join| self.join(join))
            }
            _ => Ok(()),
        })
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Error> {
        flow(match expression {
            Expr::Identifier(ident) => {
                let fixed = self.column(ident).map(|_| ());
                self.places.push((ident.value.clone(), place(ident)));
                fixed
            }
            Expr::CompoundIdentifier(parts) => {
                self.places.extend(parts.last().map(|ident| (ident.value.clone(), place(ident))));
                let mut parts: Vec<&mut Ident> = parts.iter_mut().collect();
                self.path(&mut parts, false)
            }
            _ => Ok(()),
        })
    }
}
