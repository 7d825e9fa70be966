//! Which selection of what is stored is that of what is shown.
//!
//! Files are asked with their own names, and who asks sees them through what travels beside them: names are those of the graph that is
//! shown, as far as it has them. Where a column stands for other values, only a test for null has an answer: that of the values.

use std::collections::BTreeMap;

use isomorph_error::{Error, Result};
use isomorph_graphar::OpenOptions;
use isomorph_model::Predicate;

use crate::mapping::{Column, Mapping, Stored, Tables};

/// JSON for no value.
const NULL: &str = "null";

/// Makes a selection of what is shown that of what is stored.
///
/// # Errors
/// Of a condition that compares what stands for other values, or that chooses from groups in which edges are: each edge says itself which
/// those are, so that it would go on being in one that was not chosen. Of names with several meanings.
pub(crate) fn on_stored(mapping: &Mapping, options: &mut OpenOptions) -> Result<()> {
    if options.filters.is_empty() && options.columns.is_none() && options.types.is_none() {
        return Ok(());
    }
    let tables = mapping.tables()?;
    options.filters = filters(mapping, &tables, &options.filters)?;
    if let Some(types) = &mut options.types {
        *types = of_types(&tables, types)?;
    }
    if let Some(columns) = &mut options.columns {
        *columns = of_columns(&tables, columns)?;
    }
    Ok(())
}

/// The types that make up those that are named. What no graph knows is left to who reads the files.
fn of_types(tables: &Tables, names: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for name in names {
        match tables.chosen(name)? {
            Some(chosen) => all.extend(chosen.tables.iter().map(|(ty, _)| (*ty).to_owned())),
            None => all.push(name.clone()),
        }
    }
    Ok(all)
}

/// The columns that are named, by themselves or behind their type.
fn of_columns(tables: &Tables, names: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for name in names {
        let mut found = tables.in_all(name)?;
        for (dot, _) in name.match_indices('.') {
            let (ty, column) = (name.get(..dot).unwrap_or_default(), name.get(dot + 1..).unwrap_or_default());
            let Some(chosen) = tables.known(ty) else { continue };
            found.extend(chosen.shown(column)?);
        }
        if found.is_empty() {
            found.push(name.clone());
        }
        all.append(&mut found);
    }
    Ok(all)
}

fn filters(
    mapping: &Mapping,
    tables: &Tables,
    filters: &BTreeMap<String, Predicate>,
) -> Result<BTreeMap<String, Predicate>> {
    let mut all: BTreeMap<String, Predicate> = BTreeMap::new();
    let mut add = |ty: &str, filter: Predicate| {
        let filter = match all.remove(ty) {
            Some(before) => Predicate::And(vec![before, filter]),
            None => filter,
        };
        all.insert(ty.to_owned(), filter);
    };
    for (name, filter) in filters {
        let Some(chosen) = tables.chosen(name)? else {
            add(name, filter.clone());
            continue;
        };
        let mut columns: BTreeMap<&str, Vec<Option<Column>>> = BTreeMap::new();
        for column in filter.columns() {
            if let Some(found) = chosen.column(column)? {
                columns.insert(column, found);
            }
        }
        for (at, (ty, _)) in chosen.tables.iter().enumerate() {
            if mapping.is_group_of_edges(ty) {
                let message =
                    format!("each edge says itself which {name} it is in, and a condition on {name} does not reach it");
                return Err(Error::unsupported(message).hint("--carry ignore    chooses from what is stored"));
            }
            // What no graph knows is left to who reads the files.
            let itself = |column: &str| Some(Column { name: column.to_owned(), stored: Stored::Itself });
            let column = |column: &str| match columns.get(column) {
                Some(found) => found.get(at).cloned().flatten(),
                None => itself(column),
            };
            let other = |own: &&str| column(own).is_some_and(|own| own.stored != Stored::Itself);
            if let Some(own) = filter.compared().into_iter().find(other) {
                let message =
                    format!("{own} of {name} is stored as something else, which does not compare as its values do");
                return Err(Error::unsupported(message).hint("--carry ignore    compares what is stored"));
            }
            let filter = when(filter, true, &column);
            if !is_always(&filter) {
                add(ty, filter);
            }
        }
    }
    Ok(all)
}

/// A condition that is always true, or never.
fn constant(is: bool) -> Predicate {
    if is { Predicate::And(Vec::new()) } else { Predicate::Or(Vec::new()) }
}

/// Whether a condition holds whatever the columns have: all rows pass without one.
fn is_always(filter: &Predicate) -> bool {
    match filter {
        Predicate::And(all) => all.iter().all(is_always),
        Predicate::Or(all) => all.iter().any(is_always),
        _ => false,
    }
}

/// The condition on columns of a table that holds where `filter` is true, or where it is false; `column` says which column of the
/// table is meant, if it is not null in all rows. Columns of JSON have a text for null.
fn when(filter: &Predicate, is: bool, column: &dyn Fn(&str) -> Option<Column>) -> Predicate {
    let all = |list: &[Predicate]| list.iter().map(|one| when(one, is, column)).collect();
    match filter {
        Predicate::And(list) if is => Predicate::And(all(list)),
        Predicate::Or(list) if is => Predicate::Or(all(list)),
        Predicate::And(list) => Predicate::Or(all(list)),
        Predicate::Or(list) => Predicate::And(all(list)),
        Predicate::Not(one) => when(one, !is, column),
        Predicate::IsNull(own) => is_null(column(own), is),
        Predicate::IsNotNull(own) => is_null(column(own), !is),
        Predicate::Compare { column: own, .. }
        | Predicate::Like { column: own, .. }
        | Predicate::Has { column: own, .. } => {
            let Some(Column { name, .. }) = column(own) else { return constant(false) };
            let mut compared = filter.clone();
            if let Predicate::Compare { column, .. } | Predicate::Like { column, .. } | Predicate::Has { column, .. } =
                &mut compared
            {
                *column = name;
            }
            if is { compared } else { Predicate::Not(Box::new(compared)) }
        }
    }
}

/// Whether a column is null.
fn is_null(column: Option<Column>, is: bool) -> Predicate {
    let Some(Column { name, stored }) = column else { return constant(is) };
    match (stored, is) {
        (Stored::Json, _) => {
            let null = Predicate::Or(vec![Predicate::IsNull(name.clone()), Predicate::equal(name, NULL)]);
            if is { null } else { Predicate::Not(Box::new(null)) }
        }
        (_, true) => Predicate::IsNull(name),
        (_, false) => Predicate::IsNotNull(name),
    }
}
