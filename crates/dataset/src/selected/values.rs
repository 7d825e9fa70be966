//! Conditions on the values that columns represent.

use isomorph_error::{Error, Place, Result};
use isomorph_model::{Literal, Predicate, ValueKind};

use crate::dataset::Dataset;
use crate::kinds::kind_of;
use crate::table::Table;

/// JSON for null.
const NULL: &str = "null";

/// Converts a condition to one on the values that the columns of `table` represent: JSON null is null.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Usage`] for a comparison with NaN, which is never true.
pub(super) fn on_values(dataset: &Dataset, table: &Table, condition: &Predicate) -> Result<Predicate> {
    let all = |list: &[Predicate]| list.iter().map(|one| on_values(dataset, table, one)).collect::<Result<Vec<_>>>();
    let at = |column: &str| table.schema().index_of(column).map_err(|error| Error::usage(error.to_string()));
    let is_json = |column: &str| -> Result<bool> {
        let (at, graph) = (at(column)?, dataset.source().graph());
        let is_text = table.schema().field(at).data_type().is_string();
        let kind = table.roles().get(at).map(|role| kind_of(graph, table.kind(), *role));
        Ok(is_text && kind == Some(ValueKind::Json))
    };
    let null = |column: &str| Predicate::Or(vec![Predicate::IsNull(column.to_owned()), Predicate::equal(column, NULL)]);
    Ok(match condition {
        Predicate::And(list) => Predicate::And(all(list)?),
        Predicate::Or(list) => Predicate::Or(all(list)?),
        Predicate::Not(one) => Predicate::Not(Box::new(on_values(dataset, table, one)?)),
        Predicate::IsNull(column) if is_json(column)? => null(column),
        Predicate::IsNotNull(column) if is_json(column)? => Predicate::Not(Box::new(null(column))),
        Predicate::Compare { column, literal, .. } | Predicate::Has { column, literal } if is_nan(literal) => {
            let data_type = table.schema().field(at(column)?).data_type();
            let is_float = match data_type {
                arrow_schema::DataType::List(item) => item.data_type().is_floating(),
                single => single.is_floating(),
            };
            if is_float {
                return Err(Error::usage(format!(
                    "no value compares with NaN, so this condition on {column} is never true"
                ))
                .at(Place::field(column))
                .hint(format!("write not ({column} < 0 or {column} >= 0)    is true only of NaN")));
            }
            condition.clone()
        }
        one => one.clone(),
    })
}

fn is_nan(literal: &Literal) -> bool {
    match literal {
        Literal::Text(text) => text.trim().parse::<f64>().is_ok_and(f64::is_nan),
        Literal::Float(number) => number.is_nan(),
        _ => false,
    }
}
