//! What is known of tables as the engine wants it. Only what is exact becomes an answer; the rest serves plans.

use arrow_schema::DataType;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use isomorph::Predicate;
use isomorph::dataset::TableStatistics;
use isomorph::model::Comparison;
use isomorph::model::predicate::{Value, nanoseconds};
use isomorph::model::statistics::Known;

use crate::tables::columns::Column;

/// The statistics of a table with these columns.
pub(crate) fn statistics(known: &TableStatistics, columns: &[Column]) -> Statistics {
    let none = Default::default();
    let each = columns.iter().enumerate().map(|(at, column)| {
        let own = known.columns.get(at).unwrap_or(&none);
        // The greatest float of the engine may be NaN, which statistics leave out.
        let is_float = matches!(column.data_type, DataType::Float16 | DataType::Float32 | DataType::Float64);
        let bound = |bound: &Known<Option<Value>>| {
            let value = bound.value().and_then(Option::as_ref).and_then(|value| scalar(value, &column.data_type));
            match (value, bound) {
                (Some(value), Known::Exact(_)) if !is_float => Precision::Exact(value),
                (Some(value), _) => Precision::Inexact(value),
                (None, _) => Precision::Absent,
            }
        };
        ColumnStatistics {
            null_count: count(&own.nulls),
            min_value: bound(&own.least),
            max_value: bound(&own.greatest),
            distinct_count: count(&own.distinct),
            ..ColumnStatistics::new_unknown()
        }
    });
    let bytes = known.columns.iter().map(|column| column.bytes.value().copied().unwrap_or(0)).sum::<u64>();
    let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes > 0);
    Statistics {
        num_rows: count(&known.rows),
        total_byte_size: bytes.map_or(Precision::Absent, Precision::Inexact),
        column_statistics: each.collect(),
    }
}

fn count(known: &Known<u64>) -> Precision<usize> {
    match known {
        Known::Exact(count) => usize::try_from(*count).map_or(Precision::Absent, Precision::Exact),
        Known::Estimated(count) => usize::try_from(*count).map_or(Precision::Absent, Precision::Inexact),
        Known::Unknown => Precision::Absent,
    }
}

/// A bound as a value of the column's type; `None` if it is none.
fn scalar(value: &Value, data_type: &DataType) -> Option<ScalarValue> {
    match (value, data_type) {
        (Value::Int(int), DataType::UInt64) => Some(ScalarValue::UInt64(Some(u64::try_from(*int).ok()?))),
        (Value::Int(int), integer) if integer.is_integer() => {
            ScalarValue::Int64(Some(i64::try_from(*int).ok()?)).cast_to(integer).ok().filter(|value| !value.is_null())
        }
        (Value::Int(days), DataType::Date32) => Some(ScalarValue::Date32(Some(i32::try_from(*days).ok()?))),
        (Value::Int(time), DataType::Timestamp(unit, zone)) => {
            let scale = nanoseconds(unit);
            let whole = i64::try_from(time / scale).ok().filter(|_| time % scale == 0)?;
            let zone = zone.clone();
            Some(match unit {
                arrow_schema::TimeUnit::Second => ScalarValue::TimestampSecond(Some(whole), zone),
                arrow_schema::TimeUnit::Millisecond => ScalarValue::TimestampMillisecond(Some(whole), zone),
                arrow_schema::TimeUnit::Microsecond => ScalarValue::TimestampMicrosecond(Some(whole), zone),
                arrow_schema::TimeUnit::Nanosecond => ScalarValue::TimestampNanosecond(Some(whole), zone),
            })
        }
        (Value::Bytes(bytes), DataType::Utf8) => Some(ScalarValue::Utf8(Some(String::from_utf8(bytes.clone()).ok()?))),
        (Value::Float(float), DataType::Float64) => Some(ScalarValue::Float64(Some(*float))),
        _ => None,
    }
}

/// The statistics of the rows of a table that pass `filter`, at most `limit`, with these columns.
pub(crate) fn narrowed(
    whole: &Statistics,
    projection: &[usize],
    filter: Option<f64>,
    limit: Option<usize>,
) -> Statistics {
    let mut some = whole.clone().project(Some(&projection.to_vec()));
    if let Some(fraction) = filter {
        some = some.to_inexact();
        some.num_rows = some.num_rows.map(|rows| of(rows, fraction));
        some.total_byte_size = some.total_byte_size.map(|bytes| of(bytes, fraction));
    }
    if let Some(limit) = limit {
        let is_cut = some.num_rows.get_value().is_none_or(|rows| *rows > limit);
        let rows = match some.num_rows {
            Precision::Exact(rows) => Precision::Exact(rows.min(limit)),
            Precision::Inexact(rows) => Precision::Inexact(rows.min(limit)),
            Precision::Absent => Precision::Inexact(limit),
        };
        if is_cut || filter.is_some() {
            some = some.to_inexact();
        }
        some.num_rows = rows;
    }
    some
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate, of a number that is not negative"
)]
fn of(rows: usize, fraction: f64) -> usize {
    (rows as f64 * fraction).ceil() as usize
}

