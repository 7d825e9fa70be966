//! Sets of values as conditions, and what is known of columns.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int8Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use isomorph_error::Kind;
use isomorph_model::predicate::{Bounds, Value};
use isomorph_model::statistics::{ColumnStatistics, Known};
use isomorph_model::{Filter, Predicate, Set};

#[test]
fn sets_have_their_members_and_no_others() {
    let mut state = 5u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for below in [1, 3, 100, 1 << 20, 1 << 31] {
        for count in [0, 1, 2, 50, 500] {
            let members: Vec<i64> = (0..count).map(|_| i64::try_from(random(below)).unwrap() - 50).collect();
            let cells: Vec<Option<i64>> = (-60..160).chain(members.clone()).map(Some).chain([None]).collect();
            let texts: Vec<Option<String>> = cells.iter().map(|cell| cell.map(|cell| cell.to_string())).collect();
            let ints: ArrayRef = Arc::new(Int64Array::from(cells.clone()));
            let batch = [("int", ints), ("text", Arc::new(StringArray::from(texts)) as ArrayRef)];
            let batch = RecordBatch::try_from_iter(batch).unwrap();
            let spelt = StringArray::from_iter_values(members.iter().map(i64::to_string));
            let sets =
                [("int", Set::of(&Int64Array::from(members.clone())).unwrap()), ("text", Set::of(&spelt).unwrap())];
            for (column, set) in sets {
                let is_among = Predicate::In { column: column.to_owned(), set };
                let filter = Filter::new(&is_among, &batch.schema()).unwrap();
                let negated = Filter::new(&Predicate::Not(Box::new(is_among)), &batch.schema()).unwrap();
                let (passing, others) = (filter.passing(&batch).unwrap(), negated.passing(&batch).unwrap());
                for (row, cell) in cells.iter().enumerate() {
                    let is_member = cell.map(|cell| members.contains(&cell));
                    assert_eq!(
                        (passing.value(row), others.value(row)),
                        (is_member == Some(true), is_member == Some(false))
                    );
                }
                for from in -60..160i64 {
                    let value = |int: i64| match column {
                        "int" => Value::Int(int.into()),
                        _ => Value::Bytes(int.to_string().into_bytes()),
                    };
                    let (least, greatest) = (value(from), value(from + 3));
                    let is_between = |own: &i64| {
                        value(*own).order(&least).unwrap().is_ge() && value(*own).order(&greatest).unwrap().is_le()
                    };
                    let any = members.iter().any(is_between);
                    let bounds =
                        Bounds { least: Some(least.clone()), greatest: Some(greatest.clone()), ..Bounds::UNKNOWN };
                    assert_eq!(filter.may_pass(&|_| bounds.clone()), any, "{column} {from}");
                }
            }
        }
    }
    let ends = Set::of(&UInt64Array::from(vec![Some(u64::MAX), None, Some(0)])).unwrap();
    assert!(ends.has_int(u64::MAX.into()) && ends.has_int(0) && !ends.has_int(-1) && ends.len() == 2);
    assert_eq!(ends.rows().collect::<Vec<_>>(), [0, u64::MAX]);
    let small = Set::of(&Int8Array::from(vec![-128, 127])).unwrap();
    assert!(small.has_int(-128) && small.has_int(127) && !small.has_int(128) && !small.has_int(i128::MIN));
    assert!(!small.has_text("127"));
    assert_eq!(Set::of(&Float64Array::from(vec![1.0])).unwrap_err().kind(), Kind::Usage);
}

#[test]
fn what_is_known_of_two_is_as_exact_as_the_less_exact() {
    let one = |nulls, least, greatest| ColumnStatistics {
        nulls,
        least,
        greatest,
        distinct: Known::Exact(3),
        bytes: Known::Exact(8),
    };
    let int = |int| Known::Exact(Some(Value::Int(int)));
    let first = one(Known::Exact(1), int(5), int(9));
    let both = first.clone().with(one(Known::Estimated(2), int(-3), Known::Exact(None)));
    assert_eq!(both.nulls, Known::Estimated(3));
    assert_eq!((&both.least, &both.greatest), (&int(-3), &int(9)));
    assert_eq!((both.distinct, both.bytes), (Known::Unknown, Known::Exact(16)));
    let unknown = first.clone().with(one(Known::Unknown, Known::Unknown, Known::Estimated(Some(Value::Int(7)))));
    assert_eq!((unknown.nulls, &unknown.least), (Known::Unknown, &Known::Unknown));
    assert_eq!(unknown.greatest, Known::Estimated(Some(Value::Int(9))));
    let mixed = first.with(one(Known::Exact(0), Known::Exact(Some(Value::Bytes(vec![1]))), int(4)));
    assert_eq!((mixed.least, mixed.greatest), (Known::Unknown, int(9)));
}