/// About which part of the rows passes; `rows_of_key` is about how many of all rows have one value of a column.
pub(crate) fn fraction(filter: &Predicate, one_of: &dyn Fn(&str) -> f64) -> f64 {
    let some = match filter {
        Predicate::Compare { column, comparison, .. } => match comparison {
            Comparison::Equal => one_of(column),
            Comparison::NotEqual => 1.0 - one_of(column),
            _ => 0.33,
        },
        Predicate::In { column, set } => one_of(column) * f64::from(u32::try_from(set.len()).unwrap_or(u32::MAX)),
        Predicate::Like { .. } | Predicate::Has { .. } => 0.2,
        Predicate::IsNull(_) => 0.1,
        Predicate::IsNotNull(_) => 0.9,
        Predicate::And(all) => all.iter().map(|one| fraction(one, one_of)).product(),
        Predicate::Or(all) => all.iter().map(|one| fraction(one, one_of)).sum(),
        Predicate::Not(one) => 1.0 - fraction(one, one_of),
    };
    some.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_has_the_type_of_its_column() {
        let of = |value: i128, data_type: DataType| scalar(&Value::Int(value), &data_type);
        assert_eq!(of(300, DataType::Int8), None);
        assert_eq!(of(-3, DataType::Int8), Some(ScalarValue::Int8(Some(-3))));
        assert_eq!(of(-1, DataType::UInt64), None);
        let seconds = DataType::Timestamp(arrow_schema::TimeUnit::Second, None);
        assert_eq!(of(1_500_000_000, seconds.clone()), None);
        assert_eq!(of(2_000_000_000, seconds), Some(ScalarValue::TimestampSecond(Some(2), None)));
    }

    #[test]
    fn what_files_claim_is_no_answer() {
        let column = Column {
            stored: "n".to_owned(),
            role: isomorph::dataset::Role::Property(0),
            compares: crate::tables::columns::Compares::Fully,
            data_type: DataType::Int64,
        };
        let of = |known: fn(u64) -> Known<u64>, bound: fn(Option<Value>) -> Known<Option<Value>>, ty: DataType| {
            let own = isomorph::model::statistics::ColumnStatistics {
                nulls: known(1),
                least: bound(Some(Value::Int(3))),
                greatest: bound(None),
                ..Default::default()
            };
            let table = TableStatistics { rows: known(7), columns: vec![own] };
            statistics(&table, &[Column { data_type: ty, ..column.clone() }])
        };
        let claimed = of(Known::Estimated, Known::Estimated, DataType::Int64);
        assert_eq!(claimed.num_rows, Precision::Inexact(7));
        assert_eq!(claimed.column_statistics[0].null_count, Precision::Inexact(1));
        assert_eq!(claimed.column_statistics[0].min_value, Precision::Inexact(ScalarValue::Int64(Some(3))));
        let sure = of(Known::Exact, Known::Exact, DataType::Int64);
        assert_eq!(sure.num_rows, Precision::Exact(7));
        assert_eq!(sure.column_statistics[0].min_value, Precision::Exact(ScalarValue::Int64(Some(3))));
        // Without a value that is not null there is no bound, and a float may be NaN.
        assert_eq!(sure.column_statistics[0].max_value, Precision::Absent);
        assert_eq!(of(Known::Exact, Known::Exact, DataType::Float64).column_statistics[0].min_value, Precision::Absent);
    }

    #[test]
    fn a_limit_cuts_and_makes_columns_inexact() {
        let column =
            ColumnStatistics { min_value: Precision::Exact(ScalarValue::Int64(Some(1))), ..Default::default() };
        let whole = Statistics {
            num_rows: Precision::Exact(10),
            total_byte_size: Precision::Absent,
            column_statistics: vec![column],
        };
        let cut = narrowed(&whole, &[0], None, Some(3));
        assert_eq!(cut.num_rows, Precision::Exact(3));
        assert!(matches!(cut.column_statistics[0].min_value, Precision::Inexact(_)));
        assert_eq!(narrowed(&whole, &[0], None, Some(30)), whole);
        let filtered = narrowed(&whole, &[0], Some(0.25), Some(30));
        assert_eq!(filtered.num_rows, Precision::Inexact(3));
    }
}
